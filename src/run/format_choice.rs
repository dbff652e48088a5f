//! Where in an input the URLs stand: which format it has, as somebody said or as its first records look like.

use std::io::{self, Cursor, Read};

use memchr::memchr;

use crate::input::Input;
use crate::lines::last_end;
use crate::records::{Format, Reader, Selector};

/// How inputs are read: where in them the URLs stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The format of all of them; `None` is for each what its first records look like.
    pub format: Option<Format>,
    /// The fields of a record that are URLs; those of the format ([`Reader::new`]) where there are none here.
    pub fields: Vec<Selector>,
}

/// A source, whatever it is.
pub(crate) type Source<'a> = Box<dyn Read + Send + 'a>;

impl Reading {
    /// Inputs of that format.
    #[must_use]
    pub fn of(format: Format) -> Self {
        Self { format: Some(format), fields: Vec::new() }
    }

    /// The reader for what `source` has, and the source from its start on.
    ///
    /// # Errors
    /// When its format cannot have such fields. What is wrong with the source itself is found when it is read.
    pub(crate) fn open<'a>(&self, mut source: Source<'a>) -> io::Result<(Reader, Source<'a>)> {
        let (format, head) = self.look(&mut source);
        Ok((self.reader(format)?, Box::new(head.then(source))))
    }

    /// How what `source` has is written down, and what was read of it to see that: nothing, if somebody has said it.
    pub(crate) fn look(&self, source: &mut impl Read) -> (Format, Head) {
        if let Some(format) = self.format {
            return (format, Head::default());
        }
        let head = Head::of(source, &self.fields);
        (Format::detect_with(&head.bytes, &self.fields), head)
    }

    /// How the URLs of an input are written down. Of one that is a stream, what was looked at is lost.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub(crate) fn format_of(&self, input: &Input) -> io::Result<Format> {
        match self.format {
            Some(format) => Ok(format),
            None => Ok(self.look(&mut input.open(None)?.bytes(None)?).0),
        }
    }

    /// A reader of inputs of that format.
    ///
    /// # Errors
    /// When it cannot have such fields, or has no reader.
    pub(crate) fn reader(&self, format: Format) -> io::Result<Reader> {
        Reader::with_fields(format, &self.fields).map_err(|error| {
            let kind = io::ErrorKind::InvalidInput;
            if self.format.is_none() && format == Format::Lines {
                let looks = "its first records look like no format that has fields; --input-format says what they are";
                return io::Error::new(kind, format!("{error}, and {looks}"));
            }
            io::Error::new(kind, error)
        })
    }
}

/// How much of an input is looked at to tell its format at most, in bytes.
const HEAD_LEN: usize = 64 << 10;

/// The beginning of a source.
#[derive(Default)]
pub(crate) struct Head {
    bytes: Vec<u8>,
    /// Whether the source ends behind it.
    has_ended: bool,
    /// Why, if that is an error.
    failed: Option<io::Error>,
}

impl Head {
    /// As much as it takes to tell the format: of a list mostly what comes first, so that nobody waits for more.
    fn of(source: &mut impl Read, fields: &[Selector]) -> Self {
        let mut bytes = vec![0; HEAD_LEN];
        let (mut len, mut has_ended, mut failed) = (0, false, None);
        while len < bytes.len() && !has_ended {
            match source.read(&mut bytes[len..]) {
                Ok(0) => has_ended = true,
                Ok(n) => {
                    let has_line = memchr(b'\n', &bytes[len..len + n]).is_some();
                    len += n;
                    if has_line
                        && last_end(&bytes[..len])
                            .is_some_and(|end| Format::is_settled(&bytes[..end], fields))
                    {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => (has_ended, failed) = (true, Some(error)),
            }
        }
        bytes.truncate(len);
        Self { bytes, has_ended, failed }
    }

    /// The source from its start on; `source` is what is left of it.
    pub(crate) fn then<R: Read>(self, source: R) -> impl Read {
        // The end of a terminal's input comes once.
        let rest = if self.has_ended { None } else { Some(source) };
        Cursor::new(self.bytes).chain(Rest { source: rest, failed: self.failed })
    }
}

/// What is left of a source; where it has ended, no more than an error, if there is one.
struct Rest<R> {
    source: Option<R>,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Rest<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Some(source) => source.read(buffer),
            None => self.failed.take().map_or(Ok(0), Err),
        }
    }
}
