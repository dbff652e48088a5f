//! A report counts the judged lines of each input, and shows the inputs with the smallest share of accepted lines first.

use std::fs;

use serde_json::Value;

use super::{folder_with, json, text, urlsift};
use crate::support::file;

const SAMPLES: [&str; 4] = ["trackers.txt", "parser_vectors.txt", "wpt_inputs.txt", "kasztp.txt"];

fn sample(name: &str) -> String {
    format!("corpora/samples/{name}")
}

fn report(args: &[&str]) -> Value {
    let output = urlsift().args(["--format", "json"]).args(args).args(SAMPLES.map(sample)).output().unwrap();
    json(&output)
}

#[test]
fn each_input_has_the_counts_of_its_own_report() {
    for args in [&[][..], &["-j1"], &["--shard-size", "5000", "-j3"], &["--grammar", "rfc1738"]] {
        let all = report(args);
        for (n, name) in SAMPLES.into_iter().enumerate() {
            let own = urlsift().args(["--format", "json"]).args(args).arg(sample(name)).output().unwrap();
            let own = json(&own);
            let judged = &all["inputs"][n]["judged"];
            assert_eq!(judged, &own["inputs"][0]["judged"], "{name} {args:?}");
            assert_eq!(judged["lines"], own["totals"]["judged"]);
            assert_eq!(judged["accepted_by_any"], own["totals"]["accepted_by_any"]);
            for grammar in own["grammars"].as_array().unwrap() {
                assert_eq!(judged["accepted"][grammar["name"].as_str().unwrap()], grammar["accepted"]);
            }
            let most = own["defects"].as_array().unwrap().iter().map(|defect| defect["lines"].as_u64()).max();
            assert_eq!(judged["most_frequent_defect"]["lines"].as_u64(), most.flatten(), "{name}");
        }
    }
}

#[test]
fn records_and_compressed_inputs_have_counts_too() {
    let args = [
        "--format", "json", "tests/records/nginx.log", "tests/codec/gzip.gz",
        "tests/records/parquet/required.parquet",
    ];
    // Cells with line ends are counted in another way.
    let table = file("url,n\nhttp://a/,1\n\"http://b/\n\",2\n\"http://c/\r\",3\n");
    let report = json(&urlsift().args(args).arg(&table).output().unwrap());
    let sum: u64 = report["inputs"]
        .as_array()
        .unwrap()
        .iter()
        .map(|input| input["judged"]["lines"].as_u64().unwrap())
        .sum();
    assert_eq!(report["totals"]["judged"], sum);
    assert!(report["inputs"].as_array().unwrap().iter().all(|input| input["judged"]["lines"] != 0));
    assert_eq!(report["inputs"][3]["judged"]["most_frequent_defect"]["lines"], 2);
}

#[test]
fn each_bad_input_has_one_warning() {
    let folder = folder_with(&["a", "b", "c"].map(|name| (name, "a b\n".repeat(20))));
    let output = urlsift().args(["--format", "json"]).arg(folder.path()).output().unwrap();
    let warnings: Vec<_> =
        json(&output)["inputs"].as_array().unwrap().iter().map(|input| input["warnings"].clone()).collect();
    assert_eq!(warnings, vec![serde_json::json!(["few-accepted"]); 3]);
}

#[test]
fn the_table_of_inputs_begins_with_the_smallest_share() {
    let folder = tempfile::tempdir().unwrap();
    let page = |args: &[&str]| {
        let output = urlsift().args(args).args(SAMPLES.map(sample)).output().unwrap();
        text(&output.stdout).to_owned()
    };
    // The page begins with inputs that have warnings, as kasztp.txt has.
    let order = ["wpt_inputs", "parser_vectors", "trackers"];
    for form in ["text", "html"] {
        let shown = page(&["--format", form]);
        let start = shown
            .find(if form == "text" { "\nINPUT, rfc3986 accepts" } else { "<section id=\"inputs\">" })
            .unwrap();
        let places: Vec<_> = order.iter().map(|name| shown[start..].find(name).unwrap()).collect();
        assert!(places.is_sorted(), "{form}: {places:?}");
    }
    assert!(page(&["--by-input=1"]).contains("(3 other inputs; --by-input=all shows them)"));
    assert!(!page(&["--by-input=none"]).contains("INPUT, rfc3986 accepts"));
    assert!(!page(&["--by-input=all"]).contains("other inputs;"));
    let single = urlsift().arg(sample("kasztp.txt")).output().unwrap();
    assert!(!text(&single.stdout).contains("INPUT, rfc3986 accepts"));
    fs::write(folder.path().join("refused"), "a b\n".repeat(20)).unwrap();
    let output = urlsift().arg(folder.path().join("refused")).output().unwrap();
    assert!(
        text(&output.stderr).contains("refused: rfc3986 accepts hardly any line; if it is no list of URLs")
    );
}
