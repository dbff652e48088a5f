//! Inputs one after the other, a piece at a time, through several threads, with the results in the order of the lines.
//!
//! Knows pieces and the memory they are read into, and not what is made of them.

use std::io::{self, Read};
use std::mem;
use std::ops::{ControlFlow, Deref, DerefMut};

use crossbeam_channel::{Sender, unbounded};
use memchr::memchr_iter;

use crate::input::{Bytes, Input, Piece, Pieces, Sizes};
use crate::parallel::in_order;

/// An input that could not be read, or not to its end.
#[derive(Debug)]
pub struct Failure {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// What went wrong.
    pub error: io::Error,
}

/// A piece on its way; when it is dropped, its memory serves another one.
pub(crate) struct Lent {
    bytes: Bytes,
    home: Sender<Vec<u8>>,
}

impl Deref for Lent {
    type Target = Bytes;

    fn deref(&self) -> &Bytes {
        &self.bytes
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut Bytes {
        &mut self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // Nobody takes it when all has been read.
        let _ = self.home.send(mem::take(&mut self.bytes).into_buffer());
    }
}

/// Reads `sources`, each with the number of its input, in pieces, has `threads` threads `work` on them, and hands the results
/// to `sink` in order, which may end everything.
///
/// `look` sees each piece on the reading thread, in order, and tells what goes with it to `work`; with `None` the piece is
/// done with. Returns how `sink` ended it, and the inputs that could not be read to their end: of these, all whole lines
/// before that have been handed on.
pub(crate) fn in_pieces<S: Read, N: Send, R: Send, B: Send>(
    sources: impl IntoIterator<Item = (u32, io::Result<S>)>,
    sizes: Sizes,
    threads: usize,
    mut look: impl FnMut(u32, &Piece) -> Option<N>,
    work: impl Fn(Lent, N) -> R + Sync,
    sink: impl FnMut(R) -> ControlFlow<B> + Send,
) -> (ControlFlow<B>, Vec<Failure>) {
    let (home, come_home) = unbounded();
    let mut failures = Vec::new();
    let mut sources = sources.into_iter();
    let mut current: Option<(u32, Pieces<S>)> = None;
    let next = || {
        loop {
            let Some((input, pieces)) = &mut current else {
                match sources.next()? {
                    (input, Ok(source)) => current = Some((input, Pieces::new(source, 0, sizes))),
                    (input, Err(error)) => failures.push(Failure { input, error }),
                }
                continue;
            };
            let input = *input;
            match pieces.next(&mut come_home.try_recv().unwrap_or_default()) {
                Ok(Some(piece)) => {
                    let note = look(input, &piece);
                    let (Piece::Lines(bytes) | Piece::Long { bytes, .. }) = piece;
                    let lent = Lent { bytes, home: home.clone() };
                    if let Some(note) = note {
                        return Some((lent, note));
                    }
                }
                Ok(None) => current = None,
                Err(error) => {
                    failures.push(Failure { input, error });
                    current = None;
                }
            }
        }
    };
    let flow = in_order(threads, next, |(lent, note)| work(lent, note), sink);
    (flow, failures)
}

/// The bytes of `inputs`, each opened when its turn comes, and their numbers.
pub(crate) fn sources(
    inputs: &[Input],
) -> impl Iterator<Item = (u32, io::Result<Box<dyn Read + Send>>)> + '_ {
    (0..).zip(inputs).map(|(number, input)| (number, input.reader().map(|(reader, _)| reader)))
}

/// Numbers lines, in the order in which pieces are read.
#[derive(Default)]
pub(crate) struct Numbers {
    input: Option<u32>,
    before: u64,
}

impl Numbers {
    /// The number of the first line of `piece`, from 1; pieces have to come in order.
    pub(crate) fn first_of(&mut self, input: u32, piece: &Piece) -> u64 {
        if self.input.replace(input) != Some(input) {
            self.before = 0;
        }
        let first = self.before + 1;
        let (Piece::Lines(bytes) | Piece::Long { bytes, .. }) = piece;
        self.before += memchr_iter(b'\n', bytes.get()).count() as u64;
        first
    }
}
