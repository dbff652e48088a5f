//! One record per line, in the order of the input: what `urlsift lines` prints.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

use crate::corpus::{Effort, Failure};
use crate::escape::masked;
use crate::grammar::Grammar;
use crate::input::{Bytes, Input, Opened, Piece, Pieces, Sizes};
use crate::judge::{Judgement, judge};
use crate::names::named;
use crate::parallel::in_order;
use crate::parts::secrets;
use crate::shard::{BYTE_ORDER_MARK, trim_terminator};

named! {
    /// A column of a record.
    Column {
        /// The name of the input.
        Input = "input",
        /// The number of the line in its input, from 1.
        Line = "line",
        /// Where the line begins, in bytes from the start of its input.
        Offset = "offset",
        /// How many bytes the line has, without its terminator.
        Length = "length",
        /// The accepting grammars joined by commas.
        Verdict = "verdict",
        /// absolute, relative or blank.
        Kind = "kind",
        /// The scheme, in lower case.
        Scheme = "scheme",
        /// Why the chosen grammar refuses the line: component:cause@offset.
        Defect = "defect",
        /// The advisories joined by commas.
        Advisories = "advisories",
        /// The line itself, bytes that are not printable ASCII escaped.
        Text = "text",
    }
}

impl Column {
    /// The columns when none are chosen.
    pub const DEFAULT: [Self; 5] = [Self::Line, Self::Offset, Self::Verdict, Self::Kind, Self::Scheme];
}

/// How records are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tab-separated fields; what is not there is `-`.
    Tsv,
    /// One JSON object a record; what is not there is null.
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
        }
    }
}

/// Where a line stands.
struct Position<'a> {
    input: &'a str,
    number: u64,
    offset: u64,
}

/// Whole lines, and the number of the first of them.
struct Numbered {
    bytes: Bytes,
    first: u64,
}

/// Writes a record for each line of `inputs` to `out`, in their order, and returns the inputs that could not be read to
/// their end. A line is held in memory whole.
///
/// # Errors
/// When `out` cannot be written to.
pub fn write_records(
    inputs: &[Input],
    records: &Records,
    effort: &Effort,
    out: &mut (dyn Write + Send),
) -> io::Result<Vec<Failure>> {
    let mut failures = Vec::new();
    if records.header && records.form == Form::Tsv {
        let names: Vec<_> = records.columns.iter().map(|column| column.name()).collect();
        writeln!(out, "{}", names.join("\t"))?;
    }
    for (number, input) in (0u32..).zip(inputs) {
        let result = match input.open() {
            Ok(Opened::File(file, _)) => write_input(file, input.name(), records, effort, out)?,
            Ok(Opened::Stream(stream)) => write_input(stream, input.name(), records, effort, out)?,
            Err(error) => Err(error),
        };
        if let Err(error) = result {
            failures.push(Failure { input: number, error });
        }
    }
    out.flush()?;
    Ok(failures)
}

/// The records of one input; the inner error is that of reading it.
fn write_input(
    source: impl io::Read,
    name: &str,
    records: &Records,
    effort: &Effort,
    out: &mut (dyn Write + Send),
) -> io::Result<io::Result<()>> {
    // Small: a record can be a hundred times as long as its line, and several pieces are under way.
    let sizes = Sizes { piece: effort.shard_len.clamp(16, 1 << 15), line: usize::MAX, eager: true };
    let mut pieces = Pieces::new(source, 0, sizes);
    let (give_back, given_back) = crossbeam_channel::unbounded();
    let mut first = 1;
    let mut read = Ok(());
    let next = || match pieces.next(&mut given_back.try_recv().unwrap_or_default()) {
        Ok(piece) => piece.map(|piece| {
            let (Piece::Lines(bytes) | Piece::Long { bytes, .. }) = piece;
            let numbered = Numbered { bytes, first };
            first += memchr::memchr_iter(b'\n', numbered.bytes.get()).count() as u64;
            numbered
        }),
        Err(error) => {
            read = Err(error);
            None
        }
    };
    let work = |numbered: Numbered| {
        let text = format_lines(&numbered, name, records);
        let _ = give_back.send(numbered.bytes.into_buffer());
        text
    };
    let sink = |text: String| match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    match in_order(effort.n_threads(), next, work, sink) {
        ControlFlow::Continue(()) => Ok(read),
        ControlFlow::Break(error) => Err(error),
    }
}

fn format_lines(numbered: &Numbered, input: &str, records: &Records) -> String {
    let bytes = numbered.bytes.get();
    let mut offset = numbered.bytes.offset;
    let mut body = bytes;
    if offset == 0 {
        body = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        offset += (bytes.len() - body.len()) as u64;
    }
    let mut out = String::with_capacity(bytes.len());
    for (number, line) in (numbered.first..).zip(body.split_inclusive(|&byte| byte == b'\n')) {
        let (text, _) = trim_terminator(line);
        records.write(&mut out, &Position { input, number, offset }, text);
        offset += line.len() as u64;
    }
    out
}

impl Records {
    /// Appends the record of one line, if it is wanted.
    fn write(&self, out: &mut String, at: &Position<'_>, line: &[u8]) {
        let judgement = (!line.is_empty()).then(|| judge(line));
        if let Some(accepted) = self.only
            && judgement.is_none_or(|judgement| judgement.verdict().accepts(self.grammar) != accepted)
        {
            return;
        }
        for (n, &column) in self.columns.iter().enumerate() {
            match self.form {
                Form::Tsv => {
                    if n > 0 {
                        out.push('\t');
                    }
                    let before = out.len();
                    if !self.field(out, column, at, line, judgement.as_ref()) {
                        out.truncate(before);
                        out.push('-');
                    }
                }
                Form::Jsonl => {
                    let _ = write!(out, "{}\"{column}\":", if n > 0 { "," } else { "{" });
                    self.json_field(out, column, at, line, judgement.as_ref());
                }
            }
        }
        out.push_str(if self.form == Form::Jsonl { "}\n" } else { "\n" });
    }

    fn json_field(
        &self,
        out: &mut String,
        column: Column,
        at: &Position<'_>,
        line: &[u8],
        judgement: Option<&Judgement<'_>>,
    ) {
        let mut text = String::new();
        let there = self.field(&mut text, column, at, line, judgement);
        match column {
            _ if !there => out.push_str("null"),
            Column::Line | Column::Offset | Column::Length => out.push_str(&text),
            Column::Verdict | Column::Advisories => {
                let names: Vec<&str> = text.split(',').filter(|name| !name.is_empty()).collect();
                out.push_str(&serde_json::json!(names).to_string());
            }
            _ => out.push_str(&serde_json::Value::from(text).to_string()),
        }
    }

    /// Appends one field; `false` when the line has none.
    fn field(
        &self,
        out: &mut String,
        column: Column,
        at: &Position<'_>,
        line: &[u8],
        judgement: Option<&Judgement<'_>>,
    ) -> bool {
        let before = out.len();
        match (column, judgement) {
            (Column::Input, _) => out.push_str(at.input),
            (Column::Line, _) => drop(write!(out, "{}", at.number)),
            (Column::Offset, _) => drop(write!(out, "{}", at.offset)),
            (Column::Length, Some(_)) => drop(write!(out, "{}", line.len())),
            (Column::Kind, None) => out.push_str("blank"),
            (_, None) => {}
            (Column::Kind, Some(judgement)) => out.push_str(judgement.kind().name()),
            (Column::Verdict, Some(judgement)) => {
                if !judgement.verdict().is_empty() {
                    let _ = write!(out, "{}", judgement.verdict());
                }
            }
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
            (Column::Advisories, Some(judgement)) => {
                let advisories = judgement.advisories();
                if !advisories.is_empty() {
                    let _ = write!(out, "{advisories}");
                }
            }
            (Column::Text, Some(_)) => {
                let secrets = if self.show_secrets { Vec::new() } else { secrets(line, false) };
                out.push_str(&masked(line, &secrets));
            }
        }
        // The verdict of no grammar at all is a list too, an empty one.
        out.len() > before
            || (self.form == Form::Jsonl
                && judgement.is_some()
                && matches!(column, Column::Verdict | Column::Advisories))
    }
}
