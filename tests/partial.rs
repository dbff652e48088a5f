//! Parts of a corpus, scanned separately and merged. The report must be the same for any cut, order and grouping. No line
//! may be counted twice, and no loss may go unnoticed.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crate::reference::Rng;
use crate::support::corpus::{Corpus, written};
use crate::support::{corpus_files, everything, exec};
use tempfile::TempDir;
use urlsift::inputs::Object;
use urlsift::internal::plan::{Split, plan};
use urlsift::internal::run::{Codec, Format, Input, Part, Reading, list_inputs, scan_parts};
use urlsift::internal::scan;
use urlsift::partial_report::{Identity, MergeError, Partial, Settings, cut};
use urlsift::report::Report;
use urlsift::tally::{DistinctOf, TopOf};
use urlsift::{Grammar, Scan};

fn corpus_of(inputs: Vec<Input>) -> Corpus {
    let mut options = everything(9);
    options.grammar = Grammar::Rfc1738;
    Corpus { exec: exec(1, 1 << 20), ..Corpus::new(inputs, Reading::of(Format::Lines), options) }
}

/// Merges in a random order and grouping.
fn merged(mut partials: Vec<Partial>, rng: &mut Rng) -> Partial {
    while partials.len() > 1 {
        let one = partials.swap_remove(rng.below(partials.len()));
        let at = rng.below(partials.len());
        let other = partials.swap_remove(at);
        partials.push(written(&other.merge(one).unwrap()));
    }
    partials.pop().unwrap()
}

fn file_of(directory: &TempDir, name: &str, bytes: &[u8]) -> Input {
    let path = directory.path().join(name);
    fs::write(&path, bytes).unwrap();
    Input::file(path)
}

fn assert_same(merged: Partial, whole: &Report, what: &str) {
    assert_eq!(merged.gaps(), Vec::<String>::new(), "{what}");
    let report = merged.report();
    if report.digest != whole.digest {
        assert_eq!(&report, whole, "{what}");
    }
}

/// Inputs with difficult places for a cut: in a terminator, in a multi-byte character, in a byte order mark, before or
/// without the last LF. Some have an example with a line number in each line.
const NASTY: [&[u8]; 12] = [
    b"", b"\n", b"a", b"\xef\xbb\xbf", b"\xef\xbb\xbfhttp://a/\nb c\n", b"\xef\xbb\xbf\n\n\xef\xbb\xbfx",
    b"http://a:b@c/ \r\n\r\r\n\rftp://x", b"\n\n\na b\n\n", b"//h/%00\nx-y:z\n//H",
    b"http://\xc3\xa4/\xe2\x82\xac\n\0\n", b"h\0t\0\n\0", b"aaaaaaaaaaaaaaaaaaaaaaaaa\nb",
];

#[test]
fn every_pair_of_cuts_gives_one_report() {
    let directory = tempfile::tempdir().unwrap();
    let mut rng = Rng::new(1);
    for (n, text) in NASTY.into_iter().enumerate() {
        let corpus = corpus_of(vec![file_of(&directory, &n.to_string(), text)]);
        let whole = corpus.report();
        let len = text.len() as u64;
        assert_same(corpus.partial(&[Part::whole(0)]), &whole, "whole");
        // The part behind the second cut does not depend on the first cut.
        let tails: Vec<_> = (0..=len + 1).map(|second| corpus.range(second..u64::MAX)).collect();
        for first in 0..=len + 1 {
            // The part before the first cut does not depend on the second cut.
            let head = (first > 0).then(|| corpus.range(0..first));
            for (second, tail) in (0..).zip(&tails).skip(usize::try_from(first).unwrap()) {
                let middle = (first < second).then(|| corpus.range(first..second));
                let all: Vec<_> = middle.into_iter().chain([tail.clone()]).chain(head.clone()).collect();
                assert_same(merged(all, &mut rng), &whole, &format!("{text:?} cut at {first} and {second}"));
            }
        }
    }
}

/// Ranges that cover the input, with `n` random cuts between them.
fn random_ranges(len: u64, n: usize, rng: &mut Rng) -> Vec<Range<u64>> {
    let mut cuts: Vec<u64> = (0..n).map(|_| 1 + rng.below(usize::try_from(len).unwrap()) as u64).collect();
    cuts.extend([0, u64::MAX]);
    cuts.sort_unstable();
    cuts.dedup();
    cuts.windows(2).map(|pair| pair[0]..pair[1]).collect()
}

#[test]
fn corpora_cut_anywhere_give_one_report() {
    let mut rng = Rng::new(2);
    let files = corpus_files();
    let inputs = list_inputs(&files).into_iter().map(|input| input.with_codec(Some(Codec::Plain)));
    let all = Corpus { is_numbered: true, ..corpus_of(inputs.collect()) };
    let whole = all.report();
    let mut partials = Vec::new();
    for (number, path) in (0..).zip(&files) {
        let len = fs::metadata(path).unwrap().len();
        let ranges = if len == 0 { vec![0..u64::MAX] } else { random_ranges(len, 3, &mut rng) };
        partials
            .extend(ranges.into_iter().map(|range| all.partial(&[Part { range, ..Part::whole(number) }])));
    }
    assert_same(merged(partials, &mut rng), &whole, "all corpora");
}

#[test]
fn unnumbered_inputs_are_sorted_by_name() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("a")).unwrap();
    let texts = [("b", "http://b b/\n"), ("a/c", "ftp://a/c c\n//x\n"), ("a-", "x\n"), ("z", "")];
    let inputs: Vec<_> =
        texts.iter().map(|(name, text)| file_of(&directory, name, text.as_bytes())).collect();
    let paths: Vec<_> = ["a/c", "a-", "b", "z"].map(|name| directory.path().join(name)).to_vec();
    let whole = corpus_of(list_inputs(&paths)).report();
    let corpus = corpus_of(inputs);
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let partials = (0..4).map(|number| corpus.partial(&[Part::whole(number)])).collect();
        assert_same(merged(partials, &mut rng), &whole, "four files");
    }
    let pairs = [[0, 3], [2, 1]].map(|pair| corpus.partial(&pair.map(Part::whole)));
    assert_same(merged(pairs.to_vec(), &mut rng), &whole, "two and two");
}

#[test]
fn records_cut_anywhere_give_one_report() {
    let mut rng = Rng::new(4);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/records");
    for name in
        ["alb.log", "apache-combined.log", "apache_sample.log", "indexed.cdxj", "nginx.log", "objects.jsonl"]
    {
        let path = folder.join(name);
        let len = fs::metadata(&path).unwrap().len();
        let corpus = Corpus { reading: Reading::default(), ..corpus_of(vec![Input::file(path)]) };
        let whole = corpus.report();
        assert!(whole.inputs[0].records.is_some());
        for _ in 0..5 {
            let partials =
                random_ranges(len, 6, &mut rng).into_iter().map(|range| corpus.range(range)).collect();
            assert_same(merged(partials, &mut rng), &whole, name);
        }
    }
    // Formats with a header or with records of several lines are not cut.
    for name in ["unix.csv", "cloudfront.log", "crawl.cdx", "crawl.wat"] {
        let path = folder.join(name);
        let corpus = Corpus { reading: Reading::default(), ..corpus_of(vec![Input::file(path)]) };
        let parts = [Part { range: 10..u64::MAX, ..Part::whole(0) }];
        let found = corpus.scan(&parts);
        let [failure] = &found.scanned.failures[..] else { panic!("one failure") };
        assert!(failure.error.to_string().contains("depend on what comes before them"), "{}", failure.error);
        let splits = plan(&corpus.inputs, &corpus.reading, 10).unwrap();
        assert_eq!((splits.len(), splits[0].start, splits[0].end), (1, 0, None));
        assert_same(corpus.partial(&[splits[0].part(0)]), &corpus.report(), name);
    }
}

/// Splits of uncompressed files end at multiples of the split size, and their reports add up. A compressed file is a single
/// split.
#[test]
fn plain_files_are_cut_and_compressed_files_are_planned_whole() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codec");
    let inputs = ["list.txt", "bgzip.gz", "members.gz"].map(|name| Input::file(folder.join(name)));
    let directory = tempfile::tempdir().unwrap();
    let inputs = inputs.into_iter().chain([file_of(&directory, "empty", b"")]).collect();
    let corpus = Corpus { is_numbered: true, ..corpus_of(inputs) };
    let len = fs::metadata(folder.join("list.txt")).unwrap().len();
    let mut rng = Rng::new(5);
    for split_size in [700, 5000, u64::MAX] {
        let splits = plan(&corpus.inputs, &corpus.reading, split_size).unwrap();
        let n_of = |input: u32| splits.iter().filter(|split| split.input == input).count() as u64;
        assert_eq!([0, 1, 2, 3].map(n_of), [len.div_ceil(split_size), 1, 1, 1]);
        let sizes = splits.iter().filter_map(|split| Some(split.end? - split.start));
        assert!(sizes.is_sorted_by(|one, two| one >= two), "the largest first");
        for split in &splits {
            let json = serde_json::to_string(split).unwrap();
            assert_eq!(serde_json::from_str::<Split>(&json).unwrap(), *split);
            assert_eq!(split.check(), Ok(()));
        }
        let partials = splits.iter().map(|split| corpus.partial(&[split.part(split.input)])).collect();
        assert_same(merged(partials, &mut rng), &corpus.report(), "planned");
    }
}

/// An object in memory, whose reads are short, and how many bytes it lacks of its size.
#[derive(Debug)]
struct Memory(Vec<u8>, u64);

impl Object for Memory {
    fn size_bytes(&self) -> u64 {
        self.0.len() as u64 + self.1
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = &self.0[usize::try_from(offset).unwrap().min(self.0.len())..];
        let n = rest.len().min(buffer.len()).min(3000);
        buffer[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// An object of a store is read as a file with the same bytes is, and so are its parts.
#[test]
fn objects_are_read_as_files_are() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scan = Scan::new().threads(2);
    for (name, is_cut) in [
        ("corpora/samples/parser_vectors.txt", true),
        ("tests/records/nginx.log", true),
        ("tests/records/unix.csv", false),
        ("tests/codec/members.gz", false),
        ("tests/records/parquet/plain.parquet", true),
        ("", false),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let bytes = if name.is_empty() { Vec::new() } else { fs::read(root.join(name)).unwrap() };
        let file = Report::of_paths(&scan.inputs(vec![file_of(&directory, "a", &bytes)]));
        let size = bytes.len() as u64;
        let object = Arc::new(Memory(bytes, 0));
        let input = || Input::object("store://u:secret@bucket/a", object.clone());
        assert_eq!(input().name(), "store://u:***@bucket/a");
        assert_eq!(Report::of_paths(&scan.inputs(vec![input()])).digest, file.digest, "{name}");
        let parts = cut(&scan, input(), size / 3 + 1).unwrap();
        assert_eq!(parts.len() > 1, is_cut, "{name}");
        let identities = [Identity { number: Some(0), name: input().name().to_owned() }];
        let partials = parts.into_iter().map(|part| {
            let parts = [part];
            let found = scan.parts(vec![input()], &parts);
            Partial::new(&found, &parts, &identities, Some(1), Settings::of(&scan, false)).unwrap()
        });
        assert_same(merged(partials.collect(), &mut Rng::new(1)), &file, name);
    }
}

#[test]
fn an_object_that_is_too_short_is_a_failure() {
    for size in [10, 4000, 3 << 20] {
        let bytes = b"http://h/\n".repeat(size / 10);
        let object = Arc::new(Memory(bytes.clone(), 5));
        let found = Scan::new().inputs(vec![Input::object("a", object)]);
        let messages: Vec<_> = found.failure_messages().collect();
        assert_eq!(messages, ["a: the file became shorter while it was read"], "{size}");
        assert_eq!(found.tally().bytes(), bytes.len() as u64, "{size}");
    }
}

#[test]
fn a_report_without_inputs_fits_numbered_and_unnumbered_ones() {
    let directory = tempfile::tempdir().unwrap();
    for is_numbered in [false, true] {
        let corpus = Corpus { is_numbered, ..corpus_of(vec![file_of(&directory, "x", b"http://a/\n")]) };
        let (none, all) = (corpus.partial(&[]), corpus.partial(&[Part::whole(0)]));
        let found = scan_parts(&[], &[], &corpus.reading, &corpus.options, &exec(1, 1 << 20));
        let empty = Partial::new(&found, &[], &[], None, corpus.settings()).unwrap();
        for other in [none, empty] {
            assert_eq!(all.clone().merge(other.clone()).unwrap(), all);
            assert_eq!(other.merge(all.clone()).unwrap(), all);
        }
    }
}

#[test]
fn incompatible_partial_reports_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let corpus = corpus_of(vec![file_of(&directory, "x", b"http://a/\nhttp://b/\n")]);
    let (head, tail) = (corpus.range(0..10), corpus.range(10..u64::MAX));
    let refused = |one: &Partial, other: &Partial| one.clone().merge(other.clone()).unwrap_err();
    assert!(matches!(refused(&head, &head), MergeError::Overlap(_, range) if range == (0..10)));
    assert!(matches!(refused(&head, &corpus.range(5..7)), MergeError::Overlap(_, range) if range == (5..7)));
    assert!(matches!(refused(&head, &corpus.partial(&[Part::whole(0)])), MergeError::Overlap(..)));
    let all = head.clone().merge(tail.clone()).unwrap();
    assert!(matches!(refused(&all, &tail), MergeError::Overlap(_, range) if range == (10..20)));
    // A range where no line begins must not be counted twice either.
    assert!(matches!(refused(&all, &corpus.range(3..4)), MergeError::Overlap(..)));
    let empty = corpus_of(vec![file_of(&directory, "empty", b"")]);
    assert!(matches!(
        refused(&empty.range(0..5), &empty.partial(&[Part::whole(0)])),
        MergeError::Overlap(..)
    ));
    for change in [
        |options: &mut scan::Options| options.grammar = Grammar::Rfc3986,
        |options: &mut scan::Options| options.lengths = false,
        |options: &mut scan::Options| _ = options.top.insert(TopOf::Hosts, 10),
        |options: &mut scan::Options| _ = options.distinct.remove(&DistinctOf::Lines),
    ] {
        let mut other = corpus_of(vec![Input::file(directory.path().join("x"))]);
        change(&mut other.options);
        let MergeError::Settings(differences) = refused(&head, &other.range(10..u64::MAX)) else {
            panic!("settings")
        };
        assert_eq!(differences.len(), 1);
    }
    let pair = corpus_of(["x", "empty"].map(|name| Input::file(directory.path().join(name))).into());
    let parts = [Part::whole(0), Part::whole(1)];
    let found = pair.scan(&parts);
    let identities = ["b", "a"].map(|name| Identity { number: None, name: name.to_owned() });
    let disordered = Partial::new(&found, &parts, &identities, None, pair.settings());
    assert_eq!(disordered.unwrap_err(), MergeError::Order);
    let numbered = Corpus { is_numbered: true, ..corpus_of(vec![Input::file(directory.path().join("x"))]) };
    assert_eq!(refused(&head, &numbered.range(10..u64::MAX)), MergeError::Numbers);
    fs::write(directory.path().join("x"), b"http://a/\nhttp://b/\nhttp://c/\n").unwrap();
    assert!(matches!(refused(&head, &corpus.range(10..u64::MAX)), MergeError::Sizes(_, 20, 30)));
    let other = Corpus { is_numbered: true, ..corpus_of(vec![Input::file(directory.path().join("empty"))]) };
    let (one, other) = (numbered.range(0..10), other.partial(&[Part::whole(0)]));
    assert!(matches!(refused(&one, &other), MergeError::Names(..)));
}

#[test]
fn missing_parts_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let inputs = ["x", "y", "z"].map(|name| file_of(&directory, name, b"http://a/\n/b c\n/d e\n"));
    let corpus = Corpus { is_numbered: true, ..corpus_of(Vec::from(inputs)) };
    let part = |number, range| corpus.partial(&[Part { range, ..Part::whole(number) }]);
    let all = part(0, 10..15).merge(part(2, 0..u64::MAX)).unwrap();
    let name = corpus.inputs[0].name();
    // Inputs that were read to their end and others are both counted, for any input numbers.
    let some = part(1, 0..u64::MAX).merge(part(2, 0..15)).unwrap().report();
    assert_eq!((some.top[0].entries[0].lines, some.top[0].entries.len(), some.complete), (2, 1, false));
    assert_eq!(
        all.gaps(),
        [
            "of 3 inputs, counted from 0, there is no partial report of: 1".to_owned(),
            format!("{name}: missing: bytes 0 to 10, bytes 15 to 20")
        ]
    );
    let report = all.clone().report();
    assert!(!report.complete && report.inputs.len() == 3);
    assert_eq!(report.totals.lines, 4);
    // After a gap, line numbers count from its end.
    let hosts: u64 = report.top[0].entries.iter().map(|entry| entry.lines).sum();
    assert_eq!(hosts, 1, "the one URL that was read");
    let lines: Vec<_> =
        report.defects[0].examples.iter().map(|example| (example.input, example.line)).collect();
    assert_eq!(lines, [(0, 1), (1, 2), (1, 3)]);
    let whole = all
        .merge(part(0, 0..10))
        .unwrap()
        .merge(part(1, 0..u64::MAX))
        .unwrap()
        .merge(part(0, 15..99))
        .unwrap();
    assert_same(whole, &corpus.report(), "all");
}

#[test]
fn an_input_that_differs_from_the_plan_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let corpus = corpus_of(vec![file_of(&directory, "x", b"http://a/\nhttp://b/\n")]);
    for (len, text) in [(20, &b"http://a/\n"[..]), (20, b"http://a/\nhttp://b/\nhttp://c/\n")] {
        fs::write(directory.path().join("x"), text).unwrap();
        for range in [0..10, 10..20, 0..20] {
            let parts = [Part { range, size: Some(len), ..Part::whole(0) }];
            let found = corpus.scan(&parts);
            let [failure] = &found.scanned.failures[..] else { panic!("one failure") };
            assert!(failure.error.to_string().ends_with("not what was planned"), "{}", failure.error);
        }
    }
}

#[test]
fn changed_partial_reports_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let corpus = corpus_of(vec![file_of(&directory, "x", b"http://a:hunter2@b/\n")]);
    let mut json = Vec::new();
    corpus.range(0..u64::MAX).write_json(&mut json).unwrap();
    let text = String::from_utf8(json).unwrap();
    assert!(!text.contains("hunter2"), "passwords are not kept");
    let refused = |text: &str| Partial::from_json(text.as_bytes()).unwrap_err().to_string();
    assert!(refused(&text.replacen(":1", ":2", 1)).contains("changed since"));
    assert!(refused(&text[..text.len() / 2]).contains("not JSON"));
    assert!(
        refused(&text.replace("urlsift.partial/2", "urlsift.partial/1"))
            .ends_with("its schema is urlsift.partial/1, and this version of urlsift merges only urlsift.partial/2; scan the part again")
    );
    assert!(refused("{\"schema\":\"urlsift.report/2\"}").contains("a finished report"));
    assert!(refused("{}").contains("its schema is none"));
    assert!(refused("").contains("not JSON"));
}
