//! Progress is shown at a terminal, and nowhere else.

use std::fs::{self, File};
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::terminal::Terminal;
use super::{text, urlsift};

/// A pipe that delivers one line at once, and nothing more until the test drops its other end.
fn slow() -> (Stdio, ChildStdin) {
    let mut cat = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut end = cat.stdin.take().unwrap();
    end.write_all(b"http://h/\n").unwrap();
    let pipe = cat.stdout.take().unwrap().into();
    thread::spawn(move || cat.wait());
    (pipe, end)
}

/// The escape sequence that erases a line.
const ERASED: &str = "\x1b[2K";

#[test]
fn a_pipe_shows_progress_without_a_total() {
    let (pipe, end) = slow();
    let terminal = Terminal::start(urlsift(), Some(pipe), None);
    terminal.wait_for("10 B  ");
    drop(end);
    let (status, shown) = terminal.end();
    assert_eq!(status, Some(0));
    let (progress, report) = shown.split_once("urlsift 0.").unwrap();
    assert!(progress.ends_with(ERASED) || progress.ends_with(&format!("{ERASED}\r")), "{progress:?}");
    assert!(!report.contains(ERASED), "{report}");
}

#[test]
fn a_file_shows_progress_with_a_percentage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long");
    File::create(&path).unwrap().set_len(1 << 36).unwrap();
    let mut command = urlsift();
    command.args(["-j2", "--kernel", "portable", "--input-format", "lines", "--codec", "none"]).arg(path);
    let mut terminal = Terminal::start(command, None, None);
    terminal.wait_for("% ");
    terminal.wait_for(" of 68.72 GB");
    terminal.wait_for("/s");
    terminal.press(b"\x03");
    assert_eq!(terminal.end().0, Some(130));
}

/// How often a command that runs longer than a second shows progress.
fn n_shown(args: &[&str], stdout: Option<Stdio>) -> usize {
    let (pipe, end) = slow();
    let mut command = urlsift();
    command.args(args);
    let terminal = Terminal::start(command, Some(pipe), stdout);
    thread::sleep(Duration::from_millis(1300));
    drop(end);
    let (status, shown) = terminal.end();
    assert_eq!(status, Some(0), "{shown}");
    shown.matches(ERASED).count()
}

/// Waits until progress is shown, without a time limit.
fn is_shown(args: &[&str], stdout: Option<Stdio>) {
    let (pipe, end) = slow();
    let mut command = urlsift();
    command.args(args);
    let terminal = Terminal::start(command, Some(pipe), stdout);
    terminal.wait_for(ERASED);
    drop(end);
    assert_eq!(terminal.end().0, Some(0));
}

#[test]
fn no_progress_if_unwanted_or_mixed_with_output() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("records");
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(n_shown(&["--no-progress"], None), 0));
        scope.spawn(|| assert_eq!(n_shown(&["lines"], None), 0, "records on the terminal"));
        scope.spawn(|| assert_eq!(n_shown(&["lines"], Some(Stdio::piped())), 0, "perhaps a pager behind it"));
        scope.spawn(|| is_shown(&["lines", "-o", path.to_str().unwrap()], None));
        scope.spawn(|| {
            let file = File::create(folder.path().join("more")).unwrap();
            is_shown(&["lines"], Some(file.into()));
        });
    });
    assert_eq!(fs::read(&path).unwrap(), fs::read(folder.path().join("more")).unwrap());
}

#[test]
fn no_progress_while_input_is_typed() {
    let mut terminal = Terminal::start(
        {
            let mut command = urlsift();
            command.arg("-");
            command
        },
        None,
        None,
    );
    terminal.press(b"http://h/\n");
    thread::sleep(Duration::from_millis(1300));
    terminal.press(b"\x04");
    let (status, shown) = terminal.end();
    assert_eq!(status, Some(0));
    assert!(!shown.contains(ERASED) && shown.contains("1 line "), "{shown}");
}

#[test]
fn no_progress_in_scripts_and_for_short_work() {
    let (pipe, end) = slow();
    let child = urlsift().stdin(pipe).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    thread::sleep(Duration::from_millis(1300));
    drop(end);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let mut command = urlsift();
    command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/corpora/samples/mosaic_1990s.txt"));
    let start = Instant::now();
    let (status, shown) = Terminal::start(command, None, None).end();
    assert_eq!(status, Some(0));
    assert!(!shown.contains(ERASED) || start.elapsed() > Duration::from_secs(1), "{shown}");
}
