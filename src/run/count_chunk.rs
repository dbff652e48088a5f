//! Pieces of inputs into counts, lines or records, on whichever thread.

use std::sync::Mutex;

#[cfg(feature = "parquet")]
use super::parquet::TablePiece;
use super::{Effort, Scanned, lock};
use crate::input::{Bytes, Piece};
use crate::place::Place;
use crate::records::Reader;
use crate::run::chunk_cutter::{AnyPiece, RecordPiece};
use crate::scan::long_line::LongLine;
use crate::scan::record_fields::{Gatherer, append};
use crate::scan::{Options, scan_into};
use crate::tally::Tally;

/// Counts pieces, those of any inputs, several threads at once.
pub(super) struct Counter<'a> {
    pub(super) options: &'a Options,
    pub(super) effort: &'a Effort,
    pub(super) gatherer: Gatherer<'a>,
}

/// What is in a piece that can be counted anywhere.
pub(super) enum Content {
    Lines,
    Records {
        /// Stands before them.
        reader: Box<Reader>,
        /// Whether it is known that the input ends behind them.
        is_last: bool,
    },
    /// Values of a column.
    #[cfg(feature = "parquet")]
    Table(Box<TablePiece>),
}

/// What goes on in the next piece of an input.
#[derive(Default)]
pub(super) struct Long {
    /// A line that is longer than a piece, and counted where its input is read.
    line: Option<LongLine>,
    /// Whether a record does that is too long to be read.
    is_record: bool,
}

impl Long {
    /// Whether something does: it may do so for hours.
    pub(super) fn is_open(&self) -> bool {
        self.line.is_some() || self.is_record
    }
}

impl<'a> Counter<'a> {
    pub(super) fn new(options: &'a Options, effort: &'a Effort) -> Self {
        Self { options, effort, gatherer: Gatherer::new(options, effort.kernel) }
    }

    /// Looks at the next piece of an input: its bytes, and what is in them. Parts of a long line are counted at once, and are nothing
    /// that is still to be counted.
    pub(super) fn look(
        &self,
        tally: &mut Tally,
        long: &mut Long,
        input: u32,
        piece: AnyPiece,
    ) -> (Bytes, Option<Content>) {
        match piece {
            AnyPiece::Lines(Piece::Lines(bytes)) => (bytes, Some(Content::Lines)),
            AnyPiece::Lines(Piece::Long { bytes, end }) => {
                let place = Place { input, offset: bytes.offset };
                let line = long.line.get_or_insert_with(|| LongLine::new(place, self.options));
                line.feed(bytes.get());
                self.effort.judged(u64::from(end));
                if let Some(line) = long.line.take_if(|_| end) {
                    *tally = std::mem::take(tally).merge(line.finish());
                }
                (bytes, None)
            }
            AnyPiece::Records(RecordPiece { bytes, reader, is_last, is_open }) => {
                long.is_record = is_open;
                (bytes, Some(Content::Records { reader, is_last }))
            }
        }
    }

    /// Adds bytes that stand at `place` to what has been scanned of what stands before them.
    pub(super) fn add(&self, scanned: &mut Scanned, bytes: &[u8], place: Place, content: Content) {
        match content {
            Content::Lines => {
                let before = scanned.tally.lines();
                scan_into(&mut scanned.tally, self.effort.kernel, bytes, place, self.options);
                self.effort.judged(scanned.tally.lines() - before);
            }
            Content::Records { mut reader, is_last } => {
                let tally = std::mem::take(&mut scanned.tally);
                let (tally, records) = self.gatherer.gather(tally, &mut reader, bytes, is_last, place.input);
                scanned.tally = tally;
                self.effort.judged(records.n_fields());
                append(&mut scanned.records, place.input, records);
            }
            #[cfg(feature = "parquet")]
            Content::Table(piece) => {
                let tally = std::mem::take(&mut scanned.tally);
                let (fields, run) = (piece.fields(bytes), piece.run(place.input));
                let (tally, records) = self.gatherer.gather_fields(tally, fields, run, piece.first_row());
                scanned.tally = tally;
                self.effort.judged(records.n_fields());
                append(&mut scanned.records, place.input, records);
            }
        }
    }

    /// Adds bytes that stand at `place` to what several threads have scanned of the same input.
    pub(super) fn add_to(&self, shared: &Mutex<Scanned>, bytes: &[u8], place: Place, content: Content) {
        // Of what is in the tally so far, that counts which stands before these bytes.
        let tally = lock(shared).tally.behind(place);
        let mut piece = Scanned { tally, ..Scanned::default() };
        self.add(&mut piece, bytes, place, content);
        let mut shared = lock(shared);
        *shared = std::mem::take(&mut *shared).merge(piece);
    }
}
