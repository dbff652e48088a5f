//! Scans inputs that are read from their start to their end: compressed files, formats whose parts cannot be read alone,
//! Parquet files, and streams.

use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use super::count_chunk::{Content, Counter, Long};
#[cfg(feature = "parquet")]
use super::parquet::TableChunks;
use super::{Compressed, ExecOptions, Scanned, lock};
use crate::run::chunk_cutter::{AnyChunks, Cut};
use crate::run::format_choice::{Reading, Source};
use crate::run::pipeline::{Failure, PooledBuffer};
#[cfg(feature = "parquet")]
use crate::scan::record_fields::append;
use crate::tally::Tally;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::place::Place;
use urlsift_input::progress::Watch;
use urlsift_input::workers::{Helpers, Job, JobReceiver, JobSender, STACK_LEN, pool, with_workers};
use urlsift_input::{ChunkBytes, Codec, Input, Meter, Opened, Unpacked};
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Table;

/// A file that is read from its start.
pub(super) struct File<'a> {
    pub(super) number: u32,
    pub(super) input: &'a Input,
    /// Of a Parquet file, the range whose row groups are read.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no reader reads it then"))]
    pub(super) table: Option<Range<u64>>,
}

/// The codec of an input, and how far it has been decoded.
pub(super) struct Packing(Codec, Meter);

impl Packing {
    /// The bytes of an input from its start, decoded if it is compressed.
    ///
    /// # Errors
    /// When this build cannot read its codec.
    pub(super) fn open<'a>(
        opened: Opened,
        helpers: Helpers<'a>,
        watch: Option<&Watch>,
    ) -> io::Result<(Source<'a>, Option<Self>)> {
        let Opened::Packed(packed) = opened else { return Ok((opened.bytes(watch)?, None)) };
        let Unpacked { bytes, codec, meter } = packed.unpack(watch, helpers)?;
        Ok((bytes, Some(Self(codec, meter))))
    }

    /// The entry for the report, made when the input has been decoded as far as possible.
    pub(super) fn found(self, input: u32) -> Compressed {
        Compressed { input, codec: self.0, bytes: self.1.bytes() }
    }
}

/// Runs `scan` on the chunks of an input, and adds the result to `scanned`.
fn scan_input<'a>(
    mut scanned: Scanned,
    input: &Input,
    number: u32,
    reading: &Reading,
    counter: &Counter<'_>,
    helpers: Helpers<'a>,
    scan: impl FnOnce(Scanned, AnyChunks<Source<'a>>) -> Scanned,
) -> Scanned {
    let watch = counter.exec.watch.as_ref();
    let (bytes, packing) = match input.open(watch).and_then(|opened| Packing::open(opened, helpers, watch)) {
        Ok(opened) => opened,
        Err(error) => return scanned.failed(number, error),
    };
    match AnyChunks::open(bytes, input.name(), reading, counter.exec.sizes()) {
        Ok((chunks, signs)) => {
            scanned = scan(scanned, chunks);
            scanned.tally.note(number, signs.seen());
        }
        Err(error) => scanned.failures.push(Failure { input: number, error }),
    }
    scanned.compressed.extend(packing.map(|packing| packing.found(number)));
    scanned
}

/// Scans files. One thread reads each file. Threads that find no file left take chunks from the others, and count them
/// while those read on.
pub(super) fn scan_files(files: &[File<'_>], reading: &Reading, counter: &Counter<'_>) -> Scanned {
    let next = &AtomicUsize::new(0);
    let (sender, receiver) = pool(counter.exec.n_threads() - 1);
    thread::scope(|scope| {
        let spawn = |_| {
            let workers = Workers { sender: sender.clone(), receiver: receiver.clone(), reader_counts: true };
            let work = move || scan_some(files, next, reading, counter, workers);
            // If the system refuses a thread, the others do its work.
            thread::Builder::new().stack_size(STACK_LEN).spawn_scoped(scope, work).ok()
        };
        let n_others = if files.is_empty() { 0 } else { counter.exec.n_threads() - 1 };
        let others: Vec<_> = (0..n_others).filter_map(spawn).collect();
        let own = scan_some(files, next, reading, counter, Workers { sender, receiver, reader_counts: true });
        others.into_iter().fold(own, |scanned, other| match other.join() {
            Ok(more) => scanned.merge(more),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// The threads that count the chunks of an input.
pub(super) struct Workers<'a> {
    sender: JobSender<'a>,
    receiver: JobReceiver<'a>,
    /// Whether the thread that reads the input counts a chunk when the queue of the others is full.
    reader_counts: bool,
}

impl<'a> Workers<'a> {
    /// Calls `scan` with threads that count the chunks of an input whose reads may block. This thread reads, and counts
    /// the first chunk, long lines and what is left in the end.
    pub(super) fn of_stream<R>(exec: &ExecOptions, scan: impl FnOnce(&Self) -> R) -> R {
        with_workers(exec.n_threads(), |sender, receiver| {
            scan(&Self { sender, receiver, reader_counts: false })
        })
    }

    fn give(&self, job: Job<'a>) {
        if self.reader_counts {
            self.sender.try_enqueue(job).unwrap_or_else(|job| job());
        } else {
            self.sender.enqueue(job);
        }
    }
}

/// Scans files until none are left, and then counts chunks of files that other threads read.
fn scan_some<'a>(
    files: &[File<'_>],
    next: &AtomicUsize,
    reading: &Reading,
    counter: &'a Counter<'a>,
    workers: Workers<'a>,
) -> Scanned {
    let n_threads = counter.exec.n_threads();
    // The fewer files are read at once, the more help each gets. Decoding ahead takes memory, which may grow only with
    // the number of threads.
    let n_helpers = (2 * n_threads / files.len().clamp(1, n_threads)).min(n_threads - 1);
    let mut scanned = Scanned::default();
    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let &File { number, input, .. } = file;
        let helpers = workers.sender.helpers(n_helpers);
        #[cfg(feature = "parquet")]
        if let Some(range) = &file.table {
            scanned = scan_table(scanned, file, range, reading, counter, helpers, &workers);
            continue;
        }
        scanned = scan_input(scanned, input, number, reading, counter, helpers, |scanned, chunks| {
            scan_chunks(scanned, chunks, number, counter, &workers)
        });
    }
    // The pool closes when all threads have dropped their senders.
    drop(workers.sender);
    workers.receiver.run_until_closed();
    scanned
}

/// Adds the values of a column of a Parquet file to `scanned`: those in row groups that begin in a range.
#[cfg(feature = "parquet")]
fn scan_table<'a>(
    mut scanned: Scanned,
    &File { number, input, .. }: &File<'_>,
    range: &Range<u64>,
    reading: &Reading,
    counter: &'a Counter<'a>,
    helpers: Helpers<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    let watch = counter.exec.watch.as_ref();
    // Four times the length of a shard are 4 MiB by default.
    let chunk_len = counter.exec.shard_len.saturating_mul(4).max(16);
    let opened = input.open(watch).and_then(|opened| match opened {
        Opened::File(file, len) => {
            scanned.table_lens.push((number, len));
            let table = Table::watched(file, len, watch)?;
            TableChunks::open(&table, &reading.fields, range, chunk_len, helpers)
        }
        _ => Err(io::Error::other("the file was replaced while it was read")),
    });
    let mut chunks = match opened {
        Ok(chunks) => chunks,
        Err(error) => return scanned.failed(number, error),
    };
    let look = |tally: &mut _, long: &mut _, chunk| counter.look(tally, long, number, chunk);
    scanned = count_chunks(scanned, &mut chunks, look, number, counter, workers);
    chunks.records().into_iter().for_each(|records| append(&mut scanned.records, number, records));
    scanned
}

/// Longest chunk that is left to other threads, in bytes.
const MAX_LEFT: usize = 32 << 20;

/// Adds the chunks of an input to `scanned`.
pub(super) fn scan_chunks<'a>(
    mut scanned: Scanned,
    mut chunks: AnyChunks<impl io::Read>,
    input: u32,
    counter: &'a Counter<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    scanned.note_reader(input, chunks.reader());
    let look = |tally: &mut _, long: &mut _, chunk| counter.look(tally, long, input, chunk);
    count_chunks(scanned, &mut chunks, look, input, counter, workers)
}

/// Adds chunks to `scanned`. `look` does the same for them as [`Counter::look`].
fn count_chunks<'a, C: Cut>(
    mut scanned: Scanned,
    chunks: &mut C,
    look: impl Fn(&mut Tally, &mut Long, C::Chunk) -> (ChunkBytes, Option<Content>),
    input: u32,
    counter: &'a Counter<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    let (home, come_home) = channel();
    let mut long = Long::default();
    let shared = Arc::new(Mutex::new(Scanned::default()));
    loop {
        match chunks.next(&mut come_home.try_recv().unwrap_or_default()) {
            Ok(Some(chunk)) => {
                let (bytes, content) = look(&mut scanned.tally, &mut long, chunk);
                let bytes = PooledBuffer::new(bytes, &home);
                let Some(content) = content else { continue };
                let place = Place { input, offset: bytes.offset };
                // Many files have only one chunk, and are not worth a tally of their own.
                if place.offset == 0 {
                    counter.add(&mut scanned, &AlreadyShown::default(), bytes.get(), place, content);
                    continue;
                }
                // A value of a Parquet file may be as long as a page. Such a chunk is counted here, so that only one is
                // in memory at a time.
                let is_large = bytes.get().len() > MAX_LEFT;
                let shared = shared.clone();
                let job = move || counter.add_to(&shared, bytes.get(), place, content);
                if is_large { job() } else { workers.give(Box::new(job)) }
            }
            Ok(None) => break,
            Err(error) => {
                scanned.failures.push(Failure { input, error });
                break;
            }
        }
    }
    // The queue is emptied first. Chunks that other threads have taken return their buffers when they are done.
    workers.receiver.run_queued();
    drop(home);
    while come_home.recv().is_ok() {}
    let shared = std::mem::take(&mut *lock(&shared));
    scanned.merge(shared).ended(input, counter.options, counter.exec)
}

/// Scans an input whose reads may block.
pub(super) fn scan_stream(input: &Input, number: u32, reading: &Reading, counter: &Counter<'_>) -> Scanned {
    Workers::of_stream(counter.exec, |workers| {
        let helpers = workers.sender.helpers(counter.exec.n_threads() - 1);
        scan_input(Scanned::default(), input, number, reading, counter, helpers, |scanned, chunks| {
            scan_chunks(scanned, chunks, number, counter, workers)
        })
    })
}
