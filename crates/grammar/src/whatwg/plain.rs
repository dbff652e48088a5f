//! Decides by scheme and host what the parser makes of most lines.
//!
//! In paths, queries and fragments, RFC 3986 accepts only ASCII URL units (section 4.3), which the parser takes without an error. So if
//! RFC 3986 accepts a line, a validation error can only come from the scheme or the authority. This file knows schemes and
//! authorities without one, and leaves all others to the parser.

use std::borrow::Cow;
use std::net::Ipv4Addr;
use std::ops::Range;

use memchr::{memchr, memchr2_iter};

use crate::at_once;
use crate::plain_host::{Kept, PlainHost};
use crate::scheme::SCHEME_BYTES;
use crate::uri_parts::scheme_end;
use crate::whatwg::code_points::invalid_units;
use crate::whatwg::url::{WITH_HOST, port_number};

/// A line that is WHATWG-valid, as scheme and authority show, whatever its base is.
///
/// Its host is the one that RFC 3986 finds ([`hosts_differ`](crate::whatwg::hosts_differ)).
#[derive(Clone, Debug)]
pub struct PlainUrl {
    scheme_len: usize,
    /// Where the host of the URL is; `None` without an authority.
    host: Option<Range<usize>>,
    /// The offset of the path.
    path: usize,
    is_file: bool,
    /// The default port of a special scheme other than `file`.
    default_port: Option<u16>,
}

impl PlainUrl {
    /// `None` if the line has no scheme, or if only the parser can tell. The cost is linear in the length of scheme, host and port. If RFC
    /// 3986 refuses the line, it is linear in the length of the line.
    #[must_use]
    pub fn of(line: &[u8], is_accepted_by_rfc3986: bool) -> Option<Self> {
        let url = Self::by_host(line, scheme_end(line)?)?;
        (is_accepted_by_rfc3986 || is_iri(line)).then_some(url)
    }

    /// Whether a line that RFC 3986 accepts, with this plain host, is a plain URL whose host is as it is written. If not, [`Self::of`] may still say so.
    #[must_use]
    #[inline]
    #[doc(hidden)]
    pub fn has_plain_host(line: &[u8], host: PlainHost) -> bool {
        let PlainHost { start, end, dots, hyphens } = host;
        let marks = dots | hyphens;
        // No label is empty, begins or ends with "-", or has two in a row.
        let is_plain = (marks << 1 | 1) & (marks | 1 << (end - start)) == 0;
        let last_label = start + dots.checked_ilog2().map_or(0, |dot| dot as usize + 1);
        is_plain && !line[last_label].is_ascii_digit()
    }

    fn by_host(line: &[u8], scheme_len: usize) -> Option<Self> {
        let scheme = &line[..scheme_len];
        let is = |name: &str| scheme.eq_ignore_ascii_case(name.as_bytes());
        let is_file = is("file");
        let default_port = WITH_HOST.into_iter().find(|(name, _)| is(name)).map(|(_, port)| port);
        let needs_host = default_port.is_some();
        let url = Self { scheme_len, host: None, path: scheme_len + 1, is_file, default_port };
        let Some(authority) = line[url.path..].strip_prefix(b"//") else {
            return (!is_file && !needs_host).then_some(url);
        };
        let start = url.path + 2;
        let is_end = |text: &[u8]| matches!(text, [] | [b'/' | b'?' | b'#', ..]);
        if is_end(authority) {
            return (!needs_host).then_some(Self { host: Some(start..start), path: start, ..url });
        }
        let (len, may_be_address) = plain_host(authority)?;
        let host = &authority[..len];
        // The standard library knows the notation of an IPv4 address that has no error.
        let is_address = || str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok());
        if may_be_address && url.is_special() && !is_address() {
            return None;
        }
        let end = match &authority[len..] {
            [b':', port @ ..] if !is_file => len + 1 + port_len(port)?,
            _ => len,
        };
        // The parser makes an empty host of it.
        let is_local = is_file && host.eq_ignore_ascii_case(b"localhost");
        let host = Some(start..start + if is_local { 0 } else { len });
        is_end(&authority[end..]).then_some(Self { host, path: start + end, ..url })
    }

    fn is_special(&self) -> bool {
        self.is_file || self.default_port.is_some()
    }

    /// The host of the URL, which may be empty.
    #[must_use]
    pub fn host<'l>(&self, line: &'l [u8]) -> Option<Cow<'l, [u8]>> {
        let host = &line[self.host.clone()?];
        let is_changed = self.is_special() && host.iter().any(u8::is_ascii_uppercase);
        Some(if is_changed { host.to_ascii_lowercase().into() } else { host.into() })
    }

    /// The URL that the parser makes of the line, if only an empty path may change. The parser may also change capital letters, the port,
    /// dot-segments, and what it percent-encodes. The cost is linear in the length of the line.
    #[must_use]
    pub fn kept(&self, line: &[u8]) -> Option<Kept> {
        let (start, rest) = line.split_at(self.path);
        let in_lower_case = if self.is_special() { start } else { &line[..self.scheme_len] };
        let is_in_lower_case = at_once::all(in_lower_case, |byte| !byte.is_ascii_uppercase());
        let keeps_authority = match &start[self.host.as_ref().map_or(start.len(), |host| host.end)..] {
            [] => true,
            [b':', port @ ..] => port_number(port) != self.default_port && matches!(port, [b'1'..=b'9', ..]),
            _ => false,
        };
        if !is_in_lower_case || !keeps_authority || self.may_change(rest) {
            return None;
        }
        Some(if self.is_special() { Kept::with_path(line, self.path) } else { Kept { slash: None } })
    }

    /// Whether the parser may encode a byte behind the authority, or remove a dot-segment.
    fn may_change(&self, rest: &[u8]) -> bool {
        let is_rare =
            |byte, next| next == b'%' || next == b'\'' || next >= 0x80 || byte == b'/' && next == b'.';
        if rest.starts_with(b"/") && !at_once::any_pair(rest, is_rare) {
            return false;
        }
        // RFC 3986 accepts nothing else that the parser encodes.
        !rest.is_ascii() || self.is_special() && memchr(b'\'', rest).is_some() || may_have_dot_segments(rest)
    }
}

/// Whether a segment of a path may begin with a dot, which may be escaped.
pub(super) fn may_have_dot_segments(path: &[u8]) -> bool {
    memchr2_iter(b'.', b'%', path)
        .any(|at| (at == 0 || path[at - 1] == b'/') && matches!(path[at..], [b'.', ..] | [b'%', b'2', ..]))
}

/// Whether a line with a scheme has bytes beyond ASCII, and URL units alone behind the authority.
fn is_iri(line: &[u8]) -> bool {
    // A line that RFC 3986 refuses may begin with a digit. Then it has no scheme.
    if line.is_ascii() || !line[0].is_ascii_alphabetic() {
        return false;
    }
    let Ok(text) = str::from_utf8(line) else { return false };
    // The first "#" is a delimiter, and any other is no URL unit.
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    [before, fragment].into_iter().all(|part| invalid_units(part).next().is_none())
}

/// The length of the plain host that `text` begins with, and whether it may be an IPv4 address: only a number or "0x" can end one
/// (section 3.5, "ends-in-a-number checker").
///
/// A *plain* host is a domain that the strict form of *domain to ASCII* (section 3.3) leaves as it is, letter case aside: labels of
/// ASCII letters, digits and "-", none of them empty or longer than 63 bytes, and with "-" neither at an end nor at the third and fourth
/// byte. It has at most 253 bytes.
pub(super) fn plain_host(text: &[u8]) -> Option<(usize, bool)> {
    // Nearly all hosts are shorter than the longest label and have no two of "-" and "." in a row. This loop branches only at their end.
    let (mut end, mut last_label, mut is_after_mark, mut has_two) = (0, 0, true, false);
    for &byte in text.iter().take(64) {
        if !SCHEME_BYTES[usize::from(byte)] || byte == b'+' {
            break;
        }
        let is_mark = matches!(byte, b'-' | b'.');
        has_two |= is_mark & is_after_mark;
        is_after_mark = is_mark;
        end += 1;
        last_label = if byte == b'.' { end } else { last_label };
    }
    if !has_two && !is_after_mark && end < 64 {
        return Some((end, text[last_label].is_ascii_digit()));
    }
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
    let mut start = 0;
    loop {
        let len = text[start..].iter().take_while(|byte| is_plain(byte)).count();
        let label = &text[start..start + len];
        if !matches!(len, 1..=63)
            || label[0] == b'-'
            || label[len - 1] == b'-'
            || label.get(2..4) == Some(b"--")
        {
            return None;
        }
        let end = start + len;
        if text.get(end) != Some(&b'.') {
            return (end <= 253).then_some((end, label[0].is_ascii_digit()));
        }
        start = end + 1;
    }
}

/// The length of the port that `text` begins with, which may be empty (section 4.4, "port state"); `None` if it is out of range.
fn port_len(text: &[u8]) -> Option<usize> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    port_number(&text[..len]).map(|_| len)
}
