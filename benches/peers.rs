//! Other people's URL checkers on the same bytes, beside the scan and beside `memchr` finding the lines.
//!
//! `cargo bench -p urlsift-benches --bench peers`; one core. Every peer goes through the whole text, finding the lines included, and says how
//! many lines it accepts; blank lines are not asked about. What it checks, and what a scan does beside that, is not the
//! same, so a row says little without these lines:
//!
//! | peer | what it decides of a line | what it does not |
//! |---|---|---|
//! | `memchr` split | nothing: it finds the lines | all else |
//! | urlsift scan | RFC 3986 and four more grammars; counts schemes, defects and advisories | |
//! | fluent-uri | RFC 3986, and where the components are | other grammars, defects |
//! | iri-string, regex, dense automaton, Hyperscan | RFC 3986, yes or no | components, other grammars, defects |
//! | ada-url `can_parse` | whether a browser would take it for a URL, yes or no | RFC 3986, relative references |
//! | ada-url, url | the same, and the URL written anew as a browser would | RFC 3986, relative references |
//!
//! "A browser" is the WHATWG URL Standard: it accepts spaces, non-ASCII bytes and much else that RFC 3986 refuses, and
//! refuses relative references, which are given up where the scheme is missing, and hosts and ports that cannot be.
//! What those peers accept is therefore printed and compared with nothing. All others have to accept exactly what
//! urlsift accepts under RFC 3986: each line of all samples, asked one at a time, and as many lines of each corpus.
//!
//! What is as good for the peers as it gets:
//!
//! - Those that take text take it from a text already known to be UTF-8, and none pays for looking.
//! - regex and the dense automaton read the expression of `benches/expression.rs` anchored at both ends, without
//!   Unicode. The automaton is minimal and built beforehand, and is walked by hand: its own search, which stops where a
//!   line is lost, takes a tenth longer on lists like these, and a table without byte classes is no faster.
//! - ada-url compiles its C++ as cargo asks it to. `CXXFLAGS=-march=native cargo bench -p urlsift-benches --bench peers` lets it use all
//!   vectors of the machine, and was as fast.
//! - Hyperscan is the system's (`benches/hyperscan.rs` says how it is asked); where there is none, the bench says that
//!   it is not here and goes on. `LD_LIBRARY_PATH` can point to another build of it.
//!
//! Criterion measures one row after the other; where the machine has other work as well, ratios of its rows are worth
//! little. Ratios are therefore printed before, from rounds in which every peer takes its turn. They are left out when
//! the bench is called with any argument, as for a single row or as a test.

#![allow(missing_docs, reason = "criterion's macros write functions")]

mod expression;
mod hyperscan;

use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use std::{env, fs};

use criterion::{Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use fluent_uri::UriRef;
use iri_string::types::UriReferenceStr;
use memchr::memchr_iter;
use regex::bytes::RegexBuilder;
use regex_automata::Anchored;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::util::{start, syntax};
use urlsift::{Grammar, judge, scan};

use crate::hyperscan::Hyperscan;

/// The lists of web addresses that are not `top100.txt`.
const WEB: [&str; 6] = [
    "apache_referers.txt",
    "debian_homepages.txt",
    "ebook_links.txt",
    "kasztp.txt",
    "ldp_urls.txt",
    "osm_community.txt",
];

/// What it means that a peer accepts a line.
#[derive(Clone, Copy, PartialEq)]
enum Means {
    /// RFC 3986 does, the blank line apart.
    Rfc3986,
    /// Something else.
    Other,
}

/// Somebody's program, as it goes through a text.
struct Peer {
    name: &'static str,
    means: Means,
    /// What it decides of a line.
    checks: &'static str,
    /// What a scan does and it does not.
    leaves_out: &'static str,
    /// How many lines of a text it accepts; each line of the text ends in LF.
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

/// How many lines are not blank and have it that `accepts`; inlined, so that each peer has a loop of its own.
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

/// The expression as the `regex` crate runs it.
fn of_regex() -> impl Fn(&str) -> u64 {
    let anchored = format!(r"\A{}\z", expression::uri_reference());
    let regex = RegexBuilder::new(&anchored).unicode(false).build().unwrap();
    move |text| count(text, |line| regex.is_match(line.as_bytes()))
}

/// The expression as one minimal automaton.
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
                // SAFETY: `first` is a state of this automaton, and from a state of it every byte leads to one.
                unsafe { automaton.next_state_unchecked(state, byte) }
            });
            automaton.is_match_state(automaton.next_eoi_state(last))
        })
    }
}

/// All that are here, the yardsticks first.
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
        Peer::whatwg("ada-url", "the WHATWG URL Standard, the URL written anew", |text| {
            count(text, |line| ada_url::Url::parse(line, None).is_ok())
        }),
        Peer::whatwg("url", "the WHATWG URL Standard, the URL written anew", |text| {
            count(text, |line| url::Url::parse(line).is_ok())
        }),
    ]);
    peers
}

/// Asks the peers that decide RFC 3986 about each line of all samples.
///
/// # Panics
///
/// One of them says something else than urlsift.
fn compare_on_samples(peers: &[Peer]) {
    let strict: Vec<_> = peers.iter().filter(|peer| peer.means == Means::Rfc3986).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/samples");
    let mut lines = 0;
    for file in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).expect("the samples are UTF-8");
        // The scan takes a byte order mark at the start of a text for none of its bytes, and here each line is a text.
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

/// How many lines of a corpus each peer accepts.
///
/// # Panics
///
/// One that decides RFC 3986 accepts more or fewer than urlsift.
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

/// Prints the speed of each peer as the median of some rounds, and what that is of the first two, the yardsticks.
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
    let medians: Vec<_> = seconds
        .iter_mut()
        .map(|seconds| {
            seconds.sort_by(f64::total_cmp);
            seconds[ROUNDS / 2]
        })
        .collect();
    let size = u32::try_from(text.len()).map(f64::from).expect("a corpus is small") / f64::from(1 << 30);
    println!("{name:<20}{:>12}{:>12}{:>12}", "GiB/s", "of split", "of scan");
    for (peer, median) in peers.iter().zip(&medians) {
        let (speed, of_split, of_scan) = (size / median, medians[0] / median, medians[1] / median);
        println!("{:<20}{speed:>12.2}{of_split:>12.2}{of_scan:>12.2}", peer.name);
    }
    println!();
}

fn bench(c: &mut Criterion) {
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
    println!();
    // What cargo adds by itself is all there is.
    if env::args().skip(1).eq(["--bench"]) {
        for (name, text) in &corpora {
            print_ratios(&peers, name, text);
        }
    }

    for (name, text) in &corpora {
        let mut group = c.benchmark_group(format!("peers/{name}"));
        group
            .throughput(Throughput::Bytes(text.len() as u64))
            .sampling_mode(SamplingMode::Flat)
            .sample_size(10)
            .warm_up_time(Duration::from_millis(500))
            .measurement_time(Duration::from_secs(2));
        for peer in &peers {
            group.bench_function(peer.name, |b| b.iter(|| (peer.accepted)(black_box(text))));
        }
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
