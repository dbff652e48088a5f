//! `urlsift split [PATH]...`: writes accepted lines to one output and refused lines to another.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

use crate::report::{grouped, plural};
use crate::run::{ExecOptions, Failure};
use crate::split::{Blank, Form, Options, Split, split_inputs};
use clap::{Args, ValueEnum};
use urlsift_engine::simd::KernelId;
use urlsift_grammar::{Grammar, Verdict};
use urlsift_input::Codec;

use crate::cli::args::filter::FilterArgs;
use crate::cli::args::format::ReadingArgs;
use crate::cli::compress::{Packer, codec_of};
use crate::cli::output_file::{Output, finish_all};
use crate::cli::{
    End, InputArgs, SuffixArgs, advice, complain, complain_of, grammar, is_void, kernel, output_path, warn,
    warn_of_signs, whatwg_base,
};
use crate::columns::Need;

const FORMS: &str = "\
Accepted lines are written as they are, with their own line ends, in the order
of the input. A refused line is a row of tab-separated fields: the input, the
number of the line, its offset in bytes, why each grammar refuses it
(component:cause@offset, or - if it does not), and the line itself: bytes that
are not printable ASCII as \\xHH, a backslash doubled. In a FILE.txt, or with
--refused-as lines, refused lines are written as they are too. A FILE.gz,
FILE.zst, FILE.bz2 or FILE.xz is compressed so.

Records (--input-format) are written whole: to the accepted ones where all
their URLs are accepted, and to the refused ones where one is not
(field@place:component:cause@offset, the place in bytes from the start of the
record), where there is none, or the record cannot be read (record:cause@place).
The line, the offset and the text of a row are those of the record. Headers and
comments go to both sides, but not into rows; of several tables the first header
serves all. All inputs have to be of one format, and not json, xml, html, text,
parquet, warc or wat.

With --where, only lines that match are split; a record matches if one of its
URLs does. The others are counted, and written nowhere. --matching writes all
lines that match as they are, whether they are accepted or not.

A byte order mark is left out. A last line without LF gets one when a line is
written behind it. Passwords stay, unless there is --mask-passwords. FILEs
appear together when all is written, or not at all; devices and pipes are
written to as lines come.

Exit status: 0 done; 2 usage, an output that cannot be written, or an input
that could not be read to its end: what was read of it is written.";

/// Endings of files that get refused lines or records unchanged.
const TEXTS: [&str; 6] = ["txt", "log", "csv", "cdx", "cdxj", "jsonl"];

#[derive(Args)]
#[command(after_long_help = FORMS, override_usage = "urlsift split [OPTIONS] <-a FILE|-r FILE|-m FILE> [PATH]...")]
#[group(id = "outputs", required = true, multiple = true, args = ["accepted", "refused", "matching"])]
pub(crate) struct SplitArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    /// Output for accepted lines; - is standard output
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    accepted: Option<PathBuf>,

    /// Output for refused lines; - is standard output
    #[arg(short, long, value_name = "FILE", value_parser = output_path())]
    refused: Option<PathBuf>,

    /// Output for all lines that match --where, accepted or not; - is standard output
    #[arg(short, long, value_name = "FILE", value_parser = output_path(), requires = "where",
          conflicts_with_all = ["accepted", "refused", "by", "blank", "refused_as", "header"])]
    matching: Option<PathBuf>,

    /// The grammar that decides: draft1993, rfc1738, rfc1808, rfc2396 or rfc3986
    #[arg(short, long, value_name = "GRAMMAR", default_value = "rfc3986", value_parser = grammar(),
          hide_possible_values = true, conflicts_with = "by")]
    grammar: Grammar,

    /// Several grammars; accepted lines are those that all of them accept
    #[arg(long, value_name = "GRAMMAR,...", value_delimiter = ',', value_parser = grammar(),
          hide_possible_values = true)]
    by: Vec<Grammar>,

    #[command(flatten)]
    filter: FilterArgs,

    #[command(flatten)]
    suffixes: SuffixArgs,

    /// Base URL for conditions such as whatwg=..., which resolve lines as browsers do
    #[arg(long, value_name = "URL", requires = "where", hide_short_help = true)]
    base: Option<OsString>,

    /// Where to write blank lines, which are not judged
    #[arg(long, value_enum, default_value_t = BlankTo::Accepted, value_name = "WHERE")]
    blank: BlankTo,

    /// How refused lines are written [default: by the ending of FILE: lines for .txt, .log, .csv, .cdx, .cdxj and .jsonl,
    /// otherwise tsv]
    #[arg(long, value_enum, value_name = "FORM", requires = "refused")]
    refused_as: Option<RefusedAs>,

    /// Write *** instead of passwords
    #[arg(long)]
    mask_passwords: bool,

    /// Begin with a line that names the fields (tsv)
    #[arg(long)]
    header: bool,

    /// Which kernel judges lines: portable, avx2, avx2-gfni, avx512 or neon [default: the fastest]
    #[arg(long, value_name = "NAME", value_parser = kernel)]
    kernel: Option<KernelId>,
}

#[derive(Clone, Copy, ValueEnum)]
enum BlankTo {
    /// With the accepted lines
    Accepted,
    /// With the refused lines
    Refused,
    /// Nowhere
    Drop,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RefusedAs {
    /// Rows with place, cause and text
    Tsv,
    /// The unchanged lines
    Lines,
}

impl SplitArgs {
    fn options(&self) -> io::Result<Options> {
        let suffixes = self.suffixes.list();
        let filter = self.filter.filter(self.grammar, &suffixes, None)?;
        if filter.has_defect() && !self.by.is_empty() {
            return Err(io::Error::other(
                "--where defect=... is about one grammar: choose it with --grammar, not --by",
            ));
        }
        if self.base.is_some() && !filter.needs().any(|need| need == Need::Parser) {
            return Err(io::Error::other(
                "--base is for conditions on browsers, such as --where whatwg=...: add one of them",
            ));
        }
        let by = match &self.matching {
            // No grammar decides, so that all lines go to one side.
            Some(_) => Verdict::default(),
            None if self.by.is_empty() => [self.grammar].into_iter().collect(),
            None => self.by.iter().copied().collect(),
        };
        let blank = match self.blank {
            BlankTo::Accepted => Blank::Accepted,
            BlankTo::Refused => Blank::Refused,
            BlankTo::Drop => Blank::Dropped,
        };
        // The ending of a compressed file follows the ending of its content.
        let inner = |path: &PathBuf| {
            if matches!(codec_of(path), Ok(Codec::Plain)) { path.clone() } else { path.with_extension("") }
        };
        let is_text = |path: &PathBuf| {
            inner(path).extension().is_some_and(|extension| TEXTS.iter().any(|text| extension == *text))
        };
        let by_name =
            if self.refused.as_ref().is_some_and(is_text) { RefusedAs::Lines } else { RefusedAs::Tsv };
        let form = match self.refused_as.unwrap_or(by_name) {
            RefusedAs::Tsv => Form::Tsv,
            RefusedAs::Lines => Form::Lines,
        };
        if self.header && (self.refused.is_none() || form != Form::Tsv) {
            return Err(io::Error::other("--header names the fields of --refused FILE --refused-as tsv"));
        }
        let reading = self.reading.reading(self.input.paths.codec)?;
        let (header, mask_passwords) = (self.header, self.mask_passwords);
        let base = self.base.as_deref();
        let whatwg_base = base.map(|base| whatwg_base(base, self.mask_passwords)).transpose()?;
        Ok(Options {
            filter,
            whatwg_base,
            suffixes,
            by,
            blank,
            form,
            header,
            mask_passwords,
            reading,
            ..Options::default()
        })
    }
}

pub(crate) fn run(args: &SplitArgs) -> io::Result<End> {
    let Some(inputs) = args.input.inputs()? else { return Ok(End::NoInput) };
    let mut options = args.options()?;
    let mut exec = args.input.exec();
    exec.kernel = args.kernel.unwrap_or(exec.kernel);
    // What matches is the accepted side if no grammar decides.
    let accepted = args.matching.as_ref().or(args.accepted.as_ref());
    let [accepted, refused] = [accepted, args.refused.as_ref()].map(|path| path.map(PathBuf::as_path));
    let codecs = [accepted, refused].map(|path| path.map_or(Ok(Codec::Plain), codec_of));
    let [accepted_codec, refused_codec] = codecs;
    let codecs = [accepted_codec?, refused_codec?];
    let accepted = accepted.map(|path| Output::open(Some(path))).transpose()?;
    let refused = refused.map(|path| Output::open(Some(path))).transpose()?;
    if let (Some(accepted), Some(refused)) = (&accepted, &refused)
        && accepted.is_same(refused)
    {
        let name = accepted.name().display();
        return Err(io::Error::other(format!("{name}: accepted and refused lines cannot both go there")));
    }
    let outputs = || [&accepted, &refused].into_iter().flatten();
    outputs().try_for_each(|output| output.check_is_no_input(&inputs))?;
    let on_terminal =
        |output: &Option<Output>| matches!(output, Some(Output::Standard(out)) if out.is_terminal());
    if options.form == Form::Lines && on_terminal(&refused) {
        return Err(io::Error::other(
            "refused lines may hold bytes that control a terminal: name a file, pipe them on, or use --refused-as tsv",
        ));
    }
    if args.matching.is_some() && on_terminal(&accepted) {
        return Err(io::Error::other(
            "matching lines may hold bytes that control a terminal: name a file, pipe them on, or use urlsift lines",
        ));
    }
    options.lists_only = on_terminal(&accepted);
    let exists = [&accepted, &refused].map(Option::is_some);
    // Progress and rows would appear on the same terminal.
    let mixed = !outputs().all(Output::is_file);
    let whole = outputs().all(Output::appears_whole);
    let sentence = if whole {
        "nothing was written"
    } else {
        "files were not written, and what else was ends before the input does"
    };
    let mut writers = [None, None];
    for (writer, (output, codec)) in writers.iter_mut().zip([accepted, refused].into_iter().zip(codecs)) {
        *writer = output.map(|output| Packer::new(output.begin(), codec)).transpose()?;
    }
    let [accepted, refused] = writers.each_mut().map(|writer| writer.as_mut().map(as_write));
    let work = |exec: &ExecOptions| {
        let split = split_inputs(&inputs, &options, exec, accepted, refused)?;
        let n_lines = split.accepted + split.refused + split.blank + split.unmatched + split.remarks;
        let left = whole && is_void(&inputs, &split.failures, n_lines);
        Ok::<_, io::Error>((split, left))
    };
    let (split, signal) = args.input.attend(exec, &inputs, mixed, work);
    let (mut split, left) = split?;
    Failure::say(&mut split.failures, advice::words);
    args.reading.explain(&split.records, &inputs, false);
    warn_of_signs(split.signs.iter().copied(), &inputs);
    if split.failures.iter().any(Failure::is_stop) {
        complain_of(&split.failures, &inputs);
        return Ok(End::stopped(signal, sentence));
    }
    if left {
        complain_of(&split.failures, &inputs);
        complain(sentence);
        return Ok(End::Incomplete);
    }
    let mut ended = Vec::new();
    for writer in writers.into_iter().flatten() {
        match writer.end() {
            // The reader closed this output early. The other output still matters.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
            result => ended.push(result?),
        }
    }
    finish_all(ended)?;
    complain_of(&split.failures, &inputs);
    warn(&summary(&split, &options, exists));
    Ok(if split.failures.is_empty() { End::Done } else { End::Incomplete })
}

fn as_write(writer: &mut Packer) -> &mut (dyn Write + Send) {
    writer
}

/// A sentence on how many lines or records went to which output. `exists` says whether there is one for the accepted and for the refused.
fn summary(split: &Split, options: &Options, exists: [bool; 2]) -> String {
    let place = |goes: [bool; 2]| match [goes[0] && exists[0], goes[1] && exists[1]] {
        [true, true] => "on both sides",
        [true, false] => "written with the accepted",
        [false, true] => "written with the refused",
        [false, false] => "written nowhere",
    };
    let [one, many] = if split.records.is_empty() { ["line", "lines"] } else { ["record", "records"] };
    let grammars: Vec<_> = options.by.iter().map(Grammar::name).collect();
    let mut parts = if grammars.is_empty() {
        vec![format!("{} written", plural(split.accepted, one, many))]
    } else {
        vec![
            format!("{} accepted by {}", plural(split.accepted, one, many), grammars.join(" and ")),
            format!(", {} refused", grouped(split.refused)),
        ]
    };
    if !options.filter.is_empty() {
        parts.push(format!(", {} left out by --where", grouped(split.unmatched)));
    }
    if split.blank > 0 {
        let place = match options.blank {
            Blank::Accepted => place([true, false]),
            Blank::Refused => place([false, true]),
            Blank::Dropped => "dropped",
        };
        parts.push(format!(", {} blank ({place})", grouped(split.blank)));
    }
    if split.remarks > 0 {
        let place = place([true, options.form == Form::Lines]);
        parts.push(format!(
            ", {} ({place})",
            plural(split.remarks, "header or comment", "headers and comments")
        ));
    }
    if split.boms > 0 {
        parts.push(format!("; {} left out", plural(split.boms, "byte order mark", "byte order marks")));
    }
    if !split.failures.is_empty() {
        parts.push(format!(
            "; {} not read to the end",
            plural(split.failures.len() as u64, "input", "inputs")
        ));
    }
    parts.concat()
}
