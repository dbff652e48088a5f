//! A column of a Parquet file through the pipeline: its pages are read on the reading thread as they stand in the file, unpacked,
//! decoded and judged on several.
//!
//! Where the values of a page stand, and of which rows they are, is known when those before it have been decoded. So each piece of
//! work hands on how far the column has been read, as soon as it has decoded its values, and judges them after that.

use std::io;
use std::ops::ControlFlow;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::format::{Counts, Format};
use crate::gather::{Gatherer, Records};
use crate::parallel::in_order;
use crate::parquet::{Batch, Progress, Stretch, Table};
use crate::tally::{Place, Run, Tally};

/// How many bytes of memory a piece of work takes while no page takes more.
const PIECE_LEN: usize = 8 << 20;

/// How many bytes the pieces under way take at most, unless it is one alone or there are many threads.
const MAX_LEN: usize = 256 << 20;

/// How it is done. Nothing here changes a count.
pub(crate) struct Way<'a> {
    pub(crate) threads: usize,
    /// Is told how many fields more have been judged.
    pub(crate) judged: &'a (dyn Fn(u64) + Sync),
}

/// Judges the values of a column that are not null, those of a row as its fields.
///
/// Where the file cannot be read to its end, that is told too; all values before have been counted. Memory: 256 MiB, or 16 MiB a
/// thread if that is more, or what the largest page and its text take; 8 MiB a thread for what comes next; and the dictionaries of
/// the pages under way.
pub(crate) fn harvest_table(
    table: &Table,
    column: usize,
    input: u32,
    gatherer: &Gatherer<'_>,
    way: &Way<'_>,
) -> (Tally, Records, Option<io::Error>) {
    let mut records = Records::new(Format::Parquet);
    records.column = Some(table.columns()[column].to_string());
    let mut pages = match table.pages(column) {
        Ok(pages) => pages,
        Err(error) => return (Tally::default(), records, Some(error.into())),
    };
    let tally = Mutex::new(Tally::default());
    let room = Room::new(MAX_LEN.max(way.threads.saturating_mul(2 * PIECE_LEN)));
    let (begin, mut before) = bounded(1);
    let _ = begin.send(Progress::default());
    let mut failed = None;
    let next = || match pages.next(PIECE_LEN) {
        Ok(stretch) => stretch.map(|stretch| {
            room.take(stretch.weight());
            let (after, behind) = bounded(1);
            Piece { stretch, before: std::mem::replace(&mut before, behind), after }
        }),
        Err(error) => {
            failed = Some(error);
            None
        }
    };
    let work = |piece: Piece| {
        let weight = piece.stretch.weight();
        let judge = |batch: &Batch, from: Progress, to: Progress| {
            let run = Run { input, start: from.offset, end: to.offset, lines: to.rows - from.rows };
            // All that is in the tally so far stands before these values.
            let behind = lock(&tally).behind(Place { input, offset: from.offset });
            let first_line = from.rows + 1;
            let fields = batch.fields(from);
            let (tally, records) = gatherer.gather_fields(behind, fields, run, first_line, Format::Parquet);
            (way.judged)(records.roles.values().map(|fields| fields.judged.lines() + fields.blank).sum());
            (tally, records)
        };
        let done = piece.work(table, column, judge);
        room.give_back(weight);
        done
    };
    let mut last = Progress::default();
    let sink = |done: Option<Done>| {
        let Some(done) = done else { return ControlFlow::Break(None) };
        let mut tally = lock(&tally);
        let (some, more) = done.judged;
        *tally = std::mem::take(&mut *tally).merge(some);
        records.merge(more);
        last = done.end;
        done.failed.map_or(ControlFlow::Continue(()), |error| ControlFlow::Break(Some(error)))
    };
    let flow = in_order(way.threads, next, work, sink);
    records.counts = Counts::of(last.rows_read, last.rows - last.rows_read);
    let failed = match flow {
        ControlFlow::Break(error) => error,
        ControlFlow::Continue(()) => failed,
    };
    let failed = failed.map(|error| table.stopped_at(last.rows, error));
    (tally.into_inner().unwrap_or_else(PoisonError::into_inner), records, failed)
}

/// Some pages, and where their values begin once that is known.
struct Piece {
    stretch: Stretch,
    before: Receiver<Progress>,
    after: Sender<Progress>,
}

/// What came of some pages.
struct Done {
    judged: (Tally, Records),
    end: Progress,
    failed: Option<io::Error>,
}

impl Piece {
    /// Reads and judges the values; `None` where those before could not be read.
    fn work(
        self,
        table: &Table,
        column: usize,
        judge: impl Fn(&Batch, Progress, Progress) -> (Tally, Records),
    ) -> Option<Done> {
        let Self { stretch, before, after } = self;
        let mut batch = Batch::default();
        let (mut tally, mut records) = (Tally::default(), Records::new(Format::Parquet));
        let mut add = |batch: &Batch, from, to| {
            let (some, more) = judge(batch, from, to);
            tally = std::mem::take(&mut tally).merge(some);
            records.merge(more);
        };
        let mut begin = None;
        let read = stretch.read(&table.columns()[column], &mut batch, |batch| {
            if let Some(from) = begin.or_else(|| before.recv().ok()) {
                let to = batch.advance(from);
                add(batch, from, to);
                begin = Some(to);
            }
            batch.clear();
            // A page may hold any number of values.
            table.go_on()
        });
        let from = begin.or_else(|| before.recv().ok())?;
        let mut end = batch.advance(from);
        let mut failed = None;
        match read.and_then(|read| Ok(read.check(end)?)) {
            Ok(checked) => {
                end = checked;
                // Nobody takes it behind the last page.
                let _ = after.send(end);
            }
            Err(error) => failed = Some(error),
        }
        add(&batch, from, end);
        Some(Done { judged: (tally, records), end, failed })
    }
}

/// How much is under way.
struct Room {
    len: usize,
    taken: Mutex<usize>,
    given_back: Condvar,
}

impl Room {
    fn new(len: usize) -> Self {
        Self { len, taken: Mutex::new(0), given_back: Condvar::new() }
    }

    /// Waits until there is room for so many bytes, or all.
    fn take(&self, len: usize) {
        let is_full = |taken: &mut usize| *taken > 0 && *taken + len > self.len;
        let taken = self.given_back.wait_while(lock(&self.taken), is_full);
        *taken.unwrap_or_else(PoisonError::into_inner) += len;
    }

    fn give_back(&self, len: usize) {
        *lock(&self.taken) -= len;
        self.given_back.notify_one();
    }
}

fn lock<T>(value: &Mutex<T>) -> MutexGuard<'_, T> {
    value.lock().unwrap_or_else(PoisonError::into_inner)
}
