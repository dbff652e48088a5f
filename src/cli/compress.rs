//! Compresses outputs whose names end like those of compressed files.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::Path;

use urlsift_input::Codec;

use crate::cli::output_file::Writer;

/// Endings of compressed files with their codecs; `None` for codecs that urlsift cannot write.
const ENDINGS: [(&str, Option<Codec>); 13] = [
    ("gz", Some(Codec::Gzip)),
    ("bgz", None),
    ("zst", Some(Codec::Zstd)),
    ("zstd", Some(Codec::Zstd)),
    ("bz2", Some(Codec::Bzip2)),
    ("xz", Some(Codec::Xz)),
    ("lz4", None),
    ("lzma", None),
    ("br", None),
    ("z", None),
    ("zip", None),
    ("7z", None),
    ("lz", None),
];

/// The codec for a file name.
///
/// # Errors
/// If urlsift cannot write such files.
pub(crate) fn codec_of(path: &Path) -> io::Result<Codec> {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or_default().to_ascii_lowercase();
    match ENDINGS.iter().find(|(known, _)| *known == ending) {
        None => Ok(Codec::Plain),
        Some((_, Some(codec))) if is_built_in(*codec) => Ok(*codec),
        Some((_, Some(codec))) => Err(io::Error::other(format!(
            "{}: this build of urlsift packs no {codec} (the feature \"{codec}\")",
            path.display()
        ))),
        Some((_, None)) => Err(io::Error::other(format!(
            "{}: files are packed as .gz, .zst, .bz2 and .xz only; for others write to - and pipe it to what packs them",
            path.display()
        ))),
    }
}

fn is_built_in(codec: Codec) -> bool {
    match codec {
        Codec::Gzip => cfg!(feature = "gzip"),
        Codec::Zstd => cfg!(feature = "zstd"),
        Codec::Bzip2 => cfg!(feature = "bzip2"),
        Codec::Xz => cfg!(feature = "xz"),
        _ => true,
    }
}

/// A writer that compresses with the default options of the codecs' own commands.
pub(crate) enum Packer {
    Plain(Writer),
    #[cfg(feature = "gzip")]
    Gzip(flate2::write::GzEncoder<Writer>),
    #[cfg(feature = "zstd")]
    Zstd(zstd::Encoder<'static, Writer>),
    #[cfg(feature = "bzip2")]
    Bzip2(bzip2::write::BzEncoder<Writer>),
    #[cfg(feature = "xz")]
    Xz(liblzma::write::XzEncoder<Writer>),
}

impl Packer {
    /// Compresses with a codec from [`codec_of`].
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(writer: Writer, codec: Codec) -> io::Result<Self> {
        Ok(match codec {
            #[cfg(feature = "gzip")]
            Codec::Gzip => Self::Gzip(flate2::write::GzEncoder::new(writer, flate2::Compression::default())),
            #[cfg(feature = "zstd")]
            Codec::Zstd => {
                let mut encoder = zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            #[cfg(feature = "bzip2")]
            Codec::Bzip2 => Self::Bzip2(bzip2::write::BzEncoder::new(writer, bzip2::Compression::best())),
            #[cfg(feature = "xz")]
            Codec::Xz => Self::Xz(liblzma::write::XzEncoder::new(writer, 6)),
            _ => Self::Plain(writer),
        })
    }

    /// Writes the end of the compressed data. The caller still has to finish the returned writer.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn end(self) -> io::Result<Writer> {
        let mut writer = match self {
            Self::Plain(writer) => writer,
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.finish()?,
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.finish()?,
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.finish()?,
            #[cfg(feature = "xz")]
            Self::Xz(encoder) => encoder.finish()?,
        };
        writer.flush()?;
        Ok(writer)
    }
}

impl Write for Packer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(writer) => writer.write(bytes),
            #[cfg(feature = "gzip")]
            Self::Gzip(encoder) => encoder.write(bytes),
            #[cfg(feature = "zstd")]
            Self::Zstd(encoder) => encoder.write(bytes),
            #[cfg(feature = "bzip2")]
            Self::Bzip2(encoder) => encoder.write(bytes),
            #[cfg(feature = "xz")]
            Self::Xz(encoder) => encoder.write(bytes),
        }
    }

    /// Does not flush the encoder: that would make the compression worse.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            #[allow(unreachable_patterns, reason = "a build may have no codec")]
            _ => Ok(()),
        }
    }
}
