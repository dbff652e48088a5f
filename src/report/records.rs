//! The part of a report about records: how many were read, skipped and refused, and their fields by role.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::make::count;
use super::{Count, Report};
use crate::records::{BadCause, Dialect, Format, Role, Skip};
use crate::run::Records;

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
    /// The judged fields, by role.
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

/// Fields of one role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FieldCount {
    /// The role of the fields in their records.
    pub role: Role,
    /// Fields without any bytes. They are not judged.
    pub blank: u64,
    /// The judged fields.
    #[serde(flatten)]
    pub count: Count,
}

/// Fields of one role in all inputs.
#[derive(Clone, Copy, Default)]
pub(super) struct FieldSum {
    pub(super) judged: u64,
    /// Fields that the chosen grammar accepts.
    pub(super) accepted: u64,
    pub(super) blank: u64,
}

impl Report {
    /// The fields of all records, by role.
    pub(super) fn fields(&self) -> BTreeMap<Role, FieldSum> {
        let mut sums: BTreeMap<Role, FieldSum> = BTreeMap::new();
        let records = self.inputs.iter().filter_map(|input| input.records.as_ref());
        for fields in records.flat_map(|records| &records.fields) {
            let sum = sums.entry(fields.role).or_default();
            sum.judged = sum.judged.saturating_add(fields.count.lines);
            sum.accepted = sum.accepted.saturating_add(fields.count.accepted.by(self.grammar));
            sum.blank = sum.blank.saturating_add(fields.blank);
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
        let first = |cause| {
            let first = records.refused.get(&cause).into_iter().flatten();
            first
                .map(|bad| RecordPlace { line: bad.line, record_offset: bad.offset, offset: bad.at })
                .collect()
        };
        let refused = BadCause::ALL.iter().map(|&cause| RefusedCount {
            cause,
            records: counts.refused(cause),
            first: first(cause),
        });
        let fields = records.roles.iter().map(|(&role, fields)| FieldCount {
            role,
            blank: fields.blank,
            count: count(&fields.judged),
        });
        Self {
            format: records.format,
            dialect: records.dialect,
            log_format: records.log_format.clone(),
            column: records.column.clone(),
            read: counts.read(),
            skipped: skipped.filter(|skipped| skipped.records > 0).collect(),
            refused: refused.filter(|refused| refused.records > 0).collect(),
            fields: fields.collect(),
        }
    }
}
