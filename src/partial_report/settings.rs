//! The settings that change a count or how it is shown. Only parts with equal settings are merged. This file does not
//! know what was counted.

use serde::{Deserialize, Serialize};

use crate::grammar::Grammar;
use crate::grammar::automaton::TABLES;
use crate::input::Codec;
use crate::records::Escape;
use crate::report::digest;
use crate::run::Reading;
use crate::scan::{DistinctWanted, Options, TopWanted};

/// The settings of the scan of a part. Parts are only merged if all of these are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of urlsift.
    version: String,
    /// A hash of the grammar tables in this build.
    tables: String,
    grammar: Grammar,
    lengths: bool,
    top: TopWanted,
    distinct: DistinctWanted,
    input_format: Option<String>,
    fields: Vec<String>,
    delimiter: Option<char>,
    escape: Option<Escape>,
    log_format: Option<String>,
    codec: Option<Codec>,
    show_secrets: bool,
}

impl Settings {
    /// Collects the settings of a scan.
    ///
    /// `codec` is the compression of all inputs, if it was chosen. With `show_secrets`, passwords in examples are
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
            delimiter: reading.delimiter,
            escape: reading.escape,
            log_format: reading.log_format.clone(),
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

    /// Describes the settings that differ, each with both values.
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
