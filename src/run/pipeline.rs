//! Reads inputs one after another in chunks, processes the chunks on several threads, and keeps the results in the order
//! of the lines.
//!
//! This module knows chunks and their buffers. It does not know what is made of them.

use std::fmt::Display;
use std::ops::{Deref, DerefMut, Range};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Condvar, Mutex, PoisonError};
use std::{io, mem, thread};

use memchr::memchr_iter;

use crate::run::ExecOptions;
use crate::run::chunk_cutter::{AnyChunk, AnyChunks};
use crate::run::format_choice::Reading;
use crate::run::ordered::in_order;
#[cfg(feature = "parquet")]
use crate::run::parquet::TableChunks;
use crate::scan::record_fields::Records;
#[cfg(feature = "parquet")]
use urlsift_input::Opened;
use urlsift_input::progress::Stopped;
use urlsift_input::workers::{JobSender, with_workers};
use urlsift_input::{Advice, Chunk, ChunkBytes, Input, Sizes};
use urlsift_records::Format;
use urlsift_records::input_signs::Signs;
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Table;

/// An input that could not be read, or not to its end.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// The number of the input, from 0, in the order given.
    pub input: u32,
    /// What went wrong.
    pub error: io::Error,
}

impl Failure {
    /// The message for this failure: the name of the input and what went wrong. If a list names the input, its place in
    /// the list comes first.
    #[must_use]
    pub fn message(&self, inputs: &[Input]) -> String {
        let input = inputs.get(self.input as usize);
        let listed = input.and_then(Input::listed_at).map(|(list, line)| format!("{list}:{line}: "));
        format!("{}{}: {}", listed.unwrap_or_default(), input.map_or("?", Input::name), self.error)
    }

    /// Adds to the errors what helps, in the words of a front end. They continue the sentences.
    pub fn say<W: Display>(failures: &mut [Self], words: impl Fn(Advice) -> W) {
        for Self { error, .. } in failures {
            *error = Advice::said(mem::replace(error, io::ErrorKind::Other.into()), &words);
        }
    }

    /// Adds the failures of tables that lack a wanted column. Keeps the first failure of each input, in the order of the inputs.
    pub(crate) fn complete(failures: &mut Vec<Self>, records: &[(u32, Records)]) {
        let of_columns = |(input, records): &(u32, Records)| {
            Some(Self { input: *input, error: records.missing_column()? })
        };
        failures.extend(records.iter().filter_map(of_columns));
        failures.sort_by_key(|failure| failure.input);
        failures.dedup_by_key(|failure| failure.input);
    }

    /// Whether the only reason is that [`Watch::stop`](urlsift_input::progress::Watch::stop) was called before the input was read to its end.
    #[must_use]
    pub fn is_stop(&self) -> bool {
        matches!(self.error.get_ref(), Some(error) if error.is::<Stopped>())
    }
}

/// A chunk that is being processed. When it is dropped, its buffer is reused for another chunk.
pub(crate) struct PooledBuffer {
    bytes: ChunkBytes,
    home: Sender<Vec<u8>>,
}

impl PooledBuffer {
    /// A chunk whose buffer returns to `home`.
    pub(crate) fn new(bytes: ChunkBytes, home: &Sender<Vec<u8>>) -> Self {
        Self { bytes, home: home.clone() }
    }
}

impl Deref for PooledBuffer {
    type Target = ChunkBytes;

    fn deref(&self) -> &ChunkBytes {
        &self.bytes
    }
}

impl DerefMut for PooledBuffer {
    fn deref_mut(&mut self) -> &mut ChunkBytes {
        &mut self.bytes
    }
}

impl Drop for PooledBuffer {
    fn drop(&mut self) {
        // After the last read, the receiver is gone.
        let _ = self.home.send(mem::take(&mut self.bytes).into_buffer());
    }
}

/// How inputs ended, by number.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Ends {
    /// The inputs that could not be read to their end, with one failure each.
    pub failures: Vec<Failure>,
    /// The records of inputs other than lists: of those that `read_in_order` has read, what was in no chunk.
    pub records: Vec<(u32, Records)>,
    /// The signs of the inputs.
    pub(crate) signs: Vec<(u32, Signs)>,
}

/// Reads `inputs` in chunks, one input after the other, runs `work` on the chunks on several threads, and passes the results to
/// `sink` in order.
///
/// Each input is opened when its turn comes, and fails if `check` refuses its format. `look` gets the number of the input and each chunk on
/// this thread, in order. It returns the chunk's bytes, and a value that is passed on to `work` with them.
///
/// An error of `sink` ends everything. Returns how `sink` ended, and how the inputs did. Whole lines and records of inputs that could not
/// be read to their end have been passed on up to the error.
pub(crate) fn read_in_order<'a, N: Send + 'a, R: Send + 'a, E: Send>(
    inputs: &'a [Input],
    (reading, sizes, exec): (&'a Reading, Sizes, &'a ExecOptions),
    check: impl Fn(Format) -> io::Result<()>,
    look: impl FnMut(u32, AnyChunk) -> (ChunkBytes, N),
    work: &'a (impl Fn((PooledBuffer, N)) -> R + Sync),
    sink: impl FnMut(R) -> Result<(), E> + Send,
) -> (Result<(), E>, Ends) {
    let (n_threads, watch) = (exec.n_threads(), exec.watch.as_ref());
    let mut all_signs = Vec::new();
    let (ended, mut ends) = with_workers(exec.n_workers(inputs), |workers, _| {
        let helpers = workers.helpers(n_threads - 1);
        let mut open = |number, input: &Input| {
            let opened = input.open(watch)?;
            #[cfg(feature = "parquet")]
            let opened = match opened {
                Opened::File(file, len) if reading.is_table(&file, input.name())? => {
                    check(Format::Parquet)?;
                    let table = Table::open(file, len, watch)?;
                    let (all, len) = (0..u64::MAX, sizes.chunk);
                    let chunks = TableChunks::open(&table, &reading.fields, &all, len, helpers.clone())?;
                    return Ok(AnyChunks::Table(Box::new(chunks)));
                }
                opened => opened,
            };
            let (bytes, _) = opened.unpack(helpers.clone(), watch)?;
            let (chunks, signs) = AnyChunks::open(bytes, input.name(), reading, sizes)?;
            all_signs.push((number, signs));
            check(chunks.format()).map(|()| chunks)
        };
        let sources = (0..).zip(inputs).map(|(number, input)| (number, open(number, input)));
        in_chunks(sources, (&workers, 2 * n_threads), look, work, sink)
    });
    ends.signs = all_signs.into_iter().map(|(input, signs)| (input, signs.seen())).collect();
    (ended, ends)
}

/// Does the same for `sources`, which come with the numbers of their inputs. At most `ahead` results wait for `sink`.
fn in_chunks<'a, N: Send + 'a, R: Send + 'a, E: Send>(
    sources: impl IntoIterator<Item = (u32, io::Result<AnyChunks<'a>>)>,
    (workers, ahead): (&JobSender<'a>, usize),
    mut look: impl FnMut(u32, AnyChunk) -> (ChunkBytes, N),
    work: &'a (impl Fn((PooledBuffer, N)) -> R + Sync),
    sink: impl FnMut(R) -> Result<(), E> + Send,
) -> (Result<(), E>, Ends) {
    let (home, come_home) = channel();
    let mut ends = Ends::default();
    let mut sources = sources.into_iter();
    let (mut current, mut spare) = (None, Vec::new());
    let next = || {
        loop {
            let Some((input, chunks)) = &mut current else {
                match sources.next()? {
                    (input, Ok(source)) => current = Some((input, source)),
                    (input, Err(error)) => ends.failures.push(Failure { input, error }),
                }
                continue;
            };
            let input = *input;
            if spare.is_empty() {
                spare = come_home.try_recv().unwrap_or_default();
            }
            match chunks.next(&mut spare) {
                Ok(Some(chunk)) => {
                    let (bytes, note) = look(input, chunk);
                    return Some((PooledBuffer::new(bytes, &home), note));
                }
                end => {
                    ends.failures.extend(end.err().map(|error| Failure { input, error }));
                    ends.records.extend(chunks.records().map(|records| (input, records)));
                    current = None;
                }
            }
        }
    };
    let ended = in_order(workers, ahead, next, work, sink);
    (ended, ends)
}

/// Numbers lines on the reading thread, in the order of the chunks.
#[derive(Default)]
pub(crate) struct Numbers {
    input: Option<u32>,
    before: u64,
}

impl Numbers {
    /// The numbers of the lines of `chunk`, from 1. Chunks have to come in order.
    pub(crate) fn of(&mut self, input: u32, chunk: &Chunk) -> Range<u64> {
        if self.input.replace(input) != Some(input) {
            self.before = 0;
        }
        let first = self.before + 1;
        let (Chunk::Lines(bytes) | Chunk::Long { bytes, .. }) = chunk;
        self.before += memchr_iter(b'\n', bytes.get()).count() as u64;
        first..self.before + 1
    }
}

/// Numbers the lines of chunks that several threads process. A thread counts the lines of its chunk first and then asks
/// for their numbers, so that no line is counted twice.
#[derive(Default)]
pub(crate) struct Turns {
    turn: Mutex<Turn>,
    passed: Condvar,
}

/// The next turn, the current input, and how many of its lines have been numbered.
#[derive(Default)]
struct Turn {
    next: u64,
    input: Option<u32>,
    lines: u64,
    /// Whether a thread panicked before its turn, which then never comes.
    is_broken: bool,
}

/// Ends the waiting of all others if this thread panics.
pub(crate) struct TurnGuard<'a>(pub(crate) &'a Turns);

impl Drop for TurnGuard<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.turn.lock().unwrap_or_else(PoisonError::into_inner).is_broken = true;
            self.0.passed.notify_all();
        }
    }
}

impl Turns {
    /// The number of a chunk's first line, from 1. `turn` is the number of the chunk, from 0, and `n_lines` its number of
    /// lines. Waits until all chunks before this one have their numbers.
    pub(crate) fn first_number(&self, turn: u64, input: u32, n_lines: u64) -> u64 {
        let now = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let is_early = |now: &mut Turn| now.next < turn && !now.is_broken;
        let mut now = self.passed.wait_while(now, is_early).unwrap_or_else(PoisonError::into_inner);
        let before = if now.input == Some(input) { now.lines } else { 0 };
        *now = Turn { next: turn + 1, input: Some(input), lines: before + n_lines, ..*now };
        self.passed.notify_all();
        before + 1
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;
    use urlsift_input::Chunks;

    /// Returns at most the given number of bytes per read, and an error at the end if the flag is set.
    struct Source(&'static [u8], usize, bool);

    impl Read for Source {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let n = self.1.min(buffer.len()).min(self.0.len());
            if n == 0 && self.2 {
                return Err(io::Error::other("broken"));
            }
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    fn lines<'a>(source: Source, sizes: Sizes) -> AnyChunks<'a> {
        AnyChunks::Lines(Chunks::new(Box::new(source), 0, sizes))
    }

    fn of_lines(chunk: AnyChunk) -> Chunk {
        let AnyChunk::Lines(chunk) = chunk else { panic!("the input is a list") };
        chunk
    }

    /// Reads inputs that fail midway, at once, or not at all. Returns the bytes by input, and the inputs that failed.
    fn chunks(threads: usize, step: usize, eager: bool) -> (Vec<(u32, Vec<u8>)>, Vec<u32>) {
        let sources = [
            (0, Ok(Source(b"a\nbb\n\nccc", step, true))),
            (1, Err(io::Error::other("cannot be opened"))),
            (2, Ok(Source(b"dddddddddd\n\ne", step, false))),
            (3, Ok(Source(b"", step, true))),
            (4, Ok(Source(b"f\n", step, false))),
        ];
        let mut numbers = Numbers::default();
        let mut found: Vec<(u32, Vec<u8>)> = Vec::new();
        let sink = |(bytes, input, first): (Vec<u8>, u32, u64)| {
            if found.last().is_none_or(|&(last, _)| last != input) {
                found.push((input, Vec::new()));
            }
            let (_, before) = found.last_mut().expect("there is one");
            assert_eq!(first, 1 + memchr_iter(b'\n', before).count() as u64);
            before.extend(bytes);
            Ok::<_, ()>(())
        };
        let sizes = Sizes { chunk: 4, line: usize::MAX, in_parts: true, eager };
        let look = |input, chunk| {
            let chunk = of_lines(chunk);
            let note = (input, numbers.of(input, &chunk).start);
            (chunk.into_bytes(), note)
        };
        let work = |(bytes, (input, first)): (PooledBuffer, (u32, u64))| (bytes.get().to_vec(), input, first);
        let sources = sources.map(|(input, source)| (input, source.map(|source| lines(source, sizes))));
        let (ended, Ends { failures, .. }) =
            with_workers(threads, |workers, _| in_chunks(sources, (&workers, 2), look, &work, sink));
        assert_eq!(ended, Ok(()));
        (found, failures.into_iter().map(|failure| failure.input).collect())
    }

    #[test]
    fn inputs_come_in_order_up_to_their_last_whole_line() {
        for threads in 1..4 {
            for step in [1, 3, 100] {
                for eager in [false, true] {
                    let (found, failures) = chunks(threads, step, eager);
                    let expected: [(u32, &[u8]); 3] =
                        [(0, b"a\nbb\n\n"), (2, b"dddddddddd\n\ne"), (4, b"f\n")];
                    assert_eq!(found, expected.map(|(input, bytes)| (input, bytes.to_vec())));
                    assert_eq!(failures, [0, 1, 3]);
                }
            }
        }
    }

    #[test]
    fn the_sink_can_end_it() {
        let sizes = Sizes { chunk: 16, line: 16, in_parts: true, eager: false };
        let endless = (0..).map(|n| (n, Ok(lines(Source(b"a\nb\n", 4, false), sizes))));
        let mut n_looked = 0;
        let mut n_passed = 0;
        let look = |_, chunk| {
            n_looked += 1;
            (of_lines(chunk).into_bytes(), ())
        };
        let work = |(bytes, ())| bytes;
        let sink = |bytes: PooledBuffer| {
            assert_eq!(bytes.get(), b"a\nb\n");
            n_passed += 1;
            if n_passed == 10 { Err(n_passed) } else { Ok(()) }
        };
        let (ended, Ends { failures, .. }) =
            with_workers(2, |workers, _| in_chunks(endless, (&workers, 4), look, &work, sink));
        assert!(ended == Err(10) && failures.is_empty());
        assert!(n_looked < 100, "no more than a few chunks were under way");
    }
}
