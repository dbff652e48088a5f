//! Where records with quotes end, by blocks: as long as quotes stand only where they have a meaning, a byte is between quotes if an odd
//! number of them stands before it.

use super::MAX_RECORD_LEN;
use crate::simd::{BLOCK, find};

/// How many blocks are looked at at once.
const BLOCKS: usize = 32;

/// How many bytes these are.
pub(super) const AT_ONCE: usize = BLOCKS * BLOCK;

/// How many of `bytes`, which begin where a record does, are whole records in which each quote opens a field, closes one, or is one of two
/// in it. Stops before a record in which there is another, before a comment, before a record that is too long, and before one that does not
/// end in a whole block; and behind some kilobytes without quotes. Looks at some kilobytes beyond where it stops, or at as many as a record
/// may have.
pub(super) fn whole_records(bytes: &[u8], delimiter: u8) -> usize {
    let mut whole = 0;
    // Of the byte before: all ones if it is between quotes, and one if a field may begin behind it, or a record.
    let (mut between, mut before_field, mut before_record) = (0, 1, 1);
    for (n, blocks) in bytes.as_chunks::<BLOCK>().0.chunks(BLOCKS).enumerate() {
        let [quotes, lfs, delimiters, hashes] = [b'"', b'\n', delimiter, b'#'].map(|byte| {
            let mut found = [0; BLOCKS];
            find([byte; 3], blocks, &mut found);
            found
        });
        for at in 0..blocks.len() {
            // From each opening quote on, up to the byte before the closing one.
            let inside = odd(quotes[at]) ^ between;
            let ends = lfs[at] & !inside;
            let fields = quotes[at] | lfs[at] | delimiters[at];
            let misplaced = quotes[at] & inside & !(fields << 1 | before_field);
            let doubts = misplaced | (hashes[at] & (ends << 1 | before_record));
            let start = (n * BLOCKS + at) * BLOCK;
            // Those below the first doubt.
            let sure = ends & doubts.wrapping_sub(1) & !doubts;
            let end = if sure == 0 { BLOCK } else { sure.trailing_zeros() as usize + 1 };
            if start + end - whole > MAX_RECORD_LEN {
                return whole;
            }
            if sure != 0 {
                whole = start + BLOCK - sure.leading_zeros() as usize;
            }
            if doubts != 0 {
                return whole;
            }
            between = 0_u64.wrapping_sub(inside >> 63);
            (before_field, before_record) = (fields >> 63, ends >> 63);
        }
        if between == 0 && quotes.iter().all(|&quotes| quotes == 0) {
            // Whoever looks for the next quote alone is faster.
            return whole;
        }
    }
    whole
}

/// For each bit, whether an odd number of bits up to it are set, itself included.
fn odd(mut bits: u64) -> u64 {
    for by in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << by;
    }
    bits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_numbers_of_bits() {
        for bits in [0, 1, 1 << 63, 0b1011, u64::MAX, 0x0123_4567_89ab_cdef] {
            let expected = (0..64_u32).fold(0, |odd, at| {
                let up_to = bits & u64::MAX >> (63 - at);
                odd | u64::from(up_to.count_ones() % 2) << at
            });
            assert_eq!(odd(bits), expected, "{bits:#x}");
        }
    }

    #[test]
    fn stops_where_it_has_to() {
        let plain = "\"a, b\",\"\",\"say \"\"x\"\"\",c\r\n\"two\nlines\",d\n";
        let line = "e,\"f\"\n";
        for n in 1..9 {
            let records = plain.repeat(n);
            for (record, name) in [
                ("x\"y,z\n", "a quote in a field"),
                ("\"a\"b\"c,\n", "a quote behind a closed field"),
                ("#\"\n", "a comment"),
                ("\"a", "a record that does not end"),
            ] {
                let text = format!("{records}{record}{}", line.repeat(30));
                let whole = whole_records(text.as_bytes(), b',');
                // Quotes that nobody closes may be closed by those behind.
                let most = if name.contains("not end") { text.len() } else { records.len() };
                assert!(
                    whole <= most && whole + BLOCK > records.len().min(most),
                    "{name}: {whole} of {most}"
                );
            }
            let blocks = (records.len() / BLOCK) * BLOCK;
            let ends: Vec<_> =
                (0..=n).flat_map(|n| [n * plain.len(), n * plain.len() + plain.len() - 14]).collect();
            let expected = ends.into_iter().filter(|&end| end <= blocks).max();
            assert_eq!(Some(whole_records(records.as_bytes(), b',')), expected);
        }
        let long =
            [&b"\"a\"\n"[..], b"\"", &vec![b'b'; MAX_RECORD_LEN], b"\"\n", &b"c\n".repeat(99)].concat();
        assert_eq!(whole_records(&long, b','), 4);
        let long = [&b"\"a\"\n"[..], &vec![b'b'; MAX_RECORD_LEN], b"\n", &b"c\n".repeat(99)].concat();
        assert_eq!(whole_records(&long, b','), 4);
    }
}
