//! Reads CDXJ: lines of a key (a URL with its host reversed), a time of 14 digits and a JSON object, separated by blanks. Lines
//! that begin with "!" or "@" describe the file, and are no records.

use std::ops::Range;

use super::json::{self, Wanted};
use super::near_bytes::find;
use super::separators::Marks;
use super::{BadCause, Miss, Outcome, Parts, Skip};

/// Reads the line at `record`, a range of the bytes of `marks`, which search for [`json::SEPARATORS`].
#[inline]
pub(super) fn read<'a>(
    marks: &mut Marks<'a>,
    record: Range<usize>,
    wanted: &Wanted,
    parts: &mut Parts<'_, 'a>,
) -> Outcome {
    let line = &marks.bytes()[record.clone()];
    if matches!(line[0], b'!' | b'@') {
        return Err(Miss::Skipped(Skip::Comment));
    }
    let behind_blank = |from: usize| find(b' ', &line[from..]).map(|blank| from + blank + 1);
    let object = behind_blank(0).and_then(behind_blank).filter(|&at| line[at..].starts_with(b"{"));
    let object = object.ok_or(Miss::Bad(BadCause::NotARecord, 0))?;
    json::read(marks, record, object, wanted, parts)
}
