//! Threads that have nothing to do, and work that is handed to them. Knows nothing of lines or files.

use std::thread;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded};

/// A piece of work.
pub(crate) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// Where work can be offered. It is taken by a thread that waits for some at that moment, or not at all: so no work ever
/// waits, and whoever finds nobody does it himself.
#[derive(Clone)]
pub(crate) struct Hands<'a>(Sender<Job<'a>>);

impl<'a> Hands<'a> {
    /// Those that work off what comes out of the other end.
    pub(crate) fn new() -> (Self, Receiver<Job<'a>>) {
        let (offer, offered) = bounded(0);
        (Self(offer), offered)
    }

    /// Gives `job` to a thread that waits for work.
    ///
    /// # Errors
    /// When none does; the error is the job.
    pub(crate) fn offer(&self, job: Job<'a>) -> Result<(), Job<'a>> {
        self.0.try_send(job).map_err(TrySendError::into_inner)
    }
}

/// Who may help with something, and how many of them there are at most; nobody, if there is `None`.
pub(crate) type Helpers<'a> = Option<(Hands<'a>, usize)>;

/// Has `n` threads wait for work while `work` is done, which may hand them some. Where the system refuses threads there are fewer.
pub(crate) fn with_helpers<R>(n: usize, work: impl FnOnce(Helpers<'static>) -> R) -> R {
    if n == 0 {
        return work(None);
    }
    thread::scope(|scope| {
        let (hands, offered) = Hands::<'static>::new();
        for _ in 0..n {
            let offered = offered.clone();
            let helper = move || offered.into_iter().for_each(|job| job());
            let _ = thread::Builder::new().spawn_scoped(scope, helper);
        }
        drop(offered);
        work(Some((hands, n)))
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn helpers_end_with_the_work() {
        let answer = with_helpers(2, |helpers| {
            let (hands, n) = helpers.expect("some");
            let (send, receive) = bounded(1);
            let mut job: Job<'static> = Box::new(move || send.send(n).unwrap_or_default());
            while let Err(refused) = hands.offer(job) {
                job = refused;
                thread::yield_now();
            }
            receive.recv()
        });
        assert_eq!(answer, Ok(2));
        assert!(with_helpers(0, |helpers| helpers.is_none()));
    }

    #[test]
    fn all_work_is_done_once() {
        let (nobody, _offered) = Hands::new();
        assert!(nobody.offer(Box::new(|| ())).is_err());
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            let (hands, offered) = Hands::new();
            for _ in 0..2 {
                let offered = offered.clone();
                scope.spawn(|| offered.into_iter().for_each(|job| job()));
            }
            for _ in 0..1000 {
                if let Err(job) = hands.offer(Box::new(|| _ = done.fetch_add(1, Ordering::Relaxed))) {
                    job();
                }
            }
        });
        assert_eq!(done.into_inner(), 1000);
    }
}
