//! The README's commands print what the README shows: every `$ ` line of a `console` block is run by the shell in the root
//! of the repository, and what follows it is its output, byte for byte. `URLSIFT_UPDATE=1` writes the outputs anew.
//!
//! Not trycmd: it takes backslashes for path separators and brackets for patterns, and a report has both.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

/// What a command prints, standard error behind standard output.
fn run(command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_urlsift"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path)
        .env("NO_COLOR", "1");
    let output = shell.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// The text with the output of every command written anew.
fn renewed(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut n_commands = 0;
    let mut in_console = false;
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let _ = writeln!(out, "{line}");
        match line {
            "```console" => in_console = true,
            "```" => in_console = false,
            _ => {}
        }
        if let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) {
            n_commands += 1;
            out.push_str(&run(command));
            while lines.peek().is_some_and(|line| !line.starts_with("$ ") && *line != "```") {
                lines.next();
            }
        }
    }
    (out, n_commands)
}

#[test]
fn console_blocks_are_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (expected, n_commands) = renewed(&text);
    assert!(n_commands >= 4);
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        for (is, should) in text.lines().zip(expected.lines()) {
            assert_eq!(is, should);
        }
        assert_eq!(text, expected);
    }
}
