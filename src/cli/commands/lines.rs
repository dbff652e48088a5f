//! `urlsift lines [PATH]...`: one row for each line, or for each URL of records.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, ValueEnum};
use urlsift::grammar::resolve::Base;
use urlsift::rows::{Column, Form, Records, Written, write_records};
use urlsift::run::{Effort, Failure};

use crate::cli::args::format::{ReadingArgs, complain_of_records};
use crate::cli::output_file::Output;
use crate::cli::suggest::did_you_mean;
use crate::cli::{End, GrammarArgs, InputArgs, complain, complain_of, is_void, output_path};

#[derive(Args)]
pub(crate) struct LinesArgs {
    #[command(flatten)]
    input: InputArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    /// What a record says, in this order
    ///
    /// Any of input, line, offset, length, verdict, kind, scheme, defect, advisories, text, field and resolved, with commas between them. The
    /// verdict of a line that no grammar accepts is none ([] in JSON), and so are advisories where there are none. What a line does not have is - (null): a scheme, say, or of
    /// a blank line the verdict too, since that is not judged. Of records (--input-format) there is a row for each URL: field says
    /// whether it is a url, request, referer or link, offset where it stands, and line where its record begins. Standard error
    /// says how many records gave no URL, and why.
    #[arg(short, long, value_delimiter = ',', value_name = "COLUMN,...", value_parser = column,
          default_value = "line,offset,verdict,kind,scheme")]
    columns: Vec<Column>,

    /// What the column resolved resolves references against
    ///
    /// By RFC 3986, section 5, strictly. A line with a scheme resolves to itself without dot-segments, one that RFC 3986 refuses
    /// to nothing.
    #[arg(long, value_name = "URL", value_parser = base())]
    base: Option<Base>,

    /// Only lines that the grammar accepts, or refuses
    ///
    /// Blank lines are neither.
    #[arg(long, value_enum, value_name = "WHICH")]
    only: Option<Only>,

    /// How records are written
    #[arg(long, value_enum, default_value_t = Format::Tsv, value_name = "FORMAT")]
    format: Format,

    /// Begin with a line that names the columns (tsv)
    #[arg(long)]
    header: bool,

    /// Write to a file, which appears whole or not at all
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Only {
    Accepted,
    Refused,
}

#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// Fields with tabs between them
    Tsv,
    /// One JSON object a line
    Jsonl,
}

fn column(name: &str) -> Result<Column, String> {
    let known = Column::ALL.iter().find(|column| column.name() == name);
    known.copied().ok_or_else(|| {
        let names: Vec<_> = Column::ALL.iter().map(|column| column.name()).collect();
        let hint = did_you_mean(name, &names).unwrap_or_else(|| format!("one of {}", names.join(", ")));
        format!("no such column; {hint}")
    })
}

/// Parses a base, and refuses a URL that cannot be one.
fn base() -> impl TypedValueParser<Value = Base> {
    OsStringValueParser::new().try_map(|url: OsString| Base::new(url.as_encoded_bytes()))
}

/// That there is a base where there is something to be resolved, and nowhere else.
fn check_base(base: Option<&Base>, columns: &[Column]) -> io::Result<()> {
    if base.is_some_and(Base::had_fragment) {
        complain(
            "--base: what is behind the \"#\" is left out, since a base has no fragment (RFC 3986, section 5.1)",
        );
    }
    let message = match (base.is_some(), columns.contains(&Column::Resolved)) {
        (false, true) => "the column resolved needs a base: --base https://example.org/directory/page",
        (true, false) => "--base is for the column resolved: add it to --columns",
        _ => return Ok(()),
    };
    Err(io::Error::other(message))
}

pub(crate) fn run(args: &LinesArgs) -> io::Result<End> {
    let Some(inputs) = args.input.inputs()? else { return Ok(End::NoInput) };
    if args.header && matches!(args.format, Format::Jsonl) {
        return Err(io::Error::other("--header is for --format tsv: a JSON record names its fields itself"));
    }
    check_base(args.base.as_ref(), &args.columns)?;
    let mut records = Records::default();
    records.base.clone_from(&args.base);
    records.columns.clone_from(&args.columns);
    records.form = match args.format {
        Format::Tsv => Form::Tsv,
        Format::Jsonl => Form::Jsonl,
    };
    records.grammar = args.grammar.grammar;
    records.only = args.only.map(|only| matches!(only, Only::Accepted));
    records.header = args.header;
    records.show_secrets = args.grammar.show_secrets;
    records.reading = args.reading.reading()?;
    let mut written = Written::default();
    let output = Output::open(args.output.as_deref())?;
    output.check_is_no_input(&inputs)?;
    let mixed = !output.is_file();
    let whole = output.appears_whole();
    let sentence = if whole {
        format!("nothing was written to {}", output.name().display())
    } else {
        "the records end before the input does".to_owned()
    };
    let mut left = false;
    let write = |effort: &Effort| {
        output.write(|out| {
            written = write_records(&inputs, &records, effort, out)?;
            left = whole && is_void(&inputs, &written.failures, effort);
            // An output that is a file is then left as it was.
            if left || written.failures.iter().any(Failure::is_stop) {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                Ok(())
            }
        })
    };
    let (result, signal) = args.input.attend(args.input.effort(), &inputs, mixed, write);
    let Written { failures, found, .. } = written;
    args.reading.explain(&found, &inputs);
    complain_of_records(&found, &inputs);
    complain_of(&failures, &inputs);
    if failures.iter().any(Failure::is_stop) {
        return Ok(End::stopped(signal, &sentence));
    }
    if left {
        complain(&sentence);
        return Ok(End::Incomplete);
    }
    result?;
    Ok(if failures.is_empty() { End::Done } else { End::Incomplete })
}
