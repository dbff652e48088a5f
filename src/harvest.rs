//! The records of one input through the pipeline: cut at record ends on the reading thread, read and judged on several.

use std::io::Read;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use crate::cutter::{RecordPiece, RecordPieces};
use crate::format::Reader;
use crate::gather::{Gatherer, Records};
use crate::input::Sizes;
use crate::kernel::KernelId;
use crate::pipeline::{Failure, Lent, in_pieces};
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
) -> (Tally, Records, Vec<Failure>) {
    let tally = Mutex::new(Tally::default());
    let lock = || tally.lock().unwrap_or_else(PoisonError::into_inner);
    let mut records = Records::new(reader.format());
    let sizes = Sizes { piece: way.piece_len, line: usize::MAX, eager: false };
    let gatherer = Gatherer::new(options, way.kernel);
    let pieces = RecordPieces::new(source, reader, sizes);
    let look = |_, piece: RecordPiece| (piece.bytes, Some((piece.reader, piece.is_last)));
    let work = |bytes: Lent, (mut reader, is_last): (Box<Reader>, bool)| {
        // All that is in the tally so far stands before these records.
        let behind = lock().behind(Place { input, offset: bytes.offset });
        let (tally, records) = gatherer.gather(behind, &mut reader, bytes.get(), is_last, input);
        (way.judged)(records.n_fields());
        (tally, records)
    };
    let sink = |(piece, some): (Tally, Records)| {
        let mut tally = lock();
        *tally = std::mem::take(&mut *tally).merge(piece);
        records.merge(some);
        ControlFlow::<()>::Continue(())
    };
    let (_, failures) = in_pieces([(input, Ok(pieces))], way.threads, look, work, sink);
    (tally.into_inner().unwrap_or_else(PoisonError::into_inner), records, failures)
}
