//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use same_file::Handle;
use tempfile::NamedTempFile;
use urlsift::input::Input;

/// Where files have been begun. Whoever ends the command without leaving its functions has to remove them.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes all files that have been begun and are not in their places yet.
pub(crate) fn abandon() {
    for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A place to write to, opened before the work is done: what cannot be written to should fail at once.
pub(crate) enum Output {
    Standard(Stdout),
    /// A device or a pipe: it is written to, not replaced.
    Stream(File, PathBuf),
    /// A file that is put in the place of the one named when all is written.
    File(NamedTempFile, PathBuf),
}

impl Output {
    /// Standard output, or the file at `path`.
    ///
    /// # Errors
    /// When the file cannot be made; the error names it.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        // Replacing what standard output leads to would lose what others have written there.
        let is_standard = |path: &&Path| *path == Path::new("-") || *path == Path::new("/dev/stdout");
        let Some(path) = path.filter(|path| !is_standard(path)) else {
            return Ok(Self::Standard(io::stdout()));
        };
        // The error of a temporary file names a path that the user has never heard of.
        Self::open_file(path).map_err(|error| match error.kind() {
            io::ErrorKind::Other => named(path, &error),
            kind @ io::ErrorKind::NotFound => {
                named(path, &io::Error::new(kind, "the directory to put it in does not exist"))
            }
            kind @ io::ErrorKind::PermissionDenied => {
                named(path, &io::Error::new(kind, "no permission to write there"))
            }
            kind => named(path, &kind.into()),
        })
    }

    /// Whether it is standard output.
    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard(_))
    }

    /// Whether all appears at the end, or nothing.
    pub(crate) fn appears_whole(&self) -> bool {
        matches!(self, Self::File(..))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Self::Stream(File::options().write(true).open(path)?, path.to_owned()));
        }
        // A link is followed: what it leads to is replaced, or made, not the link.
        let target = fs::canonicalize(path).or_else(|_| {
            let link = fs::read_link(path)?;
            Ok::<_, io::Error>(path.parent().unwrap_or(Path::new("")).join(link))
        });
        let path = target.unwrap_or_else(|_| path.to_owned());
        let mut builder = tempfile::Builder::new();
        // The rights that any new file gets, or those that the file has.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".urlsift-").tempfile_in(directory_of(&path))?;
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().to_owned());
        if let Ok(metadata) = fs::metadata(&path) {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::File(file, path))
    }

    /// What it is to be called in a sentence.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Standard(_) => Path::new("standard output"),
            Self::Stream(_, path) | Self::File(_, path) => path,
        }
    }

    /// The file that is written to or will be replaced; `None` if there is none yet, or it is a device or a pipe.
    pub(crate) fn file(&self) -> Option<Handle> {
        match self {
            Self::Standard(_) => plain(Handle::stdout().ok()?),
            Self::Stream(..) => None,
            Self::File(_, path) => file_at(path),
        }
    }

    /// # Errors
    /// When it is also one of `inputs`: what is read would be replaced, or never end.
    pub(crate) fn check_is_no_input(&self, inputs: &[Input]) -> io::Result<()> {
        let Some(file) = self.file() else { return Ok(()) };
        let is_it = |input: &&Input| {
            let input =
                if input.is_standard() { file_on_standard_input() } else { input.path().and_then(file_at) };
            input.is_some_and(|input| input == file)
        };
        inputs.iter().find(is_it).map_or(Ok(()), |input| {
            Err(io::Error::other(format!(
                "{}: is also an input ({}); write to another file",
                self.name().display(),
                input.name()
            )))
        })
    }

    /// Whether what is written to one is written to the other.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // Neither may be there yet.
        let resolved = |path: &Path| {
            let directory = fs::canonicalize(directory_of(path)).unwrap_or_default();
            directory.join(path.file_name().unwrap_or_default())
        };
        resolved(self.name()) == resolved(other.name())
            || self.file().is_some_and(|file| other.file() == Some(file))
    }

    /// Whether it goes to a file: then nobody sees it while it is written.
    pub(crate) fn is_file(&self) -> bool {
        match self {
            Self::Standard(_) => standard_is_file(),
            Self::Stream(..) => false,
            Self::File(..) => true,
        }
    }

    /// Writes all that `write` writes.
    ///
    /// # Errors
    /// When the output cannot be written; the error names it. A file that stood in its place is then as it was.
    pub(crate) fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut writer = self.begin();
        write(&mut writer)?;
        writer.finish()
    }

    /// A writer, whose errors name the output.
    pub(crate) fn begin(self) -> Writer {
        Writer { out: BufWriter::with_capacity(1 << 16, self) }
    }

    fn to(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::Stream(file, _) => file,
            Self::File(file, _) => file,
        }
    }
}

/// Writes without a buffer.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to().flush()
    }
}

/// An output that is being written to. A file appears when it is finished, and not at all if it never is.
pub(crate) struct Writer {
    out: BufWriter<Output>,
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.out.write(bytes).map_err(|error| named(self.out.get_ref().name(), &error))
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes).map_err(|error| named(self.out.get_ref().name(), &error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush().map_err(|error| named(self.out.get_ref().name(), &error))
    }
}

impl Writer {
    /// Writes what is left and puts a file in its place.
    ///
    /// # Errors
    /// When that fails; the error names the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        // The buffer is empty; what else there is in it is not written when it is dropped.
        let (output, _) = self.out.into_parts();
        if let Output::File(file, path) = output {
            file.persist(&path).map_err(|failed| named(&path, &failed.error))?;
        }
        Ok(())
    }
}

/// The directory in which `path` lies.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The regular file at `path`. What is not one is not opened: that alone can do something to it.
fn file_at(path: &Path) -> Option<Handle> {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file()).then(|| Handle::from_path(path).ok())?
}

/// The regular file on standard input.
fn file_on_standard_input() -> Option<Handle> {
    plain(Handle::stdin().ok()?)
}

fn plain(handle: Handle) -> Option<Handle> {
    handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file()).then_some(handle)
}

#[cfg(unix)]
fn standard_is_file() -> bool {
    use std::os::fd::AsFd;
    let file = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    file.and_then(|file| file.metadata()).is_ok_and(|metadata| metadata.is_file())
}

#[cfg(not(unix))]
fn standard_is_file() -> bool {
    false
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => io::ErrorKind::BrokenPipe.into(),
        kind => io::Error::new(kind, format!("{}: {error}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_abandoned_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let output = Output::open(Some(&folder.path().join("report"))).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        abandon();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        drop(output);
    }
}
