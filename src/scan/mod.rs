//! Counts whole lines into a tally. The scan decides what is counted of a line, not what its verdict is.
//!
//! The engine counts most lines in bulk: their outcome and a few counters determine all that is to be counted. It passes the
//! other lines to `count_line.rs` one by one. `Observer` is the sink of the engine.

pub(crate) mod find_examples;
pub(crate) mod count_line;
pub(crate) mod long_line;
pub(crate) mod record_fields;
pub(crate) mod scheme_counts;
pub(crate) mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use urlsift_engine::lanes::{List, defect_kinds};

use crate::scan::count_line::Observer;
use crate::scan::find_examples::find_examples;
use crate::tally::already_shown::AlreadyShown;
use crate::tally::optional::WantedCounts;
use crate::tally::{ByVerdict, DistinctOf, Signs, Tally, TopOf};
use urlsift_engine::example::Line;
use urlsift_engine::line_automaton::{Outcome, Refusal, SchemeOf};
use urlsift_engine::lines::skip_byte_order_mark;
use urlsift_engine::place::Extent;
pub use urlsift_engine::place::Place;
use urlsift_engine::simd::KernelId;
pub use urlsift_engine::values::judge_values;
use urlsift_engine::{Bulk, LineSink, Needs, PathCounts, Run, Stripe};
pub use urlsift_engine::{Scanner, Scanners};
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::whatwg::Url;
use urlsift_grammar::{Grammar, Verdict};

/// The options that change a count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The grammar whose refusals are explained, that is, counted by component and cause, with examples.
    pub grammar: Grammar,
    /// Whether lengths of judged lines are counted ([`Tally::lengths`]). Costs some nanoseconds per line.
    pub lengths: bool,
    /// Which items are counted to find the most frequent ([`Tally::top`]). Costs some dozen
    /// nanoseconds per line.
    pub top: BTreeMap<TopOf, usize>,
    /// Which distinct items are counted ([`Tally::distinct`]). Costs some dozen nanoseconds per line, keys some hundred.
    pub distinct: BTreeSet<DistinctOf>,
    /// The list of public suffixes.
    pub suffixes: UsedList,
    /// Whether and how the WHATWG parser judges lines too ([`Tally::whatwg`]). Costs some nanoseconds per line.
    pub whatwg: Option<WhatwgWanted>,
}

/// How the WHATWG parser judges lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WhatwgWanted {
    /// The URL against which lines are parsed. Without one, lines that have no scheme have the level
    /// [`Relative`](urlsift_grammar::whatwg::Level::Relative).
    pub base: Option<Url>,
}

impl Options {
    /// The counts that need a second look at each line.
    pub(crate) fn wanted(&self) -> WantedCounts {
        let needs_base = self.distinct.contains(&DistinctOf::WhatwgHref);
        let base = self.whatwg.as_ref().filter(|_| needs_base).and_then(|whatwg| whatwg.base.clone());
        WantedCounts::new(self.lengths, &self.top, &self.distinct, self.suffixes.clone(), base)
    }

    /// Whether lines are looked at one by one, so that some may cost a hundred times as much as others.
    pub(crate) fn is_costly(&self) -> bool {
        self.whatwg.is_some() || self.wanted().any()
    }
}

/// Judges all lines of `bytes`, a whole corpus in memory, and counts them as input 0, on the calling thread.
#[must_use]
pub fn scan(bytes: &[u8], options: &Options) -> Tally {
    scan_part(bytes, Place { input: 0, offset: 0 }, options)
}

/// Judges all lines of `bytes`, a part of an input that begins at `place`, and counts them.
///
/// The part must begin at the start of a line, and end at the end of a line or of the input. The tallies of all parts
/// of an input, merged in any order, equal the tally of the input. It costs as much as [`scan`].
#[must_use]
pub fn scan_part(bytes: &[u8], place: Place, options: &Options) -> Tally {
    let mut tally = Tally::default();
    SCANNERS.with(|scanner| scan_into(&mut tally, scanner, bytes, place, options));
    tally
}

/// A new scanner spends half a millisecond on its tables, enough to judge a few megabytes. So those of earlier scans are kept.
pub(crate) static SCANNERS: LazyLock<Scanners> = LazyLock::new(|| Scanners::new(KernelId::best()));

/// Judges lines like [`scan_part`], but with the kernel of `scanner`, and adds them to `tally`. Returns which way the lines
/// took.
///
/// The tally must not contain these bytes yet. The scanner changes the time, and nothing else. For many small inputs
/// use one tally, with a number for each input: a new tally costs some 15 to 200 microseconds until it has its examples.
#[doc(hidden)]
pub fn scan_into(
    tally: &mut Tally,
    scanner: &mut Scanner,
    bytes: &[u8],
    place: Place,
    options: &Options,
) -> PathCounts {
    add_lines(tally, &AlreadyShown::default(), scanner, bytes, place, options)
}

/// Does what [`scan_into`] does, but keeps no examples of the kinds in `shown`.
pub(crate) fn add_lines(
    tally: &mut Tally,
    shown: &AlreadyShown,
    scanner: &mut Scanner,
    bytes: &[u8],
    place: Place,
    options: &Options,
) -> PathCounts {
    let body = skip_byte_order_mark(bytes, place.offset);
    let mark_len = (bytes.len() - body.len()) as u64;
    tally.boms += u64::from(mark_len > 0);
    tally.note(place.input, Signs::of(bytes, place.offset));
    let at = Place { offset: place.offset + mark_len, ..place };
    let mut observer = Observer::new(options, tally, shown);
    let path_counts = scanner.scan(&mut observer, body, at);
    // The mark belongs to no line, but to the run of the first line.
    tally.cover(Extent::of_bytes(place.input, place.offset, at.offset, 0));
    tally.settle(place.input);
    path_counts
}

impl LineSink for Observer<'_> {
    fn needs(&self, place: Place) -> Needs {
        let wanted = |&advisory: &Advisory| !self.tally.has_examples(advisory, place, self.shown);
        let advisories = Advisory::ALL.iter().copied().filter(wanted).collect();
        let is_shown = |(component, cause)| self.tally.has_defect(component, cause, place, self.shown);
        let can_be_bulk =
            self.grammar == Grammar::Rfc3986 && !self.wanted.authorities() && self.whatwg.is_none();
        let bulk_defects =
            defect_kinds().filter(|_| can_be_bulk).enumerate().filter(|&(_, kind)| is_shown(kind));
        let bulk_defects = bulk_defects.fold(0, |set, (n, _)| set | 1 << n);
        Needs {
            list: List {
                grammar: self.grammar,
                blank: false,
                advisories,
                bulk_defects,
                whatwg: self.whatwg.is_some(),
                relative: self.whatwg.is_some_and(|whatwg| {
                    whatwg.base.is_some() || !self.tally.has_relative(place, self.shown)
                }),
            },
            examples: self.tally.lacking(place, self.shown),
        }
    }

    fn is_in_bulk(&self, outcome: &Outcome, place: Place) -> bool {
        let Outcome { verdict, scheme, advisories, refusal } = *outcome;
        let (tally, shown) = (&*self.tally, self.shown);
        // If RFC 3986 accepts a line and finds no scheme, the parser finds none either.
        let has_known_level = self.whatwg.is_none_or(|whatwg| {
            whatwg.base.is_none()
                && scheme == SchemeOf::None
                && verdict.accepts(Grammar::Rfc3986)
                && tally.has_relative(place, shown)
        });
        let is_known = match refusal {
            Refusal::None => true,
            Refusal::Kind(component, cause) => tally.has_defect(component, cause, place, shown),
            Refusal::Unknown => false,
        };
        is_known
            && has_known_level
            && tally.has_first(verdict, place, shown)
            && advisories.iter().all(|advisory| tally.has_examples(advisory, place, shown))
            && !(verdict.is_empty() && self.wanted.authorities())
    }

    fn bulk(&mut self, bulk: &Bulk, stripes: &mut dyn Iterator<Item = Stripe<'_>>) {
        let mut in_bulk = ByVerdict::default();
        self.tally.cr += bulk.cr;
        self.tally.blank += bulk.blank;
        for &(advisory, n_lines) in &bulk.advised {
            self.tally.count_advised(advisory, n_lines);
        }
        for &(component, cause, n_lines) in &bulk.defects {
            self.tally.count_defects(component, cause, n_lines);
        }
        for &(Outcome { verdict, scheme, advisories, refusal }, n_lines) in &bulk.lines {
            match scheme {
                SchemeOf::None => self.tally.count_many(None, verdict, n_lines),
                SchemeOf::Known(known) => self.tally.count_many(Some(known), verdict, n_lines),
                // `scheme` has counted each of these.
                SchemeOf::Other => {}
            }
            if self.whatwg.is_some() {
                let counts = self.tally.whatwg_mut();
                match scheme {
                    SchemeOf::None => counts.count_relative(verdict, n_lines),
                    SchemeOf::Known(_) | SchemeOf::Other => counts.count_valid(verdict, n_lines),
                }
            }
            in_bulk.count(verdict, n_lines);
            advisories.iter().for_each(|advisory| self.tally.count_advised(advisory, n_lines));
            if let Refusal::Kind(component, cause) = refusal {
                self.tally.count_defects(component, cause, n_lines);
            }
        }
        find_examples(self.tally, (self.shown, self.wanted.is_of_text), in_bulk, stripes);
    }

    #[inline]
    fn scheme(&mut self, line: &[u8], verdict: Verdict) {
        self.scheme_counts.count(self.tally, line, verdict);
    }

    #[inline]
    fn line(&mut self, entry: &Line<'_>, line: &[u8], outcome: Option<&Outcome>) {
        let entry = &Line { is_open: self.wanted.is_of_text, ..*entry };
        match outcome {
            None => self.tally.blank += 1,
            Some(outcome) => self.observe_outcome(entry, line, outcome),
        }
    }

    fn cover(&mut self, run: &Run<'_>) {
        if self.wanted.any() {
            let mut refused = self.take_refused();
            self.tally.census.look_at(&self.wanted, run, &mut refused);
            if self.wanted.keys() {
                SCANNERS.with(|scanner| self.tally.census.count_keys(&self.wanted, run.bytes, scanner));
            }
            // What is left are the offsets of later lines.
            self.refused = refused;
        }
        self.scheme_counts.flush(self.tally);
        self.tally.cover(run.extent());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_engine::{FIRST_PAUSE, SEGMENT_LEN};

    #[test]
    fn a_line_longer_than_a_segment_needs_no_more_memory() {
        let text = [b"http://h/\n".to_vec(), vec![b'a'; 2 * SEGMENT_LEN], b"\nhttp://h/\n".to_vec()].concat();
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (mut tally, place) = (Tally::default(), Place { input: 0, offset: 0 });
            let path_counts =
                scan_into(&mut tally, &mut Scanner::new(kernel), &text, place, &Options::default());
            assert_eq!([path_counts.bulk, path_counts.listed], [2, 1], "{kernel}");
        }
    }

    #[test]
    fn segments_of_listed_lines_are_left_to_the_table_scan() {
        let listed_lines =
            b"ftp://u:p@h/\nhttp://h/ x\nmailto:a@b\n".repeat((FIRST_PAUSE + 3) * SEGMENT_LEN / 35);
        let text =
            [listed_lines, b"http://h/\n".repeat(SEGMENT_LEN / 5), b"http://h:81/\n?".to_vec()].concat();
        let place = Place { input: 0, offset: 0 };
        let scan_by = |kernel| {
            let mut tally = Tally::default();
            let path_counts =
                scan_into(&mut tally, &mut Scanner::new(kernel), &text, place, &Options::default());
            (tally, path_counts)
        };
        let (expected, _) = scan_by(KernelId::Portable);
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (tally, path_counts) = scan_by(kernel);
            assert!(tally == expected, "{kernel}");
            // The bit streams would list all of these lines. The table scan takes all but a few segments of them, and counts them in bulk.
            assert!(path_counts.bulk > 4 * path_counts.listed, "{kernel} {path_counts:?}");
            assert_eq!(path_counts.bulk + path_counts.listed, expected.judged().lines(), "{kernel}");
        }
    }

    #[test]
    fn a_run_of_crs_is_looked_at_once() {
        // Scanning the run once per CR would take minutes.
        let mut text = vec![b'\r'; 32 << 20];
        assert_eq!(scan(&text, &Options::default()).blank, 1);
        text.push(b'\n');
        assert_eq!(scan(&text, &Options::default()).cr, 1);
        text.push(b'x');
        assert_eq!(scan(&text, &Options::default()).judged().lines(), 1);
    }
}
