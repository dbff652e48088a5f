//! The canonical form of a line: RFC 3986, sections 6.2.2 and 6.2.3 (KEYS K1 to K9).

use memchr::{memchr, memchr_iter, memchr2_iter};

use crate::automaton::State;
use crate::hex::hex_byte;
use crate::plain_host::Kept;
use crate::resolve::finish_path;
use crate::uri_parts::{Host, host, scheme_end, split};
use crate::{Grammar, at_once};

/// The canonical form of `line`; `None` if RFC 3986 refuses `line`.
///
/// RFC 3986 accepts the canonical form, which is its own canonical form. A line that is canonical is mostly returned as it is. Other
/// forms are written to `out`, whose contents are replaced. The cost is linear in the length of the line: a table look-up per byte to
/// judge the line. A plain line ([`kept`]) then costs a look at each byte of its host, and at each pair of bytes in the rest.
///
/// ```
/// use urlsift_grammar::keys::canonical::canonical;
///
/// let mut out = Vec::new();
/// assert_eq!(canonical(b"HTTP://Example.org:80/a/../%7eb%2f", &mut out), Some(&b"http://example.org/~b%2F"[..]));
/// assert_eq!(canonical(b"http://example.org/a b", &mut out), None);
/// ```
#[must_use]
pub fn canonical<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    State::START.run(line).verdict().accepts(Grammar::Rfc3986).then(|| canonical_of_accepted(line, out))
}

/// Does the same as [`canonical`] for a line that RFC 3986 accepts. For other lines, the result has no meaning.
#[must_use]
pub(super) fn canonical_of_accepted<'a>(line: &'a [u8], out: &'a mut Vec<u8>) -> &'a [u8] {
    if kept(line) == Some(Kept { slash: None }) {
        return line;
    }
    out.clear();
    push_canonical(line, out);
    out
}

/// The canonical form of a line that RFC 3986 accepts, if only an empty path may change. This is known of URLs of a scheme with a default
/// port, with a lower-case host. They have no userinfo, no empty or default port, and no dot-segments. Their escapes are canonical, and follow the host. It is also
/// known of lines that have neither a scheme, an authority nor an escape.
#[must_use]
pub fn kept(line: &[u8]) -> Option<Kept> {
    let Some(Host { name, port, end }) = host(line) else {
        let is_kept = scheme_end(line).is_none() && memchr(b'%', line).is_none();
        return is_kept.then_some(Kept { slash: None });
    };
    let default_port = default_port(line[..name.start].strip_suffix(b"//")?)?;
    let is_plain = port.is_none_or(|port| keeps_port(&line[port], Some(default_port)))
        && at_once::all(&line[name], |byte| matches!(byte, b'a'..=b'z' | b'-'..=b'9' | b'_'));
    let is_rare = |byte, next| byte == b'/' && next == b'.' || next == b'%';
    let rest = &line[end..];
    let is_kept = is_plain && (!at_once::any_pair(rest, is_rare) || keeps_escapes_and_segments(rest));
    is_kept.then(|| Kept::with_path(line, end))
}

/// The same of a line whose plain host ([`PlainHost`](crate::plain_host::PlainHost)) has this end. It may be known that no segment begins with a dot
/// or an escape, and then that there is no escape.
#[doc(hidden)]
#[must_use]
#[inline]
pub fn kept_behind_host(
    line: &[u8],
    end: usize,
    has_plain_segments: bool,
    may_have_escape: bool,
) -> Option<Kept> {
    let rest = &line[end..];
    let is_kept = if has_plain_segments {
        !may_have_escape || memchr_iter(b'%', rest).all(|at| is_canonical_escape(&rest[at..]))
    } else {
        keeps_escapes_and_segments(rest)
    };
    is_kept.then(|| Kept::with_path(line, end))
}

/// Whether all escapes of what follows an authority are canonical, and no segment can be a dot-segment. `rest` is empty or
/// begins with a delimiter.
fn keeps_escapes_and_segments(rest: &[u8]) -> bool {
    memchr2_iter(b'%', b'.', rest).all(|at| match rest[at..] {
        [b'%', ..] => is_canonical_escape(&rest[at..]),
        // A dot that begins a segment may make a dot-segment.
        [_] | [_, b'.' | b'/' | b'?' | b'#', ..] => rest[at - 1] != b'/',
        _ => true,
    })
}

/// Whether the escape at the start of a text is in upper case, and not of an unreserved byte.
fn is_canonical_escape(text: &[u8]) -> bool {
    match *text {
        [_, high, low, ..] => {
            !(high.is_ascii_lowercase() || low.is_ascii_lowercase())
                && hex_byte(&[high, low]).is_some_and(|byte| !is_unreserved(byte))
        }
        _ => false,
    }
}

/// The default port of a scheme in lower case, with its ":".
fn default_port(scheme: &[u8]) -> Option<&'static [u8]> {
    match scheme {
        b"http:" | b"ws:" => Some(b"80"),
        b"https:" | b"wss:" => Some(b"443"),
        b"ftp:" => Some(b"21"),
        _ => None,
    }
}

/// Whether a port is neither empty nor the default.
fn keeps_port(port: &[u8], default: Option<&[u8]>) -> bool {
    let zeros = port.iter().take_while(|&&byte| byte == b'0').count();
    !port.is_empty() && default != Some(&port[zeros..])
}

/// Appends the canonical form of a line that RFC 3986 accepts.
pub fn push_canonical(line: &[u8], out: &mut Vec<u8>) {
    let begin = out.len();
    out.reserve(line.len() + 2);
    let parts = split(line);
    if let Some(scheme) = &parts.scheme {
        out.extend(line[scheme.clone()].iter().map(u8::to_ascii_lowercase));
        out.push(b':');
    }
    let default_port = default_port(&out[begin..]);
    if parts.authority.is_some() {
        out.extend(b"//");
        if let Some(userinfo) = parts.userinfo {
            push_component(out, &line[userinfo], |byte| byte);
            out.push(b'@');
        }
        push_component(out, &line[parts.host.unwrap_or_default()], |byte| byte.to_ascii_lowercase());
        let port = &line[parts.port.unwrap_or_default()];
        if keeps_port(port, default_port) {
            out.push(b':');
            out.extend(port);
        }
    }
    let start = out.len();
    push_component(out, &line[parts.path], |byte| byte);
    if parts.scheme.is_some() && out.get(start) == Some(&b'/') {
        finish_path(out, start, parts.authority.is_some());
    }
    if default_port.is_some() && parts.authority.is_some() && out.len() == start {
        out.push(b'/');
    }
    for (mark, component) in [(b'?', parts.query), (b'#', parts.fragment)] {
        if let Some(component) = component {
            out.push(mark);
            push_component(out, &line[component], |byte| byte);
        }
    }
}

/// Appends a component: bytes and escaped unreserved bytes through `fold`, and all other escapes in upper case.
fn push_component(out: &mut Vec<u8>, mut text: &[u8], fold: impl Fn(u8) -> u8) {
    while let Some(at) = memchr(b'%', text) {
        out.extend(text[..at].iter().map(|&byte| fold(byte)));
        let escape = &text[at..text.len().min(at + 3)];
        match hex_byte(&escape[1..]) {
            Some(byte) if is_unreserved(byte) => out.push(fold(byte)),
            _ => out.extend(escape.iter().map(u8::to_ascii_uppercase)),
        }
        text = &text[at + escape.len()..];
    }
    out.extend(text.iter().map(|&byte| fold(byte)));
}

/// The rule `unreserved` of RFC 3986, section 2.3.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}
