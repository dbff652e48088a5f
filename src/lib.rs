//! urlsift judges URLs in bulk: every line of a corpus, under five grammars at once.
//!
//! The grammars are `draft1993` (the URL draft of November 1993), `rfc1738`, `rfc1808`, `rfc2396` and `rfc3986`. A line's
//! *verdict* is the set of those that accept it. Where one refuses, its *defect* says at what byte, in which component,
//! for what cause and by which rule of the document.
//!
//! # Judge one line
//!
//! [`judge()`] takes the bytes of a line without its terminator. It allocates nothing and never fails: any bytes are judged.
//!
//! ```
//! use urlsift::{Cause, Component, Grammar, judge};
//!
//! let judgement = judge(b"http://example.org/?a/b");
//! assert!(judgement.verdict().accepts(Grammar::Rfc3986));
//! assert_eq!(judgement.verdict().to_string(), "rfc1808,rfc2396,rfc3986");
//!
//! let defect = judgement.defect(Grammar::Rfc1738).expect("RFC 1738 refuses it");
//! assert_eq!((defect.component, defect.cause, defect.offset), (Component::Query, Cause::CharacterNotAllowed, 21));
//! assert_eq!(defect.to_string(), "query:character-not-allowed@21");
//! assert_eq!(defect.rule.name(), "search");
//! ```
//!
//! # Scan a buffer
//!
//! [`scan()`] counts all lines of a corpus in memory into a [`Tally`]; [`run::scan_memory`] does it on several threads.
//!
//! ```
//! use urlsift::{Grammar, scan};
//!
//! let mut options = scan::Options::default();
//! options.grammar = Grammar::Rfc1738; // whose refusals are explained; all five judge
//! let tally = scan(b"http://example.org/\nhttp://example.org/~fred\n\nmailto:fred@example.org\n", &options);
//!
//! assert_eq!((tally.lines(), tally.blank), (4, 1));
//! assert_eq!(tally.judged().accepted(Grammar::Rfc1738), 2);
//! assert_eq!(tally.schemes()[0].0, "http");
//! let (component, cause, found) = tally.defects()[0];
//! assert_eq!((component.name(), cause.name(), found.lines), ("path", "illegal-character", 1));
//! assert_eq!((found.examples[0].line, found.examples[0].at), (2, 19));
//! ```
//!
//! # Scan a file
//!
//! [`input::list`] makes inputs of paths, and [`run::scan_inputs`] reads them on all cores; memory does not grow with them.
//! What cannot be read is told beside the tally, and stops nothing else. [`report::Report`] makes a document of the result, the
//! same that the command writes.
//!
//! ```
//! use urlsift::run::{Effort, scan_inputs};
//! use urlsift::{Grammar, input, scan};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("urls.txt");
//! # std::fs::write(&path, "http://example.org/\nhttp://example.org/a b\n")?;
//! let inputs = input::list(&[path, "no/such/file.txt".into()]);
//! let scanned = scan_inputs(&inputs, &scan::Options::default(), &Effort::default());
//!
//! assert_eq!(scanned.tally.lines(), 2);
//! assert_eq!(scanned.tally.judged().accepted(Grammar::Rfc3986), 1);
//! for failure in &scanned.failures {
//!     let name = inputs[failure.input as usize].name();
//!     assert_eq!(name, "no/such/file.txt");
//!     eprintln!("{name}: {}", failure.error);
//! }
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Merge tallies
//!
//! A tally is a commutative monoid: [`Tally::merge`] adds the counts of other lines in any order, and [`Tally::default`] is
//! nothing. So a corpus may be cut anywhere between lines, and its parts judged wherever there is time; [`scan::scan_part`] is
//! told where its part begins, so that examples have the numbers of their lines in the end.
//!
//! ```
//! use urlsift::scan::{Options, scan, scan_part};
//! use urlsift::place::Place;
//!
//! let bytes = b"http://example.org/\nnews:*\n/a b\n";
//! let (head, tail) = bytes.split_at(20); // behind the first line
//! let options = Options::default();
//!
//! let first = scan_part(head, Place { input: 0, offset: 0 }, &options);
//! let second = scan_part(tail, Place { input: 0, offset: 20 }, &options);
//! let merged = second.merge(first);
//! assert_eq!(merged, scan(bytes, &options));
//! assert_eq!(merged.defects()[0].2.examples[0].line, 3);
//! ```
//!
//! # Glossary
//!
//! - *Line*: the bytes between line terminators; a terminator is LF with all CRs directly before it. A *blank* line has no
//!   bytes; it is counted and not judged.
//! - *Grammar*: one of the five ([`Grammar`]); it accepts a line or refuses it. "Valid" alone means nothing here.
//! - *Verdict*: the set of grammars that accept a line ([`Verdict`]).
//! - *Defect*: why one grammar refuses a line ([`Defect`]): the [`Component`] it lies in, its [`Cause`], the [`Rule`] that was
//!   being read, and the *offset*, how many bytes of the line stand before the first that no accepted line could have there.
//! - *Advisory*: something worth knowing of a line that some grammar accepts ([`Advisory`]). It changes no verdict.
//! - *Base*: a URI that relative references are resolved against ([`grammar::resolve::Base`]). No verdict and no tally depends on it.
//! - *Tally*: the counts of a corpus or of a part of it ([`Tally`]).
//! - *Corpus*: all that is judged in one go. *Input*: one file or stream of it ([`input::Input`]). *Place*: an input's number and
//!   an offset in bytes ([`place::Place`]). *Extent*: a range of an input that has been read without a gap ([`place::Extent`]).
//! - *Part*: the lines of an input that begin in a range of its bytes ([`run::Part`]). *Split*: a part as others are told of it
//!   ([`partial_report::plan::Split`]). *Partial report*: the counts of parts, to be merged ([`partial_report::Partial`]).
//! - *Shard*: a run of whole lines that is one piece of work. *Lane*: one of several sub-pieces that are walked side by side.
//!   *Kernel*: what does that, by the vectors of the machine or without ([`simd::KernelId`]). None of them changes a count.
//!
//! # Stability
//!
//! The names that `name()` gives are public and stay. Structs and enums that may grow are `#[non_exhaustive]`: options are made
//! by `default()`, and their fields assigned. [`Grammar`], [`Kind`] and [`place::Place`] will not grow within a major version.
//!
//! # Features
//!
//! The default features make the command. A library turns them off and chooses:
//!
//! | feature | adds |
//! |---|---|
//! | none | [`judge()`], [`grammar::uri_parts`], [`grammar::resolve`] and what they return; depends on memchr alone |
//! | `scan` | corpora in memory and in files, records, tallies, reports, partial reports |
//! | `gzip`, `zstd`, `bzip2`, `xz` | compressed inputs |
//! | `parquet` | files of that format, and the module of that name |
//! | `walk` | directories as inputs |
//! | `mmap` | memory-mapped files, on Linux |
//! | `html` | reports as a page for a browser |
//! | `schema` | `schemars::JsonSchema` of the report's types |
//!
//! Each of those below `scan` includes it.
//!
//! # Modules
//!
//! They stand in the order in which data flows, and each uses only those above it.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "scan"),
    allow(dead_code, reason = "some of what judges lines is for the scan alone")
)]
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "streams, and what serves them alone, are compiled where there are kernels")
)]

pub mod grammar;
#[cfg(feature = "scan")]
pub mod place;
#[cfg(feature = "scan")]
mod example;
#[cfg(feature = "scan")]
mod lines;
#[cfg(feature = "scan")]
mod input_signs;
#[cfg(feature = "scan")]
pub mod progress;
#[cfg(feature = "scan")]
pub mod simd;
#[cfg(feature = "scan")]
mod engine;
#[cfg(feature = "scan")]
pub mod input;
#[cfg(feature = "scan")]
pub mod records;
#[cfg(feature = "scan")]
pub mod tally;
#[cfg(feature = "scan")]
pub mod scan;
#[cfg(feature = "scan")]
pub mod run;
#[cfg(feature = "scan")]
pub mod rows;
#[cfg(feature = "scan")]
pub mod split;
#[cfg(feature = "scan")]
pub mod report;
#[cfg(feature = "scan")]
pub mod partial_report;

pub use grammar::advisory::{Advisories, Advisory};
pub use grammar::automaton::Rule;
pub use grammar::component::Component;
pub use grammar::defect::{Cause, Defect};
pub use grammar::judge::{Judgement, Kind, judge};
pub use grammar::{Grammar, Verdict};
#[cfg(feature = "scan")]
pub use scan::scan;
#[cfg(feature = "scan")]
pub use tally::Tally;
