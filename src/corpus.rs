//! Several inputs through the pipeline: files and memory by shards, everything else by pieces as they come; one result.

mod packed;
mod part;
#[cfg(feature = "parquet")]
mod table;

use std::fs::File;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::format::Format;
pub use crate::gather::{Fields, Records};
use crate::hands::with_helpers;
use crate::harvest::{Way, harvest};
use crate::input::{
    Bytes, Codec, Input, Mapped, Opened, Piece, Pieces, ShardBytes, Sizes, Told, Unpacked, Window,
};
use crate::kernel::KernelId;
use crate::long_line::LongLine;
pub use crate::pipeline::Failure;
use crate::pipeline::{Lent, in_pieces};
pub use crate::reading::Reading;
use crate::reading::Source;
use crate::scan::{Options, Ways, scan_into};
use crate::shard::beginning_in;
use crate::tally::{Place, Tally};
use crate::watch::{Stopped, Watch};
pub use part::{Part, ScannedParts, Seek, scan_parts};

/// How the work is done. Nothing here changes a count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Effort {
    /// How many threads judge lines; 0 is as many as the machine runs at once.
    pub threads: usize,
    /// How many bytes of a file are one piece of work, and how many bytes of a stream are read at a time.
    pub shard_len: usize,
    /// The longest line that is held in memory whole, in bytes; longer ones are judged as they are read.
    pub line_len: usize,
    /// What judges lines; has to be available.
    pub kernel: KernelId,
    /// Whether files are looked at where they lie in the system's memory, those that it promises that nobody changes meanwhile;
    /// on Linux, with the feature `mmap`. Whoever opens such a file to write waits for a moment, and the process gets a
    /// SIGURG, which is passed over unless it is handled.
    pub mmap: bool,
    /// Who is told how far the work has come, and may stop it.
    pub watch: Option<Watch>,
    /// Whether more may come of any input, in another tally: then none is [ended](Tally::end).
    leaves_open: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            threads: 0,
            shard_len: 1 << 20,
            line_len: 2 << 20,
            kernel: KernelId::best(),
            mmap: false,
            watch: None,
            leaves_open: false,
        }
    }
}

impl Effort {
    fn sizes(&self) -> Sizes {
        let shard_len = self.shard_len.clamp(16, 1 << 30);
        // The end of the last line of a shard mostly lies a little behind it.
        Sizes { piece: shard_len + shard_len / 16, line: self.line_len.max(3), eager: false }
    }

    /// How records are read with it.
    fn way<'a>(&self, judged: &'a (dyn Fn(u64) + Sync)) -> Way<'a> {
        Way { piece_len: self.sizes().piece, threads: self.n_threads(), kernel: self.kernel, judged }
    }

    /// The source, of which the watch is told what is read.
    fn told<R>(&self, source: R) -> Told<'_, R> {
        Told { source, watch: self.watch.as_ref() }
    }

    /// Tells the watch that so many bytes more have been read.
    fn read(&self, bytes: usize) {
        if let Some(watch) = &self.watch {
            watch.read(bytes);
        }
    }

    /// Tells the watch that so many lines more have been judged.
    pub(crate) fn judged(&self, lines: u64) {
        if let Some(watch) = &self.watch {
            watch.judged(lines);
        }
    }

    fn is_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_stopped)
    }

    /// How many threads that is.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }
}

/// What a scan found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Scanned {
    /// The counts of all lines that could be read.
    pub tally: Tally,
    /// The inputs that could not be read to their end, by number, one failure each.
    pub failures: Vec<Failure>,
    /// What was found in inputs that are no lists, by number.
    pub records: Vec<(u32, Records)>,
    /// The inputs that are compressed, by number.
    pub compressed: Vec<Compressed>,
}

/// A compressed input. What is counted of it is what comes of decoding it, lengths and places too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compressed {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// How it is packed.
    pub codec: Codec,
    /// How many bytes of it were decoded, compressed as they are.
    pub bytes: u64,
}

impl Scanned {
    fn merge(mut self, other: Self) -> Self {
        self.tally = self.tally.merge(other.tally);
        self.failures.extend(other.failures);
        self.records.extend(other.records);
        self.compressed.extend(other.compressed);
        self
    }

    /// This, now that an input has been read as far as it can be.
    fn ended(mut self, input: u32, options: &Options, effort: &Effort) -> Self {
        let has_failed = || self.failures.iter().any(|failure| failure.input == input);
        if options.wanted().ends() && !effort.leaves_open && !has_failed() {
            self.tally.end(input);
        }
        self
    }

    /// What came of the records of an input, read as far as it can be.
    fn harvested(
        tally: Tally,
        records: Records,
        failures: Vec<Failure>,
        input: u32,
        options: &Options,
        effort: &Effort,
    ) -> Self {
        let all = Self { tally, failures, records: vec![(input, records)], ..Self::default() };
        all.ended(input, options, effort)
    }

    fn failed(input: u32, error: io::Error) -> Self {
        Self { failures: vec![Failure { input, error }], ..Self::default() }
    }
}

/// Judges all lines of all inputs and counts them.
///
/// The result does not depend on `effort`. Memory is bounded by the number of threads, whatever the inputs. An input that
/// cannot be read is named in the result and does not stop the others. Compressed inputs are decoded, and what comes of them is
/// counted. Where [`Effort::watch`] was stopped, the result has the
/// beginning of each input, and a failure for each that goes on behind it.
///
/// ```no_run
/// use urlsift::corpus::{Effort, scan_inputs};
/// use urlsift::{input, scan};
///
/// let inputs = input::list(&["urls.txt".into()]);
/// let scanned = scan_inputs(&inputs, &scan::Options::default(), &Effort::default());
/// println!("{} lines", scanned.tally.lines());
/// ```
#[must_use]
pub fn scan_inputs(inputs: &[Input], options: &Options, effort: &Effort) -> Scanned {
    scan_records(inputs, &Reading::of(Format::Lines), options, effort)
}

/// Judges all URLs in the records of all inputs and counts them; a list is what [`scan_inputs`] takes it for.
///
/// The examples in the tally have the places of their fields in the input, and the numbers of the lines in which their records
/// begin. The runs of the tally, and the lines in them, are those of the input. Nothing depends on `effort`. Of inputs that are no
/// lists one is read after the other, each on all threads; memory is some times [`MAX_RECORD_LEN`](crate::format::MAX_RECORD_LEN) a
/// thread at most, and mostly some megabytes.
///
/// ```
/// use urlsift::corpus::{Effort, Reading, scan_records};
/// use urlsift::format::Format;
/// use urlsift::{Grammar, input, scan};
///
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("index.cdxj");
/// # std::fs::write(&path, "org,example)/ 20260101000000 {\"url\": \"http://example.org/a b\"}\n")?;
/// let inputs = input::list(&[path]);
/// let scanned = scan_records(&inputs, &Reading::default(), &scan::Options::default(), &Effort::default());
/// let (0, records) = &scanned.records[0] else { panic!("the first input") };
/// assert_eq!((records.format, records.counts.read()), (Format::Cdxj, 1));
/// assert_eq!(scanned.tally.judged().accepted(Grammar::Rfc3986), 0);
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn scan_records(inputs: &[Input], reading: &Reading, options: &Options, effort: &Effort) -> Scanned {
    let numbered = inputs.iter().enumerate().map(|(n, input)| (number(n), input)).collect();
    scan_numbered(numbered, reading, options, effort)
}

/// Does that for inputs of some numbers.
fn scan_numbered(
    inputs: Vec<(u32, &Input)>,
    reading: &Reading,
    options: &Options,
    effort: &Effort,
) -> Scanned {
    // Files first, all at once; then what can only be read from its start, one after the other.
    let (streams, files): (Vec<_>, Vec<_>) = inputs.into_iter().partition(|(_, input)| input.is_stream());
    let are_lists = reading.is_of_lists();
    let is_list = |input: &Input| match input.open(None).and_then(|opened| opened.bytes(None)) {
        Ok(bytes) => reading.open(bytes).is_ok_and(|(reader, _)| reader.format() == Format::Lines),
        // It says why when it is read.
        Err(_) => true,
    };
    let (files, records): (Vec<_>, Vec<_>) =
        files.into_iter().partition(|(_, input)| are_lists || is_list(input));
    let packed = Mutex::new(Vec::new());
    let scan_files = || {
        let scan_one = |scanned: Scanned, &(number, input)| {
            match Input::open(input, effort.watch.as_ref()) {
                Ok(Opened::File(file, len)) => {
                    scan_file(scanned, (&file, len), 0..len, number, options, effort)
                }
                Ok(Opened::Packed(_)) => {
                    lock(&packed).push((number, input));
                    scanned
                }
                // It has become one since.
                Ok(Opened::Stream(stream)) => scanned.merge(scan_stream(stream, number, options, effort)),
                Err(error) => scanned.merge(Scanned::failed(number, error)),
            }
        };
        files.par_iter().fold(Scanned::default, scan_one).reduce(Scanned::default, Scanned::merge)
    };
    let mut all = in_pool(effort.n_threads(), scan_files);
    let mut packed = packed.into_inner().unwrap_or_else(PoisonError::into_inner);
    packed.sort_unstable_by_key(|&(number, _)| number);
    all = all.merge(packed::scan_packed(&packed, options, effort));
    for (number, input) in records {
        let scan = |bytes| scan_any(bytes, number, reading, options, effort);
        #[cfg(feature = "parquet")]
        if let Some(scanned) = table::scan_table(input, number, reading, options, effort) {
            all = all.merge(scanned);
            continue;
        }
        all = all.merge(scan_alone(input, number, effort, scan));
    }
    for (number, input) in streams {
        let scan = |bytes| {
            if are_lists {
                scan_stream(bytes, number, options, effort)
            } else {
                scan_any(bytes, number, reading, options, effort)
            }
        };
        all = all.merge(scan_alone(input, number, effort, scan));
    }
    all.failures.sort_by_key(|failure| failure.input);
    all.failures.dedup_by_key(|failure| failure.input);
    all.records.sort_by_key(|(input, _)| *input);
    all.compressed.sort_unstable_by_key(|compressed| compressed.input);
    all
}

/// Adds the fields of the records of a stream, or its lines if it is a list.
fn scan_any(stream: Source, input: u32, reading: &Reading, options: &Options, effort: &Effort) -> Scanned {
    let (reader, stream) = match reading.open(stream) {
        Ok(opened) => opened,
        Err(error) => return Scanned::failed(input, error),
    };
    if reader.format() == Format::Lines {
        return scan_stream(stream, input, options, effort);
    }
    let judged = |fields| effort.judged(fields);
    let (tally, records, failures) = harvest(stream, input, reader, options, &effort.way(&judged));
    Scanned::harvested(tally, records, failures, input, options, effort)
}

/// Opens an input, has `scan` count what is in it from its start on, decoded, and notes how it was packed.
fn scan_alone(input: &Input, number: u32, effort: &Effort, scan: impl FnOnce(Source) -> Scanned) -> Scanned {
    let watch = effort.watch.as_ref();
    let packed = match input.open(watch) {
        Ok(Opened::Packed(packed)) => packed,
        Ok(opened) => return opened.bytes(watch).map_or_else(|error| Scanned::failed(number, error), scan),
        Err(error) => return Scanned::failed(number, error),
    };
    let n_helpers = if packed.wants_help() { effort.n_threads() - 1 } else { 0 };
    with_helpers(n_helpers, |helpers| match packed.unpack(watch, helpers) {
        Ok(Unpacked { bytes, codec, meter }) => {
            let mut scanned = scan(bytes);
            scanned.compressed.push(Compressed { input: number, codec, bytes: meter.bytes() });
            scanned
        }
        Err(error) => Scanned::failed(number, error),
    })
}

/// Judges all lines of `bytes`, a whole corpus in memory, on several threads, and counts them as input 0. Tells which way the
/// lines took.
///
/// The tally is that of [`scan`](crate::scan()) for any effort. Called on a thread of a rayon pool that has as many threads
/// as `effort` says, it works there; otherwise it makes one.
///
/// ```
/// use urlsift::corpus::{Effort, scan_memory};
/// use urlsift::scan::{Options, scan};
///
/// let bytes = b"http://example.org/\nftp://example.org/a;b\n".repeat(1000);
/// let (tally, _) = scan_memory(&bytes, &Options::default(), &Effort::default());
/// assert_eq!(tally, scan(&bytes, &Options::default()));
/// ```
///
/// # Panics
///
/// When the machine does not have the kernel.
#[must_use]
pub fn scan_memory(bytes: &[u8], options: &Options, effort: &Effort) -> (Tally, Ways) {
    let shard_len = effort.shard_len.max(1);
    let scan_one = |(mut tally, ways): (Tally, Ways), n: usize| {
        let start = n * shard_len;
        let lines = beginning_in(bytes, start, bytes.len().min(start.saturating_add(shard_len)));
        let place = Place { input: 0, offset: lines.start as u64 };
        let more = scan_into(&mut tally, effort.kernel, &bytes[lines], place, options);
        (tally, ways.merge(more))
    };
    let merge =
        |(tally, ways): (Tally, Ways), (other, more): (Tally, Ways)| (tally.merge(other), ways.merge(more));
    let shards = (0..bytes.len().div_ceil(shard_len)).into_par_iter();
    in_pool(effort.n_threads(), || shards.fold(Default::default, scan_one).reduce(Default::default, merge))
}

/// Runs `work`, and what it does in parallel, on `threads` threads, or on as many as the system gives; here, if this is one
/// of as many already.
fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() == threads {
        return work();
    }
    let mut n = threads;
    while n > 0 {
        if let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(n).build() {
            return pool.install(work);
        }
        n /= 2;
    }
    // No thread at all: this one is the pool, and stays it.
    match rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build() {
        Ok(pool) => pool.install(work),
        // It is one already.
        Err(_) => work(),
    }
}

/// Adds the lines of a file of some length that begin in a range of it to what has been scanned of inputs before it.
fn scan_file(
    scanned: Scanned,
    (file, len): (&File, u64),
    range: Range<u64>,
    input: u32,
    options: &Options,
    effort: &Effort,
) -> Scanned {
    let shard_len = effort.shard_len.max(1) as u64;
    if range == (0..len) && len <= shard_len {
        // Read to its end, wherever that is by now; the files of some file systems are shorter than they say.
        let pieces = Pieces::new(effort.told(file), 0, effort.sizes());
        return scan_shard(scanned, pieces, input, options, effort).ended(input, options, effort);
    }
    let bytes_of = |shards: &Range<u64>| {
        range.start + shards.start * shard_len..range.end.min(range.start + shards.end * shard_len)
    };
    // One tally serves many shards: it is some kilobytes, and has its examples early.
    let scan_one = |mut scanned: Scanned, n: u64, window: &mut Option<Window>| {
        let shard = bytes_of(&(n..n + 1));
        let lines = window.as_ref().and_then(|window| window.lines(shard.clone()));
        if let Some((offset, lines)) = lines {
            effort.read(lines.len());
            scan_lines(&mut scanned.tally, lines, Place { input, offset }, options, effort);
            return scanned;
        }
        // A line without end may be read for hours.
        *window = None;
        match ShardBytes::new(file, shard.start, shard.end, len) {
            Ok(None) => scanned,
            Ok(Some(bytes)) => {
                let offset = bytes.offset();
                scan_shard(
                    scanned,
                    Pieces::new(effort.told(bytes), offset, effort.sizes()),
                    input,
                    options,
                    effort,
                )
            }
            Err(error) => {
                scanned.failures.push(Failure { input, error });
                scanned
            }
        }
    };
    let shards = Shards {
        next: AtomicU64::new(0),
        n: (range.end - range.start).div_ceil(shard_len),
        hands: effort.n_threads() as u64,
    };
    let mapped = effort.mmap.then(|| Mapped::of(file, len)).flatten();
    let all = Mutex::new(Scanned::default());
    (0..effort.n_threads()).into_par_iter().for_each(|_| {
        while !effort.is_stopped()
            && let Some(taken) = shards.take()
        {
            // Of what is in the tally so far, that counts which stands before these lines.
            let range = bytes_of(&taken);
            let tally = lock(&all).tally.behind(Place { input, offset: range.start });
            let none = Scanned { tally, ..Scanned::default() };
            let scanned = {
                let mut window = mapped.as_ref().and_then(|mapped| mapped.window(range));
                taken.fold(none, |scanned, n| scan_one(scanned, n, &mut window))
            };
            let mut all = lock(&all);
            *all = std::mem::take(&mut *all).merge(scanned);
        }
    });
    let mut all = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    if !shards.are_taken() {
        all.failures.push(Failure { input, error: Stopped.into() });
    }
    scanned.merge(all.ended(input, options, effort))
}

/// The shards of a file, to be taken from its start on: whenever no more are taken, those that were are its beginning.
struct Shards {
    next: AtomicU64,
    n: u64,
    /// How many threads take some.
    hands: u64,
}

impl Shards {
    /// The most that are taken at a time; a stop waits for them to be done.
    const MOST: u64 = 16;

    /// The next few; fewer towards the end, so that all threads end together.
    fn take(&self) -> Option<Range<u64>> {
        let share = |next: u64| ((self.n - next) / (4 * self.hands)).clamp(1, Self::MOST).min(self.n - next);
        let take = |next| (next < self.n).then(|| next + share(next));
        let start = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(start..start + share(start))
    }

    fn are_taken(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.n
    }
}

fn number(input: usize) -> u32 {
    u32::try_from(input).expect("fewer inputs than 2^32")
}

thread_local! {
    /// A thread reads all its shards into the same memory.
    static BUFFER: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

/// Adds the lines of a shard to what has been scanned.
fn scan_shard(
    mut scanned: Scanned,
    mut pieces: Pieces<impl Read>,
    input: u32,
    options: &Options,
    effort: &Effort,
) -> Scanned {
    let mut long = None;
    let mut spare = BUFFER.take();
    loop {
        match pieces.next(&mut spare) {
            Ok(Some(Piece::Lines(bytes))) => {
                scan_bytes(&mut scanned.tally, &bytes, input, options, effort);
                spare = bytes.into_buffer();
            }
            Ok(Some(Piece::Long { bytes, end })) => {
                scanned.tally =
                    scanned.tally.merge(scan_long(&mut long, &bytes, end, input, options, effort));
                spare = bytes.into_buffer();
                // It may go on for hours.
                if !end && effort.is_stopped() {
                    scanned.failures.push(Failure { input, error: Stopped.into() });
                    break;
                }
            }
            Ok(None) => break,
            Err(error) => {
                scanned.failures.push(Failure { input, error });
                break;
            }
        }
    }
    BUFFER.set(spare);
    scanned
}

/// Adds the lines of a piece.
fn scan_bytes(tally: &mut Tally, bytes: &Bytes, input: u32, options: &Options, effort: &Effort) {
    scan_lines(tally, bytes.get(), Place { input, offset: bytes.offset }, options, effort);
}

/// Adds lines that stand at `place`.
fn scan_lines(tally: &mut Tally, lines: &[u8], place: Place, options: &Options, effort: &Effort) {
    let before = tally.lines();
    scan_into(tally, effort.kernel, lines, place, options);
    effort.judged(tally.lines() - before);
}

/// One more part of a long line; its tally when it has ended.
fn scan_long(
    long: &mut Option<LongLine>,
    bytes: &Bytes,
    end: bool,
    input: u32,
    options: &Options,
    effort: &Effort,
) -> Tally {
    let line = long.get_or_insert_with(|| LongLine::new(Place { input, offset: bytes.offset }, options));
    line.feed(bytes.get());
    effort.judged(u64::from(end));
    if end { long.take().map(LongLine::finish).unwrap_or_default() } else { Tally::default() }
}

fn scan_stream(stream: Source, input: u32, options: &Options, effort: &Effort) -> Scanned {
    scan_lines_from(stream, 0, input, options, effort)
}

/// Judges the lines of a stream whose first byte stands at `offset` and begins a line.
fn scan_lines_from(
    stream: impl Read,
    offset: u64,
    input: u32,
    options: &Options,
    effort: &Effort,
) -> Scanned {
    let tally = Mutex::new(Tally::default());
    let mut long = None;
    let mut aside = Tally::default();
    let look = |_, piece| match piece {
        Piece::Lines(bytes) => (bytes, Some(())),
        Piece::Long { bytes, end } => {
            let done = scan_long(&mut long, &bytes, end, input, options, effort);
            aside = std::mem::take(&mut aside).merge(done);
            (bytes, None)
        }
    };
    let work = |bytes: Lent, ()| {
        // All that is in the tally so far stands before these lines.
        let mut piece = lock(&tally).behind(Place { input, offset: bytes.offset });
        scan_bytes(&mut piece, &bytes, input, options, effort);
        piece
    };
    let sink = |piece: Tally| {
        let mut tally = lock(&tally);
        *tally = std::mem::take(&mut *tally).merge(piece);
        ControlFlow::<()>::Continue(())
    };
    let pieces = Pieces::new(stream, offset, effort.sizes());
    let (_, failures) = in_pieces([(input, Ok(pieces))], effort.n_threads(), look, work, sink);
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    Scanned { tally: tally.merge(aside), failures, ..Scanned::default() }.ended(input, options, effort)
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
