//! Where a decoder has its compressed bytes from.

use std::io::{self, Read};
use std::ops::Range;

use super::MAGIC_LEN;

/// Compressed bytes, in order, as many at a time as there are at hand.
pub(super) trait Source: Send {
    /// Those at hand that have not been used.
    fn rest(&self) -> &[u8];

    /// The next few, fewer only at the end of what has been read.
    fn head(&self) -> Vec<u8>;

    /// Uses up the next `n`, which have been read.
    fn use_up(&mut self, n: usize);

    /// Gets some more, or notices that there are none; `false` where there is no room for more.
    ///
    /// # Errors
    /// When they cannot be read.
    fn fill(&mut self) -> io::Result<bool>;

    /// Whether all has been read.
    fn has_ended(&self) -> bool;

    /// What somebody has decoded in advance of the streams that begin at the next byte, of which so many stand before.
    fn decoded_ahead(&mut self, _used: u64) -> Option<Ahead> {
        None
    }

    /// Takes the memory of that back.
    fn give_back(&mut self, _bytes: Vec<u8>) {}
}

/// Whole streams, decoded and found to be what their checksums say.
pub(super) struct Ahead {
    /// What came of them, and of others.
    pub(super) bytes: Vec<u8>,
    /// What of that came of them and has not been given out.
    pub(super) range: Range<usize>,
    /// How many compressed bytes they are.
    pub(super) packed_len: usize,
}

/// How many compressed bytes are read at a time.
const BUFFER: usize = 256 << 10;

/// A buffer before anything that can be read.
pub(super) struct Buffered<R> {
    source: R,
    buffer: Vec<u8>,
    /// What has been read and not been used stands there in the buffer.
    start: usize,
    end: usize,
    has_ended: bool,
}

impl<R: Read> Buffered<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, buffer: vec![0; BUFFER], start: 0, end: 0, has_ended: false }
    }
}

impl<R: Read + Send> Source for Buffered<R> {
    fn rest(&self) -> &[u8] {
        &self.buffer[self.start..self.end]
    }

    fn head(&self) -> Vec<u8> {
        self.rest().iter().take(MAGIC_LEN).copied().collect()
    }

    fn use_up(&mut self, n: usize) {
        self.start += n;
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.buffer.copy_within(self.start..self.end, 0);
        (self.start, self.end) = (0, self.end - self.start);
        if self.end == self.buffer.len() {
            return Ok(false);
        }
        let n = read_some(&mut self.source, &mut self.buffer[self.end..])?;
        self.has_ended = n == 0;
        self.end += n;
        Ok(true)
    }

    fn has_ended(&self) -> bool {
        self.has_ended
    }
}

/// Reads, whatever signals come.
pub(super) fn read_some(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
