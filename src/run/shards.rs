//! Scans files whose parts can be read alone, by shards and on several threads. These files are lists, or have records that
//! are lines.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use super::count_chunk::{Content, Counter, Long};
use super::workers::Workers;
use super::{Scanned, lock};
use crate::run::chunk_cutter::AnyChunks;
use crate::run::pipeline::Failure;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::place::{Extent, Place};
use urlsift_input::progress::Stopped;
use urlsift_input::{Mapped, Seekable, Span, Window};
use urlsift_records::{Format, Reader};

/// A file whose format can be cut at lines.
pub(super) struct CutFile<'a> {
    file: Seekable,
    len: u64,
    /// Where the lines and records begin that are counted.
    range: Range<u64>,
    input: u32,
    /// A reader at the start of the file.
    reader: Reader,
    counter: &'a Counter<'a>,
    mapped: Option<Mapped>,
    shards: Shards,
    /// The longest known range where no line begins, so that a long line is not read again to look for line ends.
    longest_gap: Mutex<Range<u64>>,
    /// The result, and the runs from whose start its records count their lines.
    all: Mutex<(Scanned, Vec<Extent>)>,
}

impl<'a> CutFile<'a> {
    /// A file of `len` bytes. Counts the lines or records that begin in `range`. `reader` is at the start of the file.
    pub(super) fn new(
        file: Seekable,
        len: u64,
        range: Range<u64>,
        input: u32,
        reader: Reader,
        counter: &'a Counter<'a>,
    ) -> Arc<Self> {
        let exec = counter.exec;
        // Where some lines cost a hundred times as much as others, a process that wants to write would wait long.
        let is_mapped = exec.mmap && !counter.options.is_costly() && Mapped::is_brief(exec.n_threads());
        let mapped = file.file().filter(|_| is_mapped).and_then(|file| Mapped::of(file, len));
        let shards = Shards::new(exec.n_shards(&range), exec.n_threads());
        let (longest_gap, all) = Default::default();
        Arc::new(Self { file, len, range, input, reader, counter, mapped, shards, longest_gap, all })
    }

    /// Adds the lines or records to `scanned`.
    pub(super) fn scan(self: Arc<Self>, mut scanned: Scanned, workers: &Workers<'a>) -> Scanned {
        let Self { input, reader, counter, .. } = &*self;
        let exec = counter.exec;
        scanned.note_reader(*input, Some(reader));
        let (done, all_done) = channel::<()>();
        self.scan_shards(|| {
            // Threads that become idle get a job, so that they take shards too. Each reference but this one is a job.
            for _ in Arc::strong_count(&self)..exec.n_threads() {
                let (file, done) = (self.clone(), done.clone());
                let job = move || {
                    file.scan_shards(|| ());
                    drop(done);
                };
                if !workers.offer(Box::new(job)) {
                    break;
                }
            }
        });
        // Jobs that no thread has begun find no shards left. The jobs of other files may be among those that this thread does.
        workers.do_waiting();
        drop(done);
        let _ = all_done.recv();
        let (mut all, mut parts) = mem::take(&mut *lock(&self.all));
        parts.sort_unstable();
        // Line numbers were relative to each thread's run; rebase them onto the merged runs.
        for (_, records) in &mut all.records {
            records.move_lines(*input, &parts, &parts, all.tally.runs());
        }
        if !self.shards.are_taken() {
            all.failures.push(Failure { input: *input, error: Stopped.into() });
        }
        scanned.merge(all.ended(*input, counter.options, exec))
    }

    /// The bytes of some shards.
    fn bytes_of(&self, shards: &Range<u64>) -> Range<u64> {
        let at = |shard: u64| self.range.start + shard * self.counter.exec.shard_len.max(1) as u64;
        at(shards.start)..self.range.end.min(at(shards.end))
    }

    /// Takes shards and counts them until none are left. Calls `between` before each few of them.
    fn scan_shards(&self, between: impl Fn()) {
        while !self.counter.exec.is_stopped()
            && let Some(taken) = self.shards.take()
        {
            between();
            // Skip examples that earlier lines already provide.
            let range = self.bytes_of(&taken);
            let place = Place { input: self.input, offset: range.start };
            let shown = AlreadyShown::default().with(&lock(&self.all).0.tally, place);
            // One tally serves many shards, because it takes some kilobytes and soon has its examples.
            let mut some = Scanned::default();
            {
                let mut window = self.mapped.as_ref().and_then(|mapped| mapped.window(range));
                taken.for_each(|n| self.scan_shard(&mut some, &shown, n, &mut window));
            }
            let mut all = lock(&self.all);
            if self.reader.format() != Format::Lines {
                all.1.extend(some.tally.runs());
            }
            all.0 = mem::take(&mut all.0).merge(some);
        }
    }

    fn scan_shard(&self, scanned: &mut Scanned, shown: &AlreadyShown, n: u64, window: &mut Option<Window>) {
        let &Self { input, counter, .. } = self;
        let mut shard = self.bytes_of(&(n..n + 1));
        let gap = lock(&self.longest_gap).clone();
        if gap.start <= shard.start && shard.end <= gap.end {
            return;
        }
        while let Some(window) = window
            && let Some((offset, lines, end)) = window.lines(&shard)
        {
            counter.exec.read(lines.len());
            if !lines.is_empty() {
                let content = match self.reader.format() {
                    Format::Lines => Content::Lines,
                    _ => {
                        Content::Records { reader: Box::new(self.reader_at(scanned, offset)), is_last: true }
                    }
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
        match Span::of_file(&self.file, self.len, &shard) {
            Ok(mut bytes) => {
                let reader = self.reader_at(scanned, bytes.offset());
                let chunks = AnyChunks::new(counter.exec.told(&mut bytes), reader, counter.exec.sizes());
                self.count_chunks(scanned, shown, chunks);
                let mut gap = lock(&self.longest_gap);
                if bytes.offset().saturating_sub(shard.end) > gap.end - gap.start {
                    *gap = shard.end..bytes.offset();
                }
            }
            Err(error) => scanned.failures.push(Failure { input, error }),
        }
    }

    /// Adds the chunks of a shard to `scanned`.
    fn count_chunks(&self, scanned: &mut Scanned, shown: &AlreadyShown, mut chunks: AnyChunks<'_>) {
        let &Self { input, counter, .. } = self;
        let (mut long, mut spare) = (Long::default(), counter.spare_buffer());
        let failed = loop {
            match chunks.next(&mut spare) {
                Ok(Some(chunk)) => {
                    let (bytes, content) = counter.look(&mut scanned.tally, &mut long, input, chunk);
                    if let Some(content) = content {
                        let place = Place { input, offset: bytes.offset };
                        counter.add(scanned, shown, bytes.get(), place, content);
                    }
                    spare = bytes.into_buffer();
                    if long.is_open() && counter.exec.is_stopped() {
                        break Some(Stopped.into());
                    }
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        scanned.failures.extend(failed.map(|error| Failure { input, error }));
        counter.keep_buffer(spare);
    }

    /// A reader at `offset`, whose line numbers count from the start of a run without a gap.
    fn reader_at(&self, scanned: &Scanned, offset: u64) -> Reader {
        let run = scanned.tally.runs().last().filter(|run| (run.input, run.end) == (self.input, offset));
        self.reader.clone().standing_at(offset, run.map_or(0, |run| run.lines) + 1)
    }
}

/// Shards, which threads take in order. The shards taken so far are always the beginning.
pub(super) struct Shards {
    next: AtomicU64,
    n: u64,
    /// How many threads work on the shards.
    n_threads: u64,
}

impl Shards {
    /// Most shards that are taken at a time. A stop waits until they are done.
    const MOST: u64 = 16;

    /// `n` shards for so many threads.
    pub(super) fn new(n: usize, n_threads: usize) -> Self {
        Self { next: AtomicU64::new(0), n: n as u64, n_threads: n_threads.max(1) as u64 }
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
