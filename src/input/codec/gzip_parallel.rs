//! Members of a gzip file decoded in advance, by threads that have nothing else to do.
//!
//! Nothing in a gzip file says where its members begin. So the file is read in blocks, and of blocks that lie ahead somebody
//! *guesses*: he looks for what could be the header of a member, decodes from there, member by member, to the end of the block,
//! and compares checksums and lengths. A guess serves where the decoder comes to the very byte at which it begins, at the end
//! of another member: then what it found is what the decoder would. Where it does not, for bytes that only look like a member
//! (a packed file in a packed file), it is dropped, and the decoder goes on by itself. So the result is the same with any
//! guesses, and with none.
//!
//! Members of some 10 kB to some 100 kB, as crawls and bgzip have, are found in time. What goes beyond a block and what is seen
//! behind it, or is larger than a guess may become, is left to the decoder: memory is bounded by the number of threads.
//!
//! Small members are decoded whole here too, where the decoder comes to them before anybody has guessed (`gzip_member`).
//! What is behind a block is read along with it only where a member begins: inside a large one nothing is copied.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::{Receiver, Sender, TryRecvError, bounded, unbounded};
use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

use super::MAGIC_LEN;
use super::gzip::WINDOW_BITS;
use super::gzip_member::{MAGIC, Member, Members};
use super::source::{Ahead, Source};
use crate::input::Supply;
use crate::input::workers::{Hands, Job};

/// Sizes of what is guessed. Any sizes give the same bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// How many compressed bytes are a guess.
    pub(super) block: usize,
    /// How many are seen behind a block: no member that is decoded whole is longer.
    pub(super) behind: usize,
    /// How many bytes may come of one.
    pub(super) guess: usize,
    /// How many guesses are asked for at most.
    pub(super) ahead: usize,
}

impl Sizes {
    /// Those for so many threads besides the decoder's.
    pub(super) fn of(threads: usize) -> Self {
        let ahead = if threads > 0 { threads + 2 } else { 0 };
        Self { block: 512 << 10, behind: 512 << 10, guess: 8 << 20, ahead }
    }
}

/// A source of compressed bytes, of which members are decoded in advance.
pub(super) struct Blocks<'a, R> {
    supply: Supply<R>,
    hands: Option<Hands<'a>>,
    sizes: Sizes,
    members: Members,
    /// The block at which the decoder is, and those behind it.
    window: VecDeque<Block>,
    /// Memory of blocks that nobody reads any more.
    spare: Vec<Vec<u8>>,
    /// Where the first block begins in the source.
    base: u64,
    /// How much of the first block has been used.
    used: usize,
    /// The guesses that have been asked for.
    ask: Sender<Job<'static>>,
    todo: Receiver<Job<'static>>,
    /// Where memory comes back to.
    home: Sender<Vec<u8>>,
    come_home: Receiver<Vec<u8>>,
}

/// All but the last of the window have been seen to their end.
struct Block {
    /// Room for its own, and for what is seen behind them.
    room: Arc<Vec<u8>>,
    /// How many are its own.
    len: usize,
    /// How many are its own or are seen behind them.
    end: usize,
    guess: Guessing,
}

impl Block {
    /// Its own bytes, and those that are seen behind them.
    fn bytes(&self) -> &[u8] {
        &self.room[..self.end]
    }

    /// Those that are seen behind its own.
    fn behind(&self) -> &[u8] {
        &self.room[self.len..self.end]
    }
}

/// How the guess of a block stands.
enum Guessing {
    /// It has not been asked for, or nothing has come of that.
    Open,
    /// It has been asked for: whether somebody has begun it, and where it comes out.
    Asked(Arc<AtomicBool>, Receiver<Guess>),
    Done(Guess),
}

/// What was found in a block.
#[derive(Default)]
struct Guess {
    /// Stretches of members that follow one another, ascending.
    stretches: Vec<Stretch>,
    /// What came of them all.
    bytes: Vec<u8>,
}

struct Stretch {
    /// Where in the block it begins, and where it ends, maybe behind the block.
    packed: Range<usize>,
    /// What came of it.
    bytes: Range<usize>,
}

impl<'a, R: Read> Blocks<'a, R> {
    pub(super) fn new(source: R, hands: Option<Hands<'a>>, sizes: Sizes) -> Self {
        let (home, come_home) = unbounded();
        let (ask, todo) = unbounded();
        Self {
            supply: Supply::new(source),
            hands,
            sizes,
            members: Members::new(),
            window: VecDeque::new(),
            spare: Vec::new(),
            base: 0,
            used: 0,
            ask,
            todo,
            home,
            come_home,
        }
    }

    /// Reads a block more, if there is one, and of what is behind it no more than has been seen.
    fn read_block(&mut self) {
        let mut room = self.spare.pop().unwrap_or_else(|| vec![0; self.sizes.block + self.sizes.behind]);
        let behind = self.window.back().map_or(&[][..], Block::behind);
        let mut end = behind.len();
        room[..end].copy_from_slice(behind);
        self.supply.fill(&mut room[..self.sizes.block.max(end)], &mut end, |_| false);
        if end > 0 {
            let len = end.min(self.sizes.block);
            self.window.push_back(Block { room: Arc::new(room), len, end, guess: Guessing::Open });
        } else {
            self.spare.push(room);
        }
    }

    /// Sees what is behind the last block, which takes reading only where a stream begins or the block is guessed.
    fn see_behind(&mut self) {
        // What is guessed has been seen.
        if let Some(last) = self.window.back_mut()
            && let Some(room) = Arc::get_mut(&mut last.room)
        {
            self.supply.fill(room, &mut last.end, |_| false);
            last.len = last.end.min(self.sizes.block);
        }
    }

    /// Whether there may be a block behind the last one.
    fn goes_on(&self) -> bool {
        let all_read = self.supply.ended || self.supply.failed.is_some();
        !all_read || self.window.back().is_some_and(|last| !last.behind().is_empty())
    }

    /// Whether the source ends with what is seen of this block, which has been seen behind.
    fn is_all(&self, block: &Block) -> bool {
        self.supply.ended && block.end < block.room.len()
    }

    /// Lets as many guesses be made as there are threads that have nothing to do.
    fn look_ahead(&mut self) {
        for n in 1..=self.sizes.ahead {
            while self.window.len() <= n && self.goes_on() {
                self.see_behind();
                self.read_block();
            }
            if matches!(self.window.get(n), Some(Block { guess: Guessing::Open, .. })) {
                self.see_behind();
                self.ask_for(n);
            }
        }
        while let Some(hands) = &self.hands
            && !self.todo.is_empty()
        {
            let todo = self.todo.clone();
            // Whoever takes one goes on with the others, so that nobody waits for this thread.
            if hands.offer(Box::new(move || todo.try_iter().for_each(|job| job()))).is_err() {
                return;
            }
        }
    }

    /// Asks for the guess of a block: whoever comes first makes it.
    fn ask_for(&mut self, n: usize) {
        let Block { ref room, len, end, .. } = self.window[n];
        let (room, is_all) = (room.clone(), self.is_all(&self.window[n]));
        let (send, receive) = bounded(1);
        let (most, spare) = (self.sizes.guess, self.come_home.clone());
        let begun = Arc::new(AtomicBool::new(false));
        self.window[n].guess = Guessing::Asked(begun.clone(), receive);
        let job = move || {
            if begun.swap(true, Ordering::Relaxed) {
                return;
            }
            let spare = spare.try_recv().unwrap_or_default();
            // Whoever wanted it may have gone on without.
            let _ = send.send(guess(&room[..end], len, is_all, most, spare));
        };
        let _ = self.ask.send(Box::new(job));
    }

    /// The guess of the first block, if somebody has begun it. Waits for it, and makes use of the time.
    fn guess(&mut self) -> Option<&mut Guess> {
        loop {
            let found = match &self.window.front()?.guess {
                Guessing::Open => return None,
                Guessing::Done(_) => break,
                Guessing::Asked(begun, guess) => {
                    if !begun.swap(true, Ordering::Relaxed) {
                        // The decoder is faster there.
                        self.window[0].guess = Guessing::Open;
                        return None;
                    }
                    // There may be another one to be made meanwhile.
                    match guess.try_recv() {
                        Err(TryRecvError::Empty) => match self.todo.try_recv() {
                            Ok(job) => {
                                job();
                                continue;
                            }
                            Err(_) => guess.recv().ok(),
                        },
                        found => found.ok(),
                    }
                }
            };
            // Without one it is lost with the thread that was at it.
            self.window[0].guess = found.map_or(Guessing::Open, Guessing::Done);
        }
        match &mut self.window.front_mut()?.guess {
            Guessing::Done(guess) => Some(guess),
            _ => None,
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
            match first.guess {
                Guessing::Done(guess) => self.give_back(guess.bytes),
                // Nobody needs to begin it any more.
                Guessing::Asked(begun, _) => begun.store(true, Ordering::Relaxed),
                Guessing::Open => {}
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
        let stretch = self.guess().and_then(|guess| {
            let stretch = guess.stretches.iter().find(|stretch| stretch.packed.start == at)?;
            let (packed_len, bytes) = (stretch.packed.len(), stretch.bytes.clone());
            // Nobody wants the others any more.
            guess.stretches.clear();
            Some(Ahead { bytes: std::mem::take(&mut guess.bytes), range: bytes, packed_len })
        });
        stretch.or_else(|| {
            self.see_behind();
            let first = self.window.front()?;
            let (packed, is_all) = (&first.bytes()[at..], self.is_all(first));
            let mut bytes = self.come_home.try_recv().unwrap_or_default();
            let mut found = self.members.decode(packed, is_all, &mut bytes);
            if let Member::NoRoom(len) = found {
                bytes.resize(len, 0);
                found = self.members.decode(packed, is_all, &mut bytes);
            }
            if let Member::Whole(packed_len, len) = found {
                return Some(Ahead { bytes, range: 0..len, packed_len });
            }
            self.give_back(bytes);
            None
        })
    }

    fn give_back(&mut self, bytes: Vec<u8>) {
        // None comes of a guess that was taken.
        if bytes.capacity() > 0 {
            let _ = self.home.send(bytes);
        }
    }
}

/// What members there seem to be that begin in the first `len` of `packed`, of which no more than `most` bytes come, in the
/// memory of `spare`, and not many more are decoded in vain. `is_all` says that nothing comes behind `packed`.
fn guess(packed: &[u8], len: usize, is_all: bool, most: usize, spare: Vec<u8>) -> Guess {
    let magic = memmem::Finder::new(MAGIC);
    let mut decompress = Decompress::new_gzip(WINDOW_BITS);
    let mut members = Members::new();
    // New memory is zeros as the system gives it, and what is never used of it is never there.
    let bytes = if spare.len() < most { vec![0; most] } else { spare };
    let mut guess = Guess { stretches: Vec::new(), bytes };
    let (mut at, mut to, mut n_wasted) = (0, 0, 0);
    // Whoever makes bytes that look like members, of which much comes, makes the decoder go alone.
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
                Found::Whole(packed_len, len) => (at, to) = (at + packed_len, to + len),
                Found::Cut => return guess.with(start..at, from..to),
                Found::Nothing(n) => (goes_on, n_wasted) = (false, n_wasted + n),
            }
        }
        guess = guess.with(start..at, from..to);
        at += usize::from(!goes_on);
    }
    guess
}

impl Guess {
    /// With these members, if there are some.
    fn with(mut self, packed: Range<usize>, bytes: Range<usize>) -> Self {
        if !packed.is_empty() {
            self.stretches.push(Stretch { packed, bytes });
        }
        self
    }
}

/// What became of what looks like a member.
enum Found {
    /// How many bytes it is, and how many came of it.
    Whole(usize, usize),
    /// It goes on behind what is there, or more comes of it than there is room for.
    Cut,
    /// It is none; how many bytes may have been decoded to see that.
    Nothing(usize),
}

/// Decodes the member with which `packed` begins, if it is one, as the decoder would: whole if it is small, step by step
/// otherwise.
fn decode(
    members: &mut Members,
    decompress: &mut Decompress,
    packed: &[u8],
    is_all: bool,
    room: &mut [u8],
) -> Found {
    let n_wasted = match members.decode(packed, is_all, room) {
        Member::Whole(packed_len, len) => return Found::Whole(packed_len, len),
        Member::NoRoom(_) => return Found::Cut,
        Member::Other(n) => n,
    };
    decompress.reset(true);
    let result = decompress.decompress(packed, room, FlushDecompress::None);
    let [read, written] = [decompress.total_in(), decompress.total_out()]
        .map(|total| usize::try_from(total).expect("no more than there is"));
    match result {
        Ok(Status::StreamEnd) => Found::Whole(read, written),
        Ok(_) => Found::Cut,
        Err(_) => Found::Nothing(n_wasted + written),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::thread;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use proptest::prelude::*;

    use super::super::source::Buffered;
    use super::super::{Codec, Decoder};
    use super::*;
    use crate::input::slow::Slow;

    fn packed(bytes: &[u8], level: u32) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(level));
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// What comes of a source, and what is wrong with it.
    fn decoded(source: impl Source, room: usize) -> (Vec<u8>, Option<String>, u64) {
        let mut decoder = Decoder::new(source, Codec::Gzip, None).unwrap();
        let (mut all, mut buffer) = (Vec::new(), vec![0; room]);
        loop {
            match decoder.read(&mut buffer) {
                Ok(0) => return (all, None, decoder.meter().bytes()),
                Ok(n) => all.extend(&buffer[..n]),
                Err(error) => return (all, Some(error.to_string()), decoder.meter().bytes()),
            }
        }
    }

    /// Part of a file: members of all sizes, packed again or not at all, padding, and what is none.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        let text = prop_oneof![
            Just(Vec::new()),
            "[a-d]{0,60}".prop_map(String::into_bytes),
            prop::collection::vec(any::<u8>(), 0..300),
            (0..20_000usize).prop_map(|n| b"http://h/\n".repeat(n / 10)),
        ];
        let member = (text, 0..10u32, 0..3u32);
        prop_oneof![
            // Level 0 leaves members inside a member as they are.
            20 => member.prop_map(|(text, level, times)| (0..times).fold(packed(&text, level), |bytes, _| packed(&bytes, 0))),
            1 => Just(vec![0; 7]),
            1 => Just(b"\x1f\x8b\x08\0".to_vec()),
        ]
    }

    /// A source that cannot be read behind some bytes, if it `fails`.
    fn source(bytes: &[u8], step: usize, fails: bool) -> impl Read + Send {
        struct Broken;
        impl Read for Broken {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("broken"))
            }
        }
        Slow(bytes, step).chain(Broken.take(u64::from(fails)))
    }

    fn with_hands<R>(n: usize, work: impl FnOnce(Hands<'_>) -> R) -> R {
        thread::scope(|scope| {
            let (hands, offered) = Hands::new(n);
            for _ in 0..n {
                let offered = offered.clone();
                scope.spawn(move || offered.work_off());
            }
            work(hands)
        })
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
            let found = with_hands(threads, |hands| decoded(Blocks::new(source(&bytes, step, fails), Some(hands), sizes), 777));
            let alone = decoded(Blocks::new(source(&bytes, step, fails), None, sizes), 777);
            prop_assert!(found == alone, "guesses change something");
            let by_steps = decoded(Buffered::new(source(&bytes, step, fails)), 1000);
            if let Some(error) = by_steps.1.as_ref().filter(|_| spoiled.is_some() && found.2 > by_steps.2) {
                // What was spoiled may be of no importance, as the checksum says; zlib is stricter about that.
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
        // One member is too large, and what comes before it is kept.
        let small = super::guess(&whole, whole.len(), true, 60_000, Vec::new());
        assert!(small.stretches[0].bytes.end > 40_000 && small.stretches[0].packed.end < whole.len());
        // What only looks like a member costs no more than members may.
        let mut false_one = packed(&[b'a'; 1000], 0);
        false_one.truncate(false_one.len() - 8);
        // The one stored block was the last; now it is not, and one of no kind that there is comes behind it.
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
        let mut blocks = with_hands(0, |hands| {
            let mut blocks = Blocks::new(
                &whole[..],
                Some(hands),
                Sizes { block, behind: block, guess: 1 << 20, ahead: 3 },
            );
            assert_eq!(
                blocks.decoded_ahead(0).unwrap().packed_len,
                members[0].len(),
                "the decoder is there itself"
            );
            blocks.todo.try_recv().unwrap()();
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
