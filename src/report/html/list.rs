//! The simple lists of the page: grammars, schemes, frequent names, distinct counts, inputs.

use super::bound::{Bounds, FirstRows, NAME, SENTENCE, shown};
use crate::report::{Count, Distinct, Report, SchemeCount, SchemeLabel, Top, TopOf, words};
use urlsift_grammar::Grammar;

/// How many schemes are visible at first. A click shows the others.
pub(super) const FIRST_SCHEMES: usize = 16;

/// How many kinds of refusals are visible at first.
pub(super) const FIRST_REFUSALS: usize = 8;

/// How many lines one grammar accepts and refuses.
pub(super) struct GrammarRow {
    pub(super) label: &'static str,
    /// The grammar's shortest name, which is a number.
    pub(super) number: &'static str,
    /// The year of its document.
    pub(super) year: &'static str,
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// Whether this is the grammar whose refusals are explained.
    pub(super) is_chosen: bool,
}

/// The lines of one scheme.
pub(super) struct SchemeRow {
    pub(super) name: String,
    /// A remark, such as "reserved".
    pub(super) label: Option<&'static str>,
    pub(super) lines: u64,
    /// Lines that the chosen grammar accepts.
    pub(super) accepted: u64,
    pub(super) refused: u64,
}

/// A list of the most frequent names of one kind.
pub(super) struct TopList {
    pub(super) title: &'static str,
    pub(super) exact: bool,
    pub(super) max_error: u64,
    pub(super) entries: FirstRows<(String, u64)>,
}

impl TopList {
    pub(super) fn most(&self) -> u64 {
        self.entries.rows.iter().map(|&(_, lines)| lines).max().unwrap_or(0)
    }
}

/// One input.
pub(super) struct InputRow {
    pub(super) name: String,
    /// How many of its lines the chosen grammar accepts and refuses.
    pub(super) accepted: u64,
    pub(super) refused: u64,
    pub(super) judged: u64,
    /// A sentence on the most frequent defect.
    pub(super) defect: Option<String>,
    /// Why the input was not read to its end.
    pub(super) error: Option<String>,
    /// Peculiarities of how the input is written.
    pub(super) warnings: Vec<String>,
}

/// A short name of a grammar.
pub(super) const fn label(grammar: Grammar) -> &'static str {
    match grammar {
        Grammar::Draft1993 => "Draft 1993",
        Grammar::Rfc1738 | Grammar::Rfc1808 | Grammar::Rfc2396 | Grammar::Rfc3986 => grammar.document(),
    }
}

/// The short name of a grammar, split into its first word and its number.
pub(super) fn words(grammar: Grammar) -> (&'static str, &'static str) {
    label(grammar).split_once(' ').unwrap_or_default()
}

pub(super) fn grammars(report: &Report) -> Vec<GrammarRow> {
    let row = |grammar| {
        let count = report.grammars.iter().find(|count| count.name == grammar);
        GrammarRow {
            label: label(grammar),
            number: words(grammar).1,
            year: grammar.published().rsplit(' ').next().unwrap_or_default(),
            accepted: count.map_or(0, |count| count.accepted),
            refused: count.map_or(0, |count| count.refused),
            is_chosen: grammar == report.grammar,
        }
    };
    Grammar::ALL.map(row).into()
}

fn counted(name: String, label: Option<&'static str>, count: &Count, grammar: Grammar) -> SchemeRow {
    let accepted = count.accepted.by(grammar);
    SchemeRow { name, label, lines: count.lines, accepted, refused: count.lines.saturating_sub(accepted) }
}

pub(super) fn scheme(scheme: &SchemeCount, grammar: Grammar) -> SchemeRow {
    counted(shown(&scheme.name, NAME), scheme.label.map(SchemeLabel::name), &scheme.count, grammar)
}

/// Rows for lines without a scheme, and for lines of schemes that are not listed by name.
pub(super) fn more_schemes(report: &Report) -> Vec<SchemeRow> {
    [("no scheme", "relative", &report.relative), ("others", "too many to name", &report.other)]
        .into_iter()
        .filter(|(.., count)| count.lines > 0)
        .map(|(name, label, count)| counted(name.to_owned(), Some(label), count, report.grammar))
        .collect()
}

pub(super) fn tops(report: &Report, bounds: &Bounds) -> Vec<TopList> {
    let list = |top: &Top| TopList {
        title: words::names(top.of),
        exact: top.exact,
        max_error: top.max_error,
        entries: FirstRows::new(
            &top.entries,
            bounds.schemes,
            |entry| entry.lines,
            |entry| (shown(&entry.name, NAME), entry.lines),
        ),
    };
    report.top.iter().take(MAX_TOPS).map(list).collect()
}

/// What is counted, how often, and the standard error as a percentage.
pub(super) fn distinct(report: &Report) -> Vec<(&'static str, u64, String)> {
    let count = |distinct: &Distinct| {
        (words::items(distinct.of), distinct.estimate, words::percent(distinct.error_ppm, 1_000_000))
    };
    report.distinct.iter().take(MAX_TOPS).map(count).collect()
}

/// The maximum number of lists of frequent names, and of distinct counts.
const MAX_TOPS: usize = TopOf::ALL.len();

/// The maximum number of warnings of an input.
const MAX_WARNINGS: usize = 3;

/// The inputs: first those that were not read to their end, then those that do not look like a list, then the others, those
/// with the smallest share of accepted lines first.
pub(super) fn inputs(report: &Report, bounds: &Bounds) -> FirstRows<InputRow> {
    let mut inputs: Vec<_> = report.inputs_worst_first().into_iter().map(|(input, _)| input).collect();
    inputs.extend(report.inputs.iter().filter(|input| input.judged.lines == 0));
    inputs.sort_by_key(|input| (input.error.is_none(), input.looks_like.is_none()));
    FirstRows::new(
        inputs,
        bounds.inputs,
        |input| input.lines,
        |input| InputRow {
            name: shown(&input.name, NAME),
            accepted: input.judged.accepted.by(report.grammar),
            refused: input.judged.lines.saturating_sub(input.judged.accepted.by(report.grammar)),
            judged: input.judged.lines,
            defect: input.judged.most_frequent_defect.map(|defect| {
                let lines = words::plural(defect.lines, "line", "lines");
                format!("Most frequent: {}:{}, {lines}", defect.component, defect.cause)
            }),
            error: input.error.as_deref().map(|error| shown(error, SENTENCE)),
            warnings: {
                let kinds = input.warnings.iter().take(MAX_WARNINGS);
                let looks_like = input.looks_like.as_ref().map(|looks| shown(&looks.sentence(), SENTENCE));
                let nulls = (input.nulls > 0)
                    .then(|| words::plural(input.nulls, "row without a value", "rows without a value"));
                kinds.map(|&kind| words::warning(kind).to_owned()).chain(nulls).chain(looks_like).collect()
            },
        },
    )
}
