//! Reads the common log format (`%h %l %u %t "%r" %>s %b`) and the combined one, which adds `"%{Referer}i" "%{User-agent}i"`.
//! Apache and nginx write them. The first quoted string is the request, and the second is the Referer.

use memchr::memmem;

use super::log::begins_like;
use super::quoted::{SEPARATORS, Strings, target};
use super::separators::Set;
use super::{BadCause, Cursor, Miss, Outcome, Part, Parts, Record, RecordReader, Role, Selector};

/// Which fields are wanted, as indices in the list of wanted fields.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedFields {
    request: Option<u32>,
    referer: Option<u32>,
}

impl WantedFields {
    /// Request and Referer.
    pub(super) fn all() -> Self {
        Self { request: Some(0), referer: Some(0) }
    }

    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        if fields.is_empty() {
            return Ok(Self::all());
        }
        let is_other = |field: &Selector| !field.is_name("request") && !field.is_name("referer");
        if let Some(n) = fields.iter().position(is_other) {
            return Err(n);
        }
        let index = |wanted: &str| {
            let mut indices = (0..).zip(fields);
            indices.find(|(_, field)| field.is_name(wanted)).map(|(n, _)| n)
        };
        Ok(Self { request: index("request"), referer: index("referer") })
    }

    /// The request, which is the only field.
    pub(super) fn of_request(fields: &[Selector]) -> Result<Self, usize> {
        let is_other = |field: &Selector| !field.is_name("request");
        fields.iter().position(is_other).map_or(Ok(Self { request: Some(0), referer: None }), Err)
    }

    #[inline(always)]
    fn take<'a>(&self, line: &'a [u8], strings: &Strings, parts: &mut Parts<'_, 'a>) -> Outcome {
        let request = strings.get(0, line)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
        if let Some(wanted) = self.request
            && let Some((at, bytes)) = target(line, request)?
        {
            parts.push(Part { role: Role::Request, wanted, bytes, at });
        }
        if let Some(wanted) = self.referer
            && let Some(referer) = strings.get(1, line)?
            && &line[referer.start..referer.end] != b"-"
        {
            parts.push(Part { role: Role::Referer, wanted, bytes: referer.text(line), at: referer.start });
        }
        parts.or_skip()
    }
}

impl RecordReader for WantedFields {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let strings = Strings::walk(&mut cursor.marks, cursor.at);
        Record::line(&cursor.rest()[..strings.len], &mut cursor.more, |line, parts| {
            self.take(line, &strings, parts)
        })
    }

    fn separators(&self) -> Set {
        SEPARATORS
    }
}

/// Whether a line contains a time in brackets, and a quote after it.
pub(super) fn is_record(line: &[u8]) -> bool {
    let Some(at) = memmem::find(line, b" [") else { return false };
    begins_like(&line[at + 2..], b"00/aaa/0000:00:00:00 ?0000] \"")
}
