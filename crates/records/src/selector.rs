//! How a user selects a field.

use std::error::Error;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::formats::Format;
use super::record::Role;
use urlsift_grammar::password::shown;

/// Selects a field of a record.
///
/// ```
/// # mod urlsift { pub use urlsift_records as run; }
/// use urlsift::run::Selector;
///
/// assert_eq!("3".parse(), Ok(Selector::Number(3)));
/// assert_eq!("/request/url".parse(), Ok(Selector::Pointer("/request/url".to_owned())));
/// assert_eq!("referer".parse(), Ok(Selector::Name("referer".to_owned())));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Selector {
    /// By name: a column, a key, a header, or a name that the format defines.
    Name(String),
    /// By position, from 1.
    Number(usize),
    /// By a JSON pointer (RFC 6901), which begins with "/". In it, `*` stands for any key or index, and `~2` for the character "*".
    Pointer(String),
}

impl Selector {
    /// Whether this selects a field by this name.
    pub fn is_name(&self, name: &str) -> bool {
        matches!(self, Self::Name(own) if own == name)
    }

    /// The text that the user gave. `Display` shows it, with masks in the place of passwords.
    pub fn text(&self) -> String {
        match self {
            Self::Name(text) | Self::Pointer(text) => text.clone(),
            Self::Number(number) => number.to_string(),
        }
    }
}

impl FromStr for Selector {
    type Err = std::convert::Infallible;

    /// Digits are a number, text that begins with "/" is a pointer, and anything else is a name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.parse() {
            Ok(number) if text.bytes().all(|byte| byte.is_ascii_digit()) => Self::Number(number),
            _ if text.starts_with('/') => Self::Pointer(text.to_owned()),
            _ => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(text) | Self::Pointer(text) => out.write_str(&shown(text.as_bytes())),
            Self::Number(number) => write!(out, "{number}"),
        }
    }
}

/// The names of the wanted fields as the user gave them, if there are several.
#[derive(Clone, Debug, Default)]
pub struct WantedNames(Arc<[String]>);

impl WantedNames {
    pub fn new(fields: &[Selector]) -> Self {
        Self(if fields.len() > 1 { fields.iter().map(Selector::to_string).collect() } else { Arc::default() })
    }

    /// The names in the order of the user. Empty if there is one field or none.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// What a field is called in a row: by the wanted field that selects it, or by its role.
    pub fn of(&self, wanted: u32, role: Role) -> &str {
        self.0.get(wanted as usize).map_or(role.name(), String::as_str)
    }
}

/// A field that no record of a format can have, or a format that cannot be read from its start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    format: Format,
    field: Option<Selector>,
}

impl FieldError {
    pub(super) fn new(format: Format, field: Option<&Selector>) -> Self {
        Self { format, field: field.cloned() }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(out, "no field \"{field}\": {}", self.format.row().fields),
            None => out.write_str(self.format.row().needs),
        }
    }
}

impl Error for FieldError {}
