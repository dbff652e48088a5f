//! `urlsift grammars`: lists the five documents, how they differ, and lines on which they disagree.

use std::fmt::Write;
use std::io;

use serde::Serialize;
use urlsift_grammar::Grammar;
use urlsift_grammar::judge::judge;

use crate::cli::End;
use crate::cli::commands::listing::{ListArgs, push_paragraph, write};

/// An example line for each possible set of accepting grammars, with the reason. The set itself comes from judging the
/// line.
const LINES: [(&str, &str); 16] = [
    ("http://example.org/a", "all agree"),
    ("http://my_host.example/", "\"_\" in a host"),
    ("https://example.org/a", "a scheme the draft lacks"),
    ("https://fred@home@a.org/", "two \"@\""),
    ("about:", "nothing behind the \":\""),
    ("127.0.0.1:80", "a scheme of digits"),
    ("ftp://fred@home@a.org/x", "two \"@\", and ftp"),
    ("/a", "relative"),
    ("http://example.org:x/", "a port of letters"),
    ("?page=2", "relative, no path"),
    ("http://example.org/~fred", "\"~\""),
    ("news:\"fred\"@example.org", "a double quote"),
    ("git@example.org:a", "\":\" in the first segment"),
    ("http://example.org:x/~fred", "a port of letters, \"~\""),
    ("http://[::1]/", "an IP literal"),
    ("http://example.org/a b", "a space"),
];

#[derive(Serialize)]
struct List {
    schema: &'static str,
    grammars: Vec<Entry>,
    /// An example line for each possible set of accepting grammars.
    lines: Vec<Line>,
}

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    document: &'static str,
    title: &'static str,
    published: &'static str,
    section: &'static str,
    difference: &'static str,
}

#[derive(Serialize)]
struct Line {
    text: &'static str,
    accepted_by: Vec<&'static str>,
    because: &'static str,
}

pub(crate) fn run(args: &ListArgs) -> io::Result<End> {
    let entry = |grammar: Grammar| Entry {
        name: grammar.name(),
        document: grammar.document(),
        title: grammar.title(),
        published: grammar.published(),
        section: grammar.section(),
        difference: grammar.difference(),
    };
    let line = |(text, because): (&'static str, &'static str)| {
        let verdict = judge(text.as_bytes()).verdict();
        Line { text, accepted_by: verdict.iter().map(Grammar::name).collect(), because }
    };
    let list = List {
        schema: "urlsift.grammars/1",
        grammars: Grammar::ALL.map(entry).into(),
        lines: LINES.map(line).into(),
    };
    write(args, &list, || text(&list))
}

fn text(list: &List) -> String {
    let mut out = String::new();
    for entry in &list.grammars {
        let Entry { name, title, published, section, .. } = entry;
        let _ = writeln!(out, "{name:<11}{title}");
        let _ = writeln!(out, "{:11}{published}, {section}", "");
        push_paragraph(&mut out, 11, entry.difference);
        out.push('\n');
    }
    out.push_str("One line for each set of grammars that can accept a line:\n\n");
    let _ = write!(out, "{:28}", "");
    for entry in &list.grammars {
        // Only the year or the number, because five full names are too wide.
        let _ = write!(out, " {:>4}", entry.name.trim_start_matches(char::is_alphabetic));
    }
    out.push('\n');
    for line in &list.lines {
        let _ = write!(out, "  {:<26}", line.text);
        for entry in &list.grammars {
            let _ = write!(out, " {:>4}", if line.accepted_by.contains(&entry.name) { "yes" } else { "-" });
        }
        let _ = writeln!(out, "  {}", line.because);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_set_of_grammars_has_its_line() {
        let mut sets: Vec<_> =
            LINES.iter().map(|(text, _)| judge(text.as_bytes()).verdict().bits()).collect();
        sets.sort_unstable();
        sets.dedup();
        // The library proves the number of possible sets over all states of the automaton.
        assert_eq!(sets.len(), 16);
    }
}
