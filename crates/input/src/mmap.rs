//! Memory-mapped files: reads the page cache without a copy, while no other process can change the file.
//!
//! A memory-mapped file has three dangers. If it is truncated, the process is killed. If its bytes change, they change
//! while they are judged. If a disk fails, the process is killed too.
//!
//! A *lease* (`fcntl_locking(2)`, file leases) excludes the first two. The system grants one if no process has the file
//! open for writing. A process that then opens the file for writing, or truncates it, waits until the lease is
//! returned. The lease is held while there are windows. Once a process waits, no new window is opened, and the open ones
//! give out no more lines. So it waits for the lines that were given out before. A thread gets as many at a time as it judges
//! in about [`TIME`] ([`Pace`]), and so few that they last less than [`LATE`] if they cost more than those before.
//! There are no windows if threads have to wait for each other, because a suspended thread keeps its window. Nor are there any after
//! a thread had to wait for a processor. To exclude the third danger, a window is given out only if all its pages are in memory. Everything else is read with `read`.
//!
//! Some file systems grant leases that prevent nothing. A file on FUSE can change in its server, and a file on overlayfs
//! in the layer below. So files are memory-mapped only on file systems that are known to keep leases.
//!
//! One risk remains. The system waits no longer than `/proc/sys/fs/lease-break-time`, 45 seconds. Suppose that a scan is
//! suspended (Ctrl-Z) inside a window, that its file is truncated, and that the scan continues after that time. Then a
//! signal ends the process.

#![allow(
    unsafe_code,
    reason = "memory that is a file is the system's; each block says why the file does not change"
)]

use std::fs::File;
use std::num::NonZero;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memmap2::{Mmap, MmapOptions};
use rustix::fs::fstatfs;

use urlsift_engine::lines::beginning_in;

/// A file whose parts can be memory-mapped.
pub struct Mapped {
    file: File,
    len: u64,
    /// Number of open windows.
    n_windows: Mutex<usize>,
    /// Whether lines of a window took longer than [`LATE`].
    is_late: AtomicBool,
}

/// A memory-mapped part of a file. While it exists, processes that want to write to the file wait.
pub struct Window<'a> {
    // Fields are dropped in this order, so the file is unmapped before the lease is returned.
    map: Mmap,
    /// Offset of the window in the file.
    start: u64,
    /// Whether the window ends where the file does.
    is_last: bool,
    pace: Pace,
    lease: Lease<'a>,
}

/// The lease of the file, which all its windows share.
struct Lease<'a>(&'a Mapped);

/// Windows begin at multiples of this, which is a multiple of the page size of any system.
const ALIGNMENT: u64 = 64 << 10;

/// Longest range of a window, in bytes. A longer window would last too long.
const MOST: u64 = 64 << 20;

/// Magic numbers of the file systems on which a lease prevents every change of a file: ext2 to ext4, XFS, Btrfs and
/// tmpfs (`statfs(2)`).
const KEEPING_LEASES: [u32; 4] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994];

/// How long a thread judges lines between two looks whether a process waits to write.
const TIME: Duration = Duration::from_millis(2);

/// The longest time between two looks, unless the thread waits for a processor.
const LATE: Duration = Duration::from_millis(10);

/// Fewest, first and most bytes of lines between two looks. The costliest lines are judged at 80 MB/s.
const LEAST_LINES: u64 = 4 << 10;
const FIRST_LINES: u64 = 16 << 10;
const MOST_LINES: u64 = 256 << 10;

/// How many bytes of lines a thread gets between two looks whether a process waits to write.
struct Pace {
    len: u64,
    /// How many bytes it got last, and when.
    last: Option<(u64, Instant)>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { len: FIRST_LINES, last: None }
    }
}

impl Pace {
    /// The most bytes that are judged in [`TIME`], if the last `len` bytes took so long. At most twice as many as the last time,
    /// because the next lines may cost more.
    fn after(&self, len: u64, took: Duration) -> u64 {
        let len = u128::from(len) * TIME.as_nanos() / took.as_nanos().max(1);
        u64::try_from(len).unwrap_or(u64::MAX).clamp(LEAST_LINES, 2 * self.len).min(MOST_LINES)
    }

    /// The beginning of `range` that is judged next. `None` if the last lines took longer than [`LATE`].
    fn next(&mut self, range: &Range<u64>) -> Option<Range<u64>> {
        let now = Instant::now();
        if let Some((len, then)) = self.last {
            (now - then <= LATE).then_some(())?;
            self.len = self.after(len, now - then);
        }
        let end = range.end.min(range.start + self.len);
        self.last = Some((end - range.start, now));
        Some(range.start..end)
    }
}

/// The command that chooses the signal for a waiting writer (`fcntl(2)`).
const F_SETSIG: i32 = 10;

/// How far lines extend after the range where they begin. Longer ones are read.
const REACH: u64 = 64 << 10;

impl Mapped {
    /// A file to be memory-mapped. It was opened for reading only, and is `len` bytes long. `None` if its file system is
    /// not known to keep leases, or if the handle cannot be duplicated.
    pub fn of(file: &File, len: u64) -> Option<Self> {
        let file = keeps_leases(file).then(|| file.try_clone().ok()).flatten()?;
        Some(Self { file, len, n_windows: Mutex::new(0), is_late: AtomicBool::new(false) })
    }

    /// Whether `n_threads` threads keep a process that wants to write waiting for a moment only.
    pub fn is_brief(n_threads: usize) -> bool {
        n_threads <= thread::available_parallelism().map_or(1, NonZero::get)
    }

    /// A window with the lines that begin in `range` of the file. `None` if `range` is too long, if not all of it is in
    /// memory, or if the system grants no lease. It grants none while another process has the file open for writing, or
    /// waits to open it. It also grants none for files of other users. `None` too if a thread had to wait for a processor.
    pub fn window(&self, range: Range<u64>) -> Option<Window<'_>> {
        if range.end - range.start > MOST || self.is_late.load(Ordering::Relaxed) {
            return None;
        }
        let lease = self.lease()?;
        let start = range.start.saturating_sub(1) / ALIGNMENT * ALIGNMENT;
        let end = self.len.min(range.end.saturating_add(REACH));
        let len = usize::try_from(end - start).ok()?;
        // SAFETY: while the lease is held, no process writes to the file or makes it shorter. The lease is dropped after
        // the map.
        let map = unsafe { MmapOptions::new().offset(start).len(len).map(&self.file) }.ok()?;
        is_in_memory(&map).then_some(Window {
            map,
            start,
            is_last: end == self.len,
            pace: Pace::default(),
            lease,
        })
    }

    fn lease(&self) -> Option<Lease<'_>> {
        let mut n_windows = self.n_windows();
        if *n_windows > 0 {
            self.is_undisturbed().then_some(())?;
        } else {
            // The default signal for a waiting writer is SIGIO, which ends a process that does not handle it. SIGURG is
            // ignored. Waiting writers are noticed by the query above, before each window. Returning the lease also
            // resets the signal.
            (fcntl(&self.file, F_SETSIG, libc::SIGURG) == 0).then_some(())?;
            (fcntl(&self.file, libc::F_SETLEASE, libc::F_RDLCK) == 0).then_some(())?;
            // The file may have become shorter before the lease was granted.
            if self.file.metadata().map_or(0, |metadata| metadata.len()) < self.len {
                fcntl(&self.file, libc::F_SETLEASE, libc::F_UNLCK);
                return None;
            }
        }
        *n_windows += 1;
        Some(Lease(self))
    }

    /// Whether the lease is held and no process waits to write. If one waits, the lease is no longer a read lease.
    fn is_undisturbed(&self) -> bool {
        fcntl(&self.file, libc::F_GETLEASE, 0) == libc::F_RDLCK
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
            fcntl(&self.0.file, libc::F_SETLEASE, libc::F_UNLCK);
        }
    }
}

impl Window<'_> {
    /// The lines that begin in the first part of `range` of the file, the offset of the first one, and the end of that part.
    /// `range` is part of the window's range. `None` if the last line is long or may continue after the window, if a process
    /// waits to write to the file, or if a thread had to wait for a processor.
    pub fn lines(&mut self, range: &Range<u64>) -> Option<(u64, &[u8], u64)> {
        let mapped = self.lease.0;
        (mapped.is_undisturbed() && !mapped.is_late.load(Ordering::Relaxed)).then_some(())?;
        let Some(part) = self.pace.next(range) else {
            mapped.is_late.store(true, Ordering::Relaxed);
            return None;
        };
        let at = |offset: u64| usize::try_from(offset - self.start).expect("a window is in memory");
        let end = self.map.len().min(at(part.end + REACH));
        let lines = beginning_in(&self.map[..end], at(part.start), at(part.end));
        let (offset, lines) = (self.start + lines.start as u64, &self.map[lines]);
        let is_whole = (self.is_last && end == self.map.len()) || lines.is_empty() || lines.ends_with(b"\n");
        is_whole.then_some((offset, lines, part.end))
    }
}

/// Whether a lease on the file prevents all changes of the file.
fn keeps_leases(file: &File) -> bool {
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::unnecessary_cast,
        reason = "magic numbers have 32 bits, and the type of the field differs by processor"
    )]
    fstatfs(file).is_ok_and(|system| KEEPING_LEASES.contains(&(system.f_type as u32)))
}

/// Whether all pages of the map are in memory.
fn is_in_memory(map: &Mmap) -> bool {
    // SAFETY: the call takes a number and accesses no memory of ours.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    let Some(page) = usize::try_from(page).ok().filter(|&page| page > 0) else { return false };
    let mut states = vec![0; map.len().div_ceil(page)];
    // SAFETY: the map begins at a page boundary, because its offset in the file does. `states` has a byte for each page.
    let failed = unsafe { libc::mincore(map.as_ptr().cast_mut().cast(), map.len(), states.as_mut_ptr()) };
    failed == 0 && states.iter().all(|state| state & 1 == 1)
}

fn fcntl(file: &File, command: i32, argument: i32) -> i32 {
    // SAFETY: these commands take a number and access no memory. The file is open.
    unsafe { libc::fcntl(file.as_raw_fd(), command, argument) }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, OpenOptions};
    use std::os::unix::fs::OpenOptionsExt;

    use super::*;

    /// The lines that begin in `range`, and the offset of the first one.
    fn lines_in<'a>(window: &'a mut Window<'_>, range: Range<u64>) -> Option<(u64, &'a [u8])> {
        window.pace = Pace { len: 1 << 20, last: None };
        window.lines(&range).map(|(offset, lines, end)| {
            assert_eq!(end, range.end);
            (offset, lines)
        })
    }

    #[test]
    fn a_thread_soon_looks_again_whatever_lines_cost() {
        // Lines of 4 GB/s, and those of 25 and 2 MB/s.
        for (bytes_per_ms, most) in [(4_000_000, MOST_LINES), (25_000, 50_000), (2_048, LEAST_LINES)] {
            let mut pace = Pace::default();
            let took = |len: u64| Duration::from_nanos(len * 1_000_000 / bytes_per_ms);
            let lens: Vec<_> = (0..10)
                .map(|_| {
                    pace.len = pace.after(pace.len, took(pace.len));
                    pace.len
                })
                .collect();
            assert_eq!(lens.last(), Some(&most), "{lens:?}");
            assert!(lens.iter().all(|&len| took(len) <= TIME), "{lens:?}");
        }
        let mut pace = Pace::default();
        assert_eq!(pace.next(&(5..9)), Some(5..9));
        assert_eq!(Pace::default().next(&(0..1 << 20)), Some(0..FIRST_LINES));
        // Costly lines may follow the cheapest ones.
        let most = Duration::from_nanos(MOST_LINES * 1_000 / 80);
        assert!(most < LATE, "{most:?}");
    }

    #[test]
    fn after_a_wait_for_a_processor_the_file_is_read() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, b"http://h/\n".repeat(10_000)).unwrap();
        let opened = File::open(&file).unwrap();
        let Some(mapped) = Mapped::of(&opened, 100_000) else { return };
        let Some(mut window) = mapped.window(0..50_000) else { return };
        let Some(mut other) = mapped.window(50_000..100_000) else { return };
        assert!(lines_in(&mut other, 50_000..60_000).is_some());
        window.pace.last = Instant::now().checked_sub(2 * LATE).map(|then| (10, then));
        assert!(window.lines(&(0..10)).is_none());
        assert!(lines_in(&mut other, 60_000..70_000).is_none());
        assert!(mapped.window(0..50_000).is_none());
    }

    #[test]
    fn windows_hold_the_lines_that_begin_there() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        let bytes: Vec<u8> = (0..40_000).flat_map(|n| format!("http://h/{n}\n").into_bytes()).collect();
        fs::write(&file, &bytes).unwrap();
        let len = bytes.len() as u64;
        let opened = File::open(&file).unwrap();
        // The system that runs the tests may grant no leases.
        let Some(mapped) = Mapped::of(&opened, len) else { return };
        for step in [1, 7000, 65_536, 65_537, 300_000, len] {
            let starts = (0..len).step_by(usize::try_from(step).unwrap()).take(20);
            for range in starts.map(|start| start..len.min(start + step)) {
                let Some(mut window) = mapped.window(range.clone()) else { return };
                let at = |offset: u64| usize::try_from(offset).unwrap();
                let expected = beginning_in(&bytes, at(range.start), at(range.end));
                let (offset, lines) = lines_in(&mut window, range).unwrap();
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
            lines_in(&mut mapped.window(range.clone())?, range).map(|(at, lines)| (at, lines.len()))
        };
        assert_eq!(lines(0..10), None);
        let window = mapped.window(0..199_000);
        assert!(window.is_none_or(|mut window| lines_in(&mut window, 0..100_000).is_none()), "it is long");
        assert_eq!(lines(0..199_000), Some((0, 200_001)));
        assert_eq!(lines(150_000..200_002), Some((200_001, 1)));
    }

    #[test]
    fn files_of_other_file_systems_are_not_mapped() {
        assert!(Mapped::of(&File::open("/proc/self/stat").unwrap(), 1).is_none(), "procfs");
    }

    #[test]
    fn who_writes_waits_for_windows_and_no_longer() {
        let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
        fs::write(&file, b"http://h/\n".repeat(10_000)).unwrap();
        let opened = File::open(&file).unwrap();
        let Some(mapped) = Mapped::of(&opened, 100_000) else { return };
        let writer = OpenOptions::new().write(true).open(&file).unwrap();
        assert!(mapped.window(0..100_000).is_none(), "somebody has it open to write");
        drop(writer);
        let Some(mut window) = mapped.window(0..100_000) else { return };
        let path = &file;
        thread::scope(|scope| {
            let writer =
                scope.spawn(|| OpenOptions::new().write(true).open(path).unwrap().set_len(10).unwrap());
            // The writer may not have tried to open the file yet.
            while mapped.window(0..100_000).is_some() {
                thread::yield_now();
            }
            assert!(!writer.is_finished() && window.map[..] == *b"http://h/\n".repeat(10_000));
            assert!(lines_in(&mut window, 0..10).is_none(), "the window is to be dropped soon");
            drop(window);
            writer.join().unwrap();
        });
        assert_eq!(opened.metadata().unwrap().len(), 10);
        assert!(mapped.window(0..10).is_none(), "it is shorter than it was");
        fs::write(&file, b"http://i/\n".repeat(10_000)).unwrap();
        for _ in 0..3 {
            let mut window = mapped.window(0..10).unwrap();
            assert_eq!(lines_in(&mut window, 0..10).unwrap(), (0, &b"http://i/\n"[..]));
            let mut options = OpenOptions::new();
            let refused = options.write(true).custom_flags(libc::O_NONBLOCK).open(&file);
            assert!(refused.is_err(), "no signal ends the process");
        }
    }
}
