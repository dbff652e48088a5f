//! Small numbers as Parquet packs them: runs of one number, and groups of eight side by side, each with its number of bits (RLE
//! and bit-packing hybrid). Repetition and definition levels are written so, and the places of values in a dictionary.

use super::error::TableError;
use super::thrift::Thrift;

/// Numbers that are read one by one.
#[derive(Clone, Debug)]
pub(super) struct Numbers<'a> {
    rest: &'a [u8],
    /// How many bits a number has, at most 32.
    width: u32,
    run: Run<'a>,
}

#[derive(Clone, Debug)]
enum Run<'a> {
    /// So many times more the same.
    Same(u64, u32),
    /// So many more, side by side from this bit on.
    Packed(u64, &'a [u8], u64),
}

impl<'a> Numbers<'a> {
    /// The numbers in `bytes`, each of `width` bits.
    pub(super) fn new(bytes: &'a [u8], width: u32) -> Result<Self, TableError> {
        if width > 32 {
            return Err(TableError::damaged("numbers of more than 32 bits"));
        }
        Ok(Self { rest: bytes, width, run: Run::Same(0, 0) })
    }

    /// The levels in `bytes`, of which the largest is `max`.
    pub(super) fn levels(bytes: &'a [u8], max: u32) -> Result<Self, TableError> {
        Self::new(bytes, u32::BITS - max.leading_zeros())
    }

    /// The next one.
    #[inline]
    pub(super) fn next(&mut self) -> Result<u32, TableError> {
        loop {
            match &mut self.run {
                Run::Same(left @ 1.., number) => {
                    *left -= 1;
                    return Ok(*number);
                }
                Run::Packed(left @ 1.., bytes, bit) => {
                    *left -= 1;
                    let number = bits(bytes, *bit, self.width);
                    *bit += u64::from(self.width);
                    return Ok(number);
                }
                _ => self.next_run()?,
            }
        }
    }

    fn next_run(&mut self) -> Result<(), TableError> {
        let too_few = || TableError::damaged("fewer levels or places in a dictionary than values");
        let mut thrift = Thrift::new(self.rest);
        let header = thrift.varint().map_err(|_| too_few())?;
        self.rest = thrift.rest();
        let n = header >> 1;
        if header & 1 == 0 {
            let len = self.width.div_ceil(8) as usize;
            let (number, rest) = self.rest.split_at_checked(len).ok_or_else(too_few)?;
            let number = number.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte));
            (self.run, self.rest) = (Run::Same(n, number), rest);
        } else {
            // Groups of eight. Some writers leave out the end of the last.
            let wanted = n.saturating_mul(self.width.into());
            let len = usize::try_from(wanted).map_or(self.rest.len(), |len| len.min(self.rest.len()));
            let (packed, rest) = self.rest.split_at(len);
            let n = match self.width {
                0 => n.saturating_mul(8),
                width => packed.len() as u64 * 8 / u64::from(width),
            };
            (self.run, self.rest) = (Run::Packed(n, packed, 0), rest);
        }
        // What comes next decides whether there is something.
        Ok(())
    }
}

/// The number of `width` bits that begins at a bit of `bytes`, which hold it; the lowest bit comes first.
#[inline]
fn bits(bytes: &[u8], bit: u64, width: u32) -> u32 {
    let [a, b, c, d, ..] = (wide_bits(bytes, bit) & ((1_u64 << width) - 1)).to_le_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// The 57 bits from one of `bytes` on, and perhaps more; what lies behind their end is zero.
#[inline]
pub(super) fn wide_bits(bytes: &[u8], bit: u64) -> u64 {
    let from = usize::try_from(bit / 8).unwrap_or(usize::MAX).min(bytes.len());
    let rest = &bytes[from..];
    let word = match rest.first_chunk() {
        Some(chunk) => u64::from_le_bytes(*chunk),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    };
    word >> (bit % 8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], width: u32, n: usize) -> Vec<u32> {
        let mut numbers = Numbers::new(bytes, width).unwrap();
        (0..n).map(|_| numbers.next().unwrap()).collect()
    }

    #[test]
    fn runs_and_groups() {
        assert_eq!(read(&[8, 5], 3, 4), [5; 4]);
        assert_eq!(read(&[6, 0x34, 0x12], 13, 3), [0x1234; 3]);
        // The example of the format's documentation.
        assert_eq!(read(&[3, 0b1000_1000, 0b1100_0110, 0b1111_1010], 3, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Of the last group some may be missing.
        assert_eq!(read(&[2, 1, 3, 0x88], 1, 9), [1, 0, 0, 0, 1, 0, 0, 0, 1]);
        assert_eq!(read(&[3], 0, 8), [0; 8]);
        assert_eq!(read(&[6, 0xff, 0xff, 0xff, 0xff], 32, 3), [u32::MAX; 3]);
        assert_eq!(read(&[3, 1, 0, 0, 0, 2, 0, 0, 0], 32, 2), [1, 2]);
    }

    #[test]
    fn too_few_are_an_error() {
        for (bytes, width, n) in
            [(&[][..], 1, 0), (&[8, 5], 3, 4), (&[6, 1], 13, 0), (&[3], 3, 0), (&[0, 1, 0, 1], 1, 0)]
        {
            let mut numbers = Numbers::new(bytes, width).unwrap();
            for _ in 0..n {
                numbers.next().unwrap();
            }
            assert!(numbers.next().is_err(), "{bytes:?}");
        }
        assert!(Numbers::new(&[], 33).is_err());
    }
}
