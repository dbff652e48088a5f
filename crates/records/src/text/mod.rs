//! Finds URLs in running text. A record is a *candidate*: a URL, or a place that looks like one and is refused. The bytes
//! between candidates belong to no record.
//!
//! `tests/conformance/CONTEXT.md` decides by number (X1, X2, ...) where a URL begins and ends. This file decides where one
//! begins, `extent` where it ends, and `anchors` finds the places to look at. A text is any bytes. It is read once, and no line
//! is needed.

mod anchors;
mod bytes;
mod extent;
mod schemes;

use std::borrow::Cow;

use memchr::{memrchr, memrchr2};

use super::{BadCause, Cursor, Cut, Gap, MAX_RECORD_LEN, Miss, Part, Record, RecordReader, Role, n_lines};
use anchors::{Anchors, LineCount};
use bytes::{is_ender, is_of_scheme};
use extent::{MAX_BRACKETED, closing_bracket, url_end};

/// Searches a text for candidates.
#[derive(Clone, Debug)]
pub(super) struct Search {
    anchors: Anchors,
    /// The candidate at which the last call of [`Search::seek`] stopped.
    candidate: Option<Candidate>,
    /// No word that is too long begins before this offset in the input.
    checked: u64,
}

/// A candidate in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Candidate {
    start: usize,
    end: usize,
    content: Content,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// A URL.
    Url,
    /// A URL between angle brackets with white space in it, which is ignored.
    Bracketed,
    /// No URL, for this cause.
    Refused(BadCause),
}

impl Search {
    pub(super) fn new() -> Self {
        Self { anchors: Anchors::new(), candidate: None, checked: 0 }
    }

    /// The first word that is too long and begins at `until` or before (X14): its start and its end.
    #[inline]
    fn long_word(&mut self, text: &[u8], offset: u64, until: usize) -> Option<(usize, usize)> {
        if text.len() <= MAX_RECORD_LEN {
            return None;
        }
        let mut start = usize::try_from(self.checked.saturating_sub(offset)).unwrap_or(usize::MAX);
        while start <= until && text.len() - start > MAX_RECORD_LEN {
            match last_ender(&text[start..=start + MAX_RECORD_LEN]) {
                Some(ender) => start += ender + 1,
                None => return Some((start, start + word_len(&text[start..]))),
            }
            self.checked = offset + start as u64;
        }
        None
    }
}

impl RecordReader for Search {
    /// Returns the candidate that [`Search::seek`] found.
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        let Candidate { start, end, content } = self.candidate.expect("a candidate was found here");
        let (text, len) = (cursor.rest(), end - start);
        let candidate = &text[..len];
        let url = |bytes| Some(Part { role: Role::Url, wanted: 0, bytes, at: 0 });
        let (first, miss) = match content {
            Content::Url => (url(Cow::Borrowed(candidate)), None),
            Content::Bracketed => (url(Cow::Owned(without_white(candidate))), None),
            Content::Refused(cause @ BadCause::TooLong) => (None, Some(Miss::Bad(cause, MAX_RECORD_LEN))),
            Content::Refused(cause) => (None, Some(Miss::Bad(cause, len))),
        };
        let lines = if content == Content::Bracketed { n_lines(candidate) } else { 0 };
        let is_open = content == Content::Refused(BadCause::TooLong) && len == text.len();
        Record { len, lines, first, miss, is_open }
    }

    /// A cut is after an ender, so that no word is cut, or before a "<".
    fn cut(&mut self, text: &[u8], _offset: u64, ended: bool) -> Cut {
        if ended {
            return Cut::at(text.len());
        }
        let Some(ender) = last_ender(text) else { return Cut::at(0).or_open(text) };
        let end = open_bracket(&text[..=ender]).unwrap_or(ender + 1);
        let is_open = end == 0 && text.len() - ender - 1 > MAX_RECORD_LEN;
        if is_open { Cut { len: text.len(), is_open } } else { Cut::at(end) }
    }

    fn seek(&mut self, text: &[u8], offset: u64) -> Gap {
        let mut count = LineCount::default();
        self.candidate = self.anchors.find(text, offset, &mut count, |anchor| Candidate::at(text, anchor));
        let end = self.candidate.map_or(text.len(), |candidate| candidate.start);
        let len = self.long_word(text, offset, end).map_or(end, |(start, end)| {
            let content = Content::Refused(BadCause::TooLong);
            self.candidate = Some(Candidate { start, end, content });
            start
        });
        self.anchors.count_up_to(len, text, offset, &mut count);
        Gap { len, lines: count.lines }
    }

    fn end_of_rest(&self, bytes: &[u8]) -> Option<usize> {
        bytes.iter().position(|&byte| is_ender(byte))
    }
}

fn without_white(url: &[u8]) -> Vec<u8> {
    url.iter().copied().filter(|&byte| !byte.is_ascii_whitespace()).collect()
}

impl Candidate {
    /// The candidate that the anchor at `anchor` shows, if it shows one.
    #[inline(always)]
    fn at(text: &[u8], anchor: usize) -> Option<Self> {
        may_show_candidate(text, anchor).then(|| Self::shown_by(text, anchor)).flatten()
    }

    /// Does what [`Candidate::at`] does, for any anchor.
    fn shown_by(text: &[u8], anchor: usize) -> Option<Self> {
        if text[anchor] != b':' {
            Self::without_scheme(text, anchor)
        } else if text[anchor + 1..].starts_with(b"//") {
            Some(Self::with_slashes(text, anchor))
        } else {
            Self::with_known_scheme(text, anchor).or_else(|| Self::marked(text, anchor))
        }
    }

    /// The URL whose first `body - start` bytes are given. It is refused if no other byte belongs to it.
    fn url(text: &[u8], start: usize, body: usize) -> Self {
        let end = url_end(text, start, body);
        let content = if end > body { Content::Url } else { Content::Refused(BadCause::NothingFollows) };
        Self { start, end, content }
    }

    /// A candidate with "://" at `colon` (X8).
    fn with_slashes(text: &[u8], colon: usize) -> Self {
        let body = colon + 3;
        let Some(start) = scheme_start(text, colon) else {
            return Self { start: colon, end: body, content: Content::Refused(BadCause::NoScheme) };
        };
        let is_bracketed = text[..start].ends_with(b"<");
        is_bracketed
            .then(|| Self::bracketed(text, start - 1, start, body))
            .flatten()
            .unwrap_or_else(|| Self::url(text, start, body))
    }

    /// A URL that begins at `start` and ends before the ">" of the "<" at `open` (X11).
    fn bracketed(text: &[u8], open: usize, start: usize, body: usize) -> Option<Self> {
        let (end, has_white) = closing_bracket(text, open)?;
        let is_empty = text[body..end].iter().all(|&byte| byte.is_ascii_whitespace());
        let has_white = has_white && text[start..end].iter().any(|&byte| byte.is_ascii_whitespace());
        let content = if has_white { Content::Bracketed } else { Content::Url };
        (!is_empty).then_some(Self { start, end, content })
    }

    /// A URL of any scheme after `<URL:`, whose colon is at `colon` (X12).
    fn marked(text: &[u8], colon: usize) -> Option<Self> {
        let open = colon.checked_sub(4)?;
        if !text[open..colon].eq_ignore_ascii_case(b"<url") {
            return None;
        }
        let within = &text[colon + 1..text.len().min(open + MAX_BRACKETED)];
        let start = colon + 1 + within.iter().position(|&byte| !byte.is_ascii_whitespace())?;
        let scheme = text[start..].iter().take(schemes::MAX_LEN).take_while(|&&byte| is_of_scheme(byte));
        let scheme_end = start + scheme.count();
        let is_url = text[start].is_ascii_alphabetic() && text.get(scheme_end) == Some(&b':');
        is_url.then(|| Self::bracketed(text, open, start, scheme_end + 1)).flatten()
    }

    /// A URL of a known scheme without "//" (X9).
    fn with_known_scheme(text: &[u8], colon: usize) -> Option<Self> {
        let body = colon + 1;
        let rest = &text[body..];
        if rest.first().is_none_or(|&byte| is_ender(byte)) {
            return None;
        }
        let run = &text[run_start(text, colon)..colon];
        let last = memrchr(b'.', run).map_or(run, |stop| &run[stop + 1..]);
        let name = &last[last.iter().take_while(|byte| matches!(byte, b'+' | b'-')).count()..];
        let needs = schemes::find(name)?;
        // Look no further than the next colon, so that each byte is passed once.
        let is_last = |&byte: &u8| byte == b':' || is_ender(byte);
        let head = rest.iter().position(is_last).map_or(rest, |at| &rest[..=at]);
        if !needs.is_met(head) {
            return None;
        }
        let candidate = Self::url(text, colon - name.len(), body);
        (candidate.content == Content::Url && needs.is_met(&text[body..candidate.end])).then_some(candidate)
    }

    /// A candidate that begins with "www.", whose third letter is at `anchor` (X10).
    fn without_scheme(text: &[u8], anchor: usize) -> Option<Self> {
        let start = anchor.checked_sub(2)?;
        let body = anchor + 2;
        let is_inside = |&byte: &u8| byte.is_ascii_alphanumeric() || b"-./@%".contains(&byte);
        if text.get(anchor + 1) != Some(&b'.') || text[..start].last().is_some_and(is_inside) {
            return None;
        }
        let is_domain = text.get(body).is_some_and(|byte| byte.is_ascii_alphanumeric() || !byte.is_ascii());
        Some(if is_domain {
            Self::url(text, start, body)
        } else {
            Self { start, end: body, content: Content::Refused(BadCause::NothingFollows) }
        })
    }
}

/// Whether an anchor may show a candidate, by the two bytes on each side of it. Most colons are ruled out without a branch.
#[inline(always)]
fn may_show_candidate(text: &[u8], anchor: usize) -> bool {
    let Some(&[before, last, byte, next, after]) =
        anchor.checked_sub(2).and_then(|start| text[start..].first_chunk())
    else {
        return true;
    };
    let has_slashes = [next, after] == *b"//";
    let may_be_known = schemes::may_end_with(before, last) & !is_ender(next);
    let may_be_marked = before.eq_ignore_ascii_case(&b'r') & last.eq_ignore_ascii_case(&b'l');
    (byte != b':') | has_slashes | may_be_known | may_be_marked
}

/// Where the bytes before `colon` begin that a scheme can contain. At most one more than the longest scheme is counted.
fn run_start(text: &[u8], colon: usize) -> usize {
    let run = text[..colon].iter().rev().take(schemes::MAX_LEN + 1).take_while(|&&byte| is_of_scheme(byte));
    colon - run.count()
}

/// Where the scheme begins that ends at `colon`, before "//" (X8).
fn scheme_start(text: &[u8], colon: usize) -> Option<usize> {
    let run = run_start(text, colon);
    let name = &text[run..colon];
    let usual_after = |is_before: fn(&u8) -> bool| {
        let start = name.iter().rposition(is_before)? + 1;
        schemes::is_usual(&name[start..]).then_some(run + start)
    };
    usual_after(|&byte| byte == b'.' || byte.is_ascii_digit())
        .or_else(|| {
            let marks = name.iter().take_while(|byte| matches!(byte, b'+' | b'-' | b'.')).count();
            let is_scheme =
                name.len() <= schemes::MAX_LEN && name.get(marks).is_some_and(u8::is_ascii_alphabetic);
            is_scheme.then_some(run + marks)
        })
        .or_else(|| usual_after(|byte| !byte.is_ascii_alphabetic()))
}

fn last_ender(text: &[u8]) -> Option<usize> {
    text.iter().rposition(|&byte| is_ender(byte))
}

/// How many bytes precede the first ender.
fn word_len(text: &[u8]) -> usize {
    text.iter().position(|&byte| is_ender(byte)).unwrap_or(text.len())
}

/// Where the angle bracket is whose ">" may follow `text`, which ends with an ender.
fn open_bracket(text: &[u8]) -> Option<usize> {
    let near = text.len().saturating_sub(MAX_BRACKETED + 1);
    let open = near + memrchr2(b'<', b'>', &text[near..])?;
    let inside = text[open..].strip_prefix(b"<")?;
    let scheme_len = inside.iter().take(schemes::MAX_LEN + 1).take_while(|&&byte| is_of_scheme(byte)).count();
    let after = &inside[scheme_len..];
    let begins_url =
        after.starts_with(b"://") || inside.len() >= 4 && inside[..4].eq_ignore_ascii_case(b"url:");
    (inside.is_empty() || begins_url && text.last().is_some_and(|&byte| byte.is_ascii_whitespace()))
        .then_some(open)
}
