//! The automaton that runs all five grammars at once, and one automaton per grammar that knows which rule is being read.
//!
//! The build script (`build/main.rs`) derives all tables from the grammar files. This module only walks them. It knows bytes and
//! states, but no lines and no schemes.

use crate::component::Component;
use crate::{Grammar, Verdict};

/// What is known about a refusal in a state of a labelled automaton.
pub struct Label {
    rule: u16,
    /// The component of a defect in this state. If it is `None`, the delimiters of the line decide.
    pub component: Option<Component>,
    /// Whether a percent escape is open.
    pub escape: bool,
    /// Whether no byte of the rule has been read yet.
    pub fresh: bool,
    accepting: bool,
}

/// The automaton of one grammar whose states know which rule is being read.
pub struct Labelled {
    /// For each state and byte class, the next state. A state is the index of its row.
    next: &'static [u32],
    labels: &'static [Label],
    dead: u32,
    top: u16,
    escape: u16,
    /// For each component, the rules that its defects break.
    rules_of: &'static [(Component, &'static [u16])],
    alphabet: [u64; 4],
}

impl Labelled {
    /// Returns the state after one more byte; `None` if no accepted line has this byte here.
    #[inline]
    fn after(&self, state: u32, byte: u8) -> Option<u32> {
        let class = usize::from(tables::CLASS_OF[usize::from(byte)]);
        let state = self.next[state as usize + class];
        (state != self.dead).then_some(state)
    }
}

/// A rule of a grammar as its document prints it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    text: &'static str,
    section: &'static str,
}

impl Rule {
    /// Returns the outermost rules of `grammar` that define `component`. Returns none if no refusal of that grammar lies in
    /// `component`.
    ///
    /// ```
    /// # mod urlsift { pub use urlsift_grammar::{Grammar, automaton::Rule, component::Component}; }
    /// use urlsift::{Component, Grammar, Rule};
    ///
    /// let names = |grammar, component| Rule::of(grammar, component).map(|rule| rule.name()).collect::<Vec<_>>();
    /// assert_eq!(names(Grammar::Rfc1738, Component::Userinfo), ["user", "password"]);
    /// assert_eq!(names(Grammar::Rfc3986, Component::Host), ["host"]);
    /// assert!(names(Grammar::Rfc1738, Component::Fragment).is_empty());
    /// ```
    pub fn of(grammar: Grammar, component: Component) -> impl Iterator<Item = Self> {
        let machine = &tables::LABELLED[grammar as usize];
        // An unknown scheme is reported by the rule that lists all schemes.
        let top: &[u16] =
            if component == Component::Scheme { std::slice::from_ref(&machine.top) } else { &[] };
        let of = machine.rules_of.iter().filter(move |(of, _)| *of == component && top.is_empty());
        let rules = top.iter().chain(of.flat_map(|(_, rules)| *rules));
        rules.map(|&rule| tables::RULES[usize::from(rule)])
    }

    /// The text and the section of the rule. No other rule has both.
    #[cfg(feature = "scan")]
    pub fn key(self) -> (&'static str, &'static str) {
        (self.text, self.section)
    }

    /// Returns the rule with this text and section.
    #[cfg(feature = "scan")]
    pub fn find(text: &str, section: &str) -> Option<Self> {
        tables::RULES.iter().find(|rule| rule.key() == (text, section)).copied()
    }

    /// The document and section of this rule of `grammar`, such as `RFC 1738, section 5`.
    pub fn source(&self, grammar: Grammar) -> String {
        let section = self.section();
        let word = if section.starts_with(|c: char| c.is_ascii_digit()) { "section " } else { "" };
        format!("{}, {word}{section}", grammar.document())
    }

    /// The rule's name in the document, such as `reg-name`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        let end = self.text.find(['=', ':', ',']).unwrap_or(self.text.len());
        self.text[..end].trim()
    }

    /// The lines of the rule as printed, without their common indentation.
    pub fn lines(&self) -> impl Iterator<Item = &'static str> {
        self.text.lines().map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
    }

    /// The section of the document that contains the rule, such as `3.2.2`.
    #[must_use]
    pub fn section(&self) -> &'static str {
        self.section
    }
}

/// A hash that distinguishes these tables from tables of other rules.
#[cfg(feature = "scan")]
pub use tables::TABLES;

#[allow(clippy::unreadable_literal, reason = "derived by the build script")]
mod tables {
    use super::{Component, Label, Labelled, Rule};

    include!(concat!(env!("OUT_DIR"), "/tables.rs"));
}

// The specification proves the sizes of the minimal automata. If a rule in the grammar files is wrong, the sizes differ and the
// crate does not compile.
const _: () = {
    let [draft1993, rfc1738, rfc1808, rfc2396, rfc3986] = tables::MINIMAL_SIZES;
    assert!(draft1993 == 208 && rfc1738 == 290 && rfc1808 == 13 && rfc2396 == 13 && rfc3986 == 183);
    assert!(tables::N_STATES == 1279 && tables::N_CLASSES == 51);
};

/// For each state and each byte below hexadecimal 80, the next state. A state is the index of its row.
///
/// Columns for bytes instead of byte classes save a look-up and two operations per byte. They cost 640 KiB of memory;
/// real lists touch about 20 KiB of it.
static STEP: [u32; tables::N_STATES * 128] = {
    let mut step = [0; tables::N_STATES * 128];
    let mut at = 0;
    while at < step.len() {
        let class = tables::CLASS_OF[at % 128] as usize;
        step[at] = tables::NEXT[at / 128 * tables::N_CLASSES + class] as u32 * 128;
        at += 1;
    }
    step
};

/// The class of a byte. No automaton tells the bytes of a class apart.
#[cfg(feature = "scan")]
pub fn class_of(byte: u8) -> u8 {
    tables::CLASS_OF[usize::from(byte)]
}

/// A number for each pair of byte classes. Neither the automaton of all grammars nor the labelled one of `grammar` tells pairs with
/// the same number apart, and if such pairs are refused, they have the same defect.
#[cfg(feature = "scan")]
pub fn pair_number(grammar: Grammar, first: u8, second: u8) -> u16 {
    tables::PAIR_NUMBERS[grammar as usize][usize::from(first) * tables::N_CLASSES + usize::from(second)]
}

/// The state of the labelled automaton of `grammar` after one more byte; `None` if no accepted line has this byte here. The first
/// state is 0.
#[cfg(feature = "scan")]
pub fn labelled_after(grammar: Grammar, state: u32, byte: u8) -> Option<u32> {
    tables::LABELLED[grammar as usize].after(state, byte)
}

/// A state of the automaton that runs all five grammars.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct State(u32);

impl State {
    /// The state before the first byte.
    pub const START: Self = Self(0);

    /// The state where no grammar can accept any more.
    pub const DEAD: Self = Self(tables::NEXT[tables::CLASS_OF[0] as usize] as u32 * 128);

    /// The state after one more byte, which is below hexadecimal 80.
    #[inline(always)]
    pub fn step_ascii(self, byte: u8) -> Self {
        Self(STEP[self.0 as usize + usize::from(byte)])
    }

    /// The state after all of `bytes`.
    #[inline]
    pub fn run(self, bytes: &[u8]) -> Self {
        let mut state = self;
        for &byte in bytes {
            if !byte.is_ascii() {
                return Self::DEAD;
            }
            state = state.step_ascii(byte);
        }
        state
    }

    /// The grammars that accept the bytes read so far.
    #[inline(always)]
    pub fn verdict(self) -> Verdict {
        Verdict::from_bits(tables::ACCEPTING[self.0 as usize / 128])
    }
}

/// Runs one grammar over a line until it can no longer accept. The line may come in several parts.
#[derive(Clone)]
pub struct Tracker {
    grammar: Grammar,
    state: u32,
    offset: u64,
    broke_at: Option<u8>,
}

impl Tracker {
    pub fn new(grammar: Grammar) -> Self {
        Self { grammar, state: 0, offset: 0, broke_at: None }
    }

    fn machine(&self) -> &'static Labelled {
        &tables::LABELLED[self.grammar as usize]
    }

    /// Reads the next bytes. Does nothing once the grammar has refused.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.broke_at.is_some() {
            return;
        }
        let (machine, mut state) = (self.machine(), self.state);
        let breaks = |&byte: &u8| match machine.after(state, byte) {
            Some(next) => {
                state = next;
                false
            }
            None => true,
        };
        let n_read = bytes.iter().position(breaks);
        self.state = state;
        self.offset += n_read.unwrap_or(bytes.len()) as u64;
        self.broke_at = n_read.map(|at| bytes[at]);
    }

    /// The state in the table of the grammar. After a refusal, it is the state that no byte leaves.
    #[cfg(feature = "scan")]
    pub(super) fn state(&self) -> u32 {
        if self.broke_at.is_some() { self.machine().dead } else { self.state }
    }

    /// The [state](Self::state) that follows `state`.
    #[cfg(feature = "scan")]
    pub(super) fn state_after(&self, state: u32, byte: u8) -> u32 {
        self.machine().next[state as usize + usize::from(tables::CLASS_OF[usize::from(byte)])]
    }

    /// Whether `state` means a refusal.
    #[cfg(feature = "scan")]
    pub(super) fn is_refusal(&self, state: u32) -> bool {
        state == self.machine().dead
    }

    /// Skips `n` bytes, after which the grammar is in `state` and has not refused.
    #[cfg(feature = "scan")]
    pub(super) fn skip(&mut self, n: usize, state: u32) {
        self.state = state;
        self.offset += n as u64;
    }

    /// The number of bytes read before the refusal. At the end of the line, this is the offset of the defect.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The byte that caused the refusal, because no accepted line has it here; `None` if all bytes could be read.
    pub fn broke_at(&self) -> Option<u8> {
        self.broke_at
    }

    /// Returns whether the grammar accepts the line if it ends here.
    pub fn accepts(&self) -> bool {
        self.broke_at.is_none() && self.label().accepting
    }

    /// The label of the last state before a refusal.
    pub fn label(&self) -> &'static Label {
        &self.machine().labels[self.state as usize / tables::N_CLASSES]
    }

    /// The rule that was being read.
    pub fn rule(&self) -> Rule {
        let label = self.label();
        tables::RULES[usize::from(if label.escape { self.machine().escape } else { label.rule })]
    }

    /// Returns whether some accepted line continues with `byte`.
    pub fn could_follow(&self, byte: u8) -> bool {
        self.machine().after(self.state, byte).is_some()
    }
}

/// The rule of `grammar` that contains all others.
pub fn top_rule(grammar: Grammar) -> Rule {
    tables::RULES[usize::from(tables::LABELLED[grammar as usize].top)]
}

/// Returns whether some rule of `grammar` contains `byte`.
pub fn has_character(grammar: Grammar, byte: u8) -> bool {
    tables::LABELLED[grammar as usize].alphabet[usize::from(byte) / 64] >> (byte % 64) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sixteen_verdicts_occur() {
        let mut seen: Vec<u8> = Vec::new();
        seen.extend(tables::ACCEPTING);
        seen.sort_unstable();
        seen.dedup();
        // As in the specification, where the leftmost digit is draft1993.
        let named = [
            "00000", "00001", "00010", "00011", "00100", "00101", "00110", "00111", "01100", "01101",
            "01110", "01111", "10000", "10110", "10111", "11111",
        ];
        let mut expected: Vec<u8> = named
            .iter()
            .map(|set| set.bytes().enumerate().fold(0, |bits, (g, digit)| bits | (digit - b'0') << g))
            .collect();
        expected.sort_unstable();
        assert_eq!(seen, expected);
    }

    /// The violations are a byte that no grammar has, a "%" without two hexadecimal digits, and a second "#". Their position
    /// does not matter.
    #[test]
    fn no_grammar_accepts_a_line_with_what_the_streams_call_a_violation() {
        let states = || (0..STEP.len()).step_by(128).map(|row| State(u32::try_from(row).unwrap()));
        let bytes = || 0..0x80_u8;
        let is_dead = |state: State| bytes().all(|byte| state.step_ascii(byte) == state);
        assert!(is_dead(State::DEAD) && State::DEAD.verdict().is_empty());
        let refuses = |state: State, byte| state.step_ascii(byte) == State::DEAD;
        for state in states() {
            let illegal = bytes().filter(|&byte| {
                !byte.is_ascii_alphanumeric() && !b"\"[]/?#:%~;=$-_.+!*'(),&@".contains(&byte)
            });
            assert!(illegal.into_iter().all(|byte| refuses(state, byte)));
            let escape = state.step_ascii(b'%');
            for digit in bytes().filter(u8::is_ascii_hexdigit) {
                let escape = escape.step_ascii(digit);
                assert!(escape.verdict().is_empty());
                assert!(bytes().filter(|byte| !byte.is_ascii_hexdigit()).all(|byte| refuses(escape, byte)));
            }
            assert!(escape.verdict().is_empty());
            assert!(bytes().filter(|byte| !byte.is_ascii_hexdigit()).all(|byte| refuses(escape, byte)));
        }
        // All states that can be reached after a "#".
        let mut behind: Vec<State> = states().map(|state| state.step_ascii(b'#')).collect();
        let mut at = 0;
        while at < behind.len() {
            let state = behind[at];
            assert!(refuses(state, b'#'));
            for next in bytes().map(|byte| state.step_ascii(byte)) {
                if !behind.contains(&next) {
                    behind.push(next);
                }
            }
            at += 1;
        }
    }

    #[test]
    fn labelled_machines_accept_what_the_machine_accepts() {
        for line in [
            &b"http://a/"[..],
            b"",
            b"mailto:x",
            b"http://[::1]/",
            b"http://h:80x/",
            b"wais://h/d/t/1=x;",
            b"%4",
        ] {
            for grammar in Grammar::ALL {
                let mut tracker = Tracker::new(grammar);
                tracker.feed(line);
                assert_eq!(
                    tracker.accepts(),
                    State::START.run(line).verdict().accepts(grammar),
                    "{line:?} {grammar}"
                );
            }
        }
    }

    #[test]
    fn every_rule_has_a_name_and_a_section() {
        for rule in &tables::RULES {
            assert!(!rule.name().is_empty() && !rule.section().is_empty(), "{rule:?}");
        }
    }
}
