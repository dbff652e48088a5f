//! How a user selects a field, and what a field is in its record.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use urlsift_grammar::named;
use urlsift_grammar::password::shown;

named! {
    /// The role of a field in its record.
    Role {
        /// The URL that the record is about.
        Url = "url",
        /// The request target of a client (RFC 9112, section 3.2), mostly a relative reference.
        Request = "request",
        /// The page that a client says it came from (RFC 9110, section 10.1.3).
        Referer = "referer",
        /// A link in a page.
        Link = "link",
        /// What a page shows or runs itself: an image, a script, a frame.
        Embed = "embed",
    }
}

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
