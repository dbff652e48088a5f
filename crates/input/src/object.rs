//! Reads files of this system, and objects of stores, at any offset. The caller of the library reads the store. This module knows no codecs
//! and no lines.

use std::fmt::Debug;
use std::fs::File;
use std::io::{self, Read, Seek};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An object of a store: bytes of known length that can be read at any offset, by several threads at once.
pub trait Object: Debug + Send + Sync {
    /// The number of bytes.
    fn size_bytes(&self) -> u64;

    /// Reads bytes from `offset` on, as many as one call returns. It returns 0 at the end of the object.
    ///
    /// # Errors
    /// When the store cannot be read. The scan counts the bytes before, and names the object as a failure.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
}

/// The error for bytes that were there when the size was asked for.
pub fn became_shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file became shorter while it was read")
}

/// An open file or object. Reading it from its start moves a position, and reading it at an offset does not depend on that position.
#[derive(Debug)]
pub enum Seekable {
    File(File),
    /// An object, and the position.
    Object(Arc<dyn Object>, AtomicU64),
}

impl From<File> for Seekable {
    fn from(file: File) -> Self {
        Self::File(file)
    }
}

impl Seekable {
    pub fn of_object(object: &Arc<dyn Object>) -> Self {
        Self::Object(object.clone(), AtomicU64::new(0))
    }

    /// The file, if this is one of this system.
    pub fn file(&self) -> Option<&File> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// Moves the position to the start.
    pub fn rewind(&self) -> io::Result<()> {
        match self {
            Self::File(file) => { file }.rewind(),
            Self::Object(_, at) => {
                at.store(0, Ordering::Relaxed);
                Ok(())
            }
        }
    }

    /// Reads from `offset` on, as many bytes as one call returns.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            #[cfg(unix)]
            Self::File(file) => std::os::unix::fs::FileExt::read_at(file, buffer, offset),
            #[cfg(windows)]
            Self::File(file) => std::os::windows::fs::FileExt::seek_read(file, buffer, offset),
            Self::Object(object, _) => object.read_at(buffer, offset),
        }
    }
}

impl Read for &Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Seekable::File(file) => { file }.read(buffer),
            Seekable::Object(object, at) => {
                let start = at.load(Ordering::Relaxed);
                let n = object.read_at(buffer, start)?;
                if n == 0 && !buffer.is_empty() && start < object.size_bytes() {
                    return Err(became_shorter());
                }
                at.store(start + n as u64, Ordering::Relaxed);
                Ok(n)
            }
        }
    }
}

impl Read for Seekable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self).read(buffer)
    }
}
