//! Walks several lanes of whole lines through the table side by side, two bytes per step, and passes on each line with
//! its outcome.
//!
//! The table is the product of the automata of all grammars and of the facts of a line (`line_automaton`).
//! The state at the end of a line gives its verdict, and mostly its scheme and advisories. This file does not decide
//! what is counted and which lines get a second look.
//!
//! Each stripe takes two passes. The first pass stores the state before each pair of bytes and does nothing else. The
//! second pass finds the line ends and looks up their states. No branch depends on where lines end. Such a branch would
//! be mispredicted about once per line, and a misprediction costs as much as walking over some twenty bytes.

use crate::line_table::{LineState, LineTable, NO_OUTCOME};
use crate::lines::{LineEnds, WORDS, note_bits};
use crate::simd::{BLOCK, find_one};

/// A line that has ended.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// Its number in its lane, from 1.
    pub number: u64,
    /// The offset of its first byte in the lane.
    pub start: usize,
    /// The offset of its terminator in the lane.
    pub end: usize,
    /// Whether the terminator begins with a CR.
    pub cr: bool,
    /// The number of its outcome. A blank line has none.
    pub outcome: u16,
}

/// How many bytes of each lane are walked before the lines that end in them are passed on. One call of [`find_one`]
/// searches as many.
const STRIPE: usize = WORDS * BLOCK;

type Stripe = [u8; STRIPE];

/// The state before each pair of bytes of a stripe, and the state at its end.
type Trace = [LineState; STRIPE / 2 + 1];

/// How many pairs of each lane one iteration of the loop takes.
const UNROLL: usize = 4;

/// Walks lanes of whole lines, and calls `line` with the number of a lane, each line in it, and the table that has its outcome. The lines of
/// one lane come in order. Returns how many lines each lane has.
///
/// A line ends in LF with all CRs directly before it. The last line may lack the LF.
#[inline(always)]
pub fn scan_lanes<const N: usize>(
    table: &mut LineTable,
    lanes: [&[u8]; N],
    mut line: impl FnMut(usize, Ended, &LineTable),
) -> [u64; N] {
    let mut states = [LineState::START; N];
    let mut traces = [[LineState::START; STRIPE / 2 + 1]; N];
    let mut ends: LineEnds = [0; _];
    let mut readers = lanes.map(|lane| LaneProgress { lane, lines: 0, start: 0 });
    let longest = lanes.iter().map(|lane| lane.len()).max().unwrap_or(0);
    let mut padded = [[0; STRIPE]; N];
    for from in (0..longest).step_by(STRIPE) {
        let rests = lanes.map(|lane| lane.get(from..).unwrap_or_default());
        // Where a lane ends, its last line may lack the LF. The padding has none, so it ends no line.
        let is_whole = rests.iter().all(|rest| rest.len() > STRIPE);
        if !is_whole {
            for (stripe, rest) in padded.iter_mut().zip(rests) {
                let len = rest.len().min(STRIPE);
                stripe[..len].copy_from_slice(&rest[..len]);
                stripe[len..].fill(0);
            }
        }
        let stripes: [&Stripe; N] = std::array::from_fn(|n| {
            if is_whole { rests[n].first_chunk().expect("it is longer") } else { &padded[n] }
        });
        scan_stripe(table, stripes, (longest - from).min(STRIPE), &mut states, &mut traces);
        for (n, reader) in readers.iter_mut().enumerate() {
            reader.end_lines(table, from, stripes[n], &traces[n], &mut ends, |ended, table| {
                line(n, ended, table);
            });
            let len = rests[n].len();
            if len <= STRIPE && reader.start < lanes[n].len() {
                let ended = reader.end_line(table, from, stripes[n], &traces[n], len);
                line(n, ended, table);
                reader.start = lanes[n].len();
            }
        }
    }
    readers.map(|reader| reader.lines)
}

/// Walks all lanes through the first `len` bytes of a stripe and some more, side by side. It is a separate function, so that the states stay
/// in registers.
#[inline(never)]
fn scan_stripe<const N: usize>(
    table: &LineTable,
    stripes: [&Stripe; N],
    len: usize,
    states: &mut [LineState; N],
    traces: &mut [Trace; N],
) {
    let chunks = (len / (2 * UNROLL) + 1).min(STRIPE / (2 * UNROLL));
    let mut now = *states;
    let pairs: [&[[[u8; 2]; UNROLL]]; N] = stripes.map(|stripe| stripe.as_chunks().0.as_chunks().0);
    for chunk in 0..chunks {
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
        trace[chunks * UNROLL] = now;
    }
    *states = now;
}

/// How far the lines of a lane have been passed on.
struct LaneProgress<'a> {
    lane: &'a [u8],
    lines: u64,
    /// The offset of the next line.
    start: usize,
}

impl LaneProgress<'_> {
    /// Calls `line` with each line that ends in a stripe. The stripe begins at `from` and has been walked.
    #[inline(always)]
    fn end_lines(
        &mut self,
        table: &mut LineTable,
        from: usize,
        stripe: &Stripe,
        trace: &Trace,
        ends: &mut LineEnds,
        mut line: impl FnMut(Ended, &LineTable),
    ) {
        let line_feeds =
            find_one(b'\n', stripe.as_chunks().0.first_chunk().expect("a stripe is eight blocks"));
        let n_ends = note_bits(line_feeds.into_iter(), ends);
        for &end in &ends[..n_ends] {
            let end = end as usize;
            let ended = self.end_line(table, from, stripe, trace, end);
            line(ended, table);
            self.start = from + end + 1;
        }
    }

    /// The line that ends at byte `end` of the stripe.
    #[inline(always)]
    fn end_line(
        &mut self,
        table: &mut LineTable,
        from: usize,
        stripe: &Stripe,
        trace: &Trace,
        end: usize,
    ) -> Ended {
        self.lines += 1;
        let (number, start) = (self.lines, self.start);
        let line = &self.lane[start..from + end];
        let crs = match line {
            [.., b'\r'] => line.iter().rev().take_while(|&&byte| byte == b'\r').count(),
            _ => 0,
        };
        let line_end = from + end - crs;
        let outcome = if crs > end {
            // Only CRs follow, up to this stripe.
            NO_OUTCOME
        } else {
            let end = end - crs;
            table.at_end(trace[end / 2], end % 2 == 1, stripe[(end & !1) % STRIPE])
        };
        let outcome = match outcome {
            NO_OUTCOME => table.make(&self.lane[start..line_end], start % 2 == 1),
            number => number,
        };
        // Built in one place. If two branches built it, it would be written to memory and read back in other widths,
        // which stalls.
        Ended { number, start, end: line_end, cr: crs > 0, outcome }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_automaton::Outcome;
    use crate::lines::cut;
    use urlsift_grammar::Grammar;
    use urlsift_grammar::random::Random;

    type Lines = Vec<(usize, u64, usize, usize, bool, Option<Outcome>)>;

    /// The lines of all lanes, one by one.
    fn expected<const N: usize>(table: &mut LineTable, lanes: [&[u8]; N]) -> Lines {
        let mut lines = Vec::new();
        for (n, lane) in lanes.into_iter().enumerate() {
            let mut start = 0;
            for (number, whole) in (1..).zip(lane.split_inclusive(|&byte| byte == b'\n')) {
                let (line, cr) = crate::lines::trim_terminator(whole);
                let outcome = table.outcome_of_line(line);
                let outcome = (!line.is_empty()).then(|| table.outcome_of(outcome, line));
                lines.push((n, number, start, start + line.len(), cr, outcome));
                start += whole.len();
            }
        }
        lines
    }

    fn compare<const N: usize>(table: &mut LineTable, text: &[u8]) {
        let lanes = cut::<N>(text, N);
        let mut lines = Lines::new();
        let counts = scan_lanes(table, lanes, |lane, Ended { number, start, end, cr, outcome }, table| {
            let line = &lanes[lane][start..end];
            let outcome = (end > start).then(|| table.outcome_of(outcome, line));
            lines.push((lane, number, start, end, cr, outcome));
        });
        lines.sort_by_key(|line| (line.0, line.1));
        assert_eq!(counts, std::array::from_fn(|n| lines.iter().filter(|line| line.0 == n).count() as u64));
        assert_eq!(lines, expected(table, lanes), "{}", text.escape_ascii());
    }

    #[test]
    fn lines_end_where_they_end() {
        let mut random = Random::new(2);
        let mut kept = None;
        for turn in 0..3000 {
            let table = LineTable::of(&mut kept, Grammar::ALL[turn / 500 % 5]);
            // Few line ends, many line ends, or long runs of CRs. The lengths are close to multiples of a stripe.
            let alphabet: &[u8] = match turn % 4 {
                0 => b"\n\r/a",
                1 => b"\n:a//a%2Fhttp:.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                2 => b"\n\n\n\n\r",
                _ => b"\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\r\na",
            };
            let len = STRIPE * random.below(5) + random.below(8);
            let text: Vec<u8> = (0..len).map(|_| alphabet[random.below(alphabet.len())]).collect();
            compare::<1>(table, &text);
            compare::<3>(table, &text);
        }
    }
}
