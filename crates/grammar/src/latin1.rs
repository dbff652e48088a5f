//! Bytes as text that can be converted back. Each byte becomes the character with its number, U+0000 to U+00FF; ASCII is unchanged.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub fn text_of(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Converts text back to bytes; `None` if it has a character above U+00FF.
pub fn bytes_of(text: &str) -> Option<Box<[u8]>> {
    text.chars().map(|character| u8::try_from(character).ok()).collect()
}

/// Serialises bytes as text; used by serde's `with`.
pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&text_of(bytes))
}

/// Deserialises bytes from text; used by serde's `with`.
pub fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Box<[u8]>, D::Error> {
    let text = String::deserialize(from)?;
    bytes_of(&text).ok_or_else(|| D::Error::custom("a character above U+00FF stands for no byte"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(bytes_of(&text_of(&all)).as_deref(), Some(&*all));
        assert_eq!((text_of(b"http://a/"), bytes_of("\u{100}")), ("http://a/".to_owned(), None));
    }
}
