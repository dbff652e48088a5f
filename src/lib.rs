//! urlsift judges URLs in bulk: every line of a corpus, under five grammars at once.
//!
//! The grammars are `draft1993` (the URL draft of November 1993), `rfc1738`, `rfc1808`, `rfc2396` and `rfc3986`. The
//! *verdict* of a line is the set of grammars that accept it. For each grammar that refuses the line, a *defect* names the byte,
//! the component, the cause, and the rule of the document.
//!
//! # Judge one line
//!
//! [`judge()`] takes the bytes of a line without its terminator. It judges any bytes, allocates nothing and never fails.
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
//! # Count lines
//!
//! A [`Scan`] counts all lines of a buffer into a [`Tally`].
//!
//! ```
//! use urlsift::{Grammar, Scan};
//!
//! let scan = Scan::new().grammar(Grammar::Rfc1738); // whose refusals are explained; all five judge
//! let tally = scan.bytes(b"http://example.org/\nhttp://example.org/~fred\n\nmailto:fred@example.org\n");
//!
//! assert_eq!((tally.lines(), tally.blank), (4, 1));
//! assert_eq!(tally.judged().accepted(Grammar::Rfc1738), 2);
//! assert_eq!(tally.schemes()[0].0, "http");
//! let defect = tally.defects()[0];
//! assert_eq!((defect.component.name(), defect.cause.name()), ("path", "illegal-character"));
//! let example = &defect.found.examples[0];
//! assert_eq!((defect.found.lines, example.line, example.at), (1, 2, 19));
//! ```
//!
//! [`Scan::paths`] reads files, directories and standard input on all cores, as the command does. Memory use does not depend on
//! the size of the inputs. An input that cannot be read is a failure in the result and does not stop the others.
//! [`report::Report`] turns the result into the document that the command writes.
//!
//! # Merge tallies
//!
//! A tally is a commutative monoid: [`Tally::merge`] adds the counts of other lines in any order, and [`Tally::default`] is the
//! empty tally. So a corpus can be cut between any two lines, and its parts can be judged anywhere, in any order.
//! [`Scan::part`] takes the place where its part begins, so that the merged examples have the right line numbers.
//!
//! ```
//! use urlsift::{Place, Scan};
//!
//! let bytes = b"http://example.org/\nnews:*\n/a b\n";
//! let (head, tail) = bytes.split_at(20); // after the first line
//!
//! let scan = Scan::new();
//! let first = scan.part(head, Place { input: 0, offset: 0 });
//! let second = scan.part(tail, Place { input: 0, offset: 20 });
//! let merged = second.merge(first);
//! assert_eq!(merged, scan.bytes(bytes));
//! assert_eq!(merged.defects()[0].found.examples[0].line, 3);
//! ```
//!
//! # Glossary
//!
//! - *Line*: the bytes between two line terminators. A terminator is LF with all CRs directly before it. A *blank* line has no
//!   bytes; it is counted, but not judged.
//! - *Grammar*: one of the five ([`Grammar`]). It accepts a line or refuses it. "Valid" without a grammar has no meaning here.
//! - *Verdict*: the set of grammars that accept a line ([`Verdict`]).
//! - *Defect*: the reason why one grammar refuses a line ([`Defect`]). It consists of a [`Component`], a [`Cause`], the [`Rule`]
//!   that was being read, and an *offset*.
//! - *Offset* of a defect: the number of bytes before the first byte that no accepted line could have there.
//! - *Advisory*: a noteworthy property of a line that some grammar accepts ([`Advisory`]). It changes no verdict.
//! - *Base*: a URI that relative references are resolved against ([`grammar::resolve::Base`]). No verdict and no tally depends on it.
//! - *Tally*: the counts of a corpus or of a part of it ([`Tally`]).
//! - *Corpus*: all inputs that one report covers. *Input*: one of its files or streams ([`inputs::Input`]).
//! - *Place*: the number of an input and an offset in bytes ([`Place`]). *Extent*: a range of an input that has been read
//!   without a gap ([`tally::Extent`]).
//! - *Part*: the lines of an input that begin in a range of its bytes ([`inputs::Part`]). *Split*: the description of a part, for the
//!   machine that scans it (`urlsift plan`).
//! - *Partial report*: the counts of some parts, to be merged with others ([`partial_report::Partial`]).
//! - *Chunk*: the whole lines or records that a thread counts at a time, of an input that is read from its start.
//! - *Shard*: a run of whole lines that one thread scans at a time. *Lane*: one of several slices of these lines that are scanned
//!   side by side.
//! - *Kernel*: an implementation of that scan, with vector instructions or without ([`KernelId`]). Shards, lanes and kernels
//!   change no count.
//!
//! # Stability
//!
//! The names that `name()` returns are part of the public API and do not change. Structs and enums that may grow are
//! `#[non_exhaustive]`. [`Grammar`], [`Kind`] and [`Place`] do not grow within a major version.
//!
//! # Features
//!
//! The default features build the command. A crate that uses the library turns them off and chooses among these:
//!
//! | feature | adds |
//! |---|---|
//! | none | [`judge()`], [`grammar::uri_parts`], [`grammar::resolve`] and the types they return; the only dependency is memchr |
//! | `whatwg` | `whatwg::parse`: what browsers make of a line |
//! | `scan` | corpora in memory and in files, records, tallies, reports, partial reports; includes `whatwg` |
//! | `gzip`, `zstd`, `bzip2`, `xz` | compressed inputs |
//! | `parquet` | Parquet files |
//! | `walk` | directories as inputs |
//! | `mmap` | memory-mapped files, on Linux |
//! | `html` | reports as HTML pages |
//! | `schema` | `schemars::JsonSchema` for the types of the report |
//!
//! Each feature listed below `scan` includes `scan`.
//!
//! # Modules
//!
//! | module | purpose |
//! |---|---|
//! | [`grammar`] | one line: components, schemes, resolution of references, hosts, keys |
//! | [`inputs`] | files, directories, pipes, and how they are read |
//! | [`records`] | formats, and the fields that are URLs |
//! | [`columns`] | what single lines and values have in each column |
//! | [`tally`] | the counts |
//! | [`report`], [`partial_report`] | the documents that are made of the counts |

#![deny(unsafe_code)]

/// One line: components, schemes, resolution of references, hosts, keys.
pub mod grammar {
    #[cfg(feature = "scan")]
    pub use urlsift_grammar::{host, host_problems, host_set, keys, public_suffix};
    pub use urlsift_grammar::{resolve, uri_parts};

    /// The schemes that some grammar or registry knows.
    pub mod scheme {
        pub use urlsift_grammar::scheme::{KNOWN, KnownScheme, Standing, scheme_len};
    }
}
/// The WHATWG URL Standard: what browsers take.
#[cfg(feature = "whatwg")]
pub mod whatwg {
    pub use urlsift_grammar::whatwg::{
        Found, Level, Parsed, STANDARD, Url, ValidationError, hosts_differ, parse,
    };
    #[cfg(feature = "scan")]
    pub use urlsift_grammar::whatwg::{HostsCause, Network, TwoHosts};
}
#[cfg(feature = "scan")]
pub mod columns;
#[cfg(feature = "scan")]
pub mod tally;
#[cfg(feature = "scan")]
mod scan;
#[cfg(feature = "scan")]
mod run;
#[cfg(feature = "scan")]
mod filter;
#[cfg(feature = "scan")]
mod rows;
#[cfg(feature = "scan")]
mod split;
#[cfg(feature = "scan")]
pub mod report;
#[cfg(feature = "scan")]
pub mod partial_report;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;

/// Files, directories and pipes, and how they are read.
#[cfg(feature = "scan")]
pub mod inputs {
    pub use crate::run::{
        Advice, Codec, Compressed, DecodeError, DecodeErrorKind, Failure, Input, Object, Part, Scanned,
        ScannedParts, ScannedPaths, Values, Watch, list_inputs,
    };
}

/// The formats of records, and the fields that are URLs.
#[cfg(feature = "scan")]
pub mod records {
    pub use crate::run::{
        BadCause, BadRecord, Counts, FieldError, Fields, Format, Records, Role, Selected, Selector, Skip,
    };
    pub use urlsift_records::Escape;
}

/// What the tests, benches and fuzz targets of this repository need in addition to the public interface. All of it may
/// change at any time.
#[cfg(feature = "scan")]
#[doc(hidden)]
pub mod internal {
    pub use crate::report::grouped;
    #[cfg(feature = "html")]
    pub use crate::report::{MAX_PAGE, json_in_page};
    pub use crate::scan::{scan, scan_into};
    pub use urlsift_engine::PathCounts;
    pub use urlsift_grammar::whatwg::plain::PlainUrl;
    pub use urlsift_input::{Separator, Walk};
    #[cfg(feature = "parquet")]
    pub use urlsift_records::parquet;
    pub use urlsift_records::{Field, MAX_RECORD_LEN, Reader};

    pub mod scan {
        pub use crate::scan::*;
    }

    pub mod run {
        pub use crate::run::*;
    }

    pub mod escape {
        pub use urlsift_grammar::escape::*;
    }

    pub mod plan {
        pub use crate::partial_report::plan::*;
    }

    pub mod filter {
        pub use crate::filter::*;
    }

    pub mod rows {
        pub use crate::rows::*;
    }

    pub mod split {
        pub use crate::split::*;
    }
}

#[cfg(feature = "scan")]
pub use run::builder::Scan;
#[cfg(feature = "scan")]
pub use tally::Tally;
#[cfg(feature = "scan")]
pub use urlsift_engine::place::Place;
#[cfg(feature = "scan")]
pub use urlsift_engine::simd::KernelId;
pub use urlsift_grammar::advisory::{Advisories, Advisory};
pub use urlsift_grammar::automaton::Rule;
pub use urlsift_grammar::component::Component;
pub use urlsift_grammar::defect::{Cause, Defect};
pub use urlsift_grammar::judge::{Judgement, Kind, judge};
pub use urlsift_grammar::{Grammar, UnknownGrammar, Verdict};

#[cfg(all(doctest, feature = "scan"))]
#[doc = include_str!("../README.md")]
#[doc = include_str!("../docs/library.md")]
mod pages {}
