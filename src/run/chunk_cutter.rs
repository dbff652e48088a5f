//! Cuts inputs into chunks that any thread can process. A chunk has whole lines of a list, whole records and a reader at their
//! start, or values of a table.

use std::io;

use memchr::memchr;

use crate::run::format_choice::{Reading, Source, TextSigns};
#[cfg(feature = "parquet")]
use crate::run::parquet::TableChunks;
use crate::scan::record_fields::Records;
use urlsift_input::memory::lengthen;
use urlsift_input::{Chunk, ChunkBytes, Chunks, Sizes, Supply};
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Batch;
use urlsift_records::{Format, Reader};

/// A chunk of whole records.
pub(crate) struct RecordChunk {
    pub(crate) bytes: ChunkBytes,
    /// A reader at the start of the records.
    pub(crate) reader: Box<Reader>,
    /// Whether the input is known to end here.
    pub(crate) is_last: bool,
    /// Whether the last record was too long to be held, and continues in the next chunk.
    pub(crate) is_open: bool,
}

/// Cuts a source at record ends.
pub(crate) struct RecordChunks<'a> {
    supply: Supply<Source<'a>>,
    /// A reader at the start of the next chunk.
    reader: Reader,
    sizes: Sizes,
    /// Bytes that were read and not given out: the beginning of a record.
    rest: Vec<u8>,
}

/// Up to this length, it costs little to check after each read whether a record has ended.
const LOOKED_AT_AGAIN: usize = 64 << 10;

impl<'a> RecordChunks<'a> {
    /// The chunks of `source`, from the position of `reader`. No chunk is longer than twice the longest record, whatever
    /// the longest line in `sizes` is.
    fn new(source: Source<'a>, reader: Reader, sizes: Sizes) -> Self {
        Self { supply: Supply::new(source), reader, sizes, rest: Vec::new() }
    }

    /// The error that kept the source, or its last record, from being read to the end.
    fn failure(&mut self) -> io::Result<()> {
        if let Some(error) = self.supply.failed.take() {
            return Err(error);
        }
        let complaint = self.reader.complaint();
        complaint.map_or(Ok(()), |complaint| Err(io::Error::new(io::ErrorKind::UnexpectedEof, complaint)))
    }

    fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<RecordChunk>> {
        let buffer = spare;
        let mut len = self.rest.len();
        let mut wanted = self.sizes.chunk.max(len * 2);
        lengthen(buffer, wanted)?;
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
            let mut reader = Box::new(self.reader.clone());
            let end = self.reader.cut(&buffer[..len], self.supply.ended);
            if end > 0 {
                reader.take_known(&mut self.reader);
                self.rest.extend_from_slice(&buffer[end..len]);
                let is_open = self.reader.is_inside_record();
                let bytes = ChunkBytes::new(reader.offset(), std::mem::take(buffer), end);
                let is_last = self.supply.ended && end == len;
                return Ok(Some(RecordChunk { bytes, reader, is_last, is_open }));
            }
            if is_over {
                return self.failure().map(|()| None);
            }
            if len == wanted {
                wanted *= 2;
                lengthen(buffer, wanted)?;
            }
            // `cut` reads a record from its start, so it is not called after each read of a long record.
            enough = if len < LOOKED_AT_AGAIN { len + 1 } else { len + len / 4 };
        }
    }
}

/// A chunk of an input of any format.
pub(crate) enum AnyChunk {
    Lines(Chunk),
    Records(RecordChunk),
    /// Values of a Parquet file.
    #[cfg(feature = "parquet")]
    Table(ChunkBytes, Box<Batch>),
}

/// Cuts an input of any format into chunks.
pub(crate) enum AnyChunks<'a> {
    Lines(Chunks<Source<'a>>),
    Records(Box<RecordChunks<'a>>),
    #[cfg(feature = "parquet")]
    Table(Box<TableChunks<'a>>),
}

impl<'a> AnyChunks<'a> {
    /// The chunks of `source`, which is at the start of an input of this name, and its signs.
    ///
    /// # Errors
    /// When the contents of the source are not read, or its format cannot have the requested fields.
    pub(crate) fn open(
        source: Source<'a>,
        name: &str,
        reading: &Reading,
        sizes: Sizes,
    ) -> io::Result<(Self, TextSigns)> {
        let (reader, source, signs) = reading.open(source, name)?;
        Ok((Self::new(source, reader, sizes), signs))
    }

    /// The chunks of `source`, from the position of `reader`.
    pub(crate) fn new(source: Source<'a>, reader: Reader, sizes: Sizes) -> Self {
        match reader.format() {
            Format::Lines => Self::Lines(Chunks::new(source, reader.offset(), sizes)),
            _ => Self::Records(Box::new(RecordChunks::new(source, reader, sizes))),
        }
    }

    /// The format of the input, as given or detected.
    pub(crate) fn format(&self) -> Format {
        match self {
            Self::Lines(_) => Format::Lines,
            Self::Records(chunks) => chunks.reader.format(),
            #[cfg(feature = "parquet")]
            Self::Table(_) => Format::Parquet,
        }
    }

    /// The reader of the next chunk; `None` if the input is a list or a table.
    pub(crate) fn reader(&self) -> Option<&Reader> {
        if let Self::Records(chunks) = self { Some(&chunks.reader) } else { None }
    }

    /// The next chunk, or `None` at the end. It takes over the buffer of `spare` and leaves `spare` empty.
    ///
    /// # Errors
    /// When the input cannot be read further. Whole lines and records before that have been given out.
    pub(crate) fn next(&mut self, spare: &mut Vec<u8>) -> io::Result<Option<AnyChunk>> {
        Ok(match self {
            Self::Lines(chunks) => chunks.next(spare)?.map(AnyChunk::Lines),
            Self::Records(chunks) => chunks.next(spare)?.map(AnyChunk::Records),
            #[cfg(feature = "parquet")]
            Self::Table(chunks) => chunks.next(spare)?.map(|(bytes, values)| AnyChunk::Table(bytes, values)),
        })
    }

    /// What is known of the records given out so far, and is in no chunk.
    pub(crate) fn records(&self) -> Option<Records> {
        match self {
            #[cfg(feature = "parquet")]
            Self::Table(chunks) => Some(chunks.records()),
            Self::Lines(_) | Self::Records(_) => None,
        }
    }
}
