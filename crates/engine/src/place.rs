//! Positions in a corpus: the number of an input, and offsets in it. This file does not know what is at a position.

use serde::{Deserialize, Serialize};

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The number of the input, in the order given.
    pub input: u32,
    /// Bytes from the start of the input. In a Parquet file, how many values and nulls precede it.
    pub offset: u64,
}

/// A range of one input that has been read without a gap.
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
    /// The number of bytes in the range, if offsets do not count bytes. In a Parquet file, they count values and nulls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_bytes: Option<u64>,
}

impl Extent {
    /// A range of bytes.
    pub fn of_bytes(input: u32, start: u64, end: u64, lines: u64) -> Self {
        Self { input, start, end, lines, value_bytes: None }
    }

    /// The number of bytes in the range.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.value_bytes.unwrap_or(self.end.saturating_sub(self.start))
    }

    /// Extends this range by `next`, which begins at its end.
    pub fn extend(&mut self, next: &Self) {
        if self.value_bytes.or(next.value_bytes).is_some() {
            self.value_bytes = Some(self.bytes() + next.bytes());
        }
        self.end = next.end;
        self.lines += next.lines;
    }
}
