//! Which pairs of bytes the automata do not tell apart, so that they can share a column of the table over pairs.

use std::collections::HashMap;

use crate::automaton::{Dfa, Nfa, State};

/// Where the two bytes of a pair lead from a state.
#[derive(PartialEq, Eq, Hash)]
enum End {
    At(usize),
    /// The first byte is refused.
    First(Refused),
    /// The second byte is refused in a state with this label.
    Second(Label, Refused),
}

/// What the component of a defect depends on: the component of the rule, whether an escape is open, whether nothing of the rule has
/// been read, and whether only a "/" could follow.
type Label = (&'static str, bool, bool, bool);

/// What the cause of a defect depends on, beside the label: whether the grammar has the byte, and the byte if it is a delimiter.
type Refused = (bool, Option<u8>);

/// Gives each pair of byte classes a number. Pairs have the same number if they lead from each state of `machine` to the same
/// state, and from each state of the labelled automaton of a grammar to the same state or to the same defect.
pub fn numbers(machine: &Dfa<u8>, (nfa, labelled): (&Nfa, &Dfa<State>), samples: &[u8]) -> Vec<u16> {
    let alphabet = nfa.alphabet();
    let refused = |class: usize| {
        let byte = samples[class];
        (alphabet.has(byte), Some(byte).filter(|byte| b":/?#@;=".contains(byte)))
    };
    let is_alive = |state: usize| labelled.facts[state].is_some();
    let labels = labelled.facts.iter().zip(&labelled.next).map(|(fact, row)| {
        let only_slash = row.iter().zip(samples).all(|(&next, &byte)| byte == b'/' || !is_alive(next));
        fact.map(|(_, label)| (nfa.rule_at(label.path).1, label.escape, label.fresh, only_slash))
    });
    let labels: Vec<Option<Label>> = labels.collect();
    let mut numbers = HashMap::new();
    let classes = || 0..samples.len();
    classes()
        .flat_map(|first| classes().map(move |second| (first, second)))
        .map(|(first, second)| {
            let states = machine.next.iter().map(|row| machine.next[row[first]][second]);
            let ends = labelled.next.iter().map(|row| {
                let end = labelled.next[row[first]][second];
                match labels[row[first]] {
                    None => End::First(refused(first)),
                    Some(label) if !is_alive(end) => End::Second(label, refused(second)),
                    Some(_) => End::At(end),
                }
            });
            let key = (states.collect::<Vec<_>>(), ends.collect::<Vec<_>>());
            let n = numbers.len();
            u16::try_from(*numbers.entry(key).or_insert(n)).expect("some hundred pairs")
        })
        .collect()
}
