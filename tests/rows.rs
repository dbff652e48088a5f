//! `lines` and `split` on records: compared with simple loops over the fields and over the records. Rows and records must
//! be in the order of the input, without losses, for any chunk size and number of threads.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::samples::{gzip, samples};
use crate::support::{columns, exec, naive_cells, trimmed};
use proptest::prelude::*;
use urlsift::columns::{COLUMNS, Column, Type};
use urlsift::grammar::resolve::Base;
use urlsift::internal::escape::{self, Keep};
use urlsift::internal::rows::write_records;
use urlsift::internal::run::{BadRecord, Ends, ExecOptions, Format, Input, Reading, list_inputs};
use urlsift::internal::split::{Blank, Form, Options, Split, split_inputs};
use urlsift::internal::{Field, MAX_RECORD_LEN, Reader, rows};
use urlsift::{Grammar, judge};

/// A directory with input files.
struct Desk {
    directory: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.directory.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn inputs(&self, files: &[(&str, &[u8])]) -> Vec<Input> {
        list_inputs(&files.iter().map(|(name, bytes)| self.put(name, bytes)).collect::<Vec<_>>())
    }
}

fn rows(inputs: &[Input], reading: &Reading, exec: &ExecOptions) -> (String, Ends) {
    let mut records = rows::Records::default();
    records.columns = columns("input line offset length field verdict defect text");
    records.keep = Keep::Ascii;
    records.reading = reading.clone();
    let mut out = Vec::new();
    let written = write_records(inputs, &records, exec, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), written)
}

/// Counts what is written at once, and how often.
#[derive(Default)]
struct Pieces {
    n_flushes: usize,
    longest: usize,
    all: usize,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.longest = self.longest.max(bytes.len());
        self.all += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.n_flushes += 1;
        Ok(())
    }
}

/// Threads hand over work seldom, and long rows do not wait in memory for it.
#[test]
fn rows_are_written_in_pieces_of_some_size() {
    let desk = Desk::new();
    let mut records = rows::Records::default();
    let mut pieces = Pieces::default();
    let inputs = desk.inputs(&[("long", &b"http://example.org/\n".repeat(200_000))]);
    write_records(&inputs, &records, &exec(2, 1 << 20), &mut pieces).unwrap();
    assert!(pieces.n_flushes <= 20, "{} for 4 MB", pieces.n_flushes);
    let base = format!("http://g/{}/", "d".repeat(8_000));
    (records.columns, records.base) = (columns("resolved"), Base::new(base.as_bytes()).ok());
    let inputs = desk.inputs(&[("short", &b"a\n".repeat(3_000))]);
    pieces = Pieces::default();
    write_records(&inputs, &records, &exec(2, 1 << 20), &mut pieces).unwrap();
    assert_eq!(pieces.all, 3_000 * (base.len() + 2));
    assert!(pieces.longest < (8 << 20) + 2 * base.len(), "{}", pieces.longest);
}

/// Lines are judged only for columns that need it. That changes no cell.
#[test]
fn a_column_alone_is_the_column_among_others() {
    let desk = Desk::new();
    let mut lists = vec![
        b"\xef\xbb\xbfhttp://a.example/b?c#d\r\n\n\r\r\n\rx\ry\n//h:1\r\n\xff\n-\nhttp://u:p@h/\n%".to_vec(),
    ];
    lists.push(fs::read("corpora/samples/parser_vectors.txt").unwrap());
    for list in lists {
        let inputs = desk.inputs(&[("list", &list)]);
        let mut records = rows::Records::default();
        let mut write = |columns: Vec<&'static Column>| {
            records.columns = columns;
            let mut out = Vec::new();
            write_records(&inputs, &records, &exec(1, 1 << 12), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let all = write(COLUMNS.iter().collect());
        for (n, column) in COLUMNS.iter().enumerate() {
            let among_others: String =
                all.lines().map(|row| row.split('\t').nth(n).unwrap().to_owned() + "\n").collect();
            assert_eq!(write(vec![column]), among_others, "{column:?}");
        }
    }
}

/// The same rows by a simple loop.
fn naive_rows(name: &str, bytes: &[u8], format: Format) -> String {
    let mut rows = String::new();
    for field in Reader::new(format).fields(bytes).flatten() {
        let _ = write!(rows, "{name}\t{}\t{}\t", field.line, field.offset);
        rows += &naive_cells(&field.bytes, &field.role.to_string());
    }
    rows
}

#[test]
fn there_is_a_row_for_each_field_in_order() {
    for (name, bytes, format) in samples() {
        let desk = Desk::new();
        let inputs = desk.inputs(&[(&name, &bytes)]);
        let expected = naive_rows(inputs[0].name(), &bytes, format);
        assert!(!expected.is_empty());
        let mut reader = Reader::new(format);
        let refused: Vec<_> = reader.fields(&bytes).filter_map(Result::err).collect();
        for (threads, shard_len) in [(1, 16), (3, 300), (2, 5000), (2, 1 << 20)] {
            let (found, written) = rows(&inputs, &Reading::of(format), &exec(threads, shard_len));
            assert_eq!(found, expected, "{name} in chunks of {shard_len}");
            let [(0, records)] = &written.records[..] else { panic!("{name}: one input") };
            assert_eq!((records.format, &records.counts), (format, reader.counts()), "{name}");
            let first: Vec<_> = records.refused.values().flatten().copied().collect();
            assert!(first.iter().all(|bad| refused.contains(bad)) && first.is_empty() == refused.is_empty());
            let n_fields: u64 =
                records.fields().map(|(_, fields)| fields.judged.lines() + fields.blank).sum();
            assert_eq!(n_fields, expected.lines().count() as u64);
            let is_cut = matches!(format, Format::Warc | Format::Wat);
            assert_eq!(written.failures.len(), usize::from(is_cut), "{name}");
        }
    }
}

#[test]
fn an_input_with_two_failures_has_the_first() {
    let desk = Desk::new();
    let table = gzip(b"url,b\nhttp://a/,1\n");
    let inputs = desk.inputs(&[("cut.csv.gz", &table[..table.len() - 4])]);
    let mut reading = Reading::of(Format::Csv);
    reading.fields = vec!["nosuch".parse().unwrap()];
    let (_, written) = rows(&inputs, &reading, &exec(1, 1 << 20));
    let [failure] = &written.failures[..] else { panic!("{:?}", written.failures) };
    assert!(failure.error.to_string().contains("ends too early"), "{}", failure.error);
}

#[test]
fn lists_and_records_come_in_their_order() {
    let desk = Desk::new();
    let csv = b"id,url\n".iter().chain(&b"1,http://example.org/\n".repeat(300)).copied().collect::<Vec<_>>();
    let list = b"http://example.org/a\n\n/b c\n".repeat(200);
    let inputs = desk.inputs(&[("1", &list), ("2", &csv), ("3", b""), ("4", &list), ("5", &csv)]);
    let expected: String = inputs
        .iter()
        .zip([
            (&list[..], Format::Lines),
            (&csv, Format::Csv),
            (b"", Format::Lines),
            (&list, Format::Lines),
            (&csv, Format::Csv),
        ])
        .map(|(input, (bytes, format))| match format {
            Format::Lines => lines_as_rows(input.name(), bytes),
            _ => naive_rows(input.name(), bytes, format),
        })
        .collect();
    for (threads, shard_len) in [(1, 100), (3, 1000)] {
        let (found, written) = rows(&inputs, &Reading::default(), &exec(threads, shard_len));
        assert_eq!(found, expected);
        assert_eq!(written.records.iter().map(|(input, _)| *input).collect::<Vec<_>>(), [1, 4]);
    }
}

/// The rows that `lines` prints for a list: one row per line, also if blank, without a field.
fn lines_as_rows(name: &str, bytes: &[u8]) -> String {
    let mut rows = String::new();
    let mut offset = 0;
    for (number, line) in (1..).zip(bytes.split_inclusive(|&byte| byte == b'\n')) {
        let text = &line[..line.len() - 1];
        let of_field = format!("{name}\t{number}\t{offset}\t");
        let row = match text {
            b"" => format!("{of_field}-\t-\t-\t-\t-\n"),
            _ => naive_rows(name, text, Format::Lines)
                .replacen(&format!("{name}\t1\t0\t"), &of_field, 1)
                .replacen("\turl\t", "\t-\t", 1),
        };
        rows.push_str(&row);
        offset += line.len();
    }
    rows
}

/// `docs/columns.md` has each column, as the table in the program says. `URLSIFT_UPDATE` writes its rows anew.
#[test]
fn columns_are_documented() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/columns.md");
    let page = fs::read_to_string(&path).unwrap();
    let row = |column: &Column| {
        let of = match column.of {
            Type::Number => "number",
            Type::Words => "words",
            Type::Names => "list of names",
            Type::Defect => "defect",
            _ => "text",
        };
        let masked = if column.is_masked { "yes" } else { "" };
        format!(
            "| `{}` | {} | {of} | {} | {masked} |\n",
            column.name,
            column.meaning,
            column.absent.unwrap_or("")
        )
    };
    let (before, rest) = page.split_once("|---|---|---|---|---|\n").unwrap();
    let (_, behind) = rest.split_once("\n\n").unwrap();
    let rows: String = COLUMNS.iter().map(row).collect();
    let expected = format!("{before}|---|---|---|---|---|\n{rows}\n{behind}");
    if std::env::var_os("URLSIFT_UPDATE").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert_eq!(fs::read_to_string(&path).unwrap(), expected, "URLSIFT_UPDATE=1 writes it anew");
}

/// The ranges of all records, including headers, comments and blank lines.
fn records_of(format: Format, bytes: &[u8]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut at = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    // After an unclosed quote, every line is a record.
    let mut by_lines = !matches!(format, Format::Csv | Format::Tsv);
    let delimiter = if format == Format::Tsv { b'\t' } else { b',' };
    while at < bytes.len() {
        let line_end = |from: usize| {
            bytes[from..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |lf| from + lf + 1)
        };
        let mut end = line_end(at);
        if !by_lines && bytes[at] != b'#' {
            end = at;
            loop {
                if bytes.get(end) == Some(&b'"') {
                    let mut close = end + 1;
                    loop {
                        match (bytes.get(close), bytes.get(close + 1)) {
                            (None, _) => by_lines = true,
                            (Some(b'"'), Some(b'"')) => {
                                close += 2;
                                continue;
                            }
                            (Some(b'"'), _) => {}
                            _ => {
                                close += 1;
                                continue;
                            }
                        }
                        break;
                    }
                    end = (close + 1).min(bytes.len());
                }
                while end < bytes.len() && bytes[end] != delimiter && bytes[end] != b'\n' {
                    end += 1;
                }
                if end >= bytes.len() || bytes[end] == b'\n' {
                    break;
                }
                end += 1;
            }
            end = if by_lines { line_end(at) } else { (end + 1).min(bytes.len()) };
        }
        ranges.push(at..end);
        at = end;
    }
    ranges
}

/// Whether a line is a comment or a header; `is_first` means that no record precedes it.
fn is_remark(format: Format, line: &[u8], is_first: bool) -> bool {
    match format {
        Format::Cdxj => matches!(line[0], b'!' | b'@'),
        Format::Cdx => line.starts_with(b" CDX "),
        Format::W3c | Format::Zeek | Format::Iis => line[0] == b'#',
        Format::Csv | Format::Tsv => line[0] == b'#' || is_first,
        _ => false,
    }
}

/// Both outputs, and the numbers of accepted, refused and blank records, and of headers and comments.
#[derive(Debug, PartialEq, Eq)]
struct Parted {
    accepted: Vec<u8>,
    refused: Vec<u8>,
    counts: [u64; 4],
}

fn naive_split(name: &str, bytes: &[u8], options: &Options) -> Parted {
    let format = options.reading.format.unwrap();
    let mut fields: BTreeMap<u64, Vec<Field<'_>>> = BTreeMap::new();
    let mut bad: BTreeMap<u64, BadRecord> = BTreeMap::new();
    for found in Reader::new(format).fields(bytes) {
        match found {
            Ok(field) => fields.entry(field.line).or_default().push(field),
            Err(found) => drop(bad.insert(found.line, found)),
        }
    }
    let mut parted = Parted { accepted: Vec::new(), refused: Vec::new(), counts: [0; 4] };
    let (mut line, mut is_first) = (1, true);
    for range in records_of(format, bytes) {
        let whole = &bytes[range.clone()];
        let text = trimmed(whole);
        let fields = fields.get(&line).map_or(&[][..], |fields| fields);
        let causes: Vec<String> = if text.is_empty() {
            options.by.iter().map(|_| "blank".to_owned()).collect()
        } else if let Some(bad) = bad.get(&line) {
            options.by.iter().map(|_| format!("record:{}@{}", bad.cause, bad.at)).collect()
        } else if fields.is_empty() {
            options.by.iter().map(|_| "record:no-field@0".to_owned()).collect()
        } else if fields.iter().all(|field| field.bytes.is_empty()) {
            let at = fields[0].offset - range.start as u64;
            options.by.iter().map(|_| format!("record:blank@{at}")).collect()
        } else {
            let cause = |grammar| {
                let judged = fields.iter().filter(|field| !field.bytes.is_empty());
                let defects = judged.map(|field| (field, judge(&field.bytes).defect(grammar)));
                let mut first = defects.filter_map(|(field, defect)| Some((field, defect?)));
                first.next().map_or("-".to_owned(), |(field, defect)| {
                    format!("{}@{}:{defect}", field.role, field.offset - range.start as u64)
                })
            };
            options.by.iter().map(cause).collect()
        };
        let is_fine = !fields.is_empty() && causes.iter().all(|cause| cause == "-");
        // Whether the record goes to the accepted output, and to the refused one.
        let (kind, sides) = if text.is_empty() {
            let sides = match options.blank {
                Blank::Accepted => [true, false],
                Blank::Refused => [false, true],
                Blank::Dropped => [false, false],
            };
            (2, sides)
        } else if is_remark(format, text, is_first && fields.is_empty() && !bad.contains_key(&line)) {
            is_first &= text[0] == b'#';
            (3, [true, options.form == Form::Lines])
        } else {
            is_first = false;
            (usize::from(!is_fine), [is_fine, !is_fine])
        };
        parted.counts[kind] += 1;
        if sides[0] {
            parted.accepted.extend(whole);
        }
        match options.form {
            Form::Lines if sides[1] => parted.refused.extend(whole),
            Form::Tsv if sides[1] => {
                let causes = causes.join("\t") + "\t";
                let mut row = format!("{name}\t{line}\t{}\t{causes}", range.start);
                escape::push(&mut row, text);
                parted.refused.extend(row.bytes().chain([b'\n']));
            }
            Form::Lines | Form::Tsv => {}
        }
        line += memchr::memchr_iter(b'\n', whole).count() as u64;
    }
    parted
}

fn split(inputs: &[Input], options: &Options, exec: &ExecOptions) -> (Parted, Split) {
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    let split = split_inputs(inputs, options, exec, Some(&mut accepted), Some(&mut refused)).unwrap();
    let counts = [split.accepted, split.refused, split.blank, split.remarks];
    (Parted { accepted, refused, counts }, split)
}

fn options(format: Format, form: Form, blank: Blank, by: &[Grammar]) -> Options {
    let mut options = Options::default();
    options.reading = Reading::of(format);
    (options.form, options.blank, options.by) = (form, blank, by.iter().copied().collect());
    options
}

/// Compares two texts.
///
/// # Panics
/// If they differ, with the text around the first difference.
fn assert_same(found: &[u8], expected: &[u8], context: &str) {
    let at = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
    let near =
        |bytes: &[u8]| bytes[at.saturating_sub(80)..bytes.len().min(at + 80)].escape_ascii().to_string();
    assert!(found == expected, "{context} at {at}:\n{}\nexpected\n{}", near(found), near(expected));
}

fn check_split(desk: &Desk, name: &str, bytes: &[u8], options: &Options, efforts: &[(usize, usize)]) {
    let inputs = desk.inputs(&[(name, bytes)]);
    let expected = naive_split(inputs[0].name(), bytes, options);
    for &(threads, shard_len) in efforts {
        let (found, split) = split(&inputs, options, &exec(threads, shard_len));
        let context = format!("{name} {options:?} in chunks of {shard_len}");
        assert_same(&found.accepted, &expected.accepted, &context);
        assert_same(&found.refused, &expected.refused, &context);
        assert_eq!(found.counts, expected.counts, "{context}");
        let mut failures = split.failures.iter().map(|failure| failure.error.to_string());
        assert!(failures.all(|failure| failure.starts_with("it has no such column")), "{context}");
        let n_records: u64 = split.records.iter().map(|(_, records)| records.counts.records()).sum();
        assert_eq!(n_records, found.counts.iter().sum::<u64>(), "{context}");
    }
    if options.form == Form::Lines && options.blank != Blank::Dropped {
        check_together(options.reading.format.unwrap(), bytes, &expected);
    }
}

/// Checks that the input can be rebuilt from the outputs. Each record is the next one in one output; headers and comments
/// are in both.
fn check_together(format: Format, bytes: &[u8], parted: &Parted) {
    let (mut accepted, mut refused) = (&parted.accepted[..], &parted.refused[..]);
    let mut n_remarks = 0;
    for range in records_of(format, bytes) {
        let record = &bytes[range];
        match (accepted.strip_prefix(record), refused.strip_prefix(record)) {
            (Some(more), Some(other)) if n_remarks < parted.counts[3] && !trimmed(record).is_empty() => {
                // A header or comment may equal the next accepted record. The counts tell which one it is.
                (accepted, refused) = (more, other);
                n_remarks += 1;
            }
            (Some(more), _) => accepted = more,
            (None, Some(more)) => refused = more,
            (None, None) => panic!("{} is on neither side", record.escape_ascii()),
        }
    }
    assert!(accepted.is_empty() && refused.is_empty());
}

fn text_samples() -> impl Iterator<Item = (String, Vec<u8>, Format)> {
    samples().filter(|(_, _, format)| format.has_text_records())
}

#[test]
fn records_are_split_as_a_loop_does_it() {
    let desk = Desk::new();
    for (n, (name, bytes, format)) in (0..).zip(text_samples()) {
        for (m, by) in
            (n..).zip([&[Grammar::Rfc3986][..], &[Grammar::Rfc1738, Grammar::Rfc2396], &[Grammar::Draft1993]])
        {
            for form in [Form::Lines, Form::Tsv] {
                let blank = [Blank::Accepted, Blank::Refused, Blank::Dropped][m % 3];
                let options = options(format, form, blank, by);
                check_split(&desk, &name, &bytes, &options, &[(1, 16), (3, 300), (2, 1 << 20)]);
            }
        }
    }
}

/// Random sequences of bytes that records consist of.
fn soup(format: Format) -> impl Strategy<Value = Vec<u8>> {
    let (record, more): (&[u8], &[&[u8]]) = match format {
        Format::Cdxj => (
            b"k 20260101000000 {\"url\": \"http://a/\"}\n",
            &[b"!x\n", b"k 1 {\"url\": \" \"}\n", b"k 1 {}\n"],
        ),
        Format::Cdx => {
            (b"k 1 http://a/ - 200\n", &[b" CDX N b a m s\n", b" CDX a N b\n", b"k 1 /b\xff -\n", b"- - -\n"])
        }
        Format::Clf => (
            b"h - - [t] \"GET /a HTTP/1.1\" 1 2 \"http://r/\"\n",
            &[b"h \"GET /\\\"b HTTP/1.0\" \"-\"\n", b"h \"GET\"\n"],
        ),
        Format::W3c => (
            b"/a - http://r/\n",
            &[b"#Fields: cs-uri-stem cs-uri-query cs(Referer)\n", b"#Fields: cs(Referer)\n", b"/\xff q\t-\n"],
        ),
        Format::Alb => (
            b"h t \"GET http://a/ HTTP/1.1\"\n",
            &[b"h t \"- http://a:80- \"\n", b"h t \"GET /\xff b HTTP/1.1\"\n"],
        ),
        Format::Zeek => (
            b"/a\thttp://r/\n",
            &[
                b"#fields\turi\treferrer\n", b"#fields\tid\turi\n", b"#close\n", b"/\xff\t-\n",
                b"/\\x20\t(empty)\n",
            ],
        ),
        Format::S3 => (
            b"o b [t] 1 r i op k \"GET /a HTTP/1.1\" 200 - 1 1 1 1 \"http://r/\" \"-\"\n",
            &[
                b"o b [t] 1 r i op k - 200 - 1 1 1 1 -\n",
                b"o b [t] 1 r i op k \"GET /\xff\" 200 - 1 1 1 1 \" \"\n",
            ],
        ),
        Format::JsonLines => (
            b"{\"url\": \"http://a/\"}\n",
            &[b"{\"url\": null}\n", b"{\"url\": \"\\u00e9\"}\n", b"{\"url\": \"\"}\n"],
        ),
        Format::Cri => (
            b"2026-01-01T00:00:00.0Z stdout F {\"url\": \"http://a/\"}\n",
            &[b"2026-01-01T00:00:00.0Z stdout P {\"url\"\n", b"2026-01-01T00:00:00.0Z stderr F text\n"],
        ),
        Format::Tsv => (b"1\thttp://a/\n", &[b"id\turl\n", b"2\t\"x\n\ny\"\n", b"#c\n", b"3\t\"\"\n"]),
        _ => (b"1,http://a/\n", &[b"id,url\n", b"2,\"x\n\ny\"\n", b"#c\n", b"3,\n", b"4,\"a\"\"b\"\r\n"]),
    };
    let parts: Vec<Vec<u8>> = [record, record, b"\n", b"\r\n", b"\"", b"x", b"\n"]
        .iter()
        .chain(more)
        .map(|part| part.to_vec())
        .collect();
    proptest::collection::vec(proptest::sample::select(parts), 0..24).prop_map(|parts| parts.concat())
}

const TEXT_FORMATS: [Format; 11] = [
    Format::Cdxj,
    Format::Cdx,
    Format::Clf,
    Format::W3c,
    Format::Alb,
    Format::S3,
    Format::Zeek,
    Format::JsonLines,
    Format::Cri,
    Format::Csv,
    Format::Tsv,
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn any_records_are_split_as_a_loop_does_it(
        (format, bytes) in proptest::sample::select(&TEXT_FORMATS[..]).prop_flat_map(|format| (Just(format), soup(format))),
        chunk in 16_usize..80,
        blank in proptest::sample::select(&[Blank::Accepted, Blank::Refused, Blank::Dropped][..]),
        rows in any::<bool>(),
    ) {
        let form = if rows { Form::Tsv } else { Form::Lines };
        let options = options(format, form, blank, &[Grammar::Rfc3986]);
        check_split(&Desk::new(), "in", &bytes, &options, &[(2, chunk)]);
    }
}

/// A record that is too long is copied in chunks and yields a single row.
#[test]
fn too_long_records_are_refused_whole() {
    let desk = Desk::new();
    let long = |ends: &str| {
        [b"{\"url\": \"", &vec![b'a'; MAX_RECORD_LEN * 2 + 77][..], b"\\\r", ends.as_bytes()].concat()
    };
    let good = b"{\"url\": \"http://a/\"}\n";
    for (end, behind) in [("\n", &good[..]), ("\r\n", b"\n"), ("", b"")] {
        let bytes = [good, &long(end)[..], behind, good, &long(end)].concat();
        let bytes = if end.is_empty() { [good, &long(end)[..]].concat() } else { bytes };
        let inputs = desk.inputs(&[("in", &bytes)]);
        for (threads, shard_len) in [(2, 1 << 20), (1, 64 << 20)] {
            let in_lines = options(Format::JsonLines, Form::Lines, Blank::Accepted, &[Grammar::Rfc3986]);
            let (found, _) = split(&inputs, &in_lines, &exec(threads, shard_len));
            check_together(Format::JsonLines, &bytes, &found);
            let n_long = if end.is_empty() { 1 } else { 2 };
            assert_eq!(found.counts[1], n_long);
            let in_rows = options(Format::JsonLines, Form::Tsv, Blank::Accepted, &[Grammar::Rfc3986]);
            let (found, _) = split(&inputs, &in_rows, &exec(threads, shard_len));
            let rows = String::from_utf8(found.refused).unwrap();
            assert_eq!(rows.lines().count() as u64, n_long);
            assert!(rows.ends_with('\n'));
            let text = rows.lines().next().unwrap().rsplit('\t').next().unwrap();
            let mut expected = String::new();
            let whole = long(end);
            escape::push(&mut expected, whole.strip_suffix(b"\n").unwrap_or(&whole));
            assert!(text == expected, "{} bytes of {}", text.len(), expected.len());
            assert!(rows.contains("\trecord:too-long@8388608\t"));
        }
    }
}

#[test]
fn tables_have_one_header() {
    let desk = Desk::new();
    let first = b"\xef\xbb\xbf# c\nid,url\n1,http://a/\n2,a b";
    let second = b"id,url\r\n3,http://b/\n4,<\n";
    let other = b"url,id\nhttp://c/,5\n";
    let inputs = desk.inputs(&[
        ("1", first),
        ("2", second),
        ("3", other),
        ("4", second),
        ("5", b"http://d/\n"),
        ("6", b""),
    ]);
    let mut options = options(Format::Csv, Form::Lines, Blank::Accepted, &[Grammar::Rfc3986]);
    options.reading = Reading::default();
    for shard_len in [16, 1000] {
        let (found, split) = split(&inputs, &options, &exec(2, shard_len));
        assert_same(&found.accepted, b"# c\nid,url\n1,http://a/\n3,http://b/\n3,http://b/\n", "accepted");
        assert_same(&found.refused, b"# c\nid,url\n2,a b\n4,<\n4,<\n", "refused");
        assert_eq!((found.counts, split.boms), ([3, 3, 0, 4], 1));
        let failures: Vec<_> =
            split.failures.iter().map(|failure| (failure.input, failure.error.to_string())).collect();
        let name = |n: usize| inputs[n].name();
        assert_eq!(
            failures,
            [
                (2, format!("has other columns than {}: split it alone", name(0))),
                (
                    4,
                    format!(
                        "is lines, and in the outputs there is csv already, from {}: split it alone",
                        name(0)
                    )
                )
            ]
        );
    }
}

#[test]
fn records_are_not_split_to_a_terminal() {
    let desk = Desk::new();
    let inputs = desk.inputs(&[("list", b"http://a/\n"), ("table", b"id,url\n\x1b[2J,http://a/\n")]);
    let why = "records of csv may hold bytes that control a terminal: name a file, or pipe them on";
    let mut options = options(Format::Csv, Form::Tsv, Blank::Accepted, &[Grammar::Rfc3986]);
    options.lists_only = true;
    let error = split_inputs(&inputs, &options, &ExecOptions::default(), None, None).unwrap_err();
    assert_eq!(error.to_string(), why);
    options.reading = Reading::default();
    let (found, split) = split(&inputs, &options, &ExecOptions::default());
    assert_eq!((&found.accepted[..], &found.refused[..]), (&b"http://a/\n"[..], &b""[..]));
    assert_eq!((split.failures[0].input, split.failures[0].error.to_string()), (1, why.to_owned()));
}

/// Compressed records give the same result. A truncated file gives all complete records before the cut.
#[test]
fn compressed_records_are_the_same() {
    let pack = |path: &Path, bytes: &[u8], lost: usize| {
        let mut packed = gzip(bytes);
        packed.truncate(packed.len() - lost);
        fs::write(path, packed).unwrap();
    };
    for (name, bytes, format) in samples() {
        let desk = Desk::new();
        let plain = desk.inputs(&[(&name, &bytes)]);
        let exec = exec(2, 300);
        let reading = Reading::of(format);
        let (expected, _) = rows(&plain, &reading, &exec);
        pack(plain[0].path().unwrap(), &bytes, 0);
        assert_eq!(rows(&plain, &reading, &exec).0, expected, "{name}");
        pack(plain[0].path().unwrap(), &bytes, 100);
        let (found, written) = rows(&plain, &reading, &exec);
        assert!(expected.starts_with(&found) && found.len() < expected.len(), "{name}");
        assert_eq!(written.failures.len(), 1, "{name}");
        if !format.has_text_records() {
            continue;
        }
        let options = options(format, Form::Lines, Blank::Accepted, &[Grammar::Rfc3986]);
        let expected = naive_split(&name, &bytes, &options);
        let (found, split_short) = split(&plain, &options, &exec);
        assert!(
            expected.accepted.starts_with(&found.accepted) && expected.refused.starts_with(&found.refused)
        );
        assert_eq!(split_short.failures.len(), 1, "{name}");
        pack(plain[0].path().unwrap(), &bytes, 0);
        assert_eq!(split(&plain, &options, &exec).0, expected, "{name}");
    }
}
