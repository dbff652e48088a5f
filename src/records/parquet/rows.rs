//! The values of one or several columns, row by row. `parquet` decodes them from the pages that [`Pages`] provides.
//!
//! `parquet` 60.1 panics on damaged pages. A panic is caught without output on standard error, and becomes an error of the file.
//! A program that is built with `panic = "abort"` ends there instead.
//!
//! The memory for decoding is limited in advance, for each column:
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
    /// Whether values of the last row may follow. Used if there are several columns.
    is_inside: bool,
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
            is_inside: false,
            number,
            n_rows: chunk.n_rows,
            rows: 0,
        })
    }

    /// Adds values to a batch until it is full or the row group ends. Returns whether there may be more.
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        loop {
            while self.n_given < self.n_levels && !batch.is_full() {
                self.give(batch, 0).map_err(|error| self.at_page(error))?;
            }
            if self.n_given < self.n_levels {
                return Ok(true);
            }
            match self.go_on()? {
                Next::Values => {}
                Next::Later => return Ok(true),
                Next::End => return Ok(false),
            }
        }
    }

    /// Adds the values of one row to a batch, as the column with the index `wanted`.
    fn fill_row(&mut self, batch: &mut Batch, wanted: u32) -> io::Result<Filled> {
        loop {
            while self.n_given < self.n_levels {
                if self.is_inside && self.begins_row() {
                    self.is_inside = false;
                    return Ok(Filled::Row);
                }
                if batch.is_full() {
                    return Ok(Filled::Batch);
                }
                self.give(batch, wanted).map_err(|error| self.at_page(error))?;
                if !self.is_list {
                    return Ok(Filled::Row);
                }
                self.is_inside = true;
            }
            match self.go_on()? {
                Next::Values => {}
                Next::Later => return Ok(Filled::Batch),
                Next::End if std::mem::take(&mut self.is_inside) => return Ok(Filled::Row),
                Next::End => return Ok(Filled::Group),
            }
        }
    }

    /// Decodes more values, after all decoded ones have been given out.
    fn go_on(&mut self) -> io::Result<Next> {
        self.source.go_on()?;
        self.decode()?;
        if self.n_levels > 0 {
            return Ok(Next::Values);
        }
        if self.n_decoded < self.n_all && self.pages.is_ahead.load(Ordering::Relaxed) {
            return Ok(Next::Later);
        }
        let is_whole = self.rows == self.n_rows && self.n_decoded == self.n_all;
        if is_whole { Ok(Next::End) } else { Err(self.ends_early().into()) }
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

    /// Whether a row begins with the next decoded value.
    fn begins_row(&self) -> bool {
        !self.is_list || self.levels.repetition[self.n_given] == 0
    }

    /// Adds the next decoded value to a batch. A row begins with its first column.
    #[inline]
    fn give(&mut self, batch: &mut Batch, wanted: u32) -> Result<(), TableError> {
        let begins_row = self.begins_row();
        if self.rows == 0 && !begins_row {
            return Err(TableError::damaged("its row group begins inside a row"));
        }
        let definition = self.levels.definition.get(self.n_given).copied().unwrap_or_default();
        if definition > self.max_definition {
            return Err(TableError::damaged("a level that its column does not have"));
        }
        let value = (definition == self.max_definition).then(|| self.decoder.value(self.n_values));
        self.n_values += usize::from(value.is_some());
        batch.push(wanted, begins_row && wanted == 0, value)?;
        self.n_given += 1;
        self.rows += u64::from(begins_row);
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

/// What follows decoded values.
enum Next {
    Values,
    /// A page that is too long to be read ahead.
    Later,
    /// The end of the row group.
    End,
}

/// What ended with the last value.
enum Filled {
    Row,
    Batch,
    Group,
}

/// The values of the wanted columns in one row group, row by row.
struct RowGroup {
    columns: Vec<Group>,
    /// The column whose values come next.
    at: u32,
    /// The error that ended decoding ahead.
    failed: Option<io::Error>,
}

impl RowGroup {
    /// Opens row group `number`, counted from 1.
    fn new(
        source: &Arc<Source>,
        columns: &[Column],
        chunks: &[ColumnChunk],
        number: usize,
    ) -> Result<Self, TableError> {
        let groups = columns.iter().zip(chunks);
        let columns = groups.map(|(column, &chunk)| Group::new(source, column, chunk, number));
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, at: 0, failed: None })
    }

    /// Says whether long pages are left for later.
    fn set_ahead(&self, is_ahead: bool) {
        self.columns.iter().for_each(|group| group.pages.is_ahead.store(is_ahead, Ordering::Relaxed));
    }

    /// Adds values to a batch until it is full or the row group ends. Returns whether there may be more.
    fn fill(&mut self, batch: &mut Batch) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        if let [only] = &mut self.columns[..] {
            return only.fill(batch);
        }
        loop {
            let is_last = self.at as usize + 1 == self.columns.len();
            match self.columns[self.at as usize].fill_row(batch, self.at)? {
                Filled::Batch => return Ok(true),
                Filled::Group if is_last => return Ok(false),
                Filled::Row | Filled::Group => self.at = if is_last { 0 } else { self.at + 1 },
            }
        }
    }
}

/// The values of some columns in some row groups, in batches. Idle worker threads decode the next row groups ahead.
pub(crate) struct Values<'a> {
    source: Arc<Source>,
    columns: Arc<[Column]>,
    /// For each column, its part of each row group of the file.
    chunks: Vec<Vec<ColumnChunk>>,
    /// The end of the wanted row groups.
    end: usize,
    batch_len: usize,
    /// How many row groups have begun or are not wanted, and the results of the next ones that are decoded ahead.
    begun: usize,
    asked: VecDeque<Receiver<Ahead>>,
    helpers: Helpers<'a>,
    /// The row group that is being read, after the part that was decoded ahead.
    group: Option<RowGroup>,
    ready: VecDeque<Batch>,
    progress: Progress,
    /// The rows of the file minus those of all row groups, if the last one is wanted.
    missing: i128,
    /// Why no batch follows those that were returned.
    failed: Option<io::Error>,
}

impl<'a> Values<'a> {
    /// The values of `columns` in the row groups `wanted` of `chunks`, of a file with `rows` rows. Batches have about
    /// `batch_len` bytes.
    pub(super) fn new(
        source: &Arc<Source>,
        columns: Arc<[Column]>,
        chunks: Result<Vec<Vec<ColumnChunk>>, TableError>,
        rows: u64,
        (wanted, batch_len): (&Range<usize>, usize),
        helpers: Helpers<'a>,
    ) -> Self {
        let mut values = Self {
            source: Arc::clone(source),
            columns,
            chunks: Vec::new(),
            end: 0,
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
        chunks: Vec<Vec<ColumnChunk>>,
        rows: u64,
        wanted: &Range<usize>,
    ) -> Result<(), TableError> {
        let n_groups = chunks.first().map_or(0, Vec::len);
        let n_all = |of: fn(&ColumnChunk) -> u64, columns: &[Vec<ColumnChunk>], end: usize| {
            let chunks = columns.iter().flat_map(|chunks| &chunks[..end]);
            let sum: u128 = chunks.map(|chunk| u128::from(of(chunk))).sum();
            let too_many = || TableError::damaged("its footer has more rows than any file can have");
            u64::try_from(sum).ok().filter(|&sum| sum < MAX_VALUES).ok_or_else(too_many)
        };
        let first = &chunks[..chunks.len().min(1)];
        n_all(|chunk| chunk.n_values, &chunks, n_groups)?;
        let n_rows = n_all(|chunk| chunk.n_rows, first, n_groups)?;
        if wanted.end == n_groups && (wanted.start < wanted.end || wanted.start == 0) {
            self.missing = i128::from(rows) - i128::from(n_rows);
        }
        self.progress.offset = n_all(|chunk| chunk.n_values, &chunks, wanted.start)?;
        self.progress.rows = n_all(|chunk| chunk.n_rows, first, wanted.start)?;
        (self.chunks, self.begun, self.end) = (chunks, wanted.start, wanted.end);
        Ok(())
    }

    /// The parts of a row group, one for each column.
    fn chunks_of(&self, group: usize) -> Vec<ColumnChunk> {
        self.chunks.iter().map(|chunks| chunks[group]).collect()
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
            if number > self.end {
                return;
            }
            let (send, receive) = bounded(1);
            let (source, columns) = (Arc::clone(&self.source), Arc::clone(&self.columns));
            let (chunks, batch_len) = (self.chunks_of(number - 1), self.batch_len);
            let decode = move || {
                let group = RowGroup::new(&source, &columns, &chunks, number);
                Ahead::decode(group, batch_len)
            };
            // The receiver may be gone.
            let job = move || _ = send.send(decode());
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
                group.set_ahead(false);
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
        if self.begun == self.end {
            return match self.missing {
                0 => Ok(false),
                missing => Err(TableError::damaged(format!(
                    "its footer has {} {} rows than its row groups",
                    missing.unsigned_abs(),
                    if missing > 0 { "more" } else { "fewer" }
                ))),
            };
        }
        self.begun += 1;
        if let Some(ahead) = self.asked.pop_front().and_then(|ahead| ahead.recv().ok()) {
            (self.ready, self.group) = (ahead.batches, ahead.group?);
        } else {
            let chunks = self.chunks_of(self.begun - 1);
            self.group = Some(RowGroup::new(&self.source, &self.columns, &chunks, self.begun)?);
        }
        Ok(true)
    }
}

/// How many bytes of batches are decoded ahead in a row group. The last batch may exceed it.
const AHEAD_LEN: usize = 32 << 20;

/// The part of a row group that was decoded ahead, and the rest of the group.
struct Ahead {
    batches: VecDeque<Batch>,
    group: Result<Option<RowGroup>, TableError>,
}

impl Ahead {
    fn decode(group: Result<RowGroup, TableError>, batch_len: usize) -> Self {
        let mut group = group.map(Some);
        let (mut batches, mut len) = (VecDeque::new(), 0);
        while let Ok(Some(more)) = &mut group
            && len < AHEAD_LEN
        {
            more.set_ahead(true);
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
