//! The counts and the report of what the WHATWG parser makes of lines, compared with the parser called line by line.

use std::collections::BTreeMap;
use std::fs;

use urlsift::internal::run::{Codec, Format, Input, KernelId, Reading, scan_records, scan_values};
use urlsift::internal::scan::{self, Place, WhatwgWanted};
use urlsift::internal::scan_into;
use urlsift::report::Report;
use urlsift::tally::{Found, MAX_EXAMPLES, MAX_PARSED_LEN, TopOf};
use urlsift::whatwg::{Level, Url, hosts_differ, parse};
use urlsift::{Grammar, Tally, judge};

use crate::conformance::rows;
use crate::reference::{self, Rng};
use crate::scan_by_judge::lines;
use crate::support::corpus::Corpus;
use crate::support::{amount, corpus_files, exec_lines, file, with_scanner};

/// The number of lines of a kind. For the first few also the line number, the offset, and the place in the line.
type Kept = (u64, Vec<(u64, u64, u64)>);

/// What the parser makes of lines.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Lines by level and verdict bits.
    levels: BTreeMap<(&'static str, u8), u64>,
    errors: BTreeMap<&'static str, Kept>,
    hosts_differ: Kept,
    not_utf8: u64,
    too_long: u64,
}

/// Counts lines one by one. Each has its number and its offset.
fn count<'a>(lines: impl Iterator<Item = (u64, u64, &'a [u8])>, base: Option<&Url>) -> Counts {
    let mut counts = Counts::default();
    for (number, offset, line) in lines.filter(|(.., line)| !line.is_empty()) {
        if line.len() > MAX_PARSED_LEN {
            counts.too_long += 1;
            continue;
        }
        let keep = |(lines, first): &mut Kept, at: u64| {
            *lines += 1;
            if first.len() < MAX_EXAMPLES {
                first.push((number, offset, at));
            }
        };
        let parsed = parse(line, base);
        *counts.levels.entry((parsed.level().name(), judge(line).verdict().bits())).or_default() += 1;
        for (n, found) in parsed.errors().iter().enumerate() {
            if parsed.errors()[..n].iter().all(|earlier| earlier.error != found.error) {
                keep(counts.errors.entry(found.error.name()).or_default(), found.offset as u64);
            }
        }
        if parsed.url().is_some_and(|url| hosts_differ(line, base, url)) {
            keep(&mut counts.hosts_differ, 0);
        }
        counts.not_utf8 += u64::from(!parsed.is_utf8());
    }
    counts
}

/// Counts the lines of a list.
fn count_list(bytes: &[u8], base: Option<&Url>) -> Counts {
    count((1..).zip(lines(bytes)).map(|(number, (start, line, _))| (number, start as u64, line)), base)
}

/// The same counts from a tally.
fn of(tally: &Tally) -> Counts {
    let Some(counts) = tally.whatwg() else { return Counts::default() };
    let kept = |found: &Found| {
        let first = found.examples.iter();
        (found.lines, first.map(|example| (example.line, example.place.offset, example.at)).collect())
    };
    let sets = |&level: &Level| {
        let sets = counts.level(level).sets();
        sets.map(move |(verdict, lines)| ((level.name(), verdict.bits()), lines)).collect::<Vec<_>>()
    };
    Counts {
        levels: Level::ALL.iter().flat_map(sets).collect(),
        errors: counts.errors().into_iter().map(|(error, found)| (error.name(), kept(found))).collect(),
        hosts_differ: kept(counts.hosts_differ()),
        not_utf8: counts.not_utf8(),
        too_long: counts.too_long(),
    }
}

fn options(base: Option<&Url>) -> scan::Options {
    let mut wanted = WhatwgWanted::default();
    wanted.base = base.cloned();
    let mut options = scan::Options::default();
    options.whatwg = Some(wanted);
    options
}

/// No base, one of a special scheme, and one of another scheme.
fn bases() -> [Option<Url>; 3] {
    let url = |text: &str| parse(text.as_bytes(), None).url().cloned().unwrap();
    [None, Some(url("http://base.example/a/b?c")), Some(url("mailto:a@b"))]
}

/// Lines of the cases of the standard, of the rules of the grammars, and mutations of both, with all kinds of terminators.
fn drawn(n: usize, rng: &mut Rng) -> Vec<u8> {
    let cases = rows("whatwg.tsv");
    let mut list = Vec::new();
    for _ in 0..n {
        let mut line = if rng.below(2) == 0 {
            cases[rng.below(cases.len())].0.clone()
        } else {
            reference::draw(rng.below(5), rng, 3)
        };
        line.retain(|&byte| byte != b'\n');
        if rng.below(3) == 0 && !line.is_empty() {
            let at = rng.below(line.len());
            line[at] = b"@:/\\#?%[] \xe9x0.\t"[rng.below(15)];
        }
        list.extend(line);
        list.extend([&b"\n"[..], b"\n", b"\r\n", b"\n\n"][rng.below(4)]);
    }
    list
}

/// A tally of a list in memory.
fn scanned(bytes: &[u8], kernel: KernelId, options: &scan::Options) -> Tally {
    let mut tally = Tally::default();
    let place = Place { input: 0, offset: 0 };
    with_scanner(kernel, |scanner| scan_into(&mut tally, scanner, bytes, place, options));
    tally
}

#[test]
fn the_corpora_have_the_counts_of_the_parser() {
    for path in corpus_files() {
        let bytes = fs::read(&path).unwrap();
        let bytes = &bytes[..bytes.len().min(usize::try_from(amount(150_000, u64::MAX)).unwrap())];
        let without = scan::scan(bytes, &scan::Options::default());
        for base in &bases()[..2] {
            let expected = count_list(bytes, base.as_ref());
            for kernel in KernelId::available() {
                let tally = scanned(bytes, kernel, &options(base.as_ref()));
                assert!(
                    of(&tally) == expected,
                    "{} {kernel}\n{:?}\n{expected:?}",
                    path.display(),
                    of(&tally)
                );
                // The option changes no other count.
                assert!(
                    crate::scan_by_judge::of(&tally) == crate::scan_by_judge::of(&without),
                    "{} {kernel}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn drawn_lists_have_the_counts_of_the_parser() {
    let mut rng = Rng::new(27);
    for turn in 0..amount(30, 1000) {
        let list = drawn(1 + rng.below(300), &mut rng);
        for base in bases() {
            let expected = count_list(&list, base.as_ref());
            let mut options = options(base.as_ref());
            options.grammar = Grammar::ALL[rng.below(5)];
            options.lengths = rng.below(2) == 0;
            options.top.insert(TopOf::Hosts, rng.below(2));
            for kernel in KernelId::available() {
                let counts = of(&scanned(&list, kernel, &options));
                assert_eq!(counts, expected, "{turn} {kernel} {base:?}");
            }
        }
    }
}

#[test]
fn files_have_the_same_counts_however_they_are_read() {
    let mut rng = Rng::new(1);
    let mut list = b"\xef\xbb\xbf".to_vec();
    list.extend(drawn(2000, &mut rng));
    list.extend([&b"http://h/"[..], &vec![b'a'; 70_000], b" b\\\nx"].concat());
    let path = file(&list);
    let inputs = [Input::file(&path).with_codec(Some(Codec::Plain))];
    for base in &bases()[..2] {
        let (expected, options) = (count_list(&list, base.as_ref()), options(base.as_ref()));
        for (threads, shard_len, line_len) in
            [(1, 1 << 20, 1 << 20), (3, 999, 50), (2, 50_000, 99), (4, 64, 1 << 20)]
        {
            for mmap in [false, true] {
                let mut exec = exec_lines(threads, shard_len, line_len);
                exec.mmap = mmap;
                let scanned = scan_records(&inputs, &Reading::of(Format::Lines), &options, &exec);
                assert!(scanned.failures.is_empty());
                assert_eq!(of(&scanned.tally), expected, "{threads} {shard_len} {line_len} {mmap}");
            }
        }
    }
}

#[test]
fn lines_beyond_the_limit_are_not_parsed() {
    let line = |len: usize| [&b"http://h/"[..], &vec![b'a'; len - 9], b"\n"].concat();
    let list = [line(MAX_PARSED_LEN), line(MAX_PARSED_LEN + 1), b"http://h/ \n".to_vec()].concat();
    let path = file(&list);
    let expected = count_list(&list, None);
    assert_eq!((expected.too_long, expected.levels.values().sum::<u64>()), (1, 2));
    let inputs = [Input::file(&path)];
    for line_len in [1000, 1 << 20, 1 << 23] {
        let exec = exec_lines(2, 1 << 16, line_len);
        let scanned = scan_records(&inputs, &Reading::of(Format::Lines), &options(None), &exec);
        assert_eq!(of(&scanned.tally), expected, "{line_len}");
        let report = Report::new(&scanned, &inputs, &options(None), false);
        assert!(report.to_string().contains("1 line is too long to be parsed"), "{report}");
    }
    let values: Vec<_> = list.split(|&byte| byte == b'\n').take(3).map(Some).collect();
    let tally = scan_values(Tally::default(), &[&values[..]], &options(None), &exec_lines(1, 1, 1));
    assert_eq!(of(&tally), expected);
}

#[test]
fn records_have_the_counts_of_their_fields() {
    let mut rng = Rng::new(3);
    let mut fields = Vec::new();
    for line in drawn(500, &mut rng).split(|&byte| byte == b'\n') {
        let field = String::from_utf8_lossy(line).into_owned();
        fields.push(if rng.below(9) == 0 { field + "\nb\r" } else { field });
    }
    let rows =
        fields.iter().map(|field| serde_json::json!({ "url": field, "link": "//h/ " }).to_string() + "\n");
    let path = file(rows.collect::<String>());
    let fields = fields.iter().flat_map(|field| [field.as_bytes(), b"//h/ "]);
    let mut reading = Reading::of(Format::Json);
    reading.fields = ["url", "link"].map(|field| field.parse().unwrap()).to_vec();
    for base in &bases()[..2] {
        // A line of the list is a record with two fields, whose places are those of the records.
        let expected = count(fields.clone().map(|field| (0, 0, field)), base.as_ref());
        let scanned = scan_records(
            &[Input::file(&path)],
            &reading,
            &options(base.as_ref()),
            &exec_lines(2, 2000, 1 << 20),
        );
        let mut counts = of(&scanned.tally);
        let numbers = |counts: &Counts| {
            let errors = counts.errors.iter().map(|(name, (lines, _))| (*name, *lines));
            (errors.collect::<Vec<_>>(), counts.hosts_differ.0, counts.levels.clone(), counts.not_utf8)
        };
        assert_eq!(numbers(&counts), numbers(&expected));
        let of_unit = counts.errors.remove("invalid-URL-unit").unwrap();
        assert!(of_unit.1.is_sorted() && of_unit.1.len() == MAX_EXAMPLES);
        assert_eq!(of_unit.1[0].0, 1, "each record has a blank at the end of its link");
    }
}

#[test]
fn values_have_the_counts_of_the_parser() {
    let mut rng = Rng::new(4);
    let list = drawn(600, &mut rng);
    let mut values: Vec<Option<Vec<u8>>> =
        list.split(|&byte| byte == b'\n').map(|line| Some(line.to_vec())).collect();
    values.insert(3, None);
    for value in [&b"http://h/\n"[..], b"a\nb", b"http:\\\\h\r", b"\r"] {
        values.insert(rng.below(values.len()), Some(value.to_vec()));
    }
    values.insert(9, Some([&b"http://h/"[..], &vec![b'\\'; 3 << 19]].concat()));
    let mut offset = 0;
    let lines: Vec<_> = (1..)
        .zip(&values)
        .map(|(number, value)| {
            let value = value.as_deref().unwrap_or_default();
            offset += value.len() as u64 + 1;
            (number, offset - value.len() as u64 - 1, value)
        })
        .collect();
    for base in &bases()[..2] {
        let expected = count(lines.iter().copied(), base.as_ref());
        for (threads, n) in [(1, 1000), (3, 7)] {
            let parts: Vec<_> = values.chunks(n).collect();
            let tally =
                scan_values(Tally::default(), &parts, &options(base.as_ref()), &exec_lines(threads, 1, 1));
            assert_eq!(of(&tally), expected, "{threads}");
        }
    }
}

#[test]
fn merged_parts_are_the_whole() {
    let mut rng = Rng::new(5);
    let list = drawn(400, &mut rng);
    let path = file(&list);
    for base in bases() {
        let input = Input::file(&path).with_codec(Some(Codec::Plain));
        let corpus = Corpus::new(vec![input], Reading::of(Format::Lines), options(base.as_ref()));
        let whole = corpus.report();
        let mut ends: Vec<_> = (0..7).map(|_| rng.below(list.len()) as u64).collect();
        ends.extend([0, u64::MAX]);
        ends.sort_unstable();
        ends.dedup();
        let mut parts: Vec<_> = ends.windows(2).map(|ends| corpus.range(ends[0]..ends[1])).collect();
        while parts.len() > 1 {
            let one = parts.swap_remove(rng.below(parts.len()));
            let other = parts.swap_remove(rng.below(parts.len()));
            parts.push(other.merge(one).unwrap());
        }
        let merged = parts.remove(0).report();
        assert_eq!((&merged.whatwg, &merged.digest), (&whole.whatwg, &whole.digest));
    }
}

#[test]
fn parts_with_other_options_are_not_merged() {
    let path = file("http://h/\nhttp://h/ \n");
    let corpus = |options| Corpus::new(vec![Input::file(&path)], Reading::of(Format::Lines), options);
    let base = |text: &str| parse(text.as_bytes(), None).url().cloned();
    let (one, other) = (base("http://a/").unwrap(), base("http://u:p@b/").unwrap());
    let first = || corpus(options(Some(&one))).range(0..10);
    for (options, why) in [
        (scan::Options::default(), "whatwg: {\"base\":\"http://a/\",\"standard\":\"fde3f74\"} and none"),
        (options(None), "and {\"base\":null,"),
        (options(Some(&other)), "and {\"base\":\"http://u:***@b/\","),
    ] {
        let second = corpus(options).range(10..99);
        let error = first().merge(second.clone()).unwrap_err().to_string();
        assert!(error.starts_with("not scanned alike: whatwg: ") && error.contains(why), "{error}");
        assert!(second.merge(first()).is_err());
    }
}
