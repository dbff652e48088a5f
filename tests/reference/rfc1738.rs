//! rfc1738: RFC 1738, section 5, December 1994.
//!
//! Source: seed 002, which has all rules, compared with seeds 000 and 003. The comments quote it. RFC 1738 writes `n*[x]`
//! for repetition and `[x]` for an option. Doubts and decisions:
//!
//! - otherurl = genericurl would derive every line of the ten schemes a second time. It is for other schemes only (A15,
//!   A16).
//! - Scheme names are case-insensitive, and nothing else is (A5). A scheme may start with a digit, "+", "-" or "." (A6).
//! - The bare / in gopherurl is a literal (A36). "%09" is an escape, so the end of a gopher URL is any sequence of xchar
//!   (A35).
//! - user and password may be empty and contain "?", so login can include what is a query in other grammars (A27).
//! - domainlabel and toplabel overlap, and their union is meant (A19, A20). hostnumber has no range (A21).
//! - The curly quotes and broken literals of seed 000 change nothing (A78). No rule uses national and punctuation.

use super::at::At;

/// The schemes that have their own production (A15).
const TEN: [&str; 10] =
    ["http", "ftp", "news", "nntp", "telnet", "gopher", "wais", "mailto", "file", "prospero"];

// url = httpurl | ftpurl | newsurl | nntpurl | telneturl | gopherurl | waisurl | mailtourl | fileurl | prosperourl
//       | otherurl
pub fn url<A: At>(at: &A) -> A {
    at.alt(&[
        httpurl, ftpurl, newsurl, nntpurl, telneturl, gopherurl, waisurl, mailtourl, fileurl, prosperourl,
        otherurl,
    ])
}

// otherurl = genericurl; genericurl = scheme ":" schemepart     (the scheme is none of the ten, A15)
fn otherurl<A: At>(at: &A) -> A {
    at.unless(&TEN, scheme).lit(":").then(schemepart)
}

// ; the scheme is in lower case; interpreters should use case-ignore
// scheme = 1*[ lowalpha | digit | "+" | "-" | "." ]
fn scheme<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[|p| p.one(|b| lowalpha(b) || hialpha(b) || digit(b)), |p| p.any_of("+-.")]))
}

// schemepart = *xchar | ip-schemepart
fn schemepart<A: At>(at: &A) -> A {
    at.alt(&[|p| p.many(xchar), ip_schemepart])
}

// ip-schemepart = "//" login [ "/" urlpath ]
fn ip_schemepart<A: At>(at: &A) -> A {
    at.lit("//").then(login).opt(|p| p.lit("/").then(urlpath))
}

// login = [ user [ ":" password ] "@" ] hostport
fn login<A: At>(at: &A) -> A {
    at.opt(|p| p.then(user).opt(|p| p.lit(":").then(password)).lit("@")).then(hostport)
}

// hostport = host [ ":" port ]
fn hostport<A: At>(at: &A) -> A {
    at.then(host).opt(|p| p.lit(":").then(port))
}

// host = hostname | hostnumber
fn host<A: At>(at: &A) -> A {
    at.alt(&[hostname, hostnumber])
}

// hostname = *[ domainlabel "." ] toplabel
fn hostname<A: At>(at: &A) -> A {
    at.many(|p| p.then(domainlabel).lit(".")).then(toplabel)
}

// domainlabel = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
fn domainlabel<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.one(alphadigit),
        |p| p.one(alphadigit).many(|p| p.alt(&[|p| p.one(alphadigit), |p| p.lit("-")])).one(alphadigit),
    ])
}

// toplabel = alpha | alpha *[ alphadigit | "-" ] alphadigit
fn toplabel<A: At>(at: &A) -> A {
    at.alt(&[
        |p| p.one(alpha),
        |p| p.one(alpha).many(|p| p.alt(&[|p| p.one(alphadigit), |p| p.lit("-")])).one(alphadigit),
    ])
}

// alphadigit = alpha | digit
fn alphadigit(byte: u8) -> bool {
    alpha(byte) || digit(byte)
}

// hostnumber = digits "." digits "." digits "." digits
fn hostnumber<A: At>(at: &A) -> A {
    at.then(digits).lit(".").then(digits).lit(".").then(digits).lit(".").then(digits)
}

// port = digits
fn port<A: At>(at: &A) -> A {
    at.then(digits)
}

// user = *[ uchar | ";" | "?" | "&" | "=" ]
fn user<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of(";?&=")]))
}

// password = *[ uchar | ";" | "?" | "&" | "=" ]
fn password<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of(";?&=")]))
}

// urlpath = *xchar    ; depends on protocol see section 3.1
fn urlpath<A: At>(at: &A) -> A {
    at.many(xchar)
}

// ftpurl = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
fn ftpurl<A: At>(at: &A) -> A {
    at.lit_nocase("ftp")
        .lit("://")
        .then(login)
        .opt(|p| p.lit("/").then(fpath).opt(|p| p.lit(";type=").then(ftptype)))
}

// fpath = fsegment *[ "/" fsegment ]
fn fpath<A: At>(at: &A) -> A {
    at.then(fsegment).many(|p| p.lit("/").then(fsegment))
}

// fsegment = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
fn fsegment<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of("?:@&=")]))
}

// ftptype = "A" | "I" | "D" | "a" | "i" | "d"
fn ftptype<A: At>(at: &A) -> A {
    at.any_of("AIDaid")
}

// fileurl = "file://" [ host | "localhost" ] "/" fpath
fn fileurl<A: At>(at: &A) -> A {
    at.lit_nocase("file").lit("://").opt(|p| p.alt(&[host, |p| p.lit("localhost")])).lit("/").then(fpath)
}

// httpurl = "http://" hostport [ "/" hpath [ "?" search ]]
fn httpurl<A: At>(at: &A) -> A {
    at.lit_nocase("http")
        .lit("://")
        .then(hostport)
        .opt(|p| p.lit("/").then(hpath).opt(|p| p.lit("?").then(search)))
}

// hpath = hsegment *[ "/" hsegment ]
fn hpath<A: At>(at: &A) -> A {
    at.then(hsegment).many(|p| p.lit("/").then(hsegment))
}

// hsegment = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
fn hsegment<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of(";:@&=")]))
}

// search = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
fn search<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of(";:@&=")]))
}

// gopherurl = "gopher://" hostport [ / [ gtype [ selector [ "%09" search [ "%09" gopher+_string ] ] ] ] ]
fn gopherurl<A: At>(at: &A) -> A {
    at.lit_nocase("gopher").lit("://").then(hostport).opt(|p| {
        p.lit("/").opt(|p| {
            p.then(gtype).opt(|p| {
                p.then(selector)
                    .opt(|p| p.lit("%09").then(search).opt(|p| p.lit("%09").then(gopher_plus_string)))
            })
        })
    })
}

// gtype = xchar
fn gtype<A: At>(at: &A) -> A {
    at.then(xchar)
}

// selector = *xchar
fn selector<A: At>(at: &A) -> A {
    at.many(xchar)
}

// gopher+_string = *xchar
fn gopher_plus_string<A: At>(at: &A) -> A {
    at.many(xchar)
}

// mailtourl = "mailto:" encoded822addr
fn mailtourl<A: At>(at: &A) -> A {
    at.lit_nocase("mailto").lit(":").then(encoded822addr)
}

// encoded822addr = 1*xchar               ; further defined in RFC822
fn encoded822addr<A: At>(at: &A) -> A {
    at.many1(xchar)
}

// newsurl = "news:" grouppart
fn newsurl<A: At>(at: &A) -> A {
    at.lit_nocase("news").lit(":").then(grouppart)
}

// grouppart = "*" | group | article
fn grouppart<A: At>(at: &A) -> A {
    at.alt(&[|p| p.lit("*"), group, article])
}

// group = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
fn group<A: At>(at: &A) -> A {
    at.one(alpha).many(|p| p.alt(&[|p| p.one(alpha), |p| p.one(digit), |p| p.any_of("-.+_")]))
}

// article = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
fn article<A: At>(at: &A) -> A {
    at.many1(|p| p.alt(&[uchar, |p| p.any_of(";/?:&=")])).lit("@").then(host)
}

// nntpurl = "nntp://" hostport "/" group [ "/" digits ]
fn nntpurl<A: At>(at: &A) -> A {
    at.lit_nocase("nntp").lit("://").then(hostport).lit("/").then(group).opt(|p| p.lit("/").then(digits))
}

// telneturl = "telnet://" login [ "/" ]
fn telneturl<A: At>(at: &A) -> A {
    at.lit_nocase("telnet").lit("://").then(login).opt(|p| p.lit("/"))
}

// waisurl = waisdatabase | waisindex | waisdoc
fn waisurl<A: At>(at: &A) -> A {
    at.alt(&[waisdatabase, waisindex, waisdoc])
}

// waisdatabase = "wais://" hostport "/" database
fn waisdatabase<A: At>(at: &A) -> A {
    at.lit_nocase("wais").lit("://").then(hostport).lit("/").then(database)
}

// waisindex = "wais://" hostport "/" database "?" search
fn waisindex<A: At>(at: &A) -> A {
    at.lit_nocase("wais").lit("://").then(hostport).lit("/").then(database).lit("?").then(search)
}

// waisdoc = "wais://" hostport "/" database "/" wtype "/" wpath
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

// database = *uchar
fn database<A: At>(at: &A) -> A {
    at.many(uchar)
}

// wtype = *uchar
fn wtype<A: At>(at: &A) -> A {
    at.many(uchar)
}

// wpath = *uchar
fn wpath<A: At>(at: &A) -> A {
    at.many(uchar)
}

// prosperourl = "prospero://" hostport "/" ppath *[ fieldspec ]
fn prosperourl<A: At>(at: &A) -> A {
    at.lit_nocase("prospero").lit("://").then(hostport).lit("/").then(ppath).many(fieldspec)
}

// ppath = psegment *[ "/" psegment ]
fn ppath<A: At>(at: &A) -> A {
    at.then(psegment).many(|p| p.lit("/").then(psegment))
}

// psegment = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
fn psegment<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of("?:@&=")]))
}

// fieldspec = ";" fieldname "=" fieldvalue
fn fieldspec<A: At>(at: &A) -> A {
    at.lit(";").then(fieldname).lit("=").then(fieldvalue)
}

// fieldname = *[ uchar | "?" | ":" | "@" | "&" ]
fn fieldname<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of("?:@&")]))
}

// fieldvalue = *[ uchar | "?" | ":" | "@" | "&" ]
fn fieldvalue<A: At>(at: &A) -> A {
    at.many(|p| p.alt(&[uchar, |p| p.any_of("?:@&")]))
}

// lowalpha = "a" | "b" | ... | "z"
fn lowalpha(byte: u8) -> bool {
    byte.is_ascii_lowercase()
}

// hialpha = "A" | "B" | ... | "Z"
fn hialpha(byte: u8) -> bool {
    byte.is_ascii_uppercase()
}

// alpha = lowalpha | hialpha
fn alpha(byte: u8) -> bool {
    lowalpha(byte) || hialpha(byte)
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

// hex = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
fn hex(byte: u8) -> bool {
    digit(byte) || matches!(byte, b'A'..=b'F' | b'a'..=b'f')
}

// escape = "%" hex hex
fn escape<A: At>(at: &A) -> A {
    at.lit("%").one(hex).one(hex)
}

// unreserved = alpha | digit | safe | extra
fn unreserved(byte: u8) -> bool {
    alpha(byte) || digit(byte) || safe(byte) || extra(byte)
}

// uchar = unreserved | escape
fn uchar<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), escape])
}

// xchar = unreserved | reserved | escape
fn xchar<A: At>(at: &A) -> A {
    at.alt(&[|p| p.one(unreserved), |p| p.one(reserved), escape])
}

// digits = 1*digit
fn digits<A: At>(at: &A) -> A {
    at.many1(|p| p.one(digit))
}
