//! Reads the pages of a column chunk one by one, decompresses them, and checks them before `parquet` sees them.
//!
//! A page is the unit of memory. It is read whole, and a page longer than [`MAX_LEN`] is refused. A column chunk ends when it has
//! as many values as the footer says. Headers and decompression are our own code: `parquet` 60.1 skips lists in a header for as
//! long as the header says, and decompresses gzip and brotli without a limit.

use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parquet::basic::{Encoding, Type};
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;

use super::delta;
use super::error::{TableError, TableErrorKind};
use super::footer::{Column, ColumnChunk};
use super::thrift::{Broken, Value, fields, struct_len};
use super::unpack::Packing;
use crate::input::read_at;
use crate::progress::{Stopped, Watch};

/// The longest page that is read, in bytes, compressed or not. Writers make pages of a mebibyte, some of up to a hundred.
pub(super) const MAX_LEN: usize = 128 << 20;

/// The longest page that is read ahead, in bytes.
const AHEAD_LEN: usize = 8 << 20;

/// The longest header that is read, in bytes. It may contain the smallest and the largest value of the page.
const MAX_HEADER_LEN: usize = 16 << 20;

/// How many bytes are read first to find a header.
const HEADER_LEN: usize = 512;

/// The most values of a dictionary. `parquet` takes 32 bytes for each of them.
const MAX_DICTIONARY: u64 = 1 << 22;

/// The most values and nulls in a page of lists. `parquet` reads all values that a row has in a page at once.
const MAX_LIST_LEVELS: u64 = 1 << 22;

/// A file that is read at any position. Reading fails once `watch` is stopped.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: File,
    pub(super) len: u64,
    pub(super) watch: Option<Watch>,
}

impl Source {
    /// Returns an error once the watch is stopped.
    pub(super) fn go_on(&self) -> io::Result<()> {
        if self.watch.as_ref().is_some_and(Watch::is_stopped) { Err(Stopped.into()) } else { Ok(()) }
    }

    /// Reads `len` bytes from `offset` on. Returns `None` if the file ends before.
    pub(super) fn read(&self, offset: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
        self.go_on()?;
        if offset.checked_add(len as u64).is_none_or(|end| end > self.len) {
            return Ok(None);
        }
        let mut bytes = vec![0; len];
        let mut n = 0;
        while n < len {
            match read_at(&self.file, &mut bytes[n..], offset + n as u64) {
                // The file has become shorter since it was opened.
                Ok(0) => return Ok(None),
                Ok(more) => n += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if let Some(watch) = &self.watch {
            watch.read(len);
        }
        Ok(Some(bytes))
    }
}

/// The header of a page of values or of a dictionary. Numbers that the file omits are 0.
#[derive(Default)]
struct Header {
    kind: i64,
    unpacked_len: u64,
    packed_len: u64,
    /// The CRC-32 of the page as stored in the file, if its writer computed one.
    checksum: Option<i64>,
    n_values: u64,
    encoding: i64,
    /// The encodings of repetition and definition levels, in a page of version 1.
    level_encodings: [i64; 2],
    /// The lengths of repetition and definition levels, in a page of version 2. There they precede the compressed data.
    levels_len: [u64; 2],
    is_unpacked: bool,
}

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

impl Header {
    /// Reads the header at the start of `bytes`. Returns `None` if it does not describe its page.
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut header = Self { kind: -1, ..Self::default() };
        let count = |n| u64::try_from(n).ok();
        let mut parts = [None; 9];
        for (number, value) in fields(bytes) {
            match (number, value) {
                (1, Value::Integer(kind)) => header.kind = kind,
                (2, Value::Integer(len)) => header.unpacked_len = count(len)?,
                (3, Value::Integer(len)) => header.packed_len = count(len)?,
                (4, Value::Integer(checksum)) => header.checksum = Some(checksum),
                (5 | 7 | 8, Value::Struct(part)) => parts[usize::try_from(number).ok()?] = Some(part),
                _ => {}
            }
        }
        let part = match header.kind {
            DATA => parts[5]?,
            DICTIONARY => parts[7]?,
            DATA_V2 => parts[8]?,
            -1 => return None,
            _ => return Some(header),
        };
        for (number, value) in fields(part) {
            match (header.kind, number, value) {
                (_, 1, Value::Integer(n)) => header.n_values = count(n)?,
                (DATA | DICTIONARY, 2, Value::Integer(n)) | (DATA_V2, 4, Value::Integer(n)) => {
                    header.encoding = n;
                }
                (DATA, 3, Value::Integer(n)) => header.level_encodings[1] = n,
                (DATA, 4, Value::Integer(n)) => header.level_encodings[0] = n,
                (DATA_V2, 5, Value::Integer(n)) => header.levels_len[1] = count(n)?,
                (DATA_V2, 6, Value::Integer(n)) => header.levels_len[0] = count(n)?,
                (DATA_V2, 7, Value::Bool(is_packed)) => header.is_unpacked = !is_packed,
                _ => {}
            }
        }
        Some(header)
    }
}

/// The state that is shared with the reader of the values.
#[derive(Debug, Default)]
pub(super) struct Read {
    /// Where the last page begins in the file.
    pub(super) offset: AtomicU64,
    /// How many values and nulls are in all pages that were returned.
    pub(super) n_levels: AtomicU64,
    /// Whether one more page of values may be returned.
    pub(super) goes_on: AtomicBool,
    /// Whether pages of more than [`AHEAD_LEN`] are left for later, because other pages are in memory at the same time.
    pub(super) is_ahead: AtomicBool,
}

/// The pages of a column chunk, in their order.
pub(super) struct Pages {
    source: Arc<Source>,
    /// The rest of the column chunk.
    chunk: ColumnChunk,
    packing: Option<Packing>,
    max_levels: [i16; 2],
    /// The length of each value, if all have the same.
    fixed: Option<usize>,
    has_dictionary: bool,
    is_first: bool,
    read: Arc<Read>,
}

pub(super) fn too_few() -> TableError {
    TableError::damaged("it ends inside a value")
}

fn too_short() -> TableError {
    TableError::damaged("it ends inside its levels")
}

fn too_large(message: String) -> TableError {
    TableError::new(TableErrorKind::TooLarge, message)
}

fn unsupported(message: String) -> TableError {
    TableError::new(TableErrorKind::Unsupported, message)
}

impl Pages {
    /// The pages of `column` in `chunk`. `read` is updated with each page.
    pub(super) fn new(
        source: &Arc<Source>,
        column: &Column,
        chunk: ColumnChunk,
        read: &Arc<Read>,
    ) -> Result<Self, TableError> {
        let is_fixed = column.physical == Some(Type::FIXED_LEN_BYTE_ARRAY);
        Ok(Self {
            source: Arc::clone(source),
            chunk,
            packing: Packing::new(chunk.codec)?,
            max_levels: [column.max_repetition, column.max_definition],
            fixed: usize::try_from(column.length).ok().filter(|_| is_fixed),
            has_dictionary: false,
            is_first: true,
            read: Arc::clone(read),
        })
    }

    /// Returns the next page of values or of a dictionary. Returns `None` at the end, and if no page may be returned now.
    fn next_page(&mut self) -> io::Result<Option<Page>> {
        while self.chunk.n_values > 0 && self.read.goes_on.load(Ordering::Relaxed) {
            let offset = self.chunk.start;
            self.read.offset.store(offset, Ordering::Relaxed);
            let (header, header_len) = self.header(offset)?;
            let [packed_len, unpacked_len] = [header.packed_len, header.unpacked_len].map(|len| {
                let too_large = || too_large(format!("a page of {len} bytes; at most {MAX_LEN} are read"));
                usize::try_from(len).ok().filter(|&len| len <= MAX_LEN).ok_or_else(too_large)
            });
            let (packed_len, unpacked_len) = (packed_len?, unpacked_len?);
            if packed_len.max(unpacked_len) > AHEAD_LEN && self.read.is_ahead.load(Ordering::Relaxed) {
                break;
            }
            let start = offset + header_len as u64;
            self.chunk.start = start + packed_len as u64;
            if !matches!(header.kind, DATA | DATA_V2 | DICTIONARY) {
                continue;
            }
            let cut_off = || TableError::damaged("the file ends inside it");
            let bytes = self.source.read(start, packed_len)?.ok_or_else(cut_off)?;
            if header.checksum.is_some_and(|checksum| checksum != i64::from(crc_32(&bytes).cast_signed())) {
                return Err(TableError::damaged("its checksum is another").into());
            }
            if header.kind == DICTIONARY {
                return Ok(Some(self.dictionary(&header, &bytes, unpacked_len)?));
            }
            let left = self.chunk.n_values.checked_sub(header.n_values);
            self.chunk.n_values =
                left.ok_or_else(|| TableError::damaged("more values than its row group has"))?;
            // `parquet` would stop at a page without values.
            if header.n_values > 0 {
                self.is_first = false;
                self.read.n_levels.fetch_add(header.n_values, Ordering::Relaxed);
                self.read.goes_on.store(false, Ordering::Relaxed);
                return Ok(Some(self.values(&header, bytes, unpacked_len)?));
            }
        }
        Ok(None)
    }

    /// Reads the header at `offset`. Returns its length too.
    fn header(&self, offset: u64) -> io::Result<(Header, usize)> {
        let damaged = |what| Err(TableError::damaged(what).into());
        let mut wanted = HEADER_LEN;
        loop {
            let there = usize::try_from(self.source.len.saturating_sub(offset)).unwrap_or(usize::MAX);
            let bytes = self.source.read(offset, wanted.min(there))?.unwrap_or_default();
            match struct_len(&bytes) {
                Ok(len) => match Header::read(&bytes) {
                    Some(header) => return Ok((header, len)),
                    None => return damaged("its header is damaged"),
                },
                Err(Broken::CutOff) if bytes.len() < wanted => {
                    return damaged("the file ends inside its header");
                }
                Err(Broken::CutOff) if wanted < MAX_HEADER_LEN => wanted *= 8,
                Err(_) => return damaged("its header is damaged"),
            }
        }
    }

    fn dictionary(&mut self, header: &Header, bytes: &[u8], len: usize) -> Result<Page, TableError> {
        if self.has_dictionary || !self.is_first {
            return Err(TableError::damaged("a second dictionary"));
        }
        // Both numbers mean plain values here; older writers use 2 (PLAIN_DICTIONARY).
        if !matches!(header.encoding, 0 | 2) {
            return Err(TableError::damaged("a dictionary that is not plain"));
        }
        self.has_dictionary = true;
        let mut buf = Vec::new();
        unpack(self.packing, bytes, len, &mut buf)?;
        if header.n_values > MAX_DICTIONARY {
            let message =
                format!("a dictionary of {} values; at most {MAX_DICTIONARY} are read", header.n_values);
            return Err(too_large(message));
        }
        if self.fixed.is_none() && header.n_values > buf.len() as u64 / 4 {
            return Err(too_few());
        }
        let num_values = u32::try_from(header.n_values).map_err(|_| too_few())?;
        Ok(Page::DictionaryPage { buf: buf.into(), num_values, encoding: Encoding::PLAIN, is_sorted: false })
    }

    /// Converts the page of values in `bytes` to version 1, in an encoding that `parquet` reads safely.
    fn values(&self, header: &Header, bytes: Vec<u8>, len: usize) -> Result<Page, TableError> {
        let n_values = header.n_values;
        if self.max_levels[0] > 0 && n_values > MAX_LIST_LEVELS {
            let message =
                format!("a page of lists has {n_values} values; at most {MAX_LIST_LEVELS} are read");
            return Err(too_large(message));
        }
        let (mut buf, mut levels_len) = (Vec::new(), 0);
        if header.kind == DATA_V2 {
            let mut rest = &bytes[..];
            for (max, len) in self.max_levels.into_iter().zip(header.levels_len) {
                let at = usize::try_from(len).map_err(|_| too_short())?;
                let (levels, behind) = rest.split_at_checked(at).ok_or_else(too_short)?;
                rest = behind;
                if max > 0 {
                    buf.extend(u32::try_from(at).map_err(|_| too_short())?.to_le_bytes());
                    buf.extend(levels);
                }
            }
            levels_len = buf.len();
            let len = len.checked_sub(bytes.len() - rest.len()).ok_or_else(too_short)?;
            unpack(self.packing.filter(|_| !header.is_unpacked), rest, len, &mut buf)?;
        } else {
            unpack(self.packing, &bytes, len, &mut buf)?;
            for (max, encoding) in self.max_levels.into_iter().zip(header.level_encodings) {
                if max > 0 && encoding != 3 {
                    let message = format!("its levels are in encoding {encoding}, which is not read here");
                    return Err(unsupported(message));
                }
                if max > 0 {
                    let rest = &buf[levels_len..];
                    let levels = rest.first_chunk().map(|&len| 4 + u32::from_le_bytes(len) as usize);
                    let levels = levels.filter(|&len| len <= rest.len()).ok_or_else(too_short)?;
                    levels_len += levels;
                }
            }
        }
        drop(bytes);
        let mut encoding = Encoding::PLAIN;
        match header.encoding {
            0 => {}
            2 | 8 if !self.has_dictionary => return Err(TableError::damaged("its dictionary is missing")),
            // A page whose values are all null may lack even the bit width of its indices.
            2 | 8 if buf.len() == levels_len => {}
            2 | 8 => encoding = Encoding::RLE_DICTIONARY,
            6 | 7 if self.fixed.is_none() || header.encoding == 7 => {
                let values = buf.split_off(levels_len);
                delta::to_plain(&values, n_values, self.fixed, header.encoding == 7, &mut buf)?;
            }
            other => {
                let message = format!("its values are in encoding {other}, which is not read here");
                return Err(unsupported(message));
            }
        }
        Ok(Page::DataPage {
            buf: buf.into(),
            num_values: u32::try_from(n_values).map_err(|_| TableError::damaged("its header is damaged"))?,
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        })
    }
}

fn crc_32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Decompresses `bytes` to `len` bytes, and appends these to `out`.
fn unpack(packing: Option<Packing>, bytes: &[u8], len: usize, out: &mut Vec<u8>) -> Result<(), TableError> {
    match packing {
        Some(packing) => packing.unpack(bytes, len, out),
        None if bytes.len() == len => {
            out.extend_from_slice(bytes);
            Ok(())
        }
        None => Err(TableError::damaged("its length is not what it says")),
    }
}

impl Iterator for Pages {
    type Item = Result<Page, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Pages {
    fn get_next_page(&mut self) -> Result<Option<Page>, ParquetError> {
        self.next_page().map_err(ParquetError::from)
    }

    /// Unused, because no page is skipped.
    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        Ok(())
    }

    /// Whether a row ends with this page. A row may continue in the next page, but not in the next column chunk.
    fn at_record_boundary(&mut self) -> Result<bool, ParquetError> {
        Ok(self.chunk.n_values == 0)
    }
}
