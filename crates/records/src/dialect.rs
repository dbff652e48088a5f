//! How a text table separates and quotes its cells, and how the first lines of an input show that.

use std::iter;

use memchr::{memchr, memrchr};
use serde::{Deserialize, Serialize};

use super::field_names::begins_as_url;
use urlsift_engine::lines::{skip_byte_order_mark, trim_terminator};
use urlsift_grammar::named;

named! {
    /// What makes a quote part of a cell.
    Escape {
        /// A second quote (RFC 4180).
        Doubled = "double",
        /// A backslash, as Spark, MySQL and PostgreSQL write it. It also escapes delimiters, line ends and backslashes, and \N is a
        /// missing value.
        Backslash = "backslash",
    }
}

/// How a text table separates and quotes its cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dialect {
    /// The ASCII character between cells.
    pub delimiter: char,
    /// What makes a quote part of a cell. `null` if the user does not say it. Then quotes are doubled, and a record in which a
    /// backslash may escape a quote is read in both ways ([`BadCause::DoubtfulQuote`](super::BadCause::DoubtfulQuote)).
    pub escape: Option<Escape>,
}

/// The delimiters that are recognised. If several are equally likely, the first one is taken.
pub(super) const DELIMITERS: [char; 4] = [',', '\t', ';', '|'];

/// How many lines decide about the delimiter.
pub(super) const LINES: usize = 8;

impl Dialect {
    /// The dialect of tables with tabs.
    pub fn tabs(escape: Option<Escape>) -> Self {
        Self { delimiter: '\t', escape }
    }

    /// A dialect with this delimiter, whose quotes are doubled.
    pub(super) fn of(delimiter: char) -> Self {
        Self { delimiter, escape: Some(Escape::Doubled) }
    }

    /// The delimiter as a byte.
    pub(super) fn byte(self) -> u8 {
        u8::try_from(self.delimiter).expect("delimiters are ASCII")
    }

    /// The same dialect, where backslashes escape.
    pub(super) fn with_backslashes(self) -> Self {
        Self { escape: Some(Escape::Backslash), ..self }
    }

    /// Whether backslashes escape.
    pub(super) fn has_backslashes(self) -> bool {
        self.escape == Some(Escape::Backslash)
    }

    /// The dialect of a table that begins with `head`. `delimiter` is used if it is given.
    pub fn detect(head: &[u8], delimiter: Option<char>, escape: Option<Escape>) -> Self {
        let head = skip_byte_order_mark(head, 0);
        let found = || named_delimiter(head).or_else(|| likely_delimiter(&first_records(head)));
        Self { delimiter: delimiter.or_else(found).unwrap_or(','), escape }
    }

    /// Whether the delimiter of [`Dialect::detect`] is final: no bytes after `head` can change it. `head` ends with an LF.
    pub fn is_settled(head: &[u8]) -> bool {
        let head = skip_byte_order_mark(head, 0);
        let lines = first_records(head);
        named_delimiter(head).is_some()
            || lines.len() == LINES
            || lines.first().is_some_and(|line| possible(line).count() < 2)
    }
}

/// The delimiter that a first line `sep=;` names, as Excel reads and writes it.
pub(super) fn named_delimiter(head: &[u8]) -> Option<char> {
    let line = trim_terminator(head.split(|&byte| byte == b'\n').next()?).0;
    match line.strip_prefix(b"sep=") {
        Some(&[byte]) if byte.is_ascii() && !matches!(byte, b'"' | b'\\' | b'#') => Some(char::from(byte)),
        _ => None,
    }
}

/// The first records of a table.
fn first_records(head: &[u8]) -> Vec<&[u8]> {
    records(without_cut_line(head)).take(LINES).collect()
}

/// The beginning of an input without its last line, which may be cut off, unless that is the only one.
pub(super) fn without_cut_line(head: &[u8]) -> &[u8] {
    memrchr(b'\n', head).map_or(head, |lf| &head[..=lf])
}

/// The lines of a text that are not blank, without their terminators.
pub(super) fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let next = move || {
        let (line, rest) = text.split_at(memchr(b'\n', text).map_or(text.len(), |lf| lf + 1));
        text = rest;
        (!line.is_empty()).then_some(trim_terminator(line).0)
    };
    iter::from_fn(next).filter(|line| !line.is_empty())
}

/// The lines of a text that are neither blank nor comments.
pub(super) fn records(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    lines(text).filter(|line| line[0] != b'#')
}

/// The delimiters that separate cells in the first line of a table.
///
/// A URL may contain a semicolon or a bar. So these are no delimiters if the first cell is a URL.
pub(super) fn possible(line: &[u8]) -> impl Iterator<Item = char> {
    let begins_as_url = begins_as_url(line.strip_prefix(b"\"").unwrap_or(line));
    let is_possible = move |&delimiter: &char| {
        let is_in_url = begins_as_url && matches!(delimiter, ';' | '|');
        !is_in_url && cells(line, delimiter).len() > 1
    };
    DELIMITERS.into_iter().filter(is_possible)
}

/// The delimiter that gives the most lines as many cells as the first line has, at least two. Among several such delimiters it is the
/// one with the most cells.
pub(super) fn likely_delimiter(lines: &[&[u8]]) -> Option<char> {
    let first = lines.first()?;
    let likelihood = |&delimiter: &char| {
        let n = cells(first, delimiter).len();
        let n_alike = lines.iter().filter(|line| cells(line, delimiter).len() == n).count();
        (n_alike, n, std::cmp::Reverse(DELIMITERS.iter().position(|&other| other == delimiter)))
    };
    possible(first).max_by_key(likelihood)
}

/// The cells of a line, with their quotes. A delimiter between quotes does not count.
pub(super) fn cells(line: &[u8], delimiter: char) -> Vec<&[u8]> {
    let (mut start, mut is_quoted) = (0, false);
    let mut cells = Vec::new();
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            b'"' if at == start || is_quoted => is_quoted = !is_quoted,
            _ if char::from(byte) == delimiter && !is_quoted => {
                cells.push(&line[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    cells.push(&line[start..]);
    cells
}

/// A cell without the quotes around it.
pub(super) fn unquoted(cell: &[u8]) -> &[u8] {
    let cell = cell.strip_prefix(b"\"").unwrap_or(cell);
    cell.strip_suffix(b"\"").unwrap_or(cell)
}
