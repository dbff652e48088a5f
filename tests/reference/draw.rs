//! Generates random lines: implements [`At`] as the end of a line that grows by random choices.
//!
//! No rule calls itself, and every repetition chooses its count in advance, so generation always ends. Only a scheme that
//! A15 excludes is generated again.

use super::at::At;
use std::cell::RefCell;

/// A small seeded generator (splitmix64). The same seed gives the same numbers on every machine.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// A generator with this seed. Any number is a valid seed.
    pub fn new(seed: u64) -> Rng {
        Rng(seed)
    }

    /// The next number, from the whole range of 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 to `n` - 1.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("below n")
    }
}

/// Generates a line from a start rule.
pub fn run(rng: &mut Rng, size: usize, rule: impl for<'a> Fn(&Draw<'a>) -> Draw<'a>) -> Vec<u8> {
    // In one line of eight, letters have a random case where case does not matter. The others are in lower case.
    let any_case = rng.below(8) == 0;
    let state = RefCell::new(State { line: Vec::new(), rng: rng.clone(), size, any_case });
    rule(&Draw(&state));
    let State { line, rng: used, .. } = state.into_inner();
    *rng = used;
    line
}

/// The end of the current line. All copies refer to the same line.
#[derive(Clone, Copy)]
pub struct Draw<'a>(&'a RefCell<State>);

struct State {
    line: Vec<u8>,
    rng: Rng,
    size: usize,
    any_case: bool,
}

impl Draw<'_> {
    fn below(&self, n: usize) -> usize {
        self.0.borrow_mut().rng.below(n)
    }

    fn push(&self, byte: u8) {
        self.0.borrow_mut().line.push(byte);
    }

    fn repeat(&self, count: usize, rule: impl Fn(&Self) -> Self) -> Self {
        (0..count).fold(*self, |p, _| rule(&p))
    }

    /// How often to repeat: usually up to `size` times, sometimes never or four times as often, and never once the line is
    /// long.
    fn count(&self) -> usize {
        let size = self.0.borrow().size;
        if self.0.borrow().line.len() > 32 * size {
            return 0;
        }
        match self.below(8) {
            0 | 1 => 0,
            2 => self.below(4 * size + 1),
            _ => self.below(size + 1),
        }
    }
}

impl At for Draw<'_> {
    fn lit(&self, text: &str) -> Self {
        text.bytes().for_each(|byte| self.push(byte));
        *self
    }

    fn lit_nocase(&self, text: &str) -> Self {
        let any_case = self.0.borrow().any_case;
        for byte in text.bytes() {
            let upper = any_case && self.below(2) == 0;
            self.push(if upper { byte.to_ascii_uppercase() } else { byte.to_ascii_lowercase() });
        }
        *self
    }

    fn one(&self, set: fn(u8) -> bool) -> Self {
        /// A set, and its bytes.
        type Listed = (fn(u8) -> bool, Vec<u8>);
        // Without the memory, listing the bytes of sets would take most of the time of a draw.
        thread_local! {
            static LISTED: RefCell<Vec<Listed>> = const { RefCell::new(Vec::new()) };
        }
        LISTED.with_borrow_mut(|listed| {
            let known = listed.iter().position(|(of, _)| std::ptr::fn_addr_eq(*of, set));
            let at = known.unwrap_or_else(|| {
                listed.push((set, (0..=255).filter(|&byte| set(byte)).collect()));
                listed.len() - 1
            });
            let bytes = &listed[at].1;
            self.push(bytes[self.below(bytes.len())]);
        });
        *self
    }

    fn any_of(&self, bytes: &str) -> Self {
        self.push(bytes.as_bytes()[self.below(bytes.len())]);
        *self
    }

    fn then(&self, rule: impl Fn(&Self) -> Self) -> Self {
        rule(self)
    }

    fn opt(&self, rule: impl Fn(&Self) -> Self) -> Self {
        self.repeat(self.below(2), rule)
    }

    fn many(&self, rule: impl Fn(&Self) -> Self) -> Self {
        self.repeat(self.count(), rule)
    }

    fn times(&self, min: usize, max: usize, rule: impl Fn(&Self) -> Self) -> Self {
        self.repeat(min + self.below(max - min + 1), rule)
    }

    fn alt(&self, rules: &[fn(&Self) -> Self]) -> Self {
        rules[self.below(rules.len())](self)
    }

    fn unless(&self, names: &[&str], rule: impl Fn(&Self) -> Self) -> Self {
        let start = self.0.borrow().line.len();
        loop {
            rule(self);
            let state = &mut *self.0.borrow_mut();
            let text = &state.line[start..];
            if !names.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes())) {
                return *self;
            }
            state.line.truncate(start);
        }
    }
}
