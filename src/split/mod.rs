//! Splits lines into accepted and refused ones, and records by the URLs in them (`urlsift split`).
//!
//! A line is accepted if all chosen grammars accept it. Accepted lines are copied byte for byte; refused lines are
//! written with their defects. Of most lines only the end is ever found: the engine lists the refused lines, and
//! everything between two of them is moved as a block. Writing limits the throughput, not judging. This folder counts
//! no defects. A filter selects lines first. Then every line is judged one by one.

mod outputs;
mod records;

use std::io::{self, Write};

use memchr::{memchr, memchr_iter};

use self::outputs::{Outputs, Parts};
use crate::columns::text_rows::{push, push_defect, push_number};
use crate::columns::{self, BATCH, Batch, Need, Origin, keeps_parsed};
use crate::filter::Filter;
use crate::run::chunk_cutter::AnyChunk;
use crate::run::format_choice::Reading;
use crate::run::pipeline::{PooledBuffer, TurnGuard, Turns, read_in_order};
use crate::run::{ExecOptions, Failure};
use crate::scan::record_fields;
use urlsift_engine::example::Line;
use urlsift_engine::lanes::List;
use urlsift_engine::line_automaton::Outcome;
use urlsift_engine::lines::{skip_byte_order_mark, trim_terminator};
use urlsift_engine::place::Place;
use urlsift_engine::{Bulk, LineSink, Needs, Run, Scanner, Scanners, Stripe};
use urlsift_grammar::advisory::Advisories;
use urlsift_grammar::defect::Defect;
use urlsift_grammar::escape::{Keep, mask, push_text};
use urlsift_grammar::password::secrets;
use urlsift_grammar::public_suffix::UsedList;
use urlsift_grammar::whatwg::Url;
use urlsift_grammar::{Grammar, Verdict};
use urlsift_input::{ChunkBytes, Input, Sizes};
use urlsift_records::input_signs::Signs;
use urlsift_records::{Format, Reader};

/// Where blank lines go. They are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// They are written unchanged to the accepted output.
    Accepted,
    /// They are written to the refused output.
    Refused,
    /// They are counted and not written.
    Dropped,
}

/// How refused lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tab-separated fields: input, line, offset, a defect per grammar, and text.
    ///
    /// The line number counts from 1. The offset of the line is in bytes from the start of the input. Each chosen
    /// grammar has a field, in the order of [`Grammar::ALL`]. It says why the grammar refuses the line, as
    /// component:cause@offset, or `-` if it accepts the line. For a blank line each grammar has `blank`. The text is
    /// the line without its terminator, escaped by [`push_text`], and can be restored from that.
    ///
    /// For a record, number, offset and text are those of the record, and line ends in it are escaped too. The field
    /// precedes the component: role@place:component:cause@offset. The place is in bytes from the start of the record.
    /// A record that cannot be read, or has no URL, has `record` as its component: record:cause@offset. The cause is
    /// a [`BadCause`](urlsift_records::BadCause), `no-field` or `blank`.
    Tsv,
    /// The lines or records unchanged, with their own line ends.
    Lines,
}

/// How lines are split and written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// The lines that are split. Others are counted and not written.
    pub filter: Filter,
    /// What the filter has lines resolved against, as browsers do it.
    pub whatwg_base: Option<Url>,
    /// The list of the filter's columns of suffixes.
    pub suffixes: UsedList,
    /// The grammars that must all accept a line. Otherwise it is refused.
    pub by: Verdict,
    /// Where blank lines go.
    pub blank: Blank,
    /// How refused lines are written.
    pub form: Form,
    /// Whether the first row names the fields ([`Form::Tsv`]).
    pub header: bool,
    /// Whether passwords are masked.
    pub mask_passwords: bool,
    /// Where the URLs are in the inputs.
    pub reading: Reading,
    /// Whether inputs other than lists are failures. Accepted lines are printable, but accepted records may contain
    /// any bytes, which must not reach a terminal.
    pub lists_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            whatwg_base: None,
            suffixes: UsedList::default(),
            by: Verdict::from_iter([Grammar::Rfc3986]),
            blank: Blank::Accepted,
            form: Form::Tsv,
            header: false,
            mask_passwords: false,
            reading: Reading::of(Format::Lines),
            lists_only: false,
        }
    }
}

impl Options {
    /// A batch for lines that the filter selects.
    fn batch<'a>(&self) -> Batch<'a> {
        let mut batch = Batch::default();
        batch.suffixes = self.suffixes.clone();
        batch.keeps_parsed = keeps_parsed(self.filter.needs());
        batch.origins.push(Origin { url: self.whatwg_base.clone(), ..Origin::default() });
        batch
    }
}

/// How many lines and records went to each side.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Split {
    /// Lines that all chosen grammars accept, and records whose URLs they all accept.
    pub accepted: u64,
    /// Lines that a chosen grammar refuses, records with such a URL, and records that have none or cannot be read.
    pub refused: u64,
    /// Blank lines. They count as neither accepted nor refused.
    pub blank: u64,
    /// Lines and records that the filter leaves out, blank ones too.
    pub unmatched: u64,
    /// Comments and headers of records. They go to both sides.
    pub remarks: u64,
    /// Byte order marks at the start of inputs. They belong to no line and are left out.
    pub boms: u64,
    /// Inputs that could not be read to their end, and inputs that cannot share an output with others.
    ///
    /// Everything that was complete before an error is written.
    pub failures: Vec<Failure>,
    /// The records found in inputs other than lists, by number of the input.
    pub records: Vec<(u32, record_fields::Records)>,
    /// The signs of the inputs, by number of the input.
    pub(crate) signs: Vec<(u32, Signs)>,
}

impl Split {
    /// Adds what is counted of the next chunk.
    fn add(&mut self, next: Self) {
        self.accepted += next.accepted;
        self.refused += next.refused;
        self.blank += next.blank;
        self.unmatched += next.unmatched;
        self.remarks += next.remarks;
        self.boms += next.boms;
        for (input, records) in next.records {
            record_fields::append(&mut self.records, input, records);
        }
    }
}

/// Writes the lines that all chosen grammars accept to `accepted`, and the others to `refused`, in the order of
/// `inputs`.
///
/// Accepted lines are written byte for byte, with their own line ends. The last line of an input may lack its LF. It
/// gets one if another line follows in the output. So an accepted line is accepted again if it is split again.
/// Passwords are masked only if `options` say so, because the output is the data itself, not a report about it.
///
/// The result does not depend on `exec`. A line is held in memory whole. Apart from that, the number of threads
/// bounds the memory.
///
/// A record is written whole to one side. It is accepted if it has a URL and all its URLs are accepted. Headers and
/// comments go to both sides unchanged, so that each output has the format of the input, but they are not written as
/// rows. Of several tables, the first one determines the header. Tables with other columns are failures, and so are
/// inputs of another format. [`Format::Warc`] and [`Format::Wat`] cannot be split. A record that is too long to be
/// read is passed on in parts. A record matches the filter if one of its URLs does.
///
/// Without an output, lines are counted and not written. If an output has no reader any more
/// ([`io::ErrorKind::BrokenPipe`]), the other one is still written.
///
/// ```
/// use urlsift::internal::split;
/// use urlsift::internal::run::{ExecOptions, list_inputs};
///
/// let (mut accepted, mut refused) = (Vec::new(), Vec::new());
/// # let file = std::env::temp_dir().join(format!("urlsift-split-{}", std::process::id()));
/// # std::fs::write(&file, "http://example.org/\r\n/a b\nx\n").unwrap();
/// # let inputs = list_inputs(&[&file]);
/// # if false {
/// let inputs = list_inputs(&["urls.txt"]);
/// # }
/// let split = split::split_inputs(
///     &inputs,
///     &split::Options::default(),
///     &ExecOptions::default(),
///     Some(&mut accepted),
///     Some(&mut refused),
/// )?;
/// # std::fs::remove_file(file).unwrap();
/// assert_eq!((split.accepted, split.refused), (2, 1));
/// assert_eq!(accepted, b"http://example.org/\r\nx\n");
/// assert!(refused.ends_with(b"\t2\t21\tpath:space@2\t/a b\n"));
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// If an output cannot be written, if no output has a reader any more, or if `options` choose a format that cannot be
/// split.
///
/// # Panics
/// If the machine does not have the kernel.
pub fn split_inputs<'a>(
    inputs: &[Input],
    options: &Options,
    exec: &ExecOptions,
    accepted: Option<&'a mut (dyn Write + Send)>,
    refused: Option<&'a mut (dyn Write + Send)>,
) -> io::Result<Split> {
    if let Some(format) = options.reading.format {
        records::check(format, options)?;
    }
    let wanted = [accepted.is_some(), refused.is_some()];
    let scanners = exec.scanners();
    let splitter = Splitter { options, scanners, accepted: wanted[0], refused: wanted[1] };
    let mut outputs = Outputs::new([accepted, refused], options, inputs);
    if options.header && options.form == Form::Tsv {
        let grammars = options.by.iter().map(Grammar::name);
        let names: Vec<_> = ["input", "line", "offset"].into_iter().chain(grammars).chain(["text"]).collect();
        outputs.write([b"", format!("{}\n", names.join("\t")).as_bytes()])?;
    }
    let sizes = Sizes::of_whole_lines(exec.shard_len.clamp(16, 1 << 30));
    let turns = Turns::default();
    let mut next_turn = 0;
    let look = |input, chunk| match chunk {
        AnyChunk::Lines(chunk) => {
            let turn = next_turn;
            next_turn += 1;
            (chunk.into_bytes(), (input, Whole::Lines(turn)))
        }
        AnyChunk::Records(chunk) => (chunk.bytes, (input, Whole::Records(chunk.reader, chunk.is_open))),
        #[cfg(feature = "parquet")]
        AnyChunk::Table(..) => unreachable!("the check refuses values of a table"),
    };
    let work = |(bytes, (input, whole)): (PooledBuffer, (u32, Whole))| {
        let name = inputs[input as usize].name();
        match whole {
            Whole::Lines(turn) => {
                let _guard = TurnGuard(&turns);
                let first_of = |n_lines| turns.first_number(turn, input, n_lines);
                splitter.split_lines(bytes, (input, name), first_of)
            }
            Whole::Records(reader, is_open) => splitter.split_records(bytes, reader, is_open, (input, name)),
        }
    };
    let check = |format| records::check(format, options);
    let sink = |parts| outputs.take(parts);
    let (ended, ends) = read_in_order(inputs, (&options.reading, sizes, exec), check, look, &work, sink);
    ended?;
    let mut split = outputs.finish()?;
    split.failures.extend(ends.failures);
    split.signs = ends.signs;
    Failure::complete(&mut split.failures, &split.records);
    Ok(split)
}

/// The content of a chunk.
enum Whole {
    /// Lines. The number is the turn of the chunk: its position in reading order.
    Lines(u64),
    /// Records, their reader, and whether the last one continues in the next chunk.
    Records(Box<Reader>, bool),
}

/// Splits chunks of lines and of records.
struct Splitter<'a> {
    options: &'a Options,
    scanners: Scanners,
    /// Whether each output is wanted.
    accepted: bool,
    refused: bool,
}

impl Splitter<'_> {
    /// Splits whole lines of `input`, given by number and name. `first_of` returns the number of the first line,
    /// given how many lines there are.
    fn split_lines(
        &self,
        mut bytes: PooledBuffer,
        input: (u32, &str),
        first_of: impl FnOnce(u64) -> u64,
    ) -> Parts {
        let (base, whole) = (bytes.offset, bytes.get());
        let body = skip_byte_order_mark(whole, base);
        let mark_len = whole.len() - body.len();
        let Options { by, blank, .. } = *self.options;
        let mut finder = Finder { by, blank, base, found: Vec::new(), n_lines: 0, split: Split::default() };
        if self.options.filter.is_empty() {
            let place = Place { input: 0, offset: base + mark_len as u64 };
            self.scanners.with(|scanner| scanner.scan(&mut finder, body, place));
            // The engine reads several lanes side by side, so lines come out of order.
            finder.found.sort_unstable_by_key(|found| found.start);
        } else {
            self.scanners.with(|scanner| finder.select(self.options, body, mark_len, scanner));
        }
        let number = first_of(finder.n_lines);
        let mut rows =
            Rows { options: self.options, input: input.1, base, text: Vec::new(), number, at: mark_len };
        let mut lines = Vec::new();
        // Accepted lines are moved to the front, up to `kept`. Bytes from `from` on are still to be split.
        let (mut kept, mut from) = (0, mark_len);
        for found in &finder.found {
            let whole = bytes.get();
            let behind = found.start + found.len;
            let end = memchr(b'\n', &whole[behind..]).map_or(whole.len(), |lf| behind + lf + 1);
            match self.options.form {
                _ if !self.refused => {}
                Form::Lines if found.is_written => lines.extend(&whole[found.start..end]),
                Form::Lines => {}
                Form::Tsv => {
                    rows.go_to(whole, found.start);
                    if found.is_written {
                        rows.push(&whole[found.start..behind]);
                    }
                }
            }
            kept = bytes.pull(from..found.start, kept);
            from = end;
        }
        let len = bytes.get().len();
        kept = bytes.pull(from..len, kept);
        bytes.truncate(if self.accepted { kept } else { 0 });
        if self.options.mask_passwords {
            let masked = mask_lines(bytes.get());
            replace(&mut bytes, masked);
            lines = mask_lines(&lines);
        }
        lines.extend(rows.text);
        let mut parts = Parts::new(input.0, Format::Lines);
        (parts.to_accepted, parts.to_refused) = (Some(bytes), lines);
        let Split { refused, blank, unmatched, .. } = finder.split;
        let accepted = finder.n_lines - refused - blank - unmatched;
        parts.split = Split { accepted, boms: u64::from(mark_len > 0), ..finder.split };
        parts
    }
}

/// A line that does not go to the accepted output.
struct DroppedLine {
    /// Where it begins in the chunk.
    start: usize,
    /// Its length in bytes, without its terminator.
    len: usize,
    /// Whether it goes to the refused output.
    is_written: bool,
}

/// Finds the lines of a chunk that are not kept.
struct Finder {
    by: Verdict,
    blank: Blank,
    /// Where the chunk begins in the input.
    base: u64,
    found: Vec<DroppedLine>,
    n_lines: u64,
    /// How many of the lines go where. What is left is accepted.
    split: Split,
}

impl Finder {
    fn find(&mut self, entry: &Line<'_>, is_written: bool) {
        let usize = |n| usize::try_from(n).expect("the chunk is in memory");
        let start = usize(entry.place.offset - self.base);
        self.found.push(DroppedLine { start, len: usize(entry.len), is_written });
    }

    /// Finds the refused lines and those that do not match the filter. `start` is where the lines begin in the chunk.
    fn select(&mut self, options: &Options, lines: &[u8], start: usize, scanner: &mut Scanner) {
        let mut batch = options.batch();
        batch.set_text(lines);
        let needs_whatwg = options.filter.needs().any(|need| need == Need::Parser);
        for judged in scanner.judge(lines, needs_whatwg).chunks(BATCH) {
            let numbered = judged.iter().zip(self.n_lines..);
            batch.lines.extend(numbered.clone().map(|(line, n)| columns::Line::of_list(lines, *line, n, 0)));
            options.filter.retain(&mut batch);
            let mut matching = batch.lines.iter().map(|line| line.number).peekable();
            for (line, number) in numbered {
                let matches = matching.next_if_eq(&number).is_some();
                let verdict = line.verdict().filter(|_| matches);
                let is_refused = verdict.is_some_and(|(verdict, _)| !verdict.includes(self.by));
                self.split.refused += u64::from(is_refused);
                self.split.unmatched += u64::from(!matches);
                if is_refused || !matches {
                    let place = line.place();
                    let (start, len) = (start + place.start, place.len());
                    self.found.push(DroppedLine { start, len, is_written: is_refused });
                }
            }
            self.n_lines += judged.len() as u64;
            batch.clear();
        }
    }
}

impl LineSink for Finder {
    fn needs(&self, _: Place) -> Needs {
        // On lines that the bit streams count, no later grammar refuses what an earlier one accepts.
        let grammar = self.by.iter().next().unwrap_or(Grammar::Rfc3986);
        Needs {
            list: List {
                grammar,
                blank: self.blank != Blank::Accepted,
                advisories: Advisories::default(),
                bulk_defects: 0,
                whatwg: false,
                relative: false,
            },
            examples: 0,
        }
    }

    fn is_in_bulk(&self, outcome: &Outcome, _: Place) -> bool {
        outcome.verdict.includes(self.by)
    }

    fn bulk(&mut self, bulk: &Bulk, _: &mut dyn Iterator<Item = Stripe<'_>>) {
        self.split.blank += bulk.blank;
    }

    #[inline]
    fn line(&mut self, entry: &Line<'_>, _: &[u8], outcome: Option<&Outcome>) {
        match outcome {
            None => {
                self.split.blank += 1;
                if self.blank != Blank::Accepted {
                    self.find(entry, self.blank == Blank::Refused);
                }
            }
            Some(outcome) if outcome.verdict.includes(self.by) => {}
            Some(_) => {
                self.split.refused += 1;
                self.find(entry, true);
            }
        }
    }

    fn cover(&mut self, run: &Run<'_>) {
        self.n_lines += run.lines;
    }
}

/// Formats the rows of refused lines.
struct Rows<'a> {
    options: &'a Options,
    input: &'a str,
    /// Where the chunk begins in the input.
    base: u64,
    text: Vec<u8>,
    /// The number of the line that begins at `at` in the chunk.
    number: u64,
    at: usize,
}

impl Rows<'_> {
    /// Advances to the line that begins at `start`. Bytes before the previous position may be overwritten already.
    fn go_to(&mut self, chunk: &[u8], start: usize) {
        self.number += memchr_iter(b'\n', &chunk[self.at..start]).count() as u64;
        self.at = start;
    }

    /// Appends the row of the line at the current position.
    fn push(&mut self, line: &[u8]) {
        let text = &mut self.text;
        push_place(text, self.input, self.number, self.base + self.at as u64);
        for grammar in self.options.by.iter() {
            match Defect::of_line(grammar, line) {
                _ if line.is_empty() => push(text, "blank"),
                Some(defect) => push_defect(text, &defect),
                None => text.push(b'-'),
            }
            text.push(b'\t');
        }
        let shown = if self.options.mask_passwords { mask(line, secrets(line, false)) } else { line.into() };
        push_text(text, &shown, Keep::Ascii);
        text.push(b'\n');
    }
}

/// Returns whole lines with masked passwords.
fn mask_lines(lines: &[u8]) -> Vec<u8> {
    let mask_line = |whole: &[u8]| {
        let (line, _) = trim_terminator(whole);
        [&mask(line, secrets(line, false)), &whole[line.len()..]].concat()
    };
    lines.split_inclusive(|&byte| byte == b'\n').flat_map(mask_line).collect()
}

/// Replaces the bytes of a chunk.
fn replace(chunk: &mut PooledBuffer, bytes: Vec<u8>) {
    let len = bytes.len();
    **chunk = ChunkBytes::new(chunk.offset, bytes, len);
}

/// Appends the place where a line or record begins.
fn push_place(row: &mut Vec<u8>, input: &str, line: u64, offset: u64) {
    push(row, input);
    for number in [line, offset] {
        row.push(b'\t');
        push_number(row, number);
    }
    row.push(b'\t');
}
