//! `--pre`: what a program makes of each input is read.

#![allow(unsafe_code, reason = "a signal is sent by number")]

use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use std::{fs, thread};

use tempfile::TempDir;

use super::{assert_refused, json, text, urlsift};

/// A folder with the inputs a, b and -x of two lines each, and a script.
fn folder_with(script: &str) -> TempDir {
    let list = "http://h/1\n/ 2\n";
    super::folder_with(&[("a", list), ("b", list), ("-x", list), ("script", script)])
}

fn command(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = urlsift();
    command.args(args).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(folder: &TempDir, args: &[&str]) -> Output {
    command(folder, args).output().unwrap()
}

#[test]
fn the_output_of_a_program_is_read() {
    let folder = folder_with("");
    let digest = |args: &[&str]| {
        let output = run(&folder, &[&["--json"], args].concat());
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args:?}");
        json(&output)["digest"].clone()
    };
    assert_eq!(digest(&["--pre", "cat", "a", "b"]), digest(&["a", "b"]));
    fs::write(folder.path().join("changed"), "x://h/1\n/ 2\n").unwrap();
    assert_eq!(digest(&["--pre", " sed\t-e s/http/x/  ", "a"]), digest(&["--pre", "cat", "changed"]));
    // Its format and codec are recognised.
    let report = json(&run(&folder, &["--json", "--pre", "gzip -c", "a"]));
    assert_eq!((&report["inputs"][0]["codec"], &report["totals"]["lines"]), (&"gzip".into(), &2.into()));
    let report = json(&run(&folder, &["--json", "--pre", "sed 1s/.*/url,n/", "a"]));
    assert_eq!(report["inputs"][0]["records"]["format"], "csv", "{report}");
    // The page's commands have it too.
    assert_eq!(report["run"]["selection"], "--pre 'sed 1s/.*/url,n/' a");
}

#[test]
fn the_program_gets_the_input_twice() {
    // Its last argument is the path. Its standard input has the same bytes.
    let folder = folder_with("cmp -s - \"$1\" && echo \"$1\"");
    let output = run(&folder, &["lines", "--columns", "text", "--pre", "sh script", "a", "--", "-x"]);
    assert_eq!((text(&output.stderr), text(&output.stdout)), ("", "a\n./-x\n"));
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(folder.path().join("d/c"), "x\n").unwrap();
    let output = run(&folder, &["lines", "--columns", "text", "--pre", "sh script", "d"]);
    assert_eq!((text(&output.stderr), text(&output.stdout)), ("", "d/c\n"));
    let output = run(&folder, &["split", "--pre", "sh script", "d", "-a", "accepted", "-r", "refused"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("accepted")).unwrap(), "d/c\n");
    let output = run(&folder, &["extract", "--pre", "tr -d 12", "a"]);
    assert_eq!(output.status.code(), Some(2), "tr takes no path: {}", text(&output.stderr));
    let output = run(&folder, &["extract", "--pre", "sed s/1/one/", "a"]);
    assert_eq!(text(&output.stdout), "http://h/one\n");
}

#[test]
fn a_program_that_fails_makes_its_input_incomplete() {
    let folder = folder_with("sed 1q \"$1\"; test \"$1\" = a && kill -9 $$; exit 0");
    for (command, lines, message) in [
        ("false", 0, "a: \"false\" ended with exit status 1\n"),
        ("sh script", 2, "a: \"sh script\" ended by signal 9\n"),
        ("./no/program -x", 0, "a: cannot run \"./no/program -x\": No such file or directory (os error 2)\n"),
    ] {
        for threads in ["-j1", "-j3"] {
            let output = run(&folder, &["--json", threads, "--pre", command, "a", "b"]);
            assert_eq!(output.status.code(), Some(2), "{command}");
            assert!(
                text(&output.stderr).contains(&format!("urlsift: {message}")),
                "{}",
                text(&output.stderr)
            );
            let report = json(&output);
            assert_eq!((&report["complete"], &report["totals"]["lines"]), (&false.into(), &lines.into()));
        }
        let output = run(&folder, &["lines", "--pre", command, "a"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), &*format!("urlsift: {message}")));
    }
    // A compressed output that is whole does not hide the status.
    fs::write(folder.path().join("script"), "gzip -c \"$1\"; exit 3").unwrap();
    let output = run(&folder, &["--json", "--pre", "sh script", "a"]);
    assert_eq!(text(&output.stderr), "urlsift: a: \"sh script\" ended with exit status 3\n");
    assert_eq!(json(&output)["totals"]["lines"], 2);
    let output = run(&folder, &["--pre", "cat", "missing"]);
    assert!(text(&output.stderr).starts_with("urlsift: missing: No such file"), "{}", text(&output.stderr));
}

#[test]
fn what_a_program_cannot_read_is_refused() {
    let folder = folder_with("");
    for (args, expected) in [
        (&["--pre", "cat", "-"][..], "--pre: standard input has no path for the program"),
        (&["--pre", "cat"], "--pre: standard input has no path for the program"),
        (&["lines", "--pre", "cat", "a", "-"], "--pre: standard input has no path for the program"),
        (&["--pre", "cat", "--range", "0:5", "a"], "cannot be used with"),
        (&["--pre", "cat", "--splits", "a"], "cannot be used with"),
        (&["plan", "--pre", "cat", "a"], "unexpected argument '--pre'"),
        (&["--pre", " ", "a"], "it names no program"),
    ] {
        assert_refused(&run(&folder, args), expected);
    }
}

#[test]
fn parts_of_different_programs_are_not_merged() {
    let folder = folder_with("");
    let part = |args: &[&str], name: &str| {
        let output = run(&folder, &[&["--format", "partial"], args].concat());
        fs::write(folder.path().join(name), output.stdout).unwrap();
    };
    part(&["--pre", "cat", "a"], "1");
    part(&["--pre", "cat", "b"], "2");
    part(&["b"], "3");
    let output = run(&folder, &["merge", "--json", "1", "2"]);
    assert_eq!(json(&output)["totals"]["lines"], 4);
    assert_refused(&run(&folder, &["merge", "1", "3"]), "pre: \"cat\" and none");
}

#[test]
fn no_more_programs_than_threads() {
    let folder = folder_with("mkdir on.$$; ls -d on.* | wc -l >>counts; sleep 0.05; rmdir on.$$; cat");
    let inputs = ["a", "b", "a", "b", "a", "b", "a"];
    for threads in 1..=3 {
        let _ = fs::remove_file(folder.path().join("counts"));
        let output = run(
            &folder,
            &[&["--json", "-j", &threads.to_string(), "--pre", "sh script"], &inputs[..]].concat(),
        );
        assert_eq!(json(&output)["totals"]["lines"], 14, "{}", text(&output.stderr));
        let counts = fs::read_to_string(folder.path().join("counts")).unwrap();
        let most = counts.lines().map(|n| n.trim().parse::<usize>().unwrap()).max().unwrap();
        assert!(most <= threads, "{most}");
    }
}

/// Waits until a program has written its number, and returns it.
fn number_of_program(folder: &TempDir) -> i32 {
    let start = Instant::now();
    loop {
        let number = fs::read_to_string(folder.path().join("number")).unwrap_or_default();
        if let Some(number) = number.strip_suffix('\n') {
            return number.parse().unwrap();
        }
        assert!(start.elapsed() < Duration::from_secs(60));
        thread::sleep(Duration::from_millis(5));
    }
}

fn is_running(number: i32) -> bool {
    // SAFETY: signal 0 is not sent; it only asks whether the process exists.
    unsafe { libc::kill(number, 0) == 0 }
}

#[test]
fn a_stop_ends_the_program() {
    // It writes no more, it has closed its output, or it never stops to write.
    for rest in ["sleep 1000", "sleep 1000 >&-", "yes http://h/"] {
        for (arguments, signal) in [(&[][..], libc::SIGTERM), (&["lines", "-o", "rows"], libc::SIGINT)] {
            let folder = folder_with(&format!("echo http://h/; echo $$ >number; exec {rest}"));
            let mut child =
                command(&folder, &[arguments, &["--pre", "sh script", "a"]].concat()).spawn().unwrap();
            let number = number_of_program(&folder);
            assert!(is_running(number));
            thread::sleep(Duration::from_millis(50));
            // SAFETY: the child has not been waited for, so its process number is still valid.
            assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
            let start = Instant::now();
            assert_eq!(child.wait().unwrap().code(), Some(128 + signal), "{rest} {arguments:?}");
            assert!(start.elapsed() < Duration::from_secs(30) && !is_running(number), "{rest} {arguments:?}");
            assert!(!folder.path().join("rows").exists());
        }
    }
}

#[test]
fn a_program_whose_output_is_unwanted_is_ended() {
    let folder = folder_with("echo $$ >number; printf 'PK\\003\\004'; exec cat /dev/zero");
    let output = run(&folder, &["--pre", "sh script", "a"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(!is_running(number_of_program(&folder)));
}
