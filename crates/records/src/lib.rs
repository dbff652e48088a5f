//! The record formats, and an iterator over those fields of records that are URLs.
//!
//! A reader finds the wanted fields of its format. It checks nothing else in a record, and judges no URL. In most formats a
//! record is one line. A quoted CSV field may span lines, and a WARC record has its length in its head.
//!
//! The [`Reader`] keeps what a header says ([`Format::Cdx`], [`Format::W3c`], [`Format::Csv`]). An input can therefore be read in
//! chunks, each on another thread. [`Reader::cut`] says where a chunk can end.
//!
//! A field is borrowed from its record unless its bytes must change: an escape or a doubled quote is undone, or two columns form
//! one URL.
//!
//! A part of the crate `urlsift`, for that crate alone: it promises no stability.

#![deny(unsafe_code)]
#![allow(
    missing_docs,
    clippy::must_use_candidate,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    clippy::should_implement_trait,
    reason = "what is public is what the crate urlsift re-exports"
)]

pub mod text_shape;
pub mod input_signs;
#[cfg(feature = "parquet")]
pub mod parquet;
mod alb;
pub mod field_names;
mod cdx;
mod cdxj;
mod clf;
mod container;
mod csv;
mod detect;
mod dialect;
mod http;
mod json;
mod log;
mod markup;
mod separators;
mod near_bytes;
pub mod page;
mod quote_parity;
mod quoted;
mod selector;
mod text;
mod w3c;
mod warc;

use std::borrow::Cow;
use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter};
use serde::{Deserialize, Serialize};

pub use dialect::{Dialect, Escape};
use field_names::Choice;
use page::Page;
pub use selector::{FieldError, Selector};
use separators::Marks;
use urlsift_engine::lines::{last_end, skip_byte_order_mark, trim_terminator};
use urlsift_grammar::named;

/// The longest record that is read, in bytes. Longer ones are refused ([`BadCause::TooLong`]), which bounds the memory of a
/// reader.
pub const MAX_RECORD_LEN: usize = 8 << 20;

named! {
    /// How the URLs of an input are stored.
    Format {
        /// One URL per line.
        Lines = "lines",
        /// CDXJ, an index of web archives: a key, a time and a JSON object per line. Read: its "url".
        Cdxj = "cdxj",
        /// CDX, the predecessor of CDXJ: columns that a header names by letters. Read: column "a", or the third column without a header.
        Cdx = "cdx",
        /// WARC and WET, web archives (ISO 28500). Read: the header WARC-Target-URI of each record. The field "body-links"
        /// has the links of pages.
        Warc = "warc",
        /// WAT, the page metadata of Common Crawl. Read: the "url" of each of the "Links" in the JSON of a WARC record.
        Wat = "wat",
        /// The common and combined log formats of Apache and nginx. Read: request target and Referer.
        Clf = "clf",
        /// The extended log format of the W3C (IIS, CloudFront). Read: the columns that a line #Fields names cs-uri-stem, cs-uri-query
        /// and cs(Referer).
        W3c = "w3c",
        /// The access log of the application load balancer of AWS. Read: the URL of the request.
        Alb = "alb",
        /// The server access log of Amazon S3. Read: request target and Referer.
        S3 = "s3",
        /// The access log of the classic load balancer of AWS. Read: the URL of the request.
        Elb = "elb",
        /// The HTTP log of HAProxy, with or without what syslog writes before it. Read: request target.
        Haproxy = "haproxy",
        /// The native access log of Squid. Read: the URL.
        Squid = "squid",
        /// The default access log of Envoy. Read: request target.
        Envoy = "envoy",
        /// The log http.log of Zeek, with tabs. Read: the columns that a line #fields names uri and referrer.
        Zeek = "zeek",
        /// The log of IIS without a line #Fields. Read: the columns of the default order, as in [`Format::W3c`].
        Iis = "iis",
        /// A log whose pattern the user gives ([`Reading::log_format`](crate::run::Reading::log_format)). Read: the variables that
        /// are URLs. Never detected.
        Log = "log",
        /// One JSON value per line. Read: the "url" of an object, or the URLs of a known log pipeline.
        JsonLines = "jsonl",
        /// A JSON text of any size. Read: the "url" of each element of an array at the top, of each value of a sequence, or of each
        /// entry of a HAR.
        Json = "json",
        /// Logs of containers in Kubernetes (CRI): a time, a stream, a tag and a line of another log. Read: the URLs of that line, if it
        /// is JSON or a line of an access log.
        Cri = "cri",
        /// A table of text: comma-separated values (RFC 4180), or the same with semicolons, bars or tabs. Read: the column of URLs.
        Csv = "csv",
        /// Tab-separated values. Read: the column of URLs.
        Tsv = "tsv",
        /// Parquet, which stores tables by column. Read: the column of URLs. No [`Reader`] reads it, because the positions of its
        /// values are at the end of the file.
        Parquet = "parquet",
        /// Running text, or any bytes. Read: the URLs in it. Never detected.
        Text = "text",
        /// XML: sitemaps, RSS, Atom and others. Read: the elements and attributes that are usually URLs.
        Xml = "xml",
        /// HTML pages. Read: the attributes that are links (href, src, srcset, action and others).
        Html = "html",
    }
}

impl Format {
    /// Returns the format of an input that begins with `head`, judged by its first records. The result is [`Format::Lines`]
    /// unless another format is clear. A few kilobytes are enough. `head` may be the whole input, and it may end inside a record.
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_records as internal; pub use urlsift_records as run; }
    /// use urlsift::run::Format;
    ///
    /// assert_eq!(Format::detect(b"http://example.org/\n"), Format::Lines);
    /// assert_eq!(Format::detect(b"{\"id\": 1, \"url\": \"http://example.org/\"}\n"), Format::JsonLines);
    /// ```
    #[must_use]
    pub fn detect(head: &[u8]) -> Self {
        Self::detect_with(head, &[])
    }

    /// Like [`Format::detect`], for an input from which `fields` are wanted. A header may name a wanted column.
    pub fn detect_with(head: &[u8], fields: &[Selector]) -> Self {
        detect::detect(skip_byte_order_mark(head, 0), fields)
    }

    /// Whether the result of [`Format::detect_with`] is final: no bytes after `head` can change it. `head` ends with an LF.
    pub fn is_settled(head: &[u8], fields: &[Selector]) -> bool {
        detect::is_settled(skip_byte_order_mark(head, 0), fields)
    }

    /// Whether each record is one or more lines of text, so that single records can be copied to another file.
    #[must_use]
    pub fn has_text_records(self) -> bool {
        !matches!(
            self,
            Self::Warc | Self::Wat | Self::Json | Self::Xml | Self::Html | Self::Parquet | Self::Text
        )
    }

    /// Whether each record is one line that can be read without the lines before it. Any part of an input that begins and ends at
    /// line boundaries can then be read alone.
    #[must_use]
    pub fn is_cut_at_lines(self) -> bool {
        use Format::{Alb, Cdxj, Clf, Cri, Elb, Envoy, Haproxy, JsonLines, Lines, Log, S3, Squid};
        matches!(self, Lines | Cdxj | Clf | Alb | S3 | Elb | Haproxy | Squid | Envoy | Log | JsonLines | Cri)
    }

    /// Whether a field ends at a byte that a password may contain, such as a quote or a comma. So it may end inside a password.
    #[must_use]
    pub fn ends_at_delimiters(self) -> bool {
        !matches!(self, Self::Lines | Self::Parquet)
    }

    /// Finds the format with this public name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|format| format.name() == name)
    }
}

named! {
    /// The role of a field in its record.
    Role {
        /// The URL that the record is about.
        Url = "url",
        /// The request target of a client (RFC 9112, section 3.2), mostly a relative reference.
        Request = "request",
        /// The page that a client says it came from (RFC 9110, section 10.1.3).
        Referer = "referer",
        /// A link in a page.
        Link = "link",
        /// What a page shows or runs itself: an image, a script, a frame.
        Embed = "embed",
    }
}

named! {
    /// Why a record cannot be read.
    BadCause {
        /// The line does not look like a record of the format.
        NotARecord = "not-a-record",
        /// The record precedes the header that names its columns.
        NoHeader = "no-header",
        /// The header names no such column.
        NoColumn = "no-column",
        /// The record ends before the column.
        TooFewFields = "too-few-fields",
        /// A quote is not closed.
        QuoteNotClosed = "quote-not-closed",
        /// Text directly follows a closing quote.
        TextBehindQuote = "text-behind-quote",
        /// A backslash precedes a quote, and neither way to read it gives a well-formed record.
        DoubtfulQuote = "doubtful-quote",
        /// The request is not a method, a target and perhaps a version.
        BadRequest = "bad-request",
        /// The JSON is damaged, or is not an object.
        BadJson = "bad-json",
        /// An escape in the field is invalid.
        BadEscape = "bad-escape",
        /// The value is not a string.
        NotAString = "not-a-string",
        /// The head of a WARC record does not give the length of the record.
        NoLength = "no-length",
        /// The input or the page ends inside the record.
        CutOff = "cut-off",
        /// The record is longer than 8 MiB.
        TooLong = "too-long",
        /// In running text, no scheme precedes "://".
        NoScheme = "no-scheme",
        /// In running text, nothing of a URL follows "://" or "www.".
        NothingFollows = "nothing-follows",
        /// XML does not allow the tag, or the end tag does not match.
        BadXml = "bad-xml",
        /// The body of a page in a web archive is not compressed or chunked as its head says.
        BadEncoding = "bad-encoding",
    }
}

named! {
    /// Why a record has no field although nothing is wrong.
    Skip {
        /// It is a blank line.
        Blank = "blank",
        /// It is a comment.
        Comment = "comment",
        /// It is the header, which names the columns.
        Header = "header",
        /// It has no such field, or the field marks itself as empty ("-", null).
        NoField = "no-field",
        /// It is a page in a web archive whose body is compressed in a way that is not read.
        Encoded = "encoded",
    }
}

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

/// A record that cannot be read. Later records are still read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BadRecord {
    /// Why it cannot be read.
    pub cause: BadCause,
    /// The offset of the record in bytes, from the start of the input.
    pub offset: u64,
    /// The offset of the defect in bytes, from the start of the record.
    pub at: u64,
    /// The number of the line where the record begins, from 1.
    pub line: u64,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, byte {}: {}", self.line, self.at + 1, self.cause)
    }
}

impl Error for BadRecord {}

/// Counts of records. Each record is read, refused or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    read: u64,
    refused: [u64; BadCause::ALL.len()],
    skipped: [u64; Skip::ALL.len()],
}

impl Counts {
    /// Records that gave at least one field.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Records that could not be read, for this cause.
    #[must_use]
    pub fn refused(&self, cause: BadCause) -> u64 {
        self.refused[cause as usize]
    }

    /// Records without a field, for this reason.
    #[must_use]
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// Counts of `read` records that had a field, and of records `without` one.
    #[cfg(feature = "parquet")]
    pub fn of(read: u64, without: u64) -> Self {
        let mut counts = Self { read, ..Self::default() };
        counts.skipped[Skip::NoField as usize] = without;
        counts
    }

    /// The number of all records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.read + self.refused.iter().sum::<u64>() + self.skipped.iter().sum::<u64>()
    }

    /// The number of all records. The sum cannot overflow, even if the counts come from a partial report that somebody edited.
    pub fn sum(&self) -> u128 {
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

/// The result of a format's reader for one record: it had fields, or why it had none.
type Outcome = Result<(), Miss>;

/// Why a record gave no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Miss {
    Skipped(Skip),
    /// The cause, and the offset of the defect in the record.
    Bad(BadCause, usize),
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

/// The fields of a record. Most records have one, which then stays in registers.
struct Parts<'m, 'a> {
    first: Option<Part<'a>>,
    /// All fields but the first. All records share this memory.
    more: &'m mut Vec<Part<'a>>,
}

impl<'m, 'a> Parts<'m, 'a> {
    /// Starts without fields. `more` receives all but the first.
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

    /// The number of fields so far.
    fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.more.len()
    }

    /// Notes that the wanted field with this index selects all fields but the first `n`.
    fn select_from(&mut self, n: usize, wanted: u32) {
        let others = self.first.iter_mut().chain(self.more.iter_mut()).skip(n);
        others.for_each(|part| part.wanted = wanted);
    }

    /// Returns `Ok` if there is a field, and [`Skip::NoField`] otherwise.
    #[inline(always)]
    fn or_skip(&self) -> Outcome {
        if self.first.is_some() { Ok(()) } else { Err(Miss::Skipped(Skip::NoField)) }
    }
}

/// A record that has been read.
struct Record<'a> {
    /// Its length in bytes, including its terminator.
    len: usize,
    /// How many LFs it contains.
    lines: u64,
    /// The first field; if there is none, `miss` says why. These are two members because the compiler stores an enum in parts of
    /// a few bytes. A load of a word that was just stored in parts stalls.
    first: Option<Part<'a>>,
    miss: Option<Miss>,
    then: Pending,
}

/// How to treat the next bytes of an input, if no record begins there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pending {
    Nothing,
    /// Skip this many bytes.
    Skip(u64),
    /// They are the rest of a line that was too long.
    Line,
    /// They are the rest of a word of running text that was too long.
    Word,
    /// They belong to no record. Search for the start of the next one.
    Resync,
    /// They continue a comment or another part of a document that has no records.
    Markup(markup::Inside),
}

/// Reads the records of an input. It knows which fields are wanted, and what the headers so far have said.
///
/// ```
/// # mod urlsift { pub use urlsift_records as internal; pub use urlsift_records as run; pub use urlsift_grammar::{Grammar, judge::judge}; }
/// use urlsift::internal::Reader;
/// use urlsift::run::Format;
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
    kind: FormatState,
    offset: u64,
    line: u64,
    pending: Pending,
    counts: Counts,
    names: WantedNames,
}

/// The names of the wanted fields as the user gave them, if there are several.
#[derive(Clone, Debug, Default)]
pub struct WantedNames(Arc<[String]>);

impl WantedNames {
    pub fn new(fields: &[Selector]) -> Self {
        Self(if fields.len() > 1 { fields.iter().map(Selector::to_string).collect() } else { Arc::default() })
    }

    /// The names in the order of the user. Empty if there is one field or none.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// What a field is called in a row: by the wanted field that selects it, or by its role.
    pub fn of(&self, wanted: u32, role: Role) -> &str {
        self.0.get(wanted as usize).map_or(role.name(), String::as_str)
    }
}

/// The state that each format needs.
#[derive(Clone, Debug)]
enum FormatState {
    Lines,
    Cdxj(json::Wanted),
    Cdx(cdx::Columns),
    Warc(warc::Headers),
    Wat,
    Clf(clf::WantedFields),
    W3c(w3c::Columns),
    Alb,
    Log(Arc<log::Plan>),
    JsonLines(json::Wanted),
    Json(Box<json::Document>),
    Cri,
    Csv(csv::Table),
    Text(Box<text::Search>),
    Markup(Box<markup::Search>),
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
        let refuse = |n: usize| FieldError::new(format, fields.get(n));
        let kind = match format {
            Format::Lines => fields.is_empty().then_some(FormatState::Lines).ok_or(0),
            Format::Cdxj => json::Path::all(fields).map(json::Wanted::Paths).map(FormatState::Cdxj),
            Format::Cdx => cdx::Columns::new(fields).map(FormatState::Cdx),
            Format::Warc => warc::Headers::new(fields).map(FormatState::Warc),
            Format::Wat => fields.is_empty().then_some(FormatState::Wat).ok_or(0),
            Format::Clf => clf::WantedFields::new(fields).map(FormatState::Clf),
            Format::W3c | Format::Zeek | Format::Iis => {
                w3c::Columns::new(format, fields).map(FormatState::W3c)
            }
            Format::Alb => alb::check(fields).map(|()| FormatState::Alb),
            Format::S3 | Format::Elb | Format::Haproxy | Format::Squid | Format::Envoy => {
                log::preset(format, fields).map(|plan| FormatState::Log(Arc::new(plan)))
            }
            Format::JsonLines => json::Wanted::new(fields).map(FormatState::JsonLines),
            Format::Json => json::Document::new(fields).map(|document| FormatState::Json(Box::new(document))),
            Format::Cri => fields.is_empty().then_some(FormatState::Cri).ok_or(0),
            Format::Csv => csv::Table::new(Dialect::of(','), fields).map(FormatState::Csv),
            Format::Tsv => csv::Table::new(Dialect::of('\t'), fields).map(FormatState::Csv),
            Format::Text if fields.is_empty() => Ok(FormatState::Text(Box::new(text::Search::new()))),
            Format::Log => return Err(FieldError::new(format, None)),
            Format::Xml | Format::Html => markup::Search::new(format == Format::Html, fields)
                .map(|search| FormatState::Markup(Box::new(search))),
            Format::Text | Format::Parquet => Err(0),
        };
        Ok(Self::of_kind(format, kind.map_err(refuse)?, fields))
    }

    /// Creates a reader of `fields` of log lines with this pattern. Without fields, it reads all variables that are URLs.
    ///
    /// # Errors
    /// When the pattern is malformed or ambiguous, or has no such field.
    pub fn of_log(pattern: &str, fields: &[Selector]) -> Result<Self, String> {
        match log::Plan::of(pattern, fields) {
            Ok(plan) => Ok(Self::of_kind(Format::Log, FormatState::Log(Arc::new(plan)), fields)),
            Err(log::Fault::Field(n)) => Err(FieldError::new(Format::Log, fields.get(n)).to_string()),
            Err(fault) => Err(format!("the log format cannot be read: {fault}")),
        }
    }

    fn of_kind(format: Format, kind: FormatState, fields: &[Selector]) -> Self {
        Self {
            format,
            kind,
            offset: 0,
            line: 1,
            pending: Pending::Nothing,
            counts: Counts::default(),
            names: WantedNames::new(fields),
        }
    }

    /// The names of the wanted fields, if there are several.
    pub fn names(&self) -> &WantedNames {
        &self.names
    }

    /// Moves the reader to `offset` of its input, where line number `line` begins. Lines of the format must be readable alone
    /// ([`Format::is_cut_at_lines`]).
    #[must_use]
    pub fn standing_at(self, offset: u64, line: u64) -> Self {
        Self { offset, line, ..self }
    }

    /// The same reader for a table in this dialect. Readers of other formats stay as they are.
    #[must_use]
    pub fn in_dialect(self, dialect: Dialect) -> Self {
        let kind = match self.kind {
            FormatState::Csv(table) => FormatState::Csv(table.in_dialect(dialect)),
            kind => kind,
        };
        Self { kind, ..self }
    }

    /// The dialect of a table; `None` if it reads no table of text.
    pub fn dialect(&self) -> Option<Dialect> {
        match &self.kind {
            FormatState::Csv(table) => Some(table.dialect()),
            _ => None,
        }
    }

    /// The pattern that a user gave for log lines.
    pub fn log_format(&self) -> Option<&str> {
        match &self.kind {
            FormatState::Log(plan) => plan.text(),
            _ => None,
        }
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

    /// From which column of a table its fields are. `None` if it reads no table, or has not read a record yet.
    pub fn choice(&self) -> Option<&Choice> {
        match &self.kind {
            FormatState::Csv(table) => Some(table.choice()),
            FormatState::W3c(columns) => Some(columns.choice()),
            _ => None,
        }
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
        let marks = Marks::new(self.kind.separators(), body);
        let (base, line) = (self.offset, self.line);
        Fields { reader: self, marks, base, at: 0, more: Vec::new(), next: 0, start: 0, line }
    }

    /// Iterates over the next records themselves, if they are lines of text. As for [`Reader::fields`], `bytes` holds whole
    /// records.
    pub fn records<'r, 'a>(&'r mut self, bytes: &'a [u8]) -> Records<'r, 'a> {
        let mut fields = self.fields(bytes);
        let mark = bytes.len() - fields.marks.bytes().len();
        let gap = fields.catch_up();
        Records { fields, mark, gap }
    }

    /// What is wrong with the input, if it ends here: the body of a WARC record is cut off, a comment of a document is not closed, or
    /// the rest of a JSON text was not read. `None` if nothing is wrong, or a refused record says it.
    #[must_use]
    pub fn complaint(&self) -> Option<String> {
        match self.pending {
            Pending::Skip(missing) => {
                return Some(format!("ends inside a record, of which {missing} bytes are missing"));
            }
            Pending::Markup(inside) => return Some(inside.describe()),
            Pending::Nothing | Pending::Line | Pending::Word | Pending::Resync => {}
        }
        if let FormatState::Json(document) = &self.kind { document.complaint() } else { None }
    }

    /// Whether the next bytes continue a line or a word that was too long to be held.
    pub fn is_inside_line(&self) -> bool {
        matches!(self.pending, Pending::Line | Pending::Word)
    }

    /// Returns how many of `bytes`, the next bytes of the input, are whole records. It is 0 if there is no whole record and more
    /// bytes are needed. At the end of the input (`ended`) it is all of them.
    ///
    /// The reader moves past these bytes as if it had read them, but counts nothing. A copy made before the call can read them
    /// later, on any thread:
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_records as internal; pub use urlsift_records as run; }
    /// use urlsift::internal::Reader;
    /// use urlsift::run::Format;
    ///
    /// let bytes = b"id,url\n1,http://example.org/\n2,\"http://example.org/a\nb\"\n";
    /// let mut reader = Reader::new(Format::Csv);
    /// let mut copy = reader.clone();
    /// let end = reader.cut(&bytes[..50], false); // inside the quotes
    /// assert_eq!((end, copy.fields(&bytes[..end]).count()), (29, 1));
    /// assert_eq!(reader.fields(&bytes[end..]).next().unwrap().unwrap().line, 3);
    /// ```
    ///
    /// It never needs more than twice [`MAX_RECORD_LEN`] bytes: a longer record is cut, and its rest is skipped.
    pub fn cut(&mut self, bytes: &[u8], ended: bool) -> usize {
        let mark = bytes.len() - skip_byte_order_mark(bytes, self.offset).len();
        let len = mark + self.cut_body(&bytes[mark..], self.offset + mark as u64, ended);
        // A byte order mark alone is no chunk: it waits for a record.
        if len == mark && !ended {
            return 0;
        }
        self.offset += len as u64;
        self.line += memchr_iter(b'\n', &bytes[..len]).count() as u64;
        len
    }

    fn cut_body(&mut self, body: &[u8], offset: u64, ended: bool) -> usize {
        if matches!(self.kind, FormatState::Warc(_) | FormatState::Wat) {
            let with_bodies = match &self.kind {
                FormatState::Warc(headers) => headers.with_bodies(),
                _ => true,
            };
            let (len, pending) = warc::cut(body, self.pending, with_bodies, ended);
            if len > 0 {
                self.pending = pending;
            }
            return len;
        }
        if let FormatState::Text(_) = self.kind {
            let (len, pending) = text::cut(body, self.pending, ended);
            if len > 0 {
                self.pending = pending;
            }
            return len;
        }
        if let FormatState::Json(document) = &mut self.kind {
            if offset == 0 && !ended && b"\xef\xbb\xbf".starts_with(body) {
                return 0;
            }
            return document.cut(body, offset, ended);
        }
        if let FormatState::Markup(search) = &mut self.kind {
            let (len, pending) = search.cut(body, self.pending, offset, ended);
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
            FormatState::Csv(table) => table.cut(rest, offset + from as u64, ended),
            kind => {
                let end = if ended { rest.len() } else { last_end(rest).unwrap_or(0) };
                match kind {
                    FormatState::Cdx(columns) => columns.learn(&rest[..end]),
                    FormatState::W3c(columns) => columns.learn(&rest[..end]),
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
        self.pending != Pending::Nothing
            || matches!(
                self.kind,
                FormatState::Warc(_)
                    | FormatState::Wat
                    | FormatState::Text(_)
                    | FormatState::Json(_)
                    | FormatState::Markup(_)
            )
    }

    /// Skips bytes at the start of `bytes` that belong to no record. Returns their number.
    fn catch_up(&mut self, bytes: &[u8]) -> usize {
        let mut len = 0;
        match self.pending {
            Pending::Nothing | Pending::Markup(_) => {}
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
            Pending::Word => {
                len = text::word_len(bytes);
                self.pending = if len == bytes.len() { Pending::Word } else { Pending::Nothing };
            }
            Pending::Resync => {
                let (garbage, is_all) = warc::garbage(bytes);
                self.pending = if is_all { Pending::Resync } else { Pending::Nothing };
                len = garbage;
            }
        }
        let has_padding = match &self.kind {
            FormatState::Warc(headers) => !headers.is_inside_page(),
            kind => matches!(kind, FormatState::Wat),
        };
        if self.pending == Pending::Nothing && has_padding {
            len += warc::padding(&bytes[len..]);
        }
        self.line += memchr_iter(b'\n', &bytes[..len]).count() as u64;
        if let FormatState::Json(document) = &mut self.kind {
            let gap = document.seek(&bytes[len..], self.offset + len as u64);
            self.line += memchr_iter(b'\n', &bytes[len..len + gap]).count() as u64;
            len += gap;
        }
        if let FormatState::Text(search) = &mut self.kind {
            let (gap, lines) = search.seek(&bytes[len..], self.offset + len as u64);
            len += gap;
            self.line += lines;
        }
        if let FormatState::Markup(search) = &mut self.kind {
            let gap;
            (gap, self.pending) = search.seek(bytes, self.pending, self.offset);
            len += gap;
            self.line += memchr_iter(b'\n', &bytes[..gap]).count() as u64;
        }
        self.offset += len as u64;
        len
    }
}

/// Iterates over the fields of some records; made by [`Reader::fields`].
///
/// All fields of a record precede those of the next record, in their order in the record.
#[derive(Debug)]
pub struct Fields<'r, 'a> {
    reader: &'r mut Reader,
    /// The separators in the bytes.
    marks: Marks<'a>,
    /// Where the bytes begin in the input.
    base: u64,
    /// Where the next record begins in the bytes.
    at: usize,
    /// The fields of the current record after the first.
    more: Vec<Part<'a>>,
    /// The index of the next one to return.
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
    /// The page that the last field is from, which the wanted field with this index selects.
    pub fn page(&self, wanted: u32) -> &Page {
        match &self.reader.kind {
            FormatState::Warc(headers) => headers.page(wanted),
            FormatState::Markup(search) => search.page(),
            _ => &Page::NONE,
        }
    }

    /// Reads the next record, and stores all its fields but the first in `more`. Returns `None` after the last record.
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

    /// Skips bytes that belong to no record. Returns their number.
    #[inline(never)]
    fn catch_up(&mut self) -> usize {
        if !self.reader.has_gaps() {
            return 0;
        }
        let gap = self.reader.catch_up(&self.marks.bytes()[self.at..]);
        self.at += gap;
        if !matches!(self.reader.kind, FormatState::Text(_) | FormatState::Json(_) | FormatState::Markup(_)) {
            self.marks.seek(self.at);
        }
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
            wanted: part.wanted,
            offset: self.base + (self.start + part.at) as u64,
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

impl FormatState {
    /// The bytes that [`Marks`] search for: what separates fields and records, or delimits strings. Lines, patterns of logs, WARC,
    /// text and markup do not use them.
    fn separators(&self) -> separators::Set {
        match self {
            Self::Clf(_) | Self::Alb => quoted::SEPARATORS,
            Self::Cdx(columns) => columns.separators(),
            Self::W3c(_) => w3c::SEPARATORS,
            Self::Csv(table) => table.separators(),
            Self::Cdxj(_) | Self::Wat | Self::JsonLines(_) | Self::Json(_) => json::SEPARATORS,
            Self::Lines | Self::Log(_) | Self::Warc(_) | Self::Text(_) | Self::Markup(_) | Self::Cri => {
                [b'\n'; 3]
            }
        }
    }

    /// Reads the record at byte `at` of the bytes, which is byte `offset` of the input. In formats that step through separators,
    /// the next of `marks` is at `at` or later. Afterwards it is after the record.
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
            Self::Text(search) => search.record(&marks.bytes()[at..]),
            Self::Json(document) => document.read(marks, at, offset, more),
            Self::Markup(search) => search.read(&marks.bytes()[at..], more),
            Self::Clf(wanted) => wanted.read(marks, at, more),
            Self::Alb => alb::read(marks, at, more),
            Self::Log(plan) => plan.read(&marks.bytes()[at..], more),
            Self::Cdx(columns) => columns.read(marks, at, more),
            Self::W3c(columns) => columns.read(marks, at, more),
            Self::Lines | Self::Cdxj(_) | Self::JsonLines(_) | Self::Cri => self.read_line(marks, at, more),
        }
    }

    /// Reads the line that begins at `at`.
    #[inline(never)]
    fn read_line<'a>(&self, marks: &mut Marks<'a>, at: usize, more: &mut Vec<Part<'a>>) -> Record<'a> {
        Record::line(first_line(&marks.bytes()[at..]), more, |line, parts| match self {
            Self::Cdxj(wanted) => cdxj::read(marks, at..at + line.len(), wanted, parts),
            Self::JsonLines(wanted) => json::read(marks, at..at + line.len(), 0, wanted, parts),
            Self::Cri => container::read(line, parts),
            _ => {
                parts.push(Part { role: Role::Url, wanted: 0, bytes: Cow::Borrowed(line), at: 0 });
                Ok(())
            }
        })
    }
}

/// A line without its terminator. A line that is too long loses only its LF, because it may be cut inside its CRs.
pub fn without_end(line: &[u8]) -> &[u8] {
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

    /// A record that is the line `bytes`. `read` gets this line without its terminator, unless it is blank or too long.
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
        // The end of a line that is too long may be in a later chunk.
        let is_open = !ends && matches!(outcome, Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN)));
        let then = if is_open { Pending::Line } else { Pending::Nothing };
        Self::new(bytes.len(), u64::from(ends), parts, outcome, then)
    }
}
