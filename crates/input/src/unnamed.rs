//! Files that have no name until one is given to them. Without one, they disappear with the process. Only Linux has such files, and not on
//! every file system.

use std::fs::File;
use std::io;
use std::path::Path;

/// Creates a file in `directory` that has no name. `None` if that is not possible there.
#[cfg(target_os = "linux")]
pub fn unnamed_file(directory: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    let file = File::from(open(directory, flags, Mode::from_raw_mode(0o666)).ok()?);
    // A system without this folder can give it no name later.
    Path::new(&in_proc(&file)).exists().then_some(file)
}

/// Gives the file a name.
///
/// # Errors
/// When there is a file of this name, or the directory cannot be written to.
#[cfg(target_os = "linux")]
pub fn name_file(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    let path = in_proc(file);
    linkat(CWD, &path, CWD, name, AtFlags::SYMLINK_FOLLOW).map_err(io::Error::from).or_else(|error| {
        // Where links are forbidden, a copy does.
        if error.kind() == io::ErrorKind::AlreadyExists {
            Err(error)
        } else {
            std::fs::copy(path, name).map(drop)
        }
    })
}

/// The name by which this process alone can reach the file.
#[cfg(target_os = "linux")]
fn in_proc(file: &File) -> String {
    format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(file))
}

#[cfg(not(target_os = "linux"))]
pub fn unnamed_file(_: &Path) -> Option<File> {
    None
}

#[cfg(not(target_os = "linux"))]
pub fn name_file(_: &File, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
