//! CDX: columns between blanks. A line that begins with the delimiter and "CDX" names them, a letter each; it holds until the
//! next one. Without it the URL is the third column, as in all layouts in use (` CDX N b a m s k r M S V g`).

use std::borrow::Cow;

use memchr::memmem;

use super::near::find;
use super::{BadCause, MAX_RECORD_LEN, Miss, Outcome, Part, Parts, Role, Selector, Skip};
use crate::shard::trim_terminator;

/// The columns wanted, and what is known of where they are.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    wanted: Vec<Wanted>,
    delimiter: u8,
}

#[derive(Clone, Debug)]
struct Wanted {
    /// The letter in the header, or none if it is wanted by its number.
    letter: Option<u8>,
    /// Its place from 0; `None` if the header does not name it.
    index: Option<usize>,
}

/// The place of the column "a" where no header says so.
const DEFAULT_INDEX: usize = 2;

impl Columns {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        let column = |(n, field): (usize, &Selector)| match field {
            Selector::Number(number) => {
                Ok(Wanted { letter: None, index: Some(number.checked_sub(1).ok_or(n)?) })
            }
            Selector::Name(name) => match name.as_bytes() {
                b"url" => Ok(Wanted::by_letter(b'a')),
                &[letter] => Ok(Wanted::by_letter(letter)),
                _ => Err(n),
            },
            Selector::Pointer(_) => Err(n),
        };
        let mut wanted = fields.iter().enumerate().map(column).collect::<Result<Vec<_>, _>>()?;
        if wanted.is_empty() {
            wanted.push(Wanted::by_letter(b'a'));
        }
        Ok(Self { wanted, delimiter: b' ' })
    }

    /// Takes in the last header in `lines`.
    pub(super) fn learn(&mut self, lines: &[u8]) {
        // The delimiter stands before it, and is nearly always a blank.
        for found in memmem::find_iter(lines, b"CDX") {
            if found > 0 && (found == 1 || lines[found - 2] == b'\n') {
                let line = lines[found - 1..].split(|&byte| byte == b'\n').next().unwrap_or_default();
                self.take_header(trim_terminator(line).0);
            }
        }
    }

    /// Takes in `line`, if it is a header; whether it was one.
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
        true
    }

    #[inline]
    pub(super) fn read<'a>(&mut self, line: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
        if line.get(1) == Some(&b'C') && self.take_header(line) {
            return Err(Miss::Skipped(Skip::Comment));
        }
        for wanted in &self.wanted {
            let index = wanted.index.ok_or(Miss::Bad(BadCause::NoColumn, 0))?;
            let (at, bytes) =
                column(line, self.delimiter, index).ok_or(Miss::Bad(BadCause::TooFewFields, line.len()))?;
            if bytes != b"-" {
                parts.push(Part { role: Role::Url, bytes: Cow::Borrowed(bytes), at });
            }
        }
        parts.or_skip()
    }
}

impl Wanted {
    fn by_letter(letter: u8) -> Self {
        Self { letter: Some(letter), index: (letter == b'a').then_some(DEFAULT_INDEX) }
    }
}

/// The column at `index` from 0, and where it begins.
#[inline]
pub(super) fn column(line: &[u8], delimiter: u8, index: usize) -> Option<(usize, &[u8])> {
    let mut start = 0;
    for _ in 0..index {
        start += find(delimiter, &line[start..])? + 1;
    }
    let len = find(delimiter, &line[start..]).unwrap_or(line.len() - start);
    Some((start, &line[start..start + len]))
}
