//! The command line: options as typed, what they come to, and the exit status.

mod args;
mod commands;
mod compress;
mod fail_on;
mod help;
mod interrupt;
mod output_file;
mod progress_bar;
mod suggest;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::LazyLock;

use clap::builder::{OsStringValueParser, PossibleValuesParser, TypedValueParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use urlsift::Grammar;
use urlsift::grammar::escape::printable;
use urlsift::input::Input;
use urlsift::progress::Watch;
use urlsift::run::{Effort, Failure};
use urlsift::simd::KernelId;

use args::paths::PathArgs;

/// Judge every line of URL lists under five grammars at once
///
/// Reads lists of URLs, one a line, and judges each line under draft1993, rfc1738, rfc1808, rfc2396 and rfc3986. Reports how
/// many lines each grammar accepts, which schemes there are, and why lines are refused, down to the byte and the rule.
///
/// A command in front of all options does something else: "urlsift COMMAND --help" tells what. A list whose name is that of
/// a command is read as ./NAME.
#[derive(Parser)]
#[command(name = "urlsift", version, long_version = VERSION.as_str(), args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Typed {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    scan: commands::scan::ScanArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Report on lists (what urlsift does without a command)
    Scan(commands::scan::ScanArgs),
    /// Print one record per line, in the order of the input
    ///
    /// A record says what one line is: its place, its verdict, its scheme, why it is refused. Which of that, and in which
    /// order, --columns says. Of logs, indexes, tables and archives (--input-format) there is one for each URL in them.
    Lines(commands::lines::LinesArgs),
    /// Write accepted lines to one file, refused ones to another
    ///
    /// Of logs, indexes and tables (--input-format) it is whole records.
    Split(commands::split::SplitArgs),
    /// Show a URL part by part, and why a grammar refuses it
    ///
    /// For each URL: its components, each grammar's verdict, and of a refusal the byte, the rule and what could have stood
    /// there instead.
    Explain(commands::explain::ExplainArgs),
    /// Write a report in another form, without scanning
    Render(commands::render::RenderArgs),
    /// Merge partial reports into the report of all
    ///
    /// Those that --format partial has written, of parts of a corpus, on this machine or others, in any order. What is counted
    /// twice is refused, and what is missing is named.
    Merge(commands::merge::MergeArgs),
    /// Cut inputs into splits that can be scanned elsewhere
    ///
    /// Prints a line of JSON for each, the largest first. "urlsift scan --splits FILE --format partial" scans some of them, and
    /// "urlsift merge" makes one report of all.
    Plan(commands::plan::PlanArgs),
    /// Measure how fast this machine judges lines
    ///
    /// Each kernel, on 1, 2, 4 and so on up to all threads, against finding the lines with memchr. All answers are checked
    /// before anything is timed.
    Bench(commands::bench::BenchArgs),
    /// List the five grammars: documents, and how they differ
    Grammars(commands::grammars::GrammarsArgs),
    /// List the schemes known by name: ports, and what judges them
    Schemes(commands::schemes::SchemesArgs),
    /// List the causes and components of refusals, with their rules
    Causes(commands::causes::CausesArgs),
    /// Print a manual page
    Man(commands::man::ManArgs),
    /// Print what a shell needs to complete this command
    Completions(commands::completions::CompletionsArgs),
}

/// What `--version` says: which kernel judges lines here, and which there are.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "{version}\nkernel: {} (of {})",
        KernelId::best(),
        names(&KernelId::available().collect::<Vec<_>>())
    )
});

/// What to read, and how.
#[derive(Args)]
struct InputArgs {
    #[command(flatten)]
    paths: PathArgs,

    /// How many threads judge lines [default: all]
    ///
    /// The result is the same for any number [default: as many as the machine runs at once].
    #[arg(short = 'j', long, value_name = "N", value_parser = threads)]
    threads: Option<u32>,

    /// Show no progress on a terminal
    ///
    /// Without this, work that takes longer than a second shows how far it is where standard error is a terminal.
    #[arg(long, hide_short_help = true)]
    no_progress: bool,

    /// How many bytes of a file are one piece of work; the report is the same for any
    #[arg(long, value_name = "BYTES", hide = true, value_parser = clap::value_parser!(u32).range(1..=(1 << 30)))]
    shard_size: Option<u32>,

    /// The longest line that is held in memory whole; the report is the same for any
    #[arg(long, value_name = "BYTES", hide = true, value_parser = clap::value_parser!(u32).range(3..=(1 << 30)))]
    line_size: Option<u32>,
}

/// What to judge by.
#[derive(Args)]
struct GrammarArgs {
    /// Whose refusals are explained
    ///
    /// All five grammars judge every line, whichever is chosen. This one's refusals are told by component and cause, and it
    /// decides where lines are selected. One of draft1993, rfc1738, rfc1808, rfc2396 and rfc3986; "urlsift grammars" tells how
    /// they differ.
    #[arg(short, long, value_name = "GRAMMAR", default_value = "rfc3986",
          value_parser = PossibleValuesParser::new(Grammar::ALL.map(Grammar::name)).try_map(|name| name.parse::<Grammar>()),
          hide_possible_values = true)]
    grammar: Grammar,

    /// Show passwords found in the data instead of ***
    #[arg(long, display_order = 900, hide_short_help = true)]
    show_secrets: bool,
}

/// The path of something to read.
fn input_path() -> impl TypedValueParser<Value = PathBuf> {
    path("an empty path names no file; standard input is -")
}

/// The path of something to write.
fn output_path() -> impl TypedValueParser<Value = PathBuf> {
    path("an empty path names no file; standard output is -")
}

/// A path that is not empty; `why` says what to do about one that is.
fn path(why: &'static str) -> impl TypedValueParser<Value = PathBuf> {
    let path = move |path: OsString| if path.is_empty() { Err(why) } else { Ok(PathBuf::from(path)) };
    OsStringValueParser::new().try_map(path)
}

/// A number of threads.
fn threads(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|n| (1..=1024).contains(n));
    number.ok_or_else(|| "expected a number of threads from 1 to 1024".to_owned())
}

/// The kernel of that name, if this machine has it.
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

fn names(kernels: &[KernelId]) -> String {
    kernels.iter().map(|kernel| kernel.name()).collect::<Vec<_>>().join(", ")
}

impl InputArgs {
    /// The inputs; none named is standard input, unless that is a terminal.
    ///
    /// # Errors
    /// When a glob is none, or a list of names cannot be read.
    fn inputs(&self) -> io::Result<Option<Vec<Input>>> {
        self.paths.inputs()
    }

    fn effort(&self) -> Effort {
        let mut effort = Effort::default();
        let usize = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        effort.threads = self.threads.map_or(0, usize);
        effort.shard_len = self.shard_size.map_or(effort.shard_len, usize);
        effort.line_len = self.line_size.map_or(effort.line_len, usize);
        effort
    }

    /// Does work on the inputs that can be watched and stopped: shows its progress, unless `mixed` says that the output may
    /// be seen in the same place; and lets the first Ctrl-C or SIGTERM stop it. Returns the signal too, if one came.
    fn attend<R>(
        &self,
        mut effort: Effort,
        inputs: &[Input],
        mixed: bool,
        work: impl FnOnce(&Effort) -> R,
    ) -> (R, Option<u8>) {
        let watch = Watch::default();
        effort.watch = Some(watch.clone());
        let interrupt = interrupt::Interrupt::stops(&watch);
        let result = if self.no_progress || mixed || !progress_bar::is_wanted(inputs) {
            work(&effort)
        } else {
            progress_bar::during(&watch, inputs, || work(&effort))
        };
        (result, interrupt.signal())
    }
}

/// The number of the signal that asks a program to end, on every system that has it.
const SIGTERM: u8 = 15;

/// How a run of the command ended.
enum End {
    Done,
    /// A limit that the user asked for was crossed.
    Crossed,
    /// An input could not be read to its end; it has been named.
    Incomplete,
    /// The report does not say whether a limit was crossed.
    Untold,
    /// This signal stopped it.
    Stopped(u8),
    /// Nothing was asked for.
    NoInput,
}

impl End {
    /// The end of work that a signal stopped: says so, and what has become of it.
    fn stopped(signal: Option<u8>, sentence: &str) -> Self {
        let signal = signal.unwrap_or_default();
        complain(&format!("{}: {sentence}", if signal == SIGTERM { "terminated" } else { "interrupted" }));
        Self::Stopped(signal)
    }
}

/// Runs the command.
pub(crate) fn run() -> ExitCode {
    let parse = |words: &[OsString]| {
        let matches = help::command(io::stdin().is_terminal()).try_get_matches_from(words)?;
        Typed::from_arg_matches(&matches)
    };
    let words: Vec<_> = env::args_os().collect();
    let typed = parse(&words).unwrap_or_else(|error| {
        let error = suggest::first_of(error, &words, |words| parse(words).err());
        suggest::with_tip(error, &Typed::command()).exit()
    });
    let result = match &typed.command {
        None => commands::scan::run(&typed.scan),
        Some(Command::Scan(args)) => commands::scan::run(args),
        Some(Command::Lines(args)) => commands::lines::run(args),
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
        Ok(End::Done) => ExitCode::SUCCESS,
        Ok(End::Crossed) => ExitCode::from(1),
        Ok(End::Incomplete | End::Untold) => ExitCode::from(2),
        // What a shell says of a program that the signal has ended.
        Ok(End::Stopped(signal)) => ExitCode::from(128 + signal),
        Ok(End::NoInput) => {
            complain("no input: name a file or a directory, or pipe a list in; see urlsift --help");
            ExitCode::from(2)
        }
        // Whoever read the output has seen enough.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            ExitCode::from(2)
        }
    }
}

/// A sentence for the user on standard error. What controls a terminal in it (from a file's
/// name, say) is escaped.
fn complain(sentence: &str) {
    let _ = writeln!(io::stderr(), "urlsift: {}", printable(sentence.as_bytes()));
}

/// Whether no byte of any input could be read. What stands in the place of an output is then worth more than what would be written.
fn is_void(inputs: &[Input], failures: &[Failure], effort: &Effort) -> bool {
    let n_bytes = effort.watch.as_ref().map_or(0, Watch::bytes);
    !failures.is_empty() && failures.len() == inputs.len() && n_bytes == 0
}

/// Names the inputs that could not be read to their end; those that were stopped by a signal are not worth a line each.
fn complain_of(failures: &[Failure], inputs: &[Input]) {
    for failure in failures.iter().filter(|failure| !failure.is_stop()) {
        let input = inputs.get(failure.input as usize);
        let name = input.map_or("?", Input::name);
        let listed = input.and_then(Input::listed_at).map(|(list, line)| format!("{list}:{line}: "));
        complain(&format!("{}{name}: {}", listed.unwrap_or_default(), failure.error));
        if failure.error.kind() == io::ErrorKind::NotFound
            && let Some(hint) = suggest::on_missing_input(name, &Typed::command())
        {
            complain(&hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
