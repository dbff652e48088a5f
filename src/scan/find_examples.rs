//! Finds the first lines of a verdict among lines that were counted in bulk.
//!
//! Bulk counting gives the number of lines of a verdict, not their places. While the tally lacks examples of a
//! verdict, the bytes that contain such lines are judged again, from the start, until the examples are found.

use crate::tally::already_shown::AlreadyShown;
use crate::tally::{ByVerdict, Tally};
use urlsift_engine::example::Line;
use urlsift_engine::lines::trim_terminator;
use urlsift_engine::place::Place;
use urlsift_grammar::Verdict;
use urlsift_grammar::automaton::State;

/// Searches for the examples that a tally lacks.
///
/// Each search finds at least one line of each verdict that it looks for. So a verdict causes at most
/// [`MAX_EXAMPLES`](crate::tally::MAX_EXAMPLES) searches per tally, and a tally serves many chunks.
pub(crate) struct Search<'a> {
    shown: &'a AlreadyShown,
    /// Whether the lines are URLs in running text.
    is_open: bool,
    wanted: Vec<Verdict>,
    /// Lines counted in bulk that are not examples yet, by verdict.
    in_bulk: ByVerdict,
}

impl<'a> Search<'a> {
    /// Prepares a search for the examples that `tally` lacks among the lines from `place` on. `in_bulk` counts these
    /// lines by verdict.
    pub(crate) fn new(
        tally: &Tally,
        (shown, is_open): (&'a AlreadyShown, bool),
        place: Place,
        in_bulk: ByVerdict,
    ) -> Self {
        let all = in_bulk.sets().map(|(verdict, _)| verdict);
        let wanted = all.filter(|&verdict| !tally.has_first(verdict, place, shown)).collect();
        Self { shown, is_open, wanted, in_bulk }
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
        let mut start = 0;
        for (number, whole) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
            if self.is_done() {
                return;
            }
            let (line, _) = trim_terminator(whole);
            let place = Place { offset: place.offset + start as u64, ..place };
            start += whole.len();
            let verdict = State::START.run(line).verdict();
            // A blank line has no verdict, although the automaton accepts the empty reference.
            if line.is_empty() || !self.wanted.contains(&verdict) {
                continue;
            }
            // A line that is an example already was counted one by one, not in bulk.
            let number = || before() + number;
            let entry = Line { is_open: self.is_open, ..Line::whole(place, &number, line) };
            if tally.show(self.shown, &entry, verdict) {
                self.in_bulk.take_one(verdict);
            }
            if self.in_bulk.of(verdict) == 0 || tally.has_first(verdict, place, self.shown) {
                self.wanted.retain(|&other| other != verdict);
            }
        }
    }
}
