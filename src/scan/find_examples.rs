//! Lines counted in bulk, never looked at: which of them are among the first of their verdict.
//!
//! What counts in bulk knows how many lines of a verdict there are, not which. While the tally lacks examples of one of them,
//! the bytes in which they stand are walked, from the first on, until they are found.

use memchr::memchr;

use crate::engine::line_table::OUTCOMES;
use crate::engine::table_scan::outcomes;
use crate::example::Line;
use crate::grammar::Verdict;
use crate::lines::trim_terminator;
use crate::place::Place;
use crate::tally::{ByVerdict, Tally};

/// How many lines are walked side by side.
const AT_ONCE: usize = 4;

/// Looks for examples that a tally lacks.
///
/// Each search finds a line at least of each verdict that it is for, so that no verdict asks for more than
/// [`MAX_EXAMPLES`](crate::tally::MAX_EXAMPLES) searches of a tally; and a tally serves many pieces.
pub(crate) struct Search {
    wanted: Vec<Verdict>,
    /// How many lines were counted in bulk and are no examples yet.
    in_bulk: ByVerdict,
}

impl Search {
    /// For the examples that `tally` lacks among lines from `place` on, of which so many were counted in bulk.
    pub(crate) fn new(tally: &Tally, place: Place, in_bulk: ByVerdict) -> Self {
        let all = in_bulk.sets().map(|(verdict, _)| verdict);
        let wanted = all.filter(|&verdict| !tally.has_first(verdict, place)).collect();
        Self { wanted, in_bulk }
    }

    /// Whether nothing is left to be found.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Keeps the examples in `bytes`: whole lines that begin at `place`, with so many lines `before` them in their run. Has to be
    /// called for lines in their order, though some that have none of the verdicts can be left out.
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
                // A blank line has none, whatever the machine says of the empty reference.
                if line(n).is_empty() || !self.wanted.contains(&verdict) {
                    continue;
                }
                let place = Place { offset: place.offset + starts[n] as u64, ..place };
                // One that is an example already was looked at when it was counted.
                if tally.show(&Line::whole(place, &|| before() + number, line(n)), verdict) {
                    self.in_bulk.take_one(verdict);
                }
                if self.in_bulk.of(verdict) == 0 || tally.has_first(verdict, place) {
                    self.wanted.retain(|&other| other != verdict);
                }
            }
        }
    }
}
