//! Inputs that are missing, vanish, fail, are empty, endless or mixed: counts and messages.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::process::Stdio;

use super::{assert_refused, fed, feed, folder_with, json, names, text, urlsift, with_slashes};

#[test]
fn a_directory_without_files_is_an_error() {
    let folder = folder_with(&[("table/_delta_log/0.json", "{}\n"), ("table/_SUCCESS", "")]);
    fs::create_dir(folder.path().join("empty")).unwrap();
    for (args, message) in [
        (&["empty"][..], "empty: there is no file to read in this directory or below it\n"),
        (&["table"], "table: there is no file to read in this directory or below it\n"),
        (&["table", "--glob", "*.txt"], "table: no file in this directory or below it matches\n"),
    ] {
        let output = urlsift().args(["--format", "json"]).args(args).current_dir(&folder).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(text(&output.stderr), format!("urlsift: {message}"));
        assert_eq!(json(&output)["complete"], false, "{args:?}");
    }
    // What is named itself is read.
    fs::write(folder.path().join("table/a.txt"), "http://a.example/\n").unwrap();
    let read = |path: &str| {
        let output = urlsift().args(["--format", "json", path]).current_dir(&folder).output().unwrap();
        json(&output)["inputs"].as_array().unwrap().len()
    };
    assert_eq!((read("table"), read("table/_SUCCESS")), (1, 1));
}

#[test]
fn a_file_beside_its_compressed_copy_gets_a_warning() {
    let folder = folder_of(&["a.txt", "a.txt.zst", "b.txt", "c.gz"]);
    let output =
        urlsift().args(["a.txt", "a.txt.zst", "b.txt", "c.gz"]).current_dir(&folder).output().unwrap();
    assert_eq!(
        text(&output.stderr),
        "urlsift: a.txt and a.txt.zst are both counted: are they the same list?\n"
    );
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn unreadable_input_gives_no_page_of_zeros() {
    let output = feed(&["missing"], b"");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(2), ""));
    let report = json(&feed(&["--format", "json", "missing"], b""));
    assert_eq!(report["complete"], false, "a program gets its document");
}

#[test]
fn a_missing_file_gets_one_line() {
    assert_eq!(text(&feed(&["some/list.txt"], b"").stderr).lines().count(), 1);
}

#[test]
fn an_empty_path_is_named() {
    for (args, why) in [
        (&[""][..], "invalid value '' for '[PATH]...': an empty path names no file; standard input is -"),
        (
            &["lines", "-", ""],
            "invalid value '' for '[PATH]...': an empty path names no file; standard input is -",
        ),
        (&["bench", ""], "invalid value '' for '[PATH]...': an empty path names no file"),
        (&["render", ""], "invalid value '' for '[REPORT]': an empty path names no file"),
        (
            &["-o", ""],
            "invalid value '' for '--output <FILE>': an empty path names no file; standard output is -",
        ),
        (&["lines", "-o", ""], "invalid value '' for '--output <FILE>': an empty path"),
        (&["split", "-a", ""], "invalid value '' for '--accepted <FILE>': an empty path"),
        (&["split", "-r", ""], "invalid value '' for '--refused <FILE>': an empty path"),
    ] {
        let output = feed(args, b"");
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).starts_with(&format!("error: {why}")), "{}", text(&output.stderr));
    }
}

#[test]
fn the_first_usage_error_is_reported() {
    for (args, why) in [
        (&["completions", "foo", "x"][..], "error: invalid value 'foo' for '<SHELL>'"),
        (&["completions", "bash", "x"], "error: unexpected argument 'x'"),
        (&["grammars", "x"], "error: unexpected argument 'x'"),
    ] {
        let output = feed(args, b"");
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).starts_with(why), "{}", text(&output.stderr));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn unreadable_inputs_are_named_and_the_rest_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("good"), "http://h/\n").unwrap();
    std::os::unix::fs::symlink("loop", at("loop")).unwrap();
    for args in [&["--format", "json"][..], &["lines"]] {
        // This file opens, but reading its first byte fails.
        let output = urlsift()
            .args(args)
            .args(["loop", "/proc/self/mem", "good/x", "good"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let errors = text(&output.stderr);
        for name in ["loop", "/proc/self/mem", "good/x"] {
            assert!(errors.contains(&format!("urlsift: {name}: ")), "{errors}");
        }
        if args.len() > 1 {
            assert_eq!(json(&output)["totals"]["lines"], 1);
        } else {
            assert_eq!(text(&output.stdout).lines().count(), 1);
        }
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_vanishes_is_named() {
    let folder = folder_with(&[("late", "http://h/\n")]);
    // The second input is removed while the command waits for the first one.
    let mut child = urlsift()
        .args(["lines", "-", "late"])
        .current_dir(&folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(b"x:y\n").unwrap();
    fs::remove_file(folder.path().join("late")).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).starts_with("urlsift: late: "), "{}", text(&output.stderr));
    assert_eq!(text(&output.stdout).lines().count(), 1);
}

#[test]
fn ends_of_lines_may_be_mixed() {
    let output = feed(
        &["--format", "json"],
        b"\xef\xbb\xbfhttp://a/\r\nhttp://b/\n\r\n\nhttp://c/\r\r\nd\re\nhttp://f/\r",
    );
    let report = json(&output);
    for (name, count) in [("lines", 7), ("blank", 2), ("judged", 5), ("cr", 4), ("byte_order_marks", 1)] {
        assert_eq!(report["totals"][name], count, "{name}");
    }
    assert_eq!(report["defects"][0]["lines"], 1, "a CR inside");
}

#[test]
fn each_input_has_its_own_warnings() {
    let folder = tempfile::tempdir().unwrap();
    let wide: Vec<u8> =
        "\u{feff}http://a/\r\nhttp://b/\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let lists: [(&str, &[u8], &[&str]); 8] = [
        ("a", b"http://h/\nhttp://h/\n", &[]),
        ("b", b"\xef\xbb\xbfhttp://h/\nhttp://h/", &["byte-order-mark", "no-final-line-end"]),
        ("c", b"http://h/\nhttp://h/\r", &["no-final-line-end"]),
        ("d", b"", &[]),
        ("e", b"\xef\xbb\xbf", &["byte-order-mark"]),
        ("f", &wide, &["utf-16"]),
        ("g", &b"\xfe\xff\0h\0t\0\n".repeat(3), &["utf-16"]),
        ("h", b"\n\0x\n\xff\xfe\n", &[]),
    ];
    for (name, list, _) in &lists {
        fs::write(folder.path().join(name), list).unwrap();
    }
    for sizes in [&[][..], &["--shard-size", "1", "--line-size", "3"], &["--shard-size", "5", "-j3"]] {
        let output =
            urlsift().args(["--format", "json", "."]).args(sizes).current_dir(&folder).output().unwrap();
        for (input, (name, _, expected)) in json(&output)["inputs"].as_array().unwrap().iter().zip(&lists) {
            let found = input["warnings"].as_array().map_or(Vec::new(), Clone::clone);
            assert_eq!(found, *expected, "{name} {sizes:?}");
        }
    }
    let output = urlsift().arg(".").current_dir(&folder).output().unwrap();
    let shown = with_slashes(text(&output.stdout));
    for part in [
        ", 2 byte order marks, 2 inputs decoded from UTF-16,\n2 last lines without LF\n",
        "\nINPUTS with warnings\n  ./b: begins with a byte order mark, no line end at its end\n",
        "\n  ./f: UTF-16, decoded; bytes and offsets are those of its UTF-8 text\n",
    ] {
        assert!(shown.contains(part), "{shown}");
    }
    let page = urlsift().args(["--format", "html", "."]).current_dir(&folder).output().unwrap().stdout;
    let rows = text(&page).matches("<p class=\"warning\">begins with a byte order mark</p>").count();
    assert_eq!(rows, 2);
    // For a single input, the head has the warnings.
    let output = feed(&[], b"http://h/");
    let shown = text(&output.stdout);
    assert!(shown.contains("\n1 last line without LF\n") && !shown.contains("INPUTS"), "{shown}");
}

#[test]
fn a_line_of_a_gibibyte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    let mut file = File::create(&path).unwrap();
    file.write_all(b"http://h/\nhttp://h/").unwrap();
    // A sparse file takes no space on disk.
    file.seek(SeekFrom::Current(1 << 30)).unwrap();
    file.write_all(b"\nhttp://h/\n").unwrap();
    // The line is made of NUL bytes.
    let raw = ["--input-format", "lines", "--codec", "none"];
    let output = urlsift().args(raw).args(["--format", "json", "-g", "rfc1738"]).arg(&path).output().unwrap();
    let report = json(&output);
    assert_eq!((output.status.code(), &report["complete"]), (Some(0), &true.into()));
    assert_eq!(report["totals"]["lines"], 3);
    assert_eq!(report["totals"]["bytes"], (1u64 << 30) + 30);
    assert_eq!(report["grammars"][1]["accepted"], 2);
    let defect = &report["defects"][0];
    assert_eq!((&defect["cause"], &defect["examples"][0]["offset"]), (&"control-byte".into(), &9.into()));
}

#[test]
fn an_output_that_is_an_input_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("list");
    let name = list.to_str().unwrap();
    let paths = ["other", "suffixes"].map(|name| folder.path().join(name));
    let [other, suffixes] = paths.each_ref().map(|path| path.to_str().unwrap());
    fs::write(suffixes, "// ===BEGIN ICANN DOMAINS===\nexample\n// ===END ICANN DOMAINS===\n").unwrap();
    fs::write(other, "http://a.example/\n").unwrap();
    let in_list = format!("host-in={name}");
    fs::write(&list, "a.example\n").unwrap();
    for args in [
        &[name, "-o", name][..],
        &["lines", name, "-o", name],
        &[folder.path().to_str().unwrap(), "-o", name],
        &["--files-from", name, "-o", name],
        &["plan", "--files-from", name, "-o", name],
        &["lines", other, "--where", &in_list, "-o", name],
        &["split", other, "--where", &in_list, "-r", name],
        &["lines", other, "--psl", suffixes, "-o", suffixes],
    ] {
        assert_refused(&urlsift().args(args).output().unwrap(), "is also an input");
        assert_eq!(fs::read(&list).unwrap(), b"a.example\n");
    }
}

#[test]
fn empty_results_replace_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["missing", "damaged.gz"].map(|name| folder.path().join(name));
    let [missing, damaged] = paths.each_ref().map(|path| path.to_str().unwrap());
    fs::write(damaged, b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage").unwrap();
    for (args, name) in [
        (&[missing, "-o"][..], "report.txt"),
        (&[missing, "-o"], "report.json"),
        (&[missing, "-o"], "report.html"),
        (&["lines", missing, "--header", "-o"], "records"),
        (&["split", missing, missing, "-a"], "accepted"),
        (&[damaged, "-o"], "report.txt"),
        (&["lines", damaged, "-o"], "records"),
        (&["split", damaged, "-a"], "accepted"),
    ] {
        let kept = folder.path().join(name);
        fs::write(&kept, "precious\n").unwrap();
        assert_refused(&urlsift().args(args).arg(&kept).output().unwrap(), "urlsift: nothing was written");
        assert_eq!(fs::read(&kept).unwrap(), b"precious\n", "{name}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 6, "nothing else is left");
    // An existing file is replaced if an empty input was read, or at least one of several inputs.
    for args in [&["lines", "-", "-o"][..], &["lines", missing, "-", "-o"], &["split", missing, "-", "-r"]] {
        let made = folder.path().join("records");
        fs::write(&made, "precious\n").unwrap();
        feed(&[args, &[made.to_str().unwrap()]].concat(), b"");
        assert_eq!(fs::read(&made).unwrap(), b"", "{args:?}");
    }
}

/// A folder with these files. Each has one line.
fn folder_of(names: &[&str]) -> tempfile::TempDir {
    folder_with(&names.iter().map(|name| (*name, "http://h/\n")).collect::<Vec<_>>())
}

/// Runs the command in `folder`. Returns the names of the inputs that it read, its messages and its exit status.
fn read_in(folder: &tempfile::TempDir, args: &[&str], stdin: &[u8]) -> (Vec<String>, String, Option<i32>) {
    let output = fed(urlsift().args(["--format", "json"]).args(args).current_dir(folder), stdin);
    let said = text(&output.stderr).to_owned();
    if output.stdout.is_empty() {
        return (Vec::new(), said, output.status.code());
    }
    (names(&output), said, output.status.code())
}

#[test]
fn globs_choose_files_in_directories() {
    let folder = folder_of(&[
        "d/b.gz", "d/a.txt", "d/a/c.gz", "d/a/old.gz", "d/.h.gz", "d/.git/x.gz", "e.gz", "d/a.txt.gz",
    ]);
    for (args, expected) in [
        (&["d"][..], &["d/a/c.gz", "d/a/old.gz", "d/a.txt", "d/a.txt.gz", "d/b.gz"][..]),
        // A hidden file that a glob matches is read. A file in a hidden directory is not.
        (&["d", "--glob", "*.gz"], &["d/.h.gz", "d/a/c.gz", "d/a/old.gz", "d/a.txt.gz", "d/b.gz"]),
        (&["d", "--glob", "!*.gz"], &["d/a.txt"]),
        (&["d", "--glob", "*.gz", "--glob", "!old*"], &["d/.h.gz", "d/a/c.gz", "d/a.txt.gz", "d/b.gz"]),
        (&["d", "--glob", "d/a/*"], &["d/a/c.gz", "d/a/old.gz"]),
        (&["d/a", "--glob", "!d/a/c*"], &["d/a/old.gz"]),
        (
            &["--hidden", "d", "--glob", "*.gz"],
            &["d/.git/x.gz", "d/.h.gz", "d/a/c.gz", "d/a/old.gz", "d/a.txt.gz", "d/b.gz"],
        ),
        (&["d/.h.gz", "e.gz", "--glob", "!*"], &["d/.h.gz", "e.gz"]),
    ] {
        let (names, said, status) = read_in(&folder, args, b"");
        assert_eq!(
            (&*names, status),
            (&*expected.iter().map(|&name| name.to_owned()).collect::<Vec<_>>(), Some(0)),
            "{args:?} {said}"
        );
    }
    let (_, said, status) = read_in(&folder, &["d", "--glob", "a[b"], b"");
    assert_eq!(status, Some(2));
    assert!(said.contains("--glob: ") && said.contains("a[b"), "{said}");
}

/// The names that globs choose in a fixed folder, in the notation of `--glob` today.
#[test]
fn what_globs_match() {
    let folder = folder_of(&[
        "a.txt", "b.txt", "c.csv", "d/a.txt", "d/b.gz", "d/e/a.txt", "d/e/f/c.csv", "d/.h.txt", "d/.g/a.txt",
    ]);
    let visible = "a.txt b.txt c.csv d/a.txt d/b.gz d/e/a.txt d/e/f/c.csv";
    for (globs, expected) in [
        // Braces: alternatives, nested ones, beside other characters and with slashes.
        (&["*.{csv,gz}"][..], "c.csv d/b.gz d/e/f/c.csv"),
        (&["{a,b}.{txt,gz}"], "a.txt b.txt d/a.txt d/b.gz d/e/a.txt"),
        (&["{a.{txt,gz},c*}"], "a.txt c.csv d/a.txt d/e/a.txt d/e/f/c.csv"),
        (&["{[a,],b}.txt"], "a.txt b.txt d/a.txt d/e/a.txt"),
        (&["{d/e,x}/*"], "d/e/a.txt"),
        (&["{d/a,b}.txt"], "b.txt d/a.txt"),
        // An empty alternative stands for nothing.
        (&["a{,.txt}"], "a.txt d/a.txt d/e/a.txt"),
        (&["a{}.txt"], "a.txt d/a.txt d/e/a.txt"),
        // A comma outside braces is a comma.
        (&["a,b"], ""),
        // "**" stands for any directories, "*" and "?" for no slash.
        (&["**/a.txt"], "a.txt d/a.txt d/e/a.txt"),
        (&["d/**/a.txt"], "d/a.txt d/e/a.txt"),
        (&["d/e/**"], "d/e/a.txt d/e/f/c.csv"),
        (&["d/**/*.{csv,gz}"], "d/b.gz d/e/f/c.csv"),
        (&["{**/f,x}/*"], "d/e/f/c.csv"),
        (&["d/**"], "d/.g/a.txt d/.h.txt d/a.txt d/b.gz d/e/a.txt d/e/f/c.csv"),
        (&["d/*"], "d/.h.txt d/a.txt d/b.gz"),
        (&["d/*/*"], "d/e/a.txt"),
        (&["d?a.txt"], ""),
        (&["?.txt"], "a.txt b.txt d/a.txt d/e/a.txt"),
        // Beside other characters, "**" is "*".
        (&["a**t"], "a.txt d/a.txt d/e/a.txt"),
        (&["d/***.gz"], "d/b.gz"),
        (&["d**a.txt"], ""),
        // Classes.
        (&["[!a].txt"], "b.txt"),
        (&["[^a].txt"], "b.txt"),
        (&["[a-b].*"], "a.txt b.txt d/a.txt d/b.gz d/e/a.txt"),
        (&["[]a].txt"], "a.txt d/a.txt d/e/a.txt"),
        // A slash at the start means the working directory, one at the end directories alone.
        (&["/*.txt"], "a.txt b.txt"),
        (&["/d/*.txt"], "d/.h.txt d/a.txt"),
        (&["!e/"], "a.txt b.txt c.csv d/a.txt d/b.gz"),
        (&["!d/e/"], "a.txt b.txt c.csv d/a.txt d/b.gz"),
        (&["!a.txt/"], visible),
        (&["d/"], ""),
        // What "!" leaves out is not walked, so that nothing in it can be taken again. The last glob that matches decides.
        (&["!*.txt"], "c.csv d/b.gz d/e/f/c.csv"),
        (&["!*.txt", "a.txt"], "a.txt d/a.txt d/e/a.txt"),
        (&["a.txt", "!*.txt"], ""),
        (&["*.txt", "!d/*.txt", "d/a.txt"], "a.txt b.txt d/a.txt d/e/a.txt"),
        (&["*.csv", "!e"], "c.csv"),
        (&["!e", "*.csv"], "c.csv"),
        (&["!e", "d/e"], ""),
        (&["!e", "d/e", "*.csv"], "c.csv d/e/f/c.csv"),
        // Hidden directories are walked if a glob matches them, hidden files taken.
        (&["*.txt", ".g"], "a.txt b.txt d/.g/a.txt d/.h.txt d/a.txt d/e/a.txt"),
        (&["!b*"], "a.txt c.csv d/a.txt d/e/a.txt d/e/f/c.csv"),
        // Case counts.
        (&["A.TXT"], ""),
        (&["[A-Z].txt"], ""),
        // A backslash takes away a character's meaning.
        (&[r"\a.txt", r"\!x", r"\#x", r"\*"], "a.txt d/a.txt d/e/a.txt"),
        (&[""], visible),
    ] {
        let globs: Vec<_> = globs.iter().flat_map(|glob| ["--glob", glob]).collect();
        for directory in [".", folder.path().to_str().unwrap()] {
            let (names, said, _) = read_in(&folder, &[&globs[..], &[directory]].concat(), b"");
            let start = format!("{}/", with_slashes(directory));
            let names: Vec<_> = names.iter().filter_map(|name| name.strip_prefix(&start)).collect();
            assert_eq!(names.join(" "), expected, "{globs:?} {directory} {said}");
        }
    }
    let many = "{a,b}".repeat(60);
    for wrong in [&*many, "a[b", "[!a", "{a", "a{b,{c}", "a}", "a\\", "["] {
        let (_, said, status) = read_in(&folder, &["--glob", wrong, "."], b"");
        assert_eq!(status, Some(2), "{wrong}: {said}");
        assert!(said.starts_with("urlsift: --glob: ") && said.contains(wrong), "{wrong}: {said}");
    }
}

/// Paths outside the working directory are matched as they are written.
#[test]
fn globs_outside_the_working_directory() {
    let folder = folder_of(&["w/x", "other/a.txt", "other/e/b.txt", "other/e/c.csv"]);
    for (glob, expected) in [
        ("*.txt", "a.txt e/b.txt"),
        ("e/*", ""),
        ("**/e/*", "e/b.txt e/c.csv"),
        ("../other/e/*", "e/b.txt e/c.csv"),
        ("!../other/e", "a.txt"),
    ] {
        let output = urlsift()
            .args(["--format", "json", "--glob", glob, "../other"])
            .current_dir(folder.path().join("w"))
            .output()
            .unwrap();
        let names = names(&output);
        let below: Vec<_> = names.iter().filter_map(|name| name.strip_prefix("../other/")).collect();
        assert_eq!(below.join(" "), expected, "{glob}");
    }
}

#[cfg(unix)]
#[test]
fn globs_match_any_names() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder_of(&["é.gz", "*.txt", "{a,b}", "[c]", "a b.txt", "!d"]);
    fs::write(folder.path().join(OsStr::from_bytes(b"\xff.gz")), "x:y\n").unwrap();
    for (glob, expected) in [
        ("*.gz", r"./é.gz ./\xff.gz"),
        (r"\*.txt", "./*.txt"),
        ("[*].txt", "./*.txt"),
        (r"\{a\,b\}", "./{a,b}"),
        (r"\[c\]", "./[c]"),
        (r"\[c]", "./[c]"),
        ("[[]c]", "./[c]"),
        ("* b.txt", "./a b.txt"),
        (r"\!d", "./!d"),
    ] {
        let (names, said, _) = read_in(&folder, &["--glob", glob, "."], b"");
        assert_eq!(names.join(" "), expected, "{glob} {said}");
    }
}

/// An error in a directory stands at its place among the files, and nothing else is lost.
#[cfg(unix)]
#[test]
fn unreadable_directories_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder_of(&["d/a", "d/b/x", "d/c"]);
    let closed = folder.path().join("d/b");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    if fs::read_dir(&closed).is_ok() {
        eprintln!("this user may read everything");
        return;
    }
    let (names, said, status) = read_in(&folder, &["d"], b"");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!((names.join(" ").as_str(), status), ("d/a d/b d/c", Some(2)));
    assert!(said.starts_with("urlsift: d/b: ") && said.contains("Permission denied (os error 13)"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_in_directories() {
    use std::os::unix::fs::symlink;
    let folder = folder_of(&["d/a", "other/b"]);
    let at = |name: &str| folder.path().join(name);
    symlink("../other/b", at("d/link")).unwrap();
    symlink("../other", at("d/folder")).unwrap();
    symlink(".", at("d/loop")).unwrap();
    symlink("nowhere", at("d/dangling")).unwrap();
    let (names, said, status) = read_in(&folder, &["d"], b"");
    assert_eq!((&*names, &*said, status), (&["d/a".to_owned()][..], "", Some(0)));
    let (names, ..) = read_in(&folder, &["d/link", "d/folder"], b"");
    assert_eq!(names, ["d/link", "d/folder/b"]);
    let (names, said, status) = read_in(&folder, &["--follow", "d"], b"");
    assert_eq!(status, Some(2), "{names:?} {said}");
    assert!(said.contains("d/loop") && said.contains("the link leads back to d, in which it lies"), "{said}");
    assert!(said.contains("d/dangling: "), "{said}");
    for name in ["d/a", "d/folder/b", "d/link"] {
        assert!(names.contains(&name.to_owned()), "{names:?}");
    }
}

#[test]
fn lists_of_names() {
    let folder = folder_of(&["a", "b c", "d/e", "d/f", "-x"]);
    fs::write(folder.path().join("names"), "b c\r\n\n d/e\nd\n./-x\na").unwrap();
    fs::create_dir(folder.path().join(" d")).unwrap();
    fs::write(folder.path().join(" d/e"), "").unwrap();
    let expected = ["a", "b c", " d/e", "d/e", "d/f", "./-x", "a"];
    let (names, said, status) = read_in(&folder, &["a", "--files-from", "names"], b"");
    assert_eq!((&*names, &*said, status), (&expected.map(str::to_owned)[..], "", Some(0)));
    let (names, ..) = read_in(&folder, &["--files-from", "-"], b"a\nb c\n");
    assert_eq!(names, ["a", "b c"]);
    let (names, ..) = read_in(&folder, &["-0", "--files-from", "-"], b"a\0b c\0d/e");
    assert_eq!(names, ["a", "b c", "d/e"]);
    let (names, said, status) = read_in(&folder, &["--files-from", "-"], b"\n\n");
    assert_eq!((names.len(), &*said, status), (0, "urlsift: -: there is no name in this list\n", Some(0)));
    // The list may name standard input as an input.
    fs::write(folder.path().join("names"), "a\n-\n").unwrap();
    let (names, ..) = read_in(&folder, &["--files-from", "names"], b"x:y\n");
    assert_eq!(names, ["a", "-"]);
    fs::write(folder.path().join("names"), "a\nmissing\nd/e/x\n").unwrap();
    let (names, said, status) = read_in(&folder, &["--files-from", "names"], b"");
    assert_eq!((names.len(), status), (3, Some(2)));
    let said: Vec<_> = said.lines().collect();
    assert!(
        said[0].starts_with("urlsift: names:2: missing: ")
            && said[1].starts_with("urlsift: names:3: d/e/x: "),
        "{said:?}"
    );
}

#[test]
fn invalid_lists_of_names() {
    let folder = folder_of(&["a"]);
    let long = [&b"a\n"[..], &vec![b'x'; 100_000]].concat();
    for (args, stdin, message) in [
        (&["--files-from", "-", "-0"][..], &b"a\0\0"[..], "-: line 2: an empty name; nothing was read"),
        (
            &["--files-from", "-"],
            &long,
            "-: line 2: longer than any name of a file; is this a list of names?; nothing was read",
        ),
        (
            &["--files-from", "-"],
            b"a\n-\n",
            "-: line 2: standard input cannot be an input, since the list comes from there; nothing was read",
        ),
        (
            &["--files-from", "-", "-"],
            b"",
            "standard input cannot be both an input and the list of --files-from",
        ),
        (&["--files-from", "missing"], b"", "missing: "),
        (&["-0"], b"", "--files-from <FILE>"),
    ] {
        let (names, said, status) = read_in(&folder, args, stdin);
        assert_eq!((names.len(), status), (0, Some(2)), "{args:?}");
        assert!(said.contains(message), "{said}");
    }
}
