//! Parts of Parquet files by ranges of bytes. Neighbouring ranges divide the row groups between them. The merged report of
//! all parts equals the tally of the whole file.

use std::fs;
use std::ops::Range;
use std::path::Path;

use urlsift::internal::plan::plan;
use urlsift::internal::run::{Part, Reading, Selector, list_inputs};
use urlsift::partial_report::Partial;
use urlsift::report::Report;

use crate::support::corpus::Corpus;
use crate::support::{amount, everything, file};

use super::{check_kind, levels, page, plain_group, samples, with_groups, with_values};

fn corpus_of(path: &Path, fields: &[Selector]) -> Corpus {
    let mut reading = Reading::default();
    reading.fields = fields.to_vec();
    Corpus::new(list_inputs(&[path]), reading, everything(5))
}

/// The merged report of ranges, which may have failures. Later parts come first.
fn merged(corpus: &Corpus, ends: &[u64]) -> Partial {
    let partial = |pair: &[u64]| {
        let parts = [Part { range: pair[0]..pair[1], ..Part::whole(0) }];
        corpus.partial_of(&corpus.scan(&parts), &parts)
    };
    ends.windows(2).rev().map(partial).reduce(|one, other| one.merge(other).unwrap()).unwrap()
}

/// The report of the parts between these cuts.
fn cut_at(corpus: &Corpus, cuts: &[u64]) -> Report {
    let mut ends = [&[0], cuts, &[u64::MAX]].concat();
    ends.dedup();
    let merged = merged(corpus, &ends);
    assert_eq!(merged.gaps(), Vec::<String>::new(), "{cuts:?}");
    merged.report()
}

#[test]
fn parts_of_each_sample_give_its_report() {
    for (path, column) in samples() {
        let corpus = corpus_of(&path, column.as_slice());
        let whole = corpus.report();
        assert!(whole.complete);
        let len = fs::metadata(&path).unwrap().len();
        let name = path.display();
        for cuts in [vec![len / 2], vec![1, len - 1], (1..9).map(|n| n * len / 9).collect()] {
            assert_eq!(cut_at(&corpus, &cuts), whole, "{name} {cuts:?}");
        }
        for split_size in [1, 1000, 4000, u64::MAX] {
            let splits = plan(&corpus.inputs, &corpus.reading, split_size).unwrap();
            let mut parts: Vec<_> = splits.iter().map(|split| split.part(0)).collect();
            parts.sort_by_key(|part| part.range.start);
            assert!(parts.iter().all(|part| part.size == Some(len)));
            assert_eq!((parts[0].range.start, parts.last().unwrap().range.end), (0, len), "{name}");
            assert!(parts.windows(2).all(|pair| pair[0].range.end == pair[1].range.start), "{name}");
            let rows =
                |part: &Part| corpus.scan(std::slice::from_ref(part)).scanned.records[0].1.counts.records();
            assert!(parts.len() == 1 || parts.iter().all(|part| rows(part) > 0), "{name}: no split is empty");
            let partials = parts.iter().rev().map(|part| corpus.partial(std::slice::from_ref(part)));
            let merged = partials.reduce(|one, other| one.merge(other).unwrap()).unwrap();
            assert_eq!(merged.gaps(), Vec::<String>::new());
            assert_eq!(merged.report(), whole, "{name} in splits of {split_size}");
        }
    }
}

#[test]
fn parts_of_several_columns_give_one_report() {
    for (name, fields) in [
        ("nested", ["page.title", "page.meta.url"]),
        ("list-v1", ["links", "links"]),
        ("zstd-v2", ["url", "2"]),
    ] {
        let path = super::folder().join(name).with_extension("parquet");
        let mut corpus = corpus_of(&path, &fields.map(|field| field.parse().unwrap()));
        let whole = corpus.report();
        assert!(whole.complete);
        let len = fs::metadata(&path).unwrap().len();
        for cut in (len / 9..len).step_by(usize::try_from(len / 7).unwrap()) {
            assert_eq!(cut_at(&corpus, &[cut]), whole, "{name} {cut}");
        }
        for shard_len in [1, 100] {
            corpus.exec.shard_len = shard_len;
            assert_eq!(corpus.report(), whole, "{name}");
        }
    }
}

/// Small files, cut at every byte. Each row group is in one part, even if the footer lies about where row groups are.
#[test]
fn every_cut_gives_one_report() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("x.parquet");
    let values = |n: usize| -> Vec<_> { (0..n).map(|n| format!("http://h{n}.example/ {n}")).collect() };
    let honest = with_values(&[values(2), values(1), vec![], values(3)]);
    // All row groups have the same page. The last file has values that are lists, and nulls.
    let (group, n) = plain_group(&values(2));
    let same = with_groups(0, &group, &[(4, n, n); 3]);
    let backwards = {
        let at = 4 + group.len();
        with_groups(0, &[&group[..], &group].concat(), &[(at, n, n), (4, n, n), (at, n, n)])
    };
    // Rows: [a], null, [b, null, c].
    let runs = |levels: [u8; 5]| -> Vec<u8> {
        let runs: Vec<_> = levels.iter().flat_map(|&level| [2, level]).collect();
        [&u32::try_from(runs.len()).unwrap().to_le_bytes()[..], &runs].concat()
    };
    let text = b"\x01\0\0\0a\x01\0\0\0b\x01\0\0\0c";
    let list = page(5, 0, &[&runs([0, 0, 0, 1, 1])[..], &runs([1, 0, 1, 0, 1]), text].concat());
    let lists = with_groups(2, &list.repeat(2), &[(4, 5, 3), (4 + list.len(), 5, 3)]);
    for (what, file) in [("honest", honest), ("same", same), ("backwards", backwards), ("lists", lists)] {
        fs::write(&path, &file).unwrap();
        let corpus = corpus_of(&path, &[]);
        let whole = corpus.report();
        assert!(whole.complete, "{what} {whole:?}");
        let len = file.len() as u64;
        for cut in (1..=len).step_by(if what == "honest" { 1 } else { 3 }) {
            assert_eq!(cut_at(&corpus, &[cut]), whole, "{what} {cut}");
        }
        for cut in (1..len - 9).step_by(31) {
            assert_eq!(cut_at(&corpus, &[cut, cut + 9]), whole, "{what} {cut}");
        }
    }
    // A row group that claims to begin after the end of the file belongs to the last part.
    fs::write(&path, with_groups(0, &group, &[(4, n, n), (1 << 40, n, n)])).unwrap();
    let corpus = corpus_of(&path, &[]);
    let len = fs::metadata(&path).unwrap().len();
    let part = |range: Range<u64>| corpus.scan(&[Part { range, ..Part::whole(0) }]).scanned;
    let (first, last) = (part(0..len - 1), part(len - 1..u64::MAX));
    assert_eq!((first.tally.lines(), first.failures.len()), (2, 0));
    check_kind(&last.failures[0].error);
}

#[test]
fn damage_stays_in_its_part() {
    let (group, n) = plain_group(&["http://a/", "http://b/ "]);
    let broken = page(2, 0, b"\xff\0\0\0http://a");
    let places = [(4, n, n), (4 + group.len(), 2, 2), (4 + group.len() + broken.len(), n, n)];
    let path = file(with_groups(0, &[&group[..], &broken, &group].concat(), &places));
    let corpus = corpus_of(&path, &[]);
    let ends = [0, places[1].0 as u64, places[2].0 as u64, u64::MAX];
    let report = merged(&corpus, &ends).report();
    assert!(!report.complete);
    assert_eq!(report.totals.lines, 4);
    let error = report.inputs[0].error.as_ref().unwrap();
    assert!(error.starts_with("row group 2, page at byte "), "{error}");
}

/// Page of `n` nulls whose row group has other numbers of values or rows.
#[test]
fn parts_of_a_footer_that_lies_are_refused() {
    let nulls = page(3, 0, &[levels(3, 0), levels(3, 0)].concat());
    for groups in [[(4, 5, 3), (4, 3, 3)], [(4, 3, 2), (4, 3, 3)], [(4, i64::MAX, 3), (4, i64::MAX, 3)]] {
        let path = file(with_groups(2, &nulls, &groups));
        let scanned = corpus_of(&path, &[]).scan(&[Part::whole(0)]).scanned;
        check_kind(&scanned.failures[0].error);
    }
}

/// Names are counted per chunk of values. Parts cut these chunks, and the counts stay the same.
#[test]
fn frequent_hosts_of_many_do_not_depend_on_parts() {
    let hosts = |n: usize| -> Vec<_> {
        (0..n).map(|n| if n % 3 == 0 { "//z/".to_owned() } else { format!("//{n:x}/") }).collect()
    };
    // More hosts than a sum keeps, and more values than a chunk has.
    let lens = if amount(0, 1) == 1 {
        [150_000, 180_000, 120_000, 200_000]
    } else {
        [110_000, 80_000, 60_000, 90_000]
    };
    let path = file(with_values(&lens.map(hosts)));
    let mut corpus = corpus_of(&path, &[]);
    corpus.options.distinct.clear();
    let whole = corpus.report();
    assert_eq!(whole.totals.lines, lens.iter().sum::<usize>() as u64);
    let len = fs::metadata(&path).unwrap().len();
    assert_eq!(cut_at(&corpus, &[len / 4, len / 2, 3 * len / 4]), whole);
    corpus.exec.shard_len = 30_000;
    assert_eq!(corpus.report(), whole);
}

#[test]
fn a_file_that_differs_from_the_plan_is_named() {
    let (path, _) = samples().into_iter().find(|(path, _)| path.ends_with("snappy-v1.parquet")).unwrap();
    let corpus = corpus_of(&path, &[]);
    for range in [0..10, 0..10_000_000, 10..10_000_000] {
        let found = corpus.scan(&[Part { range, size: Some(10_000_000), ..Part::whole(0) }]);
        let [failure] = &found.scanned.failures[..] else { panic!("one failure") };
        assert!(failure.error.to_string().ends_with("not what was planned"), "{}", failure.error);
    }
    let merge = |one: Range<u64>, other: Range<u64>| {
        corpus.range(one).merge(corpus.range(other)).map(|_| ()).unwrap_err().to_string()
    };
    assert!(merge(0..2000, 1000..3000).contains("counted already: bytes 1000 to 2000"));
    assert!(merge(0..u64::MAX, 1000..3000).contains("counted already"));
}
