//! Values of a column as text one behind the other, each with its row; and the places that they have in the column.

use std::borrow::Cow;

use super::error::TableError;
use crate::records::{Field, Role};

/// How many bytes, how many values, and how many values and nulls a batch has when it is full; the last value may go beyond.
const FULL_LEN: usize = 4 << 20;
const FULL: usize = 1 << 18;
const FULL_LEVELS: u64 = 1 << 22;

/// Some values of a column that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) text: Vec<u8>,
    values: Vec<Value>,
    /// How many rows begin here, and how many values and nulls there are.
    n_rows: u64,
    n_levels: u64,
}

/// A value that is not null.
#[derive(Clone, Copy, Debug)]
struct Value {
    /// Where it ends in the text.
    end: u32,
    /// Its number among the rows that begin here, from 1; 0 if its row had begun before.
    row: u64,
    /// How many values and nulls there are before it.
    level: u64,
}

/// How far a column has been read. The offset is that in a list of its values and nulls, a line each, with an LF behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    pub(crate) offset: u64,
    pub(crate) rows: u64,
    /// How many of them had a value.
    pub(crate) rows_read: u64,
    /// Whether the last one has had one so far.
    has_value: bool,
}

impl Batch {
    /// An empty one, whose text will be in the memory of `spare`.
    pub(super) fn within(spare: &mut Vec<u8>) -> Self {
        let mut text = std::mem::take(spare);
        text.clear();
        Self { text, ..Self::default() }
    }

    pub(super) fn is_full(&self) -> bool {
        self.text.len() >= FULL_LEN || self.values.len() >= FULL || self.n_levels >= FULL_LEVELS
    }

    pub(super) fn is_empty(&self) -> bool {
        self.n_levels == 0
    }

    /// How many bytes it takes.
    pub(super) fn memory(&self) -> usize {
        self.text.len() + self.values.len() * size_of::<Value>()
    }

    /// Adds a value, or a null, that may begin a row.
    #[inline]
    pub(super) fn push(&mut self, begins_row: bool, value: Option<&[u8]>) -> Result<(), TableError> {
        self.n_rows += u64::from(begins_row);
        if let Some(value) = value {
            self.text.extend_from_slice(value);
            // A full batch and a value, which is no longer than a page, are less than 4 GiB.
            let end =
                u32::try_from(self.text.len()).map_err(|_| TableError::damaged("a value is too long"))?;
            self.values.push(Value { end, row: self.n_rows, level: self.n_levels });
        }
        self.n_levels += 1;
        Ok(())
    }

    /// The values in `text` as fields. `progress` is the place of the first.
    pub(crate) fn fields<'a>(
        &'a self,
        text: &'a [u8],
        progress: Progress,
    ) -> impl Iterator<Item = Field<'a>> {
        let mut start = 0;
        self.values.iter().map(move |value| {
            let bytes = &text[start..value.end as usize];
            let offset = progress.offset + start as u64 + value.level;
            start = value.end as usize;
            Field { bytes: Cow::Borrowed(bytes), role: Role::Url, offset, line: progress.rows + value.row }
        })
    }

    /// How far the column has been read with these values.
    pub(super) fn advance(&self, progress: Progress) -> Progress {
        let mut read = 0;
        let mut last = if progress.has_value { 0 } else { u64::MAX };
        for value in &self.values {
            read += u64::from(value.row != last);
            last = value.row;
        }
        Progress {
            offset: progress.offset + self.text.len() as u64 + self.n_levels,
            rows: progress.rows + self.n_rows,
            rows_read: progress.rows_read + read,
            // `last` is the row of the last value, or 0 where the row that was open had one before.
            has_value: last == self.n_rows,
        }
    }
}
