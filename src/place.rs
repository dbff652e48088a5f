//! Where lines are: the input, and the offset of their bytes in it. Knows no line and no count.

use serde::{Deserialize, Serialize};

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// Bytes from the start of the input.
    pub offset: u64,
}

/// A range of the bytes of one input that has been read without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Extent {
    /// The number of the input.
    pub input: u32,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte.
    pub end: u64,
    /// The lines in it.
    pub lines: u64,
}
