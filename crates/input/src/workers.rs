//! A pool of worker threads and the queue that feeds them. This module knows no lines and no files.
//!
//! A thread that finds no job sleeps at once. It neither spins nor yields: on a busy machine, each yield gives a whole time
//! slice to another process.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::{iter, thread};

/// A unit of work.
pub type Job<'a> = Box<dyn FnOnce() + Send + 'a>;

/// The stack of a thread that judges lines, in bytes. Where the compiler does not optimise, the loop over lines takes 2.8 MB.
const STACK_LEN: usize = 4 << 20;

/// Memory for work ahead: these bytes for a pool, and more for each of its threads, up to a limit.
const FOR_POOL: u64 = 256 << 20;
const FOR_THREAD: u64 = 64 << 20;
const MOST_MEMORY: u64 = 576 << 20;

/// The sending end of a pool.
#[derive(Clone)]
pub struct JobSender<'a> {
    open: Arc<Open<'a>>,
    #[cfg_attr(
        not(any(feature = "zstd", feature = "bzip2", feature = "xz")),
        allow(dead_code, reason = "only decoders have work that can be left out")
    )]
    pub memory: Memory,
}

/// The queue that both ends of a pool share.
struct Queue<'a> {
    /// How many jobs may wait for a thread that becomes free.
    capacity: usize,
    waiting: Mutex<Waiting<'a>>,
    /// There is a job for a worker thread, or the queue is closed.
    has_job: Condvar,
    /// There is room for a job.
    has_room: Condvar,
}

/// The jobs and threads that wait.
#[derive(Default)]
struct Waiting<'a> {
    jobs: VecDeque<Job<'a>>,
    /// Worker threads that wait for a job, or have been woken and have not taken theirs yet.
    n_idle: usize,
    /// Threads that wait for room.
    n_senders: usize,
    is_closed: bool,
}

impl<'a> Queue<'a> {
    fn waiting(&self) -> MutexGuard<'_, Waiting<'a>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a job if fewer jobs wait than `room` says. Otherwise returns it.
    fn offer(&self, job: Job<'a>, room: impl FnOnce(&Waiting<'a>) -> usize) -> Result<(), Job<'a>> {
        let waiting = self.waiting();
        if waiting.jobs.len() >= room(&waiting) {
            return Err(job);
        }
        self.add(waiting, job);
        Ok(())
    }

    fn add(&self, mut waiting: MutexGuard<'_, Waiting<'a>>, job: Job<'a>) {
        waiting.jobs.push_back(job);
        let is_idle = waiting.n_idle > 0;
        drop(waiting);
        if is_idle {
            self.has_job.notify_one();
        }
    }

    fn take(&self, mut waiting: MutexGuard<'_, Waiting<'a>>) -> Option<Job<'a>> {
        let (job, is_wanted) = (waiting.jobs.pop_front(), waiting.n_senders > 0);
        drop(waiting);
        if is_wanted {
            self.has_room.notify_one();
        }
        job
    }

    /// The next job. Waits for it until the queue is closed.
    fn next(&self) -> Option<Job<'a>> {
        let mut waiting = self.waiting();
        waiting.n_idle += 1;
        let is_idle = |waiting: &mut Waiting<'_>| waiting.jobs.is_empty() && !waiting.is_closed;
        let mut waiting = self.has_job.wait_while(waiting, is_idle).unwrap_or_else(PoisonError::into_inner);
        waiting.n_idle -= 1;
        self.take(waiting)
    }
}

/// A queue that is open while this exists.
struct Open<'a>(Arc<Queue<'a>>);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.waiting().is_closed = true;
        self.0.has_job.notify_all();
    }
}

/// The memory that all readers of a pool may still take for work ahead. A reader that gets none does without.
#[derive(Clone)]
pub struct Memory(Arc<AtomicU64>);

/// Some of the memory for work ahead. It is returned when this value is dropped.
pub struct Reserved {
    from: Memory,
    pub len: u64,
}

#[cfg_attr(
    not(any(feature = "zstd", feature = "bzip2", feature = "xz")),
    allow(dead_code, reason = "only decoders have work that can be left out")
)]
impl Memory {
    pub fn new(len: u64) -> Self {
        Self(Arc::new(AtomicU64::new(len)))
    }

    /// Takes `len` bytes, if there are so many.
    pub fn reserve(&self, len: u64) -> Option<Reserved> {
        let take = |free: u64| free.checked_sub(len);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        Some(Reserved { from: self.clone(), len })
    }
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.from.0.fetch_add(self.len, Ordering::Relaxed);
    }
}

/// The receiving end of a pool, from which worker threads take jobs.
#[derive(Clone)]
pub struct JobReceiver<'a>(Arc<Queue<'a>>);

/// Returns the two ends of a pool. Up to `n` jobs may wait in its queue.
fn pool<'a>(n: usize) -> (JobSender<'a>, JobReceiver<'a>) {
    let (waiting, has_job, has_room) = Default::default();
    let queue = Arc::new(Queue { capacity: n, waiting, has_job, has_room });
    let memory = Memory::new(FOR_THREAD.saturating_mul(n as u64).saturating_add(FOR_POOL).min(MOST_MEMORY));
    (JobSender { open: Arc::new(Open(queue.clone())), memory }, JobReceiver(queue))
}

impl<'a> JobSender<'a> {
    /// Whether the pool was made for worker threads.
    pub fn has_threads(&self) -> bool {
        self.open.0.capacity > 0
    }

    /// The worker threads. At most `n` of them help with one task.
    pub fn helpers(&self, n: usize) -> Helpers<'a> {
        (n > 0).then(|| (self.clone(), n))
    }

    /// Gives `job` to a worker thread that is idle.
    ///
    /// # Errors
    /// When no worker thread is idle. The error is the job.
    #[cfg_attr(
        not(any(feature = "gzip", feature = "zstd", feature = "bzip2", feature = "xz")),
        allow(dead_code, reason = "only decoders have work that can be left out")
    )]
    pub fn give_to_idle(&self, job: Job<'a>) -> Result<(), Job<'a>> {
        self.open.0.offer(job, |waiting| waiting.n_idle)
    }

    /// Queues `job` for the next free worker thread. Perhaps no thread ever becomes free. A caller that needs the result
    /// must therefore call [`JobReceiver::run_queued`] in the end.
    ///
    /// # Errors
    /// When the queue is full. The error is the job.
    pub fn try_enqueue(&self, job: Job<'a>) -> Result<(), Job<'a>> {
        let queue = &self.open.0;
        queue.offer(job, |_| queue.capacity)
    }

    /// Queues `job` for the next free worker thread, and waits while the queue is full. If the pool has no threads, this
    /// thread runs the job.
    pub fn enqueue(&self, job: Job<'a>) {
        if !self.has_threads() {
            return job();
        }
        let queue = &self.open.0;
        let mut waiting = queue.waiting();
        waiting.n_senders += 1;
        // Worker threads take jobs until the last sender is dropped, even after a panic.
        let is_full = |waiting: &mut Waiting<'_>| waiting.jobs.len() >= queue.capacity;
        let mut waiting = queue.has_room.wait_while(waiting, is_full).unwrap_or_else(PoisonError::into_inner);
        waiting.n_senders -= 1;
        queue.add(waiting, job);
    }
}

impl JobReceiver<'_> {
    /// Runs the queued jobs that no thread has begun.
    pub fn run_queued(&self) {
        iter::from_fn(|| self.0.take(self.0.waiting())).for_each(|job| job());
    }

    /// Runs jobs until the last sender is dropped.
    ///
    /// # Panics
    /// In the end, if a job panicked. A thread that ended at once would leave the others waiting for the queue.
    pub fn run_until_closed(self) {
        let mut panicked = None;
        while let Some(job) = self.0.next() {
            if let Err(panic) = catch_unwind(AssertUnwindSafe(job)) {
                panicked.get_or_insert(panic);
            }
        }
        if let Some(panic) = panicked {
            resume_unwind(panic);
        }
    }
}

/// The worker threads that may help with one task, and their greatest number. `None` means that none may.
pub type Helpers<'a> = Option<(JobSender<'a>, usize)>;

/// Calls `work` with a pool of `n` worker threads. There are fewer if the system refuses threads.
pub fn with_workers<'a, R>(n: usize, work: impl FnOnce(JobSender<'a>, JobReceiver<'a>) -> R) -> R {
    thread::scope(|scope| {
        // Threads get the pool when their number is known, because the pool's queue depends on it.
        let start = |_| {
            let (give, take) = sync_channel::<JobReceiver<'a>>(1);
            let worker = move || take.into_iter().for_each(JobReceiver::run_until_closed);
            thread::Builder::new().stack_size(STACK_LEN).spawn_scoped(scope, worker).is_ok().then_some(give)
        };
        let workers: Vec<_> = (0..n).map_while(start).collect();
        let (sender, receiver) = pool(workers.len());
        for worker in workers {
            let _ = worker.send(receiver.clone());
        }
        work(sender, receiver)
    })
}

/// Runs `work` on this thread and `n - 1` others. Threads that end do jobs of those that still work. Returns the number of threads. There are
/// fewer if the system refuses some. Where the compiler does not optimise, this thread only waits, since its stack may be too short.
///
/// # Panics
/// In the end, if `work` or a job panicked.
pub fn on_threads<'a>(n: usize, work: impl Fn(JobSender<'a>, JobReceiver<'a>) + Sync) -> usize {
    let (sender, receiver) = pool(n.saturating_sub(1));
    // The pool closes when `work` has dropped its sender on all threads.
    let run = |sender, receiver: JobReceiver<'a>| {
        work(sender, receiver.clone());
        receiver.run_until_closed();
    };
    thread::scope(|scope| {
        let spawn = |_| {
            let (run, sender, receiver) = (&run, sender.clone(), receiver.clone());
            let work = move || run(sender, receiver);
            thread::Builder::new().stack_size(STACK_LEN).spawn_scoped(scope, work).is_ok()
        };
        let n_others = (usize::from(!cfg!(debug_assertions))..n).take_while(|&n| spawn(n)).count();
        if n_others < n.max(1) {
            run(sender, receiver);
            return 1 + n_others;
        }
        drop(sender);
        n_others
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn workers_end_with_the_work() {
        let answer = with_workers(2, |sender, _| {
            let (send, receive) = sync_channel(1);
            let mut job: Job<'_> = Box::new(move || send.send(7).unwrap_or_default());
            while let Err(refused) = sender.give_to_idle(job) {
                job = refused;
                thread::yield_now();
            }
            receive.recv()
        });
        assert_eq!(answer, Ok(7));
    }

    #[test]
    fn the_same_work_runs_on_each_thread() {
        for n in 0..4 {
            let (n_running, all_run) = (Mutex::new(0), Condvar::new());
            let n_threads = on_threads(n, |_, _| {
                let mut running = n_running.lock().unwrap();
                *running += 1;
                all_run.notify_all();
                // No thread runs it twice, because none ends before all have begun.
                let (waited, _) = all_run
                    .wait_timeout_while(running, Duration::from_secs(60), |running| *running < n)
                    .unwrap();
                assert!(*waited >= n, "{} of {n} threads run it", *waited);
            });
            assert_eq!((n_threads, n_running.into_inner().unwrap()), (n.max(1), n.max(1)));
        }
    }

    #[test]
    fn a_panic_is_passed_on_when_all_jobs_have_run() {
        let done = AtomicUsize::new(0);
        let passed_on = catch_unwind(AssertUnwindSafe(|| {
            with_workers(1, |sender, _| {
                for n in 0..20 {
                    let done = &done;
                    sender.enqueue(Box::new(move || {
                        assert_ne!(n, 3, "this panic is wanted");
                        done.fetch_add(1, Ordering::Relaxed);
                    }));
                }
            });
        }));
        assert!(passed_on.is_err());
        assert_eq!(done.load(Ordering::Relaxed), 19);
    }

    #[test]
    fn every_job_runs_once() {
        let done = AtomicUsize::new(0);
        let job = || -> Job<'_> { Box::new(|| _ = done.fetch_add(1, Ordering::Relaxed)) };
        let (sender, receiver) = pool(2);
        assert!(sender.give_to_idle(job()).is_err());
        assert!(sender.try_enqueue(job()).is_ok() && sender.try_enqueue(job()).is_ok());
        assert!(sender.try_enqueue(job()).is_err());
        receiver.run_queued();
        assert_eq!(done.swap(0, Ordering::Relaxed), 2);
        for n_workers in 0..3 {
            with_workers(n_workers, |sender, receiver| {
                for n in 0..1000 {
                    match n % 3 {
                        0 => sender.give_to_idle(job()).unwrap_or_else(|job| job()),
                        1 => sender.try_enqueue(job()).unwrap_or_else(|job| job()),
                        _ => sender.enqueue(job()),
                    }
                }
                receiver.run_queued();
            });
            assert_eq!(done.swap(0, Ordering::Relaxed), 1000);
        }
    }
}
