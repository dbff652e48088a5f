//! Finds the blocks of an xz file without decoding them.
//!
//! The last filter of a block is LZMA2, and the headers of its chunks say how long they are, compressed and decoded. So
//! the end of a block is found whether its header states its length or not. Only decoding shows that a block is right.

use super::walk::{Part, Walk};
use super::xz_index::{DAMAGED, FOOTER, Index, Read, Sizes};

/// The first bytes of a stream, and the length of its header.
const MAGIC: &[u8] = b"\xfd7zXZ\0";
const HEADER: usize = 12;

/// Numbers of filters.
const DELTA: u64 = 3;
const LZMA2: u64 = 0x21;

/// Length of a block's checksum, by the number in the stream header.
const CHECKSUMS: [u8; 16] = [0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64];

#[derive(Default)]
pub(super) struct XzBlocks {
    /// Whether a walk also stops where a chunk ends.
    by_chunks: bool,
    stage: Stage,
    /// The bytes of a header so far.
    held: Vec<u8>,
    /// Bytes to skip before the next header.
    skip: u64,
    /// The header of the stream.
    header: Vec<u8>,
    /// Length of the block so far, without its padding.
    unpadded: u64,
    decoded_len: u64,
    /// The decoded length that the block states.
    stated: u64,
    window: u64,
    /// Whether no filter of the block holds bytes back.
    is_plain: bool,
    blocks: Sizes,
    index: Index,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Stream,
    Block,
    Chunk,
    /// The block ends after the skipped bytes.
    BlockEnd,
    Index,
    Footer,
    Lost(&'static str),
}

/// What the bytes of a header are so far.
enum Header {
    Incomplete,
    /// The header is complete, and its part goes on.
    Read,
    /// The part ends with the header.
    Ends(Part),
}

impl Walk for XzBlocks {
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>) {
        let mut at = 0;
        loop {
            let n = self.skip.min((bytes.len() - at) as u64);
            self.skip -= n;
            at += usize::try_from(n).expect("no more than there is");
            if n > 0 && self.skip == 0 && self.stage == Stage::Chunk && self.by_chunks {
                return (at, None);
            }
            if self.skip == 0 && self.stage == Stage::BlockEnd {
                self.stage = Stage::Block;
                self.blocks.add(self.unpadded, self.decoded_len);
                let part = Part::Unit { decoded_len: self.decoded_len, window: self.window };
                (self.decoded_len, self.stated) = (0, 0);
                return (at, Some(part));
            }
            if let Stage::Lost(cause) = self.stage {
                return (at, Some(Part::Lost(cause)));
            }
            let Some(&byte) = bytes.get(at) else { return (at, None) };
            at += 1;
            if self.stage == Stage::Block && self.held.is_empty() && byte == 0 {
                self.stage = Stage::Index;
                self.index = Index::default();
            }
            if self.stage == Stage::Index {
                match self.index.read(byte, &self.blocks) {
                    Read::More => {}
                    Read::Ended => self.stage = Stage::Footer,
                    Read::Wrong(is_read) => {
                        self.stage = Stage::Lost(DAMAGED);
                        at -= usize::from(!is_read);
                    }
                }
                continue;
            }
            if self.stage == Stage::Stream && self.held.is_empty() && byte == 0 {
                return (at, Some(Part::Other));
            }
            self.held.push(byte);
            match self.header() {
                Header::Incomplete => {}
                Header::Read => self.held.clear(),
                Header::Ends(part) => {
                    self.held.clear();
                    return (at, Some(part));
                }
            }
        }
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len.max(self.stated)
    }

    fn prelude(&self) -> &[u8] {
        &self.header
    }
}

impl XzBlocks {
    /// The same, but a walk also stops where a chunk ends.
    pub(super) fn by_chunks() -> Self {
        Self { by_chunks: true, ..Self::default() }
    }

    /// The decoded length of the chunks so far, if a chunk has just ended and no filter holds bytes back.
    pub(super) fn ended_chunks(&self) -> Option<u64> {
        let has_ended = self.stage == Stage::Chunk && self.skip == 0 && self.held.is_empty();
        (has_ended && self.is_plain).then_some(self.decoded_len)
    }

    /// Whether all blocks of the stream have ended.
    pub(super) fn is_past_blocks(&self) -> bool {
        self.index.has_begun()
    }

    fn header(&mut self) -> Header {
        match self.stage {
            Stage::Stream => self.stream_header(),
            Stage::Block => self.block_header(),
            Stage::Chunk => self.chunk_header(),
            _ => self.footer(),
        }
    }

    fn stream_header(&mut self) -> Header {
        let n_magic = self.held.len().min(MAGIC.len());
        if self.held[..n_magic] != MAGIC[..n_magic] {
            self.stage = Stage::Lost("not xz");
            return Header::Read;
        }
        if self.held.len() < HEADER {
            return Header::Incomplete;
        }
        let (by_chunks, header) = (self.by_chunks, self.held.clone());
        *self = Self { by_chunks, stage: Stage::Block, header, ..Self::default() };
        Header::Ends(Part::Other)
    }

    fn block_header(&mut self) -> Header {
        let len = 4 * (usize::from(self.held[0]) + 1);
        if self.held.len() < len {
            return Header::Incomplete;
        }
        self.unpadded = len as u64;
        // A header that cannot be read is reported by the decoder.
        (self.stated, self.window, self.is_plain) = stated(&self.held[1..]).unwrap_or_default();
        self.stage = Stage::Chunk;
        Header::Read
    }

    fn chunk_header(&mut self) -> Header {
        let control = self.held[0];
        let len = match control {
            0 => {
                self.unpadded += 1;
                let checksum = u64::from(CHECKSUMS[usize::from(self.header[7] & 0xf)]);
                self.skip = (self.unpadded.wrapping_neg() & 3) + checksum;
                self.unpadded += checksum;
                self.stage = Stage::BlockEnd;
                return Header::Read;
            }
            1 | 2 => 3,
            0x80..0xc0 => 5,
            0xc0.. => 6,
            _ => {
                self.stage = Stage::Lost(DAMAGED);
                return Header::Read;
            }
        };
        if self.held.len() < len {
            return Header::Incomplete;
        }
        let number = |at: usize| u64::from(self.held[at]) << 8 | u64::from(self.held[at + 1]);
        let high = if control < 0x80 { 0 } else { u64::from(control & 0x1f) << 16 };
        self.decoded_len += (high | number(1)) + 1;
        self.skip = number(if control < 0x80 { 1 } else { 3 }) + 1;
        self.unpadded += len as u64 + self.skip;
        Header::Read
    }

    fn footer(&mut self) -> Header {
        if self.held.len() < FOOTER {
            return Header::Incomplete;
        }
        if let Some(cause) = self.index.wrong_footer(&self.held, &self.header[6..8]) {
            self.stage = Stage::Lost(cause);
            return Header::Read;
        }
        self.stage = Stage::Stream;
        Header::Ends(Part::End)
    }
}

/// The decoded length that a block header states, or 0, the length of its dictionary, and whether no filter holds bytes
/// back. `rest` is the header without its first byte.
fn stated(rest: &[u8]) -> Option<(u64, u64, bool)> {
    let (&flags, mut rest) = rest.split_first()?;
    let mut decoded_len = 0;
    if flags & 0x40 != 0 {
        integer(&mut rest)?;
    }
    if flags & 0x80 != 0 {
        decoded_len = integer(&mut rest)?;
    }
    let (mut window, mut is_plain) = (0, true);
    for _ in 0..=flags & 3 {
        // The others, such as those for machine code, hold back bytes that may begin an instruction.
        is_plain &= [DELTA, LZMA2].contains(&integer(&mut rest)?);
        let len = usize::try_from(integer(&mut rest)?).ok()?;
        let (properties, more) = rest.split_at_checked(len)?;
        // The last filter is LZMA2, whose only property is the length of its dictionary.
        window = properties.first().map_or(0, |&code| (2 | u64::from(code & 1)) << (code.min(40) / 2 + 11));
        rest = more;
    }
    Some((decoded_len, window, is_plain))
}

/// Reads an integer of variable length from the start of `bytes`.
fn integer(bytes: &mut &[u8]) -> Option<u64> {
    let len = bytes.iter().take(9).position(|byte| byte & 0x80 == 0)? + 1;
    let (own, more) = bytes.split_at(len);
    *bytes = more;
    Some(own.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f)))
}
