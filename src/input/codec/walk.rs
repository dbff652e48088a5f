//! What finds the parts of compressed content without decoding it.
//!
//! A *unit* is a part that can be decoded alone: a frame of zstd, a block of xz.

/// Walks over the headers of compressed content.
pub(super) trait Walk: Send {
    /// Walks over `bytes`, which follow those of the last call, to the end of a part. Returns the number of bytes, and the
    /// part that ends there. There is none if all bytes belong to a part that goes on.
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>);

    /// The decoded length of the current part as far as it is known, or more.
    fn decoded_len(&self) -> u64;

    /// Bytes that a decoder needs before a unit.
    fn prelude(&self) -> &[u8] {
        &[]
    }
}

/// A part of compressed content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A unit. Its decoded length is at most `decoded_len`. Its decoder keeps `window` earlier bytes.
    Unit { decoded_len: u64, window: u64 },
    /// What is no unit.
    Other,
    /// The last part of a stream, which is no unit.
    #[cfg_attr(not(feature = "xz"), allow(dead_code, reason = "streams of zstd are units"))]
    End,
    /// No part can be found from here on; the cause.
    Lost(&'static str),
}
