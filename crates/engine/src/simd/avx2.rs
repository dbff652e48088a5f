//! The kernels for AVX2: four lanes, with or without GFNI.
//!
//! Shuffles and swaps transpose bytes to bits. With GFNI, matrix products replace the swaps. The classes are computed
//! from the bits.

use super::x86_64::{
    __m256i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256,
    _mm256_castsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_gf2p8affine_epi64_epi8, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_min_epu8,
    _mm256_movemask_epi8, _mm256_movemask_pd, _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8,
    _mm256_set1_epi64x, _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi64,
    _mm256_srli_epi64, _mm256_storeu_si256, _mm256_sub_epi8, _mm256_testz_si256, _mm256_unpackhi_epi16,
    _mm256_unpackhi_epi32, _mm256_unpackhi_epi64, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32,
    _mm256_unpacklo_epi64, _mm256_xor_si256,
};
use std::arch::asm;

use super::{BLOCK, BORDER, Blocks, Counts, FindBits, Job, Kernel, LANES, UNITS, Word};
use crate::simd::byte_class::OfBits;

/// For how many steps the planes are made at once.
const AT_ONCE: usize = 16;

/// How many lanes there are.
const N_LANES: usize = 4;

token!(Avx2: "avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
// For processors that have GFNI but no AVX-512: Intel's client processors from Alder Lake on, and Sierra Forest.
token!(Gfni: "avx2" "gfni" "bmi1" "bmi2" "lzcnt" "popcnt");

impl FindBits for Avx2 {
    #[inline(always)]
    fn find_bits(self, set: [u8; 3], block: &[u8; BLOCK]) -> u64 {
        let mut found = 0;
        for half in block.as_chunks::<32>().0.iter().rev() {
            // SAFETY: the token proves AVX2. Half a block is 32 bytes.
            let mask = unsafe {
                let bytes = _mm256_loadu_si256(half.as_ptr().cast());
                let mut is_in = _mm256_setzero_si256();
                for byte in set {
                    let equal = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte.cast_signed()));
                    is_in = _mm256_or_si256(is_in, equal);
                }
                _mm256_movemask_epi8(is_in)
            };
            found = found << 32 | u64::from(mask.cast_unsigned());
        }
        found
    }

    #[inline(always)]
    fn find_range(self, first: u8, last: u8, block: &[u8; BLOCK]) -> u64 {
        let mut found = 0;
        for half in block.as_chunks::<32>().0.iter().rev() {
            // SAFETY: the token proves AVX2. Half a block is 32 bytes.
            let mask = unsafe {
                let bytes = _mm256_loadu_si256(half.as_ptr().cast());
                let above = _mm256_sub_epi8(bytes, _mm256_set1_epi8(first.cast_signed()));
                let least = _mm256_min_epu8(above, _mm256_set1_epi8((last - first).cast_signed()));
                _mm256_movemask_epi8(_mm256_cmpeq_epi8(above, least))
            };
            found = found << 32 | u64::from(mask.cast_unsigned());
        }
        found
    }
}

/// Four lanes of 64 bits. Only kernels with AVX2 create words, directly or by operations, so a word proves AVX2.
#[derive(Clone, Copy)]
pub struct Words(__m256i);

operators!(_mm256_and_si256 _mm256_or_si256 _mm256_xor_si256, ones: _mm256_set1_epi64x(-1));

impl Word for Words {
    #[inline(always)]
    fn moved(self, before: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm256_or_si256(_mm256_add_epi64(self.0, self.0), before.0) })
    }

    /// The last bit, as the first bit. Shifting it now is cheaper than shifting it when it comes back from memory.
    #[inline(always)]
    fn going_on(self) -> Self {
        self.top()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn top(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm256_srli_epi64::<63>(self.0) })
    }

    #[inline(always)]
    fn made(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { opaque(self.0) })
    }

    /// Whether any byte has more than one bit set.
    #[inline(always)]
    fn is_crowded(self) -> bool {
        // SAFETY: `self` proves the features.
        unsafe {
            let without_lowest = _mm256_and_si256(self.0, _mm256_add_epi8(self.0, _mm256_set1_epi8(-1)));
            _mm256_testz_si256(without_lowest, without_lowest) == 0
        }
    }

    #[inline(always)]
    fn is_at_border(self) -> bool {
        // SAFETY: `self` proves the features.
        unsafe { _mm256_testz_si256(self.0, _mm256_set1_epi64x(BORDER.cast_signed())) == 0 }
    }

    #[inline(always)]
    fn lanes(self) -> u32 {
        // SAFETY: `self` proves the features.
        let empty = unsafe {
            let zeros = _mm256_cmpeq_epi64(self.0, _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(zeros))
        };
        !empty.cast_unsigned() & 0b1111
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: `self` proves the features.
        unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        // SAFETY: `self` proves the features. The array has the 32 bytes that are written, and need not be aligned.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }
}

/// Counters of four kinds, with one byte for each byte of a word.
#[derive(Clone, Copy)]
pub struct ByteCounts {
    /// The counts, less one for each addition. One operation finds bytes that are zero. It takes two to find those that
    /// are not.
    counts: [Words; 4],
    /// How many additions there were.
    n_added: u8,
}

impl Counts<Words> for ByteCounts {
    const ROOM: usize = u8::MAX as usize;
    const CROWD: usize = 8;

    #[inline(always)]
    fn add<const CROWDED: bool>(&mut self, counted: [Words; 4]) {
        self.n_added += 1;
        for (own, counted) in self.counts.iter_mut().zip(counted) {
            // SAFETY: `self` proves the features.
            own.0 = unsafe {
                let less_one = if CROWDED {
                    _mm256_add_epi8(count(counted.0), _mm256_set1_epi8(-1))
                } else {
                    // Each byte has at most one bit set.
                    _mm256_cmpeq_epi8(counted.0, _mm256_setzero_si256())
                };
                _mm256_add_epi8(own.0, less_one)
            };
        }
    }

    #[inline(always)]
    fn totals(self) -> [u64; 4] {
        let mut totals = [0; 4];
        // Not `map`: its closure would not be compiled for AVX2, and each operation would be a call.
        for (total, own) in totals.iter_mut().zip(self.counts) {
            // SAFETY: `self` proves the features.
            let sums = Words(unsafe {
                let all = _mm256_add_epi8(own.0, _mm256_set1_epi8(self.n_added.cast_signed()));
                _mm256_sad_epu8(all, _mm256_setzero_si256())
            });
            let mut lanes = [0; LANES];
            sums.store(&mut lanes);
            *total = lanes.iter().sum();
        }
        totals
    }
}

/// Returns the same word, but hides from the compiler how it was computed. The assembly is empty.
///
/// # Safety
///
/// The machine has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn opaque(mut word: __m256i) -> __m256i {
    if !cfg!(miri) {
        // Not `pure`, because the compiler could then delay it until the word is needed.
        // SAFETY: the assembly does nothing.
        unsafe { asm!("/* {0} */", inout(ymm_reg) word, options(nomem, nostack, preserves_flags)) };
    }
    word
}

/// How many bits each byte has. A table of sixteen entries counts those of each half.
///
/// # Safety
///
/// The machine has AVX2.
#[inline(always)]
unsafe fn count(word: __m256i) -> __m256i {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let table = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let half = _mm256_set1_epi8(15);
        let low = _mm256_shuffle_epi8(table, _mm256_and_si256(word, half));
        let high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi64::<4>(word), half));
        _mm256_add_epi8(low, high)
    }
}

/// Swaps the bits of `low` that are `BY` above those of `mask` with the bits of `high` at `mask`.
///
/// # Safety
///
/// The machine has AVX2.
#[inline(always)]
unsafe fn swap<const BY: i32>(low: &mut __m256i, high: &mut __m256i, mask: __m256i) {
    // SAFETY: the caller guarantees AVX2.
    unsafe {
        let differ = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<BY>(*low), *high), mask);
        *high = _mm256_xor_si256(*high, differ);
        *low = _mm256_xor_si256(*low, _mm256_slli_epi64::<BY>(differ));
    }
}

/// Loads sixteen bytes of each of two lanes. Bytes at the same index in their group of eight are put side by side. With
/// `GFNI`, each group is transposed first: its byte `n` is then made of bit `n` of each of its eight bytes.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if `GFNI` is set. Both pointers may be read for 16 bytes.
#[inline(always)]
unsafe fn load<const GFNI: bool>(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: the caller guarantees the features and the bytes.
    unsafe {
        let both = _mm256_castsi128_si256(_mm_loadu_si128(low.cast()));
        let mut both = _mm256_inserti128_si256::<1>(both, _mm_loadu_si128(high.cast()));
        if GFNI {
            // Bit n of byte k of the product is bit k of byte 7 - n. So the bytes are reversed first.
            let turned = _mm256_setr_epi8(
                7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12,
                11, 10, 9, 8,
            );
            let units = _mm256_set1_epi64x(UNITS);
            both = _mm256_gf2p8affine_epi64_epi8::<0>(units, _mm256_shuffle_epi8(both, turned));
        }
        let pair = _mm256_setr_epi8(
            0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6,
            14, 7, 15,
        );
        // Without `opaque`, compilers turn this shuffle and the interleaving after it into two shuffles and a blend.
        opaque(_mm256_shuffle_epi8(both, pair))
    }
}

/// Loads 64 bytes of each of two lanes with [`load`], and gathers bytes by their index in their group of eight. Each
/// register has the bytes at two indices, with 128 bits for each lane.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if `GFNI` is set. Both pointers may be read for 64 bytes.
#[inline(always)]
unsafe fn places<const GFNI: bool>(low: *const u8, high: *const u8) -> [__m256i; 4] {
    // SAFETY: the caller guarantees the features and the bytes.
    unsafe {
        let (a, b) = (load::<GFNI>(low, high), load::<GFNI>(low.add(16), high.add(16)));
        let (c, d) = (load::<GFNI>(low.add(32), high.add(32)), load::<GFNI>(low.add(48), high.add(48)));
        let (ab, cd) = (_mm256_unpacklo_epi16(a, b), _mm256_unpacklo_epi16(c, d));
        let (ab_high, cd_high) = (_mm256_unpackhi_epi16(a, b), _mm256_unpackhi_epi16(c, d));
        [
            _mm256_unpacklo_epi32(ab, cd),
            _mm256_unpackhi_epi32(ab, cd),
            _mm256_unpacklo_epi32(ab_high, cd_high),
            _mm256_unpackhi_epi32(ab_high, cd_high),
        ]
    }
}

/// The planes of block `at` of each lane.
///
/// First the bytes: each register takes sixteen bytes of two lanes. After the shuffles, register `r` has byte `r` of
/// each group of eight, with the bytes of a lane together. Then the bits: swaps transpose eight registers of eight
/// bits. With `GFNI`, matrix products have transposed them before.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if `GFNI` is set.
///
/// # Panics
///
/// If `blocks` has no block `at`.
#[inline(always)]
unsafe fn planes<const GFNI: bool>(blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
    // SAFETY: the caller guarantees the features. `Blocks::all` gives the start of a whole block of 64 bytes per lane.
    // `places` reads the 64 bytes of each block, 16 at a time.
    unsafe {
        let all = blocks.all(at);
        let (even, odd) = (places::<GFNI>(all[0], all[2]), places::<GFNI>(all[1], all[3]));
        let mut bits = [_mm256_setzero_si256(); 8];
        for (n, pair) in bits.as_chunks_mut::<2>().0.iter_mut().enumerate() {
            *pair = [_mm256_unpacklo_epi64(even[n], odd[n]), _mm256_unpackhi_epi64(even[n], odd[n])];
        }
        if !GFNI {
            let [b0, b1, b2, b3, b4, b5, b6, b7] = &mut bits;
            let fours = _mm256_set1_epi8(0x0f);
            swap::<4>(b0, b4, fours);
            swap::<4>(b1, b5, fours);
            swap::<4>(b2, b6, fours);
            swap::<4>(b3, b7, fours);
            let twos = _mm256_set1_epi8(0x33);
            swap::<2>(b0, b2, twos);
            swap::<2>(b1, b3, twos);
            swap::<2>(b4, b6, twos);
            swap::<2>(b5, b7, twos);
            let ones = _mm256_set1_epi8(0x55);
            swap::<1>(b0, b1, ones);
            swap::<1>(b2, b3, ones);
            swap::<1>(b4, b5, ones);
            swap::<1>(b6, b7, ones);
        }
        bits.map(Words)
    }
}

/// The implementation that both kernels share. Only the transposition of bits differs.
macro_rules! kernel {
    ($token:ident, GFNI: $gfni:literal) => {
        impl Kernel for $token {
            type Word = Words;
            const AT_ONCE: usize = AT_ONCE;
            type Classes = OfBits<Words>;
            type Counts = ByteCounts;
            const LANES: usize = N_LANES;

            #[inline(always)]
            fn splat(self, word: u64) -> Words {
                // SAFETY: `self` proves the features.
                Words(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
            }

            #[inline(always)]
            fn counts(self) -> ByteCounts {
                ByteCounts { counts: [self.splat(0); 4], n_added: 0 }
            }

            #[inline(always)]
            fn planes<const NON_ASCII: bool>(self, blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
                // SAFETY: `self` proves the features.
                unsafe { planes::<$gfni>(blocks, at) }
            }

            #[inline(always)]
            fn ask(self, blocks: &Blocks<'_>, at: usize) {
                for block in &blocks.where_is(at + AT_ONCE)[..N_LANES] {
                    // SAFETY: `self` proves the features. A prefetch reads nothing.
                    unsafe { _mm_prefetch::<_MM_HINT_T0>(block.cast()) };
                }
            }

            #[inline(always)]
            fn run(self, job: impl Job) {
                // SAFETY: `self` proves the features.
                unsafe { Self::shell(job) }
            }
        }
    };
}

kernel!(Avx2, GFNI: false);
kernel!(Gfni, GFNI: true);
