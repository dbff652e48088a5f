//! Compares the extraction of URLs from running text with linkify, a regular expression, and `memmem` for "://", on the same
//! bytes.
//!
//! Run it by `cargo bench -p urlsift-benches --bench text`. It works in memory on one core, on 256 MB of each kind of text. Time is
//! the thread's processor time. `URLSIFT_TEXTS=FILE:FILE` measures files of your own instead, repeated up to that size.
//!
//! linkify and the expression look for "://" alone. urlsift also finds `www.` and schemes without "//".

#![allow(missing_docs, reason = "criterion's macros write functions")]

#[path = "in_memory.rs"]
mod in_memory;

use std::fmt::Write;
use std::fs;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use in_memory::{ThreadTime, cut};
use linkify::{LinkFinder, LinkKind};
use memchr::memmem;
use regex::bytes::Regex;
use urlsift::internal::Reader;
use urlsift::internal::run::Format;

const LEN: usize = 256 << 20;

fn read(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path);
    String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned()
}

/// Paragraphs of this project's documents, without those that contain URLs or tables.
fn paragraphs() -> Vec<String> {
    let pages = [
        "README.md", "ARCHITECTURE.md", "docs/formats.md", "docs/performance.md", "tests/conformance/SPEC.md",
    ];
    let text = pages.map(read).join("\n\n");
    let is_prose = |text: &&str| {
        !text.is_empty() && !text.contains("://") && !text.contains("www.") && !text.contains('|')
    };
    text.split("\n\n").filter(is_prose).map(str::to_owned).collect()
}

/// Texts of each kind. The URLs are those of a web list.
fn texts() -> Vec<(String, String)> {
    let paragraphs = paragraphs();
    let list = String::from_utf8_lossy(&corpora::sample("top100.txt")).into_owned();
    let parts = paragraphs.iter().cycle().zip(list.lines().cycle()).take(20_000);
    let (mut html, mut mail) = (String::new(), String::new());
    for (n, (paragraph, url)) in parts.enumerate() {
        write!(html, "<li class=\"entry\" id=\"n{n}\"><a class=\"title\" href=\"{url}\" rel=\"nofollow\">Entry {n}</a>\n<div style=\"margin: 0 1em\"><p>{paragraph}</p><a href=\"/items/{n}/comments\">comments</a></div></li>\n").unwrap();
        if n % 4 == 0 {
            write!(mail, "From reader@example.org Thu Jan  1 00:00:{:02} 2026\nReceived: from mail.example.org (mail.example.org [192.0.2.7])\n\tby lists.example.org with ESMTP id {n:08}; Thu, 1 Jan 2026 00:00:00 +0000\nMessage-ID: <{n}.12345@example.org>\nSubject: Re: entry {n}\nContent-Type: text/plain; charset=utf-8\n\n> see <{url}>\n\n", n % 60).unwrap();
        }
        write!(mail, "{paragraph}\n\n").unwrap();
    }
    let named = |name: &str, text: String| (name.to_owned(), text);
    vec![
        named("HTML", html),
        named("access log", read("tests/records/apache_sample.log")),
        named("mail", mail),
        named("prose without URLs", paragraphs.join("\n\n")),
    ]
}

fn own_texts(paths: &str) -> Vec<(String, String)> {
    let text = |path: &str| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    paths.split(':').map(|path| (path.to_owned(), text(path))).collect()
}

fn urlsift(text: &[u8]) -> usize {
    Reader::new(Format::Text).fields(text).flatten().map(black_box).count()
}

fn bench(c: &mut Criterion<ThreadTime>) {
    let expression = Regex::new(r#"(?-u)[A-Za-z][A-Za-z0-9+.-]*://[^\x00-\x20\x7f"<>\\`|]+"#).unwrap();
    let mut linkify = LinkFinder::new();
    linkify.kinds(&[LinkKind::Url]);
    let texts = std::env::var("URLSIFT_TEXTS").map_or_else(|_| texts(), |paths| own_texts(&paths));
    for (name, text) in texts {
        let text = text.repeat(LEN / text.len() + 1);
        let bytes = text.as_bytes();
        let found = [urlsift(bytes), linkify.links(&text).count(), expression.find_iter(bytes).count()];
        println!(
            "{name}: urlsift finds {} URLs, linkify {}, the expression {}",
            found[0], found[1], found[2]
        );
        // They end some URLs at other bytes, and find other ones near them.
        assert!(found[0] >= found[2] * 99 / 100, "urlsift misses URLs");
        let mut group = c.benchmark_group(format!("text/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("urlsift", |b| b.iter(|| urlsift(black_box(bytes))));
        group.bench_function("cut", |b| b.iter(|| cut(Reader::new(Format::Text), black_box(bytes))));
        group.bench_function("linkify", |b| b.iter(|| linkify.links(black_box(&text)).count()));
        group.bench_function("expression", |b| b.iter(|| expression.find_iter(black_box(bytes)).count()));
        group.bench_function("memmem", |b| b.iter(|| memmem::find_iter(black_box(bytes), b"://").count()));
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().with_measurement(ThreadTime);
    targets = bench
}
criterion_main!(benches);
