//! The automaton of a line: what is known of a line after each of its bytes, and its [`Outcome`] at the end.
//!
//! It is the product of four: the automaton of all grammars, the labelled one of the chosen grammar, the names of schemes, and
//! the scan for advisories. It would have some ten thousand states, and a list visits some hundred. `line_table` makes a
//! fast table of those.

use urlsift_grammar::advisory::{Advisories, AdvisoryScan};
use urlsift_grammar::automaton::{State, Tracker, labelled_after};
use urlsift_grammar::component::Component;
use urlsift_grammar::defect::{Cause, Defect};
use urlsift_grammar::scheme::{KNOWN, find_known, is_scheme_byte};
use urlsift_grammar::{Grammar, Verdict};

/// Everything that is counted of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Outcome {
    /// The grammars that accept it.
    pub verdict: Verdict,
    pub scheme: SchemeOf,
    pub advisories: Advisories,
    pub refusal: Refusal,
}

impl Outcome {
    /// The outcome of a line without advisories that the chosen grammar accepts.
    pub fn plain(known: Option<usize>, verdict: Verdict) -> Self {
        let scheme = known.map_or(SchemeOf::None, SchemeOf::Known);
        Self { verdict, scheme, advisories: Advisories::default(), refusal: Refusal::None }
    }
}

/// The scheme of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SchemeOf {
    /// It has none.
    None,
    /// Its place among the known schemes.
    Known(usize),
    /// It is not known. Its name has to be looked at.
    Other,
}

/// Why the chosen grammar refuses a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It does not.
    None,
    /// The component and the cause of its defect.
    Kind(Component, Cause),
    /// The line has to be looked at.
    Unknown,
}

/// What has been read of a line.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Progress {
    state: State,
    chosen: Chosen,
    scheme: SchemeProgress,
    part: Part,
    /// The scan of the bytes after the scheme. `None` in the scheme, and once no grammar can accept the line.
    scan: Option<AdvisoryScan>,
}

/// The chosen grammar.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Chosen {
    /// Its labelled automaton is in this state.
    Alive(u32),
    Refuses(Refusal),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SchemeProgress {
    /// Only bytes that a scheme may contain. If they begin the name of a known scheme: the place of the first such scheme, and the
    /// number of bytes.
    Open(Option<(usize, usize)>),
    Ended(SchemeOf),
}

/// The part of a line that its delimiters show.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Part {
    BeforeQuery,
    Query,
    Fragment,
}

impl Progress {
    /// Nothing has been read.
    pub(super) const START: Self = Self {
        state: State::START,
        chosen: Chosen::Alive(0),
        scheme: SchemeProgress::Open(None),
        part: Part::BeforeQuery,
        scan: None,
    };

    /// Reads byte `at` of a line.
    pub(super) fn read(&mut self, grammar: Grammar, line: &[u8], at: usize) {
        let byte = line[at];
        self.state = if byte.is_ascii() { self.state.step_ascii(byte) } else { State::DEAD };
        if let Chosen::Alive(state) = self.chosen {
            self.chosen = match labelled_after(grammar, state, byte) {
                Some(state) => Chosen::Alive(state),
                None => Chosen::Refuses(refusal(grammar, line)),
            };
            self.part = match (self.part, byte) {
                (_, b'#') => Part::Fragment,
                (Part::BeforeQuery, b'?') => Part::Query,
                (part, _) => part,
            };
        }
        self.read_scheme(byte, at);
        // Lines that no grammar can accept any more have one state if they are counted alike.
        if self.state == State::DEAD {
            self.scan = None;
        }
        if matches!(self.chosen, Chosen::Refuses(_)) {
            self.part = Part::BeforeQuery;
        }
    }

    fn read_scheme(&mut self, byte: u8, at: usize) {
        let SchemeProgress::Open(name) = self.scheme else {
            self.scan.iter_mut().for_each(|scan| scan.byte(byte));
            return;
        };
        if is_scheme_byte(byte) {
            self.scheme = SchemeProgress::Open(longer_name(name, byte, at));
        } else if byte == b':' && at > 0 {
            let known = name.and_then(|(place, len)| find_known(&KNOWN[place].name.as_bytes()[..len]));
            self.scheme = SchemeProgress::Ended(known.map_or(SchemeOf::Other, SchemeOf::Known));
            self.scan = Some(AdvisoryScan::new(known));
        } else {
            self.scheme = SchemeProgress::Ended(SchemeOf::None);
            let mut scan =
                if at == 0 { AdvisoryScan::new(None) } else { AdvisoryScan::within_first_segment() };
            scan.byte(byte);
            self.scan = Some(scan);
        }
    }

    /// The outcome of a line that ends here.
    pub(super) fn outcome(&self, grammar: Grammar, line: &[u8]) -> Outcome {
        let verdict = self.state.verdict();
        let scan = self.scan.as_ref().filter(|_| !verdict.is_empty());
        Outcome {
            verdict,
            scheme: match self.scheme {
                SchemeProgress::Open(_) => SchemeOf::None,
                SchemeProgress::Ended(scheme) => scheme,
            },
            advisories: scan.map_or_else(Advisories::default, |scan| scan.clone().finish()),
            refusal: match self.chosen {
                Chosen::Alive(_) if verdict.accepts(grammar) => Refusal::None,
                Chosen::Alive(_) => refusal(grammar, line),
                Chosen::Refuses(refusal) => refusal,
            },
        }
    }
}

/// The first known scheme whose name begins with `name` and `byte`, and the length of these. `len` bytes have been
/// read.
fn longer_name(name: Option<(usize, usize)>, byte: u8, len: usize) -> Option<(usize, usize)> {
    let read = match name {
        Some((place, len)) => &KNOWN[place].name.as_bytes()[..len],
        None if len == 0 => b"",
        None => return None,
    };
    let begins = |place: &usize| {
        let name = KNOWN[*place].name.as_bytes();
        name.starts_with(read) && name.get(len) == Some(&byte.to_ascii_lowercase())
    };
    Some(((0..KNOWN.len()).find(begins)?, len + 1))
}

/// Why `grammar` refuses a line. The kind depends only on the state and the byte at which the grammar refuses, or it is unknown.
fn refusal(grammar: Grammar, line: &[u8]) -> Refusal {
    let mut tracker = Tracker::new(grammar);
    tracker.feed(line);
    let Some(Defect { component, cause, offset, .. }) = Defect::of_all(grammar, &tracker, line) else {
        return Refusal::None;
    };
    let read = usize::try_from(offset).map_or(line, |offset| &line[..line.len().min(offset + 1)]);
    // The draft looks for a scheme behind its prefix too.
    let may_be_scheme = grammar == Grammar::Draft1993 || read.iter().all(|&byte| is_scheme_byte(byte));
    match component {
        // Whether there is a scheme depends on later bytes.
        Component::Scheme if may_be_scheme => Refusal::Unknown,
        _ => Refusal::Kind(component, cause),
    }
}

/// The outcome of a line, byte by byte.
pub(super) fn outcome_by_bytes(grammar: Grammar, line: &[u8]) -> Outcome {
    let mut progress = Progress::START;
    (0..line.len()).for_each(|at| progress.read(grammar, line, at));
    progress.outcome(grammar, line)
}
