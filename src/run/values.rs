//! Counts values in memory on several threads, as the lines of one input.

use std::mem;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::shards::Shards;
use super::{ExecOptions, lock};
use crate::scan::Options;
use crate::scan::values::add_values;
use crate::tally::Tally;
use urlsift_engine::place::Place;
use urlsift_input::workers::on_threads;

/// Values that are in memory, such as those of a column of a table. Any value may be missing.
pub trait Values: Sync {
    /// The number of values, including missing ones.
    fn len(&self) -> usize;

    /// Whether there is no value.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Value `n`, of [`len`](Self::len); `None` if it is missing.
    fn get(&self, n: usize) -> Option<&[u8]>;

    /// The memory that has the values of some rows and little else, so that it can be searched for all of them; empty if there is none, or if it is
    /// not known. Some values may be elsewhere.
    fn around(&self, rows: Range<usize>) -> &[u8] {
        let _ = rows;
        b""
    }

    /// The number of bytes of all values of some rows. By default each value is looked at.
    fn bytes(&self, rows: Range<usize>) -> usize {
        rows.map(|n| self.get(n).map_or(0, <[u8]>::len)).sum()
    }
}

impl<V: AsRef<[u8]> + Sync> Values for [Option<V>] {
    fn len(&self) -> usize {
        self.len()
    }

    fn get(&self, n: usize) -> Option<&[u8]> {
        self[n].as_ref().map(AsRef::as_ref)
    }
}

/// Judges and counts all values of a column on several threads, as [`Scan::values`](super::builder::Scan::values) says.
///
/// # Panics
/// When the machine does not have the kernel.
#[must_use]
pub fn scan_values<V: Values + ?Sized>(
    tally: Tally,
    parts: &[&V],
    options: &Options,
    exec: &ExecOptions,
) -> Tally {
    let scanners = exec.scanners();
    let place_at = |offset| Place { input: 0, offset };
    let add = |tally: &mut Tally, (part, rows): &(&V, Range<usize>), offset: u64| {
        let values: Vec<_> = rows.clone().map(|n| part.get(n)).collect();
        scanners.with(|scanner| add_values(tally, scanner, &values, place_at(offset), options));
        exec.judged(values.len() as u64);
    };
    let ranges: Vec<_> =
        parts.iter().flat_map(|&part| ranges(part.len()).map(move |rows| (part, rows))).collect();
    let len_of = |(part, rows): &(&V, Range<usize>)| (part.bytes(rows.clone()) + rows.len()) as u64;
    let n_threads = exec.n_threads().min(ranges.len());
    if n_threads < 2 {
        return ranges.iter().fold(tally, |mut tally, range| {
            let offset = tally.bytes();
            add(&mut tally, range, offset);
            tally
        });
    }
    let shards = || Shards::new(ranges.len(), n_threads);
    let numbers = |taken: Range<u64>| taken.map(|n| usize::try_from(n).expect("a range that was made"));
    // The place of each range depends on the lengths of all values before it.
    let places: Vec<_> = ranges.iter().map(|_| AtomicU64::default()).collect();
    let to_measure = shards();
    on_threads(n_threads, |_, _| {
        while let Some(taken) = to_measure.take() {
            numbers(taken).for_each(|n| places[n].store(len_of(&ranges[n]), Ordering::Relaxed));
        }
    });
    let mut offset = tally.bytes();
    for place in &places {
        let len = place.swap(offset, Ordering::Relaxed);
        offset += len;
    }
    let (to_count, all) = (shards(), Mutex::new(tally));
    on_threads(n_threads, |_, _| {
        let mut some = Tally::default();
        while let Some(taken) = to_count.take() {
            numbers(taken).for_each(|n| add(&mut some, &ranges[n], places[n].load(Ordering::Relaxed)));
        }
        let mut all = lock(&all);
        *all = mem::take(&mut *all).merge(some);
    });
    all.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// How many values are counted at a time. Their text is a few hundred kilobytes, mostly.
const ROWS: usize = 1 << 13;

fn ranges(len: usize) -> impl Iterator<Item = Range<usize>> {
    (0..len).step_by(ROWS).map(move |start| start..len.min(start + ROWS))
}
