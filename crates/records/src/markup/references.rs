//! Undoes character references of XML (XML 1.0, section 4.1) and of HTML (section 13.2.5.72).

use std::borrow::Cow;
use std::cmp::Ordering;

use memchr::{memchr, memchr2, memrchr};

/// The longest reference to a character that is read, in bytes. Zeros may precede the digits.
const MAX_LEN: usize = 64;

/// A piece of the text of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text between tags.
    Text,
    /// The value of an attribute. White space in it becomes blanks.
    Value,
    /// A CDATA section, which has no references.
    Characters,
}

/// The text that a piece of XML stands for.
///
/// # Errors
/// The offset of a "&" that begins no reference to a character or to one of the five entities that XML itself has. Others are
/// not expanded.
pub(super) fn undo(raw: &[u8], piece: Piece) -> Result<Cow<'_, [u8]>, usize> {
    let special = |text: &[u8]| match piece {
        Piece::Text => memchr2(b'&', b'\r', text),
        Piece::Value => text.iter().position(|byte| matches!(byte, b'&' | b'\t' | b'\n' | b'\r')),
        Piece::Characters => memchr(b'\r', text),
    };
    let Some(mut at) = special(raw) else { return Ok(Cow::Borrowed(raw)) };
    let mut text = Vec::with_capacity(raw.len());
    text.extend_from_slice(&raw[..at]);
    while let Some(&byte) = raw.get(at) {
        match byte {
            b'&' => {
                let known = &raw[at..raw.len().min(at + MAX_LEN)];
                let len = memchr(b';', known).ok_or(at)?;
                let char = character(&known[1..len]).ok_or(at)?;
                text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                at += len;
            }
            // A CR LF is one line end.
            b'\r' if raw.get(at + 1) == Some(&b'\n') => {}
            _ => text.push(if piece == Piece::Value { b' ' } else { b'\n' }),
        }
        let rest = &raw[at + 1..];
        let plain = special(rest).unwrap_or(rest.len());
        text.extend_from_slice(&rest[..plain]);
        at += 1 + plain;
    }
    Ok(Cow::Owned(text))
}

/// The character that a reference names, without its "&" and ";".
fn character(name: &[u8]) -> Option<char> {
    let [b'#', number @ ..] = name else {
        return Some(match name {
            b"amp" => '&',
            b"lt" => '<',
            b"gt" => '>',
            b"quot" => '"',
            b"apos" => '\'',
            _ => return None,
        });
    };
    let (digits, radix) = match number {
        [b'x', digits @ ..] => (digits, 16),
        digits => (digits, 10),
    };
    // Rust would accept a sign.
    let is_digit = |&byte: &u8| char::from(byte).is_digit(radix);
    let digits =
        std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| is_digit(&byte)))?;
    let char = char::from_u32(u32::from_str_radix(digits, radix).ok()?)?;
    let is_control = char < ' ' && !matches!(char, '\t' | '\n' | '\r');
    (!is_control && !matches!(char, '\u{fffe}' | '\u{ffff}')).then_some(char)
}

/// The named characters of HTML: a name, its code points, and "*" if it may lack the ";". Sorted by name.
const NAMED: &str = include_str!("entities.txt");

/// The longest name of a character, in bytes.
const MAX_NAME_LEN: usize = 31;

/// What numbers from 80 to 9F stand for in HTML: the characters of Windows-1252. 0 stands for itself.
const WINDOWS_1252: [u16; 32] = [
    0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
    0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
    0x0153, 0, 0x017e, 0x0178,
];

/// The value of an attribute of HTML. A "&" that begins no reference stays as it is.
pub(super) fn undo_html(raw: &[u8]) -> Cow<'_, [u8]> {
    let Some(first) = memchr(b'&', raw) else { return Cow::Borrowed(raw) };
    let mut text = raw[..first].to_vec();
    let mut at = first;
    let add = |text: &mut Vec<u8>, code: u32| {
        let char = char::from_u32(code).filter(|&char| char != '\0').unwrap_or(char::REPLACEMENT_CHARACTER);
        text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
    };
    while at < raw.len() {
        let rest = &raw[at + 1..];
        let len = if let Some((code, len)) = number(rest) {
            add(&mut text, code);
            len
        } else if let Some((codes, len)) = named(rest) {
            codes
                .split('+')
                .filter_map(|code| u32::from_str_radix(code, 16).ok())
                .for_each(|code| add(&mut text, code));
            len
        } else {
            text.push(b'&');
            0
        };
        at += 1 + len;
        let plain = memchr(b'&', &raw[at..]).unwrap_or(raw.len() - at);
        text.extend_from_slice(&raw[at..at + plain]);
        at += plain;
    }
    Cow::Owned(text)
}

/// The code point of a reference by number, and its length without the "&".
fn number(rest: &[u8]) -> Option<(u32, usize)> {
    let (radix, start) = match rest {
        [b'#', b'x' | b'X', ..] => (16, 2),
        [b'#', ..] => (10, 1),
        _ => return None,
    };
    let digits = rest[start..].iter().map_while(|&byte| char::from(byte).to_digit(radix));
    let (mut code, mut len) = (0_u32, start);
    for digit in digits {
        code = code.saturating_mul(radix).saturating_add(digit);
        len += 1;
    }
    let windows =
        code.checked_sub(0x80).and_then(|at| WINDOWS_1252.get(at as usize)).filter(|&&code| code != 0);
    let code = windows.map_or(code, |&code| u32::from(code));
    (len > start).then(|| (code, len + usize::from(rest.get(len) == Some(&b';'))))
}

/// The code points of a named character, and its length without the "&". In an attribute, a name without ";" counts only if no
/// letter, digit or "=" follows, so that a query such as `?a&copy=b` stays as it is.
fn named(rest: &[u8]) -> Option<(&'static str, usize)> {
    let len = rest.iter().take(MAX_NAME_LEN + 1).take_while(|byte| byte.is_ascii_alphanumeric()).count();
    let codes = find(&rest[..len])?;
    match rest.get(len) {
        Some(b';') => Some((codes.trim_end_matches('*'), len + 1)),
        Some(b'=') => None,
        _ => Some((codes.strip_suffix('*')?, len)),
    }
}

/// Finds the line of a name, and returns the rest of the line.
fn find(name: &[u8]) -> Option<&'static str> {
    let text = NAMED.as_bytes();
    let (mut from, mut to) = (0, text.len());
    while from < to {
        let middle = from + (to - from) / 2;
        let start = memrchr(b'\n', &text[from..middle]).map_or(from, |lf| from + lf + 1);
        let end = start + memchr(b'\n', &text[start..to])?;
        let blank = start + memchr(b' ', &text[start..end])?;
        match text[start..blank].cmp(name) {
            Ordering::Equal => return Some(&NAMED[blank + 1..end]),
            Ordering::Less => from = end + 1,
            Ordering::Greater => to = start,
        }
    }
    None
}
