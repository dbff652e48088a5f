//! Lines counted in bulk, never looked at: which of them are among the first of their verdict.
//!
//! What counts in bulk knows how many lines of a verdict a piece has, not which. While the tally lacks examples of one of
//! them, the piece is walked from its start until they are found.

use memchr::memchr;

use crate::example::{Line, Place};
use crate::grammar::Verdict;
use crate::shard::trim_terminator;
use crate::tally::{ByVerdict, Tally};
use crate::walk::{OUTCOMES, outcomes};

/// How many lines are walked side by side.
const AT_ONCE: usize = 4;

/// Keeps the examples that `bytes` have for the tally: whole lines that begin at `place` and have `before` lines before them in
/// their run, of which so many were counted in bulk and are no examples yet. Those that become one are taken off `in_bulk`.
///
/// A verdict that many lines have is found in the first few. One that few have may take a walk of the whole piece, which costs
/// what the scan by the machine costs; but each walk finds a line at least, so that no verdict asks for more than
/// [`MAX_EXAMPLES`](crate::tally::MAX_EXAMPLES) walks of a tally, and a tally serves many pieces.
pub(crate) fn show_firsts(
    tally: &mut Tally,
    bytes: &[u8],
    place: Place,
    before: u64,
    in_bulk: &mut ByVerdict,
) {
    let mut wanted: Vec<Verdict> = in_bulk.sets().map(|(verdict, _)| verdict).collect();
    wanted.retain(|&verdict| !tally.has_first(verdict, place));
    let (mut at, mut number) = (0, before);
    while !wanted.is_empty() && at < bytes.len() {
        let starts: [usize; AT_ONCE] = std::array::from_fn(|_| {
            let start = at;
            at = memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |lf| at + lf + 1);
            start
        });
        let line = |n: usize| {
            let end = starts.get(n + 1).copied().unwrap_or(at);
            trim_terminator(&bytes[starts[n]..end]).0
        };
        for (n, outcome) in outcomes::<AT_ONCE>(std::array::from_fn(line)).into_iter().enumerate() {
            number += 1;
            let verdict = OUTCOMES[usize::from(outcome)].verdict;
            // A blank line has none, whatever the machine says of the empty reference.
            if line(n).is_empty() || !wanted.contains(&verdict) {
                continue;
            }
            let place = Place { offset: place.offset + starts[n] as u64, ..place };
            // One that is an example already was looked at.
            if tally.show(&Line::whole(place, &|| number, line(n)), verdict) {
                in_bulk.take_one(verdict);
            }
            if in_bulk.of(verdict) == 0 || tally.has_first(verdict, place) {
                wanted.retain(|&other| other != verdict);
            }
        }
    }
}
