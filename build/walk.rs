//! The machine that the scan walks: the verdict and the facts of a line, two bytes a step.

use std::collections::HashMap;

use crate::automaton::{Classes, Dfa};
use crate::fact::{Escapes, Fact};

/// What is known of a line that ends in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The set of the grammars that accept it.
    pub accepting: u8,
    /// What else is known of it.
    pub fact: Fact,
}

/// The machine over pairs of bytes, as a table whose rows are states. A column is something that may come next.
pub struct Walk {
    /// The class of each byte.
    pub classes: Classes,
    /// The column of the pair of two classes: it holds states.
    pub pairs: Vec<Vec<usize>>,
    /// The column of a byte of each class with which the line ends: it holds numbers of outcomes.
    pub last: Vec<usize>,
    /// The column of a line that ends here: it holds numbers of outcomes.
    pub end: usize,
    /// All columns.
    pub columns: Vec<Column>,
    /// What can be known of a line.
    pub outcomes: Vec<Outcome>,
}

/// What a column holds, for each state.
#[derive(Clone, PartialEq, Eq, Hash)]
pub enum Column {
    /// The state after it.
    States(Vec<usize>),
    /// The number of the outcome of the line that ends with it.
    Outcomes(Vec<usize>),
}

impl Column {
    /// What it holds, whatever that is.
    pub fn values(&self) -> &[usize] {
        let (Self::States(values) | Self::Outcomes(values)) = self;
        values
    }
}

/// The machine of all grammars, given by class, together with that of the facts, given by byte.
///
/// An LF leads to the start. Once no grammar can accept a line any more it has to be looked at, whatever its facts: then the
/// states behind are one.
pub fn with_facts(machine: &Dfa<u8>, of: &[u8; 256], facts: &Dfa<Fact>) -> (Classes, Dfa<Outcome>) {
    let column = |byte: u8| {
        let facts: Vec<_> = facts.next.iter().map(|row| row[usize::from(byte)]).collect();
        (of[usize::from(byte)], facts, byte == b'\n')
    };
    let classes = Classes::by_key(column);
    let dead = machine.next[0][usize::from(of[usize::from(b'\n')])];
    let look = facts.facts.iter().position(|fact| *fact == Fact::Look).expect("some lines are looked at");
    let mut states = vec![(0, 0)];
    let mut known = HashMap::from([((0, 0), 0)]);
    let mut next: Vec<Vec<usize>> = Vec::new();
    while next.len() < states.len() {
        let (state, fact) = states[next.len()];
        let row = classes.samples.iter().map(|&byte| {
            if byte == b'\n' {
                return 0;
            }
            let state = machine.next[state][usize::from(of[usize::from(byte)])];
            let fact = if state == dead { look } else { facts.next[fact][usize::from(byte)] };
            *known.entry((state, fact)).or_insert_with(|| {
                states.push((state, fact));
                states.len() - 1
            })
        });
        let row = row.collect();
        next.push(row);
    }
    let outcome = |&(state, fact): &(usize, usize)| {
        let accepting = machine.facts[state];
        let fact = match facts.facts[fact] {
            // What no grammar accepts has no advisories.
            Fact::Plain(scheme, _) if accepting == 0 => Fact::Plain(scheme, Escapes::default()),
            fact => fact,
        };
        Outcome { accepting, fact }
    };
    (classes, Dfa { next, facts: states.iter().map(outcome).collect() })
}

/// `machine` over pairs. Columns that hold the same are one.
pub fn by_pairs(classes: Classes, machine: &Dfa<Outcome>) -> Walk {
    let mut outcomes = Vec::new();
    let ends = machine.facts.iter().map(|outcome| {
        outcomes.iter().position(|known| known == outcome).unwrap_or_else(|| {
            outcomes.push(*outcome);
            outcomes.len() - 1
        })
    });
    let ends: Vec<_> = ends.collect();
    let mut columns = Vec::new();
    let mut known = HashMap::new();
    let mut number = |column: Column| {
        *known.entry(column).or_insert_with_key(|column: &Column| {
            columns.push(column.clone());
            columns.len() - 1
        })
    };
    let by_class: Vec<Vec<usize>> =
        (0..classes.samples.len()).map(|class| machine.next.iter().map(|row| row[class]).collect()).collect();
    let after = |first: &[usize], second: &[usize]| first.iter().map(|&state| second[state]).collect();
    let pairs = by_class
        .iter()
        .map(|first| by_class.iter().map(|second| number(Column::States(after(first, second)))).collect())
        .collect();
    let last = by_class.iter().map(|byte| number(Column::Outcomes(after(byte, &ends)))).collect();
    let end = number(Column::Outcomes(ends));
    Walk { classes, pairs, last, end, columns, outcomes }
}
