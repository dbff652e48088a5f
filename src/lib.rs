//! urlsift judges URLs in bulk: every line of a corpus, under five grammars at once.
//!
//! The grammars are `draft1993` (the URL draft of November 1993), `rfc1738`, `rfc1808`, `rfc2396` and `rfc3986`. A line's
//! *verdict* is the set of those that accept it. Where one refuses, its *defect* says at what byte, in which component,
//! for what cause and by which rule of the document.
//!
//! Judge one line:
//!
//! ```
//! use urlsift::{Grammar, judge};
//!
//! let judgement = judge(b"http://example.org/?a/b");
//! assert_eq!(judgement.verdict().to_string(), "rfc1808,rfc2396,rfc3986");
//! let defect = judgement.defect(Grammar::Rfc1738).unwrap();
//! assert_eq!(defect.to_string(), "query:character-not-allowed@21");
//! ```
//!
//! Scan a corpus that is in memory with [`scan()`] or, on several threads, [`corpus::scan_memory`], one in files or a pipe
//! with [`corpus::scan_inputs`]; all give a [`Tally`], which [`Tally::merge`] adds to others. [`report::Report`] makes a document of it.
//!
//! # Glossary
//!
//! *Line*: the bytes between line terminators; a terminator is LF with all CRs directly before it. *Grammar*: accepts or
//! refuses a line. *Verdict*: the set of accepting grammars. *Defect*: why one grammar refuses. *Advisory*: accepted but
//! noteworthy. *Tally*: all counts, a commutative monoid. *Shard*: a run of whole lines that is one piece of work. *Lane*:
//! one of several sub-pieces that are walked side by side.
//!
//! # Modules
//!
//! They stand in the order in which data flows, and each uses only those above it.

#![deny(unsafe_code)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "streams, and what serves them alone, are compiled where there are kernels")
)]

mod names;
pub mod component;
pub mod escape;
pub mod scheme;
pub mod parts;
pub mod grammar;
mod machine;
pub mod defect;
pub mod advisory;
mod judge;
mod walk;
pub mod watch;
mod shard;
pub mod input;
mod class;
pub mod kernel;
mod streams;
mod lanes;
pub mod tally;
mod observe;
pub mod scan;
mod long_line;
mod parallel;
pub mod corpus;
pub mod record;
pub mod report;

pub use advisory::{Advisories, Advisory};
pub use component::Component;
pub use defect::{Cause, Defect};
pub use grammar::{Grammar, Verdict};
pub use judge::{Judgement, Kind, judge};
pub use machine::Rule;
pub use scan::scan;
pub use tally::Tally;
