//! Reads the footer of a Parquet file: the columns, and where the pages of one column begin in each row group.
//!
//! A footer takes little more memory than it has bytes, and its nesting is limited.

use super::error::TableError;
use super::thrift::{Broken, Value, field, fields, struct_len, structs};

/// The largest footer that is read, in bytes. It is held in memory whole. The names of all columns together have the same limit.
pub(super) const MAX_LEN: usize = 64 << 20;

/// The most columns that a file may have, and the deepest nesting of columns.
const MAX_COLUMNS: usize = 1 << 17;
const MAX_DEPTH: usize = 64;

/// A column: a leaf of the schema tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(super) path: Vec<String>,
    /// The type of its values in the file; `None` for a group without members.
    pub(super) physical: Option<Physical>,
    /// The definition level of a value that is not null.
    pub(super) max_definition: u32,
    /// How many lists contain it.
    pub(super) max_repetition: u32,
}

/// The type of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    Bytes,
    /// Each value has this length.
    Fixed(usize),
    /// No text, and the name of the type.
    Other(&'static str),
}

/// The types that are no text, by their numbers.
const OTHERS: [&str; 6] = ["boolean", "int32", "int64", "int96", "float", "double"];

/// Where the pages of a column are in one row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ColumnChunk {
    /// Where the first page begins, in bytes from the start of the file.
    pub(super) start: u64,
    /// The number of values and nulls.
    pub(super) n_values: u64,
    /// The number of rows in the row group.
    pub(super) n_rows: u64,
    /// The number of the compression codec in the format.
    pub(super) codec: i64,
}

fn damaged(what: &str) -> TableError {
    TableError::damaged(format!("its footer is damaged: {what}"))
}

fn count(n: i64) -> Result<u64, TableError> {
    u64::try_from(n).map_err(|_| damaged("a negative number"))
}

/// The type of the values of an element of the schema.
fn physical(element: &[u8]) -> Result<Option<Physical>, TableError> {
    let Some(number) = field(element, 1, Value::integer) else { return Ok(None) };
    Ok(Some(match number {
        6 => Physical::Bytes,
        7 => {
            let length = field(element, 2, Value::integer).and_then(|length| i32::try_from(length).ok());
            let length = length.and_then(|length| usize::try_from(length).ok()).filter(|&length| length > 0);
            Physical::Fixed(length.ok_or_else(|| damaged("a column has values of no length"))?)
        }
        other => {
            let name = usize::try_from(other).ok().and_then(|other| OTHERS.get(other));
            Physical::Other(name.ok_or_else(|| damaged("a column has a type that does not exist"))?)
        }
    }))
}

/// Builds the tree of the schema from its elements, which are stored in depth-first order. One group is open at each level.
#[derive(Default)]
struct Schema {
    columns: Vec<Column>,
    /// The length of all column names together.
    names_len: usize,
    open: Vec<Group>,
    has_root: bool,
}

struct Group {
    name: String,
    missing: u64,
    definition: u32,
    repetition: u32,
}

impl Schema {
    fn add(&mut self, element: &[u8]) -> Result<(), TableError> {
        let name = field(element, 4, Value::binary).unwrap_or_default();
        let name = String::from_utf8_lossy(name).into_owned();
        let missing = count(field(element, 5, Value::integer).unwrap_or(0))?;
        let repetition = field(element, 3, Value::integer);
        if !std::mem::replace(&mut self.has_root, true) {
            self.open.push(Group { name: String::new(), missing, definition: 0, repetition: 0 });
            return Ok(());
        }
        while self.open.last().is_some_and(|group| group.missing == 0) {
            self.open.pop();
        }
        let parent = self.open.last_mut().ok_or_else(|| damaged("the schema has more than one root"))?;
        parent.missing -= 1;
        let definition = parent.definition + u32::from(matches!(repetition, Some(1 | 2)));
        let repetition = parent.repetition + u32::from(repetition == Some(2));
        if missing > 0 {
            if self.open.len() == MAX_DEPTH {
                return Err(TableError::too_large(format!(
                    "its columns are nested more than {MAX_DEPTH} deep"
                )));
            }
            self.open.push(Group { name, missing, definition, repetition });
            return Ok(());
        }
        if self.columns.len() == MAX_COLUMNS {
            return Err(TableError::too_large(format!("it has more than {MAX_COLUMNS} columns")));
        }
        // The name of a group counts for each column in it.
        let groups = &self.open[1..];
        self.names_len += groups.iter().map(|group| group.name.len()).sum::<usize>() + name.len();
        if self.names_len > MAX_LEN {
            return Err(TableError::too_large(format!(
                "the names of its columns have more than {MAX_LEN} bytes"
            )));
        }
        let path = groups.iter().map(|group| group.name.clone()).chain([name]).collect();
        let physical = physical(element)?;
        self.columns.push(Column { path, physical, max_definition: definition, max_repetition: repetition });
        Ok(())
    }
}

/// Returns all columns, in the order that each row group has, and the number of rows that the file declares.
pub(super) fn read(footer: &[u8]) -> Result<(Vec<Column>, u64), TableError> {
    struct_len(footer).map_err(|broken| match broken {
        Broken::CutOff => TableError::damaged("its footer ends too early"),
        Broken::Damaged => TableError::damaged("its footer is damaged"),
    })?;
    let mut schema = Schema::default();
    let elements = field(footer, 2, Value::bytes_of_list).unwrap_or_default();
    structs(elements).try_for_each(|element| schema.add(element))?;
    let rows = count(field(footer, 3, Value::integer).unwrap_or(0))?;
    if schema.open.iter().any(|group| group.missing > 0) || !schema.has_root {
        return Err(damaged("its schema is not whole"));
    }
    Ok((schema.columns, rows))
}

/// The row groups, each as the bytes of its structure.
fn groups(footer: &[u8]) -> impl Iterator<Item = &[u8]> {
    structs(field(footer, 4, Value::bytes_of_list).unwrap_or_default())
}

/// The structure of a column in a row group.
fn own(group: &[u8], column: usize) -> Option<&[u8]> {
    structs(field(group, 1, Value::bytes_of_list)?).nth(column)
}

/// Returns where each row group begins, in bytes from the start of the file: with the first page of its first column. A row
/// group that says nothing, or a place before earlier ones, begins where the one before it does.
pub(super) fn starts(footer: &[u8]) -> impl Iterator<Item = u64> {
    groups(footer).scan(0, |last, group| {
        let metadata = own(group, 0).and_then(|own| field(own, 3, Value::bytes_of_struct));
        let start = |number| u64::try_from(field(metadata?, number, Value::integer)?).ok();
        let (data, dictionary) = (start(9).unwrap_or(0), start(11).filter(|&start| start > 0));
        *last = dictionary.map_or(data, |dictionary| dictionary.min(data)).max(*last);
        Some(*last)
    })
}

/// Returns where the pages of a column are, for each row group.
pub(super) fn chunks(footer: &[u8], column: usize) -> Result<Vec<ColumnChunk>, TableError> {
    let chunks = groups(footer).enumerate().map(|(n, group)| {
        chunk(group, column).map_err(|error| error.within(format_args!("row group {}", n + 1)))
    });
    chunks.collect()
}

fn chunk(group: &[u8], column: usize) -> Result<ColumnChunk, TableError> {
    let n_rows = field(group, 3, Value::integer).map(count).transpose()?;
    let own = own(group, column).zip(n_rows);
    let (own, n_rows) = own.ok_or_else(|| damaged("a row group lacks the column"))?;
    if field(own, 1, Value::binary).is_some_and(|path| !path.is_empty()) {
        return Err(TableError::unsupported("its values stand in another file; give that one"));
    }
    if fields(own).any(|(number, _)| matches!(number, 8 | 9)) {
        return Err(TableError::unsupported("the column is encrypted"));
    }
    let metadata = field(own, 3, Value::bytes_of_struct).ok_or_else(|| damaged("a column has no pages"))?;
    let number = |number| field(metadata, number, Value::integer);
    let (Some(codec), Some(n_values), Some(data)) = (number(4), number(5), number(9)) else {
        return Err(damaged("a column says not where its pages are"));
    };
    let (n_values, data, dictionary) = (count(n_values)?, count(data)?, count(number(11).unwrap_or(0))?);
    // Some writers put 0 if there is no dictionary, others a position after the data.
    let start = if dictionary > 0 { dictionary.min(data) } else { data };
    Ok(ColumnChunk { start, n_values, n_rows, codec })
}
