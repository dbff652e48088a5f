//! Paths, directories and standard input as named inputs, and their bytes as pieces of whole lines.

mod listing;
mod pieces;
mod watched;

pub(crate) use listing::Opened;
pub use listing::{Input, list};
pub(crate) use pieces::{Bytes, Piece, Pieces, ShardBytes, Sizes};
pub(crate) use watched::Told;
