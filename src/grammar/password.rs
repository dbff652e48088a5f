//! Where a line may hold a password: what is not shown of it, whatever a grammar says of the line.
//!
//! Lists have URLs that are misspelt, stand in other URLs or lack their scheme, and a password that is shown once is known. So
//! delimiters are looked for, and no structure: "/", ":" and "@" count percent-encoded as well, "\" as a slash, and where it is not
//! clear how far a password goes, it goes as far as it can. What is masked too much is read no worse.

use std::ops::Range;

use memchr::{memchr, memchr2, memrchr, memrchr_iter};

use crate::grammar::scheme::find_known;

/// Where passwords may stand in a line, ascending and apart. `line` is a whole line, or the beginning of one where `cut` says so:
/// then what has not ended may be a password too, the empty rest behind `line` included.
///
/// - Behind two slashes, or a ":" and one, anywhere in the line: between the first ":" and the last "@" before the next "/". A ":"
///   that no port follows, in what then has no "@", begins a password that ends at the last "@" of the line.
/// - At the beginning of the line: between the first ":" and the last "@", unless the ":" stands behind a scheme that is known, or
///   before a port.
///
/// Linear in the length.
///
/// ```
/// use urlsift::grammar::password::secrets;
///
/// assert_eq!(secrets(b"http://fred:secret@example.org/", false), [12..18]);
/// assert_eq!(secrets(b"fred:secret@example.org", false), [5..11]);
/// assert!(secrets(b"http://example.org:80/@fred", false).is_empty());
/// assert!(secrets(b"mailto:fred@example.org", false).is_empty());
/// ```
#[must_use]
pub fn secrets(line: &[u8], cut: bool) -> Vec<Range<usize>> {
    let Some(text) = Text::new(line, cut) else { return Vec::new() };
    let mut secrets: Vec<_> = text.at_the_beginning().into_iter().collect();
    text.behind_slashes(&mut secrets);
    secrets
}

/// The same for text from the middle of a line.
pub(crate) fn secrets_inside(text: &[u8], cut: bool) -> Vec<Range<usize>> {
    let mut secrets = Vec::new();
    if let Some(text) = Text::new(text, cut) {
        text.behind_slashes(&mut secrets);
    }
    secrets
}

/// Schemes beside the known ones in which an "@" belongs to an address.
const OF_ADDRESSES: [&[u8]; 7] = [b"acct", b"im", b"pres", b"sip", b"sips", b"tag", b"xmpp"];

/// A delimiter, as it is or percent-encoded.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Slash,
    Backslash,
    Colon,
    At,
}

struct Mark {
    kind: Kind,
    start: usize,
    end: usize,
}

impl Mark {
    /// The delimiter at `start`. One that is encoded may be so more than once: its "%" is "%25" then, and so on.
    fn at(text: &[u8], start: usize) -> Option<Self> {
        let kind = |byte| match byte {
            b'/' => Some(Kind::Slash),
            b'\\' => Some(Kind::Backslash),
            b':' => Some(Kind::Colon),
            b'@' => Some(Kind::At),
            _ => None,
        };
        let byte = *text.get(start)?;
        if byte != b'%' {
            return kind(byte).map(|kind| Self { kind, start, end: start + 1 });
        }
        let mut digits = start + 1;
        while text[digits..].starts_with(b"25") {
            digits += 2;
        }
        let pair = std::str::from_utf8(text.get(digits..digits + 2)?).ok()?;
        let byte = u8::from_str_radix(pair, 16).ok()?;
        kind(byte).map(|kind| Self { kind, start, end: digits + 2 })
    }

    fn is_slash(&self) -> bool {
        matches!(self.kind, Kind::Slash | Kind::Backslash)
    }

    fn is_encoded(&self) -> bool {
        self.end > self.start + 1
    }
}

/// The delimiters in a part of `text`, in their order.
fn marks(text: &[u8], part: Range<usize>) -> impl Iterator<Item = Mark> {
    let mut at = part.start;
    std::iter::from_fn(move || {
        while at < part.end {
            at += text[at..part.end]
                .iter()
                .position(|byte| matches!(byte, b'/' | b'\\' | b':' | b'@' | b'%'))?;
            if let Some(mark) = Mark::at(text, at) {
                at = mark.end;
                return Some(mark);
            }
            at += 1;
        }
        None
    })
}

/// The last "@" of a part of `text`; one that is encoded only if there is no other.
fn last_at(text: &[u8], part: Range<usize>) -> Option<Mark> {
    let at = |n: usize| Mark::at(text, part.start + n).filter(|mark| mark.kind == Kind::At);
    let bytes = &text[part.clone()];
    memrchr(b'@', bytes).and_then(at).or_else(|| memrchr_iter(b'%', bytes).find_map(at))
}

/// Whether what stands behind a ":" is a port, and not a password of digits.
fn is_port(behind: &[u8]) -> bool {
    let digits = behind.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let ends = behind.get(digits).is_none_or(|byte| b"/?#%&<>\"' ".contains(byte));
    digits <= 5 && ends
}

struct Text<'a> {
    bytes: &'a [u8],
    /// Whether it goes on behind them.
    cut: bool,
    /// Where the last "@" begins; the end if there is none and it goes on.
    last_at: usize,
}

impl<'a> Text<'a> {
    /// `None` if nothing in it can be a password.
    fn new(bytes: &'a [u8], cut: bool) -> Option<Self> {
        // One that is encoded counts only behind the others.
        let raw = memrchr(b'@', bytes);
        let behind = raw.map_or(0, |at| at + 1);
        let last = last_at(bytes, behind..bytes.len()).map(|mark| mark.start).or(raw);
        let last_at = if cut { Some(bytes.len()) } else { last };
        last_at.map(|last_at| Self { bytes, cut, last_at })
    }

    /// A password that begins here and ends nobody knows where.
    fn to_the_last_at(&self, start: usize) -> Option<Range<usize>> {
        (start < self.last_at).then_some(start..self.last_at)
    }

    /// What may be a password before any slash: `fred:secret@example.org`.
    fn at_the_beginning(&self) -> Option<Range<usize>> {
        let text = self.bytes;
        // A slash right behind a ":" begins an authority.
        let mut behind_colon = None;
        let authority = marks(text, 0..text.len()).find(|mark| {
            let found = mark.is_slash() && behind_colon == Some(mark.start);
            behind_colon = (mark.kind == Kind::Colon).then_some(mark.end);
            found
        });
        let end = authority.as_ref().map_or(text.len(), |slash| slash.start);
        let mut start = text.iter().take_while(|byte| b" \t<\"'(".contains(byte)).count();
        loop {
            let colon = marks(text, start..end).find(|mark| mark.kind == Kind::Colon)?;
            let name = &text[start..colon.start];
            if memchr2(b'/', b'?', name).or_else(|| memchr(b'#', name)).is_some()
                || is_port(&text[colon.end..])
            {
                return None;
            }
            start = colon.end;
            if find_known(name).is_some()
                || OF_ADDRESSES.iter().any(|scheme| name.eq_ignore_ascii_case(scheme))
            {
                continue;
            }
            if self.cut && authority.is_none() {
                return self.to_the_last_at(start);
            }
            let slash = memchr(b'/', &text[start..end]).map_or(end, |n| start + n);
            let at = last_at(text, start..slash).or_else(|| last_at(text, start..end))?;
            return (start < at.start).then_some(start..at.start);
        }
    }

    /// Adds what may be a password in an authority, behind those in `secrets`.
    fn behind_slashes(&self, secrets: &mut Vec<Range<usize>>) {
        let mut start = secrets.last().map_or(0, |secret| secret.end);
        // Where a slash would have to stand to begin an authority, and whether encoded.
        let mut delimited = None;
        while let Some(mark) = marks(self.bytes, start..self.bytes.len()).next() {
            start = mark.end;
            let begins = mark.is_slash() && delimited == Some((mark.start, mark.is_encoded()));
            let goes_on = || Mark::at(self.bytes, start).is_some_and(|next| next.is_slash());
            if begins && !goes_on() {
                let (secret, end) = self.in_authority(&mark);
                secrets.extend(secret);
                (start, delimited) = (end, None);
            } else {
                let delimits = mark.is_slash() || mark.kind == Kind::Colon;
                delimited = delimits.then_some((mark.end, mark.is_encoded()));
            }
        }
    }

    /// What may be a password in the authority behind a slash, and where to look on.
    fn in_authority(&self, slash: &Mark) -> (Option<Range<usize>>, usize) {
        let (text, start) = (self.bytes, slash.end);
        // An authority whose slashes are encoded ends at such a one too.
        let ends = |mark: &Mark| mark.kind == Kind::Slash && (slash.is_encoded() || !mark.is_encoded());
        let ending = marks(text, start..text.len()).find(ends);
        let end = ending.as_ref().map_or(text.len(), |mark| mark.start);
        let colon = |from| marks(text, from..end).find(|mark| mark.kind == Kind::Colon).map(|mark| mark.end);
        if self.cut && ending.is_none() {
            return (Some(colon(start).unwrap_or(end)..end), end);
        }
        let at = last_at(text, start..end);
        let userinfo = at.as_ref().map_or(start, |at| at.start);
        let secret = match colon(start) {
            Some(colon) if colon <= userinfo => (colon < userinfo).then_some(colon..userinfo),
            _ => {
                let host = at.map_or(start, |at| at.end);
                // In an IP literal, ":" begins no password.
                let literal = text[host..end].strip_prefix(b"[").and_then(|rest| memchr(b']', rest));
                let host = literal.map_or(host, |len| host + len + 2);
                let doubtful = colon(host).filter(|&colon| !is_port(&text[colon..]));
                doubtful.and_then(|colon| self.to_the_last_at(colon))
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
        ] {
            assert_eq!(found(text), ["PW"], "{text}");
        }
        assert_eq!(found("//u:P@W@h//x:y@"), ["P@W", "y"]);
        assert_eq!(found("u:PW@h http://v:QX@k/"), ["PW", "QX"]);
        assert_eq!(found("ftp://u:x?y@h/"), ["x?y"]);
        assert_eq!(found("ftp://u:p%2Fw@h/a@b"), ["p%2Fw"]);
        assert_eq!(found("ftp://u:12@h/"), ["12"]);
        assert_eq!(found("http://[u:PW@h]/"), ["PW"]);
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
        ] {
            assert_eq!(found(text), [secret], "{text}");
        }
    }

    #[test]
    fn not_where_all_is_clear() {
        for text in [
            "",
            "//a:@h",
            "//h:80/a:b@c",
            "//h:/a:b@c",
            "//a@b:80",
            "http://h:80",
            "http://h:80/@x",
            "?u=http%3A%2F%2Fh%3A80%2F@x",
            "http://[::1]:80/x@y",
            "http://u@[::1]/x@y",
            "http://h/a:b@c",
            "http://h/?q=a:b@c",
            "mailto:a@b",
            "URL:mailto:a@b",
            "news:a#b@c",
            "sip:a@b",
            "localhost:8080/x@y",
            "h.example:80?x@y",
            "view-source:http://h/@x",
            "note: http://h/@x",
            "a/b:c@d",
            "ftp://h/%2Fa%3Ab%40c",
            "?a:b@c",
            "#a:b@c",
            "a@b",
            "u:@h",
            "http://u:PW",
            "100%@x:y",
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
        assert_eq!(secrets_inside(b"u:PW@h//u:PW@h", false), [10..12]);
    }

    #[test]
    fn ranges_ascend_and_fit() {
        let pieces =
            ["u", ":", "@", "/", "//", "\\", "%3A", "%40", "%2f", "%25", "[", "]", "80", "http", "?", " "];
        for n in 0..pieces.len().pow(4) {
            let text: String =
                (0..4).map(|place| pieces[n / pieces.len().pow(place) % pieces.len()]).collect();
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
