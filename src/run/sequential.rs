//! Scans inputs that are read from their start to their end: compressed files, formats whose parts cannot be read alone,
//! Parquet files, and streams.

use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crossbeam_channel::unbounded;

use super::count_chunk::{Content, Counter, Long};
#[cfg(feature = "parquet")]
use super::parquet::TablePieces;
use super::{Compressed, Scanned, lock};
use crate::input::workers::{Hands, Helpers, Job, Offered};
use crate::input::{Bytes, Codec, Input, Meter, Opened, Unpacked};
use crate::place::Place;
use crate::progress::Watch;
#[cfg(feature = "parquet")]
use crate::records::parquet::Table;
use crate::run::chunk_cutter::{AnyPieces, Cut};
use crate::run::format_choice::{Reading, Source};
use crate::run::pipeline::{Failure, PooledBuffer, in_pieces};
#[cfg(feature = "parquet")]
use crate::scan::record_fields::append;
use crate::tally::Tally;

/// A file that is read from its start, and whether it is a Parquet file.
pub(super) struct File<'a> {
    pub(super) number: u32,
    pub(super) input: &'a Input,
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "no reader reads it then"))]
    pub(super) is_table: bool,
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
    (counter, helpers): (&Counter<'_>, Helpers<'a>),
    scan: impl FnOnce(Scanned, AnyPieces<Source<'a>>) -> Scanned,
) -> Scanned {
    let watch = counter.exec.watch.as_ref();
    let (bytes, packing) = match input.open(watch).and_then(|opened| Packing::open(opened, helpers, watch)) {
        Ok(opened) => opened,
        Err(error) => return scanned.merge(Scanned::failed(number, error)),
    };
    match AnyPieces::open(bytes, reading, counter.exec.sizes()) {
        Ok(pieces) => scanned = scan(scanned, pieces),
        Err(error) => scanned.failures.push(Failure { input: number, error }),
    }
    scanned.compressed.extend(packing.map(|packing| packing.found(number)));
    scanned
}

/// Scans files. One thread reads each file. Threads that find no file left take chunks from the others, and count them
/// while those read on.
pub(super) fn scan_files(files: &[File<'_>], reading: &Reading, counter: &Counter<'_>) -> Scanned {
    let next = &AtomicUsize::new(0);
    let (hands, offered) = Hands::new(counter.exec.n_threads() - 1);
    thread::scope(|scope| {
        let spawn = |_| {
            let (hands, offered) = (hands.clone(), offered.clone());
            let work = move || scan_some(files, next, reading, counter, hands, offered);
            // If the system refuses a thread, the others do its work.
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let n_others = if files.is_empty() { 0 } else { counter.exec.n_threads() - 1 };
        let others: Vec<_> = (0..n_others).filter_map(spawn).collect();
        let own = scan_some(files, next, reading, counter, hands, offered);
        others.into_iter().fold(own, |scanned, other| match other.join() {
            Ok(more) => scanned.merge(more),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Scans files until none are left, and then counts chunks of files that other threads read.
fn scan_some<'a>(
    files: &[File<'_>],
    next: &AtomicUsize,
    reading: &Reading,
    counter: &'a Counter<'a>,
    hands: Hands<'a>,
    offered: Offered<'a>,
) -> Scanned {
    let n_threads = counter.exec.n_threads();
    // The fewer files are read at once, the more help each gets. Decoding ahead takes memory, which may grow only with
    // the number of threads.
    let n_helpers = (2 * n_threads / files.len().clamp(1, n_threads)).min(n_threads - 1);
    let mut scanned = Scanned::default();
    while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let &File { number, input, .. } = file;
        let helpers = (n_helpers > 0).then(|| (hands.clone(), n_helpers));
        #[cfg(feature = "parquet")]
        if file.is_table {
            scanned = scan_table(scanned, input, number, reading, (counter, helpers), (&hands, &offered));
            continue;
        }
        scanned =
            scan_input(scanned, input, number, reading, (counter, helpers), |mut scanned, mut pieces| {
                scanned.note_format(number, pieces.format());
                let look = |tally: &mut _, long: &mut _, piece| counter.look(tally, long, number, piece);
                scan_pieces(scanned, &mut pieces, look, number, counter, (&hands, &offered))
            });
    }
    // `work_off` ends when all threads have dropped their `hands`.
    drop(hands);
    offered.work_off();
    scanned
}

/// Adds the values of a column of a Parquet file to `scanned`.
#[cfg(feature = "parquet")]
fn scan_table<'a>(
    mut scanned: Scanned,
    input: &Input,
    number: u32,
    reading: &Reading,
    (counter, helpers): (&'a Counter<'a>, Helpers<'a>),
    hands: (&Hands<'a>, &Offered<'a>),
) -> Scanned {
    let watch = counter.exec.watch.as_ref();
    let opened = input.open(watch).and_then(|opened| match opened {
        Opened::File(file, len) => {
            TablePieces::open(&Table::watched(file, len, watch)?, &reading.fields, helpers)
        }
        _ => Err(io::Error::other("the file was replaced while it was read")),
    });
    let mut pieces = match opened {
        Ok(pieces) => pieces,
        Err(error) => return scanned.merge(Scanned::failed(number, error)),
    };
    append(&mut scanned.records, number, pieces.records());
    let look = |_: &mut _, _: &mut _, (bytes, piece)| (bytes, Some(Content::Table(piece)));
    scanned = scan_pieces(scanned, &mut pieces, look, number, counter, hands);
    append(&mut scanned.records, number, pieces.records());
    scanned
}

/// Longest chunk that is left to other threads, in bytes.
const MAX_LEFT: usize = 32 << 20;

/// Adds the chunks of a file to `scanned`. `look` does the same for them as [`Counter::look`].
fn scan_pieces<'a, C: Cut>(
    mut scanned: Scanned,
    pieces: &mut C,
    look: impl Fn(&mut Tally, &mut Long, C::Piece) -> (Bytes, Option<Content>),
    input: u32,
    counter: &'a Counter<'a>,
    (hands, offered): (&Hands<'a>, &Offered<'a>),
) -> Scanned {
    let (home, come_home) = unbounded();
    let mut long = Long::default();
    let shared = Arc::new(Mutex::new(Scanned::default()));
    loop {
        match pieces.next(&mut come_home.try_recv().unwrap_or_default()) {
            Ok(Some(piece)) => {
                let (bytes, content) = look(&mut scanned.tally, &mut long, piece);
                let bytes = PooledBuffer::new(bytes, &home);
                let Some(content) = content else { continue };
                let place = Place { input, offset: bytes.offset };
                // Many files have only one chunk, and are not worth a tally of their own.
                if place.offset == 0 {
                    counter.add(&mut scanned, bytes.get(), place, content);
                    continue;
                }
                // A value of a Parquet file may be as long as a page. Such a chunk is counted here, so that only one is
                // in memory at a time.
                let is_large = bytes.get().len() > MAX_LEFT;
                let shared = shared.clone();
                let job = Box::new(move || counter.add_to(&shared, bytes.get(), place, content));
                if let Err(job) = if is_large { Err(job as Job<'a>) } else { hands.leave(job) } {
                    job();
                }
            }
            Ok(None) => break,
            Err(error) => {
                scanned.failures.push(Failure { input, error });
                break;
            }
        }
    }
    // The queue is emptied first. Chunks that other threads have taken return their buffers when they are done.
    offered.catch_up();
    drop(home);
    while come_home.recv().is_ok() {}
    let shared = std::mem::take(&mut *lock(&shared));
    scanned.merge(shared).ended(input, counter.options, counter.exec)
}

/// Scans an input whose reads may block. This thread only reads it, and other threads count its chunks.
pub(super) fn scan_stream(input: &Input, number: u32, reading: &Reading, counter: &Counter<'_>) -> Scanned {
    scan_input(Scanned::default(), input, number, reading, (counter, None), |_, pieces| {
        scan_on_the_way(pieces, number, counter)
    })
}

/// Counts the chunks of an input on all threads, while this thread reads on.
pub(super) fn scan_on_the_way(
    pieces: AnyPieces<impl io::Read>,
    input: u32,
    counter: &Counter<'_>,
) -> Scanned {
    let mut scanned = Scanned::default();
    scanned.note_format(input, pieces.format());
    let shared = Mutex::new(scanned);
    let mut long = Long::default();
    let mut aside = Tally::default();
    let look = |_, piece| counter.look(&mut aside, &mut long, input, piece);
    let work = |bytes: PooledBuffer, content: Content| {
        let place = Place { input, offset: bytes.offset };
        counter.add_to(&shared, bytes.get(), place, content);
    };
    let sink = |()| ControlFlow::<()>::Continue(());
    let (_, failures) = in_pieces([(input, Ok(pieces))], counter.exec.n_threads(), look, work, sink);
    let mut scanned = shared.into_inner().unwrap_or_else(PoisonError::into_inner);
    scanned.tally = scanned.tally.merge(aside);
    scanned.failures = failures;
    scanned.ended(input, counter.options, counter.exec)
}
