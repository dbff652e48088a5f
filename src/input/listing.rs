//! What the user named, as a list of inputs: directories are walked, in a fixed order.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::watched::{Bytes, standard, stoppable, waiting};
use crate::escape;
use crate::watch::{Stopped, Watch};

/// One input: a file, or standard input.
#[derive(Debug)]
pub struct Input {
    name: String,
    source: Source,
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
}

impl Opened {
    /// Its bytes from the start, whatever it is; once `watch` is stopped, reading them fails.
    pub(crate) fn bytes(self, watch: Option<&Watch>) -> Bytes {
        match self {
            Self::File(file, _) => stoppable(file, watch),
            Self::Stream(bytes) => bytes,
        }
    }
}

impl Input {
    /// The name in reports: the path as given or as found, `-` for standard input. Bytes of it that are not UTF-8 and
    /// characters that are not printable are `\xHH`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Standard input.
    #[must_use]
    pub fn standard() -> Self {
        Self { name: "-".to_owned(), source: Source::Standard }
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

    fn at(path: PathBuf) -> Self {
        Self { name: escape::printable(path.as_os_str().as_encoded_bytes()), source: Source::Path(path) }
    }

    fn broken(path: &Path, error: io::Error) -> Self {
        Self { name: escape::printable(path.as_os_str().as_encoded_bytes()), source: Source::Broken(error) }
    }

    /// Its bytes, from the start, and how many it has, if it is a file that tells.
    ///
    /// # Errors
    /// When the file cannot be opened, or its directory could not be listed.
    pub fn reader(&self) -> io::Result<(Box<dyn Read + Send>, Option<u64>)> {
        Ok(match self.open(None)? {
            Opened::File(file, len) => (Box::new(file), Some(len)),
            Opened::Stream(stream) => (stream, None),
        })
    }

    /// How many bytes there are to read, if that can be known beforehand. Looks at the file, and does not open it.
    #[must_use]
    pub fn size_bytes(&self) -> Option<u64> {
        let metadata = match &self.source {
            Source::Standard => standard_metadata()?,
            Source::Path(path) => fs::metadata(path).ok()?,
            Source::Broken(_) => return Some(0),
        };
        metadata.is_file().then_some(metadata.len())
    }

    /// Whether it can only be read from its start: standard input, pipes, devices, and files that say nothing of their length,
    /// as those under /proc. Looks at the file, and does not open it.
    pub(crate) fn is_stream(&self) -> bool {
        match &self.source {
            Source::Standard => true,
            Source::Path(path) => {
                fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() || metadata.len() == 0)
            }
            Source::Broken(_) => false,
        }
    }

    /// Opens it. Once `watch` is stopped, reading a stream fails, a read that is waiting too; reading a file goes on.
    ///
    /// # Errors
    /// When the file cannot be opened, its directory could not be listed, or `watch` is stopped.
    pub(crate) fn open(&self, watch: Option<&Watch>) -> io::Result<Opened> {
        if watch.is_some_and(Watch::is_stopped) {
            return Err(Stopped.into());
        }
        let path = match &self.source {
            Source::Standard => return standard(watch).map(Opened::Stream),
            Source::Broken(error) => return Err(io::Error::new(error.kind(), error.to_string())),
            Source::Path(path) => path,
        };
        if let Some(watch) = watch
            && fs::metadata(path).is_ok_and(|metadata| !metadata.is_file())
        {
            return waiting(path, watch).map(Opened::Stream);
        }
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if metadata.is_file() && metadata.len() > 0 {
            return Ok(Opened::File(file, metadata.len()));
        }
        Ok(Opened::Stream(stoppable(file, watch)))
    }
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

/// All inputs that `paths` name, in their order: `-` is standard input, a directory stands for all files in it and below
/// it, sorted by name. Links to directories inside a directory are not followed.
///
/// A path that cannot be looked at is an input too; it fails when it is read.
#[must_use]
pub fn list(paths: &[PathBuf]) -> Vec<Input> {
    let mut inputs = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            inputs.push(Input::standard());
        } else if path.is_dir() {
            walk(path, &mut inputs);
        } else {
            inputs.push(Input::at(path.clone()));
        }
    }
    inputs
}

fn walk(directory: &Path, inputs: &mut Vec<Input>) {
    let entries = fs::read_dir(directory).and_then(std::iter::Iterator::collect::<Result<Vec<_>, _>>);
    let mut entries = match entries {
        Ok(entries) => entries,
        Err(error) => return inputs.push(Input::broken(directory, error)),
    };
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => walk(&path, inputs),
            Ok(kind) if kind.is_file() => inputs.push(Input::at(path)),
            // A link counts when it leads to a file; sockets and pipes in a directory are not lists.
            Ok(kind) if kind.is_symlink() => match fs::metadata(&path) {
                Ok(target) if target.is_file() => inputs.push(Input::at(path)),
                Ok(_) => {}
                Err(error) => inputs.push(Input::broken(&path, error)),
            },
            Ok(_) => {}
            Err(error) => inputs.push(Input::broken(&path, error)),
        }
    }
}
