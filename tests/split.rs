//! `split` loses nothing: each line appears once, in order, in the output that the judge's verdict requires, for any cuts
//! and kernels. Also the command: pipes, errors, exit statuses, and files that appear together.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::reference::Rng;
use crate::support::escapes::unescaped;
use crate::support::{self, amount, drawn, file, mutated, on_all_cores, text, trimmed};
use tempfile::TempDir;
use urlsift::internal::escape;
use urlsift::internal::run::{Codec, ExecOptions, KernelId, list_inputs};
use urlsift::internal::split::{Blank, Form, Options, split_inputs};
use urlsift::{Grammar, Verdict, judge};

/// The two outputs, and the numbers of accepted, refused and blank lines.
struct Parted {
    accepted: Vec<u8>,
    refused: Vec<u8>,
    counts: [u64; 3],
}

impl Parted {
    /// The first difference, if there is one.
    fn difference(&self, expected: &Self) -> Option<String> {
        let both =
            [("accepted", &self.accepted, &expected.accepted), ("refused", &self.refused, &expected.refused)];
        for (side, found, expected) in both {
            if found != expected {
                let at = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
                let near = |bytes: &[u8]| {
                    bytes[at.saturating_sub(200)..bytes.len().min(at + 100)].escape_ascii().to_string()
                };
                return Some(format!("{side} at {at}\n{}\nexpected\n{}", near(found), near(expected)));
            }
        }
        (self.counts != expected.counts).then(|| format!("{:?}, expected {:?}", self.counts, expected.counts))
    }
}

/// Appends a line. If the text before it lacks its final LF, adds one.
fn put(line: &[u8], to: &mut Vec<u8>) {
    if to.last().is_some_and(|&last| last != b'\n') {
        to.push(b'\n');
    }
    to.extend(line);
}

/// A simple split: line by line, with the judge.
fn split_by_judge(inputs: &[(&str, &[u8])], options: &Options) -> Parted {
    let mut parted = Parted { accepted: Vec::new(), refused: Vec::new(), counts: [0; 3] };
    if options.header {
        let grammars = options.by.iter().map(Grammar::name);
        let names: Vec<_> = ["input", "line", "offset"].into_iter().chain(grammars).chain(["text"]).collect();
        parted.refused.extend((names.join("\t") + "\n").bytes());
    }
    for (name, bytes) in inputs {
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let mut offset = bytes.len() - body.len();
        for (number, whole) in (1..).zip(body.split_inclusive(|&byte| byte == b'\n')) {
            let line = trimmed(whole);
            let judgement = judge(line);
            let accepted = options.by.iter().all(|grammar| judgement.verdict().accepts(grammar));
            let place = match (line.is_empty(), options.blank) {
                (true, Blank::Accepted) => Some(true),
                (true, Blank::Refused) => Some(false),
                (true, Blank::Dropped) => None,
                (false, _) => Some(accepted),
            };
            parted.counts[if line.is_empty() { 2 } else { usize::from(!accepted) }] += 1;
            match (place, options.form) {
                (Some(true), _) => put(whole, &mut parted.accepted),
                (Some(false), Form::Lines) => put(whole, &mut parted.refused),
                (Some(false), Form::Tsv) => {
                    let mut row = format!("{name}\t{number}\t{offset}");
                    for grammar in options.by.iter() {
                        let _ = match judgement.defect(grammar) {
                            _ if line.is_empty() => write!(row, "\tblank"),
                            Some(defect) => write!(row, "\t{defect}"),
                            None => write!(row, "\t-"),
                        };
                    }
                    row.push('\t');
                    escape::push(&mut row, line);
                    parted.refused.extend(row.bytes().chain([b'\n']));
                }
                (None, _) => {}
            }
            offset += whole.len();
        }
    }
    parted
}

fn split(paths: &[&Path], options: &Options, exec: &ExecOptions) -> Parted {
    let paths: Vec<_> = paths.iter().map(|&path| path.to_owned()).collect();
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    // Do not detect compression by the first bytes.
    let inputs: Vec<_> =
        list_inputs(&paths).into_iter().map(|input| input.with_codec(Some(Codec::Plain))).collect();
    let split = split_inputs(&inputs, options, exec, Some(&mut accepted), Some(&mut refused)).unwrap();
    assert!(split.failures.is_empty(), "{:?}", split.failures);
    Parted { accepted, refused, counts: [split.accepted, split.refused, split.blank] }
}

fn options(by: &[Grammar], blank: Blank, form: Form) -> Options {
    let mut options = Options::default();
    options.by = by.iter().copied().collect();
    options.blank = blank;
    options.form = form;
    options
}

fn exec(threads: usize, shard_len: usize, kernel: KernelId) -> ExecOptions {
    let mut exec = support::exec(threads, shard_len);
    exec.kernel = kernel;
    exec
}

const BLANKS: [Blank; 3] = [Blank::Accepted, Blank::Refused, Blank::Dropped];
const FORMS: [Form; 2] = [Form::Tsv, Form::Lines];

/// The set of grammars with these bits.
fn set(bits: usize) -> Vec<Grammar> {
    Verdict::from_bits(u8::try_from(bits).unwrap()).iter().collect()
}

#[test]
fn corpora_are_split_as_the_naive_twin_does() {
    let files = crate::support::corpus_files();
    assert!(files.len() > 50);
    on_all_cores(files.len() as u64, |n| {
        let n = usize::try_from(n).unwrap();
        let path = &files[n];
        let bytes = fs::read(path).unwrap();
        let name = escape::printable(path.as_os_str().as_encoded_bytes());
        let sets = [set(16), set(8), set(4), set(2), set(1), set(0), set(31), set(n % 32)];
        // The short mode splits each file by three of the sets.
        let share = usize::try_from(amount(3, 1)).unwrap();
        for (m, by) in (n..).zip(sets).filter(|(m, _)| m % share == 0) {
            let options = options(&by, BLANKS[m % 3], FORMS[m % 2]);
            let expected = split_by_judge(&[(&name, &bytes)], &options);
            for kernel in KernelId::available() {
                for (threads, shard_len) in [(1, 1 << 20), (3, 4099)] {
                    let exec = exec(threads, shard_len, kernel);
                    let found = split(&[path], &options, &exec);
                    if let Some(difference) = found.difference(&expected) {
                        panic!("{name} {options:?} {exec:?}\n{difference}");
                    }
                }
            }
        }
        0
    });
}

/// Random lines with all kinds of line ends. Some grammar accepts most of them.
fn buffer(rng: &mut Rng) -> Vec<u8> {
    let mut bytes = Vec::new();
    if rng.below(8) == 0 {
        bytes.extend(b"\xef\xbb\xbf");
    }
    let odd = [2, 8, 100][rng.below(3)];
    let most = [4, 30, 300][rng.below(3)];
    for _ in 0..rng.below(most) {
        match rng.below(odd) {
            0 => bytes.extend((0..rng.below(20)).map(|_| u8::try_from(rng.below(256)).unwrap())),
            1 => bytes.extend(mutated(&drawn(rng), rng)),
            _ if rng.below(2) == 0 => bytes.extend(b"http://example.org/a/b?c"),
            _ => bytes.extend(drawn(rng)),
        }
        let ends: [&[u8]; 6] = [b"\r\n", b"\r\r\n", b"\n\n", b"\r", b"\n\r\n", b"\n\n\n\n"];
        bytes.extend(if rng.below(odd) == 0 { ends[rng.below(6)] } else { b"\n" });
    }
    if rng.below(2) == 0 {
        bytes.pop();
    }
    bytes
}

#[test]
fn random_inputs_are_split_as_the_naive_twin_does() {
    on_all_cores(amount(200, 800), |n| {
        let mut rng = Rng::new(n);
        let directory = tempfile::tempdir().unwrap();
        let inputs: Vec<_> = (0..=rng.below(3)).map(|_| buffer(&mut rng)).collect();
        let paths: Vec<_> = (0..inputs.len()).map(|n| directory.path().join(n.to_string())).collect();
        let mut named = Vec::new();
        for (path, bytes) in paths.iter().zip(&inputs) {
            fs::write(path, bytes).unwrap();
            named.push((path.to_str().unwrap(), &bytes[..]));
        }
        let mut options = options(&set(rng.below(32)), BLANKS[rng.below(3)], FORMS[rng.below(2)]);
        options.header = options.form == Form::Tsv && rng.below(2) == 0;
        let expected = split_by_judge(&named, &options);
        for kernel in KernelId::available() {
            let exec = exec(1 + rng.below(4), [16, 100, 4096, 1 << 20][rng.below(4)], kernel);
            let found = split(&paths.iter().map(PathBuf::as_path).collect::<Vec<_>>(), &options, &exec);
            if let Some(difference) = found.difference(&expected) {
                panic!("number {n} {options:?} {exec:?}\n{difference}");
            }
        }
        0
    });
}

/// Checks without the judge that the input can be rebuilt from the outputs.
#[test]
fn the_input_is_in_the_outputs() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list");
    for n in 0..300 {
        let mut rng = Rng::new(n);
        let bytes = buffer(&mut rng);
        fs::write(&path, &bytes).unwrap();
        let by = set(1 + rng.below(31));
        let exec = exec(2, 64, KernelId::best());
        let parted = split(&[&path], &options(&by, Blank::Accepted, Form::Lines), &exec);
        let (mut accepted, mut refused) = (&parted.accepted[..], &parted.refused[..]);
        let body = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        let lines = body.split_inclusive(|&byte| byte == b'\n');
        for line in lines.clone() {
            let side = if accepted.starts_with(line) { &mut accepted } else { &mut refused };
            *side = side.strip_prefix(line).expect("the line is next on one side");
        }
        assert!(accepted.is_empty() && refused.is_empty());
        assert_eq!(parted.counts.iter().sum::<u64>(), lines.clone().count() as u64);

        // Accepted lines are accepted again, and rows give the places of the refused ones.
        fs::write(&path, &parted.accepted).unwrap();
        let again = split(&[&path], &options(&by, Blank::Accepted, Form::Lines), &exec);
        assert_eq!(again.accepted, parted.accepted);
        fs::write(&path, &bytes).unwrap();
        let parted = split(&[&path], &options(&by, Blank::Refused, Form::Tsv), &exec);
        for row in String::from_utf8(parted.refused).unwrap().lines() {
            let fields: Vec<_> = row.split('\t').collect();
            let [_, number, offset, causes @ .., text] = &fields[..] else { panic!("too few fields: {row}") };
            assert_eq!(causes.len(), by.len());
            let whole = lines.clone().nth(number.parse::<usize>().unwrap() - 1).unwrap();
            assert_eq!(unescaped(text), trimmed(whole));
            let offset: usize = offset.parse().unwrap();
            assert_eq!(&bytes[offset..offset + whole.len()], whole);
        }
    }
}

#[test]
fn very_long_lines_pass_through() {
    let long = |byte: u8, ends: &str| [b"http://h/", &vec![byte; 5 << 20][..], ends.as_bytes()].concat();
    let texts = [
        [long(b'a', "\r\n"), long(b' ', "\n"), b"x y\nhttp://h/\n".to_vec(), long(b'a', "")].concat(),
        [b"a b\n".to_vec(), long(b'<', "")].concat(),
        vec![b'\r'; 5 << 20],
    ];
    for bytes in texts {
        let path = file(&bytes);
        for kernel in KernelId::available() {
            for form in FORMS {
                let options = options(&[Grammar::Rfc3986], Blank::Accepted, form);
                let found = split(&[&path], &options, &exec(2, 1 << 20, kernel));
                let expected = split_by_judge(&[(path.to_str().unwrap(), &bytes)], &options);
                assert_eq!(found.difference(&expected), None, "{kernel} {form:?}");
            }
        }
    }
}

#[test]
fn omitted_outputs_are_counted() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("list");
    fs::write(&path, "\u{feff}http://h/\n\nx y\nz").unwrap();
    let inputs = list_inputs(&[path, directory.path().join("missing")]);
    let (options, exec) = (Options::default(), ExecOptions::default());
    let split = split_inputs(&inputs, &options, &exec, None, None).unwrap();
    assert_eq!((split.accepted, split.refused, split.blank, split.boms), (2, 1, 1, 1));
    assert_eq!(split.failures.iter().map(|failure| failure.input).collect::<Vec<_>>(), [1]);
    let mut accepted = Vec::new();
    split_inputs(&inputs, &options, &exec, Some(&mut accepted), None).unwrap();
    assert_eq!(accepted, b"http://h/\n\nz");
}

const LIST: &[u8] =
    b"http://example.org/\nftp://fred:secret@example.org/a;b\n\n/a b\r\nHTTPS://example.org:8443/~x";

/// A directory with a list, where the command runs.
struct Desk(TempDir);

impl Desk {
    fn new(list: &[u8]) -> Self {
        let desk = Self(tempfile::tempdir().unwrap());
        fs::write(desk.0.path().join("list"), list).unwrap();
        desk
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
        command.arg("split").args(args).current_dir(self.0.path());
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).stdin(Stdio::null()).output().unwrap()
    }

    /// The contents of a file; `None` if it does not exist.
    fn read(&self, name: &str) -> Option<String> {
        Some(String::from_utf8(fs::read(self.0.path().join(name)).ok()?).unwrap())
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

#[test]
fn two_files_and_a_summary() {
    let desk = Desk::new(LIST);
    let output = desk.run(&["list", "--accepted", "good.txt", "--refused", "bad.tsv"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        text(&output.stderr),
        "urlsift: 3 lines accepted by rfc3986, 1 refused, 1 blank (written with the accepted)\n"
    );
    assert!(output.stdout.is_empty());
    assert_eq!(
        desk.read("good.txt").unwrap(),
        "http://example.org/\nftp://fred:secret@example.org/a;b\n\nHTTPS://example.org:8443/~x"
    );
    assert_eq!(desk.read("bad.tsv").unwrap(), "list\t4\t55\tpath:space@2\t/a b\n");
    assert_eq!(desk.names(), ["bad.tsv", "good.txt", "list"]);
    let alone = desk.run(&["list", "--refused", "alone.tsv"]);
    assert!(text(&alone.stderr).ends_with(" 1 blank (written nowhere)\n"), "{}", text(&alone.stderr));
}

#[test]
fn several_grammars_and_forms() {
    let desk = Desk::new(LIST);
    let output = desk.run(&[
        "list", "list", "--by", "rfc3986,rfc1738", "--refused", "-", "--header", "--blank", "refused", "-q",
        "--accepted", "good.txt",
    ]);
    assert!(output.stderr.is_empty());
    let rows = "\
list\t2\t20\tpath:character-not-allowed@32\t-\tftp://fred:secret@example.org/a;b
list\t3\t54\tblank\tblank\t
list\t4\t55\tscheme:missing-component@0\tpath:space@2\t/a b
list\t5\t61\tschemepart:illegal-character@25\t-\tHTTPS://example.org:8443/~x
";
    let expected = format!("input\tline\toffset\trfc1738\trfc3986\ttext\n{rows}{rows}");
    assert_eq!(text(&output.stdout), expected);
    assert_eq!(desk.read("good.txt").unwrap(), "http://example.org/\nhttp://example.org/\n");

    let output = desk.run(&["list", "list", "-g", "rfc1738", "--refused", "bad.txt", "--blank", "drop"]);
    let summary = "urlsift: 2 lines accepted by rfc1738, 6 refused, 2 blank (dropped)\n";
    assert_eq!(text(&output.stderr), summary);
    let once = "ftp://fred:secret@example.org/a;b\n/a b\r\nHTTPS://example.org:8443/~x";
    assert_eq!(desk.read("bad.txt").unwrap(), format!("{once}\n{once}"));
}

#[test]
fn an_input_that_fails_does_not_stop_the_others() {
    let desk = Desk::new(LIST);
    let output = desk.run(&["missing", "list", "-a", "-", "-q"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("urlsift: missing: "), "{}", text(&output.stderr));
    assert!(output.stdout.starts_with(b"http://example.org/\n"));
}

#[test]
fn wrong_outputs_fail_before_the_scan() {
    let desk = Desk::new(LIST);
    let case = |args: &[&str], message: &str| {
        let output = desk.run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(message), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && desk.names() == ["list"], "{args:?}");
        assert_eq!(desk.read("list").unwrap().as_bytes(), LIST);
    };
    case(&["list"], "--accepted <FILE>");
    case(&["list", "-a", "-", "-r", "-"], "standard output: accepted and refused lines cannot both go there");
    case(&["list", "-a", "x", "-r", "./x"], "cannot both go there");
    case(&["list", "-a", "list"], "is also an input (list)");
    case(&[".", "-r", "./list"], "is also an input");
    case(
        &["list", "-a", "x.txt", "-r", "x.tsv.lz4"],
        "x.tsv.lz4: files are packed as .gz, .zst, .bz2 and .xz only",
    );
    case(&["list", "-a", "nowhere/x"], "nowhere/x: ");
    case(&["list", "-a", "x", "-g", "rfc1738", "--by", "rfc1738"], "cannot be used with");
    case(&["list", "-a", "x", "--by", "rfc9999"], "invalid value 'rfc9999'");
    case(&["list", "-r", "x.txt", "--header"], "--header names the fields");
    case(&["list", "-a", "x", "--refused-as", "tsv"], "--refused <FILE>");
}

#[cfg(unix)]
#[test]
fn an_output_that_is_an_input_by_another_path_is_an_error() {
    let desk = Desk::new(LIST);
    let path = desk.0.path().join("list");
    std::os::unix::fs::symlink("list", desk.0.path().join("link")).unwrap();
    let append = || fs::File::options().append(true).open(&path).unwrap();
    let outputs = [
        desk.command(&["list", "-a", "link"]).output().unwrap(),
        desk.command(&["link", "-a", "list"]).output().unwrap(),
        desk.command(&["list", "-a", "-"]).stdout(append()).output().unwrap(),
        desk.command(&["-a", "list"]).stdin(fs::File::open(&path).unwrap()).output().unwrap(),
        desk.command(&["-", "-a", "list"]).stdin(fs::File::open(&path).unwrap()).output().unwrap(),
    ];
    for output in outputs {
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains("is also an input"), "{}", text(&output.stderr));
        assert_eq!(fs::read(&path).unwrap(), LIST);
    }
}

#[test]
fn outputs_are_compressed_by_their_names() {
    let list = b"http://example.org/\na b\nc d\r\n".repeat(50_000);
    let desk = Desk::new(&list);
    for (ending, codec) in [("gz", "gzip"), ("zst", "zstd"), ("bz2", "bzip2"), ("xz", "xz")] {
        let [good, bad] = [format!("good.{ending}"), format!("bad.txt.{ending}")];
        let output = desk.run(&["list", "-a", &good, "-r", &bad, "-q"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert!(fs::metadata(desk.0.path().join(&good)).unwrap().len() < 20_000);
        // The compressed outputs can be split again, and nothing is left over.
        let output = desk.run(&["--codec", codec, &good, "-a", "good", "-r", "nothing.txt", "-q"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert!(desk.read("good").unwrap() == "http://example.org/\n".repeat(50_000), "{codec}");
        assert_eq!(desk.read("nothing.txt").unwrap(), "");
        desk.run(&["--codec", codec, &bad, "-r", "bad.txt", "-q"]);
        assert!(desk.read("bad.txt").unwrap() == "a b\nc d\r\n".repeat(50_000), "{codec}");
    }
    // An empty output is compressed too.
    fs::write(desk.0.path().join("list"), "").unwrap();
    desk.run(&["list", "-a", "none.gz", "-q"]);
    assert_eq!(desk.run(&["--codec", "gzip", "none.gz", "-a", "-", "-q"]).status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn on_a_full_disk_neither_file_appears() {
    let desk = Desk::new(LIST);
    fs::write(desk.0.path().join("good.txt"), "before").unwrap();
    for args in [["-a", "good.txt", "-r", "/dev/full"], ["-r", "good.txt", "-a", "/dev/full"]] {
        let output = desk.run(&[&["list"][..], &args].concat());
        assert_eq!(output.status.code(), Some(2));
        let message = text(&output.stderr);
        assert!(message.starts_with("urlsift: /dev/full: No space left"), "{message}");
        assert_eq!(desk.read("good.txt").as_deref(), Some("before"));
        assert_eq!(desk.names(), ["good.txt", "list"]);
    }
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let output = desk.command(&["list", "-a", "-", "-r", "bad.tsv"]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("urlsift: standard output: No space left"));
    assert_eq!(desk.read("bad.tsv"), None);
}

/// The second file cannot be put in place, because a directory of that name appears while the command reads.
#[test]
fn if_one_file_cannot_be_put_in_place_the_other_is_not_either() {
    for before in [None, Some("before")] {
        let desk = Desk::new(LIST);
        let path = |name: &str| desk.0.path().join(name);
        if let Some(before) = before {
            fs::write(path("good.txt"), before).unwrap();
        }
        let mut names = desk.names();
        let mut command = desk.command(&["-a", "good.txt", "-r", "bad.tsv"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Both files are open once the command reads, with temporary names or without.
        let is_of_desk =
            |file: &fs::DirEntry| fs::read_link(file.path()).is_ok_and(|to| to.starts_with(desk.0.path()));
        let n_open = || {
            let files = fs::read_dir(format!("/proc/{}/fd", child.id())).into_iter().flatten().flatten();
            files.filter(is_of_desk).count()
        };
        while desk.names().len() < names.len() + 2 && n_open() < 2 {
            std::thread::yield_now();
        }
        fs::create_dir(path("bad.tsv")).unwrap();
        child.stdin.take().unwrap().write_all(LIST).unwrap();
        let output = child.wait_with_output().unwrap();
        let message = text(&output.stderr);
        assert!(output.status.code() == Some(2) && message.starts_with("urlsift: bad.tsv: "), "{message}");
        assert_eq!(message.lines().count(), 1, "{message}");
        assert_eq!(desk.read("good.txt").as_deref(), before);
        names.push("bad.tsv".to_owned());
        names.sort();
        assert_eq!(desk.names(), names, "nothing else is left");
        // Both are put in place once that is possible, and what they replace is gone.
        fs::remove_dir(path("bad.tsv")).unwrap();
        fs::write(path("bad.tsv"), "before").unwrap();
        let output = desk.run(&["list", "-a", "good.txt", "-r", "bad.tsv", "-q"]);
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert_eq!(desk.read("bad.tsv").unwrap(), "list\t4\t55\tpath:space@2\t/a b\n");
        assert_eq!(desk.names(), ["bad.tsv", "good.txt", "list"]);
    }
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_ends_its_side_only() {
    let desk = Desk::new(&b"http://example.org/\na b\n".repeat(1 << 17));
    for (pipe, file, rest) in [("-r", "-a", "http://example.org/\n"), ("-a", "-r", "a b\n")] {
        let mut child = desk
            .command(&["list", file, "out.txt", pipe, "-", "-q"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = [0; 3];
        child.stdout.take().unwrap().read_exact(&mut first).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
        assert!(desk.read("out.txt").unwrap() == rest.repeat(1 << 17));
    }
    let mut child =
        desk.command(&["list", "-a", "-"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""), "nobody is left to tell");
}

#[test]
fn lines_are_written_as_they_arrive() {
    let desk = Desk::new(b"");
    let mut child =
        desk.command(&["-a", "-", "-q"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut stdin, mut stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    for line in [&b"http://a/\n"[..], b"b c\nhttp://b/\r\n"] {
        stdin.write_all(line).unwrap();
        let expected = line.strip_prefix(b"b c\n").unwrap_or(line);
        let mut found = vec![0; expected.len()];
        stdout.read_exact(&mut found).unwrap();
        assert_eq!(found, expected);
    }
    drop(stdin);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}
