//! One line after another, each parsed when only the parser has what is asked for, and once.

use std::cell::OnceCell;

use crate::uri_parts::scheme_end;
use crate::whatwg::plain::PlainUrl;
use crate::whatwg::{Found, Level, Parsed, Url, hosts_differ};

/// The parser and its memory. Parsing the next line reuses what the line before has allocated.
#[derive(Debug, Default)]
pub struct OnDemand {
    parsed: Parsed,
    is_parsed: bool,
    /// The line as a plain URL, once it is asked for.
    plain: OnceCell<Option<PlainUrl>>,
}

impl OnDemand {
    /// The line that is asked for since the last one was forgotten, and whether RFC 3986 accepts it.
    pub fn line<'a>(
        &'a mut self,
        bytes: &'a [u8],
        base: Option<&'a Url>,
        is_accepted_by_rfc3986: bool,
    ) -> Line<'a> {
        Line { parser: self, bytes, base, is_accepted_by_rfc3986 }
    }

    /// Forgets the line, but not the memory.
    pub fn forget(&mut self) {
        (self.is_parsed, self.plain) = (false, OnceCell::new());
    }
}

/// A line that may be parsed.
#[derive(Debug)]
pub struct Line<'a> {
    parser: &'a mut OnDemand,
    bytes: &'a [u8],
    /// What it is parsed against.
    base: Option<&'a Url>,
    is_accepted_by_rfc3986: bool,
}

impl Line<'_> {
    /// The result of the parser. The first call parses the line.
    pub fn parsed(&mut self) -> &Parsed {
        let OnDemand { parsed, is_parsed, .. } = &mut *self.parser;
        if !*is_parsed {
            parsed.replace(self.bytes, self.base);
            *is_parsed = true;
        }
        parsed
    }

    /// The line as a plain URL, if it is one.
    pub fn plain(&mut self) -> Option<&PlainUrl> {
        let &mut Self { bytes, is_accepted_by_rfc3986, .. } = self;
        self.parser.plain.get_or_init(|| PlainUrl::of(bytes, is_accepted_by_rfc3986)).as_ref()
    }

    /// The level.
    pub fn level(&mut self) -> Level {
        if self.plain().is_some() {
            Level::Valid
        } else if self.lacks_base() {
            Level::Relative
        } else {
            self.parsed().level()
        }
    }

    /// The URL, if there is one.
    pub fn url(&mut self) -> Option<&Url> {
        if self.lacks_base() { None } else { self.parsed().url() }
    }

    /// Whether it is known that the line has no scheme, and that there is no base.
    fn lacks_base(&self) -> bool {
        self.is_accepted_by_rfc3986 && self.base.is_none() && scheme_end(self.bytes).is_none()
    }

    /// The validation errors.
    pub fn errors(&mut self) -> &[Found] {
        if self.plain().is_some() { &[] } else { self.parsed().errors() }
    }

    /// Whether RFC 3986 finds another host in the line than the parser.
    pub fn hosts_differ(&mut self) -> bool {
        let (bytes, base) = (self.bytes, self.base);
        self.plain().is_none() && self.url().is_some_and(|url| hosts_differ(bytes, base, url))
    }
}
