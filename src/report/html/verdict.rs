//! Where grammars differ: the sets of grammars that accept lines, and for each pair how many lines one accepts and the
//! other refuses.

use super::bound::{Bounds, FirstRows};
use super::finding::{Excerpt, excerpts};
use super::list::{label, words};
use crate::report::{Report, VerdictSet};
use urlsift_grammar::Grammar;

/// Lines that exactly one set of grammars accepts.
pub(super) struct SetRow {
    /// Each grammar, and whether it accepts.
    pub(super) dots: Vec<(&'static str, bool)>,
    /// The names of the grammars.
    pub(super) names: String,
    pub(super) lines: u64,
    /// The conditions that select the lines.
    pub(super) conditions: Vec<String>,
    pub(super) examples: Vec<Excerpt>,
}

/// The lines that one grammar accepts, by grammar that refuses them.
pub(super) struct MatrixRow {
    /// The first word of the grammar's name; `number` is the second.
    pub(super) document: &'static str,
    pub(super) number: &'static str,
    /// One cell per refusing grammar; `None` for the grammar itself.
    pub(super) cells: Vec<Option<Pair>>,
}

/// Lines that one grammar accepts and another refuses.
pub(super) struct Pair {
    pub(super) id: String,
    pub(super) accepts: &'static str,
    pub(super) refuses: &'static str,
    pub(super) lines: u64,
    /// The conditions that select the lines.
    pub(super) conditions: Vec<String>,
    /// The verdict sets of these lines.
    pub(super) sets: FirstRows<SetRow>,
}

/// How many sets of grammars can be the verdict of a line. (`Verdict::COUNT` also counts impossible ones.)
const MAX_SETS: usize = 16;

/// The verdict sets of a report. A report read from JSON may have more than are possible.
fn all(report: &Report) -> impl Iterator<Item = &VerdictSet> {
    report.verdict_sets.iter().take(MAX_SETS)
}

fn row(set: &VerdictSet, examples: Vec<Excerpt>) -> SetRow {
    let dot = |grammar| (label(grammar), set.grammars.contains(&grammar));
    let dots = Vec::from(Grammar::ALL.map(dot));
    let names: Vec<_> = dots.iter().filter(|(_, accepts)| *accepts).map(|&(label, _)| label).collect();
    let ids: Vec<_> = set.grammars.iter().map(|grammar| grammar.name()).collect();
    let verdict = if ids.is_empty() { "none".to_owned() } else { ids.join("+") };
    SetRow {
        dots,
        names: names.join(", "),
        lines: set.lines,
        conditions: vec![format!("verdict={verdict}")],
        examples,
    }
}

pub(super) fn sets(report: &Report, bounds: &Bounds) -> Vec<SetRow> {
    all(report).map(|set| row(set, excerpts(&set.examples, report, bounds, false))).collect()
}

pub(super) fn matrix(report: &Report, bounds: &Bounds) -> Vec<MatrixRow> {
    let cell = |accepts: Grammar, refuses: Grammar| {
        (accepts != refuses).then(|| pair(report, accepts, refuses, bounds))
    };
    let row = |accepts: Grammar| MatrixRow {
        document: words(accepts).0,
        number: words(accepts).1,
        cells: Grammar::ALL.map(|refuses| cell(accepts, refuses)).into(),
    };
    Grammar::ALL.map(row).into()
}

fn pair(report: &Report, accepts: Grammar, refuses: Grammar, bounds: &Bounds) -> Pair {
    let sets: Vec<_> = all(report)
        .filter(|set| set.grammars.contains(&accepts) && !set.grammars.contains(&refuses))
        .collect();
    // The fewer sets there are, the more examples each one shows.
    let bounds = Bounds { examples: (bounds.examples / sets.len().max(1)).max(1), ..*bounds };
    Pair {
        id: format!("{}-not-{}", accepts.name(), refuses.name()),
        accepts: label(accepts),
        refuses: label(refuses),
        lines: sets.iter().map(|set| set.lines).fold(0, u64::saturating_add),
        conditions: vec![format!("{accepts}=accepted"), format!("{refuses}=refused")],
        sets: FirstRows::new(
            sets,
            bounds.sets,
            |set| set.lines,
            |set| row(set, excerpts(&set.examples, report, &bounds, false)),
        ),
    }
}
