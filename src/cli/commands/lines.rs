//! `urlsift lines [PATH]...`: writes one row per line, or one row per URL of records. `urlsift extract [PATH]...` does the same with
//! other defaults: one line per URL of running text.

use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal};
use std::path::PathBuf;

use crate::columns::{COLUMNS, Need};
use crate::filter::Test;
use crate::rows::{Column, Form, Records, write_records};
use crate::run::{Ends, ExecOptions, Failure};
use clap::builder::TypedValueParser;
use clap::{Args, ValueEnum};
use urlsift_grammar::escape::Keep;
use urlsift_grammar::resolve::Base;
use urlsift_input::progress::Watch;

use crate::cli::args::filter::FilterArgs;
use crate::cli::args::format::ReadingArgs;
use crate::cli::args::report::{format_of, shown_on_terminal};
use crate::cli::offered::Offered;
use crate::cli::output_file::Output;
use crate::cli::suggest::one_of;
use crate::cli::{
    End, GrammarArgs, InputArgs, SuffixArgs, advice, check_base_len, complain, complain_of, is_void,
    output_path, warn, warn_of_signs, whatwg_base,
};

#[derive(Args)]
pub(crate) struct LinesArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    /// Columns of a row, in this order
    #[arg(short, long, value_delimiter = ',', value_name = "COLUMN,...", value_parser = columns(), hide_possible_values = true,
          default_value = Column::DEFAULT.join(","), long_help = help())]
    columns: Vec<&'static Column>,

    /// Base URL for resolved and the whatwg columns
    ///
    /// The column resolved follows RFC 3986, section 5, strictly. A line with a scheme resolves to itself without
    /// dot-segments; without a base, other lines have no target. A line that RFC 3986 refuses has none. The columns of
    /// whatwg, and conditions on them, have lines resolved as browsers do it.
    ///
    /// For an HTML page, this is the URL of the page. In a web archive (--field body-links), each page has its own. The
    /// links of a page with an element base are resolved against that, which is itself resolved against the URL.
    #[arg(long, value_name = "URL")]
    base: Option<OsString>,

    /// Only lines that the grammar accepts, or refuses
    ///
    /// Blank lines are neither.
    #[arg(long, value_enum, value_name = "WHICH")]
    only: Option<Only>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    suffixes: SuffixArgs,

    /// How rows are written
    ///
    /// By default, the ending of --output decides: .jsonl has JSON, .tsv and .txt have tsv. Without an ending it is tsv.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Option<Format>,

    /// Short for --format jsonl
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Begin with a line that names the columns (tsv)
    ///
    /// On a terminal, there always is one.
    #[arg(long)]
    header: bool,

    /// Write *** instead of passwords
    ///
    /// Without this option, passwords stay: rows are the data itself, and not a report about it.
    #[arg(long)]
    mask_passwords: bool,

    /// Write to a file, which appears complete or not at all
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    output: Option<PathBuf>,
}

/// The options of `lines`, whose defaults are those for the URLs of running text.
#[derive(Args)]
#[command(mut_arg("columns", |arg| arg.default_value("text")))]
#[command(mut_arg("input_format", |arg| arg.default_value("text")))]
pub(crate) struct ExtractArgs {
    #[command(flatten)]
    pub(crate) lines: LinesArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Only {
    Accepted,
    Refused,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Fields separated by tabs
    Tsv,
    /// One JSON object per line
    Jsonl,
}

/// Parses the name of a column.
pub(super) fn columns() -> impl TypedValueParser<Value = &'static Column> {
    let all = || COLUMNS.iter().collect::<Vec<_>>();
    Offered {
        parser: move |name: &str| match name {
            "" => Err("commas stand between columns, without blanks: -c host,domain".to_owned()),
            name => one_of("column", name, &all(), |column| column.name),
        },
        values: || COLUMNS.iter().map(|column| column.name.to_owned()).collect(),
    }
}

/// The help of the option for columns.
fn help() -> String {
    let row = |Column { name, meaning, .. }: &Column| format!("\n  {name:<14}  {meaning}");
    let rows: String = COLUMNS.iter().map(row).collect();
    format!(
        "Columns of a row, in this order\n\n\
         Any of these, separated by commas:\n{rows}\n\n\
         If no grammar accepts a line, its verdict is none ([] in JSON). If a line has no advisories or errors, they are none too. \
         A value that does not exist is - (null in JSON): the scheme of a relative reference, or the verdict of a blank \
         line, which is not judged. A defect is written as component:cause@offset.\n\n\
         Records (--input-format) have a row for each URL. The column field says whether it is a url, request, referer, link or \
         embed, or which field it is of if --field names several; offset is where the field begins, and line is where its \
         record begins. In a Parquet file, line is the row, and offset counts the values and nulls before a value. \
         Standard error says how many records gave no URL, and why.\n\n\
         Browsers follow the WHATWG URL Standard. whatwg is valid (a URL as the standard wants it), errors (browsers take \
         it, but it has errors or is not UTF-8), failure, or relative (it has no scheme, and no base helps). If RFC 3986 \
         finds another host than browsers, hosts_differ names both, and why they differ; the host of browsers is marked if \
         it is loopback, private or link-local.\n\n\
         In the text of tsv, a backslash is doubled, and control characters and bytes that are not UTF-8 are \\xHH. On a \
         terminal, hidden characters are \\xHH too. In JSON the text is a plain string, or text_base64 if it is not UTF-8."
    )
}

/// Sets the bases that the columns and the filter use.
fn set_bases(records: &mut Records, base: Option<&OsStr>) -> io::Result<()> {
    let (is_resolved, needs_whatwg) = (records.needs(Need::Base), records.needs(Need::Parser));
    let Some(url) = base else { return Ok(()) };
    check_base_len(url.as_encoded_bytes())?;
    if !is_resolved && !needs_whatwg {
        return Err(io::Error::other(
            "--base is for the column resolved, and for the columns and conditions of whatwg: add one of them",
        ));
    }
    if is_resolved {
        let base = Base::new(url.as_encoded_bytes());
        let base = base.map_err(|why| io::Error::other(format!("--base: {why}")))?;
        if base.had_fragment() {
            warn(
                "--base: what is behind the \"#\" is left out, since a base has no fragment (RFC 3986, section 5.1)",
            );
        }
        records.base = Some(base);
    }
    if needs_whatwg {
        records.whatwg_base = Some(whatwg_base(url, records.mask_passwords)?);
    }
    Ok(())
}

/// Writes rows. With the flag, their columns are named on a terminal.
pub(crate) fn write_rows(args: &LinesArgs, has_header_on_terminal: bool) -> io::Result<End> {
    let Some(inputs) = args.input.inputs()? else { return Ok(End::NoInput) };
    let endings = [("tsv", Format::Tsv), ("txt", Format::Tsv), ("jsonl", Format::Jsonl)];
    let by_ending = || format_of(args.output.as_deref(), &endings);
    let chosen = if args.json { Some(Format::Jsonl) } else { args.format };
    let format = chosen.map_or_else(by_ending, |format| Ok(Some(format)))?.unwrap_or(Format::Tsv);
    if args.header && format == Format::Jsonl {
        return Err(io::Error::other("--header is for --format tsv: a JSON record names its fields itself"));
    }
    let reading = args.reading.reading(args.input.paths.codec)?;
    let mut records = Records { reading, ..Records::default() };
    records.columns.clone_from(&args.columns);
    records.form = match format {
        Format::Tsv => Form::Tsv,
        Format::Jsonl => Form::Jsonl,
    };
    records.grammar = args.grammar.grammar;
    records.suffixes = args.suffixes.list();
    let only = args.only.map(|only| Test::Accepted(args.grammar.grammar, matches!(only, Only::Accepted)));
    records.filter = args.filter.filter(args.grammar.grammar, &records.suffixes, only)?;
    records.mask_passwords = args.mask_passwords;
    set_bases(&mut records, args.base.as_deref())?;
    let mut ends = Ends::default();
    let output = Output::open(args.output.as_deref())?;
    let on_terminal = output.is_standard() && io::stdout().is_terminal();
    records.header = args.header || has_header_on_terminal && on_terminal;
    records.keep = if on_terminal { shown_on_terminal() } else { Keep::All };
    output.check_is_no_input(&inputs)?;
    let mixed = !output.is_file();
    let whole = output.appears_whole();
    let sentence = if whole {
        format!("nothing was written to {}", output.name().display())
    } else {
        "the records end before the input does".to_owned()
    };
    let mut left = false;
    let write = |exec: &ExecOptions| {
        output.write(|out| {
            ends = write_records(&inputs, &records, exec, out)?;
            let n_lines = exec.watch.as_ref().map_or(0, Watch::lines);
            left = whole && is_void(&inputs, &ends.failures, n_lines);
            // The error keeps an existing output file unchanged.
            if left || ends.failures.iter().any(Failure::is_stop) {
                Err(io::ErrorKind::Interrupted.into())
            } else {
                Ok(())
            }
        })
    };
    let (result, signal) = args.input.attend(args.input.exec(), &inputs, mixed, write);
    let Ends { mut failures, records: found, signs } = ends;
    Failure::say(&mut failures, advice::words);
    args.reading.explain(&found, &inputs, false);
    warn_of_signs(signs.into_iter(), &inputs);
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
