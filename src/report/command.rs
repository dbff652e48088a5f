//! The commands that list the lines behind a number of a report.

use super::Report;
use crate::grammar::Grammar;
use crate::grammar::escape::{printable, shell_word};

/// How many inputs a command names. More are written as `FILE...`.
const MAX_NAMES: usize = 3;

/// The command that lists the lines of a report for which `conditions` hold.
pub(super) fn of_lines(report: &Report, conditions: &[String]) -> String {
    let mut words = vec!["urlsift lines".to_owned()];
    if report.grammar != Grammar::Rfc3986 {
        words.push(format!("-g {}", report.grammar));
    }
    words.extend(conditions.iter().map(|condition| format!("--where {}", shell_word(condition))));
    // A name with a backslash or a mask may be spelt otherwise than the file is.
    let is_exact =
        |name: &str| name.len() <= 200 && !name.contains(['\\', '*']) && printable(name.as_bytes()) == name;
    if report.inputs.len() <= MAX_NAMES && report.inputs.iter().all(|input| is_exact(&input.name)) {
        words.extend(report.inputs.iter().map(|input| shell_word(&input.name)));
    } else {
        words.push("FILE...".to_owned());
    }
    words.join(" ")
}
