//! Walks several lanes of whole lines through the table side by side, two bytes per step, and passes on each line with
//! its outcome.
//!
//! The table is the product of the automata of all grammars and of the facts of a line (`build/line_facts.rs`).
//! The state at the end of a line gives its verdict, and mostly its scheme and advisories. This file does not decide
//! what is counted and which lines get a second look.
//!
//! Each stripe takes two passes. The first pass stores the state before each pair of bytes and does nothing else. The
//! second pass finds the line ends and looks up their states. No branch depends on where lines end. Such a branch would
//! be mispredicted about once per line, and a misprediction costs as much as walking over some twenty bytes.

use crate::engine::line_table::{LineState, LineTable, outcome_by_bytes};
use crate::lines::trim_terminator;
use crate::simd::{BLOCK, find_one};

/// A line that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    /// Its number in its lane, from 1.
    pub(crate) number: u64,
    /// The offset of its first byte in the lane.
    pub(crate) start: usize,
    /// The offset of its terminator in the lane.
    pub(crate) end: usize,
    /// Whether the terminator begins with a CR.
    pub(crate) cr: bool,
    /// The number of its outcome. A blank line has the outcome of the empty reference.
    pub(crate) outcome: u8,
}

/// The outcome numbers of some lines.
pub(crate) fn outcomes<const N: usize>(lines: [&[u8]; N]) -> [u8; N] {
    match LineTable::for_bytes(lines.iter().map(|line| line.len()).sum()) {
        Some(table) => outcomes_by_pairs(table, lines),
        None => lines.map(outcome_by_bytes),
    }
}

/// The outcome numbers of some lines, by the table. The lines are walked side by side up to the length of the shortest.
#[inline(always)]
fn outcomes_by_pairs<const N: usize>(table: &LineTable, lines: [&[u8]; N]) -> [u8; N] {
    let halves: [(&[[u8; 2]], &[u8]); N] = lines.map(<[u8]>::as_chunks);
    let together = halves.iter().map(|(pairs, _)| pairs.len()).min().unwrap_or(0);
    let mut states = [LineState::START; N];
    for at in 0..together {
        for (state, (pairs, _)) in states.iter_mut().zip(halves) {
            *state = table.after(*state, pairs[at]);
        }
    }
    std::array::from_fn(|n| {
        let (pairs, last) = halves[n];
        let state = pairs[together..].iter().fold(states[n], |state, pair| table.after(state, *pair));
        table.outcome(state, !last.is_empty(), last.first().copied().unwrap_or(0))
    })
}

/// A line that is being walked, and its remaining bytes.
struct Walked<'a, L> {
    line: L,
    state: LineState,
    pairs: &'a [[u8; 2]],
    last: &'a [u8],
}

impl<'a, L> Walked<'a, L> {
    fn new((line, bytes): (L, &'a [u8])) -> Self {
        let (pairs, last) = bytes.as_chunks();
        Self { line, state: LineState::START, pairs, last }
    }

    /// The number of the outcome, once no pairs are left.
    fn outcome(&self, table: &LineTable) -> u8 {
        table.outcome(self.state, !self.last.is_empty(), self.last.first().copied().unwrap_or(0))
    }
}

/// Calls `each` with the outcome number of each of `lines`, in no particular order. `N` lines are walked side by side.
/// When one ends, the next begins.
pub(crate) fn each_outcome<'a, const N: usize, L>(
    lines: impl Iterator<Item = (L, &'a [u8])>,
    mut each: impl FnMut(L, u8),
) {
    let Some(table) = LineTable::for_bytes(0) else {
        let mut n_bytes = 0;
        for (line, bytes) in lines {
            n_bytes += bytes.len();
            each(line, outcome_by_bytes(bytes));
        }
        // Count these bytes, because with more lines the table becomes worth making.
        LineTable::for_bytes(n_bytes);
        return;
    };
    let mut lines = lines.map(Walked::new);
    let mut walks: Vec<_> = lines.by_ref().take(N).collect();
    while let Some(side_by_side) = walks.first_chunk_mut::<N>() {
        let together = side_by_side.iter().map(|walk| walk.pairs.len()).min().unwrap_or(0);
        let pairs = side_by_side.each_ref().map(|walk| &walk.pairs[..together]);
        let mut states = side_by_side.each_ref().map(|walk| walk.state);
        for at in 0..together {
            for (state, pairs) in states.iter_mut().zip(pairs) {
                *state = table.after(*state, pairs[at]);
            }
        }
        for (walk, state) in side_by_side.iter_mut().zip(states) {
            (walk.state, walk.pairs) = (state, &walk.pairs[together..]);
        }
        for n in (0..N).rev() {
            if !walks[n].pairs.is_empty() {
                continue;
            }
            let ended = match lines.next() {
                Some(next) => std::mem::replace(&mut walks[n], next),
                None => walks.swap_remove(n),
            };
            let outcome = ended.outcome(table);
            each(ended.line, outcome);
        }
    }
    for mut walk in walks {
        walk.state = walk.pairs.iter().fold(walk.state, |state, pair| table.after(state, *pair));
        let outcome = walk.outcome(table);
        each(walk.line, outcome);
    }
}

/// How many bytes of each lane are walked before the lines that end in them are passed on. One call of [`find_one`]
/// searches as many.
const STRIPE: usize = 8 * BLOCK;

type Stripe = [u8; STRIPE];

/// The state before each pair of bytes of a stripe, and the state at its end.
type Trace = [LineState; STRIPE / 2 + 1];

/// How many pairs of each lane one iteration of the loop takes.
const UNROLL: usize = 4;

/// Walks lanes of whole lines, and calls `line` with each line and the number of its lane. The lines of one lane come
/// in order. Returns how many lines each lane has.
///
/// A line ends in LF with all CRs directly before it. The last line may lack the LF.
#[inline(always)]
pub(crate) fn scan_lanes<const N: usize>(lanes: [&[u8]; N], line: impl FnMut(usize, Ended)) -> [u64; N] {
    match LineTable::for_bytes(lanes.iter().map(|lane| lane.len()).sum()) {
        Some(table) => scan_by_pairs(table, lanes, line),
        None => scan_by_bytes(lanes, line),
    }
}

/// Does what [`scan_lanes`] does, byte by byte and lane after lane.
fn scan_by_bytes<const N: usize>(lanes: [&[u8]; N], mut line: impl FnMut(usize, Ended)) -> [u64; N] {
    let mut n = 0;
    lanes.map(|lane| {
        let (mut number, mut start) = (0, 0);
        for bytes in lane.split_inclusive(|&byte| byte == b'\n') {
            number += 1;
            let (text, cr) = trim_terminator(bytes);
            line(n, Ended { number, start, end: start + text.len(), cr, outcome: outcome_by_bytes(text) });
            start += bytes.len();
        }
        n += 1;
        number
    })
}

/// Does what [`scan_lanes`] does, by the table.
#[inline(always)]
fn scan_by_pairs<const N: usize>(
    table: &LineTable,
    lanes: [&[u8]; N],
    mut line: impl FnMut(usize, Ended),
) -> [u64; N] {
    let mut states = [LineState::START; N];
    let mut traces = [[LineState::START; STRIPE / 2 + 1]; N];
    let mut ends = [0; STRIPE + AT_ONCE];
    let mut readers = lanes.map(|lane| LaneProgress::new(table, lane));
    // The last bytes of each lane are left for later, because its last line may lack the LF.
    let together = lanes.iter().map(|lane| lane.len().saturating_sub(1) / STRIPE * STRIPE).min().unwrap_or(0);
    for from in (0..together).step_by(STRIPE) {
        let stripes = lanes.map(|lane| lane[from..].first_chunk().expect("a stripe of each lane"));
        scan_stripe(table, stripes, &mut states, &mut traces);
        for (n, reader) in readers.iter_mut().enumerate() {
            reader.end_lines(from, stripes[n], &traces[n], &mut ends, |ended| line(n, ended));
        }
    }
    for (n, reader) in readers.iter_mut().enumerate() {
        let lane = lanes[n];
        for from in (together..lane.len()).step_by(STRIPE) {
            let rest = &lane[from..lane.len().min(from + STRIPE)];
            // The padding has no LF, so it ends no line.
            let mut stripe = [0; STRIPE];
            stripe[..rest.len()].copy_from_slice(rest);
            scan_stripe(
                table,
                [&stripe],
                std::array::from_mut(&mut states[n]),
                std::array::from_mut(&mut traces[n]),
            );
            reader.end_lines(from, &stripe, &traces[n], &mut ends, |ended| line(n, ended));
            if from + rest.len() == lane.len() && reader.start < lane.len() {
                line(n, reader.end_line(from, &stripe, &traces[n], rest.len()));
            }
        }
    }
    readers.map(|reader| reader.lines)
}

/// Walks all lanes through one stripe, side by side. It is a separate function, so that the states stay in registers.
#[inline(never)]
fn scan_stripe<const N: usize>(
    table: &LineTable,
    stripes: [&Stripe; N],
    states: &mut [LineState; N],
    traces: &mut [Trace; N],
) {
    let mut now = *states;
    let pairs: [&[[[u8; 2]; UNROLL]]; N] = stripes.map(|stripe| stripe.as_chunks().0.as_chunks().0);
    for chunk in 0..STRIPE / 2 / UNROLL {
        let pairs: [&[[u8; 2]; UNROLL]; N] = std::array::from_fn(|n| &pairs[n][chunk]);
        #[allow(clippy::needless_range_loop, reason = "one index for all lanes")]
        for at in 0..UNROLL {
            for n in 0..N {
                traces[n][chunk * UNROLL + at] = now[n];
                now[n] = table.after(now[n], pairs[n][at]);
            }
        }
    }
    for (trace, now) in traces.iter_mut().zip(now) {
        trace[STRIPE / 2] = now;
    }
    *states = now;
}

/// How many line ends are noted at once, even if there are fewer. This saves a branch that would often be mispredicted.
const AT_ONCE: usize = 4;

/// The offsets of line ends in a stripe.
type Ends = [u32; STRIPE + AT_ONCE];

/// How far the lines of a lane have been passed on.
struct LaneProgress<'a> {
    table: &'a LineTable,
    lane: &'a [u8],
    lines: u64,
    /// The offset of the next line.
    start: usize,
}

impl<'a> LaneProgress<'a> {
    fn new(table: &'a LineTable, lane: &'a [u8]) -> Self {
        Self { table, lane, lines: 0, start: 0 }
    }

    /// Calls `line` with each line that ends in a stripe. The stripe begins at `from` and has been walked.
    #[inline(always)]
    fn end_lines(
        &mut self,
        from: usize,
        stripe: &Stripe,
        trace: &Trace,
        ends: &mut Ends,
        mut line: impl FnMut(Ended),
    ) {
        let line_feeds =
            find_one(b'\n', stripe.as_chunks().0.first_chunk().expect("a stripe is eight blocks"));
        let counts = line_feeds.map(u64::count_ones);
        let mut n_ends = 0;
        for ((first, mut mask), count) in (0..).step_by(BLOCK).zip(line_feeds).zip(counts) {
            let mut at = n_ends;
            n_ends += count as usize;
            loop {
                let some: &mut [u32; AT_ONCE] = ends[at..].first_chunk_mut().expect("room behind the last");
                for end in some {
                    *end = first + mask.trailing_zeros();
                    mask &= mask.wrapping_sub(1);
                }
                if mask == 0 {
                    break;
                }
                at += AT_ONCE;
            }
        }
        for &end in &ends[..n_ends] {
            let end = end as usize;
            line(self.end_line(from, stripe, trace, end));
            self.start = from + end + 1;
        }
    }

    /// The line that ends at byte `end` of the stripe.
    #[inline(always)]
    fn end_line(&mut self, from: usize, stripe: &Stripe, trace: &Trace, end: usize) -> Ended {
        self.lines += 1;
        let (number, start) = (self.lines, self.start);
        let line = &self.lane[start..from + end];
        let crs = match line {
            [.., b'\r'] => line.iter().rev().take_while(|&&byte| byte == b'\r').count(),
            _ => 0,
        };
        let line_end = from + end - crs;
        let outcome = if crs > end {
            self.outcome_far_back(line_end)
        } else {
            let end = end - crs;
            let last = stripe[(end & !1) % STRIPE];
            self.table.outcome(trace[end / 2], end % 2 == 1, last)
        };
        // Built in one place. If two branches built it, it would be written to memory and read back in other widths,
        // which stalls.
        Ended { number, start, end: line_end, cr: crs > 0, outcome }
    }

    /// The outcome of a line that ends at `end`, in an earlier stripe. Only CRs follow, up to this stripe.
    #[cold]
    #[inline(never)]
    fn outcome_far_back(&self, end: usize) -> u8 {
        outcomes_by_pairs(self.table, [&self.lane[self.start..end]])[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::line_table::{Fact, OUTCOMES};
    use crate::grammar::judge;
    use crate::grammar::scheme::find_known;
    use crate::lines::cut;
    use crate::random::Random;
    use std::{fs, path::Path};

    fn one_of(random: &mut Random, bytes: &[u8]) -> u8 {
        bytes[random.below(bytes.len())]
    }

    /// All lines of the corpora.
    fn corpus_lines() -> Vec<Vec<u8>> {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
        let mut lines = Vec::new();
        for folder in ["samples", "hostile"] {
            for file in fs::read_dir(corpora.join(folder)).unwrap() {
                let bytes = fs::read(file.unwrap().path()).unwrap();
                lines.extend(bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec));
            }
        }
        lines.sort_unstable();
        lines.dedup();
        lines
    }

    /// Checks everything that the table knows of `line`. Returns whether that is more than the verdict.
    fn check(line: &[u8]) -> bool {
        let [outcome] = outcomes_by_pairs(LineTable::get(), [line]);
        assert_eq!(outcome, outcome_by_bytes(line), "{}", line.escape_ascii());
        let known = OUTCOMES[usize::from(outcome)];
        let judgement = judge::judge(line);
        assert_eq!(known.verdict, judgement.verdict(), "{}", line.escape_ascii());
        let Fact::Plain(scheme, advisories) = known.fact else { return false };
        assert_eq!(scheme, judgement.scheme().and_then(find_known), "{}", line.escape_ascii());
        assert_eq!(scheme.is_some(), judgement.scheme().is_some(), "{}", line.escape_ascii());
        assert_eq!(advisories, judgement.advisories(), "{}", line.escape_ascii());
        true
    }

    #[test]
    fn facts_are_true() {
        let lines = corpus_lines();
        let n_plain = lines.iter().filter(|line| check(line)).count();
        assert!(n_plain > lines.len() / 2, "{n_plain} of {}", lines.len());
        let mut random = Random::new(1);
        for line in lines.iter().cycle().take(400_000) {
            let mut line = line.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(line.len().min(40) + 1);
                let text: &[u8] = match random.below(8) {
                    0 => b"%2F",
                    1 => b"%0d",
                    2 => b"%3b",
                    3 => [b"http://".as_slice(), b"HTTPS:", b"ftp://", b"File:", b"httpx:", b"a_b:"]
                        [random.below(6)],
                    _ => &[one_of(
                        &mut random,
                        b"::://////??##[]@@%%;=&+-._~!\"09afAFhtpsHTPS \\|^<\t\r\x00\x7f\x80\xff",
                    )],
                };
                let end = at + random.below(2).min(line.len() - at);
                line.splice(at..end, text.iter().copied());
            }
            check(&line);
        }
    }

    #[test]
    fn facts_are_worth_it() {
        for (line, plain) in [
            ("http://example.org/", true),
            ("HTTPS://example.org/?q#f", true),
            ("https://example.org/a%2fb%00", true),
            ("ftp://example.org/%3B", true),
            ("a/b:c", true),
            ("http", true),
            ("", true),
            ("http://example.org:80/", false),
            ("ftp://u:p@h/", false),
            ("mailto:a@b", false),
            ("1.2:x", false),
        ] {
            assert_eq!(check(line.as_bytes()), plain, "{line}");
        }
    }

    type Lines = Vec<(usize, u64, usize, usize, bool, u8)>;

    /// What a walk passes on of each line, lane by lane.
    fn told<const N: usize>(walk: impl FnOnce(&mut dyn FnMut(usize, Ended)) -> [u64; N]) -> Lines {
        let mut given = Vec::new();
        let lines = walk(&mut |lane, ended| {
            given.push((lane, ended.number, ended.start, ended.end, ended.cr, ended.outcome));
        });
        given.sort_unstable();
        let counts = std::array::from_fn(|n| given.iter().filter(|line| line.0 == n).count() as u64);
        assert_eq!(lines, counts);
        given
    }

    fn compare<const N: usize>(text: &[u8]) {
        let lanes = cut::<N>(text, N);
        let by_pairs = told(|line| scan_by_pairs(LineTable::get(), lanes, line));
        assert_eq!(by_pairs, told(|line| scan_by_bytes(lanes, line)), "{}", text.escape_ascii());
    }

    #[test]
    fn lines_end_where_they_end() {
        let mut random = Random::new(2);
        for turn in 0..3000 {
            // Few line ends, many line ends, or long runs of CRs. The lengths are close to multiples of a stripe.
            let alphabet: &[u8] = match turn % 4 {
                0 => b"\n\r/a",
                1 => b"\n:a//a%2Fhttp:.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                2 => b"\n\n\n\n\r",
                _ => b"\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\na",
            };
            let len = STRIPE * random.below(5) + random.below(8);
            let text: Vec<u8> = (0..len).map(|_| one_of(&mut random, alphabet)).collect();
            compare::<1>(&text);
            compare::<3>(&text);
        }
    }
}
