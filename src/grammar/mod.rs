//! The five grammars by name, and the set of them that accept a line.
//!
//! What each grammar accepts stands in its own file beside this one (`draft1993.rs`, `rfc1738.rs`, `rfc1808.rs`,
//! `rfc2396.rs`, `rfc3986.rs`): the rules of the document in its order. Those files are read by the build script, which
//! derives the machine of `machine.rs` from them; nothing of them is compiled into the library but the rules' texts.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::names::write_list;

/// One of the five grammars. Serialised it is its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Grammar {
    /// The URL draft of November 1993, before RFC 1738.
    Draft1993,
    /// RFC 1738, Uniform Resource Locators, 1994.
    Rfc1738,
    /// RFC 1808, Relative Uniform Resource Locators, 1995.
    Rfc1808,
    /// RFC 2396, URI Generic Syntax, 1998.
    Rfc2396,
    /// RFC 3986, URI Generic Syntax, 2005.
    Rfc3986,
}

impl Grammar {
    /// All five, in the order in which they are always listed.
    pub const ALL: [Self; 5] = [Self::Draft1993, Self::Rfc1738, Self::Rfc1808, Self::Rfc2396, Self::Rfc3986];

    /// The name in commands and reports, such as `rfc3986`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Draft1993 => "draft1993",
            Self::Rfc1738 => "rfc1738",
            Self::Rfc1808 => "rfc1808",
            Self::Rfc2396 => "rfc2396",
            Self::Rfc3986 => "rfc3986",
        }
    }

    /// The document as one writes it in a sentence, such as `RFC 3986`.
    #[must_use]
    pub const fn document(self) -> &'static str {
        match self {
            Self::Draft1993 => "the draft of November 1993",
            Self::Rfc1738 => "RFC 1738",
            Self::Rfc1808 => "RFC 1808",
            Self::Rfc2396 => "RFC 2396",
            Self::Rfc3986 => "RFC 3986",
        }
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The error of reading a grammar's name: it is none of the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnknownGrammar;

impl fmt::Display for UnknownGrammar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("no such grammar; one of draft1993, rfc1738, rfc1808, rfc2396, rfc3986")
    }
}

impl std::error::Error for UnknownGrammar {}

impl FromStr for Grammar {
    type Err = UnknownGrammar;

    fn from_str(name: &str) -> Result<Self, UnknownGrammar> {
        Self::ALL.into_iter().find(|grammar| grammar.name() == name).ok_or(UnknownGrammar)
    }
}

/// The set of grammars that accept a line.
///
/// ```
/// use urlsift::{Grammar, judge};
///
/// let verdict = judge(b"https://example.org/~fred").verdict();
/// assert!(verdict.accepts(Grammar::Rfc3986));
/// assert!(!verdict.accepts(Grammar::Rfc1738)); // "~" came with RFC 2396
/// assert_eq!(verdict.to_string(), "rfc2396,rfc3986");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Verdict(u8);

impl Verdict {
    /// How many sets of five grammars there are; 16 of them can be a line's verdict.
    pub const COUNT: usize = 32;

    /// The set whose bit `g` says whether grammar number `g` of [`Grammar::ALL`] is in it; higher bits are dropped.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0b1_1111)
    }

    /// Bit `g` says whether grammar number `g` of [`Grammar::ALL`] is in the set; below [`Verdict::COUNT`].
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Whether `grammar` accepts the line.
    #[must_use]
    pub const fn accepts(self, grammar: Grammar) -> bool {
        self.0 >> grammar as u8 & 1 == 1
    }

    /// Whether no grammar accepts the line.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The accepting grammars, in the order of [`Grammar::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Grammar> {
        Grammar::ALL.into_iter().filter(move |&grammar| self.accepts(grammar))
    }
}

/// The names of the accepting grammars joined by commas, or `-` when there are none.
impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_list(out, self.iter().map(Grammar::name))
    }
}
