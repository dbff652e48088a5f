//! What is noteworthy about a host for the Domain Name System.

use std::sync::LazyLock;

use crate::host::{HostKind, is_numeric};
use crate::host_set::HostSet;
use crate::named;
use crate::named_enum::named_set;
use crate::public_suffix::SuffixList;

named! {
    /// What is noteworthy about a host for the Domain Name System. It never depends on a URL grammar.
    HostProblem {
        /// The host is no name and no address: UTS 46 refuses it, or it has a character that no domain has.
        NotAName = "not-a-name",
        /// A label is empty.
        EmptyLabel = "empty-label",
        /// A label has more than 63 bytes.
        LongLabel = "long-label",
        /// The name has more than 253 bytes.
        LongName = "long-name",
        /// A label begins or ends with a hyphen.
        HyphenAtEnd = "hyphen-at-end",
        /// The name has an underscore.
        Underscore = "underscore",
        /// The last label is a number, and the name is no IPv4 address.
        NumericLastLabel = "numeric-last-label",
        /// The Public Suffix List has no rule for the last label.
        UnknownSuffix = "unknown-suffix",
        /// The name is in the registry of RFC 6761, or below a name that is.
        SpecialUse = "special-use",
    }
}

named_set! {
    /// A set of problems.
    HostProblems(u16) of HostProblem,
    /// Returns whether the set contains a problem.
    has
}

impl HostProblems {
    /// The problems of a host that [`compared`](crate::host::compared) returned. An address and the empty host have none. The cost is linear in the length of the host.
    ///
    /// ```
    /// use urlsift_grammar::host_problems::HostProblems;
    /// use urlsift_grammar::public_suffix::SuffixList;
    ///
    /// let problems = HostProblems::of(Some(b"a_b.-c.localhost"), SuffixList::built_in());
    /// assert_eq!(problems.to_string(), "hyphen-at-end,underscore,unknown-suffix,special-use");
    /// ```
    #[must_use]
    pub fn of(host: Option<&[u8]>, list: &SuffixList) -> Self {
        let Some(host) = host else { return [HostProblem::NotAName].into_iter().collect() };
        match host {
            [] | [b'[', ..] => return Self::default(),
            // The kind of other hosts is not asked for: it looks at each byte.
            [b'0'..=b'9', ..] if HostKind::of(host) == HostKind::Ipv4 => return Self::default(),
            _ => {}
        }
        let (mut is_empty, mut is_long, mut has_hyphen, mut last) = (false, false, false, &host[..0]);
        for label in host.split(|byte| *byte == b'.') {
            is_empty |= label.is_empty();
            is_long |= label.len() > 63;
            has_hyphen |= label.first() == Some(&b'-') || label.last() == Some(&b'-');
            last = label;
        }
        let is_numeric = is_numeric(last);
        let tests = [
            (is_empty, HostProblem::EmptyLabel),
            (is_long, HostProblem::LongLabel),
            (host.len() > 253, HostProblem::LongName),
            (has_hyphen, HostProblem::HyphenAtEnd),
            (host.contains(&b'_'), HostProblem::Underscore),
            (is_numeric, HostProblem::NumericLastLabel),
            (!is_numeric && !list.knows(host), HostProblem::UnknownSuffix),
            (SPECIAL_USE.contains(host, None), HostProblem::SpecialUse),
        ];
        tests.into_iter().filter(|(holds, _)| *holds).map(|(_, problem)| problem).collect()
    }
}

/// The names of IANA's registry of special-use domain names (RFC 6761). They include the names below them.
static SPECIAL_USE: LazyLock<HostSet> =
    LazyLock::new(|| HostSet::parse(include_bytes!("../data/special_use.txt")).expect("the list is tested"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_problem_alone() {
        let long = format!("{}.example-site.com", "a".repeat(64));
        let deep = format!("{}org", "a.".repeat(126));
        for (host, problems) in [
            (None, "not-a-name"),
            (Some("a..com"), "empty-label"),
            (Some(".com"), "empty-label"),
            (Some(&*long), "long-label"),
            (Some(&*deep), "long-name"),
            (Some(&deep[2..]), "-"),
            (Some("a-.com"), "hyphen-at-end"),
            (Some("a.-b.com"), "hyphen-at-end"),
            (Some("a-b.com"), "-"),
            (Some("a_b.com"), "underscore"),
            (Some("a.1"), "numeric-last-label"),
            (Some("1.2.3.256"), "numeric-last-label"),
            (Some("a.0x1f"), "numeric-last-label"),
            (Some("a.1a"), "unknown-suffix"),
            (Some("intranet"), "unknown-suffix"),
            (Some("com"), "-"),
            (Some("a.onion"), "special-use"),
            (Some("www.example.com"), "special-use"),
            (Some("anexample.com"), "-"),
            (Some("10.in-addr.arpa"), "special-use"),
            (Some("1.2.3.4"), "-"),
            (Some("[::1]"), "-"),
            (Some(""), "-"),
        ] {
            let found = HostProblems::of(host.map(str::as_bytes), SuffixList::built_in());
            assert_eq!(found.to_string(), problems, "{host:?}");
            assert_eq!(found.is_empty(), problems == "-");
        }
    }
}
