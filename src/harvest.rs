//! The records of one input through the pipeline: cut at record ends on the reading thread, read and judged on several.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crossbeam_channel::unbounded;

use crate::format::Reader;
use crate::gather::{Records, gather};
use crate::input::Supply;
use crate::kernel::KernelId;
use crate::parallel::in_order;
use crate::scan::Options;
use crate::tally::{Place, Tally};

/// How it is done. Nothing here changes a count.
pub(crate) struct Way<'a> {
    /// How many bytes a piece has while its records are no longer.
    pub(crate) piece_len: usize,
    pub(crate) threads: usize,
    pub(crate) kernel: KernelId,
    /// Is told how many fields more have been judged.
    pub(crate) judged: &'a (dyn Fn(u64) + Sync),
}

/// Judges the fields of all records of a source, as `reader` reads them.
///
/// Where the source cannot be read to its end, or ends inside a record that is stepped over, that is told too; all records that
/// were read whole have been counted. Memory: a piece for each thread and some more, none longer than twice the longest record.
pub(crate) fn harvest(
    source: impl Read,
    input: u32,
    reader: Reader,
    options: &Options,
    way: &Way<'_>,
) -> (Tally, Records, Option<io::Error>) {
    let (home, come_home) = unbounded();
    let tally = Mutex::new(Tally::default());
    let lock = || tally.lock().unwrap_or_else(PoisonError::into_inner);
    let mut records = Records::new(reader.format());
    let mut cutter = Cutter { supply: Supply::new(source), reader, rest: Vec::new() };
    let next = || cutter.next(come_home.try_recv().unwrap_or_default(), way.piece_len);
    let work = |mut piece: Piece| {
        // All that is in the tally so far stands before these records.
        let behind = lock().behind(Place { input, offset: piece.reader.offset() });
        let bytes = &piece.buffer[..piece.len];
        let (tally, records) =
            gather(behind, &mut piece.reader, bytes, piece.is_last, input, options, way.kernel);
        (way.judged)(records.roles.values().map(|fields| fields.judged.lines() + fields.blank).sum());
        // Nobody takes it when all has been read.
        let _ = home.send(piece.buffer);
        (tally, records)
    };
    let sink = |(piece, some): (Tally, Records)| {
        let mut tally = lock();
        *tally = std::mem::take(&mut *tally).merge(piece);
        records.append(some);
        ControlFlow::<()>::Continue(())
    };
    let _ = in_order(way.threads, next, work, sink);
    let missing = cutter.reader.missing();
    let error = cutter.supply.failed.or_else(|| {
        let cut_off = || format!("ends inside a record, of which {missing} bytes are missing");
        (missing > 0).then(|| io::Error::new(io::ErrorKind::UnexpectedEof, cut_off()))
    });
    (tally.into_inner().unwrap_or_else(PoisonError::into_inner), records, error)
}

/// Whole records, and the reader that reads them.
struct Piece {
    reader: Reader,
    buffer: Vec<u8>,
    len: usize,
    is_last: bool,
}

/// Reads a source in pieces of whole records.
struct Cutter<R> {
    supply: Supply<R>,
    /// Stands where the next piece begins.
    reader: Reader,
    /// Bytes read and not given out: the beginning of a record.
    rest: Vec<u8>,
}

impl<R: Read> Cutter<R> {
    /// The next piece, in the memory of `buffer`; `None` at the end, or where the source fails.
    fn next(&mut self, mut buffer: Vec<u8>, piece_len: usize) -> Option<Piece> {
        let mut len = self.rest.len();
        let mut wanted = piece_len.max(len * 2);
        buffer.resize(wanted.max(buffer.len()), 0);
        buffer[..len].copy_from_slice(&self.rest);
        self.rest.clear();
        loop {
            self.supply.fill(&mut buffer[..wanted], &mut len, |_| false);
            let reader = self.reader.clone();
            let end = self.reader.cut(&buffer[..len], self.supply.ended);
            if end > 0 {
                self.rest.extend_from_slice(&buffer[end..len]);
                return Some(Piece { reader, buffer, len: end, is_last: self.supply.ended && end == len });
            }
            if self.supply.ended || self.supply.failed.is_some() {
                return None;
            }
            wanted *= 2;
            buffer.resize(wanted.max(buffer.len()), 0);
        }
    }
}
