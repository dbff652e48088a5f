//! Decodes bzip2 with libbz2-rs. A decoder takes less than 4 MiB, whatever the file demands.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding.
//!
//! libbz2-rs reads up to seven bytes ahead of the bit that it needs, if they are available. The place of damage would then
//! depend on how the source is cut into reads. So it never gets eight bytes at once: it then reads single bytes, and has
//! read no byte before it needs it.

use bzip2::{Decompress, Status};

use super::decoder::{Decode, Step, StreamState};

pub(super) struct Bzip2(Decompress);

/// The largest number of bytes of which libbz2-rs reads none ahead.
const MOST: usize = 7;

impl Bzip2 {
    pub(super) fn new() -> Self {
        Self(Decompress::new(false))
    }
}

impl Decode for Bzip2 {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let start = (self.0.total_in(), self.0.total_out());
        let mut pieces = input.chunks(MOST).chain(input.is_empty().then_some(input));
        let state = loop {
            let Some(piece) = pieces.next() else { break StreamState::Going };
            let before = self.0.total_in();
            let written = usize::try_from(self.0.total_out() - start.1).expect("no more than there is");
            match self.0.decompress(piece, &mut output[written..]) {
                Ok(Status::StreamEnd) => break StreamState::Ended,
                Ok(Status::MemNeeded) => break StreamState::Damaged("no memory for a block".to_owned()),
                // The output is full.
                Ok(_) if self.0.total_in() - before < piece.len() as u64 => break StreamState::Going,
                Ok(_) => {}
                Err(bzip2::Error::DataMagic) => break StreamState::Damaged("not bzip2".to_owned()),
                Err(_) => break StreamState::Damaged("a block is not what its checksum says".to_owned()),
            }
        };
        Step::new(start, (self.0.total_in(), self.0.total_out()), state)
    }

    fn next_stream(&mut self) -> std::io::Result<()> {
        self.0 = Decompress::new(false);
        Ok(())
    }
}
