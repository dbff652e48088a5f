//! Reads CDX: lines of columns, separated by blanks.
//!
//! A header is a line that begins with the delimiter and "CDX". It names each column by a letter, and is valid until the next
//! header. Without a header the URL is the third column, as in all layouts in use (` CDX N b a m s k r M S V g`).

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;

use super::separators::{Marks, Set};
use super::{
    BadCause, Cursor, MAX_RECORD_LEN, Miss, Outcome, Part, Parts, Record, RecordReader, Role, Selector, Skip,
    without_end,
};

/// The wanted columns, and what is known about their positions.
#[derive(Clone, Debug)]
#[allow(clippy::struct_field_names, reason = "these are columns")]
pub(super) struct Columns {
    wanted: Vec<WantedColumn>,
    delimiter: u8,
    /// The number of columns up to the last wanted one.
    n_columns: usize,
    /// The positions of these columns in the record that is being read.
    columns: Vec<Range<usize>>,
}

#[derive(Clone, Debug)]
struct WantedColumn {
    /// Its letter in the header; `None` if it is wanted by number.
    letter: Option<u8>,
    /// Its index, from 0; `None` if the header does not name it.
    index: Option<usize>,
}

/// The index of column "a" if there is no header.
const DEFAULT_INDEX: usize = 2;

impl Columns {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        let column = |(n, field): (usize, &Selector)| match field {
            Selector::Number(number) => {
                Ok(WantedColumn { letter: None, index: Some(number.checked_sub(1).ok_or(n)?) })
            }
            Selector::Name(name) => match name.as_bytes() {
                b"url" => Ok(WantedColumn::by_letter(b'a')),
                &[letter] => Ok(WantedColumn::by_letter(letter)),
                _ => Err(n),
            },
            Selector::Pointer(_) => Err(n),
        };
        let mut wanted = fields.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted.push(WantedColumn::by_letter(b'a'));
        }
        let mut columns = Self { wanted, delimiter: b' ', n_columns: 0, columns: Vec::new() };
        columns.count();
        Ok(columns)
    }

    /// Learns the columns from `line` if it is a header. Returns whether it is one.
    fn take_header(&mut self, line: &[u8]) -> bool {
        let &[delimiter, b'C', b'D', b'X', ref rest @ ..] = line else { return false };
        let is_header = rest.first() == Some(&delimiter) && !delimiter.is_ascii_alphanumeric();
        if !is_header || line.len() > MAX_RECORD_LEN {
            return false;
        }
        self.delimiter = delimiter;
        for wanted in &mut self.wanted {
            if let Some(letter) = wanted.letter {
                wanted.index = rest[1..].split(|&byte| byte == delimiter).position(|name| name == [letter]);
            }
        }
        self.count();
        true
    }

    fn count(&mut self) {
        self.n_columns =
            self.wanted.iter().filter_map(|wanted| wanted.index).max().map_or(0, |index| index + 1);
    }

    /// Finds the columns of the line at `at`. Returns the length of the line in bytes.
    #[inline(always)]
    fn walk(&mut self, marks: &mut Marks<'_>, at: usize) -> usize {
        marks.look_for(self.separators(), at);
        let bytes = marks.bytes();
        let (mut place, mut start) = (marks.place(), 0);
        self.columns.clear();
        let end = loop {
            if self.columns.len() == self.n_columns {
                break marks.line_end(&mut place);
            }
            let mark = marks.next(&mut place);
            self.columns.push(start..mark - at);
            if bytes.get(mark) != Some(&self.delimiter) {
                break bytes.len().min(mark + 1);
            }
            start = mark + 1 - at;
        };
        marks.go_to(place);
        end - at
    }

    #[inline(always)]
    fn take<'a>(&mut self, line: &'a [u8], parts: &mut Parts<'_, 'a>) -> Outcome {
        if line.get(1) == Some(&b'C') && self.take_header(line) {
            return Err(Miss::Skipped(Skip::Header));
        }
        for (n, wanted) in (0..).zip(&self.wanted) {
            let index = wanted.index.ok_or(Miss::Bad(BadCause::NoColumn, 0))?;
            // The CRs before the LF are no column, but may have been taken for one.
            let column = self.columns.get(index).filter(|column| column.start <= line.len());
            let column = column.ok_or(Miss::Bad(BadCause::TooFewFields, line.len()))?;
            let (at, bytes) = (column.start, &line[column.start..column.end.min(line.len())]);
            if bytes != b"-" {
                parts.push(Part { role: Role::Url, wanted: n, bytes: Cow::Borrowed(bytes), at });
            }
        }
        parts.or_skip()
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
        [self.delimiter, b'\n', b'\n']
    }

    /// The last header names the columns.
    fn learn(&mut self, lines: &[u8]) {
        // The delimiter precedes "CDX", and is nearly always a blank.
        for found in memmem::find_iter(lines, b"CDX") {
            if found > 0 && (found == 1 || lines[found - 2] == b'\n') {
                let line = lines[found - 1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
                self.take_header(without_end(line));
            }
        }
    }
}

impl WantedColumn {
    fn by_letter(letter: u8) -> Self {
        Self { letter: Some(letter), index: (letter == b'a').then_some(DEFAULT_INDEX) }
    }
}

/// Whether a word is a time, with 14 digits for seconds or 17 for milliseconds.
pub(super) fn is_time(word: &[u8]) -> bool {
    matches!(word.len(), 14 | 17) && word.iter().all(u8::is_ascii_digit)
}

/// Whether a line is CDX: a key, a time, a URL and at least six more columns, or four with a status among them.
pub(super) fn is_record(line: &[u8]) -> bool {
    let words: Vec<_> = line.split(|&byte| byte == b' ').collect();
    let is_status = |word: &[u8]| word == b"-" || (word.len() == 3 && word.iter().all(u8::is_ascii_digit));
    let is_long_enough = words.len() >= 9 || (words.len() >= 7 && is_status(words[4]));
    is_long_enough && is_time(words[1]) && memmem::find(words[2], b":").is_some()
}
