//! Decodes xz with liblzma, whose memory is limited to about twice the dictionary of the largest preset.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding.

use std::io;

use liblzma::stream::{Action, Error, Status, Stream};

use super::decoder::{Decode, Step, StreamState};

/// Memory limit of a decoder, in bytes. A file made by `xz -9` takes 65 MiB.
const MEMORY: u64 = 132 << 20;

pub(super) struct Xz(Stream);

impl Xz {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(Stream::new_stream_decoder(MEMORY, 0)?))
    }
}

impl Decode for Xz {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let before = (self.0.total_in(), self.0.total_out());
        let state = match self.0.process(input, output, Action::Run) {
            Ok(Status::StreamEnd) => StreamState::Ended,
            Ok(_) => StreamState::Going,
            Err(Error::MemLimit | Error::Mem) => StreamState::TooLarge,
            Err(Error::Format) => StreamState::Damaged("not xz".to_owned()),
            Err(Error::Options) => StreamState::Damaged("made with options that are not known".to_owned()),
            Err(_) => StreamState::Damaged("a block is not what its checksum says".to_owned()),
        };
        Step::new(before, (self.0.total_in(), self.0.total_out()), state)
    }

    fn next_stream(&mut self) -> io::Result<()> {
        *self = Self::new()?;
        Ok(())
    }
}
