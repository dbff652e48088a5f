//! Writes a partial report as a line of JSON, and reads it back.
//!
//! What is read is not trusted. The digest must be right, and the counts must be possible, so that merging and
//! reporting cannot overflow.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::{self, BufRead, Read, Write};

use serde::{Deserialize, Serialize};

use super::{Known, MAX_ERRORS, MAX_INPUTS, Partial, Settings, order};
use crate::report::digest;
use crate::run::{Compressed, Records};
use crate::tally::{MAX_BYTES, MAX_EXAMPLES, Tally};
use urlsift_grammar::escape::{ascii_json, printable};

/// The name and version of the format. Only documents with the same name and version are merged.
pub const SCHEMA: &str = "urlsift.partial/2";

/// The longest partial report that is read, in bytes. With all optional counts it has some megabytes per input.
const MAX_LEN: u64 = 256 << 20;

/// The document. Missing fields and unknown fields are errors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    schema: String,
    /// The SHA-256 of the written line without this field.
    digest: String,
    /// The SHA-256 of the settings. Other programs can tell by it which partial reports belong together.
    fingerprint: String,
    settings: Settings,
    /// The number of inputs of the corpus, if it is known.
    n_inputs: Option<u32>,
    /// Whether the numbers of inputs are those of the corpus. Otherwise inputs are numbered in this report, by name.
    is_numbered: bool,
    /// What is known of each input, by number, with the ranges whose lines are counted here.
    inputs: Vec<(u32, Known)>,
    records: Vec<(u32, Records)>,
    compressed: Vec<Compressed>,
    tally: Tally,
}

/// Why a document is not accepted as a partial report.
#[derive(Debug)]
pub struct PartialError(String);

impl PartialError {
    pub(super) fn field(why: impl fmt::Display) -> Self {
        Self(format!("not a partial report as urlsift writes them: {why}"))
    }
}

impl fmt::Display for PartialError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&printable(self.0.as_bytes()))
    }
}

impl std::error::Error for PartialError {}

impl From<PartialError> for io::Error {
    fn from(error: PartialError) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

/// The part of a document that identifies its format.
#[derive(Deserialize)]
struct Named {
    schema: Option<String>,
}

/// Formats the field that holds a digest, as in the document.
fn field(digest: &str) -> String {
    format!("\"digest\":\"{digest}\"")
}

/// Finds the digest field and returns its position and length. Only numbers and names of codecs precede it.
fn digest_field(document: &str) -> Option<(usize, usize)> {
    let start = field("");
    let (start, end) = (start.trim_end_matches('"'), '"');
    let at = document.find(start)?;
    let value = at + start.len() + 1;
    let len = document.get(value..)?.find(end)?;
    Some((at, value + len + 1 - at))
}

/// The SHA-256 of a document without the `len` bytes at `at`.
fn digest_without(document: &str, at: usize, len: usize) -> String {
    digest::of_parts([&document.as_bytes()[..at], &document.as_bytes()[at + len..]])
}

impl Partial {
    /// Writes the report as a line of JSON in the schema [`SCHEMA`]. It has some kilobytes, and more if hosts or
    /// distinct items are counted.
    ///
    /// # Errors
    /// If `out` cannot be written.
    pub fn write_json(&self, mut out: impl Write) -> io::Result<()> {
        let all = self.clone();
        let written = Written {
            schema: SCHEMA.to_owned(),
            digest: String::new(),
            fingerprint: digest::of(digest::to_value(&all.settings)),
            settings: all.settings,
            n_inputs: all.n_inputs,
            is_numbered: all.is_numbered,
            inputs: all.inputs.into_iter().collect(),
            records: all.records.into_iter().collect(),
            compressed: all.compressed.into_values().collect(),
            tally: all.tally,
        };
        let mut document = ascii_json(&digest::to_value(&written).to_string());
        let Some((at, len)) = digest_field(&document) else { unreachable!("it has the field") };
        document.replace_range(at..at + len, &field(&digest_without(&document, at, len)));
        writeln!(out, "{document}")
    }

    /// Reads a partial report from `json`, which [`write_json`](Self::write_json) has written.
    ///
    /// # Errors
    /// If it is not a partial report, has another version, was changed after it was written, or has impossible
    /// counts.
    pub fn from_json(json: &[u8]) -> Result<Self, PartialError> {
        let not_json = |error| PartialError::field(format_args!("not JSON: {error}"));
        let text = str::from_utf8(json.trim_ascii()).map_err(PartialError::field)?;
        match serde_json::from_str::<Named>(text).map_err(not_json)?.schema.as_deref() {
            Some(SCHEMA) => {}
            Some(other) if other.starts_with("urlsift.report/") => {
                return Err(PartialError("a finished report, which cannot be merged any more".to_owned()));
            }
            other => {
                let other = other.unwrap_or("none");
                return Err(PartialError(format!(
                    "its schema is {other}, and this version of urlsift merges only {SCHEMA}; scan the part again"
                )));
            }
        }
        let is_right =
            |(at, len): (usize, usize)| text[at..at + len] == field(&digest_without(text, at, len));
        if !digest_field(text).is_some_and(is_right) {
            return Err(PartialError(
                "changed since urlsift wrote it, or cut off: its digest is another".to_owned(),
            ));
        }
        let written: Written = serde_json::from_str(text).map_err(PartialError::field)?;
        written.check().map_err(PartialError::field)?;
        Ok(Self {
            settings: written.settings,
            is_numbered: written.is_numbered,
            n_inputs: written.n_inputs,
            inputs: written.inputs.into_iter().collect(),
            records: written.records.into_iter().collect(),
            compressed: written
                .compressed
                .into_iter()
                .map(|compressed| (compressed.input, compressed))
                .collect(),
            tally: written.tally,
        })
    }

    /// Reads the partial reports in `lines`, one per line, and skips blank lines. Only one report is in memory at a
    /// time.
    pub fn read_lines(lines: impl BufRead) -> impl Iterator<Item = io::Result<Self>> {
        let mut lines = lines;
        std::iter::from_fn(move || {
            loop {
                let mut line = Vec::new();
                match lines.by_ref().take(MAX_LEN).read_until(b'\n', &mut line) {
                    Ok(0) => return None,
                    Ok(n) if n as u64 == MAX_LEN => {
                        return Some(Err(
                            PartialError("a line too long for a partial report".to_owned()).into()
                        ));
                    }
                    Ok(_) if line.trim_ascii().is_empty() => {}
                    Ok(_) => return Some(Self::from_json(&line).map_err(Into::into)),
                    Err(error) => return Some(Err(error)),
                }
            }
        })
    }
}

impl Written {
    /// Checks that the fields are consistent, so that no later operation fails or overflows.
    fn check(&self) -> Result<(), String> {
        let known: BTreeMap<u32, &Known> =
            self.inputs.iter().map(|(number, known)| (*number, known)).collect();
        let is_input = |input: u32| known.contains_key(&input);
        let end = self.n_inputs.unwrap_or(MAX_INPUTS);
        if end > MAX_INPUTS
            || known.len() != self.inputs.len()
            || known.last_key_value().is_some_and(|(&last, _)| last >= end)
        {
            return Err("inputs with the same number, or with larger ones than there are".to_owned());
        }
        let names: Vec<_> = known.values().map(|known| order(&known.name)).collect();
        if !self.is_numbered && names.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err("inputs that are not in the order of their names".to_owned());
        }
        for known in known.values() {
            let texts = known.errors.iter().chain([&known.name]);
            if texts.into_iter().any(|text| printable(text.as_bytes()) != *text)
                || known.errors.len() > MAX_ERRORS
            {
                return Err("an input whose name or error cannot be shown".to_owned());
            }
            if known.size.is_some_and(|size| size > MAX_BYTES) {
                return Err("an input that is too large".to_owned());
            }
        }
        self.settings.check()?;
        self.tally.check(self.settings.grammar, self.settings.whatwg.is_some(), is_input)?;
        // A range of a Parquet file is in bytes of the file, and a run of its values in values.
        let mut of_bytes = self.tally.runs().iter().filter(|run| run.value_bytes.is_none());
        if of_bytes.any(|run| !known[&run.input].ranges.has(run.start)) {
            return Err("lines that nobody asked for".to_owned());
        }
        let all = u128::from(self.tally.judged().lines()) + u128::from(self.tally.blank);
        let mut of_records = 0;
        let mut numbers = BTreeSet::new();
        for (input, records) in &self.records {
            of_records += records.check(self.tally.bytes())?;
            let column = records.column.as_deref().unwrap_or_default();
            let wanted = records.selected.iter().filter_map(|selected| selected.name.as_deref());
            let names = records.names.iter().chain(&records.missing).map(String::as_str).chain([column]);
            let is_shown = names.chain(wanted).all(|name| printable(name.as_bytes()) == name);
            if !is_input(*input) || !numbers.insert(input) || !is_shown {
                return Err("records of what is no input".to_owned());
            }
        }
        if of_records > all {
            return Err("more fields than lines".to_owned());
        }
        let are_compressed = self
            .compressed
            .iter()
            .all(|compressed| is_input(compressed.input) && compressed.bytes <= MAX_BYTES);
        if !are_compressed || self.compressed.len() > known.len() {
            return Err("a compressed file that is no input".to_owned());
        }
        Ok(())
    }
}

impl Records {
    /// Returns the number of fields, or an error if `bytes` bytes cannot contain these records.
    fn check(&self, bytes: u64) -> Result<u128, String> {
        let is_bad = |bad: &&urlsift_records::BadRecord| {
            bad.line == 0 || bad.line.max(bad.offset).max(bad.at) > MAX_BYTES
        };
        if self
            .refused
            .values()
            .any(|first| first.len() > MAX_EXAMPLES || first.iter().any(|bad| is_bad(&bad)))
        {
            return Err("records that cannot have been refused".to_owned());
        }
        if self.counts.sum() > bytes.into() {
            return Err("more records than bytes".to_owned());
        }
        let fields = self.fields().map(|(_, fields)| {
            u128::from(fields.blank) + fields.judged.sets().map(|(_, lines)| u128::from(lines)).sum::<u128>()
        });
        Ok(fields.sum())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::partial_report::Identity;
    use crate::run::{ExecOptions, Part, Reading, scan_parts};
    use crate::scan::{Options, WhatwgWanted};
    use crate::tally::TopOf;
    use urlsift_input::Input;

    /// Collects the JSON pointers of all numbers in a document.
    fn numbers(value: &Value, at: &str, found: &mut Vec<String>) {
        match value {
            Value::Number(_) => found.push(at.to_owned()),
            Value::Array(values) => {
                for (n, value) in values.iter().enumerate() {
                    numbers(value, &format!("{at}/{n}"), found);
                }
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    numbers(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), found);
                }
            }
            _ => {}
        }
    }

    /// Reads a document with another value in one place and a correct digest.
    fn reread(document: &Value, place: &str, value: Value) -> Result<Partial, PartialError> {
        let mut changed = document.clone();
        *changed.pointer_mut(place).unwrap() = value;
        let mut changed = changed.to_string();
        let (at, len) = digest_field(&changed).unwrap();
        changed.replace_range(at..at + len, &field(&digest_without(&changed, at, len)));
        Partial::from_json(changed.as_bytes())
    }

    /// A document with any changed number and a correct digest is refused, or can be merged and reported.
    #[test]
    fn no_number_is_believed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("x.jsonl");
        let lines = "{\"url\": \"http://a:b@c.example:8080/%00 \"}\n{\n{\"url\": \"//d/\"}\n\n{\"url\": \"\"}\n{\"url\": \"x-y:z\"}\n";
        std::fs::write(&path, lines).unwrap();
        let inputs = [Input::file(path)];
        let mut options = Options { lengths: true, ..Options::default() };
        options.top = TopOf::ALL.iter().map(|&of| (of, 5)).collect();
        options.whatwg = Some(WhatwgWanted::default());
        let reading = Reading::default();
        let parts = [Part::whole(0)];
        let found = scan_parts(&inputs, &parts, &reading, &options, &ExecOptions::default());
        let identities = [Identity { number: Some(0), name: "x".to_owned() }];
        let settings = Settings::new(&options, &reading, None, false);
        let partial = Partial::new(&found, &parts, &identities, Some(2), settings).unwrap();
        let mut json = Vec::new();
        partial.write_json(&mut json).unwrap();
        let document: Value = serde_json::from_slice(&json).unwrap();
        let mut places = Vec::new();
        numbers(&document, "", &mut places);
        assert!(places.len() > 50, "{}", places.len());
        let mut n_refused = 0;
        for place in &places {
            for number in [0, 1, 7, 1 << 32, MAX_BYTES, u64::MAX] {
                let Ok(read) = reread(&document, place, number.into()) else {
                    n_refused += 1;
                    continue;
                };
                let _ = read.clone().merge(partial.clone());
                let _ = read.gaps();
                read.report().write_json(io::sink()).unwrap();
            }
        }
        assert!(n_refused > places.len());
        // Each level with one line more or less is refused.
        let levels = document["tally"]["whatwg"]["levels"].as_array().unwrap();
        assert!(!levels.is_empty());
        for (n, level) in levels.iter().enumerate() {
            let lines = level[1][0][1].as_u64().unwrap();
            for changed in [lines - 1, lines + 1] {
                let error = reread(&document, &format!("/tally/whatwg/levels/{n}/1/0/1"), changed.into());
                let error = error.unwrap_err().to_string();
                assert!(error.contains("WHATWG levels that are not those of the judged lines"), "{error}");
            }
        }
        for (place, value) in [
            ("/settings/whatwg", Value::Null),
            ("/settings/whatwg", serde_json::json!({ "standard": "x", "base": "//a" })),
            ("/tally/whatwg", Value::Null),
        ] {
            assert!(reread(&document, place, value).is_err(), "{place}");
        }
    }
}
