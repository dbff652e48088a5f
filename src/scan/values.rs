//! Counts values that are in memory one by one, such as those of a column of a table.

use super::Options;
use crate::scan::count_line::Observer;
use crate::scan::long_line::LongLine;
use crate::tally::already_shown::AlreadyShown;
use crate::tally::{Signs, Tally};
use urlsift_engine::Scanner;
use urlsift_engine::example::Line;
use urlsift_engine::place::{Extent, Place};
use urlsift_engine::values::{Lines, long, runs};

/// Counts values as the lines of a list that has one value per line. `place` is the place of the first one in that list.
///
/// Nulls are lines of the list that are counted as [`ColumnSigns::nulls`](crate::tally::ColumnSigns::nulls) and nowhere else. Values without any byte are blank
/// lines. No line behind `place` may be in the tally yet.
pub(crate) fn add_values(
    tally: &mut Tally,
    scanner: &mut Scanner,
    values: &[Option<&[u8]>],
    mut place: Place,
    options: &Options,
) {
    for run in runs(values) {
        let bytes: usize = run.iter().map(|value| value.map_or(0, <[u8]>::len) + 1).sum();
        match long(run) {
            Some(value) => add_long(tally, value, place, options),
            None => add_lines(tally, scanner, run, place, options),
        }
        place.offset += bytes as u64;
    }
}

/// Counts values as the lines of a buffer, into which they are copied.
fn add_lines(
    tally: &mut Tally,
    scanner: &mut Scanner,
    values: &[Option<&[u8]>],
    place: Place,
    options: &Options,
) {
    let lines = Lines::of(values);
    let shown = AlreadyShown::default();
    let mut observer = Observer::new(options, tally, &shown);
    scanner.scan(&mut observer, &lines.text, place);
    let n_alone = lines.alone.len() as u64;
    tally.blank -= lines.nulls + n_alone;
    tally.cr -= n_alone;
    if n_alone > 0 {
        add_alone(tally, &lines, values, place, options);
    }
    tally.note(place.input, Signs::of_column(lines.nulls, false));
    tally.settle(place.input);
}

/// Counts a value that is too long to be copied.
fn add_long(tally: &mut Tally, value: &[u8], place: Place, options: &Options) {
    let mut line = LongLine::new(place, options);
    line.feed_field(value);
    let mut one = line.finish();
    one.relocate(|offset| (offset, 1));
    let end = place.offset + value.len() as u64 + 1;
    one.cover(Extent::of_bytes(place.input, place.offset, end, 1));
    *tally = std::mem::take(tally).merge(one);
}

/// Counts the values that cannot be lines, after the lines.
#[cold]
fn add_alone(tally: &mut Tally, lines: &Lines, values: &[Option<&[u8]>], place: Place, options: &Options) {
    let end = place.offset + lines.text.len() as u64;
    let run = tally.runs().iter().find(|run| (run.input, run.end) == (place.input, end));
    // Lines are numbered from the start of their run, which may have begun before these values.
    let before = run.map_or(0, |run| run.lines - values.len() as u64);
    let shown = AlreadyShown::default();
    let mut observer = Observer::new(options, tally, &shown);
    for &(n, offset) in &lines.alone {
        let value = values[n].unwrap_or_default();
        let place = Place { offset: place.offset + offset, ..place };
        let number_of = || before + n as u64 + 1;
        observer.observe_value(&Line::whole(place, &number_of, value), value, place);
    }
    tally.cover(Extent::of_bytes(place.input, end, end, 0));
}
