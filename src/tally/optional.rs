//! The counts made on demand: lengths, hosts, top-level domains, ports and distinct counts.
//!
//! They need a second look at each line, which [`SecondLook`] takes after the scan. Like the tally that contains it,
//! a [`OptionalCounts`] is a commutative monoid. It knows neither verdicts nor defects.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::tally::distinct::{Distinct, hash};
use crate::tally::heavy_hitters::{Counts, HeavyHitters, MAX_NAME_LEN, Top};
use crate::tally::length_histogram::{Lengths, Longest};
use urlsift_engine::Run;
use urlsift_engine::lines::trim_terminator;
use urlsift_engine::place::Place;
use urlsift_grammar::escape::MASK;
use urlsift_grammar::password::secrets;
use urlsift_grammar::uri_parts::{Host, beginning, host};

/// How many of the most frequent items are wanted. A kind with 0 is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TopWanted {
    /// Hosts, in lower case.
    pub hosts: usize,
    /// Schemes, which are counted in any case.
    pub schemes: usize,
    /// Ports written in the line.
    pub ports: usize,
    /// The last labels of hosts that are names.
    pub tlds: usize,
}

/// Which distinct items are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DistinctWanted {
    /// Hosts, ignoring letter case.
    pub hosts: bool,
    /// Judged lines, without their terminators.
    pub lines: bool,
}

/// The counts that are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WantedCounts {
    pub(crate) lengths: bool,
    pub(crate) top: TopWanted,
    pub(crate) distinct: DistinctWanted,
}

impl WantedCounts {
    /// Whether each line needs a second look.
    pub(crate) fn any(&self) -> bool {
        self.lengths || self.distinct.lines || self.authorities()
    }

    /// Whether authorities are counted. If so, the scan must note which lines no grammar accepts.
    pub(crate) fn authorities(&self) -> bool {
        self.names() || self.top.ports > 0 || self.distinct.hosts
    }

    fn names(&self) -> bool {
        self.top.hosts > 0 || self.top.tlds > 0
    }

    /// Whether inputs must be [ended](OptionalCounts::end).
    pub(crate) fn ends(&self) -> bool {
        self.names()
    }
}

/// Represents all port numbers above 65535.
const NO_PORT: u32 = 1 << 16;

/// The counts made on demand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct OptionalCounts {
    pub(crate) lengths: Lengths,
    hosts: HeavyHitters,
    tlds: HeavyHitters,
    /// By port or [`NO_PORT`], so at most 65,537 entries.
    ports: BTreeMap<u32, u64>,
    pub(crate) distinct_hosts: Distinct,
    pub(crate) distinct_lines: Distinct,
}

/// The name counts of one chunk of an input while its lines are counted.
struct OpenChunk {
    place: Place,
    end: u64,
    hosts: Counts,
    tlds: Counts,
}

impl OptionalCounts {
    /// Counts a judged line. Only its beginning is in memory. Names are counted by `place`.
    pub(crate) fn count_long(
        &mut self,
        wanted: &WantedCounts,
        place: Place,
        longest: Longest,
        hash: u64,
        beginning: &[u8],
        accepted: bool,
    ) {
        if wanted.lengths {
            self.lengths.count(longest.bytes);
            self.lengths.note(longest);
        }
        if wanted.distinct.lines {
            self.distinct_lines.count(hash);
        }
        if accepted && wanted.authorities() {
            let mut chunk = self.open(place);
            self.count_authority(wanted, &mut chunk, beginning, longest.bytes);
            self.close(chunk);
        }
    }

    fn open(&mut self, place: Place) -> OpenChunk {
        let ((hosts, end), (tlds, _)) = (self.hosts.take(place), self.tlds.take(place));
        OpenChunk { place, end, hosts, tlds }
    }

    fn close(&mut self, chunk: OpenChunk) {
        self.hosts.put(chunk.place, chunk.hosts);
        self.tlds.put(chunk.place, chunk.tlds);
    }

    /// Counts the host and port of an accepted line. `line` may be only the beginning of the `len` bytes; an
    /// authority that does not end within it is not counted.
    fn count_authority(&mut self, wanted: &WantedCounts, chunk: &mut OpenChunk, line: &[u8], len: u64) {
        let ends = |host: &Host| host.end < line.len() || line.len() as u64 == len;
        let Some(parts) = host(line).filter(ends) else { return };
        if wanted.top.ports > 0
            && let Some(port) = parts.port.clone().and_then(|port| number(&line[port]))
        {
            *self.ports.entry(port).or_default() += 1;
        }
        if !(wanted.names() || wanted.distinct.hosts) {
            return;
        }
        let mut buffer = [0; MAX_NAME_LEN];
        let Some(host) = lower_name(&line[parts.name.clone()], &mut buffer) else { return };
        if wanted.distinct.hosts {
            self.distinct_hosts.count(hash(host));
        }
        if !wanted.names() {
            return;
        }
        // A misspelt URL may have a password where a host is expected.
        let host = if has_secret(line, &parts) { MASK.as_bytes() } else { host };
        if wanted.top.hosts > 0 {
            chunk.hosts.count(host);
        }
        if wanted.top.tlds > 0
            && let Some(label) = last_label(host)
        {
            chunk.tlds.count(label);
        }
    }

    /// Notes that all lines that begin in a byte range of an input have been counted.
    pub(crate) fn settle(&mut self, input: u32, bytes: &Range<u64>) {
        self.hosts.settle(input, bytes);
        self.tlds.settle(input, bytes);
    }

    /// Moves the names of an input that has not ended from `other` to here.
    pub(crate) fn join(&mut self, other: &mut Self, input: u32) {
        self.hosts.join(&mut other.hosts, input);
        self.tlds.join(&mut other.tlds, input);
    }

    /// The inputs that have not ended and have names.
    pub(crate) fn open_inputs(&self) -> Vec<u32> {
        let mut inputs: Vec<u32> = self.hosts.open_inputs().chain(self.tlds.open_inputs()).collect();
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    /// Notes that an input has been read to its end.
    pub(crate) fn end(&mut self, input: u32) {
        self.hosts.end(input);
        self.tlds.end(input);
    }

    /// Gives new numbers to the inputs that have not ended. The new numbers must be distinct.
    pub(crate) fn renumber(&mut self, number: &dyn Fn(u32) -> u32) {
        self.hosts.renumber(number);
        self.tlds.renumber(number);
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
        self.hosts.check(judged, &is_input)?;
        self.tlds.check(judged, &is_input)?;
        let ports: u128 = self.ports.values().copied().map(u128::from).sum();
        if ports > judged.into() || self.ports.keys().any(|&port| port > NO_PORT) {
            return Err("more ports than lines, or what is none".to_owned());
        }
        Ok(())
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lengths.merge(&other.lengths);
        self.hosts.merge(other.hosts);
        self.tlds.merge(other.tlds);
        for (port, lines) in other.ports {
            *self.ports.entry(port).or_default() += lines;
        }
        self.distinct_hosts.merge(&other.distinct_hosts);
        self.distinct_lines.merge(&other.distinct_lines);
    }

    pub(crate) fn top_hosts(&self, n: usize) -> Top {
        self.hosts.top(n)
    }

    pub(crate) fn top_tlds(&self, n: usize) -> Top {
        self.tlds.top(n)
    }

    pub(crate) fn top_ports(&self, n: usize) -> Top {
        let mut ports: Vec<_> = self.ports.iter().map(|(&port, &lines)| (port, lines)).collect();
        // The sort is stable: ports with equally many lines stay in ascending order.
        ports.sort_by_key(|&(_, lines)| Reverse(lines));
        let name = |port: u32| if port == NO_PORT { "above 65535".to_owned() } else { port.to_string() };
        let entries = ports.into_iter().take(n).map(|(port, lines)| (name(port), lines)).collect();
        Top { entries, max_error: 0 }
    }
}

/// A second look at lines that have been scanned, which makes the counts that are wanted.
pub(crate) struct SecondLook<'a> {
    census: &'a mut OptionalCounts,
    wanted: &'a WantedCounts,
    run: &'a Run<'a>,
    /// Offsets of the lines that no grammar accepts, in descending order, so that the next one is last.
    refused: &'a mut Vec<u64>,
    /// Where the next line begins.
    start: usize,
    /// How many lines precede it.
    lines: u64,
    longest: Option<Longest>,
    chunk: Option<OpenChunk>,
}

impl<'a> SecondLook<'a> {
    /// Prepares a look at the lines of `run`.
    ///
    /// `refused` has the offsets of lines that no grammar accepts, in descending order. The look removes those within
    /// the run.
    pub(crate) fn new(
        census: &'a mut OptionalCounts,
        wanted: &'a WantedCounts,
        run: &'a Run<'a>,
        refused: &'a mut Vec<u64>,
    ) -> Self {
        Self { census, wanted, run, refused, start: 0, lines: 0, longest: None, chunk: None }
    }

    /// Counts the next line. `end` is the position of its LF, or the end of the bytes if it has none.
    #[inline]
    pub(crate) fn line_until(&mut self, end: usize) {
        let (line, _) = trim_terminator(&self.run.bytes[self.start..end]);
        let place = Place { offset: self.run.place.offset + self.start as u64, ..self.run.place };
        self.start = end + 1;
        self.lines += 1;
        if line.is_empty() {
            return;
        }
        let bytes = line.len() as u64;
        if self.wanted.lengths {
            self.census.lengths.count(bytes);
            if self.longest.is_none_or(|longest| bytes > longest.bytes) {
                self.longest = Some(Longest { bytes, place, line: self.lines });
            }
        }
        if self.wanted.distinct.lines {
            self.census.distinct_lines.count(hash(line));
        }
        if self.wanted.authorities() {
            self.name(place, line);
        }
    }

    #[inline(never)]
    fn name(&mut self, place: Place, line: &[u8]) {
        if self.refused.pop_if(|&mut offset| offset == place.offset).is_some() {
            return;
        }
        if let Some(chunk) = self.chunk.take_if(|chunk| chunk.end <= place.offset) {
            self.census.close(chunk);
        }
        let chunk = self.chunk.get_or_insert_with(|| self.census.open(place));
        self.census.count_authority(self.wanted, chunk, beginning(line), line.len() as u64);
    }

    /// Counts the last line if it has no LF, and stores what is still pending.
    pub(crate) fn finish(mut self) {
        if self.start < self.run.bytes.len() {
            self.line_until(self.run.bytes.len());
        }
        if let Some(chunk) = self.chunk {
            self.census.close(chunk);
        }
        if let Some(longest) = self.longest {
            self.census.lengths.note(longest);
        }
    }
}

/// Whether the host of a line may be a part of a password.
fn has_secret(line: &[u8], Host { name, port, .. }: &Host) -> bool {
    // Nearly all authorities are a plain host.
    let is_plain = port.is_none()
        && line[..name.start].ends_with(b"/")
        && !line[name.clone()].iter().any(|byte| b"%:\\".contains(byte));
    !is_plain && secrets(line, false).iter().any(|secret| secret.start < name.end && name.start < secret.end)
}

/// Returns a host in lower case, copied to `buffer` only if it has upper-case letters. Returns `None` if the host is
/// empty or longer than [`MAX_NAME_LEN`].
fn lower_name<'a>(host: &'a [u8], buffer: &'a mut [u8; MAX_NAME_LEN]) -> Option<&'a [u8]> {
    let lower = buffer.get_mut(..host.len()).filter(|lower| !lower.is_empty())?;
    if !host.iter().any(u8::is_ascii_uppercase) {
        return Some(host);
    }
    lower.copy_from_slice(host);
    lower.make_ascii_lowercase();
    Some(lower)
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
