//! Reads markup: the URLs in elements and attributes of XML and HTML. A record is an element or a tag that holds a URL; the bytes
//! between records belong to no record.
//!
//! This file goes from record to record. `construct` passes over comments and the like, `tag` walks a tag, `raw` passes over
//! scripts, and `references` undoes escapes. `xml` and `html` know which elements and attributes are URLs.
//!
//! A document is read once, from its start, and no tree is built. A cut can be anywhere outside a record, also inside a comment.

mod construct;
mod html;
mod raw;
mod references;
mod tag;
mod xml;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use memchr::memchr;

use super::page::Page;
use super::record::Begins;
use super::{
    BadCause, Cursor, Cut, Gap, MAX_RECORD_LEN, Miss, Part, Parts, Record, RecordReader, Role, Selector,
    n_lines,
};
use construct::Opening;
pub(super) use construct::State;
use tag::is_white;

/// A markup language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    Xml,
    Html,
}

/// Searches a document for records.
#[derive(Clone, Debug)]
pub(super) struct Search {
    language: Language,
    /// The fields that the user wants. Without any, they are the usual ones.
    names: Vec<Name>,
    /// The record at which the last call of [`Search::seek`] stopped.
    found: Option<Found>,
    /// What the next bytes are inside of.
    inside: Inside,
    /// What the tags so far say about the page.
    page: Page,
}

/// A field by its name: an element, or an attribute of any or one element.
#[derive(Clone, Debug)]
struct Name {
    /// The name of the element; empty for any.
    element: Vec<u8>,
    attribute: Option<Vec<u8>>,
}

impl Name {
    /// Reads `element`, `@attribute` and `element@attribute`. In HTML, a name alone is an attribute.
    fn new(field: &Selector, is_html: bool) -> Option<Self> {
        let Selector::Name(name) = field else { return None };
        let (element, attribute) = match name.split_once('@') {
            Some((element, attribute)) => (element, Some(attribute)),
            None if is_html => ("", Some(name.as_str())),
            None => (name.as_str(), None),
        };
        let is_name = attribute.map_or(!element.is_empty(), |attribute| !attribute.is_empty());
        let attribute = attribute.map(|name| name.as_bytes().to_vec());
        is_name.then(|| Self { element: element.as_bytes().to_vec(), attribute })
    }

    /// Whether the text of this element is wanted. `is` compares names.
    fn is_element(&self, element: &[u8], is: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        self.attribute.is_none() && is(element, &self.element)
    }

    /// Whether this attribute is wanted. `is` compares names.
    fn is_attribute(&self, element: &[u8], attribute: &[u8], is: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        self.attribute.as_ref().is_some_and(|wanted| is(attribute, wanted))
            && (self.element.is_empty() || is(element, &self.element))
    }
}

/// The index of the first of `names` that is wanted. Without names, it is 0, and `is_usual` decides.
fn index(names: &[Name], is_usual: impl Fn() -> bool, is_wanted: impl Fn(&Name) -> bool) -> Option<u32> {
    if names.is_empty() {
        return is_usual().then_some(0);
    }
    (0..).zip(names).find(|(_, name)| is_wanted(name)).map(|(n, _)| n)
}

/// The field at `range` of `text`, which begins at `start` of the record if it is borrowed from there.
fn part<'a>(text: &Cow<'a, [u8]>, range: Range<usize>, start: usize, role: Role, wanted: u32) -> Part<'a> {
    let (at, bytes) = match text {
        Cow::Borrowed(text) => (start + range.start, Cow::Borrowed(&text[range])),
        Cow::Owned(text) => (start, Cow::Owned(text[range].to_vec())),
    };
    Part { role, wanted, bytes, at }
}

/// Where `text` is without the white space around it.
fn without_white(text: &[u8]) -> Range<usize> {
    let from = text.iter().position(|&byte| !is_white(byte)).unwrap_or(0);
    from..text.iter().rposition(|&byte| !is_white(byte)).map_or(from, |last| last + 1)
}

/// A place in a document where the end of the input would be an error: the state there, and where it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Inside {
    state: State,
    /// The offset in the input.
    since: u64,
}

impl Inside {
    /// The state at the start of an input.
    const START: Self = Self { state: State::Content, since: 0 };
}

/// A record, or a tag that is none. Each has its length and the state after it.
enum Unit {
    Record(usize, State),
    Nothing(usize, State),
    /// A cause, the offset of the defect, and the length.
    Bad(BadCause, usize, usize),
    /// The bytes end inside it: a place up to which they are no longer needed, and the state there.
    Open(usize, State),
}

/// How many bytes of a record that may be too long are looked at. A comment or script that goes on is resumed at one of the last 16
/// bytes, which is then after the longest record.
const WINDOW: usize = MAX_RECORD_LEN + 16;

/// What the rest of a document begins with.
enum Next {
    /// Bytes that belong to no record, and then a record.
    Record(Found),
    /// These bytes belong to no record. The bytes after them, if there are any, need more.
    Rest(usize, Inside),
}

/// A record: its range, and the state after it.
#[derive(Clone, Copy, Debug)]
struct Found {
    start: usize,
    end: usize,
    /// Why it cannot be read, and the offset of the defect.
    bad: Option<(BadCause, usize)>,
    then: Inside,
}

impl Search {
    /// A search in documents of this language for `fields`, or for those that are usual. The error is the index of a field that no
    /// document can have.
    pub(super) fn new(language: Language, fields: &[Selector]) -> Result<Self, usize> {
        let name = |(n, field)| Name::new(field, language == Language::Html).ok_or(n);
        let names = fields.iter().enumerate().map(name).collect::<Result<_, _>>()?;
        Ok(Self { language, names, found: None, inside: Inside::START, page: Page::NONE })
    }

    /// Looks for a record in `bytes`, which begin at `offset` of the input. `ended` says that no bytes follow, or that
    /// [`Search::cut`] has cut here.
    fn next(
        &mut self,
        bytes: &[u8],
        Inside { mut state, mut since }: Inside,
        offset: u64,
        ended: bool,
    ) -> Next {
        let language = self.language;
        let is_xml = language == Language::Xml;
        let mut at = 0;
        loop {
            if state != State::Content {
                match state.leave(bytes, at, language) {
                    Ok(after) => {
                        (at, state) = after;
                        continue;
                    }
                    Err((_, state)) if ended => return Next::Rest(bytes.len(), Inside { state, since }),
                    Err((at, state)) => return Next::Rest(at, Inside { state, since }),
                }
            }
            let content = Inside { state: State::Content, since };
            let Some(len) = memchr(b'<', &bytes[at..]) else { return Next::Rest(bytes.len(), content) };
            let start = at + len;
            since = offset + start as u64;
            let record =
                |end, bad, state| Next::Record(Found { start, end, bad, then: Inside { state, since } });
            let rest = &bytes[start..];
            let unit = match Opening::of(rest, language) {
                Opening::Construct(known, new) => {
                    (at, state) = (start + known, new);
                    continue;
                }
                Opening::StartTag | Opening::EndTag => {
                    let unit = self.unit(&rest[..rest.len().min(WINDOW)], ended && rest.len() <= WINDOW);
                    if let Unit::Record(len, _) | Unit::Nothing(len, _) = unit
                        && self.page.href.is_none()
                        && !is_xml
                    {
                        self.page.href = html::base(&rest[..len]).map(Arc::from);
                    }
                    unit
                }
                Opening::Text if !is_xml => {
                    at = start + 1;
                    continue;
                }
                Opening::Open if ended && !is_xml => return Next::Rest(bytes.len(), content),
                Opening::Text => Unit::Bad(BadCause::BadXml, 1, 1),
                Opening::Open if ended && matches!(rest, b"<" | b"</") => Unit::Bad(BadCause::BadXml, 1, 1),
                Opening::Open => Unit::Open(rest.len(), State::Content),
            };
            let too_long = |len, then| record(start + len, Some((BadCause::TooLong, MAX_RECORD_LEN)), then);
            match unit {
                Unit::Nothing(len, then) => (at, state) = (start + len, then),
                Unit::Record(len, then) if len > MAX_RECORD_LEN => return too_long(len, then),
                Unit::Record(len, then) => return record(start + len, None, then),
                Unit::Bad(_, _, len) if len > MAX_RECORD_LEN => return too_long(len, State::Content),
                Unit::Bad(cause, at, len) => return record(start + len, Some((cause, at)), State::Content),
                Unit::Open(len, then) if rest.len() >= WINDOW || (ended && rest.len() > MAX_RECORD_LEN) => {
                    return too_long(len, then);
                }
                Unit::Open(..) if ended => {
                    return record(bytes.len(), Some((BadCause::CutOff, rest.len())), State::Content);
                }
                Unit::Open(..) => return Next::Rest(start, content),
            }
        }
    }

    /// Looks at the tag at the start of `bytes`. `ended` says that no bytes follow.
    fn unit(&self, bytes: &[u8], ended: bool) -> Unit {
        match self.language {
            Language::Xml => xml::unit(&self.names, bytes, ended),
            Language::Html => html::unit(&self.names, bytes, ended),
        }
    }

    /// Reads the fields of a record.
    fn fields<'a>(&self, record: &'a [u8], parts: &mut Parts<'_, 'a>) -> Result<(), Miss> {
        match self.language {
            Language::Xml => xml::read(&self.names, record, parts),
            Language::Html => {
                html::read(&self.names, record, 0, parts);
                parts.or_skip()
            }
        }
    }
}

impl RecordReader for Search {
    /// Reads the record that [`Search::seek`] found.
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let Found { start, end, bad, then } = self.found.expect("a record was found here");
        self.inside = then;
        let record = &cursor.rest()[..end - start];
        let mut parts = Parts::new(&mut cursor.more);
        let outcome = match bad {
            Some((cause, at)) => Err(Miss::Bad(cause, at)),
            None => self.fields(record, &mut parts),
        };
        Record::new(record.len(), n_lines(record), parts, outcome)
    }

    fn cut(&mut self, bytes: &[u8], offset: u64, ended: bool) -> Cut {
        let (mut at, mut inside) = (0, self.inside);
        loop {
            match self.next(&bytes[at..], inside, offset + at as u64, ended) {
                Next::Record(found) => (at, inside) = (at + found.end, found.then),
                Next::Rest(len, inside) => {
                    if at + len > 0 {
                        self.inside = inside;
                    }
                    return Cut::at(at + len);
                }
            }
        }
    }

    fn seek(&mut self, bytes: &[u8], offset: u64) -> Gap {
        match self.next(bytes, self.inside, offset, true) {
            Next::Record(found) => {
                (self.found, self.inside) = (Some(found), Inside::START);
                Gap::of(&bytes[..found.start])
            }
            Next::Rest(len, inside) => {
                self.inside = inside;
                Gap::of(&bytes[..len])
            }
        }
    }

    fn complaint(&self) -> Option<String> {
        let Inside { state, since } = self.inside;
        let is_inside = state != State::Content;
        is_inside.then(|| format!("ends inside {} that begins at offset {since}", state.name()))
    }

    fn page(&self, _wanted: u32) -> &Page {
        &self.page
    }
}

/// What a page leaves to say after its links.
pub(super) struct PageEnd {
    /// The `href` of its element `base`.
    pub(super) href: Option<Arc<[u8]>>,
    /// Why its end is not read, and where that begins in the page.
    pub(super) bad: Option<(BadCause, usize)>,
}

/// Adds the links of a page, which begins at `start` of its record.
pub(super) fn each_link<'a>(page: &'a [u8], start: usize, parts: &mut Parts<'_, 'a>) -> PageEnd {
    let mut search = Search::new(Language::Html, &[]).expect("nothing is wanted by name");
    let (mut at, mut inside, mut bad) = (0, Inside::START, None);
    loop {
        match search.next(&page[at..], inside, at as u64, true) {
            Next::Record(found) => {
                let place = at + found.start;
                match found.bad {
                    None => html::read(&[], &page[place..at + found.end], start + place, parts),
                    Some((cause, _)) => _ = bad.get_or_insert((cause, place)),
                }
                (at, inside) = (at + found.end, found.then);
            }
            Next::Rest(_, inside) => {
                if inside.state != State::Content {
                    let since = usize::try_from(inside.since).expect("a place in the page");
                    bad.get_or_insert((BadCause::CutOff, since));
                }
                return PageEnd { href: search.page.href, bad };
            }
        }
    }
}

/// The names of root elements by which XML is recognised without its declaration.
const ROOTS: [&[u8]; 6] = [b"urlset", b"sitemapindex", b"rss", b"feed", b"opml", b"RDF"];

/// What HTML begins with.
const HTML: [&str; 4] = ["<html", "<head", "<body", "<!doctype html"];

/// The list of bookmarks that browsers export is HTML too.
const BOOKMARKS: &str = "<!doctype netscape-bookmark-file-1";

/// Whether an input begins as a document of this language.
pub(super) fn begins(head: &[u8], language: Language) -> Begins {
    match detect(head).filter(|(found, _)| *found == language) {
        None => Begins::No,
        Some((_, false)) => Begins::Likely,
        Some((_, true)) => Begins::Yes,
    }
}

/// The language of a document that begins with `head`, and whether more bytes cannot change it. `None` if it is no markup.
fn detect(head: &[u8]) -> Option<(Language, bool)> {
    let mut rest = head.trim_ascii_start();
    let is_declared = rest.starts_with(b"<?xml") && rest.get(5).is_some_and(|&byte| is_white(byte));
    let open = is_declared.then_some((Language::Xml, false));
    loop {
        let len = match Opening::of(rest, Language::Xml) {
            _ if !rest.starts_with(b"<") => return open,
            Opening::Construct(known, state @ (State::Instruction | State::Comment)) => {
                state.leave(rest, known, Language::Xml).map(|(end, _)| end)
            }
            _ => break,
        };
        let Ok(len) = len else { return open };
        rest = rest[len..].trim_ascii_start();
    }
    let begins = |text: &str| {
        let is_same = rest.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text.as_bytes()));
        is_same && rest.get(text.len()).is_none_or(|&next| is_white(next) || next == b'>')
    };
    if HTML.iter().any(|text| begins(text)) || begins(BOOKMARKS) {
        return Some((Language::Html, true));
    }
    let name = tag::name(rest);
    let root = memchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
    (is_declared || ROOTS.contains(&root)).then_some((Language::Xml, true))
}
