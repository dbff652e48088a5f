//! Writes one row for each line of a list, or for each field of records, in the order of the input (`urlsift lines`).
//!
//! This file puts the lines of inputs into batches. `columns` makes rows of them.

#[cfg(feature = "cli")]
use std::convert::Infallible;
use std::io::{self, Write};

pub use crate::columns::Column;
pub use crate::columns::text_rows::Form;
use crate::columns::text_rows::{Full, TextRows};
use crate::columns::{BATCH, Batch, COLUMNS, Line, Need, Origin, keeps_parsed};
use crate::filter::Filter;
use crate::run::chunk_cutter::AnyChunk;
use crate::run::format_choice::Reading;
use crate::run::pipeline::{Ends, Numbers, PooledBuffer, read_in_order};
use crate::run::{ExecOptions, Failure};
use crate::scan::record_fields;
use urlsift_engine::judge_lines::JudgedLine;
use urlsift_engine::lines::{places, skip_byte_order_mark};
use urlsift_engine::{Scanner, Scanners};
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::Keep;
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::resolve::Base;
use urlsift_grammar::whatwg::Url;
use urlsift_input::progress::Stopped;
use urlsift_input::{ChunkBytes, Input, Sizes};
#[cfg(feature = "parquet")]
use urlsift_records::WantedNames;
use urlsift_records::page::Bases;
#[cfg(feature = "parquet")]
use urlsift_records::parquet;
use urlsift_records::{Field, Format, Reader, Role};

/// Which rows are written, and what they contain.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Records {
    /// The columns, in this order.
    pub columns: Vec<&'static Column>,
    /// How rows are written.
    pub form: Form,
    /// The grammar of the column `defect`.
    pub grammar: Grammar,
    /// The lines that have rows.
    pub filter: Filter,
    /// Whether the first row names the columns (TSV).
    pub header: bool,
    /// Whether passwords are masked.
    pub mask_passwords: bool,
    /// The characters of text that are not escaped.
    pub keep: Keep,
    /// Where the URLs are in the inputs.
    pub reading: Reading,
    /// What lines and the links of pages of unknown URL are resolved against in the column `resolved`. Without a base, it has a value for
    /// absolute URLs alone.
    pub base: Option<Base>,
    /// The same for the columns of the WHATWG parser and for the filter.
    pub whatwg_base: Option<Url>,
    /// The list of the columns of suffixes.
    pub suffixes: UsedList,
}

impl Default for Records {
    fn default() -> Self {
        Self {
            columns: COLUMNS.iter().filter(|column| Column::DEFAULT.contains(&column.name)).collect(),
            form: Form::Tsv,
            grammar: Grammar::Rfc3986,
            filter: Filter::default(),
            header: false,
            mask_passwords: false,
            keep: Keep::All,
            reading: Reading::of(Format::Lines),
            base: None,
            whatwg_base: None,
            suffixes: UsedList::default(),
        }
    }
}

/// Writes a row to `out` for each line of `inputs`, or for each field of their records, in order.
///
/// A line is held in memory whole. A line of more than 64 MiB is a failure of its input. Records that are refused or skipped have no row; the result
/// counts all records.
///
/// # Errors
/// If `out` cannot be written.
pub fn write_records(
    inputs: &[Input],
    records: &Records,
    exec: &ExecOptions,
    out: &mut (dyn Write + Send),
) -> io::Result<Ends> {
    if records.header && records.form == Form::Tsv {
        let names: Vec<_> = records.columns.iter().map(|column| column.name).collect();
        writeln!(out, "{}", names.join("\t"))?;
    }
    let sizes = Sizes::of_whole_lines(exec.shard_len.clamp(16, CHUNK_LEN));
    let mut numbers = Numbers::default();
    let look = |input, chunk| match chunk {
        AnyChunk::Lines(chunk) => {
            let numbers = numbers.of(input, &chunk);
            exec.judged(numbers.end - numbers.start);
            (chunk.into_bytes(), (input, Before::Lines(numbers.start)))
        }
        AnyChunk::Records(chunk) => (chunk.bytes, (input, Before::Records(chunk.reader))),
        #[cfg(feature = "parquet")]
        AnyChunk::Table(bytes, chunk) => (bytes, (input, Before::Values(chunk))),
    };
    let scanners = exec.scanners();
    let work = |(bytes, (input, before)): (PooledBuffer, (u32, Before))| {
        let chunk = Chunk { input: inputs[input as usize].name(), bytes: &bytes, before: &before };
        let made = records.format(&chunk, &scanners, &mut |_| Err(TooLong));
        (input, made.map_err(|TooLong| (bytes, before)))
    };
    let mut found: Vec<(u32, record_fields::Records)> = Vec::new();
    // The input whose rows end because of a stop.
    let mut stopped = None;
    let sink = |(input, made): (u32, Result<Rows, Later>)| {
        let (text, some) = made.or_else(|(bytes, before)| {
            let mut write = |text: &mut Vec<u8>| {
                if exec.is_stopped() {
                    stopped = Some(input);
                    return Err(io::Error::from(Stopped));
                }
                out.write_all(text)?;
                text.clear();
                Ok(())
            };
            let chunk = Chunk { input: inputs[input as usize].name(), bytes: &bytes, before: &before };
            records.format(&chunk, &scanners, &mut write)
        })?;
        if let Some(some) = some {
            exec.judged(some.n_fields());
            record_fields::append(&mut found, input, *some);
        }
        out.write_all(&text)?;
        out.flush()
    };
    let (ended, mut ends) =
        read_in_order(inputs, (&records.reading, sizes, exec), |_| Ok(()), look, &work, sink);
    if let Err(error) = ended {
        let Some(input) = stopped else { return Err(error) };
        // The first failure of an input is kept. Rows that end because of a stop must not pass for all of them.
        ends.failures.insert(0, Failure { input, error });
    }
    out.flush()?;
    for (input, records) in ends.records {
        match found.iter_mut().find(|(number, _)| *number == input) {
            Some((_, some)) => some.merge(records),
            None => found.push((input, records)),
        }
    }
    found.sort_by_key(|(input, _)| *input);
    Failure::complete(&mut ends.failures, &found);
    ends.records = found;
    Ok(ends)
}

/// Makes the rows of the lines of `bytes`, chunk by chunk as those of a file, and counts them. All lines end in LF.
#[cfg(feature = "cli")]
#[must_use]
pub fn count_rows(bytes: &[u8], records: &Records, scanners: &Scanners) -> u64 {
    let (mut rest, mut n_rows) = (bytes, 0);
    while !rest.is_empty() {
        let least = rest.len().min(CHUNK_LEN);
        let end = memchr::memchr(b'\n', &rest[least - 1..]);
        let (chunk, behind) = rest.split_at(end.map_or(rest.len(), |lf| least + lf));
        let bytes = &ChunkBytes::new(0, chunk.to_vec(), chunk.len());
        let chunk = Chunk { input: "-", bytes, before: &Before::Lines(n_rows + 1) };
        let Ok((rows, _)) = records.format::<Infallible>(&chunk, scanners, &mut |_| Ok(()));
        n_rows += memchr::memchr_iter(b'\n', &rows).count() as u64;
        rest = behind;
    }
    n_rows
}

/// The rows of a chunk, and the records in it.
type Rows = (Vec<u8>, Option<Box<record_fields::Records>>);

/// A chunk whose rows are too long to wait until those before them are written. So they are made afterwards.
type Later = (PooledBuffer, Before);

/// Rows are too long to wait.
struct TooLong;

/// Longest chunk, in bytes. The threads hand over work seldom, because each time costs a switch between them.
const CHUNK_LEN: usize = 1 << 18;

/// What is known of everything that precedes a chunk.
enum Before {
    /// The number of the first line of the chunk.
    Lines(u64),
    /// The reader of the records in the chunk.
    Records(Box<Reader>),
    /// Where the values in the chunk are.
    #[cfg(feature = "parquet")]
    Values(Box<parquet::Batch>),
}

/// A chunk of an input.
struct Chunk<'c> {
    /// The name of the input.
    input: &'c str,
    bytes: &'c ChunkBytes,
    before: &'c Before,
}

impl Records {
    /// The rows of a chunk.
    fn format<E>(&self, chunk: &Chunk<'_>, scanners: &Scanners, full: Full<'_, E>) -> Result<Rows, E> {
        let (text, found) = match chunk.before {
            Before::Lines(first) => {
                let text = scanners.with(|scanner| self.format_lines(chunk, *first, scanner, full))?;
                return Ok((text, None));
            }
            Before::Records(reader) => {
                scanners.with(|scanner| self.format_fields(chunk, reader.clone(), scanner, full))?
            }
            #[cfg(feature = "parquet")]
            Before::Values(values) => {
                scanners.with(|scanner| self.format_values(chunk, values, scanner, full))?
            }
        };
        Ok((text, Some(Box::new(found))))
    }

    /// The rows of lines. The first line has the number `first`.
    fn format_lines<E>(
        &self,
        chunk: &Chunk<'_>,
        first: u64,
        scanner: &mut Scanner,
        full: Full<'_, E>,
    ) -> Result<Vec<u8>, E> {
        let body = skip_byte_order_mark(chunk.bytes.get(), chunk.bytes.offset);
        if self.all_needs().any(Need::is_judged) {
            let judged = scanner.judge(body, self.needs(Need::Parser)).iter().copied();
            return self.format_judged(chunk, first, body, judged, full);
        }
        self.format_judged(chunk, first, body, places(body).map(JudgedLine::unjudged), full)
    }

    /// The rows of lines of `body`.
    fn format_judged<'c, E>(
        &self,
        chunk: &Chunk<'c>,
        first: u64,
        body: &'c [u8],
        mut lines: impl Iterator<Item = JudgedLine>,
        full: Full<'_, E>,
    ) -> Result<Vec<u8>, E> {
        let start = chunk.bytes.offset + (chunk.bytes.get().len() - body.len()) as u64;
        let mut rows = self.text_rows(body.len());
        let mut batch = self.batch(chunk);
        batch.set_text(body);
        let mut numbers = first..;
        // Inside the iterator, which is faster than a loop around it.
        lines.try_for_each(|line| {
            let number = numbers.next().expect("a line has a number");
            batch.lines.push(Line::of_list(body, line, number, start));
            self.write(&mut rows, &mut batch, BATCH, full)
        })?;
        self.write(&mut rows, &mut batch, 0, full)?;
        Ok(rows.out)
    }

    /// The rows of fields, and the records that they are in.
    fn format_fields<E>(
        &self,
        chunk: &Chunk<'_>,
        mut reader: Box<Reader>,
        scanner: &mut Scanner,
        full: Full<'_, E>,
    ) -> Result<(Vec<u8>, record_fields::Records), E> {
        let mut rows = self.field_rows(chunk, reader.format(), scanner);
        let names = reader.names().clone();
        let mut bases = Bases::new(self.base.as_ref());
        let mut urls = Bases::new(self.whatwg_base.as_ref());
        let (needs_base, needs_url) = (self.needs(Need::Base), self.needs(Need::Parser));
        let mut fields = reader.fields(chunk.bytes.get());
        while let Some(field) = fields.next() {
            let field = match field {
                Ok(field) => field,
                Err(bad) => {
                    rows.found.refuse(bad);
                    continue;
                }
            };
            let page = fields.page(field.wanted);
            let turns = [needs_base && !bases.are_of(page), needs_url && !urls.are_of(page)];
            if turns[0] {
                bases.turn_to(page);
            }
            if turns[1] {
                urls.turn_to(page);
            }
            let origins = &mut rows.batch.origins;
            if turns.contains(&true) || origins.len() == 1 {
                origins.extend([Role::Url, Role::Link].map(|role| Origin {
                    base: bases.of(role).filter(|_| needs_base).cloned(),
                    url: urls.of(role).filter(|_| needs_url).cloned(),
                    hides_password: self.mask_passwords
                        && (bases.hides_password(role) || urls.hides_password(role)),
                }));
            }
            let origin = origins.len() - if field.role == Role::Url { 2 } else { 1 };
            let name = names.of(field.wanted, field.role);
            rows.add(field, name, origin, full)?;
        }
        rows.write(full)?;
        rows.found.take(&reader, chunk.bytes.get());
        Ok((rows.text.out, rows.found))
    }

    /// The rows of values of a Parquet file. Counts no records.
    #[cfg(feature = "parquet")]
    fn format_values<E>(
        &self,
        chunk: &Chunk<'_>,
        values: &parquet::Batch,
        scanner: &mut Scanner,
        full: Full<'_, E>,
    ) -> Result<(Vec<u8>, record_fields::Records), E> {
        let mut rows = self.field_rows(chunk, Format::Parquet, scanner);
        let names = WantedNames::new(&self.reading.fields);
        for field in values.fields(chunk.bytes.get()) {
            let name = names.of(field.wanted, field.role);
            rows.add(field, name, 0, full)?;
        }
        rows.write(full)?;
        Ok((rows.text.out, rows.found))
    }

    /// Whether a column or a condition needs this.
    pub(crate) fn needs(&self, need: Need) -> bool {
        self.all_needs().any(|one| one == need)
    }

    /// What the columns and conditions need.
    fn all_needs(&self) -> impl Iterator<Item = Need> {
        self.columns.iter().map(|column| column.needs).chain(self.filter.needs())
    }

    /// An empty batch for the lines of a chunk. Its first origin is what lines without a page are resolved against.
    fn batch<'c>(&self, chunk: &Chunk<'c>) -> Batch<'c> {
        let mut batch = Batch::default();
        (batch.input, batch.grammar, batch.mask_passwords) = (chunk.input, self.grammar, self.mask_passwords);
        batch.suffixes = self.suffixes.clone();
        batch.keeps_parsed = keeps_parsed(self.all_needs());
        let (base, url) = (self.base.clone(), self.whatwg_base.clone());
        batch.origins.push(Origin { base, url, hides_password: false });
        batch
    }

    /// Appends the rows of a batch if it has so many lines, and takes these out.
    #[inline]
    fn write<E>(
        &self,
        rows: &mut TextRows<'_>,
        batch: &mut Batch<'_>,
        least: usize,
        full: Full<'_, E>,
    ) -> Result<(), E> {
        if batch.lines.len() >= least { self.write_all(rows, batch, full) } else { Ok(()) }
    }

    #[inline(never)]
    fn write_all<E>(
        &self,
        rows: &mut TextRows<'_>,
        batch: &mut Batch<'_>,
        full: Full<'_, E>,
    ) -> Result<(), E> {
        self.filter.retain(batch);
        rows.write(batch, full)?;
        batch.clear();
        Ok(())
    }

    /// No rows yet of the fields of a chunk.
    fn field_rows<'r, 'c>(
        &'r self,
        chunk: &Chunk<'c>,
        format: Format,
        scanner: &'r mut Scanner,
    ) -> FieldRows<'r, 'c> {
        let mut batch = self.batch(chunk);
        batch.around = chunk.bytes.get();
        batch.is_of_text = format.ends_at_delimiters();
        let text = self.text_rows(chunk.bytes.get().len());
        let found = record_fields::Records::new(format);
        FieldRows { records: self, scanner, batch, selected: Vec::new(), text, found }
    }

    /// No rows yet, with room for so many bytes.
    fn text_rows(&self, capacity: usize) -> TextRows<'_> {
        TextRows::new(self.form, self.keep, &self.columns, capacity)
    }
}

/// The rows of fields, which are judged a batch at a time.
struct FieldRows<'r, 'c> {
    records: &'r Records,
    scanner: &'r mut Scanner,
    batch: Batch<'c>,
    /// For each field of the batch, the index of the wanted field that selected it, and its role.
    selected: Vec<(u32, Role)>,
    text: TextRows<'r>,
    found: record_fields::Records,
}

impl<'c> FieldRows<'_, 'c> {
    /// Adds a field. If the batch is full, writes the rows of its fields.
    fn add<E>(&mut self, field: Field<'c>, name: &'c str, origin: usize, full: Full<'_, E>) -> Result<(), E> {
        let Field { line: number, offset, bytes, wanted, role, .. } = field;
        let (bytes, field) = (Some(bytes), Some(name));
        self.batch.lines.push(Line { bytes, number, offset, field, origin, ..Line::default() });
        self.selected.push((wanted, role));
        if self.selected.len() < BATCH { Ok(()) } else { self.write(full) }
    }

    /// Judges and counts the fields of the batch, and writes their rows.
    fn write<E>(&mut self, full: Full<'_, E>) -> Result<(), E> {
        self.batch.search_between();
        self.batch.judge_fields(self.scanner, self.records.needs(Need::Parser));
        for (line, (wanted, role)) in self.batch.lines.iter().zip(self.selected.drain(..)) {
            self.found.add(wanted, role, line.verdict);
        }
        self.records.write_all(&mut self.text, &mut self.batch, full)
    }
}
