//! A finished tally as a document: the same numbers for people and for programs. Nothing is counted here.

mod text;

use std::io;

use serde::Serialize;

use crate::component::Component;
use crate::corpus::Scanned;
use crate::defect::Cause;
use crate::escape::marked;
use crate::grammar::Grammar;
use crate::input::Input;
use crate::scan::Options;
use crate::scheme::{KNOWN, Standing};
use crate::tally::{ByVerdict, Example, Found};

pub use text::{grouped, render};

/// The name and version of the report's form. A field more keeps the number; any other change raises it.
pub const SCHEMA: &str = "urlsift.report/1";

/// All that a scan has to say. Everything in it is the same whatever the threads, shards and ways of reading.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The version of urlsift.
    pub version: &'static str,
    /// The grammar whose refusals are explained.
    #[serde(serialize_with = "by_name")]
    pub grammar: Grammar,
    /// Whether all inputs were read to their end.
    pub complete: bool,
    /// Sums over all inputs.
    pub totals: Totals,
    /// For each grammar, how many lines it accepts and refuses.
    pub grammars: Vec<GrammarCount>,
    /// For each set of grammars, how many lines exactly these accept; most lines first.
    pub verdict_sets: Vec<VerdictSet>,
    /// For each scheme, how many lines have it; most lines first.
    pub schemes: Vec<SchemeCount>,
    /// Lines of schemes that are not listed, because there are too many or their names are too long.
    pub other_schemes: Count,
    /// Lines without a scheme.
    pub relative: Count,
    /// Why `grammar` refuses lines; most lines first.
    pub defects: Vec<DefectCount>,
    /// What is noteworthy of lines that some grammar accepts.
    pub advisories: Vec<AdvisoryCount>,
    /// What was read.
    pub inputs: Vec<InputCount>,
}

/// Sums over all inputs.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Totals {
    /// All lines.
    pub lines: u64,
    /// All bytes, terminators and byte order marks too.
    pub bytes: u64,
    /// Lines without any byte.
    pub blank: u64,
    /// Lines with some: these are judged.
    pub judged: u64,
    /// Judged lines that at least one grammar accepts.
    pub accepted_by_any: u64,
    /// Lines that ended in CR.
    pub cr: u64,
    /// Inputs that began with a byte order mark.
    pub byte_order_marks: u64,
}

/// One grammar's count.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct GrammarCount {
    /// Its name.
    pub id: &'static str,
    /// Lines that it accepts.
    pub accepted: u64,
    /// Judged lines that it refuses.
    pub refused: u64,
}

/// Lines with one verdict.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct VerdictSet {
    /// The accepting grammars.
    pub grammars: Vec<&'static str>,
    /// How many lines.
    pub lines: u64,
}

/// Lines, and how many of them each grammar accepts.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Count {
    /// How many.
    pub lines: u64,
    /// By grammar, how many of them it accepts.
    pub accepted: Accepted,
}

/// By grammar, how many lines it accepts.
#[derive(Clone, Debug, Serialize)]
#[allow(missing_docs, reason = "the fields are the grammars")]
#[non_exhaustive]
pub struct Accepted {
    pub draft1993: u64,
    pub rfc1738: u64,
    pub rfc1808: u64,
    pub rfc2396: u64,
    pub rfc3986: u64,
}

impl Accepted {
    /// The number of one grammar.
    #[must_use]
    pub fn by(&self, grammar: Grammar) -> u64 {
        match grammar {
            Grammar::Draft1993 => self.draft1993,
            Grammar::Rfc1738 => self.rfc1738,
            Grammar::Rfc1808 => self.rfc1808,
            Grammar::Rfc2396 => self.rfc2396,
            Grammar::Rfc3986 => self.rfc3986,
        }
    }
}

/// One scheme's count.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SchemeCount {
    /// Its name in lower case.
    pub name: String,
    /// `reserved` for a name that RFC 1738 section 4 keeps, `experimental` for one that begins with `x-`.
    pub label: Option<&'static str>,
    /// Its lines.
    #[serde(flatten)]
    pub count: Count,
}

/// One kind of defect.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct DefectCount {
    /// Where in the lines it lies.
    pub component: &'static str,
    /// What is wrong.
    pub cause: &'static str,
    /// How many lines.
    pub lines: u64,
    /// The first few, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// One advisory.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AdvisoryCount {
    /// Its name.
    pub name: &'static str,
    /// How many lines.
    pub lines: u64,
    /// The first few, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// A line to look at.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ExampleLine {
    /// The name of its input.
    pub input: String,
    /// Its number there, from 1.
    pub line: u64,
    /// Where it begins, in bytes from the start of the input.
    pub line_offset: u64,
    /// What it is about: bytes from the start of the line. For an advisory, 0.
    pub offset: u64,
    /// Some of the line, bytes that are not printable ASCII escaped, a password masked.
    pub text: String,
    /// How many bytes of the line stand before `text`.
    pub skipped: u64,
    /// Whether the line goes on behind `text`.
    pub cut: bool,
    /// Where in `text` the byte at `offset` stands: start and end, the end excluded.
    pub mark: [usize; 2],
}

/// One input.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct InputCount {
    /// Its name.
    pub name: String,
    /// How many bytes of it were read and counted.
    pub bytes: u64,
    /// How many lines.
    pub lines: u64,
    /// Why it was not read to its end; `None` if it was.
    pub error: Option<String>,
}

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
                grammars: verdict.iter().map(Grammar::name).collect(),
                lines,
            })
            .collect();
        // A stable sort: sets of as many lines stay in the order of their bits.
        verdict_sets.sort_by_key(|set| std::cmp::Reverse(set.lines));
        let refused = |accepted| lines - accepted;
        let examples = |found: &Found| {
            found.examples.iter().map(|example| example_line(example, inputs, show_secrets)).collect()
        };
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
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
                .iter()
                .map(|&grammar| (grammar.name(), judged.accepted(grammar)))
                .map(|(id, accepted)| GrammarCount { id, accepted, refused: refused(accepted) })
                .collect(),
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
                .map(|(component, cause, found): (Component, Cause, &Found)| DefectCount {
                    component: component.name(),
                    cause: cause.name(),
                    lines: found.lines,
                    examples: examples(found),
                })
                .collect(),
            advisories: tally
                .advisories()
                .map(|(advisory, found)| AdvisoryCount {
                    name: advisory.name(),
                    lines: found.lines,
                    examples: examples(found),
                })
                .collect(),
            inputs: input_counts(scanned, inputs),
        }
    }

    /// Writes the report as JSON, indented, with a newline at the end.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_json(&self, mut out: impl io::Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut out, self)?;
        out.write_all(b"\n")
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "as serde wants it")]
fn by_name<S: serde::Serializer>(grammar: &Grammar, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(grammar.name())
}

/// What RFC 1738 says of the name of a scheme, beside defining it.
fn label(scheme: &str) -> Option<&'static str> {
    let reserved = KNOWN.iter().any(|known| known.name == scheme && known.standing == Standing::Reserved);
    if reserved { Some("reserved") } else { scheme.starts_with("x-").then_some("experimental") }
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
            count.error = Some(failure.error.to_string());
        }
    }
    counts
}

fn example_line(example: &Example, inputs: &[Input], show_secrets: bool) -> ExampleLine {
    let at = usize::try_from(example.at.saturating_sub(example.skipped)).unwrap_or(usize::MAX);
    let secrets = if show_secrets { &[] } else { example.secrets.as_slice() };
    let (text, mark) = marked(&example.text, at, secrets);
    ExampleLine {
        input: inputs
            .get(example.place.input as usize)
            .map(|input| input.name().to_owned())
            .unwrap_or_default(),
        line: example.line,
        line_offset: example.place.offset,
        offset: example.at,
        text,
        skipped: example.skipped,
        cut: example.cut,
        mark,
    }
}
