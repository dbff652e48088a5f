//! Reads responses of HTTP (RFC 9112) that a web archive holds: the links of their pages.

use std::borrow::Cow;
use std::io::Read;

use memchr::memchr;

use super::page::Page;
use super::{BadCause, MAX_RECORD_LEN, Miss, Part, Parts, Skip, markup};
use urlsift_engine::lines::{skip_byte_order_mark, trim_terminator};
use urlsift_input::{Coding, End, utf16};

/// How much of a response says whether it is a page, in bytes.
pub(super) const HEAD_LEN: usize = 64 << 10;

/// The most codings of a body that are undone. A page has one or two.
const MAX_CODINGS: usize = 4;

/// The head of a response.
struct Head<'a> {
    len: usize,
    is_page: bool,
    /// The codings of the body. They were applied in this order, and those of the transfer after those of the content.
    content: Vec<&'a [u8]>,
    transfer: Vec<&'a [u8]>,
}

/// Whether this is the media type of a page. Parameters do not matter.
pub(super) fn is_page_type(value: &[u8]) -> bool {
    let kind = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    kind.eq_ignore_ascii_case(b"text/html") || kind.eq_ignore_ascii_case(b"application/xhtml+xml")
}

/// Whether the response that begins with `start` may be a page.
pub(super) fn may_be_page(start: &[u8]) -> bool {
    head(start).is_none_or(|head| head.is_page)
}

/// Reads the head of a response. `None` if it does not end.
fn head(response: &[u8]) -> Option<Head<'_>> {
    let mut head = Head { len: 0, is_page: false, content: Vec::new(), transfer: Vec::new() };
    loop {
        let lf = memchr(b'\n', &response[head.len..])?;
        let line = trim_terminator(&response[head.len..=head.len + lf]).0;
        head.len += lf + 1;
        if line.is_empty() {
            return Some(head);
        }
        let Some(colon) = memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
        let codings = value.split(|&byte| byte == b',').map(<[u8]>::trim_ascii);
        let codings = codings.filter(|name| !name.is_empty() && !name.eq_ignore_ascii_case(b"identity"));
        if is("Content-Type") {
            head.is_page = is_page_type(value);
        } else if is("Content-Encoding") {
            head.content.extend(codings);
        } else if is("Transfer-Encoding") {
            head.transfer.extend(codings);
        }
    }
}

/// The links of a response: why there are none if there are none, and what of the page is not read.
pub(super) struct Links {
    pub(super) miss: Miss,
    /// The cause, and where in the response that begins.
    pub(super) unread: Option<(BadCause, usize)>,
}

/// Finds the links of `response`, which begins at `start` of its record, and the base of its `page`.
pub(super) fn links<'a>(
    response: &'a [u8],
    start: usize,
    page: &mut Page,
    parts: &mut Parts<'_, 'a>,
) -> Links {
    let without = |miss| Links { miss, unread: None };
    let Some(head) = head(response).filter(|head| head.is_page) else {
        return without(Miss::Skipped(Skip::NoField));
    };
    let (text, wrong) = match text(&response[head.len..], &head, start) {
        Ok(found) => found,
        Err(miss) => return without(miss),
    };
    let start = start + head.len;
    let (end, is_decoded) = match text {
        Cow::Borrowed(text) => (markup::each_link(text, start, parts), false),
        Cow::Owned(text) => {
            let mut more = Vec::new();
            let mut found = Parts::new(&mut more);
            let end = markup::each_link(&text, 0, &mut found);
            // Decoding moved the bytes, so that a link is where the body begins.
            let owned =
                |part: Part<'_>| Part { bytes: Cow::Owned(part.bytes.into_owned()), at: start, ..part };
            let first = found.first.take();
            first.into_iter().chain(more).map(owned).for_each(|part| parts.push(part));
            (end, true)
        }
    };
    page.href = end.href;
    let place = |(cause, at)| (cause, if is_decoded { head.len } else { head.len + at });
    let unread = wrong.map(|cause| (cause, 0)).or(end.bad).map(place);
    Links { miss: Miss::Skipped(Skip::NoField), unread }
}

/// The text of a page whose body is `body`, and why its end is missing. `start` is where the response begins in its record.
fn text<'a>(
    body: &'a [u8],
    head: &Head<'_>,
    start: usize,
) -> Result<(Cow<'a, [u8]>, Option<BadCause>), Miss> {
    let mut text = Cow::Borrowed(body);
    let mut wrong = None;
    if head.content.len() + head.transfer.len() > MAX_CODINGS {
        return Err(Miss::Skipped(Skip::Encoded));
    }
    for name in head.content.iter().chain(&head.transfer).rev() {
        // Archives may keep the headers of a body that they have decoded.
        let decoded = if name.eq_ignore_ascii_case(b"chunked") {
            without_chunks(&text)
        } else {
            let coding = Coding::find(name).ok_or(Miss::Skipped(Skip::Encoded))?;
            match coding.unpack(&text, MAX_RECORD_LEN) {
                (_, End::TooLong) => return Err(Miss::Bad(BadCause::TooLong, start + head.len)),
                (bytes, End::Whole) => Some((bytes, None)),
                _ if text.is_empty() || is_plain(&text) => None,
                (bytes, End::CutOff) => Some((bytes, Some(BadCause::CutOff))),
                (bytes, End::Damaged) => Some((bytes, Some(BadCause::BadEncoding))),
            }
        };
        if let Some((bytes, cause)) = decoded {
            text = Cow::Owned(bytes);
            wrong = wrong.or(cause);
        }
    }
    if utf16::has_mark(&text) {
        let mut decoded = Vec::new();
        utf16::decode(&*text).read_to_end(&mut decoded).expect("bytes in memory can be read");
        text = Cow::Owned(decoded);
    }
    Ok((text, wrong))
}

/// Whether bytes begin as a page does that is not encoded.
fn is_plain(bytes: &[u8]) -> bool {
    skip_byte_order_mark(bytes, 0).trim_ascii_start().starts_with(b"<")
}

/// Undoes the chunked coding (RFC 9112, section 7.1), and says what is wrong with it. `None` if `body` does not begin with a chunk.
fn without_chunks(body: &[u8]) -> Option<(Vec<u8>, Option<BadCause>)> {
    let mut text = Vec::with_capacity(body.len());
    let mut rest = body;
    loop {
        let is_first = rest.len() == body.len();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let ends_size = matches!(rest.get(digits), None | Some(b'\r' | b'\n' | b';' | b' ' | b'\t'));
        let size = str::from_utf8(&rest[..digits]).ok().filter(|_| ends_size);
        let size = size.and_then(|digits| usize::from_str_radix(digits, 16).ok());
        let line = memchr(b'\n', rest);
        let (size, lf) = match (size, line) {
            (Some(size), Some(lf)) => (size, lf),
            _ if is_first => return None,
            (None, _) if !rest.is_empty() => return Some((text, Some(BadCause::BadEncoding))),
            _ => return Some((text, Some(BadCause::CutOff))),
        };
        rest = &rest[lf + 1..];
        if size == 0 {
            return Some((text, None));
        }
        let chunk = rest.get(..size).unwrap_or(rest);
        text.extend_from_slice(chunk);
        rest = match &rest[chunk.len()..] {
            [b'\r', b'\n', rest @ ..] | [b'\n', rest @ ..] => rest,
            [] | [b'\r'] => return Some((text, Some(BadCause::CutOff))),
            _ if is_first => return None,
            _ => return Some((text, Some(BadCause::BadEncoding))),
        };
    }
}
