//! A simple scan: line by line, with the reference instead of the automaton, and plain maps.
//!
//! Counts are compared as text, so that differences are readable.

use std::collections::BTreeMap;
use std::fmt::Write;

use urlsift::tally::{MAX_EXAMPLES, MAX_SCHEME_LEN};
use urlsift::{Grammar, Tally};

use crate::reference;

/// The counts of a corpus, except those that depend on the names of defects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    lines: u64,
    bytes: u64,
    blank: u64,
    cr: u64,
    boms: u64,
    /// Lines by verdict bits.
    verdicts: BTreeMap<u8, u64>,
    /// The line numbers and offsets of the first lines, by verdict bits.
    firsts: BTreeMap<u8, Vec<(u64, u64)>>,
    /// Lines of schemes that are too long to keep their name, by verdict bits.
    unnamed: BTreeMap<u8, u64>,
    /// Lines by scheme (`None` for relative lines) and verdict bits.
    schemes: BTreeMap<Option<String>, BTreeMap<u8, u64>>,
    /// Lines by advisory.
    advisories: BTreeMap<String, u64>,
    /// Lines that the chosen grammar refuses.
    refused: u64,
    /// The number and the offset of the first refused line, and the offset of its defect.
    first_refused: Option<(u64, u64, u64)>,
}

/// Counts `bytes` as one input, with the refusals of each of the grammars.
pub fn count<const N: usize>(bytes: &[u8], grammars: [Grammar; N]) -> [Counts; N] {
    let mut counts = Counts { bytes: bytes.len() as u64, ..Counts::default() };
    let mut refusals = [(0, None); N];
    let mut rest = bytes;
    if let Some(body) = rest.strip_prefix(b"\xef\xbb\xbf") {
        counts.boms = 1;
        rest = body;
    }
    while !rest.is_empty() {
        let offset = (bytes.len() - rest.len()) as u64;
        let end = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
        let mut line = &rest[..end];
        rest = rest.get(end + 1..).unwrap_or_default();
        counts.lines += 1;
        let whole = line.len();
        while let Some(body) = line.strip_suffix(b"\r") {
            line = body;
        }
        counts.cr += u64::from(line.len() < whole);
        if line.is_empty() {
            counts.blank += 1;
            continue;
        }
        let offsets = reference::judge_all(line);
        let verdict = (0..5).filter(|&g| offsets[g].is_none()).fold(0, |bits, g| bits | 1 << g);
        *counts.verdicts.entry(verdict).or_default() += 1;
        let first = counts.firsts.entry(verdict).or_default();
        if first.len() < MAX_EXAMPLES {
            first.push((counts.lines, offset));
        }
        let scheme =
            reference::scheme(line).map(|len| String::from_utf8(line[..len].to_ascii_lowercase()).unwrap());
        if scheme.as_ref().is_some_and(|name| name.len() > MAX_SCHEME_LEN) {
            *counts.unnamed.entry(verdict).or_default() += 1;
        } else {
            *counts.schemes.entry(scheme).or_default().entry(verdict).or_default() += 1;
        }
        if verdict != 0 {
            for advisory in reference::advisories_of_accepted(line) {
                *counts.advisories.entry(advisory.to_owned()).or_default() += 1;
            }
        }
        for (grammar, (refused, first)) in grammars.iter().zip(&mut refusals) {
            if let Some(at) = offsets[*grammar as usize] {
                *refused += 1;
                first.get_or_insert((counts.lines, offset, at as u64));
            }
        }
    }
    refusals.map(|(refused, first_refused)| Counts { refused, first_refused, ..counts.clone() })
}

/// The same counts from a tally. The corpus must not have too many schemes.
pub fn of(tally: &Tally) -> Counts {
    let sets =
        |counts: &urlsift::tally::ByVerdict| counts.sets().map(|(verdict, n)| (verdict.bits(), n)).collect();
    let mut schemes: BTreeMap<_, BTreeMap<u8, u64>> =
        tally.schemes().into_iter().map(|(name, counts)| (Some(name.to_owned()), sets(counts))).collect();
    if tally.relative().lines() > 0 {
        schemes.insert(None, sets(tally.relative()));
    }
    let defects = tally.defects();
    let examples = defects.iter().flat_map(|defect| &defect.found.examples);
    let first = examples.min_by_key(|example| example.place);
    let judged = tally.judged();
    let firsts = judged.sets().map(|(verdict, _)| {
        let first = tally.first(verdict).iter().map(|example| (example.line, example.place.offset));
        (verdict.bits(), first.collect())
    });
    Counts {
        lines: tally.lines(),
        bytes: tally.bytes(),
        blank: tally.blank,
        cr: tally.cr,
        boms: tally.boms,
        verdicts: sets(&judged),
        firsts: firsts.collect(),
        unnamed: sets(tally.unnamed_schemes()),
        schemes,
        advisories: tally
            .advisories()
            .map(|(advisory, found)| (advisory.name().to_owned(), found.lines))
            .collect(),
        refused: defects.iter().map(|defect| defect.found.lines).sum(),
        first_refused: first.map(|example| (example.line, example.place.offset, example.at)),
    }
}

/// The differences of two counts, one per line.
pub fn difference(a: &Counts, b: &Counts) -> String {
    let (a, b) = (format!("{a:#?}"), format!("{b:#?}"));
    let mut out = String::new();
    for (a, b) in a.lines().zip(b.lines()).filter(|(a, b)| a != b).take(20) {
        let _ = writeln!(out, "{a} | {b}");
    }
    out
}
