//! Decodes Zstandard with its reference library, libzstd.
//!
//! Windows may have up to 128 MiB, the default limit of the `zstd` command. Dictionaries at the start of web archives are
//! read.
//!
//! When libzstd reports an error, it does not say how much it decoded in that call. So each block is one call: no call reads
//! past the end of a block, and none reads a part of one, because libzstd decodes the parts of a raw block as they come. The
//! bytes decoded before damage are then the same for any reads and any buffers.

use std::io::{self, Read};

use zstd::stream::raw::{DParameter, Decoder, Operation, Status};

use super::decoder::{Decode, Step, StreamState};

/// Base-2 logarithm of the largest window.
const WINDOW_LOG: u32 = 27;

/// Length of a block header (RFC 8878, section 3.1.1.2). The library asks for it together with the block before it, except for the last one.
const BLOCK_HEADER: usize = 3;

/// Longest block (RFC 8878, section 3.1.1.2.4). The library asks for more than that only to skip it.
const BLOCK: usize = 128 << 10;

/// The first bytes of a frame, of a dictionary, and of a skippable frame that holds a dictionary. Web archives begin with
/// such a skippable frame, and its dictionary applies to all frames after it. The archives follow "Zstandard Compression for WARC
/// Files 1.0", a proposal of the IIPC. Other decoders skip the frame.
const FRAME: &[u8] = b"\x28\xb5\x2f\xfd";
const DICTIONARY: &[u8] = b"\x37\xa4\x30\xec";
const DICTIONARY_FRAME: &[u8] = b"\x5d\x2a\x4d\x18";

/// Length of the header of a dictionary frame: its first bytes, and the length of its content. The content is a
/// dictionary, which may itself be compressed.
const HEADER: usize = 8;

/// Longest dictionary, both compressed and decompressed. Most have about a hundred kilobytes.
const MAX_DICTIONARY: usize = 8 << 20;

const TOO_LONG: &str = "it is longer than 8,388,608 bytes";
const NO_DICTIONARY: &str =
    "it was packed with a dictionary that is not in it (zstd -dc -D DICTIONARY FILE | urlsift)";

pub(super) struct Zstd {
    decoder: Decoder<'static>,
    place: FramePosition,
    /// The error for a frame whose dictionary is missing.
    lack: String,
    /// How many input bytes the library asks for.
    wanted: usize,
    /// The start of a block or header whose rest has not been read yet.
    held: Vec<u8>,
    /// Whether the last block of a frame comes next.
    is_last: bool,
    /// Whether the library may hold decoded bytes that did not fit into the output.
    is_full: bool,
}

/// The position in a frame.
enum FramePosition {
    /// At the start. The bytes read so far may begin a dictionary.
    Beginning(Vec<u8>),
    /// In a dictionary: its bytes so far, and its length.
    Dictionary(Vec<u8>, usize),
    Frame,
}

/// The kind of a frame, by its first bytes.
enum Begins {
    Dictionary(usize),
    Other,
    /// More bytes are needed to decide.
    Unclear,
}

fn begins(head: &[u8]) -> Begins {
    let agree = |head: &[u8], magic: &[u8]| head.iter().zip(magic).all(|(byte, magic)| byte == magic);
    let len = head.get(DICTIONARY_FRAME.len()..).and_then(|rest| rest.first_chunk().copied());
    let len = len.map(|len| usize::try_from(u32::from_le_bytes(len)).unwrap_or(usize::MAX));
    let content = head.get(HEADER..).unwrap_or_default();
    if !agree(head, DICTIONARY_FRAME)
        || len.is_some_and(|len| len < DICTIONARY.len())
        || !(agree(content, FRAME) || agree(content, DICTIONARY))
    {
        return Begins::Other;
    }
    len.filter(|_| content.len() >= DICTIONARY.len()).map_or(Begins::Unclear, Begins::Dictionary)
}

/// Decompresses a dictionary, if it is compressed.
fn unpacked(content: Vec<u8>) -> io::Result<Vec<u8>> {
    if !content.starts_with(FRAME) {
        return Ok(content);
    }
    let mut dictionary = Vec::new();
    let source = zstd::stream::read::Decoder::with_buffer(&*content)?;
    source.take(MAX_DICTIONARY as u64 + 1).read_to_end(&mut dictionary)?;
    if dictionary.len() > MAX_DICTIONARY {
        return Err(io::Error::other(TOO_LONG));
    }
    Ok(dictionary)
}

fn decoder(dictionary: &[u8]) -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::with_dictionary(dictionary)?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG))?;
    Ok(decoder)
}

impl Zstd {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self {
            decoder: decoder(&[])?,
            place: FramePosition::Beginning(Vec::new()),
            lack: NO_DICTIONARY.to_owned(),
            wanted: 1,
            held: Vec::new(),
            is_last: false,
            is_full: false,
        })
    }

    /// Uses a dictionary, compressed or not, for all frames that follow. If it cannot be read, the first frame that needs
    /// it reports that.
    fn learn(&mut self, content: Vec<u8>) {
        match unpacked(content).and_then(|dictionary| decoder(&dictionary)) {
            Ok(decoder) => (self.decoder, self.lack) = (decoder, NO_DICTIONARY.to_owned()),
            Err(error) => self.cannot_learn(&error.to_string().to_lowercase()),
        }
    }

    fn cannot_learn(&mut self, why: &str) {
        self.lack = format!("the dictionary in it cannot be read: {why}");
    }

    fn run(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self.decoder.run_on_buffers(input, output) {
            Ok(Status { remaining, bytes_read, bytes_written }) => {
                self.is_full = bytes_written == output.len();
                self.wanted = remaining.max(1);
                let state = if remaining == 0 { StreamState::Ended } else { StreamState::Going };
                Step { read: bytes_read, written: bytes_written, state }
            }
            Err(error) => {
                let cause = error.to_string();
                // A window that is too large. Another error says that there is not enough memory.
                let state = if cause.contains("too much memory") {
                    StreamState::TooLarge
                } else if cause.contains("mismatch") {
                    StreamState::Damaged(self.lack.clone())
                } else {
                    StreamState::Damaged(cause.to_lowercase())
                };
                Step { read: input.len(), written: 0, state }
            }
        }
    }
}

impl Zstd {
    /// Continues with a frame.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        if self.is_full {
            let step = self.run(&[], output);
            if step.written > 0 || !matches!(step.state, StreamState::Going) {
                return step;
            }
        }
        let has_more = self.wanted > BLOCK_HEADER && !self.is_last;
        let wanted = if has_more { self.wanted - BLOCK_HEADER } else { self.wanted };
        let read = (wanted - self.held.len()).min(input.len());
        if wanted > BLOCK || read == wanted {
            return self.whole(&input[..read], output);
        }
        self.held.extend_from_slice(&input[..read]);
        if self.held.len() < wanted {
            return Step { read, written: 0, state: StreamState::Going };
        }
        let mut block = std::mem::take(&mut self.held);
        let step = self.whole(&block, output);
        // The library gives the last byte of a frame back until the output has all of it.
        block.drain(..step.read);
        self.held = block;
        Step { read, ..step }
    }

    /// Continues with a header or a block.
    fn whole(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        // What has this length and is no header precedes one.
        self.is_last = input.len() == BLOCK_HEADER && input[0] & 1 == 1;
        self.run(input, output)
    }
}

impl Decode for Zstd {
    fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match &mut self.place {
            FramePosition::Frame => self.decode(input, output),
            FramePosition::Beginning(head) => {
                let before = head.len();
                let read = input.len().min(HEADER + DICTIONARY.len() - before);
                head.extend_from_slice(&input[..read]);
                let head = std::mem::take(head);
                let going = Step { read, written: 0, state: StreamState::Going };
                match begins(&head) {
                    Begins::Unclear => {
                        self.place = FramePosition::Beginning(head);
                        going
                    }
                    Begins::Dictionary(len) if len <= MAX_DICTIONARY => {
                        self.place = FramePosition::Dictionary(head[HEADER..].to_vec(), len);
                        going
                    }
                    begins => {
                        if matches!(begins, Begins::Dictionary(_)) {
                            self.cannot_learn(TOO_LONG);
                        }
                        self.place = FramePosition::Frame;
                        // The frame holds no dictionary, so the library gets the bytes that were held back.
                        if before > 0 {
                            let step = self.run(&head[..before], &mut []);
                            if !matches!(step.state, StreamState::Going) {
                                return Step { read: 0, ..step };
                            }
                        }
                        self.decode(input, output)
                    }
                }
            }
            FramePosition::Dictionary(content, len) => {
                let read = input.len().min(*len - content.len());
                content.extend_from_slice(&input[..read]);
                let mut state = StreamState::Going;
                if content.len() == *len {
                    let content = std::mem::take(content);
                    self.learn(content);
                    state = StreamState::Ended;
                }
                Step { read, written: 0, state }
            }
        }
    }

    fn next_stream(&mut self) -> io::Result<()> {
        (self.place, self.wanted, self.is_full) = (FramePosition::Beginning(Vec::new()), 1, false);
        self.held.clear();
        self.decoder.reinit()
    }
}
