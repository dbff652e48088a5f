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
    /// The names, one behind the other.
    bytes: Vec<u8>,
    entries: Vec<Entry>,
    /// The number of an entry from 1, with its hash in the upper half, or 0. A power of two of them, and at least two for each entry.
    slots: Vec<u64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    /// Where the name begins, and its length in the lowest 16 bits.
    place: u64,
    lines: u64,
    hash: u32,
}

/// How many names are looked up at once.
const TOGETHER: usize = 32;

impl NameTable {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.entries.iter().map(|entry| (self.name(entry), entry.lines))
    }

    /// Counts lines by name. Several names are looked up at once, because each look-up waits for memory.
    pub(super) fn count(&mut self, names: &[(&[u8], u64)]) {
        for names in names.chunks(TOGETHER) {
            self.make_room(names.len());
            let mask = self.slots.len() - 1;
            let mut found = [(0, 0, Entry::default()); TOGETHER];
            let found = &mut found[..names.len()];
            for ((hash, ..), (name, _)) in found.iter_mut().zip(names) {
                *hash = hash_of(name);
            }
            for (hash, slot, _) in &mut *found {
                *slot = self.slots[*hash as usize & mask];
            }
            for (_, slot, entry) in &mut *found {
                *entry = self.entries.get(index_of(*slot)).copied().unwrap_or_default();
            }
            for ((hash, slot, entry), &(name, lines)) in found.iter().zip(names) {
                if *slot != 0 && entry.hash == *hash && self.name(entry) == name {
                    self.entries[index_of(*slot)].lines += lines;
                } else {
                    self.add(name, *hash, lines);
                }
            }
        }
    }

    /// Adds the lines of another table.
    pub(super) fn add_all(&mut self, mut other: Self) {
        if other.len() > self.len() {
            std::mem::swap(self, &mut other);
        }
        for entry in &other.entries {
            self.make_room(1);
            self.add(other.name(entry), entry.hash, entry.lines);
        }
    }

    /// The same names with `less` lines less. Names with nothing left are dropped.
    pub(super) fn less(&self, less: u64) -> Self {
        let mut left = Self::default();
        for entry in self.entries.iter().filter(|entry| entry.lines > less) {
            left.make_room(1);
            left.add(self.name(entry), entry.hash, entry.lines - less);
        }
        left
    }

    #[expect(clippy::cast_possible_truncation, reason = "it is in memory")]
    fn name(&self, entry: &Entry) -> &[u8] {
        let (start, len) = ((entry.place >> 16) as usize, entry.place as u16);
        &self.bytes[start..start + usize::from(len)]
    }

    /// The lines of a name.
    fn lines(&self, name: &[u8], hash: u32) -> Option<u64> {
        let slot = self.slots[self.slot(name, hash)?];
        self.entries.get(index_of(slot)).map(|entry| entry.lines)
    }

    /// The slot of a name, or the free one where it belongs; `None` if there are no slots.
    #[inline]
    fn slot(&self, name: &[u8], hash: u32) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == 0 || slot >> 32 == u64::from(hash) && self.name(&self.entries[index_of(slot)]) == name
            {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Adds lines. There has to be room for a name.
    fn add(&mut self, name: &[u8], hash: u32, lines: u64) {
        let Some(at) = self.slot(name, hash) else { return };
        if self.slots[at] == 0 {
            let len = u16::try_from(name.len()).expect("a name is short");
            let place = (self.bytes.len() as u64) << 16 | u64::from(len);
            self.bytes.extend_from_slice(name);
            self.entries.push(Entry { place, lines, hash });
            self.slots[at] = slot_of(self.entries.len(), hash);
        } else {
            self.entries[index_of(self.slots[at])].lines += lines;
        }
    }

    /// Makes room for `n` more names, and then for as many as there are. `n` is at most [`TOGETHER`].
    fn make_room(&mut self, n: usize) {
        if 2 * (self.len() + n) <= self.slots.len() {
            return;
        }
        let n_slots = (2 * self.slots.len()).max(4 * TOGETHER);
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

/// The slot of an entry, by its number from 1.
fn slot_of(number: usize, hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(u32::try_from(number).expect("fewer names than 2^32"))
}

/// The index of the entry of a slot. A free slot has none.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the upper half is no part of the number")]
fn index_of(slot: u64) -> usize {
    (slot as u32 as usize).wrapping_sub(1)
}

/// Two tables are equal if their names have the same lines.
impl PartialEq for NameTable {
    fn eq(&self, other: &Self) -> bool {
        let is_in_other = |entry: &Entry| other.lines(self.name(entry), entry.hash) == Some(entry.lines);
        self.len() == other.len() && self.entries.iter().all(is_in_other)
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
