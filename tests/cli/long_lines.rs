//! Lines that are too long to be held are judged while they are read, in another way than lines that are held whole.

use std::fs;

use serde_json::json;

use super::{json, text, urlsift};
use crate::support::amount;

/// Longer than the longest line that a scan holds, which is 2 MiB.
const LEN: usize = 5 << 20;

#[test]
fn long_lines_are_judged_as_lines_that_are_held_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("line");
    let grammars = ["rfc1738", "rfc3986"];
    let mut n_lines = 0;
    for (beginning, repeated, defect) in [
        ("http://a.example/", "abc/d-e.f", " "),
        ("http://a.example/", "x%41%0a", "%4z"),
        ("ftp://u:p@h:2121/", "a;b=c", "\u{e4}"),
        ("http://", "abc.d-e.", ":8x"),
        ("mailto:", "a.b,c", "<"),
        ("", "abc", "\\"),
        ("/", "a?b", "#c#"),
    ] {
        for at in [None, Some(beginning.len()), Some(LEN / 2), Some(LEN - 10)] {
            let mut line = [beginning, &repeated.repeat(LEN / repeated.len())].concat();
            if let Some(at) = at {
                line.insert_str(at, defect);
            }
            fs::write(&path, &line).unwrap();
            let run = |args: &[&str]| urlsift().args(args).arg(&path).output().unwrap();
            // The short mode explains each line by one of the grammars.
            n_lines += 1;
            let tried = grammars.iter().cycle().skip(n_lines + n_lines / 4);
            for &grammar in tried.take(usize::try_from(amount(1, 2)).unwrap()) {
                let report = json(&run(&["--format", "json", "-g", grammar]));
                let whole = run(&["lines", "-g", grammar, "-c", "verdict,defect,advisories,length"]);
                let mut row = text(&whole.stdout).trim_end().split('\t');
                let what = format!("{beginning} {repeated} {at:?} {grammar}");
                let accepted: Vec<&str> =
                    row.next().unwrap().split(',').filter(|&name| name != "none").collect();
                assert_eq!(report["verdict_sets"][0]["grammars"], json!(accepted), "{what}");
                let defect = &report["defects"][0];
                let found = defect["component"].as_str().map_or("-".to_owned(), |component| {
                    let cause = defect["cause"].as_str().unwrap();
                    format!("{component}:{cause}@{}", defect["examples"][0]["offset"])
                });
                assert_eq!(found, row.next().unwrap(), "{what}");
                let advisories: Vec<&str> =
                    row.next().unwrap().split(',').filter(|&name| name != "none").collect();
                let found: Vec<_> = report["advisories"].as_array().unwrap().iter().collect();
                let found: Vec<_> =
                    found.iter().filter(|row| row["lines"] == 1).map(|row| &row["name"]).collect();
                assert_eq!(found, advisories, "{what}");
                assert_eq!(row.next().unwrap(), line.len().to_string(), "{what}");
            }
        }
    }
}
