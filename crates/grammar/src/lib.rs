//! The five grammars by name, and the set of grammars that accept a line.
//!
//! Each grammar has a file in `rules/` (`draft1993.rs`, `rfc1738.rs`, `rfc1808.rs`, `rfc2396.rs`, `rfc3986.rs`), with the rules of its
//! document in their order. Only the build script compiles these files: it derives the automata of `automaton.rs` from them. The
//! library contains only the texts of the rules. This folder judges one line; it knows no files and counts nothing.
//!
//! A part of the crate `urlsift`, for that crate alone: it promises no stability.

#![deny(unsafe_code)]
#![cfg_attr(
    not(feature = "scan"),
    allow(dead_code, reason = "some of what judges lines is for the scan alone")
)]
#![allow(
    missing_docs,
    clippy::must_use_candidate,
    clippy::missing_errors_doc,
    clippy::missing_panics_doc,
    clippy::return_self_not_must_use,
    clippy::should_implement_trait,
    reason = "what is public is what the crate urlsift re-exports"
)]

#[doc(hidden)]
pub mod random;
mod named_enum;
#[cfg(feature = "scan")]
pub mod latin1;
pub mod component;
pub mod escape;
pub mod hex;
pub mod at_once;
pub mod scheme;
pub mod password;
pub mod uri_parts;
pub mod plain_host;
pub mod automaton;
#[cfg(feature = "scan")]
pub mod known_steps;
pub mod defect;
pub mod advisory;
pub mod judge;
pub mod resolve;
#[cfg(feature = "whatwg")]
pub mod whatwg;
pub mod keys;
#[cfg(any(feature = "scan", feature = "keys"))]
mod labels;
#[cfg(feature = "scan")]
mod suffix_table;
#[cfg(feature = "scan")]
pub mod host;
#[cfg(feature = "scan")]
pub mod public_suffix;
#[cfg(feature = "scan")]
pub mod host_problems;
#[cfg(feature = "scan")]
pub mod host_set;

use std::fmt;
use std::str::FromStr;

use crate::named_enum::named_set;

/// The compiler of this program, for what measures.
#[doc(hidden)]
pub const RUSTC: &str = env!("URLSIFT_RUSTC");

/// One of the five grammars. Serialised it is its name.
///
/// Exhaustive on purpose: a sixth would change every verdict, and come with a new major version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "scan", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// RFC 3986, URI Generic Syntax, 2005. It is the default where a grammar is to be chosen.
    #[default]
    Rfc3986,
}

impl Grammar {
    /// All five grammars. Every list of grammars has this order.
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

    /// The document as it is named in a sentence, such as `RFC 3986`.
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

    /// The title of the document.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Draft1993 => "URL.syntax: the draft before RFC 1738, in XBNF",
            Self::Rfc1738 => "Uniform Resource Locators (URL)",
            Self::Rfc1808 => "Relative Uniform Resource Locators",
            Self::Rfc2396 => "Uniform Resource Identifiers (URI): Generic Syntax",
            Self::Rfc3986 => "Uniform Resource Identifier (URI): Generic Syntax",
        }
    }

    /// The month when the document was published, such as `January 2005`.
    #[must_use]
    pub const fn published(self) -> &'static str {
        match self {
            Self::Draft1993 => "November 1993",
            Self::Rfc1738 => "December 1994",
            Self::Rfc1808 => "June 1995",
            Self::Rfc2396 => "August 1998",
            Self::Rfc3986 => "January 2005",
        }
    }

    /// The section of the document that contains the whole grammar, such as `appendix A`.
    #[must_use]
    pub const fn section(self) -> &'static str {
        match self {
            Self::Draft1993 => "URL BNF",
            Self::Rfc1738 => "section 5",
            Self::Rfc1808 => "section 2.2",
            Self::Rfc2396 | Self::Rfc3986 => "appendix A",
        }
    }

    /// The difference from the other grammars, in a sentence.
    #[must_use]
    pub const fn difference(self) -> &'static str {
        match self {
            Self::Draft1993 => {
                "Eleven schemes by rules of their own and no others; paths and queries without \"=\", \":\", \";\" and \
                 \"~\"; the only one with the double quote."
            }
            Self::Rfc1738 => {
                "Ten schemes by rules of their own, all others (https too) by one that asks for legal characters alone; \
                 no relative references, no \"#\", no \"~\"."
            }
            Self::Rfc1808 => {
                "New: relative references and fragments. After a scheme, any legal characters; no \"~\"."
            }
            Self::Rfc2396 => {
                "New: \"~\". A scheme begins with a letter, and something follows its \":\"; a relative reference does \
                 not begin with \"?\"."
            }
            Self::Rfc3986 => {
                "New: IP literals in brackets, and empty paths. A port is digits, and an authority has at most one \
                 \"@\"."
            }
        }
    }
}

impl fmt::Display for Grammar {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.name())
    }
}

/// The error of parsing a name that is none of the five grammars.
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

    /// Parses the name of a grammar, or the digits in it, such as `3986`.
    fn from_str(name: &str) -> Result<Self, UnknownGrammar> {
        let is_named = |grammar: &Self| {
            let full = grammar.name();
            full == name || full.trim_start_matches(char::is_alphabetic) == name
        };
        Self::ALL.into_iter().find(is_named).ok_or(UnknownGrammar)
    }
}

named_set! {
    /// The set of grammars that accept a line.
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_grammar::{Grammar, judge::judge}; }
    /// use urlsift::{Grammar, judge};
    ///
    /// let verdict = judge(b"https://example.org/~fred").verdict();
    /// assert!(verdict.accepts(Grammar::Rfc3986));
    /// assert!(!verdict.accepts(Grammar::Rfc1738)); // "~" came with RFC 2396
    /// assert_eq!(verdict.to_string(), "rfc2396,rfc3986");
    /// ```
    Verdict(u8) of Grammar,
    /// Returns whether a grammar accepts the line.
    accepts
}

impl Verdict {
    /// The number of sets of five grammars. 16 of them occur as the verdict of a line.
    pub const COUNT: usize = 32;

    /// The set with these bits: bit `g` says whether it contains grammar number `g` of [`Grammar::ALL`]. Higher bits are ignored.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & 0b1_1111)
    }

    /// The set of `grammar` and all later grammars.
    #[cfg(feature = "scan")]
    pub const fn since(grammar: Grammar) -> Self {
        Self::from_bits(0b1_1111 << grammar as u8)
    }

    /// All sets of grammars, in the order of their bits.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..1 << Grammar::ALL.len()).map(Self::from_bits)
    }

    /// The set as bits: bit `g` says whether it contains grammar number `g` of [`Grammar::ALL`]. Less than [`Verdict::COUNT`].
    #[must_use]
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns whether the set contains all grammars of `other`.
    #[must_use]
    pub const fn includes(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}
