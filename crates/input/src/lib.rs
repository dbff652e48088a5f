//! Turns paths, directories and standard input into named inputs, decodes them, and cuts them into chunks of whole lines.
//! This crate judges no URL. It masks passwords in the names of inputs.
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

pub mod memory;
mod advice;
pub mod progress;
pub mod workers;
mod codec;
mod object;
mod source;
#[cfg(all(feature = "mmap", target_os = "linux"))]
mod mmap;
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
#[path = "no_mmap.rs"]
mod mmap;
mod file_list;
mod chunks;
#[cfg(test)]
mod slow_source;
mod byte_range;
#[cfg(feature = "walk")]
mod globs;
mod directory;
mod foreign;
pub mod utf16;
mod pipe;
mod progress_reader;
mod program;
#[cfg(feature = "cli")]
mod unnamed;

pub use advice::Advice;
pub use byte_range::Span;
pub use chunks::{Chunk, ChunkBytes, Chunks, Sizes, Supply};
pub use codec::{Codec, Coding, DecodeError, DecodeErrorKind, End, Meter};
pub use directory::Walk;
pub use file_list::Separator;
pub use foreign::Foreign;
pub use mmap::{Mapped, Window};
pub use object::{Object, Seekable};
#[cfg(feature = "cli")]
pub use pipe::enlarge_pipe;
pub use progress_reader::ProgressReader;
pub use source::{Input, Opened};
#[cfg(feature = "cli")]
pub use unnamed::{name_file, unnamed_file};

use std::path::Path;

/// All inputs that `paths` name, in their order. `-` is standard input. A directory stands for all files in it and below
/// it that are not hidden, sorted by name.
///
/// A path that cannot be accessed is an input too, and so is a directory without files. Reading it fails.
#[must_use]
pub fn list(paths: &[impl AsRef<Path>]) -> Vec<Input> {
    Walk::default().list(paths)
}
