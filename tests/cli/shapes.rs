//! Text that is read as a list but looks like something else is counted with a warning. UTF-16 is decoded.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use super::{feed, json, text, urlsift};
use crate::support::file;

/// Texts, their shape in JSON, the options of the advised command, and what it finds.
const TEXTS: [(&str, &str, &str, &str); 43] = [
    ("http://a.example/\rhttp://b.example/\r", "cr-separated", "text", "2 URLs"),
    ("http://a.example/\0http://b.example/\0", "nul-separated", "text", "2 URLs"),
    ("[{url: \"http://a.example/\"}, {url: \"http://b.example/\"}]\n", "json", "text", "2 URLs"),
    ("{\"a\": [\n\"http://a.example/\"\n\"http://b.example/\"\n]}\n", "json", "text", "2 URLs"),
    ("<pages>\n<page>http://a.example/</page>\n</pages>\n", "markup", "text", "1 URL"),
    ("<p>text\n<a href=\"http://a.example/\">a</a> <img src=b>\n", "markup", "html", "2 URLs"),
    ("'http://a.example/'\n'http://b.example/'\n", "log", "text", "2 URLs"),
    ("1,http://a.example/,x\n2,http://b.example/,y\n", "comma-table", "csv --field 2", "2 URLs"),
    ("http://a.example/\t200\nhttp://b.example/\t404\n", "tab-table", "tsv --field 1", "2 URLs"),
    ("1;http://a.example/\n2;http://b.example/\n", "semicolon-table", "csv --field 2", "2 URLs"),
    ("1|http://a.example/\n2|http://b.example/\n", "bar-table", "csv --field 2", "2 URLs"),
    (
        "http://a.example/,5\nhttp://b.example/,7\nhttp://c.example/,9\n",
        "comma-table",
        "csv --field 1",
        "3 URLs",
    ),
    (
        "http://a.example/;5\nhttp://b.example/;7\nhttp://c.example/;9\n",
        "semicolon-table",
        "csv --delimiter ; --field 1",
        "3 URLs",
    ),
    ("url\nhttp://a.example/\n", "headed", "text", "1 URL"),
    ("#EXTM3U\n#EXTINF:1,a\nhttp://a.example/\n", "commented", "text", "1 URL"),
    (
        "http://a.example/ http://b.example/\nhttp://c.example/ http://d.example/\n",
        "several-per-line",
        "text",
        "4 URLs",
    ),
    ("a.txt:12:http://a.example/\na.txt:13:http://b.example/\n", "log", "text", "2 URLs"),
    ("1. http://a.example/\n2. http://b.example/\n", "log", "text", "2 URLs"),
    ("  http://a.example/\n  http://b.example/\n", "log", "text", "2 URLs"),
    ("-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n", "encoded", "", ""),
    ("aHR0cDovL2EuZXhhbXBsZS8KaHR0cDovL2IuZXhhbXBsZS8KaHR0cDovL2MuZXh1\n", "encoded", "", ""),
    ("#!/bin/sh\nfetch http://a.example/\n", "log", "text", "1 URL"),
    ("first = http://a.example/\nsecond=http://b.example/\n", "log", "text", "2 URLs"),
    ("10:00:00 GET http://a.example/ 200\n10:00:01 GET http://b.example/ 200\n", "log", "text", "2 URLs"),
    ("see http://a.example/ for more\nor http://b.example/ instead\n", "log", "text", "2 URLs"),
    // Two columns of URLs, which running text would join.
    (
        "http://a.example/,http://b.example/\nhttp://c.example/,http://d.example/\nhttp://e.example/,http://f.example/\n",
        "comma-table",
        "csv --field 1,2",
        "6 URLs",
    ),
    (
        "1;http://a.example/;http://b.example/\n2;http://c.example/;http://d.example/\n",
        "semicolon-table",
        "csv --field 2,3",
        "4 URLs",
    ),
    // A list of popular hosts, and pages of Google Analytics.
    (
        "1,google.example\n2,www.example.org\n3,example.com\n",
        "comma-table",
        "csv --field 2",
        "3 hosts or paths",
    ),
    (
        "# All pages\nPath,Views\n/home,\"1,120\"\n/about,7\n/a/b,3\n",
        "comma-table",
        "csv --field 1",
        "3 hosts or paths",
    ),
    // Logs with bars. One has its URLs in columns, the other inside of them.
    (
        "t|GET|http://a.example/|http://r.example/|200\nu|GET|http://b.example/|http://r.example/|200\n",
        "bar-table",
        "csv --field 3,4",
        "4 URLs",
    ),
    (
        "2026-01-01 | INFO | fetch http://a.example/ ok\n2026-01-01 | INFO | fetch http://b.example/ ok\n",
        "bar-table",
        "text",
        "2 URLs",
    ),
    // N-Triples, Markdown, reStructuredText, YAML, TOML, a shell script, and a visiting card.
    (
        "<http://a.example/s> <http://a.example/p> <http://a.example/o> .\n<http://b.example/s> <http://a.example/p> \"x\" .\n",
        "log",
        "text",
        "5 URLs",
    ),
    ("# Links\n\n- [a](http://a.example/)\n- [b](http://b.example/b_(c)), new\n", "log", "text", "2 URLs"),
    ("See `a <http://a.example/>`_\nand `b <http://b.example/>`_\n", "log", "text", "2 URLs"),
    ("name: a\nurl: http://a.example/\nhome: \"http://b.example/\"\n", "log", "text", "2 URLs"),
    ("[a]\nurl = \"http://a.example/\"\nhome = \"http://b.example/\"\n", "log", "text", "2 URLs"),
    ("curl -O http://a.example/\ncurl -O 'http://b.example/?a|b'\n", "log", "text", "2 URLs"),
    ("BEGIN:VCARD\nURL:http://a.example/\nEND:VCARD\n", "log", "text", "1 URL"),
    // Many lines without a URL: BibTeX, LaTeX, wget, citations. An element with a reference alone.
    ("@misc{a,\n  title={T},\n  url={http://a.example/},\n}\n", "log", "text", "1 URL"),
    ("\\url{http://a.example/}\ntext\n\\url{http://b.example/}\n", "log", "text", "2 URLs"),
    (
        "--2026-01-01 00:00:00--  http://a.example/\nResolving a\nConnecting\nawaiting response... 200\n",
        "log",
        "text",
        "1 URL",
    ),
    ("TY  - JOUR\nUR  - http://a.example/\nER  - \n", "log", "text", "1 URL"),
    ("<li><a href=\"/p/1\">x</a></li>\n<li><a href=\"/p/2\">x</a></li>\n", "markup", "html", "2 URLs"),
];

/// The options of the command in an advice, and what it finds. Both are empty if no format finds anything.
fn advised(input: &Value) -> (Vec<String>, String) {
    let advice = input["looks_like"]["advice"].as_str().unwrap();
    let Some((command, found)) =
        advice.split_once(" finds ").filter(|(_, found)| !found.starts_with("a URL"))
    else {
        return (Vec::new(), String::new());
    };
    let words = command.split(' ').skip(1).map(|word| word.trim_matches('\'').to_owned());
    (words.collect(), found.split_once(" in its first 64 KiB").unwrap().0.to_owned())
}

#[test]
fn text_of_another_shape_is_counted_with_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let mut shapes = HashSet::new();
    for (content, shape, _, _) in TEXTS.into_iter().filter(|(_, shape, ..)| shapes.insert(*shape)) {
        let path = folder.path().join(shape);
        fs::write(&path, content).unwrap();
        for command in [&["scan", "--format", "json"][..], &["lines"], &["split", "-a", "-"]] {
            let output = urlsift().args(command).arg(&path).output().unwrap();
            let said = text(&output.stderr);
            let warnings = said.lines().filter(|line| line.contains("looks like")).count();
            assert_eq!((output.status.code(), warnings), (Some(0), 1), "{content:?} {command:?}: {said}");
            assert!(said.contains(&format!("{shape}: looks like")), "{said}");
        }
        let of = |output: &Output| json(output)["inputs"][0]["looks_like"].clone();
        let report = of(&urlsift().args(["--format", "json"]).arg(&path).output().unwrap());
        assert_eq!(report["shape"], shape, "{content:?}");
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
    assert_eq!(shapes.len(), 13);
}

/// Texts in `folder`, how each is read or what is advised, and what is found. Returns the report.
fn assert_found(folder: &Path, cases: &[[&str; 3]]) -> Value {
    let names = || cases.iter().map(|case| case[0]);
    let output = urlsift().arg("--json").args(names()).current_dir(folder).output().unwrap();
    let (report, said) = (json(&output), text(&output.stderr));
    let mut commands: BTreeMap<Vec<&str>, Vec<&[&str; 3]>> = BTreeMap::new();
    for (n, case) in cases.iter().enumerate() {
        let [name, way, finds] = *case;
        let input = &report["inputs"][n];
        let words: Vec<_> = way.split(' ').collect();
        let command = match words[..] {
            ["advised", ref options @ ..] => {
                let (words, found) = advised(input);
                assert_eq!(
                    (words.get(1..).unwrap_or_default(), &*found),
                    (&*owned(options), finds),
                    "{name}"
                );
                if options.is_empty() { vec![] } else { [&["lines", "--input-format"], options].concat() }
            }
            ["read", format] => {
                assert_eq!((&input["looks_like"], &input["error"]), (&Value::Null, &Value::Null), "{name}");
                assert_eq!(input["records"]["format"].as_str().unwrap_or("lines"), format, "{name}");
                vec!["lines"]
            }
            _ => {
                let fields =
                    words.last().unwrap().split(',').map(|field| field.replace("extract", "urlsift extract"));
                let message = |line: &&str| line.starts_with(&format!("urlsift: {name}: read as "));
                let message = said.lines().find(message).unwrap_or_default();
                fields.for_each(|field| assert!(message.contains(&field), "{name}: {field} in {message}"));
                if way == "extract" { words } else { [&["lines", "--input-format"], &words[..]].concat() }
            }
        };
        commands.entry(command).or_default().push(case);
    }
    commands.remove(&vec![]);
    for (words, cases) in commands {
        let names = cases.iter().map(|case| case[0]);
        let args = [&words[..], &["-q", "-c", "input,text"]].concat();
        let output = urlsift().args(args).args(names).current_dir(folder).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
        for [name, way, finds] in cases {
            let rows = text(&output.stdout).lines().filter_map(|line| line.split_once('\t'));
            let fields = rows.filter(|(input, _)| input == name).map(|(_, field)| field);
            // A header is no host or path. References in HTML count as URLs.
            let (number, what) = finds.split_once(' ').unwrap();
            let is_it = |field: &&str| {
                field.contains("://")
                    || *way == "advised html"
                    || !what.starts_with("URL") && field.contains(['.', '/'])
            };
            assert_eq!(fields.filter(is_it).count().to_string(), number, "{name}: {words:?}");
        }
    }
    report
}

fn owned(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Runs the advised command for each text.
#[test]
fn the_advised_command_finds_what_the_warning_says() {
    let folder = tempfile::tempdir().unwrap();
    let names: Vec<_> = (0..TEXTS.len()).map(|n| format!("{n:03}")).collect();
    let ways = TEXTS.map(|(_, _, options, _)| format!("advised {options}").trim_end().to_owned());
    for (name, (content, ..)) in names.iter().zip(TEXTS) {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let cases: Vec<_> = (0..TEXTS.len()).map(|n| [&*names[n], &*ways[n], TEXTS[n].3]).collect();
    let report = assert_found(folder.path(), &cases);
    for (n, (content, shape, ..)) in TEXTS.into_iter().enumerate() {
        assert_eq!(report["inputs"][n]["looks_like"]["shape"], shape, "{content:?}");
    }
}

/// Runs the advised command for each text of a folder, which are made by many programs.
#[test]
fn texts_of_many_programs_are_read_or_a_message_says_how() {
    let rows = include_str!("../awkward/expected.tsv").lines().filter(|line| !line.starts_with('#'));
    let cases: Vec<[&str; 3]> =
        rows.map(|row| row.split('\t').collect::<Vec<_>>().try_into().unwrap()).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/awkward");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), cases.len() + 1, "each text has a row");
    assert_found(&folder, &cases);
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

/// The options in a warning are right for a compressed file too, and those in a report of an input that is longer than what is tried.
#[test]
fn the_advised_options_read_any_file() {
    let log = "10:00:00 GET http://a.example/ 200\n".repeat(4000);
    let path = file(zstd::encode_all(log.as_bytes(), 1).unwrap());
    let report = json(&urlsift().arg("--json").arg(&path).output().unwrap());
    let (words, found) = advised(&report["inputs"][0]);
    assert_eq!(found, "1,872 URLs");
    let report = json(&urlsift().arg("--json").args(words).arg(&path).output().unwrap());
    assert_eq!(report["totals"]["accepted_by_any"], 4000);
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
    assert!(said.ends_with("warnings about 3 more inputs are not shown; urlsift --json has all\n"), "{said}");
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
