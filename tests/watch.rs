//! A watch: its counts, and stopped scans, which must count the beginning of each input correctly.

use std::time::Duration;
use std::{fs, thread};

use urlsift::internal::run::{
    ExecOptions, Format, Reading, Scanned, Watch, list_inputs, scan_inputs, scan_records,
};
use urlsift::internal::{Reader, run, scan};

use crate::samples::gzip;
use crate::support::{self, amount};

fn exec(threads: usize, watch: &Watch) -> ExecOptions {
    let mut exec = support::exec(threads, 1000);
    exec.watch = Some(watch.clone());
    exec
}

fn list(n_lines: usize) -> Vec<u8> {
    (0..n_lines)
        .flat_map(|n| format!("http://h:{}/{n} {}\n", n % 70_000, "x".repeat(n % 50)).into_bytes())
        .collect()
}

/// A list that is long enough to be stopped inside it.
fn list_to_stop() -> Vec<u8> {
    list(usize::try_from(amount(60_000, 200_000)).unwrap())
}

/// The result of `scan`, stopped when the watch has counted `n_bytes`.
fn stopped_at(n_bytes: u64, watch: &Watch, scan: impl FnOnce() -> Scanned) -> Scanned {
    thread::scope(|scope| {
        scope.spawn(|| {
            while watch.bytes() < n_bytes {
                thread::sleep(Duration::from_micros(50));
            }
            watch.stop();
        });
        scan()
    })
}

#[test]
fn a_stop_leaves_the_beginning_of_a_file() {
    let bytes = list_to_stop();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &bytes).unwrap();
    let inputs = list_inputs(&[file.path().to_owned()]);
    let options = scan::Options::default();
    let mut n_partial = 0;
    for threads in 1..5 {
        for part in 0..4 {
            let watch = Watch::default();
            if part == 0 {
                watch.stop();
            }
            let scanned = stopped_at(bytes.len() as u64 / 4 * part, &watch, || {
                scan_inputs(&inputs, &options, &exec(threads, &watch))
            });
            let len = usize::try_from(scanned.tally.bytes()).unwrap();
            assert_eq!((watch.bytes(), watch.lines()), (len as u64, scanned.tally.lines()));
            assert_eq!(scanned.tally, scan(&bytes[..len], &options));
            assert_eq!(
                scanned.failures.iter().filter(|failure| failure.is_stop()).count(),
                scanned.failures.len()
            );
            assert_eq!(scanned.failures.is_empty(), len == bytes.len());
            n_partial += usize::from(len < bytes.len());
        }
    }
    assert!(n_partial >= 4, "a stop before the start leaves nothing, at the least");
}

/// Reads by shards or sequentially.
#[test]
fn a_stop_leaves_the_beginning_of_records() {
    let mut n_partial = 0;
    for (format, head, quote) in [(Format::JsonLines, "", "{\"url\": \""), (Format::Csv, "url,n\n", "\"")] {
        let rest = if format == Format::Csv { "\n\",1" } else { "\"}" };
        let row =
            |n| if n % 1000 == 999 { "\"\n".to_owned() } else { format!("{quote}http://h/{n}{rest}\n") };
        let rows = (0..amount(6_000, 50_000)).map(row);
        let bytes = [head.to_owned()].into_iter().chain(rows).collect::<String>().into_bytes();
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), &bytes).unwrap();
        let inputs = list_inputs(&[file.path().to_owned()]);
        for threads in 1..4 {
            for part in 0..4 {
                let watch = Watch::default();
                let scanned = stopped_at(bytes.len() as u64 / 3 * part, &watch, || {
                    let (reading, options) = (Reading::of(format), scan::Options::default());
                    scan_records(&inputs, &reading, &options, &exec(threads, &watch))
                });
                let len = usize::try_from(scanned.tally.bytes()).unwrap();
                let mut reader = Reader::new(format);
                let refused: Vec<_> = reader.fields(&bytes[..len]).filter_map(Result::err).collect();
                let found = scanned.records.first().map(|(_, records)| records);
                assert_eq!(found.map_or(0, |records| records.counts.records()), reader.counts().records());
                for bad in found.iter().flat_map(|records| records.refused.values().flatten()) {
                    assert!(refused.contains(bad), "{bad:?}");
                }
                assert!(scanned.failures.iter().all(run::Failure::is_stop));
                assert_eq!(scanned.failures.is_empty(), len == bytes.len());
                n_partial += usize::from(len < bytes.len());
            }
        }
    }
    assert!(n_partial >= 3);
}

/// A record that is too long is skipped, and skipping it can be stopped.
#[test]
fn a_stop_inside_a_record_that_is_too_long() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), b"{\"url\": \"http://h/\"}\n".repeat(9)).unwrap();
    let len = 4 << 30;
    file.as_file().set_len(len).unwrap();
    let inputs = list_inputs(&[file.path().to_owned()]);
    for threads in 1..3 {
        let watch = Watch::default();
        let scanned = stopped_at(20 << 20, &watch, || {
            let (reading, options) = (Reading::of(Format::JsonLines), scan::Options::default());
            scan_records(&inputs, &reading, &options, &exec(threads, &watch))
        });
        assert!(watch.bytes() < len / 2 && scanned.failures[0].is_stop());
        assert_eq!(scanned.records[0].1.counts.read(), 9);
    }
}

/// The bytes as compressed files of one member and of many.
fn packed(bytes: &[u8]) -> [Vec<u8>; 3] {
    [gzip(bytes), bytes.chunks(30_000).flat_map(gzip).collect(), zstd::encode_all(bytes, 1).unwrap()]
}

#[test]
fn a_stop_leaves_the_beginning_of_compressed_input() {
    let bytes = list_to_stop();
    let folder = tempfile::tempdir().unwrap();
    let mut n_partial = 0;
    for (n, packed) in packed(&bytes).into_iter().enumerate() {
        let path = folder.path().join(n.to_string());
        fs::write(&path, &packed).unwrap();
        let inputs = list_inputs(&[path]);
        assert_eq!(inputs[0].size_bytes(), Some(packed.len() as u64));
        let options = scan::Options::default();
        for threads in 1..4 {
            for part in 0..5 {
                let watch = Watch::default();
                let scan_all = || scan_inputs(&inputs, &options, &exec(threads, &watch));
                let scanned = if part < 4 {
                    stopped_at(packed.len() as u64 / 4 * part, &watch, scan_all)
                } else {
                    scan_all()
                };
                let len = usize::try_from(scanned.tally.bytes()).unwrap();
                assert_eq!(scanned.tally, scan(&bytes[..len], &options));
                assert!(scanned.failures.iter().all(run::Failure::is_stop));
                assert_eq!(scanned.failures.is_empty(), len == bytes.len());
                // The watch counts compressed bytes.
                assert!(watch.bytes() <= packed.len() as u64 && watch.lines() == scanned.tally.lines());
                if part == 4 {
                    assert_eq!((watch.bytes(), len), (packed.len() as u64, bytes.len()));
                }
                n_partial += usize::from(len < bytes.len());
            }
        }
    }
    assert!(n_partial >= 9);
}

#[test]
fn watching_changes_nothing() {
    let bytes = list(200_000);
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &bytes).unwrap();
    let watch = Watch::default();
    let inputs = list_inputs(&[file.path().to_owned()]);
    assert_eq!(inputs[0].size_bytes(), Some(bytes.len() as u64));
    let scanned = scan_inputs(&inputs, &scan::Options::default(), &exec(3, &watch));
    assert!(scanned.failures.is_empty() && scanned.tally == scan(&bytes, &scan::Options::default()));
    assert_eq!((watch.bytes(), watch.lines()), (bytes.len() as u64, 200_000));
}
