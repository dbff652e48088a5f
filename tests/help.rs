//! The help pages: `tests/help/` has every `-h` and `--help`, and the output of `grammars`, `schemes` and `causes`, at 80
//! columns.
//!
//! `URLSIFT_UPDATE=1 cargo test help::` regenerates the files; review them before committing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::fed;

/// The maximum number of lines of a short help: one screen.
const SCREEN: usize = 40;

fn urlsift(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
    command.args(args).env("COLUMNS", "80").env_remove("CLICOLOR_FORCE").output().unwrap()
}

/// The output of the command without spaces at line ends, which clap prints.
fn printed(args: &[&str]) -> String {
    let output = urlsift(args);
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.trim_end().to_owned() + "\n").collect()
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let help = printed(&["-h"]);
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = lines.take_while(|line| !line.is_empty()).filter_map(|line| line.split_whitespace().next());
    let names: Vec<_> = names.filter(|name| *name != "help").map(str::to_owned).collect();
    assert!(names.len() > 5, "{names:?}");
    names
}

/// All pages by file name.
fn pages() -> BTreeMap<String, String> {
    let mut pages = BTreeMap::new();
    for name in commands().iter().map(String::as_str).chain([""]) {
        let command: &[&str] = if name.is_empty() { &[] } else { &[name] };
        for flag in ["-h", "--help"] {
            let words = [&["urlsift"], command, &[flag]].concat();
            let file = words.join(" ").replace(" --", "-").replace(" -", "-").replace(' ', "-");
            pages.insert(file, printed(&words[1..]));
        }
    }
    for list in ["grammars", "schemes", "causes"] {
        pages.insert(list.to_owned(), printed(&[list]));
    }
    pages
}

#[test]
fn pages_equal_the_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/help");
    let pages = pages();
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        for (name, text) in &pages {
            fs::write(folder.join(name).with_extension("txt"), text).unwrap();
        }
    }
    for (name, text) in &pages {
        let known = fs::read_to_string(folder.join(name).with_extension("txt")).unwrap_or_default();
        assert_eq!(*text, known, "tests/help/{name}.txt is another; URLSIFT_UPDATE=1 writes it anew");
    }
    let files = fs::read_dir(folder).unwrap().count();
    assert_eq!(files, pages.len(), "every file in tests/help is a page");
}

#[test]
fn pages_fit_a_terminal() {
    for (name, text) in pages() {
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{name}: wider than 80 columns: {line}");
        }
        let n_lines = text.lines().count();
        assert!(
            !name.ends_with("-h") || n_lines <= SCREEN,
            "{name}: {n_lines} lines are no screen; hide_short_help keeps an option for --help"
        );
    }
}

#[test]
fn lists_are_json_too() {
    for list in ["grammars", "schemes", "causes"] {
        let json: serde_json::Value =
            serde_json::from_str(&printed(&[list, "--format", "json"])).expect("JSON");
        assert_eq!(json["schema"], format!("urlsift.{list}/1"));
        assert!(json[list].as_array().unwrap().len() >= 5);
    }
}

/// Whether the system has this program.
fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

#[test]
fn manual_pages_say_what_the_help_says() {
    for name in commands().iter().map(String::as_str).chain([""]) {
        let command: &[&str] = if name.is_empty() { &[] } else { &[name] };
        let page = printed(&[&["man"], command].concat());
        let words = page.replace('\\', "");
        assert!(page.starts_with(".ie") && words.contains(".SH EXAMPLES"), "{name}: {page}");
        let help = printed(&[command, &["--help"]].concat());
        let options = help.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2);
        for option in options.map(|word| word.trim_end_matches(|c: char| !c.is_alphanumeric())) {
            assert!(words.contains(option), "{name}: {option} is missing in the manual page");
        }
        if has("groff") {
            let output = fed(Command::new("groff").args(["-man", "-ww", "-Tutf8", "-z"]), page.as_bytes());
            assert!(output.status.success() && output.stderr.is_empty(), "{name}: {output:?}");
        }
    }
    let output = urlsift(&["man", "nothing"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("no such command: nothing; one of scan, "));
}

#[test]
fn completions_are_taken_by_the_shell() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = printed(&["completions", shell]);
        for name in commands() {
            assert!(script.contains(&name), "{shell}: {name} is missing");
        }
        if shell == "bash" && has("bash") {
            let ask = "COMP_WORDS=(urlsift gram) COMP_CWORD=1; _urlsift urlsift gram urlsift; echo \"${COMPREPLY[@]}\"";
            let output = fed(Command::new("bash").arg("--norc"), format!("{script}\n{ask}\n").as_bytes());
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            assert_eq!(String::from_utf8(output.stdout).unwrap(), "grammars\n");
        }
    }
}

/// On a terminal, a command that reads lists shows its short help if it gets no arguments.
#[test]
#[cfg(target_os = "linux")]
fn no_arguments_on_a_terminal_show_the_short_help() {
    if !has("script") {
        eprintln!("not tested: there is no `script` to make a terminal");
        return;
    }
    let binary = env!("CARGO_BIN_EXE_urlsift");
    for (args, expected) in [("", "Commands:"), (" lines", "--columns"), (" -j 2", "no input")] {
        let line = format!("'{binary}'{args} 2>&1 >/dev/null");
        let output = Command::new("script").args(["-qec", &line, "/dev/null"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args}: {text}");
        assert!(text.contains(expected), "{args}: {text}");
    }
}
