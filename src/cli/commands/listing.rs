//! What the commands that print lists share: the choice of a format, and text that fits a terminal.

use std::io;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::cli::End;
use crate::cli::output_file::Output;

// Options of commands that print a list. Not a doc comment: clap would show it as the help of each command.
#[derive(Args)]
pub(crate) struct ListArgs {
    /// How it is written
    #[arg(long, value_enum, default_value_t = Format::Text, value_name = "FORMAT")]
    format: Format,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Tables for people
    Text,
    /// JSON for programs
    Json,
}

/// The maximum width of text, in columns.
const WIDTH: usize = 80;

/// Writes `list` in the chosen format; `text` returns the text format.
pub(crate) fn write(
    args: &ListArgs,
    list: &impl Serialize,
    text: impl FnOnce() -> String,
) -> io::Result<End> {
    let format = if args.json { Format::Json } else { args.format };
    Output::open(None)?.write(|out| match format {
        Format::Text => out.write_all(text().as_bytes()),
        Format::Json => {
            serde_json::to_writer_pretty(&mut *out, list)?;
            out.write_all(b"\n")
        }
    })?;
    Ok(End::Done)
}

/// Appends `text`, wrapped between words to [`WIDTH`] columns and indented by `indent` spaces.
pub(crate) fn push_paragraph(out: &mut String, indent: usize, text: &str) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let len = word.chars().count();
        if column > 0 && column + 1 + len > WIDTH {
            out.push('\n');
            column = 0;
        }
        let blanks = if column == 0 { indent } else { 1 };
        out.push_str(&" ".repeat(blanks));
        out.push_str(word);
        column += blanks + len;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_cut_between_words() {
        let mut out = String::new();
        push_paragraph(&mut out, 2, &"word ".repeat(20));
        push_paragraph(&mut out, 0, &"x".repeat(100));
        let lines: Vec<_> = out.lines().collect();
        assert_eq!(
            lines,
            [
                &format!("  {}", ["word"; 15].join(" ")),
                &format!("  {}", ["word"; 5].join(" ")),
                &"x".repeat(100)
            ]
        );
    }
}
