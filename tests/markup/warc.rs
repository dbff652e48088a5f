//! Links of pages in web archives.

use urlsift::internal::{MAX_RECORD_LEN, Reader};
use urlsift::run::{Format, Skip};

use super::{check, check_long, describe};

/// A record of this type, of this URL, whose body begins with `head`.
fn record(kind: &str, head: &str, body: &str) -> String {
    let http = format!("{}\r\n\r\n{body}", head.replace('\n', "\r\n"));
    let len = http.len();
    format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/\r\nContent-Length: {len}\r\n\r\n{http}\r\n\r\n"
    )
}

const PAGE: &str = "HTTP/1.1 200 OK\ncontent-type: Text/HTML; charset=utf-8";

#[test]
fn links_of_responses() {
    let page = record("response", PAGE, "<a href=b?c&amp;d><!-- --><img src='e'>");
    let xhtml = record(
        "response",
        "HTTP/1.1 200\nContent-Type:application/xhtml+xml",
        "<?xml version='1.0'?><a href='f'/>",
    );
    let others = [
        record("request", "GET / HTTP/1.1\nContent-Type: text/html", "<a href=no>"),
        record("response", "HTTP/1.1 200\nContent-Type: text/plain", "<a href=no>"),
        record("response", "HTTP/1.1 200", "<a href=no>"),
        record("response", "HTTP/1.1 200\nContent-Type: text/html; a\nX", "<a href='no"),
        record("response", &format!("{PAGE}\nContent-Encoding: gzip"), "<a href=no>"),
        record("response", &format!("{PAGE}\nTransfer-Encoding: chunked"), "<a href=no>"),
    ];
    let all = [&page[..], &others.concat(), &xhtml].concat();
    check(Format::Warc, "body-links", &[(&all, &["link b?c&d", "embed e", "link f"])]);
    check(Format::Warc, "WARC-Type,body-links", &[(&page, &["url response", "link b?c&d", "embed e"])]);
    check(Format::Warc, "", &[(&page, &["url http://a/"])]);
    let reader = Reader::with_fields(Format::Warc, &["body-links".parse().unwrap()]).unwrap();
    let (_, counts) = describe(reader.clone(), all.as_bytes());
    assert_eq!((counts.read(), counts.skipped(Skip::NoField), counts.skipped(Skip::Encoded)), (2, 4, 2));
    let cut = &page[..page.len() - 20];
    check(Format::Warc, "body-links", &[(cut, &[&format!("!cut-off@0+{}", cut.len())])]);
}

#[test]
fn pages_that_are_too_long_are_refused() {
    let long = record("response", PAGE, &"<a href=b>".repeat(MAX_RECORD_LEN / 10));
    let page = record("response", PAGE, "<a href=c>");
    let reader = Reader::with_fields(Format::Warc, &["body-links".parse().unwrap()]).unwrap();
    let (found, _) = describe(reader.clone(), [&long[..], &page].concat().as_bytes());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("!too-long@0+") && found[1] == "link c", "{found:?}");
    check_long(&reader, &[([&long[..], &page].concat().into_bytes(), &[&found[0], "link c"])]);

    // A film is no page, however long it is.
    let film = long.replacen("WARC-Type", "WARC-Identified-Payload-Type: video/mp4\r\nWARC-Type", 1);
    let fields = ["WARC-Target-URI", "body-links"].map(|field| field.parse().unwrap());
    let reader = Reader::with_fields(Format::Warc, &fields).unwrap();
    let expected: &[&str] = &["url http://a/", "url http://a/", "link c"];
    check_long(&reader, &[([&film[..], &page].concat().into_bytes(), expected)]);
}
