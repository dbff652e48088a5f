//! A URL record (section 4.1) and its serialisation (section 4.5).

use std::fmt;

#[cfg(feature = "scan")]
use crate::grammar::escape::{MASK, mask};
#[cfg(feature = "scan")]
use crate::grammar::password::secrets;

/// A URL, as the parser of the standard makes it. Its `Display` is the serialisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Url {
    /// In lower case, without ":".
    pub scheme: String,
    /// Percent-encoded. Empty if there is none.
    pub username: String,
    /// Percent-encoded. Empty if there is none.
    pub password: String,
    /// The serialised host: a domain, an address or an opaque host. May be empty. `None` if there is none.
    pub host: Option<String>,
    /// `None` if there is none, or if it is the default port of the scheme.
    pub port: Option<u16>,
    /// The serialised path, percent-encoded.
    pub path: String,
    /// Whether the path is one string, which no reference can change (`mailto:a@b`), and not a list of segments.
    pub has_opaque_path: bool,
    /// Percent-encoded, without "?".
    pub query: Option<String>,
    /// Percent-encoded, without "#".
    pub fragment: Option<String>,
}

/// Whether a scheme is *special*.
pub(super) fn is_special(scheme: &str) -> bool {
    scheme == "file" || default_port(scheme).is_some()
}

/// The *default port* of a special scheme other than `file`.
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    match scheme {
        "http" | "ws" => Some(80),
        "https" | "wss" => Some(443),
        "ftp" => Some(21),
        _ => None,
    }
}

impl Url {
    /// Forgets everything but the memory of the strings that nearly all URLs have.
    pub(super) fn clear(&mut self) {
        for text in [&mut self.scheme, &mut self.username, &mut self.password, &mut self.path] {
            text.clear();
        }
        (self.host, self.port, self.has_opaque_path) = (None, None, false);
        (self.query, self.fragment) = (None, None);
    }

    /// The serialisation, with masks instead of what may be a password unless `show_secrets` is true.
    #[cfg(feature = "scan")]
    pub(crate) fn shown(&self, show_secrets: bool) -> String {
        if show_secrets {
            return self.to_string();
        }
        let mut url = self.clone();
        if !url.password.is_empty() {
            MASK.clone_into(&mut url.password);
        }
        // The path may be a URL with a password (`blob:`, `view-source:`).
        let text = url.to_string();
        String::from_utf8_lossy(&mask(text.as_bytes(), secrets(text.as_bytes(), false))).into_owned()
    }

    pub(super) fn is_special(&self) -> bool {
        is_special(&self.scheme)
    }

    /// The first segment of the path.
    pub(super) fn first_segment(&self) -> Option<&str> {
        let (first, _) =
            self.path.strip_prefix('/').map(|path| path.split_once('/').unwrap_or((path, "")))?;
        Some(first)
    }

    /// Removes the last segment, unless it is the drive letter of a file.
    pub(super) fn shorten_path(&mut self) {
        let is_drive = self.scheme == "file"
            && matches!(self.path.as_bytes(), [b'/', letter, b':'] if letter.is_ascii_alphabetic());
        if !is_drive {
            let end = self.path.rfind('/').unwrap_or(0);
            self.path.truncate(end);
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:", self.scheme)?;
        if let Some(host) = &self.host {
            out.write_str("//")?;
            if !self.username.is_empty() || !self.password.is_empty() {
                out.write_str(&self.username)?;
                if !self.password.is_empty() {
                    write!(out, ":{}", self.password)?;
                }
                out.write_str("@")?;
            }
            out.write_str(host)?;
            if let Some(port) = self.port {
                write!(out, ":{port}")?;
            }
        } else if !self.has_opaque_path && self.path.starts_with("//") {
            // Without it, the first segment would be read as a host.
            out.write_str("/.")?;
        }
        out.write_str(&self.path)?;
        if let Some(query) = &self.query {
            write!(out, "?{query}")?;
        }
        if let Some(fragment) = &self.fragment {
            write!(out, "#{fragment}")?;
        }
        Ok(())
    }
}
