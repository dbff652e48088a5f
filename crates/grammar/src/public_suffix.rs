//! The public suffix and the registrable domain of a host, by the Public Suffix List or another list in its form.
//!
//! `suffix_table` makes the table of a list, for the built-in list when the crate is compiled. This file searches it.

use std::borrow::Cow;
use std::ops::Deref;
use std::sync::Arc;

use crate::host::{is_numeric, to_ascii};
use crate::labels::{Tail, Tails, has_empty_label, hash_of_last, last_dot, word_before};
use crate::suffix_table::{
    EXCEPTION, HAS_CHILDREN, KEY, ROOT, RULE, SECTIONS, Table, WILDCARD, flags, key, place,
};
pub use crate::suffix_table::{SuffixListError, SuffixListErrorKind};

#[allow(clippy::unreadable_literal, reason = "nobody reads the table")]
mod list {
    include!(concat!(env!("OUT_DIR"), "/public_suffix_list.rs"));
}

/// The list of this program.
static BUILT_IN: SuffixList = SuffixList(Table {
    nodes: Cow::Borrowed(&list::NODES),
    displacements: Cow::Borrowed(&list::DISPLACEMENTS),
    labels: Cow::Borrowed(&list::LABELS),
    version: Cow::Borrowed(list::VERSION),
    hash: list::HASH,
});

/// A list of public suffixes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuffixList(Table);

/// The list in use: the built-in one or another. Clones share it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsedList(Option<Arc<SuffixList>>);

impl From<SuffixList> for UsedList {
    fn from(list: SuffixList) -> Self {
        Self(Some(Arc::new(list)))
    }
}

impl Deref for UsedList {
    type Target = SuffixList;

    fn deref(&self) -> &SuffixList {
        self.0.as_deref().unwrap_or(&BUILT_IN)
    }
}

/// The public suffixes of a host, and its registrable domains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Suffixes<'a> {
    host: &'a [u8],
    /// Where the suffix begins, by the ICANN section and by both.
    starts: [usize; 2],
    /// The last name that was looked at. It mostly is a registrable domain.
    last: Tail,
    /// The bits of the dots of the host, if they are known.
    dots: Option<u64>,
}

/// Where the public suffix of a host begins, and its registrable domain, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SuffixStarts {
    pub suffix: usize,
    pub domain: Option<usize>,
}

impl SuffixList {
    /// The list of this program.
    #[must_use]
    pub fn built_in() -> &'static Self {
        &BUILT_IN
    }

    /// Reads a list in the form of the Public Suffix List. The list is sorted once.
    ///
    /// # Errors
    /// If `text` is no such list.
    pub fn parse(text: &[u8]) -> Result<Self, SuffixListError> {
        Table::parse(text, to_ascii).map(Self)
    }

    /// A list without rules that has this version and this hash. It stands for a list that was used elsewhere.
    #[must_use]
    pub fn stand_in(version: String, hash: u64) -> Self {
        let (nodes, displacements, labels) = (vec![0].into(), vec![0; 2].into(), Cow::default());
        Self(Table { nodes, displacements, labels, version: version.into(), hash })
    }

    /// The version that the list names, such as `2026-10-22_08-36-41_UTC`. Empty if it names none.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.0.version
    }

    /// A hash that distinguishes different lists.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.0.hash
    }

    /// The public suffixes of a compared host ([`compared`](crate::host::compared)).
    ///
    /// `None` for an address, for a host whose last label is a number, for a host with an empty label and for the empty host. If no rule
    /// matches, the suffix is the last label. It costs a few look-ups, and time linear in the length of the host.
    #[must_use]
    #[inline]
    pub fn find<'a>(&self, host: &'a [u8]) -> Option<Suffixes<'a>> {
        self.find_in::<SECTIONS>(host, None)
    }

    /// Where the suffix and the domain of [`Self::find`] begin that the ICANN section has. Looks at no rule of the private section. If there
    /// are `dots`, bit `n` says whether byte `n` of the host is a dot.
    #[doc(hidden)]
    #[must_use]
    #[inline]
    pub fn find_icann(&self, host: &[u8], dots: Option<u64>) -> Option<SuffixStarts> {
        let dots = dots.filter(|_| host.len() < 64);
        let last_label = dots.and_then(|dots| self.find_last_label(host, dots));
        last_label.or_else(|| self.find_icann_by_rules(host, dots))
    }

    #[inline(never)]
    fn find_icann_by_rules(&self, host: &[u8], dots: Option<u64>) -> Option<SuffixStarts> {
        let found = self.find_in::<1>(host, dots)?;
        let start = |domain: &[u8]| host.len() - domain.len();
        Some(SuffixStarts { suffix: found.starts[0], domain: found.domain().map(start) })
    }

    /// The same for most hosts: those whose last label has less than 8 bytes and no longer rule of the section. `None` for others.
    #[inline(always)]
    fn find_last_label(&self, host: &[u8], dots: u64) -> Option<SuffixStarts> {
        let dot = last_dot(dots, host.len())?;
        let len = host.len() - dot - 1;
        if !(1..8).contains(&len) || host[dot + 1].is_ascii_digit() || has_empty_label_at(dots, host.len()) {
            return None;
        }
        let (_, flags) = self.node(ROOT, &host[dot + 1..], hash_of_last(host, len))?;
        let domain = last_dot(dots, dot).map_or(0, |dot| dot + 1);
        let is_suffix = flags & (HAS_CHILDREN | WILDCARD) == 0;
        is_suffix.then_some(SuffixStarts { suffix: dot + 1, domain: Some(domain) })
    }

    /// The suffixes by the rules of these sections.
    #[inline(always)]
    fn find_in<'a, const WANTED: u8>(&self, host: &'a [u8], dots: Option<u64>) -> Option<Suffixes<'a>> {
        let mut found = Suffixes { host, starts: [0; 2], last: Tail::default(), dots };
        // The sections of both results, or none after an exception.
        let mut sections = [1, SECTIONS];
        let (mut parent, mut wildcards) = (Some(ROOT), 0);
        for tail in Tails::of(host, dots) {
            let label = &host[tail.start..tail.label_end];
            if label.is_empty() {
                return None;
            }
            if tail.label_end == host.len() {
                if host[0] == b'[' || is_numeric(label) {
                    return None;
                }
                found.starts = [tail.start; 2];
            }
            found.last = tail;
            let node = parent.and_then(|parent| self.node(parent, label, tail.hash));
            let flags = node.map_or(0, |(_, flags)| flags);
            let (rules, exceptions) =
                (((flags / RULE) & SECTIONS) | wildcards, (flags / EXCEPTION) & SECTIONS);
            if rules | exceptions != 0 {
                for (start, sections) in found.starts.iter_mut().zip(&mut sections) {
                    if exceptions & *sections != 0 {
                        (*start, *sections) = (tail.label_end + 1, 0);
                    } else if rules & *sections != 0 {
                        *start = tail.start;
                    }
                }
            }
            wildcards = (flags / WILDCARD) & SECTIONS;
            parent = node.map(|(number, _)| number).filter(|_| (flags / HAS_CHILDREN) & WANTED != 0);
            if parent.is_none() && wildcards & WANTED == 0 {
                break;
            }
        }
        let is_whole = match dots {
            Some(dots) => !has_empty_label_at(dots, host.len()),
            None => found.last.start.checked_sub(1).is_none_or(|dot| !has_empty_label(&host[..dot])),
        };
        is_whole.then_some(found)
    }

    /// Whether the list has the last label of a compared host.
    #[must_use]
    pub fn knows(&self, host: &[u8]) -> bool {
        let last = Tails::of(host, None).next();
        last.is_some_and(|last| self.node(ROOT, &host[last.start..], last.hash).is_some())
    }

    /// The number and the flags of the node below `parent` with this label. `hash` is the hash of the whole name.
    #[inline(always)]
    fn node(&self, parent: u32, label: &[u8], hash: u64) -> Option<(u32, u8)> {
        let Table { nodes, labels, .. } = &self.0;
        let slot = self.0.slot(hash);
        let node = nodes[slot];
        let is_it = node & KEY == key(parent, label.len(), hash)
            && label.len() <= 63
            && is_at(labels, place(node), label);
        is_it.then(|| u32::try_from(slot).map(|number| (number, flags(node))).ok()).flatten()
    }
}

/// Whether a name of less than 64 bytes has an empty label, by the bits of its dots.
#[inline]
fn has_empty_label_at(dots: u64, len: usize) -> bool {
    (dots << 1 | 1) & (dots | 1 << len) != 0
}

/// Whether `label` is at this place of the labels.
#[inline]
fn is_at(labels: &[u8], place: usize, label: &[u8]) -> bool {
    if label.len() < 8 {
        let end = place + label.len();
        return (word_before(labels, end) ^ word_before(label, label.len())) >> (64 - 8 * label.len()) == 0;
    }
    labels[place..].starts_with(label)
}

impl<'a> Suffixes<'a> {
    /// The public suffix by the ICANN section.
    #[must_use]
    #[inline]
    pub fn suffix(&self) -> &'a [u8] {
        &self.host[self.starts[0]..]
    }

    /// The registrable domain by the ICANN section: the suffix and one label more. `None` if the host is a suffix.
    #[must_use]
    #[inline]
    pub fn domain(&self) -> Option<&'a [u8]> {
        self.domain_above(self.starts[0])
    }

    /// The public suffix by both sections.
    #[must_use]
    pub fn private_suffix(&self) -> &'a [u8] {
        &self.host[self.starts[1]..]
    }

    /// The registrable domain by both sections. `None` if the host is a suffix.
    #[must_use]
    pub fn private_domain(&self) -> Option<&'a [u8]> {
        self.domain_above(self.starts[1])
    }

    #[inline]
    fn domain_above(&self, suffix: usize) -> Option<&'a [u8]> {
        let end = suffix.checked_sub(1)?;
        if end == self.last.label_end {
            return Some(&self.host[self.last.start..]);
        }
        let dot = match self.dots {
            Some(dots) => last_dot(dots, end),
            None => memchr::memrchr(b'.', &self.host[..end]),
        };
        Some(&self.host[dot.map_or(0, |dot| dot + 1)..])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::host::compared;
    use crate::random::Random;
    use crate::suffix_table::SuffixListErrorKind::{self, *};

    const TEXT: &str = include_str!("../data/public_suffix_list.dat");

    #[test]
    fn the_built_in_list_is_the_one_that_the_library_reads() {
        // So A-labels of the build script are those of UTS 46.
        assert_eq!(SuffixList::parse(TEXT.as_bytes()).as_ref(), Ok(SuffixList::built_in()));
        let Table { nodes, displacements, labels, version, .. } = &SuffixList::built_in().0;
        assert!(version.starts_with("20") && version.ends_with("UTC"), "{version}");
        assert!(nodes.len() * 8 + displacements.len() * 2 + labels.len() < 180_000);
    }

    #[test]
    fn official_test_cases() {
        let text = include_str!("../data/test_psl.txt");
        let mut n_cases = 0;
        for line in text.lines() {
            let Some(case) = line.strip_prefix("checkPublicSuffix(").and_then(|case| case.strip_suffix(");"))
            else {
                continue;
            };
            let (host, domain) = case.split_once(", ").unwrap();
            let [host, domain] =
                [host, domain].map(|text| text.strip_prefix('\'').map(|text| text.trim_end_matches('\'')));
            let Some(host) = host else { continue };
            let (mut buffer, mut other) = (Vec::new(), Vec::new());
            let host = compared(host.as_bytes(), &mut buffer).unwrap();
            let found = SuffixList::built_in().find(host).and_then(|found| found.private_domain());
            let domain = domain.map(|domain| compared(domain.as_bytes(), &mut other).unwrap());
            assert_eq!(found, domain, "{line}");
            n_cases += 1;
        }
        assert!(n_cases > 75, "{n_cases}");
    }

    /// The rules of a list as they are written, with A-labels.
    struct Rules {
        icann: HashSet<String>,
        both: HashSet<String>,
    }

    impl Rules {
        fn of(text: &str) -> Self {
            let (mut icann, mut both, mut is_private) = (HashSet::new(), HashSet::new(), false);
            for line in text.lines() {
                is_private |= line.contains("===BEGIN PRIVATE");
                if let Some(rule) = line.split_whitespace().next().filter(|rule| !rule.starts_with("//")) {
                    // The crate idna keeps "*" and "!".
                    let rule = to_ascii(rule).unwrap();
                    if !is_private {
                        icann.insert(rule.clone());
                    }
                    both.insert(rule);
                }
            }
            Self { icann, both }
        }
    }

    /// The public suffix by the words of <https://publicsuffix.org/list/>.
    fn suffix(rules: &HashSet<String>, host: &str) -> String {
        let labels: Vec<_> = host.split('.').collect();
        let tails = || (0..labels.len()).map(|n| (n, labels[n..].join(".")));
        if let Some((n, _)) = tails().find(|(_, tail)| rules.contains(&format!("!{tail}"))) {
            return labels[n + 1..].join(".");
        }
        let matches = |n: usize, tail: &str| {
            let above = labels[n + 1..].join(".");
            rules.contains(tail) || (n + 1 < labels.len() && rules.contains(&format!("*.{above}")))
        };
        tails()
            .find(|(n, tail)| matches(*n, tail))
            .map_or(labels[labels.len() - 1].to_owned(), |(_, tail)| tail)
    }

    /// Compares a list with its text, on hosts made of its rules.
    fn check(list: &SuffixList, text: &str, n_hosts: usize) {
        let rules = Rules::of(text);
        let mut all: Vec<_> = rules.both.iter().map(|rule| rule.trim_start_matches('!')).collect();
        all.sort_unstable();
        let mut random = Random::new(11);
        for _ in 0..n_hosts {
            let mut host = String::new();
            for _ in 0..random.below(3) {
                host +=
                    ["www.", "a.", "compute.", "city.", "co.", "x-y.", "longer-than-eight."][random.below(7)];
            }
            host += &all[random.below(all.len())].replace('*', ["a", "www", "city"][random.below(3)]);
            if random.below(5) == 0 {
                host = format!("{host}.{}", all[random.below(all.len())]).replace("*.", "");
            }
            let host = if random.below(4) == 0 {
                host.split_once('.').map_or(&*host, |(_, rest)| rest)
            } else {
                &host
            };
            let found = list.find(host.as_bytes()).unwrap();
            let [icann, by_dots] =
                [None, dots(host)].map(|dots| list.find_icann(host.as_bytes(), dots).unwrap());
            let domain_of = |starts: SuffixStarts| starts.domain.map(|start| &host.as_bytes()[start..]);
            for (rules, start, domain) in [
                (&rules.icann, found.starts[0], found.domain()),
                (&rules.both, found.starts[1], found.private_domain()),
                (&rules.icann, icann.suffix, domain_of(icann)),
                (&rules.icann, by_dots.suffix, domain_of(by_dots)),
            ] {
                assert_eq!(host[start..], suffix(rules, host), "{host}");
                let expected =
                    start.checked_sub(1).map(|dot| host[..dot].rfind('.').map_or(0, |dot| dot + 1));
                assert_eq!(domain, expected.map(|start| &host.as_bytes()[start..]), "{host}");
            }
        }
    }

    #[test]
    fn the_table_says_what_the_text_says() {
        check(SuffixList::built_in(), TEXT, 10_000);
        let rules = Rules::of(TEXT);
        for rule in &rules.both {
            let host = rule.replace('*', "a").replace('!', "");
            let found = SuffixList::built_in().find(host.as_bytes()).unwrap();
            assert_eq!(found.private_suffix(), suffix(&rules.both, &host).as_bytes());
            assert_eq!(found.suffix(), suffix(&rules.icann, &host).as_bytes());
        }
    }

    /// The bits of the dots of a host, unless it is too long.
    fn dots(host: &str) -> Option<u64> {
        let dots = host.bytes().rev().fold(0, |bits, byte| bits << 1 | u64::from(byte == b'.'));
        (host.len() < 64).then_some(dots)
    }

    fn list(icann: &str, private: &str) -> String {
        format!(
            "// ===BEGIN ICANN DOMAINS===\n{icann}\n// ===END ICANN DOMAINS===\n\
             // ===BEGIN PRIVATE DOMAINS===\n{private}\n// ===END PRIVATE DOMAINS===\n"
        )
    }

    #[test]
    fn odd_lists() {
        // Rules below exceptions and wildcards, a rule in both sections, and an exception in one of them.
        let text = list("a\n*.b\n!c.b\nx.c.b\n*.*x", "");
        assert_eq!(SuffixList::parse(text.as_bytes()).unwrap_err().kind, NotARule);
        for (icann, private) in [
            ("a", ""),
            ("a\n*.b\n!c.b\nx.c.b", "d.a\n*.d.a\n!e.d.a\nx.e.d.a"),
            ("*.a\n!b.a", "a\nb.a\n*.b.a"),
            ("*.a", "!b.a\nc.b.a"),
            ("a.b\nb  what follows a blank\nC.b\n\u{e9}.b", "a.b\nlonger-than-eight.b\ncompute.a.b"),
        ] {
            let text = list(icann, private);
            check(&SuffixList::parse(text.as_bytes()).unwrap(), &text, 2000);
        }
    }

    #[test]
    fn what_is_no_list_is_an_error() {
        let fails = |text: &[u8], line: usize, kind: SuffixListErrorKind| {
            let error = SuffixList::parse(text).unwrap_err();
            assert_eq!((error.line, error.kind), (line, kind));
        };
        fails(b"", 1, NoRules);
        fails(list("", "").as_bytes(), 7, NoRules);
        fails(b"Address,Status\nhttp://a.example/,200\n", 1, NotARule);
        fails(b"// a comment\ncom\n", 2, OutsideSections);
        fails(b"// ===BEGIN ICANN DOMAINS===\ncom\nco", 3, Unfinished);
        fails(b"// ===BEGIN ICANN DOMAINS===\ncom\n\xff\n", 3, NotUtf8);
        let marks = |marks: &[&str]| {
            marks.iter().map(|mark| format!("// ==={mark} DOMAINS===\ncom\n")).collect::<Vec<_>>().concat()
        };
        fails(marks(&["BEGIN ICANN", "END PRIVATE"]).as_bytes(), 3, MisplacedMark);
        fails(marks(&["BEGIN ICANN", "BEGIN PRIVATE"]).as_bytes(), 3, MisplacedMark);
        fails(marks(&["BEGIN ICANN", "BEGIN ICANN"]).as_bytes(), 3, MisplacedMark);
        fails(marks(&["END ICANN"]).as_bytes(), 1, MisplacedMark);
        for rule in [
            "a..b",
            ".a",
            "a.",
            "*",
            "a.*",
            "*a",
            "!a",
            "!",
            "*.",
            "!*.a",
            "a,b",
            "a/b",
            "\u{ad}",
            &"a".repeat(64),
            &format!("{}ab", "a.".repeat(126)),
        ] {
            fails(list(&format!("com\n{rule}"), "").as_bytes(), 3, NotARule);
        }
        fails(&vec![b'\n'; (3 << 19) + 1], 1, TooLarge);
    }

    #[test]
    fn hosts_without_a_domain() {
        let domains = |host: &str| {
            let found = SuffixList::built_in().find(host.as_bytes());
            for dots in [None, dots(host)] {
                let icann = SuffixList::built_in().find_icann(host.as_bytes(), dots);
                let suffix = icann.map(|icann| &host.as_bytes()[icann.suffix..]);
                assert_eq!(suffix, found.map(|found| found.suffix()), "{host}");
            }
            let found = found?;
            let text = |bytes| str::from_utf8(bytes).unwrap().to_owned();
            Some([Some(text(found.suffix())), found.domain().map(text)])
        };
        for host in ["", ".", "..", "a..com", ".a.com", "a.com..", "1.2.3.4", "a.1", "a.0x7f", "[::1]", "1"] {
            assert_eq!(domains(host), None, "{host}");
        }
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(domains("com"), Some([text("com"), None]));
        assert_eq!(domains("co.uk"), Some([text("co.uk"), None]));
        assert_eq!(domains("localhost"), Some([text("localhost"), None]));
        assert_eq!(domains("a.b.localhost"), Some([text("localhost"), text("b.localhost")]));
        assert_eq!(domains("b.c"), Some([text("c"), text("b.c")]));
        assert_eq!(domains("a.github.io"), Some([text("io"), text("github.io")]));
        let long = format!("{}com", "a.".repeat(10_000));
        assert_eq!(domains(&long), Some([text("com"), text("a.com")]));
        let long = "a".repeat(100_000);
        assert_eq!(domains(&format!("{long}.com")), Some([text("com"), Some(format!("{long}.com"))]));
        assert_eq!(domains(&long), Some([Some(long.clone()), None]));
    }
}
