//! Finds the ends of records with quotes, block by block. A byte is inside quotes if an odd number of quotes precedes it. This is
//! true as long as each quote opens a field, closes one, or is doubled.

use super::MAX_RECORD_LEN;
use super::dialect::Dialect;
use urlsift_engine::simd::{BLOCK, find};

/// How many blocks are searched at once.
const BLOCKS: usize = 32;

/// How many bytes are searched at once.
pub(super) const AT_ONCE: usize = BLOCKS * BLOCK;

/// Returns how many of `bytes`, which begin at the start of a record, are whole records with well-placed quotes. A quote is well
/// placed if it opens a field, closes one, or is one of two inside a field.
///
/// It stops before a comment, and before a record that has any other quote, has a backslash that escapes, is too long, or does not end
/// in a whole block. It also stops after some kilobytes without quotes. It reads some kilobytes beyond its result, or as many bytes as the
/// longest record may have.
pub(super) fn whole_records(bytes: &[u8], dialect: Dialect) -> usize {
    // Where backslashes do not escape, nothing else is searched for in their place.
    let escape = if dialect.has_backslashes() { b'\\' } else { b'#' };
    let mut whole = 0;
    // The state after the previous byte. `between` is all ones inside quotes. The others are one if a field or a record may begin.
    let (mut between, mut before_field, mut before_record) = (0, 1, 1);
    for (n, blocks) in bytes.as_chunks::<BLOCK>().0.chunks(BLOCKS).enumerate() {
        let sets = [[b'"'; 3], [b'\n'; 3], [dialect.byte(); 3], [b'#', escape, escape]];
        let [quotes, lfs, delimiters, doubtful] = sets.map(|set| {
            let mut found = [0; BLOCKS];
            find(set, blocks, &mut found);
            found
        });
        for at in 0..blocks.len() {
            // From each opening quote up to the byte before the closing one.
            let inside = odd(quotes[at]) ^ between;
            let ends = lfs[at] & !inside;
            let fields = quotes[at] | lfs[at] | delimiters[at];
            let misplaced = quotes[at] & inside & !(fields << 1 | before_field);
            let begins = if dialect.has_backslashes() { u64::MAX } else { ends << 1 | before_record };
            let doubts = misplaced | (doubtful[at] & begins);
            let start = (n * BLOCKS + at) * BLOCK;
            // Record ends before the first doubt.
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
            // A search for the next quote alone is faster.
            return whole;
        }
    }
    whole
}

/// For each bit, whether the number of set bits up to and including it is odd.
#[inline(always)]
pub(super) fn odd(mut bits: u64) -> u64 {
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
                let whole = whole_records(text.as_bytes(), Dialect::of(','));
                // A quote that is not closed may be closed by a later one.
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
            assert_eq!(Some(whole_records(records.as_bytes(), Dialect::of(','))), expected);
        }
        let long =
            [&b"\"a\"\n"[..], b"\"", &vec![b'b'; MAX_RECORD_LEN], b"\"\n", &b"c\n".repeat(99)].concat();
        assert_eq!(whole_records(&long, Dialect::of(',')), 4);
        let long = [&b"\"a\"\n"[..], &vec![b'b'; MAX_RECORD_LEN], b"\n", &b"c\n".repeat(99)].concat();
        assert_eq!(whole_records(&long, Dialect::of(',')), 4);
    }
}
