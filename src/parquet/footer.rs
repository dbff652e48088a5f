//! The footer of a Parquet file: what columns there are, and where in the file the pages of each stand.
//!
//! It is written for readers that want everything. Here one column is wanted, so of the columns their names and kinds are kept,
//! of the row groups where the pages of one column begin, and nothing else: a footer takes little more memory than it has bytes.

use super::error::{TableError, TableErrorKind};
use super::thrift::{Broken, Kind, Thrift};

/// The largest footer that is read, in bytes; it is in memory whole.
pub(super) const MAX_LEN: u64 = 64 << 20;

/// The most columns that a file may have, and the deepest that they may be nested.
const MAX_COLUMNS: usize = 1 << 17;
const MAX_DEPTH: usize = 64;

/// What values are, as they are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Physical {
    Bytes,
    /// All of them are so long.
    Fixed(usize),
    /// No text.
    Other(&'static str),
}

/// A column: a leaf of the tree that is the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(super) path: Vec<String>,
    pub(super) physical: Physical,
    /// The definition level of a value that is there.
    pub(super) max_definition: u32,
    /// How many lists it lies in.
    pub(super) max_repetition: u32,
}

/// Where the pages of a column stand that belong to a row group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Where the first of them begins, in bytes from the start of the file.
    pub(super) start: u64,
    /// Values and nulls.
    pub(super) n_values: u64,
    /// The rows of the row group.
    pub(super) n_rows: u64,
    /// By what they are packed, as the format numbers it.
    pub(super) codec: i64,
}

/// Why a footer cannot be used.
#[derive(Debug)]
enum Bad {
    Thrift(Broken),
    Table(TableError),
}

impl From<Broken> for Bad {
    fn from(broken: Broken) -> Self {
        Self::Thrift(broken)
    }
}

impl From<TableError> for Bad {
    fn from(error: TableError) -> Self {
        Self::Table(error)
    }
}

impl From<Bad> for TableError {
    fn from(bad: Bad) -> Self {
        match bad {
            Bad::Thrift(Broken::CutOff) => Self::damaged("its footer ends too early"),
            Bad::Thrift(Broken::Damaged) => Self::damaged("its footer is damaged"),
            Bad::Table(error) => error,
        }
    }
}

fn damaged(what: &str) -> Bad {
    TableError::damaged(format!("its footer is damaged: {what}")).into()
}

/// An element of the schema, which is a tree in the order in which it is walked.
#[derive(Default)]
struct Element<'a> {
    physical: Option<i64>,
    length: i64,
    repetition: i64,
    name: &'a [u8],
    n_children: u64,
}

impl<'a> Element<'a> {
    fn read(thrift: &mut Thrift<'a>) -> Result<Self, Bad> {
        let mut element = Self::default();
        thrift.fields(|thrift, number, kind| {
            match (number, kind) {
                (1, Kind::Integer) => element.physical = Some(thrift.integer()?),
                (2, Kind::Integer) => element.length = thrift.integer()?,
                (3, Kind::Integer) => element.repetition = thrift.integer()?,
                (4, Kind::Binary) => element.name = thrift.binary()?,
                (5, Kind::Integer) => element.n_children = thrift.count()?,
                _ => return Ok(false),
            }
            Ok::<_, Bad>(true)
        })?;
        Ok(element)
    }

    fn physical(&self) -> Result<Physical, Bad> {
        Ok(match self.physical {
            Some(0) => Physical::Other("boolean"),
            Some(1) => Physical::Other("int32"),
            Some(2) => Physical::Other("int64"),
            Some(3) => Physical::Other("int96"),
            Some(4) => Physical::Other("float"),
            Some(5) => Physical::Other("double"),
            Some(6) => Physical::Bytes,
            Some(7) => Physical::Fixed(
                usize::try_from(self.length)
                    .ok()
                    .filter(|&len| len > 0)
                    .ok_or_else(|| damaged("a column has values of no length"))?,
            ),
            // A group without members.
            None => Physical::Other("group"),
            Some(_) => return Err(damaged("a column has a type that does not exist")),
        })
    }
}

/// Puts the tree together that the elements are: one group is open at each level.
#[derive(Default)]
struct Schema {
    columns: Vec<Column>,
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
    fn add(&mut self, element: &Element<'_>) -> Result<(), Bad> {
        let name = String::from_utf8_lossy(element.name).into_owned();
        if !self.has_root {
            self.has_root = true;
            let missing = element.n_children;
            self.open.push(Group { name, missing, definition: 0, repetition: 0 });
            return Ok(());
        }
        while self.open.last().is_some_and(|group| group.missing == 0) {
            self.open.pop();
        }
        let parent = self.open.last_mut().ok_or_else(|| damaged("the schema has more than one root"))?;
        parent.missing -= 1;
        let (optional, repeated) = (element.repetition == 1, element.repetition == 2);
        let definition = parent.definition + u32::from(optional || repeated);
        let repetition = parent.repetition + u32::from(repeated);
        if element.n_children > 0 {
            if self.open.len() == MAX_DEPTH {
                let message = format!("its columns are nested more than {MAX_DEPTH} deep");
                return Err(TableError::new(TableErrorKind::TooLarge, message).into());
            }
            self.open.push(Group { name, missing: element.n_children, definition, repetition });
            return Ok(());
        }
        if self.columns.len() == MAX_COLUMNS {
            let message = format!("it has more than {MAX_COLUMNS} columns");
            return Err(TableError::new(TableErrorKind::TooLarge, message).into());
        }
        let groups = self.open.iter().skip(1).map(|group| group.name.clone());
        self.columns.push(Column {
            path: groups.chain([name]).collect(),
            physical: element.physical()?,
            max_definition: definition,
            max_repetition: repetition,
        });
        Ok(())
    }

    fn columns(self) -> Result<Vec<Column>, Bad> {
        if self.open.iter().any(|group| group.missing > 0) || !self.has_root {
            return Err(damaged("its schema is not whole"));
        }
        Ok(self.columns)
    }
}

/// All columns, in the order in which they stand in each row group.
pub(super) fn columns(footer: &[u8]) -> Result<Vec<Column>, TableError> {
    let mut schema = Schema::default();
    let read = Thrift::new(footer).fields(|thrift, number, kind| {
        let is_schema = (number, kind) == (2, Kind::List);
        if is_schema {
            thrift.structs(|thrift| schema.add(&Element::read(thrift)?))?;
        }
        Ok::<_, Bad>(is_schema)
    });
    Ok(read.and_then(|()| schema.columns())?)
}

/// How many rows the file has, as it says.
pub(super) fn rows(footer: &[u8]) -> Result<u64, TableError> {
    let mut rows = 0;
    let read = Thrift::new(footer).fields(|thrift, number, kind| {
        let is_rows = (number, kind) == (3, Kind::Integer);
        if is_rows {
            rows = thrift.count()?;
        }
        Ok::<_, Bad>(is_rows)
    });
    Ok(read.map(|()| rows)?)
}

/// Where the pages of a column stand, by row group.
pub(super) fn chunks(footer: &[u8], column: usize) -> Result<Vec<Chunk>, TableError> {
    let mut chunks = Vec::new();
    let read = Thrift::new(footer).fields(|thrift, number, kind| {
        let are_groups = (number, kind) == (4, Kind::List);
        if are_groups {
            thrift.structs(|thrift| {
                let place = format!("row group {}", chunks.len() + 1);
                chunks.push(row_group(thrift, column).map_err(|bad| TableError::from(bad).within(place))?);
                Ok::<_, Bad>(())
            })?;
        }
        Ok::<_, Bad>(are_groups)
    });
    Ok(read.map(|()| chunks)?)
}

fn row_group(thrift: &mut Thrift<'_>, column: usize) -> Result<Chunk, Bad> {
    let (mut found, mut n_rows) = (None, None);
    thrift.fields(|thrift, number, kind| {
        match (number, kind) {
            (1, Kind::List) => {
                let mut n = 0;
                thrift.structs(|thrift| {
                    let is_wanted = n == column;
                    n += 1;
                    if is_wanted {
                        found = Some(chunk(thrift)?);
                        Ok(())
                    } else {
                        thrift.fields(|_, _, _| Ok::<_, Bad>(false))
                    }
                })?;
            }
            (3, Kind::Integer) => n_rows = Some(thrift.count()?),
            _ => return Ok(false),
        }
        Ok::<_, Bad>(true)
    })?;
    let (chunk, n_rows) = found.zip(n_rows).ok_or_else(|| damaged("a row group lacks the column"))?;
    Ok(Chunk { n_rows, ..chunk })
}

fn chunk(thrift: &mut Thrift<'_>) -> Result<Chunk, Bad> {
    let unsupported = |message: &str| Bad::from(TableError::new(TableErrorKind::Unsupported, message));
    let mut chunk = None;
    thrift.fields(|thrift, number, kind| {
        match (number, kind) {
            (1, Kind::Binary) if !thrift.binary()?.is_empty() => {
                return Err(unsupported("its values stand in another file; give that one"));
            }
            (1, Kind::Binary) => {}
            (3, Kind::Struct) => chunk = Some(chunk_metadata(thrift)?),
            (8 | 9, _) => return Err(unsupported("the column is encrypted")),
            _ => return Ok(false),
        }
        Ok::<_, Bad>(true)
    })?;
    chunk.ok_or_else(|| damaged("a column has no pages"))
}

fn chunk_metadata(thrift: &mut Thrift<'_>) -> Result<Chunk, Bad> {
    let (mut codec, mut n_values, mut data, mut dictionary) = (None, None, None, None);
    thrift.fields(|thrift, number, kind| {
        match (number, kind) {
            (4, Kind::Integer) => codec = Some(thrift.integer()?),
            (5, Kind::Integer) => n_values = Some(thrift.count()?),
            (9, Kind::Integer) => data = Some(thrift.count()?),
            (11, Kind::Integer) => dictionary = Some(thrift.count()?),
            _ => return Ok(false),
        }
        Ok::<_, Bad>(true)
    })?;
    let (Some(codec), Some(n_values), Some(data)) = (codec, n_values, data) else {
        return Err(damaged("a column says not where its pages are"));
    };
    // Some writers say 0 where there is none, and some a place behind the data.
    let start =
        dictionary.filter(|&dictionary| dictionary > 0).map_or(data, |dictionary| dictionary.min(data));
    Ok(Chunk { start, n_values, n_rows: 0, codec })
}
