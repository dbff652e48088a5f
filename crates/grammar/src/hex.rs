//! Reads the hexadecimal digits of escapes.

/// The value of a hexadecimal digit, in upper or lower case.
pub fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// The byte that the two hexadecimal digits at the start of `text` name.
pub fn hex_byte(text: &[u8]) -> Option<u8> {
    let [high, low, ..] = *text else { return None };
    Some(hex_digit(high)? << 4 | hex_digit(low)?)
}

/// The *percent-encoded byte* that `text` begins with.
pub(crate) fn escaped_byte(text: &[u8]) -> Option<u8> {
    hex_byte(text.strip_prefix(b"%")?)
}
