//! The automaton of a line, as tables over single bytes and over pairs of bytes.
//!
//! It is the product of all grammars and of the facts of a line (`build/line_facts.rs`). The state at the end of a line
//! gives its verdict, and mostly its scheme and advisories. The table over pairs has 5.7 MB. It is made at run time
//! from the table over single bytes, and only if enough bytes are read to make it worth its cost.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::grammar::Verdict;
use crate::grammar::advisory::Advisories;

#[allow(clippy::unreadable_literal, reason = "derived by the build script")]
mod tables {
    use super::{Advisories, Column, Fact, Outcome, Verdict};

    include!(concat!(env!("OUT_DIR"), "/walk.rs"));

    /// The next state for each state and class of bytes.
    pub(super) static NEXT: &[[u8; 2]; N_STATES * N_CLASSES] =
        include_bytes!(concat!(env!("OUT_DIR"), "/next.bin")).as_chunks().0.first_chunk().unwrap();
}

/// What the automaton knows of a line besides its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fact {
    /// Its advisories and its scheme: the place in [`KNOWN`](crate::grammar::scheme::KNOWN), or `None` if it has no
    /// scheme.
    Plain(Option<usize>, Advisories),
    /// Nothing. The line needs a closer look.
    Look,
}

/// Everything that the automaton knows of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The grammars that accept it.
    pub(crate) verdict: Verdict,
    /// What else is known.
    pub(crate) fact: Fact,
}

/// All outcomes, indexed by their numbers.
pub(crate) static OUTCOMES: &[Outcome] = &tables::OUTCOMES;

const _: () = assert!(OUTCOMES.len() <= 256, "the number of an outcome is one byte");

/// What a column of the table over pairs holds for each state. The numbers are classes of bytes.
#[derive(Clone, Copy)]
enum Column {
    /// The state after bytes of two classes.
    Pair(u8, u8),
    /// The outcome number of the line that ends with a byte of this class.
    Last(u8),
    /// The outcome number of the line that ends here.
    End,
}

/// The state after a byte of some class.
#[inline(always)]
fn next(state: usize, class: u8) -> usize {
    u16::from_le_bytes(tables::NEXT[state * tables::N_CLASSES + usize::from(class)]).into()
}

/// The outcome number of a line, byte by byte. Tests compare the table over pairs with it.
pub(crate) fn outcome_by_bytes(line: &[u8]) -> u8 {
    tables::ENDS[line.iter().fold(0, |state, &byte| next(state, tables::CLASS_OF[usize::from(byte)]))]
}

/// A state of the automaton: the index of its row in the table over pairs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineState(u32);

impl LineState {
    /// The state at the start of a line. Every LF leads here.
    pub(crate) const START: Self = Self(0);
}

/// How many cells the table over pairs has.
const N_CELLS: usize = tables::N_STATES * tables::N_COLUMNS;

/// The table over pairs of bytes.
pub(crate) struct LineTable {
    /// The column of each pair of bytes.
    column_of: Box<[u16; 1 << 16]>,
    /// First half: the column of a line that ends here. Second half: the column of each byte with which a line ends.
    last: [u16; 2 << 8],
    /// For each state and column, the next state or an outcome number.
    rows: Box<[u32; N_CELLS]>,
}

/// How many bytes are read one by one before the table over pairs is made. Making it takes as long as it saves in a few
/// megabytes.
const WORTH: usize = 1 << 20;

static TABLE: OnceLock<LineTable> = OnceLock::new();

/// How many bytes have been read one by one.
static N_READ: AtomicUsize = AtomicUsize::new(0);

impl LineTable {
    /// The table, if it is worth making now that `n_bytes` more are read. Otherwise these bytes are read one by one.
    #[inline]
    pub(crate) fn for_bytes(n_bytes: usize) -> Option<&'static Self> {
        TABLE.get().or_else(|| Self::if_worth(n_bytes))
    }

    #[cold]
    fn if_worth(n_bytes: usize) -> Option<&'static Self> {
        let before = N_READ.fetch_add(n_bytes, Ordering::Relaxed);
        (before.saturating_add(n_bytes) >= WORTH).then(Self::get)
    }

    /// The table, made on the first call.
    pub(crate) fn get() -> &'static Self {
        TABLE.get_or_init(Self::new)
    }

    fn new() -> Self {
        let row_of =
            |state: usize| u32::try_from(state * tables::N_COLUMNS).expect("a table of some megabytes");
        let class = |byte: u8| usize::from(tables::CLASS_OF[usize::from(byte)]);
        let column_of: Vec<u16> = (0..=u16::MAX)
            .map(|pair| {
                let [first, second] = pair.to_le_bytes();
                tables::COLUMN_OF_PAIR[class(first) * tables::N_CLASSES + class(second)]
            })
            .collect();
        let mut last = [tables::COLUMN_OF_END; 2 << 8];
        for (byte, column) in (0..=u8::MAX).zip(&mut last[1 << 8..]) {
            *column = tables::COLUMN_OF_LAST[class(byte)];
        }
        let mut rows = Vec::with_capacity(N_CELLS);
        for state in 0..tables::N_STATES {
            rows.extend(tables::COLUMNS.iter().map(|&column| match column {
                Column::Pair(first, second) => row_of(next(next(state, first), second)),
                Column::Last(class) => tables::ENDS[next(state, class)].into(),
                Column::End => tables::ENDS[state].into(),
            }));
        }
        let whole = "as many as there are columns and states";
        Self {
            column_of: column_of.into_boxed_slice().try_into().expect(whole),
            last,
            rows: rows.into_boxed_slice().try_into().expect(whole),
        }
    }

    #[inline(always)]
    fn cell(&self, state: LineState, column: u16) -> u32 {
        self.rows[state.0 as usize + usize::from(column)]
    }

    /// The state after two more bytes.
    #[inline(always)]
    pub(crate) fn after(&self, state: LineState, pair: [u8; 2]) -> LineState {
        LineState(self.cell(state, self.column_of[usize::from(u16::from_le_bytes(pair))]))
    }

    /// The outcome number of the line that ends here or, if `more`, after one more byte `last`.
    ///
    /// One look-up serves both cases. Whether a line ends at an odd offset is not predictable, so a branch would often
    /// be mispredicted.
    #[inline(always)]
    pub(crate) fn outcome(&self, state: LineState, more: bool, last: u8) -> u8 {
        self.cell(state, self.last[usize::from(more) << 8 | usize::from(last)]).to_le_bytes()[0]
    }
}
