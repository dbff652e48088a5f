//! `urlsift merge PARTIAL...`: merges partial reports into one report.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use crate::partial_report::Partial;
use clap::Args;
use memchr::memmem;
use urlsift_input::{Advice, Input, Separator, Walk};

use crate::cli::args::paths::inputs;
use crate::cli::args::report::ReportArgs;
use crate::cli::{End, QuietArgs, advice, complain, input_path};

#[derive(Args)]
pub(crate) struct MergeArgs {
    /// Files with partial reports, directories of them, or - for standard input
    ///
    /// A partial report is one line. A file may have any number of them, in any order, compressed or not. Without a path,
    /// urlsift reads standard input, unless it is a terminal.
    #[arg(value_name = "PARTIAL", value_parser = input_path())]
    paths: Vec<PathBuf>,

    /// Read more paths from a list, one per line, or - for standard input
    #[arg(long, value_name = "FILE", value_parser = input_path())]
    files_from: Option<PathBuf>,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    quiet: QuietArgs,
}

pub(crate) fn run(args: &MergeArgs) -> io::Result<End> {
    let list = args.files_from.as_deref();
    let Some(inputs) = inputs(&Walk::default(), &args.paths, list, Separator::Newline)? else {
        let message = "no partial report: name files written with --format partial, or pipe them in";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let output = args.report.open()?;
    output.target.check_is_no_input(&inputs)?;
    let mut merged = Vec::new();
    for (n, input) in inputs.iter().enumerate() {
        let named = |error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}; nothing was written", input.name()))
        };
        let mut lines = BufReader::new(input.reader().map_err(named)?.0);
        if let Some(what) = not_partial(lines.fill_buf().map_err(named)?) {
            let message = format!("{what}; urlsift merge reads what --format partial writes");
            return Err(named(io::Error::new(io::ErrorKind::InvalidData, message)));
        }
        let mut is_empty = true;
        for partial in Partial::read_lines(lines) {
            is_empty = false;
            merged.push(Merged { n_reports: 1, first: n, last: n, partial: partial.map_err(named)? });
            while let [.., before, last] = &merged[..]
                && before.n_reports <= last.n_reports
            {
                merge_last(&mut merged, &inputs)?;
            }
        }
        if is_empty {
            // The scan that should have written this file failed, and its lines would be missing.
            return Err(named(io::Error::new(
                io::ErrorKind::InvalidData,
                "there is no partial report in it",
            )));
        }
    }
    while merged.len() > 1 {
        merge_last(&mut merged, &inputs)?;
    }
    let Some(Merged { partial, .. }) = merged.pop() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no partial report is named"));
    };
    if output.is_partial() {
        output.write_partial(&partial)?;
        return Ok(End::Done);
    }
    for gap in partial.gaps() {
        complain(&gap);
    }
    let mut report = partial.report();
    report.say(advice::command);
    output.write(&report)?;
    Ok(if report.complete { End::Done } else { End::Incomplete })
}

/// Reports that have been merged. Only equally many are merged until all are read, so that the time does not grow with the
/// square of their number.
struct Merged {
    n_reports: usize,
    /// The first and the last of the inputs that have them.
    first: usize,
    last: usize,
    partial: Partial,
}

/// Merges the last two.
///
/// # Errors
/// If they do not belong together. The error names the inputs of the last.
fn merge_last(all: &mut Vec<Merged>, inputs: &[Input]) -> io::Result<()> {
    if let (Some(other), Some(one)) = (all.pop(), all.pop()) {
        let partial = one.partial.merge(other.partial).map_err(|error| {
            let name = |n: usize| inputs[n].name();
            let to =
                if other.first < other.last { format!(" to {}", name(other.last)) } else { String::new() };
            let error = Advice::said(error.into(), advice::words);
            io::Error::other(format!("{}{to}: {error}; nothing was written", name(other.first)))
        })?;
        let n_reports = one.n_reports + other.n_reports;
        all.push(Merged { n_reports, first: one.first, last: other.last, partial });
    }
    Ok(())
}

/// What a file is that begins with `bytes`, if it is no partial report.
fn not_partial(bytes: &[u8]) -> Option<&'static str> {
    let names = [&br#""schema":"urlsift.report/"#[..], br#""schema": "urlsift.report/"#];
    if names.iter().any(|name| memmem::find(bytes, name).is_some()) {
        Some("a finished report, which cannot be merged any more")
    } else if bytes.trim_ascii_start().first().is_some_and(|&byte| byte != b'{') {
        Some("not a partial report")
    } else {
        None
    }
}
