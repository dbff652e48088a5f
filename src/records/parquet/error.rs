//! Why a Parquet file, or the rest of one, cannot be read.

use std::error::Error;
use std::fmt;
use std::io;

/// Why a Parquet file could not be read to its end; inside an [`io::Error`] where it is a failure of an input.
#[derive(Debug)]
pub struct TableError {
    kind: TableErrorKind,
    message: String,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableErrorKind {
    /// It is no Parquet file, or ends too early to be one.
    NotParquet,
    /// Its bytes are not what was written.
    Damaged,
    /// It is written in a way that is not read here.
    Unsupported,
    /// It has no such column, or one that holds no text.
    Column,
    /// Reading it takes more memory than there is to be.
    TooLarge,
}

impl TableError {
    pub(super) fn new(kind: TableErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn damaged(message: impl Into<String>) -> Self {
        Self::new(TableErrorKind::Damaged, message)
    }

    /// The same, with what was being read before it.
    pub(super) fn within(self, place: impl fmt::Display) -> Self {
        Self { message: format!("{place}: {}", self.message), ..self }
    }

    /// The same, with what had been done before it.
    pub(crate) fn behind(self, done: impl fmt::Display) -> Self {
        Self { message: format!("{}; {done}", self.message), ..self }
    }

    /// What kind of error it is.
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
