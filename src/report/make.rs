//! Makes a report of a tally: sorts, names and escapes what was counted.

use std::ops::Range;

use super::{
    Accepted, AdvisoryCount, Count, DefectCount, Distinct, DistinctOf, ExampleLine, GrammarCount, InputCount,
    InputDefect, InputWarning, JudgedCount, LengthBucket, Lengths, LongestLine, LooksLike, Percentile,
    PublicSuffixList, RecordCount, Report, RuleText, SCHEMA, SchemeCount, SchemeLabel, Top, TopEntry, TopOf,
    Totals, VerdictSet, WhatwgCount, digest,
};
use crate::run::{Scanned, ScannedPaths};
use crate::scan::Options;
use crate::tally::{self, ByVerdict, Example, FoundDefect, InputLines, Tally, WhatwgCounts};
use urlsift_grammar::automaton::Rule;
use urlsift_grammar::escape::printable;
use urlsift_grammar::password::shown_sentence;
use urlsift_grammar::scheme::Standing;
use urlsift_grammar::{Grammar, Verdict};
use urlsift_input::Input;

impl Report {
    /// Makes the report of a scan of paths. Passwords in example lines are masked.
    #[must_use]
    pub fn of_paths(found: &ScannedPaths) -> Self {
        Self::new(&found.scanned, &found.inputs, &found.options, false)
    }

    /// Makes the report of a scan of `inputs`. With `show_secrets`, passwords in example lines are not masked.
    #[doc(hidden)]
    #[must_use]
    pub fn new(scanned: &Scanned, inputs: &[Input], options: &Options, show_secrets: bool) -> Self {
        Self::of(scanned, inputs.iter().map(Input::name).collect(), options, show_secrets)
    }

    /// Makes the report of a scan of inputs with these names.
    pub(crate) fn of(scanned: &Scanned, names: Vec<&str>, options: &Options, show_secrets: bool) -> Self {
        let tally = &scanned.tally;
        let judged = tally.judged();
        let lines = judged.lines();
        let mut verdict_sets: Vec<_> = judged
            .sets()
            .map(|(verdict, lines)| VerdictSet {
                grammars: verdict.iter().collect(),
                lines,
                examples: lines_of(tally.first(verdict), &names, show_secrets),
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
                accepted_by_any: lines - judged.of(Verdict::default()),
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
                            ..example_line(example, &names, show_secrets)
                        })
                        .collect(),
                })
                .collect(),
            advisories: tally
                .advisories()
                .map(|(name, found)| AdvisoryCount {
                    name,
                    lines: found.lines,
                    examples: lines_of(&found.examples, &names, show_secrets),
                })
                .collect(),
            whatwg: options.whatwg.as_ref().map(|wanted| {
                let none = WhatwgCounts::default();
                WhatwgCount::new(tally.whatwg().unwrap_or(&none), wanted, &names, show_secrets)
            }),
            lengths: options.lengths.then(|| lengths(tally.lengths())),
            top: top(tally, options),
            distinct: distinct(tally, options),
            public_suffix_list: options.wanted().needs_suffixes().then(|| PublicSuffixList {
                version: printable(options.suffixes.version().as_bytes()),
                hash: format!("{:016x}", options.suffixes.hash()),
            }),
            inputs: input_counts(scanned, names.into_iter().map(input_count).collect()),
        };
        report.digest = digest::of_report(&mut report);
        report
    }
}

fn label(scheme: &str) -> Option<SchemeLabel> {
    match Standing::of(scheme)? {
        Standing::Reserved => Some(SchemeLabel::Reserved),
        Standing::Experimental => Some(SchemeLabel::Experimental),
        _ => None,
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

fn input_count(name: &str) -> InputCount {
    InputCount {
        name: name.to_owned(),
        bytes: 0,
        lines: 0,
        nulls: 0,
        unordered: false,
        codec: None,
        compressed_bytes: None,
        judged: judged_count(&InputLines::default()),
        error: None,
        warnings: Vec::new(),
        looks_like: None,
        records: None,
    }
}

/// Fills in what was counted of each input.
fn input_counts(scanned: &Scanned, mut counts: Vec<InputCount>) -> Vec<InputCount> {
    for (input, signs) in scanned.tally.signs() {
        let warnings = [
            (signs.utf16, InputWarning::Utf16),
            (signs.byte_order_mark, InputWarning::ByteOrderMark),
            (signs.unterminated, InputWarning::NoFinalLineEnd),
        ];
        if let Some(count) = counts.get_mut(input as usize) {
            count.warnings =
                warnings.into_iter().filter(|(is_so, _)| *is_so).map(|(_, warning)| warning).collect();
            count.looks_like = signs.looks.map(|looks| Box::new(LooksLike::new(looks)));
            if let Some(column) = signs.column {
                (count.nulls, count.unordered) = (column.nulls, column.unordered);
            }
        }
    }
    // An input without judged lines has no entry in the tally.
    for (input, lines) in scanned.tally.by_input() {
        if let Some(count) = counts.get_mut(input as usize) {
            count.judged = judged_count(lines);
        }
    }
    for run in scanned.tally.runs() {
        if let Some(count) = counts.get_mut(run.input as usize) {
            count.bytes += run.bytes();
            count.lines += run.lines;
        }
    }
    for InputCount { bytes, judged, warnings, .. } in &mut counts {
        let is_enough = judged.lines >= FEW || (judged.lines > 0 && *bytes >= FEW_BYTES);
        if is_enough && judged.accepted.rfc3986 <= judged.lines / 100 {
            warnings.push(InputWarning::FewAccepted);
        }
    }
    for (input, records) in &scanned.records {
        if let Some(count) = counts.get_mut(*input as usize) {
            count.records = Some(Box::new(RecordCount::new(records)));
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
            count.error = Some(shown_sentence(failure.error.to_string().as_bytes()));
        }
    }
    counts
}

/// From how many lines on an input is suspicious if hardly any is accepted.
const FEW: u64 = 5;
/// From how many bytes on an input of fewer lines is suspicious too.
const FEW_BYTES: u64 = 4096;

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
    let list = |(&of, &n): (&TopOf, &usize)| {
        let list = tally.top(of, n);
        let entry = |(name, lines): (String, u64)| TopEntry { name: printable(name.as_bytes()), lines };
        let entries = list.entries.into_iter().map(entry).collect();
        Top { of, exact: list.max_error == 0, max_error: list.max_error, entries }
    };
    options.top.iter().filter(|(_, n)| **n > 0).map(list).collect()
}

fn distinct(tally: &Tally, options: &Options) -> Vec<Distinct> {
    let count = |&of: &DistinctOf| Distinct { of, estimate: tally.distinct(of), error_ppm: tally::ERROR_PPM };
    options.distinct.iter().map(count).collect()
}

pub(super) fn lines_of(examples: &[Example], names: &[&str], show_secrets: bool) -> Vec<ExampleLine> {
    examples.iter().map(|example| example_line(example, names, show_secrets)).collect()
}

fn rule_text(rule: Rule, grammar: Grammar) -> RuleText {
    RuleText {
        name: rule.name().to_owned(),
        text: rule.lines().collect::<Vec<_>>().join("\n"),
        source: rule.source(grammar),
    }
}

/// `names` are those of the inputs.
fn example_line(example: &Example, names: &[&str], show_secrets: bool) -> ExampleLine {
    let mut example = example.clone();
    if !show_secrets {
        example.forget_secrets();
    }
    // A mask stands for the byte that it hides.
    let is_masked = |mask: &&Range<usize>| mask.start == example.mark;
    let end = match example.secrets.iter().find(is_masked).filter(|_| !show_secrets) {
        Some(mask) => mask.end,
        None => example.text.len().min(example.mark + 1),
    };
    let kept = without_halves(&example, end);
    ExampleLine {
        input: example.place.input as usize,
        line: example.line,
        line_offset: example.place.offset,
        offset: example.at,
        skipped: example.skipped + kept.start as u64,
        cut: example.cut,
        mark: [example.mark - kept.start, end - kept.start],
        text: example.text[kept].to_vec(),
        input_name: names.get(example.place.input as usize).map_or_else(String::new, |&name| name.to_owned()),
        rule: None,
        hosts: example.hosts,
    }
}

/// The range of an example's text without the parts of characters that were cut at its start and its end. The mark, which
/// ends at `end`, stays.
fn without_halves(example: &Example, end: usize) -> Range<usize> {
    let text = &example.text[..];
    let mut start = 0;
    if example.skipped > 0 {
        let is_inner = |&&byte: &&u8| byte & 0xc0 == 0x80;
        start = text[..example.mark.min(3)].iter().take_while(is_inner).count();
    }
    let last = text.utf8_chunks().last().map_or(0, |chunk| chunk.invalid().len());
    let is_half = example.cut
        && std::str::from_utf8(&text[text.len() - last..]).is_err_and(|error| error.error_len().is_none());
    let n = if is_half { text.len() - last } else { text.len() };
    start..n.max(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example(text: &[u8], mark: usize, secrets: &[Range<usize>]) -> Example {
        let text: String = text.iter().map(|&byte| char::from(byte)).collect();
        let example = serde_json::json!({
            "place": { "input": 0, "offset": 0 },
            "line": 1,
            "at": 0,
            "text": text,
            "secrets": secrets,
            "mark": mark,
            "rule": null,
            "skipped": 9,
            "cut": true,
        });
        serde_json::from_value(example).unwrap()
    }

    #[test]
    fn examples_show_whole_characters_and_no_password() {
        for (text, mark, secrets, expected, place, shown, shown_place) in [
            (&b"a\x01b"[..], 1, &[][..], &b"a\x01b"[..], [1, 2], "a\\x01b", [1, 5]),
            (b"ab", 2, &[], b"ab", [2, 2], "ab", [2, 2]),
            (b"a:bcd@e", 3, &[2..5], b"a:***@e", [2, 5], "a:***@e", [2, 5]),
            (b"a:bcd@e", 6, &[2..5], b"a:***@e", [6, 7], "a:***@e", [6, 7]),
            (b"a\xc3\xa9b", 1, &[], b"a\xc3\xa9b", [1, 2], "a\u{e9}b", [1, 3]),
            (b"a\xc3\xa9b", 2, &[], b"a\xc3\xa9b", [2, 3], "a\u{e9}b", [1, 3]),
            (b"a\xc3\xa9", 3, &[], b"a\xc3\xa9", [3, 3], "a\u{e9}", [3, 3]),
            (b"\xffa\\", 0, &[], b"\xffa\\", [0, 1], "\\xffa\\\\", [0, 4]),
            (b"\xe2\x80\xae", 0, &[], b"\xe2\x80\xae", [0, 1], "\\xe2\\x80\\xae", [0, 12]),
            (b"\x82\xaca\xe2\x82", 2, &[], b"a", [0, 1], "a", [0, 1]),
            (b"\x82\xac\xe2\x82", 3, &[], b"\xe2\x82", [1, 2], "\\xe2\\x82", [4, 8]),
        ] {
            let line = example_line(&example(text, mark, secrets), &[], false);
            assert_eq!((&line.text[..], line.mark), (expected, place), "{text:?} {mark}");
            assert_eq!(line.shown(true), (shown.to_owned(), shown_place), "{text:?} {mark}");
            assert!(line.shown(false).0.is_ascii());
        }
        assert_eq!(example_line(&example(b"\x82\xaca", 2, &[]), &[], true).skipped, 11);
        assert_eq!(example_line(&example(b"a:b@", 2, &[2..3]), &[], true).text, b"a:b@");
    }
}
