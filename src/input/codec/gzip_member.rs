//! Small members of gzip decoded whole, by libdeflate, which is half as fast again as what can stop anywhere.
//!
//! It wants to know how much memory a member takes, and does not say where one ends. So a member is only tried where the next
//! one, or the end of all, seems to be near: what stands there says how long it is (RFC 1952, section 2.3.1). That it ends there
//! is proven afterwards (`ends_with_footer`). Whatever is not so is left to the decoder, and whether it is depends on nothing but
//! the bytes of the file. The checksum is always compared. But of a damaged member whose checksum is right all the same zlib refuses
//! a little more: codes of symbols that there are not (RFC 1951, section 3.2.7), say.

use libdeflater::{Decompressor, crc32};
use memchr::memmem;

/// With what a member begins: the two bytes that say that it is one, and the one method that there is (RFC 1952, section 2.3.1).
pub(super) const MAGIC: &[u8] = b"\x1f\x8b\x08";

/// The flag of a header that has a checksum of its own, which libdeflate does not compare.
const HAS_HEADER_CHECKSUM: u8 = 2;

/// How long the shortest header is.
const HEADER_LEN: usize = 10;

/// The checksum and the length of what was packed.
const FOOTER_LEN: usize = 8;

/// The most that may come of a member that is decoded whole, in bytes.
const MOST: usize = 4 << 20;

/// What decodes small members.
pub(super) struct Members(Decompressor);

/// What became of a member.
pub(super) enum Member {
    /// How many bytes it is, and how many came of it.
    Whole(usize, usize),
    /// It is a small one, as it says, but larger than the room; how large.
    NoRoom(usize),
    /// It is none, or one that is left to the decoder; how many bytes may have been decoded to see that.
    Other(usize),
}

impl Members {
    pub(super) fn new() -> Self {
        Self(Decompressor::new())
    }

    /// Decodes the member with which `packed` begins into the start of `room`, if it is a small one. `is_all` says that nothing
    /// comes behind `packed`.
    pub(super) fn decode(&mut self, packed: &[u8], is_all: bool, room: &mut [u8]) -> Member {
        let Some((packed, len)) = extent(packed, is_all) else { return Member::Other(0) };
        let Some(room) = room.get_mut(..len) else { return Member::NoRoom(len) };
        match self.0.gzip_decompress(packed, room) {
            Ok(n) if n == len && ends_with_footer(packed, room) => Member::Whole(packed.len(), len),
            _ => Member::Other(len),
        }
    }
}

/// The member with which `packed` seems to begin, and how long it says that it was, if that is not too much.
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

/// Whether a member of which `bytes` came ends where `packed` does. Somewhere in `packed` it has ended, with their checksum and
/// length: if these stand at the end and nowhere before it, it was there.
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

    /// How long the member is, and what came of it.
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
                // A header may say other things; a name, a time, a system.
                let found = decoded(&spoiled, true);
                assert!(found.is_none_or(|(len, bytes)| len == member.len() && bytes == b"http://h/?q=http://h/\n"));
            }
        }
    }
}
