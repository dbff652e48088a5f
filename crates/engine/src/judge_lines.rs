//! Judges each line alone, for those who want the verdict of each and not only numbers.
//!
//! The bit streams judge most lines, as in a scan, and the table those that they list. Where they list many, the table judges all.

use std::ops::Range;

use crate::lanes::{Findings, LaneReader, NO_ENDS};
use crate::line_table::LineTable;
use crate::lines::{cut, trim_terminator};
use crate::simd::{Kernel, LANES};
use crate::table_scan::{Ended, scan_lanes};
use crate::{
    Attempt, LISTED_LEN, ListedLines, SEGMENT_LEN, TABLE_LANES, first_segment, is_short, lanes_at, pays,
};
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::Advisories;

/// How many lines of each lane a scanner keeps room for. A chunk of blank lines needs many times as much.
const KEPT_LINES: usize = 2048;

/// A line that was judged.
#[derive(Clone, Copy, Debug)]
pub struct JudgedLine {
    start: u32,
    len: u32,
    verdict: Verdict,
    advisories: Advisories,
}

impl JudgedLine {
    #[expect(clippy::cast_possible_truncation, reason = "a body is shorter")]
    #[inline(always)]
    fn new(start: usize, len: usize, (verdict, advisories): (Verdict, Advisories)) -> Self {
        Self { start: start as u32, len: len as u32, verdict, advisories }
    }

    /// Where it is, without its terminator.
    #[inline]
    pub fn place(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// The grammars that accept it, and its advisories. A blank line is not judged.
    #[inline]
    pub fn verdict(self) -> Option<(Verdict, Advisories)> {
        (self.len > 0).then_some((self.verdict, self.advisories))
    }
}

/// The lines of a body. The memory is reused for the next body.
#[derive(Default)]
pub struct JudgedLines {
    all: Vec<JudgedLine>,
    /// Those of each lane of the last segment.
    of_lanes: [Vec<JudgedLine>; LANES],
}

impl JudgedLines {
    /// All lines, in order.
    pub fn all(&self) -> &[JudgedLine] {
        &self.all
    }

    /// Adds the lines of all lanes.
    fn take_lanes(&mut self) {
        for lines in &mut self.of_lanes {
            self.all.append(lines);
            lines.shrink_to(KEPT_LINES);
        }
    }
}

/// Judges all lines of a body.
pub struct Judge<'a> {
    table: &'a mut LineTable,
    /// Whether the bit streams are worth it.
    streams: &'a mut Attempt,
    lines: &'a mut JudgedLines,
    body: &'a [u8],
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        table: &'a mut LineTable,
        streams: &'a mut Attempt,
        lines: &'a mut JudgedLines,
        body: &'a [u8],
    ) -> Self {
        lines.all.clear();
        lines.all.shrink_to(LANES * KEPT_LINES);
        Self { table, streams, lines, body }
    }

    /// Judges the lines at `place` by the table.
    pub fn by_table(&mut self, place: Range<usize>) {
        let lanes = cut::<TABLE_LANES>(&self.body[place.clone()], TABLE_LANES);
        let starts = lanes_at(place.start, &lanes);
        scan_lanes(self.table, lanes, |lane, Ended { start, end, outcome, .. }, table| {
            let judged = table.verdict_of(outcome, &lanes[lane][start..end]);
            self.lines.of_lanes[lane].push(JudgedLine::new(starts[lane] + start, end - start, judged));
        });
        self.lines.take_lanes();
    }

    /// Judges all lines by the bit streams, or by the table where that is faster.
    pub fn by_streams<K: Kernel>(&mut self, kernel: K, findings: &mut Findings) {
        let mut at = 0;
        while at < self.body.len() {
            let (len, is_whole) = first_segment(&self.body[at..], SEGMENT_LEN);
            let place = at..at + len;
            if is_whole && self.streams.on {
                let listed = self.segment(kernel, findings, place);
                if !is_short(len) {
                    *self.streams = self.streams.next(pays::<K>(listed, len), true);
                }
            } else {
                if is_whole {
                    *self.streams = self.streams.next(false, true);
                }
                self.by_table(place);
            }
            at += len;
        }
    }

    /// Judges the lines of a segment by the bit streams. Returns how many of them were listed.
    fn segment<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, place: Range<usize>) -> u64 {
        let lanes: [&[u8]; LANES] = cut(&self.body[place.clone()], K::LANES);
        let firsts = lanes_at(place.start, &lanes);
        let mut reader = LaneReader::of_lines(kernel, &lanes, findings);
        let (mut starts, mut listed, mut n_listed) = ([0; LANES], ListedLines::new(), 0);
        let mut ends = NO_ENDS;
        while reader.stripe(findings) {
            for (lane, bytes) in lanes.iter().enumerate().take(K::LANES) {
                let (lines, start) = (&mut self.lines.of_lanes[lane], &mut starts[lane]);
                findings.each_line(lane, &mut ends, |lf, judged| {
                    let line = &bytes[*start..lf];
                    let len = trim_terminator(line).0.len();
                    if judged.is_none() && len > 0 {
                        listed.push(&bytes[*start..], len, (lane, lines.len()));
                    }
                    lines.push(JudgedLine::new(firsts[lane] + *start, len, judged.unwrap_or_default()));
                    *start = lf + 1;
                });
            }
            if listed.bytes.len() >= LISTED_LEN {
                n_listed += self.judge_listed(&mut listed);
            }
        }
        n_listed += self.judge_listed(&mut listed);
        self.lines.take_lanes();
        n_listed
    }

    /// Judges listed lines by the table. Returns how many there are.
    fn judge_listed(&mut self, listed: &mut ListedLines<(usize, usize)>) -> u64 {
        if listed.bytes.is_empty() {
            return 0;
        }
        let lanes = cut::<TABLE_LANES>(&listed.bytes, TABLE_LANES);
        let first = listed.first_of(&lanes);
        let mut n_listed = 0;
        scan_lanes(self.table, lanes, |lane, Ended { number, start, end, outcome, .. }, table| {
            let in_lane = usize::try_from(number).expect("the lines are in memory") - 1;
            let (of_lane, at) = listed.listed[first[lane] + in_lane].0;
            let line = &mut self.lines.of_lanes[of_lane][at];
            (line.verdict, line.advisories) = table.verdict_of(outcome, &lanes[lane][start..end]);
            n_listed += 1;
        });
        listed.bytes.clear();
        listed.listed.clear();
        n_listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::tests::add_fragments;
    use crate::lines::places;
    use crate::simd::every_kernel::{Visit, each};
    use urlsift_grammar::Grammar;
    use urlsift_grammar::judge::judge;
    use urlsift_grammar::random::Random;

    type Judged = Vec<(Range<usize>, Option<(Verdict, Advisories)>)>;

    /// Lines, and what is right for each.
    struct Check<'a> {
        body: &'a [u8],
        expected: Judged,
        table: &'a mut LineTable,
    }

    impl Check<'_> {
        fn compare(&mut self, name: &str, by: impl FnOnce(&mut Judge<'_>)) {
            let (mut streams, mut lines) = (Attempt::new(true), JudgedLines::default());
            by(&mut Judge::new(self.table, &mut streams, &mut lines, self.body));
            let found: Judged = lines.all().iter().map(|line| (line.place(), line.verdict())).collect();
            assert!(found == self.expected, "{name} on \"{}\"", self.body.escape_ascii());
        }
    }

    impl Visit for Check<'_> {
        fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
            self.compare(name, |judge| judge.by_streams(kernel, &mut Findings::default()));
        }
    }

    #[test]
    fn each_kernel_judges_as_judge() {
        let (mut random, mut table) = (Random::new(3), None);
        for n in 0..if cfg!(miri) { 30 } else { 2000 } {
            let mut body = Vec::new();
            let n_fragments = random.below(if n % 50 == 1 { 20_000 } else { 200 });
            add_fragments(&mut body, n_fragments, &mut random);
            let expected = places(&body).map(|place| {
                let judgement = (!place.is_empty()).then(|| judge(&body[place.clone()]));
                (place, judgement.map(|judgement| (judgement.verdict(), judgement.advisories())))
            });
            let table = LineTable::of(&mut table, Grammar::Rfc3986);
            let mut check = Check { body: &body, expected: expected.collect(), table };
            check.compare("the table", |judge| judge.by_table(0..body.len()));
            each(&mut check);
        }
    }
}
