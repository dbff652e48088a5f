//! Generates test data: lists of URLs of any size, and hostile inputs.
//!
//! `mkcorpus LIST... --size 1G --seed 7` draws lines from the lists in the proportions of their schemes. It changes most of
//! them a little, damages a chosen share, and writes as many bytes as asked. Repeating a list would flatter a scanner: its
//! branches would be predictable, and its hosts would stay in the cache. A generated list keeps the schemes, lengths and
//! components of real lines, but nearly every line is new.
//!
//! `mkcorpus --hostile DIR` writes small handmade inputs. Each one tests a single assumption.
//!
//! All random numbers come from one seeded generator ([`Rng`]). Shares are whole parts per million, and pools are sorted.
//! The same lists, options and seed therefore give the same bytes on every machine.
//!
//! The file has this order: command line, writing loop, [`Grower`] with its changes, damages, the cutting of lines,
//! [`Rng`], and the hostile inputs. The hostile inputs share little but [`Rng`] with the rest.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::net::Ipv6Addr;
use std::path::Path;
use std::process::ExitCode;

const HELP: &str = "\
Grow lists of URLs to a given size by seeded sampling and small changes.

Usage: mkcorpus LIST... --size SIZE [OPTIONS]
       mkcorpus --hostile DIR

LIST is a newline-delimited file, or - for standard input (zstd -dc list.zst | mkcorpus - ...).

      --size SIZE         bytes to write, up to a whole line: 64K, 100M, 1G (thousands) or 64Ki, 100Mi, 1Gi
      --seed N            seed of everything random [default: 1]
      --damage SHARE      share of damaged lines, 0 to 1 [default: 0.01]
      --kinds K,K,...     damages to choose from [default: all]
      --verbatim SHARE    share of lines taken as they are; 1 is sampling alone [default: 0.2]
      --long SHARE        share of very long lines [default: 0]
      --long-bytes N      length of the query put into a long line [default: 65536]
      --utf8 SHARE        share of intact lines with a raw UTF-8 path segment [default: 0]
      --clean             leave out source lines that are no plain RFC 3986 references
      --eol KIND          lf, crlf, crcrlf or mixed [default: lf]
      --crlf              the same as --eol crlf
      --bom               begin with a UTF-8 byte order mark
      --no-final-eol      leave the last line without its terminator
      --labels FILE       write one byte a line that says what was done to it
  -o, --output FILE       where to write, - for standard output [default: -]
      --quiet             no summary on standard error
      --hostile DIR       write the hostile inputs and their README into DIR, and nothing else
  -h, --help              this text

Intact lines, with their labels:
  verbatim  v  as it came                      recombine r  authority of one line, path and query of another
  port      p  a port added                    case      c  letter case of the scheme changed
  query     q  key=value pairs added           segment   s  a numbered path segment put in
  fragment  f  a fragment added or replaced    long      l  a query of --long-bytes bytes added
  utf8      w  a raw UTF-8 path segment put in

Damages, one a line, with their labels:
  illegal   I  one of \" < > \\ ^ ` { | } put in    ctl       C  a control byte put in
  utf8      N  a raw UTF-8 character put in       badutf8   U  a byte sequence put in that is not UTF-8
  badpct    P  a broken escape put in             badport   T  a port that is no port
  nohost    H  the host taken away                space     S  a blank or tab before, after or inside
  bracket   B  a wrong or unbalanced IP literal   scheme    M  a scheme that is none
  trunc     X  cut short                          empty     E  an empty line

With --clean every intact line but w is accepted by RFC 3986. Lines labelled I C N U P S B M never are;
T H X E may be, as in \":99999\", \"http:///a\" or \"htt\". A damage that does not fit its line (no authority,
no scheme) is done as \"illegal\" and labelled so; a change that does not fit is done as \"recombine\".

Exit status: 0 done, or the reader of a pipe went away; 2 usage or input/output error.
";

fn main() -> ExitCode {
    match run(std::env::args().skip(1)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("mkcorpus: {message}");
            ExitCode::from(2)
        }
    }
}

/// Runs the command line. The error is a sentence for standard error.
fn run(words: impl Iterator<Item = String>) -> Result<(), String> {
    let options = Options::parse(words)?;
    if options.help {
        return match io::stdout().write_all(HELP.as_bytes()) {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
            _ => Ok(()),
        };
    }
    if let Some(dir) = &options.hostile {
        return write_hostile(Path::new(dir));
    }
    let texts = options.lists.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
    let lines = texts.iter().flat_map(|text| lines_of(text)).filter(|line| !options.clean || is_plain(line));
    let grower = Grower::new(lines, &options);
    if grower.lines.is_empty() {
        return Err("no lines to grow from".into());
    }
    grow(grower, &options)
}

// ---- command line -----------------------------------------------------------------------------------------

/// The whole, in the unit of all shares: parts per million.
const WHOLE: u64 = 1_000_000;

/// The parsed command line. Shares are parts per million.
struct Options {
    lists: Vec<String>,
    size: u64,
    seed: u64,
    damage: u64,
    kinds: Vec<Damage>,
    verbatim: u64,
    long: u64,
    long_bytes: usize,
    utf8: u64,
    eol: Eol,
    flags: Flags,
    labels: Option<String>,
    output: String,
    hostile: Option<String>,
    help: bool,
    clean: bool,
}

/// Options of the writing loop.
#[derive(Default)]
struct Flags {
    bom: bool,
    no_final_eol: bool,
    quiet: bool,
}

/// How lines end.
#[derive(Clone, Copy)]
enum Eol {
    Lf,
    CrLf,
    CrCrLf,
    /// LF and CR LF with equal probability.
    Mixed,
}

impl Options {
    fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut options = Self {
            lists: Vec::new(),
            size: 0,
            seed: 1,
            damage: WHOLE / 100,
            kinds: DAMAGES.iter().map(|&(kind, _)| kind).collect(),
            verbatim: WHOLE / 5,
            long: 0,
            long_bytes: 1 << 16,
            utf8: 0,
            eol: Eol::Lf,
            flags: Flags::default(),
            labels: None,
            output: "-".into(),
            hostile: None,
            help: false,
            clean: false,
        };
        let mut only_lists = false;
        while let Some(word) = words.next() {
            if only_lists || word == "-" || !word.starts_with('-') {
                options.lists.push(word);
            } else if word == "--" {
                only_lists = true;
            } else {
                options.set(word, &mut words)?;
            }
        }
        options.check()?;
        Ok(options)
    }

    /// Parses one flag and its value, if it takes one (`--size 1G` or `--size=1G`).
    fn set(&mut self, word: String, words: &mut impl Iterator<Item = String>) -> Result<(), String> {
        let (flag, mut inline) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        let mut value = || {
            let value = inline.take().or_else(|| words.next());
            value.ok_or_else(|| format!("{flag} needs a value (see --help)"))
        };
        match flag.as_str() {
            "--size" => self.size = parse_size(&value()?)?,
            "--seed" => self.seed = parse_number(&flag, &value()?)?,
            "--damage" => self.damage = parse_share(&flag, &value()?)?,
            "--kinds" => self.kinds = value()?.split(',').map(parse_kind).collect::<Result<_, _>>()?,
            "--verbatim" => self.verbatim = parse_share(&flag, &value()?)?,
            "--long" => self.long = parse_share(&flag, &value()?)?,
            "--long-bytes" => self.long_bytes = parse_number(&flag, &value()?)?,
            "--utf8" => self.utf8 = parse_share(&flag, &value()?)?,
            "--eol" => self.eol = parse_eol(&value()?)?,
            "--labels" => self.labels = Some(value()?),
            "-o" | "--output" => self.output = value()?,
            "--hostile" => self.hostile = Some(value()?),
            "--crlf" => self.eol = Eol::CrLf,
            "--clean" => self.clean = true,
            "--bom" => self.flags.bom = true,
            "--no-final-eol" => self.flags.no_final_eol = true,
            "--quiet" => self.flags.quiet = true,
            "-h" | "--help" => self.help = true,
            _ => return Err(format!("unknown option {flag} (see --help)")),
        }
        match inline {
            Some(value) => Err(format!("{flag} takes no value, found {value:?}")),
            None => Ok(()),
        }
    }

    fn check(&self) -> Result<(), String> {
        if self.help {
            Ok(())
        } else if self.hostile.is_some() {
            if self.lists.is_empty() { Ok(()) } else { Err("--hostile takes no lists".into()) }
        } else if self.lists.is_empty() {
            Err("no list given (see --help)".into())
        } else if self.size == 0 {
            Err("--size is needed, and more than 0 (see --help)".into())
        } else if self.long + self.utf8 > WHOLE {
            Err("--long and --utf8 together are more than 1".into())
        } else {
            Ok(())
        }
    }
}

fn parse_number<N: std::str::FromStr>(flag: &str, text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{flag}: {text:?} is no whole number, or too large"))
}

/// Parses a decimal share digit by digit, so that no rounding depends on the machine.
fn parse_share(flag: &str, text: &str) -> Result<u64, String> {
    let wrong = || format!("{flag}: {text:?} is no share from 0 to 1 with at most six decimals");
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + decimals.len() == 0 || decimals.len() > 6 || !digits(whole) || !digits(decimals) {
        return Err(wrong());
    }
    let share = format!("{whole}{decimals:0<6}").parse().map_err(|_| wrong())?;
    if share > WHOLE { Err(wrong()) } else { Ok(share) }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let cut = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(cut);
    let factor = match unit {
        "" => Some(1),
        "K" => Some(1000),
        "M" => Some(1_000_000),
        "G" => Some(1_000_000_000),
        "Ki" => Some(1 << 10),
        "Mi" => Some(1 << 20),
        "Gi" => Some(1 << 30),
        _ => None,
    };
    let size = number.parse::<u64>().ok().zip(factor).and_then(|(number, factor)| number.checked_mul(factor));
    size.ok_or_else(|| format!("--size: {text:?} is no size such as 64K, 100M or 1Gi"))
}

fn parse_kind(name: &str) -> Result<Damage, String> {
    match DAMAGES.iter().find(|(_, known)| *known == name) {
        Some(&(kind, _)) => Ok(kind),
        None => Err(format!("--kinds: unknown damage {name:?} (see --help)")),
    }
}

fn parse_eol(name: &str) -> Result<Eol, String> {
    match name {
        "lf" => Ok(Eol::Lf),
        "crlf" => Ok(Eol::CrLf),
        "crcrlf" => Ok(Eol::CrCrLf),
        "mixed" => Ok(Eol::Mixed),
        _ => Err(format!("--eol: {name:?} is none of lf, crlf, crcrlf, mixed")),
    }
}

// ---- reading and writing ----------------------------------------------------------------------------------

fn load(path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| format!("{path}: {error}"))?;
    match &bytes[..] {
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(format!("{path}: is zstd data, use: zstd -dc {path} | mkcorpus -"))
        }
        [0x1f, 0x8b, ..] => Err(format!("{path}: is gzip data, use: gzip -dc {path} | mkcorpus -")),
        _ => Ok(bytes),
    }
}

/// The lines of a list, without byte order mark, terminators (LF with all CRs before it) and blank lines.
fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let text = text.strip_prefix(BOM).unwrap_or(text);
    text.split(|&byte| byte == b'\n').map(trim_crs).filter(|line| !line.is_empty())
}

fn trim_crs(line: &[u8]) -> &[u8] {
    let end = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
    &line[..end]
}

/// Writes lines until the size is reached. Ends without an error if the reader closes the pipe.
fn grow(mut grower: Grower, options: &Options) -> Result<(), String> {
    let mut counts = [0; 128];
    let written = match emit(&mut grower, options, &mut counts) {
        Err(Failure::Reader) => return Ok(()),
        Err(Failure::Other(message)) => return Err(message),
        Ok(written) => written,
    };
    if !options.flags.quiet {
        eprint!("{}", summary(&grower, written, &counts));
    }
    Ok(())
}

/// Why writing stopped early.
enum Failure {
    /// The reading end of the pipe is closed.
    Reader,
    Other(String),
}

impl Failure {
    fn new(path: &str, error: &io::Error) -> Self {
        if error.kind() == ErrorKind::BrokenPipe {
            Self::Reader
        } else {
            Self::Other(format!("{path}: {error}"))
        }
    }
}

/// A buffered file or standard output, and its path for messages.
struct Sink<'a> {
    path: &'a str,
    to: BufWriter<Box<dyn Write>>,
}

impl<'a> Sink<'a> {
    fn open(path: &'a str) -> Result<Self, Failure> {
        let to: Box<dyn Write> = if path == "-" {
            Box::new(io::stdout())
        } else {
            Box::new(File::create(path).map_err(|error| Failure::new(path, &error))?)
        };
        Ok(Self { path, to: BufWriter::with_capacity(1 << 20, to) })
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.to.write_all(bytes).map_err(|error| Failure::new(self.path, &error))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.to.flush().map_err(|error| Failure::new(self.path, &error))
    }
}

/// Writes the corpus, counts lines by label, and returns the number of bytes.
fn emit(grower: &mut Grower, options: &Options, counts: &mut [u64; 128]) -> Result<u64, Failure> {
    let mut sink = Sink::open(&options.output)?;
    let mut labels = options.labels.as_deref().map(Sink::open).transpose()?;
    let mut written = 0;
    if options.flags.bom {
        sink.put(BOM)?;
        written += BOM.len() as u64;
    }
    let mut line = Vec::new();
    while written < options.size {
        line.clear();
        let label = grower.next_line(&mut line);
        counts[usize::from(label)] += 1;
        if let Some(labels) = &mut labels {
            labels.put(&[label])?;
        }
        let bare = written + line.len() as u64;
        let end = grower.end_of_line(options.eol);
        written = bare + end.len() as u64;
        if written >= options.size && options.flags.no_final_eol {
            written = bare;
            sink.put(&line)?;
            break;
        }
        line.extend_from_slice(end);
        sink.put(&line)?;
    }
    sink.finish()?;
    labels.map_or(Ok(()), Sink::finish)?;
    Ok(written)
}

/// A summary of what was generated, for standard error.
fn summary(grower: &Grower, written: u64, counts: &[u64; 128]) -> String {
    let mut text = format!("{written} bytes, {} lines", counts.iter().sum::<u64>());
    _ = writeln!(text, " from {} lines in {} pools", grower.lines.len(), grower.pools.len());
    let intact = CHANGES.iter().map(|&(change, name)| (change as u8, name));
    let damaged = DAMAGES.iter().map(|&(damage, name)| (damage as u8, name));
    for (label, name) in intact.chain(damaged) {
        let count = counts[usize::from(label)];
        if count > 0 {
            _ = writeln!(text, "  {} {name:<10} {count}", char::from(label));
        }
    }
    text
}

// ---- generating -------------------------------------------------------------------------------------------

/// A change that keeps a line intact. Its value is the line's label.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Change {
    Verbatim = b'v',
    Recombine = b'r',
    Port = b'p',
    Case = b'c',
    Query = b'q',
    Segment = b's',
    Fragment = b'f',
    Long = b'l',
    Utf8 = b'w',
}

const CHANGES: [(Change, &str); 9] = [
    (Change::Verbatim, "verbatim"),
    (Change::Recombine, "recombine"),
    (Change::Port, "port"),
    (Change::Case, "case"),
    (Change::Query, "query"),
    (Change::Segment, "segment"),
    (Change::Fragment, "fragment"),
    (Change::Long, "long"),
    (Change::Utf8, "utf8"),
];

/// The relative weights of the changes, for lines that `--verbatim` does not keep.
const WEIGHTS: [(Change, u64); 6] = [
    (Change::Recombine, 30),
    (Change::Query, 26),
    (Change::Segment, 15),
    (Change::Port, 4),
    (Change::Fragment, 3),
    (Change::Case, 2),
];

/// Non-ASCII words in UTF-8, with one to four bytes per character, written from left to right and from right to left.
const WORDS_UTF8: [&str; 12] =
    ["é", "ß", "ñ", "Ω", "ж", "\u{641}", "語", "한", "🙂", "日本", "привет", "münchen"];

/// Query keys in addition to those found in the lists.
const KEYS: [&[u8]; 8] = [b"id", b"q", b"page", b"ref", b"utm_source", b"lang", b"v", b"s"];

/// Source lines that can exchange their tails. The flags say what can be added to them without changing their kind: a
/// telnet URL has no path, and a mailto URL no port.
struct Pool {
    /// The start of the pool in `Grower::lines`.
    from: usize,
    len: usize,
    query: bool,
    segment: bool,
    fragment: bool,
}

/// Draws source lines, changes them and damages some.
struct Grower<'a> {
    rng: Rng,
    lines: Vec<Line<'a>>,
    pools: Vec<Pool>,
    /// Prepared query strings, such as `key=value&key=value`.
    pairs: Vec<Vec<u8>>,
    /// A counter that makes changed lines distinct.
    serial: u64,
    damage: u64,
    kinds: Vec<Damage>,
    verbatim: u64,
    long: u64,
    long_bytes: usize,
    utf8: u64,
}

impl<'a> Grower<'a> {
    fn new(source: impl Iterator<Item = &'a [u8]>, options: &Options) -> Self {
        let mut groups: BTreeMap<(Vec<u8>, Shape), Vec<Line>> = BTreeMap::new();
        for line in source.map(Line::cut) {
            groups.entry((line.scheme().to_ascii_lowercase(), line.shape)).or_default().push(line);
        }
        let (mut lines, mut pools) = (Vec::new(), Vec::new());
        for ((scheme, shape), members) in groups {
            let web = matches!(&scheme[..], b"http:" | b"https:");
            let web_socket = matches!(&scheme[..], b"ws:" | b"wss:");
            let authority = shape == Shape::Authority;
            pools.push(Pool {
                from: lines.len(),
                len: members.len(),
                query: authority && (web || web_socket)
                    || matches!(shape, Shape::Net | Shape::Abs | Shape::Rel),
                segment: authority && !is_pathless(&scheme),
                fragment: authority && web,
            });
            let pool = pools.len() - 1;
            lines.extend(members.into_iter().map(|line| Line { pool, ..line }));
        }
        let mut rng = Rng::new(options.seed);
        let pairs = make_pairs(&mut rng, &lines);
        Self {
            rng,
            lines,
            pools,
            pairs,
            serial: 0,
            damage: options.damage,
            kinds: options.kinds.clone(),
            verbatim: options.verbatim,
            long: options.long,
            long_bytes: options.long_bytes,
            utf8: options.utf8,
        }
    }

    /// Appends the next line to `out` without a terminator. Returns its label.
    fn next_line(&mut self, out: &mut Vec<u8>) -> u8 {
        let change = self.draw_change();
        let line = self.rng.pick(&self.lines);
        let change = self.apply(change, line, out);
        if self.rng.chance(self.damage) {
            let kind = self.rng.pick(&self.kinds);
            return kind.apply(&mut self.rng, out) as u8;
        }
        change as u8
    }

    fn end_of_line(&mut self, eol: Eol) -> &'static [u8] {
        match eol {
            Eol::CrLf => b"\r\n",
            Eol::CrCrLf => b"\r\r\n",
            Eol::Mixed if self.rng.chance(WHOLE / 2) => b"\r\n",
            Eol::Lf | Eol::Mixed => b"\n",
        }
    }

    fn draw_change(&mut self) -> Change {
        let at = self.rng.share();
        if at < self.long + self.utf8 {
            return if at < self.long { Change::Long } else { Change::Utf8 };
        }
        if self.rng.chance(self.verbatim) {
            return Change::Verbatim;
        }
        let total = WEIGHTS.iter().map(|&(_, weight)| weight).sum();
        let mut at = self.rng.below_u64(total);
        for (change, weight) in WEIGHTS {
            if at < weight {
                return change;
            }
            at -= weight;
        }
        Change::Recombine
    }

    /// Appends the changed line to `out`. Returns the change, which is `Recombine` if the requested one does not fit the
    /// line. The head of the line stays, so that schemes keep their shares. Its tail comes from any line of the pool.
    fn apply(&mut self, change: Change, line: Line, out: &mut Vec<u8>) -> Change {
        let pool = &self.pools[line.pool];
        let fits = match change {
            Change::Verbatim | Change::Recombine => true,
            Change::Port => line.takes_port,
            Change::Case => line.scheme_len > 0,
            Change::Query | Change::Long => pool.query,
            Change::Segment | Change::Utf8 => pool.segment,
            Change::Fragment => pool.fragment,
        };
        let change = if fits { change } else { Change::Recombine };
        out.extend_from_slice(line.head());
        if change == Change::Verbatim {
            out.extend_from_slice(line.tail());
            return change;
        }
        let donor = pool.from + self.rng.below(pool.len);
        let tail = self.lines[donor].tail();
        match change {
            Change::Port => {
                self.push_port(out);
                push_path(out, tail);
            }
            Change::Case => {
                flip_case(&mut self.rng, &mut out[..line.scheme_len]);
                out.extend_from_slice(tail);
            }
            Change::Query => {
                push_before_query(out, tail);
                out.extend_from_slice(&self.pairs[self.rng.below(self.pairs.len())]);
                out.extend_from_slice(b"&n=");
                self.push_serial(out);
            }
            Change::Segment => {
                out.push(b'/');
                self.push_serial(out);
                push_path(out, tail);
            }
            Change::Utf8 => {
                out.push(b'/');
                out.extend_from_slice(self.rng.pick(&WORDS_UTF8).as_bytes());
                out.push(b'-');
                self.push_serial(out);
                push_path(out, tail);
            }
            Change::Fragment => {
                push_path(out, without_fragment(tail));
                out.extend_from_slice(b"#s");
                self.push_serial(out);
            }
            Change::Long => {
                push_before_query(out, tail);
                self.push_long_query(out);
            }
            Change::Recombine | Change::Verbatim => out.extend_from_slice(tail),
        }
        change
    }

    fn push_port(&mut self, out: &mut Vec<u8>) {
        let port = match self.rng.below(6) {
            0 => 80,
            1 => 443,
            2 => 8000,
            3 => 8080,
            4 => 8443,
            _ => 1 + self.rng.below_u64(65_535),
        };
        _ = write!(out, ":{port}");
    }

    fn push_serial(&mut self, out: &mut Vec<u8>) {
        _ = write!(out, "{:x}", self.serial);
        self.serial += 1;
    }

    /// Appends query pairs of exactly `long_bytes` bytes. No escape is cut at the end.
    fn push_long_query(&mut self, out: &mut Vec<u8>) {
        let from = out.len();
        let end = from + self.long_bytes;
        while out.len() < end {
            out.extend_from_slice(&self.pairs[self.rng.below(self.pairs.len())]);
            out.push(b'&');
        }
        out.truncate(end);
        let safe = end.saturating_sub(2).max(from);
        for byte in &mut out[safe..] {
            if *byte == b'%' {
                *byte = b'n';
            }
        }
    }
}

/// Schemes whose URLs end after the authority, or have no hierarchical path.
fn is_pathless(scheme: &[u8]) -> bool {
    const PATHLESS: [&[u8]; 8] =
        [b"telnet:", b"nntp:", b"wais:", b"udp:", b"irc:", b"ldap:", b"rlogin:", b"tn3270:"];
    PATHLESS.contains(&scheme)
}

/// Appends a tail, preceded by a slash if it does not begin with one.
fn push_path(out: &mut Vec<u8>, tail: &[u8]) {
    if tail.first() != Some(&b'/') {
        out.push(b'/');
    }
    out.extend_from_slice(tail);
}

/// Appends a tail without its fragment, then `?` or `&`, so that a query pair can follow.
fn push_before_query(out: &mut Vec<u8>, tail: &[u8]) {
    let tail = without_fragment(tail);
    if tail.is_empty() {
        out.push(b'/');
    }
    out.extend_from_slice(tail);
    out.push(if tail.contains(&b'?') { b'&' } else { b'?' });
}

fn without_fragment(tail: &[u8]) -> &[u8] {
    tail.split(|&byte| byte == b'#').next().unwrap_or(tail)
}

/// Flips the letter case of the first letter, of all letters, or of every second one. The scheme always changes.
fn flip_case(rng: &mut Rng, scheme: &mut [u8]) {
    let (step, count) = rng.pick(&[(1, 1), (1, scheme.len()), (2, scheme.len())]);
    for byte in scheme.iter_mut().step_by(step).take(count).filter(|byte| byte.is_ascii_alphabetic()) {
        *byte ^= 0x20;
    }
}

/// Generates query strings, with keys from the lists, and values with some escapes and some nested URLs.
fn make_pairs(rng: &mut Rng, lines: &[Line]) -> Vec<Vec<u8>> {
    let keys = find_keys(lines);
    (0..8192)
        .map(|_| {
            let mut text = Vec::new();
            for count in 0..=rng.below(4) * rng.below(2) {
                if count > 0 {
                    text.push(b'&');
                }
                text.extend_from_slice(rng.pick(&keys));
                text.push(b'=');
                push_value(rng, &mut text);
            }
            text
        })
        .collect()
}

/// At most 300 query keys from the lists, in order of occurrence, followed by those of [`KEYS`].
fn find_keys<'a>(lines: &[Line<'a>]) -> Vec<&'a [u8]> {
    let mut keys: Vec<&[u8]> = Vec::new();
    for line in lines.iter().step_by(lines.len().div_ceil(20_000).max(1)) {
        for field in line.text.split(|&byte| byte == b'?' || byte == b'&').skip(1) {
            let Some(end) = field.iter().position(|&byte| byte == b'=') else { continue };
            let key = &field[..end];
            let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
            if (1..=16).contains(&end) && key.iter().all(plain) && !keys.contains(&key) && keys.len() < 300 {
                keys.push(key);
            }
        }
    }
    keys.extend(KEYS);
    keys
}

fn push_value(rng: &mut Rng, text: &mut Vec<u8>) {
    match rng.below(100) {
        0 => text.extend_from_slice(b"http%3A%2F%2F"),
        1 => text.extend_from_slice(b"http://"),
        _ => {
            push_word(rng, text);
            if rng.chance(WHOLE / 8) {
                _ = write!(text, "%{:02X}", 32 + rng.below(95));
                push_word(rng, text);
            }
            return;
        }
    }
    push_word(rng, text);
    text.extend_from_slice(b".example/?x");
}

fn push_word(rng: &mut Rng, text: &mut Vec<u8>) {
    for _ in 0..=rng.below(13) {
        text.push(rng.pick(b"abcdefghijklmnopqrstuvwxyz0123456789-_."));
    }
}

// ---- damaging ---------------------------------------------------------------------------------------------

/// A kind of damage to a line. Its value is the line's label.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Damage {
    Illegal = b'I',
    Control = b'C',
    Utf8 = b'N',
    BadUtf8 = b'U',
    BadEscape = b'P',
    BadPort = b'T',
    NoHost = b'H',
    Space = b'S',
    Bracket = b'B',
    Scheme = b'M',
    Truncate = b'X',
    Empty = b'E',
}

const DAMAGES: [(Damage, &str); 12] = [
    (Damage::Illegal, "illegal"),
    (Damage::Control, "ctl"),
    (Damage::Utf8, "utf8"),
    (Damage::BadUtf8, "badutf8"),
    (Damage::BadEscape, "badpct"),
    (Damage::BadPort, "badport"),
    (Damage::NoHost, "nohost"),
    (Damage::Space, "space"),
    (Damage::Bracket, "bracket"),
    (Damage::Scheme, "scheme"),
    (Damage::Truncate, "trunc"),
    (Damage::Empty, "empty"),
];

const ILLEGALS: [&str; 9] = ["\"", "<", ">", "\\", "^", "`", "{", "|", "}"];
const CONTROLS: [&str; 9] = ["\0", "\x01", "\x07", "\x08", "\x0b", "\x0c", "\x1b", "\x1f", "\x7f"];
const BAD_UTF8: [&[u8]; 8] =
    [b"\xff", b"\xc3", b"\xe2\x82", b"\x80", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8"];
const BAD_ESCAPES: [&[u8]; 6] = [b"%zz", b"%%20", b"%2g", b"%g2", b"%u0041", b"%-1"];
const CUT_ESCAPES: [&[u8]; 2] = [b"%", b"%4"];
const BAD_PORTS: [&[u8]; 8] = [b":99999", b":65536", b":-1", b":80a", b"::80", b":0x50", b":8 0", b":%38"];
const NO_HOSTS: [&[u8]; 6] = [b"//", b"//:80", b"//user@", b"//@", b"", b"/"];
const BAD_LITERALS: [&[u8]; 9] = [
    b"//[::1",
    b"//::1]",
    b"//[::g]",
    b"//[1:2:3]",
    b"//[]",
    b"//[::1]x",
    b"//[v1.]",
    b"//[192.0.2.1]",
    b"//[12345::]",
];

impl Damage {
    /// Damages the line. Returns the damage, which is `Illegal` if the requested one does not fit the line.
    fn apply(self, rng: &mut Rng, line: &mut Vec<u8>) -> Self {
        let scheme_len = scheme_len(line);
        let authority = authority_len(&line[scheme_len..]);
        let authority = (scheme_len > 0 && authority > 0).then_some(scheme_len..scheme_len + authority);
        match (self, authority) {
            (Self::Control, _) => insert_one(rng, line, &CONTROLS),
            (Self::Utf8, _) => insert_one(rng, line, &WORDS_UTF8),
            (Self::BadUtf8, _) => insert_one(rng, line, &BAD_UTF8),
            (Self::BadEscape, _) if rng.below(7) == 0 => line.extend_from_slice(rng.pick(&CUT_ESCAPES)),
            (Self::BadEscape, _) => insert_one(rng, line, &BAD_ESCAPES),
            (Self::BadPort, Some(at)) => {
                let end = at.start + without_port(&line[at.clone()]).len();
                splice(line, end..at.end, rng.pick(&BAD_PORTS));
            }
            (Self::NoHost, Some(at)) => replace_authority(line, at, rng.pick(&NO_HOSTS)),
            (Self::Bracket, Some(at)) => replace_authority(line, at, rng.pick(&BAD_LITERALS)),
            (Self::Space, _) => put_blank(rng, line),
            (Self::Scheme, _) if scheme_len > 0 => {
                let scheme = bad_scheme(rng, &line[..scheme_len - 1]);
                splice(line, 0..scheme_len, &scheme);
            }
            (Self::Truncate, _) => {
                let len = 1 + rng.below(line.len().clamp(1, 12));
                line.truncate(len);
            }
            (Self::Empty, _) => line.clear(),
            (Self::Illegal | Self::BadPort | Self::NoHost | Self::Bracket | Self::Scheme, _) => {
                insert_one(rng, line, &ILLEGALS);
                return Self::Illegal;
            }
        }
        self
    }
}

fn splice(line: &mut Vec<u8>, at: std::ops::Range<usize>, bytes: &[u8]) {
    line.splice(at, bytes.iter().copied());
}

/// Inserts one of the items after the scheme, but not inside an escape, which would be another kind of damage.
fn insert_one<T: AsRef<[u8]> + Copy>(rng: &mut Rng, line: &mut Vec<u8>, items: &[T]) {
    let at = place(rng, line);
    splice(line, at..at, rng.pick(items).as_ref());
}

fn place(rng: &mut Rng, line: &[u8]) -> usize {
    let from = scheme_len(line);
    let mut at = from + rng.below(line.len() - from + 1);
    while at < line.len() && line[at.saturating_sub(2)..at].contains(&b'%') {
        at += 1;
    }
    at
}

fn replace_authority(line: &mut Vec<u8>, at: std::ops::Range<usize>, with: &[u8]) {
    let bare = at.end == line.len();
    splice(line, at, with);
    if bare {
        line.push(b'/');
    }
}

/// Inserts white space at the start, at the end, or (in half of all cases) inside.
fn put_blank(rng: &mut Rng, line: &mut Vec<u8>) {
    let blank = rng.pick(&[" ", " ", "\t", "  "]);
    let at = match rng.below(4) {
        0 => 0,
        1 => line.len(),
        _ => place(rng, line),
    };
    splice(line, at..at, blank.as_bytes());
}

/// A prefix with a colon that RFC 3986 accepts neither as a scheme nor in a relative path.
fn bad_scheme(rng: &mut Rng, name: &[u8]) -> Vec<u8> {
    let (first, rest) = name.split_at(1);
    match rng.below(8) {
        0 => [b"1", name, b":"].concat(),
        1 => [name, b"!:"].concat(),
        2 => b":".to_vec(),
        3 => [first, b" ", rest, b":"].concat(),
        4 => [first, b"%74", rest, b":"].concat(),
        5 => [b"-", name, b":"].concat(),
        6 => b"+:".to_vec(),
        _ => [name, b"_x:"].concat(),
    }
}

// ---- cutting lines ----------------------------------------------------------------------------------------

/// The shape of a line. Lines of one shape can exchange their tails.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// `scheme://authority` + the rest.
    Authority,
    /// `mailto:name@` + `host`, or `file:/a/` + `b`: cut after the last "@" or "/".
    Opaque,
    /// `//authority` + the rest.
    Net,
    /// `/segment` + the rest.
    Abs,
    /// `segment` + the rest.
    Rel,
    /// Not cut, because its parts could not be recombined.
    Whole,
}

/// A source line and the place at which it is cut.
#[derive(Clone, Copy)]
struct Line<'a> {
    text: &'a [u8],
    /// The length of the scheme with its colon, or 0.
    scheme_len: usize,
    /// The end of the head.
    cut: usize,
    shape: Shape,
    takes_port: bool,
    pool: usize,
}

impl<'a> Line<'a> {
    fn cut(text: &'a [u8]) -> Self {
        let scheme_len = scheme_len(text);
        let rest = &text[scheme_len..];
        let authority = authority_len(rest);
        let (shape, head_len) = if authority > 0 {
            (if scheme_len > 0 { Shape::Authority } else { Shape::Net }, authority)
        } else if scheme_len > 0 {
            cut_opaque(rest)
        } else {
            cut_relative(rest)
        };
        let takes_port = authority > 2 && without_port(&rest[..authority]).len() == authority;
        Self { text, scheme_len, cut: scheme_len + head_len, shape, takes_port, pool: 0 }
    }

    fn scheme(&self) -> &'a [u8] {
        &self.text[..self.scheme_len]
    }

    fn head(&self) -> &'a [u8] {
        &self.text[..self.cut]
    }

    fn tail(&self) -> &'a [u8] {
        &self.text[self.cut..]
    }
}

fn cut_opaque(rest: &[u8]) -> (Shape, usize) {
    if rest.contains(&b'#') {
        return (Shape::Whole, rest.len());
    }
    let last = rest.iter().rposition(|&byte| byte == b'@' || byte == b'/');
    (Shape::Opaque, last.map_or(rest.len(), |at| at + 1))
}

fn cut_relative(rest: &[u8]) -> (Shape, usize) {
    let slash = usize::from(rest.first() == Some(&b'/'));
    let segment = until(&rest[slash..], b"/?#");
    match (slash, segment) {
        (_, 0) => (Shape::Whole, rest.len()),
        (0, _) => (Shape::Rel, segment),
        _ => (Shape::Abs, slash + segment),
    }
}

/// The number of bytes before the first byte in `stops`.
fn until(text: &[u8], stops: &[u8]) -> usize {
    text.iter().position(|byte| stops.contains(byte)).unwrap_or(text.len())
}

/// The length of an RFC 3986 scheme with its colon, or 0.
fn scheme_len(text: &[u8]) -> usize {
    let name = text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || b"+-.".contains(byte)));
    match name {
        Some(len) if text[0].is_ascii_alphabetic() && text[len] == b':' => len + 1,
        _ => 0,
    }
}

/// The length of `//authority` at the start, or 0.
fn authority_len(text: &[u8]) -> usize {
    if text.starts_with(b"//") { 2 + until(&text[2..], b"/?#") } else { 0 }
}

/// An authority without its port, that is, without the last colon of its host and what follows.
fn without_port(authority: &[u8]) -> &[u8] {
    let host = authority.iter().rposition(|&byte| byte == b'@' || byte == b']').unwrap_or(0);
    match authority[host..].iter().rposition(|&byte| byte == b':') {
        Some(colon) => &authority[..host + colon],
        None => authority,
    }
}

/// Whether a line is a URI-reference of RFC 3986. `IPvFuture` is not supported, because source lines have none.
fn is_plain(line: &[u8]) -> bool {
    let scheme_len = scheme_len(line);
    let (rest, fragment) = split_at_first(&line[scheme_len..], b'#');
    let (rest, query) = split_at_first(rest, b'?');
    let authority = authority_len(rest);
    let path = &rest[authority..];
    (authority == 0 || is_plain_authority(&rest[2..authority]))
        && (scheme_len + authority > 0 || !path[..until(path, b"/")].contains(&b':'))
        && is_plain_text(path, b":@/")
        && is_plain_text(query, b":@/?")
        && is_plain_text(fragment, b":@/?")
}

fn split_at_first(text: &[u8], byte: u8) -> (&[u8], &[u8]) {
    let at = until(text, &[byte]);
    (&text[..at], text.get(at + 1..).unwrap_or_default())
}

fn is_plain_authority(authority: &[u8]) -> bool {
    let host = authority.iter().rposition(|&byte| byte == b'@').map_or(0, |at| at + 1);
    let (userinfo, host) = (&authority[..host.saturating_sub(1)], &authority[host..]);
    let host_len = without_port(host).len();
    let (host, port) = (&host[..host_len], host.get(host_len + 1..).unwrap_or_default());
    let literal = host.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]"));
    is_plain_text(userinfo, b":")
        && port.iter().all(u8::is_ascii_digit)
        && match literal {
            Some(address) => str::from_utf8(address).is_ok_and(|text| text.parse::<Ipv6Addr>().is_ok()),
            None => is_plain_text(host, b""),
        }
}

/// Whether a text consists of unreserved bytes, sub-delims, complete escapes, and the bytes in `more`.
fn is_plain_text(mut text: &[u8], more: &[u8]) -> bool {
    while let [byte, rest @ ..] = text {
        text = match rest {
            [high, low, rest @ ..]
                if *byte == b'%' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                rest
            }
            _ if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=".contains(byte) || more.contains(byte) => {
                rest
            }
            _ => return false,
        };
    }
    true
}

// ---- randomness -------------------------------------------------------------------------------------------

/// The generator xoshiro256** (Blackman and Vigna), seeded by splitmix64.
struct Rng([u64; 4]);

impl Rng {
    fn new(seed: u64) -> Self {
        let mut state = seed;
        Self(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let word = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        }))
    }

    fn next(&mut self) -> u64 {
        let state = &mut self.0;
        let word = state[1].wrapping_mul(5).rotate_left(7).wrapping_mul(9);
        let carried = state[1] << 17;
        state[2] ^= state[0];
        state[3] ^= state[1];
        state[1] ^= state[2];
        state[0] ^= state[3];
        state[2] ^= carried;
        state[3] = state[3].rotate_left(45);
        word
    }

    /// A random number below `end`. The multiplication's bias is below 2^-32 for all ranges used here.
    fn below_u64(&mut self, end: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }

    #[allow(clippy::cast_possible_truncation, reason = "the number is below a usize")]
    fn below(&mut self, end: usize) -> usize {
        self.below_u64(end as u64) as usize
    }

    /// A random share in parts per million, below [`WHOLE`].
    fn share(&mut self) -> u64 {
        self.below_u64(WHOLE)
    }

    /// Returns true with the probability `share` / [`WHOLE`].
    fn chance(&mut self, share: u64) -> bool {
        self.share() < share
    }

    fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

// ---- hostile inputs ---------------------------------------------------------------------------------------

const BOM: &[u8] = b"\xef\xbb\xbf";

/// A file of `--hostile`: its name, its description for the README, and its bytes.
type Hostile = (&'static str, &'static str, fn() -> Vec<u8>);

const HOSTILE: &[Hostile] = &[
    ("empty.txt", "no bytes: no lines, no division by zero, no map of nothing", Vec::new),
    ("one_newline.txt", "one LF: one blank line, not two and not none", || b"\n".to_vec()),
    ("newlines.txt", "50,000 LFs: blank lines only, as many lines as bytes", || vec![b'\n'; 50_000]),
    ("crs.txt", "50,000 CRs, no LF: one blank line whose terminator is the whole file", || {
        vec![b'\r'; 50_000]
    }),
    ("percents.txt", "60,000 `%`: an escape begins and fails at every byte", || vec![b'%'; 60_000]),
    ("colons.txt", "60,000 `:`: no scheme at all, then a delimiter at every byte", || vec![b':'; 60_000]),
    ("delimiters.txt", "runs of 1 to 130 of each of `/ ? # @ [ ] & ; =`: every part empty", delimiters),
    ("crlf.txt", "CR LF ends, a blank line among them", || ended(b"\r\n")),
    ("crcrlf.txt", "CR CR LF ends: both CRs belong to the terminator", || ended(b"\r\r\n")),
    ("cr_runs.txt", "0 to 130 CRs before the LF: a terminator longer than a block of 64", cr_runs),
    ("mixed_ends.txt", "LF, CR LF, CR CR LF and LF CR in turn: an end is judged line by line", mixed_ends),
    ("lone_crs.txt", "CRs inside lines, first, last but one, beside blanks: bytes, not ends", lone_crs),
    ("no_final_newline.txt", "the last line has no LF and counts", || {
        b"http://a.example/\nhttp://b.example/".into()
    }),
    ("no_final_newline_cr.txt", "the input ends in CR without LF: still a terminator", || {
        b"http://a.example/\r\nhttp://b.example/\r".into()
    }),
    ("bom.txt", "a UTF-8 byte order mark at the start: skipped and reported", || marked(1)),
    ("bom_twice.txt", "two byte order marks: the second is three bytes of the first line", || marked(2)),
    ("bom_middle.txt", "byte order marks at a later line's start, inside and at its end: bytes", bom_middle),
    ("bom_alone.txt", "a byte order mark and nothing else: an empty input", || BOM.to_vec()),
    ("bom_part.txt", "two thirds of a byte order mark: one line of two wrong bytes", || BOM[..2].to_vec()),
    ("bom_newline.txt", "a byte order mark and LF: one blank line", || [BOM, b"\n"].concat()),
    (
        "nul_bytes.txt",
        "NUL bytes first, last, inside, alone and in a run of 100: no string ends there",
        nul_bytes,
    ),
    ("bytes_lines.txt", "each of the 256 byte values as a line (LF and CR make blank ones)", bytes_lines),
    ("bytes_in_url.txt", "each byte value in each part of a URL, and after `%`", bytes_in_url),
    (
        "block_edges.txt",
        "each delimiter at columns 60 to 67 of lines of 128 bytes: edges of a block",
        block_edges,
    ),
    ("endless.txt", "one line of 60,000 bytes without LF, accepted by every grammar", || endless(b'a')),
    ("endless_broken.txt", "the same, wrong at its last byte only", || endless(b'<')),
    ("lengths_0_300.txt", "one URL cut to 0, 1, 2, ... 300 bytes: every length of tail", lengths),
    ("schemes_2000.txt", "2,000 invented schemes: a table of counts has to grow", schemes),
    ("scheme_case.txt", "all 256 letter cases of one scheme of 8 letters: one key, not 256", scheme_case),
    (
        "scheme_long.txt",
        "schemes of 1 to 130 and of 5,000 letters: none is cut, and the longest keeps no name",
        scheme_long,
    ),
    ("terminal.txt", "terminal escapes inside URLs: a report must not colour, retitle or clear", terminal),
    ("bidi.txt", "bidi and zero-width characters, look-alike hosts: a report must not be reordered", bidi),
    ("bad_utf8.txt", "overlong, cut, surrogate and too large UTF-8, raw Latin-1", bad_utf8),
    ("userinfo.txt", "user names and passwords, empty, doubled, escaped: the advisory on passwords", || {
        USERINFO.into()
    }),
    ("ports.txt", "ports from empty to 400 digits: numbers that overflow any integer", ports),
    ("ip_literals.txt", "a zoo of IPv6 and IPvFuture literals, right and wrong", || around("[", IPV6, "]")),
    ("ipv4.txt", "a zoo of dotted numbers that are, look like or are not addresses", || around("", IPV4, "")),
    ("rfc1738.txt", "every scheme of RFC 1738 in right and wrong forms", || RFC1738.into()),
    ("escapes.txt", "a URL with escapes in all parts, each escape broken in each way", escapes),
    ("advisories.txt", "encoded controls and delimiters, reserved ports, gopher to port 25", || {
        ADVISORIES.into()
    }),
    ("wrapped.txt", "URLs in blanks, tabs, quotes, brackets and `<URL:...>`: nothing is trimmed", wrapped),
    (
        "utf16le.txt",
        "UTF-16 LE with its mark: every second byte is NUL, lines begin inside a character",
        utf16le,
    ),
    ("gzip_noise.gz", "a gzip header and noise: bytes like others, none of them shown raw", || {
        noise(GZIP_HEADER)
    }),
    ("zstd_noise.zst", "a zstd magic number and noise: the same", || noise(b"\x28\xb5\x2f\xfd\x24\x40")),
    ("table.csv", "CSV with quotes, doubled quotes, commas and LFs in fields: not a list", || CSV.into()),
    ("page.html", "a snippet of HTML: not a list either", || HTML.into()),
];

/// Writes the hostile inputs and a README that describes each.
fn write_hostile(dir: &Path) -> Result<(), String> {
    let failed = |path: &Path, error: &io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(dir).map_err(|error| failed(dir, &error))?;
    let mut readme = String::from(HOSTILE_README);
    for (name, what, make) in HOSTILE {
        let (path, bytes) = (dir.join(name), make());
        fs::write(&path, &bytes).map_err(|error| failed(&path, &error))?;
        _ = writeln!(readme, "| `{name}` | {} | {what} |", bytes.len());
    }
    let path = dir.join("README.md");
    fs::write(&path, readme).map_err(|error| failed(&path, &error))
}

const HOSTILE_README: &str = "\
# Hostile inputs

Small inputs of our own, each made to break one assumption. Hosts are example or reserved names and addresses,
passwords are invented. `mkcorpus --hostile DIR` (`scripts/mkcorpus.rs`) writes every file here and this page,
with the same bytes on every machine; change the generator, not the files.

| file | bytes | what it is and what it tries to break |
|---|---|---|
";

/// Lines that all end in LF.
fn lines<T: AsRef<[u8]>>(lines: impl IntoIterator<Item = T>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in lines {
        out.extend_from_slice(line.as_ref());
        out.push(b'\n');
    }
    out
}

fn ended(end: &[u8]) -> Vec<u8> {
    [b"http://a.example/", end, b"mailto:b@c.example", end, end, b"d/e?f#g", end, b"http://h.example/ i", end]
        .concat()
}

fn cr_runs() -> Vec<u8> {
    lines((0..=130).map(|run| format!("http://a.example/{}", "\r".repeat(run))))
}

fn delimiters() -> Vec<u8> {
    lines("/?#@[]&;=".chars().flat_map(|c| (1..=130).step_by(3).map(move |run| c.to_string().repeat(run))))
}

fn mixed_ends() -> Vec<u8> {
    let ends = ["\n", "\r\n", "\r\r\n", "\n\r"];
    (0..64).flat_map(|n| format!("http://a.example/{n}{}", ends[n % 4]).into_bytes()).collect()
}

fn lone_crs() -> Vec<u8> {
    lines([
        "\rhttp://a.example/",
        "http://a.example/\rhttp://b.example/",
        "http\r://a.example/",
        "http://a.exa\rmple/",
        "http://a.example/\r \r",
        "http://a.example/\r\rb",
        "http://a.example/%\r0A",
        " \r",
        "\r \r\n\r",
    ])
}

fn marked(times: usize) -> Vec<u8> {
    [BOM.repeat(times), b"http://a.example/\nhttp://b.example/\n".to_vec()].concat()
}

fn bom_middle() -> Vec<u8> {
    lines([
        "http://a.example/",
        "\u{feff}http://b.example/",
        "http://c.exa\u{feff}mple/",
        "http://d.example/\u{feff}",
        "\u{feff}",
    ])
}

fn nul_bytes() -> Vec<u8> {
    let run = "\0".repeat(100);
    lines([
        "\0",
        "\0http://a.example/",
        "http://b.exa\0mple/",
        "http://c.example/\0",
        "ht\0tp://d.example/",
        &run,
    ])
}

fn bytes_lines() -> Vec<u8> {
    (0..=u8::MAX).flat_map(|byte| [byte, b'\n']).collect()
}

fn bytes_in_url() -> Vec<u8> {
    const PLACES: [&str; 9] = [
        "ht*p://a.example/",
        "ftp://u*v@a.example/",
        "http://a*b.example/",
        "http://a.example:8*/",
        "http://a.example/p*q",
        "http://a.example/?q*r",
        "http://a.example/#f*g",
        "http://a.example/%*0",
        "*",
    ];
    let places = PLACES.map(|place| place.split_once('*').unwrap_or_default());
    lines((0..=u8::MAX).flat_map(|byte| {
        places.map(|(before, after)| [before.as_bytes(), &[byte], after.as_bytes()].concat())
    }))
}

fn block_edges() -> Vec<u8> {
    const MARKS: [&str; 14] =
        ["/", "?", "#", ":", "@", "%41", "%4", "%", "[", "//", "http://", "\"", "\r", "é"];
    let columns = MARKS.iter().flat_map(|mark| (60..68).map(move |column| (mark, column)));
    lines(columns.map(|(mark, column)| {
        let start = format!("http://{:a<1$}{mark}", "a.example/", column - 7);
        format!("{start}{}", "b".repeat(127 - start.len()))
    }))
}

fn endless(last: u8) -> Vec<u8> {
    let mut line = b"http://www.example.com/".to_vec();
    let segment = b"abcdefgh/ij.kl-mn/0123456789/%41%7e/";
    line.extend(segment.iter().cycle().take(59_990 - line.len()));
    // Hex digits complete any escape that the cycle may have cut.
    line.extend_from_slice(b"aaaaaaaaa");
    line.push(last);
    line
}

fn lengths() -> Vec<u8> {
    let path = "/a%20b;c=d,e".repeat(14);
    let url = format!("http://www.example.com:8080{path}?q=r&s=%2F+t*u!'()#v/w?x{}", "y".repeat(300));
    lines((0..=300).map(|len| &url[..len]))
}

fn schemes() -> Vec<u8> {
    let mut rng = Rng::new(2000);
    lines((0..2000).map(|n| {
        let mut word = Vec::new();
        push_word(&mut rng, &mut word);
        let word = String::from_utf8_lossy(&word).replace('_', "+");
        format!("s{word}-{n}://a.example/")
    }))
}

fn scheme_case() -> Vec<u8> {
    lines((0..256_u32).map(|bits| {
        let flipped =
            |(n, letter): (u32, char)| if bits >> n & 1 == 1 { letter.to_ascii_uppercase() } else { letter };
        (0..).zip("prospero".chars()).map(flipped).chain("://a.example/b".chars()).collect::<String>()
    }))
}

fn scheme_long() -> Vec<u8> {
    let lengths = (1..=130).chain([5000, 5000, 5001, 5000]);
    lines(lengths.enumerate().map(|(n, len)| {
        let letter = if n % 4 == 3 { "Z" } else { "z" };
        format!("{}://a.example/", letter.repeat(len))
    }))
}

fn terminal() -> Vec<u8> {
    lines([
        "http://a.example/\x1b[31mred\x1b[0m",
        "http://\x1b[2J\x1b[Ha.example/",
        "http://a.example/\x1b]0;title\x07",
        "http://a.example/\x1b]8;;http://b.example/\x1b\\link\x1b]8;;\x1b\\",
        "\x1b[31mhttp\x1b[0m://a.example/",
        "x\x1b[1m://a.example/",
        "http://a.example/\x1b[1A\x1b[2Kgone",
        "http://a.example/\x1b[?1049h",
        "http://a.example/\x1bP0;1|17/ab\x1b\\",
        "http://a.example/\u{9b}31m\u{9d}0;title\u{9c}",
        "http://a.example/\x08\x08\x08\x08b\x7f\x0b\x0c",
        "http://a.example/\x07\x07\x07",
        "http://a.example/%1B%5B31m",
    ])
}

fn bidi() -> Vec<u8> {
    lines([
        "http://a.example/\u{202e}gpj.exe",
        "http://\u{202e}elpmaxe.a/",
        "http://a.example/\u{200f}b\u{200e}c",
        "http://a.example/\u{2066}b\u{2069}\u{2067}c\u{2068}d",
        "\u{202d}http\u{202c}://a.example/",
        "http://a\u{200b}b\u{200d}c\u{2060}.example/",
        "http://\u{430}.example/",
        "http://a\u{2024}example/",
        "http://a.example\u{2044}b/",
        "http://a\u{3002}example/\u{ff0f}b\u{ff1f}c\u{ff03}d",
        "http://a.example/\u{2028}b\u{2029}c\u{85}d",
        "http://a.example/e\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}\u{301}",
        "http://\u{5d0}\u{5d1}.example/\u{627}\u{628}",
        "http://xn--a-ecp.example/",
    ])
}

fn bad_utf8() -> Vec<u8> {
    let latin1: [&[u8]; 2] = [b"caf\xe9", b"\xa0\xad"];
    lines(BAD_UTF8.into_iter().chain(latin1).flat_map(|bytes| {
        [[b"http://a.example/", bytes, b"b"].concat(), [b"http://", bytes].concat(), bytes.to_vec()]
    }))
}

fn ports() -> Vec<u8> {
    let long = ["9", "0", "1"].map(|digit| digit.repeat(400));
    let padded = format!("{}80", "0".repeat(64));
    let short =
        ["", "0", "80", "080", "443", "1023", "1024", "65535", "65536", "99999", "4294967295", "4294967296"];
    let wide =
        ["9223372036854775808", "18446744073709551615", "18446744073709551616", "18446744073709551696"];
    let wrong = ["-1", "+80", "80a", "0x50", "8 0", ":80", "80:", "%38", "٣", "80:80", "1e3"];
    let ports = short.iter().chain(&wide).chain(&wrong).copied().chain(long.iter().map(String::as_str));
    let ports: Vec<&str> = ports.chain([padded.as_str()]).collect();
    let schemes = ["http", "https", "ftp", "gopher", "telnet", "wais", "nntp", "prospero", "x-own"];
    lines(ports.iter().flat_map(|port| {
        let schemes: &[&str] = if port.len() > 60 { &schemes[..2] } else { &schemes };
        schemes.iter().map(move |scheme| format!("{scheme}://a.example:{port}/b"))
    }))
}

/// Uses each word of a text as a host: alone, and with userinfo, port and path.
fn around(open: &str, hosts: &str, close: &str) -> Vec<u8> {
    lines(hosts.split_whitespace().flat_map(|host| {
        let host = format!("{open}{host}{close}");
        [format!("http://{host}"), format!("ftp://u@{host}:80/a"), format!("//{host}?b")]
    }))
}

const IPV6: &str = "
:: ::1 1:: 1::2 2001:db8::1 2001:DB8::A 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:: ::2:3:4:5:6:7:8 1::3:4:5:6:7:8
1:2:3:4:5:6::8 ::ffff:192.0.2.1 ::192.0.2.1 1:2:3:4:5:6:192.0.2.1 64:ff9b::192.0.2.33 2001:db8::192.0.2.1
0000:0000:0000:0000:0000:0000:0000:0001 v1.a v1F.a:b;c=d vF.~ V7.x
: ::: 1 1: :1 1:2 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 1::2::3 1:::2 ::1: :1::2 12345:: ::12345 ::g ::-1
1:2:3:4:5:6:7:8:: ::1:2:3:4:5:6:7:8 1:2:3:4:5:6:7:192.0.2.1 ::192.0.2 ::192.0.2.256 ::192.0.2.01
::192.0.2.1.1 192.0.2.1 192.0.2.1:: ::ffff:192.0.2.1:1 ::1%25en0 ::1%en0 fe80::1%251 ::1/64 ::%31
v1 v1. v.a vg.a v1.a@b v1.[a] v1.%41 [::1] ::1]] [::1";

const IPV4: &str = "
192.0.2.1 0.0.0.0 255.255.255.255 256.1.1.1 999.999.999.999 192.0.2 192.0.2.1.5 192.0.2.1. .192.0.2.1 192..2.1
192.000.002.001 000000192.0.2.1 192.0.2.1a 192.0.2.a1 a.0.2.1 1 1. 4294967295 0x7f.0.0.1 0x7f000001 0177.0.0.1
127.1 192.0.2.-1 192.0.2.+1 192.0.2.%31 99999999999999999999.1.1.1 1.1.1.99999999999999999999 3com.example
a.3com 192.0.2.1.example -192.0.2.1 192_0.2.1";

const USERINFO: &str = "\
ftp://user:password@ftp.example/
ftp://user:@ftp.example/
ftp://:password@ftp.example/
ftp://:@ftp.example/
ftp://@ftp.example/
ftp://user@ftp.example/
http://user:password@www.example/
https://user:pass:word@www.example/
https://user:password@@www.example/
https://user@host:password@www.example/
https://user%3Apassword@www.example/
https://user:p%40ss@www.example/
https://user:p/ss@www.example/
ftp://user:p?ss@ftp.example/a
ftp://user:p#ss@ftp.example/a
http://www.example/a:b@c
http://www.example?u:p@h
//user:password@www.example/
telnet://user:password@telnet.example:23/
foo://user:password@www.example
foo:user:password@www.example
mailto:user:password@mail.example
ftp://user:pass word@ftp.example/
ftp://us\u{e9}r:p\u{e4}ss@ftp.example/
http://www.example@198.51.100.7/
http://www.example:80@198.51.100.7/
http://[user:password@]www.example/
";

const RFC1738: &str = "\
ftp://ftp.example
ftp://ftp.example/
ftp://user:pass@ftp.example:21/a/b;type=i
ftp://ftp.example/a;type=A
ftp://ftp.example/%2Fetc/motd
ftp://ftp.example/a;type=x
ftp://ftp.example/a;Type=i
ftp://ftp.example/a?b
ftp://
ftp:/a
http://www.example
http://www.example:80/a/b?c
http://www.example/?
http://www.example/;a:b@c&d=e
http://192.0.2.1/
http://www.example?c
http://www.example/a?b/c
http://www.example/a#b
http://www.example/~a
http://user@www.example/
http://www.example:/
http:///a
http://www.example./
http://a_b.example/
HTTP://www.example/
gopher://gopher.example
gopher://gopher.example/
gopher://gopher.example:70/00/a
gopher://gopher.example/11/a%09search
gopher://gopher.example/7/a%09b%09+c
gopher://gopher.example:25/0HELO%0D%0A
gopher://gopher.example/1/a?b
gopher:/1/a
mailto:a@b.example
mailto:a%25b@c.example
mailto:
mailto:a b@c.example
mailto:a@b.example?subject=c
mailto://a@b.example
news:comp.infosystems.www.misc
news:*
news:a%40b@c.example
news:a@b.example
news:
news:1a
news:a@b@c.example
news://news.example/a
nntp://news.example/comp.lang.c/1234
nntp://news.example:119/a.b
nntp://news.example
nntp://news.example/a/b
nntp:comp.lang.c
telnet://telnet.example
telnet://user:pass@telnet.example:23/
telnet://telnet.example/a
telnet:telnet.example
wais://wais.example/db
wais://wais.example:210/db?search
wais://wais.example/db/type/path
wais://wais.example/db/type
wais://wais.example
wais://wais.example/db?a/b
file:///a
file://localhost/a/b
file://host.example/a
file:///
file://
file:/a
file://host.example:80/a
file:///C:/a
file:///C|/a
prospero://host.example:1525//a/b
prospero://host.example/a;field=value
prospero://host.example/a;b=c;d=e
prospero://host.example
prospero://host.example/a;b
prospero:a
otherscheme:a/b
otherscheme://a@b:c/d
x-y+z.1:
1a:b
+:a
:a
url:http://www.example/
URL:ftp://ftp.example/
";

const ADVISORIES: &str = "\
http://a.example/%00
http://a.example/%0a%0D
http://a.example/%09
gopher://a.example/7/b%09c
gopher://a.example/7/b%0D%0Ac
gopher://a.example:25/
gopher://a.example:025/
gopher://a.example:70/
ftp://a.example/%2Fb%3ac%3Bd%40e
telnet://a%2f@b.example/
telnet://a%3A%40@b.example/
http://a.example/%2F%3B%3F
https://a.example/%2f%3b%3f
news:a%40b.example
prospero://a.example/b%3Bc%3D
http://a.example:80/
http://a.example:81/
http://a.example:1024/
https://a.example:443/
https://a.example:0443/
ftp://u:p@a.example:22/%00
wais://a.example:209/b
nntp://a.example:0/b.c
http://a.example/%2500%250A
";

fn escapes() -> Vec<u8> {
    const URL: &str = "ftp://u%41:p%42@h%43.example:80/%44%e5/%46;%47?%48=%49#%4a%4B";
    const BREAKS: [&str; 14] = [
        "%", "%4", "%g0", "%0g", "%%41", "%4%41", "%\"1", "% 41", "%+4", "%u0041", "%%", "%25%", "%2541",
        "%00",
    ];
    let at: Vec<usize> = URL.match_indices('%').map(|(at, _)| at).collect();
    let broken = at
        .iter()
        .flat_map(|&at| BREAKS.iter().map(move |broken| format!("{}{broken}{}", &URL[..at], &URL[at + 3..])));
    let cut = (0..=URL.len()).map(|len| URL[..len].to_owned());
    let deep = (0..200).step_by(9).map(|depth| format!("http://a.example/%{}41", "25".repeat(depth)));
    let dense = (0..70).map(|count| format!("http://a.example/{}%4", "%7E".repeat(count)));
    lines(broken.chain(cut).chain(deep).chain(dense))
}

fn wrapped() -> Vec<u8> {
    const PAIRS: [(&str, &str); 14] = [
        (" ", ""),
        ("", " "),
        ("\t", ""),
        ("", "\t"),
        ("\"", "\""),
        ("'", "'"),
        ("<", ">"),
        ("<URL:", ">"),
        ("<url:", ">"),
        ("URL:", ""),
        ("(", ")"),
        ("[", "]"),
        ("", ","),
        ("1 ", " 200"),
    ];
    let urls = ["http://a.example/b", "mailto:a@b.example", "c/d"];
    lines(urls.iter().flat_map(|url| PAIRS.map(|(before, after)| format!("{before}{url}{after}"))))
}

fn utf16le() -> Vec<u8> {
    "\u{feff}http://a.example/\r\nhttp://b.example/é\n".encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// A gzip member header with no flags, no time and an unknown system.
const GZIP_HEADER: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff";

fn noise(header: &[u8]) -> Vec<u8> {
    let mut rng = Rng::new(1952);
    header.iter().copied().chain((0..512).flat_map(|_| rng.next().to_le_bytes())).collect()
}

const CSV: &str = "\
rank,url,\"note, quoted\"
1,http://a.example/,plain
2,\"http://b.example/?c,d\",comma
3,\"http://c.example/\"\"d\"\"\",\"quotes \"\"inside\"\"\"
4,\"http://d.example/
\",\"newline in the field\"
5,,empty
6;http://e.example/;semicolons
";

const HTML: &str = "\
<!DOCTYPE html>
<title>a list that is none</title>
<base href=\"http://a.example/b/\">
<p><a href=\"c?d=e&amp;f=g#h\">i</a> <a href='//j.example'>k</a> <a href=http://l.example/m>n</a>
<img src=\"data:image/gif;base64,R0lGODlhAQABAAAAACw=\" srcset=\"o.png 1x, p.png 2x\">
<!-- http://q.example/ --> <script>location = \"http://r.example/\" + \"s\"</script>
";

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &[u8] =
        b"http://a.example/b?c=d#e\nhttps://f.example/g\r\nmailto:h@i.example\n/j/k\nl/m?n\n//o/p\n#q\n";

    fn corpus(words: &str) -> (Vec<Vec<u8>>, Vec<u8>) {
        let words = format!("- --size 1 {words}");
        let options = Options::parse(words.split_whitespace().map(str::to_owned)).expect("options");
        let mut grower = Grower::new(lines_of(LIST), &options);
        let mut labels = Vec::new();
        let made = (0..20_000).map(|_| {
            let mut line = Vec::new();
            labels.push(grower.next_line(&mut line));
            line
        });
        (made.collect(), labels)
    }

    #[test]
    fn same_seed_same_lines() {
        assert_eq!(corpus("--seed 7 --damage 0.5"), corpus("--seed 7 --damage 0.5"));
        assert_ne!(corpus("--seed 7").0, corpus("--seed 8").0);
    }

    /// The first words of the published generator for the state that splitmix64 makes from 0.
    #[test]
    fn rng_is_pinned() {
        let mut rng = Rng::new(0);
        let words = [0x99ec_5f36_cb75_f2b4, 0xbf6e_1f78_4956_452a, 0x1a5f_849d_4933_e6e0];
        assert_eq!(words, [rng.next(), rng.next(), rng.next()]);
    }

    #[test]
    fn labels_say_what_rfc3986_says() {
        let (lines, labels) = corpus("--damage 0.5 --long 0.01 --long-bytes 99 --utf8 0.1");
        for (line, label) in lines.iter().zip(labels) {
            match label {
                b'w' | b'I' | b'C' | b'N' | b'U' | b'P' | b'S' | b'B' | b'M' => assert!(!is_plain(line)),
                b'T' | b'H' | b'X' | b'E' => {}
                _ => assert!(is_plain(line), "{}", line.escape_ascii()),
            }
        }
    }

    #[test]
    fn plain_is_rfc3986() {
        for text in ["", "a", "a:b", "//a:80", "http://u:p@[::1]:80/a;b?c/?#d/?", "./a:b", "a?b:c", "%41"] {
            assert!(is_plain(text.as_bytes()), "{text}");
        }
        for text in
            ["1:b", ":a", "//a:b", "//[::1", "//[1]", "//a@b@c", "a#b#c", "%4", "a b", "é", "//[::1]x"]
        {
            assert!(!is_plain(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn hostile_inputs_are_small() {
        for (name, _, make) in HOSTILE {
            assert!(make().len() < 1 << 16, "{name}");
        }
    }
}
