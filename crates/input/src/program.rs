//! What a program makes of an input, read while it runs.
//!
//! The program gets the input as its standard input, and the path as its last argument. There is no shell, and no thread
//! that copies. This module decides how the program starts, and what its end means.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use super::pipe::enlarge_pipe;
use super::progress_reader::{ByteStream, interruptible};
use crate::progress::{Stopped, Watch};
use urlsift_grammar::password::shown;

/// Starts `command` for the file at `path`, and returns its standard output. Reading fails at the end if the program fails,
/// and after a stop of `watch`. The program is killed when the output is dropped before its end.
///
/// # Errors
/// When the file cannot be opened, or the program cannot be run.
pub(super) fn output_of(command: &str, path: &Path, watch: Option<&Watch>) -> io::Result<ByteStream> {
    let file = File::open(path)?;
    let shown = shown(command.as_bytes());
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    // A name that begins with "-" is no option.
    let is_like_an_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
    let path = if is_like_an_option { &Path::new(".").join(path) } else { path };
    let mut child = Command::new(program)
        .args(words)
        .arg(path)
        .stdin(file)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|cause| io::Error::other(format!("cannot run \"{shown}\": {cause}")))?;
    let Some(output) = child.stdout.take() else { unreachable!("it is a pipe") };
    enlarge_pipe(&output);
    let output: ByteStream = match watch {
        Some(watch) => interruptible(output, watch),
        None => Box::new(output),
    };
    Ok(Box::new(ProgramOutput { output, child: Some(child), command: shown, watch: watch.cloned() }))
}

struct ProgramOutput {
    output: ByteStream,
    /// The program, until it has ended.
    child: Option<Child>,
    command: String,
    watch: Option<Watch>,
}

impl Read for ProgramOutput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.output.read(buffer)?;
        if n == 0
            && !buffer.is_empty()
            && let Some(child) = &mut self.child
        {
            let status = status_of(child, self.watch.as_ref())?;
            self.child = None;
            if !status.success() {
                return Err(io::Error::other(format!("\"{}\" ended {}", self.command, how(status))));
            }
        }
        Ok(n)
    }
}

impl Drop for ProgramOutput {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Waits until a program ends that has closed its output.
///
/// # Errors
/// When `watch` is stopped first.
fn status_of(child: &mut Child, watch: Option<&Watch>) -> io::Result<ExitStatus> {
    // Most programs end at once. No system can wait for a process and a stop at the same time.
    let mut pause = Duration::from_micros(50);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if watch.is_some_and(Watch::is_stopped) {
            return Err(Stopped.into());
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}

/// How a program ended that failed.
fn how(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("by signal {signal}");
    }
    status
        .code()
        .map_or_else(|| "without an exit status".to_owned(), |code| format!("with exit status {code}"))
}
