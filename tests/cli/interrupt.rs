//! Ctrl-C and SIGTERM: the first stops the command cleanly in any state, the second ends it at once.

#![allow(unsafe_code, reason = "signals and pipes are named by numbers")]

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::terminal::Terminal;
use super::{folder_with, text, urlsift};
use crate::support::file;

fn send(child: &Child, signal: i32) {
    // SAFETY: the child has not been waited for, so its process number is still valid.
    assert_eq!(unsafe { libc::kill(child.id().cast_signed(), signal) }, 0);
}

fn spawn(command: &mut Command) -> Child {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Whether the command handles signals, and whether all its threads are waiting, according to `/proc`.
#[cfg(target_os = "linux")]
fn listens_and_waits(child: &Child) -> (bool, bool) {
    let folder = format!("/proc/{}", child.id());
    let status = fs::read_to_string(format!("{folder}/status")).unwrap();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
    let listens = u64::from_str_radix(caught.trim(), 16).unwrap() >> (libc::SIGINT - 1) & 1 == 1;
    let waits = |thread: std::io::Result<fs::DirEntry>| {
        // A thread that ended in between has no file. The state follows the name, which is in parentheses.
        let text = fs::read_to_string(thread.unwrap().path().join("stat")).unwrap_or_default();
        text.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    (listens, fs::read_dir(format!("{folder}/task")).unwrap().all(waits))
}

/// Other systems have no `/proc`, so it only waits a second.
#[cfg(not(target_os = "linux"))]
fn listens_and_waits(_: &Child) -> (bool, bool) {
    thread::sleep(Duration::from_secs(1));
    (true, true)
}

/// Waits until the command handles signals and cannot continue without input.
fn let_it_wait(child: &Child) {
    let mut n_times = 0;
    // Check several times, because written data may still be in transit.
    until("it waits", || {
        n_times = if listens_and_waits(child) == (true, true) { n_times + 1 } else { 0 };
        n_times == 10
    });
}

/// Waits until the command handles signals and has read more than `n_bytes`.
fn let_it_read(child: &Child, n_bytes: u64) {
    let has_read = || {
        let Ok(io) = fs::read_to_string(format!("/proc/{}/io", child.id())) else { return true };
        let count = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        count.parse::<u64>().unwrap() > n_bytes
    };
    until("it reads", || listens_and_waits(child).0 && has_read());
}

fn until(what: &str, mut comes: impl FnMut() -> bool) {
    let start = Instant::now();
    while !comes() {
        assert!(start.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The output of a child that was told to end. It must end within a minute.
fn ended(child: Child) -> Output {
    let start = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < Duration::from_secs(60));
    output
}

/// A named pipe without a writer.
fn fifo(folder: &Path) -> String {
    let path = folder.join("fifo");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_silent_pipe_is_not_planned() {
    let folder = tempfile::tempdir().unwrap();
    let output = urlsift().args(["plan", &fifo(folder.path())]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).ends_with("only files can be planned\n"), "{}", text(&output.stderr));
}

#[test]
fn stopping_at_a_silent_pipe_shows_a_partial_report() {
    for (signal, status, word) in [(libc::SIGINT, 130, "interrupted"), (libc::SIGTERM, 143, "terminated")] {
        let mut child = spawn(urlsift().args(["--format", "json"]));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"http://h/\nhttp://h/a b\nhttp://unfinis").unwrap();
        let_it_wait(&child);
        send(&child, signal);
        let output = ended(child);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(status), ""));
        let errors = text(&output.stderr);
        assert!(errors.contains("standard input   2 lines   23 B\nINCOMPLETE"), "whole lines only: {errors}");
        assert!(errors.contains("-: stopped before its end"), "{errors}");
        let end = format!(
            "urlsift: {word}: 37 bytes had been read, and the report above is of the lines that had ended; nothing was written \
             to standard output\n"
        );
        assert!(errors.ends_with(&end), "{errors}");
        drop(stdin);
    }
}

#[test]
fn a_pipe_closed_by_the_same_signal_is_no_normal_end() {
    for n in 0..20 {
        let args = if n % 2 == 0 { &[][..] } else { &["lines", "-c", "line"] };
        let mut child = spawn(urlsift().args(args));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"http://h/\nhttp://unfinis").unwrap();
        let_it_wait(&child);
        send(&child, libc::SIGINT);
        drop(stdin);
        let output = ended(child);
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stdout));
        assert!(!text(&output.stdout).contains('2'), "{}", text(&output.stdout));
    }
}

#[test]
fn stopping_in_an_endless_line_reports_the_bytes_read() {
    let raw = ["--input-format", "lines", "--codec", "none"];
    let child = spawn(urlsift().args(raw).arg("/dev/zero"));
    let_it_read(&child, 4 << 20);
    send(&child, libc::SIGINT);
    let output = ended(child);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(130), ""));
    let (_, sentence) = text(&output.stderr).rsplit_once("urlsift: interrupted: ").unwrap();
    let n_read = sentence.split_once(" bytes had been read, and").unwrap().0.replace(',', "");
    assert!(n_read.parse::<u64>().unwrap() > 1 << 20, "{sentence}");
}

#[test]
fn waiting_for_a_pipe_can_be_stopped() {
    let folder = folder_with(&[("target", "before")]);
    let target = folder.path().join("target");
    let (fifo, target) = (fifo(folder.path()), target.to_str().unwrap());
    for args in [&[][..], &["lines"]] {
        let child = spawn(urlsift().args(args).args([&fifo, "-o", target]));
        let_it_wait(&child);
        send(&child, libc::SIGINT);
        let output = ended(child);
        assert_eq!((output.status.code(), text(&output.stdout)), (Some(130), ""), "{args:?}");
        assert!(text(&output.stderr).ends_with(&format!("nothing was written to {target}\n")));
        assert_eq!(fs::read_to_string(target).unwrap(), "before");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2, "the file begun is gone");
    }
    let refused = folder.path().join("refused");
    let child = spawn(urlsift().args(["split", &fifo, "-a", target, "-r"]).arg(refused));
    let_it_wait(&child);
    send(&child, libc::SIGTERM);
    let output = ended(child);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(143), ""));
    assert_eq!(text(&output.stderr), "urlsift: terminated: nothing was written\n");
    assert_eq!(fs::read_to_string(target).unwrap(), "before");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

/// A closed terminal stops the command like SIGTERM, unless `nohup` says that it should go on.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_terminal_stops_the_command() {
    for is_ignored in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let program = env!("CARGO_BIN_EXE_urlsift");
        // The tests may run under `nohup` themselves.
        let start = if is_ignored { "trap '' HUP; exec" } else { "exec env --default-signal=HUP" };
        let mut shell = Command::new("sh");
        let script = format!("{start} {program} lines -c line -o rows");
        let mut child = spawn(shell.args(["-c", &script]).current_dir(&folder));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"http://h/\n").unwrap();
        let_it_wait(&child);
        send(&child, libc::SIGHUP);
        if is_ignored {
            let_it_wait(&child);
            stdin.write_all(b"http://h/\n").unwrap();
            drop(stdin);
            assert_eq!(ended(child).status.code(), Some(0));
            assert_eq!(fs::read_to_string(folder.path().join("rows")).unwrap(), "1\n2\n");
        } else {
            let output = ended(child);
            assert_eq!(output.status.code(), Some(129));
            assert!(text(&output.stderr).ends_with("urlsift: terminated: nothing was written to rows\n"));
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        }
    }
}

/// An output has no name until it is whole, where the file system can have such files.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_of_a_command_that_is_killed() {
    use std::os::unix::fs::OpenOptionsExt;

    let folder = tempfile::tempdir().unwrap();
    if File::options().write(true).custom_flags(libc::O_TMPFILE).open(&folder).is_err() {
        return;
    }
    fs::write(folder.path().join("good.txt"), "before").unwrap();
    for args in [&["--json", "-o", "report"][..], &["split", "-a", "good.txt", "-r", "bad.gz"]] {
        let mut child = spawn(urlsift().args(args).current_dir(&folder));
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"http://h/\nhttp://h/a b\n").unwrap();
        let_it_wait(&child);
        send(&child, libc::SIGKILL);
        assert_eq!(ended(child).status.code(), None);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{args:?}");
    }
    assert_eq!(fs::read_to_string(folder.path().join("good.txt")).unwrap(), "before");
}

#[test]
fn a_pipe_that_is_opened_late_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = fifo(folder.path());
    let child = spawn(urlsift().args(["lines", "-c", "line", &fifo]));
    let_it_wait(&child);
    let mut end = File::options().write(true).open(&fifo).unwrap();
    end.write_all(b"http://h/\n").unwrap();
    let_it_wait(&child);
    end.write_all(b"http://h/\n").unwrap();
    drop(end);
    let output = ended(child);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(0), "1\n2\n"));
}

#[test]
fn stopping_a_long_scan_keeps_the_beginning_of_each_input() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let mut file = File::create(&path).unwrap();
    file.write_all(&b"http://h/\nhttp://h/a b\n".repeat(1 << 20)).unwrap();
    // A line of 64 GiB that uses no disk space.
    file.set_len(1 << 36).unwrap();
    let child = spawn(urlsift().args(["-j2", "--color", "never"]).arg(&path));
    let_it_read(&child, 64 << 20);
    send(&child, libc::SIGINT);
    let output = ended(child);
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(130), ""));
    let errors = text(&output.stderr);
    assert!(errors.contains("2,097,152 lines   24.12 MB\nINCOMPLETE"), "{errors}");
    assert!(errors.contains(":2:11\n"), "lines are numbered: {errors}");
}

#[test]
fn stopped_rows_end_with_a_whole_row() {
    let mut child = spawn(urlsift().arg("lines"));
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdin.write_all(b"http://h/\nhttp://unfinis").unwrap();
    let mut record = [0; 64];
    let n = stdout.read(&mut record).unwrap();
    assert!(record[..n].ends_with(b"\thttp://h/\n"));
    send(&child, libc::SIGINT);
    let output = ended(child);
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(text(&output.stderr), "urlsift: interrupted: the records end before the input does\n");
    let mut rest = Vec::new();
    stdout.read_to_end(&mut rest).unwrap();
    assert_eq!(text(&rest), "");
}

#[test]
fn a_second_signal_ends_the_command_at_once() {
    let path = file(b"http://h/\n".repeat(1 << 18));
    // The rows are not read, so the command blocks on writing.
    let mut child = spawn(urlsift().arg("lines").arg(&path));
    let_it_wait(&child);
    send(&child, libc::SIGINT);
    let_it_wait(&child);
    assert!(child.try_wait().unwrap().is_none(), "it waits for its reader");
    send(&child, libc::SIGINT);
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_signal_after_the_work_ends_the_command_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, list) = (folder.path().join("urls"), folder.path().join("list"));
    fs::write(&path, "http://h/\n").unwrap();
    fs::write(&list, format!("{}\n", path.display()).repeat(3000)).unwrap();
    let n_bytes = fs::metadata(&list).unwrap().len() + 3000 * 10;
    for (signal, status) in [(libc::SIGINT, 130), (libc::SIGTERM, 143)] {
        // The report, which is longer than a pipe, is not read.
        let command = || spawn(urlsift().args(["--json", "--files-from"]).arg(&list));
        let (mut waits, mut has_read) = (command(), command());
        let_it_wait(&waits);
        // The scan may have ended or not.
        let_it_read(&has_read, n_bytes);
        for child in [&mut waits, &mut has_read] {
            send(child, signal);
            until("it ends", || child.try_wait().unwrap().is_some());
            assert_eq!(child.wait().unwrap().code(), Some(status));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_input_takes_less_than_two_kilobytes() {
    use std::os::unix::fs::OpenOptionsExt;

    let folder = folder_with(&[("urls.txt", "http://h/\nhttp://h/ a\n")]);
    let fifo = fifo(folder.path());
    // The pipe is full, so the command waits while it has the report.
    let mut pipe = File::options().read(true).write(true).custom_flags(libc::O_NONBLOCK).open(&fifo).unwrap();
    // SAFETY: the call takes numbers and accesses no memory. The command asks for the same length.
    unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&pipe), libc::F_SETPIPE_SZ, 1 << 20) };
    while pipe.write(&[0; 4096]).is_ok() {}
    let peak = |n: usize| -> usize {
        fs::write(folder.path().join("list"), "urls.txt\n".repeat(n)).unwrap();
        let command = &mut urlsift();
        let mut child =
            spawn(command.current_dir(&folder).args(["-j1", "--files-from", "list", "-o", "fifo"]));
        let_it_wait(&child);
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    };
    let (few, many) = (peak(8_000), peak(16_000));
    let of_one = many.saturating_sub(few) / 8_000;
    assert!(of_one < 2_000, "{of_one} bytes");
}

#[test]
fn ctrl_c_stops_input_from_a_terminal() {
    let mut command = urlsift();
    command.arg("-");
    let mut terminal = Terminal::start(command, None, None);
    terminal.press(b"http://typed/\n");
    let_it_wait(terminal.command());
    terminal.press(b"\x03");
    let (status, shown) = terminal.end();
    assert_eq!(status, Some(130));
    assert!(shown.contains("standard input   1 line "), "{shown}");
    assert!(shown.contains("INCOMPLETE"), "{shown}");
}
