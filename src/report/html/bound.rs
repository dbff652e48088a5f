//! Bounds for the lists and texts of the page. The data is not trusted: it must affect neither the size nor the layout of
//! the page.

use crate::report::page::MAX_INPUTS;
use urlsift_grammar::escape::printable;

/// The maximum length of each list on the page.
pub(super) struct Bounds {
    /// Schemes, and entries of each list of frequent names.
    pub(super) schemes: usize,
    /// Kinds of refusals, and advisories.
    pub(super) findings: usize,
    /// Validation errors of the WHATWG parser.
    pub(super) errors: usize,
    /// Example lines of each kind.
    pub(super) examples: usize,
    /// Verdict sets for each pair of grammars.
    pub(super) sets: usize,
    /// Inputs.
    pub(super) inputs: usize,
}

impl Bounds {
    /// The bounds of a normal page: as much as anyone reads.
    pub(super) const MOST: Self =
        Self { schemes: 100, findings: 40, errors: 40, examples: 3, sets: 4, inputs: MAX_INPUTS };
    /// Bounds that keep the page below [`MAX_PAGE`](super::MAX_PAGE) even if all texts have their maximum length and must
    /// be escaped.
    pub(super) const LEAST: Self =
        Self { schemes: 9, findings: 8, errors: 4, examples: 1, sets: 1, inputs: 8 };
    /// The same, with the section about the WHATWG parser, which takes the room of some other findings.
    pub(super) const LEAST_WITH_WHATWG: Self = Self { findings: 6, ..Self::LEAST };
}

/// The maximum lengths of lines, names, sentences and rules, in characters.
pub(super) const LINE: usize = 200;
pub(super) const NAME: usize = 80;
pub(super) const SENTENCE: usize = 300;
pub(super) const RULE: usize = 600;

/// Makes a text safe to show: escapes what could affect the text around it, and cuts the middle out of a long text.
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

/// The first rows of a list, and the size of the rest.
pub(super) struct FirstRows<T> {
    pub(super) rows: Vec<T>,
    /// The number of items left out.
    pub(super) n_left: u64,
    /// How many lines the items left out have.
    pub(super) lines_left: u64,
}

impl<T> FirstRows<T> {
    /// Takes the first `max` items of a list. `lines` returns an item's number of lines, `row` makes its row.
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
