//! The Python package `urlsift`, as far as it is made in Rust. `urlsift/` has the rest, with the documentation.
//!
//! `c_data` is the interface to Arrow, `columns` makes Arrow columns, `source` takes values, and `object` takes files. `judged_columns` judges rows, `judge` and `report` have the functions and classes. The crate `urlsift` judges and counts.

// As a test it would be linked without Python. `c_data` is tested alone, and the rest by Python.
#![cfg(not(test))]
#![deny(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "arguments of Python functions are extracted as values")]
#![allow(clippy::too_many_arguments, reason = "the wrappers in Python give them names and defaults")]

#[allow(unsafe_code)]
mod c_data;
mod columns;
mod judge;
mod judged_columns;
mod object;
mod report;
mod source;

use std::ffi::OsString;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use urlsift::whatwg::{Url, parse};
use urlsift::{Grammar, KernelId};

/// The error about a name that nothing has.
fn unknown<T: Copy>(what: &str, name: &str, all: &[T], name_of: fn(T) -> &'static str) -> PyErr {
    let names: Vec<_> = all.iter().map(|&one| name_of(one)).collect();
    PyValueError::new_err(format!("no {what} {name:?}; there are {}", names.join(", ")))
}

/// The grammar of a name.
fn grammar(name: &str) -> PyResult<Grammar> {
    name.parse().map_err(|_| unknown("grammar", name, &Grammar::ALL, Grammar::name))
}

/// Parses a base URL by the WHATWG URL Standard.
fn base_url(base: &[u8]) -> PyResult<Url> {
    let parsed = parse(base, None);
    parsed.url().cloned().ok_or_else(|| {
        let errors: Vec<_> = parsed.errors().iter().map(|found| found.error.name()).collect();
        PyValueError::new_err(format!("base is no URL by the WHATWG URL Standard ({})", errors.join(", ")))
    })
}

/// The allocator of the command.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the command `urlsift` and ends the process. The first word is the name of the program.
#[pyfunction]
fn command(py: Python<'_>, words: Vec<OsString>) {
    let status = py.detach(|| urlsift::cli::run(words));
    std::process::exit(status.into())
}

#[pymodule]
fn _urlsift(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<judge::Defect>()?;
    module.add_class::<judge::Judgement>()?;
    module.add_class::<judge::Array>()?;
    module.add_class::<report::Counted>()?;
    module.add_function(wrap_pyfunction!(judge::judge, module)?)?;
    module.add_function(wrap_pyfunction!(judge::judge_array, module)?)?;
    module.add_function(wrap_pyfunction!(report::scan, module)?)?;
    module.add_function(wrap_pyfunction!(report::list_files, module)?)?;
    module.add_function(wrap_pyfunction!(report::cut, module)?)?;
    module.add_function(wrap_pyfunction!(report::scan_part, module)?)?;
    module.add_function(wrap_pyfunction!(report::count, module)?)?;
    module.add_function(wrap_pyfunction!(report::table, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add("COLUMNS", judge::columns().map(|column| column.name).collect::<Vec<_>>())?;
    module.add("GRAMMARS", Grammar::ALL.map(Grammar::name))?;
    module.add("KERNEL", KernelId::best().name())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
