//! Lines per name: a hash table that keeps all names in one piece of memory, and the hash of each. So a name costs no allocation, and tables grow and are added
//! up without hashing any name again.

use std::hash::{BuildHasher, Hasher};
use std::sync::LazyLock;

use foldhash::fast::RandomState;

/// The key of this process, because the author of a list chooses its names. Nothing depends on it but the time.
static KEY: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// Lines per name.
#[derive(Clone, Debug, Default)]
pub(super) struct NameTable {
    /// The names, one behind the other, each behind its length.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The number of an entry from 1, behind the first bits of its hash, or 0. A power of two of them, and at least two for each entry.
    slots: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Where the length and the name begin.
    start: u32,
    hash: u32,
    lines: u64,
}

/// Lines of a name, and its hash.
#[derive(Clone, Copy, Debug, Default)]
struct Named<'n> {
    name: &'n [u8],
    hash: u32,
    lines: u64,
}

/// How many names are looked up at once.
const TOGETHER: usize = 32;

impl NameTable {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.named().map(|named| (named.name, named.lines))
    }

    /// Counts lines by name.
    pub(super) fn count(&mut self, names: &[(&[u8], u64)]) {
        self.add_each(names.iter().map(|&(name, lines)| Named { name, hash: hash_of(name), lines }));
    }

    /// Adds the lines of another table.
    pub(super) fn add_all(&mut self, mut other: Self) {
        if other.len() > self.len() {
            std::mem::swap(self, &mut other);
        }
        self.add_each(other.named());
    }

    /// The same names with `less` lines less. Names with nothing left are dropped.
    pub(super) fn less(&self, less: u64) -> Self {
        let left = || self.named().filter(|named| named.lines > less);
        let mut table = Self::default();
        table.make_room(left().count());
        table.add_each(left().map(|named| Named { lines: named.lines - less, ..named }));
        table
    }

    fn named(&self) -> impl Iterator<Item = Named<'_>> {
        let named = |&Entry { start, hash, lines }: &Entry| Named { name: self.name(start), hash, lines };
        self.entries.iter().map(named)
    }

    /// Adds lines. Several names are looked up at once, because each look-up waits for memory.
    fn add_each<'n>(&mut self, mut all: impl Iterator<Item = Named<'n>>) {
        loop {
            let (mut together, mut n) = ([Named::default(); TOGETHER], 0);
            for (place, named) in together.iter_mut().zip(&mut all) {
                *place = named;
                n += 1;
            }
            if n == 0 {
                return;
            }
            self.make_room(n);
            let (together, mask) = (&together[..n], self.slots.len() - 1);
            let mut found = [(0, 0); TOGETHER];
            for ((slot, _), named) in found.iter_mut().zip(together) {
                *slot = self.slots[named.hash as usize & mask];
            }
            for (slot, start) in &mut found[..n] {
                *start = self.entries.get(index_of(*slot)).map_or(0, |entry| entry.start);
            }
            for (&(slot, start), &named) in found.iter().zip(together) {
                if is_like(slot, named.hash) && self.name(start) == named.name {
                    self.entries[index_of(slot)].lines += named.lines;
                } else {
                    self.add(named);
                }
            }
        }
    }

    fn name(&self, start: u32) -> &[u8] {
        let (len, rest) = self.bytes[start as usize..].split_first().expect("a length");
        &rest[..usize::from(*len)]
    }

    /// The slot of a name, or the free one where it belongs; `None` if there are no slots.
    #[inline]
    fn slot(&self, name: &[u8], hash: u32) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 || is_like(slot, hash) && self.name(self.entries[index_of(slot)].start) == name {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds lines. There has to be room for a name.
    fn add(&mut self, Named { name, hash, lines }: Named<'_>) {
        let Some(at) = self.slot(name, hash) else { return };
        if self.slots[at] == 0 {
            let start = u32::try_from(self.bytes.len()).expect("all names are below 4 GiB");
            self.bytes.push(u8::try_from(name.len()).expect("a name is short"));
            self.bytes.extend_from_slice(name);
            self.entries.push(Entry { start, hash, lines });
            self.slots[at] = slot_of(self.entries.len(), hash);
        } else {
            self.entries[index_of(self.slots[at])].lines += lines;
        }
    }

    /// Makes room for `n` more names, and then for as many as there are.
    fn make_room(&mut self, n: usize) {
        if 2 * (self.len() + n) <= self.slots.len() {
            return;
        }
        let n_slots = (2 * (self.len() + n)).next_power_of_two().max(4 * TOGETHER);
        let mask = n_slots - 1;
        self.slots.clear();
        self.slots.resize(n_slots, 0);
        for (entry, number) in self.entries.iter().zip(1..) {
            let mut at = entry.hash as usize & mask;
            while self.slots[at] != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = slot_of(number, entry.hash);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "some bits are wanted")]
fn hash_of(name: &[u8]) -> u32 {
    let mut hasher = KEY.build_hasher();
    hasher.write(name);
    let hash = hasher.finish();
    (hash ^ hash >> 32) as u32
}

/// How many bits of a slot are the number of an entry.
const NUMBER_BITS: u32 = 24;

/// The slot of an entry, by its number from 1.
fn slot_of(number: usize, hash: u32) -> u32 {
    let number = u32::try_from(number).ok().filter(|number| number >> NUMBER_BITS == 0);
    hash >> NUMBER_BITS << NUMBER_BITS | number.expect("fewer names than 2^24")
}

/// Whether a slot has an entry whose hash begins like this one.
#[inline]
fn is_like(slot: u32, hash: u32) -> bool {
    (slot ^ hash) >> NUMBER_BITS == 0 && slot != 0
}

/// The index of the entry of a slot. A free slot has none.
#[inline]
fn index_of(slot: u32) -> usize {
    (slot as usize & ((1 << NUMBER_BITS) - 1)).wrapping_sub(1)
}

/// Two tables are equal if their names have the same lines.
impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        let is_in_other = |Named { name, hash, lines }| {
            let slot = other.slot(name, hash).map(|at| other.slots[at]);
            slot.and_then(|slot| other.entries.get(index_of(slot))).is_some_and(|entry| entry.lines == lines)
        };
        self.len() == other.len() && self.named().all(is_in_other)
    }
}

impl Eq for NameTable {}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use urlsift_grammar::random::Random;

    #[test]
    fn a_table_has_what_a_map_has() {
        let mut random = Random::new(5);
        for _ in 0..50 {
            let (mut tables, mut maps) =
                ([(); 2].map(|()| NameTable::default()), [(); 2].map(|()| BTreeMap::<Vec<u8>, u64>::new()));
            for _ in 0..random.below(3000) {
                let (n, lines) = (random.below(2), 1 + random.below(3) as u64);
                let name = random.below(1000).to_string().repeat(random.below(3)).into_bytes();
                tables[n].count(&[(&name, lines)]);
                *maps[n].entry(name).or_default() += lines;
            }
            let sorted = |table: &NameTable| {
                table.iter().map(|(name, lines)| (name.to_vec(), lines)).collect::<BTreeMap<_, _>>()
            };
            assert_eq!(tables.each_ref().map(sorted), maps);
            assert_eq!(tables[0] == tables[1], maps[0] == maps[1]);
            let [mut one, other] = tables;
            let mut turned = other.clone();
            turned.add_all(one.clone());
            one.add_all(other);
            assert!(one == turned);
            let [mut sum, others] = maps;
            for (name, lines) in others {
                *sum.entry(name).or_default() += lines;
            }
            assert_eq!(sorted(&one), sum);
            sum.retain(|_, lines| *lines > 2);
            for lines in sum.values_mut() {
                *lines -= 2;
            }
            assert_eq!(sorted(&one.less(2)), sum);
        }
    }
}
