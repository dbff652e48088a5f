//! Paths, directories and standard input as named inputs, their bytes decoded, and in pieces of whole lines.

mod codec;
mod listing;
mod pieces;
mod watched;

pub use codec::{Codec, DecodeError, DecodeErrorKind};
pub use listing::{Input, list};
pub(crate) use listing::{Opened, Unpacked};
pub(crate) use pieces::{Bytes, Piece, Pieces, ShardBytes, Sizes};
pub(crate) use watched::Told;
