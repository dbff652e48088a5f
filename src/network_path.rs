//! References that begin with "//" and the hosts that they name: network-path references (RFC 3986, section 4.2). Where relative
//! references are resolved, they alone do not lead to the host of the base; no base has to be known to count them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::example::Place;
use crate::frequent::{Frequent, MAX_NAME_LEN, Top};
use crate::grammar::{Grammar, Verdict};
use crate::parts::host;

/// The network-path references among some lines: those that begin with "//" and that RFC 3986 accepts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkPaths {
    lines: u64,
    without_host: u64,
    hosts: Frequent,
}

/// Whether a line with that verdict is one.
#[inline]
pub(crate) fn is_network_path(line: &[u8], verdict: Verdict) -> bool {
    line.starts_with(b"//") && verdict.accepts(Grammar::Rfc3986)
}

/// A host in lower case, in `buffer` if it is not so already; `None` if it is empty or too long to be counted by name.
pub(crate) fn lower_name<'a>(host: &'a [u8], buffer: &'a mut [u8; MAX_NAME_LEN]) -> Option<&'a [u8]> {
    let lower = buffer.get_mut(..host.len()).filter(|lower| !lower.is_empty())?;
    if !host.iter().any(u8::is_ascii_uppercase) {
        return Some(host);
    }
    lower.copy_from_slice(host);
    lower.make_ascii_lowercase();
    Some(lower)
}

impl NetworkPaths {
    /// How many there are.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// How many of them have an empty host, or one of more than [`MAX_NAME_LEN`] bytes.
    #[must_use]
    pub fn without_host(&self) -> u64 {
        self.without_host
    }

    /// The `n` hosts that most of the others have, in lower case.
    #[must_use]
    pub fn top_hosts(&self, n: usize) -> Top {
        self.hosts.top(n)
    }

    /// Counts one that begins at `place` and has `len` bytes, of which its beginning is at hand.
    pub(crate) fn count(&mut self, place: Place, beginning: &[u8], len: u64) {
        self.lines += 1;
        let found =
            host(beginning).filter(|host| host.end < beginning.len() || beginning.len() as u64 == len);
        let mut buffer = [0; MAX_NAME_LEN];
        match found.and_then(|host| lower_name(&beginning[host.name], &mut buffer)) {
            Some(host) => self.hosts.count(place, host),
            None => self.without_host += 1,
        }
    }

    /// Takes note that all lines of an input have been counted that begin in a range of its bytes.
    pub(crate) fn settle(&mut self, input: u32, bytes: &Range<u64>) {
        self.hosts.settle(input, bytes);
    }

    /// The inputs that have not ended and have hosts.
    pub(crate) fn open_inputs(&self) -> impl Iterator<Item = u32> {
        self.hosts.open_inputs()
    }

    /// Takes note that an input has been read to its end.
    pub(crate) fn end(&mut self, input: u32) {
        self.hosts.end(input);
    }

    /// Gives inputs that have not ended other numbers, no two the same.
    pub(crate) fn renumber(&mut self, number: impl Fn(u32) -> u32) {
        self.hosts.renumber(number);
    }

    /// That there are no more than `most`, all of inputs for which `is_input` holds.
    pub(crate) fn check(&self, most: u64, is_input: impl Fn(u32) -> bool) -> Result<(), String> {
        if self.lines > most || self.without_host > self.lines {
            return Err("more network-path references than lines".to_owned());
        }
        self.hosts.check(self.lines, is_input)
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.lines += other.lines;
        self.without_host += other.without_host;
        self.hosts.merge(other.hosts);
    }
}
