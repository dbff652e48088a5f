//! The labels of a name from its last one, each with a hash of the name that begins with it. The build script includes this file too.

/// A name at the end of another one: `b.c` of `a.b.c`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// Where the name begins, as its first label does.
    pub start: usize,
    /// Where its first label ends.
    pub label_end: usize,
    /// A hash of its labels. It depends on nothing before the name.
    pub hash: u64,
}

/// The names at the end of a name, the shortest first. The cost is linear in the bytes of the labels that are asked for.
pub struct Tails<'a> {
    name: &'a [u8],
    /// The end of the next label; `None` after the first label of the name.
    end: Option<usize>,
    hash: u64,
    /// The bits of its dots.
    dots: Option<u64>,
}

impl<'a> Tails<'a> {
    /// If there are `dots`, bit `n` says whether byte `n` of the name is a dot, and the name has less than 64 bytes.
    #[inline]
    pub fn of(name: &'a [u8], dots: Option<u64>) -> Self {
        Self { name, end: Some(name.len()), hash: 0, dots }
    }
}

impl Iterator for Tails<'_> {
    type Item = Tail;

    #[inline]
    fn next(&mut self) -> Option<Tail> {
        let label_end = self.end?;
        let mut start = label_end;
        let known_start = self.dots.map(|dots| last_dot(dots, label_end).map_or(0, |dot| dot + 1));
        loop {
            let word = word_before(self.name, start);
            let left = start - known_start.unwrap_or(0);
            let n = u32::try_from(left).unwrap_or(8).min(8);
            let n = if known_start.is_some() { n } else { n.min(dots(word).leading_zeros() / 8) };
            self.hash = mix(self.hash ^ word.unbounded_shr(64 - 8 * n));
            start -= n as usize;
            // A label of whole words ends with a word of no bytes, wherever it is.
            if n < 8 {
                self.end = start.checked_sub(1);
                return Some(Tail { start, label_end, hash: self.hash });
            }
        }
    }
}

/// The hash of the last label of a name, which has less than 8 bytes.
#[inline]
pub fn hash_of_last(name: &[u8], len: usize) -> u64 {
    mix(word_before(name, name.len()) >> (64 - 8 * len))
}

/// The last dot before `end`, by bits that say where dots are.
#[inline]
pub fn last_dot(dots: u64, end: usize) -> Option<usize> {
    (dots & !(u64::MAX << end)).checked_ilog2().map(|dot| dot as usize)
}

/// Whether a name has an empty label. The empty name is one.
#[inline]
pub fn has_empty_label(name: &[u8]) -> bool {
    let (Some(first), Some(last)) = (name.first(), name.last()) else { return true };
    // Words overlap by a byte, so that each pair is in one of them.
    let mut words = (1..name.len()).step_by(7).map(|at| dots(word_before(name, (at + 7).min(name.len()))));
    *first == b'.' || *last == b'.' || words.any(|dots| dots & (dots << 8) != 0)
}

/// The 8 bytes of `name` before `end`, the last one on top. What is missing is 0.
#[inline]
pub fn word_before(name: &[u8], end: usize) -> u64 {
    if let Some(bytes) = name[..end].last_chunk() {
        u64::from_le_bytes(*bytes)
    } else if let Some(bytes) = name.first_chunk() {
        u64::from_le_bytes(*bytes).unbounded_shl(64 - 8 * u32::try_from(end).unwrap_or(8))
    } else {
        name[..end].iter().fold(0, |word, byte| word >> 8 | u64::from(*byte) << 56)
    }
}

/// The top bit of each byte that is a ".".
#[inline]
fn dots(word: u64) -> u64 {
    const LOW: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let other = word ^ u64::from_le_bytes([b'.'; 8]);
    !(((other & LOW) + LOW) | other | LOW)
}

/// Multiplies, and folds the two halves of the product.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "both halves are wanted")]
fn mix(word: u64) -> u64 {
    let product = u128::from(word ^ 0x243f_6a88_85a3_08d3) * 0x9e37_79b9_7f4a_7c15;
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;
    use crate::random::Random;

    /// The same, by the standard library.
    fn tails(name: &str) -> Vec<(usize, usize)> {
        let mut tails = vec![(name.rfind('.').map_or(0, |dot| dot + 1), name.len())];
        while let Some(end) = tails[tails.len() - 1].0.checked_sub(1) {
            tails.push((name[..end].rfind('.').map_or(0, |dot| dot + 1), end));
        }
        tails
    }

    #[test]
    fn tails_end_at_dots_and_hashes_depend_on_the_name_alone() {
        let mut random = Random::new(7);
        let mut hashes: HashMap<String, u64> = HashMap::new();
        for _ in 0..20_000 {
            let len = random.below(40);
            let name: String = (0..len).map(|_| ["a", "b", "c", "."][random.below(4)]).collect();
            let found: Vec<_> = Tails::of(name.as_bytes(), None).collect();
            let places: Vec<_> = found.iter().map(|tail| (tail.start, tail.label_end)).collect();
            assert_eq!(places, tails(&name), "{name}");
            let dots = name.bytes().rev().fold(0, |bits, byte| bits << 1 | u64::from(byte == b'.'));
            assert!(Tails::of(name.as_bytes(), Some(dots)).eq(found.iter().copied()), "{name}");
            for tail in found {
                let text = name[tail.start..].to_owned();
                assert_eq!(*hashes.entry(text).or_insert(tail.hash), tail.hash, "{name}");
            }
            let has_empty = name.split('.').any(str::is_empty);
            assert_eq!(has_empty_label(name.as_bytes()), has_empty, "{name}");
        }
        let n_names = hashes.len();
        let different: std::collections::HashSet<_> = hashes.into_values().collect();
        assert_eq!(different.len(), n_names);
    }
}
