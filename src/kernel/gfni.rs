//! AVX2 with GFNI, which newer machines without AVX-512 have: the words of AVX2, but planes by matrix products.

use super::avx2::{self, Bytes, Words};
use super::{Blocks, Job, Kernel};
use crate::class::OfBits;

token!(Gfni: "avx2" "gfni" "bmi1" "bmi2" "lzcnt" "popcnt");

impl Kernel for Gfni {
    type Word = Words;
    const AT_ONCE: usize = avx2::AT_ONCE;
    type Classes = OfBits<Words>;
    type Counts = Bytes;
    const LANES: usize = avx2::N_LANES;

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
        unsafe { avx2::planes::<true>(blocks, at) }
    }

    #[inline(always)]
    fn run(self, job: impl Job) {
        // SAFETY: the kernel proves the features.
        unsafe { shell(job) }
    }
}
