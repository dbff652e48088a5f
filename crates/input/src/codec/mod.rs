//! Recognises compressed content and decodes it.
//!
//! `decoder` does what all codecs share: consecutive streams, padding, truncated content. A file for each codec calls its
//! library and limits its memory. This folder knows no lines.

#![cfg_attr(
    not(any(feature = "gzip", feature = "zstd", feature = "bzip2", feature = "xz")),
    allow(dead_code, reason = "what codecs share serves nobody where there are none")
)]

#[cfg(feature = "gzip")]
mod gzip_parallel;
#[cfg(any(feature = "zstd", feature = "xz"))]
mod by_headers;
#[cfg(feature = "bzip2")]
mod bzip2;
#[cfg(feature = "bzip2")]
mod bzip2_blocks;
#[cfg(feature = "bzip2")]
mod bzip2_prelude;
mod decoder;
mod error;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "gzip")]
mod gzip_member;
#[cfg(any(feature = "gzip", feature = "zstd", feature = "bzip2", feature = "xz"))]
mod jobs;
mod source;
#[cfg(any(feature = "zstd", feature = "bzip2", feature = "xz"))]
mod units;
#[cfg(any(feature = "zstd", feature = "bzip2", feature = "xz"))]
mod walk;
mod whole;
#[cfg(feature = "xz")]
mod xz;
#[cfg(feature = "xz")]
mod xz_blocks;
#[cfg(feature = "xz")]
mod xz_index;
#[cfg(feature = "zstd")]
mod zstd;
#[cfg(feature = "zstd")]
mod zstd_frames;

use std::io::{self, Read};

pub use decoder::Meter;
pub use error::{DecodeError, DecodeErrorKind};
pub use whole::{Coding, End};

use super::progress_reader::IsReady;
use crate::progress::Watch;
use crate::workers::JobSender;
use decoder::{Decode, Decoder};
use source::Buffered;
use urlsift_grammar::named;

named! {
    /// How the bytes of an input are compressed.
    Codec {
        /// Not compressed: the bytes are taken as they are.
        Plain = "none",
        /// gzip (RFC 1952), any number of members.
        Gzip = "gzip",
        /// Zstandard (RFC 8878), any number of frames.
        Zstd = "zstd",
        /// bzip2, any number of streams.
        Bzip2 = "bzip2",
        /// xz, any number of streams.
        Xz = "xz",
    }
}

/// How many bytes are enough to recognise any codec.
pub(super) const MAGIC_LEN: usize = 10;

/// What the first bytes of some content say about its codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Recognised {
    /// The content has this codec.
    As(Codec),
    /// The content may have this codec. More bytes are needed to decide.
    Perhaps(Codec),
}

/// Recognises the codec of content that begins with `head`. File names are ignored, because they can be anything.
pub(super) fn recognise(head: &[u8]) -> Recognised {
    let packed = [Codec::Gzip, Codec::Zstd, Codec::Bzip2, Codec::Xz];
    let mut perhaps = packed.into_iter().filter(|&codec| begins(codec, head));
    match perhaps.next() {
        Some(codec) if head.len() >= magic_len(codec) => Recognised::As(codec),
        Some(codec) => Recognised::Perhaps(codec),
        None => Recognised::As(Codec::Plain),
    }
}

/// Recognises the codec of content that ends after `head`. Very short content is taken for text, even if compressed
/// content could begin the same way.
pub(super) fn recognise_all(head: &[u8]) -> Codec {
    match recognise(head) {
        Recognised::As(codec) => codec,
        Recognised::Perhaps(codec) if head.len() > least(head) => codec,
        Recognised::Perhaps(_) => Codec::Plain,
    }
}

/// How many bytes are enough to recognise `codec` for certain.
fn magic_len(codec: Codec) -> usize {
    match codec {
        Codec::Plain => 0,
        Codec::Gzip => 3,
        Codec::Zstd => 4,
        Codec::Bzip2 => MAGIC_LEN,
        Codec::Xz => 6,
    }
}

/// The length up to which content that begins with `head` is taken for text. Some codecs begin with letters, so that a
/// short line may look like their beginning.
fn least(head: &[u8]) -> usize {
    if matches!(head, [b'B' | b'P'..=b'_', ..]) { 3 } else { 1 }
}

/// Whether content that is compressed with `codec` can begin with `head`.
fn begins(codec: Codec, head: &[u8]) -> bool {
    let agrees =
        |magic: &[u8], from: usize| head.iter().skip(from).zip(magic).all(|(byte, magic)| byte == magic);
    match codec {
        Codec::Plain => true,
        // The third byte is the compression method. There is only one.
        Codec::Gzip => agrees(b"\x1f\x8b\x08", 0),
        // A frame, or a skippable frame.
        Codec::Zstd => {
            agrees(b"\x28\xb5\x2f\xfd", 0)
                || (head.first().is_none_or(|byte| byte & 0xf0 == 0x50) && agrees(b"\x2a\x4d\x18", 1))
        }
        // The block size, then the header of a block or the end of the stream.
        Codec::Bzip2 => {
            agrees(b"BZh", 0)
                && head.get(3).is_none_or(|byte| (b'1'..=b'9').contains(byte))
                && (agrees(b"\x31\x41\x59\x26\x53\x59", 4) || agrees(b"\x17\x72\x45\x38\x50\x90", 4))
        }
        Codec::Xz => agrees(b"\xfd7zXZ\0", 0),
    }
}

/// Starts to decode `source`, which is compressed with `codec`. After `watch` is stopped, reading the decoded bytes fails.
///
/// With `help`, threads decode ahead: so many, by these jobs. Of a stream, no byte may be read before it is needed unless a read returns at
/// once, because a read may block.
///
/// # Errors
/// When this build cannot read the codec.
#[cfg_attr(
    not(all(feature = "gzip", any(feature = "zstd", feature = "bzip2", feature = "xz"))),
    allow(unused_variables, clippy::needless_pass_by_value, reason = "some codecs have no use for them")
)]
pub(super) fn unpack<'a>(
    source: impl Read + Send + 'a,
    codec: Codec,
    watch: Option<&Watch>,
    is_file: bool,
    help: Option<(IsReady, (JobSender<'a>, usize))>,
) -> io::Result<Decoder<'a>> {
    #[cfg(feature = "gzip")]
    if codec == Codec::Gzip && is_file {
        let (workers, n_workers) = help.map_or((None, 0), |(_, (workers, n))| (Some(workers), n));
        let blocks = gzip_parallel::Blocks::new(source, workers, gzip_parallel::Sizes::of(n_workers));
        return Decoder::new(blocks, codec, watch);
    }
    #[cfg(any(feature = "zstd", feature = "bzip2", feature = "xz"))]
    if let Some((is_ready, (workers, n_workers))) = help
        && let Some((walk, unit)) = walk(codec)
    {
        let sizes = units::Sizes::of(n_workers, unit);
        let units = units::Units::new(source, is_ready, codec, walk, workers, sizes, watch);
        return Decoder::new(units, codec, watch);
    }
    Decoder::new(Buffered::new(source), codec, watch)
}

/// What finds the units of `codec`, and the most bytes of one that is decoded ahead. The `pzstd` command writes frames of 8
/// to 32 MiB by default, and `xz -9 -T0` writes blocks of 192 MiB. Blocks
/// of bzip2 are small.
#[cfg(any(feature = "zstd", feature = "bzip2", feature = "xz"))]
fn walk(codec: Codec) -> Option<(Box<dyn walk::Walk>, u64)> {
    match codec {
        #[cfg(feature = "zstd")]
        Codec::Zstd => Some((Box::<by_headers::ByHeaders<zstd_frames::ZstdFrames>>::default(), 64 << 20)),
        #[cfg(feature = "bzip2")]
        Codec::Bzip2 => Some((Box::<bzip2_blocks::Bzip2Blocks>::default(), 8 << 20)),
        #[cfg(feature = "xz")]
        Codec::Xz => Some((Box::<by_headers::ByHeaders<xz_blocks::XzBlocks>>::default(), 256 << 20)),
        _ => None,
    }
}

/// Makes the decoder of `codec`, which decodes one stream after another.
///
/// # Errors
/// When this build cannot read the codec, or there is not enough memory.
fn decode(codec: Codec) -> io::Result<Box<dyn Decode>> {
    match codec {
        #[cfg(feature = "gzip")]
        Codec::Gzip => Ok(Box::new(gzip::Gzip::new())),
        #[cfg(feature = "zstd")]
        Codec::Zstd => Ok(Box::new(zstd::Zstd::new()?)),
        #[cfg(feature = "bzip2")]
        Codec::Bzip2 => Ok(Box::new(bzip2::Bzip2::new())),
        #[cfg(feature = "xz")]
        Codec::Xz => Ok(Box::new(xz::Xz::new()?)),
        _ => {
            Err(DecodeError { codec, kind: DecodeErrorKind::Missing, cause: None, at: 0, decoded: 0 }.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_is_recognised() {
        for (head, codec) in [
            (&b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"[..], Codec::Gzip),
            (b"\x28\xb5\x2f\xfd\x04\x58\x09\x00\x00\x61", Codec::Zstd),
            (b"\x50\x2a\x4d\x18\x04\x00\x00\x00\x01\x00", Codec::Zstd),
            (b"BZh91AY&SY", Codec::Bzip2),
            (b"BZh1\x17\x72\x45\x38\x50\x90", Codec::Bzip2),
            (b"\xfd7zXZ\0\0\x04\xe6\xd6", Codec::Xz),
        ] {
            assert_eq!(recognise(head), Recognised::As(codec));
            for len in 0..head.len() {
                let found = recognise(&head[..len]);
                if len < magic_len(codec) {
                    assert!(matches!(found, Recognised::Perhaps(_)), "{codec} {len}");
                } else {
                    assert_eq!(found, Recognised::As(codec), "{codec} {len}");
                }
                let whole = recognise_all(&head[..len]);
                assert_eq!(whole, if len > least(head) { codec } else { Codec::Plain }, "{codec} {len}");
            }
        }
    }

    #[test]
    fn lines_are_plain() {
        let lines = [
            &b"http://a/\n"[..],
            b"",
            b"\n",
            b"BZ",
            b"BZh",
            b"BZhttp://a/",
            b"BZh9://a/\n",
            b"\x1f",
            b"\x1f\x8c",
            b"P*M",
            b"\xfd",
        ];
        for line in lines {
            assert_eq!(recognise_all(line), Codec::Plain, "{line:?}");
        }
    }
}
