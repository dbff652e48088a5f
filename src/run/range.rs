//! Parts of inputs: the lines whose first byte lies in a range, so that adjoining ranges give each line once, whatever the cut.

use std::io;
use std::ops::Range;

use super::count_chunk::Counter;
use super::sequential::{Packing, scan_on_the_way};
use super::shards::scan_shards;
use super::{Effort, Scanned, scan_numbered};
use crate::input::{Input, Opened, Span};
use crate::records::Format;
use crate::run::chunk_cutter::AnyPieces;
use crate::run::format_choice::Reading;
use crate::run::pipeline::Failure;
use crate::scan::Options;

/// Some lines of an input: those whose first byte lies in a range of its bytes, decoded where it is compressed.
///
/// A byte order mark belongs to the first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the input, in the order in which they were given.
    pub input: u32,
    /// The range; one that ends at [`u64::MAX`] goes to the end.
    pub range: Range<u64>,
    /// How many bytes the input should have, if that is known.
    pub size: Option<u64>,
}

impl Part {
    /// All of an input.
    #[must_use]
    pub fn whole(input: u32) -> Self {
        Self { input, range: 0..u64::MAX, size: None }
    }

    /// Whether it is all of an input.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.range.start == 0 && (self.range.end == u64::MAX || self.size == Some(self.range.end))
    }
}

/// What a scan of parts found.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ScannedParts {
    /// What a scan of inputs finds too. Line numbers in it count from where a part begins, until what comes before it has been
    /// merged.
    pub scanned: Scanned,
    /// Of each part, how many bytes its input has, if that was seen: a part may be read without coming to the end.
    pub sizes: Vec<Option<u64>>,
}

/// Judges the lines of some parts of `inputs`, and counts them. What is counted does not depend on `effort`.
///
/// Parts of formats whose records are lines, and that have no header, are taken as those of lists are; inputs of other formats can
/// only be read whole, and a part that is not is a failure. So is one of an input that has another size than the part says.
/// Several whole inputs are read as [`scan_records`](super::scan_records) reads them; of parts one is read after the other, each
/// on all threads if it is of a file.
#[must_use]
pub fn scan_parts(
    inputs: &[Input],
    parts: &[Part],
    reading: &Reading,
    options: &Options,
    effort: &Effort,
) -> ScannedParts {
    let effort = &Effort { leaves_open: true, ..effort.clone() };
    let mut found = ScannedParts { sizes: vec![None; parts.len()], ..ScannedParts::default() };
    let input_of = |part: &Part| &inputs[part.input as usize];
    let whole: Vec<_> =
        parts.iter().filter(|part| part.is_whole()).map(|part| (part.input, input_of(part))).collect();
    if !whole.is_empty() {
        found.scanned = scan_numbered(whole, reading, options, effort);
    }
    for (part, size) in parts.iter().zip(&mut found.sizes) {
        let mut scanned = Scanned::default();
        if part.is_whole() {
            let failed = found.scanned.failures.iter().any(|failure| failure.input == part.input);
            let runs = found.scanned.tally.runs().iter().filter(|run| run.input == part.input);
            *size = (!failed).then(|| runs.map(|run| run.end).max().unwrap_or(0));
        } else {
            (scanned, *size) = scan_part(input_of(part), part, reading, options, effort)
                .unwrap_or_else(|error| (Scanned::failed(part.input, error), None));
        }
        if let (Some(expected), Some(size)) = (part.size, *size)
            && size != expected
        {
            scanned.failures.push(Failure { input: part.input, error: other_size(expected, size) });
        }
        found.scanned = found.scanned.merge(scanned);
    }
    found.scanned.failures.sort_by_key(|failure| failure.input);
    found
}

fn other_size(expected: u64, size: u64) -> io::Error {
    io::Error::other(format!("has {size} bytes, and should have {expected}: it is not what was planned"))
}

/// Judges a part that is not all of its input; how many bytes that has, if it was seen.
fn scan_part(
    input: &Input,
    part: &Part,
    reading: &Reading,
    options: &Options,
    effort: &Effort,
) -> io::Result<(Scanned, Option<u64>)> {
    if part
        .size
        .is_some_and(|size| part.range.start > size || (part.range.end > size && part.range.end < u64::MAX))
    {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "the range does not lie in an input of that size",
        ));
    }
    let reader = reading.reader(format_of(input, reading)?)?;
    let counter = Counter::new(options, effort);
    let watch = effort.watch.as_ref();
    let opened = input.open(watch)?;
    // An input of another size is not counted.
    let is_right = |size| part.size.is_none_or(|expected| expected == size);
    if let Opened::File(file, len) = &opened {
        let range = part.range.start.min(*len)..part.range.end.min(*len);
        let mut scanned = Scanned::default();
        if is_right(*len) {
            scanned = scan_shards(scanned, (file, *len), range, part.input, &reader, &counter);
        }
        return Ok((scanned, Some(*len)));
    }
    let (bytes, packed) = Packing::open(opened, None, watch)?;
    // A range that should end with the input is read to the input's end, which shows its size.
    let range_end = if part.size == Some(part.range.end) { u64::MAX } else { part.range.end };
    let span = Span::new(bytes, &(part.range.start..range_end))?;
    let (reader, end) = (reader.standing_at(span.offset(), 1), span.source_end());
    let pieces = AnyPieces::new(span, reader, effort.sizes());
    let mut scanned = scan_on_the_way(pieces, part.input, &counter);
    scanned.compressed.extend(packed.map(|packing| packing.found(part.input)));
    let size = end.get().or(part.size);
    Ok((if size.is_none_or(is_right) { scanned } else { Scanned::default() }, size))
}

/// How the URLs of a part's input are written down. A stream is read only once, so that its first records tell nothing beforehand.
///
/// # Errors
/// When that cannot be told, or parts of it cannot be read.
fn format_of(input: &Input, reading: &Reading) -> io::Result<Format> {
    if reading.format.is_none() && input.is_stream() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "cannot be looked at from its start to see what it is; say so by --input-format (lines, for a list)",
        ));
    }
    let format = reading.format_of(input)?;
    if format.is_cut_at_lines() {
        return Ok(format);
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "a part of it cannot be read alone: it is {format}, whose records depend on what comes before them; scan it whole"
        ),
    ))
}
