//! Conditions on a line, by which `urlsift lines` and `urlsift split` select lines (`--where`).
//!
//! This file knows neither files nor outputs. Names of conditions are parsed in `cli/args/filter.rs`.

use std::cell::LazyCell;
use std::mem;
use std::sync::Arc;

use crate::columns::{Batch, Column, Need, Row};
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::host_set::HostSet;
use urlsift_grammar::judge::Kind;
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::{Grammar, Verdict};

/// Selects lines. A line matches if it is not blank and all conditions hold.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// The grammar of [`Test::Defect`].
    grammar: Grammar,
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
    /// The line has one of these hosts, as hosts are compared.
    Host(Vec<Vec<u8>>),
    /// The set contains the host of the line (`true`); it does not, or the line has no host (`false`).
    HostIn(Arc<HostSet>, bool),
    /// The cell of the line in this column is one of the values, or is a list that has one of them. `None` is a cell that is absent.
    Cell(&'static Column, Vec<Option<Vec<u8>>>),
    /// RFC 3986 finds another host in the line than the WHATWG parser.
    HostsDiffer,
}

impl Test {
    /// What has to be known of a line.
    fn needs(&self) -> Need {
        match self {
            Self::Scheme(_) | Self::Kind(_) | Self::Host(_) | Self::HostIn(..) => Need::Bytes,
            Self::Defect(..) | Self::Verdict(_) | Self::Accepted(..) => Need::Verdict,
            Self::Advisory(_) => Need::Advisories,
            Self::Cell(column, _) => column.needs,
            Self::HostsDiffer => Need::Parser,
        }
    }

    /// Which tests cost more than others.
    fn cost(&self) -> u8 {
        match self {
            Self::Cell(column, _) => match (column.name, column.needs) {
                (_, Need::Components) => 1,
                (_, Need::Parser) => 4,
                ("canonical" | "host_problems" | "surt", _) => 3,
                _ => 2,
            },
            Self::HostsDiffer => 4,
            _ => 0,
        }
    }
}

impl Filter {
    /// The lines for which all conditions hold. Defects are those of `grammar`.
    #[must_use]
    pub fn new(grammar: Grammar, mut conditions: Vec<Condition>) -> Self {
        // What costs most is looked at last.
        conditions.sort_by_key(|condition| condition.0.iter().map(Test::cost).max());
        Self { grammar, conditions }
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

    /// What the conditions need to know of a line.
    pub fn needs(&self) -> impl Iterator<Item = Need> {
        self.tests().map(Test::needs)
    }

    /// Takes the lines out of a batch that do not match. Passwords are compared as they are.
    pub(crate) fn retain(&self, batch: &mut Batch<'_>) {
        let mask_passwords = mem::take(&mut batch.mask_passwords);
        if batch.keeps_parsed {
            batch.add_parsers();
        }
        for condition in &self.conditions {
            let holds = condition.of_lines(batch, self.grammar);
            batch.retain(&holds);
        }
        batch.mask_passwords = mask_passwords;
    }
}

impl Condition {
    /// Whether it holds for each line of a batch.
    fn of_lines(&self, batch: &mut Batch<'_>, grammar: Grammar) -> Vec<bool> {
        let Self(tests) = self;
        let cells: Vec<_> = tests
            .iter()
            .map(|test| match test {
                Test::Cell(column, _) => Some(batch.cells_of(column)),
                _ => None,
            })
            .collect();
        let mut buffer = Vec::new();
        let mut holds = |n, row: Row<'_, '_>| {
            let defect = LazyCell::new(|| row.defect(grammar));
            tests.iter().zip(&cells).any(|(test, cells)| match (test, cells) {
                (Test::Cell(_, values), cells) => cells
                    .as_ref()
                    .is_some_and(|cells| values.iter().any(|value| cells.has(n, value.as_deref()))),
                (Test::Scheme(name), _) => has_scheme(row.line, name.as_bytes()),
                (Test::Kind(kind), _) => Kind::of_scheme(scheme_len(row.line)) == *kind,
                (Test::Verdict(verdict), _) => row.verdict == *verdict,
                (Test::Accepted(grammar, accepted), _) => row.verdict.accepts(*grammar) == *accepted,
                (Test::Advisory(advisory), _) => row.whole.advisories.has(*advisory),
                (Test::Host(names), _) => {
                    let host = row.compared_host(&mut buffer);
                    host.is_some_and(|(host, _)| names.iter().any(|name| name == host))
                }
                (Test::HostIn(set, wanted), _) => {
                    let host = row.compared_host(&mut buffer);
                    host.is_some_and(|(host, dots)| set.contains(host, dots)) == *wanted
                }
                (Test::HostsDiffer, _) => row.hosts_differ(),
                (Test::Defect(component, cause), _) => defect.as_ref().is_some_and(|defect| {
                    component.is_none_or(|component| component == defect.component)
                        && cause.is_none_or(|cause| cause == defect.cause)
                }),
            })
        };
        batch.rows().enumerate().map(|(n, row)| row.is_some_and(|row| holds(n, row))).collect()
    }
}

/// Whether a line has a scheme of this name.
fn has_scheme(line: &[u8], name: &[u8]) -> bool {
    line.get(name.len()) == Some(&b':') && line[..name.len()].eq_ignore_ascii_case(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::{COLUMNS, Line};

    #[test]
    fn hosts_compare_as_domains_do() {
        let set = Arc::new(HostSet::parse(b"b.example\n192.0.2.1").unwrap());
        let matches = |test: Test, line: &str| {
            let mut batch = Batch::default();
            batch.lines.push(Line::of_field(line.as_bytes().into(), false));
            Filter::new(Grammar::Rfc3986, vec![Condition(vec![test])]).retain(&mut batch);
            !batch.lines.is_empty()
        };
        let domain = COLUMNS.iter().find(|column| column.name == "domain").unwrap();
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
            assert_eq!(matches(Test::Host(vec![b"a.b.example".into()]), line), is_host, "{line}");
            assert_eq!(
                matches(Test::Cell(domain, vec![Some(b"b.example".into())]), line),
                is_domain,
                "{line}"
            );
            assert_eq!(matches(Test::HostIn(set.clone(), true), line), is_contained, "{line}");
            assert_eq!(matches(Test::HostIn(set.clone(), false), line), !is_contained, "{line}");
        }
    }
}
