//! What the WHATWG parser makes of the lines of a report.

use serde::{Deserialize, Serialize};

use super::make::{count, lines_of};
use super::{Count, ExampleLine, GrammarCount};
use crate::scan::WhatwgWanted;
use crate::tally::WhatwgCounts;
use urlsift_grammar::whatwg::{Level, STANDARD, ValidationError};

/// What the parser of the WHATWG URL Standard makes of the judged lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct WhatwgCount {
    /// The version of the standard: the commit of its text.
    pub standard: String,
    /// The base URL that was given (`--base`), with `***` instead of its password. `None` if there is none.
    pub base: Option<String>,
    /// Lines by level: all four, in the order valid, errors, failure, relative.
    pub levels: Vec<LevelCount>,
    /// Lines by validation error. A line counts once for each name. Sorted by number of lines, largest first.
    pub errors: Vec<ErrorCount>,
    /// Lines whose host by RFC 3986 is not the one to which the parser connects.
    pub hosts_differ: HostsDiffer,
    /// Lines that are not UTF-8. They were parsed with U+FFFD in place of what is not, and are never WHATWG-valid.
    pub not_utf8: u64,
    /// Lines of more than 2,097,152 bytes. They were not parsed, and have no level.
    pub too_long: u64,
}

/// The lines of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct LevelCount {
    /// The level's name.
    pub name: Level,
    /// The level's lines.
    #[serde(flatten)]
    pub count: Count,
}

/// Lines with one validation error.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ErrorCount {
    /// The error's name in the standard.
    pub name: ValidationError,
    /// The number of lines.
    pub lines: u64,
    /// The first few lines, in the order of the inputs. Their `offset` is where the parser noticed the first such error.
    pub examples: Vec<ExampleLine>,
}

/// Lines whose hosts differ: RFC 3986 finds one, and the parser another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HostsDiffer {
    /// The number of lines.
    pub lines: u64,
    /// The first few lines, in the order of the inputs.
    pub examples: Vec<ExampleLine>,
}

/// The name of the advisory about different hosts.
pub(crate) const HOSTS_DIFFER: &str = "hosts-differ";
/// Its meaning, in a sentence.
#[cfg(feature = "html")]
pub(super) const HOSTS_DIFFER_MEANING: &str =
    "The host by RFC 3986 is not the one to which the parser connects.";

impl WhatwgCount {
    pub(super) fn new(
        counts: &WhatwgCounts,
        wanted: &WhatwgWanted,
        names: &[&str],
        show_secrets: bool,
    ) -> Self {
        let level = |&name: &Level| LevelCount { name, count: count(counts.level(name)) };
        let errors = counts.errors().into_iter().map(|(name, found)| ErrorCount {
            name,
            lines: found.lines,
            examples: lines_of(&found.examples, names, show_secrets),
        });
        let differ = counts.hosts_differ();
        Self {
            standard: STANDARD.to_owned(),
            base: wanted.base.as_ref().map(|base| base.shown(show_secrets)),
            levels: Level::ALL.iter().map(level).collect(),
            errors: errors.collect(),
            hosts_differ: HostsDiffer {
                lines: differ.lines,
                examples: lines_of(&differ.examples, names, show_secrets),
            },
            not_utf8: counts.not_utf8(),
            too_long: counts.too_long(),
        }
    }

    /// The number of lines of a level.
    #[must_use]
    pub fn lines(&self, level: Level) -> u64 {
        self.levels.iter().find(|count| count.name == level).map_or(0, |count| count.count.lines)
    }

    pub(super) fn examples(&self) -> impl Iterator<Item = &ExampleLine> {
        self.errors.iter().flat_map(|error| &error.examples).chain(&self.hosts_differ.examples)
    }

    /// Checks that the counts can be those of lines that the grammars judged so.
    pub(super) fn check(&self, judged: u64, grammars: &[GrammarCount]) -> Result<(), String> {
        if !self.levels.iter().map(|level| level.name).eq(Level::ALL.iter().copied()) {
            return Err("whatwg.levels: not each of the four once, in order".to_owned());
        }
        let lines = self.levels.iter().map(|level| level.count.lines);
        super::read::same("whatwg.levels", "lines", lines.chain([self.too_long]), judged)?;
        for &GrammarCount { name, accepted, .. } in grammars {
            let counts = self.levels.iter().map(|level| &level.count);
            let sum: u128 = counts.clone().map(|count| u128::from(count.accepted.by(name))).sum();
            let unparsed = u128::from(accepted).checked_sub(sum);
            let is_possible = unparsed.is_some_and(|lines| lines <= self.too_long.into());
            if !is_possible || counts.clone().any(|count| count.accepted.by(name) > count.lines) {
                return Err(format!("whatwg.levels: {sum} lines that {name} accepts, of {accepted}"));
            }
        }
        let not_valid = judged - self.too_long - self.lines(Level::Valid);
        if self.not_utf8 > not_valid || self.errors.iter().any(|error| error.lines > not_valid) {
            return Err("whatwg.errors: more lines than are not valid".to_owned());
        }
        let relative = |error: &&ErrorCount| error.name == ValidationError::MissingSchemeNonRelativeUrl;
        let of_relative = self.errors.iter().filter(relative).map(|error| error.lines);
        super::read::same(
            "whatwg.errors",
            "lines without a scheme",
            of_relative,
            self.lines(Level::Relative),
        )?;
        if self.hosts_differ.lines > self.lines(Level::Valid) + self.lines(Level::Errors) {
            return Err("whatwg.hosts_differ: more lines than are URLs".to_owned());
        }
        Ok(())
    }
}
