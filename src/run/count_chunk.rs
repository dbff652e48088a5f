//! Counts the lines or records of chunks, on any thread.
//!
//! This module passes chunks on to `scan` and collects the results. It does not know how a chunk was read.

use std::sync::Mutex;

use super::{ExecOptions, Scanned, lock};
use crate::run::chunk_cutter::{AnyChunk, RecordChunk};
use crate::scan::long_line::LongLine;
use crate::scan::record_fields::{Gatherer, append};
use crate::scan::{Options, add_lines};
use crate::tally::Tally;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::place::Place;
use urlsift_input::{Chunk, ChunkBytes};
use urlsift_records::Reader;
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Batch;

/// Counts chunks of any inputs, on several threads at once.
pub(super) struct Counter<'a> {
    pub(super) options: &'a Options,
    pub(super) exec: &'a ExecOptions,
    pub(super) gatherer: Gatherer<'a>,
    /// Buffers that are reused for one shard or file after the other.
    buffers: Mutex<Vec<Vec<u8>>>,
}

/// The content of a chunk that any thread can count.
pub(super) enum Content {
    Lines,
    Records {
        /// A reader at the start of the records.
        reader: Box<Reader>,
        /// Whether the input is known to end after the records.
        is_last: bool,
    },
    /// Values of a column.
    #[cfg(feature = "parquet")]
    Table(Box<Batch>),
}

/// The line or record that continues in the next chunk of an input.
#[derive(Default)]
pub(super) struct Long {
    /// A line that is longer than a chunk. It is counted by the thread that reads the input.
    line: Option<LongLine>,
    /// Whether a record continues that is too long to be read.
    is_record: bool,
}

impl Long {
    /// Whether a line or record continues. It may take hours to end.
    pub(super) fn is_open(&self) -> bool {
        self.line.is_some() || self.is_record
    }
}

impl<'a> Counter<'a> {
    pub(super) fn new(options: &'a Options, exec: &'a ExecOptions) -> Self {
        let buffers = Mutex::default();
        Self { options, exec, gatherer: Gatherer::new(options, exec.scanners()), buffers }
    }

    /// A buffer that was kept, or a new one.
    pub(super) fn spare_buffer(&self) -> Vec<u8> {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    /// Keeps a buffer for the next shard or file.
    pub(super) fn keep_buffer(&self, buffer: Vec<u8>) {
        lock(&self.buffers).push(buffer);
    }

    /// Splits the next chunk of an input into its bytes and their content. Parts of a long line are counted at once, and
    /// their content is `None`.
    pub(super) fn look(
        &self,
        tally: &mut Tally,
        long: &mut Long,
        input: u32,
        chunk: AnyChunk,
    ) -> (ChunkBytes, Option<Content>) {
        match chunk {
            AnyChunk::Lines(Chunk::Lines(bytes)) => (bytes, Some(Content::Lines)),
            AnyChunk::Lines(Chunk::Long { bytes, end }) => {
                let place = Place { input, offset: bytes.offset };
                let line = long.line.get_or_insert_with(|| LongLine::new(place, self.options));
                line.feed(bytes.get());
                self.exec.judged(u64::from(end));
                if let Some(line) = long.line.take_if(|_| end) {
                    *tally = std::mem::take(tally).merge(line.finish());
                }
                (bytes, None)
            }
            AnyChunk::Records(RecordChunk { bytes, reader, is_last, is_open }) => {
                long.is_record = is_open;
                (bytes, Some(Content::Records { reader, is_last }))
            }
            #[cfg(feature = "parquet")]
            AnyChunk::Table(bytes, chunk) => (bytes, Some(Content::Table(chunk))),
        }
    }

    /// Adds the content of `bytes`, which begin at `place`, to a result for what precedes them. The result need not keep
    /// the examples that are already `shown`.
    pub(super) fn add(
        &self,
        scanned: &mut Scanned,
        shown: &AlreadyShown,
        bytes: &[u8],
        place: Place,
        content: Content,
    ) {
        let tally = &mut scanned.tally;
        let records = match content {
            Content::Lines => {
                let blank = tally.blank;
                let ways = self
                    .gatherer
                    .scanners
                    .with(|scanner| add_lines(tally, shown, scanner, bytes, place, self.options));
                self.exec.judged(ways.bulk + ways.listed + tally.blank - blank);
                return;
            }
            Content::Records { mut reader, is_last } => {
                self.gatherer.gather(tally, shown, &mut reader, bytes, is_last, place.input)
            }
            #[cfg(feature = "parquet")]
            Content::Table(chunk) => {
                let (fields, run) = (chunk.fields(bytes), chunk.run(place.input));
                self.gatherer.gather_fields(tally, shown, fields, run, chunk.before().rows + 1)
            }
        };
        self.exec.judged(records.n_fields());
        append(&mut scanned.records, place.input, records);
    }

    /// Adds the content of `bytes`, which begin at `place`, to a result that several threads share for the same input.
    pub(super) fn add_to(&self, shared: &Mutex<Scanned>, bytes: &[u8], place: Place, content: Content) {
        // Skip examples that earlier lines already provide.
        let shown = AlreadyShown::default().with(&lock(shared).tally, place);
        let mut counted = Scanned::default();
        self.add(&mut counted, &shown, bytes, place, content);
        let mut shared = lock(shared);
        *shared = std::mem::take(&mut *shared).merge(counted);
    }
}
