//! Plain hosts and what follows them, for all lines of a text: the bytes that matter are found in 64 bytes at once, and each line looks up
//! their bits. No branch depends on the length of a host.

use std::cell::OnceCell;
use std::mem;
use std::ops::Range;

use crate::simd::{BLOCK, BlockSink, find_each};
use urlsift_grammar::plain_host::{PlainHost, before_host};

/// The bytes of a text that decide about plain hosts, as bits of its blocks. They take three eighths of the memory of the text, or seven if
/// what follows the hosts is asked for too.
#[derive(Debug)]
pub struct PlainHosts<'a> {
    text: &'a [u8],
    /// A word for each [`InHost`].
    hosts: Vec<[u64; 3]>,
    /// A word for each [`Behind`].
    behind: OnceCell<Vec<[u64; 4]>>,
}

/// The longest text that is worth their memory, in bytes. Longer ones mostly are one line.
pub const MAX_TEXT: usize = 16 << 20;

/// What the bits of a block say of hosts, in their order.
#[derive(Clone, Copy)]
enum InHost {
    /// No byte of a plain host.
    Other,
    Dot,
    Hyphen,
}

struct SearchHosts<'b>(&'b mut Vec<[u64; 3]>);

impl BlockSink<4> for SearchHosts<'_> {
    const SETS: [[u8; 3]; 4] = [[b'a'; 3], [b'0'; 3], [b'.'; 3], [b'-'; 3]];
    const RANGES: [Option<(u8, u8)>; 4] = [Some((b'a', b'z')), Some((b'0', b'9')), None, None];

    #[inline(always)]
    fn take(&mut self, [letters, digits, dots, hyphens]: [u64; 4]) {
        self.0.push([!(letters | digits | dots | hyphens), dots, hyphens]);
    }

    fn finish(self) {}
}

/// What the bits of a block say of that which follows hosts, in their order.
#[derive(Clone, Copy)]
enum Behind {
    Question,
    Hash,
    Percent,
    /// "'", a byte beyond ASCII, or a dot or "%" behind "/".
    Rare,
}

/// The blocks so far, and whether the last one ends in "/".
struct SearchBehind<'b>(&'b mut Vec<[u64; 4]>, u64);

impl BlockSink<6> for SearchBehind<'_> {
    const SETS: [[u8; 3]; 6] = [[b'?'; 3], [b'#'; 3], [b'/'; 3], [b'.'; 3], [b'%'; 3], [b'\''; 3]];
    const RANGES: [Option<(u8, u8)>; 6] = [None, None, None, None, None, Some((0x80, 0xff))];

    #[inline(always)]
    fn take(&mut self, [questions, hashes, slashes, dots, percents, rare]: [u64; 6]) {
        let rare = rare | (slashes << 1 | self.1) & (dots | percents);
        self.0.push([questions, hashes, percents, rare]);
        self.1 = slashes >> 63;
    }

    fn finish(self) {}
}

/// Where the components of a line with a plain host begin, as offsets in the line. Query and fragment begin with their delimiters. Where they are
/// missing, the line ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainParts {
    host: u32,
    path: u32,
    query: u32,
    fragment: u32,
    end: u32,
}

impl PlainParts {
    pub fn host(self) -> Range<usize> {
        self.host as usize..self.path as usize
    }

    pub fn path(self) -> Range<usize> {
        self.path as usize..self.query as usize
    }

    /// Where path and query end.
    pub fn ends(self) -> (usize, usize) {
        (self.query as usize, self.fragment as usize)
    }

    pub fn query(self) -> Option<Range<usize>> {
        (self.query < self.fragment).then(|| self.query as usize + 1..self.fragment as usize)
    }

    pub fn fragment(self) -> Option<Range<usize>> {
        (self.fragment < self.end).then(|| self.fragment as usize + 1..self.end as usize)
    }
}

impl<'a> PlainHosts<'a> {
    /// Looks at each byte of a text.
    #[must_use]
    pub fn of(text: &'a [u8]) -> Self {
        Self::in_memory(text, Vec::new())
    }

    /// Looks at each byte of a text. The bits replace others in their memory.
    fn in_memory(text: &'a [u8], mut hosts: Vec<[u64; 3]>) -> Self {
        hosts.clear();
        hosts.reserve(text.len() / BLOCK + 3);
        find_each(text, SearchHosts(&mut hosts));
        // So that each place has a block behind its own. No host goes on there.
        hosts.extend([[u64::MAX, 0, 0]; 2]);
        Self { text, hosts, behind: OnceCell::new() }
    }

    fn behind(&self) -> &[[u64; 4]] {
        self.behind.get_or_init(|| {
            let mut behind = Vec::with_capacity(self.hosts.len());
            find_each(self.text, SearchBehind(&mut behind, 0));
            behind.extend([[0; 4]; 2]);
            behind
        })
    }

    /// The plain host of the line at `place`, if it has one.
    #[inline(always)]
    #[expect(clippy::needless_bitwise_bool, reason = "without branches")]
    pub fn host(&self, place: &Range<usize>) -> Option<PlainHost> {
        let start = before_host(&self.text[place.start..])?;
        let host = place.start + start;
        let len = near(&self.hosts, InHost::Other as usize, host).trailing_zeros() as usize;
        let end = (host + len).min(place.end);
        let byte = self.text.get(end).copied().unwrap_or(b'/');
        let is_end = (end == place.end) | (byte == b'/') | (byte == b'?') | (byte == b'#');
        if !is_end | (len == BLOCK) | (end <= host) {
            return None;
        }
        let in_host = !(u64::MAX << (end - host));
        let [dots, hyphens] =
            [InHost::Dot, InHost::Hyphen].map(|of| near(&self.hosts, of as usize, host) & in_host);
        Some(PlainHost { start, end: end - place.start, dots, hyphens })
    }

    /// The components of a line with a plain host; `None` if it is longer than 4 GiB.
    #[inline(always)]
    pub fn parts(&self, place: &Range<usize>, host: PlainHost) -> Option<PlainParts> {
        let path = place.start + host.end;
        let fragment = self.first(Behind::Hash, path, place.end);
        let query = self.first(Behind::Question, path, fragment);
        let at = |at: usize| u32::try_from(at - place.start).ok();
        Some(PlainParts {
            host: at(place.start + host.start)?,
            path: at(path)?,
            query: at(query)?,
            fragment: at(fragment)?,
            end: at(place.end)?,
        })
    }

    /// Whether nothing behind a plain host is "'" or beyond ASCII, and neither a dot nor "%" follows "/".
    #[inline]
    pub fn has_plain_rest(&self, place: &Range<usize>, host: PlainHost) -> bool {
        self.first(Behind::Rare, place.start + host.end, place.end) == place.end
    }

    /// Whether no "%" is behind a plain host.
    #[inline]
    pub fn has_no_escape(&self, place: &Range<usize>, host: PlainHost) -> bool {
        self.first(Behind::Percent, place.start + host.end, place.end) == place.end
    }

    /// The first such byte in a range, or the end of the range.
    #[inline]
    fn first(&self, of: Behind, mut start: usize, end: usize) -> usize {
        let behind = self.behind();
        loop {
            let near = near(behind, of as usize, start);
            if near != 0 || end - start <= BLOCK {
                return (start + near.trailing_zeros() as usize).min(end);
            }
            start += BLOCK;
        }
    }
}

/// The bits of the 64 bytes from `at` on, of the words with this number.
#[inline(always)]
fn near<const N: usize>(blocks: &[[u64; N]], word: usize, at: usize) -> u64 {
    let (block, bit) = (at / BLOCK, at % BLOCK);
    let blocks: &[[u64; N]; 2] = blocks[block..].first_chunk().expect("there is a block behind it");
    blocks[0][word] >> bit | blocks[1][word] << 1 << (BLOCK - 1 - bit)
}

/// The plain hosts of lines that are asked for in their order. Only the bits of some lines are in memory, so that they stay in the cache.
#[derive(Debug)]
pub struct PlainHostsInTurn<'a> {
    text: &'a [u8],
    /// Where the piece begins that has bits.
    start: usize,
    piece: PlainHosts<'a>,
}

/// How many bytes have bits at a time.
const PIECE_LEN: usize = 1 << 15;

impl<'a> PlainHostsInTurn<'a> {
    /// Looks at no byte yet.
    #[must_use]
    pub fn of(text: &'a [u8]) -> Self {
        Self { text, start: 0, piece: PlainHosts::of(b"") }
    }

    /// The plain host of the line at `place`, which begins behind all lines before. Lines of more than 32 KiB count as having none.
    #[inline(always)]
    pub fn host(&mut self, place: &Range<usize>) -> Option<PlainHost> {
        if place.end > self.start + self.piece.text.len() {
            self.look_from(place.start);
        }
        let place = place.start - self.start..place.end - self.start;
        (place.end <= self.piece.text.len()).then(|| self.piece.host(&place))?
    }

    #[inline(never)]
    fn look_from(&mut self, start: usize) {
        let rest = &self.text[start..];
        let hosts = mem::take(&mut self.piece.hosts);
        self.start = start;
        self.piece = PlainHosts::in_memory(&rest[..rest.len().min(PIECE_LEN)], hosts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lines::places;
    use urlsift_grammar::random::Random;
    use urlsift_grammar::uri_parts::split;

    /// Compares all lines. Returns how many have a plain host.
    fn compare(text: &[u8]) -> usize {
        let (hosts, mut in_turn, mut n_plain) = (PlainHosts::of(text), PlainHostsInTurn::of(text), 0);
        for place in places(text) {
            let line = &text[place.clone()];
            let found = hosts.host(&place);
            assert_eq!(found, PlainHost::of(line), "{}", line.escape_ascii());
            let is_short = place.len() <= PIECE_LEN;
            assert_eq!(in_turn.host(&place), found.filter(|_| is_short), "{}", line.escape_ascii());
            let Some(host) = found else { continue };
            let parts = hosts.parts(&place, host).unwrap();
            let by_delimiters = split(line);
            assert_eq!(
                (parts.host(), parts.path(), parts.query(), parts.fragment()),
                (
                    by_delimiters.host.unwrap(),
                    by_delimiters.path,
                    by_delimiters.query,
                    by_delimiters.fragment
                ),
                "{}",
                line.escape_ascii()
            );
            let rest = &line[host.end..];
            let is_plain = rest.iter().all(|&byte| !matches!(byte, b'\'' | 0x80..))
                && !rest.windows(2).any(|pair| matches!(pair, b"/." | b"/%"));
            assert_eq!(hosts.has_plain_rest(&place, host), is_plain, "{}", line.escape_ascii());
            assert_eq!(hosts.has_no_escape(&place, host), !rest.contains(&b'%'), "{}", line.escape_ascii());
            n_plain += 1;
        }
        n_plain
    }

    #[test]
    fn hosts_and_components_are_those_of_each_line() {
        const PIECES: [&[u8]; 24] = [
            b"\nhttp://", b"\nhttps://", b"\nhttp://", b"\r\nhttps://a", b"HTTP://", b"a", b"b.c", b"-",
            b".", b"/", b"?", b"#", b"/.", b":", b"@", b"%", b"'", b"_", b"A", b"\xc3", b"\r", b"\n", b"z9",
            b"abcdefghijklmnopqrstuvwxyz0123456789",
        ];
        let mut random = Random::new(3);
        let mut n_plain = 0;
        for _ in 0..if cfg!(miri) { 20 } else { 3000 } {
            let pieces = (0..random.below(60)).map(|_| PIECES[random.below(PIECES.len())]);
            n_plain += compare(&pieces.collect::<Vec<_>>().concat());
        }
        assert!(n_plain > if cfg!(miri) { 1 } else { 3000 }, "{n_plain}");
    }

    #[test]
    #[cfg_attr(miri, ignore = "it takes hours")]
    fn a_piece_ends_in_any_part_of_a_line() {
        let (mut random, mut text) = (Random::new(7), String::new());
        for _ in 0..100 {
            while random.below(500) > 0 {
                let (host, path) = ("h".repeat(random.below(64)), "/".repeat(random.below(100)));
                text.extend(["http://", &host, &path, "\n"]);
            }
            text.extend(["http://h/", &"x".repeat(PIECE_LEN - 20 + random.below(40)), "\n"]);
        }
        assert!(compare(text.as_bytes()) > 30_000);
    }

    #[test]
    fn hosts_and_lines_of_any_length_at_any_place() {
        for before in 0..if cfg!(miri) { 3 } else { 2 * BLOCK } {
            for len in (0..70).step_by(if cfg!(miri) { 23 } else { 1 }) {
                for rest in [
                    "",
                    "/",
                    "/?#",
                    "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa?b#c/.d",
                    "_",
                ] {
                    let text = format!("{}\nhttps://{}{rest}", "x".repeat(before), "h".repeat(len));
                    compare(text.as_bytes());
                }
            }
        }
    }
}
