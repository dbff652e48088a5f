//! The expected report of every corpus: `corpora/expected/FOLDER/FILE.json` beside `corpora/FOLDER/FILE`.
//!
//! A change of a count shows up here as a difference in a file. `URLSIFT_UPDATE=1 cargo test --test golden` writes the
//! reports anew, to be read before they are committed. They have all that a report has but `run`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use urlsift::report::Report;

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
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
        let args = ["--format", "json", &file];
        let output =
            Command::new(env!("CARGO_BIN_EXE_urlsift")).args(args).current_dir(corpora()).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{file}: {output:?}");
        let mut report = Report::from_json(&output.stdout).unwrap_or_else(|error| panic!("{file}: {error}"));
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
