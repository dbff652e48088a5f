//! `--where` selects lines in `lines` and `split`: the lines behind each number of the JSON report.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::{LIST, assert_refused, feed, json, text, urlsift};

fn sample(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpora/samples").join(name)
}

/// The numbers of the lines that match all conditions.
fn matching(path: &PathBuf, args: &[&str], conditions: &[&str]) -> Vec<u64> {
    let mut command = urlsift();
    command.args(["lines", "-c", "line"]).args(args).arg(path);
    for condition in conditions {
        command.args(["--where", condition]);
    }
    let output = command.output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{conditions:?}");
    text(&output.stdout).lines().map(|line| line.parse().unwrap()).collect()
}

/// Every count of a report with the condition that selects its lines.
fn counts(report: &Value) -> Vec<(String, u64)> {
    let rows = |key: &str| report[key].as_array().unwrap().clone();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let lines = |row: &Value| row["lines"].as_u64().unwrap();
    let mut counts = vec![("kind=relative".to_owned(), lines(&report["relative"]))];
    for row in rows("defects") {
        counts.push((format!("defect={}:{}", text(&row["component"]), text(&row["cause"])), lines(&row)));
    }
    for row in rows("schemes") {
        counts.push((format!("scheme={}", text(&row["name"])), lines(&row)));
    }
    for row in rows("advisories") {
        counts.push((format!("advisory={}", text(&row["name"])), lines(&row)));
    }
    for row in rows("grammars") {
        for side in ["accepted", "refused"] {
            counts.push((format!("{}={side}", text(&row["name"])), row[side].as_u64().unwrap()));
        }
    }
    for row in rows("verdict_sets") {
        let names: Vec<_> = row["grammars"].as_array().unwrap().iter().map(text).collect();
        let set = if names.is_empty() { "none".to_owned() } else { names.join("+") };
        counts.push((format!("verdict={set}"), lines(&row)));
    }
    counts
}

#[test]
fn a_condition_with_the_names_of_the_report_selects_the_lines_that_it_counts() {
    let path = sample("mosaic_1990s.txt");
    for grammar in ["rfc1738", "rfc3986"] {
        let output = urlsift().args(["-g", grammar, "--format", "json"]).arg(&path).output().unwrap();
        let counts = counts(&json(&output));
        assert!(counts.len() > 20);
        for (condition, n_lines) in counts {
            let found = matching(&path, &["-g", grammar], &[&condition]);
            assert_eq!(found.len() as u64, n_lines, "{grammar} {condition}");
        }
    }
}

#[test]
fn commas_are_alternatives_and_repeated_options_all_hold() {
    let path = sample("parser_vectors.txt");
    let select = |conditions: &[&str]| matching(&path, &[], conditions);
    let [space, fragment, ftp, http] =
        ["defect=path:space", "defect=fragment", "scheme=ftp", "scheme=HTTP"].map(|one| select(&[one]));
    assert!(!space.is_empty() && !fragment.is_empty() && !ftp.is_empty() && !http.is_empty());
    let mut either = [&space[..], &fragment].concat();
    either.sort_unstable();
    assert_eq!(select(&["defect=path:space,fragment"]), either);
    let both: Vec<_> = space.iter().copied().filter(|line| http.contains(line)).collect();
    assert!(!both.is_empty() && both.len() < space.len());
    assert_eq!(select(&["defect=path:space", "scheme=http"]), both);
    assert_eq!(select(&["scheme=ftp", "scheme=http"]), [0; 0]);
    assert_eq!(select(&["rfc3986=accepted,refused"]).len(), select(&["kind=absolute,relative"]).len());
    assert_eq!(select(&["verdict=all"]), select(&["draft1993=accepted", "rfc2396=accepted", "verdict=all"]));
    assert_eq!(
        matching(&path, &["--only", "refused"], &["scheme=ftp"]),
        select(&["scheme=ftp", "rfc3986=refused"])
    );
}

#[test]
fn records_match_if_one_of_their_urls_does() {
    let table = b"id,url,from\n1,http://a/,ftp://a/\n2,http://b/,/x y\n3,,\n4\n5,,http://u:p@h/\n";
    let args = ["lines", "--field", "url,from", "-c", "line,text", "--where", "scheme=ftp"];
    assert_eq!(text(&feed(&args, table).stdout), "2\tftp://a/\n");
    for (condition, rows) in [
        ("scheme=ftp", "1,http://a/,ftp://a/\n"),
        ("defect=space", "2,http://b/,/x y\n"),
        ("advisory=password", "5,,http://u:p@h/\n"),
    ] {
        let output = feed(&["split", "--field", "url,from", "--where", condition, "--matching", "-"], table);
        assert_eq!(text(&output.stdout), format!("id,url,from\n{rows}"), "{condition}");
        assert!(text(&output.stderr).contains("1 record written, 4 left out by --where"), "{output:?}");
    }
    // More fields than are looked at together, in records before and behind one that matches.
    let record = |last: &str| format!("{{\"url\":[{}\"{last}\"]}}\n", "\"http://a/\",".repeat(700));
    let [without, with] = [record("http://b/"), record("http://c/")];
    let records = [&*without, &*with, &*without].concat();
    for condition in ["host=c", "whatwg_href=http://c/"] {
        let args = ["split", "--input-format", "jsonl", "--field", "/url/*", "--where", condition, "-m", "-"];
        assert_eq!(text(&feed(&args, records.as_bytes()).stdout), with, "{condition}");
    }
}

/// Conditions take lines out of batches, and what the parser knows goes with its line.
#[test]
fn columns_of_selected_lines_are_those_of_the_lines() {
    let line = |n| {
        if n % 3 == 0 { format!("http:\\\\c{n}.example\\y\n") } else { format!("http://a{n}.example/ x\n") }
    };
    let list: String = (0..700).map(line).collect();
    let columns = ["lines", "-c", "whatwg_href,text"];
    let all = feed(&columns, list.as_bytes()).stdout;
    let expected: String = text(&all).split_inclusive('\n').step_by(3).collect();
    for conditions in [
        &["--where", "whatwg_error=invalid-reverse-solidus"][..],
        &["--where", "whatwg=errors", "--where", "whatwg_error=invalid-reverse-solidus"],
        &["--where", "whatwg=hosts-differ"],
    ] {
        let selected = feed(&[&columns, conditions].concat(), list.as_bytes()).stdout;
        assert_eq!(text(&selected), expected, "{conditions:?}");
    }
}

#[test]
fn conditions_compare_passwords_as_they_are() {
    let list = b"http://u:secret@h/\nhttp://u:other@h/\n";
    for condition in ["userinfo=u:secret", "canonical=http://u:secret@h/", "whatwg_href=http://u:secret@h/"] {
        let rows = feed(&["lines", "--mask-passwords", "-c", "text", "--where", condition], list);
        assert_eq!(text(&rows.stdout), "http://u:***@h/\n", "{condition}");
    }
}

#[test]
fn split_writes_the_lines_that_match_and_counts_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str], condition: &str| {
        let mut command = urlsift();
        command.current_dir(&folder).args(["split", "list", "--where", condition]).args(args);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        let found = (text(&output.stderr).to_owned(), read("a"), read("r.txt"), read("m"));
        for name in ["a", "r.txt", "m"] {
            let _ = fs::remove_file(folder.path().join(name));
        }
        found
    };
    fs::write(folder.path().join("list"), [LIST, b"ftp://a b/\r\nftp://c/"].concat()).unwrap();
    let [ftp, refused] = ["ftp://fred:secret@example.org/a;b\n", "ftp://a b/\r\n"];
    for threads in ["-j1", "-j3"] {
        let (message, a, r, _) =
            run(&["-a", "a", "-r", "r.txt", threads, "--shard-size", "16"], "scheme=ftp");
        assert_eq!(message, "urlsift: 2 lines accepted by rfc3986, 1 refused, 4 left out by --where\n");
        assert_eq!((a, r), (format!("{ftp}ftp://c/"), refused.to_owned()));
    }
    let (message, .., all) = run(&["-m", "m"], "scheme=ftp");
    assert_eq!(message, "urlsift: 3 lines written, 4 left out by --where\n");
    assert_eq!(all, format!("{ftp}{refused}ftp://c/"));
    let (_, a, r, _) = run(&["-a", "a", "-r", "r.txt", "-g", "rfc1738"], "defect=path");
    assert_eq!((a.as_str(), r.as_str()), ("", ftp), "the defect is that of --grammar");
    let (_, _, rows, _) = run(&["-r", "r.txt", "--refused-as", "tsv"], "defect=space");
    assert_eq!(
        rows, "list\t4\t55\tpath:space@2\t/a b\nlist\t6\t89\tauthority:space@7\tftp://a b/\n",
        "rows have the numbers of the input"
    );
}

#[test]
fn options_that_contradict_where_are_errors() {
    let cases: [(&[&str], &str); 3] = [
        (&["-m", "x"], "--where <CONDITION>"),
        (&["-m", "x", "-a", "y", "--where", "scheme=ftp"], "cannot be used with"),
        (&["-a", "y", "--by", "rfc1738", "--where", "defect=path"], "choose it with --grammar, not --by"),
    ];
    for (args, why) in cases {
        assert_refused(&feed(&[&["split"], args].concat(), LIST), why);
    }
}

#[test]
#[cfg(unix)]
fn matching_lines_are_not_written_to_a_terminal() {
    let mut command = urlsift();
    command.args(["split", "-m", "-", "--where", "verdict=none"]).arg(sample("parser_vectors.txt"));
    let (status, shown) = super::terminal::Terminal::start(command, None, None).end();
    assert_eq!(status, Some(2));
    assert!(shown.contains("may hold bytes that control a terminal"), "{shown}");
}

#[test]
fn unknown_names_are_errors_that_say_what_there_is() {
    for (condition, why) in [
        ("defect", "expected a property and its value, such as defect=path:space"),
        ("defekt=path", "no such property; did you mean defect?"),
        ("x=path", "no such property; one of defect, scheme, kind, verdict, advisory, host, host-in,"),
        ("defect=pth:space", "no such component; did you mean path?"),
        ("defect=path:spaces", "no such cause; did you mean space?"),
        ("defect=x:space", "no such component; one of scheme, authority, userinfo,"),
        ("defect=path:space@20", "a condition on a defect has no offset"),
        ("host_in=names", "no such property; did you mean host-in?"),
        ("defect=path:x", "no such cause; one of space, control-byte,"),
        ("defect=x", "no such component or cause; one of scheme, authority,"),
        ("scheme=http:", "a scheme has letters, digits"),
        ("scheme=", "a scheme has letters, digits"),
        ("scheme=ftp,", "a scheme has letters, digits"),
        ("kind=blank", "no such kind; one of absolute, relative"),
        ("verdict=rfc3996", "no such verdict; did you mean rfc3986?"),
        ("verdict=x", "no such verdict; one of none, all, draft1993,"),
        ("1738=refuse", "no such answer of a grammar; did you mean refused?"),
        ("advisory=pasword", "no such advisory; did you mean password?"),
        (
            "scheme=ftp,verdict=none",
            "verdict=none: commas separate alternatives of one property; repeat --where",
        ),
    ] {
        for command in [&["lines"][..], &["split", "-a", "-"]] {
            assert_refused(&feed(&[command, &["--where", condition]].concat(), LIST), why);
        }
    }
}
