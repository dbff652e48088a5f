//! Runs a test with all kernels, including emulated ones that this machine lacks.

use super::Kernel;
#[cfg(target_arch = "aarch64")]
use super::Neon;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Gfni, emulated};

/// What a test does with each kernel.
pub trait Visit {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K);
}

/// Visits the portable kernel first, then the kernels of this machine, then those with emulated instructions.
pub fn each(visit: &mut impl Visit) {
    visit.visit("portable", Portable);
    #[cfg(target_arch = "aarch64")]
    if let Some(kernel) = Neon::detect() {
        visit.visit("neon", kernel);
    }
    #[cfg(target_arch = "x86_64")]
    {
        macro_rules! if_there {
            ($name:literal, $kernel:ty) => {
                if let Some(kernel) = <$kernel>::detect() {
                    visit.visit($name, kernel);
                }
            };
        }
        if_there!("avx2", Avx2);
        if_there!("avx2-gfni", Gfni);
        if_there!("avx512", Avx512);
        if_there!("avx2-gfni, emulated", emulated::Gfni);
        if_there!("avx512, emulated", emulated::Avx512);
    }
}
