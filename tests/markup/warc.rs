//! Links of pages in web archives.

use std::io::Write;

use flate2::Compression;
use flate2::write::{DeflateEncoder, ZlibEncoder};
use urlsift::internal::run::{BadCause, Counts, Format, Skip};
use urlsift::internal::{MAX_RECORD_LEN, Reader};

use super::{by_pieces, check_long, describe, drawn, found};
use crate::reference::Rng;
use crate::samples::gzip;
use crate::support::amount;

/// A record of this type, of this URL, whose body begins with `head`.
fn record(kind: &str, head: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let http = [head.replace('\n', "\r\n").as_bytes(), b"\r\n\r\n", body.as_ref()].concat();
    let len = http.len();
    let warc = format!(
        "WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://a/\r\nContent-Length: {len}\r\n\r\n"
    );
    [warc.as_bytes(), &http, b"\r\n\r\n"].concat()
}

const PAGE: &str = "HTTP/1.1 200 OK\ncontent-type: Text/HTML; charset=utf-8";

/// A page whose head has these lines too.
fn page(headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    record("response", &format!("{PAGE}{headers}"), body)
}

/// What stands for a page that is cut off or damaged `at` its body, if it is the first record.
fn unread(cause: &str, headers: &str, body: &[u8], at: usize) -> String {
    let start = page(headers, body).len() - body.len() - 4 + at;
    format!("!{cause}@{start}+{}", if cause == "cut-off" { body.len() - at } else { 0 })
}

fn reader(fields: &str) -> Reader {
    let fields: Vec<_> = fields.split(',').map(|name| name.parse().unwrap()).collect();
    Reader::with_fields(Format::Warc, &fields).unwrap()
}

#[track_caller]
fn check(fields: &str, archive: &[u8], expected: &[&str]) -> Counts {
    assert_eq!(found(&reader(fields), archive), expected, "{}", archive.escape_ascii());
    describe(reader(fields), archive).1
}

#[test]
fn links_of_responses() {
    let plain = page("", "<a href=b?c&amp;d><!-- --><img src='e'>");
    let xhtml = record(
        "response",
        "HTTP/1.1 200\nContent-Type:application/xhtml+xml",
        "<?xml version='1.0'?><a href='f'/>",
    );
    let others = [
        record("request", "GET / HTTP/1.1\nContent-Type: text/html", "<a href=no>"),
        record("response", "HTTP/1.1 200\nContent-Type: text/plain", "<a href=no>"),
        record("response", "HTTP/1.1 200", "<a href=no>"),
        page("\nContent-Encoding: compress", "<a href=no>"),
        page("\nTransfer-Encoding: a, chunked", "0\r\n\r\n"),
        page("\nContent-Encoding: gzip,gzip,gzip\nContent-Encoding: gzip,gzip", "a"),
    ];
    let all = [&plain[..], &others.concat(), &xhtml].concat();
    let counts = check("body-links", &all, &["link b?c&d", "embed e", "link f"]);
    assert_eq!((counts.read(), counts.skipped(Skip::NoField), counts.skipped(Skip::Encoded)), (2, 3, 3));
    assert_eq!(counts.records(), 8);
    check("WARC-Type,body-links", &plain, &["url response", "link b?c&d", "embed e"]);
    check("WARC-Target-URI", &plain, &["url http://a/"]);
    // A page that is not read counts apart from its headers.
    let encoded = page("\nContent-Encoding: compress", "<a href=no>");
    let counts = check("WARC-Target-URI,body-links", &encoded, &["url http://a/"]);
    assert_eq!((counts.read(), counts.skipped(Skip::Encoded), counts.records()), (1, 1, 2));
    let long = page("\nContent-Encoding: gzip", gzip(&vec![b' '; MAX_RECORD_LEN + 1]));
    let start = |page: &[u8]| memchr::memmem::find(page, b"HTTP/").unwrap();
    let refused = format!("!too-long@{}+0", start(&long));
    check("WARC-Target-URI,body-links", &long, &["url http://a/", &refused]);
    let long = page("", vec![b' '; MAX_RECORD_LEN + 1]);
    let refused = format!("!too-long@{}+0", start(&long));
    let all = ["url http://a/", &refused, "url http://a/", "link b?c&d", "embed e"];
    check("WARC-Target-URI,body-links", &[&long[..], &plain].concat(), &all);
    let cut = &plain[..plain.len() - 20];
    check("body-links", cut, &[&format!("!cut-off@0+{}", cut.len())]);
    let refused = format!("!cut-off@{}+{}", start(cut), cut.len() - start(cut));
    check("WARC-Target-URI,body-links", cut, &["url http://a/", &refused]);
    check("WARC-Target-URI,body-links", &cut[..start(cut)], &["url http://a/"]);
}

/// The end of a page that is not whole is a record of its own. The links before it are found.
#[test]
fn pages_that_are_cut_off() {
    let next = page("", "<a href=next>\r\n\r\n");
    let ends =
        ["<a href='no", "<a", "<!-- <a href=no>", "<script><a href=no></scrip", "<!doctype", "<script>"];
    for end in ends {
        let body = format!("<a href=b>\n{end}");
        let refused = unread("cut-off", "\nX", body.as_bytes(), 11);
        let all = [page("\nX", &body), next.clone()].concat();
        let counts = check("body-links", &all, &["link b", &refused, "link next"]);
        assert_eq!((counts.read(), counts.refused(BadCause::CutOff), counts.records()), (2, 1, 3), "{end}");
        let refused = unread("cut-off", "", end.as_bytes(), 0);
        let counts = check("body-links", &page("", end), &[&refused]);
        assert_eq!((counts.skipped(Skip::NoField), counts.records()), (1, 2), "{end}");
    }
    check("body-links", &page("", "<a href=b> < a </a"), &["link b"]);
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Brotli with the bytes as they are: an uncompressed block and an empty last one (RFC 7932, section 9.2).
fn brotli(bytes: &[u8]) -> Vec<u8> {
    let head = u32::try_from(bytes.len() - 1).unwrap() << 4 | 1 << 20;
    [&head.to_le_bytes()[..3], bytes, &[3]].concat()
}

/// Chunks of these lengths, and the rest in one.
fn chunked(mut bytes: &[u8], lens: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let mut chunks = Vec::new();
    for len in lens.into_iter().chain([usize::MAX]) {
        let (chunk, rest) = bytes.split_at(len.min(bytes.len()));
        if !chunk.is_empty() {
            chunks.extend([format!("{:X}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
        }
        bytes = rest;
    }
    chunks.extend(b"0\r\nX: y\r\n\r\n");
    chunks
}

const BODY: &[u8] = b"<!doctype html>\n<a href=b?c&amp;d>\r\n<img src='e'>";

#[test]
fn bodies_are_decoded() {
    let each = |bytes: &[u8]| chunked(bytes, vec![1; bytes.len()]);
    let extended = [b"31; a=\"b\"\r\n", BODY, b"\r\n000 \r\n"].concat();
    let lf_alone = [b"31\n", BODY, b"\n0\n"].concat();
    let next = page("", "<a href=next>");
    for (headers, body) in [
        ("Transfer-Encoding: chunked", chunked(BODY, [])),
        ("transfer-encoding: Chunked", each(BODY)),
        ("Transfer-Encoding: chunked", extended),
        ("Transfer-Encoding: chunked", lf_alone),
        ("Content-Encoding: gzip", gzip(BODY)),
        ("Content-Encoding: x-gzip, identity", [gzip(&BODY[..30]), gzip(&BODY[30..])].concat()),
        ("Content-Encoding: gzip", [gzip(BODY), b"\0\0what follows".to_vec()].concat()),
        ("Content-Encoding: deflate", zlib(BODY)),
        ("Content-Encoding: deflate", deflate(BODY)),
        ("Content-Encoding: zstd", zstd::encode_all(BODY, 3).unwrap()),
        ("Content-Encoding: br", brotli(BODY)),
        ("Content-Encoding: gzip\nTransfer-Encoding: chunked", chunked(&gzip(BODY), [7, 20])),
        ("Transfer-Encoding: gzip, chunked", chunked(&gzip(BODY), [])),
        ("Content-Encoding: deflate, gzip", gzip(&zlib(BODY))),
        ("Content-Encoding: deflate\nContent-Encoding: br", brotli(&deflate(BODY))),
        // Archives may keep the headers of a body that they have decoded.
        ("Transfer-Encoding: chunked", BODY.to_vec()),
        ("Content-Encoding: gzip\nTransfer-Encoding: chunked", gzip(BODY)),
        ("Transfer-Encoding: chunked", b"3\n<a href=b?c&amp;d><img src=e>".to_vec()),
        ("Content-Encoding: gzip", BODY.to_vec()),
        ("Content-Encoding: deflate", BODY.to_vec()),
        ("Content-Encoding: br", [b"\xef\xbb\xbf", BODY].concat()),
        ("Content-Encoding: zstd", [b" \n", BODY].concat()),
    ] {
        let first = page(&format!("\n{headers}"), &body);
        let all = [&first[..], &next].concat();
        let counts = check("body-links", &all, &["link b?c&d", "embed e", "link next"]);
        assert_eq!((counts.read(), counts.records()), (2, 2), "{headers}");
        let mut reader = reader("body-links");
        let fields: Vec<_> = reader.fields(&all).flatten().collect();
        let start = (first.len() - 4 - body.len()) as u64;
        let place = |text: &[u8]| start + memchr::memmem::find(&body, text).unwrap_or(0) as u64;
        let is_plain = [&b"<"[..], b"3\n<", b" ", b"\xef"].iter().any(|start| body.starts_with(start));
        if is_plain {
            assert_eq!(fields[0].offset, place(b"b?c"), "{headers}");
        } else {
            assert_eq!((fields[0].offset, fields[1].offset), (start, start), "{headers}");
        }
        assert!(fields[2].offset > first.len() as u64);
    }
}

#[test]
fn bodies_that_are_cut_off_or_damaged() {
    let packed = gzip(BODY);
    let mut spoiled = packed.clone();
    *spoiled.last_mut().unwrap() ^= 1;
    let links: &[&str] = &["link b?c&d", "embed e"];
    let next = page("", "<a href=next>");
    for (headers, body, cause, links) in [
        ("Content-Encoding: gzip", packed[..packed.len() - 1].to_vec(), "cut-off", links),
        ("Content-Encoding: gzip", packed[..12].to_vec(), "cut-off", &[]),
        ("Content-Encoding: gzip", spoiled, "bad-encoding", links),
        ("Content-Encoding: gzip", b"what is this".to_vec(), "bad-encoding", &[]),
        ("Content-Encoding: deflate", zlib(BODY)[..zlib(BODY).len() - 4].to_vec(), "cut-off", links),
        ("Content-Encoding: br", brotli(BODY)[..20].to_vec(), "bad-encoding", &[]),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY].concat(), "cut-off", links),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r"].concat(), "cut-off", links),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r\n"].concat(), "cut-off", links),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r\n0"].concat(), "cut-off", links),
        ("Transfer-Encoding: chunked", [b"fff\r\n", BODY].concat(), "cut-off", links),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r\n0x\r\n"].concat(), "bad-encoding", links),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r\n<b>\r\n"].concat(), "bad-encoding", links),
        (
            "Transfer-Encoding: chunked",
            [b"31\r\n", BODY, b"\r\n1ffffffffffffffff\r\n"].concat(),
            "bad-encoding",
            links,
        ),
        ("Transfer-Encoding: chunked", [b"31\r\n", BODY, b"\r\n1\r\nab\r\n"].concat(), "bad-encoding", links),
        (
            "Content-Encoding: gzip\nTransfer-Encoding: chunked",
            chunked(&packed, [])[..50].to_vec(),
            "cut-off",
            &[],
        ),
        ("Content-Encoding: gzip", gzip(&[BODY, b"<a href='no"].concat()), "cut-off", links),
    ] {
        let headers = format!("\n{headers}");
        let refused = unread(cause, &headers, &body, 0);
        let expected = [links, &[&refused, "link next"]].concat();
        let all = [page(&headers, &body), next.clone()].concat();
        let found = found(&reader("body-links"), &all);
        // How much is decoded before damage is up to the library.
        let is_short = links.is_empty() && found.len() > expected.len();
        let end = found.len() - if is_short { 2 } else { expected.len() };
        assert_eq!(found[end..], expected, "{headers} {}", body.escape_ascii());
        let counts = describe(reader("body-links"), &all).1;
        assert_eq!(counts.records(), 3);
    }
    for headers in ["Content-Encoding: gzip", "Content-Encoding: br", "Transfer-Encoding: chunked"] {
        let counts = check("body-links", &page(&format!("\n{headers}"), ""), &[]);
        assert_eq!((counts.skipped(Skip::NoField), counts.records()), (1, 1));
    }
}

/// A small body can become a large page.
#[test]
fn pages_that_are_too_long_when_decoded_are_refused() {
    let fits = [b"<a href=b>".to_vec(), vec![b' '; MAX_RECORD_LEN - 10]].concat();
    let too_long = [b"<a href=b>".to_vec(), vec![b' '; MAX_RECORD_LEN - 9]].concat();
    let next = page("", "<a href=next>");
    for (name, pack) in [
        ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
        ("deflate", zlib),
        ("zstd", |bytes| zstd::encode_all(bytes, 1).unwrap()),
        ("gzip,gzip", |bytes| gzip(&gzip(bytes))),
    ] {
        let headers = format!("\nContent-Encoding: {name}");
        let all = [page(&headers, pack(&fits)), next.clone()].concat();
        assert_eq!(describe(reader("body-links"), &all).0, ["link b", "link next"], "{name}");
        let body = pack(&too_long);
        let start = page(&headers, &body).len() - 4 - body.len();
        let all = [page(&headers, &body), next.clone()].concat();
        let refused = format!("!too-long@0+{start}");
        assert_eq!(describe(reader("body-links"), &all).0, [&refused, "link next"], "{name}");
    }
}

/// Browsers take a page in UTF-16 for one if it begins with a byte order mark, and never because its `meta` says so.
#[test]
fn pages_in_utf_16() {
    let text = "<meta charset=utf-16><a href='/\u{e9}\u{1f600}?a&amp;b'>";
    let expected = "link /\\xc3\\xa9\\xf0\\x9f\\x98\\x80?a&b";
    check("body-links", &page("", text), &[expected]);
    for to_bytes in [u16::to_le_bytes, u16::to_be_bytes] {
        let bytes: Vec<u8> =
            "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect();
        check("body-links", &page("", &bytes), &[expected]);
        check("body-links", &page("\nContent-Encoding: gzip", gzip(&bytes)), &[expected]);
        let cut = &bytes[..bytes.len() - 2];
        check("body-links", &page("", cut), &[&unread("cut-off", "", cut, 0)]);
    }
    // Other encodings stay as they are.
    check(
        "body-links",
        &page("", b"<meta charset=windows-1251><a href='/\xe4?\xff'>"),
        &["link /\\xe4?\\xff"],
    );
}

#[test]
fn drawn_bodies_give_the_links_of_the_plain_page() {
    let tokens = [
        "<a href=", "<a href='", "'>", ">", "b", "&amp;", "<img src=c>", "<!--", "-->", "\r\n", "0",
        "\u{e9}", "<script>", "</script>",
    ];
    let mut random = Rng::new(54);
    let mut n = 0;
    for _ in 0..amount(300, 3_000) {
        let text = drawn(&mut random, &tokens, 20);
        let plain = describe(reader("body-links"), &page("", &text)).0;
        let (mut body, mut content, mut transfer) = (text.into_bytes(), Vec::new(), "");
        for _ in 0..random.below(3) {
            let (name, pack) = [
                ("gzip", gzip as fn(&[u8]) -> Vec<u8>),
                ("deflate", zlib),
                ("deflate", deflate),
                ("zstd", |bytes| zstd::encode_all(bytes, 1).unwrap()),
            ][random.below(4)];
            body = pack(&body);
            content.push(name);
        }
        if random.below(2) == 0 {
            let lens: Vec<_> = (0..random.below(4)).map(|_| random.below(40)).collect();
            (body, transfer) = (chunked(&body, lens), "chunked");
        }
        let headers = format!("\nContent-Encoding: {}\nTransfer-Encoding: {transfer}", content.join(", "));
        let found = found(&reader("body-links"), &page(&headers, &body));
        let without_place = |fields: &[String]| {
            let cause = |field: &String| field.split('@').next().unwrap().to_owned();
            fields.iter().map(cause).collect::<Vec<_>>()
        };
        assert_eq!(without_place(&found), without_place(&plain), "{headers} {}", body.escape_ascii());
        n += usize::from(found.len() > 1);
    }
    assert!(n > 50, "{n}");
}

/// Damage gives a refused record and never a failure, and all records are counted.
#[test]
fn spoiled_bodies_are_counted() {
    let bodies = [
        ("gzip", "", gzip(BODY)),
        ("deflate", "", deflate(BODY)),
        ("br", "", brotli(BODY)),
        ("zstd", "", zstd::encode_all(BODY, 1).unwrap()),
        ("gzip", "chunked", chunked(&gzip(BODY), [5, 6])),
        ("", "chunked", chunked(BODY, [5, 6])),
    ];
    let next = page("", "<a href=next>");
    let mut random = Rng::new(55);
    for _ in 0..amount(500, 8_000) {
        let (content, transfer, body) = &bodies[random.below(bodies.len())];
        let mut body = body.clone();
        let at = random.below(body.len());
        match random.below(3) {
            0 => body[at] ^= 1 << random.below(8),
            1 => body.truncate(at),
            _ => _ = body.remove(at),
        }
        let headers = format!("\nContent-Encoding: {content}\nTransfer-Encoding: {transfer}");
        let all = [page(&headers, &body), next.clone()].concat();
        let (found, counts) = describe(reader("body-links"), &all);
        assert_eq!(
            found.last().map(|field| &**field),
            Some("link next"),
            "{headers} {}",
            body.escape_ascii()
        );
        let refused = found.iter().filter(|field| field.starts_with('!')).count() as u64;
        assert_eq!(counts.records(), counts.read() + counts.skipped(Skip::NoField) + refused);
        assert_eq!(counts.read() + counts.skipped(Skip::NoField), 2 - counts.refused(BadCause::TooLong));
    }
}

#[test]
fn pages_that_are_too_long_are_refused() {
    let long = page("", "<a href=b>".repeat(MAX_RECORD_LEN / 10));
    let next = page("", "<a href=c>");
    let reader = reader("body-links");
    let (found, _) = describe(reader.clone(), &[&long[..], &next].concat());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("!too-long@0+") && found[1] == "link c", "{found:?}");
    check_long(&reader, &[([&long[..], &next].concat(), &[&found[0], "link c"])]);

    // A film is no page, however long it is. Its archive may say so, or its server.
    let replaced = |from: &str, to: &str| {
        let at = memchr::memmem::find(&long, from.as_bytes()).unwrap();
        [&long[..at], to.as_bytes(), &long[at + from.len()..]].concat()
    };
    let fields = ["WARC-Target-URI", "body-links"].map(|field| field.parse().unwrap());
    let reader = Reader::with_fields(Format::Warc, &fields).unwrap();
    let expected: &[&str] = &["url http://a/", "url http://a/", "link c"];
    for film in [
        replaced("WARC-Type", "WARC-Identified-Payload-Type: video/mp4\r\nWARC-Type"),
        replaced("Text/HTML; charset=utf-8", "video/mp4; film of len 8"),
        replaced("content-type: Text/HTML; charset=utf-8", "and its server does not say what it is"),
    ] {
        let all = [&film[..], &next].concat();
        let whole = describe(reader.clone(), &all);
        for at in [10, 100, 150, 200, 250, 300, 70_000] {
            assert_eq!(by_pieces(&reader, &all, [at]), whole, "cut at {at}");
        }
        check_long(&reader, &[(all, expected)]);
    }
    // What its server says must be at its beginning.
    let late = format!("HTTP/1.1 200 OK\n{}\ncontent-type: video/mp4", "X: y\n".repeat(20_000));
    let late = record("response", &late, vec![b' '; MAX_RECORD_LEN]);
    let all = [&late[..], &next].concat();
    let whole = describe(reader.clone(), &all);
    assert!(whole.0.len() == 4 && whole.0[1].starts_with("!too-long@86+"), "{:?}", whole.0);
    for at in [10, 86, 100, 70_000] {
        assert_eq!(by_pieces(&reader, &all, [at]), whole, "cut at {at}");
    }
    check_long(&reader, &[(all, &["url http://a/", &whole.0[1], "url http://a/", "link c"])]);
}
