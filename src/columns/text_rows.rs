//! Writes cells as text: a row for each line, of fields between tabs or as a JSON object.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use super::cells::Texts;
use super::{Batch, Cells, Column, Type};
use urlsift_grammar::at_once;
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

/// Rows that are being written, and what is kept from one batch to the next.
pub(crate) struct TextRows<'c> {
    pub(crate) out: Vec<u8>,
    form: Form,
    keep: Keep,
    columns: &'c [&'static Column],
    /// For each column, the texts of its values.
    few_texts: Vec<FewTexts>,
}

impl<'c> TextRows<'c> {
    /// No rows yet, with room for so many bytes.
    pub(crate) fn new(form: Form, keep: Keep, columns: &'c [&'static Column], capacity: usize) -> Self {
        let few_texts = vec![FewTexts::default(); columns.len()];
        Self { out: Vec::with_capacity(capacity), form, keep, columns, few_texts }
    }

    /// Appends a row for each line of a batch.
    pub(crate) fn write<E>(&mut self, batch: &mut Batch<'_>, full: Full<'_, E>) -> Result<(), E> {
        let Self { out, form, keep, columns, few_texts } = self;
        let cells = batch.cells(columns);
        let has_text = columns.iter().any(|column| column.of == Type::Text);
        let mut fields: Vec<_> = columns
            .iter()
            .zip(&cells)
            .zip(few_texts)
            .map(|((column, cells), texts)| (*column, cells, texts))
            .collect();
        let (mut first, mut start, mut are_plain) = (0, out.len(), true);
        for n in 0..batch.lines.len() {
            match form {
                // Rows that follow special ones are often special too.
                Form::Tsv if are_plain => push_fields::<true>(out, &mut fields, n, *keep),
                Form::Tsv => push_any_fields(out, &mut fields, n, *keep),
                Form::Jsonl => push_object(out, columns, &cells, n),
            }
            if out.len() - start < TOGETHER && n + 1 < batch.lines.len() {
                continue;
            }
            let rows = first..n + 1;
            if *form == Form::Tsv && has_text {
                let were_plain = are_plain;
                are_plain = are_plain_fields(&out[start..], rows.len() * columns.len());
                if were_plain && !are_plain {
                    out.truncate(start);
                    rows.for_each(|n| push_any_fields(out, &mut fields, n, *keep));
                }
            }
            if out.len() > MAX_WAITING {
                full(out)?;
            }
            (first, start) = (n + 1, out.len());
        }
        Ok(())
    }
}

/// Rows are looked at for what has to be escaped once they have this many bytes.
const TOGETHER: usize = 256;

/// Whether nothing in rows of this many fields has to be escaped: no byte but those between and after the fields is special.
fn are_plain_fields(rows: &[u8], n_fields: usize) -> bool {
    let is_special = |byte: u8| matches!(byte, ..b' ' | b'\\' | 0x7f..);
    let n_special =
        |bytes: &[u8; 64]| usize::from(bytes.iter().map(|&byte| u8::from(is_special(byte))).sum::<u8>());
    let (blocks, rest) = rows.as_chunks();
    let mut last = [b' '; 64];
    last[..rest.len()].copy_from_slice(rest);
    blocks.iter().chain([&last]).map(n_special).sum::<usize>() == n_fields
}

/// A column, its cells, and the texts of its values.
type TextColumn<'f> = (&'f Column, &'f Cells<'f>, &'f mut FewTexts);

/// Appends cells `n` as a row. Texts are plain if `ARE_PLAIN`.
#[inline(always)]
fn push_fields<const ARE_PLAIN: bool>(
    out: &mut Vec<u8>,
    columns: &mut [TextColumn<'_>],
    n: usize,
    keep: Keep,
) {
    for (column, cells, texts) in columns {
        match cells {
            Cells::Texts(cells) if ARE_PLAIN && column.of == Type::Text => push_plain(out, cells, n),
            Cells::Sets(names, sets) => {
                texts.push(out, sets[n], |text, bits| push_list(text, of_set(names, bits)));
            }
            Cells::Names(names) if names.are_fixed => {
                let number = u8::try_from(names.numbers[n]).ok();
                texts.push(out, number, |text, number| push(text, &names.names[usize::from(number)]));
            }
            _ => push_field(out, column, cells, n, keep),
        }
        out.push(b'\t');
    }
    if let Some(last) = out.last_mut() {
        *last = b'\n';
    }
}

/// The same for any texts. Few rows need it, so the loop over rows does not contain it.
#[inline(never)]
fn push_any_fields(out: &mut Vec<u8>, columns: &mut [TextColumn<'_>], n: usize, keep: Keep) {
    push_fields::<false>(out, columns, n, keep);
}

/// The text of each value of a column that has at most 256 values, made when it is needed first. 64 zeros follow it, so that it can be copied by a fixed
/// length. The number is its length without them.
#[derive(Clone, Default)]
struct FewTexts(Vec<(Vec<u8>, usize)>);

impl FewTexts {
    /// Appends the text of a value to `out`. `write` makes it.
    #[inline(always)]
    fn push(&mut self, out: &mut Vec<u8>, number: Option<u8>, write: impl FnOnce(&mut Vec<u8>, u8)) {
        let Some(number) = number else { return out.push(b'-') };
        if self.0.is_empty() {
            self.0.resize(1 << 8, Default::default());
        }
        let (text, len) = &mut self.0[usize::from(number)];
        if text.is_empty() {
            write(text, number);
            *len = text.len();
            text.resize(*len + 64, 0);
        }
        at_once::append::<64>(out, text, *len);
    }
}

/// Appends a text without escapes. A text that is "-" is escaped, because "-" is an absent cell.
#[inline(always)]
fn push_plain(out: &mut Vec<u8>, texts: &Texts<'_>, n: usize) {
    let start = out.len();
    if !texts.push_to(out, n) {
        out.push(b'-');
    } else if out[start..] == *b"-" {
        out.pop();
        push(out, "\\x2d");
    }
}

/// Appends cell `n` as a field.
fn push_field(out: &mut Vec<u8>, column: &Column, cells: &Cells<'_>, n: usize, keep: Keep) {
    let start = out.len();
    let is_there = match cells {
        Cells::Numbers(numbers) => numbers[n].map(|number| push_number(out, number)),
        Cells::Names(names) => names.get(n).map(|name| push(out, name)),
        Cells::Sets(..) => unreachable!("sets have few texts"),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| push_list(out, of_list(names, list))),
        Cells::Defects(defects) => defects[n].as_ref().map(|defect| push_defect(out, defect)),
        Cells::Texts(texts) if column.of == Type::Words => {
            texts.get(n).map(|words| push(out, &String::from_utf8_lossy(words)))
        }
        Cells::Texts(texts) => texts.get(n).map(|text| push_text(out, text, keep)),
    };
    if is_there.is_none() {
        out.push(b'-');
    } else if column.of == Type::Text && &out[start..] == b"-" {
        // A "-" of the data is not a missing value.
        out.truncate(start);
        push(out, "\\x2d");
    }
}

/// Appends cells `n` as an object.
fn push_object(out: &mut Vec<u8>, columns: &[&Column], cells: &[Cells<'_>], n: usize) {
    out.push(b'{');
    for (column, cells) in columns.iter().zip(cells) {
        push_member(out, column.name, cells, n);
        out.push(b',');
    }
    out.pop();
    push(out, "}\n");
}

/// Appends cell `n` as a member of an object.
fn push_member(out: &mut Vec<u8>, name: &str, cells: &Cells<'_>, n: usize) {
    out.push(b'"');
    push(out, name);
    if let Cells::Texts(texts) = cells
        && let Some(bytes) = texts.get(n)
        && !is_plain(bytes)
        && str::from_utf8(bytes).is_err()
    {
        push(out, "_base64\":");
        return push_string(out, BASE64_STANDARD.encode(bytes).as_bytes());
    }
    push(out, "\":");
    let is_there = match cells {
        Cells::Numbers(numbers) => numbers[n].map(|number| push_number(out, number)),
        Cells::Names(names) => names.get(n).map(|name| push_string(out, name.as_bytes())),
        Cells::Sets(names, sets) => sets[n].map(|bits| push_array(out, of_set(names, bits))),
        Cells::Lists(names, lists) => lists[n].as_ref().map(|list| push_array(out, of_list(names, list))),
        Cells::Defects(defects) => {
            defects[n].as_ref().map(|defect| push_string(out, defect.to_string().as_bytes()))
        }
        Cells::Texts(texts) => texts.get(n).map(|text| push_string(out, text)),
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

pub(crate) fn push(out: &mut Vec<u8>, text: &str) {
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

pub(crate) fn push_number(out: &mut Vec<u8>, number: u64) {
    push(out, itoa::Buffer::new().format(number));
}

/// Appends names joined by commas, or "none".
fn push_list(out: &mut Vec<u8>, mut names: impl Iterator<Item = &'static str>) {
    push(out, names.next().unwrap_or("none"));
    for name in names {
        out.push(b',');
        push(out, name);
    }
}

/// Appends the same text as `{defect}`, without the cost of a formatter that supports padding.
pub(crate) fn push_defect(out: &mut Vec<u8>, defect: &Defect) {
    for text in [defect.component.name(), ":", defect.cause.name(), "@"] {
        push(out, text);
    }
    push_number(out, defect.offset);
}

#[cfg(test)]
mod tests {
    use super::are_plain_fields;

    #[test]
    fn any_byte_but_visible_ascii_and_blanks_is_found_anywhere() {
        for byte in 0..=u8::MAX {
            for at in 0..130 {
                let mut rows = b"a".repeat(130);
                rows[at] = byte;
                let rows = [&rows, &b"\t-\n"[..]].concat();
                let is_plain = matches!(byte, b' '..=b'~') && byte != b'\\';
                assert_eq!(are_plain_fields(&rows, 2), is_plain, "{byte} at {at}");
            }
        }
    }
}
