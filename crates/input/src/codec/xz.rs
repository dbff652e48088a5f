//! Decodes xz with liblzma, whose memory is limited to about twice the dictionary of the largest preset.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding. The stream is decoded block by
//! block, so that the decoder can pass over blocks that were decoded ahead. The index of such a stream is compared by
//! `xz_index`, because liblzma does not know of these blocks.
//!
//! In a damaged chunk, liblzma may read and decode past the end of the chunk before it notices that. How far it goes depends on
//! the buffers. So it never gets bytes of two chunks at once, and a chunk that ends too early is reported here. The place of
//! damage is then the same for any reads and any buffers.

use std::io;

use liblzma::stream::{Action, Error, Status, Stream};

use super::by_headers::ByHeaders;
use super::decoder::{Decode, Step, StreamState};
use super::walk::{Part, Walk};
use super::xz_blocks::{XzBlocks, by_chunks};
use super::xz_index::{DAMAGED, UNKNOWN_OPTIONS};

/// Memory limit of a decoder, in bytes. A file made by `xz -9` takes 65 MiB.
const MEMORY: u64 = 132 << 20;

pub(super) struct Xz {
    stream: Stream,
    blocks: ByHeaders<XzBlocks>,
    /// Bytes that `blocks` has walked over and liblzma has not read, and the part that ends with them.
    walked: usize,
    part: Option<Part>,
    /// Whether liblzma has read the last walked byte, but may hold decoded bytes of it.
    is_held: bool,
    /// What liblzma had decoded where the block began.
    before_block: u64,
    /// Whether blocks were passed over.
    has_passed: bool,
}

impl Xz {
    pub(super) fn new() -> io::Result<Self> {
        let stream = Stream::new_stream_decoder(MEMORY, 0)?;
        let blocks = by_chunks();
        Ok(Self { stream, blocks, walked: 0, part: None, is_held: false, before_block: 0, has_passed: false })
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

    /// Completes a step after which liblzma may have decoded all walked bytes. It has if there is room left.
    fn at_edge(&mut self, mut step: Step, room: usize) -> Step {
        if !self.is_held || step.written == room || !matches!(step.state, StreamState::Going) {
            return step;
        }
        self.is_held = false;
        if self.part.take().is_some() {
            self.before_block = self.stream.total_out();
            step.state = StreamState::PartEnded;
        } else if let Some(len) = self.blocks.ended_chunks()
            && self.stream.total_out() - self.before_block < len
        {
            step.state = StreamState::Damaged(DAMAGED.to_owned());
        }
        step
    }
}

impl Decode for Xz {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.is_held {
            let step = self.run(&[], output);
            let step = self.at_edge(step, output.len());
            if step.written > 0 || !matches!(step.state, StreamState::Going) {
                return step;
            }
        }
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
        let step = self.run(&input[..self.walked.min(input.len())], output);
        self.walked -= step.read;
        self.is_held = self.walked == 0 && step.read > 0;
        self.at_edge(step, output.len())
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
                None if packed.is_empty() => return StreamState::Going,
                Some(_) if n == 0 || packed.is_empty() => return StreamState::PartEnded,
                _ => {}
            }
        }
    }
}
