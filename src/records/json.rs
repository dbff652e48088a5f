//! Finds the string under a key of a JSON object, without reading the whole object.
//!
//! Values before the key are skipped. A string is skipped by its quotes alone, an array or object by its brackets. A number or a
//! word (`true`, `-Infinity`) is any run of letters, digits, signs and points. Members after the key are not read. The object
//! must only end in a brace, which shows that it is not cut off. If two members have the same name, the first one counts. Bytes
//! that are not UTF-8 and raw control characters stay in the string, and are judged with it.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use memchr::memmem::Finder;
use serde::Deserializer;
use serde::de::{self, Visitor};

use super::separators::{Marks, Set};
use super::{BadCause, Miss, Outcome, Part, Parts, Role, Selector};

/// The bytes that delimit strings and begin escapes.
pub(super) const SEPARATORS: Set = [b'"', b'\\', b'\\'];

/// The path from an object to a value in it (RFC 6901).
#[derive(Clone, Debug)]
pub(super) struct Path(Vec<Token>);

#[derive(Clone, Debug)]
struct Token {
    name: Vec<u8>,
    /// Its meaning in an array, if it is an index.
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
    /// The paths to `fields`, or to the member "url" if there are none. The error is the index of a field that is no path.
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

/// Reads the object that begins at byte `from` of `record`. The object fills the rest of the record, apart from blanks at the
/// end. `record` is a range of the bytes of `marks`, which search for [`SEPARATORS`].
#[inline]
pub(super) fn read<'a>(
    marks: &mut Marks<'a>,
    record: Range<usize>,
    from: usize,
    paths: &[Path],
    parts: &mut Parts<'_, 'a>,
) -> Outcome {
    let at = record.start + from;
    let mut text = Text::new(marks, record);
    if text.behind(b'{', at).is_none() {
        return Err(text.miss(Broken(at)));
    }
    text.ends_in_brace()?;
    for path in paths {
        if let Some(value) = text.find(&path.0, at).map_err(|broken| text.miss(broken))? {
            text.take(value, Role::Url, parts)?;
        }
    }
    parts.or_skip()
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
    text.ends_in_brace()?;
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

/// What follows a value.
enum After {
    /// Another value or member, at this position.
    Next(usize),
    /// The end of the enclosing array or object, at this position.
    End(usize),
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

    /// Refuses a record that is cut off.
    #[inline]
    fn ends_in_brace(&self) -> Outcome {
        let record = &self.bytes[self.start..];
        let is_whole = record.trim_ascii_end().ends_with(b"}");
        if is_whole { Ok(()) } else { Err(Miss::Bad(BadCause::BadJson, record.len())) }
    }

    /// Makes an error whose position counts from the start of the record.
    #[cold]
    fn miss(&self, Broken(at): Broken) -> Miss {
        Miss::Bad(BadCause::BadJson, at - self.start)
    }

    /// Takes the value at `at` as a field if it is a string. A null gives no field.
    #[inline]
    fn take(&mut self, at: usize, role: Role, parts: &mut Parts<'_, 'a>) -> Outcome {
        let place = at - self.start;
        if self.bytes.get(at) != Some(&b'"') {
            let end = self.behind_value(at).map_err(|broken| self.miss(broken))?;
            let behind = self.bytes.get(self.behind_blanks(end));
            let is_null = &self.bytes[at..end] == b"null" && matches!(behind, Some(b',' | b'}' | b']'));
            return if is_null { Ok(()) } else { Err(Miss::Bad(BadCause::NotAString, place)) };
        }
        let string = self.string(at).map_err(|broken| self.miss(broken))?;
        let bytes = self.said_by(&string).ok_or(Miss::Bad(BadCause::BadEscape, place))?;
        parts.push(Part { role, bytes, at: place + 1 });
        Ok(())
    }

    /// Takes the "url" of each object in an array; `at` is after its opening bracket. Returns the position after the array.
    fn take_each_url(&mut self, mut at: usize, parts: &mut Parts<'_, 'a>) -> Result<usize, Miss> {
        if let Some(end) = self.behind(b']', at) {
            return Ok(end);
        }
        loop {
            at = self.behind_blanks(at);
            if self.bytes.get(at) == Some(&b'{') {
                let mut url = None;
                let first = |value| {
                    url.get_or_insert(value);
                    true
                };
                let end = self.members(at, b"url", first).map_err(|broken| self.miss(broken))?;
                if let Some(url) = url {
                    self.take(url, Role::Link, parts)?;
                }
                at = end;
            } else {
                at = self.behind_value(at).map_err(|broken| self.miss(broken))?;
            }
            match self.after(at, b']').map_err(|broken| self.miss(broken))? {
                After::Next(next) => at = next,
                After::End(end) => return Ok(end),
            }
        }
    }

    /// The first position from `at` on without a blank.
    #[inline]
    fn behind_blanks(&self, mut at: usize) -> usize {
        while matches!(self.bytes.get(at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            at += 1;
        }
        at
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

    /// What follows a value that ends at `at`, in an array or object that `close` ends.
    #[inline(always)]
    fn after(&self, at: usize, close: u8) -> Result<After, Broken> {
        if let Some(next) = self.behind(b',', at) {
            return Ok(After::Next(next));
        }
        self.behind(close, at).map(After::End).ok_or_else(|| Broken(self.behind_blanks(at)))
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
                After::Next(next) => at = next,
                After::End(end) => return Ok(end),
            }
        }
    }

    /// Steps over the key at `at`. Returns whether it is `name`, and where its value begins.
    #[inline(always)]
    fn key(&mut self, at: usize, name: &[u8]) -> Result<(bool, usize), Broken> {
        let quote = self.behind(b'"', at).ok_or_else(|| Broken(self.behind_blanks(at)))? - 1;
        let key = self.string(quote)?;
        let end = key.quotes[1] + 1;
        let is_it = if key.has_escapes {
            self.said_by(&key).is_some_and(|said| *said == *name)
        } else {
            self.bytes[quote + 1..end - 1] == *name
        };
        let value = self.behind(b':', end).ok_or_else(|| Broken(self.behind_blanks(end)))?;
        Ok((is_it, self.behind_blanks(value)))
    }

    /// Where the value with this index begins, in the array whose bracket is at `at`; `None` if there is none.
    fn find_index(&mut self, mut at: usize, index: usize) -> Result<Option<usize>, Broken> {
        at += 1;
        if self.behind(b']', at).is_some() {
            return Ok(None);
        }
        for _ in 0..index {
            let value = self.behind_blanks(at);
            let end = self.behind_value(value)?;
            match self.after(end, b']')? {
                After::Next(next) => at = next,
                After::End(_) => return Ok(None),
            }
        }
        Ok(Some(at))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::Skip;
    use super::*;

    /// The texts at `paths` of an object that fills `record` from `from` on, or why there are none. The record is between two
    /// others. One has an open string, and the other has strings that would close those of the record.
    fn texts(record: &[u8], from: usize, paths: &[&str]) -> Result<Vec<Vec<u8>>, Miss> {
        let before = b"{\"e\":\"\n";
        let bytes = [&before[..], record, b"\n\",\"e\":\"no\"}\n"].concat();
        let record = before.len()..before.len() + record.len();
        let pointers: Vec<_> = paths.iter().map(|&path| Selector::Pointer(path.to_owned())).collect();
        let (mut marks, mut more) = (Marks::new(SEPARATORS, &bytes), Vec::new());
        let mut parts = Parts::new(&mut more);
        read(&mut marks, record, from, &Path::all(&pointers).unwrap(), &mut parts)?;
        Ok(parts.first.into_iter().chain(more).map(|part| part.bytes.into_owned()).collect())
    }

    /// Strings begin and end at every position of a block and of a window, after members of all kinds and inside some.
    #[test]
    fn members_are_those_of_serde_json() {
        let shapes = [
            r#"{"f":"FILL","a":{"b":[1,"x]}",{"c":"\\\"}"}],"d":"one"},"e":"two\u00e9\\"}"#,
            r#"{ "a" : { "FILL" : [ ] , "d" : "\"one" } , "b" : null , "e" : "two" }  "#,
            r#"{"a":{"e":-1.5e7,"d":"one"},"n":[[],{},"FILL",true],"x":{"a":{"d":"no"}},"e":"tw[o"}"#,
            r#"{"g":"\\FILL\\","\u0061":{"d":"FILL"},"e":"FILL"}"#,
        ];
        let paths = ["/e", "/a/d", "/a/b/1", "/n/2"];
        for shape in shapes {
            for n in (0..150).chain(1900..2100) {
                let record = shape.replace("FILL", &"f".repeat(n));
                let value: Value = serde_json::from_str(&record).unwrap();
                let expected = paths.iter().filter_map(|path| value.pointer(path)?.as_str());
                let expected: Vec<_> = expected.map(|text| text.as_bytes().to_vec()).collect();
                assert!(expected.len() >= 2);
                for from in [0, 7] {
                    let record = [&b"key 14 "[..from], record.as_bytes()].concat();
                    assert_eq!(texts(&record, from, &paths).as_ref(), Ok(&expected), "{n} {shape}");
                }
            }
        }
    }

    /// An object that is broken before the wanted value reports where. What follows the value is not read.
    #[test]
    fn broken_objects_say_where() {
        let bad = |at| Err(Miss::Bad(BadCause::BadJson, at));
        let one = |text: &str| Ok(vec![text.as_bytes().to_vec()]);
        for (record, expected) in [
            ("x", bad(0)),
            ("[1]", bad(0)),
            (r#"{"e":"x"#, bad(7)),
            (r#"{"e":"x}"#, bad(5)),
            (r#"{"e":"x\"}"#, bad(5)),
            (r#"{"a" 1,"e":"x"}"#, bad(5)),
            (r#"{"a":1;"e":"x"}"#, bad(6)),
            (r#"{"a":;"e":"x"}"#, bad(5)),
            (r#"{"a":"1" "e":"x"}"#, bad(9)),
            (r#"{"a":[{"b":"]"},"e":"x"}"#, bad(24)),
            (r#"{"a":-Infinity,"b": NaN ,"e":"x"}"#, one("x")),
            (r#"{"a":,"e":"x"}"#, bad(5)),
            (r#"{a:1,"e":"x"}"#, bad(1)),
            (r#"{"a":1,}"#, bad(7)),
            (r#"{"e":"\q"}"#, Err(Miss::Bad(BadCause::BadEscape, 5))),
            (r#"{"e":["x"]}"#, Err(Miss::Bad(BadCause::NotAString, 5))),
            (r#"{"e":null}"#, Err(Miss::Skipped(Skip::NoField))),
            (r#"{"e": null ,"f":1}"#, Err(Miss::Skipped(Skip::NoField))),
            (r#"{"e":null"x"}"#, Err(Miss::Bad(BadCause::NotAString, 5))),
            (r#"{"e":nullx}"#, Err(Miss::Bad(BadCause::NotAString, 5))),
            (r#"{"a":ObjectId("5f"),"e":"x"}"#, bad(13)),
            (r#"{"a":null'x',"e":"x"}"#, bad(9)),
            ("{}", Err(Miss::Skipped(Skip::NoField))),
            (r#"{"a":{"e":"x"}}"#, Err(Miss::Skipped(Skip::NoField))),
            (r#"{"e":"x",:::"}"#, one("x")),
            (r#"{"e":"x"]}"#, one("x")),
            (r#"{"e":"x","e":"y"}"#, one("x")),
        ] {
            assert_eq!(texts(record.as_bytes(), 0, &["/e"]), expected, "{record}");
        }
    }
}
