//! `urlsift bench [PATH]...`: measures every kernel on this machine, and compares it with finding the lines by memchr.

mod corpus;
mod sample;
mod trial;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::thread::available_parallelism;
use std::{fs, io, mem};

use crate::report::grouped;
use crate::rows::Column;
use clap::Args;
use serde_json::json;
use urlsift_engine::simd::KernelId;
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::printable;

use self::corpus::{Corpus, in_huge_pages};
use self::sample::Sample;
use self::trial::{Shares, Trial, float};
use super::lines::columns;
use super::listing::{self, ListArgs};
use crate::cli::{End, complain, input_path};

const VERSION: &str = env!("CARGO_PKG_VERSION");

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Files, directories, or - for standard input [default: a built-in sample]
    ///
    /// Everything is read into memory [default: a built-in sample of 64 MiB, the same on every machine].
    #[arg(value_name = "PATH", value_parser = input_path())]
    paths: Vec<PathBuf>,

    /// Measure on a built-in sample with lines of one kind, such as iris or mailto:10
    ///
    /// The kinds are iris, mailto, attacks, redirects, streams, 1990s and vectors. A number is their share of the lines in
    /// per cent; the other lines are clean.
    #[arg(long, value_name = "KIND", conflicts_with = "paths")]
    sample: Option<Sample>,

    /// How many bytes to judge, such as 64M
    ///
    /// A smaller corpus is repeated, and of a larger one only the beginning is used [default: the size of the inputs, but
    /// at least 32M and at most 1G].
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<usize>,

    /// How many rounds to measure; medians are shown
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,

    /// Measure on 1, 2, 4 and so on up to N threads [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// Measure also how fast these columns of "urlsift lines" are written, on one thread
    #[arg(short, long, value_delimiter = ',', value_name = "COLUMN,...", value_parser = columns(), hide_possible_values = true)]
    columns: Vec<&'static Column>,

    #[command(flatten)]
    list: ListArgs,
}

/// Parses a number of bytes that fits into a `usize`.
fn size(text: &str) -> Result<usize, String> {
    usize::try_from(crate::cli::args::size::size(text)?)
        .map_err(|_| "more bytes than memory can have".to_owned())
}

pub(crate) fn run(args: &BenchArgs) -> io::Result<End> {
    let mut corpus = Corpus::load(&args.paths, args.sample.unwrap_or(Sample::Mix), args.size)?;
    if corpus.cut {
        complain(&format!(
            "measuring on the first {} bytes of {}; --size takes more",
            grouped(corpus.bytes.len() as u64),
            corpus.name
        ));
    }
    let parallelism = available_parallelism().map_or(1, usize::from);
    let most = args.threads.map_or(parallelism, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let powers = std::iter::successors(Some(1_usize), |n| n.checked_mul(2));
    let thread_counts: Vec<_> = powers.take_while(|&n| n < most).chain([most]).collect();
    let kernels: Vec<_> = KernelId::available().collect();
    let bytes = in_huge_pages(&mem::take(&mut corpus.bytes))?;
    let (tally, trials) = trial::measure(&bytes, &kernels, &args.columns, &thread_counts, args.rounds)?;
    let processor = processor();
    let rustc = Some(urlsift_grammar::RUSTC).filter(|name| !name.is_empty());
    let text = || {
        let rounds = if args.rounds == 1 { "round" } else { "rounds" };
        let mut text = format!(
            "urlsift {VERSION} bench   {}   {} bytes   {} lines   {} {rounds}\n{}   {} at once   {}\n",
            corpus.name,
            grouped(bytes.len() as u64),
            grouped(tally.lines()),
            args.rounds,
            printable(processor.as_deref().unwrap_or("unknown processor").as_bytes()),
            threads(parallelism),
            rustc.unwrap_or("unknown compiler"),
        );
        if let Some(len) = corpus.grown_from {
            let len = grouped(len as u64);
            let _ = writeln!(text, "repeated: its {len} bytes would stay in the processor's cache");
        }
        push_tables(&mut text, &trials);
        text + "\n" + NOTE
    };
    let judged = tally.judged();
    let sets = judged.sets().map(|(verdict, lines)| {
        json!({ "accepted_by": verdict.iter().map(Grammar::name).collect::<Vec<_>>(), "lines": lines })
    });
    // Adding a field keeps the version number of the schema; any other change increases it.
    let results = json!({
        "schema": "urlsift.bench/2",
        "version": VERSION,
        "rustc": rustc,
        "processor": processor,
        "parallelism": parallelism,
        "corpus": {
            "name": corpus.name,
            "bytes": bytes.len(),
            "lines": tally.lines(),
            "blank": tally.blank,
            "grown_from": corpus.grown_from,
            "cut": corpus.cut,
        },
        "rounds": args.rounds,
        "verdict_sets": sets.collect::<Vec<_>>(),
        "runs": trials,
    });
    listing::write(&args.list, &results, text)
}

/// The name of the processor, on Linux.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(name.trim_start_matches([' ', '\t', ':']).trim_end().to_owned())
}

const NOTE: &str = "\
split finds each line with memchr and does no more, as every tool has to. \"of split\" compares with it in the same round, on as
many threads. GB is 10^9 bytes; speeds are medians of the rounds, with the least and the most.
Before the first round, each kernel gave the answer of the portable kernel, and that gave the answer of judge on each line.
bulk lines are counted without a look at each. Listed lines are those that the bit streams leave to the table, and lines of the table scan
that are counted one by one.
";

/// The columns with their widths.
const COLUMNS: [(&str, usize); 7] = [
    ("GB/s", 8),
    ("least-most", 16),
    ("ns/line", 10),
    ("Mlines/s", 11),
    ("of split", 10),
    ("bulk", 9),
    ("listed", 10),
];

/// Appends one table for each number of threads.
fn push_tables(out: &mut String, trials: &[Trial]) {
    for trials in trials.chunk_by(|a, b| a.threads == b.threads) {
        out.push('\n');
        push_row(out, &threads(trials[0].threads), &COLUMNS.map(|(head, _)| head.to_owned()));
        for trial in trials {
            let speed = trial.gigabytes_per_second;
            let mut cells = vec![
                format!("{:.2}", speed.median),
                format!("{:.2}-{:.2}", speed.least, speed.most),
                format!("{:.2}", trial.nanoseconds_per_line),
                format!("{:.1}", trial.million_lines_per_second),
                format!("{:.2}", trial.of_split.median),
            ];
            if let Some(Shares { bulk, listed }) = trial.path_counts {
                let all = float((bulk + listed).max(1));
                cells.extend([bulk, listed].map(|n| format!("{:.2}%", 100.0 * float(n) / all)));
            }
            push_row(out, trial.kernel.unwrap_or(trial.name), &cells);
        }
    }
}

fn push_row(out: &mut String, name: &str, cells: &[String]) {
    let _ = write!(out, "{name:<14}");
    for (cell, (_, width)) in cells.iter().zip(COLUMNS) {
        let _ = write!(out, "{cell:>width$}");
    }
    out.push('\n');
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}
