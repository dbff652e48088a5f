//! Accepted but noteworthy: RFC 1738 section 6 (SPEC part 3).
//!
//! The scan reads a line in as many pieces as it comes in, so that a line of any length needs no more memory than a short
//! one.

use std::fmt;

use crate::names::{named, write_list};
use crate::scheme::{GOPHER, KNOWN};

named! {
    /// Something worth knowing of a line that at least one grammar accepts. It never changes a verdict.
    Advisory {
        /// The userinfo has a password.
        Password = "password",
        /// The port is not the scheme's default.
        PortNondefault = "port-nondefault",
        /// The port is not the scheme's default, and below 1024.
        PortReserved = "port-reserved",
        /// A percent-encoded NUL, tab, line feed or carriage return.
        EncodedControl = "encoded-control",
        /// A percent-encoded delimiter of the scheme's own syntax.
        EncodedDelimiter = "encoded-delimiter",
        /// A gopher URL that talks to a mail server.
        GopherSmtp = "gopher-smtp",
    }
}

/// A set of advisories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Advisories(u8);

impl Advisories {
    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `advisory` is among them.
    #[must_use]
    pub const fn has(self, advisory: Advisory) -> bool {
        self.0 >> advisory as u8 & 1 == 1
    }

    /// Those there are, in the order of [`Advisory::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Advisory> {
        Advisory::ALL.iter().copied().filter(move |&advisory| self.has(advisory))
    }

    /// Those on percent escapes.
    pub(crate) const fn on_escapes(control: bool, delimiter: bool) -> Self {
        Self(
            (control as u8) << Advisory::EncodedControl as u8
                | (delimiter as u8) << Advisory::EncodedDelimiter as u8,
        )
    }

    fn add(&mut self, advisory: Advisory) {
        self.0 |= 1 << advisory as u8;
    }

    /// Adds what is to say of a percent-encoded `byte`. `scheme` is a place in [`KNOWN`].
    fn add_escaped(&mut self, scheme: Option<usize>, byte: u8) {
        let tab_of_gopher = byte == b'\t' && scheme == Some(GOPHER);
        if matches!(byte, 0 | b'\t' | b'\n' | b'\r') && !tab_of_gopher {
            self.add(Advisory::EncodedControl);
        }
        if scheme.is_some_and(|place| KNOWN[place].delimiters.contains(&byte)) {
            self.add(Advisory::EncodedDelimiter);
        }
    }

    /// The advisories on percent escapes in `text`, whose scheme is at that place in [`KNOWN`].
    pub(crate) fn of_escapes(scheme: Option<usize>, text: &[u8]) -> Self {
        let mut found = Self::default();
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'%', rest) {
            rest = &rest[at + 1..];
            // Escapes mostly stand one behind the other.
            while let Some(&[high, low]) = rest.get(..2)
                && let (Some(high), Some(low)) = (hex_value(high), hex_value(low))
            {
                found.add_escaped(scheme, high << 4 | low);
                rest = &rest[2..];
                match rest.split_first() {
                    Some((b'%', behind)) => rest = behind,
                    _ => break,
                }
            }
        }
        found
    }
}

/// The names joined by commas, or `-` when there are none.
impl fmt::Display for Advisories {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(out, self.iter().map(Advisory::name))
    }
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The first byte behind the scheme.
    Start,
    /// The second, behind a "/".
    SecondSlash,
    /// The authority.
    Authority,
    /// All behind it.
    Rest,
}

/// The text behind the last ":" of what may be the port, outside brackets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Port {
    /// No ":" yet.
    None,
    /// Digits so far; the number stops growing at a million, which is no port either way.
    Number { value: u32, empty: bool },
    /// Not digits.
    Other,
}

/// What of a percent escape has been read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Escape {
    /// Nothing.
    None,
    /// The "%".
    Open,
    /// The "%" and a digit of this value.
    High(u8),
}

/// Reads a line behind its scheme and finds the advisories in it.
#[derive(Clone)]
pub(crate) struct AdvisoryScan {
    /// Place in [`KNOWN`].
    scheme: Option<usize>,
    place: Place,
    found: Advisories,
    /// How many bytes of userinfo stand behind its first ":"; `None` before it.
    behind_colon: Option<bool>,
    port: Port,
    /// What of a percent escape has been read.
    escape: Escape,
}

impl AdvisoryScan {
    /// `scheme` is the place of the line's scheme in [`KNOWN`].
    pub(crate) fn new(scheme: Option<usize>) -> Self {
        let found = Advisories::default();
        Self {
            scheme,
            place: Place::Start,
            found,
            behind_colon: None,
            port: Port::None,
            escape: Escape::None,
        }
    }

    /// Reads on. The first byte of all is the one behind the scheme and its ":", or that of a line without scheme.
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            if self.place == Place::Rest && self.escape == Escape::None && byte != b'%' {
                match memchr::memchr(b'%', bytes) {
                    Some(n) => bytes = &bytes[n..],
                    None => return,
                }
                continue;
            }
            self.byte(byte);
            bytes = rest;
        }
    }

    fn byte(&mut self, byte: u8) {
        self.place = match (self.place, byte) {
            (Place::Start, b'/') => Place::SecondSlash,
            (Place::SecondSlash, b'/') => Place::Authority,
            (Place::Authority, b'/' | b'?' | b'#') => {
                self.end_authority();
                Place::Rest
            }
            (Place::Authority, byte) => {
                self.authority_byte(byte);
                Place::Authority
            }
            _ => Place::Rest,
        };
        self.escape = match (self.escape, byte) {
            (_, b'%') => Escape::Open,
            (Escape::Open, digit) => hex_value(digit).map_or(Escape::None, Escape::High),
            (Escape::High(high), digit) => {
                if let Some(low) = hex_value(digit) {
                    self.escaped(high << 4 | low);
                }
                Escape::None
            }
            (Escape::None, _) => Escape::None,
        };
    }

    fn authority_byte(&mut self, byte: u8) {
        if byte == b'@' {
            // All before the last "@" is userinfo, other "@" included.
            if self.behind_colon == Some(true) {
                self.found.add(Advisory::Password);
            }
            self.port = Port::None;
        }
        self.behind_colon = match self.behind_colon {
            None => (byte == b':').then_some(false),
            Some(_) => Some(true),
        };
        self.port = match (byte, self.port) {
            (b'@' | b']', _) | (0..=b'9' | b';'.., Port::None) => Port::None,
            (b':', _) => Port::Number { value: 0, empty: true },
            (b'0'..=b'9', Port::Number { value, .. }) => {
                Port::Number { value: (value * 10 + u32::from(byte - b'0')).min(1_000_000), empty: false }
            }
            _ => Port::Other,
        };
    }

    fn end_authority(&mut self) {
        let Port::Number { value, empty: false } = self.port else { return };
        let default = self.scheme.and_then(|place| KNOWN[place].default_port);
        if default.is_some_and(|default| u32::from(default) != value) {
            self.found.add(Advisory::PortNondefault);
            if value < 1024 {
                self.found.add(Advisory::PortReserved);
            }
        }
        if self.scheme == Some(GOPHER) && value == 25 {
            self.found.add(Advisory::GopherSmtp);
        }
    }

    fn escaped(&mut self, byte: u8) {
        self.found.add_escaped(self.scheme, byte);
    }

    /// The advisories, now that the line has ended.
    pub(crate) fn finish(mut self) -> Advisories {
        if self.place == Place::Authority {
            self.end_authority();
        }
        self.found
    }
}

#[inline]
fn hex_value(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
