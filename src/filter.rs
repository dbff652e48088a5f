//! Conditions on a line, by which `urlsift lines` and `urlsift split` select lines (`--where`).
//!
//! This file knows neither files nor outputs. Names of conditions are parsed in `cli/args/filter.rs`.

use std::cell::LazyCell;

use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::judge::{Judgement, Kind, judge};
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::whatwg::on_demand;
use urlsift_grammar::whatwg::{Level, ValidationError};
use urlsift_grammar::{Grammar, Verdict};

/// Selects lines. A line matches if it is not blank and all conditions hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The grammar of [`Test::Defect`].
    pub grammar: Grammar,
    /// The conditions. Without any, all lines match, blank ones too.
    pub conditions: Vec<Condition>,
}

/// Alternatives. The condition holds if one of them does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition(pub Vec<Test>);

/// A property of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
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
    /// The WHATWG URL Standard says this of the line.
    Whatwg(Level),
    /// RFC 3986 finds another host in the line than the WHATWG parser.
    HostsDiffer,
    /// The WHATWG parser reports this error.
    WhatwgError(ValidationError),
}

impl Test {
    /// Whether the test holds for a line with this scheme; `None` if that does not depend on the scheme alone.
    fn holds_for_scheme(&self, scheme: Option<&[u8]>) -> Option<bool> {
        match self {
            Self::Scheme(name) => {
                Some(scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(name.as_bytes())))
            }
            Self::Kind(kind) => Some((*kind == Kind::Absolute) == scheme.is_some()),
            _ => None,
        }
    }
}

impl Filter {
    /// Whether all lines match, blank ones too.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.conditions.is_empty()
    }

    /// Whether a condition concerns the defect of a line.
    #[must_use]
    pub fn has_defect(&self) -> bool {
        self.conditions.iter().flat_map(|condition| &condition.0).any(|test| matches!(test, Test::Defect(..)))
    }

    /// Whether a condition needs the WHATWG parser.
    #[must_use]
    pub fn needs_whatwg(&self) -> bool {
        let mut tests = self.conditions.iter().flat_map(|condition| &condition.0);
        tests.any(|test| matches!(test, Test::Whatwg(_) | Test::HostsDiffer | Test::WhatwgError(_)))
    }

    /// Judges a line that is not blank. Returns `None` if the line does not match. `whatwg` is the same line.
    #[must_use]
    #[inline]
    pub(crate) fn judge<'a>(
        &self,
        line: &'a [u8],
        whatwg: &mut on_demand::Line<'_>,
    ) -> Option<Judgement<'a>> {
        if self.is_empty() { Some(judge(line)) } else { self.judge_if_it_matches(line, whatwg) }
    }

    #[inline(never)]
    fn judge_if_it_matches<'a>(
        &self,
        line: &'a [u8],
        whatwg: &mut on_demand::Line<'_>,
    ) -> Option<Judgement<'a>> {
        // The scheme alone rules out most lines, and finding it costs far less than judging.
        let scheme = scheme_len(line).map(|len| &line[..len]);
        let is_possible = self
            .conditions
            .iter()
            .all(|condition| condition.0.iter().any(|test| test.holds_for_scheme(scheme).unwrap_or(true)));
        is_possible.then(|| judge(line)).filter(|judgement| self.matches(judgement, whatwg))
    }

    /// Whether a line with this verdict and these advisories may match.
    pub(crate) fn may_match(&self, verdict: Verdict, advisories: Advisories) -> bool {
        self.conditions.iter().all(|condition| {
            condition.0.iter().any(|test| match *test {
                Test::Scheme(_)
                | Test::Kind(_)
                | Test::Whatwg(_)
                | Test::HostsDiffer
                | Test::WhatwgError(_) => true,
                Test::Verdict(wanted) => verdict == wanted,
                Test::Accepted(grammar, accepted) => verdict.accepts(grammar) == accepted,
                Test::Advisory(advisory) => advisories.has(advisory),
                Test::Defect(..) => !verdict.accepts(self.grammar),
            })
        })
    }

    /// Whether a judged line matches. `whatwg` is the same line.
    #[must_use]
    pub(crate) fn matches(&self, judgement: &Judgement<'_>, whatwg: &mut on_demand::Line<'_>) -> bool {
        let defect = LazyCell::new(|| judgement.defect(self.grammar));
        let advisories = LazyCell::new(|| judgement.advisories());
        self.conditions.iter().all(|condition| {
            condition.0.iter().any(|test| match *test {
                Test::Scheme(_) | Test::Kind(_) => test.holds_for_scheme(judgement.scheme()) == Some(true),
                Test::Verdict(verdict) => judgement.verdict() == verdict,
                Test::Accepted(grammar, accepted) => judgement.verdict().accepts(grammar) == accepted,
                Test::Advisory(advisory) => advisories.has(advisory),
                Test::Whatwg(level) => whatwg.parsed().level() == level,
                Test::HostsDiffer => whatwg.hosts_differ(),
                Test::WhatwgError(error) => whatwg.parsed().errors().iter().any(|found| found.error == error),
                Test::Defect(component, cause) => defect.is_some_and(|defect| {
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
    use urlsift_grammar::whatwg::on_demand::OnDemand;

    #[test]
    fn a_line_that_the_scheme_rules_out_is_not_selected_in_another_way() {
        let filter = Filter {
            conditions: vec![
                Condition(vec![Test::Scheme("ftp".to_owned()), Test::Kind(Kind::Relative)]),
                Condition(vec![Test::Accepted(Grammar::Rfc3986, true)]),
            ],
            ..Filter::default()
        };
        for (line, selected) in
            [("FTP://a/", true), ("/a", true), ("http://a/", false), ("ftp://a b/", false), ("/a b", false)]
        {
            let mut parser = OnDemand::default();
            let line = line.as_bytes();
            assert_eq!(filter.judge(line, &mut parser.line(line, None)).is_some(), selected, "{line:?}");
            assert_eq!(filter.matches(&judge(line), &mut parser.line(line, None)), selected, "{line:?}");
        }
    }

    #[test]
    fn the_verdict_rules_out_only_lines_that_do_not_match() {
        let lines =
            ["http://a/", "http://a:81/", "ftp://u:p@a/", "/a", "/a b", "http://a/~", "", "x:%00", "1:/a"];
        let tests = [
            Test::Defect(None, None),
            Test::Defect(Some(Component::Path), Some(Cause::Space)),
            Test::Scheme("http".to_owned()),
            Test::Kind(Kind::Relative),
            Test::Verdict(Verdict::default()),
            Test::Verdict(Verdict::from_bits(31)),
            Test::Accepted(Grammar::Rfc1738, true),
            Test::Accepted(Grammar::Rfc1738, false),
            Test::Advisory(Advisory::PortNondefault),
            Test::Whatwg(Level::Valid),
            Test::HostsDiffer,
            Test::WhatwgError(ValidationError::InvalidUrlUnit),
        ];
        for (line, test) in lines.into_iter().flat_map(|line| tests.iter().map(move |test| (line, test))) {
            let filter = Filter { conditions: vec![Condition(vec![test.clone()])], ..Filter::default() };
            let judgement = judge(line.as_bytes());
            let may_match = filter.may_match(judgement.verdict(), judgement.advisories());
            let mut parser = OnDemand::default();
            let matches = filter.matches(&judgement, &mut parser.line(line.as_bytes(), None));
            assert!(may_match || !matches, "{line} {test:?}");
        }
    }
}
