//! The facts of a line, as an automaton: its scheme, and whether its percent escapes are noteworthy.
//!
//! The table scan needs these facts besides the verdict, to count a line without examining it again. `src/grammar/scheme.rs` defines
//! the names and delimiters. `src/grammar/advisory.rs` compares port numbers; this automaton does not. A line that may have a port or
//! a password gets [`Fact::Look`]: it has to be examined.

use std::collections::HashMap;

use crate::automaton::Dfa;
use crate::scheme::{KNOWN, is_scheme_byte};

/// The number of schemes, from the start of [`KNOWN`], whose lines this automaton decides. Lines of other schemes are
/// [`Fact::Look`].
pub const N_BUCKETS: usize = 4;

/// What a state says about a line that ends in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// The index of its scheme in [`KNOWN`], `None` if it has no scheme; and its noteworthy escapes. It has no other advisories.
    Plain(Option<usize>, Escapes),
    /// The automaton does not decide. The line has to be examined.
    Look,
}

/// Whether a line has noteworthy percent escapes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Escapes {
    /// An escape of a control byte.
    pub control: bool,
    /// An escape of a delimiter of the scheme.
    pub delimiter: bool,
}

/// The part of the line that the next byte belongs to. Only the authority can have a port or a password.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LinePart {
    Start,
    SecondSlash,
    Authority,
    Rest,
}

/// The part of a percent escape that has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Escape {
    None,
    Open,
    High(u8),
}

/// The state of the automaton: what has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum FactState {
    /// Nothing has been read.
    Start,
    /// Only bytes that a scheme may contain. If they begin the name of a decided scheme: the index of the first such scheme in
    /// [`KNOWN`], and the number of bytes read.
    Scheme(Option<(usize, usize)>),
    /// Bytes after the scheme and its ":", or bytes of a line without scheme.
    Behind { scheme: Option<usize>, place: LinePart, escape: Escape, found: Escapes },
    /// Bytes that this automaton does not judge.
    Look,
}

impl FactState {
    fn after(self, byte: u8) -> Self {
        match self {
            Self::Look => Self::Look,
            Self::Start if is_scheme_byte(byte) => Self::Scheme(longer_name(b"", byte)),
            Self::Start => Self::behind(None, LinePart::Start).after(byte),
            Self::Scheme(beginning) => {
                let read = beginning.map(|(name, len)| &KNOWN[name].name.as_bytes()[..len]);
                if is_scheme_byte(byte) {
                    Self::Scheme(read.and_then(|read| longer_name(read, byte)))
                } else if byte != b':' {
                    Self::behind(None, LinePart::Rest).after(byte)
                } else if let Some(name) =
                    KNOWN[..N_BUCKETS].iter().position(|known| Some(known.name.as_bytes()) == read)
                {
                    Self::behind(Some(name), LinePart::Start)
                } else {
                    Self::Look
                }
            }
            Self::Behind { scheme, place, escape, mut found } => {
                let place = match (place, byte) {
                    (LinePart::Start, b'/') => LinePart::SecondSlash,
                    (LinePart::SecondSlash, b'/') => LinePart::Authority,
                    // A ":" may begin a port or a password.
                    (LinePart::Authority, b':') => return Self::Look,
                    (LinePart::Authority, byte) if !matches!(byte, b'/' | b'?' | b'#') => LinePart::Authority,
                    _ => LinePart::Rest,
                };
                let digit = char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let escape = match (escape, digit) {
                    (Escape::Open, Some(high))
                        if (0..16).any(|low| found.with(scheme, high << 4 | low) != found) =>
                    {
                        Escape::High(high)
                    }
                    (Escape::High(high), Some(low)) => {
                        found = found.with(scheme, high << 4 | low);
                        Escape::None
                    }
                    _ if byte == b'%' => Escape::Open,
                    _ => Escape::None,
                };
                Self::Behind { scheme, place, escape, found }
            }
        }
    }

    fn behind(scheme: Option<usize>, place: LinePart) -> Self {
        Self::Behind { scheme, place, escape: Escape::None, found: Escapes::default() }
    }

    fn fact(self) -> Fact {
        match self {
            Self::Start | Self::Scheme(_) => Fact::Plain(None, Escapes::default()),
            Self::Behind { scheme, found, .. } => Fact::Plain(scheme, found),
            Self::Look => Fact::Look,
        }
    }
}

impl Escapes {
    /// Adds an escape of `byte`, if it is noteworthy.
    fn with(self, scheme: Option<usize>, byte: u8) -> Self {
        let delimiters = scheme.map_or(b"".as_slice(), |scheme| KNOWN[scheme].delimiters);
        Self {
            control: self.control || matches!(byte, b'\0' | b'\t' | b'\n' | b'\r'),
            delimiter: self.delimiter || delimiters.contains(&byte),
        }
    }
}

/// Returns the index of the first decided scheme whose name begins with `read` and `byte`, and the length of these bytes.
fn longer_name(read: &[u8], byte: u8) -> Option<(usize, usize)> {
    let longer = [read, &[byte.to_ascii_lowercase()]].concat();
    let name = KNOWN[..N_BUCKETS].iter().position(|known| known.name.as_bytes().starts_with(&longer))?;
    Some((name, longer.len()))
}

/// Makes the automaton that finds the facts. Each byte has a class of its own.
pub fn machine() -> Dfa<Fact> {
    let mut states = vec![FactState::Start];
    let mut known = HashMap::from([(FactState::Start, 0)]);
    let mut next = Vec::new();
    while next.len() < states.len() {
        let state = states[next.len()];
        let row = (0..=u8::MAX).map(|byte| {
            let to = state.after(byte);
            *known.entry(to).or_insert_with(|| {
                states.push(to);
                states.len() - 1
            })
        });
        let row = row.collect();
        next.push(row);
    }
    Dfa { next, facts: states.into_iter().map(FactState::fact).collect() }
}
