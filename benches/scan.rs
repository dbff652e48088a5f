//! Compares the scan by each kernel of the machine with `memchr` finding the lines, in memory and on one core.
//!
//! Run it by `cargo bench -p urlsift-benches --bench scan`. `urlsift bench` measures more threads, and
//! `scripts/measure --only files` whole commands, with optional counts too.

#![allow(missing_docs, reason = "criterion's macros write functions")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memchr::memchr_iter;
use urlsift::Tally;
use urlsift::internal::run::KernelId;
use urlsift::internal::scan;

fn split(bytes: &[u8]) -> usize {
    let mut start = 0;
    let mut lines = 0;
    for lf in memchr_iter(b'\n', bytes) {
        black_box(&bytes[start..lf]);
        start = lf + 1;
        lines += 1;
    }
    lines
}

/// Scans in chunks of a mebibyte, as for files.
fn scan_chunks(kernel: KernelId, bytes: &[u8]) -> Tally {
    let (mut tally, mut scanner) = (Tally::default(), scan::Scanner::new(kernel));
    let mut rest = bytes;
    while !rest.is_empty() {
        let some = &rest[..rest.len().min(1 << 20)];
        let end = if some.len() == rest.len() { None } else { memchr::memrchr(b'\n', some) };
        let (chunk, behind) = rest.split_at(end.map_or(rest.len(), |lf| lf + 1));
        let place = urlsift::internal::scan::Place { input: 0, offset: (bytes.len() - rest.len()) as u64 };
        scan::scan_into(&mut tally, &mut scanner, chunk, place, &scan::Options::default());
        rest = behind;
    }
    tally
}

fn in_memory(c: &mut Criterion) {
    let samples = [
        "top100.txt", "kasztp.txt", "debian_homepages.txt", "ldp_urls.txt", "node_files.txt",
        "iana_hrefs.txt", "dbpedia_iris.txt", "ebook_links.txt", "loc_seeds.crlf.txt", "trackers.txt",
    ];
    let corpora = samples.map(|name| (name, corpora::grown(name))).into_iter().chain(corpora::ugly());
    for (name, bytes) in corpora {
        let expected = scan(&bytes, &scan::Options::default());
        for kernel in KernelId::available() {
            assert!(scan_chunks(kernel, &bytes) == expected, "the answer comes first: {name} {kernel}");
        }
        let mut group = c.benchmark_group(format!("scan/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("memchr split", |b| b.iter(|| split(black_box(&bytes))));
        for kernel in KernelId::available() {
            group.bench_function(kernel.name(), |b| {
                b.iter(|| scan_chunks(kernel, black_box(&bytes)));
            });
        }
        group.finish();
    }
}

criterion_group!(benches, in_memory);
criterion_main!(benches);
