//! Decodes compressed bytes of any codec: consecutive streams, with or without padding between them.
//!
//! An error has a place: the offset in the compressed bytes, and the number of bytes decoded before it. All bytes decoded
//! before it are given out first. Buffers have a fixed size, and the memory of the libraries is limited, so that no
//! content can take more. This module knows no lines.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::source::{Ahead, Source};
use super::{Codec, DecodeError, DecodeErrorKind, begins, decode, magic_len};
use crate::progress::{Stopped, Watch};

/// The interface to a codec's library.
pub(super) trait Decode: Send {
    /// Continues with a stream. Reads from the start of `input`, and writes to the start of `output`, which is not empty.
    /// If `input` is empty, it writes what it still holds from earlier input.
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step;

    /// Chooses speed where the place of damage is not needed, because what is damaged is decoded again.
    #[cfg(any(feature = "zstd", feature = "bzip2", feature = "xz"))]
    fn hurry(&mut self) {}

    /// Prepares for another stream after the end of one.
    ///
    /// # Errors
    /// When there is not enough memory.
    fn next_stream(&mut self) -> io::Result<()>;

    /// Passes over whole streams, or over whole parts of a stream, that were decoded ahead. `_packed` are their next
    /// compressed bytes. Returns the state after these bytes.
    fn pass(&mut self, _packed: &[u8]) -> StreamState {
        StreamState::Ended
    }
}

/// The result of a step.
pub(super) struct Step {
    /// Bytes read from the input.
    pub(super) read: usize,
    /// Bytes written to the output.
    pub(super) written: usize,
    pub(super) state: StreamState,
}

impl Step {
    /// Computes a step from a library's totals of bytes read and written, taken before and after it.
    #[cfg(any(feature = "gzip", feature = "bzip2", feature = "xz"))]
    pub(super) fn new(before: (u64, u64), after: (u64, u64), state: StreamState) -> Self {
        let len = |before, after| usize::try_from(after - before).expect("no more than there is");
        Self { read: len(before.0, after.0), written: len(before.1, after.1), state }
    }
}

/// The state of a stream.
pub(super) enum StreamState {
    /// The stream continues.
    Going,
    /// A part of the stream has ended. The next part may have been decoded ahead.
    #[cfg_attr(
        not(any(feature = "bzip2", feature = "xz")),
        allow(dead_code, reason = "streams of other codecs have no such parts")
    )]
    PartEnded,
    /// The stream has ended, and its checksum is right.
    Ended,
    /// The stream is damaged; the cause.
    Damaged(String),
    /// The stream needs too much memory.
    #[cfg_attr(
        not(any(feature = "zstd", feature = "xz")),
        allow(dead_code, reason = "streams of other codecs need little")
    )]
    TooLarge,
}

/// How many bytes of a source a decoder has used. It can be read while the decoder works.
#[derive(Clone, Debug, Default)]
pub struct Meter(Arc<AtomicU64>);

impl Meter {
    /// The number of bytes.
    pub fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The position of a decoder.
enum DecoderPosition {
    /// At the start of a stream, or of a part of one.
    Beginning,
    /// Inside a stream.
    Stream,
    /// In bytes that were decoded ahead.
    Ahead(Ahead),
    /// After a stream, or after padding that follows one.
    Between,
    /// At the end of the source.
    End,
    /// At an error, which is final: its kind and cause.
    Broken(DecodeErrorKind, Option<String>),
}

/// A decoder of a source.
pub struct Decoder<'a> {
    source: Box<dyn Source + 'a>,
    watch: Option<Watch>,
    codec: Codec,
    decode: Box<dyn Decode>,
    place: DecoderPosition,
    /// Bytes of the source that have been used.
    used: u64,
    decoded: u64,
    meter: Meter,
}

impl<'a> Decoder<'a> {
    /// Decodes `source`, which is compressed with `codec`, from its start. After `watch` is stopped, reading fails, except at the end.
    ///
    /// # Errors
    /// When this build cannot read the codec.
    pub(super) fn new(source: impl Source + 'a, codec: Codec, watch: Option<&Watch>) -> io::Result<Self> {
        Ok(Self {
            source: Box::new(source),
            watch: watch.cloned(),
            codec,
            decode: decode(codec)?,
            place: DecoderPosition::Beginning,
            used: 0,
            decoded: 0,
            meter: Meter::default(),
        })
    }

    /// The count of used bytes, which can be read while the decoder works.
    pub fn meter(&self) -> Meter {
        self.meter.clone()
    }

    fn use_up(&mut self, n: usize) {
        self.source.use_up(n);
        self.used += n as u64;
        self.meter.0.store(self.used, Ordering::Relaxed);
    }

    /// Continues with a stream. Returns the number of decoded bytes.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn step(&mut self, output: &mut [u8]) -> io::Result<usize> {
        let Step { read, written, state } = self.decode.step(self.source.rest(), output);
        self.use_up(read);
        self.decoded += written as u64;
        self.place = match state {
            StreamState::Ended => DecoderPosition::Between,
            StreamState::PartEnded => DecoderPosition::Beginning,
            StreamState::Damaged(cause) => DecoderPosition::Broken(DecodeErrorKind::Damaged, Some(cause)),
            StreamState::TooLarge => DecoderPosition::Broken(DecodeErrorKind::TooLarge, None),
            StreamState::Going if read + written > 0 => DecoderPosition::Stream,
            StreamState::Going if self.source.has_ended() => {
                DecoderPosition::Broken(DecodeErrorKind::Truncated, None)
            }
            StreamState::Going if self.source.fill()? => DecoderPosition::Stream,
            StreamState::Going => DecoderPosition::Broken(DecodeErrorKind::Damaged, None),
        };
        Ok(written)
    }

    /// Reads what follows the end of a stream. Skips zeros, with which tapes and block devices are padded. Only another
    /// stream may follow.
    ///
    /// # Errors
    /// When the source cannot be read.
    fn look_behind(&mut self) -> io::Result<()> {
        loop {
            let zeros = self.source.rest().iter().take_while(|&&byte| byte == 0).count();
            self.use_up(zeros);
            let head = self.source.head();
            if head.first() == Some(&0) {
                continue;
            }
            if !begins(self.codec, &head) {
                self.place = DecoderPosition::Broken(DecodeErrorKind::Trailing, None);
                return Ok(());
            }
            if head.len() >= magic_len(self.codec) || (self.source.has_ended() && !head.is_empty()) {
                self.place = DecoderPosition::Beginning;
                return self.decode.next_stream();
            }
            if self.source.has_ended() {
                self.place = DecoderPosition::End;
                return Ok(());
            }
            self.source.fill()?;
        }
    }

    /// Copies bytes that were decoded ahead to `output`. Returns their number.
    fn give(&mut self, mut ahead: Ahead, output: &mut [u8]) -> usize {
        let rest = &ahead.bytes[ahead.range.clone()];
        let n = rest.len().min(output.len());
        output[..n].copy_from_slice(&rest[..n]);
        self.decoded += n as u64;
        ahead.range.start += n;
        if n > 0 {
            self.place = DecoderPosition::Ahead(ahead);
            self.source.keep_ahead();
        } else {
            self.place = DecoderPosition::Between;
            let mut left = ahead.packed_len;
            while left > 0 {
                let packed = self.source.rest();
                let packed = &packed[..left.min(packed.len())];
                let len = packed.len();
                if matches!(self.decode.pass(packed), StreamState::PartEnded) {
                    self.place = DecoderPosition::Beginning;
                }
                self.use_up(len);
                left -= len;
            }
            self.source.give_back(ahead);
        }
        n
    }
}

impl Read for Decoder<'_> {
    fn read(&mut self, output: &mut [u8]) -> io::Result<usize> {
        if output.is_empty() {
            return Ok(0);
        }
        // A few compressed bytes may decode to many, so it is not enough that the source asks the watch. A stop behind the last decoded
        // byte leaves out nothing.
        let is_stopped = self.watch.as_ref().is_some_and(Watch::is_stopped);
        let output = if is_stopped { &mut output[..1] } else { output };
        loop {
            let n = match std::mem::replace(&mut self.place, DecoderPosition::End) {
                DecoderPosition::Beginning => {
                    let ahead = self.source.decoded_ahead(self.used);
                    self.place = ahead.map_or(DecoderPosition::Stream, DecoderPosition::Ahead);
                    0
                }
                DecoderPosition::Stream => {
                    self.place = DecoderPosition::Stream;
                    self.step(output)?
                }
                DecoderPosition::Ahead(ahead) => self.give(ahead, output),
                DecoderPosition::Between => {
                    self.place = DecoderPosition::Between;
                    self.look_behind()?;
                    0
                }
                DecoderPosition::End => return Ok(0),
                DecoderPosition::Broken(kind, cause) => {
                    let (codec, at, decoded) = (self.codec, self.used, self.decoded);
                    let error = DecodeError { codec, kind, cause: cause.clone(), at, decoded };
                    self.place = DecoderPosition::Broken(kind, cause);
                    return Err(error.into());
                }
            };
            if n > 0 {
                return if is_stopped { Err(Stopped.into()) } else { Ok(n) };
            }
        }
    }
}

/// The decoded bytes, the error, and how many compressed bytes were used.
#[cfg(test)]
pub(super) type Decoded = (Vec<u8>, Option<String>, u64);

/// Decodes everything, as many bytes at a time as fit `room`.
#[cfg(test)]
pub(super) fn decoded(source: impl Source, codec: Codec, room: usize) -> Decoded {
    let mut decoder = Decoder::new(source, codec, None).unwrap();
    let (mut all, mut buffer) = (Vec::new(), vec![0; room]);
    let error = loop {
        match decoder.read(&mut buffer) {
            Ok(0) => break None,
            Ok(n) => all.extend(&buffer[..n]),
            Err(error) => break Some(error.to_string()),
        }
    };
    if let Some(error) = &error {
        assert_eq!(decoder.read(&mut buffer).unwrap_err().to_string(), *error, "it stays so");
    }
    (all, error, decoder.meter().bytes())
}

#[cfg(all(test, feature = "gzip", feature = "zstd", feature = "bzip2", feature = "xz"))]
mod tests {
    use super::super::source::Buffered;
    use super::*;
    use crate::slow_source::Slow;

    const FIXTURES: [(Codec, &[u8]); 5] = [
        (Codec::Gzip, include_bytes!("samples/members.gz")),
        (Codec::Zstd, include_bytes!("samples/frames.zst")),
        (Codec::Zstd, include_bytes!("samples/dictionary.zst")),
        (Codec::Bzip2, include_bytes!("samples/streams.bz2")),
        (Codec::Xz, include_bytes!("samples/streams.xz")),
    ];

    fn decoded(packed: &[u8], codec: Codec, step: usize, room: usize) -> Decoded {
        super::decoded(Buffered::new(Slow(packed, step)), codec, room)
    }

    #[test]
    fn any_reads_and_any_room_give_the_same() {
        for (codec, packed) in FIXTURES {
            let mut spoiled = packed.to_vec();
            spoiled[packed.len() * 2 / 3] ^= 4;
            for bytes in [packed, &packed[..packed.len() / 2], &spoiled, &[packed, b"\0\0?"].concat(), b""] {
                let (all, error, used) = decoded(bytes, codec, usize::MAX, 1 << 20);
                assert_eq!(error.is_none(), bytes == packed, "{codec} {error:?}");
                for step in [1, 2, 3, 7, 100, 1000] {
                    for room in [1, 5, 300, 5000] {
                        let (some, other, n) = decoded(bytes, codec, step, room);
                        assert!(
                            some == all,
                            "{codec} {step} {room}: {} and not {} bytes",
                            some.len(),
                            all.len()
                        );
                        assert_eq!((other, n), (error.clone(), used), "{codec} {step} {room}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_place_of_damage_depends_on_no_read() {
        for (codec, packed) in FIXTURES {
            for at in (0..packed.len()).step_by(11) {
                let mut spoiled = packed.to_vec();
                spoiled[at] ^= 1 << (at % 8);
                let whole = decoded(&spoiled, codec, usize::MAX, 1 << 20);
                for step in [1, 8, 23, 1000] {
                    assert!(decoded(&spoiled, codec, step, 4096) == whole, "{codec} {at} {step}");
                }
            }
        }
    }

    #[test]
    fn a_stop_ends_it_at_once_and_behind_the_last_byte_leaves_out_nothing() {
        for (codec, packed) in FIXTURES {
            let len = decoded(packed, codec, usize::MAX, 1 << 20).0.len();
            for n_read in [0, 1, 10, len - 1, len] {
                let watch = Watch::default();
                let mut decoder = Decoder::new(Buffered::new(packed), codec, Some(&watch)).unwrap();
                decoder.read_exact(&mut vec![0; n_read]).unwrap();
                watch.stop();
                match decoder.read(&mut [0; 10]) {
                    Ok(n) => assert_eq!((n, n_read), (0, len), "{codec}"),
                    Err(error) => {
                        assert!(n_read < len && error.get_ref().unwrap().is::<Stopped>(), "{codec} {n_read}");
                    }
                }
            }
        }
    }
}
