//! A finished tally as a document: the same numbers for people and for programs. Nothing is counted here.
//!
//! This file is the document's form, field by field: what is written as JSON, and read back from it. `make` fills it from a
//! tally, `read` takes it from JSON and checks it, `text` writes it for people. All strings in it are printable as they stand:
//! bytes of the data are escaped, passwords masked, before a report has them.

pub(crate) mod digest;
#[cfg(feature = "html")]
mod html;
mod make;
mod page;
mod read;
mod records;
mod text;
mod words;

use std::io;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::grammar::Grammar;
use crate::grammar::advisory::Advisory;
use crate::grammar::component::Component;
use crate::grammar::defect::Cause;
use crate::input::Codec;
use crate::simd::KernelId;

#[cfg(feature = "html")]
pub use html::{MAX_PAGE, json_in_page};
pub use page::TextStyle;
pub use read::{ReadError, ReadErrorKind};
pub use records::{FieldCount, RecordCount, RecordPlace, RefusedCount, SkippedCount};
pub use text::render;
pub use words::grouped;

/// The name and version of the report's form, which `schema/report.v1.json` describes. A field more keeps the number; any other change raises it.
pub const SCHEMA: &str = "urlsift.report/1";

/// All that a scan has to say. Everything in it but `run` is the same whatever the threads, shards and ways of reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The name and version of this form.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The version of urlsift that made it.
    pub version: String,
    /// SHA-256, in 64 hexadecimal digits, of all that was found: of this JSON without `digest`, `run` and, of the inputs, `name`,
    /// `codec` and `compressed_bytes`, without spaces, the keys of each object sorted.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub digest: String,
    /// How the scan went; `None` where that is not told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Run>,
    /// The grammar whose refusals are explained.
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
    /// How long judged lines are; `None` where that was not counted.
    pub lengths: Option<Lengths>,
    /// What occurs most; empty where that was not asked for.
    pub top: Vec<Top>,
    /// How many different ones there are; empty where that was not asked for.
    pub distinct: Vec<Distinct>,
    /// What was read.
    pub inputs: Vec<InputCount>,
}

/// What depends on time, threads and the machine, and changes nothing else in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Run {
    /// How long the scan took.
    pub seconds: f64,
    /// How many threads judged lines.
    pub threads: u64,
    /// The kernel that judged them.
    pub kernel: String,
}

/// Sums over all inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Totals {
    /// All lines; of records, all their fields.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GrammarCount {
    /// Its name.
    pub id: Grammar,
    /// Lines that it accepts.
    pub accepted: u64,
    /// Judged lines that it refuses.
    pub refused: u64,
}

/// Lines with one verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictSet {
    /// The accepting grammars.
    pub grammars: Vec<Grammar>,
    /// How many lines.
    pub lines: u64,
    /// The first few, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// Lines, and how many of them each grammar accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Count {
    /// How many.
    pub lines: u64,
    /// By grammar, how many of them it accepts.
    pub accepted: Accepted,
}

/// By grammar, how many lines it accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SchemeCount {
    /// Its name in lower case.
    pub name: String,
    /// What RFC 1738 says of the name, beside defining it.
    pub label: Option<SchemeLabel>,
    /// Its lines.
    #[serde(flatten)]
    pub count: Count,
}

/// What RFC 1738 says of the name of a scheme, beside defining it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SchemeLabel {
    /// A name that section 4 keeps.
    Reserved,
    /// A name that begins with `x-`.
    Experimental,
}

/// One kind of defect.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DefectCount {
    /// Where in the lines it lies.
    pub component: Component,
    /// What is wrong.
    pub cause: Cause,
    /// How many lines.
    pub lines: u64,
    /// The first few, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// One advisory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AdvisoryCount {
    /// Its name.
    pub name: Advisory,
    /// How many lines.
    pub lines: u64,
    /// The first few, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// A line to look at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExampleLine {
    /// Its input: the place in the report's `inputs`, from 0.
    pub input: usize,
    /// Its number there, from 1; of a field, that of the line in which its record begins.
    pub line: u64,
    /// Where it begins, in bytes from the start of the input; of a field, where the field does.
    pub line_offset: u64,
    /// What it is about: bytes from the start of the line, or of the field, its escapes undone. 0 where it is about the whole line.
    pub offset: u64,
    /// Some of the line, bytes that are not printable ASCII escaped, a password masked.
    pub text: String,
    /// How many bytes of the line stand before `text`.
    pub skipped: u64,
    /// Whether the line goes on behind `text`.
    pub cut: bool,
    /// Where in `text` the byte at `offset` stands: start and end, the end excluded.
    pub mark: [usize; 2],
    /// The rule that was being read at `offset`; `None` where no grammar refuses the line there, or too little of it was kept.
    pub rule: Option<RuleText>,
}

/// A rule of a grammar as its document prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleText {
    /// Its name, such as `reg-name`.
    pub name: String,
    /// Its text, of one line or more.
    pub text: String,
    /// Where it stands, such as `RFC 3986, section 3.2.2`.
    pub source: String,
}

/// How long judged lines are, in bytes without their terminators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Lengths {
    /// The shortest.
    pub min: u64,
    /// The longest.
    pub max: u64,
    /// All together.
    pub sum: u64,
    /// Where the first line of length `max` stands.
    pub longest: Option<LongestLine>,
    /// Some percentiles, ascending.
    pub percentiles: Vec<Percentile>,
    /// Lines by length, ascending; lengths that do not occur are left out.
    pub buckets: Vec<LengthBucket>,
}

/// The longest line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LongestLine {
    /// Its input: the place in the report's `inputs`, from 0.
    pub input: usize,
    /// Its number there, from 1.
    pub line: u64,
    /// Where it begins, in bytes from the start of the input.
    pub line_offset: u64,
    /// How long it is.
    pub bytes: u64,
}

/// A length that so many of a hundred lines do not exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Percentile {
    /// How many of a hundred.
    pub percent: u64,
    /// The length.
    pub bytes: u64,
}

/// Lines of lengths that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LengthBucket {
    /// The least of these lengths.
    pub from: u64,
    /// The greatest.
    pub to: u64,
    /// How many lines.
    pub lines: u64,
}

/// What occurs most among the judged lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Top {
    /// Of what.
    pub of: TopOf,
    /// Whether the counts are exact.
    pub exact: bool,
    /// By how much a count may be wrong, in lines. Of names that have no more, any may be missing.
    pub max_error: u64,
    /// Those with most lines first; fewer than were asked for where there are no more, or where `max_error` is not 0.
    pub entries: Vec<TopEntry>,
}

/// Of what the most frequent can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum TopOf {
    /// Hosts.
    Hosts,
    /// Schemes.
    Schemes,
    /// Ports.
    Ports,
    /// Last labels of hosts.
    Tlds,
}

/// One of the most frequent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TopEntry {
    /// Its name.
    pub name: String,
    /// How many lines have it.
    pub lines: u64,
}

/// How many different ones there are, by an estimate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Distinct {
    /// Of what.
    pub of: DistinctOf,
    /// How many.
    pub estimate: u64,
    /// The standard error of the estimate, in millionths of it.
    pub error_ppm: u64,
}

/// Of what the different ones can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum DistinctOf {
    /// Hosts.
    Hosts,
    /// Lines.
    Lines,
}

/// One input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InputCount {
    /// Its name.
    pub name: String,
    /// How many bytes of it were read and counted; of a compressed input, those that came of decoding it, and of a
    /// Parquet column those of its values, with one for each value and null.
    pub bytes: u64,
    /// How many lines; of a Parquet file, rows.
    pub lines: u64,
    /// How it is compressed; not there if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<Codec>,
    /// How many bytes were decoded, compressed as they are; not there if it is not compressed. Members where parts of it met are
    /// counted for each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compressed_bytes: Option<u64>,
    /// Why it was not read to its end; `None` if it was.
    pub error: Option<String>,
    /// What is to be known of how it is written; left out where there is nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<InputWarning>,
    /// Its records; `None` where each line is a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub records: Option<RecordCount>,
}

/// What is to be known of how an input is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InputWarning {
    /// It looks like UTF-16, or 32, of which nothing is judged rightly.
    #[serde(rename = "utf-16")]
    Utf16,
    /// It begins with a UTF-8 byte order mark, which is skipped.
    ByteOrderMark,
    /// Its last line does not end in LF.
    NoFinalLineEnd,
}

impl Run {
    /// A run of that many seconds, on that many threads, by that kernel.
    #[must_use]
    pub fn new(elapsed: Duration, threads: usize, kernel: KernelId) -> Self {
        // Whole microseconds: such a number reads back as it was written.
        let micros = u32::try_from(elapsed.as_micros());
        Self {
            seconds: micros.map_or_else(|_| elapsed.as_secs_f64().round(), |micros| f64::from(micros) / 1e6),
            threads: threads as u64,
            kernel: kernel.name().to_owned(),
        }
    }
}

impl Report {
    /// The name of an input by its place in [`inputs`](Self::inputs).
    #[must_use]
    pub fn input_name(&self, input: usize) -> &str {
        self.inputs.get(input).map_or("?", |input| &input.name)
    }

    /// Where in its line stands what an example is about, as ":" and a column from 1; nothing of a field of a record, whose place in the
    /// line is not known.
    pub(crate) fn column(&self, example: &ExampleLine) -> String {
        match self.inputs.get(example.input) {
            Some(input) if input.records.is_some() => String::new(),
            _ => format!(":{}", example.offset.saturating_add(1)),
        }
    }

    /// Writes the report as JSON, indented, with a newline at the end. The digest written is that of what is written.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_json(&self, mut out: impl io::Write) -> io::Result<()> {
        let out: &mut dyn io::Write = &mut out;
        let digest = digest::of_report(self);
        serde_json::to_writer_pretty(&mut *out, &Self { digest, ..self.clone() })?;
        out.write_all(b"\n")
    }
}
