//! The keys under which log pipelines have URLs.

use memchr::memchr;

/// The keys of objects that are looked at if no field is chosen. The first one has precedence over all others.
pub(super) const KEYS: [&str; 14] = [
    "url", "request", "httpRequest", "http", "RequestPath", "request_Referer", "ClientRequestURI",
    "ClientRequestReferer", "request_uri", "request_line", "http_referer", "http_referrer", "referer", "log",
];

/// The place of a line of another log in an object of Docker.
pub(super) const LINE: Known = of("log", &[]);

/// A bit for the length of each key.
const LENGTHS: u32 = {
    let (mut lengths, mut n) = (0, 0);
    while n < KEYS.len() {
        lengths |= 1 << KEYS[n].len();
        n += 1;
    }
    lengths
};

/// The index of a key in [`KEYS`].
#[inline(always)]
pub(super) fn find(key: &[u8]) -> Option<usize> {
    // Most keys have another length.
    if key.len() >= 32 || LENGTHS >> key.len() & 1 == 0 {
        return None;
    }
    KEYS.iter().position(|known| known.as_bytes() == key)
}

/// A value in an object: the index of its first key in [`KEYS`], and the keys below that.
pub(super) struct Known {
    pub(super) key: usize,
    pub(super) below: &'static [&'static str],
}

/// Where the objects of a pipeline have the request and its referer.
pub(super) struct Pipeline {
    pub(super) request: Known,
    /// Whether the request is a request line, such as `GET / HTTP/1.1`. Another value is not of this pipeline.
    pub(super) is_line: bool,
    pub(super) referers: &'static [Known],
}

/// The known pipelines. The first one whose request is a string has the record.
pub(super) const PIPELINES: [Pipeline; 9] = [
    // Caddy
    targets(of("request", &["uri"]), &[of("request", &["headers", "Referer", "0"])]),
    // The load balancers of Google Cloud, and other logs there
    targets(of("httpRequest", &["requestUrl"]), &[of("httpRequest", &["referer"])]),
    // AWS WAF
    targets(of("httpRequest", &["uri"]), &[]),
    // Suricata, events of HTTP
    targets(of("http", &["url"]), &[of("http", &["http_refer"])]),
    // Traefik
    targets(of("RequestPath", &[]), &[of("request_Referer", &[])]),
    // Cloudflare Logpush
    targets(of("ClientRequestURI", &[]), &[of("ClientRequestReferer", &[])]),
    // nginx with the usual names of its variables
    targets(of("request_uri", &[]), NGINX),
    lines(of("request", &[]), NGINX),
    lines(of("request_line", &[]), NGINX),
];

const NGINX: &[Known] = &[of("http_referer", &[]), of("http_referrer", &[]), of("referer", &[])];

const fn targets(request: Known, referers: &'static [Known]) -> Pipeline {
    Pipeline { request, is_line: false, referers }
}

const fn lines(request: Known, referers: &'static [Known]) -> Pipeline {
    Pipeline { request, is_line: true, referers }
}

const fn of(key: &str, below: &'static [&'static str]) -> Known {
    let mut n = 0;
    while !is_same(KEYS[n], key) {
        n += 1;
    }
    Known { key: n, below }
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut n = 0;
    while n < one.len() && n < other.len() && one[n] == other[n] {
        n += 1;
    }
    n == one.len() && n == other.len()
}

/// Whether values under a key may be request lines.
pub(super) fn has_request_line(key: &[u8]) -> bool {
    matches!(key, b"request" | b"request_line")
}

/// Whether a value begins with a method and a blank.
pub(super) fn is_request_line(value: &[u8]) -> bool {
    let method = &value[..memchr(b' ', value).unwrap_or(0)];
    !method.is_empty() && method.iter().all(u8::is_ascii_uppercase)
}
