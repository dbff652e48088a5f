//! The report as a page for a browser: one file that makes no network request and has a maximum size.
//!
//! The template is `templates/report/page.html` with its parts and its style sheet. The page's Content-Security-Policy
//! allows only that style sheet, by its hash, and no scripts. The template library escapes all text of the data.
//! [`bound::shown`] limits its length and escapes characters that could affect other text.

mod bound;
mod filters;
mod finding;
mod lengths;
mod list;
mod records;
mod verdict;
mod whatwg;

use std::io;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use memchr::memmem;
use sha2::{Digest, Sha256};

use self::bound::{Bounds, FirstRows, NAME, shown};
use self::finding::{Finding, advisory, refusal};
use self::lengths::Histogram;
use self::list::{FIRST_REFUSALS, FIRST_SCHEMES, GrammarRow, InputRow, SchemeRow, TopList};
use self::records::{FieldRow, RecordRow};
use self::verdict::{MatrixRow, Pair, SetRow};
use self::whatwg::Whatwg;
use super::{Report, TextStyle, Words, command, digest};

/// The maximum size of a page, in bytes.
pub const MAX_PAGE: usize = 300_000;

const STYLE: &str = include_str!("../../../templates/report/style.css");

#[derive(Template)]
#[template(path = "report/page.html")]
struct Page<'a> {
    style: &'static str,
    style_hash: String,
    report: &'a Report,
    /// Whether the page contains the whole report as JSON.
    embeds: bool,
    /// The size of that JSON, in bytes.
    json_len: u64,
    title: String,
    words: Words,
    /// The arguments of all commands, if these do not repeat them.
    arguments: Option<String>,
    /// One row per grammar, in the order of [`Grammar::ALL`](crate::Grammar::ALL).
    grammars: Vec<GrammarRow>,
    sets: Vec<SetRow>,
    /// One row per grammar, about the lines that it accepts.
    matrix: Vec<MatrixRow>,
    refusals: FirstRows<Finding<'a>>,
    advisories: FirstRows<Finding<'a>>,
    whatwg: Option<Whatwg<'a>>,
    schemes: FirstRows<SchemeRow>,
    /// Lines without a scheme, and lines of schemes that the report does not list by name.
    more_schemes: Vec<SchemeRow>,
    lengths: Option<Histogram<'a>>,
    tops: Vec<TopList>,
    distinct: Vec<(&'static str, u64, String)>,
    public_suffix_list: Option<String>,
    /// Inputs that hold records.
    records: FirstRows<RecordRow>,
    fields: FirstRows<FieldRow>,
    inputs: FirstRows<InputRow>,
}

impl<'a> Page<'a> {
    fn new(report: &'a Report, words: Words, bounds: &Bounds, embeds: bool, json_len: u64) -> Self {
        Self {
            style: STYLE,
            style_hash: BASE64_STANDARD.encode(Sha256::digest(STYLE)),
            report,
            embeds,
            json_len,
            title: match report.inputs.as_slice() {
                [input] => shown(&input.name, NAME),
                inputs => format!("{} inputs", inputs.len()),
            },
            words,
            arguments: command::arguments(report, words),
            grammars: list::grammars(report),
            sets: verdict::sets(report, bounds),
            matrix: verdict::matrix(report, bounds),
            refusals: FirstRows::new(
                &report.defects,
                bounds.findings,
                |kind| kind.lines,
                |kind| refusal(kind, report, bounds),
            ),
            advisories: FirstRows::new(
                &report.advisories,
                bounds.findings,
                |kind| kind.lines,
                |kind| advisory(kind, report, bounds),
            ),
            whatwg: report.whatwg.as_ref().map(|counts| Whatwg::new(counts, report, bounds)),
            schemes: FirstRows::new(
                &report.schemes,
                bounds.schemes,
                |scheme| scheme.count.lines,
                |scheme| list::scheme(scheme, report.grammar),
            ),
            more_schemes: list::more_schemes(report),
            lengths: report.lengths.as_ref().map(|lengths| Histogram::new(lengths, report)),
            tops: list::tops(report, bounds),
            distinct: list::distinct(report),
            public_suffix_list: report.public_suffix_list.as_ref().map(|list| shown(&list.name(), NAME)),
            records: records::records(report, bounds),
            fields: records::fields(report, bounds),
            inputs: list::inputs(report, bounds),
        }
    }

    /// The row of the grammar whose refusals are explained.
    fn chosen(&self) -> &GrammarRow {
        &self.grammars[self.report.grammar as usize]
    }

    /// The command that lists the lines for which the conditions hold; empty if none can.
    fn command(&self, conditions: &[String]) -> String {
        command::of_lines(self.report, conditions, self.words)
    }

    fn max_len() -> u64 {
        MAX_PAGE as u64
    }

    /// The pair of grammars that disagrees about the most lines. `None` if all agree about all lines.
    fn largest_pair(&self) -> Option<&Pair> {
        let pairs = self.matrix.iter().flat_map(|row| row.cells.iter().flatten());
        pairs.max_by_key(|pair| pair.lines).filter(|pair| pair.lines > 0)
    }

    fn n_refused_by_all(&self) -> u64 {
        self.report.totals.judged.saturating_sub(self.report.totals.accepted_by_any)
    }

    fn n_of_the_most_frequent_field(&self) -> u64 {
        self.fields.rows.iter().map(|row| row.judged).max().unwrap_or(0)
    }

    fn n_lines_of_the_first_scheme(&self) -> u64 {
        self.schemes.rows.iter().chain(&self.more_schemes).map(|row| row.lines).max().unwrap_or(0)
    }
}

impl Report {
    /// Writes the report as a page of at most [`MAX_PAGE`] bytes, without commands. The page says what it leaves out. Returns
    /// whether the page contains the report as JSON, for [`json_in_page`].
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_html(&self, out: impl io::Write) -> io::Result<bool> {
        self.write_html_in(out, &TextStyle::default())
    }

    /// Does what [`write_html`](Self::write_html) does. The style has the maximum number of rows of the table of inputs, and the
    /// words of the commands.
    ///
    /// # Errors
    /// If `out` cannot be written to.
    pub fn write_html_in(&self, mut out: impl io::Write, style: &TextStyle) -> io::Result<bool> {
        let mut report = self.clone();
        report.digest = digest::of_report(&mut report);
        let (page, embeds) = page(&report, style).map_err(io::Error::other)?;
        out.write_all(page.as_bytes())?;
        Ok(embeds)
    }
}

/// The JSON of the report in a page. `None` if [`Report::write_html`] did not write the page, or if the JSON was too long
/// to include.
#[must_use]
pub fn json_in_page(page: &[u8]) -> Option<&[u8]> {
    let start = memmem::find(page, BEFORE_JSON)? + BEFORE_JSON.len();
    let json = &page[start..];
    Some(&json[..memmem::find(json, BEHIND_JSON)?])
}

/// The tags around the JSON in the template. They occur nowhere else, because "<" in the data is escaped.
const BEFORE_JSON: &[u8] = b"<script type=\"application/json\" id=\"report\">";
const BEHIND_JSON: &[u8] = b"</script>";

/// Renders the page, and returns whether it contains the JSON. Tries three sizes and takes the first that fits: with the
/// JSON, without it, and with the tightest bounds. What people see has priority over the JSON.
fn page(report: &Report, style: &TextStyle) -> askama::Result<(String, bool)> {
    let &TextStyle { by_input: inputs, words, .. } = style;
    let json_len = serde_json::to_string(report).map_or(usize::MAX, |json| json.len());
    for embeds in [true, false] {
        if embeds && json_len > MAX_PAGE {
            continue;
        }
        let bounds = Bounds { inputs, ..Bounds::MOST };
        let page = Page::new(report, words, &bounds, embeds, json_len as u64).render()?;
        if page.len() <= MAX_PAGE {
            return Ok((page, embeds));
        }
    }
    let least = if report.whatwg.is_some() { Bounds::LEAST_WITH_WHATWG } else { Bounds::LEAST };
    Ok((Page::new(report, words, &least, false, json_len as u64).render()?, false))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::tally::{DistinctOf, TopOf};
    use urlsift_grammar::advisory::Advisory;
    use urlsift_grammar::component::Component;
    use urlsift_grammar::defect::Cause;
    use urlsift_grammar::whatwg::{Level, ValidationError};
    use urlsift_grammar::{Grammar, Verdict};
    use urlsift_records::{BadCause, Role, Skip};

    /// A report with lists and texts that are longer than a page shows, of characters that take the most bytes to escape.
    fn monster(text: &str) -> Report {
        let most = u64::MAX / 1000;
        let count =
            json!({ "draft1993": most, "rfc1738": 0, "rfc1808": most, "rfc2396": most, "rfc3986": 1 });
        let line = json!({
            "input": 1, "input_name": text, "line": most, "line_offset": most, "offset": most, "text": "'".repeat(640), "skipped": most, "cut": true,
            "mark": [300, 304], "rule": { "name": text, "text": format!("{text}\n").repeat(3), "source": text },
        });
        let lines = vec![line; 3];
        let defects = Component::ALL.iter().flat_map(|component| {
            let kind = |cause: &Cause| json!({ "component": component.name(), "cause": cause.name(), "lines": most, "examples": lines });
            Cause::ALL.iter().map(kind).collect::<Vec<_>>()
        });
        let sets = (0..32).map(|bits| {
            let grammars: Vec<_> = Verdict::from_bits(bits).iter().map(Grammar::name).collect();
            json!({ "grammars": grammars, "lines": most, "examples": lines })
        });
        let advisories =
            Advisory::ALL.iter().map(|name| json!({ "name": name.name(), "lines": most, "examples": lines }));
        let entries = vec![json!({ "name": text, "lines": most }); 150];
        let list = |of: &TopOf| json!({ "of": of, "exact": false, "max_error": most, "entries": entries });
        let top: Vec<_> = TopOf::ALL.iter().map(list).collect();
        let estimate = |of: &DistinctOf| json!({ "of": of, "estimate": most, "error_ppm": most });
        let distinct: Vec<_> = DistinctOf::ALL.iter().map(estimate).collect();
        let buckets =
            (0..63).flat_map(|octave| (0..16).map(move |part| (1_u64 << octave) + ((part << octave) >> 4)));
        let place = json!({ "line": most, "record_offset": most, "offset": most });
        let refused = BadCause::ALL
            .iter()
            .map(|cause| json!({ "cause": cause.name(), "records": most, "first": vec![&place; 9] }));
        let skipped = Skip::ALL.iter().map(|reason| json!({ "reason": reason.name(), "records": most }));
        let fields = Role::ALL
            .iter()
            .map(|role| json!({ "role": role.name(), "blank": most, "lines": most, "accepted": count }));
        let named = (0..50).map(|n| {
            let name = format!("{n}{text}");
            json!({ "name": name, "role": "url", "blank": most, "lines": most, "accepted": count })
        });
        let records = json!({
            "format": "jsonl", "read": most, "skipped": skipped.collect::<Value>(),
            "refused": refused.clone().chain(refused).collect::<Value>(), "fields": fields.chain(named).collect::<Value>(),
        });
        let scheme = json!({ "name": text, "label": "experimental", "lines": most, "accepted": count });
        let warnings = ["utf-16", "byte-order-mark", "no-final-line-end"].repeat(100);
        let report = json!({
            "schema": "urlsift.report/2", "version": "0.3.0", "digest": "0".repeat(64), "grammar": "rfc3986", "complete": false,
            "totals": {
                "lines": most, "bytes": most, "blank": most, "judged": most, "accepted_by_any": most, "cr": most,
                "byte_order_marks": most,
            },
            "grammars": Grammar::ALL.map(|grammar| json!({ "name": grammar.name(), "accepted": most, "refused": most })),
            "verdict_sets": sets.collect::<Value>(),
            "schemes": vec![scheme; 150],
            "other": { "lines": most, "accepted": count },
            "relative": { "lines": most, "accepted": count },
            "defects": defects.take(60).collect::<Value>(),
            "advisories": advisories.collect::<Value>(),
            "whatwg": {
                "standard": text, "base": text,
                "levels": Level::ALL.iter().map(|name| json!({ "name": name.name(), "lines": most, "accepted": count })).collect::<Value>(),
                "errors": ValidationError::ALL.iter().map(|name| json!({ "name": name.name(), "lines": most, "examples": lines })).collect::<Value>(),
                "hosts_differ": { "lines": most, "examples": lines }, "not_utf8": most, "too_long": most,
            },
            "lengths": {
                "min": 1, "max": most, "sum": most, "longest": { "input": 1, "line": most, "line_offset": most, "bytes": most },
                "percentiles": vec![json!({ "percent": 50, "bytes": most }); 99],
                "buckets": buckets.map(|from| json!({ "from": from, "to": from, "lines": most })).collect::<Value>(),
            },
            "top": top,
            "distinct": distinct,
            "public_suffix_list": { "version": text, "hash": text },
            "inputs": vec![
                json!({
                    "name": text, "bytes": most, "lines": most, "error": text, "judged": { "lines": most, "accepted_by_any": most, "accepted": count,
                        "most_frequent_defect": { "component": "authority", "cause": "illegal-character", "lines": most } },
                    "warnings": warnings, "records": records,
                    "looks_like": { "shape": "json", "advice": text },
                });
                30
            ],
        });
        serde_json::from_value(report).unwrap()
    }

    #[test]
    fn no_report_makes_a_long_page() {
        for text in ["\"'&<>".repeat(100), "\u{1f600}".repeat(500), "\u{202e}".repeat(500)] {
            let mut report = monster(&text);
            let mut style = TextStyle::default();
            (style.words.list, style.words.grammar) = ("urlsift lines", "-g");
            (style.words.base, style.words.condition) = ("--base", "--where");
            assert!(report.schemes.len() > Bounds::MOST.schemes && report.inputs.len() > Bounds::MOST.inputs);
            assert!(report.defects.len() > Bounds::MOST.findings);
            for with_whatwg in [true, false] {
                report.whatwg = report.whatwg.filter(|_| with_whatwg);
                let mut page = Vec::new();
                assert!(!report.write_html_in(&mut page, &style).unwrap());
                assert!(page.len() <= MAX_PAGE, "{} bytes", page.len());
                assert!(page.ends_with(b"</html>\n"));
            }
        }
    }
}
