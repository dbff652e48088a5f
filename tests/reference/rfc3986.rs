//! rfc3986: RFC 3986, appendix A, January 2005. No seed has it. Every rule is as printed there.
//!
//! The start rule is URI-reference. It does not reach absolute-URI, path, reserved and gen-delims, which are left out.
//! Doubts and decisions:
//!
//! - Quoted strings in ABNF ignore case: "v" of IPvFuture and the digits "A" to "F" (A9, A53).
//! - host is a union: an IPv4 address out of range is a reg-name (A56). Zone identifiers are not applied (A53).
//! - `0<pchar>` is the empty string (A57). Brackets only occur around an IP-literal (A58).

use super::at::At;

// URI = scheme ":" hier-part [ "?" query ] [ "#" fragment ]
fn uri<A: At>(at: &A) -> A {
    at.then(scheme)
        .lit(":")
        .then(hier_part)
        .opt(|p| p.lit("?").then(query))
        .opt(|p| p.lit("#").then(fragment))
}

// hier-part = "//" authority path-abempty / path-absolute / path-rootless / path-empty
fn hier_part<A: At>(at: &A) -> A {
    at.alt(&[|p| p.lit("//").then(authority).then(path_abempty), path_absolute, path_rootless, path_empty])
}

// URI-reference = URI / relative-ref
pub fn uri_reference<A: At>(at: &A) -> A {
    at.alt(&[uri, relative_ref])
}

// relative-ref = relative-part [ "?" query ] [ "#" fragment ]
fn relative_ref<A: At>(at: &A) -> A {
    at.then(relative_part).opt(|p| p.lit("?").then(query)).opt(|p| p.lit("#").then(fragment))
}

// relative-part = "//" authority path-abempty / path-absolute / path-noscheme / path-empty
fn relative_part<A: At>(at: &A) -> A {
    at.alt(&[|p| p.lit("//").then(authority).then(path_abempty), path_absolute, path_noscheme, path_empty])
}

// scheme = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
fn scheme<A: At>(at: &A) -> A {
    at.one(alpha).many(|p| p.alt(&[|p| p.one(alpha), |p| p.one(digit), |p| p.any_of("+-.")]))
}

// authority = [ userinfo "@" ] host [ ":" port ]
fn authority<A: At>(at: &A) -> A {
    at.opt(|p| p.then(userinfo).lit("@")).then(host).opt(|p| p.lit(":").then(port))
}

// userinfo = *( unreserved / pct-encoded / sub-delims / ":" )
fn userinfo<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[|p| p.one(unreserved), pct_encoded, |p| p.one(sub_delims), |p| p.lit(":")]))
}

// host = IP-literal / IPv4address / reg-name
fn host<A: At>(at: &A) -> A {
    at.alt(&[ip_literal, ipv4address, reg_name])
}

// port = *DIGIT
fn port<A: At>(at: &A) -> A {
    at.many(|p| p.one(digit))
}

// IP-literal = "[" ( IPv6address / IPvFuture  ) "]"
fn ip_literal<A: At>(at: &A) -> A {
    at.lit("[").alt(&[ipv6address, ipvfuture]).lit("]")
}

// IPvFuture = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
fn ipvfuture<A: At>(at: &A) -> A {
    at.lit_nocase("v")
        .many1(|p| p.one(hexdig))
        .lit(".")
        .many1(|p| p.alt(&[|p| p.one(unreserved), |p| p.one(sub_delims), |p| p.lit(":")]))
}

// IPv6address =                            6( h16 ":" ) ls32
//             /                       "::" 5( h16 ":" ) ls32
//             / [               h16 ] "::" 4( h16 ":" ) ls32
//             / [ *1( h16 ":" ) h16 ] "::" 3( h16 ":" ) ls32
//             / [ *2( h16 ":" ) h16 ] "::" 2( h16 ":" ) ls32
//             / [ *3( h16 ":" ) h16 ] "::"    h16 ":"   ls32
//             / [ *4( h16 ":" ) h16 ] "::"              ls32
//             / [ *5( h16 ":" ) h16 ] "::"              h16
//             / [ *6( h16 ":" ) h16 ] "::"
fn ipv6address<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.times(6, 6, h16_colon).then(ls32),
        |p| p.lit("::").times(5, 5, h16_colon).then(ls32),
        |p| p.opt(h16).lit("::").times(4, 4, h16_colon).then(ls32),
        |p| p.opt(|p| p.times(0, 1, h16_colon).then(h16)).lit("::").times(3, 3, h16_colon).then(ls32),
        |p| p.opt(|p| p.times(0, 2, h16_colon).then(h16)).lit("::").times(2, 2, h16_colon).then(ls32),
        |p| p.opt(|p| p.times(0, 3, h16_colon).then(h16)).lit("::").then(h16).lit(":").then(ls32),
        |p| p.opt(|p| p.times(0, 4, h16_colon).then(h16)).lit("::").then(ls32),
        |p| p.opt(|p| p.times(0, 5, h16_colon).then(h16)).lit("::").then(h16),
        |p| p.opt(|p| p.times(0, 6, h16_colon).then(h16)).lit("::"),
    ])
}

// ( h16 ":" )
fn h16_colon<A: At>(at: &A) -> A {
    at.then(h16).lit(":")
}

// h16 = 1*4HEXDIG
fn h16<A: At>(at: &A) -> A {
    at.times(1, 4, |p| p.one(hexdig))
}

// ls32 = ( h16 ":" h16 ) / IPv4address
fn ls32<A: At>(at: &A) -> A {
    at.alt(&[|p| p.then(h16).lit(":").then(h16), ipv4address])
}

// IPv4address = dec-octet "." dec-octet "." dec-octet "." dec-octet
fn ipv4address<A: At>(at: &A) -> A {
    at.then(dec_octet).lit(".").then(dec_octet).lit(".").then(dec_octet).lit(".").then(dec_octet)
}

// dec-octet = DIGIT                 ; 0-9
//           / %x31-39 DIGIT         ; 10-99
//           / "1" 2DIGIT            ; 100-199
//           / "2" %x30-34 DIGIT     ; 200-249
//           / "25" %x30-35          ; 250-255
fn dec_octet<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.one(digit),
        |p| p.one(|byte| matches!(byte, 0x31..=0x39)).one(digit),
        |p| p.lit("1").times(2, 2, |p| p.one(digit)),
        |p| p.lit("2").one(|byte| matches!(byte, 0x30..=0x34)).one(digit),
        |p| p.lit("25").one(|byte| matches!(byte, 0x30..=0x35)),
    ])
}

// reg-name = *( unreserved / pct-encoded / sub-delims )
fn reg_name<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[|p| p.one(unreserved), pct_encoded, |p| p.one(sub_delims)]))
}

// path-abempty = *( "/" segment )
fn path_abempty<A: At>(at: &A) -> A {
    at.many(|p| p.lit("/").then(segment))
}

// path-absolute = "/" [ segment-nz *( "/" segment ) ]
fn path_absolute<A: At>(at: &A) -> A {
    at.lit("/").opt(|p| p.then(segment_nz).many(|p| p.lit("/").then(segment)))
}

// path-noscheme = segment-nz-nc *( "/" segment )
fn path_noscheme<A: At>(at: &A) -> A {
    at.then(segment_nz_nc).many(|p| p.lit("/").then(segment))
}

// path-rootless = segment-nz *( "/" segment )
fn path_rootless<A: At>(at: &A) -> A {
    at.then(segment_nz).many(|p| p.lit("/").then(segment))
}

// path-empty = 0<pchar>
fn path_empty<A: At>(at: &A) -> A {
    at.times(0, 0, pchar)
}

// segment = *pchar
fn segment<A: At>(at: &A) -> A {
    at.many(pchar)
}

// segment-nz = 1*pchar
fn segment_nz<A: At>(at: &A) -> A {
    at.many1(pchar)
}

// segment-nz-nc = 1*( unreserved / pct-encoded / sub-delims / "@" )    ; non-zero-length segment without any colon ":"
fn segment_nz_nc<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[|p| p.one(unreserved), pct_encoded, |p| p.one(sub_delims), |p| p.lit("@")]))
}

// pchar = unreserved / pct-encoded / sub-delims / ":" / "@"
fn pchar<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), pct_encoded, |p| p.one(sub_delims), |p| p.lit(":"), |p| p.lit("@")])
}

// query = *( pchar / "/" / "?" )
fn query<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[pchar, |p| p.lit("/"), |p| p.lit("?")]))
}

// fragment = *( pchar / "/" / "?" )
fn fragment<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[pchar, |p| p.lit("/"), |p| p.lit("?")]))
}

// pct-encoded = "%" HEXDIG HEXDIG
fn pct_encoded<A: At>(at: &A) -> A {
    at.lit("%").one(hexdig).one(hexdig)
}

// unreserved = ALPHA / DIGIT / "-" / "." / "_" / "~"
fn unreserved(byte: u8) -> bool {
    alpha(byte) || digit(byte) || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

// sub-delims = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
fn sub_delims(byte: u8) -> bool {
    matches!(byte, b'!' | b'$' | b'&' | b'\'' | b'(' | b')' | b'*' | b'+' | b',' | b';' | b'=')
}

// ALPHA = %x41-5A / %x61-7A   (RFC 2234)
fn alpha(byte: u8) -> bool {
    matches!(byte, 0x41..=0x5A | 0x61..=0x7A)
}

// DIGIT = %x30-39   (RFC 2234)
fn digit(byte: u8) -> bool {
    matches!(byte, 0x30..=0x39)
}

// HEXDIG = DIGIT / "A" / "B" / "C" / "D" / "E" / "F"   (RFC 2234)
fn hexdig(byte: u8) -> bool {
    digit(byte) || matches!(byte.to_ascii_uppercase(), b'A' | b'B' | b'C' | b'D' | b'E' | b'F')
}
