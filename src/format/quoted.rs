//! Quoted strings in logs, in which a backslash escapes, and the request line in one of them.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

use super::near::find;
use super::{BadCause, Miss};

/// The quoted string in `line` that begins at or behind `from`, without its quotes; `None` if there is none.
///
/// # Errors
/// When it does not end, or something other than a blank stands behind it.
#[inline]
pub(super) fn next(line: &[u8], from: usize) -> Result<Option<Quoted>, Miss> {
    let Some((start, _)) = next_quote(line, from) else { return Ok(None) };
    let (end, has_escapes) = next_quote(line, start + 1).ok_or(Miss::Bad(BadCause::QuoteNotClosed, start))?;
    match line.get(end + 1) {
        None | Some(b' ' | b'\t') => Ok(Some(Quoted { start: start + 1, end, has_escapes })),
        Some(_) => Err(Miss::Bad(BadCause::TextBehindQuote, end + 1)),
    }
}

/// What stands between quotes.
#[derive(Clone, Copy)]
pub(super) struct Quoted {
    pub(super) start: usize,
    /// Where the closing quote stands.
    pub(super) end: usize,
    has_escapes: bool,
}

impl Quoted {
    /// The text, escapes undone.
    #[inline]
    pub(super) fn text(self, line: &[u8]) -> Cow<'_, [u8]> {
        let text = &line[self.start..self.end];
        if self.has_escapes { unescape(text) } else { Cow::Borrowed(text) }
    }
}

/// Where the next quote stands that is not escaped; and whether anything is before it.
#[inline]
fn next_quote(line: &[u8], mut from: usize) -> Option<(usize, bool)> {
    let mut has_escapes = false;
    loop {
        let found = from + memchr2(b'"', b'\\', line.get(from..)?)?;
        if line[found] == b'"' {
            return Some((found, has_escapes));
        }
        has_escapes = true;
        from = found + 2;
    }
}

/// `bytes` with their escapes undone: those of Apache (`ap_escape_logitem`: `\"`, `\\`, `\b`, `\n`, `\r`, `\t`, `\v`, `\xhh`) and of
/// nginx (`\xHH`). A backslash before anything else stands for itself, as in the logs of servers that escape nothing.
fn unescape(bytes: &[u8]) -> Cow<'_, [u8]> {
    match memchr(b'\\', bytes) {
        None => Cow::Borrowed(bytes),
        Some(first) => Cow::Owned(unescape_from(bytes, first)),
    }
}

/// The first backslash stands at `first`.
#[cold]
fn unescape_from(bytes: &[u8], first: usize) -> Vec<u8> {
    let mut out = bytes[..first].to_vec();
    let mut rest = &bytes[first..];
    while let Some((&byte, behind)) = rest.split_first() {
        let digit = |at: usize| u8::try_from(char::from(*behind.get(at)?).to_digit(16)?).ok();
        let (value, len) = match behind.first() {
            _ if byte != b'\\' => (byte, 0),
            Some(b'x') => match (digit(1), digit(2)) {
                (Some(high), Some(low)) => (high * 16 + low, 3),
                _ => (byte, 0),
            },
            Some(&quoted @ (b'"' | b'\\')) => (quoted, 1),
            Some(b'b') => (0x08, 1),
            Some(b'n') => (b'\n', 1),
            Some(b'r') => (b'\r', 1),
            Some(b't') => (b'\t', 1),
            Some(b'v') => (0x0b, 1),
            _ => (byte, 0),
        };
        out.push(value);
        rest = &behind[len..];
    }
    out
}

/// A request target, and where it begins.
pub(super) type Target<'a> = (usize, Cow<'a, [u8]>);

/// The target in a request line (RFC 9112, section 3: `method SP request-target SP HTTP-version`), escapes undone, and where it
/// begins; `None` if there was no request ("-").
///
/// A target with blanks in it, which servers take from clients that do not keep to the grammar, is given whole; without a version
/// (HTTP/0.9) it goes on to the end.
///
/// # Errors
/// When there is no method, or nothing behind it.
#[inline]
pub(super) fn target(line: &[u8], request: Quoted) -> Result<Option<Target<'_>>, Miss> {
    let text = &line[request.start..request.end];
    let bad = Miss::Bad(BadCause::BadRequest, request.start);
    let Some(blank) = find(b' ', text) else {
        return if matches!(text, b"-" | b"") { Ok(None) } else { Err(bad) };
    };
    if blank == 0 || !text[..blank].iter().all(|&byte| is_tchar(byte)) {
        return Err(bad);
    }
    if &text[..blank] == b"-" {
        return Ok(None);
    }
    let target = &text[blank + 1..];
    let target = match target.len().checked_sub(b" HTTP/1.1".len()).map(|at| target.split_at(at)) {
        Some((before, [b' ', b'H', b'T', b'T', b'P', b'/', ..])) => before,
        _ => match memchr::memmem::rfind(target, b" HTTP/") {
            // HTTP/2 and HTTP/3 have no minor version.
            Some(version) if !target[version + 1..].contains(&b' ') => &target[..version],
            _ => target,
        },
    };
    if target.is_empty() {
        return Err(bad);
    }
    let start = request.start + blank + 1;
    Ok(Some((start, Quoted { start, end: start + target.len(), ..request }.text(line))))
}

/// RFC 9110, section 5.6.2, of which methods are made.
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
