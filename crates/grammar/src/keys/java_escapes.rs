//! Escapes as the key maker of web archives undoes and writes them (KEYS K20 to K22).

use std::borrow::Cow;

use crate::hex::escaped_byte;

/// Undoes escapes until none is left that can be undone: `%2541` gives `A`. Escapes of bytes that are not UTF-8 stay.
///
/// The key maker repeats passes over the whole text. Here each escape is undone as soon as its last digit is there, which may
/// complete an escape that began before it. The result is the same, because no two escapes share a byte, so that their order does not
/// matter. The cost is linear.
pub(super) fn unescape(text: &str) -> Cow<'_, str> {
    if !text.contains('%') {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        plain.push(character);
        while undo_last_escape(&mut plain) {}
    }
    Cow::Owned(plain)
}

/// Replaces the escape at the end of `text`, or the escapes that are a character there. Returns whether there was one.
fn undo_last_escape(text: &mut String) -> bool {
    let mut bytes = [0; 4];
    for n in 1..=bytes.len() {
        let escape = text.len().checked_sub(3 * n).map(|at| &text.as_bytes()[at..]);
        let Some(byte) = escape.and_then(escaped_byte) else { return false };
        bytes[bytes.len() - n] = byte;
        // The byte that begins a character. The escapes after it are its other bytes, if they make one character.
        if !(0x80..0xc0).contains(&byte) {
            let character = str::from_utf8(&bytes[bytes.len() - n..]).ok().map(str::chars);
            let Some((Some(character), None)) = character.map(|mut all| (all.next(), all.next())) else {
                return false;
            };
            text.truncate(text.len() - 3 * n);
            text.push(character);
            return true;
        }
    }
    false
}

/// Appends a result of [`unescape`]. Escapes replace "#", blanks and the controls below them, bytes beyond ASCII, and a "%" that begins no
/// escape. ASCII letters become lower-case, those of escapes too.
pub(super) fn push_escaped(out: &mut Vec<u8>, text: &str) {
    let digit = |n: u8| b"0123456789abcdef"[usize::from(n)];
    for (at, &byte) in text.as_bytes().iter().enumerate() {
        match byte {
            b'%' if escaped_byte(&text.as_bytes()[at..]).is_some() => out.push(byte),
            0..=b' ' | b'#' | b'%' | 0x80.. => out.extend([b'%', digit(byte >> 4), digit(byte & 15)]),
            _ => out.push(byte.to_ascii_lowercase()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One pass of the key maker: every escape of ASCII, and every run of escapes that is a character.
    fn one_pass(text: &str) -> String {
        let (bytes, mut out, mut at) = (text.as_bytes(), String::new(), 0);
        while let Some(character) = text[at..].chars().next() {
            let run = bytes[at..].chunks_exact(3).map_while(escaped_byte).take(4).collect::<Vec<u8>>();
            let found =
                (1..=run.len()).find_map(|n| Some((n, str::from_utf8(&run[..n]).ok()?.chars().next()?)));
            let (len, character) = found.map_or((character.len_utf8(), character), |(n, c)| (3 * n, c));
            out.push(character);
            at += len;
        }
        out
    }

    #[test]
    fn passes_end_in_the_same_text() {
        let pieces = [
            "%", "25", "2", "5", "%41", "4", "1", "%c3", "%A9", "C3", "a9", "%e2%82", "%ac", "é", "%f0%9f",
            "%98%80", "z",
        ];
        let mut random = crate::random::Random::new(1);
        for _ in 0..20_000 {
            let text: String = (0..random.below(12)).map(|_| pieces[random.below(pieces.len())]).collect();
            let mut last = text.clone();
            loop {
                let next = one_pass(&last);
                if next == last {
                    break;
                }
                last = next;
            }
            assert_eq!(unescape(&text), last, "{text}");
        }
    }
}
