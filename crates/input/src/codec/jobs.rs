//! Jobs that a source requests ahead of its decoder. Idle worker threads do them.
//!
//! No thread has to do a job. A source that needs the result of a job that no thread has begun withdraws the job.

use std::collections::VecDeque;
use std::iter;
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::workers::{Job, JobSender};

/// Values that several threads put in and take out, the first first. No thread waits for one.
pub(super) struct Shared<T>(Arc<Mutex<VecDeque<T>>>);

impl<T> Shared<T> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    fn all(&self) -> MutexGuard<'_, VecDeque<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_empty(&self) -> bool {
        self.all().is_empty()
    }

    pub(super) fn put(&self, value: T) {
        self.all().push_back(value);
    }

    pub(super) fn take(&self) -> Option<T> {
        self.all().pop_front()
    }
}

impl<T> Clone for Shared<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The queue of requested jobs.
pub(super) struct Jobs<'a> {
    workers: Option<JobSender<'a>>,
    todo: Shared<Job<'static>>,
}

/// A result that can be requested.
pub(super) enum Requested<T> {
    /// The result was not requested, was withdrawn, or was lost with its thread.
    Open,
    /// The result was requested: a queue with its job, which is empty once a thread has begun it, and the channel of the result.
    Asked(Shared<Job<'static>>, Receiver<T>),
    Done(T),
}

impl<'a> Jobs<'a> {
    pub(super) fn new(workers: Option<JobSender<'a>>) -> Self {
        Self { workers, todo: Shared::new() }
    }

    /// Puts a job into the queue. The first free thread does it.
    pub(super) fn request<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Requested<T> {
        let (send, receive) = sync_channel(1);
        // The source may have been dropped when the job ends.
        let job = Shared::<Job<'static>>::new();
        job.put(Box::new(move || _ = send.send(work())));
        let requested = Requested::Asked(job.clone(), receive);
        self.todo.put(Box::new(move || job.take().into_iter().for_each(|job| job())));
        requested
    }

    /// Offers the queue to idle worker threads.
    pub(super) fn offer(&self) {
        while let Some(workers) = &self.workers
            && !self.todo.is_empty()
        {
            let todo = self.todo.clone();
            // A worker thread that takes a job continues with the others, so that it does not wait for this thread.
            let work = move || iter::from_fn(|| todo.take()).for_each(|job| job());
            if workers.give_to_idle(Box::new(work)).is_err() {
                return;
            }
        }
    }

    /// Does the next job of the queue. Returns `false` if there is none.
    pub(super) fn do_one(&self) -> bool {
        self.todo.take().is_some_and(|job| {
            job();
            true
        })
    }

    /// The result of a job, if a thread has begun the job. While this thread waits for the result, it does other jobs.
    pub(super) fn result<'r, T>(&self, requested: &'r mut Requested<T>) -> Option<&'r mut T> {
        while let Requested::Asked(job, result) = requested {
            // It is faster that the decoder does the work of a job that no thread has begun.
            let found = match job.take() {
                Some(_) => None,
                None => match result.try_recv() {
                    Err(TryRecvError::Empty) if self.do_one() => continue,
                    Err(TryRecvError::Empty) => result.recv().ok(),
                    found => found.ok(),
                },
            };
            // If a job that was begun has no result, its thread has panicked.
            *requested = found.map_or(Requested::Open, Requested::Done);
        }
        match requested {
            Requested::Done(result) => Some(result),
            _ => None,
        }
    }
}

impl<T> Requested<T> {
    /// The result, if there is one. Otherwise no thread begins the job any more.
    pub(super) fn withdraw(self) -> Option<T> {
        match self {
            Self::Done(result) => Some(result),
            Self::Asked(job, result) => {
                drop(job.take());
                result.try_recv().ok()
            }
            Self::Open => None,
        }
    }
}
