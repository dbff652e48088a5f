//! RFC 3986 as one regular expression without look-around, captures and Unicode, for peers that run regular expressions.

/// The rule `URI-reference`, not anchored.
///
/// Each part is named after its rule in RFC 3986, appendix A, and follows the rule's text. A part must be defined before it
/// is used, so the order is the reverse of the appendix. A rule that is a choice of characters is the content of a
/// character class. There is no separate `IPv4address` in `host`, because `reg-name` includes it.
pub fn uri_reference() -> String {
    // ALPHA, DIGIT and HEXDIG are those of RFC 5234: HEXDIG has capitals, and literals of ABNF ignore letter case.
    let alpha = "A-Za-z";
    let digit = "0-9";
    let hexdig = "[0-9A-Fa-f]";

    // sub-delims    = "!" / "$" / "&" / "'" / "(" / ")" / "*" / "+" / "," / ";" / "="
    let sub_delims = "!$&'()*+,;=";
    // unreserved    = ALPHA / DIGIT / "-" / "." / "_" / "~"
    let unreserved = format!(r"{alpha}{digit}\-._~");
    // pct-encoded   = "%" HEXDIG HEXDIG
    let pct_encoded = format!("%{hexdig}{hexdig}");

    // pchar         = unreserved / pct-encoded / sub-delims / ":" / "@"
    let pchar = format!("(?:[{unreserved}{sub_delims}:@]|{pct_encoded})");
    // fragment      = *( pchar / "/" / "?" )
    let fragment = format!("(?:{pchar}|[/?])*");
    // query         = *( pchar / "/" / "?" )
    let query = format!("(?:{pchar}|[/?])*");

    // segment-nz-nc = 1*( unreserved / pct-encoded / sub-delims / "@" )
    let segment_nz_nc = format!("(?:[{unreserved}{sub_delims}@]|{pct_encoded})+");
    // segment-nz    = 1*pchar
    let segment_nz = format!("{pchar}+");
    // segment       = *pchar
    let segment = format!("{pchar}*");

    // path-empty    = 0<pchar>
    let path_empty = "";
    // path-rootless = segment-nz *( "/" segment )
    let path_rootless = format!("{segment_nz}(?:/{segment})*");
    // path-noscheme = segment-nz-nc *( "/" segment )
    let path_noscheme = format!("{segment_nz_nc}(?:/{segment})*");
    // path-absolute = "/" [ segment-nz *( "/" segment ) ]
    let path_absolute = format!("/(?:{segment_nz}(?:/{segment})*)?");
    // path-abempty  = *( "/" segment )
    let path_abempty = format!("(?:/{segment})*");

    // authority     = [ userinfo "@" ] host [ ":" port ]
    let authority = {
        // reg-name      = *( unreserved / pct-encoded / sub-delims )
        let reg_name = format!("(?:[{unreserved}{sub_delims}]|{pct_encoded})*");
        // host          = IP-literal / IPv4address / reg-name
        let host = format!("(?:{}|{reg_name})", ip_literal(&unreserved, sub_delims));
        // port          = *DIGIT
        let port = format!("[{digit}]*");
        // userinfo      = *( unreserved / pct-encoded / sub-delims / ":" )
        let userinfo = format!("(?:[{unreserved}{sub_delims}:]|{pct_encoded})*");
        format!("(?:{userinfo}@)?{host}(?::{port})?")
    };
    // scheme        = ALPHA *( ALPHA / DIGIT / "+" / "-" / "." )
    let scheme = format!(r"[{alpha}][{alpha}{digit}+\-.]*");

    // relative-part = "//" authority path-abempty / path-absolute / path-noscheme / path-empty
    let relative_part =
        format!("(?://{authority}{path_abempty}|{path_absolute}|{path_noscheme}|{path_empty})");
    // relative-ref  = relative-part [ "?" query ] [ "#" fragment ]
    let relative_ref = format!(r"{relative_part}(?:\?{query})?(?:#{fragment})?");
    // hier-part     = "//" authority path-abempty / path-absolute / path-rootless / path-empty
    let hier_part = format!("(?://{authority}{path_abempty}|{path_absolute}|{path_rootless}|{path_empty})");
    // URI           = scheme ":" hier-part [ "?" query ] [ "#" fragment ]
    let uri = format!(r"{scheme}:{hier_part}(?:\?{query})?(?:#{fragment})?");
    // URI-reference = URI / relative-ref
    format!("(?:{uri}|{relative_ref})")
}

/// `IP-literal`, with the two classes that `IPvFuture` takes.
fn ip_literal(unreserved: &str, sub_delims: &str) -> String {
    let hexdig = "[0-9A-Fa-f]";
    // dec-octet     = DIGIT / %x31-39 DIGIT / "1" 2DIGIT / "2" %x30-34 DIGIT / "25" %x30-35
    let dec_octet = "(?:[0-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|25[0-5])";
    // IPv4address   = dec-octet "." dec-octet "." dec-octet "." dec-octet
    let ipv4address = format!(r"{dec_octet}\.{dec_octet}\.{dec_octet}\.{dec_octet}");
    // h16           = 1*4HEXDIG
    let h16 = format!("{hexdig}{{1,4}}");
    // ls32          = ( h16 ":" h16 ) / IPv4address
    let ls32 = format!("(?:{h16}:{h16}|{ipv4address})");
    // IPv6address   =                            6( h16 ":" ) ls32
    //               /                       "::" 5( h16 ":" ) ls32
    //               / [               h16 ] "::" 4( h16 ":" ) ls32
    //               / [ *1( h16 ":" ) h16 ] "::" 3( h16 ":" ) ls32
    //               / [ *2( h16 ":" ) h16 ] "::" 2( h16 ":" ) ls32
    //               / [ *3( h16 ":" ) h16 ] "::"    h16 ":"   ls32
    //               / [ *4( h16 ":" ) h16 ] "::"              ls32
    //               / [ *5( h16 ":" ) h16 ] "::"              h16
    //               / [ *6( h16 ":" ) h16 ] "::"
    let ipv6address = [
        format!("(?:{h16}:){{6}}{ls32}"),
        format!("::(?:{h16}:){{5}}{ls32}"),
        format!("(?:{h16})?::(?:{h16}:){{4}}{ls32}"),
        format!("(?:(?:{h16}:){{0,1}}{h16})?::(?:{h16}:){{3}}{ls32}"),
        format!("(?:(?:{h16}:){{0,2}}{h16})?::(?:{h16}:){{2}}{ls32}"),
        format!("(?:(?:{h16}:){{0,3}}{h16})?::{h16}:{ls32}"),
        format!("(?:(?:{h16}:){{0,4}}{h16})?::{ls32}"),
        format!("(?:(?:{h16}:){{0,5}}{h16})?::{h16}"),
        format!("(?:(?:{h16}:){{0,6}}{h16})?::"),
    ]
    .join("|");
    // IPvFuture     = "v" 1*HEXDIG "." 1*( unreserved / sub-delims / ":" )
    let ipvfuture = format!(r"[vV]{hexdig}+\.[{unreserved}{sub_delims}:]+");
    // IP-literal    = "[" ( IPv6address / IPvFuture  ) "]"
    format!(r"\[(?:{ipv6address}|{ipvfuture})\]")
}
