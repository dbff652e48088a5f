//! Host parsing (section 3.5): domains, addresses and opaque hosts.

use std::borrow::Cow;
use std::net::Ipv6Addr;

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

use crate::hex::{escaped_byte, hex_digit};
use crate::whatwg::ValidationError;
use crate::whatwg::code_points::{
    EncodeSet, invalid_units, is_forbidden_in_domain, is_forbidden_in_host, percent_decode,
};
use crate::whatwg::plain::plain_host;

/// The end of a parse: there is no URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure;

/// Receives each error with its offset in the host.
pub(super) type Report<'r> = &'r mut dyn FnMut(ValidationError, usize);

fn fail<T>(report: Report<'_>, error: ValidationError, at: usize) -> Result<T, Failure> {
    report(error, at);
    Err(Failure)
}

/// The *host parser*. Returns the host as the *host serializer* writes it.
pub(super) fn parse_host(host: &str, is_opaque: bool, report: Report<'_>) -> Result<String, Failure> {
    if let Some(address) = host.strip_prefix('[') {
        let Some(address) = address.strip_suffix(']') else {
            return fail(report, ValidationError::Ipv6Unclosed, 0);
        };
        let pieces = parse_ipv6(address.as_bytes(), &mut |error, at| report(error, at + 1))?;
        return Ok(format!("[{}]", serialize_ipv6(&pieces)));
    }
    if is_opaque {
        return parse_opaque_host(host, report);
    }
    if plain_host(host.as_bytes()) == Some((host.len(), false)) {
        return Ok(host.to_ascii_lowercase());
    }
    let mut domain = Cow::Borrowed(host);
    if host.contains('%') {
        if let Some(at) = (0..host.len()).find(|&at| escaped_byte(&host.as_bytes()[at..]).is_some()) {
            report(ValidationError::DomainPercentEncoded, at);
        }
        domain = Cow::Owned(String::from_utf8_lossy(&percent_decode(host)).into_owned());
    }
    let ascii = if let Some(ascii) = strict_domain_to_ascii(&domain) {
        // A domain that passes more tests has the same form.
        ascii.to_ascii_lowercase()
    } else {
        report(ValidationError::DomainToAscii, 0);
        domain_to_ascii(&domain)?
    };
    if ends_in_a_number(&ascii) {
        if !domain.is_ascii() {
            report(ValidationError::Ipv4NonAsciiInput, 0);
        }
        return parse_ipv4(&ascii, report).map(|address| address.to_string());
    }
    Ok(ascii)
}

/// *Domain to ASCII*, not strict.
pub(crate) fn domain_to_ascii(domain: &str) -> Result<String, Failure> {
    let ascii = if domain.is_ascii() {
        // The standard keeps such a domain for the sake of the web, whatever Unicode says.
        domain.to_ascii_lowercase()
    } else {
        let uts46 = Uts46::new();
        let ascii =
            uts46.to_ascii(domain.as_bytes(), AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore);
        ascii.map_err(|_| Failure)?.into_owned()
    };
    if ascii.is_empty() || ascii.bytes().any(is_forbidden_in_domain) { Err(Failure) } else { Ok(ascii) }
}

/// *Domain to ASCII* with *beStrict*: the domain is one that the Domain Name System can have.
fn strict_domain_to_ascii(domain: &str) -> Option<Cow<'_, str>> {
    // UTS 46 accepts an ASCII domain without a label that begins with "xn--" if and only if it is a plain host.
    if domain.is_ascii() && !domain.contains("--") {
        return plain_host(domain.as_bytes()).filter(|(len, _)| *len == domain.len()).map(|_| domain.into());
    }
    strict_by_uts46(domain)
}

/// The same, of any domain.
fn strict_by_uts46(domain: &str) -> Option<Cow<'_, str>> {
    let uts46 = Uts46::new();
    uts46.to_ascii(domain.as_bytes(), AsciiDenyList::STD3, Hyphens::Check, DnsLength::Verify).ok()
}

/// The *opaque-host parser*.
fn parse_opaque_host(host: &str, report: Report<'_>) -> Result<String, Failure> {
    if let Some(at) = host.bytes().position(is_forbidden_in_host) {
        return fail(report, ValidationError::HostInvalidCodePoint, at);
    }
    // The standard reports each of these two once.
    let mut seen = [false; 2];
    for at in invalid_units(host) {
        let is_escape = host.as_bytes()[at] == b'%';
        if !std::mem::replace(&mut seen[usize::from(is_escape)], true) {
            report(ValidationError::InvalidUrlUnit, at);
        }
    }
    let mut encoded = String::with_capacity(host.len());
    EncodeSet::C0Control.encode(host, &mut encoded);
    Ok(encoded)
}

/// The *ends-in-a-number checker*.
fn ends_in_a_number(domain: &str) -> bool {
    let without_dot = domain.strip_suffix('.').unwrap_or(domain);
    let last = without_dot.rsplit('.').next().unwrap_or(without_dot);
    is_number(last)
}

/// Whether a domain with this last label ends in a number.
pub(crate) fn is_number(label: &str) -> bool {
    let is_digits = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit());
    is_digits || parse_ipv4_number(label).is_some()
}

/// The *IPv4 number parser*. Returns the number, and whether it is written in decimal; `None` if it is no number. A number that is too
/// large for 32 bits is returned as some number that is too large.
fn parse_ipv4_number(part: &str) -> Option<(u64, bool)> {
    let (digits, radix) = match part.as_bytes() {
        [] => return None,
        [b'0', b'x' | b'X', ..] => (&part[2..], 16),
        [b'0', _, ..] => (&part[1..], 8),
        _ => (part, 10),
    };
    let mut number: u64 = 0;
    for character in digits.chars() {
        let digit = character.to_digit(radix)?;
        number = number.saturating_mul(u64::from(radix)).saturating_add(u64::from(digit));
    }
    Some((number, radix == 10))
}

/// The *IPv4 parser*.
fn parse_ipv4(domain: &str, report: Report<'_>) -> Result<std::net::Ipv4Addr, Failure> {
    let mut parts: Vec<_> = domain.split('.').collect();
    if parts.last() == Some(&"") {
        report(ValidationError::Ipv4EmptyPart, domain.len());
        if parts.len() > 1 {
            parts.pop();
        }
    }
    if parts.len() > 4 {
        return fail(report, ValidationError::Ipv4TooManyParts, 0);
    }
    if parts.len() < 4 {
        report(ValidationError::Ipv4TooFewParts, 0);
    }
    let (mut numbers, mut at) = (Vec::with_capacity(4), 0);
    for part in parts {
        let Some((number, is_decimal)) = parse_ipv4_number(part) else {
            return fail(report, ValidationError::Ipv4NonNumericPart, at);
        };
        if !is_decimal {
            report(ValidationError::Ipv4NonDecimalPart, at);
        }
        numbers.push((number, at));
        at += part.len() + 1;
    }
    if let Some((_, at)) = numbers.iter().find(|(number, _)| *number > 255) {
        report(ValidationError::Ipv4OutOfRangePart, *at);
    }
    let (&(last, _), first) = numbers.split_last().ok_or(Failure)?;
    if first.iter().any(|(number, _)| *number > 255) || last >> (8 * (4 - first.len())) > 0 {
        return Err(Failure);
    }
    let high = first.iter().zip([24, 16, 8]).map(|((number, _), shift)| number << shift);
    let address = u32::try_from(high.sum::<u64>() + last).map_err(|_| Failure)?;
    Ok(address.into())
}

/// The *IPv6 parser*.
fn parse_ipv6(input: &[u8], report: Report<'_>) -> Result<[u16; 8], Failure> {
    let mut address = [0_u16; 8];
    let (mut piece_index, mut compress, mut pointer) = (0, None, 0);
    let c = |pointer: usize| input.get(pointer).copied();
    if c(0) == Some(b':') {
        if c(1) != Some(b':') {
            return fail(report, ValidationError::Ipv6InvalidCompression, 0);
        }
        pointer = 2;
        piece_index = 1;
        compress = Some(piece_index);
    }
    while pointer < input.len() {
        if piece_index == 8 {
            return fail(report, ValidationError::Ipv6TooManyPieces, pointer);
        }
        if c(pointer) == Some(b':') {
            if compress.is_some() {
                return fail(report, ValidationError::Ipv6MultipleCompression, pointer);
            }
            pointer += 1;
            piece_index += 1;
            compress = Some(piece_index);
            continue;
        }
        let start = pointer;
        let mut value: u16 = 0;
        while pointer - start < 4
            && let Some(digit) = c(pointer).and_then(hex_digit)
        {
            value = value << 4 | u16::from(digit);
            pointer += 1;
        }
        let length = pointer - start;
        match c(pointer) {
            Some(b'.') => {
                if length == 0 {
                    return fail(report, ValidationError::Ipv4InIpv6InvalidCodePoint, pointer);
                }
                if piece_index > 6 {
                    return fail(report, ValidationError::Ipv4InIpv6TooManyPieces, start);
                }
                let pieces = parse_ipv4_in_ipv6(&input[start..], &mut |error, at| report(error, start + at))?;
                address[piece_index..piece_index + 2].copy_from_slice(&pieces);
                piece_index += 2;
                break;
            }
            Some(b':') => {
                pointer += 1;
                if c(pointer).is_none() {
                    return fail(report, ValidationError::Ipv6InvalidCodePoint, pointer - 1);
                }
            }
            Some(_) => return fail(report, ValidationError::Ipv6InvalidCodePoint, pointer),
            None => {}
        }
        if length > 1 && c(start) == Some(b'0') {
            report(ValidationError::Ipv6PieceLeadingZero, start);
        }
        address[piece_index] = value;
        piece_index += 1;
    }
    if let Some(compress) = compress {
        address[compress..].rotate_right(8 - piece_index);
    } else if piece_index != 8 {
        return fail(report, ValidationError::Ipv6TooFewPieces, input.len());
    }
    Ok(address)
}

/// The part of the *IPv6 parser* that reads an IPv4 address at the end, as two pieces.
fn parse_ipv4_in_ipv6(input: &[u8], report: Report<'_>) -> Result<[u16; 2], Failure> {
    let (mut bytes, mut seen, mut pointer) = ([0_u8; 4], 0, 0);
    while pointer < input.len() {
        if seen > 0 {
            if input[pointer] != b'.' || seen == 4 {
                return fail(report, ValidationError::Ipv4InIpv6InvalidCodePoint, pointer);
            }
            pointer += 1;
        }
        let start = pointer;
        let mut value: u8 = 0;
        while let Some(digit @ b'0'..=b'9') = input.get(pointer) {
            if pointer > start && value == 0 {
                return fail(report, ValidationError::Ipv4InIpv6InvalidCodePoint, pointer);
            }
            let Some(next) = value.checked_mul(10).and_then(|value| value.checked_add(digit - b'0')) else {
                return fail(report, ValidationError::Ipv4InIpv6OutOfRangePart, start);
            };
            value = next;
            pointer += 1;
        }
        if pointer == start {
            return fail(report, ValidationError::Ipv4InIpv6InvalidCodePoint, pointer);
        }
        bytes[seen] = value;
        seen += 1;
    }
    if seen != 4 {
        return fail(report, ValidationError::Ipv4InIpv6TooFewParts, pointer);
    }
    Ok([u16::from_be_bytes([bytes[0], bytes[1]]), u16::from_be_bytes([bytes[2], bytes[3]])])
}

/// The *IPv6 serializer*. Unlike the standard library's, it writes no IPv4 address at the end.
fn serialize_ipv6(pieces: &[u16; 8]) -> String {
    let text = Ipv6Addr::from(*pieces).to_string();
    if !text.contains('.') {
        return text;
    }
    let [.., high, low] = pieces;
    let end = text.rfind(':').map_or(0, |colon| colon + 1);
    format!("{}{high:x}:{low:x}", &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    #[test]
    fn the_strict_form_without_unicode_is_that_of_uts46() {
        let labels = ["a".repeat(62), "b".repeat(31)];
        let pieces = ["a", "B", "7", "-", "-", ".", ".", "_", " ", "%", "xn--", &labels[0], &labels[1]];
        let (mut random, mut n_plain) = (Random::new(5), 0);
        let drawn = |_| (0..random.below(9)).map(|_| pieces[random.below(pieces.len())]).collect();
        // A domain has at most 253 bytes, and a label 63.
        let long = (60..70)
            .flat_map(|len| [8, 192].map(|before| ["a.".repeat(before / 2), "b".repeat(len)].concat()));
        for domain in long.chain((0..30_000).map(drawn)) {
            let by_uts46 = strict_by_uts46(&domain).map(|domain| domain.to_ascii_lowercase());
            n_plain += u32::from(by_uts46.is_some());
            let found = strict_domain_to_ascii(&domain).map(|domain| domain.to_ascii_lowercase());
            assert_eq!(found, by_uts46, "{domain}");
        }
        assert!(n_plain > 1000, "{n_plain}");
    }
}
