//! The automaton of a line ([`line_automaton`](super::line_automaton)) as a table over pairs of bytes, which is made while lines are
//! read.
//!
//! A state gets a row, and a pair a column, when the first line needs them. A cell that is not made yet leads to a state that only
//! an LF leaves. A line that ends there is read once more, and its cells are made. So the loop over pairs of bytes needs no
//! branch for that. Each scanner has a table of its own.

use std::collections::HashMap;
use std::sync::OnceLock;

use crate::line_automaton::{Outcome, Progress, Refusal, outcome_by_bytes};
use foldhash::fast::RandomState;

use urlsift_grammar::advisory::Advisories;
use urlsift_grammar::automaton::{class_of, has_character, pair_number};
use urlsift_grammar::scheme::KNOWN;
use urlsift_grammar::uri_parts::BEGINNING;
use urlsift_grammar::{Grammar, Verdict};

/// The kinds of pairs of bytes, for a chosen grammar. Pairs of a kind lead from each state to the same state.
struct PairKinds {
    /// A number for each byte. Bytes that nothing tells apart have the same number.
    of_byte: [u16; 1 << 8],
    /// The bytes of each number.
    bytes: Vec<Vec<u8>>,
    /// The kind of each pair of numbers: all second numbers of the first number 0, then those of 1, and so on.
    of_numbers: Vec<u16>,
    /// The pairs of numbers of each kind.
    pairs: Vec<Vec<(usize, usize)>>,
}

impl PairKinds {
    /// The kinds, found on the first call for `grammar`.
    fn of(grammar: Grammar) -> &'static Self {
        static KINDS: [OnceLock<PairKinds>; Grammar::ALL.len()] =
            [const { OnceLock::new() }; Grammar::ALL.len()];
        KINDS[grammar as usize].get_or_init(|| Self::new(grammar))
    }

    fn new(grammar: Grammar) -> Self {
        let mut numbers = HashMap::with_hasher(RandomState::default());
        let (mut of_byte, mut bytes) = ([0; 1 << 8], Vec::new());
        for (byte, number) in (0..=u8::MAX).zip(&mut of_byte) {
            *number = *numbers.entry((class_of(byte), ByteKind::of(byte))).or_insert_with(|| {
                bytes.push(Vec::new());
                small(bytes.len() - 1)
            });
            bytes[usize::from(*number)].push(byte);
        }
        let mut kinds = HashMap::with_hasher(RandomState::default());
        let (mut of_numbers, mut pairs) = (Vec::new(), Vec::new());
        for (n_first, firsts) in bytes.iter().enumerate() {
            for (n_second, seconds) in bytes.iter().enumerate() {
                let key = match (firsts[0], seconds[0]) {
                    (_, b'\n') => PairKey::EndsInLf,
                    (b'\n', _) => PairKey::BeginsWithLf(n_second),
                    (first, second) => PairKey::of(grammar, first, second),
                };
                let kind = *kinds.entry(key).or_insert_with(|| {
                    pairs.push(Vec::new());
                    pairs.len() - 1
                });
                pairs[kind].push((n_first, n_second));
                of_numbers.push(small(kind));
            }
        }
        Self { of_byte, bytes, of_numbers, pairs }
    }

    fn kind(&self, pair: u16) -> usize {
        let [first, second] = pair.to_le_bytes().map(|byte| usize::from(self.of_byte[usize::from(byte)]));
        usize::from(self.of_numbers[first * self.bytes.len() + second])
    }

    /// All pairs of the same kind as `pair`.
    fn like(&self, pair: u16) -> impl Iterator<Item = u16> {
        self.pairs[self.kind(pair)].iter().flat_map(|&(first, second)| {
            let seconds = &self.bytes[second];
            let with =
                move |&first: &u8| seconds.iter().map(move |&second| u16::from_le_bytes([first, second]));
            self.bytes[first].iter().flat_map(with)
        })
    }
}

/// What distinguishes a byte, beside its class, for the scan for advisories and for the cause of a defect.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ByteKind {
    Space,
    Control,
    NonAscii,
    /// A character that no grammar has.
    Illegal,
    /// An LF, a delimiter, a digit or a letter. Letters are in lower case.
    Own(u8),
    Other,
}

impl ByteKind {
    fn of(byte: u8) -> Self {
        match byte {
            b' ' => Self::Space,
            b'\n' | b'0'..=b'9' | b'/' | b':' | b'?' | b'#' | b'@' | b']' | b'%' => Self::Own(byte),
            0..b' ' | 0x7f => Self::Control,
            0x80.. => Self::NonAscii,
            _ if byte.is_ascii_alphabetic() => Self::Own(byte.to_ascii_lowercase()),
            _ if Grammar::ALL.into_iter().any(|grammar| has_character(grammar, byte)) => Self::Other,
            _ => Self::Illegal,
        }
    }
}

/// A key for each pair of bytes. Pairs with the same key lead from each state to the same state.
#[derive(PartialEq, Eq, Hash)]
enum PairKey {
    EndsInLf,
    /// What precedes the LF does not matter. The number belongs to the second byte.
    BeginsWithLf(usize),
    /// What the automata of the grammars tell apart, and what the other automata tell apart.
    Other(u16, ByteKind, ByteKind),
}

impl PairKey {
    fn of(grammar: Grammar, first: u8, second: u8) -> Self {
        let (is_first, is_second) = match (first, second.to_ascii_lowercase()) {
            _ if are_in_a_name(first, second) => (true, true),
            // Digits of a port, and of a noteworthy escape. A "0" or a "9" may be the second digit of one.
            (b'0'..=b'9', b'0'..=b'9' | b'/' | b'?' | b'#')
            | (b'0' | b'2'..=b'4', b'a' | b'b' | b'd' | b'f')
            | (b':', b'0'..=b'9')
            | (b'%', b'0' | b'2'..=b'4') => (true, true),
            (b'1'..=b'8', _) => (false, !second.is_ascii_alphabetic()),
            (b'0' | b'9', _) => (true, !second.is_ascii_alphabetic()),
            // Another letter or digit at the second place matters to the automata of the grammars alone. Which letter comes first
            // matters as the end of a noteworthy escape.
            _ => (
                !first.is_ascii_alphabetic() || b"abdf".contains(&first.to_ascii_lowercase()),
                !second.is_ascii_alphanumeric(),
            ),
        };
        let kind = |byte: u8, counts: bool| if counts { ByteKind::of(byte) } else { ByteKind::Other };
        let number = pair_number(grammar, class_of(first), class_of(second));
        Self::Other(number, kind(first, is_first), kind(second, is_second))
    }
}

/// For each byte, the bytes that follow it in a known scheme with its ":", one bit each. Letters are in lower case.
const NAME_PAIRS: [u128; 1 << 7] = {
    let mut pairs = [0; 1 << 7];
    let mut place = 0;
    while place < KNOWN.len() {
        let name = KNOWN[place].name.as_bytes();
        let mut at = 0;
        while at < name.len() {
            let next = if at + 1 < name.len() { name[at + 1] } else { b':' };
            pairs[name[at] as usize] |= 1 << next;
            at += 1;
        }
        place += 1;
    }
    pairs
};

/// Whether a known scheme with its ":" has these two bytes, in any case.
fn are_in_a_name(first: u8, second: u8) -> bool {
    let [first, second] = [first, second].map(|byte| byte.to_ascii_lowercase());
    first.is_ascii() && second.is_ascii() && NAME_PAIRS[usize::from(first)] >> second & 1 == 1
}

/// A state of the automaton: the index of its row in the table.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LineState(u32);

impl LineState {
    /// The state after a cell that is not made yet. Only an LF leaves it.
    const UNMADE: Self = Self(0);
    /// The state at the start of a line. Every LF leads here.
    pub const START: Self = Self(N_COLUMNS);
}

/// How many columns a table has room for, which is enough for all kinds of pairs. Lists need some hundred. An odd number of cache
/// lines keeps the cells of a column out of each other's places in the cache.
const N_COLUMNS: u32 = 95 * 16;

/// How many rows a table has room for. Lists need some hundred. Only the memory of rows that there are is used.
const N_ROWS: u32 = 2048;

const N_CELLS: usize = (N_ROWS * N_COLUMNS) as usize;

/// The column of pairs that have none yet.
const NO_COLUMN: u16 = 0;
/// The column of pairs that end in LF.
const LF_COLUMN: u16 = 1;

/// The number of an outcome that is not made yet, or that has no number.
pub const NO_OUTCOME: u16 = 0;

/// How many outcomes can have a number, which is enough for all that are possible.
pub const N_OUTCOMES: usize = 4096;

/// The table over pairs of bytes.
pub struct LineTable {
    grammar: Grammar,
    /// For each state and column, the next state or the number of an outcome. 0 if it is not made yet.
    cells: Box<[u32; N_CELLS]>,
    /// The column of each pair of bytes. Columns are numbered as lines need them, so that used ones are close together.
    of_pair: Box<[u16; 1 << 16]>,
    /// First half: the column of a line that ends here. Second half: the column of each byte with which a line ends.
    of_last: [u16; 2 << 8],
    n_columns: u16,
    /// The columns of pairs that begin with LF, and where they lead from any state.
    behind_lf: Vec<(u16, LineState)>,
    /// What each row stands for. The first is [`LineState::UNMADE`].
    rows: Vec<Progress>,
    numbers: HashMap<Progress, LineState, RandomState>,
    outcomes: Vec<Outcome>,
    outcome_numbers: HashMap<Outcome, u16, RandomState>,
}

impl LineTable {
    /// The table for `grammar`: the `kept` one, if it is of this grammar and has room, and otherwise a new one, which is kept.
    pub fn of(kept: &mut Option<Box<Self>>, grammar: Grammar) -> &mut Self {
        let reusable = kept.take().filter(|table| table.grammar == grammar && !table.is_full());
        kept.insert(reusable.unwrap_or_else(|| Box::new(Self::new(grammar))))
    }

    fn new(grammar: Grammar) -> Self {
        let all = "as many as are asked for";
        let none = Outcome::plain(None, Verdict::default());
        let mut table = Self {
            grammar,
            cells: vec![0; N_CELLS].into_boxed_slice().try_into().expect(all),
            of_pair: vec![NO_COLUMN; 1 << 16].into_boxed_slice().try_into().expect(all),
            of_last: [NO_COLUMN; 2 << 8],
            n_columns: LF_COLUMN,
            behind_lf: Vec::new(),
            rows: Vec::new(),
            numbers: HashMap::default(),
            outcomes: vec![none],
            outcome_numbers: HashMap::default(),
        };
        let column = table.new_column();
        debug_assert_eq!(column, Some(LF_COLUMN));
        for first in 0..=u8::MAX {
            table.of_pair[usize::from(u16::from_le_bytes([first, b'\n']))] = LF_COLUMN;
        }
        table.cells[usize::from(LF_COLUMN)] = LineState::START.0;
        let start = table.row_of(&Progress::START);
        debug_assert!(start == Some(LineState::START));
        table
    }

    /// The outcome of `line`, by its number. The defect of a line that [is long](is_long) depends on its beginning alone, so its kind is not known.
    #[inline(always)]
    pub fn outcome_of(&self, number: u16, line: &[u8]) -> Outcome {
        let mut outcome = match self.outcomes.get(usize::from(number)) {
            Some(outcome) if number != NO_OUTCOME => *outcome,
            _ => outcome_by_bytes(self.grammar, line),
        };
        if is_long(line.len()) && outcome.refusal != Refusal::None {
            outcome.refusal = Refusal::Unknown;
        }
        outcome
    }

    /// The grammars that accept `line`, and its advisories, by the number of its outcome.
    #[inline(always)]
    pub fn verdict_of(&self, number: u16, line: &[u8]) -> (Verdict, Advisories) {
        match self.outcomes.get(usize::from(number)) {
            Some(outcome) if number != NO_OUTCOME => (outcome.verdict, outcome.advisories),
            _ => self.verdict_by_bytes(line),
        }
    }

    #[cold]
    #[inline(never)]
    fn verdict_by_bytes(&self, line: &[u8]) -> (Verdict, Advisories) {
        let outcome = outcome_by_bytes(self.grammar, line);
        (outcome.verdict, outcome.advisories)
    }

    /// All outcomes so far, by their numbers. The first is none.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    #[inline(always)]
    fn cell(&self, state: LineState, column: u16) -> u32 {
        self.cells[state.0 as usize + usize::from(column)]
    }

    /// The state after two more bytes.
    #[inline(always)]
    pub fn after(&self, state: LineState, pair: [u8; 2]) -> LineState {
        LineState(self.cell(state, self.of_pair[usize::from(u16::from_le_bytes(pair))]))
    }

    /// The number of the outcome of a line. A blank line has none.
    pub fn outcome_of_line(&mut self, line: &[u8]) -> u16 {
        let (pairs, last) = line.as_chunks();
        let state = pairs.iter().fold(LineState::START, |state, &pair| self.after(state, pair));
        match self.at_end(state, !last.is_empty(), last.first().copied().unwrap_or(0)) {
            NO_OUTCOME => self.make(line, false),
            number => number,
        }
    }

    /// The number of the outcome of a line that ends here or, if `more`, after one more byte `last`. If it is [`NO_OUTCOME`],
    /// [`Self::make`] makes it.
    ///
    /// One look-up serves both cases. Whether a line ends at an odd offset is not predictable, so a branch would often be
    /// mispredicted.
    #[inline(always)]
    pub fn at_end(&self, state: LineState, more: bool, last: u8) -> u16 {
        let [low, high, ..] = self.cell(state, self.of_last[place_of_last(more, last)]).to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    /// Makes the cells that `line` needs, and returns the number of its outcome. If `is_odd`, the first byte of the line is the
    /// second of its pair. A blank line has no outcome.
    #[cold]
    #[inline(never)]
    pub fn make(&mut self, line: &[u8], is_odd: bool) -> u16 {
        if line.is_empty() {
            return NO_OUTCOME;
        }
        self.try_to_make(line, is_odd).unwrap_or(NO_OUTCOME)
    }

    /// Does what [`Self::make`] does; `None` if there is no room.
    fn try_to_make(&mut self, line: &[u8], is_odd: bool) -> Option<u16> {
        let mut progress = Progress::START;
        let (mut state, mut at) = (LineState::START, 0);
        if is_odd {
            progress.read(self.grammar, line, 0);
            state = self.row_of(&progress)?;
            let pair = u16::from_le_bytes([b'\n', line[0]]);
            if self.of_pair[usize::from(pair)] == NO_COLUMN {
                let column = self.column_of(pair)?;
                self.behind_lf.push((column, state));
                for row in self.cells.chunks_mut(N_COLUMNS as usize).take(1 + self.rows.len()) {
                    row[usize::from(column)] = state.0;
                }
            }
            at = 1;
        }
        while let Some(&[first, second]) = line.get(at..at + 2) {
            let column = self.column_of(u16::from_le_bytes([first, second]))?;
            let mut next = LineState(self.cell(state, column));
            if next == LineState::UNMADE {
                progress.read(self.grammar, line, at);
                progress.read(self.grammar, line, at + 1);
                next = self.row_of(&progress)?;
                self.cells[state.0 as usize + usize::from(column)] = next.0;
            } else {
                progress = self.rows[(next.0 / N_COLUMNS) as usize - 1].clone();
            }
            (state, at) = (next, at + 2);
        }
        let (more, last) = (at < line.len(), line.get(at).copied().unwrap_or(0));
        if more {
            progress.read(self.grammar, line, at);
        }
        let number = self.number_of(progress.outcome(self.grammar, line))?;
        let column = self.column_of_last(more, last)?;
        self.cells[state.0 as usize + usize::from(column)] = number.into();
        Some(number)
    }

    /// Whether there is no room for another row or column.
    fn is_full(&self) -> bool {
        self.rows.len() + 1 == N_ROWS as usize || u32::from(self.n_columns) == N_COLUMNS
    }

    /// The row of a state, a new one if there is none. `None` if there is no room.
    fn row_of(&mut self, progress: &Progress) -> Option<LineState> {
        if let Some(&known) = self.numbers.get(progress) {
            return Some(known);
        }
        if self.is_full() {
            return None;
        }
        self.rows.push(progress.clone());
        let state = LineState(u32::try_from(self.rows.len()).ok()? * N_COLUMNS);
        let row = &mut self.cells[state.0 as usize..][..N_COLUMNS as usize];
        row[usize::from(LF_COLUMN)] = LineState::START.0;
        for &(column, next) in &self.behind_lf {
            row[usize::from(column)] = next.0;
        }
        self.numbers.insert(progress.clone(), state);
        Some(state)
    }

    /// The column of a pair, a new one if there is none. `None` if there is no room.
    fn column_of(&mut self, pair: u16) -> Option<u16> {
        if self.of_pair[usize::from(pair)] == NO_COLUMN {
            let column = self.new_column()?;
            for pair in PairKinds::of(self.grammar).like(pair) {
                self.of_pair[usize::from(pair)] = column;
            }
        }
        Some(self.of_pair[usize::from(pair)])
    }

    /// The column of a line that ends here or, if `more`, after `last`. `None` if there is no room.
    fn column_of_last(&mut self, more: bool, last: u8) -> Option<u16> {
        let place = place_of_last(more, last);
        if self.of_last[place] == NO_COLUMN {
            let column = self.new_column()?;
            let of_byte = &PairKinds::of(self.grammar).of_byte;
            for other in 0..=u8::MAX {
                // Nothing depends on the byte that follows a line.
                if !more || of_byte[usize::from(other)] == of_byte[usize::from(last)] {
                    self.of_last[place_of_last(more, other)] = column;
                }
            }
        }
        Some(self.of_last[place])
    }

    fn new_column(&mut self) -> Option<u16> {
        (!self.is_full()).then(|| {
            self.n_columns += 1;
            self.n_columns - 1
        })
    }

    /// The number of an outcome, a new one if there is none. `None` if there is no room.
    fn number_of(&mut self, outcome: Outcome) -> Option<u16> {
        if let Some(&known) = self.outcome_numbers.get(&outcome) {
            return Some(known);
        }
        let number = small(self.outcomes.len());
        if usize::from(number) == N_OUTCOMES {
            return None;
        }
        self.outcomes.push(outcome);
        self.outcome_numbers.insert(outcome, number);
        Some(number)
    }
}

/// The place in [`LineTable::of_last`] of a line that ends here or, if `more`, after one more byte `last`.
#[inline(always)]
fn place_of_last(more: bool, last: u8) -> usize {
    usize::from(more) << 8 | usize::from(last)
}

/// Whether [`beginning`](urlsift_grammar::uri_parts::beginning) leaves out a part of a line. Such lines are not counted in bulk by their outcome.
#[inline(always)]
pub fn is_long(len: usize) -> bool {
    len > BEGINNING
}

/// A number of kinds, columns or outcomes.
fn small(n: usize) -> u16 {
    u16::try_from(n).expect("some thousand at most")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line_automaton::SchemeOf;
    use std::collections::HashSet;
    use urlsift_grammar::component::Component;
    use urlsift_grammar::judge::judge;
    use urlsift_grammar::random::Random;
    use urlsift_grammar::scheme::find_known;

    /// Lines of the corpora of this repository, which lead to all states that its lines lead to.
    fn corpus_lines() -> Vec<Vec<u8>> {
        let lines = include_bytes!("line_table/lines.txt").split(|&byte| byte == b'\n');
        lines.filter(|line| !line.is_empty()).map(<[u8]>::to_vec).collect()
    }

    /// Compares the table with the judge.
    fn check(table: &mut LineTable, line: &[u8]) {
        let number = table.outcome_of_line(line);
        let outcome = table.outcome_of(number, line);
        let judgement = judge(line);
        let text = line.escape_ascii();
        assert_eq!(outcome.verdict, judgement.verdict(), "{text}");
        let known = judgement.scheme().map(find_known);
        let scheme = match known {
            None => SchemeOf::None,
            Some(Some(known)) => SchemeOf::Known(known),
            Some(None) => SchemeOf::Other,
        };
        assert_eq!(outcome.scheme, scheme, "{text}");
        assert_eq!(outcome.advisories, judgement.advisories(), "{text}");
        match (outcome.refusal, judgement.defect(table.grammar)) {
            (Refusal::Unknown, Some(_)) if is_long(line.len()) => {}
            (Refusal::Unknown, Some(defect)) => assert_eq!(defect.component, Component::Scheme, "{text}"),
            (Refusal::Kind(component, cause), Some(defect)) => {
                assert_eq!((component, cause), (defect.component, defect.cause), "{text}");
            }
            (refusal, defect) => assert_eq!((refusal, defect), (Refusal::None, None), "{text}"),
        }
    }

    /// A long line makes states that short lines reach too. Its own defect depends on its beginning alone.
    #[test]
    fn long_lines_make_the_states_of_short_ones() {
        let ends = ["http://seven:-1/", "://h:8a/", "a?b#c#", "?b c", "/a b", "://u&v:w/x", "://a:b#c"];
        for grammar in Grammar::ALL {
            for end in ends {
                let (mut kept, long) = (None, "x".repeat(BEGINNING) + end);
                let table = LineTable::of(&mut kept, grammar);
                for from in [0, BEGINNING - 2] {
                    check(table, &long.as_bytes()[from..]);
                }
            }
        }
    }

    /// Lines of the corpora and changed ones, in an order that makes the cells by other lines than those that use them.
    #[test]
    fn outcomes_are_those_of_the_judge() {
        let lines = corpus_lines();
        let mut random = Random::new(1);
        for grammar in Grammar::ALL {
            let mut table = LineTable::new(grammar);
            for turn in 0..120_000 {
                let mut line = lines[random.below(lines.len())].clone();
                if turn % 8 > 0 {
                    change(&mut line, &mut random);
                }
                if !line.is_empty() {
                    check(&mut table, &line);
                }
            }
        }
    }

    #[test]
    fn schemes_are_those_of_the_judge() {
        let mut table = LineTable::new(Grammar::Rfc3986);
        for known in &KNOWN {
            for at in 0..known.name.len() {
                for byte in (0..=u8::MAX).filter(|&byte| byte != b'\n') {
                    let mut line = [known.name.as_bytes(), b":x"].concat();
                    line[at] = byte;
                    check(&mut table, &line);
                }
            }
        }
    }

    fn change(line: &mut Vec<u8>, random: &mut Random) {
        const TEXTS: [&[u8]; 29] = [
            b"http://", b"HTTPS:", b"ftp://", b"File:", b"httpx:", b"a_b:", b"mailto:", b"gopher://",
            b"news:", b"url:", b"mid:", b"wais://", b"UDP://", b"mailserver:", b"z39.50:", b"tn3270:",
            b"javascript:", b":80", b":21/", b":0025", b":1023", b":1024/", b"u:p@", b"[::1]", b"%2F",
            b"%0d", b"%3b", b"%0", b"%zz",
        ];
        const BYTES: &[u8] = b"::://////??##[]@@%%;=&+-._~!\"09afAFhtpsHTPS \\|^<\t\r\x00\x7f\x80\xff";
        for _ in 0..=random.below(3) {
            let at = random.below(line.len().min(40) + 1);
            let end = at + random.below(3).min(line.len() - at);
            let byte = [BYTES[random.below(BYTES.len())]];
            let text = if random.below(2) == 0 { TEXTS[random.below(TEXTS.len())] } else { &byte };
            line.splice(at..end, text.iter().copied());
        }
    }

    /// Pairs of bytes of one kind lead from each state that lines have come to, to the same state.
    #[test]
    fn pairs_of_a_kind_are_alike() {
        let mut random = Random::new(3);
        let mut lines = corpus_lines();
        lines.retain(|line| line.len() < 60);
        for grammar in Grammar::ALL {
            let kinds = PairKinds::of(grammar);
            let mut alike_of_kind = HashMap::new();
            // A line that leads to each state.
            let mut beginnings: HashMap<Progress, Vec<u8>> = HashMap::new();
            for line in &lines {
                let mut progress = Progress::START;
                for at in 0..line.len() {
                    progress.read(grammar, line, at);
                    beginnings.entry(progress.clone()).or_insert_with(|| line[..=at].to_vec());
                }
            }
            for (progress, beginning) in beginnings {
                for _ in 0..50 {
                    let pair = u16::try_from(random.below(1 << 16)).unwrap();
                    if pair.to_le_bytes().contains(&b'\n') {
                        continue;
                    }
                    let alike = alike_of_kind
                        .entry(kinds.kind(pair))
                        .or_insert_with(|| kinds.like(pair).collect::<Vec<_>>());
                    let ends: HashSet<Progress> = (0..4)
                        .map(|_| {
                            let line =
                                [&beginning[..], &alike[random.below(alike.len())].to_le_bytes()].concat();
                            let mut progress = progress.clone();
                            progress.read(grammar, &line, beginning.len());
                            progress.read(grammar, &line, beginning.len() + 1);
                            progress
                        })
                        .collect();
                    assert_eq!(ends.len(), 1, "{} {pair:04x}", beginning.escape_ascii());
                }
            }
        }
    }

    #[test]
    fn a_full_table_still_gives_outcomes() {
        let mut table = LineTable::new(Grammar::Rfc3986);
        let mut random = Random::new(5);
        let lines = corpus_lines();
        while !table.is_full() {
            let mut line = lines[random.below(lines.len())].clone();
            change(&mut line, &mut random);
            table.outcome_of_line(&line);
        }
        for _ in 0..2000 {
            let mut line = lines[random.below(lines.len())].clone();
            change(&mut line, &mut random);
            if !line.is_empty() {
                check(&mut table, &line);
            }
        }
        assert!(!LineTable::of(&mut Some(Box::new(table)), Grammar::Rfc3986).is_full());
    }
}
