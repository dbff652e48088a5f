//! `urlsift plan PATH...`: cuts inputs into splits.

use std::io;
use std::path::PathBuf;

use crate::partial_report::plan::plan;
use clap::Args;
use urlsift_grammar::escape::ascii_json;

use crate::cli::args::format::ReadingArgs;
use crate::cli::args::paths::PathArgs;
use crate::cli::args::size::size;
use crate::cli::output_file::Output;
use crate::cli::{End, output_path};

#[derive(Args)]
#[command(mut_arg("paths", |arg| arg.help("Files and directories").long_help(
    "Files and directories\n\nA directory stands for all files in it and below it."
)))]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    paths: PathArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Approximate size of a split, in bytes
    ///
    /// K, M and G stand for 2^10, 2^20 and 2^30. A compressed file is a single split, and so is a file of a format whose
    /// records depend on earlier ones. A Parquet file is cut between row groups.
    #[arg(long, value_name = "BYTES", default_value = "256M", value_parser = size)]
    split_size: u64,

    /// Write to a file, which appears complete or not at all
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &PlanArgs) -> io::Result<End> {
    let Some(inputs) = args.paths.inputs()? else { return Ok(End::NoInput) };
    let output = Output::open(args.output.as_deref())?;
    output.check_is_no_input(&inputs)?;
    let splits = plan(&inputs, &args.reading.reading(args.paths.codec)?, args.split_size)?;
    output.write(|out| {
        for split in &splits {
            writeln!(out, "{}", ascii_json(&serde_json::to_string(split)?))?;
        }
        Ok(())
    })?;
    Ok(End::Done)
}
