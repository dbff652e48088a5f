//! What the scan has to know of a line beside its verdict, as a machine of its own: under what scheme the line is counted,
//! and whether a closer look at it could find anything.
//!
//! Names and delimiters are those of `src/grammar/scheme.rs`. Where `src/grammar/advisory.rs` counts and compares numbers, this machine only
//! says that it may have something to say: it need not be right about a line that is looked at.

use std::collections::HashMap;

use crate::automaton::Dfa;
use crate::scheme::{KNOWN, is_scheme_byte};

/// How many of the schemes of [`KNOWN`] have a bucket of their own. Lines of all others have to be looked at.
pub const N_BUCKETS: usize = 4;

/// What is known of a line that ends in a state.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fact {
    /// Its scheme is at that place in [`KNOWN`], or it has none, and these are its advisories.
    Plain(Option<usize>, Escapes),
    /// It has to be looked at.
    Look,
}

/// Whether there are noteworthy escapes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Escapes {
    /// Of a control byte.
    pub control: bool,
    /// Of a delimiter of the scheme.
    pub delimiter: bool,
}

/// Where the next byte stands, as far as ports and passwords go.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Start,
    SecondSlash,
    Authority,
    Rest,
}

/// What of a percent escape has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Escape {
    None,
    Open,
    High(u8),
}

/// What has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum State {
    /// Nothing.
    Start,
    /// Bytes that may all be of a scheme: as many, and they begin the name at that place in [`KNOWN`], the first of all that
    /// begin so; `None` if there is none.
    Scheme(Option<(usize, usize)>),
    /// The scheme and its ":", or that there is none; and what followed.
    Behind { scheme: Option<usize>, place: Place, escape: Escape, found: Escapes },
    /// Something that this machine does not judge.
    Look,
}

impl State {
    fn after(self, byte: u8) -> Self {
        match self {
            Self::Look => Self::Look,
            Self::Start if is_scheme_byte(byte) => Self::Scheme(longer_name(b"", byte)),
            Self::Start => Self::behind(None, Place::Start).after(byte),
            Self::Scheme(beginning) => {
                let read = beginning.map(|(name, len)| &KNOWN[name].name.as_bytes()[..len]);
                if is_scheme_byte(byte) {
                    Self::Scheme(read.and_then(|read| longer_name(read, byte)))
                } else if byte != b':' {
                    Self::behind(None, Place::Rest).after(byte)
                } else if let Some(name) =
                    KNOWN[..N_BUCKETS].iter().position(|known| Some(known.name.as_bytes()) == read)
                {
                    Self::behind(Some(name), Place::Start)
                } else {
                    Self::Look
                }
            }
            Self::Behind { scheme, place, escape, mut found } => {
                let place = match (place, byte) {
                    (Place::Start, b'/') => Place::SecondSlash,
                    (Place::SecondSlash, b'/') => Place::Authority,
                    // Both a port and a password stand behind one.
                    (Place::Authority, b':') => return Self::Look,
                    (Place::Authority, byte) if !matches!(byte, b'/' | b'?' | b'#') => Place::Authority,
                    _ => Place::Rest,
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

    fn behind(scheme: Option<usize>, place: Place) -> Self {
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
    /// These and what is to say of an escape of `byte`.
    fn with(self, scheme: Option<usize>, byte: u8) -> Self {
        let delimiters = scheme.map_or(b"".as_slice(), |scheme| KNOWN[scheme].delimiters);
        Self {
            control: self.control || matches!(byte, b'\0' | b'\t' | b'\n' | b'\r'),
            delimiter: self.delimiter || delimiters.contains(&byte),
        }
    }
}

/// The first name with a bucket that begins with `read` and `byte`, and how many bytes those are.
fn longer_name(read: &[u8], byte: u8) -> Option<(usize, usize)> {
    let longer = [read, &[byte.to_ascii_lowercase()]].concat();
    let name = KNOWN[..N_BUCKETS].iter().position(|known| known.name.as_bytes().starts_with(&longer))?;
    Some((name, longer.len()))
}

/// The machine that finds the facts, with a class for each byte.
pub fn machine() -> Dfa<Fact> {
    let mut states = vec![State::Start];
    let mut known = HashMap::from([(State::Start, 0)]);
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
    Dfa { next, facts: states.into_iter().map(State::fact).collect() }
}
