//! `urlsift bench [PATH]...`: how fast every kernel is on this machine, against finding the lines with memchr.

mod corpus;
mod sample;
mod table;
mod trial;

use std::fs;
use std::io;
use std::path::PathBuf;
use std::thread::available_parallelism;

use clap::{Args, ValueEnum};
use serde::Serialize;
use urlsift::kernel::KernelId;
use urlsift::report::grouped;

use self::corpus::Corpus;
use self::trial::{Trial, VerdictSet};
use super::output::Output;
use super::{End, complain, input_path, kernel};

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Files, directories, - for standard input [default: a built-in sample]
    ///
    /// All is read into memory [default: a built-in sample of 64 MiB, the same on every machine].
    #[arg(value_name = "PATH", value_parser = input_path())]
    paths: Vec<PathBuf>,

    /// How many bytes to judge, such as 64M
    ///
    /// A smaller corpus is repeated, of a larger one the beginning is taken [default: at least 32M and at most 1G of what is
    /// named].
    #[arg(long, value_name = "BYTES", value_parser = size)]
    size: Option<usize>,

    /// How often everything is measured; medians are shown
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rounds: u32,

    /// Measure on 1, 2, 4 and so on up to N threads [default: all]
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    threads: Option<u32>,

    /// Measure only this kernel [default: all of this machine]
    ///
    /// One of portable, avx2, avx2-gfni and avx512 [default: all that this machine has].
    #[arg(long, value_name = "NAME", value_parser = kernel)]
    kernel: Option<KernelId>,

    /// How the times are written
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// A table for people
    Text,
    /// The schema urlsift.bench/1, with the times of all rounds
    Json,
}

/// A number of bytes that memory can have.
fn size(text: &str) -> Result<usize, String> {
    usize::try_from(super::size::size(text)?).map_err(|_| "more bytes than memory can have".to_owned())
}

/// All that a run has to say. A field more keeps the number of the schema; any other change raises it.
#[derive(Serialize)]
struct Results {
    schema: &'static str,
    version: &'static str,
    /// The compiler, if the build could ask it.
    rustc: Option<&'static str>,
    /// The processor by its name, if the system tells.
    processor: Option<String>,
    /// How many threads the machine runs at once.
    parallelism: usize,
    corpus: Facts,
    rounds: u32,
    /// What was checked before anything was timed: for each verdict, the lines that have it.
    verdict_sets: Vec<VerdictSet>,
    runs: Vec<Trial>,
}

/// What was judged.
#[derive(Serialize)]
struct Facts {
    name: String,
    bytes: usize,
    lines: u64,
    blank: u64,
    /// How many bytes there were before they were repeated.
    grown_from: Option<usize>,
    /// Whether there was more, which was not taken.
    cut: bool,
}

pub(crate) fn run(args: &BenchArgs) -> io::Result<End> {
    let corpus = Corpus::load(&args.paths, args.size)?;
    if corpus.cut {
        complain(&format!(
            "measuring on the first {} bytes of {}; --size takes more",
            grouped(corpus.bytes.len() as u64),
            corpus.name
        ));
    }
    let parallelism = available_parallelism().map_or(1, usize::from);
    let most = args.threads.map_or(parallelism, |n| usize::try_from(n).unwrap_or(usize::MAX));
    let kernels = args.kernel.map_or_else(|| KernelId::available().collect(), |kernel| vec![kernel]);
    let measured = trial::measure(&corpus.bytes, &kernels, &thread_counts(most), args.rounds)?;
    let results = Results {
        schema: "urlsift.bench/1",
        version: env!("CARGO_PKG_VERSION"),
        rustc: Some(env!("URLSIFT_RUSTC")).filter(|name| !name.is_empty()),
        processor: processor(),
        parallelism,
        corpus: Facts {
            bytes: corpus.bytes.len(),
            lines: measured.lines,
            blank: measured.blank,
            name: corpus.name,
            grown_from: corpus.grown_from,
            cut: corpus.cut,
        },
        rounds: args.rounds,
        verdict_sets: measured.verdict_sets,
        runs: measured.trials,
    };
    Output::open(None)?.write(|out| match args.format {
        Format::Text => out.write_all(table::render(&results).as_bytes()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, &results)?;
            out.write_all(b"\n")
        }
    })?;
    Ok(End::Done)
}

/// The powers of two below `most`, and `most`.
fn thread_counts(most: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1_usize), |n| n.checked_mul(2));
    powers.take_while(|&n| n < most).chain([most]).collect()
}

/// The name of the processor, where Linux tells it.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let name = text.lines().find_map(|line| line.strip_prefix("model name"))?;
    Some(name.trim_start_matches([' ', '\t', ':']).trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_threads() {
        assert_eq!(thread_counts(1), [1]);
        assert_eq!(thread_counts(2), [1, 2]);
        assert_eq!(thread_counts(6), [1, 2, 4, 6]);
        assert_eq!(thread_counts(8), [1, 2, 4, 8]);
    }
}
