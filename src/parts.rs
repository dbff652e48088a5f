//! The components of a line by their delimiters, whatever a grammar says of them (RFC 3986, appendix B).

use std::ops::Range;

use crate::scheme::scheme_len;

/// Where the components of a line lie: offsets in bytes, delimiters left out.
///
/// Every line has these parts, an ill-formed one too. The scheme is that of [`scheme_len`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parts {
    /// Before the first ":".
    pub scheme: Option<Range<usize>>,
    /// Behind "//", up to the next "/", "?" or "#".
    pub authority: Option<Range<usize>>,
    /// The part of the authority before its last "@".
    pub userinfo: Option<Range<usize>>,
    /// The part of the authority behind the userinfo and before the port.
    pub host: Option<Range<usize>>,
    /// Behind the last ":" of the rest of the authority, outside brackets.
    pub port: Option<Range<usize>>,
    /// Up to the first "?" or "#"; may be empty.
    pub path: Range<usize>,
    /// Behind the first "?", up to the first "#".
    pub query: Option<Range<usize>>,
    /// Behind the first "#".
    pub fragment: Option<Range<usize>>,
}

/// Splits a line into its components. Linear in the length of the line.
#[must_use]
pub fn split(line: &[u8]) -> Parts {
    let scheme = scheme_len(line).map(|len| 0..len);
    let start = scheme.as_ref().map_or(0, |scheme| scheme.end + 1);
    let fragment_mark = memchr::memchr(b'#', &line[start..]).map_or(line.len(), |n| start + n);
    let query_mark = memchr::memchr(b'?', &line[start..fragment_mark]).map_or(fragment_mark, |n| start + n);
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

/// Where the password of a line lies: behind the first ":" of its userinfo; `None` if there is none or it is empty.
#[must_use]
pub fn password(line: &[u8]) -> Option<Range<usize>> {
    let userinfo = split(line).userinfo?;
    let colon = memchr::memchr(b':', &line[userinfo.clone()])?;
    let password = userinfo.start + colon + 1..userinfo.end;
    (!password.is_empty()).then_some(password)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(text(password(line)), Some("secret"));
    }

    #[test]
    fn no_parts() {
        let parts = split(b"");
        assert_eq!((parts.scheme, parts.authority, parts.path), (None, None, 0..0));
        assert_eq!(split(b"//").authority, Some(2..2));
        assert_eq!(password(b"//a:@h"), None);
        assert_eq!(password(b"//h:80/a:b@c"), None);
    }
}
