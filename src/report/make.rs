//! Makes a report of a tally: sorts, names and escapes what was counted.

use super::{
    Accepted, AdvisoryCount, Count, DefectCount, Distinct, DistinctOf, ExampleLine, GrammarCount, InputCount,
    InputDefect, InputWarning, JudgedCount, LengthBucket, Lengths, LongestLine, LooksLike, Percentile,
    RecordCount, Report, RuleText, SCHEMA, SchemeCount, SchemeLabel, Top, TopEntry, TopOf, Totals,
    VerdictSet, digest,
};
use crate::grammar::Grammar;
use crate::grammar::automaton::Rule;
use crate::grammar::escape::{marked, printable};
use crate::grammar::scheme::{KNOWN, Standing};
use crate::input::Input;
use crate::run::{Scanned, ScannedPaths};
use crate::scan::Options;
use crate::tally::{self, ByVerdict, Example, FoundDefect, InputLines, Tally};

impl Report {
    /// Makes the report of a scan of paths. Passwords in example lines are masked.
    #[must_use]
    pub fn of_paths(found: &ScannedPaths) -> Self {
        Self::new(&found.scanned, &found.inputs, &found.options, false)
    }

    /// Makes the report of a scan of `inputs`. With `show_secrets`, passwords in example lines are not masked.
    #[must_use]
    pub fn new(scanned: &Scanned, inputs: &[Input], options: &Options, show_secrets: bool) -> Self {
        let names: Vec<_> = inputs.iter().map(|input| input.name().to_owned()).collect();
        Self::of(scanned, &names, options, show_secrets)
    }

    /// Makes the report of a scan of inputs with these names.
    pub(crate) fn of(scanned: &Scanned, names: &[String], options: &Options, show_secrets: bool) -> Self {
        let tally = &scanned.tally;
        let judged = tally.judged();
        let lines = judged.lines();
        let mut verdict_sets: Vec<_> = judged
            .sets()
            .map(|(verdict, lines)| VerdictSet {
                grammars: verdict.iter().collect(),
                lines,
                examples: lines_of(tally.first(verdict), show_secrets),
            })
            .collect();
        // The sort is stable, so sets with equally many lines stay in the order of their bits.
        verdict_sets.sort_by_key(|set| std::cmp::Reverse(set.lines));
        let refused = |accepted| lines - accepted;
        let mut report = Self {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            digest: String::new(),
            run: None,
            grammar: options.grammar,
            complete: scanned.failures.is_empty(),
            totals: Totals {
                // Of records, each field counts as a line.
                lines: lines + tally.blank,
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
                .map(|(name, accepted)| GrammarCount { name, accepted, refused: refused(accepted) })
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
            other: count(tally.unnamed_schemes()),
            relative: count(tally.relative()),
            defects: tally
                .defects()
                .into_iter()
                .map(|FoundDefect { component, cause, found }| DefectCount {
                    component,
                    cause,
                    lines: found.lines,
                    examples: found
                        .examples
                        .iter()
                        .map(|example| ExampleLine {
                            rule: example.rule.map(|rule| rule_text(rule, options.grammar)),
                            ..example_line(example, show_secrets)
                        })
                        .collect(),
                })
                .collect(),
            advisories: tally
                .advisories()
                .map(|(name, found)| AdvisoryCount {
                    name,
                    lines: found.lines,
                    examples: lines_of(&found.examples, show_secrets),
                })
                .collect(),
            lengths: options.lengths.then(|| lengths(tally.lengths())),
            top: top(tally, options),
            distinct: distinct(tally, options),
            inputs: input_counts(scanned, names),
        };
        report.name_examples();
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

pub(super) fn count(counts: &ByVerdict) -> Count {
    Count { lines: counts.lines(), accepted: accepted_by(|grammar| counts.accepted(grammar)) }
}

fn accepted_by(accepted: impl Fn(Grammar) -> u64) -> Accepted {
    Accepted {
        draft1993: accepted(Grammar::Draft1993),
        rfc1738: accepted(Grammar::Rfc1738),
        rfc1808: accepted(Grammar::Rfc1808),
        rfc2396: accepted(Grammar::Rfc2396),
        rfc3986: accepted(Grammar::Rfc3986),
    }
}

fn input_counts(scanned: &Scanned, names: &[String]) -> Vec<InputCount> {
    let named = |name: &String| InputCount {
        name: name.clone(),
        bytes: 0,
        lines: 0,
        codec: None,
        compressed_bytes: None,
        judged: None,
        error: None,
        warnings: Vec::new(),
        looks_like: None,
        records: None,
    };
    let mut counts: Vec<_> = names.iter().map(named).collect();
    for (input, signs) in scanned.tally.signs() {
        let warnings = [
            (signs.utf16, InputWarning::Utf16),
            (signs.byte_order_mark, InputWarning::ByteOrderMark),
            (signs.unterminated, InputWarning::NoFinalLineEnd),
        ];
        if let Some(count) = counts.get_mut(input as usize) {
            count.warnings =
                warnings.into_iter().filter(|(is_so, _)| *is_so).map(|(_, warning)| warning).collect();
            count.looks_like = signs.shape.map(LooksLike::new);
        }
    }
    // An input without judged lines has no entry in the tally.
    let mut judged: Vec<_> = names.iter().map(|_| InputLines::default()).collect();
    for (input, lines) in scanned.tally.by_input() {
        if let Some(judged) = judged.get_mut(input as usize) {
            judged.clone_from(lines);
        }
    }
    for (count, lines) in counts.iter_mut().zip(&judged) {
        count.judged = Some(judged_count(lines));
        if lines.judged >= FEW && lines.accepted_by_any * 100 <= lines.judged {
            count.warnings.push(InputWarning::FewAccepted);
        }
    }
    for run in scanned.tally.runs() {
        if let Some(count) = counts.get_mut(run.input as usize) {
            count.bytes += run.end - run.start;
            count.lines += run.lines;
        }
    }
    for (input, records) in &scanned.records {
        if let Some(count) = counts.get_mut(*input as usize) {
            count.records = Some(RecordCount::new(records));
        }
    }
    for compressed in &scanned.compressed {
        if let Some(count) = counts.get_mut(compressed.input as usize) {
            count.codec = Some(compressed.codec);
            count.compressed_bytes = Some(compressed.bytes);
        }
    }
    for failure in &scanned.failures {
        if let Some(count) = counts.get_mut(failure.input as usize) {
            count.error = Some(printable(failure.error.to_string().as_bytes()));
        }
    }
    counts
}

/// From how many lines on an input is suspicious if hardly any is accepted.
const FEW: u64 = 10;

fn judged_count(lines: &InputLines) -> JudgedCount {
    let defect = lines.most_frequent_defect();
    JudgedCount {
        lines: lines.judged,
        accepted_by_any: lines.accepted_by_any,
        accepted: accepted_by(|grammar| lines.accepted(grammar)),
        most_frequent_defect: defect.map(|(component, cause, lines)| InputDefect { component, cause, lines }),
    }
}

/// The percentiles in a report.
const PERCENTS: [u8; 9] = [1, 5, 10, 25, 50, 75, 90, 95, 99];

fn lengths(counted: &tally::Lengths) -> Lengths {
    let longest = counted.longest();
    Lengths {
        min: counted.min(),
        max: longest.map_or(0, |longest| longest.bytes),
        sum: counted.sum(),
        longest: longest.map(|longest| LongestLine {
            input: longest.place.input as usize,
            line: longest.line,
            line_offset: longest.place.offset,
            bytes: longest.bytes,
        }),
        percentiles: PERCENTS
            .map(|percent| Percentile { percent: percent.into(), bytes: counted.percentile(percent) })
            .to_vec(),
        buckets: counted
            .buckets()
            .map(|(bytes, lines)| LengthBucket { from: *bytes.start(), to: *bytes.end(), lines })
            .collect(),
    }
}

fn top(tally: &Tally, options: &Options) -> Vec<Top> {
    let wanted = options.top;
    let lists = [
        (TopOf::Hosts, wanted.hosts, tally.top_hosts(wanted.hosts)),
        (TopOf::Schemes, wanted.schemes, tally.top_schemes(wanted.schemes)),
        (TopOf::Ports, wanted.ports, tally.top_ports(wanted.ports)),
        (TopOf::Tlds, wanted.tlds, tally.top_tlds(wanted.tlds)),
    ];
    let wanted = lists.into_iter().filter(|(_, n, _)| *n > 0);
    let list = |(of, _, list): (TopOf, usize, tally::Top)| Top {
        of,
        exact: list.max_error == 0,
        max_error: list.max_error,
        entries: list
            .entries
            .into_iter()
            .map(|(name, lines)| TopEntry { name: printable(name.as_bytes()), lines })
            .collect(),
    };
    wanted.map(list).collect()
}

fn distinct(tally: &Tally, options: &Options) -> Vec<Distinct> {
    let counts = [
        (DistinctOf::Hosts, options.distinct.hosts, tally.distinct_hosts()),
        (DistinctOf::Lines, options.distinct.lines, tally.distinct_lines()),
    ];
    let wanted = counts.into_iter().filter(|&(_, wanted, _)| wanted);
    wanted.map(|(of, _, estimate)| Distinct { of, estimate, error_ppm: tally::ERROR_PPM }).collect()
}

fn lines_of(examples: &[Example], show_secrets: bool) -> Vec<ExampleLine> {
    examples.iter().map(|example| example_line(example, show_secrets)).collect()
}

fn rule_text(rule: Rule, grammar: Grammar) -> RuleText {
    RuleText {
        name: rule.name().to_owned(),
        text: rule.lines().collect::<Vec<_>>().join("\n"),
        source: rule.source(grammar),
    }
}

fn example_line(example: &Example, show_secrets: bool) -> ExampleLine {
    let secrets = if show_secrets { &[] } else { example.secrets.as_slice() };
    let (text, mark) = marked(&example.text, example.mark, secrets);
    ExampleLine {
        input: example.place.input as usize,
        line: example.line,
        line_offset: example.place.offset,
        offset: example.at,
        text,
        input_name: String::new(),
        skipped: example.skipped,
        cut: example.cut,
        mark,
        rule: None,
    }
}
