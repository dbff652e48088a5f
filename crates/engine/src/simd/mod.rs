//! Kernels: the operations on lane words, and the conversion of 64 bytes of each lane to planes.
//!
//! This folder has the only code that differs per target. A kernel knows bytes and their codes (`byte_class`). It knows
//! no grammar and no line. A kernel is a value that only detection returns, so holding one proves that its instructions
//! exist. Only a kernel creates words, so they are proof too. All logic is written once, generic over `Kernel`. Each
//! target compiles it in a shell (`Kernel::run`).

#![allow(unsafe_code, reason = "vector instructions, and blocks read by pointer")]

pub mod byte_class;

/// Defines a kernel from a list of features: a value that exists only if all features are detected, and a shell that
/// compiles code for them.
#[cfg(target_arch = "x86_64")]
macro_rules! token {
    ($token:ident: $($feature:tt)*) => {
        proof!($token, $(is_x86_feature_detected!($feature) &&)* true, $($feature)*);
    };
}

/// Defines a kernel from the condition that this machine has it, and from the features that its shell compiles for.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! proof {
    ($token:ident, $has:expr, $($feature:tt)*) => {
        /// Proves that this machine has the instructions.
        #[derive(Clone, Copy, Debug)]
        pub struct $token(());

        impl $token {
            /// Returns the proof if this machine has the instructions.
            pub fn detect() -> Option<Self> {
                ($has).then_some(Self(()))
            }

            /// # Safety
            ///
            /// The machine has all features named.
            $(#[target_feature(enable = $feature)])*
            unsafe fn shell(job: impl Job) {
                let aligned = crate::simd::Aligned { _space: 0 };
                std::hint::black_box(&aligned);
                job.run();
            }
        }
    };
}

/// Defines the bitwise operators of words. A word proves the features.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! operators {
    ($and:ident $or:ident $xor:ident, ones: $ones:expr) => {
        impl std::ops::BitAnd for Words {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                // SAFETY: `self` proves the features.
                Self(unsafe { $and(self.0, other.0) })
            }
        }

        impl std::ops::BitOr for Words {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                // SAFETY: `self` proves the features.
                Self(unsafe { $or(self.0, other.0) })
            }
        }

        impl std::ops::BitXor for Words {
            type Output = Self;
            #[inline(always)]
            fn bitxor(self, other: Self) -> Self {
                // SAFETY: `self` proves the features.
                Self(unsafe { $xor(self.0, other.0) })
            }
        }

        impl std::ops::Not for Words {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: `self` proves the features.
                Self(unsafe { $xor(self.0, $ones) })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
pub mod every_kernel;
#[cfg(all(test, target_arch = "x86_64"))]
mod emulated;
mod find_bytes;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(test)]
pub mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::simd::byte_class::Classes;

/// Aligns the stack of a function for words. Otherwise compilers may spill words unaligned, and half of the spills
/// cross two cache lines.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[repr(align(64))]
struct Aligned {
    _space: u64,
}

/// In each group of eight bytes, byte `n` has only bit `n` set. The matrix product with eight other bytes transposes
/// their bits.
#[cfg(target_arch = "x86_64")]
const UNITS: i64 = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);

/// The first and the last bit of a word.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", test))]
const BORDER: u64 = 1 | 1 << 63;

#[cfg(target_arch = "x86_64")]
pub use avx2::{Avx2, Gfni};
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512;
#[cfg(target_arch = "x86_64")]
use find_bytes::FindBits;
pub use find_bytes::{BlockSink, find, find_each, find_one};
#[cfg(target_arch = "aarch64")]
pub use neon::Neon;

/// The most lanes that a kernel has.
pub const LANES: usize = 8;

/// How many bytes of each lane one word describes.
pub const BLOCK: usize = 64;

/// One bit for each of 64 bytes of each lane. The lowest bit is the first byte.
pub trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Moves every bit to the next byte. The last bit of the previous word becomes the first bit. `before` is what
    /// [`Word::going_on`] returned for the previous word.
    fn moved(self, before: Self) -> Self;

    /// What a word carries into [`Word::moved`] of the next word: its last bit, either in place or as the first bit.
    #[inline(always)]
    fn going_on(self) -> Self {
        self
    }

    /// The sum of each lane, without the carry out of its last bit.
    fn plus(self, other: Self) -> Self;

    /// The last bit of each lane, as the first bit.
    fn top(self) -> Self;

    /// Returns the word itself, computed at this point. With few registers, compilers otherwise keep all its inputs
    /// until it is needed.
    #[inline(always)]
    fn made(self) -> Self {
        self
    }

    /// Whether [`Counts::add`] needs `CROWDED` for this word: it has more bits than can be counted the short way.
    fn is_crowded(self) -> bool;

    /// Whether the first or the last bit of any lane is set.
    fn is_at_border(self) -> bool;

    /// One bit for each lane that has a bit set.
    fn lanes(self) -> u32;

    /// Whether any bit is set.
    #[inline(always)]
    fn any(self) -> bool {
        self.lanes() != 0
    }

    /// Writes one word per lane. The elements for lanes that the kernel does not have stay unchanged.
    fn store(self, to: &mut [u64; LANES]);
}

/// Counters of the bits set in words of four kinds.
pub trait Counts<W>: Copy {
    /// How many additions there is room for. An addition with `CROWDED` counts as [`Self::CROWD`] additions.
    const ROOM: usize;

    /// How many other additions need as much room as one with `CROWDED`.
    const CROWD: usize;

    /// Adds the bits of four words. `CROWDED` may only be false if all four are parts of one word that is not crowded.
    fn add<const CROWDED: bool>(&mut self, counted: [W; 4]);

    /// The four totals over all lanes.
    fn totals(self) -> [u64; 4];
}

/// An instruction set that this machine has.
pub trait Kernel: Copy {
    /// Its lane words.
    type Word: Word;

    /// How it derives the byte classes from planes.
    type Classes: Classes<Self::Word> + From<[Self::Word; 8]>;

    /// For how many steps the planes are made before the logic of the first of these steps.
    const AT_ONCE: usize;

    /// Its counters.
    type Counts: Counts<Self::Word>;

    /// How many lanes it has, at most [`LANES`].
    const LANES: usize;

    /// The same word in each lane.
    fn splat(self, word: u64) -> Self::Word;

    /// Counters at zero.
    fn counts(self) -> Self::Counts;

    /// The planes of block `at` of each lane. The classes are derived from them. Without `NON_ASCII`, a byte above 0x7F may be in
    /// the classes of 0x7F. No grammar allows either.
    ///
    /// # Panics
    ///
    /// If `blocks` has no block `at`.
    fn planes<const NON_ASCII: bool>(self, blocks: &Blocks<'_>, at: usize) -> [Self::Word; 8];

    /// Prefetches memory for later steps, during the logic of block `at`. Does nothing if [`Self::planes`] prefetches.
    #[inline(always)]
    fn ask(self, _blocks: &Blocks<'_>, _at: usize) {}

    /// Runs a job that is compiled for the instructions of this kernel.
    fn run(self, job: impl Job);
}

/// Work on the words of a kernel. `run` must always be inlined, so that it is compiled for the kernel's instructions.
pub trait Job {
    /// Does the work.
    fn run(self);
}

/// Whole blocks of several lanes.
pub struct Blocks<'a> {
    lanes: [*const u8; LANES],
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Blocks<'a> {
    /// The whole blocks of the first `n` of `lanes`: as many as each of them has.
    pub fn new(lanes: &[&'a [u8]; LANES], n: usize) -> Self {
        let n_blocks = lanes[..n].iter().map(|lane| lane.len() / BLOCK).min().unwrap_or(0);
        // The pointers after the first `n` are never read. A kernel with fewer lanes reads only its own.
        let last = lanes[n - 1];
        let lane = |at: usize| if at < n { lanes[at] } else { last };
        Self { lanes: std::array::from_fn(|at| lane(at).as_ptr()), len: n_blocks, bytes: PhantomData }
    }

    /// How many blocks each lane has.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Block `at` of each lane.
    ///
    /// # Panics
    ///
    /// If there is no block `at`.
    #[inline(always)]
    fn all(&self, at: usize) -> [*const u8; LANES] {
        assert!(at < self.len, "no such block");
        // SAFETY: each lane has `len` blocks (`new`), and `at` is less than `len`.
        self.lanes.map(|lane| unsafe { lane.add(at * BLOCK) })
    }

    /// The address of block `at` of each lane. The block may not exist, so the address is only for prefetches.
    #[inline(always)]
    #[cfg(target_arch = "x86_64")]
    fn where_is(&self, at: usize) -> [*const u8; LANES] {
        self.lanes.map(|lane| lane.wrapping_add(at * BLOCK))
    }

    /// Block `at` of a lane.
    #[cfg(test)]
    #[inline(always)]
    fn block(&self, lane: usize, at: usize) -> &[u8; BLOCK] {
        // SAFETY: `all` gives the start of a whole block that is borrowed for 'a.
        unsafe { &*self.all(at)[lane].cast() }
    }
}

/// A kernel by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelId {
    /// The table over several lanes. It uses vectors only to find LFs, with instructions that every machine of the
    /// target has. Runs anywhere.
    Portable,
    /// x86-64 with AVX2, BMI and POPCNT.
    Avx2,
    /// x86-64 with AVX2, BMI, POPCNT and GFNI (Intel's client processors from Alder Lake on, and Sierra Forest).
    Avx2Gfni,
    /// x86-64 with AVX-512: F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ, and GFNI (Ice Lake, Zen 4 and later).
    Avx512,
    /// 64-bit Arm with NEON.
    Neon,
}

impl KernelId {
    /// All kernels. Those of one processor are in the order of their speed, slowest first.
    pub const ALL: &[Self] = &[Self::Portable, Self::Avx2, Self::Avx2Gfni, Self::Avx512, Self::Neon];

    /// Its name: `portable`, `avx2`, `avx2-gfni`, `avx512`, `neon`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx2Gfni => "avx2-gfni",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The kernel of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kernel| kernel.name() == name)
    }

    /// Whether this machine has the instructions.
    #[must_use]
    pub fn is_available(self) -> bool {
        match self {
            Self::Portable => true,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => Avx2::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2Gfni => Gfni::detect().is_some(),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => Avx512::detect().is_some(),
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Neon::detect().is_some(),
            _ => false,
        }
    }

    /// The kernels that this machine has, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kernel| kernel.is_available())
    }

    /// The fastest kernel that this machine has.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().unwrap_or(Self::Portable)
    }
}

impl fmt::Display for KernelId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}
