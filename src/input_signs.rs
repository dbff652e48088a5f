//! How an input is encoded and terminated: byte order mark, shape of the text, and a missing LF at the end.
//!
//! No cut of an input separates the first two bytes of its first line. So the signs do not depend on how the input is cut.

use serde::{Deserialize, Serialize};

use crate::lines::skip_byte_order_mark;
use crate::text_shape::TextShape;

/// Properties of an input that its lines do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signs {
    /// The input begins with a UTF-8 byte order mark, which is skipped.
    pub byte_order_mark: bool,
    /// The last line of the input does not end in LF.
    pub unterminated: bool,
    /// What the input looks like, if it is read as a list and does not look like one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) shape: Option<TextShape>,
}

impl Signs {
    /// The signs of `bytes`, a part of an input. It begins at `offset`, and ends at the end of a line or of the input.
    pub(crate) fn of(bytes: &[u8], offset: u64) -> Self {
        let body = skip_byte_order_mark(bytes, offset);
        Self {
            byte_order_mark: body.len() < bytes.len(),
            shape: None,
            unterminated: body.last().is_some_and(|&last| last != b'\n'),
        }
    }

    /// Adds the signs of another part of the same input.
    pub(crate) fn merge(&mut self, other: Self) {
        self.byte_order_mark |= other.byte_order_mark;
        self.unterminated |= other.unterminated;
        self.shape = self.shape.or(other.shape);
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
            assert_eq!(
                Signs::of(bytes, 0),
                Signs { byte_order_mark, wide, unterminated, shape: None },
                "{bytes:?}"
            );
            assert_eq!(Signs::of(b"h\0\n", 9), Signs::default(), "not at the start");
        }
    }
}
