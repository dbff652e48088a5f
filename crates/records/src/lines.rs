//! Reads lists: each line is a URL.

use std::borrow::Cow;

use super::record::{Cursor, Part, Record, RecordReader, first_line};
use super::selector::Role;

#[derive(Clone, Debug)]
pub(super) struct Lines;

impl RecordReader for Lines {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        Record::line(first_line(cursor.rest()), &mut cursor.more, |line, parts| {
            parts.push(Part { role: Role::Url, wanted: 0, bytes: Cow::Borrowed(line), at: 0 });
            Ok(())
        })
    }
}
