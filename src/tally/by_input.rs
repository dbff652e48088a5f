//! Counts of each input: how many of its lines each grammar accepts, and why the chosen grammar refuses the others.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use crate::tally::by_verdict::ByVerdict;
use urlsift_grammar::Grammar;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;

/// The judged lines of one input.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct InputLines {
    /// Judged lines.
    pub judged: u64,
    /// Lines that at least one grammar accepts.
    pub accepted_by_any: u64,
    /// Lines that each grammar accepts, in the order of [`Grammar::ALL`].
    accepted: [u64; Grammar::ALL.len()],
    /// Lines that the chosen grammar refuses, sorted by component and cause.
    defects: Vec<(Component, Cause, u64)>,
}

impl InputLines {
    /// The number of lines that `grammar` accepts.
    #[must_use]
    pub fn accepted(&self, grammar: Grammar) -> u64 {
        self.accepted[grammar as usize]
    }

    /// The most frequent defect, and its number of lines. Of equally many, the first by component and cause.
    #[must_use]
    pub fn most_frequent_defect(&self) -> Option<(Component, Cause, u64)> {
        // Of equal ones, `min_by_key` takes the first.
        self.defects.iter().min_by_key(|(_, _, lines)| Reverse(*lines)).copied()
    }

    pub(super) fn add(&mut self, counts: &ByVerdict) {
        for (verdict, lines) in counts.sets() {
            self.judged += lines;
            self.accepted_by_any += if verdict.is_empty() { 0 } else { lines };
            for grammar in verdict.iter() {
                self.accepted[grammar as usize] += lines;
            }
        }
    }

    pub(super) fn add_defect(&mut self, component: Component, cause: Cause, lines: u64) {
        match self
            .defects
            .binary_search_by_key(&(component, cause), |&(component, cause, _)| (component, cause))
        {
            Ok(at) => self.defects[at].2 += lines,
            Err(at) => {
                // Most inputs have few kinds of defects, and there may be very many inputs.
                self.defects.reserve_exact(1);
                self.defects.insert(at, (component, cause, lines));
            }
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.judged += other.judged;
        self.accepted_by_any += other.accepted_by_any;
        self.accepted.iter_mut().zip(other.accepted).for_each(|(own, other)| *own += other);
        for &(component, cause, lines) in &other.defects {
            self.add_defect(component, cause, lines);
        }
    }

    /// Whether the counts fit together, for lines that `grammar` judged.
    pub(super) fn is_possible(&self, grammar: Grammar) -> bool {
        let refused: u128 = self.defects.iter().map(|&(_, _, lines)| u128::from(lines)).sum();
        let is_sorted = self.defects.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1));
        is_sorted
            && self.accepted_by_any <= self.judged
            && self.accepted.iter().all(|&accepted| accepted <= self.accepted_by_any)
            && refused == u128::from(self.judged - self.accepted(grammar))
    }
}
