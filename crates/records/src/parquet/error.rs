//! The error of a Parquet file that cannot be read, or not to its end.

use std::error::Error;
use std::{fmt, io};

/// Why a Parquet file could not be read to its end. If an input fails for this reason, its [`io::Error`] contains it.
#[derive(Debug)]
pub struct TableError {
    kind: TableErrorKind,
    message: String,
}

/// The kind of a [`TableError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableErrorKind {
    /// The file is not a Parquet file, or is too short to be one.
    NotParquet,
    /// The content of the file is damaged.
    Damaged,
    /// The file uses a feature of the format that is not supported.
    Unsupported,
    /// The file has no such column, or the column contains no text.
    Column,
    /// The file needs more memory than the limits allow.
    TooLarge,
}

impl TableError {
    pub(super) fn new(kind: TableErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn damaged(message: impl Into<String>) -> Self {
        Self::new(TableErrorKind::Damaged, message)
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(TableErrorKind::Unsupported, message)
    }

    pub(super) fn too_large(message: impl Into<String>) -> Self {
        Self::new(TableErrorKind::TooLarge, message)
    }

    /// Puts `place`, which was being read, before the message.
    pub(super) fn within(self, place: impl fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// Appends what had been done before the error to the message.
    pub fn behind(self, done: impl fmt::Display) -> Self {
        Self { message: format!("{}; {done}", self.message), ..self }
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> TableErrorKind {
        self.kind
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl Error for TableError {}

impl From<TableError> for io::Error {
    fn from(error: TableError) -> Self {
        let kind = match error.kind {
            TableErrorKind::NotParquet | TableErrorKind::Damaged | TableErrorKind::TooLarge => {
                io::ErrorKind::InvalidData
            }
            TableErrorKind::Unsupported => io::ErrorKind::Unsupported,
            TableErrorKind::Column => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, error)
    }
}
