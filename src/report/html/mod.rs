//! The report as a page for a browser: one file that asks nothing of any network, and stays small whatever the data.
//!
//! The page is `templates/report/page.html` with its parts and its style sheet. Its policy (Content-Security-Policy) allows that one
//! style sheet, by its hash, and nothing else: no script is run. Text of the data gets into the page through the template
//! library, which escapes it, and through [`bound::shown`], which bounds it and leaves nothing in it that acts on other text.

mod bound;
mod filters;
mod finding;
mod lengths;
mod list;
mod verdict;

use std::io;

use askama::Template;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};

use self::bound::{Bounds, NAME, Part, shown};
use self::finding::{Finding, Mark, advisory, refusal};
use self::lengths::Histogram;
use self::list::{DistinctCount, FIRST_REFUSALS, FIRST_SCHEMES, GrammarRow, InputRow, SchemeRow, TopList};
use self::verdict::{MatrixRow, SetRow};
use super::{Report, digest};

/// No page is longer, in bytes.
pub const MAX_PAGE: usize = 300_000;

const STYLE: &str = include_str!("../../../templates/report/style.css");

#[derive(Template)]
#[template(path = "report/page.html")]
struct Page<'a> {
    style: &'static str,
    style_hash: String,
    report: &'a Report,
    /// The whole report as JSON stands in the page.
    embeds: bool,
    title: String,
    /// In the order of [`Grammar::ALL`](crate::Grammar::ALL).
    grammars: Vec<GrammarRow>,
    sets: Vec<SetRow>,
    /// A row for each grammar, of the lines that it accepts.
    matrix: Vec<MatrixRow>,
    refusals: Part<Finding<'a>>,
    advisories: Part<Finding<'a>>,
    schemes: Part<SchemeRow>,
    /// Lines without a scheme, and of schemes that have no row of their own in the report.
    more_schemes: Vec<SchemeRow>,
    lengths: Option<Histogram<'a>>,
    tops: Vec<TopList>,
    distinct: Vec<DistinctCount>,
    inputs: Part<InputRow>,
}

impl<'a> Page<'a> {
    fn new(report: &'a Report, bounds: &Bounds, embeds: bool) -> Self {
        Self {
            style: STYLE,
            style_hash: BASE64_STANDARD.encode(Sha256::digest(STYLE)),
            report,
            embeds,
            title: match report.inputs.as_slice() {
                [input] => shown(&input.name, NAME),
                inputs => format!("{} inputs", inputs.len()),
            },
            grammars: list::grammars(report),
            sets: verdict::sets(report, bounds),
            matrix: verdict::matrix(report, bounds),
            refusals: Part::new(
                &report.defects,
                bounds.findings,
                |kind| kind.lines,
                |kind| refusal(kind, report, bounds),
            ),
            advisories: Part::new(
                &report.advisories,
                bounds.findings,
                |kind| kind.lines,
                |kind| advisory(kind, report, bounds),
            ),
            schemes: Part::new(
                &report.schemes,
                bounds.schemes,
                |scheme| scheme.count.lines,
                |scheme| list::scheme(scheme, report.grammar),
            ),
            more_schemes: list::more_schemes(report),
            lengths: report.lengths.as_ref().map(|lengths| Histogram::new(lengths, report)),
            tops: list::tops(report, bounds),
            distinct: list::distinct(report),
            inputs: list::inputs(report, bounds),
        }
    }

    /// The row of the grammar whose refusals are explained.
    fn chosen(&self) -> &GrammarRow {
        &self.grammars[self.report.grammar as usize]
    }

    fn n_refused_by_all(&self) -> u64 {
        self.report.totals.judged.saturating_sub(self.report.totals.accepted_by_any)
    }

    fn n_lines_of_the_first_scheme(&self) -> u64 {
        self.schemes.rows.iter().chain(&self.more_schemes).map(|row| row.lines).max().unwrap_or(0)
    }
}

impl Report {
    /// Writes the report as a page of at most [`MAX_PAGE`] bytes. What had to be left out for that is said in it.
    ///
    /// # Errors
    /// When `out` cannot be written to.
    pub fn write_html(&self, mut out: impl io::Write) -> io::Result<()> {
        let report = Self { digest: digest::of_report(self), ..self.clone() };
        out.write_all(page(&report).map_err(io::Error::other)?.as_bytes())
    }
}

/// The first that is short enough: a page with the report as JSON, one without, and the least that there is.
fn page(report: &Report) -> askama::Result<String> {
    for embeds in [true, false] {
        let page = Page::new(report, &Bounds::MOST, embeds).render()?;
        if page.len() <= MAX_PAGE {
            return Ok(page);
        }
    }
    Page::new(report, &Bounds::LEAST, false).render()
}
