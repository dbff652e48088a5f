//! Inputs with records: detection of the format, messages, and results.

use std::fs;
use std::io::{Read, Write};
use std::process::{Output, Stdio};

use super::{assert_refused, feed, folder_with, json, text, urlsift};
use crate::support::file;

const LOG: &[u8] =
    b"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 7 \"http://example.org/ b\" \"-\"\n\
::1 - - [01/Jan/2026:00:00:00 +0000] \"\\x16\\x03\" 400 7 \"-\" \"-\"\n\n";

#[test]
fn a_log_is_recognised_and_a_list_gets_no_message() {
    let output = feed(&["--format", "json", "-"], LOG);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stderr),
        "urlsift: -: read as clf; --input-format lines takes each line for a URL\n"
    );
    let report = json(&output);
    assert_eq!((&report["totals"]["lines"], &report["inputs"][0]["lines"]), (&2.into(), &3.into()));
    let records = &report["inputs"][0]["records"];
    assert_eq!((&records["format"], &records["read"]), (&"clf".into(), &1.into()));
    assert_eq!(records["skipped"][0]["reason"], "blank");
    let refused = &records["refused"][0];
    assert_eq!((&refused["cause"], &refused["first"][0]["line"]), (&"bad-request".into(), &2.into()));
    assert_eq!(refused["first"][0]["record_offset"], LOG.iter().position(|&byte| byte == b'\n').unwrap() + 1);
    let roles: Vec<_> = (0..2).map(|n| records["fields"][n]["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["request", "referer"]);
    let example = &report["defects"][0]["examples"][0];
    assert_eq!((&example["line"], &example["line_offset"]), (&1.into(), &62.into()));

    let output = feed(&["--format", "json", "-"], b"http://example.org/\n");
    assert_eq!(
        (text(&output.stderr), &json(&output)["inputs"][0]["records"]),
        ("", &serde_json::Value::Null)
    );
    let output = feed(&["--format", "json", "--input-format", "lines", "-"], LOG);
    assert_eq!((text(&output.stderr), &json(&output)["totals"]["lines"]), ("", &3.into()));
}

#[test]
fn the_text_report_has_records_and_kinds_of_fields() {
    let output = feed(&["--input-format", "clf"], LOG);
    let report = text(&output.stdout);
    for part in [
        "\nRECORDS ",
        "  - (clf) ",
        "    1 bad-request, first in line 2 at byte 39 of the record\n",
        "\nFIELD ",
        "  request ",
        "  referer ",
    ] {
        assert!(report.contains(part), "{part:?} in\n{report}");
    }
}

#[test]
fn fields_are_chosen_by_name_number_or_pointer() {
    for (args, input, accepted) in [
        (["--input-format=csv", "--field=link"], &b"url,link\n http://no/ ,http://a.example/\n"[..], 1),
        (["--input-format=tsv", "--field=2,1"], b"http://a/\tx y\n", 1),
        (["--input-format=jsonl", "--field=/a/0/b~1"], b"{\"a\":[{\"b/\":\"http://a/\"}]}\n", 1),
        (["--input-format=clf", "--field=referer"], LOG, 0),
        (["--input-format=auto", "--field=request"], LOG, 1),
    ] {
        let output = feed(&[args[0], args[1], "--format", "json"], input);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
        assert_eq!(json(&output)["grammars"][4]["accepted"], accepted, "{args:?}");
    }
}

#[test]
fn a_field_that_a_format_cannot_have_is_an_error() {
    let output = feed(&["--input-format=clf", "--field=agent"], LOG);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(
        text(&output.stderr),
        "urlsift: no field \"agent\": the fields of clf are request and referer\n"
    );
}

#[test]
fn an_archive_that_is_cut_off_is_incomplete() {
    let head = b"WARC/1.0\r\nWARC-Target-URI: http://example.org/\r\nContent-Length: 100\r\n\r\nabc";
    let output = feed(&["--format", "json"], head);
    assert_eq!(output.status.code(), Some(2));
    let report = json(&output);
    assert_eq!((&report["complete"], &report["totals"]["judged"]), (&false.into(), &1.into()));
    assert_eq!(report["inputs"][0]["error"], "ends inside a record, of which 97 bytes are missing");
}

const TABLE: &[u8] = b"id,url\n1,http://a.example/\n2,\"http://a.example/\nb\"\n3\n4,http://a.example/c";

#[test]
fn rows_say_which_field_they_are_of() {
    let output = feed(&["lines", "--columns", "line,offset,field,defect,text"], LOG);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stdout),
        "1\t42\trequest\t-\t/a\n1\t62\treferer\tpath:space@19\thttp://example.org/ b\n"
    );
    assert_eq!(
        text(&output.stderr),
        "urlsift: -: read as clf; --input-format lines takes each line for a URL\n\
         urlsift: -: 1 of 2 records gave no URL: 1 bad-request (first in line 2, at byte 39 of the record)\n"
    );

    let args = [
        "lines", "--input-format=csv", "--field=id", "--only=accepted", "--format=jsonl",
        "--columns=field,text",
    ];
    let output = feed(&args, TABLE);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    assert_eq!(text(&output.stdout).lines().last(), Some("{\"field\":\"url\",\"text\":\"4\"}"));

    let output = feed(&["lines", "--columns=field,line"], b"http://a.example/\n");
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("-\t1\n", ""));
    let output = feed(&["lines", "--input-format=alb", "--field=url"], LOG);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!(text(&output.stderr), "urlsift: no field \"url\": the only field of alb is request\n");
}

#[test]
fn rows_are_written_as_records_arrive() {
    for (format, header, record) in [
        ("jsonl", "", "{\"url\": \"/\"}\n"),
        ("csv", "id,url\n", "1,\"/\"\n"),
        ("clf", "", "h - - [t] \"GET / HTTP/1.1\" 200 1\n"),
    ] {
        let mut command = urlsift();
        command.args(["lines", "--columns=text", "--input-format", format]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let mut stdout = child.stdout.take().unwrap();
        stdin.write_all(header.as_bytes()).unwrap();
        for _ in 0..3 {
            stdin.write_all(record.as_bytes()).unwrap();
            let mut row = [0; 2];
            stdout.read_exact(&mut row).unwrap();
            assert_eq!(&row, b"/\n", "{format}");
        }
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }
}

/// Runs `urlsift split` on a file with this name. Returns its result and the contents of both outputs.
fn split(name: &str, bytes: &[u8], args: &[&str]) -> (Output, [Option<String>; 2]) {
    let directory = folder_with(&[(name, bytes)]);
    let mut command = urlsift();
    command.args(["split", name]).args(args).current_dir(directory.path());
    let output = command.output().unwrap();
    let read = |name| fs::read_to_string(directory.path().join(name)).ok();
    (output, ["good.csv", "bad.csv"].map(read))
}

#[test]
fn a_table_is_split_into_two() {
    let (output, [good, bad]) = split("in.csv", TABLE, &["-a", "good.csv", "-r", "bad.csv"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), ""));
    assert_eq!(good.unwrap(), "id,url\n1,http://a.example/\n4,http://a.example/c");
    assert_eq!(bad.unwrap(), "id,url\n2,\"http://a.example/\nb\"\n3\n");
    assert_eq!(
        text(&output.stderr),
        "urlsift: in.csv: read as csv, column url; --input-format lines takes each line for a URL\n\
         urlsift: in.csv: 1 of 4 records gave no URL: 1 too-few-fields (first in line 5, at byte 2 of the record)\n\
         urlsift: 2 records accepted by rfc3986, 2 refused, 1 header or comment (on both sides)\n"
    );

    let args = ["--input-format=csv", "--by=rfc1738,rfc3986", "-r", "-", "--header", "-q"];
    let (output, _) = split("in.csv", TABLE, &args);
    assert_eq!(
        text(&output.stdout),
        "input\tline\toffset\trfc1738\trfc3986\ttext\n\
         in.csv\t3\t27\turl@3:path:control-byte@17\turl@3:path:control-byte@17\t2,\"http://a.example/\\x0ab\"\n\
         in.csv\t5\t51\trecord:too-few-fields@1\trecord:too-few-fields@1\t3\n"
    );
}

#[test]
fn an_archive_is_not_split() {
    let warc = b"WARC/1.0\r\nWARC-Target-URI: http://a/\r\nContent-Length: 0\r\n\r\n\r\n\r\n";
    let why = "records of warc cannot be split, only those of cdxj, cdx, clf, w3c, alb, s3, elb, haproxy, squid, envoy, zeek, iis, log, jsonl, cri, csv, tsv; \
               urlsift lines --input-format warc lists their URLs\n";
    let (output, files) = split("in", warc, &["--input-format=warc", "-a", "good.csv", "-r", "bad.csv"]);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    assert_eq!((text(&output.stderr), files), (&*format!("urlsift: {why}"), [None, None]));
    let (output, files) = split("in", warc, &["-a", "good.csv", "-r", "bad.csv"]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        (text(&output.stderr), files),
        (&*format!("urlsift: in: {why}urlsift: nothing was written\n"), [None, None])
    );
}

const PARQUET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/records/parquet/snappy-v1.parquet");

#[test]
fn a_parquet_file_is_read_by_column_and_row() {
    let output = feed(&["--format", "json", PARQUET], b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stderr),
        format!(
            "urlsift: {PARQUET}: read as parquet, column url; --input-format lines takes each line for a URL\n"
        )
    );
    let report = json(&output);
    let (input, records) = (&report["inputs"][0], &report["inputs"][0]["records"]);
    assert_eq!((&input["lines"], &records["format"]), (&174.into(), &"parquet".into()));
    assert_eq!((&records["read"], &records["skipped"][0]["records"]), (&140.into(), &34.into()));
    assert_eq!(
        (&records["skipped"][0]["reason"], &records["refused"]),
        (&"no-field".into(), &serde_json::json!([]))
    );
    // The number of the fourth row, and how many values and nulls precede it.
    let example = &report["defects"][0]["examples"][0];
    assert_eq!((&example["line"], &example["line_offset"]), (&4.into(), &3.into()));

    let output = feed(&["--input-format=parquet", "--field=id", PARQUET], b"");
    assert_eq!(output.status.code(), Some(2));
    let message =
        format!("urlsift: {PARQUET}: column id (int64) is no text: its columns are id (int64), url\n");
    assert_eq!(text(&output.stderr), message);
    let output = feed(&["--field=url,id", PARQUET], b"");
    assert_eq!(text(&output.stderr), message);
}

#[test]
fn rows_and_parts_of_a_parquet_file() {
    let output = feed(&["lines", "--only=refused", "-c", "line,offset,text", PARQUET], b"");
    assert_eq!(output.status.code(), Some(0));
    let first = text(&output.stdout).lines().next().unwrap();
    assert_eq!(first, "2\t1\thttp://example.org/\"quoted\"\\\\back/");
    assert_eq!(
        text(&output.stderr),
        format!(
            "urlsift: {PARQUET}: read as parquet, column url; --input-format lines takes each line for a URL\n\
             urlsift: {PARQUET}: 34 of 174 records gave no URL: 34 no-field\n"
        )
    );
    let output = feed(&["split", "-a", "-", PARQUET], b"");
    let message = format!(
        "urlsift: {PARQUET}: a Parquet file cannot be split, because its rows have no text to copy; "
    );
    assert_refused(&output, &message);
    let output = feed(&["--range=1000:", "--json", PARQUET], b"");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(json(&output)["inputs"][0]["error"], "missing: bytes 0 to 1000");
}

#[test]
fn unreadable_parquet_is_never_read_as_a_list() {
    let bytes = std::fs::read(PARQUET).unwrap();
    let cause = "a Parquet file tells at its end where its columns are: it is read from a file itself, not from a pipe";
    for args in [&["--format=json"][..], &["--format=json", "--field=url"]] {
        let output = feed(args, &bytes);
        assert_eq!((output.status.code(), &json(&output)["totals"]["lines"]), (Some(2), &0.into()));
        assert!(
            text(&output.stderr).starts_with(&format!("urlsift: -: {cause}")),
            "{}",
            text(&output.stderr)
        );
    }
}

#[test]
fn a_log_format_is_read_as_nginx_or_apache_write_it() {
    let log = b"::1 [1/Jan/2026:00:00:00 +0000] \"GET /a b HTTP/1.1\" 200 \"http://r/ x\"\nno record\n";
    for pattern in [
        "$remote_addr [$time_local] \"$request\" $status \"$http_referer\"",
        "log_format main '$remote_addr [$time_local] '\n  '\"$request\" $status \"$http_referer\"';",
        "%h %t \"%r\" %>s \"%{Referer}i\"",
        "LogFormat \"%h %t \\\"%r\\\" %>s \\\"%{Referer}i\\\"\" combined",
    ] {
        let output = feed(&["lines", "--columns", "line,field,text", "--log-format", pattern, "-"], log);
        assert_eq!(text(&output.stdout), "1\trequest\t/a b\n1\treferer\thttp://r/ x\n", "{pattern}");
        assert_eq!(
            text(&output.stderr),
            "urlsift: -: 1 of 2 records gave no URL: 1 not-a-record (first in line 2, at byte 1 of the record)\n",
        );
        let output = feed(&["--format", "json", "--log-format", pattern, "-"], log);
        let records = &json(&output)["inputs"][0]["records"];
        assert_eq!((&records["format"], &records["log_format"]), (&"log".into(), &pattern.into()));
        assert_eq!(json(&output)["totals"]["lines"], 2);
    }
    let args = ["--log-format", "$remote_addr [$time_local] \"$request\" $status \"$http_referer\""];
    let output = feed(&[&args[..], &["--field", "request", "--format", "json"]].concat(), log);
    assert_eq!(json(&output)["totals"]["lines"], 1);
}

#[test]
fn a_log_format_that_cannot_be_read_is_a_usage_error() {
    for (args, message) in [
        (
            &["--log-format", "$a$b"][..],
            "the log format cannot be read: nothing separates a and b, so that a line does not show where one ends",
        ),
        (
            &["--log-format", "$status"],
            "the log format cannot be read: none of its variables is a URL; in nginx's syntax these are $request, ",
        ),
        (&["--log-format", "$request $status"], "the log format cannot be read: request may contain blanks"),
        (
            &["--log-format", "$uri", "--field", "x"],
            "no field \"x\": a field of a log is request, referer, url, or the name of a variable of its pattern",
        ),
        (&["--log-format", "$uri", "--input-format", "clf"], "--log-format is for --input-format log"),
        (&["--input-format", "log"], "--input-format log needs the pattern of its lines: --log-format"),
    ] {
        assert_refused(&feed(args, LOG), message);
    }
}

#[test]
fn logs_of_other_programs_are_recognised() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    for name in ["s3", "elb", "haproxy", "squid", "envoy", "zeek"] {
        let bytes = fs::read(folder.join(format!("{name}.log"))).unwrap();
        let output = feed(&["--format", "json", "-"], &bytes);
        assert!(text(&output.stderr).starts_with(&format!("urlsift: -: read as {name}; ")), "{name}");
        assert_eq!(output.status.code(), Some(0), "{name}");
        assert_eq!(json(&output)["inputs"][0]["records"]["format"], name);
    }
}

#[test]
fn the_format_of_iis_with_commas_is_refused() {
    let log =
        b"10.0.0.1, -, 3/20/26, 7:55:20, W3SVC2, S, 10.0.0.2, 4502, 163, 3223, 200, 0, GET, /a, x=1&y=2,\n";
    let output = feed(&["lines", "--input-format", "iis", "-"], log);
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("1 of 1 record gave no URL: 1 not-a-record"));
}

#[test]
fn a_field_that_markup_does_not_have_is_named() {
    for (format, document) in [("xml", "<urlset><loc>http://a/</loc></urlset>"), ("html", "<a href=b>")] {
        let output = feed(&["lines", "--input-format", format, "--field", "nope", "-"], document.as_bytes());
        let expected = format!("urlsift: -: read as {format}; no record has the field nope\n");
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("", &*expected));
    }
}

/// JSON texts from files, pipes and compressed files, without an option.
#[test]
fn json_texts_are_read_without_an_option() {
    let har = "{\n \"log\": {\n  \"version\": \"1.2\", \"pages\": [],\n  \"entries\": [\n   {\"request\": {\"url\": \"http://a/ b\"}},\n   {\"request\": {\"url\": \"http://c/\"}}\n  ]\n }\n}\n";
    let path = file(har);
    let of_file = urlsift().args(["lines", "-c", "line,offset,text"]).arg(&path).output().unwrap();
    assert_eq!(text(&of_file.stdout), "5\t84\thttp://a/ b\n6\t124\thttp://c/\n");
    assert!(text(&of_file.stderr).contains("read as json; "), "{}", text(&of_file.stderr));
    let packed = zstd::encode_all(har.as_bytes(), 1).unwrap();
    for bytes in [har.as_bytes(), &packed] {
        let output = feed(&["lines", "-c", "line,offset,text"], bytes);
        assert_eq!(text(&output.stdout), text(&of_file.stdout));
    }
    let args = ["scan", "--json", "--shard-size", "16", "--line-size", "3"];
    let report = json(&urlsift().args(args).arg(&path).output().unwrap());
    assert_eq!(report["totals"]["judged"], 2);

    // A text that is cut off, and one that is damaged.
    for (content, said) in [
        ("[{\"url\": \"http://a/\"},\n{\"url\": \"htt", "ends inside a JSON value"),
        ("[{\"url\": \"http://a/\"}", "ends inside a JSON value"),
        (
            "[{\"url\": \"http://a/\"}\n{\"url\": \"b\"}]\n",
            "is no JSON from byte 23 on; the rest was not read",
        ),
    ] {
        for command in ["scan", "lines"] {
            let output = feed(&[command, "--input-format", "json"], content.as_bytes());
            assert_eq!(output.status.code(), Some(2), "{content}");
            assert!(text(&output.stdout).contains("http://a/") || command == "scan");
            assert!(text(&output.stderr).contains(said), "{}", text(&output.stderr));
        }
    }
    let output = feed(&["lines"], b"[{\"link\": \"/\"},\n{\"n\": 1}]\n");
    assert!(text(&output.stderr).contains("there are link, n; "), "{}", text(&output.stderr));
}

#[test]
fn a_document_that_ends_inside_a_comment_is_incomplete() {
    for (format, document, place) in [
        ("xml", "<loc>http://a.example/</loc><!-- <loc>b</loc>", "a comment that begins at offset 28"),
        ("html", "<a href='http://a.example/'>b</a><script>'<a href=c>'", "script that begins at offset 33"),
    ] {
        let output = feed(&["--input-format", format, "--format", "json", "-"], document.as_bytes());
        assert_eq!(output.status.code(), Some(2), "{format}");
        assert!(
            text(&output.stderr).contains(&format!("-: ends inside {place}\n")),
            "{}",
            text(&output.stderr)
        );
        assert_eq!(json(&output)["totals"]["lines"], 1);
    }
}

/// Whatever is around a URL in a record, it has the cells that it has as a line.
#[test]
fn fields_have_the_cells_of_lines() {
    const COLUMNS: &str = "verdict,advisories,userinfo,host,port,path,query,fragment,domain,host_problems,canonical,surt,whatwg,\
        whatwg_errors,whatwg_host,whatwg_href,hosts_differ,text";
    let samples = ["top100", "wpt_inputs", "dbpedia_iris", "trackers"];
    let samples = samples.map(|name| fs::read_to_string(format!("corpora/samples/{name}.txt")).unwrap());
    // Longer than what is copied to be judged.
    let long = format!("http://example.org/{}", "a".repeat(70_000));
    let lines: Vec<_> = samples.iter().flat_map(|text| text.lines()).chain([&*long]).collect();
    let lines: Vec<_> = lines.into_iter().filter(|line| !line.is_empty() && !line.contains('\r')).collect();
    let cells = |format: &str, text: &str| {
        let args = ["lines", "-c", COLUMNS, "--input-format", format];
        feed(&args, text.as_bytes()).stdout
    };
    let list = cells("lines", &lines.join("\n"));
    assert!(text(&list).lines().count() == lines.len() && lines.len() > 1000, "{}", lines.len());
    let quoted = lines.iter().map(|line| format!("\"{}\",a.example/b\n", line.replace('"', "\"\"")));
    let table = format!("url,next\n{}", quoted.collect::<String>());
    let objects = lines.iter().map(|line| format!("{}\n", serde_json::json!({ "url": line })));
    for (format, text) in [("csv", table), ("jsonl", objects.collect())] {
        assert!(cells(format, &text) == list, "{format}");
    }
}
