//! Examples: the lines that a report shows.
//!
//! Of each kind of line, the first few by place are kept, in whatever order the lines arrive. An example holds only some bytes of
//! its line, and marks possible passwords in them. The callers decide what a kind of line is.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::grammar::latin1;
use crate::grammar::password::{secrets, secrets_inside};
use crate::grammar::uri_parts::beginning;
use crate::place::Place;

/// The largest number of examples that are kept of each kind of line.
pub const MAX_EXAMPLES: usize = 3;

/// The largest number of bytes of a line that an example shows.
pub const MAX_EXAMPLE_LEN: usize = 160;

/// A line that is kept in order to show it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Example {
    /// Where the line begins.
    pub place: Place,
    /// The number of the line, 1 for the first line of its input. While the tally lacks parts of the input before the
    /// line, line 1 is the first one after the nearest missing part.
    pub line: u64,
    /// The offset in the line, in bytes, of what the example is about; 0 when it is about the whole line.
    pub at: u64,
    /// Some bytes of the line around `at`, unchanged; at most [`MAX_EXAMPLE_LEN`].
    #[serde(with = "latin1")]
    pub text: Box<[u8]>,
    /// The ranges of `text` that may be passwords, ascending.
    pub secrets: Vec<Range<usize>>,
    /// The number of bytes of the line before `text`.
    pub skipped: u64,
    /// Whether the line continues after `text`.
    pub cut: bool,
}

impl Example {
    /// Makes passwords unreadable. Each letter, digit or byte above 7F becomes a fixed one of its kind; delimiters and
    /// lengths stay the same.
    pub(crate) fn forget_secrets(&mut self) {
        for secret in self.secrets.clone() {
            for byte in self.text.get_mut(secret).into_iter().flatten() {
                *byte = match *byte {
                    b'0'..=b'9' => b'0',
                    b'a'..=b'f' => b'a',
                    b'A'..=b'F' => b'A',
                    b'g'..=b'z' => b'x',
                    b'G'..=b'Z' => b'X',
                    0x80.. => 0x80,
                    byte => byte,
                };
            }
        }
    }
}

/// Returns whether no line at or after `place` can be among the first lines. `first` holds the first lines so far.
pub(crate) fn is_full(first: &[Example], place: Place) -> bool {
    first.len() >= MAX_EXAMPLES && first.last().is_some_and(|last| last.place < place)
}

/// Keeps a line if it is among the first of its kind and not yet in `first`. Returns whether the line was kept. `example`
/// is called only for a line that is kept.
#[inline]
pub(crate) fn keep(first: &mut Vec<Example>, place: Place, example: impl FnOnce() -> Example) -> bool {
    if is_full(first, place) {
        return false;
    }
    let at = first.partition_point(|known| known.place < place);
    if at >= MAX_EXAMPLES || first.get(at).is_some_and(|known| known.place == place) {
        return false;
    }
    first.insert(at, example());
    first.truncate(MAX_EXAMPLES);
    true
}

/// Merges `others` into `first` and keeps the first [`MAX_EXAMPLES`] of both.
pub(crate) fn merge(first: &mut Vec<Example>, others: Vec<Example>) {
    first.extend(others);
    first.sort_by_key(|example| example.place);
    first.truncate(MAX_EXAMPLES);
}

/// The number of lines of one kind, and the first few of them as examples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// The number of lines.
    pub lines: u64,
    /// The first [`MAX_EXAMPLES`] lines, by place.
    pub examples: Vec<Example>,
}

impl Found {
    /// Counts one line. `example` is called only if the line is among the first.
    pub(crate) fn count(&mut self, place: Place, example: impl FnOnce() -> Example) {
        self.lines += 1;
        keep(&mut self.examples, place, example);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        merge(&mut self.examples, other.examples);
    }
}

/// A line from which examples can be made.
#[derive(Clone, Copy)]
pub(crate) struct Line<'a> {
    /// Where the line begins.
    pub(crate) place: Place,
    /// Returns the number of the line, counted from 1 at the start of the run of lines being read. Called only when the line
    /// is kept.
    pub(crate) number: &'a dyn Fn() -> u64,
    /// The first bytes of the line, as many as [`beginning`] returns.
    pub(crate) beginning: &'a [u8],
    /// The number of bytes of the line, without its terminator.
    pub(crate) len: u64,
}

impl<'a> Line<'a> {
    /// The largest number of bytes that an example shows before what it is about.
    pub(crate) const BEFORE: usize = MAX_EXAMPLE_LEN * 3 / 4;

    /// A line that is held in memory whole.
    pub(crate) fn whole(place: Place, number: &'a dyn Fn() -> u64, line: &'a [u8]) -> Self {
        Self { place, number, beginning: beginning(line), len: line.len() as u64 }
    }

    /// Returns the offset where an example about `at` may begin, and the bytes of `line` from there on.
    pub(crate) fn around(line: &[u8], at: u64) -> (u64, &[u8]) {
        let from = usize::try_from(at).unwrap_or(line.len()).saturating_sub(Self::BEFORE);
        (from as u64, &line[from.min(line.len())..])
    }

    /// An example about the whole line.
    pub(crate) fn beginning(&self) -> Example {
        self.example(0, (0, self.beginning))
    }

    /// An example about the byte at `at`. `text` begins at offset `from` of the line and includes all bytes that the example
    /// can show.
    pub(crate) fn example(&self, at: u64, (from, text): (u64, &[u8])) -> Example {
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

    /// Returns the ranges of `text` that may be passwords. `text` begins at offset `from` of the line. The search covers both
    /// the beginning of the line and `text`.
    fn secrets(&self, from: u64, text: &[u8]) -> Vec<Range<usize>> {
        let cut = self.len > self.beginning.len() as u64;
        let inside = |offset: u64| {
            usize::try_from(offset.saturating_sub(from)).map_or(text.len(), |n| n.min(text.len()))
        };
        let by_beginning = secrets(self.beginning, cut).into_iter().map(|range| {
            // A password that is still open at the end of a cut beginning is still open at the end of `text`.
            let open = cut && range.end == self.beginning.len();
            inside(range.start as u64)..if open { text.len() } else { inside(range.end as u64) }
        });
        let end = from + text.len() as u64;
        // If the beginning includes `text`, its ranges are more exact, because they know what precedes `text`.
        let is_known = end <= self.beginning.len() as u64;
        let by_text = if is_known { Vec::new() } else { secrets_inside(text, end < self.len) };
        let mut all: Vec<_> = by_beginning.chain(by_text).collect();
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
