//! Reads the pages of a column chunk one by one, decompresses them, and finds their levels and values.
//!
//! A page is the unit of memory. It is read whole, and a page longer than [`MAX_LEN`] is refused. A column chunk ends when it has
//! as many values as the footer says.

use std::io;
use std::sync::Arc;

use super::decode::{Dictionary, Encoded, Page, too_short};
use super::delta;
use super::error::TableError;
use super::footer::{Column, ColumnChunk};
use super::hybrid::Integers;
use super::thrift::{Broken, Value, field, fields, struct_len};
use super::unpack::{MAX_LEN, Packing};
use urlsift_input::Seekable;
use urlsift_input::memory::lengthen;
use urlsift_input::progress::{Stopped, Watch};

/// The longest page that is read ahead, in bytes.
const AHEAD_LEN: usize = 8 << 20;

/// The longest header that is read, in bytes. It may contain the smallest and the largest value of the page.
const MAX_HEADER_LEN: usize = 16 << 20;

/// How many bytes are read first to find a header.
const HEADER_LEN: usize = 512;

/// The most values of a dictionary. Each takes 8 bytes, besides its page.
const MAX_DICTIONARY: u64 = 1 << 22;

/// A file that is read at any position. Reading fails once `watch` is stopped.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: Seekable,
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
        let (mut bytes, mut n) = (Vec::new(), 0);
        lengthen(&mut bytes, len)?;
        while n < len {
            match self.file.read_at(&mut bytes[n..], offset + n as u64) {
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
        let kind = field(bytes, 1, Value::integer)?;
        let of_kind = |number| field(bytes, number, Value::bytes_of_struct);
        let own = match kind {
            DATA => of_kind(5)?,
            DICTIONARY => of_kind(7)?,
            DATA_V2 => of_kind(8)?,
            _ => &[],
        };
        let count = |bytes, number| u64::try_from(field(bytes, number, Value::integer).unwrap_or(0)).ok();
        let encoding = |number| field(own, number, Value::integer).unwrap_or(0);
        let is_v2 = kind == DATA_V2;
        Some(Self {
            kind,
            unpacked_len: count(bytes, 2)?,
            packed_len: count(bytes, 3)?,
            checksum: field(bytes, 4, Value::integer),
            // Thrift declares an integer of 32 bits.
            n_values: count(own, 1).filter(|&n| n <= u32::MAX.into())?,
            encoding: encoding(if is_v2 { 4 } else { 2 }),
            level_encodings: [encoding(4), encoding(3)],
            levels_len: if is_v2 { [count(own, 6)?, count(own, 5)?] } else { [0; 2] },
            is_unpacked: is_v2 && fields(own).any(|field| field == (7, Value::Bool(false))),
        })
    }
}

/// The pages of a column chunk, in their order.
pub(super) struct Pages {
    pub(super) source: Arc<Source>,
    /// The rest of the column chunk.
    chunk: ColumnChunk,
    packing: Option<Packing>,
    max_levels: [u32; 2],
    /// The length of each value, if all have the same.
    fixed: Option<usize>,
    dictionary: Option<Arc<Dictionary>>,
    is_first: bool,
    /// Where the last page begins in the file.
    pub(super) offset: u64,
    /// Whether pages of more than [`AHEAD_LEN`] are left for later, because other pages are in memory at the same time.
    pub(super) is_ahead: bool,
}

impl Pages {
    /// The pages of `column` in `chunk`.
    pub(super) fn new(source: &Arc<Source>, column: &Column, chunk: ColumnChunk) -> Result<Self, TableError> {
        Ok(Self {
            source: Arc::clone(source),
            chunk,
            packing: Packing::new(chunk.codec)?,
            max_levels: [column.max_repetition, column.max_definition],
            fixed: column.fixed(),
            dictionary: None,
            is_first: true,
            offset: chunk.start,
            is_ahead: false,
        })
    }

    /// Whether pages of values follow.
    pub(super) fn goes_on(&self) -> bool {
        self.chunk.n_values > 0
    }

    /// Returns the next page of values. Returns `None` at the end, and if the next page is left for later.
    pub(super) fn next(&mut self) -> io::Result<Option<Page>> {
        while self.goes_on() {
            let offset = self.chunk.start;
            self.offset = offset;
            let (header, header_len) = self.header(offset)?;
            let len = |len: u64| {
                let message = || format!("a page of {len} bytes; at most {MAX_LEN} are read");
                let len = usize::try_from(len).ok().filter(|&len| len <= MAX_LEN);
                len.ok_or_else(|| TableError::too_large(message()))
            };
            let (packed_len, unpacked_len) = (len(header.packed_len)?, len(header.unpacked_len)?);
            if packed_len.max(unpacked_len) > AHEAD_LEN && self.is_ahead {
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
                self.dictionary = Some(Arc::new(self.dictionary(&header, bytes, unpacked_len)?));
                continue;
            }
            let left = self.chunk.n_values.checked_sub(header.n_values);
            self.chunk.n_values =
                left.ok_or_else(|| TableError::damaged("more values than its row group has"))?;
            if header.n_values > 0 {
                self.is_first = false;
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

    fn dictionary(&self, header: &Header, bytes: Vec<u8>, len: usize) -> Result<Dictionary, TableError> {
        if self.dictionary.is_some() || !self.is_first {
            return Err(TableError::damaged("a second dictionary"));
        }
        // Both numbers mean plain values here; older writers use 2 (PLAIN_DICTIONARY).
        if !matches!(header.encoding, 0 | 2) {
            return Err(TableError::damaged("a dictionary that is not plain"));
        }
        let bytes = unpack(self.packing, bytes, 0, len)?;
        if header.n_values > MAX_DICTIONARY {
            let message =
                format!("a dictionary of {} values; at most {MAX_DICTIONARY} are read", header.n_values);
            return Err(TableError::too_large(message));
        }
        Dictionary::new(bytes, header.n_values, self.fixed)
    }

    /// Decompresses the page of values in `bytes` to `len` bytes.
    fn values(&self, header: &Header, bytes: Vec<u8>, len: usize) -> Result<Page, TableError> {
        let n_values = header.n_values;
        // The levels of a page of version 2 precede the compressed data.
        let is_v2 = header.kind == DATA_V2;
        let head = header.levels_len.into_iter().fold(0, u64::saturating_add);
        let mut bytes = unpack(self.packing.filter(|_| !header.is_unpacked), bytes, head, len)?;
        let (mut at, mut levels) = (0, [None, None]);
        for (n, max) in self.max_levels.into_iter().enumerate() {
            let mut len = header.levels_len[n];
            if !is_v2 && max > 0 {
                if header.level_encodings[n] != 3 {
                    return Err(not_read("levels are", header.level_encodings[n]));
                }
                len = u32::from_le_bytes(*bytes[at..].first_chunk().ok_or_else(too_short)?).into();
                at += 4;
            }
            let (start, len) = (at, usize::try_from(len).ok().filter(|&len| len <= bytes.len() - at));
            at += len.ok_or_else(too_short)?;
            levels[n] = (max > 0).then(|| Integers::levels(start..at, max)).transpose()?;
        }
        let values = match header.encoding {
            0 => Encoded::Plain(at),
            2 | 8 => {
                let missing = || TableError::damaged("its dictionary is missing");
                let dictionary = Arc::clone(self.dictionary.as_ref().ok_or_else(missing)?);
                // A page whose values are all null may lack even the bit width of its indices.
                let (width, start) = bytes.get(at).map_or((0, at), |&width| (width.into(), at + 1));
                Encoded::Indices(Integers::new(start..bytes.len(), width)?, dictionary)
            }
            6 | 7 if self.fixed.is_none() || header.encoding == 7 => {
                let values = bytes.split_off(at);
                delta::to_plain(&values, n_values, self.fixed, header.encoding == 7, &mut bytes)?;
                Encoded::Plain(at)
            }
            other => return Err(not_read("values are", other)),
        };
        let ([repetition, definition], [_, max_definition]) = (levels, self.max_levels);
        Ok(Page { bytes, left: n_values, repetition, definition, max_definition, fixed: self.fixed, values })
    }
}

fn not_read(what: &str, encoding: i64) -> TableError {
    TableError::unsupported(format!("its {what} in encoding {encoding}, which is not read here"))
}

fn crc_32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

/// Decompresses all but the first `head` of `bytes`. There are `len` bytes afterwards.
fn unpack(packing: Option<Packing>, bytes: Vec<u8>, head: u64, len: usize) -> Result<Vec<u8>, TableError> {
    let Some(packing) = packing else {
        let fits = bytes.len() == len;
        return fits.then_some(bytes).ok_or_else(|| TableError::damaged("its length is not what it says"));
    };
    let head = usize::try_from(head).ok().filter(|&head| head <= len);
    let (head, packed) = head.and_then(|head| bytes.split_at_checked(head)).ok_or_else(too_short)?;
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| {
        TableError::too_large(format!("there is not enough memory for a page of {len} bytes"))
    })?;
    out.extend_from_slice(head);
    packing.unpack(packed, len - head.len(), &mut out)?;
    Ok(out)
}
