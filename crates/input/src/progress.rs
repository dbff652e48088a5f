//! The progress of a scan, and the means to stop it from outside. This file knows no terminal and no signal.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{fmt, io};

/// Reports the progress of a scan, and stops it. Clones share one state, and any thread may use them.
///
/// A scan checks the watch in its `run::ExecOptions` before each chunk. After a stop, the scan still counts all lines that have been
/// read. Inputs that were not read to their end fail, and `run::Failure::is_stop` says so.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<ProgressState>);

#[derive(Debug, Default)]
struct ProgressState {
    bytes: AtomicU64,
    lines: AtomicU64,
    is_stopped: Arc<AtomicBool>,
    #[cfg(unix)]
    bell: bell::Bell,
}

impl Watch {
    /// Stops the scan before its next chunk. This also interrupts all waiting for input. A stop cannot be undone.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        #[cfg(unix)]
        self.0.bell.ring();
    }

    /// The flag that [`stop`](Self::stop) sets. It is meant for a signal handler, which may only set a flag. Setting it stops the
    /// scan, but does not interrupt waiting for input.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.is_stopped)
    }

    /// Returns whether the scan has been stopped.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    /// The number of bytes read so far, of all inputs.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// The number of lines judged so far. It lags a little behind the bytes read.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.lines.load(Ordering::Relaxed)
    }

    /// Adds to the number of bytes read.
    pub fn read(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Adds to the number of lines judged.
    pub fn judged(&self, lines: u64) {
        self.0.lines.fetch_add(lines, Ordering::Relaxed);
    }

    /// Waits until `source` has data, has ended or has failed.
    ///
    /// # Errors
    /// When the watch is stopped first, or the system cannot wait for `source`.
    #[cfg(unix)]
    pub fn wait_for(&self, source: &impl std::os::fd::AsFd) -> io::Result<()> {
        loop {
            if self.is_stopped() {
                return Err(Stopped.into());
            }
            if self.0.bell.source_is_ready(source)? {
                return Ok(());
            }
        }
    }
}

/// The error of an input that was not read to its end because a [`Watch`] was stopped. It is wrapped in an [`io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl fmt::Display for Stopped {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("stopped before its end")
    }
}

impl Error for Stopped {}

impl From<Stopped> for io::Error {
    fn from(stopped: Stopped) -> Self {
        Self::other(stopped)
    }
}

/// A means to wake threads that wait for input. Only Unix can wait for two things at once.
#[cfg(unix)]
mod bell {
    use std::io::{self, PipeReader, PipeWriter};
    use std::os::fd::AsFd;
    use std::sync::{Mutex, PoisonError};

    use rustix::event::{PollFd, PollFlags, poll};

    #[derive(Debug)]
    pub(super) struct Bell {
        /// The write end of a pipe that never carries data. A stop closes it, which wakes all threads that poll the read
        /// end. If the system provides no pipe, a stop does not interrupt waiting.
        bell: Mutex<Option<PipeWriter>>,
        /// The read end of the same pipe.
        rung: Option<PipeReader>,
    }

    impl Default for Bell {
        fn default() -> Self {
            let (rung, bell) = io::pipe().ok().unzip();
            Self { bell: Mutex::new(bell), rung }
        }
    }

    impl Bell {
        pub(super) fn ring(&self) {
            self.bell.lock().unwrap_or_else(PoisonError::into_inner).take();
        }

        /// Waits for `source` or the bell, and returns whether `source` has data, has ended or has failed. It may return
        /// `false` without a reason.
        pub(super) fn source_is_ready(&self, source: &impl AsFd) -> io::Result<bool> {
            let Some(rung) = &self.rung else { return Ok(true) };
            let mut ends = [PollFd::new(source, PollFlags::IN), PollFd::new(rung, PollFlags::IN)];
            match poll(&mut ends, None) {
                Ok(_) => Ok(!ends[0].revents().is_empty()),
                Err(rustix::io::Errno::INTR) => Ok(false),
                Err(error) => Err(error.into()),
            }
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::Write;
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_stop_ends_waiting() {
        let watch = Watch::default();
        let (source, _keep) = io::pipe().unwrap();
        thread::scope(|scope| {
            let waiting = scope.spawn(|| watch.wait_for(&source));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            watch.clone().stop();
            let error = waiting.join().unwrap().unwrap_err();
            assert!(error.get_ref().unwrap().is::<Stopped>());
        });
        assert!(watch.is_stopped());
    }

    #[test]
    fn bytes_and_the_end_end_waiting() {
        let watch = Watch::default();
        let (source, mut end) = io::pipe().unwrap();
        end.write_all(b"x").unwrap();
        watch.wait_for(&source).unwrap();
        let (source, end) = io::pipe().unwrap();
        drop(end);
        watch.wait_for(&source).unwrap();
    }
}
