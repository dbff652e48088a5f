//! The text of elements that has no tags inside, such as scripts (WHATWG HTML, sections 13.2.5.2 to 13.2.5.31).

use memchr::memchr2;

/// The text after a start tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Raw {
    /// It has tags inside.
    None,
    /// It ends at the end tag of the element with this number in [`NAMES`].
    Until(u8),
    /// It is a script, which may contain comments. A script in a comment has an end tag of its own.
    Script(Nested),
    /// It never ends.
    Forever,
}

/// How deep in a comment the text of a script is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    Plain,
    InComment,
    /// Inside a script in a comment.
    InScript,
}

/// The elements whose text has no tags inside, besides `script` and `plaintext`. `noscript` is not one of them, so that its
/// links are found.
const NAMES: [&str; 7] = ["style", "title", "textarea", "iframe", "noframes", "noembed", "xmp"];

impl Raw {
    /// The text after the start tag of the element with this name.
    #[inline]
    pub(super) fn after(name: &[u8]) -> Self {
        // Most names begin with other letters.
        if !matches!(name[0] | 0x20, b's' | b't' | b'i' | b'n' | b'x' | b'p') {
            return Self::None;
        }
        if name.eq_ignore_ascii_case(b"script") {
            return Self::Script(Nested::Plain);
        }
        if name.eq_ignore_ascii_case(b"plaintext") {
            return Self::Forever;
        }
        let known = (0..).zip(NAMES).find(|(_, known)| name.eq_ignore_ascii_case(known.as_bytes()));
        known.map_or(Self::None, |(n, _)| Self::Until(n))
    }

    /// What it is called in messages.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::None => "content",
            Self::Until(n) => NAMES[usize::from(n)],
            Self::Script(_) => "script",
            Self::Forever => "plaintext",
        }
    }

    /// Moves from byte `from` to the end tag, as [`State::leave`](super::construct::State::leave) does.
    pub(super) fn leave(mut self, bytes: &[u8], from: usize) -> Result<usize, (usize, Self)> {
        let mut at = from;
        while self != Self::Forever
            && let Some(len) = memchr2(b'<', b'>', &bytes[at..])
        {
            let mark = at + len;
            let rest = &bytes[mark..];
            let name = self.name();
            let begins = |start: &[u8]| begins_tag(rest, start, name.as_bytes());
            at = mark + 1;
            if rest[0] == b'>' {
                if matches!(self, Self::Script(_)) && bytes[from..mark].ends_with(b"--") {
                    self = Self::Script(Nested::Plain);
                }
                continue;
            }
            let goes_deeper = match self {
                Self::Script(Nested::Plain) => begins_with(rest, b"<!--"),
                Self::Script(Nested::InComment) => begins(b"<"),
                _ => Some(false),
            };
            let (Some(is_end), Some(goes_deeper)) = (begins(b"</"), goes_deeper) else {
                return Err((mark, self));
            };
            self = match self {
                // Its dashes may already be those of "-->".
                Self::Script(Nested::Plain) if goes_deeper => Self::Script(Nested::InComment),
                Self::Script(Nested::InComment) if goes_deeper => Self::Script(Nested::InScript),
                Self::Script(Nested::InScript) if is_end => Self::Script(Nested::InComment),
                _ if is_end => return Ok(mark),
                _ => self,
            };
        }
        let dashes = bytes[from..].iter().rev().take(2).take_while(|&&byte| byte == b'-').count();
        Err((bytes.len() - dashes, self))
    }
}

/// Whether `bytes` begin with `start`. `None` if they are too few.
fn begins_with(bytes: &[u8], start: &[u8]) -> Option<bool> {
    if bytes.len() < start.len() && start.starts_with(bytes) { None } else { Some(bytes.starts_with(start)) }
}

/// Whether `bytes` begin with `start`, `name` in any case, and the end of a name. `None` if they are too few.
fn begins_tag(bytes: &[u8], start: &[u8], name: &[u8]) -> Option<bool> {
    if !begins_with(bytes, start)? {
        return Some(false);
    }
    let rest = &bytes[start.len()..];
    let known = rest.len().min(name.len());
    if !rest[..known].eq_ignore_ascii_case(&name[..known]) {
        return Some(false);
    }
    rest.get(name.len()).map(|&byte| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'>'))
}
