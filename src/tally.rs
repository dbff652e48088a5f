//! The counts: a commutative monoid. [`Tally::default`] is its identity, [`Tally::merge`] its operation.
//!
//! Whatever the order and grouping in which the lines of a corpus are observed and merged, the tally is the same: counts
//! are sums, examples are the first few by place, and of the schemes found the first few by a fixed order keep their name.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use crate::advisory::{Advisories, Advisory};
use crate::component::Component;
use crate::defect::Cause;
use crate::grammar::{Grammar, Verdict};
use crate::parts::{beginning, secrets};
use crate::scheme::{KNOWN, find_known};

/// How many schemes keep their name in a tally, those of [`KNOWN`] not counted. The shorter name comes first, and of two
/// as long the smaller; lines of all others are counted together. A name among the first of a whole corpus is among the
/// first of every part of it, so that the bound cannot make two tallies of the same lines differ.
pub const MAX_SCHEMES: usize = 1000;

/// The longest scheme that is counted under its name, in bytes; together with [`MAX_SCHEMES`] it bounds a tally's size.
pub const MAX_SCHEME_LEN: usize = 255;

/// How many examples are kept of each kind.
pub const MAX_EXAMPLES: usize = 3;

/// How many bytes of a line an example shows at most.
pub const MAX_EXAMPLE_LEN: usize = 160;

/// Lines by verdict.
#[derive(Clone, PartialEq, Eq)]
pub struct ByVerdict([u64; Verdict::COUNT]);

impl Default for ByVerdict {
    fn default() -> Self {
        Self([0; Verdict::COUNT])
    }
}

impl fmt::Debug for ByVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.sets().map(|(verdict, lines)| (verdict.to_string(), lines))).finish()
    }
}

impl ByVerdict {
    /// Counts lines.
    #[inline(always)]
    fn count(&mut self, verdict: Verdict, lines: u64) {
        self.0[usize::from(verdict.bits())] += lines;
    }

    fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
    }

    /// All lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The lines that `grammar` accepts.
    #[must_use]
    pub fn accepted(&self, grammar: Grammar) -> u64 {
        self.sets().filter(|(verdict, _)| verdict.accepts(grammar)).map(|(_, lines)| lines).sum()
    }

    /// The verdicts that occur, each with its lines, in the order of their bits.
    pub fn sets(&self) -> impl Iterator<Item = (Verdict, u64)> {
        let sets = (0u8..).zip(self.0).map(|(bits, lines)| (Verdict::from_bits(bits), lines));
        sets.filter(|&(_, lines)| lines > 0)
    }
}

/// Where a line begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// Bytes from the start of the input.
    pub offset: u64,
}

/// A line kept to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Example {
    /// Where the line begins.
    pub place: Place,
    /// Its number: 1 for the first line of its input. While parts of the input are missing from the tally, it is the
    /// number since the nearest missing part.
    pub line: u64,
    /// Bytes from the start of the line to what the example is about; 0 when it is about the whole line.
    pub at: u64,
    /// Some bytes of the line around `at`, at most [`MAX_EXAMPLE_LEN`], as they stand.
    pub text: Box<[u8]>,
    /// Where in `text` passwords may stand, ascending.
    pub secrets: Vec<Range<usize>>,
    /// How many bytes of the line stand before `text`.
    pub skipped: u64,
    /// Whether the line goes on behind `text`.
    pub cut: bool,
}

/// Lines of one kind, and the first few of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// How many.
    pub lines: u64,
    /// The first [`MAX_EXAMPLES`], by place.
    pub examples: Vec<Example>,
}

impl Found {
    /// Whether nothing that comes at or behind `place` can be among the first.
    fn is_full(&self, place: Place) -> bool {
        self.examples.len() >= MAX_EXAMPLES && self.examples.last().is_some_and(|last| last.place < place)
    }

    /// Counts one line; its example is only made if it is among the first.
    fn count(&mut self, place: Place, example: impl FnOnce() -> Example) {
        self.lines += 1;
        let full = self.examples.len() >= MAX_EXAMPLES;
        if !full || self.examples.last().is_some_and(|last| place < last.place) {
            let at = self.examples.partition_point(|known| known.place < place);
            self.examples.insert(at, example());
            self.examples.truncate(MAX_EXAMPLES);
        }
    }

    fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        self.examples.extend(other.examples);
        self.examples.sort_by_key(|example| example.place);
        self.examples.truncate(MAX_EXAMPLES);
    }
}

/// A stretch of one input that has been read whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Run {
    /// The number of the input.
    pub input: u32,
    /// Offset of its first byte.
    pub start: u64,
    /// Offset behind its last byte.
    pub end: u64,
    /// The lines in it.
    pub lines: u64,
}

/// A line of which something is kept.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where it begins.
    pub(crate) place: Place,
    /// Its number since the start of the run being read, from 1; asked for only when the line is kept.
    pub(crate) number: &'a dyn Fn() -> u64,
    /// Its first bytes, as many as `beginning` gives.
    pub(crate) beginning: &'a [u8],
    /// How many bytes it has, without its terminator.
    pub(crate) len: u64,
}

impl<'a> Line<'a> {
    /// How many bytes an example shows before what it is about, at most.
    pub(crate) const BEFORE: usize = MAX_EXAMPLE_LEN * 3 / 4;

    /// A line that is at hand.
    pub(crate) fn whole(place: Place, number: &'a dyn Fn() -> u64, line: &'a [u8]) -> Self {
        Self { place, number, beginning: beginning(line), len: line.len() as u64 }
    }

    /// The bytes of `line` around `at` that an example may show, and where they begin.
    pub(crate) fn around(line: &[u8], at: u64) -> (u64, &[u8]) {
        let from = usize::try_from(at).unwrap_or(line.len()).saturating_sub(Self::BEFORE);
        (from as u64, &line[from.min(line.len())..])
    }

    /// `text` begins at `from`, and has all that an example may show of the line from there on.
    fn example(&self, at: u64, (from, text): (u64, &[u8])) -> Example {
        let (from, text) =
            if self.len <= MAX_EXAMPLE_LEN as u64 { (0, self.beginning) } else { (from, text) };
        let text = &text[..text.len().min(MAX_EXAMPLE_LEN)];
        Example {
            secrets: self.secrets(from, text),
            place: self.place,
            line: (self.number)(),
            at,
            text: text.into(),
            skipped: from,
            cut: from + (text.len() as u64) < self.len,
        }
    }

    /// Where in `text`, which begins at `from`, passwords may stand: by what the line begins with, and by what is shown.
    fn secrets(&self, from: u64, text: &[u8]) -> Vec<Range<usize>> {
        let cut = self.len > self.beginning.len() as u64;
        let inside = |offset: u64| {
            usize::try_from(offset.saturating_sub(from)).map_or(text.len(), |n| n.min(text.len()))
        };
        let by_beginning = secrets(self.beginning, cut).into_iter().map(|range| {
            // What has not ended in the beginning has not ended in what is shown.
            let open = cut && range.end == self.beginning.len();
            inside(range.start as u64)..if open { text.len() } else { inside(range.end as u64) }
        });
        let mut all: Vec<_> =
            by_beginning.chain(secrets(text, from + (text.len() as u64) < self.len)).collect();
        all.retain(|range| !range.is_empty());
        all.sort_by_key(|range| (range.start, range.end));
        all.dedup_by(|next, kept| {
            let overlap = next.start < kept.end;
            if overlap {
                kept.end = kept.end.max(next.end);
            }
            overlap
        });
        all
    }
}

/// All counts of a corpus or of a part of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Lines without any byte; not judged.
    pub blank: u64,
    /// Lines that ended in one CR or more.
    pub cr: u64,
    /// Inputs that began with a UTF-8 byte order mark.
    pub boms: u64,
    /// Lines of each scheme of [`KNOWN`], in its order.
    known: [ByVerdict; KNOWN.len()],
    /// Lines of other schemes, by [`key`].
    others: BTreeMap<Box<[u8]>, ByVerdict>,
    /// Lines of schemes that keep no name.
    unnamed: ByVerdict,
    /// Lines without a scheme.
    relative: ByVerdict,
    /// What the chosen grammar refuses.
    defects: BTreeMap<(Component, Cause), Found>,
    /// What is noteworthy.
    advisories: [Found; Advisory::ALL.len()],
    /// Of these, other tallies have all examples, at places before all that is counted here. Merging leaves it as it is.
    exampled: Advisories,
    /// What has been read, sorted, adjoining stretches made one.
    runs: Vec<Run>,
}

/// The key of a scheme: its length and its lower-cased name, so that keys sort as [`MAX_SCHEMES`] says.
fn key(scheme: &[u8]) -> Vec<u8> {
    let len = u8::try_from(scheme.len()).expect("long schemes have no key");
    std::iter::once(len).chain(scheme.iter().map(u8::to_ascii_lowercase)).collect()
}

impl Tally {
    /// Counts judged lines of one verdict, whose scheme has that place in [`KNOWN`], or which have none.
    pub(crate) fn count_many(&mut self, known: Option<usize>, verdict: Verdict, lines: u64) {
        known.map_or(&mut self.relative, |known| &mut self.known[known]).count(verdict, lines);
    }

    /// Counts one judged line of a scheme that is not in [`KNOWN`].
    pub(crate) fn count_other(&mut self, scheme: &[u8], verdict: Verdict) {
        if scheme.len() > MAX_SCHEME_LEN {
            return self.unnamed.count(verdict, 1);
        }
        let key = key(scheme);
        if let Some(counts) = self.others.get_mut(&*key) {
            return counts.count(verdict, 1);
        }
        self.others.entry(key.into()).or_default().count(verdict, 1);
        self.bound_schemes();
    }

    fn bound_schemes(&mut self) {
        while self.others.len() > MAX_SCHEMES {
            if let Some((_, counts)) = self.others.pop_last() {
                self.unnamed.merge(&counts);
            }
        }
    }

    /// Counts one judged line of which only its `beginning` is at hand, by the length of its scheme.
    pub(crate) fn count_long(&mut self, scheme_len: Option<u64>, beginning: &[u8], verdict: Verdict) {
        match scheme_len.map(|len| usize::try_from(len).ok().and_then(|len| beginning.get(..len))) {
            Some(None) => self.unnamed.count(verdict, 1),
            Some(Some(scheme)) => match find_known(scheme) {
                Some(known) => self.count_many(Some(known), verdict, 1),
                None => self.count_other(scheme, verdict),
            },
            None => self.count_many(None, verdict, 1),
        }
    }

    /// Counts the defect of a line that has been counted. `around` gives its bytes around the defect, and their offset.
    pub(crate) fn count_defect<'a>(
        &mut self,
        line: &Line<'_>,
        component: Component,
        cause: Cause,
        offset: u64,
        around: impl FnOnce() -> (u64, &'a [u8]),
    ) {
        let found = self.defects.entry((component, cause)).or_default();
        found.count(line.place, || line.example(offset, around()));
    }

    /// Whether lines at or behind `place` with that advisory need only be counted.
    pub(crate) fn has_examples(&self, advisory: Advisory, place: Place) -> bool {
        self.exampled.has(advisory) || self.advisories[advisory as usize].is_full(place)
    }

    /// An empty tally for lines that come behind all those of an input that are counted here.
    pub(crate) fn behind(&self, place: Place) -> Self {
        let has_all = |&advisory: &Advisory| self.has_examples(advisory, place);
        Self { exampled: Advisory::ALL.iter().copied().filter(has_all).collect(), ..Self::default() }
    }

    /// Counts lines with an advisory that have been counted, and none of which can be an example.
    pub(crate) fn count_advised(&mut self, advisory: Advisory, lines: u64) {
        self.advisories[advisory as usize].lines += lines;
    }

    /// Counts the advisories of a line that has been counted.
    pub(crate) fn count_advisories(&mut self, line: &Line<'_>, advisories: Advisories) {
        for advisory in advisories.iter() {
            let found = &mut self.advisories[advisory as usize];
            found.count(line.place, || line.example(0, (0, line.beginning)));
        }
    }

    /// Adds a stretch that has been read whole; the examples found in it carry line numbers since its start.
    pub(crate) fn cover(&mut self, run: Run) {
        if run.end > run.start {
            self.runs.push(run);
            self.join_runs();
        }
    }

    /// Makes adjoining runs one, and lets the examples in the later one count their lines from the start of the earlier.
    fn join_runs(&mut self) {
        self.runs.sort_unstable();
        let mut joined: Vec<Run> = Vec::with_capacity(self.runs.len());
        for run in std::mem::take(&mut self.runs) {
            match joined.last_mut() {
                Some(last) if (last.input, last.end) == (run.input, run.start) => {
                    let founds = self.defects.values_mut().chain(&mut self.advisories);
                    for example in founds.flat_map(|found| &mut found.examples) {
                        let place = example.place;
                        if place.input == run.input && (run.start..run.end).contains(&place.offset) {
                            example.line += last.lines;
                        }
                    }
                    last.end = run.end;
                    last.lines += run.lines;
                }
                _ => joined.push(run),
            }
        }
        self.runs = joined;
    }

    /// Adds all counts of `other`, a tally of other lines counted with the same options.
    ///
    /// Associative and commutative; [`Tally::default`] changes nothing. The two must not have observed the same line.
    #[must_use]
    pub fn merge(mut self, other: Self) -> Self {
        self.blank += other.blank;
        self.cr += other.cr;
        self.boms += other.boms;
        for (own, other) in self.known.iter_mut().zip(&other.known) {
            own.merge(other);
        }
        for (key, counts) in other.others {
            self.others.entry(key).or_default().merge(&counts);
        }
        self.unnamed.merge(&other.unnamed);
        self.bound_schemes();
        self.relative.merge(&other.relative);
        for (kind, found) in other.defects {
            self.defects.entry(kind).or_default().merge(found);
        }
        for (own, other) in self.advisories.iter_mut().zip(other.advisories) {
            own.merge(other);
        }
        if !other.runs.is_empty() {
            self.runs.extend(other.runs);
            self.join_runs();
        }
        self
    }

    /// All judged lines by verdict.
    #[must_use]
    pub fn judged(&self) -> ByVerdict {
        let mut all = self.unnamed.clone();
        all.merge(&self.relative);
        for counts in self.known.iter().chain(self.others.values()) {
            all.merge(counts);
        }
        all
    }

    /// All lines, blank ones too.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.runs.iter().map(|run| run.lines).sum()
    }

    /// All bytes read, terminators and byte order marks too.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.runs.iter().map(|run| run.end - run.start).sum()
    }

    /// What has been read, sorted; adjoining stretches are one.
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The schemes found, most lines first and by name among as many.
    #[must_use]
    pub fn schemes(&self) -> Vec<(&str, &ByVerdict)> {
        let known = KNOWN.iter().zip(&self.known).map(|(known, counts)| (known.name, counts));
        let others =
            self.others.iter().map(|(key, counts)| (str::from_utf8(&key[1..]).unwrap_or_default(), counts));
        let mut schemes: Vec<_> = known.chain(others).filter(|(_, counts)| counts.lines() > 0).collect();
        schemes
            .sort_by(|(a, a_counts), (b, b_counts)| b_counts.lines().cmp(&a_counts.lines()).then(a.cmp(b)));
        schemes
    }

    /// Lines whose scheme keeps no name ([`MAX_SCHEMES`], [`MAX_SCHEME_LEN`]).
    #[must_use]
    pub fn unnamed_schemes(&self) -> &ByVerdict {
        &self.unnamed
    }

    /// Lines without a scheme.
    #[must_use]
    pub fn relative(&self) -> &ByVerdict {
        &self.relative
    }

    /// What the chosen grammar refuses, most lines first and in the order of names among as many.
    #[must_use]
    pub fn defects(&self) -> Vec<(Component, Cause, &Found)> {
        let mut defects: Vec<_> =
            self.defects.iter().map(|(&(component, cause), found)| (component, cause, found)).collect();
        defects.sort_by_key(|(.., found)| std::cmp::Reverse(found.lines));
        defects
    }

    /// What is noteworthy, in the order of [`Advisory::ALL`].
    pub fn advisories(&self) -> impl Iterator<Item = (Advisory, &Found)> {
        let all = Advisory::ALL.iter().copied().zip(&self.advisories);
        all.filter(|(_, found)| found.lines > 0)
    }
}
