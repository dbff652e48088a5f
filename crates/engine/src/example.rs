//! Examples: the lines that a report shows.
//!
//! Of each kind of line, the first few by place are kept, in whatever order the lines arrive. An example holds only some bytes of
//! its line, and marks possible passwords in them. The callers decide what a kind of line is.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::place::Place;
use urlsift_grammar::automaton::Rule;
use urlsift_grammar::escape::MASK;
use urlsift_grammar::latin1;
use urlsift_grammar::password::{join, secrets_inside, secrets_of};
use urlsift_grammar::uri_parts::beginning;
use urlsift_grammar::whatwg::TwoHosts;

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
    /// Some bytes of the line around `at`, at most [`MAX_EXAMPLE_LEN`]. They are unchanged, but in a partial report each password
    /// is replaced by `***`.
    #[serde(with = "latin1")]
    pub text: Box<[u8]>,
    /// The ranges of `text` that may be passwords, ascending.
    pub secrets: Vec<Range<usize>>,
    /// The index in `text` of the byte at `at`; the length of `text` if it is not there.
    pub mark: usize,
    /// The rule that was being read at `at`; `None` if the example is about the whole line.
    #[serde(with = "rule_text")]
    pub rule: Option<Rule>,
    /// The number of bytes of the line before `text`.
    pub skipped: u64,
    /// Whether the line continues after `text`.
    pub cut: bool,
    /// The two hosts of the line, if the example is about these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Box<TwoHosts>>,
}

impl Example {
    /// Replaces passwords by [`MASK`]. Afterwards, `secrets` are the ranges of the masks.
    pub fn forget_secrets(&mut self) {
        let (whole, marked) = (std::mem::take(&mut self.text), self.mark);
        let mut text = Vec::with_capacity(whole.len());
        let mut shown = 0;
        for secret in &mut self.secrets {
            text.extend(&whole[shown..secret.start]);
            let mask = text.len()..text.len() + MASK.len();
            text.extend(MASK.bytes());
            if marked >= secret.end {
                self.mark = mask.end + (marked - secret.end);
            } else if marked >= secret.start {
                self.mark = mask.start;
            }
            shown = secret.end;
            *secret = mask;
        }
        text.extend(&whole[shown..]);
        self.text = text.into();
    }
}

/// Serialises a rule as its text and its section; used by serde's `with`.
mod rule_text {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use urlsift_grammar::automaton::Rule;

    #[allow(clippy::ref_option, reason = "serde asks for it")]
    pub(super) fn serialize<S: Serializer>(rule: &Option<Rule>, to: S) -> Result<S::Ok, S::Error> {
        rule.map(Rule::key).serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Option<Rule>, D::Error> {
        let Some((text, section)) = Option::<(String, String)>::deserialize(from)? else { return Ok(None) };
        let rule = Rule::find(&text, &section);
        rule.map(Some).ok_or_else(|| D::Error::custom(format!("section {section} has no rule \"{text}\"")))
    }
}

/// Returns whether no line at or after `place` can be among the first lines. `first` holds the first lines so far.
pub fn is_full(first: &[Example], place: Place) -> bool {
    first.len() >= MAX_EXAMPLES && first.last().is_some_and(|last| last.place < place)
}

/// Keeps a line if it is among the first of its kind and not yet in `first`. Returns whether the line was kept. `example`
/// is called only for a line that is kept.
#[inline]
pub fn keep(first: &mut Vec<Example>, place: Place, example: impl FnOnce() -> Example) -> bool {
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
pub fn merge(first: &mut Vec<Example>, others: Vec<Example>) {
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
    /// Counts one line. `example` is called only if the line is among the first and examples are not yet `is_shown`.
    pub fn count(&mut self, is_shown: bool, place: Place, example: impl FnOnce() -> Example) {
        self.lines += 1;
        if !is_shown {
            keep(&mut self.examples, place, example);
        }
    }

    pub fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        merge(&mut self.examples, other.examples);
    }
}

/// A line from which examples can be made.
#[derive(Clone, Copy)]
pub struct Line<'a> {
    /// Where the line begins.
    pub place: Place,
    /// Returns the number of the line, counted from 1 at the start of the run of lines being read. Called only when the line
    /// is kept.
    pub number: &'a dyn Fn() -> u64,
    /// The first bytes of the line, as many as [`beginning`] returns.
    pub beginning: &'a [u8],
    /// The number of bytes of the line, without its terminator.
    pub len: u64,
    /// Whether it is a URL in running text, which may have ended inside a password.
    pub is_open: bool,
}

impl<'a> Line<'a> {
    /// The largest number of bytes that an example shows before what it is about.
    pub const BEFORE: usize = MAX_EXAMPLE_LEN * 3 / 4;

    /// A line that is held in memory whole.
    pub fn whole(place: Place, number: &'a dyn Fn() -> u64, line: &'a [u8]) -> Self {
        Self { place, number, beginning: beginning(line), len: line.len() as u64, is_open: false }
    }

    /// How many bytes before and after what an example is about are searched for passwords.
    pub const CONTEXT: usize = 4096;

    /// Returns the bytes of `line` around `at`, and their offset.
    pub fn around(line: &[u8], at: u64) -> (u64, &[u8]) {
        let at = usize::try_from(at).unwrap_or(line.len()).min(line.len());
        let from = at.saturating_sub(Self::CONTEXT);
        (from as u64, &line[from..line.len().min(at + Self::CONTEXT)])
    }

    /// An example about the whole line.
    pub fn beginning(&self) -> Example {
        self.example(0, (0, self.beginning))
    }

    /// An example about the byte at `at`. `around` is the offset of some bytes of the line, and these bytes. They include those
    /// within [`CONTEXT`](Self::CONTEXT) of `at`.
    pub fn example(&self, at: u64, around: (u64, &[u8])) -> Example {
        let is_short = self.len <= MAX_EXAMPLE_LEN as u64;
        let around = if is_short { (0, self.beginning) } else { around };
        let from = if is_short { 0 } else { at.saturating_sub(Self::BEFORE as u64).max(around.0) };
        let text =
            &around.1[usize::try_from(from - around.0).map_or(around.1.len(), |n| n.min(around.1.len()))..];
        let text = &text[..text.len().min(MAX_EXAMPLE_LEN)];
        Example {
            secrets: self.secrets(from, text, around),
            place: self.place,
            line: (self.number)(),
            at,
            mark: usize::try_from(at - from).map_or(text.len(), |mark| mark.min(text.len())),
            rule: None,
            text: text.into(),
            skipped: from,
            cut: from + (text.len() as u64) < self.len,
            hosts: None,
        }
    }

    /// Returns the ranges of `text` that may be passwords. `text` begins at offset `from` of the line. The search covers both
    /// the beginning of the line and the bytes around `text`.
    fn secrets(&self, from: u64, text: &[u8], (start, around): (u64, &[u8])) -> Vec<Range<usize>> {
        let cut = self.len > self.beginning.len() as u64;
        let inside = |offset: u64| {
            usize::try_from(offset.saturating_sub(from)).map_or(text.len(), |n| n.min(text.len()))
        };
        let by_beginning = secrets_of(self.beginning, cut, self.is_open).into_iter().map(|range| {
            // A password that is still open at the end of a cut beginning is still open at the end of `text`.
            let open = cut && range.end == self.beginning.len();
            inside(range.start as u64)..if open { text.len() } else { inside(range.end as u64) }
        });
        let end = from + text.len() as u64;
        // If the beginning includes `text`, its ranges are more exact, because they know what precedes `text`.
        let is_known = end <= self.beginning.len() as u64;
        let by_text = if is_known {
            Vec::new()
        } else {
            secrets_inside(around, self.is_open || start + (around.len() as u64) < self.len)
        };
        let by_text = by_text
            .into_iter()
            .map(|range| inside(start + range.start as u64)..inside(start + range.end as u64));
        let mut all: Vec<_> = by_beginning.chain(by_text).collect();
        all.retain(|range| !range.is_empty());
        join(&mut all);
        all
    }
}
