//! Lines by verdict ([`ByVerdict`]), and by scheme for schemes that are not known in advance ([`OtherSchemes`]). Only
//! a bounded number of these schemes is counted by name. This file judges nothing.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::{Grammar, Verdict};

/// How many schemes are counted by name, besides those of [`KNOWN`](urlsift_grammar::scheme::KNOWN).
///
/// Shorter names are preferred, and smaller ones among names of equal length. Lines of all other schemes are counted
/// together. A name that a whole corpus keeps is also kept by each part of it. So the bound cannot make two tallies
/// of the same lines differ.
pub const MAX_SCHEMES: usize = 1000;

/// The longest scheme that is counted by name, in bytes. Together with [`MAX_SCHEMES`] it bounds the size of a tally.
pub const MAX_SCHEME_LEN: usize = 255;

/// Lines by verdict.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u8, u64)>", try_from = "Vec<(u8, u64)>")]
pub struct ByVerdict([u64; Verdict::COUNT]);

impl fmt::Debug for ByVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.sets().map(|(verdict, lines)| (verdict.to_string(), lines))).finish()
    }
}

/// Lists the verdicts that occur as pairs of their bits and their lines.
impl From<ByVerdict> for Vec<(u8, u64)> {
    fn from(counts: ByVerdict) -> Self {
        counts.sets().map(|(verdict, lines)| (verdict.bits(), lines)).collect()
    }
}

impl TryFrom<Vec<(u8, u64)>> for ByVerdict {
    type Error = String;

    fn try_from(sets: Vec<(u8, u64)>) -> Result<Self, String> {
        let mut counts = Self::default();
        for (bits, lines) in sets {
            let own = counts
                .0
                .get_mut(usize::from(bits))
                .ok_or_else(|| format!("no verdict has the bits {bits}"))?;
            *own = lines;
        }
        Ok(counts)
    }
}

impl ByVerdict {
    /// Counts lines of one verdict.
    #[inline(always)]
    pub(crate) fn count(&mut self, verdict: Verdict, lines: u64) {
        self.0[usize::from(verdict.bits())] += lines;
    }

    /// Removes one counted line.
    pub(crate) fn take_one(&mut self, verdict: Verdict) {
        self.0[usize::from(verdict.bits())] -= 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
    }

    /// The number of lines with this verdict.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[usize::from(verdict.bits())]
    }

    /// The number of all lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The number of lines that `grammar` accepts.
    #[must_use]
    pub fn accepted(&self, grammar: Grammar) -> u64 {
        self.sets().filter(|(verdict, _)| verdict.accepts(grammar)).map(|(_, lines)| lines).sum()
    }

    /// The verdicts that occur, with their lines, in the order of their bits.
    pub fn sets(&self) -> impl Iterator<Item = (Verdict, u64)> {
        let sets = Verdict::all().zip(self.0);
        sets.filter(|&(_, lines)| lines > 0)
    }
}

/// Lines of schemes that are not in [`KNOWN`](urlsift_grammar::scheme::KNOWN).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OtherSchemes {
    /// Hashed with a random key of this process, because the author of a list chooses its names. Nothing depends on
    /// the order.
    named: HashMap<Box<[u8]>, ByVerdict, RandomState>,
    /// The same names with their lengths, in order of preference.
    order: BTreeSet<(usize, Box<[u8]>)>,
    /// Lines of schemes that are not counted by name.
    pub(crate) unnamed: ByVerdict,
}

impl OtherSchemes {
    /// Counts one line.
    pub(crate) fn count(&mut self, scheme: &[u8], verdict: Verdict) {
        let mut lowered = [0; MAX_SCHEME_LEN];
        let Some(name) = lowered.get_mut(..scheme.len()) else { return self.unnamed.count(verdict, 1) };
        name.copy_from_slice(scheme);
        name.make_ascii_lowercase();
        match self.named.get_mut(&*name) {
            Some(counts) => counts.count(verdict, 1),
            None => self.of(name).count(verdict, 1),
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (name, counts) in other.named {
            self.of(&name).merge(&counts);
        }
        self.unnamed.merge(&other.unnamed);
    }

    /// The names with their counts, in no particular order.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &ByVerdict)> {
        self.named.iter().map(|(name, counts)| (str::from_utf8(name).unwrap_or_default(), counts))
    }

    /// Adds the counts of a name.
    ///
    /// # Errors
    /// If the name cannot be counted here, or there are too many names.
    pub(crate) fn add(&mut self, name: &str, counts: &ByVerdict) -> Result<(), String> {
        let is_name = scheme_len(format!("{name}:").as_bytes()) == Some(name.len())
            && name.len() <= MAX_SCHEME_LEN
            && !name.bytes().any(|byte| byte.is_ascii_uppercase());
        if !is_name || self.order.len() >= MAX_SCHEMES {
            return Err(format!("a scheme {name:?}, or too many of them"));
        }
        self.of(name.as_bytes()).merge(counts);
        Ok(())
    }

    /// Returns the counts for a name in lower case, or the shared counts if the name is not kept. A new name may
    /// displace the least preferred one.
    pub(super) fn of(&mut self, name: &[u8]) -> &mut ByVerdict {
        if !self.named.contains_key(name) {
            if self.order.len() >= MAX_SCHEMES {
                if self.order.last().is_some_and(|(len, last)| (*len, &**last) < (name.len(), name)) {
                    return &mut self.unnamed;
                }
                let counts = self.order.pop_last().and_then(|(_, last)| self.named.remove(&last));
                self.unnamed.merge(&counts.unwrap_or_default());
            }
            self.order.insert((name.len(), name.into()));
            self.named.insert(name.into(), ByVerdict::default());
        }
        self.named.get_mut(name).expect("it is there by now")
    }
}
