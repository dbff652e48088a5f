//! Decodes bodies of HTTP messages that are in memory. HTTP has names and kinds of codings of its own (RFC 9110, section
//! 8.4.1), so `Coding` is not `Codec`.

#[cfg(feature = "parquet")]
use std::io::Read;

use super::decoder::{Decode, StreamState};
use super::{Codec, begins, decode};

/// A content coding of HTTP that this build reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    Gzip,
    /// zlib (RFC 1950). Some servers send its data without its header (RFC 1951).
    Deflate,
    Zstd,
    Brotli,
}

/// How decoding ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Whole,
    /// The bytes end inside a stream.
    CutOff,
    Damaged,
    /// There is more than was wanted.
    TooLong,
}

impl Coding {
    /// Finds the coding with this name. `None` if this build cannot read it.
    pub fn find(name: &[u8]) -> Option<Self> {
        let is = |known: &str| name.eq_ignore_ascii_case(known.as_bytes());
        match () {
            () if cfg!(feature = "gzip") && (is("gzip") || is("x-gzip")) => Some(Self::Gzip),
            () if cfg!(feature = "gzip") && is("deflate") => Some(Self::Deflate),
            () if cfg!(feature = "zstd") && is("zstd") => Some(Self::Zstd),
            // The decoder of Brotli comes with the feature `parquet`.
            () if cfg!(feature = "parquet") && is("br") => Some(Self::Brotli),
            () => None,
        }
    }

    /// Decodes `packed` up to its first error. More than `most` bytes are one.
    pub fn unpack(self, packed: &[u8], most: usize) -> (Vec<u8>, End) {
        match self {
            #[cfg(feature = "gzip")]
            Self::Deflate => {
                let has_header = matches!(packed, [cmf, flags, ..] if cmf & 15 == 8 && u16::from_be_bytes([*cmf, *flags]).is_multiple_of(31));
                unpack(Box::new(super::gzip::Gzip::deflate(has_header)), None, packed, most)
            }
            #[cfg(feature = "parquet")]
            Self::Brotli => {
                let mut bytes = Vec::new();
                let decoder = brotli_decompressor::Decompressor::new(packed, 4096);
                let end = match decoder.take(most as u64 + 1).read_to_end(&mut bytes) {
                    Ok(_) if bytes.len() > most => End::TooLong,
                    Ok(_) => End::Whole,
                    // The library does not tell what is cut off.
                    Err(_) => End::Damaged,
                };
                (bytes, end)
            }
            _ => {
                let codec = if self == Self::Zstd { Codec::Zstd } else { Codec::Gzip };
                match decode(codec) {
                    Ok(decoder) => unpack(decoder, Some(codec), packed, most),
                    Err(_) => (Vec::new(), End::Damaged),
                }
            }
        }
    }
}

/// Decodes `packed` by `decoder`. If there is a codec, several streams may follow each other. Other bytes after a stream are ignored, as
/// browsers do.
fn unpack(mut decoder: Box<dyn Decode>, codec: Option<Codec>, packed: &[u8], most: usize) -> (Vec<u8>, End) {
    let mut bytes = vec![0; packed.len().saturating_mul(4).clamp(4096, most + 1)];
    let (mut at, mut len) = (0, 0);
    let end = loop {
        if len == bytes.len() {
            if len > most {
                break End::TooLong;
            }
            bytes.resize((2 * len).min(most + 1), 0);
        }
        let step = decoder.step(&packed[at..], &mut bytes[len..]);
        (at, len) = (at + step.read, len + step.written);
        match step.state {
            StreamState::Going if step.read + step.written > 0 => {}
            StreamState::Going => break if at == packed.len() { End::CutOff } else { End::Damaged },
            StreamState::PartEnded => {}
            StreamState::Ended => {
                let rest = &packed[at..];
                let follows = !rest.is_empty() && codec.is_some_and(|codec| begins(codec, rest));
                if !follows || decoder.next_stream().is_err() {
                    break End::Whole;
                }
            }
            StreamState::Damaged(_) | StreamState::TooLarge => break End::Damaged,
        }
    };
    bytes.truncate(len);
    (bytes, if len > most { End::TooLong } else { end })
}
