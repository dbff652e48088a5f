//! Reads the footer of a Parquet file: the columns, and where the pages of one column begin in each row group.
//!
//! This is our own code, for three reasons. `parquet` 60.1 builds the schema by recursion. It allocates hundreds of bytes for
//! each column of each row group. It interprets a field by its number alone, whatever type the file declares, so no check
//! beforehand sees the same values. Here a footer takes little more memory than it has bytes.

use parquet::basic::Type;

use super::error::{TableError, TableErrorKind};
use super::thrift::{Broken, Value, fields, struct_len, structs};

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
    pub(super) physical: Option<Type>,
    /// The length of each value, if it is fixed.
    pub(super) length: i32,
    /// The definition level of a value that is not null.
    pub(super) max_definition: i16,
    /// How many lists contain it.
    pub(super) max_repetition: i16,
}

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

fn too_large(message: String) -> TableError {
    TableError::new(TableErrorKind::TooLarge, message)
}

fn count(n: i64) -> Result<u64, TableError> {
    u64::try_from(n).map_err(|_| damaged("a negative number"))
}

/// An element of the schema, which is a tree stored in depth-first order.
#[derive(Default)]
struct Element<'a> {
    physical: Option<i64>,
    length: i64,
    repetition: i64,
    name: &'a [u8],
    n_children: u64,
}

impl<'a> Element<'a> {
    fn read(bytes: &'a [u8]) -> Result<Self, TableError> {
        let mut element = Self::default();
        for field in fields(bytes) {
            match field {
                (1, Value::Integer(physical)) => element.physical = Some(physical),
                (2, Value::Integer(length)) => element.length = length,
                (3, Value::Integer(repetition)) => element.repetition = repetition,
                (4, Value::Binary(name)) => element.name = name,
                (5, Value::Integer(n)) => element.n_children = count(n)?,
                _ => {}
            }
        }
        Ok(element)
    }

    /// The type of its values, and their length if it is fixed.
    fn physical(&self) -> Result<(Option<Type>, i32), TableError> {
        let physical = match self.physical {
            Some(0) => Type::BOOLEAN,
            Some(1) => Type::INT32,
            Some(2) => Type::INT64,
            Some(3) => Type::INT96,
            Some(4) => Type::FLOAT,
            Some(5) => Type::DOUBLE,
            Some(6) => Type::BYTE_ARRAY,
            Some(7) => {
                let length = i32::try_from(self.length).ok().filter(|&length| length > 0);
                let length = length.ok_or_else(|| damaged("a column has values of no length"))?;
                return Ok((Some(Type::FIXED_LEN_BYTE_ARRAY), length));
            }
            None => return Ok((None, 0)),
            Some(_) => return Err(damaged("a column has a type that does not exist")),
        };
        Ok((Some(physical), 0))
    }
}

/// Builds the tree from its elements. One group is open at each level.
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
    definition: i16,
    repetition: i16,
}

impl Schema {
    fn add(&mut self, element: &Element<'_>) -> Result<(), TableError> {
        let name = String::from_utf8_lossy(element.name).into_owned();
        let missing = element.n_children;
        if !std::mem::replace(&mut self.has_root, true) {
            self.open.push(Group { name: String::new(), missing, definition: 0, repetition: 0 });
            return Ok(());
        }
        while self.open.last().is_some_and(|group| group.missing == 0) {
            self.open.pop();
        }
        let parent = self.open.last_mut().ok_or_else(|| damaged("the schema has more than one root"))?;
        parent.missing -= 1;
        let definition = parent.definition + i16::from(matches!(element.repetition, 1 | 2));
        let repetition = parent.repetition + i16::from(element.repetition == 2);
        if missing > 0 {
            if self.open.len() == MAX_DEPTH {
                return Err(too_large(format!("its columns are nested more than {MAX_DEPTH} deep")));
            }
            self.open.push(Group { name, missing, definition, repetition });
            return Ok(());
        }
        if self.columns.len() == MAX_COLUMNS {
            return Err(too_large(format!("it has more than {MAX_COLUMNS} columns")));
        }
        // The name of a group counts for each column in it.
        let groups = &self.open[1..];
        self.names_len += groups.iter().map(|group| group.name.len()).sum::<usize>() + name.len();
        if self.names_len > MAX_LEN {
            return Err(too_large(format!("the names of its columns have more than {MAX_LEN} bytes")));
        }
        let path = groups.iter().map(|group| group.name.clone()).chain([name]).collect();
        let (physical, length) = element.physical()?;
        let (max_definition, max_repetition) = (definition, repetition);
        self.columns.push(Column { path, physical, length, max_definition, max_repetition });
        Ok(())
    }
}

/// Returns all columns, in the order that each row group has, and the number of rows that the file declares.
pub(super) fn read(footer: &[u8]) -> Result<(Vec<Column>, u64), TableError> {
    struct_len(footer).map_err(|broken| match broken {
        Broken::CutOff => TableError::damaged("its footer ends too early"),
        Broken::Damaged => TableError::damaged("its footer is damaged"),
    })?;
    let (mut schema, mut rows) = (Schema::default(), 0);
    for field in fields(footer) {
        match field {
            (2, Value::List(elements)) => {
                structs(elements).try_for_each(|element| schema.add(&Element::read(element)?))?;
            }
            (3, Value::Integer(n)) => rows = count(n)?,
            _ => {}
        }
    }
    if schema.open.iter().any(|group| group.missing > 0) || !schema.has_root {
        return Err(damaged("its schema is not whole"));
    }
    Ok((schema.columns, rows))
}

/// The row groups, each as the bytes of its structure.
fn groups(footer: &[u8]) -> impl Iterator<Item = &[u8]> {
    let groups = fields(footer).filter_map(|field| match field {
        (4, Value::List(groups)) => Some(structs(groups)),
        _ => None,
    });
    groups.flatten()
}

/// Returns where each row group begins, in bytes from the start of the file: with the first page of its first column. A row
/// group that says nothing, or a place before earlier ones, begins where the one before it does.
pub(super) fn starts(footer: &[u8]) -> impl Iterator<Item = u64> {
    groups(footer).scan(0, |last, group| {
        let columns = fields(group).find_map(|field| match field {
            (1, Value::List(columns)) => structs(columns).next(),
            _ => None,
        });
        let metadata = columns.into_iter().flat_map(fields).find_map(|field| match field {
            (3, Value::Struct(metadata)) => Some(metadata),
            _ => None,
        });
        let (mut data, mut dictionary) = (0, None);
        for field in metadata.into_iter().flat_map(fields) {
            match field {
                (9, Value::Integer(n)) => data = u64::try_from(n).unwrap_or(0),
                (11, Value::Integer(n)) => dictionary = u64::try_from(n).ok().filter(|&n| n > 0),
                _ => {}
            }
        }
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
    let unsupported = |message: &str| Err(TableError::new(TableErrorKind::Unsupported, message));
    let (mut own, mut n_rows) = (None, None);
    for field in fields(group) {
        match field {
            (1, Value::List(columns)) => own = structs(columns).nth(column),
            (3, Value::Integer(n)) => n_rows = Some(count(n)?),
            _ => {}
        }
    }
    let (own, n_rows) = own.zip(n_rows).ok_or_else(|| damaged("a row group lacks the column"))?;
    let mut metadata = None;
    for field in fields(own) {
        match field {
            (1, Value::Binary(path)) if !path.is_empty() => {
                return unsupported("its values stand in another file; give that one");
            }
            (3, Value::Struct(bytes)) => metadata = Some(bytes),
            (8 | 9, _) => return unsupported("the column is encrypted"),
            _ => {}
        }
    }
    let (mut codec, mut n_values, mut data, mut dictionary) = (None, None, None, 0);
    for field in fields(metadata.ok_or_else(|| damaged("a column has no pages"))?) {
        match field {
            (4, Value::Integer(n)) => codec = Some(n),
            (5, Value::Integer(n)) => n_values = Some(count(n)?),
            (9, Value::Integer(n)) => data = Some(count(n)?),
            (11, Value::Integer(n)) => dictionary = count(n)?,
            _ => {}
        }
    }
    let (Some(codec), Some(n_values), Some(data)) = (codec, n_values, data) else {
        return Err(damaged("a column says not where its pages are"));
    };
    // Some writers put 0 if there is no dictionary, others a position after the data.
    let start = if dictionary > 0 { dictionary.min(data) } else { data };
    Ok(ColumnChunk { start, n_values, n_rows, codec })
}
