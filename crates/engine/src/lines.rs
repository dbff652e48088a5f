//! What a line and its terminator are, and where bytes in memory can be cut between lines. This file knows no URL and no input.

use std::ops::Range;

use memchr::{memchr, memrchr};

use crate::simd::{BLOCK, BlockSink, find_each};

/// Cuts `bytes` at the starts of lines into `count` slices of nearly equal length.
///
/// A line begins at the start of `bytes` and after each LF. `count` is 1 to `N`. Slices may be empty; those after the first
/// `count` always are.
pub fn cut<const N: usize>(bytes: &[u8], count: usize) -> [&[u8]; N] {
    let mut rest = bytes;
    std::array::from_fn(|n| {
        let wanted = rest.len() / count.saturating_sub(n).max(1);
        let end = if n + 1 >= count {
            rest.len()
        } else {
            memchr(b'\n', &rest[wanted.saturating_sub(1).min(rest.len())..])
                .map_or(rest.len(), |lf| wanted.saturating_sub(1) + lf + 1)
        };
        let slice;
        (slice, rest) = rest.split_at(end);
        slice
    })
}

/// Returns the range of the lines of `bytes` that begin in `start..end`.
///
/// Adjacent ranges return each line once. `start` is less than `end`, and `end` is at most the length. If no line begins in
/// `start..end`, no byte at or after `end` is read. So the cost of all adjacent ranges together is linear in the length.
pub fn beginning_in(bytes: &[u8], start: usize, end: usize) -> Range<usize> {
    let first = match start {
        0 => Some(0),
        _ => memchr(b'\n', &bytes[start - 1..end - 1]).map(|lf| start + lf),
    };
    let Some(first) = first else { return end..end };
    first..memchr(b'\n', &bytes[end - 1..]).map_or(bytes.len(), |lf| end + lf)
}

/// Returns the offset after the last LF of `bytes`, where its last complete line ends; `None` without an LF.
pub fn last_end(bytes: &[u8]) -> Option<usize> {
    memrchr(b'\n', bytes).map(|lf| lf + 1)
}

/// Removes the terminator of a line. Returns the line, and whether its terminator has a CR.
///
/// `bytes` hold one line, with or without its terminator. The terminator is LF with all CRs directly before it. The last line
/// of an input may lack the LF (SPEC A2).
#[inline(always)]
pub fn trim_terminator(bytes: &[u8]) -> (&[u8], bool) {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if line.last() != Some(&b'\r') {
        return (line, false);
    }
    let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
    (&line[..end], true)
}

/// The place of each line, without its terminator.
pub fn places(bytes: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut line_feeds = LineFeeds::new(bytes);
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == bytes.len() {
            return None;
        }
        let end = line_feeds.next().map_or(bytes.len(), |lf| lf + 1);
        let line = start..start + trim_terminator(&bytes[start..end]).0.len();
        start = end;
        Some(line)
    })
}

/// The offsets of all LFs. A search for each of them would start again in every line.
struct LineFeeds<'a> {
    bytes: &'a [u8],
    /// How many bytes have been searched.
    searched: usize,
    /// The LFs of the last search, by their distance from `first`.
    found: [u32; AT_ONCE * BLOCK + NOTED],
    first: usize,
    /// Those that are left.
    left: Range<usize>,
}

/// How many blocks are searched at once.
const AT_ONCE: usize = 32;

impl<'a> LineFeeds<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, searched: 0, found: [0; AT_ONCE * BLOCK + NOTED], first: 0, left: 0..0 }
    }

    /// Searches until something is found. Returns whether it is.
    #[inline(never)]
    fn search(&mut self) -> bool {
        while self.left.is_empty() && self.searched < self.bytes.len() {
            let end = self.bytes.len().min(self.searched + AT_ONCE * BLOCK);
            let mut n = 0;
            let sink = NoteLineFeeds { places: &mut self.found, at: 0, n: 0, noted: &mut n };
            find_each(&self.bytes[self.searched..end], sink);
            (self.first, self.searched, self.left) = (self.searched, end, 0..n);
        }
        !self.left.is_empty()
    }
}

/// Notes the places of LFs.
struct NoteLineFeeds<'a> {
    places: &'a mut [u32],
    /// Where the next block begins.
    at: u32,
    /// How many LFs there are so far.
    n: usize,
    /// Gets their number at the end.
    noted: &'a mut usize,
}

impl BlockSink<1> for NoteLineFeeds<'_> {
    const SETS: [[u8; 3]; 1] = [[b'\n'; 3]];

    #[inline(always)]
    fn take(&mut self, [word]: [u64; 1]) {
        self.n = note_bits_of(word, self.at, self.n, self.places);
        self.at += u64::BITS;
    }

    fn finish(self) {
        *self.noted = self.n;
    }
}

impl Iterator for LineFeeds<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.left.is_empty() && !self.search() {
            return None;
        }
        self.left.next().map(|n| self.first + self.found[n] as usize)
    }
}

/// How many bits are noted at once, even if there are fewer. This saves a branch that would often be mispredicted.
pub(crate) const NOTED: usize = 4;

/// How many words have their bits noted in [`LineEnds`].
pub(crate) const WORDS: usize = 8;

/// Memory for the places of the bits of [`WORDS`] words.
pub(crate) type LineEnds = [u32; WORDS * BLOCK + NOTED];

/// Writes the places of the bits set in `words` to `places`, which has room for [`NOTED`] more. Returns how many there are.
#[inline(always)]
pub(crate) fn note_bits(words: impl Iterator<Item = u64>, places: &mut [u32]) -> usize {
    (0..).step_by(BLOCK).zip(words).fold(0, |n, (first, word)| note_bits_of(word, first, n, places))
}

/// The same for one word, whose lowest bit is at `first`, behind `n` places. Returns how many there are with them.
#[inline(always)]
fn note_bits_of(mut word: u64, first: u32, n: usize, places: &mut [u32]) -> usize {
    let (mut at, end) = (n, n + word.count_ones() as usize);
    loop {
        let some: &mut [u32; NOTED] = places[at..].first_chunk_mut().expect("room behind the last");
        for place in some {
            *place = first + word.trailing_zeros();
            word &= word.wrapping_sub(1);
        }
        if word == 0 {
            return end;
        }
        at += NOTED;
    }
}

/// The positions of the bits set in a word, lowest first.
#[inline]
pub(crate) fn bits(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = (word != 0).then(|| word.trailing_zeros() as usize);
        word &= word.wrapping_sub(1);
        bit
    })
}

/// Removes the UTF-8 byte order mark at the very start of an input (SPEC A3). `bytes` begin at `offset` of the input.
pub fn skip_byte_order_mark(bytes: &[u8], offset: u64) -> &[u8] {
    if offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_grammar::random::Random;

    #[test]
    fn slices_are_whole_lines() {
        for text in [
            &b""[..],
            b"\n",
            b"a",
            b"a\n",
            b"a\nb\nc\n",
            b"\n\n\n\n\n\n\n\n",
            b"aaaaaaaaaaaaaaaaaaaaaa\nb\nc",
            b"a\nbbbbbbbbbbbbbbbbb",
        ] {
            let slices: [&[u8]; 4] = cut(text, 4);
            assert_eq!(slices.concat(), text);
            for (slice, next) in slices.iter().zip(&slices[1..]) {
                assert!(slice.is_empty() || next.is_empty() || slice.ends_with(b"\n"), "{text:?} {slices:?}");
            }
        }
    }

    #[test]
    fn ranges_hold_each_line_once() {
        for text in [&b"\n"[..], b"a", b"\n\n\n\n", b"aaaaaaa\nb\nc", b"a\nbbbbbbbbbbbbb", b"a\n\nbb\nccc\n"]
        {
            for len in 1..text.len() + 2 {
                let shards = (0..text.len().div_ceil(len)).map(|n| {
                    let lines = beginning_in(text, n * len, text.len().min((n + 1) * len));
                    assert!(lines.is_empty() || (n * len..(n + 1) * len).contains(&lines.start));
                    &text[lines]
                });
                let shards: Vec<_> = shards.collect();
                assert_eq!(shards.concat(), text);
                assert!(
                    shards
                        .iter()
                        .all(|lines| lines.is_empty() || lines.ends_with(b"\n") || text.ends_with(lines))
                );
            }
        }
    }

    #[test]
    fn places_are_those_of_one_line_after_another() {
        let mut random = Random::new(1);
        for turn in 0..300 {
            let alphabet: &[u8] =
                [&b"\n\r"[..], b"\n\raaaaaaaa", b"\naaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"][turn % 3];
            let len = BLOCK * random.below(2 * AT_ONCE + 2) + random.below(BLOCK);
            let text: Vec<u8> = (0..len).map(|_| alphabet[random.below(alphabet.len())]).collect();
            let mut start = 0;
            let expected = text.split_inclusive(|&byte| byte == b'\n').map(|line| {
                let place = start..start + trim_terminator(line).0.len();
                start += line.len();
                place
            });
            assert!(places(&text).eq(expected), "{}", text.escape_ascii());
        }
    }

    #[test]
    fn terminators() {
        for (bytes, line, cr) in [
            ("a\n", "a", false),
            ("a", "a", false),
            ("a\r\n", "a", true),
            ("a\r\r\n", "a", true),
            ("a\r", "a", true),
            ("\r\n", "", true),
            ("\r", "", true),
            ("\n", "", false),
            ("a\rb\n", "a\rb", false),
        ] {
            assert_eq!(trim_terminator(bytes.as_bytes()), (line.as_bytes(), cr), "{bytes:?}");
        }
    }
}
