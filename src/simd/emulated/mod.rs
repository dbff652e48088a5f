//! For tests: the kernels that need AVX-512 or GFNI, compiled from their own files, over instructions that are emulated. So what they
//! do is tested on machines that lack these. They need AVX2 all the same, and their search for bytes ([`super::find()`]) is left out.

// What kernels take from the module above them.
use super::{BLOCK, BORDER, Blocks, Counts, Job, Kernel, LANES, UNITS, Word};

mod x86_64;

/// Defines a kernel of which this machine needs no more than [`super::Avx2`] does.
macro_rules! token {
    ($token:ident: $($feature:tt)*) => {
        proof!($token, crate::simd::Avx2::detect().is_some(), "avx2" "bmi1" "bmi2" "lzcnt" "popcnt");
    };
}

#[allow(dead_code, reason = "AVX2 itself is not emulated")]
#[allow(
    clippy::duplicate_mod,
    clippy::used_underscore_items,
    reason = "the same code over other instructions"
)]
#[path = "../avx2.rs"]
mod avx2;
#[allow(
    dead_code,
    unused_unsafe,
    reason = "emulated instructions are safe, but for those that read and write memory"
)]
#[allow(
    clippy::duplicate_mod,
    clippy::used_underscore_items,
    reason = "the same code over other instructions"
)]
#[path = "../avx512.rs"]
mod avx512;

pub(crate) use avx2::Gfni;
pub(crate) use avx512::Avx512;
