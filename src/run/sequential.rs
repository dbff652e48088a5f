//! Scans inputs that are read from their start to their end: compressed files, formats whose parts cannot be read alone,
//! Parquet files, and streams.

#[cfg(feature = "parquet")]
use std::ops::Range;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use super::count_chunk::{Counter, Long};
#[cfg(feature = "parquet")]
use super::parquet::TableChunks;
use super::workers::Workers;
use super::{Scanned, lock};
use crate::run::chunk_cutter::AnyChunks;
use crate::run::format_choice::Reading;
use crate::run::pipeline::{Failure, PooledBuffer};
use crate::scan::record_fields::append;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::place::Place;
#[cfg(feature = "parquet")]
use urlsift_input::Seekable;
use urlsift_input::{Input, Opened};
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Table;

/// Adds an open input to `scanned`.
pub(super) fn scan_input<'a>(
    mut scanned: Scanned,
    opened: Opened,
    (number, input): (u32, &Input),
    reading: &Reading,
    counter: &'a Counter<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    let (bytes, packing) = match opened.unpack(workers.helpers(), counter.exec.watch.as_ref()) {
        Ok(opened) => opened,
        Err(error) => return scanned.failed(number, error),
    };
    match AnyChunks::open(bytes, input.name(), reading, counter.exec.sizes()) {
        Ok((chunks, signs)) => {
            scanned = scan_chunks(scanned, chunks, number, counter, workers);
            scanned.tally.note(number, signs.seen());
        }
        Err(error) => scanned.failures.push(Failure { input: number, error }),
    }
    scanned.note_codec(number, packing);
    scanned
}

/// Adds the values of a column of a Parquet file to `scanned`: those in row groups that begin in a range.
#[cfg(feature = "parquet")]
pub(super) fn scan_table<'a>(
    mut scanned: Scanned,
    number: u32,
    (file, len): (Seekable, u64),
    range: &Range<u64>,
    reading: &Reading,
    counter: &'a Counter<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    // Four times the length of a shard are 4 MiB by default.
    let chunk_len = counter.exec.shard_len.saturating_mul(4).max(16);
    scanned.table_lens.push((number, len));
    let table = Table::open(file, len, counter.exec.watch.as_ref());
    let chunks = |table| TableChunks::open(&table, &reading.fields, range, chunk_len, workers.helpers());
    match table.and_then(chunks) {
        Ok(chunks) => scan_chunks(scanned, AnyChunks::Table(Box::new(chunks)), number, counter, workers),
        Err(error) => scanned.failed(number, error),
    }
}

/// Longest chunk that is left to other threads, in bytes.
const MAX_LEFT: usize = 32 << 20;

/// Adds the chunks of an input to `scanned`.
pub(super) fn scan_chunks<'a>(
    mut scanned: Scanned,
    mut chunks: AnyChunks<'_>,
    input: u32,
    counter: &'a Counter<'a>,
    workers: &Workers<'a>,
) -> Scanned {
    scanned.note_reader(input, chunks.reader());
    let (home, come_home) = channel();
    let mut long = Long::default();
    // What is counted of the chunks but the first one.
    let mut others = None::<Arc<Mutex<Scanned>>>;
    let mut spare = Vec::new();
    loop {
        if spare.is_empty() {
            spare = come_home.try_recv().unwrap_or_else(|_| counter.spare_buffer());
        }
        match chunks.next(&mut spare) {
            Ok(Some(chunk)) => {
                let (bytes, content) = counter.look(&mut scanned.tally, &mut long, input, chunk);
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
                let others = others.get_or_insert_default().clone();
                let job = move || counter.add_to(&others, bytes.get(), place, content);
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
    workers.do_waiting();
    drop(home);
    for buffer in come_home.into_iter().chain([spare]) {
        counter.keep_buffer(buffer);
    }
    if let Some(others) = others {
        scanned = scanned.merge(std::mem::take(&mut *lock(&others)));
    }
    scanned = scanned.ended(input, counter.options, counter.exec);
    chunks.records().into_iter().for_each(|records| append(&mut scanned.records, input, records));
    scanned
}
