//! `urlsift [PATH]...`: the report.

use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use urlsift::corpus::{Effort, Failure, scan_inputs};
use urlsift::kernel::KernelId;
use urlsift::report::{Report, Run, render};
use urlsift::scan::Options;

use super::gate::Gates;
use super::output::Output;
use super::{End, GrammarArgs, InputArgs, complain, complain_of, kernel};

#[derive(Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    /// What judges lines, portable, avx2 or avx512; the report is the same for any [default: the fastest that this machine has]
    #[arg(long, value_name = "NAME", value_parser = kernel)]
    kernel: Option<KernelId>,

    /// How the report is written: for people or for programs
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,

    /// Write the report to a file, which appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Exit with 1 when a condition holds, such as refused, 'refused:rfc1738>0.1%', 'scheme:http>0' or advisory:password
    ///
    /// Conditions are joined by commas, or the option given several times; one that holds is enough, and each that holds is
    /// named on standard error.
    ///
    /// A condition is something counted, a comparison (> >= < <= = !=) and a number, or a share in per cent; without a
    /// comparison it means more than 0. Counted are: refused and accepted, by the grammar of --grammar, or behind a colon
    /// another one, any (at least one of the five) or all (each of the five); scheme:NAME and relative (no scheme);
    /// advisory:NAME; and lines, judged, blank and cr (lines that ended in CR). Shares are of the judged lines, those of judged,
    /// blank and cr of all lines; no share of nothing crosses a limit.
    #[arg(long, value_name = "CONDITION,...")]
    fail_on: Vec<Gates>,

    /// Whether the text report has colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN")]
    color: Colour,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Tables for people
    Text,
    /// The schema urlsift.report/1
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Colour {
    /// Whether what goes there has colours.
    fn is_on(self, is_terminal: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                is_terminal && !dumb && !set("NO_COLOR")
            }
        }
    }
}

pub(crate) fn run(args: &ScanArgs) -> io::Result<End> {
    let Some(inputs) = args.input.inputs() else { return Ok(End::NoInput) };
    let mut options = Options::default();
    options.grammar = args.grammar.grammar;
    let mut effort = args.input.effort();
    effort.kernel = args.kernel.unwrap_or(effort.kernel);
    let output = Output::open(args.output.as_deref())?;
    let start = Instant::now();
    let scan = |effort: &Effort| {
        let scanned = scan_inputs(&inputs, &options, effort);
        (scanned, Run::new(start.elapsed(), effort.n_threads(), effort.kernel))
    };
    let ((scanned, run), signal) = args.input.attend(effort, &inputs, false, scan);
    complain_of(&scanned.failures, &inputs);
    let mut report = Report::new(&scanned, &inputs, &options, args.grammar.show_secrets);
    report.run = Some(run);
    if scanned.failures.iter().any(Failure::is_stop) {
        // No result: whoever waits for one must not take this for it.
        let colour = args.color.is_on(io::stderr().is_terminal());
        let _ = io::stderr().write_all(render(&report, colour).as_bytes());
        let name = output.name();
        let sentence = format!("the report above is of what had been read; nothing was written to {name}");
        return Ok(End::stopped(signal, &sentence));
    }
    // A page of zeros below the errors would only hide them.
    let is_void =
        !report.complete && report.inputs.iter().all(|input| input.error.is_some() && input.bytes == 0);
    output.write(|out| match args.format {
        Format::Text if is_void => Ok(()),
        Format::Text => {
            let colour = args.color.is_on(args.output.is_none() && io::stdout().is_terminal());
            out.write_all(render(&report, colour).as_bytes())
        }
        Format::Json => report.write_json(out),
    })?;
    Ok(judged(&report, &args.fail_on))
}

/// How a scan with that report ends. Names what is crossed; part of a corpus crosses nothing.
fn judged(report: &Report, gates: &[Gates]) -> End {
    if !report.complete {
        if !gates.is_empty() {
            complain("--fail-on was not looked at, since not all could be read");
        }
        return End::Incomplete;
    }
    let mut end = End::Done;
    for sentence in gates.iter().flat_map(|gates| gates.crossed(report)) {
        complain(&sentence);
        end = End::Crossed;
    }
    end
}
