//! The code points that a URL may have (section 4.3), and the sets of those that are percent-encoded (section 1.3).
//!
//! All sets contain every code point above U+007E, so that a table of bytes decides.

use crate::hex::escaped_byte;

/// A set of code points to percent-encode, as a bit in [`CLASSES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum EncodeSet {
    C0Control = 1,
    Fragment = 2,
    Query = 4,
    SpecialQuery = 8,
    Path = 16,
    Userinfo = 32,
}

/// The bit of bytes that are no URL code points, or that need a second look: "%", and what begins a code point beyond ASCII.
const UNIT_TO_CHECK: u8 = 64;

/// For each byte, the sets that it is in.
static CLASSES: [u8; 256] = classes();

const fn contains(set: &[u8], byte: u8) -> bool {
    let mut n = 0;
    while n < set.len() {
        if set[n] == byte {
            return true;
        }
        n += 1;
    }
    false
}

const fn classes() -> [u8; 256] {
    let mut classes = [0; 256];
    let mut n = 0;
    while n < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "n is below 256")]
        let byte = n as u8;
        let c0_control = byte <= 0x1F || byte > 0x7E;
        let fragment = c0_control || contains(b" \"<>`", byte);
        let query = c0_control || contains(b" \"#<>", byte);
        let special_query = query || byte == b'\'';
        let path = query || contains(b"?^`{}", byte);
        let userinfo = path || contains(b"/:;=@[\\]|", byte);
        let is_unit = byte.is_ascii_alphanumeric() || contains(b"!$&'()*+,-./:;=?@_~", byte);
        classes[n] = c0_control as u8 * EncodeSet::C0Control as u8
            + fragment as u8 * EncodeSet::Fragment as u8
            + query as u8 * EncodeSet::Query as u8
            + special_query as u8 * EncodeSet::SpecialQuery as u8
            + path as u8 * EncodeSet::Path as u8
            + userinfo as u8 * EncodeSet::Userinfo as u8
            + !is_unit as u8 * UNIT_TO_CHECK;
        n += 1;
    }
    classes
}

impl EncodeSet {
    fn contains(self, byte: u8) -> bool {
        CLASSES[usize::from(byte)] & self as u8 != 0
    }

    /// How many bytes `text` begins with that are URL units in ASCII, outside of the set. Nearly all URLs consist of these.
    pub(super) fn plain_len(self, text: &[u8]) -> usize {
        let mask = self as u8 | UNIT_TO_CHECK;
        let mut len = 0;
        while let Some(found) = text[len..].iter().position(|&byte| CLASSES[usize::from(byte)] & mask != 0) {
            len += found;
            if escaped_byte(&text[len..]).is_none() {
                return len;
            }
            len += 3;
        }
        text.len()
    }

    /// Appends `text` to `out`. Code points of the set become their bytes in UTF-8, percent-encoded.
    pub(super) fn encode(self, text: &str, out: &mut String) {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|byte| self.contains(byte)) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let encoded = from.chars().next().map_or(0, char::len_utf8);
            for byte in from.bytes().take(encoded) {
                const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
                let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
                out.extend(['%', digit(byte >> 4), digit(byte & 15)]);
            }
            rest = &from[encoded..];
        }
        out.push_str(rest);
    }
}

/// Whether a character is a URL code point.
fn is_url_code_point(character: char) -> bool {
    let code = u32::from(character);
    let is_noncharacter = matches!(code, 0xFDD0..=0xFDEF) || code & 0xFFFE == 0xFFFE;
    match u8::try_from(code) {
        Ok(byte) if byte.is_ascii() => CLASSES[usize::from(byte)] & UNIT_TO_CHECK == 0,
        _ => code >= 0xA0 && !is_noncharacter,
    }
}

/// The offsets in `text` at which neither a URL code point nor a percent-encoded byte begins (a *URL unit*).
pub(super) fn invalid_units(text: &str) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(found) =
            bytes[from..].iter().position(|&byte| CLASSES[usize::from(byte)] & UNIT_TO_CHECK != 0)
        {
            let at = from + found;
            let character = text[at..].chars().next()?;
            from = at + character.len_utf8();
            let is_unit = if character == '%' {
                escaped_byte(&bytes[at..]).is_some()
            } else {
                is_url_code_point(character)
            };
            if !is_unit {
                return Some(at);
            }
        }
        from = bytes.len();
        None
    })
}

/// Undoes the escapes in `text`. A "%" that begins no escape stays.
pub(crate) fn percent_decode(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = escaped_byte(&bytes[at..]);
        decoded.push(escaped.unwrap_or(byte));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

/// Whether a host whose scheme is not special may not contain this byte (a *forbidden host code point*).
pub(super) const fn is_forbidden_in_host(byte: u8) -> bool {
    contains(b"\0\t\n\r #/:<>?@[\\]^|", byte)
}

/// Whether a domain may not contain this byte (a *forbidden domain code point*).
pub(crate) const fn is_forbidden_in_domain(byte: u8) -> bool {
    is_forbidden_in_host(byte) || byte.is_ascii_control() || byte == b'%'
}
