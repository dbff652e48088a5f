//! Keeps the ranges of an input's bytes that a scan was asked for. Ranges may adjoin and must not overlap. This file
//! knows neither inputs nor counts.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Sorted ranges of an input's bytes; adjoining ranges are joined.
///
/// A range that ends at [`u64::MAX`] extends to the end of the input, wherever that is. An empty input is one empty
/// range, so that it cannot be added twice.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    ranges: Vec<Range<u64>>,
}

/// Serializes each range as a pair of start and end. The end is null if it is the end of the input.
impl Serialize for Cover {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let end = |end: u64| (end != u64::MAX).then_some(end);
        to.collect_seq(self.ranges.iter().map(|range| (range.start, end(range.end))))
    }
}

impl<'a> Deserialize<'a> for Cover {
    fn deserialize<D: serde::Deserializer<'a>>(from: D) -> Result<Self, D::Error> {
        let mut cover = Self::default();
        for (start, end) in Vec::<(u64, Option<u64>)>::deserialize(from)? {
            let range = start..end.unwrap_or(u64::MAX);
            let is_right = range.start < range.end || range == (0..0);
            if !is_right || cover.add(range).is_err() {
                return Err(serde::de::Error::custom("ranges that are none, or overlap"));
            }
        }
        Ok(cover)
    }
}

impl Cover {
    /// Adds a range.
    ///
    /// # Errors
    /// The part of the range that is covered already.
    pub(super) fn add(&mut self, range: Range<u64>) -> Result<(), Range<u64>> {
        let at = self.ranges.partition_point(|known| known.end <= range.start && *known != range);
        if let Some(known) = self.ranges.get(at)
            && (known.start < range.end || *known == range)
        {
            return Err(known.start.max(range.start)..known.end.min(range.end));
        }
        if range.is_empty() && range.start > 0 {
            return Ok(());
        }
        self.ranges.insert(at, range);
        self.ranges.dedup_by(|next, last| {
            let adjoin = last.end == next.start && last.start < last.end && next.start < next.end;
            if adjoin {
                last.end = next.end;
            }
            adjoin
        });
        Ok(())
    }

    /// Adds all ranges of another cover.
    ///
    /// # Errors
    /// The first part of these ranges that is covered already.
    pub(super) fn merge(&mut self, other: &Self) -> Result<(), Range<u64>> {
        other.ranges.iter().try_for_each(|range| self.add(range.clone()))
    }

    /// Whether a range contains this byte.
    pub(super) fn has(&self, at: u64) -> bool {
        let next = self.ranges.partition_point(|range| range.end <= at);
        self.ranges.get(next).is_some_and(|range| range.start <= at)
    }

    /// Cuts the ranges at `size`, the number of bytes of the input.
    pub(super) fn end_at(&mut self, size: u64) {
        self.ranges.retain_mut(|range| {
            range.end = range.end.min(size);
            range.start < size || *range == (0..0)
        });
    }

    /// Returns the ranges missing from an input of `size` bytes. If the size is not known, the input is taken as
    /// endless.
    pub(super) fn gaps(&self, size: Option<u64>) -> Vec<Range<u64>> {
        let end = size.unwrap_or(u64::MAX);
        let mut at = 0;
        let mut gaps = Vec::new();
        for range in &self.ranges {
            if range.start > at {
                gaps.push(at..range.start.min(end));
            }
            at = at.max(range.end);
        }
        if at < end {
            gaps.push(at..end);
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_add_up() {
        let mut cover = Cover::default();
        cover.add(10..20).unwrap();
        cover.add(30..u64::MAX).unwrap();
        cover.add(0..10).unwrap();
        assert_eq!(cover.ranges, [0..20, 30..u64::MAX]);
        assert_eq!(cover.gaps(None), [20..30]);
        assert_eq!([0, 19, 20, 29, 30].map(|at| cover.has(at)), [true, true, false, false, true]);
        for (range, there) in [(5..12, 5..12), (19..25, 19..20), (25..31, 30..31), (0..u64::MAX, 0..20)] {
            assert_eq!(cover.add(range), Err(there));
        }
        let written = serde_json::to_string(&cover).unwrap();
        assert_eq!(written, "[[0,20],[30,null]]");
        assert_eq!(serde_json::from_str::<Cover>(&written).unwrap(), cover);
        assert!(serde_json::from_str::<Cover>("[[0,20],[10,null]]").is_err());
        cover.end_at(40);
        assert_eq!((cover.gaps(Some(40)), cover.gaps(Some(50))), (vec![20..30], vec![20..30, 40..50]));
        cover.add(20..30).unwrap();
        assert_eq!(cover.ranges, [0..40]);
        assert!(cover.gaps(Some(40)).is_empty());
    }

    #[test]
    fn an_empty_input_is_there_once() {
        let mut cover = Cover::default();
        assert!(cover.gaps(Some(0)).is_empty());
        cover.add(0..5).unwrap();
        cover.add(7..u64::MAX).unwrap();
        cover.end_at(0);
        assert_eq!(cover.ranges, [0..0]);
        assert_eq!(cover.add(0..0), Err(0..0));
        assert_eq!(serde_json::from_str::<Cover>("[[0,0]]").unwrap(), cover);
    }
}
