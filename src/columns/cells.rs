//! The cells of a column: vectors with an item for each line of a batch. What writes cells knows their types, and no columns.

use std::borrow::Cow;
use std::collections::HashMap;

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
    Texts(Vec<Option<Cow<'a, [u8]>>>),
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

    /// The name in cell `n`.
    #[must_use]
    pub fn get(&self, n: usize) -> Option<&str> {
        usize::try_from(self.numbers[n]).ok().map(|number| &*self.names[number])
    }
}

impl Cells<'_> {
    /// Appends cells of the same column.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Numbers(own), Self::Numbers(other)) => own.extend(other),
            (Self::Names(own), Self::Names(other)) if own.are_fixed => own.numbers.extend(other.numbers),
            (Self::Names(own), Self::Names(other)) => {
                (0..other.numbers.len()).for_each(|n| own.push(other.get(n)));
            }
            (Self::Sets(_, own), Self::Sets(_, other)) => own.extend(other),
            (Self::Lists(_, own), Self::Lists(_, other)) => own.extend(other),
            (Self::Defects(own), Self::Defects(other)) => own.extend(other),
            (Self::Texts(own), Self::Texts(other)) => own.extend(other),
            _ => panic!("cells of another type"),
        }
    }
}
