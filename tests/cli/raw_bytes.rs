//! What of the data is shown as it is: visible characters. Everything else is escaped, and escapes are not ambiguous.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::{SHOWN, feed, folder_with, text, urlsift};
use crate::support::{amount, file};

/// Characters that must not reach a terminal or a page: control, bidirectional, invisible and unassigned characters, and line
/// separators.
const HIDDEN: &str = "\u{7f}\u{80}\u{85}\u{9b}\u{a0}\u{ad}\u{34f}\u{378}\u{61c}\u{115f}\u{180e}\u{200b}\u{200d}\u{200e}\u{200f}\u{2028}\
    \u{2029}\u{202a}\u{202e}\u{2060}\u{2066}\u{2069}\u{206a}\u{206f}\u{3000}\u{3164}\u{e000}\u{fe0f}\u{feff}\u{fff9}\u{ffff}\
    \u{e0041}\u{e01ef}\u{10ffff}";

fn has_hidden(shown: &str) -> bool {
    shown.chars().any(|c| HIDDEN.contains(c) || c < ' ' && c != '\n')
}

#[test]
fn lines_with_hidden_characters() {
    // Text reports show the first line of a kind only. The lines of a list are of different kinds.
    let lists = |c| {
        [
            (
                format!("{c}:x\nhttp://h/?{c}\nhttp://h/#\u{e9}{c}\u{e9}\n"),
                &[":1:1\n", ":2:11\n", ":3:11\n"][..],
            ),
            (format!("http://h/{c}\n"), &[":1:10\n"]),
            (format!("http://h/\u{e9}{c}\u{e9}\n"), &[":1:10\n"]),
        ]
    };
    for (list, places) in HIDDEN.chars().flat_map(lists) {
        let file = file(&list);
        for locale in ["C", "C.UTF-8"] {
            let formats = ["text", "html", "json", "partial"];
            // Only the text report depends on the locale.
            let n_formats = if locale == "C" { amount(1, 4) } else { 4 };
            for format in &formats[..usize::try_from(n_formats).unwrap()] {
                let output =
                    urlsift().env("LC_ALL", locale).args(["--format", format]).arg(&file).output().unwrap();
                let shown = text(&output.stdout);
                assert!(!has_hidden(shown), "{format}: {list:?}");
                let is_shown = places.iter().all(|place| shown.contains(place));
                assert!(is_shown || *format != "text", "{list:?}: {shown}");
                assert!(
                    *format != "partial"
                        || shown.trim_end().bytes().all(|byte| (b' '..=b'~').contains(&byte))
                );
            }
        }
    }
}

#[test]
fn utf_8_is_readable_where_the_locale_has_it() {
    let list =
        "http://h/\u{4e2d}\u{e9}/\u{1f600}\u{301}\\\nhttp://u:p\u{fc}@\u{e9}/\nhttp://h/?\u{fc}".as_bytes();
    let list = [list, b"\xc3/\xc3\xa9\xff\n"].concat();
    let run = |args: &[&str], variables: &[(&str, &str)]| {
        let folder = folder_with(&[("list", &list)]);
        let mut command = urlsift();
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            command.env_remove(name);
        }
        let output =
            command.envs(variables.iter().copied()).args(args).arg("list").current_dir(&folder).output();
        text(&output.unwrap().stdout).to_owned()
    };
    for variables in [
        &[("LC_ALL", "C.UTF-8")][..],
        &[("LC_CTYPE", "de_DE.utf8"), ("LANG", "C")],
        &[("LC_ALL", ""), ("LANG", "en_US.UTF-8")],
    ] {
        let shown = run(&[], variables);
        assert!(shown.contains("http://h/[\u{4e2d}]\u{e9}/\u{1f600}\u{301}\\\\"), "{shown}");
        assert!(shown.contains("http://u:[***]@\u{e9}/"), "{shown}");
        assert!(shown.contains("http://h/?[\u{fc}]\\xc3/\u{e9}\\xff"), "invalid bytes are escaped: {shown}");
    }
    // Consoles of Windows show UTF-8 in any locale.
    #[cfg(not(windows))]
    for variables in [&[][..], &[("LC_ALL", "C"), ("LANG", "C.UTF-8")], &[("LANG", "de_DE.ISO-8859-1")]] {
        let shown = run(&[], variables);
        assert!(
            shown.contains("http://h/[\\xe4]\\xb8\\xad\\xc3\\xa9/") && !shown.contains('\u{e9}'),
            "{shown}"
        );
    }
    assert!(run(&["--ascii"], &[("LC_ALL", "C.UTF-8")]).is_ascii());
    let page = run(&["--format", "html"], &[]);
    assert!(page.contains("<mark>\u{4e2d}</mark>\u{e9}/\u{1f600}\u{301}\\\\"), "{page}");
    let report = run(&["--format", "json"], &[("LC_ALL", "C.UTF-8")]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let path = file(report.to_string());
    let rendered = urlsift().env("LC_ALL", "C.UTF-8").arg("render").arg(&path).output().unwrap();
    assert_eq!(text(&rendered.stdout), run(&[], &[("LC_ALL", "C.UTF-8")]));
}

#[test]
fn no_hostile_corpus_shows_a_hidden_character() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/hostile");
    for format in ["text", "html"] {
        let args = ["--input-format", "lines", "--codec", "none", "--format", format];
        let output = urlsift().env("LC_ALL", "C.UTF-8").args(args).arg(&corpora).output().unwrap();
        assert!(!has_hidden(text(&output.stdout)), "{format}");
    }
}

#[test]
fn no_raw_byte_reaches_a_terminal() {
    let hostile = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora/hostile");
    for args in SHOWN {
        let raw = ["--input-format", "lines", "--codec", "none"];
        let output = urlsift().args(args).args(raw).arg(&hostile).output().unwrap();
        assert!(output.status.success(), "{args:?}");
        for line in text(&output.stdout).lines() {
            let is_data = args.contains(&"lines");
            let harmless = |c: char| {
                let is_plain = (' '..='~').contains(&c) || c == '\t' || "\u{2026}█▏▎▍▌▋▊▉".contains(c);
                // The rows of `lines` keep UTF-8 in a pipe; the test of the terminal is in `cli/rows.rs`.
                is_plain || (is_data && !c.is_control())
            };
            assert!(line.chars().all(harmless), "{args:?}: {line:?}");
        }
    }
    let output = urlsift().args(["explain", "http://u:hunter2@h/\x1b[31m\u{202e}"]).output().unwrap();
    assert!(!output.stdout.contains(&0x1b) && !text(&output.stdout).contains('\u{202e}'));
    // The name of a file is data too.
    let output = urlsift().arg("no\x1b[31m").output().unwrap();
    assert!(!output.stderr.contains(&0x1b));
}

#[cfg(target_os = "linux")]
#[test]
fn file_names_with_hidden_characters() {
    let folder = tempfile::tempdir().unwrap();
    for c in "\u{61c}\u{2028}\u{2029}\u{200b}\u{feff}\u{206a}\u{206f}\u{fff9}\u{e0041}\n\u{9b}".chars() {
        fs::write(folder.path().join(format!("a{c}b")), "http://h/ \n").unwrap();
    }
    fs::create_dir(folder.path().join("\u{e9}")).unwrap();
    fs::write(folder.path().join("\u{e9}/\u{4e2d}"), "http://h/ \n").unwrap();
    for args in [
        &["--format", "text"][..],
        &["--format", "json"],
        &["--format", "html"],
        &["--format", "partial"],
        &["lines", "-c", "input,line"],
        &["plan"],
    ] {
        let output = urlsift().args(args).arg(".").current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
        let shown = text(&output.stdout);
        assert!(!has_hidden(&shown.replace('\t', " ")), "{args:?}: {shown}");
        // Plans and partial reports are ASCII.
        let names_it = !["partial", "plan"].contains(args.last().unwrap());
        assert_eq!(shown.contains("\u{e9}/\u{4e2d}"), names_it, "{args:?}: {shown}");
    }
    let output = urlsift().args(["a\u{2028}b\u{e0041}", "\u{200b}"]).current_dir(&folder).output().unwrap();
    assert!(!has_hidden(text(&output.stderr)), "{}", text(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn an_escaped_byte_and_its_spelling_are_different_names() {
    use std::os::unix::ffi::OsStrExt;
    let folder = tempfile::tempdir().unwrap();
    for name in [&b"a\xff"[..], b"a\\xff", b"a\\\\xff"] {
        fs::write(folder.path().join(std::ffi::OsStr::from_bytes(name)), "http://h/\n").unwrap();
    }
    let partial = urlsift().args(["--format", "partial", "."]).current_dir(&folder).output().unwrap();
    assert!(partial.status.success(), "{}", text(&partial.stderr));
    let mut found = super::names(&feed(&["merge", "--format", "json"], &partial.stdout));
    found.sort();
    assert_eq!(found, ["./a\\\\\\\\xff", "./a\\\\xff", "./a\\xff"]);
}

#[test]
fn a_dash_of_the_data_is_no_missing_value() {
    let args = ["lines", "--columns", "scheme,text"];
    let output = feed(&args, b"-:x\nx\n\n-\n-a:y\n");
    assert_eq!(text(&output.stdout), "\\x2d\t-:x\n-\tx\n-\t-\n-\t\\x2d\n-a\t-a:y\n");
    let output = feed(&[&args[..], &["--format", "jsonl"]].concat(), b"-:x\n-\n");
    assert_eq!(
        text(&output.stdout),
        "{\"scheme\":\"-\",\"text\":\"-:x\"}\n{\"scheme\":null,\"text\":\"-\"}\n"
    );
}
