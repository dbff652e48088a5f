//! Does the same with many bytes, sixteen at once, for which the compiler has vector instructions. A loop over all bytes would take the last ones, up to fifteen, one by one.

/// Whether `is_it` holds for all bytes.
#[inline]
pub fn all(bytes: &[u8], is_it: impl Fn(u8) -> bool) -> bool {
    #[inline(always)]
    fn all<const N: usize>(bytes: &[u8; N], is_it: impl Fn(u8) -> bool) -> bool {
        bytes.iter().fold(true, |all, &byte| all & is_it(byte))
    }
    // The last bytes are asked for together with some before them.
    if let Some(last) = bytes.last_chunk::<16>() {
        bytes.as_chunks().0.iter().all(|some| all::<16>(some, &is_it)) && all(last, &is_it)
    } else if let Some([first, last]) = both_ends(bytes) {
        all(first, &is_it) && all(last, &is_it)
    } else {
        bytes.iter().all(|&byte| is_it(byte))
    }
}

/// Makes ASCII letters lower-case.
#[inline(always)]
pub fn make_lower_case(bytes: &mut [u8]) {
    bytes.as_chunks_mut::<16>().0.iter_mut().for_each(|some| some.make_ascii_lowercase());
    match bytes.last_chunk_mut::<16>() {
        Some(last) => last.make_ascii_lowercase(),
        None => bytes.make_ascii_lowercase(),
    }
}

/// Appends the first `len` bytes of a text to `out`. `N` is the largest usual length: up to it, `N` bytes are copied if there are so many. The processor cannot predict the lengths
/// of texts, and mostly takes longer for a copy of unpredicted length.
#[inline(always)]
pub fn append<const N: usize>(out: &mut Vec<u8>, text: &[u8], len: usize) {
    match text.first_chunk::<N>() {
        Some(bytes) if len <= N => {
            let end = out.len() + len;
            out.extend_from_slice(bytes);
            out.truncate(end);
        }
        _ => out.extend_from_slice(&text[..len]),
    }
}

/// Whether `is_it` holds for two bytes that follow each other.
#[inline]
pub fn any_pair(bytes: &[u8], is_it: impl Fn(u8, u8) -> bool) -> bool {
    #[inline(always)]
    fn any(first: &[u8], second: &[u8], is_it: impl Fn(u8, u8) -> bool) -> bool {
        first.iter().zip(second).fold(false, |any, (&first, &second)| any | is_it(first, second))
    }
    let Some((_, seconds)) = bytes.split_first() else { return false };
    let firsts = &bytes[..seconds.len()];
    if let (Some(first), Some(second)) = (firsts.last_chunk::<16>(), seconds.last_chunk::<16>()) {
        let mut blocks = firsts.as_chunks::<16>().0.iter().zip(seconds.as_chunks::<16>().0);
        blocks.any(|(first, second)| any(first, second, &is_it)) || any(first, second, &is_it)
    } else if let (Some([first, last]), Some([second, end])) = (both_ends(firsts), both_ends(seconds)) {
        any(first, second, &is_it) || any(last, end, &is_it)
    } else {
        any(firsts, seconds, is_it)
    }
}

/// The first and the last 8 bytes.
#[inline]
fn both_ends(bytes: &[u8]) -> Option<[&[u8; 8]; 2]> {
    Some([bytes.first_chunk()?, bytes.last_chunk()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_any_length_become_lower_case() {
        for len in 0..70 {
            let bytes: Vec<u8> = (0..len).map(|n| b"A[Zz@\xc1"[n * 5 % 6]).collect();
            let mut lower = bytes.clone();
            make_lower_case(&mut lower);
            assert_eq!(lower, bytes.to_ascii_lowercase());
        }
    }

    #[test]
    fn texts_of_any_length_are_appended() {
        let text: Vec<u8> = (0..100).collect();
        for len in 0..=text.len() {
            for behind in 0..=text.len() - len {
                let mut out = b"kept".to_vec();
                append::<32>(&mut out, &text[..len + behind], len);
                assert_eq!(out, [b"kept", &text[..len]].concat());
            }
        }
    }

    #[test]
    fn each_byte_and_each_pair_is_asked_for() {
        for len in 0..70 {
            let mut bytes = vec![b'a'; len];
            assert!(all(&bytes, |byte| byte == b'a') && !any_pair(&bytes, |first, _| first == b'b'));
            for at in 0..len {
                bytes[at] = b'b';
                assert!(!all(&bytes, |byte| byte == b'a'));
                assert_eq!(any_pair(&bytes, |first, second| (first, second) == (b'b', b'a')), at + 1 < len);
                assert_eq!(any_pair(&bytes, |first, second| (first, second) == (b'a', b'b')), at > 0);
                bytes[at] = b'a';
            }
        }
    }
}
