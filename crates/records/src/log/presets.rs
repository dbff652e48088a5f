//! The patterns of known logs, and how their lines look.

use super::super::{BadCause, BadRecord, Format, Reader};
use super::pattern::{Escapes, Pattern};

/// Amazon S3, server access log. The documentation lists the fields in this order.
const S3: &str = r#"$bucket_owner $bucket [$time] $remote_ip $requester $request_id $operation $key "$request" $http_status $error_code $bytes_sent $object_size $total_time $turn_around_time "$http_referer""#;

/// Classic load balancers of AWS.
const ELB: &str = r#"$timestamp $elb $client $backend $request_time $backend_time $response_time $elb_status $backend_status $received $sent "$request""#;

/// HAProxy, `option httplog`. The first variable also has what syslog wrote, if anything.
const HAPROXY: &str = r#"$process_and_client [$accept_date] $frontend $backend/$server $timers $status $bytes_read $cookies_to_captured_headers "$request""#;

/// Squid, the format `squid`. The second field is padded with blanks, so the first variable extends to the slash in `TCP_MISS/200`.
const SQUID: &str = "$time_elapsed_client_and_code/$status $bytes $method $url $user $hierarchy_and_type";

/// Envoy, the default format string.
const ENVOY: &str = r#"[$start_time] "$request" $response_code"#;

/// The pattern of a known log.
pub(super) fn pattern(format: Format) -> Option<Pattern> {
    let (text, escapes) = match format {
        Format::S3 => (S3, Escapes::None),
        Format::Elb => (ELB, Escapes::Backslash),
        Format::Haproxy => (HAPROXY, Escapes::Hash),
        Format::Squid => (SQUID, Escapes::None),
        Format::Envoy => (ENVOY, Escapes::None),
        _ => return None,
    };
    let pattern = Pattern::parse(text).expect("presets are well-formed");
    Some(Pattern { escapes, is_open: true, may_lack_quotes: format == Format::S3, ..pattern })
}

/// A format, and a test whether a line looks like its records.
type Sign = (Format, fn(&[u8]) -> bool);

/// How the lines of logs look that are detected by this module.
pub(in super::super) const SIGNS: [Sign; 6] = [
    (Format::S3, is_s3),
    (Format::Elb, is_elb),
    (Format::Haproxy, is_haproxy),
    (Format::Squid, is_squid),
    (Format::Envoy, is_envoy),
    (Format::Iis, is_iis),
];

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

/// Whether the pattern of a format fits a line. The request may be damaged or cut off.
fn fits(format: Format, line: &[u8]) -> bool {
    let is_foreign = |bad: BadRecord| bad.cause == BadCause::NotARecord;
    !Reader::new(format).fields(line).any(|field| field.is_err_and(is_foreign))
}

/// What follows the first ` [` of a line.
fn bracketed(line: &[u8]) -> &[u8] {
    memchr::memmem::find(line, b" [").map_or(&[], |at| &line[at + 2..])
}

fn words(line: &[u8]) -> Vec<&[u8]> {
    line.split(|&byte| byte == b' ').collect()
}

/// Whether a word is a number, perhaps with a sign and a point.
fn is_number(word: &[u8]) -> bool {
    let digits = word.strip_prefix(b"-").unwrap_or(word);
    digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
}

fn is_s3(line: &[u8]) -> bool {
    let operations = [&b"REST."[..], b"WEBSITE.", b"BATCH.", b"SOAP.", b"S3."];
    begins_like(bracketed(line), b"00/Aaa/0000:00:00:00 ?0000] ")
        && words(line).get(7).is_some_and(|word| operations.iter().any(|name| word.starts_with(name)))
        && fits(Format::S3, line)
}

fn is_elb(line: &[u8]) -> bool {
    let words = words(line);
    let times = words.get(4..7).unwrap_or_default();
    begins_like(line, b"0000-00-00T00:00:00.")
        && words[0].ends_with(b"Z")
        && times.len() == 3
        && times.iter().all(|word| is_number(word))
        && fits(Format::Elb, line)
}

fn is_haproxy(line: &[u8]) -> bool {
    begins_like(bracketed(line), b"00/Aaa/0000:00:00:00.000] ") && fits(Format::Haproxy, line)
}

fn is_squid(line: &[u8]) -> bool {
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
        && fits(Format::Squid, line)
}

fn is_envoy(line: &[u8]) -> bool {
    begins_like(line, b"[0000-00-00T00:00:00.") && fits(Format::Envoy, line)
}

fn is_iis(line: &[u8]) -> bool {
    let words = words(line);
    begins_like(line, b"0000-00-00 00:00:00 ")
        && words.len() == 15
        && words[3].iter().all(u8::is_ascii_uppercase)
        && (words[4].starts_with(b"/") || matches!(words[4], b"*" | b"-"))
        && is_number(words[6])
        && words[11..].iter().all(|word| is_number(word))
}
