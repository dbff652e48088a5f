//! Contents that urlsift does not read, such as archives and images, are an error and never lines.

use std::fs;
use std::path::Path;
#[cfg(unix)]
use std::process::Command;

use super::{feed, text, urlsift};
use crate::samples::gzip;
use crate::support::file;

const LIST: &[u8] = b"http://a.example/\nhttp://b.example/\n";

/// A tar archive with one list.
fn tar(magic: &[u8]) -> Vec<u8> {
    let mut header = [0; 512];
    header[..5].copy_from_slice(b"a.txt");
    header[100..108].copy_from_slice(b"0000644\0");
    header[124..136].copy_from_slice(format!("{:011o}\0", LIST.len()).as_bytes());
    header[156] = b'0';
    header[257..257 + magic.len()].copy_from_slice(magic);
    header[148..156].fill(b' ');
    let sum: u64 = header.iter().map(|&byte| u64::from(byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    let mut archive = [&header[..], LIST].concat();
    archive.resize(512 * 4, 0);
    archive
}

/// Contents, and what the message calls them.
fn contents() -> Vec<(Vec<u8>, &'static str)> {
    let with_list = |head: &[u8]| [head, LIST].concat();
    let mut all: Vec<_> = [
        (&b"PK\x03\x04\x14\0\0\0"[..], "a zip archive"),
        (b"7z\xbc\xaf\x27\x1c\0\x04", "a 7z archive"),
        (b"Rar!\x1a\x07\x01\0", "a RAR archive"),
        (b"\x1f\x9d\x90", "compressed by compress"),
        (b"\x04\x22\x4d\x18", "compressed by LZ4"),
        (b"\x5d\0\0\x80\0", "compressed by LZMA"),
        (b"LZIP\x01", "compressed by lzip"),
        (b"ORC\x0b\x01\0", "an ORC file"),
        (b"ORC\n\x07\x12\x05", "an ORC file"),
        (b"FEA1\0\0\0\0", "a Feather file"),
        (b"!<arch>\n", "an ar archive"),
        (b"Obj\x01\x04", "an Avro file"),
        (b"ARROW1\0\0", "an Arrow file"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x93NUMPY\x01\0", "a NumPy array"),
        (b"\x80\x03]q\0(", "a Python pickle"),
        (b"0707010000A1B2000081A40000000000000000000000016500000000000010000000000000000000000000000000000000000500000000", "a cpio archive"),
        (b"%PDF-1.7\n", "a PDF document"),
        (b"\x89PNG\r\n\x1a\n", "an image"),
        (b"\xff\xd8\xff\xe0", "an image"),
        (b"GIF89a\x01\0\x01\0\x80\0\0", "an image"),
        (b"PK\x07\x08PK\x03\x04", "a zip archive"),
        (
            b"PK\x03\x04\x14\0\x06\0\x08\0\0\0\x21\0\0\0\0\0\0\0\0\0\0\0\0\0\x13\0\0\0[Content_Types].xml",
            "an Office document",
        ),
        (b"\xff\xfe\0\0h\0\0\0", "UTF-32 text"),
        (b"RIFF\x10\0\0\0WEBPVP8 ", "an image"),
        (b"\x7fELF\x02\x01\x01", "a program"),
        (b"MZ\x90\0\x03", "a program"),
    ]
    .into_iter()
    .map(|(head, name)| (with_list(head), name))
    .collect();
    all.extend([
        (tar(b"ustar\x0000"), "a tar archive"),
        (tar(b"ustar  \0"), "a tar archive"),
        (tar(b""), "a tar archive"),
        (gzip(&tar(b"ustar\x0000")), "a tar archive"),
        (with_list(&b"\x01\0\0\0\x07\x09".repeat(9)), "binary data"),
    ]);
    all
}

#[test]
fn contents_that_are_not_read_are_an_error_for_every_command() {
    let folder = tempfile::tempdir().unwrap();
    for (n, (bytes, name)) in contents().into_iter().enumerate() {
        let path = folder.path().join(format!("file{n}"));
        fs::write(&path, &bytes).unwrap();
        for command in [&["scan"][..], &["lines"], &["split", "--accepted", "-"]] {
            for args in [&[][..], &["--input-format", "lines"]] {
                let output = urlsift().args(command).args(args).arg(&path).output().unwrap();
                let message = text(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{name} {command:?} {args:?}: {message}");
                let expected = format!("file{n}: is {name}");
                assert!(message.contains(&expected), "{name} {command:?} {args:?}: {message}");
            }
        }
        let plan = folder.path().join("plan");
        let by_parts = |reading: &[&str]| {
            let run = |command: &str, option: &[&str], path: &Path| {
                urlsift().arg(command).args(reading).args(option).arg(path).output().unwrap()
            };
            let planned = run("plan", &["--split-size=10"], &path);
            fs::write(&plan, &planned.stdout).unwrap();
            [run("scan", &["--range=0:20"], &path), planned, run("scan", &["--splits"], &plan)]
        };
        for reading in [&[][..], &["--input-format", "lines"]] {
            let [part, planned, _] = by_parts(reading);
            let piped = feed(&[&["--range", "0:20"], reading].concat(), &bytes);
            for output in [part, planned, piped] {
                let message = text(&output.stderr);
                assert_eq!(output.status.code(), Some(2), "{name} {reading:?}: {message}");
                assert!(message.contains(&format!(": is {name}")), "{name} {reading:?}: {message}");
            }
        }
        let piped = feed(&[], &bytes);
        assert_eq!(piped.status.code(), Some(2), "{name} through a pipe");
        assert!(text(&piped.stderr).starts_with(&format!("urlsift: -: is {name}")), "{name} through a pipe");
        let forced = ["--input-format", "lines", "--codec", "none"];
        let output = urlsift().args(forced).arg(&path).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{name} with a format and a codec");
        for output in by_parts(&forced) {
            assert_eq!(output.status.code(), Some(0), "{name} in parts: {}", text(&output.stderr));
        }
    }
}

#[test]
fn other_inputs_are_still_counted() {
    let (list, archive) = (file(LIST), file(tar(b"ustar\x0000")));
    let output = urlsift().args(["--format", "json"]).args([&archive, &list]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let report = super::json(&output);
    assert_eq!((&report["totals"]["judged"], &report["complete"]), (&2.into(), &false.into()));
    assert!(report["inputs"][0]["error"].as_str().unwrap().contains("tar -xOf"));
}

#[test]
fn a_few_nul_bytes_are_bytes_of_lines() {
    let list = [b"http://a.example/\0\n".to_vec(), LIST.repeat(10)].concat();
    let output = feed(&[], &list);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
}

/// The command in the message works as it is. Programs may be missing.
#[test]
#[cfg(unix)]
fn the_advice_decompresses_what_is_compressed() {
    let folder = super::folder_with(&[("list", LIST)]);
    let sh = |command: &str| Command::new("sh").args(["-c", command]).current_dir(&folder).output().unwrap();
    for (make, names) in [
        ("zip -q a.zip list && cp a.zip 'an a.zip' && gzip a.zip", ["an a.zip", "a.zip.gz"]),
        ("zip -q b.zip list && bzip2 -k b.zip", ["b.zip", "b.zip.bz2"]),
        ("lz4 -q list c.lz4 && xz -k c.lz4", ["c.lz4", "c.lz4.xz"]),
        ("lz4 -q list d.lz4 && zstd -q d.lz4", ["d.lz4", "d.lz4.zst"]),
        ("tar -cf e.tar list && gzip -k e.tar", ["e.tar", "e.tar.gz"]),
    ] {
        if !sh(make).status.success() {
            eprintln!("left out, because a program is missing: {make}");
            continue;
        }
        for name in names {
            let output = urlsift().arg(name).current_dir(&folder).output().unwrap();
            let said = text(&output.stderr);
            let command = said.split_once("does not read (").unwrap().1.split_once("); --input").unwrap().0;
            let command =
                command.replace("| urlsift", &format!("| {} --json", env!("CARGO_BIN_EXE_urlsift")));
            assert_eq!(super::json(&sh(&command))["totals"]["judged"], 2, "{command}");
        }
    }
}
