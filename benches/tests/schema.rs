//! Checks that `schema/report.v2.json` is the schema of the report's types, and that reports match it.
//!
//! `URLSIFT_UPDATE=1 cargo test -p urlsift-benches schema::` regenerates the file; review it before committing. Only
//! the addition of a field keeps the version number.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jsonschema::Validator;
use schemars::generate::SchemaSettings;
use serde_json::Value;
use urlsift::internal::run::{ExecOptions, Reading, list_inputs, scan_records};
use urlsift::internal::scan::WhatwgWanted;
use urlsift::report::{Report, Run, SCHEMA};

use crate::support::everything;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

#[test]
fn the_written_schema_is_that_of_the_types() {
    let generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let mut schema = generator.into_root_schema_for::<Report>();
    schema.insert("title".to_owned(), SCHEMA.into());
    // Rust's `None` is `null` in JSON.
    let schema = serde_json::to_string_pretty(&schema).unwrap().replace("`None`", "`null`") + "\n";
    let path = repository().join("schema/report.v2.json");
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        fs::write(&path, &schema).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap_or_default() == schema,
        "{} is not that of the types; URLSIFT_UPDATE=1 writes it anew",
        path.display()
    );
}

/// A validator for the schema file.
fn validator() -> Validator {
    let schema: Value =
        serde_json::from_slice(&fs::read(repository().join("schema/report.v2.json")).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

fn errors(validator: &Validator, report: &str) -> Vec<String> {
    let report = serde_json::from_str(report).unwrap();
    validator.iter_errors(&report).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// The report on a file, with all optional counts.
fn report(path: PathBuf) -> String {
    let mut options = everything(5);
    options.whatwg = Some(WhatwgWanted::default());
    let inputs = list_inputs(&[path]);
    let exec = ExecOptions::default();
    let scanned = scan_records(&inputs, &Reading::default(), &options, &exec);
    let mut report = Report::new(&scanned, &inputs, &options, false);
    report.run = Some(Run::new(Duration::from_millis(1), exec.n_threads(), exec.kernel));
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    String::from_utf8(json).unwrap()
}

#[test]
fn reports_match_the_schema() {
    let validator = validator();
    let mut n_reports = 0;
    for folder in ["corpora/samples", "corpora/hostile", "tests/records", "tests/records/parquet"] {
        for file in fs::read_dir(repository().join(folder)).unwrap() {
            let path = file.unwrap().path();
            if path.is_file() {
                assert_eq!(errors(&validator, &report(path.clone())), [""; 0], "{}", path.display());
                n_reports += 1;
            }
        }
    }
    assert!(n_reports > 100, "{n_reports}");
}

#[test]
fn the_schema_tells_reports_from_others() {
    let validator = validator();
    let json = report(repository().join("corpora/samples/ldp_urls.txt"));
    assert_eq!(errors(&validator, &json), [""; 0]);
    for (from, to) in [
        ("urlsift.report/2", "urlsift.report/3"),
        ("\"accepted_by_any\": ", "\"accepted_by_any\": -"),
        ("\"accepted_by_any\": ", "\"accepted_by_any\": 0.5, \"was\": "),
        ("\"accepted_by_any\": ", "\"was\": "),
        ("\"grammar\": \"rfc3986\"", "\"grammar\": \"rfc9999\""),
        ("\"cause\": \"bad-escape\"", "\"cause\": \"bad-escapes\""),
        ("\"digest\": \"", "\"digest\": \"x"),
    ] {
        let wrong = json.replace(from, to);
        assert!(wrong != json && !errors(&validator, &wrong).is_empty(), "{from} {to}");
    }
    // A new field is valid under the same version.
    assert_eq!(
        errors(&validator, &json.replace("\"accepted_by_any\": ", "\"later\": 1, \"accepted_by_any\": ")),
        [""; 0]
    );
}
