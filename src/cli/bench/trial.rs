//! What is measured: first that every answer is right, then how long it takes to get it.

use std::collections::{BTreeMap, BTreeSet};
use std::hint::black_box;
use std::io;
use std::time::Instant;

use memchr::memchr_iter;
use rayon::ThreadPool;
use rayon::prelude::*;
use serde::Serialize;
use urlsift::corpus::{Effort, scan_memory};
use urlsift::kernel::KernelId;
use urlsift::scan::{Options, Ways, scan_into};
use urlsift::tally::{ByVerdict, Place};
use urlsift::{Grammar, Tally, Verdict, judge};

/// Something that is done with all bytes.
#[derive(Clone, Copy)]
enum Job {
    /// Counts LFs.
    Count,
    /// Finds each line and looks at none.
    Split,
    /// Judges each line.
    Scan(KernelId),
}

/// What a job says of the bytes.
enum Answer {
    Lines(u64),
    Tally(Box<Tally>, Ways),
}

/// A job on so many threads, and how long it took.
#[derive(Serialize)]
pub(super) struct Trial {
    #[serde(skip)]
    job: Job,
    pub(super) name: &'static str,
    /// The kernel, if lines are judged.
    pub(super) kernel: Option<&'static str>,
    pub(super) threads: usize,
    /// The time of each round.
    nanoseconds: Vec<u64>,
    /// 10^9 bytes a second: the median of all rounds, the least and the most.
    pub(super) gigabytes_per_second: Spread,
    /// Of the median round.
    pub(super) nanoseconds_per_line: f64,
    /// Of the median round.
    pub(super) million_lines_per_second: f64,
    /// How fast it is for the split on as many threads in the same round: the median of all rounds, the least and the most.
    pub(super) of_split: Spread,
    /// Which way judged lines took.
    pub(super) ways: Option<Shares>,
}

/// The middle and the ends of what was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) most: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let (Some(&least), Some(&most)) = (values.first(), values.last()) else { return Self::default() };
        let middle = values.len() / 2;
        let median = if values.len().is_multiple_of(2) {
            f64::midpoint(values[middle - 1], values[middle])
        } else {
            values[middle]
        };
        Self { median, least, most }
    }
}

/// [`Ways`] in the results.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Shares {
    pub(super) plain: u64,
    pub(super) attended: u64,
    pub(super) hard: u64,
}

/// Lines that have a verdict.
#[derive(Serialize)]
pub(super) struct VerdictSet {
    accepted_by: Vec<&'static str>,
    lines: u64,
}

/// All trials, and what they agree on.
pub(super) struct Measured {
    pub(super) lines: u64,
    pub(super) blank: u64,
    pub(super) verdict_sets: Vec<VerdictSet>,
    pub(super) trials: Vec<Trial>,
}

/// Measures the baselines and `kernels` on `bytes`, whole lines that all end in LF, on each number of threads.
///
/// All are measured in turn, as many rounds, so that what disturbs the machine disturbs all of them.
///
/// # Errors
/// When the portable kernel counts other verdicts than `judge` on each line, when another answer differs from that of
/// the portable kernel (the error says whose, and in what), and when the system refuses threads.
pub(super) fn measure(
    bytes: &[u8],
    kernels: &[KernelId],
    thread_counts: &[usize],
    rounds: u32,
) -> io::Result<Measured> {
    let mut expected = Tally::default();
    scan_into(&mut expected, KernelId::Portable, bytes, Place { input: 0, offset: 0 }, &Options::default());
    if let Some(what) = first_difference(&judged_one_by_one(bytes), &totals(&expected)) {
        return Err(differs("the portable kernel differs from judge on each line", &what));
    }
    let jobs = || [Job::Count, Job::Split].into_iter().chain(kernels.iter().map(|&kernel| Job::Scan(kernel)));
    let mut groups: Vec<(ThreadPool, Vec<Trial>)> = Vec::new();
    for &threads in thread_counts {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool =
            pool.map_err(|error| io::Error::other(format!("cannot start {threads} threads: {error}")))?;
        groups.push((pool, jobs().map(|job| Trial::new(job, threads)).collect()));
    }
    // A round that is not timed: what is slow only once is over, and nothing is timed that answers wrong.
    for timed in std::iter::once(false).chain((0..rounds).map(|_| true)) {
        for (pool, trials) in &mut groups {
            for trial in trials {
                trial.take(pool, bytes, &expected, timed)?;
            }
        }
    }
    let mut trials = Vec::new();
    for (_, mut group) in groups {
        let split =
            group.iter().find(|trial| matches!(trial.job, Job::Split)).map(|trial| trial.nanoseconds.clone());
        for trial in &mut group {
            trial.conclude(
                float(bytes.len() as u64),
                float(expected.lines()),
                split.as_deref().unwrap_or_default(),
            );
        }
        trials.extend(group);
    }
    let judged = expected.judged();
    let verdict_sets = judged.sets().map(|(verdict, lines)| VerdictSet {
        accepted_by: verdict.iter().map(Grammar::name).collect(),
        lines,
    });
    Ok(Measured {
        lines: expected.lines(),
        blank: expected.blank,
        verdict_sets: verdict_sets.collect(),
        trials,
    })
}

fn differs(who: &str, what: &str) -> io::Error {
    io::Error::other(format!("{who}: {what}; nothing is measured that answers wrong"))
}

impl Job {
    fn name(self) -> &'static str {
        match self {
            Self::Count => "memchr count",
            Self::Split => "memchr split",
            Self::Scan(_) => "scan",
        }
    }

    /// Does it on the threads of the pool that it is called in, in pieces of the length that files are read in.
    fn run(self, bytes: &[u8], threads: usize) -> Answer {
        let mut effort = Effort::default();
        let len = effort.shard_len;
        let pieces = || bytes.par_chunks(len);
        match self {
            Self::Count => {
                Answer::Lines(pieces().map(|piece| memchr_iter(b'\n', piece).count() as u64).sum())
            }
            Self::Split => Answer::Lines(pieces().map(split).sum()),
            Self::Scan(kernel) => {
                effort.kernel = kernel;
                effort.threads = threads;
                let (tally, ways) = scan_memory(bytes, &Options::default(), &effort);
                Answer::Tally(Box::new(tally), ways)
            }
        }
    }
}

/// Finds each line; how many there are. A line that goes on in the next piece is found there.
fn split(piece: &[u8]) -> u64 {
    let mut start = 0;
    let mut lines = 0;
    for lf in memchr_iter(b'\n', piece) {
        black_box(&piece[start..lf]);
        start = lf + 1;
        lines += 1;
    }
    lines
}

impl Answer {
    /// In what it is not what is expected.
    fn difference(&self, expected: &Tally) -> Option<String> {
        match self {
            Self::Lines(lines) if *lines == expected.lines() => None,
            Self::Lines(lines) => Some(format!("lines: {lines}, not {}", expected.lines())),
            Self::Tally(tally, _) if **tally == *expected => None,
            Self::Tally(tally, _) => first_difference(&counts(expected), &counts(tally))
                .or_else(|| Some("the same counts, and other examples".to_owned())),
        }
    }
}

impl Trial {
    fn new(job: Job, threads: usize) -> Self {
        Self {
            job,
            name: job.name(),
            kernel: if let Job::Scan(kernel) = job { Some(kernel.name()) } else { None },
            threads,
            nanoseconds: Vec::new(),
            gigabytes_per_second: Spread::default(),
            nanoseconds_per_line: 0.0,
            million_lines_per_second: 0.0,
            of_split: Spread::default(),
            ways: None,
        }
    }

    /// Does the job once, and looks at the answer when the time has been taken.
    fn take(&mut self, pool: &ThreadPool, bytes: &[u8], expected: &Tally, timed: bool) -> io::Result<()> {
        let Self { job, threads, .. } = *self;
        let start = Instant::now();
        let answer = pool.install(|| black_box(job.run(black_box(bytes), threads)));
        let elapsed = start.elapsed();
        if timed {
            self.nanoseconds.push(u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX).max(1));
        }
        if let Some(what) = answer.difference(expected) {
            let name = self.kernel.unwrap_or(self.name);
            let who = format!("{name} with --threads {threads} differs from the portable kernel");
            return Err(differs(&who, &what));
        }
        if let Answer::Tally(_, Ways { plain, attended, hard, .. }) = answer {
            self.ways = Some(Shares { plain, attended, hard });
        }
        Ok(())
    }

    /// Says what the times come to, beside those of the split.
    fn conclude(&mut self, len_bytes: f64, n_lines: f64, split: &[u64]) {
        let times = || self.nanoseconds.iter().map(|&time| float(time));
        let median = Spread::of(times().collect()).median;
        self.nanoseconds_per_line = median / n_lines;
        self.million_lines_per_second = n_lines * 1e3 / median;
        self.gigabytes_per_second = Spread::of(times().map(|time| len_bytes / time).collect());
        self.of_split = Spread::of(times().zip(split).map(|(time, &split)| float(split) / time).collect());
    }
}

/// Exact below 2^53, which is 104 days of nanoseconds.
#[allow(clippy::cast_precision_loss, reason = "as said above")]
pub(super) fn float(n: u64) -> f64 {
    n as f64
}

/// Counts by what they count.
type Counts = BTreeMap<String, u64>;

/// What `judge` says of each line, line by line, in the least cunning way.
fn judged_one_by_one(bytes: &[u8]) -> Counts {
    let mut by_verdict = [0; Verdict::COUNT];
    let (mut lines, mut blank) = (0, 0);
    for line in bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).split_inclusive(|&byte| byte == b'\n') {
        lines += 1;
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
        if end == 0 {
            blank += 1;
        } else {
            by_verdict[usize::from(judge(&line[..end]).verdict().bits())] += 1;
        }
    }
    let mut counts = Counts::from([("lines".to_owned(), lines), ("blank lines".to_owned(), blank)]);
    let sets = (0..).zip(by_verdict).map(|(bits, lines)| (Verdict::from_bits(bits), lines));
    add_sets(&mut counts, "lines", sets.filter(|&(_, lines)| lines > 0));
    counts
}

fn add_sets(counts: &mut Counts, what: &str, sets: impl Iterator<Item = (Verdict, u64)>) {
    counts.extend(sets.map(|(verdict, lines)| (format!("{what} with the verdict {verdict}"), lines)));
}

/// Of a tally, what `judge` has a say in.
fn totals(tally: &Tally) -> Counts {
    let mut counts =
        Counts::from([("lines".to_owned(), tally.lines()), ("blank lines".to_owned(), tally.blank)]);
    add_sets(&mut counts, "lines", tally.judged().sets());
    counts
}

/// All counts of a tally.
fn counts(tally: &Tally) -> Counts {
    let mut counts = totals(tally);
    counts.insert("bytes".to_owned(), tally.bytes());
    counts.insert("lines that ended in CR".to_owned(), tally.cr);
    counts.insert("byte order marks".to_owned(), tally.boms);
    let mut add = |what: &str, lines: &ByVerdict| add_sets(&mut counts, what, lines.sets());
    add("lines without a scheme", tally.relative());
    add("lines of unnamed schemes", tally.unnamed_schemes());
    for (scheme, lines) in tally.schemes() {
        add(&format!("lines of scheme {scheme}"), lines);
    }
    for (component, cause, found) in tally.defects() {
        counts.insert(format!("lines with the defect {component}:{cause}"), found.lines);
    }
    for (advisory, found) in tally.advisories() {
        counts.insert(format!("lines with the advisory {advisory}"), found.lines);
    }
    counts
}

/// The first count that is not what is expected.
fn first_difference(expected: &Counts, found: &Counts) -> Option<String> {
    let of = |counts: &Counts, what: &String| counts.get(what).copied().unwrap_or(0);
    let all: BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    let different = all.into_iter().find(|&what| of(expected, what) != of(found, what));
    different.map(|what| format!("{what}: {}, not {}", of(found, what), of(expected, what)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &[u8] = b"http://a.example/\nb c\r\n\nx:y\nhttp://u:p@h/%2F\n";

    fn tally(text: &[u8]) -> Tally {
        urlsift::scan(text, &Options::default())
    }

    #[test]
    fn a_wrong_answer_is_noticed() {
        let answer = |text: &[u8]| Answer::Tally(Box::new(tally(text)), Ways::default());
        assert_eq!(answer(TEXT).difference(&tally(TEXT)), None);
        for (wrong, what) in [
            (&TEXT[..TEXT.len() - 1], "bytes: 44, not 45"),
            (b"http://a.example/\nb c\r\n\nz:y\nhttp://u:p@h/%2F\n", "lines of scheme x with the verdict"),
            (b"http://a.example/\nb cc\n\nx:y\nhttp://u:p@h/%2F\n", "lines that ended in CR: 0, not 1"),
            (
                b"http://a.exampl /\nb c\r\n\nx:y\nhttp://u:p@h/%2F\n",
                "lines of scheme http with the verdict -: 1, not 0",
            ),
            (b"http://a.example/\nb d\r\n\nx:y\nhttp://u:p@h/%2F\n", "the same counts, and other examples"),
        ] {
            let found = answer(wrong).difference(&tally(TEXT)).unwrap();
            assert!(found.starts_with(what), "{found}");
        }
        assert_eq!(Answer::Lines(4).difference(&tally(TEXT)).as_deref(), Some("lines: 4, not 5"));
        assert!(Answer::Lines(5).difference(&tally(TEXT)).is_none());
    }

    #[test]
    fn judge_has_its_say() {
        assert_eq!(first_difference(&judged_one_by_one(TEXT), &totals(&tally(TEXT))), None);
        let other = tally(b"http://a.example/\nb c\r\n\nx:y\n http://u:p@h/%2F\n");
        let found = first_difference(&judged_one_by_one(TEXT), &totals(&other)).unwrap();
        assert_eq!(found, "lines with the verdict -: 2, not 1");
    }

    #[test]
    fn medians() {
        let of = |values: &[f64]| Spread::of(values.to_vec());
        assert_eq!(of(&[3.0, 1.0, 2.0]), Spread { median: 2.0, least: 1.0, most: 3.0 });
        assert_eq!(of(&[4.0, 1.0]), Spread { median: 2.5, least: 1.0, most: 4.0 });
        assert_eq!(of(&[]), Spread::default());
    }
}
