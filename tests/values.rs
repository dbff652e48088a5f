//! Values in memory: judged and counted as the lines of a list, and never cut at line ends.

use std::collections::BTreeMap;

use crate::support::corpus::written;
use crate::support::{amount, corpus_files, everything, exec};
use proptest::prelude::*;
use urlsift::internal::run::{ExecOptions, Format, KernelId, Reading, scan_values};
use urlsift::internal::scan;
use urlsift::internal::scan::{Options, Scanner, judge_values};
use urlsift::partial_report::{Partial, Settings};
use urlsift::report::Report;
use urlsift::whatwg::{Level, parse};
use urlsift::{Cause, Component, Grammar, Tally, judge};

type Row = Option<Vec<u8>>;

/// The tally of rows that come in parts of `n` rows.
fn count(rows: &[Row], n: usize, options: &Options, exec: &ExecOptions) -> Tally {
    let parts: Vec<_> = rows.chunks(n).collect();
    scan_values(Tally::default(), &parts, options, exec)
}

fn partial(rows: &[Row], unordered: bool) -> Partial {
    let tally = count(rows, 3, &everything(3), &exec(1, 1 << 20));
    let settings = Settings::new(&everything(3), &Reading::of(Format::Lines), None, false);
    written(&Partial::of_column("url", tally, unordered, settings))
}

/// A report that has passed the checks of a report that is read.
fn checked(report: &Report) -> Report {
    let mut json = Vec::new();
    report.write_json(&mut json).unwrap();
    Report::from_json(&json).unwrap()
}

/// All lines of all corpora, without their terminators. Blank lines are left out.
fn all_lines() -> Vec<Row> {
    let files = corpus_files().into_iter().map(|path| std::fs::read(path).unwrap());
    let lines =
        files.flat_map(|bytes| bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>());
    lines.filter(|line| !line.is_empty()).map(Some).collect()
}

#[test]
fn each_value_has_its_own_verdict() {
    let mut rows = all_lines();
    let more =
        [&b""[..], b"\n", b"\r", b"a\r", b"http://h/\r\n", b"http://h/\na", b"\xef\xbb\xbfhttp://h/", b"a\0"];
    rows.splice(100..100, more.map(|value| Some(value.to_vec())));
    rows.insert(7, None);
    // Values that are too long to be copied, before others that cannot be lines.
    let long = [&b"http://h/"[..], &vec![b'a'; 3 << 20]].concat();
    rows.splice(50..50, [Some(long.clone()), Some([&long[..], b"\n"].concat())]);
    rows.push(Some(long));
    for (rows, whatwg) in [(&rows[..], false), (&rows, true), (&rows[..1], true), (&[], false)] {
        let values: Vec<_> = rows.iter().map(Option::as_deref).collect();
        let (mut found, mut n_plain) = (Vec::new(), 0);
        judge_values(&mut Scanner::default(), &values, whatwg, |n, verdict, advisories, is_plain_url| {
            found.push((n, verdict, advisories));
            n_plain += usize::from(is_plain_url);
            assert!(!is_plain_url || parse(values[n].unwrap(), None).level() == Level::Valid);
        });
        assert!((n_plain > 10_000) == (whatwg && rows.len() > 1), "{n_plain}");
        let judged = values.iter().enumerate().filter_map(|(n, value)| Some((n, judge((*value)?))));
        let expected: Vec<_> = judged.map(|(n, one)| (n, one.verdict(), one.advisories())).collect();
        assert!(found == expected);
    }
}

#[test]
fn a_column_counts_what_a_list_counts() {
    let rows: Vec<_> =
        all_lines().into_iter().filter(|row| !row.as_ref().unwrap().ends_with(b"\r")).collect();
    let list: Vec<u8> = rows.iter().flat_map(|row| [row.as_deref().unwrap(), b"\n"].concat()).collect();
    let list = scan(&list, &everything(3));
    let report = |tally: Tally| {
        let settings = Settings::new(&everything(3), &Reading::of(Format::Lines), None, true);
        checked(&Partial::of_column("url", tally, false, settings).report())
    };
    let expected = report(list);
    for kernel in KernelId::available() {
        for (threads, n) in [(1, usize::MAX), (2, 1000), (3, 9999)] {
            let mut exec = exec(threads, 1 << 20);
            exec.kernel = kernel;
            let found = report(count(&rows, n, &everything(3), &exec));
            assert!(found == expected, "{kernel} {threads} {n}");
        }
    }
}

/// What is counted of rows, by the judge.
type Counted = (BTreeMap<u8, (u64, Vec<u64>)>, BTreeMap<(Component, Cause), (u64, Vec<u64>)>, u64, u64);

fn by_judge(rows: &[Row]) -> Counted {
    let (mut verdicts, mut defects, mut blank, mut nulls) = (BTreeMap::new(), BTreeMap::new(), 0, 0);
    let note = |found: &mut (u64, Vec<u64>), row| {
        found.0 += 1;
        if found.1.len() < 3 {
            found.1.push(row);
        }
    };
    for (row, value) in (1..).zip(rows) {
        match value.as_deref() {
            None => nulls += 1,
            Some(b"") => blank += 1,
            Some(value) => {
                let judgement = judge(value);
                note(verdicts.entry(judgement.verdict().bits()).or_default(), row);
                if let Some(defect) = judgement.defect(Grammar::Rfc3986) {
                    note(defects.entry((defect.component, defect.cause)).or_default(), row);
                }
            }
        }
    }
    (verdicts, defects, blank, nulls)
}

fn by_tally(tally: &Tally) -> Counted {
    let judged = tally.judged();
    let verdicts = judged.sets().map(|(verdict, lines)| {
        (verdict.bits(), (lines, tally.first(verdict).iter().map(|example| example.line).collect()))
    });
    let defects = tally.defects().into_iter().map(|defect| {
        let rows = defect.found.examples.iter().map(|example| example.line).collect();
        ((defect.component, defect.cause), (defect.found.lines, rows))
    });
    let nulls = tally.signs().filter_map(|(_, signs)| signs.column).map(|column| column.nulls).sum();
    (verdicts.collect(), defects.collect(), tally.blank, nulls)
}

fn row() -> impl Strategy<Value = Row> {
    prop_oneof![
        2 => Just(Some(b"http://example.org/".to_vec())),
        1 => Just(Some(b"HTTPS://u:p@example.org:8080/%2F?a/b#c".to_vec())),
        1 => "[a-c:/?#%\\[ ]{0,9}".prop_map(|text| Some(text.into_bytes())),
        1 => Just(Some(Vec::new())),
        1 => Just(None),
        1 => "(http://h/)?[\r\n]{1,2}(a\r?)?".prop_map(|text| Some(text.into_bytes())),
        1 => prop::collection::vec(any::<u8>(), 0..20).prop_map(Some),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(u32::try_from(amount(200, 5000)).unwrap()))]

    #[test]
    fn rows_of_all_kinds_are_counted_once(rows in prop::collection::vec(row(), 0..60), n in 1_usize..70) {
        for kernel in KernelId::available() {
            let mut exec = exec(1, 1 << 20);
            exec.kernel = kernel;
            let tally = count(&rows, n, &Options::default(), &exec);
            prop_assert_eq!(tally.lines(), rows.len() as u64);
            prop_assert_eq!(by_tally(&tally), by_judge(&rows), "{}", kernel);
        }
        // Counts on demand do not depend on the parts, and each row has its place.
        let whole = count(&rows, usize::MAX, &everything(3), &exec(1, 1 << 20));
        prop_assert!(count(&rows, n, &everything(3), &exec(2, 1 << 20)) == whole);
        prop_assert_eq!(by_tally(&whole), by_judge(&rows));
    }

    #[test]
    fn rows_without_order_have_one_digest(
        rows in prop::collection::vec(row(), 0..60),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..5),
        reversed: bool,
    ) {
        let whole = checked(&partial(&rows, true).report());
        let mut ends: Vec<_> = cuts.iter().map(|cut| cut.index(rows.len() + 1)).chain([0, rows.len()]).collect();
        ends.sort_unstable();
        let mut parts: Vec<_> = ends.windows(2).map(|pair| partial(&rows[pair[0]..pair[1]], true)).collect();
        if reversed {
            parts.reverse();
        }
        let merged = parts.into_iter().reduce(|one, other| one.merge(other).unwrap()).unwrap();
        let merged = checked(&merged.report());
        prop_assert_eq!(&merged.digest, &whole.digest);
        prop_assert_eq!(merged.totals, whole.totals);
        prop_assert_eq!(merged.inputs, whole.inputs);
        prop_assert!(merged.complete);
    }
}

#[test]
fn long_values_are_counted_once() {
    let long = [&b"http://h/"[..], &vec![b'a'; 3 << 20]].concat();
    let short = |text: &str| Some(text.as_bytes().to_vec());
    let rows = [
        short("http://h/b\r"),
        Some(long.clone()),
        short("a\n"),
        None,
        Some([&long[..], b" "].concat()),
        short(""),
    ];
    for n in [1, 2, 6] {
        let tally = count(&rows, n, &everything(3), &exec(1, 1 << 20));
        assert_eq!(by_tally(&tally), by_judge(&rows));
        assert_eq!(
            tally.bytes(),
            rows.iter().map(|row| row.as_ref().map_or(0, Vec::len) as u64 + 1).sum::<u64>()
        );
        assert_eq!(
            tally.lengths().longest().map(|longest| (longest.bytes, longest.line)),
            Some((long.len() as u64 + 1, 5))
        );
    }
}

#[test]
fn merged_rows_follow_one_another() {
    let rows =
        |values: &[&str]| values.iter().map(|value| Some(value.as_bytes().to_vec())).collect::<Vec<_>>();
    let one = partial(&rows(&["http://h/", "a b"]), false);
    let other = partial(&rows(&["http://i/", "http://h/a b"]), false);
    assert!(!one.clone().report().inputs[0].unordered);
    let report = checked(&one.merge(other).unwrap().report());
    let examples = |text: &str| {
        let examples = report.defects.iter().flat_map(|defect| &defect.examples);
        examples
            .filter(|example| example.text == text.as_bytes())
            .map(|example| example.line)
            .collect::<Vec<_>>()
    };
    assert_eq!((examples("a b"), examples("http://h/a b")), (vec![2], vec![4]));
    assert!(report.inputs[0].unordered && report.complete);
}
