//! Reads the access log of AWS application load balancers: columns separated by blanks. The first quoted column is the request,
//! `"GET https://example.org:443/path HTTP/1.1"`. A request that the balancer could not read is `"- http://example.org:80- "`.

use super::quoted::{Strings, target};
use super::separators::Marks;
use super::{BadCause, Miss, Outcome, Part, Parts, Record, Role, Selector};

/// Checks `fields`. The error is the index of a field that the log does not have.
pub(super) fn check(fields: &[Selector]) -> Result<(), usize> {
    let is_other = |field: &Selector| !field.is_name("request");
    fields.iter().position(is_other).map_or(Ok(()), Err)
}

/// Reads the line that begins at `at`.
#[inline(never)]
pub(super) fn read<'a>(marks: &mut Marks<'a>, at: usize, more: &mut Vec<Part<'a>>) -> Record<'a> {
    let strings = Strings::walk(marks, at);
    Record::line(&marks.bytes()[at..at + strings.len], more, |line, parts| take(line, &strings, parts))
}

#[inline(always)]
fn take<'a>(line: &'a [u8], strings: &Strings, parts: &mut Parts<'_, 'a>) -> Outcome {
    let request = strings.get(0, line)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
    if let Some((at, bytes)) = target(line, request)? {
        parts.push(Part { role: Role::Request, wanted: 0, bytes, at });
    }
    parts.or_skip()
}
