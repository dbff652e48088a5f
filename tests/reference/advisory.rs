//! Advisories: what is noteworthy in a line that some grammar accepts (SPEC, part 3; RFC 1738, section 6).
//!
//! This file must not depend on which grammar accepts the line. It finds the authority in the same way in every line (A80).

/// The advisories of an accepted line in the order of A81 to A86; `scheme` is the length of its scheme.
pub fn advisories(line: &[u8], scheme: Option<usize>) -> Vec<&'static str> {
    // Accepted lines are ASCII (A10), so scheme names and escapes can be compared in lower case (A5, A84).
    let text = String::from_utf8_lossy(line).to_ascii_lowercase();
    let name = &text[..scheme.unwrap_or(0)];
    let authority = authority(&text[scheme.map_or(0, |length| length + 1)..]);
    let (userinfo, port) = authority.map_or((None, None), |authority| (userinfo(authority), port(authority)));

    let has_password =
        userinfo.and_then(|userinfo| userinfo.split_once(':')).is_some_and(|(_, word)| !word.is_empty());
    let is_nondefault = port.is_some() && default_port(name).is_some() && port != default_port(name);
    let is_reserved =
        is_nondefault && port.is_some_and(|number| number.parse::<u16>().is_ok_and(|n| n < 1024));
    let has_control = ["%00", "%09", "%0a", "%0d"]
        .iter()
        .any(|escape| text.contains(escape) && !(*escape == "%09" && name == "gopher"));
    let has_delimiter = encoded_delimiters(name).iter().any(|escape| text.contains(escape));
    let is_gopher_smtp = name == "gopher" && port == Some("25");

    let mut found = Vec::new();
    for (advisory, given) in [
        ("password", has_password),
        ("port-nondefault", is_nondefault),
        ("port-reserved", is_reserved),
        ("encoded-control", has_control),
        ("encoded-delimiter", has_delimiter),
        ("gopher-smtp", is_gopher_smtp),
    ] {
        if given {
            found.push(advisory);
        }
    }
    found
}

/// A80: the text after "//" up to the first "/", "?" or "#", of what follows the scheme and its ":".
fn authority(after_scheme: &str) -> Option<&str> {
    after_scheme.strip_prefix("//")?.split(['/', '?', '#']).next()
}

/// A80: the part of the authority before its last "@".
fn userinfo(authority: &str) -> Option<&str> {
    authority.rsplit_once('@').map(|(userinfo, _)| userinfo)
}

/// A80: the digits after the last ":" of the rest, after a "]" if there is one, without leading zeros (A82). There must be
/// at least one digit. Text with other characters is not a port.
fn port(authority: &str) -> Option<&str> {
    let rest = authority.rsplit_once('@').map_or(authority, |(_, rest)| rest);
    let behind = rest.rsplit_once(']').map_or(rest, |(_, behind)| behind);
    let (_, digits) = behind.rsplit_once(':')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let number = digits.trim_start_matches('0');
    is_number.then_some(if number.is_empty() { "0" } else { number })
}

/// A82: the scheme's default port. `None` if it has none; then no port causes an advisory.
fn default_port(scheme: &str) -> Option<&'static str> {
    match scheme {
        "ftp" => Some("21"),
        "http" => Some("80"),
        "gopher" => Some("70"),
        "nntp" => Some("119"),
        "telnet" => Some("23"),
        "wais" => Some("210"),
        "prospero" => Some("1525"),
        "https" => Some("443"),
        _ => None,
    }
}

/// A85: the escapes, in lower case, of characters that are delimiters in the scheme's own syntax.
fn encoded_delimiters(scheme: &str) -> &'static [&'static str] {
    match scheme {
        "ftp" => &["%2f", "%3a", "%3b", "%40"],
        "telnet" => &["%2f", "%3a", "%40"],
        "http" | "https" => &["%2f", "%3b", "%3f"],
        "news" => &["%40"],
        "prospero" => &["%3b", "%3d"],
        _ => &[],
    }
}
