//! For tests: compiles the kernels that need AVX-512 or GFNI from their own files, over emulated instructions.
//!
//! So these kernels are tested on machines that lack the instructions. The machine still needs AVX2.

// The kernels' files import these from their parent module.
use super::{BLOCK, BORDER, Blocks, Counts, FindBits, Job, Kernel, LANES, UNITS, Word};

mod x86_64;

/// Defines a kernel that only needs what [`super::Avx2`] needs.
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

pub use avx2::Gfni;
pub use avx512::Avx512;
