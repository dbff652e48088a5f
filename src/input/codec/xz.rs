//! Decodes xz with liblzma, whose memory is limited to about twice the dictionary of the largest preset.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding. The stream is decoded block by
//! block, so that the decoder can pass over blocks that were decoded ahead. The index of such a stream is compared by
//! `xz_index`, because liblzma does not know of these blocks.

use std::io;

use liblzma::stream::{Action, Error, Status, Stream};

use super::decoder::{Decode, Step, StreamState};
use super::walk::{Part, Walk};
use super::xz_blocks::XzBlocks;
use super::xz_index::{DAMAGED, UNKNOWN_OPTIONS};

/// Memory limit of a decoder, in bytes. A file made by `xz -9` takes 65 MiB.
const MEMORY: u64 = 132 << 20;

pub(super) struct Xz {
    stream: Stream,
    blocks: XzBlocks,
    /// Bytes that `blocks` has walked over and liblzma has not read, and the part that ends with them.
    walked: usize,
    part: Option<Part>,
    /// Whether blocks were passed over.
    has_passed: bool,
}

impl Xz {
    pub(super) fn new() -> io::Result<Self> {
        let stream = Stream::new_stream_decoder(MEMORY, 0)?;
        Ok(Self { stream, blocks: XzBlocks::default(), walked: 0, part: None, has_passed: false })
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let before = (self.stream.total_in(), self.stream.total_out());
        let state = match self.stream.process(input, output, Action::Run) {
            Ok(Status::StreamEnd) => StreamState::Ended,
            Ok(_) => StreamState::Going,
            Err(Error::MemLimit | Error::Mem) => StreamState::TooLarge,
            Err(Error::Format) => StreamState::Damaged("not xz".to_owned()),
            Err(Error::Options) => StreamState::Damaged(UNKNOWN_OPTIONS.to_owned()),
            Err(_) => StreamState::Damaged(DAMAGED.to_owned()),
        };
        Step::new(before, (self.stream.total_in(), self.stream.total_out()), state)
    }
}

impl Decode for Xz {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.walked == 0 && self.part.is_none() {
            (self.walked, self.part) = self.blocks.walk(input);
        }
        if self.blocks.is_past_blocks() && self.has_passed {
            let state = match self.part.take() {
                Some(Part::Lost(cause)) => StreamState::Damaged(cause.to_owned()),
                Some(_) => StreamState::Ended,
                None => StreamState::Going,
            };
            return Step { read: std::mem::take(&mut self.walked), written: 0, state };
        }
        if self.blocks.is_past_blocks() || matches!(self.part, Some(Part::Lost(_))) {
            // liblzma finds what is wrong.
            return self.run(input, output);
        }
        let mut step = self.run(&input[..self.walked.min(input.len())], output);
        self.walked -= step.read;
        // While the output is full, liblzma may hold decoded bytes.
        if self.walked == 0 && step.written < output.len() && matches!(step.state, StreamState::Going) {
            step.state = self.part.take().map_or(StreamState::Going, |_| StreamState::PartEnded);
        }
        step
    }

    fn next_stream(&mut self) -> io::Result<()> {
        *self = Self::new()?;
        Ok(())
    }

    fn pass(&mut self, mut packed: &[u8]) -> StreamState {
        self.has_passed = true;
        loop {
            let (n, part) = self.blocks.walk(packed);
            packed = &packed[n..];
            match part {
                None => return StreamState::Going,
                Some(_) if n == 0 || packed.is_empty() => return StreamState::PartEnded,
                Some(_) => {}
            }
        }
    }
}
