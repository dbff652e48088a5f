//! Finds possible passwords in a line, so that output can mask them. This file knows no grammar.
//!
//! Many lists contain URLs that are misspelt, are part of another URL, or lack their scheme. A password is disclosed once it is
//! shown. So the search looks for delimiters, and needs no valid structure. "/", ":" and "@" count also when they are escaped, as in
//! URLs, JSON strings, logs and JSON pointers. "\" counts as a slash. If the end of a password is unclear, the longest possible
//! range is masked. Masking too much does little harm.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr2, memmem, memrchr3_iter};

use crate::escape::mask;
#[cfg(feature = "scan")]
use crate::escape::printable;
use crate::hex::hex_byte;
use crate::scheme::find_known;

/// Returns the ranges of `line` that may be passwords, ascending and without overlap.
///
/// `line` is a whole line, or the beginning of one if `cut` is true. Then a password may be open at the end of `line`. It counts
/// even if none of its bytes are in `line`; its range is empty then.
///
/// - Two slashes, or a ":" and one slash, begin an authority anywhere in the line. It ends before the next "/". A password lies
///   between its first ":" and its last "@". If nothing is between them, it ends at the last "@" of the line.
/// - If an authority has no ":" before its last "@", a later ":" begins a password, unless a port follows. It ends at the
///   last "@" of the line.
/// - An encoded "@" may be a part of a password. If another "@" follows anywhere in the line, the password extends to that.
/// - At the beginning of the line, a password lies between the first ":" and the last "@". A ":" after a known scheme does not
///   count, nor does one before "//". If a port follows the ":", there is no password.
/// - The same holds for each word after a blank or a "|".
///
/// The cost is linear in the length.
///
/// Tabs and line ends between a ":" and slashes, or between two slashes, do not count.
///
/// In `http://fred:secret@example.org/` the range is 12..18, in `fred:secret@example.org` 5..11. There is none in
/// `http://example.org:80/@fred` and in `mailto:fred@example.org`.
#[must_use]
pub fn secrets(line: &[u8], cut: bool) -> Vec<Range<usize>> {
    SearchText::new(line, cut).map_or_else(Vec::new, |text| text.of_line())
}

/// Does what [`secrets`] does, also for a URL in running text (`is_of_text`), which may have ended inside a password. What follows the ":" of
/// an authority there is masked up to the end of the URL, or up to a later "@" that is not escaped. Ports are not masked.
#[must_use]
pub fn secrets_of(line: &[u8], cut: bool, is_of_text: bool) -> Vec<Range<usize>> {
    if is_of_text && !cut { secrets_in_text(line) } else { secrets(line, cut) }
}

fn secrets_in_text(url: &[u8]) -> Vec<Range<usize>> {
    SearchText { is_open: true, ..SearchText::of(url) }.of_line()
}

/// Returns the ranges of an argument or a name that may be passwords. Each key of a JSON pointer may have one. Such a pointer begins
/// with "/", also behind the "=" of an option and in a list with commas.
#[must_use]
pub fn secrets_of_name(name: &[u8]) -> Vec<Range<usize>> {
    let mut secrets = secrets(name, false);
    if name.split(|byte| b"=,".contains(byte)).any(|part| part.starts_with(b"/")) {
        add_words(name, false, &mut secrets, |byte| byte == b'/');
    }
    secrets
}

/// Returns a name with masks in the place of possible passwords. An argument or a name goes through this before it is shown.
#[must_use]
pub fn masked(name: &[u8]) -> Cow<'_, [u8]> {
    mask(name, secrets_of_name(name))
}

/// Does for a text what [`masked`] does.
#[must_use]
pub fn masked_text(text: &str) -> String {
    String::from_utf8_lossy(&masked(text.as_bytes())).into_owned()
}

/// An argument or a name as a message or a report shows it.
#[cfg(feature = "scan")]
#[must_use]
pub fn shown(name: &[u8]) -> String {
    printable(&masked(name))
}

/// A sentence with names in it, as a message or a report shows it.
#[cfg(feature = "scan")]
#[must_use]
pub fn shown_sentence(sentence: &[u8]) -> String {
    printable(&mask(sentence, secrets_of_record(sentence, false)))
}

/// Whether `text`, which was made of `sources`, may show a password of theirs that the search does not find in it.
#[must_use]
pub fn shows_password_of(text: &[u8], sources: &[&[u8]]) -> bool {
    let of_sources: Vec<_> = sources.iter().map(|source| (source, secrets(source, false))).collect();
    let found = secrets(text, false);
    let is_fewer = found.len() < of_sources.iter().map(|(_, secrets)| secrets.len()).sum::<usize>();
    let shown = mask(text, found);
    is_fewer || of_sources.iter().any(|(source, secrets)| shows_word_of(source, secrets, &shown))
}

/// Whether a text shows a word of the passwords in a line, in any letter case. The result is true for passwords that are too long to be
/// searched for.
#[must_use]
pub fn shows_word_of(line: &[u8], secrets: &[Range<usize>], text: &[u8]) -> bool {
    let passwords = secrets.iter().map(|secret| &line[secret.clone()]).collect::<Vec<_>>().join(&b' ');
    if passwords.is_empty() {
        return false;
    }
    if passwords.len() > 512 {
        return true;
    }
    let [passwords, text] = [&passwords, text].map(<[u8]>::to_ascii_lowercase);
    let mut words = passwords.split(|byte| !byte.is_ascii_alphanumeric()).filter(|word| word.len() > 3);
    words.any(|word| memmem::find(&text, word).is_some())
}

/// Whether a byte separates the words of a line.
fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'|'
}

/// Adds the possible passwords at the beginnings of words of `text`, and joins ranges that overlap. If `cut` is true, the last word may
/// continue.
fn add_words(text: &[u8], cut: bool, secrets: &mut Vec<Range<usize>>, is_blank: impl Fn(u8) -> bool) {
    if !text.iter().any(|&byte| is_blank(byte)) {
        return;
    }
    let mut start = 0;
    for word in text.split(|&byte| is_blank(byte)) {
        let end = start + word.len();
        let cut = cut && end == text.len();
        let secret = SearchText::new(word, cut).and_then(|word| word.at_the_beginning());
        secrets.extend(secret.map(|secret| start + secret.start..start + secret.end));
        start = end + 1;
    }
    join(secrets);
}

/// Sorts ranges, and joins those that overlap.
pub fn join(ranges: &mut Vec<Range<usize>>) {
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    ranges.dedup_by(|next, kept| {
        let overlap = next.start < kept.end;
        if overlap {
            kept.end = kept.end.max(next.end);
        }
        overlap
    });
}

/// Returns the ranges of `text` that may be passwords, where `text` is from the middle of a line. It can begin inside a password,
/// so everything before an "@" before the first "/" may be one.
pub fn secrets_inside(text: &[u8], cut: bool) -> Vec<Range<usize>> {
    let slash = memchr(b'/', text).unwrap_or(text.len());
    let mut secrets: Vec<_> = last_at(text, 0..slash).map(|at| 0..at.start).into_iter().collect();
    if let Some(text) = SearchText::new(text, cut) {
        text.behind_slashes(&mut secrets);
    }
    add_words(text, cut, &mut secrets, is_blank);
    secrets
}

/// Returns the ranges of a record that may be passwords. They lie behind slashes or at the beginning of a word. No password
/// extends over a quote or white space, because that may end a field.
pub fn secrets_of_record(text: &[u8], cut: bool) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    if let Some(text) = SearchText::new(text, cut) {
        SearchText { is_record: true, ..text }.behind_slashes(&mut secrets);
    }
    add_words(text, cut, &mut secrets, |byte| is_blank(byte) || b",;\"'".contains(&byte));
    secrets
}

/// Schemes where an "@" belongs to an address, in addition to the known schemes.
const OF_ADDRESSES: [&[u8]; 7] = [b"acct", b"im", b"pres", b"sip", b"sips", b"tag", b"xmpp"];

/// How a byte is written.
pub struct Spelling {
    pub byte: u8,
    /// The length in bytes.
    pub len: usize,
    /// How many times it is escaped: 0 for "@", 1 for "%40", 2 for "%2540".
    depth: usize,
}

impl Spelling {
    /// The spelling at the beginning of `text`: `%40`, `\u0040` and `\x40` are "@", and `~1` is "/". Any other byte is itself.
    pub fn at(text: &[u8]) -> Option<Self> {
        let (&first, rest) = text.split_first()?;
        let of = |digits: &[u8], len, depth| hex_byte(digits).map(|byte| Self { byte, len, depth });
        let escaped = match (first, rest) {
            (b'%', _) => {
                let n_again = rest.chunks(2).take_while(|digits| *digits == b"25").count();
                of(&rest[2 * n_again..], 2 * n_again + 3, n_again + 1)
            }
            (b'\\', [b'x', digits @ ..]) => of(digits, 4, 1),
            (b'\\', [b'u', b'0', b'0', digits @ ..]) => of(digits, 6, 1),
            (b'~', [b'1', ..]) => Some(Self { byte: b'/', len: 2, depth: 1 }),
            _ => None,
        };
        Some(escaped.unwrap_or(Self { byte: first, len: 1, depth: 0 }))
    }
}

/// A delimiter, literal or escaped.
#[derive(Clone, Copy, PartialEq)]
enum Delimiter {
    Slash,
    Backslash,
    Colon,
    At,
}

/// A delimiter and its range of bytes.
struct Mark {
    kind: Delimiter,
    start: usize,
    end: usize,
    /// How many times it is escaped.
    depth: usize,
}

impl Mark {
    /// Returns the delimiter at `start`.
    fn at(text: &[u8], start: usize) -> Option<Self> {
        let Spelling { byte, len, depth } = Spelling::at(text.get(start..)?)?;
        let kind = match byte {
            b'/' => Delimiter::Slash,
            b'\\' => Delimiter::Backslash,
            b':' => Delimiter::Colon,
            b'@' => Delimiter::At,
            _ => return None,
        };
        Some(Self { kind, start, end: start + len, depth })
    }

    fn is_slash(&self) -> bool {
        matches!(self.kind, Delimiter::Slash | Delimiter::Backslash)
    }

    fn is_encoded(&self) -> bool {
        self.depth > 0
    }

    /// The offset behind the mark, and behind the tabs and line ends that follow it. Browsers remove these.
    fn behind(&self, text: &[u8]) -> usize {
        self.end + text[self.end..].iter().take_while(|byte| matches!(byte, b'\t' | b'\n' | b'\r')).count()
    }

    /// Returns whether another slash follows, and both or neither are encoded.
    fn is_doubled(&self, text: &[u8]) -> bool {
        let next = Self::at(text, self.behind(text));
        next.is_some_and(|next| next.is_slash() && next.is_encoded() == self.is_encoded())
    }
}

/// The delimiters in the range `part` of `text`, in order.
fn marks(text: &[u8], part: Range<usize>) -> impl Iterator<Item = Mark> {
    let mut at = part.start;
    std::iter::from_fn(move || {
        while at < part.end {
            at += text[at..part.end]
                .iter()
                .position(|byte| matches!(byte, b'/' | b'\\' | b':' | b'@' | b'%' | b'~'))?;
            if let Some(mark) = Mark::at(text, at) {
                at = mark.end;
                return Some(mark);
            }
            at += 1;
        }
        None
    })
}

/// Returns the last "@" in the range `part` of `text`.
fn last_at(text: &[u8], part: Range<usize>) -> Option<Mark> {
    let at = |n: usize| Mark::at(text, part.start + n).filter(|mark| mark.kind == Delimiter::At);
    memrchr3_iter(b'@', b'%', b'\\', &text[part.clone()]).find_map(at).filter(|mark| mark.end <= part.end)
}

/// Ports that are common in lists. After a host with a dot, any number is a port. Elsewhere, other numbers can be the beginning
/// of a password, as in `http://u:12/34@h`.
const USUAL_PORTS: [&[u8]; 6] = [b"21", b"80", b"443", b"8000", b"8080", b"8443"];

/// What the text after a ":" begins with.
#[derive(PartialEq)]
enum Begins {
    /// A number that is a port by [`USUAL_PORTS`] or by the host before it, and then "/", "?", "#" or the end.
    Port,
    /// Another number of at most five digits, and then the same. It is a password if an "@" follows.
    Number,
    /// Something else, which is no port.
    Text,
}

/// Returns what the text after `colon` begins with. An encoded slash ends a port only after an encoded ":".
fn begins(text: &[u8], colon: &Mark) -> Begins {
    let behind = &text[colon.end..];
    let (digits, rest) = behind.split_at(behind.iter().take_while(|byte| byte.is_ascii_digit()).count());
    let is_encoded_slash =
        || colon.is_encoded() && Mark::at(rest, 0).is_some_and(|mark| mark.kind == Delimiter::Slash);
    let ends = rest.first().is_none_or(|byte| b"/?#".contains(byte)) || is_encoded_slash();
    let before = &text[..colon.start];
    let name =
        before.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric() || b"-.".contains(byte)).count();
    let name = &before[before.len() - name..];
    let is_port = USUAL_PORTS.contains(&digits) || name.contains(&b'.') || name == b"localhost";
    match digits.len() {
        1..=5 if ends && is_port => Begins::Port,
        1..=5 if ends => Begins::Number,
        _ => Begins::Text,
    }
}

/// The text to search.
struct SearchText<'a> {
    bytes: &'a [u8],
    /// Whether the line continues after `bytes`.
    cut: bool,
    /// Whether it is a record. Then quotes and white space may end a field, and so a password.
    is_record: bool,
    /// Whether it is a URL in running text, which may have ended inside a password.
    is_open: bool,
    /// The offset of the last "@".
    last_at: Option<usize>,
}

impl<'a> SearchText<'a> {
    /// A whole line.
    fn of(bytes: &'a [u8]) -> Self {
        let last_at = last_at(bytes, 0..bytes.len()).map(|mark| mark.start);
        Self { bytes, cut: false, is_record: false, is_open: false, last_at }
    }

    /// Returns `None` if no part of `bytes` can be a password.
    fn new(bytes: &'a [u8], cut: bool) -> Option<Self> {
        Some(Self { cut, ..Self::of(bytes) }).filter(|text| cut || text.last_at.is_some())
    }

    /// Returns the ranges that may be passwords, if this is a line or its beginning.
    fn of_line(&self) -> Vec<Range<usize>> {
        let mut secrets: Vec<_> = self.at_the_beginning().into_iter().collect();
        self.behind_slashes(&mut secrets);
        add_words(self.bytes, self.cut, &mut secrets, is_blank);
        secrets
    }

    /// The offset of the last "@" that can end a password that begins at `start`. In running text, it may follow the URL.
    fn last_at(&self, start: usize) -> Option<usize> {
        if self.is_open {
            return Some(self.bytes.len());
        }
        if !self.is_record {
            return self.last_at;
        }
        let ends = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'"';
        let len = self.bytes[start..].iter().position(ends).unwrap_or(self.bytes.len() - start);
        last_at(self.bytes, start..start + len).map(|at| at.start)
    }

    /// Returns the password that begins after `colon`, if its end is unclear: it extends to the last "@" of the line. If the
    /// line continues, that is the end of the text. But a number with no "@" after it is a port.
    fn to_the_last_at(&self, colon: &Mark) -> Option<Range<usize>> {
        let end = match begins(self.bytes, colon) {
            Begins::Port => None,
            Begins::Number if self.last_at < Some(colon.end) => None,
            Begins::Text if self.cut => Some(self.bytes.len()),
            Begins::Number | Begins::Text => self.last_at(colon.end),
        };
        end.filter(|&end| colon.end < end).map(|end| colon.end..end)
    }

    /// Returns the possible password at the beginning of a line, as in `fred:secret@example.org`.
    fn at_the_beginning(&self) -> Option<Range<usize>> {
        let text = self.bytes;
        let mut start = text.iter().take_while(|byte| b" \t<\"'(".contains(byte)).count();
        // Two slashes directly after a ":" begin an authority, and one slash does after a known scheme.
        let (mut name, mut behind_colon) = (start, None);
        let authority = marks(text, start..text.len()).find(|mark| {
            let is_authority = behind_colon.is_some_and(|(is_known, end)| {
                mark.is_slash() && mark.start == end && (is_known || mark.is_doubled(text))
            });
            behind_colon = (mark.kind == Delimiter::Colon).then(|| {
                (
                    find_known(&text[std::mem::replace(&mut name, mark.end)..mark.start]).is_some(),
                    mark.behind(text),
                )
            });
            is_authority
        });
        let end = authority.as_ref().map_or(text.len(), |slash| slash.start);
        loop {
            let colon = marks(text, start..end).find(|mark| mark.kind == Delimiter::Colon)?;
            let name = &text[start..colon.start];
            let begins = begins(text, &colon);
            if memchr2(b'/', b'?', name).or_else(|| memchr(b'#', name)).is_some() || begins == Begins::Port {
                return None;
            }
            start = colon.end;
            if find_known(name).is_some()
                || OF_ADDRESSES.iter().any(|scheme| name.eq_ignore_ascii_case(scheme))
            {
                continue;
            }
            if self.cut && authority.is_none() && begins == Begins::Text {
                return self.to_the_last_at(&colon);
            }
            let slash = memchr(b'/', &text[start..end]).map_or(end, |n| start + n);
            let is_certain = |at: &Mark| at.start > start && (!at.is_encoded() || slash == end);
            let at = last_at(text, start..slash).filter(is_certain);
            // A later ":" can be the one before the password.
            let is_last = |at: &Mark| !marks(text, at.end..end).any(|mark| mark.kind == Delimiter::Colon);
            let at = at.filter(is_last).or_else(|| last_at(text, start..end))?;
            return (start < at.start).then_some(start..at.start);
        }
    }

    /// Adds the possible passwords in authorities. The search starts after the last range of `secrets`.
    fn behind_slashes(&self, secrets: &mut Vec<Range<usize>>) {
        let mut start = secrets.last().map_or(0, |secret| secret.end);
        // The offset at which a slash would begin an authority, and whether that slash has to be encoded.
        let mut delimited = None;
        while let Some(mark) = marks(self.bytes, start..self.bytes.len()).next() {
            start = mark.end;
            let begins = mark.is_slash() && delimited == Some((mark.start, mark.is_encoded()));
            if begins && !mark.is_doubled(self.bytes) {
                let (secret, end) = self.in_authority(&mark);
                secrets.extend(secret);
                (start, delimited) = (end, None);
            } else {
                let delimits = mark.is_slash() || mark.kind == Delimiter::Colon;
                delimited = delimits.then_some((mark.behind(self.bytes), mark.is_encoded()));
            }
        }
    }

    /// Returns the possible password in the authority after `slash`, and the offset at which the search continues.
    fn in_authority(&self, slash: &Mark) -> (Option<Range<usize>>, usize) {
        let (text, start) = (self.bytes, slash.end);
        // An authority ends at a slash that is encoded at most as often as those before it.
        let ends = |mark: &Mark| mark.kind == Delimiter::Slash && mark.depth <= slash.depth;
        let ending = marks(text, start..text.len()).find(ends);
        let end = ending.as_ref().map_or(text.len(), |mark| mark.start);
        let colon = |from| marks(text, from..end).find(|mark| mark.kind == Delimiter::Colon);
        let behind = colon(start).map(|colon| colon.end);
        if self.cut && ending.is_none() {
            return (Some(behind.unwrap_or(end)..end), end);
        }
        let at = last_at(text, start..end);
        let userinfo = at.as_ref().map_or(start, |at| at.start);
        let secret = match behind {
            Some(colon) if colon < userinfo => {
                let is_part = at.as_ref().is_some_and(|at| at.depth > slash.depth);
                let last = if is_part { self.last_at(colon) } else { None };
                Some(colon..last.map_or(userinfo, |last| last.max(userinfo)))
            }
            // Either the password is empty, or it begins with "@".
            Some(colon) if colon == userinfo && at.is_some() => {
                self.last_at(colon).filter(|&last| last > colon).map(|last| colon..last)
            }
            _ => {
                let host = at.map_or(start, |at| at.end);
                // A ":" inside an IP literal does not begin a password.
                let is_address = |byte: &u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
                let literal = text[host..end]
                    .strip_prefix(b"[")
                    .and_then(|rest| memchr(b']', rest).filter(|&len| rest[..len].iter().all(is_address)));
                let host = literal.map_or(host, |len| host + len + 2);
                colon(host).and_then(|colon| self.to_the_last_at(&colon))
            }
        };
        let end = secret.as_ref().map_or(end, |secret| secret.end.max(end));
        (secret, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        secrets(text.as_bytes(), false).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn in_urls_of_all_kinds() {
        for text in [
            "http://u:PW@h/x",
            "http:/\t/u:PW@h/x",
            "http:\r\t//u:PW@h/x",
            "ws:\t/\r\\u:PW@h/x",
            "url:ftp://u:PW@h/x",
            " http://u:PW@h/",
            "<URL:http://u:PW@h/>",
            "http:/u:PW@h/",
            "http:///u:PW@h",
            "http:\\\\u:PW@h",
            "//u:PW@h",
            "x?y=http://u:PW@h",
            "http://DOMAIN\\u:PW@h/a@b",
            "http://a@b:PW@h/",
            "http://u%3APW@h/",
            "http://u:PW%40h/",
            "http://h/?u=ftp%3A%2F%2Fu%3aPW%40h%2Fx",
            "http://h/?u=ftp%253A%252F%252Fu%253APW%2540h%252Fx",
            "u:PW@h",
            "u:PW@h/x",
            "u%3APW@h",
            "u%3APW%40h",
            " <u:PW@h>",
            "u@example.org:PW@h",
            "http:u:PW@h",
            "sip:u:PW@h",
            ":PW@h",
            "u:PW@h and http://h/x@y",
            "http://h/ root:PW@10.0.0.1",
            "http://h/|v:PW@h/",
            "http://h/|v@k:PW@h/",
            "http:\\u002F\\u002fu:PW\\u0040h\\u002F",
            "http\\x3a\\x2F\\x2fu:PW\\x40h",
            "/*/http:~1~1u:PW@h~1",
        ] {
            assert_eq!(found(text), ["PW"], "{text}");
        }
        assert_eq!(found("//u:P@W@h//x:y@"), ["P@W", "y"]);
        assert_eq!(found("u:PW@h http://v:QX@k/"), ["PW", "QX"]);
        assert_eq!(found("ftp://u:x?y@h/"), ["x?y"]);
        assert_eq!(found("ftp://u:p%2Fw@h/a@b"), ["p%2Fw"]);
        assert_eq!(found("ftp://u:12@h/"), ["12"]);
        assert_eq!(found("http://[u:PW@h]/"), ["PW"]);
        assert_eq!(found("/x u:P//v:W@h/"), ["P//v:W"]);
    }

    #[test]
    fn in_what_is_no_url() {
        for (text, secret) in [
            ("http://u:P/W@h", "P/W"),
            ("http://u:P\\@h", "P\\"),
            ("http://u:P//W@h", "P//W"),
            ("http://u:123456/W@h", "123456/W"),
            ("http://a@u:P/W@h", "P/W"),
            ("u:P/W@h", "P/W"),
            ("u:P//W@h", "P//W"),
            ("u:12\\@h", "12\\"),
            ("root:%24PW@h", "%24PW"),
            ("root:&PW@h", "&PW"),
            ("root:1%23PW@h", "1%23PW"),
            ("http:root:%24PW@h", "%24PW"),
            ("http://root:%24P/W@h/", "%24P/W"),
            ("http://root:1/PW@h/", "1/PW"),
            ("http://root:/PW@h/", "/PW"),
            ("http://root:80&P/W@h/", "80&P/W"),
            ("root:80%2fPW@h", "80%2fPW"),
            ("root: PW@h", " PW"),
            ("root:/PW@h", "/PW"),
            ("<root%3A\\PW@h", "\\PW"),
            ("http:/%2Fu:PW@h", "PW"),
            ("http://%2Fu:PW@h", "PW"),
            ("http://u:@PW/x@h/", "@PW/x"),
            ("note: u@h:P/W@h", " u@h:P/W"),
            ("http://[u:]P/W@h", "]P/W"),
            ("http://h/?u=http%3A%2F%2Fu%3A12%2FPW%40h%2F", "12%2FPW"),
            ("http://h/?u=http%3A%2F%2Fu%3Aa%2540b%252FPW%40h2", "a%2540b%252FPW"),
            ("http://u:p%40s/PW@h/", "p%40s/PW"),
            ("http://u:p%40s?c/PW@h/", "p%40s?c/PW"),
            ("u:p%40s/PW@h/", "p%40s/PW"),
            ("http://u:3000/PW@h/", "3000/PW"),
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
    }

    #[test]
    fn not_where_all_is_clear() {
        for text in [
            "", "//a:@h", "//h:80/a:b@c", "//a@b:80", "http://h:80", "http://h:80/@x",
            "http://localhost:3000/@x", "https://npm.example:8081/npm/@x", "http://h/ mailto:a@b",
            "?u=http%3A%2F%2Fh%3A80%2F@x", "http://[::1]:80/x@y", "http://u@[::1]/x@y", "http://h/a:b@c",
            "http://h/?q=a:b@c", "mailto:a@b", "URL:mailto:a@b", "news:a#b@c", "sip:a@b",
            "localhost:8080/x@y", "h.example:80?x@y", "view-source:http://h/@x", "note: http://h/@x",
            "a/b:c@d", "ftp://h/%2Fa%3Ab%40c", "?a:b@c", "#a:b@c", "a@b", "u:@h", "http://u:PW", "100%@x:y",
        ] {
            assert!(found(text).is_empty(), "{text}: {:?}", found(text));
        }
    }

    #[test]
    fn what_has_not_ended_may_be_one() {
        let cut = |text: &str| secrets(text.as_bytes(), true);
        assert_eq!(cut("//u:PW"), [4..6]);
        assert_eq!(cut("//u"), [3..3]);
        assert_eq!(cut("http://u:P/W"), [9..12]);
        assert_eq!(cut("u:P@W"), [2..5]);
        assert!(cut("http://h/x").is_empty());
        assert!(cut("http://h:80/x").is_empty());
        assert!(cut("data:x").is_empty());
        assert_eq!(cut("http://h/ u:PW"), [12..14]);
        assert_eq!(secrets_inside(b"u:PW@h//u:PW@h", false), [0..4, 10..12]);
        assert_eq!(secrets_inside(b"x/ u:PW@h|v:PW@h", false), [5..7, 12..14]);
        assert_eq!(secrets_inside(b"x/ u:PW", true), [5..7]);
    }

    #[test]
    fn in_running_text() {
        for (url, secret) in [
            ("https://bob:PW", "PW"),
            ("https://bob:P/W", "P/W"),
            ("https://bob:PW@h", "PW"),
            ("https://bob:P@W@h", "P@W"),
            ("https://bob:PW@h/x", "PW"),
            ("https://bob:@PW", "@PW"),
            ("https://bob:12/P@W", "12/P@W"),
            ("https://bob@example.org:PW", "PW"),
            ("https://bob:p%40s/PW", "p%40s/PW"),
            ("https://h/?u=ftp%3A%2F%2Fbob%3APW", "PW"),
            ("https://[u:PW", "PW"),
        ] {
            let found: Vec<_> =
                secrets_in_text(url.as_bytes()).into_iter().map(|range| &url[range]).collect();
            assert_eq!(found, [secret], "{url}");
        }
        for url in [
            "https://h.example:8443", "http://localhost:3000/x", "http://u:12", "http://[::1]",
            "http://[::1]:5000/x", "http://u@h/", "mailto:a@b", "urn:isbn:1-2", "http://h/a:b",
        ] {
            assert!(secrets_in_text(url.as_bytes()).is_empty(), "{url}");
        }
    }

    #[test]
    fn in_records() {
        for (text, found) in [
            ("u:PW@h,http://ok/", &["PW"][..]),
            ("{\"proxy\":\"u:PW@h:3128\",\"url\":\"http://ok/\"}", &["PW"]),
            ("http://u:P,W@h/,x", &["P,W"]),
            ("10:00:00 GET /x \"http://h:3000/\" \"Bot (x@y.z)\"", &[]),
        ] {
            let secrets = secrets_of_record(text.as_bytes(), false);
            assert_eq!(secrets.into_iter().map(|range| &text[range]).collect::<Vec<_>>(), found, "{text}");
        }
    }

    #[test]
    fn ranges_ascend_and_fit() {
        let fragments =
            ["u", ":", "@", "/", "//", "\\", "%3A", "%40", "%2f", "%25", "[", "]", "80", "http", "?", " "];
        for n in 0..fragments.len().pow(4) {
            let text: String =
                (0..4).map(|place| fragments[n / fragments.len().pow(place) % fragments.len()]).collect();
            for text in [format!("//{text}@h"), text] {
                for cut in [false, true] {
                    let mut end = 0;
                    for secret in secrets(text.as_bytes(), cut) {
                        assert!(secret.start >= end && secret.end <= text.len(), "{text}: {secret:?}");
                        assert!(cut || secret.start < secret.end, "{text}");
                        end = secret.end;
                    }
                }
            }
        }
    }
}
