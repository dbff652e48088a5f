//! Decodes members of a gzip file ahead of the decoder, on idle worker threads.
//!
//! A gzip file does not say where its members begin. So the file is read in blocks, and a worker thread *guesses* the
//! members of a block that the decoder has not reached yet. It searches for a member's header, decodes member by member
//! to the end of the block, and compares checksums and lengths. A guess is used only if a member ends exactly where the
//! guess begins: there the decoder would produce the same bytes. Otherwise the guess is dropped, because its bytes only
//! look like a member, as in a gzip file inside a gzip file. So the result is the same with any guesses, and without any.
//!
//! Guesses are in time for members of about 10 kB to about 100 kB, which web crawls and bgzip write. The decoder itself
//! handles a member that ends after the block and its lookahead, or whose output exceeds the limit of a guess. Memory is
//! bounded by the number of threads.
//!
//! Small members are decoded whole here too, if the decoder reaches them before a guess exists (`gzip_member`). The
//! lookahead after a block is read only where a member begins, so that nothing is copied inside a large member.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use super::MAGIC_LEN;
use super::gzip::WINDOW_BITS;
use super::gzip_member::{MAGIC, Member, Members};
use super::jobs::{Jobs, Requested, Shared};
use super::source::{Ahead, Source};
use crate::Supply;
use crate::memory::{is_free, lengthen};
use crate::workers::JobSender;

/// Sizes of blocks and guesses. Any sizes give the same decoded bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// Compressed bytes in a block. A guess covers one block.
    pub(super) block: usize,
    /// Compressed bytes of lookahead after a block. A member that begins in the block and is no longer than this ends in
    /// the lookahead at the latest.
    pub(super) behind: usize,
    /// Most decoded bytes of a guess.
    pub(super) guess: usize,
    /// For how many blocks ahead of the decoder guesses are requested.
    pub(super) ahead: usize,
}

impl Sizes {
    /// The sizes for `threads` worker threads besides the decoder's own thread.
    pub(super) fn of(threads: usize) -> Self {
        let ahead = if threads > 0 { threads + 2 } else { 0 };
        Self { block: 512 << 10, behind: 512 << 10, guess: 8 << 20, ahead }
    }
}

/// A source of compressed bytes that decodes members ahead of the decoder.
pub(super) struct Blocks<'a, R> {
    supply: Supply<R>,
    jobs: Jobs<'a>,
    sizes: Sizes,
    members: Members,
    /// The block that the decoder reads, and the blocks after it.
    window: VecDeque<Block>,
    /// Buffers of blocks that are no longer used.
    spare: Vec<Vec<u8>>,
    /// Offset of the first block in the source.
    base: u64,
    /// How many bytes of the first block the decoder has used.
    used: usize,
    /// Buffers of decoded bytes that are no longer used.
    spare_decoded: Shared<Vec<u8>>,
}

/// A block of compressed bytes. In the window, every block but the last has its whole lookahead.
struct Block {
    /// A buffer with room for the block and its lookahead.
    room: Arc<Vec<u8>>,
    /// Bytes in the block itself.
    len: usize,
    /// Bytes in the block and its lookahead.
    end: usize,
    guess: Requested<Guess>,
}

impl Block {
    /// The bytes of the block and its lookahead.
    fn bytes(&self) -> &[u8] {
        &self.room[..self.end]
    }

    /// The bytes of the lookahead.
    fn behind(&self) -> &[u8] {
        &self.room[self.len..self.end]
    }
}

/// The members that were found and decoded in a block.
#[derive(Default)]
struct Guess {
    /// Sequences of adjoining members, in ascending order.
    stretches: Vec<Stretch>,
    /// The decoded bytes of all these members.
    bytes: Vec<u8>,
}

struct Stretch {
    /// The compressed bytes, as a range of the block. It may end in the lookahead.
    packed: Range<usize>,
    /// The decoded bytes, as a range of `Guess::bytes`.
    bytes: Range<usize>,
}

impl<'a, R: Read> Blocks<'a, R> {
    pub(super) fn new(source: R, workers: Option<JobSender<'a>>, sizes: Sizes) -> Self {
        Self {
            supply: Supply::new(source),
            jobs: Jobs::new(workers),
            sizes,
            members: Members::new(),
            window: VecDeque::new(),
            spare: Vec::new(),
            base: 0,
            used: 0,
            spare_decoded: Shared::new(),
        }
    }

    /// Appends the next block, if there is one. It begins with the last block's lookahead. Its own lookahead is not read
    /// yet.
    fn read_block(&mut self) {
        let mut room = self.spare.pop().unwrap_or_else(|| vec![0; self.sizes.block + self.sizes.behind]);
        let behind = self.window.back().map_or(&[][..], Block::behind);
        let mut end = behind.len();
        room[..end].copy_from_slice(behind);
        self.supply.fill(&mut room[..self.sizes.block.max(end)], &mut end, |_| false);
        if end > 0 {
            let len = end.min(self.sizes.block);
            self.window.push_back(Block { room: Arc::new(room), len, end, guess: Requested::Open });
        } else {
            self.spare.push(room);
        }
    }

    /// Reads the lookahead of the last block. It is needed where a stream begins, and for a guess.
    fn see_behind(&mut self) {
        // A buffer that a guess shares already has its lookahead.
        if let Some(last) = self.window.back_mut()
            && let Some(room) = Arc::get_mut(&mut last.room)
        {
            self.supply.fill(room, &mut last.end, |_| false);
            last.len = last.end.min(self.sizes.block);
        }
    }

    /// Whether another block may follow the last one.
    fn goes_on(&self) -> bool {
        let all_read = self.supply.ended || self.supply.failed.is_some();
        !all_read || self.window.back().is_some_and(|last| !last.behind().is_empty())
    }

    /// Whether the source ends where this block's lookahead does. The lookahead must have been read.
    fn is_all(&self, block: &Block) -> bool {
        self.supply.ended && block.end < block.room.len()
    }

    /// Requests guesses for the next blocks, and offers them to idle worker threads.
    fn look_ahead(&mut self) {
        for n in 1..=self.sizes.ahead {
            while self.window.len() <= n && self.goes_on() {
                self.see_behind();
                self.read_block();
            }
            if matches!(self.window.get(n), Some(Block { guess: Requested::Open, .. })) {
                self.see_behind();
                self.ask_for(n);
            }
        }
        self.jobs.offer();
    }

    /// Puts the guess of block `n` into the queue. The first free thread makes it.
    fn ask_for(&mut self, n: usize) {
        let Block { ref room, len, end, .. } = self.window[n];
        let (room, is_all) = (room.clone(), self.is_all(&self.window[n]));
        let (most, spare) = (self.sizes.guess, self.spare_decoded.clone());
        self.window[n].guess = self.jobs.request(move || {
            let spare = spare.take().unwrap_or_default();
            guess(&room[..end], len, is_all, most, spare)
        });
    }

    /// Keeps a buffer of decoded bytes for the next guess.
    fn reuse(&self, bytes: Vec<u8>) {
        // The buffer of a guess that was used is empty, because it was moved out.
        if bytes.capacity() > 0 {
            self.spare_decoded.put(bytes);
        }
    }
}

impl<R: Read + Send> Source for Blocks<'_, R> {
    fn rest(&self) -> &[u8] {
        self.window.front().map_or(&[], |block| &block.bytes()[self.used..])
    }

    fn head(&self) -> Vec<u8> {
        let own = self.window.iter().flat_map(|block| &block.room[..block.len]);
        let behind = self.window.back().into_iter().flat_map(Block::behind);
        own.chain(behind).skip(self.used).take(MAGIC_LEN).copied().collect()
    }

    fn use_up(&mut self, n: usize) {
        self.used += n;
        while let Some(first) = self.window.front()
            && self.used >= first.len
        {
            if self.window.len() == 1 && !first.behind().is_empty() {
                self.read_block();
            }
            let Some(first) = self.window.pop_front() else { return };
            self.used -= first.len;
            self.base += first.len as u64;
            self.spare.extend(Arc::into_inner(first.room));
            if let Some(guess) = first.guess.withdraw() {
                self.reuse(guess.bytes);
            }
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        let len = self.head().len();
        if len >= MAGIC_LEN {
            return Ok(false);
        }
        self.see_behind();
        if self.head().len() == len {
            self.read_block();
        }
        let grew = self.head().len() > len;
        self.supply.failed.take_if(|_| !grew).map_or(Ok(true), Err)
    }

    fn has_ended(&self) -> bool {
        self.supply.ended
    }

    fn decoded_ahead(&mut self, used: u64) -> Option<Ahead> {
        self.look_ahead();
        if self.window.is_empty() {
            self.read_block();
        }
        let at = usize::try_from(used - self.base).ok()?;
        let guess = self.window.front_mut().and_then(|first| self.jobs.result(&mut first.guess));
        let stretch = guess.and_then(|guess| {
            let stretch = guess.stretches.iter().find(|stretch| stretch.packed.start == at)?;
            let (packed_len, bytes) = (stretch.packed.len(), stretch.bytes.clone());
            // The buffer leaves with this sequence of members, so the other sequences are dropped.
            guess.stretches.clear();
            Some(Ahead { bytes: std::mem::take(&mut guess.bytes), range: bytes, packed_len, reserved: None })
        });
        stretch.or_else(|| {
            self.see_behind();
            let first = self.window.front()?;
            let (packed, is_all) = (&first.bytes()[at..], self.is_all(first));
            let mut bytes = self.spare_decoded.take().unwrap_or_default();
            let mut found = self.members.decode(packed, is_all, &mut bytes);
            if let Member::NoRoom(len) = found
                && lengthen(&mut bytes, len).is_ok()
            {
                found = self.members.decode(packed, is_all, &mut bytes);
            }
            if let Member::Whole(packed_len, len) = found {
                return Some(Ahead { bytes, range: 0..len, packed_len, reserved: None });
            }
            self.reuse(bytes);
            None
        })
    }

    fn give_back(&mut self, ahead: Ahead) {
        self.reuse(ahead.bytes);
    }
}

/// Decodes what seem to be members that begin in the first `len` bytes of `packed`. Decodes at most `most` bytes, into
/// the memory of `spare`, and stops after about as many bytes were decoded in vain. `is_all` says that the source ends
/// with `packed`.
fn guess(packed: &[u8], len: usize, is_all: bool, most: usize, spare: Vec<u8>) -> Guess {
    let magic = memmem::Finder::new(MAGIC);
    let mut decompress = Decompress::new_gzip(WINDOW_BITS);
    let mut members = Members::new();
    // The system zeroes new memory, and pages that are never written take no memory.
    if spare.len() < most && !is_free(most as u64) {
        return Guess::default();
    }
    let bytes = if spare.len() < most { vec![0; most] } else { spare };
    let mut guess = Guess { stretches: Vec::new(), bytes };
    let (mut at, mut to, mut n_wasted) = (0, 0, 0);
    // In a hostile file, many false members decode to much output. Guessing then stops, and the decoder works alone.
    while at < len
        && n_wasted <= most
        && let Some(found) = magic.find(&packed[at..])
        && at + found < len
    {
        let (start, from) = (at + found, to);
        at = start;
        let mut goes_on = true;
        while goes_on && at < len && packed[at..].starts_with(MAGIC) {
            let room = &mut guess.bytes[to..];
            match decode(&mut members, &mut decompress, &packed[at..], is_all, room) {
                MemberGuess::Whole(packed_len, len) => (at, to) = (at + packed_len, to + len),
                MemberGuess::Cut => return guess.with(start..at, from..to),
                MemberGuess::Nothing(n) => (goes_on, n_wasted) = (false, n_wasted + n),
            }
        }
        guess = guess.with(start..at, from..to);
        at += usize::from(!goes_on);
    }
    guess
}

impl Guess {
    /// Appends a sequence of members, unless it is empty.
    fn with(mut self, packed: Range<usize>, bytes: Range<usize>) -> Self {
        if !packed.is_empty() {
            self.stretches.push(Stretch { packed, bytes });
        }
        self
    }
}

/// The result of decoding bytes that look like a member.
enum MemberGuess {
    /// A whole member: its compressed length and its decoded length.
    Whole(usize, usize),
    /// The member continues after the available bytes, or its output exceeds the buffer.
    Cut,
    /// Not a member: how many bytes may have been decoded to find that out.
    Nothing(usize),
}

/// Decodes the member at the start of `packed`, if there is one, with the same result as the decoder. Small members are
/// decoded whole by `Members`, others by zlib-rs.
fn decode(
    members: &mut Members,
    decompress: &mut Decompress,
    packed: &[u8],
    is_all: bool,
    room: &mut [u8],
) -> MemberGuess {
    let n_wasted = match members.decode(packed, is_all, room) {
        Member::Whole(packed_len, len) => return MemberGuess::Whole(packed_len, len),
        Member::NoRoom(_) => return MemberGuess::Cut,
        Member::Other(n) => n,
    };
    decompress.reset(true);
    let result = decompress.decompress(packed, room, FlushDecompress::None);
    let [read, written] = [decompress.total_in(), decompress.total_out()]
        .map(|total| usize::try_from(total).expect("no more than there is"));
    match result {
        Ok(Status::StreamEnd) => MemberGuess::Whole(read, written),
        Ok(_) => MemberGuess::Cut,
        Err(_) => MemberGuess::Nothing(n_wasted + written),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::super::Codec;
    use super::super::decoder::decoded;
    use super::super::source::Buffered;
    use super::*;
    use crate::slow_source::slow_and_failing;
    use crate::workers::with_workers;

    fn packed(bytes: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// A part of a file: members of all sizes, nested members, padding, and bytes that are no member.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        let text = prop_oneof![
            Just(Vec::new()),
            "[a-d]{0,60}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..300),
            (0..20_000usize).prop_map(|n| b"http://h/\n".repeat(n / 10)),
        ];
        let member = (text, 0..10u32, 0..3u32);
        prop_oneof![
            // Level 0 stores the inner member as it is.
            20 => member.prop_map(|(text, level, times)| (0..times).fold(packed(&text, level), |bytes, _| packed(&bytes, 0))),
            1 => Just(vec![0; 7]),
            1 => Just(b"\x1f\x8b\x08\0".to_vec()),
        ]
    }

    proptest! {
        #[test]
        fn guesses_change_nothing(
            parts in prop::collection::vec(part(), 1..20),
            cut in any::<prop::sample::Index>(),
            spoiled in prop::option::of(any::<prop::sample::Index>()),
            block in 1..3000usize,
            guess in 1..20_000usize,
            behind in 0..3000usize,
            ahead in 0..5usize,
            threads in 0..3usize,
            step in 1..3000usize,
            fails: bool,
        ) {
            let mut bytes = [packed(b"x\n", 6), parts.concat()].concat();
            if cut.index(3) == 0 {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(at) = spoiled && !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= 0x10;
            }
            let sizes = Sizes { block, behind, guess, ahead };
            let found = with_workers(threads, |workers, _| {
                decoded(Blocks::new(slow_and_failing(&bytes, step, fails), Some(workers), sizes), Codec::Gzip, 777)
            });
            let alone = decoded(Blocks::new(slow_and_failing(&bytes, step, fails), None, sizes), Codec::Gzip, 777);
            prop_assert!(found == alone, "guesses change something");
            let by_steps = decoded(Buffered::new(slow_and_failing(&bytes, step, fails)), Codec::Gzip, 1000);
            if let Some(error) = by_steps.1.as_ref().filter(|_| spoiled.is_some() && found.2 > by_steps.2) {
                // The flipped bit may leave the output and its checksum unchanged. zlib refuses some of these members.
                prop_assert!(error.contains("no compressed data can be so"), "{}", error);
                prop_assert!(found.0.starts_with(&by_steps.0));
            } else {
                prop_assert_eq!((found.0.len(), found.1, found.2), (by_steps.0.len(), by_steps.1, by_steps.2));
                prop_assert!(found.0 == by_steps.0, "other bytes");
            }
        }
    }

    #[test]
    fn guesses_are_of_use() {
        let members: Vec<_> =
            (0..40u32).map(|n| packed(format!("http://h/{n}\n").repeat(500).as_bytes(), 6)).collect();
        let whole = members.concat();
        let block = whole.len() / 8;
        let guess = guess(&whole[block..block * 3], block, false, 1 << 20, Vec::new());
        assert_eq!(guess.stretches.len(), 1);
        let stretch = &guess.stretches[0];
        assert!(stretch.packed.end >= block && stretch.bytes.len() > 10_000);
        // One member is too large. The members before it are kept.
        let small = super::guess(&whole, whole.len(), true, 60_000, Vec::new());
        assert!(small.stretches[0].bytes.end > 40_000 && small.stretches[0].packed.end < whole.len());
        // False members are tried until more than `most` bytes were decoded in vain.
        let mut false_one = packed(&[b'a'; 1000], 0);
        false_one.truncate(false_one.len() - 8);
        // The only stored block is no longer marked as the last one, and a block of the reserved type follows.
        false_one[10] = 0;
        false_one.push(0b110);
        for (times, expected) in [(2, 1), (3, 0)] {
            let bytes = [false_one.repeat(times), packed(b"http://h/\n", 6)].concat();
            assert_eq!(
                super::guess(&bytes, bytes.len(), true, 2500, Vec::new()).stretches.len(),
                expected,
                "{times}"
            );
        }
        let mut blocks = with_workers(0, |workers, _| {
            let mut blocks = Blocks::new(
                &whole[..],
                Some(workers),
                Sizes { block, behind: block, guess: 1 << 20, ahead: 3 },
            );
            assert_eq!(
                blocks.decoded_ahead(0).unwrap().packed_len,
                members[0].len(),
                "the decoder is there itself"
            );
            assert!(blocks.jobs.do_one());
            let mut used = 0;
            members.iter().find_map(|member| {
                blocks.use_up(member.len());
                used += member.len() as u64;
                blocks.decoded_ahead(used).filter(|ahead| ahead.packed_len > 2 * member.len())
            })
        });
        let ahead = blocks.take().unwrap();
        assert_eq!(ahead.packed_len, stretch.packed.len());
        assert!(ahead.bytes[ahead.range] == guess.bytes[stretch.bytes.clone()]);
    }
}
