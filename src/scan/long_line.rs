//! Judges a line that is too long to be held in memory, while it is read. The result is the same as for the whole
//! line, in bounded memory.

use std::hash::Hasher;

use crate::scan::count_line::count_whatwg;
use crate::scan::{Options, WhatwgWanted};
use crate::tally::already_shown::AlreadyShown;
use crate::tally::distinct::PartsHash;
use crate::tally::optional::{LongJudged, WantedCounts};
use crate::tally::{DistinctOf, Longest, MAX_PARSED_LEN, Signs, Tally};
use urlsift_engine::example::Line;
use urlsift_engine::lines::skip_byte_order_mark;
use urlsift_engine::place::{Extent, Place};
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::AdvisoryScan;
use urlsift_grammar::automaton::{State, Tracker};
use urlsift_grammar::defect::Defect;
use urlsift_grammar::known_steps::KnownSteps;
use urlsift_grammar::scheme::{find_known, is_scheme_byte};
use urlsift_grammar::uri_parts::BEGINNING;
use urlsift_grammar::whatwg::Parsed;

/// A line that is too long to be held, and therefore judged part by part.
pub(crate) struct LongLine {
    grammar: Grammar,
    wanted: WantedCounts,
    place: Place,
    /// The number of bytes fed, including the byte order mark and the terminator.
    fed: u64,
    /// The number of bytes of the byte order mark.
    mark_len: u64,
    /// The length of the line so far, without CRs that may belong to the terminator.
    len: u64,
    /// The number of CRs that belong to the terminator if nothing but an LF follows.
    crs: u64,
    /// Whether the LF has been fed.
    ended: bool,
    state: State,
    tracker: Tracker,
    steps: KnownSteps,
    /// The hash of the line so far, if distinct lines are counted.
    hash: Option<PartsHash>,
    whatwg: Option<WhatwgWanted>,
    /// The line so far, if it is parsed or keys are counted: at most [`MAX_PARSED_LEN`] bytes and one. With more, the line is too long.
    whole: Option<Vec<u8>>,
    scheme: LongScheme,
    beginning: Vec<u8>,
    /// The bytes around the defect, as [`Line::around`] returns them.
    window: Vec<u8>,
    window_start: u64,
}

/// What is known of the scheme of a line that is still being read.
enum LongScheme {
    /// All bytes so far may belong to a scheme.
    Open,
    /// The length of the scheme, or `None` without a scheme, and a scan for advisories in the bytes that follow.
    Known(Option<u64>, AdvisoryScan),
}

impl LongLine {
    /// Begins a line at `place`.
    pub(crate) fn new(place: Place, options: &Options) -> Self {
        let wanted = options.wanted();
        let has_keys = wanted.keys();
        Self {
            grammar: options.grammar,
            wanted,
            place,
            fed: 0,
            mark_len: 0,
            len: 0,
            crs: 0,
            ended: false,
            state: State::START,
            tracker: Tracker::new(options.grammar),
            steps: KnownSteps::default(),
            hash: options.distinct.contains(&DistinctOf::Lines).then(PartsHash::new),
            whatwg: options.whatwg.clone(),
            whole: (options.whatwg.is_some() || has_keys).then(Vec::new),
            scheme: LongScheme::Open,
            beginning: Vec::new(),
            window: Vec::new(),
            window_start: 0,
        }
    }

    /// Feeds all bytes of a field. A field is not a line of its input: it has no terminator, and may contain line
    /// ends.
    pub(crate) fn feed_field(&mut self, bytes: &[u8]) {
        self.fed += bytes.len() as u64;
        self.read(bytes);
    }

    /// Feeds the next bytes of the line.
    ///
    /// The last bytes end with the LF, unless the input ends without one. A byte order mark must be whole in the
    /// first bytes.
    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        let line = skip_byte_order_mark(bytes, self.place.offset + self.fed);
        self.mark_len += (bytes.len() - line.len()) as u64;
        self.fed += bytes.len() as u64;
        self.ended |= line.ends_with(b"\n");
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let body = line.iter().rposition(|&byte| byte != b'\r').map_or(0, |last| last + 1);
        if body > 0 {
            let mut crs = std::mem::take(&mut self.crs);
            while crs > 0 {
                let some = crs.min(4096);
                self.read(&[b'\r'; 4096][..some as usize]);
                crs -= some;
            }
            self.read(&line[..body]);
        }
        self.crs += (line.len() - body) as u64;
    }

    fn read(&mut self, bytes: &[u8]) {
        if let Some(hash) = &mut self.hash {
            hash.write(bytes);
        }
        if let Some(line) = &mut self.whole {
            let missing = MAX_PARSED_LEN + 1 - line.len();
            line.extend(&bytes[..bytes.len().min(missing)]);
        }
        let missing = BEGINNING - self.beginning.len();
        self.beginning.extend(&bytes[..bytes.len().min(missing)]);
        let was_broken = self.tracker.broke_at().is_some();
        self.steps.run(&mut self.state, &mut self.tracker, bytes);
        // Before the defect, the window slides over all bytes. After it, the window only fills up.
        let read = if was_broken {
            0
        } else {
            usize::try_from(self.tracker.offset() - self.len).unwrap_or(bytes.len())
        };
        if !was_broken {
            self.window.extend(&bytes[read.saturating_sub(Line::CONTEXT)..read]);
            let excess = self.window.len().saturating_sub(Line::CONTEXT);
            self.window.drain(..excess);
            self.window_start = self.tracker.offset() - self.window.len() as u64;
        }
        if self.tracker.broke_at().is_some() {
            let end = self.tracker.offset() + Line::CONTEXT as u64;
            let missing = usize::try_from(end.saturating_sub(self.window_start))
                .map_or(0, |len| len.saturating_sub(self.window.len()));
            self.window.extend(bytes[read..].iter().take(missing));
        }
        let mut behind = bytes;
        if let LongScheme::Open = self.scheme {
            // Blocks without a branch for each byte are faster.
            let has_no_end = |block: &&[u8]| block.iter().fold(true, |all, &byte| all & is_scheme_byte(byte));
            let from = 64 * bytes.chunks_exact(64).take_while(has_no_end).count();
            let end = bytes[from..].iter().position(|&byte| !is_scheme_byte(byte));
            let Some(end) = end.map(|end| from + end) else {
                self.len += bytes.len() as u64;
                return;
            };
            let len = self.len + end as u64;
            if len > 0 && bytes[end] == b':' {
                let known =
                    usize::try_from(len).ok().and_then(|len| self.beginning.get(..len)).and_then(find_known);
                self.scheme = LongScheme::Known(Some(len), AdvisoryScan::new(known));
                behind = &bytes[end + 1..];
            } else {
                let mut scan = AdvisoryScan::new(None);
                scan.feed(&self.beginning[..usize::try_from(self.len).unwrap_or(BEGINNING).min(BEGINNING)]);
                self.scheme = LongScheme::Known(None, scan);
            }
        }
        if let LongScheme::Known(_, scan) = &mut self.scheme {
            scan.feed(behind);
        }
        self.len += bytes.len() as u64;
    }

    /// Returns the tally of the line, which has ended.
    pub(crate) fn finish(self) -> Tally {
        let mut tally = Tally::default();
        tally.boms = u64::from(self.mark_len > 0);
        tally.cr = u64::from(self.crs > 0);
        let start = self.place.offset;
        let place = Place { offset: start + self.mark_len, ..self.place };
        let len = self.len;
        let entry = Line { place, number: &|| 1, beginning: &self.beginning, len, is_open: false };
        // A byte order mark with nothing after it is not a line.
        let lines = u64::from(self.len > 0 || self.crs > 0 || self.ended);
        let mut signs = Signs::default();
        signs.byte_order_mark = self.mark_len > 0;
        signs.unterminated = lines > 0 && !self.ended;
        tally.note(self.place.input, signs);
        if self.len == 0 {
            tally.blank = lines;
        } else {
            let verdict = self.state.verdict();
            let (scheme, scan) = match self.scheme {
                LongScheme::Known(scheme, scan) => (scheme, Some(scan)),
                LongScheme::Open => (None, None),
            };
            let shown = AlreadyShown::default();
            tally.show(&shown, &entry, verdict);
            let whole = self.whole.as_deref().unwrap_or_default();
            if let Some(wanted) = &self.whatwg {
                let parser = (wanted, &mut Parsed::default());
                count_whatwg(&mut tally, &shown, parser, &entry, whole, scheme.is_some(), verdict);
            }
            if self.wanted.any() {
                let hash = self.hash.as_ref().map_or(0, PartsHash::finish);
                let longest = Longest { bytes: self.len, place, line: 1 };
                let is_accepted = !verdict.is_empty();
                let line = LongJudged { hash, beginning: &self.beginning, whole, is_accepted };
                tally.census.count_long(&self.wanted, place, longest, &line);
            }
            tally.count_long(scheme, &self.beginning, verdict);
            if let Some(scan) = scan.filter(|_| !verdict.is_empty()) {
                tally.count_advisories(&shown, &entry, scan.finish());
            }
            if let Some(defect) = Defect::of(self.grammar, &self.tracker, &self.beginning) {
                let Defect { component, cause, offset, rule, .. } = defect;
                tally.count_defect(&shown, &entry, component, cause, offset, || {
                    ((self.window_start, &self.window), Some(rule))
                });
            }
        }
        tally.cover(Extent::of_bytes(self.place.input, start, start + self.fed, lines));
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::scan;
    use crate::tally::TopOf;

    /// Returns the tally of `bytes`, fed to `LongLine` in parts.
    fn by_parts(bytes: &[u8], step: usize, options: &Options) -> Tally {
        let mut offset = 0;
        let mut tally = Tally::default();
        for line in bytes.split_inclusive(|&byte| byte == b'\n') {
            let mut long = LongLine::new(Place { input: 0, offset }, options);
            let (first, rest) = line.split_at(line.len().min(step.max(3)));
            long.feed(first);
            rest.chunks(step).for_each(|part| long.feed(part));
            tally = tally.merge(long.finish());
            offset += line.len() as u64;
        }
        tally
    }

    #[test]
    fn long_lines_are_judged_as_others() {
        let long = [b"http://a.example/".as_slice(), &[b'x'; 400], b" y", &[b'z'; 400]].concat();
        let secret = b"ftp://fred:secret@h.example:2121/a%00b\n".repeat(3);
        let texts: [&[u8]; 19] = [
            b"\xff\xfeh\0/\0\n\0",
            b"\0h\0t\0\n",
            b"h\0t\0\r\0\n\0",
            b"\0\r\n",
            b"\xef\xbb\xbf\0a\0b",
            b"",
            b"\n",
            b"\r\r\n",
            b"\xef\xbb\xbf",
            b"\xef\xbb\xbfhttp://a/\r\n",
            b"a\r\rb\r\r\n",
            b"\xef\xbb\xbf\n\nx y\n",
            b"http://a/%2F%0\nhttp://a:8080/\n//a:b@c/\n?q\n",
            b"url:foo:x\nabc\n:\n1:2\n",
            b"http://a/\xff\xffx\n",
            b"http://a/\r\xff\r",
            &long,
            &secret,
            b"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa:b%0dx#f\n",
        ];
        for text in texts {
            for grammar in Grammar::ALL {
                let mut options = Options { grammar, lengths: true, ..Options::default() };
                options.top = TopOf::ALL.iter().map(|&of| (of, 1)).collect();
                options.distinct = DistinctOf::ALL.iter().copied().collect();
                options.whatwg = Some(WhatwgWanted::default());
                let whole = scan(text, &options);
                for step in [1, 2, 3, 5, 64, 161, 1000] {
                    assert_eq!(
                        by_parts(text, step, &options),
                        whole,
                        "{:?} {step}",
                        String::from_utf8_lossy(text)
                    );
                }
            }
        }
    }
}
