//! Reads an input of any format, and iterates over the fields of its records that are URLs.

use std::borrow::Cow;
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::{fmt, io};

use super::counts::{BadCause, BadRecord, Counts, Miss, Skip};
use super::dialect::Dialect;
use super::formats::{AnyReader, Format};
use super::log;
use super::page::Page;
use super::record::{Cursor, Gap, Origin, Part, Record, by_words, n_lines};
use super::selector::{Role, Selector, WantedNames};
use urlsift_engine::lines::skip_byte_order_mark;
use urlsift_input::Advice;

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'a> {
    /// Its bytes, with escapes undone. They may contain anything, including line ends.
    pub bytes: Cow<'a, [u8]>,
    /// Its role in the record.
    pub role: Role,
    /// The index of the wanted field that selects it. It is 0 if no field was asked for, or only one.
    pub wanted: u32,
    /// Its offset in bytes, from the start of the input. In a Parquet column, it is the number of values and nulls before it.
    pub offset: u64,
    /// The number of the line where its record begins, from 1. In a Parquet file, the number of the row.
    pub line: u64,
}

/// Reads the records of an input. It knows which fields are wanted, and what the headers so far have said.
///
/// A record that cannot be read is reported with its cause, and counted:
///
/// ```
/// # mod urlsift { pub use urlsift_records as internal; pub use urlsift_records as run; }
/// use urlsift::internal::Reader;
/// use urlsift::run::{BadCause, Format, Role, Skip};
///
/// let log = b"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a%20b HTTP/1.1\" 200 7 \"http://example.org/\" \"-\"\n\nwhat?\n";
/// let mut reader = Reader::new(Format::Clf);
/// let fields: Vec<_> = reader.fields(log).collect();
/// let request = fields[0].as_ref().unwrap();
/// assert_eq!((request.role, &*request.bytes, request.offset), (Role::Request, &b"/a%20b"[..], 42));
/// assert_eq!(fields[1].as_ref().unwrap().role, Role::Referer);
/// assert_eq!(fields[2].as_ref().unwrap_err().to_string(), "line 3, byte 6: not-a-record");
/// let counts = reader.counts();
/// assert_eq!((counts.read(), counts.refused(BadCause::NotARecord), counts.skipped(Skip::Blank)), (1, 1, 1));
/// ```
#[derive(Clone, Debug)]
pub struct Reader {
    format: Format,
    records: AnyReader,
    offset: u64,
    line: u64,
    /// Whether bytes between records may belong to none.
    has_gaps: bool,
    /// Whether the next bytes continue a record that was too long to be held.
    is_inside: bool,
    counts: Counts,
    names: WantedNames,
}

impl Reader {
    /// Creates a reader of the default fields of `format`, which its description names.
    ///
    /// # Panics
    /// When `format` is [`Format::Parquet`] or [`Format::Log`].
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self::with_fields(format, &[]).expect("a format that can be read from its start, and its own fields")
    }

    /// Creates a reader of `fields`. Without any, it reads the default fields, as [`Reader::new`] does.
    ///
    /// # Errors
    /// When the format cannot have such a field, or is [`Format::Parquet`] or [`Format::Log`].
    pub fn with_fields(format: Format, fields: &[Selector]) -> Result<Self, FieldError> {
        match AnyReader::new(format, fields) {
            Ok(records) => Ok(Self::of(format, records, fields)),
            Err(n) => Err(FieldError { format, field: fields.get(n).cloned() }),
        }
    }

    /// Creates a reader of `fields` of log lines with this pattern. Without fields, it reads all variables that are URLs.
    ///
    /// # Errors
    /// When the pattern is malformed or ambiguous, or has no such field.
    pub fn of_log(pattern: &str, fields: &[Selector]) -> io::Result<Self> {
        let kind = io::ErrorKind::InvalidInput;
        log::Plan::of(pattern, fields)
            .map(|plan| Self::of(Format::Log, AnyReader::Log(Arc::new(plan)), fields))
            .map_err(|fault| match (&fault, format!("the log format cannot be read: {fault}")) {
                (log::Fault::Field(n), _) => {
                    io::Error::new(kind, FieldError { format: Format::Log, field: fields.get(*n).cloned() })
                }
                (log::Fault::NoUrl, what) => Advice::NameVariable.error(kind, what),
                (_, what) => io::Error::new(kind, what),
            })
    }

    fn of(format: Format, records: AnyReader, fields: &[Selector]) -> Self {
        Self {
            format,
            records,
            offset: 0,
            line: 1,
            has_gaps: !format.has_text_records(),
            is_inside: false,
            counts: Counts::default(),
            names: WantedNames::new(fields),
        }
    }

    /// Moves the reader to `offset` of its input, where line number `line` begins. Lines of the format must be readable alone
    /// ([`Format::is_cut_at_lines`]).
    #[must_use]
    pub fn standing_at(self, offset: u64, line: u64) -> Self {
        Self { offset, line, ..self }
    }

    /// The same reader for a table in this dialect. Readers of other formats stay as they are.
    #[must_use]
    pub fn in_dialect(mut self, dialect: Dialect) -> Self {
        self.records.as_dyn().set_dialect(dialect);
        self
    }

    /// How it reads the input, for reports.
    pub fn origin(&self) -> Origin<'_> {
        self.records.as_dyn_ref().origin()
    }

    /// The names of the wanted fields, if there are several.
    pub fn names(&self) -> &WantedNames {
        &self.names
    }

    /// The format that it reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// The offset of the next record in bytes, from the start of the input.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the line where the next record begins, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How many records it has read, refused and skipped.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Iterates over the fields of the next records of the input. `bytes` holds these records whole: the rest of the input, or as
    /// much as [`Reader::cut`] returned. Each call continues where the previous one ended.
    ///
    /// The reader neither counts nor passes records that are not taken from the iterator, so take all of them. A borrowed field
    /// costs no allocation.
    pub fn fields<'r, 'a>(&'r mut self, bytes: &'a [u8]) -> Fields<'r, 'a> {
        let body = skip_byte_order_mark(bytes, self.offset);
        self.offset += (bytes.len() - body.len()) as u64;
        let cursor = Cursor::new(self.records.as_dyn_ref().separators(), body, self.offset);
        let line = self.line;
        Fields { reader: self, cursor, next: 0, start: 0, line }
    }

    /// Iterates over the next records themselves, if they are lines of text. As for [`Reader::fields`], `bytes` holds whole
    /// records.
    pub fn records<'r, 'a>(&'r mut self, bytes: &'a [u8]) -> Records<'r, 'a> {
        let mut fields = self.fields(bytes);
        let mark = bytes.len() - fields.cursor.rest().len();
        let gap = fields.catch_up();
        Records { fields, mark, gap }
    }

    /// What is wrong with the input, if it ends here: the body of a WARC record is cut off, a comment of a document is not closed, or
    /// the rest of a JSON text was not read. `None` if nothing is wrong, or a refused record says it.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        self.records.as_dyn_ref().complaint()
    }

    /// Whether the next bytes continue a record that was too long to be held.
    pub fn is_inside_record(&self) -> bool {
        self.is_inside
    }

    /// Returns how many of `bytes`, the next bytes of the input, are whole records. It is 0 if there is no whole record and more
    /// bytes are needed. At the end of the input (`ended`) it is all of them.
    ///
    /// The reader moves past these bytes as if it had read them, but counts nothing. A copy made before the call can read them
    /// later, on any thread. [`Reader::take_known`] spares it a search.
    ///
    /// It never needs more than twice [`MAX_RECORD_LEN`](crate::MAX_RECORD_LEN) bytes: a longer record is cut, and its rest is skipped.
    pub fn cut(&mut self, bytes: &[u8], ended: bool) -> usize {
        let body = skip_byte_order_mark(bytes, self.offset);
        let mark = bytes.len() - body.len();
        // A byte order mark alone is no chunk, nor is a part of it: it waits for a record.
        if self.offset == 0 && !ended && BYTE_ORDER_MARK.starts_with(bytes) {
            return 0;
        }
        let mut len = mark + self.leave_rest(body);
        if !self.is_inside {
            let cut = self.records.as_dyn().cut(&bytes[len..], self.offset + len as u64, ended);
            len += cut.len;
            self.is_inside = cut.is_open;
        }
        if len == mark && !ended {
            return 0;
        }
        self.offset += len as u64;
        self.line += n_lines(&bytes[..len]);
        len
    }

    /// Takes over the records that `cutter` found in its last cut, so that they are not searched again. This reader is a copy of
    /// `cutter` from before that cut, and reads the bytes that it cut.
    pub fn take_known(&mut self, cutter: &mut Self) {
        if let (AnyReader::Html(own), AnyReader::Html(cutter)) = (&mut self.records, &mut cutter.records) {
            own.take_known(cutter);
        }
    }

    /// Moves past the rest of a record that was too long. Returns its length in `bytes`.
    fn leave_rest(&mut self, bytes: &[u8]) -> usize {
        if !self.is_inside {
            return 0;
        }
        let end = self.records.as_dyn_ref().end_of_rest(bytes);
        self.is_inside = end.is_none();
        end.unwrap_or(bytes.len())
    }
}

/// What may precede the first record of an input, in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Iterates over the fields of some records; made by [`Reader::fields`].
///
/// All fields of a record precede those of the next record, in their order in the record.
#[derive(Debug)]
pub struct Fields<'r, 'a> {
    reader: &'r mut Reader,
    cursor: Cursor<'a>,
    /// The index in `more` of the next field to return.
    next: usize,
    /// Where the current record begins in the bytes, and the number of its line.
    start: usize,
    line: u64,
}

impl<'a> Iterator for Fields<'_, 'a> {
    type Item = Result<Field<'a>, BadRecord>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(part) = self.cursor.more.get_mut(self.next) {
                self.next += 1;
                let part = Part { bytes: std::mem::take(&mut part.bytes), ..*part };
                return Some(Ok(self.field(part)));
            }
            let record = self.read()?;
            if let Some(first) = record.first {
                return Some(Ok(self.field(first)));
            }
            if let Some(Miss::Bad(cause, at)) = record.miss {
                return Some(Err(self.bad(cause, at)));
            }
        }
    }
}

impl<'a> Fields<'_, 'a> {
    /// The page that the last field is from, which the wanted field with this index selects.
    pub fn page(&self, wanted: u32) -> &Page {
        self.reader.records.page(wanted)
    }

    /// Reads the next record, and stores all its fields but the first in `more`. Returns `None` after the last record.
    #[inline(always)]
    fn read(&mut self) -> Option<Record<'a>> {
        if self.reader.has_gaps || self.reader.is_inside {
            self.catch_up();
        }
        let cursor = &mut self.cursor;
        if cursor.at == cursor.marks.bytes().len() {
            return None;
        }
        cursor.more.clear();
        self.next = 0;
        (self.start, self.line) = (cursor.at, self.reader.line);
        let record = self.reader.records.read(cursor);
        cursor.at += record.len;
        self.reader.offset = cursor.offset();
        self.reader.line += record.lines;
        self.reader.is_inside = record.is_open;
        self.reader.counts.add(record.miss);
        if record.first.is_none() {
            cursor.more.clear();
        }
        Some(record)
    }

    /// Skips bytes that belong to no record. Returns their number.
    #[inline(never)]
    fn catch_up(&mut self) -> usize {
        let (reader, cursor) = (&mut *self.reader, &mut self.cursor);
        let bytes = cursor.rest();
        let rest = reader.leave_rest(bytes);
        if rest > 0 {
            cursor.marks.seek(cursor.at + rest);
        }
        let behind = &bytes[rest..];
        let gap = if reader.is_inside {
            Gap::default()
        } else {
            reader.records.as_dyn().seek(behind, cursor.offset() + rest as u64)
        };
        cursor.at += rest + gap.len;
        reader.offset = cursor.offset();
        reader.line += n_lines(&bytes[..rest]) + gap.lines;
        rest + gap.len
    }

    #[cold]
    fn bad(&self, cause: BadCause, at: usize) -> BadRecord {
        BadRecord { cause, offset: self.cursor.base + self.start as u64, at: at as u64, line: self.line }
    }

    #[inline(always)]
    fn field(&self, part: Part<'a>) -> Field<'a> {
        Field {
            bytes: by_words(part.bytes),
            role: part.role,
            wanted: part.wanted,
            offset: self.cursor.base + (self.start + part.at) as u64,
            line: self.line,
        }
    }
}

/// Iterates over some records, byte for byte; made by [`Reader::records`].
pub struct Records<'r, 'a> {
    fields: Fields<'r, 'a>,
    /// The length of the byte order mark at the start of the bytes, or 0.
    pub mark: usize,
    /// How many bytes after the mark continue a record that was too long.
    pub gap: usize,
}

/// A record and its place in the bytes.
pub struct Whole<'f, 'a> {
    /// Its range in the bytes, including its terminator.
    pub range: Range<usize>,
    /// The number of the line where it begins, from 1.
    pub line: u64,
    pub found: Found<'f, 'a>,
}

/// What a record contains.
pub enum Found<'f, 'a> {
    /// Its fields in their order, at least one.
    Fields(&'f [Part<'a>]),
    Nothing(Skip),
    Bad(BadRecord),
}

impl<'a> Records<'_, 'a> {
    /// Returns the next record.
    pub fn next(&mut self) -> Option<Whole<'_, 'a>> {
        let fields = &mut self.fields;
        let record = fields.read()?;
        let range = self.mark + fields.start..self.mark + fields.cursor.at;
        let found = match record.miss {
            None => {
                fields.cursor.more.splice(0..0, record.first);
                Found::Fields(&fields.cursor.more)
            }
            Some(Miss::Skipped(reason)) => Found::Nothing(reason),
            Some(Miss::Bad(cause, at)) => Found::Bad(fields.bad(cause, at)),
        };
        Some(Whole { range, line: fields.line, found })
    }
}

/// A field that no record of a format can have, or a format that cannot be read from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    format: Format,
    field: Option<Selector>,
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(out, "no field \"{field}\": {}", self.format.row().fields),
            None => out.write_str(self.format.row().needs),
        }
    }
}

impl Error for FieldError {}
