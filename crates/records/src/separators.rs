//! Finds the separators of a format: line ends, and the bytes between fields and around strings.
//!
//! Several blocks are searched at once. Each separator becomes one bit, and readers step through the bits. A new search for each
//! field would take longer to start than to run, because most fields are short.

use urlsift_engine::simd::{BLOCK, find};

/// Three bytes to search for. Repeating one does no harm.
pub(super) type Set = [u8; 3];

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// How many bytes are searched at once.
const WINDOW: usize = BLOCKS * BLOCK;

/// A position where no window begins.
const NONE: usize = usize::MAX;

/// The bytes of a set (the marks) in some bytes, and a position among them.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    bytes: &'a [u8],
    set: Set,
    /// The marks of the current window, one bit each. Windows begin at multiples of their length.
    found: [u64; BLOCKS],
    /// Where the current window begins, or [`NONE`].
    window: usize,
    place: SeparatorPosition,
}

/// A position among the marks. Code that takes several steps uses a copy, which stays in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct SeparatorPosition {
    /// The marks of a block that are still to come, one bit each.
    bits: u64,
    /// Where the block begins.
    block: usize,
}

impl<'a> Marks<'a> {
    /// The marks of `set` in `bytes`, with the position at the start.
    pub(super) fn new(set: Set, bytes: &'a [u8]) -> Self {
        // Before the first block, so that nothing is searched before the first step.
        let place = SeparatorPosition { bits: 0, block: 0_usize.wrapping_sub(BLOCK) };
        Self { bytes, set, found: [0; BLOCKS], window: NONE, place }
    }

    /// The bytes that are searched.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The current position.
    #[inline(always)]
    pub(super) fn place(&self) -> SeparatorPosition {
        self.place
    }

    /// Continues at a position that [`Marks::next`] has reached.
    #[inline(always)]
    pub(super) fn go_to(&mut self, place: SeparatorPosition) {
        self.place = place;
    }

    /// Returns where the next mark is, and moves past it. After the last mark, returns the length of the bytes.
    #[inline(always)]
    pub(super) fn next(&mut self, place: &mut SeparatorPosition) -> usize {
        while place.bits == 0 {
            let block = place.block.wrapping_add(BLOCK);
            if block >= self.bytes.len() {
                return self.bytes.len();
            }
            if block.is_multiple_of(WINDOW) {
                self.fill(block);
            }
            *place = SeparatorPosition { bits: self.found[block / BLOCK % BLOCKS], block };
        }
        let mark = place.block + place.bits.trailing_zeros() as usize;
        place.bits &= place.bits - 1;
        mark
    }

    /// Returns where the first mark from `at` on is, whatever the current position. If there is none, returns the length of the
    /// bytes. Earlier positions are invalid afterwards; call [`Marks::seek`] to continue.
    #[inline(always)]
    pub(super) fn find(&mut self, at: usize) -> usize {
        let window = at - at % WINDOW;
        if self.window != window {
            if at >= self.bytes.len() {
                return self.bytes.len();
            }
            self.fill(window);
        }
        let bits = self.found[at / BLOCK % BLOCKS] >> (at % BLOCK);
        if bits != 0 {
            return at + bits.trailing_zeros() as usize;
        }
        let mut place = SeparatorPosition { bits, block: at - at % BLOCK };
        self.next(&mut place)
    }

    /// Moves past the next LF. Returns the position after it, or the end of the bytes.
    #[inline(always)]
    pub(super) fn line_end(&mut self, place: &mut SeparatorPosition) -> usize {
        loop {
            let mark = self.next(place);
            match self.bytes.get(mark) {
                None => return mark,
                Some(b'\n') => return mark + 1,
                Some(_) => {}
            }
        }
    }

    /// Moves to `at`, forward or backward.
    pub(super) fn seek(&mut self, at: usize) {
        let window = at - at % WINDOW;
        if self.window != window {
            self.fill(window);
        }
        let bits = self.found[at / BLOCK % BLOCKS] & u64::MAX << (at % BLOCK);
        self.place = SeparatorPosition { bits, block: at - at % BLOCK };
    }

    /// Changes the set to search for, if it is another. `at` is the current position.
    #[inline(always)]
    pub(super) fn look_for(&mut self, set: Set, at: usize) {
        if self.set != set {
            (self.set, self.window) = (set, NONE);
            self.seek(at);
        }
    }

    /// Searches the window that begins at `window`, which is at most the end of the bytes.
    #[inline(never)]
    fn fill(&mut self, window: usize) {
        self.window = window;
        self.found = [0; BLOCKS];
        let bytes = &self.bytes[window..self.bytes.len().min(window + WINDOW)];
        let (blocks, rest) = bytes.as_chunks();
        find(self.set, blocks, &mut self.found);
        if !rest.is_empty() {
            let mut block = [0; BLOCK];
            block[..rest.len()].copy_from_slice(rest);
            let last = blocks.len();
            find(self.set, &[block], &mut self.found[last..]);
            self.found[last] &= (1 << rest.len()) - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the marks from each position on. The bytes end anywhere in a block, in the first window or after it.
    #[test]
    fn they_are_found_in_order_from_anywhere() {
        let text: Vec<u8> = (0..WINDOW + 3 * BLOCK).map(|n| b"ab,,\n\"c,"[n * n % 11 % 8]).collect();
        let set = [b',', b'"', b'\n'];
        for len in (0..2 * BLOCK + 2).chain(WINDOW - 2..WINDOW + BLOCK + 2).step_by(3) {
            let bytes = &text[..len];
            let expected: Vec<_> = (0..len).filter(|&n| set.contains(&bytes[n])).collect();
            let mut marks = Marks::new(set, bytes);
            for from in (0..len.min(70)).chain(len.saturating_sub(70)..=len).rev() {
                marks.seek(from);
                let mut place = marks.place();
                let next = || Some(marks.next(&mut place)).filter(|&mark| mark < len);
                let found: Vec<_> = std::iter::from_fn(next).collect();
                let behind = expected.partition_point(|&mark| mark < from);
                assert_eq!(found, expected[behind..], "{len} from {from}");
                assert_eq!(marks.next(&mut place), len);
                let first = expected.get(behind).copied().unwrap_or(len);
                assert_eq!(marks.find(from), first, "{len} from {from}");
                assert_eq!([1, 2].map(|behind| marks.find(len + behind)), [len; 2]);
            }
        }
    }

    #[test]
    fn lines_end() {
        let text = [&b"a,b\n"[..], &b",".repeat(WINDOW), b"\n\n", &b"x".repeat(WINDOW), b"\ny"].concat();
        let mut marks = Marks::new([b',', b'\n', b'\n'], &text);
        let mut place = marks.place();
        let mut ends = Vec::new();
        while ends.last() != Some(&text.len()) {
            ends.push(marks.line_end(&mut place));
        }
        let expected: Vec<_> =
            memchr::memchr_iter(b'\n', &text).map(|lf| lf + 1).chain([text.len()]).collect();
        assert_eq!(ends, expected);
    }

    #[test]
    fn another_set_begins_where_it_is() {
        let text = b"a b\tc d\te";
        let mut marks = Marks::new([b' '; 3], text);
        let mut place = marks.place();
        assert_eq!(marks.next(&mut place), 1);
        marks.go_to(place);
        marks.look_for([b'\t'; 3], 4);
        let mut place = marks.place();
        assert_eq!([(); 2].map(|()| marks.next(&mut place)), [7, 9]);
    }
}
