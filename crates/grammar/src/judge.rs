//! Judges one line under all five grammars.
//!
//! [`judge()`] computes the verdict at once. Defects and advisories are computed only when they are asked for. This file knows no
//! files and counts nothing.

use crate::advisory::{Advisories, AdvisoryScan};
use crate::automaton::{State, Tracker};
use crate::defect::Defect;
use crate::scheme::{find_known, scheme_len};
use crate::{Grammar, Verdict};

/// Whether a line has a scheme. This does not depend on a grammar (SPEC A7).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// The line has a scheme.
    Absolute,
    /// The line has no scheme.
    Relative,
}

impl Kind {
    /// The kind of a line with a scheme of this length.
    pub const fn of_scheme(len: Option<usize>) -> Self {
        if len.is_some() { Self::Absolute } else { Self::Relative }
    }

    /// The name in records, `absolute` or `relative`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absolute => "absolute",
            Self::Relative => "relative",
        }
    }
}

/// The judgement of one line: its verdict, and on demand its defects and advisories.
#[derive(Clone, Copy, Debug)]
pub struct Judgement<'a> {
    line: &'a [u8],
    verdict: Verdict,
    scheme_len: Option<usize>,
}

/// Judges `line` under all five grammars at once.
///
/// `line` is judged unchanged: pass it without its terminator, because nothing is trimmed. Any bytes are allowed. The empty line
/// is the empty reference. The cost is one table look-up per byte, without allocation.
///
/// ```
/// # mod urlsift { pub use urlsift_grammar::{Grammar, judge::judge}; }
/// use urlsift::{Grammar, judge};
///
/// let judgement = judge(b"http://example.org/a b");
/// assert!(judgement.verdict().is_empty());
/// assert_eq!(judgement.scheme(), Some(&b"http"[..]));
///
/// let defect = judgement.defect(Grammar::Rfc3986).unwrap();
/// assert_eq!(defect.to_string(), "path:space@20");
/// assert_eq!(defect.rule.name(), "segment");
/// ```
#[must_use]
#[inline]
pub fn judge(line: &[u8]) -> Judgement<'_> {
    Judgement { line, verdict: State::START.run(line).verdict(), scheme_len: scheme_len(line) }
}

impl<'a> Judgement<'a> {
    /// The grammars that accept the line.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns whether the line has a scheme.
    #[must_use]
    pub fn kind(&self) -> Kind {
        Kind::of_scheme(self.scheme_len)
    }

    /// The scheme, in the letter case of the line.
    #[must_use]
    pub fn scheme(&self) -> Option<&'a [u8]> {
        self.scheme_len.map(|len| &self.line[..len])
    }

    /// Returns why `grammar` refuses the line; `None` if it accepts the line. The cost is linear in the offset of the defect.
    #[must_use]
    pub fn defect(&self, grammar: Grammar) -> Option<Defect> {
        if self.verdict.accepts(grammar) { None } else { Defect::of_line(grammar, self.line) }
    }

    /// Returns the bytes that an accepted line could have at the offset of the defect, ascending. Empty if `grammar` accepts the
    /// line.
    pub fn could_follow(&self, grammar: Grammar) -> impl Iterator<Item = u8> {
        let track = || {
            let mut tracker = Tracker::new(grammar);
            tracker.feed(self.line);
            tracker
        };
        let tracker = (!self.verdict.accepts(grammar)).then(track);
        (0..=u8::MAX).filter(move |&byte| tracker.as_ref().is_some_and(|tracker| tracker.could_follow(byte)))
    }

    /// Returns the advisories of the line; none if no grammar accepts it. The cost is linear in the length of the line.
    #[must_use]
    pub fn advisories(&self) -> Advisories {
        if self.verdict.is_empty() {
            return Advisories::default();
        }
        let mut scan = AdvisoryScan::new(self.scheme().and_then(find_known));
        scan.feed(&self.line[self.scheme_len.map_or(0, |len| len + 1)..]);
        scan.finish()
    }
}
