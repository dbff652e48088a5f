//! The values of a column, row by row. `parquet` decodes them from the pages that [`Pages`] provides.
//!
//! `parquet` 60.1 panics on damaged pages. A panic is caught without output on standard error, and becomes an error of the file.
//! A program that is built with `panic = "abort"` ends there instead.
//!
//! The memory for decoding is limited in advance:
//!
//! - a page and a dictionary: 128 MiB each, compressed and decompressed;
//! - a dictionary: 32 bytes for each value, at most 2^22 values;
//! - decoded values: 36 bytes for each of [`STEP`] values, or of at most 2^22 values of lists.
//!
//! Each thread that decodes ahead uses [`AHEAD_LEN`] bytes for batches, and pages of up to 8 MiB.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Once};

use crossbeam_channel::{Receiver, bounded};
use parquet::basic::Type;
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::{AsBytes, ByteArrayType, DataType, FixedLenByteArrayType};
use parquet::errors::ParquetError;
use parquet::schema::types::{ColumnDescriptor, ColumnPath, Type as SchemaType};

use super::batch::{Batch, Progress};
use super::error::TableError;
use super::footer::{Column, ColumnChunk};
use super::page::{Pages, Read, Source};
use crate::input::workers::Helpers;

/// More values, nulls and rows than any file can have.
const MAX_VALUES: u64 = 1 << 57;

/// How many rows are decoded at once, without and with lists.
const STEP: usize = 4096;
const STEP_OF_LISTS: usize = 64;

/// A column chunk whose values are decoded a few rows at a time.
trait Decode: Send {
    /// Decodes some more rows of one page.
    fn decode(&mut self, n_rows: usize, levels: &mut Levels) -> Result<(), ParquetError>;

    /// How many values were decoded last.
    fn n_values(&self) -> usize;

    fn value(&self, n: usize) -> &[u8];
}

#[derive(Default)]
struct Levels {
    definition: Vec<i16>,
    repetition: Vec<i16>,
}

struct Decoder<T: DataType> {
    reader: ColumnReaderImpl<T>,
    values: Vec<T::T>,
}

impl<T: DataType> Decode for Decoder<T> {
    fn decode(&mut self, n_rows: usize, levels: &mut Levels) -> Result<(), ParquetError> {
        let Levels { definition, repetition } = levels;
        definition.clear();
        repetition.clear();
        self.values.clear();
        self.reader.read_records(n_rows, Some(definition), Some(repetition), &mut self.values).map(drop)
    }

    fn n_values(&self) -> usize {
        self.values.len()
    }

    fn value(&self, n: usize) -> &[u8] {
        self.values[n].as_bytes()
    }
}

/// The values of a column in one row group.
struct Group {
    source: Arc<Source>,
    decoder: Box<dyn Decode>,
    pages: Arc<Read>,
    levels: Levels,
    max_definition: i16,
    is_list: bool,
    /// Numbers of values and nulls: all, decoded so far, decoded last, and given out of those decoded last. `n_values` counts
    /// the values without nulls among those given out.
    n_all: u64,
    n_decoded: u64,
    n_levels: usize,
    n_given: usize,
    n_values: usize,
    /// The error that ended decoding ahead.
    failed: Option<io::Error>,
    /// The number of the row group, from 1, how many rows it has, and how many have begun.
    number: usize,
    n_rows: u64,
    rows: u64,
}

impl Group {
    /// Opens row group `number`, counted from 1.
    fn new(
        source: &Arc<Source>,
        column: &Column,
        chunk: ColumnChunk,
        number: usize,
    ) -> Result<Self, TableError> {
        Self::open(source, column, chunk, number)
            .map_err(|error| error.within(format_args!("row group {number}")))
    }

    fn open(
        source: &Arc<Source>,
        column: &Column,
        chunk: ColumnChunk,
        number: usize,
    ) -> Result<Self, TableError> {
        let is_list = column.max_repetition > 0;
        let fits = if is_list { chunk.n_values >= chunk.n_rows } else { chunk.n_values == chunk.n_rows };
        if !fits {
            let message = format!("{} values in {} rows", chunk.n_values, chunk.n_rows);
            return Err(TableError::damaged(message));
        }
        let pages = Arc::default();
        let reader = Box::new(Pages::new(source, column, chunk, &pages)?);
        let physical = column.physical.unwrap_or(Type::BYTE_ARRAY);
        let leaf = SchemaType::primitive_type_builder("", physical).with_length(column.length).build();
        let leaf = Arc::new(leaf.map_err(|error| TableError::damaged(error.to_string()))?);
        let path = ColumnPath::new(Vec::new());
        let leaf = Arc::new(ColumnDescriptor::new(leaf, column.max_definition, column.max_repetition, path));
        let decoder: Box<dyn Decode> = if physical == Type::FIXED_LEN_BYTE_ARRAY {
            let reader = ColumnReaderImpl::<FixedLenByteArrayType>::new(leaf, reader);
            Box::new(Decoder { reader, values: Vec::new() })
        } else {
            let reader = ColumnReaderImpl::<ByteArrayType>::new(leaf, reader);
            Box::new(Decoder { reader, values: Vec::new() })
        };
        Ok(Self {
            source: Arc::clone(source),
            decoder,
            pages,
            levels: Levels::default(),
            max_definition: column.max_definition,
            is_list,
            n_all: chunk.n_values,
            n_decoded: 0,
            n_levels: 0,
            n_given: 0,
            n_values: 0,
            failed: None,
            number,
            n_rows: chunk.n_rows,
            rows: 0,
        })
    }

    /// Adds values to a batch until it is full or the row group ends. Returns whether there may be more.
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        loop {
            self.give(batch).map_err(|error| self.at_page(error))?;
            if self.n_given < self.n_levels {
                return Ok(true);
            }
            self.source.go_on()?;
            self.decode()?;
            if self.n_levels == 0 {
                // The next page is too long to be read ahead.
                if self.n_decoded < self.n_all && self.pages.is_ahead.load(Ordering::Relaxed) {
                    return Ok(true);
                }
                let is_whole = self.rows == self.n_rows && self.n_decoded == self.n_all;
                return if is_whole { Ok(false) } else { Err(self.ends_early().into()) };
            }
        }
    }

    fn ends_early(&self) -> TableError {
        let (rows, values) = (self.rows, self.n_decoded);
        let message = if rows == self.n_rows {
            format!("it ends after {values} values and nulls, and has {}", self.n_all)
        } else {
            format!("it ends after {rows} rows, and has {}", self.n_rows)
        };
        let error = TableError::damaged(message);
        error.within(format_args!("row group {}", self.number))
    }

    /// Adds decoded values to a batch until it is full.
    fn give(&mut self, batch: &mut Batch) -> Result<(), TableError> {
        while self.n_given < self.n_levels && !batch.is_full() {
            let begins_row = !self.is_list || self.levels.repetition[self.n_given] == 0;
            if self.rows == 0 && !begins_row {
                return Err(TableError::damaged("its row group begins inside a row"));
            }
            let definition = self.levels.definition.get(self.n_given).copied().unwrap_or_default();
            if definition > self.max_definition {
                return Err(TableError::damaged("a level that its column does not have"));
            }
            let value = (definition == self.max_definition).then(|| self.decoder.value(self.n_values));
            self.n_values += usize::from(value.is_some());
            batch.push(begins_row, value)?;
            self.n_given += 1;
            self.rows += u64::from(begins_row);
        }
        Ok(())
    }

    /// Decodes some more rows of the page or of the next one. Decodes none at the end.
    fn decode(&mut self) -> io::Result<()> {
        let Self { decoder, levels, pages, .. } = self;
        pages.goes_on.store(pages.n_levels.load(Ordering::Relaxed) == self.n_decoded, Ordering::Relaxed);
        let n_rows = if self.is_list { STEP_OF_LISTS } else { STEP };
        let decoded = quietly(|| decoder.decode(n_rows, levels));
        (self.n_given, self.n_values, self.n_levels) = (0, 0, 0);
        let damaged = |message: &str| io::Error::from(TableError::damaged(message));
        let error = match decoded {
            Some(Ok(())) => {
                // Columns without nulls have no definition levels.
                self.n_levels = levels.definition.len().max(decoder.n_values());
                self.n_decoded += self.n_levels as u64;
                return Ok(());
            }
            Some(Err(ParquetError::External(error))) => {
                error.downcast().map_or_else(|error| damaged(&error.to_string()), |error| *error)
            }
            Some(Err(ParquetError::General(message) | ParquetError::EOF(message))) => damaged(&message),
            Some(Err(error)) => damaged(&error.to_string()),
            None => damaged("it is damaged"),
        };
        Err(error.downcast().map_or_else(|error| error, |error| self.at_page(error).into()))
    }

    fn at_page(&self, error: TableError) -> TableError {
        let offset = self.pages.offset.load(Ordering::Relaxed);
        error.within(format_args!("row group {}, page at byte {offset}", self.number))
    }
}

/// The values of a column in some row groups, in batches. Idle worker threads decode the next row groups ahead.
pub(crate) struct Values<'a> {
    source: Arc<Source>,
    column: Arc<Column>,
    /// The row groups of the file, up to the last wanted one.
    chunks: Vec<ColumnChunk>,
    batch_len: usize,
    /// How many of them have begun or are not wanted, and the results of the next ones that are decoded ahead.
    begun: usize,
    asked: VecDeque<Receiver<Ahead>>,
    helpers: Helpers<'a>,
    /// The row group that is being read, after the part that was decoded ahead.
    group: Option<Group>,
    ready: VecDeque<Batch>,
    progress: Progress,
    /// The rows of the file minus those of all row groups, if the last one is wanted.
    missing: i128,
    /// Why no batch follows those that were returned.
    failed: Option<io::Error>,
}

impl<'a> Values<'a> {
    /// The values of `column` in the row groups `wanted` of `chunks`, of a file with `rows` rows. Batches have about
    /// `batch_len` bytes.
    pub(super) fn new(
        source: &Arc<Source>,
        column: &Column,
        chunks: Result<Vec<ColumnChunk>, TableError>,
        rows: u64,
        (wanted, batch_len): (&Range<usize>, usize),
        helpers: Helpers<'a>,
    ) -> Self {
        let mut values = Self {
            source: Arc::clone(source),
            column: Arc::new(column.clone()),
            chunks: Vec::new(),
            batch_len,
            begun: 0,
            asked: VecDeque::new(),
            helpers,
            group: None,
            ready: VecDeque::new(),
            progress: Progress::default(),
            missing: 0,
            failed: None,
        };
        if let Err(error) = chunks.and_then(|chunks| values.select(chunks, rows, wanted)) {
            values.failed = Some(error.into());
        }
        values
    }

    /// Chooses the row groups. What precedes them is known from the footer.
    fn select(
        &mut self,
        mut chunks: Vec<ColumnChunk>,
        rows: u64,
        wanted: &Range<usize>,
    ) -> Result<(), TableError> {
        let n_all = |of: fn(&ColumnChunk) -> u64, chunks: &[ColumnChunk]| {
            let sum: u128 = chunks.iter().map(|chunk| u128::from(of(chunk))).sum();
            let too_many = || TableError::damaged("its footer has more rows than any file can have");
            u64::try_from(sum).ok().filter(|&sum| sum < MAX_VALUES).ok_or_else(too_many)
        };
        n_all(|chunk| chunk.n_values, &chunks)?;
        let n_rows = n_all(|chunk| chunk.n_rows, &chunks)?;
        if wanted.end == chunks.len() && (wanted.start < wanted.end || wanted.start == 0) {
            self.missing = i128::from(rows) - i128::from(n_rows);
        }
        let before = &chunks[..wanted.start];
        self.progress.offset = n_all(|chunk| chunk.n_values, before)?;
        self.progress.rows = n_all(|chunk| chunk.n_rows, before)?;
        chunks.truncate(wanted.end);
        (self.chunks, self.begun) = (chunks, wanted.start);
        Ok(())
    }

    /// How far the column has been read.
    pub(crate) fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns the next values, or `None` at the end. Their text uses the memory of `spare`, which is left empty.
    ///
    /// # Errors
    /// When the rest of the file cannot be read. All values before it have been returned.
    pub(crate) fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Batch>> {
        let mut batch = Batch::within(spare, self.batch_len);
        let filled = self.failed.take().map_or_else(|| self.fill(&mut batch), Err);
        // The thread that counted the last batch is mostly idle now, and gets this batch only after the offer.
        self.look_ahead();
        self.progress = batch.advance(self.progress);
        match filled {
            Err(error) if batch.is_empty() => Err(error),
            filled => {
                self.failed = filled.err();
                Ok(Some(batch).filter(|batch| !batch.is_empty()))
            }
        }
    }

    /// Offers the next row groups to idle worker threads, to be decoded ahead.
    fn look_ahead(&mut self) {
        let Some((workers, n)) = &self.helpers else { return };
        while self.asked.len() < *n {
            let number = self.begun + self.asked.len() + 1;
            let Some(&chunk) = self.chunks.get(number - 1) else { return };
            let (send, receive) = bounded(1);
            let (source, column, batch_len) =
                (Arc::clone(&self.source), Arc::clone(&self.column), self.batch_len);
            // The receiver may be gone.
            let job = move || _ = send.send(Ahead::decode(&source, &column, (chunk, number), batch_len));
            if workers.give_to_idle(Box::new(job)).is_err() {
                return;
            }
            self.asked.push_back(receive);
        }
    }

    fn fill(&mut self, batch: &mut Batch) -> io::Result<()> {
        while !batch.is_full() {
            if !self.ready.is_empty() {
                if batch.is_empty() {
                    *batch = self.ready.pop_front().unwrap_or_default();
                }
                break;
            }
            if let Some(group) = &mut self.group {
                group.pages.is_ahead.store(false, Ordering::Relaxed);
                if group.fill(batch)? {
                    break;
                }
                self.group = None;
            } else if !self.begin()? {
                break;
            }
        }
        Ok(())
    }

    /// Moves to the next row group. Returns whether there is one.
    fn begin(&mut self) -> Result<bool, TableError> {
        let Some(&chunk) = self.chunks.get(self.begun) else {
            return match self.missing {
                0 => Ok(false),
                missing => Err(TableError::damaged(format!(
                    "its footer has {} {} rows than its row groups",
                    missing.unsigned_abs(),
                    if missing > 0 { "more" } else { "fewer" }
                ))),
            };
        };
        self.begun += 1;
        if let Some(ahead) = self.asked.pop_front().and_then(|ahead| ahead.recv().ok()) {
            (self.ready, self.group) = (ahead.batches, ahead.group?);
        } else {
            self.group = Some(Group::new(&self.source, &self.column, chunk, self.begun)?);
        }
        Ok(true)
    }
}

/// How many bytes of batches are decoded ahead in a row group. The last batch may exceed it.
const AHEAD_LEN: usize = 32 << 20;

/// The part of a row group that was decoded ahead, and the rest of the group.
struct Ahead {
    batches: VecDeque<Batch>,
    group: Result<Option<Group>, TableError>,
}

impl Ahead {
    fn decode(
        source: &Arc<Source>,
        column: &Column,
        (chunk, number): (ColumnChunk, usize),
        batch_len: usize,
    ) -> Self {
        let mut group = Group::new(source, column, chunk, number).map(Some);
        let (mut batches, mut len) = (VecDeque::new(), 0);
        while let Ok(Some(more)) = &mut group
            && len < AHEAD_LEN
        {
            more.pages.is_ahead.store(true, Ordering::Relaxed);
            let mut batch = Batch::within(&mut Vec::new(), batch_len);
            let filled = more.fill(&mut batch);
            len += batch.memory();
            let is_full = batch.is_full();
            if !batch.is_empty() {
                batches.push_back(batch);
            }
            match filled {
                Ok(true) if is_full => {}
                Ok(true) => break,
                Ok(false) => group = Ok(None),
                Err(error) => {
                    more.failed = Some(error);
                    break;
                }
            }
        }
        Self { batches, group }
    }
}

thread_local! {
    /// Whether panics of this thread are caught without a message.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Returns the result of `work`, or `None` if it panics. The first call wraps the panic hook of the process in one that prints
/// nothing during `work`.
fn quietly<R>(work: impl FnOnce() -> R) -> Option<R> {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let loud = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                loud(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let done = panic::catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(false);
    done.ok()
}
