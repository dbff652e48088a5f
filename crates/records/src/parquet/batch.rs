//! A batch: some values of a column as one text, each with its row. Also computes their places in the column.

use std::borrow::Cow;

use super::error::TableError;
use crate::{Field, Role};
use urlsift_engine::place::Extent;

/// The most bytes of text in a batch. The last value may exceed it. There is a sixteenth as many values, and as many values
/// and nulls.
pub const MAX_LEN: usize = 4 << 20;

/// Consecutive values of a column.
#[derive(Debug, Default)]
pub struct Batch {
    /// From this length of its text on, it is full.
    full_len: usize,
    pub text: Vec<u8>,
    values: Vec<Value>,
    /// How many rows begin in the batch, and how many values and nulls it has.
    n_rows: u64,
    n_levels: u64,
    /// How far the column has been read before these values, and after them.
    before: Progress,
    behind: Progress,
}

/// A value that is not null.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Where it ends in the text.
    end: u32,
    /// Its number among the rows that begin in the batch, from 1; 0 if its row began before the batch.
    row: u64,
    /// How many values and nulls precede it in the batch.
    level: u64,
    /// The index of its column among the wanted ones.
    wanted: u32,
}

/// How far a column has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// How many values and nulls.
    pub offset: u64,
    /// How many bytes of values that were read here, with one more for each value or null.
    pub bytes: u64,
    pub rows: u64,
    /// How many of the rows that were read here had a value.
    pub rows_read: u64,
    /// Whether the last row has had a value so far.
    pub(super) has_value: bool,
}

impl Batch {
    /// An empty batch, whose text uses the memory of `spare`. It is full with about `full_len` bytes.
    pub(super) fn within(spare: &mut Vec<u8>, full_len: usize) -> Self {
        let mut text = std::mem::take(spare);
        text.clear();
        Self { full_len, text, ..Self::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= self.full_len
            || self.values.len() >= self.full_len / 16
            || self.n_levels >= self.full_len as u64
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_levels == 0
    }

    /// How many bytes of memory it uses.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + self.values.len() * size_of::<Value>()
    }

    /// Adds a value or a null of a wanted column. `begins_row` says whether a row begins with it.
    #[inline]
    pub(super) fn push(
        &mut self,
        wanted: u32,
        begins_row: bool,
        value: Option<&[u8]>,
    ) -> Result<(), TableError> {
        self.n_rows += u64::from(begins_row);
        if let Some(value) = value {
            self.text.extend_from_slice(value);
            // A full batch and one more value are less than 4 GiB, because no value is longer than a page.
            let end =
                u32::try_from(self.text.len()).map_err(|_| TableError::damaged("a value is too long"))?;
            self.values.push(Value { end, row: self.n_rows, level: self.n_levels, wanted });
        }
        self.n_levels += 1;
        Ok(())
    }

    /// The values in `text` as fields.
    pub fn fields<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Field<'a>> {
        let progress = self.before;
        let mut start = 0;
        self.values.iter().map(move |value| {
            let bytes = &text[start..value.end as usize];
            let offset = progress.offset + value.level;
            start = value.end as usize;
            let line = progress.rows + value.row;
            Field { bytes: Cow::Borrowed(bytes), role: Role::Url, wanted: value.wanted, offset, line }
        })
    }

    /// How far the column has been read before these values.
    pub fn before(&self) -> Progress {
        self.before
    }

    /// The extent of the values in the input with this number.
    pub fn run(&self, input: u32) -> Extent {
        let (Progress { offset: end, bytes, rows, .. }, before) = (self.behind, self.before);
        let mut run = Extent::of_bytes(input, before.offset, end, rows - before.rows);
        run.value_bytes = Some(bytes - before.bytes);
        run
    }

    /// Notes how far the column has been read before these values. Returns how far it has been read after them.
    pub(super) fn advance(&mut self, progress: Progress) -> Progress {
        let mut read = 0;
        let mut last = if progress.has_value { 0 } else { u64::MAX };
        for value in &self.values {
            read += u64::from(value.row != last);
            last = value.row;
        }
        self.before = progress;
        self.behind = Progress {
            offset: progress.offset + self.n_levels,
            bytes: progress.bytes + self.text.len() as u64 + self.n_levels,
            rows: progress.rows + self.n_rows,
            rows_read: progress.rows_read + read,
            // `last` is the row of the last value. It is 0 if the open row had a value before this batch.
            has_value: last == self.n_rows,
        };
        self.behind
    }
}
