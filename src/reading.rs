//! Where in an input the URLs stand: which format it has, as somebody said or as its first records look like.

use std::io::{self, Cursor, Read};

use crate::format::{Format, Reader, Selector};

/// How inputs are read: where in them the URLs stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The format of all of them; `None` is for each what its first records look like.
    pub format: Option<Format>,
    /// The fields of a record that are URLs; those of the format ([`Reader::new`]) where there are none here.
    pub fields: Vec<Selector>,
}

/// A source from its start on, of which something has been looked at.
pub(crate) type Source = Box<dyn Read + Send>;

impl Reading {
    /// Inputs of that format.
    #[must_use]
    pub fn of(format: Format) -> Self {
        Self { format: Some(format), fields: Vec::new() }
    }

    /// Whether every input is a list, and need not be looked at.
    pub(crate) fn is_of_lists(&self) -> bool {
        *self == Self::of(Format::Lines)
    }

    /// The reader for what `source` has, and the source from its start on.
    ///
    /// # Errors
    /// When its format cannot have such fields. What is wrong with the source itself is found when it is read.
    pub(crate) fn open(&self, mut source: Source) -> io::Result<(Reader, Source)> {
        if let Some(format) = self.format {
            return Ok((self.reader(format)?, source));
        }
        let (head, failed) = head_of(&mut source);
        let reader = self.reader(Format::detect(&head))?;
        // The end of a terminal's input comes once.
        let has_ended = failed.is_some() || (head.len() as u64) < HEAD_LEN;
        let behind = if has_ended { Box::new(Failing(failed)) } else { source };
        Ok((reader, Box::new(Cursor::new(head).chain(behind))))
    }

    fn reader(&self, format: Format) -> io::Result<Reader> {
        Reader::with_fields(format, &self.fields)
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))
    }
}

/// How much of an input is looked at to tell its format, in bytes.
const HEAD_LEN: u64 = 64 << 10;

/// The first bytes of a source, and why there are no more, if that is an error.
fn head_of(source: &mut impl Read) -> (Vec<u8>, Option<io::Error>) {
    let mut head = Vec::new();
    let read = source.take(HEAD_LEN).read_to_end(&mut head);
    (head, read.err())
}

/// A source that has ended, with an error if there is one.
struct Failing(Option<io::Error>);

impl Read for Failing {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}
