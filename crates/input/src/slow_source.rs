//! Sources for tests: one whose reads return few bytes, and one that also fails at its end.

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

/// A source that returns at most `step` bytes per read. It fails after `bytes`, if `fails` is set.
#[cfg(any(feature = "gzip", all(feature = "zstd", feature = "bzip2", feature = "xz")))]
pub(super) fn slow_and_failing(bytes: &[u8], step: usize, fails: bool) -> impl Read + Send {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    Slow(bytes, step).chain(Broken.take(u64::from(fails)))
}
