//! Passwords are masked in every report, message and partial report, wherever they are in a line.

use std::fmt::Write;
use std::fs::{self, File};

use serde_json::Value;

use super::{SHOWN, feed, folder_with, json, text, urlsift};

/// Every form of report of `list`: its name and what the command writes.
fn reports(list: &[u8], args: &[&str]) -> Vec<(&'static str, String)> {
    let run = |format| {
        let output = feed(&[&["--format", format][..], args].concat(), list);
        assert!(output.status.success(), "{format}: {}", text(&output.stderr));
        text(&output.stdout).to_owned()
    };
    let partial = run("partial");
    let merged = feed(&["merge", "--format", "html"], partial.as_bytes());
    let merged = ("merge", text(&merged.stdout).to_owned());
    vec![("text", run("text")), ("json", run("json")), ("html", run("html")), ("partial", partial), merged]
}

#[test]
fn masked_whatever_precedes_a_delimiter() {
    for line in [
        "root:%24ECRET@db.example",
        "http://root:%24EC/RET@h/",
        "root:&SECRET@h",
        "root:1%23SECRET@h",
        "http:root:%24ECRET@h",
        "http://root:1/SECRET@h/",
        "http://root:12345?SECRET@h/",
        "http://root:/SECRET@h/",
        "root:/SECRET@h",
        "root: SECRET@h",
        "root:80%2FSECRET@h",
        "http://h.example:80/x?u=ftp://root:7%23SECRET@h/",
        "http:/%2Froot:SECRET@h/",
        "http://root:@SECRET/x@h/",
        "http://root:a%40b/SECRET@h/",
        "root:a%40b/SECRET@h",
        "http://h.example/?u=http%3A%2F%2Froot%3Aa%2540b%252FSECRET%40h",
        "http://h.example/ root:SECRET@h",
    ] {
        // Up to three lines of a verdict are shown, so each of these is.
        let list = format!("{line}\n{line} \u{e9}\n{line}\u{1}\n");
        for (form, report) in reports(list.as_bytes(), &[]) {
            assert!(!report.contains("ECRET") && !report.contains("RET@"), "{form}: {line}");
            // The text report shows refused lines only.
            assert!(report.matches("***").count() >= 3 || form == "text", "{form}: {line}");
        }
    }
    let shown = feed(&["--format", "json"], b"http://h.example:8080/@user\nh.example:80?a@b\n");
    assert!(!text(&shown.stdout).contains("***"), "usual ports are no passwords");
}

#[test]
fn masked_in_every_form_of_a_line() {
    for args in SHOWN {
        for form in [
            "ftp://u:hunter2@h/", "url:ftp://u:hunter2@h/", " http://u:hunter2@h/",
            "<URL:http://u:hunter2@h/>", "http:/u:hunter2@h/", "//u:hunter2@h/",
            "http://h/?url=http://u:hunter2@h/", "http://DOMAIN\\u:hunter2@h/", "u:hunter2@h",
            "<u:hunter2@h>", "http://u%3Ahunter2@h",
        ] {
            let output = feed(args, format!("{form}\n{form} x\n").as_bytes());
            let shown = text(&output.stdout);
            assert!(!shown.contains("hunter2"), "passwords are masked: {shown}");
            assert!(shown.contains("***@h") || args.contains(&"--color"), "{shown}");
        }
    }
    // No grammar finds a password in these lines, but people write passwords like this.
    for form in [
        "http://u:hunter2/x@h", "http://u:x/hunter2@h", "http://u:hunter2\\@h", "u%3Ahunter2@h",
        "u:x/hunter2@h", "?u=http%3A%2F%2Fu%3Ahunter2%40h",
    ] {
        let list = format!("{form}\n{form} x\n{}{form}\n", "x".repeat(300));
        for args in [
            &[][..],
            &["-g", "rfc1808"],
            &["--format", "json"],
            &["--format", "html"],
            &["lines", "-c", "text,defect,resolved", "--base", "http://b/", "--mask-passwords"],
            &["split", "-a", "-", "--mask-passwords"],
            &["split", "-r", "-", "--mask-passwords"],
            &["split", "-r", "-", "--refused-as", "lines", "--mask-passwords"],
            &["split", "-m", "-", "--where", "kind=absolute,relative", "--mask-passwords"],
        ] {
            let output = feed(args, list.as_bytes());
            assert!(!text(&output.stdout).contains("hunter2"), "{args:?}: {}", text(&output.stdout));
        }
    }
}

#[test]
fn top_lists_have_no_passwords() {
    for line in ["http://root%3AHunter2%40h/", "http://root:Hunter2:80/x@h/", "http://root:p@Hunter2?x@h/"] {
        let list = format!("{line}\nhttp://h.example/\n");
        for (form, report) in
            reports(list.as_bytes(), &["--top", "hosts", "--top", "tlds", "--distinct", "hosts"])
        {
            assert!(!report.to_lowercase().contains("hunter2"), "{form}: {line}");
            assert!(report.contains("h.example"), "{form}: {line}");
        }
    }
}

#[test]
fn messages_have_no_passwords() {
    let url = "http://root:SECRET@h/";
    for args in [
        &["render", url][..],
        &["merge", url],
        &["-o", url, "-"],
        &["--splits", url],
        &["--files-from", url],
        &["--glob", "[", url],
        &["lines", "--where", url],
        &["--fail-on", url],
        &["--kernel", url],
    ] {
        let output = feed(args, b"http://h/\n");
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        assert!(!said.contains("SECRET"), "{args:?}: {said}");
    }
}

/// Nothing that the command says of an argument shows a password in it.
#[test]
fn no_option_shows_a_password() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/help");
    let page = |file: &str| Some(file.strip_prefix("urlsift")?.strip_suffix("-help.txt")?.to_owned());
    let files = fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    // `explain` shows what was typed.
    let mut pages: Vec<_> = files.filter_map(|file| page(&file)).filter(|page| page != "-explain").collect();
    pages.sort();
    let mut runs: Vec<(String, Option<String>)> = Vec::new();
    for page in pages {
        let help = fs::read_to_string(format!("{folder}/urlsift{page}-help.txt")).unwrap();
        let options = help.lines().filter_map(|line| {
            let at = line.find("--").filter(|at| *at <= 6 || line.starts_with("  -"))?;
            Some(line[at..].split_once(" <")?.0.to_owned())
        });
        for option in options.map(Some).chain([None]) {
            if option.is_none() || runs.iter().all(|(_, known)| *known != option) {
                runs.push((page.trim_start_matches('-').to_owned(), option));
            }
        }
    }
    assert!(runs.len() > 45, "{runs:?}");
    let directory = folder_with(&[("list", "http://h/\n")]);
    for (command, option) in &runs {
        let first = if command.is_empty() { "--json" } else { command.as_str() };
        for secret in [
            "http://u:SECRET,SECRET=SECRET@h/x", "u:a SECRET b@h", "--u:SECRET\"@h",
            "/*/http:~1~1u:SECRET@h~1x", "/*/u:SECRET@h", "url,/u:SECRET@h",
        ] {
            let joined = option.as_ref().map(|option| format!("{option}={secret}"));
            let apart = || [first].into_iter().chain(option.as_deref()).chain([secret]).collect::<Vec<_>>();
            for args in
                [Some(apart()), joined.as_deref().map(|joined| vec![first, joined])].into_iter().flatten()
            {
                let list = File::open(directory.path().join("list")).unwrap();
                let output = urlsift().args(&args).stdin(list).current_dir(&directory).output().unwrap();
                // The name of a file that exists is shown as it is.
                let _ = fs::remove_file(directory.path().join(secret));
                for said in [text(&output.stdout), text(&output.stderr)] {
                    assert!(!said.contains("SECRET"), "{args:?}: {said}");
                }
            }
        }
    }
}

/// Columns, keys, variables, patterns and commands have names that reports show.
#[test]
fn no_name_shows_a_password() {
    let folder = tempfile::tempdir().unwrap();
    let parquet =
        fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/parquet/unusual.parquet")).unwrap();
    // A column of another name.
    let mut table = parquet.clone();
    for at in (0..table.len() - 5).filter(|&at| parquet[at..].starts_with(b"group")) {
        table[at..at + 5].copy_from_slice(b"u:Q@h");
    }
    let url = "http://u:SECRET@h/";
    let log = "u:SECRET@h \"$request\"";
    for (bytes, args) in [
        (&b"id,http://u:SECRET@h/,c\n1,http://a/,http://b/\n"[..], &["--field", url][..]),
        (b"id,http://u:SECRET@h/,c\n1,http://a/,http://b/\n", &["--field", url, "--field", "c"]),
        (b"id,u:SECRET@h,c\n1,2,3\n", &["--input-format", "csv", "--field", "url"]),
        (b"{\"u:SECRET@h\":\"http://a/\"}\n", &["--input-format", "jsonl"]),
        (b"{\"u:SECRET@h\":\"http://a/\"}\n", &["--field", "u:SECRET@h"]),
        (
            b"{\"u:SECRET@h\":\"http://a/\"}\n",
            &["--field", "u:SECRET@h", "--field", "c", "--input-format", "json"],
        ),
        (b"{\"a\":{\"http://u:SECRET@h/\":\"http://a/\"}}\n", &["--field", "/*/http:~1~1u:SECRET@h~1"]),
        (b"{\"a\":{\"u:SECRET@h\":\"http://a/\"}}\n", &["--field", "/*/u:SECRET@h,c"]),
        (b"{\"http://u:SECRET,SECRET@h/\":\"http://a/\"}\n", &["--field", "c,http://u:SECRET,SECRET@h/,d"]),
        (b"u:SECRET@h \"GET /a HTTP/1.1\"\n", &["--log-format", log]),
        (b"http://a/\n", &["--pre", "false u:SECRET@h"]),
        (b"http://a/\n", &["--pre", "u:SECRET@h"]),
        (&table, &["--field", "nothing"]),
        (&table, &["--field", "u:Q@h.url"]),
        (&table, &["--field", "u:Q@h.url", "--field", "note"]),
    ] {
        fs::write(folder.path().join("input"), bytes).unwrap();
        let scan = |format| vec!["--format", format];
        let mut rows = vec!["lines", "--json", "--mask-passwords", "-c"];
        rows.push("field,text");
        for first in [scan("text"), scan("json"), scan("html"), scan("partial"), rows] {
            let args = [&first[..], args, &["input"]].concat();
            let output = urlsift().args(&args).current_dir(&folder).output().unwrap();
            for said in [text(&output.stdout), text(&output.stderr)] {
                assert!(!said.contains("SECRET") && !said.contains(":Q@"), "{args:?}: {said}");
            }
        }
    }
}

/// The columns that may show passwords.
const COLUMNS: &str = "text,resolved,whatwg_href,whatwg_host";

/// A URL in running text ends at some bytes that its password may have.
#[test]
fn masked_where_a_url_in_running_text_ends() {
    let long = "x".repeat(300);
    for url in [
        "https://bob:HUNT\"er2@db/",
        "mysql://root:HUNT|ss@db",
        "https://bob:HUNT/HUNT>er2@db/",
        "https://bob@a.example:HUNT<er2@db/",
        "https://h/?u=ftp%3A%2F%2Fbob%3AHUNT\"er2%40db",
        &format!("https://h/{long}?u=ftp://bob:HUNT\"er2@db"),
        &format!("https://bob:{long}HUNT\"er2@db"),
        &format!("https://bob:HUNT{}\"er2@db", long.repeat(300)),
    ] {
        let list = format!("see {url} now\nor {url}\n");
        for (form, report) in reports(list.as_bytes(), &["--input-format", "text", "--whatwg"]) {
            assert!(!report.contains("HUNT"), "{form}: {url}");
        }
        let args =
            ["lines", "--input-format", "text", "--mask-passwords", "--base", "http://h/", "-c", COLUMNS];
        let rows = feed(&args, list.as_bytes());
        assert!(rows.status.success() && !text(&rows.stdout).contains("HUNT"), "{url}");
    }
    let plain = b"see http://localhost:8080/x, http://[::1]:5000 and http://h.example:8443.\n";
    for args in [&["--format", "json"][..], &["lines", "--mask-passwords", "-c", "text"]] {
        let shown = feed(&[args, &["--input-format", "text"]].concat(), plain);
        assert!(text(&shown.stdout).contains("http://[::1]:5000") && !text(&shown.stdout).contains("***"));
    }
}

/// Browsers read these passwords as a part of a path or a host, and the links of the page have them too.
#[test]
fn masked_in_what_a_link_takes_from_the_base_of_its_page() {
    for base in
        ["1u:SECRET@h/x", "http://h\\u:SECRET@k/", "root%3ASECRET@h/", "http://u:@SECRET/x@h/", "1u:S3@h/"]
    {
        let page = format!("<base href='{base}'><a href=c><a href='//g/c'><a href='http://g/c'>");
        let args =
            ["lines", "--input-format", "html", "--mask-passwords", "--base", "http://p/q", "-c", COLUMNS];
        let rows = feed(&args, page.as_bytes());
        let shown = text(&rows.stdout).to_ascii_lowercase();
        assert!(!shown.contains("secret") && !shown.contains("s3"), "{base}: {shown}");
        assert!(shown.contains("\thttp://g/c\t"), "{base}: {shown}");
    }
    let rows = ["lines", "--mask-passwords", "-c", "whatwg_href", "--base", "http://h\\u:SECRET@k/"];
    for args in [&rows[..], &["--whatwg", "--base", "u:SECRET@h"]] {
        let output = feed(args, b"c\n");
        let said = [text(&output.stdout), text(&output.stderr)].concat();
        assert!(output.status.code() == Some(2) && !said.contains("SECRET"), "{said}");
        assert!(said.contains("cannot be masked"), "{said}");
    }
}

/// The URL is behind the first 64 KiB of the line. An example shows the bytes before and after the defect.
#[test]
fn masked_deep_inside_a_long_line() {
    let before = format!("http://h.example/{}", "a/".repeat(40_000));
    let urls = (100..=125).flat_map(|len| {
        [
            format!("http://root:SECRET@h/{} ", "x".repeat(len - 10)),
            format!("http://{}:SECRET@h/ ", "u".repeat(len)),
            format!("http://root:{}SECRET@h/ ", "p".repeat(len)),
            format!("ftp://root:SECRET{}@h/ ", "p".repeat(len)),
            format!("{} root:SECRET@h ", "x".repeat(len - 10)),
            format!("{} a|root:SECRET/x@h ", "x".repeat(len - 10)),
        ]
    });
    // Three lines with the same defect are its examples.
    for urls in urls.collect::<Vec<_>>().chunks(3) {
        let line = |url| format!("{before}{url}{}\n", "y/".repeat(300));
        let list: String = urls.iter().map(line).collect();
        for size in ["1000000", "4096"] {
            let output = feed(&["--format", "json", "--line-size", size], list.as_bytes());
            let examples = &json(&output)["defects"][0]["examples"];
            assert_eq!(examples.as_array().unwrap().len(), urls.len());
            for (example, url) in examples.as_array().unwrap().iter().zip(urls) {
                assert!(example["skipped"].as_u64().unwrap() > 65_536, "the example is behind the beginning");
                let shown = example["text"].as_str().unwrap();
                assert!(!shown.contains("ECRET") && shown.contains("yyy") == url.contains("yyy"), "{shown}");
            }
        }
    }
}

#[test]
fn a_partial_report_has_three_asterisks_for_each_password() {
    let list = b"http://u:$!*-_.+;=@h/\nhttp://u:$!*-_.+;=@h/ \n//u:a@h/%0\n";
    let partial = feed(&["--format", "partial"], list);
    let partial = text(&partial.stdout);
    assert!(partial.contains("http://u:***@h/") && !partial.contains("*-_"), "{partial}");
    let document: Value = serde_json::from_str(partial).unwrap();
    assert_eq!(document["schema"], "urlsift.partial/2");
    let merged = json(&feed(&["merge", "--format", "json"], partial.as_bytes()));
    let scanned = json(&feed(&["--format", "json"], list));
    assert_eq!((&merged["digest"], &merged["defects"]), (&scanned["digest"], &scanned["defects"]));
    let shown = feed(&["--format", "partial", "--show-secrets"], list);
    assert!(text(&shown.stdout).contains("$!*-_.+;="));
}

/// The masked text of these lines is refused by another rule than the line.
#[test]
fn a_partial_report_keeps_the_rules_of_masked_lines() {
    for line in ["http://x:@[v1. p@h/", "http://u:%zz@h/", "ftp://u:/@[@h/", "http://u:[@h:8x/"] {
        for grammar in ["draft1993", "rfc1738", "rfc1808", "rfc2396", "rfc3986"] {
            let args = ["-g", grammar];
            let list = format!("{line}\n");
            let scanned = json(&feed(&[&["--format", "json"][..], &args].concat(), list.as_bytes()));
            let partial = feed(&[&["--format", "partial"][..], &args].concat(), list.as_bytes());
            let merged = json(&feed(&["merge", "--format", "json"], &partial.stdout));
            assert_eq!(merged["digest"], scanned["digest"], "{line} {grammar}");
        }
    }
}

#[test]
fn a_list_of_urls_taken_for_a_list_of_paths() {
    let mut list = String::from("http://root:SECRET@h/a\nhttp://root:SECRET@h/a.gz\nroot:SECRET@h\n");
    (0..20).for_each(|n| writeln!(list, "http://root:SECRET@h/{n}").unwrap());
    let folder = folder_with(&[("urls", &list)]);
    for format in ["text", "json", "html", "partial"] {
        let output = urlsift()
            .args(["--files-from", "urls", "--format", format])
            .current_dir(&folder)
            .output()
            .unwrap();
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{format}: {said}");
        assert!(!said.contains("SECRET") && !text(&output.stdout).contains("SECRET"), "{format}: {said}");
        assert_eq!(
            said.matches("root:***@h").count(),
            10 + 2,
            "ten paths and a pair of copies, {format}: {said}"
        );
        assert_eq!(
            said.lines().last(),
            Some("urlsift: ... and 13 more paths that cannot be read"),
            "{format}"
        );
    }
}

/// No name of a file on Windows has a colon.
#[cfg(unix)]
#[test]
fn a_file_that_exists_keeps_its_name() {
    let folder = folder_with(&[("a:b@c", "http://h/\n")]);
    let output = urlsift().args(["--format", "json", "a:b@c"]).current_dir(&folder).output().unwrap();
    assert_eq!(json(&output)["inputs"][0]["name"], "a:b@c");
}

/// A field may end at a byte of the password.
#[test]
fn fields_that_end_inside_a_password_are_masked() {
    for (format, list) in [
        ("csv", "id,url\n1,http://u:SECRET,x@h/\n"),
        ("jsonl", "{\"url\":\"http://u:SECRET\"x@h/\"}\n{\"url\":\"http://u:SECRET\"}\n"),
        ("html", "<a href=\"http://u:SECRET\"x@h/\">"),
        ("squid", "1 2 h TCP/200 1 GET http://u:SECRET x@h/ - H/- t\n"),
    ] {
        for args in
            [&["--json"][..], &["--format", "html"], &["--format", "partial"], &["lines", "--mask-passwords"]]
        {
            let output = feed(&[args, &["--input-format", format]].concat(), list.as_bytes());
            for said in [text(&output.stdout), text(&output.stderr)] {
                assert!(!said.contains("SECRET"), "{format} {args:?}: {said}");
            }
        }
    }
}

/// What follows "user:" in running text may be the beginning of a password that the end of the URL has cut.
#[test]
fn counts_of_text_have_no_passwords() {
    for url in [
        "http://root%3AHunter2\"x@db/", "http://root:@Hunter2\"x@db/", "http:///root:@Hunter2\"x@db",
        "http://root:@0177.0.0.9\"x@db/",
    ] {
        let args = ["--input-format", "text", "--top", "hosts", "--top", "tlds", "--whatwg"];
        for (form, report) in reports(format!("see {url} now\n").as_bytes(), &args) {
            let report = report.to_lowercase();
            assert!(!report.contains("hunter2") && !report.contains("127.0.0.9"), "{form}: {url}: {report}");
        }
    }
}

/// What is made of a link and a base shows no password of either.
#[test]
fn targets_have_no_passwords_of_bases() {
    let pages = [
        ("<base href='u:HUSHA/HUSHC@h/'><a href='../c'>", "resolved,whatwg_href,whatwg_host", "about:blank"),
        ("<a href='../c'>", "resolved", "foo:/u:HUSHA/HUSHC@h/"),
        ("<base href='//h:HUSHA@HUSHB%40k/'><a href=c>", "resolved,whatwg_href,whatwg_host", "foo:/x"),
    ];
    for (page, columns, base) in pages {
        let args = ["lines", "--input-format", "html", "--mask-passwords", "-c", columns, "--base", base];
        let output = feed(&args, page.as_bytes());
        assert!(output.status.success(), "{page}: {}", text(&output.stderr));
        assert!(!text(&output.stdout).contains("HUSH"), "{page}: {}", text(&output.stdout));
    }
}

/// The beginning of a long line has a word whose user name has an "@".
#[test]
fn words_far_inside_a_line_have_no_passwords() {
    let line = format!("/{}|u@b:HUSH/x@h:80/ z\n", "q=1&".repeat(16_500));
    for (form, report) in reports(line.as_bytes(), &[]) {
        assert!(!report.contains("HUSH"), "{form}");
    }
}

#[test]
fn a_host_behind_a_password_is_counted_in_all_formats() {
    for (format, list) in [
        ("lines", "http://u:SECRET@h.example\nhttp://u:SECRET@h.example:8080\n"),
        ("csv", "id,url\n1,http://u:SECRET@h.example\n2,\"http://u:SECRET@h.example:8080\"\n"),
        ("jsonl", "{\"url\":\"http://u:SECRET@h.example\"}\n{\"url\":\"http://u:SECRET@h.example:8080\"}\n"),
        ("text", "see http://u:SECRET@h.example and <http://u:SECRET@h.example:8080>\n"),
    ] {
        let args = ["--input-format", format, "--json", "--top", "hosts", "--top", "ports"];
        let top = json(&feed(&args, list.as_bytes()))["top"].take();
        let first = |n: usize| (top[n]["entries"][0]["name"].clone(), top[n]["entries"][0]["lines"].clone());
        assert_eq!(
            [first(0), first(1)],
            [("h.example".into(), 2.into()), ("8080".into(), 1.into())],
            "{format}: {top}"
        );
    }
}
