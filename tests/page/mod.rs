//! Bytes that end where the memory does: behind the last one lies a page that must not be touched.

#![allow(unsafe_code, reason = "memory is mapped and protected by hand")]

use std::ptr::{NonNull, null_mut};

/// Some pages that can be read and written, and one behind them that cannot.
pub(crate) struct Page {
    start: NonNull<u8>,
    len: usize,
    guard_len: usize,
}

impl Page {
    /// At least `len` bytes in whole pages.
    ///
    /// # Panics
    /// When the system gives no memory.
    pub(crate) fn new(len: usize) -> Self {
        // SAFETY: only asks for a number.
        let guard_len =
            usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page has a size");
        let len = len.next_multiple_of(guard_len);
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping wherever there is room.
        let start = unsafe { libc::mmap(null_mut(), len + guard_len, access, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "no memory");
        let start = NonNull::new(start.cast::<u8>()).expect("a mapping begins somewhere");
        // SAFETY: the guard is the last page of the mapping, and no reference points there.
        let protected = unsafe { libc::mprotect(start.as_ptr().add(len).cast(), guard_len, libc::PROT_NONE) };
        assert_eq!(protected, 0, "the guard is not protected");
        Self { start, len, guard_len }
    }

    /// `bytes`, copied so that they end where the memory does.
    ///
    /// # Panics
    /// When there is not enough room.
    pub(crate) fn end_with(&mut self, bytes: &[u8]) -> &[u8] {
        // SAFETY: `len` bytes from `start` on are mapped, zero at first, and borrowed from `self` alone.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) };
        let end = &mut all[self.len - bytes.len()..];
        end.copy_from_slice(bytes);
        end
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: the mapping that `new` made, to which nothing points any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len + self.guard_len) };
    }
}
