//! A finished tally as a document, for people and for programs. Nothing is counted here.
//!
//! This file defines the document field by field, as it is written to JSON and read back. `make` fills it from a tally,
//! `read` reads and checks JSON, `text` and `html` write it for people. Every string in a report is safe to print: `make`
//! escapes bytes of the data and masks passwords.

#[cfg(feature = "html")]
mod command;
pub(crate) mod digest;
#[cfg(feature = "html")]
mod html;
mod make;
mod page;
mod read;
mod records;
mod text;
pub(crate) mod whatwg;
mod words;

use std::io::{self, Write as _};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use urlsift_engine::simd::KernelId;
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::escape::{self, Keep};
use urlsift_grammar::named;
use urlsift_grammar::whatwg::TwoHosts;
use urlsift_input::Codec;
use urlsift_records::looks::Looks;
pub use urlsift_records::looks::{TextShape, Trial};

pub use crate::tally::{DistinctOf, TopOf};
#[cfg(feature = "html")]
#[doc(hidden)]
pub use html::{MAX_PAGE, json_in_page};
pub use page::{TextStyle, Words};
pub use read::{ReadError, ReadErrorKind};
pub use records::{FieldCount, RecordCount, RecordPlace, RefusedCount, SkippedCount};
pub use text::render;
pub use whatwg::{ErrorCount, HostsDiffer, LevelCount, WhatwgCount};
#[doc(hidden)]
pub use words::grouped;
#[cfg(feature = "cli")]
pub(crate) use words::plural;

/// The name and version of the report's schema, which `schema/report.v2.json` describes. Adding a field keeps the version
/// number; any other change increases it.
pub const SCHEMA: &str = "urlsift.report/2";

/// The result of a scan. Threads, shards and ways of reading affect only the field `run`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Report {
    /// The name and version of this schema.
    #[cfg_attr(feature = "schema", schemars(extend("const" = SCHEMA)))]
    pub schema: String,
    /// The version of urlsift that made this report.
    pub version: String,
    /// A digest of the findings: SHA-256 in 64 hexadecimal digits. It is taken of this JSON without `digest` and `run`, and
    /// without `name`, `codec`, `compressed_bytes` and `looks_like.advice` of the inputs and `input_name` of examples. If an input is
    /// `unordered`, it is taken without examples, `longest`, and the lists of `top` that are not exact. That JSON has no spaces, and the
    /// keys of each object are sorted.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub digest: String,
    /// Time, threads and kernel of the scan; left out if they are not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Run"))]
    pub run: Option<Run>,
    /// The grammar whose refusals are explained.
    pub grammar: Grammar,
    /// Whether all inputs were read to their end.
    pub complete: bool,
    /// Sums over all inputs.
    pub totals: Totals,
    /// For each grammar, how many lines it accepts and refuses.
    pub grammars: Vec<GrammarCount>,
    /// For each set of grammars, how many lines exactly these grammars accept. Sorted by number of lines, largest first.
    pub verdict_sets: Vec<VerdictSet>,
    /// For each scheme, how many lines have it. Sorted by number of lines, largest first.
    pub schemes: Vec<SchemeCount>,
    /// Lines of schemes that are not listed because there are too many, or because their names are too long.
    pub other: Count,
    /// Lines without a scheme.
    pub relative: Count,
    /// Why `grammar` refuses lines. Sorted by number of lines, largest first.
    pub defects: Vec<DefectCount>,
    /// What is noteworthy about lines that at least one grammar accepts.
    pub advisories: Vec<AdvisoryCount>,
    /// What the parser of the WHATWG URL Standard makes of the judged lines; left out if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "WhatwgCount"))]
    pub whatwg: Option<WhatwgCount>,
    /// Lengths of judged lines; `None` if they were not counted.
    pub lengths: Option<Lengths>,
    /// The most frequent names; empty if none were requested.
    pub top: Vec<Top>,
    /// Estimates of how many distinct items there are; empty if none were requested.
    pub distinct: Vec<Distinct>,
    /// The list of public suffixes that a count depends on; left out if none does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "PublicSuffixList"))]
    pub public_suffix_list: Option<PublicSuffixList>,
    /// The inputs. Examples refer to them by index.
    pub inputs: Vec<InputCount>,
}

/// When, how and how fast a scan was made. This affects nothing else in a report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Run {
    /// When the scan began, in UTC, such as `2026-11-24T02:35:00Z`. `null` if it is not known.
    pub date: Option<String>,
    /// The command line, with masked passwords. `null` if it is not known.
    pub command: Option<String>,
    /// The options and paths with which `urlsift lines` reads the same URLs. Left out if there are none, as for standard input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub selection: Option<String>,
    /// How long the scan took, in seconds.
    pub seconds: f64,
    /// How many threads judged lines.
    pub threads: u64,
    /// The kernel that judged lines.
    pub kernel: String,
}

/// Sums over all inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Totals {
    /// All lines. Of records, each field counts as a line.
    pub lines: u64,
    /// All bytes, including line terminators and byte order marks.
    pub bytes: u64,
    /// Lines without any bytes. They are not judged.
    pub blank: u64,
    /// Lines with at least one byte. They are judged.
    pub judged: u64,
    /// Judged lines that at least one grammar accepts.
    pub accepted_by_any: u64,
    /// Lines that end in one CR or more.
    pub cr: u64,
    /// Inputs that begin with a byte order mark.
    pub byte_order_marks: u64,
}

/// How many lines one grammar accepts and refuses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GrammarCount {
    /// The grammar's name.
    pub name: Grammar,
    /// Lines that the grammar accepts.
    pub accepted: u64,
    /// Judged lines that the grammar refuses.
    pub refused: u64,
}

/// Lines that exactly one set of grammars accepts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerdictSet {
    /// The grammars that accept these lines.
    pub grammars: Vec<Grammar>,
    /// The number of lines.
    pub lines: u64,
    /// The first few lines, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// A number of lines, and how many of them each grammar accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Count {
    /// The number of lines.
    pub lines: u64,
    /// For each grammar, how many of these lines it accepts.
    pub accepted: Accepted,
}

/// For each grammar, how many lines it accepts.
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
    /// The number of lines that one grammar accepts.
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

/// The lines of one scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SchemeCount {
    /// The scheme's name in lower case.
    pub name: String,
    /// Whether RFC 1738 reserves the name or marks it as experimental.
    pub label: Option<SchemeLabel>,
    /// The scheme's lines.
    #[serde(flatten)]
    pub count: Count,
}

named! {
    /// The status of a scheme's name in RFC 1738, other than being defined there.
    SchemeLabel {
        /// Section 4 reserves the name.
        Reserved = "reserved",
        /// The name begins with `x-`.
        Experimental = "experimental",
    }
}

/// Refused lines with the same component and cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct DefectCount {
    /// The component of the line with the defect.
    pub component: Component,
    /// What is wrong there.
    pub cause: Cause,
    /// The number of lines.
    pub lines: u64,
    /// The first few lines, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// Lines with one advisory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AdvisoryCount {
    /// The advisory's name.
    pub name: Advisory,
    /// The number of lines.
    pub lines: u64,
    /// The first few lines, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// A line, or a field of a record, that is shown as an example.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExampleLine {
    /// The index of its input in the report's `inputs`, from 0.
    pub input: usize,
    /// The name of its input.
    pub input_name: String,
    /// Its line number in the input, from 1. For a field, the number of the first line of its record.
    pub line: u64,
    /// Where the line or field begins, in bytes from the start of the input. For a value of a Parquet file, how many values and
    /// nulls precede it.
    pub line_offset: u64,
    /// The byte that the example is about, counted from the start of the line. For a field, counted from its start after
    /// its escapes are undone. 0 if the example is about the whole line.
    pub offset: u64,
    /// Some bytes of the line, with `***` instead of each password. In JSON, `text` if they are UTF-8, and
    /// otherwise `text_base64`.
    #[serde(flatten, with = "bytes_in_json")]
    #[cfg_attr(feature = "schema", schemars(with = "bytes_in_json::Bytes"))]
    pub text: Vec<u8>,
    /// How many bytes of the line precede `text`.
    pub skipped: u64,
    /// Whether the line continues after `text`.
    pub cut: bool,
    /// The place in `text`, in bytes, of the byte at `offset`: its start and its end (exclusive).
    pub mark: [usize; 2],
    /// The rule that was being read at `offset`. `None` if the example is about the whole line.
    pub rule: Option<RuleText>,
    /// The hosts that RFC 3986 and browsers find, if the example is about these; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "TwoHosts"))]
    pub hosts: Option<Box<TwoHosts>>,
}

impl ExampleLine {
    /// The text as people see it, and the place in it of the character that the example is about. Characters that are not
    /// ASCII are escaped unless `utf8` is true.
    pub(crate) fn shown(&self, utf8: bool) -> (String, [usize; 2]) {
        let keep = if utf8 { Keep::Visible } else { Keep::Ascii };
        let [start, end] = self.mark;
        // In ASCII, each byte has an escape of its own.
        let marked = if utf8 && end == start + 1 { escape::character(&self.text, start) } else { start..end };
        let mut out = escape::text(&self.text[..marked.start], keep);
        let start = out.len();
        out.push_str(&escape::text(&self.text[marked.clone()], keep));
        let end = out.len();
        out.push_str(&escape::text(&self.text[marked.end..], keep));
        (out, [start, end])
    }
}

/// Bytes of the data in JSON: the key `text` with UTF-8, or `text_base64` with other bytes.
mod bytes_in_json {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    pub(super) enum Bytes {
        /// Text in UTF-8.
        #[serde(rename = "text")]
        Utf8(String),
        /// Bytes that are not UTF-8, in base64 (RFC 4648, section 4).
        #[serde(rename = "text_base64")]
        Base64(String),
    }

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let written = match std::str::from_utf8(bytes) {
            Ok(text) => Bytes::Utf8(text.to_owned()),
            Err(_) => Bytes::Base64(STANDARD.encode(bytes)),
        };
        written.serialize(to)
    }

    pub(super) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Vec<u8>, D::Error> {
        match Bytes::deserialize(from)? {
            Bytes::Utf8(text) => Ok(text.into_bytes()),
            Bytes::Base64(text) => STANDARD.decode(text).map_err(D::Error::custom),
        }
    }
}

/// A grammar rule as its document prints it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleText {
    /// The rule's name, such as `reg-name`.
    pub name: String,
    /// The rule's text, of one or more lines.
    pub text: String,
    /// The document and section that define the rule, such as `RFC 3986, section 3.2.2`.
    pub source: String,
}

/// Lengths of judged lines, in bytes without their terminators.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Lengths {
    /// The shortest length.
    pub min: u64,
    /// The longest length.
    pub max: u64,
    /// The sum of all lengths.
    pub sum: u64,
    /// The first line of length `max`.
    pub longest: Option<LongestLine>,
    /// Some percentiles, in ascending order.
    pub percentiles: Vec<Percentile>,
    /// Lines by length, in ascending order. Lengths that do not occur are left out.
    pub buckets: Vec<LengthBucket>,
}

/// The longest line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LongestLine {
    /// The index of its input in the report's `inputs`, from 0.
    pub input: usize,
    /// Its line number in the input, from 1.
    pub line: u64,
    /// Where the line begins, in bytes from the start of the input.
    pub line_offset: u64,
    /// The length of the line, in bytes.
    pub bytes: u64,
}

/// The length that a given percentage of lines does not exceed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Percentile {
    /// The percentage of lines.
    pub percent: u64,
    /// The length, in bytes.
    pub bytes: u64,
}

/// A range of lengths that are counted together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LengthBucket {
    /// The smallest length of the range, in bytes.
    pub from: u64,
    /// The largest length of the range, in bytes.
    pub to: u64,
    /// The number of lines.
    pub lines: u64,
}

/// A list of the most frequent names among the judged lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Top {
    /// What the names are.
    pub of: TopOf,
    /// Whether the counts are exact.
    pub exact: bool,
    /// By how many lines each count may be too small. Names with no more lines than this may be missing.
    pub max_error: u64,
    /// The most frequent names, largest first. There are fewer than requested if fewer occur, or if `max_error` is not 0.
    pub entries: Vec<TopEntry>,
}

/// One name of a list of the most frequent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TopEntry {
    /// The name.
    pub name: String,
    /// How many lines have this name.
    pub lines: u64,
}

/// An estimate of how many distinct items there are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Distinct {
    /// What is counted.
    pub of: DistinctOf,
    /// The estimated number of distinct ones.
    pub estimate: u64,
    /// The standard error of the estimate, in millionths of the estimate.
    pub error_ppm: u64,
}

/// A list of public suffixes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PublicSuffixList {
    /// The version that the list names, or nothing.
    pub version: String,
    /// A hash of the list: FNV-1a in 16 hexadecimal digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{16}$")))]
    pub hash: String,
}

impl PublicSuffixList {
    /// The version, if there is one, and the hash.
    fn name(&self) -> String {
        if self.version.is_empty() { self.hash.clone() } else { format!("{}, {}", self.version, self.hash) }
    }
}

/// An input and what was read of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InputCount {
    /// The input's name.
    pub name: String,
    /// How many bytes were read and counted. For a compressed input, these are decoded bytes. For a Parquet column, these
    /// are the bytes of its values, plus one for each value and null.
    pub bytes: u64,
    /// The number of lines; for a Parquet file or a column of a table in memory, of rows.
    pub lines: u64,
    /// Rows of a column in memory that have no value. `lines` counts them, and `bytes` counts one byte for each; no other count has
    /// them. Left out if there are none.
    #[serde(default, skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = 0)))]
    pub nulls: u64,
    /// Whether the input is a column whose rows have no order, which affects the digest. Left out if the rows have an order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = false)))]
    pub unordered: bool,
    /// How the input is compressed; left out if it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Codec"))]
    pub codec: Option<Codec>,
    /// How many compressed bytes were decoded; left out if the input is not compressed. A member that is read for two parts
    /// of the input counts twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "u64"))]
    pub compressed_bytes: Option<u64>,
    /// The judged lines of the input.
    pub judged: JudgedCount,
    /// Why the input was not read to its end; `None` if it was.
    pub error: Option<String>,
    /// Peculiarities of how the input is written; left out if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<InputWarning>,
    /// What the input looks like, if it was read as a list and does not look like one; left out otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "LooksLike"))]
    pub looks_like: Option<Box<LooksLike>>,
    /// The input's records; left out if each line is a URL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "RecordCount"))]
    pub records: Option<Box<RecordCount>>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// The judged lines of an input. Of records, each field counts as a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct JudgedCount {
    /// The number of judged lines.
    pub lines: u64,
    /// Lines that at least one grammar accepts.
    pub accepted_by_any: u64,
    /// For each grammar, how many lines it accepts.
    pub accepted: Accepted,
    /// The most frequent reason why the chosen grammar refuses lines; `None` if it refuses none.
    pub most_frequent_defect: Option<InputDefect>,
}

/// The most frequent defect of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct InputDefect {
    /// The component of the line with the defect.
    pub component: Component,
    /// What is wrong there.
    pub cause: Cause,
    /// The number of lines.
    pub lines: u64,
}

/// What an input looks like that was read as a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LooksLike {
    /// The shape of its text.
    pub shape: TextShape,
    /// How to read it so that the most URLs are found in its beginning: the command, or the arguments of Python. The digest is taken
    /// without it.
    pub advice: String,
    /// The same as a value, until a front end has said it.
    #[serde(skip)]
    trial: Option<Trial>,
}

impl LooksLike {
    /// The warning for an input that looks so.
    pub(crate) fn new(looks: Looks) -> Self {
        let advice = looks.trial.map_or_else(
            || "no format finds a URL in its first 64 KiB".to_owned(),
            |trial| format!("the format {} {}", trial.format, found(&trial)),
        );
        Self { shape: looks.shape, advice, trial: looks.trial }
    }

    /// Says in the words of a front end how to read the input. They get the way to read it, and what it finds.
    pub(crate) fn say(&mut self, words: impl Fn(&Trial, &str) -> String) -> &Self {
        if let Some(trial) = self.trial.take() {
            self.advice = words(&trial, &found(&trial));
        }
        self
    }

    /// The warning as a sentence without the name of the input.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (first, rest) = self.shape.meaning().trim_end_matches('.').split_at(1);
        let looks = first.to_ascii_lowercase() + rest;
        format!("looks like {looks}, but each line was judged as a URL; {}", self.advice)
    }
}

/// What a trial finds.
fn found(trial: &Trial) -> String {
    let what = match (trial.finds_urls, trial.found) {
        (true, 1) => "URL",
        (true, _) => "URLs",
        (false, 1) => "host or path",
        (false, _) => "hosts or paths",
    };
    format!("finds {} {what} in its first 64 KiB", grouped(trial.found))
}

/// A peculiarity of how an input is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InputWarning {
    /// The input is UTF-16 with a byte order mark. Its UTF-8 text was judged, and all counts of bytes are those of that text.
    #[serde(rename = "utf-16")]
    Utf16,
    /// The input begins with a UTF-8 byte order mark, which is skipped.
    ByteOrderMark,
    /// The last line of the input does not end in LF.
    NoFinalLineEnd,
    /// RFC 3986 accepts at most 1 % of the judged lines. There are at least 5 lines or 4,096 bytes.
    FewAccepted,
}

impl Run {
    /// The time, the number of threads and the kernel of a scan, without date and command.
    #[must_use]
    pub fn new(elapsed: Duration, threads: usize, kernel: KernelId) -> Self {
        // Whole microseconds survive a round trip through JSON unchanged.
        let micros = u32::try_from(elapsed.as_micros());
        Self {
            date: None,
            command: None,
            selection: None,
            seconds: micros.map_or_else(|_| elapsed.as_secs_f64().round(), |micros| f64::from(micros) / 1e6),
            threads: threads as u64,
            kernel: kernel.name().to_owned(),
        }
    }
}

impl Report {
    /// The name of the input at index `input` of [`inputs`](Self::inputs).
    #[must_use]
    pub fn input_name(&self, input: usize) -> &str {
        self.inputs.get(input).map_or("?", |input| &input.name)
    }

    /// Says in the words of a front end how to read inputs that look like no list. They get a way to read an input, and what it finds.
    pub fn say(&mut self, words: impl Fn(&Trial, &str) -> String) {
        for looks in self.inputs.iter_mut().filter_map(|input| input.looks_like.as_deref_mut()) {
            looks.say(&words);
        }
    }

    /// The inputs that have judged lines, those with the smallest share of lines that the chosen grammar accepts first.
    pub(crate) fn inputs_worst_first(&self) -> Vec<(&InputCount, &JudgedCount)> {
        let judged = self.inputs.iter().map(|input| (input, &input.judged));
        let mut inputs: Vec<_> = judged.filter(|(_, judged)| judged.lines > 0).collect();
        // In parts of 2^64, so that shares compare as integers.
        let share = |judged: &JudgedCount| {
            (u128::from(judged.accepted.by(self.grammar)) << 64) / u128::from(judged.lines)
        };
        inputs.sort_by_key(|(_, judged)| (share(judged), std::cmp::Reverse(judged.lines)));
        inputs
    }

    /// The column of the byte that an example is about, as ":" and a number from 1. Empty for a field of a record, whose
    /// place in the line is unknown.
    pub(crate) fn column(&self, example: &ExampleLine) -> String {
        match self.inputs.get(example.input) {
            Some(input) if input.records.is_some() => String::new(),
            _ => format!(":{}", example.offset.saturating_add(1)),
        }
    }

    /// Writes the report as indented JSON in UTF-8, with a newline at the end. Characters that are not visible are escaped. Recomputes the digest, so that it fits what is
    /// written.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_json(&self, mut out: impl io::Write) -> io::Result<()> {
        let out: &mut dyn io::Write = &mut out;
        let mut report = self.clone();
        report.digest = digest::of_report(&mut report);
        // There may be very many inputs, so the document is written in pieces.
        let mut visible = VisibleJson { out, pending: Vec::new() };
        serde_json::to_writer_pretty(&mut visible, &report)?;
        visible.pending.push(b'\n');
        visible.flush()
    }
}

/// Writes a JSON document with escapes for characters that are not visible.
struct VisibleJson<'a> {
    out: &'a mut dyn io::Write,
    /// What is still to be written. Its last character may be incomplete.
    pending: Vec<u8>,
}

impl io::Write for VisibleJson<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pending.extend_from_slice(bytes);
        if self.pending.len() >= 1 << 16 {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if let Some(chunk) = self.pending.utf8_chunks().next() {
            self.out.write_all(escape::visible_json(chunk.valid()).as_bytes())?;
            let len = chunk.valid().len();
            self.pending.drain(..len);
        }
        Ok(())
    }
}
