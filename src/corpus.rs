//! Several inputs through the pipeline: files by shards, everything else by pieces as they come; one result.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::thread;

use rayon::prelude::*;

use crate::input::{Bytes, Input, Opened, Piece, Pieces, ShardBytes, Sizes};
use crate::long_line::LongLine;
use crate::parallel::in_order;
use crate::scan::{Options, scan_part};
use crate::tally::{Place, Tally};

/// How the work is done. Nothing here changes a count.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Effort {
    /// How many threads judge lines; 0 is as many as the machine runs at once.
    pub threads: usize,
    /// How many bytes of a file are one piece of work, and how many bytes of a stream are read at a time.
    pub shard_len: usize,
    /// The longest line that is held in memory whole, in bytes; longer ones are judged as they are read.
    pub line_len: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { threads: 0, shard_len: 1 << 20, line_len: 2 << 20 }
    }
}

impl Effort {
    fn sizes(&self) -> Sizes {
        let shard_len = self.shard_len.clamp(16, 1 << 30);
        // The end of the last line of a shard mostly lies a little behind it.
        Sizes { piece: shard_len + shard_len / 16, line: self.line_len.max(3), eager: false }
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

/// An input that could not be read, or not to its end.
#[derive(Debug)]
pub struct Failure {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// What went wrong.
    pub error: io::Error,
}

/// What a scan found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Scanned {
    /// The counts of all lines that could be read.
    pub tally: Tally,
    /// The inputs that could not be read to their end, by number, one failure each.
    pub failures: Vec<Failure>,
}

impl Scanned {
    fn merge(mut self, other: Self) -> Self {
        self.tally = self.tally.merge(other.tally);
        self.failures.extend(other.failures);
        self
    }

    fn failed(input: u32, error: io::Error) -> Self {
        Self { tally: Tally::default(), failures: vec![Failure { input, error }] }
    }
}

/// Judges all lines of all inputs and counts them.
///
/// The result does not depend on `effort`. Memory is bounded by the number of threads, whatever the inputs. An input that
/// cannot be read is named in the result and does not stop the others.
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
    let numbered = || inputs.iter().enumerate().map(|(n, input)| (number(n), input));
    // Files first, all at once; then what can only be read from its start, one after the other.
    let (streams, files): (Vec<_>, Vec<_>) = numbered().partition(|(_, input)| input.is_stream());
    let scan_files = || {
        let scan_one = |&(number, input): &(u32, &Input)| match input.open() {
            Ok(Opened::File(file, len)) => scan_file(&file, len, number, options, effort),
            // It has become one since.
            Ok(Opened::Stream(stream)) => scan_stream(stream, number, options, effort),
            Err(error) => Scanned::failed(number, error),
        };
        files.par_iter().map(scan_one).reduce(Scanned::default, Scanned::merge)
    };
    let mut all = in_pool(effort.n_threads(), scan_files);
    for (number, input) in streams {
        all = all.merge(match input.open() {
            Ok(Opened::Stream(stream)) => scan_stream(stream, number, options, effort),
            Ok(Opened::File(file, len)) => {
                in_pool(effort.n_threads(), || scan_file(&file, len, number, options, effort))
            }
            Err(error) => Scanned::failed(number, error),
        });
    }
    all.failures.sort_by_key(|failure| failure.input);
    all.failures.dedup_by_key(|failure| failure.input);
    all
}

/// Runs `work`, and what it does in parallel, on `threads` threads, or on as many as the system gives.
fn in_pool<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
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

fn scan_file(file: &File, len: u64, input: u32, options: &Options, effort: &Effort) -> Scanned {
    let shard_len = effort.shard_len.max(1) as u64;
    if len <= shard_len {
        // Read to its end, wherever that is by now; the files of some file systems are shorter than they say.
        return scan_shard(Pieces::new(file, 0, effort.sizes()), input, options);
    }
    let shards = (0..len.div_ceil(shard_len)).into_par_iter().map(|n| {
        let start = n * shard_len;
        match ShardBytes::new(file, start, len.min(start + shard_len), len) {
            Ok(None) => Scanned::default(),
            Ok(Some(bytes)) => {
                let offset = bytes.offset();
                scan_shard(Pieces::new(bytes, offset, effort.sizes()), input, options)
            }
            Err(error) => Scanned::failed(input, error),
        }
    });
    shards.reduce(Scanned::default, Scanned::merge)
}

fn number(input: usize) -> u32 {
    u32::try_from(input).expect("fewer inputs than 2^32")
}

thread_local! {
    /// A thread reads all its shards into the same memory.
    static BUFFER: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

fn scan_shard(mut pieces: Pieces<impl Read>, input: u32, options: &Options) -> Scanned {
    let mut scanned = Scanned::default();
    let mut long = None;
    let mut spare = BUFFER.take();
    loop {
        match pieces.next(&mut spare) {
            Ok(Some(piece)) => {
                let (tally, bytes) = match piece {
                    Piece::Lines(bytes) => (scan_lines(&bytes, input, options), bytes),
                    Piece::Long { bytes, end } => (scan_long(&mut long, &bytes, end, input, options), bytes),
                };
                scanned.tally = scanned.tally.merge(tally);
                spare = bytes.into_buffer();
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

fn scan_lines(bytes: &Bytes, input: u32, options: &Options) -> Tally {
    scan_part(bytes.get(), Place { input, offset: bytes.offset }, options)
}

/// One more part of a long line; its tally when it has ended.
fn scan_long(long: &mut Option<LongLine>, bytes: &Bytes, end: bool, input: u32, options: &Options) -> Tally {
    let line = long.get_or_insert_with(|| LongLine::new(Place { input, offset: bytes.offset }, options));
    line.feed(bytes.get());
    if end { long.take().map(LongLine::finish).unwrap_or_default() } else { Tally::default() }
}

fn scan_stream(stream: Box<dyn Read + Send>, input: u32, options: &Options, effort: &Effort) -> Scanned {
    let mut pieces = Pieces::new(stream, 0, effort.sizes());
    let (give_back, given_back) = crossbeam_channel::unbounded();
    let mut tally = Tally::default();
    let mut long = None;
    let mut aside = Tally::default();
    let mut failures = Vec::new();
    let next = || {
        loop {
            match pieces.next(&mut given_back.try_recv().unwrap_or_default()) {
                Ok(Some(Piece::Lines(bytes))) => return Some(bytes),
                Ok(Some(Piece::Long { bytes, end })) => {
                    let done = scan_long(&mut long, &bytes, end, input, options);
                    aside = std::mem::take(&mut aside).merge(done);
                    let _ = give_back.send(bytes.into_buffer());
                }
                Ok(None) => return None,
                Err(error) => {
                    failures.push(Failure { input, error });
                    return None;
                }
            }
        }
    };
    let work = |bytes: Bytes| {
        let tally = scan_lines(&bytes, input, options);
        let _ = give_back.send(bytes.into_buffer());
        tally
    };
    let sink = |piece: Tally| {
        tally = std::mem::take(&mut tally).merge(piece);
        ControlFlow::<()>::Continue(())
    };
    let _ = in_order(effort.n_threads(), next, work, sink);
    Scanned { tally: tally.merge(aside), failures }
}
