//! The columns of judged lines: what a line has in each, for whatever writes it (`urlsift lines`, Python, Spark).
//!
//! A column is a row of [`COLUMNS`], with a function that makes its cells for a whole [`Batch`]. `cells` has the types of cells, `text_rows`
//! writes them as text. This folder does not know where lines come from.

mod batch;
mod cells;
#[cfg(test)]
mod tests;
pub(crate) mod text_rows;

use std::ops::Range;

pub(crate) use self::batch::Line;
use self::batch::PartOfSuffixes;
pub use self::batch::{Batch, Origin};
pub(crate) use self::batch::{Row, keeps_parsed};
use self::cells::Made;
pub use self::cells::{Cells, Names, Texts};
use urlsift_engine::plain_hosts::PlainParts;
pub use urlsift_engine::{Scanner, Scanners};
use urlsift_grammar::Grammar;
use urlsift_grammar::advisory::Advisory;
use urlsift_grammar::host::HostKind;
use urlsift_grammar::host_problems::{HostProblem, HostProblems};
use urlsift_grammar::judge::Kind;
use urlsift_grammar::scheme::scheme_len;
use urlsift_grammar::uri_parts::{Parts, host};
use urlsift_grammar::whatwg::{Level, ValidationError};

/// How many lines or fields are taken at a time. Their cells stay in the cache.
pub(crate) const BATCH: usize = 256;

/// A column.
#[derive(Debug)]
pub struct Column {
    /// The name: stable, in lower case.
    pub name: &'static str,
    /// What its cells are, for a list of columns.
    pub meaning: &'static str,
    /// The type of its cells.
    pub of: Type,
    /// What it needs to know of a line.
    pub needs: Need,
    /// Why a judged line may have no cell; `None` if each has one.
    pub absent: Option<&'static str>,
    /// Whether passwords are masked in it on demand.
    pub is_masked: bool,
    cells: for<'a> fn(&Batch<'a>) -> Cells<'a>,
}

/// The type of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// A number.
    Number,
    /// A word or a sentence of urlsift.
    Words,
    /// A list of names.
    Names,
    /// A defect.
    Defect,
    /// Text of the data, which may be any bytes.
    Text,
}

/// What a column needs to know of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Need {
    /// Its place in an input. A value in memory has none.
    Place,
    /// Its bytes.
    Bytes,
    /// Its components.
    Components,
    /// The grammars that accept it.
    Verdict,
    /// Its advisories.
    Advisories,
    /// What it is resolved against.
    Base,
    /// What the WHATWG parser makes of it.
    Parser,
}

macro_rules! columns {
    ($($name:literal $meaning:literal $of:ident $needs:ident $absent:literal $is_masked:literal $cells:expr;)+) => {
        /// All columns, in the order of their documentation.
        pub static COLUMNS: &[Column] = &[$(Column {
            name: $name,
            meaning: $meaning,
            of: Type::$of,
            needs: Need::$needs,
            absent: if $absent.is_empty() { None } else { Some($absent) },
            is_masked: $is_masked,
            cells: $cells,
        }),+];
    };
}

// The fields of each, in their order. Of a column that is never absent, the fifth is empty.
columns! {
    "input" "the name of the input" Words Place "" false
        |batch| Cells::Names(Names::any(batch.lines.iter().map(|_| Some(batch.input))));
    "line" "the number of the line, from 1" Number Place "" false
        |batch| Cells::Numbers(batch.lines.iter().map(|line| Some(line.number)).collect());
    "offset" "where the line begins in the input, in bytes" Number Place "" false
        |batch| Cells::Numbers(batch.lines.iter().map(|line| Some(line.offset)).collect());
    "length" "the length in bytes, without the line end" Number Bytes "" false
        |batch| Cells::Numbers(batch.rows().map(|row| Some(row?.line.len() as u64)).collect());
    "verdict" "the grammars that accept it" Names Verdict "" false
        |batch| Cells::Sets(names(&Grammar::ALL, Grammar::name), batch.rows().map(|row| Some(row?.verdict.bits())).collect());
    "kind" "absolute, relative or blank" Words Bytes "" false kind;
    "scheme" "the scheme, in lower case" Text Bytes "it has no scheme" false scheme;
    "defect" "why the grammar refuses it" Defect Verdict "the grammar accepts it" false
        |batch| Cells::Defects(batch.rows().map(|row| row?.defect(batch.grammar).map(Box::new)).collect());
    "advisories" "what is noteworthy, if a grammar accepts it" Names Advisories "" false advisories;
    "text" "the line itself" Text Bytes "" true
        |batch| texts(batch, |row, _| Some(Made::Text(row.text())));
    "field" "the role or the name of a field of a record" Text Place "it is a line of a list" false
        |batch| Cells::Names(Names::any(batch.lines.iter().map(|line| line.field)));
    "resolved" "the URI that it refers to" Text Base "RFC 3986 refuses it, or it lacks a base" true
        |batch| texts(batch, |row, out| row.shown(out, |row, _| row.resolved()));
    "userinfo" "what is before the last @ of its authority" Text Components "there is none" true
        |batch| parts(batch, |_| None, |parts| parts.userinfo.clone());
    "host" "the host as it is written" Text Components "it has no authority" true
        |batch| texts(batch, |row, _| row.part(Row::host_range));
    "port" "the port as it is written" Text Components "there is none" true
        |batch| texts(batch, |row, _| row.part(Row::port_range));
    "path" "the path" Text Components "" true
        |batch| parts(batch, |plain| Some(plain.path()), |parts| Some(parts.path.clone()));
    "query" "what is between ? and #" Text Components "there is none" true
        |batch| parts(batch, PlainParts::query, |parts| parts.query.clone());
    "fragment" "what follows #" Text Components "there is none" true
        |batch| parts(batch, PlainParts::fragment, |parts| parts.fragment.clone());
    "host_kind" "name, ipv4, ipv6, ipvfuture or other" Words Bytes "it has no authority" false host_kind;
    "host_reversed" "the labels of its host in reverse order" Text Bytes "the host is no name" true
        |batch| texts(batch, |row, out| row.shown(out, |row, out| row.host_reversed(out)));
    "host_problems" "what DNS says against its host" Names Bytes "it has no authority" false host_problems;
    "suffix" "the public suffix of its host" Text Bytes "the host has none" true
        |batch| parts_of_hosts(batch, |list, host, dots| Some(list.find_icann(host, dots)?.suffix));
    "domain" "the registrable domain of its host" Text Bytes "the host has none" true
        |batch| parts_of_hosts(batch, |list, host, dots| list.find_icann(host, dots)?.domain);
    "private_suffix" "the public suffix, private ones included" Text Bytes "the host has none" true
        |batch| parts_of_hosts(batch, |list, host, _| Some(host.len() - list.find(host)?.private_suffix().len()));
    "private_domain" "the domain, with private suffixes included" Text Bytes "the host has none" true
        |batch| parts_of_hosts(batch, |list, host, _| Some(host.len() - list.find(host)?.private_domain()?.len()));
    "canonical" "its canonical form by RFC 3986" Text Verdict "RFC 3986 refuses it" true
        |batch| texts(batch, |row, out| row.shown(out, |row, out| row.canonical(out)));
    "surt" "its key in the indices of web archives" Text Bytes "it has none" true
        |batch| texts(batch, |row, out| row.shown(out, |row, out| row.surt(out)));
    "whatwg" "what browsers make of it" Words Parser "" false
        |batch| Cells::Names(Names::fixed(names(Level::ALL, Level::name), batch.rows().map(|row| Some(row?.level() as u8))));
    "whatwg_errors" "the errors that browsers find" Names Parser "" false whatwg_errors;
    "whatwg_host" "the host that browsers connect to" Text Parser "there is none" true
        |batch| texts(batch, |row, out| row.shown(out, |row, _| row.host()));
    "whatwg_href" "the URL that browsers use" Text Parser "browsers fail" true
        |batch| texts(batch, |row, out| row.shown(out, |row, out| row.href(out)));
    "hosts_differ" "the hosts of RFC 3986 and of browsers" Words Parser "they are the same" true
        |batch| texts(batch, |row, out| row.shown(out, |row, _| row.two_hosts()));
}

impl Column {
    /// The columns of rows if none are chosen.
    pub const DEFAULT: [&'static str; 4] = ["line", "verdict", "defect", "text"];
}

impl Need {
    /// Whether it is more than places and bytes, so that lines have to be judged.
    #[must_use]
    pub(crate) fn is_judged(self) -> bool {
        !matches!(self, Self::Place | Self::Bytes | Self::Components)
    }
}

impl<'a> Batch<'a> {
    /// The cells of columns, one for each line.
    pub fn cells(&mut self, columns: &[&Column]) -> Vec<Cells<'a>> {
        if self.keeps_parsed || keeps_parsed(columns.iter().map(|column| column.needs)) {
            self.add_parsers();
        }
        self.add_components(columns.iter().filter(|column| column.needs == Need::Components).count() > 1);
        columns.iter().map(|column| (column.cells)(self)).collect()
    }

    /// The cells of a column.
    pub(crate) fn cells_of(&mut self, column: &Column) -> Cells<'a> {
        self.cells(&[column]).pop().expect("a column has cells")
    }
}

fn names<T: Copy>(all: &[T], name: impl Fn(T) -> &'static str) -> Vec<&'static str> {
    all.iter().map(|&one| name(one)).collect()
}

fn texts<'b, 'a>(
    batch: &'b Batch<'a>,
    mut text: impl FnMut(Row<'b, 'a>, &mut Vec<u8>) -> Option<Made<'b>>,
) -> Cells<'a> {
    let mut texts = Texts::in_text(batch.around, batch.lines.len());
    batch.rows().for_each(|row| texts.push_made(|out| text(row?, out)));
    Cells::Texts(texts)
}

fn parts<'a>(
    batch: &Batch<'a>,
    of_plain: impl Fn(PlainParts) -> Option<Range<usize>>,
    part: impl Fn(&Parts) -> Option<Range<usize>>,
) -> Cells<'a> {
    texts(batch, |row, _| row.part(|row| row.component(&of_plain, &part)))
}

fn parts_of_hosts<'a>(batch: &Batch<'a>, part: PartOfSuffixes) -> Cells<'a> {
    if batch.mask_passwords {
        return texts(batch, |row, out| {
            row.shown(out, |row, out| row.by_suffix(part, &mut (b"", None), out))
        });
    }
    let mut last = (&b""[..], None);
    texts(batch, |row, out| row.by_suffix(part, &mut last, out))
}

fn kind<'a>(batch: &Batch<'a>) -> Cells<'a> {
    // Values are never blank.
    let blank = (!batch.input.is_empty()).then_some("blank");
    let names = [Kind::Absolute.name(), Kind::Relative.name()].into_iter().chain(blank);
    let number = |(n, row): (usize, Option<Row<'_, '_>>)| match row {
        Some(row) => Some(u8::from(scheme_len(row.line).is_none())),
        None => batch.lines[n].bytes.as_ref().map(|_| 2),
    };
    Cells::Names(Names::fixed(names, batch.rows().enumerate().map(number)))
}

fn host_kind<'a>(batch: &Batch<'a>) -> Cells<'a> {
    let kind = |row: Row<'_, '_>| Some(HostKind::of(&row.line[host(row.line)?.name]) as u8);
    let numbers = batch.rows().map(|row| row.and_then(kind));
    Cells::Names(Names::fixed(names(HostKind::ALL, HostKind::name), numbers))
}

fn host_problems<'a>(batch: &Batch<'a>) -> Cells<'a> {
    let problems = |row: Row<'_, '_>| {
        let mut buffer = Vec::new();
        let host = row.compared_host(&mut buffer).map(|(host, _)| host);
        if host.is_none() {
            row.host_range()?;
        }
        let problems = HostProblems::of(host, &batch.suffixes);
        Some(problems.iter().map(|problem| problem as u8).collect())
    };
    let lists = batch.rows().map(|row| row.and_then(problems));
    Cells::Lists(names(HostProblem::ALL, HostProblem::name), lists.collect())
}

fn scheme<'a>(batch: &Batch<'a>) -> Cells<'a> {
    let mut names = Names::default();
    for row in batch.rows() {
        let scheme = row.and_then(|row| row.line.get(..scheme_len(row.line)?));
        let scheme = scheme.map(|scheme| String::from_utf8_lossy(scheme).to_ascii_lowercase());
        names.push(scheme.as_deref());
    }
    Cells::Names(names)
}

fn advisories<'a>(batch: &Batch<'a>) -> Cells<'a> {
    let bits = |row: Row<'_, '_>| row.whole.advisories.iter().fold(0, |bits, one| bits | 1 << one as u8);
    let sets = batch.rows().map(|row| row.map(bits));
    Cells::Sets(names(Advisory::ALL, Advisory::name), sets.collect())
}

fn whatwg_errors<'a>(batch: &Batch<'a>) -> Cells<'a> {
    let lists = batch.rows().map(|row| row.map(|row| row.errors()));
    Cells::Lists(names(ValidationError::ALL, ValidationError::name), lists.collect())
}
