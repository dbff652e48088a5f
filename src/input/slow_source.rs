//! A source for tests whose reads return few bytes.

use std::io::{self, Read};

/// Returns at most the given number of bytes per read.
pub(super) struct Slow<'a>(pub(super) &'a [u8], pub(super) usize);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.1.min(buffer.len()).min(self.0.len());
        buffer[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}
