//! Compares the extraction of fields from records with `memchr` finding the lines, and with other readers, on the same
//! bytes.
//!
//! Run it by `cargo bench -p urlsift-benches --bench records`. It works in memory on one core. Time is the thread's
//! processor time, so that other work on the machine matters little. Throughput counts bytes of records. The records
//! contain the URLs of a web list, in each format's usual shape; the logs are real.

#![allow(missing_docs, reason = "criterion's macros write functions")]

#[path = "in_memory.rs"]
mod in_memory;

use std::hint::black_box;
use std::io::Write;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use in_memory::{ThreadTime, cut};
use memchr::memchr_iter;
use urlsift::internal::Reader;
use urlsift::internal::run::Format;

const CLOUDFRONT: &str = "#Version: 1.0\n#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) cs-uri-query cs(Cookie) x-edge-result-type x-edge-request-id\n";

const LEN: usize = 32 << 20;

/// Repeats records with all URLs of the list until there are enough.
fn records(header: &str, record: impl Fn(&mut Vec<u8>, &str)) -> Vec<u8> {
    let urls =
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora/samples/top100.txt")).unwrap();
    let urls = String::from_utf8_lossy(&urls);
    let urls = urls.lines().filter(|url| url.is_ascii() && !url.contains(['"', '\\', ',']));
    let mut out = header.as_bytes().to_vec();
    for url in urls.cycle() {
        record(&mut out, url);
        if out.len() > LEN {
            return out;
        }
    }
    out
}

fn sample(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/records").join(name);
    let bytes = std::fs::read(path).unwrap();
    bytes.repeat(LEN / bytes.len() + 1)
}

fn corpora() -> Vec<(&'static str, Format, Vec<u8>)> {
    let cdxj = |out: &mut Vec<u8>, url: &str| {
        let rest = r#""mime": "text/html", "mime-detected": "text/html", "status": "200", "digest": "OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB", "length": "22580", "offset": "334123456", "filename": "crawl-data/CC-MAIN-2026-10/segments/1700000000000.00/warc/CC-MAIN-20260101000000-20260101030000-00000.warc.gz", "charset": "UTF-8", "languages": "eng""#;
        out.extend(
            format!("org,example)/some/page/of/the/site 20260101000000 {{\"url\": \"{url}\", {rest}}}\n")
                .bytes(),
        );
    };
    let jsonl = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("{{\"id\":123456,\"date\":\"2026-01-01T00:00:00Z\",\"tags\":[\"a\",\"b\"],\"meta\":{{\"depth\":3,\"url\":\"no\"}},\"title\":\"A \\\"page\\\" of a site\",\"url\":\"{url}\",\"status\":200}}\n").bytes());
    };
    let csv = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("123456,2026-01-01 00:00:00,{url},online,malware\n").bytes());
    };
    let seldom_quoted = |out: &mut Vec<u8>, url: &str| {
        let quote = if url.len() == 60 { "\"" } else { "" };
        out.extend(format!("123456,2026-01-01 00:00:00,{quote}{url}{quote},online,malware\n").bytes());
    };
    let quoted = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("\"123456\",\"2026-01-01 00:00:00\",\"{url}\",\"online\",\"malware, or not\",\"a \"\"tag\"\"\"\r\n").bytes());
    };
    let warc = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("WARC/1.0\r\nWARC-Type: conversion\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:e9a0cecc-0221-11e7-adb1-0242ac120008>\r\nContent-Type: text/plain\r\nContent-Length: 2000\r\n\r\n").bytes());
        out.extend("some words of a page, with a line end now and then\n".bytes().cycle().take(2000));
        out.extend(b"\r\n\r\n");
    };
    let cdx = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("org,example)/some/page 20260101000000 {url} text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB - - 2258 334 a.warc.gz\n").bytes());
    };
    let cloudfront = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("2026-01-01\t21:02:31\tLAX1\t392\t192.0.2.100\tGET\td111111abcdef8.cloudfront.net\t/index.html\t200\t{url}\tMozilla/5.0%20(Windows%20NT%2010.0;%20Win64)\ta=b&c=d\t-\tHit\tSOX4xwn4XV6Q4rgb7XiVGOHms_BGlTAC4KyHmureZmBNrjGdRLiNIQ==\n").bytes());
    };
    let array = |out: &mut Vec<u8>, url: &str| {
        let separator = if out.len() > 2 { "," } else { "" };
        out.extend(format!("{separator}\n  {{\n    \"id\": 123456,\n    \"url\": \"{url}\",\n    \"tags\": [\"a\", \"b\"],\n    \"status\": 200\n  }}").bytes());
    };
    let caddy = |out: &mut Vec<u8>, url: &str| {
        out.extend(format!("{{\"level\":\"info\",\"ts\":1767225600.1,\"logger\":\"http.log.access\",\"msg\":\"handled request\",\"request\":{{\"remote_ip\":\"192.0.2.7\",\"proto\":\"HTTP/2.0\",\"method\":\"GET\",\"host\":\"example.org\",\"uri\":\"/a/page?id=12345\",\"headers\":{{\"User-Agent\":[\"Mozilla/5.0\"],\"Referer\":[\"{url}\"]}}}},\"status\":200}}\n").bytes());
    };
    let sitemap = |out: &mut Vec<u8>, url: &str| {
        let url = url.replace('&', "&amp;");
        out.extend(format!("<url><loc>{url}</loc><lastmod>2026-01-01</lastmod></url>\n").bytes());
    };
    let html = |out: &mut Vec<u8>, url: &str| {
        let url = url.replace('&', "&amp;");
        out.extend(format!("<li class=\"entry\"><a class=\"title\" href=\"{url}\" rel=\"nofollow\">An entry of the list</a>\n<p>Some words about the entry, with an <em>emphasis</em> or two, as pages have them between their links.</p></li>\n").bytes());
    };
    let pages = |encoding: &str, pack: fn(&[u8]) -> Vec<u8>| {
        let page = records("<!doctype html>\n", html);
        let page = pack(&page[..64 << 10]);
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n");
        let len = head.len() + page.len();
        let warc = format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/b\r\nContent-Length: {len}\r\n\r\n{head}"
        );
        let record = [warc.as_bytes(), &page, b"\r\n\r\n"].concat();
        record.repeat(LEN / (64 << 10))
    };
    vec![
        ("cdxj", Format::Cdxj, records("", cdxj)),
        ("cdx", Format::Cdx, records(" CDX N b a m s k r M S V g\n", cdx)),
        ("combined log", Format::Clf, sample("apache_sample.log")),
        ("combined log with escapes", Format::Clf, sample("nginx.log")),
        ("cloudfront", Format::W3c, records(CLOUDFRONT, cloudfront)),
        ("jsonl", Format::JsonLines, records("", jsonl)),
        ("csv", Format::Csv, records("id,date,url,status,threat\n", csv)),
        ("csv, seldom quoted", Format::Csv, records("id,date,url,status,threat\n", seldom_quoted)),
        ("csv, all quoted", Format::Csv, records("id,date,url,status,threat,tags\r\n", quoted)),
        ("wet", Format::Warc, records("", warc)),
        ("wat", Format::Wat, sample("crawl.wat")),
        ("alb", Format::Alb, sample("alb.log")),
        ("s3", Format::S3, sample("s3.log")),
        ("elb", Format::Elb, sample("elb.log")),
        ("haproxy", Format::Haproxy, sample("haproxy.log")),
        ("squid", Format::Squid, sample("squid.log")),
        ("envoy", Format::Envoy, sample("envoy.log")),
        ("zeek", Format::Zeek, sample("zeek.log")),
        ("json", Format::Json, records("[", array)),
        ("jsonl, a log of Caddy", Format::JsonLines, records("", caddy)),
        ("xml", Format::Xml, records("<urlset>\n", sitemap)),
        ("html", Format::Html, records("<!doctype html>\n", html)),
        ("warc, links of pages", Format::Warc, pages("identity", <[u8]>::to_vec)),
        ("warc, links of pages in gzip", Format::Warc, pages("gzip", gzip)),
    ]
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn reader(name: &str, format: Format) -> Reader {
    let fields: &[_] = if name.contains("links") { &["body-links".parse().unwrap()] } else { &[] };
    Reader::with_fields(format, fields).unwrap()
}

fn fields(mut reader: Reader, bytes: &[u8]) -> (usize, usize) {
    let fields = reader.fields(bytes).flatten();
    fields.fold((0, 0), |(n, len), field| (n + 1, len + black_box(&*field.bytes).len()))
}

fn csv_crate(bytes: &[u8]) -> (usize, usize) {
    let mut reader = csv::Reader::from_reader(bytes);
    let column = reader.byte_headers().unwrap().iter().position(|name| name == b"url").unwrap();
    let (mut record, mut n, mut len) = (csv::ByteRecord::new(), 0, 0);
    while reader.read_byte_record(&mut record).unwrap() {
        (n, len) = (n + 1, len + black_box(&record[column]).len());
    }
    (n, len)
}

fn serde_json(format: Format, bytes: &[u8]) -> (usize, usize) {
    #[derive(serde::Deserialize)]
    struct Record<'a> {
        url: &'a str,
    }
    let (mut start, mut n, mut len) = (0, 0, 0);
    for lf in memchr_iter(b'\n', bytes) {
        let line = &bytes[start..lf];
        let from = if format == Format::Cdxj { memchr::memchr(b'{', line).unwrap() } else { 0 };
        let record: Record<'_> = serde_json::from_slice(&line[from..]).unwrap();
        (n, len) = (n + 1, len + black_box(record.url).len());
        start = lf + 1;
    }
    (n, len)
}

fn bench(c: &mut Criterion<ThreadTime>) {
    for (name, format, bytes) in corpora() {
        let reader = reader(name, format);
        let expected = fields(reader.clone(), &bytes);
        let mut group = c.benchmark_group(format!("records/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("memchr lines", |b| b.iter(|| memchr_iter(b'\n', black_box(&bytes)).count()));
        group.bench_function("cut", |b| b.iter(|| cut(reader.clone(), black_box(&bytes))));
        group.bench_function("fields", |b| b.iter(|| fields(reader.clone(), black_box(&bytes))));
        match format {
            Format::Csv => {
                assert_eq!(csv_crate(&bytes), expected, "the answer comes first");
                group.bench_function("csv crate", |b| b.iter(|| csv_crate(black_box(&bytes))));
            }
            Format::Cdxj | Format::JsonLines if name != "jsonl, a log of Caddy" => {
                assert_eq!(serde_json(format, &bytes), expected, "the answer comes first");
                group.bench_function("serde_json", |b| b.iter(|| serde_json(format, black_box(&bytes))));
            }
            _ => assert!(expected.0 > 1000),
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadTime);
    targets = bench
}
criterion_main!(benches);
