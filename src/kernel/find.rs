//! Which bytes are one of a few: a bit for each of 64 bytes, block by block. Not on lanes, so no part of [`super::Kernel`].

use super::BLOCK;

/// Says in `found` of each of `blocks` which of its bytes are in `set`; the lowest bit is the first byte.
///
/// # Panics
///
/// When `found` is shorter than `blocks`.
pub(crate) fn find(set: [u8; 3], blocks: &[[u8; BLOCK]], found: &mut [u64]) {
    let found = &mut found[..blocks.len()];
    #[cfg(target_arch = "x86_64")]
    {
        if let Some(avx512) = super::Avx512::detect() {
            return avx512.find(set, blocks, found);
        }
        if let Some(avx2) = super::Avx2::detect() {
            return avx2.find(set, blocks, found);
        }
    }
    for (found, block) in found.iter_mut().zip(blocks) {
        *found = bits(set, block);
    }
}

/// The bits of one block, in a way of which compilers make vectors.
#[allow(clippy::needless_bitwise_bool, reason = "without branches")]
fn bits(set: [u8; 3], block: &[u8; BLOCK]) -> u64 {
    let is_in = block.map(|byte| u8::from((byte == set[0]) | (byte == set[1]) | (byte == set[2])));
    // Those of eight bytes come together in the top byte.
    let gather = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    is_in.as_chunks().0.iter().rev().fold(0, |bits, eight| bits << 8 | gather(eight))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each byte value at each place, among bytes that are in the set or are not.
    #[test]
    fn all_bytes_in_all_places() {
        let set = [b'"', b',', 0xff];
        for around in [b'"', b'"' ^ 0x80, b'"' - 1, 0] {
            for place in 0..BLOCK {
                let blocks: Vec<_> = (0..=255)
                    .map(|byte| {
                        let mut block = [around; BLOCK];
                        block[place] = byte;
                        block
                    })
                    .collect();
                let expected: Vec<_> = blocks
                    .iter()
                    .map(|block| {
                        let is_in = |n: &usize| set.contains(&block[*n]);
                        (0..BLOCK).filter(is_in).fold(0, |bits, n| bits | 1_u64 << n)
                    })
                    .collect();
                let check = |find: &dyn Fn(&mut [u64])| {
                    let mut found = vec![0; blocks.len()];
                    find(&mut found);
                    assert!(found == expected, "{around} {place}");
                };
                check(&|found| find(set, &blocks, found));
                check(&|found| {
                    found.iter_mut().zip(&blocks).for_each(|(bits, block)| *bits = self::bits(set, block));
                });
                #[cfg(target_arch = "x86_64")]
                {
                    if let Some(avx2) = crate::kernel::Avx2::detect() {
                        check(&|found| avx2.find(set, &blocks, found));
                    }
                    if let Some(avx512) = crate::kernel::Avx512::detect() {
                        check(&|found| avx512.find(set, &blocks, found));
                    }
                }
            }
        }
    }
}
