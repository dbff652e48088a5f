//! An input: what it is called, and how it is opened.

use std::fs::{self, File};
use std::io::{self, Cursor, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::codec::{Codec, Help, MAGIC_LEN, Recognised, Unpacked, recognise, recognise_all, unpack};
use super::progress_reader::{Bytes, standard, stoppable, waiting};
use crate::grammar::escape;
use crate::input::workers::Helpers;
use crate::progress::{Stopped, Watch};

/// One input: a file, or standard input.
#[derive(Debug)]
pub struct Input {
    name: String,
    source: Source,
    /// `None` is by its content.
    codec: Option<Codec>,
    /// The list that names it, and the line.
    listed: Option<(Arc<str>, u64)>,
}

#[derive(Debug)]
enum Source {
    Standard,
    Path(PathBuf),
    /// What was named cannot be read: nothing is lost, the report says so.
    Broken(io::Error),
}

/// Where the bytes of an input come from, once it is open.
pub(crate) enum Opened {
    /// A file of known length, which can be read at any offset.
    File(File, u64),
    /// Anything else: it can be read once, from its start.
    Stream(Bytes),
    /// Compressed: what comes of it can be read once, from its start.
    Packed(Packed),
}

impl Opened {
    /// Its bytes from the start, decoded, whatever it is; once `watch` is stopped, reading them fails.
    ///
    /// # Errors
    /// When this build cannot read its codec.
    pub(crate) fn bytes(self, watch: Option<&Watch>) -> io::Result<Bytes> {
        self.bytes_by(None, watch)
    }

    /// The same, decoded with the help of others if it is a file.
    ///
    /// # Errors
    /// When this build cannot read its codec.
    pub(crate) fn bytes_by(self, helpers: Helpers<'static>, watch: Option<&Watch>) -> io::Result<Bytes> {
        match self {
            Self::File(file, _) => Ok(stoppable(file, watch)),
            Self::Stream(bytes) => Ok(bytes),
            Self::Packed(packed) => Ok(packed.unpack(watch, helpers)?.bytes),
        }
    }
}

/// A compressed input, open.
pub(crate) struct Packed {
    codec: Codec,
    bytes: Bytes,
    /// How long it is, if it is a file.
    file_len: Option<u64>,
}

/// A file that is no larger is decoded by one thread.
const LARGE: u64 = 1 << 20;

impl Packed {
    /// Begins to decode it; once `watch` is stopped, reading what comes of it fails. A file may be decoded with the help of
    /// `helpers`.
    ///
    /// # Errors
    /// When this build cannot read its codec.
    pub(crate) fn unpack<'a>(self, watch: Option<&Watch>, helpers: Helpers<'a>) -> io::Result<Unpacked<'a>> {
        let help = match (self.file_len, helpers) {
            (None, _) => Help::Stream,
            (Some(LARGE..), Some((hands, n_hands))) => Help::Hands(hands, n_hands),
            (Some(_), _) => Help::Alone,
        };
        unpack(self.bytes, self.codec, watch, help)
    }
}

impl Input {
    /// The name in reports: the path as given or as found, `-` for standard input. Bytes of it that are not UTF-8 and
    /// characters that are not printable are `\xHH`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A file, or whatever else there is at `path`; not the files in it.
    #[must_use]
    pub fn file(path: PathBuf) -> Self {
        Self { name: name_of(&path), source: Source::Path(path), codec: None, listed: None }
    }

    /// Standard input.
    #[must_use]
    pub fn standard() -> Self {
        Self { name: "-".to_owned(), source: Source::Standard, codec: None, listed: None }
    }

    /// Whether it is standard input.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        matches!(self.source, Source::Standard)
    }

    /// Where it lies; `None` for standard input, and for a directory that could not be listed.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::Path(path) => Some(path),
            Source::Standard | Source::Broken(_) => None,
        }
    }

    /// Where it is named: the name of a list, and the line in it from 1; `None` if it comes from no list.
    #[must_use]
    pub fn listed_at(&self) -> Option<(&str, u64)> {
        self.listed.as_ref().map(|(list, line)| (&**list, *line))
    }

    pub(super) fn set_listed_at(&mut self, list: &Arc<str>, line: u64) {
        self.listed = Some((list.clone(), line));
    }

    pub(super) fn broken(path: &Path, error: io::Error) -> Self {
        Self { name: name_of(path), source: Source::Broken(error), codec: None, listed: None }
    }

    /// The same input, packed by `codec`, or as its content says; an input is made with `None`. [`Codec::Plain`] takes its bytes
    /// as they are, compressed or not.
    #[must_use]
    pub fn with_codec(self, codec: Option<Codec>) -> Self {
        Self { codec, ..self }
    }

    /// The same input under another name, which is shown as it is.
    #[must_use]
    pub fn with_name(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Its bytes, decoded, from the start, and how many it has, if it is a file that tells and is not compressed.
    ///
    /// # Errors
    /// When the file cannot be opened, its directory could not be listed, or this build cannot read how it is compressed.
    pub fn reader(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        Ok(match self.open(None)? {
            Opened::File(file, len) => (Box::new(file), Some(len)),
            opened => (opened.bytes(None)?, None),
        })
    }

    /// How many bytes there are to read, compressed as they are, if that can be known beforehand. Looks at the file, and does not open it.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        let metadata = match &self.source {
            Source::Standard => standard_metadata()?,
            Source::Path(path) => fs::metadata(path).ok()?,
            Source::Broken(_) => return Some(0),
        };
        metadata.is_file().then_some(metadata.len())
    }

    /// Whether reading it may keep its reader waiting: standard input, pipes and devices. Looks at the file, and does not open it.
    pub(crate) fn may_wait(&self) -> bool {
        self.is_standard_or(|metadata| !metadata.is_file())
    }

    /// Whether it can only be read from its start: standard input, pipes, devices, and files that say nothing of their length,
    /// as those under /proc. Looks at the file, and does not open it.
    pub(crate) fn is_stream(&self) -> bool {
        self.is_standard_or(|metadata| !metadata.is_file() || metadata.len() == 0)
    }

    /// Whether it is standard input, or lies where `is` holds.
    fn is_standard_or(&self, is: impl Fn(&fs::Metadata) -> bool) -> bool {
        match &self.source {
            Source::Standard => true,
            Source::Path(path) => fs::metadata(path).is_ok_and(|metadata| is(&metadata)),
            Source::Broken(_) => false,
        }
    }

    /// Opens it, and looks at its beginning. Once `watch` is stopped, reading a stream fails, a read that is waiting too; reading
    /// a file goes on.
    ///
    /// # Errors
    /// When the file cannot be opened, its directory could not be listed, its beginning not be read, or `watch` is stopped.
    pub(crate) fn open(&self, watch: Option<&Watch>) -> io::Result<Opened> {
        if watch.is_some_and(Watch::is_stopped) {
            return Err(Stopped.into());
        }
        let path = match &self.source {
            Source::Standard => return self.opened_stream(standard(watch)?),
            Source::Broken(error) => return Err(io::Error::new(error.kind(), error.to_string())),
            Source::Path(path) => path,
        };
        if let Some(watch) = watch
            && fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
        {
            return self.opened_stream(waiting(path, watch)?);
        }
        let mut file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() == 0 {
            return self.opened_stream(stoppable(file, watch));
        }
        let codec = self.codec.map_or_else(|| peek(&mut file).map(|(_, codec)| codec), Ok)?;
        file.rewind()?;
        Ok(match codec {
            Codec::Plain => Opened::File(file, metadata.len()),
            codec => {
                let file_len = Some(metadata.len());
                Opened::Packed(Packed { codec, bytes: stoppable(file, watch), file_len })
            }
        })
    }

    fn opened_stream(&self, mut bytes: Bytes) -> io::Result<Opened> {
        let codec = if let Some(codec) = self.codec {
            codec
        } else {
            let (head, codec) = peek(&mut bytes)?;
            bytes = Box::new(Cursor::new(head).chain(bytes));
            codec
        };
        Ok(match codec {
            Codec::Plain => Opened::Stream(bytes),
            codec => Opened::Packed(Packed { codec, bytes, file_len: None }),
        })
    }
}

/// Reads as much of `source` as it takes to tell how it is packed. Of lines that is a byte or two, so that nobody waits for
/// more.
fn peek(source: &mut impl Read) -> io::Result<(Vec<u8>, Codec)> {
    let mut head = Vec::with_capacity(MAGIC_LEN);
    loop {
        let mut more = [0; MAGIC_LEN];
        match source.read(&mut more[head.len()..]) {
            Ok(0) => return Ok((head.clone(), recognise_all(&head))),
            Ok(n) => head.extend(&more[head.len()..][..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if let Recognised::As(codec) = recognise(&head) {
            return Ok((head, codec));
        }
    }
}

/// How a path is called.
fn name_of(path: &Path) -> String {
    escape::printable(path.as_os_str().as_encoded_bytes())
}

/// What there is to know of standard input, where it is something that the system knows of.
#[cfg(unix)]
fn standard_metadata() -> Option<fs::Metadata> {
    use std::os::fd::AsFd;
    File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(not(unix))]
fn standard_metadata() -> Option<fs::Metadata> {
    None
}
