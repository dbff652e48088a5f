//! Reads log lines that a container engine has wrapped: in JSON (Docker), or behind a time, a stream and a tag (the Container Runtime
//! Interface, CRI). A wrapped line is JSON or a line of an access log. Any other line has no URL.

use std::borrow::Cow;

use memchr::memchr;

use super::json::{self, Wanted};
use super::separators::Marks;
use super::{
    BadCause, Cursor, Miss, Outcome, Part, Parts, Record, RecordReader, Skip, clf, first_line, quoted,
};
use urlsift_engine::lines::trim_terminator;

/// The line in a line of CRI, and whether it is whole; `None` if the line is none of CRI.
pub(super) fn unwrapped(line: &[u8]) -> Option<(&[u8], bool)> {
    let mut words = line.splitn(4, |&byte| byte == b' ');
    let (time, stream, tags, text) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let is_time = time.len() >= 20 && time[4] == b'-' && time[10] == b'T';
    let tag = tags.split(|&byte| byte == b':').next()?;
    let is_cri = is_time && matches!(stream, b"stdout" | b"stderr") && matches!(tag, b"F" | b"P");
    is_cri.then_some((text, tag == b"F"))
}

/// Reads lines of CRI.
#[derive(Clone, Debug)]
pub(super) struct Cri;

impl RecordReader for Cri {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        Record::line(first_line(cursor.rest()), &mut cursor.more, |line, parts| {
            let (text, is_whole) = unwrapped(line).ok_or(Miss::Bad(BadCause::NotARecord, 0))?;
            if !is_whole {
                return Err(Miss::Bad(BadCause::CutOff, line.len()));
            }
            take_line(Cow::Borrowed(text), line.len() - text.len(), parts)?;
            parts.or_skip()
        })
    }
}

/// Takes the URLs of a wrapped line, which begins at byte `at` of its record.
pub(super) fn take_line<'a>(line: Cow<'a, [u8]>, at: usize, parts: &mut Parts<'_, 'a>) -> Outcome {
    // Undone escapes moved the bytes of an owned line, so that its fields are where the line begins.
    let is_borrowed = matches!(line, Cow::Borrowed(_));
    let place = |inside: usize| if is_borrowed { at + inside } else { at };
    let (found, outcome) = match line {
        Cow::Borrowed(line) => fields(line),
        Cow::Owned(line) => {
            let (found, outcome) = fields(&line);
            let owned = |part: Part<'_>| Part { bytes: Cow::Owned(part.bytes.into_owned()), ..part };
            (found.into_iter().map(owned).collect(), outcome)
        }
    };
    match outcome {
        Err(Miss::Bad(cause, inside)) => return Err(Miss::Bad(cause, place(inside))),
        Err(Miss::Skipped(_)) => {}
        Ok(()) => found.into_iter().for_each(|part| parts.push(Part { at: place(part.at), ..part })),
    }
    Ok(())
}

/// Finds the fields of a line.
fn fields(line: &[u8]) -> (Vec<Part<'_>>, Outcome) {
    let line = trim_terminator(line).0;
    let mut found = Vec::new();
    let (first, outcome) = if line.trim_ascii_start().starts_with(b"{") {
        let mut parts = Parts::new(&mut found);
        let mut marks = Marks::new(json::SEPARATORS, line);
        let outcome = json::read(&mut marks, 0..line.len(), 0, &Wanted::Usual, &mut parts);
        (parts.first, outcome)
    } else if clf::is_record(line) && memchr(b'\n', line).is_none() {
        let mut cursor = Cursor::new(quoted::SEPARATORS, line, 0);
        let record = clf::WantedFields::all().read(&mut cursor);
        found.append(&mut cursor.more);
        (record.first, record.miss.map_or(Ok(()), Err))
    } else {
        (None, Err(Miss::Skipped(Skip::NoField)))
    };
    found.splice(0..0, first);
    (found, outcome)
}
