//! Cuts columns of a Parquet file into chunks of values.
//!
//! This module decides which place a value has in its input. `records/parquet` reads the file.

use std::io;
use std::ops::Range;

use crate::scan::record_fields::Records;
use urlsift_input::workers::Helpers;
use urlsift_input::{Advice, ChunkBytes};
use urlsift_records::parquet::{Batch, MAX_LEN, Table, TableError, TableErrorKind, Values};
use urlsift_records::{Counts, Format, Selector, WantedNames};

/// The values of some columns, in chunks that any thread can process.
pub(crate) struct TableChunks<'a> {
    values: Values<'a>,
    /// The column, if there is one.
    column: Option<String>,
    /// The names of several columns.
    names: WantedNames,
    /// Whether the column was chosen by its values.
    by_values: bool,
    /// The number of rows of the file, and of those before the values.
    rows: u64,
    rows_before: u64,
}

impl<'a> TableChunks<'a> {
    /// The values of the columns that `fields` select from `table`, in the row groups that begin in `range`. Chunks have about
    /// `chunk_len` bytes. `helpers` may help to decode them.
    ///
    /// # Errors
    /// When a field selects no column.
    pub(crate) fn open(
        table: &Table,
        fields: &[Selector],
        range: &Range<u64>,
        chunk_len: usize,
        helpers: Helpers<'a>,
    ) -> io::Result<Self> {
        let (columns, by_values) = table.choose(fields).map_err(|error| match (fields, error.kind()) {
            ([], TableErrorKind::Column) => Advice::ChooseField.error(io::ErrorKind::InvalidInput, error),
            _ => error.into(),
        })?;
        let values = table.values(&columns, range, chunk_len.min(MAX_LEN), helpers);
        Ok(Self {
            rows_before: values.progress().rows,
            values,
            column: if let [column] = columns[..] { Some(table.columns()[column].to_string()) } else { None },
            names: WantedNames::new(fields),
            by_values,
            rows: table.rows(),
        })
    }

    fn rows_done(&self) -> u64 {
        self.values.progress().rows - self.rows_before
    }

    /// The next chunk of values, or `None` at the end. It takes over the buffer of `spare` and leaves `spare` empty.
    ///
    /// # Errors
    /// When the file cannot be read further. The values before that have been given out.
    pub(crate) fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<(ChunkBytes, Box<Batch>)>> {
        let next = self.values.next(spare);
        let next = next.map_err(|error| match error.downcast::<TableError>() {
            Ok(error) => {
                let done = format_args!("{} of its {} rows were read", self.rows_done(), self.rows);
                error.behind(done).into()
            }
            Err(error) => error,
        });
        Ok(next?.map(|mut values| {
            let text = std::mem::take(&mut values.text);
            let len = text.len();
            (ChunkBytes::new(values.before().offset, text, len), Box::new(values))
        }))
    }

    /// The column, and the counts of the rows given out so far.
    pub(crate) fn records(&self) -> Records {
        let mut records = Records::new(Format::Parquet);
        records.column.clone_from(&self.column);
        records.name(&self.names);
        records.by_values = self.by_values;
        let rows_read = self.values.progress().rows_read;
        records.counts = Counts::of(rows_read, self.rows_done() - rows_read);
        records
    }
}
