//! Compares the index and the footer of an xz stream with the blocks of the stream.
//!
//! liblzma does that too, but only if it decodes all blocks of the stream. The results are those of liblzma, and so are
//! the places of errors.

use sha2::{Digest, Sha256};

/// The greatest variable-length integer of the format, and the greatest length of a block without its padding.
const MOST: u64 = u64::MAX / 2;
const MOST_UNPADDED: u64 = MOST & !3;
const LEAST_UNPADDED: u64 = 5;

/// Length of the footer.
pub(super) const FOOTER: usize = 12;

pub(super) const DAMAGED: &str = "a block is not what its checksum says";
pub(super) const UNKNOWN_OPTIONS: &str = "made with options that are not known";

/// The sizes of blocks, or of the records of an index, summed up.
#[derive(Clone, Default)]
pub(super) struct Sums {
    count: u64,
    unpadded: u64,
    decoded: u64,
    /// Length of the records in the index.
    list: u64,
    hash: Sha256,
}

impl Sums {
    /// Adds a block: its compressed length without padding, and its decoded length.
    pub(super) fn add(&mut self, unpadded: u64, decoded: u64) {
        self.count += 1;
        self.unpadded += unpadded.next_multiple_of(4);
        self.decoded += decoded;
        self.list += len_of_integer(unpadded) + len_of_integer(decoded);
        self.hash.update([unpadded.to_le_bytes(), decoded.to_le_bytes()].concat());
    }

    fn sums(&self) -> [u64; 3] {
        [self.unpadded, self.decoded, self.list]
    }
}

fn len_of_integer(value: u64) -> u64 {
    u64::from(64 - (value | 1).leading_zeros()).div_ceil(7)
}

/// The index of a stream, which is read byte by byte.
#[derive(Default)]
pub(super) struct Index {
    stage: Stage,
    records: Sums,
    /// Records that have not been read.
    n_left: u64,
    /// An integer so far, and the number of its bytes.
    integer: (u64, u32),
    unpadded: u64,
    checksum: u32,
    len: u64,
}

#[derive(Clone, Copy, Default)]
enum Stage {
    #[default]
    Indicator,
    Count,
    Unpadded,
    Decoded,
    /// So many bytes of padding are left.
    Padding(u64),
    /// So many bytes of the checksum have been read.
    Checksum(usize),
}

/// The result of reading a byte.
pub(super) enum Read {
    More,
    /// The index ends with this byte, and is right.
    Ended,
    /// The index is wrong: whether this byte counts as read.
    Wrong(bool),
}

impl Index {
    pub(super) fn has_begun(&self) -> bool {
        self.len > 0
    }

    /// Reads a byte of the index of `blocks`.
    pub(super) fn read(&mut self, byte: u8, blocks: &Sums) -> Read {
        if matches!(self.stage, Stage::Padding(0)) {
            let (hash, right) = (self.records.hash.clone(), blocks.hash.clone());
            if self.records.sums() != blocks.sums() || hash.finalize() != right.finalize() {
                return Read::Wrong(false);
            }
            self.stage = Stage::Checksum(0);
        }
        self.len += 1;
        if let Stage::Checksum(n) = self.stage {
            self.stage = Stage::Checksum(n + 1);
            return match self.checksum.to_le_bytes()[n] == byte {
                true if n == 3 => Read::Ended,
                true => Read::More,
                false => Read::Wrong(true),
            };
        }
        self.checksum = !more_crc32(!self.checksum, byte);
        if self.take(byte, blocks).is_some() { Read::More } else { Read::Wrong(true) }
    }

    /// Takes a byte before the checksum. Returns `None` if it is wrong.
    fn take(&mut self, byte: u8, blocks: &Sums) -> Option<()> {
        match self.stage {
            Stage::Indicator if byte == 0 => self.stage = Stage::Count,
            Stage::Padding(left) if byte == 0 => self.stage = Stage::Padding(left - 1),
            Stage::Indicator | Stage::Padding(_) | Stage::Checksum(_) => return None,
            Stage::Count | Stage::Unpadded | Stage::Decoded => {
                let (integer, n) = self.integer;
                let integer = integer | u64::from(byte & 0x7f) << (7 * n);
                if byte & 0x80 != 0 {
                    self.integer = (integer, n + 1);
                    return (n < 8).then_some(());
                }
                self.integer = (0, 0);
                if byte == 0 && n > 0 {
                    return None;
                }
                return self.take_integer(integer, blocks);
            }
        }
        Some(())
    }

    fn take_integer(&mut self, integer: u64, blocks: &Sums) -> Option<()> {
        match self.stage {
            Stage::Count => {
                self.n_left = integer;
                if integer != blocks.count {
                    return None;
                }
            }
            Stage::Unpadded => {
                self.unpadded = integer;
                self.stage = Stage::Decoded;
                return (LEAST_UNPADDED..=MOST_UNPADDED).contains(&integer).then_some(());
            }
            _ => {
                self.records.add(self.unpadded, integer);
                self.n_left -= 1;
                if self.records.sums().iter().zip(blocks.sums()).any(|(&sum, right)| sum > right) {
                    return None;
                }
            }
        }
        self.stage =
            if self.n_left == 0 { Stage::Padding(self.len.wrapping_neg() & 3) } else { Stage::Unpadded };
        Some(())
    }

    /// Compares the footer of the stream, which follows this index. `flags` are those of the header. Returns the cause of
    /// an error.
    pub(super) fn wrong_footer(&self, footer: &[u8], flags: &[u8]) -> Option<&'static str> {
        let [a, b, c, d, stated @ .., b'Y', b'Z'] = footer else { return Some(DAMAGED) };
        let [.., zero, check] = stated else { return Some(DAMAGED) };
        if u32::from_le_bytes([*a, *b, *c, *d]) != crc32(stated) {
            Some(DAMAGED)
        } else if *zero != 0 || check & 0xf0 != 0 {
            Some(UNKNOWN_OPTIONS)
        } else {
            let len = (self.len / 4 - 1).to_le_bytes();
            (*stated != [&len[..4], flags].concat()).then_some(DAMAGED)
        }
    }
}

pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| more_crc32(crc, byte))
}

/// The checksum of the format, bit by bit, because an index is short.
fn more_crc32(crc: u32, byte: u8) -> u32 {
    (0..8).fold(crc ^ u32::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 })
}
