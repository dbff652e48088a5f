//! `urlsift man [COMMAND]`: prints a manual page in roff, with the texts of the help.

use std::io::{self, Write};

use clap::Args;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use crate::cli::output_file::Output;
use crate::cli::{End, help};

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Command whose page to print [default: the page of urlsift itself]
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

pub(crate) fn run(args: &ManArgs) -> io::Result<End> {
    let page = page(args.command.as_deref())?;
    Output::open(None)?.write(|out| out.write_all(&page))?;
    Ok(End::Done)
}

fn page(name: Option<&str>) -> io::Result<Vec<u8>> {
    let mut root = help::command(false).disable_help_subcommand(true);
    root.build();
    let command = match name {
        None => &root,
        Some(name) => root.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> = root.get_subcommands().map(clap::Command::get_name).collect();
            io::Error::other(format!("no such command: {name}; one of {}", names.join(", ")))
        })?,
    };
    let mut command = command.clone();
    // Use the usage lines of the help, which do not repeat every option.
    let usage = command.render_usage().to_string();
    let command = command.override_usage(usage.trim_start_matches("Usage:").trim_start().to_owned());
    let source = format!("urlsift {}", env!("CARGO_PKG_VERSION"));
    // The build date would change the page. An empty date would be left out, and the fields after it would shift.
    let man = Man::new(command.clone()).date(" ").source(source).manual("User Commands");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    let lines = |title: &str, rows: &[(&str, &str)], out: &mut Vec<u8>| terms(title, rows).to_writer(out);
    lines("EXAMPLES", help::examples(command.get_name()), &mut out)?;
    man.render_options_section(&mut out)?;
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    if help::tells_of_exit(command.get_name()) {
        lines("EXIT STATUS", &help::EXIT_STATUSES, &mut out)?;
        lines("ENVIRONMENT", &help::ENVIRONMENT, &mut out)?;
    }
    out.flush()?;
    Ok(out)
}

/// A section with one paragraph per term.
fn terms(title: &str, rows: &[(&str, &str)]) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", [title]);
    for (term, text) in rows {
        roff.control("TP", []);
        roff.text([bold(*term)]);
        roff.text([roman(*text)]);
    }
    roff
}
