//! Finds the end of a JSON value by its quotes and brackets alone, block by block. A value can be passed over in pieces.

use super::is_in_word;
use crate::quote_parity::odd;
use urlsift_engine::simd::{BLOCK, BlockSink, find_each};

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

/// The strings in some bytes of an input, and the brackets outside of strings.
#[derive(Clone, Debug, Default)]
pub(super) struct Window {
    /// The offset in the input at which the bytes begin, and their number.
    start: u64,
    len: usize,
    found: Structure,
}

/// The structure of the blocks of a window, one bit for each byte.
#[derive(Clone, Debug, Default)]
struct Structure {
    /// From each opening quote up to the byte before the closing one.
    strings: [u64; BLOCKS],
    opens: [u64; BLOCKS],
    closes: [u64; BLOCKS],
    /// Whether a backslash at the end escapes the byte after the window.
    escapes_next: bool,
}

/// A pass over the blocks of a window.
struct Pass<'a> {
    into: &'a mut Structure,
    /// The number of the next block.
    next: usize,
    /// How many bytes are left from that block on.
    left: usize,
    /// All ones if the next byte is inside a string, and 0 otherwise.
    inside: u64,
    /// Whether a backslash before the next byte escapes it.
    escaped: bool,
}

impl BlockSink<4> for Pass<'_> {
    /// Quotes, backslashes, opening and closing brackets.
    const SETS: [[u8; 3]; 4] = [[b'"'; 3], [b'\\'; 3], [b'{', b'[', b'['], [b'}', b']', b']']];

    #[inline(always)]
    fn take(&mut self, [mut quotes, backslashes, opens, closes]: [u64; 4]) {
        if backslashes != 0 || self.escaped {
            let last = self.left.min(BLOCK) - 1;
            let (escaped, carry) = escapes(backslashes, u64::from(self.escaped), last);
            quotes &= !escaped;
            self.escaped = carry;
        }
        let inside = odd(quotes) ^ self.inside;
        let n = self.next % BLOCKS;
        self.into.strings[n] = inside;
        self.into.opens[n] = opens & !inside;
        self.into.closes[n] = closes & !inside;
        self.inside = 0_u64.wrapping_sub(inside >> 63);
        self.next += 1;
        self.left = self.left.saturating_sub(BLOCK);
    }

    #[inline(always)]
    fn finish(self) {
        self.into.escapes_next = self.escaped;
    }
}

impl Window {
    /// Passes over a value from byte `at` of `text`, which begins at `offset` of the input. Returns where the value ends. If
    /// that is not in `text`, `skip` is its state at the end of `text`.
    #[inline]
    pub(super) fn pass(&mut self, skip: &mut Skip, text: &[u8], offset: u64, mut at: usize) -> Option<usize> {
        let Skip::Within { depth, in_string, escaped } = skip else {
            let rest = &text[at..];
            return rest.iter().position(|&byte| !is_in_word(byte)).map(|len| at + len);
        };
        while at < text.len() {
            let mut from = (offset + at as u64).wrapping_sub(self.start);
            if from >= self.len as u64 {
                let bytes = &text[at..text.len().min(at + BLOCKS * BLOCK)];
                self.fill(bytes, offset + at as u64, *in_string, *escaped);
                from = 0;
            }
            let from = usize::try_from(from).expect("a position in the window");
            let (block, bit) = (from / BLOCK, from % BLOCK);
            let live = u64::MAX << bit;
            if *depth == 0 {
                let outside = !self.found.strings[block] & live;
                if outside != 0 {
                    return Some(at + outside.trailing_zeros() as usize - bit + 1);
                }
            } else {
                let mut opens = self.found.opens[block] & live;
                let mut closes = self.found.closes[block] & live;
                while closes != 0 {
                    let close = closes & closes.wrapping_neg();
                    *depth = *depth + count(opens & (close - 1)) - 1;
                    if *depth == 0 {
                        return Some(at + close.trailing_zeros() as usize - bit + 1);
                    }
                    opens &= !(close - 1);
                    closes ^= close;
                }
                *depth += count(opens);
            }
            let len = BLOCK.min(self.len - block * BLOCK);
            *in_string = self.found.strings[block] >> (len - 1) & 1 == 1;
            *escaped = self.found.escapes_next && block * BLOCK + len == self.len;
            at += len - bit;
        }
        None
    }

    /// Searches `bytes`, which begin at offset `start` of the input in this state.
    #[inline(never)]
    fn fill(&mut self, bytes: &[u8], start: u64, in_string: bool, escaped: bool) {
        (self.start, self.len) = (start, bytes.len());
        let inside = if in_string { u64::MAX } else { 0 };
        find_each(bytes, Pass { into: &mut self.found, next: 0, left: bytes.len(), inside, escaped });
    }
}

/// The number of set bits. Most words have none, and without an instruction for it, counting takes long.
#[inline(always)]
fn count(bits: u64) -> u64 {
    if bits == 0 { 0 } else { u64::from(bits.count_ones()) }
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

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_grammar::random::Random;

    /// Passes over a value byte by byte.
    fn slow(skip: &mut Skip, text: &[u8]) -> Option<usize> {
        let Skip::Within { depth, in_string, escaped } = skip else { unreachable!() };
        for (at, &byte) in text.iter().enumerate() {
            let is_escaped = std::mem::replace(escaped, byte == b'\\' && !*escaped);
            match byte {
                b'"' if !is_escaped => *in_string = !*in_string,
                b'{' | b'[' if !*in_string => *depth += 1,
                b'}' | b']' if !*in_string => *depth -= 1,
                _ => continue,
            }
            if *depth == 0 && !*in_string {
                return Some(at + 1);
            }
        }
        None
    }

    /// Values begin and end anywhere in a block and in a window, and so do the pieces that they come in.
    #[test]
    fn values_end_where_they_end_byte_by_byte() {
        let tokens = ["\"", "\"", "\\", "\\\"", "{", "[", "]", "}", ",", "\n", "a"];
        let mut random = Random::new(44);
        let mut n_ends = 0;
        for n in 0..20_000 {
            let mut text: String =
                (0..random.below(40)).map(|_| tokens[random.below(tokens.len())]).collect();
            let long = if n % 8 == 0 { BLOCKS * BLOCK } else { BLOCK };
            text.insert_str(random.below(text.len() + 1), &"a".repeat(random.below(long + 9)));
            let text = ["\"", "{", "["][n % 3].to_owned() + &text;
            let text = text.as_bytes();
            let (mut fast, mut expected) = (Skip::after(text[0]).unwrap(), Skip::after(text[0]).unwrap());
            let piece = 1 + random.below(text.len());
            let (mut window, mut at) = (Window::default(), 1);
            while at < text.len() {
                let known = &text[..text.len().min(at + piece)];
                let end = slow(&mut expected, &known[at..]).map(|len| at + len);
                assert_eq!(window.pass(&mut fast, known, 5, at), end, "{} by {piece}", text.escape_ascii());
                n_ends += usize::from(end.is_some());
                if end.is_some() {
                    break;
                }
                assert_eq!(fast, expected, "{} by {piece}", text.escape_ascii());
                at = known.len();
            }
        }
        assert!(n_ends > 2_000, "{n_ends}");
    }
}
