//! Reads the lines that begin in a range of bytes, of a file or of a stream that has to be read from its start.
//!
//! This module knows offsets and line ends, and not what a line contains.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use memchr::memchr;

use crate::object::{Seekable, became_shorter};

/// The lines whose first byte is in a range. Adjoining ranges give each line once.
///
/// Bytes before the range are read and dropped. After the end of the last line, at most one buffer more is read.
pub struct Span<R> {
    /// The bytes of the source from offset `at` on.
    source: BufReader<R>,
    at: u64,
    /// End of the range.
    end: u64,
    last: u8,
    source_end: Arc<OnceLock<u64>>,
}

/// Bytes read at a time, unless the reader asks for more. So many are also read first behind the range: most lines end soon after it. A line that does
/// not may be very long, and is read in larger steps.
const BUFFER: usize = 64 << 10;

impl<'a> Span<FileBytes<'a>> {
    /// The lines of a file that begin in `range`. `len` is the length of the file when the scan began.
    ///
    /// # Errors
    /// When the file cannot be read, or has become shorter.
    pub fn of_file(file: &'a Seekable, len: u64, range: &Range<u64>) -> io::Result<Self> {
        let at = range.start.saturating_sub(1);
        Self::from_offset(FileBytes { file, len, at }, at, range)
    }
}

impl<R: Read> Span<R> {
    /// The lines of `source` that begin in `range`.
    ///
    /// # Errors
    /// When the source cannot be read up to the first of these lines.
    pub fn new(source: R, range: &Range<u64>) -> io::Result<Self> {
        Self::from_offset(source, 0, range)
    }

    /// The same if the source begins at offset `at`, which is 0 or before the range.
    fn from_offset(source: R, at: u64, range: &Range<u64>) -> io::Result<Self> {
        let source = BufReader::with_capacity(BUFFER, source);
        let mut span = Self { source, at, end: range.end, last: b'\n', source_end: Arc::default() };
        if range.is_empty() {
            // An empty range has no lines.
            span.end = 0;
        } else if range.start > 0 {
            // A line begins after an LF. The first LF that matters may be the last byte before the range.
            let mut before = span.source.by_ref().take(range.start - 1 - at);
            span.at += io::copy(&mut before, &mut io::sink())?;
            span.at += span.source.by_ref().take(range.end - span.at).skip_until(b'\n')? as u64;
        }
        Ok(span)
    }

    /// Offset of the next byte that is given out.
    pub fn offset(&self) -> u64 {
        self.at
    }

    /// The offset at which the source ends, once that has been seen. It can be queried while the lines are read.
    pub fn source_end(&self) -> Arc<OnceLock<u64>> {
        Arc::clone(&self.source_end)
    }
}

impl<R: Read> Read for Span<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let is_inside = self.at < self.end;
        if buffer.is_empty() || (!is_inside && self.last == b'\n') {
            return Ok(0);
        }
        let most = match is_inside {
            true => self.end - self.at,
            false if self.at - self.end < BUFFER as u64 => BUFFER as u64,
            false => u64::MAX,
        };
        let room = buffer.len().min(usize::try_from(most).unwrap_or(usize::MAX));
        let mut n = self.source.read(&mut buffer[..room])?;
        if n == 0 {
            let _ = self.source_end.set(self.at);
        }
        if !is_inside {
            // Nothing is read behind the end of the last line.
            n = memchr(b'\n', &buffer[..n]).map_or(n, |lf| lf + 1);
        }
        self.at += n as u64;
        self.last = if n > 0 { buffer[n - 1] } else { self.last };
        Ok(n)
    }
}

/// The bytes of a file from an offset on.
pub struct FileBytes<'a> {
    file: &'a Seekable,
    /// The length that it had.
    len: u64,
    at: u64,
}

impl Read for FileBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.len - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let n = self.file.read_at(&mut buffer[..wanted], self.at)?;
        if n == 0 && wanted > 0 {
            return Err(became_shorter());
        }
        self.at += n as u64;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slow_source::Slow;

    #[test]
    fn adjoining_ranges_hold_each_line_once() {
        for text in [
            &b""[..],
            b"\n",
            b"a",
            b"a\n",
            b"a\nbb\r\n\r\nccc",
            b"\n\n\n\n",
            b"aaaaaaaaaa\nb",
            b"b\naaaaaaaaaa\n",
        ] {
            let len = text.len() as u64;
            for step in [1, 2, 5, 100] {
                for first in 0..=len + 1 {
                    for second in first..=len + 2 {
                        let mut found = Vec::new();
                        for range in [0..first, first..second, second..u64::MAX] {
                            let mut span = Span::new(Slow(text, step), &range).unwrap();
                            let offset = usize::try_from(span.offset()).unwrap();
                            let mut lines = Vec::new();
                            span.read_to_end(&mut lines).unwrap();
                            assert!(text[offset..].starts_with(&lines), "{text:?} {range:?}");
                            assert!(lines.is_empty() || range.contains(&(offset as u64)));
                            assert!(span.source_end().get().is_none_or(|end| *end == len));
                            found.extend(lines);
                        }
                        assert_eq!(found, text, "cut at {first} and {second}");
                    }
                }
            }
        }
    }
}
