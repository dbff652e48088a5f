//! How an input is written: what is to be known of it beside its lines, by its first two bytes and its last.
//!
//! The first two bytes of the first line are in one piece however an input is cut, so that no cut changes what is seen.

use serde::{Deserialize, Serialize};

use crate::lines::skip_byte_order_mark;

/// What is to be known of how an input is written, beside its lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signs {
    /// It begins with a UTF-8 byte order mark, which is skipped.
    pub byte_order_mark: bool,
    /// It looks like UTF-16 (or 32): one of the first two bytes of its first line is zero, or both are the byte order mark of that.
    pub wide: bool,
    /// Its last line does not end in LF.
    pub unterminated: bool,
}

impl Signs {
    /// Those of a part of an input that begins at `offset`, and ends where a line or the input ends.
    pub(crate) fn of(bytes: &[u8], offset: u64) -> Self {
        let body = skip_byte_order_mark(bytes, offset);
        Self {
            byte_order_mark: body.len() < bytes.len(),
            wide: offset == 0 && Self::are_wide(bytes),
            unterminated: body.last().is_some_and(|&last| last != b'\n'),
        }
    }

    /// Whether a line looks like UTF-16, by what an input begins with; its terminator may stand behind it.
    pub(crate) fn are_wide(line: &[u8]) -> bool {
        let Some(first) = line.first_chunk::<2>() else { return false };
        let ends = |byte: &u8| matches!(byte, b'\n' | b'\r');
        matches!(first, [0xff, 0xfe] | [0xfe, 0xff])
            || (!first.iter().any(ends) && (first[0] == 0) != (first[1] == 0))
    }

    /// Those of both of two parts.
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
