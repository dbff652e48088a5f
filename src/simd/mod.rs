//! Kernels: lane words and their operations, and 64 bytes of each lane to planes; the only code that differs per target.
//!
//! A kernel knows bytes and their codes (`byte_class.rs`), no grammar and no line. Each kernel is a value that can only be
//! had by detecting what it needs, so that holding one is the proof that its instructions may be used; the same holds for
//! its words, which only a kernel makes. All logic is written once, generic over `Kernel`, and compiled inside one shell
//! per target (`Kernel::run`).

#![allow(unsafe_code, reason = "vector instructions, and blocks read by pointer")]

pub(crate) mod byte_class;

/// Defines a kernel from one list of features: a value that only detecting all of them gives, and the shell in which code is
/// compiled for them.
#[cfg(target_arch = "x86_64")]
macro_rules! token {
    ($token:ident: $($feature:tt)*) => {
        proof!($token, $(is_x86_feature_detected!($feature) &&)* true, $($feature)*);
    };
}

/// Defines a kernel by whether this machine has it, and for which features its shell compiles.
#[cfg(target_arch = "x86_64")]
macro_rules! proof {
    ($token:ident, $has:expr, $($feature:tt)*) => {
        /// The proof that this machine has the instructions.
        #[derive(Clone, Copy, Debug)]
        pub(crate) struct $token(());

        impl $token {
            /// The proof, if this machine has it.
            pub(crate) fn detect() -> Option<Self> {
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

/// Defines the bitwise operators of words, which prove the features.
#[cfg(target_arch = "x86_64")]
macro_rules! operators {
    ($and:ident $or:ident $xor:ident, ones: $ones:ident) => {
        impl std::ops::BitAnd for Words {
            type Output = Self;
            #[inline(always)]
            fn bitand(self, other: Self) -> Self {
                // SAFETY: words prove the features.
                Self(unsafe { $and(self.0, other.0) })
            }
        }

        impl std::ops::BitOr for Words {
            type Output = Self;
            #[inline(always)]
            fn bitor(self, other: Self) -> Self {
                // SAFETY: words prove the features.
                Self(unsafe { $or(self.0, other.0) })
            }
        }

        impl std::ops::BitXor for Words {
            type Output = Self;
            #[inline(always)]
            fn bitxor(self, other: Self) -> Self {
                // SAFETY: words prove the features.
                Self(unsafe { $xor(self.0, other.0) })
            }
        }

        impl std::ops::Not for Words {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                // SAFETY: words prove the features.
                Self(unsafe { $xor(self.0, $ones(-1)) })
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
pub(crate) mod each;
#[cfg(all(test, target_arch = "x86_64"))]
mod emulated;
mod find_bytes;
#[cfg(test)]
pub(crate) mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64;
use std::fmt;
use std::marker::PhantomData;
use std::ops::{BitAnd, BitOr, BitXor, Not};

use crate::simd::byte_class::Classes;

/// Has the stack of a function aligned as words are. Otherwise compilers may put words aside unaligned, half of them across two lines
/// of the cache.
#[cfg(target_arch = "x86_64")]
#[repr(align(64))]
struct Aligned {
    _space: u64,
}

/// In each eight bytes, byte `n` has bit `n` alone: the matrix product with it moves bits to bytes.
#[cfg(target_arch = "x86_64")]
const UNITS: i64 = i64::from_le_bytes([1, 2, 4, 8, 16, 32, 64, 128]);

/// The first and the last bit of a word.
#[cfg(any(target_arch = "x86_64", test))]
const BORDER: u64 = 1 | 1 << 63;

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::{Avx2, Gfni};
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;
pub(crate) use find_bytes::{find, find_one};

/// The most lanes that a kernel has.
pub(crate) const LANES: usize = 8;

/// How many bytes of each lane one word describes.
pub(crate) const BLOCK: usize = 64;

/// One bit for each of 64 bytes of each lane; the lowest bit is the first byte.
pub(crate) trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// Every bit one byte on; the first gets the last bit of the word of the 64 bytes before, of which `before` is what
    /// [goes on](Self::going_on).
    fn moved(self, before: Self) -> Self;

    /// What goes on of a word into [`Word::moved`] of the next: its last bit, as its first or where it is.
    #[inline(always)]
    fn going_on(self) -> Self {
        self
    }

    /// The sum of each lane, without what does not fit.
    fn plus(self, other: Self) -> Self;

    /// The last bit of each lane, as its first.
    fn top(self) -> Self;

    /// Itself, made here and now: where registers are few, compilers otherwise keep all it is made of until it is asked for.
    #[inline(always)]
    fn made(self) -> Self {
        self
    }

    /// Whether [`Counts`] have to be told that this is a crowd: more bits than can be counted the short way.
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

    /// Writes one word per lane; leaves the places of lanes that the kernel does not have.
    fn store(self, to: &mut [u64; LANES]);
}

/// How many bits were set in words of four kinds.
pub(crate) trait Counts<W>: Copy {
    /// How many times one may add, each time that `CROWDED` was said counted as [`Self::CROWD`] times.
    const ROOM: usize;

    /// For how many others there would be room in place of four words that are crowded.
    const CROWD: usize;

    /// Adds the bits of four words. Unless all of them are part of a word that is not crowded, `CROWDED` has to be said.
    fn add<const CROWDED: bool>(&mut self, counted: [W; 4]);

    /// What has been counted.
    fn totals(self) -> [u64; 4];
}

/// A set of instructions that this machine has.
pub(crate) trait Kernel: Copy {
    /// Its lane words.
    type Word: Word;

    /// What it makes the classes of bytes of.
    type Classes: Classes<Self::Word> + From<[Self::Word; 8]>;

    /// How many steps have their planes made before the logic of the first of them.
    const AT_ONCE: usize;

    /// How it counts.
    type Counts: Counts<Self::Word>;

    /// How many lanes it has, at most [`LANES`].
    const LANES: usize;

    /// The same word in each lane.
    fn splat(self, word: u64) -> Self::Word;

    /// Counts of nothing.
    fn counts(self) -> Self::Counts;

    /// The planes of block `at` of each lane, of which come its classes.
    ///
    /// # Panics
    ///
    /// When `blocks` has no block `at`.
    fn planes(self, blocks: &Blocks<'_>, at: usize) -> [Self::Word; 8];

    /// Asks for memory that is wanted some steps later, while the logic of block `at` is done; does nothing if [`Self::planes`] asks.
    #[inline(always)]
    fn ask(self, _blocks: &Blocks<'_>, _at: usize) {}

    /// Does a job, compiled for the instructions that this kernel stands for.
    fn run(self, job: impl Job);
}

/// Work on the words of a kernel; `run` is to be inlined always.
pub(crate) trait Job {
    /// Does the work.
    fn run(self);
}

/// Whole blocks of several lanes.
pub(crate) struct Blocks<'a> {
    lanes: [*const u8; LANES],
    len: usize,
    bytes: PhantomData<&'a [u8]>,
}

impl<'a> Blocks<'a> {
    /// As many blocks as each of the first `n` of `lanes` has.
    pub(crate) fn new(lanes: &[&'a [u8]; LANES], n: usize) -> Self {
        let n_blocks = lanes[..n].iter().map(|lane| lane.len() / BLOCK).min().unwrap_or(0);
        // Those behind are never read; a kernel that has fewer lanes reads as many as it has.
        let last = lanes[n - 1];
        let lane = |at: usize| if at < n { lanes[at] } else { last };
        Self { lanes: std::array::from_fn(|at| lane(at).as_ptr()), len: n_blocks, bytes: PhantomData }
    }

    /// How many blocks each lane has.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Block `at` of each lane.
    ///
    /// # Panics
    ///
    /// When there is no block `at`.
    #[inline(always)]
    fn all(&self, at: usize) -> [*const u8; LANES] {
        assert!(at < self.len, "no such block");
        // SAFETY: each lane has `len` blocks (`new`), of which this is one.
        self.lanes.map(|lane| unsafe { lane.add(at * BLOCK) })
    }

    /// Where block `at` of each lane is, if it has one.
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
    /// The machine's table over several lanes; no vectors, but to find the LFs with what every machine of the target has. Runs anywhere.
    Portable,
    /// x86-64 with AVX2, BMI and POPCNT.
    Avx2,
    /// The same with GFNI (processors of Intel for clients from Alder Lake on, and Sierra Forest).
    Avx2Gfni,
    /// x86-64 with AVX-512: F, BW, DQ, VL, VBMI, VBMI2, VPOPCNTDQ, and GFNI (Ice Lake and Zen 4, and what came after).
    Avx512,
}

impl KernelId {
    /// All kernels, slowest first.
    pub const ALL: &[Self] = &[Self::Portable, Self::Avx2, Self::Avx2Gfni, Self::Avx512];

    /// Its name: `portable`, `avx2`, `avx2-gfni`, `avx512`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Portable => "portable",
            Self::Avx2 => "avx2",
            Self::Avx2Gfni => "avx2-gfni",
            Self::Avx512 => "avx512",
        }
    }

    /// The kernel of that name.
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
            #[cfg(not(target_arch = "x86_64"))]
            _ => false,
        }
    }

    /// The kernels that this machine has, slowest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|kernel| kernel.is_available())
    }

    /// The fastest that this machine has.
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
