//! Integers as differences, packed block by block (DELTA_BINARY_PACKED): the lengths of byte arrays in two encodings.

use super::error::TableError;
use super::level::wide_bits;
use super::thrift::Thrift;

/// The most that a block can say it has; writers take 128.
const MAX_BLOCK: u64 = 1 << 20;

/// Integers that are read one by one. They are lengths: whatever is negative or too long is damage.
#[derive(Clone, Debug)]
pub(super) struct Deltas<'a> {
    rest: &'a [u8],
    /// How many integers there still are.
    left: u64,
    next: i64,
    /// How many there are in a miniblock, and how many of these in a block.
    mini_len: u64,
    n_minis: usize,
    min_delta: i64,
    /// The widths of the miniblocks of this block that have not begun.
    widths: &'a [u8],
    /// The miniblock that is being read: its bits, the next of them, the width of each integer, and how many there still are.
    mini: &'a [u8],
    bit: u64,
    width: u32,
    in_mini: u64,
}

fn damaged() -> TableError {
    TableError::damaged("the lengths of its values are damaged")
}

impl<'a> Deltas<'a> {
    /// The integers with which `bytes` begin, and the bytes behind them.
    pub(super) fn split(bytes: &'a [u8]) -> Result<(Self, &'a [u8]), TableError> {
        let mut thrift = Thrift::new(bytes);
        let mut number = || thrift.varint().map_err(|_| damaged());
        let (block, n_minis, left) = (number()?, number()?, number()?);
        let next = thrift.integer().map_err(|_| damaged())?;
        if n_minis == 0 || block > MAX_BLOCK || block % n_minis > 0 || !(block / n_minis).is_multiple_of(8) {
            return Err(damaged());
        }
        let deltas = Self {
            rest: thrift.rest(),
            left,
            next,
            mini_len: block / n_minis,
            n_minis: usize::try_from(n_minis).map_err(|_| damaged())?,
            min_delta: 0,
            widths: &[],
            mini: &[],
            bit: 0,
            width: 0,
            in_mini: 0,
        };
        let mut behind = deltas.clone();
        let mut left = left.saturating_sub(1);
        while left > 0 {
            behind.next_mini()?;
            left = left.saturating_sub(behind.in_mini);
        }
        // The widths of miniblocks that are not needed are there, the miniblocks are not.
        Ok((deltas, behind.rest))
    }

    /// The next one.
    #[inline]
    pub(super) fn next(&mut self) -> Result<usize, TableError> {
        self.left = self.left.checked_sub(1).ok_or_else(damaged)?;
        let integer = self.next;
        if self.left > 0 {
            if self.in_mini == 0 {
                self.next_mini()?;
            }
            self.in_mini -= 1;
            // More than 32 bits are more than any length has.
            let delta = wide_bits(self.mini, self.bit) & ((1_u64 << self.width) - 1);
            self.bit += u64::from(self.width);
            self.next = integer.wrapping_add(self.min_delta).wrapping_add(delta.cast_signed());
        }
        usize::try_from(integer).ok().filter(|&length| length <= super::page::MAX_LEN).ok_or_else(damaged)
    }

    fn next_mini(&mut self) -> Result<(), TableError> {
        if self.widths.is_empty() {
            let mut thrift = Thrift::new(self.rest);
            self.min_delta = thrift.integer().map_err(|_| damaged())?;
            (self.widths, self.rest) = thrift.rest().split_at_checked(self.n_minis).ok_or_else(damaged)?;
        }
        let (&width, widths) = self.widths.split_first().ok_or_else(damaged)?;
        if width > 57 {
            return Err(damaged());
        }
        let len = u64::from(width) * self.mini_len / 8;
        let len = usize::try_from(len).map_err(|_| damaged())?;
        (self.mini, self.rest) = self.rest.split_at_checked(len).ok_or_else(damaged)?;
        (self.widths, self.bit, self.width, self.in_mini) = (widths, 0, width.into(), self.mini_len);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<(Vec<usize>, &[u8]), TableError> {
        let (mut deltas, rest) = Deltas::split(bytes)?;
        let mut all = Vec::new();
        while deltas.left > 0 {
            all.push(deltas.next()?);
        }
        Ok((all, rest))
    }

    #[test]
    fn examples_of_the_documentation() {
        // 1 2 3 4 5: one block, all differences alike.
        let (found, rest) = all(&[128, 1, 4, 5, 2, 2, 0, 0, 0, 0, 9]).unwrap();
        assert_eq!((found, rest), (vec![1, 2, 3, 4, 5], &[9][..]));
        // 7 5 3 1 2 3 4 5: differences from -2 on, of two bits.
        let mut bytes = vec![128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111];
        bytes.extend([0; 6]);
        let (found, rest) = all(&bytes).unwrap();
        assert_eq!((found, rest), (vec![7, 5, 3, 1, 2, 3, 4, 5], &[][..]));
        assert_eq!(all(&[128, 1, 4, 1, 6, 7]).unwrap(), (vec![3], &[7][..]));
        assert_eq!(all(&[128, 1, 4, 0, 0, 7]).unwrap(), (vec![], &[7][..]));
    }

    #[test]
    fn damage_is_an_error() {
        for bytes in [
            &[][..],
            &[128, 1, 0, 5, 2],
            &[128, 1, 4, 5, 2],
            &[128, 1, 4, 5, 2, 2, 0, 0],
            &[128, 1, 4, 5, 2, 2, 60, 0, 0, 0],
            &[128, 1, 3, 5, 2, 2, 0, 0, 0, 0],
            &[128, 1, 4, 1, 1, 0],
            &[255, 255, 255, 127, 4, 1, 1, 0],
        ] {
            assert!(all(bytes).is_err(), "{bytes:?}");
        }
    }
}
