//! CDXJ: a key (a URL turned around), a time of 14 digits and a JSON object, with blanks between. Lines that begin with "!" or
//! "@" say something of the file, and are no records.

use super::json::{self, Path};
use super::near::find;
use super::{BadCause, Miss, Outcome, Parts, Skip};

#[inline]
pub(super) fn read<'a>(line: &'a [u8], paths: &[Path], parts: &mut Parts<'_, 'a>) -> Outcome {
    if matches!(line[0], b'!' | b'@') {
        return Err(Miss::Skipped(Skip::Comment));
    }
    let behind_blank = |from: usize| find(b' ', &line[from..]).map(|blank| from + blank + 1);
    let object = behind_blank(0).and_then(behind_blank).filter(|&at| line[at..].starts_with(b"{"));
    let object = object.ok_or(Miss::Bad(BadCause::NotARecord, 0))?;
    json::read(line, object, paths, parts)
}
