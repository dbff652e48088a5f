//! How an input is encoded and terminated: byte order mark, signs of UTF-16, and a missing LF at the end.
//!
//! No cut of an input separates the first two bytes of its first line. So the signs do not depend on how the input is cut.

use serde::{Deserialize, Serialize};

use crate::lines::skip_byte_order_mark;

/// Properties of an input that its lines do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signs {
    /// The input begins with a UTF-8 byte order mark, which is skipped.
    pub byte_order_mark: bool,
    /// The input looks like UTF-16 or UTF-32. Exactly one of the first two bytes of its first line is zero, or both are a
    /// UTF-16 byte order mark.
    pub wide: bool,
    /// The last line of the input does not end in LF.
    pub unterminated: bool,
}

impl Signs {
    /// The signs of `bytes`, a part of an input. It begins at `offset`, and ends at the end of a line or of the input.
    pub(crate) fn of(bytes: &[u8], offset: u64) -> Self {
        let body = skip_byte_order_mark(bytes, offset);
        Self {
            byte_order_mark: body.len() < bytes.len(),
            wide: offset == 0 && Self::are_wide(bytes),
            unterminated: body.last().is_some_and(|&last| last != b'\n'),
        }
    }

    /// Returns whether an input looks like UTF-16. `line` is its first line; the terminator and later lines may follow.
    pub(crate) fn are_wide(line: &[u8]) -> bool {
        let Some(first) = line.first_chunk::<2>() else { return false };
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
        matches!(first, [0xff, 0xfe] | [0xfe, 0xff])
            || (!first.iter().any(ends) && (first[0] == 0) != (first[1] == 0))
    }

    /// Adds the signs of another part of the same input.
    pub(crate) fn merge(&mut self, other: Self) {
        self.byte_order_mark |= other.byte_order_mark;
        self.wide |= other.wide;
        self.unterminated |= other.unterminated;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_first_bytes_and_the_last() {
        for (bytes, byte_order_mark, wide, unterminated) in [
            (&b""[..], false, false, false),
            (b"\n", false, false, false),
            (b"a", false, false, true),
            (b"a\r", false, false, true),
            (b"\xef\xbb\xbf", true, false, false),
            (b"\xef\xbb\xbfa", true, false, true),
            (b"\xff\xfeh\0\n", false, true, false),
            (b"\xfe\xff\0h\n", false, true, false),
            (b"h\0\n", false, true, false),
            (b"\0h\n", false, true, false),
            (b"\0\0\n", false, false, false),
            (b"\0\n", false, false, false),
            (b"\n\0", false, false, true),
            (b"\0\r\n", false, false, false),
        ] {
            assert_eq!(Signs::of(bytes, 0), Signs { byte_order_mark, wide, unterminated }, "{bytes:?}");
            assert_eq!(Signs::of(b"h\0\n", 9), Signs::default(), "not at the start");
        }
    }
}
