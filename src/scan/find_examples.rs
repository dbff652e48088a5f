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
use urlsift_grammar::automaton::State;

/// Searches lines for the examples that a tally lacks, and adds them. `in_bulk` counts the lines by verdict. `stripes` have them in order. A stripe
/// may be left out if no line in it has a wanted verdict. `is_open` says whether the lines are URLs in running text.
///
/// Each search finds at least one line of each verdict that it looks for. So a verdict causes at most
/// [`MAX_EXAMPLES`](crate::tally::MAX_EXAMPLES) searches per tally, and a tally serves many chunks.
pub(crate) fn find_examples(
    tally: &mut Tally,
    (shown, is_open): (&AlreadyShown, bool),
    mut in_bulk: ByVerdict,
    stripes: &mut dyn Iterator<Item = Stripe<'_>>,
) {
    let mut stripes = stripes.peekable();
    let Some(Stripe { place, .. }) = stripes.peek() else { return };
    let all = in_bulk.sets().map(|(verdict, _)| verdict);
    let mut wanted: Vec<_> = all.filter(|&verdict| !tally.has_first(verdict, *place, shown)).collect();
    while !wanted.is_empty()
        && let Some(stripe) = stripes.next()
    {
        let mut start = 0;
        for (number, whole) in (1..).zip(stripe.bytes.split_inclusive(|&byte| byte == b'\n')) {
            if wanted.is_empty() {
                return;
            }
            let (line, _) = trim_terminator(whole);
            let place = Place { offset: stripe.place.offset + start as u64, ..stripe.place };
            start += whole.len();
            let verdict = State::START.run(line).verdict();
            // A blank line has no verdict, although the automaton accepts the empty reference.
            if line.is_empty() || !wanted.contains(&verdict) {
                continue;
            }
            // A line that is an example already was counted one by one, not in bulk.
            let number = || stripe.lines_before() + number;
            let entry = Line { is_open, ..Line::whole(place, &number, line) };
            if tally.show(shown, &entry, verdict) {
                in_bulk.take_one(verdict);
            }
            if in_bulk.of(verdict) == 0 || tally.has_first(verdict, place, shown) {
                wanted.retain(|&other| other != verdict);
            }
        }
    }
}
