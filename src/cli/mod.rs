//! The command line: parses options, runs the command, and chooses the exit status.
//!
//! It is not part of the library's interface. It lives in the library because it uses what the interface leaves out.

mod advice;
mod args;
mod commands;
mod compress;
mod fail_on;
mod help;
mod interrupt;
mod offered;
mod output_file;
mod progress_bar;
mod suggest;

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs;
use std::io::ErrorKind::{InvalidFilename, NotADirectory, NotFound, PermissionDenied};
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::Instant;

use crate::report::{LooksLike, Report};
use crate::run::{ExecOptions, Failure};
use clap::builder::{OsStringValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use urlsift_engine::simd::KernelId;
use urlsift_grammar::Grammar;
use urlsift_grammar::escape::{MASK, mask, printable};
use urlsift_grammar::password::{masked, secrets_of_name, secrets_of_record, shows_password_of};
use urlsift_grammar::public_suffix::{SuffixList, UsedList};
use urlsift_grammar::whatwg::{self, STANDARD, TwoHosts, Url};
use urlsift_input::memory::threads_with_memory;
use urlsift_input::progress::Watch;
use urlsift_input::{Advice, Input};
use urlsift_records::input_signs::Signs;

use args::paths::PathArgs;

/// Judge every line of URL lists under five grammars at once
///
/// Reads lists of URLs, one per line, and judges each line under draft1993, rfc1738, rfc1808, rfc2396 and rfc3986. Reports
/// how many lines each grammar accepts, which schemes occur, and why lines are refused, down to the byte and the rule.
///
/// A command precedes all options; "urlsift COMMAND --help" explains it. To read a file that has the name of a command,
/// write ./NAME.
#[derive(Parser)]
#[command(name = "urlsift", bin_name = "urlsift", version = VERSION.as_str(), args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Typed {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    scan: commands::scan::ScanArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Report on lists (what urlsift does without a command)
    Scan(Box<commands::scan::ScanArgs>),
    /// Print one row per line, in the order of the input
    ///
    /// A row describes one line: its place, its verdict, its scheme, and why it is refused. --columns chooses the columns
    /// and their order. For logs, indexes, tables and archives (--input-format), there is one row per URL in them.
    Lines(commands::lines::LinesArgs),
    /// Print the URLs in running text, one per line
    ///
    /// Short for "urlsift lines --input-format text --columns text". A text is any bytes: prose, mail, source code, logs,
    /// markup, binary data. Standard error says which places look like URLs and are refused, and why.
    Extract(commands::lines::ExtractArgs),
    /// Write accepted lines to one file, refused ones to another
    ///
    /// For logs, indexes and tables (--input-format), whole records are written.
    Split(commands::split::SplitArgs),
    /// Show a URL part by part, and why a grammar refuses it
    ///
    /// Shows for each URL its components, the verdict of each grammar, and what browsers make of it, by the WHATWG URL
    /// Standard. For a refusal, it shows the byte, the rule, and which bytes could follow there instead.
    Explain(commands::explain::ExplainArgs),
    /// Write a report in another format, without scanning
    Render(commands::render::RenderArgs),
    /// Merge partial reports into the report of all
    ///
    /// Merges reports that --format partial wrote about parts of a corpus, on any machine and in any order. Refuses parts
    /// that overlap, and names parts that are missing.
    Merge(commands::merge::MergeArgs),
    /// Cut inputs into splits that can be scanned elsewhere
    ///
    /// Prints one line of JSON per split, the largest split first. "urlsift scan --splits FILE --format partial" scans some
    /// of them, and "urlsift merge" makes one report of all.
    Plan(commands::plan::PlanArgs),
    /// Measure how fast this machine judges lines
    ///
    /// Measures each kernel on 1, 2, 4 and so on up to all threads, and compares it with finding the lines by memchr.
    /// Checks all answers before it measures.
    Bench(commands::bench::BenchArgs),
    /// List the five grammars: documents, and how they differ
    Grammars(commands::listing::ListArgs),
    /// List the known schemes, with their ports and rules
    Schemes(commands::listing::ListArgs),
    /// List the causes and components of refusals, with their rules
    Causes(commands::listing::ListArgs),
    /// Print a manual page
    Man(commands::man::ManArgs),
    /// Print a completion script for a shell
    Completions(commands::completions::CompletionsArgs),
}

/// The text of `--version`: the kernel that judges lines on this machine, all that are available, and the versions
/// of the WHATWG URL Standard and the Public Suffix List.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{version}\nkernel: {} (of {})\nWHATWG URL Standard {STANDARD}\nPublic Suffix List {}",
        KernelId::best(),
        names(&KernelId::available().collect::<Vec<_>>()),
        SuffixList::built_in().version()
    )
});

/// The inputs and how to read them.
#[derive(Args)]
struct InputArgs {
    #[command(flatten)]
    paths: PathArgs,

    /// Read what a program makes of each input: 'COMMAND PATH' without a shell
    ///
    /// COMMAND is a program and its arguments, split at white space; quotes have no meaning. The path is another argument,
    /// and "./" comes before names that begin with "-". The input is also the program's standard input. Its standard output
    /// is read as from a pipe. As many run at once as there are threads. If one fails, its input is incomplete, and the exit
    /// status is 2.
    #[arg(long, value_name = "COMMAND", value_parser = command, hide_short_help = true)]
    pre: Option<Arc<str>>,

    /// How many threads judge lines [default: all]
    ///
    /// The result is the same for any number [default: as many as the machine can run at once].
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<u32>,

    /// Show no progress on a terminal
    ///
    /// Without this option, work of more than a second shows its progress if standard error is a terminal, and a scan says
    /// at its end how long it took.
    #[arg(long, hide_short_help = true)]
    no_progress: bool,

    #[command(flatten)]
    quiet: QuietArgs,

    /// How many bytes of a file one work item has; the report does not depend on it
    #[arg(long, value_name = "BYTES", hide = true, value_parser = clap::value_parser!(u32).range(1..=(1 << 30)))]
    shard_size: Option<u32>,

    /// The longest line that is kept whole in memory; the report does not depend on it
    #[arg(long, value_name = "BYTES", hide = true, value_parser = clap::value_parser!(u32).range(3..=(1 << 30)))]
    line_size: Option<u32>,
}

/// The list of public suffixes.
#[derive(Args)]
struct SuffixArgs {
    /// Another list of public suffixes than the one that -V names
    ///
    /// FILE has the form of <https://publicsuffix.org/list/public_suffix_list.dat>. The list decides what the registrable domain of a
    /// host is.
    #[arg(long, value_name = "FILE", value_parser = suffix_list(), hide_short_help = true)]
    psl: Option<UsedList>,
}

impl SuffixArgs {
    fn list(&self) -> UsedList {
        self.psl.clone().unwrap_or_default()
    }
}

/// Reads a list of public suffixes.
fn suffix_list() -> impl TypedValueParser<Value = UsedList> {
    input_path().try_map(|path| {
        let fail = |error: &dyn Display| format!("{}: {error}", path.display());
        let text = fs::read(&path).map_err(|error| fail(&error))?;
        output_file::keep_list(Input::file(&path));
        SuffixList::parse(&text).map(UsedList::from).map_err(|error| fail(&error))
    })
}

/// What a command says on standard error beside errors.
#[derive(Args)]
struct QuietArgs {
    /// Print errors only: no warnings, no progress
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
}

/// The grammar that explains refusals.
#[derive(Args)]
struct GrammarArgs {
    /// Grammar whose refusals to explain
    ///
    /// All five grammars judge every line. The chosen grammar's refusals are reported by component and cause. It also
    /// decides which lines are selected. One of draft1993, rfc1738, rfc1808, rfc2396 and rfc3986, or the digits alone;
    /// "urlsift grammars" describes how they differ.
    #[arg(short, long, value_name = "GRAMMAR", default_value = "rfc3986", value_parser = grammar(),
          hide_possible_values = true)]
    grammar: Grammar,
}

/// Parses the name of a grammar, or the digits in it, such as 3986.
fn grammar() -> impl TypedValueParser<Value = Grammar> {
    let digits = |grammar: Grammar| grammar.name().trim_start_matches(char::is_alphabetic);
    let value = |grammar: Grammar| PossibleValue::new(grammar.name()).alias(digits(grammar));
    PossibleValuesParser::new(Grammar::ALL.map(value)).try_map(|name| name.parse::<Grammar>())
}

/// The URL that browsers make of a base. Warns if RFC 3986 finds another host in it.
///
/// # Errors
/// If browsers make no URL of it. If passwords in it are masked, one that cannot be is an error too.
fn whatwg_base(base: &OsStr, is_masked: bool) -> io::Result<Url> {
    let error = |why: &str| io::Error::other(format!("--base: {why}"));
    let base = base.as_encoded_bytes();
    check_base_len(base)?;
    let parsed = whatwg::parse(base, None);
    let url = parsed.url().cloned().ok_or_else(|| {
        let cause = parsed.errors().last().map_or("invalid host", |found| found.error.name());
        error(&format!("browsers do not take it as a URL ({cause}); expected one such as https://example.org/directory/page"))
    })?;
    let shown = url.shown(false).into_bytes();
    if is_masked && (*masked(&shown) != *shown || shows_password_of(&shown, &[base])) {
        return Err(error(
            "it may hold a password at a place where it cannot be masked; give it without one",
        ));
    }
    if let Some(hosts) = TwoHosts::of(base, None, &url) {
        warn(&format!("--base has two hosts. {}", hosts.masked(base, false, None)));
    }
    Ok(url)
}

/// Parses the path of an input.
fn input_path() -> impl TypedValueParser<Value = PathBuf> {
    path("an empty path names no file; standard input is -")
}

/// Parses the path of an output.
fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    path("an empty path names no file; standard output is -")
}

/// Parses a path, and refuses an empty one with the message `why`.
fn path(why: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    let path = move |path: OsString| if path.is_empty() { Err(why) } else { Ok(PathBuf::from(path)) };
    OsStringValueParser::new().try_map(path)
}

/// The longest base URL. Each row may have it, and thousands of rows are in memory.
const MAX_BASE_LEN: usize = 8192;

/// Refuses a base URL that is too long.
fn check_base_len(url: &[u8]) -> io::Result<()> {
    if url.len() > MAX_BASE_LEN {
        let len = url.len();
        return Err(io::Error::other(format!(
            "--base: it has {len} bytes, and a base may have {MAX_BASE_LEN}"
        )));
    }
    Ok(())
}

/// Parses a number of threads.
fn threads(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=1024).contains(n));
    number.ok_or_else(|| "expected a number of threads from 1 to 1024".to_owned())
}

/// Parses the name of a kernel that this machine has.
fn kernel(name: &str) -> Result<KernelId, String> {
    kernel_of(name, &KernelId::available().collect::<Vec<_>>())
}

fn kernel_of(name: &str, available: &[KernelId]) -> Result<KernelId, String> {
    match KernelId::from_name(name) {
        Some(kernel) if available.contains(&kernel) => Ok(kernel),
        Some(_) => Err(format!("this machine does not have it; it has {}", names(available))),
        None => Err(format!("no such kernel; this machine has {}", names(available))),
    }
}

/// Parses the command of a program.
fn command(text: &str) -> Result<Arc<str>, String> {
    if text.trim().is_empty() { Err("it names no program".to_owned()) } else { Ok(text.into()) }
}

fn names(kernels: &[KernelId]) -> String {
    kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ")
}

impl InputArgs {
    /// The inputs. Without any, it is standard input, or `None` if that is a terminal.
    ///
    /// # Errors
    /// If a glob is invalid, a list of names cannot be read, or a program is to read standard input.
    fn inputs(&self) -> io::Result<Option<Vec<Input>>> {
        let Some(inputs) = self.paths.inputs()? else { return Ok(None) };
        if self.pre.is_some() && inputs.iter().any(Input::is_standard) {
            let sentence = "--pre: standard input has no path for the program; name files or directories";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, sentence));
        }
        Ok(Some(inputs.into_iter().map(|input| input.with_program(self.pre.clone())).collect()))
    }

    /// The words of a command line that name the same inputs. `None` for standard input.
    fn words(&self) -> Option<Vec<OsString>> {
        let pre = self.pre.iter().flat_map(|command| ["--pre".into(), (&**command).into()]);
        Some(pre.chain(self.paths.words()?).collect())
    }

    fn exec(&self) -> ExecOptions {
        let mut exec = ExecOptions::default();
        let usize = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        exec.threads = self.threads.map_or(0, usize);
        exec.threads = threads_with_memory(exec.n_threads());
        exec.shard_len = self.shard_size.map_or(exec.shard_len, usize);
        exec.line_len = self.line_size.map_or(exec.line_len, usize);
        exec
    }

    /// Prints how long a scan took, if standard error is a terminal and progress is wanted.
    fn tell_speed(&self, start: Instant, report: &Report) {
        if !self.no_progress && io::stderr().is_terminal() {
            warn(&progress_bar::speed(start.elapsed(), report.totals.lines, report.totals.bytes));
        }
    }

    /// Runs work that shows its progress and can be stopped. Shows no progress if `mixed`, which means that output may
    /// appear on the same terminal. The first Ctrl-C, SIGTERM or SIGHUP stops the work. Returns that signal too, if one came.
    /// After the work, a signal ends the process at once.
    fn attend<R>(
        &self,
        mut exec: ExecOptions,
        inputs: &[Input],
        mixed: bool,
        work: impl FnOnce(&ExecOptions) -> R,
    ) -> (R, Option<u8>) {
        let watch = Watch::default();
        exec.watch = Some(watch.clone());
        let interrupt = interrupt::Interrupt::stops(&watch);
        let result = if self.no_progress || self.quiet.quiet || mixed || !progress_bar::is_wanted(inputs) {
            work(&exec)
        } else {
            progress_bar::during(&watch, inputs, || work(&exec))
        };
        (result, interrupt.end())
    }
}

/// The numbers of SIGHUP and SIGTERM on every system that has them.
const TERMINATES: [u8; 2] = [1, 15];

/// How a run of the command ended.
enum End {
    Done,
    /// A condition of `--fail-on` held.
    Crossed,
    /// An input could not be read to its end. It has been named on standard error.
    Incomplete,
    /// The report cannot tell whether a condition of `--fail-on` holds.
    Untold,
    /// This signal stopped the work.
    Stopped(u8),
    /// No input was named.
    NoInput,
}

impl End {
    /// Reports that a signal stopped the work, with `sentence` on what became of the output.
    fn stopped(signal: Option<u8>, sentence: &str) -> Self {
        let signal = signal.unwrap_or_default();
        complain(&format!(
            "{}: {sentence}",
            if TERMINATES.contains(&signal) { "terminated" } else { "interrupted" }
        ));
        Self::Stopped(signal)
    }
}

/// Prints a page of help or the version to standard output, and ends the process. Fails if it cannot be written.
fn show_help(error: &clap::Error) -> ! {
    let write = || {
        let mut out = anstream::stdout();
        write!(out, "{}", error.render().ansi())?;
        out.flush()
    };
    let status = match write() {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            complain(&format!("standard output: {error}"));
            2
        }
        _ => 0,
    };
    std::process::exit(status)
}

/// Prints an error of the command line, and ends the process.
fn refuse(error: &clap::Error) -> ! {
    let shown = without_passwords(&error.render().ansi().to_string());
    let _ = anstream::stderr().write_all(&shown);
    std::process::exit(error.exit_code())
}

/// A sentence with masked passwords. A URL may have been typed, or listed as the name of a file.
fn without_passwords(sentence: &str) -> Vec<u8> {
    let mut sentence = sentence.to_owned();
    // The words of the command line tell exactly where theirs are. Parts of the words may be in the sentence.
    for word in words().iter().skip(1) {
        let word = word.to_string_lossy();
        for Range { start, end } in secrets_of_name(word.as_bytes()) {
            let delimited = start.saturating_sub(1)..word.len().min(end + 1);
            let (Some(secret), Some(text)) = (word.get(start..end), word.get(delimited)) else { continue };
            sentence = sentence.replace(text, &text.replace(secret, MASK));
            // Lists are cut at commas, and names at "=", before they are refused.
            let mut at = start;
            for piece in secret.split([',', '=']) {
                if let Some(text) = word.get(at - 1..at + piece.len()).filter(|_| at > 0 && !piece.is_empty())
                {
                    sentence = sentence.replace(text, &[&text[..1], MASK].concat());
                }
                at += piece.len() + 1;
            }
        }
    }
    mask(sentence.as_bytes(), secrets_of_record(sentence.as_bytes(), false)).into_owned()
}

/// Whether [`warn`] prints nothing.
static QUIET: AtomicBool = AtomicBool::new(false);

/// What was typed. Also notes whether there is `--quiet`.
fn typed(matches: &ArgMatches) -> clap::error::Result<Typed> {
    let own = matches.subcommand().map_or(matches, |(_, own)| own);
    let is_quiet = own.try_get_one("quiet").ok().flatten().is_some_and(|&quiet| quiet);
    QUIET.store(is_quiet, Ordering::Relaxed);
    Typed::from_arg_matches(matches)
}

/// The words of the command line, from the name of the program on.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

fn words() -> &'static [OsString] {
    WORDS.get().map_or(&[], Vec::as_slice)
}

/// Parses words that are right and ask for no help. Making the parser of all commands, with their pages of help, takes a fifth of the time of a
/// short scan (docs/decisions/0066-start-up.md).
fn parse_without_help(words: &[OsString], needs_input: bool) -> Option<Typed> {
    let is_command = |word: &OsString| word == "help" || word.to_str().is_some_and(Command::has_subcommand);
    let names_command = words.get(1).is_some_and(is_command);
    if needs_input && words.iter().skip(if names_command { 2 } else { 1 }).all(|word| word == "--") {
        return None;
    }
    let parser = if names_command {
        Typed::command()
    } else {
        commands::scan::ScanArgs::augment_args(clap::Command::new("urlsift"))
    };
    typed(&parser.try_get_matches_from(words).ok()?).ok()
}

/// Runs the command and returns its exit status. The first word is the name of the program. Help, a wrong command line and a second signal
/// end the process. A process can run one command.
///
/// # Panics
/// If it is called twice.
#[must_use]
pub fn run(words: Vec<OsString>) -> u8 {
    let is_first = WORDS.set(words).is_ok();
    assert!(is_first, "a process can run one command");
    let words = self::words();
    let needs_input = io::stdin().is_terminal();
    let parse = |words: &[OsString]| typed(&help::command(needs_input).try_get_matches_from(words)?);
    if let Some(commands) = suggest::on_foreign_command(words, Typed::command) {
        let _ = writeln!(io::stderr(), "urlsift: {commands}");
        return 2;
    }
    let full = || {
        parse(words).unwrap_or_else(|error| {
            let error = suggest::first_of(error, words, |words| parse(words).err());
            let error = suggest::with_tip(error, words, &Typed::command());
            if error.use_stderr() { refuse(&error) } else { show_help(&error) }
        })
    };
    let typed = parse_without_help(words, needs_input).unwrap_or_else(full);
    let result = match &typed.command {
        None => commands::scan::run(&typed.scan),
        Some(Command::Scan(args)) => commands::scan::run(args),
        Some(Command::Lines(args)) => commands::lines::write_rows(args, true),
        Some(Command::Extract(args)) => commands::lines::write_rows(&args.lines, false),
        Some(Command::Split(args)) => commands::split::run(args),
        Some(Command::Explain(args)) => commands::explain::run(args),
        Some(Command::Render(args)) => commands::render::run(args),
        Some(Command::Merge(args)) => commands::merge::run(args),
        Some(Command::Plan(args)) => commands::plan::run(args),
        Some(Command::Bench(args)) => commands::bench::run(args),
        Some(Command::Grammars(args)) => commands::grammars::run(args),
        Some(Command::Schemes(args)) => commands::schemes::run(args),
        Some(Command::Causes(args)) => commands::causes::run(args),
        Some(Command::Man(args)) => commands::man::run(args),
        Some(Command::Completions(args)) => commands::completions::run(args),
    };
    match result {
        Ok(End::Done) => 0,
        Ok(End::Crossed) => 1,
        Ok(End::Incomplete | End::Untold) => 2,
        // The status that shells use for programs ended by a signal.
        Ok(End::Stopped(signal)) => 128 + signal,
        Ok(End::NoInput) => {
            complain("no input: name a file or a directory, or pipe a list in; see urlsift --help");
            2
        }
        // The reader of the output closed it early, which is no error.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(error) => {
            complain(&Advice::said(error, advice::words).to_string());
            2
        }
    }
}

/// Prints a sentence for the user on standard error. Escapes bytes that control a terminal and masks passwords.
fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "urlsift: {}", printable(&without_passwords(sentence)));
}

/// Prints a sentence that is not about an error, unless there is `--quiet`.
fn warn(sentence: &str) {
    if !QUIET.load(Ordering::Relaxed) {
        complain(sentence);
    }
}

/// "1 more input", "2 more inputs" and so on.
fn more(n: usize, noun: &str) -> String {
    format!("{n} more {noun}{}", if n == 1 { "" } else { "s" })
}

/// Whether all inputs failed before a line of them was read. An existing output file is then kept rather than replaced by an empty result.
fn is_void(inputs: &[Input], failures: &[Failure], n_lines: u64) -> bool {
    !failures.is_empty() && failures.len() == inputs.len() && n_lines == 0
}

/// How many paths that cannot be read are named. A list of URLs that is taken for a list of paths may have millions.
const MAX_PATHS: usize = 10;

/// Names the inputs that could not be read to their end, except those that a signal stopped.
fn complain_of(failures: &[Failure], inputs: &[Input]) {
    let mut hints = Vec::new();
    let mut n_paths = 0;
    for failure in failures.iter().filter(|failure| !failure.is_stop()) {
        let kind = failure.error.kind();
        if matches!(kind, NotFound | NotADirectory | InvalidFilename | PermissionDenied) {
            n_paths += 1;
            if n_paths > MAX_PATHS {
                continue;
            }
        }
        complain(&failure.message(inputs));
        if kind == NotFound
            && let Some(input) = inputs.get(failure.input as usize)
            && let Some(hint) = suggest::on_missing_input(input.name(), words(), &Typed::command())
            && !hints.contains(&hint)
        {
            complain(&hint);
            hints.push(hint);
        }
    }
    if n_paths > MAX_PATHS {
        complain(&format!("... and {} that cannot be read", more(n_paths - MAX_PATHS, "path")));
    }
}

/// Most inputs for which warnings are printed.
const MAX_WARNINGS: usize = 10;

/// Warns of inputs that were decoded, or were read as lists and look like something else.
fn warn_of_signs(signs: impl Iterator<Item = (u32, Signs)>, inputs: &[Input]) {
    let sentence = |(input, signs): (u32, Signs)| {
        let decoded =
            signs.utf16.then(|| "is UTF-16 and is decoded; output and offsets are UTF-8".to_owned());
        let name = inputs.get(input as usize).map_or("?", Input::name);
        let looks_like = signs.looks.map(|looks| LooksLike::new(looks).say(advice::command).sentence());
        let sentences: Vec<_> = decoded.into_iter().chain(looks_like).collect();
        (!sentences.is_empty()).then(|| format!("{name}: {}", sentences.join("; ")))
    };
    let mut sentences = signs.filter_map(sentence);
    sentences.by_ref().take(MAX_WARNINGS).for_each(|sentence| warn(&sentence));
    match sentences.count() {
        0 => {}
        n => warn(&format!("warnings about {} are not shown; urlsift --json has all", more(n, "input"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_words_are_parsed_without_pages_of_help() {
        let parse = |words: &str| {
            let words: Vec<_> =
                ["urlsift"].into_iter().chain(words.split_whitespace()).map(OsString::from).collect();
            parse_without_help(&words, true)
        };
        for words in
            ["urls.txt", "-g 1738 lists/", "--json urls.txt", "-- lines", "urls.txt lines", "-q help"]
        {
            assert!(parse(words).is_some_and(|typed| typed.command.is_none()), "{words}");
        }
        for words in ["scan x", "lines -c host x", "explain -- -x", "plan help", "merge ."] {
            assert!(parse(words).is_some_and(|typed| typed.command.is_some()), "{words}");
        }
        for words in [
            "", "--", "lines", "lines --", "help", "help lines", "-h", "--help", "lines --help", "-V",
            "x -V", "--nonsense", "-j 0 x", "lines -j 0 x",
        ] {
            assert!(parse(words).is_none(), "{words}");
        }
    }

    #[test]
    fn a_kernel_that_is_missing_is_an_error() {
        let some = [KernelId::Portable, KernelId::Avx2];
        assert_eq!(kernel_of("avx2", &some), Ok(KernelId::Avx2));
        assert_eq!(
            kernel_of("avx512", &some),
            Err("this machine does not have it; it has portable, avx2".to_owned())
        );
        assert_eq!(
            kernel_of("AVX2", &some),
            Err("no such kernel; this machine has portable, avx2".to_owned())
        );
    }
}
