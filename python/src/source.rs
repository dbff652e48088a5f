//! Values that Python hands over: Arrow arrays and streams, and plain iterables of `str`, `bytes` and `None`.

use std::iter;
use std::ops::Range;

use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator, PyString};
use urlsift::inputs::Values;

use crate::c_data::{ArrowArray, ArrowArrayStream, ArrowSchema, Strings, Type};

/// How many items of an iterable are taken at a time.
const ITEMS: usize = 1 << 16;

/// The longest text that is taken of an iterable at a time, in bytes.
const TEXT: usize = 32 << 20;

/// Values that come in batches.
pub enum Source<'py> {
    Stream(ArrowArrayStream, Type),
    Array(Option<ArrowArray>, Type),
    Items(Box<ItemSource<'py>>),
}

/// Values of an iterable: str, bytes and None, or Arrow arrays of them.
pub struct ItemSource<'py> {
    items: Bound<'py, PyIterator>,
    /// How many values were taken.
    taken: usize,
    /// The Arrow array that is being read.
    array: Option<Source<'py>>,
}

/// A batch of values.
pub enum Batch {
    Arrow(Strings),
    Items(Items),
}

/// Some rows of a batch.
pub struct Rows<'a> {
    batch: &'a Batch,
    rows: Range<usize>,
}

impl<'a> Rows<'a> {
    /// All rows of a batch, at most `n` at a time, and fewer if they have more than `n_bytes`.
    pub fn of(batch: &'a Batch, n: usize, n_bytes: usize) -> impl Iterator<Item = Self> {
        let mut start = 0;
        iter::from_fn(move || {
            let mut rows = start..batch.len().min(start + n);
            while rows.len() > 1 && batch.bytes(rows.clone()) > n_bytes {
                rows.end -= rows.len() / 2;
            }
            start = rows.end;
            (!rows.is_empty()).then_some(Self { batch, rows })
        })
    }

    /// The number of the first row in the batch.
    pub fn start(&self) -> usize {
        self.rows.start
    }
}

impl Values for Rows<'_> {
    fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    fn get(&self, n: usize) -> Option<&[u8]> {
        self.batch.get(self.rows.start + n)
    }

    fn around(&self, rows: Range<usize>) -> &[u8] {
        self.batch.around(self.rows.start + rows.start..self.rows.start + rows.end)
    }

    fn bytes(&self, rows: Range<usize>) -> usize {
        self.batch.bytes(self.rows.start + rows.start..self.rows.start + rows.end)
    }
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

    fn around(&self, rows: Range<usize>) -> &[u8] {
        let end = |rows: usize| rows.checked_sub(1).map_or(0, |last| self.ends[last].0);
        &self.text[end(rows.start)..end(rows.end)]
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

    fn around(&self, rows: Range<usize>) -> &[u8] {
        match self {
            Self::Arrow(strings) => strings.around(rows),
            Self::Items(items) => items.around(rows),
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
        let is_of_pyarrow = data.get_type().module()?.to_str()?.starts_with("pyarrow");
        if is_of_pyarrow {
            // The interface does not say how long buffers are, but pyarrow knows. A reader gives batches, which are checked one by one.
            if let Some(validate) = optional(data, "validate")? {
                validate.call0()?;
            } else if data.hasattr("read_next_batch")? {
                return Ok(Self::Items(Box::new(ItemSource {
                    items: data.try_iter()?,
                    taken: 0,
                    array: None,
                })));
            }
        }
        if data.get_type().module()?.to_str()?.starts_with("polars") {
            let types = match optional(data, "dtypes")? {
                Some(types) => types.try_iter()?.collect::<PyResult<_>>()?,
                None => Vec::from_iter(optional(data, "dtype")?),
            };
            if types.iter().any(|of| of.to_string() == "Object") {
                // Polars hands over their addresses.
                return Err(wrong(
                    "values of the type Object, which are neither strings nor bytes".to_owned(),
                ));
            }
        }
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
            return Err(PyTypeError::new_err(
                "one value instead of a column; judge() takes one value, scan() a path",
            ));
        }
        if data.is_instance_of::<PyDict>() {
            return Err(PyTypeError::new_err(
                "a dict instead of a column; choose one, such as data[\"url\"]",
            ));
        }
        match data.try_iter() {
            Ok(items) => Ok(Self::Items(Box::new(ItemSource { items, taken: 0, array: None }))),
            Err(error) if !error.is_instance_of::<PyTypeError>(data.py()) => Err(error),
            Err(_) => Err(PyTypeError::new_err(format!(
                "expected an Arrow array or stream, or an iterable of str, bytes and None, not {}",
                data.get_type().name()?
            ))),
        }
    }

    /// The next batch; `None` at the end. `before` is the number of rows so far, for messages.
    ///
    /// # Errors
    /// What the producer raises, and `ValueError` for an invalid array.
    pub fn next(&mut self, py: Python<'py>, before: usize) -> PyResult<Option<Batch>> {
        let in_batch =
            |error: String| PyValueError::new_err(format!("in the array behind row {before}: {error}"));
        let strings =
            |array, of: &Type| py.detach(|| Strings::new(array, of)).map(Batch::Arrow).map_err(in_batch);
        match self {
            Self::Stream(stream, of) => match py.detach(|| stream.next_array()) {
                Ok(Some(array)) => strings(array, of).map(Some),
                Ok(None) => Ok(None),
                Err(error) => Err(failed(&error, before)),
            },
            Self::Array(array, of) => array.take().map(|array| strings(array, of)).transpose(),
            Self::Items(items) => items.next(py, before),
        }
    }
}

/// The exception for a stream that fails. The interface passes on the text of an exception alone, but Ctrl-C must not become another.
fn failed(error: &str, before: usize) -> PyErr {
    if error.contains("KeyboardInterrupt") {
        return PyKeyboardInterrupt::new_err(error.to_owned());
    }
    PyValueError::new_err(format!("the stream failed behind row {before}: {error}"))
}

impl<'py> ItemSource<'py> {
    fn next(&mut self, py: Python<'py>, before: usize) -> PyResult<Option<Batch>> {
        let mut batch = Items::default();
        while batch.len() < ITEMS && batch.text.len() < TEXT {
            if let Some(array) = &mut self.array {
                if let Some(next) = array.next(py, before)? {
                    self.taken += next.len();
                    return Ok(Some(next));
                }
                self.array = None;
            }
            let Some(item) = self.items.next().transpose()? else { break };
            let is_value =
                item.is_none() || item.is_instance_of::<PyString>() || item.is_instance_of::<PyBytes>();
            if !is_value && (item.hasattr("__arrow_c_stream__")? || item.hasattr("__arrow_c_array__")?) {
                self.array = Some(Source::of(&item)?);
                if !batch.ends.is_empty() {
                    break;
                }
                continue;
            }
            batch.push(&item, self.taken)?;
            self.taken += 1;
        }
        Ok((!batch.ends.is_empty()).then_some(Batch::Items(batch)))
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
