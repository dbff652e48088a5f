//! Finds the bytes by which a URL in text is recognised, which are called *anchors*: colons, and the third "w" of "www".
//!
//! A window of blocks is searched at once. Each anchor becomes one bit. The window stays valid from one call to the next.

use std::iter;
use std::ops::Range;

use memchr::memchr_iter;

use urlsift_engine::simd::{BLOCK, BlockSink, find_each};

/// How many blocks are searched at once.
const BLOCKS: usize = 64;

/// The anchors of a window of an input.
#[derive(Clone, Debug)]
pub(super) struct Anchors {
    /// The window, in bytes from the start of the input.
    window: Range<u64>,
    blocks: Blocks,
}

/// What is found in the blocks of a window.
#[derive(Clone, Debug)]
struct Blocks {
    /// The anchors, one bit each.
    anchors: [u64; BLOCKS],
    /// Bit `n` says whether block `n` has an anchor.
    with_anchors: u64,
    /// The LFs, one bit each.
    lfs: [u64; BLOCKS],
    /// How many LFs are in the blocks before each.
    lfs_before: [u32; BLOCKS],
}

/// A pass over the blocks of a window.
struct Pass<'a> {
    into: &'a mut Blocks,
    /// The number of the next block.
    next: usize,
    with_anchors: u64,
    /// How many LFs were in the blocks so far.
    n_lfs: u32,
    /// 1 if the last block ends in "w", and 0 otherwise.
    letters: u64,
    /// 1 if the last block ends in "ww", and 0 otherwise.
    pairs: u64,
}

impl BlockSink<3> for Pass<'_> {
    /// Colons, the letters of "www", and LFs.
    const SETS: [[u8; 3]; 3] = [[b':'; 3], [b'w', b'W', b'w'], [b'\n'; 3]];

    #[inline(always)]
    fn take(&mut self, [colons, letters, lfs]: [u64; 3]) {
        let n = self.next % BLOCKS;
        let pairs = letters & (letters << 1 | self.letters);
        // A colon before another one shows no candidate (X9). At the end of a block it stays.
        let anchors = colons & !(colons >> 1) | pairs & (pairs << 1 | self.pairs);
        (self.letters, self.pairs) = (letters >> 63, pairs >> 63);
        self.into.anchors[n] = anchors;
        self.into.lfs[n] = lfs;
        self.into.lfs_before[n] = self.n_lfs;
        self.with_anchors |= u64::from(anchors != 0) << n;
        self.n_lfs += lfs.count_ones();
        self.next += 1;
    }

    #[inline(always)]
    fn finish(self) {
        self.into.with_anchors = self.with_anchors;
    }
}

/// The LFs before a position in a text that moves forward.
#[derive(Default)]
pub(super) struct LineCount {
    counted: usize,
    pub(super) lines: u64,
}

impl Anchors {
    pub(super) fn new() -> Self {
        let blocks =
            Blocks { anchors: [0; BLOCKS], with_anchors: 0, lfs: [0; BLOCKS], lfs_before: [0; BLOCKS] };
        Self { window: 0..0, blocks }
    }

    /// Shows the anchors of `text`, which begins at `offset` of the input, one after the other, until `show` returns something.
    /// Counts the LFs of the windows before that anchor.
    #[inline]
    pub(super) fn find<T>(
        &mut self,
        text: &[u8],
        offset: u64,
        count: &mut LineCount,
        mut show: impl FnMut(usize) -> Option<T>,
    ) -> Option<T> {
        let mut from = 0;
        while from < text.len() {
            let at = offset + from as u64;
            if !self.window.contains(&at) {
                self.search(text, offset, from);
            }
            let first = index(at - self.window.start);
            let found = self.blocks.anchors_from(first).find_map(|anchor| show(from + (anchor - first)));
            if found.is_some() {
                return found;
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
            let [start, end] = [start, end].map(|at| index(at - self.window.start));
            u64::from(
                self.blocks.lfs_up_to(end - 1) + self.blocks.is_lf(start) - self.blocks.lfs_up_to(start),
            )
        } else {
            memchr_iter(b'\n', &text[count.counted..at]).count() as u64
        };
        count.counted = at;
    }

    /// Searches the window that begins at `from`.
    #[inline(never)]
    fn search(&mut self, text: &[u8], offset: u64, from: usize) {
        let bytes = &text[from..text.len().min(from + BLOCKS * BLOCK)];
        self.window = offset + from as u64..offset + (from + bytes.len()) as u64;
        // The last two bytes before a block matter to it.
        let is_w = |back: usize| from >= back && text[from - back].eq_ignore_ascii_case(&b'w');
        let [letters, pairs] = [is_w(1), is_w(1) && is_w(2)].map(u64::from);
        let pass = Pass { into: &mut self.blocks, next: 0, with_anchors: 0, n_lfs: 0, letters, pairs };
        find_each(bytes, pass);
    }
}

impl Blocks {
    /// The anchors from `from` on, in bytes from the start of the window.
    #[inline(always)]
    fn anchors_from(&self, from: usize) -> impl Iterator<Item = usize> {
        let mut block = from / BLOCK;
        let mut here = self.anchors[block] & u64::MAX << (from % BLOCK);
        let mut later = self.with_anchors & (u64::MAX - 1) << block;
        iter::from_fn(move || {
            if here == 0 {
                block = (later != 0).then_some(later.trailing_zeros() as usize)?;
                later &= later - 1;
                here = self.anchors[block];
            }
            let anchor = block * BLOCK + here.trailing_zeros() as usize;
            here &= here - 1;
            Some(anchor)
        })
    }

    /// How many LFs there are up to `at` and there.
    #[inline]
    fn lfs_up_to(&self, at: usize) -> u32 {
        let here = self.lfs[at / BLOCK] & u64::MAX >> (BLOCK - 1 - at % BLOCK);
        self.lfs_before[at / BLOCK] + here.count_ones()
    }

    #[inline]
    fn is_lf(&self, at: usize) -> u32 {
        u32::from(self.lfs[at / BLOCK] >> (at % BLOCK) & 1 == 1)
    }
}

/// A distance inside a text that is in memory.
fn index(distance: u64) -> usize {
    usize::try_from(distance).expect("the text is in memory")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the anchors of a text, and the lines before them, with a plain search. Then the text is searched again from
    /// behind each of them, as it is behind a candidate.
    #[test]
    fn they_are_found_from_anywhere() {
        let len = BLOCKS * BLOCK + 3 * BLOCK + 5;
        let text: Vec<u8> = (0..len).map(|n| b"w:W\nxwww"[n * n % 37 % 8]).collect();
        let is_w = |at: usize| text[at].eq_ignore_ascii_case(&b'w');
        let is_anchor = |at: usize| text[at] == b':' || at >= 2 && (at - 2..=at).all(is_w);
        assert!(!text.windows(2).any(|two| two == b"::"), "of two colons, the first one may be left out");
        for start in [0, 1, 2, BLOCK, BLOCKS * BLOCK - 1, len] {
            let expected: Vec<_> =
                (start..len).filter(|&at| is_anchor(at) && (text[at] == b':' || at >= start + 2)).collect();
            let (mut found, mut anchors) = (Vec::new(), Anchors::new());
            let collect = |at| {
                found.push(start + at);
                None::<()>
            };
            anchors.find(&text[start..], start as u64, &mut LineCount::default(), collect);
            assert_eq!(found, expected);

            let (mut from, mut anchors) = (start, Anchors::new());
            for at in expected {
                let (rest, offset) = (&text[from..], from as u64);
                let mut count = LineCount::default();
                let is_later = |anchor| (from + anchor >= at).then_some(from + anchor);
                assert_eq!(anchors.find(rest, offset, &mut count, is_later), Some(at));
                anchors.count_up_to(at - from, rest, offset, &mut count);
                assert_eq!(count.lines, memchr_iter(b'\n', &text[from..at]).count() as u64);
                from = at + 1;
            }
        }
    }
}
