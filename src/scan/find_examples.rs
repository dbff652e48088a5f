//! Finds the first lines of a verdict among lines that were counted in bulk.
//!
//! Bulk counting gives the number of lines of a verdict, not their places. While the tally lacks examples of a
//! verdict, the bytes that contain such lines are judged again, from the start, until the examples are found.

use crate::tally::already_shown::AlreadyShown;
use crate::tally::{ByVerdict, Tally};
use urlsift_engine::Stripe;
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

    /// Keeps the examples found in stripes, which follow the order of the lines. Lines that have none of the wanted verdicts may be
    /// left out.
    pub(crate) fn look_in(mut self, tally: &mut Tally, stripes: &mut dyn Iterator<Item = Stripe<'_>>) {
        while !self.wanted.is_empty()
            && let Some(stripe) = stripes.next()
        {
            self.look_in_one(tally, &stripe);
        }
    }

    fn look_in_one(&mut self, tally: &mut Tally, stripe: &Stripe<'_>) {
        let mut start = 0;
        for (number, whole) in (1..).zip(stripe.bytes.split_inclusive(|&byte| byte == b'\n')) {
            if self.wanted.is_empty() {
                return;
            }
            let (line, _) = trim_terminator(whole);
            let place = Place { offset: stripe.place.offset + start as u64, ..stripe.place };
            start += whole.len();
            let verdict = State::START.run(line).verdict();
            // A blank line has no verdict, although the automaton accepts the empty reference.
            if line.is_empty() || !self.wanted.contains(&verdict) {
                continue;
            }
            // A line that is an example already was counted one by one, not in bulk.
            let number = || stripe.lines_before() + number;
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
