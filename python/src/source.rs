//! Values that Python hands over: Arrow arrays and streams, and plain iterables of `str`, `bytes` and `None`.

use std::ops::Range;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator, PyString};
use urlsift::run::Values;

use crate::c_data::{ArrowArray, ArrowArrayStream, ArrowSchema, Strings, Type};

/// How many items of an iterable are taken at a time.
const ITEMS: usize = 1 << 16;

/// The longest text that is taken of an iterable at a time, in bytes.
const TEXT: usize = 32 << 20;

/// Values that come in batches.
pub enum Source<'py> {
    Stream(ArrowArrayStream, Type),
    Array(Option<ArrowArray>, Type),
    Items { items: Bound<'py, PyIterator>, taken: usize },
}

/// A batch of values.
pub enum Batch {
    Arrow(Strings),
    Items(Items),
}

/// Values of an iterable, copied.
#[derive(Default)]
pub struct Items {
    text: Vec<u8>,
    /// For each value, where it ends in the text, and whether it is there.
    ends: Vec<(usize, bool)>,
}

impl Values for Items {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, n: usize) -> Option<&[u8]> {
        let start = n.checked_sub(1).map_or(0, |before| self.ends[before].0);
        let (end, is_there) = self.ends[n];
        is_there.then(|| &self.text[start..end])
    }
}

impl Values for Batch {
    fn len(&self) -> usize {
        match self {
            Self::Arrow(strings) => strings.len(),
            Self::Items(items) => items.len(),
        }
    }

    #[inline]
    fn get(&self, n: usize) -> Option<&[u8]> {
        match self {
            Self::Arrow(strings) => strings.get(n),
            Self::Items(items) => items.get(n),
        }
    }

    fn bytes(&self, rows: Range<usize>) -> usize {
        match self {
            Self::Arrow(strings) => strings.bytes(rows),
            Self::Items(items) => items.bytes(rows),
        }
    }
}

impl<'py> Source<'py> {
    /// The values of a Python object.
    ///
    /// # Errors
    /// `TypeError` if it has none, `ValueError` if its capsule was used before.
    pub fn of(data: &Bound<'py, PyAny>) -> PyResult<Self> {
        let wrong = |error: String| PyTypeError::new_err(error);
        if let Some(stream) = optional(data, "__arrow_c_stream__")? {
            let mut stream = ArrowArrayStream::of_capsule(&stream.call0()?)?;
            let schema = stream.schema().map_err(PyValueError::new_err)?;
            return Ok(Self::Stream(stream, Type::of(&schema).map_err(wrong)?));
        }
        if let Some(array) = optional(data, "__arrow_c_array__")? {
            let (schema, array): (Bound<'py, PyAny>, Bound<'py, PyAny>) = array.call0()?.extract()?;
            let schema = ArrowSchema::of_capsule(&schema)?;
            let array = ArrowArray::of_capsule(&array)?;
            return Ok(Self::Array(Some(array), Type::of(&schema).map_err(wrong)?));
        }
        if data.is_instance_of::<PyString>() || data.is_instance_of::<PyBytes>() {
            return Err(PyTypeError::new_err("one value instead of a column; judge() takes one"));
        }
        match data.try_iter() {
            Ok(items) => Ok(Self::Items { items, taken: 0 }),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected an Arrow array or stream, or an iterable of str, bytes and None, not {}",
                data.get_type().name()?
            ))),
        }
    }

    /// The next batch; `None` at the end. `before` is the number of rows so far, for messages.
    ///
    /// # Errors
    /// What the producer raises, and `ValueError` for an array that cannot be.
    pub fn next(&mut self, py: Python<'py>, before: usize) -> PyResult<Option<Batch>> {
        let in_batch =
            |error: String| PyValueError::new_err(format!("in the array behind row {before}: {error}"));
        let strings =
            |array, of: &Type| py.detach(|| Strings::new(array, of)).map(Batch::Arrow).map_err(in_batch);
        match self {
            Self::Stream(stream, of) => match py.detach(|| stream.next_array()) {
                Ok(Some(array)) => strings(array, of).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(PyErr::take(py).unwrap_or_else(|| {
                    PyValueError::new_err(format!("the stream failed behind row {before}: {error}"))
                })),
            },
            Self::Array(array, of) => array.take().map(|array| strings(array, of)).transpose(),
            Self::Items { items, taken } => {
                let mut batch = Items::default();
                while batch.len() < ITEMS && batch.text.len() < TEXT {
                    let Some(item) = items.next() else { break };
                    batch.push(&item?, *taken)?;
                    *taken += 1;
                }
                Ok((!batch.ends.is_empty()).then_some(Batch::Items(batch)))
            }
        }
    }
}

impl Items {
    fn push(&mut self, item: &Bound<'_, PyAny>, row: usize) -> PyResult<()> {
        let is_there = if let Ok(text) = item.cast::<PyString>() {
            let text = text.to_str().map_err(|error| {
                let message = format!("row {row}: not text that UTF-8 can write: {}", error.value(item.py()));
                PyValueError::new_err(message)
            })?;
            self.text.extend_from_slice(text.as_bytes());
            true
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            self.text.extend_from_slice(bytes.as_bytes());
            true
        } else if item.is_none() {
            false
        } else {
            let found = item.get_type().name()?;
            return Err(PyTypeError::new_err(format!("row {row}: expected str, bytes or None, not {found}")));
        };
        self.ends.push((self.text.len(), is_there));
        Ok(())
    }
}

/// An attribute, if the object has it.
fn optional<'py>(of: &Bound<'py, PyAny>, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    if of.hasattr(name)? { of.getattr(name).map(Some) } else { Ok(None) }
}
