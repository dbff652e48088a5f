//! The report as a document: the same for any way of making it, read back as it was written, and refused if it was not.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::Value;
use urlsift::kernel::KernelId;
use urlsift::report::{ReadErrorKind, Report};

fn urlsift() -> Command {
    Command::new(env!("CARGO_BIN_EXE_urlsift"))
}

fn sample(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "corpora", "samples", name].iter().collect()
}

/// The JSON report of a sample.
fn written(name: &str) -> String {
    let output = urlsift().args(["--format", "json"]).arg(sample(name)).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[derive(Clone, Copy, Debug)]
enum From {
    File,
    Pipe,
}

fn kind(json: &str) -> ReadErrorKind {
    Report::from_json(json.as_bytes()).unwrap_err().kind()
}

#[test]
fn one_digest_for_the_same_input() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    let names = ["top100.txt", "ldp_urls.txt", "loc_seeds.crlf.txt", "parser_vectors.txt", "trackers.txt"];
    let lists: Vec<_> = names.iter().map(|name| fs::read(sample(name)).unwrap()).collect();
    fs::write(&list, lists.concat()).unwrap();
    let report = |args: &[&str], from: From| {
        let mut command = urlsift();
        command.args(["--format", "json"]).args(args);
        match from {
            From::File => command.arg(&list),
            From::Pipe => command.stdin(Stdio::piped()),
        };
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(&lists.concat()).unwrap();
        }
        Report::from_json(&child.wait_with_output().unwrap().stdout).unwrap()
    };
    let expected = report(&["-j1", "--kernel", "portable"], From::File);
    assert!(expected.run.is_some() && expected.totals.judged > 40_000);
    for kernel in KernelId::available() {
        for threads in 1..=8 {
            for from in [From::File, From::Pipe] {
                let threads = threads.to_string();
                let args =
                    ["-j", &threads, "--kernel", kernel.name(), "--shard-size", "50000", "--line-size", "99"];
                assert_eq!(report(&args, from).digest, expected.digest, "{args:?} {from:?}");
            }
        }
    }
}

#[test]
fn equal_lists_have_one_digest_whatever_they_are_called() {
    let folder = tempfile::tempdir().unwrap();
    let digest = |names: &[&str]| {
        let output = urlsift().args(["--format", "json"]).args(names).current_dir(&folder).output().unwrap();
        Report::from_json(&output.stdout).unwrap().digest
    };
    for (name, list) in [("a", "http://h/a b\n"), ("b", "http://h/a b\n"), ("c", "http://h/a c\n")] {
        fs::write(folder.path().join(name), list).unwrap();
    }
    assert_eq!(digest(&["a", "b"]), digest(&["b", "a"]));
    assert_ne!(digest(&["a", "c"]), digest(&["c", "a"]));
    assert_ne!(digest(&["a"]), digest(&["c"]));
}

#[test]
fn what_was_changed_is_refused() {
    let json = written("ldp_urls.txt");
    assert!(Report::from_json(json.as_bytes()).is_ok());
    let report = Report::from_json(json.as_bytes()).unwrap();
    for (wrong, expected) in [
        (String::new(), ReadErrorKind::NotJson),
        (json[..json.len() / 2].to_owned(), ReadErrorKind::NotJson),
        ("{}".to_owned(), ReadErrorKind::NotAReport),
        ("[1]".to_owned(), ReadErrorKind::NotAReport),
        (json.replace("urlsift.report/1", "urlsift.bench/1"), ReadErrorKind::NotAReport),
        (json.replace("urlsift.report/1", "urlsift.report/2"), ReadErrorKind::OtherSchema),
        (json.replace("\"judged\": ", "\"judged\": 1"), ReadErrorKind::WrongDigest),
        (json.replace(&report.digest, &"0".repeat(64)), ReadErrorKind::WrongDigest),
        (json.replace("\"digest\"", "\"was\""), ReadErrorKind::WrongDigest),
        (json.replace("0.1.0", "\\u001b[31m"), ReadErrorKind::WrongField),
        (json.replace("\"threads\": ", "\"threads\": -"), ReadErrorKind::WrongField),
    ] {
        assert_eq!(kind(&wrong), expected, "{}", &wrong[..wrong.len().min(200)]);
    }
    // Whoever computes the digest anew still has to count right.
    let mut wrong = report.clone();
    wrong.totals.accepted_by_any += 1;
    let mut json = Vec::new();
    wrong.write_json(&mut json).unwrap();
    assert_eq!(Report::from_json(&json).unwrap_err().kind(), ReadErrorKind::WrongCount);
    let mut wrong = report;
    wrong.defects[0].examples[0].mark = [0, 1000];
    let mut json = Vec::new();
    wrong.write_json(&mut json).unwrap();
    assert_eq!(Report::from_json(&json).unwrap_err().kind(), ReadErrorKind::WrongCount);
}

#[test]
fn what_does_not_count_may_change() {
    let json = written("mosaic_1990s.txt");
    let report = Report::from_json(json.as_bytes()).unwrap();
    let named = json.replace("\"seconds\": ", "\"seconds\": 1").replace("mosaic_1990s", "other");
    let other = Report::from_json(named.as_bytes()).unwrap();
    assert_eq!((&other.digest, &other.totals), (&report.digest, &report.totals));
    assert!(other.inputs[0].name.ends_with("other.txt"));
    // A field that a later version may have is part of its digest, and is not known here.
    let mut value: Value = serde_json::from_str(&json).unwrap();
    value["run"]["later"] = 1.into();
    assert_eq!(Report::from_json(value.to_string().as_bytes()).unwrap(), report);
}
