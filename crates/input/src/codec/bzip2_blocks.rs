//! Finds the blocks of a bzip2 file without decoding them.
//!
//! A block begins at any bit, with a magic of 48 bits. Another magic is at the end of a stream. A block may contain these
//! bits by chance, so each place that is found is a guess. Only decoding shows that a block ends there.
//!
//! A part ends with the last byte of the magic, because a decoder that knows the magic has read that byte.

use super::bzip2_prelude::{BLOCK, END, Edge, HEADER, prelude};
use super::walk::{Part, Prelude, Walk};

/// The bits of a magic.
const MASK: u64 = (1 << 48) - 1;

/// Whether a byte may be the last but one that has bits of a magic.
const IS_NEAR: [bool; 256] = {
    let mut is_near = [false; 256];
    let mut behind = 0;
    while behind < 8 {
        is_near[(BLOCK << behind >> 8 & 0xff) as usize] = true;
        is_near[(END << behind >> 8 & 0xff) as usize] = true;
        behind += 1;
    }
    is_near
};

#[derive(Default)]
pub(super) struct Bzip2Blocks {
    stage: Stage,
    /// The digit of the block size.
    level: u8,
    /// The last eight bytes.
    window: u64,
    /// The last edge of the stream, and the one before it.
    edge: Option<Edge>,
    before: Option<Edge>,
    /// The checksum that the file states of the block at the last edge.
    pub(super) checksum: u32,
}

#[derive(Clone, Copy)]
enum Stage {
    /// So many bytes of the header of a stream were read.
    Header(usize),
    Block,
    /// So many bytes of a checksum were read.
    Checksum(usize),
    Lost,
}

impl Default for Stage {
    fn default() -> Self {
        Self::Header(0)
    }
}

impl Walk for Bzip2Blocks {
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>) {
        for (at, &byte) in bytes.iter().enumerate() {
            self.window = self.window << 8 | u64::from(byte);
            let part = match self.stage {
                Stage::Block if IS_NEAR[usize::from(self.window.to_le_bytes()[1])] => self.find_edge(byte),
                Stage::Block => None,
                Stage::Header(n) => self.header(n, byte),
                Stage::Checksum(n) => self.read_checksum(n),
                Stage::Lost => Some(Part::Lost("no stream")),
            };
            if part.is_some() {
                return (at + 1, part);
            }
        }
        (bytes.len(), None)
    }

    fn decoded_len(&self) -> u64 {
        4 * self.block_size()
    }

    fn prelude(&self) -> Prelude {
        self.before.map(|edge| prelude(edge, 0, &[])).unwrap_or_default()
    }

    fn guesses(&self) -> bool {
        true
    }
}

impl Bzip2Blocks {
    /// What brings a decoder to the last edge. `checksum` is the checksum of the stream so far.
    pub(super) fn prelude_with(&self, checksum: u32) -> Prelude {
        self.edge.map(|edge| prelude(edge, checksum, &[])).unwrap_or_default()
    }

    /// Goes on as if there was no edge where the last one is.
    pub(super) fn reject(&mut self) {
        (self.edge, self.stage) = (self.before, Stage::Block);
    }

    /// The block size in bytes. Runs of equal bytes, which are shortened first, make the decoded length of a block larger.
    fn block_size(&self) -> u64 {
        100_000 * u64::from(self.level.saturating_sub(b'0'))
    }

    /// Reads byte `n` of the header of a stream, or a zero between streams.
    fn header(&mut self, n: usize, byte: u8) -> Option<Part> {
        if n == 0 && byte == 0 {
            return Some(Part::Other);
        }
        let is_right = match HEADER.get(n) {
            Some(&expected) => byte == expected,
            // The level is one for all streams, because this header may be in a block by chance.
            None => (b'1'..=b'9').contains(&byte) && [0, byte].contains(&self.level),
        };
        self.stage = if !is_right {
            Stage::Lost
        } else if n < HEADER.len() {
            Stage::Header(n + 1)
        } else {
            (self.level, self.window, self.edge) = (byte, 0, None);
            Stage::Block
        };
        None
    }

    /// Finds an edge that ends in `byte`, the last byte.
    fn find_edge(&mut self, byte: u8) -> Option<Part> {
        let magic = |behind: &usize| self.window >> behind & MASK;
        let behind = (0..8).find(|behind| [BLOCK, END].contains(&magic(behind)))?;
        let edge = Edge { level: self.level, magic: magic(&behind), byte, behind };
        self.before = self.edge.replace(edge);
        self.stage = Stage::Checksum(0);
        // A decoder has four bytes of memory for each byte of a block.
        let memory = 4 * self.block_size();
        Some(self.before.map_or(Part::Other, |_| Part::Unit { decoded_len: memory, window: memory }))
    }

    /// Reads byte `n` after an edge.
    fn read_checksum(&mut self, n: usize) -> Option<Part> {
        let edge = self.edge.filter(|_| n == 3);
        self.stage = match edge {
            None => Stage::Checksum(n + 1),
            Some(Edge { magic: END, .. }) => Stage::Header(0),
            Some(Edge { behind, .. }) => {
                self.checksum = u32::try_from(self.window >> behind & u64::from(u32::MAX)).ok()?;
                Stage::Block
            }
        };
        matches!(self.stage, Stage::Header(_)).then_some(Part::End)
    }
}
