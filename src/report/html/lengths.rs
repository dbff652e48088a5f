//! Line lengths as a histogram with a logarithmic scale and four bars per octave. Positions are percentages of the chart's
//! width and height.

use super::finding;
use crate::report::{LengthBucket, Lengths, Report};

/// The chart and its figures.
pub(super) struct Histogram<'a> {
    pub(super) lengths: &'a Lengths,
    pub(super) mean: u64,
    /// The place of the longest line.
    pub(super) longest: Option<String>,
    pub(super) bars: Vec<Bar>,
    pub(super) ticks: Vec<Tick>,
    pub(super) percentiles: Vec<Percentile>,
}

/// One bar of the chart: lines in a range of lengths.
pub(super) struct Bar {
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) lines: u64,
    pub(super) x: String,
    pub(super) width: String,
    pub(super) y: String,
    pub(super) height: String,
}

/// A length that is labelled on the axis.
pub(super) struct Tick {
    pub(super) x: String,
    pub(super) length: u64,
}

/// A length that a given percentage of lines does not exceed.
pub(super) struct Percentile {
    pub(super) x: String,
    pub(super) percent: u64,
    pub(super) length: u64,
}

/// The maximum number of ticks on the axis.
const MAX_TICKS: u32 = 8;

/// The percentiles that are shown.
const PERCENTS: [u64; 3] = [50, 90, 99];

/// The number of bars per octave.
const PER_OCTAVE: u64 = 4;

impl<'a> Histogram<'a> {
    pub(super) fn new(lengths: &'a Lengths, report: &Report) -> Self {
        let counts = counts(&lengths.buckets);
        let most = counts.iter().map(|&(.., lines)| lines).max().unwrap_or(0);
        // The axis spans whole octaves.
        let first = counts.first().map_or(0, |&(from, ..)| from.ilog2());
        let last = counts.last().map_or(first, |&(_, to, _)| to.ilog2()) + 1;
        let octaves = f64::from(last - first);
        let place = |length: f64| 100.0 * ((length.log2() - f64::from(first)) / octaves).clamp(0.0, 1.0);
        let bar = |&(from, to, lines): &(u64, u64, u64)| {
            let [x, end] = [float(from), float(to) + 1.0].map(place);
            let height = (100.0 * float(lines) / float(most)).max(0.5);
            Bar {
                from,
                to,
                lines,
                x: decimal(x),
                width: decimal(end - x),
                y: decimal(100.0 - height),
                height: decimal(height),
            }
        };
        let percentile = |percent| {
            let known = lengths.percentiles.iter().find(|known| known.percent == percent)?;
            Some(Percentile { x: decimal(place(float(known.bytes) + 0.5)), percent, length: known.bytes })
        };
        let step = (last - first).div_ceil(MAX_TICKS).max(1) as usize;
        Self {
            lengths,
            mean: lengths.sum / report.totals.judged.max(1),
            longest: lengths
                .longest
                .as_ref()
                .map(|longest| finding::place(report, longest.input, longest.line)),
            bars: counts.iter().map(bar).collect(),
            ticks: (first..=last)
                .step_by(step)
                .map(|octave| Tick {
                    x: decimal(place(f64::from(octave).exp2())),
                    length: 1_u64.checked_shl(octave).unwrap_or(u64::MAX),
                })
                .collect(),
            percentiles: PERCENTS.into_iter().filter_map(percentile).collect(),
        }
    }
}

/// Returns the shortest and longest length of each bar, and its number of lines. Empty bars are left out.
fn counts(buckets: &[LengthBucket]) -> Vec<(u64, u64, u64)> {
    let mut counts: Vec<(u64, u64, u64)> = Vec::new();
    for bucket in buckets.iter().filter(|bucket| bucket.lines > 0) {
        // No bucket straddles two bars: a bucket has either a single length or a sixteenth of an octave.
        let length = bucket.from.max(1);
        let octave = 1_u64 << length.ilog2();
        let width = (octave / PER_OCTAVE).max(1);
        let from = octave + (length - octave) / width * width;
        match counts.last_mut() {
            Some((last, _, lines)) if *last == from => *lines = lines.saturating_add(bucket.lines),
            Some((last, ..)) if *last > from => {}
            _ => counts.push((from, from + (width - 1), bucket.lines)),
        }
    }
    counts
}

#[allow(clippy::cast_precision_loss, reason = "places in a chart")]
fn float(n: u64) -> f64 {
    n as f64
}

fn decimal(share: f64) -> String {
    format!("{share:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_a_quarter_of_an_octave() {
        let bucket = |(from, to)| LengthBucket { from, to, lines: 1 };
        // Each length up to 1023, sixteenths of the next octave, and the two largest lengths of all.
        let buckets = (1..1024).map(|n| (n, n)).chain((0..16).map(|n| (1024 + 64 * n, 1024 + 64 * n + 63)));
        let mut buckets: Vec<_> = buckets.map(bucket).collect();
        buckets.push(bucket((u64::MAX - 1, u64::MAX)));
        let counts = counts(&buckets);
        assert_eq!(
            counts[..8],
            [(1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 4, 1), (5, 5, 1), (6, 6, 1), (7, 7, 1), (8, 9, 2)]
        );
        assert!(counts.contains(&(80, 95, 16)) && counts.contains(&(1792, 2047, 4)));
        assert_eq!(counts.last(), Some(&(u64::MAX / 8 * 7 + 7, u64::MAX, 1)));
        assert_eq!(counts.iter().map(|&(.., lines)| lines).sum::<u64>(), 1023 + 16 + 1);
        assert!(counts.is_sorted_by(|(_, end, _), (start, ..)| end < start));
    }
}
