//! The most usual mistakes on the command line, and what the command says of each.

use std::fs;
use std::process::Output;

use super::{text, urlsift};

/// Runs the command in a folder with the list `urls.txt`.
fn run(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("urls.txt"), "http://a.example/\n").unwrap();
    urlsift().args(args).current_dir(&folder).stdin(std::process::Stdio::null()).output().unwrap()
}

/// Asserts that the command refuses the words, and that what it says has this part.
fn assert_refused(args: &[&str], part: &str) {
    let output = run(args);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}: {said}");
    assert!(said.contains(part), "{args:?}: {said}");
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
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("check"), "/a\n").unwrap();
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
}

#[test]
fn a_mistyped_file_among_others() {
    assert_hint(&["urls.text", "urls.txt"], "(os error 2)");
}

#[test]
fn a_url_for_an_input() {
    assert_hint(&["https://a.example/", "urls.txt"], "for a URL itself: urlsift explain 'URL'");
}

#[test]
fn a_number_after_the_name_of_a_list() {
    let hint = "how many names --top lists is written with \"=\": --top hosts=10";
    assert_hint(&["--top", "hosts", "10", "urls.txt"], hint);
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
fn an_option_for_more_messages() {
    for option in ["-v", "--verbose"] {
        assert_refused(
            &[option, "urls.txt"],
            "tip: warnings and progress need no option; -V prints the version\n",
        );
    }
}

#[test]
fn an_option_for_the_format() {
    for args in [&["-f", "json"][..], &["--output-format", "json"], &["--html"], &["lines", "--csv"]] {
        assert_refused(
            args,
            "tip: --format chooses how the output is written, --input-format what the input is\n",
        );
    }
}

#[test]
fn an_option_for_directories_or_inputs() {
    assert_refused(
        &["-r", "."],
        "tip: a directory stands for all files in it and below it, without an option\n",
    );
    assert_refused(&["lines", "--input", "urls.txt"], "tip: inputs are files, named without an option; ");
}
