//! Reads WARC (ISO 28500, versions 1.0 and 1.1), WET and WAT. WET records have the headers of WARC, and WAT bodies are JSON.
//!
//! A record is a head of lines, an empty line, and a body of as many bytes as `Content-Length` says. CRs and LFs between records
//! belong to no record. Only the head of a WARC record is read. Its body is skipped, however long it is, unless links are wanted. If no record begins
//! where one should, reading resumes at the next line that begins with `WARC/`. The end of a page that is not read is a record of its own.

use std::borrow::Cow;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;
use memchr::{memchr, memchr_iter, memmem};

use super::page::Page;
use super::separators::Marks;
use super::{BadCause, MAX_RECORD_LEN, Miss, Outcome, Part, Parts, Pending, Record, Role, Selector, Skip};
use super::{http, json};
use urlsift_engine::lines::trim_terminator;

/// The wanted headers, the links of pages if they are wanted, both with their indices in the list of wanted fields, and what the last
/// record leaves to say.
#[derive(Clone, Debug)]
pub(super) struct Headers {
    names: Vec<(u32, Vec<u8>)>,
    links: Option<u32>,
    /// The page of the last record.
    page: Page,
    unread: Option<Unread>,
}

/// The end of a page that is not read, and why. It is the next record.
#[derive(Clone, Copy, Debug)]
struct Unread {
    miss: Miss,
    len: usize,
}

/// The field that stands for the links of pages.
const BODY_LINKS: &[u8] = b"body-links";

impl Headers {
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
        Self { names, links, page: Page::NONE, unread: None }
    }

    /// The page that a field of the last record is from. Headers are from none.
    pub(super) fn page(&self, wanted: u32) -> &Page {
        if self.links == Some(wanted) { &self.page } else { &Page::NONE }
    }

    /// Whether the next record is the end of a page, which may begin with any byte.
    pub(super) fn is_inside_page(&self) -> bool {
        self.unread.is_some()
    }

    /// Whether the bodies of records are read.
    pub(super) fn with_bodies(&self) -> bool {
        self.links.is_some()
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
pub(super) fn padding(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).unwrap_or(bytes.len())
}

/// How many of `bytes` belong to no record, and whether that is all of them. The reader has already reported this.
pub(super) fn garbage(bytes: &[u8]) -> (usize, bool) {
    match to_next_record(bytes) {
        Some(len) => (len, false),
        None => (bytes.len(), true),
    }
}

/// Returns how many of `bytes` are whole records, and how to treat the bytes after them. With `with_bodies`, a record is whole
/// only with its body.
///
/// The bytes that show that no record begins at a place may reach past the start of the next record. Then no chunk ends between
/// this place and the last of these bytes.
pub(super) fn cut(bytes: &[u8], pending: Pending, with_bodies: bool, ended: bool) -> (usize, Pending) {
    let mut last = (0, pending);
    let (mut at, mut pending, mut seen) = (0, pending, 0);
    loop {
        let rest = &bytes[at..];
        match pending {
            Pending::Skip(n) => {
                let some = usize::try_from(n).map_or(rest.len(), |n| n.min(rest.len()));
                at += some;
                pending = if n > some as u64 { Pending::Skip(n - some as u64) } else { Pending::Nothing };
            }
            Pending::Resync => match to_next_record(rest) {
                Some(len) => (at, pending) = (at + len, Pending::Nothing),
                None if ended => at = bytes.len(),
                None => at += rest.len().saturating_sub(KEPT),
            },
            Pending::Nothing | Pending::Line | Pending::Word | Pending::Markup(_) => {}
        }
        if pending == Pending::Nothing {
            at += padding(&bytes[at..]);
        }
        if at >= seen {
            last = (at, pending);
        }
        let rest = &bytes[at..];
        if rest.is_empty() || pending != Pending::Nothing {
            return last;
        }
        match head(rest, |_, _, _| {}) {
            Head::Open if ended => return (bytes.len(), Pending::Nothing),
            Head::Open => return last,
            Head::Bad(_, _, shows) => (seen, pending) = (seen.max(at + shows), Pending::Resync),
            Head::Whole(len, length) => {
                // Of a body that is too long, the head says whether it is a page.
                let body = usize::try_from(length).ok().filter(|&body| body <= MAX_RECORD_LEN);
                if with_bodies && !ended && rest.len() - len < body.unwrap_or(http::HEAD_LEN) {
                    return last;
                }
                (at, pending) = (at + len, Pending::Skip(length));
            }
        }
    }
}

fn bad<'a>(bytes: &[u8], cause: BadCause, at: usize) -> Record<'a> {
    // Search after the first byte, so that this place is not found again.
    let next = to_next_record(bytes);
    let len = next.unwrap_or(bytes.len());
    let lines = memchr_iter(b'\n', &bytes[..len]).count() as u64;
    let then = if next.is_some() { Pending::Nothing } else { Pending::Resync };
    Record { len, lines, first: None, miss: Some(Miss::Bad(cause, at)), then }
}

/// Reads the record at the start of `bytes`.
pub(super) fn read<'a>(bytes: &'a [u8], headers: &mut Headers, more: &mut Vec<Part<'a>>) -> Record<'a> {
    if let Some(Unread { miss, len }) = headers.unread.take() {
        let lines = memchr_iter(b'\n', &bytes[..len]).count() as u64;
        return Record { len, lines, first: None, miss: Some(miss), then: Pending::Nothing };
    }
    let mut parts = Parts::new(more);
    let (mut is_response, mut is_known_other) = (false, false);
    let mut url = None;
    let each = |name: &'a [u8], value: Cow<'a, [u8]>, at: usize| {
        is_response |= name.eq_ignore_ascii_case(b"WARC-Type") && *value == *b"response";
        is_known_other |=
            name.eq_ignore_ascii_case(b"WARC-Identified-Payload-Type") && !http::is_page_type(&value);
        if headers.links.is_some() && name.eq_ignore_ascii_case(b"WARC-Target-URI") {
            url = Some(Arc::from(&*without_brackets(value.clone()).0));
        }
        let wanted = headers.names.iter().find(|(_, wanted)| wanted.eq_ignore_ascii_case(name));
        if let Some(&(wanted, _)) = wanted.filter(|_| !value.is_empty()) {
            let (bytes, inside) = without_brackets(value);
            parts.push(Part { role: Role::Url, wanted, bytes, at: at + inside });
        }
    };
    let found = head(bytes, each);
    headers.page = Page { url, href: None };
    match (found, headers.links) {
        (Head::Whole(len, length), Some(wanted)) if is_response => {
            let miss = match usize::try_from(length).ok().filter(|&body| body <= MAX_RECORD_LEN) {
                None if is_known_other => Miss::Skipped(Skip::NoField),
                None if !http::may_be_page(first_bytes(&bytes[len..])) => Miss::Skipped(Skip::NoField),
                None => Miss::Bad(BadCause::TooLong, len),
                Some(body) => match bytes.get(len..len + body) {
                    None => Miss::Bad(BadCause::CutOff, bytes.len()),
                    Some(body) => read_body(body, (len, wanted), headers, &mut parts),
                },
            };
            let outcome = match miss {
                Miss::Bad(..) => Err(miss),
                Miss::Skipped(_) => parts.or_skip().map_err(|_| miss),
            };
            // What is not read is the next record.
            let unread = headers.unread.map_or(0, |unread| unread.len as u64);
            stepped_over(bytes, (len, length - unread), parts, outcome)
        }
        (Head::Whole(len, length), _) => {
            let outcome = parts.or_skip();
            stepped_over(bytes, (len, length), parts, outcome)
        }
        (Head::Open, _) => bad(bytes, BadCause::CutOff, bytes.len()),
        (Head::Bad(cause, at, _), _) => bad(bytes, cause, at),
    }
}

/// Reads the links of a response, which begins at `start` of its record, and notes what is not read of it. Returns why there are no
/// links if there are none.
fn read_body<'a>(
    body: &'a [u8],
    (start, wanted): (usize, u32),
    headers: &mut Headers,
    parts: &mut Parts<'_, 'a>,
) -> Miss {
    let n = parts.len();
    let http::Links { miss, unread } = http::links(body, start, &mut headers.page, parts);
    parts.select_from(n, wanted);
    headers.unread = unread.map(|(cause, from)| {
        let len = body.len() - from;
        Unread { miss: Miss::Bad(cause, if cause == BadCause::CutOff { len } else { 0 }), len }
    });
    let is_nothing = Miss::Skipped(Skip::NoField);
    if n == 0 || miss == is_nothing {
        return miss;
    }
    // The headers are read, so the page counts apart.
    let miss = if let Miss::Bad(cause, _) = miss { Miss::Bad(cause, 0) } else { miss };
    headers.unread = Some(Unread { miss, len: body.len() });
    is_nothing
}

/// What says whether a response is a page.
fn first_bytes(response: &[u8]) -> &[u8] {
    &response[..response.len().min(http::HEAD_LEN)]
}

/// A record with a head and a body of these lengths. Its body is skipped.
fn stepped_over<'a>(
    bytes: &[u8],
    (head, body): (usize, u64),
    parts: Parts<'_, 'a>,
    outcome: Outcome,
) -> Record<'a> {
    let lines = memchr_iter(b'\n', &bytes[..head]).count() as u64;
    Record::new(head, lines, parts, outcome, Pending::Skip(body))
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

/// Reads the links in the record at byte `at` of the bytes of `marks`, which search for [`json::SEPARATORS`].
pub(super) fn read_links<'a>(marks: &mut Marks<'a>, at: usize, more: &mut Vec<Part<'a>>) -> Record<'a> {
    let bytes = &marks.bytes()[at..];
    let mut is_json = false;
    let found = head(bytes, |name, value, _| {
        is_json |= name.eq_ignore_ascii_case(b"Content-Type")
            && value.get(..16).is_some_and(|kind| kind.eq_ignore_ascii_case(b"application/json"));
    });
    let (head_len, length) = match found {
        Head::Whole(len, length) => (len, length),
        Head::Open => return bad(bytes, BadCause::CutOff, bytes.len()),
        Head::Bad(cause, at, _) => return bad(bytes, cause, at),
    };
    let stepped_over = |miss| {
        let lines = memchr_iter(b'\n', &bytes[..head_len]).count() as u64;
        Record { len: head_len, lines, first: None, miss: Some(miss), then: Pending::Skip(length) }
    };
    if !is_json {
        return stepped_over(Miss::Skipped(Skip::NoField));
    }
    let Some(body_len) = usize::try_from(length).ok().filter(|&len| len <= MAX_RECORD_LEN) else {
        return stepped_over(Miss::Bad(BadCause::TooLong, head_len));
    };
    let Some(record) = bytes.get(..head_len + body_len) else {
        return stepped_over(Miss::Bad(BadCause::CutOff, bytes.len()));
    };
    let lines = memchr_iter(b'\n', record).count() as u64;
    let mut parts = Parts::new(more);
    let outcome = json::read_each_url(marks, at..at + record.len(), head_len, &LINKS, &mut parts);
    Record::new(record.len(), lines, parts, outcome, Pending::Nothing)
}

/// Whether `head`, which begins like a WARC file, has bodies of WAT.
pub(super) fn is_wat(head: &[u8]) -> bool {
    memmem::find(head, b"\nContent-Type: application/json").is_some()
        && memmem::find(head, b"\"WARC-Header-Metadata\"").is_some()
}
