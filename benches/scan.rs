//! Compares the scan with `memchr` finding the lines: in memory on one core, and of a whole file on one and two threads.
//!
//! Run it by `cargo bench -p urlsift-benches --bench scan`. In memory, it measures each kernel of the machine and the
//! optional counts. The file is in the page cache after one complete read; `benches/input.rs` describes other states of the
//! cache.

#![allow(missing_docs, reason = "criterion's macros write functions")]

use std::hint::black_box;
use std::io::{self, Write};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memchr::memchr_iter;
use urlsift::Tally;
use urlsift::internal::run::{ExecOptions, KernelId, list_inputs, scan_inputs};
use urlsift::internal::scan;
use urlsift::internal::split::{self, split_inputs};
use urlsift::tally::{DistinctOf, TopOf};

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

/// The minimum work of a program that finds the lines of a file.
fn read_and_split(path: &std::path::Path, buffer: &mut [u8]) -> usize {
    let mut file = std::fs::File::open(path).unwrap();
    let mut lines = 0;
    loop {
        match std::io::Read::read(&mut file, buffer).unwrap() {
            0 => return lines,
            len => lines += split(&buffer[..len]),
        }
    }
}

/// Scans in chunks of a mebibyte, as for files.
fn scan_chunks(kernel: KernelId, bytes: &[u8], options: &scan::Options) -> Tally {
    let (mut tally, mut scanner) = (Tally::default(), scan::Scanner::new(kernel));
    let mut rest = bytes;
    while !rest.is_empty() {
        let some = &rest[..rest.len().min(1 << 20)];
        let end = if some.len() == rest.len() { None } else { memchr::memrchr(b'\n', some) };
        let (chunk, behind) = rest.split_at(end.map_or(rest.len(), |lf| lf + 1));
        let place = urlsift::internal::scan::Place { input: 0, offset: (bytes.len() - rest.len()) as u64 };
        scan::scan_into(&mut tally, &mut scanner, chunk, place, options);
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
            let found = scan_chunks(kernel, &bytes, &scan::Options::default());
            assert!(found == expected, "the answer comes first: {name} {kernel}");
        }
        let mut group = c.benchmark_group(format!("scan/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("memchr split", |b| b.iter(|| split(black_box(&bytes))));
        for kernel in KernelId::available() {
            group.bench_function(kernel.name(), |b| {
                b.iter(|| scan_chunks(kernel, black_box(&bytes), &scan::Options::default()));
            });
        }
        group.finish();
    }
}

/// Measures the optional counts with the default kernel, in lines per second.
fn on_demand(c: &mut Criterion) {
    let of = |change: fn(&mut scan::Options)| {
        let mut options = scan::Options::default();
        change(&mut options);
        options
    };
    let demands = [
        ("plain", of(|_| ())),
        ("lengths", of(|options| options.lengths = true)),
        ("top ports", of(|options| _ = options.top.insert(TopOf::Ports, 10))),
        ("top tlds", of(|options| _ = options.top.insert(TopOf::Tlds, 10))),
        ("top hosts", of(|options| _ = options.top.insert(TopOf::Hosts, 10))),
        ("top domains", of(|options| _ = options.top.insert(TopOf::Domains, 10))),
        ("distinct hosts", of(|options| _ = options.distinct.insert(DistinctOf::Hosts))),
        ("distinct lines", of(|options| _ = options.distinct.insert(DistinctOf::Lines))),
    ];
    for name in ["top100.txt", "kasztp.txt"] {
        let bytes = corpora::grown(name);
        let lines = memchr_iter(b'\n', &bytes).count();
        let mut group = c.benchmark_group(format!("on demand/{name}"));
        group.throughput(Throughput::Elements(lines as u64)).sample_size(10);
        for (what, options) in &demands {
            let found = scan_chunks(KernelId::best(), &bytes, options);
            assert!(found == scan(&bytes, options), "the answer comes first: {name} {what}");
            group.bench_function(*what, |b| {
                b.iter(|| scan_chunks(KernelId::best(), black_box(&bytes), options));
            });
        }
        group.finish();
    }
}

fn file(c: &mut Criterion) {
    for name in ["top100.txt", "ldp_urls.txt"] {
        let bytes = corpora::grown(name).repeat(4);
        let mut file = tempfile::NamedTempFile::new().unwrap();
        bytes.chunks(1 << 16).for_each(|chunk| file.write_all(chunk).unwrap());
        corpora::read_ahead(file.as_file_mut());
        let inputs = list_inputs(&[file.path().to_owned()]);
        let run = |threads| {
            let mut exec = ExecOptions::default();
            exec.threads = threads;
            scan_inputs(&inputs, &scan::Options::default(), &exec).tally
        };
        assert!(
            run(1) == run(2) && run(1) == scan(&bytes, &scan::Options::default()),
            "the answer comes first"
        );
        let mut group = c.benchmark_group(format!("file/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("memchr split in memory", |b| b.iter(|| split(black_box(&bytes))));
        let mut buffer = vec![0; 1 << 20];
        group
            .bench_function("read and memchr split", |b| b.iter(|| read_and_split(file.path(), &mut buffer)));
        group.bench_function("scan -j1", |b| b.iter(|| run(1)));
        group.bench_function("scan -j2", |b| b.iter(|| run(2)));
        let split_by = |threads| {
            let mut exec = ExecOptions::default();
            exec.threads = threads;
            let (mut accepted, mut refused) = (io::sink(), io::sink());
            split_inputs(&inputs, &split::Options::default(), &exec, Some(&mut accepted), Some(&mut refused))
                .unwrap()
        };
        let found = split_by(1);
        let lines = memchr_iter(b'\n', &bytes).count() as u64;
        assert_eq!(found.accepted + found.refused + found.blank, lines, "the answer comes first");
        group.bench_function("split -j1", |b| b.iter(|| split_by(1)));
        group.bench_function("split -j2", |b| b.iter(|| split_by(2)));
        group.finish();
    }
}

criterion_group!(benches, in_memory, on_demand, file);
criterion_main!(benches);
