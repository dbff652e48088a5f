//! Errors with advice. The error says what is wrong and where. What helps is a value, because each front end names its options in its own
//! words.

use std::error::Error;
use std::{fmt, io};

/// What helps against an error. Not `non_exhaustive`: a new kind must not compile until each front end has words for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advice {
    /// Ask for a field that is there, by its name or its number.
    ChooseField,
    /// Ask for fields with smaller numbers: the numbers say that records have more columns than they have.
    ChooseSmallerNumber,
    /// Ask for any variable of a log as a field.
    NameVariable,
    /// Say which format the records have.
    ChooseFormat,
    /// Say which of several formats the input has.
    ChooseOneFormat,
    /// Ask for lines and no decoding, to read any bytes as lines.
    ReadAsLines,
    /// List the values of a table in place of a split.
    ListValues,
    /// List the URLs of records in the format of this name in place of a split.
    ListUrls(&'static str),
}

impl Advice {
    /// An error with this advice. `what` says what is wrong.
    pub fn error(self, kind: io::ErrorKind, what: impl fmt::Display) -> io::Error {
        io::Error::new(kind, Advised(what.to_string(), self))
    }

    /// The advice of an error.
    pub fn of(error: &io::Error) -> Option<Self> {
        error.get_ref()?.downcast_ref::<Advised>().map(|advised| advised.1)
    }

    /// The error with its place before it.
    pub fn at(place: &str, error: &io::Error) -> io::Error {
        let (kind, what) = (error.kind(), format!("{place}: {error}"));
        Self::of(error)
            .map_or_else(|| io::Error::new(kind, what.as_str()), |advice| advice.error(kind, &what))
    }

    /// The error with its advice in the words of a front end, which continue the sentence.
    pub fn said<W: fmt::Display>(error: io::Error, words: impl Fn(Self) -> W) -> io::Error {
        match Self::of(&error) {
            Some(advice) => io::Error::new(error.kind(), format!("{error}{}", words(advice))),
            None => error,
        }
    }
}

/// What is wrong, and what helps. Its text leaves the advice out.
#[derive(Debug)]
struct Advised(String, Advice);

impl fmt::Display for Advised {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl Error for Advised {}
