//! Compressed inputs: a compressed list counts like the list. In a damaged one, all lines before the damage count, and the
//! error names the place.

use std::fs::{self, File};
use std::io::{PipeReader, PipeWriter, Write};
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use urlsift::internal::run::{Codec, DecodeError, DecodeErrorKind, Scanned, list_inputs, scan_inputs};
use urlsift::internal::scan;

use crate::reference::Rng;
use crate::samples::gzip;
use crate::support::{amount, exec, file, json, on_all_cores};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/codec")
}

/// The list in all fixtures.
fn list() -> Vec<u8> {
    fs::read(folder().join("list.txt")).unwrap()
}

/// The fixtures with their codecs.
fn fixtures() -> impl Iterator<Item = (PathBuf, Codec)> {
    const NAMES: [(&str, Codec); 13] = [
        ("gzip.gz", Codec::Gzip),
        ("noname.gz", Codec::Gzip),
        ("members.gz", Codec::Gzip),
        ("pigz.gz", Codec::Gzip),
        ("bgzip.gz", Codec::Gzip),
        ("zstd.zst", Codec::Zstd),
        ("frames.zst", Codec::Zstd),
        ("dictionary.zst", Codec::Zstd),
        ("plain_dictionary.zst", Codec::Zstd),
        ("xz.xz", Codec::Xz),
        ("streams.xz", Codec::Xz),
        ("bzip2.bz2", Codec::Bzip2),
        ("streams.bz2", Codec::Bzip2),
    ];
    NAMES.into_iter().map(|(name, codec)| (folder().join(name), codec))
}

fn scan_with(path: &Path, threads: usize, chunk: usize) -> Scanned {
    scan_inputs(&list_inputs(&[path.to_owned()]), &scan::Options::default(), &exec(threads, chunk))
}

/// The decoding error of the only input.
fn error(scanned: &Scanned) -> Option<&DecodeError> {
    let failure = scanned.failures.first()?;
    Some(failure.error.get_ref().and_then(|error| error.downcast_ref()).expect("it is one of decoding"))
}

fn urlsift(args: &[&str], stdin: Stdio) -> Output {
    Command::new(env!("CARGO_BIN_EXE_urlsift")).args(args).stdin(stdin).output().unwrap()
}

#[test]
fn compressed_lists_count_like_the_original() {
    let plain = folder().join("list.txt");
    let plain = plain.to_str().unwrap();
    let digest = json(&urlsift(&["--format", "json", plain], Stdio::null()))["digest"].clone();
    let records = urlsift(&["lines", "-c", "line,offset,verdict,text", plain], Stdio::null()).stdout;
    for (path, codec) in fixtures() {
        let len = fs::metadata(&path).unwrap().len();
        let scanned = scan_with(&path, 2, 1000);
        assert!(scanned.failures.is_empty(), "{scanned:?}");
        assert_eq!(scanned.tally, scan(&list(), &scan::Options::default()), "{path:?}");
        let name = path.to_str().unwrap();
        let open = || Stdio::from(File::open(&path).unwrap());
        for (args, stdin) in
            [(&["-j1", name][..], Stdio::null()), (&["-j3", name], Stdio::null()), (&["-j2"], open())]
        {
            let output = urlsift(&[&["--format", "json"], args].concat(), stdin);
            let report = json(&output);
            assert_eq!((output.status.code(), &report["digest"]), (Some(0), &digest), "{path:?} {output:?}");
            let input = &report["inputs"][0];
            assert_eq!((&input["codec"], &input["compressed_bytes"]), (&codec.name().into(), &len.into()));
            assert_eq!(input["bytes"], list().len());
            assert_eq!(
                urlsift(&["lines", "-c", "line,offset,verdict,text", name], Stdio::null()).stdout,
                records
            );
        }
        let split = urlsift(&["split", "-a", "-", "-q", "--by", "rfc3986", name], open());
        let expected = urlsift(&["split", "-a", "-", "-q", "--by", "rfc3986", plain], Stdio::null());
        assert_eq!(split.stdout, expected.stdout);
    }
}

/// A long list without duplicate lines.
fn long_list() -> Vec<u8> {
    list_of(100_000)
}

fn list_of(n_lines: u32) -> Vec<u8> {
    (0..n_lines)
        .flat_map(|n| {
            format!("http://h{}.example/{:x}?{n}\n", n % 977, n.wrapping_mul(2_654_435_761)).into_bytes()
        })
        .collect()
}

/// A list that does not become much shorter when it is compressed, in lines of 200 bytes.
fn dense_list(len: usize) -> Vec<u8> {
    const LETTERS: &[u8; 64] = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
    let mut rng = Rng::new(1);
    let mut list = Vec::with_capacity(len + 200);
    while list.len() < len {
        list.extend(b"http://h.example/");
        for _ in 0..18 {
            let bits = rng.next();
            list.extend((0..10).map(|n| LETTERS[usize::try_from(bits >> (6 * n) & 63).unwrap()]));
        }
        list.extend(b"/a\n");
    }
    list
}

#[test]
fn files_of_other_programs_are_decoded() {
    let bytes = long_list();
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    fs::write(&list, &bytes).unwrap();
    let expected = scan(&bytes, &scan::Options::default());
    for (program, args) in [
        ("gzip", &["-c"][..]),
        ("pigz", &["-c", "-p4"]),
        ("pigz", &["-c", "-i", "-b128"]),
        ("bgzip", &["-c", "-@2"]),
        ("zstd", &["-c", "-q", "-T0"]),
        ("zstd", &["-c", "-q", "--rsyncable", "-T2"]),
        ("zstd", &["-c", "-q", "--long=27", "-1"]),
        ("pzstd", &["-c", "-q", "-p3"]),
        ("xz", &["-c", "-T2", "--block-size=200KiB", "-1"]),
        ("bzip2", &["-c"]),
        ("pbzip2", &["-c", "-b1"]),
        ("lbzip2", &["-c", "-1"]),
    ] {
        let packed = folder.path().join("packed");
        let output = File::create(&packed).unwrap();
        let status =
            Command::new(program).args(args).arg(&list).stdout(output).stderr(Stdio::null()).status();
        let Ok(status) = status else {
            eprintln!("LEFT OUT: {program} {args:?}, which is not installed");
            continue;
        };
        assert!(status.success(), "{program} {args:?}");
        for threads in [1, 2, 4] {
            let scanned = scan_with(&packed, threads, 100_000);
            assert!(scanned.failures.is_empty(), "{program} {args:?} {:?}", scanned.failures);
            assert!(scanned.tally == expected, "{program} {args:?} -j{threads}");
        }
    }
}

/// The tally of the whole lines within the first `len` bytes.
fn beginning(list: &[u8], len: u64) -> urlsift::Tally {
    let bytes = &list[..usize::try_from(len).unwrap()];
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |lf| lf + 1);
    scan(&bytes[..whole], &scan::Options::default())
}

#[test]
fn truncated_files_count_up_to_the_cut() {
    let list = list();
    let step = usize::try_from(amount(29, 11)).unwrap();
    for (path, codec) in fixtures() {
        let packed = fs::read(&path).unwrap();
        // A cut between two streams, or in the padding after one, is no error.
        let n_whole = AtomicUsize::new(0);
        on_all_cores((packed.len() / step) as u64, |n| {
            let len = usize::try_from(n).unwrap() * step;
            let file = file(&packed[..len]);
            // The first bytes alone look like text.
            if len <= if matches!(packed[0], b'B' | b'P'..=b'_') { 3 } else { 1 } {
                return 0;
            }
            let scanned = scan_with(&file, 1, 1 << 20);
            assert_eq!(scanned.compressed[0].codec, codec);
            if let Some(error) = error(&scanned) {
                assert_eq!(
                    (error.kind(), error.codec()),
                    (DecodeErrorKind::Truncated, codec),
                    "{path:?} {len}"
                );
                assert_eq!(error.at(), len as u64);
                assert!(scanned.tally == beginning(&list, error.decoded()), "{path:?} {len}");
            } else {
                n_whole.fetch_add(1, Ordering::Relaxed);
                assert!(scanned.tally == beginning(&list, scanned.tally.bytes()));
            }
            1
        });
        assert!(n_whole.into_inner() <= 10, "{path:?}");
    }
}

#[test]
fn damage_anywhere_is_reported() {
    let list = list();
    let step = usize::try_from(amount(29, 11)).unwrap();
    let whole = scan(&list, &scan::Options::default());
    for (path, _) in fixtures() {
        let packed = fs::read(&path).unwrap();
        // Decoders ignore some bytes: names, times, and the program that wrote the file.
        let n_unseen = AtomicUsize::new(0);
        on_all_cores((packed.len() / step) as u64, |n| {
            let at = usize::try_from(n).unwrap() * step;
            let mut spoiled = packed.clone();
            spoiled[at] ^= 1 << (at * 5 % 8);
            let file = file(&spoiled);
            let scanned = scan_with(&file, 1, 1 << 20);
            if scanned.compressed.is_empty() {
                // The file now looks like an uncompressed list.
                assert!(at < 10, "{path:?} {at}");
            } else if let Some(error) = error(&scanned) {
                assert!(error.at() <= packed.len() as u64 && error.decoded() >= scanned.tally.bytes());
            } else {
                n_unseen.fetch_add(1, Ordering::Relaxed);
                assert!(scanned.tally == whole, "{path:?} {at}");
            }
            1
        });
        assert!(n_unseen.into_inner() < 100, "{path:?}");
    }
}

#[test]
fn bytes_after_the_end() {
    let list = list();
    let whole = scan(&list, &scan::Options::default());
    let twice = scan(&[&*list, &list].concat(), &scan::Options::default());
    let other = |codec| if codec == Codec::Gzip { "zstd.zst" } else { "gzip.gz" };
    for (path, codec) in fixtures() {
        let packed = fs::read(&path).unwrap();
        let len = packed.len() as u64;
        let with = |more: &[u8]| {
            let file = file([&packed, more].concat());
            scan_with(&file, 2, 1000)
        };
        // Tapes and devices pad files with zeros.
        for zeros in [1, 511, 700_000] {
            let scanned = with(&vec![0; zeros]);
            assert!(scanned.failures.is_empty() && scanned.tally == whole, "{path:?} {scanned:?}");
        }
        assert!(with(&packed).tally == twice && with(&[&[0; 4], &*packed].concat()).tally == twice);
        let other = fs::read(folder().join(other(codec))).unwrap();
        for (more, at) in [(&b"http://h/\n"[..], len), (b"\0\0\0x", len + 3), (&other, len)] {
            let scanned = with(more);
            let error = error(&scanned).unwrap();
            assert_eq!(
                (error.kind(), error.at(), error.decoded()),
                (DecodeErrorKind::Trailing, at, list.len() as u64)
            );
            assert!(scanned.tally == whole);
        }
    }
}

#[test]
fn headers_of_all_kinds() {
    let packed = |builder: flate2::GzBuilder, bytes: &[u8]| {
        let mut encoder = builder.write(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let long = vec![b'x'; 300_000];
    let new = flate2::GzBuilder::new;
    let mut file = tempfile::NamedTempFile::new().unwrap();
    for (builder, line) in [
        (new().filename("name").comment("a comment").extra("extra").mtime(7), "http://a/\n"),
        (new().filename(&*long).comment(&*long).extra(&long[..65_535]), "http://b/\n"),
        (new(), ""),
        (new().comment("last"), "c d"),
    ] {
        file.write_all(&packed(builder, line.as_bytes())).unwrap();
    }
    // FHCRC: the header's own checksum, once right and once wrong (RFC 1952, section 2.3.1).
    let header = [0x1f, 0x8b, 8, 2, 0, 0, 0, 0, 0, 3];
    let mut crc = flate2::Crc::new();
    crc.update(&header);
    let crc = crc.sum().to_le_bytes();
    let member = &packed(new(), b"/\n")[10..];
    file.write_all(&[&header[..], &crc[..2], member].concat()).unwrap();
    let scanned = scan_with(file.path(), 1, 1000);
    assert!(scanned.failures.is_empty(), "{scanned:?}");
    assert_eq!((scanned.tally.lines(), scanned.tally.bytes()), (3, 25));
    file.write_all(&[&header[..], &[!crc[0], crc[1]], member].concat()).unwrap();
    let scanned = scan_with(file.path(), 1, 1000);
    assert_eq!(error(&scanned).unwrap().kind(), DecodeErrorKind::Damaged);
    assert_eq!(scanned.tally.lines(), 3);
}

#[test]
fn wrong_checksums_are_reported() {
    let list = list();
    for name in ["gzip.gz", "zstd.zst", "xz.xz", "bzip2.bz2"] {
        let mut packed = fs::read(folder().join(name)).unwrap();
        // The checksum is in the last eight bytes of gzip, in the last four of zstd and bzip2, and before the index of xz.
        let back = if name == "xz.xz" { 30 } else { 4 } + if name == "gzip.gz" { 4 } else { 0 };
        let at = packed.len() - back;
        packed[at] ^= 1;
        let file = file(&packed);
        let output = urlsift(&["--format", "json", file.to_str().unwrap()], Stdio::null());
        let report = json(&output);
        assert_eq!((output.status.code(), &report["complete"]), (Some(2), &false.into()), "{name}");
        let said = report["inputs"][0]["error"].as_str().unwrap();
        assert!(said.contains("is damaged at or before byte "), "{said}");
        assert!(String::from_utf8(output.stderr).unwrap().contains(said));
        // Except in bzip2, all bytes are decoded before the checksum is checked.
        if name != "bzip2.bz2" {
            assert_eq!(report["totals"]["bytes"], list.len(), "{name}");
        }
    }
}

/// A pipe. On Linux, each read returns what one write has written. Elsewhere, it may return more.
#[allow(unsafe_code, reason = "the standard library cannot set this flag")]
fn pipe_of_packets() -> (PipeReader, PipeWriter) {
    let (reader, writer) = std::io::pipe().unwrap();
    #[cfg(target_os = "linux")]
    {
        // SAFETY: the call sets a flag of a descriptor that is open, and touches no memory.
        let result = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, libc::O_DIRECT) };
        assert_eq!(result, 0);
    }
    (reader, writer)
}

/// The place of the damage is part of the digest, so that it must not depend on how the bytes arrive.
#[test]
fn damaged_bzip2_gives_the_same_report_however_it_is_read() {
    let packed = fs::read(folder().join("streams.bz2")).unwrap();
    let mut places = std::collections::HashSet::new();
    for at in (30..packed.len()).step_by(packed.len() / 20) {
        let mut spoiled = packed.clone();
        spoiled[at] ^= 1 << (at % 8);
        let path = file(&spoiled);
        let options = ["--format", "json", "--codec", "bzip2"];
        let file = urlsift(&[&options[..], &[path.to_str().unwrap()]].concat(), Stdio::null());
        let expected = json(&file);
        let error = &expected["inputs"][0]["error"];
        assert!(file.status.code() == Some(2) && error.is_string(), "{at}");
        places.insert(error.to_string());
        for step in [1, 5, 8, 100, 1500] {
            let (reader, mut writer) = pipe_of_packets();
            let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
            command.args(options).stdin(reader).stdout(Stdio::piped()).stderr(Stdio::null());
            let child = command.spawn().unwrap();
            // It holds the other end of the pipe.
            drop(command);
            for part in spoiled.chunks(step) {
                // The command may end at the damage.
                let _ = writer.write_all(part);
                if !cfg!(target_os = "linux") {
                    thread::yield_now();
                }
            }
            drop(writer);
            let report = json(&child.wait_with_output().unwrap());
            let found = (&report["digest"], &report["inputs"][0]["error"]);
            assert_eq!(found, (&expected["digest"], error), "byte {at}, {step} bytes at a time");
        }
    }
    assert!(places.len() > 5, "{places:?}");
}

#[test]
fn the_codec_option_overrides_the_content() {
    let gzip = folder().join("gzip.gz");
    let gzip = gzip.to_str().unwrap();
    let plain = json(&urlsift(
        &["--format", "json", "--codec", "none", "--input-format", "lines", gzip],
        Stdio::null(),
    ));
    assert_eq!(plain["totals"]["bytes"], fs::metadata(gzip).unwrap().len());
    assert_eq!(plain["inputs"][0].get("codec"), None);
    for (codec, what) in [
        ("zstd", "its zstd data is damaged at or before byte "),
        ("bzip2", "its bzip2 data is damaged at or before byte "),
        ("xz", "its xz data is damaged at or before byte "),
    ] {
        let output = urlsift(&["lines", "--codec", codec, gzip], Stdio::null());
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && said.contains(what), "{said}");
    }
    let output = urlsift(&["--codec", "gzip"], Stdio::null());
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("its gzip data ends too early, at byte 0"), "{said}");
    let output = urlsift(&["--codec", "gz", gzip], Stdio::null());
    assert!(String::from_utf8(output.stderr).unwrap().contains("no such codec; did you mean gzip?"));
    // An empty list is valid, compressed or not. The ending of a name does not make a file compressed.
    let empty = tempfile::Builder::new().suffix(".gz").tempfile().unwrap();
    let name = empty.path().to_str().unwrap();
    assert_eq!(urlsift(&[name], Stdio::null()).status.code(), Some(0));
    fs::write(name, "http://h/\n").unwrap();
    assert_eq!(json(&urlsift(&["--format", "json", name], Stdio::null()))["totals"]["lines"], 1);
}

#[test]
fn windows_that_need_too_much_memory_are_refused() {
    for (name, codec, command) in
        [("window.zst", Codec::Zstd, "zstd -dc --long=31"), ("dictionary.xz", Codec::Xz, "xz -dc")]
    {
        let scanned = scan_with(&folder().join(name), 1, 1000);
        let error = error(&scanned).unwrap();
        assert_eq!((error.kind(), error.codec()), (DecodeErrorKind::TooLarge, codec));
        assert!(error.to_string().contains(command), "{error}");
    }
}

/// Skippable zstd frames, as in web archives, which may hold a dictionary.
#[test]
fn invalid_and_too_long_dictionaries() {
    let frame = |content: &[u8], len: u32| [b"\x5d\x2a\x4d\x18", &len.to_le_bytes()[..], content].concat();
    let held = |content: &[u8]| frame(content, u32::try_from(content.len()).unwrap());
    let packed = zstd::encode_all(&*list(), 3).unwrap();
    let scan_bytes = |bytes: &[u8]| {
        let file = file(bytes);
        scan_with(&file, 1, 1000)
    };
    // Frames with other content are skipped.
    for content in [&b""[..], b"\x37\xa4", b"\x28\xb5\x2f", b"\x28\xb5\x2f\xfc?", b"some text"] {
        let scanned = scan_bytes(&[&*held(content), &packed, &held(content), &packed].concat());
        assert!(scanned.failures.is_empty(), "{scanned:?}");
        assert_eq!(scanned.tally.bytes(), 2 * list().len() as u64, "{content:?}");
    }
    // An invalid dictionary is skipped too, as long as no frame needs it.
    let bomb = zstd::encode_all(&*vec![0; 40 << 20], 3).unwrap();
    let long = [b"\x37\xa4\x30\xec", &vec![1; (8 << 20) - 3][..]].concat();
    let other = fs::read(folder().join("dictionary.zst")).unwrap();
    let len = u32::from_le_bytes(*other[4..].first_chunk().unwrap());
    let (dictionary, rest) = other.split_at(8 + usize::try_from(len).unwrap());
    for (content, why) in [
        (&*bomb, "it is longer than 8,388,608 bytes"),
        (&long, "it is longer than 8,388,608 bytes"),
        (b"\x37\xa4\x30\xecnothing that was trained", "cannot be read"),
        (b"\x28\xb5\x2f\xfd broken", "cannot be read"),
    ] {
        let scanned = scan_bytes(&[&*held(content), &packed].concat());
        assert!(scanned.failures.is_empty(), "{:?}", scanned.failures);
        assert_eq!(scanned.tally.bytes(), list().len() as u64);
        let scanned = scan_bytes(&[&*held(content), &packed, rest].concat());
        let error = error(&scanned).unwrap();
        assert_eq!((error.kind(), error.decoded()), (DecodeErrorKind::Damaged, list().len() as u64));
        assert!(error.to_string().contains(why), "{error}");
    }
    let scanned = scan_bytes(&[&*frame(b"\x37\xa4\x30\xec", u32::MAX), &packed].concat());
    assert_eq!(error(&scanned).unwrap().kind(), DecodeErrorKind::Truncated);
    let scanned = scan_bytes(rest);
    assert!(error(&scanned).unwrap().to_string().contains("a dictionary that is not in it"));
    let scanned = scan_bytes(&[&*packed, dictionary, rest].concat());
    assert!(scanned.failures.is_empty() && scanned.tally.bytes() == 2 * list().len() as u64);
}

/// Waits for a command that writes little. Returns the most memory that it took, in bytes, too. `getrusage` does not tell it: it counts
/// the memory of the process that starts a command.
#[cfg(target_os = "linux")]
fn watched(mut child: Child) -> (Output, u64) {
    let (status, mut most) = (format!("/proc/{}/status", child.id()), 0);
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(&status).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
        most = most.max(peak.map_or(0, |peak| peak.parse::<u64>().unwrap() << 10));
        thread::sleep(Duration::from_millis(1));
    }
    (child.wait_with_output().unwrap(), most)
}

const CODECS: [Codec; 4] = [Codec::Gzip, Codec::Zstd, Codec::Xz, Codec::Bzip2];

/// Compresses bytes to one stream of the codec.
fn pack(bytes: &[u8], codec: Codec) -> Vec<u8> {
    match codec {
        Codec::Gzip => Ok(gzip(bytes)),
        Codec::Zstd => zstd::encode_all(bytes, 1),
        Codec::Xz => {
            let mut encoder = liblzma::write::XzEncoder::new(Vec::new(), 0);
            encoder.write_all(bytes).and_then(|()| encoder.finish())
        }
        _ => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
            encoder.write_all(bytes).and_then(|()| encoder.finish())
        }
    }
    .unwrap()
}

/// Reads by path and by pipe. One record is longer than a decoded chunk, and some are invalid. One of the files has many
/// members of gzip in several blocks, which several threads decode.
#[test]
fn compressed_records_equal_those_of_the_original() {
    let folder = tempfile::tempdir().unwrap();
    let record = |n: usize| {
        let filler = "x".repeat(if n == 777 { 3 << 20 } else { n % 97 });
        let space = if n.is_multiple_of(101) { " " } else { "" };
        let rest = if n.is_multiple_of(997) { " }" } else { "" };
        format!("{{\"id\": {n}, \"url\": \"http://h{}.example/{filler}{space}\"}}{rest}\n", n % 7)
    };
    let plain: String = (0..20_000).map(record).collect();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("plain"), &plain).unwrap();
    for codec in CODECS {
        fs::write(path(codec.name()), pack(plain.as_bytes(), codec)).unwrap();
    }
    let member = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap()
    };
    let members: Vec<u8> = plain.as_bytes().chunks(40_000).flat_map(member).collect();
    assert!(members.len() > 2 << 20, "several blocks");
    fs::write(path("members"), members).unwrap();
    for args in [
        &["--format", "json"][..],
        &["lines", "-c", "line,offset,field,verdict,defect,text"],
        &["split", "-a", "-"],
        &["split", "-r", "-", "--refused-as", "lines"],
    ] {
        let run = |name: &str, threads: &str, piped: bool| {
            let file = path(name);
            let (name, stdin) =
                if piped { ("-", Stdio::from(File::open(&file).unwrap())) } else { (&*file, Stdio::null()) };
            let output = urlsift(&[args, &["--input-format=jsonl", threads, name]].concat(), stdin);
            assert_eq!(output.status.code(), Some(0), "{args:?} {name}");
            if args[0] == "--format" {
                json(&output)["digest"].to_string().into_bytes()
            } else {
                output.stdout
            }
        };
        let expected = run("plain", "-j1", false);
        assert!(!expected.is_empty());
        for name in CODECS.map(Codec::name).into_iter().chain(["members"]) {
            for (threads, piped) in [("-j1", false), ("-j3", false), ("-j3", true)] {
                assert!(run(name, threads, piped) == expected, "{args:?} {name} {threads} {piped}");
            }
        }
    }
}

/// Files of many frames or blocks, which several threads decode: whole, cut and damaged, by path and by pipe.
#[test]
fn threads_change_nothing_of_frames_and_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let list = dense_list(usize::try_from(amount(3 << 20, 9 << 20)).unwrap());
    let zstd: Vec<u8> = list.chunks(100_000).flat_map(|part| pack(part, Codec::Zstd)).collect();
    let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 0);
    for part in list.chunks(300_000) {
        // A flush ends a block.
        xz.write_all(part).and_then(|()| xz.flush()).unwrap();
    }
    let xz = [xz.finish().unwrap(), pack(&list[..500], Codec::Xz)].concat();
    let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::new(3));
    let bzip2 = bzip2.write_all(&list).and_then(|()| bzip2.finish()).unwrap();
    for (codec, packed) in [(Codec::Zstd, zstd), (Codec::Xz, xz), (Codec::Bzip2, bzip2)] {
        assert!(packed.len() > 1 << 20, "{codec}: it is decoded by one thread");
        let at = packed.len() * 3 / 5;
        let mut spoiled = packed.clone();
        spoiled[at] ^= 1;
        let mut wrong_end = packed.clone();
        wrong_end[packed.len() - 100] ^= 1;
        for (what, bytes) in [
            ("whole", &*packed),
            ("cut", &packed[..at]),
            ("spoiled", &spoiled),
            ("wrong end", &wrong_end),
            ("trailing", &[&*packed, b"\0\0?"].concat()),
        ] {
            let path = folder.path().join(codec.name());
            fs::write(&path, bytes).unwrap();
            let name = path.to_str().unwrap();
            let run = |args: &[&str], threads: &str, piped: bool| {
                let (name, stdin) =
                    if piped { ("-", File::open(&path).unwrap().into()) } else { (name, Stdio::null()) };
                let output = urlsift(&[args, &[threads, name]].concat(), stdin);
                let printed = if args[0] == "--format" {
                    let report = json(&output);
                    format!("{} {}", report["digest"], report["inputs"][0]["error"]).into_bytes()
                } else {
                    output.stdout
                };
                (output.status.code(), printed)
            };
            let all =
                [&["--format", "json"][..], &["lines", "-c", "line,offset,text"], &["split", "-a", "-"]];
            for args in &all[..if matches!(what, "whole" | "cut") { 3 } else { 1 }] {
                let expected = run(args, "-j1", false);
                // These frames have no checksum, so that not all damage is noticed.
                assert!(expected.0 == Some(if what == "whole" { 0 } else { 2 }) || codec == Codec::Zstd);
                for (threads, piped) in [("-j2", false), ("-j4", false), ("-j2", true)] {
                    assert!(
                        run(args, threads, piped) == expected,
                        "{args:?} {codec} {what} {threads} {piped}"
                    );
                }
            }
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn bombs_take_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let lines = b"http://h/\n".repeat(100_000);
    let long = vec![b'a'; 16 << 20];
    for codec in CODECS {
        // The short mode tests this with one codec, because it does not depend on decoding.
        let is_tried = amount(0, 1) == 1 || codec == CODECS[0];
        // A line of 320 MiB, followed by short lines.
        let times = if is_tried { 20 } else { 2 };
        let bomb = [pack(&long, codec).repeat(times), pack(&lines, codec).repeat(10)].concat();
        assert!(bomb.len() < 2 << 20, "{codec}: {}", bomb.len());
        let path = folder.path().join(codec.name());
        fs::write(&path, bomb).unwrap();
        let run = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_urlsift"));
            command.args(args).args(["-j2", path.to_str().unwrap()]).stdin(Stdio::null());
            let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let (output, most) = watched(child);
            assert!(most < 300 << 20, "{codec} {args:?}: {most} bytes");
            output
        };
        let report = json(&run(&["--format", "json"]));
        assert_eq!(report["totals"]["lines"], 1_000_000, "{codec}");
        assert_eq!(report["totals"]["bytes"], times * long.len() + 10 * lines.len());
        // Commands that need whole lines end at a line of 320 MiB.
        let commands = [&["lines"][..], &["split", "-q", "-r", "-"], &["split", "-q", "--accepted", "-"]];
        for command in commands.iter().filter(|_| is_tried) {
            let output = run(command);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(
                said.contains("the line that begins at byte 0 is too long"),
                "{codec} {command:?}: {said}"
            );
            assert_eq!((output.stdout.len(), output.status.code()), (0, Some(2)), "{codec} {command:?}");
        }
    }
}
