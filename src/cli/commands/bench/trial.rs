//! Measures the kernels and baselines, after checking that all give the right answer.

use std::hint::black_box;
use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::rows::{Column, Records, count_rows};
use crate::run::{ExecOptions, scan_memory};
use crate::scan::{Options, Scanner, scan_into};
use crate::tally::Tally;
use memchr::memchr_iter;
use serde::Serialize;
use urlsift_engine::PathCounts;
use urlsift_engine::place::Place;
use urlsift_engine::simd::KernelId;
use urlsift_grammar::Verdict;
use urlsift_grammar::judge::judge;
use urlsift_input::workers::on_threads;

/// The measurements of one job on one number of threads.
#[derive(Default, Serialize)]
pub(super) struct Trial {
    /// The job: count LFs, find each line without reading it, judge each line with a kernel, or write rows.
    pub(super) name: &'static str,
    pub(super) kernel: Option<&'static str>,
    pub(super) threads: usize,
    /// How the job is done. Rounds share its scanners, as the files of a scan do.
    #[serde(skip)]
    exec: ExecOptions,
    /// What is written of each line, if the job is to write rows.
    #[serde(skip)]
    columns: Vec<&'static Column>,
    /// The time of each timed round.
    nanoseconds: Vec<u64>,
    /// The speed, in units of 10^9 bytes per second.
    pub(super) gigabytes_per_second: Spread,
    /// The time per line in the median round.
    pub(super) nanoseconds_per_line: f64,
    /// The speed in lines in the median round.
    pub(super) million_lines_per_second: f64,
    /// The speed relative to the line split in the same round, on as many threads.
    pub(super) of_split: Spread,
    /// How many lines were judged in each way.
    pub(super) path_counts: Option<Shares>,
}

/// The median, minimum and maximum of all rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Spread {
    /// Computes the spread of at least one value.
    pub(super) fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let last = values.len() - 1;
        let median = f64::midpoint(values[last / 2], values[last.div_ceil(2)]);
        Self { median, least: values[0], most: values[last] }
    }
}

/// The counts of [`PathCounts`] as they are written to JSON.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Shares {
    pub(super) bulk: u64,
    pub(super) listed: u64,
}

/// Measures the baselines and `kernels` on `bytes`, for each number of threads, and on one thread the rows of `columns` if there are any. All
/// lines of `bytes` must end in LF. Returns the tally that all kernels agree on, and the trials.
///
/// Each round measures all jobs in turn, so that disturbances of the machine affect all of them.
///
/// # Errors
/// If the portable kernel disagrees with `judge` on each line, if another kernel disagrees with the portable one, or if the
/// system refuses threads.
pub(super) fn measure(
    bytes: &[u8],
    kernels: &[KernelId],
    columns: &[&'static Column],
    thread_counts: &[usize],
    rounds: u32,
) -> io::Result<(Tally, Vec<Trial>)> {
    let mut expected = Tally::default();
    let (mut portable, place) = (Scanner::new(KernelId::Portable), Place { input: 0, offset: 0 });
    scan_into(&mut expected, &mut portable, bytes, place, &Options::default());
    if !agrees_with_judge(bytes, &expected) {
        return Err(differs("the portable kernel", "judge on each line"));
    }
    let scans = kernels.iter().map(|kernel| ("scan", Some(kernel.name())));
    let jobs: Vec<_> = [("memchr count", None), ("memchr split", None)].into_iter().chain(scans).collect();
    let mut groups = Vec::new();
    for &threads in thread_counts {
        if on_threads(threads, |_, _| ()) < threads {
            return Err(io::Error::other(format!("the system refuses to start {threads} threads")));
        }
        let trials = jobs.iter().map(|&(name, kernel)| Trial { name, kernel, threads, ..Trial::default() });
        let rows = || Trial { name: "columns", threads, columns: columns.to_vec(), ..Trial::default() };
        let rows = (threads == 1 && !columns.is_empty()).then(rows);
        groups.push(trials.chain(rows).collect::<Vec<_>>());
    }
    // The first round is not timed. It does what is only slow once, and it checks all answers before any time is taken.
    for round in 0..=rounds {
        for trial in groups.iter_mut().flatten() {
            trial.take(bytes, &expected, round > 0)?;
        }
    }
    for trials in &mut groups {
        let split = trials[1].nanoseconds.clone();
        for trial in trials {
            trial.conclude(float(bytes.len() as u64), float(expected.lines()), &split);
        }
    }
    Ok((expected, groups.into_iter().flatten().collect()))
}

fn differs(who: &str, from: &str) -> io::Error {
    io::Error::other(format!("{who} differs from {from}; nothing is measured that answers wrong"))
}

/// Whether a tally has the lines and verdicts that `judge` finds line by line.
fn agrees_with_judge(bytes: &[u8], tally: &Tally) -> bool {
    let mut by_verdict = [0; Verdict::COUNT];
    let (mut lines, mut blank) = (0, 0);
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    for line in bytes.strip_suffix(b"\n").unwrap_or(bytes).split(|&byte| byte == b'\n') {
        lines += 1;
        match line.iter().rposition(|&byte| byte != b'\r') {
            None => blank += 1,
            Some(last) => by_verdict[usize::from(judge(&line[..=last]).verdict().bits())] += 1,
        }
    }
    let sets = (0..).map(Verdict::from_bits).zip(by_verdict).filter(|&(_, lines)| lines > 0);
    (lines, blank) == (tally.lines(), tally.blank) && sets.eq(tally.judged().sets())
}

/// Finds each line of a chunk, and returns their number. A line counts in the chunk with its LF.
fn split(chunk: &[u8]) -> u64 {
    let mut start = 0;
    let mut lines = 0;
    for lf in memchr_iter(b'\n', chunk) {
        black_box(&chunk[start..lf]);
        start = lf + 1;
        lines += 1;
    }
    lines
}

impl Trial {
    /// Does the job, with chunks as long as for files. Returns the number of lines, and the result of a scan.
    fn run(&self, bytes: &[u8]) -> (u64, Option<(Tally, PathCounts)>) {
        let mut exec = self.exec.clone();
        if let Some(kernel) = self.kernel.and_then(KernelId::from_name) {
            (exec.kernel, exec.threads) = (kernel, self.threads);
            let (tally, path_counts) = scan_memory(bytes, &Options::default(), &exec);
            (tally.lines(), Some((tally, path_counts)))
        } else if !self.columns.is_empty() {
            let mut records = Records::default();
            records.columns.clone_from(&self.columns);
            (count_rows(bytes, &records, &exec.scanners()), None)
        } else if self.name == "memchr split" {
            (self.sum(bytes, split), None)
        } else {
            (self.sum(bytes, |chunk| memchr_iter(b'\n', chunk).count() as u64), None)
        }
    }

    /// The sum of what `count` returns for each chunk.
    fn sum(&self, bytes: &[u8], count: impl Fn(&[u8]) -> u64 + Sync) -> u64 {
        let (next, sum) = (AtomicUsize::new(0), AtomicU64::new(0));
        on_threads(self.threads, |_, _| {
            let mut own = 0;
            let take = || bytes.chunks(self.exec.shard_len).nth(next.fetch_add(1, Ordering::Relaxed));
            while let Some(chunk) = take() {
                own += count(chunk);
            }
            sum.fetch_add(own, Ordering::Relaxed);
        });
        sum.into_inner()
    }

    /// Does the job once, and checks the answer after taking the time.
    fn take(&mut self, bytes: &[u8], expected: &Tally, timed: bool) -> io::Result<()> {
        let start = Instant::now();
        let (lines, scanned) = black_box(self.run(black_box(bytes)));
        let elapsed = start.elapsed();
        if timed {
            self.nanoseconds.push(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX).max(1));
        }
        if lines != expected.lines() || scanned.as_ref().is_some_and(|(tally, _)| tally != expected) {
            let who = format!("{} with --threads {}", self.kernel.unwrap_or(self.name), self.threads);
            return Err(differs(&who, "the portable kernel"));
        }
        self.path_counts = scanned.map(|(_, PathCounts { bulk, listed, .. })| Shares { bulk, listed });
        Ok(())
    }

    /// Computes the results from the times of this job and of the split.
    fn conclude(&mut self, len_bytes: f64, n_lines: f64, split: &[u64]) {
        let times = || self.nanoseconds.iter().map(|&time| float(time));
        let median = Spread::of(times().collect()).median;
        self.nanoseconds_per_line = median / n_lines;
        self.million_lines_per_second = n_lines * 1e3 / median;
        self.gigabytes_per_second = Spread::of(times().map(|time| len_bytes / time).collect());
        self.of_split = Spread::of(times().zip(split).map(|(time, &split)| float(split) / time).collect());
    }
}

/// Exact below 2^53, which is 104 days in nanoseconds.
#[allow(clippy::cast_precision_loss, reason = "as said above")]
pub(super) fn float(n: u64) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::COLUMNS;

    #[test]
    fn a_wrong_answer_is_noticed() {
        let text = b"http://a.example/\nb c\r\n\nx:y\nhttp://u:p@h/%2F\n";
        let tally = |text: &[u8]| crate::scan::scan(text, &Options::default());
        assert!(agrees_with_judge(text, &tally(text)));
        for wrong in [&text[..text.len() - 7], b"http://a.example/\nb c\r\n\nx:y\n http://u:p@h/%2F\n"] {
            assert!(!agrees_with_judge(text, &tally(wrong)));
        }
        let mut trial = Trial { kernel: Some("portable"), threads: 1, ..Trial::default() };
        let mut take = |found: &[u8], expected: &[u8]| trial.take(found, &tally(expected), true);
        assert!(take(text, text).is_ok());
        let other_example = b"http://a.example/\nb d\r\n\nx:y\nhttp://u:p@h/%2F\n";
        let error = take(other_example, text).unwrap_err().to_string();
        assert!(error.starts_with("portable with --threads 1 differs from the portable kernel; "), "{error}");
    }

    #[test]
    fn rows_of_several_chunks() {
        let columns = COLUMNS.iter().filter(|column| column.name == "host").collect();
        let records = Records { columns, ..Records::default() };
        let lines = "http://a.example/b\n\n/\n".repeat(50_000);
        assert_eq!(count_rows(lines.as_bytes(), &records, &ExecOptions::default().scanners()), 150_000);
    }

    #[test]
    fn medians() {
        let of = |values: &[f64]| Spread::of(values.to_vec());
        assert_eq!(of(&[3.0, 1.0, 2.0]), Spread { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(of(&[4.0, 1.0]), Spread { median: 2.5, least: 1.0, most: 4.0 });
    }
}
