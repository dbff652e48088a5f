//! The error of compressed content that cannot be read to its end.
//!
//! It names the codec, the kind of error and the place.

use std::error::Error;
use std::{fmt, io};

use super::Codec;

/// Why compressed content could not be read to its end, and where. It is the inner error of an [`io::Error`]. All lines
/// before that place have been read.
#[derive(Debug)]
pub struct DecodeError {
    pub(super) codec: Codec,
    pub(super) kind: DecodeErrorKind,
    pub(super) cause: Option<String>,
    pub(super) at: u64,
    pub(super) decoded: u64,
}

/// The kind of a [`DecodeError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The compressed content is truncated: its last stream does not end.
    Truncated,
    /// The compressed content is damaged: it cannot be decoded, or a checksum differs.
    Damaged,
    /// Bytes that are not of this codec follow the compressed content.
    Trailing,
    /// Decoding takes more memory than the limit.
    TooLarge,
    /// This build cannot read the codec, because a feature is missing.
    Missing,
}

impl DecodeError {
    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// The codec of the content.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// The offset of the error in the compressed content. Damage is at that offset or before it, because it is noticed
    /// late.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes were decoded before the error.
    #[must_use]
    pub fn decoded(&self) -> u64 {
        self.decoded
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { codec, at, decoded, .. } = self;
        let place = format!("byte {at} of the compressed input, {decoded} decoded");
        match self.kind {
            DecodeErrorKind::Truncated => write!(out, "its {codec} data ends too early, at {place}"),
            DecodeErrorKind::Damaged => write!(out, "its {codec} data is damaged at or before {place}"),
            DecodeErrorKind::Trailing => {
                write!(out, "what stands behind its {codec} data is not {codec}, from {place}")
            }
            DecodeErrorKind::TooLarge => write!(
                out,
                "its {codec} data takes more than 128 MiB of memory to decode, from {place}; decompress it on the way ({} | urlsift)",
                if *codec == Codec::Zstd { "zstd -dc --long=31 FILE" } else { "xz -dc FILE" }
            ),
            DecodeErrorKind::Missing => write!(
                out,
                "it is compressed with {codec}, and this build of urlsift has no decoder for that (the feature \"{codec}\")"
            ),
        }?;
        self.cause.as_ref().map_or(Ok(()), |cause| write!(out, ": {cause}"))
    }
}

impl Error for DecodeError {}

impl From<DecodeError> for io::Error {
    fn from(error: DecodeError) -> Self {
        let kind = match error.kind {
            DecodeErrorKind::Truncated => io::ErrorKind::UnexpectedEof,
            DecodeErrorKind::Missing => io::ErrorKind::Unsupported,
            _ => io::ErrorKind::InvalidData,
        };
        Self::new(kind, error)
    }
}
