//! Finds the frames of a Zstandard file by the headers of frames and blocks (RFC 8878, section 3.1.1).
//!
//! Nothing is found after a frame that may hold a dictionary, because all frames after it may need the dictionary.

use super::walk::{Part, Walk};

/// Longest block of a frame, decoded (RFC 8878, section 3.1.1.2.4).
const BLOCK: u64 = 128 << 10;

#[derive(Default)]
pub(super) struct ZstdFrames {
    stage: Stage,
    /// The bytes of a header so far.
    held: Vec<u8>,
    /// Bytes to skip before the next header.
    skip: u64,
    has_checksum: bool,
    window: u64,
    /// The decoded length of the blocks so far, or more.
    decoded_len: u64,
    /// The decoded length that the frame states.
    stated: Option<u64>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Frame,
    Block,
    /// The frame ends after the skipped bytes.
    End,
    Lost,
}

impl Walk for ZstdFrames {
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>) {
        let mut at = 0;
        loop {
            let n = self.skip.min((bytes.len() - at) as u64);
            self.skip -= n;
            at += usize::try_from(n).expect("no more than there is");
            if self.skip == 0 && self.stage == Stage::End {
                let decoded_len = self.decoded_len.min(self.stated.unwrap_or(u64::MAX));
                let part = Part::Unit { decoded_len, window: self.window };
                *self = Self::default();
                return (at, Some(part));
            }
            if self.stage == Stage::Lost {
                return (at, Some(Part::Lost("no frame")));
            }
            let Some(&byte) = bytes.get(at) else { return (at, None) };
            at += 1;
            if self.stage == Stage::Frame && self.held.is_empty() && byte == 0 {
                return (at, Some(Part::Other));
            }
            self.held.push(byte);
            let is_whole = if self.stage == Stage::Block { self.block() } else { self.frame() };
            if is_whole {
                self.held.clear();
            }
        }
    }

    fn decoded_len(&self) -> u64 {
        self.stated.unwrap_or(self.decoded_len)
    }
}

impl ZstdFrames {
    /// Reads a block header. Returns `false` if it is not complete.
    fn block(&mut self) -> bool {
        let [low, mid, high] = *self.held else { return false };
        let header = u32::from_le_bytes([low, mid, high, 0]);
        let len = u64::from(header >> 3);
        let (packed_len, decoded_len) = match header >> 1 & 3 {
            0 => (len, len),
            1 => (1, len),
            2 => (len, BLOCK),
            _ => {
                self.stage = Stage::Lost;
                return true;
            }
        };
        self.skip = packed_len;
        self.decoded_len += decoded_len;
        if header & 1 == 1 {
            self.stage = Stage::End;
            self.skip += if self.has_checksum { 4 } else { 0 };
        }
        true
    }

    /// Reads the header of a frame. Returns `false` if it is not complete.
    fn frame(&mut self) -> bool {
        let held = &self.held[..];
        if held.len() < 4 {
            return false;
        } else if held.starts_with(b"\x28\xb5\x2f\xfd") {
            let Some(&descriptor) = held.get(4) else { return false };
            let is_single = descriptor & 0x20 != 0;
            let n_stated = [usize::from(is_single), 2, 4, 8][usize::from(descriptor >> 6)];
            let n_id = [0, 1, 2, 4][usize::from(descriptor & 3)];
            let before = 5 + usize::from(!is_single) + n_id;
            let Some(stated) = held.get(before..before + n_stated) else { return false };
            let mut bytes = [0; 8];
            bytes[..n_stated].copy_from_slice(stated);
            let stated = u64::from_le_bytes(bytes).saturating_add(if n_stated == 2 { 256 } else { 0 });
            self.stated = (n_stated > 0).then_some(stated);
            self.window = match held.get(5) {
                Some(&window) if !is_single => (8 + u64::from(window & 7)) << (7 + (window >> 3)),
                _ => stated,
            };
            self.has_checksum = descriptor & 4 != 0;
            self.stage = Stage::Block;
        } else if held[0] & 0xf0 == 0x50 && held[0] != 0x5d && held[1..].starts_with(b"\x2a\x4d\x18") {
            let Some(len) = held.get(4..).and_then(<[u8]>::first_chunk) else { return false };
            self.skip = u64::from(u32::from_le_bytes(*len));
            self.stage = Stage::End;
        } else {
            self.stage = Stage::Lost;
        }
        true
    }
}
