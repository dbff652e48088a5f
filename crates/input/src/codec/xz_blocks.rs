//! Finds the blocks of an xz file without decoding them.
//!
//! The last filter of a block is LZMA2, and the headers of its chunks say how long they are, compressed and decoded. So
//! the end of a block is found whether its header states its length or not. Only decoding shows that a block is right.

use super::by_headers::{ByHeaders, Header, Headers};
use super::walk::Part;
use super::xz_index::{DAMAGED, FOOTER, Index, Read, Sums};

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
    blocks: Sums,
    index: Index,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Stream,
    Block,
    Chunk,
    Index,
    Footer,
}

impl Headers for XzBlocks {
    fn read(&mut self, held: &[u8]) -> Header {
        match self.stage {
            Stage::Stream => self.stream_header(held),
            Stage::Block => self.block_header(held),
            Stage::Chunk => self.chunk_header(held),
            Stage::Index => self.index(held[0]),
            Stage::Footer => self.footer(held),
        }
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len.max(self.stated)
    }

    fn prelude(&self) -> &[u8] {
        &self.header
    }

    fn stops_within(&self) -> bool {
        self.by_chunks
    }
}

/// The walk over blocks that also stops where a chunk ends.
pub(super) fn by_chunks() -> ByHeaders<XzBlocks> {
    let mut walk = ByHeaders::<XzBlocks>::default();
    walk.format.by_chunks = true;
    walk
}

impl ByHeaders<XzBlocks> {
    /// The decoded length of the chunks so far, if a chunk has just ended and no filter holds bytes back.
    pub(super) fn ended_chunks(&self) -> Option<u64> {
        let XzBlocks { stage, is_plain, decoded_len, .. } = self.format;
        (stage == Stage::Chunk && self.is_between() && is_plain).then_some(decoded_len)
    }

    /// Whether all blocks of the stream have ended.
    pub(super) fn is_past_blocks(&self) -> bool {
        self.format.index.has_begun()
    }
}

impl XzBlocks {
    /// Reads the header of a stream, or a zero between streams.
    fn stream_header(&mut self, held: &[u8]) -> Header {
        let n_magic = held.len().min(MAGIC.len());
        if held[0] == 0 {
            return Header::Ends(0, Part::Other);
        } else if held[..n_magic] != MAGIC[..n_magic] {
            return Header::Lost("not xz", true);
        } else if held.len() < HEADER {
            return Header::Incomplete;
        }
        let (by_chunks, header) = (self.by_chunks, held.to_vec());
        *self = Self { by_chunks, stage: Stage::Block, header, ..Self::default() };
        Header::Ends(0, Part::Other)
    }

    /// Reads the header of a block, or the first byte of the index.
    fn block_header(&mut self, held: &[u8]) -> Header {
        if held[0] == 0 {
            self.stage = Stage::Index;
            return self.index(0);
        }
        let len = 4 * (usize::from(held[0]) + 1);
        if held.len() < len {
            return Header::Incomplete;
        }
        self.unpadded = len as u64;
        // A header that cannot be read is reported by the decoder.
        (self.stated, self.window, self.is_plain) = stated(&held[1..]).unwrap_or_default();
        self.stage = Stage::Chunk;
        Header::Skip(0)
    }

    /// Reads the header of a chunk, or the end of the block.
    fn chunk_header(&mut self, held: &[u8]) -> Header {
        let control = held[0];
        let len = match control {
            0 => return self.end_of_block(),
            1 | 2 => 3,
            0x80..0xc0 => 5,
            0xc0.. => 6,
            _ => return Header::Lost(DAMAGED, true),
        };
        if held.len() < len {
            return Header::Incomplete;
        }
        let number = |at: usize| u64::from(held[at]) << 8 | u64::from(held[at + 1]);
        let high = if control < 0x80 { 0 } else { u64::from(control & 0x1f) << 16 };
        self.decoded_len += (high | number(1)) + 1;
        let skip = number(if control < 0x80 { 1 } else { 3 }) + 1;
        self.unpadded += len as u64 + skip;
        Header::Skip(skip)
    }

    fn end_of_block(&mut self) -> Header {
        let checksum = u64::from(CHECKSUMS[usize::from(self.header[7] & 0xf)]);
        let unpadded = self.unpadded + 1;
        let part = Part::Unit { decoded_len: self.decoded_len, window: self.window };
        self.blocks.add(unpadded + checksum, self.decoded_len);
        (self.stage, self.decoded_len, self.stated) = (Stage::Block, 0, 0);
        Header::Ends((unpadded.wrapping_neg() & 3) + checksum, part)
    }

    fn index(&mut self, byte: u8) -> Header {
        match self.index.read(byte, &self.blocks) {
            Read::More => {}
            Read::Ended => self.stage = Stage::Footer,
            Read::Wrong(is_read) => return Header::Lost(DAMAGED, is_read),
        }
        Header::Skip(0)
    }

    fn footer(&mut self, held: &[u8]) -> Header {
        if held.len() < FOOTER {
            return Header::Incomplete;
        }
        if let Some(cause) = self.index.wrong_footer(held, &self.header[6..8]) {
            return Header::Lost(cause, true);
        }
        self.stage = Stage::Stream;
        Header::Ends(0, Part::End)
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
