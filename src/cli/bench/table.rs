//! The results as a table for people.

use std::fmt::Write;

use urlsift::escape::printable;
use urlsift::report::grouped;

use super::Results;
use super::trial::{Shares, Trial, float};

const NOTE: &str = "\
split finds each line with memchr and looks at none: what any tool does first. \"of split\" compares with it in the same
round, on as many threads. GB is 10^9 bytes; speeds are medians of the rounds, with the least and the most.
Before anything was timed, every answer was found equal to the portable kernel's, and that to judge on each line.
plain lines are counted in bulk; attended ones are looked at for scheme, advisories or defect; hard ones are judged alone.
";

/// The whole table.
pub(super) fn render(results: &Results) -> String {
    let mut out = String::new();
    let corpus = &results.corpus;
    let rounds = if results.rounds == 1 { "round" } else { "rounds" };
    let _ = writeln!(
        out,
        "urlsift {} bench   {}   {} bytes   {} lines   {} {rounds}",
        results.version,
        corpus.name,
        grouped(corpus.bytes as u64),
        grouped(corpus.lines),
        results.rounds,
    );
    let processor = results.processor.as_deref().unwrap_or("unknown processor");
    let rustc = results.rustc.unwrap_or("unknown compiler");
    let _ = writeln!(
        out,
        "{}   {} at once   {rustc}",
        printable(processor.as_bytes()),
        threads(results.parallelism)
    );
    if let Some(len) = corpus.grown_from {
        let _ =
            writeln!(out, "repeated: its {} bytes would stay in the processor's cache", grouped(len as u64));
    }
    for (n, trial) in results.runs.iter().enumerate() {
        if n == 0 || results.runs[n - 1].threads != trial.threads {
            let _ = writeln!(
                out,
                "\n{:<14}{:>8}{:>16}{:>10}{:>11}{:>10}{:>9}{:>10}{:>8}",
                threads(trial.threads),
                "GB/s",
                "least-most",
                "ns/line",
                "Mlines/s",
                "of split",
                "plain",
                "attended",
                "hard"
            );
        }
        row(&mut out, trial);
    }
    let _ = write!(out, "\n{NOTE}");
    out
}

fn row(out: &mut String, trial: &Trial) {
    let speed = trial.gigabytes_per_second;
    let _ = write!(
        out,
        "{:<14}{:>8.2}{:>16}{:>10.2}{:>11.1}{:>10.2}",
        trial.kernel.unwrap_or(trial.name),
        speed.median,
        format!("{:.2}-{:.2}", speed.least, speed.most),
        trial.nanoseconds_per_line,
        trial.million_lines_per_second,
        trial.of_split.median,
    );
    if let Some(Shares { plain, attended, hard }) = trial.ways {
        let all = plain + attended + hard;
        let percent = |lines: u64| {
            if all == 0 { "-".to_owned() } else { format!("{:.2}%", 100.0 * float(lines) / float(all)) }
        };
        let _ = write!(out, "{:>9}{:>10}{:>8}", percent(plain), percent(attended), percent(hard));
    }
    out.push('\n');
}

fn threads(n: usize) -> String {
    if n == 1 { "1 thread".to_owned() } else { format!("{n} threads") }
}
