//! References resolved against a base: what the report counts, what records say, and what is no base.

use serde_json::{Value, json};
use urlsift::report::{ReadErrorKind, Report};

use super::{feed, json as json_of, text};

const LIST: &[u8] = b"a\n../b?c\n//HOST/d\n//base.example:80\n///e\nhttp:f\nx://g/./h\n\ni j\n1:2\n";
const BASE: &str = "https://u:secret@Base.example/k/l?m";

#[test]
fn the_report_counts_what_is_resolved() {
    let report = json_of(&feed(&["--format", "json", "--base", BASE], LIST));
    let entry = |name: &str, lines: u64| json!({ "name": name, "lines": lines });
    let expected = json!({
        "url": "https://u:***@Base.example/k/l?m", "scheme": "https", "host": "base.example",
        "resolved": 5, "absolute": 2, "refused": 2, "own_authority": 3, "without_host": 1,
        "hosts": {
            "of": "hosts", "exact": true, "max_error": 0, "entries": [entry("base.example", 3), entry("host", 1)],
        },
    });
    assert_eq!(report["base"], expected);
    assert_eq!(report["totals"]["judged"], 9);
    // As many hosts as are listed of all lines, which stay what they are.
    let report = json_of(&feed(&["--format", "json", "--base", BASE, "--top", "hosts=1"], LIST));
    assert_eq!(report["base"]["hosts"]["entries"], json!([entry("base.example", 3)]));
    assert_eq!(report["top"][0]["entries"], json!([entry("base.example", 1)]));
    let shown = feed(&["--base", "file:///k"], LIST);
    let shown = text(&shown.stdout).split("\n\n").filter(|part| part.starts_with("RE"));
    let shown: Vec<Vec<&str>> = shown
        .map(|table| table.lines().map(|line| line.split("  ").nth(1).unwrap_or(line)).collect())
        .collect();
    assert_eq!(shown[0][1..], ["file:///k", "resolved to file", "have a scheme", "refused by rfc3986"]);
    assert_eq!(shown[1][1..], ["base.example", "host", "(no host)"]);
    let page = feed(&["--base", BASE, "--format", "html"], LIST);
    assert!(text(&page.stdout).contains(
        "Against <bdi>https://u:***@Base.example/k/l?m</bdi>, 5 relative references resolve to <bdi>https</bdi>, 3 of them"
    ));
    assert_eq!(json_of(&feed(&["--format", "json"], LIST)).get("base"), None);
}

#[test]
fn a_base_is_a_part_of_the_digest_and_its_counts_are_checked() {
    let report = |base| {
        let output = feed(&["--format", "json", "--base", base], LIST);
        Report::from_json(&output.stdout).unwrap()
    };
    let (one, other) = (report("http://a/"), report("http://a/?"));
    assert_ne!(one.digest, other.digest);
    let wrong = |change: fn(&mut Value)| {
        let mut report = serde_json::to_value(&one).unwrap();
        change(&mut report["base"]);
        let report: Report = serde_json::from_value(report).unwrap();
        let mut json = Vec::new();
        report.write_json(&mut json).unwrap();
        Report::from_json(&json).map_err(|error| error.kind())
    };
    assert!(wrong(|_| ()).is_ok());
    for change in [
        (|base| base["resolved"] = 4.into()) as fn(&mut Value),
        |base| base["absolute"] = 3.into(),
        |base| base["refused"] = 1.into(),
        |base| base["own_authority"] = 6.into(),
        |base| base["without_host"] = u64::MAX.into(),
    ] {
        assert_eq!(wrong(change), Err(ReadErrorKind::WrongCount));
    }
}

#[test]
fn records_have_what_a_line_refers_to() {
    let output = feed(&["lines", "--base", BASE, "-c", "text,resolved"], LIST);
    let expected = "\
a\thttps://u:***@Base.example/k/a
../b?c\thttps://u:***@Base.example/b?c
//HOST/d\thttps://HOST/d
//base.example:80\thttps://base.example:80
///e\thttps:///e
http:f\thttp:f
x://g/./h\tx://g/h
-\t-
i j\t-
1:2\t-
";
    assert_eq!((text(&output.stdout), text(&output.stderr)), (expected, ""));
    let output =
        feed(&["lines", "--base", BASE, "-c", "resolved", "--format", "jsonl", "--show-secrets"], LIST);
    let rows: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(rows[0], r#"{"resolved":"https://u:secret@Base.example/k/a"}"#);
    assert_eq!(rows[8], r#"{"resolved":null}"#);
}

/// Where nothing in the target would look like it any more, the target is masked whole.
#[test]
fn a_password_in_a_line_is_none_to_see_in_its_target() {
    for line in [
        "//u:hunter2@h/a",
        "/./..//u:hunter2@h",
        "x:.//u:hunter2@h",
        "u:hunter2@h",
        "u:x/../hunter2@h",
        "u%3Ahunter2@h",
        "u%3A./hunter2@h",
        "?u=http%3A%2F%2Fu%3Ahunter2%40h",
    ] {
        for base in ["http://b/c/", "http://u:p@b/c/", "x:", "x:y/z"] {
            let output = feed(&["lines", "--base", base, "-c", "resolved"], line.as_bytes());
            let shown = text(&output.stdout);
            assert!(shown.contains("***") && !shown.contains("hunter2"), "{base} {line}: {shown}");
        }
    }
}

#[test]
fn what_is_no_base_is_a_usage_error() {
    for (args, message) in [
        (&["--base", "a/b"][..], "it has no scheme; expected a whole URL, such as https://"),
        (&["--base", "http://a/b c"], "RFC 3986 refuses it at byte 11, \" \" (path:space)"),
        (&["lines", "--base", "", "-c", "resolved"], "it has no scheme"),
        (&["lines", "-c", "line,resolved"], "the column resolved needs a base: --base https://"),
        (&["lines", "--base", "http://a"], "--base is for the column resolved: add it to --columns"),
    ] {
        let output = feed(args, LIST);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}");
        assert!(text(&output.stderr).contains(message), "{args:?}: {}", text(&output.stderr));
    }
    let output = feed(&["--format", "json", "--base", "http://a/#b"], LIST);
    assert_eq!(json_of(&output)["base"]["url"], "http://a/");
    assert!(text(&output.stderr).starts_with("urlsift: --base: what is behind the \"#\" is left out"));
}
