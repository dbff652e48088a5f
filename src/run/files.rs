//! Scans files on several threads. This module decides how each file is read, and which threads work on it.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{io, mem};

use super::count_chunk::Counter;
#[cfg(feature = "parquet")]
use super::sequential::scan_table;
use super::sequential::{scan_chunks, scan_input};
use super::shards::CutFile;
use super::workers::Workers;
use super::{ExecOptions, Scanned, lock};
use crate::run::chunk_cutter::AnyChunks;
use crate::run::format_choice::{Reading, Source};
use urlsift_input::{Input, Opened, Seekable};
#[cfg(feature = "parquet")]
use urlsift_records::Format;
use urlsift_records::Reader;
use urlsift_records::looks::Looks;

/// A file and its number.
type File<'f> = (u32, &'f Input);

/// Scans files. Each thread takes one after the other. Threads that find no file left take parts of those that others have
/// begun.
pub(super) fn scan_files(files: &[File<'_>], reading: &Reading, counter: &Counter<'_>) -> Scanned {
    let Some((&first, others)) = files.split_first() else { return Scanned::default() };
    scan_opened(first, Access::of(first.1, reading, counter.exec), others, reading, counter)
}

/// Scans a file that has been opened, and others.
pub(super) fn scan_opened(
    first: File<'_>,
    access: io::Result<Access>,
    others: &[File<'_>],
    reading: &Reading,
    counter: &Counter<'_>,
) -> Scanned {
    // No thread is started that would find nothing to do: a small file is one piece of work.
    let n_pieces = match &access {
        _ if !others.is_empty() => usize::MAX,
        Ok(Access::Small(..)) | Err(_) => 1,
        Ok(Access::Shards(_, _, range, ..)) => counter.exec.n_shards(range),
        Ok(_) => usize::MAX,
    };
    let n_threads = counter.exec.n_threads().min(n_pieces.max(1));
    let (next, n_decoded, all) = Default::default();
    let scan =
        &Scan { first: Mutex::new(Some((first, access))), others, next, n_decoded, reading, counter, all };
    Workers::of_files(n_threads, |workers| scan.some(workers));
    mem::take(&mut *lock(&scan.all))
}

/// What the threads of a scan share.
struct Scan<'s> {
    /// The first file, until it is taken.
    first: Mutex<Option<(File<'s>, io::Result<Access>)>>,
    others: &'s [File<'s>],
    /// How many of the others have been taken.
    next: AtomicUsize,
    /// How many files are being read from their start.
    n_decoded: AtomicUsize,
    reading: &'s Reading,
    counter: &'s Counter<'s>,
    all: Mutex<Scanned>,
}

impl<'s> Scan<'s> {
    /// Scans files until none are left.
    fn some(&'s self, workers: &Workers<'s>) {
        let mut scanned = Scanned::default();
        let first = lock(&self.first).take();
        if let Some((file, access)) = first {
            scanned = self.one(scanned, file, access, workers);
        }
        while let Some(&file) = self.others.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            let access = Access::of(file.1, self.reading, self.counter.exec);
            scanned = self.one(scanned, file, access, workers);
        }
        let mut all = lock(&self.all);
        *all = mem::take(&mut *all).merge(scanned);
    }

    /// Adds a file to `scanned`.
    fn one(
        &'s self,
        scanned: Scanned,
        (number, input): File<'_>,
        access: io::Result<Access>,
        workers: &Workers<'s>,
    ) -> Scanned {
        let Self { reading, counter, .. } = self;
        match access {
            Ok(Access::Small(source, reader, looks)) => {
                let chunks = AnyChunks::new(counter.exec.told(source), reader, counter.exec.sizes());
                let mut scanned = scan_chunks(scanned, chunks, number, counter, workers);
                scanned.note_looks(number, looks);
                scanned
            }
            Ok(Access::Shards(file, len, range, reader, looks)) => {
                let file = CutFile::new(file, len, range, number, reader, counter);
                let mut scanned = file.scan(scanned, workers);
                scanned.note_looks(number, looks);
                scanned
            }
            #[cfg(feature = "parquet")]
            Ok(Access::Table(file, len, range)) => self.helped(workers, |workers| {
                scan_table(scanned, number, (file, len), &range, reading, counter, workers)
            }),
            Ok(Access::FromStart(opened)) => self.helped(workers, |workers| {
                scan_input(scanned, opened, (number, input), reading, counter, workers)
            }),
            Err(error) => scanned.failed(number, error),
        }
    }

    /// Calls `scan` for a file that is read from its start. The fewer such files are read at once, the more threads help with
    /// each. Decoding ahead takes memory, which may grow only with the number of threads.
    fn helped(&self, workers: &Workers<'s>, scan: impl FnOnce(&Workers<'s>) -> Scanned) -> Scanned {
        let n_decoded = 1 + self.n_decoded.fetch_add(1, Ordering::Relaxed);
        let scanned = scan(&workers.with_helpers(2 * self.counter.exec.n_threads() / n_decoded));
        self.n_decoded.fetch_sub(1, Ordering::Relaxed);
        scanned
    }
}

/// How a file is read.
pub(super) enum Access {
    /// From its start, from this source. It is no longer than a shard.
    Small(Source<'static>, Reader, Option<Looks>),
    /// By shards, because each part can be read alone. The number is the file's length. Lines and records are counted that begin in the
    /// range.
    Shards(Seekable, u64, Range<u64>, Reader, Option<Looks>),
    /// By row groups. The number is the length of the Parquet file. Row groups are counted that begin in the range.
    #[cfg(feature = "parquet")]
    Table(Seekable, u64, Range<u64>),
    /// From its start, because it is compressed or its parts cannot be read alone.
    FromStart(Opened),
}

impl Access {
    /// Decides how a file is read, and opens it.
    ///
    /// # Errors
    /// When the file cannot be opened, its contents are not read, or its format cannot have the requested fields.
    fn of(input: &Input, reading: &Reading, exec: &ExecOptions) -> io::Result<Self> {
        let (mut file, len) = match input.open(exec.watch.as_ref())? {
            Opened::File(file, len) => (file, len),
            opened => return Ok(Self::FromStart(opened)),
        };
        let head = reading.head(&mut file, true);
        if reading.is_utf16(&head) {
            file.rewind()?;
            return Ok(Self::FromStart(Opened::File(file, len)));
        }
        let (format, looks) = reading.recognise(&head.bytes, input.name())?;
        #[cfg(feature = "parquet")]
        if format == Format::Parquet {
            return Ok(Self::Table(file, len, 0..u64::MAX));
        }
        let reader = reading.reader(format, &head.bytes)?;
        Ok(if len <= exec.shard_len as u64 {
            Self::Small(Box::new(head.then(file)), reader, looks)
        } else if format.is_cut_at_lines() {
            Self::Shards(file, len, 0..len, reader, looks)
        } else {
            file.rewind()?;
            Self::FromStart(Opened::File(file, len))
        })
    }
}
