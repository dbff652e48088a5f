//! `urlsift merge PARTIAL...`: merges partial reports into one report.

use std::io::{self, BufRead, BufReader};
use std::path::PathBuf;

use crate::partial_report::Partial;
use clap::Args;
use memchr::memmem;
use urlsift_input::{Separator, Walk};

use crate::cli::args::paths::inputs;
use crate::cli::args::report::ReportArgs;
use crate::cli::{End, QuietArgs, complain, input_path};

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
    pub(crate) quiet: QuietArgs,
}

pub(crate) fn run(args: &MergeArgs) -> io::Result<End> {
    let list = args.files_from.as_deref();
    let Some(inputs) = inputs(&Walk::default(), &args.paths, list, Separator::Newline)? else {
        let message = "no partial report: name files written with --format partial, or pipe them in";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    };
    let output = args.report.open()?;
    output.check_is_no_input(&inputs)?;
    let mut all = None;
    for input in &inputs {
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
            let partial = partial.map_err(named)?;
            all = Some(match all.take() {
                None => partial,
                Some(others) => {
                    Partial::merge(others, partial).map_err(|error| named(io::Error::other(error)))?
                }
            });
        }
        if is_empty {
            // The scan that should have written this file failed, and its lines would be missing.
            return Err(named(io::Error::new(
                io::ErrorKind::InvalidData,
                "there is no partial report in it",
            )));
        }
    }
    let Some(partial) = all else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "no partial report is named"));
    };
    if output.is_partial() {
        output.write_partial(&partial)?;
        return Ok(End::Done);
    }
    for gap in partial.gaps() {
        complain(&gap);
    }
    let report = partial.report();
    output.write(&report)?;
    Ok(if report.complete { End::Done } else { End::Incomplete })
}

/// What a file is that begins with `bytes`, if it is no partial report.
fn not_partial(bytes: &[u8]) -> Option<&'static str> {
    if memmem::find(bytes, b"urlsift.report/").is_some() {
        Some("a finished report, which cannot be merged any more")
    } else if bytes.trim_ascii_start().first().is_some_and(|&byte| byte != b'{') {
        Some("not a partial report")
    } else {
        None
    }
}
