//! Records to the URLs in them: which formats there are, and an iterator over the fields of whole records.
//!
//! A reader knows where in a record of its format a URL stands, and no more: what it does not need it does not check, and it
//! judges nothing. Of most formats a record is a line; a CSV record goes on while a quote is open, and a WARC record has its
//! length in its head. What a header says ([`Format::Cdx`], [`Format::W3c`], [`Format::Csv`]) is the state of the [`Reader`], so
//! that an input may be read piece by piece, and each piece somewhere else: [`Reader::cut`] says where a piece can end.
//!
//! Fields are borrowed from the record unless something in them had to be undone: an escape, a doubled quote, two columns that
//! are one URL.

#[cfg(feature = "parquet")]
pub mod parquet;
mod alb;
mod cdx;
mod cdxj;
mod clf;
mod csv;
mod detect;
mod json;
mod separators;
mod near_bytes;
mod quote_parity;
mod quoted;
mod selector;
mod w3c;
mod warc;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr_iter};
use serde::{Deserialize, Serialize};

use crate::grammar::named_enum::named;
use crate::lines::{last_end, skip_byte_order_mark, trim_terminator};
pub use selector::{FieldError, Selector};
use separators::Marks;

/// The longest record that is read, in bytes; a longer one is refused ([`BadCause::TooLong`]). It bounds the memory of a reader.
pub const MAX_RECORD_LEN: usize = 8 << 20;

named! {
    /// How the URLs of an input are written down.
    Format {
        /// A URL a line.
        Lines = "lines",
        /// CDXJ, the index of web archives: a key, a time and a JSON object a line; its "url".
        Cdxj = "cdxj",
        /// CDX, its forerunner: columns whose letters a header names; column "a", the third where there is no header.
        Cdx = "cdx",
        /// WARC and WET, web archives (ISO 28500): the header WARC-Target-URI of each record.
        Warc = "warc",
        /// WAT, what Common Crawl found in pages: the "url" of each of the "Links" in the JSON of a WARC record.
        Wat = "wat",
        /// The common and combined log formats of Apache and nginx: request target and Referer.
        Clf = "clf",
        /// The extended log format of the W3C (IIS, CloudFront): what a line #Fields names cs-uri-stem, cs-uri-query and
        /// cs(Referer).
        W3c = "w3c",
        /// The access log of the application load balancer of AWS: the URL of the request.
        Alb = "alb",
        /// A JSON object a line: its "url".
        JsonLines = "jsonl",
        /// Comma-separated values (RFC 4180): the column "url".
        Csv = "csv",
        /// Tab-separated values: the column "url".
        Tsv = "tsv",
        /// Parquet, tables column by column: the column "url". No [`Reader`] reads it, since it is told only at the end of a
        /// file where its values are.
        Parquet = "parquet",
    }
}

impl Format {
    /// The format of an input that begins with `head`, by what its first records look like; [`Format::Lines`] where nothing
    /// speaks clearly for another one. Some kilobytes are enough; all may be there is, or the last record cut off.
    ///
    /// ```
    /// use urlsift::records::Format;
    ///
    /// assert_eq!(Format::detect(b"http://example.org/\n"), Format::Lines);
    /// assert_eq!(Format::detect(b"{\"id\": 1, \"url\": \"http://example.org/\"}\n"), Format::JsonLines);
    /// ```
    #[must_use]
    pub fn detect(head: &[u8]) -> Self {
        Self::detect_with(head, &[])
    }

    /// The same of an input of which some fields are wanted: a column, say, that only its header names.
    pub(crate) fn detect_with(head: &[u8], fields: &[Selector]) -> Self {
        detect::detect(skip_byte_order_mark(head, 0), fields)
    }

    /// Whether what [`Format::detect_with`] says of `head`, which ends behind an LF, stays so whatever comes behind it.
    pub(crate) fn is_settled(head: &[u8], fields: &[Selector]) -> bool {
        detect::is_settled(skip_byte_order_mark(head, 0), fields)
    }

    /// Whether its records are lines of text, or some lines each, that can be told apart and put together in another file.
    #[must_use]
    pub fn has_text_records(self) -> bool {
        use Format::{Alb, Cdx, Cdxj, Clf, Csv, JsonLines, Lines, Tsv, W3c};
        matches!(self, Lines | Cdxj | Cdx | Clf | W3c | Alb | JsonLines | Csv | Tsv)
    }

    /// Whether each of its records is a line that can be read without what comes before it: any part of an input that begins and ends
    /// where lines do can be read alone.
    #[must_use]
    pub fn is_cut_at_lines(self) -> bool {
        use Format::{Alb, Cdxj, Clf, JsonLines, Lines};
        matches!(self, Lines | Cdxj | Clf | Alb | JsonLines)
    }

    /// The format of that public name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

named! {
    /// What a field is in its record.
    Role {
        /// The URL that the record is about.
        Url = "url",
        /// What a client asked for: a request target (RFC 9112, section 3.2), mostly a relative reference.
        Request = "request",
        /// Where a client says that it came from (RFC 9110, section 10.1.3).
        Referer = "referer",
        /// A link in a page.
        Link = "link",
    }
}

named! {
    /// Why a record cannot be read.
    BadCause {
        /// The line does not look like a record of the format.
        NotARecord = "not-a-record",
        /// A record stands before the header that names its columns.
        NoHeader = "no-header",
        /// The header names no such column.
        NoColumn = "no-column",
        /// The record ends before the column.
        TooFewFields = "too-few-fields",
        /// A quote is not closed.
        QuoteNotClosed = "quote-not-closed",
        /// Something stands directly behind a closing quote.
        TextBehindQuote = "text-behind-quote",
        /// The request is not a method, a target and perhaps a version.
        BadRequest = "bad-request",
        /// The JSON is broken, or no object.
        BadJson = "bad-json",
        /// An escape in the field means nothing.
        BadEscape = "bad-escape",
        /// The value is no string.
        NotAString = "not-a-string",
        /// The head of a WARC record says not how long the record is.
        NoLength = "no-length",
        /// The input ends inside the record.
        CutOff = "cut-off",
        /// The record is longer than 8 MiB.
        TooLong = "too-long",
    }
}

named! {
    /// Why a record has no field, and nothing is wrong.
    Skip {
        /// It is a blank line.
        Blank = "blank",
        /// It is a comment or a header.
        Comment = "comment",
        /// It has no such field, or the field says that there is nothing ("-", null).
        NoField = "no-field",
    }
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field<'a> {
    /// Its bytes, escapes undone. They may hold anything, line ends too.
    pub bytes: Cow<'a, [u8]>,
    /// What it is.
    pub role: Role,
    /// Where it begins, in bytes from the start of the input; of a Parquet column, from the start of a list of its values and nulls,
    /// a line each.
    pub offset: u64,
    /// The number of the line in which its record begins, from 1; the number of the row in a Parquet file.
    pub line: u64,
}

/// A record that cannot be read. The records behind it can.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BadRecord {
    /// Why.
    pub cause: BadCause,
    /// Where the record begins, in bytes from the start of the input.
    pub offset: u64,
    /// What is wrong, in bytes from the start of the record.
    pub at: u64,
    /// The number of the line in which it begins, from 1.
    pub line: u64,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, byte {}: {}", self.line, self.at + 1, self.cause)
    }
}

impl Error for BadRecord {}

/// How many records there were. Each was read, refused or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    read: u64,
    refused: [u64; BadCause::ALL.len()],
    skipped: [u64; Skip::ALL.len()],
}

impl Counts {
    /// Records that gave a field or more.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Records that could not be read for that cause.
    #[must_use]
    pub fn refused(&self, cause: BadCause) -> u64 {
        self.refused[cause as usize]
    }

    /// Records without a field, for that reason.
    #[must_use]
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// So many that were read, and so many that had no field.
    #[cfg(feature = "parquet")]
    pub(crate) fn of(read: u64, without: u64) -> Self {
        let mut counts = Self { read, ..Self::default() };
        counts.skipped[Skip::NoField as usize] = without;
        counts
    }

    /// All records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.read + self.refused.iter().sum::<u64>() + self.skipped.iter().sum::<u64>()
    }

    /// All records, of whatever numbers somebody has written.
    pub(crate) fn sum(&self) -> u128 {
        self.refused.iter().chain(&self.skipped).chain([&self.read]).copied().map(u128::from).sum()
    }

    /// Adds the records of `other`.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.read += other.read;
        self.refused.iter_mut().zip(other.refused).for_each(|(own, other)| *own += other);
        self.skipped.iter_mut().zip(other.skipped).for_each(|(own, other)| *own += other);
        self
    }
}

/// What a reader of a format says of a record: that it had fields, or why it had none.
type Outcome = Result<(), Miss>;

/// Why a record has given no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Miss {
    Skipped(Skip),
    /// At that byte of the record.
    Bad(BadCause, usize),
}

/// A field as a reader of a format finds it.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) role: Role,
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Where it begins in the record.
    pub(crate) at: usize,
}

/// The fields of a record. Mostly there is one, which never is in memory then.
struct Parts<'m, 'a> {
    first: Option<Part<'a>>,
    /// In memory that serves all records.
    more: &'m mut Vec<Part<'a>>,
}

impl<'m, 'a> Parts<'m, 'a> {
    /// None, and where to put all but the first.
    #[inline(always)]
    fn new(more: &'m mut Vec<Part<'a>>) -> Self {
        Self { first: None, more }
    }

    #[inline(always)]
    fn push(&mut self, part: Part<'a>) {
        if self.first.is_none() {
            self.first = Some(part);
        } else {
            self.more.push(part);
        }
    }

    /// Says that there were fields if there were.
    #[inline(always)]
    fn or_skip(&self) -> Outcome {
        if self.first.is_some() { Ok(()) } else { Err(Miss::Skipped(Skip::NoField)) }
    }
}

/// A record that has been read.
struct Record<'a> {
    /// How many bytes it has, its terminator included.
    len: usize,
    /// How many LFs are in it.
    lines: u64,
    /// The first of its fields, and if there is none, why. The two are apart, since one that is the other would be written in
    /// pieces of some bytes, and whoever reads a word that was just written in pieces waits for it.
    first: Option<Part<'a>>,
    miss: Option<Miss>,
    then: Pending,
}

/// What is to become of the next bytes of an input, in which no record begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// So many are stepped over.
    Skip(u64),
    /// They belong to a line that was too long.
    Line,
    /// They belong to no record, up to where one begins.
    Resync,
}

/// Reads the records of an input: what to look for in them, and what the headers so far have said.
///
/// ```
/// use urlsift::records::{Format, Reader};
/// use urlsift::{Grammar, judge};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("index.cdxj");
/// # std::fs::write(&path, "org,example)/ 20260101000000 {\"url\": \"http://example.org/a b\", \"status\": \"200\"}\n")?;
/// let bytes = std::fs::read(path)?;
/// let refused = Reader::new(Format::Cdxj)
///     .fields(&bytes)
///     .flatten() // leaves out what cannot be read
///     .filter(|field| !judge(&field.bytes).verdict().accepts(Grammar::Rfc3986))
///     .count();
/// assert_eq!(refused, 1);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// What cannot be read says why, and is counted:
///
/// ```
/// use urlsift::records::{BadCause, Format, Reader, Role, Skip};
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
    kind: Kind,
    offset: u64,
    line: u64,
    pending: Pending,
    counts: Counts,
}

/// What there is to know for a format.
#[derive(Clone, Debug)]
enum Kind {
    Lines,
    Cdxj(Vec<json::Path>),
    Cdx(cdx::Columns),
    Warc(warc::Headers),
    Wat,
    Clf(clf::Wanted),
    W3c(w3c::Columns),
    Alb,
    JsonLines(Vec<json::Path>),
    Csv(csv::Table),
}

impl Reader {
    /// A reader of the fields of `format` that its description names.
    ///
    /// # Panics
    /// When it is [`Format::Parquet`].
    #[must_use]
    pub fn new(format: Format) -> Self {
        Self::with_fields(format, &[]).expect("a format that can be read from its start, and its own fields")
    }

    /// A reader of some fields of `format`; without any, those of [`Reader::new`].
    ///
    /// # Errors
    /// When the format cannot have such a field, or is [`Format::Parquet`].
    pub fn with_fields(format: Format, fields: &[Selector]) -> Result<Self, FieldError> {
        let refuse = |n: usize| FieldError::new(format, fields.get(n));
        let kind = match format {
            Format::Lines => fields.is_empty().then_some(Kind::Lines).ok_or(0),
            Format::Cdxj => json::Path::all(fields).map(Kind::Cdxj),
            Format::Cdx => cdx::Columns::new(fields).map(Kind::Cdx),
            Format::Warc => warc::Headers::new(fields).map(Kind::Warc),
            Format::Wat => fields.is_empty().then_some(Kind::Wat).ok_or(0),
            Format::Clf => clf::Wanted::new(fields).map(Kind::Clf),
            Format::W3c => w3c::Columns::new(fields).map(Kind::W3c),
            Format::Alb => alb::check(fields).map(|()| Kind::Alb),
            Format::JsonLines => json::Path::all(fields).map(Kind::JsonLines),
            Format::Csv => csv::Table::new(b',', fields).map(Kind::Csv),
            Format::Tsv => csv::Table::new(b'\t', fields).map(Kind::Csv),
            Format::Parquet => Err(0),
        };
        let kind = kind.map_err(refuse)?;
        Ok(Self { format, kind, offset: 0, line: 1, pending: Pending::Nothing, counts: Counts::default() })
    }

    /// A reader of what stands at `offset` of its input, where a line begins that is counted as number `line`, of a format whose lines
    /// can be read alone ([`Format::is_cut_at_lines`]).
    #[must_use]
    pub(crate) fn standing_at(self, offset: u64, line: u64) -> Self {
        Self { offset, line, ..self }
    }

    /// What it reads.
    #[must_use]
    pub fn format(&self) -> Format {
        self.format
    }

    /// Where the next record begins, in bytes from the start of the input.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of the line in which the next record begins, from 1.
    #[must_use]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How many records it has read, refused and skipped.
    #[must_use]
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The fields of the next records of the input, which `bytes` hold whole: all of the input, or as much as
    /// [`Reader::cut`] said. Reads on behind what it has been given so far.
    ///
    /// Of records that are not taken from the iterator it knows nothing afterwards; so take all. Costs no allocation for a field
    /// that is borrowed.
    pub fn fields<'r, 'a>(&'r mut self, bytes: &'a [u8]) -> Fields<'r, 'a> {
        let body = skip_byte_order_mark(bytes, self.offset);
        self.offset += (bytes.len() - body.len()) as u64;
        let marks = Marks::new(self.kind.separators(), body);
        let (base, line) = (self.offset, self.line);
        Fields { reader: self, marks, base, at: 0, more: Vec::new(), next: 0, start: 0, line }
    }

    /// The next records themselves, whole in `bytes` as for [`Reader::fields`], of a format whose records are lines.
    pub(crate) fn records<'r, 'a>(&'r mut self, bytes: &'a [u8]) -> Records<'r, 'a> {
        let mut fields = self.fields(bytes);
        let mark = bytes.len() - fields.marks.bytes().len();
        let gap = fields.catch_up();
        Records { fields, mark, gap }
    }

    /// How many bytes are missing of the last record, if the input ends here: the body of a WARC record is stepped over, and may
    /// be cut off.
    #[must_use]
    pub fn missing(&self) -> u64 {
        match self.pending {
            Pending::Skip(n) => n,
            Pending::Nothing | Pending::Line | Pending::Resync => 0,
        }
    }

    /// Whether the next bytes go on with a line that was too long to be held.
    pub(crate) fn is_inside_line(&self) -> bool {
        self.pending == Pending::Line
    }

    /// How many of `bytes`, the next of the input, are whole records; 0 when there is not one, and more has to be read. At the
    /// end of the input (`ended`) it is all of them.
    ///
    /// The reader goes on behind them as if it had read them, and counts nothing. A copy made before reads them wherever there
    /// is time:
    ///
    /// ```
    /// use urlsift::records::{Format, Reader};
    ///
    /// let bytes = b"id,url\n1,http://example.org/\n2,\"http://example.org/a\nb\"\n";
    /// let mut reader = Reader::new(Format::Csv);
    /// let mut copy = reader.clone();
    /// let end = reader.cut(&bytes[..50], false); // inside the quotes
    /// assert_eq!((end, copy.fields(&bytes[..end]).count()), (29, 1));
    /// assert_eq!(reader.fields(&bytes[end..]).next().unwrap().unwrap().line, 3);
    /// ```
    ///
    /// It never asks for more than twice [`MAX_RECORD_LEN`]: a record that is longer is cut, and what is left of it is stepped over.
    pub fn cut(&mut self, bytes: &[u8], ended: bool) -> usize {
        let mark = bytes.len() - skip_byte_order_mark(bytes, self.offset).len();
        let len = mark + self.cut_body(&bytes[mark..], self.offset + mark as u64, ended);
        // Without a record behind it, the mark waits for what follows it.
        if len == mark && !ended {
            return 0;
        }
        self.offset += len as u64;
        self.line += memchr_iter(b'\n', &bytes[..len]).count() as u64;
        len
    }

    fn cut_body(&mut self, body: &[u8], offset: u64, ended: bool) -> usize {
        if matches!(self.kind, Kind::Warc(_) | Kind::Wat) {
            let with_bodies = matches!(self.kind, Kind::Wat);
            let (len, pending) = warc::cut(body, self.pending, with_bodies, ended);
            if len > 0 {
                self.pending = pending;
            }
            return len;
        }
        let mut from = 0;
        if self.pending == Pending::Line {
            let Some(lf) = memchr(b'\n', body) else { return body.len() };
            self.pending = Pending::Nothing;
            from = lf + 1;
        }
        let rest = &body[from..];
        let len = match &mut self.kind {
            Kind::Csv(table) => table.cut(rest, offset + from as u64, ended),
            kind => {
                let end = if ended { rest.len() } else { last_end(rest).unwrap_or(0) };
                match kind {
                    Kind::Cdx(columns) => columns.learn(&rest[..end]),
                    Kind::W3c(columns) => columns.learn(&rest[..end]),
                    _ => {}
                }
                end
            }
        };
        if len == 0 && rest.len() > MAX_RECORD_LEN {
            self.pending = Pending::Line;
            return body.len();
        }
        from + len
    }

    /// Whether the next bytes may belong to no record.
    #[inline]
    fn has_gaps(&self) -> bool {
        self.pending != Pending::Nothing || matches!(self.kind, Kind::Warc(_) | Kind::Wat)
    }

    /// Steps over what belongs to no record at the beginning of `bytes`; how long that is.
    fn catch_up(&mut self, bytes: &[u8]) -> usize {
        let mut len = 0;
        match self.pending {
            Pending::Nothing => {}
            Pending::Skip(n) => {
                len = usize::try_from(n).map_or(bytes.len(), |n| n.min(bytes.len()));
                let left = n - len as u64;
                self.pending = if left == 0 { Pending::Nothing } else { Pending::Skip(left) };
            }
            Pending::Line => {
                let end = memchr(b'\n', bytes);
                self.pending = if end.is_some() { Pending::Nothing } else { Pending::Line };
                len = end.map_or(bytes.len(), |lf| lf + 1);
            }
            Pending::Resync => {
                let (garbage, is_all) = warc::garbage(bytes);
                self.pending = if is_all { Pending::Resync } else { Pending::Nothing };
                len = garbage;
            }
        }
        if self.pending == Pending::Nothing && matches!(self.kind, Kind::Warc(_) | Kind::Wat) {
            len += warc::padding(&bytes[len..]);
        }
        self.offset += len as u64;
        self.line += memchr_iter(b'\n', &bytes[..len]).count() as u64;
        len
    }
}

/// The fields of some records; made by [`Reader::fields`].
///
/// Gives all fields of a record before those of the next, in the order in which they stand in it.
#[derive(Debug)]
pub struct Fields<'r, 'a> {
    reader: &'r mut Reader,
    /// Of all the bytes.
    marks: Marks<'a>,
    /// Where they begin in the input.
    base: u64,
    /// Where in them the next record begins.
    at: usize,
    /// What is still to be given of a record.
    more: Vec<Part<'a>>,
    /// The next of these.
    next: usize,
    /// Where that record begins in the bytes, and its line.
    start: usize,
    line: u64,
}

impl<'a> Iterator for Fields<'_, 'a> {
    type Item = Result<Field<'a>, BadRecord>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(part) = self.more.get_mut(self.next) {
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
    /// Reads the next record, and keeps its fields but for the first. `None` behind the last.
    #[inline(always)]
    fn read(&mut self) -> Option<Record<'a>> {
        if self.reader.has_gaps() {
            self.catch_up();
        }
        if self.at == self.marks.bytes().len() {
            return None;
        }
        self.more.clear();
        self.next = 0;
        (self.start, self.line) = (self.at, self.reader.line);
        let offset = self.base + self.at as u64;
        let record = self.reader.kind.read(&mut self.marks, self.at, offset, &mut self.more);
        self.at += record.len;
        self.reader.offset = offset + record.len as u64;
        self.reader.line += record.lines;
        if record.then != Pending::Nothing {
            self.reader.pending = record.then;
        }
        let counts = &mut self.reader.counts;
        match record.miss {
            None => counts.read += 1,
            Some(Miss::Skipped(reason)) => counts.skipped[reason as usize] += 1,
            Some(Miss::Bad(cause, _)) => counts.refused[cause as usize] += 1,
        }
        if record.first.is_none() {
            self.more.clear();
        }
        Some(record)
    }

    /// Steps over what belongs to no record; how long that is.
    #[inline(never)]
    fn catch_up(&mut self) -> usize {
        if !self.reader.has_gaps() {
            return 0;
        }
        let gap = self.reader.catch_up(&self.marks.bytes()[self.at..]);
        self.at += gap;
        self.marks.seek(self.at);
        gap
    }

    #[cold]
    fn bad(&self, cause: BadCause, at: usize) -> BadRecord {
        BadRecord { cause, offset: self.base + self.start as u64, at: at as u64, line: self.line }
    }

    #[inline(always)]
    fn field(&self, part: Part<'a>) -> Field<'a> {
        Field {
            bytes: part.bytes,
            role: part.role,
            offset: self.base + (self.start + part.at) as u64,
            line: self.line,
        }
    }
}

/// The records of some bytes, each as it stands there; made by [`Reader::records`].
pub(crate) struct Records<'r, 'a> {
    fields: Fields<'r, 'a>,
    /// How many bytes there are of a byte order mark, with which they begin.
    pub(crate) mark: usize,
    /// How many bytes behind it go on with a record that was too long.
    pub(crate) gap: usize,
}

/// A record where it stands.
pub(crate) struct Whole<'f, 'a> {
    /// Where in the bytes, with its terminator.
    pub(crate) range: Range<usize>,
    /// The number of the line in which it begins, from 1.
    pub(crate) line: u64,
    pub(crate) found: Found<'f, 'a>,
}

/// What there is in a record.
pub(crate) enum Found<'f, 'a> {
    /// Fields, in the order in which they stand there, one at least.
    Fields(&'f [Part<'a>]),
    Nothing(Skip),
    Bad(BadRecord),
}

impl<'a> Records<'_, 'a> {
    /// The next of them.
    pub(crate) fn next(&mut self) -> Option<Whole<'_, 'a>> {
        let fields = &mut self.fields;
        let record = fields.read()?;
        let range = self.mark + fields.start..self.mark + fields.at;
        let found = match record.miss {
            None => {
                fields.more.splice(0..0, record.first);
                Found::Fields(&fields.more)
            }
            Some(Miss::Skipped(reason)) => Found::Nothing(reason),
            Some(Miss::Bad(cause, at)) => Found::Bad(fields.bad(cause, at)),
        };
        Some(Whole { range, line: fields.line, found })
    }
}

impl Kind {
    /// What stands between the fields and behind the records, or around strings, where they are found by that.
    fn separators(&self) -> separators::Set {
        match self {
            Self::Clf(_) | Self::Alb => quoted::SEPARATORS,
            Self::Cdx(columns) => columns.separators(),
            Self::W3c(_) => w3c::SEPARATORS,
            Self::Csv(table) => table.separators(),
            Self::Cdxj(_) | Self::Wat | Self::JsonLines(_) => json::SEPARATORS,
            Self::Lines | Self::Warc(_) => [b'\n'; 3],
        }
    }

    /// Reads the record that begins at `at` of the bytes, which is `offset` of the input. Of formats whose records are
    /// stepped through by separators the next of `marks` is in it or behind it, and afterwards behind it.
    #[inline]
    fn read<'a>(
        &mut self,
        marks: &mut Marks<'a>,
        at: usize,
        offset: u64,
        more: &mut Vec<Part<'a>>,
    ) -> Record<'a> {
        match self {
            Self::Csv(table) => table.read(marks, at, offset, more),
            Self::Warc(headers) => warc::read(&marks.bytes()[at..], headers, more),
            Self::Wat => warc::read_links(marks, at, more),
            Self::Clf(wanted) => wanted.read(marks, at, more),
            Self::Alb => alb::read(marks, at, more),
            Self::Cdx(columns) => columns.read(marks, at, more),
            Self::W3c(columns) => columns.read(marks, at, more),
            Self::Lines | Self::Cdxj(_) | Self::JsonLines(_) => self.read_line(marks, at, more),
        }
    }

    /// Reads the line that begins at `at`.
    #[inline(never)]
    fn read_line<'a>(&self, marks: &mut Marks<'a>, at: usize, more: &mut Vec<Part<'a>>) -> Record<'a> {
        Record::line(first_line(&marks.bytes()[at..]), more, |line, parts| match self {
            Self::Cdxj(paths) => cdxj::read(marks, at..at + line.len(), paths, parts),
            Self::JsonLines(paths) => json::read(marks, at..at + line.len(), 0, paths, parts),
            _ => {
                parts.push(Part { role: Role::Url, bytes: Cow::Borrowed(line), at: 0 });
                Ok(())
            }
        })
    }
}

/// A line without its terminator. Of one that is too long only the LF is left out: where its CRs end may not be known yet.
pub(crate) fn without_end(line: &[u8]) -> &[u8] {
    let all = line.strip_suffix(b"\n").unwrap_or(line);
    if all.len() > MAX_RECORD_LEN { all } else { trim_terminator(all).0 }
}

/// The first line of `bytes`, with its terminator.
#[inline]
fn first_line(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr(b'\n', bytes).map_or(bytes.len(), |lf| lf + 1)]
}

impl<'a> Record<'a> {
    #[inline(always)]
    fn new(len: usize, lines: u64, parts: Parts<'_, 'a>, outcome: Outcome, then: Pending) -> Self {
        let first = if outcome.is_ok() { parts.first } else { None };
        Self { len, lines, first, miss: outcome.err(), then }
    }

    /// One that is the line `bytes`, which `read` reads without its terminator unless it is blank or too long.
    #[inline(always)]
    fn line(
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
        // Of a line that is too long, its end may be missing.
        let is_open = !ends && matches!(outcome, Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN)));
        let then = if is_open { Pending::Line } else { Pending::Nothing };
        Self::new(bytes.len(), u64::from(ends), parts, outcome, then)
    }
}
