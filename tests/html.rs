//! The HTML report: its size, and how a browser shows it.
//!
//! The browser is Chromium, driven by chromedriver. Tests that need it are ignored by default; `scripts/check` runs them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use urlsift::internal::{MAX_PAGE, grouped};

use crate::webdriver::Browser;

/// Writes the page of a scan to a file. Returns its path.
fn page(directory: &Path, name: &str, args: &[&str]) -> PathBuf {
    let path = directory.join(name);
    let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
    command.arg("-o").arg(&path).args(args).current_dir(env!("CARGO_MANIFEST_DIR"));
    let output = command.output().unwrap();
    assert!(path.exists(), "{output:?}");
    path
}

fn names(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

#[test]
fn pages_are_small() {
    let directory = tempfile::tempdir().unwrap();
    let mut lists = vec!["corpora/samples".to_owned(), "corpora/hostile".to_owned()];
    for folder in ["samples", "hostile"] {
        let folder = format!("corpora/{folder}");
        lists.extend(fs::read_dir(&folder).unwrap().map(|file| file.unwrap().path().display().to_string()));
    }
    assert!(lists.len() > 40);
    for list in &lists {
        for grammar in ["draft1993", "rfc3986"] {
            let text =
                fs::read_to_string(page(directory.path(), "report.html", &["-g", grammar, list])).unwrap();
            assert!(text.len() <= MAX_PAGE, "{list}: {} bytes", text.len());
            assert!(text.ends_with("</html>\n"), "{list}: {text}");
        }
    }
}

#[test]
#[ignore = "needs chromedriver"]
fn a_browser_reports_no_errors() {
    let browser = Browser::start();
    let directory = tempfile::tempdir().unwrap();
    let pages = [
        page(directory.path(), "samples.html", &["corpora/samples"]),
        page(directory.path(), "hostile.html", &["corpora/hostile"]),
        page(directory.path(), "1738.html", &["-g", "rfc1738", "corpora/samples/mosaic_1990s.txt"]),
        page(directory.path(), "schemes.html", &["corpora/hostile/schemes_2000.txt"]),
        page(directory.path(), "empty.html", &["corpora/hostile/empty.txt"]),
        page(directory.path(), "missing.html", &["corpora/hostile/empty.txt", "no-such-list"]),
        page(directory.path(), "records.html", &["tests/records", "--glob=*.{log,csv,jsonl,warc}"]),
    ];
    for path in pages {
        for (width, dark) in [(1280, false), (360, true)] {
            browser.look(width, dark);
            browser.open(&path);
            let seen = browser.run(
                "return {
                    wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
                    background: getComputedStyle(document.body).backgroundColor,
                    loaded: performance.getEntriesByType('resource').map(entry => entry.name),
                    doubled: [...document.querySelectorAll('[id]')].length
                        - new Set([...document.querySelectorAll('[id]')].map(element => element.id)).size,
                    dangling: [...document.querySelectorAll('[popovertarget], a')]
                        .map(element => element.getAttribute('popovertarget') ?? element.getAttribute('href').slice(1))
                        .filter(id => !document.getElementById(id)),
                }",
            );
            let background = if dark { "rgb(21, 23, 26)" } else { "rgb(252, 251, 249)" };
            assert_eq!(seen["background"], background, "the style sheet is in force: {}", path.display());
            assert_eq!(seen["wide"], 0, "{} at {width} pixels", path.display());
            assert_eq!(seen["loaded"], Value::Array(Vec::new()));
            assert_eq!((&seen["doubled"], &seen["dangling"]), (&0.into(), &Value::Array(Vec::new())));
            assert_eq!(browser.console(), Vec::<Value>::new(), "{}", path.display());
        }
    }
}

#[test]
#[ignore = "needs chromedriver"]
fn the_numbers_are_those_of_the_report() {
    let browser = Browser::start();
    let directory = tempfile::tempdir().unwrap();
    let list = "corpora/samples/ldp_urls.txt";
    browser.open(&page(directory.path(), "ldp.html", &[list]));
    let report = fs::read_to_string("corpora/expected/samples/ldp_urls.txt.json").unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let texts = |selector: &str| -> Vec<String> {
        let script =
            format!("return [...document.querySelectorAll('{selector}')].map(e => e.textContent.trim())");
        names(&browser.run(&script)).into_iter().map(str::to_owned).collect()
    };
    let number = |value: &Value| grouped(value.as_u64().unwrap());
    assert_eq!(texts("h1"), [list]);
    assert_eq!(texts(".figures dd")[0], number(&report["totals"]["lines"]));

    let expected = report["grammars"].as_array().unwrap().iter();
    let expected: Vec<_> = expected.map(|row| [number(&row["accepted"]), number(&row["refused"])]).collect();
    assert_eq!(texts("#grammars td:nth-last-child(-n+2)"), expected.concat());

    let schemes = report["schemes"].as_array().unwrap().iter().take(16).map(|row| &row["lines"]);
    let expected: Vec<_> = schemes.map(number).collect();
    assert_eq!(texts("#schemes tr > td:nth-child(4)")[..expected.len()], expected);

    let defects = report["defects"].as_array().unwrap();
    let expected: Vec<_> = defects.iter().map(|row| number(&row["lines"])).collect();
    assert_eq!(texts("#refusals .count b"), expected);
    let marked = browser.run("return document.querySelector('#refusals mark').textContent");
    let first = &defects[0]["examples"][0];
    let [start, end] = [0, 1].map(|n| usize::try_from(first["mark"][n].as_u64().unwrap()).unwrap());
    assert_eq!(marked, first["text"].as_str().unwrap()[start..end]);

    let sets = report["verdict_sets"].as_array().unwrap();
    assert_eq!(
        texts("#verdicts td:last-child"),
        sets.iter().map(|set| number(&set["lines"])).collect::<Vec<_>>()
    );
    let ids = ["draft1993", "rfc1738", "rfc1808", "rfc2396", "rfc3986"];
    let mut expected = Vec::new();
    for accepts in ids {
        for refuses in ids.into_iter().filter(|&refuses| refuses != accepts) {
            let both = |set: &&Value| {
                let grammars = names(&set["grammars"]);
                grammars.contains(&accepts) && !grammars.contains(&refuses)
            };
            expected.push(grouped(sets.iter().filter(both).map(|set| set["lines"].as_u64().unwrap()).sum()));
        }
    }
    assert_eq!(texts("#disagreement tbody td:not(.same)"), expected);
}

#[test]
#[ignore = "needs chromedriver"]
fn records_are_those_of_the_report() {
    let browser = Browser::start();
    let directory = tempfile::tempdir().unwrap();
    let path =
        page(directory.path(), "records.html", &["tests/records/alb.log", "tests/records/objects.jsonl"]);
    browser.open(&path);
    let texts = |selector: &str| -> Vec<String> {
        let script =
            format!("return [...document.querySelectorAll('#records {selector}')].map(e => e.textContent)");
        names(&browser.run(&script)).into_iter().map(str::to_owned).collect()
    };
    // Inputs with refused records come first.
    assert_eq!(texts(".records bdi"), ["tests/records/objects.jsonl", "tests/records/alb.log"]);
    assert_eq!(texts(".records small"), ["jsonl", "alb"]);
    assert_eq!(texts(".records td"), ["30", "4", "2", "5", "1", "0"]);
    assert_eq!(
        texts(".warning"),
        ["1 bad-json: line 32, byte 13 of the record", "1 not-a-string: line 31, byte 9 of the record"]
    );
    assert_eq!(texts(".skipped"), ["Skipped: 1 blank, 3 no-field", "Skipped: 1 no-field"]);
    let report: Value = serde_json::from_slice(
        urlsift::internal::json_in_page(&fs::read(&path).unwrap()).expect("the page has the report in it"),
    )
    .unwrap();
    let fields: Vec<_> = [1, 0].map(|input| &report["inputs"][input]["records"]["fields"][0]).into();
    let judged: Vec<_> = fields.iter().map(|field| grouped(field["lines"].as_u64().unwrap())).collect();
    assert_eq!(texts(".bars td:nth-child(4)"), judged);
    assert_eq!(texts(".bars tbody th"), ["url 2 blank", "request"]);

    browser.open(&page(directory.path(), "list.html", &["corpora/samples/mosaic_1990s.txt"]));
    assert_eq!(texts("h2"), Vec::<String>::new());
}

#[test]
#[ignore = "needs chromedriver"]
fn a_click_shows_where_two_grammars_differ() {
    let browser = Browser::start();
    let directory = tempfile::tempdir().unwrap();
    browser.open(&page(directory.path(), "mosaic.html", &["corpora/samples/mosaic_1990s.txt"]));
    let shown = || {
        browser.run(
            "const panel = document.getElementById('rfc3986-not-rfc1738');
            return panel.checkVisibility() ? panel.innerText : null;",
        )
    };
    assert_eq!(shown(), Value::Null);
    browser.press("[popovertarget=rfc3986-not-rfc1738]");
    let text = shown();
    let text = text.as_str().unwrap().trim();
    assert!(text.starts_with("RFC 3986 accepts and RFC 1738 refuses 12 lines"), "{text}");
    assert!(text.contains("http://blargh.blah.:8001/"), "{text}");
    browser.press("#rfc3986-not-rfc1738 .close");
    assert_eq!(shown(), Value::Null);
    assert_eq!(browser.console(), Vec::<Value>::new());
}

#[test]
#[ignore = "needs chromedriver"]
fn hostile_data_stays_text() {
    let browser = Browser::start();
    let directory = tempfile::tempdir().unwrap();
    let name = "<img src=x onerror='window.fired=1'>\u{202e}&amp;.txt";
    let list = directory.path().join(name);
    let lines = [
        "http://a.example/<script>window.fired=1</script>",
        "http://a.example/\"><img src=x onerror=window.fired=1>",
        "<svg onload=window.fired=1>:x",
        "javascript:window.fired=1",
        "http://a.example/\u{202e}gpj.exe",
        "http://fred:hunter2@a.example/</script><script>window.fired=1</script>",
        "x</style><style>body{display:none}</style>",
        "http://a.example/{{ 7 * 7 }}",
    ];
    fs::write(&list, lines.join("\n")).unwrap();
    let missing = directory.path().join("<b>missing</b>\u{2066}");
    let paths = [list.to_str().unwrap(), missing.to_str().unwrap()];
    for grammar in ["draft1993", "rfc3986"] {
        let args = [&["-g", grammar][..], &paths].concat();
        let path = page(directory.path(), "hostile.html", &args);
        browser.open(&path);
        let seen = browser.run(
            "document.querySelectorAll('details').forEach(details => details.open = true);
            return {
                fired: window.fired ?? null,
                active: [...document.querySelectorAll('script, img, iframe, object, embed, link, form, base, svg [onload]')]
                    .map(element => element.outerHTML).filter(html => !html.startsWith('<script type=\"application/json\"')),
                styles: document.querySelectorAll('style').length,
                handlers: [...document.querySelectorAll('*')].flatMap(element => [...element.attributes])
                    .filter(attribute => attribute.name.startsWith('on') || attribute.name == 'style').length,
                elsewhere: [...document.querySelectorAll('[href], [src]')]
                    .filter(element => !(element.getAttribute('href') ?? '').startsWith('#')).length,
                turned: /[\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/.test(document.documentElement.outerHTML),
                text: document.body.innerText,
            }",
        );
        assert_eq!(seen["fired"], Value::Null);
        assert_eq!(seen["active"], Value::Array(Vec::new()));
        assert_eq!(
            (&seen["styles"], &seen["handlers"], &seen["elsewhere"]),
            (&1.into(), &0.into(), &0.into())
        );
        assert_eq!(seen["turned"], false);
        let text = seen["text"].as_str().unwrap();
        for expected in [
            "onerror='window.fired=1'>\\xe2\\x80\\xae&amp;.txt",
            "<b>missing</b>\\xe2\\x81\\xa6",
            "<script>window.fired=1</script>",
        ] {
            assert!(text.contains(expected), "{expected} is not in {text}");
        }
        assert!(!fs::read_to_string(&path).unwrap().contains("hunter2"));
        assert_eq!(browser.console(), Vec::<Value>::new());
    }
}

#[test]
fn the_whole_report_is_inside() {
    let directory = tempfile::tempdir().unwrap();
    // The lines of this list contain tags and scripts.
    let list = "corpora/hostile/page.html";
    let as_list = ["--input-format", "lines", list];
    let path = page(directory.path(), "report.html", &as_list);
    let report = |args: &[&str]| -> Value {
        let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
        let output = command.args(args).current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        let mut report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report.as_object_mut().unwrap().remove("run");
        report
    };
    let inside = report(&["render", "--format", "json", path.to_str().unwrap()]);
    assert_eq!(inside, report(&[&["--lengths", "--format", "json"], &as_list[..]].concat()));
}
