//! Whole lines through the pipeline into a tally: the only hot loop.
//!
//! Most lines of a list are like many others: all there is to count of them follows from their scheme and verdict, and they are
//! counted in bulk. Where there are vectors, the streams decide them (`streams.rs`), and elsewhere the machine does, at
//! several places side by side (`walk.rs`). The others are counted one by one (`observe.rs`).

use std::cell::Cell;

use memchr::{memchr, memchr_iter};

use crate::advisory::{Advisories, Advisory};
use crate::bulk::Search;
use crate::census::{SecondLook, Wanted};
use crate::example::Line;
use crate::grammar::{Grammar, Verdict};
#[cfg(target_arch = "x86_64")]
use crate::kernel::{Avx2, Avx512};
use crate::kernel::{Kernel, KernelId, LANES};
use crate::lanes::{Findings, Known, List, ListedLine, Reader, STRIPE_LEN, decides};
use crate::observe::Observer;
use crate::shard::{cut, last_end, skip_byte_order_mark, trim_terminator};
use crate::tally::{ByVerdict, Place, Run, Tally};
use crate::walk::{Fact, OUTCOMES, Outcome, outcomes, walk};

pub use crate::census::{DistinctWanted, TopWanted};

/// What changes a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The grammar whose refusals are explained: counted by component and cause, with examples.
    pub grammar: Grammar,
    /// Whether it is counted how long judged lines are ([`Tally::lengths`]). Takes as long as the rest, on short lines.
    pub lengths: bool,
    /// Of what the most frequent are counted ([`Tally::top_hosts`] and others). Takes several times as long as the rest.
    pub top: TopWanted,
    /// Of what the different ones are counted ([`Tally::distinct_hosts`] and others). Takes several times as long as the rest.
    pub distinct: DistinctWanted,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grammar: Grammar::Rfc3986,
            lengths: false,
            top: TopWanted::default(),
            distinct: DistinctWanted::default(),
        }
    }
}

impl Options {
    /// What has to be counted line by line.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { lengths: self.lengths, top: self.top, distinct: self.distinct }
    }
}

/// Judges all lines of `bytes`, a whole corpus in memory, and counts them as input 0.
///
/// Lines end as everywhere: in LF with all CRs directly before it; a byte order mark at the start is skipped. Linear in the
/// number of bytes; allocates a few megabytes at most, whatever the input.
///
/// ```
/// use urlsift::{Grammar, scan};
///
/// let tally = scan(b"http://example.org/\nftp://example.org/a;b\n\n", &scan::Options::default());
/// assert_eq!((tally.lines(), tally.blank), (3, 1));
/// assert_eq!(tally.judged().accepted(Grammar::Rfc3986), 2);
/// assert_eq!(tally.judged().accepted(Grammar::Rfc1738), 1); // no ";" in an ftp path
/// ```
#[must_use]
pub fn scan(bytes: &[u8], options: &Options) -> Tally {
    scan_part(bytes, Place { input: 0, offset: 0 }, options)
}

/// Judges all lines of `bytes`, a part of an input that begins at `place`, and counts them.
///
/// The part must begin where a line of the input begins and end where one or the input ends. The tallies of all parts of
/// an input, merged in any order, are the tally of the input. Costs what [`scan`] costs.
#[must_use]
pub fn scan_part(bytes: &[u8], place: Place, options: &Options) -> Tally {
    let mut tally = Tally::default();
    scan_into(&mut tally, KernelId::best(), bytes, place, options);
    tally
}

/// How many judged lines took which way through the scan. It depends on the kernel, and is no part of a tally.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ways {
    /// Counted in bulk, never looked at one by one.
    pub plain: u64,
    /// Verdict known, and looked at for its scheme, its advisories or its defect.
    pub attended: u64,
    /// Judged one by one by the machine.
    pub hard: u64,
}

impl Ways {
    /// Adds the lines of `other`.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self {
            plain: self.plain + other.plain,
            attended: self.attended + other.attended,
            hard: self.hard + other.hard,
        }
    }
}

/// Does what [`scan_part`] does, by a kernel of choice, and adds it to `tally`, which has not seen these bytes yet. Tells
/// which way the lines took.
///
/// The kernel changes the time it takes, and nothing else.
///
/// # Panics
///
/// When the machine does not have the kernel ([`KernelId::is_available`]).
pub fn scan_into(tally: &mut Tally, kernel: KernelId, bytes: &[u8], place: Place, options: &Options) -> Ways {
    let body = skip_byte_order_mark(bytes, place.offset);
    let mark_len = (bytes.len() - body.len()) as u64;
    tally.boms += u64::from(mark_len > 0);
    let at = Place { offset: place.offset + mark_len, ..place };
    let (observer, wanted) = (Observer::new(options.grammar, tally), options.wanted());
    let mut scanner = Scanner { observer, ways: Ways::default(), wanted };
    scanner.observer.refused = wanted.authorities().then(Vec::new);
    let missing = "the kernel is available";
    match kernel {
        KernelId::Portable => scanner.walk_all(body, at),
        #[cfg(target_arch = "x86_64")]
        KernelId::Avx2 => scanner.stream_all(Avx2::detect().expect(missing), body, at),
        #[cfg(target_arch = "x86_64")]
        KernelId::Avx512 => scanner.stream_all(Avx512::detect().expect(missing), body, at),
        #[cfg(not(target_arch = "x86_64"))]
        _ => panic!("{missing}"),
    }
    let ways = scanner.ways;
    // The mark has no line and belongs to the first one's run.
    tally.cover(Run { input: place.input, start: place.offset, end: at.offset, lines: 0 });
    tally.settle();
    ways
}

/// How many sub-pieces the machine walks side by side. One walk waits for its table entry most of the time; several hide that.
const WALKS: usize = 6;

/// After a piece of which more than a third is hard, so many pieces are left to the machine, which is faster then.
const WALKS_INSTEAD: usize = 7;

/// How many bytes are looked at for examples before the machine walks over the lines.
const BEGINNING: usize = 2048;

/// How many hard lines are walked side by side.
const HARD_AT_ONCE: usize = 4;

struct Scanner<'a> {
    observer: Observer<'a>,
    ways: Ways,
    wanted: Wanted,
}

/// How many bytes the streams read at a time, about: so many that the starts and ends of the lanes cost little, so few that
/// what is kept of each step is some hundred kilobytes.
const PIECE: usize = 512 << 10;

thread_local! {
    /// A thread uses the same memory for all its pieces.
    static FINDINGS: Cell<Findings> = Cell::default();
    /// How many pieces more a thread leaves to the machine.
    static WALKS_LEFT: Cell<usize> = const { Cell::new(0) };
}

impl Scanner<'_> {
    /// Counts all lines of `body`, which begins at `place`, by the streams.
    fn stream_all<K: Kernel>(&mut self, kernel: K, body: &[u8], place: Place) {
        let mut findings = FINDINGS.take();
        // The lines of a run, which begins at `from`.
        let (mut from, mut lines) = (place.offset, 0);
        let (mut rest, unended) = body.split_at(last_end(body).unwrap_or(0));
        while !rest.is_empty() {
            let offset = place.offset + (body.len() - unended.len() - rest.len()) as u64;
            let at = Place { offset, ..place };
            let some = &rest[..rest.len().min(PIECE)];
            let end = last_end(some);
            let (piece, behind) =
                rest.split_at(end.or_else(|| Some(memchr(b'\n', rest)? + 1)).unwrap_or(rest.len()));
            if end.is_none() {
                // What is kept of each step would be four times as long as the line.
                lines += 1;
                self.count_one(piece, at, lines);
            } else if WALKS_LEFT.get() > 0 {
                WALKS_LEFT.set(WALKS_LEFT.get() - 1);
                self.observer.tally.cover(Run { input: place.input, start: from, end: offset, lines });
                self.walk_all(piece, at);
                (from, lines) = (offset + piece.len() as u64, 0);
            } else {
                let hard_before = self.ways.hard;
                let more = self.stream(kernel, &mut findings, &Piece::new(piece, K::LANES, at, lines));
                lines += more;
                // A few lines say little of those to come.
                if piece.len() > PIECE / 4 && self.ways.hard - hard_before > more / 3 {
                    WALKS_LEFT.set(WALKS_INSTEAD);
                }
            }
            rest = behind;
        }
        FINDINGS.set(findings);
        if !unended.is_empty() {
            lines += 1;
            let offset = place.offset + (body.len() - unended.len()) as u64;
            self.count_one(unended, Place { offset, ..place }, lines);
        }
        let end = place.offset + body.len() as u64;
        self.observer.tally.cover(Run { input: place.input, start: from, end, lines });
    }

    /// Counts all lines of a piece; how many it has.
    fn stream<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, piece: &Piece<'_>) -> u64 {
        let wanted = |advisory| !self.observer.tally.has_examples(advisory, piece.place);
        let list = List {
            grammar: self.observer.grammar,
            delimiters: wanted(Advisory::EncodedDelimiter),
            ports: wanted(Advisory::PortNondefault),
        };
        let mut reader = Reader::new(kernel, &piece.lanes, list, findings);
        let mut lines_of_all = 0;
        let mut hard = Vec::new();
        // The stripes in which lines end that are counted in bulk and whose verdict lacks examples.
        let lacking = self.observer.tally.lacking(piece.place) & Findings::plain_verdicts();
        let (mut stripes, mut n_stripes, mut known) = (Vec::new(), 0, 0);
        while reader.stripe(findings) {
            findings.each_listed(|listed| {
                lines_of_all += 1;
                match listed.known {
                    Known::Hard => hard.push(listed),
                    Known::Verdict(verdict) => self.count_known(findings, piece, &listed, verdict),
                    Known::Bad(at) => {
                        let number = || piece.number(findings, &listed);
                        let (entry, line) = (piece.entry(&listed, &number), piece.line(&listed));
                        self.ways.attended += 1;
                        self.observer.observe_bad(&entry, line, at - listed.start);
                    }
                }
            });
            // Side by side, since a walk mostly waits for its table entry.
            for some in hard.chunks(HARD_AT_ONCE) {
                let line = |n: usize| some.get(n).map_or(&b""[..], |listed| piece.line(listed));
                let outcomes = outcomes::<HARD_AT_ONCE>(std::array::from_fn(line));
                for (listed, outcome) in some.iter().zip(outcomes) {
                    self.count_hard(
                        &piece.entry(listed, &|| piece.number(findings, listed)),
                        piece.line(listed),
                        outcome,
                    );
                }
            }
            hard.clear();
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
        self.observer.tally.cr += findings.cr();
        self.observer.tally.blank += findings.blank();
        self.observer.tally.count_advised(Advisory::EncodedDelimiter, findings.delimiters());
        self.observer.tally.count_advised(Advisory::PortNondefault, findings.ports());
        lines_of_all += findings.blank();
        let mut in_bulk = ByVerdict::default();
        for (scheme, verdict, lines) in findings.plain() {
            self.ways.plain += lines;
            lines_of_all += lines;
            self.observer.tally.count_many(scheme, verdict, lines);
            in_bulk.count(verdict, lines);
        }
        if !stripes.is_empty() {
            self.show_firsts(findings, piece, K::LANES, &stripes, in_bulk);
        }
        if self.wanted.any() {
            self.look_at_piece(findings, piece, K::LANES);
        }
        lines_of_all
    }

    /// Keeps the examples that are among the lines counted in bulk of a piece, and end in one of some stripes.
    #[cold]
    fn show_firsts(
        &mut self,
        findings: &Findings,
        piece: &Piece<'_>,
        n_lanes: usize,
        stripes: &[usize],
        in_bulk: ByVerdict,
    ) {
        let mut search = Search::new(self.observer.tally, piece.place, in_bulk);
        for lane in 0..n_lanes {
            let bytes = piece.lanes[lane];
            // Where the last line ends that ends before a stripe.
            let end_before =
                |stripe: usize| last_end(&bytes[..bytes.len().min(stripe * STRIPE_LEN)]).unwrap_or(0);
            for &stripe in stripes {
                let (start, end) = (end_before(stripe), end_before(stripe + 1));
                if search.is_done() {
                    return;
                }
                let before = || piece.lines_before(findings, lane, start);
                let place = piece.place_of(lane, start);
                search.look_in(self.observer.tally, &bytes[start..end], place, &before);
            }
        }
    }

    /// Counts a listed line whose verdict the streams say, if its scheme lets them.
    #[inline]
    fn count_known(&mut self, findings: &Findings, piece: &Piece<'_>, listed: &ListedLine, verdict: Verdict) {
        let number = || piece.number(findings, listed);
        let (entry, line) = (piece.entry(listed, &number), piece.line(listed));
        let scheme = self.observer.scheme_of(line);
        if !decides(scheme.known, scheme.name) {
            let [outcome] = outcomes([line]);
            return self.count_hard(&entry, line, outcome);
        }
        self.ways.attended += 1;
        // Without a scheme, RFC 1738 has no say.
        let verdict =
            if scheme.name.is_some() { verdict } else { Verdict::from_bits(verdict.bits() & 0b1_1100) };
        let mut advisories = Advisories::default();
        findings.each_noteworthy(listed, |at| advisories.add_at(scheme.known, line, at - listed.start));
        self.observer.observe_known(&entry, line, &scheme, verdict, advisories);
    }

    /// Counts all lines of `body`, which begins at `place`, by the machine.
    fn walk_all(&mut self, body: &[u8], place: Place) {
        let mut offset = place.offset;
        let pieces = cut::<WALKS>(body, WALKS);
        let places = pieces.map(|piece| {
            let at = Place { offset, ..place };
            offset += piece.len() as u64;
            at
        });
        let behind = self.show_beginning(pieces[0], place);
        // By the number of the outcome, which is a byte.
        let mut in_bulk = [false; 256];
        let mut counts = [0; 256];
        for (in_bulk, outcome) in in_bulk.iter_mut().zip(OUTCOMES) {
            *in_bulk = self.is_plain(outcome, behind);
        }
        let lines = walk(pieces, |lane, ended| {
            self.observer.tally.cr += u64::from(ended.cr);
            if ended.end == ended.start {
                self.observer.tally.blank += 1;
            } else if in_bulk[usize::from(ended.outcome)] {
                counts[usize::from(ended.outcome)] += 1;
            } else {
                let line = &pieces[lane][ended.start..ended.end];
                let place = Place { offset: places[lane].offset + ended.start as u64, ..place };
                self.ways.attended += 1;
                self.observer.observe_outcome(
                    &Line::whole(place, &|| ended.number, line),
                    line,
                    ended.outcome,
                );
            }
        });
        for (outcome, lines) in OUTCOMES.iter().zip(counts) {
            if let Fact::Plain(known, _) = outcome.fact {
                self.ways.plain += lines;
                self.observer.tally.count_many(known, outcome.verdict, lines);
            }
        }
        let mut refused = self.refused();
        // Each lane counted its lines from 1: each is a run of its own, and the tally joins them.
        for ((piece, at), lines) in pieces.into_iter().zip(places).zip(lines) {
            self.look_again(piece, at, 0, &mut refused);
            let end = at.offset + piece.len() as u64;
            self.observer.tally.cover(Run { input: place.input, start: at.offset, end, lines });
        }
    }

    /// Keeps the examples in the first few lines of some, so that only those of rare verdicts have to be looked for behind the place
    /// that is returned.
    fn show_beginning(&mut self, lines: &[u8], place: Place) -> Place {
        let some = &lines[..last_end(&lines[..lines.len().min(BEGINNING)]).unwrap_or(0)];
        // How many of each there are is not known, but that there are no more.
        let mut all = ByVerdict::default();
        let lacking = self.observer.tally.lacking(place);
        let wanted = Verdict::all().filter(|verdict| lacking >> verdict.bits() & 1 == 1);
        wanted.for_each(|verdict| all.count(verdict, some.len() as u64));
        Search::new(self.observer.tally, place, all).look_in(self.observer.tally, some, place, &|| 0);
        Place { offset: place.offset + some.len() as u64, ..place }
    }

    /// Whether a line from `place` on has nothing to advise, nothing to explain and nothing to show, and its scheme is known.
    fn is_plain(&self, outcome: &Outcome, place: Place) -> bool {
        let Fact::Plain(_, advisories) = outcome.fact else { return false };
        let shown = self.observer.tally.has_first(outcome.verdict, place);
        advisories.is_empty() && outcome.verdict.accepts(self.observer.grammar) && shown
    }

    /// Counts a line of which nothing is known, not even whether it has a terminator.
    fn count_one(&mut self, bytes: &[u8], place: Place, number: u64) {
        let (line, cr) = trim_terminator(bytes);
        self.observer.tally.cr += u64::from(cr);
        let [outcome] = outcomes([line]);
        self.count_hard(&Line::whole(place, &|| number, line), line, outcome);
        let mut refused = self.refused();
        self.look_again(bytes, place, number - 1, &mut refused);
    }

    /// The offsets of the lines counted since the last call that no grammar accepts, descending.
    fn refused(&mut self) -> Vec<u64> {
        let mut refused = self.observer.refused.as_mut().map(std::mem::take).unwrap_or_default();
        refused.sort_unstable_by(|a, b| b.cmp(a));
        refused
    }

    /// Counts what is wanted of each line of a piece, now that the streams have found them.
    #[inline(never)]
    fn look_at_piece(&mut self, findings: &Findings, piece: &Piece<'_>, n_lanes: usize) {
        let mut refused = self.refused();
        let census = &mut self.observer.tally.census;
        let mut look =
            SecondLook::new(census, &self.wanted, piece.bytes, piece.place, piece.before, &mut refused);
        for (lane, start) in piece.starts.iter().enumerate().take(n_lanes) {
            findings.each_line_end(lane, |end| look.line_until(start + end));
        }
        look.finish();
    }

    /// Counts what is wanted of each line of `bytes`, which have been counted otherwise.
    fn look_again(&mut self, bytes: &[u8], place: Place, before: u64, refused: &mut Vec<u64>) {
        if self.wanted.any() {
            let census = &mut self.observer.tally.census;
            let mut look = SecondLook::new(census, &self.wanted, bytes, place, before, refused);
            memchr_iter(b'\n', bytes).for_each(|end| look.line_until(end));
            look.finish();
        }
    }

    /// Counts a line that was judged alone, by the number of its outcome.
    fn count_hard(&mut self, entry: &Line<'_>, line: &[u8], outcome: u8) {
        if line.is_empty() {
            self.observer.tally.blank += 1;
        } else {
            self.ways.hard += 1;
            self.observer.observe_outcome(entry, line, outcome);
        }
    }
}

/// Whole lines that the streams read at once.
struct Piece<'a> {
    bytes: &'a [u8],
    place: Place,
    /// How many lines stand before it.
    before: u64,
    lanes: [&'a [u8]; LANES],
    /// Where in it each lane begins.
    starts: [usize; LANES],
    /// How many lanes have been counted, and how many lines stand before each of those and the next.
    counted: Cell<(usize, [u64; LANES])>,
}

impl<'a> Piece<'a> {
    /// `n_lanes` lanes of whole lines, of which there are `before` before them.
    fn new(bytes: &'a [u8], n_lanes: usize, place: Place, before: u64) -> Self {
        let lanes: [&[u8]; LANES] = cut(bytes, n_lanes);
        let mut starts = [0; LANES];
        for lane in 1..LANES {
            starts[lane] = starts[lane - 1] + lanes[lane - 1].len();
        }
        Self { bytes, place, before, lanes, starts, counted: Cell::default() }
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

    /// How many lines of the run stand before that place of a lane. Linear in the length of the lane, and of the lanes
    /// before it that have not been counted.
    fn lines_before(&self, findings: &Findings, lane: usize, at: usize) -> u64 {
        let (mut n_counted, mut lines) = self.counted.get();
        while n_counted < lane {
            let more = memchr_iter(b'\n', self.lanes[n_counted]).count() as u64;
            lines[n_counted + 1] = lines[n_counted] + more;
            n_counted += 1;
        }
        self.counted.set((n_counted, lines));
        self.before + lines[lane] + findings.lines_before(lane, at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_longer_than_a_piece_needs_no_more_memory() {
        let text = [b"http://h/\n".to_vec(), vec![b'a'; 2 * PIECE], b"\nhttp://h/\n".to_vec()].concat();
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (mut tally, place) = (Tally::default(), Place { input: 0, offset: 0 });
            let ways = scan_into(&mut tally, kernel, &text, place, &Options::default());
            assert_eq!(ways, Ways { plain: 2, attended: 0, hard: 1 }, "{kernel}");
        }
    }

    #[test]
    fn hard_pieces_are_left_to_the_machine_and_come_back() {
        let hard = b"ftp://u:p@h/\nhttp://h/ x\nmailto:a@b\n".repeat((WALKS_INSTEAD + 3) * PIECE / 35);
        let text = [hard, b"http://h/\n".repeat(PIECE / 5), b"http://h:81/\n?".to_vec()].concat();
        let place = Place { input: 0, offset: 0 };
        let scan_by = |kernel| {
            let mut tally = Tally::default();
            let ways = scan_into(&mut tally, kernel, &text, place, &Options::default());
            (tally, ways)
        };
        let (expected, _) = scan_by(KernelId::Portable);
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (tally, ways) = scan_by(kernel);
            assert!(tally == expected, "{kernel}");
            // Two in three lines are hard, and all but a few pieces of them walked instead.
            assert!(ways.attended > 4 * ways.hard && ways.plain > 0, "{kernel} {ways:?}");
            assert_eq!(ways.plain + ways.attended + ways.hard, expected.judged().lines(), "{kernel}");
        }
    }

    #[test]
    fn a_run_of_crs_is_looked_at_once() {
        // Looked at once for each CR, this would take minutes.
        let mut text = vec![b'\r'; 32 << 20];
        assert_eq!(scan(&text, &Options::default()).blank, 1);
        text.push(b'\n');
        assert_eq!(scan(&text, &Options::default()).cr, 1);
        text.push(b'x');
        assert_eq!(scan(&text, &Options::default()).judged().lines(), 1);
    }
}
