//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use tempfile::NamedTempFile;

/// Gives `write` a place to write to: standard output, or the file at `path`, which is replaced only when all is written.
///
/// # Errors
/// When the output cannot be written; the error names the file. What stood at `path` is then as it was.
pub(crate) fn to(
    path: Option<&Path>,
    write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
) -> io::Result<()> {
    let Some(path) = path else {
        let mut out = BufWriter::with_capacity(1 << 16, io::stdout());
        write(&mut out)?;
        return out.flush().map_err(|error| named("standard output", &error));
    };
    to_file(path, write).map_err(|error| named(&path.display().to_string(), &error))
}

fn to_file(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>) -> io::Result<()> {
    // A device or a pipe cannot be replaced; it is written to.
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        write(&mut out)?;
        return out.flush();
    }
    // A link is followed: what it leads to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The rights that the file has, or those that any new file gets.
        let mode = fs::metadata(&path).map_or(0o666, |metadata| metadata.permissions().mode() & 0o777);
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    let mut file: BufWriter<NamedTempFile> =
        BufWriter::new(builder.prefix(".urlsift-").tempfile_in(directory)?);
    write(&mut file)?;
    let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(&path).map_err(|failed| failed.error)?;
    Ok(())
}

fn named(name: &str, error: &io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::BrokenPipe {
        return io::Error::from(io::ErrorKind::BrokenPipe);
    }
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
