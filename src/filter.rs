//! Conditions on a line, by which `urlsift lines` and `urlsift split` select lines (`--where`).
//!
//! This file knows neither files nor outputs. Names of conditions are parsed in `cli/args/filter.rs`.

use std::cell::LazyCell;
use std::sync::Arc;

use crate::columns::Column;
use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::host::compared;
use urlsift_grammar::host_set::HostSet;
use urlsift_grammar::judge::{Judgement, Kind};
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::uri_parts::host;
use urlsift_grammar::whatwg::on_demand::OnDemand;
use urlsift_grammar::whatwg::{Level, Url, ValidationError};
use urlsift_grammar::{Grammar, Verdict};

/// Selects lines. A line matches if it is not blank and all conditions hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The grammar of [`Test::Defect`].
    pub grammar: Grammar,
    /// The list of [`Test::Domain`], and of the columns of [`Test::Cell`].
    pub suffixes: UsedList,
    /// The conditions. Without any, all lines match, blank ones too.
    conditions: Vec<Condition>,
}

/// Alternatives. The condition holds if one of them does.
#[derive(Clone, Debug)]
pub struct Condition(pub Vec<Test>);

/// A property of a line.
#[derive(Clone, Debug)]
pub enum Test {
    /// The filter's grammar refuses the line, with this component and this cause. `None` stands for any.
    Defect(Option<Component>, Option<Cause>),
    /// The line has this scheme, in any letter case.
    Scheme(String),
    /// The line has a scheme, or has none.
    Kind(Kind),
    /// Exactly these grammars accept the line.
    Verdict(Verdict),
    /// The grammar accepts the line (`true`) or refuses it (`false`).
    Accepted(Grammar, bool),
    /// The line has this advisory.
    Advisory(Advisory),
    /// The line has this host, as hosts are compared.
    Host(Vec<u8>),
    /// The host of the line has this registrable domain.
    Domain(Vec<u8>),
    /// The set contains the host of the line (`true`); it does not, or the line has no host (`false`).
    HostIn(Arc<HostSet>, bool),
    /// The cell of the line in this column is one of the values, or is a list that has one of them. `None` is a cell that is absent.
    Cell(&'static Column, Vec<Option<Vec<u8>>>),
    /// The WHATWG URL Standard says this of the line.
    Whatwg(Level),
    /// RFC 3986 finds another host in the line than the WHATWG parser.
    HostsDiffer,
    /// The WHATWG parser reports this error.
    WhatwgError(ValidationError),
}

impl Test {
    fn needs_whatwg(&self) -> bool {
        matches!(self, Self::Whatwg(_) | Self::HostsDiffer | Self::WhatwgError(_))
    }

    /// Which tests cost more than others.
    fn cost(&self) -> u8 {
        match self {
            Self::Cell(..) => 1,
            _ if self.needs_whatwg() => 2,
            _ => 0,
        }
    }
}

impl Filter {
    /// The lines for which all conditions hold. Defects are those of `grammar`, and domains those of a list.
    #[must_use]
    pub fn new(grammar: Grammar, suffixes: UsedList, mut conditions: Vec<Condition>) -> Self {
        // What costs most is looked at last.
        conditions.sort_by_key(|condition| condition.0.iter().map(Test::cost).max());
        Self { grammar, suffixes, conditions }
    }

    /// Whether all lines match, blank ones too.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    fn tests(&self) -> impl Iterator<Item = &Test> {
        self.conditions.iter().flat_map(|condition| &condition.0)
    }

    /// Whether a condition concerns the defect of a line.
    #[must_use]
    pub fn has_defect(&self) -> bool {
        self.tests().any(|test| matches!(test, Test::Defect(..)))
    }

    /// Whether a condition needs the WHATWG parser.
    #[must_use]
    pub fn needs_whatwg(&self) -> bool {
        self.tests().any(Test::needs_whatwg)
    }

    /// Whether a line matches. `advisories` are its advisories if they are known. The WHATWG parser forgets its line for this one, and parses
    /// it against `base`.
    #[must_use]
    pub(crate) fn matches(
        &self,
        judgement: &Judgement<'_>,
        advisories: Option<Advisories>,
        (parser, base): (&mut OnDemand, Option<&Url>),
    ) -> bool {
        let (line, mut buffer) = (judgement.line(), Vec::new());
        parser.forget();
        let mut whatwg = parser.line(line, base, judgement.verdict().accepts(Grammar::Rfc3986));
        let buffer = &mut buffer;
        let host = LazyCell::new(move || compared(&line[host(line)?.name], buffer));
        let defect = LazyCell::new(|| judgement.defect(self.grammar));
        let advisories = LazyCell::new(|| advisories.unwrap_or_else(|| judgement.advisories()));
        self.conditions.iter().all(|condition| {
            condition.0.iter().any(|test| match test {
                Test::Scheme(name) => {
                    judgement.scheme().is_some_and(|scheme| scheme.eq_ignore_ascii_case(name.as_bytes()))
                }
                Test::Kind(kind) => judgement.kind() == *kind,
                Test::Verdict(verdict) => judgement.verdict() == *verdict,
                Test::Accepted(grammar, accepted) => judgement.verdict().accepts(*grammar) == *accepted,
                Test::Advisory(advisory) => advisories.has(*advisory),
                Test::Host(name) => host.is_some_and(|host| host == name),
                Test::Domain(name) => {
                    let found =
                        host.and_then(|host| Some(&host[self.suffixes.find_icann(host, None)?.domain?..]));
                    found.is_some_and(|domain| domain == name)
                }
                Test::HostIn(set, wanted) => host.is_some_and(|host| set.contains(host)) == *wanted,
                Test::Cell(column, values) => column.has_any(judgement, &self.suffixes, values),
                Test::Whatwg(level) => whatwg.level() == *level,
                Test::HostsDiffer => whatwg.hosts_differ(),
                Test::WhatwgError(error) => whatwg.errors().iter().any(|found| found.error == *error),
                Test::Defect(component, cause) => defect.as_ref().is_some_and(|defect| {
                    component.is_none_or(|component| component == defect.component)
                        && cause.is_none_or(|cause| cause == defect.cause)
                }),
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_grammar::judge::judge;

    #[test]
    fn hosts_compare_as_domains_do() {
        let set = Arc::new(HostSet::parse(b"b.example\n192.0.2.1").unwrap());
        let matches = |test: Test, line: &str| {
            let filter = Filter::new(Grammar::Rfc3986, UsedList::default(), vec![Condition(vec![test])]);
            let (line, mut parser) = (line.as_bytes(), OnDemand::default());
            filter.matches(&judge(line), None, (&mut parser, None))
        };
        for (line, is_host, is_domain, is_contained) in [
            ("http://a.b.example/", true, true, true),
            ("//u@A.%62.example.:80", true, true, true),
            ("http://a.b.example/ refused", true, true, true),
            ("http://x.b.example", false, true, true),
            ("http://b.example", false, true, true),
            ("http://ab.example", false, false, false),
            ("http://192.0.2.1", false, false, true),
            ("http://x.192.0.2.1", false, false, false),
            ("http://\u{ad}/", false, false, false),
            ("a.b.example", false, false, false),
            ("file:///a", false, false, false),
        ] {
            assert_eq!(matches(Test::Host(b"a.b.example".into()), line), is_host, "{line}");
            assert_eq!(matches(Test::Domain(b"b.example".into()), line), is_domain, "{line}");
            assert_eq!(matches(Test::HostIn(set.clone(), true), line), is_contained, "{line}");
            assert_eq!(matches(Test::HostIn(set.clone(), false), line), !is_contained, "{line}");
        }
    }
}
