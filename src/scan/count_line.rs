//! Counts single lines: those that the engine passes on one by one. Everything is counted into the
//! tally; this file does not know where lines begin and end.

use crate::scan::scheme_counts::SchemeCounts;
use crate::scan::{Options, WhatwgWanted};
use crate::tally::already_shown::AlreadyShown;
use crate::tally::distinct::hash;
use crate::tally::optional::{LongJudged, WantedCounts};
use crate::tally::{Longest, MAX_PARSED_LEN, Tally};
use urlsift_engine::example::Line;
use urlsift_engine::line_automaton::{Outcome, Refusal, SchemeOf};
use urlsift_engine::place::Place;
use urlsift_grammar::defect::Defect;
use urlsift_grammar::judge::judge;
use urlsift_grammar::scheme::find_known;
use urlsift_grammar::uri_parts::beginning;
use urlsift_grammar::whatwg::Parsed;
use urlsift_grammar::whatwg::plain::PlainUrl;
use urlsift_grammar::{Grammar, Verdict};

/// Counts lines one by one.
pub(crate) struct Observer<'a> {
    /// The grammar whose refusals are explained.
    pub(crate) grammar: Grammar,
    pub(crate) tally: &'a mut Tally,
    /// The examples that the tally need not keep.
    pub(crate) shown: &'a AlreadyShown,
    /// Counts of other schemes that the tally gets when the run is covered.
    pub(crate) scheme_counts: SchemeCounts,
    /// The counts that need a second look at each line, and whether the lines are URLs in running text.
    pub(crate) wanted: WantedCounts,
    /// How the WHATWG parser judges lines, if it does.
    pub(crate) whatwg: Option<&'a WhatwgWanted>,
    parsed: Parsed,
    /// Offsets of the lines counted here that no grammar accepts, in no order. Kept only if authorities are counted.
    pub(crate) refused: Vec<u64>,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(options: &'a Options, tally: &'a mut Tally, shown: &'a AlreadyShown) -> Self {
        Self {
            grammar: options.grammar,
            tally,
            shown,
            scheme_counts: SchemeCounts::default(),
            wanted: options.wanted(),
            whatwg: options.whatwg.as_ref(),
            parsed: Parsed::default(),
            refused: Vec::new(),
        }
    }

    /// Takes the offsets of the lines counted here that no grammar accepts, in descending order.
    pub(crate) fn take_refused(&mut self) -> Vec<u64> {
        let mut refused = std::mem::take(&mut self.refused);
        if !refused.is_sorted_by(|a, b| a >= b) {
            refused.sort_unstable_by(|a, b| b.cmp(a));
        }
        refused
    }

    /// Keeps a line as an example of its verdict, and counts what the WHATWG parser makes of it. If authorities are counted, notes the
    /// offset of a line that no grammar accepts.
    #[inline]
    fn keep(&mut self, entry: &Line<'_>, line: &[u8], has_scheme: bool, verdict: Verdict) {
        self.tally.show(self.shown, entry, verdict);
        if verdict.is_empty() && self.wanted.authorities() {
            self.refused.push(entry.place.offset);
        }
        if let Some(whatwg) = self.whatwg {
            let parser = (whatwg, &mut self.parsed);
            count_whatwg(self.tally, self.shown, parser, entry, line, has_scheme, verdict);
        }
    }

    /// Counts a line by its outcome. The line is not blank.
    #[inline(never)]
    pub(crate) fn observe_outcome(&mut self, entry: &Line<'_>, line: &[u8], outcome: &Outcome) {
        let Outcome { verdict, scheme, advisories, refusal } = *outcome;
        self.keep(entry, line, scheme != SchemeOf::None, verdict);
        match scheme {
            SchemeOf::None => self.tally.count_many(None, verdict, 1),
            SchemeOf::Known(known) => self.tally.count_many(Some(known), verdict, 1),
            SchemeOf::Other => self.scheme_counts.count(self.tally, line, verdict),
        }
        self.tally.count_advisories(self.shown, entry, advisories);
        match refusal {
            Refusal::None => {}
            Refusal::Kind(component, cause)
                if self.tally.has_defect(component, cause, entry.place, self.shown) =>
            {
                self.tally.count_defects(component, cause, 1);
            }
            Refusal::Kind(..) | Refusal::Unknown => self.explain(entry, line),
        }
    }

    /// Counts a value that cannot be a line of a buffer, with all counts that are wanted. Names are counted by `place`.
    pub(crate) fn observe_value(&mut self, entry: &Line<'_>, value: &[u8], place: Place) {
        let judgement = judge(value);
        let verdict = judgement.verdict();
        let known = judgement.scheme().map(find_known);
        let scheme = known.map_or(SchemeOf::None, |known| known.map_or(SchemeOf::Other, SchemeOf::Known));
        let refusal = if verdict.accepts(self.grammar) { Refusal::None } else { Refusal::Unknown };
        let advisories = judgement.advisories();
        self.observe_outcome(entry, value, &Outcome { verdict, scheme, advisories, refusal });
        if self.wanted.any() {
            let longest = Longest { bytes: entry.len, place: entry.place, line: (entry.number)() };
            let census = &mut self.tally.census;
            let line = LongJudged {
                hash: hash(value),
                beginning: beginning(value),
                whole: value,
                is_accepted: !verdict.is_empty(),
            };
            census.count_long(&self.wanted, place, longest, &line);
        }
        if scheme == SchemeOf::Other {
            self.scheme_counts.flush(self.tally);
        }
    }

    /// Counts the defect of a line that the chosen grammar refuses.
    #[inline(never)]
    fn explain(&mut self, entry: &Line<'_>, line: &[u8]) {
        if let Some(defect) = Defect::of_line(self.grammar, line) {
            let Defect { component, cause, offset, rule, .. } = defect;
            let around = || (Line::around(line, offset), Some(rule));
            self.tally.count_defect(self.shown, entry, component, cause, offset, around);
        }
    }
}

/// Counts what the WHATWG parser makes of a line. `parsed` is memory for its result.
///
/// Most lines are not parsed: scheme and host decide.
#[inline(never)]
pub(crate) fn count_whatwg(
    tally: &mut Tally,
    shown: &AlreadyShown,
    (wanted, parsed): (&WhatwgWanted, &mut Parsed),
    entry: &Line<'_>,
    line: &[u8],
    has_scheme: bool,
    verdict: Verdict,
) {
    let counts = tally.whatwg_mut();
    let is_accepted = verdict.accepts(Grammar::Rfc3986);
    if is_accepted && !has_scheme && wanted.base.is_none() {
        counts.count_one_relative(shown, entry, line, verdict);
    } else if line.len() > MAX_PARSED_LEN {
        counts.too_long += 1;
    } else if PlainUrl::of(line, is_accepted).is_some() {
        counts.count_valid(verdict, 1);
    } else {
        let base = wanted.base.as_ref();
        parsed.replace(line, base);
        counts.count(shown, entry, line, verdict, parsed, base);
    }
}
