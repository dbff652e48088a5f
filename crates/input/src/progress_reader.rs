//! Sources that report to a [`Watch`] how much is read, and that it can stop.
//!
//! This module decides how a stop ends a read that waits. It knows no codecs and no lines.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::pipe::enlarge_pipe;
use crate::progress::{Stopped, Watch};

#[cfg(not(unix))]
pub(super) use read_aside::interruptible;

/// The bytes of an open source.
pub(super) type ByteStream = Box<dyn Read + Send>;

/// Whether a read of a source would return at once.
pub(super) type IsReady = Box<dyn Fn() -> bool + Send>;

/// Asks the system whether a read of `source` would return at once. `None` if there is no way to ask.
#[cfg(unix)]
fn readiness(source: &File) -> Option<IsReady> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let source = source.try_clone().ok()?;
    Some(Box::new(move || {
        let mut source = [PollFd::new(&source, PollFlags::IN)];
        poll(&mut source, Some(&Timespec::default())).is_ok_and(|n_ready| n_ready > 0)
    }))
}

/// A source whose reads never block for long, such as a file. After a stop of `watch`, a read fails, except at the end of the source.
pub(super) fn stoppable(source: impl Read + Send + 'static, watch: Option<&Watch>) -> ByteStream {
    match watch {
        Some(watch) => Box::new(Stoppable { source, watch: watch.clone() }),
        None => Box::new(source),
    }
}

/// Standard input, and whether a read would return at once. After `watch` is stopped, reading it fails, even a read that
/// waits for more input.
///
/// # Errors
/// When there is no standard input.
pub(super) fn standard(watch: Option<&Watch>) -> io::Result<(ByteStream, Option<IsReady>)> {
    enlarge_pipe(&io::stdin());
    match watch {
        #[cfg(unix)]
        Some(watch) => {
            use std::os::fd::AsFd;
            // `io::stdin` is not used, because it reads ahead: its buffer may hold input when the descriptor has none.
            let source = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            let is_ready = readiness(&source);
            Ok((interruptible(source, watch), is_ready))
        }
        #[cfg(not(unix))]
        Some(watch) => Ok((interruptible(io::stdin(), watch), None)),
        None => Ok((Box::new(io::stdin()), None)),
    }
}

/// A pipe or a device, and whether a read would return at once. After `watch` is stopped, reading it fails, even a read
/// that waits for more input.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn waiting(path: &Path, watch: &Watch) -> io::Result<(ByteStream, Option<IsReady>)> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe blocks until a process opens it for writing. Only this flag prevents that. It is set
    // on Linux alone: other systems may then take a pipe that no process has opened yet for one that all writers have
    // closed.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    let file = options.open(path)?;
    enlarge_pipe(&file);
    #[cfg(unix)]
    let is_ready = readiness(&file);
    #[cfg(not(unix))]
    let is_ready = None;
    Ok((interruptible(file, watch), is_ready))
}

struct Stoppable<R> {
    source: R,
    watch: Watch,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.watch.is_stopped() || buffer.is_empty() {
            return ProgressReader { source: &mut self.source, watch: Some(&self.watch) }.read(buffer);
        }
        // A stop behind the last byte leaves out nothing.
        if matches!(self.source.read(&mut buffer[..1]), Ok(0)) { Ok(0) } else { Err(Stopped.into()) }
    }
}

/// A source whose reads are reported to a watch, but which the watch does not stop.
pub struct ProgressReader<'a, R> {
    pub source: R,
    pub watch: Option<&'a Watch>,
}

impl<R: Read> Read for ProgressReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        if let Some(watch) = self.watch {
            watch.read(n);
        }
        Ok(n)
    }
}

/// A source whose reads may block, such as a pipe or a terminal. A signal does not end a read that waits, so the source
/// is read only when it has data. After `watch` is stopped, the end of the source counts as a stop. The reason is that
/// what stops a reader, such as Ctrl-C, also stops the processes that write to it.
#[cfg(unix)]
pub(super) fn interruptible(
    source: impl Read + std::os::fd::AsFd + Send + 'static,
    watch: &Watch,
) -> ByteStream {
    Box::new(Waiting { source, watch: watch.clone() })
}

#[cfg(unix)]
struct Waiting<R> {
    source: R,
    watch: Watch,
}

#[cfg(unix)]
impl<R: Read + std::os::fd::AsFd> Read for Waiting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.watch.wait_for(&self.source)?;
            match (ProgressReader { source: &mut self.source, watch: Some(&self.watch) }).read(buffer) {
                // Another process also reads from this source, and was faster.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Ok(0) if self.watch.is_stopped() => return Err(Stopped.into()),
                result => return result,
            }
        }
    }
}

/// The same for systems on which nothing can wait for a source and a stop at once: a thread of its own reads the source.
#[cfg(not(unix))]
mod read_aside {
    use std::io::{self, Read};
    use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
    use std::thread;
    use std::time::Duration;

    use super::{ByteStream, ProgressReader, Stopped, Watch};

    /// How long a reader waits before it looks whether the watch was stopped.
    const PAUSE: Duration = Duration::from_millis(50);

    /// The bytes of one read.
    const LEN: usize = 1 << 18;

    /// Reads `source` in another thread. After a stop, that thread remains until its read ends.
    pub fn interruptible(mut source: impl Read + Send + 'static, watch: &Watch) -> ByteStream {
        let (pieces, arriving) = sync_channel(1);
        thread::spawn(move || {
            loop {
                let mut piece = vec![0; LEN];
                let n = match source.read(&mut piece) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    n => n,
                };
                let is_last = !matches!(n, Ok(1..));
                let piece = n.map(|n| {
                    piece.truncate(n);
                    io::Cursor::new(piece)
                });
                if pieces.send(piece).is_err() || is_last {
                    break;
                }
            }
        });
        Box::new(Waiting { arriving, piece: io::Cursor::default(), watch: watch.clone() })
    }

    struct Waiting {
        arriving: Receiver<io::Result<io::Cursor<Vec<u8>>>>,
        piece: io::Cursor<Vec<u8>>,
        watch: Watch,
    }

    impl Read for Waiting {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            loop {
                if self.watch.is_stopped() {
                    return Err(Stopped.into());
                }
                match (ProgressReader { source: &mut self.piece, watch: Some(&self.watch) }).read(buffer) {
                    Ok(0) => {}
                    result => return result,
                }
                match self.arriving.recv_timeout(PAUSE) {
                    Ok(piece) => self.piece = piece?,
                    Err(RecvTimeoutError::Timeout) => {}
                    // The source has ended, or its error has been returned.
                    Err(RecvTimeoutError::Disconnected) => return Ok(0),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stop_behind_the_last_byte_leaves_out_nothing() {
        for n_read in 0..=3 {
            let watch = Watch::default();
            let mut source = stoppable(&b"abc"[..], Some(&watch));
            source.read_exact(&mut vec![0; n_read]).unwrap();
            watch.stop();
            assert_eq!(source.read(&mut [0; 8]).ok(), (n_read == 3).then_some(0));
        }
    }
}
