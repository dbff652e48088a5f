//! One line after another, each parsed when its result is asked for, and once.

use crate::whatwg::{Parsed, TwoHosts, Url, hosts_differ};

/// The parser and its memory. Parsing the next line reuses what the line before has allocated.
#[derive(Debug, Default)]
pub struct OnDemand(Parsed);

impl OnDemand {
    /// A line, which is not parsed yet.
    pub fn line<'a>(&'a mut self, line: &'a [u8], base: Option<&'a Url>) -> Line<'a> {
        Line { parsed: &mut self.0, bytes: line, base, is_parsed: false }
    }
}

/// A line that may be parsed.
#[derive(Debug)]
pub struct Line<'a> {
    parsed: &'a mut Parsed,
    bytes: &'a [u8],
    /// What it is parsed against.
    pub base: Option<&'a Url>,
    is_parsed: bool,
}

impl Line<'_> {
    /// The result of the parser. The first call parses the line.
    pub fn parsed(&mut self) -> &Parsed {
        if !self.is_parsed {
            self.parsed.replace(self.bytes, self.base);
            self.is_parsed = true;
        }
        self.parsed
    }

    /// Whether RFC 3986 finds another host in the line than the parser.
    pub fn hosts_differ(&mut self) -> bool {
        let (bytes, base) = (self.bytes, self.base);
        self.parsed().url().is_some_and(|url| hosts_differ(bytes, base, url))
    }

    /// The hosts that RFC 3986 and the parser find, if they differ.
    pub fn two_hosts(&mut self) -> Option<TwoHosts> {
        let (bytes, base) = (self.bytes, self.base);
        self.parsed().url().and_then(|url| TwoHosts::of(bytes, base, url))
    }
}
