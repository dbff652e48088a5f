//! Which column of a table, or key of an object, holds the URLs.

use std::process::Output;

use super::{feed, folder_with, json, text, urlsift};

/// Runs the command on a file, through a pipe and with other threads. All reports are the same.
fn scan(name: &str, bytes: &[u8], args: &[&str]) -> Output {
    let directory = folder_with(&[(name, bytes)]);
    let run = |more: &[&str]| {
        let args = [&["--json", "--reproducible"], args, more].concat();
        urlsift().args(args).arg(name).current_dir(&directory).output().unwrap()
    };
    let output = run(&[]);
    for more in [&["-j1"][..], &["-j2", "--no-mmap"]] {
        assert_eq!(text(&run(more).stdout), text(&output.stdout), "{name} {more:?}");
    }
    let piped = feed(&[&["--json", "--reproducible"], args].concat(), bytes);
    assert_eq!(json(&piped)["digest"], json(&output)["digest"], "{name}");
    let partial = [&["--format", "partial"], args, &[name]].concat();
    let partial = urlsift().args(partial).current_dir(&directory).output().unwrap();
    if output.status.success() {
        let merged = feed(&["merge", "--json"], &partial.stdout);
        assert_eq!(json(&merged)["digest"], json(&output)["digest"], "{name}");
    }
    output
}

#[test]
fn tables_share_a_list_of_names() {
    for (name, table, column) in [
        ("a.csv", "id,URL\n1,http://a/\n", "URL"),
        ("a.csv", "id,Page URL\n1,http://a/\n", "Page URL"),
        ("a.tsv", "target_uri\tid\nhttp://a/\t1\n", "target_uri"),
        ("a.csv", "Top pages,Clicks\nhttps://a/,3\n", "Top pages"),
        ("a.csv", "\"n\",\"href\"\n1,\"http://a/\"\n", "href"),
        ("a.csv", "# id,link\n1,http://a/\n", "link"),
    ] {
        let table = table.replace("# id", "#id");
        let output = scan(name, table.as_bytes(), &[]);
        let said = text(&output.stderr);
        assert!(said.contains(&format!("column {}; ", column.trim())), "{table}: {said}");
        let records = &json(&output)["inputs"][0]["records"];
        assert_eq!((&records["read"], &records["column"]), (&1.into(), &column.into()), "{table}");
    }
    let w3c = scan("a.log", b"#Version: 1.0\n#Fields: date loc\n2026 http://a/\n", &[]);
    let records = &json(&w3c)["inputs"][0]["records"];
    let skipped: Vec<_> = records["skipped"].as_array().unwrap().iter().map(|row| &row["records"]).collect();
    // A comment and a header.
    assert_eq!((&records["read"], skipped), (&1.into(), vec![&1.into(), &1.into()]));
}

#[test]
fn values_tell_the_column_if_no_name_does() {
    let rows = |n: usize| "7,http://a.example/b,x\n".repeat(n);
    let args = ["--input-format", "csv"];
    for n in [1, 5, 8, 9, 20_000] {
        let output = scan("a.csv", format!("Nr,Adresse,x\n{}", rows(n)).as_bytes(), &args);
        let records = &json(&output)["inputs"][0]["records"];
        assert_eq!((&records["read"], &records["column"]), (&n.into(), &"Adresse".into()));
        assert!(text(&output.stderr).contains("column Adresse, because its values look like URLs"));
        // Without a header, the first record counts too.
        let output = scan("a.csv", rows(n).as_bytes(), &args);
        let records = &json(&output)["inputs"][0]["records"];
        assert_eq!((&records["read"], &records["column"]), (&n.into(), &"2".into()));
    }
    let without_end = scan("a.csv", b"Adresse,x\nhttp://a/,1", &args);
    assert_eq!(json(&without_end)["inputs"][0]["records"]["column"], "Adresse");
}

#[test]
fn values_tell_the_column_of_a_parquet_file() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/parquet/");
    let output = urlsift().args(["--json", &format!("{folder}list-v1.parquet")]).output().unwrap();
    let records = &json(&output)["inputs"][0]["records"];
    assert_eq!(records["column"], "links.list.element");
    assert!(text(&output.stderr).contains("because its values look like URLs"));
    let output = urlsift().args(["--json", &format!("{folder}fixed.parquet")]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("its columns are code"));
}

#[test]
fn zeek_names_its_columns_behind_a_word() {
    let log = b"#fields\thost\turi\treferrer\na.example\t/x\thttp://r.example/\n";
    let report = json(&scan("http.log", log, &["--input-format", "tsv"]));
    assert_eq!(report["inputs"][0]["records"]["column"], "uri");
    assert_eq!(report["relative"]["lines"], 1);
}

#[test]
fn a_missing_column_is_an_error_that_lists_the_columns() {
    let csv = b"id,Name,\"x\ty\"\n1,2,3\n";
    for args in [&["--input-format", "csv"][..], &["--input-format", "csv", "--field", "nope"]] {
        let output = scan("a.csv", csv, args);
        assert_eq!(output.status.code(), Some(2));
        let said = text(&output.stderr);
        assert!(said.contains("it has no such column; its columns are id, Name, x\\x09y; "), "{said}");
        for command in ["lines", "split"] {
            let out = if command == "split" { &["-a", "-"][..] } else { &[] };
            let output = feed(&[&[command], args, out].concat(), csv);
            assert_eq!(output.status.code(), Some(2), "{command}");
            assert!(text(&output.stderr).contains("its columns are id, Name"), "{command}");
        }
    }
    let wide: Vec<_> = (0..30).map(|n| format!("c{n}")).collect();
    let wide = format!("{}\n{}\n", wide.join(","), ["1"; 30].join(","));
    let output = scan("a.csv", wide.as_bytes(), &["--input-format", "csv"]);
    assert!(text(&output.stderr).contains("c19, and 10 more; "), "{}", text(&output.stderr));
    // A table without a header has no names. Its values may have passwords.
    let output = scan("a.csv", b"u:SECRET@h,1\n2,3\n", &["--input-format", "csv"]);
    assert!(!text(&output.stderr).contains("SECRET") && !text(&output.stdout).contains("SECRET"));
    for (name, bytes, field) in
        [("a.csv", &b"id,url\n1,http://h/\n"[..], "9"), ("a.tsv", b"id\turl\n1\thttp://h/\n", "url,9")]
    {
        let output = scan(name, bytes, &["--input-format", &name[2..], "--field", field]);
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(text(&output.stderr).contains("no record has as many columns as --field says"), "{name}");
    }
    let w3c = b"#Fields: date x-link\n2026 http://h/\n";
    let output = scan("a.log", w3c, &["--input-format", "w3c"]);
    assert!(text(&output.stderr).contains("its columns are date, x-link"), "{}", text(&output.stderr));
    let w3c = b"#Fields: date cs-uri-stem\n2026 /\n";
    let output = scan("a.log", w3c, &["--field", "nope", "--input-format", "w3c"]);
    assert!(text(&output.stderr).contains("its columns are date, cs-uri-stem"), "{}", text(&output.stderr));
}

#[test]
fn objects_without_the_key_are_told_which_keys_there_are() {
    let objects = b"{\"link\":\"http://a/\",\"n\":1}\n{\"link\":\"http://b/\"}\n";
    let cdxj = b"org,a)/ 20260101000000 {\"link\": \"http://a/\"}\norg,a)/ 20260101000001 {\"n\": 1}\n";
    for (name, records) in [("jsonl", &objects[..]), ("cdxj", cdxj)] {
        for args in [&["--input-format", name][..], &[]] {
            let output = scan("a", records, args);
            assert_eq!(
                (output.status.code(), json(&output)["totals"]["judged"].as_u64()),
                (Some(0), Some(0))
            );
            let said = text(&output.stderr);
            assert!(said.contains(&format!("read as {name}; no object has the key url; ")), "{said}");
            assert!(said.contains("; there are link, n; --field names one"), "{said}");
        }
    }
    let nested =
        "{\"url\":null,\"a\":{\"b/*\":[{\"url\":\"http://a/\"},{\"n\":1}],\"c\":{}},\"list\":[\"/x\"]}\n";
    let of_keys = [
        (
            nested,
            "a string under url; there are /a/b~1~2/*/url, /a/b~1~2/*/n, /a/c, list, url; --field names one",
        ),
        ("{\"a\":{\"url\":\"/\"}}\n", "the key url; there is /a/url; --field names one"),
    ];
    for (object, sentence) in of_keys {
        for (name, before) in [("jsonl", ""), ("cdxj", "org,a)/ 20260101000000 ")] {
            let record = format!("{before}{object}");
            let output = scan("a", record.as_bytes(), &["--input-format", name]);
            let said = text(&output.stderr);
            assert!(said.contains(&format!("read as {name}; no object has {sentence}")), "{said}");
        }
    }
    let output = scan("a", nested.as_bytes(), &["--input-format", "jsonl", "--field", "/a/b~1~2/*/url"]);
    assert_eq!(json(&output)["totals"]["judged"], 1);
    let output = scan("a.json", b"[{\"url\": \"http://h/\"}]\n", &["--input-format", "jsonl"]);
    assert!(
        text(&output.stderr).contains("1 of 1 record gave no URL: 1 not-a-string"),
        "{}",
        text(&output.stderr)
    );
    let output = scan("a.jsonl", objects, &["--field", "link"]);
    assert_eq!(json(&output)["totals"]["judged"], 2);
}
