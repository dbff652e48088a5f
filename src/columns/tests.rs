//! A slow twin, which makes one cell after another of one line, and the comparison of columns with it.

use std::ops::Range;
use std::{env, fs};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::text_rows::{Form, TextRows};
use super::{Batch, COLUMNS, Cells, Column, Line, Need, Origin, Type};
use urlsift_engine::Scanner;
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::escape::{self, Keep, visible_json};
use urlsift_grammar::host::{HostKind, compared};
use urlsift_grammar::host_problems::{HostProblem, HostProblems};
use urlsift_grammar::judge::judge;
use urlsift_grammar::keys::canonical::canonical;
use urlsift_grammar::keys::surt::surt;
use urlsift_grammar::password::masked;
use urlsift_grammar::public_suffix::SuffixList;
use urlsift_grammar::random::Random;
use urlsift_grammar::resolve::Base;
use urlsift_grammar::uri_parts::split;
use urlsift_grammar::whatwg::plain::PlainUrl;
use urlsift_grammar::whatwg::{TwoHosts, Url, parse};

/// A cell by itself.
#[derive(Debug, PartialEq)]
enum Cell {
    Absent,
    Number(u64),
    Words(String),
    Names(Vec<&'static str>),
    Text(Vec<u8>),
}

const GRAMMAR: Grammar = Grammar::Rfc1808;
const INPUT: &str = "-";

/// The cell of a line.
fn cell(column: &str, line: &Line<'_>, origin: &Origin) -> Cell {
    let bytes = line.bytes.as_deref().unwrap();
    let text = |text: Option<Vec<u8>>| text.map_or(Cell::Absent, Cell::Text);
    let (judgement, parsed) = (judge(bytes), parse(bytes, origin.url.as_ref()));
    let parts = split(bytes);
    let part = |range: Option<Range<usize>>| range.map(|range| bytes[range].to_vec());
    let host = part(parts.host.clone()).and_then(|host| Some(compared(&host, &mut Vec::new())?.to_vec()));
    let by_suffix = host.as_deref().and_then(|host| SuffixList::built_in().find(host));
    match column {
        "input" => Cell::Words(INPUT.to_owned()),
        "line" => Cell::Number(line.number),
        "offset" => Cell::Number(line.offset),
        "field" => text(line.field.map(|name| name.as_bytes().to_vec())),
        "kind" if bytes.is_empty() => Cell::Words("blank".to_owned()),
        _ if bytes.is_empty() => Cell::Absent,
        "length" => Cell::Number(bytes.len() as u64),
        "verdict" => Cell::Names(judgement.verdict().iter().map(Grammar::name).collect()),
        "kind" => Cell::Words(judgement.kind().name().to_owned()),
        "scheme" => text(judgement.scheme().map(<[u8]>::to_ascii_lowercase)),
        "defect" => judgement.defect(GRAMMAR).map_or(Cell::Absent, |defect| Cell::Words(defect.to_string())),
        "advisories" => Cell::Names(judgement.advisories().iter().map(Advisory::name).collect()),
        "text" => Cell::Text(bytes.to_vec()),
        "resolved" => {
            let anywhere = Base::new(b"http://localhost/").unwrap();
            let base = origin.base.as_ref().or(judgement.scheme().map(|_| &anywhere));
            text(base.filter(|_| judgement.verdict().accepts(Grammar::Rfc3986)).map(|base| {
                let mut target = Vec::new();
                base.resolve(bytes, &mut target);
                target
            }))
        }
        "userinfo" => text(part(parts.userinfo.clone())),
        "host" => text(part(parts.host.clone())),
        "port" => text(part(parts.port.clone())),
        "path" => text(part(Some(parts.path.clone()))),
        "query" => text(part(parts.query.clone())),
        "fragment" => text(part(parts.fragment.clone())),
        "host_kind" => part(parts.host.clone())
            .map_or(Cell::Absent, |host| Cell::Words(HostKind::of(&host).name().to_owned())),
        "host_problems" => part(parts.host.clone()).map_or(Cell::Absent, |host| {
            let problems = HostProblems::of(compared(&host, &mut Vec::new()), SuffixList::built_in());
            Cell::Names(problems.iter().map(HostProblem::name).collect())
        }),
        "host_reversed" => text(host.as_deref().and_then(|host| {
            let mut labels: Vec<_> = host.split(|&byte| byte == b'.').rev().collect();
            let is_number = match labels[0] {
                [b'0', b'x', digits @ ..] => digits.iter().all(u8::is_ascii_hexdigit),
                digits => !digits.is_empty() && digits.iter().all(u8::is_ascii_digit),
            };
            labels.retain(|_| !is_number && !host.starts_with(b"["));
            (!labels.is_empty()).then(|| labels.join(&b'.'))
        })),
        "suffix" => text(by_suffix.map(|of| of.suffix().to_vec())),
        "domain" => text(by_suffix.and_then(|of| Some(of.domain()?.to_vec()))),
        "private_suffix" => text(by_suffix.map(|of| of.private_suffix().to_vec())),
        "private_domain" => text(by_suffix.and_then(|of| Some(of.private_domain()?.to_vec()))),
        "canonical" => text(canonical(bytes, &mut Vec::new()).map(<[u8]>::to_vec)),
        "surt" => {
            let mut key = Vec::new();
            text(surt(bytes, &mut key).then_some(key))
        }
        "whatwg" => Cell::Words(parsed.level().name().to_owned()),
        "whatwg_errors" => Cell::Names(parsed.errors().iter().map(|found| found.error.name()).collect()),
        "whatwg_host" => text(parsed.url().and_then(|url| url.host.clone()).map(String::into_bytes)),
        "whatwg_href" => text(parsed.url().map(|url| url.to_string().into_bytes())),
        "hosts_differ" => {
            let hosts = parsed.url().and_then(|url| TwoHosts::of(bytes, origin.url.as_ref(), url));
            hosts.map_or(Cell::Absent, |hosts| Cell::Words(hosts.to_string()))
        }
        _ => panic!("the twin has no {column}"),
    }
}

/// A cell as a field between tabs.
fn field(cell: Cell, keep: Keep) -> String {
    match cell {
        Cell::Absent => "-".to_owned(),
        Cell::Number(number) => number.to_string(),
        Cell::Words(words) => words,
        Cell::Names(names) if names.is_empty() => "none".to_owned(),
        Cell::Names(names) => names.join(","),
        Cell::Text(text) if text == b"-" => "\\x2d".to_owned(),
        Cell::Text(text) => escape::text(&text, keep),
    }
}

/// A cell as a member of an object.
fn member(name: &str, cell: Cell) -> String {
    let value = match cell {
        Cell::Absent => Value::Null,
        Cell::Number(number) => number.into(),
        Cell::Words(words) => words.into(),
        Cell::Names(names) => names.into(),
        Cell::Text(text) => match String::from_utf8(text) {
            Ok(text) => return format!("\"{name}\":{}", visible_json(&Value::from(text).to_string())),
            Err(error) => {
                return format!("\"{name}_base64\":\"{}\"", BASE64_STANDARD.encode(error.into_bytes()));
            }
        },
    };
    format!("\"{name}\":{value}")
}

fn is_plain_url(line: &[u8]) -> bool {
    judge(line).verdict().accepts(Grammar::Rfc3986) && PlainUrl::of(line, true).is_some()
}

/// Lines of all samples, all of them in the long form of the tests, and some with anything that is written in its own way.
fn lines() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = [
        &b"-"[..],
        b"-:x",
        b"",
        b"a\\b",
        b"/\xff\x1b",
        b"\xe2\x80\xae",
        b"http://u:hunter2@h/",
        b"u:hunter2@b c",
        b"http://a\\@b/",
        b"http://0x7f.1/b c",
        b"file:///a",
        b"http://h:x/",
        b"//h/../c",
        b"?q",
        b"HTTP://H%41:80/%00",
        b"A.b+c:d",
        b"http:a",
        // Runs of equal hosts, and hosts that are almost the same.
        b"http://a.b.co.uk/1",
        b"http://a.b.co.uk:8080/1",
        b"FTP://a.b.co.uk/1",
        b"file://localhost/1",
        b"http://a.b.co.uk/2",
        b"http://a.b.co.uk./",
        b"http://u:hunter2@a.b.co.uk:80/",
        b"http://A.b.co.uk/",
        b"http://a.b.co.uk/\"3\"",
        b"http://%61.b.co.uk/",
        b"http:///",
        b"/",
        b"http://192.0.2.1/1",
        b"http://192.0.2.1/2",
        b"http://a.github.io/?1",
        b"http://a.github.io/?2",
        b"http://github.io",
        b"http://github.io",
    ]
    .map(<[u8]>::to_vec)
    .into();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/samples");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort_unstable();
    for path in paths.iter().filter(|path| path.is_file()) {
        let bytes = fs::read(path).unwrap();
        let all = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii_end);
        let (step, most) = if env::var_os("URLSIFT_TESTS").is_some() { (1, usize::MAX) } else { (61, 120) };
        lines.extend(all.step_by(step).take(most).map(<[u8]>::to_vec));
    }
    lines.extend(drawn());
    lines
}

/// Lines whose hosts are plain, or nearly so.
fn drawn() -> impl Iterator<Item = Vec<u8>> {
    const STARTS: [&str; 5] = ["http://", "https://", "https://", "HTTP://", "http:/"];
    const HOST: [&str; 18] = [
        "a", "b", "www", "example", "co", "uk", "com", ".", ".", ".", "-", "1", "255", "0x1", "xn--", "A",
        "_", "longlabellonglabellonglabellonglabel",
    ];
    const REST: [&str; 14] =
        ["/", "/", "/a", "?", "#", "/.", "/..", ".", "%41", "%2f", "'", "\u{e9}", ":80", " "];
    let mut random = Random::new(11);
    let mut pieces = move |of: &[&str], most: usize| -> String {
        (0..=random.below(most)).map(|_| of[random.below(of.len())]).collect()
    };
    let line = move |_| [pieces(&STARTS, 1), pieces(&HOST, 7), pieces(&REST, 6)].concat();
    (0..2000).map(line).map(|line| line.replacen("://http", "://", 1).into_bytes())
}

/// What the lines of a batch are resolved against, one and the other in turn.
fn origins() -> Vec<Origin> {
    let base = Base::new(b"http://u:hunter2@h/a/b?c").unwrap();
    let url: Url = parse(base.as_bytes(), None).url().unwrap().clone();
    vec![Origin::default(), Origin { base: Some(base), url: Some(url), hides_password: false }]
}

/// Calls `each` with batches of different lengths, which hold each line once, and then with others whose lines are known to be in one text.
fn batches(mask_passwords: bool, mut each: impl FnMut(&mut Batch<'_>)) {
    const OFFSET: u64 = 1000;
    let (all, text) = (lines(), lines().join(&b'\n'));
    for has_text in [false, true] {
        let mut batch = Batch::default();
        (batch.input, batch.grammar, batch.mask_passwords) = (INPUT, GRAMMAR, mask_passwords);
        batch.set_text(if has_text { &text } else { b"" });
        let (mut rest, mut offset) = (all.iter().zip(1..).peekable(), OFFSET);
        for len in (0..).map(|n| n * n % 83) {
            batch.clear();
            batch.origins = origins();
            for (bytes, number) in rest.by_ref().take(len) {
                let start = usize::try_from(offset - OFFSET).unwrap();
                let bytes = &text[start..start + bytes.len()];
                let judgement = judge(bytes);
                let verdict = (!bytes.is_empty()).then(|| judgement.verdict());
                let field = [Some("url"), None, Some("-"), Some("")][number % 4];
                batch.lines.push(Line {
                    bytes: Some(bytes.into()),
                    verdict,
                    advisories: judgement.advisories(),
                    number: number as u64,
                    offset,
                    field,
                    origin: number % 2,
                    is_plain_url: number % 3 == 0 && is_plain_url(bytes),
                });
                offset += bytes.len() as u64 + 1;
            }
            each(&mut batch);
            if rest.peek().is_none() {
                break;
            }
        }
    }
}

fn columns() -> Vec<&'static Column> {
    COLUMNS.iter().collect()
}

#[test]
fn rows_of_batches_are_those_of_the_twin() {
    for (form, keep) in [(Form::Tsv, Keep::All), (Form::Tsv, Keep::Ascii), (Form::Jsonl, Keep::All)] {
        let mut n_rows = 0;
        batches(false, |batch| {
            let columns = columns();
            let mut rows = TextRows::new(form, keep, &columns, 0);
            let full = &mut |_: &mut Vec<u8>| Err(());
            rows.write(batch, full).unwrap();
            let out = String::from_utf8(rows.out).unwrap();
            n_rows += batch.lines.len();
            for (row, line) in out.lines().zip(&batch.lines) {
                let cell = |column: &Column| cell(column.name, line, &batch.origins[line.origin]);
                let cells = COLUMNS.iter().map(|column| (column.name, cell(column)));
                let expected = match form {
                    Form::Tsv => cells.map(|(_, cell)| field(cell, keep)).collect::<Vec<_>>().join("\t"),
                    Form::Jsonl => {
                        let members: Vec<_> = cells.map(|(name, cell)| member(name, cell)).collect();
                        format!("{{{}}}", members.join(","))
                    }
                };
                assert_eq!(row, expected, "{line:?}");
            }
            assert_eq!(out.lines().count(), batch.lines.len());
        });
        assert_eq!(n_rows, 2 * lines().len());
    }
}

/// Cell `n`, as the twin has it.
fn cell_of(column: &Column, cells: &Cells<'_>, n: usize) -> Cell {
    let text = |text: &[u8]| match column.of {
        Type::Words => Cell::Words(String::from_utf8(text.to_vec()).unwrap()),
        _ => Cell::Text(text.to_vec()),
    };
    let (of, found) = match cells {
        Cells::Numbers(numbers) => (Type::Number, numbers[n].map(Cell::Number)),
        Cells::Names(names) => (column.of, names.get(n).map(|name| text(name.as_bytes()))),
        Cells::Sets(names, sets) => {
            let set = |bits: u8| (0..names.len()).filter(|n| bits >> n & 1 == 1).map(|n| names[n]).collect();
            (Type::Names, sets[n].map(|bits| Cell::Names(set(bits))))
        }
        Cells::Lists(names, lists) => {
            let list = |list: &Vec<u8>| list.iter().map(|&item| names[usize::from(item)]).collect();
            (Type::Names, lists[n].as_ref().map(|items| Cell::Names(list(items))))
        }
        Cells::Defects(all) => (Type::Defect, all[n].as_ref().map(|defect| Cell::Words(defect.to_string()))),
        Cells::Texts(texts) => (column.of, texts.get(n).map(text)),
    };
    assert_eq!(of, column.of, "{column:?}");
    found.unwrap_or(Cell::Absent)
}

/// Several columns share what is known of a line.
#[test]
fn a_column_alone_has_the_same_cells() {
    batches(false, |batch| {
        let all = batch.cells(&columns());
        for (column, cells) in COLUMNS.iter().zip(&all) {
            let alone = &batch.cells(&[column])[0];
            for n in 0..batch.lines.len() {
                assert_eq!(cell_of(column, alone, n), cell_of(column, cells, n), "{:?}", batch.lines[n]);
            }
        }
    });
}

/// The table says the truth about its columns.
#[test]
fn columns_are_as_the_table_says() {
    batches(true, |batch| {
        let all = batch.cells(&columns());
        for (column, cells) in COLUMNS.iter().zip(&all) {
            for (n, line) in batch.lines.iter().enumerate() {
                let found = cell_of(column, cells, n);
                let expected = cell(column.name, line, &batch.origins[line.origin]);
                let bytes = line.bytes.as_deref().unwrap();
                if column.name == "text" && !bytes.is_empty() {
                    assert_eq!(found, Cell::Text(masked(bytes).into()));
                } else if column.is_masked {
                    assert_eq!(found == Cell::Absent, expected == Cell::Absent, "{column:?} of {line:?}");
                } else {
                    assert_eq!(found, expected, "{column:?} of {line:?}");
                }
                let may_be_absent = bytes.is_empty() || column.absent.is_some();
                assert!(found != Cell::Absent || may_be_absent, "{column:?} of {line:?}");
            }
        }
    });
}

#[test]
fn no_part_of_a_password_is_in_a_masked_cell() {
    for (line, words) in [
        ("postgres://user:p4s@db.example/x", &["p4s"][..]),
        ("sftp://u:\u{43f}\u{430}\u{440}@h/", &["%d0%bf", "\u{43f}"]),
        ("postgres://u:SEC%61RET@h/db", &["secaret", "sec%61ret"]),
        ("sftp://u:SEC/RET@h.com/", &["sec", "ret"]),
        ("http:/u:p4s@h/", &["p4s"]),
        ("http://u:@abc/x@h", &["abc"]),
        ("http://u:@SEC%61RET.com/x@h/", &["secaret", "sec%61ret"]),
        ("foo://u%3Asecretpw?@h", &["secretpw"]),
        ("//a:/u:SEC%61RET@h", &["secaret", "sec%61ret"]),
        ("http:.com%3A/../zqjwxk%3A@%40", &["zqjwxk"]),
        ("http:a:@abc/x@", &["abc"]),
        ("http://u:@1234567/x@h/", &["1234567", "0.18.214.135"]),
        ("http://u:4711/x@h", &["4711"]),
    ] {
        for base in [None, Some("http://b.example/c/d")] {
            let (url, base) = (
                base.and_then(|base| parse(base.as_bytes(), None).url().cloned()),
                base.map(|base| Base::new(base.as_bytes()).unwrap()),
            );
            let origins = vec![Origin { base, url, hides_password: false }];
            let mut batch = Batch::of_values(
                &columns(),
                &mut Scanner::default(),
                &[Some(line.as_bytes())],
                line.as_bytes(),
                GRAMMAR,
                origins,
            );
            batch.mask_passwords = true;
            for (column, cells) in
                COLUMNS.iter().zip(batch.cells(&columns())).filter(|(column, _)| column.is_masked)
            {
                let Cells::Texts(texts) = cells else { panic!("{column:?}") };
                let shown = String::from_utf8_lossy(texts.get(0).unwrap_or_default()).to_lowercase();
                assert!(!words.iter().any(|word| shown.contains(word)), "{line} {}: {shown}", column.name);
            }
        }
    }
}

/// What Python has of values is what `lines` has of lines. Values are not blank, and columns of several batches can be joined.
#[test]
fn values_have_the_cells_of_lines() {
    let all = lines();
    let text = all.concat();
    let mut rest = &text[..];
    let mut values: Vec<_> = all.iter().map(|line| rest.split_off(..line.len())).collect();
    values.extend([None, Some(&b"http://h/\n"[..]), None]);
    // Some values are not in the text that is said to be around them.
    for around in [&b""[..], &text, &text[text.len() / 3..text.len() / 2]] {
        have_the_cells_of_lines(&values, around);
    }
}

fn have_the_cells_of_lines(values: &[Option<&[u8]>], around: &[u8]) {
    let columns: Vec<_> = COLUMNS.iter().filter(|column| column.needs != Need::Place).collect();
    let origin = origins().pop().unwrap();
    let mut scanner = Scanner::default();
    let mut joined = Batch::of_values(&columns, &mut scanner, &[], b"", GRAMMAR, Vec::new()).cells(&columns);
    for part in values.chunks(100) {
        let cells = Batch::of_values(&columns, &mut scanner, part, around, GRAMMAR, vec![origin.clone()])
            .cells(&columns);
        joined.iter_mut().zip(cells).for_each(|(joined, cells)| joined.append(cells));
    }
    let unjudged: Vec<_> = columns.iter().copied().filter(|column| !column.needs.is_judged()).collect();
    let mut cells = Batch::of_values(&unjudged, &mut scanner, values, around, GRAMMAR, vec![origin.clone()])
        .cells(&unjudged);
    assert!(unjudged.len() > 15);
    for (column, cells) in columns
        .iter()
        .zip(&joined)
        .chain(unjudged.iter().zip(&mut cells).map(|(column, cells)| (column, &*cells)))
    {
        for (n, value) in values.iter().enumerate() {
            let found = cell_of(column, cells, n);
            let Some(bytes) = value else {
                assert_eq!(found, Cell::Absent, "{column:?} of a null");
                continue;
            };
            let line = Line { bytes: Some((*bytes).into()), ..Line::default() };
            // The twin takes the empty value for a blank line.
            if !bytes.is_empty() {
                assert_eq!(found, cell(column.name, &line, &origin), "{column:?} of {line:?}");
            }
        }
    }
}
