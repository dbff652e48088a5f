//! Searches blocks of 64 bytes for a few byte values, and returns one bit per byte. It works on blocks in sequence and
//! not on lanes, so it is not part of [`super::Kernel`].

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8};

use super::BLOCK;
#[cfg(target_arch = "x86_64")]
use super::{Job, Kernel};

/// The search of a kernel.
#[cfg(target_arch = "x86_64")]
pub(super) trait FindBits: Kernel {
    /// Which bytes of a block are in `set`. Always inlined into a [`Job`], so that it is compiled for the kernel's instructions.
    fn find_bits(self, set: [u8; 3], block: &[u8; BLOCK]) -> u64;

    /// Which bytes of a block are from `first` to `last`. Always inlined as well.
    fn find_range(self, first: u8, last: u8, block: &[u8; BLOCK]) -> u64;
}

/// Writes to `found` which bytes of each block are in `set`. The lowest bit is the first byte.
///
/// # Panics
///
/// If `found` is shorter than `blocks`.
pub fn find(set: [u8; 3], blocks: &[[u8; BLOCK]], found: &mut [u64]) {
    let found = &mut found[..blocks.len()];
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = super::Avx512::detect() {
            return avx512.run(Search { kernel: avx512, set, blocks, found });
        }
        if let Some(avx2) = super::Avx2::detect() {
            return avx2.run(Search { kernel: avx2, set, blocks, found });
        }
    }
    for (found, block) in found.iter_mut().zip(blocks) {
        *found = bits(set, block);
    }
}

/// What a search for `N` sets of bytes does with its results.
pub trait BlockSink<const N: usize> {
    /// The sets. They are known when the search is compiled, so that a byte that is repeated costs nothing.
    const SETS: [[u8; 3]; N];

    /// For each set, the first and the last of more bytes that are in it, if there are any.
    const RANGES: [Option<(u8, u8)>; N] = [None; N];

    /// Takes the next block: which of its bytes are in each set. The lowest bit is the first byte. Always inlined into the
    /// search, so that it is compiled for the kernel's instructions.
    fn take(&mut self, bits: [u64; N]);

    /// Ends the search.
    fn finish(self);
}

/// Searches bytes for several sets in one pass. A last block that is not whole is filled up with zeros.
pub fn find_each<const N: usize, S: BlockSink<N>>(bytes: &[u8], mut sink: S) {
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut filled = [0; BLOCK];
    filled[..rest.len()].copy_from_slice(rest);
    let last = if rest.is_empty() { None } else { Some(&filled) };
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = super::Avx512::detect() {
            return avx512.run(SearchEach { kernel: avx512, blocks, last, sink });
        }
        if let Some(avx2) = super::Avx2::detect() {
            return avx2.run(SearchEach { kernel: avx2, blocks, last, sink });
        }
    }
    for block in blocks.iter().chain(last) {
        sink.take(bits_of_sets::<N, S>(block));
    }
    sink.finish();
}

/// A search of all blocks, and of a last one, for several sets by a kernel.
#[cfg(target_arch = "x86_64")]
struct SearchEach<'a, const N: usize, K, S> {
    kernel: K,
    blocks: &'a [[u8; BLOCK]],
    last: Option<&'a [u8; BLOCK]>,
    sink: S,
}

#[cfg(target_arch = "x86_64")]
impl<const N: usize, K: FindBits, S: BlockSink<N>> Job for SearchEach<'_, N, K, S> {
    #[inline(always)]
    fn run(mut self) {
        for block in self.blocks {
            // SAFETY: a prefetch reads nothing, whatever the address. The caller needs as many blocks behind these next.
            #[allow(unused_unsafe, reason = "the function is unsafe in Rust 1.89 and safe in later versions")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().wrapping_add(size_of_val(self.blocks)).cast());
            }
            self.take(block);
        }
        if let Some(block) = self.last {
            self.take(block);
        }
        self.sink.finish();
    }
}

#[cfg(target_arch = "x86_64")]
impl<const N: usize, K: FindBits, S: BlockSink<N>> SearchEach<'_, N, K, S> {
    #[inline(always)]
    fn take(&mut self, block: &[u8; BLOCK]) {
        // In a closure or an iterator, more than three sets would be no constants, or miss the kernel's instructions.
        let (mut found, mut n) = ([0; N], 0);
        while n < N {
            found[n] = self.kernel.find_bits(S::SETS[n], block);
            if let Some((first, last)) = S::RANGES[n] {
                found[n] |= self.kernel.find_range(first, last, block);
            }
            n += 1;
        }
        self.sink.take(found);
    }
}

/// A search of all blocks by a kernel.
#[cfg(target_arch = "x86_64")]
struct Search<'a, K> {
    kernel: K,
    set: [u8; 3],
    blocks: &'a [[u8; BLOCK]],
    found: &'a mut [u64],
}

#[cfg(target_arch = "x86_64")]
impl<K: FindBits> Job for Search<'_, K> {
    #[inline(always)]
    fn run(self) {
        for (found, block) in self.found.iter_mut().zip(self.blocks) {
            // SAFETY: a prefetch reads nothing, whatever the address. The caller needs as many blocks behind these next.
            #[allow(unused_unsafe, reason = "the function is unsafe in Rust 1.89 and safe in later versions")]
            unsafe {
                _mm_prefetch::<_MM_HINT_T0>(block.as_ptr().wrapping_add(size_of_val(self.blocks)).cast());
            }
            *found = self.kernel.find_bits(self.set, block);
        }
    }
}

/// Searches one block for the sets of a sink.
fn bits_of_sets<const N: usize, S: BlockSink<N>>(block: &[u8; BLOCK]) -> [u64; N] {
    std::array::from_fn(|n| {
        let of_range =
            S::RANGES[n].map_or(0, |(first, last)| bits_where(|byte| (first..=last).contains(&byte), block));
        bits(S::SETS[n], block) | of_range
    })
}

/// Searches one block. Compilers turn this form into vector instructions.
#[allow(clippy::needless_bitwise_bool, reason = "without branches")]
fn bits(set: [u8; 3], block: &[u8; BLOCK]) -> u64 {
    bits_where(|byte| (byte == set[0]) | (byte == set[1]) | (byte == set[2]), block)
}

#[inline]
fn bits_where(is_wanted: impl Fn(u8) -> bool, block: &[u8; BLOCK]) -> u64 {
    let is_in = block.map(|byte| u8::from(is_wanted(byte)));
    // The product gathers the bits of eight bytes in the top byte.
    let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    is_in.as_chunks().0.iter().rev().fold(0, |bits, eight| bits << 8 | gather(eight))
}

/// Searches eight blocks for `byte`, with instructions that every machine of the target has.
#[inline(never)]
pub fn find_one(byte: u8, blocks: &[[u8; BLOCK]; 8]) -> [u64; 8] {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
    return blocks.each_ref().map(|block| by_sse2(byte, block));
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse2")))]
    return transposed(byte, blocks);
}

/// Searches one block for `byte`.
#[cfg(all(target_arch = "x86_64", target_feature = "sse2"))]
#[inline(always)]
fn by_sse2(byte: u8, block: &[u8; BLOCK]) -> u64 {
    block.as_chunks::<16>().0.iter().rev().fold(0, |bits, bytes| {
        // SAFETY: this is only compiled for machines that have SSE2. The array has the 16 bytes that are read, and need
        // not be aligned.
        let equal = unsafe {
            let bytes = _mm_loadu_si128(bytes.as_ptr().cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte.cast_signed())))
        };
        bits << 16 | u64::from(equal.cast_unsigned())
    })
}

/// Does what [`find_one`] does, in a form that compilers turn into vector instructions. Its rows are long enough for
/// that, and all bytes of a row have the same bit.
#[cfg(any(not(all(target_arch = "x86_64", target_feature = "sse2")), test))]
fn transposed(byte: u8, blocks: &[[u8; BLOCK]; 8]) -> [u64; 8] {
    // Bit `block` of element `n` is for byte `n` of that block.
    let mut found = [0_u8; BLOCK];
    for (block, bytes) in blocks.iter().enumerate() {
        let bit = 1 << block;
        for (found, &other) in found.iter_mut().zip(bytes) {
            *found |= if other == byte { bit } else { 0 };
        }
    }
    let mut masks = [[0; 8]; 8];
    for (eighth, bits) in found.as_chunks().0.iter().enumerate() {
        for (mask, byte) in masks.iter_mut().zip(transpose(u64::from_le_bytes(*bits)).to_le_bytes()) {
            mask[eighth] = byte;
        }
    }
    masks.map(u64::from_le_bytes)
}

/// Transposes eight by eight bits: bit `a` of byte `b` becomes bit `b` of byte `a`. First single bits, then squares of
/// two by two and of four by four swap places across the diagonal.
#[cfg(any(not(all(target_arch = "x86_64", target_feature = "sse2")), test))]
#[inline(always)]
const fn transpose(mut bits: u64) -> u64 {
    let swap = (bits ^ bits >> 7) & 0x00aa_00aa_00aa_00aa;
    bits ^= swap ^ swap << 7;
    let swap = (bits ^ bits >> 14) & 0x0000_cccc_0000_cccc;
    bits ^= swap ^ swap << 14;
    let swap = (bits ^ bits >> 28) & 0x0000_0000_f0f0_f0f0;
    bits ^ swap ^ swap << 28
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(target_arch = "x86_64")]
    use crate::simd::{Avx2, Avx512, emulated};

    /// Tests each byte value at each index, between bytes that are in the set or are not.
    #[test]
    fn all_bytes_in_all_places() {
        let set = [b'"', b',', 0xff];
        for around in [b'"', b'"' ^ 0x80, b'"' - 1, 0] {
            for place in (0..BLOCK).step_by(if cfg!(miri) { 31 } else { 1 }) {
                let blocks: Vec<_> = (0..=255)
                    .map(|byte| {
                        let mut block = [around; BLOCK];
                        block[place] = byte;
                        block
                    })
                    .collect();
                let expected: Vec<_> = blocks
                    .iter()
                    .map(|block| {
                        let is_in = |n: &usize| set.contains(&block[*n]);
                        (0..BLOCK).filter(is_in).fold(0, |bits, n| bits | 1_u64 << n)
                    })
                    .collect();
                let check = |find: &dyn Fn(&mut [u64])| {
                    let mut found = vec![0; blocks.len()];
                    find(&mut found);
                    assert!(found == expected, "{around} {place}");
                };
                check(&|found| find(set, &blocks, found));
                check(&|found| {
                    found.iter_mut().zip(&blocks).for_each(|(bits, block)| *bits = self::bits(set, block));
                });
                #[cfg(target_arch = "x86_64")]
                {
                    macro_rules! check_kernels {
                        ($($kernel:ty),*) => { $(
                            if let Some(kernel) = <$kernel>::detect() {
                                let blocks = blocks.as_slice();
                                check(&|found| kernel.run(Search { kernel, set, blocks, found }));
                            }
                        )* };
                    }
                    check_kernels!(Avx2, Avx512, emulated::Avx512);
                }
            }
        }
    }

    #[test]
    fn three_sets_in_one_pass() {
        struct Three<'a>(Vec<[u64; 3]>, &'a mut Vec<[u64; 3]>);
        impl BlockSink<3> for Three<'_> {
            const SETS: [[u8; 3]; 3] = [[b':'; 3], [b'w', b'W', b'w'], [b'\n'; 3]];
            const RANGES: [Option<(u8, u8)>; 3] = [Some((b'b', b'c')), None, Some((0x80, 0xff))];

            fn take(&mut self, bits: [u64; 3]) {
                self.0.push(bits);
            }

            fn finish(self) {
                *self.1 = self.0;
            }
        }
        // The last block is not whole.
        let bytes: Vec<_> = (0..5 * BLOCK - 7).map(|n| b"a:wW\n\x80bc"[n * n % 13 % 8]).collect();
        let filled = [&bytes[..], &[0; 7]].concat();
        let filled = filled.as_chunks::<BLOCK>().0;
        let is_in: [fn(u8) -> bool; 3] = [
            |byte| matches!(byte, b':' | b'b' | b'c'),
            |byte| matches!(byte, b'w' | b'W'),
            |byte| matches!(byte, b'\n' | 0x80..),
        ];
        let bits = |block: &[u8; BLOCK], is_in: fn(u8) -> bool| {
            (0..BLOCK).filter(|&n| is_in(block[n])).fold(0, |bits, n| bits | 1_u64 << n)
        };
        let expected: Vec<_> = filled.iter().map(|block| is_in.map(|is_in| bits(block, is_in))).collect();
        let mut found = Vec::new();
        find_each(&bytes, Three(Vec::new(), &mut found));
        assert_eq!(found, expected);
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! check_kernels {
                ($($kernel:ty),*) => { $(
                    if let Some(kernel) = <$kernel>::detect() {
                        let sink = Three(Vec::new(), &mut found);
                        let (blocks, last) = (&filled[..4], filled.get(4));
                        kernel.run(SearchEach { kernel, blocks, last, sink });
                        assert_eq!(found, expected);
                    }
                )* };
            }
            check_kernels!(Avx2, Avx512, emulated::Avx512);
        }
    }

    #[test]
    fn one_byte_in_eight_blocks() {
        for around in [b'\n' ^ 0x80, b'\n' - 1, b'\n' + 1, b'\n', 0] {
            for place in (0..8 * BLOCK).step_by(if cfg!(miri) { 61 } else { 1 }) {
                for byte in [b'\n', b'\r', 0xff] {
                    let mut blocks = [[around; BLOCK]; 8];
                    blocks[place / BLOCK][place % BLOCK] = byte;
                    let expected = blocks.map(|block| {
                        (0..BLOCK).filter(|&n| block[n] == b'\n').fold(0, |bits, n| bits | 1_u64 << n)
                    });
                    assert!(find_one(b'\n', &blocks) == expected, "{around} {byte} {place}");
                    assert!(transposed(b'\n', &blocks) == expected, "{around} {byte} {place}");
                }
            }
        }
    }
}
