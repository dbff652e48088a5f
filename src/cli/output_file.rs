//! Outputs of commands: standard output, a device or pipe, or a file that appears complete or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use same_file::Handle;
use tempfile::{NamedTempFile, TempPath};
use urlsift_input::{Input, enlarge_pipe, name_file, unnamed_file};

/// Temporary files that are not yet in their places. Code that ends the process directly must remove them.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Locked while several files are moved into their places.
static PLACING: Mutex<()> = Mutex::new(());

/// The lists that options named and that were read.
static LISTS: Mutex<Vec<Input>> = Mutex::new(Vec::new());

/// Notes a list that was read. No output may replace it, as no output may replace an input.
pub(crate) fn keep_list(list: Input) {
    LISTS.lock().unwrap_or_else(PoisonError::into_inner).push(list);
}

/// Removes all temporary files that are not yet in their places. Of files that belong together, all are in their places or none is, and this
/// stays so while the result is kept.
#[must_use]
pub(crate) fn abandon() -> impl Drop {
    let placing = PLACING.lock().unwrap_or_else(PoisonError::into_inner);
    for path in BEGUN.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let _ = fs::remove_file(path);
    }
    placing
}

/// An output, opened before the work starts so that errors show at once.
pub(crate) enum Output {
    Standard(Stdout),
    /// A device or a pipe, which is written to and not replaced.
    Stream(File, PathBuf),
    /// A file that replaces the named file when everything is written.
    File(Begun, PathBuf),
}

/// A file that is being written.
pub(crate) enum Begun {
    /// It has no name, so that nothing is left of it, however the process ends.
    Unnamed(File),
    /// It has a temporary name, because the file system or the system knows no others.
    Named(NamedTempFile),
}

impl Begun {
    fn new(directory: &Path) -> io::Result<Self> {
        unnamed_file(directory).map_or_else(|| Self::named(directory), |file| Ok(Self::Unnamed(file)))
    }

    fn named(directory: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        // Use the permissions of any new file.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let file = builder.prefix(".urlsift-").tempfile_in(directory)?;
        BEGUN.lock().unwrap_or_else(PoisonError::into_inner).push(file.path().to_owned());
        Ok(Self::Named(file))
    }

    fn file(&mut self) -> &mut File {
        match self {
            Self::Unnamed(file) => file,
            Self::Named(file) => file.as_file_mut(),
        }
    }

    /// Gives the file its name, and replaces the file that has it.
    fn persist(self, path: &Path) -> io::Result<()> {
        match self {
            Self::Named(file) => file.persist(path).map(drop).map_err(|failed| failed.error),
            Self::Unnamed(file) => {
                let name = |name: &Path| name_file(&file, name);
                let named = tempfile::Builder::new().prefix(".urlsift-").make_in(directory_of(path), name)?;
                named.persist(path).map(drop).map_err(|failed| failed.error)
            }
        }
    }
}

impl Output {
    /// Opens standard output, or the file at `path`.
    ///
    /// # Errors
    /// If the file cannot be created. The error names it.
    pub(crate) fn open(path: Option<&Path>) -> io::Result<Self> {
        // If standard output is redirected to a file, replacing that file would lose what others wrote there.
        let is_standard = |path: &&Path| *path == Path::new("-") || *path == Path::new("/dev/stdout");
        let Some(path) = path.filter(|path| !is_standard(path)) else {
            enlarge_pipe(&io::stdout());
            return Ok(Self::Standard(io::stdout()));
        };
        // The original error names the temporary file, which the user does not know.
        let error_of = |error: io::Error| match error.kind() {
            io::ErrorKind::Other => error,
            kind @ io::ErrorKind::NotFound => {
                io::Error::new(kind, "the directory to put it in does not exist")
            }
            kind @ io::ErrorKind::PermissionDenied => io::Error::new(kind, "no permission to write there"),
            kind => kind.into(),
        };
        Self::open_file(path).map_err(|error| named(path, &error_of(error)))
    }

    /// Whether this is standard output.
    pub(crate) fn is_standard(&self) -> bool {
        matches!(self, Self::Standard(_))
    }

    /// Whether the output appears complete or not at all.
    pub(crate) fn appears_whole(&self) -> bool {
        matches!(self, Self::File(..))
    }

    fn open_file(path: &Path) -> io::Result<Self> {
        if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
            let file = File::options().write(true).open(path)?;
            enlarge_pipe(&file);
            return Ok(Self::Stream(file, path.to_owned()));
        }
        // Windows has no metadata of devices such as NUL.
        #[cfg(windows)]
        if let Ok(file) = File::options().write(true).open(path)
            && file.metadata().is_err()
        {
            return Ok(Self::Stream(file, path.to_owned()));
        }
        // Follow a symbolic link: replace or create its target, not the link.
        let path = match fs::read_link(path) {
            Ok(link) => {
                fs::canonicalize(path).unwrap_or_else(|_| path.parent().unwrap_or(Path::new("")).join(link))
            }
            Err(_) => path.to_owned(),
        };
        let replaced = fs::metadata(&path);
        // Windows replaces no file that is read-only.
        if cfg!(windows) && replaced.as_ref().is_ok_and(|file| file.permissions().readonly()) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let mut file = Begun::new(directory_of(&path))?;
        if let Ok(metadata) = replaced {
            file.file().set_permissions(metadata.permissions())?;
        }
        Ok(Self::File(file, path))
    }

    /// The output's name in messages.
    pub(crate) fn name(&self) -> &Path {
        match self {
            Self::Standard(_) => Path::new("standard output"),
            Self::Stream(_, path) | Self::File(_, path) => path,
        }
    }

    /// The file that is written to or will be replaced; `None` for a device, a pipe, or a file that does not exist yet.
    pub(crate) fn file(&self) -> Option<Handle> {
        match self {
            Self::Standard(_) => plain(Handle::stdout().ok()?),
            Self::Stream(..) => None,
            Self::File(_, path) => file_at(path),
        }
    }

    /// Checks that the output is not an input, and no list that was read.
    ///
    /// # Errors
    /// If it is one of `inputs`, or such a list: that input would be replaced, or never end.
    pub(crate) fn check_is_no_input(&self, inputs: &[Input]) -> io::Result<()> {
        let Some(file) = self.file() else { return Ok(()) };
        let is_it = |input: &&Input| {
            let standard = || plain(Handle::stdin().ok()?);
            let input = if input.is_standard() { standard() } else { input.path().and_then(file_at) };
            input.is_some_and(|input| input == file)
        };
        let lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
        inputs.iter().chain(&*lists).find(is_it).map_or(Ok(()), |input| {
            Err(io::Error::other(format!(
                "{}: is also an input ({}); write to another file",
                self.name().display(),
                input.name()
            )))
        })
    }

    /// Whether both outputs are the same file.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        // Compare names too, because the files may not exist yet.
        let resolved = |path: &Path| {
            let directory = fs::canonicalize(directory_of(path)).unwrap_or_default();
            directory.join(path.file_name().unwrap_or_default())
        };
        resolved(self.name()) == resolved(other.name())
            || self.file().is_some_and(|file| other.file() == Some(file))
    }

    /// Whether the output is a file.
    pub(crate) fn is_file(&self) -> bool {
        self.appears_whole() || self.file().is_some()
    }

    /// Writes everything that `write` writes.
    ///
    /// # Errors
    /// If the output cannot be written. The error names it, and an existing file is left unchanged.
    pub(crate) fn write(
        self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut writer = self.begin();
        write(&mut writer)?;
        writer.finish()
    }

    /// Starts writing. Errors of the writer name the output.
    pub(crate) fn begin(self) -> Writer {
        Writer { out: BufWriter::with_capacity(1 << 16, self) }
    }

    fn to(&mut self) -> &mut dyn Write {
        match self {
            Self::Standard(out) => out,
            Self::Stream(file, _) => file,
            Self::File(file, _) => file.file(),
        }
    }
}

/// Unbuffered writing.
impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.to().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to().flush()
    }
}

/// An output that is being written. A file appears when [`finish`](Self::finish) is called, and never otherwise.
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
    /// Writes the rest of the buffer and moves a file into its place.
    ///
    /// # Errors
    /// If that fails. The error names the output.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        // The buffer was flushed and is empty.
        let (output, _) = self.out.into_parts();
        if let Output::File(file, path) = output {
            file.persist(&path).map_err(|error| named(&path, &error))?;
        }
        Ok(())
    }
}

/// Finishes all writers. Either all files are moved into their places, or none.
///
/// # Errors
/// If that fails. The error names the output.
pub(crate) fn finish_all(writers: Vec<Writer>) -> io::Result<()> {
    // A pipe may have no reader, and then only the end of the process ends the waiting.
    let are_files = writers.iter().all(|writer| writer.out.get_ref().is_file());
    let _placing = are_files.then(|| PLACING.lock());
    finish_each(writers.into_iter())
}

fn finish_each(mut writers: impl ExactSizeIterator<Item = Writer>) -> io::Result<()> {
    let Some(writer) = writers.next() else { return Ok(()) };
    // Nothing can fail after the last output.
    let replaced = if writers.len() > 0 { Replaced::by(writer.out.get_ref())? } else { None };
    writer.finish()?;
    finish_each(writers).map_err(|error| match replaced.map_or(Ok(()), Replaced::restore) {
        Ok(()) => error,
        Err(left) => io::Error::other(format!("{error}; {left}, and the output stays there")),
    })
}

/// What a file output replaces.
struct Replaced {
    path: PathBuf,
    /// Another name of the file that is replaced. It is removed when this value is dropped.
    saved: Option<TempPath>,
}

impl Replaced {
    /// What `output` will replace. `None` for anything but a file.
    ///
    /// # Errors
    /// If a file that is replaced gets no other name. The error names it.
    fn by(output: &Output) -> io::Result<Option<Self>> {
        let Output::File(_, path) = output else { return Ok(None) };
        if fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir()) {
            return Ok(None);
        }
        let saved = tempfile::Builder::new()
            .prefix(".urlsift-")
            .make_in(directory_of(path), |saved| {
                // Some file systems have no links. The copy of a file has other owners at worst.
                fs::hard_link(path, saved).or_else(|error| match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists => Err(error),
                    _ => fs::copy(path, saved).map(drop),
                })
            })
            .map(NamedTempFile::into_temp_path);
        match saved {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
            saved => Ok(Some(Self { path: path.clone(), saved: saved.ok() })),
        }
    }

    /// Puts the file back that was replaced. If there was none, removes the output.
    ///
    /// # Errors
    /// If that fails. The error names the output.
    fn restore(self) -> io::Result<()> {
        match &self.saved {
            Some(saved) => fs::rename(saved, &self.path),
            None => fs::remove_file(&self.path),
        }
        .map_err(|error| named(&self.path, &error))
    }
}

/// The directory that contains `path`.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The regular file at `path`. Anything else is not opened, because opening a device or a pipe can have side effects.
fn file_at(path: &Path) -> Option<Handle> {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file()).then(|| Handle::from_path(path).ok())?
}

fn plain(handle: Handle) -> Option<Handle> {
    handle.as_file().metadata().is_ok_and(|metadata| metadata.is_file()).then_some(handle)
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
        let begun = Begun::named(folder.path()).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        // Wine removes an open file when it is closed, so close it before.
        let Begun::Named(file) = begun else { panic!("a name") };
        file.into_temp_path().keep().unwrap();
        drop(abandon());
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    }
}
