//! Counts the lines that the chosen grammar refuses, by component and cause. The grammar folder decides which
//! component and cause a line has; this file only counts.

use urlsift_engine::example::Found;
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::Cause;

const COMPONENTS: usize = Component::ALL.len();
const CAUSES: usize = Cause::ALL.len();

/// The lines that the chosen grammar refuses in one component for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FoundDefect<'a> {
    /// The component of the defects.
    pub component: Component,
    /// Why the grammar refuses the lines.
    pub cause: Cause,
    /// The number of lines, and examples. The `at` of an example is the offset of its defect.
    pub found: &'a Found,
}

/// Refused lines per component and cause. A table is fast, and about one in a hundred lines is counted here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Defects(Box<[[Found; CAUSES]; COMPONENTS]>);

/// Numbers of lines per component and cause, without examples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct DefectCounts(Box<[[u64; CAUSES]; COMPONENTS]>);

impl DefectCounts {
    #[inline]
    pub(super) fn count(&mut self, component: Component, cause: Cause, lines: u64) {
        self.0[component as usize][cause as usize] += lines;
    }

    /// Passes the numbers that are not 0 to `add`, and sets them to 0.
    pub(super) fn take(&mut self, mut add: impl FnMut(Component, Cause, u64)) {
        for (&component, counts) in Component::ALL.iter().zip(self.0.iter_mut()) {
            for (&cause, lines) in Cause::ALL.iter().zip(counts).filter(|(_, lines)| **lines > 0) {
                add(component, cause, std::mem::take(lines));
            }
        }
    }
}

impl Defects {
    #[inline]
    pub(super) fn get(&self, component: Component, cause: Cause) -> &Found {
        &self.0[component as usize][cause as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, component: Component, cause: Cause) -> &mut Found {
        &mut self.0[component as usize][cause as usize]
    }

    /// The entries that have lines, in the order of [`Component::ALL`], then [`Cause::ALL`].
    pub(super) fn iter(&self) -> impl Iterator<Item = FoundDefect<'_>> {
        let all = Component::ALL.iter().zip(self.0.iter());
        all.flat_map(|(&component, founds)| {
            Cause::ALL.iter().zip(founds).map(move |(&cause, found)| FoundDefect { component, cause, found })
        })
        .filter(|defect| defect.found.lines > 0)
    }

    /// All entries, including those without lines.
    pub(super) fn founds(&self) -> impl Iterator<Item = &Found> + Clone {
        self.0.iter().flatten()
    }

    pub(super) fn founds_mut(&mut self) -> impl Iterator<Item = &mut Found> {
        self.0.iter_mut().flatten()
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (own, other) in self.0.iter_mut().flatten().zip(other.0.into_iter().flatten()) {
            own.merge(other);
        }
    }
}
