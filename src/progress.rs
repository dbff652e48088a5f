//! A look at work from outside: how far it has come, and a word to stop it. Knows no terminal and no signal.

use std::error::Error;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Tells how far a scan has come, and stops it. A clone is the same watch; it may be used from any thread.
///
/// A scan that has one (in its `run::Effort`) asks it before each piece of work. Once it is stopped, all lines that have been
/// read are still counted; the inputs that were not read to their end fail with [`Stopped`].
///
/// ```
/// use urlsift::progress::Watch;
/// use urlsift::run::{Effort, scan_inputs};
/// use urlsift::{input, scan};
///
/// let watch = Watch::default();
/// let mut effort = Effort::default();
/// effort.watch = Some(watch.clone());
/// watch.stop(); // from another thread, mostly
/// let inputs = input::list(&["urls.txt".into()]);
/// let scanned = scan_inputs(&inputs, &scan::Options::default(), &effort);
/// assert!(scanned.failures[0].is_stop());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<State>);

#[derive(Debug)]
struct State {
    bytes: AtomicU64,
    lines: AtomicU64,
    is_stopped: Arc<AtomicBool>,
    /// The ends of a pipe through which nothing ever comes: what waits sees that the first has gone. Where the system has no
    /// pipe to give, what waits goes on waiting.
    bell: Mutex<Option<PipeWriter>>,
    rung: Option<PipeReader>,
}

impl Default for State {
    fn default() -> Self {
        let (rung, bell) = io::pipe().ok().unzip();
        Self {
            bytes: AtomicU64::default(),
            lines: AtomicU64::default(),
            is_stopped: Arc::default(),
            bell: Mutex::new(bell),
            rung,
        }
    }
}

impl Watch {
    /// Lets the work end early, at its next piece, and on Unix ends all waiting for input. Cannot be taken back.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        self.0.bell.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// What [`stop`](Self::stop) sets, for a signal handler, which may do no more. It ends the work too, but no waiting.
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.0.is_stopped)
    }

    /// Whether it has been told to stop.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.is_stopped.load(Ordering::Relaxed)
    }

    /// How many bytes of all inputs have been read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// How many lines have been judged; somewhat fewer than are in the bytes read.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.lines.load(Ordering::Relaxed)
    }

    /// So many bytes more have been read.
    pub(crate) fn read(&self, bytes: usize) {
        self.0.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// So many lines more have been judged.
    pub(crate) fn judged(&self, lines: u64) {
        self.0.lines.fetch_add(lines, Ordering::Relaxed);
    }

    /// Waits until there is something to read from `source`, its end or an error too.
    ///
    /// # Errors
    /// When the watch is stopped before, or nothing can be waited for.
    #[cfg(unix)]
    pub(crate) fn wait_for(&self, source: &impl std::os::fd::AsFd) -> io::Result<()> {
        use rustix::event::{PollFd, PollFlags, poll};
        loop {
            if self.is_stopped() {
                return Err(Stopped.into());
            }
            let Some(rung) = &self.0.rung else { return Ok(()) };
            let mut ends = [PollFd::new(source, PollFlags::IN), PollFd::new(rung, PollFlags::IN)];
            match poll(&mut ends, None) {
                Ok(_) if ends[0].revents().is_empty() => {}
                Err(rustix::io::Errno::INTR) => {}
                result => return result.map(drop).map_err(io::Error::from),
            }
        }
    }

    /// Here a read waits for as long as it does.
    #[cfg(not(unix))]
    pub(crate) fn wait_for<S>(&self, _: &S) -> io::Result<()> {
        if self.is_stopped() { Err(Stopped.into()) } else { Ok(()) }
    }
}

/// The error of an input that was not read to its end because a [`Watch`] was stopped; inside an [`io::Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
