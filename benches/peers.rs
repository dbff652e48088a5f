//! Compares urlsift's speed with other URL checkers, and with `memchr` finding the lines, on the same bytes.
//!
//! Run it by `cargo bench -p urlsift-benches --bench peers`. It uses one core. Every peer but DuckDB and Polars goes through the
//! whole text, finds its lines, and counts those that it accepts; blank lines are skipped. The peers do different work:
//!
//! | peer | what it decides about a line | what it does not decide |
//! |---|---|---|
//! | `memchr` split | nothing: it finds the lines | anything else |
//! | urlsift scan | RFC 3986 and four more grammars; counts schemes, defects and advisories | |
//! | fluent-uri | RFC 3986, and the places of the components | other grammars, defects |
//! | iri-string, regex, dense automaton, Hyperscan | RFC 3986, yes or no | components, other grammars, defects |
//! | ada-url `can_parse` | whether a browser accepts it as a URL, yes or no | RFC 3986, relative references |
//! | ada-url, url | the same, the host, and the URL as a browser rewrites it | RFC 3986, relative references |
//! | urlsift lines | the same, as rows of tab-separated values | RFC 3986 |
//! | DuckDB, Polars | the scheme of each line of a column, and the lines of each | whether a line is valid |
//!
//! "A browser" means the WHATWG URL Standard. It accepts spaces, non-ASCII bytes and much else that RFC 3986 refuses. It
//! refuses relative references at their missing scheme, and also impossible hosts and ports. The counts of these peers are
//! therefore printed and not compared. The peers for RFC 3986 must accept exactly what urlsift accepts under it. They are
//! compared line by line on all samples, and by count on each corpus.
//!
//! Each peer runs under its best conditions:
//!
//! - Peers that take text get text that is known to be UTF-8. None spends time on that check.
//! - regex and the dense automaton use the expression of `benches/expression.rs`, anchored at both ends, without Unicode. The automaton is
//!   minimal, built in advance, and walked by hand. Its own search stops at the first dead state, but takes a tenth longer on such lists. A
//!   table without byte classes is no faster.
//! - ada-url compiles its C++ with cargo's defaults. `CXXFLAGS=-march=native cargo bench -p urlsift-benches --bench peers` lets it use all vector
//!   instructions of the machine, and was not faster.
//! - Hyperscan is the system's library; `benches/hyperscan.rs` describes how it is called. Without it, the bench says so and continues.
//!   `LD_LIBRARY_PATH` can choose another build of it.
//! - DuckDB and Polars are the Python packages. `benches/columns.py` describes the queries. They read no lines: the column exists
//!   before the time is taken. `PYTHON=PATH` names a Python that has both and `pyarrow`; without them, the bench says so and continues.
//!   They run after the rounds of the others. Their counts must equal those of urlsift.
//!
//! The peers take turns, since ratios of rows that are measured one after another are unreliable on a busy machine. As a test, without
//! the argument `--bench` that `cargo bench` adds, it only compares the answers.

mod expression;
mod hyperscan;

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use fluent_uri::UriRef;
use iri_string::types::UriReferenceStr;
use memchr::memchr_iter;
use regex::bytes::RegexBuilder;
use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::{start, syntax};
use urlsift::columns::COLUMNS;
use urlsift::internal::rows::{Records, count_rows};
use urlsift::internal::run::KernelId;
use urlsift::internal::scan::{self, Scanners, scan};
use urlsift::{Grammar, judge};

use crate::hyperscan::Hyperscan;

/// The lists of web addresses other than `top100.txt`.
const WEB: [&str; 6] = [
    "apache_referers.txt", "debian_homepages.txt", "ebook_links.txt", "kasztp.txt", "ldp_urls.txt",
    "osm_community.txt",
];

/// What a peer's acceptance means.
#[derive(Clone, Copy, PartialEq)]
enum Means {
    /// RFC 3986 accepts the line, and it is not blank.
    Rfc3986,
    /// Anything else.
    Other,
}

/// A program that counts the lines that it accepts.
struct Peer {
    name: &'static str,
    means: Means,
    /// What it decides about a line.
    checks: &'static str,
    /// What a scan decides and this peer does not.
    leaves_out: &'static str,
    /// Counts the lines of a text that it accepts. Each line of the text ends in LF.
    accepted: Box<dyn Fn(&str) -> u64>,
}

impl Peer {
    fn rfc3986(name: &'static str, accepted: impl Fn(&str) -> u64 + 'static) -> Self {
        Self {
            name,
            means: Means::Rfc3986,
            checks: "RFC 3986, yes or no",
            leaves_out: "components, other grammars, defects",
            accepted: Box::new(accepted),
        }
    }

    fn whatwg(name: &'static str, checks: &'static str, accepted: impl Fn(&str) -> u64 + 'static) -> Self {
        Self {
            name,
            means: Means::Other,
            checks,
            leaves_out: "RFC 3986, relative references",
            accepted: Box::new(accepted),
        }
    }
}

/// Counts the non-blank lines for which `accepts` is true. Inlined, so that each peer gets its own compiled loop.
#[inline(always)]
fn count(text: &str, accepts: impl Fn(&str) -> bool) -> u64 {
    let mut start = 0;
    let mut lines = 0;
    for lf in memchr_iter(b'\n', text.as_bytes()) {
        let line = &text[start..lf];
        lines += u64::from(!line.is_empty() && accepts(line));
        start = lf + 1;
    }
    lines
}

fn of_urlsift(text: &str) -> u64 {
    scan(text.as_bytes(), &scan::Options::default()).judged().accepted(Grammar::Rfc3986)
}

/// Writes host and href of each line.
fn of_rows(text: &str) -> u64 {
    let mut rows = Records::default();
    rows.columns = ["whatwg_host", "whatwg_href"]
        .map(|name| COLUMNS.iter().find(|column| column.name == name).unwrap())
        .into();
    let n_rows = count_rows(text.as_bytes(), &rows, &Scanners::new(KernelId::best()));
    assert_eq!(n_rows, memchr_iter(b'\n', text.as_bytes()).count() as u64, "a row for each line");
    n_rows
}

/// The expression in the `regex` crate.
fn of_regex() -> impl Fn(&str) -> u64 {
    let anchored = format!(r"\A{}\z", expression::uri_reference());
    let regex = RegexBuilder::new(&anchored).unicode(false).build().unwrap();
    move |text| count(text, |line| regex.is_match(line.as_bytes()))
}

/// The expression as a minimal automaton.
fn of_automaton() -> impl Fn(&str) -> u64 {
    let automaton = dense::Builder::new()
        .configure(dense::Config::new().start_kind(StartKind::Anchored).minimize(true))
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build(&format!(r"{}\z", expression::uri_reference()))
        .unwrap();
    let first = automaton.start_state(&start::Config::new().anchored(Anchored::Yes)).unwrap();
    move |text| {
        count(text, |line| {
            let last = line.bytes().fold(first, |state, byte| {
                // SAFETY: `first` is a state of this automaton, and each byte leads from a state to another state of it.
                unsafe { automaton.next_state_unchecked(state, byte) }
            });
            automaton.is_match_state(automaton.next_eoi_state(last))
        })
    }
}

/// All available peers. The first two are the baselines.
fn peers() -> Vec<Peer> {
    let mut peers = vec![
        Peer {
            name: "memchr split",
            means: Means::Other,
            checks: "finds the lines",
            leaves_out: "all else",
            accepted: Box::new(|text| count(text, |line| !black_box(line).is_empty())),
        },
        Peer {
            checks: "RFC 3986 and four more grammars, schemes, defects, advisories",
            leaves_out: "nothing",
            ..Peer::rfc3986("urlsift scan", of_urlsift)
        },
        Peer {
            checks: "RFC 3986, and where the components are",
            leaves_out: "other grammars, defects",
            ..Peer::rfc3986("fluent-uri", |text| count(text, |line| UriRef::parse(line).is_ok()))
        },
        Peer::rfc3986("iri-string", |text| count(text, |line| UriReferenceStr::new(line).is_ok())),
        Peer::rfc3986("regex", of_regex()),
        Peer::rfc3986("dense automaton", of_automaton()),
    ];
    match Hyperscan::open(&expression::uri_reference()) {
        Ok(hyperscan) => {
            println!("Hyperscan is here, version {}", hyperscan.version);
            peers.push(Peer::rfc3986("Hyperscan", move |text| hyperscan.count(text.as_bytes())));
        }
        Err(why) => println!("Hyperscan is not here: {why}"),
    }
    peers.extend([
        Peer::whatwg("ada-url can_parse", "the WHATWG URL Standard, yes or no", |text| {
            count(text, |line| ada_url::Url::can_parse(line, None))
        }),
        Peer::whatwg("ada-url", "the WHATWG URL Standard: host and href", |text| {
            let cells = |url: ada_url::Url| black_box((url.hostname().len(), url.href().len()));
            count(text, |line| ada_url::Url::parse(line, None).map(cells).is_ok())
        }),
        Peer::whatwg("url", "the WHATWG URL Standard: host and href", |text| {
            let cells = |url: url::Url| black_box((url.host_str().map(str::len), url.as_str().len()));
            count(text, |line| url::Url::parse(line).map(cells).is_ok())
        }),
        Peer::whatwg("urlsift lines", "the same, as rows; the count is of all lines", of_rows),
    ]);
    peers
}

/// Compares the peers that decide RFC 3986 with urlsift on each line of all samples.
///
/// # Panics
///
/// If one of them disagrees with urlsift.
fn compare_on_samples(peers: &[Peer]) {
    let strict: Vec<_> = peers.iter().filter(|peer| peer.means == Means::Rfc3986).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/samples");
    let mut lines = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).expect("the samples are UTF-8");
        // Each line is a text of its own here, and the scan would skip a byte order mark at its start.
        for line in text.trim_start_matches('\u{feff}').split('\n') {
            let line = line.trim_end_matches('\r');
            let expected = !line.is_empty() && judge(line.as_bytes()).verdict().accepts(Grammar::Rfc3986);
            let text = format!("{line}\n");
            for peer in &strict {
                let accepted = (peer.accepted)(&text);
                assert_eq!(
                    accepted,
                    u64::from(expected),
                    "{} differs on \"{}\"",
                    peer.name,
                    line.escape_debug()
                );
            }
            lines += 1;
        }
    }
    println!("{} peers say of {lines} lines of samples what urlsift says", strict.len() - 1);
}

/// Returns how many lines of a corpus each peer accepts.
///
/// # Panics
///
/// If a peer that decides RFC 3986 accepts more or fewer lines than urlsift.
fn accepted_by_each(peers: &[Peer], text: &str) -> Vec<u64> {
    assert!(text.ends_with('\n') && !text.contains('\r'), "what all peers take for a line is the same");
    let expected = of_urlsift(text);
    let ask = |peer: &Peer| {
        let accepted = (peer.accepted)(text);
        assert!(peer.means == Means::Other || accepted == expected, "{}: {accepted}", peer.name);
        accepted
    };
    peers.iter().map(ask).collect()
}

/// What an engine for tables says of a column.
#[derive(serde::Deserialize)]
struct Column {
    seconds: Vec<f64>,
    schemes: HashMap<String, u64>,
}

/// Has DuckDB and Polars count the schemes of a text, and compares the counts with urlsift's.
///
/// # Errors
/// If there is no Python with both.
///
/// # Panics
/// If a query fails, or an engine counts otherwise than urlsift.
fn columns(text: &str, rounds: usize) -> Result<BTreeMap<String, Column>, String> {
    let mut list = tempfile::NamedTempFile::new().unwrap();
    list.write_all(text.as_bytes()).unwrap();
    let python = env::var("PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/columns.py");
    let output = Command::new(python).arg(program).arg(list.path()).arg(rounds.to_string()).output();
    let output = output.map_err(|error| error.to_string())?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        let last = why.lines().last().unwrap_or_default();
        assert!(last.starts_with("ModuleNotFoundError"), "{why}");
        return Err(last.to_owned());
    }
    let found: BTreeMap<String, Column> = serde_json::from_slice(&output.stdout).unwrap();
    let tally = scan(text.as_bytes(), &scan::Options::default());
    let named = tally.schemes();
    let expected: HashMap<_, _> = named.iter().map(|(name, counts)| (*name, counts.lines())).collect();
    for (name, Column { schemes, .. }) in &found {
        let schemes = schemes.iter().filter(|(scheme, _)| !scheme.is_empty());
        assert_eq!(
            schemes.map(|(scheme, &lines)| (&**scheme, lines)).collect::<HashMap<_, _>>(),
            expected,
            "{name}"
        );
    }
    Ok(found)
}

/// Prints each peer's speed as the median of several rounds, and its ratios to the first two peers, the baselines.
fn print_ratios(peers: &[Peer], name: &str, text: &str) {
    const ROUNDS: usize = 15;
    let mut seconds = vec![Vec::with_capacity(ROUNDS); peers.len()];
    for _ in 0..ROUNDS {
        for (peer, seconds) in peers.iter().zip(&mut seconds) {
            let start = Instant::now();
            black_box((peer.accepted)(black_box(text)));
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let mut rows: Vec<_> = peers.iter().map(|peer| peer.name.to_owned()).zip(seconds).collect();
    match columns(text, ROUNDS) {
        Ok(columns) => rows.extend(columns.into_iter().map(|(name, column)| (name, column.seconds))),
        Err(why) => println!("DuckDB and Polars are not here: {why}"),
    }
    let medians = rows.into_iter().map(|(name, mut seconds)| {
        seconds.sort_by(f64::total_cmp);
        (name, seconds[ROUNDS / 2])
    });
    let medians: Vec<_> = medians.collect();
    let size = u32::try_from(text.len()).map(f64::from).expect("a corpus is small") / f64::from(1 << 30);
    println!("{name:<20}{:>12}{:>12}{:>12}", "GiB/s", "of split", "of scan");
    for (name, median) in &medians {
        let (speed, of_split, of_scan) = (size / median, medians[0].1 / median, medians[1].1 / median);
        println!("{name:<20}{speed:>12.2}{of_split:>12.2}{of_scan:>12.2}");
    }
    println!();
}

fn main() {
    let peers = peers();
    compare_on_samples(&peers);
    let corpora = [("top100.txt", corpora::grown("top100.txt")), ("web", corpora::mixed(&WEB))]
        .map(|(name, bytes)| (name, String::from_utf8(bytes).expect("the samples are UTF-8")));
    let accepted = corpora.each_ref().map(|(_, text)| accepted_by_each(&peers, text));
    println!(
        "\nlines accepted      {:>12}{:>12}  what is decided (and what is not)",
        corpora[0].0, corpora[1].0
    );
    for (n, Peer { name, checks, leaves_out, .. }) in peers.iter().enumerate() {
        println!("{name:<20}{:>12}{:>12}  {checks} ({leaves_out})", accepted[0][n], accepted[1][n]);
    }
    println!(
        "{:<20}{:>12}{:>12}  the scheme of each line (whether it is valid)\n",
        "DuckDB, Polars", "-", "-"
    );
    if env::args().any(|argument| argument == "--bench") {
        for (name, text) in &corpora {
            print_ratios(&peers, name, text);
        }
    }
}
