//! Reads CDXJ: lines of a key (a URL with its host reversed), a time of 14 digits and a JSON object, separated by blanks. Lines
//! that begin with "!" or "@" describe the file, and are no records.

use super::cdx::is_time;
use super::json::{self, Path, Wanted};
use super::near_bytes::find;
use super::record::refusal;
use super::separators::Set;
use super::{BadCause, Cursor, Miss, Record, RecordReader, Selector, Skip, first_line};

/// The wanted values of the objects.
#[derive(Clone, Debug)]
pub(super) struct Objects(Wanted);

impl Objects {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        Path::all(fields).map(|paths| Self(Wanted::Paths(paths)))
    }
}

impl RecordReader for Objects {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let (marks, at) = (&mut cursor.marks, cursor.at);
        Record::line(first_line(&marks.bytes()[at..]), &mut cursor.more, |line, parts| {
            if matches!(line[0], b'!' | b'@') {
                return Err(Miss::Skipped(Skip::Comment));
            }
            let behind_blank = |from: usize| find(b' ', &line[from..]).map(|blank| from + blank + 1);
            let object = behind_blank(0).and_then(behind_blank).filter(|&at| line[at..].starts_with(b"{"));
            let object = object.ok_or(Miss::Bad(BadCause::NotARecord, 0))?;
            json::read(marks, at..at + line.len(), object, &self.0, parts)
        })
    }

    fn separators(&self) -> Set {
        json::SEPARATORS
    }
}

/// Whether a line is a key, a time and a JSON object. It need not have the wanted key.
pub(super) fn is_record(line: &[u8]) -> bool {
    let is_dated = line.split(|&byte| byte == b' ').nth(1).is_some_and(is_time);
    is_dated && Objects::new(&[]).is_ok_and(|mut objects| refusal(&mut objects, line).is_none())
}
