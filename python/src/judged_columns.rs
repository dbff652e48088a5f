//! Judged values: the cells of some rows, and of all.

use urlsift::Grammar;
use urlsift::columns::Scanner;
use urlsift::columns::{Batch, Cells, Column, Need, Origin};
use urlsift::grammar::resolve::Base;
use urlsift::inputs::Values;
use urlsift::whatwg::parse;

use crate::c_data;
use crate::columns::{Form, Validity};
use crate::source::Batch as Source;

/// What references are resolved against.
pub enum Bases<'a> {
    /// The same for all rows.
    Same(Box<Origin>),
    /// Batches of bases, and the number of the first row of each.
    Each(&'a [(usize, Source)]),
}

/// Columns of some rows.
pub struct Piece<'a> {
    /// Whether each row is no null.
    is_there: Vec<bool>,
    cells: Vec<Cells<'a>>,
}

impl<'a> Piece<'a> {
    /// The columns of `rows`. The first row has the number `first`.
    pub fn of(
        scanner: &mut Scanner,
        rows: &[Option<&'a [u8]>],
        first: usize,
        columns: &[&Column],
        grammar: Grammar,
        bases: &Bases<'_>,
    ) -> Self {
        let is_there = rows.iter().map(Option::is_some).collect();
        let needs = |need| columns.iter().any(|column| column.needs == need);
        let (needs_base, needs_url) = (needs(Need::Base), needs(Need::Parser));
        let of_row = |batches, n| {
            let text = value_at(batches, first + n);
            let base = text.filter(|_| needs_base).and_then(|text| Base::new(text).ok());
            let url = text.filter(|_| needs_url).and_then(|text| parse(text, None).url().cloned());
            Origin { base, url, ..Origin::default() }
        };
        let origins = match bases {
            Bases::Same(origin) => vec![Origin::clone(origin)],
            Bases::Each(batches) => (0..rows.len()).map(|n| of_row(batches, n)).collect(),
        };
        let scanner = Column::need_judging(columns).then_some(scanner);
        let cells = Batch::of_values(scanner, rows, grammar, origins).cells(columns);
        Self { is_there, cells }
    }

    /// Adds the rows that follow.
    pub fn append(&mut self, other: Self) {
        self.is_there.extend(other.is_there);
        self.cells.iter_mut().zip(other.cells).for_each(|(own, other)| own.append(other));
    }

    /// The columns as one column of structs.
    pub fn column(self, columns: &[&Column], form: Form) -> c_data::Column {
        let len = self.is_there.len();
        let named = columns.iter().zip(self.cells);
        let children = named.map(|(column, cells)| c_data::Column::of_cells(column.name, cells, form));
        let valid = Validity::of(len, |n| self.is_there[n]);
        c_data::Column::table("", len, &valid, children.collect())
    }
}

/// A value of consecutive batches.
fn value_at(batches: &[(usize, Source)], row: usize) -> Option<&[u8]> {
    let after = batches.partition_point(|(first, _)| *first <= row);
    let (first, batch) = &batches[after.checked_sub(1)?];
    batch.get(row - first)
}
