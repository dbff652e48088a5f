//! JSON texts of any size, compared with what `serde_json` reads from the same bytes.

use serde_json::Value;
use urlsift::internal::run::{BadCause, Format, Skip};
use urlsift::internal::{Field, Reader};

use crate::read::{self, by_pieces, whole};
use crate::reference::Rng;
use crate::support::amount;

/// What a reader found: its fields in order, and how many records it read, refused and found nothing in.
#[derive(Debug, Default, PartialEq, Eq)]
struct Found {
    fields: Vec<String>,
    read: u64,
    refused: u64,
    without: u64,
}

impl Found {
    fn of((found, counts): read::Found<'_>) -> Self {
        let text = |field: Field<'_>| String::from_utf8(field.bytes.into_owned()).unwrap();
        Self {
            fields: found.into_iter().flatten().map(text).collect(),
            read: counts.read(),
            refused: BadCause::ALL.iter().map(|&cause| counts.refused(cause)).sum(),
            without: counts.skipped(Skip::NoField),
        }
    }
}

fn reader(fields: &[&str]) -> Reader {
    let fields: Vec<_> = fields.iter().map(|field| field.parse().unwrap()).collect();
    Reader::with_fields(Format::Json, &fields).unwrap()
}

fn by_reader(fields: &[&str], bytes: &[u8]) -> Found {
    Found::of(whole(reader(fields), bytes))
}

/// What the reader finds if `step` bytes arrive at a time.
fn by_chunks(fields: &[&str], bytes: &[u8], step: usize) -> Found {
    Found::of(by_pieces(reader(fields), bytes, (step..).step_by(step)))
}

/// The same by `serde_json`.
fn by_serde(fields: &[&str], bytes: &[u8]) -> Found {
    let documents = serde_json::Deserializer::from_slice(bytes).into_iter::<Value>();
    let documents: Vec<Value> = documents.collect::<Result<_, _>>().unwrap();
    let paths: Vec<Vec<&str>> = fields.iter().map(|field| tokens(field)).collect();
    let first = paths.first().and_then(|path| stem(path));
    let stem = first.filter(|first| paths.iter().all(|path| stem(path).as_ref() == Some(first)));
    let in_record: Vec<&[&str]> =
        paths.iter().map(|path| &path[stem.as_ref().map_or(0, |stem| stem.len() + 1)..]).collect();
    let mut found = Found::default();
    for record in documents.iter().flat_map(|document| records(document, stem.as_deref())) {
        let mut texts = Vec::new();
        let is_good = match record {
            None => true,
            Some(record) if fields.is_empty() => match record {
                Value::Object(members) => members.get("url").is_none_or(|url| take(url, &mut texts)),
                _ => take(record, &mut texts),
            },
            Some(record) => in_record.iter().all(|path| walk(record, path, &mut texts)),
        };
        match (is_good, texts.is_empty()) {
            (false, _) => found.refused += 1,
            (true, true) => found.without += 1,
            (true, false) => {
                found.read += 1;
                found.fields.append(&mut texts);
            }
        }
    }
    found
}

/// What precedes the first "*" of a path.
fn stem<'f>(path: &[&'f str]) -> Option<Vec<&'f str>> {
    let any = path.iter().position(|token| *token == "*")?;
    Some(path[..any].to_vec())
}

fn tokens(field: &str) -> Vec<&str> {
    field.strip_prefix('/').map_or_else(|| vec![field], |pointer| pointer.split('/').collect())
}

fn children(value: &Value) -> Option<Vec<&Value>> {
    match value {
        Value::Array(elements) => Some(elements.iter().collect()),
        Value::Object(members) => Some(members.values().collect()),
        _ => None,
    }
}

fn step<'v>(value: &'v Value, token: &str) -> Option<&'v Value> {
    match value {
        Value::Array(elements) => elements.get(token.parse::<usize>().ok()?),
        Value::Object(members) => members.get(token),
        _ => None,
    }
}

/// The records of a document. `None` stands for a value that lacks what `stem` leads to.
fn records<'v>(document: &'v Value, stem: Option<&[&str]>) -> Vec<Option<&'v Value>> {
    let is_index = |token: Option<&&str>| token.is_some_and(|token| token.parse::<usize>().is_ok());
    let items = match document {
        Value::Array(elements) if stem.is_none_or(|stem| !stem.is_empty() && !is_index(stem.first())) => {
            elements.iter().collect()
        }
        _ => vec![document],
    };
    let Some(stem) = stem else { return items.into_iter().map(Some).collect() };
    let of_item = |item| {
        let container = stem.iter().try_fold(item, |value, token| step(value, token)).and_then(children);
        container.map_or(vec![None], |children| children.into_iter().map(Some).collect())
    };
    items.into_iter().flat_map(of_item).collect()
}

/// Takes a string, or the strings of an array. Returns whether the value has nothing else.
fn take(value: &Value, texts: &mut Vec<String>) -> bool {
    let mut take_one = |value: &Value| match value {
        Value::String(text) => {
            texts.push(text.clone());
            true
        }
        value => value.is_null(),
    };
    match value {
        Value::Array(elements) => elements.iter().all(take_one),
        value => take_one(value),
    }
}

fn walk(value: &Value, path: &[&str], texts: &mut Vec<String>) -> bool {
    match path {
        [] => take(value, texts),
        ["*", rest @ ..] => {
            children(value).unwrap_or_default().into_iter().all(|child| walk(child, rest, texts))
        }
        [token, rest @ ..] => step(value, token).is_none_or(|child| walk(child, rest, texts)),
    }
}

/// Writes a value with any blanks and escapes. Keys are in order, because `serde_json` sorts them.
fn write(out: &mut String, rng: &mut Rng, depth: usize) {
    const KEYS: [&str; 5] = ["a", "b", "entries", "log", "url"];
    const TEXTS: [&str; 9] = [
        r"http:\/\/h\/",
        "http://h/a",
        r#"\"]}"#,
        r"\\",
        r"\u00e9\n",
        "é{[",
        "",
        "www",
        "a long text that does not fit in one block: ]]]]}}}}",
    ];
    let blank = |out: &mut String, rng: &mut Rng| {
        out.push_str(["", "", " ", "\n", "\r\n  "][rng.below(5)]);
    };
    let kind = match depth {
        0 => rng.below(6),
        1 | 2 => rng.below(12),
        _ => 6 + rng.below(6),
    };
    match kind {
        0..4 => {
            out.push('"');
            out.push_str(TEXTS[rng.below(TEXTS.len())]);
            out.push('"');
        }
        4 => out.push_str(["1", "-2.5e7", "true", "false"][rng.below(4)]),
        5 => out.push_str("null"),
        6..9 => {
            out.push('[');
            blank(out, rng);
            for n in 0..rng.below(5) {
                out.push_str(if n > 0 { "," } else { "" });
                blank(out, rng);
                write(out, rng, depth - 1);
                blank(out, rng);
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            blank(out, rng);
            let mut is_first = true;
            for key in KEYS {
                if rng.below(4) == 0 {
                    continue;
                }
                out.push_str(if is_first { "" } else { "," });
                is_first = false;
                blank(out, rng);
                let key = if key == "a" && rng.below(4) == 0 { r"\u0061" } else { key };
                out.extend(["\"", key, "\""]);
                blank(out, rng);
                out.push(':');
                blank(out, rng);
                write(out, rng, depth - 1);
                blank(out, rng);
            }
            out.push('}');
        }
    }
}

const FIELDS: [&[&str]; 14] = [
    &[],
    &["url"],
    &["/a/b", "url"],
    &["/a/*"],
    &["/*"],
    &["/*/url"],
    &["/a/*/b"],
    &["/a/b/*"],
    &["/a/0/*"],
    &["/0/*/a"],
    &["/a/*/b", "/a/*/url"],
    &["/log/entries/*/url"],
    &["url", "/a/*"],
    &["/a/*/*", "/a/*/b/*/a"],
];

#[test]
fn drawn_texts_are_read_as_serde_json_reads_them() {
    let mut n_fields = 0;
    for seed in 0..amount(120, 2_500) {
        let mut rng = Rng::new(seed);
        let mut text = String::new();
        for _ in 0..=rng.below(2) {
            write(&mut text, &mut rng, 4);
            text.push('\n');
        }
        for fields in FIELDS {
            // Without fields, a HAR is recognised, and "log" comes first only there.
            if fields.is_empty() && text.contains("\"log\"") {
                continue;
            }
            let expected = by_serde(fields, text.as_bytes());
            assert_eq!(by_reader(fields, text.as_bytes()), expected, "{fields:?} {text}");
            n_fields += expected.fields.len();
            for step in [1, 7, 64] {
                let chunks = by_chunks(fields, text.as_bytes(), step);
                assert_eq!(chunks, expected, "{fields:?} by {step} {text}");
            }
            for len in (0..text.len()).filter(|_| text.len() < 300) {
                let cut = Found::of(by_pieces(reader(fields), text.as_bytes(), [len]));
                assert_eq!(cut, expected, "{fields:?} cut at {len} {text}");
            }
        }
    }
    assert!(n_fields > 400, "{n_fields}");
}

/// The records before the end of a text that is cut off are read, and each cut is one more refused record at most.
#[test]
fn a_text_that_is_cut_off_gives_what_precedes() {
    let text = r#"[ {"url": "a"}, {"b": [1, "]"], "url": "b"} , "c", {"url": "d", "x": {}} ]"#;
    let ends = [r#""a"}"#, r#""b"}"#, r#""c""#, "{}}"].map(|last| text.find(last).unwrap() + last.len());
    let text = text.as_bytes();
    let whole = by_reader(&[], text);
    assert_eq!(whole.fields, ["a", "b", "c", "d"]);
    for end in 0..text.len() {
        let found = by_reader(&[], &text[..end]);
        assert_eq!(found.fields, whole.fields[..found.fields.len()], "{end}");
        let n_whole = ends.iter().filter(|&&of_record| of_record <= end).count();
        assert_eq!(found.fields.len(), n_whole, "{end}");
        assert!(found.refused <= 1);
        for step in 1..8 {
            assert_eq!(by_chunks(&[], &text[..end], step), found, "{end} by {step}");
        }
    }
}

#[test]
fn damage_outside_of_records_ends_the_reading_and_damage_inside_does_not() {
    for (text, fields, refused) in [
        (r#"[{"url":"a"}, {"url" "b"}, {"url":"c"}]"#, &["a", "c"][..], 1),
        (r#"[{"url":"a"} {"url":"b"}]"#, &["a"], 1),
        (r#"[{"url":"a"},]"#, &["a"], 1),
        (r#"[{"url":"a"},{"url":"b"}}"#, &["a", "b"], 1),
        (r#"["a", b, "c"]"#, &["a", "c"], 1),
        (r#"["a"] ] "b""#, &["a"], 1),
        (r#"{"url":"a"}{"url":"b"} {"url":7} "c""#, &["a", "b", "c"], 1),
    ] {
        let found = by_reader(&[], text.as_bytes());
        assert_eq!(
            (&found.fields[..], found.refused),
            (&fields.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..], refused),
            "{text}"
        );
        for step in 1..5 {
            assert_eq!(by_chunks(&[], text.as_bytes(), step), found, "{text}");
        }
    }
}

/// A record that is too long is refused, and a long value outside of records is passed over.
#[test]
fn long_values_are_passed_over() {
    let long = "[\"\\\\]\",{}] ".repeat(1 << 20).replace(" [", ",[");
    let text = format!(r#"[{{"url":"a"}},{{"x":[{long}],"url":"no"}},{{"url":"b"}}]"#);
    for step in [1 << 20, text.len()] {
        let found = by_chunks(&[], text.as_bytes(), step);
        assert_eq!((found.fields, found.refused), (vec!["a".to_owned(), "b".to_owned()], 1));
    }
    let text =
        format!(r#"{{"log":{{"version":"1.2","pages":[{long}],"entries":[{{"request":{{"url":"a"}}}}]}}}}"#);
    let found = by_chunks(&[], text.as_bytes(), 1 << 20);
    assert_eq!((found.fields, found.read, found.refused), (vec!["a".to_owned()], 1, 0));
    let key = "k".repeat(9 << 20);
    let text = format!(r#"{{"{key}":[],"a":["x"]}}"#);
    let found = by_chunks(&["/a/*"], text.as_bytes(), 1 << 20);
    assert_eq!((found.fields, found.read, found.refused), (vec!["x".to_owned()], 1, 0));
}

#[test]
fn documents_are_detected() {
    for (text, format) in [
        ("[\"http://a/\"]", Format::Json),
        ("[\n  {\n    \"url\": \"http://a/\"\n  }\n]\n", Format::Json),
        ("{\n  \"url\": \"http://a/\"\n}\n{\n  \"url\": \"http://b/\"\n}\n", Format::Json),
        ("[[\"http://a/\"]]", Format::Json),
        ("[\"http://a/\"]\n[\"http://b/\"]\n", Format::Json),
        ("{\"log\":{\"version\":\"1.2\",\"entries\":[]}}", Format::Json),
        ("{\"log\": \"GET /\", \"stream\": \"stdout\"}\n", Format::JsonLines),
        ("{\"url\": \"http://a/\"}\n{\"url\": \"http://a/\"}\n", Format::JsonLines),
        ("\"http:\\/\\/a\\/\"\n\"http:\\/\\/b\\/\"\n", Format::JsonLines),
        ("\"http://a/\"\n\"http://b/\\u00e9\"\n", Format::JsonLines),
        ("[::1]/a\nhttp://b/\n", Format::Lines),
        ("[\"section\"]\nkey = 1\n", Format::Lines),
        ("[link](http://a/)\n", Format::Lines),
        ("{\n}\nhttp://a/\n", Format::Lines),
        ("[{\"url\": \"http://a/\"}\n{}]", Format::Lines),
    ] {
        assert_eq!(Format::detect(text.as_bytes()), format, "{text}");
        assert_eq!(Format::detect(format!("\u{feff}{text}").as_bytes()), format, "{text}");
    }
}

/// A sample line of each known pipeline, the requests and the referers in it.
const PIPELINES: [(&str, &[&str]); 13] = [
    (
        r#"{"level":"info","request":{"method":"GET","host":"h","uri":"/a?b","headers":{"Referer":["http://r/"]}},"status":200}"#,
        &["request /a?b", "referer http://r/"],
    ),
    (
        r#"{"httpRequest":{"requestUrl":"https://h/c","referer":"http://r/"},"insertId":"1"}"#,
        &["request https://h/c", "referer http://r/"],
    ),
    (
        r#"{"timestamp":1,"httpRequest":{"headers":[{"name":"Host","value":"h"}],"uri":"/w","args":""}}"#,
        &["request /w"],
    ),
    (
        r#"{"event_type":"http","http":{"hostname":"h","url":"/s","http_refer":"http://r/"}}"#,
        &["request /s", "referer http://r/"],
    ),
    (
        r#"{"RequestHost":"h","RequestPath":"/t","request_Referer":"http://r/"}"#,
        &["request /t", "referer http://r/"],
    ),
    (r#"{"ClientRequestHost":"h","ClientRequestURI":"/f?x","ClientRequestReferer":""}"#, &["request /f?x"]),
    (r#"{"request_uri":"/n","http_referer":"-"}"#, &["request /n"]),
    (
        r#"{"request":"GET /a%20b HTTP/1.1","http_referer":"http:\/\/r\/"}"#,
        &["request /a%20b", "referer http://r/"],
    ),
    (r#"{"request_line":"POST \/p\u00e9 HTTP\/2.0"}"#, &["request /pé"]),
    (r#"{"request":"","http_referer":"http://r/"}"#, &["referer http://r/"]),
    (r#"{"request_uri":null,"http_referer":"http://r/"}"#, &["referer http://r/"]),
    (r#"{"request":"\u0016\u0003","http_referer":"http://r/"}"#, &["referer http://r/"]),
    (r#"{"request":"GET /no HTTP/1.1","url":"http://u/"}"#, &["url http://u/"]),
];

#[test]
fn pipelines_are_known_by_their_keys() {
    for (line, expected) in PIPELINES {
        for format in [Format::JsonLines, Format::Json] {
            let mut reader = Reader::new(format);
            let found: Vec<_> = reader
                .fields(line.as_bytes())
                .map(Result::unwrap)
                .map(|field| format!("{} {}", field.role, std::str::from_utf8(&field.bytes).unwrap()))
                .collect();
            assert_eq!(found, expected, "{line}");
        }
        assert_eq!(Format::detect(format!("{line}\n").as_bytes()), Format::JsonLines);
    }
    let line = br#"{"request":"POST /x HTTP/1.0"}"#;
    let mut reader = Reader::with_fields(Format::JsonLines, &["request".parse().unwrap()]).unwrap();
    let field = reader.fields(line).next().unwrap().unwrap();
    assert_eq!((&*field.bytes, field.offset), (&b"/x"[..], 17));
}

/// Lines of Docker and of Kubernetes, the records in them, and the place of the first one.
const CONTAINERS: [(Format, &str, &[&str], u64); 7] = [
    (
        Format::JsonLines,
        r#"{"log":"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1 \"http://r/\" \"-\"\n","stream":"stdout","time":"t"}"#,
        &["request /a", "referer http://r/"],
        8,
    ),
    (Format::JsonLines, r#"{"log":"{\"RequestPath\":\"/t\"}\r\n","stream":"stderr"}"#, &["request /t"], 8),
    (Format::JsonLines, r#"{"log":"plain text http://a/\n","stream":"stderr"}"#, &[], 0),
    (
        Format::Cri,
        r#"2026-01-01T00:00:00.123456789Z stdout F ::1 - - [01/Jan/2026:00:00:00 +0000] "GET /a HTTP/1.1" 200 1"#,
        &["request /a"],
        82,
    ),
    (
        Format::Cri,
        r#"2026-01-01T00:00:00.1234567+01:00 stderr F {"url":"http://u/"}"#,
        &["url http://u/"],
        51,
    ),
    (Format::Cri, "2026-01-01T00:00:00.123456789Z stdout F ", &[], 0),
    (Format::Cri, "2026-01-01T00:00:00.123456789Z stdout F Started http://a/", &[], 0),
];

#[test]
fn lines_of_containers_are_unwrapped() {
    for (format, line, expected, place) in CONTAINERS {
        assert_eq!(Format::detect(format!("{line}\n").as_bytes()), format);
        let mut reader = Reader::new(format);
        let fields: Vec<_> = reader.fields(line.as_bytes()).map(Result::unwrap).collect();
        let texts = fields.iter().map(|field| format!("{} {}", field.role, field.bytes.escape_ascii()));
        assert_eq!(texts.collect::<Vec<_>>(), expected, "{line}");
        assert_eq!(fields.first().map_or(0, |field| field.offset), place, "{line}");
        assert_eq!(reader.counts().records(), 1);
    }
    let bad = |text: &str| {
        let mut reader = Reader::new(Format::Cri);
        reader.fields(text.as_bytes()).next().unwrap().unwrap_err().cause
    };
    assert_eq!(bad("2026-01-01T00:00:00.123456789Z stdout P {\"url\""), BadCause::CutOff);
    assert_eq!(bad("2026-01-01T00:00:00.123456789Z stdout"), BadCause::NotARecord);
    assert_eq!(bad("2026-01-01T00:00:00.123456789Z stdout F {\"url\""), BadCause::BadJson);
}

/// Keys with "*" and "/", and keys that look like indices.
#[test]
fn pointers_have_escapes() {
    for (pointer, text, expected) in [
        ("/~2", r#"{"*":"x","y":"no"}"#, "x"),
        ("/a~1b/~0", r#"{"a/b":{"~":"x"}}"#, "x"),
        ("/a/1", r#"{"a":["no","x"]}"#, "x"),
        ("/a/1", r#"{"a":{"1":"x"}}"#, "x"),
    ] {
        for format in [Format::JsonLines, Format::Json] {
            let mut reader = Reader::with_fields(format, &[pointer.parse().unwrap()]).unwrap();
            let found: Vec<_> = reader.fields(text.as_bytes()).map(|field| field.unwrap().bytes).collect();
            assert_eq!(found, [expected.as_bytes()], "{pointer} {text}");
        }
    }
}
