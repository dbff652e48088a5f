//! Lines that are too long to be held are judged while they are read, in another way than lines that are held whole.

use serde_json::json;

use super::{json, text, urlsift};
use crate::support::{amount, file};

/// Longer than the longest line that a scan holds, which is 2 MiB.
const LEN: usize = 5 << 20;

#[test]
fn long_lines_are_judged_as_lines_that_are_held_whole() {
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
            let path = file(&line);
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

/// The output of the command with `args`, if this process may have so many KiB of memory. `None` if it cannot even start then.
#[cfg(target_os = "linux")]
fn limited(kib: u32, input: &str, args: &str) -> Option<std::process::Output> {
    let program = env!("CARGO_BIN_EXE_urlsift");
    let run = |script: String| std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
    let limit = format!("ulimit -v {kib}; exec {program}");
    run(format!("{limit} -V")).status.success().then(|| run(format!("{input} | ({limit} {args})")))
}

#[cfg(target_os = "linux")]
#[test]
fn exhausted_memory_leaves_fewer_threads_or_is_an_error() {
    let list = "yes http://h.example/ | head -n 200000";
    let Some(output) = limited(524_288, list, "-j8 --json") else { return };
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), said), (Some(0), ""));
    let report = json(&output);
    assert_eq!(report["totals"]["lines"], 200_000);
    assert!(report["run"]["threads"].as_u64().unwrap() < 8);
    for kib in [120_000, 150_000, 200_000] {
        let output = limited(kib, "head -c 62914560 /dev/zero | tr '\\0' a", "lines -j2 -c line").unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.starts_with("urlsift: -: there is not enough memory for ") && said.lines().count() == 1,
            "{said}"
        );
    }
}
