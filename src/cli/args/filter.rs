//! The option `--where`, which selects lines. `lines` and `split` share it.

use std::fmt::Display;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::str::FromStr;
use std::sync::Arc;
use std::{io, iter};

use crate::columns::{Batch, COLUMNS, Column, Line};
use crate::filter::{Condition, Filter, Test};
use crate::report::whatwg::HOSTS_DIFFER;
use clap::Args;
use clap::builder::TypedValueParser;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::host::{HostKind, compared};
use urlsift_grammar::host_problems::HostProblem;
use urlsift_grammar::host_set::HostSet;
use urlsift_grammar::judge::Kind;
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::whatwg::{Level, ValidationError};
use urlsift_grammar::{Grammar, Verdict};
use urlsift_input::Input;

use crate::cli::offered::Offered;
use crate::cli::output_file::keep_list;
use crate::cli::suggest::{one_of, unknown};
use crate::cli::warn;

#[derive(Args)]
pub(crate) struct FilterArgs {
    /// Only lines with a property: scheme=ftp, defect=path:space
    ///
    /// A condition is one of
    ///
    ///   defect=path:space  component and cause, or one of both
    ///   scheme=ftp         the scheme, in any letter case
    ///   kind=relative      relative (without a scheme) or absolute
    ///   rfc1738=refused    what one grammar says: accepted or refused
    ///   verdict=none       which grammars accept: none, all, rfc2396+rfc3986
    ///   advisory=password  an advisory
    ///   host=a.example     the host, as hosts are compared: lower case,
    ///                      escapes undone, labels beyond ASCII as A-labels
    ///   domain=a.example   the registrable domain of the host (--psl)
    ///   port=8080          a column: userinfo, port, path, query, fragment,
    ///                      host_kind, host_problems, host_reversed, suffix,
    ///                      private_suffix, private_domain, canonical, surt,
    ///                      whatwg_host, whatwg_href; - where it, the host or
    ///                      the domain is absent, as in query=-
    ///   host-in=FILE       the file has the host or a name above it:
    ///                      a name per line, # begins a comment
    ///   host-not-in=FILE   it does not, or the line has no host
    ///   whatwg=failure     for browsers: valid, errors, failure, relative;
    ///                      hosts-differ: RFC 3986 finds another host
    ///   whatwg_error=NAME  an error of their parser, such as host-missing
    ///
    /// Commas separate alternatives, such as scheme=ftp,file. But FILE is
    /// one path, and what is compared with userinfo, path, query, fragment,
    /// host_reversed, canonical, surt, whatwg_host or whatwg_href is one
    /// value. If the option is repeated, all conditions must hold. A blank
    /// line matches nothing. --grammar chooses whose defect is compared. The
    /// JSON report has the same names; "urlsift causes" explains them.
    #[arg(id = "where", long = "where", value_name = "CONDITION", value_parser = conditions(), hide_possible_values = true,
          verbatim_doc_comment)]
    conditions: Vec<Condition>,
}

impl FilterArgs {
    /// The filter of all conditions and one more, with the grammar whose defects count and the list that knows domains.
    ///
    /// # Errors
    /// If a domain is none by that list.
    pub(crate) fn filter(
        &self,
        grammar: Grammar,
        suffixes: &UsedList,
        more: Option<Test>,
    ) -> io::Result<Filter> {
        let conditions: Vec<_> =
            self.conditions.iter().cloned().chain(more.map(|test| Condition(vec![test]))).collect();
        for test in conditions.iter().flat_map(|condition| &condition.0) {
            // Not where the list is read: options are parsed before it is known whether there is --quiet.
            if let Test::HostIn(set, is_in) = test
                && set.is_empty()
            {
                let key = if *is_in { "host-in" } else { "host-not-in" };
                warn(&format!("--where {key}: this list has no names"));
            } else if let Test::Cell(column, values) = test
                && ["suffix", "private_suffix", "private_domain"].contains(&column.name)
            {
                for name in values.iter().flatten() {
                    let host = [b"//", &name[..]].concat();
                    let mut batch = Batch::default();
                    batch.lines.push(Line::of_field(host.into(), false));
                    batch.suffixes = suffixes.clone();
                    if !batch.cells_of(column).has(0, Some(name)) {
                        let (key, text) = (column.name, String::from_utf8_lossy(name));
                        let why =
                            "by the list of public suffixes, no host has it; --where host=... compares hosts";
                        return Err(io::Error::other(format!("--where {key}={text}: {why}")));
                    }
                }
            } else if let Test::Cell(column, values) = test
                && column.name == "domain"
            {
                for name in values.iter().flatten() {
                    let text = String::from_utf8_lossy(name);
                    let why = match suffixes.find(name).map(|found| found.domain()) {
                        Some(Some(domain)) if domain == name => continue,
                        Some(Some(domain)) => {
                            format!("the domain of this host is {}", String::from_utf8_lossy(domain))
                        }
                        Some(None) => "this is a public suffix, and has no domain".to_owned(),
                        None => "this is an address or no name, and has no domain".to_owned(),
                    };
                    return Err(io::Error::other(format!(
                        "--where domain={text}: {why}; --where host=... compares hosts"
                    )));
                }
            }
        }
        Ok(Filter::new(grammar, conditions))
    }
}

fn conditions() -> impl TypedValueParser<Value = Condition> {
    Offered { parser: |text: &str| text.parse::<Condition>(), values: offered }
}

/// What browsers make of a line, by name; `None` stands for hosts that differ.
pub(crate) fn levels() -> Vec<(&'static str, Option<Level>)> {
    let levels = Level::ALL.iter().map(|&level| (level.name(), Some(level)));
    levels.chain([(HOSTS_DIFFER, None)]).collect()
}

/// Conditions of each property, without those whose values are many.
fn offered() -> Vec<String> {
    let of = |key: &'static str, names: Vec<&'static str>| {
        names.into_iter().map(move |name| format!("{key}={name}"))
    };
    let kinds = Component::ALL.iter().map(|component| component.name());
    let levels = levels().into_iter().map(|(name, _)| name);
    let grammars = Grammar::ALL.iter().flat_map(|grammar| of(grammar.name(), vec!["accepted", "refused"]));
    of("defect", kinds.collect())
        .chain(of("scheme", vec!["http", "https"]))
        .chain(of("kind", vec![Kind::Absolute.name(), Kind::Relative.name()]))
        .chain(of("verdict", vec!["none", "all"]))
        .chain(of("advisory", Advisory::ALL.iter().map(|advisory| advisory.name()).collect()))
        .chain(of("host_kind", HostKind::ALL.iter().map(|kind| kind.name()).collect()))
        .chain(of("host_problems", HostProblem::ALL.iter().map(|problem| problem.name()).collect()))
        .chain(of("whatwg", levels.collect()))
        .chain(grammars)
        .collect()
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (key, values) = text
            .split_once('=')
            .ok_or("expected a property and its value, such as defect=path:space or scheme=ftp")?;
        if let "host-in" | "host-not-in" = key {
            let set = Arc::new(host_set(values)?);
            return Ok(Self(vec![Test::HostIn(set, key == "host-in")]));
        }
        let values = if WHOLE.contains(&key) { vec![values] } else { values.split(',').collect() };
        let mut tests: Vec<Test> = Vec::new();
        for value in values {
            let test = test(key, value).map_err(|error| with_hint(error, value))?;
            match (tests.last_mut(), test) {
                // What is compared is made once for all values.
                (Some(Test::Cell(_, all)), Test::Cell(_, more)) => all.extend(more),
                (Some(Test::Host(all)), Test::Host(more)) => all.extend(more),
                (_, test) => tests.push(test),
            }
        }
        Ok(Self(tests))
    }
}

/// Parses a property and one value of it.
fn test(key: &str, value: &str) -> Result<Test, String> {
    let column = |name| COLUMNS.iter().find(|column| column.name == name).expect("there is this column");
    Ok(match key {
        "defect" => defect(value)?,
        "scheme" => scheme(value)?,
        "kind" => Test::Kind(one_of("kind", value, &[Kind::Absolute, Kind::Relative], Kind::name)?),
        "verdict" => verdict(value)?,
        "host" if matches!(value, "-" | "") => Test::Cell(column(key), vec![cell(column(key), value)?]),
        "host" => Test::Host(vec![name_of(value)?]),
        "advisory" => Test::Advisory(one_of("advisory", value, Advisory::ALL, Advisory::name)?),
        "whatwg" => match one_of("level", value, &levels(), |(name, _)| name)? {
            (name, Some(_)) => Test::Cell(column(key), vec![Some(name.into())]),
            (_, None) => Test::HostsDiffer,
        },
        "whatwg_error" => {
            let error = one_of("error", value, ValidationError::ALL, ValidationError::name)?;
            Test::Cell(column("whatwg_errors"), vec![Some(error.name().into())])
        }
        _ if WHOLE.contains(&key) || NAMES.contains(&key) => {
            Test::Cell(column(key), vec![cell(column(key), value)?])
        }
        _ => {
            let grammar = key.parse::<Grammar>().map_err(|_| {
                let keys = [
                    "defect", "scheme", "kind", "verdict", "advisory", "host", "host-in", "host-not-in",
                    "whatwg", "whatwg_error",
                ];
                let grammars = Grammar::ALL.map(Grammar::name);
                unknown("property", key, &[&keys[..], &WHOLE, &NAMES, &grammars].concat())
            })?;
            let answer = |accepted: bool| if accepted { "accepted" } else { "refused" };
            Test::Accepted(grammar, one_of("answer of a grammar", value, &[true, false], answer)?)
        }
    })
}

/// Adds a hint to the error if the value looks like another condition.
fn with_hint(error: String, value: &str) -> String {
    if value.contains('=') {
        format!("{value}: commas separate alternatives of one property; repeat --where for another condition")
    } else {
        error
    }
}

/// Parses a component, a cause, or both with a colon between them. No component has the name of a cause.
fn defect(text: &str) -> Result<Test, String> {
    if text.contains('@') {
        return Err("a condition on a defect has no offset; give it without what follows \"@\"".to_owned());
    }
    let component = |name| one_of("component", name, Component::ALL, Component::name);
    let cause = |name| one_of("cause", name, Cause::ALL, Cause::name);
    if let Some((first, second)) = text.split_once(':') {
        return Ok(Test::Defect(Some(component(first)?), Some(cause(second)?)));
    }
    if let Ok(component) = component(text) {
        return Ok(Test::Defect(Some(component), None));
    }
    if let Ok(cause) = cause(text) {
        return Ok(Test::Defect(None, Some(cause)));
    }
    let components = Component::ALL.iter().map(|component| component.name());
    let names: Vec<_> = components.chain(Cause::ALL.iter().map(|cause| cause.name())).collect();
    Err(unknown("component or cause", text, &names))
}

/// The columns whose cells are compared with one value, which may have commas.
const WHOLE: [&str; 9] = [
    "userinfo", "path", "query", "fragment", "host_reversed", "canonical", "surt", "whatwg_host",
    "whatwg_href",
];
/// The columns whose cells are compared with values that commas separate.
const NAMES: [&str; 7] =
    ["domain", "port", "host_kind", "host_problems", "suffix", "private_suffix", "private_domain"];

/// Parses a value of a column. "-" stands for an absent cell, and `\x2d` for "-".
fn cell(column: &'static Column, value: &str) -> Result<Option<Vec<u8>>, String> {
    Ok(match (column.name, value) {
        (_, "-") if column.absent.is_some() => None,
        ("host_kind", _) => Some(one_of("kind", value, HostKind::ALL, HostKind::name)?.name().into()),
        ("host_problems", "none") => Some(value.into()),
        ("host_problems", _) => {
            Some(one_of("problem", value, HostProblem::ALL, HostProblem::name)?.name().into())
        }
        (_, r"\x2d") => Some(b"-".to_vec()),
        ("port", _) if value.bytes().any(|byte| !byte.is_ascii_digit()) => {
            return Err("a port has digits alone".to_owned());
        }
        ("domain" | "suffix" | "private_suffix" | "private_domain", _) => Some(name_of(value)?),
        _ => Some(value.into()),
    })
}

/// Parses the name of a scheme.
fn scheme(text: &str) -> Result<Test, String> {
    if scheme_len(format!("{text}:").as_bytes()) != Some(text.len()) {
        return Err(
            "a scheme has letters, digits, \"+\", \"-\" and \".\" only, such as http; give it without \":\""
                .to_owned(),
        );
    }
    Ok(Test::Scheme(text.to_ascii_lowercase()))
}

/// Parses a name or an address, which is returned as hosts are compared.
fn name_of(text: &str) -> Result<Vec<u8>, String> {
    let text = if text == r"\x2d" { "-" } else { text };
    let mut buffer = Vec::new();
    let name =
        compared(text.as_bytes(), &mut buffer).filter(|name| !name.is_empty() && !name.contains(&b'*'));
    name.map(<[u8]>::to_vec)
        .ok_or_else(|| "not the name of a host; give it alone, such as www.example.org".to_owned())
}

/// Reads a list of names.
fn host_set(path: &str) -> Result<HostSet, String> {
    if path.is_empty() {
        return Err("a list of names is a file, such as names.txt".to_owned());
    }
    let in_file = |error: &dyn Display| format!("{path}: {error}");
    let file = File::open(path).map_err(|error| in_file(&error))?;
    keep_list(Input::file(path));
    let len = file.metadata().map_or(0, |metadata| metadata.len());
    let (mut file, mut failed) = (BufReader::new(file), None);
    let lines = iter::from_fn(|| {
        // What is longer is no name, and its parts are none.
        let (mut line, mut part) = (Vec::new(), file.by_ref().take(1 << 20));
        let len = part.read_until(b'\n', &mut line).map_err(|error| failed = Some(error)).ok()?;
        (len > 0).then_some(line)
    });
    let set = HostSet::of_lines(lines, usize::try_from(len).unwrap_or(0));
    match failed {
        Some(error) => Err(in_file(&error)),
        None => set.map_err(|error| in_file(&error)),
    }
}

/// Parses a set of grammars.
fn verdict(text: &str) -> Result<Test, String> {
    let names = [&["none", "all"][..], &Grammar::ALL.map(Grammar::name)].concat();
    let verdict = match text {
        "none" => Verdict::default(),
        "all" => Grammar::ALL.into_iter().collect(),
        _ => text
            .split('+')
            .map(|name| name.parse::<Grammar>().map_err(|_| unknown("verdict", name, &names)))
            .collect::<Result<_, _>>()?,
    };
    Ok(Test::Verdict(verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_completions_offer_is_taken() {
        for condition in offered() {
            assert!(condition.parse::<Condition>().is_ok(), "{condition}");
        }
    }
}
