//! Decompresses pages. A page declares its decompressed length, and no more memory than that is used, whatever the data contains.

use std::io::Read;

use super::error::TableError;

/// The longest page that is read, in bytes, compressed or not. Writers make pages of a mebibyte, some of up to a hundred.
pub(super) const MAX_LEN: usize = 128 << 20;

/// How the pages of a column chunk are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Snappy,
    Gzip,
    Brotli,
    /// LZ4 in the frames of Hadoop, or a bare block as older versions of Arrow wrote it.
    Lz4,
    Zstd,
    Lz4Raw,
}

impl Packing {
    /// The codec that the format gives this number; `None` if pages are not compressed.
    pub(super) fn new(number: i64) -> Result<Option<Self>, TableError> {
        Ok(Some(match number {
            0 => return Ok(None),
            1 => Self::Snappy,
            2 => Self::Gzip,
            4 => Self::Brotli,
            5 => Self::Lz4,
            6 => Self::Zstd,
            7 => Self::Lz4Raw,
            _ => {
                let name = if number == 3 { "LZO".to_owned() } else { format!("codec {number}") };
                let message = format!("it is packed with {name}, which is not read here");
                return Err(TableError::unsupported(message));
            }
        }))
    }

    fn name(self) -> &'static str {
        match self {
            Self::Snappy => "snappy",
            Self::Gzip => "gzip",
            Self::Brotli => "brotli",
            Self::Lz4 | Self::Lz4Raw => "lz4",
            Self::Zstd => "zstd",
        }
    }

    /// Decompresses `bytes` to `len` bytes, and appends these to `out`.
    pub(super) fn unpack(self, bytes: &[u8], len: usize, out: &mut Vec<u8>) -> Result<(), TableError> {
        let before = out.len();
        out.reserve_exact(len);
        // A page whose values are all null may have nothing to decompress.
        let done = len == 0
            || match self {
                Self::Gzip => exactly(flate2::bufread::MultiGzDecoder::new(bytes), len, out),
                Self::Brotli => exactly(brotli_decompressor::Decompressor::new(bytes, 4096), len, out),
                Self::Zstd => into(len, out, |out| zstd::bulk::decompress_to_buffer(bytes, out).ok()),
                Self::Snappy => into(len, out, |out| snap::raw::Decoder::new().decompress(bytes, out).ok()),
                Self::Lz4Raw => into(len, out, |out| lz4_block(bytes, out)),
                Self::Lz4 => into(len, out, |out| hadoop(bytes, out).or_else(|| lz4_block(bytes, out))),
            };
        if done && out.len() - before == len {
            Ok(())
        } else {
            Err(TableError::damaged(format!("its {} data is damaged", self.name())))
        }
    }
}

/// Appends the output of a decoder, but at most one byte more than `len`. The caller sees that byte as an error.
fn exactly(decoder: impl Read, len: usize, out: &mut Vec<u8>) -> bool {
    decoder.take(len as u64 + 1).read_to_end(out).is_ok()
}

/// Gives a decoder `len` bytes of memory at the end of `out`. Returns whether it filled them.
fn into(len: usize, out: &mut Vec<u8>, decode: impl FnOnce(&mut [u8]) -> Option<usize>) -> bool {
    let before = out.len();
    out.resize(before + len, 0);
    decode(&mut out[before..]) == Some(len)
}

fn lz4_block(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    lz4_flex::block::decompress_into(bytes, out).ok()
}

/// Decodes a sequence of LZ4 blocks. The decompressed and the compressed length precede each block, both big-endian.
fn hadoop(mut bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    let mut n = 0;
    while !bytes.is_empty() {
        let (unpacked, rest) = bytes.split_first_chunk()?;
        let (packed, rest) = rest.split_first_chunk()?;
        let (block, rest) = rest.split_at_checked(u32::from_be_bytes(*packed) as usize)?;
        let end = n + u32::from_be_bytes(*unpacked) as usize;
        (lz4_block(block, out.get_mut(n..end)?)? == end - n).then_some(())?;
        (n, bytes) = (end, rest);
    }
    Some(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No available writer makes frames of Hadoop, so the test builds blocks without repetitions.
    #[test]
    fn lz4_is_read_in_frames_of_hadoop_and_as_a_block() {
        let frame = |text: &[u8]| {
            let block = [&[u8::try_from(text.len()).unwrap() << 4], text].concat();
            let len = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_be_bytes();
            [&len(text)[..], &len(&block), &block].concat()
        };
        let frames = [frame(b"http://a"), frame(b""), frame(b"/b")].concat();
        for (packed, packing) in [
            (&frames[..], Packing::Lz4),
            (b"\xa0http://a/b", Packing::Lz4),
            (b"\xa0http://a/b", Packing::Lz4Raw),
        ] {
            let mut out = b"levels".to_vec();
            packing.unpack(packed, 10, &mut out).unwrap();
            assert_eq!(out, b"levelshttp://a/b");
            for len in [9, 11] {
                assert!(packing.unpack(packed, len, &mut Vec::new()).is_err());
            }
            assert!(packing.unpack(&packed[..packed.len() - 1], 10, &mut Vec::new()).is_err());
        }
    }

    #[test]
    fn no_more_is_unpacked_than_is_said() {
        let mut bomb = Vec::new();
        std::io::copy(
            &mut std::io::repeat(0).take(50 << 20),
            &mut flate2::write::GzEncoder::new(&mut bomb, flate2::Compression::best()),
        )
        .unwrap();
        let mut out = Vec::new();
        assert!(Packing::Gzip.unpack(&bomb, 100, &mut out).is_err());
        assert!(out.capacity() < 1000);
        for packing in [Packing::Snappy, Packing::Brotli, Packing::Zstd] {
            assert!(packing.unpack(&bomb, 100, &mut out).is_err());
        }
        assert!(Packing::new(3).unwrap_err().to_string().contains("LZO"));
        assert!(Packing::new(0).unwrap().is_none() && Packing::new(8).is_err());
    }
}
