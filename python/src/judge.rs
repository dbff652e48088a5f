//! The functions that judge one value and a column, and the classes that they return.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyString, PyTuple};
use urlsift::columns::{COLUMNS, Column as JudgedColumn, Need, Origin, Scanners};
use urlsift::grammar::resolve::Base;
use urlsift::inputs::Values;
use urlsift::{Advisory, Grammar, Judgement as Judged, KernelId, Scan, Verdict, judge as judge_bytes};

use crate::c_data::{ArrowArray, ArrowArrayStream, ArrowSchema, Column};
use crate::columns::Form;
use crate::judged_columns::{Bases, Piece};
use crate::source::{Batch, Rows, Source};
use crate::{base_url, unknown};

/// Why one grammar refuses a value.
///
/// `offset` is the number of bytes before the first byte that no accepted value could have there. If the value ends too early, it is
/// the length of the value. `component` is the part of the value with that byte, `cause` says what is wrong there, and `rule` is the
/// rule of the grammar that was being read, with its text in `rule_text` and its document and section in `source`.
///
/// >>> urlsift.judge("http://example.org/a b").defect("rfc3986")
/// Defect(component='path', cause='space', offset=20, rule='segment', source='RFC 3986, section 3.3')
/// >>> str(urlsift.judge("http://[::1").defect())
/// 'host:ends-early@11'
#[pyclass(frozen, module = "urlsift", eq)]
#[derive(PartialEq)]
pub struct Defect(urlsift::Defect);

#[pymethods]
impl Defect {
    /// The grammar that refuses the value.
    #[getter]
    fn grammar(&self) -> &'static str {
        self.0.grammar.name()
    }

    /// The component with the defect, such as 'path'.
    #[getter]
    fn component(&self) -> &'static str {
        self.0.component.name()
    }

    /// What is wrong there, such as 'space'.
    #[getter]
    fn cause(&self) -> &'static str {
        self.0.cause.name()
    }

    /// The offset of the first wrong byte, from 0; the length of the value if it ends too early.
    #[getter]
    fn offset(&self) -> u64 {
        self.0.offset
    }

    /// The name of the rule that was being read.
    #[getter]
    fn rule(&self) -> &'static str {
        self.0.rule.name()
    }

    /// The rule as its document prints it.
    #[getter]
    fn rule_text(&self) -> String {
        self.0.rule.lines().collect::<Vec<_>>().join("\n")
    }

    /// The document and section of the rule.
    #[getter]
    fn source(&self) -> String {
        self.0.source()
    }

    fn __repr__(&self) -> String {
        let urlsift::Defect { component, cause, offset, rule, .. } = self.0;
        format!(
            "Defect(component='{component}', cause='{cause}', offset={offset}, rule='{}', source='{}')",
            rule.name(),
            self.source()
        )
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }
}

/// What the five grammars say about one value.
///
/// `verdict` names the grammars that accept it, the oldest first. `kind` is 'absolute' if it has a scheme, and 'relative' otherwise.
/// `scheme` is in lower case, or None. `advisories` names what is noteworthy about a value that some grammar accepts.
///
/// >>> judgement = urlsift.judge("ftp://fred:secret@example.org/")
/// >>> judgement.verdict
/// ('draft1993', 'rfc1738', 'rfc1808', 'rfc2396', 'rfc3986')
/// >>> judgement.kind, judgement.scheme, judgement.advisories
/// ('absolute', 'ftp', ('password',))
#[pyclass(frozen, module = "urlsift")]
pub struct Judgement(Box<[u8]>, Verdict);

impl Judgement {
    fn judged(&self) -> Judged<'_> {
        judge_bytes(&self.0)
    }
}

#[pymethods]
impl Judgement {
    /// The names of the grammars that accept the value, the oldest first.
    #[getter]
    fn verdict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.1.iter().map(Grammar::name).collect::<Vec<_>>())
    }

    /// Whether a grammar accepts the value.
    ///
    /// >>> urlsift.judge("http://example.org/~fred").accepts("rfc1738")
    /// False
    ///
    /// Raises ValueError if there is no such grammar.
    fn accepts(&self, grammar: &str) -> PyResult<bool> {
        Ok(self.1.accepts(crate::grammar(grammar)?))
    }

    /// Why a grammar refuses the value; None if it accepts it. The cost is linear in the offset of the defect.
    ///
    /// >>> urlsift.judge("/a b").defect("rfc1808").cause
    /// 'space'
    /// >>> urlsift.judge("/ab").defect()
    ///
    /// Raises ValueError if there is no such grammar.
    #[pyo3(signature = (grammar = "rfc3986"))]
    fn defect(&self, grammar: &str) -> PyResult<Option<Defect>> {
        Ok(self.judged().defect(crate::grammar(grammar)?).map(Defect))
    }

    /// 'absolute' if the value has a scheme, otherwise 'relative'.
    #[getter]
    fn kind(&self) -> &'static str {
        self.judged().kind().name()
    }

    /// The scheme in lower case, or None.
    #[getter]
    fn scheme(&self) -> Option<String> {
        self.judged().scheme().map(|scheme| String::from_utf8_lossy(scheme).to_ascii_lowercase())
    }

    /// The names of what is noteworthy about the value, if a grammar accepts it.
    #[getter]
    fn advisories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.judged().advisories().iter().map(Advisory::name).collect::<Vec<_>>())
    }

    fn __repr__(&self) -> String {
        let verdict: Vec<_> = self.1.iter().map(|grammar| format!("'{grammar}'")).collect();
        let comma = if verdict.len() == 1 { "," } else { "" };
        let scheme = self.scheme().map_or("None".to_owned(), |scheme| format!("'{scheme}'"));
        format!("Judgement(verdict=({}{comma}), kind='{}', scheme={scheme})", verdict.join(", "), self.kind())
    }
}

/// Judges one value under all five grammars.
///
/// `url` is str, which is judged as UTF-8, or bytes. It is judged unchanged: nothing is trimmed, and a line end is an illegal
/// character. The cost is about a microsecond; judge_array() takes a column.
///
/// >>> urlsift.judge("http://example.org/~fred").verdict
/// ('rfc2396', 'rfc3986')
/// >>> urlsift.judge(b"\xff")
/// Judgement(verdict=(), kind='relative', scheme=None)
///
/// Raises TypeError for other types, and UnicodeEncodeError for a lone surrogate.
#[pyfunction]
pub fn judge(url: &Bound<'_, PyAny>) -> PyResult<Judgement> {
    let bytes = bytes_of(url)?;
    Ok(Judgement(bytes.into(), judge_bytes(bytes).verdict()))
}

/// The bytes of str or bytes.
fn bytes_of<'a>(value: &'a Bound<'_, PyAny>) -> PyResult<&'a [u8]> {
    if let Ok(text) = value.cast::<PyString>() {
        Ok(text.to_str()?.as_bytes())
    } else if let Ok(bytes) = value.cast::<PyBytes>() {
        Ok(bytes.as_bytes())
    } else {
        let found = value.get_type().name()?;
        let message = format!("expected str or bytes, not {found}; judge_array() takes a column");
        Err(PyTypeError::new_err(message))
    }
}

/// All batches of a source with the number of the first row of each, and how many rows they have.
fn batches<'py>(py: Python<'py>, data: &Bound<'py, PyAny>) -> PyResult<(Vec<(usize, Batch)>, usize)> {
    let mut source = Source::of(data)?;
    let (mut batches, mut rows) = (Vec::new(), 0);
    while let Some(batch) = source.next(py, rows)? {
        let first = rows;
        rows += batch.len();
        if batch.len() > 0 {
            batches.push((first, batch));
        }
        // A source in Python may take no notice of other threads, whose work a signal may be.
        py.detach(|| ());
        py.check_signals()?;
    }
    Ok((batches, rows))
}

/// The columns that values in memory have.
pub fn columns() -> impl Iterator<Item = &'static JudgedColumn> {
    COLUMNS.iter().filter(|column| column.needs != Need::Place)
}

fn column(name: &String) -> PyResult<&'static JudgedColumn> {
    let found = columns().find(|column| column.name == name);
    found.ok_or_else(|| unknown("column", name, &columns().collect::<Vec<_>>(), |column| column.name))
}

/// How many rows are judged at a time, on one thread. What is known of them stays in the cache.
const ROWS: usize = 1 << 10;

/// The most bytes of several rows that are judged at a time.
const BYTES: usize = 1 << 20;

/// The most times as many that a thread joins.
const TOGETHER: usize = 8;

/// How many times as many are too few for several threads.
const FEW: usize = 64;

/// The time between two looks at signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// Calls `make` for each item on several threads, or on as many as the system grants. Passes the results to `add` in the order of the items.
fn in_order<T: Sync, R: Send>(
    n_threads: usize,
    items: &[T],
    make: impl Fn(&T) -> R + Sync,
    mut add: impl FnMut(R),
) -> PyResult<()> {
    let (make, next) = (&make, &AtomicUsize::new(0));
    thread::scope(|scope| {
        // When this thread ends with an error, `made` is dropped, and the others end because they cannot send.
        let (send, made) = sync_channel(n_threads);
        for n_started in 0..n_threads.min(items.len()) {
            let send = send.clone();
            let work = move || {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(n) else { break };
                    if send.send((n, make(item))).is_err() {
                        break;
                    }
                }
            };
            match thread::Builder::new().spawn_scoped(scope, work) {
                Err(error) if n_started == 0 => return Err(error.into()),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        drop(send);
        let (mut early, mut n_added, mut looked) = (BTreeMap::new(), 0, Instant::now());
        for (n, result) in made {
            early.insert(n, result);
            while let Some(result) = early.remove(&n_added) {
                add(result);
                n_added += 1;
            }
            if looked.elapsed() > SIGNAL_INTERVAL {
                Python::attach(|py| py.check_signals().map(|()| looked = Instant::now()))?;
            }
        }
        Ok(())
    })
}

/// Judges the values of a column.
#[pyfunction]
#[pyo3(signature = (data, columns, *, grammar, base, bits, plain, threads))]
pub fn judge_array<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    columns: Vec<String>,
    grammar: &str,
    base: &Bound<'py, PyAny>,
    bits: bool,
    plain: bool,
    threads: usize,
) -> PyResult<Array> {
    let grammar = crate::grammar(grammar)?;
    let columns: Vec<_> = columns.iter().map(column).collect::<PyResult<_>>()?;
    let needs = |need| columns.iter().any(|column| column.needs == need);
    let (is_resolved, needs_whatwg) = (needs(Need::Base), needs(Need::Parser));
    let (values, rows) = batches(py, data)?;
    let of_bases;
    let bases = if base.is_none() {
        Bases::Same(Box::default())
    } else if base.is_instance_of::<PyString>() || base.is_instance_of::<PyBytes>() {
        let text = bytes_of(base)?;
        let resolved = is_resolved.then(|| Base::new(text)).transpose();
        let resolved = resolved.map_err(|error| PyValueError::new_err(format!("base: {error}")))?;
        let url = needs_whatwg.then(|| base_url(text)).transpose()?;
        Bases::Same(Box::new(Origin { base: resolved, url, ..Origin::default() }))
    } else {
        let n;
        let of_base = |error: PyErr| {
            let message = format!("base: {}", error.value(py));
            match error {
                _ if error.is_instance_of::<PyTypeError>(py) => PyTypeError::new_err(message),
                _ if error.is_instance_of::<PyValueError>(py) => PyValueError::new_err(message),
                _ => error,
            }
        };
        (of_bases, n) = batches(py, base).map_err(of_base)?;
        if n != rows {
            return Err(PyValueError::new_err(format!("{n} bases of {rows} values")));
        }
        Bases::Each(&of_bases)
    };
    if !base.is_none() && !is_resolved && !needs_whatwg {
        return Err(PyValueError::new_err(
            "only the column \"resolved\" and those of whatwg have a use for a base",
        ));
    }
    let parts: Vec<_> = values
        .iter()
        .flat_map(|(first, batch)| Rows::of(batch, ROWS, BYTES).map(move |rows| (first + rows.start(), rows)))
        .collect();
    let scanners = Scanners::new(KernelId::best());
    let judge = |piece: &mut Piece, (first, rows): &(usize, Rows<'_>)| {
        scanners.with(|scanner| piece.judge(scanner, rows, *first, &columns, grammar, &bases));
    };
    // Few rows are not worth the start of threads.
    let n_threads = if parts.len() > FEW { Scan::new().threads(threads).n_threads() } else { 1 };
    let mut all = Piece::new(&columns, rows);
    if n_threads == 1 {
        let mut rest = parts.iter();
        while rest.len() > 0 {
            let start = Instant::now();
            let mut has_time = |part| {
                judge(&mut all, part);
                start.elapsed() < SIGNAL_INTERVAL
            };
            py.detach(|| rest.all(&mut has_time));
            py.check_signals()?;
        }
    } else {
        // Each thread gets several, so that all end at the same time.
        let together = parts.len().div_ceil(4 * n_threads).min(TOGETHER);
        let groups: Vec<_> = parts.chunks(together).collect();
        let joined = |parts: &&[_]| {
            let mut some = Piece::new(&columns, together * ROWS);
            parts.iter().for_each(|part| judge(&mut some, part));
            some
        };
        py.detach(|| in_order(n_threads, &groups, joined, |piece| all.append(piece)))?;
    }
    let column = py.detach(|| all.column(&columns, Form { bits, plain }));
    Ok(Array(column))
}

/// An Arrow array, for whatever reads the Arrow C data interface.
///
/// pyarrow.array(a), polars.Series(a) and DuckDB read it without a copy. len(a) is the number of rows.
#[pyclass(frozen, module = "urlsift")]
pub struct Array(pub Column);

#[pymethods]
impl Array {
    fn __len__(&self) -> usize {
        self.0.len
    }

    fn __repr__(&self) -> String {
        let names: Vec<_> = self.0.children.iter().map(|child| &*child.name).collect();
        format!("<urlsift.Array of {} rows: {}>", self.0.len, names.join(", "))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        PyCapsule::new_with_value(py, self.0.schema(), ArrowSchema::CAPSULE)
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // The interface lets a producer ignore the request.
        let _ = requested_schema;
        Ok((
            self.__arrow_c_schema__(py)?,
            PyCapsule::new_with_value(py, self.0.array(), ArrowArray::CAPSULE)?,
        ))
    }

    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        PyCapsule::new_with_value(py, self.0.stream(), ArrowArrayStream::CAPSULE)
    }
}
