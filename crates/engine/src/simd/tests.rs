//! Compares every operation of every kernel with the portable kernel.

use super::every_kernel::{Visit, each};
use super::portable::{Portable, Words};
use super::{BLOCK, BORDER, Blocks, Counts, Job, Kernel, LANES, Word};
use crate::simd::byte_class::{Classes, N_CLASSES, OfCodes};
use urlsift_grammar::random::Random;

#[cfg(all(unix, not(miri)))]
mod page;

/// How many random cases are drawn. Miri is slow.
const TIMES: usize = if cfg!(miri) { 3 } else { 3000 };

/// The value in elements for lanes that a kernel does not have.
const NOT_A_LANE: u64 = 0x0123_4567_89ab_cdef;

/// Words and blocks for the operations of kernels.
trait Draw {
    /// A word whose bits are set half of the time, seldom, or mostly.
    fn word(&mut self) -> u64;
    fn words(&mut self) -> [u64; LANES];
    fn block(&mut self) -> [u8; BLOCK];
}

impl Draw for Random {
    fn word(&mut self) -> u64 {
        let (a, b) = (self.next(), self.next());
        [a, a & b & self.next(), a | b | self.next()][usize::try_from(self.next() % 3).unwrap()]
    }

    fn words(&mut self) -> [u64; LANES] {
        std::array::from_fn(|_| self.word())
    }

    fn block(&mut self) -> [u8; BLOCK] {
        std::array::from_fn(|_| self.next().to_le_bytes()[0])
    }
}

/// Words that test the borders of bytes, of counter fields and of words.
fn edges() -> Vec<u64> {
    let mut edges = vec![0, u64::MAX, 0x5555_5555_5555_5555, 0xaaaa_aaaa_aaaa_aaaa, 0x00ff_00ff_00ff_00ff];
    for bit in [0, 1, 7, 8, 15, 16, 31, 32, 47, 48, 62, 63] {
        edges.extend([1 << bit, !(1 << bit), (1 << bit) - 1, u64::MAX << bit]);
    }
    edges
}

/// A kernel's word with these lanes. It is loaded from blocks with an LF at each bit.
#[inline(always)]
fn loaded<K: Kernel>(kernel: K, words: [u64; LANES]) -> K::Word {
    let blocks = words.map(|word| -> [u8; BLOCK] {
        std::array::from_fn(|bit| if word >> bit & 1 == 1 { b'\n' } else { 0 })
    });
    let blocks = Blocks::new(&blocks.each_ref().map(|block| &block[..]), K::LANES);
    K::Classes::from(kernel.planes::<true>(&blocks, 0)).newline()
}

#[inline(always)]
fn stored(word: impl Word) -> [u64; LANES] {
    let mut lanes = [NOT_A_LANE; LANES];
    word.store(&mut lanes);
    lanes
}

/// # Panics
///
/// If the lanes that the kernel has are not as expected, or if other elements have been written.
#[inline(always)]
fn expect<K: Kernel>(word: K::Word, expected: Words, what: &str) {
    let Words(mut expected) = expected;
    expected[K::LANES..].fill(NOT_A_LANE);
    assert_eq!(stored(word), expected, "{what} of {} lanes", K::LANES);
}

/// All operations of a kernel on two words.
struct OnTwoWords<K>(K, [u64; LANES], [u64; LANES]);

impl<K: Kernel> Job for OnTwoWords<K> {
    #[inline(always)]
    fn run(self) {
        let Self(kernel, one, two) = self;
        let (a, b) = (loaded(kernel, one), loaded(kernel, two));
        let (one, two) = (Words(one), Words(two));
        expect::<K>(a, one, "load");
        expect::<K>(a & b, one & two, "and");
        expect::<K>(a | b, one | two, "or");
        expect::<K>(a ^ b, one ^ two, "xor");
        expect::<K>(!a, !one, "not");
        expect::<K>(a.made(), one, "made");
        expect::<K>(a.moved(b.going_on()), one.moved(two.going_on()), "moved");
        expect::<K>(a.plus(b), one.plus(two), "plus");
        expect::<K>(a.top(), one.top(), "top");
        let own = (1 << K::LANES) - 1;
        assert_eq!(a.lanes(), one.lanes() & own, "lanes");
        assert_eq!(a.is_at_border(), one.0[..K::LANES].iter().any(|lane| lane & BORDER != 0), "border");
        assert_eq!(a.any(), one.lanes() & own != 0, "any");
    }
}

/// A word with the same bits in all lanes.
struct OnSplat<K>(K, u64);

impl<K: Kernel> Job for OnSplat<K> {
    #[inline(always)]
    fn run(self) {
        expect::<K>(self.0.splat(self.1), Words([self.1; LANES]), "splat");
    }
}

struct OnWords;

impl Visit for OnWords {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
        println!("{name}");
        let edges = edges();
        // Neighbouring lanes differ, so that a bit from the wrong lane is noticed.
        for shift in (0..edges.len()).step_by(if cfg!(miri) { 9 } else { 1 }) {
            for from in (0..edges.len()).step_by(if cfg!(miri) { 30 } else { 1 }) {
                let one = std::array::from_fn(|lane| edges[(from + lane) % edges.len()]);
                let two = std::array::from_fn(|lane| edges[(from + shift + 3 * lane) % edges.len()]);
                kernel.run(OnTwoWords(kernel, one, two));
            }
        }
        let mut numbers = Random::new(1);
        for _ in 0..TIMES {
            kernel.run(OnTwoWords(kernel, numbers.words(), numbers.words()));
        }
        for &edge in &edges {
            kernel.run(OnSplat(kernel, edge));
        }
        // A single bit in a single lane.
        for n in (0..64 * LANES).step_by(if cfg!(miri) { 71 } else { 1 }) {
            let alone = std::array::from_fn(|lane| if lane == n / 64 { 1 << (n % 64) } else { 0 });
            kernel.run(OnTwoWords(kernel, alone, [0; LANES]));
        }
    }
}

#[test]
fn words() {
    each(&mut OnWords);
}

/// Counters of random words.
struct OnRandomCounts<K>(K);

impl<K: Kernel> Job for OnRandomCounts<K> {
    #[inline(always)]
    fn run(self) {
        let Self(kernel) = self;
        let mut numbers = Random::new(2);
        for n in 0..TIMES.div_ceil(30) {
            let (mut counts, mut expected) = (kernel.counts(), [0; 4]);
            // Fills the counters: with all bits, with random bits, or with at most one bit per byte.
            let mut room = K::Counts::ROOM.min(if cfg!(miri) { 40 } else { 300 });
            while room >= K::Counts::CROWD {
                let counted: [[u64; LANES]; 4] = std::array::from_fn(|_| match (n + room) % 5 {
                    _ if n % 7 == 0 => [u64::MAX; LANES],
                    _ if n % 7 == 1 => [0x8040_2010_0804_0201; LANES],
                    0 | 1 => std::array::from_fn(|_| {
                        u64::from_le_bytes(std::array::from_fn(|_| {
                            [0, 0, 0, 1, 1 << 3, 1 << 4, 1 << 6, 1 << 7]
                                [numbers.next().trailing_zeros() as usize % 8]
                        }))
                    }),
                    _ => numbers.words(),
                });
                for (expected, lanes) in expected.iter_mut().zip(counted) {
                    *expected +=
                        lanes[..K::LANES].iter().map(|lane| u64::from(lane.count_ones())).sum::<u64>();
                }
                let words = counted.map(|words| loaded(kernel, words));
                let all = words[0] | words[1] | words[2] | words[3];
                if all.is_crowded() {
                    counts.add::<true>(words);
                    room -= K::Counts::CROWD;
                } else {
                    counts.add::<false>(words);
                    room -= 1;
                }
            }
            assert_eq!(counts.totals(), expected, "counts of {} lanes", K::LANES);
        }
    }
}

struct OnCounts;

impl Visit for OnCounts {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
        println!("{name}");
        kernel.run(OnRandomCounts(kernel));
    }
}

#[test]
fn counts() {
    each(&mut OnCounts);
}

/// Compares the classes of all blocks of these lanes with the portable kernel. If the portable kernel has more lanes,
/// only the kernel's own lanes are compared.
struct OnLanes<'a, K>(K, &'a [&'a [u8]; LANES]);

impl<K: Kernel> Job for OnLanes<'_, K> {
    #[inline(always)]
    fn run(self) {
        let Self(kernel, lanes) = self;
        let (blocks, all) = (Blocks::new(lanes, K::LANES), Blocks::new(lanes, LANES));
        assert!(blocks.len() >= all.len());
        for at in 0..all.len() {
            let classes = K::Classes::from(kernel.planes::<true>(&blocks, at)).all();
            for (n, (class, expected)) in classes.into_iter().zip(portable_classes(&all, at)).enumerate() {
                expect::<K>(class, expected, &format!("class {n}"));
            }
        }
    }
}

fn portable_classes(blocks: &Blocks, at: usize) -> [Words; N_CLASSES] {
    OfCodes(Portable.planes::<true>(blocks, at)).all()
}

struct OnBlocks;

impl Visit for OnBlocks {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
        println!("{name}");
        // Every byte at every index of every lane. The bytes beside it differ by index and lane.
        for factor in if cfg!(miri) { 0..1 } else { 0..8 } {
            for first in (0..=u8::MAX).step_by(if cfg!(miri) { 64 } else { 1 }) {
                let blocks: [[u8; BLOCK]; LANES] = std::array::from_fn(|lane| {
                    std::array::from_fn(|at| (first as usize + (2 * at + 7 * lane) * factor).to_le_bytes()[0])
                });
                kernel.run(OnLanes(kernel, &blocks.each_ref().map(|block| &block[..])));
            }
        }
        let mut numbers = Random::new(3);
        for n in 0..TIMES {
            // Three blocks, at all offsets from an aligned address.
            let bytes: [_; LANES] =
                std::array::from_fn(|_| (0..4).flat_map(|_| numbers.block()).collect::<Vec<u8>>());
            kernel.run(OnLanes(kernel, &std::array::from_fn(|lane| &bytes[lane][(n + lane) % BLOCK..])));
        }
    }
}

#[test]
fn blocks() {
    each(&mut OnBlocks);
}

#[test]
#[should_panic(expected = "no such block")]
fn a_block_that_is_not_there() {
    let bytes = [0; 2 * BLOCK];
    let mut lanes = [&bytes[..]; LANES];
    lanes[LANES - 1] = &bytes[..2 * BLOCK - 1];
    let blocks = Blocks::new(&lanes, LANES);
    assert_eq!(blocks.len(), 1);
    let _ = Portable.planes::<true>(&blocks, 1);
}

#[cfg(all(unix, not(miri)))]
struct AtTheEnd;

#[cfg(all(unix, not(miri)))]
impl Visit for AtTheEnd {
    fn visit<K: Kernel>(&mut self, name: &str, kernel: K) {
        println!("{name}");
        let mut page = page::Page::new(1024);
        let mut numbers = Random::new(4);
        let inside: Vec<u8> = (0..6).flat_map(|_| numbers.block()).collect();
        let end: Vec<u8> = (0..6).flat_map(|_| numbers.block()).collect();
        for len in BLOCK..6 * BLOCK {
            let end = page.end_with(&end[..len]);
            kernel.run(OnLanes(kernel, &[end; LANES]));
            for lane in 0..LANES {
                let mut lanes = [&inside[..len]; LANES];
                lanes[lane] = end;
                kernel.run(OnLanes(kernel, &lanes));
            }
        }
    }
}

#[cfg(all(unix, not(miri)))]
#[test]
fn blocks_at_the_end_of_memory() {
    each(&mut AtTheEnd);
}
