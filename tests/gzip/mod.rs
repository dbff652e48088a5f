//! gzip files made by hand: their members lie where a test wants them.

/// A gzip member that stores `bytes` as they are.
pub(crate) fn member(bytes: &[u8]) -> Vec<u8> {
    let mut head = b"\x1f\x8b\x08\0\0\0\0\0\0\xff".to_vec();
    let len = u16::try_from(bytes.len()).unwrap();
    head.push(1);
    head.extend(len.to_le_bytes());
    head.extend((!len).to_le_bytes());
    head.extend(bytes);
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    head.extend((!crc).to_le_bytes());
    head.extend(u32::from(len).to_le_bytes());
    head
}
