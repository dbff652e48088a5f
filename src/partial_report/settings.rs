//! The settings that change a count or how it is shown. Only parts with equal settings are merged. This file does not
//! know what was counted.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::report::digest;
use crate::run::Reading;
use crate::run::builder::Scan;
use crate::scan::{Options, WhatwgWanted};
use crate::tally::{DistinctOf, TopOf};
use urlsift_grammar::Grammar;
use urlsift_grammar::automaton::TABLES;
use urlsift_grammar::password::masked_text;
use urlsift_grammar::public_suffix::SuffixList;
use urlsift_grammar::whatwg::{self, STANDARD, Url};
use urlsift_input::Codec;
use urlsift_records::Escape;

/// The settings of the scan of a part. Parts are only merged if all of these are equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// The version of urlsift.
    version: String,
    /// A hash of the grammar tables in this build.
    tables: String,
    pub(super) grammar: Grammar,
    lengths: bool,
    top: BTreeMap<TopOf, usize>,
    distinct: BTreeSet<DistinctOf>,
    /// The list of public suffixes, if a count depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    suffixes: Option<SuffixSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) whatwg: Option<WhatwgSettings>,
    input_format: Option<String>,
    fields: Vec<String>,
    delimiter: Option<char>,
    escape: Option<Escape>,
    log_format: Option<String>,
    codec: Option<Codec>,
    /// The command of the program that reads the inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pre: Option<String>,
    pub(super) show_secrets: bool,
}

/// A list of public suffixes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SuffixSettings {
    version: String,
    /// Its hash in 16 hexadecimal digits, as in reports.
    hash: String,
}

impl SuffixSettings {
    fn list(&self) -> Option<SuffixList> {
        Some(SuffixList::stand_in(self.version.clone(), u64::from_str_radix(&self.hash, 16).ok()?))
    }
}

/// How the WHATWG parser judges lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WhatwgSettings {
    /// The version of the standard.
    standard: String,
    /// The base, without its password unless passwords are kept.
    base: Option<String>,
}

/// Parses the text of a base.
fn base_of(text: &str) -> Option<Url> {
    whatwg::parse(text.as_bytes(), None).url().cloned()
}

impl Settings {
    /// The settings of a scan. With `show_secrets`, passwords in examples are kept.
    #[must_use]
    pub fn of(scan: &Scan, show_secrets: bool) -> Self {
        Self::new(&scan.options, &scan.reading, scan.codec, show_secrets)
    }

    #[doc(hidden)]
    #[must_use]
    pub fn new(options: &Options, reading: &Reading, codec: Option<Codec>, show_secrets: bool) -> Self {
        let Options { grammar, lengths, top, distinct, suffixes, whatwg } = options;
        let base_of = |wanted: &WhatwgWanted| Some(wanted.base.as_ref()?.shown(show_secrets));
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            tables: format!("{TABLES:016x}"),
            grammar: *grammar,
            lengths: *lengths,
            top: top.clone(),
            distinct: distinct.clone(),
            suffixes: options.wanted().needs_suffixes().then(|| SuffixSettings {
                version: suffixes.version().to_owned(),
                hash: format!("{:016x}", suffixes.hash()),
            }),
            whatwg: whatwg
                .as_ref()
                .map(|wanted| WhatwgSettings { standard: STANDARD.to_owned(), base: base_of(wanted) }),
            input_format: reading.format.map(|format| format.name().to_owned()),
            fields: reading.fields.iter().map(ToString::to_string).collect(),
            delimiter: reading.delimiter,
            escape: reading.escape,
            log_format: reading.log_format.as_deref().map(masked_text),
            codec,
            pre: None,
            show_secrets,
        }
    }

    /// The same settings for what a program makes of the inputs; see [`Input::with_program`](crate::inputs::Input::with_program).
    #[must_use]
    pub fn with_program(self, command: Option<&str>) -> Self {
        Self { pre: command.map(masked_text), ..self }
    }

    /// Checks the base and the hash of the list of suffixes.
    ///
    /// # Errors
    /// If one of them is none.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.suffixes.as_ref().is_some_and(|list| list.list().is_none()) {
            return Err("a hash that is none".to_owned());
        }
        let base = self.whatwg.as_ref().and_then(|whatwg| whatwg.base.as_deref());
        let is_base = |text: &str| base_of(text).is_some_and(|url| url.to_string() == text);
        if base.is_none_or(is_base) { Ok(()) } else { Err("a base that is none".to_owned()) }
    }

    /// The options of the scan.
    pub(super) fn options(&self) -> Options {
        let Self { grammar, lengths, .. } = *self;
        let (top, distinct) = (self.top.clone(), self.distinct.clone());
        let whatwg = self
            .whatwg
            .as_ref()
            .map(|whatwg| WhatwgWanted { base: whatwg.base.as_deref().and_then(base_of) });
        let suffixes = self.suffixes.as_ref().and_then(SuffixSettings::list);
        let suffixes = suffixes.map(Into::into).unwrap_or_default();
        Options { grammar, lengths, top, distinct, suffixes, whatwg }
    }

    /// Describes the settings that differ, each with both values.
    pub(super) fn differences(&self, other: &Self) -> Vec<String> {
        let fields = |settings: &Self| match digest::to_value(settings) {
            Value::Object(fields) => fields,
            _ => unreachable!("settings are an object of strings, numbers and lists of them"),
        };
        let (own, others) = (fields(self), fields(other));
        let names: BTreeSet<_> = own.keys().chain(others.keys()).collect();
        let value =
            |fields: &Map<String, Value>, name| fields.get(name).map_or("none".to_owned(), Value::to_string);
        let values = names.into_iter().map(|name| (name, value(&own, name), value(&others, name)));
        let differ = values.filter(|(_, own, other)| own != other);
        differ.map(|(name, own, other)| format!("{name}: {own} and {other}")).collect()
    }
}
