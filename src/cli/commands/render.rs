//! `urlsift render REPORT`: writes an existing report in another format, without scanning.

use std::fmt::Display;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

use crate::report::{Report, json_in_page};
use clap::Args;
use memchr::memmem;

use crate::cli::args::report::ReportArgs;
use crate::cli::{End, QuietArgs, input_path};

#[derive(Args)]
pub(crate) struct RenderArgs {
    /// A report written with --format json or html; - for standard input
    #[arg(value_name = "REPORT", value_parser = input_path())]
    path: Option<PathBuf>,

    #[command(flatten)]
    report: ReportArgs,

    #[command(flatten)]
    quiet: QuietArgs,
}

pub(crate) fn run(args: &RenderArgs) -> io::Result<End> {
    let path = match &args.path {
        Some(path) => path,
        None if io::stdin().is_terminal() => {
            let message = "no report: name a file written with --format json or html, or pipe one in";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        None => Path::new("-"),
    };
    let named = |kind, cause: &dyn Display| {
        let name = if path == Path::new("-") { "standard input".into() } else { path.display().to_string() };
        io::Error::new(kind, format!("{name}: {cause}"))
    };
    let bytes = read(path).map_err(|error| named(error.kind(), &error))?;
    // Some editors and shells write a byte order mark first.
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let json = json_in_page(text).unwrap_or(text);
    if memmem::find(json, br#""schema":"urlsift.partial/"#).is_some() {
        let cause = "a partial report; urlsift merge makes a report of it";
        return Err(named(io::ErrorKind::InvalidData, &cause));
    }
    if !matches!(json.trim_ascii_start().first(), Some(b'{' | b'<')) {
        let cause = "not a report; urlsift render reads what --format json or html writes, and \"urlsift FILE\" reports on a list";
        return Err(named(io::ErrorKind::InvalidData, &cause));
    }
    if json.starts_with(b"<") {
        let cause = "a page that does not hold its report, because that is too long or the page was cut; render the report that --format \
                     json writes";
        return Err(named(io::ErrorKind::InvalidData, &cause));
    }
    // Read the report before opening the output, because a report may replace itself.
    let report = Report::from_json(json).map_err(|error| named(io::ErrorKind::InvalidData, &error))?;
    args.report.open()?.write(&report)?;
    Ok(End::Done)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    if path != Path::new("-") {
        return fs::read(path);
    }
    let mut json = Vec::new();
    io::stdin().lock().read_to_end(&mut json)?;
    Ok(json)
}
