//! Finds the records of a JSON text of any size: the elements of an array, or the values of a sequence.
//!
//! The text outside of records is followed byte by byte, and a value in it that is not wanted is passed over in pieces. So only
//! a record and a key are held whole. A record ends where its brackets close, whatever is between them. If the text outside of
//! records is damaged, no place after that is sure, and the rest is not read.

use memchr::memchr;
use serde::de::IgnoredAny;

use super::skip::{Skip, Window};
use super::{Path, SEPARATORS, Token, Wanted, read, skip_blanks, unescape};
use crate::record::Begins;
use crate::separators::Set;
use crate::{
    BadCause, Cursor, Cut, Gap, MAX_RECORD_LEN, Miss, Parts, Record, RecordReader, Role, Selector, n_lines,
};

/// A position in a JSON text, and what is wanted from the text.
#[derive(Clone, Debug, Default)]
pub struct Document {
    wanted: Wanted,
    /// The path from a value at the top to the array or object whose children are records.
    stem: Vec<Token>,
    records: Records,
    /// What is wanted from the entries of a HAR, if these are recognised.
    har: Option<Wanted>,
    /// The arrays and objects around the position that have or may have records.
    open: Vec<Level>,
    expects: Expects,
    /// Whether the next value has the wanted key.
    is_wanted: bool,
    /// Whether the next token of `stem` is still searched for in the innermost level.
    searching: bool,
    /// Whether the value at `stem` was found.
    found: bool,
    /// The record at the position, after [`Document::seek`].
    next: Option<Kind>,
    /// The offset in the input at which the text is damaged.
    damage: Option<u64>,
    window: Window,
}

/// Which values are records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Records {
    /// Those at the top, and the elements of an array there.
    #[default]
    AtTop,
    /// The children of the value at the stem.
    AtStem,
}

/// An array or object that is open.
#[derive(Clone, Copy, Debug)]
struct Level {
    is_array: bool,
    /// The index of the next element.
    index: usize,
    role: LevelRole,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LevelRole {
    /// An array at the top, whose elements are taken for values at the top.
    Top,
    /// A value on the stem, and how many tokens of the stem precede it.
    Stem(usize),
    /// Its children are records.
    Records,
}

/// What follows in the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Expects {
    #[default]
    Value,
    /// A value, or the end of an empty array.
    FirstValue,
    Key,
    /// A key, or the end of an empty object.
    FirstKey,
    Colon,
    /// A comma, or the end of the array or object.
    Separator,
    /// The rest of a value that is passed over.
    Rest(Skip),
    /// The rest of a key that is too long.
    RestOfKey(Skip),
    /// Nothing, because the text is damaged.
    Nothing,
}

/// What begins at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A record.
    Value,
    /// A value that lacks the wanted array or object.
    Lacking,
    /// The end of a value that lacks it.
    EndOfLacking,
    /// Damage.
    Damage,
}

/// What becomes of a value.
enum Action {
    Is(Kind),
    Enter(LevelRole),
    PassOver,
    /// It depends on bytes that are missing.
    Wait,
}

/// How many bytes of a value tell whether it is a HAR.
const HAR_HEAD: usize = 4096;

/// Whether a value is a HAR (HTTP Archive 1.2); `None` if more bytes are needed.
fn is_har(value: &[u8]) -> Option<bool> {
    const KEYS: [&[u8]; 6] =
        [b"\"version\"", b"\"creator\"", b"\"browser\"", b"\"pages\"", b"\"entries\"", b"\"comment\""];
    let head = &value[..value.len().min(HAR_HEAD)];
    let more = || if head.len() < HAR_HEAD { None } else { Some(false) };
    let mut at = 0;
    for token in [&b"{"[..], b"\"log\"", b":", b"{"] {
        at = skip_blanks(head, at);
        let rest = &head[at..];
        if !rest.starts_with(token) {
            return if token.starts_with(rest) { more() } else { Some(false) };
        }
        at += token.len();
    }
    let rest = &head[skip_blanks(head, at)..];
    if KEYS.iter().any(|key| rest.starts_with(key)) {
        return Some(true);
    }
    if KEYS.iter().any(|key| key.starts_with(rest)) { more() } else { Some(false) }
}

/// How many bytes tell whether an input is a JSON text of several lines or records.
const HEAD: usize = 4096;

/// Whether an input begins as a JSON text that is not one value per line.
pub fn begins(head: &[u8]) -> Begins {
    match is_document(head) {
        Some(false) => Begins::No,
        None => Begins::Perhaps,
        Some(true) if head.len() < HEAD => Begins::Likely,
        Some(true) => Begins::Yes,
    }
}

/// Whether an input that begins with `head` is a JSON text that is not one value per line: an array, a value that spans lines,
/// or a HAR. `None` if this is open. A damaged text is none.
fn is_document(head: &[u8]) -> Option<bool> {
    let is_open = head.len() < HEAD;
    let head = &head[..head.len().min(HEAD)];
    let start = skip_blanks(head, 0);
    let text = &head[start..];
    let unsure = if is_open { None } else { Some(false) };
    let is_likely = match text.first() {
        Some(b'[') => match text.get(skip_blanks(text, 1)) {
            Some(b'{' | b'"' | b'[') => Some(true),
            Some(_) => Some(false),
            None => unsure,
        },
        Some(b'{') => {
            let mut skip = Skip::after(b'{')?;
            let end = Window::default().pass(&mut skip, text, 0, 1);
            let spans_lines = memchr(b'\n', &text[..end.unwrap_or(text.len())]).is_some();
            match is_har(text) {
                _ if spans_lines => Some(true),
                Some(false) | None if end.is_some() => Some(false),
                Some(true) => Some(true),
                _ => unsure,
            }
        }
        Some(_) => Some(false),
        None => unsure,
    };
    if is_likely == Some(false) || begins_as_json(text) { is_likely } else { Some(false) }
}

/// Whether the first [`HEAD`] bytes of a text are JSON values. The last one may be cut off.
pub fn begins_as_json(text: &[u8]) -> bool {
    let head = &text[..text.len().min(HEAD)];
    let mut values = serde_json::Deserializer::from_slice(head).into_iter::<IgnoredAny>();
    values.all(|value| value.map_or_else(|error| error.is_eof(), |_| true))
}

impl Document {
    /// A position at the start of a text. The error is the index of a field that is no path.
    pub fn new(fields: &[Selector]) -> Result<Self, usize> {
        let mut wanted = Wanted::new(fields)?;
        let (mut stem, mut records, mut har) = (Vec::new(), Records::AtTop, None);
        match &mut wanted {
            Wanted::Paths(paths) => {
                if let Some(common) = Path::common_stem(paths) {
                    // The first `*` goes with what precedes it.
                    for path in paths.iter_mut() {
                        path.tokens.drain(..=common.len());
                    }
                    (stem, records) = (common, Records::AtStem);
                }
            }
            Wanted::Usual => {
                stem = ["log", "entries"].map(Token::new).to_vec();
                har = Some(Wanted::Paths(vec![Path::of(&["request", "url"], Role::Url)]));
            }
        }
        Ok(Self { wanted, stem, records, har, ..Self::default() })
    }

    /// Where the record at `at` ends, if it ends in `text`. A number at the end of the input is whole.
    #[inline]
    fn extent(&mut self, kind: Kind, text: &[u8], offset: u64, at: usize, ended: bool) -> Option<usize> {
        match kind {
            Kind::Damage => Some(text.len()),
            Kind::EndOfLacking => Some(at + 1),
            Kind::Value | Kind::Lacking => {
                let (end, skip) = self.pass(text, offset, at);
                let is_whole = ended && skip == Skip::Word && text.len() - at <= MAX_RECORD_LEN;
                end.or(is_whole.then_some(text.len()))
            }
        }
    }

    /// Where the value at `at` ends. If that is not in `text`, also the state at the end of `text`.
    #[inline]
    fn pass(&mut self, text: &[u8], offset: u64, at: usize) -> (Option<usize>, Skip) {
        let mut skip = Skip::after(text[at]).expect("a value begins here");
        let end = self.window.pass(&mut skip, text, offset, at + 1);
        (end, skip)
    }

    /// Moves past the record at `at`, which ends in `text` if `is_whole`.
    #[inline]
    fn leave(&mut self, kind: Kind, text: &[u8], offset: u64, at: usize, is_whole: bool) {
        match kind {
            Kind::Damage => {
                self.expects = Expects::Nothing;
                self.damage = Some(offset + at as u64);
            }
            Kind::EndOfLacking => self.close(),
            Kind::Value | Kind::Lacking => {
                self.searching = false;
                self.expects = self.behind_value();
            }
        }
        if !is_whole {
            self.expects = Expects::Rest(self.pass(text, offset, at).1);
        }
    }

    /// What follows a value.
    #[inline]
    fn behind_value(&self) -> Expects {
        if self.open.is_empty() { Expects::Value } else { Expects::Separator }
    }

    fn close(&mut self) {
        self.open.pop();
        // If two members have the same name, the first one counts.
        self.searching = false;
        self.expects = self.behind_value();
    }

    /// Moves on from byte `at` of `text` to the next record. Returns its position and kind, or how far the text is done. If more
    /// bytes may come (`ended` is false), a key that is not whole stays.
    fn advance(&mut self, text: &[u8], offset: u64, mut at: usize, ended: bool) -> (usize, Option<Kind>) {
        loop {
            match &mut self.expects {
                Expects::Rest(skip) | Expects::RestOfKey(skip) => {
                    let Some(end) = self.window.pass(skip, text, offset, at) else {
                        return (text.len(), None);
                    };
                    at = end;
                    self.expects = match self.expects {
                        Expects::RestOfKey(_) => Expects::Colon,
                        _ => self.behind_value(),
                    };
                }
                Expects::Nothing => return (text.len(), None),
                _ => {}
            }
            at = skip_blanks(text, at);
            let Some(&byte) = text.get(at) else { return (at, None) };
            let is_array = self.open.last().is_none_or(|level| level.is_array);
            let close = if is_array { b']' } else { b'}' };
            match (self.expects, byte) {
                (Expects::Separator, b',') => {
                    self.open.iter_mut().last().into_iter().for_each(|level| level.index += 1);
                    self.expects = if is_array { Expects::Value } else { Expects::Key };
                }
                (Expects::Colon, b':') => self.expects = Expects::Value,
                (Expects::Separator | Expects::FirstValue | Expects::FirstKey, _) if byte == close => {
                    // The innermost level may turn out to lack what is wanted.
                    let is_lacking = |level: &Level| level.role == LevelRole::Stem(0) && !self.found;
                    if self.open.last().is_some_and(is_lacking) {
                        return (at, Some(Kind::EndOfLacking));
                    }
                    self.close();
                }
                (Expects::Key | Expects::FirstKey, b'"') => match self.key(text, offset, at, ended) {
                    Ok(quote) => at = quote,
                    Err(done) => return (done, None),
                },
                (Expects::Value | Expects::FirstValue, _) => match self.action(&text[at..], ended) {
                    Action::Is(kind) => return (at, Some(kind)),
                    Action::Enter(role) => self.enter(byte, role),
                    Action::PassOver => {
                        self.expects = Expects::Rest(Skip::after(byte).expect("a value begins here"));
                    }
                    Action::Wait => return (at, None),
                },
                _ => return (at, Some(Kind::Damage)),
            }
            at += 1;
        }
    }

    /// Moves past the key at `at`. Returns where its last quote is. If it is not whole, the error is how far the text is done.
    fn key(&mut self, text: &[u8], offset: u64, at: usize, ended: bool) -> Result<usize, usize> {
        let (end, skip) = self.pass(text, offset, at);
        let Some(end) = end else {
            if !ended && text.len() - at <= MAX_RECORD_LEN {
                return Err(at);
            }
            (self.is_wanted, self.expects) = (false, Expects::RestOfKey(skip));
            return Err(text.len());
        };
        let name = match self.open.last().map(|level| level.role) {
            Some(LevelRole::Stem(n)) if self.searching => Some(&self.stem[n].name),
            _ => None,
        };
        self.is_wanted = name.is_some_and(|name| {
            let raw = &text[at + 1..end - 1];
            raw == name || raw.contains(&b'\\') && unescape(&text[at..end]).is_some_and(|said| said == *name)
        });
        self.expects = Expects::Colon;
        Ok(end - 1)
    }

    fn enter(&mut self, byte: u8, role: LevelRole) {
        let is_array = byte == b'[';
        self.expects = if is_array { Expects::FirstValue } else { Expects::FirstKey };
        self.searching = matches!(role, LevelRole::Stem(_));
        self.found |= role == LevelRole::Records;
        self.open.push(Level { is_array, index: 0, role });
    }

    /// What becomes of the value at the start of `text`.
    #[inline]
    fn action(&mut self, text: &[u8], ended: bool) -> Action {
        let byte = text[0];
        if Skip::after(byte).is_none() {
            return Action::Is(Kind::Damage);
        }
        match self.open.last() {
            Some(Level { role: LevelRole::Records, .. }) => Action::Is(Kind::Value),
            Some(&Level { role: LevelRole::Stem(n), is_array, index }) => {
                let is_it = self.searching
                    && if is_array { self.stem[n].index == Some(index) } else { self.is_wanted };
                if !is_it {
                    return Action::PassOver;
                }
                self.descend(n + 1, byte, false)
            }
            outer => {
                let is_top = outer.is_none();
                self.found = false;
                if self.har.is_some() {
                    // Most objects begin with another key.
                    let is_other = matches!(text, [b'{', b'"', letter, ..] if *letter != b'l');
                    self.records = match if is_other { Some(false) } else { is_har(text) } {
                        None if !ended => return Action::Wait,
                        Some(true) => Records::AtStem,
                        _ => Records::AtTop,
                    };
                }
                if self.records == Records::AtStem {
                    self.descend(0, byte, is_top)
                } else if is_top && byte == b'[' {
                    Action::Enter(LevelRole::Top)
                } else {
                    Action::Is(Kind::Value)
                }
            }
        }
    }

    /// What becomes of a value to which the first `n` tokens of the stem lead.
    fn descend(&mut self, n: usize, byte: u8, is_top: bool) -> Action {
        let is_nested = matches!(byte, b'{' | b'[');
        let Some(token) = self.stem.get(n) else {
            self.found = true;
            return if is_nested { Action::Enter(LevelRole::Records) } else { Action::Is(Kind::Lacking) };
        };
        if byte == b'{' || byte == b'[' && token.index.is_some() {
            Action::Enter(LevelRole::Stem(n))
        } else if byte == b'[' && is_top {
            Action::Enter(LevelRole::Top)
        } else if n == 0 {
            Action::Is(Kind::Lacking)
        } else {
            self.searching = false;
            Action::PassOver
        }
    }
}

impl RecordReader for Document {
    /// Reads the record that [`Document::seek`] found.
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let kind = self.next.take().expect("a record was found here");
        let (text, at, offset) = (cursor.rest(), cursor.at, cursor.offset());
        let end = self.extent(kind, text, offset, 0, true);
        let len = end.unwrap_or(text.len());
        self.leave(kind, text, offset, 0, end.is_some());
        let mut parts = Parts::new(&mut cursor.more);
        let outcome = match kind {
            Kind::Damage => Err(Miss::Bad(BadCause::BadJson, 0)),
            Kind::EndOfLacking => Err(Miss::Skipped(crate::Skip::NoField)),
            _ if len > MAX_RECORD_LEN => Err(Miss::Bad(BadCause::TooLong, MAX_RECORD_LEN)),
            _ if end.is_none() => Err(Miss::Bad(BadCause::CutOff, len)),
            Kind::Lacking => Err(Miss::Skipped(crate::Skip::NoField)),
            Kind::Value => {
                let har = self.har.as_ref().filter(|_| self.records == Records::AtStem);
                read(&mut cursor.marks, at..at + len, 0, har.unwrap_or(&self.wanted), &mut parts)
            }
        };
        Record::new(len, n_lines(&text[..len]), parts, outcome)
    }

    fn separators(&self) -> Set {
        SEPARATORS
    }

    fn cut(&mut self, text: &[u8], offset: u64, ended: bool) -> Cut {
        let mut at = 0;
        loop {
            let (start, kind) = self.advance(text, offset, at, ended);
            let Some(kind) = kind else { return Cut::at(start) };
            let end = self.extent(kind, text, offset, start, ended);
            if end.is_none() && !ended && text.len() - start <= MAX_RECORD_LEN {
                return Cut::at(start);
            }
            self.leave(kind, text, offset, start, end.is_some());
            at = end.unwrap_or(text.len());
        }
    }

    fn seek(&mut self, text: &[u8], offset: u64) -> Gap {
        let at;
        (at, self.next) = self.advance(text, offset, 0, true);
        Gap::of(&text[..at])
    }

    fn complaint(&self) -> Option<String> {
        if let Some(at) = self.damage {
            return Some(format!("is no JSON from byte {} on; the rest was not read", at + 1));
        }
        let is_whole = self.open.is_empty() && self.expects == Expects::Value;
        (!is_whole).then(|| "ends inside a JSON value".to_owned())
    }
}
