//! Scans several inputs at once, each by shards or from its start, and merges the results.
//!
//! This folder decides how an input is read, and on which threads. It judges no line itself.

pub(crate) mod format_choice;
pub(crate) mod chunk_cutter;
pub(crate) mod ordered;
pub(crate) mod pipeline;
mod count_chunk;
mod files;
mod sequential;
mod range;
mod shards;
mod workers;
mod values;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub(crate) mod builder;

use std::io::{self, Read};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{mem, thread};

use serde::{Deserialize, Serialize};

pub use crate::run::format_choice::Reading;
pub use crate::run::pipeline::{Ends, Failure};
use crate::scan::record_fields::append;
pub use crate::scan::record_fields::{Fields, Records, Selected};
use crate::scan::{Options, SCANNERS, add_lines};
use crate::tally::already_shown::AlreadyShown;
use crate::tally::{Signs, Tally};
use count_chunk::Counter;
use format_choice::Source;
pub use range::{Part, ScannedParts, scan_parts};
use sequential::scan_input;
use shards::Shards;
use urlsift_engine::lines::beginning_in;
use urlsift_engine::place::Place;
pub use urlsift_engine::simd::KernelId;
use urlsift_engine::{PathCounts, Scanners};
/// ```
/// use urlsift::Scan;
/// use urlsift::inputs::Watch;
///
/// let watch = Watch::default();
/// watch.stop(); // from another thread, mostly
/// let found = Scan::new().watch(&watch).paths(&["urls.txt"]);
/// assert!(found.scanned.failures[0].is_stop());
/// ```
pub use urlsift_input::progress::Watch;
use urlsift_input::workers::on_threads;
pub use urlsift_input::{Advice, Codec, DecodeError, DecodeErrorKind, Input, Object, list as list_inputs};
use urlsift_input::{Meter, ProgressReader, Sizes};
use urlsift_records::Reader;
use urlsift_records::looks::Looks;
pub use urlsift_records::{BadCause, BadRecord, Counts, FieldError, Format, Role, Selector, Skip};
pub use values::{Values, scan_values};
use workers::Workers;

/// How the work is done. No setting changes a count.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ExecOptions {
    /// How many threads judge lines. 0 means as many as the machine runs at once.
    pub threads: usize,
    /// Bytes of a file in one shard, and bytes of a stream in one chunk.
    pub shard_len: usize,
    /// Longest line that is held in memory whole, in bytes. Longer lines are judged while they are read.
    pub line_len: usize,
    /// The kernel that judges lines. It has to be available.
    pub kernel: KernelId,
    /// Whether files are memory-mapped, as [`Scan::memory_map`](crate::Scan::memory_map) says.
    pub mmap: bool,
    /// The watch to which progress is reported, and which may stop the work.
    pub watch: Option<Watch>,
    /// Whether other tallies may have more of any input. If so, no input is marked as ended.
    leaves_open: bool,
    /// What earlier scans with these options have learned of lines, which makes the next one faster.
    scanners: Scanners,
}

impl Default for ExecOptions {
    fn default() -> Self {
        Self {
            threads: 0,
            shard_len: 1 << 20,
            line_len: 2 << 20,
            kernel: KernelId::best(),
            mmap: false,
            watch: None,
            leaves_open: false,
            scanners: SCANNERS.clone(),
        }
    }
}

impl ExecOptions {
    /// The scanners of all scans with these options and their clones.
    pub(crate) fn scanners(&self) -> Scanners {
        self.scanners.by(self.kernel)
    }

    fn sizes(&self) -> Sizes {
        let shard_len = self.shard_len.clamp(16, 1 << 30);
        // The last line of a shard mostly ends a little after the shard.
        Sizes { chunk: shard_len + shard_len / 16, line: self.line_len.max(3), in_parts: true, eager: false }
    }

    /// The source, with its reads reported to the watch.
    fn told<'a>(&'a self, source: impl Read + Send + 'a) -> Source<'a> {
        Box::new(ProgressReader { source, watch: self.watch.as_ref() })
    }

    /// Reports to the watch that `bytes` more bytes have been read.
    fn read(&self, bytes: usize) {
        if let Some(watch) = &self.watch {
            watch.read(bytes);
        }
    }

    /// Reports to the watch that `lines` more lines have been judged.
    pub(crate) fn judged(&self, lines: u64) {
        if let Some(watch) = &self.watch {
            watch.judged(lines);
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.watch.as_ref().is_some_and(Watch::is_stopped)
    }

    /// The number of threads, with 0 replaced by what the machine runs at once.
    #[must_use]
    pub fn n_threads(&self) -> usize {
        match self.threads {
            0 => thread::available_parallelism().map_or(1, usize::from),
            n => n,
        }
    }

    /// The number of shards of a range of a file.
    fn n_shards(&self, range: &Range<u64>) -> usize {
        let n = (range.end - range.start).div_ceil(self.shard_len.max(1) as u64);
        usize::try_from(n).unwrap_or(usize::MAX)
    }

    /// The number of worker threads for `inputs`, beside the thread that reads. It is 0 if one thread is wanted and no read may block:
    /// then the thread that reads does everything.
    pub(crate) fn n_workers(&self, inputs: &[Input]) -> usize {
        match self.n_threads() {
            1 if !inputs.iter().any(|input| input.may_wait() || input.has_program()) => 0,
            n => n,
        }
    }
}

/// The result of a scan.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Scanned {
    /// The counts of all lines that could be read.
    pub tally: Tally,
    /// The inputs that could not be read to their end, by number, with one failure each.
    pub failures: Vec<Failure>,
    /// The records of inputs that are not lists, by number of the input.
    pub records: Vec<(u32, Records)>,
    /// The compressed inputs, by number.
    pub compressed: Vec<Compressed>,
    /// The lengths of the Parquet files in bytes, which the runs of their values do not show.
    pub(crate) table_lens: Vec<(u32, u64)>,
}

/// A compressed input. All counts, lengths and places are those of its decoded bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Compressed {
    /// The number of the input, from 0, in the order given.
    pub input: u32,
    /// The codec of the input.
    pub codec: Codec,
    /// How many compressed bytes of the input were decoded.
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
        self.table_lens.extend(other.table_lens);
        self
    }

    /// Marks an input as ended, after it has been read as far as possible.
    fn ended(mut self, input: u32, options: &Options, exec: &ExecOptions) -> Self {
        // What failed last is this input, or none of its parts has failed.
        let has_failed = || self.failures.last().is_some_and(|failure| failure.input == input);
        if options.wanted().ends() && !exec.leaves_open && !has_failed() {
            self.tally.census.end(input);
        }
        self
    }

    /// Notes the format of an input, which may have nothing to count, and its wanted fields.
    fn note_reader(&mut self, input: u32, reader: Option<&Reader>) {
        if let Some(reader) = reader.filter(|reader| reader.format() != Format::Lines) {
            append(&mut self.records, input, Records::of(reader));
        }
    }

    /// Notes how an input is compressed, when it has been decoded as far as possible.
    fn note_codec(&mut self, input: u32, packing: Option<(Codec, Meter)>) {
        let entry = |(codec, meter): (_, Meter)| Compressed { input, codec, bytes: meter.bytes() };
        self.compressed.extend(packing.map(entry));
    }

    /// Notes what an input looks like that is read as a list.
    fn note_looks(&mut self, input: u32, looks: Option<Looks>) {
        self.tally.note(input, Signs::of_text(false, looks));
    }

    /// Notes that an input could not be read to its end.
    fn failed(mut self, input: u32, error: io::Error) -> Self {
        self.failures.push(Failure { input, error });
        self
    }
}

/// The result of a scan of inputs, and what was scanned.
#[derive(Debug)]
#[non_exhaustive]
pub struct ScannedPaths {
    /// The inputs that the paths name, in their order.
    pub inputs: Vec<Input>,
    /// The options of the scan.
    pub options: Options,
    /// What was counted in the inputs.
    pub scanned: Scanned,
}

impl ScannedPaths {
    /// The counts of all lines that could be read.
    #[must_use]
    pub fn tally(&self) -> &Tally {
        &self.scanned.tally
    }

    /// A message for each input that could not be read to its end.
    pub fn failure_messages(&self) -> impl Iterator<Item = String> {
        self.scanned.failures.iter().map(|failure| failure.message(&self.inputs))
    }
}

/// Judges and counts all lines of all inputs. Each input is read as a list.
#[must_use]
pub fn scan_inputs(inputs: &[Input], options: &Options, exec: &ExecOptions) -> Scanned {
    scan_records(inputs, &Reading::of(Format::Lines), options, exec)
}

/// Judges and counts all URLs in the records of all inputs.
///
/// An example in the tally has the place of its field in the input, and the number of its record's first line. The runs
/// of the tally, and the lines in them, are those of the input.
#[must_use]
pub fn scan_records(inputs: &[Input], reading: &Reading, options: &Options, exec: &ExecOptions) -> Scanned {
    let numbered = inputs.iter().enumerate().map(|(n, input)| (number(n), input)).collect();
    scan_numbered(numbered, reading, options, exec)
}

/// Does the work of [`scan_records`] for inputs that have these numbers.
fn scan_numbered(
    inputs: Vec<(u32, &Input)>,
    reading: &Reading,
    options: &Options,
    exec: &ExecOptions,
) -> Scanned {
    let counter = Counter::new(options, exec);
    // All files are scanned at once. The inputs whose reads may block follow.
    let (streams, files): (Vec<_>, Vec<_>) = inputs.into_iter().partition(|(_, input)| input.may_wait());
    let mut all = files::scan_files(&files, reading, &counter);
    for (number, input) in streams {
        all = match input.open(exec.watch.as_ref()) {
            Ok(opened) => all.merge(Workers::of_stream(exec, |workers| {
                scan_input(Scanned::default(), opened, (number, input), reading, &counter, workers)
            })),
            Err(error) => all.failed(number, error),
        };
    }
    Failure::complete(&mut all.failures, &all.records);
    all.records.sort_by_key(|(input, _)| *input);
    all.compressed.sort_unstable_by_key(|compressed| compressed.input);
    all.tally.shrink();
    all
}

/// Judges and counts all lines of `bytes`, a whole corpus in memory, as input 0, on several threads. The tally equals the result
/// of [`scan`](crate::scan::scan). Also returns how many lines took which way through the engine.
///
/// # Panics
/// When the machine does not have the kernel.
#[must_use]
pub fn scan_memory(bytes: &[u8], options: &Options, exec: &ExecOptions) -> (Tally, PathCounts) {
    let shard_len = exec.shard_len.max(1);
    let (scanners, n_threads) = (exec.scanners(), exec.n_threads());
    let shards = Shards::new(bytes.len().div_ceil(shard_len), n_threads);
    let at =
        |shard: u64| usize::try_from(shard).unwrap_or(usize::MAX).saturating_mul(shard_len).min(bytes.len());
    let all: Mutex<(Tally, PathCounts)> = Mutex::default();
    let merge = |(tally, path_counts): (Tally, PathCounts)| {
        let mut all = lock(&all);
        *all = (mem::take(&mut all.0).merge(tally), all.1.merge(path_counts));
    };
    on_threads(n_threads, |_, _| {
        let (mut some, mut shown, mut end) = (<(Tally, PathCounts)>::default(), AlreadyShown::default(), 0);
        while let Some(taken) = shards.take() {
            let lines = beginning_in(bytes, at(taken.start), at(taken.end));
            let place = Place { input: 0, offset: lines.start as u64 };
            if taken.start != end {
                // Names are added up in a tally of adjoining bytes alone. A new tally without examples that others have costs as
                // much as scanning a mebibyte, or more.
                merge(mem::take(&mut some));
                shown = AlreadyShown::default().with(&lock(&all).0, place);
            }
            end = taken.end;
            let (tally, path_counts) = &mut some;
            let add = |scanner: &mut _| add_lines(tally, &shown, scanner, &bytes[lines], place, options);
            *path_counts = path_counts.merge(scanners.with(add));
        }
        merge(some);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn number(input: usize) -> u32 {
    u32::try_from(input).expect("fewer inputs than 2^32")
}

fn lock<T>(counts: &Mutex<T>) -> MutexGuard<'_, T> {
    counts.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thread_does_everything_if_no_read_may_block() {
        let file = || Input::file("Cargo.toml");
        let program = file().with_program(Some("cat".into()));
        let inputs = [(vec![file()], 0), (vec![file(), Input::standard()], 1), (vec![program], 1)];
        for (inputs, n_workers) in inputs {
            for threads in 1..3 {
                let exec = ExecOptions { threads, ..ExecOptions::default() };
                assert_eq!(exec.n_workers(&inputs), if threads == 1 { n_workers } else { threads });
            }
        }
    }
}
