//! Finds the frames of a Zstandard file by the headers of frames and blocks (RFC 8878, section 3.1.1).
//!
//! Nothing is found after a frame that may hold a dictionary, because all frames after it may need the dictionary.

use super::by_headers::{Header, Headers};
use super::walk::Part;

/// Longest block of a frame, decoded (RFC 8878, section 3.1.1.2.4).
const BLOCK: u64 = 128 << 10;

#[derive(Default)]
pub(super) struct ZstdFrames {
    /// Whether the header of a frame was read.
    is_in_frame: bool,
    has_checksum: bool,
    window: u64,
    /// The decoded length of the blocks so far, or more.
    decoded_len: u64,
    /// The decoded length that the frame states.
    stated: Option<u64>,
}

impl Headers for ZstdFrames {
    fn read(&mut self, held: &[u8]) -> Header {
        if self.is_in_frame { self.block(held) } else { self.frame(held) }
    }

    fn decoded_len(&self) -> u64 {
        self.stated.unwrap_or(self.decoded_len)
    }
}

/// No frame can be found from here on.
const LOST: Header = Header::Lost("no frame", true);

impl ZstdFrames {
    /// Reads a block header.
    fn block(&mut self, held: &[u8]) -> Header {
        let &[low, mid, high] = held else { return Header::Incomplete };
        let header = u32::from_le_bytes([low, mid, high, 0]);
        let len = u64::from(header >> 3);
        let (packed_len, decoded_len) = match header >> 1 & 3 {
            0 => (len, len),
            1 => (1, len),
            2 => (len, BLOCK),
            _ => return LOST,
        };
        self.decoded_len += decoded_len;
        if header & 1 == 0 {
            return Header::Skip(packed_len);
        }
        self.ends(packed_len + if self.has_checksum { 4 } else { 0 })
    }

    /// The frame ends `len` bytes after a header.
    fn ends(&mut self, len: u64) -> Header {
        let Self { decoded_len, stated, window, .. } = std::mem::take(self);
        Header::Ends(len, Part::Unit { decoded_len: decoded_len.min(stated.unwrap_or(u64::MAX)), window })
    }

    /// Reads the header of a frame, or a zero between frames.
    fn frame(&mut self, held: &[u8]) -> Header {
        if held[0] == 0 {
            return Header::Ends(0, Part::Other);
        } else if held.len() < 4 {
            return Header::Incomplete;
        } else if held.starts_with(b"\x28\xb5\x2f\xfd") {
            return self.frame_header(held).unwrap_or(Header::Incomplete);
        } else if held[0] & 0xf0 == 0x50 && held[0] != 0x5d && held[1..].starts_with(b"\x2a\x4d\x18") {
            let Some(len) = held.get(4..).and_then(<[u8]>::first_chunk) else { return Header::Incomplete };
            return self.ends(u64::from(u32::from_le_bytes(*len)));
        }
        LOST
    }

    /// Reads the header of a frame that is not skippable. Returns `None` if it is not complete.
    fn frame_header(&mut self, held: &[u8]) -> Option<Header> {
        let descriptor = *held.get(4)?;
        let is_single = descriptor & 0x20 != 0;
        let n_stated = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
        let n_id = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let before = 5 + usize::from(!is_single) + n_id;
        let stated = held.get(before..before + n_stated)?;
        let mut bytes = [0; 8];
        bytes[..n_stated].copy_from_slice(stated);
        let stated = u64::from_le_bytes(bytes).saturating_add(if n_stated == 2 { 256 } else { 0 });
        self.stated = (n_stated > 0).then_some(stated);
        self.window = match held.get(5) {
            Some(&window) if !is_single => (8 + u64::from(window & 7)) << (7 + (window >> 3)),
            _ => stated,
        };
        self.has_checksum = descriptor & 4 != 0;
        self.is_in_frame = true;
        Some(Header::Skip(0))
    }
}
