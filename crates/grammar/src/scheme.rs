//! The scheme of a line: where it ends, and what is known about its name.
//!
//! Kind and scheme of a line do not depend on a grammar. The widest scheme rule (RFC 1738, RFC 1808) decides, so that
//! `127.0.0.1:80` has the scheme `127.0.0.1` (SPEC A7).

use crate::named;

/// Returns the length of the scheme of `line` in bytes, without its ":"; `None` if the line has no scheme.
///
/// The scheme is the longest prefix of letters, digits, `+`, `-` and `.`, if it is not empty and a ":" follows.
#[must_use]
pub fn scheme_len(line: &[u8]) -> Option<usize> {
    let len = n_scheme_bytes(line);
    (len > 0 && line.get(len) == Some(&b':')).then_some(len)
}

/// The length of the longest prefix of letters, digits, `+`, `-` and `.`. Hosts mostly have these bytes, too.
#[inline]
pub(crate) fn n_scheme_bytes(text: &[u8]) -> usize {
    text.iter().take_while(|byte| SCHEME_BYTES[usize::from(**byte)]).count()
}

/// The result of [`is_scheme_byte`] for each byte.
pub(crate) static SCHEME_BYTES: [bool; 256] = {
    let mut scheme_bytes = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        scheme_bytes[byte as usize] = is_scheme_byte(byte);
        byte += 1;
    }
    scheme_bytes
};

/// Returns whether a scheme may contain `byte` (RFC 1738 and RFC 1808, letters of both cases).
#[inline]
pub const fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.')
}

named! {
    /// How the name of a scheme is known.
    Standing {
        /// RFC 1738 has a rule of its own for it.
        Defined = "defined",
        /// RFC 1738, section 4, keeps the name for it.
        Reserved = "reserved",
        /// No document here names it, but many lists do.
        Common = "common",
        /// RFC 1738, section 4, leaves names that begin with "x-" to experiments.
        Experimental = "experimental",
    }
}

impl Standing {
    /// Returns how the scheme `name` is known, ignoring letter case; `None` if it is unknown.
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_grammar as grammar; }
    /// use urlsift::grammar::scheme::Standing;
    ///
    /// assert_eq!(Standing::of("FTP"), Some(Standing::Defined));
    /// assert_eq!(Standing::of("x-drive"), Some(Standing::Experimental));
    /// assert_eq!(Standing::of("steam"), None);
    /// ```
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let experimental = || {
            let prefix = name.as_bytes().first_chunk::<2>()?;
            prefix.eq_ignore_ascii_case(b"x-").then_some(Self::Experimental)
        };
        find_known(name.as_bytes()).map(|place| KNOWN[place].standing).or_else(experimental)
    }
}

/// A scheme known by name.
#[derive(Clone, Copy, Debug)]
pub struct KnownScheme {
    /// The name in lower case.
    pub name: &'static str,
    /// How the name is known.
    pub standing: Standing,
    /// The port if a URL names none; `None` if the documents name no default.
    pub default_port: Option<u16>,
    /// The delimiters of the scheme's own syntax, which are noteworthy when they are percent-encoded (SPEC A85).
    pub delimiters: &'static [u8],
}

const fn known(
    name: &'static str,
    standing: Standing,
    default_port: Option<u16>,
    delimiters: &'static [u8],
) -> KnownScheme {
    KnownScheme { name, standing, default_port, delimiters }
}

/// All schemes known by name: those of RFC 1738, its reserved names, and common ones.
pub static KNOWN: [KnownScheme; 30] = {
    use Standing::{Common, Defined, Reserved};
    [
        known("http", Defined, Some(80), b"/;?"),
        known("https", Common, Some(443), b"/;?"),
        known("ftp", Defined, Some(21), b"/:;@"),
        known("file", Defined, None, b""),
        known("mailto", Defined, None, b""),
        known("gopher", Defined, Some(70), b""),
        known("news", Defined, None, b"@"),
        known("nntp", Defined, Some(119), b""),
        known("telnet", Defined, Some(23), b"/:@"),
        known("wais", Defined, Some(210), b""),
        known("prospero", Defined, Some(1525), b";="),
        known("afs", Reserved, None, b""),
        known("mid", Reserved, None, b""),
        known("cid", Reserved, None, b""),
        known("nfs", Reserved, None, b""),
        known("tn3270", Reserved, None, b""),
        known("mailserver", Reserved, None, b""),
        known("z39.50", Reserved, None, b""),
        known("url", Common, None, b""),
        known("data", Common, None, b""),
        known("javascript", Common, None, b""),
        known("tel", Common, None, b""),
        known("urn", Common, None, b""),
        known("irc", Common, None, b""),
        known("ldap", Common, None, b""),
        known("ws", Common, None, b""),
        known("wss", Common, None, b""),
        known("udp", Common, None, b""),
        known("magnet", Common, None, b""),
        known("gemini", Common, None, b""),
    ]
};

/// The index of `http` in [`KNOWN`].
pub const HTTP: usize = 0;
/// The index of `https` in [`KNOWN`].
pub const HTTPS: usize = 1;
/// The index of `ftp` in [`KNOWN`].
pub const FTP: usize = 2;
/// The index of `file` in [`KNOWN`].
pub const FILE: usize = 3;
/// The index of `gopher` in [`KNOWN`].
pub const GOPHER: usize = 5;

/// For each length, the first letters of all names of that length in [`KNOWN`], one bit per letter.
const BEGINNINGS: [u32; 16] = {
    let mut beginnings = [0; 16];
    let mut place = 0;
    while place < KNOWN.len() {
        let name = KNOWN[place].name.as_bytes();
        beginnings[name.len()] |= 1 << (name[0] - b'a');
        place += 1;
    }
    beginnings
};

/// Returns the index in [`KNOWN`] of the scheme `name`, ignoring letter case.
pub fn find_known(name: &[u8]) -> Option<usize> {
    // Many lists have host names with a port, which look like schemes. Length and first letter rule out most of them.
    let beginnings = *BEGINNINGS.get(name.len())?;
    let first = name.first()?.to_ascii_lowercase().wrapping_sub(b'a');
    if first >= 26 || beginnings >> first & 1 == 0 {
        return None;
    }
    KNOWN.iter().position(|known| known.name.as_bytes().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traps() {
        for (line, scheme) in [
            ("127.0.0.1:80", Some("127.0.0.1")),
            ("localhost:80", Some("localhost")),
            ("url:http://x", Some("url")),
            ("a_b:c", None),
            ("%61:b", None),
            (":x", None),
            ("//h:80", None),
            ("", None),
            ("http", None),
        ] {
            assert_eq!(scheme_len(line.as_bytes()).map(|len| &line[..len]), scheme, "{line}");
        }
    }

    #[test]
    fn places_are_right() {
        assert_eq!(find_known(b"HTTP"), Some(HTTP));
        assert_eq!(find_known(b"https"), Some(HTTPS));
        assert_eq!(find_known(b"ftp"), Some(FTP));
        assert_eq!(find_known(b"FILE"), Some(FILE));
        assert_eq!(find_known(b"gopher"), Some(GOPHER));
        for (place, known) in KNOWN.iter().enumerate() {
            assert_eq!(find_known(known.name.as_bytes()), Some(place), "no name stands twice");
        }
    }
}
