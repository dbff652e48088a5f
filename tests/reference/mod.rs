//! The reference implementation: a slow, simple recogniser of the five grammars, written from the documents alone.
//!
//! It answers the questions of SPEC.md about one line: verdict (part 1), scheme (A7), advisories (part 3) and defect offset
//! (part 4). It must not use anything of `src/`. The library and the reference are therefore two independent
//! implementations.
//!
//! Each grammar is one file that reads like its BNF, generic over the trait `At`. The same rules run in two ways. Over sets
//! of positions, they recognise a line (`position.rs`). With random choices, they generate one (`draw.rs`). Grammars have
//! numbers, which are their indices in [`NAMES`].

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

/// The grammars' names, in the order of the command line, of the bits of [`verdict`], and of the test cases.
pub const NAMES: [&str; 5] = ["draft1993", "rfc1738", "rfc1808", "rfc2396", "rfc3986"];

/// Applies the start rule of a grammar.
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

/// Whether the grammar derives exactly this line. An empty line is judged as the empty string (A4).
pub fn accepts(grammar: usize, line: &[u8]) -> bool {
    defect_offset(grammar, line).is_none()
}

/// The set of grammars that accept the line: bit 0 is draft1993, bit 4 is rfc3986.
pub fn verdict(line: &[u8]) -> u8 {
    (0..NAMES.len()).filter(|&grammar| accepts(grammar, line)).fold(0, |set, grammar| set | 1 << grammar)
}

/// The defect offset of the line (SPEC, part 4): at most its length, and `None` if the grammar accepts it.
///
/// This is the furthest position that any derivation reaches, counted byte by byte within literals too. Proof: every rule
/// derives some text, so each partial derivation can be completed. The bytes up to any reached position therefore begin an
/// accepted line. Conversely, the derivation of an accepted line reaches every position in it.
///
/// The furthest position at which a byte is *tried* would be wrong: in RFC 1738, no rule tries a byte after `telnet://h/`,
/// which is accepted. A15 does not break the proof: the ten scheme names are only excluded at the end of the scheme, and
/// every prefix of such a name also begins longer names, which are allowed.
pub fn defect_offset(grammar: usize, line: &[u8]) -> Option<usize> {
    position::run(line, |at| start(grammar, at))
}

/// The results of [`defect_offset`] for all five grammars.
pub fn judge_all(line: &[u8]) -> [Option<usize>; 5] {
    std::array::from_fn(|grammar| defect_offset(grammar, line))
}

/// The length of the line's scheme in bytes, independent of any grammar; `None` if the line is relative (A7).
pub fn scheme(line: &[u8]) -> Option<usize> {
    let in_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let length = line.iter().take_while(|byte| in_scheme(byte)).count();
    (length > 0 && line.get(length) == Some(&b':')).then_some(length)
}

/// The advisories of the line without duplicates, in the order of A81 to A86. Empty if no grammar accepts the line (A80).
pub fn advisories(line: &[u8]) -> Vec<&'static str> {
    if verdict(line) == 0 { Vec::new() } else { advisories_of_accepted(line) }
}

/// The same for a line that some grammar accepts, without judging the line again.
pub fn advisories_of_accepted(line: &[u8]) -> Vec<&'static str> {
    advisory::advisories(line, scheme(line))
}

/// Generates a random line that the grammar accepts. Repetitions usually have up to `size` items, and sometimes four times
/// as many. Size 0 gives the shortest lines. Size 8 gives about 50 bytes on average, and more than 250 in one line of a
/// hundred. Size 100 gives about 1,000 bytes on average.
pub fn draw(grammar: usize, rng: &mut Rng, size: usize) -> Vec<u8> {
    draw::run(rng, size, |at| start(grammar, at))
}
