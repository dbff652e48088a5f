//! Reads markup: the URLs in elements and attributes of XML and HTML. A record is an element or a tag that holds a URL; the bytes
//! between records belong to no record.
//!
//! This file goes from record to record. `brackets` finds tags by masks, `construct` passes over comments and the like, `tag` walks a
//! tag, `raw` passes over scripts, and `references` undoes escapes. `xml` and `html` know which elements and attributes are URLs.
//!
//! A document is read once, from its start, and no tree is built. A cut can be anywhere outside a record, also inside a comment.

mod brackets;
mod construct;
mod html;
mod raw;
mod references;
mod tag;
mod xml;

use std::borrow::Cow;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memmem};

use super::page::Page;
use super::record::Begins;
use super::{
    BadCause, Cursor, Cut, Gap, MAX_RECORD_LEN, Miss, Part, Parts, Record, RecordReader, Role, Selector,
    n_lines,
};
use brackets::{Brackets, Mark};
use construct::Opening;
pub(super) use construct::State;
use html::Link;
use raw::Raw;
use tag::{Walked, walk};
use xml::is_blank;

/// A markup language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Language {
    #[default]
    Xml,
    Html,
}

/// Searches a document for records.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    language: Language,
    /// The fields that the user wants. Without any, they are the usual ones.
    names: Vec<Name>,
    /// The record at which the last call of [`Search::seek`] stopped.
    found: Option<Found>,
    /// The attributes with URLs of the last tag of HTML.
    links: Vec<Link>,
    /// Records of HTML among the next bytes, and how many of them were read.
    known: Known,
    n_read: usize,
    /// Records that the last cut found, for a copy that was made before.
    cut: Known,
    /// What the next bytes are inside of.
    inside: Inside,
    /// What the tags so far say about the page.
    page: Page,
    brackets: Brackets,
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

    /// Whether this attribute is wanted. `is` compares names.
    fn is_attribute(&self, element: &[u8], attribute: &[u8], is: impl Fn(&[u8], &[u8]) -> bool) -> bool {
        self.attribute.as_ref().is_some_and(|wanted| is(attribute, wanted))
            && (self.element.is_empty() || is(element, &self.element))
    }
}

/// The index of the first of `names` that is wanted. Without names, it is 0, and `is_usual` decides.
#[inline]
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
    let from = text.iter().position(|&byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    from..text.iter().rposition(|&byte| !byte.is_ascii_whitespace()).map_or(from, |last| last + 1)
}

/// A place in a document where the end of the input would be an error: the state there, and where it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Inside {
    state: State,
    /// The offset in the input.
    since: u64,
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

/// A tag with a name and nothing else, or a record that begins with one.
struct Plain {
    len: usize,
    /// The text of the record.
    text: Option<PlainText>,
    /// The state after it.
    then: State,
}

/// The text of a record that has two tags, and no attributes.
#[derive(Clone, Copy, Debug)]
struct PlainText {
    start: usize,
    end: usize,
    /// The index of the name that selects the element.
    wanted: u32,
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
    /// Its text, if that is known; or why it cannot be read, and the offset of the defect.
    text: Result<Option<PlainText>, (BadCause, usize)>,
    then: Inside,
}

/// Records, and their attributes with URLs.
#[derive(Clone, Debug, Default)]
struct Known {
    /// The offset in the input at which the search for a record began, the record, and the index of its first link.
    records: Vec<(u64, Found, usize)>,
    links: Vec<Link>,
}

/// No more records of a cut are kept once they have so many links. This bounds the memory: records without a link are longer than 8 MiB, or end
/// with the input.
const MAX_LINKS: usize = 1 << 13;

impl Search {
    /// A search in documents of this language for `fields`, or for those that are usual. The error is the index of a field that no
    /// document can have.
    pub(super) fn new(language: Language, fields: &[Selector]) -> Result<Self, usize> {
        let name = |(n, field)| Name::new(field, language == Language::Html).ok_or(n);
        let names = fields.iter().enumerate().map(name).collect::<Result<_, _>>()?;
        Ok(Self { language, names, ..Self::default() })
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
            let Some(start) = self.brackets.find(Mark::Opening, bytes, offset, at) else {
                return Next::Rest(bytes.len(), content);
            };
            since = offset + start as u64;
            let record =
                |end, text, state| Next::Record(Found { start, end, text, then: Inside { state, since } });
            if let Some(Plain { len, text, then }) = self.plain(bytes, offset, start) {
                if text.is_some() {
                    return record(start + len, Ok(text), then);
                }
                (at, state) = (start + len, then);
                continue;
            }
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
                Opening::Open if ended && matches!(rest, b"<" | b"</" | [b'<', b'!', b'[', ..]) => {
                    Unit::Bad(BadCause::BadXml, 1, 1)
                }
                Opening::Open => Unit::Open(rest.len(), State::Content),
            };
            let too_long = |len, then| record(start + len, Err((BadCause::TooLong, MAX_RECORD_LEN)), then);
            match unit {
                Unit::Nothing(len, then) => (at, state) = (start + len, then),
                Unit::Record(len, then) if len > MAX_RECORD_LEN => return too_long(len, then),
                Unit::Record(len, then) => return record(start + len, Ok(None), then),
                Unit::Bad(_, _, len) if len > MAX_RECORD_LEN => return too_long(len, State::Content),
                Unit::Bad(cause, at, len) => return record(start + len, Err((cause, at)), State::Content),
                Unit::Open(len, then) if rest.len() >= WINDOW || (ended && rest.len() > MAX_RECORD_LEN) => {
                    return too_long(len, then);
                }
                Unit::Open(..) if ended => {
                    return record(bytes.len(), Err((BadCause::CutOff, rest.len())), State::Content);
                }
                Unit::Open(..) => return Next::Rest(start, content),
            }
        }
    }

    /// Takes over the records that `cutter` found when it cut. This search is a copy of it from before.
    pub(super) fn take_known(&mut self, cutter: &mut Self) {
        (self.known, self.n_read) = (mem::take(&mut cutter.cut), 0);
    }

    /// The next record from `offset` of the input on, if it is known.
    fn next_known(&mut self, offset: u64) -> Option<Found> {
        let Known { records, links } = &self.known;
        let &(_, found, first) = records.get(self.n_read).filter(|(from, ..)| *from == offset)?;
        self.n_read += 1;
        let end = records.get(self.n_read).map_or(links.len(), |(.., first)| *first);
        self.links.clear();
        self.links.extend_from_slice(&links[first..end]);
        Some(found)
    }

    /// Looks at the tag at `start`, if it has a name and nothing else. In XML, text and its end tag may follow, or blanks and a child.
    #[inline]
    fn plain(&mut self, bytes: &[u8], offset: u64, start: usize) -> Option<Plain> {
        let from = start + if bytes.get(start + 1) == Some(&b'/') { 2 } else { 1 };
        if !bytes.get(from)?.is_ascii_alphabetic() {
            return None;
        }
        let name_end = self.brackets.find(Mark::NameEnd, bytes, offset, from)?;
        let len = name_end + 1 - start;
        if bytes[name_end] != b'>' || len > MAX_RECORD_LEN {
            return None;
        }
        let name = &bytes[from..name_end];
        let tag = |then| Some(Plain { len, text: None, then });
        if from == start + 2 {
            return tag(State::Content);
        }
        if self.language == Language::Html {
            return tag(Raw::after(name).state());
        }
        let Some(wanted) = xml::of_text(&self.names, name) else { return tag(State::Content) };
        let text_end = self.brackets.find(Mark::Opening, bytes, offset, name_end + 1)?;
        let next = &bytes[text_end + 1..];
        let record_len = text_end + name.len() + 3 - start;
        if record_len > MAX_RECORD_LEN {
            return None;
        }
        if next.first()?.is_ascii_alphabetic() {
            return if is_blank(&bytes[name_end + 1..text_end]) { tag(State::Content) } else { None };
        }
        let is_closed = next.strip_prefix(b"/")?.strip_prefix(name)?.first() == Some(&b'>');
        let text = Some(PlainText { start: len, end: text_end - start, wanted });
        is_closed.then_some(Plain { len: record_len, text, then: State::Content })
    }

    /// Looks at the tag at the start of `bytes`. `ended` says that no bytes follow.
    fn unit(&mut self, bytes: &[u8], ended: bool) -> Unit {
        match self.language {
            Language::Xml => xml::unit(&self.names, bytes, ended),
            Language::Html => html::unit(&self.names, bytes, ended, &mut self.links),
        }
    }

    /// Reads the fields of a record.
    fn fields<'a>(&self, record: &'a [u8], parts: &mut Parts<'_, 'a>) -> Result<(), Miss> {
        match self.language {
            Language::Xml => xml::read(&self.names, record, parts),
            Language::Html => {
                html::read(&self.links, record, 0, parts);
                parts.or_skip()
            }
        }
    }
}

impl RecordReader for Search {
    /// Reads the record that [`Search::seek`] found.
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let Found { start, end, text, then } = self.found.expect("a record was found here");
        self.inside = then;
        let record = &cursor.rest()[..end - start];
        let mut parts = Parts::new(&mut cursor.more);
        let outcome = match text {
            Err((cause, at)) => Err(Miss::Bad(cause, at)),
            Ok(Some(text)) => xml::read_text(text, record, &mut parts),
            Ok(None) => self.fields(record, &mut parts),
        };
        Record::new(record.len(), n_lines(record), parts, outcome)
    }

    fn cut(&mut self, bytes: &[u8], offset: u64, ended: bool) -> Cut {
        let (mut at, mut inside) = (0, self.inside);
        let is_html = self.language == Language::Html;
        if !is_html && let Some(end) = behind_end_tags(bytes, inside.state) {
            (at, inside.state) = (end, State::Content);
        }
        let had_base = self.page.href.is_some();
        (self.known, self.n_read, self.cut) = Default::default();
        loop {
            match self.next(&bytes[at..], inside, offset + at as u64, ended) {
                Next::Record(found) => {
                    if is_html && self.cut.links.len() < MAX_LINKS {
                        self.cut.records.push((offset + at as u64, found, self.cut.links.len()));
                        self.cut.links.append(&mut self.links);
                    }
                    (at, inside) = (at + found.end, found.then);
                }
                Next::Rest(len, inside) => {
                    if at + len > 0 {
                        self.inside = inside;
                    }
                    // Which links precede the base has to be found again.
                    if self.page.href.is_some() != had_base {
                        self.cut = Known::default();
                    }
                    return Cut::at(at + len);
                }
            }
        }
    }

    fn seek(&mut self, bytes: &[u8], offset: u64) -> Gap {
        let next = match self.next_known(offset) {
            Some(found) => Next::Record(found),
            None => self.next(bytes, self.inside, offset, true),
        };
        match next {
            Next::Record(found) => {
                (self.found, self.inside) = (Some(found), Inside::default());
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

/// A place after an end tag in XML, near the end of `bytes`, which begin in this state. No record extends beyond it: outside of comments
/// and the like, each "<" begins something new, and an end tag is the last thing in a record.
fn behind_end_tags(bytes: &[u8], state: State) -> Option<usize> {
    let (mut at, _) = state.leave(bytes, 0, Language::Xml).ok()?;
    let (mut found, mut constructs) = (None, [0; 2]);
    loop {
        for (place, begin) in constructs.iter_mut().zip([b"<!", b"<?"]) {
            if *place <= at {
                *place = memmem::find(&bytes[at..], begin).map_or(bytes.len(), |len| at + len);
            }
        }
        let construct = constructs[0].min(constructs[1]);
        let content = &bytes[at..construct];
        if let Some(start) = memmem::rfind(content, b"</")
            && let Opening::EndTag = Opening::of(&content[start..], Language::Xml)
            && let Walked::To(len) = walk(&content[start..], Language::Xml, |_| {})
        {
            found = Some(at + start + len);
        }
        let Opening::Construct(known, state) = Opening::of(&bytes[construct..], Language::Xml) else {
            return found;
        };
        match state.leave(bytes, construct + known, Language::Xml) {
            Ok((end, _)) => at = end,
            Err(_) => return found,
        }
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
    let (mut at, mut inside, mut bad) = (0, Inside::default(), None);
    loop {
        match search.next(&page[at..], inside, at as u64, true) {
            Next::Record(found) => {
                let place = at + found.start;
                match found.text {
                    Ok(_) => html::read(&search.links, &page[place..at + found.end], start + place, parts),
                    Err((cause, _)) => _ = bad.get_or_insert((cause, place)),
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
    detect(head).filter(|(found, _)| *found == language).map_or(Begins::No, |(_, begins)| begins)
}

/// The language of a document that begins with `head`, and how sure that is. `None` if it is no markup.
fn detect(head: &[u8]) -> Option<(Language, Begins)> {
    let mut rest = head.trim_ascii_start();
    let is_declared =
        rest.starts_with(b"<?xml") && rest.get(5).is_some_and(|&byte| byte.is_ascii_whitespace());
    let open = is_declared.then_some((Language::Xml, Begins::Likely));
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
        is_same && rest.get(text.len()).is_none_or(|&next| next.is_ascii_whitespace() || next == b'>')
    };
    if HTML.iter().any(|text| begins(text)) || begins(BOOKMARKS) {
        return Some((Language::Html, Begins::Yes));
    }
    let name = tag::name(rest);
    let root = memchr(b':', name).map_or(name, |colon| &name[colon + 1..]);
    (is_declared || ROOTS.contains(&root)).then_some((Language::Xml, Begins::Yes))
}

#[cfg(test)]
mod tests;
