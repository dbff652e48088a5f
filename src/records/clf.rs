//! Reads the common log format (`%h %l %u %t "%r" %>s %b`) and the combined one, which adds `"%{Referer}i" "%{User-agent}i"`.
//! Apache and nginx write them. The first quoted string is the request, and the second is the Referer.

use super::quoted::{Strings, target};
use super::separators::Marks;
use super::{BadCause, Miss, Outcome, Part, Parts, Record, Role, Selector};

/// Which fields are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedFields {
    request: bool,
    referer: bool,
}

impl WantedFields {
    /// Request and Referer.
    pub(super) fn all() -> Self {
        Self { request: true, referer: true }
    }

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

    /// Reads the line that begins at `at`.
    #[inline(never)]
    pub(super) fn read<'a>(&self, marks: &mut Marks<'a>, at: usize, more: &mut Vec<Part<'a>>) -> Record<'a> {
        let strings = Strings::walk(marks, at);
        Record::line(&marks.bytes()[at..at + strings.len], more, |line, parts| {
            self.take(line, &strings, parts)
        })
    }

    #[inline(always)]
    fn take<'a>(&self, line: &'a [u8], strings: &Strings, parts: &mut Parts<'_, 'a>) -> Outcome {
        let request = strings.get(0, line)?.ok_or(Miss::Bad(BadCause::NotARecord, line.len()))?;
        if self.request
            && let Some((at, bytes)) = target(line, request)?
        {
            parts.push(Part { role: Role::Request, bytes, at });
        }
        if self.referer
            && let Some(referer) = strings.get(1, line)?
            && &line[referer.start..referer.end] != b"-"
        {
            parts.push(Part { role: Role::Referer, bytes: referer.text(line), at: referer.start });
        }
        parts.or_skip()
    }
}
