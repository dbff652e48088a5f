//! Comma-separated values (RFC 4180) and their like with tabs. A field that begins with a quote goes on to the next one that is not
//! doubled, over line ends too; a quote anywhere else is a byte like any other, and what stands behind a closing quote belongs to
//! the field: so the csv crate and Python's csv read it. Records end in LF with all CRs directly before it. A record that begins
//! with "#" is a comment.
//!
//! A quote that nobody closes would take all that follows for one field. So a record of more than one line has to end within
//! [`MAX_RECORD_LEN`] bytes; where it does not, that line is refused alone, and up to where the end was looked for no field goes on
//! behind the end of its line.

use std::borrow::Cow;

use memchr::{memchr, memchr_iter, memrchr};

use super::near::{find, find2};
use super::{BadCause, MAX_RECORD_LEN, Miss, Outcome, Part, Parts, Pending, Record, Role, Selector, Skip};
use crate::shard::{last_end, trim_terminator};

/// The columns wanted, and what is known of where they are.
#[derive(Clone, Debug)]
pub(super) struct Table {
    delimiter: u8,
    wanted: Vec<Wanted>,
    header: Header,
    /// Records that begin before this place of the input are lines.
    alone_until: u64,
    /// There is no quote before this place of the input, or it has been passed.
    quote_at: u64,
}

#[derive(Clone, Debug)]
struct Wanted {
    name: Option<Vec<u8>>,
    /// Its place from 0; `None` if the header does not name it.
    index: Option<usize>,
    /// Where it was found in the record that is being read.
    cell: Option<Cell>,
}

#[derive(Clone, Debug)]
enum Header {
    /// The first record is to come, or, where that names no column, the comment before it (as in the lists of URLhaus).
    Awaited { comment: Vec<u8> },
    /// It is known, or not needed.
    Known,
}

/// A record is as long as that, or nothing is known yet.
enum Extent {
    Whole(usize),
    /// It goes on behind the bytes.
    Open,
}

impl Table {
    pub(super) fn new(delimiter: u8, fields: &[Selector]) -> Result<Self, usize> {
        let column = |(n, field): (usize, &Selector)| match field {
            Selector::Name(name) => {
                Ok(Wanted { name: Some(name.clone().into_bytes()), index: None, cell: None })
            }
            Selector::Number(number) => {
                Ok(Wanted { name: None, index: Some(number.checked_sub(1).ok_or(n)?), cell: None })
            }
            Selector::Pointer(_) => Err(n),
        };
        let mut wanted = fields.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted.push(Wanted { name: Some(b"url".to_vec()), index: None, cell: None });
        }
        let has_names = wanted.iter().any(|wanted| wanted.name.is_some());
        let header = if has_names { Header::Awaited { comment: Vec::new() } } else { Header::Known };
        Ok(Self { delimiter, wanted, header, alone_until: 0, quote_at: 0 })
    }

    /// How many of `bytes`, which begin at `offset` of the input, are whole records. Takes in the header.
    pub(super) fn cut(&mut self, bytes: &[u8], offset: u64, ended: bool) -> usize {
        let mut end = 0;
        while end < bytes.len() {
            let rest = &bytes[end..];
            let at = offset + end as u64;
            if at >= self.alone_until && matches!(self.header, Header::Known) {
                let Some(quote) = memchr(b'"', rest) else {
                    return end + if ended { rest.len() } else { last_end(rest).unwrap_or(0) };
                };
                end += memrchr(b'\n', &rest[..quote]).map_or(0, |lf| lf + 1);
            }
            let rest = &bytes[end..];
            let mut parts = Parts { first: None, more: Vec::new() };
            match self.extent(rest, offset + end as u64, ended) {
                Extent::Open => break,
                Extent::Whole(len) => {
                    if matches!(self.header, Header::Awaited { .. }) {
                        self.read(&rest[..len], offset + end as u64, &mut parts);
                    }
                    end += len;
                }
            }
        }
        end
    }

    /// How far the first record of `bytes` goes, which begin at `offset`.
    fn extent(&mut self, bytes: &[u8], offset: u64, ended: bool) -> Extent {
        let line = memchr(b'\n', bytes).map(|lf| lf + 1);
        let whole_line =
            line.map_or(if ended { Extent::Whole(bytes.len()) } else { Extent::Open }, Extent::Whole);
        if bytes[0] == b'#' || offset < self.alone_until {
            return whole_line;
        }
        let window = &bytes[..bytes.len().min(MAX_RECORD_LEN)];
        match walk(window, self.delimiter, |_, _| {}) {
            Ok(end) if window[..end].ends_with(b"\n") => Extent::Whole(end),
            Ok(end) if ended && end == bytes.len() => Extent::Whole(end),
            Ok(_) | Err(_) if ended || bytes.len() > MAX_RECORD_LEN => {
                self.alone_until = offset + window.len() as u64;
                whole_line
            }
            Ok(_) | Err(_) => Extent::Open,
        }
    }

    /// Reads the first record of `bytes`, which begin at `offset` of the input and are not empty.
    #[inline]
    pub(super) fn read<'a>(&mut self, bytes: &'a [u8], offset: u64, parts: &mut Parts<'a>) -> Record {
        let len = memchr(b'\n', bytes).map_or(bytes.len(), |lf| lf + 1);
        let line = trim_terminator(&bytes[..len]).0;
        let line_only = |outcome| {
            let ends = bytes[len - 1] == b'\n';
            // Of a line that is too long, its end may be missing.
            let is_open = !ends && outcome == Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN));
            let then = if is_open { Pending::Line } else { Pending::Nothing };
            Record { len, lines: u64::from(ends), outcome, then }
        };
        if line.is_empty() {
            return line_only(Err(Miss::Skipped(Skip::Blank)));
        }
        if line[0] == b'#' {
            if let Header::Awaited { comment } = &mut self.header {
                comment.clear();
                comment.extend_from_slice(&line[1..line.len().min(MAX_HEADER_COMMENT)]);
            }
            return line_only(Err(Miss::Skipped(Skip::Comment)));
        }
        let is_plain = !self.has_quote(bytes, offset, len);
        if is_plain && line.len() > MAX_RECORD_LEN {
            return line_only(Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN)));
        }
        if is_plain && matches!(self.header, Header::Known) {
            return line_only(self.read_plain(line, parts));
        }
        if matches!(self.header, Header::Known) && offset >= self.alone_until {
            self.wanted.iter_mut().for_each(|wanted| wanted.cell = None);
            let wanted = &mut self.wanted;
            let window = &bytes[..bytes.len().min(MAX_RECORD_LEN)];
            let walked = walk(window, self.delimiter, |index, cell| {
                for wanted in wanted.iter_mut().filter(|wanted| wanted.index == Some(index)) {
                    wanted.cell = Some(cell);
                }
            });
            if let Ok(end) = walked
                && (window[..end].ends_with(b"\n") || end == bytes.len())
            {
                if end == len {
                    return line_only(self.take_cells(&bytes[..end], parts));
                }
                let lines = memchr_iter(b'\n', &bytes[..end]).count() as u64;
                let outcome = self.take_cells(&bytes[..end], parts);
                return Record { len: end, lines, outcome, then: Pending::Nothing };
            }
        }
        let extent = match self.extent(bytes, offset, true) {
            Extent::Whole(end) => end,
            Extent::Open => bytes.len(),
        };
        let outcome = self.read_exactly(&bytes[..extent], parts);
        if extent == len {
            return line_only(outcome);
        }
        let lines = memchr_iter(b'\n', &bytes[..extent]).count() as u64;
        Record { len: extent, lines, outcome, then: Pending::Nothing }
    }

    /// Takes as fields what was found of a record.
    #[inline]
    fn take_cells<'a>(&self, record: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
        for wanted in &self.wanted {
            wanted.index.ok_or(Miss::Bad(BadCause::NoColumn, 0))?;
            let cell = wanted.cell.ok_or(Miss::Bad(BadCause::TooFewFields, record.len()))?;
            parts.push(Part { role: Role::Url, bytes: cell.text(record), at: cell.start });
        }
        Ok(())
    }

    /// Whether there is a quote in the first `len` of `bytes`, which begin at `offset`. Each byte is looked at once, whatever the
    /// number of records.
    #[inline]
    fn has_quote(&mut self, bytes: &[u8], offset: u64, len: usize) -> bool {
        let end = offset + len as u64;
        if self.quote_at < end {
            let from = usize::try_from(self.quote_at.saturating_sub(offset)).unwrap_or(0);
            let window = &bytes[from..bytes.len().min(from.max(len) + LOOK_AHEAD)];
            self.quote_at = offset + (from + memchr(b'"', window).unwrap_or(window.len())) as u64;
        }
        self.quote_at < end
    }

    /// Reads a record without quotes.
    #[inline]
    fn read_plain<'a>(&self, line: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
        for wanted in &self.wanted {
            let index = wanted.index.ok_or(Miss::Bad(BadCause::NoColumn, 0))?;
            let (at, bytes) = super::cdx::column(line, self.delimiter, index)
                .ok_or(Miss::Bad(BadCause::TooFewFields, line.len()))?;
            parts.push(Part { role: Role::Url, bytes: Cow::Borrowed(bytes), at });
        }
        Ok(())
    }

    /// Reads a record, which `bytes` are.
    fn read_exactly<'a>(&mut self, bytes: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
        if bytes.len() > MAX_RECORD_LEN {
            return Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN));
        }
        if let Header::Awaited { comment } = &mut self.header {
            let comment = std::mem::take(comment);
            self.header = Header::Known;
            if self.take_names(bytes) || !self.take_names(&comment) {
                return Err(Miss::Skipped(Skip::Comment));
            }
        }
        self.wanted.iter_mut().for_each(|wanted| wanted.cell = None);
        let wanted = &mut self.wanted;
        let walked = walk(bytes, self.delimiter, |index, cell| {
            for wanted in wanted.iter_mut().filter(|wanted| wanted.index == Some(index)) {
                wanted.cell = Some(cell);
            }
        });
        match walked {
            Ok(_) => self.take_cells(bytes, parts),
            Err(quote) => Err(Miss::Bad(BadCause::QuoteNotClosed, quote)),
        }
    }

    /// Looks for the names of columns in `record`; whether it has one of them.
    fn take_names(&mut self, record: &[u8]) -> bool {
        let mut names = Vec::new();
        let walked = walk(record, self.delimiter, |_, cell| names.push(cell.text(record)));
        if walked.is_err() {
            return false;
        }
        let mut any = false;
        for wanted in &mut self.wanted {
            let Some(name) = &wanted.name else { continue };
            let exact = names.iter().position(|found| **found == **name);
            let alike = || names.iter().position(|found| found.trim_ascii().eq_ignore_ascii_case(name));
            wanted.index = exact.or_else(alike);
            any |= wanted.index.is_some();
        }
        any
    }
}

/// How far behind a record a quote is looked for.
const LOOK_AHEAD: usize = 4096;

/// How much of a comment is kept in case it is the header.
const MAX_HEADER_COMMENT: usize = 64 << 10;

/// Where a field stands in its record.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Behind the opening quote, if there is one.
    start: usize,
    /// Before the closing quote, or, where there is something to undo, at the end of the field.
    end: usize,
    /// Whether quotes are to be undone.
    has_quotes: bool,
}

impl Cell {
    #[inline]
    fn text(self, record: &[u8]) -> Cow<'_, [u8]> {
        let text = &record[self.start..self.end];
        if self.has_quotes { Cow::Owned(unquote(text)) } else { Cow::Borrowed(text) }
    }
}

/// The text of a field, which is given from behind its opening quote on.
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

/// Steps over the first record of `bytes`, and tells of each field with its place from 0. Where the record ends: behind its LF, or
/// at the end of `bytes`; or where the quote stands that is not closed.
#[inline]
fn walk(bytes: &[u8], delimiter: u8, mut each: impl FnMut(usize, Cell)) -> Result<usize, usize> {
    let (mut at, mut index) = (0, 0);
    loop {
        let start = at;
        let mut closed = None;
        if bytes.get(at) == Some(&b'"') {
            at += 1;
            let mut is_doubled = false;
            loop {
                at += find(b'"', &bytes[at..]).ok_or(start)? + 1;
                if bytes.get(at) != Some(&b'"') {
                    break;
                }
                is_doubled = true;
                at += 1;
            }
            closed = Some((at, is_doubled));
        }
        let end = match bytes.get(at) {
            // As nearly always behind a quote.
            Some(&byte) if byte == delimiter || byte == b'\n' => at,
            _ => find2(delimiter, b'\n', &bytes[at..]).map_or(bytes.len(), |found| at + found),
        };
        let is_last = bytes.get(end) != Some(&delimiter);
        // CRs before the end of the record belong to it.
        let text_end = if is_last {
            let behind = bytes[at..end].iter().rposition(|&byte| byte != b'\r');
            behind.map_or(at, |last| at + last + 1)
        } else {
            end
        };
        let cell = match closed {
            None => Cell { start, end: text_end, has_quotes: false },
            Some((behind, false)) if behind == text_end => {
                Cell { start: start + 1, end: behind - 1, has_quotes: false }
            }
            Some(_) => Cell { start: start + 1, end: text_end, has_quotes: true },
        };
        each(index, cell);
        if is_last {
            return Ok((end + 1).min(bytes.len()));
        }
        (at, index) = (end + 1, index + 1);
    }
}
