//! Help beyond the options: examples, exit statuses and the environment. `--help` and the manual pages share it.

use std::fmt::Write;

use clap::builder::Styles;
use clap::{Arg, ArgAction, Command, CommandFactory};

use crate::cli::Typed;
use crate::cli::commands::listing::push_paragraph;

/// Shows examples before the options.
const TEMPLATE: &str = "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The groups of options in their order on the page, with the identifiers of their options. All other options go
/// to [`OTHERWISE`].
const GROUPS: [(&str, &[&str]); 4] = [
    (
        "Input",
        &[
            "paths", "files_from", "null", "glob", "hidden", "follow", "codec", "pre", "input_format",
            "field", "delimiter", "escape", "log_format", "texts", "base", "range", "splits", "split_size",
        ],
    ),
    ("Grammar", &["grammar", "whatwg", "only", "by", "where"]),
    (OTHERWISE, &[]),
    ("Performance", &["threads", "kernel", "size", "rounds", "no_progress"]),
];

/// Options about the format of inputs for which the short help of `scan` and `lines` has room.
const READING: [&str; 3] = ["input_format", "field", "log_format"];

/// The group of all options that [`GROUPS`] does not list.
const OTHERWISE: &str = "Output";

/// The group of `--help` and `--version`.
const OTHER: &str = "Other";
const HELP: &str = "Print help: -h in short, --help in full, with examples";
const VERSION: &str = "Print version, kernels, WHATWG standard and suffix list";

/// Examples for each command, and what they do.
const EXAMPLES: &[(&str, &[(&str, &str)])] = &[
    (
        "urlsift",
        &[
            ("urlsift urls.txt", "report on a list"),
            ("curl -s https://example.org/list.gz | urlsift", "from a pipe, compressed"),
            ("urlsift -g 1738 lists/", "a directory; why RFC 1738 refuses"),
            ("urlsift --json urls.txt", "for a program"),
            ("urlsift --fail-on 'refused>1%' urls.txt", "exit status 1 if there are more"),
            ("urlsift explain 'http://example.org/?a/b'", "one URL in full"),
        ],
    ),
    (
        "scan",
        &[
            ("urlsift scan urls.txt", "report on a list"),
            ("urlsift scan lines", "on one that has the name of a command"),
            ("urlsift scan --whatwg urls.txt", "and what browsers take"),
            ("urlsift scan x.txt --range 1G:2G --format partial -o 1.partial", "a part, for merge"),
            ("urlsift scan --splits 17.jsonl --format partial", "some splits of a plan"),
        ],
    ),
    (
        "lines",
        &[
            ("urlsift lines urls.txt", "all lines"),
            ("urlsift lines --only refused urls.txt", "what is wrong"),
            ("urlsift lines --where defect=path:space urls.txt", "a space in the path"),
            ("urlsift lines --only accepted -c text urls.txt", "what is not"),
            ("urlsift lines --format jsonl -c line,verdict urls.txt", "for a program"),
            ("urlsift lines -c line,field,verdict,text access.log", "of a log"),
            ("urlsift lines --base http://a.example/ -c resolved x.txt", "what it refers to"),
            ("urlsift lines -c text,whatwg,whatwg_href urls.txt", "what browsers take"),
            ("urlsift lines -c host,domain,surt urls.txt", "hosts and a key"),
            ("urlsift lines -c text --where domain=example.org urls.txt", "of a domain"),
        ],
    ),
    (
        "extract",
        &[
            ("urlsift extract mail.mbox | sort -u", "all URLs in a text"),
            ("urlsift extract --only accepted docs/", "those that RFC 3986 accepts"),
            ("urlsift extract -c input,line,text docs/", "and where they are"),
        ],
    ),
    (
        "explain",
        &[
            ("urlsift explain 'http://example.org/?a/b'", "why RFC 1738 refuses it"),
            ("urlsift explain --base http://a.example/b 'c d'", "how browsers resolve it"),
            ("urlsift explain -- '-x'", "what begins with \"-\""),
        ],
    ),
    (
        "split",
        &[
            ("urlsift split urls.txt --accepted good.txt --refused bad.tsv", "in two"),
            ("urlsift split urls.txt --by rfc1738,rfc3986 --accepted good.txt", "what both accept"),
            ("urlsift split --where scheme=ftp -m ftp.txt urls.txt", "what matches"),
            ("urlsift split crawl.gz -a - -r bad.txt | sort -u > good.txt", "into a pipe"),
            ("urlsift split index.csv --accepted good.csv --refused bad.csv", "records"),
        ],
    ),
    (
        "merge",
        &[
            ("urlsift merge parts/ -o report.html", "all partial reports in a directory"),
            ("cat *.partial | urlsift merge --format partial", "some, to be merged with others"),
        ],
    ),
    (
        "plan",
        &[
            ("urlsift plan crawl/ --split-size 1G > splits.jsonl", "splits of about 1 GiB"),
            ("urlsift plan --glob '*.cdx.gz' crawl/ --input-format cdxj", "of an index"),
        ],
    ),
    ("render", &[("urlsift render r.json", "as text"), ("urlsift render r.json -o r.html", "as a page")]),
    (
        "bench",
        &[
            ("urlsift bench", "on a built-in sample"),
            ("urlsift bench --size 256M urls.txt", "on a list of yours"),
            ("urlsift bench -j 1 --rounds 31", "on one thread, more precisely"),
        ],
    ),
    ("grammars", &[("urlsift grammars", "the five, and lines on which they do not agree")]),
    (
        "schemes",
        &[
            ("urlsift schemes", "all schemes known by name"),
            ("urlsift schemes --format json", "for a program"),
        ],
    ),
    ("causes", &[("urlsift causes", "what path:space@20 means, and all like it")]),
    (
        "man",
        &[
            ("urlsift man | man -l -", "read the page"),
            ("urlsift man lines > urlsift-lines.1", "the page of a command, to be installed"),
        ],
    ),
    (
        "completions",
        &[
            ("source <(urlsift completions bash)", "in bash, for this session"),
            ("urlsift completions zsh > _urlsift", "in zsh: into a directory of $fpath"),
        ],
    ),
];

/// The exit statuses and their meanings.
pub(crate) const EXIT_STATUSES: [(&str, &str); 4] = [
    ("0", "done; or the reader of the output closed it"),
    ("1", "done, and a --fail-on condition held"),
    (
        "2",
        "usage; or an input or the output failed: it is named on standard error, the other inputs are still read, and the \
         report says that it is incomplete; or a --fail-on condition could not be decided",
    ),
    (
        "129, 130, 143",
        "stopped by a closed terminal, Ctrl-C or SIGTERM; what had been read is reported on standard error",
    ),
];

/// The environment variables and their effects.
pub(crate) const ENVIRONMENT: [(&str, &str); 4] = [
    ("NO_COLOR", "not empty: no colours, unless --color always"),
    ("CLICOLOR_FORCE", "neither empty nor 0: colours into redirected files and pipes too"),
    ("COLUMNS", "how wide the report is on a terminal"),
    ("TERM", "\"dumb\": no colours, unless --color always, and no progress"),
];

/// The command line parser with all help texts. With `needs_input`, a command that reads lists shows its help and exits
/// with 2 if it gets no arguments.
pub(crate) fn command(needs_input: bool) -> Command {
    let root = with_pages(Typed::command()).arg_required_else_help(needs_input);
    root.mut_subcommands(|command| {
        let reads_lists = matches!(command.get_name(), "scan" | "lines" | "extract" | "split");
        with_pages(command).arg_required_else_help(needs_input && reads_lists)
    })
}

/// The examples of a command.
pub(crate) fn examples(name: &str) -> &'static [(&'static str, &'static str)] {
    EXAMPLES.iter().find(|(of, _)| *of == name).map_or(&[], |(_, examples)| examples)
}

/// Whether the help of a command includes exit statuses and the environment.
pub(crate) fn tells_of_exit(name: &str) -> bool {
    matches!(name, "urlsift" | "scan")
}

fn with_pages(command: Command) -> Command {
    let name = command.get_name().to_owned();
    let mut command = in_groups(command)
        .help_template(TEMPLATE)
        .before_long_help(section("Examples", examples(&name)))
        .disable_help_flag(true)
        .arg(Arg::new("help").short('h').long("help").action(ArgAction::Help).help_heading(OTHER).help(HELP));
    if command.get_version().is_some() {
        let version = Arg::new("version").short('V').long("version").action(ArgAction::Version);
        command = command.disable_version_flag(true).arg(version.help_heading(OTHER).help(VERSION));
    }
    if tells_of_exit(&name) {
        let status = section("Exit status", &EXIT_STATUSES);
        command = command.after_long_help(status + "\n" + &section("Environment", &ENVIRONMENT));
    }
    command
}

/// Puts every option into its group. clap shows groups in the order of their first options, and `mut_arg` moves an option
/// to the end.
fn in_groups(command: Command) -> Command {
    let group_of = |arg: &Arg| {
        let found = GROUPS.iter().find(|(_, ids)| ids.contains(&arg.get_id().as_str()));
        let otherwise = if arg.is_positional() { None } else { Some(OTHERWISE) };
        found.map(|(group, _)| *group).or(otherwise)
    };
    let args: Vec<_> = command.get_arguments().map(|arg| (arg.get_id().clone(), group_of(arg))).collect();
    GROUPS.iter().fold(command, |command, (group, _)| {
        let of_group = args.iter().filter(|(_, of)| *of == Some(group));
        of_group.fold(command, |command, (id, _)| {
            let is_shown = matches!(command.get_name(), "scan" | "lines") && READING.contains(&id.as_str());
            command.mut_arg(id, |arg| {
                let is_hidden = arg.is_hide_short_help_set() && !is_shown;
                arg.help_heading(*group).hide_short_help(is_hidden)
            })
        })
    })
}

/// A section with a heading and one row per term. Long texts wrap in their column.
fn section(title: &str, rows: &[(&str, &str)]) -> String {
    let header = Styles::styled().get_header().to_owned();
    let mut out = format!("{header}{title}:{header:#}\n");
    let indent = rows.iter().map(|(term, _)| term.len()).max().unwrap_or(0) + 4;
    for (term, text) in rows {
        let mut lines = String::new();
        push_paragraph(&mut lines, indent, text);
        let _ = write!(out, "  {term:<width$}{}", lines.trim_start(), width = indent - 2);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_has_examples_and_each_is_parsed() {
        let command = command(false);
        let names = command.get_subcommands().map(Command::get_name).chain([command.get_name()]);
        for name in names {
            assert!(!examples(name).is_empty(), "src/cli/help.rs has no examples of {name}");
        }
        for (line, _) in EXAMPLES.iter().flat_map(|(_, examples)| *examples) {
            let typed = line.split_once("| urlsift").map_or(*line, |(_, typed)| typed);
            let typed = typed.split_once("urlsift ").map_or(typed, |(_, typed)| typed);
            let typed = typed.split(['|', '>', ')']).next().unwrap_or_default();
            let words = typed.split_whitespace().map(|word| word.trim_matches('\''));
            let parsed = command.clone().try_get_matches_from(std::iter::once("urlsift").chain(words));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }
}
