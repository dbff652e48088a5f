//! One line after another, each parsed when its result is asked for, and once.

use crate::whatwg::{Parsed, Url, hosts_differ};

/// The parser and its memory. Parsing the next line reuses what the line before has allocated.
#[derive(Debug, Default)]
pub struct OnDemand {
    parsed: Parsed,
    is_parsed: bool,
}

impl OnDemand {
    /// A line, which is not parsed yet.
    pub fn line<'a>(&'a mut self, line: &'a [u8], base: Option<&'a Url>) -> Line<'a> {
        self.forget();
        self.again(line, base)
    }

    /// The same line again, which may be parsed already.
    pub fn again<'a>(&'a mut self, line: &'a [u8], base: Option<&'a Url>) -> Line<'a> {
        Line { parser: self, bytes: line, base }
    }

    /// Forgets the line, but not the memory.
    pub fn forget(&mut self) {
        self.is_parsed = false;
    }

    /// What the parser makes of the line that was parsed last.
    pub fn result(&self) -> &Parsed {
        &self.parsed
    }
}

/// A line that may be parsed.
#[derive(Debug)]
pub struct Line<'a> {
    parser: &'a mut OnDemand,
    bytes: &'a [u8],
    /// What it is parsed against.
    base: Option<&'a Url>,
}

impl Line<'_> {
    /// The result of the parser. The first call parses the line.
    pub fn parsed(&mut self) -> &Parsed {
        let OnDemand { parsed, is_parsed } = &mut *self.parser;
        if !*is_parsed {
            parsed.replace(self.bytes, self.base);
            *is_parsed = true;
        }
        parsed
    }

    /// Whether RFC 3986 finds another host in the line than the parser.
    pub fn hosts_differ(&mut self) -> bool {
        let (bytes, base) = (self.bytes, self.base);
        self.parsed().url().is_some_and(|url| hosts_differ(bytes, base, url))
    }
}
