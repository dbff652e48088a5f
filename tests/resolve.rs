//! Targets of references: the examples of RFC 3986 and RFC 1808, a twin that is the documents' pseudo code, and other people's
//! crates.

#[allow(unreachable_pub, clippy::pedantic)]
mod reference;
mod support;
#[path = "twin/mod.rs"]
mod twin;

use std::collections::BTreeMap;
use std::{fs, str};

use fluent_uri::{Uri, UriRef};
use iri_string::format::ToDedicatedString;
use iri_string::types::{UriAbsoluteStr, UriReferenceStr};
use proptest::prelude::*;
use reference::Rng;
use regex::bytes::Regex;
use support::{corpus_files, corpus_lines, family, on_all_cores};
use urlsift::corpus::Scanned;
use urlsift::input::Input;
use urlsift::report::Report;
use urlsift::resolve::Base;
use urlsift::scan::{Options, scan};
use urlsift::{Grammar, Kind, judge};

/// How many references are drawn.
const N_DRAWN: u64 = 200_000;

fn accepts(line: &[u8]) -> bool {
    judge(line).verdict().accepts(Grammar::Rfc3986)
}

fn resolved(base: &str, reference: &str) -> String {
    let mut target = b"what was there before".to_vec();
    Base::new(base.as_bytes()).unwrap().resolve(reference.as_bytes(), &mut target);
    String::from_utf8(target).unwrap()
}

/// RFC 3986, section 5.4, with the base `http://a/b/c/d;p?q`. Of `http:g` the document says two things; this is the strict one.
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

#[test]
fn the_examples_of_rfc_3986() {
    for &(reference, target) in OF_RFC3986 {
        assert_eq!(resolved("http://a/b/c/d;p?q", reference), target, "{reference:?}");
    }
}

/// RFC 1808, section 5, with the base `http://a/b/c/d;p?q#f`.
const OF_RFC1808: &[(&str, &str)] = &[
    // 5.1, normal examples
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/d;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
    // 5.2, abnormal examples
    ("", "http://a/b/c/d;p?q#f"),
    ("../../../g", "http://a/../g"),
    ("../../../../g", "http://a/../../g"),
    ("/./g", "http://a/./g"),
    ("/../g", "http://a/../g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("http:g", "http:g"),
    ("http:", "http:"),
];

/// Where RFC 3986 has changed what RFC 1808 says: the reference, the target now, and why.
const CHANGED_SINCE: [(&str, &str, &str); 6] = [
    (
        ";x",
        "http://a/b/c/;x",
        "\";\" and what is behind it are a part of the segment, no component of their own",
    ),
    ("", "http://a/b/c/d;p?q", "a base has no fragment (5.1)"),
    ("../../../g", "http://a/g", "surplus \"..\" are dropped (5.2.4)"),
    ("../../../../g", "http://a/g", "surplus \"..\" are dropped (5.2.4)"),
    ("/./g", "http://a/g", "dot-segments are removed from absolute paths too (5.2.2)"),
    ("/../g", "http://a/g", "dot-segments are removed from absolute paths too (5.2.2)"),
];

/// "?y" and "http:g" are none of the changes: RFC 2396 made `http://a/b/c/?y` of the one, which RFC 3986 took back, and the other
/// both documents leave as it is.
#[test]
fn the_examples_of_rfc_1808() {
    for &(reference, target) in OF_RFC1808 {
        let changed = CHANGED_SINCE.iter().find(|(of, ..)| *of == reference);
        let (expected, why) = changed.map_or((target, "nothing has changed"), |&(_, now, why)| (now, why));
        assert_eq!(resolved("http://a/b/c/d;p?q#f", reference), expected, "{reference:?}: {why}");
        assert_eq!(changed.is_some(), expected != target, "{reference:?}: {why}");
    }
}

/// What the documents leave open, and what is done.
#[test]
fn what_is_ambiguous() {
    for (base, reference, target) in [
        // A path that begins with "//" and no authority before it.
        ("a:/", ".//b", "a:/.//b"),
        ("a:/", "/.//b:c", "a:/.//b:c"),
        ("a:", ".///b", "a:/.//b"),
        ("a:b/c", "..//d", "a:/.//d"),
        ("a:/.//b", "c", "a:/.//c"),
        ("x:", "a:/..//b?c#d", "a:/.//b?c#d"),
        ("x:", "a:/.//b", "a:/.//b"),
        ("a://b", ".//c", "a://b//c"),
        // A path that begins with no "/", and gets one.
        ("mailto:a/b", "../../c", "mailto:/c"),
        ("x:", "mailto:a/../b", "mailto:/b"),
        ("urn:a:b", "c", "urn:c"),
        ("urn:a:b", "#c", "urn:a:b#c"),
        // No "/" at the end of the base's path.
        ("http://a", "b", "http://a/b"),
        ("http://a", "..", "http://a/"),
        ("http://a?b", "", "http://a?b"),
        ("http://a?b/c", "d", "http://a/d"),
        ("http://a/b/..", "c", "http://a/b/c"),
        // Dot-segments of the base stay where its whole path does.
        ("http://a/b/../c", "?d", "http://a/b/../c?d"),
        ("http://a/b/../c", "d", "http://a/d"),
        // What is empty is not what is not there.
        ("http://a/b?c", "?", "http://a/b?"),
        ("http://a/b?c", "#", "http://a/b?c#"),
        ("http://a/b?c", "//", "http://"),
        ("file:///a", "//b", "file://b"),
        // Nothing is normalized.
        ("HTTP://A:80/%2e%2E/", "%7e/%2E%2E/B", "HTTP://A:80/%2e%2E/%7e/%2E%2E/B"),
    ] {
        assert_eq!(resolved(base, reference), target, "{base} {reference}");
    }
}

/// Components by the regular expression of RFC 3986, appendix B.
struct Components<'a> {
    scheme: Option<&'a [u8]>,
    authority: Option<&'a [u8]>,
    path: &'a [u8],
    query: Option<&'a [u8]>,
    fragment: Option<&'a [u8]>,
}

fn components(text: &[u8]) -> Components<'_> {
    thread_local! {
        static APPENDIX_B: Regex =
            Regex::new(r"(?s-u)^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?").unwrap();
    }
    let found = APPENDIX_B.with(|appendix_b| appendix_b.captures(text).unwrap());
    let group = |n| found.get(n).map(|group: regex::bytes::Match<'_>| &text[group.range()]);
    Components {
        scheme: group(2),
        authority: group(4),
        path: group(5).unwrap(),
        query: group(7),
        fragment: group(9),
    }
}

/// The report's counts against a loop that resolves line by line.
#[test]
fn counts_are_those_of_the_targets() {
    let bases = ["http://base.example/a/b", "file:///a", "x:/a", "mailto:a/b", "http://EXAMPLE.com:81/?"];
    let mut n_resolved = 0;
    for path in corpus_files() {
        let bytes = fs::read(&path).unwrap();
        let mut first = None;
        for url in bases {
            let base = Base::new(url.as_bytes()).unwrap();
            let mut options = Options::default();
            options.base = Some(base.clone());
            options.top.hosts = 60_000;
            let mut scanned = Scanned::default();
            scanned.tally = scan(&bytes, &options);
            let report = Report::new(&scanned, &[Input::standard()], &options, false);
            let counted = report.base.unwrap();

            let (mut resolved, mut absolute, mut refused, mut own_authority) = (0, 0, 0, 0);
            let (mut hosts, mut without_host) = (BTreeMap::new(), 0);
            let mut target = Vec::new();
            for (_, line, _) in twin::lines(&bytes).filter(|(_, line, _)| !line.is_empty()) {
                if !accepts(line) {
                    refused += 1;
                } else if judge(line).kind() == Kind::Absolute {
                    absolute += 1;
                } else {
                    base.resolve(line, &mut target);
                    let target = str::from_utf8(&target).unwrap();
                    let parsed = Uri::parse(target).unwrap();
                    assert_eq!(parsed.scheme().as_str().to_ascii_lowercase(), counted.scheme);
                    let host = parsed.authority().map_or("", |authority| authority.host());
                    match host.len() {
                        1..=255 => *hosts.entry(host.to_ascii_lowercase()).or_insert(0) += 1,
                        _ => without_host += 1,
                    }
                    resolved += 1;
                    own_authority += u64::from(line.starts_with(b"//"));
                }
            }
            let name = format!("{} {url}", path.display());
            assert_eq!(
                (counted.resolved, counted.absolute, counted.refused),
                (resolved, absolute, refused),
                "{name}"
            );
            assert_eq!(
                (counted.own_authority, counted.without_host),
                (own_authority, without_host),
                "{name}"
            );
            assert!(counted.hosts.exact, "{name}");
            let listed = counted.hosts.entries.iter().map(|entry| (entry.name.clone(), entry.lines));
            assert_eq!(listed.collect::<BTreeMap<_, _>>(), hosts, "{name}");
            // A tally knows no base, and tallies for different ones may be merged.
            assert_eq!(*first.get_or_insert(scanned.tally.clone()), scanned.tally, "{name}");
            n_resolved += resolved;
        }
    }
    assert!(n_resolved > 50_000, "{n_resolved}");
}

/// The target by the pseudo code of RFC 3986, section 5.2, as it stands there.
fn twin(base: &[u8], reference: &[u8]) -> Vec<u8> {
    let (base, r) = (components(base), components(reference));
    let (scheme, authority, path, query);
    if r.scheme.is_some() {
        scheme = r.scheme;
        authority = r.authority;
        path = remove_dot_segments(r.path);
        query = r.query;
    } else {
        if r.authority.is_some() {
            authority = r.authority;
            path = remove_dot_segments(r.path);
            query = r.query;
        } else {
            if r.path.is_empty() {
                path = base.path.to_vec();
                query = if r.query.is_some() { r.query } else { base.query };
            } else {
                path = if r.path.starts_with(b"/") {
                    remove_dot_segments(r.path)
                } else {
                    remove_dot_segments(&merge(&base, r.path))
                };
                query = r.query;
            }
            authority = base.authority;
        }
        scheme = base.scheme;
    }
    // Section 5.3.
    let mut result = Vec::new();
    if let Some(scheme) = scheme {
        result.extend([scheme, b":"].concat());
    }
    if let Some(authority) = authority {
        result.extend([b"//", authority].concat());
    }
    // But for this: such a path cannot be written down, and would be an authority.
    if authority.is_none() && path.starts_with(b"//") {
        result.extend(b"/.");
    }
    result.extend(path);
    if let Some(query) = query {
        result.extend([b"?", query].concat());
    }
    if let Some(fragment) = r.fragment {
        result.extend([b"#", fragment].concat());
    }
    result
}

/// Section 5.2.3.
fn merge(base: &Components<'_>, path: &[u8]) -> Vec<u8> {
    if base.authority.is_some() && base.path.is_empty() {
        return [b"/", path].concat();
    }
    match base.path.iter().rposition(|&byte| byte == b'/') {
        Some(last) => [&base.path[..=last], path].concat(),
        None => path.to_vec(),
    }
}

/// Section 5.2.4.
fn remove_dot_segments(path: &[u8]) -> Vec<u8> {
    let (mut input, mut output) = (path.to_vec(), Vec::new());
    while !input.is_empty() {
        if input.starts_with(b"../") {
            input.drain(..3);
        } else if input.starts_with(b"./") {
            input.drain(..2);
        } else if input.starts_with(b"/./") {
            input.splice(..3, *b"/");
        } else if input == b"/." {
            input = b"/".to_vec();
        } else if input.starts_with(b"/../") {
            input.splice(..4, *b"/");
            let last = output.iter().rposition(|&byte| byte == b'/');
            output.truncate(last.unwrap_or(0));
        } else if input == b"/.." {
            input = b"/".to_vec();
            let last = output.iter().rposition(|&byte| byte == b'/');
            output.truncate(last.unwrap_or(0));
        } else if input == b"." || input == b".." {
            input.clear();
        } else {
            let next = input[1..].iter().position(|&byte| byte == b'/');
            output.extend(input.drain(..next.map_or(input.len(), |next| next + 1)));
        }
    }
    output
}

/// A path of a few segments, among them many dots, that says little else.
fn some_path(rng: &mut Rng) -> String {
    const SEGMENTS: [&str; 12] = [".", "..", "..", ".", "..", "", "a", "b", "...", "c;d=.", "%2E%2e", "e:f"];
    let segments: Vec<_> = (0..rng.below(9)).map(|_| SEGMENTS[rng.below(SEGMENTS.len())]).collect();
    segments.join("/")
}

fn some_reference(rng: &mut Rng) -> Vec<u8> {
    const BEFORE: [&str; 12] = ["", "", "", "", "", "/", "/", "//h/", "//u@h:1/", "//", "x:", "http:"];
    const BEHIND: [&str; 8] = ["", "", "", "", "?q/../", "#f", "?#", "?q#f?/./"];
    let path = some_path(rng);
    (BEFORE[rng.below(BEFORE.len())].to_owned() + &path + BEHIND[rng.below(BEHIND.len())]).into_bytes()
}

fn some_base(rng: &mut Rng) -> Vec<u8> {
    const BEFORE: [&str; 8] =
        ["http://a/", "http://a/", "file:///", "x://u:p@[::1]:80", "x:/", "x:", "x:/.//", "x:y"];
    const BEHIND: [&str; 4] = ["", "", "?q/..", "?"];
    (BEFORE[rng.below(BEFORE.len())].to_owned() + &some_path(rng) + BEHIND[rng.below(BEHIND.len())])
        .into_bytes()
}

/// Checks all that is to be said of one reference, if RFC 3986 accepts it and the base. Whether it does.
fn check(base: &[u8], reference: &[u8]) -> bool {
    let Ok(parsed) = Base::new(base) else { return false };
    let mut target = Vec::new();
    parsed.resolve(reference, &mut target);
    if !accepts(reference) {
        return false;
    }
    let expected = twin(parsed.as_bytes(), reference);
    let text = format!("{} {}", base.escape_ascii(), reference.escape_ascii());
    assert_eq!(target.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{text}");
    assert!(accepts(&target), "{text}: RFC 3986 refuses {}", target.escape_ascii());
    // What is resolved has a scheme, and resolves to itself, unless dot-segments of the base were kept.
    let mut again = Vec::new();
    parsed.resolve(&target, &mut again);
    let resolves_to_itself = again == target || components(reference).path.is_empty();
    assert!(resolves_to_itself, "{text}: {} {}", target.escape_ascii(), again.escape_ascii());
    compare_with_peers(parsed.as_bytes(), reference, &target);
    true
}

/// What a peer makes of a reference; `None` if it refuses to resolve it.
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

/// Where a peer is known to say something else than the pseudo code: who, why, on which bases and references that can be, and one of
/// them with what the peer makes of it.
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
        assert_ne!(Some(&*resolved(base, reference)), theirs, "{peer} agrees now; it was listed as: {why}");
        assert!(may(&components(base.as_bytes()), &components(reference.as_bytes())), "{peer}: {why}");
    }
}

#[test]
fn targets_are_those_of_the_twin_and_of_peers() {
    let n = on_all_cores(N_DRAWN, |seed| {
        let mut rng = Rng::new(seed);
        let base = some_base(&mut rng);
        u64::from(check(&base, &some_reference(&mut rng)))
    });
    assert!(n > N_DRAWN / 2, "{n}");
    // Bases and references by the rules of grammars, mutated.
    let n = on_all_cores(N_DRAWN / 20, |seed| {
        let references = family(2 * seed);
        let bases = family(2 * seed + 1);
        bases.iter().flat_map(|base| references.iter().map(|it| u64::from(check(base, it)))).sum()
    });
    assert!(n > N_DRAWN / 20, "{n}");
    let lines = corpus_lines();
    let n = on_all_cores(lines.len() as u64, |n| {
        u64::from(check(b"http://a.example/b/./c?d", &lines[usize::try_from(n).unwrap()]))
    });
    assert!(n > 50_000, "{n}");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the bytes, nothing panics, and what is accepted stays so.
    #[test]
    fn any_bytes(base: Vec<u8>, reference: Vec<u8>, path in "(x:|//h)?[./ab:?#%]{0,30}") {
        for base in [&base[..], b"http://a/b/c", b"x:", b"x:/", b"x:y/z"] {
            check(base, &reference);
            check(base, path.as_bytes());
            check(&[b"x:", base].concat(), path.as_bytes());
        }
    }
}
