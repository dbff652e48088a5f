//! Defects: why a grammar refuses a line (SPEC part 4).
//!
//! A defect has an offset, a component and a cause. This file derives them from the state of the automaton and the byte at which it
//! stops. It knows no files and counts nothing.

use std::fmt;
use std::ops::Range;

use crate::automaton::{Rule, Tracker, has_character, top_rule};
use crate::component::Component;
use crate::scheme::scheme_len;
use crate::uri_parts::{beginning, split};
use crate::{Grammar, named};

named! {
    /// Why a grammar refuses a line at its defect.
    Cause {
        /// A space.
        Space = "space",
        /// A control byte, 00 to 1F or 7F.
        ControlByte = "control-byte",
        /// A byte above 7F.
        NonAscii = "non-ascii",
        /// A character that no rule of the grammar contains.
        IllegalCharacter = "illegal-character",
        /// A character that the grammar allows elsewhere, but not here.
        CharacterNotAllowed = "character-not-allowed",
        /// A "%" without two hexadecimal digits after it.
        BadEscape = "bad-escape",
        /// A component that must not be empty is empty or missing.
        MissingComponent = "missing-component",
        /// The line ends too early.
        EndsEarly = "ends-early",
        /// The grammar knows a fixed set of schemes, and this is not one of them.
        UnknownScheme = "unknown-scheme",
    }
}

/// Why one grammar refuses one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Defect {
    /// The grammar that refuses.
    pub grammar: Grammar,
    /// The offset of the first wrong byte, in bytes from the start of the line: the smallest `i` such that no accepted line
    /// begins with the first `i + 1` bytes. If the line is itself the beginning of an accepted line, the offset is its length.
    pub offset: u64,
    /// The part of the line that has the offset.
    pub component: Component,
    /// What is wrong there.
    pub cause: Cause,
    /// The rule that was being read.
    pub rule: Rule,
}

impl Defect {
    /// Returns why `grammar` refuses a line, or `None` if it accepts the line. The cost is linear in the offset of the defect.
    pub fn of_line(grammar: Grammar, line: &[u8]) -> Option<Self> {
        let mut tracker = Tracker::new(grammar);
        tracker.feed(line);
        Self::of(grammar, &tracker, line)
    }

    /// Returns the defect of a line that `tracker` has read to its end, or `None` if the grammar accepts the line.
    ///
    /// `line` is the line or its beginning. Only the bytes that [`beginning`] returns are examined. So a line that is too long to
    /// be held in memory has the same defect.
    pub fn of(grammar: Grammar, tracker: &Tracker, line: &[u8]) -> Option<Self> {
        Self::of_all(grammar, tracker, beginning(line))
    }

    /// Does the same, and examines all bytes. So component and cause of a long line depend on its end too.
    #[doc(hidden)]
    pub fn of_all(grammar: Grammar, tracker: &Tracker, line: &[u8]) -> Option<Self> {
        if tracker.accepts() {
            return None;
        }
        let label = tracker.label();
        let byte = tracker.broke_at();
        let offset = tracker.offset();
        let mut component = label.component.unwrap_or_else(|| part_at(line, offset));
        let mut missing = label.fresh && matches!(byte, Some(b':' | b'/' | b'?' | b'#' | b'@' | b';' | b'='));
        if (offset, byte) == (0, Some(b':')) {
            component = Component::Scheme;
        } else if component == Component::Userinfo && matches!(byte, None | Some(b'/' | b'?' | b'#')) {
            // The bytes read as possible userinfo are host and port, because no "@" follows.
            let authority = split(line).authority.unwrap_or_default();
            component = if line[authority].contains(&b':') { Component::Port } else { Component::Host };
        } else if component == Component::Path && wants_slashes(tracker, line) {
            component = Component::Authority;
            missing = true;
        }
        let cause = match byte {
            _ if label.escape => Cause::BadEscape,
            None => Cause::EndsEarly,
            Some(b' ') => Cause::Space,
            Some(0..0x20 | 0x7f) => Cause::ControlByte,
            Some(0x80..) => Cause::NonAscii,
            Some(_) if component == Component::Scheme => match scheme_len(behind_prefix(grammar, line)) {
                Some(_) => Cause::UnknownScheme,
                None => Cause::MissingComponent,
            },
            Some(byte) if !has_character(grammar, byte) => Cause::IllegalCharacter,
            Some(_) if missing => Cause::MissingComponent,
            Some(_) => Cause::CharacterNotAllowed,
        };
        let rule = match component {
            // An unknown scheme can begin like a known one. Report the rule that lists all schemes, not the rule of the known one.
            Component::Scheme => top_rule(grammar),
            // The bytes were read as userinfo, but are host or port. Report the rule of that component.
            Component::Host | Component::Port if label.component == Some(Component::Userinfo) => {
                Rule::of(grammar, component).next().unwrap_or_else(|| top_rule(grammar))
            }
            _ => tracker.rule(),
        };
        Some(Self { grammar, offset, component, cause, rule })
    }

    /// The document and section of the rule, as named in a sentence, such as `RFC 1738, section 5`.
    #[must_use]
    pub fn source(&self) -> String {
        self.rule.source(self.grammar)
    }
}

/// Returns whether the line lacks a slash of the "//" before an authority: only "/" could follow there.
fn wants_slashes(tracker: &Tracker, line: &[u8]) -> bool {
    let behind = |scheme: usize| (scheme as u64 + 1..=scheme as u64 + 2).contains(&tracker.offset());
    scheme_len(line).is_some_and(behind)
        && (0..=u8::MAX).filter(|&byte| tracker.could_follow(byte)).eq([b'/'])
}

/// Returns the component that an offset lies in, by the delimiters of the line. A delimiter belongs to the component it ends.
fn part_at(line: &[u8], offset: u64) -> Component {
    let parts = split(line);
    let behind = |range: Option<Range<usize>>| range.is_some_and(|range| offset >= range.start as u64);
    if behind(parts.fragment) {
        Component::Fragment
    } else if behind(parts.query) {
        Component::Query
    } else if parts.authority.is_some_and(|range| (range.start as u64..=range.end as u64).contains(&offset)) {
        Component::Authority
    } else {
        Component::Path
    }
}

/// Returns the line without the prefix "url:" that draft1993 allows (SPEC A62).
fn behind_prefix(grammar: Grammar, line: &[u8]) -> &[u8] {
    match line.split_at_checked(4) {
        Some((prefix, rest)) if grammar == Grammar::Draft1993 && prefix.eq_ignore_ascii_case(b"url:") => rest,
        _ => line,
    }
}

/// Writes `component:cause@offset`.
impl fmt::Display for Defect {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}@{}", self.component, self.cause, self.offset)
    }
}
