//! The part of a report about records: how many were read, skipped and refused, and their fields by role.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::make::count;
use super::{Count, Report};
use crate::run::{Records, Selected};
use crate::tally::ByVerdict;
use urlsift_records::{BadCause, BadRecord, Dialect, Format, Role, Skip};

/// The records of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecordCount {
    /// The format of the input.
    pub format: Format,
    /// How cells are separated and quoted. `null` if the input is no table of text.
    pub dialect: Option<Dialect>,
    /// The pattern of log lines that `--log-format` gave. `null` for other formats.
    pub log_format: Option<String>,
    /// The column that the fields are from. `null` if the format has no columns, or if they are from several.
    pub column: Option<String>,
    /// Records with at least one URL field. All records are either read, skipped or refused.
    pub read: u64,
    /// Records that are well-formed but have no URL field.
    pub skipped: Vec<SkippedCount>,
    /// Records that could not be read.
    pub refused: Vec<RefusedCount>,
    /// The judged fields, by role. If several fields are wanted, by these first, in their order.
    pub fields: Vec<FieldCount>,
}

/// Records that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkippedCount {
    /// Why the records were skipped.
    pub reason: Skip,
    /// The number of records.
    pub records: u64,
}

/// Records that could not be read, for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedCount {
    /// Why the records could not be read.
    pub cause: BadCause,
    /// The number of records.
    pub records: u64,
    /// The places of the first few.
    pub first: Vec<RecordPlace>,
}

/// The place of a record that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecordPlace {
    /// The number of the record's first line, from 1.
    pub line: u64,
    /// Where the record begins, in bytes from the start of the input.
    pub record_offset: u64,
    /// Where the defect lies, in bytes from the start of the record.
    pub offset: u64,
}

/// Fields of one role. If several fields are wanted, those that one of them selects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FieldCount {
    /// The wanted field, as `--field` names it; left out unless several are wanted. A field that selects nothing has no lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub name: Option<String>,
    /// The role of the fields in their records.
    pub role: Role,
    /// Fields without any bytes. They are not judged.
    pub blank: u64,
    /// The judged fields.
    #[serde(flatten)]
    pub count: Count,
}

/// The fields of one [`FieldCount`] in all inputs.
pub(super) struct FieldSum<'a> {
    /// The wanted field that selects them, if several are wanted.
    pub(super) name: Option<&'a str>,
    pub(super) role: Role,
    /// Whether the wanted field also selects fields of another role.
    pub(super) has_others: bool,
    pub(super) judged: u64,
    /// Fields that the chosen grammar accepts.
    pub(super) accepted: u64,
    pub(super) blank: u64,
}

impl FieldSum<'_> {
    fn is_empty(&self) -> bool {
        self.judged == 0 && self.blank == 0
    }

    /// What these fields are called.
    pub(super) fn label(&self) -> String {
        match self.name {
            Some(name) if self.has_others => format!("{name} ({})", self.role),
            Some(name) => name.to_owned(),
            None => self.role.name().to_owned(),
        }
    }
}

impl Report {
    /// The fields of all records, by role, and by wanted field if there are several.
    pub(super) fn fields(&self) -> Vec<FieldSum<'_>> {
        // Names are in the order of the user in each input.
        let mut places = HashMap::new();
        let mut sums: BTreeMap<(usize, Role), FieldSum<'_>> = BTreeMap::new();
        let records = self.inputs.iter().filter_map(|input| input.records.as_deref());
        for fields in records.flat_map(|records| &records.fields) {
            let (name, role) = (fields.name.as_deref(), fields.role);
            let next = places.len();
            let (place, n_filled) = places.entry(name).or_insert((next, 0));
            let empty = FieldSum { name, role, has_others: false, judged: 0, accepted: 0, blank: 0 };
            let sum = sums.entry((*place, role)).or_insert(empty);
            let was_empty = sum.is_empty();
            sum.judged = sum.judged.saturating_add(fields.count.lines);
            sum.accepted = sum.accepted.saturating_add(fields.count.accepted.by(self.grammar));
            sum.blank = sum.blank.saturating_add(fields.blank);
            *n_filled += usize::from(was_empty && !sum.is_empty());
        }
        let mut sums: Vec<_> = sums.into_values().collect();
        let n_filled = |sum: &FieldSum<'_>| places[&sum.name].1;
        sums.retain(|sum| !sum.is_empty() || n_filled(sum) == 0);
        for sum in &mut sums {
            sum.has_others = n_filled(sum) > 1;
        }
        sums
    }
}

impl RecordCount {
    /// The number of skipped records.
    #[must_use]
    pub fn n_skipped(&self) -> u64 {
        self.skipped.iter().fold(0, |all, skipped| all.saturating_add(skipped.records))
    }

    /// The number of records that could not be read.
    #[must_use]
    pub fn n_refused(&self) -> u64 {
        self.refused.iter().fold(0, |all, refused| all.saturating_add(refused.records))
    }

    pub(super) fn new(records: &Records) -> Self {
        let counts = &records.counts;
        let skipped =
            Skip::ALL.iter().map(|&reason| SkippedCount { reason, records: counts.skipped(reason) });
        let place =
            |bad: &BadRecord| RecordPlace { line: bad.line, record_offset: bad.offset, offset: bad.at };
        let refused = BadCause::ALL.iter().map(|&cause| RefusedCount {
            cause,
            records: counts.refused(cause),
            first: records.refused.get(&cause).into_iter().flatten().map(place).collect(),
        });
        let mut fields = Vec::new();
        for Selected { name, roles, .. } in &records.selected {
            fields.extend(roles.iter().map(|(&role, fields)| FieldCount {
                name: name.clone(),
                role,
                blank: fields.blank,
                count: count(&fields.judged),
            }));
            if let Some(name) = name.as_ref().filter(|_| roles.is_empty()) {
                let (role, count) = (Role::find(name).unwrap_or(Role::Url), count(&ByVerdict::default()));
                fields.push(FieldCount { name: Some(name.clone()), role, blank: 0, count });
            }
        }
        Self {
            format: records.format,
            dialect: records.dialect,
            log_format: records.log_format.clone(),
            column: records.column.clone(),
            read: counts.read(),
            skipped: skipped.filter(|skipped| skipped.records > 0).collect(),
            refused: refused.filter(|refused| refused.records > 0).collect(),
            fields,
        }
    }
}
