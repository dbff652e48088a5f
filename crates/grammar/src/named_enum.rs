//! A macro for enums whose variants have public names, and the written form of sets of names.

use std::fmt;

/// Declares an enum whose variants have public names: stable, lower-case, hyphenated. A variant is serialised as its name.
/// Its doc comment is also its `meaning()`, which users read.
#[macro_export]
macro_rules! named {
    ($(#[$meta:meta])* $kind:ident { $($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[cfg_attr(feature = "scan", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum $kind { $($(#[doc = $doc])+ #[cfg_attr(feature = "scan", serde(rename = $name))] $variant,)+ }

        impl $kind {
            /// All variants, in the order of the source.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The public name: stable, lower-case, hyphenated.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// The one with this public name.
            #[inline]
            #[must_use]
            pub fn find(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|one| one.name() == name)
            }

            /// The meaning, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => concat!($($doc),+).trim_ascii(),)+ }
            }
        }

        impl std::fmt::Display for $kind {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.pad(self.name())
            }
        }
    };
}

/// Declares a set of the variants of an enum that has `ALL` and `name()`, with a method that says whether a variant is in it.
macro_rules! named_set {
    ($(#[$meta:meta])* $set:ident($bits:ident) of $kind:ident, $(#[$meta_of_has:meta])* $has:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $set($bits);

        impl $set {
            $(#[$meta_of_has])*
            #[must_use]
            pub const fn $has(self, one: $kind) -> bool {
                self.0 >> one as u8 & 1 == 1
            }

            /// Returns whether the set is empty.
            #[must_use]
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// What is in the set, in the order of `ALL`.
            pub fn iter(self) -> impl Iterator<Item = $kind> {
                let mut bits = self.0;
                std::iter::from_fn(move || {
                    let next = $kind::ALL.get(bits.trailing_zeros() as usize).copied();
                    bits &= bits.wrapping_sub(1);
                    next
                })
            }
        }

        impl FromIterator<$kind> for $set {
            fn from_iter<I: IntoIterator<Item = $kind>>(all: I) -> Self {
                Self(all.into_iter().fold(0, |bits, one| bits | 1 << one as u8))
            }
        }

        /// Writes the names, joined by commas, or `-` if there are none.
        impl std::fmt::Display for $set {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                crate::named_enum::write_list(out, self.iter().map($kind::name))
            }
        }
    };
}

pub(crate) use named_set;

/// Writes names joined by commas, or `-` when there are none.
pub(crate) fn write_list(
    out: &mut fmt::Formatter<'_>,
    names: impl Iterator<Item = &'static str>,
) -> fmt::Result {
    let mut between = "";
    for name in names {
        out.write_str(between)?;
        out.write_str(name)?;
        between = ",";
    }
    if between.is_empty() { out.write_str("-") } else { Ok(()) }
}
