//! The most usual mistakes on the command line, and what the command says of each.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use super::{folder_with, text, urlsift};

/// Runs the command in a folder with the list `urls.txt`.
fn run(args: &[&str]) -> Output {
    let folder = folder_with(&[("urls.txt", "http://a.example/\n")]);
    urlsift().args(args).current_dir(&folder).stdin(Stdio::null()).output().unwrap()
}

/// Asserts that the command refuses the words, and that what it says has this part.
#[track_caller]
fn assert_refused(args: &[&str], part: &str) {
    super::assert_refused(&run(args), part);
}

/// Asserts that the list is read all the same, and that what the command says ends with a hint.
fn assert_hint(args: &[&str], hint: &str) {
    let output = run(args);
    let said = text(&output.stderr);
    assert!(text(&output.stdout).contains(" of 1 judged line "), "{args:?}: {}", text(&output.stdout));
    assert_eq!(output.status.code(), Some(2), "{args:?}");
    assert!(said.ends_with(&format!("{hint}\n")), "{args:?}: {said}");
}

#[test]
fn a_command_of_another_program() {
    for word in ["check", "validate", "count", "stats", "top", "diff"] {
        let said = format!(
            "urlsift: there is no command and no file {word}; the commands are:\n  scan         Report on"
        );
        assert_refused(&[word, "urls.txt"], &said);
        assert_refused(&[word], "\n  lines        Print one row per line");
    }
    for args in [&["--json", "check", "urls.txt"][..], &["-j", "2", "Stats", "urls.txt"]] {
        assert_refused(args, "the commands are:");
    }
    assert_eq!(run(&["-o", "report", "urls.txt"]).status.code(), Some(0), "the name of an output");
    let folder = folder_with(&[("check", "/a\n")]);
    let output = urlsift().arg("check").current_dir(&folder).output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "a file of this name is read");
}

#[test]
fn a_misspelt_command() {
    assert_hint(&["expalin", "urls.txt"], "if a command was meant: urlsift explain ...");
}

#[test]
fn a_command_after_the_input() {
    assert_hint(&["urls.txt", "lines"], "a command stands before all options: urlsift lines ...");
    assert_hint(
        &["-g", "1738", "lines", "urls.txt"],
        "a command stands before all options: urlsift lines ...",
    );
}

#[test]
fn a_mistyped_file_among_others() {
    assert_hint(&["urls.text", "urls.txt"], "(os error 2)");
}

#[test]
fn a_url_for_an_input() {
    assert_hint(&["https://a.example/", "urls.txt"], "for a URL itself: urlsift explain 'URL'");
}

/// Each row of the table has mistakes and a sentence. The commands in it work.
#[test]
fn a_mistake_in_the_table() {
    let folder = folder_with(&[
        ("urls.txt", "http://a.example/\n"),
        ("table.csv", "id,url\n1,http://a.example/\n"),
        ("names.txt", "a.example\n"),
    ]);
    let own = Path::new(env!("CARGO_BIN_EXE_urlsift")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::join_paths([own].into_iter().chain(std::env::split_paths(&others))).unwrap();
    let (mut n_mistakes, mut n_commands) = (0, 0);
    for row in include_str!("../../src/cli/mistakes.tsv").lines() {
        let (mistakes, sentence) = row.split_once('\t').unwrap();
        for mistake in mistakes.split(" | ") {
            let words = mistake.split(' ').chain(["urls.txt"]);
            let output = urlsift().args(words).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
            let said = text(&output.stderr);
            assert!(output.status.code() == Some(2) && said.contains(sentence), "{mistake}: {said}");
            n_mistakes += 1;
        }
        let commands = sentence.split("; ").filter_map(|part| Some(part.rsplit_once(": ")?.1));
        for command in commands.filter(|command| cfg!(unix) && !command.starts_with("unzip")) {
            let command = command.replace("FILE", "urls.txt").replace("URL", "http://a.example/");
            let shell =
                Command::new("sh").args(["-c", &command]).env("PATH", &paths).current_dir(&folder).output();
            let output = shell.unwrap();
            assert!(output.status.success(), "{command}: {}", text(&output.stderr));
            n_commands += 1;
        }
    }
    assert!(n_mistakes > 150 && (n_commands > 30 || !cfg!(unix)), "{n_mistakes}, {n_commands}");
}

#[test]
fn a_number_after_the_name_of_a_list() {
    let hint = "how many names --top lists is written with \"=\": urlsift --top hosts=10 FILE";
    assert_hint(&["--top", "tlds", "20", "urls.txt"], hint);
    assert_hint(&["--top=hosts", "10", "urls.txt"], hint);
}

#[test]
fn an_option_of_another_command() {
    assert_refused(&["--only", "refused", "urls.txt"], "tip: --only is an option of urlsift lines\n");
    assert_refused(&["lines", "--fail-on", "refused"], "tip: --fail-on is an option of urlsift scan\n");
}

#[test]
fn a_misspelt_option_of_another_command() {
    for args in [&["--column", "text"][..], &["--colums=text", "urls.txt"], &["split", "--column", "text"]] {
        assert_refused(args, "tip: --columns is an option of urlsift lines\n");
        assert!(!text(&run(args).stderr).contains("--color"), "{args:?}");
    }
}

#[test]
fn a_misspelt_option() {
    assert_refused(&["lines", "--colums", "text"], "tip: a similar argument exists: '--columns'\n");
    assert_refused(&["--gramar", "rfc1738"], "tip: a similar argument exists: '--grammar'\n");
}

#[test]
fn a_wrong_value() {
    for (args, part) in [
        (&["lines", "--columns", "ofset"][..], "no such column; did you mean offset?"),
        (
            &["lines", "--columns", "line,colour"],
            "'colour' for '--columns <COLUMN,...>': no such column; one of input",
        ),
        (&["lines", "-c", "host,", "domain"], "commas stand between columns, without blanks: -c host,domain"),
        (&["--grammar", "rfc9999"], "invalid value 'rfc9999'"),
        (&["-g", "rfc3896"], "'rfc3986'"),
        (&["--fail-on", "everything"], "no such measure; one of refused"),
        (&["-j", "many"], "expected a number of threads from 1 to 1024"),
        (&["-j", "0"], "expected a number of threads from 1 to 1024"),
        (&["explain"], "required arguments were not provided"),
    ] {
        assert_refused(args, part);
    }
}

#[test]
fn an_option_of_other_programs_with_a_command() {
    assert_refused(&["lines", "--csv"], "tip: --format chooses how the output is written, ");
    assert_refused(&["lines", "--input", "urls.txt"], "tip: inputs are files, named without an option; ");
    assert!(!text(&run(&["lines", "--refused", "urls.txt"]).stderr).contains("urlsift split"));
    assert!(!text(&run(&["--input-format", "list", "urls.txt"]).stderr).contains("iis'\n"));
}
