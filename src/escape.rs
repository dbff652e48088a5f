//! Bytes of the data as text that a terminal, a table and a JSON string can hold.

use std::fmt::Write;
use std::ops::Range;

/// Appends `bytes` to `out`: printable ASCII as it is, a backslash doubled, every other byte as `\xHH`.
///
/// The bytes can be read back from it, and nothing in it moves a cursor, changes a colour or turns the direction of text.
pub fn push(out: &mut String, bytes: &[u8]) {
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b' '..=b'~' => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
}

/// What stands for a password.
pub const MASK: &str = "***";

/// `bytes` as [`push`] writes them, those in `secret` replaced by [`MASK`].
#[must_use]
pub fn masked(bytes: &[u8], secret: Option<&Range<usize>>) -> String {
    let mut out = String::with_capacity(bytes.len());
    push_masked(&mut out, bytes, secret);
    out
}

/// Appends what [`masked`] gives.
pub fn push_masked(out: &mut String, bytes: &[u8], secret: Option<&Range<usize>>) {
    match secret {
        Some(secret) => {
            push(out, &bytes[..secret.start]);
            out.push_str(MASK);
            push(out, &bytes[secret.end..]);
        }
        None => push(out, bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_raw_comes_out() {
        let all: Vec<u8> = (0..=255).collect();
        let out = masked(&all, None);
        assert!(out.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
        assert!(out.starts_with("\\x00\\x01") && out.contains("[\\\\]") && out.ends_with("\\xff"));
    }

    #[test]
    fn secrets() {
        assert_eq!(masked(b"a:b@c", Some(&(2..3))), "a:***@c");
    }
}
