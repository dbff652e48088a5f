//! Judges each line alone, for those who want the verdict of each and not only numbers.
//!
//! The bit streams judge most lines, as in a scan, and the table those that they list. Where they list many, the table judges all.

use std::ops::Range;

use crate::lanes::{Findings, LaneReader};
use crate::line_table::LineTable;
use crate::lines::{LineEnds, cut, trim_terminator};
use crate::simd::{Job, Kernel, LANES};
use crate::table_scan::{Ended, scan_lanes};
use crate::{Attempts, LISTED_LEN, ListedLines, TABLE_LANES, first_segment, lanes_at, pays};
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::Advisories;

/// How many lines of each lane a scanner keeps room for. A chunk of blank lines needs many times as much.
const KEPT_LINES: usize = 4096;

/// A line, and what is known of it.
#[derive(Clone, Copy, Debug)]
pub struct JudgedLine {
    start: u32,
    len: u32,
    verdict: Verdict,
    advisories: Advisories,
    is_plain_url: bool,
}

impl JudgedLine {
    /// A line that no grammar was asked about.
    ///
    /// # Panics
    /// If it ends beyond 4 GiB.
    #[inline]
    pub fn unjudged(place: Range<usize>) -> Self {
        assert!(u32::try_from(place.end).is_ok(), "a chunk is shorter than 4 GiB");
        Self::new(place.start, place.len(), Default::default())
    }

    #[expect(clippy::cast_possible_truncation, reason = "a body is shorter")]
    #[inline(always)]
    fn new(start: usize, len: usize, (verdict, advisories): (Verdict, Advisories)) -> Self {
        Self { start: start as u32, len: len as u32, verdict, advisories, is_plain_url: false }
    }

    /// Where it is, without its terminator.
    #[inline]
    pub fn place(self) -> Range<usize> {
        self.start as usize..(self.start + self.len) as usize
    }

    /// The grammars that accept it, and its advisories: none if it is not judged. A blank line has no verdict.
    #[inline]
    pub fn verdict(self) -> Option<(Verdict, Advisories)> {
        (self.len > 0).then_some((self.verdict, self.advisories))
    }

    /// Whether it is known to be a [plain URL](urlsift_grammar::whatwg::plain::PlainUrl).
    #[inline]
    pub fn is_plain_url(self) -> bool {
        self.is_plain_url
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
    /// Whether [`JudgedLine::is_plain_url`] is wanted.
    whatwg: bool,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        table: &'a mut LineTable,
        attempts: &'a mut Attempts,
        lines: &'a mut JudgedLines,
        body: &'a [u8],
        whatwg: bool,
    ) -> Self {
        lines.all.clear();
        lines.all.shrink_to(LANES * KEPT_LINES);
        Self { table, attempts, lines, body, whatwg }
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
        let mut reader = LaneReader::of_lines(kernel, &lanes, self.whatwg, findings);
        let (mut starts, mut listed, mut n_listed) = ([0; LANES], ListedLines::new(), 0);
        let mut ends: LineEnds = [0; _];
        while reader.stripe(findings) {
            for (lane, bytes) in lanes.iter().enumerate().take(K::LANES) {
                kernel.run(TakeLines {
                    findings,
                    lane,
                    bytes,
                    first: firsts[lane],
                    start: &mut starts[lane],
                    ends: &mut ends,
                    lines: &mut self.lines.of_lanes[lane],
                    listed: &mut listed,
                    whatwg: self.whatwg,
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

/// Takes the lines of a lane that end in the last stripe.
struct TakeLines<'j, 'b> {
    findings: &'j Findings,
    lane: usize,
    bytes: &'b [u8],
    /// Where the lane begins in the body.
    first: usize,
    /// Where the next line begins in the lane.
    start: &'j mut usize,
    ends: &'j mut LineEnds,
    lines: &'j mut Vec<JudgedLine>,
    listed: &'j mut ListedLines<(usize, usize)>,
    whatwg: bool,
}

impl Job for TakeLines<'_, '_> {
    #[inline(always)]
    fn run(self) {
        let Self { findings, lane, bytes, first, start, ends, lines, listed, whatwg } = self;
        findings.lines_by_piece(lane, ends, |from, places, verdicts| {
            let before = lines.len();
            // Inside an iterator of known length, so that no line asks for room.
            lines.extend(places.iter().enumerate().map(|(n, &end)| {
                let lf = from + end as usize;
                let len = trim_terminator(&bytes[*start..lf]).0.len();
                let found = verdicts.at(end as usize);
                if found.is_none() && len > 0 {
                    listed.push(&bytes[*start..], len, (lane, before + n));
                }
                let (judged, has_scheme) = found.unwrap_or_default();
                let mut line = JudgedLine::new(first + *start, len, judged);
                line.is_plain_url = whatwg && has_scheme;
                *start = lf + 1;
                line
            }));
        });
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
    use urlsift_grammar::whatwg::plain::PlainUrl;

    type Judged = Vec<(Range<usize>, Option<(Verdict, Advisories)>)>;

    /// Lines, what is right for each, and a scanner for each kernel, whose memory is used for the next lines.
    #[derive(Default)]
    struct Check {
        body: Vec<u8>,
        expected: Judged,
        scanners: HashMap<String, Scanner>,
        /// After how many bodies the next segment was left to the table.
        n_by_table: usize,
        n_plain_urls: usize,
    }

    impl Check {
        /// Compares the lines, and counts those that are known to be plain URLs.
        fn compare(&mut self, name: &str, whatwg: bool, by: impl FnOnce(&mut Judge<'_>, &mut Findings)) {
            let scanner =
                self.scanners.entry(name.to_owned()).or_insert_with(|| Scanner::new(KernelId::Portable));
            let Scanner { table, findings, judged, attempts, .. } = scanner;
            let table = LineTable::of(table, Grammar::Rfc3986);
            by(&mut Judge::new(table, attempts, judged, &self.body, whatwg), findings);
            self.n_by_table += usize::from(!attempts.streams.on);
            let found: Judged = judged.all().iter().map(|line| (line.place(), line.verdict())).collect();
            assert!(found == self.expected, "{name} on \"{}\"", self.body.escape_ascii());
            for line in judged.all().iter().filter(|line| line.is_plain_url()) {
                let text = &self.body[line.place()];
                assert!(
                    whatwg && PlainUrl::of(text, true).is_some(),
                    "{name} on \"{}\"",
                    text.escape_ascii()
                );
                self.n_plain_urls += 1;
            }
        }
    }

    impl Visit for Check {
        fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
            for whatwg in [false, true] {
                self.compare(name, whatwg, |judge, findings| judge.by_streams(kernel, findings, 4096));
            }
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
            check.compare("the table", false, |judge, _| judge.by_table(all));
            each(&mut check);
        }
        assert!(cfg!(miri) || check.n_by_table > 100, "the table: {} times", check.n_by_table);
        assert!(check.n_plain_urls > if cfg!(miri) { 1 } else { 500 }, "{} plain URLs", check.n_plain_urls);
    }
}
