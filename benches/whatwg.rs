//! Compares `scan` with the option `whatwg`, `scan` without it, and parsers of the WHATWG URL Standard, called line by line.
//!
//! Run it by `cargo bench -p urlsift-benches --bench whatwg`. It uses one core. ada-url's `can_parse` says yes or no; the option also counts
//! levels, errors and hosts, and the verdicts of five grammars.

#![allow(missing_docs, reason = "criterion's macros write functions")]

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use urlsift::Tally;
use urlsift::internal::scan;
use urlsift::internal::scan::{Options, WhatwgWanted};
use urlsift::whatwg::{Level, Parsed};

/// The lines of a corpus.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split('\n').filter(|line| !line.is_empty())
}

/// How many lines the parser makes a URL of.
fn urls(tally: &Tally) -> u64 {
    let counts = tally.whatwg().unwrap();
    [Level::Valid, Level::Errors].map(|level| counts.level(level).lines()).iter().sum()
}

fn bench(c: &mut Criterion) {
    let mut options = Options::default();
    options.whatwg = Some(WhatwgWanted::default());
    let web = ["top100.txt", "ebook_links.txt", "debian_homepages.txt", "apache_referers.txt"];
    for (name, samples) in [
        ("web", &web[..]),
        ("osm_community.txt", &["osm_community.txt"]),
        ("mosaic_1990s.txt", &["mosaic_1990s.txt"]),
        ("trackers.txt", &["trackers.txt"]),
        ("wpt_inputs.txt", &["wpt_inputs.txt"]),
        ("parser_vectors.txt", &["parser_vectors.txt"]),
    ] {
        let bytes = corpora::mixed(samples);
        // Not timed, because the peers take text that is known to be UTF-8.
        let text = str::from_utf8(&bytes).unwrap();
        let can_parse = |line: &&str| ada_url::Url::can_parse(line, None);
        let n_urls = lines(text).filter(can_parse).count() as u64;
        assert_eq!(urls(&scan(&bytes, &options)), n_urls, "the answer comes first");
        let mut group = c.benchmark_group(format!("whatwg/{name}"));
        group.throughput(Throughput::Bytes(bytes.len() as u64)).sample_size(10);
        group.bench_function("scan", |b| b.iter(|| scan(black_box(&bytes), &Options::default())));
        group.bench_function("scan with whatwg", |b| b.iter(|| scan(black_box(&bytes), &options)));
        group.bench_function("ada-url can_parse", |b| {
            b.iter(|| lines(black_box(text)).filter(can_parse).count());
        });
        group.bench_function("whatwg::parse", |b| {
            let mut parsed = Parsed::default();
            b.iter(|| {
                lines(black_box(text)).for_each(|line| parsed.replace(line.as_bytes(), None));
            });
        });
        group.bench_function("url", |b| {
            b.iter(|| lines(black_box(text)).filter(|line| url::Url::parse(line).is_ok()).count());
        });
        group.finish();
    }
}

criterion_group!(benches, bench);
criterion_main!(benches);
