//! Compares RFC 3986 verdicts and components with the crates fluent-uri and iri-string.
//!
//! All three accept the same lines of the corpora, and of lines that are generated from the rules and mutated. They find the
//! same components in accepted lines. Both crates take text only; lines that are not UTF-8 must be refused by urlsift.

use std::ops::Range;
use std::str;

use fluent_uri::UriRef;
use fluent_uri::component::Scheme;
use fluent_uri::pct_enc::EStr;
use iri_string::types::UriReferenceStr;
use urlsift::grammar::uri_parts::split;
use urlsift::{Grammar, judge};

use crate::support::{family, minimised, on_all_lines};

/// The number of families of lines that are generated and mutated.
const N_FAMILIES: u64 = 100_000;

fn accepts(line: &[u8]) -> bool {
    judge(line).verdict().accepts(Grammar::Rfc3986)
}

/// The names of the peers, and whether each accepts a text.
fn peers(text: &str) -> [(&'static str, bool); 2] {
    [("fluent-uri", UriRef::parse(text).is_ok()), ("iri-string", UriReferenceStr::new(text).is_ok())]
}

/// Whether a peer disagrees with urlsift. With the versions in Cargo.lock, none did on some 34 million lines.
fn differs(line: &[u8]) -> bool {
    let ours = accepts(line);
    let Ok(text) = str::from_utf8(line) else { return ours };
    peers(text).iter().any(|&(_, theirs)| theirs != ours)
}

fn compare(line: &[u8]) {
    if differs(line) {
        let shortest = minimised(line, differs);
        panic!(
            "a peer differs on \"{}\" and still on \"{}\": we say {}, they {:?}",
            line.escape_ascii(),
            shortest.escape_ascii(),
            accepts(&shortest),
            str::from_utf8(&shortest).map(peers),
        );
    }
}

#[test]
fn verdicts_agree() {
    let [n_corpora, n_drawn] = on_all_lines(N_FAMILIES, family, |line| {
        compare(line);
        true
    });
    assert!(n_corpora > 90_000 && n_drawn > 4 * N_FAMILIES);
}

/// The components of a line, in their order in the line.
type Components<'a> = [Option<&'a str>; 8];

fn components_of_fluent_uri(text: &str) -> Components<'_> {
    let uri = UriRef::parse(text).expect("both accept");
    let authority = uri.authority();
    [
        uri.scheme().map(Scheme::as_str),
        authority.map(|authority| authority.as_str()),
        authority.and_then(|authority| authority.userinfo()).map(EStr::as_str),
        authority.map(|authority| authority.host()),
        authority.and_then(|authority| authority.port()).map(EStr::as_str),
        Some(uri.path().as_str()),
        uri.query().map(EStr::as_str),
        uri.fragment().map(EStr::as_str),
    ]
}

fn components_of_iri_string(text: &str) -> Components<'_> {
    let uri = UriReferenceStr::new(text).expect("both accept");
    let authority = uri.authority_components();
    [
        uri.scheme_str(),
        uri.authority_str(),
        authority.and_then(|authority| authority.userinfo()),
        authority.map(|authority| authority.host()),
        authority.and_then(|authority| authority.port()),
        Some(uri.path_str()),
        uri.query_str(),
        uri.fragment_str(),
    ]
}

fn components_of_library(text: &str) -> Components<'_> {
    let parts = split(text.as_bytes());
    let text = |range: Option<Range<usize>>| range.map(|range| &text[range]);
    [
        text(parts.scheme),
        text(parts.authority),
        text(parts.userinfo),
        text(parts.host),
        text(parts.port),
        text(Some(parts.path)),
        text(parts.query),
        text(parts.fragment),
    ]
}

#[test]
fn components_agree() {
    let [n_corpora, n_drawn] = on_all_lines(N_FAMILIES, family, |line| {
        if !accepts(line) {
            return false;
        }
        let text = str::from_utf8(line).expect("accepted lines are ASCII");
        let ours = components_of_library(text);
        assert_eq!(ours, components_of_fluent_uri(text), "fluent-uri, \"{text}\"");
        assert_eq!(ours, components_of_iri_string(text), "iri-string, \"{text}\"");
        true
    });
    assert!(n_corpora > 50_000 && n_drawn > N_FAMILIES * 4 / 3, "{n_corpora} of corpora, {n_drawn} drawn");
}
