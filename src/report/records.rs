//! What a report says of inputs that are no lists: how many records were read, skipped and refused, and what their fields are.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::make::count;
use super::{Count, Report};
use crate::records::{BadCause, Format, Role, Skip};
use crate::run::Records;

/// The records of an input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecordCount {
    /// How they are written down.
    pub format: Format,
    /// Records that gave a field or more; with those skipped and refused, all there are.
    pub read: u64,
    /// Records without a field in which nothing is wrong.
    pub skipped: Vec<SkippedCount>,
    /// Records that could not be read.
    pub refused: Vec<RefusedCount>,
    /// The fields that were judged, by what they are.
    pub fields: Vec<FieldCount>,
}

/// Records that were skipped for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SkippedCount {
    /// Why.
    pub reason: Skip,
    /// How many.
    pub records: u64,
}

/// Records that could not be read for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RefusedCount {
    /// Why.
    pub cause: BadCause,
    /// How many.
    pub records: u64,
    /// The first few.
    pub first: Vec<RecordPlace>,
}

/// Where a record could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RecordPlace {
    /// The number of the line in which the record begins, from 1.
    pub line: u64,
    /// Where it begins, in bytes from the start of the input.
    pub record_offset: u64,
    /// What is wrong, in bytes from the start of the record.
    pub offset: u64,
}

/// Fields of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FieldCount {
    /// What they are.
    pub role: Role,
    /// Fields without any byte; not judged.
    pub blank: u64,
    /// The judged ones.
    #[serde(flatten)]
    pub count: Count,
}

/// Fields of one kind in all inputs.
#[derive(Clone, Copy, Default)]
pub(super) struct FieldSum {
    pub(super) judged: u64,
    /// By the chosen grammar.
    pub(super) accepted: u64,
    pub(super) blank: u64,
}

impl Report {
    /// The fields of all records, by what they are.
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
    /// All records that were skipped.
    #[must_use]
    pub fn n_skipped(&self) -> u64 {
        self.skipped.iter().fold(0, |all, skipped| all.saturating_add(skipped.records))
    }

    /// All records that could not be read.
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
            read: counts.read(),
            skipped: skipped.filter(|skipped| skipped.records > 0).collect(),
            refused: refused.filter(|refused| refused.records > 0).collect(),
            fields: fields.collect(),
        }
    }
}
