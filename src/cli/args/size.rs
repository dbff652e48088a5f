//! Parses numbers of bytes.

/// Parses a number of bytes with an optional suffix: K, M or G for 2^10, 2^20 or 2^30 bytes.
pub(crate) fn count(text: &str) -> Option<u64> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 10),
        Some(b'm' | b'M') => (&text[..text.len() - 1], 20),
        Some(b'g' | b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|_| !digits.starts_with('+'))?;
    number.checked_mul(1 << shift)
}

/// Parses a number of bytes above 0.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bytes = count(text).filter(|&bytes| bytes > 0);
    bytes.ok_or_else(|| "expected a number of bytes, such as 100000, 64M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(size("1"), Ok(1));
        assert_eq!(size("64k"), Ok(65_536));
        assert_eq!(size("3M"), Ok(3 << 20));
        assert_eq!(size("2G"), Ok(2 << 30));
        for wrong in
            ["", "0", "M", "-1", "+1", "1.5G", "1T", "99999999999999999999", "99999999999999G", "1\u{e9}"]
        {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(count("0"), Some(0));
    }
}
