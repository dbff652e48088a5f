//! "Did you mean" suggestions.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

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

/// A hint for an input that does not exist; `command` is the root command.
pub(crate) fn on_missing_input(name: &str, command: &Command) -> Option<String> {
    let names: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    if names.contains(&name) {
        return Some(format!("a command stands before all options: urlsift {name} ..."));
    }
    if name.contains("://") {
        return Some(
            "inputs are files with URLs in them; for a URL itself: urlsift explain 'URL'".to_owned(),
        );
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

/// Adds a hint to the error if an unknown option belongs to a command.
pub(crate) fn with_tip(mut error: Error, command: &Command) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let name = typed.trim_start_matches('-').to_owned();
    let has_it = |command: &&Command| command.get_arguments().any(|option| option.get_long() == Some(&name));
    if let Some(owner) = command.get_subcommands().find(has_it) {
        let tip = StyledStr::from(format!("--{name} is an option of urlsift {}", owner.get_name()));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip]));
    }
    error
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
