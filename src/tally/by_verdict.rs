//! Lines by verdict, and these by schemes that are not known by name, of which a bounded number keep theirs.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use foldhash::fast::RandomState;
use serde::{Deserialize, Serialize};

use crate::grammar::scheme::scheme_len;
use crate::grammar::{Grammar, Verdict};

/// How many schemes keep their name in a tally, those of [`KNOWN`](crate::grammar::scheme::KNOWN) not counted. The shorter name comes first, and of two
/// as long the smaller; lines of all others are counted together. A name among the first of a whole corpus is among the
/// first of every part of it, so that the bound cannot make two tallies of the same lines differ.
pub const MAX_SCHEMES: usize = 1000;

/// The longest scheme that is counted under its name, in bytes; together with [`MAX_SCHEMES`] it bounds a tally's size.
pub const MAX_SCHEME_LEN: usize = 255;

/// Lines by verdict.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(u8, u64)>", try_from = "Vec<(u8, u64)>")]
pub struct ByVerdict([u64; Verdict::COUNT]);

impl Default for ByVerdict {
    fn default() -> Self {
        Self([0; Verdict::COUNT])
    }
}

impl fmt::Debug for ByVerdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_map().entries(self.sets().map(|(verdict, lines)| (verdict.to_string(), lines))).finish()
    }
}

/// The verdicts that occur, by their bits, each with its lines.
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
    /// Counts lines.
    #[inline(always)]
    pub(crate) fn count(&mut self, verdict: Verdict, lines: u64) {
        self.0[usize::from(verdict.bits())] += lines;
    }

    /// Counts one line less.
    pub(crate) fn take_one(&mut self, verdict: Verdict) {
        self.0[usize::from(verdict.bits())] -= 1;
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, other) in self.0.iter_mut().zip(other.0) {
            *own += other;
        }
    }

    /// How many lines have that verdict.
    #[must_use]
    pub fn of(&self, verdict: Verdict) -> u64 {
        self.0[usize::from(verdict.bits())]
    }

    /// All lines.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The lines that `grammar` accepts.
    #[must_use]
    pub fn accepted(&self, grammar: Grammar) -> u64 {
        self.sets().filter(|(verdict, _)| verdict.accepts(grammar)).map(|(_, lines)| lines).sum()
    }

    /// The verdicts that occur, each with its lines, in the order of their bits.
    pub fn sets(&self) -> impl Iterator<Item = (Verdict, u64)> {
        let sets = Verdict::all().zip(self.0);
        sets.filter(|&(_, lines)| lines > 0)
    }
}

/// Lines of schemes that are not in [`KNOWN`](crate::grammar::scheme::KNOWN).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OtherSchemes {
    /// Hashed with a key of this process: names are chosen by whoever made the list. Nothing depends on the order.
    named: HashMap<Box<[u8]>, ByVerdict, RandomState>,
    /// The same names in the order in which they are kept, each with its length.
    order: BTreeSet<(usize, Box<[u8]>)>,
    /// Lines of schemes that keep no name.
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

    /// The names kept, in no order, with their counts.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, &ByVerdict)> {
        self.named.iter().map(|(name, counts)| (str::from_utf8(name).unwrap_or_default(), counts))
    }

    /// Adds the counts of a name.
    ///
    /// # Errors
    /// When it is not one that is counted here.
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

    /// The counts for a name in lower case, its own if it keeps it.
    fn of(&mut self, name: &[u8]) -> &mut ByVerdict {
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
