//! Scans of records: the counts and places must equal those of the fields one by one, for any options.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crate::samples::{gzip, samples};
use crate::support::{self, amount, everything, file};
use urlsift::internal::run::{
    BadCause, BadRecord, Codec, ExecOptions, Format, KernelId, Reading, Role, Scanned, list_inputs,
    scan_records,
};
use urlsift::internal::scan::Options;
use urlsift::internal::{MAX_RECORD_LEN, Reader};
use urlsift::tally::{Example, FoundDefect, MAX_EXAMPLES, Tally, TopOf};
use urlsift::{Grammar, judge};

fn exec(threads: usize, shard_len: usize, mmap: bool) -> ExecOptions {
    let mut exec = support::exec(threads, shard_len);
    exec.mmap = mmap;
    exec
}

fn scanned(bytes: &[u8], format: Format, options: &Options, exec: &ExecOptions) -> Scanned {
    let path = file(bytes);
    scan_records(&list_inputs(&[&path]), &Reading::of(format), options, exec)
}

/// Compares a scan with a loop over the fields: judged and blank fields by role, and the refused fields with offset and
/// line.
fn check(name: &str, bytes: &[u8], format: Format, scanned: &Scanned) {
    let tally = &scanned.tally;
    let mut reader = Reader::new(format);
    let (mut blank, mut refused, mut accepted) = (0, Vec::new(), [0; 5]);
    let mut by_role = [0; Role::ALL.len()];
    let mut bad: BTreeMap<BadCause, Vec<BadRecord>> = BTreeMap::new();
    for field in reader.fields(bytes) {
        let field = match field {
            Ok(field) => field,
            Err(record) => {
                bad.entry(record.cause).or_default().push(record);
                continue;
            }
        };
        if field.bytes.is_empty() {
            blank += 1;
            continue;
        }
        by_role[field.role as usize] += 1;
        let verdict = judge(&field.bytes).verdict();
        for grammar in verdict.iter() {
            accepted[grammar as usize] += 1;
        }
        if let Some(defect) = judge(&field.bytes).defect(Grammar::Rfc3986) {
            refused.push((
                defect.component,
                defect.cause,
                field.offset,
                field.line,
                defect.offset,
                field.bytes.to_vec(),
            ));
        }
    }
    let (_, records) = &scanned.records[0];
    assert_eq!(&records.counts, reader.counts(), "{name}");
    for records in bad.values_mut() {
        records.truncate(MAX_EXAMPLES);
    }
    assert_eq!(records.refused, bad, "{name}");
    assert_eq!(tally.blank, blank, "{name}");
    assert_eq!(Grammar::ALL.map(|grammar| tally.judged().accepted(grammar)), accepted, "{name}");
    for &role in Role::ALL {
        let of_role = records.fields().filter(|(of, _)| *of == role);
        let found = of_role.map(|(_, fields)| fields.judged.lines()).sum::<u64>();
        assert_eq!(found, by_role[role as usize], "{name} {role}");
    }
    refused.sort_by_key(|&(.., offset, _, _, _)| offset);
    let defects = tally.defects();
    assert_eq!(defects.iter().map(|defect| defect.found.lines).sum::<u64>(), refused.len() as u64, "{name}");
    for FoundDefect { component, cause, found, .. } in defects {
        let of_kind = refused.iter().filter(|refused| (refused.0, refused.1) == (component, cause));
        let first: Vec<_> = of_kind.clone().take(MAX_EXAMPLES).collect();
        assert_eq!(found.lines, of_kind.count() as u64, "{name} {component} {cause}");
        assert_eq!(found.examples.len(), first.len());
        for (example, (.., offset, line, at, text)) in found.examples.iter().zip(first) {
            let Example { place, line: number, at: found_at, .. } = example;
            assert_eq!(
                (place.offset, *number, *found_at),
                (*offset, *line, *at),
                "{name} {component} {cause}"
            );
            let skipped = usize::try_from(example.skipped).unwrap();
            assert_eq!(*example.text, text[skipped..][..example.text.len()], "{name}");
        }
    }
}

#[test]
fn records_are_counted_as_their_fields_one_by_one() {
    for (name, bytes, format) in samples() {
        let mut first: Option<Scanned> = None;
        // The short mode takes two of the efforts for each kernel, and the others for the next one.
        let share = usize::try_from(amount(2, 1)).unwrap();
        for (n, kernel) in KernelId::available().enumerate() {
            let efforts = [(1, 300, false), (3, 300, true), (3, 5000, false), (2, 1 << 20, true)];
            for (threads, shard_len, mmap) in efforts.into_iter().skip(n % share).step_by(share) {
                let mut exec = exec(threads, shard_len, mmap);
                exec.kernel = kernel;
                let scanned = scanned(&bytes, format, &everything(5), &exec);
                if let Some(first) = &first {
                    let what = format!("{name} by {kernel} in chunks of {shard_len}");
                    assert_eq!((&scanned.tally, &scanned.records), (&first.tally, &first.records), "{what}");
                } else {
                    check(&name, &bytes, format, &scanned);
                }
                let ends = !matches!(format, Format::Warc | Format::Wat);
                assert_eq!(scanned.failures.is_empty(), ends, "{name}");
                first = first.or(Some(scanned));
            }
        }
        let [run] = first.as_ref().unwrap().tally.runs() else { panic!("{name}: one run") };
        let lines = memchr::memchr_iter(b'\n', &bytes).count() as u64 + u64::from(!bytes.ends_with(b"\n"));
        assert_eq!((run.start, run.end, run.lines), (0, bytes.len() as u64, lines), "{name}");
    }
}

/// Names are counted per section of the input. Records whose fields are much longer or shorter than the record must not
/// shift the sections.
#[test]
fn frequent_names_do_not_depend_on_record_lengths() {
    let mut bytes = Vec::new();
    for n in 0..14_000 {
        let (host, pad) = (n % 997, "x".repeat(n % 400 * 6));
        let record = format!("{{\"pad\": \"{pad}\", \"url\": \"http://h{host}.example/\\u0041\\n\"}}\n");
        bytes.extend_from_slice(record.as_bytes());
        bytes.extend_from_slice(format!("{{\"url\": \"http://g{host}.example/\"}}\n").as_bytes());
    }
    assert!(bytes.len() > 16 << 20);
    let mut tallies = Vec::new();
    for (threads, shard_len) in [(1, 100_000), (2, 3 << 20)] {
        let exec = exec(threads, shard_len, false);
        tallies.push(scanned(&bytes, Format::JsonLines, &everything(5), &exec).tally);
    }
    assert_eq!(tallies[0].top(TopOf::Hosts, 10), tallies[1].top(TopOf::Hosts, 10));
    assert_eq!(tallies[0], tallies[1]);
}

/// An unreadable record is reported with its line in the file, wherever the file was cut.
#[test]
fn refused_records_have_the_lines_of_the_file() {
    let mut bytes = Vec::new();
    for n in 0..2000 {
        match n % 191 {
            7 => bytes.extend(b"{\"url\": 1}\n"),
            90 => bytes.extend(b"\r\n{\"url\": \"http://h/\n"),
            101 => bytes.extend(format!("{{\"url\": \"http://h/{}\"}}\n", "x".repeat(3000)).bytes()),
            _ => bytes.extend(format!("{{\"url\": \"http://h{n}/\"}}\n").bytes()),
        }
    }
    bytes.extend(b"{\"url\"");
    for (threads, shard_len) in [(1, 16), (2, 16), (4, 100), (3, 1000), (2, 70_000)] {
        for mmap in [false, true] {
            let exec = exec(threads, shard_len, mmap);
            let name = format!("{threads} threads, shards of {shard_len}, mapped: {mmap}");
            check(
                &name,
                &bytes,
                Format::JsonLines,
                &scanned(&bytes, Format::JsonLines, &everything(5), &exec),
            );
        }
    }
}

/// Whether a record is too long must not depend on where the input is cut, nor on CRs at the end of the record.
#[test]
fn record_length_limit_does_not_depend_on_cuts() {
    let log = "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a HTTP/1.1\" 200 1";
    let cases = [
        (Format::JsonLines, "", "{\"url\": \"http://h/\"}"),
        (Format::Cdxj, "", "org,example)/ 20260101000000 {\"url\": \"http://h/\"}"),
        (Format::Clf, "", log),
        (Format::Csv, "id,url\n", "1,http://h/"),
        (Format::Csv, "id,url\n", "1,\"http://h/\""),
        (Format::W3c, "#Fields: cs-uri-stem\n", "/a"),
        (Format::W3c, "#Fields: cs-uri-stem\n", "#Fields: date"),
        (Format::Cdx, " CDX N b a\n", "org,example)/ 20260101000000 http://h/"),
        (Format::JsonLines, "", ""),
    ];
    for (format, head, record) in cases.into_iter().step_by(usize::try_from(amount(4, 2)).unwrap()) {
        let records = format!("{record}\n").repeat(3000);
        let room = MAX_RECORD_LEN - record.len();
        // A record of the maximum length, and one that is a byte longer.
        let all = [(9 << 20, "x\n"), (room, "\n"), (room + 1, "\n")];
        for &(crs, end) in &all[..if format == Format::JsonLines { 3 } else { 1 }] {
            let bytes = [head, &records, record, &"\r".repeat(crs), end, &records, record].concat();
            let found = |threads, shard_len, mmap| {
                let exec = exec(threads, shard_len, mmap);
                let found = scanned(bytes.as_bytes(), format, &Options::default(), &exec);
                (found.tally, format!("{:?}", found.records))
            };
            // One shard. A buffer of its size is filled with zeros, so it is not much longer than the records.
            let whole = found(1, bytes.len() + 1, false);
            for cut in [found(1, 1 << 20, false), found(2, 1 << 20, true)] {
                assert!(cut == whole, "{format} {record} {crs} {end:?}: {}\n{}", cut.1, whole.1);
            }
        }
    }
}

/// What follows a cut is read by the last header that is not too long.
#[test]
fn a_header_that_is_too_long_hides_no_other() {
    let long = format!("#Fields: {}\n", "a".repeat(MAX_RECORD_LEN));
    let before = ["#Fields: date cs-uri-stem\n1 /a\n", &long].concat();
    let mut reader = Reader::new(Format::W3c);
    assert_eq!(reader.cut(before.as_bytes(), false), before.len());
    let fields: Vec<_> = reader.fields(b"2 /b\n").map(|field| field.unwrap().bytes).collect();
    assert_eq!(fields, [&b"/b"[..]]);
}

/// Several inputs of any kind count like each of them alone.
#[test]
fn several_inputs_are_counted_as_each_alone() {
    let directory = tempfile::tempdir().unwrap();
    let mut paths = Vec::new();
    for (name, bytes, format) in samples() {
        if Format::detect(&bytes) == format {
            let path = directory.path().join(&name);
            fs::write(&path, &bytes).unwrap();
            paths.push(path);
            let path = directory.path().join(name + ".gz");
            fs::write(&path, gzip(&bytes)).unwrap();
            paths.push(path);
        }
    }
    paths.push(directory.path().join("nothing there"));
    let scan = |paths: &[PathBuf], threads, shard_len, mmap| {
        let exec = exec(threads, shard_len, mmap);
        scan_records(&list_inputs(paths), &Reading::default(), &everything(5), &exec)
    };
    let alone: Vec<_> =
        paths.iter().map(|path| scan(std::slice::from_ref(path), 1, 1 << 20, false)).collect();
    let mut first: Option<Tally> = None;
    for (threads, shard_len, mmap) in [(1, 1 << 20, false), (1, 500, true), (2, 700, false), (4, 2000, true)]
    {
        let all = scan(&paths, threads, shard_len, mmap);
        assert_eq!(all.records.len(), alone.iter().map(|one| one.records.len()).sum::<usize>());
        for (number, records) in &all.records {
            assert_eq!(
                records,
                &alone[*number as usize].records[0].1,
                "{}",
                paths[*number as usize].display()
            );
        }
        let failed: Vec<_> = all.failures.iter().map(|failure| failure.input as usize).collect();
        let expected = (0..paths.len()).filter(|&number| !alone[number].failures.is_empty());
        assert_eq!(failed, expected.collect::<Vec<_>>());
        let packed: Vec<_> = all.compressed.iter().map(|one| (one.input as usize, one.bytes)).collect();
        let expected = alone.iter().enumerate().flat_map(|(number, one)| {
            one.compressed.iter().map(move |compressed| (number, compressed.bytes))
        });
        assert_eq!(packed, expected.collect::<Vec<_>>());
        for grammar in Grammar::ALL {
            let sum = alone.iter().map(|one| one.tally.judged().accepted(grammar)).sum::<u64>();
            assert_eq!(all.tally.judged().accepted(grammar), sum);
        }
        assert_eq!(&all.tally, first.get_or_insert_with(|| all.tally.clone()));
    }
}

#[test]
fn a_missing_field_is_an_error_of_the_input() {
    let directory = tempfile::tempdir().unwrap();
    let (list, log) = (directory.path().join("list"), directory.path().join("log"));
    fs::write(&list, "http://example.org/\n").unwrap();
    fs::write(&log, "::1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 200 1\n").unwrap();
    let mut reading = Reading::default();
    reading.fields = vec!["referer".parse().unwrap()];
    let scanned =
        scan_records(&list_inputs(&[list, log]), &reading, &Options::default(), &ExecOptions::default());
    let [failure] = &scanned.failures[..] else { panic!("the list has no such field") };
    let said = failure.error.to_string();
    assert!(
        failure.input == 0 && said.starts_with("no field \"referer\": lines have no fields, and "),
        "{said}"
    );
    assert_eq!(scanned.records[0].1.counts.records(), 1);
}

/// Crawls and logs are mostly compressed. Records compressed by gzip, in several members or truncated, are the same.
#[test]
fn compressed_records_are_the_same() {
    let exec = exec(2, 1 << 20, false);
    for (name, bytes, format) in samples() {
        let packed: Vec<u8> = bytes.chunks(1000).flat_map(gzip).collect();
        let path = file(&packed);
        let inputs = list_inputs(&[&path]);
        let plain = scanned(&bytes, format, &Options::default(), &exec);
        // Some formats cannot be detected by the first records.
        let told = (Format::detect(&bytes) == format).then(Reading::default);
        for reading in [Reading::of(format)].into_iter().chain(told) {
            let found = scan_records(&inputs, &reading, &Options::default(), &exec);
            assert_eq!(found.records, plain.records, "{name}");
            assert_eq!(found.tally, plain.tally, "{name}");
            assert_eq!(found.failures.len(), plain.failures.len(), "{name}");
            let [compressed] = found.compressed[..] else { panic!("{name}: one input") };
            assert_eq!((compressed.codec, compressed.bytes), (Codec::Gzip, packed.len() as u64), "{name}");
        }
    }
}
