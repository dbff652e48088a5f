//! Files as they lie in the system's memory, without a copy: those that nobody can change meanwhile, where they lie there whole.
//!
//! Three things are dangerous about a mapped file: that it is cut shorter, which ends the process; that its bytes change while they
//! are judged; and that a disk fails, which ends the process too. Against the first two there is the *lease* (`fcntl_locking(2)`, file
//! leases): the system gives one for a file that is nobody's to write at the moment, and has whoever opens it to write or cuts it
//! wait until the lease is given back. It is held as long as there are windows, each of which is looked at for some milliseconds,
//! and once somebody waits, there are no new ones. Against the third, only such windows are given out as have all their pages in
//! memory. For everything else there is `read`.
//!
//! What is left: the system waits no longer than `/proc/sys/fs/lease-break-time`, 45 seconds. A scan that was stopped (Ctrl-Z) in the
//! middle of a window, continued later than that, and had its file cut shorter in between, ends by a signal.

#![allow(
    unsafe_code,
    reason = "memory that is a file is the system's; each block says why the file does not change"
)]

use std::fs::File;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, PoisonError};

use memchr::memchr;
use memmap2::{Mmap, MmapOptions};

use crate::lines::beginning_in;

/// A file of which windows can be looked at.
pub(crate) struct Mapped<'a> {
    file: &'a File,
    len: u64,
    /// How many windows there are.
    n_windows: Mutex<usize>,
}

/// Part of a file. Who has one keeps writers waiting.
pub(crate) struct Window<'a> {
    // Unmapped before the lease is given back: fields are dropped in this order.
    map: Mmap,
    /// Where in the file it begins.
    start: u64,
    /// Whether the file ends with it.
    is_last: bool,
    _lease: Lease<'a>,
}

/// The system's promise, which all windows share.
struct Lease<'a>(&'a Mapped<'a>);

/// Windows begin at multiples of that: those of the pages of any system.
const ALIGNMENT: u64 = 64 << 10;

/// A window of more would be looked at for too long.
const MOST: u64 = 64 << 20;

/// Which signal says that somebody wants to write (`fcntl(2)`).
const F_SETSIG: i32 = 10;

/// How far a window goes beyond its range: lines end there.
const REACH: u64 = 64 << 10;

impl<'a> Mapped<'a> {
    /// `file`, which was opened to be read alone and is `len` bytes long.
    #[allow(clippy::unnecessary_wraps, reason = "elsewhere there is none")]
    pub(crate) fn of(file: &'a File, len: u64) -> Option<Self> {
        Some(Self { file, len, n_windows: Mutex::new(0) })
    }

    /// A window in which the lines stand that begin in `range` of the file; `None` where not all of it is in memory, or where the
    /// system promises nothing: somebody has the file open to write or wants to, it is somebody else's, its file system knows no
    /// leases.
    pub(crate) fn window(&'a self, range: Range<u64>) -> Option<Window<'a>> {
        if range.end - range.start > MOST {
            return None;
        }
        let lease = self.lease()?;
        let start = range.start.saturating_sub(1) / ALIGNMENT * ALIGNMENT;
        let end = self.len.min(range.end.saturating_add(REACH));
        let len = usize::try_from(end - start).ok()?;
        // SAFETY: nobody writes to the file or makes it shorter as long as the lease is held, and it is dropped after the map.
        let map = unsafe { MmapOptions::new().offset(start).len(len).map(self.file) }.ok()?;
        is_in_memory(&map).then_some(Window { map, start, is_last: end == self.len, _lease: lease })
    }

    fn lease(&'a self) -> Option<Lease<'a>> {
        let mut n_windows = self.n_windows();
        if *n_windows > 0 {
            // Somebody may want to write.
            (fcntl(self.file, libc::F_GETLEASE, 0) == libc::F_RDLCK).then_some(())?;
        } else {
            // Whoever wants to write is not announced by SIGIO, which ends a process that does not expect it, but by what is passed
            // over; he is asked for before each window. With the lease that is forgotten too.
            (fcntl(self.file, F_SETSIG, libc::SIGURG) == 0).then_some(())?;
            (fcntl(self.file, libc::F_SETLEASE, libc::F_RDLCK) == 0).then_some(())?;
            // It may have been cut before.
            if self.file.metadata().map_or(0, |metadata| metadata.len()) < self.len {
                fcntl(self.file, libc::F_SETLEASE, libc::F_UNLCK);
                return None;
            }
        }
        *n_windows += 1;
        Some(Lease(self))
    }

    fn n_windows(&self) -> MutexGuard<'_, usize> {
        self.n_windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let mut n_windows = self.0.n_windows();
        *n_windows -= 1;
        if *n_windows == 0 {
            fcntl(self.0.file, libc::F_SETLEASE, libc::F_UNLCK);
        }
    }
}

impl Window<'_> {
    /// The lines that begin in `range` of the file, which is part of the window's, and where the first of them begins; `None` where
    /// the last of them may go on behind the window.
    pub(crate) fn lines(&self, range: Range<u64>) -> Option<(u64, &[u8])> {
        let at = |offset: u64| usize::try_from(offset - self.start).expect("a window is in memory");
        let end = at(range.end);
        (self.is_last || memchr(b'\n', &self.map[end - 1..]).is_some()).then(|| {
            let lines = beginning_in(&self.map, at(range.start), end);
            (self.start + lines.start as u64, &self.map[lines])
        })
    }
}

/// Whether all pages of the map are in memory.
fn is_in_memory(map: &Mmap) -> bool {
    // SAFETY: the call reads nothing of ours.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|&page| page > 0) else { return false };
    let mut states = vec![0; map.len().div_ceil(page)];
    // SAFETY: the map begins at a page, since its offset in the file does, and there is a byte for each of its pages.
    let failed = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), states.as_mut_ptr()) };
    failed == 0 && states.iter().all(|state| state & 1 == 1)
}

fn fcntl(file: &File, command: i32, argument: i32) -> i32 {
    // SAFETY: these commands take a number and touch no memory; the file is open.
    unsafe { libc::fcntl(file.as_raw_fd(), command, argument) }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::OpenOptionsExt;
    use std::thread;

    use super::*;

    #[test]
    fn windows_hold_the_lines_that_begin_there() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let bytes: Vec<u8> = (0..40_000).flat_map(|n| format!("http://h/{n}\n").into_bytes()).collect();
        fs::write(&file, &bytes).unwrap();
        let len = bytes.len() as u64;
        let opened = File::open(&file).unwrap();
        // Where the tests run there may be no leases.
        let Some(mapped) = Mapped::of(&opened, len) else { return };
        for step in [1, 7000, 65_536, 65_537, 300_000, len] {
            let starts = (0..len).step_by(usize::try_from(step).unwrap()).take(20);
            for range in starts.map(|start| start..len.min(start + step)) {
                let Some(window) = mapped.window(range.clone()) else { return };
                let at = |offset: u64| usize::try_from(offset).unwrap();
                let expected = beginning_in(&bytes, at(range.start), at(range.end));
                let (offset, lines) = window.lines(range).unwrap();
                assert_eq!((at(offset), lines), (expected.start, &bytes[expected]));
            }
        }
    }

    #[test]
    fn a_line_that_goes_on_is_not_cut() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, [&*b"a".repeat(200_000), b"\nb"].concat()).unwrap();
        let opened = File::open(&file).unwrap();
        let Some(mapped) = Mapped::of(&opened, 200_002) else { return };
        let lines = |range: Range<u64>| {
            mapped.window(range.clone())?.lines(range).map(|(at, lines)| (at, lines.len()))
        };
        assert_eq!(lines(0..10), None);
        assert_eq!(lines(0..199_000), Some((0, 200_001)));
        assert_eq!(lines(150_000..200_002), Some((200_001, 1)));
    }

    #[test]
    fn who_writes_waits_for_windows_and_no_longer() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, b"http://h/\n".repeat(10_000)).unwrap();
        let opened = File::open(&file).unwrap();
        let mapped = Mapped::of(&opened, 100_000).unwrap();
        let writer = OpenOptions::new().write(true).open(&file).unwrap();
        assert!(mapped.window(0..100_000).is_none(), "somebody has it open to write");
        drop(writer);
        let Some(window) = mapped.window(0..100_000) else { return };
        let path = &file;
        thread::scope(|scope| {
            let writer =
                scope.spawn(|| OpenOptions::new().write(true).open(path).unwrap().set_len(10).unwrap());
            // He may not have come as far as to ask.
            while mapped.window(0..100_000).is_some() {
                thread::yield_now();
            }
            assert!(!writer.is_finished() && window.lines(0..100_000).unwrap().1.len() == 100_000);
            drop(window);
            writer.join().unwrap();
        });
        assert_eq!(opened.metadata().unwrap().len(), 10);
        assert!(mapped.window(0..10).is_none(), "it is shorter than it was");
        fs::write(&file, b"http://i/\n".repeat(10_000)).unwrap();
        for _ in 0..3 {
            let window = mapped.window(0..10).unwrap();
            assert_eq!(window.lines(0..10).unwrap(), (0, &b"http://i/\n"[..]));
            let mut options = OpenOptions::new();
            let refused = options.write(true).custom_flags(libc::O_NONBLOCK).open(&file);
            assert!(refused.is_err(), "no signal ends the process");
        }
    }
}
