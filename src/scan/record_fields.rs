//! Counts the fields of records. This file does not know how a record is written.
//!
//! The engine needs buffers with many lines. So the fields of a chunk of records are copied into a buffer, one line
//! per field, with a buffer for each wanted field and role. A table lists where each field came from. After the scan, the places of
//! examples are looked up there. Fields that contain a line end, or end in CR, have buffers of their own, and are judged one by one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{io, iter};

use memchr::memchr;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::scan::count_line::Observer;
use crate::scan::{Options, WhatwgWanted};
use crate::tally::already_shown::AlreadyShown;
use crate::tally::heavy_hitters::{CHUNK_LEN, VALUE_LEN};
use crate::tally::{ByVerdict, MAX_EXAMPLES, Signs, Tally};
use urlsift_engine::Scanners;
use urlsift_engine::example::Line;
use urlsift_engine::place::{Extent, Place};
use urlsift_grammar::Verdict;
use urlsift_grammar::password::masked_text;
use urlsift_grammar::whatwg::Url;
use urlsift_input::Advice;
use urlsift_records::field_names::Choice;
use urlsift_records::page::{Bases, Page};
use urlsift_records::{BadCause, BadRecord, Counts, Dialect, Field, Format, Reader, Role, WantedNames};

/// The records of an input: how many were read, and the verdicts of their fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Records {
    /// The format of the records.
    pub format: Format,
    /// How cells are separated and quoted, if the input is a table of text.
    pub dialect: Option<Dialect>,
    /// The pattern of log lines, if the user gave one.
    pub log_format: Option<String>,
    /// The column that the values come from, if the input is a table and they come from one column.
    pub column: Option<String>,
    /// Whether the column was chosen by its values, because no column has a usual name.
    pub by_values: bool,
    /// Whether the user gave the number of a column.
    is_numbered: bool,
    /// The names of columns or keys that there are, if no record has a wanted one.
    pub names: Vec<String>,
    /// The wanted fields that are not among `names`, if there are several wanted ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The number of records.
    pub counts: Counts,
    /// The first few refused records of each cause, in order.
    pub refused: BTreeMap<BadCause, Vec<BadRecord>>,
    /// The fields of the records, by the wanted field that selects them. Without several wanted fields, it has one element at
    /// most.
    pub selected: Vec<Selected>,
}

/// The fields that one wanted field selects, or all fields if there are not several wanted ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Selected {
    /// The wanted field, as the user named it. `None` if it is the only one, or if the format decides.
    pub name: Option<String>,
    /// What it selects, by role.
    pub roles: BTreeMap<Role, Fields>,
}

/// Fields of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Fields {
    /// Fields without any byte. They are not judged.
    pub blank: u64,
    /// The other fields, by verdict.
    pub judged: ByVerdict,
}

impl Records {
    /// Makes an empty count of records.
    pub(crate) fn new(format: Format) -> Self {
        Self {
            format,
            dialect: None,
            log_format: None,
            column: None,
            by_values: false,
            is_numbered: false,
            names: Vec::new(),
            missing: Vec::new(),
            counts: Counts::default(),
            refused: BTreeMap::new(),
            selected: Vec::new(),
        }
    }

    /// Makes an empty count of the records that `reader` reads.
    pub(crate) fn of(reader: &Reader) -> Self {
        let mut records = Self::new(reader.format());
        records.name(reader.names());
        records
    }

    /// The fields of each wanted field and role.
    pub fn fields(&self) -> impl Iterator<Item = (Role, &Fields)> {
        self.selected.iter().flat_map(|selected| &selected.roles).map(|(&role, fields)| (role, fields))
    }

    /// The number of fields, including blank ones.
    pub(crate) fn n_fields(&self) -> u64 {
        self.fields().map(|(_, fields)| fields.judged.lines() + fields.blank).sum()
    }

    /// Names the wanted fields, if there are several. Without this, several of them have counts without names.
    pub(crate) fn name(&mut self, names: &WantedNames) {
        for (n, name) in names.iter().enumerate() {
            self.selected(n).name = Some(name.to_owned());
        }
    }

    /// The fields that the wanted field with this index selects.
    fn selected(&mut self, wanted: usize) -> &mut Selected {
        if self.selected.len() <= wanted {
            self.selected.resize_with(wanted + 1, Selected::default);
        }
        &mut self.selected[wanted]
    }

    /// Takes over what a reader has found in `bytes`, which it has read.
    pub(crate) fn take(&mut self, reader: &Reader, bytes: &[u8]) {
        self.counts = reader.counts().clone();
        let origin = reader.origin();
        self.dialect = origin.dialect;
        self.log_format = origin.log_format.map(masked_text);
        let choice = origin.choice.cloned().or_else(|| {
            let has_none = self.counts.read() == 0 && self.format.has_objects();
            has_none.then(|| keys(bytes))
        });
        let choice = choice.unwrap_or_default();
        (self.column, self.by_values, self.names) = (choice.column, choice.by_values, choice.names);
        self.is_numbered = choice.is_numbered;
        self.name(reader.names());
        let missing = choice.missing.into_iter().filter_map(|n| self.selected.get(n)?.name.clone());
        self.missing = missing.collect();
    }

    /// Why the wanted columns of a table cannot be read; `None` if they can.
    pub(crate) fn missing_column(&self) -> Option<io::Error> {
        let kind = io::ErrorKind::InvalidInput;
        if self.counts.read() > 0 {
            None
        } else if self.counts.refused(BadCause::NoColumn) > 0 && !self.names.is_empty() {
            let columns = self.names.join(", ");
            let what = match &self.missing[..] {
                [] => "such column".to_owned(),
                missing => format!("column {}", missing.join(" and no column ")),
            };
            let what = format!("it has no {what}; its columns are {columns}");
            Some(Advice::ChooseField.error(kind, what))
        } else {
            let has_few = self.is_numbered && self.counts.refused(BadCause::TooFewFields) > 0;
            has_few.then(|| Advice::ChooseSmallerNumber.error(kind, "no record has as many columns"))
        }
    }

    /// Adds other records of the same input.
    pub(crate) fn merge(&mut self, others: Self) {
        self.dialect = self.dialect.or(others.dialect);
        self.log_format = self.log_format.take().or(others.log_format);
        if self.column.is_none() {
            (self.column, self.by_values) = (others.column, others.by_values);
        }
        self.is_numbered |= others.is_numbered;
        if self.names.is_empty() {
            (self.names, self.missing) = (others.names, others.missing);
        }
        if self.format.has_objects() && (self.counts.read() > 0 || others.counts.read() > 0) {
            self.names.clear();
        }
        self.counts = std::mem::take(&mut self.counts).merge(&others.counts);
        for (cause, first) in others.refused {
            let own = self.refused.entry(cause).or_default();
            own.extend(first);
            own.sort_by_key(|bad| bad.offset);
            own.truncate(MAX_EXAMPLES);
        }
        for (n, others) in others.selected.into_iter().enumerate() {
            let own = self.selected(n);
            own.name = own.name.take().or(others.name);
            for (role, fields) in others.roles {
                own.roles.entry(role).or_default().add(&fields.judged, fields.blank);
            }
        }
    }

    /// Rebases the line numbers of refused records from the runs in `before` onto the runs in `now`.
    ///
    /// `parts` lists, sorted, all runs that the runs in `now` consist of. Runs of inputs other than `input` are
    /// ignored.
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

    /// Notes a record that cannot be read. Calls must follow the order of the records. The reader counts these
    /// records.
    pub(crate) fn refuse(&mut self, bad: BadRecord) {
        let first = self.refused.entry(bad.cause).or_default();
        if first.len() < MAX_EXAMPLES {
            first.push(bad);
        }
    }

    /// Counts a judged field that the wanted field with this index selects. A field without any byte has no verdict.
    pub(crate) fn add(&mut self, wanted: u32, role: Role, verdict: Option<Verdict>) {
        let fields = self.selected(wanted as usize).roles.entry(role).or_default();
        match verdict {
            Some(verdict) => fields.judged.count(verdict, 1),
            None => fields.blank += 1,
        }
    }

    /// Counts the fields of a tally that the wanted field with this index selects.
    fn count(&mut self, wanted: usize, role: Role, tally: &Tally) {
        self.selected(wanted).roles.entry(role).or_default().add(&tally.judged(), tally.blank);
    }
}

impl Fields {
    fn add(&mut self, judged: &ByVerdict, blank: u64) {
        self.judged.merge(judged);
        self.blank += blank;
    }
}

/// How many JSON objects are searched for keys.
const OBJECTS: usize = 10;

/// The keys of the first JSON objects in `bytes`, and pointers to the values inside other objects.
fn keys(bytes: &[u8]) -> Choice {
    let mut rest = bytes;
    // Before an object may be the start of an array, a comma, or the other columns of CDXJ.
    let objects = iter::from_fn(|| {
        rest = &rest[memchr(b'{', rest)?..];
        let mut objects = serde_json::Deserializer::from_slice(rest).into_iter::<Map<String, Value>>();
        let object = objects.next()?.ok()?;
        rest = &rest[objects.byte_offset()..];
        Some(object)
    });
    let names = |(key, value): (String, Value)| {
        let pointer = format!("/{}", token(&key));
        names_in(key, &pointer, value)
    };
    let mut known = HashSet::new();
    Choice::none_of(objects.take(OBJECTS).flatten().flat_map(names).filter(|name| known.insert(name.clone())))
}

/// Pointers to the values inside `value`, which `pointer` leads to, or its `name` if it has no objects.
fn names_in(name: String, pointer: &str, value: Value) -> Vec<String> {
    let inside: Vec<_> = match value {
        Value::Object(members) => members.into_iter().map(|(key, value)| (token(&key), value)).collect(),
        Value::Array(values) => {
            let nested = values.into_iter().filter(|value| value.is_object() || value.is_array());
            nested.map(|value| ("*".to_owned(), value)).collect()
        }
        _ => Vec::new(),
    };
    if inside.is_empty() {
        return vec![name];
    }
    let names = |(token, value)| {
        let pointer = format!("{pointer}/{token}");
        names_in(pointer.clone(), &pointer, value)
    };
    inside.into_iter().flat_map(names).collect()
}

/// A key as a pointer writes it ([`Selector::Pointer`](urlsift_records::Selector::Pointer)).
fn token(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1").replace('*', "~2")
}

/// Adds records of `input` to the last entry if that has the same input. Otherwise appends an entry.
pub(crate) fn append(found: &mut Vec<(u32, Records)>, input: u32, some: Records) {
    match found.last_mut() {
        Some((last, records)) if *last == input => records.merge(some),
        _ => found.push((input, some)),
    }
}

/// Judges the fields of chunks, one chunk per call. Several threads may call it at once.
pub(crate) struct Gatherer<'a> {
    options: &'a Options,
    pub(crate) scanners: Scanners,
    /// Buffers that are not in use.
    spare: Mutex<Vec<Buffers>>,
}

impl<'a> Gatherer<'a> {
    pub(crate) fn new(options: &'a Options, scanners: Scanners) -> Self {
        Self { options, scanners, spare: Mutex::default() }
    }

    /// Judges the fields of `bytes`, whole records that `reader` reads next.
    ///
    /// Adds them to `tally`. Kinds in `shown` get no examples.
    pub(crate) fn gather(
        &self,
        tally: &mut Tally,
        shown: &AlreadyShown,
        reader: &mut Reader,
        bytes: &[u8],
        ended: bool,
        input: u32,
    ) -> Records {
        let (start, first_line) = (reader.offset(), reader.line());
        let place = Place { input, offset: start };
        let mut gathering = Gathering::new(self, tally, shown, place, first_line, reader.format());
        let mut signs = Signs::of(bytes, start);
        signs.unterminated &= ended;
        gathering.tally.note(input, signs);
        let mut fields = reader.fields(bytes);
        while let Some(field) = fields.next() {
            // By reference: a copy of a field waits until its last words are stored.
            match &field {
                Ok(field) => gathering.add(field, fields.page(field.wanted)),
                Err(bad) => gathering.records.refuse(*bad),
            }
        }
        let lines = reader.line() - first_line + u64::from(signs.unterminated);
        let run = Extent::of_bytes(input, start, start + bytes.len() as u64, lines);
        let mut records = gathering.finish(run);
        records.take(reader, bytes);
        records
    }

    /// Judges values of a Parquet column: those in `run`, whose first row has the number `first_row`. Counts no
    /// records.
    ///
    /// Adds them to `tally` as [`gather`](Self::gather) does.
    #[cfg(feature = "parquet")]
    pub(crate) fn gather_fields<'f>(
        &self,
        tally: &mut Tally,
        shown: &AlreadyShown,
        fields: impl Iterator<Item = Field<'f>>,
        run: Extent,
        first_row: u64,
    ) -> Records {
        let place = Place { input: run.input, offset: run.start };
        let mut gathering = Gathering::new(self, tally, shown, place, first_row, Format::Parquet);
        fields.for_each(|field| gathering.add(&field, &Page::NONE));
        gathering.finish(run)
    }

    fn spare(&self) -> MutexGuard<'_, Vec<Buffers>> {
        self.spare.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The fields of one chunk on their way into a tally.
struct Gathering<'a> {
    gatherer: &'a Gatherer<'a>,
    /// Where the gathered fields begin in their input.
    place: Place,
    /// The number of the line or row at which the run begins that [`finish`](Self::finish) covers.
    first_line: u64,
    /// How many bytes an offset stands for where names are counted: 1, and [`VALUE_LEN`] in a column.
    unit: u64,
    /// The number of the chunk ([`CHUNK_LEN`] bytes of the input) that contains the gathered fields.
    chunk: u64,
    /// Whether records are lines.
    are_lines: bool,
    lines: Buffers,
    /// What the WHATWG parser parses the gathered fields against, if it does.
    bases: Option<Bases<'a, Url>>,
    records: Records,
    tally: &'a mut Tally,
    /// The examples that the tally need not keep.
    shown: &'a AlreadyShown,
}

/// Gathered fields. For each wanted field and role there are two elements: fields that are lines, and those that are not.
type Buffers = Vec<Lines>;

/// The number of roles.
const N_ROLES: usize = Role::ALL.len();

/// Fields of one wanted field and role, with an LF after each.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    /// For each field: where it begins in `text`, where in the input, and the number of its line.
    table: Vec<(u64, u64, u64)>,
}

impl Lines {
    /// The size of its buffers in bytes.
    fn memory(&self) -> usize {
        self.text.capacity() + self.table.capacity() * size_of::<(u64, u64, u64)>()
    }

    /// Counts fields that are not lines. `place` is in their input, where an offset stands for `unit` bytes.
    fn observe_alone(&self, observer: &mut Observer<'_>, place: Place, unit: u64) {
        let start = |&(at, ..): &(u64, u64, u64)| usize::try_from(at).expect("a buffer is in memory");
        let ends = self.table.iter().skip(1).map(start).chain([self.text.len()]);
        for (field, end) in self.table.iter().zip(ends) {
            let (value, &(_, offset, line)) = (&self.text[start(field)..end - 1], field);
            let at = |unit| Place { offset: offset * unit, ..place };
            let number = || line;
            let entry = Line { is_open: observer.wanted.is_of_text, ..Line::whole(at(1), &number, value) };
            observer.observe_value(&entry, value, at(unit));
        }
        observer.tally.cover(Extent::of_bytes(place.input, 0, 0, 0));
    }
}

/// Lines are scanned when there are more bytes of one field and role than this.
const MAX_TEXT: usize = 1 << 20;
const _: () = assert!((MAX_TEXT as u64) < CHUNK_LEN);

/// The largest buffers that are kept for another chunk, in bytes. Chunks of long records need larger ones.
const MAX_SPARE: usize = 8 << 20;

impl<'a> Gathering<'a> {
    fn new(
        gatherer: &'a Gatherer<'a>,
        tally: &'a mut Tally,
        shown: &'a AlreadyShown,
        place: Place,
        first_line: u64,
        format: Format,
    ) -> Self {
        let unit = if format == Format::Parquet { VALUE_LEN } else { 1 };
        Self {
            gatherer,
            place,
            first_line,
            unit,
            chunk: place.offset * unit / CHUNK_LEN,
            are_lines: format.is_cut_at_lines(),
            lines: gatherer.spare().pop().unwrap_or_default(),
            bases: gatherer.options.whatwg.as_ref().map(|whatwg| Bases::new(whatwg.base.as_ref())),
            records: Records::new(format),
            tally,
            shown,
        }
    }

    /// Adds a field of `page`.
    #[inline]
    fn add(&mut self, field: &Field<'_>, page: &Page) {
        if self.bases.as_ref().is_some_and(|bases| !bases.are_of(page)) {
            self.scan_lines();
            self.bases.iter_mut().for_each(|bases| bases.turn_to(page));
        }
        // Names are counted per chunk of `CHUNK_LEN` bytes, so that the result does not depend on how the input was
        // cut.
        let chunk = field.offset * self.unit / CHUNK_LEN;
        if chunk != self.chunk {
            self.scan_lines();
            self.chunk = chunk;
            self.place.offset = self.chunk * CHUNK_LEN / self.unit;
        }
        let line = field.line + 1 - self.first_line;
        // A field borrowed from a record that is a line cannot contain an LF.
        let is_in_line = self.are_lines && matches!(field.bytes, Cow::Borrowed(_));
        let is_alone = field.bytes.ends_with(b"\r") || (!is_in_line && memchr(b'\n', &field.bytes).is_some());
        let n = 2 * (field.wanted as usize * N_ROLES + field.role as usize) + usize::from(is_alone);
        if n >= self.lines.len() {
            self.more_buffers(n);
        }
        let Lines { text, table } = &mut self.lines[n];
        table.push((text.len() as u64, field.offset, line));
        text.extend_from_slice(&field.bytes);
        text.push(b'\n');
        // Fields of decoded pages can be a thousand times as long as their chunk.
        if text.len() > MAX_TEXT {
            self.scan_lines();
        }
    }

    /// Makes a buffer with this index.
    #[cold]
    fn more_buffers(&mut self, n: usize) {
        self.lines.resize_with(n + 1, Lines::default);
    }

    /// The options for fields of a role, with the base that they have.
    fn options(&self, role: Role) -> Cow<'a, Options> {
        let options = self.gatherer.options;
        match &self.bases {
            None => Cow::Borrowed(options),
            Some(bases) => {
                let whatwg = Some(WhatwgWanted { base: bases.of(role).cloned() });
                Cow::Owned(Options { whatwg, ..options.clone() })
            }
        }
    }

    /// Judges the fields gathered so far.
    fn scan_lines(&mut self) {
        // Each line of a buffer begins less than `MAX_TEXT` after its start, and so within the chunk.
        let start = self.chunk * CHUNK_LEN;
        let counted_at = Place { offset: start, ..self.place };
        for n in 0..self.lines.len() {
            if self.lines[n].text.is_empty() {
                continue;
            }
            let (wanted, role) = (n / 2 / N_ROLES, Role::ALL[n / 2 % N_ROLES]);
            let options = self.options(role);
            let lines = &mut self.lines[n];
            let shown = self.shown.with(self.tally, self.place);
            let mut tally = Tally::default();
            let mut observer = Observer::new(&options, &mut tally, &shown);
            observer.wanted.is_of_text = self.records.format.ends_at_delimiters();
            let table = &lines.table;
            if n % 2 == 0 {
                let scanners = &self.gatherer.scanners;
                scanners.with(|scanner| scanner.scan(&mut observer, &lines.text, counted_at));
                tally.relocate(|offset| {
                    let row = table.partition_point(|&(at, ..)| at < offset - start);
                    table.get(row).map_or((offset, 1), |&(_, offset, line)| (offset, line))
                });
            } else {
                lines.observe_alone(&mut observer, self.place, self.unit);
            }
            self.records.count(wanted, role, &tally);
            *self.tally = std::mem::take(self.tally).merge(tally);
            lines.text.clear();
            lines.table.clear();
        }
    }

    /// Judges the remaining fields and covers `run`, which contains all fields.
    fn finish(mut self, run: Extent) -> Records {
        self.scan_lines();
        self.tally.cover(run);
        if self.lines.iter().map(Lines::memory).sum::<usize>() <= MAX_SPARE {
            self.gatherer.spare().push(self.lines);
        }
        self.records
    }
}
