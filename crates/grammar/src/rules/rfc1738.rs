//! RFC 1738, Uniform Resource Locators (URL), December 1994: section 5, "BNF for specific URL schemes".
//!
//! Only the build script reads this file. `build/rule.rs` defines its notation. `[ x ]` means that `x` is optional, `*[ x ]` means any
//! number. In the terms of RFC 3986, `login` is the authority, `user ":" password` the userinfo, and `search` the query.
//!
//! Doubtful points are settled as follows; the numbers name the decisions in the specification:
//!
//! - A line with one of the ten schemes must match the production of that scheme (A15).
//! - Every other scheme is a `genericurl`, including https (A16).
//! - The bare `/` in `gopherurl` is a literal (A36).
//! - Names of schemes are compared without letter case (A5), but `;type=` is not.

use crate::rule::{Name, Rule, any, lit, many, named, opt, other_than, range, rules, scheme_name, some};

rules! {
    section "5";

    /// genericurl     = scheme ":" schemepart
    rule genericurl in Scheme = scheme() + ":" + schemepart();

    /// url            = httpurl | ftpurl | newsurl | nntpurl | telneturl | gopherurl |
    ///                  waisurl | mailtourl | fileurl | prosperourl | otherurl
    rule url in Scheme = httpurl() | ftpurl() | newsurl() | nntpurl() | telneturl() | gopherurl()
        | waisurl() | mailtourl() | fileurl() | prosperourl() | otherurl();

    /// otherurl       = genericurl
    rule otherurl = other_scheme() + ":" + schemepart();

    /// scheme         = 1*[ lowalpha | digit | "+" | "-" | "." ]
    rule scheme in Scheme = some(schemechar());
    /// scheme         = 1*[ lowalpha | digit | "+" | "-" | "." ], none of the ten
    rule other_scheme in Scheme = other_than(
        &["http", "ftp", "news", "nntp", "telnet", "gopher", "wais", "mailto", "file", "prospero"], schemechar());
    /// lowalpha | digit | "+" | "-" | ".", and hialpha, for "interpreters should use case-ignore"
    token schemechar = alpha() | digit() | any("+-.");

    /// schemepart     = *xchar | ip-schemepart
    rule schemepart in Schemepart = many(xchar()) | ip_schemepart();

    /// ip-schemepart  = "//" login [ "/" urlpath ]
    rule ip_schemepart = "//" + login() + opt("/" + urlpath());

    /// login          = [ user [ ":" password ] "@" ] hostport
    rule login in Authority = opt(user() + opt(":" + password()) + "@") + hostport();
    /// hostport       = host [ ":" port ]
    rule hostport in Authority = host() + opt(":" + port());
    /// host           = hostname | hostnumber
    rule host in Host = hostname() | hostnumber();
    /// hostname       = *[ domainlabel "." ] toplabel
    rule hostname in Host = many(domainlabel() + ".") + toplabel();
    /// domainlabel    = alphadigit | alphadigit *[ alphadigit | "-" ] alphadigit
    rule domainlabel = alphadigit() | alphadigit() + many(alphadigit() | "-") + alphadigit();
    /// toplabel       = alpha | alpha *[ alphadigit | "-" ] alphadigit
    rule toplabel = alpha() | alpha() + many(alphadigit() | "-") + alphadigit();
    /// alphadigit     = alpha | digit
    token alphadigit = alpha() | digit();
    /// hostnumber     = digits "." digits "." digits "." digits
    rule hostnumber = digits() + "." + digits() + "." + digits() + "." + digits();
    /// port           = digits
    rule port in Port = digits();
    /// user           = *[ uchar | ";" | "?" | "&" | "=" ]
    rule user in Userinfo = many(uchar() | any(";?&="));
    /// password       = *[ uchar | ";" | "?" | "&" | "=" ]
    rule password in Userinfo = many(uchar() | any(";?&="));
    /// urlpath        = *xchar
    rule urlpath in Path = many(xchar());

    /// ftpurl         = "ftp://" login [ "/" fpath [ ";type=" ftptype ]]
    rule ftpurl in Path = scheme_name("ftp:") + "//" + login() + opt("/" + fpath() + opt(";type=" + ftptype()));
    /// fpath          = fsegment *[ "/" fsegment ]
    rule fpath in Path = fsegment() + many("/" + fsegment());
    /// fsegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    rule fsegment in Path = many(uchar() | any("?:@&="));
    /// ftptype        = "A" | "I" | "D" | "a" | "i" | "d"
    rule ftptype in Ftptype = any("AIDaid");

    /// fileurl        = "file://" [ host | "localhost" ] "/" fpath
    rule fileurl in Path = scheme_name("file:") + "//" + opt(host() | "localhost") + "/" + fpath();

    /// httpurl        = "http://" hostport [ "/" hpath [ "?" search ]]
    rule httpurl in Path = scheme_name("http:") + "//" + hostport() + opt("/" + hpath() + opt("?" + search()));
    /// hpath          = hsegment *[ "/" hsegment ]
    rule hpath in Path = hsegment() + many("/" + hsegment());
    /// hsegment       = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
    rule hsegment in Path = many(uchar() | any(";:@&="));
    /// search         = *[ uchar | ";" | ":" | "@" | "&" | "=" ]
    rule search in Query = many(uchar() | any(";:@&="));

    /// gopherurl      = "gopher://" hostport [ / [ gtype [ selector
    ///                  [ "%09" search [ "%09" gopher+_string ] ] ] ] ]
    rule gopherurl in Path = scheme_name("gopher:") + "//" + hostport() + opt("/" + opt(gtype() + opt(selector()
        + opt("%09" + search() + opt("%09" + gopher_plus_string())))));
    /// gtype          = xchar
    rule gtype in Path = xchar();
    /// selector       = *xchar
    rule selector in Path = many(xchar());
    /// gopher+_string = *xchar
    rule gopher_plus_string in Path = many(xchar());

    /// mailtourl      = "mailto:" encoded822addr
    rule mailtourl in Encoded822addr = scheme_name("mailto:") + encoded822addr();
    /// encoded822addr = 1*xchar               ; further defined in RFC822
    rule encoded822addr in Encoded822addr = some(xchar());

    /// newsurl        = "news:" grouppart
    rule newsurl in Grouppart = scheme_name("news:") + grouppart();
    /// grouppart      = "*" | group | article
    rule grouppart in Grouppart = lit("*") | group() | article();
    /// group          = alpha *[ alpha | digit | "-" | "." | "+" | "_" ]
    rule group in Group = alpha() + many(alpha() | digit() | any("-.+_"));
    /// article        = 1*[ uchar | ";" | "/" | "?" | ":" | "&" | "=" ] "@" host
    rule article in Article = some(uchar() | any(";/?:&=")) + "@" + host();

    /// nntpurl        = "nntp://" hostport "/" group [ "/" digits ]
    rule nntpurl in Path = scheme_name("nntp:") + "//" + hostport() + "/" + group() + opt("/" + digits());

    /// telneturl      = "telnet://" login [ "/" ]
    rule telneturl in Path = scheme_name("telnet:") + "//" + login() + opt("/");

    /// waisurl        = waisdatabase | waisindex | waisdoc
    rule waisurl in Path = waisdatabase() | waisindex() | waisdoc();
    /// waisdatabase   = "wais://" hostport "/" database
    rule waisdatabase = scheme_name("wais:") + "//" + hostport() + "/" + database();
    /// waisindex      = "wais://" hostport "/" database "?" search
    rule waisindex = scheme_name("wais:") + "//" + hostport() + "/" + database() + "?" + search();
    /// waisdoc        = "wais://" hostport "/" database "/" wtype "/" wpath
    rule waisdoc = scheme_name("wais:") + "//" + hostport() + "/" + database() + "/" + wtype() + "/" + wpath();
    /// database       = *uchar
    rule database in Database = many(uchar());
    /// wtype          = *uchar
    rule wtype in Wtype = many(uchar());
    /// wpath          = *uchar
    rule wpath in Wpath = many(uchar());

    /// prosperourl    = "prospero://" hostport "/" ppath *[ fieldspec ]
    rule prosperourl in Path = scheme_name("prospero:") + "//" + hostport() + "/" + ppath() + many(fieldspec());
    /// ppath          = psegment *[ "/" psegment ]
    rule ppath in Path = psegment() + many("/" + psegment());
    /// psegment       = *[ uchar | "?" | ":" | "@" | "&" | "=" ]
    rule psegment in Path = many(uchar() | any("?:@&="));
    /// fieldspec      = ";" fieldname "=" fieldvalue
    rule fieldspec in Fieldspec = ";" + fieldname() + "=" + fieldvalue();
    /// fieldname      = *[ uchar | "?" | ":" | "@" | "&" ]
    rule fieldname = many(uchar() | any("?:@&"));
    /// fieldvalue     = *[ uchar | "?" | ":" | "@" | "&" ]
    rule fieldvalue = many(uchar() | any("?:@&"));

    /// lowalpha       = "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | … | "z"
    token lowalpha = range('a', 'z');
    /// hialpha        = "A" | "B" | "C" | "D" | "E" | "F" | "G" | "H" | "I" | … | "Z"
    token hialpha = range('A', 'Z');
    /// alpha          = lowalpha | hialpha
    token alpha = lowalpha() | hialpha();
    /// digit          = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
    token digit = range('0', '9');
    /// safe           = "$" | "-" | "_" | "." | "+"
    token safe = any("$-_.+");
    /// extra          = "!" | "*" | "'" | "(" | ")" | ","
    token extra = any("!*'(),");
    /// reserved       = ";" | "/" | "?" | ":" | "@" | "&" | "="
    token reserved = any(";/?:@&=");
    /// hex            = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
    token hex = digit() | any("ABCDEFabcdef");
    /// escape         = "%" hex hex
    escape escape = "%" + hex() + hex();
    /// unreserved     = alpha | digit | safe | extra
    token unreserved = alpha() | digit() | safe() | extra();
    /// uchar          = unreserved | escape
    token uchar = unreserved() | escape();
    /// xchar          = unreserved | reserved | escape
    token xchar = unreserved() | reserved() | escape();
    /// digits         = 1*digit
    token digits = some(digit());
}
