//! The counts made on demand: lengths, hosts and what belongs to them, ports, and distinct counts.
//!
//! They need a second look at each line, which [`OptionalCounts::look_at`] takes after the scan. Like the tally that contains it,
//! a [`OptionalCounts`] is a commutative monoid. It knows neither verdicts nor defects.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::columns::{self, BATCH, Batch, COLUMNS, Cells, Origin};
use crate::tally::MAX_PARSED_LEN;
use crate::tally::distinct::{Distinct, hash};
use crate::tally::heavy_hitters::{Counts, HeavyHitters, MAX_NAME_LEN, Top};
use crate::tally::length_histogram::{Lengths, Longest};
use urlsift_engine::judge_lines::JudgedLine;
use urlsift_engine::lines::places;
use urlsift_engine::place::Place;
use urlsift_engine::plain_hosts::PlainHostsInTurn;
use urlsift_engine::{Run, Scanner};
use urlsift_grammar::escape::MASK;
use urlsift_grammar::host::compared;
use urlsift_grammar::host_problems::{HostProblem, HostProblems};
use urlsift_grammar::password::secrets_of;
use urlsift_grammar::plain_host::PlainHost;
use urlsift_grammar::public_suffix::{SuffixStarts, UsedList};
use urlsift_grammar::uri_parts::{Host, beginning, host};
use urlsift_grammar::whatwg::Url;
use urlsift_grammar::{at_once, named};

named! {
    /// Names whose most frequent ones can be listed. All but schemes are those of lines that some grammar accepts.
    TopOf {
        /// Hosts, as hosts are compared: in lower case, with escapes undone, and without a dot at the end.
        Hosts = "hosts",
        /// Schemes.
        Schemes = "schemes",
        /// Ports written in the line.
        Ports = "ports",
        /// Last labels of hosts that are names.
        Tlds = "tlds",
        /// Registrable domains of hosts, by the ICANN section of the list of public suffixes.
        Domains = "domains",
        /// Public suffixes of hosts, by the same section.
        Suffixes = "suffixes",
        /// What the Domain Name System says against hosts. A host may have several problems.
        HostProblems = "host-problems",
    }
}

named! {
    /// Items whose distinct ones can be counted.
    DistinctOf {
        /// Hosts, as hosts are compared, of lines that some grammar accepts.
        Hosts = "hosts",
        /// Judged lines, without their terminators.
        Lines = "lines",
        /// Registrable domains of the hosts.
        Domains = "domains",
        /// Canonical forms of the lines that RFC 3986 accepts.
        Canonical = "canonical",
        /// Keys of lines in the indices of web archives.
        Surt = "surt",
        /// URLs that browsers make of lines.
        WhatwgHref = "whatwg_href",
    }
}

/// The counts that are wanted, and what they need.
#[derive(Clone, Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "each is a count or a fact of its own")]
pub(crate) struct WantedCounts {
    pub(crate) lengths: bool,
    /// In the order of [`NAMES`].
    names: [bool; NAMES.len()],
    ports: bool,
    host_problems: bool,
    /// In the order of [`DistinctOf::ALL`].
    distinct: [bool; DistinctOf::ALL.len()],
    /// The list of public suffixes.
    suffixes: UsedList,
    /// What [`DistinctOf::WhatwgHref`] is resolved against.
    base: Option<Url>,
    /// Whether the lines are URLs in running text, which may have ended inside a password.
    pub(crate) is_of_text: bool,
}

impl WantedCounts {
    pub(crate) fn new(
        lengths: bool,
        top: &BTreeMap<TopOf, usize>,
        distinct: &BTreeSet<DistinctOf>,
        suffixes: UsedList,
        base: Option<Url>,
    ) -> Self {
        let is_listed = |of| top.get(&of).is_some_and(|&n| n > 0);
        let mut wanted = Self { lengths, suffixes, base, ..Self::default() };
        wanted.names = NAMES.map(is_listed);
        (wanted.ports, wanted.host_problems) = (is_listed(TopOf::Ports), is_listed(TopOf::HostProblems));
        for &of in distinct {
            wanted.distinct[of as usize] = true;
        }
        wanted
    }

    fn has(&self, of: DistinctOf) -> bool {
        self.distinct[of as usize]
    }

    fn lists(&self, of: TopOf) -> bool {
        NAMES.iter().zip(self.names).any(|(&name, is_listed)| name == of && is_listed)
    }

    /// Whether each line needs a second look.
    pub(crate) fn any(&self) -> bool {
        self.lengths || self.has(DistinctOf::Lines) || self.authorities() || self.keys()
    }

    /// Whether authorities are counted. If so, the scan must note which lines no grammar accepts.
    pub(crate) fn authorities(&self) -> bool {
        self.hosts() || self.ports
    }

    fn hosts(&self) -> bool {
        self.ends() || self.host_problems || self.has(DistinctOf::Hosts) || self.has(DistinctOf::Domains)
    }

    /// Whether keys of whole lines are counted.
    pub(crate) fn keys(&self) -> bool {
        KEYS.iter().any(|&of| self.has(of))
    }

    /// A batch for lines whose keys are counted.
    fn batch<'a>(&self) -> Batch<'a> {
        let mut batch = Batch::default();
        batch.origins.push(Origin { url: self.base.clone(), ..Origin::default() });
        batch
    }

    /// Whether inputs must be [ended](OptionalCounts::end).
    pub(crate) fn ends(&self) -> bool {
        self.names.contains(&true)
    }

    /// Whether a count depends on the list of public suffixes.
    pub(crate) fn needs_suffixes(&self) -> bool {
        self.lists(TopOf::Domains)
            || self.lists(TopOf::Suffixes)
            || self.host_problems
            || self.has(DistinctOf::Domains)
    }
}

/// The names that are not known beforehand.
const NAMES: [TopOf; 4] = [TopOf::Hosts, TopOf::Tlds, TopOf::Domains, TopOf::Suffixes];

/// The keys, which are columns of the same names.
const KEYS: [DistinctOf; 3] = [DistinctOf::Canonical, DistinctOf::Surt, DistinctOf::WhatwgHref];

/// Represents all port numbers above 65535.
const NO_PORT: u32 = 1 << 16;

/// The counts made on demand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionalCounts {
    pub(crate) lengths: Lengths,
    /// In the order of [`NAMES`].
    names: [HeavyHitters; NAMES.len()],
    /// By port or [`NO_PORT`], so at most 65,537 entries.
    ports: BTreeMap<u32, u64>,
    host_problems: BTreeMap<HostProblem, u64>,
    /// In the order of [`DistinctOf::ALL`].
    distinct: [Distinct; DistinctOf::ALL.len()],
}

/// The name counts of one chunk of an input while its lines are counted.
struct OpenChunk<'a> {
    place: Place,
    end: u64,
    names: [Counts; NAMES.len()],
    /// Hosts whose lines are not counted yet.
    waiting: Vec<WaitingHost<'a>>,
}

/// A host of lines that follow each other.
#[derive(Clone, Copy)]
struct WaitingHost<'a> {
    /// As it is written.
    host: &'a [u8],
    /// The bits of its dots, if it is a plain host without a dot at its end. Such a host is compared as it is.
    dots: Option<u64>,
    /// Whether it may be a password, and a mask is counted instead.
    is_hidden: bool,
    n_lines: u64,
}

/// The names of a host.
struct NamesOfHost<'a> {
    /// As it is compared, or in lower case if it cannot be compared.
    host: &'a [u8],
    /// If the host has them and they are wanted.
    starts: Option<SuffixStarts>,
    is_hidden: bool,
    n_lines: u64,
}

impl NamesOfHost<'_> {
    fn domain(&self) -> Option<&[u8]> {
        Some(&self.host[self.starts?.domain?..])
    }

    /// The name that is counted, unless it is too long.
    fn name(&self, of: TopOf) -> Option<&[u8]> {
        let name = match of {
            TopOf::Tlds => last_label(self.host)?,
            TopOf::Domains => self.domain()?,
            TopOf::Suffixes => &self.host[self.starts?.suffix..],
            _ => self.host,
        };
        (name.len() <= MAX_NAME_LEN).then_some(if self.is_hidden { MASK.as_bytes() } else { name })
    }
}

/// How many hosts wait at most.
const MAX_WAITING: usize = 64;

/// A judged line whose beginning alone may be in memory.
pub(crate) struct LongJudged<'a> {
    pub(crate) hash: u64,
    pub(crate) beginning: &'a [u8],
    /// The line, if keys are counted and it is not longer than [`MAX_PARSED_LEN`].
    pub(crate) whole: &'a [u8],
    pub(crate) is_accepted: bool,
}

impl OptionalCounts {
    /// Counts a judged line. Names are counted by `place`.
    pub(crate) fn count_long(
        &mut self,
        wanted: &WantedCounts,
        place: Place,
        longest: Longest,
        line: &LongJudged<'_>,
    ) {
        if wanted.lengths {
            self.lengths.count(longest.bytes);
            self.lengths.note(longest);
        }
        if wanted.has(DistinctOf::Lines) {
            self.count_distinct(DistinctOf::Lines, line.hash);
        }
        if wanted.keys() {
            let mut batch = wanted.batch();
            batch.lines.push(columns::Line::of_field(line.whole.into(), false));
            self.count_keys_of(wanted, &mut batch);
        }
        if line.is_accepted && wanted.authorities() {
            let mut chunk = self.open(place);
            self.count_authority(wanted, &mut chunk, line.beginning, longest.bytes);
            self.close(wanted, chunk);
        }
    }

    fn count_distinct(&mut self, of: DistinctOf, hash: u64) {
        self.distinct[of as usize].count(hash);
    }

    /// Counts the keys of lines. The scanner may have another kernel than the scan: verdicts are the same.
    pub(crate) fn count_keys(&mut self, wanted: &WantedCounts, lines: &[u8], scanner: &mut Scanner) {
        let unjudged: Vec<_>;
        let all = if wanted.has(DistinctOf::Canonical) || wanted.has(DistinctOf::WhatwgHref) {
            scanner.judge(lines, wanted.has(DistinctOf::WhatwgHref))
        } else {
            unjudged = places(lines).map(JudgedLine::unjudged).collect();
            &unjudged
        };
        let mut batch = wanted.batch();
        batch.set_text(lines);
        for some in all.chunks(BATCH) {
            let judged = some.iter().filter(|line| line.verdict().is_some());
            batch.lines.extend(judged.map(|line| columns::Line::of_list(lines, *line, 0, 0)));
            self.count_keys_of(wanted, &mut batch);
            batch.clear();
        }
    }

    /// Counts the keys of the lines of a batch that are not too long.
    fn count_keys_of(&mut self, wanted: &WantedCounts, batch: &mut Batch<'_>) {
        // No parser knows a line yet.
        batch.lines.retain(|line| line.bytes.as_ref().is_some_and(|line| line.len() <= MAX_PARSED_LEN));
        for of in KEYS.into_iter().filter(|&of| wanted.has(of)) {
            let column = COLUMNS.iter().find(|column| column.name == of.name()).expect("a key is a column");
            let Cells::Texts(texts) = batch.cells_of(column) else { unreachable!("a key is a text") };
            let keys = (0..texts.len()).filter_map(|n| texts.get(n));
            keys.for_each(|key| self.count_distinct(of, hash(key)));
        }
    }

    /// Takes the second look at the lines of a run. Keys have a look of their own.
    ///
    /// `refused` has the offsets of lines that no grammar accepts, in descending order. Those within the run are removed.
    pub(crate) fn look_at(&mut self, wanted: &WantedCounts, run: &Run<'_>, refused: &mut Vec<u64>) {
        if wanted.lengths || wanted.has(DistinctOf::Lines) {
            self.count_lines(wanted, run);
        }
        if wanted.authorities() {
            self.count_authorities(wanted, run, refused);
        }
    }

    fn count_lines(&mut self, wanted: &WantedCounts, run: &Run<'_>) {
        let mut longest: Option<Longest> = None;
        for (range, number) in places(run.bytes).zip(1..).filter(|(range, _)| !range.is_empty()) {
            let line = &run.bytes[range.clone()];
            if wanted.lengths {
                let bytes = line.len() as u64;
                self.lengths.count(bytes);
                if longest.is_none_or(|longest| bytes > longest.bytes) {
                    longest = Some(Longest { bytes, place: run.place_of(range.start), line: number });
                }
            }
            if wanted.has(DistinctOf::Lines) {
                self.count_distinct(DistinctOf::Lines, hash(line));
            }
        }
        if let Some(longest) = longest {
            self.lengths.note(longest);
        }
    }

    fn count_authorities(&mut self, wanted: &WantedCounts, run: &Run<'_>, refused: &mut Vec<u64>) {
        let mut open: Option<OpenChunk<'_>> = None;
        let mut plain_hosts = wanted.hosts().then(|| PlainHostsInTurn::of(run.bytes));
        for range in places(run.bytes).filter(|range| !range.is_empty()) {
            let place = run.place_of(range.start);
            if refused.pop_if(|&mut offset| offset == place.offset).is_some() {
                continue;
            }
            if let Some(ended) = open.take_if(|chunk| chunk.end <= place.offset) {
                self.close(wanted, ended);
            }
            let chunk = open.get_or_insert_with(|| self.open(place));
            let line = &run.bytes[range.clone()];
            match plain_hosts.as_mut().and_then(|hosts| hosts.host(&range)) {
                // It has no port.
                Some(PlainHost { start, end, dots, .. }) => {
                    let host = &line[start..end];
                    let dots = (!host.ends_with(b".")).then_some(dots);
                    let host = WaitingHost { host, dots, is_hidden: false, n_lines: 1 };
                    self.count_host(wanted, chunk, host);
                }
                None => self.count_authority(wanted, chunk, beginning(line), line.len() as u64),
            }
        }
        if let Some(chunk) = open {
            self.close(wanted, chunk);
        }
    }

    fn open<'a>(&mut self, place: Place) -> OpenChunk<'a> {
        let mut end = 0;
        let names = self.names.each_mut().map(|names| {
            let (counts, end_of_chunk) = names.take(place);
            end = end_of_chunk;
            counts
        });
        OpenChunk { place, end, names, waiting: Vec::with_capacity(MAX_WAITING) }
    }

    fn close(&mut self, wanted: &WantedCounts, mut chunk: OpenChunk<'_>) {
        self.count_waiting(wanted, &mut chunk);
        for (names, counts) in self.names.iter_mut().zip(chunk.names) {
            names.put(chunk.place, counts);
        }
    }

    /// Counts the host and port of an accepted line. `line` may be only the beginning of the `len` bytes; an
    /// authority that does not end within it is not counted.
    fn count_authority<'a>(
        &mut self,
        wanted: &WantedCounts,
        chunk: &mut OpenChunk<'a>,
        line: &'a [u8],
        len: u64,
    ) {
        let ends = |host: &Host| host.end < line.len() || line.len() as u64 == len;
        let Some(parts) = host(line).filter(ends) else { return };
        let is_shown = |range: &Range<usize>| !has_secret(line, wanted.is_of_text, &parts, range);
        if wanted.ports
            && let Some(range) = parts.port.clone()
            && let Some(port) = number(&line[range.clone()])
            && is_shown(&range)
        {
            *self.ports.entry(port).or_default() += 1;
        }
        let host = &line[parts.name.clone()];
        if !wanted.hosts() || host.is_empty() {
            return;
        }
        // A misspelt URL may have a password where a host is expected.
        let is_hidden = !is_shown(&parts.name);
        self.count_host(wanted, chunk, WaitingHost { host, dots: None, is_hidden, n_lines: 1 });
    }

    /// Counts a host, with others or later.
    fn count_host<'a>(&mut self, wanted: &WantedCounts, chunk: &mut OpenChunk<'a>, next: WaitingHost<'a>) {
        match chunk.waiting.last_mut() {
            Some(last) if (last.host, last.is_hidden) == (next.host, next.is_hidden) => last.n_lines += 1,
            _ => {
                if chunk.waiting.len() == MAX_WAITING {
                    self.count_waiting(wanted, chunk);
                }
                chunk.waiting.push(next);
            }
        }
    }

    /// Counts the hosts that wait. They are counted together, because each look-up of a name waits for memory.
    #[inline(never)]
    fn count_waiting(&mut self, wanted: &WantedCounts, chunk: &mut OpenChunk<'_>) {
        let needs_suffixes = wanted.needs_suffixes();
        let others = chunk.waiting.iter().filter(|host| host.dots.is_none());
        let others: Vec<_> = others.map(|host| text_of(host.host)).collect();
        let (mut others, mut hosts) = (others.iter(), Vec::with_capacity(MAX_WAITING));
        for &WaitingHost { host, dots, is_hidden, n_lines } in &chunk.waiting {
            let other = if dots.is_none() { others.next() } else { None };
            let (host, is_compared) = other.map_or((host, true), |(text, is_compared)| (text, *is_compared));
            let compared = is_compared.then_some(host);
            if wanted.host_problems {
                for problem in HostProblems::of(compared, &wanted.suffixes).iter() {
                    *self.host_problems.entry(problem).or_default() += n_lines;
                }
            }
            let starts =
                compared.filter(|_| needs_suffixes).and_then(|host| wanted.suffixes.find_icann(host, dots));
            if !host.is_empty() {
                hosts.push(NamesOfHost { host, starts, is_hidden, n_lines });
            }
        }
        for names in &hosts {
            if wanted.has(DistinctOf::Hosts) && names.host.len() <= MAX_NAME_LEN {
                self.count_distinct(DistinctOf::Hosts, hash(names.host));
            }
            if let Some(domain) = names.domain().filter(|_| wanted.has(DistinctOf::Domains)) {
                self.count_distinct(DistinctOf::Domains, hash(domain));
            }
        }
        for ((of, is_listed), counts) in NAMES.into_iter().zip(wanted.names).zip(&mut chunk.names) {
            if is_listed {
                let mut named = Vec::with_capacity(MAX_WAITING);
                named.extend(hosts.iter().filter_map(|names| Some((names.name(of)?, names.n_lines))));
                counts.count(&named);
            }
        }
        chunk.waiting.clear();
    }

    /// Notes that all lines that begin in a byte range of an input have been counted.
    pub(crate) fn settle(&mut self, input: u32, bytes: &Range<u64>) {
        self.names.iter_mut().for_each(|names| names.settle(input, bytes));
    }

    /// Moves the names of an input that has not ended from `other` to here.
    pub(crate) fn join(&mut self, other: &mut Self, input: u32) {
        self.names.iter_mut().zip(&mut other.names).for_each(|(names, other)| names.join(other, input));
    }

    /// The inputs that have not ended and have names.
    pub(crate) fn open_inputs(&self) -> Vec<u32> {
        let mut inputs: Vec<u32> = self.names.iter().flat_map(HeavyHitters::open_inputs).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// Notes that an input has been read to its end.
    pub(crate) fn end(&mut self, input: u32) {
        self.names.iter_mut().for_each(|names| names.end(input));
    }

    /// Gives new numbers to the inputs that have not ended. The new numbers must be distinct.
    pub(crate) fn renumber(&mut self, number: &dyn Fn(u32) -> u32) {
        self.names.iter_mut().for_each(|names| names.renumber(number));
        if let Some(longest) = self.lengths.longest_mut() {
            longest.place.input = number(longest.place.input);
        }
    }

    /// Checks that these can be the counts of `judged` lines with `bytes` bytes in total, all in inputs for which
    /// `is_input` holds.
    pub(crate) fn check(
        &self,
        judged: u64,
        bytes: u64,
        is_input: impl Fn(u32) -> bool,
    ) -> Result<(), String> {
        self.lengths.check(judged, bytes, &is_input)?;
        self.names.iter().try_for_each(|names| names.check(judged, &is_input))?;
        let ports: u128 = self.ports.values().copied().map(u128::from).sum();
        if ports > judged.into() || self.ports.keys().any(|&port| port > NO_PORT) {
            return Err("more ports than lines, or what is none".to_owned());
        }
        if self.host_problems.values().any(|&lines| lines > judged) {
            return Err("more problems of hosts than lines".to_owned());
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lengths.merge(&other.lengths);
        self.names.iter_mut().zip(other.names).for_each(|(names, other)| names.merge(other));
        for (port, lines) in other.ports {
            *self.ports.entry(port).or_default() += lines;
        }
        for (problem, lines) in other.host_problems {
            *self.host_problems.entry(problem).or_default() += lines;
        }
        self.distinct.iter_mut().zip(&other.distinct).for_each(|(distinct, other)| distinct.merge(other));
    }

    /// The most frequent names of any kind except schemes, which [`Tally::top`](super::Tally::top) has.
    pub(crate) fn top(&self, of: TopOf, n: usize) -> Top {
        let sorted = |mut entries: Vec<(String, u64)>| {
            // The sort is stable: names with equally many lines stay in order.
            entries.sort_by_key(|&(_, lines)| Reverse(lines));
            entries.truncate(n);
            Top { entries, max_error: 0 }
        };
        let port = |(&port, &lines): (&u32, &u64)| {
            (if port == NO_PORT { "above 65535".to_owned() } else { port.to_string() }, lines)
        };
        match NAMES.iter().position(|&name| name == of) {
            Some(at) => self.names[at].top(n),
            None if of == TopOf::Ports => sorted(self.ports.iter().map(port).collect()),
            None => sorted(
                self.host_problems.iter().map(|(problem, &lines)| (problem.to_string(), lines)).collect(),
            ),
        }
    }

    pub(crate) fn distinct(&self, of: DistinctOf) -> u64 {
        self.distinct[of as usize].estimate()
    }
}

/// A host as it is compared, or in lower case if it cannot be compared, and whether it can.
fn text_of(host: &[u8]) -> (Vec<u8>, bool) {
    let mut buffer = Vec::new();
    compared(host, &mut buffer)
        .map_or_else(|| (host.to_ascii_lowercase(), false), |name| (name.to_vec(), true))
}

/// Whether a range of the host and port of a line may be a part of a password.
fn has_secret(line: &[u8], is_of_text: bool, Host { name, port, .. }: &Host, range: &Range<usize>) -> bool {
    // Nearly all authorities are a plain host.
    let is_plain = port.is_none()
        && line[..name.start].ends_with(b"/")
        && at_once::all(&line[name.clone()], |byte| byte != b'%' && byte != b':' && byte != b'\\');
    let overlaps = |secret: &Range<usize>| secret.start < range.end && range.start < secret.end;
    !is_plain && secrets_of(line, false, is_of_text).iter().any(overlaps)
}

/// Parses a port. Returns [`NO_PORT`] if the number is too large, and `None` if the text is empty or not a number.
fn number(text: &[u8]) -> Option<u32> {
    let digits = text.iter().all(u8::is_ascii_digit) && !text.is_empty();
    let add = |port: u32, digit: &u8| (port * 10 + u32::from(digit - b'0')).min(NO_PORT);
    digits.then(|| text.iter().fold(0, add))
}

/// Returns the last label of a host, ignoring one final ".". Returns `None` for an IP address or an empty label.
fn last_label(host: &[u8]) -> Option<&[u8]> {
    let name = host.strip_suffix(b".").unwrap_or(host);
    let label = &name[memchr::memrchr(b'.', name).map_or(0, |dot| dot + 1)..];
    let is_address = label.first()?.is_ascii_digit()
        && str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok());
    (!is_address && !host.starts_with(b"[")).then_some(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels() {
        for (host, label) in [
            ("example.org", Some("org")),
            ("example.org.", Some("org")),
            ("localhost", Some("localhost")),
            ("1.2.3.4", None),
            ("1.2.3.400", Some("400")),
            ("1.2.3.x4", Some("x4")),
            ("[::1]", None),
            (".", None),
            ("a..", None),
        ] {
            assert_eq!(last_label(host.as_bytes()), label.map(str::as_bytes), "{host}");
        }
    }

    #[test]
    fn ports() {
        for (text, port) in [
            ("80", Some(80)),
            ("0080", Some(80)),
            ("65535", Some(65_535)),
            ("65536", Some(NO_PORT)),
            ("99999999999999999999", Some(NO_PORT)),
            ("", None),
            ("8a", None),
            ("+8", None),
        ] {
            assert_eq!(number(text.as_bytes()), port, "{text}");
        }
    }
}
