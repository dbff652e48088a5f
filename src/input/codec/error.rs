//! Why compressed content could not be read to its end.

use std::error::Error;
use std::fmt;
use std::io;

use super::Codec;

/// Why compressed content could not be read to its end, and where; inside an [`io::Error`]. All lines before that place have
/// been read.
#[derive(Debug)]
pub struct DecodeError {
    codec: Codec,
    kind: DecodeErrorKind,
    cause: Option<String>,
    at: u64,
    decoded: u64,
}

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// The content ends before what it is packed in does.
    Truncated,
    /// It is not what was packed.
    Damaged,
    /// Behind its end stands something that is not packed so.
    Trailing,
    /// Decoding it takes more memory than there is to be.
    TooLarge,
    /// This build cannot read the codec: a feature is missing.
    Missing,
}

impl DecodeError {
    pub(super) fn new(
        codec: Codec,
        kind: DecodeErrorKind,
        cause: Option<String>,
        at: u64,
        decoded: u64,
    ) -> Self {
        Self { codec, kind, cause, at, decoded }
    }

    pub(super) fn missing(codec: Codec) -> Self {
        Self::new(codec, DecodeErrorKind::Missing, None, 0, 0)
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// How the content is packed.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Where it is: so many bytes of the compressed content stand before it. Damage is noticed behind it: there it is at that
    /// place or before.
    #[must_use]
    pub fn at(&self) -> u64 {
        self.at
    }

    /// How many bytes had been decoded until then.
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
