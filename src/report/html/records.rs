//! The records and fields of inputs that are not plain lists, as the page shows them.

use super::bound::{Bounds, FirstRows, NAME, shown};
use crate::report::records::FieldSum;
use crate::report::{RecordCount, RecordPlace, Report, grouped};
use urlsift_records::{BadCause, Skip};

/// The records of one input.
pub(super) struct RecordRow {
    pub(super) name: String,
    pub(super) format: &'static str,
    pub(super) n_read: u64,
    pub(super) n_skipped: u64,
    pub(super) n_refused: u64,
    pub(super) refused: Vec<Miss>,
    pub(super) skipped: Vec<Miss>,
}

/// Records that yielded no URL, for one reason.
pub(super) struct Miss {
    pub(super) records: u64,
    pub(super) why: &'static str,
    /// The places of the first of them.
    pub(super) first: Vec<String>,
}

/// One row per input. Inputs with refused records come first.
pub(super) fn records(report: &Report, bounds: &Bounds) -> FirstRows<RecordRow> {
    let of_records = |input: usize| Some((input, report.inputs[input].records.as_deref()?));
    let mut inputs: Vec<_> = (0..report.inputs.len()).filter_map(of_records).collect();
    inputs.sort_by_key(|(_, records)| records.n_refused() == 0);
    let n_records = |(_, records): &(usize, &RecordCount)| {
        records.read.saturating_add(records.n_skipped()).saturating_add(records.n_refused())
    };
    let row = |(input, records)| row(report.input_name(input), records, bounds.examples);
    FirstRows::new(inputs, bounds.inputs, n_records, row)
}

/// Makes the row of one input, with at most `n_places` places for each cause.
fn row(name: &str, records: &RecordCount, n_places: usize) -> RecordRow {
    let miss = |records, why: &'static str, first: &[RecordPlace]| Miss {
        records,
        why,
        first: first.iter().take(n_places).map(place).collect(),
    };
    let refused = records.refused.iter().take(BadCause::ALL.len());
    let skipped = records.skipped.iter().take(Skip::ALL.len());
    RecordRow {
        name: shown(name, NAME),
        format: records.format.name(),
        n_read: records.read,
        n_skipped: records.n_skipped(),
        n_refused: records.n_refused(),
        refused: refused.map(|miss_of| miss(miss_of.records, miss_of.cause.name(), &miss_of.first)).collect(),
        skipped: skipped.map(|miss_of| miss(miss_of.records, miss_of.reason.name(), &[])).collect(),
    }
}

fn place(place: &RecordPlace) -> String {
    format!("line {}, byte {} of the record", grouped(place.line), grouped(place.offset.saturating_add(1)))
}

/// All fields of one role, or those that one wanted field selects.
pub(super) struct FieldRow {
    pub(super) name: String,
    pub(super) judged: u64,
    /// Fields that the chosen grammar accepts.
    pub(super) accepted: u64,
    pub(super) refused: u64,
    /// Fields without any bytes. They are not judged.
    pub(super) blank: u64,
}

/// The fields of all inputs, by wanted field and role.
pub(super) fn fields(report: &Report, bounds: &Bounds) -> FirstRows<FieldRow> {
    let row = |sum: FieldSum<'_>| FieldRow {
        name: shown(&sum.label(), NAME),
        judged: sum.judged,
        accepted: sum.accepted,
        refused: sum.judged.saturating_sub(sum.accepted),
        blank: sum.blank,
    };
    FirstRows::new(report.fields(), bounds.findings, |sum| sum.judged, row)
}
