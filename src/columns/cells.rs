//! The cells of a column, one for each line of a batch. What writes cells knows their types, and no columns.

use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;

use urlsift_grammar::at_once;
use urlsift_grammar::defect::Defect;

/// The cells of a column. A cell without a value is absent.
#[derive(Debug)]
#[non_exhaustive]
pub enum Cells<'a> {
    /// Numbers.
    Numbers(Vec<Option<u64>>),
    /// Names. Many cells have the same name.
    Names(Names),
    /// Sets of these names. Bit `n` says whether a set contains name `n`.
    Sets(Vec<&'static str>, Vec<Option<u8>>),
    /// Lists of the numbers of these names.
    Lists(Vec<&'static str>, Vec<Option<Vec<u8>>>),
    /// Defects. Few lines have one.
    Defects(Vec<Option<Box<Defect>>>),
    /// Texts of the data, or of urlsift.
    Texts(Texts<'a>),
}

impl Cells<'_> {
    /// Whether cell `n`, which is a text, a name or a list of names, is `value` or is a list that has it. An empty list has "none" alone.
    pub(crate) fn has(&self, n: usize, value: Option<&[u8]>) -> bool {
        match self {
            Self::Texts(texts) => texts.get(n) == value,
            Self::Names(names) => names.get(n).map(str::as_bytes) == value,
            Self::Lists(names, lists) => match (&lists[n], value) {
                (None, None) => true,
                (Some(list), Some(value)) if list.is_empty() => value == b"none",
                (Some(list), Some(value)) => {
                    list.iter().any(|&one| names[usize::from(one)].as_bytes() == value)
                }
                _ => false,
            },
            Self::Numbers(_) | Self::Sets(..) | Self::Defects(_) => false,
        }
    }
}

/// Cells that hold the numbers of names.
#[derive(Debug, Default)]
pub struct Names {
    /// The names.
    pub names: Vec<Cow<'static, str>>,
    /// The number of the name in each cell; negative for an absent cell.
    pub numbers: Vec<i32>,
    /// Whether all columns of this kind have the same names.
    pub are_fixed: bool,
    known: HashMap<Box<str>, i32>,
}

impl Names {
    /// Cells that can have these names alone.
    pub fn fixed(
        names: impl IntoIterator<Item = &'static str>,
        numbers: impl Iterator<Item = Option<u8>>,
    ) -> Self {
        let numbers = numbers.map(|number| number.map_or(-1, i32::from)).collect();
        let names = names.into_iter().map(Cow::from).collect();
        Self { names, numbers, are_fixed: true, ..Self::default() }
    }

    /// Cells of any names.
    pub fn any<'n>(cells: impl Iterator<Item = Option<&'n str>>) -> Self {
        let mut names = Self::default();
        cells.for_each(|name| names.push(name));
        names
    }

    /// Appends a cell with any name.
    pub fn push(&mut self, name: Option<&str>) {
        let number = name.map_or(-1, |name| self.number(name));
        self.numbers.push(number);
    }

    fn number(&mut self, name: &str) -> i32 {
        // Most names are among the first.
        if let Some((_, number)) = self.names.iter().take(8).zip(0..).find(|(known, _)| *known == name) {
            return number;
        }
        let next = i32::try_from(self.names.len()).expect("fewer names than 2^31 in a column");
        let number = *self.known.entry(name.into()).or_insert(next);
        if number == next {
            self.names.push(name.to_owned().into());
        }
        number
    }

    /// The name in cell `n`, which must be there.
    #[must_use]
    pub fn get(&self, n: usize) -> Option<&str> {
        usize::try_from(self.numbers[n]).ok().map(|number| &*self.names[number])
    }
}

/// A text that is made for a cell.
pub(super) enum Made<'t> {
    /// The text. If it is in the text that is around all texts, it is not copied.
    Text(Cow<'t, [u8]>),
    /// It was appended to the buffer.
    Written,
}

impl Made<'_> {
    /// The text, which may be in the buffer.
    pub(super) fn into_text(self, buffer: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Text(text) => text.into_owned(),
            Self::Written => buffer,
        }
    }
}

impl<'t, T: Into<Cow<'t, [u8]>>> From<T> for Made<'t> {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// Texts. Most are parts of one longer text, and are not copied.
#[derive(Debug, Default)]
pub struct Texts<'a> {
    around: &'a [u8],
    /// The texts that are no parts of it, one behind the other.
    own: Vec<u8>,
    /// The offset and the length of each text; an offset in `own` is behind the length of `around`. The length of an absent text is [`ABSENT`].
    places: Vec<(usize, usize)>,
}

const ABSENT: usize = usize::MAX;

/// The most bytes that are reserved for texts to come, unless those so far have more.
const MAX_ROOM: usize = 64 << 20;

impl<'a> Texts<'a> {
    /// No texts yet, with room for `n`.
    pub(super) fn in_text(around: &'a [u8], n: usize) -> Self {
        Self { around, own: Vec::with_capacity(32 * n), places: Vec::with_capacity(n) }
    }

    /// Appends a text, or an absent one.
    #[inline(always)]
    pub(super) fn push(&mut self, text: Option<&[u8]>) {
        self.push_made(|_| Some(Made::Text(text?.into())));
    }

    /// Appends what `make` makes. It gets a buffer whose contents it keeps.
    #[inline(always)]
    pub(super) fn push_made<'t>(&mut self, make: impl FnOnce(&mut Vec<u8>) -> Option<Made<'t>>) {
        let before = self.own.len();
        let place = match make(&mut self.own) {
            None => {
                self.own.truncate(before);
                (0, ABSENT)
            }
            Some(Made::Written) => (self.around.len() + before, self.own.len() - before),
            Some(Made::Text(text)) => {
                let start = offset_in(self.around, &text).unwrap_or_else(|| {
                    self.own.extend_from_slice(&text);
                    self.around.len() + before
                });
                (start, text.len())
            }
        };
        self.places.push(place);
    }

    /// Copies texts behind the own ones.
    fn append(&mut self, other: &Texts<'_>) {
        self.make_room(other.len());
        if other.around.is_empty() {
            let start = self.around.len() + self.own.len();
            self.own.extend_from_slice(&other.own);
            self.places.extend(other.places.iter().map(|&(at, len)| (start + at, len)));
            return;
        }
        for n in 0..other.places.len() {
            self.push_made(|out| other.push_to(out, n).then_some(Made::Written));
        }
    }

    /// Before `n` more texts: if the buffer may be too small for them, reserves room for all texts that are still to come, by the mean length so
    /// far. `places` has room for as many. The buffer grows by [`MAX_ROOM`] at most, or to twice its length if that is more.
    fn make_room(&mut self, n: usize) {
        let n_left = self.places.capacity() - self.places.len();
        let mean_len = self.own.len().div_ceil(self.places.len().max(1));
        if self.own.capacity() - self.own.len() < mean_len.saturating_mul(2 * n) {
            self.own.reserve(mean_len.saturating_mul(n_left).min(self.own.len().max(MAX_ROOM)));
        }
    }

    /// The number of texts, absent ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there is no text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Whether text `n` is there.
    #[must_use]
    pub fn is_there(&self, n: usize) -> bool {
        self.places[n].1 != ABSENT
    }

    /// All texts, one behind the other, and the length of each. An absent text has no bytes.
    #[must_use]
    pub fn joined(mut self) -> (Vec<u8>, impl ExactSizeIterator<Item = usize>) {
        if !self.around.is_empty() {
            let parts = mem::take(&mut self);
            self.append(&parts);
        }
        let lens = self.places.into_iter().map(|(_, len)| if len == ABSENT { 0 } else { len });
        (self.own, lens)
    }

    /// Text `n`, if it is there.
    #[inline(always)]
    #[must_use]
    pub fn get(&self, n: usize) -> Option<&[u8]> {
        let (rest, len) = self.with_rest(n)?;
        Some(&rest[..len])
    }

    /// Appends text `n` to `out`. Returns whether it is there.
    #[inline(always)]
    pub(super) fn push_to(&self, out: &mut Vec<u8>, n: usize) -> bool {
        let Some((rest, len)) = self.with_rest(n) else { return false };
        at_once::append::<64>(out, rest, len);
        true
    }

    /// Text `n` with what follows it, and its length.
    #[inline(always)]
    fn with_rest(&self, n: usize) -> Option<(&[u8], usize)> {
        let (start, len) = self.places[n];
        let in_own = start.checked_sub(self.around.len());
        let rest = in_own.map_or_else(|| &self.around[start..], |start| &self.own[start..]);
        (len != ABSENT).then_some((rest, len))
    }
}

/// Where `part` is in `whole`, if it is in that memory.
#[inline(always)]
pub(super) fn offset_in(whole: &[u8], part: &[u8]) -> Option<usize> {
    let offset = part.as_ptr().addr().wrapping_sub(whole.as_ptr().addr());
    (offset <= whole.len() && part.len() <= whole.len() - offset).then_some(offset)
}

impl<T: AsRef<[u8]>> FromIterator<Option<T>> for Texts<'_> {
    fn from_iter<I: IntoIterator<Item = Option<T>>>(texts: I) -> Self {
        let mut all = Self::default();
        texts.into_iter().for_each(|text| all.push(text.as_ref().map(AsRef::as_ref)));
        all
    }
}

impl Cells<'_> {
    /// Makes room for the places of so many texts.
    pub fn reserve(&mut self, n_lines: usize) {
        if let Self::Texts(texts) = self {
            texts.places.reserve(n_lines);
        }
    }

    /// Appends cells of the same column.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn append(&mut self, other: Cells<'_>) {
        match (self, other) {
            (Self::Numbers(own), Cells::Numbers(other)) => own.extend(other),
            (Self::Names(own), Cells::Names(other)) if own.are_fixed => own.numbers.extend(other.numbers),
            (Self::Names(own), Cells::Names(other)) => {
                (0..other.numbers.len()).for_each(|n| own.push(other.get(n)));
            }
            (Self::Sets(_, own), Cells::Sets(_, other)) => own.extend(other),
            (Self::Lists(_, own), Cells::Lists(_, other)) => own.extend(other),
            (Self::Defects(own), Cells::Defects(other)) => own.extend(other),
            (Self::Texts(own), Cells::Texts(other)) => own.append(&other),
            _ => panic!("cells of another type"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_joined_wherever_they_are() {
        let around = b"http://example.org/";
        let expected =
            [Some(&around[7..18]), None, Some(b"own"), Some(&around[19..]), Some(b"written"), None];
        let mut texts = Texts::in_text(around, 0);
        expected[..4].iter().for_each(|text| texts.push(*text));
        texts.push_made(|out| {
            out.extend(b"written");
            Some(Made::Written)
        });
        texts.push_made(|out| {
            out.extend(b"in vain");
            None
        });
        let mut copied = Texts::default();
        copied.append(&texts);
        let mut copied_again = Texts::default();
        copied_again.append(&copied);
        for texts in [texts, copied, copied_again] {
            assert!((0..texts.len()).map(|n| texts.get(n)).eq(expected));
            let (text, lens) = texts.joined();
            assert_eq!(text, b"example.orgownwritten");
            assert!(lens.eq([11, 0, 3, 0, 7, 0]));
        }
    }

    #[test]
    fn one_long_text_makes_no_room_for_many() {
        let long = vec![b'a'; 1 << 20];
        let mut texts = Texts::default();
        texts.places.reserve(1 << 20);
        for n in 0..3 {
            texts.append(&Texts::from_iter([Some(&long)]));
            assert_eq!(texts.get(n), Some(&*long));
            assert!(texts.own.capacity() <= 2 * MAX_ROOM);
        }
    }
}
