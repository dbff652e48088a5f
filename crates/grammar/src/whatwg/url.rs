//! A URL record (section 4.1) and its serialisation (section 4.5).

use std::fmt;

#[cfg(feature = "scan")]
use crate::escape::MASK;
#[cfg(feature = "scan")]
use crate::password::masked_text;

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

/// The special schemes other than `file`, with their default ports (section 4.2).
pub(super) const WITH_HOST: [(&str, u16); 5] =
    [("https", 443), ("http", 80), ("ftp", 21), ("ws", 80), ("wss", 443)];

/// The *default port* of a special scheme other than `file`.
pub(super) fn default_port(scheme: &str) -> Option<u16> {
    // By bytes: a call of `memcmp` for each name takes 2 % of the time of a short URL.
    let is_it = |(name, _): &&(&str, u16)| name.len() == scheme.len() && name.bytes().eq(scheme.bytes());
    WITH_HOST.iter().find(is_it).map(|&(_, port)| port)
}

/// The number that digits write; `None` if it is above 65535. Without digits, it is 0.
pub(super) fn port_number(digits: &[u8]) -> Option<u16> {
    digits.iter().try_fold(0_u16, |port, digit| port.checked_mul(10)?.checked_add(u16::from(digit - b'0')))
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

    /// The URL with a mask instead of its password. Other parts may disclose passwords too.
    #[cfg(feature = "scan")]
    pub fn without_password(&self) -> Self {
        let mut url = self.clone();
        if !url.password.is_empty() {
            MASK.clone_into(&mut url.password);
        }
        url
    }

    /// The serialisation, with masks instead of what may be a password unless `show_secrets` is true. It belongs to a URL.
    #[cfg(feature = "scan")]
    pub fn shown(&self, show_secrets: bool) -> String {
        if show_secrets {
            return self.to_string();
        }
        let mut url = self.without_password();
        // The path may be a URL with a password (`blob:`, `view-source:`).
        for part in [Some(&mut url.path), url.query.as_mut(), url.fragment.as_mut()].into_iter().flatten() {
            *part = masked_text(part);
        }
        url.to_string()
    }

    pub(super) fn is_special(&self) -> bool {
        self.scheme == "file" || default_port(&self.scheme).is_some()
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

#[cfg(all(test, feature = "scan"))]
mod tests {
    use crate::random::Random;
    use crate::whatwg::parse;

    /// Merging partial reports parses the base again.
    #[test]
    fn what_is_shown_of_a_url_is_the_serialisation_of_one() {
        const PIECES: [&str; 16] = [
            "http://", "foo:", "blob:", "file:", "//", "/", ":", "@", "u:SECRET@", "h", "81", "?", "#",
            "%40", "c:", "\\",
        ];
        let mut random = Random::new(5);
        let mut n_shown = 0;
        for _ in 0..50_000 {
            let text: String = (0..=random.below(9)).map(|_| PIECES[random.below(PIECES.len())]).collect();
            let parsed = parse(text.as_bytes(), None);
            let Some(url) = parsed.url() else { continue };
            let shown = url.shown(false);
            assert_eq!(parse(shown.as_bytes(), None).url().map(ToString::to_string), Some(shown), "{text}");
            n_shown += 1;
        }
        assert!(n_shown > 10_000, "{n_shown}");
    }

    #[test]
    fn passwords_are_masked_in_every_part() {
        for (text, expected) in [
            ("http://u:PW@h/", "http://u:***@h/"),
            ("blob:http://u:PW@h/", "blob:http://u:***@h/"),
            ("http://h/http://u:PW@h", "http://h/http://u:***@h"),
            ("http://h/?//u:PW@h", "http://h/?//u:***@h"),
            ("http://h/#//u:PW@h", "http://h/#//u:***@h"),
            ("http://u@h:81/@", "http://u@h:81/@"),
        ] {
            assert_eq!(parse(text.as_bytes(), None).url().unwrap().shown(false), expected);
        }
    }
}
