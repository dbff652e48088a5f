//! Decodes gzip with zlib-rs, which also reads headers and compares checksums and lengths.
//!
//! This module decodes a single member. `decoder` handles consecutive members and padding.

use flate2::{Decompress, FlushDecompress, Status};

use super::decoder::{Decode, Step, StreamState};

/// Base-2 logarithm of the largest window of a member (RFC 1951).
pub(super) const WINDOW_BITS: u8 = 15;

pub(super) struct Gzip(Decompress);

impl Gzip {
    pub(super) fn new() -> Self {
        Self(Decompress::new_gzip(WINDOW_BITS))
    }

    /// A decoder of deflate, with or without the header of zlib.
    pub(super) fn deflate(has_header: bool) -> Self {
        Self(Decompress::new(has_header))
    }
}

/// The cause of an error, by the library's message. The message about invalid data depends on how buffers happen to be
/// filled, so all of these messages give the same cause.
fn cause(message: Option<&str>) -> &str {
    match message {
        Some("incorrect data check") => "its checksum is that of something else",
        Some("incorrect length check") => "its length is that of something else",
        Some("header crc mismatch") => "the checksum of a header is that of something else",
        Some(
            message @ ("incorrect header check" | "unknown compression method" | "unknown header flags set"),
        ) => message,
        _ => "no compressed data can be so",
    }
}

impl Decode for Gzip {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let before = (self.0.total_in(), self.0.total_out());
        let state = match self.0.decompress(input, output, FlushDecompress::None) {
            Ok(Status::StreamEnd) => StreamState::Ended,
            Ok(Status::Ok | Status::BufError) => StreamState::Going,
            Err(error) => StreamState::Damaged(cause(error.message()).to_owned()),
        };
        Step::new(before, (self.0.total_in(), self.0.total_out()), state)
    }

    fn next_stream(&mut self) -> std::io::Result<()> {
        self.0.reset(true);
        Ok(())
    }
}
