//! RFC 2396, Uniform Resource Identifiers (URI): Generic Syntax, August 1998: appendix A, "Collected BNF for URI".
//!
//! Each rule is listed under the section that introduces it. Only the build script reads this file. `build/rule.rs` defines its
//! notation. In the terms of RFC 3986, `uric` is any character of a URI, and `escaped` is a percent-encoded triplet.
//!
//! Doubtful points are settled as follows; the numbers name the decisions in the specification:
//!
//! - `authority` is the union of `server` and `reg_name`, not the first that matches (A48).
//! - "//" begins an authority (A49).
//! - `rel_segment` is not empty and has no ":" (A50).
//! - `opaque_part` needs a byte that is not "/" (A51).
//! - IP literals are not supported (A53).
//! - `path` of section 3.3 cannot be reached (A54).

use crate::rule::{Name, Rule, any, many, named, opt, range, rules, some};

rules! {
    section "4";
    /// URI-reference = [ absoluteURI | relativeURI ] [ "#" fragment ]
    rule uri_reference in Parts = opt(absolute_uri() | relative_uri()) + opt("#" + fragment());

    section "3";
    /// absoluteURI   = scheme ":" ( hier_part | opaque_part )
    rule absolute_uri in Parts = scheme() + ":" + (hier_part() | opaque_part());

    section "5";
    /// relativeURI   = ( net_path | abs_path | rel_path ) [ "?" query ]
    rule relative_uri in Parts = (net_path() | abs_path() | rel_path()) + opt("?" + query());

    section "3";
    /// hier_part     = ( net_path | abs_path ) [ "?" query ]
    rule hier_part in Parts = (net_path() | abs_path()) + opt("?" + query());
    /// opaque_part   = uric_no_slash *uric
    rule opaque_part in OpaquePart = uric_no_slash() + many(uric());
    /// uric_no_slash = unreserved | escaped | ";" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","
    token uric_no_slash = unreserved() | escaped() | any(";?:@&=+$,");
    /// net_path      = "//" authority [ abs_path ]
    rule net_path in Authority = "//" + authority() + opt(abs_path());
    /// abs_path      = "/"  path_segments
    rule abs_path in Path = "/" + path_segments();

    section "5";
    /// rel_path      = rel_segment [ abs_path ]
    rule rel_path in Path = rel_segment() + opt(abs_path());
    /// rel_segment   = 1*( unreserved | escaped | ";" | "@" | "&" | "=" | "+" | "$" | "," )
    rule rel_segment in Path = some(unreserved() | escaped() | any(";@&=+$,"));

    section "3.1";
    /// scheme        = alpha *( alpha | digit | "+" | "-" | "." )
    rule scheme in Scheme = alpha() + many(alpha() | digit() | any("+-."));

    section "3.2";
    /// authority     = server | reg_name
    rule authority in Authority = server() | reg_name();

    section "3.2.1";
    /// reg_name      = 1*( unreserved | escaped | "$" | "," | ";" | ":" | "@" | "&" | "=" | "+" )
    rule reg_name in Authority = some(unreserved() | escaped() | any("$,;:@&=+"));

    section "3.2.2";
    /// server        = [ [ userinfo "@" ] hostport ]
    rule server in Authority = opt(opt(userinfo() + "@") + hostport());
    /// userinfo      = *( unreserved | escaped | ";" | ":" | "&" | "=" | "+" | "$" | "," )
    rule userinfo in Userinfo = many(unreserved() | escaped() | any(";:&=+$,"));
    /// hostport      = host [ ":" port ]
    rule hostport in Authority = host() + opt(":" + port());
    /// host          = hostname | IPv4address
    rule host in Host = hostname() | ipv4address();
    /// hostname      = *( domainlabel "." ) toplabel [ "." ]
    rule hostname in Host = many(domainlabel() + ".") + toplabel() + opt(".");
    /// domainlabel   = alphanum | alphanum *( alphanum | "-" ) alphanum
    rule domainlabel = alphanum() | alphanum() + many(alphanum() | "-") + alphanum();
    /// toplabel      = alpha | alpha *( alphanum | "-" ) alphanum
    rule toplabel = alpha() | alpha() + many(alphanum() | "-") + alphanum();
    /// IPv4address   = 1*digit "." 1*digit "." 1*digit "." 1*digit
    rule ipv4address = some(digit()) + "." + some(digit()) + "." + some(digit()) + "." + some(digit());
    /// port          = *digit
    rule port in Port = many(digit());

    section "3.3";
    /// path_segments = segment *( "/" segment )
    rule path_segments in Path = segment() + many("/" + segment());
    /// segment       = *pchar *( ";" param )
    rule segment in Path = many(pchar()) + many(";" + param());
    /// param         = *pchar
    rule param in Path = many(pchar());
    /// pchar         = unreserved | escaped | ":" | "@" | "&" | "=" | "+" | "$" | ","
    token pchar = unreserved() | escaped() | any(":@&=+$,");

    section "3.4";
    /// query         = *uric
    rule query in Query = many(uric());

    section "4.1";
    /// fragment      = *uric
    rule fragment in Fragment = many(uric());

    section "2";
    /// uric          = reserved | unreserved | escaped
    token uric = reserved() | unreserved() | escaped();
    /// reserved      = ";" | "/" | "?" | ":" | "@" | "&" | "=" | "+" | "$" | ","
    token reserved = any(";/?:@&=+$,");
    /// unreserved    = alphanum | mark
    token unreserved = alphanum() | mark();
    /// mark          = "-" | "_" | "." | "!" | "~" | "*" | "'" | "(" | ")"
    token mark = any("-_.!~*'()");

    section "2.4.1";
    /// escaped       = "%" hex hex
    escape escaped = "%" + hex() + hex();
    /// hex           = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
    token hex = digit() | any("ABCDEFabcdef");

    section "1.6";
    /// alphanum      = alpha | digit
    token alphanum = alpha() | digit();
    /// alpha         = lowalpha | upalpha
    token alpha = lowalpha() | upalpha();
    /// lowalpha      = "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | … | "z"
    token lowalpha = range('a', 'z');
    /// upalpha       = "A" | "B" | "C" | "D" | "E" | "F" | "G" | "H" | "I" | … | "Z"
    token upalpha = range('A', 'Z');
    /// digit         = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
    token digit = range('0', '9');
}
