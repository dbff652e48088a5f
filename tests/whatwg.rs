//! The shortcut of the WHATWG parser, which looks at scheme and host and for what the parser changes, says what the parser says.

use std::iter;
use std::sync::LazyLock;

use urlsift::internal::PlainUrl;
use urlsift::whatwg::{Level, Url, hosts_differ, parse};
use urlsift::{Grammar, judge};

use crate::conformance::rows;
use crate::reference::Rng;
use crate::support::{amount, corpus_lines, family, mutated, on_all_cores};

/// Bases that change no host of a line with a known level and a scheme.
static BASES: LazyLock<[Url; 3]> = LazyLock::new(|| {
    ["http://base.example/", "file://server/", "x://y/"]
        .map(|base| parse(base.as_bytes(), None).url().cloned().unwrap())
});

/// The line as a plain URL, if it is one.
fn plain_url(line: &[u8]) -> Option<PlainUrl> {
    PlainUrl::of(line, judge(line).verdict().accepts(Grammar::Rfc3986))
}

/// Compares what is known of a line without the parser with what the parser says. Returns whether anything is known.
///
/// # Panics
///
/// If they differ.
fn check(line: &[u8]) -> bool {
    let (judgement, name) = (judge(line), line.escape_ascii());
    if judgement.verdict().accepts(Grammar::Rfc3986) && judgement.scheme().is_none() {
        let parsed = parse(line, None);
        assert_eq!((parsed.level(), parsed.errors().len()), (Level::Relative, 1), "{name}");
        return true;
    }
    let Some(plain) = plain_url(line) else { return false };
    for base in iter::once(None).chain(BASES.iter().map(Some)) {
        let parsed = parse(line, base);
        assert!(parsed.level() == Level::Valid && parsed.errors().is_empty(), "{name}");
        let url = parsed.url().unwrap();
        assert!(!hosts_differ(line, base, url), "{name}");
        assert_eq!(plain.host(line).as_deref(), url.host.as_deref().map(str::as_bytes), "{name}");
        if let Some(kept) = plain.kept(line) {
            assert_eq!(*kept.text(line), *url.to_string().as_bytes(), "{name}");
        }
    }
    true
}

#[test]
fn the_shortcut_agrees_with_the_parser_on_conformance_cases_and_corpora() {
    let cases = rows("whatwg.tsv").into_iter().map(|(line, _)| line);
    let lines = cases.chain(corpus_lines());
    let n_known = lines.filter(|line| check(line)).count();
    assert!(n_known > 5000, "{n_known}");
}

#[test]
fn most_web_lines_of_the_corpora_are_their_own_url() {
    let lines: Vec<_> = corpus_lines().into_iter().filter(|line| line.starts_with(b"http")).collect();
    let is_kept = |line: &&Vec<u8>| plain_url(line).is_some_and(|url| url.kept(line).is_some());
    let n_kept = lines.iter().filter(is_kept).count();
    assert!(n_kept * 10 > lines.len() * 8, "{n_kept} of {}", lines.len());
}

/// What the parser changes in a plain URL, and what it leaves.
#[test]
fn a_plain_url_knows_what_the_parser_changes() {
    for (line, href) in [
        ("http://h/", Some("http://h/")),
        ("http://h", Some("http://h/")),
        ("https://h:8/a/b.c?q=%41#f", Some("https://h:8/a/b.c?q=%41#f")),
        ("file:///c:/a", Some("file:///c:/a")),
        ("file://", Some("file:///")),
        ("file://server", Some("file://server/")),
        ("file://localhost/", None),
        ("mailto:A@b?c", Some("mailto:A@b?c")),
        ("x://H", Some("x://H")),
        ("x://h:080/", None),
        ("x:/a/%2e/", None),
        ("x:/.//a", None),
        ("X://h/", None),
        ("http://H/", None),
        ("http://h?q", Some("http://h/?q")),
        ("http://h:/", None),
        ("http://h:80/", None),
        ("http://h/a/..", None),
        ("http://h/.", None),
        ("http://h/%2E%2e/", None),
        ("http://h/?'", None),
        ("http://h/\u{e9}", None),
    ] {
        let kept = plain_url(line.as_bytes()).unwrap().kept(line.as_bytes());
        let form = kept.map(|kept| kept.text(line.as_bytes()));
        assert_eq!(form.as_deref(), href.map(str::as_bytes), "{line}");
        check(line.as_bytes());
    }
}

/// A label of letters with digits and hyphens at random places, of a length near a limit.
fn label(rng: &mut Rng) -> Vec<u8> {
    let len = [1, 2, 3, 4, 5, 8, 62, 63, 64][rng.below(9)];
    let mut label = vec![b'a'; len];
    for _ in 0..rng.below(3) {
        label[rng.below(len)] = b"--0A"[rng.below(4)];
    }
    if rng.below(8) == 0 {
        label.splice(..0, [&b"xn--"[..], b"0x", b""][rng.below(3)].iter().copied());
    }
    label
}

/// An IPv4 address, or nearly one.
fn address(rng: &mut Rng) -> Vec<u8> {
    let part = |rng: &mut Rng| {
        ["0", "1", "9", "10", "99", "127", "255", "256", "01", "0x7f", "1a", ""][rng.below(12)]
    };
    let n_parts = [4, 4, 4, 3, 5][rng.below(5)];
    (0..n_parts).map(|_| part(rng)).collect::<Vec<_>>().join(".").into_bytes()
}

/// A host near a limit. Its labels may be empty, and its length is often one of 252 to 254.
fn host(rng: &mut Rng) -> Vec<u8> {
    if rng.below(6) == 0 {
        return address(rng);
    }
    let n_labels = rng.below(5);
    let mut host = (0..n_labels).map(|_| label(rng)).collect::<Vec<_>>().join(&b'.');
    if rng.below(4) == 0 {
        let len = 252 + rng.below(3);
        let padding = iter::repeat_n(b"bcdefgh.", 32).flatten().copied();
        host = padding.take(len - host.len().min(len)).chain(host).collect();
    }
    if rng.below(12) == 0 {
        host.push(b'.');
    }
    host
}

/// A line that differs from an accepted one in little, or in nothing.
fn near_a_limit(rng: &mut Rng) -> Vec<u8> {
    const SCHEMES: [&str; 16] = [
        "http", "https", "HTTP", "hTTpS", "ftp", "Ftp", "file", "FILE", "ws", "wss", "Wss", "x", "mailto",
        "git+ssh", "fil", "httpss",
    ];
    const PORTS: [&str; 16] = [
        "", "", "", "", "", ":", ":0", ":80", ":443", ":00080", ":9999", ":65535", ":65536", ":99999",
        ":000080", ":123456",
    ];
    const REST: [&str; 19] = [
        "", "", "/", "/a", "?", "?a=b/c?", "#", "#f", "//x", "/c:/..", "/%2e%2E/'", "@h/", "/:@!$&'()*+,;=~",
        ":8", "/\u{e9}?\u{20ac}#\u{1f600}", "?\u{a0}", "/\u{9f}", "#\u{fdd0}", "#\u{e9}#",
    ];
    let mut line = SCHEMES[rng.below(SCHEMES.len())].as_bytes().to_vec();
    line.extend(
        [&b"://"[..], b"://", b"://", b"://", b":", b":/", b":///", b"", b"://u@", b"://u:8@"][rng.below(10)],
    );
    line.extend(host(rng));
    line.extend(PORTS[rng.below(PORTS.len())].bytes());
    line.extend(REST[rng.below(REST.len())].bytes());
    line
}

#[test]
fn the_shortcut_agrees_with_the_parser_on_drawn_lines() {
    let n_lines = amount(20_000, 1_000_000);
    on_all_cores(n_lines, |seed| {
        let mut rng = Rng::new(seed);
        let line = near_a_limit(&mut rng);
        let lines = [mutated(&line, &mut rng), line].into_iter().chain(family(seed));
        lines.inspect(|line| _ = check(line)).count() as u64
    });
}

#[test]
fn the_shortcut_knows_iris_with_plain_hosts() {
    for line in ["http://h/\u{e9}", "x:?\u{e9}#\u{e9}", "file:///c:/\u{e9}", "udp://h:9/\u{1f600}"] {
        assert!(plain_url(line.as_bytes()).is_some(), "{line}");
    }
    for line in [
        "http://\u{e9}/", "http://h/\u{e9}#a#", "http://h/\u{e9} ", "http://h/\u{e9}\\", "1:\u{e9}",
        "\u{e9}", "http:\u{e9}",
    ] {
        assert!(plain_url(line.as_bytes()).is_none(), "{line}");
    }
    assert!(plain_url(b"http://h/\xe9").is_none());
}

#[test]
fn the_shortcut_knows_addresses_without_an_error() {
    let is_known = |line: &str| PlainUrl::of(line.as_bytes(), true).is_some();
    for (host, expected) in [
        ("1.2.3.4", true),
        ("255.0.10.99", true),
        ("1.2.3", false),
        ("1.2.3.04", false),
        ("1.2.3.256", false),
    ] {
        assert_eq!(is_known(&format!("http://{host}:80/")), expected, "{host}");
        assert!(is_known(&format!("udp://{host}:80/")), "an opaque host: {host}");
    }
}

#[test]
fn the_shortcut_knows_plain_lines_of_every_length_of_labels_and_hosts() {
    let is_known = |line: &str| PlainUrl::of(line.as_bytes(), true).is_some();
    for (len, expected) in [(1, true), (62, true), (63, true), (64, false)] {
        let label = "a".repeat(len);
        for host in [label.clone(), format!("{label}.b"), format!("a.{label}"), format!("a.{label}.b")] {
            for scheme in ["http", "https", "ftp", "file", "ws", "wss", "x"] {
                assert_eq!(is_known(&format!("{scheme}://{host}/")), expected, "{scheme} {host}");
                assert_eq!(is_known(&format!("{scheme}://{host}")), expected, "{scheme} {host}");
            }
        }
    }
    for (len, expected) in [(252, true), (253, true), (254, false)] {
        let host = format!("{}{}", "abc.".repeat(60), "b".repeat(len - 240));
        assert_eq!(is_known(&format!("http://{host}/")), expected, "{len}");
    }
    for (port, expected) in
        [("", true), ("0", true), ("8080", true), ("65535", true), ("65536", false), ("123456", false)]
    {
        assert_eq!(is_known(&format!("http://h:{port}?q")), expected, "{port}");
    }
    for line in [
        "//h/a", "http:a", "http:///a", "http://u@h/", "http://[::1]/", "http://h%41/", "file:a",
        "file://h:8/",
    ] {
        assert!(!is_known(line), "{line}");
    }
}
