//! Several fields in `--field`: names in rows and reports, and messages about fields that are missing.

use super::{feed, folder_with, json, text, urlsift};

/// The lines of a report, with a blank between their words.
fn squeezed(report: &[u8]) -> String {
    let lines = text(report).lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.map(|line| line + "\n").collect()
}

const TABLE: &[u8] = b"id,from,to\n1,http://a.example/,/x y\n2,,/\n3,http://b.example/,/z\n";

#[test]
fn reports_have_the_counts_of_each_field() {
    let output = feed(&["--input-format=csv", "--field=to,from", "--json"], TABLE);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let fields = &json(&output)["inputs"][0]["records"]["fields"];
    let of = |n: usize| {
        let field = &fields[n];
        let count = |name: &str| field[name].as_u64().unwrap();
        let accepted = field["accepted"]["rfc3986"].as_u64().unwrap();
        (
            field["name"].as_str().unwrap(),
            field["role"].as_str().unwrap(),
            count("lines"),
            accepted,
            count("blank"),
        )
    };
    assert_eq!((of(0), of(1)), (("to", "url", 3, 2, 0), ("from", "url", 2, 2, 1)));

    let output = feed(&["--input-format=csv", "--field=to,from"], TABLE);
    let table = "\nFIELD, rfc3986 accepts accepted refused blank\nto 2 1 0\nfrom 2 0 1\n";
    assert!(squeezed(&output.stdout).contains(table), "{}", text(&output.stdout));

    let output = feed(&["--input-format=csv", "--field=to,from", "--format=html"], TABLE);
    for part in ["<bdi>to</bdi>", "<bdi>from</bdi> <small>1 blank</small>"] {
        assert!(text(&output.stdout).contains(part), "{part}");
    }

    // The only field has no name.
    let output = feed(&["--input-format=csv", "--field=to", "--json"], TABLE);
    assert_eq!(json(&output)["inputs"][0]["records"]["fields"][0].get("name"), None);
}

#[test]
fn a_field_with_several_roles_has_a_row_for_each() {
    let page = b"<base href=/><a href=/a><link rel=icon href='/b c'><img src=d>";
    let output = feed(&["--input-format=html", "--field=src,href"], page);
    let report = text(&output.stdout);
    for row in ["\n  src  ", "\n  href (url)  ", "\n  href (link)  "] {
        assert!(report.contains(row), "{row:?} in\n{report}");
    }
}

#[test]
fn rows_of_lines_and_split_have_the_names() {
    let args = ["--input-format=csv", "--field=from,to"];
    let output =
        feed(&[&["lines", "--columns=line,field,text", "--only=refused"], &args[..]].concat(), TABLE);
    assert_eq!(text(&output.stdout), "2\tto\t/x y\n");
    let output = feed(&[&["lines", "--columns=line,field", "--json"], &args[..]].concat(), TABLE);
    assert_eq!(text(&output.stdout).lines().nth(1), Some("{\"line\":2,\"field\":\"to\"}"));
    let output = feed(&[&["split", "-q", "-r", "-"], &args[..]].concat(), TABLE);
    assert_eq!(text(&output.stdout), "-\t2\t11\tto@20:path:space@2\t1,http://a.example/,/x y\n");

    // A name that is "-" is no missing value.
    let output = feed(&["lines", "--columns=field", "--input-format=csv", "--field=-,x"], b"-,x\n/,/\n");
    assert_eq!(text(&output.stdout), "\\x2d\nx\n");
}

#[test]
fn a_field_is_named_once() {
    let output = feed(&["--input-format=csv", "--field=to,from,to"], TABLE);
    let message = "urlsift: --field names to twice\n";
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(2), message));
}

#[test]
fn a_field_that_is_missing_is_named() {
    for (header, what) in [
        ("id,from", "no column to; its columns are id, from"),
        ("id,x", "no column from and no column to; its columns are id, x"),
    ] {
        let input = format!("{header}\n1,http://a.example/\n");
        for command in [&["scan"][..], &["lines"], &["split", "-a", "-"]] {
            let args = [command, &["--input-format=csv", "--field=from,to"]].concat();
            let output = feed(&args, input.as_bytes());
            assert_eq!(output.status.code(), Some(2), "{args:?}");
            assert!(
                text(&output.stderr).contains(&format!("-: it has {what}; --field")),
                "{}",
                text(&output.stderr)
            );
        }
    }
    let log = b"#Fields: cs-uri-stem\n/a\n";
    let output = feed(&["--input-format=w3c", "--field=request,referer"], log);
    assert!(text(&output.stderr).contains("it has no column referer; its columns are cs-uri-stem;"));

    // Not all objects have all keys. A key that none has is named.
    let objects = b"{\"a\":\"/\"}\n{\"b\":\"/\"}\n";
    for command in [&["scan"][..], &["lines"], &["split", "-a", "-"]] {
        let output = feed(&[command, &["--input-format=jsonl", "--field=a,b,c"]].concat(), objects);
        assert_eq!(output.status.code(), Some(0));
        let said = text(&output.stderr).lines().filter(|line| line.contains("--field")).collect::<Vec<_>>();
        assert_eq!(said, ["urlsift: --field c selects no value"], "{command:?}");
    }
    let output = feed(&["--input-format=jsonl", "--field=a,b,c"], objects);
    assert!(squeezed(&output.stdout).contains("\nc 0 0 0\n"), "{}", text(&output.stdout));
}

#[test]
fn counts_of_several_inputs_are_added_up_by_field() {
    let folder =
        folder_with(&[("a.jsonl", "{\"to\":\"/\",\"from\":\"x y\"}\n"), ("b.jsonl", "{\"from\":\"/\"}\n")]);
    let mut command = urlsift();
    command.args(["--input-format=jsonl", "--field=from,to", "a.jsonl", "b.jsonl"]).current_dir(&folder);
    let output = command.output().unwrap();
    assert!(!text(&output.stderr).contains("selects no value"), "{}", text(&output.stderr));
    assert!(squeezed(&output.stdout).contains("\nfrom 1 1 0\nto 1 0 0\n"), "{}", text(&output.stdout));
}
