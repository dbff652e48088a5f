//! AVX2: four lanes; bytes are transposed to bits with shuffles, and swaps or matrix products, and classes are made of the bits by logic.

use super::x86_64::{
    __m256i, _MM_HINT_T0, _mm_loadu_si128, _mm_prefetch, _mm256_add_epi8, _mm256_add_epi64, _mm256_and_si256,
    _mm256_castsi128_si256, _mm256_castsi256_pd, _mm256_cmpeq_epi8, _mm256_cmpeq_epi64,
    _mm256_gf2p8affine_epi64_epi8, _mm256_inserti128_si256, _mm256_loadu_si256, _mm256_movemask_epi8,
    _mm256_movemask_pd, _mm256_or_si256, _mm256_sad_epu8, _mm256_set1_epi8, _mm256_set1_epi64x,
    _mm256_setr_epi8, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_slli_epi64, _mm256_srli_epi64,
    _mm256_storeu_si256, _mm256_testz_si256, _mm256_unpackhi_epi16, _mm256_unpackhi_epi32,
    _mm256_unpackhi_epi64, _mm256_unpacklo_epi16, _mm256_unpacklo_epi32, _mm256_unpacklo_epi64,
    _mm256_xor_si256,
};
use std::arch::asm;

use super::{BLOCK, BORDER, Blocks, Counts, Job, Kernel, LANES, UNITS, Word};
use crate::simd::byte_class::OfBits;

/// How many steps have their planes made at once.
const AT_ONCE: usize = 16;

/// How many lanes there are.
const N_LANES: usize = 4;

token!(Avx2: "avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
// Processors that have GFNI and no AVX-512: those of Intel for clients from Alder Lake on, and Sierra Forest.
token!(Gfni: "avx2" "gfni" "bmi1" "bmi2" "lzcnt" "popcnt");

impl Avx2 {
    /// [`super::find()`], for as many blocks as both have. Asks for the memory of as many behind them, which are wanted next.
    #[allow(clippy::unused_self, reason = "it is the proof")]
    pub(crate) fn find(self, set: [u8; 3], blocks: &[[u8; BLOCK]], found: &mut [u64]) {
        /// # Safety
        ///
        /// The machine has AVX2.
        #[target_feature(enable = "avx2")]
        unsafe fn find(set: [u8; 3], blocks: &[[u8; BLOCK]], found: &mut [u64]) {
            let set = set.map(|byte| _mm256_set1_epi8(byte.cast_signed()));
            for (found, block) in found.iter_mut().zip(blocks) {
                let behind = block.as_ptr().wrapping_add(size_of_val(blocks));
                #[allow(
                    unused_unsafe,
                    reason = "the function is unsafe in Rust 1.89 and safe in later versions"
                )]
                // SAFETY: a prefetch reads nothing, whatever the address.
                unsafe {
                    _mm_prefetch::<_MM_HINT_T0>(behind.cast());
                }
                let [low, high] = [0, BLOCK / 2].map(|at| {
                    // SAFETY: half a block is 32 bytes.
                    let bytes = unsafe { _mm256_loadu_si256(block[at..].as_ptr().cast()) };
                    let [a, b, c] = set.map(|byte| _mm256_cmpeq_epi8(bytes, byte));
                    let is_in = _mm256_or_si256(_mm256_or_si256(a, b), c);
                    u64::from(_mm256_movemask_epi8(is_in).cast_unsigned())
                });
                *found = high << 32 | low;
            }
        }
        // SAFETY: the token proves AVX2.
        unsafe { find(set, blocks, found) }
    }
}

/// Four lanes of 64 bits. Only kernels with AVX2 make one, and operations on others, so that one is proof too.
#[derive(Clone, Copy)]
pub(crate) struct Words(__m256i);

impl Words {
    /// The same word in each lane.
    ///
    /// # Safety
    ///
    /// The machine has AVX2.
    #[inline(always)]
    unsafe fn splat(word: u64) -> Self {
        // SAFETY: as the caller says.
        Self(unsafe { _mm256_set1_epi64x(word.cast_signed()) })
    }
}

operators!(_mm256_and_si256 _mm256_or_si256 _mm256_xor_si256, ones: _mm256_set1_epi64x);

impl Word for Words {
    #[inline(always)]
    fn moved(self, before: Self) -> Self {
        // SAFETY: words prove the features.
        Self(unsafe { _mm256_or_si256(_mm256_add_epi64(self.0, self.0), before.0) })
    }

    /// As its first, which is cheaper than to shift what comes back from memory.
    #[inline(always)]
    fn going_on(self) -> Self {
        self.top()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: words prove the features.
        Self(unsafe { _mm256_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn top(self) -> Self {
        // SAFETY: words prove the features.
        Self(unsafe { _mm256_srli_epi64::<63>(self.0) })
    }

    #[inline(always)]
    fn made(self) -> Self {
        // SAFETY: words prove the features.
        Self(unsafe { opaque(self.0) })
    }

    /// Whether some byte has two bits.
    #[inline(always)]
    fn is_crowded(self) -> bool {
        // SAFETY: words prove the features.
        unsafe {
            let without_lowest = _mm256_and_si256(self.0, _mm256_add_epi8(self.0, _mm256_set1_epi8(-1)));
            _mm256_testz_si256(without_lowest, without_lowest) == 0
        }
    }

    #[inline(always)]
    fn is_at_border(self) -> bool {
        // SAFETY: words prove the features.
        unsafe { _mm256_testz_si256(self.0, _mm256_set1_epi64x(BORDER.cast_signed())) == 0 }
    }

    #[inline(always)]
    fn lanes(self) -> u32 {
        // SAFETY: words prove the features.
        let empty = unsafe {
            let zeros = _mm256_cmpeq_epi64(self.0, _mm256_setzero_si256());
            _mm256_movemask_pd(_mm256_castsi256_pd(zeros))
        };
        !empty.cast_unsigned() & 0b1111
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: words prove the features.
        unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        // SAFETY: words prove the features; the array has the 32 bytes that are written, aligned or not.
        unsafe { _mm256_storeu_si256(to.as_mut_ptr().cast(), self.0) }
    }
}

/// Four kinds of counts, a byte for each byte of a word.
#[derive(Clone, Copy)]
pub(crate) struct Bytes {
    /// How many there were, less one for each time something was added: what is zero is found by one operation, what is not by two.
    counts: [Words; 4],
    n_added: u8,
}

impl Bytes {
    /// Counts of nothing, of words that are `zero`.
    #[inline(always)]
    fn new(zero: Words) -> Self {
        Self { counts: [zero; 4], n_added: 0 }
    }
}

impl Counts<Words> for Bytes {
    const ROOM: usize = u8::MAX as usize;
    const CROWD: usize = 8;

    #[inline(always)]
    fn add<const CROWDED: bool>(&mut self, counted: [Words; 4]) {
        self.n_added += 1;
        for (own, counted) in self.counts.iter_mut().zip(counted) {
            // SAFETY: words prove the features.
            own.0 = unsafe {
                let less_one = if CROWDED {
                    _mm256_add_epi8(count(counted.0), _mm256_set1_epi8(-1))
                } else {
                    // One bit, whichever, or none.
                    _mm256_cmpeq_epi8(counted.0, _mm256_setzero_si256())
                };
                _mm256_add_epi8(own.0, less_one)
            };
        }
    }

    #[inline(always)]
    fn totals(self) -> [u64; 4] {
        let mut totals = [0; 4];
        // No `map`: what is given to it would not be compiled for AVX2, and each operation be a call.
        for (total, own) in totals.iter_mut().zip(self.counts) {
            // SAFETY: words prove the features.
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

/// The same word, of which the compiler does not know what it is: an empty piece of assembly.
///
/// # Safety
///
/// The machine has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn opaque(mut word: __m256i) -> __m256i {
    if !cfg!(miri) {
        // Not `pure`: that could be done as late as the word is wanted.
        // SAFETY: it does nothing.
        unsafe { asm!("/* {0} */", inout(ymm_reg) word, options(nomem, nostack, preserves_flags)) };
    }
    word
}

/// How many bits each byte has: those of each half by a table of sixteen.
///
/// # Safety
///
/// The machine has AVX2.
#[inline(always)]
unsafe fn count(word: __m256i) -> __m256i {
    // SAFETY: as the caller says.
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

/// Swaps the bits of `low` that stand `BY` above those of `mask` with the bits of `high` at `mask`.
///
/// # Safety
///
/// The machine has AVX2.
#[inline(always)]
unsafe fn swap<const BY: i32>(low: &mut __m256i, high: &mut __m256i, mask: __m256i) {
    // SAFETY: as the caller says.
    unsafe {
        let differ = _mm256_and_si256(_mm256_xor_si256(_mm256_srli_epi64::<BY>(*low), *high), mask);
        *high = _mm256_xor_si256(*high, differ);
        *low = _mm256_xor_si256(*low, _mm256_slli_epi64::<BY>(differ));
    }
}

/// Sixteen bytes of two lanes, those at equal places of their eight side by side. With `GFNI` each eight is transposed before, so that
/// instead of its bytes there are bytes of the first bit of each, of the second, and so on.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if that is asked for, and both may be read for 16 bytes.
#[inline(always)]
unsafe fn load<const GFNI: bool>(low: *const u8, high: *const u8) -> __m256i {
    // SAFETY: as the caller says.
    unsafe {
        let both = _mm256_castsi128_si256(_mm_loadu_si128(low.cast()));
        let mut both = _mm256_inserti128_si256::<1>(both, _mm_loadu_si128(high.cast()));
        if GFNI {
            // Bit n of byte k of the product is bit k of byte 7 - n: so they are turned around before.
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
        // Compilers would make two shuffles and a blend of this and the first interleaving behind it.
        opaque(_mm256_shuffle_epi8(both, pair))
    }
}

/// Of 64 bytes of two lanes, loaded by [`load`], the eight at each place of their eights, two places to 128 bits.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if that is asked for, and both may be read for 64 bytes.
#[inline(always)]
unsafe fn places<const GFNI: bool>(low: *const u8, high: *const u8) -> [__m256i; 4] {
    // SAFETY: as the caller says.
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

/// The planes of block `at` of each lane. First the bytes: sixteen of two lanes to a register, shuffled until register `r` has byte `r` of
/// each eight, those of a lane together. Then the bits: eight registers of eight bits, transposed by swaps; with `GFNI` that has been done
/// before, by matrix products.
///
/// # Safety
///
/// The machine has AVX2, and GFNI if that is asked for.
///
/// # Panics
///
/// When `blocks` has no block `at`.
#[inline(always)]
unsafe fn planes<const GFNI: bool>(blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
    // SAFETY: as the caller says; `Blocks::all` gives the start of a whole block of 64 bytes per lane, of which the sixteen at a
    // multiple of 16 below 64 are read.
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

/// What both kernels do alike: all but how bits are transposed.
macro_rules! kernel {
    ($token:ident, GFNI: $gfni:literal) => {
        impl Kernel for $token {
            type Word = Words;
            const AT_ONCE: usize = AT_ONCE;
            type Classes = OfBits<Words>;
            type Counts = Bytes;
            const LANES: usize = N_LANES;

            #[inline(always)]
            fn splat(self, word: u64) -> Words {
                // SAFETY: the kernel proves the features.
                unsafe { Words::splat(word) }
            }

            #[inline(always)]
            fn counts(self) -> Bytes {
                Bytes::new(self.splat(0))
            }

            #[inline(always)]
            fn planes(self, blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
                // SAFETY: the kernel proves the features.
                unsafe { planes::<$gfni>(blocks, at) }
            }

            #[inline(always)]
            fn ask(self, blocks: &Blocks<'_>, at: usize) {
                for block in &blocks.where_is(at + AT_ONCE)[..N_LANES] {
                    // SAFETY: the kernel proves the features; nothing is read.
                    unsafe { _mm_prefetch::<_MM_HINT_T0>(block.cast()) };
                }
            }

            #[inline(always)]
            fn run(self, job: impl Job) {
                // SAFETY: the kernel proves the features.
                unsafe { Self::shell(job) }
            }
        }
    };
}

kernel!(Avx2, GFNI: false);
kernel!(Gfni, GFNI: true);
