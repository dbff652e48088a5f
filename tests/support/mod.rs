//! What the tests on many lines share: where their lines come from, and how the lines are spread over the cores.
//!
//! Lines come from the corpora, from the grammars' own rules (drawn by the reference), and from mutations of both. All of
//! it follows from a seed: the same seed gives the same lines on every machine and with any number of threads.

#![allow(dead_code, reason = "each test file uses a part of this folder only")]

pub(crate) mod references;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fs, thread};

use crate::reference::{self, Rng};

/// How much a test does: `short` by default, and `long` where `URLSIFT_TESTS=long` asks for the long mode, as `scripts/check` does.
///
/// # Panics
/// When the variable is anything else.
pub(crate) fn amount(short: u64, long: u64) -> u64 {
    match std::env::var("URLSIFT_TESTS").as_deref() {
        Ok("long") => long,
        Ok(other) => panic!("URLSIFT_TESTS={other}: the only mode is long"),
        Err(_) => short,
    }
}

/// Longer lines of the corpora are cut: the reference is slow, and states repeat after a few bytes.
const MAX_LINE_BYTES: usize = 4096;

/// All files of `corpora/samples`, and then of `corpora/hostile`, by name.
///
/// # Panics
/// If the corpora are not there.
pub(crate) fn corpus_files() -> Vec<PathBuf> {
    // The tests of `benches/` are in a package one level down.
    let mut folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("corpora"));
    let root = folders.find(|folder| folder.is_dir()).unwrap();
    let mut files = Vec::new();
    for folder in ["samples", "hostile"] {
        let from = files.len();
        files.extend(fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path()));
        files[from..].sort();
    }
    assert!(files.len() > 40);
    files
}

/// The lines of all files of `corpora/samples` and `corpora/hostile`, split at LF as they are, each different line once.
///
/// # Panics
/// If the corpora are not there.
pub(crate) fn corpus_lines() -> Vec<Vec<u8>> {
    let mut seen = HashSet::new();
    let mut lines = Vec::new();
    for file in corpus_files() {
        for line in fs::read(file).unwrap().split(|&byte| byte == b'\n') {
            let line = &line[..line.len().min(MAX_LINE_BYTES)];
            if seen.insert(line.to_vec()) {
                lines.push(line.to_vec());
            }
        }
    }
    lines
}

/// The bytes with which grammars are about: those that some rule treats unlike the letters, one or two of each kind that
/// every rule treats alike, and what no rule takes.
const TELLING: &[u8] =
    b"::://////??##[[]]@@@%%%;;==&&..--+~_!$'()*,\"\"09afAFvVgGzZ1 \\|^<\t\r\x00\x7f\x80\xff";

/// A byte, most often one that some rule tells from others.
fn some_byte(rng: &mut Rng) -> u8 {
    match rng.below(8) {
        0 => u8::try_from(rng.below(256)).unwrap(),
        _ => TELLING[rng.below(TELLING.len())],
    }
}

/// The line with one byte replaced, inserted, deleted or swapped with the next.
fn mutate_once(line: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.below(line.len() + 1);
    let byte = some_byte(rng);
    match rng.below(4) {
        0 if at < line.len() => line[at] = byte,
        1 if at < line.len() => _ = line.remove(at),
        2 if at + 1 < line.len() => line.swap(at, at + 1),
        _ => line.insert(at, byte),
    }
}

/// A copy of the line with one or two such changes.
pub(crate) fn mutated(line: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut line = line.to_vec();
    mutate_once(&mut line, rng);
    if rng.below(2) == 0 {
        mutate_once(&mut line, rng);
    }
    line
}

/// An authority with an IP literal put together of pieces that fit now and then.
fn with_ip_literal(rng: &mut Rng) -> Vec<u8> {
    const PIECES: [&str; 25] = [
        "::",
        "::",
        "::",
        ":",
        "1",
        "ab",
        "1234",
        "12345",
        "fFfF:",
        "1:",
        "2:",
        "1:2:3:4:",
        "0:0:0:0:0:",
        ".",
        "1.2.3.4",
        "255.0.10.249",
        "256",
        "01",
        "v1.",
        "V",
        "%25",
        "%41",
        "@",
        "~",
        "]",
    ];
    let mut line = String::from("//[");
    for _ in 0..=rng.below(8) {
        line += PIECES[rng.below(PIECES.len())];
    }
    line += ["]", "]", "]", "]/", "]:80", ""][rng.below(6)];
    line.into_bytes()
}

/// A line that some grammar accepts, mostly short and now and then a few hundred bytes long; one in sixteen has an IP
/// literal instead, well formed or not.
pub(crate) fn drawn(rng: &mut Rng) -> Vec<u8> {
    const SIZES: [usize; 16] = [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 6, 12];
    if rng.below(16) == 0 {
        return with_ip_literal(rng);
    }
    let grammar = rng.below(reference::NAMES.len());
    let size = SIZES[rng.below(SIZES.len())];
    reference::draw(grammar, rng, size)
}

/// The lines of one seed: a drawn line and four mutations of it, each different line once.
pub(crate) fn family(seed: u64) -> Vec<Vec<u8>> {
    let mut rng = Rng::new(seed);
    let line = drawn(&mut rng);
    let mut lines: Vec<_> = (0..4).map(|_| mutated(&line, &mut rng)).collect();
    lines.push(line);
    lines.sort();
    lines.dedup();
    lines
}

/// Calls `check` with each number below `n`, on all cores, and adds up what it returns. The order is not fixed.
///
/// # Panics
/// With the panic of the first call that panics; no further numbers are given out then.
pub(crate) fn on_all_cores(n: u64, check: impl Fn(u64) -> u64 + Sync) -> u64 {
    const SHARE: u64 = 64;
    let next = AtomicU64::new(0);
    let failed = AtomicBool::new(false);
    let work = || {
        let mut sum = 0;
        loop {
            let first = next.fetch_add(SHARE, Ordering::Relaxed);
            if first >= n || failed.load(Ordering::Relaxed) {
                return sum;
            }
            // Stays set if `check` panics.
            let guard = SetUnlessForgotten(&failed);
            sum += (first..n.min(first + SHARE)).map(&check).sum::<u64>();
            std::mem::forget(guard);
        }
    };
    thread::scope(|scope| {
        let n_threads = thread::available_parallelism().map_or(1, usize::from);
        let threads: Vec<_> = (0..n_threads).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .sum()
    })
}

struct SetUnlessForgotten<'a>(&'a AtomicBool);

impl Drop for SetUnlessForgotten<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The shortest line that `fails` too and comes of `line` by leaving bytes out one after the other.
pub(crate) fn minimised(line: &[u8], fails: impl Fn(&[u8]) -> bool) -> Vec<u8> {
    let mut line = line.to_vec();
    while let Some(shorter) = (0..line.len()).find_map(|at| {
        let shorter = [&line[..at], &line[at + 1..]].concat();
        fails(&shorter).then_some(shorter)
    }) {
        line = shorter;
    }
    line
}
