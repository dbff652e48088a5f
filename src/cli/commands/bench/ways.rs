//! Measures what a line costs in each way through the engine: counted in bulk, listed, or judged by the table.

use std::hint::black_box;
use std::ops::Range;
use std::thread;
use std::time::Instant;

use memchr::{memchr_iter, memrchr};
use serde::Serialize;

use super::trial::{Spread, float};
use crate::run::{ExecOptions, scan_memory_counted};
use crate::scan::Options;
use crate::scan::lines_by_way::not_in_bulk;
use crate::simd::KernelId;

/// At most this many bytes are measured, but for a first line that is longer.
const MOST_BYTES: usize = 64 << 20;

/// Lines of a way are measured if they are at least one in so many. The difference of two times says nothing of fewer lines.
const ONE_IN: usize = 1000;

/// What a line costs that a kernel treats in one way, on one thread.
#[derive(Debug, Serialize)]
pub(super) struct WayCost {
    pub(super) kernel: &'static str,
    /// `bulk`, `listed` or `table`.
    pub(super) way: &'static str,
    pub(super) lines: usize,
    /// The difference of medians. `None` if there are too few lines, or if it is below 0: without these lines, the engine may read the
    /// others in another way.
    pub(super) nanoseconds_per_line: Option<f64>,
}

/// Measures the ways of each kernel on the first bytes of a corpus.
///
/// The lines that are counted in bulk are scanned alone. A listed line costs what the scan of these with all listed lines takes
/// longer, and a table line what the scan of all lines takes longer than that. Each round measures the three in turn, and the scan of an
/// empty text, which starts a thread and judges nothing.
pub(super) fn measure(bytes: &[u8], kernels: &[KernelId], rounds: u32) -> Vec<WayCost> {
    let most = &bytes[..bytes.len().min(MOST_BYTES)];
    let bytes = &bytes[..memrchr(b'\n', most).map_or(bytes.len(), |lf| lf + 1)];
    kernels.iter().flat_map(|&kernel| measure_kernel(bytes, kernel, rounds)).collect()
}

fn measure_kernel(bytes: &[u8], kernel: KernelId, rounds: u32) -> [WayCost; 3] {
    // On a thread of its own, because a thread remembers what its last segments had.
    let [listed, table] = thread::scope(|scope| scope.spawn(|| not_in_bulk(bytes, kernel)).join())
        .expect("the thread does not panic");
    let but_table = without(bytes, &table);
    let mut not_bulk = [listed, table].concat();
    not_bulk.sort_unstable_by_key(|line| line.start);
    let in_bulk = without(bytes, &not_bulk);
    let texts = [&[], &in_bulk[..], &but_table, bytes];
    let lines = texts.map(|text| memchr_iter(b'\n', text).count());
    let times: Vec<_> = (0..rounds).map(|_| texts.map(|text| time_of_scan(text, kernel))).collect();
    let median = |n: usize| Spread::of(times.iter().map(|times| times[n]).collect()).median;
    [("bulk", 1), ("listed", 2), ("table", 3)].map(|(way, n)| {
        let more = lines[n] - lines[n - 1];
        let is_enough = more > 0 && more * ONE_IN >= lines[3];
        let per_line = (median(n) - median(n - 1)) / float(more as u64);
        let nanoseconds_per_line = (is_enough && per_line > 0.0).then_some(per_line);
        WayCost { kernel: kernel.name(), way, lines: more, nanoseconds_per_line }
    })
}

/// Leaves out `lines`, ranges in ascending order.
fn without(bytes: &[u8], lines: &[Range<usize>]) -> Vec<u8> {
    let mut left = Vec::with_capacity(bytes.len());
    let mut start = 0;
    for line in lines {
        left.extend_from_slice(&bytes[start..line.start]);
        start = line.end;
    }
    left.extend_from_slice(&bytes[start..]);
    left
}

/// How many nanoseconds a scan on one thread takes.
fn time_of_scan(bytes: &[u8], kernel: KernelId) -> f64 {
    let mut exec = ExecOptions::default();
    (exec.kernel, exec.threads) = (kernel, 1);
    let start = Instant::now();
    black_box(scan_memory_counted(black_box(bytes), &Options::default(), &exec));
    start.elapsed().as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_have_all_lines() {
        let text = b"http://a.example/b\nhttp://a.example/\xc3\xa9\nmailto:u@h\n".repeat(5000);
        let kernels: Vec<_> = KernelId::available().collect();
        let costs = measure(&text, &kernels, 1);
        assert_eq!(costs.len(), 3 * kernels.len());
        for costs in costs.chunks(3) {
            assert_eq!(costs.iter().map(|cost| cost.lines).sum::<usize>(), 15_000, "{costs:?}");
            for cost in costs {
                assert!(cost.nanoseconds_per_line.is_none() || cost.lines >= 15, "{cost:?}");
            }
        }
        assert_eq!(without(b"abcdef", &[1..2, 4..6]), b"acd");
    }
}
