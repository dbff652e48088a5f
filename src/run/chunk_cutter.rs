//! Inputs in pieces that can be worked on anywhere: whole lines of a list, or whole records with a reader that stands before them.

use std::io::{self, Read};

use memchr::memchr;

use crate::input::{Bytes, Piece, Pieces, Sizes, Supply};
use crate::records::{Format, Reader};
use crate::run::format_choice::{Reading, Source};

/// What gives an input in pieces, from its start on.
pub(crate) trait Cut {
    type Piece;

    /// The next piece, in the memory of `spare`, which is left empty; `None` at the end.
    ///
    /// # Errors
    /// When the input cannot be read on. All that was whole before that has been given out.
    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Self::Piece>>;
}

impl<R: Read> Cut for Pieces<R> {
    type Piece = Piece;

    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<Piece>> {
        Self::next(self, spare)
    }
}

/// Whole records.
pub(crate) struct RecordPiece {
    pub(crate) bytes: Bytes,
    /// Stands where they begin.
    pub(crate) reader: Box<Reader>,
    /// Whether it is known that the input ends here.
    pub(crate) is_last: bool,
    /// Whether the last of them was too long to be held, and goes on in the next piece.
    pub(crate) is_open: bool,
}

/// Cuts a source at record ends.
pub(crate) struct RecordPieces<R> {
    supply: Supply<R>,
    /// Stands where the next piece begins.
    reader: Reader,
    sizes: Sizes,
    /// Bytes read and not given out: the beginning of a record.
    rest: Vec<u8>,
}

/// Up to here it costs little to look again and again whether a record has ended.
const LOOKED_AT_AGAIN: usize = 64 << 10;

impl<R: Read> RecordPieces<R> {
    /// The pieces of `source`, as `reader` reads it from where it stands. They are none longer than twice the longest record, whatever
    /// the length of a line in `sizes`.
    pub(crate) fn new(source: R, reader: Reader, sizes: Sizes) -> Self {
        Self { supply: Supply::new(source), reader, sizes, rest: Vec::new() }
    }

    /// Why the source has not been read to its end, or its last record not.
    fn failure(&mut self) -> io::Result<()> {
        if let Some(error) = self.supply.failed.take() {
            return Err(error);
        }
        match self.reader.missing() {
            0 => Ok(()),
            missing => Err(io::Error::new(
                io::ErrorKind::UnexpectedEof,
                format!("ends inside a record, of which {missing} bytes are missing"),
            )),
        }
    }
}

impl<R: Read> Cut for RecordPieces<R> {
    type Piece = RecordPiece;

    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<RecordPiece>> {
        let buffer = spare;
        let mut len = self.rest.len();
        let mut wanted = self.sizes.piece.max(len * 2);
        buffer.resize(wanted.max(buffer.len()), 0);
        buffer[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        let mut enough = 0;
        loop {
            let whole_lines = |brought: &[u8]| self.sizes.eager && memchr(b'\n', brought).is_some();
            self.supply.fill(&mut buffer[..wanted], &mut len, whole_lines);
            let is_over = self.supply.ended || self.supply.failed.is_some();
            if len < enough.min(wanted) && !is_over {
                continue;
            }
            let reader = Box::new(self.reader.clone());
            let end = self.reader.cut(&buffer[..len], self.supply.ended);
            if end > 0 {
                self.rest.extend_from_slice(&buffer[end..len]);
                let is_open = self.reader.is_inside_line();
                let bytes = Bytes::new(reader.offset(), std::mem::take(buffer), end);
                let is_last = self.supply.ended && end == len;
                return Ok(Some(RecordPiece { bytes, reader, is_last, is_open }));
            }
            if is_over {
                return self.failure().map(|()| None);
            }
            if len == wanted {
                wanted *= 2;
                buffer.resize(wanted.max(buffer.len()), 0);
            }
            // What cuts looks at a record from its start on: not at each read of a long one.
            enough = if len < LOOKED_AT_AGAIN { len + 1 } else { len + len / 4 };
        }
    }
}

/// What comes next of an input that may be either.
pub(crate) enum AnyPiece {
    Lines(Piece),
    Records(RecordPiece),
}

/// Cuts a source that is a list or has records.
pub(crate) enum AnyPieces<R> {
    Lines(Pieces<R>),
    Records(Box<RecordPieces<R>>),
}

impl<'a> AnyPieces<Source<'a>> {
    /// The pieces of `source`, which begins an input.
    ///
    /// # Errors
    /// When its format cannot have the fields that are asked for.
    pub(crate) fn open(source: Source<'a>, reading: &Reading, sizes: Sizes) -> io::Result<Self> {
        let (reader, source) = reading.open(source)?;
        Ok(Self::new(source, reader, sizes))
    }
}

impl<R: Read> AnyPieces<R> {
    /// The pieces of `source`, which `reader` reads from where it stands.
    pub(crate) fn new(source: R, reader: Reader, sizes: Sizes) -> Self {
        match reader.format() {
            Format::Lines => Self::Lines(Pieces::new(source, reader.offset(), sizes)),
            _ => Self::Records(Box::new(RecordPieces::new(source, reader, sizes))),
        }
    }

    /// What the input was taken for.
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Lines(_) => Format::Lines,
            Self::Records(pieces) => pieces.reader.format(),
        }
    }
}

impl<R: Read> Cut for AnyPieces<R> {
    type Piece = AnyPiece;

    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<AnyPiece>> {
        Ok(match self {
            Self::Lines(pieces) => pieces.next(spare)?.map(AnyPiece::Lines),
            Self::Records(pieces) => pieces.next(spare)?.map(AnyPiece::Records),
        })
    }
}
