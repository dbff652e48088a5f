//! A pool of idle worker threads and the queues that feed them.
//!
//! The thread that has a job does it itself if no worker thread takes it. This module knows no lines and no files.

use std::thread;

use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, select};

/// A unit of work.
pub(crate) type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// The sending end of the pool, where jobs are offered.
#[derive(Clone)]
#[cfg_attr(not(feature = "gzip"), allow(dead_code, reason = "only gzip has what nobody needs to do"))]
pub(crate) struct Hands<'a> {
    now: Sender<Job<'a>>,
    soon: Sender<Job<'a>>,
}

/// The receiving end of the pool, from which worker threads take jobs.
#[derive(Clone)]
pub(crate) struct Offered<'a> {
    now: Receiver<Job<'a>>,
    soon: Receiver<Job<'a>>,
}

impl<'a> Hands<'a> {
    /// The two ends of a pool. Up to `n` jobs may wait in its queue.
    pub(crate) fn new(n: usize) -> (Self, Offered<'a>) {
        let ((now, offered), (soon, left)) = (bounded(0), bounded(n));
        (Self { now, soon }, Offered { now: offered, soon: left })
    }

    /// Gives `job` to a worker thread that is waiting for work. A job that no thread begins at once is better done by the
    /// caller.
    ///
    /// # Errors
    /// When no thread is waiting. The error is the job.
    #[cfg_attr(not(feature = "gzip"), allow(dead_code, reason = "only gzip has what nobody needs to do"))]
    pub(crate) fn offer(&self, job: Job<'a>) -> Result<(), Job<'a>> {
        self.now.try_send(job).map_err(TrySendError::into_inner)
    }

    /// Queues `job` for the next free worker thread, so that no thread idles while the caller is busy. Perhaps no
    /// thread ever becomes free. A caller that needs the result must therefore call [`Offered::catch_up`] in the end.
    ///
    /// # Errors
    /// When the queue is full. The error is the job.
    pub(crate) fn leave(&self, job: Job<'a>) -> Result<(), Job<'a>> {
        self.soon.try_send(job).map_err(TrySendError::into_inner)
    }
}

impl Offered<'_> {
    /// Does the queued jobs that no thread has begun.
    pub(crate) fn catch_up(&self) {
        self.soon.try_iter().for_each(|job| job());
    }

    /// Does jobs until the last sending end is dropped.
    pub(crate) fn work_off(self) {
        let Self { now, soon } = self;
        let next = || select! { recv(now) -> job => job, recv(soon) -> job => job };
        while let Ok(job) = next() {
            job();
        }
        soon.into_iter().for_each(|job| job());
    }
}

/// The worker threads that may help, and their greatest number. `None` means that none do.
pub(crate) type Helpers<'a> = Option<(Hands<'a>, usize)>;

/// Calls `work` with a pool of `n` worker threads. There are fewer if the system refuses threads.
pub(crate) fn with_helpers<R>(n: usize, work: impl FnOnce(Helpers<'static>) -> R) -> R {
    if n == 0 {
        return work(None);
    }
    thread::scope(|scope| {
        let (hands, offered) = Hands::<'static>::new(n);
        for _ in 0..n {
            let offered = offered.clone();
            let _ = thread::Builder::new().spawn_scoped(scope, || offered.work_off());
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
        let done = AtomicUsize::new(0);
        let job = || -> Job<'_> { Box::new(|| _ = done.fetch_add(1, Ordering::Relaxed)) };
        let (nobody, offered) = Hands::new(2);
        assert!(nobody.offer(job()).is_err());
        assert!(nobody.leave(job()).is_ok() && nobody.leave(job()).is_ok() && nobody.leave(job()).is_err());
        offered.catch_up();
        assert_eq!(done.swap(0, Ordering::Relaxed), 2);
        thread::scope(|scope| {
            let (hands, offered) = Hands::new(2);
            for _ in 0..2 {
                let offered = offered.clone();
                scope.spawn(|| offered.work_off());
            }
            for n in 0..1000 {
                if let Err(job) = if n % 2 == 0 { hands.offer(job()) } else { hands.leave(job()) } {
                    job();
                }
            }
        });
        assert_eq!(done.load(Ordering::Relaxed), 1000);
    }
}
