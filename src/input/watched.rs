//! Sources that tell a [`Watch`] what is read of them, and that it can stop.

use std::io::{self, Read};
use std::thread;

use crossbeam_channel::{Receiver, Sender, bounded};

use crate::watch::{Stopped, Watch};

/// The bytes of an open source.
pub(super) type Bytes = Box<dyn Read + Send>;

/// A source whose reads never wait for long, such as a file: once `watch` is stopped, reading it fails.
pub(super) fn stoppable(source: impl Read + Send + 'static, watch: Option<&Watch>) -> Bytes {
    match watch {
        Some(watch) => Box::new(Stoppable { source, watch: watch.clone() }),
        None => Box::new(source),
    }
}

/// A source that may keep whoever opens or reads it waiting: once `watch` is stopped, reading it fails.
///
/// # Errors
/// When it cannot be opened; with a watch that may come as the error of its first read.
pub(super) fn waiting(
    open: impl FnOnce() -> io::Result<Bytes> + Clone + Send + 'static,
    watch: Option<&Watch>,
) -> io::Result<Bytes> {
    match watch.map(|watch| Waiting::new(watch, open.clone())) {
        Some(Ok(waiting)) => Ok(Box::new(waiting)),
        // Where the system gives no thread, nothing ends the waiting.
        Some(Err(_)) | None => open(),
    }
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

/// How much is read at once; most pipes hold no more.
const CHUNK: usize = 1 << 16;

/// How many chunks may wait to be taken.
const CHUNKS: usize = 8;

/// A source that may keep its reader waiting, as pipes and terminals do. No way of reading can be interrupted everywhere; so a
/// thread of its own opens and reads it, and once the watch is stopped that thread is left behind, until something comes or
/// the program ends.
struct Waiting {
    watch: Watch,
    chunks: Receiver<io::Result<Chunk>>,
    give_back: Sender<Vec<u8>>,
    chunk: Chunk,
    /// How much of the chunk has been given out.
    given: usize,
}

/// Some bytes read: the first `len` of `buffer`.
#[derive(Default)]
struct Chunk {
    buffer: Vec<u8>,
    len: usize,
}

impl Waiting {
    /// The source that `open` opens.
    ///
    /// # Errors
    /// When the system gives no thread.
    fn new(watch: &Watch, open: impl FnOnce() -> io::Result<Bytes> + Send + 'static) -> io::Result<Self> {
        let (give, chunks) = bounded(CHUNKS);
        let (give_back, given_back) = bounded(CHUNKS + 2);
        let read = move || {
            let failed = open().and_then(|source| read_all(source, &give, &given_back));
            // Nobody may be listening any more.
            let _ = failed.map_err(|error| give.send(Err(error)));
        };
        thread::Builder::new().name("reader".to_owned()).spawn(read)?;
        Ok(Self { watch: watch.clone(), chunks, give_back, chunk: Chunk::default(), given: 0 })
    }
}

/// Reads `source` to its end, or until nobody takes what is read.
fn read_all(
    mut source: Bytes,
    give: &Sender<io::Result<Chunk>>,
    given_back: &Receiver<Vec<u8>>,
) -> io::Result<()> {
    loop {
        let mut buffer = given_back.try_recv().unwrap_or_default();
        buffer.resize(CHUNK, 0);
        match source.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => {
                if give.send(Ok(Chunk { buffer, len })).is_err() {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Read for Waiting {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.chunk.len {
            match self.watch.receive(&self.chunks)? {
                Some(chunk) => {
                    let spent = std::mem::replace(&mut self.chunk, chunk?);
                    self.watch.read(self.chunk.len);
                    self.given = 0;
                    let _ = self.give_back.try_send(spent.buffer);
                }
                None => return Ok(0),
            }
        }
        let n = buffer.len().min(self.chunk.len - self.given);
        buffer[..n].copy_from_slice(&self.chunk.buffer[self.given..self.given + n]);
        self.given += n;
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_through_in_order() {
        let bytes: Vec<u8> = (0..3_000_000u32).map(|n| n.to_le_bytes()[n as usize % 3]).collect();
        let mut copy = Vec::new();
        let source = io::Cursor::new(bytes.clone());
        let mut waiting = Waiting::new(&Watch::default(), || Ok(Box::new(source))).unwrap();
        waiting.read_to_end(&mut copy).unwrap();
        assert!(copy == bytes);
    }

    #[test]
    fn errors_come_through_behind_the_bytes_before() {
        struct Broken(bool);
        impl Read for Broken {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                buffer[0] = b'x';
                if std::mem::replace(&mut self.0, true) { Err(io::ErrorKind::NotFound.into()) } else { Ok(1) }
            }
        }
        let mut waiting = Waiting::new(&Watch::default(), || Ok(Box::new(Broken(false)))).unwrap();
        let mut bytes = [0; 9];
        assert_eq!(waiting.read(&mut bytes).unwrap(), 1);
        assert_eq!(waiting.read(&mut bytes).unwrap_err().kind(), io::ErrorKind::NotFound);
        let mut closed =
            Waiting::new(&Watch::default(), || Err(io::ErrorKind::PermissionDenied.into())).unwrap();
        assert_eq!(closed.read(&mut bytes).unwrap_err().kind(), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_stop_ends_a_read_that_waits() {
        struct Endless;
        impl Read for Endless {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                loop {
                    thread::park();
                }
            }
        }
        let watch = Watch::default();
        let mut waiting = Waiting::new(&watch, || Ok(Box::new(Endless))).unwrap();
        let stop = thread::spawn(move || watch.stop());
        let error = waiting.read(&mut [0; 9]).unwrap_err();
        assert!(error.get_ref().unwrap().is::<Stopped>());
        stop.join().unwrap();
    }
}
