//! Writes cells as text: a row for each line, of fields between tabs or as a JSON object.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::{Batch, Cells, Column, Type};
use urlsift_grammar::defect::Defect;
use urlsift_grammar::escape::{Keep, is_plain, push_text, visible_json};

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Fields between tabs. An absent cell is `-`, and an empty list is `none`. Text that is `-` is `\x2d`.
    Tsv,
    /// One JSON object per row. An absent cell is null, and an empty list is `[]`. Text is a plain string. If it is not UTF-8, the name ends in
    /// `_base64`.
    Jsonl,
}

/// What gets the rows so far when there are many, and takes them out.
pub(crate) type Full<'f, E> = &'f mut dyn FnMut(&mut Vec<u8>) -> Result<(), E>;

/// The most bytes of rows that wait. The rows of a chunk can be a thousand times as long as the chunk, if a base is long.
const MAX_WAITING: usize = 8 << 20;

/// Appends a row for each line of a batch.
pub(crate) fn write<E>(
    out: &mut Vec<u8>,
    form: Form,
    keep: Keep,
    columns: &[&Column],
    batch: &mut Batch<'_>,
    full: Full<'_, E>,
) -> Result<(), E> {
    let cells = batch.cells(columns);
    let mut lists = vec![(0, Vec::from("none")); columns.len()];
    let (begin, between, end): (&[u8], _, &[u8]) = match form {
        Form::Tsv => (b"", b'\t', b"\n"),
        Form::Jsonl => (b"{", b',', b"}\n"),
    };
    for n in 0..batch.lines.len() {
        out.extend_from_slice(begin);
        for (at, (column, cells)) in columns.iter().zip(&cells).enumerate() {
            if at > 0 {
                out.push(between);
            }
            match form {
                Form::Tsv => push_field(out, column, cells, n, (keep, &mut lists[at])),
                Form::Jsonl => push_member(out, column.name, cells, n),
            }
        }
        out.extend_from_slice(end);
        if out.len() > MAX_WAITING {
            full(out)?;
        }
    }
    Ok(())
}

/// Appends cell `n` as a field. `last` is a set and its text: most sets are the one before.
fn push_field(
    out: &mut Vec<u8>,
    column: &Column,
    cells: &Cells<'_>,
    n: usize,
    (keep, last): (Keep, &mut (u8, Vec<u8>)),
) {
    let start = out.len();
    let is_there = match cells {
        Cells::Numbers(numbers) => numbers[n].map(|number| push_number(&mut |text| push(out, text), number)),
        Cells::Names(names) => names.get(n).map(|name| push(out, name)),
        Cells::Sets(names, sets) => sets[n].map(|bits| {
            if last.0 != bits {
                *last = (bits, Vec::new());
                push_list(&mut last.1, of_set(names, bits));
            }
            out.extend_from_slice(&last.1);
        }),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| push_list(out, of_list(names, list))),
        Cells::Defects(defects) => {
            defects[n].as_ref().map(|defect| push_defect(&mut |text| push(out, text), defect))
        }
        Cells::Texts(texts) if column.of == Type::Words => {
            texts[n].as_ref().map(|words| push(out, &String::from_utf8_lossy(words)))
        }
        Cells::Texts(texts) => texts[n].as_ref().map(|text| push_text(out, text, keep)),
    };
    if is_there.is_none() {
        out.push(b'-');
    } else if column.of == Type::Text && &out[start..] == b"-" {
        // A "-" of the data is not a missing value.
        out.truncate(start);
        push(out, "\\x2d");
    }
}

/// Appends cell `n` as a member of an object.
fn push_member(out: &mut Vec<u8>, name: &str, cells: &Cells<'_>, n: usize) {
    out.push(b'"');
    push(out, name);
    if let Cells::Texts(texts) = cells
        && let Some(bytes) = texts[n].as_deref()
        && !is_plain(bytes)
        && str::from_utf8(bytes).is_err()
    {
        push(out, "_base64\":");
        return push_string(out, BASE64_STANDARD.encode(bytes).as_bytes());
    }
    push(out, "\":");
    let is_there = match cells {
        Cells::Numbers(numbers) => numbers[n].map(|number| push_number(&mut |text| push(out, text), number)),
        Cells::Names(names) => names.get(n).map(|name| push_string(out, name.as_bytes())),
        Cells::Sets(names, sets) => sets[n].map(|bits| push_array(out, of_set(names, bits))),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| push_array(out, of_list(names, list))),
        Cells::Defects(defects) => {
            defects[n].as_ref().map(|defect| push_string(out, defect.to_string().as_bytes()))
        }
        Cells::Texts(texts) => texts[n].as_ref().map(|text| push_string(out, text)),
    };
    if is_there.is_none() {
        push(out, "null");
    }
}

/// Appends a text of UTF-8 as a string of JSON.
fn push_string(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) && !text.contains(&b'"') {
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
    } else {
        push(out, &visible_json(&Value::from(String::from_utf8_lossy(text)).to_string()));
    }
}

/// Appends names as an array of JSON.
fn push_array(out: &mut Vec<u8>, names: impl Iterator<Item = &'static str>) {
    out.push(b'[');
    for (n, name) in names.enumerate() {
        if n > 0 {
            out.push(b',');
        }
        push_string(out, name.as_bytes());
    }
    out.push(b']');
}

fn push(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(text.as_bytes());
}

/// The names in a set.
fn of_set(names: &[&'static str], bits: u8) -> impl Iterator<Item = &'static str> {
    names.iter().enumerate().filter(move |(n, _)| bits >> n & 1 == 1).map(|(_, name)| *name)
}

/// The names in a list.
fn of_list(names: &[&'static str], list: &[u8]) -> impl Iterator<Item = &'static str> {
    list.iter().map(|&number| names[usize::from(number)])
}

/// Passes a number to `push`.
pub(crate) fn push_number(push: &mut impl FnMut(&str), number: u64) {
    push(itoa::Buffer::new().format(number));
}

/// Appends names joined by commas, or "none".
fn push_list(out: &mut Vec<u8>, mut names: impl Iterator<Item = &'static str>) {
    push(out, names.next().unwrap_or("none"));
    for name in names {
        out.push(b',');
        push(out, name);
    }
}

/// Passes the same text as `{defect}` to `push`, without the cost of a formatter that supports padding.
pub(crate) fn push_defect(push: &mut impl FnMut(&str), defect: &Defect) {
    for text in [defect.component.name(), ":", defect.cause.name(), "@"] {
        push(text);
    }
    push_number(push, defect.offset);
}
