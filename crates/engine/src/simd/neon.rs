//! The kernel for NEON, the vectors of 64-bit Arm processors: two lanes.
//!
//! A loaded block is split by the place of its bytes in groups of four. Table lookups give the codes, and shifts and
//! selections transpose them to planes.

use std::arch::aarch64::{
    uint8x16_t, uint16x8_t, uint64x2_t, vaddq_u64, vandq_u64, vbslq_u8, vcntq_u8, vdupq_n_u8, vdupq_n_u16,
    vdupq_n_u64, veorq_u8, veorq_u64, vgetq_lane_u64, vld1q_u8_x4, vld4q_u8, vmaxvq_u32, vorrq_u64,
    vpadalq_u8, vpaddlq_u16, vpaddq_u8, vqtbl4q_u8, vqtbx4q_u8, vreinterpretq_u8_u64, vreinterpretq_u32_u64,
    vreinterpretq_u64_u8, vshlq_n_u8, vshrq_n_u8, vshrq_n_u64, vsliq_n_u8, vsliq_n_u64, vsriq_n_u8,
    vst1q_u32, vst1q_u64, vuzp1q_u8, vuzp2q_u8,
};
use std::arch::is_aarch64_feature_detected;

use super::{BLOCK, BORDER, Blocks, Counts, Job, Kernel, LANES, Word};
use crate::simd::byte_class::{CODES, OfCodes};

/// How many lanes there are. With four, in two registers, steps spill so many registers that they need more instructions
/// per byte.
const N_LANES: usize = 2;

// The first byte of a block has to be the lowest bit of a word.
proof!(Neon, cfg!(target_endian = "little") && is_aarch64_feature_detected!("neon"), "neon");

/// Two lanes of 64 bits. Only [`Neon`] creates words, directly or by operations, so a word proves NEON.
#[derive(Clone, Copy)]
pub struct Words(uint64x2_t);

operators!(vandq_u64 vorrq_u64 veorq_u64, ones: vdupq_n_u64(u64::MAX));

impl Word for Words {
    /// A shift that keeps the first bit of `before`.
    #[inline(always)]
    fn moved(self, before: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vsliq_n_u64::<1>(before.0, self.0) })
    }

    /// The last bit, as the first bit.
    #[inline(always)]
    fn going_on(self) -> Self {
        self.top()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vaddq_u64(self.0, other.0) })
    }

    #[inline(always)]
    fn top(self) -> Self {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vshrq_n_u64::<63>(self.0) })
    }

    #[inline(always)]
    fn is_crowded(self) -> bool {
        false
    }

    #[inline(always)]
    fn is_at_border(self) -> bool {
        // SAFETY: `self` proves NEON.
        Self(unsafe { vandq_u64(self.0, vdupq_n_u64(BORDER)) }).any()
    }

    #[inline(always)]
    fn lanes(self) -> u32 {
        // SAFETY: `self` proves NEON.
        let (low, high) = unsafe { (vgetq_lane_u64::<0>(self.0), vgetq_lane_u64::<1>(self.0)) };
        u32::from(low != 0) | u32::from(high != 0) << 1
    }

    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: `self` proves NEON.
        unsafe { vmaxvq_u32(vreinterpretq_u32_u64(self.0)) != 0 }
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        // SAFETY: `self` proves NEON. The array has the 16 bytes that are written.
        unsafe { vst1q_u64(to.as_mut_ptr(), self.0) }
    }
}

/// Two counters of 16 bits for each of four kinds.
#[derive(Clone, Copy)]
pub struct Fields(uint16x8_t);

impl Counts<Words> for Fields {
    // One addition gives a counter the bits of one lane.
    const ROOM: usize = u16::MAX as usize / BLOCK;
    const CROWD: usize = 1;

    /// Counts the bits of each byte. The sums of neighbours then have eight, four and two elements of each kind.
    #[inline(always)]
    fn add<const CROWDED: bool>(&mut self, counted: [Words; 4]) {
        // SAFETY: a word proves NEON.
        self.0 = unsafe {
            let [a, b, c, d] = counted.map(|word| vcntq_u8(vreinterpretq_u8_u64(word.0)));
            vpadalq_u8(self.0, vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d)))
        };
    }

    #[inline(always)]
    fn totals(self) -> [u64; 4] {
        let mut totals = [0; 4];
        // SAFETY: only `Neon` creates counters. The array has the 16 bytes that are written.
        unsafe { vst1q_u32(totals.as_mut_ptr(), vpaddlq_u16(self.0)) };
        totals.map(u64::from)
    }
}

/// Swaps the high halves of the bytes in `low` with the low halves of those in `high`.
///
/// # Safety
///
/// The machine has NEON.
#[inline(always)]
unsafe fn swap_halves(low: &mut uint8x16_t, high: &mut uint8x16_t) {
    // SAFETY: the caller guarantees NEON.
    (*low, *high) = unsafe { (vsliq_n_u8::<4>(*low, *high), vsriq_n_u8::<4>(*high, *low)) };
}

/// Swaps the bits of `low` that are `BY` above those of `mask` with the bits of `high` at `mask`.
///
/// # Safety
///
/// The machine has NEON.
#[inline(always)]
unsafe fn swap<const BY: i32>(low: &mut uint8x16_t, high: &mut uint8x16_t, mask: u8) {
    // SAFETY: the caller guarantees NEON.
    unsafe {
        let mask = vdupq_n_u8(mask);
        let (raised, lowered) = (vshlq_n_u8::<BY>(*high), vshrq_n_u8::<BY>(*low));
        (*low, *high) = (vbslq_u8(mask, *low, raised), vbslq_u8(mask, lowered, *high));
    }
}

impl Kernel for Neon {
    type Word = Words;
    const AT_ONCE: usize = 1;
    type Classes = OfCodes<Words>;
    type Counts = Fields;
    const LANES: usize = N_LANES;

    #[inline(always)]
    fn splat(self, word: u64) -> Words {
        // SAFETY: `self` proves NEON.
        Words(unsafe { vdupq_n_u64(word) })
    }

    #[inline(always)]
    fn counts(self) -> Fields {
        // SAFETY: `self` proves NEON.
        Fields(unsafe { vdupq_n_u16(0) })
    }

    /// First the bytes: register `r` gets byte `r` of each group of eight, first those of one lane and then those of the
    /// other. Then their codes. Then the bits: swaps transpose eight registers of eight bits.
    #[inline(always)]
    fn planes<const NON_ASCII: bool>(self, blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
        let [one, two, ..] = blocks.all(at);
        // SAFETY: `self` proves NEON. `all` gives the start of a whole block of 64 bytes per lane. Both halves of the code
        // table are 64 bytes long.
        unsafe {
            let (one, two) = (vld4q_u8(one), vld4q_u8(two));
            let mut bits = [
                vuzp1q_u8(one.0, two.0),
                vuzp1q_u8(one.1, two.1),
                vuzp1q_u8(one.2, two.2),
                vuzp1q_u8(one.3, two.3),
                vuzp2q_u8(one.0, two.0),
                vuzp2q_u8(one.1, two.1),
                vuzp2q_u8(one.2, two.2),
                vuzp2q_u8(one.3, two.3),
            ];
            let (low, high) = (vld1q_u8_x4(CODES.as_ptr()), vld1q_u8_x4(CODES.as_ptr().add(64)));
            for bytes in &mut bits {
                // A lookup gives 0 or its first operand for indices above 63. So bytes above 0x7f have the code 0.
                let above = veorq_u8(*bytes, vdupq_n_u8(64));
                *bytes = vqtbx4q_u8(vqtbl4q_u8(low, *bytes), high, above);
            }
            let [b0, b1, b2, b3, b4, b5, b6, b7] = &mut bits;
            swap_halves(b0, b4);
            swap_halves(b1, b5);
            swap_halves(b2, b6);
            swap_halves(b3, b7);
            swap::<2>(b0, b2, 0x33);
            swap::<2>(b1, b3, 0x33);
            swap::<2>(b4, b6, 0x33);
            swap::<2>(b5, b7, 0x33);
            swap::<1>(b0, b1, 0x55);
            swap::<1>(b2, b3, 0x55);
            swap::<1>(b4, b5, 0x55);
            swap::<1>(b6, b7, 0x55);
            bits.map(|plane| Words(vreinterpretq_u64_u8(plane)))
        }
    }

    #[inline(always)]
    fn run(self, job: impl Job) {
        // SAFETY: `self` proves NEON.
        unsafe { Self::shell(job) }
    }
}
