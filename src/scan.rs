//! Whole lines through the pipeline into a tally: the only hot loop.
//!
//! The seam for a faster engine is `Scanner::walk`: it reads lanes of whole lines and counts each line. A line that an engine
//! does not decide, it hands to `Scanner::count_line` with the verdict of the machine; those that it decides it counts in
//! bulk in the tally.

use std::ops::Range;

use memchr::memchr;

use crate::advisory::{Advisories, AdvisoryScan};
use crate::defect::Defect;
use crate::grammar::{Grammar, Verdict};
use crate::machine::{State, Tracker};
use crate::scheme::{HTTP, HTTPS, KNOWN, find_known, scheme_len};
use crate::shard::{cut, skip_byte_order_mark, trim_terminator};
use crate::tally::{Line, Place, Run, Tally};

/// What changes a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The grammar whose refusals are explained: counted by component and cause, with examples.
    pub grammar: Grammar,
}

impl Default for Options {
    fn default() -> Self {
        Self { grammar: Grammar::Rfc3986 }
    }
}

/// How many sub-pieces are walked side by side. One walk waits for its table entry most of the time; several hide that.
const LANES: usize = 6;

/// Judges all lines of `bytes`, a whole corpus in memory, and counts them as input 0.
///
/// Lines end as everywhere: in LF with all CRs directly before it; a byte order mark at the start is skipped. Linear in the
/// number of bytes; allocates some hundred kilobytes whatever the input.
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
    let body = skip_byte_order_mark(bytes, place.offset);
    let mark_len = (bytes.len() - body.len()) as u64;
    tally.boms = u64::from(mark_len > 0);
    let mut at = Place { offset: place.offset + mark_len, ..place };
    let mut covered = place.offset;
    let lanes: [_; LANES] = cut(body).map(|piece| {
        let lane = Lane::new(piece, at);
        at.offset += piece.len() as u64;
        lane
    });
    let mut scanner = Scanner { options, tally, last_known: HTTP };
    let lines = scanner.walk(lanes);
    let mut tally = scanner.tally;
    // Each lane counted its lines from 1: each is a run of its own, and the tally joins them.
    for (lines, end) in lines {
        tally.cover(Run { input: place.input, start: covered, end, lines });
        covered = end;
    }
    tally.cover(Run { input: place.input, start: covered, end: at.offset, lines: 0 });
    tally
}

/// One of the sub-pieces that are walked side by side.
#[derive(Clone, Copy)]
struct Lane<'a> {
    bytes: &'a [u8],
    place: Place,
    /// Where the line being read begins.
    start: usize,
    lines: u64,
    /// The first "%" at `start` or behind it; as long as `bytes` if there is none.
    percent: usize,
}

impl<'a> Lane<'a> {
    fn new(bytes: &'a [u8], place: Place) -> Self {
        Self { bytes, place, start: 0, lines: 0, percent: memchr(b'%', bytes).unwrap_or(bytes.len()) }
    }
}

struct Scanner<'a> {
    options: &'a Options,
    tally: Tally,
    /// The place in [`KNOWN`] of the last scheme that is there.
    last_known: usize,
}

impl Scanner<'_> {
    /// Reads all lanes to their end; for each, how many lines it had and at what offset of the input it ended.
    ///
    /// In stripes: first all lanes are walked through a stripe side by side, and where a line ends, its end and the state
    /// are noted; then the noted lines are counted, while their bytes are at hand.
    fn walk<const N: usize>(&mut self, mut lanes: [Lane<'_>; N]) -> [(u64, u64); N] {
        let mut states = [State::START; N];
        let mut notes: Box<[Notes; N]> = Box::new(std::array::from_fn(|_| Notes::default()));
        let together = lanes.iter().map(|lane| lane.bytes.len()).min().unwrap_or(0);
        for from in (0..together).step_by(STRIPE) {
            let stripe = from..together.min(from + STRIPE);
            walk_stripe(std::array::from_fn(|n| lanes[n].bytes), stripe, &mut states, &mut notes);
            for (lane, notes) in lanes.iter_mut().zip(notes.iter_mut()) {
                self.count_noted(lane, notes);
            }
        }
        for ((lane, state), notes) in lanes.iter_mut().zip(states).zip(notes.iter_mut()) {
            let mut state = [state];
            for from in (together..lane.bytes.len()).step_by(STRIPE) {
                let stripe = from..lane.bytes.len().min(from + STRIPE);
                walk_stripe([lane.bytes], stripe, &mut state, std::array::from_mut(notes));
                self.count_noted(lane, notes);
            }
            if lane.start < lane.bytes.len() {
                self.end_line(lane, lane.bytes.len(), state[0]);
            }
        }
        lanes.map(|lane| (lane.lines, lane.place.offset + lane.bytes.len() as u64))
    }

    fn count_noted(&mut self, lane: &mut Lane<'_>, notes: &mut Notes) {
        for &(end, state) in &notes.ends[..std::mem::take(&mut notes.n_ends)] {
            self.end_line(lane, end, state);
        }
    }

    /// Counts the line of `lane` that ends at `end`, behind its terminator, before which the machine is in `state`.
    #[inline]
    fn end_line(&mut self, lane: &mut Lane<'_>, end: usize, state: State) {
        let start = std::mem::replace(&mut lane.start, end);
        lane.lines += 1;
        let (line, cr) = trim_terminator(&lane.bytes[start..end]);
        self.tally.cr += u64::from(cr);
        if line.is_empty() {
            self.tally.blank += 1;
            return;
        }
        // Looked for once a line at most: mostly the next one is some lines away.
        let percent = lane.percent < end;
        if percent {
            lane.percent = memchr(b'%', &lane.bytes[end..]).map_or(lane.bytes.len(), |n| end + n);
        }
        let place = Place { offset: lane.place.offset + start as u64, ..lane.place };
        self.count_line(&Line::whole(place, lane.lines, line), line, state.verdict(), percent);
    }

    /// Counts one line that is not blank, by its verdict. `percent` says whether it may have a "%".
    #[inline]
    fn count_line(&mut self, entry: &Line<'_>, line: &[u8], verdict: Verdict, percent: bool) {
        let (known, behind) = if let Some((known, behind)) = web_scheme(line) {
            self.tally.count_known(known, verdict);
            (Some(known), behind)
        } else {
            self.count_scheme(line, verdict)
        };
        // The plain line of a list has nothing to advise and nothing to explain.
        if !verdict.is_empty() {
            if !plain_authority(behind) {
                let mut scan = AdvisoryScan::new(known);
                scan.feed(behind);
                self.tally.count_advisories(entry, scan.finish());
            } else if percent {
                self.tally.count_advisories(entry, Advisories::of_escapes(known, behind));
            }
        }
        if !verdict.accepts(self.options.grammar) {
            self.explain(entry, line);
        }
    }

    /// Counts a line by its scheme. Gives the scheme's place among the known ones, and what stands behind its ":".
    fn count_scheme<'b>(&mut self, line: &'b [u8], verdict: Verdict) -> (Option<usize>, &'b [u8]) {
        let Some(len) = scheme_len(line) else {
            self.tally.count_relative(verdict);
            return (None, line);
        };
        let (scheme, behind) = (&line[..len], &line[len + 1..]);
        // Mostly the scheme of the line before.
        let same = KNOWN[self.last_known].name.as_bytes().eq_ignore_ascii_case(scheme);
        let known = if same { Some(self.last_known) } else { find_known(scheme) };
        match known {
            Some(known) => {
                self.last_known = known;
                self.tally.count_known(known, verdict);
            }
            None => self.tally.count_other(scheme, verdict),
        }
        (known, behind)
    }

    /// Counts the defect of a line that the chosen grammar refuses.
    #[inline(never)]
    fn explain(&mut self, entry: &Line<'_>, line: &[u8]) {
        let mut tracker = Tracker::new(self.options.grammar);
        tracker.feed(line);
        if let Some(defect) = Defect::of(self.options.grammar, &tracker, line) {
            self.tally.count_defect(entry, &defect, || Line::around(line, defect.offset));
        }
    }
}

/// How many bytes of each lane are walked before the lines that ended in them are counted.
const STRIPE: usize = 2048;

/// How many bytes of each lane one turn of the loop takes.
const UNROLL: usize = 4;

/// What is noted of a lane.
struct Notes {
    /// Where lines ended in the stripe (behind their terminators), and in what states.
    ends: [(usize, State); STRIPE],
    n_ends: usize,
    /// Up to where CRs are known to belong to a terminator, so that a run of them is looked through once.
    crs: usize,
}

#[allow(clippy::large_stack_arrays, reason = "goes into a box")]
impl Default for Notes {
    fn default() -> Self {
        Self { ends: [(0, State::START); STRIPE], n_ends: 0, crs: 0 }
    }
}

impl Notes {
    #[inline(always)]
    fn end(&mut self, at: usize, state: State) {
        self.ends[self.n_ends % STRIPE] = (at, state);
        self.n_ends += 1;
    }

    /// Whether the CR at `at` belongs to a terminator.
    #[cold]
    #[inline(never)]
    fn cr_ends_line(&mut self, lane: &[u8], at: usize) -> bool {
        if at >= self.crs {
            let run = lane[at..].iter().take_while(|&&byte| byte == b'\r').count();
            if lane.get(at + run).is_some_and(|&byte| byte != b'\n') {
                return false;
            }
            self.crs = at + run;
        }
        true
    }
}

/// Says that the branch it stands in is rare, so that the other is laid out without a jump.
#[cold]
fn rare() {}

/// Walks all lanes through one stripe, side by side.
///
/// A function of its own, and all that is rare in it a call, so that the states stay in registers.
#[inline(never)]
fn walk_stripe<const N: usize>(
    lanes: [&[u8]; N],
    stripe: Range<usize>,
    states: &mut [State; N],
    notes: &mut [Notes; N],
) {
    let stripes: [&[u8]; N] = std::array::from_fn(|n| &lanes[n][stripe.clone()]);
    let mut step = |n: usize, at: usize, byte: u8, state: State| {
        // One comparison for control bytes and for those above 7F.
        if byte.cast_signed() > b'\r'.cast_signed() {
            return state.step_ascii(byte);
        }
        rare();
        let at = stripe.start + at;
        if byte == b'\n' {
            notes[n].end(at + 1, state);
            State::START
        } else if state == State::DEAD || byte == b'\r' && notes[n].cr_ends_line(lanes[n], at) {
            state
        } else {
            State::DEAD
        }
    };
    let mut now = *states;
    let chunks: [(&[[u8; UNROLL]], &[u8]); N] = std::array::from_fn(|n| stripes[n].as_chunks());
    for chunk in 0..stripe.len() / UNROLL {
        let bytes: [&[u8; UNROLL]; N] = std::array::from_fn(|n| &chunks[n].0[chunk]);
        #[allow(clippy::needless_range_loop, reason = "one index for all lanes")]
        for at in 0..UNROLL {
            for n in 0..N {
                now[n] = step(n, chunk * UNROLL + at, bytes[n][at], now[n]);
            }
        }
    }
    let rest = stripe.len() / UNROLL * UNROLL;
    for at in rest..stripe.len() {
        for n in 0..N {
            now[n] = step(n, at, chunks[n].1[at - rest], now[n]);
        }
    }
    *states = now;
}

/// The place of http or https among the known schemes, if one of them begins `line`, and what stands behind the ":".
#[inline(always)]
fn web_scheme(line: &[u8]) -> Option<(usize, &[u8])> {
    match line {
        [b'h', b't', b't', b'p', b':', behind @ ..] => Some((HTTP, behind)),
        [b'h', b't', b't', b'p', b's', b':', behind @ ..] => Some((HTTPS, behind)),
        _ => None,
    }
}

/// Whether the text behind a scheme surely has neither userinfo nor port: a quick look that may say no too often.
#[inline(always)]
fn plain_authority(behind: &[u8]) -> bool {
    let Some(mut rest) = behind.strip_prefix(b"//") else { return true };
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let (slash, other) = (equal(word, b'/'), equal(word, b':') | equal(word, b'@'));
        if slash | other != 0 {
            return slash.trailing_zeros() < other.trailing_zeros();
        }
        rest = behind;
    }
    rest.iter().take_while(|&&byte| byte != b'/').all(|byte| !matches!(byte, b':' | b'@'))
}

/// The low bit of every byte of a word.
const LOW: u64 = u64::from_le_bytes([1; 8]);
/// The high bit of every byte of a word.
const HIGH: u64 = LOW << 7;

/// The high bit of each byte of `word` that is `byte`.
#[inline(always)]
const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOW * byte as u64);
    !(((difference & !HIGH) + !HIGH) | difference) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn quick_looks_never_miss() {
        for behind in [
            "//h/",
            "//h:1/",
            "//u@h/",
            "//hhhhhhhhhhh/:",
            "//hhhhhhhhhhhhhhhhhhhh@",
            "//hhhhhhh:",
            "//0123456/:",
            "/a:b",
            "",
        ] {
            let plain = !behind.starts_with("//")
                || !behind[2..].split('/').next().is_some_and(|authority| authority.contains([':', '@']));
            assert_eq!(plain_authority(behind.as_bytes()), plain, "{behind}");
        }
    }
}
