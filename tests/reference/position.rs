//! Recognises lines: implements [`At`] as the set of all positions that a rule can have reached in a given line.
//!
//! Alternation is set union, and repetition is closure to a fixed point. Nothing is greedy, ordered or backtracking, so an
//! ambiguous rule means everything that it derives. The cost is about one set operation per byte and repetition. The stack
//! does not grow with the line.

use super::at::At;
use std::cell::Cell;

/// Applies a start rule to the line. Returns `None` if the rule derives the line, otherwise the furthest position reached.
pub fn run(line: &[u8], rule: impl for<'a> Fn(&Positions<'a>) -> Positions<'a>) -> Option<usize> {
    let furthest = Cell::new(0);
    let mut set = Set::default();
    set.insert(0);
    let end = rule(&Positions { line, furthest: &furthest, set });
    if end.set.contains(line.len()) { None } else { Some(furthest.get()) }
}

/// Positions between the bytes of a line, from 0 before the first byte to the line's length after the last.
#[derive(Clone)]
pub struct Positions<'a> {
    line: &'a [u8],
    /// The greatest position that any terminal has reached so far. All sets of a run share it.
    furthest: &'a Cell<usize>,
    set: Set,
}

impl Positions<'_> {
    /// Another set in the same run.
    fn with(&self, set: Set) -> Self {
        Positions { line: self.line, furthest: self.furthest, set }
    }

    /// All positions reached by one byte that passes the test. All terminals use this function.
    fn step(&self, test: impl Fn(u8) -> bool) -> Self {
        let mut reached = Set::default();
        self.set.each(|position| {
            if position < self.line.len() && test(self.line[position]) {
                reached.insert(position + 1);
                self.furthest.set(self.furthest.get().max(position + 1));
            }
        });
        self.with(reached)
    }

    /// All positions reached by the bytes of the text in sequence.
    fn bytes(&self, text: &str, same: fn(u8, u8) -> bool) -> Self {
        match text.as_bytes() {
            [] => self.clone(),
            [first, rest @ ..] => {
                rest.iter().fold(self.step(|b| same(b, *first)), |p, &of_text| p.step(|b| same(b, of_text)))
            }
        }
    }
}

impl At for Positions<'_> {
    fn lit(&self, text: &str) -> Self {
        self.bytes(text, |byte, of_text| byte == of_text)
    }

    fn lit_nocase(&self, text: &str) -> Self {
        self.bytes(text, |byte, of_text| byte.eq_ignore_ascii_case(&of_text))
    }

    fn one(&self, set: fn(u8) -> bool) -> Self {
        self.step(set)
    }

    fn any_of(&self, bytes: &str) -> Self {
        self.step(|b| bytes.as_bytes().contains(&b))
    }

    fn then(&self, rule: impl Fn(&Self) -> Self) -> Self {
        // No rule leads anywhere from an empty set. This early return saves most of the work.
        if self.set.is_empty() { self.with(Set::default()) } else { rule(self) }
    }

    fn opt(&self, rule: impl Fn(&Self) -> Self) -> Self {
        let mut all = self.set.clone();
        all.unite(self.then(rule).set);
        self.with(all)
    }

    fn many(&self, rule: impl Fn(&Self) -> Self) -> Self {
        let mut all = self.set.clone();
        let mut new = self.clone();
        while !new.set.is_empty() {
            // A rule maps each position independently, so only new positions need to be mapped again.
            new = self.with(rule(&new).set.without(&all));
            all.unite(new.set.clone());
        }
        self.with(all)
    }

    fn times(&self, min: usize, max: usize, rule: impl Fn(&Self) -> Self) -> Self {
        let mut all = Set::default();
        let mut after = self.clone();
        for count in 0..=max {
            if count >= min {
                all.unite(after.set.clone());
            }
            if count < max {
                after = after.then(&rule);
            }
        }
        self.with(all)
    }

    fn alt(&self, rules: &[fn(&Self) -> Self]) -> Self {
        let mut all = Set::default();
        for rule in rules {
            all.unite(self.then(rule).set);
        }
        self.with(all)
    }

    fn unless(&self, names: &[&str], rule: impl Fn(&Self) -> Self) -> Self {
        let mut all = Set::default();
        self.set.each(|start| {
            let mut here = Set::default();
            here.insert(start);
            let mut kept = Set::default();
            rule(&self.with(here)).set.each(|end| {
                let text = &self.line[start..end];
                if !names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes())) {
                    kept.insert(end);
                }
            });
            all.unite(kept);
        });
        self.with(all)
    }
}

/// A set of numbers as a bitmap of 64-bit words, starting at the first non-zero word. That word is stored inline, so that a
/// set with a single position, the most frequent kind, needs no allocation.
#[derive(Clone, Default)]
struct Set {
    /// Bit b of `word` is the number 64 * `first` + b. Meaningless if the set is empty, which is when `word` is zero.
    first: usize,
    word: u64,
    /// The words after `word`.
    rest: Vec<u64>,
}

impl Set {
    fn is_empty(&self) -> bool {
        self.word == 0
    }

    /// The word with this index, or zero if it is not stored.
    fn word_at(&self, index: usize) -> u64 {
        match index.checked_sub(self.first) {
            Some(0) => self.word,
            Some(after) => self.rest.get(after - 1).copied().unwrap_or(0),
            None => 0,
        }
    }

    /// The stored words with their indices, in ascending order.
    fn words(&self) -> impl Iterator<Item = (usize, u64)> {
        std::iter::once(&self.word).chain(&self.rest).enumerate().map(|(i, &word)| (self.first + i, word))
    }

    /// Calls `act` for each number in the set, in ascending order.
    fn each(&self, mut act: impl FnMut(usize)) {
        let mut each_in = |index: usize, mut word: u64| {
            while word != 0 {
                act(index * 64 + word.trailing_zeros() as usize);
                word &= word - 1;
            }
        };
        each_in(self.first, self.word);
        for (after, &word) in self.rest.iter().enumerate() {
            each_in(self.first + 1 + after, word);
        }
    }

    fn contains(&self, number: usize) -> bool {
        self.word_at(number / 64) >> (number % 64) & 1 == 1
    }

    fn insert(&mut self, number: usize) {
        self.add(number / 64, 1 << (number % 64));
    }

    /// Adds bits to the word with this index. Unless the set is empty, the index must not precede the first word.
    #[inline]
    fn add(&mut self, index: usize, bits: u64) {
        if bits == 0 {
            return;
        }
        if self.is_empty() {
            self.first = index;
        }
        assert!(index >= self.first, "a set grows upwards");
        match index - self.first {
            0 => self.word |= bits,
            after => {
                self.rest.resize(self.rest.len().max(after), 0);
                self.rest[after - 1] |= bits;
            }
        }
    }

    /// Union: adds all numbers of the other set.
    fn unite(&mut self, mut other: Set) {
        if self.is_empty() || (!other.is_empty() && other.first < self.first) {
            std::mem::swap(self, &mut other);
        }
        if !other.is_empty() {
            other.words().for_each(|(index, word)| self.add(index, word));
        }
    }

    /// Difference: the numbers that are not in the other set.
    fn without(&self, other: &Set) -> Set {
        let mut left = Set::default();
        self.words().for_each(|(index, word)| left.add(index, word & !other.word_at(index)));
        left
    }
}
