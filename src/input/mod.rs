//! Paths, directories and standard input as named inputs, their bytes decoded, and in pieces of whole lines.

mod codec;
mod listing;
#[cfg(all(feature = "mmap", target_os = "linux"))]
mod mapped;
#[cfg(not(all(feature = "mmap", target_os = "linux")))]
#[path = "unmapped.rs"]
mod mapped;
mod names;
mod pieces;
#[cfg(test)]
mod slow;
mod span;
mod walk;
mod watched;

pub use codec::{Codec, DecodeError, DecodeErrorKind};
pub(crate) use codec::{Meter, Unpacked};
pub use listing::Input;
pub(crate) use listing::Opened;
pub(crate) use mapped::{Mapped, Window};
pub use names::Separator;
#[cfg(feature = "parquet")]
pub(crate) use pieces::read_at;
pub(crate) use pieces::{Bytes, Piece, Pieces, ShardBytes, Sizes, Supply};
pub(crate) use span::Span;
pub use walk::Walk;
pub(crate) use watched::Told;

use std::path::PathBuf;

/// All inputs that `paths` name, in their order: `-` is standard input, a directory stands for all files in it and below
/// it that are not hidden, sorted by name. [`Walk`] has more to say on which.
///
/// A path that cannot be looked at is an input too; it fails when it is read.
#[must_use]
pub fn list(paths: &[PathBuf]) -> Vec<Input> {
    Walk::default().list(paths)
}
