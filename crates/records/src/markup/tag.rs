//! Walks the tags of XML and HTML: their names and attributes (WHATWG HTML, sections 13.2.5.6 to 13.2.5.40; XML 1.0,
//! section 3.1).
//!
//! Both languages use the same states. XML allows less, so the walk also notes the first byte that XML does not allow.

use std::ops::Range;

use memchr::memchr2;

use super::Language;
use crate::near_bytes;

/// Where in a tag a byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InTag {
    /// In the name of the element.
    Element,
    /// Before the name of an attribute.
    Before,
    /// In the name of an attribute.
    Name,
    /// After the name of an attribute.
    After,
    /// Between "=" and the value.
    Equals,
    /// In a value between these quotes.
    Quoted(u8),
    /// In a value without quotes.
    Bare,
}

/// How the walk of a tag ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Walked {
    /// The tag ends before this offset.
    To(usize),
    /// XML does not allow the byte at the first offset. Reading can go on at the second.
    Malformed(usize, usize),
    /// The bytes end inside the tag. XML does not allow the byte at the offset.
    Open(InTag, Option<usize>),
}

/// An attribute: its name and its value without the quotes.
pub(super) struct Attribute {
    pub(super) name: Range<usize>,
    pub(super) value: Range<usize>,
}

/// Walks the tag at the start of `bytes`, and passes its attributes to `each`.
#[inline]
pub(super) fn walk(bytes: &[u8], language: Language, each: impl FnMut(Attribute)) -> Walked {
    let start = if bytes[1] == b'/' { 2 } else { 1 };
    resume(bytes, start, InTag::Element, language, each)
}

/// The name of the element whose start tag begins `bytes`. It is empty for an end tag.
#[inline]
pub(super) fn name(bytes: &[u8]) -> &[u8] {
    let name = &bytes[1..];
    &name[..name.iter().position(|&byte| ends_name(byte)).unwrap_or(name.len())]
}

/// Walks the rest of a tag from `at`, which is `inside`.
pub(super) fn resume(
    bytes: &[u8],
    mut at: usize,
    mut inside: InTag,
    language: Language,
    mut each: impl FnMut(Attribute),
) -> Walked {
    let is_xml = language == Language::Xml;
    let mut wrong = None;
    let mut name = at..at;
    let mut value = at;
    while let Some(&byte) = bytes.get(at) {
        if byte == b'<' && is_xml && !matches!(inside, InTag::Quoted(_)) {
            return Walked::Malformed(wrong.unwrap_or(at), at);
        }
        match inside {
            InTag::Element => match rest(bytes, at, |byte| ends_name(byte) || is_xml && byte == b'<') {
                end if end > at => at = end,
                _ => inside = InTag::Before,
            },
            InTag::Before => match byte {
                b'>' => return ended(wrong, at + 1),
                b'/' => at += 1,
                _ if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    (name, inside) = (at..at + 1, InTag::Name);
                    at += 1;
                    if is_xml && matches!(byte, b'=' | b'"' | b'\'') {
                        wrong.get_or_insert(at - 1);
                    }
                }
            },
            InTag::Name => {
                at = rest(bytes, at, |byte| ends_name(byte) || byte == b'=' || is_xml && byte == b'<');
                name.end = at;
                match bytes.get(at) {
                    Some(b'=') => (at, inside) = (at + 1, InTag::Equals),
                    _ => inside = InTag::After,
                }
            }
            InTag::After if byte.is_ascii_whitespace() => at += 1,
            InTag::After if byte == b'=' => (at, inside) = (at + 1, InTag::Equals),
            InTag::After => {
                wrong = wrong.or(is_xml.then_some(at));
                each(Attribute { name: name.clone(), value: at..at });
                inside = InTag::Before;
                if !matches!(byte, b'/' | b'>') {
                    (name, inside, at) = (at..at + 1, InTag::Name, at + 1);
                }
            }
            InTag::Equals => match byte {
                b'"' | b'\'' => (at, value, inside) = (at + 1, at + 1, InTag::Quoted(byte)),
                b'>' => {
                    wrong = wrong.or(is_xml.then_some(at));
                    each(Attribute { name: name.clone(), value: at..at });
                    return ended(wrong, at + 1);
                }
                _ if byte.is_ascii_whitespace() => at += 1,
                _ => {
                    wrong = wrong.or(is_xml.then_some(at));
                    (value, inside) = (at, InTag::Bare);
                }
            },
            InTag::Quoted(quote) => {
                let rest = &bytes[at..];
                let found = if is_xml { memchr2(quote, b'<', rest) } else { near_bytes::find(quote, rest) };
                let Some(len) = found else { break };
                at += len;
                if bytes[at] != quote {
                    return Walked::Malformed(wrong.unwrap_or(at), at);
                }
                each(Attribute { name: name.clone(), value: value..at });
                (at, inside) = (at + 1, InTag::Before);
                let is_next = |&next: &u8| !next.is_ascii_whitespace() && !matches!(next, b'/' | b'>');
                if is_xml && bytes.get(at).is_some_and(is_next) {
                    wrong.get_or_insert(at);
                }
            }
            InTag::Bare => {
                at = rest(bytes, at, |byte| {
                    byte.is_ascii_whitespace() || byte == b'>' || (is_xml && byte == b'<')
                });
                if at < bytes.len() {
                    each(Attribute { name: name.clone(), value: value..at });
                    inside = InTag::Before;
                }
            }
        }
    }
    Walked::Open(inside, wrong)
}

/// A tag that ends before `end`. XML does not allow its byte at `wrong`.
#[inline]
fn ended(wrong: Option<usize>, end: usize) -> Walked {
    wrong.map_or(Walked::To(end), |wrong| Walked::Malformed(wrong, end))
}

/// The first byte from `at` that `is_end`, or the end.
#[inline(always)]
fn rest(bytes: &[u8], at: usize, is_end: impl Fn(u8) -> bool) -> usize {
    bytes[at..].iter().position(|&byte| is_end(byte)).map_or(bytes.len(), |len| at + len)
}

/// Whether a byte ends the name of an element.
#[inline]
fn ends_name(byte: u8) -> bool {
    byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>')
}
