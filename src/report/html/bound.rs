//! How much the page shows. Each list has a bound and each text too: the data is not trusted with the size of the page, nor with
//! its looks.

use crate::grammar::escape::printable;

/// How much is shown.
pub(super) struct Bounds {
    /// Schemes, and entries of a list of what occurs most.
    pub(super) schemes: usize,
    /// Kinds of refusals.
    pub(super) findings: usize,
    /// Example lines of each kind.
    pub(super) examples: usize,
    /// Sets of grammars of two that differ.
    pub(super) sets: usize,
    /// Inputs.
    pub(super) inputs: usize,
}

impl Bounds {
    /// As much as anyone reads.
    pub(super) const MOST: Self = Self { schemes: 100, findings: 40, examples: 3, sets: 4, inputs: 100 };
    /// So little that the page is short enough, if all texts in it are as long, and as long to write, as can be.
    pub(super) const LEAST: Self = Self { schemes: 12, findings: 8, examples: 1, sets: 1, inputs: 10 };
}

/// The longest line, name, sentence and rule that is shown, in characters.
pub(super) const LINE: usize = 200;
pub(super) const NAME: usize = 80;
pub(super) const SENTENCE: usize = 300;
pub(super) const RULE: usize = 600;

/// Text as it is shown: nothing in it acts on what stands around it, and of a long one there are only both ends.
pub(super) fn shown(text: &str, max: usize) -> String {
    let text = printable(text.as_bytes());
    let n_chars = text.chars().count();
    if n_chars <= max {
        return text;
    }
    let head = max / 2;
    let tail = text.chars().skip(n_chars - (max - head - 1));
    text.chars().take(head).chain(['\u{2026}']).chain(tail).collect()
}

/// The beginning of a list.
pub(super) struct Part<T> {
    pub(super) rows: Vec<T>,
    /// How many are left out.
    pub(super) n_left: u64,
    /// How many lines those have.
    pub(super) lines_left: u64,
}

impl<T> Part<T> {
    /// `lines` says how many lines an item has, `row` how it is shown.
    pub(super) fn new<S>(
        all: impl IntoIterator<Item = S>,
        max: usize,
        lines: impl Fn(&S) -> u64,
        row: impl FnMut(S) -> T,
    ) -> Self {
        let mut all = all.into_iter();
        let rows = all.by_ref().take(max).map(row).collect();
        let left = |(n, sum): (u64, u64), item: S| (n + 1, sum.saturating_add(lines(&item)));
        let (n_left, lines_left) = all.fold((0, 0), left);
        Self { rows, n_left, lines_left }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_and_hostile_texts() {
        assert_eq!(shown("abcdef", 6), "abcdef");
        assert_eq!(shown("abcdefg", 6), "abc\u{2026}fg");
        assert_eq!(shown("a\u{202e}b\u{1b}", 99), "a\\xe2\\x80\\xaeb\\x1b");
        assert_eq!(shown(&"\u{e9}".repeat(1000), 5).chars().count(), 5);
    }
}
