//! Cuts a source at line ends into chunks, whatever its reads return.
//!
//! A line that is longer than a chunk makes the chunk grow, up to a limit. A line beyond the limit comes in parts, or is
//! an error, so that no input needs unbounded memory. This module knows line ends, and not what a line contains.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;

use crate::memory::lengthen;
use urlsift_engine::lines::last_end;

/// Consecutive bytes of an input, in a buffer that can be reused.
#[derive(Default)]
pub struct ChunkBytes {
    /// Offset of the first byte in the input.
    pub offset: u64,
    buffer: Vec<u8>,
    len: usize,
}

impl ChunkBytes {
    /// The first `len` bytes of `buffer`.
    pub fn new(offset: u64, buffer: Vec<u8>, len: usize) -> Self {
        Self { offset, buffer, len }
    }

    pub fn get(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Copies `range` to `to`, which is not after the start of `range`. Returns the end of the copy.
    pub fn pull(&mut self, range: Range<usize>, to: usize) -> usize {
        let end = to + range.len();
        if range.start != to {
            self.buffer.copy_within(range, to);
        }
        end
    }

    /// Keeps only the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The buffer, for reuse by another chunk.
    pub fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

/// A chunk of an input.
pub enum Chunk {
    /// Whole lines. Only the last line of the input may lack its LF.
    Lines(ChunkBytes),
    /// A part of a line that is too long to be held in memory.
    Long {
        /// The next bytes of the line. An LF can only be the last of them.
        bytes: ChunkBytes,
        /// Whether this is the last part.
        end: bool,
    },
}

impl Chunk {
    /// The bytes of the chunk, of either kind.
    pub fn into_bytes(self) -> ChunkBytes {
        let (Self::Lines(bytes) | Self::Long { bytes, .. }) = self;
        bytes
    }
}

/// Sizes of chunks and lines. Any sizes give the same report.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Bytes of a chunk, unless a line is longer.
    pub chunk: usize,
    /// Longest line that is held in memory, in bytes. It is at least 3, the length of a byte order mark.
    pub line: usize,
    /// Whether a longer line comes in parts. Otherwise it is an error.
    pub in_parts: bool,
    /// Whether whole lines are given out as soon as a read returns some. Otherwise the chunk is filled first.
    pub eager: bool,
}

/// Longest line for callers that need whole lines, in bytes.
const WHOLE_LINE: usize = 64 << 20;

impl Sizes {
    /// The sizes for callers that need whole lines early. A line longer than 64 MiB is an error, so that no input takes
    /// all memory.
    pub fn of_whole_lines(chunk: usize) -> Self {
        Self { chunk, line: WHOLE_LINE, in_parts: false, eager: true }
    }
}

/// A source, and whether it has ended or failed.
pub struct Supply<R> {
    source: R,
    pub ended: bool,
    pub failed: Option<io::Error>,
}

impl<R: Read> Supply<R> {
    pub fn new(source: R) -> Self {
        Self { source, ended: false, failed: None }
    }

    /// Reads into `buffer` after its first `len` bytes. Stops when the buffer is full, when the source ends or fails, or
    /// when the bytes of one read are `enough`.
    pub fn fill(&mut self, buffer: &mut [u8], len: &mut usize, enough: impl Fn(&[u8]) -> bool) {
        while *len < buffer.len() && !self.ended && self.failed.is_none() {
            match self.source.read(&mut buffer[*len..]) {
                Ok(0) => self.ended = true,
                Ok(n) => {
                    *len += n;
                    if enough(&buffer[*len - n..*len]) {
                        return;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failed = Some(error),
            }
        }
    }
}

/// Cuts a source into chunks.
pub struct Chunks<R> {
    supply: Supply<R>,
    sizes: Sizes,
    /// Offset of the first byte that has not been given out.
    offset: u64,
    /// Bytes that were read and not given out: the beginning of a line.
    rest: Vec<u8>,
    in_long_line: bool,
    /// Bytes of the next chunk, unless a line is longer.
    chunk: usize,
}

/// The size of the first chunk: most inputs are small, and a buffer is cleared before it is used.
const FIRST: usize = 64 << 10;

impl<R: Read> Chunks<R> {
    /// The chunks of `source`. Its first byte is at `offset` of the input, and begins a line.
    pub fn new(source: R, offset: u64, sizes: Sizes) -> Self {
        let chunk = sizes.chunk.min(FIRST);
        Self { supply: Supply::new(source), sizes, offset, rest: Vec::new(), in_long_line: false, chunk }
    }

    /// The next chunk, or `None` at the end. It takes over the buffer of `spare` and leaves `spare` empty.
    ///
    /// # Errors
    /// When the source cannot be read further, or a line is too long. All whole lines before that have been given out. A
    /// line whose end was not read has not.
    pub fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Chunk>> {
        let buffer = spare;
        let mut len = self.rest.len();
        if self.supply.ended && len == 0 {
            return Ok(None);
        }
        // The longest allowed line and its LF.
        let most = if self.sizes.in_parts { usize::MAX } else { self.sizes.line + 1 };
        // What is cleared already may be used.
        let at_least = self.chunk.max(buffer.len().min(self.sizes.chunk));
        let mut wanted = at_least.max(len * 2).min(most);
        self.chunk = self.sizes.chunk;
        lengthen(buffer, wanted)?;
        buffer[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        let mut searched = 0;
        loop {
            let whole_lines = |brought: &[u8]| self.sizes.eager && memchr(b'\n', brought).is_some();
            self.supply.fill(&mut buffer[..wanted], &mut len, whole_lines);
            let line_end = if self.in_long_line {
                memchr(b'\n', &buffer[..len]).map(|lf| lf + 1)
            } else if self.supply.ended {
                Some(len)
            } else {
                last_end(&buffer[searched..len]).map(|end| searched + end)
            };
            if let Some(error) = self.supply.failed.take_if(|_| line_end.is_none()) {
                return Err(error);
            }
            if self.in_long_line {
                self.in_long_line = line_end.is_none() && !self.supply.ended;
                let bytes = self.give(std::mem::take(buffer), len, line_end.unwrap_or(len));
                return Ok(Some(Chunk::Long { bytes, end: !self.in_long_line }));
            }
            if let Some(end) = line_end {
                return Ok((end > 0).then(|| Chunk::Lines(self.give(std::mem::take(buffer), len, end))));
            }
            if !self.sizes.in_parts && len == most {
                return Err(self.too_long());
            }
            if self.sizes.in_parts && len >= self.sizes.line {
                self.in_long_line = true;
                let bytes = self.give(std::mem::take(buffer), len, len);
                return Ok(Some(Chunk::Long { bytes, end: false }));
            }
            searched = len;
            wanted = (wanted * 2).min(most);
            lengthen(buffer, wanted)?;
        }
    }

    fn too_long(&self) -> io::Error {
        let (start, most) = (self.offset, self.sizes.line >> 20);
        let sentence = format!(
            "the line that begins at byte {start} is too long: lines of up to {most} MiB are held whole"
        );
        io::Error::new(io::ErrorKind::InvalidData, sentence)
    }

    /// Gives out the first `end` of `len` bytes, and keeps the rest.
    fn give(&mut self, buffer: Vec<u8>, len: usize, end: usize) -> ChunkBytes {
        self.rest.extend(&buffer[end..len]);
        let offset = self.offset;
        self.offset += end as u64;
        ChunkBytes::new(offset, buffer, end)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::byte_range::Span;
    use crate::object::Seekable;
    use crate::slow_source::Slow;

    /// The lines of all chunks, with the parts of long lines joined.
    fn lines(mut chunks: Chunks<impl Read>) -> Vec<Vec<u8>> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut long = Vec::new();
        let mut at = None;
        while let Some(chunk) = chunks.next(&mut Vec::new()).unwrap() {
            let (Chunk::Lines(bytes) | Chunk::Long { bytes, .. }) = &chunk;
            assert_eq!(*at.get_or_insert(bytes.offset), bytes.offset, "offsets go on without a gap");
            at = Some(bytes.offset + bytes.get().len() as u64);
            match chunk {
                Chunk::Lines(bytes) => {
                    lines.extend(bytes.get().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec));
                }
                Chunk::Long { bytes, end } => {
                    long.extend(bytes.get());
                    if end {
                        lines.push(std::mem::take(&mut long));
                    }
                }
            }
        }
        assert!(long.is_empty());
        lines
    }

    const TEXTS: [&[u8]; 9] = [
        b"",
        b"\n",
        b"a",
        b"a\nbb\n\nccc",
        b"\n\n\n\n\n\n\n",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\nb\n",
        b"b\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        b"b\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n",
        b"aaaaaaaaaaaaaaaaaaaaaaaaaaa\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n\r\nc\n",
    ];

    #[test]
    fn chunks_hold_each_line_once() {
        for text in TEXTS {
            let expected: Vec<_> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            for chunk in 1..9 {
                for line in [3, 8, 100] {
                    for step in [1, 2, 7, 100] {
                        for eager in [false, true] {
                            let sizes = Sizes { chunk, line, in_parts: true, eager };
                            assert_eq!(
                                lines(Chunks::new(Slow(text, step), 0, sizes)),
                                expected,
                                "{sizes:?} {step}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn shards_hold_each_line_once() {
        for text in TEXTS {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(text).unwrap();
            let file = Seekable::from(file);
            let len = text.len() as u64;
            let expected: Vec<_> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            for first in 0..=len {
                for second in first..=len {
                    let mut found = Vec::new();
                    for (start, end) in [(0, first), (first, second), (second, len)] {
                        if start == end {
                            continue;
                        }
                        let bytes = Span::of_file(&file, len, &(start..end)).unwrap();
                        let offset = bytes.offset();
                        found.extend(lines(Chunks::new(
                            bytes,
                            offset,
                            Sizes { chunk: 4, line: 6, in_parts: true, eager: false },
                        )));
                    }
                    assert_eq!(found, expected, "cut at {first} and {second}");
                }
            }
        }
    }

    /// How many bytes come before the end or an error, and the error.
    fn read_on(mut chunks: Chunks<impl Read>) -> (usize, Option<String>) {
        let mut read = 0;
        loop {
            match chunks.next(&mut Vec::new()) {
                Ok(Some(chunk)) => read += chunk.into_bytes().get().len(),
                Ok(None) => return (read, None),
                Err(error) => return (read, Some(error.to_string())),
            }
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_an_error_where_lines_are_needed_whole() {
        let line = 16;
        for before in [0, 1, 2, 3, 7, 15, 16] {
            for len in [15, 16, 17, 40] {
                for end in [&b"\n"[..], b"\nc\n", b""] {
                    let text = [&[b'a'].repeat(before), &b"\n"[..], &[b'b'].repeat(len), end].concat();
                    let place = format!("the line that begins at byte {} is too long", 7 + before + 1);
                    let expected = if len > line { before + 1 } else { text.len() };
                    for chunk in [1, 3, 8, 17, 100] {
                        for (step, eager) in
                            [1, 5, 16, 100].into_iter().flat_map(|step| [(step, false), (step, true)])
                        {
                            let sizes = Sizes { chunk, line, in_parts: false, eager };
                            let (read, error) = read_on(Chunks::new(Slow(&text, step), 7, sizes));
                            assert_eq!(read, expected, "{before} {len} {sizes:?} {step} {error:?}");
                            assert_eq!(error.is_some_and(|error| error.starts_with(&place)), len > line);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"a\nb\n").unwrap();
        let file = Seekable::from(file);
        let bytes = Span::of_file(&file, 10, &(0..10)).unwrap();
        let mut chunks = Chunks::new(bytes, 0, Sizes { chunk: 100, line: 100, in_parts: true, eager: false });
        assert!(
            matches!(chunks.next(&mut Vec::new()), Ok(Some(Chunk::Lines(bytes))) if bytes.get() == b"a\nb\n")
        );
        assert_eq!(chunks.next(&mut Vec::new()).err().unwrap().kind(), io::ErrorKind::UnexpectedEof);
    }
}
