//! The machine that the scan walks: the verdict and the facts of a line, two bytes a step.

use std::collections::HashMap;

use crate::automaton::{Classes, Dfa};
use crate::line_facts::{Escapes, Fact};

/// What is known of a line that ends in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The set of the grammars that accept it.
    pub accepting: u8,
    /// What else is known of it.
    pub fact: Fact,
}

/// The machine over single bytes, and how to make of it the table over pairs of bytes, whose rows are states.
pub struct Walk {
    /// The class of each byte.
    pub classes: Classes,
    /// For each state the state after a byte of each class.
    pub next: Vec<Vec<usize>>,
    /// For each state the number of the outcome of the line that ends there.
    pub ends: Vec<usize>,
    /// What can be known of a line.
    pub outcomes: Vec<Outcome>,
    /// All columns of the table, each different from the others.
    pub columns: Vec<Column>,
    /// The column of each pair of classes.
    pub pairs: Vec<Vec<usize>>,
    /// The column of a byte of each class with which the line ends.
    pub last: Vec<usize>,
    /// The column of a line that ends here.
    pub end: usize,
}

/// What a column of the table holds, for each state.
#[derive(Clone, Copy)]
pub enum Column {
    /// The state after bytes of two classes.
    Pair(usize, usize),
    /// The number of the outcome of the line that ends with a byte of that class.
    Last(usize),
    /// The number of the outcome of the line that ends here.
    End,
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

/// `machine` over pairs of bytes. Columns that hold the same are one.
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
    let mut number = |column: Column, values: Vec<usize>| {
        // Numbers of states and of outcomes are different things.
        let key = (matches!(column, Column::Pair(..)), values);
        *known.entry(key).or_insert_with(|| {
            columns.push(column);
            columns.len() - 1
        })
    };
    let n_classes = classes.samples.len();
    let by_class: Vec<Vec<usize>> =
        (0..n_classes).map(|class| machine.next.iter().map(|row| row[class]).collect()).collect();
    let after = |first: &[usize], second: &[usize]| first.iter().map(|&state| second[state]).collect();
    let mut pairs = vec![Vec::new(); n_classes];
    for (first, row) in pairs.iter_mut().enumerate() {
        for second in 0..n_classes {
            row.push(number(Column::Pair(first, second), after(&by_class[first], &by_class[second])));
        }
    }
    let last =
        (0..n_classes).map(|class| number(Column::Last(class), after(&by_class[class], &ends))).collect();
    let end = number(Column::End, ends.clone());
    Walk { classes, next: machine.next.clone(), ends, outcomes, columns, pairs, last, end }
}
