//! Finds the first lines of a verdict among lines that were counted in bulk.
//!
//! Bulk counting gives the number of lines of a verdict, not their places. While the tally lacks examples of a
//! verdict, the bytes that contain such lines are judged again, from the start, until the examples are found.

use memchr::memchr;

use crate::engine::line_table::OUTCOMES;
use crate::engine::table_scan::outcomes;
use crate::example::Line;
use crate::grammar::Verdict;
use crate::lines::trim_terminator;
use crate::place::Place;
use crate::tally::already_shown::AlreadyShown;
use crate::tally::{ByVerdict, Tally};

/// How many lines are judged side by side.
const AT_ONCE: usize = 4;

/// Searches for the examples that a tally lacks.
///
/// Each search finds at least one line of each verdict that it looks for. So a verdict causes at most
/// [`MAX_EXAMPLES`](crate::tally::MAX_EXAMPLES) searches per tally, and a tally serves many chunks.
pub(crate) struct Search<'a> {
    shown: &'a AlreadyShown,
    wanted: Vec<Verdict>,
    /// Lines counted in bulk that are not examples yet, by verdict.
    in_bulk: ByVerdict,
}

impl<'a> Search<'a> {
    /// Prepares a search for the examples that `tally` lacks among the lines from `place` on. `in_bulk` counts these
    /// lines by verdict.
    pub(crate) fn new(tally: &Tally, shown: &'a AlreadyShown, place: Place, in_bulk: ByVerdict) -> Self {
        let all = in_bulk.sets().map(|(verdict, _)| verdict);
        let wanted = all.filter(|&verdict| !tally.has_first(verdict, place, shown)).collect();
        Self { shown, wanted, in_bulk }
    }

    /// Whether all examples have been found.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Keeps the examples found in `bytes`, whole lines that begin at `place` and follow `before` lines of their run.
    ///
    /// Calls must follow the order of the lines. They may leave out lines that have none of the wanted verdicts.
    pub(crate) fn look_in(
        &mut self,
        tally: &mut Tally,
        bytes: &[u8],
        place: Place,
        before: &dyn Fn() -> u64,
    ) {
        let (mut at, mut number) = (0, 0);
        while !self.is_done() && at < bytes.len() {
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
                // A blank line has no verdict, although the automaton accepts the empty reference.
                if line(n).is_empty() || !self.wanted.contains(&verdict) {
                    continue;
                }
                let place = Place { offset: place.offset + starts[n] as u64, ..place };
                // A line that is an example already was counted one by one, not in bulk.
                if tally.show(self.shown, &Line::whole(place, &|| before() + number, line(n)), verdict) {
                    self.in_bulk.take_one(verdict);
                }
                if self.in_bulk.of(verdict) == 0 || tally.has_first(verdict, place, self.shown) {
                    self.wanted.retain(|&other| other != verdict);
                }
            }
        }
    }
}
