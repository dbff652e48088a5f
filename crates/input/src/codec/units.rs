//! Decodes units of compressed content ahead of the decoder, on idle worker threads. Units are frames of zstd, or blocks of
//! xz or bzip2, which are found without decoding them (`walk`).
//!
//! Adjoining units form a *run*. A worker thread decodes a run with the decoder that also decodes a whole file, and so with
//! the same result. A unit that cannot be decoded is left to the decoder, which reports it. A unit is left to the decoder
//! too if the decoder reaches it before a thread has begun it, or if it takes too much memory.
//!
//! All memory for work ahead is reserved: what is read ahead, the decoded bytes, and the windows of decoders.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::decoder::{Decode, StreamState};
use super::jobs::{Jobs, Requested, Shared};
use super::source::{Ahead, Source};
use super::walk::{Part, Prelude, Walk};
use super::{Codec, MAGIC_LEN, decode};
use crate::Supply;
use crate::memory::is_free;
use crate::progress::Watch;
use crate::progress_reader::IsReady;
use crate::workers::{JobSender, Memory, Reserved};

/// Sizes of what is read and decoded ahead. Any sizes give the same decoded bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    /// Compressed bytes in a segment, which is read at once.
    pub(super) segment: usize,
    /// Segments that are read ahead at once, so that the decoder does not wait long.
    pub(super) reads: usize,
    /// Compressed or decoded bytes from which a run is long enough.
    pub(super) run: u64,
    /// Most compressed or decoded bytes of a unit that is decoded ahead, and its largest window.
    pub(super) unit: u64,
    /// For how many runs jobs are requested.
    pub(super) runs: usize,
}

impl Sizes {
    /// The sizes for `threads` worker threads. `unit` depends on what common programs write.
    pub(super) fn of(threads: usize, unit: u64) -> Self {
        Self { segment: 256 << 10, reads: 16, run: 1 << 20, unit, runs: 2 * threads + 2 }
    }
}

/// The memory of a window up to which a decoder is kept for the next run.
const SMALL_WINDOW: u64 = 8 << 20;

/// A source of compressed bytes that decodes units ahead of the decoder.
pub(super) struct Units<'a, R> {
    supply: Supply<R>,
    /// Whether a read would return at once.
    is_ready: IsReady,
    walk: Box<dyn Walk>,
    codec: Codec,
    sizes: Sizes,
    memory: Memory,
    jobs: Jobs<'a>,
    /// Whether jobs should end.
    is_over: Arc<AtomicBool>,
    watch: Option<Watch>,
    /// The bytes that were read and not used, except the first `used` of them. `base` is their offset in the source.
    segments: VecDeque<Segment>,
    base: u64,
    used: usize,
    /// Offset of the end of the segments.
    read: u64,
    /// Offset of the part that is being walked over.
    part: u64,
    is_lost: bool,
    /// The runs after the place of the decoder. The last one may become longer if it is open.
    runs: VecDeque<Run>,
    is_open: bool,
    /// Buffers of segments and of runs that are no longer used.
    used_up: Vec<Vec<u8>>,
    spare: Vec<Room>,
    /// Decoders that are kept for the next run.
    kept: Shared<Box<dyn Decode>>,
}

/// Compressed bytes: a buffer, and how many bytes in it were read.
struct Segment {
    bytes: Arc<Vec<u8>>,
    len: usize,
    _reserved: Option<Reserved>,
}

/// A buffer for decoded bytes.
struct Room {
    bytes: Vec<u8>,
    reserved: Reserved,
}

/// Adjoining units that are decoded by one job.
struct Run {
    /// Offset in the source.
    start: u64,
    packed_len: u64,
    /// The decoded length, or more.
    decoded_len: u64,
    window: u64,
    /// What the decoder needs before the first unit.
    prelude: Prelude,
    decoded: Requested<Decoded>,
}

/// The units at the start of a run that could be decoded.
struct Decoded {
    room: Room,
    /// The range of the room. What is before it was decoded of the prelude.
    range: Range<usize>,
    packed_len: usize,
}

impl<'a, R: Read> Units<'a, R> {
    /// Decodes units of `source` ahead on `workers`. `is_ready` says whether a read of the source would return at once.
    pub(super) fn new(
        source: R,
        is_ready: IsReady,
        codec: Codec,
        walk: Box<dyn Walk>,
        workers: JobSender<'a>,
        sizes: Sizes,
        watch: Option<&Watch>,
    ) -> Self {
        Self {
            supply: Supply::new(source),
            is_ready,
            walk,
            codec,
            sizes,
            memory: workers.memory.clone(),
            jobs: Jobs::new(Some(workers)),
            is_over: Arc::default(),
            watch: watch.cloned(),
            segments: VecDeque::new(),
            base: 0,
            used: 0,
            read: 0,
            part: 0,
            is_lost: false,
            runs: VecDeque::new(),
            is_open: false,
            used_up: Vec::new(),
            spare: Vec::new(),
            kept: Shared::new(),
        }
    }

    /// Offset of the next byte that the decoder uses.
    fn place(&self) -> u64 {
        self.base + self.used as u64
    }

    fn has_ended(&self) -> bool {
        self.supply.ended || self.supply.failed.is_some()
    }

    /// Reads more bytes, and finds the units that end in them.
    fn read_some(&mut self, reserved: Option<Reserved>) {
        let size = self.sizes.segment;
        let has_room = |last: &mut Segment| last.len < size && Arc::get_mut(&mut last.bytes).is_some();
        if !self.segments.back_mut().is_some_and(has_room) {
            let bytes = Arc::new(self.used_up.pop().unwrap_or_else(|| vec![0; size]));
            self.segments.push_back(Segment { bytes, len: 0, _reserved: reserved });
        }
        let Some(last) = self.segments.back_mut() else { return };
        let Some(bytes) = Arc::get_mut(&mut last.bytes) else { return };
        let before = last.len;
        self.supply.fill(bytes, &mut last.len, |_| true);
        let (bytes, len) = (last.bytes.clone(), last.len);
        self.read += (len - before) as u64;
        if len == 0 {
            self.segments.pop_back();
        }
        let mut more = &bytes[before..len];
        while !self.is_lost
            && let (n, Some(part)) = self.walk.walk(more)
        {
            more = &more[n..];
            let start = std::mem::replace(&mut self.part, self.read - more.len() as u64);
            self.add(start, &part);
        }
    }

    /// Adds a part to the open run. What is no unit ends the run, and so does a unit that the decoder has reached or that
    /// is large.
    fn add(&mut self, start: u64, part: &Part) {
        let packed_len = self.part - start;
        let &Part::Unit { decoded_len, window } = part else {
            self.is_open = false;
            self.is_lost = matches!(part, Part::Lost(_));
            return;
        };
        let is_large = packed_len.max(decoded_len).max(window) > self.sizes.unit;
        if start <= self.place() || is_large {
            self.is_open = false;
            return;
        }
        let last = self.runs.back().filter(|last| self.is_open && matches!(last.decoded, Requested::Open));
        // A skippable frame, which pzstd writes before each frame, is no run of its own.
        let is_long =
            |last: &Run| last.decoded_len > 0 && last.decoded_len + decoded_len > 2 * self.sizes.run;
        if last.is_none_or(is_long) {
            let prelude = self.walk.prelude();
            let decoded = Requested::Open;
            self.runs.push_back(Run { start, packed_len: 0, decoded_len: 0, window: 0, prelude, decoded });
        }
        if let Some(run) = self.runs.back_mut() {
            run.packed_len += packed_len;
            run.decoded_len += decoded_len;
            run.window = run.window.max(window);
            self.is_open = !self.walk.guesses() && run.packed_len.max(run.decoded_len) < self.sizes.run;
        }
    }

    /// Reads some segments ahead, and requests jobs for the runs in them.
    fn look_ahead(&mut self) {
        for _ in 0..self.sizes.reads {
            let is_large = (self.read - self.part).max(self.walk.decoded_len()) > self.sizes.unit;
            if !self.request() || self.is_lost || is_large || self.has_ended() {
                break;
            }
            if self.runs.len() >= self.sizes.runs || !(self.is_ready)() {
                break;
            }
            let Some(reserved) = self.memory.reserve(self.sizes.segment as u64) else { break };
            self.read_some(Some(reserved));
        }
        if self.has_ended() {
            self.is_open = false;
        }
        self.request();
        self.jobs.offer();
    }

    /// Requests jobs for runs, in order. Returns `false` if there is no memory for one.
    fn request(&mut self) -> bool {
        let n_closed = self.runs.len() - usize::from(self.is_open && !self.runs.is_empty());
        for n in 0..n_closed.min(self.sizes.runs) {
            let run = &self.runs[n];
            if !matches!(run.decoded, Requested::Open) || run.start <= self.place() {
                continue;
            }
            let Some(room) = self.room(self.runs[n].decoded_len, self.runs[n].window) else { return false };
            self.request_run(n, room);
        }
        true
    }

    /// A buffer for `len` bytes, with memory for a window.
    fn room(&mut self, len: u64, window: u64) -> Option<Room> {
        // Whole mebibytes serve other runs too. The decoder is never left without room.
        let len = (len + 1).next_multiple_of(1 << 20);
        let memory = len.saturating_add(window);
        while let Some(room) = self.spare.pop() {
            if room.bytes.len() as u64 >= len && room.reserved.len >= memory {
                return Some(room);
            }
        }
        let reserved = self.memory.reserve(memory).filter(|_| is_free(memory))?;
        // The system zeroes new memory, and pages that are never written take none.
        Some(Room { bytes: vec![0; usize::try_from(len).ok()?], reserved })
    }

    fn request_run(&mut self, n: usize, room: Room) {
        let run = &mut self.runs[n];
        // The segments of the run: each with its bytes that belong to the run.
        let (mut at, end) = (self.base, run.start + run.packed_len);
        let Prelude { bytes, decoded_len } = std::mem::take(&mut run.prelude);
        let prelude_len = bytes.len();
        let mut packed = vec![(Arc::new(bytes), 0..prelude_len)];
        for segment in &self.segments {
            let len = segment.len as u64;
            let index =
                |offset: u64| usize::try_from(offset.clamp(at, at + len) - at).expect("it is in memory");
            let range = index(run.start)..index(end);
            if !range.is_empty() {
                packed.push((segment.bytes.clone(), range));
            }
            at += len;
        }
        let (codec, is_small) = (self.codec, run.window <= SMALL_WINDOW);
        let kept = self.kept.clone();
        let (over, watch) = (self.is_over.clone(), self.watch.clone());
        run.decoded = self.jobs.request(move || {
            let is_over = || over.load(Ordering::Relaxed) || watch.as_ref().is_some_and(Watch::is_stopped);
            let mut decoded = Decoded { room, range: decoded_len..decoded_len, packed_len: 0 };
            let Ok(mut decoder) = kept.take().map_or_else(|| decode(codec), Ok) else { return decoded };
            decoder.hurry();
            let parts = packed.iter().map(|(bytes, range)| &bytes[range.clone()]);
            if decode_run(&mut *decoder, parts, &mut decoded, is_over) && is_small {
                kept.put(decoder);
            }
            // The prelude is no part of the run.
            decoded.packed_len = decoded.packed_len.saturating_sub(prelude_len);
            decoded
        });
    }

    /// Keeps a buffer for the next run.
    fn reuse(&mut self, room: Room) {
        if !room.bytes.is_empty() && self.spare.len() < self.sizes.runs {
            self.spare.push(room);
        }
    }
}

/// Decodes units from their start, up to one that cannot be decoded. Returns whether the decoder can begin another stream.
fn decode_run<'p>(
    decoder: &mut dyn Decode,
    parts: impl Iterator<Item = &'p [u8]>,
    decoded: &mut Decoded,
    is_over: impl Fn() -> bool,
) -> bool {
    let (mut at, mut to, mut is_new) = (0, 0, false);
    for mut part in parts {
        while !part.is_empty() {
            let room = &mut decoded.room.bytes[to..];
            if is_over() || room.is_empty() {
                return false;
            }
            let step = decoder.step(part, room);
            (at, to, part) = (at + step.read, to + step.written, &part[step.read..]);
            is_new = false;
            match step.state {
                StreamState::Going if step.read + step.written > 0 => continue,
                StreamState::PartEnded => {}
                StreamState::Ended if decoder.next_stream().is_ok() => is_new = true,
                _ => return false,
            }
            (decoded.packed_len, decoded.range.end) = (at, to);
        }
    }
    is_new
}

impl<R> Drop for Units<'_, R> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

impl<R: Read + Send> Source for Units<'_, R> {
    fn rest(&self) -> &[u8] {
        self.segments.front().map_or(&[], |segment| &segment.bytes[self.used..segment.len])
    }

    fn head(&self) -> Vec<u8> {
        let bytes = self.segments.iter().flat_map(|segment| &segment.bytes[..segment.len]);
        bytes.skip(self.used).take(MAGIC_LEN).copied().collect()
    }

    fn use_up(&mut self, n: usize) {
        self.used += n;
        let before = self.segments.len();
        while let Some(first) = self.segments.front()
            && self.used >= first.len
        {
            self.used -= first.len;
            self.base += first.len as u64;
            let first = self.segments.pop_front().and_then(|first| Arc::into_inner(first.bytes));
            self.used_up.extend(first.filter(|_| self.used_up.len() < self.sizes.reads));
        }
        if self.segments.len() < before {
            self.look_ahead();
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        let before = self.read;
        self.read_some(None);
        self.supply.failed.take_if(|_| self.read == before).map_or(Ok(true), Err)
    }

    fn has_ended(&self) -> bool {
        self.supply.ended
    }

    fn decoded_ahead(&mut self, used: u64) -> Option<Ahead> {
        self.look_ahead();
        let mut found = None;
        while self.runs.front().is_some_and(|run| run.start <= used)
            && let Some(mut run) = self.runs.pop_front()
        {
            self.is_open &= !self.runs.is_empty();
            if run.start == used {
                self.jobs.result(&mut run.decoded);
            }
            let Some(Decoded { room, range, packed_len }) = run.decoded.withdraw() else { continue };
            if run.start == used && packed_len > 0 {
                let (bytes, reserved) = (room.bytes, Some(room.reserved));
                found = Some(Ahead { bytes, range, packed_len, reserved });
                // The threads have work while these bytes are given out.
                self.look_ahead();
            } else {
                self.reuse(room);
            }
        }
        found
    }

    fn keep_ahead(&mut self) {
        self.look_ahead();
    }

    fn give_back(&mut self, ahead: Ahead) {
        if let Some(reserved) = ahead.reserved {
            self.reuse(Room { bytes: ahead.bytes, reserved });
        }
    }
}

#[cfg(all(test, feature = "zstd", feature = "bzip2", feature = "xz"))]
mod tests;
