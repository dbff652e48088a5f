//! The report as a document: it does not depend on how it was made, survives a round trip, and is refused if it was
//! changed.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use urlsift::internal::run::{Input, KernelId, Scanned};
use urlsift::internal::scan::Options;
use urlsift::report::{ReadErrorKind, Report};

use crate::support::{fed, file, folder_with};

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

fn kind(json: &str) -> ReadErrorKind {
    Report::from_json(json.as_bytes()).unwrap_err().kind()
}

#[test]
fn one_digest_for_the_same_input() {
    let names = ["top100.txt", "ldp_urls.txt", "loc_seeds.crlf.txt", "parser_vectors.txt", "trackers.txt"];
    let lists: Vec<_> = names.iter().map(|name| fs::read(sample(name)).unwrap()).collect();
    let list = file(lists.concat());
    let report = |args: &[&str], is_file: bool| {
        let mut command = urlsift();
        command.args(["--format", "json"]).args(args);
        let output =
            if is_file { command.arg(&list).output().unwrap() } else { fed(&mut command, &lists.concat()) };
        Report::from_json(&output.stdout).unwrap()
    };
    let expected = report(&["-j1", "--kernel", "portable"], true);
    assert!(expected.run.is_some() && expected.totals.judged > 40_000);
    for kernel in KernelId::available() {
        for threads in 1..=8 {
            for is_file in [true, false] {
                let threads = threads.to_string();
                let args =
                    ["-j", &threads, "--kernel", kernel.name(), "--shard-size", "50000", "--line-size", "99"];
                assert_eq!(report(&args, is_file).digest, expected.digest, "{args:?} {is_file}");
            }
        }
    }
}

#[test]
fn the_digest_does_not_depend_on_names() {
    let folder = folder_with(&[("a", "http://h/a b\n"), ("b", "http://h/a b\n"), ("c", "http://h/a c\n")]);
    let digest = |names: &[&str]| {
        let output = urlsift().args(["--format", "json"]).args(names).current_dir(&folder).output().unwrap();
        Report::from_json(&output.stdout).unwrap().digest
    };
    assert_eq!(digest(&["a", "b"]), digest(&["b", "a"]));
    assert_ne!(digest(&["a", "c"]), digest(&["c", "a"]));
    assert_ne!(digest(&["a"]), digest(&["c"]));
}

#[test]
fn changed_reports_are_refused() {
    let json = written("ldp_urls.txt");
    assert!(Report::from_json(json.as_bytes()).is_ok());
    let report = Report::from_json(json.as_bytes()).unwrap();
    for (wrong, expected) in [
        (String::new(), ReadErrorKind::NotJson),
        (json[..json.len() / 2].to_owned(), ReadErrorKind::NotJson),
        ("{}".to_owned(), ReadErrorKind::NotAReport),
        ("[1]".to_owned(), ReadErrorKind::NotAReport),
        (json.replace("urlsift.report/2", "urlsift.bench/1"), ReadErrorKind::NotAReport),
        (json.replace("urlsift.report/2", "urlsift.report/3"), ReadErrorKind::OtherSchema),
        (json.replacen("\"blank\": ", "\"blank\": 1", 1), ReadErrorKind::WrongDigest),
        (json.replace(&report.digest, &"0".repeat(64)), ReadErrorKind::WrongDigest),
        (json.replace("\"digest\"", "\"was\""), ReadErrorKind::WrongDigest),
        (json.replace(env!("CARGO_PKG_VERSION"), "\\u001b[31m"), ReadErrorKind::WrongField),
        (json.replace("\"threads\": ", "\"threads\": -"), ReadErrorKind::WrongField),
    ] {
        assert_eq!(kind(&wrong), expected, "{}", &wrong[..wrong.len().min(200)]);
    }
    // A report with a recomputed digest must still have consistent counts.
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
fn fields_outside_the_digest_may_change() {
    let json = written("mosaic_1990s.txt");
    let report = Report::from_json(json.as_bytes()).unwrap();
    let named = json.replace("\"seconds\": ", "\"seconds\": 1").replace("mosaic_1990s", "other");
    let other = Report::from_json(named.as_bytes()).unwrap();
    assert_eq!((&other.digest, &other.totals), (&report.digest, &report.totals));
    assert!(other.inputs[0].name.ends_with("other.txt"));
    // A later version may add fields, which this version ignores.
    let mut value: Value = serde_json::from_str(&json).unwrap();
    value["run"]["later"] = 1.into();
    assert_eq!(Report::from_json(value.to_string().as_bytes()).unwrap(), report);
}

#[test]
fn a_rendered_report_equals_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let samples = sample("");
    let scan = |args: &[&str]| urlsift().args(args).arg(&samples).output().unwrap().stdout;
    fs::write(at("report"), scan(&["--format", "json"])).unwrap();
    let render = |args: &[&str]| urlsift().arg("render").args(args).arg(at("report")).output().unwrap();
    for looks in [&[][..], &["--color", "always"], &["--ascii"]] {
        assert!(render(looks).stdout == scan(looks), "{looks:?}");
    }
    let json = render(&["--format", "json"]).stdout;
    assert!(json == fs::read(at("report")).unwrap(), "run is kept");
    // The ending of the file name decides, unless --format is given.
    for (name, expected) in
        [("a.json", &json), ("a.txt", &scan(&[])), ("a.TEXT", &scan(&[])), ("a", &scan(&[]))]
    {
        assert!(render(&["-o", &at(name)]).status.success());
        assert!(fs::read(at(name)).unwrap() == *expected, "{name}");
    }
    assert!(render(&["-o", &at("a.txt"), "--format", "json"]).status.success());
    assert!(fs::read(at("a.txt")).unwrap() == json);
    assert!(urlsift().args(["-o", &at("b.json")]).arg(&samples).status().unwrap().success());
    assert_eq!(
        Report::from_json(&fs::read(at("b.json")).unwrap()).unwrap().digest,
        Report::from_json(&json).unwrap().digest
    );
    // From a pipe, and into the file that is read.
    let piped = urlsift().arg("render").stdin(fs::File::open(at("report")).unwrap()).output().unwrap().stdout;
    assert!(piped == scan(&[]));
    assert!(render(&["-o", &at("report")]).status.success());
    assert!(fs::read(at("report")).unwrap() == piped);
}

/// The document is written in pieces, which may end inside a character.
#[test]
fn names_of_all_characters_come_back() {
    let name = |n: usize| format!("{}\u{e9}\u{20ac}\u{1f600}", "x".repeat(n % 7));
    let inputs: Vec<_> = (0..2000).map(|n| Input::standard().with_name(name(n))).collect();
    let report = Report::new(&Scanned::default(), &inputs, &Options::default(), false);
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    assert_eq!(Report::from_json(&json).unwrap(), report);
    assert!(json.len() > 10 << 16 && json.ends_with(b"}\n") && str::from_utf8(&json).is_ok());
}

#[test]
fn a_byte_order_mark_before_a_report_is_skipped() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["report.json", "report.html"] {
        assert!(
            urlsift().arg("-o").arg(at(name)).arg(sample("mosaic_1990s.txt")).status().unwrap().success()
        );
        let plain = fs::read(at(name)).unwrap();
        fs::write(at("marked"), [b"\xef\xbb\xbf", &plain[..]].concat()).unwrap();
        let rendered = |name: &str| urlsift().arg("render").arg(at(name)).output().unwrap();
        let marked = rendered("marked");
        assert!(marked.status.success(), "{}", String::from_utf8_lossy(&marked.stderr));
        assert_eq!(marked.stdout, rendered(name).stdout);
    }
}

#[test]
fn an_inexact_top_list_says_so() {
    let hosts: Vec<String> = (0..70_000).map(|n| format!("http://h{n}/\n")).collect();
    let list = file(hosts.concat() + "http://h0/\n");
    let run = |args: &[&str]| {
        let output = urlsift().args(["--top", "hosts=5"]).args(args).arg(&list).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&[]).contains("\n  (wrong by at most 1 line; names that have no more may be missing)\n"));
    let report: Value = serde_json::from_str(&run(&["--format", "json"])).unwrap();
    let top = &report["top"][0];
    assert_eq!((&top["exact"], &top["max_error"]), (&false.into(), &1.into()));
    assert_eq!(top["entries"].as_array().unwrap().len(), 1);
    assert!(
        run(&["--format", "html"]).contains("off by 1, and names that have no more lines may be missing<")
    );
}

#[test]
fn a_page_without_its_json_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let hosts: Vec<String> =
        (0..9000).map(|n| format!("http://host-of-some-length-{n}.example/\n")).collect();
    fs::write(at("list"), hosts.concat()).unwrap();
    let page = |top: &str| {
        let output =
            urlsift().args(["-o", "page.html", "--top", top, "list"]).current_dir(&folder).output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty());
        (fs::read_to_string(at("page.html")).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (short, said) = page("hosts=100");
    assert_eq!(said, "");
    assert!(short.contains("This file holds the whole report as JSON"));
    let (long, said) = page("hosts=9000");
    assert!(said.contains("page.html: does not hold the report as JSON, with which"), "{said}");
    assert!(long.contains("This file does not hold the report as JSON, which has "), "{long}");
    let output = urlsift().args(["render", "page.html"]).current_dir(&folder).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a page that does not hold its report"));
}

#[test]
fn invalid_reports_are_not_rendered() {
    let folder = tempfile::tempdir().unwrap();
    let render = |content: Option<&str>| {
        let path = folder.path().join("report.json");
        if let Some(content) = content {
            fs::write(&path, content).unwrap();
        }
        let output = urlsift().arg("render").arg(path).output().unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(
            error.starts_with("urlsift: ") && error.contains("report.json: ") && !error.contains('\x1b'),
            "{error}"
        );
        error
    };
    assert!(render(None).contains("(os error 2)"));
    assert!(render(Some("GET / HTTP/1.0\n")).contains("not a report"));
    assert!(render(Some("{\"schema\": \"\\u001b[31m\"}")).contains("not a report"));
    assert!(
        render(Some(&written("top100.txt").replace("\"lines\": 1", "\"lines\": 2")))
            .contains("changed since")
    );
    let of_before = written("trackers.txt").replace("urlsift.report/2", "urlsift.report/1");
    assert!(render(Some(&of_before)).ends_with(
        "report.json: a report of the schema urlsift.report/1; this version of urlsift reads only urlsift.report/2; scan again\n"
    ));
}

#[test]
fn colours_follow_options_and_environment() {
    let coloured = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = urlsift();
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE"] {
            command.env_remove(name);
        }
        let output =
            command.args(args).arg(sample("ldp_urls.txt")).envs(variables.iter().copied()).output().unwrap();
        output.stdout.contains(&0x1b)
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&["--color", "always"], &[("NO_COLOR", "1")]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "0")]) && !coloured(&[], &[("CLICOLOR_FORCE", "")]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}
