//! Cuts a column of a Parquet file into chunks of values.
//!
//! This module decides which place a value has in its input. `records/parquet` reads the file.

use std::io;

use crate::input::ChunkBytes;
use crate::input::workers::Helpers;
use crate::place::Extent;
use crate::records::parquet::{Batch, Progress, Table, TableError, Values};
use crate::records::{Counts, Field, Format, Selector};
use crate::run::chunk_cutter::Cut;
use crate::scan::record_fields::Records;

/// The values of a column, in chunks that any thread can count.
pub(super) struct TableChunks<'a> {
    values: Values<'a>,
    column: String,
    /// Whether the column was chosen by its values.
    by_values: bool,
    rows: u64,
}

/// Consecutive values of a column. Their text is in a separate buffer.
pub(super) struct TableChunk {
    values: Batch,
    before: Progress,
    behind: Progress,
}

impl<'a> TableChunks<'a> {
    /// The values of the column that `fields` select from `table`. `helpers` may help to decode them.
    ///
    /// # Errors
    /// When `fields` select no column, or several.
    pub(super) fn open(table: &Table, fields: &[Selector], helpers: Helpers<'a>) -> io::Result<Self> {
        let (column, by_values) = table.choose(fields)?;
        Ok(Self {
            values: table.values(column, helpers),
            column: table.columns()[column].to_string(),
            by_values,
            rows: table.rows(),
        })
    }

    /// The column, and the counts of the records given out so far.
    pub(super) fn records(&self) -> Records {
        let Progress { rows, rows_read, .. } = self.values.progress();
        let mut records = Records::new(Format::Parquet);
        records.column = Some(self.column.clone());
        records.by_values = self.by_values;
        records.counts = Counts::of(rows_read, rows - rows_read);
        records
    }
}

impl Cut for TableChunks<'_> {
    type Chunk = (ChunkBytes, Box<TableChunk>);

    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Self::Chunk>> {
        let before = self.values.progress();
        let next = self.values.next(spare);
        let behind = self.values.progress();
        let next = next.map_err(|error| match error.downcast::<TableError>() {
            Ok(error) => {
                let done = format_args!("{} of its {} rows were read", behind.rows, self.rows);
                error.behind(done).into()
            }
            Err(error) => error,
        });
        Ok(next?.map(|mut values| {
            let text = std::mem::take(&mut values.text);
            let len = text.len();
            (ChunkBytes::new(before.offset, text, len), Box::new(TableChunk { values, before, behind }))
        }))
    }
}

impl TableChunk {
    /// The values, whose text is in `text`.
    pub(super) fn fields<'a>(&'a self, text: &'a [u8]) -> impl Iterator<Item = Field<'a>> {
        self.values.fields(text, self.before)
    }

    /// The extent of the values in the input with this number.
    pub(super) fn run(&self, input: u32) -> Extent {
        let (start, end) = (self.before.offset, self.behind.offset);
        Extent { input, start, end, lines: self.behind.rows - self.before.rows }
    }

    /// The number of the first row that begins in this chunk.
    pub(super) fn first_row(&self) -> u64 {
        self.before.rows + 1
    }
}
