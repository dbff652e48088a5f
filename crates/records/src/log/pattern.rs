//! Reads the syntax of patterns: nginx's `log_format` and Apache's `LogFormat`.

use super::compose::{Token, compose};
use super::variables::{Kind, Variable};

/// A pattern of log lines.
#[derive(Debug)]
pub(super) struct Pattern {
    /// No two literals are next to each other, and no two variables.
    pub(super) tokens: Vec<Token>,
    pub(super) escapes: Escapes,
    /// Whether further fields may follow after a blank.
    pub(super) is_open: bool,
    /// Whether the quotes around a `-` may be missing.
    pub(super) may_lack_quotes: bool,
}

/// How a log escapes bytes in values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    /// As nginx and Apache do: `\x22`, `\"`.
    Backslash,
    /// As HAProxy does: `#22`.
    Hash,
}

impl Pattern {
    /// Reads a pattern, or a whole directive that defines one.
    ///
    /// # Errors
    /// The text says what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let (text, escapes) = without_directive(text.trim());
        let tokens = if is_of_nginx(&text) { of_nginx(&text) } else { of_apache(&text) }?;
        let tokens = compose(&tokens.0);
        let variables = || tokens.iter().filter_map(Token::variable);
        if variables().next().is_none() {
            return Err("it has no variable, such as $request or %r".to_owned());
        }
        if tokens.iter().filter_map(Token::literal).any(|literal| literal.contains(&b'\n')) {
            return Err("a record is one line, but it has a line break".to_owned());
        }
        for pair in tokens.windows(2) {
            if let [Token::Variable(first), Token::Variable(second)] = pair {
                return Err(format!(
                    "nothing separates {} and {}, so that a line does not show where one ends",
                    first.name, second.name
                ));
            }
        }
        Ok(Self { tokens, escapes, is_open: false, may_lack_quotes: false })
    }
}

/// Whether a `$` begins the name of a variable.
fn is_of_nginx(text: &str) -> bool {
    let begins_name = |byte: &u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'{');
    text.as_bytes().windows(2).any(|pair| pair[0] == b'$' && begins_name(&pair[1]))
}

/// Takes the pattern out of `log_format NAME [escape=...] 'STRING' ...;` and `LogFormat "STRING" [NAME]`.
fn without_directive(text: &str) -> (String, Escapes) {
    let mut escapes = Escapes::Backslash;
    let words = text.strip_prefix("log_format").or_else(|| text.strip_prefix("LogFormat"));
    let Some(mut rest) = words.filter(|words| words.starts_with([' ', '\t', '\n', '"', '\''])) else {
        return (text.to_owned(), escapes);
    };
    let mut pattern = String::new();
    while let Some(at) = rest.find(['"', '\'']) {
        let (words, string) = rest.split_at(at);
        if words.contains("escape=none") {
            escapes = Escapes::None;
        }
        let quote = string.chars().next();
        let mut is_escaped = false;
        let end = string[1..].find(|char| {
            let ends = Some(char) == quote && !is_escaped;
            is_escaped = char == '\\' && !is_escaped;
            ends
        });
        let end = end.map_or(string.len(), |end| end + 1);
        pattern.push_str(&string[1..end]);
        rest = string.get(end + 1..).unwrap_or_default();
    }
    (pattern, escapes)
}

/// The tokens of a pattern. Neighbouring literals become one.
#[derive(Default)]
struct Tokens(Vec<Token>);

impl Tokens {
    fn literal(&mut self, text: &str) {
        let bytes = unescape(text);
        match self.0.last_mut() {
            _ if bytes.is_empty() => {}
            Some(Token::Literal(last)) => last.extend(bytes),
            _ => self.0.push(Token::Literal(bytes)),
        }
    }

    fn variable(&mut self, variable: Variable) {
        self.0.push(Token::Variable(variable));
    }

    fn other(&mut self, name: &str) {
        self.variable(Variable { name: name.to_owned(), kind: Kind::Other });
    }

    /// Adds a time, whose parts are separated by the literals of a format of `strftime`.
    fn time(&mut self, format: &str) {
        let mut pieces = format.split('%');
        self.literal(pieces.next().unwrap_or_default());
        let mut is_after_literal = true;
        for piece in pieces {
            // Several conversions without a literal between them are one variable.
            if is_after_literal {
                self.other("t");
            }
            let conversion =
                piece.find(|char: char| char.is_ascii_alphabetic() && !matches!(char, 'E' | 'O'));
            let literal = conversion.map_or("", |at| &piece[at + 1..]);
            is_after_literal = !literal.is_empty();
            self.literal(literal);
        }
    }
}

/// Undoes the escapes of strings in configurations.
fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, behind)) = rest.split_first() {
        let escaped = match behind.first() {
            _ if byte != b'\\' => None,
            Some(&quoted @ (b'"' | b'\'' | b'\\')) => Some(quoted),
            Some(b't') => Some(b'\t'),
            Some(b'n') => Some(b'\n'),
            Some(b'r') => Some(b'\r'),
            _ => None,
        };
        bytes.push(escaped.unwrap_or(byte));
        rest = &behind[usize::from(escaped.is_some())..];
    }
    bytes
}

fn of_nginx(text: &str) -> Result<Tokens, String> {
    let mut tokens = Tokens::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        tokens.literal(before);
        let is_in_name = |char: char| char.is_ascii_alphanumeric() || char == '_';
        let (name, behind) = match after.strip_prefix('{') {
            Some(inside) => inside.split_once('}').unwrap_or_default(),
            None => after.split_at(after.find(|char| !is_in_name(char)).unwrap_or(after.len())),
        };
        if name.is_empty() || !name.chars().all(is_in_name) {
            return Err(format!("after $, a name is missing (byte {})", text.len() - after.len()));
        }
        if name == "time_local" {
            tokens.other(name);
            tokens.literal(" ");
            tokens.other(name);
        } else {
            tokens.variable(Variable::of_nginx(name));
        }
        rest = behind;
    }
    tokens.literal(rest);
    Ok(tokens)
}

fn of_apache(text: &str) -> Result<Tokens, String> {
    let mut tokens = Tokens::default();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('%') {
        tokens.literal(before);
        if let Some(behind) = after.strip_prefix('%') {
            tokens.literal("%");
            rest = behind;
            continue;
        }
        let bad =
            || format!("after %, the letter of a directive is missing (byte {})", text.len() - after.len());
        // The states of responses for which the value is logged, and an argument, come in any order.
        let is_modifier = |char: char| char.is_ascii_digit() || matches!(char, '!' | ',' | '<' | '>');
        let mut argument = None;
        rest = after.trim_start_matches(is_modifier);
        if let Some(inside) = rest.strip_prefix('{') {
            let (name, behind) = inside.split_once('}').ok_or_else(bad)?;
            argument = Some(name);
            rest = behind.trim_start_matches(is_modifier);
        }
        let (directive, behind) =
            rest.split_at_checked(if rest.starts_with('^') { 3 } else { 1 }).ok_or_else(bad)?;
        if !directive.ends_with(|last: char| last.is_ascii_alphabetic()) {
            return Err(bad());
        }
        rest = behind;
        match (directive, argument) {
            // The value has brackets and a blank.
            ("t", None) => {
                tokens.literal("[");
                tokens.other("t");
                tokens.literal("]");
            }
            ("t", Some(format)) if format.contains('%') => {
                let format =
                    format.strip_prefix("begin:").or_else(|| format.strip_prefix("end:")).unwrap_or(format);
                tokens.time(format);
            }
            _ => tokens.variable(Variable::of_apache(directive, argument)),
        }
    }
    tokens.literal(rest);
    Ok(tokens)
}
