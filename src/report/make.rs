//! From a tally to a report: orders, names and escapes what was counted.

use super::{
    Accepted, AdvisoryCount, Count, DefectCount, ExampleLine, GrammarCount, InputCount, Report, RuleText,
    SCHEMA, SchemeCount, SchemeLabel, Totals, VerdictSet, digest,
};
use crate::component::Component;
use crate::corpus::Scanned;
use crate::defect::Cause;
use crate::escape::{marked, printable};
use crate::grammar::Grammar;
use crate::input::Input;
use crate::judge::judge;
use crate::scan::Options;
use crate::scheme::{KNOWN, Standing};
use crate::tally::{ByVerdict, Example, Found};

impl Report {
    /// The report of what a scan of `inputs` found. With `show_secrets`, passwords in example lines are not masked.
    #[must_use]
    pub fn new(scanned: &Scanned, inputs: &[Input], options: &Options, show_secrets: bool) -> Self {
        let tally = &scanned.tally;
        let judged = tally.judged();
        let lines = judged.lines();
        let mut verdict_sets: Vec<_> = judged
            .sets()
            .map(|(verdict, lines)| VerdictSet {
                grammars: verdict.iter().collect(),
                lines,
                examples: Vec::new(),
            })
            .collect();
        // A stable sort: sets of as many lines stay in the order of their bits.
        verdict_sets.sort_by_key(|set| std::cmp::Reverse(set.lines));
        let refused = |accepted| lines - accepted;
        let examples = |found: &Found| -> Vec<_> {
            found.examples.iter().map(|example| example_line(example, show_secrets)).collect()
        };
        let mut report = Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: String::new(),
            run: None,
            grammar: options.grammar,
            complete: scanned.failures.is_empty(),
            totals: Totals {
                lines: tally.lines(),
                bytes: tally.bytes(),
                blank: tally.blank,
                judged: lines,
                accepted_by_any: judged
                    .sets()
                    .filter(|(set, _)| !set.is_empty())
                    .map(|(_, lines)| lines)
                    .sum(),
                cr: tally.cr,
                byte_order_marks: tally.boms,
            },
            grammars: Grammar::ALL
                .map(|id| (id, judged.accepted(id)))
                .map(|(id, accepted)| GrammarCount { id, accepted, refused: refused(accepted) })
                .to_vec(),
            verdict_sets,
            schemes: tally
                .schemes()
                .into_iter()
                .map(|(name, counts)| SchemeCount {
                    name: name.to_owned(),
                    label: label(name),
                    count: count(counts),
                })
                .collect(),
            other_schemes: count(tally.unnamed_schemes()),
            relative: count(tally.relative()),
            defects: tally
                .defects()
                .into_iter()
                .map(|(component, cause, found)| DefectCount {
                    component,
                    cause,
                    lines: found.lines,
                    examples: found
                        .examples
                        .iter()
                        .map(|example| ExampleLine {
                            rule: rule(example, options.grammar, component, cause),
                            ..example_line(example, show_secrets)
                        })
                        .collect(),
                })
                .collect(),
            advisories: tally
                .advisories()
                .map(|(name, found)| AdvisoryCount { name, lines: found.lines, examples: examples(found) })
                .collect(),
            lengths: None,
            top: Vec::new(),
            distinct: Vec::new(),
            inputs: input_counts(scanned, inputs),
        };
        report.digest = digest::of_report(&report);
        report
    }
}

fn label(scheme: &str) -> Option<SchemeLabel> {
    let reserved = KNOWN.iter().any(|known| known.name == scheme && known.standing == Standing::Reserved);
    if reserved {
        Some(SchemeLabel::Reserved)
    } else {
        scheme.starts_with("x-").then_some(SchemeLabel::Experimental)
    }
}

fn count(counts: &ByVerdict) -> Count {
    let accepted = Accepted {
        draft1993: counts.accepted(Grammar::Draft1993),
        rfc1738: counts.accepted(Grammar::Rfc1738),
        rfc1808: counts.accepted(Grammar::Rfc1808),
        rfc2396: counts.accepted(Grammar::Rfc2396),
        rfc3986: counts.accepted(Grammar::Rfc3986),
    };
    Count { lines: counts.lines(), accepted }
}

fn input_counts(scanned: &Scanned, inputs: &[Input]) -> Vec<InputCount> {
    let name = |input: &Input| InputCount { name: input.name().to_owned(), bytes: 0, lines: 0, error: None };
    let mut counts: Vec<_> = inputs.iter().map(name).collect();
    for run in scanned.tally.runs() {
        if let Some(count) = counts.get_mut(run.input as usize) {
            count.bytes += run.end - run.start;
            count.lines += run.lines;
        }
    }
    for failure in &scanned.failures {
        if let Some(count) = counts.get_mut(failure.input as usize) {
            count.error = Some(printable(failure.error.to_string().as_bytes()));
        }
    }
    counts
}

fn example_line(example: &Example, show_secrets: bool) -> ExampleLine {
    let at = usize::try_from(example.at.saturating_sub(example.skipped)).unwrap_or(usize::MAX);
    let secrets = if show_secrets { &[] } else { example.secrets.as_slice() };
    let (text, mark) = marked(&example.text, at, secrets);
    ExampleLine {
        input: example.place.input as usize,
        line: example.line,
        line_offset: example.place.offset,
        offset: example.at,
        text,
        skipped: example.skipped,
        cut: example.cut,
        mark,
        rule: None,
    }
}

/// The rule that was being read at the defect of an example. Its line is judged once more, which says so if the example has
/// the line from its start; what it has no more of could change which rule it is, and then this says nothing.
fn rule(example: &Example, grammar: Grammar, component: Component, cause: Cause) -> Option<RuleText> {
    let at = usize::try_from(example.at).ok()?;
    if example.skipped > 0 || (example.cut && at >= example.text.len()) {
        return None;
    }
    let defect = judge(&example.text).defect(grammar)?;
    ((defect.offset, defect.component, defect.cause) == (example.at, component, cause)).then(|| RuleText {
        name: defect.rule.name().to_owned(),
        text: defect.rule.lines().collect::<Vec<_>>().join("\n"),
        source: defect.source(),
    })
}
