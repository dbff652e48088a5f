//! Reads the access log of AWS application load balancers: columns separated by blanks. The first quoted column is the request,
//! `"GET https://example.org:443/path HTTP/1.1"`. A request that the balancer could not read is `"- http://example.org:80- "`.

use super::quoted::{SEPARATORS, Strings, target};
use super::separators::Set;
use super::{BadCause, Cursor, Miss, Part, Record, RecordReader, Role, Selector};

/// The request, which is the only field.
#[derive(Clone, Debug)]
pub(super) struct Request;

impl Request {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        let is_other = |field: &Selector| !field.is_name("request");
        fields.iter().position(is_other).map_or(Ok(Self), Err)
    }
}

impl RecordReader for Request {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let strings = Strings::walk(&mut cursor.marks, cursor.at);
        Record::line(&cursor.rest()[..strings.len], &mut cursor.more, |line, parts| {
            let request = strings.get(0, line)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
            if let Some((at, bytes)) = target(line, request)? {
                parts.push(Part { role: Role::Request, wanted: 0, bytes, at });
            }
            parts.or_skip()
        })
    }

    fn separators(&self) -> Set {
        SEPARATORS
    }
}

/// Whether a line begins with a kind of connection and a time, and contains a quote.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ');
    let kind = words.next().unwrap_or_default();
    let time = words.next().unwrap_or_default();
    let is_kind = [&b"http"[..], b"https", b"h2", b"grpcs", b"ws", b"wss"].contains(&kind);
    let is_iso = time.len() >= 20 && time[4] == b'-' && time[10] == b'T' && time.ends_with(b"Z");
    is_kind && is_iso && line.contains(&b'"')
}
