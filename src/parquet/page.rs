//! The pages of a column, as they stand in the file one behind the other, still packed.
//!
//! A page is the unit of work and of memory: one is read whole, and none that is longer than [`MAX_LEN`]. The pages of a column
//! chunk have no table of contents that can be relied on; each tells where it ends, and they end when there are as many values
//! as the footer says.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::batch::{Batch, Decoding, Progress};
use super::error::{TableError, TableErrorKind};
use super::footer::{Chunk, Column};
use super::thrift::{Broken, Kind, Thrift};
use super::unpack::Packing;
use super::value::Dictionary;
use crate::input::read_at;
use crate::watch::{Stopped, Watch};

/// The longest page that is read, in bytes, packed or not. Writers make pages of a mebibyte, some of up to a hundred.
pub(super) const MAX_LEN: usize = 128 << 20;

/// The longest header that is read: it may show the smallest and the largest value.
const MAX_HEADER_LEN: usize = 16 << 20;

/// How much is read first to find a header in it.
const HEADER_LEN: usize = 512;

/// A file that is read at any place. Once `watch` is stopped, reading it fails.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) file: File,
    pub(super) len: u64,
    pub(super) watch: Option<Watch>,
}

impl Source {
    /// An error once the watch is stopped.
    pub(super) fn go_on(&self) -> io::Result<()> {
        if self.watch.as_ref().is_some_and(Watch::is_stopped) { Err(Stopped.into()) } else { Ok(()) }
    }

    /// So many bytes from `offset` on, if the file has them.
    pub(super) fn read(&self, offset: u64, len: usize) -> io::Result<Option<Vec<u8>>> {
        self.go_on()?;
        if offset.checked_add(len as u64).is_none_or(|end| end > self.len) {
            return Ok(None);
        }
        let mut bytes = vec![0; len];
        let mut n = 0;
        while n < len {
            match read_at(&self.file, &mut bytes[n..], offset + n as u64) {
                // It was longer when it was opened.
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

/// What a page header says, of a page of values or of a dictionary.
#[derive(Default)]
struct Header {
    kind: Option<i64>,
    unpacked_len: u64,
    packed_len: u64,
    /// The CRC-32 of the page as it stands in the file, if its writer made one.
    checksum: Option<u32>,
    n_values: u64,
    encoding: i64,
    levels: Levels,
}

/// How the levels of a page are written.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Levels {
    /// Packed with the values, each kind behind its length, in the encodings that the format numbers so.
    #[default]
    None,
    V1 {
        repetition: i64,
        definition: i64,
    },
    /// Before the values, never packed, and so long.
    V2 {
        repetition: usize,
        definition: usize,
        values_are_packed: bool,
    },
}

const DATA: i64 = 0;
const DICTIONARY: i64 = 2;
const DATA_V2: i64 = 3;

impl Header {
    /// Reads a header; what `bytes` have behind it is left.
    fn read(thrift: &mut Thrift<'_>) -> Result<Self, Broken> {
        let mut header = Self::default();
        let mut of_kind = [None, None, None];
        thrift.fields(|thrift, number, kind| {
            match (number, kind) {
                (1, Kind::Integer) => header.kind = Some(thrift.integer()?),
                (2, Kind::Integer) => header.unpacked_len = thrift.count()?,
                (3, Kind::Integer) => header.packed_len = thrift.count()?,
                (4, Kind::Integer) => {
                    let checksum = i32::try_from(thrift.integer()?).map_err(|_| Broken::Damaged)?;
                    header.checksum = Some(checksum.cast_unsigned());
                }
                (5, Kind::Struct) => of_kind[0] = Some(Self::data(thrift)?),
                (7, Kind::Struct) => of_kind[1] = Some(Self::dictionary(thrift)?),
                (8, Kind::Struct) => of_kind[2] = Some(Self::data_v2(thrift)?),
                _ => return Ok(false),
            }
            Ok::<_, Broken>(true)
        })?;
        let [data, dictionary, data_v2] = of_kind;
        let own = match header.kind {
            Some(DATA) => data,
            Some(DICTIONARY) => dictionary,
            Some(DATA_V2) => data_v2,
            Some(_) => return Ok(header),
            None => None,
        };
        (header.n_values, header.encoding, header.levels) = own.ok_or(Broken::Damaged)?;
        Ok(header)
    }

    fn data(thrift: &mut Thrift<'_>) -> Result<(u64, i64, Levels), Broken> {
        let (mut n_values, mut encoding, mut definition, mut repetition) = (0, 0, 0, 0);
        thrift.fields(|thrift, number, kind| {
            match (number, kind) {
                (1, Kind::Integer) => n_values = thrift.count()?,
                (2, Kind::Integer) => encoding = thrift.integer()?,
                (3, Kind::Integer) => definition = thrift.integer()?,
                (4, Kind::Integer) => repetition = thrift.integer()?,
                _ => return Ok(false),
            }
            Ok::<_, Broken>(true)
        })?;
        Ok((n_values, encoding, Levels::V1 { repetition, definition }))
    }

    fn dictionary(thrift: &mut Thrift<'_>) -> Result<(u64, i64, Levels), Broken> {
        let (mut n_values, mut encoding) = (0, 0);
        thrift.fields(|thrift, number, kind| {
            match (number, kind) {
                (1, Kind::Integer) => n_values = thrift.count()?,
                (2, Kind::Integer) => encoding = thrift.integer()?,
                _ => return Ok(false),
            }
            Ok::<_, Broken>(true)
        })?;
        Ok((n_values, encoding, Levels::None))
    }

    fn data_v2(thrift: &mut Thrift<'_>) -> Result<(u64, i64, Levels), Broken> {
        let (mut n_values, mut encoding, mut definition, mut repetition) = (0, 0, 0, 0);
        let mut values_are_packed = true;
        let len = |thrift: &mut Thrift<'_>| usize::try_from(thrift.count()?).map_err(|_| Broken::Damaged);
        thrift.fields(|thrift, number, kind| {
            match (number, kind) {
                (1, Kind::Integer) => n_values = thrift.count()?,
                (4, Kind::Integer) => encoding = thrift.integer()?,
                (5, Kind::Integer) => definition = len(thrift)?,
                (6, Kind::Integer) => repetition = len(thrift)?,
                (7, Kind::True | Kind::False) => values_are_packed = kind == Kind::True,
                _ => return Ok(false),
            }
            Ok::<_, Broken>(true)
        })?;
        Ok((n_values, encoding, Levels::V2 { repetition, definition, values_are_packed }))
    }
}

/// A page of values.
#[derive(Debug)]
pub(super) struct Page {
    /// As it stands in the file, packed.
    pub(super) bytes: Vec<u8>,
    pub(super) unpacked_len: usize,
    pub(super) packing: Option<Packing>,
    pub(super) levels: Levels,
    /// Values and nulls.
    pub(super) n_values: u64,
    pub(super) encoding: i64,
    pub(super) dictionary: Option<Arc<Dictionary>>,
    /// The number of the row group, from 1, and whether it begins with this page.
    pub(super) group: usize,
    pub(super) is_first: bool,
    /// The rows of the group, if this is its last page.
    pub(super) ends_after: Option<u64>,
    /// Where it begins in the file.
    pub(super) offset: u64,
}

impl Page {
    /// Its bytes as they were before they were packed.
    fn unpack(&mut self) -> Result<Vec<u8>, TableError> {
        let bytes = std::mem::take(&mut self.bytes);
        // In one of the second version the levels stand before what is packed.
        let head = match self.levels {
            Levels::V2 { repetition, definition, .. } => repetition.saturating_add(definition),
            _ => 0,
        };
        let is_packed = !matches!(self.levels, Levels::V2 { values_are_packed: false, .. });
        unpack(self.packing.filter(|_| is_packed), bytes, head, self.unpacked_len)
    }
}

fn crc_32(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

fn failed(error: TableError, group: usize, offset: u64) -> TableError {
    error.within(format_args!("row group {group}, page at byte {offset}"))
}

/// What `bytes` were before they were packed behind their first `head`: `len` bytes.
fn unpack(packing: Option<Packing>, bytes: Vec<u8>, head: usize, len: usize) -> Result<Vec<u8>, TableError> {
    let Some(packing) = packing else {
        return if bytes.len() == len {
            Ok(bytes)
        } else {
            Err(TableError::damaged("its length is not what it says"))
        };
    };
    let (levels, packed) = bytes.split_at_checked(head).filter(|_| head <= len).ok_or_else(too_short)?;
    let mut out = Vec::with_capacity(len);
    out.extend_from_slice(levels);
    packing.unpack(packed, len - head, &mut out)?;
    Ok(out)
}

pub(super) fn too_short() -> TableError {
    TableError::damaged("it ends inside its levels")
}

/// Pages of one row group that follow each other: a piece of work.
#[derive(Debug)]
pub(crate) struct Stretch(Vec<Page>);

/// Where the values of a stretch end.
#[derive(Debug)]
pub(crate) struct End {
    /// The rows of the row group, if it ends there.
    n_rows: Option<u64>,
    group: usize,
}

impl Stretch {
    /// How much memory it takes to read it, in bytes: as it stands in the file, unpacked, and twice as text that is judged.
    pub(crate) fn weight(&self) -> usize {
        self.0.iter().map(|page| page.bytes.len() + 3 * page.unpacked_len).sum()
    }

    /// Adds the values to a batch, of which `full` takes those in it whenever it is full. The last ones stay in it, also those
    /// before an error.
    ///
    /// # Errors
    /// When a page is damaged, or written in a way that is not read; and whatever `full` says.
    pub(crate) fn read(
        self,
        column: &Column,
        batch: &mut Batch,
        mut full: impl FnMut(&mut Batch) -> io::Result<()>,
    ) -> io::Result<End> {
        let mut end = End { n_rows: None, group: 0 };
        for mut page in self.0 {
            end = End { n_rows: page.ends_after, group: page.group };
            let (group, offset) = (page.group, page.offset);
            let failed = |error| failed(error, group, offset);
            let bytes = page.unpack().map_err(failed)?;
            let mut decoding = Decoding::new(&page, column, &bytes).map_err(failed)?;
            while decoding.fill(batch).map_err(failed)? {
                full(batch)?;
            }
        }
        Ok(end)
    }
}

impl End {
    /// What has been read up to here, if it is what the footer says.
    ///
    /// # Errors
    /// When the row group has another number of rows.
    pub(crate) fn check(&self, progress: Progress) -> Result<Progress, TableError> {
        let place = |error: TableError| error.within(format_args!("row group {}", self.group));
        self.n_rows.map_or(Ok(progress), |n_rows| progress.end_group(n_rows)).map_err(place)
    }
}

/// The pages of a column, in their order.
#[derive(Debug)]
pub(crate) struct Pages<'a> {
    source: &'a Source,
    column: &'a Column,
    chunks: std::iter::Enumerate<std::vec::IntoIter<Chunk>>,
    /// The number of the chunk that is being read, from 1, and what is left of it.
    group: usize,
    chunk: Option<Chunk>,
    is_first: bool,
    packing: Option<Packing>,
    dictionary: Option<Arc<Dictionary>>,
    /// Rows that the file has beyond those of the groups read so far.
    missing: i128,
    /// Why there is no page behind those that have been given.
    failed: Option<io::Error>,
}

impl<'a> Pages<'a> {
    /// The pages of `column` in those chunks, of a file of so many rows.
    pub(super) fn new(source: &'a Source, column: &'a Column, chunks: Vec<Chunk>, rows: u64) -> Self {
        let chunks = chunks.into_iter().enumerate();
        Self {
            source,
            column,
            chunks,
            group: 0,
            chunk: None,
            is_first: false,
            packing: None,
            dictionary: None,
            missing: rows.into(),
            failed: None,
        }
    }

    /// The next pages, of that weight or more if the row group has as many; `None` at the end.
    ///
    /// # Errors
    /// When the next page cannot be read.
    pub(crate) fn next(&mut self, weight: usize) -> io::Result<Option<Stretch>> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let mut stretch = Stretch(Vec::new());
        loop {
            match self.next_page() {
                Ok(Some(page)) => {
                    let is_last = page.ends_after.is_some();
                    stretch.0.push(page);
                    if is_last || stretch.weight() >= weight {
                        return Ok(Some(stretch));
                    }
                }
                Ok(None) => return Ok(Some(stretch).filter(|stretch| !stretch.0.is_empty())),
                Err(error) if stretch.0.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    return Ok(Some(stretch));
                }
            }
        }
    }

    /// The next page of values; `None` at the end.
    fn next_page(&mut self) -> io::Result<Option<Page>> {
        loop {
            if let Some(chunk) = self.chunk {
                if let Some(page) = self.page(chunk)? {
                    return Ok(Some(page));
                }
            } else if !self.begin()? {
                return Ok(None);
            }
        }
    }

    /// Goes to the next chunk; whether there is one.
    fn begin(&mut self) -> Result<bool, TableError> {
        let Some((n, chunk)) = self.chunks.next() else {
            return match self.missing {
                0 => Ok(false),
                missing => Err(TableError::damaged(format!(
                    "its footer has {} {} rows than its row groups",
                    missing.unsigned_abs(),
                    if missing > 0 { "more" } else { "fewer" }
                ))),
            };
        };
        (self.group, self.is_first, self.dictionary) = (n + 1, true, None);
        let place = |error: TableError| error.within(format_args!("row group {}", n + 1));
        let fits = if self.column.max_repetition > 0 {
            chunk.n_values >= chunk.n_rows
        } else {
            chunk.n_values == chunk.n_rows
        };
        if !fits {
            let message = format!("{} values in {} rows", chunk.n_values, chunk.n_rows);
            return Err(place(TableError::damaged(message)));
        }
        self.packing = Packing::new(chunk.codec).map_err(place)?;
        self.missing -= i128::from(chunk.n_rows);
        // A group without rows has no pages.
        self.chunk = Some(chunk).filter(|chunk| chunk.n_values > 0);
        Ok(true)
    }

    /// The page at the beginning of what is left of a chunk, if it is one of values.
    fn page(&mut self, mut chunk: Chunk) -> io::Result<Option<Page>> {
        let offset = chunk.start;
        let error = |error| failed(error, self.group, offset);
        let (header, header_len) = self.header(offset)?;
        let len = |len: u64| {
            let message = format!("a page of {len} bytes; at most {MAX_LEN} are read");
            let too_large = || error(TableError::new(TableErrorKind::TooLarge, message));
            usize::try_from(len).ok().filter(|&len| len <= MAX_LEN).ok_or_else(too_large)
        };
        let (packed_len, unpacked_len) = (len(header.packed_len)?, len(header.unpacked_len)?);
        let start = offset + header_len as u64;
        chunk.start = start + packed_len as u64;
        let is_page = matches!(header.kind, Some(DATA | DATA_V2 | DICTIONARY));
        if !is_page {
            self.chunk = Some(chunk);
            return Ok(None);
        }
        let cut_off = || error(TableError::damaged("the file ends inside it"));
        let bytes = self.source.read(start, packed_len)?.ok_or_else(cut_off)?;
        if header.checksum.is_some_and(|checksum| checksum != crc_32(&bytes)) {
            return Err(error(TableError::damaged("its checksum is another")).into());
        }
        if header.kind == Some(DICTIONARY) {
            self.chunk = Some(chunk);
            self.dictionary =
                Some(Arc::new(self.read_dictionary(&header, bytes, unpacked_len).map_err(error)?));
            return Ok(None);
        }
        let left = chunk.n_values.checked_sub(header.n_values);
        chunk.n_values =
            left.ok_or_else(|| error(TableError::damaged("more values than its row group has")))?;
        let page = Page {
            bytes,
            unpacked_len,
            packing: self.packing,
            levels: header.levels,
            n_values: header.n_values,
            encoding: header.encoding,
            dictionary: self.dictionary.clone(),
            group: self.group,
            is_first: self.is_first,
            ends_after: (chunk.n_values == 0).then_some(chunk.n_rows),
            offset,
        };
        self.is_first &= header.n_values == 0;
        self.chunk = Some(chunk).filter(|chunk| chunk.n_values > 0);
        Ok(Some(page))
    }

    fn read_dictionary(&self, header: &Header, bytes: Vec<u8>, len: usize) -> Result<Dictionary, TableError> {
        if self.dictionary.is_some() || !self.is_first {
            return Err(TableError::damaged("a second dictionary"));
        }
        // Plain, which older writers call otherwise.
        if !matches!(header.encoding, 0 | 2) {
            return Err(TableError::damaged("a dictionary that is not plain"));
        }
        let bytes = unpack(self.packing, bytes, 0, len)?;
        Dictionary::new(bytes, header.n_values, self.column.physical)
    }

    /// The header at `offset`, and how long it is.
    fn header(&self, offset: u64) -> io::Result<(Header, usize)> {
        let mut wanted = HEADER_LEN;
        loop {
            let there = usize::try_from(self.source.len.saturating_sub(offset)).unwrap_or(usize::MAX);
            let bytes = self.source.read(offset, wanted.min(there))?.unwrap_or_default();
            let mut thrift = Thrift::new(&bytes);
            match Header::read(&mut thrift) {
                Ok(header) => return Ok((header, bytes.len() - thrift.rest().len())),
                Err(Broken::CutOff) if bytes.len() == wanted && wanted < MAX_HEADER_LEN => wanted *= 8,
                Err(Broken::CutOff) if bytes.len() < wanted => {
                    let error = TableError::damaged("the file ends inside its header");
                    return Err(failed(error, self.group, offset).into());
                }
                Err(_) => {
                    let error = TableError::damaged("its header is damaged");
                    return Err(failed(error, self.group, offset).into());
                }
            }
        }
    }
}
