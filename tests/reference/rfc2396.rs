//! rfc2396: RFC 2396, August 1998, in the order of the collected BNF.
//!
//! Sources: seed 001 for sections 3.1 to 5, and RFC 2396, sections 2 and 3, for rules that the seed uses but lacks:
//! absoluteURI, hier_part, opaque_part, uric_no_slash, net_path, abs_path and the character sets (A55). Doubts and
//! decisions:
//!
//! - authority = server | reg_name is a union: an authority that is no server can be a reg_name (A48).
//! - "//" with an authority can also be an abs_path that begins with two slashes. Section 4.3 prefers the authority. Both
//!   derivations are here, because the preference changes no verdict (A49).
//! - rel_segment cannot be empty, so "?q" is refused (A50). opaque_part cannot be empty, so "a:" is refused (A51).
//! - There are no IP literals, because RFC 2732 is not applied (A53). `path` (section 3.3) is unreachable and left out
//!   (A54).

use super::at::At;

// URI-reference = [ absoluteURI | relativeURI ] [ "#" fragment ]
pub fn uri_reference<A: At>(at: &A) -> A {
    at.opt(|p| p.alt(&[absolute_uri, relative_uri])).opt(|p| p.lit("#").then(fragment))
}

// absoluteURI = scheme ":" ( hier_part | opaque_part )
fn absolute_uri<A: At>(at: &A) -> A {
    at.then(scheme).lit(":").alt(&[hier_part, opaque_part])
}

// relativeURI = ( net_path | abs_path | rel_path ) [ "?" query ]
fn relative_uri<A: At>(at: &A) -> A {
    at.alt(&[net_path, abs_path, rel_path]).opt(|p| p.lit("?").then(query))
}

// hier_part = ( net_path | abs_path ) [ "?" query ]
fn hier_part<A: At>(at: &A) -> A {
    at.alt(&[net_path, abs_path]).opt(|p| p.lit("?").then(query))
}

// opaque_part = uric_no_slash *uric
fn opaque_part<A: At>(at: &A) -> A {
    at.then(uric_no_slash).many(uric)
}

// uric_no_slash = unreserved | escaped | ";" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","
fn uric_no_slash<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), escaped, |p| p.any_of(";?:@&=+$,")])
}

// net_path = "//" authority [ abs_path ]
fn net_path<A: At>(at: &A) -> A {
    at.lit("//").then(authority).opt(abs_path)
}

// abs_path = "/" path_segments
fn abs_path<A: At>(at: &A) -> A {
    at.lit("/").then(path_segments)
}

// rel_path = rel_segment [ abs_path ]
fn rel_path<A: At>(at: &A) -> A {
    at.then(rel_segment).opt(abs_path)
}

// rel_segment = 1*( unreserved | escaped | ";" | "@" | "&" | "=" | "+" | "$" | "," )
fn rel_segment<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[|p| p.one(unreserved), escaped, |p| p.any_of(";@&=+$,")]))
}

// scheme = alpha *( alpha | digit | "+" | "-" | "." )
fn scheme<A: At>(at: &A) -> A {
    at.one(alpha).many(|p| p.alt(&[|p| p.one(alpha), |p| p.one(digit), |p| p.any_of("+-.")]))
}

// authority = server | reg_name
fn authority<A: At>(at: &A) -> A {
    at.alt(&[server, reg_name])
}

// reg_name = 1*( unreserved | escaped | "$" | "," | ";" | ":" | "@" | "&" | "=" | "+" )
fn reg_name<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[|p| p.one(unreserved), escaped, |p| p.any_of("$,;:@&=+")]))
}

// server = [ [ userinfo "@" ] hostport ]
fn server<A: At>(at: &A) -> A {
    at.opt(|p| p.opt(|p| p.then(userinfo).lit("@")).then(hostport))
}

// userinfo = *( unreserved | escaped | ";" | ":" | "&" | "=" | "+" | "$" | "," )
fn userinfo<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[|p| p.one(unreserved), escaped, |p| p.any_of(";:&=+$,")]))
}

// hostport = host [ ":" port ]
fn hostport<A: At>(at: &A) -> A {
    at.then(host).opt(|p| p.lit(":").then(port))
}

// host = hostname | IPv4address
fn host<A: At>(at: &A) -> A {
    at.alt(&[hostname, ipv4address])
}

// hostname = *( domainlabel "." ) toplabel [ "." ]
fn hostname<A: At>(at: &A) -> A {
    at.many(|p| p.then(domainlabel).lit(".")).then(toplabel).opt(|p| p.lit("."))
}

// domainlabel = alphanum | alphanum *( alphanum | "-" ) alphanum
fn domainlabel<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.one(alphanum),
        |p| p.one(alphanum).many(|p| p.alt(&[|p| p.one(alphanum), |p| p.lit("-")])).one(alphanum),
    ])
}

// toplabel = alpha | alpha *( alphanum | "-" ) alphanum
fn toplabel<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.one(alpha),
        |p| p.one(alpha).many(|p| p.alt(&[|p| p.one(alphanum), |p| p.lit("-")])).one(alphanum),
    ])
}

// IPv4address = 1*digit "." 1*digit "." 1*digit "." 1*digit
fn ipv4address<A: At>(at: &A) -> A {
    let digits = |p: &A| p.many1(|p| p.one(digit));
    at.then(digits).lit(".").then(digits).lit(".").then(digits).lit(".").then(digits)
}

// port = *digit
fn port<A: At>(at: &A) -> A {
    at.many(|p| p.one(digit))
}

// path_segments = segment *( "/" segment )
fn path_segments<A: At>(at: &A) -> A {
    at.then(segment).many(|p| p.lit("/").then(segment))
}

// segment = *pchar *( ";" param )
fn segment<A: At>(at: &A) -> A {
    at.many(pchar).many(|p| p.lit(";").then(param))
}

// param = *pchar
fn param<A: At>(at: &A) -> A {
    at.many(pchar)
}

// pchar = unreserved | escaped | ":" | "@" | "&" | "=" | "+" | "$" | ","
fn pchar<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), escaped, |p| p.any_of(":@&=+$,")])
}

// query = *uric
fn query<A: At>(at: &A) -> A {
    at.many(uric)
}

// fragment = *uric
fn fragment<A: At>(at: &A) -> A {
    at.many(uric)
}

// uric = reserved | unreserved | escaped
fn uric<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(reserved), |p| p.one(unreserved), escaped])
}

// reserved = ";" | "/" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","
fn reserved(byte: u8) -> bool {
    matches!(byte, b';' | b'/' | b'?' | b':' | b'@' | b'&' | b'=' | b'+' | b'$' | b',')
}

// unreserved = alphanum | mark
fn unreserved(byte: u8) -> bool {
    alphanum(byte) || mark(byte)
}

// mark = "-" | "_" | "." | "!" | "~" | "*" | "'" | "(" | ")"
fn mark(byte: u8) -> bool {
    matches!(byte, b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')')
}

// escaped = "%" hex hex
fn escaped<A: At>(at: &A) -> A {
    at.lit("%").one(hex).one(hex)
}

// hex = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
fn hex(byte: u8) -> bool {
    digit(byte) || matches!(byte, b'A'..=b'F' | b'a'..=b'f')
}

// alphanum = alpha | digit
fn alphanum(byte: u8) -> bool {
    alpha(byte) || digit(byte)
}

// alpha = lowalpha | upalpha
fn alpha(byte: u8) -> bool {
    lowalpha(byte) || upalpha(byte)
}

// lowalpha = "a" | "b" | ... | "z"
fn lowalpha(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

// upalpha = "A" | "B" | ... | "Z"
fn upalpha(byte: u8) -> bool {
    byte.is_ascii_uppercase()
}

// digit = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}
