//! What somebody may have meant who typed what there is not.

use std::ffi::OsString;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};

/// How alike two names have to be, of 1: as alike as clap asks of options.
const ALIKE: f64 = 0.7;

/// A question for the name that is most like `typed`, if one is like it at all.
pub(crate) fn did_you_mean(typed: &str, names: &[&str]) -> Option<String> {
    nearest(typed, names).map(|name| format!("did you mean {name}?"))
}

fn nearest<'a>(typed: &str, names: &[&'a str]) -> Option<&'a str> {
    let typed = typed.to_ascii_lowercase();
    let likeness = |name: &str| strsim::jaro(&typed, name);
    let nearest = names.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) > ALIKE).then_some(nearest)
}

/// What to do about an input of that name that is not there; `command` is the whole command.
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
    // No command has a name like that of a file.
    let near = if name.contains(['/', '.']) { None } else { nearest(name, &names) };
    near.map(|near| format!("if a command was meant: urlsift {near} ..."))
}

/// Of what is wrong in the words of the command line, what comes first: before a word that is not expected, the value of another one
/// may be wrong, which clap looks at later. `parse` gives the error of some words.
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

/// The error of the command line, with a word on where an option belongs that stands in the wrong place.
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
