//! Decodes bzip2 with libbz2-rs. A decoder takes less than 4 MiB, whatever the file demands.
//!
//! This module decodes a single stream. `decoder` handles consecutive streams and padding. The stream is decoded block by
//! block, so that the decoder can pass over blocks that were decoded ahead.
//!
//! libbz2-rs reads up to seven bytes ahead of the bit that it needs, if they are available. The place of damage would then
//! depend on how the source is cut into reads. Of seven bytes or fewer it reads none ahead, so it
//! gets no more at once, unless the place of damage does not matter.

use std::ops::Range;

use bzip2::{Decompress, Status};

use super::bzip2_blocks::Bzip2Blocks;
use super::decoder::{Decode, Step, StreamState};
use super::walk::{Part, Walk};

/// The library, which gives out each block in pieces.
///
/// If a block turns out to be damaged while it is given out, the library does not tell how much it has written in the last
/// call. So the bytes before the damage would depend on the buffers of the caller. Pieces depend on the block alone.
struct Library {
    decoder: Decompress,
    piece: Vec<u8>,
    /// The bytes of the piece that are not given out yet.
    left: Range<usize>,
    /// How the stream ended, if it has. It is told after the piece.
    end: Option<Result<Status, bzip2::Error>>,
    /// How many bytes were given out.
    total_out: u64,
}

/// The length of a piece, in bytes.
const PIECE: usize = 4096;

impl Library {
    fn new() -> Self {
        Self { decoder: Decompress::new(false), piece: vec![0; PIECE], left: 0..0, end: None, total_out: 0 }
    }

    fn totals(&self) -> (u64, u64) {
        (self.decoder.total_in(), self.total_out)
    }

    /// Decodes until all of `input` is read, `output` is full, or the stream has ended.
    fn decompress(&mut self, mut input: &[u8], mut output: &mut [u8]) -> Result<Status, bzip2::Error> {
        loop {
            let n = self.left.len().min(output.len());
            output[..n].copy_from_slice(&self.piece[self.left.start..self.left.start + n]);
            (self.left.start, self.total_out, output) =
                (self.left.start + n, self.total_out + n as u64, &mut output[n..]);
            if !self.left.is_empty() {
                return Ok(Status::Ok);
            }
            if let Some(end) = self.end.take() {
                return end;
            }
            if output.is_empty() && n > 0 {
                return Ok(Status::Ok);
            }
            let before = (self.decoder.total_in(), self.decoder.total_out());
            let result = self.decoder.decompress(input, &mut self.piece);
            let read = usize::try_from(self.decoder.total_in() - before.0).expect("no more than there is");
            let written = usize::try_from(self.decoder.total_out() - before.1).expect("no more than a piece");
            (self.left, input) = (0..written, &input[read..]);
            match result {
                Ok(Status::StreamEnd | Status::MemNeeded) | Err(_) => self.end = Some(result),
                Ok(_) if written == 0 => return result,
                Ok(_) => {}
            }
        }
    }
}

pub(super) struct Bzip2 {
    library: Library,
    /// Most bytes that the library gets at once.
    most: usize,
    blocks: Bzip2Blocks,
    /// Bytes that `blocks` has walked over and the library has not read, and the part that seems to end with them.
    walked: usize,
    part: Option<Part>,
    /// What the library had decoded at the start of the block.
    before_block: u64,
    /// What the library had read when it knew that the block had ended.
    block_end: Option<u64>,
    /// The checksum of the stream so far.
    checksum: u32,
    /// Whether a block was passed over. The library does not know of it.
    has_passed: bool,
}

/// If libbz2-rs gets this many bytes at once, it reads none ahead. As many bytes before the end of a part are given one by one.
const SINGLE: usize = 7;

/// The length of a stream's header, and of the magic before a block, in bytes.
const HEADER: u64 = 4;
const MAGIC: u64 = 6;

impl Bzip2 {
    pub(super) fn new() -> Self {
        Self {
            library: Library::new(),
            most: SINGLE,
            blocks: Bzip2Blocks::default(),
            walked: 0,
            part: None,
            before_block: 0,
            block_end: Some(HEADER),
            checksum: 0,
            has_passed: false,
        }
    }

    /// Gives `input` to the library. The last bytes are given one by one, so that `block_end` is exact among them.
    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        let start = self.library.totals();
        let (mut read, mut written) = (0, 0);
        let mut state = StreamState::Going;
        loop {
            let left = input.len() - read;
            let len = left.min(if left > SINGLE { self.most.min(left - SINGLE) } else { 1 });
            let result = self.library.decompress(&input[read..read + len], &mut output[written..]);
            let step = Step::new(start, self.library.totals(), StreamState::Going);
            let is_full = step.read < read + len || step.written == output.len();
            (read, written) = (step.read, step.written);
            if self.library.total_out > self.before_block {
                self.block_end.get_or_insert(self.library.totals().0);
            }
            match result {
                Ok(Status::StreamEnd) => state = StreamState::Ended,
                Ok(Status::MemNeeded) => state = StreamState::Damaged("no memory for a block".to_owned()),
                Ok(_) if is_full || read == input.len() => {}
                Ok(_) => continue,
                Err(bzip2::Error::DataMagic) => state = StreamState::Damaged("not bzip2".to_owned()),
                Err(_) => state = StreamState::Damaged("a block is not what its checksum says".to_owned()),
            }
            return Step { read, written, state };
        }
    }

    /// Goes on after the end of a block, or of the header of a stream.
    fn end_block(&mut self, part: Part) {
        if matches!(part, Part::Unit { .. }) {
            self.checksum = self.checksum.rotate_left(1) ^ self.blocks.checksum;
        }
        (self.before_block, self.block_end) = (self.library.total_out, None);
    }

    /// Brings a new library to the last edge.
    fn resume(&mut self) {
        self.library = Library::new();
        let prelude = self.blocks.prelude_with(self.checksum);
        for piece in prelude.bytes.chunks(SINGLE) {
            // The library reports an error again.
            let _ = self.library.decompress(piece, &mut [0; 8]);
        }
        self.before_block = self.library.total_out;
        self.has_passed = false;
    }
}

impl Decode for Bzip2 {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.has_passed {
            self.resume();
        }
        if self.walked == 0 {
            (self.walked, self.part) = self.blocks.walk(input);
        }
        if matches!(self.part, Some(Part::Lost(_))) {
            // The library finds what is wrong.
            return self.run(input, output);
        }
        let mut step = self.run(&input[..self.walked.min(input.len())], output);
        self.walked -= step.read;
        if self.walked == 0
            && matches!(step.state, StreamState::Going)
            && let Some(part) = self.part.take()
        {
            if self.block_end.is_some_and(|end| end + MAGIC == self.library.totals().0) {
                self.end_block(part);
                step.state = StreamState::PartEnded;
            } else {
                self.blocks.reject();
            }
        }
        step
    }

    fn hurry(&mut self) {
        self.most = usize::MAX;
    }

    fn next_stream(&mut self) -> std::io::Result<()> {
        *self = Self::new();
        Ok(())
    }

    fn pass(&mut self, packed: &[u8]) -> StreamState {
        self.has_passed = true;
        // A unit that was decoded ahead ends at the first place that looks like an end.
        let (_, Some(part)) = self.blocks.walk(packed) else { return StreamState::Going };
        self.end_block(part);
        StreamState::PartEnded
    }
}
