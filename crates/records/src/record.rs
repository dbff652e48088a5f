//! The reader of each format: a trait that its file implements, and what passes between it and [`Reader`](super::Reader).

use std::borrow::Cow;

use memchr::{memchr, memchr_iter};

use super::counts::{BadCause, Miss, Outcome, Skip};
use super::dialect::Dialect;
use super::field_names::Choice;
use super::page::Page;
use super::selector::{Role, Selector};
use super::separators::{Marks, Set};
use urlsift_engine::lines::{last_end, trim_terminator};

/// The longest record that is read, in bytes. Longer ones are refused ([`BadCause::TooLong`]), which bounds the memory of a
/// reader.
pub const MAX_RECORD_LEN: usize = 8 << 20;

/// Reads the records of one format. The table of formats names a reader for each.
pub(super) trait RecordReader {
    /// Reads the record at the cursor, which the caller then moves. In formats that step through separators, the next of the cursor's
    /// marks is there or later. Afterwards this mark is after the record.
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a>;

    /// The bytes that [`Marks`] search for: what separates fields and records, or delimits strings. Some readers use none.
    fn separators(&self) -> Set {
        [b'\n'; 3]
    }

    /// Finds out how many of `bytes`, which begin at `offset` of the input, are whole records. At the end of the input (`ended`)
    /// these are all of them. The reader moves past them, and learns from headers.
    fn cut(&mut self, bytes: &[u8], _offset: u64, ended: bool) -> Cut {
        let cut = Cut::at_lines(bytes, ended);
        self.learn(&bytes[..cut.len]);
        cut
    }

    /// Learns from headers among whole lines, which the reader moves past without reading them.
    fn learn(&mut self, _lines: &[u8]) {}

    /// Finds the next record in `bytes`, which begin at `offset` of the input. Returns what precedes it, or all bytes. It is called
    /// before each record of a format that has no text records ([`Format::has_text_records`](super::Format::has_text_records)).
    fn seek(&mut self, _bytes: &[u8], _offset: u64) -> Gap {
        Gap::default()
    }

    /// Where the rest of a record ends that was too long; `None` if `bytes` do not contain its end.
    fn end_of_rest(&self, bytes: &[u8]) -> Option<usize> {
        memchr(b'\n', bytes).map(|lf| lf + 1)
    }

    /// What is wrong with the input, if it ends here; `None` if nothing is, or a refused record says it.
    fn complaint(&self) -> Option<String> {
        None
    }

    /// The page that the last field is from, which the wanted field with this index selects.
    fn page(&self, _wanted: u32) -> &Page {
        &Page::NONE
    }

    /// What a report says about how the input is read.
    fn origin(&self) -> Origin<'_> {
        Origin::default()
    }

    /// Reads a table in this dialect from now on. Other readers have none.
    fn set_dialect(&mut self, _dialect: Dialect) {}
}

/// How an input is read, for reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Origin<'r> {
    /// The column of a table that has the fields. `None` if it is no table, or no record was read yet.
    pub choice: Option<&'r Choice>,
    /// The dialect of a table of text.
    pub dialect: Option<Dialect>,
    /// The pattern that a user gave for log lines.
    pub log_format: Option<&'r str>,
}

/// The whole records at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Their length in bytes.
    pub(super) len: usize,
    /// Whether the last one is too long to be held, and continues after these bytes.
    pub(super) is_open: bool,
}

impl Cut {
    pub(super) fn at(len: usize) -> Self {
        Self { len, is_open: false }
    }

    /// The whole lines in `bytes`.
    pub(super) fn at_lines(bytes: &[u8], ended: bool) -> Self {
        Self::at(if ended { bytes.len() } else { last_end(bytes).unwrap_or(0) }).or_open(bytes)
    }

    /// The same, unless there is no whole record, and the first one is too long. Then it continues after `bytes`.
    pub(super) fn or_open(self, bytes: &[u8]) -> Self {
        let is_open = self.len == 0 && bytes.len() > MAX_RECORD_LEN;
        if is_open { Self { len: bytes.len(), is_open } } else { self }
    }
}

/// Bytes that belong to no record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Gap {
    pub(super) len: usize,
    /// How many LFs they contain.
    pub(super) lines: u64,
}

impl Gap {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self { len: bytes.len(), lines: n_lines(bytes) }
    }
}

/// Bytes with whole records, and a place among them.
#[derive(Debug)]
pub(super) struct Cursor<'a> {
    /// The separators in the bytes.
    pub(super) marks: Marks<'a>,
    /// Where the bytes begin in the input.
    pub(super) base: u64,
    /// Where the next record begins in the bytes.
    pub(super) at: usize,
    /// The fields of the current record after the first.
    pub(super) more: Vec<Part<'a>>,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of `bytes`, which begin at `base` of the input.
    pub(super) fn new(separators: Set, bytes: &'a [u8], base: u64) -> Self {
        Self { marks: Marks::new(separators, bytes), base, at: 0, more: Vec::new() }
    }

    /// The bytes from the next record on.
    #[inline(always)]
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.marks.bytes()[self.at..]
    }

    /// Where the next record begins in the input.
    #[inline(always)]
    pub(super) fn offset(&self) -> u64 {
        self.base + self.at as u64
    }
}

/// Whether an input begins like a format.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Begins {
    No,
    /// It may, if more bytes show it.
    Perhaps,
    /// It does, but more bytes may show another format.
    Likely,
    Yes,
}

impl Begins {
    pub(super) fn yes_if(is_so: bool) -> Self {
        if is_so { Self::Yes } else { Self::No }
    }
}

/// A field, as the reader of a format finds it.
#[derive(Debug)]
pub struct Part<'a> {
    pub role: Role,
    /// The index of the wanted field that selects it, or 0.
    pub wanted: u32,
    pub bytes: Cow<'a, [u8]>,
    /// Its offset in the record.
    pub at: usize,
}

/// The same bytes, moved word by word. A load of two words that were just stored one by one stalls.
#[inline(always)]
#[expect(clippy::needless_match, reason = "the compiler would move two words at once")]
pub(super) fn by_words(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(bytes),
        owned @ Cow::Owned(_) => owned,
    }
}

/// The fields of a record. Most records have one, which then stays in registers.
pub(super) struct Parts<'m, 'a> {
    pub(super) first: Option<Part<'a>>,
    /// All fields but the first. All records share this memory.
    more: &'m mut Vec<Part<'a>>,
}

impl<'m, 'a> Parts<'m, 'a> {
    /// Starts without fields. `more` receives all but the first.
    #[inline(always)]
    pub(super) fn new(more: &'m mut Vec<Part<'a>>) -> Self {
        Self { first: None, more }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, part: Part<'a>) {
        let part = Part { bytes: by_words(part.bytes), ..part };
        if self.first.is_none() {
            self.first = Some(part);
        } else {
            self.more.push(part);
        }
    }

    /// The number of fields so far.
    pub(super) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    /// Notes that the wanted field with this index selects all fields but the first `n`.
    pub(super) fn select_from(&mut self, n: usize, wanted: u32) {
        let others = self.first.iter_mut().chain(self.more.iter_mut()).skip(n);
        others.for_each(|part| part.wanted = wanted);
    }

    /// Returns `Ok` if there is a field, and [`Skip::NoField`] otherwise.
    #[inline(always)]
    pub(super) fn or_skip(&self) -> Outcome {
        if self.first.is_some() { Ok(()) } else { Err(Miss::Skipped(Skip::NoField)) }
    }
}

/// A record that has been read.
pub(super) struct Record<'a> {
    /// Its length in bytes, including its terminator.
    pub(super) len: usize,
    /// How many LFs it contains.
    pub(super) lines: u64,
    /// The first field; if there is none, `miss` says why. These are two members because the compiler stores an enum in parts of
    /// a few bytes. A load of a word that was just stored in parts stalls.
    pub(super) first: Option<Part<'a>>,
    pub(super) miss: Option<Miss>,
    /// Whether it is too long, and continues after the bytes.
    pub(super) is_open: bool,
}

impl<'a> Record<'a> {
    #[inline(always)]
    pub(super) fn new(len: usize, lines: u64, parts: Parts<'_, 'a>, outcome: Outcome) -> Self {
        let first = if outcome.is_ok() { parts.first } else { None };
        Self { len, lines, first, miss: outcome.err(), is_open: false }
    }

    /// The record `bytes`, which has no field.
    pub(super) fn without_field(bytes: &[u8], miss: Miss) -> Self {
        Self { len: bytes.len(), lines: n_lines(bytes), first: None, miss: Some(miss), is_open: false }
    }

    /// A record that is the line `bytes`. `read` gets this line without its terminator, unless it is blank or too long.
    #[inline(always)]
    pub(super) fn line(
        bytes: &'a [u8],
        more: &mut Vec<Part<'a>>,
        read: impl FnOnce(&'a [u8], &mut Parts<'_, 'a>) -> Outcome,
    ) -> Self {
        let mut parts = Parts::new(more);
        let line = without_end(bytes);
        let outcome = if line.len() > MAX_RECORD_LEN {
            Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN))
        } else if line.is_empty() {
            Err(Miss::Skipped(Skip::Blank))
        } else {
            read(line, &mut parts)
        };
        let ends = bytes.ends_with(b"\n");
        // The end of a line that is too long may be in a later chunk.
        let is_open = !ends && matches!(outcome, Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN)));
        Self { is_open, ..Self::new(bytes.len(), u64::from(ends), parts, outcome) }
    }
}

/// Why a reader of lines refuses the line `line`; `None` if it does not.
pub(super) fn refusal(reader: &mut impl RecordReader, line: &[u8]) -> Option<BadCause> {
    match reader.read(&mut Cursor::new(reader.separators(), line, 0)).miss {
        Some(Miss::Bad(cause, _)) => Some(cause),
        Some(Miss::Skipped(_)) | None => None,
    }
}

/// Refuses any field, for formats that have none to choose. The error is the index of the first one.
pub(super) fn none_of(fields: &[Selector]) -> Result<(), usize> {
    if fields.is_empty() { Ok(()) } else { Err(0) }
}

/// The number of LFs in `bytes`.
#[inline]
pub(super) fn n_lines(bytes: &[u8]) -> u64 {
    if u8::try_from(bytes.len()).is_ok() {
        // Most records are too short for what starts a search. As bytes, many are added at once.
        return bytes.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>().into();
    }
    memchr_iter(b'\n', bytes).count() as u64
}

/// A line without its terminator. A line that is too long loses only its LF, because it may be cut inside its CRs.
pub fn without_end(line: &[u8]) -> &[u8] {
    let all = line.strip_suffix(b"\n").unwrap_or(line);
    if all.len() > MAX_RECORD_LEN { all } else { trim_terminator(all).0 }
}

/// The first line of `bytes`, with its terminator.
#[inline]
pub(super) fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr(b'\n', bytes).map_or(bytes.len(), |lf| lf + 1)]
}
