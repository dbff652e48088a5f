//! Pieces of inputs into counts, lines or records, on whichever thread.

use std::sync::Mutex;

use super::{Effort, Scanned, lock};
use crate::cutter::AnyPiece;
use crate::format::Reader;
use crate::gather::{Gatherer, append};
use crate::input::{Bytes, Piece};
use crate::long_line::LongLine;
use crate::scan::{Options, scan_into};
use crate::tally::{Place, Tally};

/// Counts pieces, those of any inputs, several threads at once.
pub(super) struct Counter<'a> {
    pub(super) options: &'a Options,
    pub(super) effort: &'a Effort,
    gatherer: Gatherer<'a>,
}

/// What is in a piece that can be counted anywhere.
pub(super) enum Content {
    Lines,
    /// Records, a reader that stands before them, and whether it is known that the input ends behind them.
    Records(Box<Reader>, bool),
}

/// A line that is longer than a piece, and counted where its input is read.
#[derive(Default)]
pub(super) struct Long(Option<LongLine>);

impl Long {
    /// Whether there is one that goes on.
    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
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
                let line = long.0.get_or_insert_with(|| LongLine::new(place, self.options));
                line.feed(bytes.get());
                self.effort.judged(u64::from(end));
                if let Some(line) = long.0.take_if(|_| end) {
                    *tally = std::mem::take(tally).merge(line.finish());
                }
                (bytes, None)
            }
            AnyPiece::Records(piece) => (piece.bytes, Some(Content::Records(piece.reader, piece.is_last))),
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
            Content::Records(mut reader, is_last) => {
                let tally = std::mem::take(&mut scanned.tally);
                let (tally, records) = self.gatherer.gather(tally, &mut reader, bytes, is_last, place.input);
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
