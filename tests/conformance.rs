//! The labelled test cases: lines with their expected results. Cases are data, so a new one needs no Rust.
//!
//! `grammar-cases.tsv` has cases by decision of the specification, `rule-cases.tsv` by rule of the grammar files. Their
//! columns are line, five digits (draft1993 first), kind, scheme, note. `advisory-cases.tsv` and `advisory-more.tsv` have
//! line, advisories. `defect-cases.tsv` has line, grammar, `component:cause@offset`, note. Bytes that a text file cannot
//! hold are written as `\xHH`.

use std::collections::BTreeMap;
use std::path::Path;

use urlsift::{Cause, Component, Grammar, judge};

use crate::support::unescape;

/// The rows of a case file, with the escapes of the line decoded.
pub(crate) fn rows(file: &str) -> Vec<(Vec<u8>, Vec<String>)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    let rows = text.lines().filter(|line| !line.starts_with("# ")).map(|row| {
        let mut fields = row.split('\t');
        (unescape(fields.next().unwrap()), fields.map(str::to_owned).collect())
    });
    rows.collect()
}

fn digits(verdict: urlsift::Verdict) -> String {
    Grammar::ALL.iter().map(|&grammar| if verdict.accepts(grammar) { '1' } else { '0' }).collect()
}

#[test]
fn grammars() {
    for file in ["grammar-cases.tsv", "rule-cases.tsv"] {
        let rows = rows(file);
        assert!(rows.len() > 100);
        for (line, fields) in rows {
            let shown = String::from_utf8_lossy(&line).into_owned();
            let judgement = judge(&line);
            assert_eq!(digits(judgement.verdict()), fields[0], "{shown} {fields:?}");
            assert_eq!(judgement.kind().name(), fields[1], "{shown}");
            let scheme = judgement.scheme().map_or("-".into(), <[u8]>::to_ascii_lowercase);
            assert_eq!(scheme, fields[2].as_bytes(), "{shown}");
            for grammar in Grammar::ALL {
                let defect = judgement.defect(grammar);
                assert_eq!(defect.is_none(), judgement.verdict().accepts(grammar));
                assert!(defect.is_none_or(|defect| defect.offset <= line.len() as u64));
            }
        }
    }
}

#[test]
fn advisories() {
    for file in ["advisory-cases.tsv", "advisory-more.tsv"] {
        let rows = rows(file);
        assert!(rows.len() > 40);
        for (line, fields) in rows {
            let advisories = judge(&line).advisories().to_string();
            assert_eq!(advisories, fields[0], "{}", String::from_utf8_lossy(&line));
        }
    }
}

/// The rules of a grammar file by name, each with the names of the rules that it uses.
fn rules(grammar: Grammar) -> BTreeMap<String, Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("crates/grammar/src/rules/{grammar}.rs"));
    let text = std::fs::read_to_string(path).unwrap();
    let mut rules: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut name = None;
    // Comments and the text before the rules use no rule.
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        let mut words = line.split_whitespace();
        if let Some("rule" | "token" | "escape") = words.next() {
            name = words.next();
        }
        if let Some(name) = name {
            let mentioned = line.match_indices("()").filter_map(|(end, _)| {
                let start = line[..end]
                    .rfind(|c: char| c != '_' && !c.is_ascii_alphanumeric())
                    .map_or(0, |at| at + 1);
                (start < end).then(|| line[start..end].to_owned())
            });
            rules.entry(name.to_owned()).or_default().extend(mentioned);
        }
    }
    rules
}

/// Every rule that is reachable from the start rule has an accepted line that uses it and a refused line that breaks it.
#[test]
fn every_rule_has_cases() {
    // The notes name a grammar, rules and a sign.
    let mut claims = Vec::new();
    for (line, fields) in rows("rule-cases.tsv") {
        let mut words = fields[3].split(' ');
        let grammar: Grammar = words.next().unwrap().parse().unwrap();
        let names: Vec<_> = words.clone().take_while(|word| !["+", "-"].contains(word)).collect();
        let accepted = words.nth(names.len()) == Some("+");
        assert_eq!(judge(&line).verdict().accepts(grammar), accepted, "{}", fields[3]);
        claims.extend(names.into_iter().map(|name| (grammar, name.to_owned(), accepted)));
    }
    let mut expected = Vec::new();
    let tops = ["prefixedurl", "url", "url", "uri_reference", "uri_reference"];
    for (grammar, top) in Grammar::ALL.into_iter().zip(tops) {
        let rules = rules(grammar);
        let mut reached = vec![top.to_owned()];
        let mut n_followed = 0;
        while n_followed < reached.len() {
            for name in rules.get(&reached[n_followed]).into_iter().flatten() {
                if rules.contains_key(name) && !reached.contains(name) {
                    reached.push(name.clone());
                }
            }
            n_followed += 1;
        }
        assert!(reached.len() > 20, "{grammar} has more rules than {reached:?}");
        expected.extend(
            reached.into_iter().flat_map(|name| [(grammar, name.clone(), true), (grammar, name, false)]),
        );
    }
    for claim in &expected {
        assert!(claims.contains(claim), "no case for {claim:?}");
    }
    for claim in &claims {
        assert!(expected.contains(claim), "no line reaches {claim:?}");
    }
}

#[test]
fn defects() {
    let rows = rows("defect-cases.tsv");
    assert!(rows.len() > 100);
    let mut causes = Vec::new();
    let mut components = Vec::new();
    for (line, fields) in rows {
        let grammar: Grammar = fields[0].parse().unwrap();
        let defect = judge(&line).defect(grammar).expect(&fields[1]);
        assert_eq!(defect.to_string(), fields[1], "{grammar} on {}", String::from_utf8_lossy(&line));
        causes.push(defect.cause);
        components.push(defect.component);
    }
    for cause in Cause::ALL {
        assert!(causes.contains(cause), "no case has the cause {cause}");
    }
    for component in Component::ALL {
        assert!(components.contains(component), "no case has the component {component}");
    }
}
