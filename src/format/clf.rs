//! The common log format (`%h %l %u %t "%r" %>s %b`) and the combined one, which adds `"%{Referer}i" "%{User-agent}i"`, as Apache
//! and nginx write them: the first quoted string is the request, the second the Referer.

use super::quoted::{self, target};
use super::{BadCause, Miss, Outcome, Part, Parts, Role, Selector};

/// Which fields are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    request: bool,
    referer: bool,
}

impl Wanted {
    pub(super) fn new(fields: &[Selector]) -> Result<Self, usize> {
        let mut wanted = Self { request: fields.is_empty(), referer: fields.is_empty() };
        for (n, field) in fields.iter().enumerate() {
            match field {
                Selector::Name(name) if name == "request" => wanted.request = true,
                Selector::Name(name) if name == "referer" => wanted.referer = true,
                _ => return Err(n),
            }
        }
        Ok(wanted)
    }

    #[inline]
    pub(super) fn read<'a>(&self, line: &'a [u8], parts: &mut Parts<'a>) -> Outcome {
        let request = quoted::next(line, 0)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
        let behind = request.end + 1;
        if self.request
            && let Some((at, bytes)) = target(line, request)?
        {
            parts.push(Part { role: Role::Request, bytes, at });
        }
        if self.referer
            && let Some(referer) = quoted::next(line, behind)?
            && &line[referer.start..referer.end] != b"-"
        {
            parts.push(Part { role: Role::Referer, bytes: referer.text(line), at: referer.start });
        }
        parts.or_skip()
    }
}
