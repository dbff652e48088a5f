//! Cuts inputs into splits that can be scanned on different machines. Nothing is decoded, so a compressed input is
//! one split. Parquet files are cut between row groups. This file knows nothing of counts.

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::partial_report::MAX_INPUTS;
use crate::run::builder::Scan;
use crate::run::{Part, Reading};
use crate::tally::MAX_BYTES;
use urlsift_grammar::escape::printable;
use urlsift_input::{Advice, Input, Opened};
use urlsift_records::Format;
#[cfg(feature = "parquet")]
use urlsift_records::parquet::Table;

/// A part of an input, with everything needed to scan it. Serialized as one line of JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Split {
    /// The number of the input in the corpus, from 0.
    pub input: u32,
    /// How many inputs the corpus has, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<u32>,
    /// The name of the input in the report.
    pub name: String,
    /// The path that is opened; `-` is standard input.
    pub path: PathBuf,
    /// Where the range of bytes starts. Bytes of a compressed input are counted after decoding.
    pub start: u64,
    /// Where the range ends; `None` is the end of the input.
    pub end: Option<u64>,
    /// The size of the input in bytes; `None` if it is not known.
    pub size: Option<u64>,
}

impl Split {
    /// Checks that the split is possible, because anybody can write a plan.
    ///
    /// # Errors
    /// What is wrong with the split.
    pub fn check(&self) -> Result<(), String> {
        let Self { start, end, size, .. } = *self;
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
        Ok(())
    }

    /// Converts the split to a part. `input` is the number of its input among those that are opened.
    #[must_use]
    pub fn part(&self, input: u32) -> Part {
        Part { input, range: self.start..self.end.unwrap_or(u64::MAX), size: self.size }
    }
}

/// Cuts inputs into splits of about `split_size` bytes (at least 1), the largest first.
///
/// A compressed input is one split, and so is UTF-16. So is an input in a format whose records depend on what precedes them. Only the
/// beginning of each file is read, and the footer of a Parquet file.
///
/// # Errors
/// The error of the first input that is not a file, cannot be read, or has a path that is not UTF-8.
pub fn plan(inputs: &[Input], reading: &Reading, split_size: u64) -> io::Result<Vec<Split>> {
    let n_inputs = u32::try_from(inputs.len()).map_err(io::Error::other)?;
    let mut splits = Vec::new();
    for (number, input) in (0..n_inputs).zip(inputs) {
        let named = |error| Advice::at(input.name(), &error);
        let Some(path) = input.path() else {
            let why = if input.is_standard() { None } else { input.open(None).err() };
            return Err(named(why.unwrap_or_else(not_a_file)));
        };
        if path.to_str().is_none() {
            return Err(named(io::Error::other("its path is not UTF-8, and cannot be written as JSON")));
        }
        let Measured { size, weight, cuts } = measure(input, reading, split_size).map_err(named)?;
        let whole = Split {
            input: number,
            inputs: Some(n_inputs),
            name: input.name().to_owned(),
            path: path.to_owned(),
            start: 0,
            end: size,
            size,
        };
        let Some(len) = size.filter(|&len| len > 0) else {
            splits.push((weight, whole));
            continue;
        };
        let ends = cuts.iter().skip(1).copied().chain([len]);
        splits.extend(
            cuts.iter()
                .zip(ends)
                .map(|(&start, end)| (end - start, Split { start, end: Some(end), ..whole.clone() })),
        );
    }
    // The sort is stable: splits of equal size stay in the order of the inputs.
    splits.sort_by_key(|(len, _)| std::cmp::Reverse(*len));
    Ok(splits.into_iter().map(|(_, split)| split).collect())
}

/// Cuts an input into parts of about `split_size` bytes (at least 1), in their order, so that each can be scanned by
/// [`Scan::parts`] on another machine, as the only input there.
///
/// An input that can only be read from its start is one part: a compressed one, UTF-16, and a format whose records depend on
/// what precedes them. Only the beginning of the input is read, and the footer of a Parquet file.
///
/// # Errors
/// If the input is neither a file nor an object, or cannot be read.
pub fn cut(scan: &Scan, input: Input, split_size: u64) -> io::Result<Vec<Part>> {
    let split_size = split_size.max(1);
    let Measured { size, cuts, .. } = measure(&input.with_codec(scan.codec), &scan.reading(), split_size)?;
    let ends = cuts.iter().skip(1).copied().chain([size.filter(|&size| size > 0).unwrap_or(u64::MAX)]);
    let part = |(&start, end)| Part { input: 0, range: start..end, size };
    Ok(cuts.iter().zip(ends).map(part).collect())
}

fn not_a_file() -> io::Error {
    io::Error::other("only files can be planned")
}

/// The assumed ratio of decoded to compressed size.
const EXPANSION: u64 = 5;

/// How an input can be cut.
struct Measured {
    /// Its size, if it can be cut.
    size: Option<u64>,
    /// The estimated bytes to read, which only order the splits.
    weight: u64,
    /// Where its splits begin.
    cuts: Vec<u64>,
}

fn measure(input: &Input, reading: &Reading, split_size: u64) -> io::Result<Measured> {
    // To open a pipe, or to read it, may wait for ever.
    if input.may_wait() {
        return Err(not_a_file());
    }
    let whole = |size, weight| Ok(Measured { size, weight, cuts: vec![0] });
    let (len, is_decoded) = match input.open(None)? {
        Opened::File(file, len) => (len, reading.is_utf16_file(&file)?),
        Opened::Packed(_) => (input.size_bytes().unwrap_or(0).saturating_mul(EXPANSION), true),
        Opened::Stream(_) if input.size_bytes().is_some() => return whole(Some(0), 0),
        Opened::Stream(_) => return Err(not_a_file()),
    };
    let format = reading.format_of(input)?;
    if format == Format::Parquet {
        #[cfg(feature = "parquet")]
        if let Opened::File(file, _) = input.open(None)? {
            // A damaged file is one split, so that its scan names the damage.
            let cuts = Table::open(file, len, None).map(|table| table.cuts(split_size));
            return cuts.map_or_else(
                |_| whole(None, len),
                |cuts| Ok(Measured { size: Some(len), weight: len, cuts }),
            );
        }
        return whole(None, len);
    }
    reading.reader(format, &[])?;
    if !format.is_cut_at_lines() || is_decoded {
        return whole(None, len);
    }
    let cuts = (0..len.div_ceil(split_size)).map(|n| n * split_size).collect();
    Ok(Measured { size: Some(len), weight: len, cuts })
}
