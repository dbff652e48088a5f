//! The string under a key of a JSON object, found without reading the object whole.
//!
//! What stands before the key is stepped over value by value, strings by their quotes alone; what stands behind it is not
//! looked at, but that the object must not be cut off: it ends in a brace. So of two members of one name the first counts. Bytes
//! that are not UTF-8, and raw control characters, are left in the string: whoever judges it will see them.

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer;
use serde::de::{self, Visitor};

use super::near::find2;
use super::{BadCause, Miss, Outcome, Part, Parts, Role, Selector};

/// The way from an object to a value in it (RFC 6901).
#[derive(Clone, Debug)]
pub(super) struct Path(Vec<Token>);

#[derive(Clone, Debug)]
struct Token {
    name: Vec<u8>,
    /// What it means in an array.
    index: Option<usize>,
}

impl Token {
    fn new(name: String) -> Self {
        let is_index =
            name == "0" || (!name.starts_with('0') && name.bytes().all(|byte| byte.is_ascii_digit()));
        Self { index: if is_index { name.parse().ok() } else { None }, name: name.into_bytes() }
    }
}

impl Path {
    /// The paths to `fields`; to the member "url" where there are none. Which of them is no path otherwise.
    pub(super) fn all(fields: &[Selector]) -> Result<Vec<Self>, usize> {
        if fields.is_empty() {
            return Ok(vec![Self(vec![Token::new("url".to_owned())])]);
        }
        let path = |(n, field): (usize, &Selector)| match field {
            Selector::Name(name) => Ok(Self(vec![Token::new(name.clone())])),
            Selector::Pointer(pointer) => {
                let name = |token: &str| Token::new(token.replace("~1", "/").replace("~0", "~"));
                Ok(Self(pointer.split('/').skip(1).map(name).collect()))
            }
            Selector::Number(_) => Err(n),
        };
        fields.iter().enumerate().map(path).collect()
    }
}

/// Reads the object that stands in `record` from `from` on, and nothing but blanks behind it.
pub(super) fn read<'a>(record: &'a [u8], from: usize, paths: &[Path], parts: &mut Parts<'_, 'a>) -> Outcome {
    if record.get(from) != Some(&b'{') && record[from..].trim_ascii_start().first() != Some(&b'{') {
        return Err(Miss::Bad(BadCause::BadJson, from));
    }
    if record.trim_ascii_end().last() != Some(&b'}') {
        return Err(Miss::Bad(BadCause::BadJson, record.len()));
    }
    for path in paths {
        let mut scan = Scan { bytes: record, at: from };
        if scan.find(&path.0).map_err(broken)? {
            take(&mut scan, Role::Url, parts)?;
        }
    }
    parts.or_skip()
}

fn broken(Broken(at): Broken) -> Miss {
    Miss::Bad(BadCause::BadJson, at)
}

/// Takes the value at which `scan` stands as a field, if it is a string; null is none.
fn take<'a>(scan: &mut Scan<'a>, role: Role, parts: &mut Parts<'_, 'a>) -> Outcome {
    let at = scan.at;
    if scan.peek() != Some(b'"') {
        scan.skip().map_err(broken)?;
        let is_null = &scan.bytes[at..scan.at] == b"null";
        return if is_null { Ok(()) } else { Err(Miss::Bad(BadCause::NotAString, at)) };
    }
    let raw = scan.string().map_err(broken)?;
    let bytes = raw.text().ok_or(Miss::Bad(BadCause::BadEscape, at))?;
    parts.push(Part { role, bytes, at: at + 1 });
    Ok(())
}

/// Takes the "url" of each object in the arrays that stand under a key `name` anywhere in `record` from `from` on, but for such
/// arrays inside one another.
pub(super) fn read_each_url<'a>(
    record: &'a [u8],
    from: usize,
    name: &memchr::memmem::Finder<'_>,
    parts: &mut Parts<'_, 'a>,
) -> Outcome {
    if record.trim_ascii_end().last() != Some(&b'}') {
        return Err(Miss::Bad(BadCause::BadJson, record.len()));
    }
    let url = Token::new("url".to_owned());
    let mut at = from;
    // In JSON a quoted name before a colon is a key: inside a string its quotes have backslashes.
    while let Some(found) = name.find(&record[at..]) {
        at += found + name.needle().len();
        let mut scan = Scan { bytes: record, at };
        if !(scan.next_is(b':') && scan.next_is(b'[')) {
            continue;
        }
        let mut is_done = scan.next_is(b']');
        while !is_done {
            scan.blanks();
            if scan.peek() == Some(b'{') {
                if let Some(value) = scan.members(&url.name).map_err(broken)? {
                    take(&mut Scan { at: value, ..scan }, Role::Link, parts)?;
                }
            } else {
                scan.skip().map_err(broken)?;
            }
            is_done = scan.next_is(b']');
            if !is_done && !scan.next_is(b',') {
                return Err(broken(Broken(scan.at)));
            }
        }
        at = scan.at;
    }
    parts.or_skip()
}

/// The bytes are no JSON, seen there.
struct Broken(usize);

/// A string as it stands in the text, its quotes included.
struct Raw<'a> {
    quoted: &'a [u8],
    has_escapes: bool,
}

impl<'a> Raw<'a> {
    /// What it says; `None` if an escape in it means nothing. A surrogate without its other half is three bytes.
    fn text(&self) -> Option<Cow<'a, [u8]>> {
        if !self.has_escapes {
            return Some(Cow::Borrowed(&self.quoted[1..self.quoted.len() - 1]));
        }
        unescape(self.quoted).map(Cow::Owned)
    }
}

/// Strings with escapes are rare.
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

/// A place in a text.
#[derive(Clone, Copy)]
struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Scan<'a> {
    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over blanks, and over `byte` if it comes then.
    #[inline]
    fn next_is(&mut self, byte: u8) -> bool {
        self.blanks();
        let is = self.peek() == Some(byte);
        self.at += usize::from(is);
        is
    }

    /// Steps over a string, at whose first quote this stands.
    #[inline]
    fn string(&mut self) -> Result<Raw<'a>, Broken> {
        let start = self.at;
        let mut has_escapes = false;
        self.at += 1;
        loop {
            let found = find2(b'"', b'\\', self.bytes.get(self.at..).unwrap_or_default());
            let Some(found) = found else { return Err(Broken(start)) };
            self.at += found + 1;
            if self.bytes[self.at - 1] == b'"' {
                return Ok(Raw { quoted: &self.bytes[start..self.at], has_escapes });
            }
            has_escapes = true;
            self.at += 1;
        }
    }

    /// Steps over a value, at which this stands.
    fn skip(&mut self) -> Result<(), Broken> {
        let start = self.at;
        let mut depth = 0_usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b'}' | b']' | b',' | b':') if depth == 0 => return Err(Broken(self.at)),
                Some(_) if depth > 0 => {
                    self.at += 1;
                    continue;
                }
                // A number or a word.
                Some(_) => {
                    let ends = |&byte: &u8| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r');
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(ends).unwrap_or(rest.len());
                }
                None => return Err(Broken(start)),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Steps to the value at `path` in the value at which this stands; whether there is one.
    #[inline]
    fn find(&mut self, path: &[Token]) -> Result<bool, Broken> {
        for token in path {
            self.blanks();
            let is_there = match self.peek() {
                Some(b'{') => self.find_key(&token.name)?,
                Some(b'[') => match token.index {
                    Some(index) => self.find_index(index)?,
                    None => return Ok(false),
                },
                _ => return Ok(false),
            };
            if !is_there {
                return Ok(false);
            }
        }
        self.blanks();
        Ok(true)
    }

    /// Steps to the value under `name` in the object at whose brace this stands.
    #[inline]
    fn find_key(&mut self, name: &[u8]) -> Result<bool, Broken> {
        self.at += 1;
        if self.next_is(b'}') {
            return Ok(false);
        }
        loop {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(Broken(self.at));
            }
            let key = self.string()?;
            let is_it = if key.has_escapes {
                key.text().is_some_and(|text| *text == *name)
            } else {
                &key.quoted[1..key.quoted.len() - 1] == name
            };
            if !self.next_is(b':') {
                return Err(Broken(self.at));
            }
            self.blanks();
            if is_it {
                return Ok(true);
            }
            self.skip()?;
            if self.next_is(b'}') {
                return Ok(false);
            }
            if !self.next_is(b',') {
                return Err(Broken(self.at));
            }
        }
    }

    /// Steps over the object at whose brace this stands; where the value under `name` begins, if there is one.
    fn members(&mut self, name: &[u8]) -> Result<Option<usize>, Broken> {
        let value = if self.find_key(name)? { self.at } else { return Ok(None) };
        self.skip()?;
        // The members behind it.
        while self.next_is(b',') {
            self.blanks();
            if self.peek() != Some(b'"') {
                return Err(Broken(self.at));
            }
            self.string()?;
            if !self.next_is(b':') {
                return Err(Broken(self.at));
            }
            self.blanks();
            self.skip()?;
        }
        if self.next_is(b'}') { Ok(Some(value)) } else { Err(Broken(self.at)) }
    }

    /// Steps to the value at `index` of the array at whose bracket this stands.
    fn find_index(&mut self, index: usize) -> Result<bool, Broken> {
        self.at += 1;
        if self.next_is(b']') {
            return Ok(false);
        }
        for _ in 0..index {
            self.blanks();
            self.skip()?;
            if self.next_is(b']') {
                return Ok(false);
            }
            if !self.next_is(b',') {
                return Err(Broken(self.at));
            }
        }
        Ok(true)
    }
}
