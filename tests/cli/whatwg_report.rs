//! `--whatwg`: the report in all its forms, conditions on it, and wrong options.

use std::fs;

use serde_json::{Value, json};
use urlsift::report::Report;

use super::{assert_refused, feed, json as parsed, lasting, text, urlsift};
use crate::support::file;

/// Lines of each level, with most kinds of findings.
const LIST: &[u8] = b"http://example.org/\n\
    https://fred:secret@example.org/\n\
    http://a\\@b/\n\
    http://\xff/\n\
    http://1.2.3/x y\r\n\
    \n\
    /a b\n\
    //h/\n\
    http://:80/\n\
    x:y z\n";

fn report(args: &[&str]) -> String {
    let output = feed(args, LIST);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    text(&output.stdout).to_owned()
}

/// The part of a text report about the WHATWG parser.
fn section(report: &str) -> &str {
    let start = report.find("\nWHATWG fde3f74").unwrap() + 1;
    let end = report.find("\nADVISORIES ").unwrap();
    &report[start..end]
}

#[test]
fn the_text_report_has_levels_errors_and_different_hosts() {
    let expected = r#"WHATWG fde3f74                  lines        %    accepted     refused  by rfc3986
  valid                             1    11.11           1           0
  errors                            4    44.44           1           3
  failure                           2    22.22           1           1
  relative                          2    22.22           1           1
  1 line is not UTF-8

WHATWG VALIDATION ERRORS               lines  first at
  invalid-URL-unit                         2  -:5:15
    http://1.2.3/x[ ]y
  missing-scheme-non-relative-URL          2  -:7:1
    [/]a b
  domain-to-ASCII                          1  -:4:8
    http://[\xff]/
  IPv4-too-few-parts                       1  -:5:8
    http://[1].2.3/x y
  invalid-reverse-solidus                  1  -:3:9
    http://a[\\]@b/
  invalid-credentials                      1  -:2:20
    https://fred:***[@]example.org/
  host-missing                             1  -:9:8
    http://[:]80/

WHATWG ADVISORIES               lines  first at
  hosts-differ                      2  -:3
    http://a\\@b/
    RFC 3986: b, browsers: a. Browsers read "\" as "/".
"#;
    assert_eq!(section(&report(&["--whatwg"])), expected);
}

#[test]
fn another_grammar_has_a_table_of_its_own() {
    let report = report(&["--whatwg", "-g", "rfc1738", "--base", "http://u:secret@base.example/"]);
    let section = section(&report);
    for part in [
        "WHATWG fde3f74                  lines        %    accepted     refused  by rfc3986\n",
        "WHATWG fde3f74                  lines        %    accepted     refused  by rfc1738\n",
        "  base http://u:***@base.example/, 1 line is not UTF-8\n",
    ] {
        assert!(section.contains(part), "{section}");
    }
    assert!(!section.contains("missing-scheme"), "{section}");
}

#[test]
fn a_narrow_page_is_not_exceeded() {
    for width in [40, 44, 51, 60, 66, 72, 79] {
        let mut style = urlsift::report::TextStyle::default();
        style.width = width;
        let report = lasting(report(&["--whatwg", "--json", "-g", "draft1993"]).as_bytes());
        let text = urlsift::report::render(&report, &style);
        assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
    }
}

#[test]
fn json_has_the_counts_and_examples() {
    let whatwg =
        parsed(&feed(&["--whatwg", "--json", "--base", "http://u:secret@base.example/"], LIST))["whatwg"]
            .take();
    assert_eq!(whatwg["standard"], "fde3f74");
    assert_eq!(whatwg["base"], "http://u:***@base.example/");
    let levels = whatwg["levels"].as_array().unwrap();
    let lines = |of: &dyn Fn(&Value) -> &Value| -> Vec<_> {
        levels.iter().map(|level| of(level).as_u64().unwrap()).collect()
    };
    assert_eq!(lines(&|level| &level["lines"]).iter().sum::<u64>(), 9);
    assert_eq!(
        levels.iter().map(|level| level["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["valid", "errors", "failure", "relative"]
    );
    assert_eq!(whatwg["hosts_differ"]["lines"], 2);
    let example = &whatwg["hosts_differ"]["examples"][0];
    assert_eq!(example["text"], "http://a\\@b/");
    let hosts = json!({"rfc3986": "b", "browsers": "a", "cause": "backslash", "network": null});
    assert_eq!(example["hosts"], hosts);
    assert_eq!((&whatwg["not_utf8"], &whatwg["too_long"]), (&1.into(), &0.into()));
    let errors = whatwg["errors"].as_array().unwrap();
    let error = errors.iter().find(|error| error["name"] == "invalid-credentials").unwrap();
    assert_eq!(error["examples"][0]["text"], "https://fred:***@example.org/");
    assert_eq!(error["examples"][0]["line"], 2);
    let whole = report(&["--whatwg", "--json"]);
    assert!(!whole.contains("secret"), "{whole}");
    for base in ["blob:http://u:secret@h/", "view-source:http://u:secret@h/", "http://h/http://u:secret@h"] {
        let report = report(&["--whatwg", "--json", "--base", base]);
        assert!(!report.contains("secret"), "{base}: {report}");
    }
    let shown = report(&["--whatwg", "--json", "--show-secrets", "--base", "http://u:hidden@h/"]);
    assert!(shown.contains("fred:secret@") && shown.contains("u:hidden@"));
}

#[test]
fn without_the_option_nothing_is_there() {
    let without = parsed(&feed(&["--json"], LIST));
    assert!(without.get("whatwg").is_none());
    let partial = report(&["--format", "partial"]);
    assert!(!partial.contains("whatwg"));
    let page = report(&["--format", "html"]);
    assert!(!page.to_lowercase().contains("whatwg"));
}

#[test]
fn all_forms_say_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let [page, partial] = ["report.html", "1.partial"].map(|name| directory.path().join(name));
    let args = ["--whatwg", "--base", "ftp://b/", "--lengths"];
    let expected = lasting(report(&[&args[..], &["--json"]].concat()).as_bytes());
    for (path, command) in [(&page, "render"), (&partial, "merge")] {
        let output = feed(&[&args[..], &["-o", path.to_str().unwrap()]].concat(), LIST);
        assert!(output.status.success(), "{output:?}");
        let output = urlsift().args([command, "--json"]).arg(path).output().unwrap();
        let mut found = Report::from_json(&output.stdout).unwrap();
        found.run = None;
        assert_eq!(found, expected, "{command}");
    }
    let page = fs::read_to_string(page).unwrap();
    for part in [
        "<a href=\"#whatwg\">WHATWG</a>",
        "<section id=\"whatwg\">",
        "as of fde3f74, with the base <bdi>ftp://b/</bdi>",
        "1 line is not UTF-8.",
        ">hosts-differ <span class=\"meaning\">",
        "<code>http://a\\\\@b/</code> <small>RFC 3986: b, browsers: a. Browsers read &#34;\\&#34; as &#34;/&#34;.</small>",
        ">invalid-credentials <span",
    ] {
        assert!(page.contains(part), "{part}");
    }
    assert!(!page.contains("secret"));
}

#[test]
fn the_digest_does_not_depend_on_how_it_is_read() {
    let list = LIST.repeat(300);
    let path = file(&list);
    let path = path.to_str().unwrap();
    let digest = |output: std::process::Output| parsed(&output)["digest"].take();
    let expected = digest(feed(&["--whatwg", "--json", "-j1"], &list));
    assert_ne!(expected, digest(feed(&["--json", "-j1"], &list)));
    for args in [&["-j3", "--shard-size", "100"][..], &["--kernel", "portable", "--line-size", "9"]] {
        let args = [&["--whatwg", "--json"][..], args].concat();
        assert_eq!(digest(feed(&args, &list)), expected);
        assert_eq!(digest(feed(&[&args[..], &[path]].concat(), b"")), expected);
    }
}

#[test]
fn a_changed_report_is_refused() {
    let mut report: Value = serde_json::from_str(&report(&["--whatwg", "--json", "--reproducible"])).unwrap();
    for place in ["/whatwg/levels/0/lines", "/whatwg/not_utf8", "/whatwg/errors/0/examples/0/mark/1"] {
        let number = report.pointer_mut(place).unwrap();
        let before = std::mem::replace(number, 99.into());
        // The digest is another, too, so each is refused for one of both reasons.
        let mut changed: Report = serde_json::from_value(report.clone()).unwrap();
        changed.digest.clear();
        let mut json = Vec::new();
        changed.write_json(&mut json).unwrap();
        let error = Report::from_json(&json).unwrap_err();
        assert!(!error.to_string().contains("digest"), "{place}: {error}");
        *report.pointer_mut(place).unwrap() = before;
    }
}

/// Open redirects: the host of a base, which a program checks, is not the one that browsers connect to.
#[test]
fn hosts_of_lines_without_a_scheme_are_compared_with_a_base() {
    let base = "https://allowed.example/x";
    let is_refused = |line: &str| {
        let args = ["-q", "--whatwg", "--base", base, "--fail-on", "whatwg:hosts-differ"];
        let status = feed(&args, line.as_bytes()).status.code().unwrap();
        assert!(status < 2, "{line:?}");
        status == 1
    };
    for line in [
        r"/\evil.example", r"\\evil.example/", r"\/evil.example", "/\t/evil.example", "\t//evil.example/",
        " //evil.example", "///evil.example", "////evil.example/a", r"//allowed.example\@evil.example",
        r"//evil.example\@allowed.example", r"https:\\evil.example", "https:///evil.example",
        "http:evil.example", " http://evil.example/", "ht\ttp://evil.example/",
        "//\u{2460}.\u{2461}.\u{2462}.\u{2463}/", "//0x7f.1", "//%31.2.3.4",
    ] {
        assert!(is_refused(line), "{line:?}");
    }
    for line in [
        "/a", "a\\b", " /a", "?q=//h", "#f", "//evil.example/", "//ALLOWED.example/", "//1.2.3.4/",
        "https:a", "https:/a", "http://h/", "mailto:a@b", "javascript:a", "1http://a/",
        "//\u{ff45}xample.org/",
    ] {
        assert!(!is_refused(line), "{line:?}");
    }
}

#[test]
fn reports_and_rows_name_both_hosts_and_why_they_differ() {
    for (line, hosts) in [
        (
            r"http://good.example\@evil.example/",
            "evil.example, browsers: good.example. Browsers read \"\\\" as \"/\".",
        ),
        (
            "http://a\tb/",
            "a\\x09b, browsers: ab. Browsers remove tabs and line ends, and blanks and controls at both ends.",
        ),
        (
            "http:127.0.0.1/",
            "(none), browsers: 127.0.0.1 (loopback). Browsers find a host after any number of slashes.",
        ),
        (
            "http://0xa9fea9fe/",
            "0xa9fea9fe, browsers: 169.254.169.254 (link-local). Browsers read the host as an IPv4 address.",
        ),
        (
            "http://\u{ff11}0.1/",
            "\u{ff11}0.1, browsers: 10.0.0.1 (private). Browsers read the host as an IPv4 address.",
        ),
        (r"http:\\[::1]", "(none), browsers: [::1] (loopback). Browsers read \"\\\" as \"/\"."),
        (r"http:\/\x41.example", r#"(none), browsers: x41.example. Browsers read "\" as "/"."#),
        ("http:////a/", "(none), browsers: a. Browsers find a host after any number of slashes."),
        ("file://C:/a", "C, browsers: (none). Browsers read the host in another way."),
    ] {
        let hosts = format!("RFC 3986: {hosts}");
        let rows = feed(&["lines", "-c", "hosts_differ"], line.as_bytes()).stdout;
        assert_eq!(text(&rows), format!("{hosts}\n"));
        let report = parsed(&feed(&["--whatwg", "--json"], line.as_bytes()));
        let found = report["whatwg"]["hosts_differ"]["examples"][0]["hosts"].clone();
        let found: urlsift::whatwg::TwoHosts = serde_json::from_value(found).unwrap();
        assert_eq!(found.to_string(), hosts);
    }
    let rows = feed(&["lines", "-c", "hosts_differ", "--base", "http://b/"], b"/a\n//h/\n\n").stdout;
    assert_eq!(text(&rows), "-\n-\n-\n");
}

#[test]
fn conditions_on_levels_and_hosts() {
    for (condition, status) in [
        ("whatwg:failure", 1),
        ("whatwg:failure>0", 1),
        ("whatwg:failure>2", 0),
        ("whatwg:valid<1", 0),
        ("whatwg:errors>99%", 0),
        ("whatwg:relative=2", 1),
        ("whatwg:hosts-differ", 1),
        ("whatwg:hosts-differ>2", 0),
    ] {
        let output = feed(&["--whatwg", "--fail-on", condition], LIST);
        assert_eq!(output.status.code(), Some(status), "{condition}: {}", text(&output.stderr));
    }
    let output = feed(&["--whatwg", "--fail-on", "whatwg:relative"], LIST);
    assert_eq!(
        text(&output.stderr),
        "urlsift: --fail-on whatwg:relative is crossed: 2 of 9 judged lines, 22.22 %\n"
    );
}

#[test]
fn wrong_options_say_what_to_do() {
    for (args, why) in [
        (
            &["--fail-on", "whatwg:failure>0"][..],
            "--fail-on whatwg:failure>0 needs the option --whatwg; add it",
        ),
        (&["--whatwg", "--fail-on", "whatwg:fail"], "no such measure; did you mean whatwg:failure?"),
        (&["--base", "http://h/"], "--whatwg"),
        (&["--whatwg", "--base", "/a"], "browsers do not take it as a URL (missing-scheme-non-relative-URL)"),
        (&["--whatwg", "--base", &"a".repeat(9000)], "a base may have 8192"),
    ] {
        assert_refused(&feed(args, LIST), why);
    }
}

/// RFC 3986 and browsers resolve lines against another host.
#[test]
fn a_base_with_two_hosts_is_named() {
    let said =
        |args: &[&str], base: &str| text(&feed(&[args, &["--base", base]].concat(), LIST).stderr).to_owned();
    let warning = "urlsift: --base has two hosts. RFC 3986: b, browsers: a. Browsers read \"\\\" as \"/\".\n";
    for args in [&["--whatwg"][..], &["lines", "-c", "whatwg"], &["explain", "c"]] {
        assert_eq!(said(args, r"http://a\@b/"), warning);
        assert_eq!(said(args, "http://A/"), "");
    }
    let masked = "--base has two hosts. RFC 3986: k, browsers: ***. ";
    assert!(said(&["explain", "c"], r"http://hidden\u:hidden@k/").contains(masked));
    assert_eq!(said(&["-q", "--whatwg"], r"http://a\@b/"), "");
}

#[test]
fn lines_too_long_to_be_parsed_leave_a_condition_open() {
    let list = [&b"/\\evil.example/"[..], &b"a".repeat(2_200_000), b"\nhttp://a/\n"].concat();
    for (condition, status) in [
        ("whatwg:hosts-differ", 2),
        ("whatwg:valid>1", 2),
        ("whatwg:valid=2", 2),
        ("whatwg:valid>=1", 1),
        ("whatwg:failure>5", 0),
        ("refused>0", 1),
    ] {
        let args = ["-q", "--whatwg", "--base", "https://allowed.example/", "--fail-on", condition];
        let output = feed(&args, &list);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{condition}: {said}");
        assert_eq!(said.contains("1 line is too long to be parsed"), status == 2, "{condition}: {said}");
    }
}

#[test]
fn distinct_urls_of_browsers_are_resolved_against_the_base() {
    let args = ["--json", "--whatwg", "--base", "http://b/", "--distinct", "whatwg_href"];
    let report = parsed(&feed(&args, b"a\nhttp://b/a\nHTTP://b:80/a\n/c\n"));
    assert_eq!(report["distinct"][0]["estimate"], 2);
}
