//! Finds where a URL in text ends (X2 to X7 and X11 of `tests/conformance/CONTEXT.md`).

use super::bytes::{Class, begins_with_ender, plain_len};

/// How many bytes after "<" its ">" is searched for.
pub(super) const MAX_BRACKETED: usize = 8 << 10;

/// The longest name of a character reference. HTML has none that is longer.
const MAX_REFERENCE: usize = 32;

/// References to characters that end a URL, after the ampersand.
const ENDING_REFERENCES: [&[u8]; 9] =
    [b"lt;", b"gt;", b"quot;", b"apos;", b"nbsp;", b"#34;", b"#39;", b"#x22;", b"#x27;"];

/// Returns where the URL ends that begins at `start`. It contains the bytes up to `body`, whatever they are. The result is
/// `body` if no byte after them belongs to it.
pub(super) fn url_end(text: &[u8], start: usize, body: usize) -> usize {
    let before = start.checked_sub(1).map(|at| text[at]);
    let mut open = [0_u32; 3];
    let mut end = body;
    loop {
        end += plain_len(&text[end..]);
        let Some(&byte) = text.get(end) else { break };
        match Class::of(byte) {
            Class::Ender => break,
            Class::Opening(kind) => open[kind as usize] += 1,
            Class::Closing(kind) => match open[kind as usize].checked_sub(1) {
                Some(fewer) => open[kind as usize] = fewer,
                None => break,
            },
            Class::Apostrophe if before == Some(b'\'') => break,
            Class::Ampersand if begins_with_any(&text[end + 1..], &ENDING_REFERENCES) => break,
            Class::NotAscii if begins_with_ender(&text[end..]) => break,
            Class::Plain | Class::Apostrophe | Class::Ampersand | Class::NotAscii => {}
        }
        end += 1;
    }
    while end > body {
        let n = trailing(&text[body..end], before);
        if n == 0 {
            break;
        }
        end -= n;
    }
    end
}

fn begins_with_any(text: &[u8], names: &[&[u8]]) -> bool {
    names.iter().any(|name| text.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name)))
}

/// How many bytes at the end of `body` are punctuation of the text, one mark or reference at a time (X7). `before` is the byte
/// before the URL.
fn trailing(body: &[u8], before: Option<u8>) -> usize {
    match body.last() {
        Some(b';') => reference_len(body).unwrap_or(1),
        Some(b'?' | b'!' | b'.' | b',' | b':' | b'*' | b'\'' | b'(' | b'[' | b'{') => 1,
        Some(&last @ (b'_' | b'~')) if before == Some(last) => 1,
        _ => 0,
    }
}

/// The length of the character reference at the end of `body`, which ends with ";".
fn reference_len(body: &[u8]) -> Option<usize> {
    let before = &body[..body.len() - 1];
    let is_of_name = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'#';
    let name = before.iter().rev().take(MAX_REFERENCE).take_while(is_of_name).count();
    (name > 0 && before[..before.len() - name].ends_with(b"&")).then_some(name + 2)
}

/// Returns where the ">" is that closes the "<" at `open`, and whether white space is between them. Otherwise only bytes of a URL
/// may be there, and no blank line (X11).
pub(super) fn closing_bracket(text: &[u8], open: usize) -> Option<(usize, bool)> {
    let inside = &text[..text.len().min(open + 1 + MAX_BRACKETED)];
    let (mut end, mut has_white, mut is_line_blank) = (open + 1, false, false);
    loop {
        let plain = plain_len(&inside[end..]);
        end += plain;
        is_line_blank &= plain == 0;
        match *inside.get(end)? {
            b'>' => return Some((end, has_white)),
            b'\n' if is_line_blank => return None,
            b'\n' => (has_white, is_line_blank) = (true, true),
            byte if byte.is_ascii_whitespace() => has_white = true,
            byte if Class::of(byte) == Class::Ender => return None,
            _ => is_line_blank = false,
        }
        end += 1;
    }
}
