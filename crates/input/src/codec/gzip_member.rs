//! Decodes small gzip members whole with libdeflate, which is 1.5 times as fast as a streaming decoder.
//!
//! libdeflate needs the length of the output in advance, and does not report where a member ends. So a member is tried
//! only if the next member's header, or the end of the source, is near. The footer before that place gives the length of
//! the output (RFC 1952, section 2.3.1). After decoding, `ends_with_footer` proves that the member ends there. All other
//! members are left to the decoder. This choice depends only on the bytes of the file.
//!
//! The checksum is always compared. zlib is a little stricter about damaged members whose checksum is right. For example,
//! it refuses codes of symbols that do not exist (RFC 1951, section 3.2.7).

use libdeflater::{Decompressor, crc32};
use memchr::memmem;

/// The first bytes of a member: two magic bytes, and the only compression method (RFC 1952, section 2.3.1).
pub(super) const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// The header flag for a checksum of the header, which libdeflate does not compare.
const HAS_HEADER_CHECKSUM: u8 = 2;

/// Length of the shortest header.
const HEADER_LEN: usize = 10;

/// Length of the footer: the checksum and the length of the decoded bytes.
const FOOTER_LEN: usize = 8;

/// Most decoded bytes of a member that is decoded whole.
const MOST: usize = 4 << 20;

/// A decoder of small members.
pub(super) struct Members(Decompressor);

/// The result of decoding a member.
pub(super) enum Member {
    /// A whole member: its compressed length and its decoded length.
    Whole(usize, usize),
    /// A small member whose output exceeds the buffer: the length that its footer states.
    NoRoom(usize),
    /// No member, or one that is left to the decoder: how many bytes may have been decoded to find that out.
    Other(usize),
}

impl Members {
    pub(super) fn new() -> Self {
        Self(Decompressor::new())
    }

    /// Decodes the member at the start of `packed` into the start of `room`, if it is small. `is_all` says that the
    /// source ends with `packed`.
    pub(super) fn decode(&mut self, packed: &[u8], is_all: bool, room: &mut [u8]) -> Member {
        let Some((packed, len)) = extent(packed, is_all) else { return Member::Other(0) };
        let Some(room) = room.get_mut(..len) else { return Member::NoRoom(len) };
        match self.0.gzip_decompress(packed, room) {
            Ok(n) if n == len && ends_with_footer(packed, room) => Member::Whole(packed.len(), len),
            _ => Member::Other(len),
        }
    }
}

/// The apparent bytes of the member at the start of `packed`, and the decoded length that its footer states. `None` if
/// the member is left to the decoder.
fn extent(packed: &[u8], is_all: bool) -> Option<(&[u8], usize)> {
    if !packed.starts_with(MAGIC) || *packed.get(3)? & HAS_HEADER_CHECKSUM != 0 {
        return None;
    }
    let behind = packed.get(HEADER_LEN + FOOTER_LEN..)?;
    let end = match memmem::find(behind, MAGIC) {
        Some(at) => HEADER_LEN + FOOTER_LEN + at,
        None if is_all => packed.len(),
        None => return None,
    };
    let packed = &packed[..end];
    let len = u32::from_le_bytes(*packed.last_chunk()?);
    let len = usize::try_from(len).ok().filter(|&len| len <= MOST)?;
    Some((packed, len))
}

/// Whether the member that decoded to `bytes` ends where `packed` does. A member ends with the checksum and the length of
/// its decoded bytes. If these eight bytes occur at the end of `packed` and nowhere before it, the member ends there.
fn ends_with_footer(packed: &[u8], bytes: &[u8]) -> bool {
    let Ok(len) = u32::try_from(bytes.len()) else { return false };
    let footer = [crc32(bytes).to_le_bytes(), len.to_le_bytes()].concat();
    memmem::find(packed, &footer) == Some(packed.len() - FOOTER_LEN)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, GzBuilder};

    use super::*;

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzBuilder::new().filename("list").write(Vec::new(), Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    /// The compressed length of the member, and its decoded bytes.
    fn decoded(packed: &[u8], is_all: bool) -> Option<(usize, Vec<u8>)> {
        let mut room = vec![0; 1000];
        match Members::new().decode(packed, is_all, &mut room) {
            Member::Whole(len, n) => Some((len, room[..n].to_vec())),
            _ => None,
        }
    }

    #[test]
    fn members_end_where_the_next_begins_or_all_does() {
        let member = packed(b"http://h/\n");
        let found = Some((member.len(), b"http://h/\n".to_vec()));
        assert_eq!(decoded(&[&*member, MAGIC].concat(), false), found);
        assert_eq!(decoded(&member, true), found);
        assert_eq!(decoded(&member, false), None, "it may go on");
        assert_eq!(decoded(&[&*member, &packed(b"")].concat(), true), found);
        assert_eq!(decoded(&packed(b""), true), None, "its footer is zeros, which stand before it too");
        assert!(matches!(Members::new().decode(&member, true, &mut [0; 9]), Member::NoRoom(10)));
    }

    #[test]
    fn what_is_behind_a_member_is_not_part_of_it() {
        let member = packed(b"http://h/\n");
        let footer = &member[member.len() - FOOTER_LEN..];
        for behind in [&b"\0"[..], b"?", &[0; FOOTER_LEN], footer, &[b"?", footer].concat()] {
            assert_eq!(decoded(&[&*member, behind].concat(), true), None, "{behind:?}");
            assert_eq!(decoded(&[&*member, behind, MAGIC].concat(), false), None, "{behind:?}");
        }
    }

    #[test]
    fn what_is_cut_or_spoiled_is_none() {
        let member = packed(b"http://h/?q=http://h/\n");
        for at in 0..member.len() {
            assert_eq!(decoded(&member[..at], true), None, "{at}");
            for bit in 0..8 {
                let mut spoiled = member.clone();
                spoiled[at] ^= 1 << bit;
                // Some header fields may have any value: the name, the time, the system.
                let found = decoded(&spoiled, true);
                assert!(found.is_none_or(|(len, bytes)| len == member.len() && bytes == b"http://h/?q=http://h/\n"));
            }
        }
    }
}
