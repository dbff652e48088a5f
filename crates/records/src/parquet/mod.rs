//! Parquet: reads the values of text columns page by page, in bounded memory.
//!
//! A Parquet file is not a stream of records. Its footer, at the end of the file, names the columns and the positions of their
//! pages (`footer`, written in the notation of `thrift`). Each column is stored separately, in pages (`page`) that are compressed
//! one by one (`unpack`). A page has levels, which tell rows and nulls apart, and values (`decode`, whose integers are read by
//! `hybrid`). Pages in delta encodings are rewritten first (`delta`). The values of all columns are returned row by row (`rows`) in
//! batches (`batch`).
//!
//! The worst that any file can cause is an error. No number in a file leads to an allocation that the bytes read so far, or a limit,
//! do not justify.
//!
//! The format: <https://parquet.apache.org/docs/file-format/>.

mod batch;
mod decode;
mod delta;
mod error;
mod footer;
mod hybrid;
mod page;
mod rows;
mod thrift;
mod unpack;

use std::ops::Range;
use std::sync::Arc;
use std::{fmt, io};

pub use batch::{Batch, MAX_LEN, Progress};
pub use error::{TableError, TableErrorKind};
pub use footer::Column;
use footer::Physical;
use page::Source;
pub use rows::Values;

use crate::Selector;
use crate::field_names::{self, ByValues, is_same};
use urlsift_grammar::password::shown;
use urlsift_input::Seekable;
use urlsift_input::progress::Watch;
use urlsift_input::workers::Helpers;

/// How many values of each column are looked at if no column has a usual name.
const SAMPLE: usize = 64;

/// The range of a whole file.
const ALL: Range<u64> = 0..u64::MAX;

/// How many columns an error message names.
const SHOWN: usize = 40;

/// The magic number at both ends of a file, and the one at the end of a file whose footer is encrypted.
const MAGIC: &[u8; 4] = b"PAR1";
const ENCRYPTED: &[u8; 4] = b"PARE";

/// An open Parquet file.
#[derive(Debug)]
pub struct Table {
    source: Arc<Source>,
    footer: Vec<u8>,
    columns: Vec<Column>,
    rows: u64,
}

impl Column {
    /// Its name. The names of the groups that contain it come first, separated by dots.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.join(".")
    }

    /// Whether its values are text, or at least bytes. Other columns cannot be read.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.physical, Some(Physical::Bytes | Physical::Fixed(_)))
    }

    /// The length of each value, if all have the same.
    fn fixed(&self) -> Option<usize> {
        match self.physical {
            Some(Physical::Fixed(length)) => Some(length),
            _ => None,
        }
    }

    /// Whether a row may have several values.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.max_repetition > 0
    }

    /// Whether `path` names this column or a group that contains it.
    fn lies_in(&self, path: &[&str], is_same: fn(&str, &str) -> bool) -> bool {
        path.len() <= self.path.len() && path.iter().zip(&self.path).all(|(name, own)| is_same(name, own))
    }
}

impl fmt::Display for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&shown(self.name().as_bytes()))?;
        match self.physical {
            Some(Physical::Other(name)) => write!(out, " ({name})"),
            Some(_) => Ok(()),
            None => out.write_str(" (group)"),
        }
    }
}

impl Table {
    /// Reads which columns a file of `len` bytes has. The watch counts the bytes that are read, and can stop the reading. Memory: the footer,
    /// at most 64 MiB, and little more.
    ///
    /// # Errors
    /// When the file cannot be read, or is no Parquet file. In the second case the error contains a [`TableError`].
    pub fn open(file: Seekable, len: u64, watch: Option<&Watch>) -> io::Result<Self> {
        let source = Source { file, len, watch: watch.cloned() };
        let no_end = "it does not end as a Parquet file does; it may be cut off";
        let cut_off = || TableError::new(TableErrorKind::NotParquet, no_end);
        let damaged = || TableError::damaged("its footer is longer than the file");
        let tail_at = source.len.checked_sub(8).filter(|&at| at >= 4).ok_or_else(cut_off)?;
        let tail = source.read(tail_at, 8)?.ok_or_else(cut_off)?;
        let (footer_len, magic) = tail.split_at(4);
        if magic == ENCRYPTED {
            return Err(TableError::unsupported("its footer is encrypted").into());
        }
        if magic != MAGIC {
            return Err(cut_off().into());
        }
        let footer_len = u32::from_le_bytes(footer_len.try_into().expect("four bytes"));
        if footer_len as usize > footer::MAX_LEN {
            let message = format!("its footer has {footer_len} bytes; at most {} are read", footer::MAX_LEN);
            return Err(TableError::too_large(message).into());
        }
        let at = tail_at.checked_sub(footer_len.into()).ok_or_else(damaged)?;
        let footer = source.read(at, footer_len as usize)?.ok_or_else(damaged)?;
        let (columns, rows) = footer::read(&footer)?;
        Ok(Self { source: Arc::new(source), footer, columns, rows })
    }

    /// The columns, in their order.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The number of rows that the file declares.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Finds the column that `field` means. Returns its index, from 0.
    ///
    /// `field` is a number from 1, a name with dots between groups, or the same name as a pointer. A group means its column if it
    /// contains only one. Without `field`, the column has one of the usual names for URLs, such as url, target_uri or link. Case,
    /// white space and `_` do not matter.
    ///
    /// # Errors
    /// When there is no such column, or it contains no text. The error lists the columns of the file.
    pub fn find(&self, field: Option<&Selector>) -> Result<usize, TableError> {
        let found = match field {
            None => {
                let is_same = |own: &str, name: &str| is_same(own.as_bytes(), name.as_bytes());
                field_names::all().find_map(|name| self.lying_in(&[name], is_same, Column::is_text))
            }
            Some(Selector::Number(number)) => number.checked_sub(1).filter(|&n| n < self.columns.len()),
            Some(Selector::Name(name)) => self
                .named(&name.split('.').collect::<Vec<_>>())
                // A dot may also be part of a name.
                .or_else(|| self.columns.iter().position(|column| column.path.join(".") == *name)),
            Some(Selector::Pointer(pointer)) => self.named(&pointer.split('/').skip(1).collect::<Vec<_>>()),
        };
        match (found, field) {
            (Some(n), _) if self.columns[n].is_text() => Ok(n),
            (Some(n), _) => Err(self.lacks(&format!("column {} is no text", self.columns[n]))),
            (None, Some(field)) => Err(self.lacks(&format!("no column \"{field}\""))),
            (None, None) => Err(self.lacks("no column has a usual name or values like URLs")),
        }
    }

    /// Finds the columns that `fields` mean, in their order. Without fields, and if no column has a usual name, the first values
    /// decide. Also returns whether they did.
    ///
    /// # Errors
    /// As [`Table::find`].
    pub fn choose(&self, fields: &[Selector]) -> Result<(Vec<usize>, bool), TableError> {
        if !fields.is_empty() {
            let columns = fields.iter().map(|field| self.find(Some(field)));
            return Ok((columns.collect::<Result<_, _>>()?, false));
        }
        self.find(None).map(|column| (vec![column], false)).or_else(|error| {
            let column = self.find_by_values().ok_or(error)?;
            Ok((vec![column], true))
        })
    }

    /// The text column whose first values begin as URLs.
    fn find_by_values(&self) -> Option<usize> {
        let mut values = ByValues::default();
        let columns = self.columns.iter().enumerate().filter(|(_, column)| column.is_text());
        for (n, _) in columns.take(SHOWN) {
            let (mut column, mut text) = (self.values(&[n], &ALL, MAX_LEN, None), Vec::new());
            // A column that cannot be read is not chosen.
            if let Ok(Some(batch)) = column.next(&mut text) {
                let first = batch.fields(&batch.text).take(SAMPLE);
                first.for_each(|field| values.add(n, &field.bytes));
            }
        }
        values.most_likely()
    }

    /// The column with this name. If there is none, case is ignored.
    fn named(&self, path: &[&str]) -> Option<usize> {
        let any = |_: &Column| true;
        self.lying_in(path, |a, b| a == b, any)
            .or_else(|| self.lying_in(path, str::eq_ignore_ascii_case, any))
    }

    /// The column at `path`, or the only one in that group.
    fn lying_in(
        &self,
        path: &[&str],
        is_same: fn(&str, &str) -> bool,
        is_meant: fn(&Column) -> bool,
    ) -> Option<usize> {
        let lying = |(_, column): &(usize, &Column)| column.lies_in(path, is_same) && is_meant(column);
        let mut found = self.columns.iter().enumerate().filter(lying);
        let (n, column) = found.next()?;
        (column.path.len() == path.len() || found.next().is_none()).then_some(n)
    }

    fn lacks(&self, what: &str) -> TableError {
        let names: Vec<_> = self.columns.iter().take(SHOWN).map(Column::to_string).collect();
        let more = if self.columns.len() > SHOWN { ", ..." } else { "" };
        TableError::new(TableErrorKind::Column, format!("{what}: its columns are {}{more}", names.join(", ")))
    }

    /// The values of some columns in the row groups that begin in `range`, in batches of about `batch_len` bytes. A row has its
    /// values in the order of `columns`.
    ///
    /// The [`line`](crate::Field::line) of a value is the number of its row. Its [`offset`](crate::Field::offset) is the number of values and
    /// nulls before it. Memory: for each column a page, compressed and decompressed, and a dictionary, each of at most 128 MiB.
    ///
    /// # Panics
    /// When there is no column with one of these indices.
    pub fn values<'a>(
        &self,
        columns: &[usize],
        range: &Range<u64>,
        batch_len: usize,
        helpers: Helpers<'a>,
    ) -> Values<'a> {
        let chunks = columns.iter().map(|&column| footer::chunks(&self.footer, column)).collect();
        let columns = columns.iter().map(|&column| self.columns[column].clone()).collect();
        let before = |end: u64| self.starts().take_while(|&start| start < end).count();
        let wanted = before(range.start)..before(range.end);
        Values::new(&self.source, columns, chunks, self.rows, wanted, batch_len, helpers)
    }

    /// Where each row group begins, in bytes from the start of the file, in ascending order. Any two neighbouring ranges of the
    /// file divide the row groups between them.
    fn starts(&self) -> impl Iterator<Item = u64> {
        let last = self.source.len.saturating_sub(1);
        footer::starts(&self.footer).map(move |start| start.min(last))
    }

    /// Where the file can be cut into parts of about `len` bytes, each with at least one row group. The first cut is 0.
    pub fn cuts(&self, len: u64) -> Vec<u64> {
        let mut starts = self.starts();
        let first = starts.next().unwrap_or(0);
        let cuts = starts.map(|start| start / len * len).filter(|&cut| cut > first);
        let mut cuts: Vec<_> = [0].into_iter().chain(cuts).collect();
        cuts.dedup();
        cuts
    }
}
