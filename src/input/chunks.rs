//! Bytes to pieces of whole lines, whatever the reads return.
//!
//! A line longer than a piece makes the piece grow, up to a limit; beyond that the line comes in parts, or is an error, so that no
//! input needs unbounded memory.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;

use memchr::memchr;

use crate::lines::last_end;

/// A run of bytes read from an input.
#[derive(Default)]
pub(crate) struct Bytes {
    /// Where it begins in the input.
    pub(crate) offset: u64,
    buffer: Vec<u8>,
    len: usize,
}

impl Bytes {
    /// The first `len` bytes of `buffer`.
    pub(crate) fn new(offset: u64, buffer: Vec<u8>, len: usize) -> Self {
        Self { offset, buffer, len }
    }

    /// The bytes.
    pub(crate) fn get(&self) -> &[u8] {
        &self.buffer[..self.len]
    }

    /// Copies `range` to where `to` says, which is not behind it; where the copy ends.
    pub(crate) fn pull(&mut self, range: Range<usize>, to: usize) -> usize {
        let end = to + range.len();
        if range.start != to {
            self.buffer.copy_within(range, to);
        }
        end
    }

    /// Keeps the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// The memory, to be used for another piece.
    pub(crate) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }
}

/// What comes next of an input.
pub(crate) enum Piece {
    /// Whole lines; only the last of the input may lack its LF.
    Lines(Bytes),
    /// A part of a line that is too long to be held.
    Long {
        /// The next bytes of the line; its LF is the last.
        bytes: Bytes,
        /// Whether this is the last part.
        end: bool,
    },
}

impl Piece {
    /// Its bytes, whatever they are.
    pub(crate) fn into_bytes(self) -> Bytes {
        let (Self::Lines(bytes) | Self::Long { bytes, .. }) = self;
        bytes
    }
}

/// Sizes of what is read. Any sizes give the same report.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    /// How many bytes a piece has while its lines are no longer.
    pub(crate) piece: usize,
    /// The longest line that is held, in bytes; at least 3, the length of a byte order mark.
    pub(crate) line: usize,
    /// Whether a longer line comes in parts, instead of being an error.
    pub(crate) in_parts: bool,
    /// Whether whole lines are given out as soon as a read has brought some, instead of when the piece is full.
    pub(crate) eager: bool,
}

/// The longest line of whoever needs lines whole, in bytes.
const WHOLE_LINE: usize = 64 << 20;

impl Sizes {
    /// For whoever needs lines whole, and soon: what is longer than 64 MiB is an error, so that no input takes all memory.
    pub(crate) fn of_whole_lines(piece: usize) -> Self {
        Self { piece, line: WHOLE_LINE, in_parts: false, eager: true }
    }
}

/// A source, and what reading it has come to.
pub(crate) struct Supply<R> {
    source: R,
    pub(crate) ended: bool,
    pub(crate) failed: Option<io::Error>,
}

impl<R: Read> Supply<R> {
    pub(crate) fn new(source: R) -> Self {
        Self { source, ended: false, failed: None }
    }

    /// Reads behind the first `len` bytes of `buffer` until it is full, the source has ended or failed, or what a read has brought
    /// is `enough`.
    pub(crate) fn fill(&mut self, buffer: &mut [u8], len: &mut usize, enough: impl Fn(&[u8]) -> bool) {
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

/// Reads a source in pieces.
pub(crate) struct Pieces<R> {
    supply: Supply<R>,
    sizes: Sizes,
    /// Where the first byte that has not been given out stands.
    offset: u64,
    /// Bytes read and not given out: the beginning of a line.
    rest: Vec<u8>,
    in_long_line: bool,
}

impl<R: Read> Pieces<R> {
    /// The pieces of `source`, whose first byte stands at `offset` and begins a line.
    pub(crate) fn new(source: R, offset: u64, sizes: Sizes) -> Self {
        Self { supply: Supply::new(source), sizes, offset, rest: Vec::new(), in_long_line: false }
    }

    /// The next piece, in the memory of `spare`, which is left empty; `None` at the end.
    ///
    /// # Errors
    /// When the source cannot be read on, or has a line that is too long. All whole lines before that have been given out; a line that
    /// was not read to its end has not.
    pub(crate) fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        let buffer = spare;
        let mut len = self.rest.len();
        // A line that is just not too long, and its LF.
        let most = if self.sizes.in_parts { usize::MAX } else { self.sizes.line + 1 };
        let mut wanted = self.sizes.piece.max(len * 2).min(most);
        if buffer.len() < wanted {
            buffer.resize(wanted, 0);
        }
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
                return Ok(Some(Piece::Long { bytes, end: !self.in_long_line }));
            }
            if let Some(end) = line_end {
                return Ok((end > 0).then(|| Piece::Lines(self.give(std::mem::take(buffer), len, end))));
            }
            if !self.sizes.in_parts && len == most {
                return Err(self.too_long());
            }
            if self.sizes.in_parts && len >= self.sizes.line {
                self.in_long_line = true;
                return Ok(Some(Piece::Long {
                    bytes: self.give(std::mem::take(buffer), len, len),
                    end: false,
                }));
            }
            searched = len;
            wanted = (wanted * 2).min(most);
            buffer.resize(wanted.max(buffer.len()), 0);
        }
    }

    fn too_long(&self) -> io::Error {
        let (start, most) = (self.offset, self.sizes.line >> 20);
        let sentence = format!(
            "the line that begins at byte {start} is too long: lines of up to {most} MiB are held whole"
        );
        io::Error::new(io::ErrorKind::InvalidData, sentence)
    }

    /// Gives out the first `end` of `len` bytes, and keeps the others.
    fn give(&mut self, buffer: Vec<u8>, len: usize, end: usize) -> Bytes {
        self.rest.extend(&buffer[end..len]);
        let offset = self.offset;
        self.offset += end as u64;
        Bytes::new(offset, buffer, end)
    }
}

/// The bytes of all lines of a file whose first byte lies in a range: adjoining ranges give each line once.
pub(crate) struct ShardBytes<'a> {
    file: &'a File,
    file_len: u64,
    end: u64,
    at: u64,
    last: u8,
}

/// How much is read at once where the end of a line is looked for outside the range.
const LOOK: usize = 4096;

impl<'a> ShardBytes<'a> {
    /// The lines whose first byte lies from `start` up to `end`, in a file that was `file_len` bytes long when the scan
    /// began; `None` if there is none.
    ///
    /// # Errors
    /// When the file cannot be read, or has become shorter.
    pub(crate) fn new(file: &'a File, start: u64, end: u64, file_len: u64) -> io::Result<Option<Self>> {
        let mut bytes = Self { file, file_len, end, at: start.saturating_sub(1), last: b'\n' };
        if start == 0 {
            return Ok(Some(bytes));
        }
        // A line begins behind an LF; the first one that counts here may stand just before the range.
        let mut look = [0; LOOK];
        while bytes.at + 1 < end {
            let wanted = look.len().min(usize::try_from(end - 1 - bytes.at).unwrap_or(LOOK));
            let n = bytes.read_some(&mut look[..wanted])?;
            if let Some(lf) = memchr(b'\n', &look[..n]) {
                bytes.at += lf as u64 + 1;
                return Ok(Some(bytes));
            }
            bytes.at += n as u64;
        }
        Ok(None)
    }

    /// Where the next byte stands.
    pub(crate) fn offset(&self) -> u64 {
        self.at
    }

    fn read_some(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.file_len - self.at).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        loop {
            match read_at(self.file, &mut buffer[..wanted], self.at) {
                Ok(0) if wanted > 0 => {
                    return Err(io::Error::new(
                        io::ErrorKind::UnexpectedEof,
                        "the file became shorter while it was read",
                    ));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }
}

impl Read for ShardBytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut n;
        if self.at < self.end {
            let wanted = buffer.len().min(usize::try_from(self.end - self.at).unwrap_or(usize::MAX));
            n = self.read_some(&mut buffer[..wanted])?;
        } else if self.last == b'\n' {
            return Ok(0);
        } else {
            // Most lines end soon; one that does not may be very long.
            let wanted = if self.at < self.end + LOOK as u64 { buffer.len().min(LOOK) } else { buffer.len() };
            n = self.read_some(&mut buffer[..wanted])?;
            n = memchr(b'\n', &buffer[..n]).map_or(n, |lf| lf + 1);
        }
        self.at += n as u64;
        self.last = if n > 0 { buffer[n - 1] } else { self.last };
        Ok(n)
    }
}

/// Reads what a file has at `offset`, as much as it gives at a time.
#[cfg(unix)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
pub(crate) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::input::slow::Slow;

    /// The lines that come out, long ones put together again.
    fn lines(mut pieces: Pieces<impl Read>) -> Vec<Vec<u8>> {
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut long = Vec::new();
        let mut at = None;
        while let Some(piece) = pieces.next(&mut Vec::new()).unwrap() {
            let (Piece::Lines(bytes) | Piece::Long { bytes, .. }) = &piece;
            assert_eq!(*at.get_or_insert(bytes.offset), bytes.offset, "offsets go on without a gap");
            at = Some(bytes.offset + bytes.get().len() as u64);
            match piece {
                Piece::Lines(bytes) => {
                    lines.extend(bytes.get().split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec));
                }
                Piece::Long { bytes, end } => {
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
    fn pieces_hold_each_line_once() {
        for text in TEXTS {
            let expected: Vec<_> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            for piece in 1..9 {
                for line in [3, 8, 100] {
                    for step in [1, 2, 7, 100] {
                        for eager in [false, true] {
                            let sizes = Sizes { piece, line, in_parts: true, eager };
                            assert_eq!(
                                lines(Pieces::new(Slow(text, step), 0, sizes)),
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
            let len = text.len() as u64;
            let expected: Vec<_> = text.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
            for first in 0..=len {
                for second in first..=len {
                    let mut found = Vec::new();
                    for (start, end) in [(0, first), (first, second), (second, len)] {
                        if start == end {
                            continue;
                        }
                        if let Some(bytes) = ShardBytes::new(&file, start, end, len).unwrap() {
                            let offset = bytes.offset();
                            found.extend(lines(Pieces::new(
                                bytes,
                                offset,
                                Sizes { piece: 4, line: 6, in_parts: true, eager: false },
                            )));
                        }
                    }
                    assert_eq!(found, expected, "cut at {first} and {second}");
                }
            }
        }
    }

    /// How many bytes come before the end or an error, and which.
    fn read_on(mut pieces: Pieces<impl Read>) -> (usize, Option<String>) {
        let mut read = 0;
        loop {
            match pieces.next(&mut Vec::new()) {
                Ok(Some(piece)) => read += piece.into_bytes().get().len(),
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
                    for piece in [1, 3, 8, 17, 100] {
                        for (step, eager) in
                            [1, 5, 16, 100].into_iter().flat_map(|step| [(step, false), (step, true)])
                        {
                            let sizes = Sizes { piece, line, in_parts: false, eager };
                            let (read, error) = read_on(Pieces::new(Slow(&text, step), 7, sizes));
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
        let bytes = ShardBytes::new(&file, 0, 10, 10).unwrap().unwrap();
        let mut pieces = Pieces::new(bytes, 0, Sizes { piece: 100, line: 100, in_parts: true, eager: false });
        assert!(
            matches!(pieces.next(&mut Vec::new()), Ok(Some(Piece::Lines(bytes))) if bytes.get() == b"a\nb\n")
        );
        assert_eq!(pieces.next(&mut Vec::new()).err().unwrap().kind(), io::ErrorKind::UnexpectedEof);
    }
}
