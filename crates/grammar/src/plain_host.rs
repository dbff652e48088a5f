//! A plain host. Most lines from the web have one. Code that knows the plain host of a line need not look for delimiters in it.

use std::borrow::Cow;

use crate::uri_parts::{Host, host};

/// A host of 1 to 63 lower-case letters, digits, "-" and ".", behind `http://` or `https://`, in an authority with neither userinfo nor port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainHost {
    /// Where it begins in its line.
    pub start: usize,
    /// Where it ends, and the path begins.
    pub end: usize,
    /// Its dots: bit `n` is for byte `n` of the host.
    pub dots: u64,
    /// Its hyphens, likewise.
    pub hyphens: u64,
}

impl PlainHost {
    /// The plain host of a line, by the definition. The engine finds those of many lines faster.
    #[must_use]
    pub fn of(line: &[u8]) -> Option<Self> {
        let Host { name, port: None, end } = host(line)? else { return None };
        let text = &line[name.clone()];
        let is_plain = matches!(&line[..name.start], b"http://" | b"https://")
            && (1..64).contains(&text.len())
            && text.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.'));
        let bits = |of: u8| (0..text.len()).fold(0, |bits, n| bits | u64::from(text[n] == of) << n);
        is_plain.then(|| Self { start: name.start, end, dots: bits(b'.'), hyphens: bits(b'-') })
    }
}

/// A line that a normal form leaves as it is, except that an empty path may become "/".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Where the empty path is.
    pub slash: Option<usize>,
}

impl Kept {
    /// A line whose path begins at `path`, and must not be empty.
    #[must_use]
    #[inline]
    pub fn with_path(line: &[u8], path: usize) -> Self {
        Self { slash: (line.get(path) != Some(&b'/')).then_some(path) }
    }

    /// The line, if it is the normal form. Otherwise the normal form is appended to `out`.
    #[inline]
    pub fn form<'l>(self, line: &'l [u8], out: &mut Vec<u8>) -> Option<&'l [u8]> {
        let Some(at) = self.slash else { return Some(line) };
        out.extend_from_slice(&line[..at]);
        out.push(b'/');
        out.extend_from_slice(&line[at..]);
        None
    }

    /// The normal form.
    #[must_use]
    pub fn text(self, line: &[u8]) -> Cow<'_, [u8]> {
        let mut out = Vec::new();
        self.form(line, &mut out).map_or(out.into(), Cow::from)
    }
}

/// The length of `http://` or `https://` at the start of a text that is longer.
#[inline]
#[must_use]
pub fn before_host(text: &[u8]) -> Option<usize> {
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    let word = u64::from_le_bytes(*text.first_chunk()?);
    // Without a branch, because most lists have both.
    let is_https = word >> 32 & 0xff == u64::from(b's');
    let (expected, mask) = if is_https { (HTTPS, u64::MAX) } else { (HTTP, u64::MAX >> 8) };
    (word & mask == expected).then_some(7 + usize::from(is_https))
}
