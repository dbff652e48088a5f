//! The WHATWG URL Standard: what browsers take.
//!
//! The standard describes a parser and not a grammar. Its result for a line is a URL or a failure, and the parser names what is wrong
//! (*validation errors*). This folder follows the standard as of commit `fde3f74`, section by section: `code_points` (1.3, 4.3), `host` (3),
//! `url` (4.1, 4.5), `parser` (4.4). `tests/conformance/WHATWG.md` settles what the standard leaves open, by number.
//!
//! The standard also says which strings people should write (*valid URL strings*). These are the ones that are UTF-8 and that the parser
//! takes without an error (W1).

mod code_points;
mod host;
mod hosts;
mod input;
#[cfg(feature = "scan")]
pub mod on_demand;
mod parser;
pub mod plain;
#[cfg(feature = "scan")]
mod two_hosts;
mod url;
mod validation_error;

use crate::named;
#[cfg(feature = "scan")]
pub(crate) use code_points::{is_forbidden_in_domain, percent_decode};
#[cfg(feature = "scan")]
pub(crate) use host::{domain_to_ascii, is_number};
pub use hosts::hosts_differ;
use input::Input;
#[cfg(feature = "scan")]
pub use two_hosts::{HostsCause, Network, TwoHosts};
pub use url::Url;
pub use validation_error::ValidationError;

/// The version of the standard that is implemented: the commit of its text.
pub const STANDARD: &str = "fde3f74";

named! {
    /// What the standard says of a line.
    Level {
        /// The line is a valid URL string.
        Valid = "valid",
        /// The parser makes a URL of the line, but the line is no valid URL string.
        Errors = "errors",
        /// The parser fails.
        Failure = "failure",
        /// The parser fails only because the line has no scheme, and there is no base.
        Relative = "relative",
    }
}

impl Default for Level {
    /// The level of the empty line.
    fn default() -> Self {
        Self::Relative
    }
}

/// A validation error, and where the parser noticed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// The error.
    pub error: ValidationError,
    /// The offset in bytes from the start of the line. At the end of the line, its length.
    pub offset: usize,
}

/// What the standard says of a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parsed {
    level: Level,
    errors: Vec<Found>,
    url: Url,
    is_utf8: bool,
}

impl Parsed {
    /// The level.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// The validation errors, in the order of their discovery.
    #[must_use]
    pub fn errors(&self) -> &[Found] {
        &self.errors
    }

    /// The URL, unless the parser fails.
    #[must_use]
    pub fn url(&self) -> Option<&Url> {
        matches!(self.level, Level::Valid | Level::Errors).then_some(&self.url)
    }

    /// Whether the line is UTF-8. If it is not, it is parsed with U+FFFD in place of what is not, and is never valid.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.is_utf8
    }

    /// Parses another line, like [`parse`], and replaces this result. That saves allocations.
    pub fn replace(&mut self, line: &[u8], base: Option<&Url>) {
        let input = Input::new(line);
        self.is_utf8 = input.is_utf8;
        let removed = input.trimmed.into_iter().chain(input.removed);
        self.errors.clear();
        self.errors.extend(removed.map(|offset| Found { error: ValidationError::InvalidUrlUnit, offset }));
        let n_removed = self.errors.len();
        let is_url = parser::parse(&input.text, base, &mut self.url, &mut self.errors).is_ok();
        // The parser reads a text that lacks what was removed.
        for found in &mut self.errors[n_removed..] {
            found.offset = input.offset(found.offset).min(line.len());
        }
        let last = self.errors.last().map(|found| found.error);
        self.level = match last {
            None if is_url && self.is_utf8 => Level::Valid,
            _ if is_url => Level::Errors,
            Some(ValidationError::MissingSchemeNonRelativeUrl) => Level::Relative,
            _ => Level::Failure,
        };
    }
}

/// Parses a line, without its terminator, against `base`. The cost is linear in the length of the line.
///
/// ```
/// # mod urlsift { pub use urlsift_grammar::whatwg; }
/// use urlsift::whatwg::{Level, parse};
///
/// let parsed = parse(b"http://a\\@b/", None);
/// assert_eq!(parsed.level(), Level::Errors);
/// assert_eq!(parsed.url().and_then(|url| url.host.as_deref()), Some("a"));
/// let errors: Vec<_> = parsed.errors().iter().map(|found| (found.error.name(), found.offset)).collect();
/// assert_eq!(errors, [("invalid-reverse-solidus", 8)]);
/// ```
#[must_use]
pub fn parse(line: &[u8], base: Option<&Url>) -> Parsed {
    let mut parsed = Parsed::default();
    parsed.replace(line, base);
    parsed
}
