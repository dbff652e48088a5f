//! Compares the scan of compressed files with the decoder alone, on one and two threads.
//!
//! Run it by `cargo bench -p urlsift-benches --bench codec`. Throughput counts decoded bytes. The files are in the page
//! cache. One thread decodes a file of one member; other threads decode members ahead in a file of many.

#![allow(missing_docs, reason = "criterion's macros write functions")]

use std::fs::{self, File};
use std::hint::black_box;
use std::io::{Read, Write};
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use urlsift::Tally;
use urlsift::internal::run::list_inputs;
use urlsift::internal::run::{ExecOptions, scan_inputs};
use urlsift::internal::scan;

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
}

/// Decodes everything, in chunks as large as those of the scan. Returns the number of decoded bytes.
fn drain(mut decoder: impl Read, buffer: &mut [u8]) -> usize {
    let mut len = 0;
    loop {
        match decoder.read(buffer).unwrap() {
            0 => return len,
            n => len += black_box(&buffer[..n]).len(),
        }
    }
}

fn scan_files(paths: &[&Path], threads: usize) -> Tally {
    let mut exec = ExecOptions::default();
    exec.threads = threads;
    let paths: Vec<_> = paths.iter().map(|&path| path.to_owned()).collect();
    let scanned = scan_inputs(&list_inputs(&paths), &scan::Options::default(), &exec);
    assert!(scanned.failures.is_empty());
    scanned.tally
}

fn codecs(c: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["top100.txt", "ldp_urls.txt"] {
        let bytes = corpora::grown(name);
        let expected = scan(&bytes, &scan::Options::default());
        let mut buffer = vec![0; 1 << 20];
        // Members as large as in an index of Common Crawl, and as large as bgzip makes them.
        let members = |len: usize| bytes.chunks(len).flat_map(gzip).collect::<Vec<u8>>();
        let kinds = [
            ("one member", gzip(&bytes)),
            ("members of 1 MB", members(1_000_000)),
            ("members of 64 kB", members(65_280)),
        ];
        let mut group = c.benchmark_group(format!("gzip/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        for (kind, packed) in kinds {
            let path = folder.path().join("list.gz");
            fs::write(&path, packed).unwrap();
            let reader = || std::io::BufReader::with_capacity(256 << 10, File::open(&path).unwrap());
            assert_eq!(drain(MultiGzDecoder::new(reader()), &mut buffer), bytes.len());
            for threads in [1, 2] {
                assert!(scan_files(&[&path], threads) == expected, "the answer comes first");
            }
            group.bench_function(format!("{kind}: decoder alone"), |b| {
                b.iter(|| drain(MultiGzDecoder::new(reader()), &mut buffer));
            });
            group.bench_function(format!("{kind}: scan -j1"), |b| b.iter(|| scan_files(&[&path], 1)));
            group.bench_function(format!("{kind}: scan -j2"), |b| b.iter(|| scan_files(&[&path], 2)));
        }
        let half = bytes.len() / 2;
        let paths = [folder.path().join("a.gz"), folder.path().join("b.gz")];
        fs::write(&paths[0], gzip(&bytes[..half])).unwrap();
        fs::write(&paths[1], gzip(&bytes[half..])).unwrap();
        let paths = [&*paths[0], &*paths[1]];
        group.bench_function("two files: scan -j1", |b| b.iter(|| scan_files(&paths, 1)));
        group.bench_function("two files: scan -j2", |b| b.iter(|| scan_files(&paths, 2)));
        group.finish();

        let path = folder.path().join("list.zst");
        fs::write(&path, zstd::encode_all(&bytes[..], 0).unwrap()).unwrap();
        assert!(scan_files(&[&path], 2) == expected, "the answer comes first");
        let mut group = c.benchmark_group(format!("zstd/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("decoder alone", |b| {
            b.iter(|| drain(zstd::Decoder::new(File::open(&path).unwrap()).unwrap(), &mut buffer));
        });
        group.bench_function("scan -j1", |b| b.iter(|| scan_files(&[&path], 1)));
        group.bench_function("scan -j2", |b| b.iter(|| scan_files(&[&path], 2)));
        group.finish();
    }
}

criterion_group!(benches, codecs);
criterion_main!(benches);
