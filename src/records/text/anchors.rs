//! Finds the bytes by which a URL in text is recognised, which are called *anchors*: each colon, and the third "w" of "www".
//!
//! A window of blocks is searched at once. Each anchor becomes one bit. The window stays valid from one call to the next.

use std::ops::Range;

use memchr::memchr_iter;

use crate::simd::{BLOCK, find};

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// The anchors of a window of an input.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// The window, in bytes from the start of the input.
    window: Range<u64>,
    /// The anchors in the window, one bit each.
    found: [u64; BLOCKS],
}

/// Counts the LFs before a position that moves forward. Bytes are counted while they are in the cache.
pub(super) struct LineCount<'a> {
    bytes: &'a [u8],
    counted: usize,
    pub(super) lines: u64,
}

impl<'a> LineCount<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, counted: 0, lines: 0 }
    }

    /// Moves to `at`. Only bytes without an LF may be passed backward.
    #[inline]
    pub(super) fn move_to(&mut self, at: usize) {
        if at > self.counted {
            self.lines += memchr_iter(b'\n', &self.bytes[self.counted..at]).count() as u64;
            self.counted = at;
        }
    }
}

impl Anchors {
    pub(super) fn new() -> Self {
        Self { window: 0..0, found: [0; BLOCKS] }
    }

    /// Returns where the first anchor from `from` on is in `text`, which begins at `offset` of the input. `count` moves to the
    /// start of each window that is searched.
    #[inline]
    pub(super) fn next(
        &mut self,
        text: &[u8],
        offset: u64,
        mut from: usize,
        count: &mut LineCount<'_>,
    ) -> Option<usize> {
        while from < text.len() {
            let at = offset + from as u64;
            if !self.window.contains(&at) {
                count.move_to(from);
                self.search(text, offset, from);
            }
            let skipped = index(at - self.window.start);
            let blocks = index(self.window.end - self.window.start).div_ceil(BLOCK);
            let mut bits = self.found[skipped / BLOCK] & u64::MAX << (skipped % BLOCK);
            let mut block = skipped / BLOCK;
            while bits == 0 && block + 1 < blocks {
                block += 1;
                bits = self.found[block];
            }
            if bits != 0 {
                let anchor = self.window.start + (block * BLOCK) as u64 + u64::from(bits.trailing_zeros());
                return Some(index(anchor - offset));
            }
            from = index(self.window.end - offset);
        }
        None
    }

    /// Searches the window that begins at `from`.
    #[inline(never)]
    fn search(&mut self, text: &[u8], offset: u64, from: usize) {
        let bytes = &text[from..text.len().min(from + BLOCKS * BLOCK)];
        self.window = offset + from as u64..offset + (from + bytes.len()) as u64;
        let mut letters = [0; BLOCKS];
        find_all([b':'; 3], bytes, &mut self.found);
        find_all([b'w', b'W', b'w'], bytes, &mut letters);
        // The last two bytes before a block matter to it.
        let is_w = |back: usize| from >= back && text[from - back].eq_ignore_ascii_case(&b'w');
        let mut before = u64::from(is_w(1)) << 63 | u64::from(is_w(2)) << 62;
        for (found, &letters) in self.found.iter_mut().zip(&letters) {
            *found |= letters & (letters << 1 | before >> 63) & (letters << 2 | before >> 62);
            before = letters;
        }
    }
}

/// Sets the bits of the bytes that are in `set`.
fn find_all(set: [u8; 3], bytes: &[u8], found: &mut [u64; BLOCKS]) {
    let (blocks, rest) = bytes.as_chunks();
    find(set, blocks, found);
    found[blocks.len()..].fill(0);
    if !rest.is_empty() {
        let mut block = [0; BLOCK];
        block[..rest.len()].copy_from_slice(rest);
        find(set, &[block], &mut found[blocks.len()..]);
    }
}

/// A distance inside a text that is in memory.
fn index(distance: u64) -> usize {
    usize::try_from(distance).expect("the text is in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the anchors from each position on, and the lines before them, with a plain search.
    #[test]
    fn they_are_found_from_anywhere() {
        let len = BLOCKS * BLOCK + 3 * BLOCK + 5;
        let text: Vec<u8> = (0..len).map(|n| b"w:W\nxwww"[n * n % 37 % 8]).collect();
        let is_w = |at: usize| text[at].eq_ignore_ascii_case(&b'w');
        let is_anchor = |at: usize| text[at] == b':' || at >= 2 && (at - 2..=at).all(is_w);
        for start in [0, 1, 2, BLOCK, BLOCKS * BLOCK - 1, len] {
            let text = &text[start..];
            let mut anchors = Anchors::new();
            let mut count = LineCount::new(text);
            let mut from = 0;
            while let Some(anchor) = anchors.next(text, start as u64, from, &mut count) {
                let expected = (from..).find(|&at| is_anchor(start + at) && (text[at] == b':' || at >= 2));
                assert_eq!(Some(anchor), expected, "{start} from {from}");
                count.move_to(anchor);
                assert_eq!(count.lines, memchr_iter(b'\n', &text[..anchor]).count() as u64);
                from = anchor + 1;
            }
            assert!((from..text.len()).all(|at| !is_anchor(start + at) || at < 2));
        }
    }
}
