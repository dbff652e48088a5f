//! `urlsift completions SHELL`: prints a completion script for a shell.

use std::io;

use clap::Args;
use clap_complete::{Shell, generate};

use crate::cli::output_file::Output;
use crate::cli::{End, help};

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum, value_name = "SHELL")]
    shell: Shell,
}

pub(crate) fn run(args: &CompletionsArgs) -> io::Result<End> {
    let mut command = help::command(false);
    let name = command.get_name().to_owned();
    // `generate` panics if the pipe is closed, so write to memory first.
    let mut script = Vec::new();
    generate(args.shell, &mut command, name, &mut script);
    Output::open(None)?.write(|out| out.write_all(&script))?;
    Ok(End::Done)
}
