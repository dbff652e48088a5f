//! Joins variables that form one URL, such as `$scheme://$host$request_uri`, or one request line, such as `%m %U%q %H`.

use super::super::Role;
use super::variables::{Kind, Variable};

/// A part of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Literal(Vec<u8>),
    Variable(Variable),
}

impl Token {
    pub(super) fn literal(&self) -> Option<&[u8]> {
        match self {
            Self::Literal(bytes) => Some(bytes),
            Self::Variable(_) => None,
        }
    }

    pub(super) fn variable(&self) -> Option<&Variable> {
        match self {
            Self::Variable(variable) => Some(variable),
            Self::Literal(_) => None,
        }
    }
}

/// Joins variables that form one value.
pub(super) fn compose(tokens: &[Token]) -> Vec<Token> {
    join(&join(tokens, url), request_line)
}

/// Replaces each run of tokens that `at` finds at its start by one variable.
fn join(tokens: &[Token], at: impl Fn(&[Token]) -> Option<(usize, Variable)>) -> Vec<Token> {
    let mut joined = Vec::new();
    let mut rest = tokens;
    while let Some((first, behind)) = rest.split_first() {
        if let Some((len, variable)) = at(rest) {
            if variable.kind == Kind::Url(Role::Url) && len > 1 {
                take_scheme(&mut joined);
            }
            joined.push(Token::Variable(variable));
            rest = &rest[len..];
        } else {
            joined.push(first.clone());
            rest = behind;
        }
    }
    joined
}

/// Makes a scheme at the end of the last literal part of the URL after it.
fn take_scheme(tokens: &mut Vec<Token>) {
    if let Some(Token::Literal(last)) = tokens.last_mut() {
        let scheme = [&b"https://"[..], b"http://"].into_iter().find(|scheme| last.ends_with(scheme));
        last.truncate(last.len() - scheme.map_or(0, <[u8]>::len));
        if last.is_empty() {
            tokens.pop();
        }
    }
}

fn kind(token: Option<&Token>) -> Option<Kind> {
    Some(token?.variable()?.kind)
}

fn is_literal(token: Option<&Token>, literals: &[&str]) -> bool {
    let literal = token.and_then(Token::literal);
    literal.is_some_and(|literal| literals.iter().any(|other| other.as_bytes() == literal))
}

/// The URL that begins with the first token: how many tokens it has, and its variable.
fn url(tokens: &[Token]) -> Option<(usize, Variable)> {
    let mut n = 0;
    while kind(tokens.get(n)) == Some(Kind::Origin) {
        let is_separated =
            is_literal(tokens.get(n + 1), &["://", ":"]) && kind(tokens.get(n + 2)) == Some(Kind::Origin);
        n += if is_separated { 2 } else { 1 };
    }
    let has_origin = n > 0;
    let target = tokens.get(n)?.variable().filter(|variable| variable.kind == Kind::Target)?;
    n += 1;
    loop {
        let is_separated = is_literal(tokens.get(n), &["?"]);
        if kind(tokens.get(n + usize::from(is_separated))) != Some(Kind::Query) {
            break;
        }
        n += 1 + usize::from(is_separated);
    }
    let kind = if has_origin { Kind::Url(Role::Url) } else { Kind::Target };
    Some((n, Variable { name: target.name.clone(), kind }))
}

/// The request line that begins with the first token: how many tokens it has, and its variable.
fn request_line(tokens: &[Token]) -> Option<(usize, Variable)> {
    let [Token::Variable(method), blank, Token::Variable(target), other_blank, Token::Variable(protocol), ..] =
        tokens
    else {
        return None;
    };
    let is_request_line = method.kind == Kind::Method
        && matches!(target.kind, Kind::Target | Kind::Url(Role::Url))
        && protocol.kind == Kind::Protocol
        && [blank, other_blank].iter().all(|token| is_literal(Some(token), &[" "]))
        // Otherwise a blank would end it.
        && !tokens.get(5).and_then(Token::literal).is_some_and(|literal| literal.starts_with(b" "));
    is_request_line.then(|| (5, Variable { name: target.name.clone(), kind: Kind::RequestLine }))
}
