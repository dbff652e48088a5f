//! What browsers make of a URL, by the WHATWG URL Standard.

use std::fmt::Write as _;

use super::{mark, shown};
use crate::cli::commands::listing::push_paragraph;
use urlsift_grammar::escape::Keep;
use urlsift_grammar::whatwg::{Found, Level, Parsed, TwoHosts, Url, parse};

/// Appends the level, the URL and its host, and each error with its place.
pub(super) fn explain(out: &mut String, line: &[u8], base: Option<&Url>, keep: Keep) {
    let parsed = parse(line, base);
    let _ = writeln!(out, "  {:<11}{}", "whatwg", outcome(&parsed, base.is_some(), keep));
    let mut left = parsed.errors().to_vec();
    while let Some(&first) = left.first() {
        let alike: Vec<_> = left.extract_if(.., |found| found.error == first.error).collect();
        let places = places(&alike);
        push_paragraph(out, INDENT, &format!("{}{places}: {}", first.error, first.error.meaning()));
        mark(out, line, first.offset, keep);
    }
    let Some(url) = parsed.url() else { return };
    let hosts = TwoHosts::of(line, base, url);
    let host = |host: &str| if host.is_empty() { "(none)".to_owned() } else { host.to_owned() };
    if hosts.is_some() || parsed.level() == Level::Errors {
        let network = hosts.as_ref().and_then(|hosts| hosts.network);
        let network = network.map_or(String::new(), |network| format!(" ({network})"));
        let host = host(url.host.as_deref().unwrap_or_default());
        let _ = writeln!(out, "{:INDENT$}host: {host}{network}", "");
    }
    if let Some(hosts) = hosts {
        let warning = format!("warning: RFC 3986 finds another host: {}", host(&hosts.rfc3986));
        let _ = writeln!(out, "{:INDENT$}{warning}", "");
        push_paragraph(out, INDENT, hosts.cause.meaning());
    }
}

/// The columns before the text of an error.
const INDENT: usize = 13;

/// What the parser makes of a line, in a few words.
fn outcome(parsed: &Parsed, has_base: bool, keep: Keep) -> String {
    let taken = match (parsed.url(), parsed.level()) {
        (Some(url), _) => format!("takes it as {}", shown(url.to_string().as_bytes(), keep)),
        (None, Level::Relative) if !has_base => "fails without a base (--base URL)".to_owned(),
        (None, _) => "fails".to_owned(),
    };
    let errors = match parsed.errors().len() {
        0 if parsed.level() == Level::Valid => ", without an error".to_owned(),
        0 => String::new(),
        1 => ", with 1 error".to_owned(),
        n => format!(", with {n} errors"),
    };
    let bytes = if parsed.is_utf8() { "" } else { ", and with U+FFFD for bytes that are not UTF-8" };
    format!("{taken}{errors}{bytes}")
}

/// How many places of an error are named.
const MAX_PLACES: usize = 8;

/// The offsets of an error that occurs in several places.
fn places(alike: &[Found]) -> String {
    let shown = alike.iter().take(MAX_PLACES).map(|found| format!("@{}", found.offset));
    let mut out = shown.collect::<Vec<_>>().join(" ");
    if alike.len() > MAX_PLACES {
        let _ = write!(out, " and {} more", alike.len() - MAX_PLACES);
    }
    out
}
