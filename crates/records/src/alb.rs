//! Reads the access log of AWS application load balancers: columns separated by blanks. The first quoted column is the request,
//! `"GET https://example.org:443/path HTTP/1.1"`. A request that the balancer could not read is `"- http://example.org:80- "`. The reader is that of
//! the common log format.

/// Whether a line begins with a kind of connection and a time, and contains a quote.
pub(super) fn is_record(line: &[u8]) -> bool {
    let mut words = line.split(|&byte| byte == b' ');
    let kind = words.next().unwrap_or_default();
    let time = words.next().unwrap_or_default();
    let is_kind = [&b"http"[..], b"https", b"h2", b"grpcs", b"ws", b"wss"].contains(&kind);
    let is_iso = time.len() >= 20 && time[4] == b'-' && time[10] == b'T' && time.ends_with(b"Z");
    is_kind && is_iso && line.contains(&b'"')
}
