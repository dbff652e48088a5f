//! The commands that list the lines behind a number of a report.

use super::Report;
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::{MASK, printable, shell_word};

/// The longest name of an input and the longest base that a command has, in bytes.
const MAX_NAME: usize = 200;

/// How many inputs a command names. More are written as `FILE...`.
const MAX_NAMES: usize = 3;

/// The longest options and names that each command repeats, in bytes.
const MAX_REPEATED: usize = 60;

/// The options and inputs of all commands of a report, if they are so long that the commands take them from the arguments of the shell.
pub(super) fn arguments(report: &Report) -> Option<String> {
    Some(selection(report)).filter(|selection| !is_part(report) && is_long(selection))
}

fn selection(report: &Report) -> String {
    let run = report.run.as_ref();
    run.and_then(|run| run.selection.clone()).unwrap_or_else(|| inputs(report))
}

fn is_long(selection: &str) -> bool {
    selection.len() > MAX_REPEATED
}

/// Whether the report is of a range of an input.
fn is_part(report: &Report) -> bool {
    !report.complete && report.run.is_none()
}

/// The command that lists the lines of a report for which `conditions` hold. Empty if no command can: `urlsift lines` reads
/// no range of an input, and a masked base is not the base.
pub(super) fn of_lines(report: &Report, conditions: &[String]) -> String {
    if is_part(report) {
        return String::new();
    }
    let mut words = vec!["urlsift lines".to_owned()];
    if report.grammar != Grammar::Rfc3986 {
        words.push(format!("-g {}", report.grammar));
    }
    let is_of_browsers = conditions.iter().any(|condition| condition.starts_with("whatwg"));
    let base = report.whatwg.as_ref().and_then(|whatwg| whatwg.base.as_deref());
    if let Some(base) = base.filter(|_| is_of_browsers) {
        if base.contains(MASK) || base.len() > MAX_NAME {
            return String::new();
        }
        words.push(format!("--base {}", shell_word(base)));
    }
    words.extend(conditions.iter().map(|condition| format!("--where {}", shell_word(condition))));
    let selection = selection(report);
    words.push(if is_long(&selection) { "\"$@\"".to_owned() } else { selection });
    words.join(" ")
}

/// The names of the inputs, if it is not known how they were selected.
fn inputs(report: &Report) -> String {
    // A name with a backslash or a mask may be spelt otherwise than the file is.
    let is_exact = |name: &str| {
        name != "-"
            && name.len() <= MAX_NAME
            && !name.contains(['\\', '*'])
            && printable(name.as_bytes()) == name
    };
    let has_options = report.inputs.iter().any(|input| input.records.is_some());
    if has_options {
        "OPTIONS... FILE...".to_owned()
    } else if report.inputs.len() <= MAX_NAMES && report.inputs.iter().all(|input| is_exact(&input.name)) {
        report.inputs.iter().map(|input| shell_word(&input.name)).collect::<Vec<_>>().join(" ")
    } else {
        "FILE...".to_owned()
    }
}
