//! RFC 1808, Relative Uniform Resource Locators, June 1995: section 2.2, "BNF for Relative URLs".
//!
//! Only the build script reads this file. `build/rule.rs` defines its notation. In the terms of RFC 3986, `net_loc` is the authority.
//! `params` is the part of the last path segment after ";".
//!
//! Doubtful points are settled as follows; the numbers name the decisions in the specification:
//!
//! - The second alternative of `absoluteURL` accepts every line that has a scheme and only allowed characters (A46).
//! - `net_loc` has no rule for host or port (A44).
//! - `rel_path` cannot begin with "/" (A45).
//! - ":" is a `pchar` in the first segment too (A47).

use crate::rule::{Name, Rule, any, many, named, opt, range, rules, some};

rules! {
    section "2.2";

    /// URL         = ( absoluteURL | relativeURL ) [ "#" fragment ]
    rule url in Parts = (absolute_url() | relative_url()) + opt("#" + fragment());

    /// absoluteURL = generic-RL | ( scheme ":" *( uchar | reserved ) )
    rule absolute_url in Parts = generic_rl() | scheme() + ":" + many(uchar() | reserved());

    /// generic-RL  = scheme ":" relativeURL
    rule generic_rl = scheme() + ":" + relative_url();

    /// relativeURL = net_path | abs_path | rel_path
    rule relative_url in Parts = net_path() | abs_path() | rel_path();

    /// net_path    = "//" net_loc [ abs_path ]
    rule net_path in Authority = "//" + net_loc() + opt(abs_path());
    /// abs_path    = "/"  rel_path
    rule abs_path in Path = "/" + rel_path();
    /// rel_path    = [ path ] [ ";" params ] [ "?" query ]
    rule rel_path in Path = opt(path()) + opt(";" + params()) + opt("?" + query());

    /// path        = fsegment *( "/" segment )
    rule path in Path = fsegment() + many("/" + segment());
    /// fsegment    = 1*pchar
    rule fsegment in Path = some(pchar());
    /// segment     =  *pchar
    rule segment in Path = many(pchar());

    /// params      = param *( ";" param )
    rule params in Params = param() + many(";" + param());
    /// param       = *( pchar | "/" )
    rule param in Params = many(pchar() | "/");

    /// scheme      = 1*( alpha | digit | "+" | "-" | "." )
    rule scheme in Scheme = some(alpha() | digit() | any("+-."));
    /// net_loc     =  *( pchar | ";" | "?" )
    rule net_loc in Authority = many(pchar() | any(";?"));
    /// query       =  *( uchar | reserved )
    rule query in Query = many(uchar() | reserved());
    /// fragment    =  *( uchar | reserved )
    rule fragment in Fragment = many(uchar() | reserved());

    /// pchar       = uchar | ":" | "@" | "&" | "="
    token pchar = uchar() | any(":@&=");
    /// uchar       = unreserved | escape
    token uchar = unreserved() | escape();
    /// unreserved  = alpha | digit | safe | extra
    token unreserved = alpha() | digit() | safe() | extra();

    /// escape      = "%" hex hex
    escape escape = "%" + hex() + hex();
    /// hex         = digit | "A" | "B" | "C" | "D" | "E" | "F" | "a" | "b" | "c" | "d" | "e" | "f"
    token hex = digit() | any("ABCDEFabcdef");

    /// alpha       = lowalpha | hialpha
    token alpha = lowalpha() | hialpha();
    /// lowalpha    = "a" | "b" | "c" | "d" | "e" | "f" | "g" | "h" | "i" | … | "z"
    token lowalpha = range('a', 'z');
    /// hialpha     = "A" | "B" | "C" | "D" | "E" | "F" | "G" | "H" | "I" | … | "Z"
    token hialpha = range('A', 'Z');
    /// digit       = "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9"
    token digit = range('0', '9');

    /// safe        = "$" | "-" | "_" | "." | "+"
    token safe = any("$-_.+");
    /// extra       = "!" | "*" | "'" | "(" | ")" | ","
    token extra = any("!*'(),");
    /// reserved    = ";" | "/" | "?" | ":" | "@" | "&" | "="
    token reserved = any(";/?:@&=");
}
