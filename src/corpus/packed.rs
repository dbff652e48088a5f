//! Compressed files: each is decoded by one thread from its start to its end, several of them by several threads. Threads for which
//! there is no file left take pieces over from the others, and judge them while those decode on.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crossbeam_channel::{Receiver, unbounded};

use super::{Compressed, Effort, Scanned, lock, scan_bytes, scan_long};
use crate::hands::{Hands, Job};
use crate::input::{Input, Opened, Piece, Pieces, Unpacked};
use crate::pipeline::{Failure, Lent};
use crate::scan::Options;
use crate::tally::{Place, Tally};

/// Compressed files, each decoded from its start to its end.
pub(super) fn scan_packed(files: &[(u32, &Input)], options: &Options, effort: &Effort) -> Scanned {
    let next = &AtomicUsize::new(0);
    let (hands, offered) = Hands::new();
    thread::scope(|scope| {
        let spawn = |_| {
            let (hands, offered) = (hands.clone(), offered.clone());
            let work = move || scan_some_packed(files, next, options, effort, hands, offered);
            // Where the system refuses a thread, the others do its work.
            thread::Builder::new().spawn_scoped(scope, work).ok()
        };
        let n_others = if files.is_empty() { 0 } else { effort.n_threads() - 1 };
        let others: Vec<_> = (0..n_others).filter_map(spawn).collect();
        let own = scan_some_packed(files, next, options, effort, hands, offered);
        others.into_iter().fold(own, |scanned, other| match other.join() {
            Ok(more) => scanned.merge(more),
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })
}

/// Takes files as long as there are some, and then pieces of those of others.
fn scan_some_packed<'a>(
    files: &[(u32, &Input)],
    next: &AtomicUsize,
    options: &'a Options,
    effort: &'a Effort,
    hands: Hands<'a>,
    offered: Receiver<Job<'a>>,
) -> Scanned {
    let mut scanned = Scanned::default();
    while let Some(&(number, input)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
        let opened = input.open(effort.watch.as_ref()).and_then(|opened| match opened {
            Opened::Packed(packed) => {
                let n_hands = effort.n_threads() - 1;
                packed.unpack(effort.watch.as_ref(), (n_hands > 0).then(|| (hands.clone(), n_hands)))
            }
            _ => Err(io::Error::other("the file was replaced while it was read")),
        });
        scanned = match opened {
            Ok(unpacked) => scan_unpacked(scanned, unpacked, number, options, effort, &hands),
            Err(error) => scanned.merge(Scanned::failed(number, error)),
        };
    }
    // Somebody may offer work as long as there is one of these.
    drop(hands);
    offered.into_iter().for_each(|job| job());
    scanned
}

/// Adds the lines of a compressed file to what has been scanned of others, with the help of `hands`.
fn scan_unpacked<'a>(
    mut scanned: Scanned,
    unpacked: Unpacked<'_>,
    input: u32,
    options: &'a Options,
    effort: &'a Effort,
    hands: &Hands<'a>,
) -> Scanned {
    let Unpacked { bytes, codec, meter } = unpacked;
    let mut pieces = Pieces::new(bytes, 0, effort.sizes());
    let (home, come_home) = unbounded();
    let mut long = None;
    let shared = Arc::new(Mutex::new(Tally::default()));
    loop {
        match pieces.next(&mut come_home.try_recv().unwrap_or_default()) {
            // Many files have but one piece, and are not worth a tally of their own.
            Ok(Some(Piece::Lines(bytes))) if bytes.offset == 0 => {
                scan_bytes(&mut scanned.tally, &bytes, input, options, effort);
            }
            Ok(Some(Piece::Lines(bytes))) => {
                let bytes = Lent::new(bytes, &home);
                let shared = shared.clone();
                let job = Box::new(move || {
                    let mut piece = lock(&shared).behind(Place { input, offset: bytes.offset });
                    scan_bytes(&mut piece, &bytes, input, options, effort);
                    let mut shared = lock(&shared);
                    *shared = std::mem::take(&mut *shared).merge(piece);
                });
                if let Err(job) = hands.offer(job) {
                    job();
                }
            }
            Ok(Some(Piece::Long { bytes, end })) => {
                scanned.tally =
                    scanned.tally.merge(scan_long(&mut long, &bytes, end, input, options, effort));
            }
            Ok(None) => break,
            Err(error) => {
                scanned.failures.push(Failure { input, error });
                break;
            }
        }
    }
    // What others have taken over comes home when it is done.
    drop(home);
    while come_home.recv().is_ok() {}
    scanned.compressed.push(Compressed { input, codec, bytes: meter.bytes() });
    let shared = std::mem::take(&mut *lock(&shared));
    scanned.tally = scanned.tally.merge(shared);
    scanned.ended(input, options, effort)
}
