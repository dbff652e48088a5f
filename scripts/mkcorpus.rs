//! Generates test data: lists of URLs of any size.
//!
//! `mkcorpus LIST... --size 1G --seed 7` draws lines from the lists in the proportions of their schemes. It changes most of
//! them a little, damages a chosen share, and writes as many bytes as asked. Repeating a list would flatter a scanner: its
//! branches would be predictable, and its hosts would stay in the cache. A generated list keeps the schemes, lengths and
//! components of real lines, but nearly every line is new.
//!
//! All random numbers come from one seeded generator ([`Rng`]). Shares are whole parts per million, and pools are sorted.
//! The same lists, options and seed therefore give the same bytes on every machine.
//!
//! The file has this order: options, writing loop, [`Grower`] with its changes, damages, the cutting of lines, and
//! [`Rng`].

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Read, Write};
use std::process::ExitCode;

use clap::Parser;

/// Grow lists of URLs to a given size by seeded sampling and small changes
#[derive(Parser)]
#[command(after_help = MORE_HELP, term_width = 0)]
struct Options {
    /// Lists with a URL per line, or - for standard input (zstd -dc list.zst | mkcorpus - ...)
    #[arg(value_name = "LIST", required = true)]
    lists: Vec<String>,
    /// Bytes to write, up to a whole line: 64K, 100M, 1G (thousands) or 64Ki, 100Mi, 1Gi
    #[arg(long, value_parser = parse_size)]
    size: u64,
    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Share of damaged lines, 0 to 1
    #[arg(long, value_name = "SHARE", default_value = "0.01", value_parser = parse_share)]
    damage: u64,
    /// Where to write, - for standard output
    #[arg(short, long, value_name = "FILE", default_value = "-")]
    output: String,
}

const MORE_HELP: &str = "\
Intact lines, with their letters in the summary:
  verbatim  v  as it came                      recombine r  authority of one line, path and query of another
  port      p  a port added                    case      c  letter case of the scheme changed
  query     q  key=value pairs added           segment   s  a numbered path segment put in
  fragment  f  a fragment added or replaced

Damages, one a line, with their letters:
  illegal   I  one of \" < > \\ ^ ` { | } put in    ctl       C  a control byte put in
  utf8      N  a raw UTF-8 character put in       badutf8   U  a byte sequence put in that is not UTF-8
  badpct    P  a broken escape put in             badport   T  a port that is no port
  nohost    H  the host taken away                space     S  a blank or tab before, after or inside
  bracket   B  a wrong or unbalanced IP literal   scheme    M  a scheme that is none
  trunc     X  cut short                          empty     E  an empty line

If RFC 3986 accepts all lines of the lists, it accepts every intact line. It refuses all of I C N U P S B M;
T H X E may be accepted, as in \":99999\", \"http:///a\" or \"htt\". A damage that does not fit its line (no
authority, no scheme) is done as \"illegal\"; a change that does not fit is done as \"recombine\".

Exit status: 0 done, or the reader of a pipe went away; 2 usage or input/output error.
";

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("mkcorpus: {message}");
            ExitCode::from(2)
        }
    }
}

/// The error is a sentence for standard error.
fn run(options: &Options) -> Result<(), String> {
    let texts = options.lists.iter().map(|path| load(path)).collect::<Result<Vec<_>, _>>()?;
    let lines = texts.iter().flat_map(|text| lines_of(text));
    let grower = Grower::new(lines, options);
    if grower.lines.is_empty() {
        return Err("no lines to grow from".into());
    }
    grow(grower, options)
}

// ---- values of options ------------------------------------------------------------------------------------

/// The whole, in the unit of all shares: parts per million.
const WHOLE: u64 = 1_000_000;

/// Parses a decimal share digit by digit, so that no rounding depends on the machine.
fn parse_share(text: &str) -> Result<u64, String> {
    let wrong = || "no share from 0 to 1 with at most six decimals".to_owned();
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
    size.filter(|&size| size > 0).ok_or_else(|| "no size such as 64K, 100M or 1Gi".to_owned())
}

// ---- reading and writing ----------------------------------------------------------------------------------

fn load(path: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let read = if path == "-" {
        io::stdin().lock().read_to_end(&mut bytes)
    } else {
        File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map(|_| bytes).map_err(|error| format!("{path}: {error}"))
}

const BOM: &[u8] = b"\xef\xbb\xbf";

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
    match emit(&mut grower, options, &mut counts) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {}
        Err(error) => return Err(format!("{}: {error}", options.output)),
        Ok(written) => eprint!("{}", summary(&grower, written, &counts)),
    }
    Ok(())
}

/// Writes the corpus, counts lines by label, and returns the number of bytes.
fn emit(grower: &mut Grower, options: &Options, counts: &mut [u64; 128]) -> io::Result<u64> {
    let to: Box<dyn Write> = match options.output.as_str() {
        "-" => Box::new(io::stdout()),
        path => Box::new(File::create(path)?),
    };
    let mut to = BufWriter::with_capacity(1 << 20, to);
    let mut written = 0;
    let mut line = Vec::new();
    while written < options.size {
        line.clear();
        counts[usize::from(grower.next_line(&mut line))] += 1;
        line.push(b'\n');
        to.write_all(&line)?;
        written += line.len() as u64;
    }
    to.flush()?;
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
}

const CHANGES: [(Change, &str); 7] = [
    (Change::Verbatim, "verbatim"),
    (Change::Recombine, "recombine"),
    (Change::Port, "port"),
    (Change::Case, "case"),
    (Change::Query, "query"),
    (Change::Segment, "segment"),
    (Change::Fragment, "fragment"),
];

/// The share of lines taken as they are.
const VERBATIM: u64 = WHOLE / 5;

/// The relative weights of the changes, for the other lines.
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
        Self { rng, lines, pools, pairs, serial: 0, damage: options.damage }
    }

    /// Appends the next line to `out` without a terminator. Returns its label.
    fn next_line(&mut self, out: &mut Vec<u8>) -> u8 {
        let change = self.draw_change();
        let line = self.rng.pick(&self.lines);
        let change = self.apply(change, line, out);
        if self.rng.chance(self.damage) {
            let (damage, _) = self.rng.pick(&DAMAGES);
            return damage.apply(&mut self.rng, out) as u8;
        }
        change as u8
    }

    fn draw_change(&mut self) -> Change {
        // Nothing depends on this number, but without it, known seeds would give other lines.
        self.rng.next();
        if self.rng.chance(VERBATIM) {
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
            Change::Query => pool.query,
            Change::Segment => pool.segment,
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
            Change::Fragment => {
                push_path(out, without_fragment(tail));
                out.extend_from_slice(b"#s");
                self.push_serial(out);
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
    b"//[::1", b"//::1]", b"//[::g]", b"//[1:2:3]", b"//[]", b"//[::1]x", b"//[v1.]", b"//[192.0.2.1]",
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

#[cfg(test)]
mod tests {
    use super::*;
    use urlsift::{Grammar, judge};

    const LIST: &[u8] =
        b"http://a.example/b?c=d#e\nhttps://f.example/g\r\nmailto:h@i.example\n/j/k\nl/m?n\n//o/p\n#q\n";

    fn corpus(words: &str) -> (Vec<Vec<u8>>, Vec<u8>) {
        let words = format!("- --size 1 {words}");
        let options = Options::parse_from(["mkcorpus"].into_iter().chain(words.split_whitespace()));
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
        let accepted = |line: &[u8]| judge(line).verdict().accepts(Grammar::Rfc3986);
        let (lines, labels) = corpus("--damage 0.5");
        for (line, label) in lines.iter().zip(labels) {
            match label {
                b'I' | b'C' | b'N' | b'U' | b'P' | b'S' | b'B' | b'M' => assert!(!accepted(line)),
                b'T' | b'H' | b'X' | b'E' => {}
                _ => assert!(accepted(line), "{}", line.escape_ascii()),
            }
        }
    }
}
