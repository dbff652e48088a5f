//! Which examples a tally need not keep, because earlier lines provide them.

use crate::tally::Tally;
use urlsift_engine::place::Place;
use urlsift_grammar::Verdict;
use urlsift_grammar::advisory::{Advisories, Advisory};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;
use urlsift_grammar::whatwg::ValidationError;

/// The last error of each line of the level [`Level::Relative`](urlsift_grammar::whatwg::Level::Relative), and of no other line.
pub(super) const RELATIVE: ValidationError = ValidationError::MissingSchemeNonRelativeUrl;

pub(super) const fn bit(error: ValidationError) -> u32 {
    1 << error as u32
}

/// The kinds of lines that have all their examples in another tally, at places that precede all lines to be counted.
///
/// It saves the work of making examples that a merge would drop. No result depends on it.
#[derive(Clone, Debug, Default)]
pub(crate) struct AlreadyShown {
    pub(super) advisories: Advisories,
    /// One bit for each verdict.
    verdicts: u32,
    /// One bit for each cause, by component.
    defects: [u32; Component::ALL.len()],
    /// The bits of [`WhatwgCounts::shown`](crate::tally::WhatwgCounts::shown).
    pub(super) whatwg: u32,
}

impl AlreadyShown {
    /// These kinds, and those that have all their examples in `tally` before `place`.
    pub(crate) fn with(&self, tally: &Tally, place: Place) -> Self {
        let has_all = |&advisory: &Advisory| tally.has_examples(advisory, place, self);
        Self {
            advisories: Advisory::ALL.iter().copied().filter(has_all).collect(),
            verdicts: !tally.lacking(place, self),
            defects: tally.shown_defects(place, self),
            whatwg: tally.shown_whatwg(place, self),
        }
    }

    #[inline]
    pub(super) fn has_verdict(&self, verdict: Verdict) -> bool {
        self.verdicts >> verdict.bits() & 1 == 1
    }

    #[inline]
    pub(super) fn has_defect(&self, component: Component, cause: Cause) -> bool {
        self.defects[component as usize] >> cause as u32 & 1 == 1
    }

    #[inline]
    pub(super) fn has_relative(&self) -> bool {
        self.has_whatwg(bit(RELATIVE))
    }

    #[inline]
    pub(super) fn has_whatwg(&self, bit: u32) -> bool {
        self.whatwg & bit != 0
    }
}
