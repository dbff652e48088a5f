//! The readers of record formats: samples compared with other programs, invariants on arbitrary bytes, and simple second
//! implementations.
//!
//! `records/README.md` describes how the samples were made and which programs read them.

#[path = "second_readers.rs"]
mod second_readers;

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use crate::read::{by_pieces, whole};
use crate::support::corpus_files;
use proptest::prelude::*;
use urlsift::internal::run::{BadCause, BadRecord, Counts, Format, Role, Skip};
use urlsift::internal::{Field, Reader, escape};

/// All samples with an expected listing, and their formats.
fn samples() -> Vec<(PathBuf, Format)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    let sample = |path: PathBuf| path.with_file_name(path.file_stem().unwrap());
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "expected"))
        .map(sample)
        .collect();
    paths.sort();
    assert!(paths.len() > 15);
    let format = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        let by_name = ["cdxj", "cdx", "warc", "wat", "jsonl", "json", "csv", "tsv", "xml", "html"];
        let extension = name.rsplit('.').next().unwrap();
        match name {
            "iis.log" | "cloudfront.log" => Format::W3c,
            "iis-default.log" => Format::Iis,
            "alb.log" | "elb.log" | "envoy.log" | "haproxy.log" | "s3.log" | "squid.log" | "zeek.log" => {
                Format::find(name.strip_suffix(".log").unwrap()).unwrap()
            }
            _ if by_name.contains(&extension) => Format::find(extension).unwrap(),
            _ => Format::Clf,
        }
    };
    paths.into_iter().map(|path| (path.clone(), format(&path))).collect()
}

fn listing(found: &[Result<Field<'_>, BadRecord>]) -> String {
    let mut out = String::new();
    for field in found.iter().flatten() {
        write!(out, "{}\t{}\t", field.line, field.role).unwrap();
        escape::push(&mut out, &field.bytes);
        out.push('\n');
    }
    out
}

/// The number of the line that contains a byte.
fn line_at(bytes: &[u8], offset: u64) -> u64 {
    1 + memchr::memchr_iter(b'\n', &bytes[..usize::try_from(offset).unwrap()]).count() as u64
}

/// Checks invariants that hold for any bytes.
fn check_laws(format: Format, bytes: &[u8]) {
    let (found, counts) = whole(Reader::new(format), bytes);
    let refused = found.iter().filter(|field| field.is_err()).count() as u64;
    let by_cause: u64 = BadCause::ALL.iter().map(|&cause| counts.refused(cause)).sum();
    let skipped: u64 = Skip::ALL.iter().map(|&reason| counts.skipped(reason)).sum();
    assert_eq!(refused, by_cause);
    assert_eq!(counts.records(), counts.read() + refused + skipped);
    let mut lines: Vec<_> = found.iter().flatten().map(|field| field.line).collect();
    lines.dedup();
    // Several records may begin in one line, so there may be fewer lines than records.
    assert!(lines.len() as u64 <= counts.read());
    if let Some(records) = second_readers::count_records(format, bytes) {
        assert_eq!(counts.records(), records, "{format}");
    }
    let mut before = 0;
    for field in &found {
        match field {
            Ok(field) => {
                assert!(field.offset >= before || field.role == Role::Referer || format == Format::Cdxj);
                before = before.max(field.offset);
                let start = usize::try_from(field.offset).unwrap();
                if let std::borrow::Cow::Borrowed(text) = field.bytes {
                    assert_eq!(&bytes[start..start + text.len()], text, "{format}");
                }
                assert!(start <= bytes.len());
                let line = line_at(bytes, field.offset);
                assert!(field.line <= line);
            }
            Err(bad) => {
                assert!(bad.offset + bad.at <= bytes.len() as u64);
                assert_eq!(bad.line, line_at(bytes, bad.offset));
            }
        }
    }
    check_by_chunks(&Reader::new(format), bytes, &[1, 7, 64, 1000]);
    for fields in FIELDS {
        let fields: Vec<_> = fields.iter().map(|field| field.parse().unwrap()).collect();
        if let Ok(reader) = Reader::with_fields(format, &fields) {
            check_by_chunks(&reader, bytes, &[7, 100]);
        }
    }
    check_by_twin(format, bytes, &found, &counts);
}

/// Choices of fields. Few formats support all of them.
const FIELDS: [&[&str]; 9] = [
    &["url"],
    &["2"],
    &["3", "1"],
    &["/a/b", "id"],
    &["request"],
    &["referer", "1"],
    &["/url/*"],
    &["/*/url"],
    &["body-links"],
];

fn check_by_chunks(reader: &Reader, bytes: &[u8], steps: &[usize]) {
    let whole = whole(reader.clone(), bytes);
    for &step in steps {
        let chunks = by_pieces(reader.clone(), bytes, (step..).step_by(step));
        assert_eq!(chunks, whole, "{} by chunks of {step}", reader.format());
    }
}

fn check_by_twin(format: Format, bytes: &[u8], found: &[Result<Field<'_>, BadRecord>], counts: &Counts) {
    let Some(expected) = second_readers::fields(format, bytes) else { return };
    if counts.refused(BadCause::QuoteNotClosed) > 0 {
        return;
    }
    let field = |field: &Field<'_>| (field.role, field.bytes.to_vec());
    match expected {
        second_readers::Expected::InOrder(expected) => {
            let found: Vec<_> = found.iter().flatten().map(field).collect();
            assert_eq!(found, expected, "{format}");
        }
        second_readers::Expected::ByLine(expected) => {
            for (line, expected) in expected {
                let of_line = found.iter().flatten().filter(|field| field.line == line);
                assert_eq!(of_line.map(field).collect::<Vec<_>>(), expected, "{format} line {line}");
            }
        }
    }
}

#[test]
fn samples_are_read_as_other_programs_read_them() {
    for (path, format) in samples() {
        let bytes = fs::read(&path).unwrap();
        let expected = fs::read_to_string(
            path.with_file_name(format!("{}.expected", path.file_name().unwrap().to_str().unwrap())),
        );
        let (found, counts) = whole(Reader::new(format), &bytes);
        pretty(&listing(&found), &expected.unwrap(), &path);
        eprintln!("{}: {counts:?}", path.display());
        check_laws(format, &bytes);
    }
}

/// Compares line by line, because the first difference is more readable than two long texts.
fn pretty(found: &str, expected: &str, path: &Path) {
    for (found, expected) in found.lines().zip(expected.lines()) {
        assert_eq!(found, expected, "{}", path.display());
    }
    assert_eq!(found.lines().count(), expected.lines().count(), "{}", path.display());
}

#[test]
fn formats_of_samples_are_detected() {
    for (path, format) in samples() {
        let bytes = fs::read(&path).unwrap();
        // Its header is not at the start of the file.
        if !path.ends_with("iis.log") {
            assert_eq!(Format::detect(&bytes[..bytes.len().min(16 << 10)]), format, "{}", path.display());
        }
    }
}

#[test]
fn lists_are_lines() {
    for path in corpus_files() {
        let bytes = fs::read(&path).unwrap();
        if !path.ends_with("table.csv") && !path.ends_with("page.html") {
            let head = &bytes[..bytes.len().min(16 << 10)];
            assert_eq!(Format::detect(head), Format::Lines, "{}", path.display());
        }
    }
}

/// Typical parts of records of a format.
fn typical_parts(format: Format) -> &'static [&'static [u8]] {
    match format {
        Format::Cdxj | Format::JsonLines | Format::Json => &[
            b"a b {\"url\": \"", b"{\"url\":", b"\"x\"", b"\"}", b"{", b"}", b"[", b"]", b":", b",", b"null",
            b"12", b"\\u00e9", b"\\ud800", b"\\\"", b"\"url\"", b"{\"url\": \"a\"}, ",
            b"{\"log\": {\"entries\": [",
        ],
        Format::Cdx => &[b" CDX N a b", b" CDX b a", b" CDX", b"a b c", b"-"],
        Format::Warc | Format::Wat => &[
            b"WARC/1.0\r\n",
            b"WARC/1.0\n",
            b"Content-Length: 5\r\n",
            b"Content-Length: 0\r\n",
            b"content-length:3\n",
            b"WARC-Target-URI: <http://a/>\r\n",
            b"WARC-Target-URI: http://b/\r\n",
            b"\r\n\r\n",
            b"Content-Type: application/json\r\n",
            b"Content-Length: 25\r\n",
            b"{\"Links\":[{\"url\":\"x\"}]}  ",
            b" more\r\n",
            b"Content-Length: 99999999999\r\n",
            b"\nWARC/",
            b"WARC-Type: response\r\n",
            b"Content-Length: 54\r\n",
            b"HTTP/1.1 200\r\nContent-Type: text/html\r\n\r\n<a href='b'>\n",
        ],
        Format::Clf
        | Format::Alb
        | Format::S3
        | Format::Elb
        | Format::Haproxy
        | Format::Squid
        | Format::Envoy => &[
            b"::1 - - [01/Jan/2026:00:00:00 +0000] ", b"\"GET /a HTTP/1.1\"", b"\"GET ", b" 200 1 ",
            b"\"http://r/\"", b"\"-\"", b"\\x22", b"\\\"", b"\\n", b"\\", b" HTTP/2", b"#22", b"a b c d",
            b"/", b" [", b"] ",
        ],
        Format::Cri => &[
            b"2026-01-01T00:00:00.123456789Z stdout F ",
            b"2026-01-01T00:00:00.123456789+01:00 stderr F:x ",
            b"2026-01-01T00:00:00.123456789Z stdout P ",
            b"{\"url\": \"a\"}",
            b"{\"log\": \"{\\\"url\\\": \\\"b\\\"}\\n\"}",
            b"::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1 \"http://r/\"",
        ],
        Format::Zeek => &[
            b"#fields\turi\treferrer\n", b"#fields\ta", b"#close", b"\t", b"-", b"(empty)", b"/a\thttp://r/",
            b"\\x41",
        ],
        Format::W3c | Format::Iis => &[
            b"#Fields: cs-uri-stem cs-uri-query cs(Referer)",
            b"#Fields: cs(Referer) a cs-uri",
            b"#Fields:",
            b"#",
            b"- - -",
            b"/a b=c http://r/",
            b"/a\tb\t",
            b"\t",
        ],
        Format::Xml | Format::Html => markup_parts(format),
        _ => {
            &[b"id,url\n", b"url\tid\n", b"\"", b"\"\"", b",", b"\t", b"\"a\nb\"", b"#", b"x,\"y\"z,", b"\r"]
        }
    }
}

/// Typical parts of XML and HTML.
fn markup_parts(format: Format) -> &'static [&'static [u8]] {
    match format {
        Format::Html => &[
            b"<a href=", b"<a href='", b"'>", b">", b"<img srcset='a 1x, b'", b"<script>", b"</script>",
            b"<title", b"</title ", b"<!--", b"-->", b"--!>", b"-", b"&amp;", b"&lt", b"<", b"/", b"=",
        ],
        _ => &[
            b"<loc>", b"</loc>", b"<guid isPermaLink=\"false\">", b"</guid>", b"<url>", b"<link href=\"",
            b"<a b='", b"'>", b"/>", b"<!--", b"-->", b"--", b"<![CDATA[", b"]]>", b"<?p", b"?>",
            b"<!DOCTYPE a [", b"]>", b"&amp;", b"&#x41;", b"&", b"<", b">",
        ],
    }
}

/// Random records: changed samples, or random sequences of typical parts of the format.
fn records(format: Format) -> impl Strategy<Value = Vec<u8>> {
    let texts: Vec<Vec<u8>> = samples()
        .into_iter()
        .filter(|(_, of)| *of == format)
        .map(|(path, _)| {
            let bytes = fs::read(path).unwrap();
            let from = bytes.len() / 3;
            bytes[from..].iter().chain(&bytes[..from]).copied().take(6000).collect()
        })
        .collect();
    let own = typical_parts(format);
    let all: &[&[u8]] = &[b"\n", b"\r\n", b" ", b"x", b"\"", b"\\", b"\xff", b"\0", b"http://a/"];
    let tokens: Vec<Vec<u8>> = own.iter().chain(own).chain(all).map(|token| token.to_vec()).collect();
    let drawn = prop::collection::vec(prop::sample::select(tokens), 0..60).prop_map(|tokens| tokens.concat());
    let texts = if texts.is_empty() { vec![b"a\nb\n".to_vec()] } else { texts };
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3_u8), 0..6);
    let changed = (prop::sample::select(texts), changes).prop_map(|(mut text, changes)| {
        for (at, byte, kind) in changes {
            let at = at.index(text.len());
            match kind {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => text.truncate(at.max(1)),
            }
        }
        text
    });
    let bytes = prop_oneof![3 => drawn, 1 => changed, 1 => prop::collection::vec(any::<u8>(), 0..200)];
    (prop::bool::weighted(0.1), bytes).prop_map(|(marked, bytes)| [mark(marked), &bytes].concat())
}

#[test]
fn a_name_may_have_line_breaks() {
    for (format, bytes) in
        [(Format::Tsv, &b"\"\nurl\"\tid\nx\ty\n"[..]), (Format::Csv, b"id,\"U\nRL\"\ny,x\n")]
    {
        let (found, _) = whole(Reader::new(format), bytes);
        assert_eq!(found[0].as_ref().unwrap().bytes, &b"x"[..], "{format}");
        check_laws(format, bytes);
    }
    check_laws(Format::Tsv, b"\"\n\"url\tid\n\"\"");
}

/// A byte order mark, or nothing.
fn mark(wanted: bool) -> &'static [u8] {
    if wanted { b"\xef\xbb\xbf" } else { b"" }
}

#[test]
fn a_byte_order_mark_alone_is_an_input_of_any_format() {
    let formats =
        Format::ALL.iter().copied().filter(|&format| !matches!(format, Format::Parquet | Format::Log));
    formats.for_each(|format| check_laws(format, mark(true)));
}

macro_rules! laws {
    ($($name:ident: $format:ident,)+) => {
        proptest! {
            #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]
            $(
                #[test]
                fn $name(bytes in records(Format::$format)) {
                    check_laws(Format::$format, &bytes);
                }
            )+
        }
    };
}

laws! {
    laws_of_lines: Lines,
    laws_of_cdxj: Cdxj,
    laws_of_cdx: Cdx,
    laws_of_warc: Warc,
    laws_of_wat: Wat,
    laws_of_clf: Clf,
    laws_of_w3c: W3c,
    laws_of_alb: Alb,
    laws_of_s3: S3,
    laws_of_elb: Elb,
    laws_of_haproxy: Haproxy,
    laws_of_squid: Squid,
    laws_of_envoy: Envoy,
    laws_of_zeek: Zeek,
    laws_of_iis: Iis,
    laws_of_json_lines: JsonLines,
    laws_of_json: Json,
    laws_of_cri: Cri,
    laws_of_csv: Csv,
    laws_of_tsv: Tsv,
    laws_of_xml: Xml,
    laws_of_html: Html,
}

proptest! {
    #[test]
    fn any_bytes_have_a_format(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let format = Format::detect(&bytes);
        check_laws(format, &bytes);
    }
}

/// The table in `docs/formats.md` has each format but lists, and says how it is cut and split. The help of `--input-format` has each.
#[test]
fn the_documentation_lists_each_format() {
    let page = include_str!("../docs/formats.md");
    let table = page.lines().skip_while(|line| !line.starts_with("| format | what it is")).skip(2);
    let yes_or_no = |is_so| if is_so { "yes" } else { "no" };
    let mut listed = vec![Format::Lines];
    for row in table.take_while(|line| line.starts_with('|')) {
        let cells: Vec<_> = row.split(" | ").collect();
        for name in cells[0].split(['|', '`', ',', ' ']).filter(|word| !word.is_empty()) {
            let format = Format::find(name).expect(name);
            let is_cut = format.is_cut_at_lines() || format == Format::Parquet;
            let expected = [is_cut, format.has_text_records()].map(yes_or_no).join(", ");
            assert_eq!(cells[4], expected, "{name}");
            listed.push(format);
        }
    }
    listed.sort();
    assert_eq!(listed, Format::ALL);
    let help = include_str!("help/urlsift-scan-help.txt");
    let option = help.split("--input-format ").nth(1).unwrap().split("\n      --").next().unwrap();
    let words: Vec<_> = option.split(|char: char| !char.is_ascii_alphanumeric()).collect();
    for format in Format::ALL {
        assert!(words.contains(&format.name()), "{format}");
    }
}
