//! Hosts and domains: conditions of `--where`, counts of reports, another list of public suffixes, and `explain`.

use std::collections::BTreeMap;
use std::fs;
use std::io::BufRead;

use serde_json::{Value, json as value};

use super::{assert_refused, feed, folder_with, json, text, urlsift};

const LIST: &[u8] =
    b"http://a.b.example/1\nhttp://A.B.Example.:80/\nhttp://x.example.co.uk/\nhttp://192.0.2.1/\n/path\n\
    http://a_.b.example/ refused\nhttp://%61.b.example/4\n";

/// A list with one rule.
const RULES: &str = "// VERSION: mine\n// ===BEGIN ICANN DOMAINS===\nb.example\n// ===END ICANN DOMAINS===\n";

#[test]
fn hosts_domains_and_lists_of_names_select_lines() {
    let folder = tempfile::tempdir().unwrap();
    let (names, rules) = (folder.path().join("names, more.txt"), folder.path().join("rules.dat"));
    fs::write(&names, "# blocked\nB.example\n192.0.2.1 # an address\n").unwrap();
    fs::write(&rules, format!("\u{feff}{RULES}")).unwrap();
    let (names, rules) = (names.to_str().unwrap(), rules.to_str().unwrap());
    for (condition, lines) in [
        ("host=a.b.example", "1 2 7"),
        ("host=A.B.EXAMPLE.,192.0.2.1", "1 2 4 7"),
        ("host=192.0.2.1,127.1,a..b", "4"),
        ("host=a.b.example,-", "1 2 5 7"),
        ("domain=b.example", "1 2 6 7"),
        ("domain=example.co.uk,b.example", "1 2 3 6 7"),
        (&format!("host-in={names}"), "1 2 4 6 7"),
        (&format!("host-not-in={names}"), "3 5"),
    ] {
        let rows = feed(&["lines", "-c", "line", "--where", condition], LIST);
        assert_eq!(text(&rows.stdout).split_whitespace().collect::<Vec<_>>().join(" "), lines, "{condition}");
        let split = feed(&["split", "-m", "-", "--where", condition], LIST);
        assert_eq!(text(&split.stdout).lines().count(), lines.split(' ').count(), "{condition}");
    }
    let rows = feed(&["lines", "-c", "line,domain", "--psl", rules, "--where", "domain=a.b.example"], LIST);
    assert_eq!(text(&rows.stdout), "1\ta.b.example\n2\ta.b.example\n7\ta.b.example\n");
}

/// Each cell of a column selects the lines that have it.
#[test]
fn cells_of_columns_select_lines() {
    let list =
        [LIST, b"//u,v@h.:0/a,b?c,d#e\nhttp://h?#-\nhttp://[::1]/-?-\nhttp://-.com:/\nmailto:x\nhttp://\n"]
            .concat();
    // More lines than are selected at a time.
    let long = list.repeat(30);
    let lines: Vec<_> = text(&long).lines().collect();
    for column in [
        "userinfo", "path", "query", "fragment", "canonical", "surt", "whatwg_host", "whatwg_href", "kind",
        "domain", "port", "host_kind", "host_problems", "host_reversed", "suffix", "private_suffix",
        "private_domain",
    ] {
        let rows = feed(&["lines", "-c", &format!("line,{column}")], &long).stdout;
        let mut lines_of = BTreeMap::<_, Vec<_>>::new();
        for (line, cell) in text(&rows).lines().map(|row| row.split_once('\t').unwrap()) {
            let is_list = column == "host_problems";
            for one in if is_list { cell.split(',').collect() } else { vec![cell] } {
                lines_of.entry(one).or_default().push(line);
            }
        }
        for (one, expected) in lines_of {
            let condition = format!("{column}={one}");
            let found = feed(&["lines", "-c", "line", "--where", &condition], &long);
            assert_eq!(text(&found.stdout).lines().collect::<Vec<_>>(), expected, "{condition}");
            let lines = expected.iter().map(|line| lines[line.parse::<usize>().unwrap() - 1]);
            let split = feed(&["split", "-m", "-", "--where", &condition], &long);
            assert!(split.stdout.lines().map(Result::unwrap).eq(lines), "{condition}");
        }
    }
    let lines = |condition| {
        text(&feed(&["lines", "-c", "line", "--where", condition], &list).stdout).replace('\n', " ")
    };
    assert_eq!(lines("port=80,0"), "2 8 ");
    assert_eq!(lines("host="), "13 ");
    assert_eq!(lines("suffix=CO.UK,com."), "3 11 ");
    assert_eq!(lines("private_suffix=github.io,com"), "11 ");
}

#[test]
fn a_condition_on_hosts_that_cannot_hold_is_an_error() {
    let folder = folder_with(&[
        ("names", "a.example\nhttp://b.example/\n"),
        ("table.csv", "url,status\nhttp://a/,200\n"),
    ]);
    for (args, sentence) in [
        (
            ["--where", "host=http://a.example/"],
            "not the name of a host; give it alone, such as www.example.org",
        ),
        (["--where", "domain=co.uk"], "--where domain=co.uk: this is a public suffix, and has no domain"),
        (["--where", "domain=www.a.example"], "the domain of this host is a.example"),
        (["--where", "domain=192.0.2.1"], "this is an address or no name, and has no domain"),
        (["--where", "suffix=a/b"], "not the name of a host"),
        (
            ["--where", "suffix=a.example"],
            "--where suffix=a.example: by the list of public suffixes, no host has it",
        ),
        (["--where", "private_domain=github.io"], "by the list of public suffixes, no host has it"),
        (
            ["--where", "port=80,query=x"],
            "query=x: commas separate alternatives of one property; repeat --where",
        ),
        (["--where", "host_kind=ip"], "no such kind; did you mean ipv6?"),
        (["--where", "host_problems=no"], "no such problem; "),
        (["--where", "host-in=names"], "names: line 2: \"http://b.example/\" is no name of a host"),
        (["--where", "host-in=missing"], "missing: No such file"),
        (["--where", "host-in="], "a list of names is a file, such as names.txt"),
        (["--where", "host=*.a.example"], "not the name of a host"),
        (["--psl", "table.csv"], "table.csv: line 1: no rule of a public suffix list"),
        (["--psl", "missing"], "missing: No such file"),
    ] {
        let output = urlsift().current_dir(&folder).arg("lines").args(args).arg("names").output().unwrap();
        assert_refused(&output, sentence);
    }
}

#[test]
fn a_report_counts_domains_suffixes_and_problems_and_names_the_list() {
    let options =
        ["--json", "--top", "hosts", "--top", "domains", "--top", "suffixes", "--top", "host-problems"];
    let distinct = ["--distinct", "domains", "--distinct", "surt", "--distinct", "canonical"];
    let report = json(&feed(&[&options[..], &distinct].concat(), LIST));
    let list = |report: &Value, n: usize| {
        let entries = report["top"][n]["entries"].as_array().unwrap();
        let entry = |entry: &Value| format!("{} {}", entry["name"].as_str().unwrap(), entry["lines"]);
        entries.iter().map(entry).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(list(&report, 0), "a.b.example 3, 192.0.2.1 1, x.example.co.uk 1");
    assert_eq!(list(&report, 1), "b.example 3, example.co.uk 1");
    assert_eq!(list(&report, 2), "example 3, co.uk 1");
    assert_eq!(list(&report, 3), "unknown-suffix 3, special-use 3");
    let estimates: Vec<_> =
        report["distinct"].as_array().unwrap().iter().map(|row| &row["estimate"]).collect();
    assert_eq!(estimates, [2, 6, 7], "domains, canonical forms, keys");
    let version = report["public_suffix_list"]["version"].as_str().unwrap();
    assert!(text(&feed(&["-V"], b"").stdout).ends_with(&format!("Public Suffix List {version}\n")));
    let shown = feed(&["--top", "domains"], LIST).stdout;
    assert!(text(&shown).contains("TOP REGISTRABLE DOMAINS"), "{}", text(&shown));
    let hash = report["public_suffix_list"]["hash"].as_str().unwrap();
    assert!(text(&shown).contains(&format!("(domains by the list of public suffixes {version}, {hash})\n")));
    assert!(text(&feed(&["--top", "domains", "--format", "html"], LIST).stdout).contains(version));
    assert_eq!(json(&feed(&["--json", "--top", "hosts"], LIST)).get("public_suffix_list"), None);
}

#[test]
fn a_long_host_has_a_domain_and_a_port_may_be_a_password() {
    let long = format!("http://{}example.org/\nhttp://u:4711/x@h\nhttp://h:8080/\n", "a.".repeat(200));
    let report =
        json(&feed(&["--json", "--top", "hosts", "--top", "domains", "--top", "ports"], long.as_bytes()));
    let names = |n: usize| report["top"][n]["entries"].to_string();
    assert_eq!(names(0), r#"[{"lines":1,"name":"h"},{"lines":1,"name":"u"}]"#);
    assert_eq!(names(1), r#"[{"lines":1,"name":"8080"}]"#);
    assert_eq!(names(2), r#"[{"lines":1,"name":"example.org"}]"#);
}

#[test]
fn parts_are_merged_if_they_used_the_same_list() {
    let folder = folder_with(&[("rules.dat", RULES)]);
    let run = |args: &[&str]| urlsift().current_dir(&folder).args(args).output().unwrap();
    let options = ["--top", "domains", "--distinct", "domains"];
    let mut parts = Vec::new();
    for (name, list) in [("a", &["--psl", "rules.dat"][..]), ("b", &["--psl", "rules.dat"]), ("c", &[])] {
        fs::write(folder.path().join(name), LIST).unwrap();
        let output = run(&[&["--format", "partial", name], &options[..], list].concat());
        fs::write(folder.path().join(format!("{name}.partial")), output.stdout).unwrap();
        parts.push(format!("{name}.partial"));
    }
    let merged = json(&run(&["merge", "--json", &parts[0], &parts[1]]));
    let whole = json(&run(&[&["--json", "a", "b", "--psl", "rules.dat"], &options[..]].concat()));
    assert_eq!(merged["digest"], whole["digest"]);
    assert_eq!(merged["public_suffix_list"]["version"], value!("mine"));
    assert_refused(&run(&["merge", &parts[0], &parts[2]]), "suffixes");
}

#[test]
fn explain_shows_the_columns_of_hosts_and_keys() {
    let folder = folder_with(&[("rules.dat", RULES)]);
    let explain = |args: &[&str]| {
        let output = urlsift().current_dir(&folder).arg("explain").args(args).output().unwrap();
        text(&output.stdout).split("\n\n").nth(2).unwrap().to_owned()
    };
    let url = "http://u@WWW.b.Example:80/%7ea/../?b&a";
    let rows = |suffix: &str, domain: &str| {
        format!(
            "  host_kind      name\n  host_reversed  example.b.www\n  host_problems  unknown-suffix,special-use\n  \
             suffix         {suffix}\n  domain         {domain}\n  private_suffix {suffix}\n  private_domain {domain}\n  \
             canonical      http://u@www.b.example/?b&a\n  surt           example,b)/?a&b"
        )
    };
    assert_eq!(explain(&[url]), rows("example", "b.example"));
    let with_rule = explain(&["--psl", "rules.dat", url]);
    assert_eq!(with_rule, rows("b.example", "www.b.example").replace("unknown-suffix,", ""));
    assert!(explain(&["a/b"]).starts_with("  canonical      a/b\n"));
}

/// Each cell of `lines` is in `explain`, and no other.
#[test]
fn explain_shows_the_cells_of_lines() {
    const NAMES: [&str; 15] = [
        "userinfo", "host", "port", "path", "query", "fragment", "host_kind", "host_reversed",
        "host_problems", "suffix", "domain", "private_suffix", "private_domain", "canonical", "surt",
    ];
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/samples");
    let list: Vec<_> = ["parser_vectors.txt", "wpt_inputs.txt", "top100.txt", "trackers.txt"]
        .map(|name| fs::read_to_string(format!("{folder}/{name}")).unwrap())
        .iter()
        // No argument has a byte 00, and bytes above 7F are written in another way for a person.
        .flat_map(|sample| {
            sample.lines().filter(|line| line.bytes().all(|byte| (1..128).contains(&byte))).step_by(97)
        })
        .filter(|line| !line.is_empty())
        .map(str::to_owned)
        .collect();
    let rows = feed(&["lines", "-c", &NAMES.join(",")], (list.join("\n") + "\n").as_bytes());
    let rows: Vec<_> = text(&rows.stdout).lines().collect();
    assert!(list.len() > 100 && rows.len() == list.len());
    for (line, row) in list.iter().zip(rows) {
        let output = urlsift().args(["explain", "--", line]).output().unwrap();
        let mut found = vec!["-"; NAMES.len()];
        // The parser of browsers has rows of its own behind the grammars.
        let shown = text(&output.stdout).lines().take_while(|shown| !shown.starts_with("  draft1993"));
        for shown in shown {
            for (n, (cell, name)) in found.iter_mut().zip(NAMES).enumerate() {
                let width = if n < 6 { 11 } else { 15 };
                match shown.strip_prefix(&format!("  {name:<width$}")) {
                    Some("(empty)") => *cell = "",
                    Some("-") => *cell = r"\x2d",
                    Some(text) => *cell = text,
                    None => {}
                }
            }
        }
        assert_eq!(found.join("\t"), row.replace(r"\\", "\\"), "{line}");
    }
}
