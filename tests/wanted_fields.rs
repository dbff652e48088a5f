//! Several wanted fields (`--field a,b`) are counted apart: in every format, however the input is cut, and in merged parts.

use serde_json::Value;
use urlsift::internal::Reader;
use urlsift::internal::rows::{self, write_records};
use urlsift::internal::run::{Format, Input, Reading, Records, Selector, list_inputs, scan_records};
use urlsift::internal::scan::Options;
use urlsift::report::{RecordCount, Report};
use urlsift::{Grammar, judge};

use crate::read::{by_pieces, whole};
use crate::reference::Rng;
use crate::support::corpus::Corpus;
use crate::support::{amount, columns, exec, file};

/// What wanted fields select from an input.
struct Case {
    format: Format,
    fields: &'static str,
    log_format: Option<&'static str>,
    input: &'static str,
    /// Each field of the report: its name, its role, how many values RFC 3986 accepts and refuses, and how many are blank.
    counts: &'static [&'static str],
    /// Each value: the name of its field, and its text.
    rows: &'static [&'static str],
}

const fn case(
    format: Format,
    fields: &'static str,
    input: &'static str,
    counts: &'static [&'static str],
    rows: &'static [&'static str],
) -> Case {
    Case { format, fields, log_format: None, input, counts, rows }
}

const CASES: [Case; 19] = [
    case(
        Format::Csv,
        "a,b",
        "id,a,b\n1,http://a/,/x y\n2,,/\n3,/z\n",
        &["a url 1 0 1", "b url 1 1 0"],
        &["a http://a/", "b /x y", "a -", "b /"],
    ),
    case(
        Format::Tsv,
        "2,1",
        "/x y\t/\n/z\t\n",
        &["2 url 1 0 1", "1 url 1 1 0"],
        &["2 /", "1 /x y", "2 -", "1 /z"],
    ),
    case(
        Format::JsonLines,
        "/u/0,b,none",
        "{\"u\":[\"/\"],\"b\":[\"/x\",\"/y z\"]}\n{\"b\":\"\"}\n{\"c\":1}\n{\"u\":[\"/\"],\"b\":0}\n",
        &["/u/0 url 1 0 0", "b url 1 1 1", "none url 0 0 0"],
        &["/u/0 /", "b /x", "b /y z", "b -"],
    ),
    case(
        Format::JsonLines,
        "request,referer",
        "{\"referer\":\"http://a/\",\"request\":\"GET /x HTTP/1.1\"}\n{\"request\":\"/y\"}\n",
        &["request url 1 0 0", "request request 1 0 0", "referer url 1 0 0"],
        &["request /x", "referer http://a/", "request /y"],
    ),
    case(
        Format::Json,
        "/log/*/a,/log/*/b/*",
        "{\"log\":[{\"a\":\"/1\",\"b\":[\"/2\",\"/ 3\"]},{\"b\":[\"/4\"]}]}",
        &["/log/*/a url 1 0 0", "/log/*/b/* url 2 1 0"],
        &["/log/*/a /1", "/log/*/b/* /2", "/log/*/b/* / 3", "/log/*/b/* /4"],
    ),
    case(
        Format::Cdxj,
        "mime,url",
        "a)/ 20260101000000 {\"url\": \"http://a/\", \"mime\": \"a b\"}\n",
        &["mime url 0 1 0", "url url 1 0 0"],
        &["mime a b", "url http://a/"],
    ),
    case(
        Format::Cdx,
        "m,a,2",
        " CDX N b a m\nk 2026 http://a/ text/html\nk 2026 - -\n",
        &["m url 1 0 0", "a url 1 0 0", "2 url 2 0 0"],
        &["m text/html", "a http://a/", "2 2026", "2 2026"],
    ),
    case(
        Format::Warc,
        "body-links,WARC-Target-URI,WARC-Date",
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a/\r\nContent-Length: 98\r\n\r\n\
         HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<base href=\"/\"><a href=\"b c\"></a><img src=d><a href=e>\r\n\r\n",
        &[
            "body-links url 1 0 0", "body-links link 1 1 0", "body-links embed 1 0 0",
            "WARC-Target-URI url 1 0 0", "WARC-Date url 0 0 0",
        ],
        &["WARC-Target-URI http://a/", "body-links /", "body-links b c", "body-links d", "body-links e"],
    ),
    case(
        Format::Clf,
        "referer,request",
        "::1 - - [1/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 7 \"http://r/ b\" \"-\"\n\
         ::1 - - [1/Jan/2026:00:00:00 +0000] \"GET /c HTTP/1.1\" 200 7 \"-\" \"-\"\n",
        &["referer referer 0 1 0", "request request 2 0 0"],
        &["request /a", "referer http://r/ b", "request /c"],
    ),
    case(
        Format::W3c,
        "c-x,request,1",
        "#Fields: date cs-uri-stem cs-uri-query c-x\n2026 /a q /b\n2026 /c - -\n",
        &["c-x url 1 0 0", "request request 2 0 0", "1 url 2 0 0"],
        &["c-x /b", "request /a?q", "1 2026", "request /c", "1 2026"],
    ),
    case(
        Format::Zeek,
        "referer,host",
        "#fields\thost\turi\treferrer\nh\t/\thttp://r/\n",
        &["referer referer 1 0 0", "host url 1 0 0"],
        &["referer http://r/", "host h"],
    ),
    Case {
        log_format: Some("$remote_addr \"$request\" \"$http_referer\" $x"),
        ..case(
            Format::Log,
            "$x,request",
            "::1 \"GET /a HTTP/1.1\" \"http://r/\" /b c\nwhat?\n",
            &["$x url 0 1 0", "request request 1 0 0"],
            &["request /a", "$x /b c"],
        )
    },
    case(
        Format::S3,
        "referer,request",
        "o b [1/Jan/2026:00:00:00 +0000] 192.0.2.1 r id REST.GET.OBJECT k \"GET /a HTTP/1.1\" 200 - 1 1 1 1 \"http://r/\" \"x\" -\n",
        &["referer referer 1 0 0", "request request 1 0 0"],
        &["request /a", "referer http://r/"],
    ),
    case(
        Format::Xml,
        "link@href,loc",
        "<u><loc>http://a/</loc><link href=\"/b c\"/><link href=\"\"/><url>/d</url></u>",
        &["link@href link 0 1 1", "loc url 1 0 0"],
        &["loc http://a/", "link@href /b c", "link@href -"],
    ),
    case(
        Format::Html,
        "img@src,src,href",
        "<base href=/><img src=a srcset=b><script src=\"c d\"></script><a href=e>",
        &["img@src embed 1 0 0", "src embed 0 1 0", "href url 1 0 0", "href link 1 0 0"],
        &["href /", "img@src a", "src c d", "href e"],
    ),
    // One field, and the fields of a format, keep the names of their roles.
    case(Format::Csv, "a", "a,b\n/,/\n", &["- url 1 0 0"], &["url /"]),
    case(
        Format::Clf,
        "",
        "::1 - - [1/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 7 \"http://r/\" \"-\"\n",
        &["- request 1 0 0", "- referer 1 0 0"],
        &["request /a", "referer http://r/"],
    ),
    case(
        Format::W3c,
        "",
        "#Fields: cs-uri-stem cs(Referer)\n/a http://r/\n",
        &["- request 1 0 0", "- referer 1 0 0"],
        &["request /a", "referer http://r/"],
    ),
    case(
        Format::Squid,
        "url",
        "1.0 1 ::1 TCP_MISS/200 1 GET http://a/ - D/- -\n",
        &["- url 1 0 0"],
        &["url http://a/"],
    ),
];

fn selectors(fields: &str) -> Vec<Selector> {
    fields.split(',').filter(|name| !name.is_empty()).map(|name| name.parse().unwrap()).collect()
}

impl Case {
    fn reading(&self) -> Reading {
        let mut reading = Reading::of(self.format);
        reading.fields = selectors(self.fields);
        reading.log_format = self.log_format.map(str::to_owned);
        reading
    }
}

fn report(inputs: &[Input], reading: &Reading, shard_len: usize) -> Report {
    let options = Options::default();
    let scanned = scan_records(inputs, reading, &options, &exec(2, shard_len));
    let report = Report::new(&scanned, inputs, &options, false);
    // The counts of a report that is read back must add up.
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    assert_eq!(Report::from_json(&json).unwrap().inputs, report.inputs);
    report
}

/// The fields of a report, as in [`Case::counts`].
fn counts(records: &RecordCount) -> Vec<String> {
    let count = |field: &urlsift::report::FieldCount| {
        let (name, lines) = (field.name.as_deref().unwrap_or("-"), field.count.lines);
        let accepted = field.count.accepted.rfc3986;
        format!("{name} {} {accepted} {} {}", field.role, lines - accepted, field.blank)
    };
    records.fields.iter().map(count).collect()
}

fn rows(inputs: &[Input], reading: &Reading, shard_len: usize) -> (Vec<String>, Records) {
    let mut records = rows::Records::default();
    records.columns = columns("field text");
    records.reading = reading.clone();
    let mut out = Vec::new();
    let mut written = write_records(inputs, &records, &exec(2, shard_len), &mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    (lines.lines().map(|line| line.replace('\t', " ")).collect(), written.records.remove(0).1)
}

#[test]
fn each_wanted_field_is_counted_apart_in_every_format() {
    for case in &CASES {
        let what = format!("{} --field {}", case.format, case.fields);
        let path = file(case.input);
        let inputs = list_inputs(&[&path]);
        let reading = case.reading();
        for shard_len in [1, 1 << 20] {
            let report = report(&inputs, &reading, shard_len);
            let records = report.inputs[0].records.as_ref().unwrap();
            assert_eq!(counts(records), case.counts, "{what}");
            let (rows, found) = rows(&inputs, &reading, shard_len);
            assert_eq!(rows, case.rows, "{what}");
            let scanned = scan_records(&inputs, &reading, &Options::default(), &exec(2, shard_len));
            assert_eq!((0, found), scanned.records[0], "{what}");
        }
    }
}

/// The indices and places of fields do not depend on how the input is cut into chunks.
#[test]
fn cuts_do_not_move_values_to_other_fields() {
    for case in CASES.iter().filter(|case| case.log_format.is_none()) {
        let bytes = case.input.as_bytes();
        let reader = Reader::with_fields(case.format, &selectors(case.fields)).unwrap();
        let whole = whole(reader.clone(), bytes);
        for cut in 0..=bytes.len() {
            let found = by_pieces(reader.clone(), bytes, [cut]);
            assert_eq!(found, whole, "{} --field {} cut at {cut}", case.format, case.fields);
        }
    }
}

/// Ranges of an input, each counted alone, merge to the report of the whole input.
#[test]
fn merged_parts_keep_the_fields_apart() {
    for case in CASES.iter().filter(|case| case.format.is_cut_at_lines()) {
        let path = file(case.input);
        let corpus = Corpus::new(list_inputs(&[&path]), case.reading(), Options::default());
        let whole = corpus.report();
        for cut in 1..case.input.len() as u64 {
            let merged = corpus.range(cut..u64::MAX).merge(corpus.range(0..cut)).unwrap().report();
            let records = merged.inputs[0].records.as_ref().unwrap();
            assert_eq!(counts(records), case.counts, "{} --field {} at {cut}", case.format, case.fields);
            assert_eq!(merged.digest, whole.digest, "{} --field {} at {cut}", case.format, case.fields);
        }
    }
}

/// The counts of one field: accepted, refused and blank.
type Three = [u64; 3];

fn count(into: &mut Three, value: &str) {
    let accepts = |value: &str| judge(value.as_bytes()).verdict().accepts(Grammar::Rfc3986);
    into[if value.is_empty() { 2 } else { usize::from(!accepts(value)) }] += 1;
}

/// Compares the counts of a drawn input with those by another reader.
fn check(text: &str, reading: &Reading, expected: &[Three], shard_len: usize) {
    let path = file(text);
    let inputs = list_inputs(&[&path]);
    let report = report(&inputs, reading, shard_len);
    let records = report.inputs[0].records.as_ref().unwrap();
    let expected: Vec<_> = reading
        .fields
        .iter()
        .zip(expected)
        .map(|(name, [accepted, refused, blank])| format!("{name} url {accepted} {refused} {blank}"))
        .collect();
    assert_eq!(counts(records), expected, "{text}");
}

fn cell(rng: &mut Rng) -> String {
    const PIECES: [&str; 10] =
        ["/", "http://a.example/", " b", "\"", ",", "\n", "\u{e9}", "?q=%41", "%zz", "#"];
    let n = rng.below(4);
    format!("{}{}", if n > 0 { "x" } else { "" }, (0..n).map(|_| PIECES[rng.below(10)]).collect::<String>())
}

/// At least two of the names, in any order, with their indices.
fn some_names(rng: &mut Rng, names: &[String]) -> Vec<usize> {
    let mut indices: Vec<_> = (0..names.len()).collect();
    for n in (1..indices.len()).rev() {
        indices.swap(n, rng.below(n + 1));
    }
    indices.truncate(2 + rng.below(names.len() - 1));
    indices
}

#[test]
fn drawn_tables_count_as_by_the_crate_csv() {
    let mut rng = Rng::new(26);
    for _ in 0..amount(60, 800) {
        let names: Vec<_> = (0..2 + rng.below(5)).map(|n| format!("name{n}")).collect();
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(&names).unwrap();
        for _ in 0..rng.below(60) {
            writer.write_record(names.iter().map(|_| cell(&mut rng))).unwrap();
        }
        let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
        let wanted = some_names(&mut rng, &names);
        let mut expected = vec![[0; 3]; wanted.len()];
        for record in csv::Reader::from_reader(text.as_bytes()).records() {
            let record = record.unwrap();
            for (&n, count_of) in wanted.iter().zip(&mut expected) {
                count(count_of, &record[n]);
            }
        }
        let mut reading = Reading::of(Format::Csv);
        reading.delimiter = Some(',');
        reading.fields = wanted.iter().map(|&n| names[n].parse().unwrap()).collect();
        check(&text, &reading, &expected, 1 + rng.below(500));
    }
}

#[test]
fn drawn_objects_count_as_by_serde_json() {
    let mut rng = Rng::new(27);
    for _ in 0..amount(60, 800) {
        let names: Vec<_> = (0..2 + rng.below(5)).map(|n| format!("name{n}")).collect();
        let (wanted, mut text) = (some_names(&mut rng, &names), String::new());
        let mut expected = vec![[0; 3]; wanted.len()];
        for _ in 0..rng.below(60) {
            let mut object = serde_json::Map::new();
            for name in &names {
                let value = match rng.below(12) {
                    0..3 => continue,
                    3 => Value::Null,
                    4 => (0..rng.below(3)).map(|_| Value::from(cell(&mut rng))).collect(),
                    5 if rng.below(5) == 0 => Value::from(7),
                    _ => Value::from(cell(&mut rng)),
                };
                object.insert(name.clone(), value);
            }
            let line = serde_json::to_string(&object).unwrap();
            let object: Value = serde_json::from_str(&line).unwrap();
            // A number refuses the whole record.
            if wanted.iter().all(|&n| !object[&names[n]].is_number()) {
                for (&n, count_of) in wanted.iter().zip(&mut expected) {
                    match &object[&names[n]] {
                        Value::Array(values) => {
                            for value in values {
                                count(count_of, value.as_str().unwrap());
                            }
                        }
                        Value::String(value) => count(count_of, value),
                        _ => {}
                    }
                }
            }
            text += &(line + "\n");
        }
        let mut reading = Reading::of(Format::JsonLines);
        reading.fields = wanted.iter().map(|&n| names[n].parse().unwrap()).collect();
        check(&text, &reading, &expected, 1 + rng.below(500));
    }
}
