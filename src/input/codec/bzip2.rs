//! Decodes bzip2 with libbz2-rs. A decoder takes less than 4 MiB, whatever the file demands.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding.

use bzip2::{Decompress, Status};

use super::decoder::{Decode, Step, StreamState};

pub(super) struct Bzip2(Decompress);

impl Bzip2 {
    pub(super) fn new() -> Self {
        Self(Decompress::new(false))
    }
}

impl Decode for Bzip2 {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let before = (self.0.total_in(), self.0.total_out());
        let state = match self.0.decompress(input, output) {
            Ok(Status::StreamEnd) => StreamState::Ended,
            Ok(Status::MemNeeded) => StreamState::Damaged("no memory for a block".to_owned()),
            Ok(_) => StreamState::Going,
            Err(bzip2::Error::DataMagic) => StreamState::Damaged("not bzip2".to_owned()),
            Err(_) => StreamState::Damaged("a block is not what its checksum says".to_owned()),
        };
        Step::new(before, (self.0.total_in(), self.0.total_out()), state)
    }

    fn next_stream(&mut self) -> std::io::Result<()> {
        self.0 = Decompress::new(false);
        Ok(())
    }
}
