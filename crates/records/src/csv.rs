//! Reads comma-separated values (RFC 4180), and the same in other dialects.
//!
//! A field that begins with a quote ends at the next quote that is not doubled, even if that is on a later line. A quote anywhere
//! else is an ordinary byte. Text after a closing quote belongs to the field. The csv crate and Python's csv module treat quotes
//! the same way. A record ends with an LF and all CRs directly before it. A record that begins with "#" is a comment. So is a first
//! line `sep=;`.
//!
//! If backslashes escape, the byte after one is part of its cell, whatever it is. Then the backslash disappears before a delimiter, a
//! line end, a quote or a backslash, and stays before other bytes.
//!
//! If it is not known whether they escape, a record is *doubtful* when a quote after a backslash closes a cell and more text or a
//! misplaced quote follows. Its first line is read again as if backslashes escaped. If it is a record then, with as many cells as the
//! first record, it is taken so. Otherwise the record is refused.
//!
//! A quote that is never closed would make one field of the rest of the input. Therefore a record of several lines must end
//! within [`MAX_RECORD_LEN`] bytes. If it does not, its first line is refused alone, and no field spans lines in the bytes that
//! were searched for the end.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memchr2, memrchr};

use super::dialect::{Dialect, named_delimiter};
use super::field_names::{ByValues, Choice, begins_as_url, place, usual};
use super::quote_parity::{AT_ONCE, whole_records};
use super::separators::{Marks, SeparatorPosition, Set};
use super::{
    BadCause, Cursor, Cut, MAX_RECORD_LEN, Miss, Origin, Outcome, Part, Parts, Record, RecordReader, Role,
    Selector, Skip, first_line, n_lines, without_end,
};
use urlsift_engine::lines::{last_end, trim_terminator};

/// The wanted columns, and what is known about their positions.
#[derive(Clone, Debug)]
pub(super) struct Table {
    dialect: Dialect,
    wanted: Vec<WantedColumn>,
    /// Whether no column was asked for.
    by_default: bool,
    header: Header,
    choice: Choice,
    /// How many cells the first record has, if that record was read for its names.
    n_columns: Option<usize>,
    /// Each record that begins before this offset of the input is a single line.
    alone_until: u64,
}

#[derive(Clone, Debug)]
struct WantedColumn {
    name: Option<Vec<u8>>,
    /// Its index, from 0; `None` if the header does not name it.
    index: Option<usize>,
    /// Its cell in the record that is being read.
    cell: Option<Cell>,
}

#[derive(Clone, Debug)]
enum Header {
    /// The first record is still to come. If it names no wanted column, the comment before it may (as in the lists of URLhaus).
    Awaited { comment: Vec<u8> },
    /// The header is known, or not needed.
    Known,
}

impl Table {
    pub(super) fn new(dialect: Dialect, fields: &[Selector]) -> Result<Self, usize> {
        let column = |(n, field): (usize, &Selector)| match field {
            Selector::Name(name) => {
                Ok(WantedColumn { name: Some(name.clone().into_bytes()), index: None, cell: None })
            }
            Selector::Number(number) => {
                Ok(WantedColumn { name: None, index: Some(number.checked_sub(1).ok_or(n)?), cell: None })
            }
            Selector::Pointer(_) => Err(n),
        };
        let mut wanted = fields.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        let by_default = wanted.is_empty();
        if by_default {
            wanted.push(WantedColumn { name: None, index: None, cell: None });
        }
        let has_names = by_default || wanted.iter().any(|wanted| wanted.name.is_some());
        let header = if has_names { Header::Awaited { comment: Vec::new() } } else { Header::Known };
        let is_numbered = wanted.iter().any(|wanted| wanted.index.is_some());
        let choice = Choice { is_numbered, ..Choice::default() };
        Ok(Self { dialect, wanted, by_default, header, choice, n_columns: None, alone_until: 0 })
    }

    /// Returns how many of `bytes`, which begin at `offset` of the input, are whole records. Learns the columns from a header.
    fn whole_len(&mut self, bytes: &[u8], offset: u64, ended: bool) -> usize {
        let mut cursor = Cursor::new(self.separators(), bytes, offset);
        let (mut end, mut doubted_until) = (0, 0);
        while end < bytes.len() {
            let at = offset + end as u64;
            if at >= self.alone_until && matches!(self.header, Header::Known) {
                let rest = &bytes[end..];
                let Some(quote) = self.find_quote(rest) else {
                    return end + if ended { rest.len() } else { last_end(rest).unwrap_or(0) };
                };
                let skipped = memrchr(b'\n', &rest[..quote]).map_or(0, |lf| lf + 1);
                if skipped > 0 {
                    end += skipped;
                    cursor.marks.seek(end);
                }
                if end >= doubted_until {
                    let whole = whole_records(&bytes[end..], self.dialect);
                    if whole < AT_ONCE {
                        doubted_until = end + whole + DOUBTED;
                    }
                    if whole > 0 {
                        end += whole;
                        cursor.marks.seek(end);
                        continue;
                    }
                }
            }
            let Some(len) = self.extent(&mut cursor.marks, end, offset + end as u64, ended) else { break };
            if matches!(self.header, Header::Awaited { .. }) {
                if !ended && self.needs_values(&bytes[end..], len) {
                    break;
                }
                cursor.marks.seek(end);
                cursor.at = end;
                self.read(&mut cursor);
            }
            end += len;
        }
        end
    }

    /// The first quote, or the first backslash if they escape. Without either, each line is a record.
    fn find_quote(&self, bytes: &[u8]) -> Option<usize> {
        memchr2(b'"', if self.dialect.has_backslashes() { b'\\' } else { b'"' }, bytes)
    }

    /// The length of the record at byte `at` of the bytes, which is byte `offset` of the input. `None` if it continues after the bytes.
    #[inline]
    fn extent(&mut self, marks: &mut Marks<'_>, at: usize, offset: u64, ended: bool) -> Option<usize> {
        let bytes = &marks.bytes()[at..];
        if bytes[0] != b'#' && offset >= self.alone_until && !is_named_delimiter(bytes, offset) {
            let window = &bytes[..bytes.len().min(MAX_RECORD_LEN)];
            let walked = walk(marks, at, window.len(), self.dialect, |_, _| {});
            if let Some(doubt) = self.doubt(&walked) {
                let line = first_line(window);
                let is_whole = line.ends_with(b"\n") || ended && line.len() == bytes.len();
                if is_whole && self.is_escaped_line(marks, at, line.len(), doubt) {
                    marks.seek(at + line.len());
                    return Some(line.len());
                }
                marks.seek(at + walked.as_ref().map_or(window.len(), |walked| walked.len));
            }
            match walked {
                Ok(walked) if walked.ends => return Some(walked.len),
                Ok(walked) if ended && walked.len == bytes.len() => return Some(walked.len),
                Ok(_) | Err(_) if ended || bytes.len() > MAX_RECORD_LEN => {
                    self.alone_until = offset + window.len() as u64;
                }
                Ok(_) | Err(_) => return None,
            }
        }
        let line = first_line(bytes);
        marks.seek(at + line.len());
        (line.ends_with(b"\n") || ended).then_some(line.len())
    }

    /// Like `read`, for the rare records: comments, headers, blank lines and errors.
    #[inline(never)]
    fn read_rare<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let (bytes, at, offset) = (cursor.rest(), cursor.at, cursor.offset());
        let (marks, more) = (&mut cursor.marks, &mut cursor.more);
        let whole_line = first_line(bytes);
        let line = without_end(whole_line);
        if line.first() == Some(&b'#') || is_named_delimiter(bytes, offset) {
            if let Header::Awaited { comment } = &mut self.header {
                comment.clear();
                let names = &line[1..line.len().min(MAX_HEADER_COMMENT)];
                // Zeek writes "#fields" and a tab before the names.
                comment.extend_from_slice(names.strip_prefix(b"fields\t").unwrap_or(names));
            }
            marks.seek(at + whole_line.len());
            return Record::without_field(whole_line, Miss::Skipped(Skip::Comment));
        }
        let is_plain = matches!(self.header, Header::Known) && self.find_quote(line).is_none();
        if line.is_empty() || is_plain {
            marks.seek(at);
            let record =
                Record::line(whole_line, more, |line, parts| self.read_exactly(marks, at, line.len(), parts));
            marks.seek(at + whole_line.len());
            return record;
        }
        marks.seek(at);
        let len = self.extent(marks, at, offset, true).unwrap_or(bytes.len());
        marks.seek(at);
        if len == whole_line.len() {
            let record = Record::line(whole_line, more, |_, parts| self.read_exactly(marks, at, len, parts));
            marks.seek(at + len);
            return record;
        }
        let mut parts = Parts::new(more);
        let outcome = self.read_exactly(marks, at, len, &mut parts);
        marks.seek(at + len);
        Record::new(len, n_lines(&bytes[..len]), parts, outcome)
    }

    /// The position of a doubtful quote in a record; `None` if there is none, or if the dialect says what it means.
    #[inline(always)]
    fn doubt(&self, walked: &Result<Walked, Unclosed>) -> Option<usize> {
        let (Ok(Walked { doubt, .. }) | Err(Unclosed { doubt, .. })) = walked;
        (*doubt != NONE && self.dialect.escape.is_none()).then_some(*doubt)
    }

    /// Whether the line of `len` bytes at `at` contains `doubt`, and is a well-formed record if backslashes escape. `marks` moves to
    /// `at`.
    #[cold]
    fn is_escaped_line(&self, marks: &mut Marks<'_>, at: usize, len: usize, doubt: usize) -> bool {
        let mut n_cells = 0;
        marks.seek(at);
        let walked = walk(marks, at, len, self.dialect.with_backslashes(), |index, _| n_cells = index + 1);
        marks.seek(at);
        let is_right = |walked: Walked| walked.doubt == NONE && walked.len == len && walked.lines < 2;
        doubt < at + len && walked.is_ok_and(is_right) && self.n_columns.is_none_or(|n| n == n_cells)
    }

    /// Finds the wanted cells of the record at `at`, and its end within `len` bytes. Returns the first cell, which therefore
    /// stays in registers, and stores the others.
    #[inline(always)]
    fn find_cells(
        &mut self,
        marks: &mut Marks<'_>,
        at: usize,
        len: usize,
    ) -> (Option<Cell>, Result<Walked, Unclosed>) {
        let (first, others) = self.wanted.split_first_mut().expect("something is wanted");
        let (first, mut found) = (first.index.unwrap_or(usize::MAX), None);
        let mut each = |index, cell| {
            if index == first {
                found = Some(cell);
            }
        };
        let walked = if others.is_empty() {
            walk(marks, at, len, self.dialect, each)
        } else {
            for wanted in others.iter_mut() {
                wanted.cell = None;
            }
            walk(marks, at, len, self.dialect, |index, cell| {
                each(index, cell);
                for wanted in others.iter_mut().filter(|wanted| wanted.index == Some(index)) {
                    wanted.cell = Some(cell);
                }
            })
        };
        (found, walked)
    }

    /// Makes fields of the cells that were found in a record.
    #[inline(always)]
    fn take_cells<'a>(
        &self,
        bytes: &'a [u8],
        record: Range<usize>,
        first: Option<Cell>,
        parts: &mut Parts<'_, 'a>,
    ) -> Outcome {
        let bytes = &bytes[..record.end];
        self.take_cell(bytes, record.start, 0, &self.wanted[0], first, parts)?;
        for (n, wanted) in (0..).zip(&self.wanted).skip(1) {
            self.take_cell(bytes, record.start, n, wanted, wanted.cell, parts)?;
        }
        parts.or_skip()
    }

    /// Makes a field of a cell, or an error if it is missing. The record extends from `at` to the end of `bytes`.
    #[inline(always)]
    fn take_cell<'a>(
        &self,
        bytes: &'a [u8],
        at: usize,
        n: u32,
        wanted: &WantedColumn,
        cell: Option<Cell>,
        parts: &mut Parts<'_, 'a>,
    ) -> Outcome {
        let Some(cell) = cell else {
            wanted.index.ok_or(Miss::Bad(BadCause::NoColumn, 0))?;
            return Err(Miss::Bad(BadCause::TooFewFields, trim_terminator(&bytes[at..]).0.len()));
        };
        if self.dialect.has_backslashes() && bytes[cell.start..cell.end].trim_ascii_end() == b"\\N" {
            return Ok(());
        }
        let (start, bytes) = cell.text(bytes, self.dialect);
        parts.push(Part { role: Role::Url, wanted: n, bytes, at: start - at });
        Ok(())
    }

    /// Reads the record of `len` bytes at `at`.
    fn read_exactly<'a>(
        &mut self,
        marks: &mut Marks<'a>,
        at: usize,
        len: usize,
        parts: &mut Parts<'_, 'a>,
    ) -> Outcome {
        if len > MAX_RECORD_LEN {
            return Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN));
        }
        let record = &marks.bytes()[at..at + len];
        if let Header::Awaited { comment } = &mut self.header {
            let comment = std::mem::take(comment);
            self.header = Header::Known;
            self.n_columns = Some(self.texts(record).len()).filter(|&n| n > 0);
            if self.take_names(record) {
                return Err(Miss::Skipped(Skip::Header));
            }
            if !self.take_names(&comment) && !self.take_values(&marks.bytes()[at..], len) {
                return Err(Miss::Skipped(Skip::Header));
            }
        }
        let (first, walked) = self.find_cells(marks, at, len);
        if let Some(doubt) = self.doubt(&walked) {
            if !self.is_escaped_line(marks, at, len, doubt) {
                return Err(Miss::Bad(BadCause::DoubtfulQuote, doubt - at));
            }
            let escaped = self.dialect.with_backslashes();
            let dialect = std::mem::replace(&mut self.dialect, escaped);
            let (first, _) = self.find_cells(marks, at, len);
            let outcome = self.take_cells(marks.bytes(), at..at + len, first, parts);
            self.dialect = dialect;
            return outcome;
        }
        match walked {
            Ok(_) => self.take_cells(marks.bytes(), at..at + len, first, parts),
            Err(unclosed) => Err(Miss::Bad(BadCause::QuoteNotClosed, unclosed.quote)),
        }
    }

    /// The cells of a record, with quotes undone. Empty if a quote is not closed.
    fn texts<'a>(&self, record: &'a [u8]) -> Vec<Cow<'a, [u8]>> {
        let mut texts = Vec::new();
        let mut marks = Marks::new(self.separators(), record);
        let walked = walk(&mut marks, 0, record.len(), self.dialect, |_, cell| {
            texts.push(cell.text(record, self.dialect).1);
        });
        if walked.is_ok() { texts } else { Vec::new() }
    }

    /// Searches `record` for the names of wanted columns. Returns whether it has one of them.
    fn take_names(&mut self, record: &[u8]) -> bool {
        let names = self.texts(record);
        if self.by_default {
            self.wanted[0].index = usual(&names);
        }
        for wanted in &mut self.wanted {
            let Some(name) = &wanted.name else { continue };
            wanted.index = place(&names, name);
        }
        let found: Vec<_> = self.wanted.iter().filter_map(|wanted| wanted.index).collect();
        if found.len() < self.wanted.len() && !record.is_empty() {
            let missing = (0..self.wanted.len()).filter(|&n| self.wanted[n].index.is_none()).collect();
            self.choice = Choice { missing, ..Choice::none_of(&names) };
        } else if let [n] = found[..]
            && let Some(name) = names.get(n)
        {
            self.choice = Choice::of(name, false);
        }
        self.wanted.iter().any(|wanted| wanted.index.is_some() && (self.by_default || wanted.name.is_some()))
    }

    /// Whether the columns are to be chosen by their values, and `bytes` has too few of them. `bytes` begins with the first record,
    /// of `len` bytes.
    fn needs_values(&self, bytes: &[u8], len: usize) -> bool {
        let Header::Awaited { comment } = &self.header else { return false };
        let has_name = |record: &[u8]| usual(&self.texts(record)).is_some();
        let is_enough =
            || bytes.len() >= SAMPLE || memchr_iter(b'\n', &bytes[len..]).nth(SAMPLE_LINES - 1).is_some();
        self.by_default && bytes[0] != b'#' && !has_name(&bytes[..len]) && !has_name(comment) && !is_enough()
    }

    /// Chooses the column whose values begin as URLs. `bytes` begins with the first record, of `len` bytes. Returns whether this
    /// record has such a value too, so that it is no header.
    fn take_values(&mut self, bytes: &[u8], len: usize) -> bool {
        if !self.by_default {
            return false;
        }
        let mut values = ByValues::default();
        let lines = memchr_iter(b'\n', &bytes[len..]).nth(SAMPLE_LINES - 1).map(|lf| len + lf + 1);
        let end = lines.unwrap_or(bytes.len()).min(SAMPLE).max(len);
        let mut at = len;
        while at < end {
            let rest = &bytes[at..end];
            if rest[0] == b'#' {
                at += first_line(rest).len();
                continue;
            }
            let mut marks = Marks::new(self.separators(), rest);
            let walked = walk(&mut marks, 0, rest.len(), self.dialect, |_, _| {});
            // Where a doubtful record ends depends on what is known of it.
            if self.doubt(&walked).is_some() {
                break;
            }
            let Ok(walked) = walked else { break };
            let record = &rest[..walked.len];
            // What has no end may be cut off, unless the input ends there.
            if !walked.ends && (lines.is_some() || bytes.len() >= SAMPLE) {
                break;
            }
            self.texts(record).iter().enumerate().for_each(|(n, value)| values.add(n, value));
            at += walked.len;
        }
        let first = self.texts(&bytes[..len]);
        if at == len {
            // There is no other record.
            first.iter().enumerate().for_each(|(n, value)| values.add(n, value));
        }
        let Some(column) = values.most_likely() else { return false };
        self.wanted[0].index = Some(column);
        let name = first.get(column).map_or(&b""[..], |name| name);
        let is_value = begins_as_url(name);
        let number = (column + 1).to_string();
        self.choice = Choice::of(if is_value { number.as_bytes() } else { name }, true);
        is_value
    }
}

impl RecordReader for Table {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let (bytes, at) = (cursor.rest(), cursor.at);
        let is_known = matches!(self.header, Header::Known) && cursor.offset() >= self.alone_until;
        if is_known && !matches!(bytes[0], b'#' | b'\r' | b'\n') {
            // A record that does not end within this length is too long, whether or not it continues.
            let len = bytes.len().min(MAX_RECORD_LEN + 1);
            let (first, walked) = self.find_cells(&mut cursor.marks, at, len);
            if self.doubt(&walked).is_none()
                && let Ok(walked) = walked
                && walked.len <= MAX_RECORD_LEN
            {
                let mut parts = Parts::new(&mut cursor.more);
                let outcome = self.take_cells(cursor.marks.bytes(), at..at + walked.len, first, &mut parts);
                return Record::new(walked.len, u64::from(walked.lines), parts, outcome);
            }
        }
        self.read_rare(cursor)
    }

    fn separators(&self) -> Set {
        separators(self.dialect)
    }

    fn cut(&mut self, bytes: &[u8], offset: u64, ended: bool) -> Cut {
        Cut::at(self.whole_len(bytes, offset, ended)).or_open(bytes)
    }

    fn origin(&self) -> Origin<'_> {
        Origin { choice: Some(&self.choice), dialect: Some(self.dialect), log_format: None }
    }

    fn set_dialect(&mut self, dialect: Dialect) {
        self.dialect = dialect;
    }
}

/// How many bytes, with the header, and how many lines after it decide in which column URLs are.
const SAMPLE: usize = 64 << 10;
const SAMPLE_LINES: usize = 8;

/// How many bytes are read record by record after [`whole_records`] found less than [`AT_ONCE`] bytes.
const DOUBTED: usize = 64 << 10;

/// How many bytes of a comment are kept, in case it is the header.
const MAX_HEADER_COMMENT: usize = 64 << 10;

/// A cell, as a range of the bytes that contain the record.
#[derive(Clone, Copy, Debug)]
struct Cell {
    start: usize,
    /// The position of the delimiter or LF after it, or the end of the record.
    end: usize,
    /// If it begins with a quote: the position after the closing quote, or [`UNDO`] if a quote inside is doubled.
    closed: usize,
}

/// Marks a cell with quotes that must be undone. No byte has this position.
const UNDO: usize = usize::MAX;

/// The bytes that separate cells and records, and the quote.
fn separators(dialect: Dialect) -> Set {
    [dialect.byte(), b'"', b'\n']
}

/// Whether `bytes`, which begin at `offset` of the input, begin with a line that names the delimiter. A byte order mark may precede
/// it.
fn is_named_delimiter(bytes: &[u8], offset: u64) -> bool {
    matches!(offset, 0 | 3) && bytes[0] == b's' && named_delimiter(bytes).is_some()
}

impl Cell {
    /// Its text with quotes and escapes undone, and the position where the text begins.
    #[inline(always)]
    fn text(self, bytes: &[u8], dialect: Dialect) -> (usize, Cow<'_, [u8]>) {
        let mut field = &bytes[self.start..self.end];
        if bytes.get(self.end) != Some(&dialect.byte()) {
            // CRs before the end of the record are part of its terminator.
            while let [rest @ .., b'\r'] = field {
                field = rest;
            }
        }
        let start = self.start + usize::from(field.first() == Some(&b'"'));
        if dialect.has_backslashes() && memchr(b'\\', field).is_some() {
            return (start, Cow::Owned(unescape(field, dialect.byte())));
        }
        match field {
            [b'"', text @ .., _] if self.start + field.len() == self.closed => (start, Cow::Borrowed(text)),
            [b'"', text @ ..] => (start, Cow::Owned(unquote(text))),
            _ => (start, Cow::Borrowed(field)),
        }
    }
}

/// Undoes the quotes of a field, which is given without its opening quote.
#[cold]
fn unquote(field: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut rest = field;
    while let Some(quote) = memchr(b'"', rest) {
        text.extend_from_slice(&rest[..quote]);
        rest = &rest[quote + 1..];
        if rest.first() != Some(&b'"') {
            break;
        }
        text.push(b'"');
        rest = &rest[1..];
    }
    text.extend_from_slice(rest);
    text
}

/// Undoes the quotes and backslashes of a field.
#[cold]
fn unescape(field: &[u8], delimiter: u8) -> Vec<u8> {
    let mut text = Vec::with_capacity(field.len());
    let mut is_quoted = field.first() == Some(&b'"');
    let mut rest = &field[usize::from(is_quoted)..];
    while let Some((&byte, behind)) = rest.split_first() {
        let next = behind.first().copied();
        let is_escape = byte == b'\\'
            && next.is_some_and(|next| next == delimiter || matches!(next, b'\\' | b'"' | b'\r' | b'\n'));
        let is_doubled = byte == b'"' && is_quoted && next == Some(b'"');
        if is_escape || is_doubled {
            text.extend(next);
            rest = &behind[1..];
            continue;
        }
        if byte == b'"' && is_quoted {
            is_quoted = false;
        } else {
            text.push(byte);
        }
        rest = behind;
    }
    text
}

/// The record that [`walk`] stepped through.
struct Walked {
    /// Its length in bytes, with the LF if there is one.
    len: usize,
    /// How many LFs it contains.
    lines: u32,
    /// Whether an LF ends it, and not the bytes. The LF at the end of the bytes may be escaped.
    ends: bool,
    /// The position of the first quote that is doubtful, or [`NONE`]. If backslashes escape, it is one that neither opens nor ends a cell.
    doubt: usize,
}

/// A record with a quote that is not closed.
#[derive(Debug, PartialEq)]
struct Unclosed {
    /// The offset of the quote in the record.
    quote: usize,
    /// As in [`Walked`].
    doubt: usize,
}

/// No position.
const NONE: usize = usize::MAX;

/// Steps through the record at `at`, and passes each field with its index to `each`. It ends after an LF or after `len` bytes.
#[inline(always)]
fn walk(
    marks: &mut Marks<'_>,
    at: usize,
    len: usize,
    dialect: Dialect,
    each: impl FnMut(usize, Cell),
) -> Result<Walked, Unclosed> {
    if dialect.has_backslashes() {
        walk_with::<true>(marks, at, len, dialect.byte(), each)
    } else {
        walk_with::<false>(marks, at, len, dialect.byte(), each)
    }
}

/// Like [`walk`], where backslashes escape or do not.
#[inline(always)]
fn walk_with<const BACKSLASHES: bool>(
    marks: &mut Marks<'_>,
    at: usize,
    len: usize,
    delimiter: u8,
    mut each: impl FnMut(usize, Cell),
) -> Result<Walked, Unclosed> {
    let bytes = &marks.bytes()[..at + len];
    let (mut start, mut index, mut closed, mut lines) = (at, 0, UNDO, 0);
    // The last quote that closed a cell after a backslash, and the first that is doubtful.
    let (mut suspect, mut doubt) = (NONE, NONE);
    let mut place = marks.place();
    let walked = loop {
        let mark = marks.next(&mut place);
        if BACKSLASHES && is_escaped(bytes, start, mark) {
            lines += u32::from(bytes[mark] == b'\n');
            continue;
        }
        match bytes.get(mark) {
            Some(&byte) if byte == delimiter => {
                each(index, Cell { start, end: mark, closed });
                (start, index) = (mark + 1, index + 1);
            }
            Some(b'"') if mark == start => {
                let (lines, doubt_at) = (&mut lines, &mut doubt);
                let end =
                    step_over_quotes::<BACKSLASHES>(marks, &mut place, bytes, delimiter, lines, doubt_at);
                let Some((quote, is_doubled)) = end else { break Err(Unclosed { quote: start - at, doubt }) };
                closed = if is_doubled { UNDO } else { quote + 1 };
                if BACKSLASHES || bytes[quote - 1] == b'\\' {
                    suspect = quote;
                    if doubt == NONE && !ends_cell(bytes.get(quote + 1), delimiter) {
                        doubt = suspect;
                    }
                }
            }
            // A quote elsewhere is an ordinary byte.
            Some(b'"') => {
                if suspect != NONE && doubt == NONE {
                    doubt = suspect;
                }
            }
            end => {
                each(index, Cell { start, end: mark.min(bytes.len()), closed });
                lines += u32::from(end.is_some());
                break Ok(Walked { len: bytes.len().min(mark + 1) - at, lines, ends: end.is_some(), doubt });
            }
        }
    };
    marks.go_to(place);
    walked
}

/// Whether a backslash escapes the byte at `mark`, or the line end whose LF is there. The cell begins at `start`.
#[inline]
fn is_escaped(bytes: &[u8], start: usize, mark: usize) -> bool {
    let cell = &bytes[start.min(mark)..mark.min(bytes.len())];
    let is_line_end = bytes.get(mark) == Some(&b'\n');
    let before = cell.iter().rev().skip_while(|&&byte| is_line_end && byte == b'\r');
    mark < bytes.len() && before.take_while(|&&byte| byte == b'\\').count() % 2 == 1
}

/// Whether a cell ends before `byte`, the byte after a quote. CRs are part of a line end.
#[inline(always)]
fn ends_cell(byte: Option<&u8>, delimiter: u8) -> bool {
    byte.is_none_or(|&byte| byte == delimiter || matches!(byte, b'\r' | b'\n'))
}

/// Moves past the quote that closes a field, and counts LFs. Returns the position of this quote, and whether a quote before it is
/// doubled or escaped; `None` if the field is not closed. A doubled quote is doubtful if it follows a backslash and the cell would end
/// after it.
#[inline(always)]
fn step_over_quotes<const BACKSLASHES: bool>(
    marks: &mut Marks<'_>,
    place: &mut SeparatorPosition,
    bytes: &[u8],
    delimiter: u8,
    lines: &mut u32,
    doubt: &mut usize,
) -> Option<(usize, bool)> {
    let mut is_doubled = false;
    loop {
        let mark = marks.next(place);
        let byte = *bytes.get(mark)?;
        if byte != b'"' {
            *lines += u32::from(byte == b'\n');
        } else if BACKSLASHES && is_escaped(bytes, 0, mark) {
            is_doubled = true;
        } else if bytes.get(mark + 1) == Some(&b'"') {
            is_doubled = true;
            if !BACKSLASHES
                && *doubt == NONE
                && bytes[mark - 1] == b'\\'
                && ends_cell(bytes.get(mark + 2), delimiter)
            {
                *doubt = mark;
            }
            marks.next(place);
        } else {
            return Some((mark, is_doubled));
        }
    }
}

#[cfg(test)]
mod tests {
    use urlsift_grammar::random::Random;

    use super::super::{Format, Reader};
    use super::*;

    /// The fields of the first record of `bytes`, read byte by byte, and its length. The error is the position of a quote that is
    /// not closed.
    fn record(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, usize), usize> {
        let mut fields = Vec::new();
        let mut at = 0;
        loop {
            let (start, mut text) = (at, Vec::new());
            let mut untrimmed = 0;
            if bytes.get(at) == Some(&b'"') {
                at += 1;
                loop {
                    match (bytes.get(at).ok_or(start)?, bytes.get(at + 1)) {
                        (b'"', Some(b'"')) => at += 1,
                        (b'"', _) => break,
                        _ => {}
                    }
                    text.push(bytes[at]);
                    at += 1;
                }
                at += 1;
                untrimmed = text.len();
            }
            while !matches!(bytes.get(at), None | Some(b',' | b'\n')) {
                text.push(bytes[at]);
                at += 1;
            }
            if bytes.get(at) != Some(&b',') {
                while text.len() > untrimmed && text.last() == Some(&b'\r') {
                    text.pop();
                }
                fields.push(text);
                return Ok((fields, bytes.len().min(at + 1)));
            }
            fields.push(text);
            at += 1;
        }
    }

    /// All texts of seven of these bytes.
    fn texts(bytes: &'static [u8; 5]) -> impl Iterator<Item = Vec<u8>> {
        let digit = |number: usize, place| number / bytes.len().pow(place) % bytes.len();
        (0..bytes.len().pow(7)).map(move |number| (0..7).map(|place| bytes[digit(number, place)]).collect())
    }

    /// Compares each record of texts of seven bytes, at the start of the bytes and across the end of a window.
    #[test]
    fn records_are_those_of_a_loop_over_bytes() {
        for text in texts(b"\",a\n\r") {
            for filler in [0, 2044] {
                let bytes = [&b"x".repeat(filler)[..], &text].concat();
                let mut marks = Marks::new([b',', b'"', b'\n'], &bytes);
                let mut at = 0;
                while at < bytes.len() {
                    let mut fields = Vec::new();
                    let rest = &bytes[at..];
                    let walked = walk(&mut marks, at, rest.len(), Dialect::of(','), |index, cell| {
                        assert_eq!(index, fields.len());
                        fields.push(cell.text(&bytes, Dialect::of(',')).1.into_owned());
                    });
                    let expected = record(rest);
                    let found =
                        walked.as_ref().map(|walked| (fields, walked.len)).map_err(|unclosed| unclosed.quote);
                    assert_eq!(found, expected, "{}", text.escape_ascii());
                    let Ok(Walked { len, lines, .. }) = walked else { break };
                    assert_eq!(u64::from(lines), memchr_iter(b'\n', &rest[..len]).count() as u64);
                    at += len;
                }
            }
        }
    }

    /// The cells of the first record of `bytes` if backslashes escape, read byte by byte, and its length. The error is a quote that is
    /// not closed.
    fn escaped_record(bytes: &[u8]) -> Result<(Vec<Vec<u8>>, usize), usize> {
        let (mut fields, mut at) = (Vec::new(), 0);
        loop {
            let (start, mut text) = (at, Vec::new());
            let mut is_open = bytes.get(at) == Some(&b'"');
            at += usize::from(is_open);
            loop {
                match (bytes.get(at), bytes.get(at + 1)) {
                    (Some(b'\\'), Some(&next @ (b'\\' | b'"' | b',' | b'\n'))) => {
                        text.push(next);
                        at += 1;
                    }
                    (Some(b'"'), Some(b'"')) if is_open => {
                        text.push(b'"');
                        at += 1;
                    }
                    (Some(b'"'), _) if is_open => is_open = false,
                    (None, _) if is_open => return Err(start),
                    (None | Some(b',' | b'\n'), _) if !is_open => break,
                    (Some(&byte), _) => text.push(byte),
                    (None, _) => unreachable!("a cell ends at the end"),
                }
                at += 1;
            }
            fields.push(text);
            if bytes.get(at) != Some(&b',') {
                return Ok((fields, bytes.len().min(at + 1)));
            }
            at += 1;
        }
    }

    #[test]
    fn records_with_backslashes_are_those_of_a_loop_over_bytes() {
        let dialect = Dialect::of(',').with_backslashes();
        for text in texts(b"\",a\n\\") {
            for filler in [0, 2044] {
                let bytes = [&b"x".repeat(filler)[..], &text].concat();
                let mut marks = Marks::new(separators(dialect), &bytes);
                let mut fields = Vec::new();
                let walked = walk(&mut marks, 0, bytes.len(), dialect, |_, cell| {
                    fields.push(cell.text(&bytes, dialect).1.into_owned());
                });
                let found = walked.map(|walked| (fields, walked.len)).map_err(|unclosed| unclosed.quote);
                assert_eq!(found, escaped_record(&bytes), "{}", text.escape_ascii());
            }
        }
    }

    /// The cells in the first column and the causes of refusals, read from chunks. Each call of `cut` sees `step` bytes more.
    fn read_in_chunks(bytes: &[u8], dialect: Dialect, step: usize) -> Vec<Result<Vec<u8>, BadCause>> {
        let reader = Reader::with_fields(Format::Csv, &[Selector::Name("n".to_owned())]).unwrap();
        read_by(reader.in_dialect(dialect), bytes, step, false)
    }

    /// The same by any reader. If the end is `late`, it is known only when no byte follows.
    fn read_by(mut reader: Reader, bytes: &[u8], step: usize, late: bool) -> Vec<Result<Vec<u8>, BadCause>> {
        let (mut found, mut start, mut seen) = (Vec::new(), 0, 0);
        while start < bytes.len() {
            let was_all = seen == bytes.len();
            seen = bytes.len().min(seen + step);
            let mut copy = reader.clone();
            let len = reader.cut(&bytes[start..seen], if late { was_all } else { seen == bytes.len() });
            let fields = copy.fields(&bytes[start..start + len]);
            found.extend(
                fields.map(|field| field.map(|field| field.bytes.into_owned()).map_err(|bad| bad.cause)),
            );
            start += len;
        }
        found
    }

    /// Records are the same wherever an input is cut. Those that are read as if backslashes escaped are well-formed then.
    #[test]
    fn doubtful_records_do_not_depend_on_chunks() {
        let unknown = Dialect { escape: None, ..Dialect::of(',') };
        let (mut n_escaped, mut n_refused) = (0, 0);
        for text in texts(b"\",a\n\\") {
            let bytes = [b"n,m\n", &text[..], b"\nb,c\n"].concat();
            let whole = read_in_chunks(&bytes, unknown, bytes.len());
            for step in [1, 5] {
                assert_eq!(read_in_chunks(&bytes, unknown, step), whole, "{step} {}", text.escape_ascii());
            }
            let plain = read_in_chunks(&bytes, Dialect::of(','), bytes.len());
            let escaped = read_in_chunks(&bytes, unknown.with_backslashes(), bytes.len());
            n_refused += usize::from(whole.contains(&Err(BadCause::DoubtfulQuote)));
            n_escaped += usize::from(whole == escaped && whole != plain);
            if !text.contains(&b'\\') {
                assert_eq!(whole, plain);
            }
        }
        assert!(n_escaped > 50 && n_refused > 1000, "{n_escaped} {n_refused}");
    }

    /// Doubts of several lines, escaped line ends, and columns that are chosen by their values.
    #[test]
    fn drawn_tables_do_not_depend_on_chunks() {
        let tokens = [
            "\"", "\\", "\n", "\r", ",", "a", "a\n", "://", "\\\"", "\"\"", "\\\n", "\\\r\n", "\"\n", "\",\"",
        ];
        let unknown = Dialect { escape: None, ..Dialect::of(',') };
        let fields = [&[][..], &[Selector::Name("a".to_owned())], &[Selector::Number(2)]];
        let mut random = Random::new(17);
        let mut drawn = || (0..random.below(16)).map(|_| tokens[random.below(tokens.len())]).collect();
        let found =
            ["a\n\n\"\n\n\n\n\n\"\na://\\\n", "a\n\n\n\n\"\n\"\n\"\\\"a,\"\na://\n\"\n"].map(str::to_owned);
        for table in found.into_iter().chain((0..4_000).map(|_| drawn())) {
            for (n, dialect) in [unknown, Dialect::of(','), unknown.with_backslashes()]
                .into_iter()
                .cycle()
                .take(9)
                .enumerate()
            {
                let reader = Reader::with_fields(Format::Csv, fields[n / 3]).unwrap().in_dialect(dialect);
                let read = |step, late| read_by(reader.clone(), table.as_bytes(), step, late);
                let whole = read(table.len(), false);
                for (step, late) in [(table.len(), true), (1, false), (2, true), (5, false)] {
                    assert_eq!(read(step, late), whole, "{table:?} {dialect:?} {step} {late}");
                }
            }
        }
    }

    #[test]
    fn rows_of_spark_and_mysql_are_not_lost() {
        let spark = br#"n,m
"say \"hi, there\"",1
"she said \"x\"",2
"C:\dir",3
"two ""doubled""",4
5,6
"#;
        let unknown = Dialect { escape: None, ..Dialect::of(',') };
        let cells = ["say \"hi, there\"", "she said \"x\"", "C:\\dir", "two \"doubled\"", "5"];
        let expected: Vec<_> = cells.iter().map(|cell| Ok(cell.as_bytes().to_vec())).collect();
        assert_eq!(read_in_chunks(spark, unknown, 7), expected);
        let mysql = b"n\tm\na\\\tb\t1\nc\\\nd\t2\n\\N\t3\n";
        let dialect = Dialect::of('\t').with_backslashes();
        assert_eq!(read_in_chunks(mysql, dialect, 3), [Ok(b"a\tb".to_vec()), Ok(b"c\nd".to_vec())]);
        let windows = b"n\tm\r\na\\\r\nb\t1\r\n\r\\\nc\t2\r\n";
        assert_eq!(read_in_chunks(windows, dialect, 3), [Ok(b"a\r\nb".to_vec()), Ok(b"\r\nc".to_vec())]);
    }

    /// Counting quotes finds only whole records, and stops before comments. The texts have seven bytes. They are in the first
    /// block, across its end, or across the end of the second.
    #[test]
    fn whole_records_are_records() {
        let mut n_found = 0;
        for text in texts(b"\",a\n#") {
            for filler in [&b""[..], &b"\"a\"\n\n".repeat(12), &b"\"\"\"\n".repeat(31)] {
                let bytes = [filler, &text, &b"b".repeat(64)].concat();
                let whole = whole_records(&bytes, Dialect::of(','));
                let mut at = 0;
                while at < whole {
                    assert_ne!(bytes[at], b'#', "{}", bytes.escape_ascii());
                    at += record(&bytes[at..]).expect("a whole record").1;
                }
                assert_eq!(at, whole, "{}", bytes.escape_ascii());
                n_found += usize::from(whole > filler.len());
            }
        }
        assert!(n_found > 10_000, "{n_found}");
    }

    /// Cutting by counted quotes ends where stepping from record to record ends. The texts have some kilobytes. Misplaced quotes
    /// and comments are frequent, rare or almost absent.
    #[test]
    fn cut_ends_where_records_do() {
        let tokens: [&[u8]; 8] =
            [b"\"a, b\",", b"\"\"\"\"\r\n", b"c,d\n", b"\"\n\"\n", b"e,", b"#\"\n", b"x\"", b"\""];
        let mut random = Random::new(1);
        for round in 0..400 {
            let mut bytes = Vec::new();
            while bytes.len() < 9000 {
                // In some rounds, tokens that stop the counting of quotes are as rare as in real files. In others they are
                // frequent.
                let n = if random.below(1 << (round % 11)) == 0 { 8 } else { 5 };
                bytes.extend(tokens[random.below(n)]);
                if round % 3 == 0 && random.below(40) == 0 {
                    bytes.extend(b"f,g\n".repeat(random.below(1500)));
                }
            }
            let (mut at, mut whole) = (0, 0);
            while at < bytes.len() {
                at += if bytes[at] == b'#' {
                    first_line(&bytes[at..]).len()
                } else {
                    let Ok((_, len)) = record(&bytes[at..]) else { break };
                    len
                };
                if bytes[at - 1] == b'\n' {
                    whole = at;
                }
            }
            let mut table = Table::new(Dialect::of(','), &[Selector::Number(1)]).unwrap();
            assert_eq!(table.whole_len(&bytes, 0, false), whole, "{}", bytes.escape_ascii());
        }
    }
}
