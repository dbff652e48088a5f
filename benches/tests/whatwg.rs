//! The WHATWG parser compared with other implementations of the standard: npm's whatwg-url, and the crates ada-url and url.
//!
//! `tests/conformance/whatwg.tsv` has lines, bases, and what whatwg-url says of them, so that no Node is needed. Its lines are those of
//! Web Platform Tests. The tests that are ignored ask Node, about the lines of that file, of the corpora, and about drawn ones;
//! `scripts/test-whatwg` runs them.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{fs, thread};

use urlsift::whatwg::{Level, Url, hosts_differ, parse};

use crate::reference::Rng;
use crate::support::{amount, corpus_lines, family, minimised, mutated, on_all_lines, unescape};

/// A line, and the base that it is parsed against.
type Case = (Vec<u8>, Option<Vec<u8>>);

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/conformance/whatwg.tsv")
}

/// The cases of the file, and the expected rows.
fn cases() -> Vec<(Case, String)> {
    let text = fs::read_to_string(file()).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with("# ")).map(|row| {
        let mut fields = row.splitn(3, '\t');
        let line = unescape(fields.next().unwrap());
        let base = fields.next().filter(|base| *base != "-").map(unescape);
        ((line, base), fields.next().unwrap().to_owned())
    });
    rows.collect()
}

fn url(text: &[u8]) -> Option<Url> {
    parse(text, None).url().cloned()
}

/// Level, errors, host and URL, as the oracle writes them.
fn row((line, base): &Case) -> String {
    let base = base.as_deref().and_then(url);
    let parsed = parse(line, base.as_ref());
    let errors: Vec<_> = parsed.errors().iter().map(|found| found.error.name()).collect();
    let errors = if errors.is_empty() { "none".to_owned() } else { errors.join(",") };
    let host = parsed.url().and_then(|url| url.host.clone()).unwrap_or("-".to_owned());
    let href = parsed.url().map_or("-".to_owned(), ToString::to_string);
    format!("{}\t{errors}\t{host}\t{href}", parsed.level())
}

#[test]
fn cases_have_the_answers_of_whatwg_url() {
    let cases = cases();
    assert!(cases.len() > 3000);
    for (case, expected) in cases {
        assert_eq!(row(&case), expected, "{} {:?}", case.0.escape_ascii(), case.1.map(String::from_utf8));
    }
}

#[test]
fn a_parsed_url_is_what_its_serialisation_is_parsed_to() {
    let lines = corpus_lines();
    let lines_of = |seed| {
        let mut some = family(seed);
        some.push(drawn(&mut Rng::new(seed), &lines).0);
        some
    };
    on_all_lines(amount(20_000, 1_000_000), lines_of, |line| {
        let parsed = parse(line, None);
        assert!(parsed.errors().iter().all(|found| found.offset <= line.len()), "{}", line.escape_ascii());
        assert_eq!(parsed.url().is_none(), matches!(parsed.level(), Level::Failure | Level::Relative));
        let Some(parsed) = parsed.url().cloned() else { return false };
        assert_eq!(url(parsed.to_string().as_bytes()), Some(parsed), "{}", line.escape_ascii());
        true
    });
}

/// What parsers stumble over.
const PIECES: &[&[u8]] = &[
    b"http:",
    b"https://",
    b"file:",
    b"ws://",
    b"ftp:",
    b"a:",
    b"//",
    b"/",
    b"\\",
    b"@",
    b":",
    b"?",
    b"#",
    b"%",
    b"%2e",
    b"%00",
    b".",
    b"..",
    b"[",
    b"]",
    b"::",
    b"1",
    b"0x",
    b"08",
    b"256",
    b"65536",
    b"xn--",
    b"-",
    b"C|",
    b"c:",
    b" ",
    b"\t",
    b"\n",
    b"\0",
    b"\xff",
    b"'",
    b"\"",
    b"<",
    b"^",
    b"`",
    b"{",
    b"|",
    b"~",
    b"%zz",
    b"A",
    b"localhost",
    "\u{e9}".as_bytes(),
    "\u{200d}".as_bytes(),
    "\u{fffe}".as_bytes(),
    "\u{85}".as_bytes(),
    b"%C3%A9",
    "\u{ff0e}".as_bytes(),
    "\u{1d7cf}".as_bytes(),
    "\u{5d0}".as_bytes(),
    "\u{df}".as_bytes(),
];

const BASES: &[&[u8]] = &[
    b"http://h/a/b?q#f", b"https://u:p@h:8/", b"file:///C:/x/y", b"file://h/p", b"mailto:a@b", b"x://h/a/b",
    b"x:/a/b", b"about:blank",
];

/// A line of `pool`, changed in a few places, and perhaps a base.
fn drawn(rng: &mut Rng, pool: &[Vec<u8>]) -> Case {
    let mut line = pool[rng.below(pool.len())].clone();
    line.truncate(200);
    for _ in 0..rng.below(5) {
        // Most of what parsers decide is at the start.
        let range = if rng.below(2) == 0 { 12 } else { 200 };
        let at = rng.below(line.len().min(range) + 1);
        match rng.below(8) {
            0..4 => drop(line.splice(at..at, PIECES[rng.below(PIECES.len())].iter().copied())),
            4 => line = mutated(&line, rng),
            5 => line.truncate(at),
            6 => drop(line.drain(at..line.len().min(at + 3))),
            _ => {
                let other = &pool[rng.below(pool.len())];
                let from = rng.below(other.len() + 1);
                drop(line.splice(at..at, other[from..].iter().copied().take(20)));
            }
        }
    }
    (line, (rng.below(3) == 0).then(|| BASES[rng.below(BASES.len())].to_vec()))
}

/// What whatwg-url says of cases.
fn oracle(cases: &[Case]) -> Vec<String> {
    let script = std::env::var_os("URLSIFT_WHATWG_ORACLE").expect("scripts/test-whatwg runs this");
    let mut node =
        Command::new("node").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = node.stdin.take().unwrap();
    let mut text = String::new();
    let digits =
        |bytes: &[u8], text: &mut String| bytes.iter().for_each(|byte| _ = write!(text, "{byte:02x}"));
    for (line, base) in cases {
        digits(line, &mut text);
        if let Some(base) = base {
            text.push(' ');
            digits(base, &mut text);
        }
        text.push('\n');
    }
    let writer = thread::spawn(move || input.write_all(text.as_bytes()).unwrap());
    let output = node.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    let rows: Vec<_> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(rows.len(), cases.len());
    rows
}

#[test]
#[ignore = "needs Node and npm's whatwg-url"]
fn node_gives_the_answers_of_the_file() {
    let (cases, expected): (Vec<_>, Vec<_>) = cases().into_iter().unzip();
    let rows = oracle(&cases);
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        let text = fs::read_to_string(file()).unwrap();
        let mut rows = rows.iter();
        let lines = text.lines().map(|line| {
            let key = line.splitn(3, '\t').take(2).collect::<Vec<_>>().join("\t");
            if line.starts_with("# ") {
                format!("{line}\n")
            } else {
                format!("{key}\t{}\n", rows.next().unwrap())
            }
        });
        return fs::write(file(), lines.collect::<String>()).unwrap();
    }
    assert_eq!(rows, expected);
}

#[test]
#[ignore = "needs Node and npm's whatwg-url"]
fn node_gives_the_same_answers_for_the_corpora_and_drawn_lines() {
    const AT_ONCE: u64 = 50_000;
    let same = |cases: &[Case]| {
        for (case, expected) in cases.iter().zip(oracle(cases)) {
            assert_eq!(row(case), expected, "{} {:?}", case.0.escape_ascii(), case.1);
        }
    };
    // The oracle reads a line of no digits as no line.
    let mut pool: Vec<_> = corpus_lines().into_iter().filter(|line| !line.is_empty()).collect();
    same(&pool.iter().map(|line| (line.clone(), None)).collect::<Vec<_>>());
    pool.extend(cases().into_iter().map(|((line, _), _)| line));
    for chunk in 0..amount(100_000, 1_000_000).div_ceil(AT_ONCE) {
        let drawn = (0..AT_ONCE).map(|n| drawn(&mut Rng::new(chunk * AT_ONCE + n), &pool));
        same(&drawn.filter(|(line, _)| !line.is_empty()).collect::<Vec<_>>());
    }
}

#[test]
fn hosts_differ_where_parsers_read_other_delimiters() {
    let cases = [
        ("http://a/", false),
        ("HTTP://A.example:80/", false),
        ("http://a\\@b/", true),
        ("http://a@b@c/", false),
        ("http:a/", true),
        ("http:///a/", true),
        ("http://%41/", false),
        ("http://\u{e9}.example/", false),
        ("http://[0:0::1]/", false),
        ("http://0x7f.1/", true),
        ("http://127.0.0.1/", false),
        ("http://1.2.3.4.:80/", true),
        ("http://\u{2460}.\u{2461}.\u{2462}.\u{2463}/", true),
        ("http://%31.2.3.4/", true),
        (" http://a/", true),
        ("http://a\tb/", true),
        ("http://a#@b/", false),
        ("file://localhost/x", false),
        ("file:///x", false),
        ("file://C:/x", true),
        ("x://H%41/", false),
        ("x://h\\@b/", false),
        ("mailto:a@b", false),
        ("x:/.//h", false),
    ];
    let base = url(b"http://base.example/");
    for line in ["1.2.3.4:80/x", "1http://a/", "//a/", "+a:b"] {
        let parsed = parse(line.as_bytes(), base.as_ref());
        assert!(!hosts_differ(line.as_bytes(), base.as_ref(), parsed.url().unwrap()), "{line}: no scheme");
    }
    for (line, differ) in cases {
        let parsed = parse(line.as_bytes(), None);
        assert_eq!(
            parsed.url().is_some_and(|url| hosts_differ(line.as_bytes(), None, url)),
            differ,
            "{line}"
        );
    }
}

/// The serialisation and the host; `None` if the parser fails.
type Outcome = Option<(String, String)>;

fn ours(line: &str) -> Outcome {
    let parsed = parse(line.as_bytes(), None);
    let url = parsed.url()?;
    let host = url.host.clone().unwrap_or_default();
    Some((url.to_string(), host))
}

/// The names of the peers, and what each makes of a line.
fn peers(line: &str) -> [(&'static str, Outcome); 2] {
    let url = url::Url::parse(line).ok();
    let ada = ada_url::Url::parse(line, None).ok();
    [
        ("url", url.map(|url| (url.to_string(), url.host_str().unwrap_or_default().to_owned()))),
        ("ada-url", ada.map(|url| (url.href().to_owned(), url.hostname().to_owned()))),
    ]
}

/// Whether a peer differs, and not for a reason that `tests/conformance/WHATWG.md` lists.
fn differs(line: &[u8]) -> bool {
    let Ok(line) = str::from_utf8(line) else { return false };
    let ours = ours(line);
    peers(line)
        .iter()
        .any(|(peer, theirs)| *theirs != ours && !(*peer == "url" && is_known(line, ours.as_ref())))
}

/// Where the crate url follows an older text of the standard.
fn is_known(line: &str, ours: Option<&(String, String)>) -> bool {
    let line = line.to_ascii_lowercase();
    let Some((href, host)) = ours else {
        // Credentials without a host, and "\\" after the port of a scheme that is not special.
        return line.contains('@') || line.contains('\\');
    };
    href.contains("%5E")
        || href.contains("%20?")
        || href.contains("%20#")
        || href.starts_with("file:")
        || host.contains("xn--")
}

fn compare(line: &[u8]) {
    if differs(line) {
        let shortest = minimised(line, differs);
        let text = str::from_utf8(&shortest).unwrap();
        panic!("\"{}\": we say {:?}, they {:?}", shortest.escape_ascii(), ours(text), peers(text));
    }
}

#[test]
fn url_and_ada_url_take_the_same_lines() {
    on_all_lines(amount(20_000, 400_000), family, |line| {
        compare(line);
        true
    });
}
