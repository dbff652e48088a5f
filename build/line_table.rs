//! The automaton of the table scan: the verdict and the facts of a line, two bytes per step.
//!
//! This file combines the automaton of all grammars with that of the facts, and packs pairs of bytes into columns. It knows no rules.

use std::collections::HashMap;

use crate::automaton::{Classes, Dfa};
use crate::line_facts::{Escapes, Fact};

/// What a state says about a line that ends in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The set of grammars that accept the line, as bits.
    pub accepting: u8,
    /// The fact of the line.
    pub fact: Fact,
}

/// The automaton over single bytes, and the columns of the table over pairs of bytes. The rows of that table are states.
pub struct Walk {
    /// The class of each byte.
    pub classes: Classes,
    /// For each state, the next state for each byte class.
    pub next: Vec<Vec<usize>>,
    /// For each state, the number of the outcome of a line that ends in it.
    pub ends: Vec<usize>,
    /// All outcomes, each different from the others.
    pub outcomes: Vec<Outcome>,
    /// All columns of the table, each different from the others.
    pub columns: Vec<Column>,
    /// For each pair of byte classes, its column.
    pub pairs: Vec<Vec<usize>>,
    /// For each byte class, the column of a line that ends with a byte of that class.
    pub last: Vec<usize>,
    /// The column of a line that ends without another byte.
    pub end: usize,
}

/// The contents of a column of the table, for each state.
#[derive(Clone, Copy)]
pub enum Column {
    /// The state after a byte of the first class and a byte of the second.
    Pair(usize, usize),
    /// The number of the outcome of a line that ends with a byte of that class.
    Last(usize),
    /// The number of the outcome of a line that ends in the state.
    End,
}

/// Returns the product of two automata: that of all grammars, over the byte classes `of`, and that of the facts, over bytes.
///
/// An LF leads to the start state. Once no grammar can accept a line any more, its fact is [`Fact::Look`], so that all such
/// states are one.
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
            // A line that no grammar accepts has no advisories.
            Fact::Plain(scheme, _) if accepting == 0 => Fact::Plain(scheme, Escapes::default()),
            fact => fact,
        };
        Outcome { accepting, fact }
    };
    (classes, Dfa { next, facts: states.iter().map(outcome).collect() })
}

/// Makes the columns of the table over pairs of bytes. Columns with equal contents are merged.
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
        // A column of states and a column of outcomes differ, even if their numbers are equal.
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
