//! Finds the parts of content whose headers say how long what follows is.

use super::walk::{Part, Prelude, Walk};

/// A format whose parts consist of headers and of bytes that are skipped.
pub(super) trait Headers: Send {
    /// Reads a header, which begins with `held`.
    fn read(&mut self, held: &[u8]) -> Header;

    /// The decoded length of the current part as far as it is known, or more.
    fn decoded_len(&self) -> u64;

    /// The bytes that a decoder needs before a unit.
    fn prelude(&self) -> &[u8] {
        &[]
    }

    /// Whether a walk also stops after skipped bytes within a part.
    fn stops_within(&self) -> bool {
        false
    }
}

/// The result of reading a header.
pub(super) enum Header {
    /// The header goes on.
    Incomplete,
    /// The header ends. So many bytes are skipped before the next one.
    Skip(u64),
    /// The header ends, and the part ends so many bytes later.
    Ends(u64, Part),
    /// No part can be found from here on: the cause, and whether the last byte counts as read.
    Lost(&'static str, bool),
}

/// A walk by headers.
#[derive(Default)]
pub(super) struct ByHeaders<H> {
    pub(super) format: H,
    /// The bytes of a header so far.
    held: Vec<u8>,
    /// Bytes to skip before the next header.
    skip: u64,
    /// The part that ends after the skipped bytes.
    part: Option<Part>,
}

impl<H> ByHeaders<H> {
    /// Whether the next byte begins a header.
    #[cfg(feature = "xz")]
    pub(super) fn is_between(&self) -> bool {
        self.skip == 0 && self.held.is_empty()
    }
}

impl<H: Headers> Walk for ByHeaders<H> {
    fn walk(&mut self, bytes: &[u8]) -> (usize, Option<Part>) {
        let mut at = 0;
        loop {
            let n = self.skip.min((bytes.len() - at) as u64);
            self.skip -= n;
            at += usize::try_from(n).expect("no more than there is");
            if self.skip == 0 {
                // A walk that is lost stays lost.
                let part = self.part;
                self.part = part.filter(|part| matches!(part, Part::Lost(_)));
                if part.is_some() || (n > 0 && self.format.stops_within()) {
                    return (at, part);
                }
            }
            let Some(&byte) = bytes.get(at) else { return (at, None) };
            at += 1;
            self.held.push(byte);
            (self.skip, self.part) = match self.format.read(&self.held) {
                Header::Incomplete => continue,
                Header::Skip(n) => (n, None),
                Header::Ends(n, part) => (n, Some(part)),
                Header::Lost(cause, is_read) => {
                    at -= usize::from(!is_read);
                    (0, Some(Part::Lost(cause)))
                }
            };
            self.held.clear();
        }
    }

    fn decoded_len(&self) -> u64 {
        self.format.decoded_len()
    }

    fn prelude(&self) -> Prelude {
        Prelude { bytes: self.format.prelude().to_vec(), decoded_len: 0 }
    }
}
