//! Inputs of the benches: sample corpora repeated until they exceed every cache, and pathological inputs.

#![allow(clippy::missing_panics_doc, clippy::must_use_candidate, reason = "a bench ends at the first error")]

use std::fs;
use std::path::Path;

/// The approximate size of a repeated corpus, in bytes.
pub const SIZE: usize = 32 << 20;

/// A file of `corpora/samples`, unchanged.
pub fn sample(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/samples").join(name)).unwrap()
}

/// A sample repeated up to [`SIZE`] bytes. Its lines are in another order each time, so that the branch predictor cannot
/// learn them.
pub fn grown(name: &str) -> Vec<u8> {
    mixed(&[name])
}

/// Several samples, repeated as if they were one. Their lines must all end in LF.
pub fn mixed(names: &[&str]) -> Vec<u8> {
    let sample: Vec<u8> = names.iter().flat_map(|name| sample(name)).collect();
    let lines: Vec<_> =
        sample.split_inclusive(|&byte| byte == b'\n').filter(|line| line.ends_with(b"\n")).collect();
    let mut out = Vec::with_capacity(SIZE + sample.len());
    let mut at = 0x9e37_79b9_usize;
    while out.len() < SIZE {
        at = at.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        out.extend(lines[(at >> 33) % lines.len()]);
    }
    out
}

/// Inputs unlike any list of URLs, with names.
pub fn ugly() -> Vec<(&'static str, Vec<u8>)> {
    let repeated = |text: &[u8]| text.repeat(SIZE / 4 / text.len());
    vec![
        ("one endless line", [b"http://example.org/".as_slice(), &repeated(b"a")].concat()),
        ("only newlines", repeated(b"\n")),
        ("only %", repeated(b"%")),
        ("non-ASCII", repeated("http://example.org/\u{e9}\u{8a9e}\n".as_bytes())),
        ("short lines", repeated(b"a\n/\n?q\nx:\n")),
        ("CR LF", repeated(b"http://example.org/a/b\r\n")),
        ("passwords and ports", repeated(b"ftp://u:p@example.org:2121/%2F\n")),
    ]
}
