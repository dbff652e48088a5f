//! Judges and counts values that are in memory one by one, such as those of a column of a table.
//!
//! The engine needs lines. So the values are copied into a buffer, one line each: line `n` has value `n`. A value is judged
//! unchanged: an LF or CR in it is an illegal byte and never a line end. A value with an LF, or with a CR at its end, cannot be a
//! line. [`judge()`] judges it, and the buffer has a blank line in its place.

use std::cell::Cell;
use std::iter;

use memchr::{memchr, memchr_iter};

use super::Options;
use crate::scan::count_line::Observer;
use crate::scan::long_line::LongLine;
use crate::tally::already_shown::AlreadyShown;
use crate::tally::{Signs, Tally};
use urlsift_engine::Scanner;
use urlsift_engine::example::Line;
use urlsift_engine::place::{Extent, Place};
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::Advisories;
use urlsift_grammar::judge::judge;

/// How many bytes of values are copied at a time. Longer values are not copied.
const MAX_LEN: usize = 1 << 20;

/// Cuts values into runs of at most [`MAX_LEN`] bytes. A longer value is a run of its own.
pub(crate) fn runs<'v, 'a>(
    mut values: &'v [Option<&'a [u8]>],
) -> impl Iterator<Item = &'v [Option<&'a [u8]>]> {
    iter::from_fn(move || {
        let lens = values.iter().map(|value| value.map_or(0, <[u8]>::len));
        let totals = lens.scan(0, |bytes, len| {
            *bytes += len;
            Some(*bytes)
        });
        let n = totals.take_while(|&bytes| bytes <= MAX_LEN).count().max(1).min(values.len());
        let run;
        (run, values) = values.split_at(n);
        (!run.is_empty()).then_some(run)
    })
}

/// The value of a run that is too long to be copied.
fn long<'a>(run: &[Option<&'a [u8]>]) -> Option<&'a [u8]> {
    run.first().copied().flatten().filter(|value| value.len() > MAX_LEN)
}

/// Values as lines of a buffer. Line `n` stands for value `n`.
#[derive(Default)]
struct Lines {
    text: Vec<u8>,
    nulls: u64,
    /// The values that cannot be lines: their index, and the offset of the blank line in their place. That line has as many CRs
    /// as the value has bytes, so that all offsets are those of a list of the values.
    alone: Vec<(usize, u64)>,
}

thread_local! {
    /// The text that each thread reuses.
    static TEXT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

impl Drop for Lines {
    fn drop(&mut self) {
        TEXT.set(std::mem::take(&mut self.text));
    }
}

impl Lines {
    fn of(values: &[Option<&[u8]>]) -> Self {
        let mut lines = Self::default();
        lines.text = TEXT.take();
        lines.text.clear();
        let mut has_cr = false;
        for value in values {
            match value {
                Some(value) => {
                    lines.text.extend_from_slice(value);
                    has_cr |= value.last() == Some(&b'\r');
                }
                None => lines.nulls += 1,
            }
            lines.text.push(b'\n');
        }
        if has_cr || memchr_iter(b'\n', &lines.text).count() > values.len() {
            lines.set_apart(values);
        }
        lines
    }

    /// Replaces each value that contains a line end, or ends in CR.
    #[cold]
    fn set_apart(&mut self, values: &[Option<&[u8]>]) {
        let mut at = 0;
        for (n, value) in values.iter().enumerate() {
            let value = value.unwrap_or_default();
            if value.ends_with(b"\r") || memchr(b'\n', value).is_some() {
                self.text[at..at + value.len()].fill(b'\r');
                self.alone.push((n, at as u64));
            }
            at += value.len() + 1;
        }
    }
}

/// Judges values under all five grammars, and calls `each` with the index, the verdict and the advisories of each value, in order. If
/// `whatwg` is true, its last argument says whether the value is known to be a [plain URL](urlsift_grammar::whatwg::plain::PlainUrl).
/// Skips nulls. The time is linear in the number of bytes, and the values are copied once.
///
/// ```
/// use urlsift::internal::scan::{Scanner, judge_values};
/// use urlsift::{Grammar, judge};
///
/// let values = [Some(&b"http://example.org/"[..]), None, Some(b"http://example.org/\n")];
/// let mut accepted = Vec::new();
/// judge_values(&mut Scanner::default(), &values, false, |n, verdict, _, _| accepted.push((n, verdict.accepts(Grammar::Rfc3986))));
/// assert_eq!(accepted, [(0, true), (2, false)]);
/// ```
pub fn judge_values(
    scanner: &mut Scanner,
    values: &[Option<&[u8]>],
    whatwg: bool,
    mut each: impl FnMut(usize, Verdict, Advisories, bool),
) {
    let mut first = 0;
    let alone = |value| {
        let judgement = judge(value);
        (judgement.verdict(), judgement.advisories())
    };
    for run in runs(values) {
        if let Some(value) = long(run) {
            let (verdict, advisories) = alone(value);
            each(first, verdict, advisories, false);
        } else {
            let lines = Lines::of(run);
            let judged = scanner.judge(&lines.text, whatwg);
            for ((n, value), line) in (first..).zip(run).zip(judged) {
                if let Some(value) = value {
                    let (verdict, advisories) = line.verdict().unwrap_or_else(|| alone(value));
                    each(n, verdict, advisories, line.is_plain_url());
                }
            }
        }
        first += run.len();
    }
}

/// Counts values as the lines of a list that has one value per line. `place` is the place of the first one in that list.
///
/// Nulls are lines of the list that are counted as [`ColumnSigns::nulls`](crate::tally::ColumnSigns::nulls) and nowhere else. Values without any byte are blank
/// lines. No line behind `place` may be in the tally yet.
pub(crate) fn add_values(
    tally: &mut Tally,
    scanner: &mut Scanner,
    values: &[Option<&[u8]>],
    mut place: Place,
    options: &Options,
) {
    for run in runs(values) {
        let bytes: usize = run.iter().map(|value| value.map_or(0, <[u8]>::len) + 1).sum();
        match long(run) {
            Some(value) => add_long(tally, value, place, options),
            None => add_lines(tally, scanner, run, place, options),
        }
        place.offset += bytes as u64;
    }
}

/// Counts values as the lines of a buffer, into which they are copied.
fn add_lines(
    tally: &mut Tally,
    scanner: &mut Scanner,
    values: &[Option<&[u8]>],
    place: Place,
    options: &Options,
) {
    let lines = Lines::of(values);
    let shown = AlreadyShown::default();
    let mut observer = Observer::new(options, tally, &shown);
    scanner.scan(&mut observer, &lines.text, place);
    let n_alone = lines.alone.len() as u64;
    tally.blank -= lines.nulls + n_alone;
    tally.cr -= n_alone;
    if n_alone > 0 {
        add_alone(tally, &lines, values, place, options);
    }
    tally.note(place.input, Signs::of_column(lines.nulls, false));
    tally.settle(place.input);
}

/// Counts a value that is too long to be copied.
fn add_long(tally: &mut Tally, value: &[u8], place: Place, options: &Options) {
    let mut line = LongLine::new(place, options);
    line.feed_field(value);
    let mut one = line.finish();
    one.relocate(|offset| (offset, 1));
    let end = place.offset + value.len() as u64 + 1;
    one.cover(Extent::of_bytes(place.input, place.offset, end, 1));
    *tally = std::mem::take(tally).merge(one);
}

/// Counts the values that cannot be lines, after the lines.
#[cold]
fn add_alone(tally: &mut Tally, lines: &Lines, values: &[Option<&[u8]>], place: Place, options: &Options) {
    let end = place.offset + lines.text.len() as u64;
    let run = tally.runs().iter().find(|run| (run.input, run.end) == (place.input, end));
    // Lines are numbered from the start of their run, which may have begun before these values.
    let before = run.map_or(0, |run| run.lines - values.len() as u64);
    let shown = AlreadyShown::default();
    let mut observer = Observer::new(options, tally, &shown);
    for &(n, offset) in &lines.alone {
        let value = values[n].unwrap_or_default();
        let place = Place { offset: place.offset + offset, ..place };
        let number_of = || before + n as u64 + 1;
        observer.observe_value(&Line::whole(place, &number_of, value), value, place);
    }
    tally.cover(Extent::of_bytes(place.input, end, end, 0));
}
