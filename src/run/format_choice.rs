//! Chooses the reader of an input: by the format that the user names, or by its first records.
//!
//! This module reads only the beginning of an input. `records` knows the formats.

use std::io::{self, Cursor, Read};

use memchr::memchr;

use crate::input::{Foreign, Input};
use crate::lines::last_end;
use crate::records::{Format, Reader, Selector};

/// How inputs are read: their format, and the fields that are URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The format of all inputs. `None` means that the format of each is detected from its first records.
    pub format: Option<Format>,
    /// The fields of a record that are URLs. If there are none, the format decides ([`Reader::new`]).
    pub fields: Vec<Selector>,
    /// Whether contents of any kind are read as the format says. Otherwise an input is refused if its first bytes are those
    /// of an archive, an image, a database or other binary data.
    pub any_contents: bool,
}

/// A source of any kind.
pub(crate) type Source<'a> = Box<dyn Read + Send + 'a>;

impl Reading {
    /// A reading of inputs of this format, whatever their contents are.
    #[must_use]
    pub fn of(format: Format) -> Self {
        Self { format: Some(format), fields: Vec::new(), any_contents: true }
    }

    /// The reader for `source`, and the source from its start.
    ///
    /// # Errors
    /// When the contents of the source are not read, or its format cannot have the requested fields. Errors of the source
    /// itself are found when it is read.
    pub(crate) fn open<'a>(&self, mut source: Source<'a>) -> io::Result<(Reader, Source<'a>)> {
        let (format, head) = self.look(&mut source)?;
        Ok((self.reader(format)?, Box::new(head.then(source))))
    }

    /// The format of `source`, and the bytes that were read to detect it.
    ///
    /// # Errors
    /// When `source` begins with contents that urlsift does not read.
    pub(crate) fn look(&self, source: &mut impl Read) -> io::Result<(Format, Head)> {
        let head = match self.format {
            Some(_) if self.any_contents => Head::default(),
            Some(_) => Head::of(source, |_| true),
            None => Head::of(source, |lines| Format::is_settled(lines, &self.fields)),
        };
        let format = self.format.unwrap_or_else(|| Format::detect_with(&head.bytes, &self.fields));
        let foreign = Foreign::by_magic(&head.bytes)
            .or_else(|| (format == Format::Lines).then(|| Foreign::by_nul_bytes(&head.bytes)).flatten());
        match foreign.filter(|_| !self.any_contents) {
            Some(foreign) => Err(io::Error::new(io::ErrorKind::InvalidData, foreign.to_string())),
            None => Ok((format, head)),
        }
    }

    /// The format of an input. If the input is a stream, the bytes that were read to detect it are lost.
    ///
    /// # Errors
    /// When the input cannot be opened, or its contents are not read.
    pub(crate) fn format_of(&self, input: &Input) -> io::Result<Format> {
        match self.format {
            Some(format) => Ok(format),
            None => Ok(self.look(&mut input.open(None)?.bytes(None)?)?.0),
        }
    }

    /// A reader of inputs of this format.
    ///
    /// # Errors
    /// When the format cannot have the requested fields, or has no reader.
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

/// Most bytes of an input that are read to detect its format.
const HEAD_LEN: usize = 64 << 10;

/// The beginning of a source.
#[derive(Default)]
pub(crate) struct Head {
    bytes: Vec<u8>,
    /// Whether the source ends after these bytes.
    has_ended: bool,
    /// The error, if the source ended with one.
    failed: Option<io::Error>,
}

impl Head {
    /// Reads as much as is needed to detect the format. `is_settled` says of whole lines whether more bytes cannot change
    /// it. For a list, the first read is mostly enough, so that the caller does not wait for more. NUL bytes are counted,
    /// so that more is read after one.
    fn of(source: &mut impl Read, is_settled: impl Fn(&[u8]) -> bool) -> Self {
        let mut bytes = vec![0; HEAD_LEN];
        let (mut len, mut has_ended, mut failed) = (0, false, None);
        while len < bytes.len() && !has_ended {
            match source.read(&mut bytes[len..]) {
                Ok(0) => has_ended = true,
                Ok(n) => {
                    let has_line = memchr(b'\n', &bytes[len..len + n]).is_some();
                    len += n;
                    if has_line
                        && !bytes[..len].contains(&0)
                        && last_end(&bytes[..len]).is_some_and(|end| is_settled(&bytes[..end]))
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

    /// The source from its start. `source` is what follows this head.
    pub(crate) fn then<R: Read>(self, source: R) -> impl Read {
        // A terminal reports the end of its input only once, so a source that has ended is not read again.
        let rest = if self.has_ended { None } else { Some(source) };
        Cursor::new(self.bytes).chain(Rest { source: rest, failed: self.failed })
    }
}

/// The rest of a source. If the source has ended, this is only its error, or nothing.
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
