//! A buffer that ends directly before a protected memory page, so that reading past its end crashes.
//!
//! `tests/kernels.rs` uses it too.

#![allow(unsafe_code, reason = "memory is mapped and protected by hand")]

use std::ptr::{NonNull, null_mut};

/// Some readable and writable pages, followed by a protected one.
pub struct Page {
    start: NonNull<u8>,
    len: usize,
    guard_len: usize,
}

impl Page {
    /// At least `len` bytes, rounded up to whole pages.
    ///
    /// # Panics
    /// If the system has no memory.
    pub fn new(len: usize) -> Self {
        // SAFETY: the call only returns a number.
        let guard_len =
            usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).expect("a page has a size");
        let len = len.next_multiple_of(guard_len);
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: this creates a new mapping at an address that the system chooses.
        let start = unsafe { libc::mmap(null_mut(), len + guard_len, access, flags, -1, 0) };
        assert_ne!(start, libc::MAP_FAILED, "no memory");
        let start = NonNull::new(start.cast::<u8>()).expect("a mapping begins somewhere");
        // SAFETY: the guard is the last page of the mapping, and no reference points to it.
        let protected = unsafe { libc::mprotect(start.as_ptr().add(len).cast(), guard_len, libc::PROT_NONE) };
        assert_eq!(protected, 0, "the guard is not protected");
        Self { start, len, guard_len }
    }

    /// Copies `bytes` to the end of the buffer.
    ///
    /// # Panics
    /// If they do not fit.
    pub fn end_with(&mut self, bytes: &[u8]) -> &[u8] {
        // SAFETY: `len` bytes from `start` are mapped and initialised, and only `self` gives access to them.
        let all = unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) };
        let end = &mut all[self.len - bytes.len()..];
        end.copy_from_slice(bytes);
        end
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: this is the mapping that `new` created, and nothing points to it any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.len + self.guard_len) };
    }
}
