//! Compares `judge`, called line by line, with `memchr` finding the lines, on the same bytes.
//!
//! Run it by `cargo bench -p urlsift-benches --bench judge`. It uses one core. The `memchr` rows show the cost of finding
//! lines alone.

#![allow(missing_docs, reason = "criterion's macros write functions")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use memchr::memchr_iter;
use urlsift::internal::scan;
use urlsift::{Grammar, judge};

/// Calls `f` with each line. The corpora of this bench end in LF and have no CR.
fn for_each_line(bytes: &[u8], mut f: impl FnMut(&[u8])) {
    let mut start = 0;
    for lf in memchr_iter(b'\n', bytes) {
        f(&bytes[start..lf]);
        start = lf + 1;
    }
}

/// For each grammar, how many lines it accepts.
fn judge_all(bytes: &[u8]) -> [u64; 5] {
    let mut counts = [0; 32];
    for_each_line(bytes, |line| {
        if !line.is_empty() {
            counts[usize::from(judge(line).verdict().bits())] += 1;
        }
    });
    Grammar::ALL
        .map(|grammar| (0..32).filter(|set| set >> grammar as usize & 1 == 1).map(|set| counts[set]).sum())
}

fn bench(c: &mut Criterion) {
    for name in ["top100.txt", "ldp_urls.txt", "iana_hrefs.txt"] {
        let bytes = corpora::grown(name);
        let tally = scan(&bytes, &scan::Options::default()).judged();
        assert_eq!(
            judge_all(&bytes),
            Grammar::ALL.map(|grammar| tally.accepted(grammar)),
            "the answer comes first"
        );
        let mut group = c.benchmark_group(format!("judge/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group
            .bench_function("memchr split", |b| b.iter(|| for_each_line(&bytes, |line| _ = black_box(line))));
        group.bench_function("judge", |b| b.iter(|| judge_all(black_box(&bytes))));
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
