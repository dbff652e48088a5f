//! Whole lines, by vectors or by the machine, to whoever has something to do with them: the only hot loop.
//!
//! Most lines of a list are like many others: all there is to know of them follows from their scheme and verdict, and they are
//! told of in bulk. Where there are vectors, the streams decide them (`bitstreams.rs`), and elsewhere the machine does, at
//! several places side by side (`table_scan.rs`). The others are handed on one by one. What becomes of a line is decided by the
//! [`Consumer`]: the scan counts it, the splitter looks where it stands.

pub(crate) mod line_table;
pub(crate) mod table_scan;
pub(crate) mod bitstreams;
pub(crate) mod lanes;

use std::cell::Cell;

use memchr::{memchr, memchr_iter};

use crate::engine::lanes::{Findings, Known, List, ListedLine, Reader, STRIPE_LEN, decides};
use crate::engine::line_table::{Fact, OUTCOMES, Outcome};
use crate::engine::table_scan::{Ended, each_outcome, outcomes, walk};
use crate::example::Line;
use crate::grammar::Verdict;
use crate::grammar::advisory::Advisories;
use crate::grammar::scheme::{Scheme, Schemes};
use crate::lines::{cut, last_end, trim_terminator};
use crate::place::Extent;
use crate::place::Place;
#[cfg(target_arch = "x86_64")]
use crate::simd::{Avx2, Avx512, Gfni};
use crate::simd::{Kernel, KernelId, LANES};

/// What is done with lines. Each line is told of once, alone or in bulk.
pub(crate) trait Consumer {
    /// Which lines the streams hand on one by one though they know all about them, from `place` on.
    fn list(&self, place: Place) -> List;

    /// Whether the machine tells of lines with this outcome in bulk that begin at `place` or behind it.
    fn in_bulk(&self, outcome: &Outcome, place: Place) -> bool;

    /// What there is to say of lines that are not handed on one by one; first of all.
    fn bulk(&mut self, bulk: &Bulk);

    /// So many lines of a scheme (its place among the known ones, or none) that are not handed on one by one.
    fn plain(&mut self, scheme: Option<usize>, verdict: Verdict, n_lines: u64);

    /// A blank line.
    fn blank(&mut self, entry: &Line<'_>);

    /// A line by its scheme and verdict.
    fn known(
        &mut self,
        entry: &Line<'_>,
        line: &[u8],
        scheme: &Scheme<'_>,
        verdict: Verdict,
        advisories: impl FnOnce() -> Advisories,
    );

    /// A line that no grammar accepts; if it is known, for the byte at `at`, and RFC 2396 and RFC 3986 accept what comes before.
    fn bad(&mut self, entry: &Line<'_>, line: &[u8], at: Option<usize>);

    /// A line that is not blank, by the number of its outcome.
    fn judged(&mut self, entry: &Line<'_>, line: &[u8], outcome: u8);

    /// The verdicts, a bit each, of which it has to be shown lines from `place` on, though they are told of in bulk.
    fn lacking(&self, _place: Place) -> u32 {
        0
    }

    /// Whole lines of which nothing has been told yet, to be looked at for what is lacking.
    fn beginning(&mut self, _lines: &[u8], _place: Place) {}

    /// Whole lines, all of which have been told of, and among which may be some told of in bulk whose verdict is lacking. They come
    /// in order, and so many stand `before` them in their run. Whether anything is still lacking.
    fn lacked(&mut self, _lines: &[u8], _place: Place, _before: &dyn Fn() -> u64) -> bool {
        false
    }

    /// Whether it has to see all lines again.
    fn looks_again(&self) -> bool {
        false
    }

    /// Lines, all of which have been told of, with the places of their LFs; so many stand `before` them in their run.
    fn again(&mut self, _lines: &[u8], _place: Place, _before: u64, _ends: impl Iterator<Item = usize>) {}

    /// A stretch of lines, all of which have been told of.
    fn cover(&mut self, run: Extent);
}

/// Numbers of lines.
#[derive(Default)]
pub(crate) struct Bulk {
    /// Those that are blank and are not handed on.
    pub(crate) blank: u64,
    /// Those that end in CR, handed on or not.
    pub(crate) cr: u64,
    /// Those with an escaped delimiter that are not handed on.
    pub(crate) delimiters: u64,
    /// Those with a port that is not the default that are not handed on.
    pub(crate) ports: u64,
    /// Those of them with one that is reserved.
    pub(crate) reserved_ports: u64,
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

/// How many sub-pieces the machine walks side by side. One walk waits for its table entry most of the time; several hide that.
const WALKS: usize = 6;

/// After a piece of which more than a third is hard, so many pieces are left to the machine, which is faster then.
pub(crate) const WALKS_INSTEAD: usize = 7;

/// How many bytes are shown before the machine walks over the lines.
const BEGINNING: usize = 2048;

/// How many hard lines are walked side by side, since a walk mostly waits for its table entry; and how many of them there have to
/// be before it is begun, so that few are walked alone, and their bytes are at hand.
const HARD_AT_ONCE: usize = 4;
const MANY_HARD: usize = 32;

/// How many bytes the streams read at a time, about: so many that the starts and ends of the lanes cost little, so few that
/// what is kept of each step is some hundred kilobytes.
pub(crate) const PIECE: usize = 512 << 10;

thread_local! {
    /// A thread uses the same memory for all its pieces.
    static FINDINGS: Cell<Findings> = Cell::default();
    /// How many pieces more a thread leaves to the machine.
    static WALKS_LEFT: Cell<usize> = const { Cell::new(0) };
}

/// Hands all lines of `body`, which begins at `place` and without a byte order mark, to `consumer`, in no order that means
/// anything. Tells which way they took.
///
/// # Panics
///
/// When the machine does not have the kernel.
pub(crate) fn sweep(consumer: &mut impl Consumer, kernel: KernelId, body: &[u8], place: Place) -> Ways {
    let mut sweeper = Sweeper { consumer, schemes: Schemes::default(), ways: Ways::default() };
    let missing = "the kernel is available";
    match kernel {
        KernelId::Portable => sweeper.walk_all(body, place),
        #[cfg(target_arch = "x86_64")]
        KernelId::Avx2 => sweeper.stream_all(Avx2::detect().expect(missing), body, place),
        #[cfg(target_arch = "x86_64")]
        KernelId::Avx2Gfni => sweeper.stream_all(Gfni::detect().expect(missing), body, place),
        #[cfg(target_arch = "x86_64")]
        KernelId::Avx512 => sweeper.stream_all(Avx512::detect().expect(missing), body, place),
        #[cfg(not(target_arch = "x86_64"))]
        _ => panic!("{missing}"),
    }
    sweeper.ways
}

struct Sweeper<'a, C> {
    consumer: &'a mut C,
    schemes: Schemes,
    ways: Ways,
}

impl<C: Consumer> Sweeper<'_, C> {
    /// Tells of all lines of `body`, which begins at `place`, by the streams.
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
                self.one(piece, at, lines);
            } else if WALKS_LEFT.get() > 0 {
                WALKS_LEFT.set(WALKS_LEFT.get() - 1);
                self.consumer.cover(Extent { input: place.input, start: from, end: offset, lines });
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
            self.one(unended, Place { offset, ..place }, lines);
        }
        let end = place.offset + body.len() as u64;
        self.consumer.cover(Extent { input: place.input, start: from, end, lines });
    }

    /// Tells of all lines of a piece; how many it has.
    fn stream<K: Kernel>(&mut self, kernel: K, findings: &mut Findings, piece: &Piece<'_>) -> u64 {
        let list = self.consumer.list(piece.place);
        let mut reader = Reader::new(kernel, &piece.lanes, list, findings);
        let mut lines_of_all = 0;
        let mut hard = Vec::new();
        // The stripes in which lines end that are told of in bulk and whose verdict is lacking.
        let lacking = self.consumer.lacking(piece.place) & Findings::plain_verdicts();
        let (mut stripes, mut n_stripes, mut known) = (Vec::new(), 0, 0);
        while reader.stripe(findings) {
            findings.each_listed(|listed| {
                lines_of_all += 1;
                match listed.known {
                    Known::Hard => hard.push(listed),
                    Known::Verdict(verdict) => self.known(findings, piece, &listed, verdict),
                    Known::Bad(at) => self.bad(findings, piece, &listed, Some(at - listed.start)),
                    Known::Refused => self.bad(findings, piece, &listed, None),
                }
            });
            if hard.len() >= MANY_HARD {
                self.walk_hard(findings, piece, hard.drain(..));
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
        self.walk_hard(findings, piece, hard.drain(..));
        self.consumer.bulk(&Bulk {
            blank: findings.blank(),
            cr: findings.cr(),
            delimiters: findings.delimiters(),
            ports: findings.ports(),
            reserved_ports: findings.reserved_ports(),
        });
        lines_of_all += findings.blank();
        for (scheme, verdict, lines) in findings.plain() {
            self.ways.plain += lines;
            lines_of_all += lines;
            self.consumer.plain(scheme, verdict, lines);
        }
        if !stripes.is_empty() {
            self.look_for_lacked(findings, piece, K::LANES, &stripes);
        }
        if self.consumer.looks_again() {
            let lanes = piece.starts.iter().enumerate().take(K::LANES);
            let ends = lanes.flat_map(|(lane, start)| findings.line_ends(lane).map(move |end| start + end));
            self.consumer.again(piece.bytes, piece.place, piece.before, ends);
        }
        lines_of_all
    }

    /// Tells of a listed line that no grammar accepts.
    #[inline]
    fn bad(&mut self, findings: &Findings, piece: &Piece<'_>, listed: &ListedLine, at: Option<usize>) {
        let number = || piece.number(findings, listed);
        self.ways.attended += 1;
        self.consumer.bad(&piece.entry(listed, &number), piece.line(listed), at);
    }

    /// Tells of hard lines of a piece.
    fn walk_hard(
        &mut self,
        findings: &Findings,
        piece: &Piece<'_>,
        listed: impl Iterator<Item = ListedLine>,
    ) {
        let lines = listed.map(|listed| (listed, piece.line(&listed)));
        each_outcome::<HARD_AT_ONCE, _>(lines, |listed, outcome| {
            let number = || piece.number(findings, &listed);
            self.hard(&piece.entry(&listed, &number), piece.line(&listed), outcome);
        });
    }

    /// Shows the lines that end in some stripes, among which are those told of in bulk whose verdict is lacking.
    #[cold]
    fn look_for_lacked(&mut self, findings: &Findings, piece: &Piece<'_>, n_lanes: usize, stripes: &[usize]) {
        for lane in 0..n_lanes {
            let bytes = piece.lanes[lane];
            // Where the last line ends that ends before a stripe.
            let end_before =
                |stripe: usize| last_end(&bytes[..bytes.len().min(stripe * STRIPE_LEN)]).unwrap_or(0);
            for &stripe in stripes {
                let (start, end) = (end_before(stripe), end_before(stripe + 1));
                let before = || piece.lines_before(findings, lane, start);
                if !self.consumer.lacked(&bytes[start..end], piece.place_of(lane, start), &before) {
                    return;
                }
            }
        }
    }

    /// Hands on a listed line whose verdict the streams say, if its scheme lets them.
    #[inline]
    fn known(&mut self, findings: &Findings, piece: &Piece<'_>, listed: &ListedLine, verdict: Verdict) {
        let number = || piece.number(findings, listed);
        let (entry, line) = (piece.entry(listed, &number), piece.line(listed));
        if line.is_empty() {
            return self.consumer.blank(&entry);
        }
        let scheme = self.schemes.of(line);
        if !decides(scheme.known, scheme.name) {
            let [outcome] = outcomes([line]);
            return self.hard(&entry, line, outcome);
        }
        self.ways.attended += 1;
        // Without a scheme, RFC 1738 has no say.
        let verdict =
            if scheme.name.is_some() { verdict } else { Verdict::from_bits(verdict.bits() & 0b1_1100) };
        let advisories = || {
            let mut advisories = Advisories::default();
            findings.each_noteworthy(listed, |at| advisories.add_at(scheme.known, line, at - listed.start));
            advisories
        };
        self.consumer.known(&entry, line, &scheme, verdict, advisories);
    }

    /// Tells of all lines of `body`, which begins at `place`, by the machine.
    fn walk_all(&mut self, body: &[u8], place: Place) {
        let mut offset = place.offset;
        let pieces = cut::<WALKS>(body, WALKS);
        let places = pieces.map(|piece| {
            let at = Place { offset, ..place };
            offset += piece.len() as u64;
            at
        });
        // What is frequent is seen there, and can be told of in bulk behind it.
        let beginning = &pieces[0][..last_end(&pieces[0][..pieces[0].len().min(BEGINNING)]).unwrap_or(0)];
        if self.consumer.lacking(place) != 0 {
            self.consumer.beginning(beginning, place);
        }
        let behind = Place { offset: place.offset + beginning.len() as u64, ..place };
        // By the number of the outcome, which is a byte.
        let mut in_bulk = [false; 256];
        let mut counts = [0; 256];
        for (in_bulk, outcome) in in_bulk.iter_mut().zip(OUTCOMES) {
            *in_bulk = self.consumer.in_bulk(outcome, behind);
        }
        let mut cr = 0;
        let lines = walk(pieces, |lane, Ended { number, start, end, cr: ends_in_cr, outcome }| {
            cr += u64::from(ends_in_cr);
            let is_blank = end == start;
            if !is_blank && in_bulk[usize::from(outcome)] {
                counts[usize::from(outcome)] += 1;
                return;
            }
            let place = Place { offset: places[lane].offset + start as u64, ..place };
            self.walked(&pieces[lane][start..end], place, number, outcome);
        });
        self.consumer.bulk(&Bulk { cr, ..Bulk::default() });
        for (outcome, lines) in OUTCOMES.iter().zip(counts) {
            if let Fact::Plain(known, _) = outcome.fact {
                self.ways.plain += lines;
                self.consumer.plain(known, outcome.verdict, lines);
            }
        }
        // Each lane counted its lines from 1: each is a run of its own, and the tally joins them.
        for ((piece, at), lines) in pieces.into_iter().zip(places).zip(lines) {
            if self.consumer.looks_again() {
                self.consumer.again(piece, at, 0, memchr_iter(b'\n', piece));
            }
            let end = at.offset + piece.len() as u64;
            self.consumer.cover(Extent { input: place.input, start: at.offset, end, lines });
        }
    }

    /// Passes on one line of the walk that is not counted in bulk. Not inlined, so that the code for each line end stays small enough to be.
    #[inline(never)]
    fn walked(&mut self, line: &[u8], place: Place, number: u64, outcome: u8) {
        let number = || number;
        let entry = Line::whole(place, &number, line);
        if line.is_empty() {
            self.consumer.blank(&entry);
        } else {
            self.ways.attended += 1;
            self.consumer.judged(&entry, line, outcome);
        }
    }

    /// Hands on a line of which nothing is known, not even whether it has a terminator.
    fn one(&mut self, bytes: &[u8], place: Place, number: u64) {
        let (line, cr) = trim_terminator(bytes);
        self.consumer.bulk(&Bulk { cr: u64::from(cr), ..Bulk::default() });
        let [outcome] = outcomes([line]);
        self.hard(&Line::whole(place, &|| number, line), line, outcome);
        if self.consumer.looks_again() {
            self.consumer.again(bytes, place, number - 1, memchr_iter(b'\n', bytes));
        }
    }

    /// Hands on a line that was judged alone, by the number of its outcome.
    fn hard(&mut self, entry: &Line<'_>, line: &[u8], outcome: u8) {
        if line.is_empty() {
            self.consumer.blank(entry);
        } else {
            self.ways.hard += 1;
            self.consumer.judged(entry, line, outcome);
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

    /// How many lines of the run stand before that place of a lane. Linear in the length of the lane, and of the lanes before it
    /// that have not been counted.
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
