//! The commands that list the lines behind a number of a report.

use super::{Report, Words};
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::{MASK, printable, shell_word};

/// The longest name of an input and the longest base that a command has, in bytes.
const MAX_NAME: usize = 200;

/// How many inputs a command names. More are written as `FILE...`.
const MAX_NAMES: usize = 3;

/// The longest options and names that each command repeats, in bytes.
const MAX_REPEATED: usize = 60;

/// The options and inputs of all commands of a report, if they are so long that the commands take them from the arguments of the shell.
pub(super) fn arguments(report: &Report, words: Words) -> Option<String> {
    Some(selection(report)).filter(|selection| has_commands(report, words) && is_long(selection))
}

fn selection(report: &Report) -> String {
    let run = report.run.as_ref();
    run.and_then(|run| run.selection.clone()).unwrap_or_else(|| inputs(report))
}

fn is_long(selection: &str) -> bool {
    selection.len() > MAX_REPEATED
}

/// Whether commands list the lines of the report. None reads a range of an input.
fn has_commands(report: &Report, words: Words) -> bool {
    !words.list.is_empty() && (report.complete || report.run.is_some())
}

/// The command that lists the lines of a report for which `conditions` hold. Empty if no command can: a masked base is not the
/// base.
pub(super) fn of_lines(report: &Report, conditions: &[String], words: Words) -> String {
    if !has_commands(report, words) {
        return String::new();
    }
    let Words { list, grammar, base: of_base, condition: of_condition, .. } = words;
    let mut command = vec![list.to_owned()];
    if report.grammar != Grammar::Rfc3986 {
        command.push(format!("{grammar} {}", report.grammar));
    }
    let is_of_browsers = conditions.iter().any(|condition| condition.starts_with("whatwg"));
    let base = report.whatwg.as_ref().and_then(|whatwg| whatwg.base.as_deref());
    if let Some(base) = base.filter(|_| is_of_browsers) {
        if base.contains(MASK) || base.len() > MAX_NAME {
            return String::new();
        }
        command.push(format!("{of_base} {}", shell_word(base)));
    }
    command.extend(conditions.iter().map(|condition| format!("{of_condition} {}", shell_word(condition))));
    let selection = selection(report);
    command.push(if is_long(&selection) { "\"$@\"".to_owned() } else { selection });
    command.join(" ")
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
