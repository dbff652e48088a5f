//! `urlsift lines` on Parquet files: compared with the values one by one, and with what pyarrow reads.

use std::fmt::Write as _;
use std::path::Path;

use urlsift::internal::escape::Keep;
use urlsift::internal::rows::{Records, write_records};
use urlsift::internal::run::{Ends, Format, Selector, Skip, list_inputs};

use crate::support::{columns, exec, file, naive_cells};

use super::{
    Found, check_kind, one_column, open, page, plain_group, read, samples, with_groups, with_values,
};

const COLUMNS: &str = "line offset length field verdict defect text";

fn rows(
    path: &Path,
    fields: &[Selector],
    names: &str,
    (threads, shard_len): (usize, usize),
) -> (String, Ends) {
    let mut records = Records::default();
    records.columns = columns(names);
    records.keep = Keep::Ascii;
    records.reading.format = None;
    records.reading.any_contents = false;
    records.reading.fields = fields.to_vec();
    let (exec, mut out) = (exec(threads, shard_len), Vec::new());
    let written = write_records(&list_inputs(&[path]), &records, &exec, &mut out).unwrap();
    (String::from_utf8(out).unwrap(), written)
}

/// The same rows by a simple loop.
fn naive_rows(found: &Found) -> String {
    let mut rows = String::new();
    for (row, offset, bytes) in &found.values {
        write!(rows, "{row}\t{offset}\t").unwrap();
        rows += &naive_cells(bytes, "url");
    }
    rows
}

#[test]
fn there_is_a_row_for_each_value_in_order() {
    for (path, column) in samples() {
        let name = path.display().to_string();
        let (table, number) = open(&path, column.as_ref()).unwrap();
        let found = read(&table, number);
        for effort in [(1, 1), (2, 100), (3, 5000), (2, 1 << 20)] {
            let (text, written) = rows(&path, column.as_slice(), COLUMNS, effort);
            assert_eq!(text, naive_rows(&found), "{name} {effort:?}");
            assert!(written.failures.is_empty(), "{name}");
            let [(0, records)] = &written.records[..] else { panic!("{name}: one input") };
            assert_eq!(records.format, Format::Parquet);
            assert_eq!(records.column, Some(table.columns()[number].to_string()));
            let mut read: Vec<_> = found.values.iter().map(|(row, ..)| row).collect();
            read.dedup();
            let n_read = read.len() as u64;
            assert_eq!((records.counts.read(), records.counts.records()), (n_read, table.rows()), "{name}");
            assert_eq!(records.counts.skipped(Skip::NoField), table.rows() - n_read, "{name}");
            let fields = records.fields().map(|(_, fields)| fields.judged.lines() + fields.blank);
            assert_eq!(fields.sum::<u64>(), found.values.len() as u64, "{name}");
        }
    }
}

#[test]
fn rows_before_damage_are_written() {
    let good: Vec<_> = (0..50).map(|n| format!("http://a.example/{n}")).collect();
    let (first, n) = plain_group(&good);
    let broken = page(3, 0, b"\x08\0\0\0http://a\x08\0\0\0http://b\xff\0\0\0http://c");
    let pages = [&first[..], &broken, &first].concat();
    let places = [(4, n, n), (4 + first.len(), 3, 3), (4 + first.len() + broken.len(), n, n)];
    let path = file(with_groups(0, &pages, &places));
    for effort in [(1, 1), (1, 1 << 20), (3, 1), (3, 1 << 20)] {
        let (text, written) = rows(&path, &[], "line text", effort);
        let expected: Vec<_> = good.iter().zip(1..).map(|(value, row)| format!("{row}\t{value}")).collect();
        assert_eq!(text.lines().collect::<Vec<_>>(), expected, "{effort:?}");
        let [failure] = &written.failures[..] else { panic!("one failure") };
        check_kind(&failure.error);
        let message = failure.error.to_string();
        assert!(message.starts_with("row group 2, page at byte "), "{message}");
        assert!(message.ends_with("; 50 of its 103 rows were read"), "{message}");
        assert_eq!(written.records[0].1.counts.records(), 50);
    }
}

#[test]
fn files_without_values_have_no_rows() {
    let nulls = page(3, 0, &super::levels(3, 0));
    for (bytes, n_rows) in
        [(with_values(&[]), 0), (one_column(1, &nulls, 3, 3), 3), (with_values(&[vec![]]), 0)]
    {
        let (text, written) = rows(&file(bytes), &[], COLUMNS, (2, 1 << 20));
        assert!(text.is_empty() && written.failures.is_empty(), "{:?}", written.failures);
        assert_eq!(written.records[0].1.counts.skipped(Skip::NoField), n_rows);
    }
}

/// Values of more than a chunk, and of more than a batch.
#[test]
fn long_values_are_written_whole() {
    let values = [100_000, 1, 6 << 20, 0, 40_000].map(|len| "/".repeat(len)).to_vec();
    let path = file(with_values(&[values.clone(), values.clone()]));
    for threads in [1, 3] {
        let (text, _) = rows(&path, &[], "line length", (threads, 1 << 20));
        let expected = (1..=10).map(|row| match values[(row - 1) % 5].len() {
            0 => format!("{row}\t-"),
            len => format!("{row}\t{len}"),
        });
        assert_eq!(text.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
    }
}

/// The values of several columns, row by row. Each column is also read alone.
#[test]
fn rows_of_several_columns_are_interleaved() {
    for (path, column) in samples() {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let column = column.unwrap_or_else(|| {
            let (_, usual) = open(&path, None).unwrap();
            Selector::Number(usual + 1)
        });
        let other = if name == "nested" { "page.title".parse().unwrap() } else { column.clone() };
        let fields = [column.clone(), other, column];
        let mut expected = Vec::new();
        for (n, field) in fields.iter().enumerate() {
            let (table, number) = open(&path, Some(field)).unwrap();
            let values = read(&table, number).values.into_iter();
            expected.extend(values.map(|(row, _, bytes)| (row, n, field.to_string(), bytes.len())));
        }
        // The sort is stable.
        expected.sort_by_key(|&(row, n, ..)| (row, n));
        for effort in [(1, 1), (2, 100), (3, 5000), (2, 1 << 20)] {
            let (text, written) = rows(&path, &fields, "line field length offset", effort);
            assert!(written.failures.is_empty(), "{name}");
            let mut last = None;
            for (found, (row, _, field, len)) in text.lines().zip(&expected) {
                let (found, offset) = found.rsplit_once('\t').unwrap();
                let len = if *len == 0 { "-".to_owned() } else { len.to_string() };
                assert_eq!(found, format!("{row}\t{field}\t{len}"), "{name} {effort:?}");
                let offset = Some(offset.parse::<u64>().unwrap());
                assert!(last < offset, "{name}: each value has its own place");
                last = offset;
            }
            assert_eq!(text.lines().count(), expected.len(), "{name}");
            let records = &written.records[0].1;
            let n_of = |n: usize| expected.iter().filter(|(_, of, ..)| *of == n).count() as u64;
            assert_eq!(records.selected.len(), fields.len(), "{name}");
            for (n, selected) in records.selected.iter().enumerate() {
                let counted = selected.roles.values().map(|fields| fields.judged.lines() + fields.blank);
                assert_eq!((selected.name.as_ref(), counted.sum()), (Some(&fields[n].to_string()), n_of(n)));
            }
        }
    }
}

#[test]
fn a_dot_may_be_part_of_a_name() {
    let mut bytes = with_values(&[vec!["/a".to_owned()]]);
    let name = bytes.windows(3).rposition(|name| name == b"url").unwrap();
    bytes[name + 1] = b'.';
    let (text, written) = rows(&file(bytes), &["u.l".parse().unwrap()], "text", (1, 1 << 20));
    assert_eq!((&*text, written.failures.len()), ("/a\n", 0));
}
