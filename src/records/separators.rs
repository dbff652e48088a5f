//! Where the bytes stand that separate: line ends, and what a format has between its fields and around its strings. They are found
//! some blocks at a time, a bit each, and the bits stepped along: to begin a search for each costs more than most fields are long.

use crate::simd::{BLOCK, find};

/// Three bytes that are looked for; the same one twice does no harm.
pub(super) type Set = [u8; 3];

/// How many blocks are looked at at once.
const BLOCKS: usize = 32;

/// How many bytes these are.
const WINDOW: usize = BLOCKS * BLOCK;

/// Where no window begins.
const NONE: usize = usize::MAX;

/// The bytes of a set in some bytes, and a place among them.
#[derive(Debug)]
pub(super) struct Marks<'a> {
    bytes: &'a [u8],
    set: Set,
    /// Those of a window, a bit each. Windows begin at multiples of their length.
    found: [u64; BLOCKS],
    /// Where that window begins, or [`NONE`].
    window: usize,
    place: Place,
}

/// How far one has come. Whoever takes several steps takes them with a copy, which stays in registers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// The marks of a block that are still to come, a bit each.
    bits: u64,
    /// Where the block begins.
    block: usize,
}

impl<'a> Marks<'a> {
    /// Those of `set` in `bytes`, at the start.
    pub(super) fn new(set: Set, bytes: &'a [u8]) -> Self {
        // Before the first block, so that nothing is looked at before somebody asks.
        let place = Place { bits: 0, block: 0_usize.wrapping_sub(BLOCK) };
        Self { bytes, set, found: [0; BLOCKS], window: NONE, place }
    }

    /// The bytes in which they are.
    #[inline(always)]
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Where one is.
    #[inline(always)]
    pub(super) fn place(&self) -> Place {
        self.place
    }

    /// Goes on at a place that [`Marks::next`] has come to.
    #[inline(always)]
    pub(super) fn go_to(&mut self, place: Place) {
        self.place = place;
    }

    /// Where the next one stands, and goes on behind it; behind the last the length of the bytes.
    #[inline(always)]
    pub(super) fn next(&mut self, place: &mut Place) -> usize {
        while place.bits == 0 {
            let block = place.block.wrapping_add(BLOCK);
            if block >= self.bytes.len() {
                return self.bytes.len();
            }
            if block.is_multiple_of(WINDOW) {
                self.fill(block);
            }
            *place = Place { bits: self.found[block / BLOCK % BLOCKS], block };
        }
        let mark = place.block + place.bits.trailing_zeros() as usize;
        place.bits &= place.bits - 1;
        mark
    }

    /// Where the first one stands from `at` on, wherever one is; where there is none, the length of the bytes. No place from before
    /// can be gone on from: [`Marks::seek`] first.
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
        let mut place = Place { bits, block: at - at % BLOCK };
        self.next(&mut place)
    }

    /// Goes on behind the next LF; where that is, or the end.
    #[inline(always)]
    pub(super) fn line_end(&mut self, place: &mut Place) -> usize {
        loop {
            let mark = self.next(place);
            match self.bytes.get(mark) {
                None => return mark,
                Some(b'\n') => return mark + 1,
                Some(_) => {}
            }
        }
    }

    /// Goes on at `at`, forward or back.
    pub(super) fn seek(&mut self, at: usize) {
        let window = at - at % WINDOW;
        if self.window != window {
            self.fill(window);
        }
        let bits = self.found[at / BLOCK % BLOCKS] & u64::MAX << (at % BLOCK);
        self.place = Place { bits, block: at - at % BLOCK };
    }

    /// Goes on at `at`, where it is, looking for another set if it is another.
    #[inline(always)]
    pub(super) fn look_for(&mut self, set: Set, at: usize) {
        if self.set != set {
            (self.set, self.window) = (set, NONE);
            self.seek(at);
        }
    }

    /// Looks at the window that begins at `window`, at most at the end.
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

    /// From each place on, the marks of bytes that end anywhere in a block, in the first window or behind it.
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
