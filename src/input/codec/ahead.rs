//! Members of a gzip file decoded in advance, by threads that have nothing else to do.
//!
//! Nothing in a gzip file says where its members begin. So the file is read in blocks, and of blocks that lie ahead somebody
//! *guesses*: he looks for what could be the header of a member, decodes from there, member by member, to the end of the block,
//! and compares checksums and lengths. A guess serves where the decoder comes to the very byte at which it begins, at the end
//! of another member: then what it found is what the decoder would. Where it does not, for bytes that only look like a member
//! (a packed file in a packed file), it is dropped, and the decoder goes on by itself. So the result is the same with any
//! guesses, and with none.
//!
//! Members of some 10 kB to some 100 kB, as crawls and bgzip have, are found in time. What goes beyond a block and the next, or
//! is larger than a guess may become, is left to the decoder: memory is bounded by the number of threads.

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
use super::source::{Ahead, Source, read_some};
use crate::hands::{Hands, Job};

/// Sizes of what is guessed. Any sizes give the same bytes.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    /// How many compressed bytes are a guess.
    pub(super) block: usize,
    /// How many bytes may come of one.
    pub(super) guess: usize,
    /// How many blocks lie ahead at most.
    pub(super) ahead: usize,
}

impl Sizes {
    /// Those for so many threads.
    pub(super) fn of(threads: usize) -> Self {
        Self { block: 512 << 10, guess: 8 << 20, ahead: threads + 2 }
    }
}

/// A source of compressed bytes, of which members are decoded in advance.
pub(super) struct Blocks<'a, R> {
    source: R,
    hands: Hands<'a>,
    sizes: Sizes,
    /// The block at which the decoder is, and those behind it.
    window: VecDeque<Block>,
    /// Where the first block begins in the source.
    base: u64,
    /// How much of the first block has been used.
    used: usize,
    source_ended: bool,
    /// What reading the source came to, behind the last block.
    failed: Option<io::Error>,
    /// The guesses that have been asked for.
    ask: Sender<Job<'static>>,
    todo: Receiver<Job<'static>>,
    /// Where memory comes back to.
    home: Sender<Vec<u8>>,
    come_home: Receiver<Vec<u8>>,
}

struct Block {
    bytes: Arc<Vec<u8>>,
    guess: Guessing,
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
    pub(super) fn new(source: R, hands: Hands<'a>, sizes: Sizes) -> Self {
        let (home, come_home) = unbounded();
        let (ask, todo) = unbounded();
        Self {
            source,
            hands,
            sizes,
            window: VecDeque::new(),
            base: 0,
            used: 0,
            source_ended: false,
            failed: None,
            ask,
            todo,
            home,
            come_home,
        }
    }

    /// Reads a block more.
    fn read_block(&mut self) {
        let mut bytes = vec![0; self.sizes.block];
        let mut len = 0;
        while len < bytes.len() && !self.source_ended && self.failed.is_none() {
            match read_some(&mut self.source, &mut bytes[len..]) {
                Ok(0) => self.source_ended = true,
                Ok(n) => len += n,
                Err(error) => self.failed = Some(error),
            }
        }
        bytes.truncate(len);
        if len > 0 {
            self.window.push_back(Block { bytes: Arc::new(bytes), guess: Guessing::Open });
        }
    }

    /// Lets as many guesses be made as there are threads that have nothing to do.
    fn look_ahead(&mut self) {
        for n in 1..=self.sizes.ahead {
            // A member may end in the block behind.
            while self.window.len() <= n + 1 && !self.source_ended && self.failed.is_none() {
                self.read_block();
            }
            if matches!(self.window.get(n), Some(Block { guess: Guessing::Open, .. })) {
                self.ask_for(n);
            }
        }
        while !self.todo.is_empty() {
            let todo = self.todo.clone();
            // Whoever takes one goes on with the others, so that nobody waits for this thread.
            if self.hands.offer(Box::new(move || todo.try_iter().for_each(|job| job()))).is_err() {
                return;
            }
        }
    }

    /// Asks for the guess of a block: whoever comes first makes it.
    fn ask_for(&mut self, n: usize) {
        let block = self.window[n].bytes.clone();
        let behind = self.window.get(n + 1).map(|block| block.bytes.clone()).unwrap_or_default();
        let (send, receive) = bounded(1);
        let (most, spare) = (self.sizes.guess, self.come_home.clone());
        let begun = Arc::new(AtomicBool::new(false));
        self.window[n].guess = Guessing::Asked(begun.clone(), receive);
        let job = move || {
            if begun.swap(true, Ordering::Relaxed) {
                return;
            }
            let bytes = [&block[..], &behind].concat();
            let spare = spare.try_recv().unwrap_or_default();
            // Whoever wanted it may have gone on without.
            let _ = send.send(guess(&bytes, block.len(), most, spare));
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
        self.window.front().map_or(&[], |block| &block.bytes[self.used..])
    }

    fn head(&self) -> Vec<u8> {
        let bytes = self.window.iter().flat_map(|block| block.bytes.iter());
        bytes.skip(self.used).take(MAGIC_LEN).copied().collect()
    }

    fn use_up(&mut self, n: usize) {
        self.used += n;
        while let Some(first) = self.window.front()
            && self.used >= first.bytes.len()
        {
            self.used -= first.bytes.len();
            self.base += first.bytes.len() as u64;
            match self.window.pop_front().map(|block| block.guess) {
                Some(Guessing::Done(guess)) => self.give_back(guess.bytes),
                // Nobody needs to begin it any more.
                Some(Guessing::Asked(begun, _)) => begun.store(true, Ordering::Relaxed),
                _ => {}
            }
        }
    }

    fn fill(&mut self) -> io::Result<bool> {
        if self.head().len() >= MAGIC_LEN {
            return Ok(false);
        }
        self.read_block();
        self.failed.take_if(|_| self.window.is_empty()).map_or(Ok(true), Err)
    }

    fn has_ended(&self) -> bool {
        self.source_ended
    }

    fn decoded_ahead(&mut self, used: u64) -> Option<Ahead> {
        self.look_ahead();
        let at = usize::try_from(used - self.base).ok()?;
        let guess = self.guess()?;
        let stretch = guess.stretches.iter().find(|stretch| stretch.packed.start == at)?;
        let (packed_len, bytes) = (stretch.packed.len(), stretch.bytes.clone());
        // Nobody wants the others any more.
        let mut all = std::mem::take(&mut guess.bytes);
        guess.stretches.clear();
        all.truncate(bytes.end);
        Some(Ahead { bytes: all, from: bytes.start, packed_len })
    }

    fn give_back(&mut self, bytes: Vec<u8>) {
        // None comes of a guess that was taken.
        if bytes.capacity() > 0 {
            let _ = self.home.send(bytes);
        }
    }
}

/// With what a member begins: the two bytes that say that it is one, and the one method that there is (RFC 1952, section 2.3.1).
const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// What members there seem to be that begin in the first `len` of `packed`, of which about `most` bytes may come, in the
/// memory of `spare`.
fn guess(packed: &[u8], len: usize, most: usize, spare: Vec<u8>) -> Guess {
    let magic = memmem::Finder::new(MAGIC);
    let mut decompress = Decompress::new_gzip(WINDOW_BITS);
    let mut guess = Guess { stretches: Vec::new(), bytes: spare };
    guess.bytes.clear();
    guess.bytes.reserve_exact(most);
    let mut at = 0;
    while at < len
        && let Some(found) = magic.find(&packed[at..])
        && at + found < len
    {
        let (start, from) = (at + found, guess.bytes.len());
        at = start;
        let mut end = End::Whole;
        while matches!(end, End::Whole) && at < len && packed[at..].starts_with(MAGIC) {
            let member_len;
            (end, member_len) = decode_member(&mut decompress, &packed[at..], &mut guess.bytes);
            at += member_len;
        }
        if at > start {
            guess.stretches.push(Stretch { packed: start..at, bytes: from..guess.bytes.len() });
        }
        match end {
            End::Whole => {}
            End::Cut => break,
            End::None => at += 1,
        }
    }
    guess
}

/// What became of a member.
enum End {
    Whole,
    /// It goes on behind what is there, or more comes of it than there is room for.
    Cut,
    /// It is none.
    None,
}

/// Decodes the member with which `packed` begins, if it is one; how long it is.
fn decode_member(decompress: &mut Decompress, packed: &[u8], bytes: &mut Vec<u8>) -> (End, usize) {
    decompress.reset(true);
    let from = bytes.len();
    let result = decompress.decompress_vec(packed, bytes, FlushDecompress::None);
    if let Ok(Status::StreamEnd) = result {
        return (End::Whole, usize::try_from(decompress.total_in()).expect("no more than there is"));
    }
    bytes.truncate(from);
    (if result.is_ok() { End::Cut } else { End::None }, 0)
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

    fn with_hands<R>(n: usize, work: impl FnOnce(Hands<'_>) -> R) -> R {
        thread::scope(|scope| {
            let (hands, offered) = Hands::new();
            for _ in 0..n {
                let offered = offered.clone();
                scope.spawn(move || offered.into_iter().for_each(|job| job()));
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
            ahead in 1..5usize,
            threads in 0..3usize,
        ) {
            let mut bytes = [packed(b"x\n", 6), parts.concat()].concat();
            if cut.index(3) == 0 {
                bytes.truncate(cut.index(bytes.len()));
            }
            if let Some(at) = spoiled && !bytes.is_empty() {
                let at = at.index(bytes.len());
                bytes[at] ^= 0x10;
            }
            let expected = decoded(Buffered::new(&bytes[..]), 1000);
            let found = with_hands(threads, |hands| {
                decoded(Blocks::new(&bytes[..], hands, Sizes { block, guess, ahead }), 777)
            });
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn guesses_are_of_use() {
        let members: Vec<_> =
            (0..40u32).map(|n| packed(format!("http://h/{n}\n").repeat(500).as_bytes(), 6)).collect();
        let whole = members.concat();
        let block = whole.len() / 8;
        let guess = guess(&whole[block..block * 3], block, 1 << 20, Vec::new());
        assert_eq!(guess.stretches.len(), 1);
        let stretch = &guess.stretches[0];
        assert!(stretch.packed.end >= block && stretch.bytes.len() > 10_000);
        // One member is too large, and what comes before it is kept.
        let small = super::guess(&whole, whole.len(), 60_000, Vec::new());
        assert!(small.bytes.len() > 40_000 && small.stretches[0].packed.end < whole.len());
        let mut blocks = with_hands(0, |hands| {
            let mut blocks = Blocks::new(&whole[..], hands, Sizes { block, guess: 1 << 20, ahead: 3 });
            assert!(blocks.decoded_ahead(0).is_none(), "the decoder is there itself");
            blocks.todo.try_recv().unwrap()();
            let mut used = 0;
            members.iter().find_map(|member| {
                blocks.use_up(member.len());
                used += member.len() as u64;
                blocks.decoded_ahead(used)
            })
        });
        let ahead = blocks.take().unwrap();
        assert_eq!(ahead.packed_len, stretch.packed.len());
        assert!(ahead.bytes[ahead.from..] == guess.bytes[stretch.bytes.clone()]);
    }
}
