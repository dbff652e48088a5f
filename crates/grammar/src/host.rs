//! A host alone: its kind, its form for comparison, and its labels in reverse order.
//!
//! `tests/conformance/HOSTS.md` settles what is open, by number. This file knows no lines.

use std::net::{Ipv4Addr, Ipv6Addr};

use crate::hex::escaped_byte;
use crate::whatwg::{domain_to_ascii, is_forbidden_in_domain, is_number, percent_decode};
use crate::{at_once, named};

named! {
    /// What a host is by RFC 3986, section 3.2.2.
    HostKind {
        /// A name, which may be empty (`reg-name`).
        Name = "name",
        /// An IPv4 address in four decimal numbers (`IPv4address`).
        Ipv4 = "ipv4",
        /// An IPv6 address in brackets (`IPv6address`).
        Ipv6 = "ipv6",
        /// An address of a later version in brackets (`IPvFuture`).
        IpvFuture = "ipvfuture",
        /// No host of RFC 3986.
        Other = "other",
    }
}

/// The byte may be in a `reg-name`, without an escape.
const IN_NAME: u8 = 1;
/// The byte changes nothing when hosts are compared.
const STAYS: u8 = 2;
/// The byte becomes lower case.
const UPPER: u8 = 4;
/// The byte needs a second look.
const OTHER: u8 = 8;

static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut n: u8 = 0;
    loop {
        let in_name = n.is_ascii_alphanumeric()
            || matches!(n, b'-' | b'.' | b'_' | b'~' | b'!' | b'$' | b'&'..=b',' | b';' | b'=');
        let compared = if n.is_ascii_uppercase() {
            UPPER
        } else if !n.is_ascii() || is_forbidden_in_domain(n) {
            OTHER
        } else {
            STAYS
        };
        classes[n as usize] = if in_name { IN_NAME | compared } else { compared };
        if n == 255 {
            break;
        }
        n += 1;
    }
    classes
};

/// The classes of all bytes of `text`, as bits.
#[inline]
fn classes(text: &[u8]) -> u8 {
    text.iter().fold(0, |seen, byte| seen | CLASSES[usize::from(*byte)])
}

impl HostKind {
    /// The kind of a host, which is what is between userinfo and port. The cost is linear in its length.
    #[must_use]
    pub fn of(host: &[u8]) -> Self {
        if let Some(literal) = host.strip_prefix(b"[") {
            let Some(literal) = literal.strip_suffix(b"]") else { return Self::Other };
            return match literal {
                [b'v' | b'V', future @ ..] if is_ipvfuture(future) => Self::IpvFuture,
                _ if parses_as::<Ipv6Addr>(literal) => Self::Ipv6,
                _ => Self::Other,
            };
        }
        match host {
            [b'0'..=b'9', ..] if parses_as::<Ipv4Addr>(host) => Self::Ipv4,
            _ if is_plain(host) || is_reg_name(host) => Self::Name,
            _ => Self::Other,
        }
    }
}

/// Whether the standard library reads the text as an address. It has the notation of RFC 3986.
fn parses_as<T: std::str::FromStr>(text: &[u8]) -> bool {
    text.len() < 46 && str::from_utf8(text).is_ok_and(|text| text.parse::<T>().is_ok())
}

/// `1*HEXDIG "." 1*( unreserved / sub-delims / ":" )`
fn is_ipvfuture(text: &[u8]) -> bool {
    let Some(dot) = text.iter().position(|byte| *byte == b'.') else { return false };
    let (version, address) = (&text[..dot], &text[dot + 1..]);
    let is_part = |byte: &u8| *byte == b':' || CLASSES[usize::from(*byte)] & IN_NAME != 0;
    !version.is_empty()
        && version.iter().all(u8::is_ascii_hexdigit)
        && !address.is_empty()
        && address.iter().all(is_part)
}

/// `*( unreserved / pct-encoded / sub-delims )`
fn is_reg_name(text: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| CLASSES[usize::from(*byte)] & IN_NAME == 0) {
        if escaped_byte(&rest[at..]).is_none() {
            return false;
        }
        rest = &rest[at + 3..];
    }
    true
}

/// A host in its form for comparison (H4): lower case, escapes undone, one dot at the end dropped, labels beyond ASCII as
/// A-labels by UTS 46.
///
/// `None` if it is no name and no IP literal: UTS 46 refuses it, or it has a byte that no domain has. Most hosts are in this form and
/// returned as they are. Only escapes and bytes beyond ASCII allocate memory; capital letters need `buffer`. The cost is linear in the
/// length of the host.
///
/// ```
/// use urlsift_grammar::host::compared;
///
/// let mut buffer = Vec::new();
/// assert_eq!(compared(b"www.example.org", &mut buffer), Some(&b"www.example.org"[..]));
/// assert_eq!(compared("B%C3%BCcher.EXAMPLE.".as_bytes(), &mut buffer), Some(&b"xn--bcher-kva.example"[..]));
/// assert_eq!(compared(b"a%2fb.example", &mut buffer), None);
/// ```
#[must_use]
#[inline]
pub fn compared<'a>(host: &'a [u8], buffer: &'a mut Vec<u8>) -> Option<&'a [u8]> {
    if let Some(name) = unchanged(host) {
        return Some(name);
    }
    let seen = classes(host);
    buffer.clear();
    if seen & OTHER == 0 || matches!(HostKind::of(host), HostKind::Ipv6 | HostKind::IpvFuture) {
        buffer.extend_from_slice(host);
        buffer.make_ascii_lowercase();
    } else {
        let decoded = String::from_utf8(percent_decode(str::from_utf8(host).ok()?)).ok()?;
        buffer.extend_from_slice(to_ascii(&decoded)?.as_bytes());
    }
    Some(without_dot(buffer))
}

/// The compared form of a host that differs from it in a last dot at most. `None` for other hosts.
#[must_use]
#[inline]
pub fn unchanged(host: &[u8]) -> Option<&[u8]> {
    (is_plain(host) || classes(host) & (UPPER | OTHER) == 0).then(|| without_dot(host))
}

/// Whether a host consists of lower-case letters, digits, "-" and ".", as most do.
#[inline]
fn is_plain(host: &[u8]) -> bool {
    at_once::all(host, |byte| matches!(byte, b'a'..=b'z' | b'-'..=b'9') && byte != b'/')
}

fn without_dot(name: &[u8]) -> &[u8] {
    name.strip_suffix(b".").unwrap_or(name)
}

/// A name in lower case with A-labels; `None` if it is none.
pub(crate) fn to_ascii(name: &str) -> Option<String> {
    domain_to_ascii(name).ok()
}

/// Whether a compared host is an address, or has a number as its last label (H5). Browsers read such a host as an address, or refuse it.
#[inline]
pub(crate) fn is_address(host: &[u8]) -> bool {
    let start = host.iter().rposition(|byte| *byte == b'.').map_or(0, |dot| dot + 1);
    host.first() == Some(&b'[') || is_numeric(&host[start..])
}

pub(crate) fn is_numeric(label: &[u8]) -> bool {
    label.first().is_some_and(u8::is_ascii_digit) && str::from_utf8(label).is_ok_and(is_number)
}

/// Appends the labels of a compared host to `out` in reverse order, with dots: `org.example.www`. Returns whether the host has such a form:
/// an address has none (H6). The cost is linear in the length of the host.
///
/// ```
/// use urlsift_grammar::host::reverse;
///
/// let mut reversed = Vec::new();
/// assert!(reverse(b"www.example.org", &mut reversed));
/// assert_eq!(reversed, b"org.example.www");
/// assert!(!reverse(b"192.0.2.1", &mut reversed));
/// ```
pub fn reverse(host: &[u8], out: &mut Vec<u8>) -> bool {
    if is_address(host) {
        return false;
    }
    for label in host.rsplit(|byte| *byte == b'.') {
        out.extend_from_slice(label);
        out.push(b'.');
    }
    out.pop();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::judge;
    use crate::random::Random;
    use crate::{Grammar, uri_parts};

    #[test]
    fn a_host_is_what_rfc3986_accepts_alone() {
        const PARTS: [&str; 34] = [
            "", "a", "A", "z9", ".", "-", "_", "~", "!", ":", "::", "@", "[", "]", "%", "%41", "%4g", "%4",
            "1", "12", "255", "256", "01", "1.2.3.4", "v1.", "V", "f", "ffff", "1:2:3:4:5:6", ":1", " ",
            "\u{e9}", "*", "|",
        ];
        let mut random = Random::new(5);
        let mut seen = [0; 5];
        for n in 0..60_000 {
            let mut host: String = (0..random.below(7)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            if n % 2 == 0 {
                host = format!("[{host}]");
            }
            let line = format!("//{host}");
            let is_host = judge(line.as_bytes()).verdict().accepts(Grammar::Rfc3986)
                && uri_parts::host(line.as_bytes()).is_some_and(|found| found.name == (2..line.len()));
            let kind = HostKind::of(host.as_bytes());
            assert_eq!(kind != HostKind::Other, is_host, "{host}");
            assert_eq!(
                matches!(kind, HostKind::Ipv6 | HostKind::IpvFuture),
                is_host && host.starts_with('[')
            );
            seen[kind as usize] += 1;
        }
        assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
    }

    #[test]
    fn kinds() {
        for (host, kind) in [
            ("", HostKind::Name),
            ("a..b.", HostKind::Name),
            ("1.2.3", HostKind::Name),
            ("0.0.0.0", HostKind::Ipv4),
            ("255.255.255.255", HostKind::Ipv4),
            ("01.2.3.4", HostKind::Name),
            ("1.2.3.4.", HostKind::Name),
            ("1.2.3.256", HostKind::Name),
            ("%31.2.3.4", HostKind::Name),
            ("[::]", HostKind::Ipv6),
            ("[::ffff:1.2.3.4]", HostKind::Ipv6),
            ("[::ffff:1.2.3.04]", HostKind::Other),
            ("[fe80::1%25eth0]", HostKind::Other),
            ("[v1.a:b]", HostKind::IpvFuture),
            ("[v.a]", HostKind::Other),
            ("[v1.]", HostKind::Other),
            ("::1", HostKind::Other),
            ("a b", HostKind::Other),
            ("\u{e9}", HostKind::Other),
        ] {
            assert_eq!(HostKind::of(host.as_bytes()), kind, "{host}");
        }
    }

    #[test]
    fn compared_hosts() {
        let mut buffer = Vec::new();
        for (host, expected) in [
            ("www.example.org", Some("www.example.org")),
            ("A.b.c.", Some("a.b.c")),
            ("a.b..", Some("a.b.")),
            (".", Some("")),
            ("", Some("")),
            ("%61.b.c", Some("a.b.c")),
            ("%41%2Eb", Some("a.b")),
            ("a%2f.b", None),
            ("a%.b", None),
            ("a%41b%c3.d", None),
            ("a b.c", None),
            ("a:b", None),
            ("Fa\u{df}.de", Some("xn--fa-hia.de")),
            ("fa%C3%9f.de", Some("xn--fa-hia.de")),
            ("\u{ff21}\u{3002}b\u{3002}", Some("a.b")),
            ("a\u{ad}b.c", Some("ab.c")),
            ("\u{ad}", None),
            ("\u{2260}\u{200d}.c", None),
            ("xn--a.c", Some("xn--a.c")),
            ("XN--\u{e9}.c", None),
            ("a_b!$&'()*+,;=~.c", Some("a_b!$&'()*+,;=~.c")),
            ("[2001:DB8::A]", Some("[2001:db8::a]")),
            ("[V1.A:B]", Some("[v1.a:b]")),
            ("[::g]", None),
            ("[a", None),
            ("192.0.2.1", Some("192.0.2.1")),
        ] {
            let found = compared(host.as_bytes(), &mut buffer);
            assert_eq!(found, expected.map(str::as_bytes), "{host}");
        }
        assert_eq!(compared(b"a\xff.b", &mut buffer), None);
    }

    #[test]
    fn comparing_again_changes_nothing_and_the_fast_way_is_the_slow_one() {
        const PARTS: [&str; 18] = [
            "www.a-b.c90", "z", "a", "B", ".", "/", "-", "_", "9", "%41", "%2e", "%", "\u{e9}", "\u{3002}",
            "xn--", "[", " ", "\u{df}",
        ];
        let mut random = Random::new(9);
        let (mut buffer, mut again) = (Vec::new(), Vec::new());
        for _ in 0..20_000 {
            let host: String = (0..random.below(6)).map(|_| PARTS[random.below(PARTS.len())]).collect();
            let slow = str::from_utf8(&percent_decode(&host)).ok().and_then(to_ascii);
            let slow = slow.map(|name| name.strip_suffix('.').map_or(name.clone(), str::to_owned));
            let found = compared(host.as_bytes(), &mut buffer);
            if !host.is_empty() {
                assert_eq!(found, slow.as_ref().map(String::as_bytes), "{host}");
            }
            if let Some(found) = found.filter(|found| !found.ends_with(b".")) {
                assert_eq!(compared(found, &mut again), Some(found), "{host}");
            }
        }
    }

    #[test]
    fn reversed_hosts() {
        for (host, expected) in [
            ("www.example.org", Some("org.example.www")),
            ("localhost", Some("localhost")),
            ("", Some("")),
            ("a..b", Some("b..a")),
            ("a.", Some(".a")),
            ("1.2.3.4", None),
            ("127.1", None),
            ("[::1]", None),
            ("1.a", Some("a.1")),
        ] {
            let mut out = b"before ".to_vec();
            let has_form = reverse(host.as_bytes(), &mut out);
            assert_eq!(has_form.then_some(&out[7..]), expected.map(str::as_bytes), "{host}");
        }
        let (mut out, long) = (Vec::new(), "ab.".repeat(10_000));
        assert!(
            reverse(long.as_bytes(), &mut out) && out == [b".", &long.as_bytes()[..long.len() - 1]].concat()
        );
    }

    #[test]
    fn hostile_hosts() {
        let mut buffer = Vec::new();
        let labels = "\u{e9}.".repeat(10_000);
        assert_eq!(
            compared(labels.as_bytes(), &mut buffer),
            Some("xn--9ca.".repeat(10_000).strip_suffix('.').unwrap().as_bytes())
        );
        // A label so long that its A-label would take quadratic time.
        assert_eq!(compared("\u{e9}".repeat(1 << 16).as_bytes(), &mut buffer), None);
        let escapes = "%41".repeat(1 << 16);
        assert_eq!(compared(escapes.as_bytes(), &mut buffer), Some("a".repeat(1 << 16).as_bytes()));
        assert_eq!(HostKind::of(format!("[{}]", "1:".repeat(1 << 16)).as_bytes()), HostKind::Other);
    }
}
