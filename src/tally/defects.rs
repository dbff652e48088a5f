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

/// Values per component and cause, such as numbers of refused lines. A table is fast, and about one in a hundred lines is
/// counted here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByDefect<T>(Box<[[T; CAUSES]; COMPONENTS]>);

impl<T> ByDefect<T> {
    #[inline]
    pub(super) fn get(&self, component: Component, cause: Cause) -> &T {
        &self.0[component as usize][cause as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, component: Component, cause: Cause) -> &mut T {
        &mut self.0[component as usize][cause as usize]
    }

    /// All values, in the order of [`Component::ALL`], then [`Cause::ALL`].
    pub(super) fn values(&self) -> impl Iterator<Item = &T> + Clone {
        self.0.iter().flatten()
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().flatten()
    }
}

/// The components and causes of the values, in their order.
fn keys() -> impl Iterator<Item = (Component, Cause)> {
    Component::ALL.iter().flat_map(|&component| Cause::ALL.iter().map(move |&cause| (component, cause)))
}

impl ByDefect<u64> {
    /// Passes the numbers that are not 0 to `add`, and sets them to 0.
    pub(super) fn take(&mut self, mut add: impl FnMut(Component, Cause, u64)) {
        for ((component, cause), lines) in keys().zip(self.values_mut()).filter(|(_, lines)| **lines > 0) {
            add(component, cause, std::mem::take(lines));
        }
    }
}

impl ByDefect<Found> {
    /// The entries that have lines.
    pub(super) fn iter(&self) -> impl Iterator<Item = FoundDefect<'_>> {
        let all = keys().zip(self.values()).filter(|(_, found)| found.lines > 0);
        all.map(|((component, cause), found)| FoundDefect { component, cause, found })
    }

    pub(super) fn merge(&mut self, other: Self) {
        for (own, other) in self.values_mut().zip(other.0.into_iter().flatten()) {
            own.merge(other);
        }
    }
}
