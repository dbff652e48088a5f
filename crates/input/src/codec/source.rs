//! The sources from which a decoder reads compressed bytes.
//!
//! A source may also have streams that were decoded ahead. This module knows no codec.

use std::io::{self, Read};
use std::ops::Range;

use super::MAGIC_LEN;
use crate::chunks::Supply;
use crate::workers::Reserved;

/// Compressed bytes in order, as many at a time as are available.
pub(super) trait Source: Send {
    /// The available bytes that have not been used.
    fn rest(&self) -> &[u8];

    /// The next [`MAGIC_LEN`] bytes. They are fewer only at the end of what has been read.
    fn head(&self) -> Vec<u8>;

    /// Consumes the next `n` bytes, which have been read.
    fn use_up(&mut self, n: usize);

    /// Reads more bytes, or notices the end of the source. Returns `false` if there is no room for more.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn fill(&mut self) -> io::Result<bool>;

    /// Whether the end of the source has been reached.
    fn has_ended(&self) -> bool;

    /// The streams, or parts of a stream, that begin at the next byte, if they were decoded ahead. `_used` is the offset of that byte.
    fn decoded_ahead(&mut self, _used: u64) -> Option<Ahead> {
        None
    }

    /// Reads some bytes ahead, and has idle threads decode what is found in them. This is called now and then while bytes
    /// that were decoded ahead are given out.
    fn keep_ahead(&mut self) {}

    /// Takes back the buffer of an [`Ahead`] for reuse.
    fn give_back(&mut self, _ahead: Ahead) {}
}

/// Whole streams, or whole parts of a stream, that were decoded ahead, and whose checksums are right.
pub(super) struct Ahead {
    /// A buffer with their decoded bytes, and maybe those of other streams.
    pub(super) bytes: Vec<u8>,
    /// The range of the buffer that belongs to these streams and has not been given out.
    pub(super) range: Range<usize>,
    /// The compressed length of these streams.
    pub(super) packed_len: usize,
    /// The memory of the buffer, if it counts as work ahead.
    #[cfg_attr(
        not(any(feature = "zstd", feature = "bzip2", feature = "xz")),
        allow(dead_code, reason = "gzip limits its memory by sizes")
    )]
    pub(super) reserved: Option<Reserved>,
}

/// Compressed bytes read at a time.
const BUFFER: usize = 256 << 10;

/// A buffered reader of any source.
pub(super) struct Buffered<R> {
    supply: Supply<R>,
    buffer: Vec<u8>,
    /// The bytes that were read and not used are `buffer[start..end]`.
    start: usize,
    end: usize,
}

impl<R: Read> Buffered<R> {
    pub(super) fn new(source: R) -> Self {
        Self { supply: Supply::new(source), buffer: vec![0; BUFFER], start: 0, end: 0 }
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
        self.supply.fill(&mut self.buffer, &mut self.end, |_| true);
        self.supply.failed.take().map_or(Ok(true), Err)
    }

    fn has_ended(&self) -> bool {
        self.supply.ended
    }
}
