//! Reads WARC (ISO 28500, versions 1.0 and 1.1), WET and WAT. WET records have the headers of WARC, and WAT bodies are JSON.
//!
//! A record is a head of lines, an empty line, and a body of as many bytes as `Content-Length` says. CRs and LFs between records
//! belong to no record. Only the head of a WARC record is read. Its body is skipped, however long it is, unless links are wanted. If no record begins
//! where one should, reading resumes at the next line that begins with `WARC/`. The end of a page that is not read is a record of its own.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use memchr::{memchr, memmem};

use super::page::Page;
use super::record::Begins;
use super::separators::Set;
use super::{
    BadCause, Cursor, Cut, Gap, MAX_RECORD_LEN, Miss, Part, Parts, Record, RecordReader, Role, Selector,
    Skip, http, json, n_lines,
};
use urlsift_engine::lines::trim_terminator;

/// The wanted headers, the links of pages if they are wanted, both with their indices in the list of wanted fields, and what the last
/// record leaves to say.
#[derive(Clone, Debug)]
pub(super) struct Archive {
    next: Next,
    names: Vec<(u32, Vec<u8>)>,
    links: Option<u32>,
    /// Whether the bodies are those of WAT.
    is_wat: bool,
    /// The page of the last record.
    page: Page,
    unread: Option<Unread>,
}

/// What the next bytes of an input are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Record,
    /// The rest of a body, of this length in bytes.
    Body(u64),
    /// No record. The next one begins at a line that begins like one.
    Garbage,
}

impl Next {
    /// Skips bytes that belong to no record. Returns their number.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        match *self {
            Self::Record => 0,
            Self::Body(n) => {
                let len = usize::try_from(n).map_or(bytes.len(), |n| n.min(bytes.len()));
                let left = n - len as u64;
                *self = if left == 0 { Self::Record } else { Self::Body(left) };
                len
            }
            Self::Garbage => match to_next_record(bytes) {
                Some(len) => {
                    *self = Self::Record;
                    len
                }
                None => bytes.len(),
            },
        }
    }

    /// Skips bytes that belong to no record, and then what separates records if there may be such.
    fn seek(&mut self, bytes: &[u8], may_be_padded: bool) -> Gap {
        let mut len = self.skip(bytes);
        if *self == Self::Record && may_be_padded {
            len += padding(&bytes[len..]);
        }
        Gap::of(&bytes[..len])
    }

    /// The whole records in `bytes`. With `with_bodies`, a record is whole only with its body.
    ///
    /// The bytes that show that no record begins at a place may reach past the start of the next record. Then no chunk ends between
    /// this place and the last of these bytes.
    fn cut(&mut self, bytes: &[u8], with_bodies: bool, ended: bool) -> Cut {
        let (mut at, mut next, mut seen) = (0, *self, 0);
        let mut last = (at, next);
        loop {
            let rest = &bytes[at..];
            at += next.skip(rest);
            match next {
                Self::Record => at += padding(&bytes[at..]),
                // The next record may begin there.
                Self::Garbage if !ended => at -= rest.len().min(KEPT),
                Self::Garbage | Self::Body(_) => {}
            }
            if at >= seen {
                last = (at, next);
            }
            let rest = &bytes[at..];
            if rest.is_empty() || next != Self::Record {
                break;
            }
            match head(rest, |_, _, _| {}) {
                Head::Open if ended => {
                    last = (bytes.len(), Self::Record);
                    break;
                }
                Head::Open => break,
                Head::Bad(_, _, shows) => (seen, next) = (seen.max(at + shows), Self::Garbage),
                Head::Whole(len, length) => {
                    // Of a body that is too long, the head says whether it is a page.
                    let wanted = readable(length).unwrap_or(http::HEAD_LEN);
                    if with_bodies && !ended && rest.len() - len < wanted {
                        break;
                    }
                    (at, next) = (at + len, Self::Body(length));
                }
            }
        }
        let (len, next) = last;
        if len > 0 {
            *self = next;
        }
        Cut::at(len)
    }

    /// The record at the start of `bytes`, which has no head. Reading resumes at the next one.
    fn bad<'a>(&mut self, bytes: &[u8], cause: BadCause, at: usize) -> Record<'a> {
        // Search after the first byte, so that this place is not found again.
        let next = to_next_record(bytes);
        *self = if next.is_some() { Self::Record } else { Self::Garbage };
        Record::without_field(&bytes[..next.unwrap_or(bytes.len())], Miss::Bad(cause, at))
    }

    fn complaint(self) -> Option<String> {
        match self {
            Self::Body(missing) => {
                Some(format!("ends inside a record, of which {missing} bytes are missing"))
            }
            Self::Record | Self::Garbage => None,
        }
    }
}

/// A part of a page that is not read, and why. It is the next record.
#[derive(Clone, Copy, Debug)]
struct Unread {
    miss: Miss,
    len: usize,
    /// Whether it follows the headers. Otherwise what precedes it is skipped.
    begins: bool,
}

impl Unread {
    /// A part of a page that is refused. What is cut off ends where its bytes end.
    fn refused(cause: BadCause, len: usize, begins: bool) -> Self {
        Self { miss: Miss::Bad(cause, if cause == BadCause::CutOff { len } else { 0 }), len, begins }
    }
}

/// The field that stands for the links of pages.
const BODY_LINKS: &[u8] = b"body-links";

impl Archive {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        if fields.is_empty() {
            return Ok(Self::of(vec![(0, b"WARC-Target-URI".to_vec())], None));
        }
        let name = |(n, field): (u32, &Selector)| match field {
            Selector::Name(name) => Ok((n, name.clone().into_bytes())),
            Selector::Number(_) | Selector::Pointer(_) => Err(n as usize),
        };
        let mut names = (0..).zip(fields).map(name).collect::<Result<Vec<_>, _>>()?;
        let links = names.iter().find(|(_, name)| name == BODY_LINKS).map(|(n, _)| *n);
        names.retain(|(_, name)| name != BODY_LINKS);
        Ok(Self::of(names, links))
    }

    fn of(names: Vec<(u32, Vec<u8>)>, links: Option<u32>) -> Self {
        Self { next: Next::Record, names, links, is_wat: false, page: Page::NONE, unread: None }
    }

    /// Reads the links that records of WAT list.
    pub(super) fn of_wat() -> Self {
        Self { is_wat: true, ..Self::of(Vec::new(), None) }
    }

    /// Reads a record of WARC: its headers, and the links of a page.
    fn read_warc<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let bytes = cursor.rest();
        if let Some(Unread { miss, len, .. }) = self.unread.take() {
            return Record::without_field(&bytes[..len], miss);
        }
        let mut parts = Parts::new(&mut cursor.more);
        let (mut is_response, mut is_known_other) = (false, false);
        let mut url = None;
        let each = |name: &'a [u8], value: Cow<'a, [u8]>, at: usize| {
            is_response |= name.eq_ignore_ascii_case(b"WARC-Type") && *value == *b"response";
            is_known_other |=
                name.eq_ignore_ascii_case(b"WARC-Identified-Payload-Type") && !http::is_page_type(&value);
            if self.links.is_some() && name.eq_ignore_ascii_case(b"WARC-Target-URI") {
                url = Some(Arc::from(&*without_brackets(value.clone()).0));
            }
            let wanted = self.names.iter().find(|(_, wanted)| wanted.eq_ignore_ascii_case(name));
            if let Some(&(wanted, _)) = wanted.filter(|_| !value.is_empty()) {
                let (bytes, inside) = without_brackets(value);
                parts.push(Part { role: Role::Url, wanted, bytes, at: at + inside });
            }
        };
        let found = head(bytes, each);
        self.page = Page { url, href: None };
        match (found, self.links) {
            (Head::Whole(len, length), Some(wanted)) if is_response => {
                let body = &bytes[len..];
                // The first bytes show whether it is a page.
                let first = &body[..body.len().min(http::HEAD_LEN)];
                let miss = match readable(length).map(|body_len| body.get(..body_len)) {
                    None if is_known_other || !http::may_be_page(first) => Miss::Skipped(Skip::NoField),
                    None => self.leave_body(BadCause::TooLong, first, len, parts.len()),
                    Some(None) => self.leave_body(BadCause::CutOff, body, len, parts.len()),
                    Some(Some(body)) => self.read_body(body, len, wanted, &mut parts),
                };
                let outcome = match miss {
                    Miss::Bad(..) => Err(miss),
                    Miss::Skipped(_) => parts.or_skip().map_err(|_| miss),
                };
                // What is not read is the next record.
                let unread = self.unread.map_or(0, |unread| unread.len as u64);
                self.next = Next::Body(length - unread);
                Record::new(len, n_lines(&bytes[..len]), parts, outcome)
            }
            (Head::Whole(len, length), _) => {
                self.next = Next::Body(length);
                let outcome = parts.or_skip();
                Record::new(len, n_lines(&bytes[..len]), parts, outcome)
            }
            (Head::Open, _) => self.next.bad(bytes, BadCause::CutOff, bytes.len()),
            (Head::Bad(cause, at, _), _) => self.next.bad(bytes, cause, at),
        }
    }

    /// Leaves a page, whose first bytes are `body` and begin at `start` of its record. If the headers have fields, the page is the next record.
    /// Returns why there are no fields if there are none.
    fn leave_body(&mut self, cause: BadCause, body: &[u8], start: usize, n_fields: usize) -> Miss {
        let unread = Unread::refused(cause, body.len(), true);
        match unread.miss {
            Miss::Bad(cause, at) if n_fields == 0 => Miss::Bad(cause, start + at),
            _ => {
                self.unread = (!body.is_empty()).then_some(unread);
                Miss::Skipped(Skip::NoField)
            }
        }
    }

    /// Reads the links of a response, which begins at `start` of its record, and notes what is not read of it. Returns why there are no
    /// links if there are none.
    fn read_body<'a>(
        &mut self,
        body: &'a [u8],
        start: usize,
        wanted: u32,
        parts: &mut Parts<'_, 'a>,
    ) -> Miss {
        let n = parts.len();
        let http::Links { miss, unread } = http::links(body, start, &mut self.page, parts);
        parts.select_from(n, wanted);
        self.unread = unread.map(|(cause, from)| Unread::refused(cause, body.len() - from, false));
        let is_nothing = Miss::Skipped(Skip::NoField);
        if n == 0 || miss == is_nothing {
            return miss;
        }
        // The headers are read, so the page counts apart.
        let miss = if let Miss::Bad(cause, _) = miss { Miss::Bad(cause, 0) } else { miss };
        self.unread = Some(Unread { miss, len: body.len(), begins: false });
        is_nothing
    }

    /// Reads a record of WAT: the links in its body.
    fn read_wat<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let (bytes, at) = (cursor.rest(), cursor.at);
        let mut is_json = false;
        let found = head(bytes, |name, value, _| {
            is_json |= name.eq_ignore_ascii_case(b"Content-Type")
                && value.get(..16).is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/json"));
        });
        let (head_len, length) = match found {
            Head::Whole(len, length) => (len, length),
            Head::Open => return self.next.bad(bytes, BadCause::CutOff, bytes.len()),
            Head::Bad(cause, at, _) => return self.next.bad(bytes, cause, at),
        };
        let miss = match readable(length).map(|body_len| bytes.get(..head_len + body_len)) {
            _ if !is_json => Miss::Skipped(Skip::NoField),
            None => Miss::Bad(BadCause::TooLong, head_len),
            Some(None) => Miss::Bad(BadCause::CutOff, bytes.len()),
            Some(Some(record)) => {
                let (marks, mut parts) = (&mut cursor.marks, Parts::new(&mut cursor.more));
                let outcome = json::read_each_url(marks, at..at + record.len(), head_len, &LINKS, &mut parts);
                return Record::new(record.len(), n_lines(record), parts, outcome);
            }
        };
        self.next = Next::Body(length);
        Record::without_field(&bytes[..head_len], miss)
    }
}

impl RecordReader for Archive {
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        if self.is_wat { self.read_wat(cursor) } else { self.read_warc(cursor) }
    }

    fn separators(&self) -> Set {
        json::SEPARATORS
    }

    fn cut(&mut self, bytes: &[u8], _offset: u64, ended: bool) -> Cut {
        self.next.cut(bytes, self.is_wat || self.links.is_some(), ended)
    }

    fn seek(&mut self, bytes: &[u8], _offset: u64) -> Gap {
        if self.unread.is_some_and(|unread| unread.begins) {
            return Gap::of(b"");
        }
        // The end of a page may begin with any byte.
        self.next.seek(bytes, self.unread.is_none())
    }

    fn complaint(&self) -> Option<String> {
        self.next.complaint()
    }

    /// Headers are from no page.
    fn page(&self, wanted: u32) -> &Page {
        if self.links == Some(wanted) { &self.page } else { &Page::NONE }
    }
}

/// The longest head that is read, in bytes.
const MAX_HEAD_LEN: usize = 1 << 20;

/// The result of reading the head of a record.
enum Head {
    /// The length of the head in bytes, and the length of the body.
    Whole(usize, u64),
    /// The bytes end inside the head.
    Open,
    /// No head: the cause, the offset of the defect, and how many bytes are needed to see it.
    Bad(BadCause, usize, usize),
}

/// A header: its name, its value, and the offset of the value.
type Header<'a> = (&'a [u8], Cow<'a, [u8]>, usize);

/// Reads the head at the start of `bytes`, and passes each header to `each`.
fn head<'a>(bytes: &'a [u8], mut each: impl FnMut(&'a [u8], Cow<'a, [u8]>, usize)) -> Head {
    let mut at = 0;
    let mut length = None;
    let mut last: Option<Header<'_>> = None;
    loop {
        let Some(lf) = memchr(b'\n', &bytes[at..bytes.len().min(MAX_HEAD_LEN)]) else {
            return match bytes.len() {
                MAX_HEAD_LEN.. => Head::Bad(BadCause::TooLong, MAX_HEAD_LEN, MAX_HEAD_LEN),
                _ if at == 0 && !b"WARC/".starts_with(&bytes[..bytes.len().min(5)]) => {
                    Head::Bad(BadCause::NotARecord, 0, bytes.len().min(5))
                }
                _ => Head::Open,
            };
        };
        let line = trim_terminator(&bytes[at..=at + lf]).0;
        if at == 0 {
            if !is_version(line) {
                return Head::Bad(BadCause::NotARecord, 0, lf + 1);
            }
        } else if let Some((b' ' | b'\t', more)) = line.split_first().map(|(&first, more)| (first, more)) {
            // A line that begins with a blank continues the value (ISO 28500, section 4).
            if let Some((_, value, _)) = &mut last {
                let value = value.to_mut();
                value.push(b' ');
                value.extend_from_slice(more.trim_ascii());
            }
        } else {
            if let Some((name, value, start)) = last.take() {
                if name.eq_ignore_ascii_case(b"Content-Length") {
                    length = std::str::from_utf8(&value).ok().and_then(|value| value.parse().ok());
                }
                each(name, value, start);
            }
            if line.is_empty() {
                let len = at + lf + 1;
                return length
                    .map_or(Head::Bad(BadCause::NoLength, len, len), |length| Head::Whole(len, length));
            }
            let Some(colon) = memchr(b':', line) else {
                return Head::Bad(BadCause::NotARecord, at, at + lf + 1);
            };
            let value = line[colon + 1..].trim_ascii_end();
            let blanks = value.len() - value.trim_ascii_start().len();
            let start = at + colon + 1 + blanks;
            last = Some((line[..colon].trim_ascii_end(), Cow::Borrowed(&value[blanks..]), start));
        }
        at += lf + 1;
    }
}

/// Whether a line is a version, for example `WARC/1.0`.
fn is_version(line: &[u8]) -> bool {
    let number = line.strip_prefix(b"WARC/");
    number.is_some_and(|number| {
        !number.is_empty() && number.iter().all(|&byte| byte.is_ascii_digit() || byte == b'.')
    })
}

/// How many bytes precede the next line that begins like a record. A record at the first byte does not count.
fn to_next_record(bytes: &[u8]) -> Option<usize> {
    static NEXT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\nWARC/"));
    NEXT.find(bytes).map(|lf| lf + 1)
}

/// How many bytes at the end of a text may be the start of what [`to_next_record`] searches for.
const KEPT: usize = 5;

/// The number of CRs and LFs at the start of `bytes`.
fn padding(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len())
}

/// The length of a body, unless it is too long to be read.
fn readable(length: u64) -> Option<usize> {
    usize::try_from(length).ok().filter(|&len| len <= MAX_RECORD_LEN)
}

/// A URI without the brackets that the grammar of WARC 1.0 puts around it, and how many bytes were removed before it.
fn without_brackets(value: Cow<'_, [u8]>) -> (Cow<'_, [u8]>, usize) {
    let has_brackets = value.len() >= 2 && value[0] == b'<' && value.ends_with(b">");
    match value {
        Cow::Borrowed(text) if has_brackets => (Cow::Borrowed(&text[1..text.len() - 1]), 1),
        Cow::Owned(text) if has_brackets => (Cow::Owned(text[1..text.len() - 1].to_vec()), 1),
        value => (value, 0),
    }
}

static LINKS: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"Links\""));

/// Whether an input begins with the version of a WARC record, as in `WARC/1.0`, and has bodies of WAT so far or not.
pub(super) fn begins(head: &[u8], with_links: bool) -> Begins {
    let begins = matches!(head, [b'W', b'A', b'R', b'C', b'/', b'0'..=b'9', b'.', ..]);
    // Only the bodies show whether it is WAT.
    if begins && is_wat(head) == with_links { Begins::Likely } else { Begins::No }
}

/// Whether `head`, which begins like a WARC file, has bodies of WAT.
fn is_wat(head: &[u8]) -> bool {
    memmem::find(head, b"\nContent-Type: application/json").is_some()
        && memmem::find(head, b"\"WARC-Header-Metadata\"").is_some()
}
