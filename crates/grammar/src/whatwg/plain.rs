//! Lines whose level is known without the parser.
//!
//! In paths, queries and fragments, RFC 3986 accepts only ASCII URL units (section 4.3), which the parser takes without an error. So if
//! RFC 3986 accepts a line, a validation error can only come from the scheme or the authority. This file knows schemes and
//! authorities without one, and leaves all others to the parser.

use std::net::Ipv4Addr;

use crate::scheme::scheme_len;
use crate::whatwg::Level;
use crate::whatwg::code_points::invalid_units;
use crate::whatwg::url::{WITH_HOST, port_number};

/// The level of a line, if it is known without the parser.
#[inline]
#[must_use]
pub fn known_level(line: &[u8], is_accepted_by_rfc3986: bool) -> Option<Level> {
    if is_accepted_by_rfc3986 { level_by_host(line) } else { is_plain_iri(line).then_some(Level::Valid) }
}

/// The level of a line that RFC 3986 accepts, if scheme and authority decide it without the parser.
///
/// It is [`Level::Relative`] or [`Level::Valid`], and what [`parse`](crate::whatwg::parse) says without a base. The host of the URL is the
/// one that RFC 3986 finds ([`hosts_differ`](crate::whatwg::hosts_differ)). The cost is linear in the length of scheme, host and port.
#[must_use]
pub fn level_by_host(line: &[u8]) -> Option<Level> {
    let Some(scheme_len) = scheme_len(line) else {
        // Section 4.4, "no scheme state".
        return Some(Level::Relative);
    };
    let (scheme, rest) = (&line[..scheme_len], &line[scheme_len + 1..]);
    let is = |name: &str| scheme.eq_ignore_ascii_case(name.as_bytes());
    let is_file = is("file");
    let needs_host = WITH_HOST.into_iter().any(|(name, _)| is(name));
    let Some(authority) = rest.strip_prefix(b"//") else {
        return (!is_file && !needs_host).then_some(Level::Valid);
    };
    let is_end = |text: &[u8]| matches!(text, [] | [b'/' | b'?' | b'#', ..]);
    let is_known = if is_end(authority) {
        !needs_host
    } else {
        let (host_len, last_label) = plain_host(authority)?;
        // Only a number or "0x" can end an IPv4 address (section 3.5, "ends-in-a-number checker"). The standard library knows the notation that
        // has no error.
        let may_be_address = authority[last_label].is_ascii_digit() && (is_file || needs_host);
        (!may_be_address
            || str::from_utf8(&authority[..host_len]).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok()))
            && match &authority[host_len..] {
                [b':', port @ ..] => !is_file && is_end(&port[port_len(port)?..]),
                rest => is_end(rest),
            }
    };
    is_known.then_some(Level::Valid)
}

/// Whether a line has bytes beyond ASCII and is surely WHATWG-valid, although RFC 3986 refuses it. The host of the URL is the one that
/// RFC 3986 finds.
///
/// The parser also takes other lines of this kind without an error. The cost is linear in the length of the line.
#[must_use]
pub fn is_plain_iri(line: &[u8]) -> bool {
    // A line that RFC 3986 refuses may begin with a digit. Then it has no scheme.
    let may_be_iri = !line.is_ascii() && line[0].is_ascii_alphabetic();
    if !may_be_iri || level_by_host(line) != Some(Level::Valid) {
        return false;
    }
    let Ok(text) = str::from_utf8(line) else { return false };
    // The first "#" is a delimiter, and any other is no URL unit.
    let (before, fragment) = text.split_once('#').unwrap_or((text, ""));
    [before, fragment].into_iter().all(|part| invalid_units(part).next().is_none())
}

/// The length of the plain host that `text` begins with, and the offset of its last label.
///
/// A *plain* host is a domain that the strict form of *domain to ASCII* (section 3.3) leaves as it is, letter case aside: labels of
/// ASCII letters, digits and "-", none of them empty or longer than 63 bytes, and with "-" neither at an end nor at the third and fourth
/// byte. It has at most 253 bytes.
pub(super) fn plain_host(text: &[u8]) -> Option<(usize, usize)> {
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
            return (end <= 253).then_some((end, start));
        }
        start = end + 1;
    }
}

/// The length of the port that `text` begins with, which may be empty (section 4.4, "port state"); `None` if it is out of range.
fn port_len(text: &[u8]) -> Option<usize> {
    let len = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    port_number(&text[..len]).map(|_| len)
}
