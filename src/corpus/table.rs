//! Files of Parquet: one is read after the other, each on all threads, since where its values are is told at its end.

use std::io;

use super::Scanned;
use super::counter::Counter;
use crate::harvest_table::{Way, harvest_table};
use crate::input::{Input, Opened};
use crate::parquet::Table;
use crate::pipeline::Failure;
use crate::reading::Reading;

/// Counts the values in a column of a file.
pub(super) fn scan_table(input: &Input, number: u32, reading: &Reading, counter: &Counter<'_>) -> Scanned {
    let effort = counter.effort;
    let opened = input.open(effort.watch.as_ref()).and_then(|opened| match opened {
        Opened::File(file, len) => Table::watched(file, len, effort.watch.as_ref()),
        _ => Err(io::Error::other("the file was replaced while it was read")),
    });
    let found = opened.and_then(|table| Ok((table.find_all(&reading.fields)?, table)));
    let (column, table) = match found {
        Ok(found) => found,
        Err(error) => return Scanned::failed(number, error),
    };
    let judged = |fields| effort.judged(fields);
    let way = Way { threads: effort.n_threads(), judged: &judged };
    let (tally, records, error) = harvest_table(&table, column, number, &counter.gatherer, &way);
    let failures = error.map(|error| Failure { input: number, error }).into_iter().collect();
    let scanned = Scanned { tally, failures, records: vec![(number, records)], ..Scanned::default() };
    scanned.ended(number, counter.options, effort)
}
