//! Scans compared with one by the reference, merging as a monoid, and equal reports for files, pipes, threads, cuts and sizes.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::reference;
use crate::scan_by_judge::{self, Judged, count_by, nameless};
use crate::support::{self, amount, corpus_files, exec_lines, with_scanner};
use proptest::prelude::*;
use urlsift::internal::run::{Codec, ExecOptions, Input, KernelId, list_inputs, scan_inputs, scan_memory};
use urlsift::internal::scan::{Place, scan_part};
use urlsift::internal::{scan, scan_into};
use urlsift::tally::{FoundDefect, MAX_SCHEMES};
use urlsift::{Grammar, Tally};

fn options(grammar: Grammar) -> scan::Options {
    let mut options = scan::Options::default();
    options.grammar = grammar;
    options
}

/// Options with all optional counts.
fn everything(grammar: Grammar) -> scan::Options {
    let mut options = support::everything(3);
    options.grammar = grammar;
    options
}

/// Lines of all kinds with all kinds of terminators.
fn corpus() -> impl Strategy<Value = Vec<u8>> {
    let line = prop_oneof![
        Just(b"http://example.org/".to_vec()),
        Just(b"HTTPS://u:p@example.org:8080/%2F?a/b#c".to_vec()),
        Just(b"ftp://h/a;b".to_vec()),
        Just(b"//h//x".to_vec()),
        "//([a-cA:@]{0,4}|[a-c]{254,258}|[\\[\\]:1]{0,5}) ?".prop_map(String::into_bytes),
        Just(b"gopher://h:25/x%0d".to_vec()),
        Just("http://h/\u{e9}".as_bytes().to_vec()),
        Just(b"http://[::1]/".to_vec()),
        Just(b"a b\0".to_vec()),
        Just(b"\xef\xbb\xbfx".to_vec()),
        "[a-c]{1,3}:[a-c/?#%]{0,9}".prop_map(String::into_bytes),
        prop::collection::vec(any::<u8>(), 0..40),
        Just(Vec::new()),
    ];
    let end = prop_oneof![5 => Just("\n"), 1 => Just("\r\n"), 1 => Just("\r\r\n"), 1 => Just("\n\n"), 1 => Just("\r")];
    prop::collection::vec((line, end), 0..30).prop_map(|lines| {
        lines.into_iter().flat_map(|(line, end)| [line, end.as_bytes().to_vec()].concat()).collect()
    })
}

/// The inputs, without detection of compression.
fn plain(paths: &[PathBuf]) -> Vec<Input> {
    list_inputs(paths).into_iter().map(|input| input.with_codec(Some(Codec::Plain))).collect()
}

fn scan_file(path: &Path, options: &scan::Options, exec: &ExecOptions) -> Tally {
    let scanned = scan_inputs(&plain(&[path.to_owned()]), options, exec);
    assert!(scanned.failures.is_empty(), "{:?}", scanned.failures);
    scanned.tally
}

/// Compares the counts of a scan with those of a loop over lines that the reference judges. The reference does not name defects.
fn counts_as_by_reference(bytes: &[u8], grammars: [Grammar; 2]) -> Result<(), String> {
    let mut known = HashMap::new();
    for grammar in grammars {
        let slow = count_by(bytes, |line| {
            let offsets = *known.entry(line.to_vec()).or_insert_with(|| reference::judge_all(line));
            let verdict = (0..5).filter(|&g| offsets[g].is_none()).fold(0, |bits, g| bits | 1 << g);
            Judged {
                scheme: reference::scheme(line).map(|len| &line[..len]),
                verdict,
                advisories: if verdict == 0 { Vec::new() } else { reference::advisories_of_accepted(line) },
                defect: offsets[grammar as usize].map(|at| ("", "", at as u64)),
            }
        });
        let fast = nameless(scan_by_judge::of(&scan(bytes, &options(grammar))));
        if fast != slow {
            return Err(scan_by_judge::difference(&fast, &slow));
        }
    }
    Ok(())
}

#[test]
fn the_scan_counts_as_the_naive_twin() {
    for path in corpus_files() {
        if path.ends_with("schemes_2000.txt") {
            continue; // `scan_by_judge` knows no bound on schemes; `schemes_are_bounded` looks at that.
        }
        let bytes = fs::read(&path).unwrap();
        // The reference is slow, so only the beginning of a long list is compared.
        let bytes = &bytes[..bytes.len().min(usize::try_from(amount(25_000, 150_000)).unwrap())];
        if let Err(difference) = counts_as_by_reference(bytes, [Grammar::Rfc3986, Grammar::Rfc1738]) {
            panic!("{}\n{difference}", path.display());
        }
    }
}

#[test]
fn optional_counts_are_right() {
    for path in corpus_files() {
        let bytes = fs::read(&path).unwrap();
        let expected = scan_by_judge::count_on_demand(&bytes);
        let plain = scan(&bytes, &options(Grammar::Rfc3986));
        assert!(scan_by_judge::on_demand(&plain) == scan_by_judge::OnDemand::default());
        let plain = scan_by_judge::of(&plain);
        for kernel in KernelId::available() {
            let mut tally = Tally::default();
            let place = Place { input: 0, offset: 0 };
            let all = everything(Grammar::Rfc3986);
            with_scanner(kernel, |scanner| scan_into(&mut tally, scanner, &bytes, place, &all));
            let counted = scan_by_judge::on_demand(&tally);
            assert!(counted == expected, "{} {kernel}\n{counted:?}\n{expected:?}", path.display());
            // Optional counts change no other count.
            assert!(scan_by_judge::of(&tally) == plain, "{} {kernel}", path.display());
        }
    }
}

#[test]
fn counts_add_up() {
    for path in corpus_files() {
        for grammar in Grammar::ALL {
            let bytes = fs::read(&path).unwrap();
            let tally = scan(&bytes, &options(grammar));
            let judged = tally.judged();
            assert_eq!(tally.bytes(), bytes.len() as u64);
            assert_eq!(tally.lines(), judged.lines() + tally.blank);
            assert_eq!(judged.lines(), judged.sets().map(|(_, lines)| lines).sum::<u64>());
            let refused: u64 = tally.defects().iter().map(|defect| defect.found.lines).sum();
            assert_eq!(judged.lines(), judged.accepted(grammar) + refused, "{} {grammar}", path.display());
            for g in Grammar::ALL {
                let by_scheme = tally.schemes().iter().map(|(_, counts)| counts.accepted(g)).sum::<u64>();
                let rest = tally.relative().accepted(g) + tally.unnamed_schemes().accepted(g);
                assert_eq!(judged.accepted(g), by_scheme + rest);
            }
            for FoundDefect { found, .. } in tally.defects() {
                let kept = usize::try_from(found.lines).unwrap().min(urlsift::tally::MAX_EXAMPLES);
                assert_eq!(found.examples.len(), kept);
                assert!(found.examples.is_sorted_by_key(|example| example.place));
                for example in &found.examples {
                    let before = &bytes[..usize::try_from(example.place.offset).unwrap()];
                    let line = 1 + before.split(|&byte| byte == b'\n').count() as u64 - 1;
                    assert_eq!(example.line, line, "{}", path.display());
                }
            }
        }
    }
}

#[test]
fn counts_do_not_depend_on_cuts_threads_and_reading() {
    for path in corpus_files() {
        let bytes = fs::read(&path).unwrap();
        let options = everything(Grammar::Rfc2396);
        let whole = scan(&bytes, &options);
        let sizes: &[_] = if bytes.len() > 100_000 {
            &[(1, 1 << 20, 1 << 24), (2, 65_537, 1000), (3, 9_973, 300)]
        } else {
            // A merge takes as long as to scan many lines, so the short mode cuts only short files into tiny shards.
            let sizes = &[(1, 1 << 20, 1 << 24), (2, 4096, 64), (3, 509, 3), (2, 67, 100)];
            if bytes.len() as u64 > amount(20_000, 100_000) { &sizes[..3] } else { sizes }
        };
        // The short mode takes every second size for each kernel, and the others for the next one.
        let share = usize::try_from(amount(2, 1)).unwrap();
        for (n, &(threads, shard_len, line_len)) in sizes.iter().enumerate() {
            let mut exec = exec_lines(threads, shard_len, line_len);
            for mmap in [false, true] {
                exec.mmap = mmap;
                assert!(scan_file(&path, &options, &exec) == whole, "{} {exec:?}", path.display());
            }
            for kernel in KernelId::available().skip(n % share).step_by(share) {
                exec.kernel = kernel;
                let (tally, path_counts) = scan_memory(&bytes, &options, &exec);
                assert!(tally == whole, "{} {exec:?}", path.display());
                assert_eq!(path_counts.bulk + path_counts.listed, whole.judged().lines(), "{exec:?}");
            }
        }
    }
}

#[test]
fn many_small_inputs_count_alike() {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<u8> = corpus_files().into_iter().flat_map(|path| fs::read(path).unwrap()).collect();
    for (n, part) in lines.chunks(20_011).enumerate() {
        fs::write(folder.path().join(format!("{n:04}")), part).unwrap();
    }
    let inputs = plain(&[folder.path().to_owned()]);
    assert!(inputs.len() > 200);
    let options = everything(Grammar::Rfc1808);
    let whole = scan_inputs(&inputs, &options, &exec_lines(1, 1 << 20, 1 << 24)).tally;
    for exec in [exec_lines(3, 1 << 20, 1 << 24), exec_lines(2, 7_000, 1 << 24), exec_lines(2, 1 << 20, 500)]
    {
        let tally = scan_inputs(&inputs, &options, &exec).tally;
        assert!(tally == whole, "{exec:?}");
    }
}

/// A named pipe can be read only once and delivers small portions.
#[cfg(unix)]
#[test]
fn a_pipe_counts_as_a_file() {
    let folder = tempfile::tempdir().unwrap();
    for (n, path) in corpus_files().into_iter().enumerate() {
        let bytes = fs::read(&path).unwrap();
        let options = everything(Grammar::Rfc3986);
        let whole = scan(&bytes, &options);
        for exec in [exec_lines(1, 1 << 20, 1 << 24), exec_lines(2, 3000, 200)] {
            let pipe = folder.path().join(format!("{n}-{}", exec.shard_len));
            assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
            let tally = std::thread::scope(|scope| {
                scope.spawn(|| fs::write(&pipe, &bytes).unwrap());
                scan_file(&pipe, &options, &exec)
            });
            assert!(tally == whole, "{} {exec:?}", path.display());
        }
    }
}

#[test]
fn a_file_truncated_during_the_scan_is_incomplete() {
    let file = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    let line = b"http://h/some/path?and=a&query\n";
    let n_lines = 200_000;
    for n in 0..6 {
        fs::write(&file, line.repeat(n_lines)).unwrap();
        let mut exec = exec_lines(2, 1 << 20, 1 << 24);
        exec.mmap = n % 2 == 0;
        let scanned = std::thread::scope(|scope| {
            let cut = scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(n));
                fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(100).unwrap();
            });
            let scanned = scan_inputs(&plain(&[file.to_path_buf()]), &options(Grammar::Rfc3986), &exec);
            cut.join().unwrap();
            scanned
        });
        let n_found = scanned.tally.lines();
        assert!(n_found <= n_lines as u64 && scanned.tally.judged().accepted(Grammar::Rfc3986) == n_found);
        // The file may have been truncated before it was opened.
        assert!(!scanned.failures.is_empty() || n_found == n_lines as u64 || n_found == 4, "{n_found}");
    }
}

#[test]
fn schemes_are_bounded() {
    let lines: Vec<String> =
        (0..3 * MAX_SCHEMES).map(|n| format!("{}:x\n", number_name(n * 7919 % 20_000))).collect();
    let text = lines.concat();
    let whole = scan(text.as_bytes(), &options(Grammar::Rfc3986));
    assert_eq!(whole.schemes().len(), MAX_SCHEMES);
    assert_eq!(whole.unnamed_schemes().lines(), 2 * MAX_SCHEMES as u64);
    // The report keeps the shortest names, and among equally long ones the first in alphabetical order.
    let mut names: Vec<_> = (0..3 * MAX_SCHEMES).map(|n| number_name(n * 7919 % 20_000)).collect();
    names.sort_by_key(|name| (name.len(), name.clone()));
    let mut kept: Vec<_> = whole.schemes().iter().map(|(name, _)| (*name).to_owned()).collect();
    kept.sort_by_key(|name| (name.len(), name.clone()));
    assert_eq!(kept, names[..MAX_SCHEMES]);
    // The order and grouping of merging do not matter.
    let parts = lines.chunks(100).map(|chunk| scan(chunk.concat().as_bytes(), &options(Grammar::Rfc3986)));
    let mut parts: Vec<_> = parts.collect();
    parts.reverse();
    let merged = parts.into_iter().reduce(Tally::merge).unwrap();
    assert_eq!(merged.schemes(), whole.schemes());
    assert_eq!(merged.unnamed_schemes(), whole.unnamed_schemes());
}

fn number_name(n: usize) -> String {
    format!("x{n}")
}

/// Scans `bytes` as one input in three parts, cut at line starts.
fn three(bytes: &[u8], first: usize, second: usize, options: &scan::Options) -> [Tally; 3] {
    let next_line =
        |at: usize| bytes[at..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |lf| at + lf + 1);
    let (a, b) = (next_line(first.min(second)), next_line(first.max(second)));
    [(0, a), (a, b), (b, bytes.len())]
        .map(|(from, to)| scan_part(&bytes[from..to], Place { input: 0, offset: from as u64 }, options))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn random_corpora_count_as_the_naive_twin(bytes in corpus()) {
        let compared = counts_as_by_reference(&bytes, [Grammar::Rfc3986, Grammar::Draft1993]);
        prop_assert!(compared.is_ok(), "{}", compared.unwrap_err());
    }

    #[test]
    fn random_corpora_count_on_demand_as_the_twin(bytes in corpus()) {
        let tally = scan(&bytes, &everything(Grammar::Rfc3986));
        prop_assert_eq!(scan_by_judge::on_demand(&tally), scan_by_judge::count_on_demand(&bytes));
    }

    #[test]
    fn random_cuts_of_files(bytes in corpus(), shard_len in 1usize..60, line_len in 3usize..60, threads in 1usize..4) {
        let file = support::file(&bytes);
        let options = everything(Grammar::Rfc3986);
        let mut exec = exec_lines(threads, shard_len, line_len);
        for mmap in [false, true] {
            exec.mmap = mmap;
            prop_assert_eq!(scan_file(&file, &options, &exec), scan(&bytes, &options));
        }
    }

    #[test]
    fn merging_is_a_commutative_monoid(bytes in corpus(), first in any::<prop::sample::Index>(), second in any::<prop::sample::Index>()) {
        prop_assume!(!bytes.is_empty());
        let [a, b, c] = three(&bytes, first.index(bytes.len()), second.index(bytes.len()), &everything(Grammar::Rfc3986));
        let merge = |a: &Tally, b: &Tally| a.clone().merge(b.clone());
        for tally in [&a, &b, &c] {
            prop_assert_eq!(&merge(tally, &Tally::default()), tally);
            prop_assert_eq!(&merge(&Tally::default(), tally), tally);
        }
        prop_assert_eq!(merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        prop_assert_eq!(merge(&a, &b), merge(&b, &a));
        prop_assert_eq!(merge(&merge(&c, &a), &b), scan(&bytes, &everything(Grammar::Rfc3986)));
    }
}
