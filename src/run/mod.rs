//! Several inputs at once, each as it can be read: by shards or from its start; one result.

pub(crate) mod format_choice;
pub(crate) mod chunk_cutter;
pub(crate) mod ordered;
pub(crate) mod pipeline;
mod count_chunk;
mod sequential;
mod range;
mod shards;
#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::input::{Codec, Input, Opened, Sizes, Told};
use crate::lines::beginning_in;
use crate::place::Place;
use crate::progress::Watch;
use crate::records::{Format, Reader};
pub use crate::run::format_choice::Reading;
use crate::run::format_choice::Source;
pub use crate::run::pipeline::Failure;
use crate::scan::record_fields::append;
pub use crate::scan::record_fields::{Fields, Records};
use crate::scan::{Options, Ways, scan_into};
use crate::simd::KernelId;
use crate::tally::Tally;
use count_chunk::Counter;
pub use range::{Part, ScannedParts, scan_parts};

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
        Sizes { piece: shard_len + shard_len / 16, line: self.line_len.max(3), in_parts: true, eager: false }
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
        for (input, records) in other.records {
            append(&mut self.records, input, records);
        }
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

    /// Takes note of an input, of which there may be nothing to count.
    fn note_format(&mut self, input: u32, format: Format) {
        if format != Format::Lines {
            append(&mut self.records, input, Records::new(format));
        }
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
/// use urlsift::run::{Effort, scan_inputs};
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
/// begin. The runs of the tally, and the lines in them, are those of the input. Nothing depends on `effort`. Memory is some times
/// [`MAX_RECORD_LEN`](crate::records::MAX_RECORD_LEN) a thread at most, and mostly some megabytes.
///
/// ```
/// use urlsift::run::{Effort, Reading, scan_records};
/// use urlsift::records::Format;
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
fn scan_numbered<'a>(
    inputs: Vec<(u32, &'a Input)>,
    reading: &Reading,
    options: &Options,
    effort: &Effort,
) -> Scanned {
    let counter = Counter::new(options, effort);
    // Files first, all at once; then what can only be read from its start.
    let (streams, files): (Vec<_>, Vec<_>) = inputs.into_iter().partition(|(_, input)| input.may_wait());
    let from_start = Mutex::new(Vec::new());
    let scan_one =
        |scanned: Scanned, &(number, input): &(u32, &'a Input)| match Access::of(input, reading, effort) {
            Ok(Access::Small(source, reader)) => {
                shards::scan_small(scanned, source, number, reader, &counter)
            }
            Ok(Access::Shards(file, len, reader)) => {
                shards::scan_shards(scanned, (&file, len), 0..len, number, &reader, &counter)
            }
            Ok(Access::FromStart { is_table }) => {
                lock(&from_start).push(sequential::File { number, input, is_table });
                scanned
            }
            Err(error) => scanned.merge(Scanned::failed(number, error)),
        };
    let scan_files =
        || files.par_iter().fold(Scanned::default, scan_one).reduce(Scanned::default, Scanned::merge);
    let mut all = in_pool(effort.n_threads(), scan_files);
    let mut from_start = from_start.into_inner().unwrap_or_else(PoisonError::into_inner);
    from_start.sort_unstable_by_key(|file| file.number);
    all = all.merge(sequential::scan_files(&from_start, reading, &counter));
    for (number, input) in streams {
        all = all.merge(sequential::scan_stream(input, number, reading, &counter));
    }
    all.failures.sort_by_key(|failure| failure.input);
    all.failures.dedup_by_key(|failure| failure.input);
    all.records.sort_by_key(|(input, _)| *input);
    all.compressed.sort_unstable_by_key(|compressed| compressed.input);
    all
}

/// How a file is read.
enum Access {
    /// All at once; what it has.
    Small(Source<'static>, Reader),
    /// Each part of it can be read alone; how long it is.
    Shards(File, u64, Reader),
    /// It is compressed, or parts of it cannot be read alone.
    FromStart {
        /// Whether it is one of Parquet.
        is_table: bool,
    },
}

impl Access {
    /// # Errors
    /// When the file cannot be opened, or its format cannot have the fields that are asked for.
    fn of(input: &Input, reading: &Reading, effort: &Effort) -> io::Result<Self> {
        let Opened::File(mut file, len) = input.open(effort.watch.as_ref())? else {
            return Ok(Self::FromStart { is_table: false });
        };
        let (format, head) = reading.look(&mut file);
        if cfg!(feature = "parquet") && format == Format::Parquet {
            return Ok(Self::FromStart { is_table: true });
        }
        let reader = reading.reader(format)?;
        Ok(if len <= effort.shard_len as u64 {
            Self::Small(Box::new(head.then(file)), reader)
        } else if format.is_cut_at_lines() {
            Self::Shards(file, len, reader)
        } else {
            Self::FromStart { is_table: false }
        })
    }
}

/// Judges all lines of `bytes`, a whole corpus in memory, on several threads, and counts them as input 0. Tells which way the
/// lines took.
///
/// The tally is that of [`scan`](crate::scan()) for any effort. Called on a thread of a rayon pool that has as many threads
/// as `effort` says, it works there; otherwise it makes one.
///
/// ```
/// use urlsift::run::{Effort, scan_memory};
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

fn number(input: usize) -> u32 {
    u32::try_from(input).expect("fewer inputs than 2^32")
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}
