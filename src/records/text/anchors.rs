//! Finds the bytes by which a URL in text is recognised, which are called *anchors*: each colon, and the third "w" of "www".
//!
//! A window of blocks is searched at once. Each anchor becomes one bit. The window stays valid from one call to the next.

use std::ops::Range;

use memchr::memchr_iter;

use crate::simd::{BLOCK, Sets, find_each};

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// What is searched: colons, the letters of "www", and LFs.
struct Wanted;

impl Sets for Wanted {
    const SETS: [[u8; 3]; 3] = [[b':'; 3], [b'w', b'W', b'w'], [b'\n'; 3]];
}

/// The anchors of a window of an input.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// The window, in bytes from the start of the input.
    window: Range<u64>,
    /// The anchors in the window, one bit each.
    found: [u64; BLOCKS],
    /// The LFs in the window.
    lfs: [u64; BLOCKS],
}

/// The LFs before a position in a text that moves forward.
#[derive(Default)]
pub(super) struct LineCount {
    counted: usize,
    pub(super) lines: u64,
}

impl Anchors {
    pub(super) fn new() -> Self {
        Self { window: 0..0, found: [0; BLOCKS], lfs: [0; BLOCKS] }
    }

    /// Returns where the first anchor from `from` on is in `text`, which begins at `offset` of the input. Counts the LFs of the
    /// windows before it.
    #[inline]
    pub(super) fn next(
        &mut self,
        text: &[u8],
        offset: u64,
        mut from: usize,
        count: &mut LineCount,
    ) -> Option<usize> {
        while from < text.len() {
            let at = offset + from as u64;
            if !self.window.contains(&at) {
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
            self.count_up_to(from, text, offset, count);
        }
        None
    }

    /// Moves `count` to `at`. Only bytes without an LF may be passed backward.
    #[inline]
    pub(super) fn count_up_to(&self, at: usize, text: &[u8], offset: u64, count: &mut LineCount) {
        if at <= count.counted {
            return;
        }
        let (start, end) = (offset + count.counted as u64, offset + at as u64);
        count.lines += if self.window.start <= start && end <= self.window.end {
            self.lfs_between(index(start - self.window.start), index(end - self.window.start))
        } else {
            memchr_iter(b'\n', &text[count.counted..at]).count() as u64
        };
        count.counted = at;
    }

    /// How many LFs there are from `start` up to `end`, which is greater, in the window.
    #[inline]
    fn lfs_between(&self, start: usize, end: usize) -> u64 {
        let (first, last) = (start / BLOCK, (end - 1) / BLOCK);
        let (from_start, to_end) = (u64::MAX << (start % BLOCK), u64::MAX >> (BLOCK - 1 - (end - 1) % BLOCK));
        if first == last {
            return u64::from((self.lfs[first] & from_start & to_end).count_ones());
        }
        let between: u32 = self.lfs[first + 1..last].iter().map(|lfs| lfs.count_ones()).sum();
        let ends = (self.lfs[first] & from_start).count_ones() + (self.lfs[last] & to_end).count_ones();
        u64::from(between + ends)
    }

    /// Searches the window that begins at `from`.
    #[inline(never)]
    fn search(&mut self, text: &[u8], offset: u64, from: usize) {
        let bytes = &text[from..text.len().min(from + BLOCKS * BLOCK)];
        self.window = offset + from as u64..offset + (from + bytes.len()) as u64;
        let mut letters = [0; BLOCKS];
        let (blocks, rest) = bytes.as_chunks();
        find_each::<Wanted>(blocks, [&mut self.found, &mut letters, &mut self.lfs]);
        let mut n_blocks = blocks.len();
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            let [found, letters, lfs] =
                [&mut self.found, &mut letters, &mut self.lfs].map(|found| &mut found[n_blocks..]);
            find_each::<Wanted>(&[block], [found, letters, lfs]);
            n_blocks += 1;
        }
        // The last two bytes before a block matter to it.
        let is_w = |back: usize| from >= back && text[from - back].eq_ignore_ascii_case(&b'w');
        let mut before = u64::from(is_w(1)) << 63 | u64::from(is_w(2)) << 62;
        for (found, &letters) in self.found.iter_mut().zip(&letters[..n_blocks]) {
            *found |= letters & (letters << 1 | before >> 63) & (letters << 2 | before >> 62);
            before = letters;
        }
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
            let mut count = LineCount::default();
            let mut from = 0;
            while let Some(anchor) = anchors.next(text, start as u64, from, &mut count) {
                let expected =
                    (from..text.len()).find(|&at| is_anchor(start + at) && (text[at] == b':' || at >= 2));
                assert_eq!(Some(anchor), expected, "{start} from {from}");
                anchors.count_up_to(anchor, text, start as u64, &mut count);
                assert_eq!(count.lines, memchr_iter(b'\n', &text[..anchor]).count() as u64);
                from = anchor + 1;
            }
            assert!((from..text.len()).all(|at| !is_anchor(start + at) || at < 2));
        }
    }
}
