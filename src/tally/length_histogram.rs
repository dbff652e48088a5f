//! A histogram of line lengths, and the statistics derived from it. Merging adds the buckets.
//!
//! Each length below 1024 bytes has its own bucket. Above, each octave has 16 buckets of equal width, so that a
//! bucket is never wider than a sixteenth of the lengths in it.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use urlsift_engine::place::Place;

/// The smallest length whose bucket holds more than one length.
const EXACT: u64 = 1 << EXACT_BITS;
const EXACT_BITS: u32 = 10;

/// The binary logarithm of the number of buckets per octave.
const OCTAVE_BITS: u32 = 4;

/// The longest line. Of several lines with this length it is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longest {
    /// Its length in bytes, without its terminator.
    pub bytes: u64,
    /// Where it begins.
    pub place: Place,
    /// Its number from 1, counted like the line number of an example.
    pub line: u64,
}

impl Longest {
    fn is_beaten_by(&self, other: &Self) -> bool {
        other.bytes > self.bytes || (other.bytes == self.bytes && other.place < self.place)
    }
}

/// The lengths of judged lines in bytes, without terminators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lengths {
    /// Lines per bucket, up to the last bucket that is not empty.
    #[serde(with = "sparse")]
    buckets: Vec<u64>,
    sum: u64,
    /// 0 if there are no lines.
    min: u64,
    longest: Option<Longest>,
}

/// Returns the number of the bucket that holds a length.
#[inline]
fn bucket(bytes: u64) -> usize {
    if bytes < EXACT {
        return usize::try_from(bytes).expect("a small number");
    }
    let octave = bytes.ilog2() - EXACT_BITS;
    // The five highest bits. The first is always set.
    let within = bytes >> (bytes.ilog2() - OCTAVE_BITS);
    let number = EXACT + (u64::from(octave) << OCTAVE_BITS) + within - (1 << OCTAVE_BITS);
    usize::try_from(number).expect("there are not two thousand of them")
}

/// The lengths in a bucket.
fn range(bucket: u64) -> RangeInclusive<u64> {
    let Some(above) = bucket.checked_sub(EXACT) else { return bucket..=bucket };
    let shift = (above >> OCTAVE_BITS) + u64::from(EXACT_BITS - OCTAVE_BITS);
    let from = ((1 << OCTAVE_BITS) + (above & ((1 << OCTAVE_BITS) - 1))) << shift;
    from..=from + ((1 << shift) - 1)
}

/// Serializes buckets as pairs of a bucket's number and its lines.
mod sparse {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::bucket;

    pub(super) fn serialize<S: Serializer>(buckets: &[u64], to: S) -> Result<S::Ok, S::Error> {
        let pairs = buckets.iter().enumerate().filter(|&(_, &lines)| lines > 0);
        pairs.collect::<Vec<_>>().serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u64>, D::Error> {
        let mut buckets = Vec::new();
        for (number, lines) in Vec::<(usize, u64)>::deserialize(from)? {
            if lines == 0 || number < buckets.len() || number > bucket(u64::MAX) {
                return Err(D::Error::custom("buckets that are not ascending"));
            }
            buckets.resize(number + 1, 0);
            buckets[number] = lines;
        }
        Ok(buckets)
    }
}

impl Lengths {
    /// Counts a line that is not blank. The longest line is noted separately ([`note`](Self::note)).
    #[inline]
    pub(crate) fn count(&mut self, bytes: u64) {
        let bucket = bucket(bytes);
        if bucket >= self.buckets.len() {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += 1;
        self.sum += bytes;
        // Subtracting 1 wraps the initial 0 to the largest value, so any length is smaller.
        self.min = self.min.wrapping_sub(1).min(bytes - 1) + 1;
    }

    /// Keeps a line if it is the longest so far.
    pub(crate) fn note(&mut self, line: Longest) {
        if self.longest.is_none_or(|longest| longest.is_beaten_by(&line)) {
            self.longest = Some(line);
        }
    }

    /// Checks that these can be the lengths of `judged` lines with `bytes` bytes in total, all in inputs for which
    /// `is_input` holds. An empty histogram passes too, because lengths are optional.
    pub(crate) fn check(
        &self,
        judged: u64,
        bytes: u64,
        is_input: impl Fn(u32) -> bool,
    ) -> Result<(), String> {
        let lines: u128 = self.buckets.iter().copied().map(u128::from).sum();
        let is_known = self.longest.is_some_and(|longest| {
            is_input(longest.place.input)
                && bucket(longest.bytes) + 1 == self.buckets.len()
                && self.min <= longest.bytes
        });
        let is_none = self.buckets.is_empty() && self.longest.is_none() && (self.sum, self.min) == (0, 0);
        if is_none || (is_known && lines == judged.into() && self.sum <= bytes && self.min > 0) {
            Ok(())
        } else {
            Err("lengths of lines that cannot be".to_owned())
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        if other.buckets.len() > self.buckets.len() {
            self.buckets.resize(other.buckets.len(), 0);
        }
        for (own, other) in self.buckets.iter_mut().zip(&other.buckets) {
            *own += other;
        }
        self.sum += other.sum;
        self.min = self.min.wrapping_sub(1).min(other.min.wrapping_sub(1)).wrapping_add(1);
        if let Some(longest) = other.longest {
            self.note(longest);
        }
    }

    /// The longest line, mutable: joining runs rebases its number.
    pub(crate) fn longest_mut(&mut self) -> Option<&mut Longest> {
        self.longest.as_mut()
    }

    /// The number of lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.buckets.iter().sum()
    }

    /// The total length of all lines in bytes.
    #[must_use]
    pub fn sum(&self) -> u64 {
        self.sum
    }

    /// The length of the shortest line in bytes; 0 if there are no lines.
    #[must_use]
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The longest line. Of several lines with this length it is the first by place.
    #[must_use]
    pub fn longest(&self) -> Option<Longest> {
        self.longest
    }

    /// The buckets that are not empty, in ascending order, each with its lengths and its lines.
    ///
    /// Below 1024 bytes a bucket is one length; above, it is a sixteenth of an octave.
    pub fn buckets(&self) -> impl Iterator<Item = (RangeInclusive<u64>, u64)> {
        (0..).map(range).zip(self.buckets.iter().copied()).filter(|&(_, lines)| lines > 0)
    }

    /// The smallest length that `percent` percent of the lines do not exceed; 0 if there are no lines.
    ///
    /// It is exact below 1024 bytes. Above, it may be up to a sixteenth too large, but never exceeds the longest
    /// line.
    #[must_use]
    pub fn percentile(&self, percent: u8) -> u64 {
        let wanted = (u128::from(self.lines()) * u128::from(percent.min(100))).div_ceil(100).max(1);
        let mut lines = 0;
        let found = self.buckets().find(|&(_, more)| {
            lines += u128::from(more);
            lines >= wanted
        });
        let longest = self.longest.map_or(0, |longest| longest.bytes);
        found.map_or(longest, |(bytes, _)| (*bytes.end()).min(longest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn buckets_hold_each_length_once() {
        let mut next = 0;
        for number in 0..bucket(u64::MAX) as u64 {
            let lengths = range(number);
            assert_eq!(*lengths.start(), next);
            for bytes in [*lengths.start(), *lengths.end()] {
                assert_eq!(bucket(bytes) as u64, number);
            }
            let wide = lengths.end() - lengths.start();
            assert!(wide == 0 || (wide < lengths.start() / 16 && *lengths.start() >= 1024));
            next = lengths.end() + 1;
        }
        assert_eq!(*range(bucket(u64::MAX) as u64).end(), u64::MAX);
    }

    fn of(lines: &[u64], from: u64) -> Lengths {
        let mut lengths = Lengths::default();
        for (offset, &bytes) in (from..).zip(lines) {
            lengths.count(bytes);
            lengths.note(Longest { bytes, place: Place { input: 0, offset }, line: offset + 1 });
        }
        lengths
    }

    proptest! {
        #[test]
        fn as_the_lengths_sorted(lines in prop::collection::vec(prop_oneof![1_u64..2000, 1..u64::from(u32::MAX)], 1..100), cut in any::<prop::sample::Index>()) {
            let whole = of(&lines, 0);
            let (first, second) = lines.split_at(cut.index(lines.len()));
            for order in [[(first, 0), (second, first.len())], [(second, first.len()), (first, 0)]] {
                let mut merged = Lengths::default();
                for (lines, from) in order {
                    merged.merge(&of(lines, from as u64));
                }
                prop_assert_eq!(&merged, &whole);
            }
            let mut sorted = lines.clone();
            sorted.sort_unstable();
            let longest = whole.longest().unwrap();
            prop_assert_eq!((whole.lines(), whole.sum(), whole.min()), (lines.len() as u64, lines.iter().sum(), sorted[0]));
            prop_assert_eq!(longest.bytes, *sorted.last().unwrap());
            prop_assert_eq!(longest.place.offset, lines.iter().position(|&bytes| bytes == longest.bytes).unwrap() as u64);
            for percent in 0..=100_u8 {
                let exact = sorted[(lines.len() * usize::from(percent)).div_ceil(100).saturating_sub(1)];
                let found = whole.percentile(percent);
                prop_assert!(found >= exact && found <= exact + if exact < EXACT { 0 } else { exact / 16 }, "{percent}: {found} for {exact}");
            }
        }
    }
}
