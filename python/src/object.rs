//! Inputs that Python names: paths, and open files that are read at any offset.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use urlsift::inputs::{Input, Object};

/// A path, or an open file with the methods `size()` and `read_at(n, offset)` of pyarrow's files.
#[derive(FromPyObject)]
pub enum Origin<'py> {
    Path(PathBuf),
    File(Bound<'py, PyAny>),
}

impl Origin<'_> {
    /// The input, and the file if Python has opened it.
    pub fn input(self, name: String) -> PyResult<(Input, Option<Arc<PyFile>>)> {
        match self {
            Self::Path(path) => Ok((Input::file(path).with_name(name), None)),
            Self::File(file) => {
                let file = Arc::new(PyFile::new(&file)?);
                Ok((Input::object(&name, file.clone()), Some(file)))
            }
        }
    }
}

/// A file that Python has opened.
#[derive(Debug)]
pub struct PyFile {
    file: Py<PyAny>,
    size: u64,
    /// The bytes that were read last, and their offset. Reads of the scan are smaller than a store likes.
    block: Mutex<(u64, Vec<u8>)>,
    /// The first exception.
    failed: Mutex<Option<PyErr>>,
}

/// The most bytes that are read at a time, and how many where a read does not continue the last one. Then each read has twice as many.
const BLOCK: u64 = 8 << 20;
const FIRST: u64 = 256 << 10;

impl PyFile {
    fn new(file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let size = file.call_method0("size")?.extract()?;
        Ok(Self { file: file.clone().unbind(), size, block: Mutex::default(), failed: Mutex::default() })
    }

    /// Returns the first exception as an error.
    pub fn check(&self) -> PyResult<()> {
        lock(&self.failed).take().map_or(Ok(()), Err)
    }

    fn read(&self, n: u64, offset: u64) -> PyResult<Vec<u8>> {
        Python::attach(|py| {
            let bytes = self.file.bind(py).call_method1("read_at", (n, offset))?;
            Ok(bytes.cast::<PyBytes>()?.as_bytes().to_vec())
        })
    }
}

impl Object for PyFile {
    fn size_bytes(&self) -> u64 {
        self.size
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut block = lock(&self.block);
        let end = block.0 + block.1.len() as u64;
        if !(block.0..end).contains(&offset) {
            let most = if offset == end { (2 * block.1.len() as u64).min(BLOCK) } else { 0 };
            let most = most.max(FIRST).max(buffer.len() as u64);
            let bytes = self.read(most.min(self.size.saturating_sub(offset)), offset).map_err(|error| {
                let message = io::Error::other(error.to_string());
                lock(&self.failed).get_or_insert(error);
                message
            })?;
            *block = (offset, bytes);
        }
        let bytes = &block.1[usize::try_from(offset - block.0).expect("a place in the block")..];
        let n = bytes.len().min(buffer.len());
        buffer[..n].copy_from_slice(&bytes[..n]);
        Ok(n)
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
