//! `urlsift causes`: lists the causes and components of refusals, what they mean, and the rules behind them.

use std::fmt::Write;
use std::io;

use serde::Serialize;
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::automaton::Rule;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::escape::{Keep, text as escaped};
use urlsift_grammar::judge::judge;

use crate::cli::End;
use crate::cli::commands::listing::{ListArgs, push_paragraph, write};

/// An example line and the grammar that refuses it, one for each cause. Component and offset come from judging it.
const EXAMPLES: [(Grammar, &str); 9] = [
    (Grammar::Rfc3986, "http://example.org/a b"),
    (Grammar::Rfc3986, "http://example.org/\x1b"),
    (Grammar::Rfc3986, "http://example.org/\u{e9}"),
    (Grammar::Rfc3986, "http://example.org/{id}"),
    (Grammar::Rfc3986, "http://example.org:http/"),
    (Grammar::Rfc3986, "http://example.org/?q=100%"),
    (Grammar::Rfc1738, "ftp:/example.org/"),
    (Grammar::Rfc1738, "http://"),
    (Grammar::Draft1993, "https://example.org/"),
];

#[derive(Serialize)]
struct List {
    schema: &'static str,
    causes: Vec<CauseEntry>,
    components: Vec<ComponentEntry>,
    advisories: Vec<AdvisoryEntry>,
}

#[derive(Serialize)]
struct CauseEntry {
    name: &'static str,
    meaning: &'static str,
    examples: Vec<Example>,
}

#[derive(Serialize)]
struct Example {
    /// The line, escaped for a terminal.
    line: String,
    grammar: &'static str,
    component: &'static str,
    offset: u64,
}

#[derive(Serialize)]
struct ComponentEntry {
    name: &'static str,
    meaning: &'static str,
    rules: Vec<RuleEntry>,
}

#[derive(Serialize)]
struct RuleEntry {
    grammar: &'static str,
    rule: &'static str,
    section: &'static str,
}

#[derive(Serialize)]
struct AdvisoryEntry {
    name: &'static str,
    meaning: &'static str,
}

pub(crate) fn run(args: &ListArgs) -> io::Result<End> {
    let list = List {
        schema: "urlsift.causes/1",
        causes: Cause::ALL.iter().map(|&cause| cause_entry(cause)).collect(),
        components: Component::ALL.iter().map(|&component| component_entry(component)).collect(),
        advisories: Advisory::ALL
            .iter()
            .map(|advisory| AdvisoryEntry { name: advisory.name(), meaning: advisory.meaning() })
            .collect(),
    };
    write(args, &list, || text(&list))
}

fn cause_entry(cause: Cause) -> CauseEntry {
    let judged = EXAMPLES.into_iter().filter_map(|(grammar, line)| {
        let defect = judge(line.as_bytes()).defect(grammar).filter(|defect| defect.cause == cause)?;
        Some(Example {
            line: escaped(line.as_bytes(), Keep::Ascii),
            grammar: grammar.name(),
            component: defect.component.name(),
            offset: defect.offset,
        })
    });
    CauseEntry { name: cause.name(), meaning: cause.meaning(), examples: judged.collect() }
}

fn component_entry(component: Component) -> ComponentEntry {
    let rules = Grammar::ALL.into_iter().flat_map(|grammar| {
        Rule::of(grammar, component).map(move |rule| RuleEntry {
            grammar: grammar.name(),
            rule: rule.name(),
            section: rule.section(),
        })
    });
    ComponentEntry { name: component.name(), meaning: component.meaning(), rules: rules.collect() }
}

fn text(list: &List) -> String {
    let mut out = String::new();
    push_paragraph(
        &mut out,
        0,
        "A refusal is written as component:cause@offset, such as path:space@20: the component, the cause, and the \
         number of bytes before the first byte that no accepted line could have there.",
    );
    out.push_str("\nCAUSE                    and a line refused for it\n");
    for entry in &list.causes {
        push_entry(&mut out, entry.name, entry.meaning);
        for Example { line, grammar, component, offset } in &entry.examples {
            let _ = writeln!(out, "{:25}{line}  {grammar}, {component}, offset {offset}", "");
        }
    }
    out.push_str("\nCOMPONENT                and the rules that say what it looks like (section)\n");
    for entry in &list.components {
        push_entry(&mut out, entry.name, entry.meaning);
        for grammar in Grammar::ALL {
            let rules: Vec<_> = entry.rules.iter().filter(|rule| rule.grammar == grammar.name()).collect();
            let by_section: Vec<_> = rules
                .chunk_by(|one, next| one.section == next.section)
                .map(|rules| {
                    let names: Vec<_> = rules.iter().map(|rule| rule.rule).collect();
                    format!("{} ({})", names.join(", "), rules[0].section)
                })
                .collect();
            if !by_section.is_empty() {
                push_paragraph(&mut out, 25, &format!("{grammar}: {}", by_section.join(", ")));
            }
        }
    }
    out.push_str("\nADVISORY                 of lines that some grammar accepts\n");
    for entry in &list.advisories {
        push_entry(&mut out, entry.name, entry.meaning);
    }
    out
}

/// Adds a name with its meaning beside it.
fn push_entry(out: &mut String, name: &str, meaning: &str) {
    let mut lines = String::new();
    push_paragraph(&mut lines, 25, meaning);
    let _ = write!(out, "  {name:<23}{}", lines.trim_start());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cause_has_an_example_and_every_component_a_rule() {
        for &cause in Cause::ALL {
            assert!(!cause_entry(cause).examples.is_empty(), "{cause}");
        }
        for &component in Component::ALL {
            assert!(!component_entry(component).rules.is_empty(), "{component}");
        }
    }
}
