//! Reads log lines that have a known pattern: literals, and variables between them.
//!
//! A variable extends to the first occurrence of the literal after it, the last one to the line end. Between quotes, a quote after a
//! backslash does not end it. A line that does not fit the pattern is refused at the byte where it ceases to fit.

mod compose;
mod pattern;
mod presets;
#[cfg(test)]
mod tests;
mod variables;

use std::borrow::Cow;
use std::fmt;
use std::iter::Peekable;
use std::sync::Arc;

use memchr::memchr2;

use super::near_bytes::find;
use super::quoted::{Quoted, target};
use super::{
    BadCause, Cursor, Miss, Origin, Outcome, Part, Parts, Record, RecordReader, Role, Selector, first_line,
};
use compose::Token;
use pattern::{Escapes, Pattern};
pub(super) use presets::{ELB, ENVOY, HAPROXY, S3, SQUID, begins_like, is_number, words};
use urlsift_grammar::hex::hex_byte;
use variables::{Kind, Variable};

/// A compiled pattern: where the wanted variables of a line are.
#[derive(Debug)]
pub(super) struct Plan {
    /// The literal before the first variable.
    start: Vec<u8>,
    steps: Vec<Step>,
    escapes: Escapes,
    /// Whether further fields may follow the pattern after a blank.
    is_open: bool,
    /// The pattern, if a user wrote it.
    text: Option<String>,
}

/// A variable, and the literal that ends it.
#[derive(Debug)]
struct Step {
    /// It is empty at the end of the pattern.
    literal: Vec<u8>,
    /// The index in the literal of the byte to search for, which is the rarest one.
    rare: usize,
    /// The literal, if the next variable is `-` without its quotes. It includes that variable and the literal after it.
    bare: Option<Vec<u8>>,
    /// Whether the variable is between quotes.
    is_quoted: bool,
    /// What is wanted of the variable, and the index of the wanted field that selects it, or 0.
    wanted: Option<(Wanted, u32)>,
}

/// What a wanted variable contains.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// A request line, whose target is a URL.
    RequestLine,
    Url(Role),
}

/// Why a pattern cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The pattern has no such field, which is given by its index.
    Field(usize),
    /// No variable is a URL.
    NoUrl,
    /// This variable may contain blanks, and a blank ends it.
    Blanks(String),
    /// The pattern is malformed.
    Syntax(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Field(_) => out.write_str("no such field"),
            Self::NoUrl => write!(out, "none of its variables is a URL; {}", variables::URLS),
            Self::Blanks(name) => {
                write!(out, "{name} may contain blanks, so that a blank cannot end it; put it between quotes")
            }
            Self::Syntax(what) => out.write_str(what),
        }
    }
}

impl Plan {
    /// Compiles a pattern that a user wrote.
    pub(super) fn of(text: &str, fields: &[Selector]) -> Result<Self, Fault> {
        let plan = Self::compile(&Pattern::parse(text).map_err(Fault::Syntax)?, fields)?;
        Ok(Self { text: Some(text.to_owned()), ..plan })
    }

    /// Plans how to find `fields`, or all URLs if there are none.
    fn compile(pattern: &Pattern, fields: &[Selector]) -> Result<Self, Fault> {
        let variables = || pattern.tokens.iter().filter_map(Token::variable);
        let is_unknown = |field: &Selector| !variables().any(|variable| variable.is_field(field));
        if let Some(n) = fields.iter().position(is_unknown) {
            return Err(Fault::Field(n));
        }
        let mut tokens = pattern.tokens.iter().peekable();
        let start = literal(&mut tokens);
        let (mut steps, mut has_blanks): (Vec<Step>, Vec<_>) = (Vec::new(), Vec::new());
        while let Some(variable) = tokens.next().and_then(Token::variable) {
            let end = literal(&mut tokens);
            let before = steps.last().map_or(&start, |step| &step.literal);
            let is_quoted = before.ends_with(b"\"") && end.starts_with(b"\"");
            if variable.may_have_blanks() && !is_quoted && end == b" " {
                has_blanks.push((steps.len(), variable.name.clone()));
            }
            steps.push(Step::new(end, is_quoted, wanted(variable, fields)));
        }
        let last = steps.iter().rposition(|step| step.wanted.is_some()).ok_or(Fault::NoUrl)?;
        if let Some((_, name)) = has_blanks.into_iter().find(|(at, _)| *at <= last) {
            return Err(Fault::Blanks(name));
        }
        if pattern.may_lack_quotes {
            for n in 1..steps.len() {
                let (before, next) = steps.split_at_mut(n);
                before[n - 1].may_precede_bare_dash(&next[0]);
            }
        }
        Ok(Self { start, steps, escapes: pattern.escapes, is_open: pattern.is_open, text: None })
    }

    #[inline(always)]
    fn take<'a>(&self, line: &'a [u8], parts: &mut Parts<'_, 'a>) -> Outcome {
        // Without `memcmp`, which takes a tenth of the time if the literal is empty and so has no address.
        let alike = n_alike(line, &self.start);
        if alike < self.start.len() {
            return Err(Miss::Bad(BadCause::NotARecord, alike));
        }
        let mut at = self.start.len();
        let mut steps = self.steps.iter();
        while let Some(step) = steps.next() {
            let mut has_escapes = self.escapes == Escapes::Backslash;
            let end = if step.is_quoted && has_escapes {
                has_escapes = false;
                step.quoted(line, at, &mut has_escapes)
            } else {
                step.plain(line, at)
            };
            if end == MISSING {
                return Err(step.misfit(line, at, self.escapes == Escapes::Backslash));
            }
            if let Some((wanted, n)) = step.wanted {
                self.push(wanted, n, line, Quoted { start: at, end, has_escapes }, parts)?;
            }
            at = end + step.literal.len();
            if let Some(bare) = step.bare.as_ref().filter(|_| !line[end..].starts_with(&step.literal)) {
                at = end + bare.len();
                steps.next();
            }
        }
        match line.get(at) {
            None => {}
            Some(b' ' | b'\t') if self.is_open => {}
            Some(_) if line[at - 1] == b'"' => return Err(Miss::Bad(BadCause::TextBehindQuote, at)),
            Some(_) => return Err(Miss::Bad(BadCause::NotARecord, at)),
        }
        parts.or_skip()
    }

    #[inline(always)]
    fn push<'a>(
        &self,
        wanted: Wanted,
        n: u32,
        line: &'a [u8],
        value: Quoted,
        parts: &mut Parts<'_, 'a>,
    ) -> Result<(), Miss> {
        let (role, at, bytes) = match wanted {
            Wanted::RequestLine => match target(line, value)? {
                Some((at, bytes)) => (Role::Request, at, bytes),
                None => return Ok(()),
            },
            Wanted::Url(_) if &line[value.start..value.end] == b"-" => return Ok(()),
            Wanted::Url(role) => (role, value.start, value.text(line)),
        };
        let bytes = if self.escapes == Escapes::Hash { without_hashes(bytes) } else { bytes };
        parts.push(Part { role, wanted: n, bytes, at });
        Ok(())
    }
}

impl RecordReader for Arc<Plan> {
    #[inline(never)]
    fn read<'a>(&mut self, cursor: &mut Cursor<'a>) -> Record<'a> {
        Record::line(first_line(cursor.rest()), &mut cursor.more, |line, parts| self.take(line, parts))
    }

    fn origin(&self) -> Origin<'_> {
        Origin { log_format: self.text.as_deref(), ..Origin::default() }
    }
}

/// What is wanted of a variable, if `fields` are wanted, or all URLs if there are none. Also returns the index of the field.
fn wanted(variable: &Variable, fields: &[Selector]) -> Option<(Wanted, u32)> {
    let url = match variable.kind {
        Kind::RequestLine => Some(Wanted::RequestLine),
        Kind::Target => Some(Wanted::Url(Role::Request)),
        Kind::Url(role) => Some(Wanted::Url(role)),
        _ => None,
    };
    if fields.is_empty() {
        return url.map(|url| (url, 0));
    }
    let (n, _) = (0..).zip(fields).find(|(_, field)| variable.is_field(field))?;
    Some((url.unwrap_or(Wanted::Url(Role::Url)), n))
}

/// Takes the next token if it is a literal.
fn literal<'p>(tokens: &mut Peekable<impl Iterator<Item = &'p Token>>) -> Vec<u8> {
    let token = tokens.next_if(|token| token.literal().is_some());
    token.and_then(Token::literal).unwrap_or_default().to_vec()
}

/// Where a value ends whose end is missing. A number is faster to return than an enum with a place in it.
const MISSING: usize = usize::MAX;

impl Step {
    fn new(literal: Vec<u8>, is_quoted: bool, wanted: Option<(Wanted, u32)>) -> Self {
        // Blanks, letters and digits are frequent in logs.
        let rare =
            literal.iter().position(|byte| !matches!(byte, b' ' | b'-') && !byte.is_ascii_alphanumeric());
        Self { literal, rare: rare.unwrap_or(0), bare: None, is_quoted, wanted }
    }

    /// Allows for a `next` variable that is a `-` without its quotes.
    fn may_precede_bare_dash(&mut self, next: &Self) {
        let before = self.literal.strip_suffix(b"\"").filter(|before| next.is_quoted && !before.is_empty());
        self.bare = before.map(|before| [before, b"-", &next.literal[1..]].concat());
        if self.bare.is_some() {
            // Both literals begin alike.
            self.rare = 0;
        }
    }

    /// Where the value ends that begins at `at` after a quote. A backslash escapes, which sets `has_escapes`.
    #[inline(always)]
    fn quoted(&self, line: &[u8], at: usize, has_escapes: &mut bool) -> usize {
        let mut from = at;
        while let Some(found) = line.get(from..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
            if line[from + found] == b'"' {
                return if self.fits(line, from + found) { from + found } else { MISSING };
            }
            from += found + 2;
            *has_escapes = true;
        }
        MISSING
    }

    /// Where the value ends that begins at `at`.
    #[inline(always)]
    fn plain(&self, line: &[u8], at: usize) -> usize {
        let Some(&rare) = self.literal.get(self.rare) else { return line.len() };
        let mut from = at + self.rare;
        while let Some(found) = line.get(from..).and_then(|rest| find(rare, rest)) {
            if self.fits(line, from + found - self.rare) {
                return from + found - self.rare;
            }
            from += found + 1;
        }
        MISSING
    }

    /// Whether the value can end at `end`.
    #[inline(always)]
    fn fits(&self, line: &[u8], end: usize) -> bool {
        let rest = &line[end..];
        // The byte that was searched for is all of most literals. Others are shorter than what `memcmp` is fast for.
        self.literal.len() == 1
            || n_alike(rest, &self.literal) == self.literal.len()
            || self.bare.as_ref().is_some_and(|bare| rest.starts_with(bare))
    }

    /// Why the value at `at` has no end.
    #[cold]
    fn misfit(&self, line: &[u8], at: usize, has_escapes: bool) -> Miss {
        if !self.is_quoted {
            return Miss::Bad(BadCause::NotARecord, at);
        }
        let mut is_escaped = false;
        let end = line[at..].iter().position(|&byte| {
            let is_end = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            is_end
        });
        let Some(end) = end.filter(|_| has_escapes) else {
            return Miss::Bad(BadCause::QuoteNotClosed, at - 1);
        };
        let misfit = at + end + n_alike(&line[at + end..], &self.literal);
        let cause = if misfit < line.len() { BadCause::TextBehindQuote } else { BadCause::NotARecord };
        Miss::Bad(cause, misfit)
    }
}

/// How many bytes are alike at the start of `line` and `literal`.
fn n_alike(line: &[u8], literal: &[u8]) -> usize {
    line.iter().zip(literal).take_while(|(byte, expected)| byte == expected).count()
}

/// Undoes the escapes of HAProxy: `#` and two hexadecimal digits.
fn without_hashes(bytes: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let Some(first) = find(b'#', &bytes) else { return bytes };
    let mut out = bytes[..first].to_vec();
    let mut rest = &bytes[first..];
    while let Some((&byte, behind)) = rest.split_first() {
        let (value, len) = match hex_byte(behind) {
            Some(value) if byte == b'#' => (value, 2),
            _ => (byte, 0),
        };
        out.push(value);
        rest = &behind[len..];
    }
    Cow::Owned(out)
}
