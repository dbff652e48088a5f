//! Files of Parquet: one is read after the other, each on all threads, since where its values are is told at its end.

use super::{Effort, Scanned};
use crate::format::Format;
use crate::harvest_table::harvest_table;
use crate::input::{Input, Opened, read_at};
use crate::parquet::Table;
use crate::pipeline::Failure;
use crate::reading::Reading;
use crate::scan::Options;

/// Counts the values in a column of a file; `None` if it is not one of Parquet.
pub(super) fn scan_table(
    input: &Input,
    number: u32,
    reading: &Reading,
    options: &Options,
    effort: &Effort,
) -> Option<Scanned> {
    // Whoever reads anything else says what is wrong with it.
    let Ok(Opened::File(file, len)) = input.open(effort.watch.as_ref()) else { return None };
    let format = reading.format.or_else(|| {
        let mut head = [0; 8];
        let n = read_at(&file, &mut head, 0).ok()?;
        Some(Format::detect(&head[..n]))
    });
    if format != Some(Format::Parquet) {
        return None;
    }
    let opened = Table::watched(file, len, effort.watch.as_ref());
    let found = opened.and_then(|table| Ok((table.find_all(&reading.fields)?, table)));
    let (column, table) = match found {
        Ok(found) => found,
        Err(error) => return Some(Scanned::failed(number, error)),
    };
    let judged = |fields| effort.judged(fields);
    let (tally, records, error) = harvest_table(&table, column, number, options, &effort.way(&judged));
    let failures = error.map(|error| Failure { input: number, error }).into_iter().collect();
    Some(Scanned::harvested(tally, records, failures, number, options, effort))
}
