//! The patterns of known logs, and how their lines look.

use std::sync::Arc;

use super::super::record::refusal;
use super::super::{BadCause, Selector};
use super::pattern::{Escapes, Pattern};
use super::{Fault, Plan};

/// A known log.
pub(in super::super) struct Preset {
    pattern: &'static str,
    escapes: Escapes,
    may_lack_quotes: bool,
    /// Whether a line has the times and numbers of such a log.
    has_signs: fn(&[u8]) -> bool,
}

/// Amazon S3, server access log. The documentation lists the fields in this order.
pub(in super::super) const S3: Preset = Preset {
    pattern: r#"$bucket_owner $bucket [$time] $remote_ip $requester $request_id $operation $key "$request" $http_status $error_code $bytes_sent $object_size $total_time $turn_around_time "$http_referer""#,
    escapes: Escapes::None,
    may_lack_quotes: true,
    has_signs: has_signs_of_s3,
};

/// Classic load balancers of AWS.
pub(in super::super) const ELB: Preset = Preset {
    pattern: r#"$timestamp $elb $client $backend $request_time $backend_time $response_time $elb_status $backend_status $received $sent "$request""#,
    escapes: Escapes::Backslash,
    may_lack_quotes: false,
    has_signs: has_signs_of_elb,
};

/// HAProxy, `option httplog`. The first variable also has what syslog wrote, if anything.
pub(in super::super) const HAPROXY: Preset = Preset {
    pattern: r#"$process_and_client [$accept_date] $frontend $backend/$server $timers $status $bytes_read $cookies_to_captured_headers "$request""#,
    escapes: Escapes::Hash,
    may_lack_quotes: false,
    has_signs: |line| begins_like(bracketed(line), b"00/Aaa/0000:00:00:00.000] "),
};

/// Squid, the format `squid`. The second field is padded with blanks, so the first variable extends to the slash in `TCP_MISS/200`.
pub(in super::super) const SQUID: Preset = Preset {
    pattern: "$time_elapsed_client_and_code/$status $bytes $method $url $user $hierarchy_and_type",
    escapes: Escapes::None,
    may_lack_quotes: false,
    has_signs: has_signs_of_squid,
};

/// Envoy, the default format string.
pub(in super::super) const ENVOY: Preset = Preset {
    pattern: r#"[$start_time] "$request" $response_code"#,
    escapes: Escapes::None,
    may_lack_quotes: false,
    has_signs: |line| begins_like(line, b"[0000-00-00T00:00:00."),
};

impl Preset {
    pub(super) fn pattern(&self) -> Pattern {
        let pattern = Pattern::parse(self.pattern).expect("presets are well-formed");
        let Self { escapes, may_lack_quotes, .. } = *self;
        Pattern { escapes, is_open: true, may_lack_quotes, ..pattern }
    }

    /// Plans how to find `fields`, or all URLs if there are none. The error is the index of a field that the log does not have.
    pub(in super::super) fn plan(&self, fields: &[Selector]) -> Result<Arc<Plan>, usize> {
        Plan::compile(&self.pattern(), fields).map(Arc::new).map_err(|fault| match fault {
            Fault::Field(n) => n,
            _ => 0,
        })
    }

    /// Whether a line looks like one of the log. The request may be damaged or cut off.
    pub(in super::super) fn is_record(&self, line: &[u8]) -> bool {
        let fits = |mut plan: Arc<Plan>| refusal(&mut plan, line) != Some(BadCause::NotARecord);
        (self.has_signs)(line) && self.plan(&[]).is_ok_and(fits)
    }
}

/// Whether `text` begins with a text of this shape: `0` is a digit, `A` a capital, `a` a letter, and `?` a sign.
pub(in super::super) fn begins_like(text: &[u8], shape: &[u8]) -> bool {
    text.len() >= shape.len()
        && text.iter().zip(shape).all(|(byte, expected)| match expected {
            b'0' => byte.is_ascii_digit(),
            b'A' => byte.is_ascii_uppercase(),
            b'a' => byte.is_ascii_alphabetic(),
            b'?' => matches!(byte, b'+' | b'-'),
            _ => byte == expected,
        })
}

/// What follows the first ` [` of a line.
fn bracketed(line: &[u8]) -> &[u8] {
    memchr::memmem::find(line, b" [").map_or(&[], |at| &line[at + 2..])
}

pub(in super::super) fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&byte| byte == b' ').collect()
}

/// Whether a word is a number, perhaps with a sign and a point.
pub(in super::super) fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

fn has_signs_of_s3(line: &[u8]) -> bool {
    let operations = [&b"REST."[..], b"WEBSITE.", b"BATCH.", b"SOAP.", b"S3."];
    begins_like(bracketed(line), b"00/Aaa/0000:00:00:00 ?0000] ")
        && words(line).get(7).is_some_and(|word| operations.iter().any(|name| word.starts_with(name)))
}

fn has_signs_of_elb(line: &[u8]) -> bool {
    let words = words(line);
    let times = words.get(4..7).unwrap_or_default();
    begins_like(line, b"0000-00-00T00:00:00.")
        && words[0].ends_with(b"Z")
        && times.len() == 3
        && times.iter().all(|word| is_number(word))
}

fn has_signs_of_squid(line: &[u8]) -> bool {
    let words: Vec<_> = words(line).into_iter().filter(|word| !word.is_empty()).collect();
    begins_like(line, b"0000000000.")
        && words.len() >= 9
        && is_number(words[0])
        && is_number(words[1])
        && words[3]
            .iter()
            .position(|&byte| byte == b'/')
            .is_some_and(|at| begins_like(&words[3][at..], b"/000"))
        && is_number(words[4])
}
