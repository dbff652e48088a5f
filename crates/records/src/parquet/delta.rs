//! Rewrites byte arrays with delta-encoded lengths (DELTA_LENGTH_BYTE_ARRAY, DELTA_BYTE_ARRAY) as plain ones.
//!
//! The lengths are known before any value is made. A value of DELTA_BYTE_ARRAY may be as long as all values before it together,
//! so the length of the rewritten page is limited.

use super::decode::too_few;
use super::error::TableError;
use super::hybrid::bits;
use super::thrift::Rest;
use super::unpack::MAX_LEN;

/// The most integers that a block may declare. Writers use 128.
const MAX_BLOCK: u64 = 1 << 20;

fn damaged() -> TableError {
    TableError::damaged("the lengths of its values are damaged")
}

/// Appends the values of a page to `out` as plain ones. There are at most `most` values. `fixed` is the length of each value, if
/// all have the same. `has_common` says whether each value omits the prefix that it shares with the previous one.
pub(super) fn to_plain(
    bytes: &[u8],
    most: u64,
    fixed: Option<usize>,
    has_common: bool,
    out: &mut Vec<u8>,
) -> Result<(), TableError> {
    let (common, bytes) =
        if has_common { lengths(bytes, most).ok_or_else(damaged)? } else { (Vec::new(), bytes) };
    let (own, bytes) = lengths(bytes, most).ok_or_else(damaged)?;
    if has_common && common.len() != own.len() {
        return Err(damaged());
    }
    let (mut rest, mut last) = (Rest(bytes), 0..0);
    for (n, &len) in own.iter().enumerate() {
        let common = common.get(n).map_or(0, |&common| common as usize);
        if common > last.len() {
            let message = "a value has more in common with the one before than that has";
            return Err(TableError::damaged(message));
        }
        let own = rest.take(len as usize).map_err(|_| too_few())?;
        let len = common + own.len();
        if out.len() + 4 + len > MAX_LEN {
            let message = format!("the values of a page have more than {MAX_LEN} bytes");
            return Err(TableError::too_large(message));
        }
        match fixed {
            None => out.extend(u32::try_from(len).map_err(|_| damaged())?.to_le_bytes()),
            Some(fixed) if fixed == len => {}
            Some(_) => return Err(damaged()),
        }
        let start = out.len();
        out.extend_from_within(last.start..last.start + common);
        out.extend_from_slice(own);
        last = start..out.len();
    }
    Ok(())
}

/// Reads at most `most` lengths at the start of `bytes` (DELTA_BINARY_PACKED). Returns them and the bytes after them.
fn lengths(bytes: &[u8], most: u64) -> Option<(Vec<u32>, &[u8])> {
    let mut rest = Rest(bytes);
    let [block, n_minis, n] = [rest.varint().ok()?, rest.varint().ok()?, rest.varint().ok()?];
    let mut next = rest.integer().ok()?;
    // A plain value has at least four bytes.
    if n > most.min(MAX_LEN as u64 / 4)
        || block > MAX_BLOCK
        || block.checked_rem(n_minis.checked_mul(8)?)? > 0
    {
        return None;
    }
    let (n, n_minis, in_mini) =
        (usize::try_from(n).ok()?, usize::try_from(n_minis).ok()?, usize::try_from(block / n_minis).ok()?);
    let mut all = Vec::new();
    let length = |next: i64| u32::try_from(next).ok().filter(|&length| length as usize <= MAX_LEN);
    if n > 0 {
        all.push(length(next)?);
    }
    while all.len() < n {
        let min_delta = rest.integer().ok()?;
        for &width in rest.take(n_minis).ok()? {
            // Miniblocks that are not needed are absent, but their widths are present.
            let wanted = in_mini.min(n - all.len());
            if wanted == 0 {
                break;
            }
            // No length needs so many bits.
            if width > 57 {
                return None;
            }
            let width = usize::from(width);
            let mini = rest.take(width * in_mini / 8).ok()?;
            for n in 0..wanted {
                let delta = bits(mini, n * width) & ((1 << width) - 1);
                next = next.wrapping_add(min_delta).wrapping_add(delta.cast_signed());
                all.push(length(next)?);
            }
        }
    }
    Some((all, rest.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_of_the_documentation() {
        // 1 2 3 4 5: one block with equal differences.
        let bytes = [128, 1, 4, 5, 2, 2, 0, 0, 0, 0, 9];
        assert_eq!(lengths(&bytes, 5).unwrap(), (vec![1, 2, 3, 4, 5], &[9][..]));
        assert!(lengths(&bytes, 4).is_none());
        // 7 5 3 1 2 3 4 5: the smallest difference is -2, and each takes two bits.
        let mut bytes = vec![128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111];
        bytes.extend([0; 6]);
        assert_eq!(lengths(&bytes, 8).unwrap(), (vec![7, 5, 3, 1, 2, 3, 4, 5], &[][..]));
        assert_eq!(lengths(&[128, 1, 4, 1, 6, 7], 1).unwrap(), (vec![3], &[7][..]));
        assert_eq!(lengths(&[128, 1, 4, 0, 0, 7], 0).unwrap(), (vec![], &[7][..]));
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
            &[0, 4, 5, 2, 2, 0, 0, 0, 0],
        ] {
            assert!(lengths(bytes, 5).is_none(), "{bytes:?}");
        }
    }

    /// Encodes `n` equal lengths: all differences are zero.
    fn same(n: u8, length: u8) -> Vec<u8> {
        vec![128, 1, 4, n, 2 * length, 0, 0, 0, 0, 0]
    }

    #[test]
    fn values_are_not_made_longer_than_a_page() {
        let plain = |common: u8, n: u8, text: &[u8]| {
            let (bytes, mut out) = ([same(n, common), same(n, 2), text.to_vec()].concat(), Vec::new());
            to_plain(&bytes, 100, None, true, &mut out).map(|()| out)
        };
        assert_eq!(plain(0, 2, b"abcd").unwrap(), b"\x02\0\0\0ab\x02\0\0\0cd");
        assert!(plain(1, 2, b"abcd").is_err(), "the first has nothing before it");
        assert!(plain(0, 2, b"abc").is_err());
        let mut out = Vec::new();
        to_plain(&[same(2, 2), b"abcd".to_vec()].concat(), 2, Some(2), false, &mut out).unwrap();
        assert_eq!(out, b"abcd");
        assert!(to_plain(&[same(2, 2), b"abcd".to_vec()].concat(), 2, Some(3), false, &mut out).is_err());
    }
}
