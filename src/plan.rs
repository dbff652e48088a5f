//! Inputs cut into splits, so that each can be scanned somewhere else: where lists and files of records can be cut, and where the members
//! of compressed ones begin. Nothing is decoded.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::corpus::{Part, Reading, Seek};
use crate::escape::printable;
use crate::format::Format;
use crate::input::{Codec, Input, Opened, read_at};
use crate::partial::MAX_INPUTS;
use crate::tally::MAX_BYTES;

/// A part of an input, as whoever scans it has to know it. Written as JSON, a line each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Split {
    /// The number of the input in the corpus, from 0.
    pub input: u32,
    /// How many inputs the corpus has, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u32>,
    /// What the report calls the input.
    pub name: String,
    /// What is opened; `-` is standard input.
    pub path: PathBuf,
    /// Where its range of the input's bytes starts, decoded where it is compressed.
    pub start: u64,
    /// Where the range ends; `None` is the end of the input.
    pub end: Option<u64>,
    /// How many bytes the input has; `None` where that is not known.
    pub size: Option<u64>,
    /// How the input is compressed, where the range does not begin at its start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub codec: Option<Codec>,
    /// Where reading may begin, if not at the start of the input: at a member that holds the byte before the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seek: Option<Seek>,
    /// Where a member ends with the range: whoever comes by sees whether the plan is right.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seam: Option<Seek>,
}

impl Split {
    /// That it can be one of a plan, whoever has made that.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn check(&self) -> Result<(), String> {
        let Self { start, end, size, codec, seek, seam, .. } = *self;
        let is_empty_input = (start, end, size) == (0, Some(0), Some(0));
        if end.is_some_and(|end| end <= start) && !is_empty_input {
            return Err("a range that ends where it starts, or before that".to_owned());
        }
        if size.is_some_and(|size| size > MAX_BYTES || end.is_none_or(|end| end > size)) {
            return Err("a range that does not lie in an input of that size".to_owned());
        }
        if printable(self.name.as_bytes()) != self.name {
            return Err("a name that cannot be shown".to_owned());
        }
        if self.inputs.is_some_and(|inputs| self.input >= inputs) || self.input >= MAX_INPUTS {
            return Err("an input with a larger number than there are".to_owned());
        }
        let is_before = |seek: Seek| seek.content < start || seek.content == 0;
        let can_seek = codec.is_some_and(|codec| codec != Codec::Plain) || self.path == Path::new("-");
        if seek.is_some_and(|seek| !is_before(seek) || !can_seek) {
            return Err(
                "reading would not begin before the range, at a member of what is compressed".to_owned()
            );
        }
        if seam.is_some_and(|seam| Some(seam.content) != end) {
            return Err("a seam that does not lie at the end of the range".to_owned());
        }
        Ok(())
    }

    /// It as a part of the input that has that number among those that are opened.
    #[must_use]
    pub fn part(&self, input: u32) -> Part {
        let range = self.start..self.end.unwrap_or(u64::MAX);
        Part { input, range, size: self.size, seek: self.seek, seam: self.seam }
    }
}

/// An input whole, or the cuts in it.
struct Cuts {
    codec: Option<Codec>,
    /// Where splits end, but for the last, ascending.
    ends: Vec<End>,
    /// How many bytes the input has, if that is known.
    size: Option<u64>,
    /// How many bytes there are to read, for the order alone.
    weight: u64,
}

/// Where one split ends and the next starts.
struct End {
    at: u64,
    /// The places of the member that ends there: where it begins, and where it ends.
    member: Option<(Seek, Seek)>,
}

/// Splits of about `split_size` bytes (at least 1) of what the inputs have, decoded; the largest first. Inputs that cannot be cut
/// are one split each: those of formats whose records depend on what comes before them, and compressed ones but for bgzip, and for
/// the files that a `cluster.idx` beside them names (ZipNum).
///
/// Costs a look at the beginning of each file, and one for each member of those that are cut.
///
/// # Errors
/// The first input that is no file, cannot be read, or whose path is no text.
pub fn plan(inputs: &[Input], reading: &Reading, split_size: u64) -> io::Result<Vec<Split>> {
    let n_inputs = u32::try_from(inputs.len()).map_err(io::Error::other)?;
    let mut splits = Vec::new();
    for (number, input) in (0..n_inputs).zip(inputs) {
        let named = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", input.name()));
        let path = input.path().ok_or_else(|| named(io::Error::other("only files can be planned")))?;
        if path.to_str().is_none() {
            return Err(named(io::Error::other("its path is not UTF-8, and cannot be written as JSON")));
        }
        let Cuts { codec, ends, size, weight } = cuts(input, path, reading, split_size).map_err(named)?;
        let mut split = Split {
            input: number,
            inputs: Some(n_inputs),
            name: input.name().to_owned(),
            path: path.to_owned(),
            start: 0,
            end: size,
            size,
            codec: None,
            seek: None,
            seam: None,
        };
        for End { at, member } in ends {
            let next = Split { start: at, codec, seek: member.map(|(begin, _)| begin), ..split.clone() };
            let done = std::mem::replace(&mut split, next);
            let len = at - done.start;
            splits.push((len, Split { end: Some(at), seam: member.map(|(_, end)| end), ..done }));
        }
        let len = split.end.map_or(weight, |end| end - split.start);
        splits.push((len, split));
    }
    // A stable sort: splits of one size stay in the order of the inputs.
    splits.sort_by_key(|(len, _)| std::cmp::Reverse(*len));
    Ok(splits.into_iter().map(|(_, split)| split).collect())
}

/// How often larger than it is what comes of a compressed file, about.
const EXPANSION: u64 = 5;

fn cuts(input: &Input, path: &Path, reading: &Reading, split_size: u64) -> io::Result<Cuts> {
    let whole = |size, weight| Cuts { codec: None, ends: Vec::new(), size, weight };
    let (file, len, codec) = match input.open(None)? {
        Opened::File(file, len) => (file, len, Codec::Plain),
        Opened::Packed(packed) => (File::open(path)?, fs::metadata(path)?.len(), packed.codec()),
        Opened::Stream(_) => {
            let is_file = fs::metadata(path)?.is_file();
            return if is_file {
                Ok(whole(Some(0), 0))
            } else {
                Err(io::Error::other("only files can be planned"))
            };
        }
    };
    let format = reading.format_of(input)?;
    // Of a table its footer says what fields it has; whoever scans it looks there.
    if format != Format::Parquet {
        reading.reader(format)?;
    }
    if !format.is_cut_at_lines() {
        return Ok(whole(None, if codec == Codec::Plain { len } else { len.saturating_mul(EXPANSION) }));
    }
    if codec == Codec::Plain {
        let ends = (1..len.div_ceil(split_size)).map(|n| End { at: n * split_size, member: None });
        return Ok(Cuts { codec: None, ends: ends.collect(), size: Some(len), weight: len });
    }
    let mut packed = whole(None, len.saturating_mul(EXPANSION));
    if codec == Codec::Gzip {
        let mut ends = Ends::new(split_size);
        let is_whole = if is_bgzip(&file)? {
            blocks(&file, len, &mut ends)?
        } else {
            zip_num(&file, len, path, &mut ends)?
        };
        // Nothing comes behind the last member that holds something.
        let total = ends.at.content;
        ends.found.pop_if(|end| is_whole && end.at == total);
        if !ends.found.is_empty() {
            packed = Cuts {
                codec: Some(codec),
                ends: ends.found,
                size: is_whole.then_some(ends.at.content),
                ..packed
            };
        }
    }
    Ok(packed)
}

/// Members one behind the other, cut where a split is full.
struct Ends {
    split_size: u64,
    /// Where the split begins that is being filled.
    start: u64,
    /// Where the last member that was not empty begins.
    begin: Seek,
    at: Seek,
    found: Vec<End>,
}

impl Ends {
    fn new(split_size: u64) -> Self {
        let origin = Seek { file: 0, content: 0 };
        Self { split_size, start: 0, begin: origin, at: origin, found: Vec::new() }
    }

    /// One member more: how long it is in the file, and how many bytes come of it. Another one follows if `goes_on`.
    fn add(&mut self, packed_len: u64, len: u64, goes_on: bool) {
        if len > 0 {
            self.begin = self.at;
        }
        self.at = Seek { file: self.at.file + packed_len, content: self.at.content + len };
        if goes_on && len > 0 && self.at.content - self.start >= self.split_size {
            self.found.push(End { at: self.at.content, member: Some((self.begin, self.at)) });
            self.start = self.at.content;
        }
    }
}

/// The bytes that every block of bgzip begins with, but for the length, which is the last field (SAM specification, 4.1).
const BLOCK_HEAD: usize = 18;

/// How long the block is that begins with `head`; `None` if none does.
fn block_len(head: &[u8]) -> Option<u64> {
    let (head, _) = head.split_first_chunk::<BLOCK_HEAD>()?;
    let is_block = head.starts_with(b"\x1f\x8b\x08\x04") && &head[10..16] == b"\x06\0BC\x02\0";
    is_block.then(|| u64::from(u16::from_le_bytes([head[16], head[17]])) + 1)
}

fn is_bgzip(file: &File) -> io::Result<bool> {
    let mut head = [0; BLOCK_HEAD];
    let n = read_all_at(file, &mut head, 0)?;
    Ok(block_len(&head[..n]).is_some())
}

/// Goes from block to block; whether that leads to the end of the file.
fn blocks(file: &File, file_len: u64, ends: &mut Ends) -> io::Result<bool> {
    let mut head = [0; BLOCK_HEAD];
    let n = read_all_at(file, &mut head, 0)?;
    let mut next = block_len(&head[..n]);
    while let Some(len) = next.filter(|&len| len > 8 && ends.at.file + len <= file_len) {
        // The size of what comes of it is its last field; the next head stands behind that.
        let mut seam = [0; 4 + BLOCK_HEAD];
        let n = read_all_at(file, &mut seam, ends.at.file + len - 4)?;
        let Some((size, head)) = seam[..n].split_first_chunk() else { return Ok(false) };
        next = block_len(head);
        ends.add(len, u32::from_le_bytes(*size).into(), next.is_some());
    }
    Ok(ends.at.file == file_len)
}

/// A member that is longer may make more than its size tells, which is kept in 32 bits: deflate makes at most 1,032 bytes of one.
const MAX_MEMBER: u64 = (1 << 32) / 1032;

/// Goes through the members that the index beside a file names; whether that leads to the end of the file.
fn zip_num(file: &File, file_len: u64, path: &Path, ends: &mut Ends) -> io::Result<bool> {
    let Ok(index) = File::open(path.with_file_name("cluster.idx")) else { return Ok(false) };
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    for line in BufReader::new(index).split(b'\n') {
        let line = line?;
        let Ok(line) = str::from_utf8(&line) else { return Ok(false) };
        // Key and time, the file, where the member begins in it, its length, and its number.
        let mut fields = line.trim_end().split('\t').skip(1);
        if fields.next() != Some(name) {
            continue;
        }
        let numbers: Vec<u64> = fields.take(2).filter_map(|number| number.parse().ok()).collect();
        let [offset, len] = numbers[..] else { return Ok(false) };
        let end = ends.at.file.saturating_add(len);
        let mut seam = [0; 7];
        if offset != ends.at.file || end > file_len || !(18..=MAX_MEMBER).contains(&len) {
            return Ok(false);
        }
        let n = read_all_at(file, &mut seam, end - 4)?;
        let Some((size, head)) = seam[..n].split_first_chunk() else { return Ok(false) };
        ends.add(len, u32::from_le_bytes(*size).into(), head == b"\x1f\x8b\x08");
    }
    Ok(ends.at.file == file_len)
}

/// Reads as much as there is, up to the length of `buffer`.
fn read_all_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut len = 0;
    while len < buffer.len() {
        match read_at(file, &mut buffer[len..], offset + len as u64) {
            Ok(0) => break,
            Ok(n) => len += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(len)
}
