//! How an input is encoded and terminated: byte order mark, shape of the text, a missing LF at the end, rows without a value.

use serde::{Deserialize, Serialize};

use crate::looks::Looks;
use urlsift_engine::lines::skip_byte_order_mark;

/// Properties of an input that its lines do not show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Signs {
    /// The input begins with a UTF-8 byte order mark, which is skipped.
    pub byte_order_mark: bool,
    /// The input is UTF-16 and was decoded. All places are those in its UTF-8 text.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub utf16: bool,
    /// The last line of the input does not end in LF.
    pub unterminated: bool,
    /// What the input looks like, if it is read as a list and does not look like one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub looks: Option<Looks>,
    /// What is known of the rows, if the input is a column of a table in memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<ColumnSigns>,
}

/// Properties of a column of a table in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ColumnSigns {
    /// Rows without a value. Nothing else counts them, but they have a row number.
    pub nulls: u64,
    /// Whether the order of the rows is without meaning, so that it must not change a digest.
    pub unordered: bool,
}

impl Signs {
    /// The signs of `bytes`, a part of an input. It begins at `offset`, and ends at the end of a line or of the input.
    pub fn of(bytes: &[u8], offset: u64) -> Self {
        let body = skip_byte_order_mark(bytes, offset);
        Self {
            byte_order_mark: body.len() < bytes.len(),
            utf16: false,
            looks: None,
            column: None,
            unterminated: body.last().is_some_and(|&last| last != b'\n'),
        }
    }

    /// The signs of a text that is read as a list.
    pub fn of_text(utf16: bool, looks: Option<Looks>) -> Self {
        Self { utf16, looks, ..Self::default() }
    }

    /// The signs of a column of a table in memory.
    pub fn of_column(nulls: u64, unordered: bool) -> Self {
        Self { column: Some(ColumnSigns { nulls, unordered }), ..Self::default() }
    }

    /// Adds the signs of another part of the same input.
    pub fn merge(&mut self, other: Self) {
        self.byte_order_mark |= other.byte_order_mark;
        self.utf16 |= other.utf16;
        self.unterminated |= other.unterminated;
        self.looks = self.looks.or(other.looks);
        self.column = match (self.column, other.column) {
            (Some(own), Some(other)) => Some(ColumnSigns {
                nulls: own.nulls.saturating_add(other.nulls),
                unordered: own.unordered | other.unordered,
            }),
            (own, other) => own.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_the_first_bytes_and_the_last() {
        for (bytes, byte_order_mark, unterminated) in [
            (&b""[..], false, false),
            (b"\n", false, false),
            (b"a", false, true),
            (b"a\r", false, true),
            (b"\xef\xbb\xbf", true, false),
            (b"\xef\xbb\xbfa", true, true),
            (b"\n\0", false, true),
            (b"\0\r\n", false, false),
        ] {
            let signs = Signs { byte_order_mark, unterminated, ..Signs::default() };
            assert_eq!(Signs::of(bytes, 0), signs, "{bytes:?}");
            assert_eq!(Signs::of(b"h\n", 9), Signs::default(), "not at the start");
        }
    }
}
