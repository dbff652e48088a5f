//! A look at work from outside: how far it has come, and a word to stop it. Knows no terminal and no signal.

use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Receiver, Sender, bounded, select};

/// Tells how far a scan has come, and stops it. A clone is the same watch; it may be used from any thread.
///
/// A scan with a watch ([`Effort::watch`](crate::corpus::Effort)) asks it before each piece of work. Once it is stopped, all lines that
/// have been read are still counted; the inputs that were not read to their end fail with [`Stopped`].
///
/// ```
/// use urlsift::corpus::{Effort, scan_inputs};
/// use urlsift::{input, scan, watch};
///
/// let watch = watch::Watch::default();
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
    is_stopped: AtomicBool,
    /// Nothing is ever sent: what waits for something sees that this is gone.
    bell: Mutex<Option<Sender<Infallible>>>,
    rung: Receiver<Infallible>,
}

impl Default for State {
    fn default() -> Self {
        let (bell, rung) = bounded(0);
        Self {
            bytes: AtomicU64::default(),
            lines: AtomicU64::default(),
            is_stopped: AtomicBool::default(),
            bell: Mutex::new(Some(bell)),
            rung,
        }
    }
}

impl Watch {
    /// Lets the work end early, at its next piece, and ends all waiting for input. Cannot be taken back.
    pub fn stop(&self) {
        self.0.is_stopped.store(true, Ordering::Relaxed);
        self.0.bell.lock().unwrap_or_else(PoisonError::into_inner).take();
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

    /// What comes next from `receiver`; `None` when there is nobody any more who could send.
    ///
    /// # Errors
    /// When the watch is stopped before something comes.
    pub(crate) fn receive<T>(&self, receiver: &Receiver<T>) -> Result<Option<T>, Stopped> {
        // Of two that are ready, the choice is random.
        if self.is_stopped() {
            return Err(Stopped);
        }
        select! {
            recv(receiver) -> received => Ok(received.ok()),
            recv(self.0.rung) -> _ => Err(Stopped),
        }
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

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_stop_ends_waiting() {
        let watch = Watch::default();
        let (_keep, receiver) = bounded::<()>(1);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| watch.receive(&receiver));
            thread::sleep(Duration::from_millis(20));
            assert!(!waiting.is_finished());
            watch.clone().stop();
            assert_eq!(waiting.join().unwrap(), Err(Stopped));
        });
        assert!(watch.is_stopped());
    }

    #[test]
    fn what_comes_is_received_until_all_senders_are_gone() {
        let watch = Watch::default();
        let (send, receiver) = bounded(1);
        send.send(7).unwrap();
        drop(send);
        assert_eq!(watch.receive(&receiver), Ok(Some(7)));
        assert_eq!(watch.receive(&receiver), Ok(None));
    }
}
