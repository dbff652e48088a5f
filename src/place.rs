//! Positions in a corpus: the number of an input, and byte offsets in it. This file does not know what is at a position.

use serde::{Deserialize, Serialize};

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The number of the input, in the order in which the inputs were given.
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
    /// Offset of the first byte of the range.
    pub start: u64,
    /// Offset after the last byte of the range.
    pub end: u64,
    /// The number of lines in the range.
    pub lines: u64,
}
