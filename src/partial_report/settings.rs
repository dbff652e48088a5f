//! All that changes a count or how it is shown, so that only parts are merged that belong together.

use serde::{Deserialize, Serialize};

use crate::grammar::Grammar;
use crate::grammar::automaton::TABLES;
use crate::input::Codec;
use crate::report::digest;
use crate::run::Reading;
use crate::scan::{DistinctWanted, Options, TopWanted};

/// With what a part was scanned. Merged are only parts for which all of it is the same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of urlsift.
    version: String,
    /// What the grammars' machine was when that was built.
    tables: String,
    grammar: Grammar,
    lengths: bool,
    top: TopWanted,
    distinct: DistinctWanted,
    input_format: Option<String>,
    fields: Vec<String>,
    codec: Option<Codec>,
    show_secrets: bool,
}

impl Settings {
    /// Those of a scan. `codec` is how all inputs are packed, if that was said; with `show_secrets`, passwords in example lines are
    /// kept.
    #[must_use]
    pub fn new(options: &Options, reading: &Reading, codec: Option<Codec>, show_secrets: bool) -> Self {
        let Options { grammar, lengths, top, distinct } = options;
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tables: format!("{TABLES:016x}"),
            grammar: *grammar,
            lengths: *lengths,
            top: *top,
            distinct: *distinct,
            input_format: reading.format.map(|format| format.name().to_owned()),
            fields: reading.fields.iter().map(ToString::to_string).collect(),
            codec,
            show_secrets,
        }
    }

    pub(super) fn show_secrets(&self) -> bool {
        self.show_secrets
    }

    pub(super) fn grammar(&self) -> Grammar {
        self.grammar
    }

    /// The options of the scan.
    pub(super) fn options(&self) -> Options {
        let Self { grammar, lengths, top, distinct, .. } = *self;
        Options { grammar, lengths, top, distinct }
    }

    /// What is not the same, each as it is here and there.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let fields = |settings: &Self| match digest::to_value(settings) {
            serde_json::Value::Object(fields) => fields,
            _ => unreachable!("settings are an object of strings, numbers and lists of them"),
        };
        let others = fields(other);
        let differ = fields(self).into_iter().filter(|(name, value)| others[name] != *value);
        differ.map(|(name, value)| format!("{name}: {value} and {}", others[&name])).collect()
    }
}
