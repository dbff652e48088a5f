//! Tests of the command as users run it: pipes, errors, exit statuses, rows, and no raw bytes on a terminal.

mod base;
mod by_input;
mod columns;
mod contents;
mod filter;
mod gate;
mod hosts;
mod inputs;
#[cfg(unix)]
mod interrupt;
mod long_lines;
#[cfg(target_os = "linux")]
mod mapping;
mod mistakes;
mod options;
mod parts;
mod passwords;
#[cfg(unix)]
mod pre;
#[cfg(unix)]
mod progress;
mod raw_bytes;
mod records;
mod rows;
mod shapes;
#[cfg(unix)]
mod terminal;
mod wanted_fields;
mod whatwg;
mod whatwg_report;
#[cfg(windows)]
mod windows;

use std::fs;
use std::io::{Read, Write};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use urlsift::grammar::public_suffix::SuffixList;
use urlsift::internal::run::KernelId;
use urlsift::report::Report;

use crate::support::{fed, folder_with, json, text};

fn urlsift() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
    command.env("LC_ALL", "C");
    command
}

/// Runs the command with `input` on its standard input.
fn feed(args: &[&str], input: &[u8]) -> Output {
    fed(urlsift().args(args), input)
}

/// Asserts that the command refuses what it is told to do: it fails, writes nothing, and says why.
#[track_caller]
fn assert_refused(output: &Output, why: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{why}: {said}");
    assert!(said.contains(why), "{why}: {said}");
}

/// The names of the inputs in a report, with "/" between their directories.
fn names(output: &Output) -> Vec<String> {
    let name = |input: &Value| with_slashes(input["name"].as_str().unwrap());
    json(output)["inputs"].as_array().unwrap().iter().map(name).collect()
}

/// A path with "/" between its directories on every system.
fn with_slashes(path: &str) -> String {
    path.replace(std::path::MAIN_SEPARATOR, "/")
}

/// A report without the field `run`.
fn lasting(report: &[u8]) -> Report {
    let mut report = Report::from_json(report).unwrap();
    assert!(report.run.take().is_some());
    report
}

const LIST: &[u8] =
    b"http://example.org/\nftp://fred:secret@example.org/a;b\n\n/a b\r\nHTTPS://example.org:8443/~x\n";

/// Reports, and rows with columns that show the data.
const SHOWN: [&[&str]; 4] = {
    const ALL: &str = "input,line,offset,length,verdict,kind,scheme,defect,advisories,text,field,resolved";
    [
        &["--color", "never"],
        &["--format", "json"],
        &["lines", "--mask-passwords", "--base", "http://u:hunter2@h/", "--columns", ALL],
        &["lines", "--mask-passwords", "--base", "x:", "--format", "jsonl", "--columns", ALL],
    ]
};

#[test]
fn json_report_has_all_parts_and_they_add_up() {
    let output = feed(&["--format", "json"], LIST);
    assert_eq!(output.status.code(), Some(0));
    let report = json(&output);
    assert_eq!(report["schema"], "urlsift.report/2");
    assert_eq!(report["complete"], true);
    assert_eq!(report["totals"]["lines"], 5);
    assert_eq!(report["totals"]["bytes"], LIST.len());
    assert_eq!(report["totals"]["blank"], 1);
    assert_eq!(report["totals"]["cr"], 1);
    for grammar in report["grammars"].as_array().unwrap() {
        assert_eq!(grammar["accepted"].as_u64().unwrap() + grammar["refused"].as_u64().unwrap(), 4);
    }
    let sum =
        |list: &Value| list.as_array().unwrap().iter().map(|row| row["lines"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum(&report["verdict_sets"]), 4);
    assert_eq!(sum(&report["schemes"]) + report["relative"]["lines"].as_u64().unwrap(), 4);
    assert_eq!(report["schemes"][0]["accepted"]["rfc3986"], 1);
    assert_eq!(report["defects"][0]["component"], "path");
    assert_eq!(report["defects"][0]["cause"], "space");
    assert_eq!(report["defects"][0]["examples"][0]["line"], 4);
    assert_eq!(report["defects"][0]["examples"][0]["offset"], 2);
    assert_eq!(report["advisories"][0]["name"], "password");
    assert_eq!(report["inputs"][0]["name"], "-");
    assert_eq!(report["inputs"][0]["error"], Value::Null);
}

#[test]
fn lines_default_columns() {
    let output = feed(&["lines"], LIST);
    assert_eq!(output.status.code(), Some(0));
    let expected = "\
1\tdraft1993,rfc1738,rfc1808,rfc2396,rfc3986\t-\thttp://example.org/
2\trfc1808,rfc2396,rfc3986\t-\tftp://fred:secret@example.org/a;b
3\t-\t-\t-
4\tnone\tpath:space@2\t/a b
5\trfc2396,rfc3986\t-\tHTTPS://example.org:8443/~x
";
    assert_eq!(text(&output.stdout), expected);
}

#[test]
fn lines_columns_and_forms() {
    let columns = "input,line,length,defect,advisories,text";
    let output =
        feed(&["lines", "--columns", columns, "--header", "-g", "rfc1738", "--mask-passwords"], LIST);
    let expected = "\
input\tline\tlength\tdefect\tadvisories\ttext
-\t1\t19\t-\tnone\thttp://example.org/
-\t2\t33\tpath:character-not-allowed@32\tpassword\tftp://fred:***@example.org/a;b
-\t3\t-\t-\t-\t-
-\t4\t4\tscheme:missing-component@0\tnone\t/a b
-\t5\t27\tschemepart:illegal-character@25\tport-nondefault\tHTTPS://example.org:8443/~x
";
    assert_eq!(text(&output.stdout), expected);
    let output =
        feed(&["lines", "--columns", "line,verdict,defect,advisories,text", "--format", "jsonl"], LIST);
    let rows: Vec<Value> =
        text(&output.stdout).lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(rows[1]["text"], "ftp://fred:secret@example.org/a;b");
    assert_eq!(rows[1]["verdict"], serde_json::json!(["rfc1808", "rfc2396", "rfc3986"]));
    assert_eq!((&rows[2]["verdict"], &rows[2]["advisories"]), (&Value::Null, &Value::Null));
    assert_eq!(
        (&rows[3]["verdict"], &rows[3]["advisories"]),
        (&serde_json::json!([]), &serde_json::json!([]))
    );
    assert_eq!(rows[3]["defect"], "path:space@2");
}

#[test]
fn lines_only() {
    for (only, lines) in [("accepted", "1\n2\n5\n"), ("refused", "4\n")] {
        let output = feed(&["lines", "--columns", "line", "--only", only], LIST);
        assert_eq!(text(&output.stdout), lines, "blank lines are neither");
    }
}

#[test]
fn rows_are_in_order_for_any_number_of_threads() {
    let list = format!("{}/corpora/samples/ldp_urls.txt", env!("CARGO_MANIFEST_DIR"));
    let run = |args: &[&str]| urlsift().arg("lines").args(args).arg(&list).output().unwrap().stdout;
    let one = run(&["-j1"]);
    assert_eq!(one.split(|&byte| byte == b'\n').count(), 16_464);
    assert!(run(&["-j2", "--shard-size", "1000"]) == one);
    assert!(run(&["-j7", "--shard-size", "77"]) == one);
}

#[test]
fn directories_are_walked_in_order() {
    let folder = folder_with(&[("c", "http://h/\n"), ("b/z", "x:y\n"), ("b/a", "\n"), ("a", "")]);
    let output = urlsift().args(["--format", "json", "."]).current_dir(&folder).output().unwrap();
    assert_eq!(names(&output), ["./a", "./b/a", "./b/z", "./c"]);
    assert_eq!(json(&output)["totals"]["lines"], 3);
}

#[test]
fn one_unreadable_input_does_not_stop_the_rest() {
    let folder = folder_with(&[("good", LIST)]);
    for command in [&[][..], &["lines"]] {
        let output = urlsift()
            .args(command)
            .args(["missing", "good", "gone/x"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let errors = text(&output.stderr);
        assert!(errors.contains("urlsift: missing: ") && errors.contains("urlsift: gone/x: "), "{errors}");
        assert!(!output.stdout.is_empty());
    }
    let output =
        urlsift().args(["--format", "json", "missing", "good"]).current_dir(&folder).output().unwrap();
    let report = json(&output);
    assert_eq!(report["complete"], false);
    assert_eq!(report["totals"]["lines"], 5);
    assert!(report["inputs"][0]["error"].is_string() && report["inputs"][1]["error"].is_null());
    let output = urlsift().args(["missing", "good"]).current_dir(&folder).output().unwrap();
    assert!(text(&output.stdout).contains("INCOMPLETE"));
}

#[test]
fn output_files_appear_whole() {
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("report.json");
    let output = feed(&["--format", "json", "-o", target.to_str().unwrap()], LIST);
    assert!(output.status.success() && output.stdout.is_empty());
    let report = fs::read(&target).unwrap();
    assert_eq!(lasting(&report), lasting(&feed(&["--format", "json"], LIST).stdout));
    // A failure keeps the existing file and leaves no other.
    let output = feed(&["-o", folder.path().join("no/such/place").to_str().unwrap()], LIST);
    assert_refused(&output, "no/such/place");
    assert_eq!(fs::read(&target).unwrap(), report);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    let output = feed(&["lines", "--format", "tsv", "-o", target.to_str().unwrap()], LIST);
    assert!(output.status.success());
    assert!(fs::read_to_string(&target).unwrap().starts_with("1\tdraft1993,"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    for args in [&[][..], &["lines"], &["--format", "json"]] {
        for to in ["standard output", "/dev/full"] {
            let mut command = urlsift();
            command.args(args).stdin(Stdio::piped()).stderr(Stdio::piped());
            match to {
                "/dev/full" => command.args(["-o", to]),
                _ => command.stdout(fs::File::options().write(true).open("/dev/full").unwrap()),
            };
            let mut child = command.spawn().unwrap();
            child.stdin.take().unwrap().write_all(LIST).unwrap();
            let output = child.wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(2), "{args:?} {to}");
            assert!(text(&output.stderr).starts_with("urlsift: "), "{output:?}");
        }
    }
}

#[test]
fn a_closed_pipe_ends_without_an_error() {
    let list = format!("{}/corpora/samples/top100.txt", env!("CARGO_MANIFEST_DIR"));
    let mut child =
        urlsift().args(["lines", &list]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 10];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut first).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

#[test]
fn rows_are_written_as_lines_arrive() {
    let mut child = urlsift().arg("lines").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    for n in 1..4 {
        stdin.write_all(b"http://h/\n").unwrap();
        let expected = format!("{n}\tdraft1993,rfc1738,rfc1808,rfc2396,rfc3986\t-\thttp://h/\n");
        let mut record = vec![0; expected.len()];
        stdout.read_exact(&mut record).unwrap();
        assert_eq!(text(&record), expected);
    }
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn empty_input_has_no_lines() {
    let report = json(&feed(&["--format", "json"], b""));
    assert_eq!((&report["totals"]["lines"], &report["complete"]), (&Value::from(0), &Value::from(true)));
    assert!(text(&feed(&[], b"").stdout).contains("0 lines"));
    assert!(feed(&["lines"], b"").stdout.is_empty());
}

#[test]
fn explain_shows_what_is_wrong() {
    let output = urlsift().args(["explain", "http://example.org/?a/b"]).output().unwrap();
    let shown = text(&output.stdout);
    assert!(shown.contains("query      a/b"), "{shown}");
    assert!(
        shown.contains(
            "rfc1738    refuses: \"/\" is not allowed here in the query (query:character-not-allowed@21)"
        ),
        "{shown}"
    );
    assert!(shown.contains("search         = *[ uchar | \";\" | \":\" | \"@\" | \"&\" | \"=\" ]"), "{shown}");
    assert!(shown.contains("(RFC 1738, section 5)") && shown.contains("rfc3986    accepts"), "{shown}");
    let caret = shown.lines().find(|line| line.trim() == "^").unwrap().find('^');
    let slash = shown.lines().find(|line| line.starts_with("             http")).unwrap().rfind('/');
    assert_eq!(caret, slash);
    assert!(urlsift().args(["explain", "", "--", "-x:y"]).output().unwrap().status.success());
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_for_any_input() {
    // Ordinary lines, followed by an endless one. Nothing of it may be kept.
    let mut child = urlsift()
        .args(["--format", "json", "-j2"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let lines = b"http://user:secret@example.org:8080/some/path?with=a+query%00\n".repeat(16_000);
    for _ in 0..200 {
        stdin.write_all(&lines).unwrap();
    }
    let endless = vec![b'a'; 1 << 20];
    for _ in 0..400 {
        stdin.write_all(&endless).unwrap();
    }
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    assert!(peak < 200 << 10, "{peak} kB for 600 MB");
    drop(stdin);
    let report = json(&child.wait_with_output().unwrap());
    assert_eq!(report["totals"]["lines"], 200 * 16_000 + 1);
    assert_eq!(report["complete"], true);
}

/// On a busy machine, each yield gives a whole time slice to another process.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_wait_do_not_yield() {
    let folder = folder_with(&[("urls", "http://h/\n".repeat(200_000))]);
    for args in [&["lines", "-j2"][..], &["split", "-j2", "-a", "accepted"]] {
        let mut strace = Command::new("strace");
        strace.current_dir(&folder).args(["-f", "-qq", "-e", "trace=sched_yield", "-o", "trace"]);
        strace
            .arg(env!("CARGO_BIN_EXE_urlsift"))
            .args(args)
            .arg("urls")
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if !strace.status().is_ok_and(|status| status.success()) {
            eprintln!("LEFT OUT: no strace");
            return;
        }
        let trace = fs::read_to_string(folder.path().join("trace")).unwrap();
        assert_eq!(trace.matches("sched_yield").count(), 0, "{args:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn few_files_are_open_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..100 {
        fs::write(folder.path().join(format!("empty{n}")), "").unwrap();
        fs::write(folder.path().join(format!("full{n}")), "http://h/\n").unwrap();
    }
    let command = format!("ulimit -n 40; exec {} --format json -j2 .", env!("CARGO_BIN_EXE_urlsift"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(&folder).output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_eq!(json(&output)["totals"]["lines"], 100);
}

#[test]
fn unwritable_outputs_fail_before_the_scan() {
    let output = feed(&["-o", "/no/such/place/report"], b"");
    assert_eq!(
        text(&output.stderr),
        "urlsift: /no/such/place/report: the directory to put it in does not exist\n"
    );
    let output = feed(&["lines", "--header", "--format", "jsonl"], LIST);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn schemes_have_labels() {
    let report = json(&feed(&["--format", "json"], b"afs://h/\nx-dev:a\nhttp://h/\n"));
    let label = |name: &str| {
        let schemes = report["schemes"].as_array().unwrap();
        schemes.iter().find(|scheme| scheme["name"] == name).unwrap()["label"].clone()
    };
    assert_eq!(
        (label("afs"), label("x-dev"), label("http")),
        ("reserved".into(), "experimental".into(), Value::Null)
    );
}

#[test]
fn very_long_lines_have_one_defect_and_no_password() {
    let long = "a".repeat(70_000);
    for (line, grammar) in [
        (format!("x:{long}?q "), "rfc1808"),
        (format!("http://h/{long}?q "), "rfc1808"),
        (format!("http://{long}:80%"), "rfc3986"),
        (format!("http://{long}:80 "), "rfc2396"),
        (format!("{long}:80 "), "draft1993"),
    ] {
        for size in ["1000000", "1000"] {
            let report =
                json(&feed(&["--format", "json", "-g", grammar, "--line-size", size], line.as_bytes()));
            let defect = &report["defects"][0];
            let found = format!(
                "{}:{}@{}\n",
                defect["component"].as_str().unwrap(),
                defect["cause"].as_str().unwrap(),
                defect["examples"][0]["offset"]
            );
            let lines = feed(&["lines", "-g", grammar, "--columns", "defect"], line.as_bytes());
            assert_eq!(found, text(&lines.stdout), "{grammar} {size}");
        }
    }
    for line in [
        format!("http://{long}:hunter2@h/ x"),
        format!("http://u:hunter2{long}@h/"),
        format!("http://u:x@{long}hunter2@h /"),
    ] {
        for args in [
            &["--format", "json"][..],
            &[],
            &["--format", "json", "--line-size", "999"],
            &["lines", "-c", "text", "--mask-passwords"],
        ] {
            let output = feed(args, line.as_bytes());
            assert!(!text(&output.stdout).contains("hunter2"), "{args:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn pipes_are_opened_in_turn() {
    let folder = tempfile::tempdir().unwrap();
    let command = "mkfifo a b; (yes http://h/ | head -n 100000 >a; echo http://h/ >b) & exec timeout 60 \"$0\" --format json a b";
    let output = Command::new("sh")
        .args(["-c", command, env!("CARGO_BIN_EXE_urlsift")])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(json(&output)["totals"]["lines"], 100_001);
}

#[cfg(target_os = "linux")]
#[test]
fn file_names_are_escaped_and_stay_distinct() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"a\x1b[31m"[..], b"\xff", b"\xfe", "b\u{202e}\u{e9}".as_bytes()] {
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "http://h/\n").unwrap();
    }
    let output = urlsift().args(["--format", "json", "."]).current_dir(&folder).output().unwrap();
    let found = names(&output);
    assert_eq!(found, ["./a\\x1b[31m", "./b\\xe2\\x80\\xae\u{e9}", "./\\xfe", "./\\xff"]);
    let output = urlsift().args(["lines", "--columns", "input", "."]).current_dir(&folder).output().unwrap();
    assert_eq!(text(&output.stdout).lines().collect::<Vec<_>>(), found);
}

#[cfg(unix)]
#[test]
fn output_follows_links_and_keeps_permissions() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::create_dir(at("sub")).unwrap();
    symlink("sub/new", at("link")).unwrap();
    assert!(feed(&["-o", at("link").to_str().unwrap()], LIST).status.success());
    assert!(at("sub/new").is_file() && at("link").is_symlink());
    fs::set_permissions(at("sub/new"), fs::Permissions::from_mode(0o664)).unwrap();
    assert!(feed(&["-o", at("link").to_str().unwrap()], LIST).status.success());
    assert_eq!(fs::metadata(at("sub/new")).unwrap().permissions().mode() & 0o777, 0o664);
    let log = "echo earlier >log; \"$0\" -o /dev/stdout sub/new >>log; grep -c earlier log";
    let output = Command::new("sh")
        .args(["-c", log, env!("CARGO_BIN_EXE_urlsift")])
        .current_dir(&folder)
        .output()
        .unwrap();
    assert_eq!(text(&output.stdout), "1\n");
}

#[test]
fn an_unavailable_kernel_is_an_error() {
    let output = feed(&["--kernel", "mmx"], LIST);
    for kernel in KernelId::available() {
        assert_refused(&output, kernel.name());
    }
    for kernel in KernelId::ALL.iter().filter(|kernel| !kernel.is_available()) {
        let output = feed(&["--kernel", kernel.name()], LIST);
        assert_eq!(output.status.code(), Some(2), "{kernel}");
    }
}

#[test]
fn the_version_says_which_kernel_standard_and_list() {
    let version = concat!("urlsift ", env!("CARGO_PKG_VERSION"), "\n");
    let kernels: Vec<_> = KernelId::available().map(KernelId::name).collect();
    let kernels = format!("kernel: {} (of {})\n", KernelId::best(), kernels.join(", "));
    let list = format!("Public Suffix List {}\n", SuffixList::built_in().version());
    let expected = format!("{version}{kernels}WHATWG URL Standard {}\n{list}", urlsift::whatwg::STANDARD);
    for flag in ["-V", "--version"] {
        let output = feed(&[flag], b"");
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), &*expected));
    }
}

#[test]
fn bench_measures_every_kernel_of_the_machine() {
    let args = ["bench", "--rounds", "2", "-j", "3", "--size", "5000", "--format", "json"];
    let output = feed(&[&args[..], &["-"]].concat(), LIST);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let results = json(&output);
    assert_eq!(results["schema"], "urlsift.bench/2");
    let corpus = &results["corpus"];
    let bytes = corpus["bytes"].as_u64().unwrap();
    assert!(bytes > 4900 && bytes <= 5000, "{bytes}");
    assert_eq!((&corpus["name"], &corpus["grown_from"]), (&"-".into(), &LIST.len().into()));
    let lines = corpus["lines"].as_u64().unwrap();
    assert!(lines > 5 * (bytes / LIST.len() as u64) - 1, "{lines}");
    let sets = results["verdict_sets"].as_array().unwrap();
    let judged = sets.iter().map(|set| set["lines"].as_u64().unwrap()).sum::<u64>();
    assert_eq!(judged + corpus["blank"].as_u64().unwrap(), lines);
    assert_eq!(sets.len(), 4);
    let runs = results["runs"].as_array().unwrap();
    let mut kernels = vec![Value::Null; 2];
    kernels.extend(KernelId::available().map(|kernel| Value::from(kernel.name())));
    for (group, threads) in runs.chunks(kernels.len()).zip([1, 2, 3]) {
        assert_eq!(group.iter().map(|run| run["kernel"].clone()).collect::<Vec<_>>(), kernels);
        assert_eq!(group[1]["name"], "memchr split");
        assert_eq!(group[1]["of_split"]["median"], 1.0);
        for run in group {
            assert_eq!(run["threads"], threads);
            assert_eq!(run["nanoseconds"].as_array().unwrap().len(), 2);
            assert!(run["gigabytes_per_second"]["median"].as_f64().unwrap() > 0.0);
        }
        for run in &group[2..] {
            let path_counts = ["bulk", "listed"].map(|way| run["path_counts"][way].as_u64().unwrap());
            assert_eq!(path_counts.iter().sum::<u64>(), judged);
        }
    }
    assert_eq!(runs.len(), 3 * kernels.len());
}

#[test]
fn bench_has_a_sample_and_a_table() {
    let output = feed(&["bench", "--rounds", "1", "-j1", "--size", "64k", "--columns", "host,path"], b"");
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let shown = text(&output.stdout);
    let head = concat!("urlsift ", env!("CARGO_PKG_VERSION"), " bench   the built-in sample   65,");
    assert!(shown.starts_with(head), "{shown}");
    let rows = ["memchr count", "memchr split", "portable", "columns"];
    assert!(rows.iter().all(|row| shown.contains(&format!("\n{row}"))), "{shown}");
    assert!(shown.lines().count() < 30, "{shown}");
}

#[test]
fn bench_cuts_large_inputs_and_names_errors() {
    let output = feed(&["bench", "--rounds", "1", "-j1", "--size", "40", "-"], LIST);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stderr), "urlsift: measuring on the first 20 bytes of -; --size takes more\n");
    for (args, why) in [
        (&["--size", "10", "-"][..], "urlsift: -: no line ends in the first 10 bytes; --size takes more\n"),
        (&["no/such/file"], "urlsift: no/such/file: "),
        (
            &["--size", "3"],
            "urlsift: the built-in sample: no line ends in the first 3 bytes; --size takes more\n",
        ),
        (&["--size", "1.5G"], "error: invalid value '1.5G'"),
        (&["--rounds", "0"], "error: invalid value '0'"),
    ] {
        let output = feed(&[&["bench"], args].concat(), LIST);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""), "{args:?}");
        assert!(text(&output.stderr).starts_with(why), "{}", text(&output.stderr));
    }
}

#[test]
fn optional_counts_are_reported() {
    let args =
        ["--format", "json", "--lengths", "--top", "hosts=1", "--top", "ports=9", "--top", "schemes=2"];
    let report = json(&feed(&[&args[..], &["--distinct", "lines", "--distinct", "hosts"]].concat(), LIST));
    assert_eq!((&report["lengths"]["min"], &report["lengths"]["max"]), (&4.into(), &33.into()));
    assert_eq!(report["lengths"]["longest"]["line"], 2);
    let top = |n: usize| text(report["top"][n].to_string().as_bytes()).to_owned();
    assert!(
        top(0).contains(r#"[{"lines":3,"name":"example.org"}],"exact":true,"max_error":0,"of":"hosts""#),
        "{}",
        top(0)
    );
    assert!(top(1).contains(r#"[{"lines":1,"name":"ftp"},{"lines":1,"name":"http"}]"#), "{}", top(1));
    assert!(top(2).contains(r#"[{"lines":1,"name":"8443"}]"#), "{}", top(2));
    assert_eq!(
        (&report["distinct"][0]["estimate"], &report["distinct"][1]["estimate"]),
        (&1.into(), &4.into())
    );
    let plain = json(&feed(&["--format", "json"], LIST));
    assert!(plain["lengths"].is_null() && plain["top"] == Value::Array(Vec::new()));
    for (wrong, why) in [("hosts=", "how many is a number"), ("hozts=3", "did you mean hosts?")] {
        assert_refused(&feed(&["--top", wrong], LIST), why);
    }
}
