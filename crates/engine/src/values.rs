//! Values that are in memory one by one, such as those of a column of a table.
//!
//! The engine needs lines. So values are copied into a buffer, one line each: line `n` has value `n`. A value is judged
//! unchanged: an LF or CR in it is an illegal byte and never a line end. A value with an LF, or with a CR at its end, cannot be a
//! line. [`judge()`] judges it, and the buffer has a blank line in its place.

use std::cell::Cell;
use std::iter;

use memchr::{memchr, memchr_iter};

use crate::Scanner;
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::Advisories;
use urlsift_grammar::judge::judge;

/// How many bytes of values are copied at a time. Longer values are not copied.
const MAX_LEN: usize = 1 << 20;

/// Cuts values into runs of at most [`MAX_LEN`] bytes. A longer value is a run of its own.
pub fn runs<'v, 'a>(mut values: &'v [Option<&'a [u8]>]) -> impl Iterator<Item = &'v [Option<&'a [u8]>]> {
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
pub fn long<'a>(run: &[Option<&'a [u8]>]) -> Option<&'a [u8]> {
    run.first().copied().flatten().filter(|value| value.len() > MAX_LEN)
}

/// Longer values are judged alone. The bit streams leave them to the table, which is slower.
const MAX_COPIED: usize = 1 << 16;

/// Values as lines of a buffer. Line `n` stands for value `n`.
#[derive(Debug, Default)]
pub struct Lines {
    /// The lines.
    pub text: Vec<u8>,
    /// How many values are nulls.
    pub nulls: u64,
    /// The values that cannot be lines: their index, and the offset of the blank line in their place. That line has as many CRs
    /// as the value has bytes, so that all offsets are those of a list of the values.
    pub alone: Vec<(usize, u64)>,
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
    /// Copies values.
    pub fn of(values: &[Option<&[u8]>]) -> Self {
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
/// use urlsift_engine::Scanner;
/// use urlsift_engine::values::judge_values;
/// use urlsift_grammar::Grammar;
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
    let alone = |value| {
        let judgement = judge(value);
        (judgement.verdict(), judgement.advisories())
    };
    let mut first = 0;
    for run in runs(values) {
        let copied: Vec<_> =
            run.iter().map(|value| value.filter(|value| value.len() <= MAX_COPIED)).collect();
        let lines = Lines::of(&copied);
        let judged = scanner.judge(&lines.text, whatwg);
        for ((n, value), line) in (first..).zip(run).zip(judged) {
            if let Some(value) = value {
                let (verdict, advisories) = line.verdict().unwrap_or_else(|| alone(value));
                each(n, verdict, advisories, line.is_plain_url());
            }
        }
        first += run.len();
    }
}
