//! rfc1808: RFC 1808, section 2.2, June 1995.
//!
//! Source: seed 003, which has the whole BNF. The comments quote it. Doubts and decisions:
//!
//! - The second alternative of absoluteURL is any sequence of uchar and reserved after a scheme, as printed (A46).
//! - net_loc may be empty and can include ";" and "?" (A44). rel_path cannot start with "/" (A45).
//! - The prose forbids ":" in a first segment, the BNF does not, and the BNF decides (A47).
//! - There is at most one "#", because fragment cannot contain it (A12). No rule uses national and punctuation.

use super::at::At;

// URL = ( absoluteURL | relativeURL ) [ "#" fragment ]
pub fn url<A: At>(at: &A) -> A {
    at.alt(&[absolute_url, relative_url]).opt(|p| p.lit("#").then(fragment))
}

// absoluteURL = generic-RL | ( scheme ":" *( uchar | reserved ) )
fn absolute_url<A: At>(at: &A) -> A {
    at.alt(&[generic_rl, |p| p.then(scheme).lit(":").many(|p| p.alt(&[uchar, |p| p.one(reserved)]))])
}

// generic-RL = scheme ":" relativeURL
fn generic_rl<A: At>(at: &A) -> A {
    at.then(scheme).lit(":").then(relative_url)
}

// relativeURL = net_path | abs_path | rel_path
fn relative_url<A: At>(at: &A) -> A {
    at.alt(&[net_path, abs_path, rel_path])
}

// net_path = "//" net_loc [ abs_path ]
fn net_path<A: At>(at: &A) -> A {
    at.lit("//").then(net_loc).opt(abs_path)
}

// abs_path = "/"  rel_path
fn abs_path<A: At>(at: &A) -> A {
    at.lit("/").then(rel_path)
}

// rel_path = [ path ] [ ";" params ] [ "?" query ]
fn rel_path<A: At>(at: &A) -> A {
    at.opt(path).opt(|p| p.lit(";").then(params)).opt(|p| p.lit("?").then(query))
}

// path = fsegment *( "/" segment )
fn path<A: At>(at: &A) -> A {
    at.then(fsegment).many(|p| p.lit("/").then(segment))
}

// fsegment = 1*pchar
fn fsegment<A: At>(at: &A) -> A {
    at.many1(pchar)
}

// segment = *pchar
fn segment<A: At>(at: &A) -> A {
    at.many(pchar)
}

// params = param *( ";" param )
fn params<A: At>(at: &A) -> A {
    at.then(param).many(|p| p.lit(";").then(param))
}

// param = *( pchar | "/" )
fn param<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[pchar, |p| p.lit("/")]))
}

// scheme = 1*( alpha | digit | "+" | "-" | "." )
fn scheme<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[|p| p.one(alpha), |p| p.one(digit), |p| p.any_of("+-.")]))
}

// net_loc = *( pchar | ";" | "?" )
fn net_loc<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[pchar, |p| p.any_of(";?")]))
}

// query = *( uchar | reserved )
fn query<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.one(reserved)]))
}

// fragment = *( uchar | reserved )
fn fragment<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.one(reserved)]))
}

// pchar = uchar | ":" | "@" | "&" | "="
fn pchar<A: At>(at: &A) -> A {
    at.alt(&[uchar, |p| p.any_of(":@&=")])
}

// uchar = unreserved | escape
fn uchar<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), escape])
}

// unreserved = alpha | digit | safe | extra
fn unreserved(byte: u8) -> bool {
    alpha(byte) || digit(byte) || safe(byte) || extra(byte)
}

// escape = "%" hex hex
fn escape<A: At>(at: &A) -> A {
    at.lit("%").one(hex).one(hex)
}

// hex = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
fn hex(byte: u8) -> bool {
    digit(byte) || matches!(byte, b'A'..=b'F' | b'a'..=b'f')
}

// alpha = lowalpha | hialpha
fn alpha(byte: u8) -> bool {
    lowalpha(byte) || hialpha(byte)
}

// lowalpha = "a" | "b" | ... | "z"
fn lowalpha(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

// hialpha = "A" | "B" | ... | "Z"
fn hialpha(byte: u8) -> bool {
    byte.is_ascii_uppercase()
}

// digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}

// safe = "$" | "-" | "_" | "." | "+"
fn safe(byte: u8) -> bool {
    matches!(byte, b'$' | b'-' | b'_' | b'.' | b'+')
}

// extra = "!" | "*" | "'" | "(" | ")" | ","
fn extra(byte: u8) -> bool {
    matches!(byte, b'!' | b'*' | b'\'' | b'(' | b')' | b',')
}

// reserved = ";" | "/" | "?" | ":" | "@" | "&" | "="
fn reserved(byte: u8) -> bool {
    matches!(byte, b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=')
}
