//! Judges each line alone, for those who want the verdict of each and not only numbers.
//!
//! The bit streams judge most lines, as in a scan, and the table those that they list. Where they list many, the table judges all.

use std::ops::Range;

use crate::lanes::{Findings, LaneReader};
use crate::line_table::LineTable;
use crate::lines::{LineEnds, cut, trim_terminator};
use crate::simd::{Kernel, LANES};
use crate::table_scan::{Ended, scan_lanes};
use crate::{Attempts, LISTED_LEN, ListedLines, TABLE_LANES, first_segment, lanes_at, pays};
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::Advisories;

/// How many lines of each lane a scanner keeps room for. A chunk of blank lines needs many times as much.
const KEPT_LINES: usize = 4096;

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
    attempts: &'a mut Attempts,
    lines: &'a mut JudgedLines,
    body: &'a [u8],
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        table: &'a mut LineTable,
        attempts: &'a mut Attempts,
        lines: &'a mut JudgedLines,
        body: &'a [u8],
    ) -> Self {
        lines.all.clear();
        lines.all.shrink_to(LANES * KEPT_LINES);
        Self { table, attempts, lines, body }
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

    /// Judges all lines by the bit streams, or by the table where that is faster, in segments of about `segment_len` bytes.
    pub fn by_streams<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, segment_len: usize) {
        let mut at = 0;
        while at < self.body.len() {
            let (len, is_whole) = first_segment(&self.body[at..], segment_len);
            let place = at..at + len;
            if is_whole && self.attempts.streams.on {
                let listed = self.segment(kernel, findings, place);
                let Attempts { streams, listed: (all_listed, all_len), .. } = &mut *self.attempts;
                (*all_listed, *all_len) = (*all_listed + listed, *all_len + len);
                // Fewer bytes predict little about the next ones.
                if *all_len > segment_len / 4 {
                    *streams = streams.next(pays::<K>(*all_listed, *all_len), true);
                    (*all_listed, *all_len) = (0, 0);
                }
            } else {
                if is_whole {
                    self.attempts.streams = self.attempts.streams.next(false, true);
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
        let mut ends: LineEnds = [0; _];
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
        listed.walk(self.table, |n, line, outcome, table| {
            let (lane, at) = listed.listed[n].0;
            let judged = &mut self.lines.of_lanes[lane][at];
            (judged.verdict, judged.advisories) = table.verdict_of(outcome, line);
        });
        let n_listed = listed.listed.len() as u64;
        listed.clear();
        n_listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Scanner;
    use crate::lanes::tests::add_fragments;
    use crate::lines::places;
    use crate::simd::KernelId;
    use crate::simd::every_kernel::{Visit, each};
    use std::collections::HashMap;
    use urlsift_grammar::Grammar;
    use urlsift_grammar::judge::judge;
    use urlsift_grammar::random::Random;

    type Judged = Vec<(Range<usize>, Option<(Verdict, Advisories)>)>;

    /// Lines, what is right for each, and a scanner for each kernel, whose memory is used for the next lines.
    #[derive(Default)]
    struct Check {
        body: Vec<u8>,
        expected: Judged,
        scanners: HashMap<String, Scanner>,
        /// After how many bodies the next segment was left to the table.
        n_by_table: usize,
    }

    impl Check {
        fn compare(&mut self, name: &str, by: impl FnOnce(&mut Judge<'_>, &mut Findings)) {
            let scanner =
                self.scanners.entry(name.to_owned()).or_insert_with(|| Scanner::new(KernelId::Portable));
            let Scanner { table, findings, judged, attempts, .. } = scanner;
            let table = LineTable::of(table, Grammar::Rfc3986);
            by(&mut Judge::new(table, attempts, judged, &self.body), findings);
            self.n_by_table += usize::from(!attempts.streams.on);
            let found: Judged = judged.all().iter().map(|line| (line.place(), line.verdict())).collect();
            assert!(found == self.expected, "{name} on \"{}\"", self.body.escape_ascii());
        }
    }

    impl Visit for Check {
        fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
            self.compare(name, |judge, findings| judge.by_streams(kernel, findings, 4096));
        }
    }

    #[test]
    fn each_kernel_judges_as_judge() {
        let (mut random, mut check) = (Random::new(3), Check::default());
        for n in 0..if cfg!(miri) { 30 } else { 2000 } {
            let mut body = Vec::new();
            let n_fragments = random.below(if n % 50 == 1 { 20_000 } else { 200 });
            add_fragments(&mut body, n_fragments, &mut random);
            let expected = places(&body).map(|place| {
                let judgement = (!place.is_empty()).then(|| judge(&body[place.clone()]));
                (place, judgement.map(|judgement| (judgement.verdict(), judgement.advisories())))
            });
            check.expected = expected.collect();
            check.body = body;
            let all = 0..check.body.len();
            check.compare("the table", |judge, _| judge.by_table(all));
            each(&mut check);
        }
        assert!(cfg!(miri) || check.n_by_table > 100, "the table: {} times", check.n_by_table);
    }
}
