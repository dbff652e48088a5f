//! The tally: all counts of a corpus or of a part of it. It knows no file and no thread.
//!
//! A tally is a commutative monoid: [`Tally::default`] is its identity, [`Tally::merge`] its operation. So neither
//! the order nor the grouping of lines changes the result. Counts are sums, examples are the first few by place, and
//! the first few schemes in a fixed order keep their names.

pub(crate) mod by_input;
pub(crate) mod by_verdict;
pub(crate) mod length_histogram;
pub(crate) mod distinct;
pub(crate) mod heavy_hitters;
mod name_table;
pub(crate) mod optional;
pub(crate) mod whatwg;
pub(crate) mod already_shown;
mod defects;
mod wire;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::defects::ByDefect;
use crate::tally::already_shown::AlreadyShown;
use crate::tally::by_verdict::OtherSchemes;
use crate::tally::heavy_hitters::VALUE_LEN;
use crate::tally::optional::OptionalCounts;
use urlsift_engine::example::{Line, is_full, keep, merge};
use urlsift_engine::place::Place;
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::automaton::Rule;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::scheme::{KNOWN, find_known};

pub(crate) use wire::{MAX_BYTES, renumber};

pub use crate::tally::by_input::InputLines;
pub use crate::tally::by_verdict::{ByVerdict, MAX_SCHEME_LEN, MAX_SCHEMES};
pub use crate::tally::defects::FoundDefect;
pub use crate::tally::distinct::ERROR_PPM;
pub use crate::tally::heavy_hitters::{MAX_NAME_LEN, MAX_NAMES, Top};
pub use crate::tally::length_histogram::{Lengths, Longest};
pub use crate::tally::optional::{DistinctOf, TopOf};
pub use crate::tally::whatwg::{MAX_PARSED_LEN, WhatwgCounts};
pub use urlsift_engine::example::{Example, Found, MAX_EXAMPLE_LEN, MAX_EXAMPLES};
pub use urlsift_engine::place::Extent;
pub use urlsift_records::input_signs::{ColumnSigns, Signs};

/// All counts of a corpus or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "wire::TallyFields", try_from = "wire::TallyFields")]
pub struct Tally {
    /// Lines without any byte. They are not judged.
    pub blank: u64,
    /// Lines that ended in one or more CRs.
    pub cr: u64,
    /// Inputs that began with a UTF-8 byte order mark.
    pub boms: u64,
    /// Lines of each scheme of [`KNOWN`], in its order.
    known: Box<[ByVerdict; KNOWN.len()]>,
    /// Lines of other schemes.
    others: OtherSchemes,
    /// Lines without a scheme.
    relative: ByVerdict,
    /// The first lines of each verdict.
    firsts: Box<[Vec<Example>; Verdict::COUNT]>,
    /// Lines that the chosen grammar refuses, by component and cause.
    defects: ByDefect<Found>,
    /// Lines with each advisory.
    advisories: [Found; Advisory::ALL.len()],
    /// The counts made on demand.
    pub(crate) census: OptionalCounts,
    /// What the WHATWG parser makes of the judged lines. `None` until a line is counted there.
    whatwg: Option<Box<WhatwgCounts>>,
    /// The runs that have been read, sorted. A run is a range of an input read without a gap; adjoining runs are
    /// joined.
    runs: Vec<Extent>,
    /// How each input is written. Inputs without any sign are left out.
    signs: BTreeMap<u32, Signs>,
    /// The judged lines of each input. Inputs without judged lines are left out.
    by_input: BTreeMap<u32, InputLines>,
    /// The judged lines since the last run that was covered. They belong to the input of the next one.
    uncovered: (ByVerdict, ByDefect<u64>),
}

impl Tally {
    /// Counts judged lines of one verdict. `known` is the index of their scheme in [`KNOWN`], or `None` without a
    /// scheme.
    pub(crate) fn count_many(&mut self, known: Option<usize>, verdict: Verdict, lines: u64) {
        known.map_or(&mut self.relative, |known| &mut self.known[known]).count(verdict, lines);
        self.uncovered.0.count(verdict, lines);
    }

    /// Counts one judged line of a scheme that is not in [`KNOWN`].
    pub(crate) fn count_other(&mut self, scheme: &[u8], verdict: Verdict) {
        self.others.count(scheme, verdict);
        self.uncovered.0.count(verdict, 1);
    }

    /// Counts judged lines of one scheme that is not in [`KNOWN`]. Its `name` is in lower case and has at most
    /// [`MAX_SCHEME_LEN`] bytes.
    pub(crate) fn count_others(&mut self, name: &[u8], lines: &ByVerdict) {
        self.others.of(name).merge(lines);
        self.uncovered.0.merge(lines);
    }

    /// Counts one judged line by the length of its scheme. Only the `beginning` of the line is in memory.
    pub(crate) fn count_long(&mut self, scheme_len: Option<u64>, beginning: &[u8], verdict: Verdict) {
        match scheme_len.map(|len| usize::try_from(len).ok().and_then(|len| beginning.get(..len))) {
            Some(None) => {
                self.others.unnamed.count(verdict, 1);
                self.uncovered.0.count(verdict, 1);
            }
            Some(Some(scheme)) => match find_known(scheme) {
                Some(known) => self.count_many(Some(known), verdict, 1),
                None => self.count_other(scheme, verdict),
            },
            None => self.count_many(None, verdict, 1),
        }
    }

    /// Counts the defect of a line that has been counted: its component, cause and offset. `around` returns the bytes
    /// around the defect and their offset, and the rule that was being read.
    pub(crate) fn count_defect<'a>(
        &mut self,
        shown: &AlreadyShown,
        line: &Line<'_>,
        component: Component,
        cause: Cause,
        offset: u64,
        around: impl FnOnce() -> ((u64, &'a [u8]), Option<Rule>),
    ) {
        *self.uncovered.1.get_mut(component, cause) += 1;
        let found = self.defects.get_mut(component, cause);
        found.count(shown.has_defect(component, cause), line.place, || {
            let (around, rule) = around();
            let mut example = line.example(offset, around);
            example.rule = rule;
            example
        });
    }

    /// Counts defects of lines that have been counted and cannot become examples.
    pub(crate) fn count_defects(&mut self, component: Component, cause: Cause, lines: u64) {
        *self.uncovered.1.get_mut(component, cause) += lines;
        self.defects.get_mut(component, cause).lines += lines;
    }

    /// Whether lines with this defect at or after `place` need no example.
    #[inline]
    pub(crate) fn has_defect(
        &self,
        component: Component,
        cause: Cause,
        place: Place,
        shown: &AlreadyShown,
    ) -> bool {
        shown.has_defect(component, cause) || is_full(&self.defects.get(component, cause).examples, place)
    }

    /// The defects that need no examples from `place` on: for each component, one bit for each cause.
    pub(crate) fn shown_defects(&self, place: Place, shown: &AlreadyShown) -> [u32; Component::ALL.len()] {
        let mut all = [0; Component::ALL.len()];
        for (&component, causes) in Component::ALL.iter().zip(&mut all) {
            let causes_shown =
                Cause::ALL.iter().filter(|&&cause| self.has_defect(component, cause, place, shown));
            *causes = causes_shown.fold(0, |set, &cause| set | 1 << cause as u32);
        }
        all
    }

    /// Whether lines with this advisory at or after `place` need no example.
    pub(crate) fn has_examples(&self, advisory: Advisory, place: Place, shown: &AlreadyShown) -> bool {
        shown.advisories.has(advisory) || is_full(&self.advisories[advisory as usize].examples, place)
    }

    /// Whether no line of this verdict at or after `place` can become an example.
    #[inline]
    pub(crate) fn has_first(&self, verdict: Verdict, place: Place, shown: &AlreadyShown) -> bool {
        shown.has_verdict(verdict) || is_full(&self.firsts[usize::from(verdict.bits())], place)
    }

    /// Returns the verdicts that still lack examples from `place` on, one bit each.
    pub(crate) fn lacking(&self, place: Place, shown: &AlreadyShown) -> u32 {
        let lacking = Verdict::all().filter(|&verdict| !self.has_first(verdict, place, shown));
        lacking.fold(0, |set, verdict| set | 1 << verdict.bits())
    }

    /// Keeps a line as an example of its verdict if it is among the first and not kept already. Returns whether it
    /// was kept.
    #[inline]
    pub(crate) fn show(&mut self, shown: &AlreadyShown, line: &Line<'_>, verdict: Verdict) -> bool {
        !self.has_first(verdict, line.place, shown) && self.show_first(line, verdict)
    }

    /// Kept out of line because few lines come here.
    #[cold]
    fn show_first(&mut self, line: &Line<'_>, verdict: Verdict) -> bool {
        keep(&mut self.firsts[usize::from(verdict.bits())], line.place, || line.beginning())
    }

    /// Counts an advisory for lines that have been counted and cannot become examples.
    pub(crate) fn count_advised(&mut self, advisory: Advisory, lines: u64) {
        self.advisories[advisory as usize].lines += lines;
    }

    /// Counts the advisories of a line that has been counted.
    pub(crate) fn count_advisories(&mut self, shown: &AlreadyShown, line: &Line<'_>, advisories: Advisories) {
        for advisory in advisories.iter() {
            let found = &mut self.advisories[advisory as usize];
            found.count(shown.advisories.has(advisory), line.place, || line.beginning());
        }
    }

    /// The WHATWG counts. If one judged line is counted there, all of them have to be.
    pub(crate) fn whatwg_mut(&mut self) -> &mut WhatwgCounts {
        self.whatwg.get_or_insert_default()
    }

    /// Whether lines without a scheme, which the WHATWG parser cannot parse without a base, need no example at or after `place`.
    pub(crate) fn has_relative(&self, place: Place, shown: &AlreadyShown) -> bool {
        shown.has_relative() || self.whatwg.as_ref().is_some_and(|counts| counts.has_relative(place))
    }

    /// The WHATWG counts whose examples are complete from `place` on, one bit each.
    pub(crate) fn shown_whatwg(&self, place: Place, shown: &AlreadyShown) -> u32 {
        self.whatwg.as_ref().map_or(0, |counts| counts.shown(place)) | shown.whatwg
    }

    /// Notes how an input is written.
    pub(crate) fn note(&mut self, input: u32, signs: Signs) {
        if signs != Signs::default() {
            self.signs.entry(input).or_default().merge(signs);
        }
    }

    /// Translates all places from a gathered buffer to the input, and forgets the buffer's runs and signs.
    ///
    /// `place_of` maps an offset in the buffer to the offset in the input and to a line number. That number is
    /// relative to the start of the run that the caller covers next.
    pub(crate) fn relocate(&mut self, place_of: impl Fn(u64) -> (u64, u64)) {
        self.runs.clear();
        self.signs.clear();
        self.change_places(|place, line| (place.offset, *line) = place_of(place.offset));
    }

    /// Calls `change` with the place and the line number of each line that the tally shows.
    fn change_places(&mut self, mut change: impl FnMut(&mut Place, &mut u64)) {
        for example in self.examples_mut() {
            change(&mut example.place, &mut example.line);
        }
        if let Some(longest) = self.census.lengths.longest_mut() {
            change(&mut longest.place, &mut longest.line);
        }
    }

    /// Adds a run that has been read completely. The examples found in it have line numbers relative to its start. All
    /// lines counted since the last call are of its input.
    pub(crate) fn cover(&mut self, run: Extent) {
        let (judged, defects) = &mut self.uncovered;
        if judged.sets().next().is_some() {
            let lines = self.by_input.entry(run.input).or_default();
            lines.add(judged);
            *judged = ByVerdict::default();
            defects.take(|component, cause, n| lines.add_defect(component, cause, n));
        }
        if run.end > run.start {
            self.add_runs(vec![run]);
        }
    }

    /// Adds sorted runs. Most of them follow all runs already here, which needs no sorting.
    fn add_runs(&mut self, mut runs: Vec<Extent>) {
        if let (Some(last), Some(first)) = (self.runs.last(), runs.first())
            && last > first
        {
            runs.append(&mut self.runs);
            runs.sort_unstable();
        }
        for run in runs {
            self.append(run);
        }
    }

    /// Adds a run that follows all others. If it adjoins the last run, both are joined, and the line numbers of its
    /// examples are rebased onto the start of the joined run.
    fn append(&mut self, run: Extent) {
        match self.runs.last().copied() {
            Some(last) if (last.input, last.end) == (run.input, run.start) => {
                self.change_places(|place, line| {
                    if place.input == run.input && (run.start..run.end).contains(&place.offset) {
                        *line += last.lines;
                    }
                });
                self.runs.last_mut().expect("there is one").extend(&run);
            }
            _ => self.runs.push(run),
        }
    }

    /// Adds all counts of `other`, a tally of other lines counted with the same options.
    ///
    /// The operation is associative and commutative, and [`Tally::default`] changes nothing. No line may be counted
    /// in both.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.blank += other.blank;
        self.cr += other.cr;
        self.boms += other.boms;
        for (own, other) in self.known.iter_mut().zip(other.known.iter()) {
            own.merge(other);
        }
        self.others.merge(other.others);
        self.relative.merge(&other.relative);
        for (own, other) in self.firsts.iter_mut().zip(*other.firsts) {
            merge(own, other);
        }
        self.defects.merge(other.defects);
        for (own, other) in self.advisories.iter_mut().zip(other.advisories) {
            own.merge(other);
        }
        let inputs: BTreeSet<_> =
            other.census.open_inputs().into_iter().chain(other.runs.iter().map(|run| run.input)).collect();
        self.census.merge(other.census);
        match (&mut self.whatwg, other.whatwg) {
            (Some(own), Some(other)) => own.merge(*other),
            (None, other) => self.whatwg = other,
            (Some(_), None) => {}
        }
        self.add_runs(other.runs);
        for (input, signs) in other.signs {
            self.note(input, signs);
        }
        for (input, lines) in &other.by_input {
            self.by_input.entry(*input).or_default().merge(lines);
        }
        for input in inputs {
            self.settle(input);
        }
        self
    }

    /// Moves all places of an input behind the end of what `before` has of it, so that merging both joins their lines. Both have
    /// read that input from its start without a gap. The names counted in it move to `before`.
    pub(crate) fn move_behind(&mut self, before: &mut Self, input: u32) {
        let end = before.runs.iter().find(|run| run.input == input).map_or(0, |run| run.end);
        self.change_places(|place, _| place.offset += if place.input == input { end } else { 0 });
        for run in self.runs.iter_mut().filter(|run| run.input == input) {
            (run.start, run.end) = (run.start + end, run.end + end);
        }
        before.census.join(&mut self.census, input);
    }

    /// Notes that all lines in the runs of an input that have been read so far have been counted.
    pub(crate) fn settle(&mut self, input: u32) {
        let first = self.runs.partition_point(|run| run.input < input);
        for run in self.runs[first..].iter().take_while(|run| run.input == input) {
            let unit = if run.value_bytes.is_some() { VALUE_LEN } else { 1 };
            let range = run.start.saturating_mul(unit)..run.end.saturating_mul(unit);
            self.census.settle(input, &range);
        }
    }

    /// All judged lines by verdict.
    #[must_use]
    pub fn judged(&self) -> ByVerdict {
        let mut all = self.others.unnamed.clone();
        all.merge(&self.relative);
        for counts in self.known.iter().chain(self.others.names().map(|(_, counts)| counts)) {
            all.merge(counts);
        }
        all
    }

    /// The first [`MAX_EXAMPLES`] lines of a verdict, by place.
    #[must_use]
    pub fn first(&self, verdict: Verdict) -> &[Example] {
        &self.firsts[usize::from(verdict.bits())]
    }

    /// The number of all lines, including blank ones.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.runs.iter().map(|run| run.lines).sum()
    }

    /// The number of all bytes read, including terminators and byte order marks.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(Extent::bytes).sum()
    }

    /// The ranges that have been read, sorted; adjoining ranges are joined.
    #[must_use]
    pub fn runs(&self) -> &[Extent] {
        &self.runs
    }

    /// How inputs are written, by number of the input. Inputs without any sign are left out.
    pub fn signs(&self) -> impl Iterator<Item = (u32, Signs)> {
        self.signs.iter().map(|(&input, &signs)| (input, signs))
    }

    /// Takes less memory for the counts of inputs. Added in their order, they leave the nodes of the map half empty.
    pub(crate) fn shrink(&mut self) {
        self.by_input = std::mem::take(&mut self.by_input).into_iter().collect();
    }

    /// Whether an input is a column of a table in memory.
    pub(crate) fn is_column(&self, input: u32) -> bool {
        self.signs.get(&input).is_some_and(|signs| signs.column.is_some())
    }

    /// The judged lines of each input, by number of the input. Inputs without judged lines are left out.
    pub fn by_input(&self) -> impl Iterator<Item = (u32, &InputLines)> {
        self.by_input.iter().map(|(&input, lines)| (input, lines))
    }

    /// The schemes found, most frequent first. Schemes with equally many lines are sorted by name.
    #[must_use]
    pub fn schemes(&self) -> Vec<(&str, &ByVerdict)> {
        let known = KNOWN.iter().zip(self.known.iter()).map(|(known, counts)| (known.name, counts));
        let mut schemes: Vec<_> =
            known.chain(self.others.names()).filter(|(_, counts)| counts.lines() > 0).collect();
        schemes
            .sort_by(|(a, a_counts), (b, b_counts)| b_counts.lines().cmp(&a_counts.lines()).then(a.cmp(b)));
        schemes
    }

    /// Lines whose scheme is not counted by name ([`MAX_SCHEMES`], [`MAX_SCHEME_LEN`]).
    #[must_use]
    pub fn unnamed_schemes(&self) -> &ByVerdict {
        &self.others.unnamed
    }

    /// Lines without a scheme.
    #[must_use]
    pub fn relative(&self) -> &ByVerdict {
        &self.relative
    }

    /// The lengths of judged lines, if the options of the scan ask for them.
    #[must_use]
    pub fn lengths(&self) -> &Lengths {
        &self.census.lengths
    }

    /// The `n` most frequent names of a kind, if the options of the scan ask for them.
    ///
    /// They come from lines that some grammar accepts, but schemes from all lines. Empty hosts and hosts longer than [`MAX_NAME_LEN`] are left
    /// out. All numbers too large for a port count as one, `above 65535`. The error of schemes is the number of lines whose scheme is not counted
    /// by name.
    #[must_use]
    pub fn top(&self, of: TopOf, n: usize) -> Top {
        if of != TopOf::Schemes {
            return self.census.top(of, n);
        }
        let entry = |(name, counts): (&str, &ByVerdict)| (name.to_owned(), counts.lines());
        Top {
            entries: self.schemes().into_iter().take(n).map(entry).collect(),
            max_error: self.others.unnamed.lines(),
        }
    }

    /// What the WHATWG parser makes of the judged lines. `None` if the options of the scan do not ask for it, or there is no judged
    /// line.
    #[must_use]
    pub fn whatwg(&self) -> Option<&WhatwgCounts> {
        self.whatwg.as_deref()
    }

    /// The estimated number of distinct items, if the options of the scan ask for it. The standard error is [`ERROR_PPM`].
    #[must_use]
    pub fn distinct(&self, of: DistinctOf) -> u64 {
        self.census.distinct(of)
    }

    /// The defects that the chosen grammar finds, most frequent first. Ties follow the order of [`Component::ALL`],
    /// then [`Cause::ALL`].
    #[must_use]
    pub fn defects(&self) -> Vec<FoundDefect<'_>> {
        let mut defects: Vec<_> = self.defects.iter().collect();
        defects.sort_by_key(|defect| std::cmp::Reverse(defect.found.lines));
        defects
    }

    /// The advisories found, in the order of [`Advisory::ALL`].
    pub fn advisories(&self) -> impl Iterator<Item = (Advisory, &Found)> {
        let all = Advisory::ALL.iter().copied().zip(&self.advisories);
        all.filter(|(_, found)| found.lines > 0)
    }
}
