//! Fields of records into a tally: gathered as lines of their own, swept as any others, and put back in their places.
//!
//! The engine wants bytes with many lines in them. So the fields of a piece of records are copied one behind the other, each role
//! on its own, with a table of where each came from; what the tally has kept of a line is then looked up there. A field that holds
//! a line end, or ends in what belongs to one, is judged alone.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memchr;
use serde::{Deserialize, Serialize};

use crate::engine::sweep;
use crate::grammar::Verdict;
use crate::place::{Extent, Place};
use crate::records::{BadCause, BadRecord, Counts, Field, Format, Reader, Role};
use crate::scan::Options;
use crate::scan::count_line::Observer;
use crate::scan::long_line::LongLine;
use crate::simd::KernelId;
use crate::tally::heavy_hitters::CHUNK_LEN;
use crate::tally::{ByVerdict, MAX_EXAMPLES, Signs, Tally};

/// What was found in the records of an input, beside what its fields are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Records {
    /// How they are written down.
    pub format: Format,
    /// The column that they are read from; of formats whose files hold each column for itself.
    pub column: Option<String>,
    /// How many there are.
    pub counts: Counts,
    /// The first few that were refused for each cause, in their order.
    pub refused: BTreeMap<BadCause, Vec<BadRecord>>,
    /// The fields that they have.
    pub roles: BTreeMap<Role, Fields>,
}

/// Fields of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fields {
    /// Fields without any byte; not judged.
    pub blank: u64,
    /// The others, by verdict.
    pub judged: ByVerdict,
}

impl Records {
    /// No records yet.
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            column: None,
            counts: Counts::default(),
            refused: BTreeMap::new(),
            roles: BTreeMap::new(),
        }
    }

    /// How many fields there are, blank ones too.
    pub(crate) fn n_fields(&self) -> u64 {
        self.roles.values().map(|fields| fields.judged.lines() + fields.blank).sum()
    }

    /// Adds others of the same input.
    pub(crate) fn merge(&mut self, others: Self) {
        self.counts = std::mem::take(&mut self.counts).merge(&others.counts);
        for (cause, first) in others.refused {
            let own = self.refused.entry(cause).or_default();
            own.extend(first);
            own.sort_by_key(|bad| bad.offset);
            own.truncate(MAX_EXAMPLES);
        }
        for (role, fields) in others.roles {
            self.count(role, &fields.judged, fields.blank);
        }
    }

    /// Has the lines of the records that are shown counted from the start of the stretches that `now` has; they were counted from those
    /// of `before`. `parts`, sorted, are all that these were made of. Of other inputs than this one nothing is looked at.
    pub(crate) fn move_lines(&mut self, input: u32, before: &[Extent], parts: &[Extent], now: &[Extent]) {
        let run_at = |runs: &[Extent], offset: u64| {
            let at = runs.partition_point(|run| (run.input, run.start) <= (input, offset));
            at.checked_sub(1).map(|at| runs[at]).filter(|run| run.input == input)
        };
        for bad in self.refused.values_mut().flatten() {
            let (Some(old), Some(new)) = (run_at(before, bad.offset), run_at(now, bad.offset)) else {
                continue;
            };
            let before = |start: u64| parts.partition_point(|run| (run.input, run.start) < (input, start));
            let between = &parts[before(new.start)..before(old.start)];
            bad.line += between.iter().map(|run| run.lines).sum::<u64>();
        }
    }

    /// Notes a record that cannot be read; all of them in their order. What the reader counts is not counted here.
    pub(crate) fn refuse(&mut self, bad: BadRecord) {
        let first = self.refused.entry(bad.cause).or_default();
        if first.len() < MAX_EXAMPLES {
            first.push(bad);
        }
    }

    /// Counts a field that was judged; one without any byte has no verdict.
    pub(crate) fn add(&mut self, role: Role, verdict: Option<Verdict>) {
        let fields = self.roles.entry(role).or_default();
        match verdict {
            Some(verdict) => fields.judged.count(verdict, 1),
            None => fields.blank += 1,
        }
    }

    fn count(&mut self, role: Role, judged: &ByVerdict, blank: u64) {
        let fields = self.roles.entry(role).or_default();
        fields.judged.merge(judged);
        fields.blank += blank;
    }
}

/// Adds what was found in the next records of `input` to what was found in inputs up to it.
pub(crate) fn append(found: &mut Vec<(u32, Records)>, input: u32, some: Records) {
    match found.last_mut() {
        Some((last, records)) if *last == input => records.merge(some),
        _ => found.push((input, some)),
    }
}

/// Judges fields, those of one piece after the other; several threads may do so at once.
pub(crate) struct Gatherer<'a> {
    options: &'a Options,
    kernel: KernelId,
    /// Memory for lines that nobody uses.
    spare: Mutex<Vec<ByRole>>,
}

impl<'a> Gatherer<'a> {
    pub(crate) fn new(options: &'a Options, kernel: KernelId) -> Self {
        Self { options, kernel, spare: Mutex::default() }
    }

    /// Judges the fields of some records, the next that `reader` reads: `bytes`, which are whole records.
    ///
    /// Adds them to a tally of what stands before them, or to an empty one for what comes there ([`Tally::behind`]).
    pub(crate) fn gather(
        &self,
        tally: Tally,
        reader: &mut Reader,
        bytes: &[u8],
        ended: bool,
        input: u32,
    ) -> (Tally, Records) {
        let (start, first_line) = (reader.offset(), reader.line());
        let place = Place { input, offset: start };
        let mut gathering = Gathering::new(self, tally, place, first_line, reader.format());
        let mut signs = Signs::of(bytes, start);
        signs.unterminated &= ended;
        gathering.tally.note(input, signs);
        for field in reader.fields(bytes) {
            match field {
                Ok(field) => gathering.add(&field),
                Err(bad) => gathering.records.refuse(bad),
            }
        }
        let lines = reader.line() - first_line + u64::from(signs.unterminated);
        let run = Extent { input, start, end: start + bytes.len() as u64, lines };
        let (tally, mut records) = gathering.finish(run);
        records.counts = reader.counts().clone();
        (tally, records)
    }

    /// Judges some values of a table: those in `run`, whose first row has that number. Counts no records.
    ///
    /// Adds them to a tally as [`gather`](Self::gather) does.
    #[cfg(feature = "parquet")]
    pub(crate) fn gather_fields<'f>(
        &self,
        tally: Tally,
        fields: impl Iterator<Item = Field<'f>>,
        run: Extent,
        first_row: u64,
    ) -> (Tally, Records) {
        let place = Place { input: run.input, offset: run.start };
        let mut gathering = Gathering::new(self, tally, place, first_row, Format::Parquet);
        fields.for_each(|field| gathering.add(&field));
        gathering.finish(run)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<ByRole>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fields on their way into a tally.
struct Gathering<'a> {
    gatherer: &'a Gatherer<'a>,
    /// Where what is gathered begins in its input.
    place: Place,
    /// The number of the line in which the run begins that will be covered.
    first_line: u64,
    /// Which of the stretches it lies in that are counted together.
    chunk: u64,
    /// Whether records are lines.
    are_lines: bool,
    lines: ByRole,
    /// The fields that were judged alone.
    alone: Option<Tally>,
    records: Records,
    tally: Tally,
}

/// Fields by the number of their role.
type ByRole = [Lines; Role::ALL.len()];

/// Fields of one role, a line each.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// Where each begins in `text`, where in the input, and the number of its line there.
    table: Vec<(u64, u64, u64)>,
}

impl Lines {
    /// How many bytes it takes.
    fn memory(&self) -> usize {
        self.text.capacity() + self.table.capacity() * size_of::<(u64, u64, u64)>()
    }
}

/// How many bytes are kept for another piece at most; pieces of long records take more.
const MAX_SPARE: usize = 8 << 20;

impl<'a> Gathering<'a> {
    fn new(gatherer: &'a Gatherer<'a>, tally: Tally, place: Place, first_line: u64, format: Format) -> Self {
        Self {
            gatherer,
            place,
            first_line,
            chunk: place.offset / CHUNK_LEN,
            are_lines: format.is_cut_at_lines(),
            lines: gatherer.spare().pop().unwrap_or_default(),
            alone: None,
            records: Records::new(format),
            tally,
        }
    }

    #[inline]
    fn add(&mut self, field: &Field<'_>) {
        // What is counted by stretches of the input must not depend on how it was cut.
        if field.offset / CHUNK_LEN != self.chunk {
            self.sweep();
            self.chunk = field.offset / CHUNK_LEN;
            self.place.offset = self.chunk * CHUNK_LEN;
        }
        let line = field.line + 1 - self.first_line;
        // What stands in a line as it is cannot hold its end.
        let is_in_line = self.are_lines && matches!(field.bytes, Cow::Borrowed(_));
        if field.bytes.ends_with(b"\r") || (!is_in_line && memchr(b'\n', &field.bytes).is_some()) {
            return self.add_alone(field, line);
        }
        let Lines { text, table } = &mut self.lines[field.role as usize];
        table.push((text.len() as u64, field.offset, line));
        text.extend_from_slice(&field.bytes);
        text.push(b'\n');
    }

    #[cold]
    fn add_alone(&mut self, field: &Field<'_>, line: u64) {
        let place = Place { offset: field.offset, ..self.place };
        let mut alone = LongLine::new(place, self.gatherer.options);
        alone.feed_field(&field.bytes);
        let mut tally = alone.finish();
        tally.relocate(|offset| (offset, line));
        self.records.count(field.role, &tally.judged(), tally.blank);
        self.alone = Some(match self.alone.take() {
            Some(others) => others.merge(tally),
            None => tally,
        });
    }

    /// Judges what has been gathered so far.
    fn sweep(&mut self) {
        let Gatherer { options, kernel, .. } = *self.gatherer;
        for (lines, &role) in self.lines.iter_mut().zip(Role::ALL) {
            if lines.text.is_empty() {
                continue;
            }
            let mut tally = self.tally.behind(self.place);
            let mut observer = Observer::new(options.grammar, options.wanted(), &mut tally);
            sweep(&mut observer, kernel, &lines.text, self.place);
            let start = self.place.offset;
            let table = &lines.table;
            tally.relocate(|offset| {
                let row = table.partition_point(|&(at, ..)| at < offset - start);
                table.get(row).map_or((offset, 1), |&(_, offset, line)| (offset, line))
            });
            self.records.count(role, &tally.judged(), tally.blank);
            self.tally = std::mem::take(&mut self.tally).merge(tally);
            lines.text.clear();
            lines.table.clear();
        }
        if let Some(alone) = self.alone.take() {
            self.tally = std::mem::take(&mut self.tally).merge(alone);
        }
    }

    /// What came of the fields, which were all in `run`.
    fn finish(mut self, run: Extent) -> (Tally, Records) {
        self.sweep();
        self.tally.cover(run);
        if self.lines.iter().map(Lines::memory).sum::<usize>() <= MAX_SPARE {
            self.gatherer.spare().push(self.lines);
        }
        (self.tally, self.records)
    }
}
