//! Finds where comments, sections, declarations and raw text end, so that what looks like a tag in them is none.
//!
//! Each of them can be longer than what is held in memory. So a [`State`] can be left at one byte and resumed there.

use memchr::{memchr, memchr_iter};

use super::Language;
use super::raw::Raw;
use super::tag::{self, InTag, Walked};

/// What a byte of a document is in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
    /// Content, where tags begin.
    #[default]
    Content,
    /// A comment.
    Comment,
    /// A section of characters, `<![CDATA[` to `]]>`.
    Characters,
    /// A processing instruction of XML.
    Instruction,
    /// In HTML, what ends at the next ">": a declaration, an instruction, an end tag without a name.
    Bogus,
    /// The document type declaration of XML.
    Doctype(Doctype),
    /// A tag that is too long, and the text after it.
    Tag(InTag, Raw),
    /// The text of an element that has no tags inside.
    Raw(Raw),
}

/// Where in a document type declaration a byte is. Nothing in it is expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doctype {
    Outer,
    Subset,
    OuterQuote(u8),
    SubsetQuote(u8),
    SubsetComment,
    SubsetInstruction,
}

/// What begins at a "<".
pub(super) enum Opening {
    /// No tag: its state, and how many bytes of it are known.
    Construct(usize, State),
    StartTag,
    EndTag,
    /// This byte is text in HTML, and an error in XML.
    Text,
    /// More bytes are needed.
    Open,
}

impl Opening {
    /// What `bytes`, which begin with "<", begin with.
    pub(super) fn of(bytes: &[u8], language: Language) -> Self {
        let is_xml = language == Language::Xml;
        let is_open = |name: &[u8]| bytes.len() < name.len() && name.starts_with(bytes);
        let Some(&next) = bytes.get(1) else { return Self::Open };
        match next {
            b'/' => match bytes.get(2) {
                None => Self::Open,
                Some(&first) if begins_name(first, is_xml) => Self::EndTag,
                Some(_) if is_xml => Self::Text,
                Some(_) => Self::Construct(2, State::Bogus),
            },
            b'!' if is_open(b"<!--") || is_xml && is_open(b"<![CDATA[") => Self::Open,
            b'!' if bytes.starts_with(b"<!--") => match &bytes[4..] {
                _ if is_xml => Self::Construct(4, State::Comment),
                [] | [b'-'] => Self::Open,
                [b'>', ..] => Self::Construct(5, State::Content),
                [b'-', b'>', ..] => Self::Construct(6, State::Content),
                _ => Self::Construct(4, State::Comment),
            },
            b'!' if !is_xml => Self::Construct(2, State::Bogus),
            b'!' if bytes.starts_with(b"<![CDATA[") => Self::Construct(9, State::Characters),
            // A cut may be before each "<", so a section of another kind is no declaration.
            b'!' if bytes.starts_with(b"<![") => Self::Text,
            b'!' => Self::Construct(2, State::Doctype(Doctype::Outer)),
            b'?' if is_xml => Self::Construct(2, State::Instruction),
            b'?' => Self::Construct(2, State::Bogus),
            _ if begins_name(next, is_xml) => Self::StartTag,
            _ => Self::Text,
        }
    }
}

fn begins_name(byte: u8, is_xml: bool) -> bool {
    byte.is_ascii_alphabetic() || is_xml && (matches!(byte, b'_' | b':') || !byte.is_ascii())
}

impl Raw {
    /// The state at the start of the text.
    pub(super) fn state(self) -> State {
        if self == Self::None { State::Content } else { State::Raw(self) }
    }
}

impl State {
    /// What it is called in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Comment | Self::Bogus => "a comment",
            Self::Characters => "a CDATA section",
            Self::Instruction => "a processing instruction",
            Self::Doctype(_) => "a document type declaration",
            Self::Tag(..) => "a tag",
            Self::Raw(raw) => raw.name(),
        }
    }

    /// Moves from byte `from` to the end of what is open there. Returns the place and the state after it. If the end is not in
    /// `bytes`, the error is a place up to which the bytes are no longer needed, and the state there.
    pub(super) fn leave(
        self,
        bytes: &[u8],
        from: usize,
        language: Language,
    ) -> Result<(usize, Self), (usize, Self)> {
        let content = |end| (end, Self::Content);
        let open = |at| (at, self);
        match self {
            Self::Content => Ok((from, self)),
            Self::Comment if language == Language::Html => {
                until(bytes, from, &[b"--", b"--!"]).map(content).map_err(open)
            }
            Self::Comment => until(bytes, from, &[b"--"]).map(content).map_err(open),
            Self::Characters => until(bytes, from, &[b"]]"]).map(content).map_err(open),
            Self::Instruction => until(bytes, from, &[b"?"]).map(content).map_err(open),
            Self::Bogus => until(bytes, from, &[b""]).map(content).map_err(open),
            Self::Doctype(doctype) => {
                doctype.leave(bytes, from).map(content).map_err(|(at, doctype)| (at, Self::Doctype(doctype)))
            }
            Self::Tag(inside, raw) => match tag::resume(bytes, from, inside, language, |_| {}) {
                Walked::To(end) | Walked::Malformed(_, end) => Ok((end, raw.state())),
                Walked::Open(inside, _) => Err((bytes.len(), Self::Tag(inside, raw))),
            },
            Self::Raw(raw) => raw.leave(bytes, from).map(content).map_err(|(at, raw)| (at, Self::Raw(raw))),
        }
    }
}

/// The end of the first ">" from `from` that one of `before` precedes. Otherwise a place up to which no byte can belong to it.
fn until(bytes: &[u8], from: usize, before: &[&[u8]]) -> Result<usize, usize> {
    let is_end = |&gt: &usize| before.iter().any(|before| bytes[from..from + gt].ends_with(before));
    let longest = before.iter().map(|before| before.len()).max().unwrap_or(0);
    memchr_iter(b'>', &bytes[from..])
        .find(is_end)
        .map(|gt| from + gt + 1)
        .ok_or(bytes.len().saturating_sub(longest).max(from))
}

impl Doctype {
    fn leave(mut self, bytes: &[u8], from: usize) -> Result<usize, (usize, Self)> {
        let mut at = from;
        while let Some(&byte) = bytes.get(at) {
            match self {
                Self::Outer => {
                    at += 1;
                    match byte {
                        b'>' => return Ok(at),
                        b'[' => self = Self::Subset,
                        b'"' | b'\'' => self = Self::OuterQuote(byte),
                        _ => {}
                    }
                }
                Self::Subset => {
                    let rest = &bytes[at..];
                    if rest.len() < 4 && b"<!--".starts_with(rest) {
                        return Err((at, self));
                    }
                    (at, self) = match byte {
                        b']' => (at + 1, Self::Outer),
                        b'"' | b'\'' => (at + 1, Self::SubsetQuote(byte)),
                        b'<' if rest.starts_with(b"<!--") => (at + 4, Self::SubsetComment),
                        b'<' if rest.starts_with(b"<?") => (at + 2, Self::SubsetInstruction),
                        _ => (at + 1, self),
                    };
                }
                Self::OuterQuote(quote) | Self::SubsetQuote(quote) => {
                    let Some(len) = memchr(quote, &bytes[at..]) else { return Err((bytes.len(), self)) };
                    at += len + 1;
                    self = if matches!(self, Self::OuterQuote(_)) { Self::Outer } else { Self::Subset };
                }
                Self::SubsetComment | Self::SubsetInstruction => {
                    let before: &[u8] = if self == Self::SubsetComment { b"--" } else { b"?" };
                    at = until(bytes, at, &[before]).map_err(|at| (at, self))?;
                    self = Self::Subset;
                }
            }
        }
        Err((bytes.len(), self))
    }
}
