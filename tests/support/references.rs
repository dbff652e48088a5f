//! The pseudo code of RFC 3986, section 5.2, and random references and bases to compare.

use regex::bytes::Regex;

use super::{amount, corpus_lines, family, on_all_cores};
use crate::reference::Rng;

/// The components of a reference, by the regular expression of RFC 3986, appendix B.
pub(crate) struct Components<'a> {
    pub(crate) scheme: Option<&'a [u8]>,
    pub(crate) authority: Option<&'a [u8]>,
    pub(crate) path: &'a [u8],
    pub(crate) query: Option<&'a [u8]>,
    pub(crate) fragment: Option<&'a [u8]>,
}

pub(crate) fn components(text: &[u8]) -> Components<'_> {
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

/// Resolves a reference by the pseudo code of RFC 3986, section 5.2.
pub(crate) fn target(base: &[u8], reference: &[u8]) -> Vec<u8> {
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
    // Not in section 5.3: a path that begins with "//" cannot be written without an authority, because it would become one.
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

/// A path of up to eight segments, many of them dots.
fn some_path(rng: &mut Rng) -> String {
    const SEGMENTS: [&str; 12] = [".", "..", "..", ".", "..", "", "a", "b", "...", "c;d=.", "%2E%2e", "e:f"];
    let segments: Vec<_> = (0..rng.below(9)).map(|_| SEGMENTS[rng.below(SEGMENTS.len())]).collect();
    segments.join("/")
}

pub(crate) fn some_reference(rng: &mut Rng) -> Vec<u8> {
    const BEFORE: [&str; 12] = ["", "", "", "", "", "/", "/", "//h/", "//u@h:1/", "//", "x:", "http:"];
    const BEHIND: [&str; 8] = ["", "", "", "", "?q/../", "#f", "?#", "?q#f?/./"];
    let path = some_path(rng);
    (BEFORE[rng.below(BEFORE.len())].to_owned() + &path + BEHIND[rng.below(BEHIND.len())]).into_bytes()
}

pub(crate) fn some_base(rng: &mut Rng) -> Vec<u8> {
    const BEFORE: [&str; 8] =
        ["http://a/", "http://a/", "file:///", "x://u:p@[::1]:80", "x:/", "x:", "x:/.//", "x:y"];
    const BEHIND: [&str; 4] = ["", "", "?q/..", "?"];
    (BEFORE[rng.below(BEFORE.len())].to_owned() + &some_path(rng) + BEHIND[rng.below(BEHIND.len())])
        .into_bytes()
}

/// The number of generated references.
pub(crate) fn n_drawn() -> u64 {
    amount(20_000, 200_000)
}

/// Calls `check` with many bases and references. It returns whether RFC 3986 accepts both.
///
/// # Panics
/// If too few of them are accepted.
pub(crate) fn check_pairs(check: impl Fn(&[u8], &[u8]) -> bool + Sync) {
    let n = on_all_cores(n_drawn(), |seed| {
        let mut rng = Rng::new(seed);
        let base = some_base(&mut rng);
        u64::from(check(&base, &some_reference(&mut rng)))
    });
    assert!(n > n_drawn() / 2, "{n}");
    // Bases and references generated from the rules of the grammars, and mutated.
    let n = on_all_cores(n_drawn() / 20, |seed| {
        let (references, bases) = (family(2 * seed), family(2 * seed + 1));
        bases.iter().flat_map(|base| references.iter().map(|it| u64::from(check(base, it)))).sum()
    });
    assert!(n > n_drawn() / 20, "{n}");
    let lines = corpus_lines();
    let n = on_all_cores(lines.len() as u64, |n| {
        u64::from(check(b"http://a.example/b/./c?d", &lines[usize::try_from(n).unwrap()]))
    });
    assert!(n > 50_000, "{n}");
}
