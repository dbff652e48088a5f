//! Options for a report's format, file and look. `scan`, `merge` and `render` share them.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use crate::partial_report::Partial;
use crate::report::{MAX_PAGE, Report, TextStyle, grouped, render};
use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use terminal_size::{Height, Width};
use urlsift_grammar::escape::Keep;

use crate::cli::output_file::Output;
use crate::cli::{advice, complain, output_path, warn};

#[derive(Args)]
pub(crate) struct ReportArgs {
    /// Report format: text, json, html or partial
    ///
    /// By default, the ending of --output decides: .txt, .json, .html or .partial. Without an ending, it is text. A partial report is one line of JSON
    /// for "urlsift merge".
    #[arg(long, value_enum, value_name = "FORMAT", hide_possible_values = true)]
    format: Option<Format>,

    /// Short for --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Write to a file; it appears complete or not at all
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    output: Option<PathBuf>,

    /// Whether the text report has colours
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", hide_short_help = true)]
    color: Colour,

    /// Draw the text report in ASCII
    ///
    /// Without this option, it is ASCII on terminals whose locale is not UTF-8. In such a locale, files and pipes get no
    /// other characters of example lines either. The locale is the first of LC_ALL, LC_CTYPE and LANG that is not empty.
    #[arg(long, hide_short_help = true)]
    ascii: bool,

    /// How many inputs the table of inputs shows: a number, all or none [default: 20]
    ///
    /// The inputs with the smallest share of accepted lines come first. JSON always has all inputs.
    #[arg(long, value_name = "N|all|none", default_value = "20", hide_default_value = true, hide_short_help = true,
          value_parser = n_inputs)]
    by_input: usize,
}

/// Parses the value of `--by-input`.
fn n_inputs(text: &str) -> Result<usize, String> {
    match text {
        "all" => Ok(usize::MAX),
        "none" => Ok(0),
        _ => text.parse().map_err(|_| "expected a number, all or none".to_owned()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Tables for people
    Text,
    /// JSON in the schema urlsift.report/2
    Json,
    /// A page for a browser
    Html,
    /// JSON in the schema urlsift.partial/2, for "urlsift merge"
    Partial,
}

#[derive(Clone, Copy, ValueEnum)]
enum Colour {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    Always,
    Never,
}

/// An output for a report, opened before the scan starts.
pub(crate) struct ReportOutput {
    pub(crate) target: Output,
    format: Format,
    style: TextStyle,
}

impl ReportArgs {
    /// Opens the output.
    ///
    /// # Errors
    /// If it cannot be written to. The error names it.
    pub(crate) fn open(&self) -> io::Result<ReportOutput> {
        let by_ending = || format_of(self.output.as_deref(), &ENDINGS);
        let chosen = if self.json { Some(Format::Json) } else { self.format };
        let format = chosen.map_or_else(by_ending, |format| Ok(Some(format)))?.unwrap_or(Format::Text);
        let target = Output::open(self.output.as_deref())?;
        let style = self.style(target.is_standard());
        Ok(ReportOutput { target, format, style })
    }

    /// The style of the text report. Files and pipes always get the same style; a terminal gets what it can show.
    fn style(&self, standard: bool) -> TextStyle {
        let stdout = io::stdout();
        let terminal = standard && stdout.is_terminal();
        let colourful = standard && has_colours(&stdout);
        self.style_on(terminal, terminal_size::terminal_size_of(&stdout), colourful)
    }

    /// Writes the text report of an interrupted scan to standard error.
    pub(crate) fn show(&self, report: &Report) {
        let stderr = io::stderr();
        let colourful = has_colours(&stderr);
        let style = self.style_on(stderr.is_terminal(), terminal_size::terminal_size_of(&stderr), colourful);
        // If standard error fails, there is nowhere to report it.
        let _ = io::stderr().write_all(render(report, &style).as_bytes());
    }

    /// The style for a terminal of the given size, or for files and pipes. `colourful` says whether colours are wanted by
    /// default.
    fn style_on(&self, terminal: bool, size: Option<(Width, Height)>, colourful: bool) -> TextStyle {
        let colour = match self.color {
            Colour::Always => true,
            Colour::Never => false,
            Colour::Auto => colourful,
        };
        let utf8 = shown_on_terminal() == Keep::Visible;
        let ascii = self.ascii || (terminal && !utf8);
        let words = advice::WORDS;
        let mut style =
            TextStyle { colour, ascii, utf8, by_input: self.by_input, words, ..TextStyle::default() };
        if terminal {
            let columns = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
            let seen = || size.map(|(width, _)| usize::from(width.0));
            style.width = columns.filter(|&columns| columns > 0).or_else(seen).unwrap_or(80);
        }
        style
    }
}

impl ReportOutput {
    /// Whether the format needs line lengths, even if the user did not ask for them.
    pub(crate) fn shows_lengths(&self) -> bool {
        self.format == Format::Html
    }

    /// Whether this is a partial report.
    pub(crate) fn is_partial(&self) -> bool {
        self.format == Format::Partial
    }

    /// Writes a partial report.
    ///
    /// # Errors
    /// If the output cannot be written. The error names it.
    pub(crate) fn write_partial(self, partial: &Partial) -> io::Result<()> {
        self.target.write(|out| partial.write_json(out))
    }

    /// Writes the report of a scan. It `is_void` if no line of any input was read: an existing file is worth more than that.
    ///
    /// # Errors
    /// If the output cannot be written. The error names it.
    pub(crate) fn write_scanned(self, report: &Report, is_void: bool) -> io::Result<()> {
        if is_void && self.target.appears_whole() {
            complain(&format!("nothing was written to {}", self.target.name().display()));
            Ok(())
        } else if is_void && self.format == Format::Text {
            // A page of zeros below the errors would only hide them.
            Ok(())
        } else {
            self.write(report)
        }
    }

    /// Writes the report.
    ///
    /// # Errors
    /// If the output cannot be written. The error names it.
    pub(crate) fn write(self, report: &Report) -> io::Result<()> {
        let name = self.target.name().display().to_string();
        let mut lacks_json = false;
        self.target.write(|out| match self.format {
            Format::Partial => Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                "a finished report cannot be merged any more; --format partial is for scan and merge",
            )),
            Format::Text => out.write_all(render(report, &self.style).as_bytes()),
            Format::Json => report.write_json(out),
            Format::Html => report.write_html_in(out, &self.style).map(|embeds| lacks_json = !embeds),
        })?;
        if lacks_json {
            warn(&format!(
                "{name}: does not hold the report as JSON, with which it would have more than {} bytes, so that urlsift render \
                 cannot read it; --format json writes that",
                grouped(MAX_PAGE as u64)
            ));
        }
        Ok(())
    }
}

/// Whether the environment wants colours on a stream.
fn has_colours(stream: &impl RawStream) -> bool {
    let is_forced = env::var_os("CLICOLOR_FORCE").is_some_and(|value| value != "0");
    AutoStream::choice(stream) != ColorChoice::Never && (stream.is_terminal() || is_forced)
}

/// The endings of files, and the formats of reports in them.
const ENDINGS: [(&str, Format); 6] = [
    ("txt", Format::Text),
    ("text", Format::Text),
    ("json", Format::Json),
    ("html", Format::Html),
    ("htm", Format::Html),
    ("partial", Format::Partial),
];

/// The format of an output by the ending of its name. `None` if there is no name, or no ending in it.
///
/// # Errors
/// If the ending is not among `endings`. The error lists them.
pub(crate) fn format_of<F: Copy>(path: Option<&Path>, endings: &[(&str, F)]) -> io::Result<Option<F>> {
    let Some((path, ending)) = path.and_then(|path| Some((path, path.extension()?))) else { return Ok(None) };
    let known = endings.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    known.map(|(_, format)| Some(*format)).ok_or_else(|| {
        let all: Vec<_> = endings.iter().map(|(ending, _)| format!(".{ending}")).collect();
        let message = format!(
            "{}: no format has this ending, only {}; --format chooses one for any name",
            path.display(),
            all.join(", ")
        );
        io::Error::new(io::ErrorKind::InvalidInput, message)
    })
}

/// The characters of the data that a terminal can show.
pub(crate) fn shown_on_terminal() -> Keep {
    if cfg!(windows) || is_utf8(&locale()) { Keep::Visible } else { Keep::Ascii }
}

/// The locale for characters, by POSIX rules: the first of three variables that is not empty.
fn locale() -> String {
    let values = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(env::var_os);
    values
        .map(|value| value.to_string_lossy().into_owned())
        .find(|value| !value.is_empty())
        .unwrap_or_default()
}

fn is_utf8(locale: &str) -> bool {
    let locale = locale.to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let format = |name: &str| format_of(Some(Path::new(name)), &ENDINGS).unwrap();
        assert_eq!(format("a/report.json"), Some(Format::Json));
        assert_eq!(format("REPORT.JSON"), Some(Format::Json));
        assert_eq!(format("report.txt"), Some(Format::Text));
        assert_eq!(format("report.html"), Some(Format::Html));
        assert_eq!((format("json"), format("/dev/stdout")), (None, None));
        assert!(format_of(Some(Path::new("a.b")), &ENDINGS).is_err());
    }

    #[test]
    fn locales() {
        assert!(is_utf8("C.UTF-8") && is_utf8("de_DE.utf8"));
        assert!(!is_utf8("C") && !is_utf8("") && !is_utf8("de_DE.ISO-8859-1"));
    }
}
