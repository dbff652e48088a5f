//! The reference: a slow, obviously right recogniser of the five grammars, written from the documents alone.
//!
//! It decides what SPEC.md asks of one line: the verdict (part 1), the scheme (A7), the advisories (part 3)
//! and the defect offset (part 4). It must not know the library: nothing of `src/` is used here, so that
//! whatever the two sides agree on is agreed on twice.
//!
//! Each grammar is one file that reads like its BNF, generic over the trait `At`. The same rules run in two
//! ways: over sets of positions, to recognise a line (`position.rs`), and with random choices, to draw one
//! (`draw.rs`). Wherever the text speaks of a grammar by number, the number is its place in [`NAMES`].

#![allow(dead_code)] // each test file uses a part of this folder only

mod advisory;
mod at;
mod draft1993;
mod draw;
mod position;
mod rfc1738;
mod rfc1808;
mod rfc2396;
mod rfc3986;

use at::At;
pub use draw::Rng;

/// The grammars' names, in the order of the command, of the bits of [`verdict`] and of the cases.
pub const NAMES: [&str; 5] = ["draft1993", "rfc1738", "rfc1808", "rfc2396", "rfc3986"];

/// The start rule of grammar number `grammar`.
///
/// # Panics
/// If there is no such grammar.
fn start<A: At>(grammar: usize, at: &A) -> A {
    match grammar {
        0 => draft1993::line(at),
        1 => rfc1738::url(at),
        2 => rfc1808::url(at),
        3 => rfc2396::uri_reference(at),
        4 => rfc3986::uri_reference(at),
        _ => panic!("no grammar has the number {grammar}"),
    }
}

/// Whether the grammar derives exactly this line. The empty line is judged as the empty string (A4).
pub fn accepts(grammar: usize, line: &[u8]) -> bool {
    defect_offset(grammar, line).is_none()
}

/// The set of grammars that accept the line: bit 0 is draft1993, bit 4 is rfc3986.
pub fn verdict(line: &[u8]) -> u8 {
    (0..NAMES.len()).filter(|&grammar| accepts(grammar, line)).fold(0, |set, grammar| set | 1 << grammar)
}

/// Where the line goes wrong for the grammar (SPEC, part 4), in bytes from its start, at most its length;
/// `None` when the grammar accepts it.
///
/// This is the furthest position that any derivation reaches, counted byte by byte within literals too.
/// Proof: every rule derives some text, so each derivation under way can be brought to an end, and the bytes
/// up to a position that it reaches begin an accepted line; and the derivation of an accepted line reaches
/// every position in it. (Not the furthest position at which a byte is *tried*: in 1738 no rule tries one
/// after `telnet://h/`, which is accepted.) A15 keeps this true: the ten scheme names are excluded where the
/// scheme has ended, and every beginning of one of them also begins longer names, which are not excluded.
pub fn defect_offset(grammar: usize, line: &[u8]) -> Option<usize> {
    position::run(line, |at| start(grammar, at))
}

/// The five answers of [`defect_offset`], by grammar.
pub fn judge_all(line: &[u8]) -> [Option<usize>; 5] {
    std::array::from_fn(|grammar| defect_offset(grammar, line))
}

/// The length in bytes of the line's scheme, whatever the grammar; `None` when the line is relative (A7).
pub fn scheme(line: &[u8]) -> Option<usize> {
    let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = line.iter().take_while(|byte| in_scheme(byte)).count();
    (length > 0 && line.get(length) == Some(&b':')).then_some(length)
}

/// The advisories of the line, each at most once, in the order of A81 to A86; none if no grammar accepts it
/// (A80).
pub fn advisories(line: &[u8]) -> Vec<&'static str> {
    if verdict(line) == 0 { Vec::new() } else { advisory::advisories(line, scheme(line)) }
}

/// A random line that the grammar accepts. Rows and lists have mostly up to `size` items and now and then
/// four times as many: size 0 gives the shortest lines, 8 some 50 bytes on average with one line in a hundred
/// over 250, and 100 about a thousand bytes on average.
pub fn draw(grammar: usize, rng: &mut Rng, size: usize) -> Vec<u8> {
    draw::run(rng, size, |at| start(grammar, at))
}
