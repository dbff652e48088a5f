//! Reads small integers in the hybrid of run lengths and bit packing (RLE): levels, and the indices of values in a dictionary.
//!
//! The lengths of runs come from the file. They limit how many integers are read, and no memory depends on them.

use std::ops::Range;

use super::error::TableError;
use super::thrift::Rest;

/// Integers of a page that are read some at a time. All methods expect the bytes of the same page.
#[derive(Debug)]
pub(super) struct Integers {
    /// The bytes after the current run.
    rest: Range<usize>,
    /// How many bits each integer has, at most 32.
    width: u32,
    run: Run,
}

/// A run of integers, each with the number of those that are left.
#[derive(Debug)]
enum Run {
    Equal {
        left: u64,
        integer: u32,
    },
    /// Each integer has `width` bits. The next one begins at bit number `at` of the page.
    Packed {
        left: u64,
        at: usize,
    },
}

impl Integers {
    /// The integers of `width` bits in this part of a page.
    pub(super) fn new(rest: Range<usize>, width: u32) -> Result<Self, TableError> {
        if width > 32 {
            return Err(TableError::damaged("the indices of its values have more than 32 bits"));
        }
        Ok(Self { rest, width, run: Run::Equal { left: 0, integer: 0 } })
    }

    /// The levels in this part of a page, from 0 to `max`.
    pub(super) fn levels(rest: Range<usize>, max: u32) -> Result<Self, TableError> {
        Self::new(rest, u32::BITS - max.leading_zeros())
    }

    /// Fills `out` with the next integers of `page`. Returns `None` if there are fewer.
    pub(super) fn read(&mut self, page: &[u8], mut out: &mut [u32]) -> Option<()> {
        while !out.is_empty() {
            let (Run::Equal { left, .. } | Run::Packed { left, .. }) = &mut self.run;
            let n = usize::try_from(*left).unwrap_or(usize::MAX).min(out.len());
            *left -= n as u64;
            let next;
            (next, out) = out.split_at_mut(n);
            match &mut self.run {
                Run::Equal { integer, .. } => next.fill(*integer),
                Run::Packed { at, .. } => {
                    let (width, mask) = (self.width as usize, (1 << self.width) - 1);
                    for integer in next {
                        let bytes = (bits(page, *at) & mask).to_le_bytes();
                        *integer = u32::from_le_bytes(*bytes.first_chunk().expect("eight bytes"));
                        *at += width;
                    }
                }
            }
            if !out.is_empty() {
                self.next_run(page)?;
            }
        }
        Some(())
    }

    fn next_run(&mut self, page: &[u8]) -> Option<()> {
        let mut rest = Rest(page.get(self.rest.clone())?);
        let header = rest.varint().ok()?;
        let n = header >> 1;
        self.run = if header & 1 == 0 {
            let bytes = rest.take(self.width.div_ceil(8) as usize).ok()?;
            let integer = bytes.iter().rev().fold(0, |integer, &byte| integer << 8 | u32::from(byte));
            Run::Equal { left: n, integer }
        } else {
            // Groups of eight. Some writers omit the end of the last one.
            let len = n.saturating_mul(self.width.into());
            let len = usize::try_from(len).map_or(rest.0.len(), |len| len.min(rest.0.len()));
            let at = (self.rest.end - rest.0.len()) * 8;
            rest.take(len).ok()?;
            let left = match self.width {
                0 => n.saturating_mul(8),
                width => len as u64 * 8 / u64::from(width),
            };
            Run::Packed { left, at }
        };
        self.rest.start = self.rest.end - rest.0.len();
        Some(())
    }
}

/// At least 57 bits of `bytes` from bit number `bit` on, the lowest first. Bits beyond the end are zero.
#[inline]
pub(super) fn bits(bytes: &[u8], bit: usize) -> u64 {
    let rest = bytes.get(bit / 8..).unwrap_or_default();
    let word = match rest.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    word >> (bit % 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads `n` integers, with any number of them at a time.
    fn read(bytes: &[u8], width: u32, n: usize) -> Option<Vec<u32>> {
        let all = |step: usize| {
            // The bytes of the page before and after the integers do not matter.
            let page = [&[0xff; 3], bytes, &[0xff; 9]].concat();
            let mut integers = Integers::new(3..3 + bytes.len(), width).unwrap();
            let mut out = vec![0; n];
            out.chunks_mut(step).try_for_each(|some| integers.read(&page, some)).map(|()| out)
        };
        let found = all(n);
        (1..n).for_each(|step| assert_eq!(all(step), found, "{bytes:?}, {step} at a time"));
        found
    }

    #[test]
    fn runs_and_groups() {
        for (bytes, width, found) in [
            (&[8, 5][..], 3, &[5; 4][..]),
            (&[6, 0x34, 0x12], 13, &[0x1234; 3]),
            // The example of the format's documentation.
            (&[3, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, &[0, 1, 2, 3, 4, 5, 6, 7]),
            // The last group may be shorter.
            (&[2, 1, 3, 0x88], 1, &[1, 0, 0, 0, 1, 0, 0, 0, 1]),
            (&[5, 1, 2, 3], 8, &[1, 2, 3]),
            (&[3], 0, &[0; 8]),
            (&[6, 0xff, 0xff, 0xff, 0xff], 32, &[u32::MAX; 3]),
            (&[3, 1, 0, 0, 0, 2, 0, 0, 0], 32, &[1, 2]),
            (&[0, 1, 4, 1], 1, &[1, 1]),
            (&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], 0, &[0; 20]),
        ] {
            assert_eq!(read(bytes, width, found.len()).unwrap(), found, "{bytes:?}");
        }
    }

    #[test]
    fn too_few_are_an_error() {
        for (bytes, width, n) in [
            (&[][..], 1, 1),
            (&[8, 5], 3, 5),
            (&[6, 1], 13, 1),
            (&[3], 3, 1),
            (&[0, 1, 0, 1], 1, 1),
            (&[5, 1, 2, 3], 8, 4),
            (&[0x80; 11], 1, 1),
        ] {
            assert_eq!(read(bytes, width, n), None, "{bytes:?}");
        }
        assert!(Integers::new(0..0, 33).is_err());
    }
}
