//! What is kept of a line to be shown, and which lines are: the first few of their kind by place, whatever the order in which
//! they come.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::grammar::latin1;
use crate::grammar::password::{secrets, secrets_inside};
use crate::grammar::uri_parts::beginning;
use crate::place::Place;

/// How many examples are kept of each kind.
pub const MAX_EXAMPLES: usize = 3;

/// How many bytes of a line an example shows at most.
pub const MAX_EXAMPLE_LEN: usize = 160;

/// A line kept to be shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
    #[serde(with = "latin1")]
    pub text: Box<[u8]>,
    /// Where in `text` passwords may stand, ascending.
    pub secrets: Vec<Range<usize>>,
    /// How many bytes of the line stand before `text`.
    pub skipped: u64,
    /// Whether the line goes on behind `text`.
    pub cut: bool,
}

impl Example {
    /// Makes passwords in it unreadable, so that nothing else changes: a letter or digit becomes another one of its kind.
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

/// Whether nothing that comes at or behind `place` can be among the first, if `first` are those so far.
pub(crate) fn is_full(first: &[Example], place: Place) -> bool {
    first.len() >= MAX_EXAMPLES && first.last().is_some_and(|last| last.place < place)
}

/// Keeps a line if it is among the first of its kind, and not one of `first` already; whether it was kept. Only then its
/// example is made.
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

/// Makes `first` the first of both.
pub(crate) fn merge(first: &mut Vec<Example>, others: Vec<Example>) {
    first.extend(others);
    first.sort_by_key(|example| example.place);
    first.truncate(MAX_EXAMPLES);
}

/// Lines of one kind, and the first few of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Found {
    /// How many.
    pub lines: u64,
    /// The first [`MAX_EXAMPLES`], by place.
    pub examples: Vec<Example>,
}

impl Found {
    /// Counts one line; its example is only made if it is among the first.
    pub(crate) fn count(&mut self, place: Place, example: impl FnOnce() -> Example) {
        self.lines += 1;
        keep(&mut self.examples, place, example);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        merge(&mut self.examples, other.examples);
    }
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

    /// The line as an example that is about all of it.
    pub(crate) fn beginning(&self) -> Example {
        self.example(0, (0, self.beginning))
    }

    /// `text` begins at `from`, and has all that an example may show of the line from there on.
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
        let end = from + text.len() as u64;
        // Of what the beginning has, it knows more.
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
