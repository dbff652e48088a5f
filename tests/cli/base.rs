//! References resolved against a base: rows of `urlsift lines`, and invalid bases.

use super::{assert_refused, feed, text};

const LIST: &[u8] = b"a\n../b?c\n//HOST/d\n//base.example:80\n///e\nhttp:f\nx://g/./h\n\ni j\n1:2\n";
const BASE: &str = "https://u:secret@Base.example/k/l?m";

#[test]
fn rows_have_resolved_references() {
    let output = feed(&["lines", "--base", BASE, "-c", "text,resolved", "--mask-passwords"], LIST);
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
    let output = feed(&["lines", "--base", BASE, "-c", "resolved", "--format", "jsonl"], LIST);
    let rows: Vec<_> = text(&output.stdout).lines().collect();
    assert_eq!(rows[0], r#"{"resolved":"https://u:secret@Base.example/k/a"}"#);
    assert_eq!(rows[8], r#"{"resolved":null}"#);
}

#[test]
fn a_line_with_a_scheme_needs_no_base() {
    let output = feed(&["lines", "-c", "text,resolved"], b"http://h/a/../b\nmailto:a@b\n/c\n//h/d\n");
    let expected = "http://h/a/../b\thttp://h/b\nmailto:a@b\tmailto:a@b\n/c\t-\n//h/d\t-\n";
    assert_eq!((text(&output.stdout), text(&output.stderr)), (expected, ""));
}

/// If the target does not show where the password is, it is masked as a whole.
#[test]
fn passwords_are_masked_in_resolved_references() {
    for line in [
        "//u:hunter2@h/a", "/./..//u:hunter2@h", "x:.//u:hunter2@h", "u:hunter2@h", "u:x/../hunter2@h",
        "u%3Ahunter2@h", "u%3A./hunter2@h", "?u=http%3A%2F%2Fu%3Ahunter2%40h",
    ] {
        for base in ["http://b/c/", "http://u:p@b/c/", "x:", "x:y/z"] {
            let output =
                feed(&["lines", "--base", base, "-c", "resolved", "--mask-passwords"], line.as_bytes());
            let shown = text(&output.stdout);
            assert!(shown.contains("***") && !shown.contains("hunter2"), "{base} {line}: {shown}");
        }
    }
}

/// The password of a base that a page names is masked too.
#[test]
fn passwords_in_bases_of_pages_are_masked() {
    let page = b"<base href=http://u:hunter2@h/a/><a href=b><a href=./..//u:hunter2@h>";
    let output = feed(&["lines", "--input-format", "html", "-c", "text,resolved", "--mask-passwords"], page);
    let expected = "http://u:***@h/a/\thttp://u:***@h/a/\nb\thttp://u:***@h/a/b\n";
    assert!(text(&output.stdout).starts_with(expected), "{}", text(&output.stdout));
    assert!(!text(&output.stdout).contains("hunter2"), "{}", text(&output.stdout));
}

#[test]
fn an_invalid_base_is_a_usage_error() {
    for (args, message) in [
        (
            &["lines", "--base", "a/b", "-c", "resolved"][..],
            "it has no scheme; expected a whole URL, such as https://",
        ),
        (
            &["lines", "--base", "http://a/b c", "-c", "resolved"],
            "RFC 3986 refuses it at byte 11, \" \" (path:space)",
        ),
        (&["lines", "--base", "", "-c", "resolved"], "it has no scheme"),
        (
            &["lines", "--base", "http://a"],
            "--base is for the column resolved, and for the columns and conditions of whatwg: add one of them",
        ),
    ] {
        assert_refused(&feed(args, LIST), message);
    }
    let long = format!("http://a/{}", "b".repeat(8192));
    let output = feed(&["lines", "--base", &long, "-c", "resolved"], LIST);
    assert!(text(&output.stderr).contains("it has 8201 bytes, and a base may have 8192"));
    for format in [&["--input-format", "html"][..], &["--input-format", "warc"], &["--field", "body-links"]] {
        let output =
            feed(&[&["lines", "-c", "resolved"], format].concat(), b"<base href=http://a/b/><a href=c>");
        let is_page = format[1] == "html";
        assert_eq!(
            text(&output.stdout),
            if is_page { "http://a/b/\nhttp://a/b/c\n" } else { "" },
            "{format:?}"
        );
    }
    let output = feed(&["lines", "--base", "http://a/#b", "-c", "resolved"], b"c\n");
    assert_eq!(text(&output.stdout), "http://a/c\n");
    assert!(text(&output.stderr).starts_with("urlsift: --base: what is behind the \"#\" is left out"));
}
