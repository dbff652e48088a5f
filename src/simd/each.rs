//! For tests: all kernels, those too that this machine lacks.

use super::Kernel;
use super::portable::Portable;
#[cfg(target_arch = "x86_64")]
use super::{Avx2, Avx512, Gfni, emulated};

/// What is done with a kernel, whichever it is.
pub(crate) trait Visit {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K);
}

/// Visits the portable kernel, those of this machine, and those whose instructions are emulated; the portable one first.
pub(crate) fn each(visit: &mut impl Visit) {
    visit.visit("portable", Portable);
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
