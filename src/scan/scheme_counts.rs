//! Counts lines by the names of schemes that are not known in advance. Few names are frequent in a list, so this keeps the last ones
//! at hand.

use crate::tally::{ByVerdict, Tally};
use urlsift_grammar::Verdict;
use urlsift_grammar::scheme::scheme_len;

/// A name with its ":" fits into so many bytes. Longer names are counted at once.
const NAME_LEN: usize = 16;

/// How many names are kept. Each has one place, so two frequent names may displace each other again and again. That is as slow as
/// counting each line at once.
const N_PLACES: usize = 64;

/// The beginning of a line, as a number: the name in lower case, and zeros behind it.
type Name = u128;

/// Counts of lines that a tally does not have yet.
#[derive(Default)]
pub(crate) struct SchemeCounts {
    places: Vec<(Name, ByVerdict)>,
}

impl SchemeCounts {
    /// Counts a line with a scheme that is not known. The tally may get the count later, by [`Self::flush`].
    #[inline]
    pub(crate) fn count(&mut self, tally: &mut Tally, line: &[u8], verdict: Verdict) {
        let Some(name) = name_of(line) else {
            let len = scheme_len(line).unwrap_or_default();
            return tally.count_other(&line[..len], verdict);
        };
        if self.places.is_empty() {
            self.places.resize(N_PLACES, (0, ByVerdict::default()));
        }
        let (kept, lines) = &mut self.places[place_of(name)];
        if *kept != name {
            give(tally, *kept, lines);
            *kept = name;
        }
        lines.count(verdict, 1);
    }

    /// Gives all counts to the tally.
    pub(crate) fn flush(&mut self, tally: &mut Tally) {
        for (name, lines) in &mut self.places {
            give(tally, *name, lines);
        }
    }
}

/// The name of the scheme of `line`; `None` if it is too long. The line has a scheme, so its first ":" ends it.
#[inline(always)]
fn name_of(line: &[u8]) -> Option<Name> {
    const ONES: u128 = u128::from_le_bytes([1; NAME_LEN]);
    let bytes = line.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [0; NAME_LEN];
        bytes[..line.len()].copy_from_slice(line);
        bytes
    });
    let beginning = u128::from_le_bytes(bytes);
    // The highest bit of the first byte that is a ":" and perhaps of later bytes.
    let zeros = beginning ^ (ONES * u128::from(b':'));
    let colons = zeros.wrapping_sub(ONES) & !zeros & (ONES << 7);
    // Letters differ from capital letters in this bit. All other bytes of a name have it.
    let lowered = beginning | (ONES * 0x20);
    (colons != 0).then(|| lowered & ((1 << (colons.trailing_zeros() - 7)) - 1))
}

/// The place of a name: the highest bits of a product.
#[inline(always)]
fn place_of(name: Name) -> usize {
    let [.., last] = name.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835).to_le_bytes();
    usize::from(last) % N_PLACES
}

/// Moves the counts of a name to the tally.
fn give(tally: &mut Tally, name: Name, lines: &mut ByVerdict) {
    if lines.lines() > 0 {
        let bytes = name.to_le_bytes();
        let len = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME_LEN);
        tally.count_others(&bytes[..len], &std::mem::take(lines));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_grammar::random::Random;

    #[test]
    fn names_are_counted_as_one_by_one() {
        let mut random = Random::new(3);
        let mut names: Vec<Vec<u8>> =
            vec![b"STEAM".into(), b"sip".into(), b"z39.51".into(), b"Non-Special".into()];
        for len in (1..20).chain([254, 255, 256]) {
            for _ in 0..10 {
                names.push((0..len).map(|_| b"aBz09+-."[random.below(8)]).collect());
            }
        }
        let (mut tally, mut expected) = (Tally::default(), Tally::default());
        let mut counts = SchemeCounts::default();
        for _ in 0..5000 {
            let mut line = names[random.below(names.len())].clone();
            line.extend_from_slice([&b":"[..], b":a", b"://a.example/:b"][random.below(3)]);
            let verdict = Verdict::from_bits([0, 16, 31][random.below(3)]);
            counts.count(&mut tally, &line, verdict);
            expected.count_other(&line[..scheme_len(&line).unwrap()], verdict);
        }
        counts.flush(&mut tally);
        assert!(tally == expected);
    }
}
