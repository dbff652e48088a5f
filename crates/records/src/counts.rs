//! Why records cannot be read or have no field, and how many there are of each kind.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use urlsift_grammar::named;

named! {
    /// Why a record cannot be read.
    BadCause {
        /// The line does not look like a record of the format.
        NotARecord = "not-a-record",
        /// The record precedes the header that names its columns.
        NoHeader = "no-header",
        /// The header names no such column.
        NoColumn = "no-column",
        /// The record ends before the column.
        TooFewFields = "too-few-fields",
        /// A quote is not closed.
        QuoteNotClosed = "quote-not-closed",
        /// Text directly follows a closing quote.
        TextBehindQuote = "text-behind-quote",
        /// A backslash precedes a quote, and neither way to read it gives a well-formed record.
        DoubtfulQuote = "doubtful-quote",
        /// The request is not a method, a target and perhaps a version.
        BadRequest = "bad-request",
        /// The JSON is damaged, or is not an object.
        BadJson = "bad-json",
        /// An escape in the field is invalid.
        BadEscape = "bad-escape",
        /// The value is not a string.
        NotAString = "not-a-string",
        /// The head of a WARC record does not give the length of the record.
        NoLength = "no-length",
        /// The input or the page ends inside the record.
        CutOff = "cut-off",
        /// The record is longer than 8 MiB.
        TooLong = "too-long",
        /// In running text, no scheme precedes "://".
        NoScheme = "no-scheme",
        /// In running text, nothing of a URL follows "://" or "www.".
        NothingFollows = "nothing-follows",
        /// XML does not allow the tag, or the end tag does not match.
        BadXml = "bad-xml",
        /// The body of a page in a web archive is not compressed or chunked as its head says.
        BadEncoding = "bad-encoding",
    }
}

named! {
    /// Why a record has no field although nothing is wrong.
    Skip {
        /// It is a blank line.
        Blank = "blank",
        /// It is a comment.
        Comment = "comment",
        /// It is the header, which names the columns.
        Header = "header",
        /// It has no such field, or the field marks itself as empty ("-", null).
        NoField = "no-field",
        /// It is a page in a web archive whose body is compressed in a way that is not read.
        Encoded = "encoded",
    }
}

/// The result of a format's reader for one record: it had fields, or why it had none.
pub(super) type Outcome = Result<(), Miss>;

/// Why a record gave no field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Miss {
    Skipped(Skip),
    /// The cause, and the offset of the defect in the record.
    Bad(BadCause, usize),
}

/// A record that cannot be read. Later records are still read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BadRecord {
    /// Why it cannot be read.
    pub cause: BadCause,
    /// The offset of the record in bytes, from the start of the input.
    pub offset: u64,
    /// The offset of the defect in bytes, from the start of the record.
    pub at: u64,
    /// The number of the line where the record begins, from 1.
    pub line: u64,
}

impl fmt::Display for BadRecord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "line {}, byte {}: {}", self.line, self.at + 1, self.cause)
    }
}

impl Error for BadRecord {}

/// Counts of records. Each record is read, refused or skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    read: u64,
    refused: [u64; BadCause::ALL.len()],
    skipped: [u64; Skip::ALL.len()],
}

impl Counts {
    /// Records that gave at least one field.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// Records that could not be read, for this cause.
    #[must_use]
    pub fn refused(&self, cause: BadCause) -> u64 {
        self.refused[cause as usize]
    }

    /// Records without a field, for this reason.
    #[must_use]
    pub fn skipped(&self, reason: Skip) -> u64 {
        self.skipped[reason as usize]
    }

    /// Counts of `read` records that had a field, and of records `without` one.
    #[cfg(feature = "parquet")]
    pub fn of(read: u64, without: u64) -> Self {
        let mut counts = Self { read, ..Self::default() };
        counts.skipped[Skip::NoField as usize] = without;
        counts
    }

    /// Counts a record, which has fields unless it misses them.
    #[inline(always)]
    pub(super) fn add(&mut self, miss: Option<Miss>) {
        match miss {
            None => self.read += 1,
            Some(Miss::Skipped(reason)) => self.skipped[reason as usize] += 1,
            Some(Miss::Bad(cause, _)) => self.refused[cause as usize] += 1,
        }
    }

    /// The number of all records.
    #[must_use]
    pub fn records(&self) -> u64 {
        self.read + self.refused.iter().sum::<u64>() + self.skipped.iter().sum::<u64>()
    }

    /// The number of all records. The sum cannot overflow, even if the counts come from a partial report that somebody edited.
    pub fn sum(&self) -> u128 {
        self.refused.iter().chain(&self.skipped).chain([&self.read]).copied().map(u128::from).sum()
    }

    /// Adds the records of `other`.
    #[must_use]
    pub fn merge(mut self, other: &Self) -> Self {
        self.read += other.read;
        self.refused.iter_mut().zip(other.refused).for_each(|(own, other)| *own += other);
        self.skipped.iter_mut().zip(other.skipped).for_each(|(own, other)| *own += other);
        self
    }
}
