//! Command lines for a shell: the one that made a report, and those that list its lines.

use std::ffi::OsStr;

use super::Report;
use crate::grammar::Grammar;
use crate::grammar::escape::{Keep, mask, printable, shell_word, text};
use crate::grammar::password::secrets;

/// How many inputs a command names. More are written as `FILE...`.
const MAX_NAMES: usize = 3;

/// A command line of these arguments, with masked passwords.
pub(crate) fn of_args(args: impl Iterator<Item = impl AsRef<OsStr>>) -> String {
    let word = |arg: &OsStr| {
        let arg = arg.as_encoded_bytes();
        shell_word(&text(&mask(arg, secrets(arg, false)), Keep::Visible))
    };
    let args = args.map(|arg| word(arg.as_ref()));
    ["urlsift".to_owned()].into_iter().chain(args).collect::<Vec<_>>().join(" ")
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_quoted_and_passwords_masked() {
        let args =
            ["--base", "http://u:SECRET@h/", "it's", "", "a b", "path/x.txt", "--top=hosts", "\u{202e}"];
        assert_eq!(
            of_args(args.iter()),
            r"urlsift --base 'http://u:***@h/' 'it'\''s' '' 'a b' path/x.txt --top=hosts '\xe2\x80\xae'"
        );
    }
}
