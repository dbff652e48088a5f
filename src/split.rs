//! Lines in two: those that all chosen grammars accept, byte for byte, and the others with what is wrong with them.
//!
//! Of most lines only where they end is ever known: the sweep tells which lines are refused, and all that stands between two
//! of them is moved as it is. Writing is the limit, not judging.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter};

use crate::advisory::Advisories;
use crate::corpus::{Effort, Failure};
use crate::defect::Defect;
use crate::escape;
use crate::example::{Line, Place};
use crate::grammar::{Grammar, Verdict};
use crate::input::{Input, Piece, Sizes};
use crate::kernel::KernelId;
use crate::lanes::List;
use crate::machine::Tracker;
use crate::pipeline::{Lent, Turns, in_pieces, sources};
use crate::scheme::Scheme;
use crate::shard::skip_byte_order_mark;
use crate::sweep::{Bulk, Consumer, sweep};
use crate::tally::Run;
use crate::walk::{OUTCOMES, Outcome};

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
    Tsv,
    /// The lines as they are, with their own line ends.
    Lines,
}

/// By what lines are split, and how they are written.
#[derive(Clone, Copy, Debug)]
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
}

impl Default for Options {
    fn default() -> Self {
        Self {
            by: Verdict::from_iter([Grammar::Rfc3986]),
            blank: Blank::Accepted,
            form: Form::Tsv,
            header: false,
        }
    }
}

/// How many lines went where.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Split {
    /// Lines that all chosen grammars accept.
    pub accepted: u64,
    /// Lines that one of them refuses.
    pub refused: u64,
    /// Blank lines, which are neither.
    pub blank: u64,
    /// Byte order marks at the start of inputs; they belong to no line, and are left out.
    pub boms: u64,
    /// The inputs that could not be read to their end: of these, only whole lines before that are written.
    pub failures: Vec<Failure>,
}

/// Writes the lines of `inputs` that all chosen grammars accept to `accepted`, and the others to `refused`, both in the order
/// of the inputs.
///
/// Accepted lines are written byte for byte, with their own line ends. The last line of an input may lack its LF; it gets one
/// if another line is written behind it. So an accepted line that is split again is accepted again. Passwords are not
/// masked: these are the lines, not a report on them.
///
/// The result does not depend on `effort`. A line is held in memory whole; otherwise memory is bounded by the number of
/// threads. What has no output is counted and not written. Where an output says that nobody reads it any more
/// ([`io::ErrorKind::BrokenPipe`]), the other one is still written.
///
/// ```
/// use urlsift::corpus::Effort;
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
/// When an output cannot be written to, or nobody reads any of them.
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
    let splitter =
        Splitter { options, kernel: effort.kernel, accepted: accepted.is_some(), refused: refused.is_some() };
    let mut split = Split::default();
    let mut sides = [Side::new(accepted), Side::new(refused)];
    if options.header && options.form == Form::Tsv {
        write_sides(&mut sides, [b"", header(options.by).as_bytes()])?;
    }
    let sizes = Sizes { piece: effort.shard_len.clamp(16, 1 << 30), line: usize::MAX, eager: true };
    let turns = Turns::default();
    let mut turn = 0..;
    let look = |input, _: &Piece| Some((input, turn.next()?));
    let work = |bytes: Lent, (input, turn): (u32, u64)| {
        let first_of = |n_lines| turns.first_number(turn, input, n_lines);
        splitter.split(bytes, inputs[input as usize].name(), first_of)
    };
    let sink = |parts: Parts| {
        split.accepted += parts.n_lines - parts.n_refused - parts.n_blank;
        split.refused += parts.n_refused;
        split.blank += parts.n_blank;
        split.boms += u64::from(parts.has_bom);
        match write_sides(&mut sides, [parts.accepted.get(), &parts.refused]) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    };
    let (flow, failures) =
        in_pieces(sources(inputs, effort.watch.as_ref()), sizes, effort.n_threads(), look, work, sink);
    match flow {
        ControlFlow::Continue(()) => Ok(Split { failures, ..split }),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The names of the fields.
fn header(by: Verdict) -> String {
    let mut names = "input\tline\toffset".to_owned();
    for grammar in by.iter() {
        let _ = write!(names, "\t{grammar}");
    }
    names + "\ttext\n"
}

/// One of the two outputs.
struct Side<'a> {
    /// `None` if it is not wanted, or nobody reads it any more.
    out: Option<&'a mut (dyn Write + Send)>,
    /// Whether the line written last lacks its LF.
    is_open: bool,
}

impl<'a> Side<'a> {
    fn new(out: Option<&'a mut (dyn Write + Send)>) -> Self {
        Self { out, is_open: false }
    }

    /// Writes whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        let (Some(out), Some(last)) = (&mut self.out, lines.last()) else { return Ok(()) };
        if self.is_open {
            out.write_all(b"\n")?;
        }
        self.is_open = *last != b'\n';
        out.write_all(lines)?;
        out.flush()
    }
}

/// Writes to each side what is for it.
///
/// # Errors
/// When one cannot be written to, or the last one that was wanted is no longer read.
fn write_sides(sides: &mut [Side<'_>; 2], parts: [&[u8]; 2]) -> io::Result<()> {
    let mut closed = None;
    for (side, part) in sides.iter_mut().zip(parts) {
        match side.write(part) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                side.out = None;
                closed = Some(error);
            }
            Err(error) => return Err(error),
        }
    }
    closed.filter(|_| sides.iter().all(|side| side.out.is_none())).map_or(Ok(()), Err)
}

/// A piece, split.
struct Parts {
    accepted: Lent,
    refused: Vec<u8>,
    n_lines: u64,
    n_refused: u64,
    n_blank: u64,
    has_bom: bool,
}

/// Splits pieces.
struct Splitter<'a> {
    options: &'a Options,
    kernel: KernelId,
    /// Which of the two is wanted.
    accepted: bool,
    refused: bool,
}

impl Splitter<'_> {
    /// Splits whole lines of `input`. `first_of` says the number of the first of them when it is told how many they are.
    fn split(&self, mut bytes: Lent, input: &str, first_of: impl FnOnce(u64) -> u64) -> Parts {
        let (base, whole) = (bytes.offset, bytes.get());
        let body = skip_byte_order_mark(whole, base);
        let mark_len = whole.len() - body.len();
        let mut finder = Finder::new(self.options, base);
        sweep(&mut finder, self.kernel, body, Place { input: 0, offset: base + mark_len as u64 });
        // The sweep is at several places at once.
        finder.found.sort_unstable_by_key(|found| found.start);
        let number = first_of(finder.n_lines);
        let mut rows = Rows { options: self.options, input, base, text: String::new(), number, at: mark_len };
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
        let Finder { n_lines, n_refused, n_blank, .. } = finder;
        Parts { accepted: bytes, refused: lines, n_lines, n_refused, n_blank, has_bom: mark_len > 0 }
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
        List { grammar, blank: self.blank, delimiters: false, ports: false }
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

    fn bad(&mut self, entry: &Line<'_>, _: &[u8], _: usize) {
        self.judge(entry, Verdict::default());
    }

    fn judged(&mut self, entry: &Line<'_>, _: &[u8], outcome: u8) {
        self.judge(entry, OUTCOMES[usize::from(outcome)].verdict);
    }

    fn cover(&mut self, run: Run) {
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
        let mut digits = itoa::Buffer::new();
        text.push_str(self.input);
        for number in [self.number, self.base + self.at as u64] {
            text.push('\t');
            text.push_str(digits.format(number));
        }
        for grammar in self.options.by.iter() {
            text.push('\t');
            let mut tracker = Tracker::new(grammar);
            tracker.feed(line);
            match Defect::of(grammar, &tracker, line) {
                _ if line.is_empty() => text.push_str("blank"),
                Some(defect) => {
                    // What `{defect}` writes, without the detour over padding.
                    let offset = digits.format(defect.offset);
                    for part in [defect.component.name(), ":", defect.cause.name(), "@", offset] {
                        text.push_str(part);
                    }
                }
                None => text.push('-'),
            }
        }
        text.push('\t');
        escape::push(text, line);
        text.push('\n');
    }
}
