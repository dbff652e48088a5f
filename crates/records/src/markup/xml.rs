//! Finds the URLs of XML documents: sitemaps and their indexes, RSS, Atom and others. A record is an element that holds a URL.
//!
//! Only what is read is checked: the syntax of each tag, and the end tag and the references of each text that is a URL. Whether
//! tags match is not checked, so that memory does not depend on how deep elements are nested.

use std::borrow::Cow;

use memchr::memchr;

use super::construct::{Opening, State};
use super::raw::Raw;
use super::references::{Piece, undo};
use super::tag::{self, Attribute, InTag, Walked, walk};
use super::{Language, Name, PlainText, Unit, index, part, without_white};
use crate::{BadCause, Miss, Parts, Role};

/// The index of the name that selects the text of an element; `None` if it is not wanted.
#[inline]
pub(super) fn of_text(names: &[Name], element: &[u8]) -> Option<u32> {
    let is_usual = || {
        matches!(
            local(element),
            b"loc" | b"link" | b"url" | b"uri" | b"guid" | b"content_loc" | b"player_loc" | b"thumbnail_loc"
        )
    };
    index(names, is_usual, |name| name.attribute.is_none() && is_named(element, &name.element))
}

/// The index of the name that selects an attribute of an element; `None` if it is not wanted.
fn of_attribute(names: &[Name], element: &[u8], attribute: &[u8]) -> Option<u32> {
    let is_usual = || {
        matches!(local(attribute), b"href" | b"src" | b"url" | b"xmlUrl" | b"htmlUrl")
            && !attribute.starts_with(b"xmlns:")
    };
    index(names, is_usual, |name| name.is_attribute(element, attribute, is_named))
}

/// Looks at the tag at the start of `bytes`. `ended` says that no bytes follow.
pub(super) fn unit(names: &[Name], bytes: &[u8], ended: bool) -> Unit {
    let element = tag::name(bytes);
    let mut has_url = false;
    let walked = walk(bytes, Language::Xml, |Attribute { name, .. }| {
        has_url |= of_attribute(names, element, &bytes[name]).is_some();
    });
    let end = match walked {
        Walked::To(end) => end,
        Walked::Malformed(at, end) => return Unit::Bad(BadCause::BadXml, at, end),
        // A cut may be where the next tag begins, so the end is treated as one.
        Walked::Open(_, wrong) if ended => {
            return Unit::Bad(BadCause::BadXml, wrong.unwrap_or(bytes.len()), bytes.len());
        }
        Walked::Open(inside, _) => return Unit::Open(bytes.len(), State::Tag(inside, Raw::None)),
    };
    let tag = if has_url { Unit::Record(end, State::Content) } else { Unit::Nothing(end, State::Content) };
    if element.is_empty() || of_text(names, element).is_none() {
        return tag;
    }
    if bytes[..end].ends_with(b"/>") {
        return Unit::Record(end, State::Content);
    }
    // What should be an end tag. A cut may be before it, so what it is instead must not matter.
    let (at, blank) = match text(bytes, end, |_, _| {}) {
        Text::Closed(at, blank) => match end_tag(&bytes[at..], element) {
            EndTag::Matches(len) => return Unit::Record(at + len, State::Content),
            EndTag::Broken(len) => return Unit::Bad(BadCause::BadXml, at + len, at + len),
            // As in the start tag, the end is treated as the next tag.
            EndTag::Open(_) if ended => return Unit::Bad(BadCause::BadXml, bytes.len(), bytes.len()),
            EndTag::Open(inside) => return Unit::Open(bytes.len(), State::Tag(inside, Raw::None)),
            EndTag::Other => (at, blank),
        },
        Text::Child(at, blank) => (at, blank),
        Text::Open(at, State::Content, blank)
            if ended && matches!(bytes[at..], [] | [b'<'] | [b'<', b'/'] | [b'<', b'!', b'[', ..]) =>
        {
            (at, blank)
        }
        Text::Open(at, state, _) => return Unit::Open(at, state),
    };
    if blank {
        return tag;
    }
    Unit::Bad(BadCause::BadXml, at, at)
}

/// Reads the fields of `record`, which [`unit()`] found.
pub(super) fn read<'a>(names: &[Name], record: &'a [u8], parts: &mut Parts<'_, 'a>) -> Result<(), Miss> {
    let element = tag::name(record);
    let mut bad = None;
    let mut is_permanent = true;
    let walked = walk(record, Language::Xml, |Attribute { name, value }| {
        let raw = &record[value.clone()];
        if let Some(wanted) = of_attribute(names, element, &record[name.clone()]) {
            match undo(raw, Piece::Value) {
                Ok(text) => parts.push(part(&text, without_white(&text), value.start, Role::Link, wanted)),
                Err(at) => _ = bad.get_or_insert(value.start + at),
            }
        }
        // A guid in RSS is a URL unless it says that it is none.
        is_permanent &= !(local(element) == b"guid" && &record[name] == b"isPermaLink" && raw == b"false");
    });
    let Walked::To(end) = walked else { unreachable!("a record begins with a tag") };
    let wanted = of_text(names, element).filter(|_| end < record.len());
    if let Some(wanted) = wanted.filter(|_| is_permanent || !names.is_empty()) {
        // Where the pieces so far begin, and their bytes.
        let mut pieces = (end, Cow::Borrowed(&b""[..]));
        text(record, end, |at, piece| match undo(&record[at.clone()], piece) {
            Ok(piece) if piece.is_empty() => {}
            // White space before the first piece does not matter, so that the text stays borrowed.
            Ok(piece) if is_blank(&pieces.1) => pieces = (at.start, piece),
            Ok(piece) => pieces.1.to_mut().extend_from_slice(&piece),
            Err(wrong) => _ = bad.get_or_insert(at.start + wrong),
        });
        push_text(&pieces.1, pieces.0, wanted, parts);
    }
    bad.map_or_else(|| parts.or_skip(), |at| Err(Miss::Bad(BadCause::BadEscape, at)))
}

/// Does the same for a record whose text is known.
pub(super) fn read_text<'a>(
    PlainText { start, end, wanted }: PlainText,
    record: &'a [u8],
    parts: &mut Parts<'_, 'a>,
) -> Result<(), Miss> {
    let text = undo(&record[start..end], Piece::Text)
        .map_err(|wrong| Miss::Bad(BadCause::BadEscape, start + wrong))?;
    push_text(&text, start, wanted, parts);
    parts.or_skip()
}

/// Appends the text of an element, which begins at `start` of the record, unless it is blank.
#[expect(clippy::ptr_arg, reason = "a text that is borrowed from the record has a place in it")]
fn push_text<'a>(text: &Cow<'a, [u8]>, start: usize, wanted: u32, parts: &mut Parts<'_, 'a>) {
    let part = part(text, without_white(text), start, Role::Url, wanted);
    if !part.bytes.is_empty() {
        parts.push(part);
    }
}

/// What ends the text of an element.
enum Text {
    /// An end tag, and whether the text before it is blank.
    Closed(usize, bool),
    /// The start tag of a child, or what is no tag, and whether the text before it is blank.
    Child(usize, bool),
    /// The bytes end inside it: a place up to which they are no longer needed, the state there, and whether the text is blank.
    Open(usize, State, bool),
}

/// Walks the text from byte `at`, and passes its pieces to `each`.
fn text(bytes: &[u8], mut at: usize, mut each: impl FnMut(std::ops::Range<usize>, Piece)) -> Text {
    let mut blank = true;
    loop {
        let found = memchr(b'<', &bytes[at..]).map(|len| at + len);
        let mark = found.unwrap_or(bytes.len());
        blank &= is_blank(&bytes[at..mark]);
        if found.is_none() {
            return Text::Open(mark, State::Content, blank);
        }
        if at < mark {
            each(at..mark, Piece::Text);
        }
        let (known, state) = match Opening::of(&bytes[mark..], Language::Xml) {
            Opening::Construct(known, state) => (mark + known, state),
            Opening::StartTag | Opening::Text => return Text::Child(mark, blank),
            Opening::EndTag => return Text::Closed(mark, blank),
            Opening::Open => return Text::Open(mark, State::Content, blank),
        };
        match state.leave(bytes, known, Language::Xml) {
            Ok((end, _)) => at = end,
            Err((at, state)) => return Text::Open(at, state, blank),
        }
        if state == State::Characters {
            let characters = known..at - b"]]>".len();
            blank &= is_blank(&bytes[characters.clone()]);
            each(characters, Piece::Characters);
        }
    }
}

/// The end tag that is expected.
enum EndTag {
    /// It is there and has this length.
    Matches(usize),
    /// A "<" is after these bytes of it.
    Broken(usize),
    /// Another one is there.
    Other,
    /// The bytes end inside it.
    Open(InTag),
}

/// How `bytes` begin: with the end tag of `element`, with a part of it, or otherwise.
fn end_tag(bytes: &[u8], element: &[u8]) -> EndTag {
    let name = &bytes[2..];
    let same = name.iter().zip(element).take_while(|(byte, expected)| byte == expected).count();
    let is_whole = same == element.len();
    let rest = &name[same..];
    let white = rest.iter().take_while(|byte| is_whole && byte.is_ascii_whitespace()).count();
    let len = 2 + same + white;
    match rest.get(white) {
        None => EndTag::Open(if white == 0 { InTag::Element } else { InTag::Before }),
        Some(b'>') if is_whole => EndTag::Matches(len + 1),
        Some(b'<') => EndTag::Broken(len),
        Some(_) => EndTag::Other,
    }
}

pub(super) fn is_blank(text: &[u8]) -> bool {
    text.iter().all(|&byte| byte.is_ascii_whitespace())
}

/// A name without its namespace prefix.
#[inline]
fn local(name: &[u8]) -> &[u8] {
    // Names are shorter than what `memchr` is fast for.
    name.iter().position(|&byte| byte == b':').map_or(name, |colon| &name[colon + 1..])
}

/// Whether a name is the wanted one. A wanted name without a prefix stands for all prefixes.
fn is_named(name: &[u8], wanted: &[u8]) -> bool {
    name == wanted || local(name) == wanted
}
