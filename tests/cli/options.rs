//! Short forms of options, quiet runs, endings of outputs, and help that cannot be written.

use std::fs;
use std::process::Stdio;

use super::{LIST, assert_refused, feed, folder_with, json, lasting, text, urlsift};

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/samples/mosaic_1990s.txt");

#[test]
fn json_is_short_for_the_format() {
    assert_eq!(lasting(&feed(&["--json"], LIST).stdout), lasting(&feed(&["--format", "json"], LIST).stdout));
    let rows = feed(&["lines", "--json"], LIST).stdout;
    assert_eq!(text(&rows), text(&feed(&["lines", "--format", "jsonl"], LIST).stdout));
    assert_eq!(json(&feed(&["causes", "--json"], b""))["schema"], "urlsift.causes/1");
    assert_refused(&feed(&["--json", "--format", "text"], LIST), "cannot be used with");
}

/// No name of a file on Windows has a colon.
#[cfg(unix)]
#[test]
fn a_report_says_when_and_how_it_was_made_unless_it_is_reproducible() {
    let directory = folder_with(&[("u:SECRET@h", LIST)]);
    let run =
        |args: &[&str]| urlsift().args(args).arg("u:SECRET@h").current_dir(&directory).output().unwrap();
    let found = &json(&run(&["--json"]))["run"];
    let date = found["date"].as_str().unwrap();
    assert!(date.len() == "2026-11-24T03:00:00Z".len() && date.starts_with("20") && date.ends_with('Z'));
    let command = found["command"].as_str().unwrap();
    assert!(command == "urlsift --json 'u:***@h'", "{command}");
    let page = run(&["--format", "html"]).stdout;
    assert!(text(&page).contains("urlsift --format html "));
    for format in ["json", "html"] {
        let args = ["--reproducible", "--format", format];
        let page = run(&args).stdout;
        assert_eq!(text(&page), text(&run(&[&args[..], &["-j1", "--kernel=portable"]].concat()).stdout));
        assert!(!text(&page).contains("portable"));
    }
}

/// The commands that the page shows, run by a shell.
#[cfg(unix)]
#[test]
fn commands_of_the_page_list_as_many_lines_as_the_page_counts() {
    let directory = tempfile::tempdir().unwrap();
    let list = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/samples/ldp_urls.txt");
    fs::copy(list, directory.path().join("it's a list")).unwrap();
    for (grammar, base) in [("rfc1738", "http://it's/"), ("rfc3986", "http://a/b|c")] {
        let run = |args: &[&str]| {
            urlsift().args(args).arg("it's a list").current_dir(&directory).output().unwrap().stdout
        };
        let page = run(&["--format", "html", "-g", grammar, "--whatwg", "--base", base]);
        let report: serde_json::Value =
            serde_json::from_slice(&run(&["--json", "-g", grammar, "--whatwg", "--base", base])).unwrap();
        let commands: Vec<_> = text(&page).split("<p class=\"command\"><code>").skip(1).collect();
        let command_of = |condition: &str| {
            let found = commands.iter().map(|rest| rest.split_once("</code>").unwrap().0);
            let unescape =
                |text: &str| text.replace("&#39;", "'").replace("&#34;", "\"").replace("&amp;", "&");
            let condition = format!("{condition} ");
            found
                .map(unescape)
                .find(|command| command.contains(&condition))
                .expect("the page has the command")
        };
        let n_rows = |condition: &str| {
            let command = command_of(condition).replacen("urlsift", env!("CARGO_BIN_EXE_urlsift"), 1);
            let output = std::process::Command::new("sh")
                .args(["-c", &command])
                .current_dir(&directory)
                .output()
                .unwrap();
            assert_eq!(text(&output.stderr), "", "{command}");
            text(&output.stdout).lines().count() as u64
        };
        for (rows, prefix) in [("defects", "defect"), ("advisories", "advisory")] {
            for row in report[rows].as_array().unwrap().iter().filter(|row| row["lines"] != 0) {
                let name = match row["component"].as_str() {
                    Some(component) => format!("{component}:{}", row["cause"].as_str().unwrap()),
                    None => row["name"].as_str().unwrap().to_owned(),
                };
                assert_eq!(n_rows(&format!("{prefix}={name}")), row["lines"], "{name}");
            }
        }
        for set in report["verdict_sets"].as_array().unwrap() {
            let names: Vec<_> =
                set["grammars"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join("+") };
            assert_eq!(n_rows(&format!("verdict={names}")), set["lines"], "{names}");
        }
        n_rows("--where rfc2396=accepted --where rfc3986=refused");
        let whatwg = &report["whatwg"];
        for error in whatwg["errors"].as_array().unwrap() {
            let name = error["name"].as_str().unwrap();
            assert_eq!(n_rows(&format!("whatwg_error={name}")), error["lines"], "{name}");
        }
    }
}

/// They have the options of the scan, and a directory stays a directory.
#[test]
#[cfg(unix)]
fn commands_of_the_page_select_what_the_scan_did() {
    let table = "id,url,ref\n1,http://a.example/,http://x/ y\n2,http://b.example/,http://x/ z\n";
    let tables = ["a.csv", "b.csv", "c.csv", "d.csv", "-e.csv"].map(|name| (name, table));
    let directory = folder_with(&[&tables[..], &[("f.txt", "a b\n")]].concat());
    for (args, lines) in [
        (&["--field", "ref", "a.csv"][..], 2),
        (&["--field", "3", "--input-format", "csv", "--glob", "*.csv", "."], 10),
        (&["--field", "ref", "--", "-e.csv"], 2),
        // These are so long that the page has them once.
        (
            &[
                "--field", "3", "--input-format", "csv", "--glob", "*.csv", "--glob",
                "!e of which there is none.csv", ".",
            ],
            10,
        ),
    ] {
        let page =
            urlsift().args(["--format", "html"]).args(args).current_dir(&directory).output().unwrap().stdout;
        let start = "<code>urlsift lines --where defect=path:space ";
        let rest = text(&page).split_once(start).unwrap_or_else(|| panic!("{args:?}")).1;
        let unescape = |text: &str| text.replace("&#39;", "'").replace("&#34;", "\"");
        let words = unescape(rest.split_once("</code>").unwrap().0);
        let arguments =
            text(&page).split_once("<code>set --").map(|(_, rest)| rest.split_once("</code>").unwrap().0);
        assert_eq!(arguments.is_some(), args.len() > 7);
        let arguments = unescape(arguments.unwrap_or(""));
        let urlsift = env!("CARGO_BIN_EXE_urlsift");
        let command = format!("set --{arguments}; {urlsift} lines -q --where defect=path:space {words}");
        let output =
            std::process::Command::new("sh").args(["-c", &command]).current_dir(&directory).output().unwrap();
        assert_eq!(text(&output.stdout).lines().count(), lines, "{command}: {}", text(&output.stderr));
    }
    // No command lists a range.
    let page = urlsift()
        .args(["--format", "html", "--range", "0:2", "f.txt"])
        .current_dir(&directory)
        .output()
        .unwrap();
    assert!(!text(&page.stdout).contains("urlsift lines"));
}

#[test]
fn digits_name_a_grammar() {
    for (digits, name) in [
        ("1993", "draft1993"),
        ("1738", "rfc1738"),
        ("1808", "rfc1808"),
        ("2396", "rfc2396"),
        ("3986", "rfc3986"),
    ] {
        let report = json(&feed(&["--json", "-g", digits], LIST));
        assert_eq!(report["grammar"], name);
        let rows = |grammar| feed(&["split", "-q", "-r", "-", "-g", grammar], LIST).stdout;
        assert_eq!(rows(digits), rows(name));
    }
    assert_refused(&feed(&["-g", "398"], LIST), "rfc3986");
}

#[test]
fn quiet_leaves_errors_and_no_warnings() {
    let table = b"id,url\n1,http://a/\n2\n";
    assert!(text(&feed(&[], table).stderr).contains("read as csv"));
    for args in [&["-q"][..], &["lines", "-q"], &["split", "-q", "-a", "-"]] {
        assert_eq!(text(&feed(args, table).stderr), "", "{args:?}");
        let output = urlsift().args(args).arg("no/such/file").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with("urlsift: no/such/file: "), "{args:?}");
    }
}

#[test]
fn top_lists_have_20_names_by_default() {
    let hosts = (0..30).map(|n| format!("http://h{n}/")).collect::<Vec<_>>().join("\n");
    let report = json(&feed(&["--json", "--top", "hosts"], hosts.as_bytes()));
    let same = json(&feed(&["--json", "--top", "hosts=20"], hosts.as_bytes()));
    assert_eq!((&report["top"], &report["digest"]), (&same["top"], &same["digest"]));
    assert_eq!(report["top"].to_string().matches("\"lines\":1,").count(), 20);
}

/// The command in the warning counts them.
#[test]
#[cfg(unix)]
fn a_list_of_bare_hosts_has_no_hosts_and_is_told_why() {
    let folder = folder_with(&[("a list", "a.example\nb.example\na.example\nhttp://c d/\n")]);
    for (top, most_frequent) in [("hosts", "a.example"), ("tlds", "example")] {
        let output = urlsift().args(["--top", top, "a list"]).current_dir(&folder).output().unwrap();
        assert!(
            text(&output.stdout).contains("\n  (no accepted line has one)\n"),
            "{}",
            text(&output.stdout)
        );
        let (why, command) = text(&output.stderr).split_once("; if they are hosts themselves: ").unwrap();
        assert_eq!(why, "urlsift: lines without a scheme have no host: 3 of 4");
        let command = command.replace("urlsift", env!("CARGO_BIN_EXE_urlsift"));
        let command = format!("{} --json", command.trim_end());
        let counted =
            std::process::Command::new("sh").args(["-c", &command]).current_dir(&folder).output().unwrap();
        let first = &json(&counted)["top"][0]["entries"][0];
        assert_eq!(first["name"], most_frequent, "{command}");
    }
    // Lines of a table are no hosts.
    let table = feed(&["--top", "hosts"], b"1,a.example\n2,b.example\n3,c.example\n");
    assert!(!text(&table.stderr).contains("sed"), "{}", text(&table.stderr));
    let page = feed(&["--top", "hosts", "--format", "html"], b"a.example\n").stdout;
    assert!(text(&page).contains("No accepted line has one."));
    assert_eq!(text(&feed(&["--top", "hosts"], b"mailto:a@b\nhttp://a b/\n/c\n").stderr), "");
    assert_eq!(text(&feed(&["--top", "hosts"], b"/a\n/b\n//h/\n").stderr), "");
}

#[test]
fn an_output_with_an_unknown_ending_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let run =
        |args: &[&str]| urlsift().args(args).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
    let report = folder.path().join("r.json");
    assert!(run(&[SAMPLE, "-o", "r.json"]).status.success());
    for args in
        [&["-o", "x.csv", SAMPLE][..], &["render", "r.json", "-o", "x.csv"], &["-o", "x.json.gz", SAMPLE]]
    {
        let why =
            "no format has this ending, only .txt, .text, .json, .html, .htm, .partial; --format chooses one";
        assert_refused(&run(args), why);
    }
    let output = run(&["lines", SAMPLE, "-o", "x.csv"]);
    assert!(text(&output.stderr).contains("only .tsv, .txt, .jsonl; --format"), "{}", text(&output.stderr));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "nothing was written");
    assert!(run(&[SAMPLE, "-o", "x.csv", "--json"]).status.success());
    assert_eq!(lasting(&fs::read(folder.path().join("x.csv")).unwrap()), lasting(&fs::read(report).unwrap()));
    assert!(run(&["lines", SAMPLE, "-o", "x.jsonl"]).status.success());
    assert!(fs::read(folder.path().join("x.jsonl")).unwrap().starts_with(b"{\"line\":1,"));
}

#[test]
fn merge_and_render_say_what_a_file_is_that_they_do_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| urlsift().args(args).current_dir(&folder).output().unwrap();
    assert!(run(&[SAMPLE, "-o", "r.json"]).status.success());
    assert!(run(&[SAMPLE, "-o", "r.partial"]).status.success());
    for (args, why) in [
        (
            ["merge", SAMPLE],
            ": not a partial report; urlsift merge reads what --format partial writes; nothing was",
        ),
        (
            ["merge", "r.json"],
            "r.json: a finished report, which cannot be merged any more; urlsift merge reads what",
        ),
        (["render", SAMPLE], ": not a report; urlsift render reads what --format json or html writes"),
        (["render", "r.partial"], "r.partial: a partial report; urlsift merge makes a report of it"),
        (["render", "/dev/null"], "/dev/null: not a report; "),
    ] {
        assert_refused(&run(&args), why);
    }
}

#[test]
#[cfg(target_os = "linux")]
fn help_that_cannot_be_written_is_an_error() {
    for args in [&["--help"][..], &["-h"], &["lines", "--help"], &["-V"]] {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let output = urlsift().args(args).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
        let output = output.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).starts_with("urlsift: standard output: No space left"), "{args:?}");
    }
}

#[test]
#[cfg(unix)]
fn a_terminal_shows_how_long_a_scan_took() {
    let shown = |args: &[&str]| {
        let mut command = urlsift();
        command.arg(SAMPLE).args(args);
        let (status, shown) = super::terminal::Terminal::start(command, None, Some(Stdio::null())).end();
        assert_eq!(status, Some(0));
        shown
    };
    let line = shown(&["--json"]);
    assert!(line.starts_with("urlsift: 68 lines, 2.72 kB in 0.") && line.ends_with("B/s)\r\n"), "{line}");
    assert_eq!((shown(&["-q"]), shown(&["--no-progress"])), (String::new(), String::new()));
    assert_eq!(text(&urlsift().arg(SAMPLE).output().unwrap().stderr), "", "not in scripts");
}
