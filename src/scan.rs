//! Whole lines through the pipeline into a tally: the only hot loop.
//!
//! Most lines of a list are like many others: what there is to count of them follows from the number of their outcome alone
//! (`walk.rs`), so that they are counted in bulk, by outcome. The others are counted one by one.
//!
//! The seam for a faster engine is `Scanner::count_lanes`: it has all lines read and counts each. A line that an engine does
//! not decide, it hands to `Scanner::count_line` with the verdict of the machine; those that it decides it counts in bulk in
//! the tally.

use crate::advisory::{Advisories, AdvisoryScan};
use crate::defect::Defect;
use crate::grammar::{Grammar, Verdict};
use crate::machine::Tracker;
use crate::scheme::{HTTP, HTTPS, KNOWN, find_known, scheme_len};
use crate::shard::{cut, skip_byte_order_mark};
use crate::tally::{Line, Place, Run, Tally};
use crate::walk::{Fact, OUTCOMES, Outcome, walk};

/// What changes a count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The grammar whose refusals are explained: counted by component and cause, with examples.
    pub grammar: Grammar,
}

impl Default for Options {
    fn default() -> Self {
        Self { grammar: Grammar::Rfc3986 }
    }
}

/// How many sub-pieces are walked side by side. One walk waits for its table entry most of the time; several hide that.
const LANES: usize = 6;

/// Judges all lines of `bytes`, a whole corpus in memory, and counts them as input 0.
///
/// Lines end as everywhere: in LF with all CRs directly before it; a byte order mark at the start is skipped. Linear in the
/// number of bytes; allocates little more than the tally, whatever the input.
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
    let body = skip_byte_order_mark(bytes, place.offset);
    let mark_len = (bytes.len() - body.len()) as u64;
    tally.boms = u64::from(mark_len > 0);
    let mut at = Place { offset: place.offset + mark_len, ..place };
    let mut covered = place.offset;
    let lanes: [_; LANES] = cut(body).map(|piece| {
        let lane = (piece, at);
        at.offset += piece.len() as u64;
        lane
    });
    let mut scanner = Scanner { options, tally, last_known: HTTP };
    let lines = scanner.count_lanes(lanes);
    let mut tally = scanner.tally;
    // Each lane counted its lines from 1: each is a run of its own, and the tally joins them.
    for (lines, end) in lines {
        tally.cover(Run { input: place.input, start: covered, end, lines });
        covered = end;
    }
    tally.cover(Run { input: place.input, start: covered, end: at.offset, lines: 0 });
    tally
}

struct Scanner<'a> {
    options: &'a Options,
    tally: Tally,
    /// The place in [`KNOWN`] of the last scheme that is there.
    last_known: usize,
}

impl Scanner<'_> {
    /// Counts all lines of all lanes, each of which begins at its place; for each, how many lines it had and at what offset of
    /// the input it ended.
    fn count_lanes<const N: usize>(&mut self, lanes: [(&[u8], Place); N]) -> [(u64, u64); N] {
        // By the number of the outcome, which is a byte.
        let mut in_bulk = [false; 256];
        let mut counts = [0; 256];
        for (in_bulk, outcome) in in_bulk.iter_mut().zip(OUTCOMES) {
            *in_bulk = self.is_plain(outcome);
        }
        let lines = walk(lanes.map(|(bytes, _)| bytes), |lane, ended| {
            self.tally.cr += u64::from(ended.cr);
            if ended.end == ended.start {
                self.tally.blank += 1;
            } else if in_bulk[usize::from(ended.outcome)] {
                counts[usize::from(ended.outcome)] += 1;
            } else {
                let (bytes, place) = lanes[lane];
                let line = &bytes[ended.start..ended.end];
                let place = Place { offset: place.offset + ended.start as u64, ..place };
                self.count_ended(&Line::whole(place, ended.number, line), line, ended.outcome);
            }
        });
        for (outcome, lines) in OUTCOMES.iter().zip(counts) {
            if let Fact::Plain(known, _) = outcome.fact {
                self.tally.count_many(known, outcome.verdict, lines);
            }
        }
        std::array::from_fn(|n| (lines[n], lanes[n].1.offset + lanes[n].0.len() as u64))
    }

    /// Whether a line has nothing to advise and nothing to explain, and its scheme is known.
    fn is_plain(&self, outcome: &Outcome) -> bool {
        let Fact::Plain(_, advisories) = outcome.fact else { return false };
        advisories.is_empty() && outcome.verdict.accepts(self.options.grammar)
    }

    /// Counts one line that is not blank, by the number of its outcome.
    #[inline(never)]
    fn count_ended(&mut self, entry: &Line<'_>, line: &[u8], outcome: u8) {
        let Outcome { verdict, fact } = OUTCOMES[usize::from(outcome)];
        let Fact::Plain(known, advisories) = fact else {
            return self.count_line(entry, line, verdict);
        };
        self.tally.count_many(known, verdict, 1);
        self.tally.count_advisories(entry, advisories);
        if !verdict.accepts(self.options.grammar) {
            self.explain(entry, line);
        }
    }

    /// Counts one line that is not blank, by its verdict.
    fn count_line(&mut self, entry: &Line<'_>, line: &[u8], verdict: Verdict) {
        let (known, behind) = if let Some((known, behind)) = web_scheme(line) {
            self.tally.count_known(known, verdict);
            (Some(known), behind)
        } else {
            self.count_scheme(line, verdict)
        };
        if !verdict.is_empty() {
            let advisories = if plain_authority(behind) {
                Advisories::of_escapes(known, behind)
            } else {
                let mut scan = AdvisoryScan::new(known);
                scan.feed(behind);
                scan.finish()
            };
            self.tally.count_advisories(entry, advisories);
        }
        if !verdict.accepts(self.options.grammar) {
            self.explain(entry, line);
        }
    }

    /// Counts a line by its scheme. Gives the scheme's place among the known ones, and what stands behind its ":".
    fn count_scheme<'b>(&mut self, line: &'b [u8], verdict: Verdict) -> (Option<usize>, &'b [u8]) {
        let Some(len) = scheme_len(line) else {
            self.tally.count_relative(verdict);
            return (None, line);
        };
        let (scheme, behind) = (&line[..len], &line[len + 1..]);
        // Mostly the scheme of the line before.
        let same = KNOWN[self.last_known].name.as_bytes().eq_ignore_ascii_case(scheme);
        let known = if same { Some(self.last_known) } else { find_known(scheme) };
        match known {
            Some(known) => {
                self.last_known = known;
                self.tally.count_known(known, verdict);
            }
            None => self.tally.count_other(scheme, verdict),
        }
        (known, behind)
    }

    /// Counts the defect of a line that the chosen grammar refuses.
    #[inline(never)]
    fn explain(&mut self, entry: &Line<'_>, line: &[u8]) {
        let mut tracker = Tracker::new(self.options.grammar);
        tracker.feed(line);
        if let Some(defect) = Defect::of(self.options.grammar, &tracker, line) {
            self.tally.count_defect(entry, &defect, || Line::around(line, defect.offset));
        }
    }
}

/// The place of http or https among the known schemes, if one of them begins `line`, and what stands behind the ":".
#[inline(always)]
fn web_scheme(line: &[u8]) -> Option<(usize, &[u8])> {
    match line {
        [b'h', b't', b't', b'p', b':', behind @ ..] => Some((HTTP, behind)),
        [b'h', b't', b't', b'p', b's', b':', behind @ ..] => Some((HTTPS, behind)),
        _ => None,
    }
}

/// Whether the text behind a scheme surely has neither userinfo nor port: a quick look that may say no too often.
#[inline(always)]
fn plain_authority(behind: &[u8]) -> bool {
    let Some(mut rest) = behind.strip_prefix(b"//") else { return true };
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let word = u64::from_le_bytes(*chunk);
        let (slash, other) = (equal(word, b'/'), equal(word, b':') | equal(word, b'@'));
        if slash | other != 0 {
            return slash.trailing_zeros() < other.trailing_zeros();
        }
        rest = behind;
    }
    rest.iter().take_while(|&&byte| byte != b'/').all(|byte| !matches!(byte, b':' | b'@'))
}

/// The low bit of every byte of a word.
const LOW: u64 = u64::from_le_bytes([1; 8]);
/// The high bit of every byte of a word.
const HIGH: u64 = LOW << 7;

/// The high bit of each byte of `word` that is `byte`.
#[inline(always)]
const fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (LOW * byte as u64);
    !(((difference & !HIGH) + !HIGH) | difference) & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn quick_looks_never_miss() {
        for behind in [
            "//h/",
            "//h:1/",
            "//u@h/",
            "//hhhhhhhhhhh/:",
            "//hhhhhhhhhhhhhhhhhhhh@",
            "//hhhhhhh:",
            "//0123456/:",
            "/a:b",
            "",
        ] {
            let plain = !behind.starts_with("//")
                || !behind[2..].split('/').next().is_some_and(|authority| authority.contains([':', '@']));
            assert_eq!(plain_authority(behind.as_bytes()), plain, "{behind}");
        }
    }
}
