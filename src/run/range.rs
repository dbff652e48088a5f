//! Scans parts of inputs: the lines whose first byte is in a range, or the row groups of a Parquet file. Adjoining ranges
//! give each of them once, wherever the cut is.
//!
//! This module decides which inputs can be read in parts, and checks their lengths. `shards` and `sequential` read the
//! parts.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read};
use std::ops::Range;

use super::count_chunk::Counter;
use super::files::{Access, scan_opened};
use super::sequential::scan_chunks;
use super::workers::Workers;
use super::{ExecOptions, Scanned, scan_numbered};
use crate::run::chunk_cutter::AnyChunks;
use crate::run::format_choice::{Head, Reading};
use crate::run::pipeline::Failure;
use crate::scan::Options;
use urlsift_input::{Input, Opened, Span};
use urlsift_records::Format;
use urlsift_records::input_signs::Signs;
use urlsift_records::looks::Looks;

/// The lines of an input whose first byte is in a range. Offsets in a compressed input are those of its decoded bytes. Of a
/// Parquet file, these are the rows of the row groups that begin in the range of its bytes.
///
/// A byte order mark belongs to the first line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The number of the input, from 0, in the order given.
    pub input: u32,
    /// The range. An end of [`u64::MAX`] is the end of the input.
    pub range: Range<u64>,
    /// The expected length of the input in bytes, if it is known.
    pub size: Option<u64>,
}

impl Part {
    /// All of an input.
    #[must_use]
    pub fn whole(input: u32) -> Self {
        Self { input, range: 0..u64::MAX, size: None }
    }

    /// Whether this is all of an input.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.range.start == 0 && (self.range.end == u64::MAX || self.size == Some(self.range.end))
    }
}

/// The result of a scan of parts.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ScannedParts {
    /// The result in the form that scans of inputs also return. Line numbers count from the start of a part, until the
    /// parts before it have been merged.
    pub scanned: Scanned,
    /// The length of each part's input in bytes, if it was seen. A part may be read without reaching the end of its
    /// input.
    pub sizes: Vec<Option<u64>>,
}

/// Judges and counts the lines of some parts of `inputs`, as [`Scan::parts`](super::builder::Scan::parts) says. Whole inputs are read as
/// [`scan_records`](super::scan_records) reads them.
#[must_use]
pub fn scan_parts(
    inputs: &[Input],
    parts: &[Part],
    reading: &Reading,
    options: &Options,
    exec: &ExecOptions,
) -> ScannedParts {
    let exec = &ExecOptions { leaves_open: true, ..exec.clone() };
    let mut found = ScannedParts { sizes: vec![None; parts.len()], ..ScannedParts::default() };
    let input_of = |part: &Part| &inputs[part.input as usize];
    let whole: Vec<_> =
        parts.iter().filter(|part| part.is_whole()).map(|part| (part.input, input_of(part))).collect();
    if !whole.is_empty() {
        found.scanned = scan_numbered(whole, reading, options, exec);
    }
    let Scanned { tally, failures, table_lens, .. } = &found.scanned;
    let failed: BTreeSet<_> = failures.iter().map(|failure| failure.input).collect();
    let tables: BTreeMap<_, _> = table_lens.iter().copied().collect();
    let read_to = |input| {
        let runs = &tally.runs()[..tally.runs().partition_point(|run| run.input <= input)];
        runs.last().filter(|run| run.input == input).map_or(0, |run| run.end)
    };
    for (part, size) in parts.iter().zip(&mut found.sizes).filter(|(part, _)| part.is_whole()) {
        let len = || tables.get(&part.input).copied().unwrap_or_else(|| read_to(part.input));
        *size = (!failed.contains(&part.input)).then(len);
    }
    for (part, size) in parts.iter().zip(&mut found.sizes) {
        if !part.is_whole() {
            let (mut scanned, seen) = scan_part(input_of(part), part, reading, options, exec)
                .unwrap_or_else(|error| (Scanned::default().failed(part.input, error), None));
            Failure::complete(&mut scanned.failures, &scanned.records);
            found.scanned = found.scanned.merge(scanned);
            *size = seen;
        }
        if let (Some(expected), Some(size)) = (part.size, *size)
            && size != expected
        {
            let what = format!("has {size} bytes, and should have {expected}: it is not what was planned");
            found.scanned = found.scanned.failed(part.input, io::Error::other(what));
        }
    }
    found.scanned.failures.sort_by_key(|failure| failure.input);
    found
}

/// Judges a part that is not all of its input. Also returns the length of the input, if it was seen.
fn scan_part(
    input: &Input,
    part: &Part,
    reading: &Reading,
    options: &Options,
    exec: &ExecOptions,
) -> io::Result<(Scanned, Option<u64>)> {
    let invalid = |why: &str| Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    let Range { start, end } = part.range;
    if start > end {
        return invalid("the range ends before it starts");
    }
    if part.size.is_some_and(|size| start > size || (end > size && end < u64::MAX)) {
        return invalid("the range does not lie in an input of that size");
    }
    let watch = exec.watch.as_ref();
    let counter = Counter::new(options, exec);
    let opened = input.open(watch)?;
    // An input of another length is not counted.
    let is_right = |size| part.size.is_none_or(|expected| expected == size);
    // The start of an input decides its looks, so its first part has the warning.
    let looks_at_start = |looks: Option<Looks>| looks.filter(|_| part.range.start == 0);
    let opened = match opened {
        Opened::File(file, len) if !reading.is_utf16_file(&file)? => {
            let (_, format, looks) = look_at(&mut &file, input, reading)?;
            if !is_right(len) {
                return Ok((Scanned::default(), Some(len)));
            }
            let access = match format {
                #[cfg(feature = "parquet")]
                Format::Parquet => Access::Table(file, len, part.range.clone()),
                _ => {
                    let range = part.range.start.min(len)..part.range.end.min(len);
                    Access::Shards(file, len, range, reading.reader(format, &[])?, looks_at_start(looks))
                }
            };
            let scanned = scan_opened((part.input, input), Ok(access), &[], reading, &counter);
            return Ok((scanned, Some(len)));
        }
        opened => opened,
    };
    let (bytes, packing) = opened.unpack(None, watch)?;
    let (mut bytes, utf16) = reading.decoded(bytes)?;
    let (head, format, looks) = look_at(&mut bytes, input, reading)?;
    let reader = reading.reader(format, &[])?;
    // A range that should end with the input is read to the end of the input, to learn its length.
    let range_end = if part.size == Some(part.range.end) { u64::MAX } else { part.range.end };
    let span = Span::new(head.then(bytes), &(part.range.start..range_end))?;
    let (reader, end) = (reader.standing_at(span.offset(), 1), span.source_end());
    let chunks = AnyChunks::new(Box::new(span), reader, exec.sizes());
    let mut scanned = Workers::of_stream(exec, |workers| {
        scan_chunks(Scanned::default(), chunks, part.input, &counter, workers)
    });
    scanned.tally.note(part.input, Signs::of_text(utf16, looks_at_start(looks)));
    scanned.note_codec(part.input, packing);
    let size = end.get().copied().or(part.size);
    Ok((if size.is_none_or(is_right) { scanned } else { Scanned::default() }, size))
}

/// The beginning of a part's input, which `source` reads from its start, its format, and what it looks like.
///
/// # Errors
/// When its contents are not read, or parts of its format cannot be read alone.
fn look_at(
    source: &mut impl Read,
    input: &Input,
    reading: &Reading,
) -> io::Result<(Head, Format, Option<Looks>)> {
    let head = reading.head(source, true);
    let (format, looks) = reading.recognise(&head.bytes, input.name())?;
    if format.is_cut_at_lines() || format == Format::Parquet {
        return Ok((head, format, looks));
    }
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "a part of it cannot be read alone: it is {format}, whose records depend on what comes before them; scan it whole"
        ),
    ))
}
