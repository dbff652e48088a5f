//! Scans files whose parts can be read alone, by shards and on all threads. These files are lists, or have records that
//! are lines.

use std::io::Read;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::count_chunk::{Content, Counter, Long};
use super::{Scanned, lock};
use crate::run::chunk_cutter::{AnyChunks, Cut};
use crate::run::pipeline::Failure;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::place::{Extent, Place};
use urlsift_input::progress::Stopped;
use urlsift_input::{Mapped, Seekable, ShardBytes, Window};
use urlsift_records::{Format, Reader};

/// Adds a file that is no longer than a shard to `scanned`. `source` has all its bytes, and is read to its end, because
/// files of some file systems are shorter than they say.
pub(super) fn scan_small(
    mut scanned: Scanned,
    source: impl Read,
    input: u32,
    reader: Reader,
    counter: &Counter<'_>,
) -> Scanned {
    scanned.note_reader(input, Some(&reader));
    let exec = counter.exec;
    let chunks = AnyChunks::new(exec.told(source), reader, exec.sizes());
    count_chunks(&mut scanned, &AlreadyShown::default(), chunks, input, counter);
    scanned.ended(input, counter.options, exec)
}

/// Adds the lines or records that begin in a range of a file to `scanned`. The file is `len` bytes long, and its format
/// can be cut at lines. `reader` is at the start of the file.
pub(super) fn scan_shards(
    mut scanned: Scanned,
    file: &Seekable,
    len: u64,
    range: Range<u64>,
    input: u32,
    reader: &Reader,
    counter: &Counter<'_>,
) -> Scanned {
    let exec = counter.exec;
    let shard_len = exec.shard_len.max(1) as u64;
    let bytes_of = |shards: &Range<u64>| {
        range.start + shards.start * shard_len..range.end.min(range.start + shards.end * shard_len)
    };
    let reader_at = |scanned: &Scanned, offset| {
        // Line numbers count from the start of a run without a gap.
        let run = scanned.tally.runs().last().filter(|run| (run.input, run.end) == (input, offset));
        reader.clone().standing_at(offset, run.map_or(0, |run| run.lines) + 1)
    };
    // The longest known range where no line begins, so that a long line is not read again to look for line ends.
    let longest_gap = Mutex::new(0..0);
    // One tally serves many shards, because it takes some kilobytes and soon has its examples.
    let scan_one = |scanned: &mut Scanned, shown: &AlreadyShown, n: u64, window: &mut Option<Window>| {
        let mut shard = bytes_of(&(n..n + 1));
        let gap = lock(&longest_gap).clone();
        if gap.start <= shard.start && shard.end <= gap.end {
            return;
        }
        while let Some(window) = window
            && let Some((offset, lines, end)) = window.lines(&shard)
        {
            exec.read(lines.len());
            if !lines.is_empty() {
                let content = match reader.format() {
                    Format::Lines => Content::Lines,
                    _ => Content::Records { reader: Box::new(reader_at(scanned, offset)), is_last: true },
                };
                counter.add(scanned, shown, lines, Place { input, offset }, content);
            }
            shard.start = end;
            if shard.is_empty() {
                return;
            }
        }
        // A line may be so long that it is read for hours. The window is dropped, so that no writer waits for that.
        *window = None;
        match ShardBytes::new(file, shard.start, shard.end, len) {
            Ok(None) => {}
            Ok(Some(mut bytes)) => {
                let reader = reader_at(scanned, bytes.offset());
                let chunks = AnyChunks::new(exec.told(&mut bytes), reader, exec.sizes());
                count_chunks(scanned, shown, chunks, input, counter);
                let mut gap = lock(&longest_gap);
                if bytes.offset().saturating_sub(shard.end) > gap.end - gap.start {
                    *gap = shard.end..bytes.offset();
                }
            }
            Err(error) => scanned.failures.push(Failure { input, error }),
        }
    };
    let shards = Shards::new((range.end - range.start).div_ceil(shard_len), exec.n_threads());
    // Where some lines cost a hundred times as much as others, a process that wants to write would wait long.
    let is_mapped = exec.mmap && !counter.options.is_costly() && Mapped::is_brief(exec.n_threads());
    let mapped = file.file().filter(|_| is_mapped).and_then(|file| Mapped::of(file, len));
    scanned.note_reader(input, Some(reader));
    // The result, and the runs from whose start its records count their lines.
    let all: Mutex<(Scanned, Vec<Extent>)> = Mutex::default();
    (0..exec.n_threads()).into_par_iter().for_each(|_| {
        while !exec.is_stopped()
            && let Some(taken) = shards.take()
        {
            // Skip examples that earlier lines already provide.
            let range = bytes_of(&taken);
            let place = Place { input, offset: range.start };
            let shown = AlreadyShown::default().with(&lock(&all).0.tally, place);
            let mut some = Scanned::default();
            {
                let mut window = mapped.as_ref().and_then(|mapped| mapped.window(range));
                taken.for_each(|n| scan_one(&mut some, &shown, n, &mut window));
            }
            let mut all = lock(&all);
            if reader.format() != Format::Lines {
                all.1.extend(some.tally.runs());
            }
            all.0 = std::mem::take(&mut all.0).merge(some);
        }
    });
    let (mut all, mut parts) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    parts.sort_unstable();
    // Line numbers were relative to each thread's run; rebase them onto the merged runs.
    for (_, records) in &mut all.records {
        records.move_lines(input, &parts, &parts, all.tally.runs());
    }
    if !shards.are_taken() {
        all.failures.push(Failure { input, error: Stopped.into() });
    }
    scanned.merge(all.ended(input, counter.options, exec))
}

/// The shards of a file or of bytes, which threads take in order. The shards taken so far are always the beginning.
pub(super) struct Shards {
    next: AtomicU64,
    n: u64,
    /// How many threads take shards.
    n_threads: u64,
}

impl Shards {
    /// Most shards that are taken at a time. A stop waits until they are done.
    const MOST: u64 = 16;

    /// `n` shards for so many threads.
    pub(super) fn new(n: u64, n_threads: usize) -> Self {
        Self { next: AtomicU64::new(0), n, n_threads: n_threads.max(1) as u64 }
    }

    /// The next few shards. They are fewer towards the end, so that all threads end together.
    pub(super) fn take(&self) -> Option<Range<u64>> {
        let share =
            |next: u64| ((self.n - next) / (4 * self.n_threads)).clamp(1, Self::MOST).min(self.n - next);
        let take = |next| (next < self.n).then(|| next + share(next));
        let start = self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(start..start + share(start))
    }

    fn are_taken(&self) -> bool {
        self.next.load(Ordering::Relaxed) >= self.n
    }
}

thread_local! {
    /// A buffer that each thread reuses for all its shards.
    static BUFFER: std::cell::Cell<Vec<u8>> = const { std::cell::Cell::new(Vec::new()) };
}

/// Adds the chunks of a shard to `scanned`.
fn count_chunks(
    scanned: &mut Scanned,
    shown: &AlreadyShown,
    mut chunks: AnyChunks<impl Read>,
    input: u32,
    counter: &Counter<'_>,
) {
    let mut long = Long::default();
    let mut spare = BUFFER.take();
    loop {
        match chunks.next(&mut spare) {
            Ok(Some(chunk)) => {
                let (bytes, content) = counter.look(&mut scanned.tally, &mut long, input, chunk);
                if let Some(content) = content {
                    let place = Place { input, offset: bytes.offset };
                    counter.add(scanned, shown, bytes.get(), place, content);
                }
                if long.is_open() && counter.exec.is_stopped() {
                    scanned.failures.push(Failure { input, error: Stopped.into() });
                    break;
                }
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
}
