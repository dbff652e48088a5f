//! Converts bytes of the data to text that is safe in a terminal, a table and a JSON string. This file knows no URL.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use crate::at_once;

#[cfg(feature = "scan")]
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Appends `bytes` to `out`: printable ASCII unchanged, a backslash doubled, every other byte as `\xHH`.
///
/// The text can be converted back to the bytes. Nothing in it moves a cursor or changes the colour or direction of text.
pub fn push(out: &mut String, bytes: &[u8]) {
    const CHUNK: usize = 16;
    let mut rest = bytes;
    while !rest.is_empty() {
        let n_plain = rest.chunks(CHUNK).take_while(|chunk| is_plain(chunk)).count() * CHUNK;
        let (plain, others) = rest.split_at(n_plain.min(rest.len()));
        out.push_str(str::from_utf8(plain).expect("plain bytes are ASCII"));
        let (others, behind) = others.split_at(CHUNK.min(others.len()));
        for &byte in others {
            match byte {
                b'\\' => out.push_str("\\\\"),
                b' '..=b'~' => out.push(char::from(byte)),
                _ => drop(write!(out, "\\x{byte:02x}")),
            }
        }
        rest = behind;
    }
}

/// Whether no byte needs an escape: all are printable ASCII, and none is a backslash.
#[must_use]
#[inline]
pub fn is_plain(bytes: &[u8]) -> bool {
    at_once::all(bytes, |byte| matches!(byte, b' '..=b'[' | b']'..=b'~'))
}

/// The characters that [`text`] leaves as they are. Backslashes and control characters are never among them.
#[cfg(feature = "scan")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Printable ASCII, for terminals that do not show UTF-8.
    Ascii,
    /// Characters of any script that a terminal shows in their place (`is_visible`).
    Visible,
    /// All others too, for programs.
    All,
}

/// Appends [`text`] to `out`.
#[cfg(feature = "scan")]
#[inline]
pub fn push_text(out: &mut Vec<u8>, bytes: &[u8], keep: Keep) {
    if is_plain(bytes) {
        out.extend_from_slice(bytes);
    } else {
        out.extend_from_slice(text(bytes, keep).as_bytes());
    }
}

/// Makes a sentence safe to print, which may contain text from elsewhere.
///
/// Visible characters of any script stay. Bytes that are not UTF-8, and characters that are not visible (`is_visible`), become
/// `\xHH`.
#[cfg(feature = "scan")]
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    push_chars(&mut out, bytes, is_visible);
    out
}

/// The bytes as [`push`] writes them, but with the characters that `keep` says. Bytes that are not UTF-8 become `\xHH`. The text can be
/// converted back to the bytes.
#[cfg(feature = "scan")]
#[must_use]
pub fn text(bytes: &[u8], keep: Keep) -> String {
    let mut out = String::with_capacity(bytes.len());
    push_chars(&mut out, bytes, |c| match keep {
        Keep::Ascii => c.is_ascii_graphic() && c != '\\' || c == ' ',
        Keep::Visible => c != '\\' && is_visible(c),
        Keep::All => c != '\\' && !c.is_control(),
    });
    out
}

/// A text as a POSIX shell takes it for one word.
#[cfg(feature = "scan")]
#[must_use]
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

/// Appends the characters that `stays` names as they are. Other characters and bytes are appended by [`push`].
#[cfg(feature = "scan")]
fn push_chars(out: &mut String, bytes: &[u8], stays: impl Fn(char) -> bool) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if stays(c) {
                out.push(c);
            } else {
                push(out, c.encode_utf8(&mut [0; 4]).as_bytes());
            }
        }
        push(out, chunk.invalid());
    }
}

/// Returns whether a character can be printed as it is. It is assigned, has a glyph or is a space of ASCII, and does not control
/// a terminal, lines, or the direction of text.
#[cfg(feature = "scan")]
fn is_visible(c: char) -> bool {
    use GeneralCategory::{
        Control, Format, LineSeparator, ParagraphSeparator, PrivateUse, SpaceSeparator, Surrogate, Unassigned,
    };
    // Characters of other categories that Unicode calls Default_Ignorable_Code_Point, and the blank of Braille.
    let is_blank = matches!(c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{ffa0}' | '\u{e0100}'..='\u{e01ef}');
    let has_no_glyph = matches!(
        c.general_category(),
        Control
            | Format
            | LineSeparator
            | ParagraphSeparator
            | PrivateUse
            | SpaceSeparator
            | Surrogate
            | Unassigned
    );
    (b' '..=b'~').contains(&u8::try_from(c).unwrap_or(0)) || !is_blank && !has_no_glyph
}

/// Returns `bytes` with [`MASK`] in the place of each range of `secrets`. Ranges that overlap become one.
#[must_use]
pub fn mask(bytes: &[u8], mut secrets: Vec<Range<usize>>) -> Cow<'_, [u8]> {
    secrets.retain(|secret| !secret.is_empty());
    if secrets.is_empty() {
        return bytes.into();
    }
    secrets.sort_unstable_by_key(|secret| secret.start);
    let mut out = Vec::with_capacity(bytes.len());
    let mut shown = 0;
    for secret in secrets {
        if secret.start >= shown {
            out.extend(&bytes[shown..secret.start]);
            out.extend(MASK.as_bytes());
        }
        shown = shown.max(secret.end);
    }
    out.extend(&bytes[shown..]);
    out.into()
}

/// Escapes the characters of a JSON document that are not printable ASCII. They can only be in strings.
#[cfg(feature = "scan")]
#[must_use]
pub fn ascii_json(document: &str) -> String {
    json_with(document, |c| (' '..='~').contains(&c))
}

/// Escapes the characters of a JSON document that are not visible (`is_visible`). Line ends between its values stay.
#[cfg(feature = "scan")]
#[must_use]
pub fn visible_json(document: &str) -> String {
    json_with(document, |c| c == '\n' || is_visible(c))
}

#[cfg(feature = "scan")]
fn json_with(document: &str, stays: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(document.len());
    for c in document.chars() {
        if stays(c) {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    }
    out
}

/// The range of the character that contains the byte at `at`, or of that byte if it is in no UTF-8 character. If there is no
/// such byte, an empty range at the end.
#[cfg(feature = "scan")]
#[must_use]
pub fn character(bytes: &[u8], at: usize) -> Range<usize> {
    let mut start = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let end = start + c.len_utf8();
            if at < end {
                return start..end;
            }
            start = end;
        }
        if at < start + chunk.invalid().len() {
            return at..at + 1;
        }
        start += chunk.invalid().len();
    }
    bytes.len()..bytes.len()
}

/// The text that replaces a password.
pub const MASK: &str = "***";

/// Returns the part of a text from [`text`] to show in `width` characters. It includes `mark` and cuts through no escape. To
/// include `mark`, it can be longer than `width`.
#[must_use]
pub fn window(text: &str, mark: [usize; 2], width: usize) -> Range<usize> {
    // The offset and the number of characters before each place where the text can be cut.
    let mut ends = Vec::new();
    let (mut at, mut column) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        ends.push((at, column));
        let len = match &text.as_bytes()[at..] {
            [b'\\', b'x', _, _, ..] => 4,
            [b'\\', b'\\', ..] => 2,
            _ => c.len_utf8(),
        };
        at += len;
        column += if c == '\\' { len } else { 1 };
    }
    ends.push((at, column));
    if column <= width {
        return 0..text.len();
    }
    let marked = ends.iter().rev().find(|&&(end, _)| end <= mark[0]).map_or(0, |&(_, column)| column);
    let from = marked.saturating_sub(width / 2).min(column - width);
    let &(start, from) =
        ends.iter().find(|&&(end, column)| column >= from || end >= mark[0]).unwrap_or(&(0, 0));
    let end = ends.iter().rev().find(|&&(_, column)| column <= from + width).map_or(at, |&(end, _)| end);
    start..end.max(mark[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_raw_comes_out() {
        let all: Vec<u8> = (0..=255).collect();
        let mut out = String::new();
        push(&mut out, &all);
        assert!(out.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(out.starts_with("\\x00\\x01") && out.contains("[\\\\]") && out.ends_with("\\xff"));
    }

    #[cfg(feature = "scan")]
    #[test]
    fn visible_characters_stay() {
        assert_eq!(
            printable("a\\ \u{e9}\u{4e2d}e\u{301}\u{1f600}".as_bytes()),
            "a\\ \u{e9}\u{4e2d}e\u{301}\u{1f600}"
        );
        let hidden = "\0\x7f\u{85}\u{a0}\u{ad}\u{34f}\u{61c}\u{115f}\u{180e}\u{200b}\u{200d}\u{200e}\u{2028}\u{2029}\u{202e}\u{2066}\
                      \u{206a}\u{206f}\u{3000}\u{3164}\u{e000}\u{feff}\u{fe0f}\u{fff9}\u{fffe}\u{378}\u{e0041}\u{e0100}";
        for c in hidden.chars() {
            assert!(printable(c.to_string().as_bytes()).starts_with("\\x"), "{c:?}");
        }
    }

    #[cfg(feature = "scan")]
    #[test]
    fn words_of_a_shell() {
        for (text, word) in
            [("a/b.c", "a/b.c"), ("", "''"), ("a b", "'a b'"), ("it's", r"'it'\''s'"), ("~", "'~'")]
        {
            assert_eq!(shell_word(text), word);
        }
    }

    #[cfg(feature = "scan")]
    #[test]
    fn characters_contain_their_bytes() {
        let line = b"a\xc3\xa9b\xff\xe2\x82";
        let found: Vec<_> = (0..=line.len()).map(|at| character(line, at)).collect();
        assert_eq!(found, [0..1, 1..3, 1..3, 3..4, 4..5, 5..6, 6..7, 7..7]);
    }

    #[cfg(feature = "scan")]
    #[test]
    fn text_keeps_what_is_wanted_and_can_be_converted_back() {
        let bytes = "\\a\u{e9}\u{202e}\u{200b}\u{2028}\u{85}\u{7f}\t".as_bytes();
        let bytes = [bytes, b"\xff\xc3"].concat();
        for (keep, expected) in [
            (Keep::Ascii, r"\\a\xc3\xa9\xe2\x80\xae\xe2\x80\x8b\xe2\x80\xa8\xc2\x85\x7f\x09\xff\xc3"),
            (
                Keep::Visible,
                "\\\\a\u{e9}\\xe2\\x80\\xae\\xe2\\x80\\x8b\\xe2\\x80\\xa8\\xc2\\x85\\x7f\\x09\\xff\\xc3",
            ),
            (Keep::All, "\\\\a\u{e9}\u{202e}\u{200b}\u{2028}\\xc2\\x85\\x7f\\x09\\xff\\xc3"),
        ] {
            assert_eq!(text(&bytes, keep), expected, "{keep:?}");
        }
    }

    #[test]
    fn secrets() {
        assert_eq!(mask(b"a:b@c:d@e", vec![6..7, 2..3, 2..2]), &b"a:***@c:***@e"[..]);
        assert_eq!(mask(b"abcdef", vec![1..3, 2..4, 1..2]), &b"a***ef"[..]);
    }

    #[test]
    fn windows_cut_between_bytes() {
        let text = "\\x00".repeat(50);
        for start in (0..200).step_by(4) {
            let window = window(&text, [start, start + 4], 21);
            assert!(
                [window.start, window.end].iter().all(|place| place.is_multiple_of(4)) && window.len() <= 24
            );
            assert!(window.start <= start && start + 4 <= window.end);
        }
        assert_eq!(window("abc", [3, 3], 10), 0..3);
        let wide = "\u{e9}".repeat(30);
        assert_eq!(window(&wide, [20, 22], 10), 10..30);
    }
}
