//! The commands of README and of the pages in `docs/` print what these show. The shell runs every `$ ` line of a `console` block in the
//! root of the repository. What follows it is its output, byte for byte. `URLSIFT_UPDATE=1` writes the outputs anew.
//!
//! Not trycmd: it takes backslashes for path separators and brackets for patterns, and a report has both.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::folder_with;

/// What a command prints, standard error behind standard output.
fn run(command: &str) -> String {
    let binary = Path::new(env!("CARGO_BIN_EXE_urlsift"));
    let path = format!("{}:{}", binary.parent().unwrap().display(), std::env::var("PATH").unwrap());
    let is_for_bash = ["$'", "<("].iter().any(|mark| command.contains(mark));
    let mut shell = Command::new(if is_for_bash { "bash" } else { "sh" });
    shell
        .args(["-c", command])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("PATH", path)
        .env("NO_COLOR", "1")
        .env("LC_ALL", "C.UTF-8");
    let output = shell.output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

/// The text with the output of every command written anew.
fn renewed(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut n_commands = 0;
    let mut in_console = false;
    let has_jq = Command::new("jq").arg("--version").output().is_ok();
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
            // `scripts/setup` installs jq. Other machines may lack it.
            let is_left_out = command.starts_with("jq ") && !has_jq;
            if !is_left_out {
                out.push_str(&run(command));
            }
            while !is_left_out && lines.peek().is_some_and(|line| !line.starts_with("$ ") && *line != "```") {
                lines.next();
            }
        }
    }
    (out, n_commands)
}

#[test]
fn console_blocks_are_true() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let mut n_commands_of_all = 0;
    for path in pages.chain([root.join("README.md")]) {
        let text = fs::read_to_string(&path).unwrap();
        let (expected, n_commands) = renewed(&text);
        n_commands_of_all += n_commands;
        if std::env::var_os("URLSIFT_UPDATE").is_some() {
            fs::write(&path, &expected).unwrap();
        } else {
            for (is, should) in text.lines().zip(expected.lines()) {
                assert_eq!(is, should, "{}", path.display());
            }
            assert_eq!(text, expected, "{}", path.display());
        }
    }
    assert!(n_commands_of_all >= 20);
}

/// The script of a page that begins with `#!`, as an array of three tasks: each split is counted once, and a task that did not end is named.
#[test]
fn the_script_for_slurm_scans_a_plan() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/scale-out.md")).unwrap();
    let script =
        page.split("```sh\n").find(|block| block.starts_with("#!")).unwrap().split("```").next().unwrap();
    let folder = folder_with(&[("task", script)]);
    let work = folder.path().display();
    assert_eq!(run(&format!("urlsift plan --split-size 100K corpora/samples >{work}/plan")), "");
    for task in 0..3 {
        let array = format!("SLURM_ARRAY_TASK_ID={task} SLURM_ARRAY_TASK_COUNT=3");
        assert_eq!(run(&format!("{array} bash {work}/task {work} --lengths")), "");
    }
    let digest = |command: String| run(&format!("{command} | tail -1"));
    let merged = digest(format!("urlsift merge {work}/*.partial"));
    assert_eq!(merged, digest("urlsift --lengths corpora/samples".to_owned()));
    assert!(run(&format!("urlsift merge {work}/[01].partial --format json")).contains("missing: bytes"));
}
