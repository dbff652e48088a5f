//! `urlsift [PATH]...`: the report.

use std::io;
use std::time::Instant;

use clap::Args;
use urlsift::corpus::scan_inputs;
use urlsift::kernel::KernelId;
use urlsift::report::{Report, Run};
use urlsift::scan::Options;

use super::count::CountArgs;
use super::gate::Gate;
use super::report::ReportArgs;
use super::{End, GrammarArgs, InputArgs, complain_of, kernel};

#[derive(Args)]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    #[command(flatten)]
    count: CountArgs,

    /// What judges lines [default: the fastest]
    ///
    /// One of portable, avx2 and avx512, which differ in the vector instructions that they use, and not in what they find;
    /// "urlsift --version" tells which of them this machine has [default: the fastest of those].
    #[arg(long, value_name = "NAME", value_parser = kernel, hide_short_help = true)]
    kernel: Option<KernelId>,

    /// Exit with 1 when lines are refused: refused, 'refused>100' or 'refused>0.1%'
    #[arg(long, value_name = "LIMIT")]
    fail_on: Option<Gate>,

    #[command(flatten)]
    report: ReportArgs,
}

pub(crate) fn run(args: &ScanArgs) -> io::Result<End> {
    let Some(inputs) = args.input.inputs() else { return Ok(End::NoInput) };
    let mut options = Options::default();
    options.grammar = args.grammar.grammar;
    args.count.apply(&mut options);
    let mut effort = args.input.effort();
    effort.kernel = args.kernel.unwrap_or(effort.kernel);
    let output = args.report.open()?;
    options.lengths |= output.shows_lengths();
    let start = Instant::now();
    let scanned = scan_inputs(&inputs, &options, &effort);
    let run = Run::new(start.elapsed(), effort.n_threads(), effort.kernel);
    complain_of(&scanned.failures, &inputs);
    let mut report = Report::new(&scanned, &inputs, &options, args.grammar.show_secrets);
    report.run = Some(run);
    output.write(&report)?;
    Ok(if !report.complete {
        End::Incomplete
    } else if args.fail_on.is_some_and(|gate| gate.is_crossed_by(&report)) {
        End::Crossed
    } else {
        End::Done
    })
}
