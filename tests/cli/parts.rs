//! Parts of a corpus on the command line: `--range`, `--splits`, `merge` and `plan`.

use std::fs;

use super::{Command, Output, assert_refused, feed, folder_with, json, text, urlsift};

const LIST: &[u8] = b"http://a.example/\r\nhttp://b.example/b c\nftp://u:hunter2@c/\n/d e\n";

fn run(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    in_folder(folder).args(args).output().unwrap()
}

fn in_folder(folder: &tempfile::TempDir) -> Command {
    let mut command = urlsift();
    command.current_dir(folder);
    command
}

fn ok(output: Output) -> Vec<u8> {
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    output.stdout
}

#[test]
fn ranges_of_a_file_and_of_a_pipe_are_merged_to_the_report_of_all() {
    let folder = folder_with(&[("x", LIST)]);
    let whole = json(&run(&folder, &["--format", "json", "x"]));
    let mut all = ok(run(&folder, &["x", "--range", ":20", "--format", "partial"]));
    all.extend(ok(run(&folder, &["x", "--range", "20:", "--format", "partial"])));
    fs::write(folder.path().join("all"), &all).unwrap();
    let merged = run(&folder, &["merge", "all", "-o", "r.json"]);
    assert_eq!(ok(merged), b"");
    let report = json(&run(&folder, &["render", "r.json", "--format", "json"]));
    assert_eq!((&report["digest"], &report["complete"]), (&whole["digest"], &true.into()));
    // The same through a pipe and in another order.
    let mut lines: Vec<_> = all.split_inclusive(|&byte| byte == b'\n').collect();
    lines.reverse();
    assert_eq!(json(&feed(&["merge", "--format", "json"], &lines.concat()))["digest"], whole["digest"]);
    let piped = feed(&["-", "--range", "0:20", "--input-format", "lines", "--format", "json"], LIST);
    let report = json(&piped);
    assert_eq!((&report["totals"]["lines"], &report["complete"]), (&2.into(), &false.into()));
    assert_eq!(report["inputs"][0]["error"], "missing: all from byte 20 on");
}

#[test]
fn a_report_of_a_range_names_missing_bytes_and_checks_conditions() {
    let folder = folder_with(&[("x", LIST)]);
    let output = run(&folder, &["x", "--range", "19:41", "--fail-on", "refused"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(
        text(&output.stdout).contains("missing: bytes 0 to 19, bytes 41 to 64"),
        "{}",
        text(&output.stdout)
    );
    assert_eq!(run(&folder, &["x", "--range", "0:19", "--fail-on", "refused"]).status.code(), Some(0));
}

#[test]
fn a_plan_is_scanned_split_by_split() {
    let folder = folder_with(&[("a", LIST), ("b", &LIST.repeat(40)), ("empty", b"")]);
    let whole = json(&run(&folder, &["--format", "json", "--lengths", "b", "a", "empty"]));
    let plan = ok(run(&folder, &["plan", "b", "a", "empty", "--split-size", "1K"]));
    let mut partials = Vec::new();
    for split in text(&plan).lines() {
        fs::write(folder.path().join("split"), split).unwrap();
        partials.extend(ok(run(&folder, &["scan", "--splits", "split", "--lengths", "--format", "partial"])));
    }
    let merged = json(&feed(&["merge", "-", "--format", "json"], &partials));
    assert_eq!((&merged["digest"], &merged["inputs"]), (&whole["digest"], &whole["inputs"]));
    // All splits in a single scan.
    fs::write(folder.path().join("plan"), &plan).unwrap();
    let at_once = run(&folder, &["scan", "--splits", "plan", "--lengths", "--format", "json"]);
    assert_eq!(json(&at_once)["digest"], whole["digest"]);
    // One partial report is missing.
    let n = text(&partials).lines().count();
    let some: String = text(&partials).lines().skip(1).flat_map(|line| [line, "\n"]).collect();
    let output = feed(&["merge", "-", "--format", "json"], some.as_bytes());
    assert_eq!((n, output.status.code()), (5, Some(2)));
    assert_eq!(text(&output.stderr), "urlsift: b: missing: bytes 0 to 1024\n");
    assert_eq!(json(&output)["complete"], false);
}

/// The examples depend on which lines come first, and a plan lists the largest inputs first.
#[test]
fn examples_do_not_depend_on_the_order_of_scanning() {
    let list = |name: char, n: usize| format!("http://{name}/<\n").repeat(n);
    let files = "abcdef".chars().zip([2, 9, 3, 8, 1, 20]);
    let folder = tempfile::tempdir().unwrap();
    for (name, n) in files {
        fs::write(folder.path().join(name.to_string()), list(name, n)).unwrap();
    }
    let options = ["--lengths", "--format"];
    let whole = json(&run(&folder, &[&options[..], &["json", "a", "b", "c", "d", "e", "f"]].concat()));
    let plan = ok(run(&folder, &["plan", "a", "b", "c", "d", "e", "f"]));
    assert!(text(&plan).starts_with("{\"input\":5,"));
    fs::write(folder.path().join("plan"), &plan).unwrap();
    let planned = run(&folder, &[&["scan", "--splits", "plan"], &options[..], &["json"]].concat());
    assert_eq!(json(&planned)["digest"], whole["digest"]);
    let named = ok(run(&folder, &[&options[..], &["partial", "f", "d", "b", "e", "c", "a"]].concat()));
    assert_eq!(json(&feed(&["merge", "--format", "json"], &named))["digest"], whole["digest"]);
}

#[test]
fn invalid_splits_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let split = |rest: &str| format!(r#"{{"input":0,"name":"x","path":"x",{rest}}}"#);
    let range = r#""start":9,"end":20,"size":50"#;
    for (text_of, why) in [
        (split(r#""start":9,"end":9,"size":99"#), "ends where it starts"),
        (split(r#""start":9,"end":20,"size":10"#), "does not lie in an input of that size"),
        (split(r#""start":9,"end":null,"size":10"#), "does not lie in an input of that size"),
        (split(r#""start":9,"end":20,"size":18446744073709551615"#), "does not lie in an input of that size"),
        (split(&format!(r#"{range},"inputs":0"#)), "a larger number"),
        (split(&format!(r#"{range},"other":0"#)), "unknown field"),
        (split(range).replace(r#""name":""#, r#""name":"\u001b"#), "a name that cannot be shown"),
    ] {
        fs::write(folder.path().join("s"), &text_of).unwrap();
        assert_refused(&run(&folder, &["scan", "--splits", "s", "--format", "partial"]), why);
    }
}

#[test]
fn a_split_of_a_stream_is_read_from_its_start() {
    let split = |range: &str| format!(r#"{{"input":0,"name":"s3a://b/x","path":"-",{range},"size":64}}"#);
    let (middle, tail) = (split(r#""start":20,"end":45"#), split(r#""start":45,"end":64"#));
    let folder = folder_with(&[("x", LIST), ("s", middle.as_bytes()), ("t", tail.as_bytes())]);
    let of = |name: &str, reading: &[&str], list: &[u8]| {
        let path = folder.path().join(name);
        feed(&[&["scan", "--splits", path.to_str().unwrap(), "--json"], reading].concat(), list)
    };
    for (name, range) in [("s", "20:45"), ("t", "45:")] {
        let file = json(&run(&folder, &["x", "--range", range, "--format", "json"]));
        for reading in [&[][..], &["--input-format", "lines"]] {
            let report = json(&of(name, reading, LIST));
            let expected = (&file["digest"], &"s3a://b/x".into());
            assert_eq!((&report["digest"], &report["inputs"][0]["name"]), expected, "{reading:?}");
        }
    }
    for (list, size) in [(&LIST[..50], 50), (&LIST.repeat(2), 128)] {
        let output = of("t", &[], list);
        assert_eq!((output.status.code(), &json(&output)["totals"]["lines"]), (Some(2), &0.into()));
        let error = format!("has {size} bytes, and should have 64: it is not what was planned");
        assert!(text(&output.stderr).contains(&error), "{}", text(&output.stderr));
    }
    let table = of("s", &[], b"id,url\n1,http://a.example/\n2,http://b.example/\n3,http://c.example/\n");
    let said = text(&table.stderr);
    assert_eq!(table.status.code(), Some(2));
    assert!(said.starts_with("urlsift: s3a://b/x: a part of it cannot be read alone: it is csv"), "{said}");
}

#[test]
fn an_input_may_be_called_like_a_schema() {
    let folder = folder_with(&[("urlsift.report/x", LIST)]);
    let part = ok(run(&folder, &["urlsift.report/x", "--format", "partial"]));
    fs::write(folder.path().join("part"), part).unwrap();
    ok(run(&folder, &["merge", "part"]));
}

#[test]
fn incompatible_reports_are_refused_and_nothing_is_written() {
    let folder = folder_with(&[("x", LIST), ("empty", b""), ("noise", b"{\"schema\":\"x\"}\n")]);
    let part = |args: &[&str], name: &str| {
        let args = [&["--format", "partial", "-o", name], args].concat();
        ok(run(&folder, &args));
    };
    part(&["x"], "whole");
    part(&["x", "--range", "0:9"], "head");
    part(&["x", "--range", "9:", "-g", "rfc1738"], "other");
    ok(run(&folder, &["x", "-o", "r.json"]));
    fs::create_dir(folder.path().join("folder")).unwrap();
    for (files, why) in [
        (["whole", "whole"], "counted already: bytes 0 to 64"),
        (["whole", "head"], "counted already: bytes 0 to 9"),
        (["head", "other"], "not scanned alike: grammar: \"rfc3986\" and \"rfc1738\""),
        (["head", "empty"], "there is no partial report in it"),
        (["head", "noise"], "its schema is x"),
        (["head", "r.json"], "a finished report"),
        (["head", "missing"], "(os error 2)"),
    ] {
        assert_refused(&run(&folder, &["merge", files[0], files[1], "-o", "out"]), why);
        assert!(!folder.path().join("out").exists());
    }
    for (args, why) in [
        (&["x", "noise", "--range", "0:9"][..], "--range is of one input"),
        (&["x", "--range", "9:9"], "ends where it starts"),
        (&["x", "--range", "9"], "expected START:END"),
        (&["x", "x", "--format", "partial"], "counted already"),
        (&["x", "--format", "partial", "--fail-on", "refused"], "--fail-on cannot check a partial report"),
        (&["render", "r.json", "--format", "partial"], "cannot be merged any more"),
        (&["scan", "--splits", "x"], "line 1: not a split"),
        (&["scan", "--splits", "empty"], "there is no split in it"),
        (&["plan", "-"], "only files can be planned"),
        (&["plan", "folder"], "there is no file to read in this directory"),
        (&["plan", "missing"], "(os error 2)"),
        (&["plan", "x", "-o", "x"], "is also an input"),
        (&["merge", "head", "-o", "head"], "is also an input"),
    ] {
        assert_refused(&run(&folder, args), why);
    }
    // A list of splits may also come from standard input.
    let plan = folder.path().join("plan.partial");
    fs::write(&plan, ok(run(&folder, &["plan", "x"]))).unwrap();
    let mut command = in_folder(&folder);
    command.args(["scan", "--splits", "-", "-o", "plan.partial"]).stdin(fs::File::open(&plan).unwrap());
    assert_refused(&command.output().unwrap(), "is also an input");
}

/// Reports are merged in pairs, so that many of them take no longer each than few.
#[test]
fn any_number_of_reports_is_merged() {
    let folder = folder_with(&[("x", LIST)]);
    let whole = json(&run(&folder, &["--format", "json", "x"]));
    let names: Vec<_> = (0..7).map(|n| format!("part{n}")).collect();
    for (n, name) in names.iter().enumerate() {
        let end = if n < 6 { (9 * n + 9).to_string() } else { String::new() };
        ok(run(&folder, &["x", "--range", &format!("{}:{end}", 9 * n), "--format", "partial", "-o", name]));
    }
    let merge =
        |names: &[&String]| in_folder(&folder).args(["merge", "--json"]).args(names).output().unwrap();
    assert_eq!(json(&merge(&names.iter().collect::<Vec<_>>()))["digest"], whole["digest"]);
    for n in 0..7 {
        let twice: Vec<_> = names.iter().chain([&names[n]]).collect();
        assert_refused(&merge(&twice), &format!("part{n}: x: counted already: bytes {}", 9 * n));
    }
}

#[test]
fn reports_name_unreadable_inputs() {
    let folder = folder_with(&[("x", LIST)]);
    for (format, reader) in [("partial", "merge"), ("json", "render")] {
        let unread = run(&folder, &["missing", "--format", format]);
        let shown = feed(&[reader], &unread.stdout);
        assert!(text(&shown.stdout).contains("missing: No such file"), "{reader}: {}", text(&shown.stdout));
    }
    let output = run(&folder, &["x", "missing", "--format", "partial"]);
    assert_eq!(output.status.code(), Some(2));
    let merged = feed(&["merge", "--format", "json"], &output.stdout);
    assert_eq!(merged.status.code(), Some(2));
    let report = json(&merged);
    assert_eq!((&report["complete"], &report["totals"]["lines"]), (&false.into(), &4.into()));
    assert!(report["inputs"][0]["error"].as_str().unwrap().contains("(os error 2)"), "in the order of names");
}

#[test]
fn a_range_without_a_line_says_so() {
    let folder = folder_with(&[("x", LIST)]);
    let message = "urlsift: no line begins in the range\n";
    for name in ["r.txt", "r.json"] {
        let output = run(&folder, &["x", "--range", "1:2", "-o", name]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), message));
        let report = fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(report.contains("missing: bytes 0 to 1, bytes 2 to 64"), "{report}");
    }
}
