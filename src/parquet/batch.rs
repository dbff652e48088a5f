//! The values of pages as text one behind the other, each with its row; and the places that they have in the column.

use std::borrow::Cow;

use super::error::{TableError, TableErrorKind};
use super::footer::Column;
use super::level::Numbers;
use super::page::{Levels, Page, too_short};
use super::value::Values;
use crate::format::{Field, Role};

/// How many bytes, how many values, and how many values and nulls a batch has when it is full; the last value may go beyond.
const FULL_LEN: usize = 4 << 20;
const FULL: usize = 1 << 18;
const FULL_LEVELS: u64 = 1 << 22;

/// Some values of a column that follow each other.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    text: Vec<u8>,
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
    /// The rows before the row group that is being read.
    before_group: u64,
}

impl Batch {
    fn is_full(&self) -> bool {
        self.text.len() >= FULL_LEN || self.values.len() >= FULL || self.n_levels >= FULL_LEVELS
    }

    /// Makes room for other values.
    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.values.clear();
        (self.n_rows, self.n_levels) = (0, 0);
    }

    /// The values as fields, the first of which stands where `progress` says.
    pub(crate) fn fields(&self, progress: Progress) -> impl Iterator<Item = Field<'_>> {
        let mut start = 0;
        self.values.iter().map(move |value| {
            let bytes = &self.text[start..value.end as usize];
            let offset = progress.offset + start as u64 + value.level;
            start = value.end as usize;
            Field { bytes: Cow::Borrowed(bytes), role: Role::Url, offset, line: progress.rows + value.row }
        })
    }

    /// How far the column has been read with these values.
    pub(crate) fn advance(&self, progress: Progress) -> Progress {
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
            ..progress
        }
    }
}

impl Progress {
    /// How far the column has been read behind the last page of a row group that says it has so many rows.
    ///
    /// # Errors
    /// When it has another number.
    pub(super) fn end_group(mut self, n_rows: u64) -> Result<Self, TableError> {
        let found = self.rows - self.before_group;
        self.before_group = self.rows;
        if found == n_rows {
            return Ok(self);
        }
        Err(TableError::damaged(format!("it ends after {found} rows, and has {n_rows}")))
    }
}

/// An unpacked page whose values are read one by one.
pub(super) struct Decoding<'a> {
    left: u64,
    must_begin_row: bool,
    repetition: Option<Numbers<'a>>,
    definition: Option<Numbers<'a>>,
    max_definition: u32,
    values: Values<'a>,
}

impl<'a> Decoding<'a> {
    /// Begins to read `page` of `column`, whose bytes are `bytes` unpacked.
    pub(super) fn new(page: &Page, column: &Column, bytes: &'a [u8]) -> Result<Self, TableError> {
        let (repetition, definition, bytes) = match page.levels {
            Levels::V2 { repetition, definition, .. } => {
                let (repetition, rest) = bytes.split_at_checked(repetition).ok_or_else(too_short)?;
                let (definition, rest) = rest.split_at_checked(definition).ok_or_else(too_short)?;
                (repetition, definition, rest)
            }
            Levels::V1 { repetition, definition } => {
                let (repetition, rest) = levels(column.max_repetition, repetition, bytes)?;
                let (definition, rest) = levels(column.max_definition, definition, rest)?;
                (repetition, definition, rest)
            }
            Levels::None => (&[][..], &[][..], bytes),
        };
        let numbers = |bytes, max| (max > 0).then(|| Numbers::levels(bytes, max)).transpose();
        Ok(Self {
            left: page.n_values,
            must_begin_row: page.is_first,
            repetition: numbers(repetition, column.max_repetition)?,
            definition: numbers(definition, column.max_definition)?,
            max_definition: column.max_definition,
            values: Values::new(bytes, page.encoding, column.physical, page.dictionary.as_ref())?,
        })
    }

    /// Adds the next values to a batch until that is full, or there are no more; whether there may be more.
    pub(super) fn fill(&mut self, batch: &mut Batch) -> Result<bool, TableError> {
        while self.left > 0 {
            if batch.is_full() {
                return Ok(true);
            }
            let begins_row = match &mut self.repetition {
                Some(levels) => levels.next()? == 0,
                None => true,
            };
            if std::mem::take(&mut self.must_begin_row) && !begins_row {
                return Err(TableError::damaged("its row group begins inside a row"));
            }
            let is_null = match &mut self.definition {
                Some(levels) => match levels.next()? {
                    level if level > self.max_definition => {
                        return Err(TableError::damaged("a level that its column does not have"));
                    }
                    level => level < self.max_definition,
                },
                None => false,
            };
            if !is_null {
                let before = batch.text.len();
                if let Err(error) = self.values.push_next(&mut batch.text) {
                    batch.text.truncate(before);
                    return Err(error);
                }
            }
            batch.n_rows += u64::from(begins_row);
            if !is_null {
                // A full batch and a value, which is no longer than a page, are less than 4 GiB.
                let end = u32::try_from(batch.text.len()).map_err(|_| too_short())?;
                batch.values.push(Value { end, row: batch.n_rows, level: batch.n_levels });
            }
            batch.n_levels += 1;
            self.left -= 1;
        }
        Ok(false)
    }
}

/// The levels in a page of the first version, behind their length, and what stands behind them.
fn levels(max: u32, encoding: i64, bytes: &[u8]) -> Result<(&[u8], &[u8]), TableError> {
    if max == 0 {
        return Ok((&[], bytes));
    }
    if encoding != 3 {
        let message = format!("its levels are in encoding {encoding}, which is not read here");
        return Err(TableError::new(TableErrorKind::Unsupported, message));
    }
    let (len, rest) = bytes.split_first_chunk().ok_or_else(too_short)?;
    rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or_else(too_short)
}
