//! Whether RFC 3986 and the WHATWG parser find the same host in a line.
//!
//! One program checks a URL by RFC 3986, and another one connects where a browser would. If the hosts differ, the check is worth nothing.

use crate::uri_parts;
use crate::whatwg::Url;
use crate::whatwg::code_points::percent_decode;
use crate::whatwg::host::{Failure, domain_to_ascii, parse_host};

/// Whether RFC 3986 finds another host in `line` than `url` has, which the parser made of it (W4).
///
/// Letter case, escapes, the forms of an IPv6 address and the mapping of domains to ASCII make no difference. A missing host and
/// an empty one are the same. A line without a scheme has the host of its base, and is not compared.
#[must_use]
pub fn hosts_differ(line: &[u8], url: &Url) -> bool {
    let parts = uri_parts::split(line);
    // What does not begin with a letter is no scheme, whatever delimiter follows.
    if parts.scheme.is_none_or(|_| !line[0].is_ascii_alphabetic()) {
        return false;
    }
    let host = parts.host.map(|host| &line[host]).unwrap_or_default();
    let found = url.host.as_deref().unwrap_or_default();
    // Nearly all lines.
    if host.eq_ignore_ascii_case(found.as_bytes()) {
        return false;
    }
    let normalized =
        str::from_utf8(host).map_err(|_| Failure).and_then(|host| normalize(host, url.is_special()));
    let found = if url.is_special() { Ok(found.to_owned()) } else { normalize(found, false) };
    let is_local = url.scheme == "file" && normalized.as_deref() == Ok("localhost");
    normalized != found && !(is_local && found == Ok(String::new()))
}

/// A host without the differences that make no difference.
fn normalize(host: &str, is_special: bool) -> Result<String, Failure> {
    if host.starts_with('[') {
        return parse_host(host, false, &mut |_, _| {});
    }
    let decoded = String::from_utf8_lossy(&percent_decode(host)).into_owned();
    if is_special && !host.is_empty() { domain_to_ascii(&decoded) } else { Ok(decoded.to_lowercase()) }
}
