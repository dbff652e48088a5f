//! Converts bytes of the data to text that is safe in a terminal, a table and a JSON string. This file knows no URL.

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

/// Makes the name of a file, or a sentence that contains one, safe to print.
///
/// Printable characters of any script stay. Control characters, characters that change the direction of text, and bytes that are
/// not UTF-8 become `\xHH`.
#[must_use]
pub fn printable(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let turns =
                matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            if c.is_control() || turns { push(&mut out, c.to_string().as_bytes()) } else { out.push(c) }
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
    fn secrets() {
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
