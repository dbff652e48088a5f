//! Sources that tell a [`Watch`] what is read of them, and that it can stop.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::progress::{Stopped, Watch};

/// The bytes of an open source.
pub(super) type Bytes = Box<dyn Read + Send>;

/// A source whose reads never wait for long, such as a file: once `watch` is stopped, reading it fails.
pub(super) fn stoppable(source: impl Read + Send + 'static, watch: Option<&Watch>) -> Bytes {
    match watch {
        Some(watch) => Box::new(Stoppable { source, watch: watch.clone() }),
        None => Box::new(source),
    }
}

/// Standard input: once `watch` is stopped, reading it fails, also where that waits for more to come.
///
/// # Errors
/// When there is none.
pub(super) fn standard(watch: Option<&Watch>) -> io::Result<Bytes> {
    match watch {
        #[cfg(unix)]
        Some(watch) => {
            use std::os::fd::AsFd;
            // Not what `stdin` reads from: nobody knows what that has read ahead.
            let source = File::from(io::stdin().as_fd().try_clone_to_owned()?);
            Ok(Box::new(Waiting { source, watch: watch.clone() }))
        }
        #[cfg(not(unix))]
        Some(watch) => Ok(Box::new(Waiting { source: io::stdin(), watch: watch.clone() })),
        None => Ok(Box::new(io::stdin())),
    }
}

/// A pipe or a device: once `watch` is stopped, reading it fails, also where that waits for more to come.
///
/// # Errors
/// When it cannot be opened.
pub(super) fn waiting(path: &Path, watch: &Watch) -> io::Result<Bytes> {
    let mut options = File::options();
    options.read(true);
    // Opening a pipe waits until somebody writes to it, and only this ends that. Other systems may then take one that nobody
    // has opened for one that all have left.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        rustix::fs::OFlags::NONBLOCK.bits().cast_signed(),
    );
    Ok(Box::new(Waiting { source: options.open(path)?, watch: watch.clone() }))
}

struct Stoppable<R> {
    source: R,
    watch: Watch,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.watch.is_stopped() {
            return Err(Stopped.into());
        }
        Told { source: &mut self.source, watch: Some(&self.watch) }.read(buffer)
    }
}

/// A source of which the watch is told what is read, and which it does not stop.
pub(crate) struct Told<'a, R> {
    pub(crate) source: R,
    pub(crate) watch: Option<&'a Watch>,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.source.read(buffer)?;
        if let Some(watch) = self.watch {
            watch.read(n);
        }
        Ok(n)
    }
}

/// A source that may keep its reader waiting, as pipes and terminals do. A signal does not end a read that waits, so there is
/// none: it is only read when there is something. Nor is its end its end once `watch` is stopped: what stops a reader stops those
/// who write to it.
struct Waiting<R> {
    source: R,
    watch: Watch,
}

impl<R: Read> Waiting<R> {
    fn read_now(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = Told { source: &mut self.source, watch: Some(&self.watch) }.read(buffer)?;
        if n == 0 && self.watch.is_stopped() { Err(Stopped.into()) } else { Ok(n) }
    }
}

#[cfg(unix)]
impl<R: Read + std::os::fd::AsFd> Read for Waiting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            self.watch.wait_for(&self.source)?;
            match self.read_now(buffer) {
                // Somebody else reads there too, and was faster.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
        }
    }
}

#[cfg(not(unix))]
impl<R: Read> Read for Waiting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.watch.wait_for(&self.source)?;
        self.read_now(buffer)
    }
}
