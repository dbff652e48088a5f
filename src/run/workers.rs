//! The threads that work on inputs. This module decides who does a job: another thread, or the one that reads.

use super::ExecOptions;
use urlsift_input::workers::{Helpers, Job, JobReceiver, JobSender, on_threads, with_workers};

/// The threads that work on inputs. Those that read files do jobs of others when they find no file left.
#[derive(Clone)]
pub(super) struct Workers<'a> {
    sender: JobSender<'a>,
    receiver: JobReceiver<'a>,
    /// How many threads help to decode an input.
    n_helpers: usize,
    /// Whether the thread that reads the input does a job when the queue of the others is full.
    reader_works: bool,
}

impl<'a> Workers<'a> {
    /// Calls `scan` with threads for an input whose reads may block. This thread reads, and counts the first chunk, long
    /// lines and what is left in the end.
    pub(super) fn of_stream<R>(exec: &ExecOptions, scan: impl FnOnce(&Self) -> R) -> R {
        with_workers(exec.n_threads(), |sender, receiver| {
            scan(&Self { sender, receiver, n_helpers: exec.n_threads() - 1, reader_works: false })
        })
    }

    /// Calls `scan` on `n` threads. Each reads files, and then does jobs of those that still read.
    pub(super) fn of_files(n: usize, scan: impl Fn(&Self) + Sync) {
        on_threads(n, |sender, receiver| {
            scan(&Self { sender, receiver, n_helpers: n - 1, reader_works: true });
        });
    }

    /// The same threads. At most `n` of them help to decode an input.
    pub(super) fn with_helpers(&self, n: usize) -> Self {
        Self { n_helpers: n.min(self.n_helpers), ..self.clone() }
    }

    pub(super) fn helpers(&self) -> Helpers<'a> {
        self.sender.helpers(self.n_helpers)
    }

    /// Leaves a job to another thread, or does it.
    pub(super) fn give(&self, job: Job<'a>) {
        if self.reader_works {
            self.sender.try_enqueue(job).unwrap_or_else(|job| job());
        } else {
            self.sender.enqueue(job);
        }
    }

    /// Leaves a job to the thread that next has nothing to do, if there is room for it. Returns whether there is.
    pub(super) fn offer(&self, job: Job<'a>) -> bool {
        self.sender.try_enqueue(job).is_ok()
    }

    /// Does the jobs that no thread has begun.
    pub(super) fn do_waiting(&self) {
        self.receiver.run_queued();
    }
}
