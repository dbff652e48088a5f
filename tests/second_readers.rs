//! Second implementations of record formats, either simple or by other crates.

use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use urlsift::internal::run::{Format, Role};

/// Fields with their roles.
type Fields = Vec<(Role, Vec<u8>)>;

/// The result of a second implementation.
pub(crate) enum Expected {
    /// Fields by line number. Lines about which it cannot say anything are left out.
    ByLine(Vec<(u64, Fields)>),
    /// All fields, in order.
    InOrder(Fields),
}

/// The number of records, for formats with one record per line.
pub(crate) fn count_records(format: Format, bytes: &[u8]) -> Option<u64> {
    use Format::{Csv, Html, Json, Text, Tsv, Warc, Wat, Xml};
    let is_by_lines = !matches!(format, Json | Csv | Tsv | Warc | Wat | Text | Xml | Html);
    is_by_lines.then(|| lines(bytes).len() as u64)
}

/// The fields of the records. `None` if there is no second implementation for this format and these bytes.
pub(crate) fn fields(format: Format, bytes: &[u8]) -> Option<Expected> {
    match format {
        Format::Lines => Some(each_line(bytes, |line| Some(vec![(Role::Url, line.to_vec())]))),
        Format::JsonLines => Some(each_line(bytes, json)),
        Format::Cdxj => Some(each_line(bytes, cdxj)),
        Format::W3c => Some(w3c(bytes)),
        Format::Csv => csv(bytes, b','),
        Format::Tsv => csv(bytes, b'\t'),
        _ => None,
    }
}

/// The string of the key "url", if the line is JSON. Our reader may also find one in broken JSON.
fn json(line: &[u8]) -> Option<Fields> {
    struct FirstUrl(Option<Value>);
    impl<'de> Deserialize<'de> for FirstUrl {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            struct Members;
            impl<'de> Visitor<'de> for Members {
                type Value = FirstUrl;
                fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                    out.write_str("an object")
                }
                fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<FirstUrl, A::Error> {
                    let mut found = None;
                    while let Some((name, value)) = members.next_entry::<String, Value>()? {
                        if name == "url" {
                            found.get_or_insert(value);
                        }
                    }
                    Ok(FirstUrl(found))
                }
            }
            from.deserialize_map(Members)
        }
    }
    let FirstUrl(found) = serde_json::from_slice(line).ok()?;
    Some(match found {
        Some(Value::String(url)) => vec![(Role::Url, url.into_bytes())],
        _ => Vec::new(),
    })
}

fn cdxj(line: &[u8]) -> Option<Fields> {
    if line.starts_with(b"!") || line.starts_with(b"@") {
        return Some(Vec::new());
    }
    json(line.splitn(3, |&byte| byte == b' ').nth(2).filter(|object| object.starts_with(b"{"))?)
}

/// Reads the columns that a header names, by splitting each line.
fn w3c(bytes: &[u8]) -> Expected {
    let mut names: Vec<Vec<u8>> = Vec::new();
    let mut by_line = Vec::new();
    for (line, number) in lines(bytes).into_iter().zip(1..).filter(|(line, _)| !line.is_empty()) {
        let mut fields = None;
        if let Some(header) = line.strip_prefix(b"#Fields:") {
            let blanks = header.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty());
            names = blanks.map(<[u8]>::to_ascii_lowercase).collect();
        } else if !line.starts_with(b"#") {
            let columns: Vec<_> = if line.contains(&b'\t') {
                line.split(|&byte| byte == b'\t').collect()
            } else {
                line.split(|&byte| byte == b' ').filter(|column| !column.is_empty()).collect()
            };
            fields = w3c_fields(&names, &columns);
        }
        by_line.push((number, fields.unwrap_or_default()));
    }
    Expected::ByLine(by_line)
}

/// The fields of a line; `None` if it has too few columns.
fn w3c_fields(names: &[Vec<u8>], columns: &[&[u8]]) -> Option<Fields> {
    let index = |wanted: &str| names.iter().position(|name| name == wanted.as_bytes());
    let (mut stem, mut query) = (index("cs-uri-stem"), index("cs-uri-query"));
    if stem.is_none() {
        (stem, query) = (index("cs-uri"), None);
    }
    let mut fields = Vec::new();
    if let Some(stem) = stem {
        let stem = *columns.get(stem)?;
        if stem != b"-" {
            let query = query.map_or(Some(&b"-"[..]), |query| columns.get(query).copied())?;
            let has_query = !matches!(query, b"-" | b"");
            let request = if has_query { [stem, b"?", query].concat() } else { stem.to_vec() };
            fields.push((Role::Request, request));
        }
    }
    if let Some(referer) = index("cs(referer)") {
        let referer = *columns.get(referer)?;
        if referer != b"-" {
            fields.push((Role::Referer, referer.to_vec()));
        }
    }
    Some(fields)
}

/// Reads fields by the csv crate. It differs from our reader: it treats a lone CR as a line end, an unclosed quote as a
/// field, and an unterminated comment as an empty record.
fn csv(bytes: &[u8], delimiter: u8) -> Option<Expected> {
    let last = bytes.rsplit(|&byte| byte == b'\n').next()?;
    if bytes.contains(&b'\r') || last.starts_with(b"#") {
        return None;
    }
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .comment(Some(b'#'))
        .terminator(csv::Terminator::Any(b'\n'))
        .delimiter(delimiter)
        .from_reader(bytes);
    let mut records = reader.byte_records().map(Result::unwrap);
    let Some(header) = records.next() else { return Some(Expected::InOrder(Vec::new())) };
    let exact = header.iter().position(|name| name == b"url");
    // Case, white space and "_" do not count.
    let letters = |name: &[u8]| -> Vec<u8> {
        name.to_ascii_lowercase().into_iter().filter(|byte| !b" \t\n\r\x0c_".contains(byte)).collect()
    };
    let alike = || header.iter().position(|name| letters(name) == b"url");
    let column = exact.or_else(alike);
    if column.is_none() && (bytes.contains(&b'#') || memchr::memmem::find(bytes, b"://").is_some()) {
        // The header may be a comment, and the values may tell the column.
        return None;
    }
    let field = |record: csv::ByteRecord| Some((Role::Url, record.get(column?)?.to_vec()));
    Some(Expected::InOrder(records.filter_map(field).collect()))
}

/// The lines of `bytes` without their terminators.
fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines: Vec<_> = bytes.split(|&byte| byte == b'\n').collect();
    if lines.last().is_some_and(|last| last.is_empty()) {
        lines.pop();
    }
    let trim = |line: &mut &[u8]| {
        while let Some(rest) = line.strip_suffix(b"\r") {
            *line = rest;
        }
    };
    lines.iter_mut().for_each(trim);
    lines
}

fn each_line(bytes: &[u8], read: impl Fn(&[u8]) -> Option<Fields>) -> Expected {
    let numbered = lines(bytes).into_iter().zip(1..).filter(|(line, _)| !line.is_empty());
    Expected::ByLine(numbered.filter_map(|(line, number)| Some((number, read(line)?))).collect())
}
