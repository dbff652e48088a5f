//! Converts bytes of the data to text that is safe in a terminal, a table and a JSON string. This file knows no URL.

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// Appends `bytes` to `out`: printable ASCII unchanged, a backslash doubled, every other byte as `\xHH`.
///
/// The text can be converted back to the bytes. Nothing in it moves a cursor or changes the colour or direction of text.
pub fn push(out: &mut String, bytes: &[u8]) {
    // Most lines are printable, so 16 bytes are tested at once, without a branch for each byte.
    const CHUNK: usize = 16;
    let is_plain = |byte: u8| matches!(byte, b' '..=b'[' | b']'..=b'~');
    let all_plain = |chunk: &&[u8]| chunk.iter().fold(true, |all, &byte| all & is_plain(byte));
    let mut rest = bytes;
    while !rest.is_empty() {
        let n_plain = rest.chunks(CHUNK).take_while(all_plain).count() * CHUNK;
        let (plain, others) = rest.split_at(n_plain.min(rest.len()));
        out.push_str(&String::from_utf8_lossy(plain));
        let (others, behind) = others.split_at(CHUNK.min(others.len()));
        for &byte in others {
            push_byte(out, byte);
        }
        rest = behind;
    }
}

fn push_byte(out: &mut String, byte: u8) {
    match byte {
        b'\\' => out.push_str("\\\\"),
        b' '..=b'~' => out.push(char::from(byte)),
        _ => {
            let _ = write!(out, "\\x{byte:02x}");
        }
    }
}

/// The characters that [`push_text`] leaves as they are. Backslashes and control characters are never among them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Printable ASCII, for terminals that do not show UTF-8.
    Ascii,
    /// Characters of any script that a terminal shows in their place.
    Visible,
    /// All others too, for programs.
    All,
}

impl Keep {
    fn keeps(self, c: char) -> bool {
        match self {
            Self::Ascii => c.is_ascii(),
            Self::Visible => !is_hidden(c),
            Self::All => true,
        }
    }
}

/// Appends `bytes` to `out` like [`push`], but leaves the characters that `keep` says. Bytes that are not UTF-8 become
/// `\xHH`. The text can be converted back to the bytes.
pub fn push_text(out: &mut String, bytes: &[u8], keep: Keep) {
    if bytes.is_ascii() {
        return push(out, bytes);
    }
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c == '\\' || c.is_control() || !keep.keeps(c) {
                push(out, c.encode_utf8(&mut [0; 4]).as_bytes());
            } else {
                out.push(c);
            }
        }
        push(out, chunk.invalid());
    }
}

/// Returns whether a character changes the direction of text, breaks lines, or is not seen at all.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
            | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
    )
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

/// Makes the name of a file, or a sentence that contains one, safe to print.
///
/// Printable characters of any script stay. Control characters, characters that change the direction of text or are invisible, and
/// bytes that are not UTF-8 become `\xHH`.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() || is_hidden(c) {
                push(&mut out, c.to_string().as_bytes());
            } else {
                out.push(c);
            }
        }
        push(&mut out, chunk.invalid());
    }
    out
}

/// The text that replaces a password.
pub const MASK: &str = "***";

/// Escapes `bytes` like [`push`], and replaces each range of `secrets` by [`MASK`]. The ranges ascend and do not overlap.
#[must_use]
pub fn masked(bytes: &[u8], secrets: &[Range<usize>]) -> String {
    marked(bytes, usize::MAX, secrets).0
}

/// Returns the text of [`masked`], and the start and end of the byte at `at` in it. The end is exclusive.
///
/// If there is no such byte, start and end are the length of the text. If the byte is masked, they are those of its mask.
#[must_use]
pub fn marked(bytes: &[u8], at: usize, secrets: &[Range<usize>]) -> (String, [usize; 2]) {
    let mut out = String::with_capacity(bytes.len());
    let mut mark = None;
    let mut shown = 0;
    let none = bytes.len()..bytes.len();
    for secret in secrets.iter().chain([&none]) {
        let secret = secret.start.clamp(shown, bytes.len())..secret.end.clamp(shown, bytes.len());
        let plain = &bytes[shown..secret.start];
        if at >= shown && at < secret.start {
            push(&mut out, &plain[..at - shown]);
            let start = out.len();
            push(&mut out, &plain[at - shown..=at - shown]);
            mark = Some([start, out.len()]);
            push(&mut out, &plain[at - shown + 1..]);
        } else {
            push(&mut out, plain);
        }
        if !secret.is_empty() {
            let start = out.len();
            out.push_str(MASK);
            if secret.contains(&at) {
                mark = Some([start, out.len()]);
            }
        }
        shown = secret.end;
    }
    let end = out.len();
    (out, mark.unwrap_or([end, end]))
}

/// Returns the part of an escaped `text` to show in `width` characters. It includes `mark` and cuts through no escape. To include
/// `mark`, it can be longer than `width`.
#[must_use]
pub fn window(text: &str, mark: [usize; 2], width: usize) -> Range<usize> {
    if text.len() <= width {
        return 0..text.len();
    }
    let from = mark[0].saturating_sub(width / 2).min(text.len() - width);
    let mut ends = Vec::new();
    let mut at = 0;
    while at < text.len() {
        ends.push(at);
        at += match text.as_bytes()[at..] {
            [b'\\', b'x', ..] => 4,
            [b'\\', ..] => 2,
            _ => 1,
        };
    }
    ends.push(text.len());
    let start = ends.iter().copied().find(|&end| end >= from).unwrap_or(0).min(mark[0]);
    let end = ends.iter().rev().copied().find(|&end| end <= start + width).unwrap_or(text.len());
    start..end.max(mark[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_raw_comes_out() {
        let all: Vec<u8> = (0..=255).collect();
        let out = masked(&all, &[]);
        assert!(out.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(out.starts_with("\\x00\\x01") && out.contains("[\\\\]") && out.ends_with("\\xff"));
    }

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
            let mut out = String::new();
            push_text(&mut out, &bytes, keep);
            assert_eq!(out, expected, "{keep:?}");
        }
    }

    #[test]
    fn secrets() {
        assert_eq!(mask(b"a:b@c:d@e", vec![6..7, 2..3, 2..2]), &b"a:***@c:***@e"[..]);
        assert_eq!(mask(b"abcdef", vec![1..3, 2..4, 1..2]), &b"a***ef"[..]);
        assert_eq!(masked(b"a:b@c", &[2..3]), "a:***@c");
        assert_eq!(masked(b"a:b@c:d@e", &[2..3, 6..7]), "a:***@c:***@e");
        assert_eq!(masked(b"abc", &[1..9]), "a***");
    }

    #[test]
    fn marks() {
        assert_eq!(marked(b"a\x01b", 1, &[]), ("a\\x01b".to_owned(), [1, 5]));
        assert_eq!(marked(b"ab", 2, &[]), ("ab".to_owned(), [2, 2]));
        assert_eq!(marked(b"a:bcd@e", 3, &[2..5]), ("a:***@e".to_owned(), [2, 5]));
        assert_eq!(marked(b"a:bcd@e", 6, &[2..5]), ("a:***@e".to_owned(), [6, 7]));
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
    }
}
