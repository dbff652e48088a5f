//! Writes one row for each line of a list, or for each field of records, in the order of the input (`urlsift lines`).
//!
//! This file decides what the columns contain and how they are written. It does not know how records are read.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::{ControlFlow, Range};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value;

use crate::filter::Filter;
use crate::run::chunk_cutter::AnyChunk;
use crate::run::format_choice::{AllSigns, Reading};
use crate::run::pipeline::{Numbers, PooledBuffer, in_chunks, sources};
use crate::run::{ExecOptions, Failure};
use crate::scan::record_fields;
use urlsift_engine::lines::skip_byte_order_mark;
use urlsift_engine::{Scanner, Scanners};
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::escape::{Keep, MASK, mask, push_text, visible_json};
use urlsift_grammar::judge::{Kind, judge};
use urlsift_grammar::named;
use urlsift_grammar::password::{secrets, secrets_in_text, shows_word_of};
use urlsift_grammar::resolve::{Base, resolve};
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::uri_parts::split;
use urlsift_grammar::whatwg::Url;
use urlsift_grammar::whatwg::on_demand::{self, OnDemand};
use urlsift_grammar::{Grammar, Verdict};
use urlsift_input::progress::Stopped;
use urlsift_input::workers::with_workers;
use urlsift_input::{ChunkBytes, Input, Sizes};
#[cfg(feature = "parquet")]
use urlsift_records::WantedNames;
use urlsift_records::input_signs::Signs;
use urlsift_records::page::Bases;
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Batch;
use urlsift_records::{Field, Format, Reader};

named! {
    /// A column of a row.
    Column {
        /// The name of the input.
        Input = "input",
        /// The line number, from 1. For a field of a record, the line in which the record begins. For a value of a Parquet
        /// file, the number of its row.
        Line = "line",
        /// The offset of the line or field in its input, in bytes. For a value of a Parquet file, how many values and nulls
        /// precede it.
        Offset = "offset",
        /// The length of the line without its terminator, or of the field after undoing its escapes, in bytes.
        Length = "length",
        /// The accepting grammars joined by commas, or [`NONE`].
        Verdict = "verdict",
        /// absolute, relative or blank.
        Kind = "kind",
        /// The scheme, in lower case; \x2d if it is "-".
        Scheme = "scheme",
        /// Why the chosen grammar refuses the line: component:cause@offset.
        Defect = "defect",
        /// The advisories joined by commas, or [`NONE`].
        Advisories = "advisories",
        /// The line itself. Backslashes are doubled; control characters and bytes that are not UTF-8 become `\xHH`.
        Text = "text",
        /// The role of a field of a record: url, request, referer, link or embed. If --field names several fields, the name that selects
        /// this one. Lines of lists have none.
        Field = "field",
        /// The URI that the line refers to, written like [`Column::Text`]. Empty if RFC 3986 refuses the line.
        Resolved = "resolved",
        /// What the WHATWG URL Standard says of the line: valid, errors, failure or relative.
        Whatwg = "whatwg",
        /// The errors of the WHATWG parser joined by commas, in its order and as often as it reports them, or [`NONE`].
        WhatwgErrors = "whatwg_errors",
        /// The host of the URL that the WHATWG parser makes of the line. Empty if the parser fails.
        WhatwgHost = "whatwg_host",
        /// The URL that the WHATWG parser makes of the line, serialised. Empty if the parser fails.
        WhatwgHref = "whatwg_href",
        /// The hosts that RFC 3986 and browsers find in the line, and why, if they differ.
        HostsDiffer = "hosts_differ",
    }
}

impl Column {
    /// The columns if none are chosen.
    pub const DEFAULT: [Self; 4] = [Self::Line, Self::Verdict, Self::Defect, Self::Text];

    /// Whether the field is text of the line, and not a word or a number of urlsift.
    fn is_of_data(self) -> bool {
        matches!(
            self,
            Self::Scheme | Self::Text | Self::Field | Self::Resolved | Self::WhatwgHost | Self::WhatwgHref
        )
    }

    /// Whether the column needs the WHATWG parser.
    #[must_use]
    pub fn needs_whatwg(self) -> bool {
        matches!(
            self,
            Self::Whatwg | Self::WhatwgErrors | Self::WhatwgHost | Self::WhatwgHref | Self::HostsDiffer
        )
    }
}

/// The text of an empty list: no grammar accepts the line, or the line has no advisories.
///
/// A blank line is not judged and has `-` instead.
pub const NONE: &str = "none";

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// Tab-separated fields. A missing value is `-`, and an empty list is [`NONE`]. A line or a scheme that is `-` is `\x2d`.
    Tsv,
    /// One JSON object per row. A missing value is null, and an empty list is `[]`. The text and the target are plain strings;
    /// if they are not UTF-8, the key is `text_base64` or `resolved_base64`.
    Jsonl,
}

/// Which rows are written, and what they contain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Records {
    /// The columns, in this order.
    pub columns: Vec<Column>,
    /// How rows are written.
    pub form: Form,
    /// The grammar of [`Column::Defect`].
    pub grammar: Grammar,
    /// The lines that have rows.
    pub filter: Filter,
    /// Whether the first row names the columns (TSV).
    pub header: bool,
    /// Whether passwords are masked.
    pub mask_passwords: bool,
    /// The characters of [`Column::Text`] and of URLs that are not escaped.
    pub keep: Keep,
    /// Where the URLs are in the inputs.
    pub reading: Reading,
    /// What lines and the links of pages of unknown URL are resolved against in [`Column::Resolved`]. Without a base, it has a value for
    /// absolute URLs alone.
    pub base: Option<Base>,
    /// The same for the columns of the WHATWG parser and for the filter.
    pub whatwg_base: Option<Url>,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            columns: Column::DEFAULT.to_vec(),
            form: Form::Tsv,
            grammar: Grammar::Rfc3986,
            filter: Filter::default(),
            header: false,
            mask_passwords: false,
            keep: Keep::All,
            reading: Reading::of(Format::Lines),
            base: None,
            whatwg_base: None,
        }
    }
}

/// The outcome of writing rows.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Written {
    /// The inputs that could not be read to their end, by number, with one failure each.
    pub failures: Vec<Failure>,
    /// The records found in inputs other than lists, by number of the input. Records that were refused or skipped
    /// have no row.
    pub found: Vec<(u32, record_fields::Records)>,
    /// The signs of the inputs, by number of the input.
    #[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command warns of them"))]
    pub(crate) signs: Vec<(u32, Signs)>,
}

/// A line or field for which a row is written.
struct Row<'a> {
    input: &'a str,
    number: u64,
    offset: u64,
    /// What a field is called; `None` for a line of a list.
    field: Option<&'a str>,
    line: &'a [u8],
    /// `None` for a blank line.
    verdict: Option<Verdict>,
    /// What it is resolved against in [`Column::Resolved`].
    base: Option<&'a Base>,
    /// The line for the WHATWG parser.
    whatwg: on_demand::Line<'a>,
    /// Whether it is a URL in running text, which may have ended inside a password.
    is_open: bool,
    /// Whether what the line takes from its base may be a password.
    hides_base: bool,
}

/// Writes a row to `out` for each line of `inputs`, or for each field of their records, in order.
///
/// A line is held in memory whole. A line of more than 64 MiB is a failure of its input.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_records(
    inputs: &[Input],
    records: &Records,
    exec: &ExecOptions,
    out: &mut (dyn Write + Send),
) -> io::Result<Written> {
    if records.header && records.form == Form::Tsv {
        let names: Vec<_> = records.columns.iter().map(|column| column.name()).collect();
        writeln!(out, "{}", names.join("\t"))?;
    }
    let sizes = Sizes::of_whole_lines(exec.shard_len.clamp(16, CHUNK_LEN));
    let mut numbers = Numbers::default();
    let look = |input, chunk| match chunk {
        AnyChunk::Lines(chunk) => {
            let numbers = numbers.of(input, &chunk);
            exec.judged(numbers.end - numbers.start);
            (chunk.into_bytes(), Some((input, Before::Lines(numbers.start))))
        }
        AnyChunk::Records(chunk) => (chunk.bytes, Some((input, Before::Records(chunk.reader)))),
        #[cfg(feature = "parquet")]
        AnyChunk::Table(bytes, chunk) => (bytes, Some((input, Before::Values(chunk)))),
    };
    let scanners = exec.scanners();
    let work = |(bytes, (input, before)): (PooledBuffer, (u32, Before))| {
        let name = inputs[input as usize].name();
        let made = format(&bytes, &before, name, records, &scanners, |_| Err(TooLong));
        (input, made.map_err(|TooLong| (bytes, before)))
    };
    let mut found: Vec<(u32, record_fields::Records)> = Vec::new();
    // The input whose rows end because of a stop.
    let mut stopped = None;
    let mut write = |(input, made): (u32, Result<Rows, Later>)| {
        let (text, some) = made.or_else(|(bytes, before)| {
            let write = |text: &mut String| {
                if exec.is_stopped() {
                    stopped = Some(input);
                    return Err(io::Error::from(Stopped));
                }
                out.write_all(text.as_bytes())?;
                text.clear();
                Ok(())
            };
            format(&bytes, &before, inputs[input as usize].name(), records, &scanners, write)
        })?;
        if let Some(some) = some {
            exec.judged(some.n_fields());
            record_fields::append(&mut found, input, *some);
        }
        out.write_all(text.as_bytes())?;
        out.flush()
    };
    let sink = |made| match write(made) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    let n_threads = exec.n_threads();
    let signs = AllSigns::default();
    let (flow, ends) = with_workers(n_threads, |workers, _| {
        let helpers = workers.helpers(n_threads - 1);
        let sources = sources(inputs, &records.reading, sizes, helpers, exec.watch.as_ref(), &signs);
        in_chunks(sources, (&workers, 2 * n_threads), look, &work, sink)
    });
    let mut failures = ends.failures;
    if let ControlFlow::Break(error) = flow {
        let Some(input) = stopped else { return Err(error) };
        failures.push(Failure { input, error });
    }
    out.flush()?;
    for (input, records) in ends.records {
        match found.iter_mut().find(|(number, _)| *number == input) {
            Some((_, some)) => some.merge(records),
            None => found.push((input, records)),
        }
    }
    found.sort_by_key(|(input, _)| *input);
    failures.extend(Failure::of_columns(&found));
    failures.sort_by_key(|failure| failure.input);
    Ok(Written { failures, found, signs: signs.seen() })
}

/// The rows of a chunk, and the records in it.
type Rows = (String, Option<Box<record_fields::Records>>);

/// A chunk whose rows are too long to wait until those before them are written. So they are made afterwards.
type Later = (PooledBuffer, Before);

/// Rows are too long to wait.
struct TooLong;

/// Longest chunk, in bytes. The threads hand over work seldom, because each time costs a switch between them.
const CHUNK_LEN: usize = 1 << 18;

/// The most bytes of rows that wait. The rows of a chunk can be a thousand times as long as the chunk, if a base is long.
const MAX_WAITING: usize = 8 << 20;

/// What is known of everything that precedes a chunk.
enum Before {
    /// The number of the first line of the chunk.
    Lines(u64),
    /// The reader of the records in the chunk.
    Records(Box<Reader>),
    /// Where the values in the chunk are.
    #[cfg(feature = "parquet")]
    Values(Box<Batch>),
}

/// The rows of a chunk. `full` gets the rows so far when there are many.
fn format<E>(
    bytes: &ChunkBytes,
    before: &Before,
    input: &str,
    records: &Records,
    scanners: &Scanners,
    mut full: impl FnMut(&mut String) -> Result<(), E>,
) -> Result<Rows, E> {
    let full = &mut |out: &mut String| if out.len() > MAX_WAITING { full(out) } else { Ok(()) };
    let (text, found) = match before {
        Before::Lines(first) => {
            let format = |scanner: &mut Scanner| format_lines(bytes, *first, input, records, scanner, full);
            return Ok((scanners.with(format)?, None));
        }
        Before::Records(reader) => format_fields(bytes, reader.clone(), input, records, full)?,
        #[cfg(feature = "parquet")]
        Before::Values(chunk) => format_values(bytes, chunk, input, records, full)?,
    };
    Ok((text, Some(Box::new(found))))
}

fn format_lines<E>(
    bytes: &ChunkBytes,
    first: u64,
    input: &str,
    records: &Records,
    scanner: &mut Scanner,
    full: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<String, E> {
    let start = bytes.offset;
    let bytes = bytes.get();
    let body = skip_byte_order_mark(bytes, start);
    let offset = start + (bytes.len() - body.len()) as u64;
    let mut out = String::with_capacity(bytes.len());
    let filter = &records.filter;
    let mut numbers = first..;
    let mut parser = OnDemand::default();
    let base = records.base.as_ref();
    let mut result = Ok(());
    scanner.judge(records.grammar, body, &mut |place, outcome| {
        let (line, offset) = (&body[place.clone()], offset + place.start as u64);
        let number = numbers.next().expect("a line has a number");
        let mut whatwg = parser.line(line, records.whatwg_base.as_ref());
        let has_row = result.is_ok()
            && (filter.is_empty()
                || outcome.is_some_and(|outcome| filter.may_match(outcome.verdict, outcome.advisories))
                    && filter.judge(line, &mut whatwg).is_some());
        if has_row {
            let verdict = outcome.map(|outcome| outcome.verdict);
            let (is_open, hides_base) = (false, false);
            let row =
                Row { input, number, offset, field: None, line, verdict, base, whatwg, is_open, hides_base };
            records.write(&mut out, row);
            result = full(&mut out);
        }
    });
    result.map(|()| out)
}

/// The rows of fields, and the records that they are in.
fn format_fields<E>(
    bytes: &ChunkBytes,
    mut reader: Box<Reader>,
    input: &str,
    records: &Records,
    full: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(String, record_fields::Records), E> {
    let mut found = record_fields::Records::new(reader.format());
    let mut out = String::with_capacity(bytes.get().len());
    let names = reader.names().clone();
    let mut bases = Bases::new(records.base.as_ref());
    let mut whatwg_bases = Bases::new(records.whatwg_base.as_ref());
    let (is_resolved, needs_whatwg) = (records.columns.contains(&Column::Resolved), records.needs_whatwg());
    let mut parser = OnDemand::default();
    let mut fields = reader.fields(bytes.get());
    while let Some(field) = fields.next() {
        match field {
            Ok(field) => {
                let name = names.of(field.wanted, field.role);
                let (page, role) = (fields.page(field.wanted), field.role);
                if is_resolved {
                    bases.turn_to(page);
                }
                if needs_whatwg {
                    whatwg_bases.turn_to(page);
                }
                let whatwg = parser.line(&field.bytes, whatwg_bases.of(role));
                let hides_base = records.mask_passwords
                    && (bases.hides_password(role) || whatwg_bases.hides_password(role));
                let of_base = (bases.of(role), hides_base);
                records.write_field(&mut out, &mut found, (&field, name, of_base), input, whatwg);
                full(&mut out)?;
            }
            Err(bad) => found.refuse(bad),
        }
    }
    found.take(&reader, bytes.get());
    Ok((out, found))
}

/// Formats the rows of values of a Parquet file. Counts no records.
#[cfg(feature = "parquet")]
fn format_values<E>(
    bytes: &ChunkBytes,
    chunk: &Batch,
    input: &str,
    records: &Records,
    full: &mut impl FnMut(&mut String) -> Result<(), E>,
) -> Result<(String, record_fields::Records), E> {
    let mut found = record_fields::Records::new(Format::Parquet);
    let mut out = String::with_capacity(bytes.get().len());
    let names = WantedNames::new(&records.reading.fields);
    let mut parser = OnDemand::default();
    for field in chunk.fields(bytes.get()) {
        let name = names.of(field.wanted, field.role);
        let whatwg = parser.line(&field.bytes, records.whatwg_base.as_ref());
        let of_base = (records.base.as_ref(), false);
        records.write_field(&mut out, &mut found, (&field, name, of_base), input, whatwg);
        full(&mut out)?;
    }
    Ok((out, found))
}

impl Records {
    /// Whether a column or the filter needs the WHATWG parser.
    pub(crate) fn needs_whatwg(&self) -> bool {
        self.filter.needs_whatwg() || self.columns.iter().any(|column| column.needs_whatwg())
    }

    /// Counts a field, and appends its row if it matches the filter.
    fn write_field(
        &self,
        out: &mut String,
        found: &mut record_fields::Records,
        (field, name, (base, hides_base)): (&Field<'_>, &str, (Option<&Base>, bool)),
        input: &str,
        mut whatwg: on_demand::Line<'_>,
    ) {
        let &Field { bytes: ref line, role, wanted, offset, line: number, .. } = field;
        let judgement = (!line.is_empty()).then(|| judge(line));
        let verdict = judgement.map(|judgement| judgement.verdict());
        found.add(wanted, role, verdict);
        let filter = &self.filter;
        if judgement.map_or(filter.is_empty(), |judgement| filter.matches(&judgement, &mut whatwg)) {
            let (field, is_open) = (Some(name), found.format.ends_at_delimiters());
            self.write(
                out,
                Row { input, number, offset, field, line, verdict, base, whatwg, is_open, hides_base },
            );
        }
    }

    /// Appends the row of one line.
    fn write(&self, out: &mut String, mut row: Row<'_>) {
        let row = &mut row;
        for (n, &column) in self.columns.iter().enumerate() {
            match self.form {
                Form::Tsv => {
                    if n > 0 {
                        out.push('\t');
                    }
                    let start = out.len();
                    if !self.field(out, column, row) {
                        out.push('-');
                    } else if &out[start..] == "-" && column.is_of_data() {
                        // A "-" of the data is not a missing value.
                        out.truncate(start);
                        out.push_str("\\x2d");
                    }
                }
                Form::Jsonl => {
                    let (is_utf8, value) = self.value(column, row);
                    let (comma, suffix) =
                        (if n > 0 { "," } else { "{" }, if is_utf8 { "" } else { "_base64" });
                    let _ = write!(out, "{comma}\"{column}{suffix}\":{value}");
                }
            }
        }
        out.push_str(if self.form == Form::Jsonl { "}\n" } else { "\n" });
    }

    /// Returns one field as a JSON value, or null if the line has no such field. An empty verdict is an empty list. Bytes that
    /// are not UTF-8 are base64; the first result says whether the value is anything else.
    fn value(&self, column: Column, row: &mut Row<'_>) -> (bool, String) {
        let mut text = String::new();
        let bytes = match (column, row.verdict) {
            (Column::Text, Some(_)) => Some(self.text(row)),
            (Column::Resolved, Some(verdict)) => self.resolved(verdict, row).map(Cow::Owned),
            (Column::WhatwgHref, Some(_)) => self.href(row).map(Cow::Owned),
            _ => None,
        };
        if let Some(bytes) = bytes {
            return match str::from_utf8(&bytes) {
                Ok(text) => (true, visible_json(&Value::from(text).to_string())),
                Err(_) => (false, Value::from(BASE64_STANDARD.encode(&bytes)).to_string()),
            };
        }
        let value: Value = match (column, row.verdict) {
            (Column::Verdict, Some(verdict)) => verdict.iter().map(Grammar::name).collect(),
            (Column::Advisories, Some(_)) => {
                judge(row.line).advisories().iter().map(Advisory::name).collect()
            }
            (Column::WhatwgErrors, Some(_)) => row.errors().collect(),
            (Column::Line, _) => row.number.into(),
            (Column::Offset, _) => row.offset.into(),
            (Column::Length, Some(_)) => row.line.len().into(),
            _ if self.field(&mut text, column, row) => text.into(),
            _ => Value::Null,
        };
        (true, value.to_string())
    }

    /// Appends one field. Returns `false`, and appends nothing, if the line has no such field.
    fn field(&self, out: &mut String, column: Column, row: &mut Row<'_>) -> bool {
        let before = out.len();
        match (column, row.verdict) {
            (Column::Input, _) => out.push_str(row.input),
            (Column::Field, _) => out.push_str(row.field.unwrap_or_default()),
            (Column::Line, _) => push_number(out, row.number),
            (Column::Offset, _) => push_number(out, row.offset),
            (Column::Length, Some(_)) => push_number(out, row.line.len() as u64),
            (Column::Kind, None) => out.push_str("blank"),
            (_, None) => {}
            (Column::Kind, Some(_)) => out.push_str(Kind::of_scheme(scheme_len(row.line)).name()),
            (Column::Verdict, Some(verdict)) => push_list(out, verdict.iter().map(Grammar::name)),
            (Column::Advisories, Some(_)) => {
                push_list(out, judge(row.line).advisories().iter().map(Advisory::name));
            }
            (Column::Scheme, Some(_)) => {
                let len = scheme_len(row.line).unwrap_or(0);
                out.extend(row.line[..len].iter().map(|byte| char::from(byte.to_ascii_lowercase())));
            }
            (Column::Defect, Some(verdict)) => {
                // Most lines are accepted, and are not judged again.
                let judgement = (!verdict.accepts(self.grammar)).then(|| judge(row.line));
                if let Some(defect) = judgement.and_then(|judgement| judgement.defect(self.grammar)) {
                    let _ = write!(out, "{defect}");
                }
            }
            (Column::Text, Some(_)) => push_text(out, &self.text(row), self.keep),
            (Column::Resolved, Some(verdict)) => {
                if let Some(target) = self.resolved(verdict, row) {
                    push_text(out, &target, self.keep);
                }
            }
            (Column::Whatwg, Some(_)) => out.push_str(row.whatwg.parsed().level().name()),
            (Column::WhatwgErrors, Some(_)) => push_list(out, row.errors()),
            // If the whole URL is masked, the host may be what has to be masked.
            (Column::WhatwgHost, Some(_))
                if self.mask_passwords && self.href(row).as_deref() == Some(MASK.as_bytes()) =>
            {
                out.push_str(MASK);
            }
            (Column::WhatwgHost, Some(_)) => {
                out.extend(row.whatwg.parsed().url().and_then(|url| url.host.as_deref()));
            }
            (Column::WhatwgHref, Some(_)) => {
                if let Some(href) = self.href(row) {
                    push_text(out, &href, self.keep);
                }
            }
            (Column::HostsDiffer, Some(_)) => {
                if let Some(hosts) = row.whatwg.two_hosts() {
                    let hosts = if self.mask_passwords { hosts.masked(row.line) } else { hosts };
                    let _ = write!(out, "{hosts}");
                }
            }
        }
        out.len() > before
    }

    /// The line, with masks if they are wanted.
    fn text<'a>(&self, row: &Row<'a>) -> Cow<'a, [u8]> {
        if self.mask_passwords { mask(row.line, row.secrets(row.line)) } else { row.line.into() }
    }

    /// The URI that a line refers to, if RFC 3986 accepts the line and there is a base, or the line needs none.
    fn resolved(&self, verdict: Verdict, row: &Row<'_>) -> Option<Vec<u8>> {
        let &Row { line, base, .. } = row;
        let mut target = Vec::new();
        if !verdict.accepts(Grammar::Rfc3986) || !resolve(base, line, &mut target) {
            return None;
        }
        if !self.mask_passwords {
            return Some(target);
        }
        let takes_authority = split(line).scheme.is_none() && !line.starts_with(b"//");
        Some(row.mask_target(&target, base.filter(|_| takes_authority).map(Base::as_bytes)))
    }

    /// The URL that the WHATWG parser makes of a line, if it makes one.
    fn href(&self, row: &mut Row<'_>) -> Option<Vec<u8>> {
        let base = row.whatwg.base;
        let url = row.whatwg.parsed().url()?;
        if !self.mask_passwords {
            return Some(url.to_string().into_bytes());
        }
        let has_authority = |base: &&Url| {
            (&base.username, &base.password, &base.host) == (&url.username, &url.password, &url.host)
        };
        let base = base.filter(has_authority).map(Url::to_string);
        // The parser also finds passwords that are hard to find in text.
        let shown = url.without_password().to_string();
        let shown = row.mask_target(shown.as_bytes(), base.as_deref().map(str::as_bytes));
        // It reads some lines in other ways than the search for passwords: the host of `http://u:@secret/x@h/` is "secret".
        let is_hidden = shows_word_of(row.line, &row.secrets(row.line), &shown);
        Some(if is_hidden { MASK.as_bytes().to_vec() } else { shown })
    }
}

impl Row<'_> {
    /// The names of the errors of the WHATWG parser.
    fn errors(&mut self) -> impl Iterator<Item = &'static str> {
        self.whatwg.parsed().errors().iter().map(|found| found.error.name())
    }

    /// The ranges of the line or its target that may be passwords.
    fn secrets(&self, text: &[u8]) -> Vec<Range<usize>> {
        if self.is_open { secrets_in_text(text) } else { secrets(text, false) }
    }

    /// Masks the passwords in the target of the line. `base` is where the target has its authority from, unless it is the line.
    fn mask_target(&self, target: &[u8], base: Option<&[u8]>) -> Vec<u8> {
        let of_line = self.secrets(self.line).len();
        let of_target = self.secrets(target);
        // Resolving can make a password unrecognisable, by the base before it or by removed dot-segments. Then the whole
        // target is masked.
        let of_base = || base.map_or(0, |base| secrets(base, false).len());
        let is_hidden =
            base.is_some() && self.hides_base || of_line > 0 && of_target.len() < of_line + of_base();
        if is_hidden { MASK.as_bytes().to_vec() } else { mask(target, of_target).into_owned() }
    }
}

fn push_number(out: &mut String, number: u64) {
    out.push_str(itoa::Buffer::new().format(number));
}

/// Appends names joined by commas, or [`NONE`].
fn push_list(out: &mut String, names: impl Iterator<Item = &'static str>) {
    let before = out.len();
    for name in names {
        if out.len() > before {
            out.push(',');
        }
        out.push_str(name);
    }
    if out.len() == before {
        out.push_str(NONE);
    }
}
