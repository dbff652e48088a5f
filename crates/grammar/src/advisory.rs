//! Advisories: noteworthy properties of accepted lines, from RFC 1738, section 6 (SPEC part 3).
//!
//! The scan takes a line in any number of parts. So its memory use does not depend on the length of the line. This file does not
//! decide whether a line is accepted.

use crate::hex::{hex_byte, hex_digit};
use crate::named;
use crate::named_enum::named_set;
use crate::scheme::{GOPHER, KNOWN};

named! {
    /// Something worth knowing about a line that at least one grammar accepts. It never changes a verdict.
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
        /// A gopher URL that connects to a mail server.
        GopherSmtp = "gopher-smtp",
    }
}

named_set! {
    /// A set of advisories.
    Advisories(u8) of Advisory,
    /// Returns whether the set contains an advisory.
    has
}

impl Advisories {
    fn add(&mut self, advisory: Advisory) {
        self.0 |= 1 << advisory as u8;
    }

    /// Adds the advisories of a percent-encoded `byte`. `scheme` is an index in [`KNOWN`].
    fn add_escaped(&mut self, scheme: Option<usize>, byte: u8) {
        let tab_of_gopher = byte == b'\t' && scheme == Some(GOPHER);
        if matches!(byte, 0 | b'\t' | b'\n' | b'\r') && !tab_of_gopher {
            self.add(Advisory::EncodedControl);
        }
        if scheme.is_some_and(|place| KNOWN[place].delimiters.contains(&byte)) {
            self.add(Advisory::EncodedDelimiter);
        }
    }

    /// Adds the advisories of a port, or of one that stands for it ([`port_after`]).
    fn add_port(&mut self, scheme: Option<usize>, port: u16) {
        let default = scheme.and_then(|place| KNOWN[place].default_port);
        if default.is_some_and(|default| default != port) {
            self.add(Advisory::PortNondefault);
            if port < 1024 {
                self.add(Advisory::PortReserved);
            }
        }
        if scheme == Some(GOPHER) && port == SMTP {
            self.add(Advisory::GopherSmtp);
        }
    }

    /// Returns the advisories on percent escapes in `text`. `scheme` is an index in [`KNOWN`].
    pub fn of_escapes(scheme: Option<usize>, text: &[u8]) -> Self {
        let mut found = Self::default();
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'%', rest) {
            rest = &rest[at + 1..];
            // Another escape mostly follows directly.
            while let Some(byte) = hex_byte(rest) {
                found.add_escaped(scheme, byte);
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

/// The part of the line that the next byte belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum LinePart {
    /// The first byte after the scheme.
    Start,
    /// The second byte, after a "/".
    SecondSlash,
    /// The authority.
    Authority,
    /// Everything after the authority.
    Rest,
}

/// The port that gopher URLs name to reach a mail server.
const SMTP: u16 = 25;

/// Returns a port that stands for the port after one more digit. It has the same advisories, now and after any more digits.
///
/// So a scan has few states. A port is itself if it is 0, begins a port that has a meaning of its own, or begins 1000 to 1029.
/// Any other number stands for all with as many digits: 9, 99, 999 for those below 1024, and 9999.
fn port_after(scheme: Option<usize>, port: u16, digit: u8) -> u16 {
    let value = port.saturating_mul(10).saturating_add((digit - b'0').into());
    let begins = |whole: u16| [whole, whole / 10, whole / 100, whole / 1000].contains(&value);
    let default = scheme.and_then(|place| KNOWN[place].default_port);
    match value {
        0 => value,
        _ if default.is_some_and(begins) || (scheme == Some(GOPHER) && begins(SMTP)) => value,
        1 | 10 | 100..=102 => value,
        2..=9 => 9,
        11..=99 => 99,
        103..=1023 => 999,
        _ => 9999,
    }
}

/// The text after the last ":" so far, outside brackets, which may be the port.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Port {
    /// There is no ":" yet.
    None,
    /// There are no bytes after the ":".
    Empty,
    /// All bytes so far are digits. The number stands for the port ([`port_after`]).
    Number(u16),
    /// Some byte is not a digit.
    Other,
}

/// The part of a percent escape that has been read.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Escape {
    /// Nothing, or an escape of no noteworthy byte.
    None,
    /// The "%".
    Open,
    /// The "%" and a digit of this value, with which a noteworthy escape can begin.
    High(u8),
}

/// Reads the text after the scheme of a line, and finds its advisories. It has few states.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct AdvisoryScan {
    /// The index of the scheme in [`KNOWN`].
    scheme: Option<usize>,
    place: LinePart,
    found: Advisories,
    /// Whether bytes follow the first ":" of the authority; `None` before that ":".
    behind_colon: Option<bool>,
    port: Port,
    /// The part of a percent escape that has been read.
    escape: Escape,
}

impl AdvisoryScan {
    /// Starts to scan a line. `scheme` is the index of its scheme in [`KNOWN`].
    pub fn new(scheme: Option<usize>) -> Self {
        let found = Advisories::default();
        Self {
            scheme,
            place: LinePart::Start,
            found,
            behind_colon: None,
            port: Port::None,
            escape: Escape::None,
        }
    }

    /// Starts to scan in the first segment of a line without scheme. The bytes before are not noteworthy.
    #[cfg(feature = "scan")]
    pub fn within_first_segment() -> Self {
        Self { place: LinePart::Rest, ..Self::new(None) }
    }

    /// Reads the next bytes. The first byte of the first call follows the scheme and its ":", or begins a line without scheme.
    pub fn feed(&mut self, mut bytes: &[u8]) {
        while let Some((&byte, rest)) = bytes.split_first() {
            match self.skip(bytes) {
                0 => {
                    self.byte(byte);
                    bytes = rest;
                }
                n => bytes = &bytes[n..],
            }
        }
    }

    /// Reads some of the next bytes at once, and returns their number, which may be 0.
    fn skip(&mut self, bytes: &[u8]) -> usize {
        let is_plain = self.escape == Escape::None;
        match (self.place, self.port) {
            (LinePart::Rest, _) if is_plain => {
                // An escape may begin in the last two bytes and end behind them.
                let last = bytes.len().saturating_sub(2);
                let n = memchr::memchr(b'%', &bytes[last..]).map_or(bytes.len(), |at| last + at);
                self.found.0 |= Advisories::of_escapes(self.scheme, &bytes[..n]).0;
                n
            }
            (LinePart::Authority, Port::None | Port::Other) if is_plain => {
                let tells = |byte: &u8| matches!(byte, b'/' | b'?' | b'#' | b':' | b'@' | b']' | b'%');
                let n = bytes.iter().position(tells).unwrap_or(bytes.len());
                self.behind_colon = self.behind_colon.map(|is_behind| is_behind || n > 0);
                n
            }
            _ => 0,
        }
    }

    /// Reads the next byte.
    pub fn byte(&mut self, byte: u8) {
        self.place = match (self.place, byte) {
            (LinePart::Start, b'/') => LinePart::SecondSlash,
            (LinePart::SecondSlash, b'/') => LinePart::Authority,
            (LinePart::Authority, b'/' | b'?' | b'#') => {
                self.end_authority();
                LinePart::Rest
            }
            (LinePart::Authority, byte) => {
                self.authority_byte(byte);
                LinePart::Authority
            }
            _ => LinePart::Rest,
        };
        self.escape = match (self.escape, byte) {
            (_, b'%') => Escape::Open,
            (Escape::Open, b'0' | b'2'..=b'4') => Escape::High(byte - b'0'),
            (Escape::High(high), digit) => {
                if let Some(low) = hex_digit(digit) {
                    self.found.add_escaped(self.scheme, high << 4 | low);
                }
                Escape::None
            }
            (Escape::Open | Escape::None, _) => Escape::None,
        };
    }

    fn authority_byte(&mut self, byte: u8) {
        if byte == b'@' {
            // All bytes before the last "@" are userinfo, including any other "@".
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
            (b':', _) => Port::Empty,
            (b'0'..=b'9', Port::Empty) => Port::Number(port_after(self.scheme, 0, byte)),
            (b'0'..=b'9', Port::Number(port)) => Port::Number(port_after(self.scheme, port, byte)),
            _ => Port::Other,
        };
    }

    fn end_authority(&mut self) {
        let Port::Number(port) = self.port else { return };
        self.found.add_port(self.scheme, port);
    }

    /// Ends the line, and returns its advisories.
    pub fn finish(mut self) -> Advisories {
        if self.place == LinePart::Authority {
            self.end_authority();
        }
        self.found
    }
}

#[cfg(all(test, feature = "scan"))]
mod tests {
    use super::*;
    use crate::random::Random;

    /// What stands for a port has the advisories of the port.
    #[test]
    fn ports_stand_for_others() {
        for scheme in [None, Some(0), Some(1), Some(2), Some(GOPHER), Some(7), Some(10), Some(20)] {
            let default = scheme.and_then(|place| KNOWN[place].default_port);
            for port in 0..70_000_u32 {
                for digits in [port.to_string(), format!("00{port}")] {
                    let mut found = Advisories::default();
                    found.add_port(
                        scheme,
                        digits.bytes().fold(0, |port, digit| port_after(scheme, port, digit)),
                    );
                    let is_other = default.is_some_and(|default| u32::from(default) != port);
                    let expected = [
                        (is_other, Advisory::PortNondefault),
                        (is_other && port < 1024, Advisory::PortReserved),
                        (scheme == Some(GOPHER) && port == 25, Advisory::GopherSmtp),
                    ];
                    let expected = expected.into_iter().filter(|(has, _)| *has).map(|(_, advisory)| advisory);
                    assert_eq!(found, expected.collect(), "{scheme:?} {digits}");
                }
            }
        }
    }

    #[test]
    fn parts_of_any_length_give_the_same() {
        const TEXTS: [&str; 16] =
            ["//", "/", "a", "bc", "@", ":", "99", "[", "]", "?", "%0", "%41", "%2F", "%0d", "%", "a-b.c"];
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            let texts: String = (0..random.below(14)).map(|_| TEXTS[random.below(TEXTS.len())]).collect();
            let line = format!("{}{texts}", ["", "//"][random.below(2)]);
            for scheme in [None, Some(0), Some(GOPHER)] {
                let by = |len: usize| {
                    let mut scan = AdvisoryScan::new(scheme);
                    line.as_bytes().chunks(len).for_each(|part| scan.feed(part));
                    scan.finish()
                };
                let mut by_byte = AdvisoryScan::new(scheme);
                line.bytes().for_each(|byte| by_byte.byte(byte));
                let expected = by_byte.finish();
                for len in [1, 2, 3, 5, 100] {
                    assert_eq!(by(len), expected, "{line} {len}");
                }
            }
        }
    }
}
