//! Finds the end of a JSON value by its quotes and brackets alone, block by block. A value can be passed over in pieces.

use super::is_in_word;
use crate::quote_parity::odd;
use urlsift_engine::simd::{BLOCK, find};

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// How far a value has been passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Skip {
    /// Inside a number or a word. It ends before the first byte that belongs to neither.
    Word,
    /// Inside a string, an array or an object.
    Within {
        /// How many brackets are open. In a string alone, it is 0.
        depth: u64,
        /// Whether the next byte is inside a string.
        in_string: bool,
        /// Whether a backslash precedes the next byte and escapes it.
        escaped: bool,
    },
}

impl Skip {
    /// The state after the first byte of a value; `None` if no value begins with this byte.
    #[inline]
    pub(super) fn after(first: u8) -> Option<Self> {
        match first {
            b'"' => Some(Self::Within { depth: 0, in_string: true, escaped: false }),
            b'{' | b'[' => Some(Self::Within { depth: 1, in_string: false, escaped: false }),
            _ => is_in_word(first).then_some(Self::Word),
        }
    }
}

/// The quotes, backslashes and brackets in some bytes of an input, one bit each.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The offset in the input at which the bytes begin, and their number.
    start: u64,
    len: usize,
    quotes: [u64; BLOCKS],
    backslashes: [u64; BLOCKS],
    opens: [u64; BLOCKS],
    closes: [u64; BLOCKS],
}

impl Window {
    pub(super) fn new() -> Self {
        let none = [0; BLOCKS];
        Self { start: 0, len: 0, quotes: none, backslashes: none, opens: none, closes: none }
    }

    /// Passes over a value from byte `at` of `text`, which begins at `offset` of the input. Returns where the value ends. If
    /// that is not in `text`, `skip` is its state at the end of `text`.
    #[inline]
    pub(super) fn pass(&mut self, skip: &mut Skip, text: &[u8], offset: u64, mut at: usize) -> Option<usize> {
        let Skip::Within { depth, in_string, escaped } = skip else {
            let rest = &text[at..];
            return rest.iter().position(|&byte| !is_in_word(byte)).map(|len| at + len);
        };
        while at < text.len() {
            let from = self.cover(text, offset, at);
            let (block, bit) = (from / BLOCK, from % BLOCK);
            let last = BLOCK.min(self.len - block * BLOCK) - 1;
            let live = u64::MAX << bit;
            let mut quotes = self.quotes[block] & live;
            let backslashes = self.backslashes[block] & live;
            if backslashes != 0 || *escaped {
                let (all, carry) = escapes(backslashes, u64::from(*escaped) << bit, last);
                quotes &= !all;
                *escaped = carry;
            }
            if *depth == 0 {
                if quotes != 0 {
                    return Some(at + quotes.trailing_zeros() as usize - bit + 1);
                }
            } else {
                let inside = odd(quotes) ^ if *in_string { u64::MAX } else { 0 };
                let opens = self.opens[block] & live & !inside;
                let mut closes = self.closes[block] & live & !inside;
                let n_closes = u64::from(closes.count_ones());
                if n_closes >= *depth {
                    let mut n_closed = 0;
                    while closes != 0 {
                        let close = closes & closes.wrapping_neg();
                        n_closed += 1;
                        if *depth + u64::from((opens & (close - 1)).count_ones()) == n_closed {
                            return Some(at + close.trailing_zeros() as usize - bit + 1);
                        }
                        closes ^= close;
                    }
                }
                *depth = *depth + u64::from(opens.count_ones()) - n_closes;
                *in_string = inside >> last & 1 == 1;
            }
            at += last - bit + 1;
        }
        None
    }

    /// Searches the bytes from `at` on, unless this was done before. Returns the position of `at` in the window.
    #[inline(always)]
    fn cover(&mut self, text: &[u8], offset: u64, at: usize) -> usize {
        let from = (offset + at as u64).wrapping_sub(self.start);
        if from < self.len as u64 {
            return usize::try_from(from).expect("a position in the window");
        }
        self.fill(&text[at..text.len().min(at + BLOCKS * BLOCK)], offset + at as u64);
        0
    }

    #[inline(never)]
    fn fill(&mut self, bytes: &[u8], start: u64) {
        (self.start, self.len) = (start, bytes.len());
        let (blocks, rest) = bytes.as_chunks::<BLOCK>();
        let mut last = [0; BLOCK];
        last[..rest.len()].copy_from_slice(rest);
        let sets = [
            ([b'"'; 3], &mut self.quotes),
            ([b'\\'; 3], &mut self.backslashes),
            ([b'{', b'[', b'['], &mut self.opens),
            ([b'}', b']', b']'], &mut self.closes),
        ];
        for (set, found) in sets {
            find(set, blocks, found);
            if !rest.is_empty() {
                find(set, &[last], &mut found[blocks.len()..]);
            }
        }
    }
}

/// The bytes that backslashes escape. `first` is the first byte, if a backslash before it escapes it. Also returns whether byte `last`
/// escapes the byte after it.
#[inline]
fn escapes(backslashes: u64, first: u64, last: usize) -> (u64, bool) {
    let (mut escaped, mut rest, mut before) = (first, backslashes & !first, 0);
    while rest != 0 {
        before = rest & rest.wrapping_neg();
        escaped |= before << 1;
        rest &= !(before | before << 1);
    }
    (escaped, before >> last & 1 == 1)
}
