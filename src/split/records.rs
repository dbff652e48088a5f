//! Splits records: those whose URLs are all accepted are copied byte for byte, the others are written with their
//! defects.
//!
//! A record is judged field by field. Headers and comments are not records. They go to both outputs, which cannot be
//! read without them. This file does not know how records are written.

use std::io;
use std::ops::Range;

use super::outputs::{Header, Parts, To};
use super::{Blank, Form, Options, Splitter, push, push_defect, push_number, push_place, replace};
use crate::columns::{BATCH, Batch, Line, Need};
use crate::run::pipeline::PooledBuffer;
use crate::scan::record_fields;
use urlsift_grammar::defect::Defect;
use urlsift_grammar::escape::{Keep, mask, push_text};
use urlsift_grammar::judge::judge;
use urlsift_grammar::password::{Spelling, secrets, secrets_of_record};
use urlsift_input::Advice;
use urlsift_records::{Format, Found, Part, Reader, Skip, WantedNames, Whole, without_end};

/// Checks that records of a format can be split with these options.
///
/// # Errors
/// If such records cannot be assembled in other files, or only lists are allowed.
pub(super) fn check(format: Format, options: &Options) -> io::Result<()> {
    let kind = io::ErrorKind::InvalidInput;
    if format == Format::Parquet {
        let why = "a Parquet file cannot be split, because its rows have no text to copy";
        return Err(Advice::ListValues.error(kind, why));
    }
    if format != Format::Lines && options.lists_only {
        let why = format!(
            "records of {format} may hold bytes that control a terminal: name a file, or pipe them on"
        );
        return Err(io::Error::new(kind, why));
    }
    if format.has_text_records() {
        return Ok(());
    }
    let is_one = |format: &&Format| format.has_text_records() && **format != Format::Lines;
    let formats = Format::ALL.iter().filter(is_one).map(|format| format.name());
    let formats = formats.collect::<Vec<_>>().join(", ");
    let why = format!("records of {format} cannot be split, only those of {formats}");
    Err(Advice::ListUrls(format.name()).error(kind, why))
}

impl Splitter<'_> {
    /// Splits whole records of `input`, given by number and name, which `reader` reads. If `is_open`, the last record
    /// continues in the next chunk.
    pub(super) fn split_records(
        &self,
        mut bytes: PooledBuffer,
        mut reader: Box<Reader>,
        is_open: bool,
        input: (u32, &str),
    ) -> Parts {
        let whole = bytes.get();
        let mut found = record_fields::Records::new(reader.format());
        let names = reader.names().clone();
        let mut records = reader.records(whole);
        let begin = records.mark + records.gap;
        let mut parts = Parts::new(input.0, found.format);
        parts.gap = whole[records.mark..begin].to_vec();
        parts.split.boms = u64::from(records.mark > 0);
        // The ranges that are not kept in the accepted output, and how many bytes are.
        let (mut gone, mut n_kept) = (Vec::new(), 0);
        // What is kept, if passwords are to be masked.
        let mut masked = Vec::new();
        let mut batch = self.options.batch();
        while let Some(record) = records.next() {
            let text = &whole[record.range.clone()];
            let fate = self.judge(&record, &mut found, &mut batch);
            // The record may continue in the next chunk.
            let is_cut = is_open && record.range.end == whole.len();
            let shown = if self.options.mask_passwords {
                mask(text, secrets_of(&record, text, is_cut))
            } else {
                text.into()
            };
            let (to, count) = match fate {
                Fate::Accepted => (To::Accepted, &mut parts.split.accepted),
                Fate::Refused(_) => (To::Refused, &mut parts.split.refused),
                Fate::Blank => (self.options.blank.into(), &mut parts.split.blank),
                Fate::Unmatched => (To::Nowhere, &mut parts.split.unmatched),
                Fate::Header => (To::Nowhere, &mut parts.split.remarks),
                Fate::Remark => (To::Both, &mut parts.split.remarks),
            };
            *count += 1;
            if matches!(fate, Fate::Header) {
                parts.header = Some(Header { text: shown.to_vec(), at: [n_kept, parts.to_refused.len()] });
            }
            match self.options.form {
                _ if !self.refused => {}
                Form::Lines if matches!(to, To::Refused | To::Both) => {
                    parts.to_refused.extend_from_slice(&shown);
                }
                Form::Tsv if to == To::Refused => {
                    let offset = bytes.offset + record.range.start as u64;
                    let mut row = Vec::new();
                    push_place(&mut row, input.1, record.line, offset);
                    self.push_causes(&mut row, &fate, &names);
                    push_text(&mut row, without_end(&shown), Keep::Ascii);
                    // The row of a record that continues in the next chunk is not complete yet.
                    if !is_cut {
                        row.push(b'\n');
                    }
                    parts.to_refused.extend(row);
                }
                Form::Lines | Form::Tsv => {}
            }
            if matches!(to, To::Refused | To::Nowhere) {
                gone.push(record.range);
            } else {
                n_kept += shown.len();
                if self.options.mask_passwords {
                    masked.extend_from_slice(&shown);
                }
            }
            parts.last = Some(to);
        }
        drop(batch);
        found.take(&reader, whole);
        parts.split.records.push((input.0, found));
        let (mut kept, mut from) = (0, begin);
        for gone in gone {
            kept = bytes.pull(from..gone.start, kept);
            from = gone.end;
        }
        let len = bytes.get().len();
        kept = bytes.pull(from..len, kept);
        if self.options.mask_passwords {
            kept = n_kept;
            replace(&mut bytes, masked);
        }
        bytes.truncate(if self.accepted { kept } else { 0 });
        parts.to_accepted = Some(bytes);
        parts
    }

    /// Decides what becomes of a record, and notes its fields in `found`. The batch keeps its memory for the next record.
    fn judge<'f, 'a>(
        &self,
        record: &Whole<'f, 'a>,
        found: &mut record_fields::Records,
        batch: &mut Batch<'a>,
    ) -> Fate<'f, 'a> {
        let fields = match record.found {
            Found::Fields(fields) => fields,
            Found::Bad(bad) => {
                found.refuse(bad);
                return self.without_url(Fate::Refused(Why::Record(bad.cause.name(), bad.at)));
            }
            Found::Nothing(reason @ (Skip::NoField | Skip::Encoded)) => {
                return self.without_url(Fate::Refused(Why::Record(reason.name(), 0)));
            }
            Found::Nothing(Skip::Blank) => return self.without_url(Fate::Blank),
            Found::Nothing(Skip::Header) if found.format.has_cells() => {
                return Fate::Header;
            }
            Found::Nothing(_) => return Fate::Remark,
        };
        let filter = &self.options.filter;
        let (mut is_blank, mut is_refused, mut matches) = (true, false, filter.is_empty());
        let needs_advisories = filter.needs().any(|need| need == Need::Advisories);
        let select = |batch: &mut Batch<'a>| {
            filter.retain(batch);
            let is_selected = !batch.lines.is_empty();
            batch.clear();
            is_selected
        };
        for field in fields {
            let line = (!matches).then(|| Line::of_field(field.bytes.clone(), needs_advisories));
            let judged = || (!field.bytes.is_empty()).then(|| judge(&field.bytes).verdict());
            let verdict = line.as_ref().map_or_else(judged, |line| line.verdict);
            found.add(field.wanted, field.role, verdict);
            batch.lines.extend(line);
            // A record may have any number of fields.
            matches |= batch.lines.len() >= BATCH && select(batch);
            is_blank &= verdict.is_none();
            is_refused |= verdict.is_some_and(|verdict| !verdict.includes(self.options.by));
        }
        matches |= !batch.lines.is_empty() && select(batch);
        match fields.first() {
            _ if !matches => Fate::Unmatched,
            Some(first) if is_blank => Fate::Refused(Why::Record(Skip::Blank.name(), first.at as u64)),
            _ if is_refused => Fate::Refused(Why::Fields(fields)),
            _ => Fate::Accepted,
        }
    }

    /// Decides what becomes of a record without a URL, which matches no condition.
    fn without_url<'f, 'a>(&self, fate: Fate<'f, 'a>) -> Fate<'f, 'a> {
        if self.options.filter.is_empty() { fate } else { Fate::Unmatched }
    }

    /// Appends for each grammar why the record is refused. `names` are those of the wanted fields.
    fn push_causes(&self, row: &mut Vec<u8>, fate: &Fate<'_, '_>, names: &WantedNames) {
        for grammar in self.options.by.iter() {
            match fate {
                Fate::Refused(Why::Fields(fields)) => {
                    let judged = fields.iter().filter(|field| !field.bytes.is_empty());
                    let mut defects = judged.map(|field| (field, Defect::of_line(grammar, &field.bytes)));
                    match defects.find_map(|(field, defect)| Some((field, defect?))) {
                        Some((field, defect)) => {
                            push(row, names.of(field.wanted, field.role));
                            row.push(b'@');
                            push_number(row, field.at as u64);
                            row.push(b':');
                            push_defect(row, &defect);
                        }
                        None => row.push(b'-'),
                    }
                }
                Fate::Refused(Why::Record(cause, at)) => {
                    for text in ["record:", cause, "@"] {
                        push(row, text);
                    }
                    push_number(row, *at);
                }
                Fate::Blank | Fate::Unmatched | Fate::Accepted | Fate::Header | Fate::Remark => {
                    push(row, "blank");
                }
            }
            row.push(b'\t');
        }
    }
}

/// Returns the ranges of a record that may be passwords. `is_cut` means that the record continues after `text`.
fn secrets_of(record: &Whole<'_, '_>, text: &[u8], is_cut: bool) -> Vec<Range<usize>> {
    let mut all = secrets_of_record(text, is_cut);
    let Found::Fields(fields) = record.found else { return all };
    for field in fields {
        let of_field = secrets(&field.bytes, false);
        match places(text.get(field.at..).unwrap_or_default(), &field.bytes) {
            Some(at) => {
                all.extend(of_field.iter().map(|range| field.at + at[range.start]..field.at + at[range.end]));
            }
            // The text does not show where a password is, so the rest of the record is masked.
            None if !of_field.is_empty() => all.push(field.at..without_end(text).len()),
            None => {}
        }
    }
    all
}

/// Returns where each byte of a field begins in `text`, and where the field ends. A backslash may precede a byte, or a byte may be
/// escaped. `None` if the field has other escapes.
fn places(text: &[u8], field: &[u8]) -> Option<Vec<usize>> {
    let mut at = 0;
    let mut places = Vec::with_capacity(field.len() + 1);
    for &byte in field {
        places.push(at);
        at += match text.get(at..)? {
            [first, ..] if *first == byte => 1,
            [b'\\', second, ..] if *second == byte => 2,
            rest => Spelling::at(rest).filter(|spelling| spelling.byte == byte)?.len,
        };
    }
    places.push(at);
    Some(places)
}

/// What becomes of a record.
enum Fate<'f, 'a> {
    Accepted,
    Refused(Why<'f, 'a>),
    /// A blank line.
    Blank,
    /// A record without a URL that matches the filter.
    Unmatched,
    /// A header that names the columns of a table.
    Header,
    /// A comment, or a header that may occur anywhere.
    Remark,
}

/// Why a record is refused.
enum Why<'f, 'a> {
    /// At least one of these fields is refused.
    Fields(&'f [Part<'a>]),
    /// The record itself, for a cause at this byte of it.
    Record(&'static str, u64),
}

impl From<Blank> for To {
    fn from(blank: Blank) -> Self {
        match blank {
            Blank::Accepted => Self::Accepted,
            Blank::Refused => Self::Refused,
            Blank::Dropped => Self::Nowhere,
        }
    }
}
