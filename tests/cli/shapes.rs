//! Text that is read as a list but looks like something else is counted with a warning. UTF-16 is decoded.

use std::fs;
use std::process::Output;

use super::{feed, json, text, urlsift};

/// Texts, their shape in JSON, and a part of the warning.
const TEXTS: [(&str, &str, &str); 24] = [
    ("http://a.example/\rhttp://b.example/\r", "cr-separated", "tr '\\r' '\\n'"),
    ("http://a.example/\0http://b.example/\0", "nul-separated", "tr '\\0' '\\n'"),
    ("[{url: \"http://a.example/\"}, {url: \"http://b.example/\"}]\n", "json", "jq -r"),
    ("{\"a\": [\n\"http://a.example/\"\n\"http://b.example/\"\n]}\n", "json", "jq -r"),
    ("<pages>\n<page>http://a.example/</page>\n</pages>\n", "markup", "--input-format xml"),
    ("<p>text\n<a href=\"http://a.example/\">a</a>\n", "markup", "--input-format html"),
    ("'http://a.example/'\n'http://b.example/'\n", "quoted", "sed -E"),
    ("1,http://a.example/,x\n2,http://b.example/,y\n", "comma-table", "--input-format csv"),
    ("http://a.example/\t200\nhttp://b.example/\t404\n", "tab-table", "--input-format csv"),
    ("1;http://a.example/\n2;http://b.example/\n", "semicolon-table", "--input-format csv"),
    ("1|http://a.example/\n2|http://b.example/\n", "bar-table", "--input-format csv"),
    ("http://a.example/,5\nhttp://b.example/,7\nhttp://c.example/,9\n", "comma-table", "--input-format csv"),
    ("url\nhttp://a.example/\n", "headed", "tail -n +2"),
    ("#EXTM3U\n#EXTINF:1,a\nhttp://a.example/\n", "commented", "grep -v '^#'"),
    (
        "http://a.example/ http://b.example/\nhttp://c.example/,http://d.example/\n",
        "several-per-line",
        "grep -oE",
    ),
    ("a.txt:12:http://a.example/\na.txt:13:http://b.example/\n", "log", "grep -oE"),
    ("1. http://a.example/\n2. http://b.example/\n", "numbered", "sed -E"),
    ("  http://a.example/\n  http://b.example/\n", "indented", "sed -E"),
    ("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", "encoded", "decode it first"),
    ("aHR0cDovL2EuZXhhbXBsZS8KaHR0cDovL2IuZXhhbXBsZS8KaHR0cDovL2MuZXh1\n", "encoded", "decode it first"),
    ("#!/bin/sh\nfetch http://a.example/\n", "log", "grep -oE"),
    ("first = http://a.example/\nsecond = http://b.example/\n", "key-value", "sed -E"),
    ("10:00:00 GET http://a.example/ 200\n10:00:01 GET http://b.example/ 200\n", "log", "grep -oE"),
    ("see http://a.example/ for more\nor http://b.example/ instead\n", "log", "grep -oE"),
];

#[test]
fn text_of_another_shape_is_counted_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    for (n, (content, shape, advice)) in TEXTS.into_iter().enumerate() {
        let path = folder.path().join(format!("file{n}"));
        fs::write(&path, content).unwrap();
        for command in [&["scan", "--format", "json"][..], &["lines"], &["split", "-a", "-"]] {
            let output = urlsift().args(command).arg(&path).output().unwrap();
            let said = text(&output.stderr);
            let warnings = said.lines().filter(|line| line.contains("looks like")).count();
            assert_eq!((output.status.code(), warnings), (Some(0), 1), "{content:?} {command:?}: {said}");
            assert!(said.contains(&format!("file{n}: looks like")), "{said}");
            assert!(said.contains(advice), "{content:?} {command:?}: {said}");
        }
        let of = |output: &Output| json(output)["inputs"][0]["looks_like"].clone();
        let report = of(&urlsift().args(["--format", "json"]).arg(&path).output().unwrap());
        assert_eq!(report["shape"], shape, "{content:?}");
        assert!(report["advice"].as_str().unwrap().contains(advice), "{content:?}");
        assert_eq!(
            of(&feed(&["--format", "json"], content.as_bytes())),
            report,
            "{content:?} through a pipe"
        );
        let sizes = ["--shard-size", "16", "--line-size", "3", "--format", "json"];
        assert_eq!(of(&urlsift().args(sizes).arg(&path).output().unwrap()), report, "{content:?} in shards");
        for form in ["text", "html"] {
            let output = urlsift().args(["--format", form]).arg(&path).output().unwrap();
            assert!(text(&output.stdout).contains("looks like"), "{content:?} as {form}");
        }
        let output = urlsift().args(["--input-format", "lines"]).arg(&path).output().unwrap();
        assert_eq!(text(&output.stderr), "", "{content:?} with a format");
    }
}

/// A dump of a database: few of its lines are long, and RFC 3986 accepts many of the others.
#[test]
fn a_line_that_fills_most_of_the_sample_decides() {
    let beginning = "-- MySQL dump 10.19\n--\n\nCREATE TABLE `l` (\n);\n--\n--\n";
    let insert = format!("INSERT INTO `l` VALUES {};\n", "(1,0,'http://a.example/b'),".repeat(4000));
    let dump = format!("{beginning}{}", insert.repeat(3));
    assert!(
        text(&feed(&[], dump.as_bytes()).stderr).starts_with("urlsift: -: looks like a log or other text")
    );
    let list = format!("http://a.example/\nhttp://a.example/?{}\n", "b=/&".repeat(20_000));
    assert_eq!(text(&feed(&[], list.as_bytes()).stderr), "");
}

#[test]
fn parts_of_an_input_keep_its_warning() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    fs::write(&path, "1|http://a.example/\n2|http://b.example/\n").unwrap();
    let part = |range: &str, name: &str| {
        let part = folder.path().join(name);
        let args = ["--range", range, "--format", "partial", "-o"];
        let output = urlsift().args(args).arg(&part).arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        part
    };
    let parts = [part("20:", "b"), part("0:20", "a")];
    let merged = urlsift().args(["merge", "--format", "json"]).args(&parts).output().unwrap();
    assert_eq!(json(&merged)["inputs"][0]["looks_like"]["shape"], "bar-table");
    let whole = urlsift().args(["--format", "json"]).arg(&path).output().unwrap();
    assert_eq!(json(&merged)["digest"], json(&whole)["digest"]);
}

/// The command in a warning works as it is, also for a compressed file.
#[test]
#[cfg(unix)]
fn the_advice_names_the_input() {
    let folder = tempfile::tempdir().unwrap();
    let log = b"10:00:00 GET http://a.example/ 200\n10:00:01 GET http://b.example/x 200\n";
    fs::write(folder.path().join("a log"), log).unwrap();
    let gzip = "gzip -c 'a log' > b.log.gz";
    assert!(
        std::process::Command::new("sh").args(["-c", gzip]).current_dir(&folder).status().unwrap().success()
    );
    for name in ["a log", "b.log.gz"] {
        let output = urlsift().arg(name).current_dir(&folder).output().unwrap();
        let said = text(&output.stderr).trim_end();
        let command = said.split_once("extract its URLs: ").expect("advice").1;
        let command = command.replace("| urlsift", &format!("| {} --json", env!("CARGO_BIN_EXE_urlsift")));
        let output =
            std::process::Command::new("sh").args(["-c", &command]).current_dir(&folder).output().unwrap();
        assert_eq!(json(&output)["totals"]["accepted_by_any"], 2, "{command}");
    }
}

#[test]
fn many_warnings_end_in_a_summary() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..13 {
        fs::write(folder.path().join(format!("{n}")), "1|http://a.example/\n").unwrap();
    }
    let output = urlsift().arg(folder.path()).output().unwrap();
    let said = text(&output.stderr);
    assert_eq!(said.lines().count(), 11, "{said}");
    assert!(said.ends_with("warnings about 3 more inputs are not shown; --json has all\n"), "{said}");
}

const LIST: &str = "http://a.example/\nhttp://b.example/\u{e9}\n\nhttp://c.example/a b\n";

/// The list in UTF-16, with a byte order mark.
fn utf16(of: fn(u16) -> [u8; 2]) -> Vec<u8> {
    "\u{feff}".encode_utf16().chain(LIST.encode_utf16()).flat_map(of).collect()
}

#[test]
fn utf16_with_a_byte_order_mark_is_decoded() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    fs::write(&plain, LIST).unwrap();
    let rows = |output: &Output| text(&output.stdout).to_owned();
    let expected =
        urlsift().args(["lines", "--columns", "line,offset,verdict,text"]).arg(&plain).output().unwrap();
    for (name, bytes) in [("little", utf16(u16::to_le_bytes)), ("big", utf16(u16::to_be_bytes))] {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).unwrap();
        let packed = folder.path().join(format!("{name}.zst"));
        fs::write(&packed, zstd::encode_all(&bytes[..], 1).unwrap()).unwrap();
        for path in [&path, &packed] {
            let output = urlsift().args(["--format", "json"]).arg(path).output().unwrap();
            let report = json(&output);
            assert_eq!(output.status.code(), Some(0));
            assert_eq!(
                (&report["totals"]["lines"], &report["totals"]["bytes"]),
                (&4.into(), &LIST.len().into())
            );
            assert_eq!(report["inputs"][0]["warnings"][0], "utf-16");
            assert!(text(&output.stderr).contains("is UTF-16 and is decoded"));
            let output = urlsift()
                .args(["lines", "--columns", "line,offset,verdict,text"])
                .arg(path)
                .output()
                .unwrap();
            assert_eq!(rows(&output), rows(&expected), "{name}");
            let output = urlsift().args(["split", "-q", "-a", "-"]).arg(path).output().unwrap();
            assert_eq!(rows(&output), "http://a.example/\n\n");
            let args = ["--input-format", "lines", "--format", "json"];
            let part =
                |range| json(&urlsift().args(args).args(["--range", range]).arg(path).output().unwrap());
            let (first, second) = (part("0:19"), part("19:"));
            assert_eq!((&first["totals"]["judged"], &second["totals"]["judged"]), (&2.into(), &1.into()));
        }
        let piped = feed(&["--format", "json"], &bytes);
        assert_eq!(json(&piped)["totals"]["lines"], 4);
        let raw = ["--format", "json", "--input-format", "lines", "--codec", "none"];
        for range in ["0:", "0:999"] {
            let raw = json(&urlsift().args(raw).args(["--range", range]).arg(&path).output().unwrap());
            assert_eq!(raw["totals"]["bytes"], bytes.len(), "{range}");
        }
        // A place in the decoded bytes is not known before they are decoded.
        let plan = urlsift().args(["plan", "--split-size", "10"]).arg(&path).output().unwrap();
        assert!(text(&plan.stdout).contains("\"end\":null"), "{}", text(&plan.stdout));
    }
}
