//! Counts what the WHATWG parser makes of lines. `whatwg` parses; this file only counts.

use serde::{Deserialize, Serialize};

use crate::tally::already_shown::{AlreadyShown, RELATIVE, bit};
use crate::tally::by_verdict::ByVerdict;
use urlsift_engine::example::{Example, Found, Line, is_full};
use urlsift_engine::place::Place;
use urlsift_grammar::Verdict;
use urlsift_grammar::whatwg::{Level, Parsed, TwoHosts, Url, ValidationError, hosts_differ};

/// The longest line that the WHATWG parser judges, in bytes. Chromium takes no longer URLs.
///
/// The parser needs a line whole. The limit bounds the memory for lines that are otherwise judged while they are read, and the counts
/// do not depend on how an input is read.
pub const MAX_PARSED_LEN: usize = 2 << 20;

const N_ERRORS: usize = ValidationError::ALL.len();

/// The bit of the lines with different hosts among the bits of the errors.
const HOSTS: u32 = 1 << N_ERRORS;
const _: () = assert!(N_ERRORS < 32);

/// What the WHATWG parser makes of the judged lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Fields", from = "Fields")]
pub struct WhatwgCounts {
    levels: [ByVerdict; Level::ALL.len()],
    /// Lines by validation error, in the order of [`ValidationError::ALL`].
    errors: [Found; N_ERRORS],
    hosts_differ: Found,
    not_utf8: u64,
    pub(crate) too_long: u64,
}

impl WhatwgCounts {
    /// The lines of a level, by their verdict.
    #[must_use]
    pub fn level(&self, level: Level) -> &ByVerdict {
        &self.levels[level as usize]
    }

    /// The validation errors found, most frequent first. Ties follow the order of [`ValidationError::ALL`]. A line with several errors
    /// of one name counts once, and its example is about the first of them.
    #[must_use]
    pub fn errors(&self) -> Vec<(ValidationError, &Found)> {
        let all = ValidationError::ALL.iter().copied().zip(&self.errors);
        let mut errors: Vec<_> = all.filter(|(_, found)| found.lines > 0).collect();
        errors.sort_by_key(|(_, found)| std::cmp::Reverse(found.lines));
        errors
    }

    /// Lines whose hosts differ: RFC 3986 finds one, and the parser another ([`hosts_differ`]).
    #[must_use]
    pub fn hosts_differ(&self) -> &Found {
        &self.hosts_differ
    }

    /// Lines that are not UTF-8. They are parsed with U+FFFD in place of what is not.
    #[must_use]
    pub fn not_utf8(&self) -> u64 {
        self.not_utf8
    }

    /// Lines of more than [`MAX_PARSED_LEN`] bytes, which are not parsed and have no level. Relative references that RFC 3986 accepts are not
    /// among them if there is no base.
    #[must_use]
    pub fn too_long(&self) -> u64 {
        self.too_long
    }

    /// Counts WHATWG-valid lines, of whose host RFC 3986 finds no other one.
    pub(crate) fn count_valid(&mut self, verdict: Verdict, lines: u64) {
        self.levels[Level::Valid as usize].count(verdict, lines);
    }

    /// Counts lines that have no scheme and no other error, and that cannot become examples.
    pub(crate) fn count_relative(&mut self, verdict: Verdict, lines: u64) {
        self.levels[Level::Relative as usize].count(verdict, lines);
        self.errors[RELATIVE as usize].lines += lines;
    }

    /// Whether lines without a scheme at or after `place` need no example.
    pub(super) fn has_relative(&self, place: Place) -> bool {
        is_full(&self.errors[RELATIVE as usize].examples, place)
    }

    /// Counts a line that RFC 3986 accepts and that has no scheme. There is no base.
    pub(crate) fn count_one_relative(
        &mut self,
        shown: &AlreadyShown,
        entry: &Line<'_>,
        line: &[u8],
        verdict: Verdict,
    ) {
        self.levels[Level::Relative as usize].count(verdict, 1);
        self.errors[RELATIVE as usize]
            .count(shown.has_relative(), entry.place, || entry.example(0, Line::around(line, 0)));
    }

    /// Counts a line by what the parser makes of it with this base.
    pub(crate) fn count(
        &mut self,
        shown: &AlreadyShown,
        entry: &Line<'_>,
        line: &[u8],
        verdict: Verdict,
        parsed: &Parsed,
        base: Option<&Url>,
    ) {
        self.levels[parsed.level() as usize].count(verdict, 1);
        self.not_utf8 += u64::from(!parsed.is_utf8());
        let mut seen = 0;
        for error in parsed.errors() {
            let bit = bit(error.error);
            if seen & bit == 0 {
                seen |= bit;
                let at = error.offset as u64;
                self.errors[error.error as usize]
                    .count(shown.has_whatwg(bit), entry.place, || entry.example(at, Line::around(line, at)));
            }
        }
        if let Some(url) = parsed.url().filter(|url| hosts_differ(line, base, url)) {
            self.hosts_differ.count(shown.has_whatwg(HOSTS), entry.place, || {
                let mut example = entry.beginning();
                example.hosts = TwoHosts::of(line, base, url)
                    .map(|hosts| Box::new(hosts.masked(line, entry.is_open, base)));
                example
            });
        }
    }

    /// The kinds of lines that need no examples from `place` on, one bit each.
    pub(super) fn shown(&self, place: Place) -> u32 {
        let full = |found: &Found| is_full(&found.examples, place);
        let errors = ValidationError::ALL.iter().filter(|&&error| full(&self.errors[error as usize]));
        errors.fold(if full(&self.hosts_differ) { HOSTS } else { 0 }, |set, &error| set | bit(error))
    }

    fn founds(&self) -> impl Iterator<Item = &Found> {
        self.errors.iter().chain([&self.hosts_differ])
    }

    pub(super) fn example_lists(&self) -> impl Iterator<Item = &Vec<Example>> {
        self.founds().map(|found| &found.examples)
    }

    pub(super) fn example_lists_mut(&mut self) -> impl Iterator<Item = &mut Vec<Example>> {
        self.errors.iter_mut().chain([&mut self.hosts_differ]).map(|found| &mut found.examples)
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.levels.iter_mut().zip(&other.levels).for_each(|(own, other)| own.merge(other));
        self.errors.iter_mut().zip(other.errors).for_each(|(own, other)| own.merge(other));
        self.hosts_differ.merge(other.hosts_differ);
        self.not_utf8 += other.not_utf8;
        self.too_long += other.too_long;
    }

    /// Checks that these can be the counts of lines with the verdicts `judged`. Examples are checked elsewhere.
    pub(super) fn check(&self, judged: &ByVerdict) -> Result<(), String> {
        let of_verdict =
            |verdict| self.levels.iter().map(|level| u128::from(level.of(verdict))).sum::<u128>();
        let are_parts = Verdict::all().all(|verdict| of_verdict(verdict) <= judged.of(verdict).into());
        // No sum overflows: all lines of all levels are judged lines.
        let parsed = || self.levels.iter().map(ByVerdict::lines).sum::<u64>();
        if !are_parts || parsed().checked_add(self.too_long) != Some(judged.lines()) {
            return Err("WHATWG levels that are not those of the judged lines".to_owned());
        }
        let lines_of = |level| self.level(level).lines();
        let with_errors = lines_of(Level::Errors) + lines_of(Level::Failure) + lines_of(Level::Relative);
        let is_possible = self.errors.iter().all(|found| found.lines <= with_errors)
            && self.errors[RELATIVE as usize].lines == lines_of(Level::Relative)
            && self.hosts_differ.lines <= lines_of(Level::Valid) + lines_of(Level::Errors)
            && self.not_utf8 <= with_errors
            && self.founds().all(|found| found.examples.len() as u64 <= found.lines);
        if is_possible { Ok(()) } else { Err("WHATWG counts that contradict each other".to_owned()) }
    }
}

/// The counts as they are written. Levels and errors without lines are left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    levels: Vec<(Level, ByVerdict)>,
    errors: Vec<(ValidationError, Found)>,
    hosts_differ: Found,
    not_utf8: u64,
    too_long: u64,
}

impl From<WhatwgCounts> for Fields {
    fn from(counts: WhatwgCounts) -> Self {
        let levels = Level::ALL.iter().copied().zip(counts.levels);
        let errors = ValidationError::ALL.iter().copied().zip(counts.errors);
        Self {
            levels: levels.filter(|(_, lines)| *lines != ByVerdict::default()).collect(),
            errors: errors.filter(|(_, found)| found.lines > 0).collect(),
            hosts_differ: counts.hosts_differ,
            not_utf8: counts.not_utf8,
            too_long: counts.too_long,
        }
    }
}

impl From<Fields> for WhatwgCounts {
    fn from(fields: Fields) -> Self {
        let Fields { hosts_differ, not_utf8, too_long, .. } = fields;
        let mut counts = Self { hosts_differ, not_utf8, too_long, ..Self::default() };
        fields.levels.into_iter().for_each(|(level, lines)| counts.levels[level as usize] = lines);
        fields.errors.into_iter().for_each(|(error, found)| counts.errors[error as usize] = found);
        counts
    }
}
