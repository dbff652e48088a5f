//! Compares resolved references with the crates iri-string and fluent-uri, and with the crate url, as browsers resolve them.
//!
//! The bases and references are those of `tests/resolve.rs`, which compares the results with the pseudo code of RFC 3986.

use std::str;

use fluent_uri::{Uri, UriRef};
use iri_string::format::ToDedicatedString;
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};
use urlsift::grammar::resolve::Base;
use urlsift::{Grammar, judge};

use crate::reference::Rng;
use crate::support::on_all_cores;
use crate::support::references::{Components, check_pairs, components, n_drawn, some_base, some_reference};

/// Resolves a reference against a base; `None` if the peer refuses to.
type Peer = fn(&str, &str) -> Option<String>;

const PEERS: [(&str, Peer); 2] = [
    ("iri-string", |base, reference| {
        let base = UriAbsoluteStr::new(base).unwrap();
        Some(UriReferenceStr::new(reference).unwrap().resolve_against(base).to_dedicated_string().into())
    }),
    ("fluent-uri", |base, reference| {
        let base = Uri::parse(base).unwrap();
        UriRef::parse(reference).unwrap().resolve_against(&base).ok().map(Uri::into_string)
    }),
];

/// A known difference between a peer and the pseudo code: the reason, the bases and references that it concerns, and an
/// example with the peer's result.
struct Difference {
    peer: &'static str,
    why: &'static str,
    may: fn(&Components<'_>, &Components<'_>) -> bool,
    example: (&'static str, &'static str, Option<&'static str>),
}

const DIFFERENCES: [Difference; 6] = [
    Difference {
        peer: "iri-string",
        why: "it takes %2E for a dot",
        may: has_escaped_dot,
        example: ("http://a/b/c", "%2e%2E/d", Some("http://a/d")),
    },
    Difference {
        peer: "fluent-uri",
        why: "it takes %2E for a dot, and says so",
        may: has_escaped_dot,
        example: ("http://a/b/c", "%2e%2E/d", Some("http://a/d")),
    },
    Difference {
        peer: "fluent-uri",
        why: "it leaves the dot-segments of a path that begins with no \"/\", where there is no authority",
        may: |_, reference| is_rootless(reference),
        example: ("http://a", "x:y/../z", Some("x:y/../z")),
    },
    Difference {
        peer: "fluent-uri",
        why: "it resolves nothing but fragments against a base with such a path, and says so",
        may: |base, reference| is_rootless(base) && reference.scheme.is_none(),
        example: ("x:y/z", "a", None),
    },
    Difference {
        peer: "fluent-uri",
        why: "it removes dot-segments of a base whose path is kept, and says so",
        may: |_, reference| reference.path.is_empty(),
        example: ("http://a/b/../c", "?d", Some("http://a/c?d")),
    },
    Difference {
        peer: "fluent-uri",
        why: "it merges what ends in \"..\" as if a \"/\" followed, as erratum 4789 wants it, and says so",
        may: |base, _| base.path.ends_with(b".."),
        example: ("http://a/b/..", "c", Some("http://a/c")),
    },
];

fn has_escaped_dot(base: &Components<'_>, reference: &Components<'_>) -> bool {
    [base.path, reference.path].concat().windows(3).any(|three| three.eq_ignore_ascii_case(b"%2e"))
}

fn is_rootless(uri: &Components<'_>) -> bool {
    uri.scheme.is_some() && uri.authority.is_none() && !uri.path.starts_with(b"/")
}

fn compare_with_peers(base: &[u8], reference: &[u8], target: &[u8]) {
    let texts = [base, reference, target].map(|text| str::from_utf8(text).unwrap());
    let (base, reference) = (components(base), components(reference));
    for (name, peer) in PEERS {
        let theirs = peer(texts[0], texts[1]);
        let may_differ =
            || DIFFERENCES.iter().any(|known| known.peer == name && (known.may)(&base, &reference));
        assert!(theirs.as_deref() == Some(texts[2]) || may_differ(), "{name}: {texts:?}, and not {theirs:?}");
    }
}

#[test]
fn known_differences_are_still_there() {
    for Difference { peer, why, may, example: (base, reference, theirs) } in DIFFERENCES {
        let (_, of_peer) = PEERS.into_iter().find(|(name, _)| *name == peer).unwrap();
        assert_eq!(of_peer(base, reference).as_deref(), theirs, "{peer}: {why}");
        let mut ours = Vec::new();
        Base::new(base.as_bytes()).unwrap().resolve(reference.as_bytes(), &mut ours);
        assert_ne!(str::from_utf8(&ours).ok(), theirs, "{peer} agrees now; it was listed as: {why}");
        assert!(may(&components(base.as_bytes()), &components(reference.as_bytes())), "{peer}: {why}");
    }
}

/// Compares the target of one reference, if RFC 3986 accepts base and reference. Returns whether it did.
fn check(base: &[u8], reference: &[u8]) -> bool {
    let Ok(base) = Base::new(base) else { return false };
    if !judge(reference).verdict().accepts(Grammar::Rfc3986) {
        return false;
    }
    let mut target = Vec::new();
    base.resolve(reference, &mut target);
    compare_with_peers(base.as_bytes(), reference, &target);
    true
}

#[test]
fn targets_agree() {
    check_pairs(check);
}

/// Why RFC 3986 and the WHATWG URL Standard may give different targets.
fn differs_from_browsers(base: &Components<'_>, reference: &Components<'_>) -> Option<&'static str> {
    let is_special = |scheme: &[u8]| matches!(scheme, b"http" | b"https" | b"ftp" | b"file");
    match reference.scheme {
        Some(scheme) if !is_special(scheme) => Some("a path without a scheme of the web may be opaque"),
        Some(_) if reference.authority.is_none() => Some("a scheme that is that of the base is ignored"),
        _ if reference.authority.is_some_and(<[u8]>::is_empty) => Some("more than two slashes are two"),
        _ if has_escaped_dot(base, reference) => Some("%2E is a dot"),
        _ if base.path.ends_with(b"..") => Some("a \"/\" follows \"..\" at the end of a base"),
        _ => None,
    }
}

/// Links of pages have the targets that they have in browsers. Targets are compared after their normalization.
#[test]
fn targets_are_those_of_browsers() {
    let n = on_all_cores(n_drawn(), |seed| {
        let mut rng = Rng::new(seed);
        let (base, reference) = (some_base(&mut rng), some_reference(&mut rng));
        let Ok(parsed) = Base::new(&base) else { return 0 };
        if !base.starts_with(b"http://") || !judge(&reference).verdict().accepts(Grammar::Rfc3986) {
            return 0;
        }
        let mut target = Vec::new();
        parsed.resolve(&reference, &mut target);
        let [base_text, reference_text, target] =
            [&base, &reference, &target].map(|text| str::from_utf8(text).unwrap());
        let theirs = url::Url::parse(base_text).unwrap().join(reference_text).ok();
        let is_equal = theirs.is_some() && url::Url::parse(target).ok() == theirs;
        let known = differs_from_browsers(&components(&base), &components(&reference));
        assert!(is_equal || known.is_some(), "{base_text} {reference_text}: {target}, and not {theirs:?}");
        u64::from(known.is_none())
    });
    assert!(n > n_drawn() / 20, "{n}");
}
