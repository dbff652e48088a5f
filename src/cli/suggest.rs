//! "Did you mean" suggestions.

use std::ffi::OsString;
use std::fmt::Write;
use std::fs;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

/// The minimum similarity of two names, from 0 to 1.
const ALIKE: f64 = 0.75;

/// A "did you mean" question with the name most similar to `typed`, if any is similar enough.
fn did_you_mean(typed: &str, names: &[&str]) -> Option<String> {
    nearest(typed, names).map(|name| format!("did you mean {name}?"))
}

/// The error message for a `name` that is not among `names`. `kind` says what it should be the name of.
pub(crate) fn unknown(kind: &str, name: &str, names: &[&str]) -> String {
    let hint = did_you_mean(name, names).unwrap_or_else(|| format!("one of {}", names.join(", ")));
    format!("no such {kind}; {hint}")
}

fn nearest<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let likeness = |name: &str| strsim::jaro(&typed, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) > ALIKE).then_some(nearest)
}

/// First words that are commands of other programs, and no usual names of files.
const FOREIGN: [&str; 26] = [
    "analyse", "analyze", "check", "clean", "compare", "convert", "count", "dedup", "diff", "filter", "find",
    "grep", "info", "inspect", "lint", "list", "parse", "report", "search", "show", "stat", "stats",
    "summary", "top", "validate", "verify",
];

/// What to say of a command line whose first word is neither a command nor a file, but the command of another program: the
/// commands that there are. `root` makes the root command.
pub(crate) fn on_foreign_command(words: &[OsString], root: fn() -> Command) -> Option<String> {
    let is_foreign = |word: &str| FOREIGN.iter().any(|name| name.eq_ignore_ascii_case(word));
    let n = 1 + words.get(1..)?.iter().position(|word| word.to_str().is_some_and(is_foreign))?;
    let first = words[n].to_str()?;
    let root = root();
    // Options may precede it, and values of theirs.
    let has_value = |n: usize| {
        let word = words[n].to_string_lossy();
        let is_it = |arg: &&Arg| match word.strip_prefix("--") {
            Some(name) => arg.get_long() == Some(name),
            None => word
                .strip_prefix('-')
                .is_some_and(|name| arg.get_short().is_some_and(|short| name == short.to_string())),
        };
        root.get_arguments().find(is_it).is_some_and(|arg| arg.get_action().takes_values())
    };
    let is_option = |n: usize| words[n].as_encoded_bytes().starts_with(b"-");
    let is_first = (1..n).all(|n| is_option(n) || has_value(n - 1)) && !has_value(n - 1);
    if !is_first || fs::symlink_metadata(first).is_ok() {
        return None;
    }
    let mut out = format!("there is no command and no file {first}; the commands are:");
    for (command, about) in root.get_subcommands().filter_map(|command| Some((command, command.get_about()?)))
    {
        let _ = write!(out, "\n  {:<11}  {about}", command.get_name());
    }
    Some(out)
}

/// A hint for an input that does not exist. `words` are the command line, and `command` is the root command.
pub(crate) fn on_missing_input(name: &str, words: &[OsString], command: &Command) -> Option<String> {
    let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    if names.contains(&name) {
        return Some(format!("a command stands before all options: urlsift {name} ..."));
    }
    if name.contains("://") {
        return Some(
            "inputs are files with URLs in them; for a URL itself: urlsift explain 'URL'".to_owned(),
        );
    }
    if name.parse::<u32>().is_ok() {
        let before = &words[..words.iter().position(|word| word == name)?];
        let of = match before {
            [.., option, of] if option == "--top" => of.to_str()?,
            [.., last] => last.to_str()?.strip_prefix("--top=")?,
            [] => return None,
        };
        return Some(format!("how many names --top lists is written with \"=\": --top {of}={name}"));
    }
    // A name with a slash or a dot is a file, not a misspelt command.
    let near = if name.contains(['/', '.']) { None } else { nearest(name, &names) };
    near.map(|near| format!("if a command was meant: urlsift {near} ..."))
}

/// Returns the first error on the command line. clap reports an unexpected word before it checks the values of earlier
/// words. `parse` returns the error of the given words.
pub(crate) fn first_of(
    error: Error,
    words: &[OsString],
    parse: impl Fn(&[OsString]) -> Option<Error>,
) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let Some(place) = words.iter().rposition(|word| word == typed.as_str()) else { return error };
    let is_first =
        |error: &Error| matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation);
    parse(&words[..place]).filter(is_first).unwrap_or(error)
}

/// Options of other programs, and what does the same here.
const FOREIGN_OPTIONS: [(&[&str], &str); 4] = [
    (
        &["-f", "-t", "--csv", "--html", "--output-format", "--type"],
        "--format chooses how the output is written, --input-format what the input is",
    ),
    (&["-v", "--verbose"], "warnings and progress need no option; -V prints the version"),
    (
        &["-r", "-R", "--recurse", "--recursive"],
        "a directory stands for all files in it and below it, without an option",
    ),
    (
        &["-i", "--file", "--input", "--url"],
        "inputs are files, named without an option; urlsift explain takes a URL itself",
    ),
];

/// Replaces the hint of the error if an unknown option is one of other programs, or is more similar to one of another command than to those of
/// the command that `words` name. `root` is the root command.
pub(crate) fn with_tip(mut error: Error, words: &[OsString], root: &Command) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let foreign = FOREIGN_OPTIONS.iter().find(|(names, _)| names.contains(&typed.as_str()));
    let own = words.get(1).and_then(|word| root.find_subcommand(word)).unwrap_or(root);
    let own = nearest_option(typed, own).map_or(0.0, |(likeness, _)| likeness);
    let others = root.get_subcommands();
    let others = others.filter_map(|command| Some((nearest_option(typed, command)?, command.get_name())));
    let other = others.reduce(|first, next| if next.0.0 > first.0.0 { next } else { first });
    let tip = foreign.map(|(_, tip)| (*tip).to_owned()).or_else(|| {
        let ((likeness, option), command) = other?;
        (likeness > own).then(|| format!("--{option} is an option of urlsift {command}"))
    });
    if let Some(tip) = tip {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// The long option of a command that is most similar to `typed`, and how similar it is.
fn nearest_option<'c>(typed: &str, command: &'c Command) -> Option<(f64, &'c str)> {
    let typed = typed.trim_start_matches('-');
    let options = command.get_arguments().filter_map(Arg::get_long);
    let options = options.map(|option| (strsim::jaro(typed, option), option));
    options.filter(|(likeness, _)| *likeness > ALIKE).max_by(|one, other| one.0.total_cmp(&other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let names = ["refused", "accepted", "relative"];
        assert_eq!(did_you_mean("Refusd", &names).as_deref(), Some("did you mean refused?"));
        assert_eq!(did_you_mean("xyz", &names), None);
        assert_eq!(did_you_mean("", &names), None);
    }
}
