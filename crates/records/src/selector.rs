//! How a user selects a field.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

use super::Format;
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
        let has = match self.format {
            Format::Lines => "lines have no fields",
            Format::Text => "text has no fields",
            Format::Wat => "the fields of wat are always the links",
            Format::Cdx => "a field of cdx is a letter of its header or a number from 1",
            Format::Clf => "the fields of clf are request and referer",
            Format::Alb => "the only field of alb is request",
            Format::Elb | Format::Haproxy | Format::Envoy => {
                "the only field of elb, haproxy and envoy is request"
            }
            Format::S3 => "the fields of s3 are request and referer",
            Format::Squid => "the only field of squid is url",
            Format::Log if self.field.is_none() => "a log needs its pattern, which --log-format gives",
            Format::Log => {
                "a field of a log is request, referer, url, or the name of a variable of its pattern"
            }
            Format::Warc => "a field of warc is the name of a header, or body-links",
            Format::Cdxj | Format::JsonLines | Format::Json => {
                "a field of JSON is a key of the object or a pointer, which begins with \"/\""
            }
            Format::Cri => "the fields of cri are those of the lines in it",
            Format::W3c | Format::Iis => {
                "a field of w3c and iis is request, referer, a name in #Fields, or a number from 1"
            }
            Format::Zeek => "a field of zeek is request, referer, a name in #fields, or a number from 1",
            Format::Html => {
                "a field of html is the name of an attribute (href), or with its element before it (img@data-src)"
            }
            Format::Xml => {
                "a field of xml is the name of an element (loc), or of an attribute after @ (link@href, @href)"
            }
            Format::Csv | Format::Tsv => "a field of csv and tsv is the name of a column or a number from 1",
            Format::Parquet if cfg!(feature = "parquet") => {
                return out.write_str(
                    "a Parquet file tells at its end where its columns are: it is read from a file itself, not from a pipe and not compressed once more",
                );
            }
            Format::Parquet => {
                return out.write_str(
                    "it is a Parquet file, and this build of urlsift cannot read those (the feature \"parquet\": cargo install urlsift --features parquet)",
                );
            }
        };
        match &self.field {
            Some(field) => write!(out, "no field \"{field}\": {has}"),
            None => out.write_str(has),
        }
    }
}

impl Error for FieldError {}
