//! The section about the WHATWG parser: levels, validation errors, and lines whose hosts differ.

use super::bound::{Bounds, FirstRows, LINE, NAME, shown};
use super::finding::{Finding, excerpts};
use super::list::label;
use crate::report::whatwg::{HOSTS_DIFFER, HOSTS_DIFFER_MEANING};
use crate::report::{Report, WhatwgCount};
use urlsift_grammar::Grammar;

/// What the parser makes of the lines.
pub(super) struct Whatwg<'a> {
    pub(super) standard: String,
    pub(super) base: Option<String>,
    pub(super) levels: Vec<LevelRow>,
    /// The short name of the chosen grammar if it is not RFC 3986.
    pub(super) chosen: Option<&'static str>,
    pub(super) errors: FirstRows<Finding<'a>>,
    pub(super) hosts_differ: Option<Finding<'a>>,
    pub(super) not_utf8: u64,
    pub(super) too_long: u64,
}

/// The lines of one level.
pub(super) struct LevelRow {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) lines: u64,
    /// How many of them RFC 3986 accepts and refuses.
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// How many the chosen grammar refuses.
    pub(super) refused_by_chosen: u64,
}

impl<'a> Whatwg<'a> {
    pub(super) fn new(counts: &'a WhatwgCount, report: &Report, bounds: &Bounds) -> Self {
        let chosen = report.grammar;
        let finding = |name, meaning, lines, condition, examples| Finding {
            name,
            component: None,
            meaning,
            lines,
            conditions: vec![condition],
            examples,
            rules: Vec::new(),
        };
        let levels = counts.levels.iter().map(|level| {
            let count = &level.count;
            let accepted = count.accepted.by(Grammar::Rfc3986);
            LevelRow {
                name: level.name.name(),
                meaning: level.name.meaning(),
                lines: count.lines,
                accepted,
                refused: count.lines.saturating_sub(accepted),
                refused_by_chosen: count.lines.saturating_sub(count.accepted.by(chosen)),
            }
        });
        let differ = &counts.hosts_differ;
        Self {
            standard: shown(&counts.standard, NAME),
            base: counts.base.as_deref().map(|base| shown(base, LINE)),
            levels: levels.take(MAX_LEVELS).collect(),
            chosen: (chosen != Grammar::Rfc3986).then(|| label(chosen)),
            errors: FirstRows::new(
                &counts.errors,
                bounds.errors,
                |error| error.lines,
                |error| {
                    let examples = excerpts(&error.examples, report, bounds, true);
                    let name = error.name.name();
                    finding(name, error.name.meaning(), error.lines, format!("whatwg_error={name}"), examples)
                },
            ),
            hosts_differ: (differ.lines > 0).then(|| {
                let examples = excerpts(&differ.examples, report, bounds, false);
                let condition = format!("whatwg={HOSTS_DIFFER}");
                finding(HOSTS_DIFFER, HOSTS_DIFFER_MEANING, differ.lines, condition, examples)
            }),
            not_utf8: counts.not_utf8,
            too_long: counts.too_long,
        }
    }
}

/// How many levels there are. A report that is made by hand may have more.
const MAX_LEVELS: usize = 4;
