//! The components of a line, found by their delimiters alone (RFC 3986, appendix B). This file knows no grammar.

use std::ops::Range;

use crate::scheme::{n_scheme_bytes, scheme_len};

/// The components of a line, as ranges of bytes without delimiters. A component is `None` if its delimiter is missing.
///
/// Any line can be split, even a malformed one. [`scheme_len`] finds the scheme.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parts {
    /// The bytes before the first ":".
    pub scheme: Option<Range<usize>>,
    /// The bytes after "//", up to the next "/", "?" or "#".
    pub authority: Option<Range<usize>>,
    /// The part of the authority before its last "@".
    pub userinfo: Option<Range<usize>>,
    /// The part of the authority after the userinfo and before the port.
    pub host: Option<Range<usize>>,
    /// The bytes after the last ":" of the rest of the authority, outside brackets.
    pub port: Option<Range<usize>>,
    /// The bytes after scheme and authority, up to the first "?" or "#"; may be empty.
    pub path: Range<usize>,
    /// The bytes after the first "?", up to the first "#".
    pub query: Option<Range<usize>>,
    /// The bytes after the first "#".
    pub fragment: Option<Range<usize>>,
}

/// Splits a line into its components. The cost is linear in the length of the line.
#[must_use]
pub fn split(line: &[u8]) -> Parts {
    let scheme = scheme_end(line).map(|len| 0..len);
    let start = scheme.as_ref().map_or(0, |scheme| scheme.end + 1);
    let found = host_after(line, start);
    let path = found.as_ref().map_or(start, |found| found.end);
    let mark = memchr::memchr2(b'?', b'#', &line[path..]).map_or(line.len(), |n| path + n);
    let has_query = line.get(mark) == Some(&b'?');
    let fragment = if has_query { memchr::memchr(b'#', &line[mark..]).map(|n| mark + n) } else { Some(mark) };
    let fragment = fragment.unwrap_or(line.len());
    let mut parts = Parts {
        scheme,
        authority: None,
        userinfo: None,
        host: None,
        port: None,
        path: path..mark,
        query: has_query.then(|| mark + 1..fragment),
        fragment: (fragment < line.len()).then(|| fragment + 1..line.len()),
    };
    if let Some(Host { name, port, end }) = found {
        let begin = start + 2;
        parts.authority = Some(begin..end);
        parts.userinfo = (name.start > begin).then(|| begin..name.start - 1);
        (parts.host, parts.port) = (Some(name), port);
    }
    parts
}

/// The length of the scheme. The usual ones are found at a glance.
#[inline]
pub(crate) fn scheme_end(line: &[u8]) -> Option<usize> {
    match line {
        [b'h', b't', b't', b'p', b':', ..] => Some(4),
        [b'h', b't', b't', b'p', b's', b':', ..] => Some(5),
        _ => scheme_len(line),
    }
}

/// Finds the host and the port of a line, with the same result as [`split`], and the end of the authority. `None` without an
/// authority.
#[inline]
pub fn host(line: &[u8]) -> Option<Host> {
    host_after(line, scheme_end(line).map_or(0, |len| len + 1))
}

/// The same for a line whose scheme and ":" end at `start`.
#[inline]
fn host_after(line: &[u8], start: usize) -> Option<Host> {
    if !line[start..].starts_with(b"//") {
        return None;
    }
    let (mut host, mut colon) = (start + 2, None);
    let mut end = host;
    loop {
        end += n_scheme_bytes(&line[end..]);
        match line.get(end) {
            None | Some(b'/' | b'?' | b'#') => break,
            Some(b'@') => (host, colon) = (end + 1, None),
            // A ":" inside an IP literal begins no port.
            Some(b']') => colon = None,
            Some(b':') => colon = Some(end),
            Some(_) => {}
        }
        end += 1;
    }
    Some(Host { name: host..colon.unwrap_or(end), port: colon.map(|colon| colon + 1..end), end })
}

/// The result of [`host`], as offsets in the line.
#[derive(Debug, PartialEq, Eq)]
pub struct Host {
    /// The host, without the port.
    pub name: Range<usize>,
    pub port: Option<Range<usize>>,
    /// The end of the authority.
    pub end: usize,
}

/// Returns the beginning of a line, at most [`BEGINNING`] bytes.
///
/// Scheme, components and passwords are searched only in the beginning. So no more is kept of a line that is too long to be held
/// in memory.
pub fn beginning(line: &[u8]) -> &[u8] {
    &line[..line.len().min(BEGINNING)]
}

/// The largest number of bytes that [`beginning`] returns.
pub const BEGINNING: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    /// The components, each by a search for its delimiters.
    fn by_searches(line: &[u8]) -> Parts {
        let scheme = scheme_len(line).map(|len| 0..len);
        let start = scheme.as_ref().map_or(0, |scheme| scheme.end + 1);
        let fragment_mark = memchr::memchr(b'#', &line[start..]).map_or(line.len(), |n| start + n);
        let query_mark =
            memchr::memchr(b'?', &line[start..fragment_mark]).map_or(fragment_mark, |n| start + n);
        let authority = line[start..query_mark].starts_with(b"//").then(|| {
            let begin = start + 2;
            begin..memchr::memchr(b'/', &line[begin..query_mark]).map_or(query_mark, |n| begin + n)
        });
        let mut parts = Parts {
            path: authority.as_ref().map_or(start, |authority| authority.end)..query_mark,
            query: (query_mark < fragment_mark).then(|| query_mark + 1..fragment_mark),
            fragment: (fragment_mark < line.len()).then(|| fragment_mark + 1..line.len()),
            scheme,
            userinfo: None,
            host: None,
            port: None,
            authority: None,
        };
        if let Some(authority) = authority {
            let text = &line[authority.clone()];
            let at = memchr::memrchr(b'@', text);
            let host = authority.start + at.map_or(0, |at| at + 1);
            let bracket = memchr::memrchr(b']', &line[host..authority.end]).map_or(host, |n| host + n + 1);
            let colon = memchr::memrchr(b':', &line[bracket..authority.end]).map(|n| bracket + n);
            parts.userinfo = at.map(|at| authority.start..authority.start + at);
            parts.host = Some(host..colon.unwrap_or(authority.end));
            parts.port = colon.map(|colon| colon + 1..authority.end);
            parts.authority = Some(authority);
        }
        parts
    }

    #[test]
    fn all_parts() {
        let line = b"ftp://fred:secret@[::1]:21/a/b?c#d";
        let parts = split(line);
        let text =
            |range: Option<Range<usize>>| range.map(|range| std::str::from_utf8(&line[range]).unwrap());
        assert_eq!(text(parts.scheme), Some("ftp"));
        assert_eq!(text(parts.authority), Some("fred:secret@[::1]:21"));
        assert_eq!(text(parts.userinfo), Some("fred:secret"));
        assert_eq!(text(parts.host), Some("[::1]"));
        assert_eq!(text(parts.port), Some("21"));
        assert_eq!(text(Some(parts.path)), Some("/a/b"));
        assert_eq!(text(parts.query), Some("c"));
        assert_eq!(text(parts.fragment), Some("d"));
    }

    #[test]
    fn no_parts() {
        let parts = split(b"");
        assert_eq!((parts.scheme, parts.authority, parts.path), (None, None, 0..0));
        assert_eq!(split(b"//").authority, Some(2..2));
    }

    /// A line made of its components and their delimiters.
    fn joined(line: &[u8], parts: Parts) -> Vec<u8> {
        let mut out = Vec::new();
        let mut push = |before: &str, part: Option<Range<usize>>, after: &str| {
            if let Some(part) = part {
                out.extend([before.as_bytes(), &line[part], after.as_bytes()].concat());
            }
        };
        push("", parts.scheme, ":");
        push("//", parts.authority.map(|_| 0..0), "");
        push("", parts.userinfo, "@");
        push("", parts.host, "");
        push(":", parts.port, "");
        push("", Some(parts.path), "");
        push("?", parts.query, "");
        push("#", parts.fragment, "");
        out
    }

    #[test]
    fn joined_components_are_the_line() {
        const PIECES: [&[u8]; 16] = [
            b"http", b"a+b.c", b":", b"//", b"/", b"?", b"#", b"@", b"[", b"]", b"::1", b"80", b" ", b"%",
            b"\xff", b"-",
        ];
        let mut random = crate::random::Random::new(1);
        for _ in 0..50_000 {
            let line: Vec<u8> =
                (0..random.below(12)).flat_map(|_| PIECES[random.below(16)]).copied().collect();
            let parts = split(&line);
            let has_at = |range: &Option<Range<usize>>| {
                range.as_ref().is_some_and(|part| line[part.clone()].contains(&b'@'))
            };
            assert!(!has_at(&parts.host) && !has_at(&parts.port), "{}", line.escape_ascii());
            assert_eq!(parts, by_searches(&line), "{}", line.escape_ascii());
            assert_eq!(joined(&line, parts), line);
        }
    }

    #[test]
    fn absent_and_empty_components() {
        let empty = split(b"http://@:?#");
        assert_eq!(
            [empty.userinfo, empty.host, empty.port, Some(empty.path), empty.query, empty.fragment],
            [7..7, 8..8, 9..9, 9..9, 10..10, 11..11].map(Some)
        );
        let absent = split(b"");
        assert_eq!(
            [absent.userinfo, absent.host, absent.port, absent.query, absent.fragment],
            [const { None }; 5]
        );
    }

    #[test]
    fn the_host_alone() {
        let fragments =
            ["http", "HTTPS", "x", ":", "//", "a", "@", "[", "::1", "]", ":", "80", "/", "?", "#", ""];
        for n in 0..fragments.len().pow(4) {
            let text: String =
                (0..4).map(|place| fragments[n / fragments.len().pow(place) % fragments.len()]).collect();
            for text in [format!("//{text}"), format!("https://{text}"), text] {
                let parts = by_searches(text.as_bytes());
                let expected = parts.authority.map(|authority| Host {
                    name: parts.host.unwrap_or_default(),
                    port: parts.port,
                    end: authority.end,
                });
                assert_eq!(host(text.as_bytes()), expected, "{text}");
            }
        }
    }
}
