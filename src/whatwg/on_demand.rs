//! One line after another, each parsed when its result is asked for, and once.

use crate::grammar::resolve::Base;
use crate::whatwg::{Parsed, Url, hosts_differ, parse};

/// The parser and its memory. Parsing the next line reuses what the line before has allocated.
#[derive(Debug, Default)]
pub(crate) struct OnDemand {
    /// The last base, and its URL unless the parser fails on it.
    base: Option<(Base, Option<Url>)>,
    parsed: Parsed,
}

impl OnDemand {
    /// A line, which is not parsed yet. If the parser fails on `base`, there is none.
    pub(crate) fn line<'a>(&'a mut self, line: &'a [u8], base: Option<&'a Base>) -> Line<'a> {
        Line { memory: self, bytes: line, base, is_parsed: false }
    }
}

/// A line that may be parsed.
#[derive(Debug)]
pub(crate) struct Line<'a> {
    memory: &'a mut OnDemand,
    bytes: &'a [u8],
    base: Option<&'a Base>,
    is_parsed: bool,
}

impl Line<'_> {
    /// The result of the parser. The first call parses the line.
    pub(crate) fn parsed(&mut self) -> &Parsed {
        self.with_base().0
    }

    /// Whether RFC 3986 finds another host in the line than the parser.
    pub(crate) fn hosts_differ(&mut self) -> bool {
        let bytes = self.bytes;
        self.parsed().url().is_some_and(|url| hosts_differ(bytes, url))
    }

    /// The result of the parser, and the URL of the base.
    pub(crate) fn with_base(&mut self) -> (&Parsed, Option<&Url>) {
        let OnDemand { base, parsed } = &mut *self.memory;
        if !self.is_parsed && self.base != base.as_ref().map(|(base, _)| base) {
            *base = self.base.map(|base| (base.clone(), parse(base.as_bytes(), None).url().cloned()));
        }
        let base = base.as_ref().and_then(|(_, url)| url.as_ref());
        if !self.is_parsed {
            parsed.replace(self.bytes, base);
            self.is_parsed = true;
        }
        (parsed, base)
    }
}
