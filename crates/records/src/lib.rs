//! The record formats, and an iterator over those fields of records that are URLs.
//!
//! A reader finds the wanted fields of its format. It checks nothing else in a record, and judges no URL. In most formats a
//! record is one line. A quoted CSV field may span lines, and a WARC record has its length in its head.
//!
//! Each format has a file with a `RecordReader`, and a row in the table in `formats`. What is true of all formats is in `reader`.
//!
//! The [`Reader`] keeps what a header says ([`Format::Cdx`], [`Format::W3c`], [`Format::Csv`]). An input can therefore be read in
//! chunks, each on another thread. [`Reader::cut`] says where a chunk can end.
//!
//! A field is borrowed from its record unless its bytes must change: an escape or a doubled quote is undone, or two columns form
//! one URL.
//!
//! A part of the crate `urlsift`, for that crate alone: it promises no stability.

#![deny(unsafe_code)]
#![allow(
    missing_docs,
    clippy::must_use_candidate,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    clippy::should_implement_trait,
    reason = "what is public is what the crate urlsift re-exports"
)]

mod separators;
mod near_bytes;
mod quote_parity;
mod dialect;
pub mod field_names;
mod counts;
pub mod page;
mod record;
mod selector;
#[cfg(feature = "parquet")]
pub mod parquet;
mod quoted;
mod lines;
mod log;
mod clf;
mod alb;
mod w3c;
mod cdx;
mod json;
mod cdxj;
mod container;
mod csv;
mod text;
mod markup;
mod http;
mod warc;
mod formats;
mod reader;
pub mod looks;
pub mod input_signs;
mod detect;

pub use counts::{BadCause, BadRecord, Counts, Skip};
pub use dialect::{Dialect, Escape};
pub use formats::Format;
pub use reader::{Field, FieldError, Fields, Found, Reader, Records, Whole};
pub use record::{MAX_RECORD_LEN, Origin, Part, without_end};
pub use selector::{Role, Selector, WantedNames};

use counts::{Miss, Outcome};
use record::{Cursor, Cut, Gap, Parts, Record, RecordReader, first_line, n_lines};
