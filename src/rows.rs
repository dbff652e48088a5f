//! One row for each line of a list, or for each field of records, in the order of the input: what `urlsift lines` prints.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

use serde_json::Value;

use crate::grammar::Grammar;
use crate::grammar::advisory::Advisory;
use crate::grammar::escape::{self, MASK, masked};
use crate::grammar::judge::{Judgement, judge};
use crate::grammar::named_enum::named;
use crate::grammar::password::secrets;
use crate::grammar::resolve::Base;
use crate::grammar::uri_parts::split;
use crate::input::workers::with_helpers;
use crate::input::{Bytes, Input, Sizes};
use crate::lines::{skip_byte_order_mark, trim_terminator};
use crate::records::{Field, Format, Reader, Role};
use crate::run::chunk_cutter::AnyPiece;
use crate::run::format_choice::Reading;
use crate::run::pipeline::{Lent, Numbers, in_pieces, sources};
use crate::run::{Effort, Failure};
use crate::scan::record_fields;

named! {
    /// A column of a record.
    Column {
        /// The name of the input.
        Input = "input",
        /// The number of the line in its input, from 1; of a field, that of the line in which its record begins.
        Line = "line",
        /// Where the line or the field begins, in bytes from the start of its input.
        Offset = "offset",
        /// How many bytes the line has, without its terminator, or the field, its escapes undone.
        Length = "length",
        /// The accepting grammars joined by commas, or [`NONE`].
        Verdict = "verdict",
        /// absolute, relative or blank.
        Kind = "kind",
        /// The scheme, in lower case.
        Scheme = "scheme",
        /// Why the chosen grammar refuses the line: component:cause@offset.
        Defect = "defect",
        /// The advisories joined by commas, or [`NONE`].
        Advisories = "advisories",
        /// The line itself, bytes that are not printable ASCII escaped.
        Text = "text",
        /// What a field of a record is: url, request, referer or link; a line of a list has none.
        Field = "field",
        /// The URI that the line refers to, its scheme its own or the base's, written as [`Column::Text`] is; nothing if RFC 3986
        /// refuses the line.
        Resolved = "resolved",
    }
}

impl Column {
    /// The columns when none are chosen.
    pub const DEFAULT: [Self; 5] = [Self::Line, Self::Offset, Self::Verdict, Self::Kind, Self::Scheme];
}

/// The verdict of a line that no grammar accepts, and the advisories of one that has none, as a field. A blank line, which is not
/// judged, has neither: `-`.
pub const NONE: &str = "none";

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Tab-separated fields; what is not there is `-`, and a list of nothing [`NONE`].
    Tsv,
    /// One JSON object a record; what is not there is null, and a list of nothing an empty one.
    Jsonl,
}

/// Which records are written, and what is in them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Records {
    /// The fields, in this order.
    pub columns: Vec<Column>,
    /// How they are written.
    pub form: Form,
    /// The grammar of [`Column::Defect`] and of `only`.
    pub grammar: Grammar,
    /// Only lines that the grammar accepts (`true`) or refuses (`false`); blank lines are neither.
    pub only: Option<bool>,
    /// Whether the first record names the columns (TSV).
    pub header: bool,
    /// Whether passwords are written as they are.
    pub show_secrets: bool,
    /// Where in the inputs the URLs stand.
    pub reading: Reading,
    /// What lines are resolved against; without it, they have no [`Column::Resolved`].
    pub base: Option<Base>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            columns: Column::DEFAULT.to_vec(),
            form: Form::Tsv,
            grammar: Grammar::Rfc3986,
            only: None,
            header: false,
            show_secrets: false,
            reading: Reading::of(Format::Lines),
            base: None,
        }
    }
}

/// What came of the inputs.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Written {
    /// The inputs that could not be read to their end, by number, one failure each.
    pub failures: Vec<Failure>,
    /// What was found in inputs that are no lists, by number. There is no row for a record that was refused or skipped.
    pub found: Vec<(u32, record_fields::Records)>,
}

/// A line or field of which a record is written.
struct Row<'a> {
    input: &'a str,
    number: u64,
    offset: u64,
    /// What the field is; `None` for a line of a list.
    role: Option<Role>,
    line: &'a [u8],
    /// `None` for a blank line.
    judgement: Option<Judgement<'a>>,
}

/// Writes a record for each line of `inputs` to `out`, or for each field of their records, in their order. A line is held in memory
/// whole; one of more than 64 MiB is a failure of its input.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_records(
    inputs: &[Input],
    records: &Records,
    effort: &Effort,
    out: &mut (dyn Write + Send),
) -> io::Result<Written> {
    if records.header && records.form == Form::Tsv {
        let names: Vec<_> = records.columns.iter().map(|column| column.name()).collect();
        writeln!(out, "{}", names.join("\t"))?;
    }
    // Small: a record can be a hundred times as long as its line, and several pieces are under way.
    let sizes = Sizes::of_whole_lines(effort.shard_len.clamp(16, 1 << 15));
    let mut numbers = Numbers::default();
    let look = |input, piece| match piece {
        AnyPiece::Lines(piece) => {
            let numbers = numbers.of(input, &piece);
            effort.judged(numbers.end - numbers.start);
            (piece.into_bytes(), Some((input, Before::Lines(numbers.start))))
        }
        AnyPiece::Records(piece) => (piece.bytes, Some((input, Before::Records(piece.reader)))),
    };
    let work = |bytes: Lent, (input, before): (u32, Before)| {
        let name = inputs[input as usize].name();
        match before {
            Before::Lines(first) => (format_lines(&bytes, first, name, records), None),
            Before::Records(reader) => {
                let (text, found) = format_fields(&bytes, reader, name, records);
                effort.judged(found.n_fields());
                (text, Some((input, found)))
            }
        }
    };
    let mut found: Vec<(u32, record_fields::Records)> = Vec::new();
    let sink = |(text, some): (String, Option<_>)| {
        if let Some((input, some)) = some {
            record_fields::append(&mut found, input, some);
        }
        match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    };
    let (flow, failures) = with_helpers(effort.n_threads() - 1, |helpers| {
        let sources = sources(inputs, &records.reading, sizes, helpers, effort.watch.as_ref());
        in_pieces(sources, effort.n_threads(), look, work, sink)
    });
    if let ControlFlow::Break(error) = flow {
        return Err(error);
    }
    out.flush()?;
    Ok(Written { failures, found })
}

/// What is known of what stands before a piece.
enum Before {
    /// The number of its first line.
    Lines(u64),
    /// What reads its records.
    Records(Box<Reader>),
}

fn format_lines(bytes: &Bytes, first: u64, input: &str, records: &Records) -> String {
    let start = bytes.offset;
    let bytes = bytes.get();
    let body = skip_byte_order_mark(bytes, start);
    let mut offset = start + (bytes.len() - body.len()) as u64;
    let mut out = String::with_capacity(bytes.len());
    for (number, whole) in (first..).zip(body.split_inclusive(|&byte| byte == b'\n')) {
        let (line, _) = trim_terminator(whole);
        let judgement = (!line.is_empty()).then(|| judge(line));
        records.write(&mut out, &Row { input, number, offset, role: None, line, judgement });
        offset += whole.len() as u64;
    }
    out
}

fn format_fields(
    bytes: &Bytes,
    mut reader: Box<Reader>,
    input: &str,
    records: &Records,
) -> (String, record_fields::Records) {
    let mut found = record_fields::Records::new(reader.format());
    let mut out = String::with_capacity(bytes.get().len());
    for field in reader.fields(bytes.get()) {
        match field {
            Ok(Field { bytes, role, offset, line: number, .. }) => {
                let judgement = (!bytes.is_empty()).then(|| judge(&bytes));
                found.add(role, judgement.map(|judgement| judgement.verdict()));
                let row = Row { input, number, offset, role: Some(role), line: &bytes, judgement };
                records.write(&mut out, &row);
            }
            Err(bad) => found.refuse(bad),
        }
    }
    found.counts = reader.counts().clone();
    (out, found)
}

impl Records {
    /// Appends the record of one line, if it is wanted.
    fn write(&self, out: &mut String, row: &Row<'_>) {
        if let Some(accepted) = self.only
            && row.judgement.is_none_or(|judgement| judgement.verdict().accepts(self.grammar) != accepted)
        {
            return;
        }
        for (n, &column) in self.columns.iter().enumerate() {
            match self.form {
                Form::Tsv => {
                    if n > 0 {
                        out.push('\t');
                    }
                    if !self.field(out, column, row) {
                        out.push('-');
                    }
                }
                Form::Jsonl => {
                    let _ = write!(
                        out,
                        "{}\"{column}\":{}",
                        if n > 0 { "," } else { "{" },
                        self.value(column, row)
                    );
                }
            }
        }
        out.push_str(if self.form == Form::Jsonl { "}\n" } else { "\n" });
    }

    /// One field as a JSON value; null when the line has none. The verdict of no grammar is a list too, an empty one.
    fn value(&self, column: Column, row: &Row<'_>) -> Value {
        let mut text = String::new();
        match (column, &row.judgement) {
            (Column::Verdict, Some(judgement)) => judgement.verdict().iter().map(Grammar::name).collect(),
            (Column::Advisories, Some(judgement)) => {
                judgement.advisories().iter().map(Advisory::name).collect()
            }
            (Column::Line, _) => row.number.into(),
            (Column::Offset, _) => row.offset.into(),
            (Column::Length, Some(_)) => row.line.len().into(),
            _ if self.field(&mut text, column, row) => text.into(),
            _ => Value::Null,
        }
    }

    /// Appends one field; `false`, and nothing, when the line has none.
    fn field(&self, out: &mut String, column: Column, row: &Row<'_>) -> bool {
        let before = out.len();
        match (column, &row.judgement) {
            (Column::Input, _) => out.push_str(row.input),
            (Column::Field, _) => out.push_str(row.role.map_or("", Role::name)),
            (Column::Line, _) => drop(write!(out, "{}", row.number)),
            (Column::Offset, _) => drop(write!(out, "{}", row.offset)),
            (Column::Length, Some(_)) => drop(write!(out, "{}", row.line.len())),
            (Column::Kind, None) => out.push_str("blank"),
            (_, None) => {}
            (Column::Kind, Some(judgement)) => out.push_str(judgement.kind().name()),
            (Column::Verdict, Some(judgement)) if judgement.verdict().is_empty() => out.push_str(NONE),
            (Column::Verdict, Some(judgement)) => drop(write!(out, "{}", judgement.verdict())),
            (Column::Advisories, Some(judgement)) if judgement.advisories().is_empty() => out.push_str(NONE),
            (Column::Advisories, Some(judgement)) => drop(write!(out, "{}", judgement.advisories())),
            (Column::Scheme, Some(judgement)) => {
                for byte in judgement.scheme().unwrap_or_default() {
                    out.push(char::from(byte.to_ascii_lowercase()));
                }
            }
            (Column::Defect, Some(judgement)) => {
                if let Some(defect) = judgement.defect(self.grammar) {
                    let _ = write!(out, "{defect}");
                }
            }
            (Column::Text, Some(_)) => {
                let secrets = if self.show_secrets { Vec::new() } else { secrets(row.line, false) };
                out.push_str(&masked(row.line, &secrets));
            }
            (Column::Resolved, Some(judgement)) => {
                if let Some(base) = &self.base
                    && judgement.verdict().accepts(Grammar::Rfc3986)
                {
                    self.resolved(out, base, row.line);
                }
            }
        }
        out.len() > before
    }

    /// Appends what an accepted line refers to.
    fn resolved(&self, out: &mut String, base: &Base, line: &[u8]) {
        let mut target = Vec::new();
        base.resolve(line, &mut target);
        if self.show_secrets {
            return escape::push(out, &target);
        }
        let of_line = secrets(line, false).len();
        let of_target = secrets(&target, false);
        // What looks like a password in the line may not look like one behind the base, or without its dot-segments.
        let takes_authority = split(line).scheme.is_none() && !line.starts_with(b"//");
        let of_base = || if takes_authority { secrets(base.as_bytes(), false).len() } else { 0 };
        if of_line > 0 && of_target.len() < of_line + of_base() {
            out.push_str(MASK);
        } else {
            out.push_str(&masked(&target, &of_target));
        }
    }
}
