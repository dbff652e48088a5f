//! Processes items on worker threads and keeps the results in order. This module knows no lines and no URLs.

use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::thread;

use urlsift_input::workers::JobSender;

/// Passes the items of `next` to worker threads, and the results of `work` to `sink`, in the order of `next`.
///
/// `next` runs on this thread and ends with `None`. `sink` runs on a thread of its own. At most `ahead` results wait for `sink`. Without worker threads, or if
/// the system refuses the thread of `sink`, this thread does all the work.
///
/// # Errors
/// The error of `sink`, which ends everything.
pub(crate) fn in_order<'a, T: Send + 'a, R: Send + 'a, E: Send>(
    workers: &JobSender<'a>,
    ahead: usize,
    mut next: impl FnMut() -> Option<T>,
    work: &'a (impl Fn(T) -> R + Sync),
    sink: impl FnMut(R) -> Result<(), E> + Send,
) -> Result<(), E> {
    let (promise, promised) = sync_channel::<Receiver<R>>(ahead);
    let sink = &Mutex::new(sink);
    let pass = |result| (sink.lock().unwrap_or_else(PoisonError::into_inner))(result);
    thread::scope(|scope| {
        let sinking = move || {
            // When this thread ends, `promised` is dropped, and the loop below ends because it cannot send.
            for answer in promised {
                // A worker that panics gives no answer. What was passed on is then the beginning of the results.
                let Ok(result) = answer.recv() else { break };
                pass(result)?;
            }
            Ok(())
        };
        let spawn = || thread::Builder::new().spawn_scoped(scope, sinking).ok();
        let Some(sinking) = workers.has_threads().then(spawn).flatten() else {
            while let Some(item) = next() {
                pass(work(item))?;
            }
            return Ok(());
        };
        while let Some(item) = next() {
            let (answer, answered) = sync_channel(1);
            if promise.send(answered).is_err() {
                break;
            }
            // If the sink has ended everything, the receiver is gone.
            workers.enqueue(Box::new(move || _ = answer.send(work(item))));
        }
        drop(promise);
        match sinking.join() {
            Ok(ended) => ended,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift_input::workers::with_workers;

    #[test]
    fn order_is_kept() {
        for n_workers in 0..5 {
            let mut numbers = 0..1000;
            let mut seen = Vec::new();
            let keep = |n| {
                seen.push(n);
                Ok::<_, ()>(())
            };
            let ended = with_workers(n_workers, |workers, _| {
                in_order(&workers, 4, || numbers.next(), &|n| n * 2, keep)
            });
            assert_eq!(ended, Ok(()));
            assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_sink_can_end_it() {
        for n_workers in [0, 3] {
            let mut numbers = 0..;
            let stop_at_10 = |n| if n == 10 { Err(n) } else { Ok(()) };
            let ended = with_workers(n_workers, |workers, _| {
                in_order(&workers, 6, || numbers.next(), &|n: u64| n, stop_at_10)
            });
            assert_eq!(ended, Err(10));
            assert!(numbers.start < 100, "no more than a few items were under way");
        }
    }
}
