//! Passes whole lines to a [`LineSink`], most of them counted in bulk, or judges each of them ([`Scanner::judge`]). This is the only hot loop.
//!
//! With vector instructions, bit streams decide the verdicts of many lines at once (`bitstreams`, `lanes`). Without
//! them, the table scan walks several lanes side by side (`table_scan`). It also takes the segments that follow one with
//! many listed lines, because it is faster there.
//!
//! Terms of this folder:
//!
//! - A *segment* is what the bit streams or the table scan take at a time: whole lines of about 512 KiB. It is cut into
//!   *lanes*, which are read side by side. After each *stripe* of some blocks of all lanes, listed lines are collected.
//! - *Listed lines* are the lines that the bit streams do not judge. The table scan judges them ([`line_table`]).
//! - Lines *counted in bulk* reach the sink only as a number. All that is counted of them follows from their
//!   outcome and a few counters ([`Bulk`]). The others are passed on one by one, with their outcome. Listed lines are counted in bulk
//!   if the sink takes lines of their outcome so.
//!
//! The sink decides what happens to a line: the scan counts it, and `urlsift split` records where it is. The engine
//! knows no tally.
//!
//! A part of the crate `urlsift`, for that crate alone: it promises no stability.

#![deny(unsafe_code)]
#![allow(
    missing_docs,
    clippy::must_use_candidate,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::len_without_is_empty,
    clippy::return_self_not_must_use,
    clippy::should_implement_trait,
    reason = "what is public is what the crate urlsift re-exports"
)]
#![cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    allow(dead_code, reason = "streams, and what serves them alone, are compiled where there are kernels")
)]

pub mod place;
pub mod example;
pub mod lines;
pub mod plain_hosts;
pub mod simd;
pub mod line_automaton;
mod line_table;
mod table_scan;
mod bitstreams;
pub mod lanes;
pub mod judge_lines;
pub mod values;

use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::{fmt, iter};

use memchr::{memchr, memchr_iter};

use crate::example::Line;
use crate::judge_lines::{Judge, JudgedLine, JudgedLines};
use crate::lanes::{Findings, LaneReader, List, ListedLine, STRIPE_LEN};
use crate::line_automaton::{Outcome, SchemeOf};
use crate::line_table::{LineTable, N_OUTCOMES, NO_OUTCOME, is_long};
use crate::lines::{cut, last_end, trim_terminator};
use crate::place::{Extent, Place};
#[cfg(target_arch = "aarch64")]
use crate::simd::Neon;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512, Gfni};
use crate::simd::{Kernel, KernelId, LANES};
use crate::table_scan::{Ended, scan_lanes};
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::{Grammar, Verdict};

/// Does `$by_streams` with the kernel of a name, which this machine has, or `$by_table` for the portable one.
macro_rules! by_kernel {
    ($name:expr, $by_table:expr, |$kernel:ident| $by_streams:expr) => {{
        let missing = "the scanner was made for a kernel of this machine";
        match $name {
            KernelId::Portable => $by_table,
            #[cfg(target_arch = "x86_64")]
            KernelId::Avx2 => {
                let $kernel = Avx2::detect().expect(missing);
                $by_streams
            }
            #[cfg(target_arch = "x86_64")]
            KernelId::Avx2Gfni => {
                let $kernel = Gfni::detect().expect(missing);
                $by_streams
            }
            #[cfg(target_arch = "x86_64")]
            KernelId::Avx512 => {
                let $kernel = Avx512::detect().expect(missing);
                $by_streams
            }
            #[cfg(target_arch = "aarch64")]
            KernelId::Neon => {
                let $kernel = Neon::detect().expect(missing);
                $by_streams
            }
            _ => unreachable!("{missing}"),
        }
    }};
}

/// A receiver of lines. Each line reaches it once: alone or counted in bulk.
pub trait LineSink {
    /// What the sink needs of the lines from `place` on.
    fn needs(&self, place: Place) -> Needs;

    /// Whether lines that the table judges are counted in bulk from `place` on if they have this outcome. An outcome that is counted in
    /// bulk from one place on is so from any later one, and its verdict needs no more examples. [`Self::scheme`] takes those schemes that are not known.
    fn is_in_bulk(&self, outcome: &Outcome, place: Place) -> bool;

    /// Takes the scheme of a line. The rest of the line is counted in bulk. Its outcome has [`SchemeOf::Other`].
    fn scheme(&mut self, _line: &[u8], _verdict: Verdict) {}

    /// Takes a line that is not counted in bulk, with its outcome. A blank line has none.
    fn line(&mut self, entry: &Line<'_>, line: &[u8], outcome: Option<&Outcome>);

    /// Takes the lines of a segment that are counted in bulk, after its other lines. `stripes` have all lines counted in bulk
    /// with the verdicts of [`Needs::examples`], and other lines. They come in the order of the lines.
    fn bulk(&mut self, bulk: &Bulk, stripes: &mut dyn Iterator<Item = Stripe<'_>>);

    /// Takes a run, after all its lines have reached the sink.
    fn cover(&mut self, run: &Run<'_>);
}

/// What a sink needs of lines, besides their number by scheme and verdict.
pub struct Needs {
    /// The lines that are listed although the bit streams could count them in bulk.
    pub list: List,
    /// The verdicts, one bit each, that still need example lines. The bit streams may count their lines in bulk
    /// nevertheless.
    pub examples: u32,
}

/// Whole lines that follow each other. Lines are numbered from the start of their run.
pub struct Run<'a> {
    /// The lines, with their terminators.
    pub bytes: &'a [u8],
    /// Where they begin.
    pub place: Place,
    /// How many there are.
    pub lines: u64,
}

impl Run<'_> {
    /// Where a byte is.
    pub fn place_of(&self, at: usize) -> Place {
        Place { offset: self.place.offset + at as u64, ..self.place }
    }

    /// The range of the input.
    pub fn extent(&self) -> Extent {
        let Place { input, offset } = self.place;
        Extent::of_bytes(input, offset, offset + self.bytes.len() as u64, self.lines)
    }
}

/// The whole lines that end in a stripe of a lane.
pub struct Stripe<'a> {
    pub bytes: &'a [u8],
    pub place: Place,
    segment: &'a Segment<'a>,
    findings: &'a Findings,
    lane: usize,
    start: usize,
}

impl Stripe<'_> {
    /// How many lines of their run precede these. Linear in the length of the segment before them.
    pub fn lines_before(&self) -> u64 {
        self.segment.lines_before(self.findings, self.lane, self.start)
    }
}

/// The lines of a segment that are counted in bulk. Except for `cr`, the counters leave out lines that are passed on one by one.
#[derive(Default)]
pub struct Bulk {
    /// Judged lines by outcome.
    pub lines: Vec<(Outcome, u64)>,
    /// Blank lines.
    pub blank: u64,
    /// Lines that end in CR, including those that are passed on one by one.
    pub cr: u64,
    /// Lines by advisory. The outcomes of lines that the bit streams count have none.
    pub advised: Vec<(Advisory, u64)>,
    /// Lines that RFC 3986 refuses, by component and cause. Their outcomes do not say why.
    pub defects: Vec<(Component, Cause, u64)>,
}

/// How many judged lines took which way through the engine. It depends on the kernel and is not part of a tally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathCounts {
    /// Lines counted in bulk, without listed lines.
    pub bulk: u64,
    /// Lines that the bit streams listed, and lines of the table scan that were passed on one by one.
    pub listed: u64,
}

impl PathCounts {
    /// Adds the lines of `other`.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { bulk: self.bulk + other.bulk, listed: self.listed + other.listed }
    }
}

/// How many lanes the table scan walks side by side. A walk mostly waits for its table entry, and the other walks hide
/// that latency.
const TABLE_LANES: usize = 6;

/// How many segments pass after an [`Attempt`] in vain before the next one. Each time it is in vain again, twice as many pass.
pub const FIRST_PAUSE: usize = 7;
const LONGEST_PAUSE: usize = 127;

/// Divided by the number of lanes, this is how many bytes per listed line the bit streams have to read to be faster than the table scan.
/// The more lanes, the further they are ahead.
const BYTES_PER_LISTED: u64 = 1200;

/// The bit streams count lines in bulk that no grammar accepts while each segment has more of them than one in so many bytes. If there
/// are fewer, it costs all lines more than these few save.
const BYTES_PER_DEFECT: u64 = 2048;

/// The same for lines with rare features ([`LaneReader`]).
const BYTES_PER_RARE: u64 = 16384;

/// How many bytes of listed lines are collected before the table scan walks them.
const LISTED_LEN: usize = 16 << 10;

/// The approximate length of a segment for the bit streams, in bytes. Larger segments spend less time on the starts and ends of
/// lanes. Smaller segments need less memory for the masks of their steps: at this size, 64 to 256 kilobytes.
pub const SEGMENT_LEN: usize = 512 << 10;

/// The length of the first segment if the sink has no example yet. The next ones are longer and longer.
const FIRST_SEGMENT_LEN: usize = SEGMENT_LEN / 16;

/// Scans lines. What it has learned of earlier lines makes it faster and changes no result: a worker thread uses one scanner for all its
/// chunks.
pub struct Scanner {
    kernel: KernelId,
    /// The table of the grammar that was used last.
    table: Option<Box<LineTable>>,
    /// The memory that is reused for all segments.
    findings: Findings,
    /// The lines of [`Self::judge`].
    judged: JudgedLines,
    attempts: Attempts,
}

/// What the engine does only while it pays.
struct Attempts {
    /// Whether the bit streams read the next segment. Otherwise the table scan reads it.
    streams: Attempt,
    /// How many lines the bit streams have listed in [`Scanner::judge`] since the last decision about them, and in how many bytes.
    listed: (u64, usize),
    /// Whether the bit streams count lines in bulk that no grammar accepts.
    defects: Attempt,
    /// Whether the bit streams count lines with rare features in bulk.
    rare: Attempt,
}

impl Scanner {
    /// A scanner by the given kernel. It takes some 300 kilobytes once it has seen lines, and up to 1,300 more once it has judged them one by one.
    ///
    /// # Panics
    /// If this machine does not have the kernel.
    #[must_use]
    pub fn new(kernel: KernelId) -> Self {
        assert!(kernel.is_available(), "{kernel} is available");
        let attempts = Attempts {
            streams: Attempt::new(true),
            listed: (0, 0),
            defects: Attempt::new(false),
            rare: Attempt::new(false),
        };
        let (findings, judged) = Default::default();
        Self { kernel, table: None, findings, judged, attempts }
    }

    /// Passes all lines of `body` to `sink`, in no particular order. Returns which way they took.
    ///
    /// `body` begins at `place` and has no byte order mark.
    pub fn scan(&mut self, sink: &mut dyn LineSink, body: &[u8], place: Place) -> PathCounts {
        let Self { kernel, table, findings, attempts, .. } = self;
        let table = LineTable::of(table, sink.needs(place).list.grammar);
        let path_counts = PathCounts::default();
        let mut engine = Engine { sink, table, attempts, path_counts, n_bad: 0, n_defects: 0, n_rare: 0 };
        by_kernel!(kernel, engine.scan_by_table(body, place), |kernel| {
            engine.stream_all(kernel, findings, body, place);
        });
        engine.path_counts
    }

    /// The lines of `body`, in order, with their verdicts. With `whatwg`, most plain URLs [are known](JudgedLine::is_plain_url), and more lines are left to the table.
    ///
    /// # Panics
    /// If `body` has 4 GiB or more.
    pub fn judge(&mut self, body: &[u8], whatwg: bool) -> &[JudgedLine] {
        assert!(u32::try_from(body.len()).is_ok(), "a chunk is shorter than 4 GiB");
        let Self { kernel, table, findings, judged, attempts } = self;
        let table = LineTable::of(table, Grammar::Rfc3986);
        let mut judge = Judge::new(table, attempts, judged, body, whatwg);
        by_kernel!(kernel, judge.by_table(0..body.len()), |kernel| {
            judge.by_streams(kernel, findings, SEGMENT_LEN);
        });
        judged.all()
    }
}

/// The offset at which each lane begins. The first begins at `start`.
fn lanes_at<const N: usize>(mut start: usize, lanes: &[&[u8]; N]) -> [usize; N] {
    lanes.map(|lane| {
        start += lane.len();
        start - lane.len()
    })
}

impl Default for Scanner {
    /// A scanner by the fastest kernel of this machine.
    fn default() -> Self {
        Self::new(KernelId::best())
    }
}

/// Scanners for several threads. Each piece of work takes one that is idle, or a new one. Clones share the idle ones.
#[derive(Clone)]
pub struct Scanners {
    kernel: KernelId,
    idle: Arc<Mutex<Vec<Scanner>>>,
}

impl Scanners {
    /// No scanners yet, for the given kernel.
    #[must_use]
    pub fn new(kernel: KernelId) -> Self {
        Self { kernel, idle: Arc::default() }
    }

    /// The same scanners, for another kernel from now on.
    #[must_use]
    pub fn by(&self, kernel: KernelId) -> Self {
        Self { kernel, ..self.clone() }
    }

    /// Does some work with a scanner.
    ///
    /// # Panics
    /// If this machine does not have the kernel.
    pub fn with<R>(&self, work: impl FnOnce(&mut Scanner) -> R) -> R {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let take = |mut idle: MutexGuard<'_, Vec<Scanner>>| {
            let at = idle.iter().rposition(|scanner| scanner.kernel == self.kernel)?;
            Some(idle.swap_remove(at))
        };
        let mut scanner = take(idle()).unwrap_or_else(|| Scanner::new(self.kernel));
        let result = work(&mut scanner);
        idle().push(scanner);
        result
    }
}

impl fmt::Debug for Scanners {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Scanners").field("kernel", &self.kernel).finish_non_exhaustive()
    }
}

struct Engine<'a> {
    sink: &'a mut dyn LineSink,
    table: &'a mut LineTable,
    attempts: &'a mut Attempts,
    path_counts: PathCounts,
    /// How many listed lines no grammar accepts.
    n_bad: u64,
    /// How many lines that no grammar accepts were counted in bulk by the bit streams.
    n_defects: u64,
    /// About how many lines of the bit streams had rare features and were counted in bulk.
    n_rare: u64,
}

impl Engine<'_> {
    /// Passes on all lines of `body`, which begins at `place`, by the bit streams.
    fn stream_all<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, body: &[u8], place: Place) {
        let (mut rest, mut at) = (body, place);
        // The segment that gives the sink its first examples lists its lines to its end.
        let Needs { list, examples } = self.sink.needs(place);
        let is_fresh = examples == u32::MAX;
        let mut segment_len = if is_fresh { FIRST_SEGMENT_LEN } else { SEGMENT_LEN };
        while !rest.is_empty() {
            let (len, is_whole) = first_segment(rest, segment_len);
            let (segment, behind) = rest.split_at(len);
            segment_len = SEGMENT_LEN.min(2 * segment_len);
            if !is_whole {
                // The line does not fit a segment. With bit streams, the masks of its steps would take as much memory
                // as the line. Or the line has no LF.
                self.one(segment, at);
            } else if !self.attempts.streams.on && !list.whatwg {
                self.attempts.streams = self.attempts.streams.next(false, true);
                self.scan_by_table(segment, at);
            } else {
                let counts = |engine: &Self| {
                    [engine.path_counts.listed, engine.n_bad, engine.n_defects, engine.n_rare]
                };
                let before = counts(self);
                let (defects, rare) = (self.attempts.defects, self.attempts.rare);
                self.stream(kernel, findings, &Segment::new(segment, K::LANES, at));
                let [listed, n_bad, n_defects, n_rare] = std::array::from_fn(|n| counts(self)[n] - before[n]);
                let len = segment.len() as u64;
                // A short segment predicts little about the next ones. At the start of a scan, it can show that many lines are refused.
                let is_short = segment.len() <= SEGMENT_LEN / 4;
                if !is_short || is_fresh && !defects.on {
                    let many = |lines| lines * BYTES_PER_DEFECT > len;
                    self.attempts.defects = defects.next(many(n_defects), many(n_bad));
                }
                if !is_short {
                    let many = |lines| lines * BYTES_PER_RARE > len;
                    self.attempts.rare = rare.next(many(n_rare), many(n_rare + listed));
                }
                let is_tried = |before: Attempt, now: Attempt| now.on && !before.on;
                let Attempts { streams, defects: defects_now, rare: rare_now, .. } = &mut *self.attempts;
                if !is_short && !is_tried(defects, *defects_now) && !is_tried(rare, *rare_now) {
                    // For the parser, the table scan passes on what the bit streams list, and most other lines too.
                    *streams = streams.next(pays::<K>(listed, segment.len()) || list.whatwg, true);
                }
            }
            rest = behind;
            at.offset += segment.len() as u64;
        }
    }

    /// Passes on all lines of a segment.
    fn stream<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, segment: &Segment<'_>) {
        let mut needs = self.sink.needs(segment.place);
        if !self.attempts.defects.on {
            needs.list.bulk_defects = 0;
        }
        let mut reader = LaneReader::new(kernel, &segment.lanes, needs.list, self.attempts.rare.on, findings);
        let mut lines_of_all = 0;
        let (mut listed, mut by_outcome) = (ListedLines::new(), ByOutcome::default());
        // The stripes with lines that were counted in bulk and have a verdict without examples.
        let lacking = needs.examples & Findings::plain_verdicts();
        let (mut stripes, mut n_stripes, mut known) = (Vec::new(), 0, 0);
        while reader.stripe(findings) {
            findings.each_listed(|line| {
                let bytes = &segment.lanes[line.lane][line.start..];
                listed.push(bytes, segment.line(&line).len(), line);
            });
            if listed.bytes.len() >= LISTED_LEN {
                lines_of_all += self.judge_listed(findings, segment, &mut listed, &mut by_outcome);
            }
            if lacking != 0 {
                let plain = findings.plain().filter(|(_, verdict, _)| lacking >> verdict.bits() & 1 == 1);
                let lines = plain.map(|(.., lines)| lines).sum();
                if lines > known {
                    stripes.push(n_stripes);
                    known = lines;
                }
            }
            n_stripes += 1;
        }
        lines_of_all += self.judge_listed(findings, segment, &mut listed, &mut by_outcome);
        self.n_rare += reader.n_rare();
        let plain = findings.plain().filter(|(.., lines)| *lines > 0);
        let plain = plain.map(|(known, verdict, lines)| (Outcome::plain(known, verdict), lines));
        let of_listed: Vec<_> = by_outcome.lines(self.table).collect();
        let n_listed = of_listed.iter().map(|(_, lines)| lines).sum::<u64>();
        let of_none = of_listed.iter().filter(|(outcome, _)| outcome.verdict.is_empty());
        self.n_bad += of_none.map(|(_, lines)| lines).sum::<u64>();
        let bulk = Bulk {
            lines: plain.chain(of_listed).collect(),
            blank: findings.blank(),
            cr: findings.cr(),
            advised: findings.advised().collect(),
            defects: findings.defects().filter(|(.., lines)| *lines > 0).collect(),
        };
        self.n_defects += bulk.defects.iter().map(|(.., lines)| lines).sum::<u64>();
        let findings = &*findings;
        let in_lane = |lane| stripes.iter().map(move |&stripe| segment.stripe(findings, lane, stripe));
        let n_judged = self.bulk(&bulk, &mut (0..K::LANES).flat_map(in_lane));
        lines_of_all += bulk.blank + n_judged;
        self.path_counts.bulk += n_judged - n_listed;
        self.path_counts.listed += n_listed;
        self.sink.cover(&Run { bytes: segment.bytes, place: segment.place, lines: lines_of_all });
    }

    /// Judges listed lines of a segment by the table. Counts them by outcome, or passes them on. Returns how many were passed on.
    fn judge_listed(
        &mut self,
        findings: &Findings,
        segment: &Segment<'_>,
        lines: &mut ListedLines<ListedLine>,
        by_outcome: &mut ByOutcome,
    ) -> u64 {
        let mut n_passed_on = 0;
        let Self { sink, table, path_counts, n_bad, .. } = self;
        lines.walk(table, |at, line, n, table| {
            let way = by_outcome.way(n, || {
                let outcome = table.outcome_of(n, line);
                let is_in_bulk = n != NO_OUTCOME && sink.is_in_bulk(&outcome, segment.place);
                let by_name = outcome.scheme == SchemeOf::Other;
                if is_in_bulk { Way::InBulk { n_lines: 0, by_name } } else { Way::PassedOn }
            });
            if let Way::InBulk { n_lines, by_name } = way
                && !is_long(line.len())
            {
                *n_lines += 1;
                if *by_name {
                    sink.scheme(line, table.outcome_of(n, line).verdict);
                }
            } else {
                n_passed_on += 1;
                let listed = &lines.listed[at].0;
                let number = || segment.number(findings, listed);
                let outcome = table.outcome_of(n, line);
                path_counts.listed += pass_on(*sink, &segment.entry(listed, &number), line, &outcome);
                *n_bad += u64::from(outcome.verdict.is_empty());
            }
        });
        lines.clear();
        n_passed_on
    }

    /// Passes on all lines of `body`, which begins at `place`, by the table scan.
    fn scan_by_table(&mut self, body: &[u8], place: Place) {
        let mut offset = place.offset;
        let lanes = cut::<TABLE_LANES>(body, TABLE_LANES);
        let places = lanes.map(|lane| {
            let at = Place { offset, ..place };
            offset += lane.len() as u64;
            at
        });
        // For each outcome, one bit for each lane that counts it in bulk from here on.
        let mut in_bulk = [0_u8; N_OUTCOMES];
        // The same for outcomes with a scheme that is passed on for each line.
        let mut but_scheme = [0_u8; N_OUTCOMES];
        for (n, outcome) in self.table.outcomes().iter().enumerate().skip(1) {
            let lanes = if self.sink.is_in_bulk(outcome, place) { u8::MAX } else { 0 };
            if outcome.scheme == SchemeOf::Other { but_scheme[n] = lanes } else { in_bulk[n] = lanes }
        }
        let mut counts = [0_u32; N_OUTCOMES];
        let mut cr = 0;
        let mut listed = TableLister {
            sink: self.sink,
            path_counts: &mut self.path_counts,
            lanes: &lanes,
            places: &places,
            but_scheme,
        };
        // The code for each line end is small, so that it is inlined.
        let lines = scan_lanes(self.table, lanes, |lane, ended, table| {
            cr += u64::from(ended.cr);
            let at = usize::from(ended.outcome) % N_OUTCOMES;
            if in_bulk[at] >> lane & 1 == 1 && !is_long(ended.end - ended.start) {
                counts[at] += 1;
            } else {
                let Ended { number, start, end, outcome, .. } = ended;
                let (lines, is_in_bulk) = listed.pass_on(lane, number, start..end, (table, outcome));
                counts[at] += lines;
                in_bulk[at] |= is_in_bulk;
            }
        });
        let counted = self.table.outcomes().iter().zip(counts).filter(|(_, lines)| *lines > 0);
        let counted = counted.map(|(&outcome, lines)| (outcome, lines.into())).collect();
        let n_judged = self.bulk(&Bulk { lines: counted, cr, ..Bulk::default() }, &mut iter::empty());
        self.path_counts.bulk += n_judged;
        // Each lane numbers its lines from 1, so each is a run. The tally joins them.
        for ((bytes, place), lines) in lanes.into_iter().zip(places).zip(lines) {
            self.sink.cover(&Run { bytes, place, lines });
        }
    }

    /// Passes on a line about which nothing is known, not even whether it has a terminator.
    fn one(&mut self, bytes: &[u8], place: Place) {
        let (line, cr) = trim_terminator(bytes);
        let outcome = self.table.outcome_of_line(line);
        let outcome = self.table.outcome_of(outcome, line);
        self.path_counts.listed += pass_on(self.sink, &Line::whole(place, &|| 1, line), line, &outcome);
        self.sink.bulk(&Bulk { cr: u64::from(cr), ..Bulk::default() }, &mut iter::empty());
        self.sink.cover(&Run { bytes, place, lines: 1 });
    }

    /// Passes on the lines of a segment that are counted in bulk. Returns how many judged lines these are.
    fn bulk(&mut self, bulk: &Bulk, stripes: &mut dyn Iterator<Item = Stripe<'_>>) -> u64 {
        self.sink.bulk(bulk, stripes);
        bulk.lines.iter().map(|(_, lines)| lines).sum()
    }
}

/// The length of the first segment of some lines, if they are cut after about `len` bytes. Also returns whether it consists of whole lines.
/// If not, it is one line, which does not fit a segment or has no LF.
fn first_segment(lines: &[u8], len: usize) -> (usize, bool) {
    match last_end(&lines[..lines.len().min(len)]) {
        Some(end) => (end, true),
        None => (memchr(b'\n', lines).map_or(lines.len(), |lf| lf + 1), false),
    }
}

/// Whether the bit streams are faster on so many bytes than the table scan, if they list so many lines.
fn pays<K: Kernel>(listed: u64, len: usize) -> bool {
    listed * BYTES_PER_LISTED / K::LANES as u64 <= len as u64
}

/// Listed lines of a segment. Their bytes are copied while they are in the cache, so that the table scan can walk them side by side.
struct ListedLines<L> {
    bytes: Vec<u8>,
    /// Each line, and the offset of its LF in `bytes`.
    listed: Vec<(L, usize)>,
}

impl<L> ListedLines<L> {
    const fn new() -> Self {
        Self { bytes: Vec::new(), listed: Vec::new() }
    }

    /// Adds a line, which begins `bytes`. Not inlined, because few lines are listed, and the loops around it need the registers.
    #[inline(never)]
    fn push(&mut self, bytes: &[u8], len: usize, listed: L) {
        // Most lines are short, and a copy of constant length is a few instructions.
        match bytes.first_chunk::<64>() {
            Some(some) if len <= some.len() => {
                self.bytes.extend_from_slice(some);
                self.bytes.truncate(self.bytes.len() - (some.len() - len));
            }
            _ => self.bytes.extend_from_slice(&bytes[..len]),
        }
        self.listed.push((listed, self.bytes.len()));
        self.bytes.push(b'\n');
    }

    /// Walks all lines by the table, and passes to `each` the index of each line in `listed`, the line, and the number of its outcome.
    #[inline(always)]
    fn walk(&self, table: &mut LineTable, mut each: impl FnMut(usize, &[u8], u16, &LineTable)) {
        if self.listed.is_empty() {
            return;
        }
        let lanes = cut::<TABLE_LANES>(&self.bytes, TABLE_LANES);
        let first = self.first_of(&lanes);
        scan_lanes(table, lanes, |lane, Ended { number, start, end, outcome, .. }, table| {
            let in_lane = usize::try_from(number).expect("the lines are in memory") - 1;
            each(first[lane] + in_lane, &lanes[lane][start..end], outcome, table);
        });
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.listed.clear();
    }

    /// The index in `listed` of the first line of each lane of `bytes`.
    fn first_of(&self, lanes: &[&[u8]; TABLE_LANES]) -> [usize; TABLE_LANES] {
        let mut start = 0;
        lanes.map(|lane| {
            let first = self.listed.partition_point(|&(_, end)| end < start);
            start += lane.len();
            first
        })
    }
}

/// What becomes of the listed lines of a segment, by outcome.
#[derive(Default)]
struct ByOutcome(Vec<Way>);

/// What becomes of listed lines with one outcome.
#[derive(Clone, Copy, Default)]
enum Way {
    /// None was met yet.
    #[default]
    Unknown,
    /// They are passed on one by one.
    PassedOn,
    /// So many were counted, and their schemes were passed on if `by_name`.
    InBulk { n_lines: u32, by_name: bool },
}

impl ByOutcome {
    /// The way of the outcome of number `n`. `find` finds it the first time.
    #[inline(always)]
    fn way(&mut self, n: u16, find: impl FnOnce() -> Way) -> &mut Way {
        let n = usize::from(n);
        if n >= self.0.len() {
            self.0.resize(n + 1, Way::Unknown);
        }
        let way = &mut self.0[n];
        if matches!(way, Way::Unknown) {
            *way = find();
        }
        way
    }

    /// The numbers of lines by outcome.
    fn lines(&self, table: &LineTable) -> impl Iterator<Item = (Outcome, u64)> {
        table.outcomes().iter().zip(&self.0).filter_map(|(&outcome, way)| match *way {
            Way::InBulk { n_lines, .. } => Some((outcome, n_lines.into())),
            _ => None,
        })
    }
}

/// Whether the engine does something that pays on some lists and costs time on others. It is tried on a segment if it may pay, and
/// goes on while it pays. After a try in vain, some segments pass before the next one.
#[derive(Clone, Copy)]
struct Attempt {
    on: bool,
    /// How many more segments pass before one decides about the next try.
    left: usize,
    /// How many segments pass after the next try in vain.
    pause: usize,
}

impl Attempt {
    const fn new(on: bool) -> Self {
        Self { on, left: 0, pause: FIRST_PAUSE }
    }

    /// Decides for the next segment. `paid` tells whether it paid on the last segment, and `may_pay` whether it might have.
    fn next(self, paid: bool, may_pay: bool) -> Self {
        let Self { on, left, pause } = self;
        match (on, paid) {
            (true, true) => Self::new(true),
            (true, false) => Self { on: false, left: pause - 1, pause: (2 * pause + 1).min(LONGEST_PAUSE) },
            (false, _) => Self { on: left == 0 && may_pay, left: left.saturating_sub(1), pause },
        }
    }
}

/// Passes on a line with its outcome. Returns the number of judged lines: 0 for a blank line, otherwise 1.
#[inline]
fn pass_on(sink: &mut dyn LineSink, entry: &Line<'_>, line: &[u8], outcome: &Outcome) -> u64 {
    sink.line(entry, line, (!line.is_empty()).then_some(outcome));
    u64::from(!line.is_empty())
}

/// Passes on lines of the table scan that are not counted in bulk.
struct TableLister<'a> {
    sink: &'a mut dyn LineSink,
    path_counts: &'a mut PathCounts,
    lanes: &'a [&'a [u8]; TABLE_LANES],
    places: &'a [Place; TABLE_LANES],
    /// For each outcome with [`SchemeOf::Other`], one bit for each lane. If it is set, only the schemes of lines are passed on.
    but_scheme: [u8; N_OUTCOMES],
}

impl TableLister<'_> {
    /// Passes on a line, or only its scheme. Returns two numbers. The first is 1 if the rest of the line is to be counted in bulk. The
    /// second has the bit of the lane if the next lines of this outcome can be counted in bulk there. Otherwise they are 0.
    #[inline(never)]
    fn pass_on(
        &mut self,
        lane: usize,
        number: u64,
        line: Range<usize>,
        (table, n): (&LineTable, u16),
    ) -> (u32, u8) {
        let start = line.start as u64;
        let line = &self.lanes[lane][line];
        let outcome = table.outcome_of(n, line);
        let but_scheme = &mut self.but_scheme[usize::from(n) % N_OUTCOMES];
        if *but_scheme >> lane & 1 == 1 && !is_long(line.len()) {
            self.sink.scheme(line, outcome.verdict);
            return (1, 0);
        }
        let place = Place { offset: self.places[lane].offset + start, ..self.places[lane] };
        self.path_counts.listed += pass_on(self.sink, &Line::whole(place, &|| number, line), line, &outcome);
        let bit = u8::from(n != NO_OUTCOME && self.sink.is_in_bulk(&outcome, place)) << lane;
        if outcome.scheme == SchemeOf::Other {
            *but_scheme |= bit;
            return (0, 0);
        }
        (0, bit)
    }
}

/// A segment of whole lines for the bit streams.
struct Segment<'a> {
    bytes: &'a [u8],
    place: Place,
    lanes: [&'a [u8]; LANES],
    /// The offset in the segment at which each lane begins.
    starts: [usize; LANES],
    /// How many lanes have been counted, and how many lines of the segment precede each of these and the next.
    counted: Cell<(usize, [u64; LANES])>,
}

impl<'a> Segment<'a> {
    /// Cuts a segment into `n_lanes` lanes of whole lines.
    fn new(bytes: &'a [u8], n_lanes: usize, place: Place) -> Self {
        let lanes: [&[u8]; LANES] = cut(bytes, n_lanes);
        let starts = lanes_at(0, &lanes);
        Self { bytes, place, lanes, starts, counted: Cell::default() }
    }

    /// The lines that end in the stripe with this number of a lane.
    fn stripe(&'a self, findings: &'a Findings, lane: usize, number: usize) -> Stripe<'a> {
        let bytes = self.lanes[lane];
        // The end of the last line that ends before a stripe.
        let end_before =
            |number: usize| last_end(&bytes[..bytes.len().min(number * STRIPE_LEN)]).unwrap_or(0);
        let (start, end) = (end_before(number), end_before(number + 1));
        let (bytes, place) = (&bytes[start..end], self.place_of(lane, start));
        Stripe { bytes, place, segment: self, findings, lane, start }
    }

    #[inline]
    fn line(&self, listed: &ListedLine) -> &'a [u8] {
        trim_terminator(&self.lanes[listed.lane][listed.start..listed.end]).0
    }

    #[inline]
    fn entry<'b>(&self, listed: &ListedLine, number: &'b dyn Fn() -> u64) -> Line<'b>
    where
        'a: 'b,
    {
        Line::whole(self.place_of(listed.lane, listed.start), number, self.line(listed))
    }

    #[inline]
    fn place_of(&self, lane: usize, at: usize) -> Place {
        Place { offset: self.place.offset + (self.starts[lane] + at) as u64, ..self.place }
    }

    /// The number of a line.
    fn number(&self, findings: &Findings, listed: &ListedLine) -> u64 {
        self.lines_before(findings, listed.lane, listed.start) + 1
    }

    /// How many lines precede byte `at` of a lane. Linear in the length of the lane and of the lanes before
    /// it that have not been counted yet.
    fn lines_before(&self, findings: &Findings, lane: usize, at: usize) -> u64 {
        let (mut n_counted, mut lines) = self.counted.get();
        while n_counted < lane {
            let more = memchr_iter(b'\n', self.lanes[n_counted]).count() as u64;
            lines[n_counted + 1] = lines[n_counted] + more;
            n_counted += 1;
        }
        self.counted.set((n_counted, lines));
        lines[lane] + findings.lines_before(lane, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_in_vain_become_rare() {
        let mut attempt = Attempt::new(true);
        let mut pauses = Vec::new();
        for _ in 0..6 {
            attempt = attempt.next(false, true);
            let mut pause = 0;
            while !attempt.on {
                attempt = attempt.next(false, true);
                pause += 1;
            }
            pauses.push(pause);
        }
        assert_eq!(pauses, [7, 15, 31, 63, 127, 127]);
        assert_eq!(attempt.next(true, true).next(false, true).left, 6);
        assert!(!Attempt::new(false).next(true, false).on);
    }
}
