//! Writes cells as text: a row for each line, of fields between tabs or as a JSON object.

use std::fmt::Write;

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
pub(crate) type Full<'f, E> = &'f mut dyn FnMut(&mut String) -> Result<(), E>;

/// The most bytes of rows that wait. The rows of a chunk can be a thousand times as long as the chunk, if a base is long.
const MAX_WAITING: usize = 8 << 20;

/// Appends a row for each line of a batch.
pub(crate) fn write<E>(
    out: &mut String,
    form: Form,
    keep: Keep,
    columns: &[&Column],
    batch: &mut Batch<'_>,
    full: Full<'_, E>,
) -> Result<(), E> {
    let cells = batch.cells(columns);
    let mut last = vec![(0, "none".to_owned()); columns.len()];
    for n in 0..batch.lines.len() {
        let mut before = if form == Form::Tsv { "" } else { "{" };
        for ((column, cells), last) in columns.iter().zip(&cells).zip(&mut last) {
            out.push_str(before);
            match form {
                Form::Tsv => push_field(out, column, cells, n, (keep, last)),
                Form::Jsonl => push_member(out, column.name, cells, n),
            }
            before = if form == Form::Tsv { "\t" } else { "," };
        }
        out.push_str(if form == Form::Tsv { "\n" } else { "}\n" });
        if out.len() > MAX_WAITING {
            full(out)?;
        }
    }
    Ok(())
}

/// Appends cell `n` as a field. `last` is a set and its text: most sets are the one before.
fn push_field(
    out: &mut String,
    column: &Column,
    cells: &Cells<'_>,
    n: usize,
    (keep, last): (Keep, &mut (u8, String)),
) {
    let start = out.len();
    let is_there = match cells {
        Cells::Numbers(numbers) => numbers[n].map(|number| push_number(out, number)),
        Cells::Names(names) => names.get(n).map(|name| out.push_str(name)),
        Cells::Sets(names, sets) => sets[n].map(|bits| {
            if last.0 != bits {
                *last = (bits, String::new());
                push_list(&mut last.1, of_set(names, bits));
            }
            out.push_str(&last.1);
        }),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| push_list(out, of_list(names, list))),
        Cells::Defects(defects) => defects[n].as_ref().map(|defect| push_defect(out, defect)),
        Cells::Texts(texts) if column.of == Type::Words => {
            texts[n].as_ref().map(|words| out.push_str(&String::from_utf8_lossy(words)))
        }
        Cells::Texts(texts) => texts[n].as_ref().map(|text| push_text(out, text, keep)),
    };
    if is_there.is_none() {
        out.push('-');
    } else if column.of == Type::Text && &out[start..] == "-" {
        // A "-" of the data is not a missing value.
        out.truncate(start);
        out.push_str("\\x2d");
    }
}

/// Appends cell `n` as a member of an object.
fn push_member(out: &mut String, name: &str, cells: &Cells<'_>, n: usize) {
    if let Cells::Texts(texts) = cells
        && let Some(text) = texts[n].as_deref().filter(|text| is_plain(text) && !text.contains(&b'"'))
        && let Ok(text) = str::from_utf8(text)
    {
        return out.extend(["\"", name, "\":\"", text, "\""]);
    }
    let mut suffix = "";
    let value = match cells {
        Cells::Numbers(numbers) => numbers[n].map(Value::from),
        Cells::Names(names) => names.get(n).map(Value::from),
        Cells::Sets(names, sets) => sets[n].map(|bits| of_set(names, bits).collect()),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| of_list(names, list).collect()),
        Cells::Defects(defects) => defects[n].as_ref().map(|defect| defect.to_string().into()),
        Cells::Texts(texts) => texts[n].as_ref().map(|text| {
            if let Ok(text) = str::from_utf8(text) {
                return text.into();
            }
            suffix = "_base64";
            BASE64_STANDARD.encode(text).into()
        }),
    };
    let _ = write!(out, "\"{name}{suffix}\":{}", visible_json(&value.unwrap_or_default().to_string()));
}

/// The names in a set.
fn of_set(names: &[&'static str], bits: u8) -> impl Iterator<Item = &'static str> {
    names.iter().enumerate().filter(move |(n, _)| bits >> n & 1 == 1).map(|(_, name)| *name)
}

/// The names in a list.
fn of_list(names: &[&'static str], list: &[u8]) -> impl Iterator<Item = &'static str> {
    list.iter().map(|&number| names[usize::from(number)])
}

/// Appends a number.
pub(crate) fn push_number(out: &mut String, number: u64) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Appends names joined by commas, or "none".
fn push_list(out: &mut String, mut names: impl Iterator<Item = &'static str>) {
    out.push_str(names.next().unwrap_or("none"));
    names.for_each(|name| out.extend([",", name]));
}

/// Appends the same text as `{defect}`, without the cost of a formatter that supports padding.
pub(crate) fn push_defect(out: &mut String, defect: &Defect) {
    let mut digits = itoa::Buffer::new();
    out.extend([defect.component.name(), ":", defect.cause.name(), "@", digits.format(defect.offset)]);
}
