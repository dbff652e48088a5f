//! Compares canonical forms and components with the crates fluent-uri, iri-string, url and ada-url.
//!
//! Lines are those of the corpora, lines that are generated from the rules and mutated, and lines of pieces that the rules look at. Each
//! difference has the number of its rule: K in `tests/conformance/KEYS.md`, H in `tests/conformance/HOSTS.md`.

use std::net::Ipv6Addr;
use std::ops::Range;
use std::str;

use fluent_uri::UriRef;
use fluent_uri::component::{Host, Scheme};
use fluent_uri::normalize::Normalizer;
use iri_string::format::ToDedicatedString;
use iri_string::types::UriStr;
use urlsift::grammar::host::{HostKind, compared};
use urlsift::grammar::keys::canonical::canonical;
use urlsift::grammar::uri_parts::{Parts, split};

use crate::reference::Rng;
use crate::support::{amount, family, on_all_lines};

/// What lines of pieces begin with, and the pieces, between blanks.
const STARTS: &str = "http:// https:// http://example.org/ https://www2.a-b.org HTTP:// ftp:// ws: WSS:// x: \
    rtsp:// // http://u:p@";
const PIECES: &str = "/ / // /. /.. /../ . .. ? # & = ' : :80 :443 :0080 :21 :554 :65536 @ [::1] [0:0::1] \
    [::ffff:1.2.3.4] [v1.A] a B www. .com 10 0x7f 127.1 xn--a xn--fa-hia.de %20 %2541 %41 %5a \
    %7e %2F %2e %c3%9F %C3 ~";

/// A line of a few pieces.
fn some_line(rng: &mut Rng) -> Vec<u8> {
    let [starts, pieces] = [STARTS, PIECES].map(|texts| texts.split(' ').collect::<Vec<_>>());
    let mut line = starts[rng.below(starts.len())].to_owned();
    for _ in 0..rng.below(9) {
        line += pieces[rng.below(pieces.len())];
    }
    line.into_bytes()
}

/// Checks lines of the corpora, families and lines of pieces. Returns for how many `check` is true.
fn check_all(check: impl Fn(&[u8]) -> bool + Sync) -> u64 {
    let drawn = |seed| {
        let mut rng = Rng::new(seed);
        let of_pieces = (0..4).map(|_| some_line(&mut rng));
        family(seed).into_iter().chain(of_pieces).collect()
    };
    on_all_lines(amount(10_000, 250_000), drawn, check).iter().sum()
}

/// The schemes that K6 and K7 name.
const SPECIAL: [&str; 5] = ["http", "https", "ws", "wss", "ftp"];

fn is_special(line: &str) -> bool {
    let parts = split(line.as_bytes());
    let scheme = &line[parts.scheme.unwrap_or_default()];
    parts.authority.is_some() && SPECIAL.iter().any(|it| it.eq_ignore_ascii_case(scheme))
}

fn ours(line: &str) -> Option<String> {
    let mut out = Vec::new();
    canonical(line.as_bytes(), &mut out).map(|form| String::from_utf8(form.to_vec()).unwrap())
}

/// Normalises a line that RFC 3986 accepts; `None` if the peer knows no such lines.
type Peer = fn(&str) -> Option<String>;

const PEERS: [(&str, Peer); 2] = [
    ("fluent-uri", |line| {
        Some(Normalizer::new().normalize(&UriRef::parse(line).unwrap()).unwrap().into_string())
    }),
    ("iri-string", |line| Some(UriStr::new(line).ok()?.normalize().to_dedicated_string().into())),
];

/// A known difference between the canonical forms of urlsift and a peer.
struct Difference {
    peer: &'static str,
    rule: &'static str,
    why: &'static str,
    /// Turns our form into the peer's. It takes the line, our form and the peer's.
    undo: fn(&str, &str, &str) -> String,
    /// A line, and the form of the peer.
    example: (&'static str, &'static str),
}

const DIFFERENCES: [Difference; 7] = [
    Difference {
        peer: "fluent-uri",
        rule: "K7",
        why: "it leaves an empty path",
        undo: without_slash,
        example: ("http://a?b", "http://a?b"),
    },
    Difference {
        peer: "fluent-uri",
        rule: "K6",
        why: "it knows the default ports of more schemes",
        undo: |line, form, _| {
            let parts = split(form.as_bytes());
            let port = parts.port.unwrap_or_default();
            let scheme = UriRef::parse(line).unwrap().scheme().and_then(Scheme::default_port);
            match form[port.clone()].parse::<u16>() {
                Ok(number) if scheme == Some(number) && !is_special(line) => {
                    replaced(form, port.start - 1..port.end, "")
                }
                _ => form.to_owned(),
            }
        },
        example: ("rtsp://a:554/", "rtsp://a/"),
    },
    Difference {
        peer: "fluent-uri",
        rule: "K8",
        why: "it writes IPv6 addresses anew",
        undo: |_, form, theirs| {
            let addresses = [form, theirs].map(|text| {
                let host = &text[split(text.as_bytes()).host.unwrap_or_default()];
                host.strip_prefix('[').and_then(|host| host.strip_suffix(']'))?.parse::<Ipv6Addr>().ok()
            });
            match addresses {
                [Some(ours), Some(of_peer)] if ours == of_peer => {
                    with_part_of(form, theirs, |parts| parts.host)
                }
                _ => form.to_owned(),
            }
        },
        example: ("http://[0:0::1]/", "http://[::1]/"),
    },
    Difference {
        peer: "iri-string",
        rule: "K7",
        why: "it leaves an empty path",
        undo: without_slash,
        example: ("http://a#b", "http://a#b"),
    },
    Difference {
        peer: "iri-string",
        rule: "K6",
        why: "it keeps default ports",
        undo: |line, form, _| {
            let port = &line[split(line.as_bytes()).port.unwrap_or_default()];
            let parts = split(form.as_bytes());
            match (parts.authority, parts.port) {
                (Some(authority), None) if !port.is_empty() && is_special(line) => {
                    replaced(form, authority.end..authority.end, &format!(":{port}"))
                }
                _ => form.to_owned(),
            }
        },
        example: ("http://a:80/", "http://a:80/"),
    },
    Difference {
        peer: "iri-string",
        rule: "K2",
        why: "it keeps the case of a host with escapes of bytes beyond ASCII",
        undo: |_, form, theirs| {
            let hosts = [form, theirs].map(|text| &text[split(text.as_bytes()).host.unwrap_or_default()]);
            let beyond_ascii =
                hosts[0].as_bytes().windows(2).any(|two| two[0] == b'%' && !matches!(two[1], b'0'..=b'7'));
            if beyond_ascii && hosts[0].eq_ignore_ascii_case(hosts[1]) {
                with_part_of(form, theirs, |parts| parts.host)
            } else {
                form.to_owned()
            }
        },
        example: ("http://A%c3%a9/", "http://A%C3%A9/"),
    },
    Difference {
        peer: "iri-string",
        rule: "K4",
        why: "it removes dot-segments from paths without a first slash",
        undo: |_, form, theirs| {
            let parts = split(form.as_bytes());
            let path = &form[parts.path];
            let has_dots = path.split('/').any(|segment| matches!(segment, "." | ".."));
            if parts.authority.is_none() && !path.starts_with('/') && has_dots {
                with_part_of(form, theirs, |parts| Some(parts.path))
            } else {
                form.to_owned()
            }
        },
        example: ("x:a/../b", "x:/b"),
    },
];

fn without_slash(line: &str, form: &str, _: &str) -> String {
    let path = split(form.as_bytes()).path;
    if is_special(line) && split(line.as_bytes()).path.is_empty() {
        replaced(form, path, "")
    } else {
        form.to_owned()
    }
}

fn replaced(text: &str, range: Range<usize>, by: &str) -> String {
    [&text[..range.start], by, &text[range.end..]].concat()
}

/// `form` with a part of `other`.
fn with_part_of(form: &str, other: &str, part: fn(Parts) -> Option<Range<usize>>) -> String {
    let [range, by] = [form, other].map(|text| part(split(text.as_bytes())).unwrap_or_default());
    replaced(form, range, &other[by])
}

#[test]
fn canonical_forms_agree() {
    let n = check_all(|line| {
        let Some((line, form)) = str::from_utf8(line).ok().and_then(|line| Some((line, ours(line)?))) else {
            return false;
        };
        for (peer, normalise) in PEERS {
            let Some(theirs) = normalise(line) else { continue };
            let mut explained = form.clone();
            for difference in DIFFERENCES.iter().filter(|it| it.peer == peer) {
                if explained != theirs {
                    explained = (difference.undo)(line, &explained, &theirs);
                }
            }
            assert_eq!(
                explained, theirs,
                "{peer} has another form of {line}, which no rule explains: ours is {form}"
            );
        }
        true
    });
    assert!(n > 90_000, "{n}");
}

#[test]
fn known_differences_are_still_there() {
    for Difference { peer, rule, why, undo, example: (line, theirs) } in DIFFERENCES {
        let (_, normalise) = PEERS.into_iter().find(|(name, _)| *name == peer).unwrap();
        assert_eq!(normalise(line).as_deref(), Some(theirs), "{peer}, {rule}: {why}");
        let form = ours(line).unwrap();
        assert_ne!(form, theirs, "{peer} agrees now; it was listed by {rule} as: {why}");
        assert_eq!(undo(line, &form, theirs), theirs, "{peer}, {rule}: {why}");
    }
}

/// User name, password, host, port, path, query and fragment by a parser of the WHATWG URL Standard. Empty ones are absent.
type Components = [String; 7];

/// Parses a URL; `None` if it is none.
type Parser = fn(&str) -> Option<Components>;

const PARSERS: [(&str, Parser); 2] = [
    ("url", |line| {
        let url = url::Url::parse(line).ok()?;
        let port = url.port().map_or(String::new(), |port| port.to_string());
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        Some([
            url.username().to_owned(),
            text(url.password()),
            text(url.host_str()),
            port,
            url.path().to_owned(),
            text(url.query()),
            text(url.fragment()),
        ])
    }),
    ("ada-url", |line| {
        let url = ada_url::Url::parse(line, None).ok()?;
        let after = |mark: char, text: &str| text.strip_prefix(mark).unwrap_or_default().to_owned();
        Some([
            url.username().to_owned(),
            url.password().to_owned(),
            url.hostname().to_owned(),
            url.port().to_owned(),
            url.pathname().to_owned(),
            after('?', url.search()),
            after('#', url.hash()),
        ])
    }),
];

/// What such a parser should find in a line that RFC 3986 accepts. `None` if it should find no URL.
///
/// - K6: it drops default ports.
/// - K7: an empty path is `/`.
/// - It escapes `'` in queries, and `;` and `=` in userinfo, and `:` in a password.
fn expected(line: &str, host: &str) -> Option<Components> {
    let parts = split(line.as_bytes());
    let text = |range: Option<Range<usize>>| &line[range.unwrap_or_default()];
    let scheme = text(parts.scheme).to_ascii_lowercase();
    let port = match text(parts.port) {
        "" => None,
        // A larger port is none.
        digits => Some(digits.parse::<u16>().ok()?),
    };
    let default_port = match &*scheme {
        "http" | "ws" => 80,
        "https" | "wss" => 443,
        _ => 21,
    };
    let port = port.filter(|port| *port != default_port).map_or(String::new(), |port| port.to_string());
    let path = if parts.path.is_empty() { "/" } else { text(Some(parts.path)) };
    let (query, fragment) = (text(parts.query).replace('\'', "%27"), text(parts.fragment).to_owned());
    let userinfo = text(parts.userinfo).replace(';', "%3B").replace('=', "%3D");
    let (name, password) = userinfo.split_once(':').unwrap_or((&userinfo, ""));
    Some([
        name.to_owned(),
        password.replace(':', "%3A"),
        host.to_owned(),
        port,
        path.to_owned(),
        query,
        fragment,
    ])
}

/// Whether a line cannot be compared, and why.
///
/// - H2: an empty host of RFC 3986 is none of the standard, which looks for one behind further slashes.
/// - H4: the standard writes IPv6 addresses anew, and knows no later ones.
/// - H5: it reads a name that ends in a number as an address.
/// - K4: it removes dot-segments, also escaped ones.
fn is_beyond_comparison(line: &str, host: &str) -> bool {
    let parts = split(line.as_bytes());
    let last_label = host.strip_suffix('.').unwrap_or(host).rsplit('.').next().unwrap_or_default();
    let path = line[parts.path].replace("%2e", ".").replace("%2E", ".");
    host.is_empty()
        || host == "."
        || host.starts_with('[')
        || last_label.starts_with(|first: char| first.is_ascii_digit())
        || path.split('/').any(|segment| matches!(segment, "." | ".."))
}

#[test]
fn components_are_those_of_browsers() {
    let n = check_all(|line| {
        let Some(line) = str::from_utf8(line).ok().filter(|line| is_special(line) && ours(line).is_some())
        else {
            return false;
        };
        let written = &line[split(line.as_bytes()).host.unwrap_or_default()];
        let mut buffer = Vec::new();
        let name = compared(written.as_bytes(), &mut buffer).map(|name| str::from_utf8(name).unwrap());
        // A compared host has no dot at its end (H4); browsers keep it.
        let dot =
            if written.ends_with('.') || written.to_ascii_lowercase().ends_with("%2e") { "." } else { "" };
        let host = name.map(|name| format!("{name}{dot}"));
        if is_beyond_comparison(line, host.as_deref().unwrap_or("a")) {
            return false;
        }
        let expected = host.and_then(|host| expected(line, &host));
        for (peer, parse) in PARSERS {
            let theirs = parse(line);
            // H4: the standard validates labels with `xn--`; we do not, if the host is ASCII.
            let is_refused = theirs.is_none() && name.is_some_and(|name| name.contains("xn--"));
            assert!(is_refused || theirs == expected, "{peer} finds other components in {line}: {theirs:?}");
        }
        true
    });
    assert!(n > 60_000, "{n}");
}

#[test]
fn kinds_of_hosts_are_those_of_peers() {
    let n = check_all(|line| {
        let Some(uri) = str::from_utf8(line).ok().and_then(|line| UriRef::parse(line).ok()) else {
            return false;
        };
        let Some(authority) = uri.authority() else { return false };
        let kind = match authority.host_parsed() {
            Host::Ipv4 { .. } => HostKind::Ipv4,
            Host::Ipv6 { .. } => HostKind::Ipv6,
            Host::RegName(_) => HostKind::Name,
            Host::IpvFuture { .. } => HostKind::IpvFuture,
        };
        assert_eq!(HostKind::of(authority.host().as_bytes()), kind, "{}", authority.host());
        true
    });
    assert!(n > 60_000, "{n}");
}
