//! Judged rows as Arrow columns: what is computed of each row, and how sets and names are written.

use std::collections::HashMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use urlsift::grammar::resolve::Base;
use urlsift::grammar::scheme::scheme_len;
use urlsift::inputs::Values;
use urlsift::internal::scan::{Scanner, judge_values};
use urlsift::whatwg::{Level, Parsed, Url, ValidationError, parse};
use urlsift::{Advisory, Cause, Component, Grammar, Kind, Verdict, judge};

use crate::c_data::Column;
use crate::columns::Validity;
use crate::source::Batch;

/// The columns that a judged column can have.
#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    Verdict,
    Kind,
    Scheme,
    Defect,
    Advisories,
    Resolved,
    Whatwg,
    WhatwgErrors,
    WhatwgHost,
    WhatwgHref,
}

impl Wanted {
    const ALL: [(&'static str, Self); 10] = [
        ("verdict", Self::Verdict),
        ("kind", Self::Kind),
        ("scheme", Self::Scheme),
        ("defect", Self::Defect),
        ("advisories", Self::Advisories),
        ("resolved", Self::Resolved),
        ("whatwg", Self::Whatwg),
        ("whatwg_errors", Self::WhatwgErrors),
        ("whatwg_host", Self::WhatwgHost),
        ("whatwg_href", Self::WhatwgHref),
    ];

    /// Whether the column needs the WHATWG parser.
    pub fn needs_whatwg(self) -> bool {
        matches!(self, Self::Whatwg | Self::WhatwgErrors | Self::WhatwgHost | Self::WhatwgHref)
    }

    /// The column of this name.
    pub fn of(name: &str) -> PyResult<Self> {
        let found = Self::ALL.iter().find(|(own, _)| *own == name);
        found.map(|(_, column)| *column).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|(name, _)| *name).collect();
            PyValueError::new_err(format!("no column {name:?}; there are {}", names.join(", ")))
        })
    }
}

/// What references are resolved against.
pub enum Bases<'a> {
    None,
    /// One base for all rows: for the column `resolved`, and for the columns of the WHATWG parser.
    One(Box<(Option<Base>, Option<Url>)>),
    /// Batches, and the number of the first row of each.
    Each(&'a [(usize, Batch)]),
}

/// Names with numbers.
#[derive(Default)]
struct Names {
    numbers: HashMap<Box<str>, i32>,
    names: Vec<Box<str>>,
}

impl Names {
    /// The number of a name. `to_text` makes text of it. Most names are among the first.
    fn number(&mut self, name: &[u8], to_text: impl Fn(&[u8]) -> String) -> i32 {
        let first = self.names.iter().take(8).zip(0..).find(|(known, _)| known.as_bytes() == name);
        if let Some((_, number)) = first {
            return number;
        }
        let name = to_text(name).into_boxed_str();
        let next = i32::try_from(self.names.len()).expect("fewer names than 2^31 in a batch");
        let number = *self.numbers.entry(name.clone()).or_insert(next);
        if number == next {
            self.names.push(name);
        }
        number
    }
}

/// The columns of some rows, as plain vectors. Rows that are null have any value.
#[derive(Default)]
pub struct Piece {
    verdict: Vec<u8>,
    kind: Vec<i8>,
    advisories: Vec<u8>,
    scheme: Vec<i32>,
    schemes: Names,
    /// The rows with a defect, in order: the row, component, cause, offset and rule.
    defects: Vec<(usize, i8, i8, i64, i32)>,
    rules: Names,
    resolved: Vec<Option<String>>,
    whatwg: Vec<i8>,
    /// The errors of all rows, and the number of them up to the end of each row.
    errors: Vec<i8>,
    error_ends: Vec<i64>,
    hosts: Vec<Option<String>>,
    hrefs: Vec<Option<String>>,
}

/// The row of a null in [`Piece::verdict`], which no verdict has.
const NULL: u8 = 0xff;

/// No name.
const NONE: i32 = -1;

impl Piece {
    /// No rows yet, with room for `len`.
    pub fn with_room(len: usize, wanted: &[Wanted]) -> Self {
        let room =
            |columns: &[Wanted]| if columns.iter().any(|column| wanted.contains(column)) { len } else { 0 };
        Self {
            verdict: Vec::with_capacity(len),
            kind: Vec::with_capacity(room(&[Wanted::Kind, Wanted::Scheme])),
            advisories: Vec::with_capacity(room(&[Wanted::Advisories])),
            scheme: Vec::with_capacity(room(&[Wanted::Scheme])),
            resolved: Vec::with_capacity(room(&[Wanted::Resolved])),
            ..Self::default()
        }
    }

    /// The columns of `rows`. The first row has the number `first`.
    pub fn of(
        scanner: &mut Scanner,
        rows: &[Option<&[u8]>],
        first: usize,
        wanted: &[Wanted],
        grammar: Grammar,
        bases: &Bases<'_>,
    ) -> Self {
        let mut all = Self::with_room(rows.len(), wanted);
        let wants = |column| wanted.contains(&column);
        all.verdict.resize(rows.len(), NULL);
        if wants(Wanted::Advisories) {
            all.advisories.resize(rows.len(), 0);
        }
        judge_values(scanner, rows, |n, verdict, advisories| {
            all.verdict[n] = verdict.bits();
            if let Some(bits) = all.advisories.get_mut(n) {
                *bits = advisories.iter().fold(0, |bits, advisory| bits | 1 << advisory as u32);
            }
        });
        let schemes = wants(Wanted::Scheme);
        if schemes || wants(Wanted::Kind) {
            for value in rows {
                let scheme = value.and_then(|value| scheme_len(value).map(|len| &value[..len]));
                all.kind.push(i8::from(scheme.is_none()));
                if schemes {
                    all.scheme.push(scheme.map_or(NONE, |scheme| all.schemes.number(scheme, lower_case)));
                }
            }
        }
        if wants(Wanted::Defect) {
            for (row, (value, verdict)) in rows.iter().zip(&all.verdict).enumerate() {
                let refused = value.filter(|_| !Verdict::from_bits(*verdict).accepts(grammar));
                if let Some(defect) = refused.and_then(|value| judge(value).defect(grammar)) {
                    let text = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
                    let rule = all.rules.number(defect.rule.name().as_bytes(), text);
                    let (component, cause) = (defect.component as i8, defect.cause as i8);
                    all.defects.push((row, component, cause, defect.offset.cast_signed(), rule));
                }
            }
        }
        if wants(Wanted::Resolved) {
            let mut target = Vec::new();
            let anywhere = Base::new(b"http://localhost/").expect("a base");
            for (n, (value, verdict)) in rows.iter().zip(&all.verdict).enumerate() {
                let own;
                let base = match bases {
                    Bases::None => None,
                    Bases::One(base) => base.0.as_ref(),
                    Bases::Each(batches) => {
                        own = value_at(batches, first + n).and_then(|base| Base::new(base).ok());
                        own.as_ref()
                    }
                };
                // A value with a scheme has the same target with any base.
                let any = value.filter(|value| scheme_len(value).is_some()).map(|_| &anywhere);
                let accepted = value.filter(|_| Verdict::from_bits(*verdict).accepts(Grammar::Rfc3986));
                let resolved = accepted.zip(base.or(any)).map(|(value, base)| {
                    base.resolve(value, &mut target);
                    String::from_utf8_lossy(&target).into_owned()
                });
                all.resolved.push(resolved);
            }
        }
        if wanted.iter().any(|column| column.needs_whatwg()) {
            all.parse_rows(rows, first, wanted, bases);
        }
        all
    }

    /// Adds what the WHATWG parser makes of `rows`.
    fn parse_rows(&mut self, rows: &[Option<&[u8]>], first: usize, wanted: &[Wanted], bases: &Bases<'_>) {
        let wants = |column| wanted.contains(&column);
        let [hosts, hrefs] = [Wanted::WhatwgHost, Wanted::WhatwgHref].map(wants);
        let mut parsed = Parsed::default();
        for (n, value) in rows.iter().enumerate() {
            let own;
            let base = match bases {
                Bases::None => None,
                Bases::One(base) => base.1.as_ref(),
                Bases::Each(batches) => {
                    let base = value_at(batches, first + n);
                    own = base.and_then(|base| parse(base, None).url().cloned());
                    own.as_ref()
                }
            };
            if let Some(value) = value {
                parsed.replace(value, base);
                self.errors.extend(parsed.errors().iter().map(|found| found.error as i8));
            }
            self.whatwg.push(parsed.level() as i8);
            self.error_ends.push(count(self.errors.len()));
            let url = value.and_then(|_| parsed.url());
            if hosts {
                self.hosts.push(url.and_then(|url| url.host.clone()).filter(|host| !host.is_empty()));
            }
            if hrefs {
                self.hrefs.push(url.map(Url::to_string));
            }
        }
    }

    /// Adds the rows that follow.
    pub fn append(&mut self, other: Self) {
        let renumbered = |own: &mut Names, others: Names| -> Vec<i32> {
            others.names.iter().map(|name| own.number(name.as_bytes(), |_| name.to_string())).collect()
        };
        let of =
            |numbers: &[i32], number: i32| usize::try_from(number).map_or(NONE, |number| numbers[number]);
        let schemes = renumbered(&mut self.schemes, other.schemes);
        let rules = renumbered(&mut self.rules, other.rules);
        let before = self.verdict.len();
        self.verdict.extend(other.verdict);
        self.kind.extend(other.kind);
        self.advisories.extend(other.advisories);
        self.scheme.extend(other.scheme.into_iter().map(|number| of(&schemes, number)));
        for (row, component, cause, offset, rule) in other.defects {
            self.defects.push((before + row, component, cause, offset, of(&rules, rule)));
        }
        self.resolved.extend(other.resolved);
        self.whatwg.extend(other.whatwg);
        let before = count(self.errors.len());
        self.errors.extend(other.errors);
        self.error_ends.extend(other.error_ends.into_iter().map(|end| before + end));
        self.hosts.extend(other.hosts);
        self.hrefs.extend(other.hrefs);
    }

    /// The columns as one column of structs.
    pub fn column(self, wanted: &[(String, Wanted)], form: Form) -> Column {
        let Self { verdict, kind, advisories, scheme, schemes, defects, rules, resolved, .. } = self;
        let len = verdict.len();
        let valid = Validity::of(len, |n| verdict[n] != NULL);
        let children = wanted.iter().map(|(name, column)| match column {
            Wanted::Verdict => flags(name, &valid, form, &Grammar::ALL.map(Grammar::name), &verdict),
            Wanted::Advisories => {
                let names: Vec<_> = Advisory::ALL.iter().map(|advisory| advisory.name()).collect();
                flags(name, &valid, form, &names, &advisories)
            }
            Wanted::Kind => {
                let names = [Kind::Absolute.name(), Kind::Relative.name()];
                Column::names(name, kind.clone(), &names, &valid, form.plain)
            }
            Wanted::Scheme => {
                let valid = Validity::of(len, |n| scheme[n] != NONE);
                let numbers = scheme.iter().map(|&number| number.max(0)).collect();
                Column::names(name, numbers, &schemes.names, &valid, form.plain)
            }
            Wanted::Defect => {
                let valid = Validity::of_rows(len, defects.iter().map(|defect| defect.0));
                let components: Vec<_> = Component::ALL.iter().map(|component| component.name()).collect();
                let causes: Vec<_> = Cause::ALL.iter().map(|cause| cause.name()).collect();
                let (mut component, mut cause) = (vec![0; len], vec![0; len]);
                let (mut offset, mut rule) = (vec![0; len], vec![0; len]);
                for &(row, of, why, at, number) in &defects {
                    (component[row], cause[row], offset[row], rule[row]) = (of, why, at, number);
                }
                let columns = vec![
                    Column::names::<i8, _>("component", component, &components, &valid, form.plain),
                    Column::names::<i8, _>("cause", cause, &causes, &valid, form.plain),
                    Column::numbers::<i64>("offset", offset, &valid),
                    Column::names("rule", rule, &rules.names, &valid, form.plain),
                ];
                Column::table(name, len, &valid, columns)
            }
            Wanted::Resolved => texts(name, &resolved),
            Wanted::Whatwg => {
                let names: Vec<_> = Level::ALL.iter().map(|level| level.name()).collect();
                Column::names(name, self.whatwg.clone(), &names, &valid, form.plain)
            }
            Wanted::WhatwgErrors => {
                let names: Vec<_> = ValidationError::ALL.iter().map(|error| error.name()).collect();
                let errors = Column::names("", self.errors.clone(), &names, &Validity::default(), form.plain);
                Column::lists(name, &self.error_ends, errors, &valid)
            }
            Wanted::WhatwgHost => texts(name, &self.hosts),
            Wanted::WhatwgHref => texts(name, &self.hrefs),
        });
        Column::table("", len, &valid, children.collect())
    }
}

/// How sets and names are written.
#[derive(Clone, Copy)]
pub struct Form {
    /// Sets as bits of a number instead of a struct of booleans.
    pub bits: bool,
    /// Names as strings instead of dictionaries.
    pub plain: bool,
}

/// A column of strings.
fn texts(name: &str, texts: &[Option<String>]) -> Column {
    let valid = Validity::of(texts.len(), |n| texts[n].is_some());
    Column::strings(name, texts.iter().map(|text| text.as_deref().unwrap_or("")), &valid)
}

/// A number of values that are in memory.
fn count(n: usize) -> i64 {
    i64::try_from(n).expect("what is in memory can be counted")
}

/// A column of sets of names, one bit for each name.
fn flags(name: &str, valid: &Validity, form: Form, names: &[&str], sets: &[u8]) -> Column {
    if form.bits {
        return Column::numbers(name, sets.to_vec(), valid);
    }
    let column = |(bit, name): (usize, &&str)| Column::booleans(name, sets, bit, valid);
    Column::table(name, sets.len(), valid, names.iter().enumerate().map(column).collect())
}

/// A value of consecutive batches.
fn value_at(batches: &[(usize, Batch)], row: usize) -> Option<&[u8]> {
    let after = batches.partition_point(|(first, _)| *first <= row);
    let (first, batch) = &batches[after.checked_sub(1)?];
    batch.get(row - first)
}

/// A scheme as a report names it.
pub fn lower_case(scheme: &[u8]) -> String {
    scheme.iter().map(|&byte| char::from(byte.to_ascii_lowercase())).collect()
}
