//! `urlsift [PATH]...`: the report.

use std::io;
use std::time::Instant;

use clap::Args;
use urlsift::partial_report::Settings;
use urlsift::progress::Watch;
use urlsift::report::{Report, Run, grouped};
use urlsift::run::{Effort, Failure, Reading, scan_records};
use urlsift::scan::Options;
use urlsift::simd::KernelId;

use crate::cli::args::count::CountArgs;
use crate::cli::args::format::ReadingArgs;
use crate::cli::args::range::{Asked, Found, PartArgs};
use crate::cli::args::report::{ReportArgs, ReportOutput};
use crate::cli::fail_on::Gate;
use crate::cli::{End, GrammarArgs, InputArgs, complain, complain_of, kernel};

#[derive(Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    parts: PartArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    #[command(flatten)]
    count: CountArgs,

    /// What judges lines [default: the fastest]
    ///
    /// One of portable, avx2, avx2-gfni and avx512, which differ in the vector instructions that they use, and not in what they find;
    /// "urlsift --version" tells which of them this machine has [default: the fastest of those].
    #[arg(long, value_name = "NAME", value_parser = kernel, hide_short_help = true)]
    kernel: Option<KernelId>,

    /// Read files, do not look at them where they lie in memory
    ///
    /// On Linux large files are looked at without copying them, where they lie in the system's memory already and it promises that
    /// nobody changes them meanwhile: whoever opens one to write, or cuts it, waits some milliseconds for that (with O_NONBLOCK he
    /// gets an error instead). Others are read.
    #[arg(long, hide_short_help = true)]
    no_mmap: bool,

    /// Exit with 1 on a condition: 'refused>1%', say
    ///
    /// Conditions, such as refused, 'refused:rfc1738>0.1%', 'scheme:http>0' or advisory:password, are joined by commas, or the
    /// option given several times; one that holds is enough, and each that holds is named on standard error.
    ///
    /// A condition is something counted, a comparison (> >= < <= = !=) and a number, or a share in per cent; without a
    /// comparison it means more than 0. Counted are: refused and accepted, by the grammar of --grammar, or behind a colon
    /// another one, any (at least one of the five) or all (each of the five); scheme:NAME and relative (no scheme);
    /// advisory:NAME; and lines, judged, blank and cr (lines that ended in CR). Shares are of the judged lines, those of judged,
    /// blank and cr of all lines; no share of nothing crosses a limit. Where more schemes occur than are counted by name, a
    /// condition on one of the others may be impossible to tell; that is said, and the exit status is 2.
    #[arg(long, value_name = "CONDITION", value_delimiter = ',')]
    fail_on: Vec<Gate>,

    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(args: &ScanArgs) -> io::Result<End> {
    let Some(asked) = args.parts.asked(&args.input)? else { return Ok(End::NoInput) };
    let reading = args.reading.reading()?;
    let mut options = Options::default();
    options.grammar = args.grammar.grammar;
    args.count.apply(&mut options);
    let mut effort = args.input.effort();
    effort.kernel = args.kernel.unwrap_or(effort.kernel);
    effort.mmap = !args.no_mmap;
    let output = args.report.open()?;
    output.check_is_no_input(&asked.inputs)?;
    output.check_is_no_input(asked.list.as_slice())?;
    options.lengths |= output.shows_lengths();
    if output.is_partial() || asked.are_parts {
        return run_parts(args, &asked.in_order(), &reading, &options, effort, output);
    }
    let inputs = &asked.inputs;
    let start = Instant::now();
    let scan = |effort: &Effort| {
        let scanned = scan_records(inputs, &reading, &options, effort);
        let n_read = effort.watch.as_ref().map_or(0, Watch::bytes);
        (scanned, Run::new(start.elapsed(), effort.n_threads(), effort.kernel), n_read)
    };
    let ((scanned, run, n_read), signal) = args.input.attend(effort, inputs, false, scan);
    args.reading.explain(&scanned.records, inputs);
    complain_of(&scanned.failures, inputs);
    let mut report = Report::new(&scanned, inputs, &options, args.grammar.show_secrets);
    report.run = Some(run);
    if scanned.failures.iter().any(Failure::is_stop) {
        // No result: whoever waits for one must not take this for it.
        args.report.show(&report);
        let name = output.name().display();
        // A line that had not ended is in no report, and may be all there is.
        let read = if n_read > report.totals.bytes {
            format!(
                "{} bytes had been read, and the report above is of the lines that had ended",
                grouped(n_read)
            )
        } else {
            "the report above is of what had been read".to_owned()
        };
        let sentence = format!("{read}; nothing was written to {name}");
        return Ok(End::stopped(signal, &sentence));
    }
    output.write(&report)?;
    Ok(judged(&report, report.complete, &args.fail_on))
}

/// Scans parts of inputs, or what is merged with others.
fn run_parts(
    args: &ScanArgs,
    asked: &Asked,
    reading: &Reading,
    options: &Options,
    effort: Effort,
    output: ReportOutput,
) -> io::Result<End> {
    if output.is_partial() && !args.fail_on.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "--fail-on is for the report of all: what a partial report says of a limit is only a part",
        ));
    }
    let settings = Settings::new(options, reading, args.input.paths.codec(), args.grammar.show_secrets);
    let scan = |effort: &Effort| asked.scan(&settings, reading, options, effort);
    let (found, signal) = args.input.attend(effort, &asked.inputs, false, scan);
    let Found { partial, failures, records } = found?;
    args.reading.explain(&records, &asked.inputs);
    complain_of(&failures, &asked.inputs);
    if failures.iter().any(Failure::is_stop) {
        return Ok(End::stopped(signal, &format!("nothing was written to {}", output.name().display())));
    }
    let Some(partial) = partial else { return Ok(End::NoInput) };
    if output.is_partial() {
        output.write_partial(&partial)?;
        return Ok(if failures.is_empty() { End::Done } else { End::Incomplete });
    }
    let report = partial.report();
    output.write(&report)?;
    Ok(judged(&report, failures.is_empty(), &args.fail_on))
}

/// How a scan with that report ends, of all that was asked for, or not. Names what is crossed; a part of it crosses nothing.
fn judged(report: &Report, is_all: bool, gates: &[Gate]) -> End {
    if !is_all {
        if !gates.is_empty() {
            complain("--fail-on was not looked at, since not all could be read");
        }
        return End::Incomplete;
    }
    let mut end = End::Done;
    for gate in gates {
        match gate.check(report) {
            Ok(None) => {}
            Ok(Some(sentence)) => {
                end = End::Crossed;
                complain(&sentence);
            }
            Err(sentence) => {
                if !matches!(end, End::Crossed) {
                    end = End::Untold;
                }
                complain(&sentence);
            }
        }
    }
    end
}
