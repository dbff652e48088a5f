//! Inputs that are records: what they are taken for, what is said of it, and what the report has of them.

use super::{feed, json, text};

const LOG: &[u8] =
    b"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 7 \"http://example.org/ b\" \"-\"\n\
::1 - - [01/Jan/2026:00:00:00 +0000] \"\\x16\\x03\" 400 7 \"-\" \"-\"\n\n";

#[test]
fn a_log_is_recognised_and_a_list_goes_without_a_word() {
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
        "    1 bad request, first in line 2 at byte 39 of the record\n",
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
