//! The access log of AWS application load balancers: columns between blanks, of which the first that is quoted is the request,
//! `"GET https://example.org:443/path HTTP/1.1"`. A request that could not be read is `"- http://example.org:80- "`.

use super::quoted::{self, target};
use super::{BadCause, Miss, Outcome, Part, Parts, Role, Selector};

/// Which of `fields` there is not.
pub(super) fn check(fields: &[Selector]) -> Result<(), usize> {
    let is_other = |field: &Selector| !matches!(field, Selector::Name(name) if name == "request");
    fields.iter().position(is_other).map_or(Ok(()), Err)
}

#[inline]
pub(super) fn read<'a>(line: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
    let request = quoted::next(line, 0)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
    if let Some((at, bytes)) = target(line, request)? {
        parts.push(Part { role: Role::Request, bytes, at });
    }
    parts.or_skip()
}
