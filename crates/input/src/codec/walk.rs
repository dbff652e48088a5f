//! What finds the parts of compressed content without decoding it.
//!
//! A *unit* is a part that can be decoded alone: a frame of zstd, a block of xz or of bzip2.

/// Walks over compressed content.
pub(super) trait Walk: Send {
    /// Walks over `bytes`, which follow those of the last call, to the end of a part. Returns the number of bytes, and the
    /// part that ends there. There is none if all bytes belong to a part that goes on. A walk for the decoder alone may also return
    /// without a part before it has seen all bytes.
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>);

    /// The decoded length of the current part as far as it is known, or more.
    fn decoded_len(&self) -> u64;

    /// What a decoder needs before the unit that has just ended.
    fn prelude(&self) -> Prelude {
        Prelude::default()
    }

    /// Whether the end of a unit is a guess. Such a unit is decoded alone, so that no guess is within a run.
    fn guesses(&self) -> bool {
        false
    }
}

/// Bytes that a decoder needs before a unit.
#[derive(Default)]
pub(super) struct Prelude {
    pub(super) bytes: Vec<u8>,
    /// How many bytes are decoded of them.
    pub(super) decoded_len: usize,
}

/// A part of compressed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A unit. Its decoded length is at most `decoded_len`, or it is not decoded ahead. Its decoder takes `window` bytes of
    /// memory.
    Unit { decoded_len: u64, window: u64 },
    /// What is no unit.
    Other,
    /// The last part of a stream, which is no unit.
    #[cfg_attr(
        not(any(feature = "bzip2", feature = "xz")),
        allow(dead_code, reason = "streams of zstd are units")
    )]
    End,
    /// No part can be found from here on; the cause.
    Lost(&'static str),
}
