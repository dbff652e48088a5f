//! Whole lines into a tally.
//!
//! The engine (`engine/mod.rs`) tells of most lines in bulk: all there is to count of them follows from their scheme and verdict. The
//! others are counted one by one (`count_line.rs`).

pub(crate) mod find_examples;
pub(crate) mod count_line;
pub(crate) mod long_line;
pub(crate) mod record_fields;

pub use crate::engine::Ways;
use crate::engine::lanes::List;
use crate::engine::line_table::{Fact, Outcome};
use crate::engine::{Bulk, Consumer, sweep};
use crate::example::Line;
use crate::grammar::advisory::{Advisories, Advisory};
use crate::grammar::scheme::Scheme;
use crate::grammar::{Grammar, Verdict};
use crate::lines::skip_byte_order_mark;
use crate::place::{Extent, Place};
use crate::scan::count_line::Observer;
use crate::scan::find_examples::Search;
use crate::simd::KernelId;
use crate::tally::optional::{SecondLook, Wanted};
use crate::tally::{ByVerdict, Signs, Tally};

pub use crate::tally::optional::{DistinctWanted, TopWanted};

/// What changes a count.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The grammar whose refusals are explained: counted by component and cause, with examples.
    pub grammar: Grammar,
    /// Whether it is counted how long judged lines are ([`Tally::lengths`]). Takes some nanoseconds a line.
    pub lengths: bool,
    /// Of what the most frequent are counted ([`Tally::top_hosts`] and others). Takes some dozen nanoseconds a line.
    pub top: TopWanted,
    /// Of what the different ones are counted ([`Tally::distinct_hosts`] and others). Takes some dozen nanoseconds a line.
    pub distinct: DistinctWanted,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            grammar: Grammar::Rfc3986,
            lengths: false,
            top: TopWanted::default(),
            distinct: DistinctWanted::default(),
        }
    }
}

impl Options {
    /// What has to be counted line by line.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted { lengths: self.lengths, top: self.top, distinct: self.distinct }
    }
}

/// Judges all lines of `bytes`, a whole corpus in memory, and counts them as input 0.
///
/// Lines end as everywhere: in LF with all CRs directly before it; a byte order mark at the start is skipped. Linear in the
/// number of bytes; allocates a few megabytes at most, whatever the input.
///
/// ```
/// use urlsift::{Grammar, scan};
///
/// let tally = scan(b"http://example.org/\nftp://example.org/a;b\n\n", &scan::Options::default());
/// assert_eq!((tally.lines(), tally.blank), (3, 1));
/// assert_eq!(tally.judged().accepted(Grammar::Rfc3986), 2);
/// assert_eq!(tally.judged().accepted(Grammar::Rfc1738), 1); // no ";" in an ftp path
/// ```
#[must_use]
pub fn scan(bytes: &[u8], options: &Options) -> Tally {
    scan_part(bytes, Place { input: 0, offset: 0 }, options)
}

/// Judges all lines of `bytes`, a part of an input that begins at `place`, and counts them.
///
/// The part must begin where a line of the input begins and end where one or the input ends. The tallies of all parts of
/// an input, merged in any order, are the tally of the input. Costs what [`scan`] costs.
#[must_use]
pub fn scan_part(bytes: &[u8], place: Place, options: &Options) -> Tally {
    let mut tally = Tally::default();
    scan_into(&mut tally, KernelId::best(), bytes, place, options);
    tally
}

/// Does what [`scan_part`] does, by a kernel of choice, and adds it to `tally`, which has not seen these bytes yet. Tells
/// which way the lines took.
///
/// The kernel changes the time it takes, and nothing else. Many small inputs are best counted into one tally, each under its own
/// number: a tally of its own costs some 20 microseconds, until it has its examples.
///
/// # Panics
///
/// When the machine does not have the kernel ([`KernelId::is_available`]).
pub fn scan_into(tally: &mut Tally, kernel: KernelId, bytes: &[u8], place: Place, options: &Options) -> Ways {
    let body = skip_byte_order_mark(bytes, place.offset);
    let mark_len = (bytes.len() - body.len()) as u64;
    tally.boms += u64::from(mark_len > 0);
    tally.note(place.input, Signs::of(bytes, place.offset));
    let at = Place { offset: place.offset + mark_len, ..place };
    let ways = sweep(&mut Observer::new(options.grammar, options.wanted(), tally), kernel, body, at);
    // The mark has no line and belongs to the first one's run.
    tally.cover(Extent { input: place.input, start: place.offset, end: at.offset, lines: 0 });
    tally.settle();
    ways
}

impl Consumer for Observer<'_> {
    fn list(&self, place: Place) -> List {
        let wanted = |&advisory: &Advisory| !self.tally.has_examples(advisory, place);
        let advisories = Advisory::ALL.iter().copied().filter(wanted).collect();
        List { grammar: self.grammar, blank: false, advisories }
    }

    /// Whether a line has nothing to advise, nothing to explain and nothing to show, and its scheme is known.
    fn in_bulk(&self, outcome: &Outcome, place: Place) -> bool {
        let Fact::Plain(_, advisories) = outcome.fact else { return false };
        let shown = self.tally.has_first(outcome.verdict, place);
        advisories.is_empty() && outcome.verdict.accepts(self.grammar) && shown
    }

    fn plain(&mut self, scheme: Option<usize>, verdict: Verdict, n_lines: u64) {
        self.tally.count_many(scheme, verdict, n_lines);
        self.in_bulk.count(verdict, n_lines);
    }

    fn bulk(&mut self, bulk: &Bulk) {
        self.in_bulk = ByVerdict::default();
        self.search = None;
        self.tally.cr += bulk.cr;
        self.tally.blank += bulk.blank;
        self.tally.count_advised(Advisory::EncodedDelimiter, bulk.delimiters);
        self.tally.count_advised(Advisory::PortNondefault, bulk.ports);
        self.tally.count_advised(Advisory::PortReserved, bulk.reserved_ports);
    }

    #[inline]
    fn blank(&mut self, _: &Line<'_>) {
        self.tally.blank += 1;
    }

    #[inline]
    fn known(
        &mut self,
        entry: &Line<'_>,
        line: &[u8],
        scheme: &Scheme<'_>,
        verdict: Verdict,
        advisories: impl FnOnce() -> Advisories,
    ) {
        self.observe_known(entry, line, scheme, verdict, advisories());
    }

    fn bad(&mut self, entry: &Line<'_>, line: &[u8], at: Option<usize>) {
        self.observe_bad(entry, line, at);
    }

    fn judged(&mut self, entry: &Line<'_>, line: &[u8], outcome: u8) {
        self.observe_outcome(entry, line, outcome);
    }

    fn lacking(&self, place: Place) -> u32 {
        self.tally.lacking(place)
    }

    #[cold]
    fn beginning(&mut self, lines: &[u8], place: Place) {
        // How many of each there are is not known, but that there are no more.
        let mut all = ByVerdict::default();
        for verdict in Verdict::all() {
            all.count(verdict, lines.len() as u64);
        }
        Search::new(self.tally, place, all).look_in(self.tally, lines, place, &|| 0);
    }

    #[cold]
    fn lacked(&mut self, lines: &[u8], place: Place, before: &dyn Fn() -> u64) -> bool {
        let search = self
            .search
            .get_or_insert_with(|| Search::new(self.tally, place, std::mem::take(&mut self.in_bulk)));
        search.look_in(self.tally, lines, place, before);
        !search.is_done()
    }

    fn looks_again(&self) -> bool {
        self.wanted.any()
    }

    fn again(&mut self, lines: &[u8], place: Place, before: u64, ends: impl Iterator<Item = usize>) {
        let mut refused = self.take_refused();
        let mut look =
            SecondLook::new(&mut self.tally.census, &self.wanted, lines, place, before, &mut refused);
        ends.for_each(|end| look.line_until(end));
        look.finish();
        // Those of lines still to come.
        self.refused = refused;
    }

    fn cover(&mut self, run: Extent) {
        self.tally.cover(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{PIECE, WALKS_INSTEAD};

    #[test]
    fn a_line_longer_than_a_piece_needs_no_more_memory() {
        let text = [b"http://h/\n".to_vec(), vec![b'a'; 2 * PIECE], b"\nhttp://h/\n".to_vec()].concat();
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (mut tally, place) = (Tally::default(), Place { input: 0, offset: 0 });
            let ways = scan_into(&mut tally, kernel, &text, place, &Options::default());
            assert_eq!(ways, Ways { plain: 2, attended: 0, hard: 1 }, "{kernel}");
        }
    }

    #[test]
    fn hard_pieces_are_left_to_the_machine_and_come_back() {
        let hard = b"ftp://u:p@h/\nhttp://h/ x\nmailto:a@b\n".repeat((WALKS_INSTEAD + 3) * PIECE / 35);
        let text = [hard, b"http://h/\n".repeat(PIECE / 5), b"http://h:81/\n?".to_vec()].concat();
        let place = Place { input: 0, offset: 0 };
        let scan_by = |kernel| {
            let mut tally = Tally::default();
            let ways = scan_into(&mut tally, kernel, &text, place, &Options::default());
            (tally, ways)
        };
        let (expected, _) = scan_by(KernelId::Portable);
        for kernel in KernelId::available().filter(|&kernel| kernel != KernelId::Portable) {
            let (tally, ways) = scan_by(kernel);
            assert!(tally == expected, "{kernel}");
            // Two in three lines are hard, and all but a few pieces of them walked instead.
            assert!(ways.attended > 4 * ways.hard && ways.plain > 0, "{kernel} {ways:?}");
            assert_eq!(ways.plain + ways.attended + ways.hard, expected.judged().lines(), "{kernel}");
        }
    }

    #[test]
    fn a_run_of_crs_is_looked_at_once() {
        // Looked at once for each CR, this would take minutes.
        let mut text = vec![b'\r'; 32 << 20];
        assert_eq!(scan(&text, &Options::default()).blank, 1);
        text.push(b'\n');
        assert_eq!(scan(&text, &Options::default()).cr, 1);
        text.push(b'x');
        assert_eq!(scan(&text, &Options::default()).judged().lines(), 1);
    }
}
