//! Turns paths, directories and standard input into named inputs, decodes them, and cuts them into chunks of whole lines.
//! This folder knows no URL.

pub(crate) mod workers;
mod codec;
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
pub(crate) mod utf16;
mod pipe;
mod progress_reader;
mod program;

pub(crate) use byte_range::Span;
#[cfg(feature = "parquet")]
pub(crate) use chunks::read_at;
pub(crate) use chunks::{Chunk, ChunkBytes, Chunks, ShardBytes, Sizes, Supply};
pub use codec::{Codec, DecodeError, DecodeErrorKind};
pub(crate) use codec::{Coding, End, Meter, Unpacked};
pub use directory::Walk;
pub use file_list::Separator;
pub(crate) use foreign::Foreign;
pub(crate) use mmap::{Mapped, Window};
#[cfg(feature = "cli")]
pub(crate) use pipe::enlarge_pipe;
pub(crate) use progress_reader::ProgressReader;
pub use source::Input;
pub(crate) use source::Opened;

use std::path::Path;

/// All inputs that `paths` name, in their order. `-` is standard input. A directory stands for all files in it and below
/// it that are not hidden, sorted by name.
///
/// A path that cannot be accessed is an input too, and so is a directory without files. Reading it fails.
#[must_use]
pub fn list(paths: &[impl AsRef<Path>]) -> Vec<Input> {
    Walk::default().list(paths)
}
