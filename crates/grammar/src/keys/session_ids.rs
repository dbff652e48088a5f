//! The session ids that the key maker of web archives removes (KEYS K28 and K30).

use memchr::memmem;

/// How a session id is recognised at the end of an argument of a query.
enum Id {
    /// The name and "=", before 32 letters and digits.
    Named(&'static [u8]),
    /// `ASPSESSIONID`, 8 letters, "=", and 24 letters.
    Asp,
    /// The argument after one that ends in `cfid=...` is `cftoken=...`.
    ColdFusion,
}

/// The session ids of queries, in the order of their removal. Each has the text, in any letter case, without which a query has no such id.
const IDS: [(Id, &[u8]); 5] = [
    (Id::Named(b"jsessionid="), b"jsessionid="),
    (Id::Named(b"phpsessid="), b"phpsessid="),
    (Id::Named(b"sid="), b"sid="),
    (Id::Asp, b"aspsessionid"),
    (Id::ColdFusion, b"cftoken="),
];

/// Removes from a query in lower case the last session id of each kind, and the "&" after it. The cost is linear.
pub(super) fn strip_from_query(query: &mut Vec<u8>) {
    let signs = IDS.map(|(_, sign)| memmem::find(query, sign).is_some());
    for ((id, _), _) in IDS.iter().zip(signs).filter(|(_, has_sign)| *has_sign) {
        let mut end = query.len();
        loop {
            let start = argument_before(query, end);
            if let Some(at) = id.find(query, start, end) {
                query.drain(at..query.len().min(end + 1));
                break;
            }
            let Some(mark) = start.checked_sub(1) else { break };
            end = mark;
        }
    }
}

/// The start of the argument that ends at `end`.
fn argument_before(query: &[u8], end: usize) -> usize {
    memchr::memrchr(b'&', &query[..end]).map_or(0, |at| at + 1)
}

impl Id {
    /// The start of the session id that ends with the argument `query[start..end]`.
    fn find(&self, query: &[u8], start: usize, end: usize) -> Option<usize> {
        let argument = &query[start..end];
        match self {
            Self::Named(name) => {
                let (rest, value) = argument.split_at_checked(argument.len().checked_sub(32)?)?;
                let is_id = value.iter().all(u8::is_ascii_alphanumeric) && rest.ends_with(name);
                is_id.then(|| end - 32 - name.len())
            }
            Self::Asp => {
                let (_, id) = argument.split_at_checked(argument.len().checked_sub(45)?)?;
                let letters = id.strip_prefix(b"aspsessionid")?;
                let is_id = letters.iter().enumerate().all(|(at, byte)| match at {
                    8 => *byte == b'=',
                    _ => byte.is_ascii_alphabetic(),
                });
                is_id.then(|| end - 45)
            }
            Self::ColdFusion => {
                argument.strip_prefix(b"cftoken=").filter(|token| !token.is_empty())?;
                let mark = start.checked_sub(1)?;
                let before = argument_before(query, mark);
                // The value of "cfid" has a byte at least.
                let value = mark.saturating_sub(1).max(before);
                memmem::rfind(&query[before..value], b"cfid=").map(|name| before + name)
            }
        }
    }
}

/// Returns whether [`strip_from_query`] may change a query with this argument, in lower case.
#[inline]
pub(super) fn may_end_in_id(argument: &[u8]) -> bool {
    let before = |len: usize| argument.len().checked_sub(len).map_or(&b""[..], |end| &argument[..end]);
    before(32).ends_with(b"sid=")
        || before(32).ends_with(b"jsessionid=")
        || before(33).ends_with(b"aspsessionid")
        || argument.starts_with(b"cftoken=")
}

/// Removes from a path in lower case the segment with session ids that a page of ASP.NET follows, first one with named ids
/// (`/(s(...))/`), and then one without names (`/(...)/`). The cost is linear.
pub(super) fn strip_from_path(path: &mut Vec<u8>) {
    if memmem::find(path, b".aspx").is_none() {
        return;
    }
    for len_of_segment in [named_ids, unnamed_id] {
        if let Some((at, len)) = find_in_path(path, len_of_segment) {
            path.drain(at..at + len);
        }
    }
}

/// The last segment with session ids, as its offset and its length with the "/" at its end. Between it and `.aspx` is a byte at least, and
/// no "?".
fn find_in_path(path: &[u8], len_of_segment: fn(&[u8]) -> Option<usize>) -> Option<(usize, usize)> {
    let mut end = path.len();
    loop {
        let start = memchr::memrchr(b'?', &path[..end]).map_or(0, |at| at + 1);
        if let Some(page) = memmem::rfind(&path[start..end], b".aspx") {
            let found = memchr::memrchr_iter(b'/', &path[start..start + page]).find_map(|slash| {
                let at = start + slash + 1;
                let len = len_of_segment(&path[at..start + page])?;
                (at + len < start + page).then_some((at, len))
            });
            if found.is_some() {
                return found;
            }
        }
        end = start.checked_sub(1)?;
    }
}

/// The length of `(`, one or more of a letter with an id in parentheses, `)/`.
fn named_ids(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    text.strip_prefix(b"(")?;
    while text.get(at).is_some_and(u8::is_ascii_lowercase) {
        at += 1 + id_in_parentheses(&text[at + 1..])?;
    }
    (at > 1 && text[at..].starts_with(b")/")).then_some(at + 2)
}

/// The length of an id in parentheses and a "/".
fn unnamed_id(text: &[u8]) -> Option<usize> {
    let len = id_in_parentheses(text)?;
    (text.get(len) == Some(&b'/')).then_some(len + 1)
}

/// The length of 24 letters and digits in parentheses.
fn id_in_parentheses(text: &[u8]) -> Option<usize> {
    let [b'(', id @ .., b')'] = text.get(..26)? else { return None };
    id.iter().all(u8::is_ascii_alphanumeric).then_some(26)
}
