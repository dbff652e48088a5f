//! Reads a report from JSON, and checks its schema, its digest and its counts.

use std::fmt;

use serde_json::Value;

use super::{Count, ExampleLine, GrammarCount, InputCount, Report, SCHEMA, WhatwgCount, digest};
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::printable;

/// Why JSON was not accepted as a report.
#[derive(Debug)]
pub struct ReadError {
    kind: ReadErrorKind,
    message: String,
}

/// The kind of a [`ReadError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The input is not JSON.
    NotJson,
    /// The input is JSON, but not a report.
    NotAReport,
    /// The report has a schema that this version does not know.
    OtherSchema,
    /// The report was changed: its digest does not fit its content.
    WrongDigest,
    /// A field is missing or has a wrong value.
    WrongField,
    /// Counts contradict each other.
    WrongCount,
}

impl ReadError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ReadErrorKind {
        self.kind
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

fn error(kind: ReadErrorKind, message: impl Into<String>) -> ReadError {
    ReadError { kind, message: message.into() }
}

impl Report {
    /// Reads a report that [`write_json`](Self::write_json) wrote. Ignores fields that this version does not know.
    ///
    /// # Errors
    /// If the JSON is not a report, has another schema, was changed after it was written, or has contradictory counts.
    pub fn from_json(json: &[u8]) -> Result<Self, ReadError> {
        use ReadErrorKind::{NotAReport, NotJson, OtherSchema, WrongDigest, WrongField};
        let value: Value = serde_json::from_slice(json).map_err(|cause| {
            error(NotJson, format!("not JSON: {cause}; expected a report that urlsift wrote"))
        })?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA) => {}
            Some(other) if other.starts_with("urlsift.report/") => {
                let message = format!(
                    "a report of the schema {}; this version of urlsift reads only {SCHEMA}; scan again",
                    printable(other.as_bytes())
                );
                return Err(error(OtherSchema, message));
            }
            Some(other) => {
                let message =
                    format!("not a report: its schema is {}, not {SCHEMA}", printable(other.as_bytes()));
                return Err(error(NotAReport, message));
            }
            None => {
                let message = format!("not a report: expected an object whose \"schema\" is \"{SCHEMA}\"");
                return Err(error(NotAReport, message));
            }
        }
        if let Some(string) = first_unprintable(&value) {
            let message = format!(
                "not as urlsift writes reports: a string has unprintable characters: {}",
                printable(string.as_bytes())
            );
            return Err(error(WrongField, message));
        }
        let named = value.get("digest").and_then(Value::as_str).map(str::to_owned);
        let right = digest::of(value);
        if named.as_deref() != Some(&*right) {
            let named = named.as_deref().unwrap_or("missing");
            let message = format!(
                "changed since urlsift wrote it: its digest is {named}, and should be {right}; scan again"
            );
            return Err(error(WrongDigest, message));
        }
        // Parse the text a second time: errors then have a line and a column.
        let report: Self = serde_json::from_slice(json)
            .map_err(|cause| error(WrongField, format!("not a whole report: {cause}")))?;
        report.check().map_err(|message| error(ReadErrorKind::WrongCount, message))?;
        Ok(report)
    }

    /// Checks that counts add up and that texts are printable. A report that fails although its digest fits was written by
    /// another program.
    fn check(&self) -> Result<(), String> {
        let totals = &self.totals;
        same("totals", "judged and blank lines", [totals.judged, totals.blank], totals.lines)?;
        self.check_grammars()?;
        self.check_schemes()?;
        let own = self.grammars.iter().find(|count| count.name == self.grammar);
        let refused = own.map_or(0, |count| count.refused);
        same("defects", "lines", self.defects.iter().map(|defect| defect.lines), refused)?;
        if self.advisories.iter().any(|advisory| advisory.lines > totals.accepted_by_any) {
            return Err("advisories: more lines than are accepted".to_owned());
        }
        if let Some(whatwg) = &self.whatwg {
            whatwg.check(totals.judged, &self.grammars)?;
        }
        if let Some(lengths) = &self.lengths {
            same(
                "lengths",
                "lines of all buckets",
                lengths.buckets.iter().map(|bucket| bucket.lines),
                totals.judged,
            )?;
        }
        // Of records, each field counts as a line.
        let lines_of = |input: &InputCount| match &input.records {
            None => vec![input.lines.saturating_sub(input.nulls)],
            Some(records) => {
                records.fields.iter().flat_map(|field| [field.count.lines, field.blank]).collect()
            }
        };
        same("inputs", "lines", self.inputs.iter().flat_map(lines_of), totals.lines)?;
        same("inputs", "bytes", self.inputs.iter().map(|input| input.bytes), totals.bytes)?;
        same("inputs", "judged lines", self.inputs.iter().map(|input| input.judged.lines), totals.judged)?;
        if self.complete && self.inputs.iter().any(|input| input.error.is_some()) {
            return Err("complete: true, and an input was not read to its end".to_owned());
        }
        self.examples().try_for_each(|example| self.check_example(example))
    }

    fn check_grammars(&self) -> Result<(), String> {
        if !self.grammars.iter().map(|count| count.name).eq(Grammar::ALL) {
            return Err("grammars: not each of the five once, in order".to_owned());
        }
        let lines_of = |wanted: &dyn Fn(&[Grammar]) -> bool| {
            let sets = self.verdict_sets.iter().filter(|set| wanted(&set.grammars));
            sets.map(|set| set.lines).collect::<Vec<_>>()
        };
        let judged = self.totals.judged;
        same("verdict_sets", "lines", lines_of(&|_| true), judged)?;
        same(
            "verdict_sets",
            "lines that any accepts",
            lines_of(&|set| !set.is_empty()),
            self.totals.accepted_by_any,
        )?;
        for count in &self.grammars {
            let of = |what: &str| format!("{what} {}", count.name);
            same("grammars", &of("lines accepted and refused by"), [count.accepted, count.refused], judged)?;
            same(
                "verdict_sets",
                &of("lines accepted by"),
                lines_of(&|set| set.contains(&count.name)),
                count.accepted,
            )?;
        }
        Ok(())
    }

    fn check_schemes(&self) -> Result<(), String> {
        let counts: Vec<&Count> =
            self.schemes.iter().map(|scheme| &scheme.count).chain([&self.other, &self.relative]).collect();
        same(
            "schemes",
            "lines with and without",
            counts.iter().map(|count| count.lines),
            self.totals.judged,
        )?;
        for GrammarCount { name, accepted, .. } in &self.grammars {
            let what = format!("lines accepted by {name}");
            same("schemes", &what, counts.iter().map(|count| count.accepted.by(*name)), *accepted)?;
            if counts.iter().any(|count| count.accepted.by(*name) > count.lines) {
                return Err(format!("schemes: {what}: more than there are"));
            }
        }
        Ok(())
    }

    fn examples(&self) -> impl Iterator<Item = &ExampleLine> {
        let of_sets = self.verdict_sets.iter().flat_map(|set| &set.examples);
        let of_defects = self.defects.iter().flat_map(|defect| &defect.examples);
        let of_advisories = self.advisories.iter().flat_map(|advisory| &advisory.examples);
        let of_whatwg = self.whatwg.iter().flat_map(WhatwgCount::examples);
        of_sets.chain(of_defects).chain(of_advisories).chain(of_whatwg)
    }

    /// Checks that an example has a known input, a printable rule, and a mark within the text.
    fn check_example(&self, example: &ExampleLine) -> Result<(), String> {
        let [start, end] = example.mark;
        let mut lines = example.rule.iter().flat_map(|rule| rule.text.split('\n'));
        let shows = lines.all(|line| printable(line.as_bytes()) == line);
        if shows && start <= end && end <= example.text.len() && example.input < self.inputs.len() {
            Ok(())
        } else {
            Err(format!("an example, line {}: its input, its rule or its mark cannot be", example.line))
        }
    }
}

/// Checks that numbers add up to `all`.
pub(super) fn same(
    field: &str,
    what: &str,
    numbers: impl IntoIterator<Item = u64>,
    all: u64,
) -> Result<(), String> {
    let sum: u128 = numbers.into_iter().map(u128::from).sum();
    if sum == u128::from(all) {
        Ok(())
    } else {
        Err(format!("{field}: {what} are {sum} together, and should be {all}"))
    }
}

/// Finds a string that is unsafe for a terminal. The texts of examples and rules are checked or escaped where they are used.
fn first_unprintable(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => (printable(text.as_bytes()) != *text).then_some(text),
        Value::Array(values) => values.iter().find_map(first_unprintable),
        Value::Object(fields) => {
            // A tab may be the delimiter of a table.
            let shown = fields.iter().filter(|(name, _)| *name != "text" && *name != "delimiter");
            shown.map(|(_, value)| value).find_map(first_unprintable)
        }
        _ => None,
    }
}
