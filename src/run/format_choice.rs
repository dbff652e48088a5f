//! Chooses the reader of an input: by the format that the user names, or by its first records. Refuses contents that are
//! not read, and notices lists that look like other text.
//!
//! This module reads only the beginning of an input. `records` knows the formats.

use std::io::{self, Cursor, Read};
use std::sync::{Arc, OnceLock};

use memchr::memchr;

use urlsift_engine::lines::last_end;
use urlsift_input::{Advice, Foreign, Input, Seekable, utf16};
use urlsift_records::input_signs::Signs;
use urlsift_records::looks::{Looks, SAMPLE_LEN};
use urlsift_records::{Dialect, Escape, Format, Reader, Selector};

/// How inputs are read: their format, and the fields that are URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Reading {
    /// The format of all inputs. `None` means that the format of each is detected from its first records.
    pub format: Option<Format>,
    /// The fields of a record that are URLs. If there are none, the format decides ([`Reader::new`]).
    pub fields: Vec<Selector>,
    /// The ASCII character between the cells of CSV. `None` means that the first lines decide.
    pub delimiter: Option<char>,
    /// What makes a quote part of a cell of CSV or TSV. `None` means that the first lines decide.
    pub escape: Option<Escape>,
    /// The pattern of log lines, in the syntax of nginx's `log_format` or of Apache's `LogFormat`. [`Format::Log`] needs it.
    pub log_format: Option<String>,
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
        Self { format: Some(format), any_contents: true, ..Self::default() }
    }

    /// The reader for `source`, the source from its start, and its signs. `name` is that of the input.
    ///
    /// # Errors
    /// When the contents of the source are not read, or its format cannot have the requested fields. Errors of the source
    /// itself are found when it is read.
    pub(crate) fn open<'a>(
        &self,
        mut source: Source<'a>,
        name: &str,
    ) -> io::Result<(Reader, Source<'a>, TextSigns)> {
        let mut head = self.head(&mut source, false);
        let utf16 = self.is_utf16(&head);
        if utf16 {
            source = Box::new(utf16::decode(head.then(source)));
            head = self.head(&mut source, false);
        }
        let (format, looks) = self.recognise(&head.bytes, name)?;
        let reader = self.reader(format, &head.bytes)?;
        let signs = TextSigns { utf16, looks: Arc::default() };
        if format != Format::Lines || self.any_contents || head.is_whole() {
            if let Some(looks) = looks {
                let _ = signs.looks.set(looks);
            }
            return Ok((reader, Box::new(head.then(source)), signs));
        }
        let sampling = Sampling {
            source: head.then(source),
            sample: Some(Vec::new()),
            reading: self.clone(),
            looks: signs.looks.clone(),
            name: name.to_owned(),
        };
        Ok((reader, Box::new(sampling), signs))
    }

    /// Reads the beginning of `source`. If `is_file`, as much is read as can matter. Otherwise reading ends as soon as the
    /// format is settled, because the next read may block.
    pub(crate) fn head(&self, source: &mut impl Read, is_file: bool) -> Head {
        match self.format {
            Some(format) if self.any_contents && !self.needs_delimiter(format) => Head::default(),
            _ if is_file => Head::of(source, |_| false),
            Some(format) => {
                Head::of(source, |lines| !self.needs_delimiter(format) || Dialect::is_settled(lines))
            }
            None => Head::of(source, |lines| Format::is_settled(lines, &self.fields)),
        }
    }

    /// Whether an input that begins with `head` is to be decoded from UTF-16.
    pub(crate) fn is_utf16(&self, head: &Head) -> bool {
        !self.any_contents && utf16::has_mark(&head.bytes)
    }

    /// The source from its start, decoded if it is UTF-16, and whether it is.
    ///
    /// # Errors
    /// When the source cannot be read.
    pub(crate) fn decoded<'a>(&self, source: Source<'a>) -> io::Result<(Source<'a>, bool)> {
        if self.any_contents { Ok((source, false)) } else { utf16::decode_if_marked(source) }
    }

    /// Whether an opened file is to be decoded from UTF-16. The file is at its start and stays there.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn is_utf16_file(&self, file: &Seekable) -> io::Result<bool> {
        Ok(!self.any_contents && utf16::has_mark(&utf16::first_bytes(file)?))
    }

    /// Whether an opened file is a Parquet file. The file is at its start and stays there.
    ///
    /// # Errors
    /// When the file cannot be read, or these are contents that urlsift does not read.
    #[cfg(feature = "parquet")]
    pub(crate) fn is_table(&self, mut file: &Seekable, name: &str) -> io::Result<bool> {
        let may_be = match self.format {
            Some(format) => format == Format::Parquet,
            None => utf16::first_bytes(file)?.starts_with(b"PAR"),
        };
        if !may_be {
            return Ok(false);
        }
        let head = self.head(&mut file, true);
        file.rewind()?;
        Ok(self.recognise(&head.bytes, name)?.0 == Format::Parquet)
    }

    /// The format of an input that begins with `head`, and what it looks like if it is only a list because it looks like
    /// no format. `name` is that of the input.
    ///
    /// # Errors
    /// When these are contents that urlsift does not read.
    pub(crate) fn recognise(&self, head: &[u8], name: &str) -> io::Result<(Format, Option<Looks>)> {
        let format = self.format.unwrap_or_else(|| Format::detect_with(head, &self.fields));
        let is_list = format == Format::Lines;
        // Text may be any bytes.
        if !self.any_contents
            && format != Format::Text
            && let Some(foreign) = Foreign::of(head, is_list)
        {
            return Err(Advice::ReadAsLines.error(io::ErrorKind::InvalidData, foreign.message(name)));
        }
        Ok((format, if is_list && self.format.is_none() { Looks::of(head) } else { None }))
    }

    /// The format of an input that is a file.
    ///
    /// # Errors
    /// When the input cannot be opened, or its contents are not read.
    pub(crate) fn format_of(&self, input: &Input) -> io::Result<Format> {
        let (mut bytes, _) = self.decoded(input.reader()?.0)?;
        Ok(self.recognise(&self.head(&mut bytes, true).bytes, input.name())?.0)
    }

    /// Whether the first lines decide about the delimiter of this format.
    fn needs_delimiter(&self, format: Format) -> bool {
        format == Format::Csv && self.delimiter.is_none()
    }

    /// A reader of inputs of this format. The first bytes of the input, `head`, decide about the dialect of a table.
    ///
    /// # Errors
    /// When the format cannot have the requested fields, or has no reader.
    pub(crate) fn reader(&self, format: Format, head: &[u8]) -> io::Result<Reader> {
        if self.delimiter.is_some_and(|char| !char.is_ascii() || matches!(char, '"' | '\\' | '\r' | '\n')) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "the delimiter is no ASCII character, or a quote, backslash or line end",
            ));
        }
        if let (Format::Log, Some(pattern)) = (format, &self.log_format) {
            return Reader::of_log(pattern, &self.fields);
        }
        let reader = Reader::with_fields(format, &self.fields);
        let reader = reader.map(|reader| match format {
            Format::Csv => reader.in_dialect(Dialect::detect(head, self.delimiter, self.escape)),
            Format::Tsv => reader.in_dialect(Dialect::tabs(self.escape)),
            _ => reader,
        });
        reader.map_err(|error| {
            let kind = io::ErrorKind::InvalidInput;
            if self.format.is_none() && format == Format::Lines {
                let looks = "its first records look like no format that has fields";
                return Advice::ChooseFormat.error(kind, format!("{error}, and {looks}"));
            }
            io::Error::new(kind, error)
        })
    }
}

/// The signs of an input that are seen when it is opened or while its first bytes are read.
#[derive(Clone)]
pub(crate) struct TextSigns {
    utf16: bool,
    /// What the text looks like, once enough of it has been read.
    looks: Arc<OnceLock<Looks>>,
}

impl TextSigns {
    /// The signs that have been seen so far.
    pub(crate) fn seen(&self) -> Signs {
        Signs::of_text(self.utf16, self.looks.get().copied())
    }
}

/// Looks at the first bytes of a list while they are read, so that no read has to wait for them.
struct Sampling<R> {
    source: R,
    /// The first bytes, until there are enough of them.
    sample: Option<Vec<u8>>,
    reading: Reading,
    looks: Arc<OnceLock<Looks>>,
    /// The name of the input.
    name: String,
}

impl<R: Read> Read for Sampling<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        if let Some(sample) = &mut self.sample {
            sample.extend_from_slice(&buffer[..n.min(SAMPLE_LEN - sample.len())]);
            if sample.len() == SAMPLE_LEN || (n == 0 && !buffer.is_empty()) {
                let sample = self.sample.take().unwrap_or_default();
                if let (_, Some(looks)) = self.reading.recognise(&sample, &self.name)? {
                    let _ = self.looks.set(looks);
                }
            }
        }
        Ok(n)
    }
}

/// The beginning of a source.
#[derive(Default)]
pub(crate) struct Head {
    pub(crate) bytes: Vec<u8>,
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
        let mut bytes = vec![0; SAMPLE_LEN];
        let (mut len, mut has_ended, mut failed) = (0, false, None);
        while len < bytes.len() && !has_ended {
            match source.read(&mut bytes[len..]) {
                Ok(0) => has_ended = true,
                Ok(n) => {
                    let has_line = memchr(b'\n', &bytes[len..len + n]).is_some();
                    len += n;
                    if has_line
                        && memchr(0, &bytes[..len]).is_none()
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

    /// Whether all bytes that matter were read.
    fn is_whole(&self) -> bool {
        self.failed.is_none() && (self.has_ended || self.bytes.len() == SAMPLE_LEN)
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
