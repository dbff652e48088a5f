//! Whether RFC 3986 and the WHATWG parser find the same host in a line.
//!
//! One program checks a URL by RFC 3986, and another one connects where a browser would. If the hosts differ, the check is worth nothing.

use std::net::Ipv4Addr;

use crate::uri_parts;
use crate::whatwg::Url;
use crate::whatwg::code_points::percent_decode;
use crate::whatwg::host::{Failure, domain_to_ascii, parse_host};

/// Whether RFC 3986 finds another host in `line` than `url` has, which the parser made of the line and `base` (W4).
///
/// Letter case, escapes, the forms of an IPv6 address and the mapping of domains to ASCII make no difference, but a name that becomes an
/// IPv4 address does. A missing host and an empty one are the same. A line without a scheme and a host has the host of its base.
#[must_use]
pub fn hosts_differ(line: &[u8], base: Option<&Url>, url: &Url) -> bool {
    different_hosts(line, base, url).is_some()
}

/// The host by RFC 3986 and the host of `url`. `None` if they do not differ.
pub(super) fn different_hosts<'a>(
    line: &'a [u8],
    base: Option<&'a Url>,
    url: &'a Url,
) -> Option<(&'a [u8], &'a str)> {
    let host = by_rfc3986(line, base);
    let found = url.host.as_deref().unwrap_or_default();
    // Nearly all lines.
    let are_same = host.eq_ignore_ascii_case(found.as_bytes()) || are_alike(host, found, url);
    (!are_same).then_some((host, found))
}

/// The host that RFC 3986 finds in a line by its delimiters. A line without a host has the host of its base. Empty if there is none.
fn by_rfc3986<'a>(line: &'a [u8], base: Option<&'a Url>) -> &'a [u8] {
    let parts = uri_parts::split(line);
    // What does not begin with a letter is no scheme, whatever delimiter follows.
    let scheme =
        parts.scheme.clone().map(|scheme| &line[scheme]).filter(|name| name[0].is_ascii_alphabetic());
    if let Some(host) = parts.host.filter(|_| scheme.is_some() || parts.scheme.is_none()) {
        return &line[host];
    }
    // A reference may repeat the scheme of its base (RFC 3986, section 5.2.2), as browsers read "http:a".
    let is_reference = |base: &&Url| {
        scheme.is_none_or(|name| base.is_special() && name.eq_ignore_ascii_case(base.scheme.as_bytes()))
    };
    base.filter(is_reference).and_then(|base| base.host.as_deref()).unwrap_or_default().as_bytes()
}

/// Whether `host`, which is written in another way than the host `found` of `url`, is the same.
fn are_alike(host: &[u8], found: &str, url: &Url) -> bool {
    // A reader of RFC 3986 sees a name.
    if url.is_special() && found.parse::<Ipv4Addr>().is_ok() {
        return false;
    }
    let normalized =
        str::from_utf8(host).map_err(|_| Failure).and_then(|host| normalize(host, url.is_special()));
    let found = if url.is_special() { Ok(found.to_owned()) } else { normalize(found, false) };
    let is_local = url.scheme == "file" && normalized.as_deref() == Ok("localhost");
    normalized == found || is_local && found == Ok(String::new())
}

/// A host without the differences that make no difference.
fn normalize(host: &str, is_special: bool) -> Result<String, Failure> {
    if host.starts_with('[') {
        return parse_host(host, false, &mut |_, _| {});
    }
    let decoded = String::from_utf8_lossy(&percent_decode(host)).into_owned();
    if is_special && !host.is_empty() { domain_to_ascii(&decoded) } else { Ok(decoded.to_lowercase()) }
}
