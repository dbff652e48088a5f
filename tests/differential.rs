//! Compares the library with the reference (`tests/reference`), which was written from the documents alone and shares no
//! code with it.
//!
//! Verdict, all five defect offsets, scheme and advisories must be equal on a million lines, or 24,000 in the short mode.
//! The lines are generated from the rules of all five grammars, mutated by a byte or two, and read from the corpora. On a
//! difference, the test prints the seed, the line, both answers, and the shortest line that still shows the difference.
//!
//! A longer run with other lines: `URLSIFT_DIFFERENTIAL_SEED=7 URLSIFT_DIFFERENTIAL_LINES=50000000 cargo test
//! differential:: -- --ignored --nocapture`

use std::env;

use crate::reference::Rng;
use crate::support::{amount, corpus_lines, drawn, family, minimised, mutated, on_all_cores};
use urlsift::{Grammar, Verdict, judge};

/// The minimum number of lines that a run compares, including the corpora.
fn n_lines() -> u64 {
    amount(24_000, 500_000)
}

/// The sets of grammars that can accept a line (SPEC, part 1), as printed. The leftmost digit is draft1993.
const VERDICTS: [&str; 16] = [
    "00000", "00001", "00010", "00011", "00100", "00101", "00110", "00111", "01100", "01101", "01110",
    "01111", "10000", "10110", "10111", "11111",
];

/// Everything that is compared, in a form that can be printed.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    verdict: u8,
    defect_offsets: [Option<u64>; 5],
    scheme_len: Option<usize>,
    advisories: String,
}

fn of_library(line: &[u8]) -> Answer {
    let judgement = judge(line);
    Answer {
        verdict: judgement.verdict().bits(),
        defect_offsets: Grammar::ALL.map(|grammar| judgement.defect(grammar).map(|defect| defect.offset)),
        scheme_len: judgement.scheme().map(<[u8]>::len),
        advisories: judgement.advisories().to_string(),
    }
}

fn of_reference(line: &[u8]) -> Answer {
    let defects = crate::reference::judge_all(line);
    let verdict =
        (0..5).filter(|&grammar| defects[grammar].is_none()).fold(0, |set, grammar| set | 1 << grammar);
    let advisories = if verdict == 0 { Vec::new() } else { crate::reference::advisories_of_accepted(line) };
    Answer {
        verdict,
        defect_offsets: defects.map(|offset| offset.map(|offset| offset as u64)),
        scheme_len: crate::reference::scheme(line),
        advisories: if advisories.is_empty() { "-".into() } else { advisories.join(",") },
    }
}

/// Compares the two answers about one line.
///
/// # Panics
/// If they differ.
fn compare(line: &[u8], origin: &dyn Fn() -> String) {
    if of_library(line) == of_reference(line) {
        return;
    }
    let shortest = minimised(line, |line| of_library(line) != of_reference(line));
    panic!(
        "they differ on \"{}\" ({})\nlibrary:   {:?}\nreference: {:?}\nand still on \"{}\"\nlibrary:   {:?}\nreference: {:?}",
        line.escape_ascii(),
        origin(),
        of_library(line),
        of_reference(line),
        shortest.escape_ascii(),
        of_library(&shortest),
        of_reference(&shortest),
    );
}

/// Compares lines that are generated and mutated from successive seeds. There are slightly more than `n_lines`; returns
/// their number.
fn compare_drawn(seed: u64, n_lines: u64) -> u64 {
    // A family has up to five lines, and 4.9 on average.
    on_all_cores(n_lines.div_ceil(100) * 21, |n| {
        let seed = seed.wrapping_add(n);
        let lines = family(seed);
        for line in &lines {
            compare(line, &|| format!("drawn from seed {seed}"));
        }
        lines.len() as u64
    })
}

/// Compares every line of the corpora and one mutation of it; in the short mode, every sixteenth line.
fn compare_corpora(seed: u64) -> u64 {
    let lines = corpus_lines();
    let step = amount(16, 1);
    on_all_cores(lines.len() as u64 / step, |n| {
        let n = n * step;
        let line = &lines[usize::try_from(n).unwrap()];
        compare(line, &|| format!("line {n} of the corpora"));
        let mutated = mutated(line, &mut Rng::new(seed.wrapping_add(n)));
        compare(&mutated, &|| format!("line {n} of the corpora, mutated from seed {}", seed.wrapping_add(n)));
        2
    })
}

#[test]
fn library_and_reference_agree() {
    let n_corpora = compare_corpora(1);
    let n_lines = n_lines();
    let n_drawn = compare_drawn(1, n_lines.saturating_sub(n_corpora));
    println!("compared {} lines: {n_corpora} of corpora, {n_drawn} drawn", n_corpora + n_drawn);
    assert!(n_corpora + n_drawn >= n_lines && n_corpora > amount(10_000, 100_000));
}

#[test]
#[ignore = "as long as URLSIFT_DIFFERENTIAL_LINES says"]
fn long_run() {
    let number = |name, default| env::var(name).map_or(default, |text| text.parse().expect("a whole number"));
    let seed = number("URLSIFT_DIFFERENTIAL_SEED", 1 << 32);
    let n_lines = number("URLSIFT_DIFFERENTIAL_LINES", 20_000_000);
    println!("compared {} lines drawn from seed {seed} on", compare_drawn(seed, n_lines));
}

fn bits(set: &str) -> u8 {
    set.bytes().enumerate().fold(0, |bits, (grammar, digit)| bits | (digit - b'0') << grammar)
}

#[test]
fn inclusions_hold() {
    // What the sixteen sets imply for pairs: any line that the one grammar accepts, the other accepts too.
    let sets = VERDICTS.map(|set| Verdict::from_bits(bits(set)));
    let mut implied = Vec::new();
    for one in Grammar::ALL {
        for other in Grammar::ALL {
            if one != other && sets.iter().all(|set| !set.accepts(one) || set.accepts(other)) {
                implied.push((one, other));
            }
        }
    }
    assert_eq!(implied, [(Grammar::Rfc1738, Grammar::Rfc1808)]);
    // What they imply for triples: RFC 1808 and RFC 2396 accept any line that draft1993 and one more grammar accept. Only
    // lines with a double quote are accepted by draft1993 alone.
    let both = |one: Grammar, other: Grammar, third: Grammar| {
        sets.iter().all(|set| !(set.accepts(one) && set.accepts(other)) || set.accepts(third))
    };
    for other in [Grammar::Rfc1808, Grammar::Rfc2396] {
        for with in [Grammar::Rfc1738, Grammar::Rfc1808, Grammar::Rfc2396, Grammar::Rfc3986] {
            assert!(both(Grammar::Draft1993, with, other), "{with} {other}");
        }
    }

    let mut seen = [false; Verdict::COUNT];
    for seed in 0..100_000 {
        for line in family(seed) {
            let verdict = judge(&line).verdict();
            assert!(sets.contains(&verdict), "{verdict} accept \"{}\"", line.escape_ascii());
            seen[usize::from(verdict.bits())] = true;
        }
    }
    let n_seen = seen.iter().filter(|&&seen| seen).count();
    assert_eq!(n_seen, sets.len(), "some of the sixteen sets never came up");
}

#[test]
fn a_drawn_line_is_accepted() {
    for grammar in Grammar::ALL {
        let mut rng = Rng::new(20);
        for n in 0..20_000 {
            let line = crate::reference::draw(grammar as usize, &mut rng, n % 12);
            assert!(judge(&line).verdict().accepts(grammar), "{grammar} refuses \"{}\"", line.escape_ascii());
        }
    }
}

/// `could_follow` returns exactly the bytes after which the reference gets further.
#[test]
fn could_follow_agrees() {
    let n_compared = on_all_cores(600, |n| {
        let mut rng = Rng::new(n);
        let line = drawn(&mut rng);
        let line = mutated(&line[..line.len().min(40)], &mut rng);
        let judgement = judge(&line);
        let mut n_compared = 0;
        for grammar in Grammar::ALL {
            let Some(defect) = judgement.defect(grammar) else { continue };
            let offset = usize::try_from(defect.offset).unwrap();
            let could_follow: Vec<u8> = judgement.could_follow(grammar).collect();
            let mut longer = line[..offset].to_vec();
            longer.push(0);
            let expected: Vec<u8> = (0..=255)
                .filter(|&byte| {
                    longer[offset] = byte;
                    crate::reference::defect_offset(grammar as usize, &longer) != Some(offset)
                })
                .collect();
            assert_eq!(
                could_follow,
                expected,
                "{grammar} at {offset} of \"{}\" (seed {n})",
                line.escape_ascii()
            );
            n_compared += 1;
        }
        n_compared
    });
    assert!(n_compared > 1000);
}
