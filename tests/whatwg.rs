//! The shortcut of the WHATWG parser, which looks at scheme and host alone, says what the parser says.

use std::path::Path;
use std::sync::LazyLock;
use std::{fs, iter};

use urlsift::internal::{is_plain_iri, known_level, level_by_host};
use urlsift::whatwg::{Level, Parsed, Url, hosts_differ, parse};
use urlsift::{Grammar, judge};

use crate::reference::Rng;
use crate::support::{amount, corpus_lines, family, mutated, on_all_cores, unescape};

/// Bases that change no host of a line with a known level and a scheme.
static BASES: LazyLock<[Url; 3]> = LazyLock::new(|| {
    ["http://base.example/", "file://server/", "x://y/"]
        .map(|base| parse(base.as_bytes(), None).url().cloned().unwrap())
});

/// Compares the shortcut with the parser. Returns whether the shortcut knows the level.
///
/// # Panics
///
/// If they differ.
fn check(line: &[u8]) -> bool {
    let level = known_level(line, judge(line).verdict().accepts(Grammar::Rfc3986));
    if let Some(level) = level {
        let parsed = parse(line, None);
        let name = line.escape_ascii();
        assert_eq!(parsed.level(), level, "{name}");
        assert_eq!(parsed.errors().len(), usize::from(level == Level::Relative), "{name}");
        let differ = |parsed: &Parsed, base| parsed.url().is_some_and(|url| hosts_differ(line, base, url));
        assert!(!differ(&parsed, None), "{name}");
        for base in BASES.iter().filter(|_| level == Level::Valid) {
            assert!(!differ(&parse(line, Some(base)), Some(base)), "{name} {base}");
        }
    }
    level.is_some()
}

#[test]
fn the_shortcut_agrees_with_the_parser_on_conformance_cases_and_corpora() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/whatwg.tsv");
    let cases = fs::read_to_string(cases).unwrap();
    let rows = cases.lines().filter(|line| !line.starts_with("# "));
    let lines = rows.map(|row| unescape(row.split('\t').next().unwrap())).chain(corpus_lines());
    let n_known = lines.filter(|line| check(line)).count();
    assert!(n_known > 5000, "{n_known}");
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
        "",
        "",
        "/",
        "/a",
        "?",
        "?a=b/c?",
        "#",
        "#f",
        "//x",
        "/c:/..",
        "/%2e%2E/'",
        "@h/",
        "/:@!$&'()*+,;=~",
        ":8",
        "/\u{e9}?\u{20ac}#\u{1f600}",
        "?\u{a0}",
        "/\u{9f}",
        "#\u{fdd0}",
        "#\u{e9}#",
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
        assert!(is_plain_iri(line.as_bytes()), "{line}");
    }
    for line in [
        "http://\u{e9}/",
        "http://h/\u{e9}#a#",
        "http://h/\u{e9} ",
        "http://h/\u{e9}\\",
        "1:\u{e9}",
        "\u{e9}",
        "http:\u{e9}",
    ] {
        assert!(!is_plain_iri(line.as_bytes()), "{line}");
    }
    assert!(!is_plain_iri(b"http://h/\xe9"));
}

#[test]
fn the_shortcut_knows_addresses_without_an_error() {
    let is_known = |line: &str| level_by_host(line.as_bytes()) == Some(Level::Valid);
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
    let is_known = |line: &str| level_by_host(line.as_bytes()) == Some(Level::Valid);
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
    assert_eq!(level_by_host(b"//h/a"), Some(Level::Relative));
    for line in
        ["http:a", "http:///a", "http://u@h/", "http://[::1]/", "http://h%41/", "file:a", "file://h:8/"]
    {
        assert_eq!(level_by_host(line.as_bytes()), None, "{line}");
    }
}
