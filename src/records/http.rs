//! Reads responses of HTTP (RFC 9112) that a web archive holds: the links of their pages.

use memchr::memchr;

use super::{Miss, Parts, Skip, markup};
use crate::lines::trim_terminator;

/// Whether this is the media type of a page. Parameters do not matter.
pub(super) fn is_page_type(value: &[u8]) -> bool {
    let kind = value.split(|&byte| byte == b';').next().unwrap_or_default().trim_ascii();
    kind.eq_ignore_ascii_case(b"text/html") || kind.eq_ignore_ascii_case(b"application/xhtml+xml")
}

/// Finds the links of `response`, which begins at `start` of its record, and says why there are none if there are none.
pub(super) fn links<'a>(response: &'a [u8], start: usize, parts: &mut Parts<'_, 'a>) -> Miss {
    let (mut is_page, mut is_encoded) = (false, false);
    let mut at = 0;
    loop {
        let Some(lf) = memchr(b'\n', &response[at..]) else { return Miss::Skipped(Skip::NoField) };
        let line = trim_terminator(&response[at..=at + lf]).0;
        at += lf + 1;
        if line.is_empty() {
            break;
        }
        let Some(colon) = memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let is = |expected: &str| name.eq_ignore_ascii_case(expected.as_bytes());
        if is("Content-Type") {
            is_page = is_page_type(value);
        }
        is_encoded |= (is("Content-Encoding") || is("Transfer-Encoding"))
            && !value.is_empty()
            && !value.eq_ignore_ascii_case(b"identity");
    }
    if is_page && is_encoded {
        return Miss::Skipped(Skip::Encoded);
    }
    if is_page {
        markup::each_link(&response[at..], start + at, parts);
    }
    Miss::Skipped(Skip::NoField)
}
