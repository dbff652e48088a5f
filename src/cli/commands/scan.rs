//! `urlsift [PATH]...`: scans inputs and writes the report.

use std::ffi::OsStr;
use std::io;
use std::time::{Instant, SystemTime};

use crate::partial_report::Settings;
use crate::report::{InputCount, InputWarning, RecordCount, Report, Run, Top, TopOf, grouped};
use crate::run::{ExecOptions, Failure, Reading, scan_records};
use crate::scan::Options;
use clap::Args;
use urlsift_engine::simd::KernelId;
use urlsift_grammar::escape::{Keep, shell_word, text};
use urlsift_grammar::password::masked;
use urlsift_input::progress::Watch;
use urlsift_records::Skip;

use crate::cli::args::count::CountArgs;
use crate::cli::args::format::ReadingArgs;
use crate::cli::args::range::{Asked, PartArgs};
use crate::cli::args::report::{ReportArgs, ReportOutput};
use crate::cli::fail_on::{Gate, gates};
use crate::cli::{
    End, GrammarArgs, InputArgs, advice, complain, complain_of, is_void, kernel, more, warn, warn_of_signs,
    words,
};

#[derive(Args)]
#[allow(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct ScanArgs {
    #[command(flatten)]
    pub(crate) input: InputArgs,

    #[command(flatten)]
    parts: PartArgs,

    #[command(flatten)]
    reading: ReadingArgs,

    #[command(flatten)]
    grammar: GrammarArgs,

    #[command(flatten)]
    count: CountArgs,

    /// Which kernel judges lines [default: the fastest]
    ///
    /// One of portable, avx2, avx2-gfni, avx512 and neon. They use different vector instructions and give the same report.
    /// "urlsift --version" lists the kernels of this machine [default: the fastest of these].
    #[arg(long, value_name = "NAME", value_parser = kernel, hide_short_help = true)]
    kernel: Option<KernelId>,

    /// Read files instead of mapping them into memory
    ///
    /// On Linux, large files on ext2 to ext4, XFS, Btrfs and tmpfs are memory-mapped if they are in the page cache and no process has
    /// them open for writing. A process that then opens such a file for writing, or truncates it, waits up to ten
    /// milliseconds (with O_NONBLOCK it gets an error instead). On a busy machine it may once wait until a suspended thread
    /// continues. Other files are read, and so are all files with --whatwg, --top, --distinct or --lengths, and if there are
    /// more threads than processors.
    #[arg(long, hide_short_help = true)]
    no_mmap: bool,

    /// Exit with 1 if a condition holds: 'refused>1%'
    ///
    /// Separate conditions such as refused, 'refused:rfc1738>0.1%', 'scheme:http>0' and advisory:password by commas, or
    /// repeat the option. One that holds is enough. Each condition that holds is named on standard error.
    ///
    /// A condition is a measure, a comparison (> >= < <= = !=), and a number or a percentage. Without a comparison, it
    /// holds if the count is more than 0.
    ///
    /// The measures refused and accepted count by the grammar of --grammar. A colon chooses another grammar, any (at least
    /// one of the five) or all (each of the five). Other measures are scheme:NAME, relative (no scheme), advisory:NAME,
    /// lines, judged, blank and cr (lines that end in CR). With --whatwg, there are whatwg:valid, whatwg:errors,
    /// whatwg:failure, whatwg:relative and whatwg:hosts-differ.
    ///
    /// Percentages are of the judged lines; for judged, blank and cr, of all lines. If there are no such lines, no
    /// condition on a percentage holds. If too many schemes occur to count them all by name, a condition on a rare scheme
    /// may be undecidable. urlsift then says so and exits with 2.
    #[arg(long, value_name = "CONDITION", value_delimiter = ',', value_parser = gates(), hide_possible_values = true)]
    fail_on: Vec<Gate>,

    /// Let --fail-on pass although no URL was judged
    ///
    /// Without this option, --fail-on exits with 2 if no URL was judged, or if an input has records but no URL.
    #[arg(long, requires = "fail_on", hide_short_help = true)]
    allow_empty: bool,

    #[command(flatten)]
    report: ReportArgs,

    /// Leave out of the report what differs from run to run: date, command, time, threads and kernel
    #[arg(long, hide_short_help = true)]
    reproducible: bool,

    /// Show passwords found in the data instead of ***
    #[arg(long, hide_short_help = true)]
    show_secrets: bool,
}

impl ScanArgs {
    /// The options and paths that select the same URLs for another command. `None` if no words can, as for standard input or
    /// if one of them may hold a password.
    fn selection(&self) -> Option<String> {
        let words = [self.reading.words(), self.input.words()?].concat();
        let shown: Vec<_> = words.iter().map(|word| shown_word(word)).collect();
        words
            .iter()
            .zip(&shown)
            .all(|(word, shown)| shell_word(word.to_str().unwrap_or("")) == *shown)
            .then(|| shown.join(" "))
    }
}

pub(crate) fn run(args: &ScanArgs) -> io::Result<End> {
    let Some(asked) = args.parts.asked(&args.input)? else { return Ok(End::NoInput) };
    let reading = args.reading.reading(args.input.paths.codec)?;
    let mut options = Options { grammar: args.grammar.grammar, ..Options::default() };
    args.count.apply(&mut options)?;
    if let Some(gate) = args.fail_on.iter().find(|gate| gate.needs_whatwg() && options.whatwg.is_none()) {
        return Err(io::Error::other(format!("--fail-on {} needs the option --whatwg; add it", gate.text)));
    }
    let mut exec = args.input.exec();
    exec.kernel = args.kernel.unwrap_or(exec.kernel);
    exec.mmap = !args.no_mmap;
    let output = args.report.open()?;
    output.target.check_is_no_input(&asked.inputs)?;
    options.lengths |= output.shows_lengths();
    if output.is_partial() || asked.are_parts {
        return run_parts(args, &asked.in_order(), &reading, &options, exec, output);
    }
    let inputs = &asked.inputs;
    let (date, start) = (SystemTime::now(), Instant::now());
    let scan = |exec: &ExecOptions| {
        let scanned = scan_records(inputs, &reading, &options, exec);
        let n_read = exec.watch.as_ref().map_or(0, Watch::bytes);
        let mut run = Run::new(start.elapsed(), exec.n_threads(), exec.kernel);
        run.date = Some(humantime::format_rfc3339_seconds(date).to_string());
        run.command = Some(command_line());
        run.selection = args.selection();
        (scanned, run, n_read)
    };
    let ((mut scanned, run, n_read), signal) = args.input.attend(exec, inputs, false, scan);
    Failure::say(&mut scanned.failures, advice::words);
    args.reading.explain(&scanned.records, inputs, true);
    complain_of(&scanned.failures, inputs);
    warn_of_signs(scanned.tally.signs(), inputs);
    let mut report = Report::new(&scanned, inputs, &options, args.show_secrets);
    report.say(advice::command);
    warn_of_bare_hosts(&report, run.selection.as_deref());
    report.run = (!args.reproducible).then_some(run);
    if reading.format.is_none() {
        warn_of_refusals(&report);
    }
    // The signal may have come when all inputs had been read.
    if signal.is_some() {
        // This is no result, and programs that wait for one must not mistake it for one.
        args.report.show(&report);
        let name = output.target.name().display();
        // An unfinished line is in no report, and may be everything that was read.
        let read = if n_read > report.totals.bytes {
            format!(
                "{} bytes had been read, and the report above is of the lines that had ended",
                grouped(n_read)
            )
        } else {
            "the report above is of what had been read".to_owned()
        };
        let sentence = format!("{read}; nothing was written to {name}");
        return Ok(End::stopped(signal, &sentence));
    }
    output.write_scanned(&report, is_void(inputs, &scanned.failures, report.totals.lines))?;
    args.input.tell_speed(start, &report);
    Ok(judged(&report, report.complete, &args.fail_on, args.allow_empty))
}

/// The command line of this process, with masked passwords.
fn command_line() -> String {
    let args = words().iter().skip(1).map(|word| shown_word(word));
    ["urlsift".to_owned()].into_iter().chain(args).collect::<Vec<_>>().join(" ")
}

/// A word of a command line, quoted for a shell, with masked passwords.
fn shown_word(word: &OsStr) -> String {
    shell_word(&text(&masked(word.as_encoded_bytes()), Keep::Visible))
}

/// Scans parts of inputs, or writes a partial report.
fn run_parts(
    args: &ScanArgs,
    asked: &Asked,
    reading: &Reading,
    options: &Options,
    exec: ExecOptions,
    output: ReportOutput,
) -> io::Result<End> {
    if output.is_partial() && !args.fail_on.is_empty() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "--fail-on cannot check a partial report, which counts only a part of the lines",
        ));
    }
    let settings = Settings::new(options, reading, args.input.paths.codec, args.show_secrets)
        .with_program(args.input.pre.as_deref());
    let start = Instant::now();
    let scan = |exec: &ExecOptions| asked.scan(&settings, reading, options, exec);
    let (found, signal) = args.input.attend(exec, &asked.inputs, false, scan);
    let (partial, ends) = found?;
    let failures = &ends.failures;
    args.reading.explain(&ends.records, &asked.inputs, true);
    warn_of_signs(ends.signs.into_iter(), &asked.inputs);
    complain_of(failures, &asked.inputs);
    if signal.is_some() {
        return Ok(End::stopped(
            signal,
            &format!("nothing was written to {}", output.target.name().display()),
        ));
    }
    let Some(partial) = partial else { return Ok(End::NoInput) };
    if output.is_partial() {
        output.write_partial(&partial)?;
        return Ok(if failures.is_empty() { End::Done } else { End::Incomplete });
    }
    let mut report = partial.report();
    report.say(advice::command);
    if failures.is_empty() && report.totals.lines == 0 {
        warn("no line begins in the range");
    }
    if reading.format.is_none() {
        warn_of_refusals(&report);
    }
    output.write_scanned(&report, is_void(&asked.inputs, failures, report.totals.lines))?;
    args.input.tell_speed(start, &report);
    Ok(judged(&report, failures.is_empty(), &args.fail_on, args.allow_empty))
}

/// Warns if RFC 3986 accepts hardly any line of an input and nothing else was said about it.
fn warn_of_refusals(report: &Report) {
    let is_odd = |input: &&InputCount| {
        input.warnings.contains(&InputWarning::FewAccepted)
            && input.looks_like.is_none()
            && input.error.is_none()
    };
    let odd: Vec<_> = report.inputs.iter().filter(is_odd).collect();
    if let Some(first) = odd.first() {
        let others = match odd.len() - 1 {
            0 => String::new(),
            n => format!(" (and {})", more(n, "input")),
        };
        let advice = "if it is no list of URLs, --input-format says what it is";
        warn(&format!("{}: rfc3986 accepts hardly any line{others}; {advice}", first.name));
    }
}

/// Says why a list of frequent hosts is empty if most lines have no scheme, and which command counts bare hosts.
fn warn_of_bare_hosts(report: &Report, selection: Option<&str>) {
    let (n_bare, judged) = (report.relative.lines, report.totals.judged);
    let of_hosts = [TopOf::Hosts, TopOf::Tlds, TopOf::Domains, TopOf::Suffixes];
    let of_empty = |top: &Top| (top.entries.is_empty() && of_hosts.contains(&top.of)).then_some(top.of);
    // The lines of a table or a log are no hosts: another warning says what they look like.
    let are_plain = report.inputs.iter().all(|input| input.looks_like.is_none());
    let n_taken = report.relative.accepted.by(report.grammar);
    if let Some(of) = report.top.iter().find_map(of_empty)
        && n_taken * 2 > judged
        && are_plain
    {
        let why = format!("lines without a scheme have no host: {} of {}", grouped(n_bare), grouped(judged));
        let lines = format!("urlsift lines -c text {}", selection.unwrap_or("FILE"));
        warn(&format!(
            "{why}; if they are hosts themselves: {lines} | sed 's,^,http://,' | urlsift --top {of}"
        ));
    }
}

/// Decides how a complete or incomplete scan ends. Names the conditions that hold; an incomplete scan checks none.
fn judged(report: &Report, is_all: bool, gates: &[Gate], allow_empty: bool) -> End {
    if !is_all {
        if !gates.is_empty() {
            complain("--fail-on was not looked at, since not all could be read");
        }
        return End::Incomplete;
    }
    let mut end = End::Done;
    for gate in gates {
        match gate.check(report) {
            Ok(None) => {}
            Ok(Some(sentence)) => {
                end = End::Crossed;
                complain(&sentence);
            }
            Err(sentence) => {
                if !matches!(end, End::Crossed) {
                    end = End::Untold;
                }
                complain(&sentence);
            }
        }
    }
    if matches!(end, End::Done)
        && !gates.is_empty()
        && !allow_empty
        && let Some(what) = empty(report)
    {
        complain(&format!("--fail-on did not pass, because {what}; --allow-empty lets it pass"));
        end = End::Untold;
    }
    end
}

/// What is empty, if no URL was judged or an input has records but no URL.
fn empty(report: &Report) -> Option<String> {
    if report.totals.judged == 0 {
        return Some("no URL was judged".to_owned());
    }
    let has_records = |records: &RecordCount| {
        let skipped = records.skipped.iter().filter(|skipped| skipped.reason == Skip::NoField);
        records.read > 0 || records.n_refused() > 0 || skipped.map(|skipped| skipped.records).any(|n| n > 0)
    };
    let is_empty =
        |input: &&InputCount| input.judged.lines == 0 && input.records.as_deref().is_some_and(has_records);
    let empty: Vec<_> = report.inputs.iter().filter(is_empty).collect();
    let (first, others) = empty.split_first()?;
    Some(match others.len() {
        0 => format!("{} has records, but no URL", first.name),
        n => format!("{} and {} have records, but no URL", first.name, more(n, "input")),
    })
}
