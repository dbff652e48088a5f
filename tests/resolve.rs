//! Resolved references compared with the examples and the pseudo code of RFC 3986.
//!
//! `benches/tests/resolve.rs` compares them with other crates.

use proptest::prelude::*;
use urlsift::grammar::resolve::Base;
use urlsift::{Grammar, judge};

use crate::support::references::{check_pairs, components, target as target_of};

fn accepts(line: &[u8]) -> bool {
    judge(line).verdict().accepts(Grammar::Rfc3986)
}

fn resolved(base: &str, reference: &str) -> String {
    let mut target = b"what was there before".to_vec();
    Base::new(base.as_bytes()).unwrap().resolve(reference.as_bytes(), &mut target);
    String::from_utf8(target).unwrap()
}

/// RFC 3986, section 5.4, with the base `http://a/b/c/d;p?q`. For `http:g` the document has two results; this is the strict
/// one.
const OF_RFC3986: &[(&str, &str)] = &[
    // 5.4.1, normal examples
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
    // 5.4.2, abnormal examples
    ("../../../g", "http://a/g"),
    ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"),
    ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("http:g", "http:g"),
];

/// RFC 1808, section 5, has the same references, a base with a fragment, and other targets for `;x`, the empty reference, and dot-segments
/// of absolute paths.
#[test]
fn the_examples_of_rfc_3986() {
    for &(reference, target) in OF_RFC3986 {
        for base in ["http://a/b/c/d;p?q", "http://a/b/c/d;p?q#f"] {
            assert_eq!(resolved(base, reference), target, "{base} {reference:?}");
        }
    }
}

/// Results where the documents are ambiguous.
#[test]
fn ambiguous_references() {
    for (base, reference, target) in [
        // A path that begins with "//" without an authority before it.
        ("a:/", ".//b", "a:/.//b"),
        ("a:/", "/.//b:c", "a:/.//b:c"),
        ("a:", ".///b", "a:/.//b"),
        ("a:b/c", "..//d", "a:/.//d"),
        ("a:/.//b", "c", "a:/.//c"),
        ("x:", "a:/..//b?c#d", "a:/.//b?c#d"),
        ("x:", "a:/.//b", "a:/.//b"),
        ("a://b", ".//c", "a://b//c"),
        // A path without a leading "/" that gets one.
        ("mailto:a/b", "../../c", "mailto:/c"),
        ("x:", "mailto:a/../b", "mailto:/b"),
        ("urn:a:b", "c", "urn:c"),
        ("urn:a:b", "#c", "urn:a:b#c"),
        // The base's path has no "/" at its end.
        ("http://a", "b", "http://a/b"),
        ("http://a", "..", "http://a/"),
        ("http://a?b", "", "http://a?b"),
        ("http://a?b/c", "d", "http://a/d"),
        ("http://a/b/..", "c", "http://a/b/c"),
        // Dot-segments of the base remain if its whole path is kept.
        ("http://a/b/../c", "?d", "http://a/b/../c?d"),
        ("http://a/b/../c", "d", "http://a/d"),
        // An empty component differs from an absent one.
        ("http://a/b?c", "?", "http://a/b?"),
        ("http://a/b?c", "#", "http://a/b?c#"),
        ("http://a/b?c", "//", "http://"),
        ("file:///a", "//b", "file://b"),
        ("http://a/b?c", "http:", "http:"),
        // Nothing is normalised.
        ("HTTP://A:80/%2e%2E/", "%7e/%2E%2E/B", "HTTP://A:80/%2e%2E/%7e/%2E%2E/B"),
    ] {
        assert_eq!(resolved(base, reference), target, "{base} {reference}");
    }
}

/// Checks one reference, if RFC 3986 accepts it and the base. Returns whether it does.
fn check(base: &[u8], reference: &[u8]) -> bool {
    let Ok(parsed) = Base::new(base) else { return false };
    let mut target = Vec::new();
    parsed.resolve(reference, &mut target);
    if !accepts(reference) {
        return false;
    }
    let expected = target_of(parsed.as_bytes(), reference);
    let text = format!("{} {}", base.escape_ascii(), reference.escape_ascii());
    assert_eq!(target.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{text}");
    assert!(accepts(&target), "{text}: RFC 3986 refuses {}", target.escape_ascii());
    // The target has a scheme and resolves to itself, unless it keeps dot-segments of the base.
    let mut again = Vec::new();
    parsed.resolve(&target, &mut again);
    let resolves_to_itself = again == target || components(reference).path.is_empty();
    assert!(resolves_to_itself, "{text}: {} {}", target.escape_ascii(), again.escape_ascii());
    true
}

#[test]
fn targets_equal_those_of_the_pseudo_code() {
    check_pairs(check);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing panics on arbitrary bytes, and accepted references have accepted targets.
    #[test]
    fn any_bytes(base: Vec<u8>, reference: Vec<u8>, path in "(x:|//h)?[./ab:?#%]{0,30}") {
        for base in [&base[..], b"http://a/b/c", b"x:", b"x:/", b"x:y/z"] {
            check(base, &reference);
            check(base, path.as_bytes());
            check(&[b"x:", base].concat(), path.as_bytes());
        }
    }
}
