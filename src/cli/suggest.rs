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
pub(crate) fn did_you_mean(typed: &str, names: &[&str]) -> Option<String> {
    nearest(typed, names).map(|name| format!("did you mean {name}?"))
}

/// The error message for a `name` that is not among `names`. `kind` says what it should be the name of.
pub(crate) fn unknown(kind: &str, name: &str, names: &[&str]) -> String {
    let hint = did_you_mean(name, names).unwrap_or_else(|| format!("one of {}", names.join(", ")));
    format!("no such {kind}; {hint}")
}

/// Finds a value by its name. `kind` says what it should be the name of.
///
/// # Errors
/// The message about a name that no value has.
pub(crate) fn one_of<T: Copy>(
    kind: &str,
    name: &str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
) -> Result<T, String> {
    let known = all.iter().copied().find(|&known| name_of(known) == name);
    known.ok_or_else(|| {
        let names: Vec<_> = all.iter().map(|&known| name_of(known)).collect();
        unknown(kind, name, &names)
    })
}

fn nearest<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let plain = |name: &str| name.to_ascii_lowercase().replace('_', "-");
    let likeness = |name: &str| strsim::jaro(&plain(typed), &plain(name));
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) > ALIKE).then_some(nearest)
}

/// Mistakes on the command line, and a sentence on each. A row has mistakes, as they are typed before the names of inputs, with " | "
/// between them, and a sentence after a tab. The first row that fits counts.
const MISTAKES: &str = include_str!("mistakes.tsv");

/// The sentence on what was typed after a command.
fn sentence_on(typed: &[&str], command: &str) -> Option<&'static str> {
    let is_alike = |(typed, listed): (&&str, &&str)| {
        let are_both = |is_it: fn(&str) -> bool| is_it(typed) && is_it(listed);
        let keys = typed.split_once('=').zip(listed.split_once('='));
        typed.eq_ignore_ascii_case(listed)
            || keys.is_some_and(|((typed, _), (listed, _))| typed == listed)
            || are_both(|word| word.contains("://"))
            || are_both(|word| word.parse::<u32>().is_ok())
    };
    let is_it = |mistake: &str| {
        let words: Vec<_> = mistake.split(' ').collect();
        let words = words.strip_prefix(&[command]).unwrap_or(&words);
        // An option is refused before its value.
        let fits = words.len() == typed.len() || words.len() > typed.len() && typed[0].starts_with('-');
        fits && typed.iter().zip(words).all(is_alike)
    };
    let mut rows = MISTAKES.lines().filter_map(|row| row.split_once('\t'));
    rows.find(|(mistakes, _)| mistakes.split(" | ").any(is_it)).map(|(_, sentence)| sentence)
}

/// What to say of a command line whose first word is neither a command nor a file, but the command of another program.
/// `root` makes the root command.
pub(crate) fn on_foreign_command(words: &[OsString], root: fn() -> Command) -> Option<String> {
    let sentence = |word: &OsString| {
        let word = word.to_str().filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic()))?;
        sentence_on(&[word], "")
    };
    let (n, sentence) = (1..words.len()).find_map(|n| Some((n, sentence(&words[n])?)))?;
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
    let mut out = format!("there is no command and no file {first}; {sentence}");
    if !sentence.ends_with(':') {
        return Some(out);
    }
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
    let mut before = words.iter().take_while(|word| *word != name).filter_map(|word| word.to_str());
    let is_len = name.parse::<u32>().is_ok() && before.any(|word| word.starts_with("--top"));
    let typed = ["--top", "hosts", name];
    let typed = if is_len { &typed[..] } else { &typed[2..] };
    if let Some(sentence) =
        sentence_on(typed, own(words, command).get_name()).filter(|sentence| !sentence.ends_with(':'))
    {
        return Some(sentence.to_owned());
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

/// The command that `words` name.
fn own<'c>(words: &[OsString], root: &'c Command) -> &'c Command {
    let named = words.get(1).and_then(|word| root.find_subcommand(word));
    named.or_else(|| root.find_subcommand("scan")).unwrap_or(root)
}

/// Replaces the hint of an error by the sentence on what was typed, or by an option of another command, if an unknown option is more similar
/// to that than to those of the command that `words` name. `root` is the root command.
pub(crate) fn with_tip(mut error: Error, words: &[OsString], root: &Command) -> Error {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let own = own(words, root);
    let tip = match (error.kind(), text(ContextKind::InvalidArg), text(ContextKind::InvalidValue)) {
        (ErrorKind::UnknownArgument, Some(option), _) => sentence_on(&[option], own.get_name())
            .map(str::to_owned)
            .or_else(|| option_of_another(option, own, root)),
        (ErrorKind::InvalidValue | ErrorKind::ValueValidation, Some(option), Some(value)) => {
            let option = option.split(' ').next().unwrap_or_default();
            sentence_on(&[option, value], own.get_name()).map(str::to_owned)
        }
        _ => None,
    };
    if let Some(tip) = tip {
        for kind in [ContextKind::SuggestedArg, ContextKind::SuggestedValue, ContextKind::Usage] {
            error.remove(kind);
        }
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

/// Says which command has an option that is more similar to `typed` than those of the command `own`.
fn option_of_another(typed: &str, own: &Command, root: &Command) -> Option<String> {
    let own = nearest_option(typed, own).map_or(0.0, |(likeness, _)| likeness);
    let others = root.get_subcommands();
    let others = others.filter_map(|command| Some((nearest_option(typed, command)?, command.get_name())));
    let ((likeness, option), command) =
        others.reduce(|first, next| if next.0.0 > first.0.0 { next } else { first })?;
    (likeness > own).then(|| format!("--{option} is an option of urlsift {command}"))
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
