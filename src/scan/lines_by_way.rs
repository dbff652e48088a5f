//! Finds the lines that a scan does not count in bulk, for `urlsift bench`.

use std::ops::Range;

use memchr::memchr;

use crate::scan::Options;
use crate::scan::count_line::Observer;
use crate::tally::Tally;
use crate::tally::already_shown::AlreadyShown;
use urlsift_engine::example::Line;
use urlsift_engine::line_automaton::Outcome;
use urlsift_engine::place::Place;
use urlsift_engine::simd::KernelId;
use urlsift_engine::{Bulk, Judged, LineSink, Needs, Run, Scanner, Stripe};
use urlsift_grammar::Verdict;

/// The ranges of the lines, with their ends, that a scan of `bytes` with the default options does not count in bulk, in order:
/// those with a verdict of the bit streams (listed lines), and those with a verdict of the table.
///
/// # Panics
/// If the machine does not have the kernel.
pub(crate) fn not_in_bulk(bytes: &[u8], kernel: KernelId) -> [Vec<Range<usize>>; 2] {
    let (options, shown, mut tally) = (Options::default(), AlreadyShown::default(), Tally::default());
    let observer = Observer::new(&options, &mut tally, &shown);
    let mut found = Finder { observer, bytes, listed: Vec::new(), table: Vec::new() };
    Scanner::new(kernel).scan(&mut found, bytes, Place { input: 0, offset: 0 });
    [found.listed, found.table].map(|mut lines| {
        lines.sort_unstable_by_key(|line| line.start);
        lines
    })
}

/// Observes lines, and notes which of them reach it one by one.
struct Finder<'a> {
    observer: Observer<'a>,
    bytes: &'a [u8],
    listed: Vec<Range<usize>>,
    table: Vec<Range<usize>>,
}

impl LineSink for Finder<'_> {
    fn needs(&self, place: Place) -> Needs {
        self.observer.needs(place)
    }

    fn is_in_bulk(&self, outcome: &Outcome, place: Place) -> bool {
        self.observer.is_in_bulk(outcome, place)
    }

    fn scheme(&mut self, line: &[u8], verdict: Verdict) {
        self.observer.scheme(line, verdict);
    }

    fn bulk(&mut self, bulk: &Bulk, stripes: &mut dyn Iterator<Item = Stripe<'_>>) {
        self.observer.bulk(bulk, stripes);
    }

    fn line(&mut self, entry: &Line<'_>, line: &[u8], judged: Judged<'_>) {
        let lines = match judged {
            Judged::Blank => None,
            Judged::Outcome(_) => Some(&mut self.table),
            Judged::Known(..) | Judged::Bad(_) => Some(&mut self.listed),
        };
        if let Some(lines) = lines {
            let start = usize::try_from(entry.place.offset).expect("the line is in memory");
            let end = memchr(b'\n', &self.bytes[start..]).map_or(self.bytes.len(), |lf| start + lf + 1);
            lines.push(start..end);
        }
        self.observer.line(entry, line, judged);
    }

    fn cover(&mut self, run: &Run<'_>, ends: &mut dyn Iterator<Item = usize>) {
        self.observer.cover(run, ends);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan_into;

    #[test]
    fn each_line_that_is_not_counted_in_bulk_is_found() {
        let text =
            b"http://a.example/b\nhttp://a.example/\xc3\xa9\r\n\nmailto:u@h\nhttp://u:p@h/\n".repeat(9000);
        let check = |kernel: KernelId| {
            let [listed, table] = not_in_bulk(&text, kernel);
            for line in listed.iter().chain(&table) {
                assert!(line.start == 0 || text[line.start - 1] == b'\n', "{kernel}");
                assert!(text[line.clone()].ends_with(b"\n"), "{kernel}");
            }
            [listed.len() as u64, table.len() as u64]
        };
        let count = |kernel: KernelId| {
            let (mut tally, place) = (Tally::default(), Place { input: 0, offset: 0 });
            let counts = scan_into(&mut tally, &mut Scanner::new(kernel), &text, place, &Options::default());
            [counts.listed, counts.table]
        };
        for kernel in KernelId::available() {
            assert_eq!(check(kernel), count(kernel), "{kernel}");
        }
    }
}
