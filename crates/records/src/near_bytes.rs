//! Finds a byte that is usually near, eight bytes at a time. A search with vectors would take longer to start.

use memchr::memchr;

const ONES: u64 = u64::MAX / 255;

/// How many bytes are searched this way, before `memchr` searches the rest.
const NEAR: usize = 32;

/// Sets a bit in the first byte of `word` that equals `byte`, and possibly in bytes after it.
#[inline(always)]
fn matches(word: u64, byte: u8) -> u64 {
    let differs = word ^ (ONES * u64::from(byte));
    // The lowest byte that is zero borrows first (Hacker's Delight, section 6-1).
    differs.wrapping_sub(ONES) & !differs & (ONES << 7)
}

/// The first bytes of `bytes`, in words of eight bytes, each with its position.
#[inline(always)]
fn words(bytes: &[u8]) -> impl Iterator<Item = (usize, u64)> {
    let near = &bytes[..bytes.len().min(NEAR)];
    near.as_chunks().0.iter().enumerate().map(|(n, chunk)| (n * 8, u64::from_le_bytes(*chunk)))
}

/// How many bytes [`words`] returns.
#[inline(always)]
fn searched(bytes: &[u8]) -> usize {
    bytes.len().min(NEAR) & !7
}

/// The position of the first `byte`.
#[inline(always)]
pub(super) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    for (at, word) in words(bytes) {
        let found = matches(word, byte);
        if found != 0 {
            return Some(at + found.trailing_zeros() as usize / 8);
        }
    }
    let at = searched(bytes);
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
