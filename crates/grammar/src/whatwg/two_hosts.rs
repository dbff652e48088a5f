//! How reports show the two hosts of a line, if RFC 3986 finds another one than browsers.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use crate::escape::{Keep, MASK, mask, text};
use crate::named;
use crate::password::{secrets_of, shows_word_of};
use crate::scheme::scheme_len;
use crate::uri_parts::beginning;
use crate::whatwg::hosts::{different_hosts, hosts_differ};
use crate::whatwg::input::Input;
use crate::whatwg::{Url, parse};

named! {
    /// Why browsers find another host than RFC 3986.
    HostsCause {
        /// Browsers remove tabs and line ends, and blanks and controls at both ends.
        Removed = "removed",
        /// Browsers read "\" as "/".
        Backslash = "backslash",
        /// Browsers find a host after any number of slashes.
        Slashes = "slashes",
        /// Browsers read the host as an IPv4 address.
        Address = "address",
        /// Browsers read the host in another way.
        Other = "other",
    }
}

named! {
    /// Where a host is that the internet does not reach.
    Network {
        /// The machine itself: 127.0.0.1, ::1, localhost and others.
        Loopback = "loopback",
        /// A private network, such as 10.0.0.1 or fd00::1.
        Private = "private",
        /// The network of one link, such as 169.254.169.254, where clouds tell machines about themselves.
        LinkLocal = "link-local",
    }
}

/// The hosts that RFC 3986 and browsers find in a line, if they differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TwoHosts {
    /// The host by the delimiters of RFC 3986, or else that of the base. Empty if there is none. `***` if it may show a password.
    pub rfc3986: String,
    /// The host to which browsers connect, in the same form.
    pub browsers: String,
    /// Why they differ.
    pub cause: HostsCause,
    /// Where the host of browsers is; `None` if it may be anywhere.
    pub network: Option<Network>,
}

/// The most characters of a host that are kept.
const MAX_LEN: usize = 255;

impl TwoHosts {
    /// The hosts of `line`, of which the WHATWG parser made `url` with `base`; `None` if they do not differ. The cost is linear in the
    /// length of the line.
    pub fn of(line: &[u8], base: Option<&Url>, url: &Url) -> Option<Self> {
        let (rfc3986, browsers) = different_hosts(line, base, url)?;
        let shown = |host: &[u8]| text(host, Keep::Visible).chars().take(MAX_LEN).collect();
        Some(Self {
            rfc3986: shown(rfc3986),
            browsers: shown(browsers.as_bytes()),
            cause: HostsCause::of(line, base, url),
            network: Network::of(browsers),
        })
    }

    /// The hosts of the line with masks in place of its passwords. A host is a mask if it shows a word of a password, and both are if they do not
    /// differ then. `is_of_text` says that the line is a URL in running text.
    pub fn masked(self, line: &[u8], is_of_text: bool, base: Option<&Url>) -> Self {
        let beginning = beginning(line);
        let secrets = secrets_of(beginning, false, is_of_text);
        if secrets.is_empty() {
            return self;
        }
        let masked = mask(line, secrets.clone());
        let hosts = parse(&masked, base).url().and_then(|url| Self::of(&masked, base, url));
        let [rfc3986, browsers] = [MASK.to_owned(), MASK.to_owned()];
        let mut hosts = hosts.unwrap_or(Self { rfc3986, browsers, network: None, ..self });
        for host in [&mut hosts.rfc3986, &mut hosts.browsers] {
            if shows_word_of(beginning, &secrets, host.as_bytes()) {
                MASK.clone_into(host);
            }
        }
        hosts
    }
}

impl fmt::Display for TwoHosts {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [rfc3986, browsers] =
            [&self.rfc3986, &self.browsers].map(|host| if host.is_empty() { "(none)" } else { host });
        write!(out, "RFC 3986: {rfc3986}, browsers: {browsers}")?;
        if let Some(network) = self.network {
            write!(out, " ({network})")?;
        }
        write!(out, ". {}", self.cause.meaning())
    }
}

impl HostsCause {
    /// The cause is the first difference without which the hosts are the same.
    fn of(line: &[u8], base: Option<&Url>, url: &Url) -> Self {
        let is_solved = |line: &[u8]| !hosts_differ(line, base, url);
        let input = Input::new(line);
        let mut line = input.text.into_owned().into_bytes();
        if input.trimmed.or(input.removed).is_some() && is_solved(&line) {
            return Self::Removed;
        }
        if is_solved(&with_two_slashes(&line)) {
            return Self::Slashes;
        }
        line.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
        if is_solved(&line) || is_solved(&with_two_slashes(&line)) {
            Self::Backslash
        } else if matches!(url.host.as_deref().map(str::parse), Some(Ok(IpAddr::V4(_)))) {
            Self::Address
        } else {
            Self::Other
        }
    }
}

/// A line with two slashes before its authority or path, whatever their number is.
fn with_two_slashes(line: &[u8]) -> Vec<u8> {
    let (scheme, rest) = line.split_at(scheme_len(line).map_or(0, |len| len + 1));
    let n_slashes = rest.iter().take_while(|byte| **byte == b'/').count();
    [scheme, b"//", &rest[n_slashes..]].concat()
}

impl Network {
    /// The network of a serialised host.
    fn of(host: &str) -> Option<Self> {
        let name = host.strip_suffix('.').unwrap_or(host);
        let literal = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let Ok(address) = literal.parse::<IpAddr>() else {
            return (name == "localhost" || name.ends_with(".localhost")).then_some(Self::Loopback);
        };
        let address = address.to_canonical();
        let (is_private, is_link_local) = match address {
            IpAddr::V4(address) => (address.is_private(), address.is_link_local()),
            IpAddr::V6(address) => (address.is_unique_local(), address.is_unicast_link_local()),
        };
        let kinds = [
            (address.is_loopback() || address.is_unspecified(), Self::Loopback),
            (is_private, Self::Private),
            (is_link_local, Self::LinkLocal),
        ];
        kinds.into_iter().find(|(is_it, _)| *is_it).map(|(_, network)| network)
    }
}
