use std::io::Write;

use liblzma::stream::{Action, Check, Filters, LzmaOptions, Stream};
use proptest::prelude::*;
use proptest::sample::Index;

use super::super::bzip2_prelude::{BLOCK, END, Edge, prelude};
use super::super::decoder::{Decoded, decoded};
use super::super::source::Buffered;
use super::super::{Decoder, walk};
use super::*;
use crate::slow_source::slow_and_failing;
use crate::workers::with_workers;

/// What is decoded without units.
fn alone(packed: &[u8], codec: Codec) -> Decoded {
    decoded(Buffered::new(packed), codec, 1 << 16)
}

/// The same with units. No reads but those that the decoder needs return at once if `is_slow` is set.
fn ahead(source: impl Read + Send, codec: Codec, workers: JobSender, sizes: Sizes, is_slow: bool) -> Decoded {
    decoded(units(source, codec, workers, sizes, is_slow), codec, 777)
}

/// The same if all requested jobs are done before the decoder goes on.
fn all_ahead(source: impl Read + Send, codec: Codec, sizes: Sizes) -> Decoded {
    with_workers(0, |workers, _| {
        // Such a pool has no threads, and yet memory for work ahead.
        decoded(AllDone(units(source, codec, workers, sizes, false)), codec, 777)
    })
}

fn units<R: Read>(
    source: R,
    codec: Codec,
    workers: JobSender<'_>,
    sizes: Sizes,
    is_slow: bool,
) -> Units<'_, R> {
    let walk = walk(codec).unwrap().0;
    Units::new(source, Box::new(move || !is_slow), codec, walk, workers, sizes, None)
}

/// A source whose requested jobs are done at once.
struct AllDone<'a, R>(Units<'a, R>);

impl<R: Read + Send> Source for AllDone<'_, R> {
    fn rest(&self) -> &[u8] {
        self.0.rest()
    }

    fn head(&self) -> Vec<u8> {
        self.0.head()
    }

    fn use_up(&mut self, n: usize) {
        self.0.use_up(n);
        while self.0.jobs.do_one() {}
    }

    fn fill(&mut self) -> io::Result<bool> {
        self.0.fill()
    }

    fn has_ended(&self) -> bool {
        Source::has_ended(&self.0)
    }

    fn decoded_ahead(&mut self, used: u64) -> Option<Ahead> {
        while self.0.jobs.do_one() {}
        self.0.decoded_ahead(used)
    }
}

const SMALL: Sizes = Sizes { segment: 50, reads: 8, run: 100, unit: 16 << 20, runs: 4 };

/// A frame. `kind` chooses what its header states.
fn frame(bytes: &[u8], level: i32, kind: u8) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), level).unwrap();
    encoder.include_checksum(kind & 1 != 0).unwrap();
    encoder.include_contentsize(kind & 2 != 0).unwrap();
    if kind & 2 != 0 {
        encoder.set_pledged_src_size(Some(bytes.len() as u64)).unwrap();
    }
    if kind & 4 != 0 {
        encoder.window_log(10).unwrap();
    }
    // A flush ends a block. With one at the end, the last block is empty.
    for part in bytes.chunks(if kind & 8 != 0 { 50 } else { usize::MAX }) {
        encoder.write_all(part).unwrap();
        if kind & 16 == 0 {
            encoder.flush().unwrap();
        }
    }
    encoder.finish().unwrap()
}

/// A stream with a block for each of `blocks`. No block states its length.
fn stream(blocks: &[Vec<u8>], check: Check, has_filter: bool) -> Vec<u8> {
    let mut options = LzmaOptions::new_preset(0).unwrap();
    options.dict_size(1 << 16);
    let mut filters = Filters::new();
    if has_filter {
        filters.delta_properties(&[3]).unwrap();
    }
    filters.lzma2(&options);
    let mut encoder = Stream::new_stream_encoder(&filters, check).unwrap();
    let mut packed = Vec::with_capacity(1 << 20);
    for block in blocks {
        let mut rest = &block[..];
        while !rest.is_empty() {
            let before = encoder.total_in();
            encoder.process_vec(rest, &mut packed, Action::Run).unwrap();
            rest = &rest[usize::try_from(encoder.total_in() - before).unwrap()..];
        }
        if !block.is_empty() {
            encoder.process_vec(&[], &mut packed, Action::FullFlush).unwrap();
        }
    }
    encoder.process_vec(&[], &mut packed, Action::Finish).unwrap();
    packed
}

/// A stream with a block for each of `blocks` that is not empty. Blocks begin at any bit.
fn bzip2_stream(blocks: &[Vec<u8>], level: u32) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(level));
    for block in blocks {
        // A flush ends a block.
        encoder.write_all(block).and_then(|()| encoder.flush()).unwrap();
    }
    encoder.finish().unwrap()
}

/// Text of up to `most` bytes, mostly short.
fn text(most: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        "[a-d]{0,60}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..300),
        (0..most).prop_map(|n| b"http://h/\n".repeat(n / 10)),
    ]
}

/// A part of a file: frames, skippable frames, padding, and what is no frame.
fn zstd_part() -> impl Strategy<Value = Vec<u8>> {
    let skippable = (0x50..0x60u8, 0..100u8).prop_map(|(magic, len)| {
        [&[magic, 0x2a, 0x4d, 0x18, len, 0, 0, 0][..], &vec![7; usize::from(len)]].concat()
    });
    prop_oneof![
        20 => (text(200_000), 1..4, any::<u8>()).prop_map(|(text, level, kind)| frame(&text, level, kind)),
        3 => skippable,
        1 => Just(vec![0; 7]),
        1 => Just(include_bytes!("../samples/dictionary.zst").to_vec()),
        1 => Just(include_bytes!("../samples/window.zst").to_vec()),
        1 => Just(b"\x28\xb5\x2f\xfd\0".to_vec()),
    ]
}

/// A part of a file: streams of several blocks, padding, and what is no stream.
fn xz_part() -> impl Strategy<Value = Vec<u8>> {
    let check = prop_oneof![Just(Check::None), Just(Check::Crc32), Just(Check::Crc64), Just(Check::Sha256)];
    let blocks = prop::collection::vec(text(200_000), 0..6);
    prop_oneof![
        20 => (blocks, check, any::<bool>()).prop_map(|(blocks, check, has_filter)| stream(&blocks, check, has_filter)),
        3 => Just(include_bytes!("../samples/streams.xz").to_vec()),
        1 => Just(vec![0; 8]),
        1 => Just(include_bytes!("../samples/dictionary.xz").to_vec()),
        1 => Just(b"\xfd7zXZ\0\0".to_vec()),
    ]
}

/// A part of a file: streams of several blocks, padding, and what is no stream.
fn bzip2_part() -> impl Strategy<Value = Vec<u8>> {
    let blocks = prop::collection::vec(text(10_000), 0..6);
    prop_oneof![
        20 => (blocks, 1..3u32).prop_map(|(blocks, level)| bzip2_stream(&blocks, level)),
        3 => Just(include_bytes!("../samples/streams.bz2").to_vec()),
        2 => misleading(),
        1 => Just(vec![0; 8]),
        1 => Just(b"BZh1?".to_vec()),
    ]
}

/// A stream of blocks that contain what the start of a block, the end of a stream and the header of another one look like.
fn misleading() -> impl Strategy<Value = Vec<u8>> {
    let bits = |bytes: &[u8]| {
        bytes.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1)).collect::<Vec<_>>()
    };
    let (block, end) = (bits(b"1AY&SY"), bits(b"\x17\x72\x45\x38\x50\x90\0\0\0\0"));
    let piece = prop_oneof![
        Just(block.clone()),
        Just(end.clone()),
        Just([end, vec![false; 8], bits(b"BZh1"), block].concat()),
        (1..20usize).prop_map(|len| vec![false; len]),
    ];
    let within = prop::collection::vec(piece, 1..4).prop_map(|pieces| pieces.concat());
    (prop::collection::vec((any::<u32>(), within), 1..5), 0..2u32).prop_map(|(blocks, wrong)| {
        let (mut packed, mut all) = (b"BZh1".to_vec(), 0u32);
        let edge = |magic| Edge { level: b'1', magic, byte: 0, behind: 0 };
        packed.extend(b"1AY&SY");
        for (n, (checksum, within)) in blocks.iter().enumerate() {
            let number = if n + 1 < blocks.len() { BLOCK } else { END };
            packed.extend(&prelude(edge(number), *checksum, within).bytes[10..]);
            all = all.rotate_left(1) ^ checksum;
        }
        packed.extend((all ^ wrong).to_be_bytes());
        packed
    })
}

fn sizes() -> impl Strategy<Value = Sizes> {
    (1..5000usize, 0..9usize, 0..50_000u64, prop_oneof![0..300_000u64, Just(16 << 20)], 0..6usize)
        .prop_map(|(segment, reads, run, unit, runs)| Sizes { segment, reads, run, unit, runs })
}

/// What is done to a file: it is cut, a bit is flipped, and reading it fails at the end.
type Harm = (Option<Index>, Option<(Index, u8)>, bool);

fn harm() -> impl Strategy<Value = Harm> {
    let cut = prop::option::weighted(0.3, any::<Index>());
    let flip = prop::option::weighted(0.5, (any::<Index>(), 0..8u8));
    (cut, flip, prop::bool::weighted(0.1))
}

fn harmed(parts: &[Vec<u8>], (cut, flip, _): &Harm) -> Vec<u8> {
    let mut bytes = parts.concat();
    if let Some(cut) = cut {
        bytes.truncate(cut.index(bytes.len() + 1));
    }
    if let Some((at, bit)) = flip
        && !bytes.is_empty()
    {
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
    }
    bytes
}

/// What is done to a file, and how it is read: the number of threads, sizes, whether reads are slow, and how many bytes one returns.
type Way = (Harm, (usize, Sizes, bool), usize);

fn way() -> impl Strategy<Value = Way> {
    (harm(), (0..5usize, sizes(), any::<bool>()), 1..3000usize)
}

fn check(codec: Codec, parts: &[Vec<u8>], way: Way) -> Result<(), TestCaseError> {
    let (harm, (threads, sizes, is_slow), step) = way;
    let bytes = harmed(parts, &harm);
    let expected = decoded(Buffered::new(slow_and_failing(&bytes, usize::MAX, harm.2)), codec, 1 << 16);
    let again = || slow_and_failing(&bytes, step, harm.2);
    let found = if threads > 0 {
        with_workers(threads, |workers, _| ahead(again(), codec, workers, sizes, is_slow))
    } else {
        all_ahead(again(), codec, sizes)
    };
    prop_assert_eq!((found.0.len(), found.1, found.2), (expected.0.len(), expected.1, expected.2));
    prop_assert!(found.0 == expected.0, "other bytes");
    Ok(())
}

proptest! {
    #[test]
    fn frames_decoded_ahead_change_nothing(parts in prop::collection::vec(zstd_part(), 1..12), way in way()) {
        check(Codec::Zstd, &parts, way)?;
    }

    #[test]
    fn blocks_decoded_ahead_change_nothing(parts in prop::collection::vec(xz_part(), 1..5), way in way()) {
        check(Codec::Xz, &parts, way)?;
    }

    #[test]
    fn blocks_at_any_bit_decoded_ahead_change_nothing(
        parts in prop::collection::vec(bzip2_part(), 1..5),
        way in way(),
    ) {
        check(Codec::Bzip2, &parts, way)?;
    }
}

/// Small files with several units.
fn small_files() -> Vec<(Codec, Vec<u8>)> {
    let lines = |n: u8| [b'a' + n].repeat(usize::from(n) * 7 + 1);
    let frames: Vec<u8> = (0..6).flat_map(|n| frame(&lines(n), 3, n)).collect();
    let blocks: Vec<_> = (0..4).map(lines).collect();
    vec![
        (Codec::Zstd, frames),
        (Codec::Xz, stream(&blocks, Check::Crc32, false)),
        (Codec::Xz, [stream(&blocks, Check::None, true), stream(&blocks[1..], Check::Crc64, false)].concat()),
        (Codec::Xz, include_bytes!("../samples/streams.xz").to_vec()),
        (
            Codec::Bzip2,
            [bzip2_stream(&blocks, 1), bzip2_stream(&[], 1), bzip2_stream(&blocks[2..], 1)].concat(),
        ),
        (Codec::Bzip2, include_bytes!("../samples/streams.bz2").to_vec()),
    ]
}

#[test]
fn every_cut_gives_the_same() {
    for (codec, packed) in small_files() {
        for len in (0..packed.len()).step_by(if packed.len() > 1000 { 7 } else { 1 }) {
            let whole = alone(&packed[..len], codec);
            assert!(all_ahead(&packed[..len], codec, SMALL) == whole, "{codec} {len}");
        }
    }
}

#[test]
fn every_flipped_bit_gives_the_same() {
    for (codec, packed) in small_files() {
        for at in (0..packed.len()).step_by(if packed.len() > 1000 { 13 } else { 1 }) {
            for bit in (0..8).filter(|bit| packed.len() < 400 || at % 8 == *bit) {
                let mut spoiled = packed.clone();
                spoiled[at] ^= 1 << bit;
                spoiled.extend(b"?".repeat(at % 2));
                let (whole, found) = (alone(&spoiled, codec), all_ahead(&*spoiled, codec, SMALL));
                assert_eq!((found.1, found.2), (whole.1, whole.2), "{codec} {at} {bit}");
                assert!(found.0 == whole.0, "{codec} {at} {bit}");
            }
        }
    }
}

/// A raw block is longer than the content that its frame states. libzstd gives as much of it as it gets at once.
#[test]
fn parts_of_raw_blocks_give_the_same() {
    let text: Vec<u8> = (0..240u8).map(|n| n.wrapping_mul(167).wrapping_add(n << 3 ^ n >> 2)).collect();
    // Without a flush, the last block has all of the text. libzstd does not ask for its header together with another block.
    let of_one_block = zstd::bulk::compress(&text, 1).unwrap();
    for (mut packed, stated, n_decoded) in [(frame(&text, 1, 2 | 8), 167, 150), (of_one_block, 241, 0)] {
        let place = packed.iter().position(|&byte| byte == 240).unwrap();
        packed[place] = stated;
        let whole = alone(&packed, Codec::Zstd);
        assert_eq!((whole.0.len(), whole.1.is_some()), (n_decoded, true), "{whole:?}");
        for step in 1..packed.len() {
            let source = Buffered::new(slow_and_failing(&packed, step, false));
            assert!(decoded(source, Codec::Zstd, 777) == whole, "{step}");
        }
    }
}

/// The output has no room for the last block of a frame, which is read in pieces.
#[test]
fn the_last_blocks_of_frames_are_read_in_pieces() {
    let text: Vec<u8> = (0..300u16).map(|n| (n.wrapping_mul(40_503) >> 7).to_le_bytes()[0]).collect();
    for text in [&text[..], &b"http://h/".repeat(40)] {
        let packed = zstd::bulk::compress(text, 1).unwrap().repeat(3);
        for (step, room) in (1..packed.len()).flat_map(|step| [(step, 1), (step, 7), (step, 777)]) {
            let source = Buffered::new(slow_and_failing(&packed, step, false));
            let found = decoded(source, Codec::Zstd, room);
            assert!(found == (text.repeat(3), None, packed.len() as u64), "{step} {room} {:?}", found.1);
        }
    }
}

/// The end of a stream is right or wrong in the same way and at the same place if liblzma has not seen the blocks.
#[test]
fn ends_of_streams_are_compared_as_liblzma_does() {
    let end = |packed: &[u8], passed: usize, step: usize| {
        let mut decoder = decode(Codec::Xz).unwrap();
        let (mut at, mut room) = (0, vec![0; 100_000]);
        while at < packed.len() {
            let len = if at < 12 { 12 - at } else { step.min(packed.len() - at) };
            let step = decoder.step(&packed[at..at + len], &mut room);
            at += step.read;
            match step.state {
                StreamState::PartEnded if at == 12 => {
                    assert!(
                        passed == 0 || matches!(decoder.pass(&packed[12..passed]), StreamState::PartEnded)
                    );
                    at = at.max(passed);
                }
                StreamState::Going | StreamState::PartEnded => {}
                StreamState::Damaged(cause) => return (at, cause),
                StreamState::Ended => return (at, "ended".to_owned()),
                StreamState::TooLarge => return (at, "too large".to_owned()),
            }
        }
        (at, "more".to_owned())
    };
    let blocks: Vec<_> = (1..4usize).map(|n| vec![b'a'; n * 200]).collect();
    for check in [Check::None, Check::Crc32, Check::Sha256] {
        let packed = stream(&blocks, check, false);
        let len = 4 * (u32::from_le_bytes(*packed[packed.len() - 8..].first_chunk().unwrap()) as usize + 1);
        let index = packed.len() - 12 - len;
        for at in index..packed.len() {
            assert_eq!(end(&packed[..at], index, 5), (at, "more".to_owned()));
            for value in 0..=255 {
                let mut spoiled = packed.clone();
                spoiled[at] = value;
                // A footer with another length of the index or other options may have the right checksum.
                for has_checksum in [false, true] {
                    if has_checksum {
                        let footer = spoiled.len() - 12;
                        let checksum = super::super::xz_index::crc32(&spoiled[footer + 4..footer + 10]);
                        spoiled[footer..footer + 4].copy_from_slice(&checksum.to_le_bytes());
                    }
                    let expected = end(&spoiled, 0, usize::MAX);
                    for step in [1, 7, usize::MAX] {
                        assert_eq!(end(&spoiled, index, step), expected, "{at} {value} {step}");
                    }
                }
            }
        }
    }
}

#[test]
fn units_are_decoded_ahead() {
    let sizes = Sizes { segment: 64, reads: 100, run: 100, unit: 16 << 20, runs: 3 };
    // As pzstd writes them, with a skippable frame before each, and as zstd does.
    for before in [&b"\x50\x2a\x4d\x18\x04\0\0\0size"[..], b""] {
        let frames: Vec<_> = (0..9u8).map(|n| [before, &frame(&[n; 1000], 3, n)].concat()).collect();
        let (whole, first) = (frames.concat(), frames[0].len());
        with_workers(0, |workers, _| {
            let mut units = units(&*whole, Codec::Zstd, workers, sizes, false);
            assert!(units.decoded_ahead(0).is_none(), "the decoder is there itself");
            assert!(units.jobs.do_one() && units.jobs.do_one());
            units.use_up(first);
            let ahead = units.decoded_ahead(first as u64).unwrap();
            assert_eq!(ahead.packed_len, frames[1].len());
            assert_eq!(ahead.bytes[ahead.range], [1; 1000]);
        });
    }
}

#[test]
fn blocks_of_bzip2_are_decoded_ahead() {
    let blocks: Vec<_> = (1..6u8).map(|n| vec![n; 1000 * usize::from(n)]).collect();
    let whole = bzip2_stream(&blocks, 1);
    let sizes = Sizes { segment: 64, reads: 100, run: 1 << 20, unit: 1 << 20, runs: 9 };
    with_workers(0, |workers, _| {
        let mut units = units(&*whole, Codec::Bzip2, workers, sizes, false);
        assert!(units.decoded_ahead(0).is_none(), "the header of a stream");
        while units.jobs.do_one() {}
        let mut at = 10;
        units.use_up(at);
        for block in &blocks {
            let ahead = units.decoded_ahead(at as u64).unwrap();
            assert!(ahead.bytes[ahead.range] == **block, "{at}");
            units.use_up(ahead.packed_len);
            at += ahead.packed_len;
        }
        assert_eq!(at, whole.len() - 4, "the checksum of the stream is left");
    });
}

#[test]
fn all_reserved_memory_is_returned() {
    let whole: Vec<u8> = (0..50u8).flat_map(|n| frame(&vec![n; 100_000], 3, 3)).collect();
    let expected = alone(&whole, Codec::Zstd);
    for left in [0, 3 << 20, 100 << 20] {
        with_workers(2, |workers, _| {
            let total = (256 + 2 * 64) << 20;
            let taken = workers.memory.reserve(total - left);
            let units = units(&*whole, Codec::Zstd, workers.clone(), Sizes::of(2, 1 << 20), false);
            assert!(decoded(units, Codec::Zstd, 5000) == expected, "{left}");
            drop(taken);
            // A job that was withdrawn may end a little later.
            while workers.memory.reserve(total).is_none() {
                std::thread::yield_now();
            }
        });
    }
}

/// A source that has only the first of its parts fails if it is read again.
#[test]
fn nothing_is_read_before_it_is_needed_unless_a_read_returns_at_once() {
    struct Parts<'a>(std::slice::Iter<'a, Vec<u8>>);
    impl Read for Parts<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let part = self.0.next().ok_or_else(|| io::Error::other("it waits"))?;
            buffer[..part.len()].copy_from_slice(part);
            Ok(part.len())
        }
    }
    let block = vec![b'x'; 5000];
    let xz = stream(&[block.clone(), block.clone()], Check::Crc32, false);
    let second = xz.len() / 2;
    // The end of a stream has ten bytes after the last byte of a block.
    let bzip2 = bzip2_stream(std::slice::from_ref(&block), 1);
    for (codec, parts) in [
        (Codec::Zstd, vec![frame(&block, 3, 1)]),
        (Codec::Zstd, vec![frame(&block, 3, 0), frame(&block, 3, 1)]),
        (Codec::Xz, vec![xz[..second].to_vec()]),
        (Codec::Bzip2, vec![bzip2[..bzip2.len() - 10].to_vec()]),
    ] {
        with_workers(1, |workers, _| {
            let units = units(Parts(parts.iter()), codec, workers, SMALL_BUT_ONE, true);
            let mut decoder = Decoder::new(units, codec, None).unwrap();
            let mut bytes = vec![0; 5000 * parts.len()];
            decoder.read_exact(&mut bytes).unwrap();
            assert!(bytes.iter().all(|&byte| byte == b'x'));
            let error = decoder.read(&mut bytes).unwrap_err();
            assert_eq!(error.to_string(), "it waits");
        });
    }
}

/// Segments that hold a whole part.
const SMALL_BUT_ONE: Sizes = Sizes { segment: 10_000, ..SMALL };

/// The library finds some damage while it gives out a block.
#[test]
fn the_bytes_before_damage_depend_on_no_buffer() {
    let whole = bzip2_stream(&[b"http://h/\n".repeat(1000), b"http://h/\n".repeat(700)], 1);
    for (at, bit) in (0..whole.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
        let mut spoiled = whole.clone();
        spoiled[at] ^= 1 << bit;
        let found = |room| decoded(Buffered::new(&spoiled[..]), Codec::Bzip2, room);
        let expected = found(1 << 16);
        assert!(found(777) == expected && found(1 << 12) == expected, "byte {at}, bit {bit}");
    }
}
