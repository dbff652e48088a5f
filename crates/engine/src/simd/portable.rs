//! Lane words as plain `u64`. This defines each operation of a kernel in one line.

use std::ops::{BitAnd, BitOr, BitXor, Not};

use super::{BORDER, Blocks, Counts, Job, Kernel, LANES, Word};
use crate::simd::byte_class::{CODES, OfCodes};

/// A kernel without vectors. The other kernels are tested against it.
#[derive(Clone, Copy, Debug)]
pub struct Portable;

/// One `u64` per lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Words(pub [u64; LANES]);

impl Words {
    /// Not inlined: the engine's step has thousands of these operations. If they are inlined without vectors, the dev profile compiles
    /// that one function for minutes.
    #[inline(never)]
    fn with(self, other: Self, of: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|lane| of(self.0[lane], other.0[lane])))
    }
}

impl BitAnd for Words {
    type Output = Self;
    #[inline(always)]
    fn bitand(self, other: Self) -> Self {
        self.with(other, |own, other| own & other)
    }
}

impl BitOr for Words {
    type Output = Self;
    #[inline(always)]
    fn bitor(self, other: Self) -> Self {
        self.with(other, |own, other| own | other)
    }
}

impl BitXor for Words {
    type Output = Self;
    #[inline(always)]
    fn bitxor(self, other: Self) -> Self {
        self.with(other, |own, other| own ^ other)
    }
}

impl Not for Words {
    type Output = Self;
    #[inline(always)]
    fn not(self) -> Self {
        Self(self.0.map(|own| !own))
    }
}

impl Word for Words {
    #[inline(always)]
    fn moved(self, before: Self) -> Self {
        self.with(before, |own, before| own << 1 | before >> 63)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.with(other, u64::wrapping_add)
    }

    #[inline(always)]
    fn top(self) -> Self {
        Self(self.0.map(|own| own >> 63))
    }

    #[inline(always)]
    fn is_crowded(self) -> bool {
        self.0.iter().any(|lane| lane.to_le_bytes().iter().any(|byte| byte.count_ones() > 1))
    }

    #[inline(always)]
    fn is_at_border(self) -> bool {
        self.0.iter().any(|lane| lane & BORDER != 0)
    }

    #[inline(always)]
    fn lanes(self) -> u32 {
        (0..LANES).fold(0, |lanes, lane| lanes | u32::from(self.0[lane] != 0) << lane)
    }

    #[inline(always)]
    fn store(self, to: &mut [u64; LANES]) {
        *to = self.0;
    }
}

impl Counts<Words> for [u64; 4] {
    const ROOM: usize = usize::MAX;
    const CROWD: usize = 1;

    #[inline(always)]
    fn add<const CROWDED: bool>(&mut self, counted: [Words; 4]) {
        for (own, Words(counted)) in self.iter_mut().zip(counted) {
            *own += counted.iter().map(|lane| u64::from(lane.count_ones())).sum::<u64>();
        }
    }

    #[inline(always)]
    fn totals(self) -> [u64; 4] {
        self
    }
}

impl Kernel for Portable {
    type Word = Words;
    const AT_ONCE: usize = 1;
    type Classes = OfCodes<Words>;
    type Counts = [u64; 4];
    const LANES: usize = LANES;

    #[inline(always)]
    fn splat(self, word: u64) -> Words {
        Words([word; LANES])
    }

    #[inline(always)]
    fn counts(self) -> [u64; 4] {
        [0; 4]
    }

    #[inline(always)]
    fn planes<const NON_ASCII: bool>(self, blocks: &Blocks<'_>, at: usize) -> [Words; 8] {
        let mut planes = [Words([0; LANES]); 8];
        for lane in 0..LANES {
            for (n, &byte) in blocks.block(lane, at).iter().enumerate() {
                let code = CODES.get(usize::from(byte)).copied().unwrap_or(0);
                for (bit, plane) in planes.iter_mut().enumerate() {
                    plane.0[lane] |= u64::from(code >> bit & 1) << n;
                }
            }
        }
        planes
    }

    #[inline(always)]
    fn run(self, job: impl Job) {
        job.run();
    }
}
