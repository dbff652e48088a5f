//! Finds strings in JSON by their keys, without reading whole values.
//!
//! Values before a wanted one are skipped. A string is skipped by its quotes alone, an array or object by its brackets. A number or
//! a word (`true`, `-Infinity`) is any run of letters, digits, signs and points. Members after the wanted ones are not read. The
//! object must only end in a brace, which shows that it is not cut off. If two members have the same name, the first one counts.
//! Bytes that are not UTF-8 and raw control characters stay in the string, and are judged with it.

mod document;
mod pipelines;
mod skip;
mod take;

use std::borrow::Cow;
use std::fmt;
use std::ops::{ControlFlow, Range};

use memchr::memmem::Finder;
use serde::Deserializer;
use serde::de::{self, IgnoredAny, Visitor};

use super::record::refusal;
use super::separators::{Marks, Set};
use super::{BadCause, Cursor, Miss, Outcome, Parts, Record, RecordReader, Role, Selector, first_line};
pub(super) use document::{Document, begins, begins_as_json};

/// The bytes that delimit strings and begin escapes.
pub(super) const SEPARATORS: Set = [b'"', b'\\', b'\\'];

/// Which values of a record are wanted.
#[derive(Clone, Debug, Default)]
pub(super) enum Wanted {
    /// Those at these paths.
    Paths(Vec<Path>),
    /// The record itself if it is a string or an array of strings, the member "url", or the URLs of a known pipeline.
    #[default]
    Usual,
}

impl Wanted {
    /// The values that `fields` select. The error is the index of a field that is no path.
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        if fields.is_empty() { Ok(Self::Usual) } else { Path::all(fields).map(Self::Paths) }
    }
}

/// Reads lines that are JSON values.
impl RecordReader for Wanted {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let (marks, at) = (&mut cursor.marks, cursor.at);
        Record::line(first_line(&marks.bytes()[at..]), &mut cursor.more, |line, parts| {
            read(marks, at..at + line.len(), 0, self, parts)
        })
    }

    fn separators(&self) -> Set {
        SEPARATORS
    }
}

/// Whether a line is a JSON object. Its "url" may be no string.
pub(super) fn is_object(line: &[u8]) -> bool {
    let inside = line.trim_ascii_start().strip_prefix(b"{").unwrap_or_default();
    let is_whole = || serde_json::from_slice::<IgnoredAny>(line).is_ok();
    inside.trim_ascii_start().starts_with(b"\"")
        && (refusal(&mut Wanted::Usual, line).is_none() || is_whole())
}

/// The path from a record to values in it: a JSON pointer (RFC 6901). In it, `*` stands for any key and any index. A key that is
/// `*` itself is written `~2`.
#[derive(Clone, Debug)]
pub(super) struct Path {
    tokens: Vec<Token>,
    meaning: Meaning,
}

/// What a value means.
#[derive(Clone, Copy, Debug)]
struct Meaning {
    role: Role,
    /// The index of the wanted field that selects it, or 0.
    wanted: u32,
    /// Whether its key is one for request lines.
    is_request_line: bool,
}

impl Meaning {
    fn of(role: Role) -> Self {
        Self { role, wanted: 0, is_request_line: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Token {
    name: Vec<u8>,
    /// Its meaning in an array, if it is an index.
    index: Option<usize>,
    /// Whether it stands for any key and any index.
    is_any: bool,
}

impl Token {
    fn new(name: &str) -> Self {
        let is_index =
            name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
        let index = if is_index { name.parse().ok() } else { None };
        Self { index, name: name.as_bytes().to_vec(), is_any: false }
    }

    /// A token of a pointer, as written.
    fn of_pointer(token: &str) -> Self {
        let name = token.replace("~1", "/").replace("~2", "*").replace("~0", "~");
        Self { is_any: token == "*", ..Self::new(&name) }
    }
}

impl Path {
    /// The path that these keys are.
    fn of(names: &[&str], role: Role) -> Self {
        Self::new(names.iter().map(|name| Token::new(name)).collect(), Meaning::of(role))
    }

    fn new(tokens: Vec<Token>, meaning: Meaning) -> Self {
        let is_request_line = tokens.last().is_some_and(|last| pipelines::has_request_line(&last.name));
        Self { tokens, meaning: Meaning { is_request_line, ..meaning } }
    }

    /// The paths to `fields`, or to the member "url" if there are none. The error is the index of a field that is no path.
    pub(super) fn all(fields: &[Selector]) -> Result<Vec<Self>, usize> {
        if fields.is_empty() {
            return Ok(vec![Self::of(&["url"], Role::Url)]);
        }
        let path = |(n, field): (u32, &Selector)| {
            let tokens = match field {
                Selector::Name(name) => vec![Token::new(name)],
                Selector::Pointer(pointer) => pointer.split('/').skip(1).map(Token::of_pointer).collect(),
                Selector::Number(_) => return Err(n as usize),
            };
            Ok(Self::new(tokens, Meaning { wanted: n, ..Meaning::of(Role::Url) }))
        };
        (0..).zip(fields).map(path).collect()
    }

    /// What precedes the first `*`, if all paths have one there and are the same up to it.
    fn common_stem(paths: &[Self]) -> Option<Vec<Token>> {
        let stem = |path: &Self| {
            let any = path.tokens.iter().position(|token| token.is_any)?;
            Some(path.tokens[..any].to_vec())
        };
        let first = stem(paths.first()?)?;
        paths.iter().all(|path| stem(path).as_ref() == Some(&first)).then_some(first)
    }
}

/// Reads the record that begins at byte `from` of `record`. It fills the rest, apart from blanks at the end. `record` is a range of
/// the bytes of `marks`, which search for [`SEPARATORS`].
#[inline]
pub(super) fn read<'a>(
    marks: &mut Marks<'a>,
    record: Range<usize>,
    from: usize,
    wanted: &Wanted,
    parts: &mut Parts<'_, 'a>,
) -> Outcome {
    let mut text = Text::new(marks, record);
    let at = text.behind_blanks(text.start + from);
    match text.bytes.get(at) {
        Some(b'{') => text.ends_in(b'}')?,
        Some(b'[') => text.ends_in(b']')?,
        _ => return text.take_scalar(at, wanted, parts),
    }
    match wanted {
        Wanted::Paths(paths) => {
            for path in paths {
                text.take_path(&path.tokens, at, path, parts)?;
            }
        }
        Wanted::Usual if text.bytes[at] == b'{' => text.take_usual(at, parts)?,
        Wanted::Usual => text.take(at, Meaning::of(Role::Url), parts)?,
    }
    parts.or_skip()
}

/// The first position from `at` on without a blank.
#[inline]
fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while matches!(bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
        at += 1;
    }
    at
}

/// Takes the "url" of each object in the arrays under the key `name`, anywhere in `record` from byte `from` on. Such an array
/// inside another one is skipped. `record` is a range of the bytes of `marks`, which search for [`SEPARATORS`].
pub(super) fn read_each_url<'a>(
    marks: &mut Marks<'a>,
    record: Range<usize>,
    from: usize,
    name: &Finder<'_>,
    parts: &mut Parts<'_, 'a>,
) -> Outcome {
    let mut at = record.start + from;
    let mut text = Text::new(marks, record);
    text.ends_in(b'}')?;
    // In JSON, a quoted name before a colon is a key. Inside a string, its quotes would be escaped.
    while let Some(found) = name.find(&text.bytes[at..]) {
        at += found + name.needle().len();
        if let Some(array) = text.behind(b':', at).and_then(|at| text.behind(b'[', at)) {
            at = text.take_each_url(array, parts)?;
        }
    }
    parts.or_skip()
}

/// The record is not JSON. The number is the position in all bytes where this shows.
struct Broken(usize);

/// A string as written, with its escapes.
struct Raw {
    /// The positions of its quotes.
    quotes: [usize; 2],
    has_escapes: bool,
}

/// Undoes the escapes of a string, which is given with its quotes. Such strings are rare.
#[cold]
fn unescape(quoted: &[u8]) -> Option<Vec<u8>> {
    struct Bytes;
    impl Visitor<'_> for Bytes {
        type Value = Vec<u8>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("a string")
        }

        fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Vec<u8>, E> {
            Ok(bytes.to_vec())
        }
    }
    serde_json::Deserializer::from_slice(quoted).deserialize_bytes(Bytes).ok()
}

/// Whether a byte may occur in a number, or in a word like `true` or `-Infinity`.
#[inline]
fn is_in_word(byte: u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'+' | b'-' | b'.')
}

/// A record that is searched. All positions are positions in all bytes.
struct Text<'m, 'a> {
    marks: &'m mut Marks<'a>,
    /// All bytes up to the end of the record.
    bytes: &'a [u8],
    /// Where the record begins in them.
    start: usize,
}

impl<'m, 'a> Text<'m, 'a> {
    #[inline]
    fn new(marks: &'m mut Marks<'a>, record: Range<usize>) -> Self {
        let bytes = &marks.bytes()[..record.end];
        Self { marks, bytes, start: record.start }
    }

    /// Refuses a record that is cut off. `close` is the bracket that ends it.
    #[inline]
    fn ends_in(&self, close: u8) -> Outcome {
        let record = &self.bytes[self.start..];
        let is_whole = record.trim_ascii_end().last() == Some(&close);
        if is_whole { Ok(()) } else { Err(Miss::Bad(BadCause::BadJson, record.len())) }
    }

    /// Makes an error whose position counts from the start of the record.
    #[cold]
    fn miss(&self, Broken(at): Broken) -> Miss {
        Miss::Bad(BadCause::BadJson, at - self.start)
    }

    /// The first position from `at` on without a blank.
    #[inline]
    fn behind_blanks(&self, at: usize) -> usize {
        skip_blanks(self.bytes, at)
    }

    /// The position after `byte`, if it follows at `at`, possibly after blanks.
    #[inline]
    fn behind(&self, byte: u8, at: usize) -> Option<usize> {
        if self.bytes.get(at) == Some(&byte) {
            return Some(at + 1);
        }
        let at = self.behind_blanks(at);
        (self.bytes.get(at) == Some(&byte)).then_some(at + 1)
    }

    /// Reads the string whose first quote is at `at`.
    #[inline(always)]
    fn string(&mut self, at: usize) -> Result<Raw, Broken> {
        let mut has_escapes = false;
        let mut from = at + 1;
        loop {
            let found = self.marks.find(from);
            match self.bytes.get(found) {
                Some(b'"') => return Ok(Raw { quotes: [at, found], has_escapes }),
                Some(_) => {
                    has_escapes = true;
                    from = found + 2;
                }
                None => return Err(Broken(at)),
            }
        }
    }

    /// The text of a string; `None` if an escape in it is invalid. A surrogate without its other half becomes three bytes.
    #[inline]
    fn said_by(&self, string: &Raw) -> Option<Cow<'a, [u8]>> {
        let [start, end] = string.quotes;
        if string.has_escapes {
            return unescape(&self.bytes[start..=end]).map(Cow::Owned);
        }
        Some(Cow::Borrowed(&self.bytes[start + 1..end]))
    }

    /// The position after the value at `at`.
    #[inline(always)]
    fn behind_value(&mut self, at: usize) -> Result<usize, Broken> {
        match self.bytes.get(at) {
            Some(b'"') => Ok(self.string(at)?.quotes[1] + 1),
            Some(b'{' | b'[') => self.behind_brackets(at),
            _ => {
                let rest = self.bytes.get(at..).unwrap_or_default();
                match rest.iter().position(|&byte| !is_in_word(byte)).unwrap_or(rest.len()) {
                    0 => Err(Broken(at)),
                    len => Ok(at + len),
                }
            }
        }
    }

    /// The position after the object or array whose opening bracket is at `start`.
    fn behind_brackets(&mut self, start: usize) -> Result<usize, Broken> {
        let (mut depth, mut at) = (1_usize, start + 1);
        while depth > 0 {
            match self.bytes.get(at) {
                Some(b'"') => at = self.string(at)?.quotes[1],
                Some(b'{' | b'[') => depth += 1,
                Some(b'}' | b']') => depth -= 1,
                Some(_) => {}
                None => return Err(Broken(start)),
            }
            at += 1;
        }
        Ok(at)
    }

    /// Where the next value or member begins after a value that ends at `at`. Breaks with the end of the array or object, if
    /// `close` ends it here.
    #[inline(always)]
    fn after(&self, at: usize, close: u8) -> Result<ControlFlow<usize, usize>, Broken> {
        if let Some(next) = self.behind(b',', at) {
            return Ok(ControlFlow::Continue(next));
        }
        self.behind(close, at).map(ControlFlow::Break).ok_or_else(|| Broken(self.behind_blanks(at)))
    }

    /// Where the value at `path` begins, inside the value at `at`; `None` if there is none.
    #[inline]
    fn find(&mut self, path: &[Token], mut at: usize) -> Result<Option<usize>, Broken> {
        for token in path {
            at = self.behind_blanks(at);
            let found = match self.bytes.get(at) {
                Some(b'{') => self.find_key(at, &token.name)?,
                Some(b'[') => match token.index {
                    Some(index) => self.find_index(at, index)?,
                    None => None,
                },
                _ => None,
            };
            match found {
                Some(value) => at = value,
                None => return Ok(None),
            }
        }
        Ok(Some(self.behind_blanks(at)))
    }

    /// Where the value under `name` begins, in the object whose brace is at `at`; `None` if there is none.
    #[inline]
    fn find_key(&mut self, at: usize, name: &[u8]) -> Result<Option<usize>, Broken> {
        let mut found = None;
        self.members(at, name, |value| {
            found = Some(value);
            false
        })?;
        Ok(found)
    }

    /// Steps through the members of the object whose brace is at `at`. Passes the position of each value under `name` to
    /// `goes_on`, and stops if that returns false. Returns the end of the object, or the position of the value where it stopped.
    #[inline(always)]
    fn members(
        &mut self,
        mut at: usize,
        name: &[u8],
        mut goes_on: impl FnMut(usize) -> bool,
    ) -> Result<usize, Broken> {
        at += 1;
        if let Some(end) = self.behind(b'}', at) {
            return Ok(end);
        }
        loop {
            let (is_it, value) = self.key(at, name)?;
            if is_it && !goes_on(value) {
                return Ok(value);
            }
            let end = self.behind_value(value)?;
            match self.after(end, b'}')? {
                ControlFlow::Continue(next) => at = next,
                ControlFlow::Break(end) => return Ok(end),
            }
        }
    }

    /// Steps over the key at `at`. Returns it, and where its value begins.
    #[inline(always)]
    fn any_key(&mut self, at: usize) -> Result<(Raw, usize), Broken> {
        let quote = self.behind(b'"', at).ok_or_else(|| Broken(self.behind_blanks(at)))? - 1;
        let key = self.string(quote)?;
        let value = self.behind(b':', key.quotes[1] + 1);
        let value = value.ok_or_else(|| Broken(self.behind_blanks(key.quotes[1] + 1)))?;
        let value = self.behind_blanks(value);
        Ok((key, value))
    }

    /// Steps over the key at `at`. Returns whether it is `name`, and where its value begins.
    #[inline(always)]
    fn key(&mut self, at: usize, name: &[u8]) -> Result<(bool, usize), Broken> {
        let (key, value) = self.any_key(at)?;
        let [start, end] = key.quotes;
        let is_it = if key.has_escapes {
            self.said_by(&key).is_some_and(|said| *said == *name)
        } else {
            self.bytes[start + 1..end] == *name
        };
        Ok((is_it, value))
    }

    /// Where the value with this index begins, in the array whose bracket is at `at`; `None` if there is none.
    fn find_index(&mut self, at: usize, index: usize) -> Result<Option<usize>, Broken> {
        let mut next = self.first(at, b']');
        for _ in 0..index {
            let Some(at) = next else { break };
            let value = self.behind_blanks(at);
            next = self.next(value, b']')?;
        }
        Ok(next)
    }
}

#[cfg(test)]
mod tests;
