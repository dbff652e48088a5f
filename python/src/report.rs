//! Reports: of files, of columns, and merged ones.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use std::{io, thread};

use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use urlsift::columns::Cells;
use urlsift::inputs::{Advice, Codec, Failure, Input, Part, Values, Watch, list_inputs};
use urlsift::partial_report::{self, Identity, Partial, Settings};
use urlsift::records::Format;
use urlsift::report::{Report, Run, TextStyle, Trial, render};
use urlsift::tally::{DistinctOf, TopOf};
use urlsift::{Scan, Tally};

use crate::c_data::Column;
use crate::columns::{Form, Validity};
use crate::judge::Array;
use crate::object::Origin;
use crate::source::{Rows, Source};
use crate::unknown;

/// A scan on `threads` threads, with what is counted beside the rest, and whose refusals are explained.
fn scan_of(grammar: &str, counts: Counts, threads: usize) -> PyResult<Scan> {
    let (lengths, top, distinct, (whatwg, base)) = counts;
    let mut scan = Scan::new().grammar(crate::grammar(grammar)?).threads(threads);
    if lengths {
        scan = scan.lengths();
    }
    for (name, n) in top {
        let of = TopOf::find(&name);
        scan = scan.top(of.ok_or_else(|| unknown("list", &name, TopOf::ALL, TopOf::name))?, n);
    }
    for name in distinct {
        let of = DistinctOf::find(&name);
        scan = scan.distinct(of.ok_or_else(|| unknown("item", &name, DistinctOf::ALL, DistinctOf::name))?);
    }
    match (whatwg, base) {
        (true, base) => Ok(scan.whatwg(base.map(|base| crate::base_url(base.as_bytes())).transpose()?)),
        (false, None) => Ok(scan),
        (false, Some(_)) => Err(PyValueError::new_err("base is for whatwg=True")),
    }
}

/// The same scan, with how its inputs are read.
fn read_as(
    mut scan: Scan,
    input_format: Option<&str>,
    fields: Vec<String>,
    codec: Option<&str>,
) -> PyResult<Scan> {
    if let Some(name) = input_format {
        scan = scan.format(
            Format::find(name).ok_or_else(|| unknown("input format", name, Format::ALL, Format::name))?,
        );
    }
    let field = |field: String| {
        field.parse().map_err(|error| PyValueError::new_err(format!("field {field:?}: {error}")))
    };
    scan = scan.fields(fields.into_iter().map(field).collect::<PyResult<Vec<_>>>()?);
    if let Some(name) = codec {
        let codec = Codec::find(name);
        scan = scan.codec(codec.ok_or_else(|| unknown("codec", name, Codec::ALL, Codec::name))?);
    }
    Ok(scan)
}

/// What is counted beside the rest: lengths, the most frequent names by kind, distinct items by kind, and what the WHATWG parser makes of
/// lines, with its base.
type Counts = (bool, BTreeMap<String, usize>, Vec<String>, (bool, Option<String>));

/// The counts of files or columns, which can be merged and reported.
#[pyclass(frozen, module = "urlsift._urlsift")]
pub struct Counted {
    partial: Partial,
    run: Option<Run>,
}

/// How often a scan looks for signals and reports its progress.
const TICK: Duration = Duration::from_millis(50);

/// Scans files.
#[pyfunction]
#[pyo3(signature = (paths, *, grammar, counts, input_format, fields, codec, threads, show_secrets, progress))]
pub fn scan(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    grammar: &str,
    counts: Counts,
    input_format: Option<&str>,
    fields: Vec<String>,
    codec: Option<&str>,
    threads: usize,
    show_secrets: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Counted> {
    let scan = read_as(scan_of(grammar, counts, threads)?, input_format, fields, codec)?;
    let mut inputs = each_once(&paths);
    // In the order of a report whose parts were merged.
    let identity = |name: &str| Identity { number: None, name: name.to_owned() };
    inputs.sort_by(|one, other| identity(one.name()).place(&identity(other.name())));
    let identities: Vec<_> = inputs.iter().map(|input| identity(input.name())).collect();
    let parts: Vec<_> = (0..u32::try_from(inputs.len())?).map(Part::whole).collect();
    scan_parts(py, scan, (inputs, &identities, None), &parts, show_secrets, progress)
}

/// The inputs that paths name, each with its path and its size in bytes.
#[pyfunction]
pub fn list_files(paths: Vec<PathBuf>) -> PyResult<Vec<(String, PathBuf, Option<u64>)>> {
    let found = |input: Input| {
        let no_file = || PyOSError::new_err(format!("{}: has no file that can be listed", input.name()));
        Ok((input.name().to_owned(), input.path().ok_or_else(no_file)?.to_owned(), input.size_bytes()))
    };
    each_once(&paths).into_iter().map(found).collect()
}

/// The inputs that paths name. A file that two of them name, or that is in a directory that another names, is read once.
fn each_once(paths: &[PathBuf]) -> Vec<Input> {
    let mut inputs = list_inputs(paths);
    if paths.len() > 1 {
        let mut known = HashSet::new();
        inputs.retain(|input| {
            let path = input.path().unwrap_or(Path::new(input.name()));
            known.insert(path.canonicalize().unwrap_or_else(|_| path.to_owned()))
        });
    }
    inputs
}

/// A range of bytes, with the size of its input if that is known. The end may be `u64::MAX`.
type Range = (u64, u64, Option<u64>);

/// Cuts a file into ranges of about `split_size` bytes that can be scanned alone.
#[pyfunction]
#[pyo3(signature = (name, origin, split_size, *, input_format, fields, codec))]
pub fn cut(
    py: Python<'_>,
    name: String,
    origin: Origin<'_>,
    split_size: u64,
    input_format: Option<&str>,
    fields: Vec<String>,
    codec: Option<&str>,
) -> PyResult<Vec<Range>> {
    let scan = read_as(Scan::new(), input_format, fields, codec)?;
    let (input, file) = origin.input(name)?;
    let name = input.name().to_owned();
    let parts = py.detach(|| partial_report::cut(&scan, input, split_size));
    file.map_or(Ok(()), |file| file.check())?;
    let parts =
        parts.map_err(|error| PyOSError::new_err(format!("{name}: {}", Advice::said(error, words))))?;
    Ok(parts.into_iter().map(|part| (part.range.start, part.range.end, part.size)).collect())
}

/// Scans a range of a file. `place` is the number of the file, and how many files there are.
#[pyfunction]
#[pyo3(signature = (name, origin, place, range, *, grammar, counts, input_format, fields, codec, threads, show_secrets))]
pub fn scan_part(
    py: Python<'_>,
    name: String,
    origin: Origin<'_>,
    place: (u32, u32),
    range: Range,
    grammar: &str,
    counts: Counts,
    input_format: Option<&str>,
    fields: Vec<String>,
    codec: Option<&str>,
    threads: usize,
    show_secrets: bool,
) -> PyResult<Counted> {
    let scan = read_as(scan_of(grammar, counts, threads)?, input_format, fields, codec)?;
    let (input, file) = origin.input(name)?;
    let identity = [Identity { number: Some(place.0), name: input.name().to_owned() }];
    let part = [Part { input: 0, range: range.0..range.1, size: range.2 }];
    let counted = scan_parts(py, scan, (vec![input], &identity, Some(place.1)), &part, show_secrets, None)?;
    file.map_or(Ok(()), |file| file.check())?;
    Ok(counted)
}

/// Scans parts of inputs. Each input has an identity, and the last number says how many inputs the corpus has, if that is known.
fn scan_parts(
    py: Python<'_>,
    scan: Scan,
    (inputs, identities, n_inputs): (Vec<Input>, &[Identity], Option<u32>),
    parts: &[Part],
    show_secrets: bool,
    progress: Option<Py<PyAny>>,
) -> PyResult<Counted> {
    let total: Option<u64> = inputs.iter().map(Input::size_bytes).sum();
    let watch = Watch::default();
    let scan = scan.watch(&watch);
    let start = Instant::now();
    let (found, stopped) = py.detach(|| {
        thread::scope(|scope| {
            let found = || scan.parts(inputs, parts);
            // The end of the thread closes the channel.
            let (open, ended) = mpsc::channel::<()>();
            let work = scope.spawn(move || {
                let _open = open;
                found()
            });
            let mut stopped = Ok(());
            let mut is_running = true;
            while is_running {
                is_running = ended.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout);
                if stopped.is_ok() {
                    stopped = Python::attach(|py| {
                        py.check_signals()?;
                        if let Some(progress) = &progress {
                            progress.bind(py).call1((watch.bytes(), total, watch.lines()))?;
                        }
                        PyResult::Ok(())
                    });
                    if stopped.is_err() {
                        watch.stop();
                    }
                }
            }
            (
                work.join().map_err(|_| PyOSError::new_err("the scan failed; this is a bug of urlsift")),
                stopped,
            )
        })
    });
    stopped?;
    let mut found = found?;
    Failure::say(&mut found.scanned.failures, words);
    let settings = Settings::of(&scan, show_secrets);
    let partial = Partial::new(&found, parts, identities, n_inputs, settings);
    let partial = partial.map_err(failed)?;
    Ok(Counted { partial, run: Some(Run::new(start.elapsed(), scan.n_threads(), scan.chosen_kernel())) })
}

/// How many rows are counted before signals are looked at, and how many bytes of batches are held before they are counted.
const ROWS: usize = 1 << 20;
const BYTES: usize = 64 << 20;

/// Counts the values of a column.
#[pyfunction]
#[pyo3(signature = (data, *, name, grammar, counts, ordered, threads, show_secrets))]
pub fn count<'py>(
    py: Python<'py>,
    data: &Bound<'py, PyAny>,
    name: &str,
    grammar: &str,
    counts: Counts,
    ordered: bool,
    threads: usize,
    show_secrets: bool,
) -> PyResult<Counted> {
    let scan = scan_of(grammar, counts, threads)?.format(Format::Lines);
    let start = Instant::now();
    let mut source = Source::of(data)?;
    let (mut tally, mut n_rows, mut is_end) = (Tally::default(), 0, false);
    while !is_end {
        let (mut batches, mut bytes, before) = (Vec::new(), 0, n_rows);
        while n_rows - before < ROWS && bytes < BYTES {
            let Some(batch) = source.next(py, n_rows)? else {
                is_end = true;
                break;
            };
            py.check_signals()?;
            n_rows += batch.len();
            bytes += batch.bytes(0..batch.len());
            if batch.len() > 0 {
                batches.push(batch);
            }
        }
        let mut parts = batches.iter().flat_map(|batch| Rows::of(batch, ROWS, BYTES)).peekable();
        while let Some(first) = parts.next() {
            let (mut rows, mut bytes) = (first.len(), first.bytes(0..first.len()));
            let mut group = vec![first];
            let mut fits = |part: &Rows<'_>| {
                rows += part.len();
                bytes += part.bytes(0..part.len());
                rows <= ROWS && bytes <= BYTES
            };
            while let Some(part) = parts.next_if(&mut fits) {
                group.push(part);
            }
            let group: Vec<_> = group.iter().collect();
            tally = py.detach(|| scan.values(tally, &group));
            py.check_signals()?;
        }
    }
    let partial = Partial::of_column(name, tally, !ordered, Settings::of(&scan, show_secrets));
    Ok(Counted { partial, run: Some(Run::new(start.elapsed(), scan.n_threads(), scan.chosen_kernel())) })
}

impl Counted {
    fn report(&self) -> Report {
        let mut report = self.partial.clone().report();
        report.run.clone_from(&self.run);
        report.say(arguments);
        report
    }
}

fn failed(error: impl Into<io::Error>) -> PyErr {
    PyValueError::new_err(Advice::said(error.into(), words).to_string())
}

/// The style of reports. A page has commands for a shell, because Python has none that list lines.
fn style() -> TextStyle {
    let mut style = TextStyle::default();
    (style.words.list, style.words.grammar) = ("urlsift lines", "-g");
    (style.words.base, style.words.condition) = ("--base", "--where");
    (style.words.render, style.words.write) = ("urlsift render --format json FILE", "save(\"report.json\")");
    style
}

/// The arguments of `scan` that read an input as in a trial, and what they find. For a delimiter there is only the command.
fn arguments(trial: &Trial, found: &str) -> String {
    let format = trial.format;
    let columns: Vec<_> = trial.columns().map(|column| column.to_string()).collect();
    match (trial.delimiter, columns.join(",")) {
        (Some(char), columns) => {
            format!("urlsift --input-format {format} --delimiter '{char}' --field {columns} {found}")
        }
        (None, columns) if columns.is_empty() => format!("input_format=\"{format}\" {found}"),
        (None, columns) => format!("input_format=\"{format}\", fields=[{columns}] {found}"),
    }
}

/// What helps against an error, as the continuation of its sentence.
fn words(advice: Advice) -> &'static str {
    match advice {
        Advice::ChooseField => "; fields chooses one by name or number",
        Advice::ChooseSmallerNumber => " as fields says",
        Advice::ChooseFormat => "; input_format says what they are",
        Advice::ChooseOneFormat => "; say by input_format which it has",
        Advice::ReadAsLines => "; input_format=\"lines\", codec=\"none\" reads its bytes as lines",
        // Python has neither patterns of logs nor splits.
        Advice::NameVariable | Advice::ListValues | Advice::ListUrls(_) => "",
    }
}

#[pymethods]
impl Counted {
    /// Reads what `partial` wrote.
    #[staticmethod]
    fn read(partial: &[u8]) -> PyResult<Self> {
        let mut all: Option<Partial> = None;
        for partial in Partial::read_lines(partial) {
            let partial = partial.map_err(failed)?;
            all = Some(match all.take() {
                Some(all) => all.merge(partial).map_err(failed)?,
                None => partial,
            });
        }
        let partial = all.ok_or_else(|| PyValueError::new_err("no partial report"))?;
        Ok(Self { partial, run: None })
    }

    fn merge(&self, other: &Bound<'_, PyAny>) -> PyResult<Self> {
        let other = other.cast::<Self>().map_err(|_| PyTypeError::new_err("expected a report"))?;
        let partial = self.partial.clone().merge(other.get().partial.clone()).map_err(failed)?;
        Ok(Self { partial, run: None })
    }

    /// The counts as a line of JSON, to be merged elsewhere.
    fn partial<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut json = Vec::new();
        self.partial.write_json(&mut json)?;
        Ok(PyBytes::new(py, &json))
    }

    fn json(&self) -> PyResult<String> {
        let mut json = Vec::new();
        self.report().write_json(&mut json)?;
        Ok(String::from_utf8_lossy(&json).into_owned())
    }

    fn html(&self) -> PyResult<String> {
        let mut page = Vec::new();
        self.report().write_html_in(&mut page, &style())?;
        Ok(String::from_utf8_lossy(&page).into_owned())
    }

    fn text(&self, width: usize) -> String {
        let mut style = style();
        style.width = width;
        render(&self.report(), &style)
    }
}

/// Makes a table of columns. Each has a name, whether it has numbers, and a list of `int`, or of `str` and None.
#[pyfunction]
pub fn table(columns: Vec<(String, bool, Bound<'_, PyAny>)>) -> PyResult<Array> {
    let mut children: Vec<Column> = Vec::new();
    for (name, is_number, values) in columns {
        let cells = if is_number {
            Cells::Numbers(values.extract()?)
        } else {
            let values: Vec<Option<String>> = values.extract()?;
            Cells::Texts(values.into_iter().collect())
        };
        children.push(Column::of_cells(&name, cells, Form { bits: false, plain: true }));
    }
    let len = children.first().map_or(0, |column| column.len);
    if children.iter().any(|column| column.len != len) {
        return Err(PyValueError::new_err("columns of different lengths"));
    }
    Ok(Array(Column::table("", len, &Validity::default(), children)))
}
