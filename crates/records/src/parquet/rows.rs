//! The values of one or several columns, row by row.
//!
//! The memory for decoding is limited in advance, for each column: 128 MiB each for a page and a dictionary, compressed and
//! decompressed, and 8 bytes for each value of a dictionary.
//!
//! Each thread that decodes ahead uses [`AHEAD_LEN`] bytes for batches, and pages of up to 8 MiB.

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};

use super::batch::{Batch, Progress};
use super::decode::{Decoded, Page};
use super::error::TableError;
use super::footer::{Column, ColumnChunk};
use super::page::{Pages, Source};
use urlsift_input::workers::Helpers;

/// More values, nulls and rows than any file can have.
const MAX_VALUES: u64 = 1 << 57;

/// The columns that are read, and their part of each row group of the file.
struct Wanted {
    source: Arc<Source>,
    columns: Vec<Column>,
    chunks: Vec<Vec<ColumnChunk>>,
}

/// The values of a column in one row group.
struct Group {
    pages: Pages,
    page: Option<Page>,
    /// The values and nulls that were decoded last, and how many of them were given out.
    decoded: Vec<Decoded>,
    n_given: usize,
    is_list: bool,
    /// Whether values of the last row may follow. Used if there are several columns.
    is_inside: bool,
    /// The number of the row group, from 1, how many rows it has, and how many have begun.
    number: usize,
    n_rows: u64,
    rows: u64,
}

/// What ended with the last value.
enum Filled {
    Row,
    Batch,
    Group,
}

impl Group {
    /// Opens a column of row group `number`, counted from 1.
    fn open(wanted: &Wanted, column: usize, number: usize) -> Result<Self, TableError> {
        let (column, chunk) = (&wanted.columns[column], wanted.chunks[column][number - 1]);
        let within = |error: TableError| error.within(format_args!("row group {number}"));
        let is_list = column.is_list();
        let fits = if is_list { chunk.n_values >= chunk.n_rows } else { chunk.n_values == chunk.n_rows };
        if !fits {
            let message = format!("{} values in {} rows", chunk.n_values, chunk.n_rows);
            return Err(within(TableError::damaged(message)));
        }
        Ok(Self {
            pages: Pages::new(&wanted.source, column, chunk).map_err(within)?,
            page: None,
            decoded: Vec::new(),
            n_given: 0,
            is_list,
            is_inside: false,
            number,
            n_rows: chunk.n_rows,
            rows: 0,
        })
    }

    /// Adds values to a batch, as the column with the index `wanted`, until the batch is full or the row group ends. With
    /// `one_row`, a row may end it too.
    fn fill(&mut self, batch: &mut Batch, wanted: u32, one_row: bool) -> io::Result<Filled> {
        loop {
            while let Some(next) = self.decoded.get(self.n_given) {
                if self.is_inside && next.begins_row {
                    self.is_inside = false;
                    return Ok(Filled::Row);
                }
                if batch.is_full() {
                    return Ok(Filled::Batch);
                }
                if self.rows == 0 && !next.begins_row {
                    return Err(self
                        .at_page(TableError::damaged("its row group begins inside a row"))
                        .into());
                }
                let value = self.page.as_ref().zip(next.span).map(|(page, span)| page.value(span));
                // A row begins with its first column.
                let pushed = batch.push(wanted, next.begins_row && wanted == 0, value);
                pushed.map_err(|error| self.at_page(error))?;
                self.rows += u64::from(next.begins_row);
                self.n_given += 1;
                if one_row && !self.is_list {
                    return Ok(Filled::Row);
                }
                self.is_inside = one_row;
            }
            if !self.decode()? {
                return Ok(match self.pages.goes_on() {
                    true => Filled::Batch,
                    false if std::mem::take(&mut self.is_inside) => Filled::Row,
                    false => Filled::Group,
                });
            }
        }
    }

    /// Decodes more values, after all decoded ones have been given out. Returns `false` at the end of the row group, or before a
    /// page that is too long to be read ahead.
    fn decode(&mut self) -> io::Result<bool> {
        self.pages.source.go_on()?;
        self.decoded.clear();
        self.n_given = 0;
        if self.page.as_ref().is_none_or(|page| page.left == 0) {
            // The memory of the last page is free before the next one is read.
            self.page = None;
            self.page = self.pages.next().map_err(|error| {
                error.downcast().map_or_else(|error| error, |error| self.at_page(error).into())
            })?;
        }
        if let Some(page) = &mut self.page {
            let decoded = page.decode(&mut self.decoded);
            decoded.inspect_err(|_| self.decoded.clear()).map_err(|error| self.at_page(error))?;
        } else if !self.pages.goes_on() && self.rows != self.n_rows {
            let message = format!(
                "row group {}: it ends after {} rows, and has {}",
                self.number, self.rows, self.n_rows
            );
            return Err(TableError::damaged(message).into());
        }
        Ok(self.page.is_some())
    }

    fn at_page(&self, error: TableError) -> TableError {
        error.within(format_args!("row group {}, page at byte {}", self.number, self.pages.offset))
    }
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
    fn open(wanted: &Wanted, number: usize) -> Result<Self, TableError> {
        let columns = (0..wanted.columns.len()).map(|column| Group::open(wanted, column, number));
        Ok(Self { columns: columns.collect::<Result<_, _>>()?, at: 0, failed: None })
    }

    /// Adds values to a batch until it is full or the row group ends. Returns whether there may be more.
    fn fill(&mut self, batch: &mut Batch, is_ahead: bool) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let n_columns = self.columns.len();
        loop {
            let is_last = self.at as usize + 1 == n_columns;
            let column = &mut self.columns[self.at as usize];
            column.pages.is_ahead = is_ahead;
            match column.fill(batch, self.at, n_columns > 1)? {
                Filled::Batch => return Ok(true),
                Filled::Group if is_last => return Ok(false),
                Filled::Row | Filled::Group => self.at = if is_last { 0 } else { self.at + 1 },
            }
        }
    }
}

/// The values of some columns in some row groups, in batches. Idle worker threads decode the next row groups ahead.
pub struct Values<'a> {
    wanted: Arc<Wanted>,
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
    /// The values of `columns` in the row groups `range` of `chunks`, of a file with `rows` rows. Batches have about `batch_len`
    /// bytes.
    pub(super) fn new(
        source: &Arc<Source>,
        columns: Vec<Column>,
        chunks: Result<Vec<Vec<ColumnChunk>>, TableError>,
        rows: u64,
        range: Range<usize>,
        batch_len: usize,
        helpers: Helpers<'a>,
    ) -> Self {
        // What precedes the row groups is known from the footer.
        let known = chunks.and_then(|chunks| Ok((before(&chunks, rows, &range)?, chunks, range, None)));
        let ((progress, missing), chunks, range, failed) =
            known.unwrap_or_else(|error| (Default::default(), Vec::new(), 0..0, Some(error.into())));
        Self {
            wanted: Arc::new(Wanted { source: Arc::clone(source), columns, chunks }),
            end: range.end,
            batch_len,
            begun: range.start,
            asked: VecDeque::new(),
            helpers,
            group: None,
            ready: VecDeque::new(),
            progress,
            missing,
            failed,
        }
    }

    /// How far the column has been read.
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Returns the next values, or `None` at the end. Their text uses the memory of `spare`, which is left empty.
    ///
    /// # Errors
    /// When the rest of the file cannot be read. All values before it have been returned.
    pub fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Batch>> {
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
            let (send, receive) = sync_channel(1);
            let (wanted, batch_len) = (Arc::clone(&self.wanted), self.batch_len);
            // The receiver may be gone.
            let job = move || _ = send.send(Ahead::decode(RowGroup::open(&wanted, number), batch_len));
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
                if group.fill(batch, false)? {
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
            self.group = Some(RowGroup::open(&self.wanted, self.begun)?);
        }
        Ok(true)
    }
}

/// Returns how far columns are read before the row groups `range`, and how many rows the file has beyond those of all row groups, if
/// `range` has the last one.
fn before(
    chunks: &[Vec<ColumnChunk>],
    rows: u64,
    range: &Range<usize>,
) -> Result<(Progress, i128), TableError> {
    let sum = |of: fn(&ColumnChunk) -> u64, columns: &[Vec<ColumnChunk>], end: usize| {
        let chunks = columns.iter().flat_map(|chunks| &chunks[..end]);
        let sum: u128 = chunks.map(|chunk| u128::from(of(chunk))).sum();
        let too_many = || TableError::damaged("its footer has more rows than any file can have");
        u64::try_from(sum).ok().filter(|&sum| sum < MAX_VALUES).ok_or_else(too_many)
    };
    let (first, n_groups) = (&chunks[..chunks.len().min(1)], chunks.first().map_or(0, Vec::len));
    sum(|chunk| chunk.n_values, chunks, n_groups)?;
    let n_rows = sum(|chunk| chunk.n_rows, first, n_groups)?;
    let has_last = range.end == n_groups && (range.start < range.end || range.start == 0);
    let missing = if has_last { i128::from(rows) - i128::from(n_rows) } else { 0 };
    let offset = sum(|chunk| chunk.n_values, chunks, range.start)?;
    let rows = sum(|chunk| chunk.n_rows, first, range.start)?;
    Ok((Progress { offset, rows, ..Progress::default() }, missing))
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
            let mut batch = Batch::within(&mut Vec::new(), batch_len);
            let filled = more.fill(&mut batch, true);
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
