//! `urlsift schemes`: lists the known schemes, their default ports, and the rule of each grammar that reads them.

use std::fmt::Write;
use std::io;

use serde::Serialize;
use urlsift_grammar::Grammar;
use urlsift_grammar::automaton::Rule;
use urlsift_grammar::judge::judge;
use urlsift_grammar::scheme::{KNOWN, Standing};

use crate::cli::End;
use crate::cli::commands::listing::{ListArgs, push_paragraph, write};

/// Example schemes that represent all unknown and all experimental ones.
const UNKNOWN: &str = "anything";
const EXPERIMENT: &str = "x-anything";

/// Grammars with separate rules for some schemes. The others use one rule for all schemes.
const BY_SCHEME: [Grammar; 2] = [Grammar::Draft1993, Grammar::Rfc1738];

#[derive(Serialize)]
struct List {
    schema: &'static str,
    schemes: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    /// The scheme; `x-*` and `*` represent all others.
    name: &'static str,
    /// The scheme's status in RFC 1738; `None` if it has none.
    standing: Option<&'static str>,
    default_port: Option<u16>,
    /// The rule of each grammar for what follows the ":". A grammar without a rule refuses the scheme.
    rules: Vec<ReadBy>,
}

#[derive(Serialize)]
struct ReadBy {
    grammar: &'static str,
    rule: Option<&'static str>,
    section: Option<&'static str>,
}

pub(crate) fn run(args: &ListArgs) -> io::Result<End> {
    let known = KNOWN.iter().map(|known| entry(known.name, known.name, known.default_port));
    let others = [("x-*", EXPERIMENT), ("*", UNKNOWN)].map(|(name, one)| entry(name, one, None));
    let list = List { schema: "urlsift.schemes/1", schemes: known.chain(others).collect() };
    write(args, &list, || text(&list))
}

/// Makes the entry `name` from the rules for the scheme `one`, which represents it.
fn entry(name: &'static str, one: &str, default_port: Option<u16>) -> Entry {
    let read_by = |grammar: Grammar| {
        let rule = rule_behind(one, grammar);
        ReadBy {
            grammar: grammar.name(),
            rule: rule.map(|rule| rule.name()),
            section: rule.map(|rule| rule.section()),
        }
    };
    let standing = Standing::of(one).map(Standing::name);
    Entry { name, standing, default_port, rules: Grammar::ALL.map(read_by).into() }
}

/// The rule of `grammar` for what follows the ":" of the scheme `name`; `None` if the grammar refuses the scheme.
///
/// A space after the ":" breaks this rule, which the defect then names.
fn rule_behind(name: &str, grammar: Grammar) -> Option<Rule> {
    let line = format!("{name}: ");
    let defect = judge(line.as_bytes()).defect(grammar)?;
    (defect.offset > name.len() as u64).then_some(defect.rule)
}

fn text(list: &List) -> String {
    let mut out = String::new();
    let rule = |entry: &Entry, grammar: Grammar| entry.rules[grammar as usize].rule;
    let _ = writeln!(out, "{:<14}{:>5}  {:<20}RULE IN rfc1738", "SCHEME", "PORT", "RULE IN draft1993");
    for standing in Standing::ALL.iter().copied().map(Some).chain([None]) {
        out.push('\n');
        let name = standing.map(Standing::name);
        let heading = match standing {
            Some(standing) => format!("{}: {}", standing.name(), standing.meaning()),
            None => "all others".to_owned(),
        };
        push_paragraph(&mut out, 0, &heading);
        for entry in list.schemes.iter().filter(|entry| entry.standing == name) {
            let port = entry.default_port.map_or_else(|| "-".to_owned(), |port| port.to_string());
            let _ = write!(out, "  {:<12}{port:>5}  ", entry.name);
            let [draft1993, rfc1738] = BY_SCHEME.map(|grammar| rule(entry, grammar).unwrap_or("-"));
            let _ = writeln!(out, "{draft1993:<20}{rfc1738}");
        }
    }
    let others = Grammar::ALL.into_iter().filter(|grammar| !BY_SCHEME.contains(grammar));
    let others: Vec<_> = others
        .filter_map(|grammar| {
            let rule = rule_behind(UNKNOWN, grammar)?;
            Some(format!("{grammar} by {}", rule.name()))
        })
        .collect();
    out.push('\n');
    push_paragraph(
        &mut out,
        0,
        &format!(
            "The rule reads what follows the \":\". A grammar without a rule for a scheme refuses it. The other grammars read all schemes alike: {}. Ports decide the advisories port-nondefault and \
             port-reserved, never a verdict.",
            others.join(", ")
        ),
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_those_of_the_scheme() {
        let name = |scheme: &str, grammar| rule_behind(scheme, grammar).map(|rule| rule.name());
        for known in &KNOWN {
            let own = name(known.name, Grammar::Rfc1738) != name(UNKNOWN, Grammar::Rfc1738);
            assert_eq!(own, known.standing == Standing::Defined, "{}", known.name);
            for grammar in [Grammar::Rfc1808, Grammar::Rfc2396, Grammar::Rfc3986] {
                assert_eq!(name(known.name, grammar), name(UNKNOWN, grammar), "{} {grammar}", known.name);
            }
        }
        assert_eq!(name("http", Grammar::Rfc1738), Some("httpurl"));
        assert_eq!(name("https", Grammar::Draft1993), None);
        assert_eq!(Standing::of(EXPERIMENT), Some(Standing::Experimental));
        assert_eq!(Standing::of(UNKNOWN), None);
    }
}
