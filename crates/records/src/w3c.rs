//! Reads the extended log file format of the W3C (WD-logfile-960323), as IIS and CloudFront write it.
//!
//! A line `#Fields:` names the columns of the lines after it, until the next such line. IIS separates columns by blanks.
//! CloudFront separates the names in `#Fields` by blanks, and the columns of records by tabs. Neither uses quotes, so a quote is
//! an ordinary byte. A `-` is an empty column.
//!
//! Zeek names its columns in the same way, with other words. A log of IIS without such a line has the default columns.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem};

use super::field_names::{self, Choice, usual};
use super::log::{begins_like, is_number, words};
use super::quoted::unescape;
use super::record::Begins;
use super::separators::{Marks, Set};
use super::{
    BadCause, Cursor, MAX_RECORD_LEN, Miss, Origin, Outcome, Part, Parts, Record, RecordReader, Role,
    Selector, Skip, without_end,
};
use urlsift_engine::lines::trim_terminator;

/// The wanted columns, and what is known about their positions.
#[derive(Clone, Debug)]
#[allow(clippy::struct_field_names, reason = "these are columns")]
pub(super) struct Columns {
    wanted: Vec<WantedColumn>,
    names: &'static Names,
    /// Whether these are the default columns. Then a header need not name them all.
    by_default: bool,
    has_header: bool,
    /// Whether the header is that of IIS, and no line has named the columns.
    is_assumed: bool,
    choice: Choice,
    /// The number of columns up to the last wanted one.
    n_columns: usize,
    /// The positions of columns in the record that is being read.
    columns: Vec<Range<usize>>,
}

/// A wanted column. Its index is from 0, and `None` if the header does not name it.
#[derive(Clone, Debug)]
enum WantedColumn {
    /// The path, and the query after it.
    Request {
        stem: Option<usize>,
        query: Option<usize>,
    },
    Referer(Option<usize>),
    Name(Vec<u8>, Option<usize>),
    Number(usize),
}

impl WantedColumn {
    /// The index of its last column.
    fn index(&self) -> Option<usize> {
        match self {
            Self::Request { stem, query } => *stem.max(query),
            Self::Referer(index) | Self::Name(_, index) => *index,
            Self::Number(index) => Some(*index),
        }
    }
}

/// How a program names columns.
#[derive(Debug)]
pub(super) struct Names {
    /// How a line begins that names the columns.
    header: &'static [u8],
    stem: &'static [u8],
    query: &'static [u8],
    /// A column that has stem and query.
    uri: &'static [u8],
    referer: &'static [u8],
    /// Whether backslashes escape. Then `(empty)` is an empty string.
    has_escapes: bool,
}

pub(super) const W3C: Names = Names {
    header: b"#Fields:",
    stem: b"cs-uri-stem",
    query: b"cs-uri-query",
    uri: b"cs-uri",
    referer: b"cs(Referer)",
    has_escapes: false,
};

/// Zeek separates the names by tabs too.
pub(super) const ZEEK: Names = Names {
    header: b"#fields\t",
    stem: b"uri",
    query: b"",
    uri: b"uri",
    referer: b"referrer",
    has_escapes: true,
};

/// The columns of IIS, unless somebody changes them.
const IIS: &[u8] =
    b"#Fields: date time s-ip cs-method cs-uri-stem cs-uri-query s-port cs-username c-ip cs(User-Agent) \
    cs(Referer) sc-status sc-substatus sc-win32-status time-taken";

impl Columns {
    /// The columns of a log that names them so.
    pub(super) fn new(names: &'static Names, fields: &[Selector]) -> Result<Self, usize> {
        let column = |(n, field): (usize, &Selector)| match field {
            Selector::Name(name) if name == "request" => {
                Ok(WantedColumn::Request { stem: None, query: None })
            }
            Selector::Name(name) if name == "referer" => Ok(WantedColumn::Referer(None)),
            Selector::Name(name) => Ok(WantedColumn::Name(name.clone().into_bytes(), None)),
            Selector::Number(number) => number.checked_sub(1).map(WantedColumn::Number).ok_or(n),
            Selector::Pointer(_) => Err(n),
        };
        let mut wanted = fields.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted = vec![
                WantedColumn::Request { stem: None, query: None },
                WantedColumn::Referer(None),
                WantedColumn::Name(Vec::new(), None),
            ];
        }
        let mut columns = Self {
            wanted,
            names,
            by_default: fields.is_empty(),
            has_header: false,
            is_assumed: false,
            choice: Choice::default(),
            n_columns: 0,
            columns: Vec::new(),
        };
        columns.count();
        Ok(columns)
    }

    /// The columns of a log of IIS without a header.
    pub(super) fn of_iis(fields: &[Selector]) -> Result<Self, usize> {
        let mut columns = Self::new(&W3C, fields)?;
        columns.take_header(IIS);
        columns.is_assumed = true;
        Ok(columns)
    }

    /// Learns the columns from a line. Returns whether it names them.
    fn take_header(&mut self, line: &[u8]) -> bool {
        let Some(names) = line.strip_prefix(self.names.header).filter(|_| line.len() <= MAX_RECORD_LEN)
        else {
            return false;
        };
        (self.has_header, self.is_assumed) = (true, false);
        let names: Vec<_> = names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).collect();
        let place = |wanted: &[u8]| names.iter().position(|name| name.eq_ignore_ascii_case(wanted));
        let Names { stem: stem_name, query: query_name, uri, referer, .. } = *self.names;
        let is_usual = [stem_name, uri, referer].iter().any(|name| place(name).is_some());
        self.choice = if self.by_default { Choice::default() } else { Choice::none_of(&names) };
        for wanted in &mut self.wanted {
            match wanted {
                WantedColumn::Request { stem, query } => {
                    (*stem, *query) = (place(stem_name), place(query_name));
                    if stem.is_none() {
                        (*stem, *query) = (place(uri), None);
                    }
                }
                WantedColumn::Referer(index) => *index = place(referer),
                WantedColumn::Name(_, index) if self.by_default => {
                    *index = if is_usual { None } else { usual(&names) };
                }
                WantedColumn::Name(name, index) => {
                    *index = field_names::place(&names, name);
                }
                WantedColumn::Number(_) => {}
            }
        }
        if !self.by_default {
            self.choice.missing =
                (0..self.wanted.len()).filter(|&n| self.wanted[n].index().is_none()).collect();
        } else if self.wanted.iter().all(|wanted| wanted.index().is_none()) {
            self.choice = Choice::none_of(&names);
        }
        self.count();
        true
    }

    fn count(&mut self) {
        self.n_columns =
            self.wanted.iter().filter_map(WantedColumn::index).max().map_or(0, |index| index + 1);
    }

    /// Finds the columns of the line at `at`. Returns the length of the line in bytes.
    #[inline(always)]
    fn walk(&mut self, marks: &mut Marks<'_>, at: usize) -> usize {
        let bytes = marks.bytes();
        let (mut place, mut start) = (marks.place(), at);
        self.columns.clear();
        // The end of the line, and whether it contains a tab.
        let (end, has_tab) = 'line: {
            // Several blanks separate like one. If a tab follows, only tabs separate.
            let first_tab = loop {
                let mark = marks.next(&mut place);
                match bytes.get(mark) {
                    Some(b' ') if mark > start => self.note(at, start..mark),
                    Some(b' ') => {}
                    Some(b'\t') => break mark,
                    end => break 'line (mark + usize::from(end.is_some()), false),
                }
                start = mark + 1;
            };
            self.columns.clear();
            self.note(at, at..first_tab);
            start = first_tab + 1;
            // A tab ends a column, which may be empty.
            while self.columns.len() < self.n_columns {
                let mark = marks.next(&mut place);
                match bytes.get(mark) {
                    Some(b' ') => continue,
                    Some(b'\t') => self.note(at, start..mark),
                    end => break 'line (mark + usize::from(end.is_some()), true),
                }
                start = mark + 1;
            }
            (marks.line_end(&mut place), true)
        };
        marks.go_to(place);
        let line_end = at + trim_terminator(&bytes[at..end]).0.len();
        if has_tab || start < line_end {
            self.note(at, start..line_end);
        }
        end - at
    }

    /// Stores a column of the line at `at`, unless it comes after the last wanted one.
    #[inline(always)]
    fn note(&mut self, at: usize, column: Range<usize>) {
        if self.columns.len() < self.n_columns {
            self.columns.push(column.start - at..column.end - at);
        }
    }

    #[inline(always)]
    fn take<'a>(&mut self, line: &'a [u8], parts: &mut Parts<'_, 'a>) -> Outcome {
        if line[0] == b'#' {
            let is_header = self.take_header(line);
            return Err(Miss::Skipped(if is_header { Skip::Header } else { Skip::Comment }));
        }
        // IIS has another format, with commas.
        if self.is_assumed && !begins_like(line, b"0000-00-00 00:00:00 ") {
            return Err(Miss::Bad(BadCause::NotARecord, 0));
        }
        let column = |index: usize| {
            let column = self.columns.get(index).ok_or(Miss::Bad(BadCause::TooFewFields, line.len()))?;
            Ok((column.start, &line[column.clone()]))
        };
        let mut has_column = false;
        for (n, wanted) in (0..).zip(&self.wanted) {
            let (role, index, query) = match wanted {
                WantedColumn::Request { stem, query } => (Role::Request, *stem, *query),
                WantedColumn::Referer(index) => (Role::Referer, *index, None),
                WantedColumn::Name(_, index) => (Role::Url, *index, None),
                WantedColumn::Number(index) => (Role::Url, Some(*index), None),
            };
            let Some(index) = index else {
                match (self.has_header, self.by_default) {
                    (false, _) => return Err(Miss::Bad(BadCause::NoHeader, 0)),
                    (true, false) => return Err(Miss::Bad(BadCause::NoColumn, 0)),
                    (true, true) => continue,
                }
            };
            has_column = true;
            let (at, text) = column(index)?;
            if text == b"-" || self.names.has_escapes && text == b"(empty)" {
                continue;
            }
            let query = match query {
                Some(query) => column(query)?.1,
                None => b"-",
            };
            let bytes = match query {
                b"-" | b"" if self.names.has_escapes => unescape(text),
                b"-" | b"" => Cow::Borrowed(text),
                query => Cow::Owned([text, b"?", query].concat()),
            };
            let wanted = if self.by_default { 0 } else { n };
            parts.push(Part { role, wanted, bytes, at });
        }
        if has_column { parts.or_skip() } else { Err(Miss::Bad(BadCause::NoColumn, 0)) }
    }
}

impl RecordReader for Columns {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let len = self.walk(&mut cursor.marks, cursor.at);
        Record::line(&cursor.rest()[..len], &mut cursor.more, |line, parts| self.take(line, parts))
    }

    /// The bytes that separate columns and records.
    fn separators(&self) -> Set {
        [b'\t', b' ', b'\n']
    }

    /// The last header that is not too long names the columns.
    fn learn(&mut self, lines: &[u8]) {
        let begins_line = |at: &usize| *at == 0 || lines[at - 1] == b'\n';
        let line =
            |at| without_end(&lines[at..memchr(b'\n', &lines[at..]).map_or(lines.len(), |lf| at + lf)]);
        let headers = memmem::find_iter(lines, self.names.header).filter(begins_line).map(line);
        if let Some(header) = headers.filter(|line| line.len() <= MAX_RECORD_LEN).last() {
            self.take_header(header);
        }
    }

    fn origin(&self) -> Origin<'_> {
        Origin { choice: Some(&self.choice), ..Origin::default() }
    }
}

/// Whether a line names columns, as programs do that write such logs.
pub(super) fn is_header(line: &[u8]) -> bool {
    line.starts_with(W3C.header)
}

/// Whether an input begins with a directive of such a log, and a line names the columns or not. If none does so far, it is read as a
/// list.
pub(super) fn begins(head: &[u8], has_names: bool) -> Begins {
    let begins = [W3C.header, b"#Version:", b"#Software:"].iter().any(|name| head.starts_with(name));
    match begins && memmem::find(head, W3C.header).is_some() == has_names {
        true if has_names => Begins::Yes,
        true => Begins::Likely,
        false => Begins::No,
    }
}

/// Whether a line is one of IIS with the default columns.
pub(super) fn is_record_of_iis(line: &[u8]) -> bool {
    let words = words(line);
    begins_like(line, b"0000-00-00 00:00:00 ")
        && words.len() == 15
        && words[3].iter().all(u8::is_ascii_uppercase)
        && (words[4].starts_with(b"/") || matches!(words[4], b"*" | b"-"))
        && is_number(words[6])
        && words[11..].iter().all(|word| is_number(word))
}
