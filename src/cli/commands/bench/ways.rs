//! Measures what a line costs in each way through the engine: counted in bulk, listed, or judged by the table.

use std::hint::black_box;
use std::io;
use std::ops::Range;
use std::time::Instant;

use memchr::{memchr_iter, memrchr};
use serde::Serialize;

use super::trial::{self, Spread, float};
use crate::run::{ExecOptions, scan_memory_counted};
use crate::scan::Options;
use crate::scan::lines_by_way::not_in_bulk;
use urlsift_engine::simd::KernelId;

/// Where a corpus is cut. A first line that is longer is measured whole.
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
/// longer, and a table line what the scan of all lines takes longer than that. Each round measures the three in turn.
///
/// # Errors
/// If the system refuses threads.
pub(super) fn measure(bytes: &[u8], kernels: &[KernelId], rounds: u32) -> io::Result<Vec<WayCost>> {
    let most = &bytes[..bytes.len().min(MOST_BYTES)];
    let bytes = &bytes[..memrchr(b'\n', most).map_or(bytes.len(), |lf| lf + 1)];
    let mut costs = Vec::new();
    for &kernel in kernels {
        costs.extend(measure_kernel(bytes, kernel, rounds)?);
    }
    Ok(costs)
}

fn measure_kernel(bytes: &[u8], kernel: KernelId, rounds: u32) -> io::Result<Vec<WayCost>> {
    let [listed, table] = not_in_bulk(bytes, kernel);
    let but_table = without(bytes, &table);
    let mut not_bulk = [listed, table].concat();
    not_bulk.sort_unstable_by_key(|line| line.start);
    let in_bulk = without(bytes, &not_bulk);
    let pool = trial::pool(1)?;
    let texts = [&in_bulk[..], &but_table, bytes];
    // Each text has its own options, whose scanners only learn of that text.
    let execs = texts.map(|_| {
        let mut exec = ExecOptions::default();
        (exec.kernel, exec.threads) = (kernel, 1);
        exec
    });
    let mut times = texts.map(|_| Vec::new());
    // The first round is not timed. It does what is only slow once.
    for round in 0..=rounds {
        for ((text, exec), times) in texts.into_iter().zip(&execs).zip(&mut times) {
            let time = pool.install(|| time_of_scan(text, exec));
            times.extend((round > 0).then_some(time));
        }
    }
    let lines = texts.map(|text| memchr_iter(b'\n', text).count());
    let (mut time_before, mut lines_before) = (0.0, 0);
    let mut costs = Vec::new();
    for ((way, times), lines_so_far) in ["bulk", "listed", "table"].into_iter().zip(times).zip(lines) {
        let (time, more) = (Spread::of(times).median, lines_so_far - lines_before);
        let per_line = (time - time_before) / float(more as u64);
        let is_measured = more > 0 && more * ONE_IN >= lines[2] && per_line > 0.0;
        let nanoseconds_per_line = is_measured.then_some(per_line);
        costs.push(WayCost { kernel: kernel.name(), way, lines: more, nanoseconds_per_line });
        (time_before, lines_before) = (time, lines_so_far);
    }
    Ok(costs)
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

/// How many nanoseconds a scan on the one thread of the current pool takes.
fn time_of_scan(bytes: &[u8], exec: &ExecOptions) -> f64 {
    let start = Instant::now();
    black_box(scan_memory_counted(black_box(bytes), &Options::default(), exec));
    start.elapsed().as_secs_f64() * 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ways_have_all_lines() {
        let text = b"http://a.example/b\nhttp://a.example/\xc3\xa9\nmailto:u@h\n".repeat(5000);
        let kernels: Vec<_> = KernelId::available().collect();
        let costs = measure(&text, &kernels, 1).unwrap();
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
