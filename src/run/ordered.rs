//! Distributes work over several threads, and keeps the results in order. This module knows no lines and no URLs.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

/// Passes the items of `next` to `threads` worker threads, and the results of `work` to `sink`, in the order of `next`.
///
/// `next` runs on this thread and ends with `None`. `sink` runs on a thread of its own. It may end everything with
/// [`ControlFlow::Break`], whose value is returned. The number of items in progress is at most a few times `threads`. If
/// the system refuses threads, those that it grants do the work, and this one if it grants none.
pub(crate) fn in_order<T: Send, R: Send, B: Send>(
    threads: usize,
    mut next: impl FnMut() -> Option<T>,
    work: impl Fn(T) -> R + Sync,
    sink: impl FnMut(R) -> ControlFlow<B> + Send,
) -> ControlFlow<B> {
    let (give, take): (Sender<(T, Sender<R>)>, Receiver<_>) = bounded(threads);
    let (promise, promised): (Sender<Receiver<R>>, Receiver<_>) = bounded(2 * threads);
    let work = &work;
    let sink = &Mutex::new(sink);
    let pour = |result| (sink.lock().unwrap_or_else(PoisonError::into_inner))(result);
    thread::scope(|scope| {
        let sinking = thread::Builder::new().spawn_scoped(scope, move || {
            // When this thread ends, `promised` is dropped, and the loop below ends because it cannot send.
            for answer in promised {
                if let Ok(result) = answer.recv() {
                    pour(result)?;
                }
            }
            ControlFlow::Continue(())
        });
        let Ok(sinking) = sinking else {
            while let Some(piece) = next() {
                pour(work(piece))?;
            }
            return ControlFlow::Continue(());
        };
        let mut n_workers = 0;
        for _ in 0..threads {
            let take = take.clone();
            let worker = move || {
                for (piece, answer) in take {
                    // If the sink has ended everything, the receiver is gone.
                    let _ = answer.send(work(piece));
                }
            };
            n_workers += usize::from(thread::Builder::new().spawn_scoped(scope, worker).is_ok());
        }
        drop(take);
        while let Some(piece) = next() {
            let (answer, answered) = bounded(1);
            if promise.send(answered).is_err() {
                break;
            }
            if n_workers == 0 {
                let _ = answer.send(work(piece));
            } else if give.send((piece, answer)).is_err() {
                break;
            }
        }
        drop((promise, give));
        match sinking.join() {
            Ok(flow) => flow,
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_kept() {
        for threads in 1..5 {
            let mut numbers = 0..1000;
            let mut seen = Vec::new();
            let flow: ControlFlow<()> = in_order(
                threads,
                || numbers.next(),
                |n| n * 2,
                |n| {
                    seen.push(n);
                    ControlFlow::Continue(())
                },
            );
            assert!(flow.is_continue());
            assert_eq!(seen, (0..1000).map(|n| n * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_sink_can_end_it() {
        let mut numbers = 0..;
        let flow = in_order(
            3,
            || numbers.next(),
            |n: u64| n,
            |n| if n == 10 { ControlFlow::Break(n) } else { ControlFlow::Continue(()) },
        );
        assert_eq!(flow, ControlFlow::Break(10));
        assert!(numbers.start < 100, "no more than a few pieces were under way");
    }
}
