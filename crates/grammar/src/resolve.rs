//! Resolves references against a base: RFC 3986, section 5, strict.
//!
//! Delimiters alone separate the components ([`split`]). So any reference resolves to some target, and RFC 3986 accepts the target if
//! it accepts the reference. Only dot-segments are normalized. Letter case, escapes ("%2E" is not a dot) and default ports stay.
//!
//! The document leaves some cases open. This file decides them as follows:
//!
//! - Section 5.2.2 lets a parser that is not strict ignore a scheme that equals the base's. This one is strict: `http:g` is
//!   `http:g` under any base.
//! - Surplus ".." segments are dropped (5.2.4, and the examples of 5.4.2). RFC 1808 kept them. So does erratum 4547, which is
//!   reported, but not verified.
//! - A base whose path ends in "/.." is merged like any other (5.2.3). Erratum 4789, also only reported, would keep the "..".
//! - A target without authority can have a path that begins with "//", which section 3.3 forbids. Recomposing it (5.3) changes its
//!   meaning: `a:/` and `.//b` give `a://b`, where "b" is an authority. The RFC does not say what to do. Here "/." precedes such a
//!   path: `a:/.//b` refers to the intended path, and resolves to itself. The WHATWG URL standard does the same.
//! - Section 5.2.4 can turn a path without leading "/" into one with it: `b/../c` becomes `/c`. So `x:b/../c` resolves to `x:/c`.

use std::fmt;

use memchr::{memchr, memrchr};

use crate::defect::Defect;
use crate::judge::{Kind, judge};
use crate::uri_parts::{Parts, split};
use crate::{Grammar, escape};

/// A base URI, against which references are resolved (RFC 3986, section 5.1).
///
/// ```
/// # mod urlsift { pub use urlsift_grammar as grammar; }
/// use urlsift::grammar::resolve::Base;
///
/// let base = Base::new(b"http://example.org/a/b?c")?;
/// let mut target = Vec::new();
/// for (reference, expected) in [
///     ("d", "http://example.org/a/d"),
///     ("../d/./e", "http://example.org/d/e"),
///     ("?d", "http://example.org/a/b?d"),
///     ("//example.com", "http://example.com"),
///     ("ftp://example.com/x/../y", "ftp://example.com/y"),
/// ] {
///     base.resolve(reference.as_bytes(), &mut target);
///     assert_eq!(target, expected.as_bytes());
/// }
/// # Ok::<_, urlsift::grammar::resolve::BaseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The base without its fragment.
    text: Vec<u8>,
    parts: Parts,
    had_fragment: bool,
}

impl Base {
    /// Makes a base of `url`, without its fragment.
    ///
    /// # Errors
    /// When RFC 3986 refuses `url`, or it has no scheme.
    pub fn new(url: &[u8]) -> Result<Self, BaseError> {
        let judgement = judge(url);
        if let Some(defect) = judgement.defect(Grammar::Rfc3986) {
            return Err(BaseError::refused(url, &defect));
        }
        if judgement.kind() == Kind::Relative {
            return Err(BaseError::no_scheme());
        }
        let end = memchr(b'#', url);
        let text = url[..end.unwrap_or(url.len())].to_vec();
        Ok(Self { parts: split(&text), text, had_fragment: end.is_some() })
    }

    /// The base, without a fragment.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// The scheme, in the letter case of the base. It is also the scheme of each target whose reference has none.
    #[must_use]
    pub fn scheme(&self) -> &[u8] {
        self.parts.scheme.clone().map_or(&[], |scheme| &self.text[scheme])
    }

    /// Returns whether the URL had a fragment, which is not part of a base (RFC 3986, section 5.1).
    #[must_use]
    pub fn had_fragment(&self) -> bool {
        self.had_fragment
    }

    /// Replaces the contents of `target` by the target URI of `reference` (RFC 3986, section 5.2.2).
    ///
    /// Any bytes have a target. RFC 3986 accepts the target if it accepts the reference. The target of the empty reference is the
    /// base. The cost is linear in the lengths of base and reference, even with many segments. Allocates only if `target` is too
    /// small.
    pub fn resolve(&self, reference: &[u8], target: &mut Vec<u8>) {
        resolve(Some(self), reference, target);
    }

    /// The part of the base's path that precedes a path without leading "/" (RFC 3986, section 5.2.3).
    fn directory(&self) -> &[u8] {
        let path = &self.text[self.parts.path.clone()];
        if path.is_empty() && self.parts.authority.is_some() {
            return b"/";
        }
        &path[..memrchr(b'/', path).map_or(0, |last| last + 1)]
    }
}

/// Does the same as [`Base::resolve`] if there is a base. Only a reference with a scheme needs none. Returns whether there is a target.
pub fn resolve(base: Option<&Base>, reference: &[u8], target: &mut Vec<u8>) -> bool {
    target.clear();
    let Parts { scheme, authority, path, query, .. } = split(reference);
    // Components and their delimiters are adjacent, so recomposing them (5.3) means copying them unchanged.
    let (before, behind) = (&reference[..path.start], &reference[path.end..]);
    let path = &reference[path];
    if scheme.is_some() {
        target.extend(before);
        push_path(target, &[path], authority.is_some());
        target.extend(behind);
        return true;
    }
    let Some(base) = base else { return false };
    let text = &base.text;
    if authority.is_some() {
        target.extend(&text[..=base.scheme().len()]);
        target.extend(before);
        push_path(target, &[path], true);
    } else if path.is_empty() {
        let end = if query.is_some() { base.parts.path.end } else { text.len() };
        target.extend(&text[..end]);
    } else {
        target.extend(&text[..base.parts.path.start]);
        let directory: &[u8] = if path.starts_with(b"/") { b"" } else { base.directory() };
        push_path(target, &[directory, path], base.parts.authority.is_some());
    }
    target.extend(behind);
    true
}

/// Appends a path, given as several slices, without its dot-segments.
fn push_path(target: &mut Vec<u8>, slices: &[&[u8]], has_authority: bool) {
    let start = target.len();
    for slice in slices {
        target.extend(*slice);
    }
    finish_path(target, start, has_authority);
}

/// Removes the dot-segments of the path that begins at `start`. Without an authority, "/." then precedes a path that begins with "//".
pub(crate) fn finish_path(target: &mut Vec<u8>, start: usize, has_authority: bool) {
    remove_dot_segments(target, start);
    if !has_authority && target[start..].starts_with(b"//") {
        target.splice(start..start, *b"/.");
    }
}

/// Removes the dot-segments of the path that begins at `start`, by the steps of RFC 3986, section 5.2.4.
///
/// The output buffer and the input buffer share the same bytes, with the output in front. The output is never longer than the
/// input read so far. Each byte is written once, and read again at most once, when its segment is removed.
fn remove_dot_segments(path: &mut Vec<u8>, start: usize) {
    let (mut read, mut written) = (start, start);
    // The end of the output after removing its last segment and the "/" before it.
    let cut = |path: &[u8], written| start + memrchr(b'/', &path[start..written]).unwrap_or(0);
    loop {
        match &path[read..] {
            [] => break,
            // Step A, and step B if something follows. A segment without "/" before it is the first of the path.
            [b'.', b'.', b'/', ..] => read += 3,
            [b'.', b'/', ..] | [b'/', b'.', b'/', ..] => read += 2,
            // Step C if something follows.
            [b'/', b'.', b'.', b'/', ..] => {
                written = cut(path, written);
                read += 3;
            }
            // Steps B and C at the end of the path. They leave a "/", which step E moves to the output.
            end @ ([b'/', b'.'] | [b'/', b'.', b'.']) => {
                if end.len() == 3 {
                    written = cut(path, written);
                }
                read = path.len();
                path[written] = b'/';
                written += 1;
            }
            // Step D.
            [b'.'] | [b'.', b'.'] => read = path.len(),
            // Step E.
            [_, rest @ ..] => {
                let len = 1 + memchr(b'/', rest).unwrap_or(rest.len());
                path.copy_within(read..read + len, written);
                read += len;
                written += len;
            }
        }
    }
    path.truncate(written);
}

/// The error of a URL that cannot be a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseError {
    kind: BaseErrorKind,
    message: String,
}

/// The reason why a URL cannot be a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BaseErrorKind {
    /// RFC 3986 refuses the URL.
    Refused {
        /// The offset of the defect in bytes: the first byte that no accepted line could have there, or the length.
        offset: u64,
    },
    /// The URL is a relative reference.
    NoScheme,
}

impl BaseError {
    /// The reason of the error.
    #[must_use]
    pub fn kind(&self) -> BaseErrorKind {
        self.kind
    }

    fn refused(url: &[u8], defect: &Defect) -> Self {
        let offset = defect.offset;
        let byte = usize::try_from(offset).ok().and_then(|at| url.get(at..=at));
        let place = byte.map_or_else(
            || "at its end".to_owned(),
            |byte| {
                let mut text = String::new();
                escape::push(&mut text, byte);
                format!("at byte {}, \"{text}\"", offset + 1)
            },
        );
        let message = format!("RFC 3986 refuses it {place} ({}:{})", defect.component, defect.cause);
        Self { kind: BaseErrorKind::Refused { offset }, message }
    }

    fn no_scheme() -> Self {
        let message = "it has no scheme; expected a whole URL, such as https://example.org/directory/page";
        Self { kind: BaseErrorKind::NoScheme, message: message.to_owned() }
    }
}

impl fmt::Display for BaseError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for BaseError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn without_dots(path: &str) -> String {
        let mut path = [b"/kept/", path.as_bytes()].concat();
        remove_dot_segments(&mut path, 6);
        String::from_utf8(path.split_off(6)).unwrap()
    }

    /// The two examples of RFC 3986, section 5.2.4, and shorter paths that follow from its steps.
    #[test]
    fn dot_segments() {
        for (path, without) in [
            ("/a/b/c/./../../g", "/a/g"),
            ("mid/content=5/../6", "mid/6"),
            ("", ""),
            (".", ""),
            ("..", ""),
            ("./", ""),
            ("../", ""),
            ("../.././..", ""),
            ("/.", "/"),
            ("/..", "/"),
            ("/./", "/"),
            ("/../", "/"),
            ("/../..", "/"),
            ("/a/..", "/"),
            ("/a//..", "/a/"),
            ("/a/.", "/a/"),
            ("a/..", "/"),
            ("a/../b", "/b"),
            ("a/../../b", "/b"),
            ("../a/./b/..", "a/"),
            ("/...", "/..."),
            (".a/..b/c./d..", ".a/..b/c./d.."),
            ("//..//.", "//"),
            ("/..//a", "//a"),
            ("/%2E%2e/.", "/%2E%2e/"),
        ] {
            assert_eq!(without_dots(path), without, "{path:?}");
        }
    }

    /// This would take hours if each ".." searched the output from its start.
    #[test]
    fn many_segments() {
        let n = 1 << 19;
        assert_eq!(without_dots(&"../".repeat(n)), "");
        assert_eq!(without_dots(&"/..".repeat(n)), "/");
        assert_eq!(without_dots(&("/a".repeat(n) + &"/..".repeat(n))), "/");
        assert_eq!(without_dots(&format!("{}/x", "/a/..".repeat(n))), "/x");
        assert_eq!(without_dots(&("/".repeat(n) + &"..//".repeat(n))).len(), n);
        assert_eq!(without_dots(&("a".repeat(n) + &"/b/..".repeat(n))).len(), n + 1);
    }

    #[test]
    fn what_is_no_base() {
        let error = |url: &str| Base::new(url.as_bytes()).unwrap_err();
        for (url, offset, message) in [
            ("http://a/b c", 10, "RFC 3986 refuses it at byte 11, \" \" (path:space)"),
            ("http://[::1", 11, "RFC 3986 refuses it at its end (host:ends-early)"),
            ("1a://b", 2, "RFC 3986 refuses it at byte 3, \":\" (path:character-not-allowed)"),
            ("http://\u{1b}", 7, "RFC 3986 refuses it at byte 8, \"\\x1b\" (authority:control-byte)"),
        ] {
            assert_eq!(error(url).kind(), BaseErrorKind::Refused { offset }, "{url:?}");
            assert_eq!(error(url).to_string(), message, "{url:?}");
        }
        for url in ["", "/a", "//a", "?a", "a.example/b"] {
            assert_eq!(error(url).kind(), BaseErrorKind::NoScheme, "{url:?}");
        }
        assert!(error("a").to_string().starts_with("it has no scheme; expected "));
    }

    #[test]
    fn what_is_a_base() {
        let base = Base::new(b"HTTP://u:p@A:80/b?c#d").unwrap();
        assert_eq!(base.as_bytes(), b"HTTP://u:p@A:80/b?c");
        assert_eq!((base.scheme(), base.had_fragment()), (&b"HTTP"[..], true));
        let base = Base::new(b"mailto:a@b").unwrap();
        assert_eq!((base.scheme(), base.had_fragment()), (&b"mailto"[..], false));
        assert!(Base::new(b"a:#").unwrap().had_fragment());
    }
}
