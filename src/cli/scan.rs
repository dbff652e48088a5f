//! `urlsift [PATH]...`: the report.

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use urlsift::corpus::scan_inputs;
use urlsift::kernel::KernelId;
use urlsift::report::{Report, Run, render};
use urlsift::scan::Options;

use super::gate::Gate;
use super::output::Output;
use super::{End, GrammarArgs, InputArgs, complain_of, kernel};

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

    /// Exit with 1 when lines are refused: refused, 'refused>100' or 'refused>0.1%'
    #[arg(long, value_name = "LIMIT")]
    fail_on: Option<Gate>,

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
    /// A page for a browser
    Html,
}

#[derive(Clone, Copy, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

impl Colour {
    fn is_on(self, to_file: bool) -> bool {
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
                !to_file && !dumb && !set("NO_COLOR") && io::stdout().is_terminal()
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
    let scanned = scan_inputs(&inputs, &options, &effort);
    let run = Run::new(start.elapsed(), effort.n_threads(), effort.kernel);
    complain_of(&scanned.failures, &inputs);
    let mut report = Report::new(&scanned, &inputs, &options, args.grammar.show_secrets);
    report.run = Some(run);
    output.write(|out| match args.format {
        Format::Text => out.write_all(render(&report, args.color.is_on(args.output.is_some())).as_bytes()),
        Format::Json => report.write_json(out),
        Format::Html => report.write_html(out),
    })?;
    Ok(if !report.complete {
        End::Incomplete
    } else if args.fail_on.is_some_and(|gate| gate.is_crossed_by(&report)) {
        End::Crossed
    } else {
        End::Done
    })
}
