//! What browsers make of lines: `explain`, the columns of `lines`, and `--where`.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use serde_json::{Value, json};
use urlsift::whatwg::parse;

use super::{assert_refused, feed, text, urlsift};
use crate::conformance;
use crate::support::unescape;

/// What `explain` prints behind the grammars.
fn explained<S: AsRef<OsStr>>(args: &[S]) -> String {
    let output = urlsift().arg("explain").args(args).env("LC_ALL", "C.UTF-8").output().unwrap();
    assert_eq!(text(&output.stderr), "");
    let shown = text(&output.stdout);
    shown[shown.find("  whatwg ").unwrap_or_else(|| panic!("{shown}"))..].to_owned()
}

/// The rows of `lines` with these arguments.
fn rows(args: &[&str], list: &[u8]) -> String {
    let output = feed(&[&["lines", "-q"], args].concat(), list);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "{args:?}");
    text(&output.stdout).to_owned()
}

const COLUMNS: &str = "whatwg,whatwg_errors,whatwg_host,whatwg_href";

#[test]
fn explain_shows_the_url_that_browsers_use_and_each_error_at_its_place() {
    assert_eq!(
        explained(&["http://example.org/?a/b"]),
        "  whatwg     takes it as http://example.org/?a/b, without an error\n"
    );
    let shown = r#"  whatwg     takes it as http://a/@b/, with 1 error
             invalid-reverse-solidus@8: A "\" stands where "/" should. Special
             schemes take it for one.
             http://a\@b/
                     ^
             host: a
             warning: RFC 3986 finds another host: b
             Browsers read "\" as "/".
"#;
    assert_eq!(explained(&[r"http://a\@b/"]), shown);
    let shown = "  whatwg     takes it as http://127.0.0.1/, with 2 errors
             IPv4-too-few-parts@7: The address has fewer than four parts. Its
             last part fills the bytes that are left.
             http://0x7f.1/
                    ^
             IPv4-non-decimal-part@7: A part of the address is octal or
             hexadecimal.
             http://0x7f.1/
                    ^
             host: 127.0.0.1 (loopback)
             warning: RFC 3986 finds another host: 0x7f.1
             Browsers read the host as an IPv4 address.
";
    assert_eq!(explained(&["http://0x7f.1/"]), shown);
    let mail = explained(&["mailto:fred@example.org"]);
    assert_eq!(mail, "  whatwg     takes it as mailto:fred@example.org, without an error\n");
    let tabs = explained(&["http://h/a\tb\tc \""]);
    assert!(tabs.starts_with("  whatwg     takes it as http://h/abc%20%22, with 3 errors\n"), "{tabs}");
    assert!(tabs.contains("             invalid-URL-unit@10 @14 @15: A character is not"), "{tabs}");
    assert!(tabs.contains("http://h/a\\x09b\\x09c \"\n                       ^^^^\n"), "{tabs}");
    let failure = explained(&["http://h:99999/"]);
    assert!(
        failure.starts_with("  whatwg     fails, with 1 error\n             port-out-of-range@9: "),
        "{failure}"
    );
    assert!(!failure.contains("host:"), "{failure}");
    let many = explained(&[&format!("http://h/{}", " ".repeat(11) + "a")]);
    assert!(many.contains("@9 @10 @11 @12 @13 @14 @15 @16 and 3 more: "), "{many}");
    let password = explained(&["http://u:hunter2@h/"]);
    assert!(password.contains("http://u:hunter2@h/, with 1 error"), "nothing is masked: {password}");
    assert!(explained(&[""]).contains("fails without a base"));
}

#[test]
fn explain_resolves_references_against_a_base_as_browsers_do() {
    let alone = explained(&["../c d"]);
    assert!(alone.starts_with("  whatwg     fails without a base (--base URL), with 1 error\n"), "{alone}");
    assert!(alone.contains("missing-scheme-non-relative-URL@0: There is no scheme"), "{alone}");
    let with = explained(&["--base", "http://u:hunter2@h/a/b", r"..\c"]);
    assert!(with.starts_with("  whatwg     takes it as http://u:hunter2@h/c, with 1 error\n"), "{with}");
    let opaque = explained(&["--base", "mailto:a@b", "c"]);
    assert!(opaque.starts_with("  whatwg     fails, with 1 error\n"), "{opaque}");
    for (args, why) in [
        (
            &["--base", "a/b", "c"][..],
            "--base: browsers do not take it as a URL (missing-scheme-non-relative-URL)",
        ),
        (&["--base", "http://a:x/", "c"], "--base: browsers do not take it as a URL (port-invalid)"),
        (&["--base", "http://a/", "-g", "3986", "c"], "cannot be used with"),
    ] {
        assert_refused(&urlsift().arg("explain").args(args).output().unwrap(), why);
    }
    let output = urlsift().args(["explain", "-g", "3986", "http://h/"]).output().unwrap();
    assert!(!text(&output.stdout).contains("whatwg"));
}

#[cfg(unix)]
#[test]
fn explain_says_which_bytes_are_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let shown = explained(&[OsStr::from_bytes(b"http://h/\xff")]);
    let expected =
        "  whatwg     takes it as http://h/%EF%BF%BD, and with U+FFFD for bytes that are not UTF-8\n";
    assert_eq!(shown, format!("{expected}             host: h\n"));
}

const LIST: &[u8] = b"http://a\\@b/\nhttp://EXAMPLE.org/~x\n\nmailto:a b\n../c\nhttp://h:x/\nhttp://-/\nfile:///a\nhttp://h/\xff\n\
                      x://h/ \"\\\n";

#[test]
fn rows_have_what_browsers_make_of_lines() {
    let tsv = "\
errors\tinvalid-reverse-solidus\ta\thttp://a/@b/
valid\tnone\texample.org\thttp://example.org/~x
-\t-\t-\t-
errors\tinvalid-URL-unit\t-\tmailto:a b
relative\tmissing-scheme-non-relative-URL\t-\t-
failure\tport-invalid\t-\t-
errors\tdomain-to-ASCII\t\\x2d\thttp://-/
valid\tnone\t\tfile:///a
errors\tnone\th\thttp://h/%EF%BF%BD
errors\tinvalid-URL-unit,invalid-URL-unit,invalid-URL-unit\th\tx://h/%20%22\\\\
";
    assert_eq!(rows(&["-c", COLUMNS], LIST), tsv);
    assert_eq!(rows(&["-c", COLUMNS, "--header"], LIST), format!("{}\n{tsv}", COLUMNS.replace(',', "\t")));
    assert_eq!(rows(&["-c", COLUMNS, "-j3", "--shard-size", "16"], LIST), tsv);
    let found = rows(&["-c", COLUMNS, "--json"], LIST);
    let found: Vec<Value> = found.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let row = |level: &str, errors: &[&str], host: Option<&str>, href: Option<&str>| json!({"whatwg": level, "whatwg_errors": errors, "whatwg_host": host, "whatwg_href": href});
    assert_eq!(found[0], row("errors", &["invalid-reverse-solidus"], Some("a"), Some("http://a/@b/")));
    assert_eq!(found[1], row("valid", &[], Some("example.org"), Some("http://example.org/~x")));
    let blank = json!({"whatwg": null, "whatwg_errors": null, "whatwg_host": null, "whatwg_href": null});
    assert_eq!(found[2], blank);
    assert_eq!(found[4], row("relative", &["missing-scheme-non-relative-URL"], None, None));
    assert_eq!(found[6], row("errors", &["domain-to-ASCII"], Some("-"), Some("http://-/")));
    assert_eq!(found[8], row("errors", &[], Some("h"), Some("http://h/%EF%BF%BD")));
    assert_eq!(found[9], row("errors", &["invalid-URL-unit"; 3], Some("h"), Some("x://h/%20%22\\")));
}

#[test]
fn rows_are_resolved_against_the_base_of_resolved() {
    let args = ["--base", "http://b.example/d/e", "-c", "text,resolved,whatwg,whatwg_href"];
    assert_eq!(
        rows(&args, b"../c\n..\\c\nhttp:f\n"),
        "../c\thttp://b.example/c\tvalid\thttp://b.example/c\n\
         ..\\\\c\t-\terrors\thttp://b.example/c\n\
         http:f\thttp:f\terrors\thttp://b.example/d/f\n"
    );
    let page = b"<base href=http://b.example/d/><a href=c><a href=' /x'>";
    let args = ["--input-format", "html", "-c", "field,resolved,whatwg_href"];
    let found = rows(&args, page);
    assert!(found.contains("link\thttp://b.example/d/c\thttp://b.example/d/c\n"), "{found}");
    let of_page = |args: &[&str]| rows(&[&["--input-format", "html", "-c", "text"], args].concat(), page);
    assert_eq!(of_page(&["--where", "whatwg=relative"]), "");
    assert!(of_page(&["--where", "whatwg=valid"]).contains("c\n"));
    let csv =
        rows(&["--field", "url", "--base", "http://b/", "-c", "whatwg_href"], b"url,x\nc,1\n\" d\",2\n");
    assert_eq!(csv, "http://b/c\nhttp://b/d\n");
}

/// The headers of an archive are no links of the page.
#[test]
fn the_url_of_a_page_is_not_resolved_against_itself() {
    let page = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=z>";
    let record = |url: &str| {
        let len = page.len();
        format!(
            "WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: {url}\r\nContent-Length: {len}\r\n\r\n{page}\r\n\r\n"
        )
    };
    let archive = record("http:x/y") + &record("/relative");
    let args = ["--field", "WARC-Target-URI,body-links", "--base", "http://b/c", "-c", "text,whatwg_href"];
    assert_eq!(
        rows(&args, archive.as_bytes()),
        "http:x/y\thttp://b/x/y\nz\thttp://x/z\n/relative\thttp://b/relative\nz\t-\n"
    );
}

#[test]
fn a_base_that_nothing_needs_or_that_browsers_do_not_take_is_an_error() {
    for (args, why) in [
        (&["lines", "--base", "http://a/"][..], "--base is for the column resolved, and for"),
        (
            &["lines", "--base", "http:", "-c", "whatwg"],
            "--base: browsers do not take it as a URL (host-missing)",
        ),
        (
            &["lines", "--base", "http:", "--where", "whatwg=valid"],
            "--base: browsers do not take it as a URL",
        ),
        (&["lines", "-c", "whatwg_hrefs"], "no such column; did you mean whatwg_href?"),
        (&["split", "-a", "-", "--base", "http://b/"], "the following required arguments were not provided"),
        (
            &["split", "-a", "-", "--base", "http://b/", "--where", "kind=relative"],
            "--base is for conditions on browsers, such as --where whatwg=...",
        ),
        (&["lines", "--where", "whatwg=fail"], "no such level; did you mean failure?"),
        (&["lines", "--where", "whatwg=x"], "no such level; one of valid, errors, failure, relative"),
        (&["split", "-a", "-", "--where", "whatwg=fail"], "no such level; did you mean failure?"),
        (&["lines", "--where", "whatwg_error=host-mising"], "no such error; did you mean host-missing?"),
    ] {
        assert_refused(&feed(args, LIST), why);
    }
    // The column resolved has no use for what browsers say, nor those of whatwg for RFC 3986.
    assert_eq!(rows(&["--base", "http:", "-c", "resolved"], b"a\n"), "http:a\n");
    assert_eq!(rows(&["--base", "http://b/c|d/", "-c", "whatwg_href"], b"a\n"), "http://b/c|d/a\n");
}

#[test]
fn where_selects_lines_by_what_browsers_say() {
    let select = |conditions: &[&str], args: &[&str]| {
        let conditions = conditions.iter().flat_map(|condition| ["--where", condition]);
        let args = ["-c", "line"].into_iter().chain(conditions).chain(args.iter().copied());
        let found = rows(&args.collect::<Vec<_>>(), LIST);
        found.lines().map(|line| line.parse().unwrap()).collect::<Vec<usize>>()
    };
    assert_eq!(select(&["whatwg=valid"], &[]), [2, 8]);
    assert_eq!(select(&["whatwg=errors"], &[]), [1, 4, 7, 9, 10]);
    assert_eq!(select(&["whatwg=failure,relative"], &[]), [5, 6]);
    assert_eq!(select(&["whatwg=relative"], &["--base", "http://b/"]), [0; 0]);
    assert_eq!(select(&["whatwg=valid"], &["--base", "http://b/"]), [2, 5, 8]);
    assert_eq!(select(&["whatwg_error=invalid-URL-unit,port-invalid"], &[]), [4, 6, 10]);
    assert_eq!(select(&["whatwg=errors", "rfc3986=refused", "scheme=http"], &[]), [1, 9]);
    let split = ["split", "-q", "-m", "-", "--where", "whatwg=valid", "--base", "http://b/"];
    let lines: Vec<_> = LIST.split_inclusive(|&byte| byte == b'\n').collect();
    assert_eq!(feed(&split, LIST).stdout, [lines[1], lines[4], lines[7]].concat());
    let of_table = [&split[..], &["--input-format", "csv"]].concat();
    assert_eq!(text(&feed(&of_table, b"id,url\n1,/a\n2,/\\b\n").stdout), "id,url\n1,/a\n");
    let output = feed(
        &["lines", "-c", "text", "--where", "whatwg=hosts-differ"],
        b"http://a/\nhttp://a\\@b/\n/a\nhttp:c\n",
    );
    assert_eq!(text(&output.stdout), "http://a\\\\@b/\nhttp:c\n");
    let output = feed(&["split", "-m", "-", "--where", "whatwg=failure"], LIST);
    assert_eq!(text(&output.stdout), "http://h:x/\n");
    assert!(text(&output.stderr).contains("1 line written, 9 left out by --where"), "{output:?}");
    let output = feed(
        &["split", "--field", "url", "-m", "-", "--where", "whatwg=failure"],
        b"url,n\nhttp://h:x/,1\na,2\n",
    );
    assert_eq!(text(&output.stdout), "url,n\nhttp://h:x/,1\n");
    let output = feed(&["extract", "--where", "whatwg=errors"], b"see http://h/ and http://127.1/\n");
    assert_eq!(text(&output.stdout), "http://127.1/\n");
}

/// The serialisation moves, escapes and drops what shows where a password is.
#[test]
fn passwords_are_masked_in_the_url_of_browsers() {
    let lines = [
        "http://u:hunter2@h/", "http:\\\\u:hunter2@h\\a", "  http:u:hunter2@h/  ",
        "http://u:\t:@h\thunter2@h/", "http://u:\"hunter2\"@h/", "http://u:80@hunter2@h/",
        "http://a@u:hunter2@h/", "http://u%3Ahunter2@h/", "http://u:%68unter2hunter2@h/", "x://u:hunter2@h/",
        "x:u:hunter2@h/", "//u:hunter2@h/a", "/./..//u:hunter2@h", "x:/.//u:hunter2@h", "u:hunter2@h",
        "u:x/../hunter2@h", "u%3Ahunter2@h", "u%3A./hunter2@h", "?u=http%3A%2F%2Fu%3Ahunter2%40h",
        "http://h/?u=http://u:hunter2@h/", "http://h/ u:hunter2@h", "http://h/#x|u:hunter2@h",
        "http://u:@hunter2/x@h/", "http://u:@hunter2/http://v:q@k/", "blob:http://u:hunter2@h/x",
        "file://u:hunter2@h/x", "javascript://u:hunter2@h/x",
    ];
    for base in [None, Some("http://b/c/"), Some("http://u:hunter2@b/c/"), Some("x:"), Some("file:///a")] {
        let base = base.map_or_else(Vec::new, |base| vec!["--base", base]);
        for form in ["tsv", "jsonl"] {
            let args = ["-c", "whatwg_host,whatwg_href,hosts_differ", "--mask-passwords", "--format", form];
            let shown = rows(&[&args[..], &base].concat(), lines.join("\n").as_bytes());
            assert_eq!(shown.lines().count(), lines.len());
            for (line, row) in lines.iter().zip(shown.lines()) {
                assert!(!row.contains("hunter2"), "{base:?} {line}: {row}");
            }
        }
    }
    let shown = |base: &str, line: &str| {
        rows(&["-c", "whatwg_href", "--mask-passwords", "--base", base], line.as_bytes())
    };
    assert_eq!(shown("http://b/", "http://u:p@h/a"), "http://u:***@h/a\n");
    let long = format!("http://u:{}@h/", "x".repeat(1000));
    assert_eq!(shown("http://b/", &long), "http://u:***@h/\n");
    assert_eq!(shown("http://u:p@b/", "c"), "http://u:***@b/c\n");
    assert_eq!(shown("http://u:p@b/", "http://v:q@h/"), "http://v:***@h/\n");
    assert_eq!(rows(&["-c", "whatwg_href"], b"http://u:p@h/a"), "http://u:p@h/a\n");
}

/// The answers are those of another implementation of the standard.
#[test]
fn columns_have_the_answers_of_the_conformance_cases() {
    let mut by_base = BTreeMap::<_, (Vec<u8>, Vec<[String; 4]>)>::new();
    for (line, fields) in conformance::rows("whatwg.tsv") {
        let [base, answer @ ..] = fields.as_slice() else { panic!("{fields:?}") };
        let base = String::from_utf8(unescape(base)).unwrap();
        // No list can have these lines, nor `--base` these bases.
        let is_line = !line.is_empty() && !line.contains(&b'\n') && !line.ends_with(b"\r");
        let is_base = base == "-" || parse(base.as_bytes(), None).url().is_some();
        if is_line && is_base && !line.starts_with(b"\xef\xbb\xbf") {
            let (list, answers) = by_base.entry(base).or_default();
            list.extend([&line[..], b"\n"].concat());
            answers.push(answer.to_vec().try_into().unwrap());
        }
    }
    let n_cases: usize = by_base.values().map(|(_, answers)| answers.len()).sum();
    assert!(n_cases > 3000 && by_base.len() > 10, "{n_cases} cases, {} bases", by_base.len());
    for (base, (list, answers)) in by_base {
        let args = ["--input-format", "lines", "--codec", "none", "--json", "-c", COLUMNS];
        let base = if base == "-" { vec![] } else { vec!["--base", &base] };
        let found = rows(&[&args[..], &base].concat(), &list);
        assert_eq!(found.lines().count(), answers.len(), "{base:?}");
        for (row, [level, errors, host, href]) in found.lines().zip(answers) {
            let row: Value = serde_json::from_str(row).unwrap();
            let some = |text| Some(text).filter(|text| *text != "-");
            let errors: Vec<_> = errors.split(',').filter(|name| *name != "none").collect();
            let (host, href) = (some(host), some(href));
            let expected =
                json!({"whatwg": level, "whatwg_errors": errors, "whatwg_host": host, "whatwg_href": href});
            assert_eq!(row, expected, "{base:?}");
        }
    }
}
