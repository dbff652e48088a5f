//! Refusals and advisories with their example lines. The relevant byte is marked.

use super::bound::{Bounds, LINE, NAME, RULE, SENTENCE, shown};
use crate::report::{AdvisoryCount, DefectCount, ExampleLine, Report, RuleText};
use urlsift_grammar::escape::window;

/// A kind of refusal, or an advisory.
pub(super) struct Finding<'a> {
    /// The name of the cause or of the advisory.
    pub(super) name: &'a str,
    /// The component with the defect; none for an advisory.
    pub(super) component: Option<&'a str>,
    pub(super) meaning: &'static str,
    pub(super) lines: u64,
    /// The conditions that select the lines.
    pub(super) conditions: Vec<String>,
    pub(super) examples: Vec<Excerpt>,
    /// The rules that were being read at the defects of the examples, without duplicates.
    pub(super) rules: Vec<Rule>,
}

/// A grammar rule as its document prints it.
#[derive(PartialEq)]
pub(super) struct Rule {
    pub(super) text: String,
    pub(super) source: String,
}

/// A part of an example line, split at the byte that it is about.
pub(super) struct Excerpt {
    /// Input, line number and column.
    pub(super) place: String,
    pub(super) before: String,
    /// The byte that is marked, escaped, if the example is about one. Nothing stands for the end of the line.
    pub(super) mark: Option<String>,
    pub(super) after: String,
    /// Whether the line continues before the excerpt.
    pub(super) goes_before: bool,
    /// Whether the line continues after the excerpt.
    pub(super) goes_on: bool,
    /// What the example shows beside the line.
    pub(super) note: Option<String>,
}

pub(super) fn refusal<'a>(kind: &'a DefectCount, report: &Report, bounds: &Bounds) -> Finding<'a> {
    let mut rules = Vec::new();
    for rule in
        kind.examples.iter().take(bounds.examples).filter_map(|example| example.rule.as_ref()).map(Rule::new)
    {
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    Finding {
        name: kind.cause.name(),
        component: Some(kind.component.name()),
        meaning: kind.cause.meaning(),
        lines: kind.lines,
        conditions: vec![format!("defect={}:{}", kind.component, kind.cause)],
        examples: excerpts(&kind.examples, report, bounds, true),
        rules,
    }
}

pub(super) fn advisory<'a>(kind: &'a AdvisoryCount, report: &Report, bounds: &Bounds) -> Finding<'a> {
    Finding {
        name: kind.name.name(),
        component: None,
        meaning: kind.name.meaning(),
        lines: kind.lines,
        conditions: vec![format!("advisory={}", kind.name)],
        examples: excerpts(&kind.examples, report, bounds, false),
        rules: Vec::new(),
    }
}

/// Example lines, with or without a mark.
pub(super) fn excerpts(
    examples: &[ExampleLine],
    report: &Report,
    bounds: &Bounds,
    is_marked: bool,
) -> Vec<Excerpt> {
    examples.iter().take(bounds.examples).map(|example| excerpt(example, report, is_marked)).collect()
}

impl Rule {
    fn new(rule: &RuleText) -> Self {
        // A rule may have several lines, and `shown` would escape the line ends.
        let text = rule.text.lines().take(40).map(|line| shown(line, NAME)).collect::<Vec<_>>().join("\n");
        Self { text: text.chars().take(RULE).collect(), source: shown(&rule.source, SENTENCE) }
    }
}

/// The place of a line: its number, preceded by the input's name if there are several inputs.
pub(super) fn place(report: &Report, input: usize, line: u64) -> String {
    match report.inputs.len() {
        1 => line.to_string(),
        _ => format!("{}:{line}", shown(report.input_name(input), NAME)),
    }
}

fn excerpt(example: &ExampleLine, report: &Report, is_marked: bool) -> Excerpt {
    let mut place = place(report, example.input, example.line);
    let (text, mut mark) = example.shown(true);
    if is_marked {
        place += &report.column(example);
    } else {
        mark = [0, 0];
    }
    let window = window(&text, mark, LINE);
    let [before, byte, after] = [window.start..mark[0], mark[0]..mark[1], mark[1]..window.end]
        .map(|part| shown(text.get(part).unwrap_or_default(), 4 * LINE));
    Excerpt {
        place,
        before,
        mark: is_marked.then_some(byte),
        after,
        goes_before: window.start > 0 || example.skipped > 0,
        goes_on: window.end < text.len() || example.cut,
        note: example.hosts.as_ref().map(|hosts| shown(&hosts.to_string(), 4 * LINE)),
    }
}
