//! Lines in two: those that all chosen grammars accept, byte for byte, and the others with what is wrong with them; and records
//! by the URLs in them.
//!
//! Of most lines only where they end is ever known: the sweep tells which lines are refused, and all that stands between two
//! of them is moved as it is. Writing is the limit, not judging.

mod outputs;
mod records;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter};

use self::outputs::{Outputs, Parts};
use crate::engine::lanes::List;
use crate::engine::line_table::{OUTCOMES, Outcome};
use crate::engine::{Bulk, Consumer, sweep};
use crate::example::Line;
use crate::grammar::advisory::Advisories;
use crate::grammar::automaton::Tracker;
use crate::grammar::defect::Defect;
use crate::grammar::escape;
use crate::grammar::scheme::Scheme;
use crate::grammar::{Grammar, Verdict};
use crate::input::workers::with_helpers;
use crate::input::{Input, Sizes};
use crate::lines::skip_byte_order_mark;
use crate::place::Extent;
use crate::place::Place;
use crate::records::{Format, Reader};
use crate::run::chunk_cutter::{AnyPiece, AnyPieces};
use crate::run::format_choice::Reading;
use crate::run::pipeline::{Lent, Turns, in_pieces, sources};
use crate::run::{Effort, Failure};
use crate::scan::record_fields;
use crate::simd::KernelId;

/// Where blank lines go, which are not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blank {
    /// To the accepted lines, as they are.
    Accepted,
    /// To the refused ones.
    Refused,
    /// Nowhere; they are counted.
    Dropped,
}

/// How refused lines are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Tab-separated fields: the name of the input, the number of the line in it from 1, where the line begins in bytes from the
    /// start of the input; of each grammar chosen, in the order of [`Grammar::ALL`], why it refuses the line, as
    /// component:cause@offset, or `-` if it does not; and last the line without its terminator, as [`escape::push`] writes it,
    /// from which it can be read back. Of a blank line each grammar says `blank`.
    ///
    /// Of a record, number, offset and text are its own, line ends in it escaped too, and before the component stands the field:
    /// role@place:component:cause@offset, where the place counts bytes from the start of the record. What cannot be read, or has no
    /// URL, has `record` for a component: record:cause@offset, with a [`BadCause`](crate::records::BadCause), `no-field` or `blank`.
    Tsv,
    /// The lines or records as they are, with their own line ends.
    Lines,
}

/// By what lines are split, and how they are written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Options {
    /// A line is accepted if all grammars of this set accept it, and refused otherwise.
    pub by: Verdict,
    /// Where blank lines go.
    pub blank: Blank,
    /// How refused lines are written.
    pub form: Form,
    /// Whether the first row names the fields ([`Form::Tsv`]).
    pub header: bool,
    /// Where in the inputs the URLs stand.
    pub reading: Reading,
    /// Whether inputs that are no lists are failures. Accepted lines are printable, and accepted records may hold any bytes,
    /// which a terminal, say, must not get.
    pub lists_only: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: Verdict::from_iter([Grammar::Rfc3986]),
            blank: Blank::Accepted,
            form: Form::Tsv,
            header: false,
            reading: Reading::of(Format::Lines),
            lists_only: false,
        }
    }
}

/// How many lines went where.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Split {
    /// Lines that all chosen grammars accept, and records of whose URLs that holds.
    pub accepted: u64,
    /// Lines that one of them refuses, records with such a URL, and those without any.
    pub refused: u64,
    /// Blank lines, which are neither.
    pub blank: u64,
    /// Comments and headers of records, which go to both sides.
    pub remarks: u64,
    /// Byte order marks at the start of inputs; they belong to no line, and are left out.
    pub boms: u64,
    /// The inputs that could not be read to their end: of these, only what was whole before that is written. And those that cannot
    /// stand in one file with others.
    pub failures: Vec<Failure>,
    /// What was found in inputs that are no lists, by number.
    pub records: Vec<(u32, record_fields::Records)>,
}

/// Writes the lines of `inputs` that all chosen grammars accept to `accepted`, and the others to `refused`, both in the order
/// of the inputs.
///
/// Accepted lines are written byte for byte, with their own line ends. The last line of an input may lack its LF; it gets one
/// if another line is written behind it. So an accepted line that is split again is accepted again. Passwords are not
/// masked: these are the lines, not a report on them.
///
/// The result does not depend on `effort`. A line is held in memory whole; otherwise memory is bounded by the number of
/// threads.
///
/// A record is written to one side whole: to the accepted ones if it has a URL and all its URLs are accepted, else to the refused
/// ones. Headers and comments go to both sides as they are, but to no rows, so that each can be read as what the input is; of several tables
/// the first has its header there, and those with other columns are failures, as inputs of another format are. [`Format::Warc`]
/// and [`Format::Wat`] are not split. A record that is too long to be read is passed on all the same, piece by piece.
///
/// What has no output is counted and not written. Where an output says that nobody reads it any more
/// ([`io::ErrorKind::BrokenPipe`]), the other one is still written.
///
/// ```
/// use urlsift::run::Effort;
/// use urlsift::{input, split};
///
/// let (mut accepted, mut refused) = (Vec::new(), Vec::new());
/// # let file = std::env::temp_dir().join(format!("urlsift-split-{}", std::process::id()));
/// # std::fs::write(&file, "http://example.org/\r\n/a b\nx\n").unwrap();
/// # let inputs = input::list(&[file.clone()]);
/// # if false {
/// let inputs = input::list(&["urls.txt".into()]);
/// # }
/// let split = split::split_inputs(
///     &inputs,
///     &split::Options::default(),
///     &Effort::default(),
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
/// When an output cannot be written to, or nobody reads any of them; or when the format of all inputs is one that is not split.
///
/// # Panics
/// When the machine does not have the kernel.
pub fn split_inputs<'a>(
    inputs: &[Input],
    options: &Options,
    effort: &Effort,
    accepted: Option<&'a mut (dyn Write + Send)>,
    refused: Option<&'a mut (dyn Write + Send)>,
) -> io::Result<Split> {
    if let Some(format) = options.reading.format {
        records::check(format, options)?;
    }
    let wanted = [accepted.is_some(), refused.is_some()];
    let of_lines = Splitter { options, kernel: effort.kernel, accepted: wanted[0], refused: wanted[1] };
    let of_records = records::Splitter { options, accepted: wanted[0], refused: wanted[1] };
    let mut outputs = Outputs::new([accepted, refused], options.form, inputs);
    if options.header && options.form == Form::Tsv {
        outputs.write([b"", header(options.by).as_bytes()])?;
    }
    let sizes = Sizes::of_whole_lines(effort.shard_len.clamp(16, 1 << 30));
    let turns = Turns::default();
    let mut turn = 0..;
    let mut look = |input, piece| match piece {
        AnyPiece::Lines(piece) => (piece.into_bytes(), turn.next().map(|turn| (input, Whole::Lines(turn)))),
        AnyPiece::Records(piece) => {
            let records = Whole::Records(piece.reader, piece.is_open);
            (piece.bytes, Some((input, records)))
        }
    };
    let work = |bytes: Lent, (input, whole): (u32, Whole)| {
        let name = inputs[input as usize].name();
        match whole {
            Whole::Lines(turn) => {
                let first_of = |n_lines| turns.first_number(turn, input, n_lines);
                of_lines.split(bytes, (input, name), first_of)
            }
            Whole::Records(reader, is_open) => of_records.split(bytes, reader, is_open, (input, name)),
        }
    };
    let sink = |parts: Parts| match outputs.take(parts) {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    };
    let (flow, failures) = with_helpers(effort.n_threads() - 1, |helpers| {
        let sources = sources(inputs, &options.reading, sizes, helpers, effort.watch.as_ref());
        let sources = sources.map(|(input, pieces)| {
            let check = |pieces: AnyPieces<_>| records::check(pieces.format(), options).map(|()| pieces);
            (input, pieces.and_then(check))
        });
        in_pieces(sources, effort.n_threads(), &mut look, work, sink)
    });
    if let ControlFlow::Break(error) = flow {
        return Err(error);
    }
    let mut split = outputs.finish()?;
    split.failures.extend(failures);
    split.failures.sort_by_key(|failure| failure.input);
    split.failures.dedup_by_key(|failure| failure.input);
    Ok(split)
}

/// What a piece is.
enum Whole {
    /// Lines, the pieces of which have turns.
    Lines(u64),
    /// Records, what reads them, and whether the last one goes on.
    Records(Box<Reader>, bool),
}

/// The names of the fields.
fn header(by: Verdict) -> String {
    let mut names = "input\tline\toffset".to_owned();
    for grammar in by.iter() {
        let _ = write!(names, "\t{grammar}");
    }
    names + "\ttext\n"
}

/// Splits pieces of lines.
struct Splitter<'a> {
    options: &'a Options,
    kernel: KernelId,
    /// Which of the two is wanted.
    accepted: bool,
    refused: bool,
}

impl Splitter<'_> {
    /// Splits whole lines of `input`, its number and its name. `first_of` says the number of the first of them when it is told how
    /// many they are.
    fn split(&self, mut bytes: Lent, input: (u32, &str), first_of: impl FnOnce(u64) -> u64) -> Parts {
        let (base, whole) = (bytes.offset, bytes.get());
        let body = skip_byte_order_mark(whole, base);
        let mark_len = whole.len() - body.len();
        let mut finder = Finder::new(self.options, base);
        sweep(&mut finder, self.kernel, body, Place { input: 0, offset: base + mark_len as u64 });
        // The sweep is at several places at once.
        finder.found.sort_unstable_by_key(|found| found.start);
        let number = first_of(finder.n_lines);
        let mut rows =
            Rows { options: self.options, input: input.1, base, text: String::new(), number, at: mark_len };
        let mut lines = Vec::new();
        // What is accepted stands before `kept`; what stands from `from` on has not been looked at.
        let (mut kept, mut from) = (0, mark_len);
        for found in &finder.found {
            let whole = bytes.get();
            let behind = found.start + found.len;
            let end = memchr(b'\n', &whole[behind..]).map_or(whole.len(), |lf| behind + lf + 1);
            let goes_to_refused = found.len > 0 || self.options.blank == Blank::Refused;
            match self.options.form {
                _ if !self.refused => {}
                Form::Lines if goes_to_refused => lines.extend(&whole[found.start..end]),
                Form::Lines => {}
                Form::Tsv => {
                    rows.go_to(whole, found.start);
                    if goes_to_refused {
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
        lines.extend(rows.text.into_bytes());
        let mut parts = Parts::new(input.0, Format::Lines);
        (parts.to_accepted, parts.to_refused) = (Some(bytes), lines);
        (parts.refused, parts.blank) = (finder.n_refused, finder.n_blank);
        parts.accepted = finder.n_lines - finder.n_refused - finder.n_blank;
        parts.boms = u64::from(mark_len > 0);
        parts
    }
}

/// A line that is not to be kept: refused, or blank.
struct Found {
    /// Where it begins in the piece.
    start: usize,
    /// How many bytes it has, without its terminator.
    len: usize,
}

/// Finds the lines of a piece that are not to be kept.
struct Finder {
    by: Verdict,
    /// Whether blank lines are found too.
    blank: bool,
    /// Where the piece begins.
    base: u64,
    found: Vec<Found>,
    n_lines: u64,
    n_refused: u64,
    n_blank: u64,
}

impl Finder {
    fn new(options: &Options, base: u64) -> Self {
        let blank = options.blank != Blank::Accepted;
        Self { by: options.by, blank, base, found: Vec::new(), n_lines: 0, n_refused: 0, n_blank: 0 }
    }

    fn find(&mut self, entry: &Line<'_>) {
        let usize = |n| usize::try_from(n).expect("the piece is in memory");
        self.found.push(Found { start: usize(entry.place.offset - self.base), len: usize(entry.len) });
    }

    fn judge(&mut self, entry: &Line<'_>, verdict: Verdict) {
        if !verdict.includes(self.by) {
            self.n_refused += 1;
            self.find(entry);
        }
    }
}

impl Consumer for Finder {
    fn list(&self, _: Place) -> List {
        // Of lines that the streams know, a later grammar refuses none that an earlier one accepts.
        let grammar = self.by.iter().next().unwrap_or(Grammar::Rfc3986);
        List { grammar, blank: self.blank, advisories: Advisories::default() }
    }

    fn in_bulk(&self, outcome: &Outcome, _: Place) -> bool {
        outcome.verdict.includes(self.by)
    }

    fn plain(&mut self, _: Option<usize>, _: Verdict, _: u64) {}

    fn bulk(&mut self, bulk: &Bulk) {
        self.n_blank += bulk.blank;
    }

    fn blank(&mut self, entry: &Line<'_>) {
        self.n_blank += 1;
        if self.blank {
            self.find(entry);
        }
    }

    #[inline]
    fn known(
        &mut self,
        entry: &Line<'_>,
        _: &[u8],
        _: &Scheme<'_>,
        verdict: Verdict,
        _: impl FnOnce() -> Advisories,
    ) {
        self.judge(entry, verdict);
    }

    fn bad(&mut self, entry: &Line<'_>, _: &[u8], _: Option<usize>) {
        self.judge(entry, Verdict::default());
    }

    fn judged(&mut self, entry: &Line<'_>, _: &[u8], outcome: u8) {
        self.judge(entry, OUTCOMES[usize::from(outcome)].verdict);
    }

    fn cover(&mut self, run: Extent) {
        self.n_lines += run.lines;
    }
}

/// The rows of refused lines.
struct Rows<'a> {
    options: &'a Options,
    input: &'a str,
    /// Where the piece begins in the input.
    base: u64,
    text: String,
    /// The number of the line that begins at `at` in the piece.
    number: u64,
    at: usize,
}

impl Rows<'_> {
    /// Goes on to the line that begins at `start` in `piece`, from which the lines before the last place may be gone.
    fn go_to(&mut self, piece: &[u8], start: usize) {
        self.number += memchr_iter(b'\n', &piece[self.at..start]).count() as u64;
        self.at = start;
    }

    /// Appends the row of the line that begins here.
    fn push(&mut self, line: &[u8]) {
        let text = &mut self.text;
        push_place(text, self.input, self.number, self.base + self.at as u64);
        for grammar in self.options.by.iter() {
            match defect_of(grammar, line) {
                _ if line.is_empty() => text.push_str("blank"),
                Some(defect) => push_defect(text, &defect),
                None => text.push('-'),
            }
            text.push('\t');
        }
        escape::push(text, line);
        text.push('\n');
    }
}

/// Appends where a line or record begins.
fn push_place(row: &mut String, input: &str, line: u64, offset: u64) {
    let mut digits = itoa::Buffer::new();
    row.push_str(input);
    for number in [line, offset] {
        row.push('\t');
        row.push_str(digits.format(number));
    }
    row.push('\t');
}

/// Why a grammar refuses a line, if it does.
fn defect_of(grammar: Grammar, line: &[u8]) -> Option<Defect> {
    let mut tracker = Tracker::new(grammar);
    tracker.feed(line);
    Defect::of(grammar, &tracker, line)
}

/// What `{defect}` writes, without the detour over padding.
fn push_defect(row: &mut String, defect: &Defect) {
    let mut digits = itoa::Buffer::new();
    row.extend([defect.component.name(), ":", defect.cause.name(), "@", digits.format(defect.offset)]);
}
