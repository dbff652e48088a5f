//! Runs the automata over long lines, a few times as fast as step by step.
//!
//! A step of an automaton waits for the step before it. Two things make long lines faster. First, a line comes to few
//! pairs of states of the two automata, so that a small table of known steps replaces two large ones. Second, lines are
//! read in blocks of several lanes, and one step of each lane is done at a time. The first state of a lane is a guess: the
//! first state of its block, followed by the last bytes before the lane. If the guess is wrong, the lane is repeated.

use crate::automaton::{State, Tracker};

/// Bytes of a lane. The odd cache line keeps lanes out of each other's places in the cache.
const LANE: usize = (2 << 10) + 64;
const LANES: usize = 8;
/// How many bytes before a lane are read to guess its first state.
const LOOK_BACK: usize = 32;

/// A state of the automaton of all grammars, and one of the automaton of a grammar.
type Pair = (State, u32);

/// The steps between pairs of states that were needed so far. A pair has a number from 1.
pub struct KnownSteps {
    pairs: Vec<Pair>,
    /// For each pair and byte, the number of the next pair, or 0 if it is not known. From 0, all steps lead to 0.
    next: Box<[[u8; 128]]>,
}

impl Default for KnownSteps {
    fn default() -> Self {
        Self { pairs: Vec::new(), next: vec![[0; 128]; 256].into() }
    }
}

impl KnownSteps {
    /// Does what [`State::run`] and [`Tracker::feed`] do.
    pub fn run(&mut self, state: &mut State, tracker: &mut Tracker, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks();
        for block in blocks {
            if *state == State::DEAD && tracker.broke_at().is_some() {
                break;
            }
            match self.after_block(tracker, (*state, tracker.state()), block) {
                Some((next, tracked)) if !tracker.is_refusal(tracked) => {
                    *state = next;
                    tracker.skip(block.len(), tracked);
                }
                Some((next, _)) => {
                    *state = next;
                    tracker.feed(block);
                }
                None => {
                    *self = Self::default();
                    *state = state.run(block);
                    tracker.feed(block);
                }
            }
        }
        *state = state.run(rest);
        tracker.feed(rest);
    }

    /// The pair that follows `pair` and a block. `None` for bytes that are not ASCII, and if there are too many pairs.
    fn after_block(&mut self, tracker: &Tracker, pair: Pair, block: &[u8; LANE * LANES]) -> Option<Pair> {
        if !block.is_ascii() {
            return None;
        }
        let first = self.number(pair)?;
        let step = |number: u8, byte: u8| self.next[usize::from(number)][usize::from(byte & 127)];
        let is_alive = |&number: &u8| number != 0 && self.pairs[usize::from(number) - 1].0 != State::DEAD;
        let second = step(first, block[0]);
        let third = step(second, block[1]);
        let mut guesses = [first; LANES];
        for (n, guess) in guesses.iter_mut().enumerate().skip(1) {
            let before = &block[n * LANE - LOOK_BACK..n * LANE];
            // Not all of these pairs are inside a percent escape.
            let runs =
                [first, second, third].map(|from| before.iter().fold(from, |at, &byte| step(at, byte)));
            *guess = runs.into_iter().find(is_alive).unwrap_or(0);
        }
        let mut ends = guesses;
        for at in 0..LANE {
            for (n, end) in ends.iter_mut().enumerate() {
                *end = step(*end, block[n * LANE + at]);
            }
        }
        let mut number = first;
        for (lane, (guess, end)) in block.chunks(LANE).zip(guesses.into_iter().zip(ends)) {
            number = if guess == number && end != 0 {
                end
            } else {
                lane.iter().try_fold(number, |at, &byte| self.step(tracker, at, byte))?
            };
        }
        Some(self.pairs[usize::from(number) - 1])
    }

    /// The number of the pair after one more byte. `None` if there are too many pairs.
    fn step(&mut self, tracker: &Tracker, number: u8, byte: u8) -> Option<u8> {
        let known = self.next[usize::from(number)][usize::from(byte)];
        if known != 0 {
            return Some(known);
        }
        let (state, tracked) = self.pairs[usize::from(number) - 1];
        let after = |byte| (state.step_ascii(byte), tracker.state_after(tracked, byte));
        let pair = after(byte);
        let next = self.number(pair)?;
        // Mostly many bytes lead to the same pair.
        for byte in (0..128).filter(|&byte| after(byte) == pair) {
            self.next[usize::from(number)][usize::from(byte)] = next;
        }
        Some(next)
    }

    /// The number of a pair, which is new if the pair is. `None` if there are too many pairs.
    fn number(&mut self, pair: Pair) -> Option<u8> {
        let at = self.pairs.iter().position(|&known| known == pair).unwrap_or(self.pairs.len());
        let number = u8::try_from(at + 1).ok()?;
        if at == self.pairs.len() {
            self.pairs.push(pair);
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Grammar;
    use crate::random::Random;

    const SOME_BLOCKS: usize = 3 * LANE * LANES;

    /// The state, and the offset, byte and label of a refusal.
    type Found = (State, u64, Option<u8>, *const crate::automaton::Label);

    fn found(state: State, tracker: &Tracker) -> Found {
        (state, tracker.offset(), tracker.broke_at(), tracker.label())
    }

    fn step_by_step(grammar: Grammar, line: &[u8]) -> Found {
        let mut tracker = Tracker::new(grammar);
        tracker.feed(line);
        found(State::START.run(line), &tracker)
    }

    fn by_known_steps(grammar: Grammar, line: &[u8], part: usize) -> Found {
        let (mut steps, mut state, mut tracker) =
            (KnownSteps::default(), State::START, Tracker::new(grammar));
        line.chunks(part).for_each(|part| steps.run(&mut state, &mut tracker, part));
        found(state, &tracker)
    }

    /// A beginning, then one text again and again, with up to two other texts in between.
    fn some_line(random: &mut Random) -> Vec<u8> {
        const BEGINNINGS: [&str; 10] = [
            "http://a.example/", "http://", "ftp://u:p@h/", "mailto:", "", "/", "//h:", "x:", "http://[",
            "https://h/?",
        ];
        const TEXTS: [&str; 10] =
            ["a", "/b-c", "%41%e2", "x%41yz", "a=b&c;d,", "h.x-1.", "1:2:", "//", "b/%zz", "(~!*'):@"];
        const OTHERS: [&str; 11] = [
            "?q", "#f", ":", "@", " ", "%", "%4 ", "\u{e4}", "/a;type=a", "]:8/",
            "abcdefghijklmnopqrstuvwxyz",
        ];
        let mut some = |texts: &[&'static str]| texts[random.below(texts.len())];
        let (beginning, text) = (some(&BEGINNINGS), some(&TEXTS));
        let others = [some(&OTHERS), some(&OTHERS)];
        let mut line = text.repeat(SOME_BLOCKS / text.len() + 9).into_bytes();
        line.splice(..0, beginning.bytes());
        for other in &others[..random.below(3)] {
            let at = random.below(line.len());
            line.splice(at..at, other.bytes());
        }
        line
    }

    #[test]
    fn known_steps_lead_where_single_steps_do() {
        let mut random = Random::new(23);
        for n in 0..150 {
            let line = some_line(&mut random);
            let grammar = Grammar::ALL[n % 5];
            let expected = step_by_step(grammar, &line);
            for part in [line.len(), LANE * LANES, LANE * LANES + 1, 20_000 + random.below(20_000)] {
                let found = by_known_steps(grammar, &line, part);
                let shown = String::from_utf8_lossy(&line[..60]);
                assert!(found == expected, "{shown} {grammar} {part}: offset {} and {}", found.1, expected.1);
            }
        }
    }

    #[test]
    fn too_many_pairs_are_forgotten() {
        let line = [b"http://a/".as_slice(), &b"b%41".repeat(SOME_BLOCKS / 4)].concat();
        let expected = step_by_step(Grammar::Rfc3986, &line);
        let (mut state, mut tracker) = (State::START, Tracker::new(Grammar::Rfc3986));
        let mut steps = KnownSteps { pairs: vec![(State::DEAD, u32::MAX); 255], ..KnownSteps::default() };
        steps.run(&mut state, &mut tracker, &line);
        assert!(found(state, &tracker) == expected && steps.pairs.len() < 50);
    }
}
