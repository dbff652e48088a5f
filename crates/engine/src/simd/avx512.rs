//! The kernel for AVX-512: eight lanes. A byte permute of 128 entries gives the codes, and GFNI gives their planes.

use super::x86_64::{
    __m512i, _MM_HINT_T0, _mm_prefetch, _mm512_add_epi64, _mm512_and_si512, _mm512_cmpeq_epi8_mask,
    _mm512_cmple_epu8_mask, _mm512_gf2p8affine_epi64_epi8, _mm512_loadu_si512,
    _mm512_maskz_permutex2var_epi8, _mm512_min_epu8, _mm512_or_si512, _mm512_permutex2var_epi8,
    _mm512_popcnt_epi64, _mm512_set1_epi8, _mm512_set1_epi64, _mm512_setzero_si512, _mm512_shldi_epi64,
    _mm512_shuffle_i64x2, _mm512_slli_epi64, _mm512_srli_epi64, _mm512_storeu_si512, _mm512_sub_epi8,
    _mm512_test_epi64_mask, _mm512_testn_epi8_mask, _mm512_xor_si512,
};

use super::{BLOCK, BORDER, Blocks, Counts, FindBits, Job, Kernel, LANES, UNITS, Word};
use crate::simd::byte_class::{CODES, OfCodes};

/// How many bytes ahead of the reads the kernel prefetches.
const AHEAD: usize = 256;

token!(Avx512: "avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512vbmi" "avx512vbmi2" "avx512vpopcntdq" "gfni"
    "bmi1" "bmi2" "lzcnt" "popcnt");

impl FindBits for Avx512 {
    #[inline(always)]
    fn find_bits(self, set: [u8; 3], block: &[u8; BLOCK]) -> u64 {
        let mut found = 0;
        // SAFETY: the token proves the features. A block is 64 bytes.
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            for byte in set {
                found |= _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(byte.cast_signed()));
            }
        }
        found
    }

    #[inline(always)]
    fn find_range(self, first: u8, last: u8, block: &[u8; BLOCK]) -> u64 {
        // SAFETY: the token proves the features. A block is 64 bytes.
        unsafe {
            let bytes = _mm512_loadu_si512(block.as_ptr().cast());
            let above = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first.cast_signed()));
            _mm512_cmple_epu8_mask(above, _mm512_set1_epi8((last - first).cast_signed()))
        }
    }
}

/// Eight lanes of 64 bits. Only [`Avx512`] creates words, directly or by operations, so a word proves the features.
#[derive(Clone, Copy)]
pub struct Words(__m512i);

operators!(_mm512_and_si512 _mm512_or_si512 _mm512_xor_si512, ones: _mm512_set1_epi64(-1));

impl Word for Words {
    #[inline(always)]
    fn moved(self, before: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_shldi_epi64::<1>(self.0, before.0) })
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_add_epi64(self.0, other.0) })
    }

    #[inline(always)]
    fn top(self) -> Self {
        // SAFETY: `self` proves the features.
        Self(unsafe { _mm512_srli_epi64::<63>(self.0) })
    }

    #[inline(always)]
    fn is_crowded(self) -> bool {
        false
    }

    #[inline(always)]
    fn is_at_border(self) -> bool {
        // SAFETY: `self` proves the features.
        unsafe { _mm512_test_epi64_mask(self.0, _mm512_set1_epi64(BORDER.cast_signed())) != 0 }
    }

    #[inline(always)]
    fn lanes(self) -> u32 {
        // SAFETY: `self` proves the features.
        u32::from(unsafe { _mm512_test_epi64_mask(self.0, self.0) })
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        // SAFETY: `self` proves the features. The array has the 64 bytes that are written, and need not be aligned.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), self.0) }
    }
}

/// Four counters of 16 bits in each lane.
#[derive(Clone, Copy)]
pub struct Fields(Words);

impl Counts<Words> for Fields {
    const ROOM: usize = u16::MAX as usize / BLOCK;
    const CROWD: usize = 1;

    #[inline(always)]
    fn add<const CROWDED: bool>(&mut self, [first, second, third, fourth]: [Words; 4]) {
        // SAFETY: `self` proves the features.
        self.0.0 = unsafe {
            let low = _mm512_or_si512(
                _mm512_popcnt_epi64(first.0),
                _mm512_slli_epi64::<16>(_mm512_popcnt_epi64(second.0)),
            );
            let high = _mm512_or_si512(
                _mm512_popcnt_epi64(third.0),
                _mm512_slli_epi64::<16>(_mm512_popcnt_epi64(fourth.0)),
            );
            _mm512_add_epi64(self.0.0, _mm512_or_si512(low, _mm512_slli_epi64::<32>(high)))
        };
    }

    #[inline(always)]
    fn totals(self) -> [u64; 4] {
        let mut lanes = [0; LANES];
        self.0.store(&mut lanes);
        std::array::from_fn(|n| lanes.iter().map(|lane| lane >> (16 * n) & 0xffff).sum())
    }
}

/// The matrix that reverses the bits of a byte.
const REVERSAL: i64 = UNITS;

/// The indices of a permute of two registers. From each group of eight bytes, it gathers those at even or at odd
/// indices. Byte `k * 16 + r * 8 + g` of the result is byte `2 * k + odd` of group `g` of register `r`.
const fn gather(odd: u8) -> [u8; 64] {
    let mut from = [0; 64];
    let mut to = 0;
    while to < 64 {
        let (k, r, g) = (to / 16, to / 8 % 2, to % 8);
        from[to as usize] = r * 64 + g * 8 + k * 2 + odd;
        to += 1;
    }
    from
}

/// The 128-bit blocks at even indices of both registers, and those at odd indices.
///
/// # Safety
///
/// The machine has AVX-512 F.
#[inline(always)]
unsafe fn halves(one: __m512i, two: __m512i) -> (__m512i, __m512i) {
    // SAFETY: the caller guarantees AVX-512 F.
    unsafe {
        (_mm512_shuffle_i64x2::<0b10_00_10_00>(one, two), _mm512_shuffle_i64x2::<0b11_01_11_01>(one, two))
    }
}

static EVEN: [u8; 64] = gather(0);
static ODD: [u8; 64] = gather(1);

impl Kernel for Avx512 {
    type Word = Words;
    const AT_ONCE: usize = 1;
    type Classes = OfCodes<Words>;
    type Counts = Fields;
    const LANES: usize = LANES;

    #[inline(always)]
    fn splat(self, word: u64) -> Words {
        // SAFETY: `self` proves the features.
        Words(unsafe { _mm512_set1_epi64(word.cast_signed()) })
    }

    #[inline(always)]
    fn counts(self) -> Fields {
        Fields(self.splat(0))
    }

    /// A permute gives each byte its code. A matrix product turns eight codes into eight planes of eight bits. Three
    /// rounds of shuffles bring each plane of all lanes into one register.
    #[inline(always)]
    fn planes<const NON_ASCII: bool>(self, blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
        // SAFETY: `self` proves the features. `all` gives the start of a whole block per lane. Both halves of the code
        // table, `EVEN` and `ODD` are 64 bytes long.
        unsafe {
            let low = _mm512_loadu_si512(CODES.as_ptr().cast());
            let high = _mm512_loadu_si512(CODES.as_ptr().add(64).cast());
            let (even, odd) =
                (_mm512_loadu_si512(EVEN.as_ptr().cast()), _mm512_loadu_si512(ODD.as_ptr().cast()));
            let mut pairs = [_mm512_setzero_si512(); LANES];
            for (bits, block) in pairs.iter_mut().zip(blocks.all(at)) {
                _mm_prefetch::<_MM_HINT_T0>(block.wrapping_add(AHEAD).cast());
                let bytes = _mm512_loadu_si512(block.cast());
                // Bytes above 127 have the code 0. It takes 5 % more time to tell them from 127.
                let codes = if NON_ASCII {
                    let is_ascii = _mm512_testn_epi8_mask(bytes, _mm512_set1_epi8(i8::MIN));
                    _mm512_maskz_permutex2var_epi8(is_ascii, low, bytes, high)
                } else {
                    let ascii = _mm512_min_epu8(bytes, _mm512_set1_epi8(127));
                    _mm512_permutex2var_epi8(low, ascii, high)
                };
                // Bit n of byte k of the product is bit k of byte 7 - n. So byte k is plane k with its bits reversed.
                *bits = _mm512_gf2p8affine_epi64_epi8::<0>(_mm512_set1_epi64(UNITS), codes);
            }
            // For each two lanes, the planes 0 2 4 6 and the planes 1 3 5 7.
            for pair in pairs.as_chunks_mut::<2>().0 {
                let [one, two] = *pair;
                *pair = [_mm512_permutex2var_epi8(one, even, two), _mm512_permutex2var_epi8(one, odd, two)];
            }
            let [even_01, odd_01, even_23, odd_23, even_45, odd_45, even_67, odd_67] = pairs;
            // Two planes of four lanes per register, and then one plane of eight lanes.
            let (low_04, low_26) = halves(even_01, even_23);
            let (high_04, high_26) = halves(even_45, even_67);
            let (low_15, low_37) = halves(odd_01, odd_23);
            let (high_15, high_37) = halves(odd_45, odd_67);
            let (p0, p4) = halves(low_04, high_04);
            let (p2, p6) = halves(low_26, high_26);
            let (p1, p5) = halves(low_15, high_15);
            let (p3, p7) = halves(low_37, high_37);
            let mut planes = [p0, p1, p2, p3, p4, p5, p6, p7];
            for plane in &mut planes {
                *plane = _mm512_gf2p8affine_epi64_epi8::<0>(*plane, _mm512_set1_epi64(REVERSAL));
            }
            let [p0, p1, p2, p3, p4, p5, p6, p7] = planes;
            [Words(p0), Words(p1), Words(p2), Words(p3), Words(p4), Words(p5), Words(p6), Words(p7)]
        }
    }

    #[inline(always)]
    fn run(self, job: impl Job) {
        // SAFETY: `self` proves the features.
        unsafe { Self::shell(job) }
    }
}
