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
        Some((_, Some(codec))) => Ok(*codec),
        Some((_, None)) => Err(io::Error::other(format!(
            "{}: files are packed as .gz, .zst, .bz2 and .xz only; for others write to - and pipe it to what packs them",
            path.display()
        ))),
    }
}

/// A writer that compresses with the default options of the codecs' own commands.
pub(crate) enum Packer {
    Plain(Writer),
    Gzip(flate2::write::GzEncoder<Writer>),
    Zstd(zstd::Encoder<'static, Writer>),
    Bzip2(bzip2::write::BzEncoder<Writer>),
    Xz(liblzma::write::XzEncoder<Writer>),
}

impl Packer {
    /// Compresses with a codec from [`codec_of`].
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(crate) fn new(writer: Writer, codec: Codec) -> io::Result<Self> {
        Ok(match codec {
            Codec::Gzip => Self::Gzip(flate2::write::GzEncoder::new(writer, flate2::Compression::default())),
            Codec::Zstd => {
                let mut encoder = zstd::Encoder::new(writer, zstd::DEFAULT_COMPRESSION_LEVEL)?;
                encoder.include_checksum(true)?;
                Self::Zstd(encoder)
            }
            Codec::Bzip2 => Self::Bzip2(bzip2::write::BzEncoder::new(writer, bzip2::Compression::best())),
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
            Self::Gzip(encoder) => encoder.finish()?,
            Self::Zstd(encoder) => encoder.finish()?,
            Self::Bzip2(encoder) => encoder.finish()?,
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
            Self::Gzip(encoder) => encoder.write(bytes),
            Self::Zstd(encoder) => encoder.write(bytes),
            Self::Bzip2(encoder) => encoder.write(bytes),
            Self::Xz(encoder) => encoder.write(bytes),
        }
    }

    /// Does not flush the encoder: that would make the compression worse.
    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(writer) => writer.flush(),
            _ => Ok(()),
        }
    }
}
