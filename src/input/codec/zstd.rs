//! Zstandard, by its own library, with windows up to the 128 MiB that its command takes without being asked.
//!
//! When the library finds something wrong, it does not say what it had decoded in that call. So no call gets to read behind
//! a block from which bytes have just come: what is decoded before damage is the same for any reads and any buffers.

use std::io;

use zstd::stream::raw::{DParameter, Decoder, Operation, Status};

use super::decoder::{Decode, State, Step};

/// The largest window, as a power of two.
const WINDOW_LOG: u32 = 27;

/// How long the header of a block is (RFC 8878, section 3.1.1.2), which the library likes to have with the block before.
const BLOCK_HEADER: usize = 3;

pub(super) struct Zstd {
    decoder: Decoder<'static>,
    /// How many bytes the library would like to have.
    wanted: usize,
    /// Whether it may have more decoded than there was room for.
    is_full: bool,
}

impl Zstd {
    pub(super) fn new() -> io::Result<Self> {
        let mut decoder = Decoder::new()?;
        decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
        Ok(Self { decoder, wanted: 1, is_full: false })
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self.decoder.run_on_buffers(input, output) {
            Ok(Status { remaining, bytes_read, bytes_written }) => {
                self.is_full = bytes_written == output.len();
                self.wanted = remaining.max(1);
                let state = if remaining == 0 { State::Ended } else { State::Going };
                Step { read: bytes_read, written: bytes_written, state }
            }
            Err(error) => {
                let cause = error.to_string();
                // The library's only error of that sort is that of a window.
                let state = if cause.contains("memory") {
                    State::TooLarge
                } else {
                    State::Damaged(cause.to_lowercase())
                };
                Step { read: input.len(), written: 0, state }
            }
        }
    }
}

impl Decode for Zstd {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.is_full {
            let step = self.run(&[], output);
            if step.written > 0 || !matches!(step.state, State::Going) {
                return step;
            }
        }
        let wanted = if self.wanted > BLOCK_HEADER { self.wanted - BLOCK_HEADER } else { self.wanted };
        self.run(&input[..wanted.min(input.len())], output)
    }

    fn next_stream(&mut self) -> io::Result<()> {
        (self.wanted, self.is_full) = (1, false);
        self.decoder.reinit()
    }
}
