//! The inputs of other extractors' tests: `conformance/extractors.tsv`. Where they expect other URLs, a rule of
//! `conformance/CONTEXT.md` has to explain it, and a table there counts these inputs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::support::escapes::unescaped;
use crate::text::{check, for_cases, written};

const PROGRAMS: [&str; 4] = ["linkify", "xurls", "lychee", "GitHub"];

#[test]
fn every_difference_is_explained() {
    // For each rule, the inputs of each program that it explains. Those without a difference have no rule.
    let mut explained = BTreeMap::<String, [usize; 4]>::new();
    let n = for_cases("extractors.tsv", 3, |fields| {
        let &[program, text, expected, _, rules] = fields else { panic!("{fields:?} are not five fields") };
        let candidates = check(&unescaped(text), [1, 7]);
        let program = program.split(',').next().unwrap();
        let most = if program == "xurls" { 1 } else { usize::MAX };
        let urls = candidates.iter().filter_map(|(_, url)| url.as_deref().ok()).take(most);
        let is_same = urls.collect::<Vec<_>>().join(&b' ') == unescaped(expected);
        assert_eq!(is_same, rules.is_empty(), "{fields:?}: either it has a difference or no rule");
        let program = PROGRAMS.iter().position(|name| *name == program).unwrap();
        for rule in rules.split(' ') {
            explained.entry(rule.to_owned()).or_default()[program] += 1;
        }
        written(&candidates)
    });
    assert!(n >= 700, "{n}");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance/CONTEXT.md");
    let page = fs::read_to_string(page).unwrap();
    for (rule, counts) in &explained {
        let rule = if rule.is_empty() { "no difference" } else { rule };
        let cells = counts.map(|n| if n == 0 { " |".to_owned() } else { format!(" {n} |") }).concat();
        let row = format!("\n| {rule} |{cells}");
        assert!(page.contains(&row), "CONTEXT.md has no row{row}");
    }
    let (_, section) = page.split_once("\n## What the tests of other extractors expect").unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| X") || line.starts_with("| no difference"));
    assert_eq!(rows.count(), explained.len(), "CONTEXT.md has a row of a rule that explains nothing");
}
