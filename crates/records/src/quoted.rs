//! Finds quoted strings in log lines, where a backslash escapes, and the target of a request line in such a string.

use std::borrow::Cow;

use memchr::memchr;

use super::near_bytes::find;
use super::separators::{Marks, Set};
use super::{BadCause, Miss};
use urlsift_grammar::hex::hex_byte;

/// The bytes that end strings and lines, or begin escapes.
pub(super) const SEPARATORS: Set = [b'"', b'\\', b'\n'];

/// How many strings of a line are found.
const MOST: usize = 2;

/// Where the first quoted strings of a line are.
pub(super) struct Strings {
    /// The positions in the line of the quotes that are not escaped. Missing quotes are at `usize::MAX`.
    quotes: [usize; 2 * MOST],
    /// Bit `n` says whether a backslash precedes quote `n` and follows the quote before it.
    escapes: u8,
    /// The length of the line in bytes, including its terminator.
    pub(super) len: usize,
}

impl Strings {
    /// Finds the strings of the line at `at`. `marks` moves past the line.
    #[inline(always)]
    pub(super) fn walk(marks: &mut Marks<'_>, at: usize) -> Self {
        let bytes = marks.bytes();
        let (mut quotes, mut escapes) = ([usize::MAX; 2 * MOST], 0);
        let (mut place, mut escaped) = (marks.place(), usize::MAX);
        let end = 'line: {
            for (n, quote) in quotes.iter_mut().enumerate() {
                loop {
                    let mark = marks.next(&mut place);
                    match bytes.get(mark) {
                        None | Some(b'\n') => break 'line bytes.len().min(mark + 1),
                        Some(_) if mark == escaped => {}
                        Some(b'\\') => {
                            escapes |= 1 << n;
                            escaped = mark + 1;
                        }
                        Some(_) => {
                            *quote = mark - at;
                            break;
                        }
                    }
                }
            }
            marks.line_end(&mut place)
        };
        marks.go_to(place);
        Self { quotes, escapes, len: end - at }
    }

    /// Returns string number `n` of the line, from 0; `None` if there is none. `line` has no terminator.
    ///
    /// # Errors
    /// When the string is not closed, or is followed by something other than a blank.
    #[inline(always)]
    pub(super) fn get(&self, n: usize, line: &[u8]) -> Result<Option<Quoted>, Miss> {
        let [start, end] = [self.quotes[2 * n], self.quotes[2 * n + 1]];
        if start == usize::MAX {
            return Ok(None);
        }
        if end == usize::MAX {
            return Err(Miss::Bad(BadCause::QuoteNotClosed, start));
        }
        match line.get(end + 1) {
            None | Some(b' ' | b'\t') => {}
            Some(_) => return Err(Miss::Bad(BadCause::TextBehindQuote, end + 1)),
        }
        Ok(Some(Quoted { start: start + 1, end, has_escapes: self.escapes >> (2 * n + 1) & 1 == 1 }))
    }
}

/// A quoted string, by the positions of its text.
#[derive(Clone, Copy)]
pub(super) struct Quoted {
    pub(super) start: usize,
    /// The position of the closing quote.
    pub(super) end: usize,
    pub(super) has_escapes: bool,
}

impl Quoted {
    /// A text without quotes and escapes.
    pub(super) fn plain(text: &[u8]) -> Self {
        Self { start: 0, end: text.len(), has_escapes: false }
    }

    /// The text, with escapes undone.
    #[inline(always)]
    pub(super) fn text(self, line: &[u8]) -> Cow<'_, [u8]> {
        let text = &line[self.start..self.end];
        if self.has_escapes { unescape(text) } else { Cow::Borrowed(text) }
    }
}

/// Undoes escapes: those of Apache (`ap_escape_logitem`: `\"`, `\\`, `\b`, `\n`, `\r`, `\t`, `\v`, `\xhh`) and those of nginx
/// (`\xHH`). A backslash before any other byte is literal, as in the logs of servers that escape nothing.
pub(super) fn unescape(bytes: &[u8]) -> Cow<'_, [u8]> {
    match memchr(b'\\', bytes) {
        None => Cow::Borrowed(bytes),
        Some(first) => Cow::Owned(unescape_from(bytes, first)),
    }
}

/// Undoes the escapes in `bytes`, where the first backslash is at `first`.
#[cold]
fn unescape_from(bytes: &[u8], first: usize) -> Vec<u8> {
    let mut out = bytes[..first].to_vec();
    let mut rest = &bytes[first..];
    while let Some((&byte, behind)) = rest.split_first() {
        let (value, len) = match behind.first() {
            _ if byte != b'\\' => (byte, 0),
            Some(b'x') => hex_byte(&behind[1..]).map_or((byte, 0), |value| (value, 3)),
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

/// A request target, and its position in the line.
pub(super) type Target<'a> = (usize, Cow<'a, [u8]>);

/// Finds the target in a request line (RFC 9112, section 3: `method SP request-target SP HTTP-version`). Returns it with escapes
/// undone, and its position; `None` if there was no request ("-").
///
/// Servers accept targets with blanks from clients that break the grammar. Such a target is returned whole. Without a version
/// (HTTP/0.9), the target extends to the end.
///
/// # Errors
/// When there is no method, or nothing follows it.
#[inline]
pub(super) fn target(line: &[u8], request: Quoted) -> Result<Option<Target<'_>>, Miss> {
    let text = &line[request.start..request.end];
    let bad = Miss::Bad(BadCause::BadRequest, request.start);
    // Most requests begin like this.
    let blank = if text.starts_with(b"GET ") { Some(3) } else { find(b' ', text) };
    let Some(blank) = blank else {
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

/// Whether a byte may occur in a method: a `tchar` of RFC 9110, section 5.6.2.
fn is_tchar(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds unescaped quotes byte by byte, and the same bits as `Strings::escapes`.
    fn quotes(line: &[u8]) -> (Vec<usize>, u8) {
        let (mut quotes, mut escapes, mut at) = (Vec::new(), 0, 0);
        while at < line.len() && quotes.len() < 2 * MOST {
            match line[at] {
                b'"' => quotes.push(at),
                b'\\' => {
                    escapes |= 1 << quotes.len();
                    at += 1;
                }
                _ => {}
            }
            at += 1;
        }
        (quotes, escapes)
    }

    /// Compares texts of quotes, backslashes and other bytes, at the start of the bytes and across the end of a window.
    #[test]
    fn strings_are_those_of_a_loop_over_bytes() {
        let tokens = [&b"\""[..], b"\\", b"a", b"\n", b"\r", b"\\\""];
        for number in 0..tokens.len().pow(6) {
            let digits = (0..6_u32).map(|place| number / tokens.len().pow(place) % tokens.len());
            let text = digits.map(|digit| tokens[digit]).collect::<Vec<_>>().concat();
            for filler in [0, 2043] {
                let bytes = [&b"x".repeat(filler)[..], &text].concat();
                let mut marks = Marks::new(SEPARATORS, &bytes);
                let mut at = 0;
                while at < bytes.len() {
                    let strings = Strings::walk(&mut marks, at);
                    let line = bytes[at..].split_inclusive(|&byte| byte == b'\n').next().unwrap();
                    assert_eq!(strings.len, line.len(), "{}", text.escape_ascii());
                    let (expected, escapes) = quotes(line.strip_suffix(b"\n").unwrap_or(line));
                    let found: Vec<_> =
                        strings.quotes.into_iter().take_while(|&quote| quote != usize::MAX).collect();
                    assert_eq!((found, strings.escapes), (expected, escapes), "{}", text.escape_ascii());
                    at += strings.len;
                }
            }
        }
    }
}
