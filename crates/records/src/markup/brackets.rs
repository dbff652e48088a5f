//! Finds where tags begin, and where the names in them end, block by block.

use urlsift_engine::simd::{BLOCK, BlockSink, find_each};

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// What is searched for.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    /// A "<".
    Opening,
    /// What ends the name of an element: white space, "/", ">". In XML, a "<" is an error there.
    NameEnd,
}

/// The marks in some bytes of an input. They stay valid from one call to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Brackets {
    /// The offset in the input at which the bytes begin, and their number.
    start: u64,
    len: usize,
    /// One bit for each byte, by [`Mark`].
    found: [[u64; BLOCKS]; 2],
}

/// A pass over the blocks of a window.
struct Pass<'a> {
    into: &'a mut [[u64; BLOCKS]; 2],
    /// The number of the next block.
    next: usize,
}

impl BlockSink<4> for Pass<'_> {
    const SETS: [[u8; 3]; 4] =
        [[b'<'; 3], [b'>', b'/', b'/'], [b' ', b'\n', b'\t'], [b'\r', b'\x0c', b'\x0c']];

    #[inline(always)]
    fn take(&mut self, [openings, ends, white, rare]: [u64; 4]) {
        let n = self.next % BLOCKS;
        self.into[Mark::Opening as usize][n] = openings;
        self.into[Mark::NameEnd as usize][n] = openings | ends | white | rare;
        self.next += 1;
    }

    #[inline(always)]
    fn finish(self) {}
}

impl Brackets {
    /// The position of the first `mark` from `at` on in `text`, which begins at `offset` of the input.
    #[inline(always)]
    pub(super) fn find(&mut self, mark: Mark, text: &[u8], offset: u64, mut at: usize) -> Option<usize> {
        while at < text.len() {
            let mut from = (offset + at as u64).wrapping_sub(self.start);
            if from >= self.len as u64 {
                self.fill(&text[at..text.len().min(at + BLOCKS * BLOCK)], offset + at as u64);
                from = 0;
            }
            let from = usize::try_from(from).expect("a position in the window");
            let bits = self.found[mark as usize][from / BLOCK % BLOCKS] >> (from % BLOCK);
            if bits != 0 {
                // The window may have been searched when more bytes were known.
                return Some(at + bits.trailing_zeros() as usize).filter(|&found| found < text.len());
            }
            at += (BLOCK - from % BLOCK).min(self.len - from);
        }
        None
    }

    #[inline(never)]
    fn fill(&mut self, bytes: &[u8], start: u64) {
        (self.start, self.len) = (start, bytes.len());
        find_each(bytes, Pass { into: &mut self.found, next: 0 });
    }
}
