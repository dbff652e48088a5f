//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use tempfile::NamedTempFile;

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
    Standard,
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
        let Some(path) = path.filter(|path| !is_standard(path)) else { return Ok(Self::Standard) };
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

    /// Its name in a sentence.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard => "standard output".to_owned(),
            Self::Stream(_, path) | Self::File(_, path) => path.display().to_string(),
        }
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
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // The rights that any new file gets, or those that the file has.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".urlsift-").tempfile_in(directory)?;
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().to_owned());
        if let Ok(metadata) = fs::metadata(&path) {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::File(file, path))
    }

    /// Whether it goes to a file: then nobody sees it while it is written.
    pub(crate) fn is_file(&self) -> bool {
        match self {
            Self::Standard => standard_is_file(),
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
        fn all<W: Write + Send>(
            out: W,
            write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
        ) -> io::Result<W> {
            let mut out = BufWriter::with_capacity(1 << 16, out);
            write(&mut out)?;
            out.into_inner().map_err(io::IntoInnerError::into_error)
        }
        match self {
            Self::Standard => all(io::stdout(), write)
                .and_then(|mut out| out.flush())
                .map_err(|error| named(Path::new("standard output"), &error)),
            Self::Stream(file, path) => all(file, write).map(drop).map_err(|error| named(&path, &error)),
            Self::File(file, path) => all(file, write)
                .and_then(|file| file.persist(&path).map(drop).map_err(|failed| failed.error))
                .map_err(|error| named(&path, &error)),
        }
    }
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
