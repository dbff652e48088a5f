//! Judged values: the cells of some rows, and of all.

use urlsift::Grammar;
use urlsift::columns::{Batch, Cells, Column, Need, Origin, Scanner};
use urlsift::grammar::resolve::Base;
use urlsift::inputs::Values;
use urlsift::whatwg::parse;

use crate::c_data;
use crate::columns::{Form, Validity};
use crate::source::{Batch as Source, Rows};

/// What references are resolved against.
pub enum Bases<'a> {
    /// The same for all rows.
    Same(Box<Origin>),
    /// Batches of bases, and the number of the first row of each.
    Each(&'a [(usize, Source)]),
}

/// Columns of some rows.
pub struct Piece {
    /// Whether each row is no null.
    is_there: Vec<bool>,
    cells: Vec<Cells<'static>>,
}

impl Piece {
    /// The columns of no rows, with room for `rows`.
    pub fn new(columns: &[&Column], rows: usize) -> Self {
        let mut cells = Batch::default().cells(columns);
        for cells in &mut cells {
            cells.reserve(rows);
        }
        Self { is_there: Vec::with_capacity(rows), cells }
    }

    /// Judges the rows that follow. The first of them has the number `first`.
    pub fn judge(
        &mut self,
        scanner: &mut Scanner,
        rows: &Rows<'_>,
        first: usize,
        columns: &[&Column],
        grammar: Grammar,
        bases: &Bases<'_>,
    ) {
        let values: Vec<_> = (0..rows.len()).map(|n| rows.get(n)).collect();
        self.is_there.extend(values.iter().map(Option::is_some));
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
        let around = rows.around(0..rows.len());
        let mut batch = Batch::of_values(columns, scanner, &values, around, grammar, origins);
        self.append_cells(batch.cells(columns));
    }

    fn append_cells(&mut self, cells: Vec<Cells<'_>>) {
        self.cells.iter_mut().zip(cells).for_each(|(own, other)| own.append(other));
    }

    /// Adds the rows that follow.
    pub fn append(&mut self, other: Self) {
        self.is_there.extend(other.is_there);
        self.append_cells(other.cells);
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
