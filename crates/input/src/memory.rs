//! Memory that the system may refuse. Where a process runs out of memory otherwise, it is aborted. So large buffers are asked for, and work that
//! can be left out leaves some memory free.

use std::hint::black_box;
use std::io;

/// The memory that work ahead leaves free, for all that cannot be refused.
const LEFT_FREE: usize = 96 << 20;

/// What a worker thread takes at most: the tables, buffers and counts of a scan, and what the allocator keeps for a thread.
const OF_THREAD: usize = 96 << 20;

/// Buffers that grow by no more are always granted, as far as there is memory.
const SMALL: usize = 8 << 20;

/// Whether this process may only have so much memory (`ulimit -v`, `ulimit -d`). Otherwise the system grants what is asked for, and
/// asking takes milliseconds.
fn is_limited() -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit};
        use std::sync::LazyLock;

        static IS_LIMITED: LazyLock<bool> = LazyLock::new(|| {
            [Resource::As, Resource::Data].into_iter().any(|of| getrlimit(of).current.is_some())
        });
        *IS_LIMITED
    }
    #[cfg(not(unix))]
    false
}

/// Reserves memory, if there is so much. No page of it is used.
fn reserved(len: usize) -> Option<Vec<u8>> {
    let mut memory = Vec::new();
    // The black box keeps the compiler from removing an allocation that is not used.
    black_box(&mut memory).try_reserve_exact(len).is_ok().then_some(memory)
}

/// Whether there are `len` bytes for work that can be left out.
pub fn is_free(len: u64) -> bool {
    let is_granted = |len: usize| !is_limited() || reserved(len.saturating_add(LEFT_FREE)).is_some();
    usize::try_from(len).is_ok_and(is_granted)
}

/// For how many of `n` threads there is memory. At least for one.
pub fn threads_with_memory(n: usize) -> usize {
    if !is_limited() {
        return n;
    }
    let _rest = reserved(LEFT_FREE);
    let memory: Vec<_> = (0..n).map_while(|_| reserved(OF_THREAD)).collect();
    memory.len().max(1)
}

/// Lengthens a buffer to `len` bytes with zeros, if it is shorter.
///
/// # Errors
/// When there is not so much memory.
pub fn lengthen(buffer: &mut Vec<u8>, len: usize) -> io::Result<()> {
    let missing = len.saturating_sub(buffer.len());
    // What is made of a large buffer takes as much again.
    let is_granted = missing <= SMALL || is_free(2 * len as u64);
    if !is_granted || buffer.try_reserve_exact(missing).is_err() {
        let sentence = format!("there is not enough memory for {len} bytes at once");
        return Err(io::Error::new(io::ErrorKind::OutOfMemory, sentence));
    }
    buffer.resize(len.max(buffer.len()), 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_refused_is_an_error_and_leaves_the_buffer() {
        let mut buffer = b"a".to_vec();
        lengthen(&mut buffer, 3).unwrap();
        let error = lengthen(&mut buffer, isize::MAX as usize).unwrap_err();
        assert_eq!((error.kind(), &buffer[..]), (io::ErrorKind::OutOfMemory, &b"a\0\0"[..]));
        lengthen(&mut buffer, 1).unwrap();
        assert_eq!(buffer.len(), 3);
        assert!(is_free(1));
        assert!(reserved(1).is_some() && reserved(isize::MAX as usize).is_none());
        assert_eq!(threads_with_memory(1), 1);
    }
}
