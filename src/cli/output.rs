//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

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
            kind => named(path, &kind.into()),
        })
    }

    /// Whether it is standard output.
    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard)
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
        if let Ok(metadata) = fs::metadata(&path) {
            file.as_file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::File(file, path))
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

fn named(path: &Path, error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe => io::ErrorKind::BrokenPipe.into(),
        kind => io::Error::new(kind, format!("{}: {error}", path.display())),
    }
}
