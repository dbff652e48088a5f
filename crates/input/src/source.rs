//! An input: its name, and how it is opened.
//!
//! This module decides whether an input is a file that can be read at any offset, a stream, or compressed. It knows no
//! lines.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::codec::{Codec, MAGIC_LEN, Meter, Recognised, recognise, recognise_all, unpack};
use super::object::{Object, Seekable};
use super::program::output_of;
use super::progress_reader::{ByteStream, IsReady, standard, stoppable, waiting};
use crate::progress::{Stopped, Watch};
use crate::workers::Helpers;
use urlsift_grammar::escape;
use urlsift_grammar::password::masked;

/// One input: a file, an object of a store, or standard input.
#[derive(Debug)]
pub struct Input {
    /// The name, if it is not the text of the path.
    own_name: Option<Box<str>>,
    source: Source,
    /// The codec, or `None` to recognise it by the content.
    codec: Option<Codec>,
    /// The command of the program whose output is read.
    program: Option<Arc<str>>,
    /// The list that names this input, and the line in it.
    pub(super) listed: Option<(Arc<str>, u64)>,
}

#[derive(Debug)]
enum Source {
    Standard,
    Path(PathBuf),
    /// An object of a store.
    Object(Arc<dyn Object>),
    /// A path that cannot be read. It stays an input so that the report names it.
    Broken(io::Error),
}

/// An open input, by how its bytes can be read.
pub enum Opened {
    /// A file or an object of known length, which can be read at any offset.
    File(Seekable, u64),
    /// Any other uncompressed source, which can be read once, from its start.
    Stream(ByteStream),
    /// A compressed source, whose decoded bytes can be read once, from their start.
    Packed(Packed),
}

impl Opened {
    /// The bytes from their start, and if they are decoded, the codec and how many compressed bytes have been used. After `watch` is stopped,
    /// reading them fails. `helpers` may help to decode.
    ///
    /// # Errors
    /// When this build cannot read its codec.
    pub fn unpack<'a>(self, helpers: Helpers<'a>, watch: Option<&Watch>) -> io::Result<Unpacked<'a>> {
        match self {
            Self::File(file, _) => Ok((stoppable(file, watch), None)),
            Self::Stream(bytes) => Ok((bytes, None)),
            Self::Packed(Packed { codec, bytes, is_file, is_ready }) => {
                let decoder = unpack(bytes, codec, watch, is_file, is_ready.zip(helpers))?;
                let meter = decoder.meter();
                Ok((Box::new(decoder), Some((codec, meter))))
            }
        }
    }
}

/// The bytes of an input, and what decodes them.
pub type Unpacked<'a> = (Box<dyn Read + Send + 'a>, Option<(Codec, Meter)>);

/// An open compressed input.
pub struct Packed {
    codec: Codec,
    bytes: ByteStream,
    is_file: bool,
    /// Whether a read would return at once. Threads help only if something can say so, and not with small files.
    is_ready: Option<IsReady>,
}

/// Length from which several threads decode a file, in bytes.
const LARGE: u64 = 1 << 20;

impl Input {
    /// The name in reports: the path as given or as found, or `-` for standard input. Bytes that are not UTF-8 and
    /// characters that are not visible are written as `\xHH`, and a backslash is doubled.
    #[must_use]
    pub fn name(&self) -> &str {
        self.own_name.as_deref().or_else(|| self.path()?.to_str()).unwrap_or("-")
    }

    fn of(name: String, source: Source) -> Self {
        // Nearly all names are the text of the path, and there may be very many inputs.
        let is_path = matches!(&source, Source::Path(path) if path.to_str() == Some(&name));
        let own_name = (!is_path).then(|| name.into());
        Self { own_name, source, codec: None, program: None, listed: None }
    }

    /// The file, pipe or device at `path`. A directory is not searched for files.
    #[must_use]
    pub fn file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        Self::of(name_of(&path), Source::Path(path))
    }

    /// The file at `path`, which the user named. If there is none, passwords in its name are masked.
    pub(super) fn named(path: PathBuf) -> Self {
        let name = if fs::symlink_metadata(&path).is_ok() { name_of(&path) } else { masked_name_of(&path) };
        Self::of(name, Source::Path(path))
    }

    /// Standard input.
    #[must_use]
    pub fn standard() -> Self {
        Self::of("-".to_owned(), Source::Standard)
    }

    /// Whether this is standard input.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        matches!(self.source, Source::Standard)
    }

    /// An object of a store, under this name. Passwords in the name are masked.
    #[must_use]
    pub fn object(name: &str, object: Arc<dyn Object>) -> Self {
        Self::of(masked_name_of(name.as_ref()), Source::Object(object))
    }

    /// The path. It is `None` for standard input, for an object, and for a directory that could not be listed.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match &self.source {
            Source::Path(path) => Some(path),
            Source::Standard | Source::Object(_) | Source::Broken(_) => None,
        }
    }

    /// The name of the list that names this input, and the line in it, from 1. `None` if no list does.
    #[must_use]
    pub fn listed_at(&self) -> Option<(&str, u64)> {
        self.listed.as_ref().map(|(list, line)| (&**list, *line))
    }

    pub(super) fn broken(path: &Path, error: io::Error) -> Self {
        Self::of(name_of(path), Source::Broken(error))
    }

    /// The same input, decoded with `codec`. `None`, the default, recognises the codec by the content. [`Codec::Plain`]
    /// takes the bytes as they are, compressed or not.
    #[must_use]
    pub fn with_codec(self, codec: Option<Codec>) -> Self {
        Self { codec, ..self }
    }

    /// What a program makes of the same input. `command` is the program and its arguments, with white space between them.
    /// Quotes have no meaning. Another argument is the path, with "./" before it if it begins with "-". The input is also
    /// the program's standard input, and its standard output is read. Without a command, the input itself is read.
    ///
    /// If the program fails, the input fails at its end. Standard input and objects are read as they are.
    #[must_use]
    pub fn with_program(self, command: Option<Arc<str>>) -> Self {
        Self { program: command, ..self }
    }

    /// Whether a program reads the input.
    pub fn has_program(&self) -> bool {
        self.program.is_some()
    }

    /// The same input under another name, which is shown unchanged.
    #[must_use]
    pub fn with_name(self, name: String) -> Self {
        Self { own_name: Some(name.into()), ..self }
    }

    /// The decoded bytes from their start, and their number if this is an uncompressed file of known length.
    ///
    /// # Errors
    /// When the file cannot be opened, its directory could not be listed, or this build cannot read its codec.
    pub fn reader(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        Ok(match self.open(None)? {
            Opened::File(file, len) => (Box::new(file), Some(len)),
            opened => (opened.unpack(None, None)?.0, None),
        })
    }

    /// How many bytes there are to read, before decoding, if that is known in advance. It is unknown for the
    /// output of a program. Does not open the file.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        if self.has_program() {
            return None;
        }
        let metadata = match &self.source {
            Source::Standard => standard_metadata()?,
            Source::Path(path) => fs::metadata(path).ok()?,
            Source::Object(object) => return Some(object.size_bytes()),
            Source::Broken(_) => return Some(0),
        };
        metadata.is_file().then_some(metadata.len())
    }

    /// Whether a read may block: standard input, pipes and devices. Does not open the file.
    pub fn may_wait(&self) -> bool {
        match &self.source {
            Source::Standard => true,
            Source::Path(path) => fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()),
            Source::Object(_) | Source::Broken(_) => false,
        }
    }

    /// Opens the input and reads its beginning. After `watch` is stopped, reading a stream fails, even a read that is
    /// already waiting. Reading an uncompressed file does not fail.
    ///
    /// # Errors
    /// When the file cannot be opened, its directory could not be listed, its beginning cannot be read, or `watch` is
    /// stopped.
    pub fn open(&self, watch: Option<&Watch>) -> io::Result<Opened> {
        if watch.is_some_and(Watch::is_stopped) {
            return Err(Stopped.into());
        }
        let path = match &self.source {
            Source::Standard => return self.opened_stream(standard(watch)?),
            Source::Broken(error) => return Err(io::Error::new(error.kind(), error.to_string())),
            Source::Object(object) => {
                return self.opened_file(Seekable::of_object(object), object.size_bytes(), watch);
            }
            Source::Path(path) => path,
        };
        if let Some(command) = &self.program {
            return self.opened_stream((output_of(command, path, watch)?, None));
        }
        if let Some(watch) = watch
            && fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
        {
            return self.opened_stream(waiting(path, watch)?);
        }
        let file = File::open(path)?;
        // Windows has no metadata of devices such as NUL.
        let len = file.metadata().ok().filter(fs::Metadata::is_file).map_or(0, |metadata| metadata.len());
        self.opened_file(file.into(), len, watch)
    }

    fn opened_file(&self, mut file: Seekable, len: u64, watch: Option<&Watch>) -> io::Result<Opened> {
        if len == 0 {
            return self.opened_stream((stoppable(file, watch), None));
        }
        let codec = self.codec.map_or_else(|| peek(&mut file).map(|(_, codec)| codec), Ok)?;
        file.rewind()?;
        Ok(match codec {
            Codec::Plain => Opened::File(file, len),
            codec => {
                let is_ready = (len >= LARGE).then(|| Box::new(|| true) as IsReady);
                Opened::Packed(Packed { codec, bytes: stoppable(file, watch), is_file: true, is_ready })
            }
        })
    }

    fn opened_stream(&self, (mut bytes, is_ready): (ByteStream, Option<IsReady>)) -> io::Result<Opened> {
        let codec = if let Some(codec) = self.codec {
            codec
        } else {
            let (head, codec) = peek(&mut bytes)?;
            bytes = Box::new(Cursor::new(head).chain(bytes));
            codec
        };
        Ok(match codec {
            Codec::Plain => Opened::Stream(bytes),
            codec => Opened::Packed(Packed { codec, bytes, is_file: false, is_ready }),
        })
    }
}

/// Reads as much of `source` as is needed to recognise its codec. For text, a byte or two are enough, so that the caller
/// does not wait for more.
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

/// The name of a path in reports. Backslashes are doubled where they do not separate directories, so that names stay distinct.
fn name_of(path: &Path) -> String {
    name_of_bytes(path.as_os_str().as_encoded_bytes())
}

fn name_of_bytes(name: &[u8]) -> String {
    if cfg!(windows) { escape::printable(name) } else { escape::text(name, escape::Keep::Visible) }
}

/// The name of a path that names no file. It may be a URL from a list of URLs, so passwords in it are masked.
fn masked_name_of(path: &Path) -> String {
    name_of_bytes(&masked(path.as_os_str().as_encoded_bytes()))
}

/// The metadata of standard input, if the system has any.
#[cfg(unix)]
fn standard_metadata() -> Option<fs::Metadata> {
    use std::os::fd::AsFd;
    File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok()
}

#[cfg(windows)]
fn standard_metadata() -> Option<fs::Metadata> {
    use std::os::windows::io::AsHandle;
    File::from(io::stdin().as_handle().try_clone_to_owned().ok()?).metadata().ok()
}
