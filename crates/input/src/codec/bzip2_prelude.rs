//! Brings a decoder of bzip2 to any place of a stream where a block begins, without the blocks before it.
//!
//! A decoder at such a place knows three things: the block size, the bit of a byte where it is, and the checksum of all
//! blocks so far. So a short stream with one block of four bytes brings it there. These bytes have the wanted
//! checksum, and the block has as many bits as are needed.

use super::walk::Prelude;

/// The magic at the start of a block, and the one at the end of a stream.
pub(super) const BLOCK: u64 = 0x3141_5926_5359;
pub(super) const END: u64 = 0x1772_4538_5090;

/// What a stream begins with, before the digit of its block size.
pub(super) const HEADER: &[u8] = b"BZh";

/// A place where a block or the end of a stream begins.
#[derive(Clone, Copy, Default)]
pub(super) struct Edge {
    /// The digit of the block size.
    pub(super) level: u8,
    /// The magic.
    pub(super) magic: u64,
    /// The last byte that has bits of the magic, and how many bits of that byte follow it.
    pub(super) byte: u8,
    pub(super) behind: usize,
}

/// The polynomial of the checksum, without its highest bit.
const POLYNOMIAL: u32 = 0x04c1_1db7;

/// The number of tables of codes. Each symbol has a code of so many bits in each table.
const N_TABLES: usize = 6;
const CODE_LEN: usize = 3;

/// The bytes after which a decoder is at `edge`, and `checksum` is its checksum of the blocks so far. The block has the bits `selectors`
/// among its selectors of tables, with at most five ones in a row. A decoder needs none.
pub(super) fn prelude(edge: Edge, checksum: u32, selectors: &[bool]) -> Prelude {
    let content = content_of(checksum);
    let mut block = content.to_vec();
    if content == [content[0]; 4] {
        // After four equal bytes, a byte says how many more there are.
        block.push(0);
    }
    let mut is_used = [false; 256];
    for &byte in &block {
        is_used[usize::from(byte)] = true;
    }
    let (origin, symbols) = transformed(&block, &is_used);

    let mut head = Bits::default();
    HEADER.iter().chain([&edge.level]).for_each(|&byte| head.put(byte.into(), 8));
    head.put(BLOCK, 48);
    head.put(checksum.into(), 32);
    // The block is not randomised.
    head.put(0, 1);
    head.put(origin as u64, 24);
    // The groups of bytes that are used, then the bytes of these groups.
    let groups = || is_used.chunks(16).map(|group| (group.contains(&true), group));
    groups().for_each(|(has_used, _)| head.0.push(has_used));
    groups().filter(|group| group.0).for_each(|(_, group)| head.0.extend(group));
    head.put(N_TABLES as u64, 3);

    let mut tail = Bits::default();
    for _ in 0..N_TABLES {
        tail.put(CODE_LEN as u64, 5);
        // The length stays the same for all symbols: the bytes, and two more.
        let n_bytes = is_used.iter().filter(|&&is_used| is_used).count();
        tail.put(0, n_bytes + 2);
    }
    for symbol in symbols {
        tail.put(symbol as u64, CODE_LEN);
    }
    tail.put(edge.magic, 48);
    tail.put(edge.byte.into(), edge.behind);

    // A selector ends with a zero. One is needed, and others are not used.
    let before = head.0.len() + 15 + selectors.len() + tail.0.len();
    let selectors = [selectors, &vec![false; 8 - before % 8]].concat();
    head.put(selectors.iter().filter(|&&bit| !bit).count() as u64, 15);
    head.0.extend([selectors, tail.0].concat());
    let byte = |bits: &[bool]| bits.iter().fold(0, |byte, &bit| byte << 1 | u8::from(bit));
    Prelude { bytes: head.0.chunks(8).map(byte).collect(), decoded_len: content.len() }
}

#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    /// Appends the lowest `len` bits of `value`, the highest one of them first.
    fn put(&mut self, value: u64, len: usize) {
        self.0.extend((0..len).rev().map(|bit| value >> bit & 1 == 1));
    }
}

/// The four bytes that have this checksum.
fn content_of(checksum: u32) -> [u8; 4] {
    // The steps of the checksum, backwards. Its lowest bit says whether the polynomial was added.
    let back = |state: u32, _| if state & 1 == 1 { (state ^ POLYNOMIAL) >> 1 | 1 << 31 } else { state >> 1 };
    (!(0..32).fold(!checksum, back)).to_be_bytes()
}

/// The symbols of a block: the last bytes of its sorted rotations (the transform of Burrows and Wheeler). A symbol is the place
/// of a byte among the used bytes, and recent bytes are in front. Returns also the place of the block among its rotations.
fn transformed(block: &[u8], is_used: &[bool; 256]) -> (usize, Vec<usize>) {
    let mut recent: Vec<u8> = (0..=255).filter(|&byte| is_used[usize::from(byte)]).collect();
    let mut rotations: Vec<_> =
        (0..block.len()).map(|start| [&block[start..], &block[..start]].concat()).collect();
    rotations.sort();
    let origin = rotations.iter().position(|rotation| rotation == block).unwrap_or_default();
    let (mut symbols, mut n_zeros) = (Vec::new(), 0);
    for last in rotations.iter().filter_map(|rotation| rotation.last()) {
        let place = recent.iter().position(|byte| byte == last).unwrap_or_default();
        recent[..=place].rotate_right(1);
        if place == 0 {
            n_zeros += 1;
        } else {
            put_zeros(&mut symbols, &mut n_zeros);
            symbols.push(place + 1);
        }
    }
    put_zeros(&mut symbols, &mut n_zeros);
    symbols.push(recent.len() + 1);
    (origin, symbols)
}

/// Appends the number of zeros in digits of 1 and 2, the lowest one first. Their symbols are 0 and 1.
fn put_zeros(symbols: &mut Vec<usize>, n: &mut usize) {
    while *n > 0 {
        symbols.push((*n + 1) % 2);
        *n = (*n - 1) / 2;
    }
}

#[cfg(test)]
mod tests {
    use bzip2::{Decompress, Status};
    use proptest::prelude::*;

    use super::*;

    /// The checksum of bzip2, bit by bit.
    fn checksum(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(u32::MAX, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte) << 24, |crc, _| {
                if crc >> 31 == 1 { crc << 1 ^ POLYNOMIAL } else { crc << 1 }
            })
        })
    }

    /// The library goes on at any bit, and accepts the end of the stream only with this checksum.
    fn check(stated: u32, behind: usize, level: u8) {
        // The magic in the last byte of the prelude is followed by the first bits of the checksum.
        let [_, _, _, first, rest @ ..] = (u64::from(stated) << behind).to_be_bytes();
        let Prelude { mut bytes, decoded_len } =
            prelude(Edge { level, magic: END, byte: first, behind }, stated, &[]);
        bytes.extend(rest);
        for spoil in [0, 1 << 7] {
            *bytes.last_mut().unwrap() ^= spoil;
            let mut output = [0; 8];
            let mut decoder = Decompress::new(false);
            let result = decoder.decompress(&bytes, &mut output);
            assert_eq!((decoder.total_out(), checksum(&output[..4])), (decoded_len as u64, stated));
            assert_eq!(
                result.is_ok_and(|status| status == Status::StreamEnd),
                spoil == 0,
                "{stated} {behind}"
            );
        }
    }

    #[test]
    fn equal_bytes_are_followed_by_a_number() {
        for byte in [0, b'a', 255] {
            (0..8).for_each(|behind| check(checksum(&[byte; 4]), behind, b'1'));
        }
    }

    proptest! {
        #[test]
        fn a_decoder_goes_on_at_any_bit(
            content in prop_oneof![any::<[u8; 4]>(), prop::array::uniform4(b'a'..b'd')],
            behind in 0..8usize,
            level in b'1'..=b'9',
        ) {
            check(checksum(&content), behind, level);
        }
    }
}
