//! Paths, directories and standard input as named inputs, their bytes decoded, and in pieces of whole lines.

mod codec;
mod listing;
mod pieces;
mod watched;

pub(crate) use codec::Unpacked;
pub use codec::{Codec, DecodeError, DecodeErrorKind};
pub(crate) use listing::Opened;
pub use listing::{Input, list};
pub(crate) use pieces::{Bytes, Piece, Pieces, ShardBytes, Sizes};
pub(crate) use watched::Told;
