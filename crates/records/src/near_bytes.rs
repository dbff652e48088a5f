//! Finds a byte that is usually near, eight bytes at a time. A search with vectors would take longer to start.

use memchr::memchr;

const ONES: u64 = u64::MAX / 255;

/// How many bytes are searched this way, before `memchr` searches the rest.
const NEAR: usize = 32;

/// The position of the first `byte`.
#[inline(always)]
pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    let (near, _) = bytes[..bytes.len().min(NEAR)].as_chunks();
    for (n, eight) in near.iter().enumerate() {
        let differs = u64::from_le_bytes(*eight) ^ (ONES * u64::from(byte));
        // The highest bit of the first byte that is zero, and possibly of bytes after it: the lowest such byte borrows first
        // (Hacker's Delight, section 6-1).
        let found = differs.wrapping_sub(ONES) & !differs & (ONES << 7);
        if found != 0 {
            return Some(8 * n + found.trailing_zeros() as usize / 8);
        }
    }
    let at = 8 * near.len();
    memchr(byte, &bytes[at..]).map(|found| at + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_places_and_neighbours() {
        for len in 0..50 {
            for at in 0..=len {
                for around in [b'"' - 1, b'"' + 1, b'"' ^ 0x80, 0, 0xff] {
                    let mut bytes = vec![around; len];
                    bytes[at..].fill(b'"');
                    assert_eq!(find(b'"', &bytes), (at < len).then_some(at), "{bytes:?}");
                }
            }
        }
    }
}
