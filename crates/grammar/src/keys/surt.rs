//! The key of a URL in the indices of web archives: a SURT (Sort-friendly URI Reordering Transform), as
//! `WaybackURLKeyMaker(true)` of iipc/webarchive-commons 3.0 makes it (KEYS K10 to K33).
//!
//! `push_any` follows these rules for any line. `push_plain` does the same for the lines that need few of them.

use std::net::Ipv4Addr;

use icu_properties::CodePointMapData;
use icu_properties::props::GeneralCategory;
use memchr::{memchr, memchr2, memchr2_iter, memrchr};

use crate::at_once;
use crate::hex::hex_byte;
use crate::keys::idna2003;
use crate::keys::java_escapes::{push_escaped, unescape};
use crate::keys::session_ids::{may_end_in_id, strip_from_path, strip_from_query};
use crate::labels::last_dot;
use crate::plain_host::PlainHost;
use crate::scheme::n_scheme_bytes;

/// Appends the key of `line` to `out`, such as `org,example)/a?b=1` for `http://www.example.org/A/?b=1`. Returns whether the line has a
/// key. Without one, `out` is unchanged.
///
/// Any bytes are allowed. The cost is linear in the length of the line; sorting the arguments of its query is added. For a plain line,
/// nothing is allocated but room in `out`.
///
/// ```
/// use urlsift_grammar::keys::surt::surt;
///
/// let mut key = Vec::new();
/// assert!(surt(b"http://www.example.org/A//b/?c&a=1#d", &mut key));
/// assert_eq!(key, b"org,example)/a/b?a=1&c");
/// assert!(!surt(b"http://example.org:port/", &mut key));
/// ```
#[must_use]
pub fn surt(line: &[u8], out: &mut Vec<u8>) -> bool {
    surt_by_host(line, None, out)
}

/// Where path and query of a line end, and whether one of them may have an escape.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct PathAndQuery {
    pub path: usize,
    pub query: usize,
    pub may_have_escape: bool,
}

impl PathAndQuery {
    /// Those of a line whose path begins at `path`.
    fn of(line: &[u8], path: usize) -> Self {
        if path == line.len() {
            return Self { path, query: path, may_have_escape: false };
        }
        let end = |begin: usize, len: Option<usize>| len.map_or(line.len(), |len| begin + len);
        let path = end(path, memchr2(b'?', b'#', &line[path..]));
        Self { path, query: end(path, memchr(b'#', &line[path..])), may_have_escape: true }
    }
}

/// Does what [`surt`] does, and faster if the line has a plain host and it is known where that, path and query end.
#[doc(hidden)]
#[must_use]
pub fn surt_by_host(line: &[u8], known: Option<(PlainHost, PathAndQuery)>, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let has_key = push_plain(line, known, out).or_else(|| {
        out.truncate(start);
        push_any(line, out)
    });
    if has_key.is_none() {
        out.truncate(start);
    }
    has_key.is_some()
}

/// Appends the key of any line; `None` if it has none. `out` may then have gained bytes.
pub(super) fn push_any(line: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let text = String::from_utf8_lossy(line);
    if text.is_empty() {
        out.push(b'-');
        return Some(());
    }
    if text.starts_with("filedesc") || text.starts_with("warcinfo") {
        out.extend(text.bytes());
        return Some(());
    }
    if let Some(host) = text.strip_prefix("dns:") {
        push_reversed(out, host)?;
        out.push(b')');
        return Some(());
    }
    let is_stray = |c| matches!(c, '\n' | '\r' | '\t' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let url = text.trim_matches(|c| c <= ' ').replace(is_stray, "");
    if ["dns:", "filedesc:", "warcinfo:"].iter().any(|scheme| url.starts_with(scheme)) {
        out.extend(url.split_once('(').map_or(&*text, |(_, rest)| rest).bytes());
        return Some(());
    }
    let parts = split(&url)?;
    push_host(out, parts.host)?;
    if let Some(port) = parts.port {
        out.extend(format!(":{port}").bytes());
    }
    out.push(b')');
    push_path(out, parts.path);
    push_query(out, parts.query.unwrap_or_default());
    Some(())
}

/// The parts of a URL that are in its key.
struct Parts<'a> {
    host: &'a str,
    /// `None` if it is missing, empty or the default.
    port: Option<i32>,
    path: &'a str,
    query: Option<&'a str>,
}

/// Splits a URL; `None` if it has no authority or a port that is no number. Anything that does not begin with a known scheme is taken for
/// a URL without `http://`.
fn split(url: &str) -> Option<Parts<'_>> {
    let known = |scheme: &str| {
        ["http", "https", "ftp", "mms", "rtsp", "wais"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
    };
    let (scheme, mut rest) =
        url.split_once("://").filter(|(scheme, _)| known(scheme)).unwrap_or(("http", url));
    if matches!(scheme, "http" | "https") {
        rest = rest.trim_start_matches('/');
    }
    let rest = rest.split_once('#').map_or(rest, |(rest, _)| rest);
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query)));
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let at = authority.find('@');
    // The port follows an address in brackets. With userinfo, brackets are not looked for.
    let address = authority.starts_with('[').then(|| authority.find(']')).flatten();
    let from = at.or(address).unwrap_or(0);
    let colon = authority[from..].find(':').map(|colon| from + colon);
    let host = &authority[at.map_or(0, |at| at + 1)..colon.unwrap_or(authority.len())];
    let port = match colon.map(|colon| &authority[colon + 1..]) {
        None | Some("") => None,
        Some(port) => Some(parse_int(port)?),
    };
    let default_port = match &*scheme.to_ascii_lowercase() {
        "http" => 80,
        "https" => 443,
        _ => 0,
    };
    // The number -1 means that there is no port.
    let port = port.filter(|&port| port != default_port && port != -1);
    (!authority.is_empty()).then_some(Parts { host, port, path, query })
}

/// `Integer.parseInt`: a sign and decimal digits of any script, of one UTF-16 unit each.
fn parse_int(text: &str) -> Option<i32> {
    let (is_negative, digits) = match text.as_bytes() {
        [b'-', ..] => (true, &text[1..]),
        [b'+', ..] => (false, &text[1..]),
        _ => (false, text),
    };
    let mut number: i64 = 0;
    for digit in digits.chars() {
        number = number * 10 + decimal_digit(digit)?;
        if number > 1 << 31 {
            return None;
        }
    }
    i32::try_from(if is_negative { -number } else { number }).ok().filter(|_| !digits.is_empty())
}

/// The value of a decimal digit. Each script has its ten digits in a row, and no two rows adjoin in the Basic Multilingual Plane.
fn decimal_digit(character: char) -> Option<i64> {
    let code = u16::try_from(u32::from(character)).ok()?;
    let categories = CodePointMapData::<GeneralCategory>::new();
    let is_digit = |code: u16| categories.get32(u32::from(code)) == GeneralCategory::DecimalNumber;
    is_digit(code).then(|| (1..10).take_while(|before| is_digit(code - before)).map(|_| 1).sum())
}

fn push_host(out: &mut Vec<u8>, host: &str) -> Option<()> {
    let host = unescape(host);
    let ascii = if host.is_ascii() { None } else { idna2003::to_ascii(&host) };
    let host = ascii.as_deref().unwrap_or(&host);
    let labels: Vec<&str> = host.split('.').filter(|label| !label.is_empty()).collect();
    let host = labels.join(".");
    let mut escaped = Vec::with_capacity(host.len());
    match parse_ipv4(&host) {
        Some(address) => escaped.extend(address.to_string().bytes()),
        None => push_escaped(&mut escaped, &host.to_lowercase()),
    }
    push_reversed(out, str::from_utf8(without_www(&escaped)).ok()?)
}

/// An IPv4 address: one number, whose upper bits are dropped, or four of up to 255. They are octal if the first one begins with "0".
fn parse_ipv4(host: &str) -> Option<Ipv4Addr> {
    if host.bytes().all(|byte| byte.is_ascii_digit()) {
        let number: i64 = host.parse().ok()?;
        return u32::try_from(number & 0xffff_ffff).ok().map(Ipv4Addr::from);
    }
    let radix = if host.starts_with('0') { 8 } else { 10 };
    let mut parts = host.split('.').map(|part| {
        let number = part.chars().all(|c| c.is_digit(radix)).then(|| u32::from_str_radix(part, radix))?;
        u8::try_from(number.ok()?).ok()
    });
    let address = [parts.next()??, parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then(|| address.into())
}

/// The host without all of `www.`, `www1.` and so on at its start.
fn without_www(mut host: &[u8]) -> &[u8] {
    while let [b'w' | b'W', b'w' | b'W', b'w' | b'W', rest @ ..] = host {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let Some(b'.') = rest.get(digits) else { break };
        host = &rest[digits + 1..];
    }
    host
}

/// Appends the labels in reverse order, with commas. A host without dots loses its brackets. An empty host has no key.
fn push_reversed(out: &mut Vec<u8>, host: &str) -> Option<()> {
    if host.contains('.') {
        out.extend(host.rsplit('.').collect::<Vec<_>>().join(",").bytes());
    } else {
        let address = host.strip_prefix('[').and_then(|address| address.strip_suffix(']'));
        out.extend(address.unwrap_or(host).bytes());
    }
    (!host.is_empty()).then_some(())
}

fn push_path(out: &mut Vec<u8>, path: &str) {
    let path = unescape(path);
    let mut kept = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." if kept.pop().is_some() => {}
            _ => kept.push(segment),
        }
    }
    let (last, others) = kept.split_last().unwrap_or((&"", &[]));
    let mut escaped = vec![b'/'];
    for segment in others.iter().filter(|segment| !segment.is_empty()) {
        push_escaped(&mut escaped, segment);
        escaped.push(b'/');
    }
    push_escaped(&mut escaped, last);
    strip_from_path(&mut escaped);
    out.extend(match &*escaped {
        [path @ .., b'/'] if !path.is_empty() => path,
        path => path,
    });
}

fn push_query(out: &mut Vec<u8>, query: &str) {
    let mut escaped = Vec::with_capacity(query.len());
    push_escaped(&mut escaped, &unescape(query));
    strip_from_query(&mut escaped);
    let mut arguments: Vec<_> = escaped.split(|&byte| byte == b'&').map(name_and_value).collect();
    arguments.sort_unstable();
    if escaped.is_empty() {
        return;
    }
    let marks = std::iter::once(b'?').chain(std::iter::repeat(b'&'));
    for (mark, (name, value)) in marks.zip(arguments) {
        out.push(mark);
        out.extend(name);
        if let Some(value) = value {
            out.push(b'=');
            out.extend(value);
        }
    }
}

/// An argument of a query, as it is sorted: by its name, then those without "=" first, then by its value.
fn name_and_value(argument: &[u8]) -> (&[u8], Option<&[u8]>) {
    memchr(b'=', argument).map_or((argument, None), |at| (&argument[..at], Some(&argument[at + 1..])))
}

/// The largest number of arguments that are sorted without an allocation.
const PLAIN_ARGUMENTS: usize = 32;

/// Does the same as [`push_any`] for a plain line: http, https, ftp or no scheme. Its host is no address and has letters, digits, "-", "+"
/// and single dots. Its port is a short number. Its path and query are visible ASCII without an escaped "%", empty segments, segments that
/// begin with a dot, and session ids. `None` if the line is not plain. `out` may then have gained bytes.
#[inline]
pub(super) fn push_plain(
    line: &[u8],
    known: Option<(PlainHost, PathAndQuery)>,
    out: &mut Vec<u8>,
) -> Option<()> {
    let start = out.len();
    // Labels are copied by 16 bytes.
    out.reserve(line.len() + 16);
    let (path, ends) = if let Some((PlainHost { start, end, dots, .. }, ends)) = known {
        push_plain_host(&line[start..], end - start, Some(dots), out)?;
        (end, ends)
    } else {
        let path = line.len() - push_plain_authority(line, out)?.len();
        (path, PathAndQuery::of(line, path))
    };
    if !at_once::all(&line[path..ends.query], |byte| matches!(byte, b'!'..=b'~')) {
        return None;
    }
    out.push(b')');
    push_plain_path(&line[path..], ends.path - path, ends.may_have_escape, out)?;
    let at = out.len();
    let has_query = ends.query > ends.path + 1;
    if has_query {
        push_plain_text(&line[ends.path..], ends.query - ends.path, ends.may_have_escape, out)?;
    }
    at_once::make_lower_case(&mut out[start..]);
    if has_query { sort_plain_query(out, at + 1) } else { Some(()) }
}

/// Appends the authority of a line, up to ")". Returns what follows it.
fn push_plain_authority<'l>(line: &'l [u8], out: &mut Vec<u8>) -> Option<&'l [u8]> {
    if ["filedesc", "warcinfo", "dns:"].iter().any(|other| line.starts_with(other.as_bytes())) {
        return None;
    }
    let schemes = [(&b"http://"[..], &b"80"[..]), (b"https://", b"443"), (b"ftp://", b"")];
    let mut known = schemes.iter().find_map(|&(scheme, port)| Some((line.strip_prefix(scheme)?, port)));
    let mut keeps_slashes = false;
    if known.is_none() && line.iter().take(4).any(u8::is_ascii_uppercase) {
        known = schemes.iter().find_map(|&(scheme, port)| {
            let (start, rest) = line.split_at_checked(scheme.len())?;
            start.eq_ignore_ascii_case(scheme).then_some((rest, port))
        });
        // Behind a scheme with capital letters, more slashes stay, and there is no host.
        keeps_slashes = known.is_some();
    }
    let (mut line, default_port) = known.unwrap_or((line, b"80"));
    if !keeps_slashes && !default_port.is_empty() {
        let slashes = line.iter().take_while(|byte| **byte == b'/').count();
        line = &line[slashes..];
    }
    let (host, rest) = line.split_at(n_scheme_bytes(line));
    let (port, rest) = match rest {
        [b':', behind @ ..] => behind.split_at(n_scheme_bytes(behind)),
        _ => (&b""[..], rest),
    };
    let is_plain = (port.is_empty() || matches!(port, [b'1'..=b'9', ..]) && port.len() < 9)
        && port.iter().all(u8::is_ascii_digit)
        && matches!(rest, [] | [b'/' | b'?' | b'#', ..]);
    if !is_plain {
        return None;
    }
    push_plain_host(line, host.len(), None, out)?;
    if !port.is_empty() && port != default_port {
        out.push(b':');
        out.extend_from_slice(port);
    }
    Some(rest)
}

/// Appends the labels of a host in reverse order, which has `len` bytes at the start of `line`; `None` if one is empty, or if it may be an address. If there are
/// bits, they say which of its bytes are dots.
#[inline]
fn push_plain_host(line: &[u8], len: usize, dots: Option<u64>, out: &mut Vec<u8>) -> Option<()> {
    if at_once::all(&line[..len], |byte| matches!(byte, b'0'..=b'9' | b'.')) {
        return None;
    }
    let before = len - without_www(&line[..len]).len();
    let name = &line[before..];
    let mut end = len - before;
    loop {
        let dot = match dots {
            Some(dots) => last_dot(dots >> before, end),
            None => memrchr(b'.', &name[..end]),
        };
        let start = dot.map_or(0, |dot| dot + 1);
        if start == end {
            return None;
        }
        at_once::append::<16>(out, &name[start..], end - start);
        let Some(dot) = dot else { return Some(()) };
        out.push(b',');
        end = dot;
    }
}

fn push_plain_path(rest: &[u8], len: usize, may_have_escape: bool, out: &mut Vec<u8>) -> Option<()> {
    let start = out.len();
    push_plain_text(rest, len, may_have_escape, out)?;
    let path = &out[start..];
    let is_rare = |byte, next| byte == b'/' && matches!(next, b'/' | b'.') || byte == b'(';
    if at_once::any_pair(path, is_rare) || path.last() == Some(&b'(') {
        return None;
    }
    match path {
        [] => out.push(b'/'),
        [b'/', .., b'/'] => out.truncate(out.len() - 1),
        _ => {}
    }
    Some(())
}

/// Sorts the arguments of the query at `start` of `out`, which is in lower case; `None` if there are too many, or if one may end in a session id.
fn sort_plain_query(out: &mut Vec<u8>, start: usize) -> Option<()> {
    // Where each argument begins, its name ends, and it ends.
    let (mut arguments, mut n) = ([(0, 0, 0); PLAIN_ARGUMENTS], 0);
    let (mut begin, mut name_end) = (start, None);
    let marks = memchr2_iter(b'&', b'=', &out[start..]).map(|mark| start + mark);
    for mark in marks.chain([out.len()]) {
        if out.get(mark) == Some(&b'=') {
            name_end = name_end.or(Some(mark));
            continue;
        }
        *arguments.get_mut(n).filter(|_| !may_end_in_id(&out[begin..mark]))? =
            (begin, name_end.unwrap_or(mark), mark);
        (begin, name_end, n) = (mark + 1, None, n + 1);
    }
    let arguments = &mut arguments[..n];
    // As `name_and_value`, where a missing "=" is a missing value.
    let key = |&(begin, name_end, end): &(usize, usize, usize)| (&out[begin..name_end], &out[name_end..end]);
    if !arguments.is_sorted_by(|first, second| key(first) <= key(second)) {
        arguments.sort_unstable_by(|first, second| key(first).cmp(&key(second)));
        let end = out.len();
        for &(begin, _, end) in &*arguments {
            out.extend_from_within(begin..end);
            out.push(b'&');
        }
        out.pop();
        out.drain(start..end);
    }
    Some(())
}

/// Appends what [`unescape`] and [`push_escaped`] make of the first `len` bytes of `rest`, which are visible ASCII, but in their letter case; `None` if a "%" is escaped or begins no
/// escape, since it may make another escape with what follows.
fn push_plain_text(mut rest: &[u8], mut len: usize, may_have_escape: bool, out: &mut Vec<u8>) -> Option<()> {
    while may_have_escape && let Some(at) = memchr(b'%', &rest[..len]) {
        let (run, escape) = rest[..len].split_at(at);
        out.extend_from_slice(run);
        match hex_byte(&escape[1..])? {
            b'%' => return None,
            0..=b' ' | b'#' | 0x80.. => out.extend_from_slice(&escape[..3]),
            byte => out.push(byte),
        }
        (rest, len) = (&rest[at + 3..], len - at - 3);
    }
    at_once::append::<64>(out, rest, len);
    Some(())
}
