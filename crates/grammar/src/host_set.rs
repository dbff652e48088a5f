//! A set of names for filters, such as a blocklist.

use std::fmt;

use crate::host::{HostKind, compared, is_address, is_numeric};
use crate::labels::{Tails, has_empty_label};

/// A set of names. It contains a host if it has its name, or a name above it. An address is contained only as itself.
///
/// A million names of 25 bytes take some 45 MB.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSet {
    /// A hash table with open addressing, at most half full. A slot has 32 bits of the hash, and the place of a name in `text`, from 1. An
    /// empty slot is 0.
    slots: Vec<u64>,
    /// The names, each after a byte with its length.
    text: Vec<u8>,
    /// A bit for each of the first bits of a hash: 16 bits for a name, which mostly say that a name is not there. They are in the caches where
    /// the slots are not.
    filter: Vec<u64>,
    /// Bit n says whether a name has n labels more than one. The last bit stands for all that have more.
    n_labels: u64,
    n_names: usize,
}

/// Why a text is no list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostSetErrorKind {
    /// This text of the line is no name and no address. A long one is cut off.
    NotAName(String),
    /// The names have more than 4 GiB.
    TooLarge,
}

/// A text that is no list of names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HostSetError {
    /// The number of the line, from 1.
    pub line: usize,
    pub kind: HostSetErrorKind,
}

impl fmt::Display for HostSetError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, kind } = self;
        match kind {
            HostSetErrorKind::NotAName(text) => write!(
                out,
                "line {line}: \"{text}\" is no name of a host; a line has one name, such as example.org, which stands for the names below it too"
            ),
            HostSetErrorKind::TooLarge => write!(out, "line {line}: too many names"),
        }
    }
}

impl std::error::Error for HostSetError {}

impl HostSet {
    /// Reads a list with a name per line. What follows a "#" is a comment. The cost is linear in the length of the text.
    ///
    /// ```
    /// use urlsift_grammar::host_set::HostSet;
    ///
    /// let set = HostSet::parse(b"# blocked\nexample.org\n192.0.2.1\n").unwrap();
    /// let contains = |host: &[u8]| set.contains(host, None);
    /// assert!(contains(b"example.org") && contains(b"www.example.org") && contains(b"192.0.2.1"));
    /// assert!(!contains(b"anexample.org") && !contains(b"org"));
    /// assert_eq!(HostSet::parse(b"a.example\nhttp://b.example/").unwrap_err().line, 2);
    /// ```
    ///
    /// # Errors
    /// If a line is no name and no address (H12), or if there are too many names.
    pub fn parse(text: &[u8]) -> Result<Self, HostSetError> {
        Self::of_lines(text.split(|byte| *byte == b'\n'), text.len())
    }

    /// The same, of the lines of a list, which has about `len` bytes. They need not be in memory at once.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn of_lines<L: AsRef<[u8]>>(
        lines: impl IntoIterator<Item = L>,
        len: usize,
    ) -> Result<Self, HostSetError> {
        let mut set = Self::default();
        // If there is no room, there may be for the names alone.
        let _ = set.text.try_reserve(len.min(u32::MAX as usize).saturating_add(1));
        let mut buffer = Vec::new();
        for (line, n) in lines.into_iter().zip(1..) {
            let line = line.as_ref();
            let line = if n == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
            let written = line.split(|byte| *byte == b'#').next().unwrap_or(line).trim_ascii();
            if written.is_empty() {
                continue;
            }
            let Some(name) = compared(written, &mut buffer).filter(|name| is_listable(name)) else {
                let shown = String::from_utf8_lossy(&written[..written.len().min(60)]);
                let rest = if written.len() > 60 { "..." } else { "" };
                let kind = HostSetErrorKind::NotAName(format!("{}{rest}", shown.escape_debug()));
                return Err(HostSetError { line: n, kind });
            };
            set.text.push(u8::try_from(name.len()).expect("a name of a list is short"));
            set.text.extend_from_slice(name);
            set.n_names += 1;
            if u32::try_from(set.text.len()).is_err() {
                return Err(HostSetError { line: n, kind: HostSetErrorKind::TooLarge });
            }
        }
        set.slots = vec![0; (2 * set.n_names).next_power_of_two()];
        set.filter = vec![0; set.slots.len().div_ceil(8)];
        let mut at = 0;
        while at < set.text.len() {
            let name = set.name(at);
            let len = name.len();
            let (n, hash) = Tails::of(name, None).zip(0..).last().map_or((0, 0), |(tail, n)| (n, tail.hash));
            match set.slot(hash, name) {
                (_, true) => set.n_names -= 1,
                (slot, false) => {
                    set.slots[slot] = hash << 32 | (at + 1) as u64;
                    let (word, bit) = set.place_in_filter(hash);
                    set.filter[word] |= 1 << bit;
                    set.n_labels |= 1 << n.min(63);
                }
            }
            at += 1 + len;
        }
        Ok(set)
    }

    /// How many different names the set has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.n_names
    }

    /// Returns whether the set has no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.n_names == 0
    }

    /// Returns whether the set has the name of a compared host ([`compared`]), or a name above it. If there are `dots`, bit `n` says whether
    /// byte `n` of the host is a dot, and the host has less than 64 bytes.
    ///
    /// The cost is linear in the length of the host. For each number of labels that names have, one place of memory is looked at.
    #[must_use]
    pub fn contains(&self, host: &[u8], dots: Option<u64>) -> bool {
        let mut is_address = host.first() == Some(&b'[');
        for (tail, n) in Tails::of(host, dots).zip(0..) {
            // The last label comes first.
            is_address |= n == 0 && is_numeric(&host[tail.start..]);
            let names = self.n_labels >> n.min(63);
            if names == 0 || host.len() - tail.start > MAX_LEN {
                return false;
            }
            let is_name = tail.start == 0 || !is_address;
            if names & 1 == 1
                && is_name
                && self.may_have(tail.hash)
                && self.slot(tail.hash, &host[tail.start..]).1
            {
                return true;
            }
        }
        false
    }

    /// The word and the bit of a hash in the filter.
    #[inline]
    fn place_in_filter(&self, hash: u64) -> (usize, u64) {
        let at = (hash >> 32) as usize;
        ((at / 64) & (self.filter.len() - 1), (hash >> 32) & 63)
    }

    /// Whether a name with this hash may be in the set.
    #[inline]
    fn may_have(&self, hash: u64) -> bool {
        let (word, bit) = self.place_in_filter(hash);
        self.filter[word] >> bit & 1 == 1
    }

    /// The slot of a name and true, or the empty slot for it and false.
    #[inline]
    fn slot(&self, hash: u64, name: &[u8]) -> (usize, bool) {
        let mask = self.slots.len() - 1;
        let mut slot = (hash >> 32) as usize & mask;
        loop {
            let entry = self.slots[slot];
            let is_it =
                entry != 0 && entry >> 32 == hash & LOW && self.name((entry & LOW) as usize - 1) == name;
            if entry == 0 || is_it {
                return (slot, is_it);
            }
            slot = (slot + 1) & mask;
        }
    }

    /// The name whose length is at `at`.
    #[inline]
    fn name(&self, at: usize) -> &[u8] {
        &self.text[at + 1..][..usize::from(self.text[at])]
    }
}

/// The lower half of a slot.
const LOW: u64 = 0xffff_ffff;

/// The most bytes of a name in the text of the Domain Name System.
const MAX_LEN: usize = 253;

/// Whether a list may have this compared host: a name that a domain can have, or an address (H12).
fn is_listable(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let is_listable = match HostKind::of(name) {
        HostKind::Name => name.iter().all(is_plain) && !has_empty_label(name) && !is_address(name),
        kind => kind != HostKind::Other,
    };
    is_listable && name.len() <= MAX_LEN
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn parse(text: &str) -> Result<HostSet, HostSetError> {
        HostSet::parse(text.as_bytes())
    }

    #[test]
    fn names_compare_as_domains_do() {
        let set = parse("\u{feff}Example.ORG. # all of it\r\n\n  b\u{fc}cher.example\n# no\n[2001:DB8::1]\n192.0.2.1\ncom\n").unwrap();
        assert_eq!(set.len(), 5);
        let mut buffer = Vec::new();
        for (host, is_contained) in [
            ("example.org", true),
            ("a.b.EXAMPLE.org.", true),
            ("aexample.org", false),
            ("org", false),
            ("example.org.uk", false),
            ("www.b%C3%BCcher.example", true),
            ("cher.example", false),
            ("[2001:db8::1]", true),
            ("192.0.2.1", true),
            ("a.192.0.2.1", false),
            ("2.1", false),
            ("com", true),
            ("x.com", true),
            ("", false),
            (".", false),
            (".com", true),
        ] {
            let host = compared(host.as_bytes(), &mut buffer).unwrap();
            assert_eq!(set.contains(host, None), is_contained, "{}", host.escape_ascii());
        }
    }

    #[test]
    fn a_line_that_is_no_name_is_an_error() {
        let long = format!("{}com", "a.".repeat(130));
        for line in [
            "http://a.example/", "a.example:80", "0.0.0.0 a.example", "*.example", ".example", "a..b",
            "||a.example^", "1.2.3", "1.2.3.256", "[::g]", "a,b", "\u{ad}", &*long,
        ] {
            let error = parse(&format!("ok.example\n{line}\nb.example")).unwrap_err();
            let shown =
                if line == long { format!("{}...", &line[..60]) } else { line.escape_debug().to_string() };
            assert_eq!(error, HostSetError { line: 2, kind: HostSetErrorKind::NotAName(shown) });
        }
        assert!(
            parse("").unwrap().is_empty()
                && !parse("").unwrap().contains(b"a", None)
                && !HostSet::default().contains(b"a", None)
        );
    }

    #[test]
    fn a_large_set_contains_what_a_plain_search_finds() {
        let mut random = Random::new(3);
        let mut draw = |n_labels: usize| {
            let labels: Vec<_> = (0..n_labels).map(|_| format!("x{}", random.below(40))).collect();
            labels.join(".")
        };
        let names: std::collections::HashSet<_> =
            (0..5000).map(|n| draw(1 + n % 4 + n % 3)).filter(|name| name.len() > 3).collect();
        let text: String = names.iter().flat_map(|name| [name, "\n", name, "\n"]).collect();
        let set = parse(&text).unwrap();
        assert_eq!(set.len(), names.len());
        for n in 0..20_000 {
            let host = draw(1 + n % 6);
            let mut tails =
                std::iter::successors(Some(&*host), |name| name.split_once('.').map(|(_, rest)| rest));
            let expected = tails.any(|name| names.contains(name));
            let bits = host.bytes().rev().fold(0, |bits, byte| bits << 1 | u64::from(byte == b'.'));
            for dots in [None, Some(bits).filter(|_| host.len() < 64)] {
                assert_eq!(set.contains(host.as_bytes(), dots), expected, "{host}");
            }
        }
        // The cost is linear, and what is longer than any name is not looked up.
        assert!(!set.contains("a.".repeat(50_000).as_bytes(), None));
        assert!(
            set.contains(format!("{}{}", "a.".repeat(50_000), names.iter().next().unwrap()).as_bytes(), None)
        );
    }
}
