//! Reads a report from JSON, and checks its schema, its digest and its counts.

use std::fmt;

use serde_json::Value;

use super::{
    Count, ExampleLine, GrammarCount, InputCount, Report, SCHEMA, WhatwgCount, bytes_in_json, digest,
};
use crate::grammar::Grammar;
use crate::grammar::escape::printable;

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
            error(
                NotJson,
                format!("not JSON: {cause}; expected a report written by urlsift --format json or html"),
            )
        })?;
        match value.get("schema").and_then(Value::as_str) {
            Some(SCHEMA | SCHEMA_1) => {}
            Some(other) if other.starts_with("urlsift.report/") => {
                let message = format!(
                    "a report of the schema {}; this version of urlsift reads {SCHEMA_1} and {SCHEMA}",
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
        let is_old = value["schema"] == SCHEMA_1;
        let right = digest::of(value.clone());
        if named.as_deref() != Some(&*right) {
            let named = named.as_deref().unwrap_or("missing");
            let message = format!(
                "changed since urlsift wrote it: its digest is {named}, and should be {right}; scan again"
            );
            return Err(error(WrongDigest, message));
        }
        // Parse the text a second time: errors then have a line and a column.
        let parsed = if is_old { from_v1(value) } else { serde_json::from_slice(json) };
        let report: Self =
            parsed.map_err(|cause| error(WrongField, format!("not a whole report: {cause}")))?;
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
        if self.inputs.iter().all(|input| input.judged.is_some()) {
            let judged = self.inputs.iter().filter_map(|input| Some(input.judged.as_ref()?.lines));
            same("inputs", "judged lines", judged, totals.judged)?;
        }
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

/// The schema of version 0.1.
const SCHEMA_1: &str = "urlsift.report/1";

/// Converts a report of version 0.1. It does not say how many lines of each input were accepted.
fn from_v1(mut report: Value) -> serde_json::Result<Report> {
    let rename = |object: &mut Value, old: &str, new: &str| {
        if let Some(fields) = object.as_object_mut()
            && let Some(value) = fields.remove(old)
        {
            fields.insert(new.to_owned(), value);
        }
    };
    let each = |list: Option<&mut Value>, change: &mut dyn FnMut(&mut Value)| {
        list.and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
    };
    report["schema"] = SCHEMA.into();
    rename(&mut report, "other_schemes", "other");
    each(report.get_mut("grammars"), &mut |grammar| rename(grammar, "id", "name"));
    for list in ["verdict_sets", "defects", "advisories"] {
        each(report.get_mut(list), &mut |kind| {
            each(kind.get_mut("examples"), &mut |example| {
                example["input_name"] = "".into();
                unescape(example);
            });
        });
    }
    each(report.get_mut("inputs"), &mut |input| {
        input["judged"] = Value::Null;
        each(input.get_mut("warnings"), &mut |warning| {
            if warning == "utf-16" {
                *warning = "utf-16-not-decoded".into();
            }
        });
    });
    // Written and parsed again, so that reports are parsed in one way.
    let mut report: Report = serde_json::from_slice(&serde_json::to_vec(&report)?)?;
    report.name_examples();
    report.digest = digest::of_report(&report);
    Ok(report)
}

/// Restores the bytes of an example of version 0.1, which escaped all bytes except printable ASCII.
fn unescape(example: &mut Value) {
    let Some(Value::String(text)) = example.get_mut("text").map(Value::take) else { return };
    for place in example["mark"].as_array_mut().into_iter().flatten() {
        let at = place.as_u64().and_then(|at| usize::try_from(at).ok());
        if let Some(before) = at.and_then(|at| text.get(..at)) {
            *place = unescaped(before.as_bytes()).len().into();
        }
    }
    if let Some(fields) = example.as_object_mut() {
        fields.remove("text");
        fields.extend(bytes_in_json::fields(&unescaped(text.as_bytes())));
    }
}

fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b'\\', Some(b'x')) => {
                let digits = text.get(at + 2..at + 4).and_then(|digits| std::str::from_utf8(digits).ok());
                bytes.extend(digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()));
                at += 4;
            }
            (b'\\', Some(_)) => {
                bytes.push(byte);
                at += 2;
            }
            _ => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    bytes
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
