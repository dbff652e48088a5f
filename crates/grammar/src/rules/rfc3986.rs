//! RFC 3986, Uniform Resource Identifier (URI): Generic Syntax, January 2005: appendix A, "Collected ABNF for URI".
//!
//! Each rule is listed under the section that introduces it. Only the build script reads this file. `build/rule.rs` defines its
//! notation. The rest of urlsift uses the names of this document.
//!
//! Doubtful points are settled as follows; the numbers name the decisions in the specification:
//!
//! - A dotted quad out of range is a `reg-name` (A56).
//! - The empty line is a `relative-ref` (A57).
//! - Zone identifiers are not part of this document (A53).
//! - String literals of ABNF ignore letter case. This affects only the "v" of `IPvFuture`.

use crate::rule::{Name, Rule, any, many, named, opt, range, rules, some, times, void};

rules! {
    section "3";
    /// URI           = scheme ":" hier-part [ "?" query ] [ "#" fragment ]
    rule uri in Parts = scheme() + ":" + hier_part() + opt("?" + query()) + opt("#" + fragment());

    /// hier-part     = "//" authority path-abempty
    ///               / path-absolute
    ///               / path-rootless
    ///               / path-empty
    rule hier_part in Parts = "//" + authority() + path_abempty() | path_absolute() | path_rootless() | path_empty();

    section "4.1";
    /// URI-reference = URI / relative-ref
    rule uri_reference in Parts = uri() | relative_ref();

    section "4.3";
    /// absolute-URI  = scheme ":" hier-part [ "?" query ]
    rule absolute_uri in Parts = scheme() + ":" + hier_part() + opt("?" + query());

    section "4.2";
    /// relative-ref  = relative-part [ "?" query ] [ "#" fragment ]
    rule relative_ref in Parts = relative_part() + opt("?" + query()) + opt("#" + fragment());

    /// relative-part = "//" authority path-abempty
    ///               / path-absolute
    ///               / path-noscheme
    ///               / path-empty
    rule relative_part in Parts = "//" + authority() + path_abempty() | path_absolute() | path_noscheme() | path_empty();

    section "3.1";
    /// scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    rule scheme in Scheme = alpha() + many(alpha() | digit() | any("+-."));

    section "3.2";
    /// authority     = [ userinfo "@" ] host [ ":" port ]
    rule authority in Authority = opt(userinfo() + "@") + host() + opt(":" + port());
    section "3.2.1";
    /// userinfo      = *( unreserved / pct-encoded / sub-delims / ":" )
    rule userinfo in Userinfo = many(unreserved() | pct_encoded() | sub_delims() | ":");
    section "3.2.2";
    /// host          = IP-literal / IPv4address / reg-name
    rule host in Host = ip_literal() | ipv4address() | reg_name();
    section "3.2.3";
    /// port          = *DIGIT
    rule port in Port = many(digit());

    section "3.2.2";
    /// IP-literal    = "[" ( IPv6address / IPvFuture  ) "]"
    rule ip_literal in Host = "[" + (ipv6address() | ipvfuture()) + "]";

    /// IPvFuture     = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
    rule ipvfuture in Host = any("vV") + some(hexdig()) + "." + some(unreserved() | sub_delims() | ":");

    /// IPv6address   =                            6( h16 ":" ) ls32
    ///               /                       "::" 5( h16 ":" ) ls32
    ///               / [               h16 ] "::" 4( h16 ":" ) ls32
    ///               / [ *1( h16 ":" ) h16 ] "::" 3( h16 ":" ) ls32
    ///               / [ *2( h16 ":" ) h16 ] "::" 2( h16 ":" ) ls32
    ///               / [ *3( h16 ":" ) h16 ] "::"    h16 ":"   ls32
    ///               / [ *4( h16 ":" ) h16 ] "::"              ls32
    ///               / [ *5( h16 ":" ) h16 ] "::"              h16
    ///               / [ *6( h16 ":" ) h16 ] "::"
    rule ipv6address in Host = times(6, 6, h16() + ":") + ls32()
        | "::" + times(5, 5, h16() + ":") + ls32()
        | opt(h16()) + "::" + times(4, 4, h16() + ":") + ls32()
        | opt(times(0, 1, h16() + ":") + h16()) + "::" + times(3, 3, h16() + ":") + ls32()
        | opt(times(0, 2, h16() + ":") + h16()) + "::" + times(2, 2, h16() + ":") + ls32()
        | opt(times(0, 3, h16() + ":") + h16()) + "::" + h16() + ":" + ls32()
        | opt(times(0, 4, h16() + ":") + h16()) + "::" + ls32()
        | opt(times(0, 5, h16() + ":") + h16()) + "::" + h16()
        | opt(times(0, 6, h16() + ":") + h16()) + "::";

    /// h16           = 1*4HEXDIG
    token h16 = times(1, 4, hexdig());
    /// ls32          = ( h16 ":" h16 ) / IPv4address
    token ls32 = h16() + ":" + h16() | ipv4address();
    /// IPv4address   = dec-octet "." dec-octet "." dec-octet "." dec-octet
    token ipv4address = dec_octet() + "." + dec_octet() + "." + dec_octet() + "." + dec_octet();

    /// dec-octet     = DIGIT                 ; 0-9
    ///               / %x31-39 DIGIT         ; 10-99
    ///               / "1" 2DIGIT            ; 100-199
    ///               / "2" %x30-34 DIGIT     ; 200-249
    ///               / "25" %x30-35          ; 250-255
    token dec_octet = digit()
        | range('1', '9') + digit()
        | "1" + times(2, 2, digit())
        | "2" + range('0', '4') + digit()
        | "25" + range('0', '5');

    /// reg-name      = *( unreserved / pct-encoded / sub-delims )
    rule reg_name in Host = many(unreserved() | pct_encoded() | sub_delims());

    section "3.3";
    /// path          = path-abempty / path-absolute / path-noscheme / path-rootless / path-empty
    rule path in Path = path_abempty() | path_absolute() | path_noscheme() | path_rootless() | path_empty();

    /// path-abempty  = *( "/" segment )
    rule path_abempty in Path = many("/" + segment());
    /// path-absolute = "/" [ segment-nz *( "/" segment ) ]
    rule path_absolute in Path = "/" + opt(segment_nz() + many("/" + segment()));
    /// path-noscheme = segment-nz-nc *( "/" segment )
    rule path_noscheme in Path = segment_nz_nc() + many("/" + segment());
    /// path-rootless = segment-nz *( "/" segment )
    rule path_rootless in Path = segment_nz() + many("/" + segment());
    /// path-empty    = 0<pchar>
    rule path_empty in Path = void();

    /// segment       = *pchar
    rule segment in Path = many(pchar());
    /// segment-nz    = 1*pchar
    rule segment_nz in Path = some(pchar());
    /// segment-nz-nc = 1*( unreserved / pct-encoded / sub-delims / "@" )
    rule segment_nz_nc in Path = some(unreserved() | pct_encoded() | sub_delims() | "@");

    /// pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
    token pchar = unreserved() | pct_encoded() | sub_delims() | any(":@");

    section "3.4";
    /// query         = *( pchar / "/" / "?" )
    rule query in Query = many(pchar() | any("/?"));

    section "3.5";
    /// fragment      = *( pchar / "/" / "?" )
    rule fragment in Fragment = many(pchar() | any("/?"));

    section "2.1";
    /// pct-encoded   = "%" HEXDIG HEXDIG
    escape pct_encoded = "%" + hexdig() + hexdig();

    section "2.3";
    /// unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
    token unreserved = alpha() | digit() | any("-._~");
    section "2.2";
    /// reserved      = gen-delims / sub-delims
    token reserved = gen_delims() | sub_delims();
    /// gen-delims    = ":" / "/" / "?" / "#" / "[" / "]" / "@"
    token gen_delims = any(":/?#[]@");
    /// sub-delims    = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
    token sub_delims = any("!$&'()*+,;=");

    section "1.3";
    /// ALPHA         =  %x41-5A / %x61-7A   ; A-Z / a-z (RFC 2234)
    token alpha = range('A', 'Z') | range('a', 'z');
    /// DIGIT         =  %x30-39             ; 0-9 (RFC 2234)
    token digit = range('0', '9');
    /// HEXDIG        =  DIGIT / "A" / "B" / "C" / "D" / "E" / "F"
    token hexdig = digit() | any("ABCDEF") | any("abcdef");
}
