//! The URL draft of November 1993, as transcribed in XBNF ("URL.syntax"): the grammar before RFC 1738.
//!
//! Only the build script reads this file. `build/rule.rs` defines its notation. `O(x)` means that `x` is optional, `N(x)` means one
//! or more. In the terms of RFC 3986, `login` is the authority, `user ":" password` the userinfo, and `search` the query.
//!
//! The transcription has errors and gaps. They are repaired as follows; the numbers name the decisions in the specification:
//!
//! - The prefix "url:" is optional (A62).
//! - `safe` is printed with holes, which are filled (A60).
//! - In `login`, a parenthesis is printed inside a quote (A63).
//! - Ends of rules are missing or doubled (A64).
//! - `addr_spec` and `content_identifier` are used, but not defined (A70).
//! - `void` inside `xpalpha` is kept as printed (A65).
//! - Rules that no URL reaches are left out (A75): `scheme`, `afsaddress`, `cellname`, `fragmentid`, `reserved`, `national`,
//!   `punctuation`, `alphanum`.

use crate::rule::{Name, Rule, any, lit, named, opt, range, recur, rules, scheme_name, some, void};

rules! {
    section "URL BNF";

    /// prefixedurl ::= "url:" url
    rule prefixedurl in Scheme = opt(scheme_name("url:")) + url();
    /// url ::= httpaddress | ftpaddress | newsaddress | nntpaddress | prosperoaddress | telnetaddress |
    ///         gopheraddress | waisaddress | mailtoaddress | midaddress | cidaddress
    rule url in Scheme = httpaddress() | ftpaddress() | newsaddress() | nntpaddress() | prosperoaddress()
        | telnetaddress() | gopheraddress() | waisaddress() | mailtoaddress() | midaddress() | cidaddress();
    /// httpaddress ::= "http:" "//" hostport O( "/" path ) O( "?" search )
    rule httpaddress in Path = scheme_name("http:") + "//" + hostport() + opt("/" + path()) + opt("?" + search());
    /// ftpaddress ::= "ftp://" login "/" path O( ftptype )
    rule ftpaddress in Path = scheme_name("ftp:") + "//" + login() + "/" + path() + opt(ftptype());
    /// newsaddress ::= "news:" group_art
    rule newsaddress in GroupArt = scheme_name("news:") + group_art();
    /// nntpaddress ::= "nntp:" group "/" N(digit)
    rule nntpaddress in Group = scheme_name("nntp:") + group() + "/" + some(digit());
    /// midaddress ::= "mid" ":" addr_spec
    rule midaddress in AddrSpec = scheme_name("mid:") + addr_spec();
    /// cidaddress ::= "cid:" content_identifier
    rule cidaddress in ContentIdentifier = scheme_name("cid:") + content_identifier();
    /// mailtoaddress ::= "mailto:" N(xalpha) "@" hostname
    rule mailtoaddress in Mailtoaddress = scheme_name("mailto:") + some(xalpha()) + "@" + hostname();
    /// waisaddress ::= waisindex | waisdoc
    rule waisaddress in Path = waisindex() | waisdoc();
    /// waisindex ::= "wais://" hostport "/" database O( "?" search )
    rule waisindex = scheme_name("wais:") + "//" + hostport() + "/" + database() + opt("?" + search());
    /// waisdoc ::= "wais://" hostport "/" database "/" wtype "/" wpath
    rule waisdoc = scheme_name("wais:") + "//" + hostport() + "/" + database() + "/" + wtype() + "/" + wpath();
    /// wpath ::= N(digit) "=" path ";" O( wpath )
    rule wpath in Wpath = recur(|wpath| some(digit()) + "=" + path() + ";" + opt(wpath));
    /// group_art ::= "*" | group | article
    rule group_art in GroupArt = lit("*") | group() | article();
    /// group ::= ialpha O( "." group )
    rule group in Group = recur(|group| ialpha() + opt("." + group));
    /// article ::= N(xalpha) "@" host
    rule article in Article = some(xalpha()) + "@" + host();
    /// database ::= N(xalpha)
    rule database in Database = some(xalpha());
    /// wtype ::= N(xalpha)
    rule wtype in Wtype = some(xalpha());
    /// prosperoaddress ::= prosperolink
    rule prosperoaddress in Path = prosperolink();
    /// prosperolink ::= "prospero://" hostport "/" hsoname O( "%" "00" version O( N(attribute) ) )
    rule prosperolink = scheme_name("prospero:") + "//" + hostport() + "/" + hsoname()
        + opt("%00" + version() + opt(some(attribute())));
    /// hsoname ::= path
    rule hsoname in Path = path();
    /// version ::= N(digit)
    rule version in Path = some(digit());
    /// attribute ::= N(alphanum)
    rule attribute in Path = some(alpha() | digit());
    /// telnetaddress ::= "telnet://" login
    rule telnetaddress in Authority = scheme_name("telnet:") + "//" + login();
    /// gopheraddress ::= "gopher://" hostport O( / gtype O( gcommand ) )
    rule gopheraddress in Path = scheme_name("gopher:") + "//" + hostport() + opt("/" + gtype() + opt(gcommand()));
    /// login ::= O( user O( ":" password ) "@" ) hostport
    rule login in Authority = opt(user() + opt(":" + password()) + "@") + hostport();
    /// hostport ::= host O( ":" port )
    rule hostport in Authority = host() + opt(":" + port());
    /// host ::= hostname | hostnumber
    rule host in Host = hostname() | hostnumber();
    /// ftptype ::= "A" formcode | "E" formcode | "I" | "L" N(digit)
    rule ftptype in Path = "A" + formcode() | "E" + formcode() | "I" | "L" + some(digit());
    /// formcode ::= "N" | "T" | "C"
    token formcode = any("NTC");
    /// hostname ::= ialpha O( "." hostname )
    rule hostname in Host = recur(|hostname| ialpha() + opt("." + hostname));
    /// hostnumber ::= N(digit) "." N(digit) "." N(digit) "." N(digit)
    rule hostnumber = some(digit()) + "." + some(digit()) + "." + some(digit()) + "." + some(digit());
    /// port ::= N(digit)
    rule port in Port = some(digit());
    /// gcommand ::= path
    rule gcommand in Path = path();
    /// path ::= void | segment O( "/" path )
    rule path in Path = recur(|path| void() | segment() + opt("/" + path));
    /// segment ::= N(xpalpha)
    token segment = some(xpalpha());
    /// search ::= N(xalpha) O( search )
    rule search in Query = recur(|search| some(xalpha()) + opt(search));
    /// user ::= alphanum2 O( user )
    rule user in Userinfo = recur(|user| alphanum2() + opt(user));
    /// password ::= alphanum2 O( password )
    rule password in Userinfo = recur(|password| alphanum2() + opt(password));
    /// gtype ::= xalpha
    rule gtype in Path = xalpha();
    /// alphanum2 ::= alpha | digit | "-" | "_" | "." | "+"
    token alphanum2 = alpha() | digit() | any("-_.+");
    /// xalpha ::= alpha | digit | safe | extra | escape
    token xalpha = alpha() | digit() | safe() | extra() | escape();
    /// xpalpha ::= xalpha | void
    token xpalpha = xalpha() | void();
    /// ialpha ::= alpha O( N(xalpha) )
    token ialpha = alpha() + opt(some(xalpha()));
    /// safe ::= "$" | "-" | "_" | "@" | "." | "&" | "+"
    token safe = any("$-_@.&+");
    /// extra ::= "!" | "*" | quotes | "'" | "(" | ")" | ","
    token extra = any("!*\"'(),");
    /// escape ::= "%" hex hex
    escape escape = "%" + hex() + hex();
    /// hex ::= digit | "a".."f" | "A".."F"
    token hex = digit() | range('a', 'f') | range('A', 'F');
    /// alpha and digit are not defined in the transcription: the letters of both cases, and 0 to 9
    token alpha = range('a', 'z') | range('A', 'Z');
    /// digit
    token digit = range('0', '9');
    /// addr_spec: not defined in the transcription; read as 1*xalpha "@" host
    rule addr_spec in AddrSpec = some(xalpha()) + "@" + host();
    /// content_identifier: not defined in the transcription; read as 1*xalpha
    rule content_identifier in ContentIdentifier = some(xalpha());
}
