//! The expected report of every corpus: `corpora/expected/FOLDER/FILE.json` for `corpora/FOLDER/FILE`.
//!
//! A changed count shows as a difference in a file. `URLSIFT_UPDATE=1 cargo test golden::` regenerates the reports; review
//! them before committing. They have all fields of a report except `run`. The text report must be the same from a scan and
//! from the JSON.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use urlsift::report::{Report, TextStyle, render};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

fn run(args: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
    // One of the hostile lists is a table, and would otherwise be read as one.
    command.args(["--input-format", "lines"]).env("LC_ALL", "C.UTF-8");
    let output = command.args(args).current_dir(corpora()).env_remove("CLICOLOR_FORCE").output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{args:?}: {output:?}");
    output.stdout
}

fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(corpora().join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.map(|name| format!("{folder}/{name}")).collect();
    names.sort();
    names
}

#[test]
fn reports_are_as_expected() {
    let update = std::env::var_os("URLSIFT_UPDATE").is_some();
    let mut expected: Vec<_> = Vec::new();
    for file in ["samples", "hostile"].into_iter().flat_map(files).filter(|file| file != "hostile/README.md")
    {
        // One of the files only begins like gzip.
        let json = run(&["--codec", "none", "--format", "json", &file]);
        let mut report = Report::from_json(&json).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            run(&["--codec", "none", &file]) == render(&report, &TextStyle::default()).as_bytes(),
            "{file}"
        );
        report.run = None;
        let mut written = Vec::new();
        report.write_json(&mut written).unwrap();
        let path = corpora().join("expected").join(format!("{file}.json"));
        if update {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &written).unwrap();
        }
        let known = fs::read(&path).unwrap_or_default();
        assert!(known == written, "{file}: the report is not {}", path.display());
        assert_eq!(Report::from_json(&known).unwrap(), report, "{file}");
        expected.push(format!("expected/{file}.json"));
    }
    assert!(expected.len() > 40);
    expected.sort();
    let mut found: Vec<_> = ["expected/samples", "expected/hostile"].into_iter().flat_map(files).collect();
    found.sort();
    assert_eq!(found, expected, "every expected report has its corpus");
}

#[test]
fn lines_of_text_fit_any_width() {
    let strip = |text: &str| {
        let chunks = text.split('\x1b').enumerate();
        chunks
            .map(|(n, chunk)| if n == 0 { chunk } else { chunk.split_once('m').unwrap().1 })
            .collect::<String>()
    };
    for file in ["expected/samples", "expected/hostile"].into_iter().flat_map(files) {
        let report = Report::from_json(&fs::read(corpora().join(&file)).unwrap()).unwrap();
        let narrow = (40..62).map(|width| (width, width % 2 == 0));
        let usual = [(0, true), (80, true), (100, false), (133, false), (500, true)];
        for (width, ascii) in narrow.chain(usual) {
            let mut style = TextStyle::default();
            (style.width, style.ascii) = (width, ascii);
            let text = render(&report, &style);
            for line in text.lines() {
                assert!(line.chars().count() <= width.clamp(40, 160), "{file} {width}: {line}");
                assert!(line.is_ascii() || !ascii, "{file}: {line}");
                assert_eq!(line, line.trim_end(), "{file}");
            }
            style.colour = true;
            assert_eq!(strip(&render(&report, &style)), text, "{file}");
        }
    }
}
