//! draft1993: the URL draft of November 1993.
//!
//! Source: seed 004, a transcription in XBNF. The comments quote its rules as printed, including damaged places. In XBNF,
//! `N(x)` is one or more and `O(x)` is optional. Its right recursions are [`At::chain`]. Doubts and decisions:
//!
//! - `line` is not in the seed. It is a prefixedurl or a url: "url:" may occur once, and scheme names are case-insensitive
//!   (A5, A62).
//! - httpaddress and ftpaddress run into one line, hostnumber has an extra dot, and alphanum lacks one (A64).
//! - login has its parenthesis inside a quote (A63). safe has two gaps and "-" twice (A60). extra's "quotes" is `"` (A61).
//! - xpalpha, and therefore segment, may be void, as printed (A65). search lacks a "+", which xalpha has anyway (A66).
//! - xalpha has "." "@" "&". host, login and hostname therefore overlap, and the union is meant (A67).
//! - addr_spec and content_identifier are not defined (A70). The bare / and . are literals (A36, A60).
//! - No rule uses scheme, afsaddress, cellname, fragmentid, reserved, national and punctuation, and they are left out (A71,
//!   A75).

use super::at::At;

// line: prefixedurl | url (A62)
pub fn line<A: At>(at: &A) -> A {
    at.alt(&[prefixedurl, url])
}

// 1. prefixedurl::= "url:" url.
fn prefixedurl<A: At>(at: &A) -> A {
    at.lit_nocase("url:").then(url)
}

// 2. url::= httpaddress | ftpaddress | newsaddress | nntpaddress | prosperoaddress | telnetaddress | gopheraddress
//    | waisaddress | mailtoaddress | midaddress | cidaddress.
fn url<A: At>(at: &A) -> A {
    at.alt(&[
        httpaddress, ftpaddress, newsaddress, nntpaddress, prosperoaddress, telnetaddress, gopheraddress,
        waisaddress, mailtoaddress, midaddress, cidaddress,
    ])
}

// 4. httpaddress::= "http:" "//" hostport O( "/" path ) O( "?" search )
fn httpaddress<A: At>(at: &A) -> A {
    at.lit_nocase("http:")
        .lit("//")
        .then(hostport)
        .opt(|p| p.lit("/").then(path))
        .opt(|p| p.lit("?").then(search))
}

// 4. ftpaddress ::= "ftp://" login "/" path O( ftptype ).
fn ftpaddress<A: At>(at: &A) -> A {
    at.lit_nocase("ftp").lit("://").then(login).lit("/").then(path).opt(ftptype)
}

// 6. newsaddress::= "news:" group_art.
fn newsaddress<A: At>(at: &A) -> A {
    at.lit_nocase("news").lit(":").then(group_art)
}

// 7. nntpaddress::= "nntp:" group "/" N(digit).
fn nntpaddress<A: At>(at: &A) -> A {
    at.lit_nocase("nntp").lit(":").then(group).lit("/").many1(|p| p.one(digit))
}

// 8. midaddress::= "mid" ":" addr_spec.
fn midaddress<A: At>(at: &A) -> A {
    at.lit_nocase("mid").lit(":").then(addr_spec)
}

// addr_spec: N(xalpha) "@" host (A70)
fn addr_spec<A: At>(at: &A) -> A {
    at.many1(xalpha).lit("@").then(host)
}

// 9. cidaddress::= "cid:" content_identifier.
fn cidaddress<A: At>(at: &A) -> A {
    at.lit_nocase("cid").lit(":").then(content_identifier)
}

// content_identifier: N(xalpha) (A70)
fn content_identifier<A: At>(at: &A) -> A {
    at.many1(xalpha)
}

// 10. mailtoaddress::= "mailto:" N(xalpha) "@" hostname.
fn mailtoaddress<A: At>(at: &A) -> A {
    at.lit_nocase("mailto").lit(":").many1(xalpha).lit("@").then(hostname)
}

// 11. waisaddress::= waisindex | waisdoc.
fn waisaddress<A: At>(at: &A) -> A {
    at.alt(&[waisindex, waisdoc])
}

// 12. waisindex::= "wais://" hostport "/" database O( "?" search ).
fn waisindex<A: At>(at: &A) -> A {
    at.lit_nocase("wais").lit("://").then(hostport).lit("/").then(database).opt(|p| p.lit("?").then(search))
}

// 13. waisdoc::= "wais://" hostport "/" database "/" wtype "/" wpath.
fn waisdoc<A: At>(at: &A) -> A {
    at.lit_nocase("wais")
        .lit("://")
        .then(hostport)
        .lit("/")
        .then(database)
        .lit("/")
        .then(wtype)
        .lit("/")
        .then(wpath)
}

// 14. wpath::= N(digit) "=" path ";" O( wpath ).
fn wpath<A: At>(at: &A) -> A {
    at.chain(|p| p.many1(|p| p.one(digit)).lit("=").then(path).lit(";"), nothing)
}

// 15. group_art::= "*" | group | article.
fn group_art<A: At>(at: &A) -> A {
    at.alt(&[|p| p.lit("*"), group, article])
}

// 16. group::= ialpha O( "." group ).
fn group<A: At>(at: &A) -> A {
    at.chain(ialpha, |p| p.lit("."))
}

// 17. article::= N(xalpha) "@" host.
fn article<A: At>(at: &A) -> A {
    at.many1(xalpha).lit("@").then(host)
}

// 18. database::= N(xalpha).
fn database<A: At>(at: &A) -> A {
    at.many1(xalpha)
}

// 19. wtype::= N(xalpha).
fn wtype<A: At>(at: &A) -> A {
    at.many1(xalpha)
}

// 20. prosperoaddress::= prosperolink.
fn prosperoaddress<A: At>(at: &A) -> A {
    at.then(prosperolink)
}

// 21. prosperolink::= "prospero://" hostport "/" hsoname O( "%" "00" version O( N(attribute) ) ).
fn prosperolink<A: At>(at: &A) -> A {
    at.lit_nocase("prospero")
        .lit("://")
        .then(hostport)
        .lit("/")
        .then(hsoname)
        .opt(|p| p.lit("%").lit("00").then(version).opt(|p| p.many1(attribute)))
}

// 22. hsoname::= path.
fn hsoname<A: At>(at: &A) -> A {
    at.then(path)
}

// 23. version::= N(digit).
fn version<A: At>(at: &A) -> A {
    at.many1(|p| p.one(digit))
}

// 24. attribute::= N(alphanum).
fn attribute<A: At>(at: &A) -> A {
    at.many1(|p| p.one(alphanum))
}

// 25. telnetaddress::= "telnet://" login.
fn telnetaddress<A: At>(at: &A) -> A {
    at.lit_nocase("telnet").lit("://").then(login)
}

// 26. gopheraddress::= "gopher://" hostport O(/ gtype O( gcommand ) ).
fn gopheraddress<A: At>(at: &A) -> A {
    at.lit_nocase("gopher").lit("://").then(hostport).opt(|p| p.lit("/").then(gtype).opt(gcommand))
}

// 27. login::= O( user O( ":" password ")"@")" hostport.
fn login<A: At>(at: &A) -> A {
    at.opt(|p| p.then(user).opt(|p| p.lit(":").then(password)).lit("@")).then(hostport)
}

// 28. hostport::= host O( ":" port ).
fn hostport<A: At>(at: &A) -> A {
    at.then(host).opt(|p| p.lit(":").then(port))
}

// 29. host::= hostname | hostnumber..
fn host<A: At>(at: &A) -> A {
    at.alt(&[hostname, hostnumber])
}

// 30. ftptype::= "A" formcode | "E" formcode | "I" | "L" N(digit).
fn ftptype<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.lit("A").then(formcode),
        |p| p.lit("E").then(formcode),
        |p| p.lit("I"),
        |p| p.lit("L").many1(|p| p.one(digit)),
    ])
}

// 31. formcode::= "N" | "T" | "C".
fn formcode<A: At>(at: &A) -> A {
    at.any_of("NTC")
}

// 33. hostname::= ialpha O( "." hostname ).
fn hostname<A: At>(at: &A) -> A {
    at.chain(ialpha, |p| p.lit("."))
}

// 34. hostnumber::= N(digit) "." N(digit) "." N(digit) "." N(digit).
fn hostnumber<A: At>(at: &A) -> A {
    let digits = |p: &A| p.many1(|p| p.one(digit));
    at.then(digits).lit(".").then(digits).lit(".").then(digits).lit(".").then(digits)
}

// 35. port::= N(digit).
fn port<A: At>(at: &A) -> A {
    at.many1(|p| p.one(digit))
}

// 36. gcommand::= path.
fn gcommand<A: At>(at: &A) -> A {
    at.then(path)
}

// 37. path::= void | segment O( "/" path ).     (a void path after the last "/" is a void segment)
fn path<A: At>(at: &A) -> A {
    at.alt(&[void, |p| p.chain(segment, |p| p.lit("/"))])
}

// 38. segment::= N(xpalpha).
fn segment<A: At>(at: &A) -> A {
    at.many1(xpalpha)
}

// 39. search::= N(xalpha) O( search ).
fn search<A: At>(at: &A) -> A {
    at.chain(|p| p.many1(xalpha), nothing)
}

// 40. user::= alphanum2 O( user ).
fn user<A: At>(at: &A) -> A {
    at.chain(|p| p.one(alphanum2), nothing)
}

// 41. password::= alphanum2 O( password ).
fn password<A: At>(at: &A) -> A {
    at.chain(|p| p.one(alphanum2), nothing)
}

// 43. gtype::= xalpha.
fn gtype<A: At>(at: &A) -> A {
    at.then(xalpha)
}

// 44. alphanum2::=alpha | digit | "-" | "_" | "." | "+".
fn alphanum2(byte: u8) -> bool {
    alpha(byte) || digit(byte) || matches!(byte, b'-' | b'_' | b'.' | b'+')
}

// 45. xalpha::= alpha | digit | safe | extra | escape.
fn xalpha<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(|byte| alpha(byte) || digit(byte) || safe(byte) || extra(byte)), escape])
}

// 46. xpalpha::= xalpha | void.
fn xpalpha<A: At>(at: &A) -> A {
    at.alt(&[xalpha, void])
}

// 47. ialpha::= alpha O( N(xalpha) ).
fn ialpha<A: At>(at: &A) -> A {
    at.one(alpha).opt(|p| p.many1(xalpha))
}

// 48. safe::= "$" | "-" | | "@" | . | "&" | | "-".
fn safe(byte: u8) -> bool {
    matches!(byte, b'$' | b'-' | b'_' | b'@' | b'.' | b'&' | b'+')
}

// 49. extra::="!" | "*" | quotes | "'" | "(" | ")" | ",".
fn extra(byte: u8) -> bool {
    matches!(byte, b'!' | b'*' | b'"' | b'\'' | b'(' | b')' | b',')
}

// 51. escape::= "%" hex hex.
fn escape<A: At>(at: &A) -> A {
    at.lit("%").one(hex).one(hex)
}

// 52. hex::= digit | "a".."f" | "A".."F".
fn hex(byte: u8) -> bool {
    digit(byte) || matches!(byte, b'a'..=b'f' | b'A'..=b'F')
}

// 55. alphanum::= alpha | digit
fn alphanum(byte: u8) -> bool {
    alpha(byte) || digit(byte)
}

// 56. void::=""
fn void<A: At>(at: &A) -> A {
    at.lit("")
}

// What separates an item from the recursion in x::= item O( x ).
fn nothing<A: At>(at: &A) -> A {
    at.lit("")
}

// alpha: "Single letters stand for single letters" (defined no further in the seed)
fn alpha(byte: u8) -> bool {
    byte.is_ascii_alphabetic()
}

// digit: as above
fn digit(byte: u8) -> bool {
    byte.is_ascii_digit()
}
