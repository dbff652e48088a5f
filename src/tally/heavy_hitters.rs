//! Counts lines per name: exactly while there are few names, and with a stated error when there are many.
//!
//! In bounded memory rare names must be dropped, and which ones would depend on the order of counting. So the order
//! is fixed by place. Each chunk of 8 MiB of an input is counted exactly, and then reduced. Complete chunks are added up in pairs,
//! pairs in pairs of pairs and so on, in a fixed tree. Inputs that have ended are added up likewise. The order of
//! merging decides when a sum is made, never of what. The sketches of maintained libraries depend on the order, and
//! cannot be compared for equality.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tally::name_table::NameTable;
use crate::tally::renumber;
use urlsift_engine::place::Place;
use urlsift_grammar::latin1;

/// The length of a chunk of an input, in bytes.
pub(crate) const CHUNK_LEN: u64 = 8 << 20;

/// How many bytes of a chunk a value of a table stands for, whatever its length. So chunks have equally many values, and
/// a part of a table has the same chunks as the whole.
pub(crate) const VALUE_LEN: u64 = 32;

/// How many names a sum keeps. Up to this number of names, all counts are exact.
pub const MAX_NAMES: usize = 1 << 16;

/// The longest name that is counted, in bytes. No DNS name is longer.
pub const MAX_NAME_LEN: usize = 255;

/// Lines per name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Written", try_from = "Written")]
pub(crate) struct Counts {
    lines: NameTable,
    /// Upper bound of the lines missing from each count.
    missing: u64,
}

/// Serialized counts. The names are sorted, so that equal counts have equal text.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    lines: BTreeMap<String, u64>,
    missing: u64,
}

impl From<Counts> for Written {
    fn from(counts: Counts) -> Self {
        let lines = counts.lines.iter().map(|(name, lines)| (latin1::text_of(name), lines)).collect();
        Self { lines, missing: counts.missing }
    }
}

impl TryFrom<Written> for Counts {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        // A line with a name has at least two bytes.
        if written.lines.len() as u64 > CHUNK_LEN / 2 {
            return Err("more names than a chunk has lines".to_owned());
        }
        let mut counts = Self { missing: written.missing, ..Self::default() };
        for (name, lines) in written.lines {
            let bytes = latin1::bytes_of(&name).filter(|bytes| bytes.len() <= MAX_NAME_LEN);
            let bytes = bytes.ok_or_else(|| format!("a name {name:?}"))?;
            counts.count(&[(&bytes, lines)]);
        }
        Ok(counts)
    }
}

impl Counts {
    fn n_lines(&self) -> u128 {
        self.lines.iter().map(|(_, lines)| u128::from(lines)).sum()
    }

    /// Counts lines by name.
    pub(crate) fn count(&mut self, names: &[(&[u8], u64)]) {
        self.lines.count(names);
    }

    fn add(&mut self, other: Self) {
        self.lines.add_all(other.lines);
        self.missing += other.missing;
    }

    /// Drops names until at most `most` are left (Misra and Gries).
    ///
    /// The count of the most frequent surplus name is subtracted from all counts, and names left with nothing are
    /// dropped. So a count is too small by at most the sum of what was subtracted. With the limit [`MAX_NAMES`], that
    /// is at most 1/[`MAX_NAMES`] of all lines.
    fn reduce(&mut self, most: usize) {
        if self.lines.len() <= most {
            return;
        }
        let mut all: Vec<u64> = self.lines.iter().map(|(_, lines)| lines).collect();
        let (_, &mut less, _) = all.select_nth_unstable_by_key(most, |&lines| Reverse(lines));
        self.lines = self.lines.less(less);
        self.missing += less;
    }
}

/// Counts of consecutive parts, added up in pairs. The node at place `i` of level `l` is the sum of the nodes at `2i`
/// and `2i + 1` of the level below.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Vec<(u32, u64, Counts)>", from = "Vec<(u32, u64, Counts)>")]
struct Tree {
    nodes: BTreeMap<(u32, u64), Counts>,
}

impl From<Tree> for Vec<(u32, u64, Counts)> {
    fn from(tree: Tree) -> Self {
        tree.nodes.into_iter().map(|((level, place), counts)| (level, place, counts)).collect()
    }
}

impl From<Vec<(u32, u64, Counts)>> for Tree {
    fn from(nodes: Vec<(u32, u64, Counts)>) -> Self {
        Self { nodes: nodes.into_iter().map(|(level, place, counts)| ((level, place), counts)).collect() }
    }
}

impl Tree {
    /// Reduces the parts within `complete`, which will get no more counts, and adds up all pairs of them. A part without a
    /// node is empty.
    fn settle(&mut self, complete: &Range<u64>, most: usize) {
        for level in 0..u64::BITS - 1 {
            let within = |width| complete.start.div_ceil(width)..complete.end / width;
            let (parts, pairs) = (within(1 << level), within(2 << level));
            if parts.is_empty() {
                break;
            }
            let parts = self.nodes.range((level, parts.start)..(level, parts.end));
            for (level, place) in parts.map(|(&at, _)| at).collect::<Vec<_>>() {
                let mut part = self.nodes.remove(&(level, place)).unwrap_or_default();
                part.reduce(most);
                let is_of_pair = pairs.contains(&(place / 2));
                let at = if is_of_pair { (level + 1, place / 2) } else { (level, place) };
                self.nodes.entry(at).or_default().add(part);
            }
        }
    }

    /// The sum of all parts.
    fn sum(self, most: usize) -> Counts {
        let mut sum = Counts::default();
        self.nodes.into_values().for_each(|part| sum.add(part));
        sum.reduce(most);
        sum
    }

    fn merge(&mut self, other: Self) {
        for (at, counts) in other.nodes {
            self.nodes.entry(at).or_default().add(counts);
        }
    }
}

/// The frequent names of a corpus or of a part of it. Only tests choose other limits.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct HeavyHitters<const CHUNK: u64 = CHUNK_LEN, const MOST: usize = MAX_NAMES> {
    /// The chunks of each input that has not ended.
    open: BTreeMap<u32, Tree>,
    /// The inputs that have ended.
    ended: Tree,
    /// The numbers of the ended inputs, with and without names.
    numbers: Numbers,
}

/// Numbers, as ranges by their starts. Adjoining ranges are joined.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(into = "Vec<Range<u64>>", from = "Vec<Range<u64>>")]
struct Numbers(BTreeMap<u64, u64>);

impl From<Numbers> for Vec<Range<u64>> {
    fn from(Numbers(ranges): Numbers) -> Self {
        ranges.into_iter().map(|(start, end)| start..end).collect()
    }
}

impl From<Vec<Range<u64>>> for Numbers {
    fn from(ranges: Vec<Range<u64>>) -> Self {
        Self(ranges.into_iter().map(|range| (range.start, range.end)).collect())
    }
}

impl Numbers {
    /// Adds a range of new numbers. Returns the range that has them now.
    fn add(&mut self, Range { mut start, mut end }: Range<u64>) -> Range<u64> {
        if let Some((&before, _)) = self.0.range(..start).next_back().filter(|(_, end)| **end == start) {
            start = before;
        }
        end = self.0.remove(&end).unwrap_or(end);
        self.0.insert(start, end);
        start..end
    }
}

impl<const CHUNK: u64, const MOST: usize> HeavyHitters<CHUNK, MOST> {
    /// Takes out the counts of the chunk that contains `place`, and returns them with the end of that chunk. The
    /// caller counts further lines and [puts them back](Self::put).
    pub(crate) fn take(&mut self, place: Place) -> (Counts, u64) {
        let chunk = place.offset / CHUNK;
        let chunks = self.open.get_mut(&place.input);
        let counts = chunks.and_then(|chunks| chunks.nodes.remove(&(0, chunk))).unwrap_or_default();
        (counts, (chunk + 1).saturating_mul(CHUNK))
    }

    /// Puts back the counts of the chunk that contains `place`.
    pub(crate) fn put(&mut self, place: Place, counts: Counts) {
        if counts.lines.len() > 0 {
            self.open.entry(place.input).or_default().nodes.insert((0, place.offset / CHUNK), counts);
        }
    }

    /// Notes that all lines that begin in a byte range of an input have been counted.
    pub(crate) fn settle(&mut self, input: u32, bytes: &Range<u64>) {
        if let Some(chunks) = self.open.get_mut(&input) {
            chunks.settle(&(bytes.start.div_ceil(CHUNK)..bytes.end / CHUNK), MOST);
        }
    }

    /// Moves the counts of an input that has not ended from `other` to here. The sum of both has no places, and depends on the order
    /// of such sums if there are more than `MOST` names.
    pub(crate) fn join(&mut self, other: &mut Self, input: u32) {
        let mut sum = Counts::default();
        for chunks in [&mut *self, other].into_iter().filter_map(|counts| counts.open.remove(&input)) {
            sum.add(chunks.sum(MOST));
        }
        sum.reduce(MOST);
        if sum.lines.len() > 0 || sum.missing > 0 {
            self.open.entry(input).or_default().nodes.insert((0, 0), sum);
        }
    }

    /// The inputs that have not ended and have names.
    pub(crate) fn open_inputs(&self) -> impl Iterator<Item = u32> {
        self.open.keys().copied()
    }

    /// Notes that all lines of an input have been counted.
    pub(crate) fn end(&mut self, input: u32) {
        let input_number = u64::from(input);
        if let Some(chunks) = self.open.remove(&input) {
            self.ended.nodes.entry((0, input_number)).or_default().add(chunks.sum(MOST));
        }
        self.end_all(input_number..input_number + 1);
    }

    /// Notes that the inputs with these numbers have ended.
    fn end_all(&mut self, numbers: Range<u64>) {
        let ended = self.numbers.add(numbers);
        self.ended.settle(&ended, MOST);
    }

    /// Adds the names of other lines.
    pub(crate) fn merge(&mut self, mut other: Self) {
        if other.numbers.0.len() > self.numbers.0.len() {
            std::mem::swap(self, &mut other);
        }
        for (input, chunks) in other.open {
            self.open.entry(input).or_default().merge(chunks);
        }
        self.ended.merge(other.ended);
        for (start, end) in other.numbers.0 {
            self.end_all(start..end);
        }
    }

    /// Gives new numbers to the inputs that have not ended. The new numbers must be distinct.
    pub(crate) fn renumber(&mut self, number: &dyn Fn(u32) -> u32) {
        renumber(&mut self.open, number);
    }

    /// Checks that at most `most` lines have been counted, all in inputs for which `is_input` holds.
    pub(crate) fn check(&self, most: u64, is_input: impl Fn(u32) -> bool) -> Result<(), String> {
        let trees = self.open.values().chain([&self.ended]);
        if self.open.keys().any(|&input| !is_input(input))
            || trees.clone().flat_map(|tree| tree.nodes.keys()).any(|&(level, _)| level >= u64::BITS - 1)
            || self.numbers.0.iter().any(|(start, end)| start >= end || *end > u64::from(u32::MAX) + 1)
        {
            return Err("names of what is no input".to_owned());
        }
        let all = trees.flat_map(|tree| tree.nodes.values());
        let (lines, missing) = all.fold((0, 0), |(lines, missing), counts| {
            (lines + counts.n_lines(), missing + u128::from(counts.missing))
        });
        if lines > most.into() || missing > most.into() {
            return Err("more lines by name than there are".to_owned());
        }
        Ok(())
    }

    fn sum(&self) -> Counts {
        let mut all = self.ended.clone();
        for (&input, chunks) in &self.open {
            // This key is free, because an input that has not ended has no node in `ended`.
            all.nodes.insert((0, input.into()), chunks.clone().sum(MOST));
        }
        all.sum(MOST)
    }

    /// The `n` most frequent names.
    pub(crate) fn top(&self, n: usize) -> Top {
        let Counts { lines, missing } = self.sum();
        let mut entries: Vec<_> = lines.iter().collect();
        entries.sort_unstable_by(|(name, lines), (other, others)| others.cmp(lines).then(name.cmp(other)));
        entries.truncate(n);
        let entry = |(name, lines): (&[u8], u64)| (String::from_utf8_lossy(name).into_owned(), lines);
        Top { entries: entries.into_iter().map(entry).collect(), max_error: missing }
    }
}

/// Two values are equal if they yield the same sum, whether or not they know which inputs have ended.
impl<const CHUNK: u64, const MOST: usize> PartialEq for HeavyHitters<CHUNK, MOST> {
    fn eq(&self, other: &Self) -> bool {
        self.sum() == other.sum()
    }
}

impl<const CHUNK: u64, const MOST: usize> Eq for HeavyHitters<CHUNK, MOST> {}

/// The most frequent names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Top {
    /// The names with their lines, most frequent first. Names with equally many lines are sorted.
    pub entries: Vec<(String, u64)>,
    /// Upper bound of the lines missing from each count; 0 if the counts are exact.
    ///
    /// A name that is not listed has at most this many lines more than the last entry.
    pub max_error: u64,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Chunks of 16 bytes, 4 names.
    type Small = HeavyHitters<16, 4>;

    /// Counts the lines from number `from` up to `to`, each 5 bytes long.
    fn of(names: &[u8], from: usize, to: usize, input: u32) -> Small {
        let mut counts = Small::default();
        let offset = |n: usize| 5 * n as u64;
        for n in from..to {
            let place = Place { input, offset: offset(n) };
            let (mut chunk, end) = counts.take(place);
            assert!(end > place.offset && end - place.offset <= 16);
            chunk.count(&[(&names[n..=n], 1)]);
            counts.put(place, chunk);
        }
        counts.settle(input, &(offset(from)..offset(to)));
        counts
    }

    fn merged(parts: &[(usize, usize, u32)], inputs: &[Vec<u8>]) -> Small {
        let mut all = Small::default();
        let mut runs: Vec<(usize, usize, u32)> = Vec::new();
        for &(from, to, input) in parts {
            all.merge(of(&inputs[input as usize], from, to, input));
            // As in the tally, adjoining runs are joined.
            runs.push((from, to, input));
            runs.sort_unstable_by_key(|&(from, _, input)| (input, from));
            runs.dedup_by(|next, last| {
                let adjoin = (last.1, last.2) == (next.0, next.2);
                if adjoin {
                    last.1 = next.1;
                }
                adjoin
            });
            for &(from, to, input) in &runs {
                all.settle(input, &(5 * from as u64..5 * to as u64));
            }
            if runs.iter().any(|&run| run == (0, inputs[input as usize].len(), input)) {
                all.end(input);
            }
        }
        all
    }

    proptest! {
        #[test]
        fn any_cut_and_order_forgets_the_same(
            inputs in prop::collection::vec(prop::collection::vec(prop_oneof![3 => 0_u8..3, 1 => any::<u8>()], 0..80), 1..6),
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 10),
            order in Just((0..100_usize).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let number = |n: usize| u32::try_from(n).unwrap();
            let whole: Vec<_> = inputs.iter().enumerate().map(|(n, names)| (0, names.len(), number(n))).collect();
            let mut parts = Vec::new();
            for (n, names) in inputs.iter().enumerate() {
                let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(names.len() + 1)).chain([0, names.len()]).collect();
                ends.sort_unstable();
                // An empty input has one empty part.
                let pairs = ends.windows(2).filter(|pair| pair[0] < pair[1] || names.is_empty());
                parts.extend(pairs.map(|pair| (pair[0], pair[1], number(n))).take(if names.is_empty() { 1 } else { 100 }));
            }
            let mut shuffled: Vec<_> = order.iter().filter_map(|&n| parts.get(n).copied()).collect();
            shuffled.extend(parts.iter().skip(100));
            let (one, other) = (merged(&whole, &inputs), merged(&shuffled, &inputs));
            prop_assert_eq!(one.top(4), other.top(4));
            // The stated error holds.
            let top = one.top(usize::MAX);
            let lines = |name: &str| inputs.iter().flatten().filter(|&&byte| String::from_utf8_lossy(&[byte]) == name).count() as u64;
            prop_assert!(top.entries.len() <= 4);
            for (name, counted) in top.entries.iter().filter(|(name, _)| name.is_ascii()) {
                prop_assert!(*counted <= lines(name) && lines(name) <= counted + top.max_error, "{name:?}");
            }
            for name in (0..128_u8).map(|byte| char::from(byte).to_string()) {
                prop_assert!(top.entries.iter().any(|(listed, _)| *listed == name) || lines(&name) <= top.max_error);
            }
            let total = inputs.iter().flatten().count() as u64;
            prop_assert!(top.max_error <= total / 5);
            let mut distinct: Vec<_> = inputs.iter().flatten().collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert!(distinct.len() > 4 || top.max_error == 0);
        }
    }
}
